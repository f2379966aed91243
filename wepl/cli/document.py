"""The page of the command line: ``python -m wepl.cli.document`` writes it from the commands, ``--check`` compares.

The page is stored with the docs so that it can be read anywhere; a test holds it equal to the commands.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from wepl.cli import app

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "cli.md"

_MADE = "<!-- Made by `python -m wepl.cli.document` from wepl/cli: change the commands, not this page. -->\n"
_INTRODUCTION = """\
All commands of `wepl`; `python -m wepl` is the same. `wepl COMMAND --help` says what stands here. How they are used is
told in the [tutorial](tutorial.md) and on the pages of the navigation.
"""
_LANGUAGE = """\
## Language

`wepl --lang zh COMMAND` or `WEPL_LANG=zh` gives help, messages of a run, the balance table, reports and the frame of
errors in Chinese. Details of an error stay English, since they name files, variables and options.
"""
_EXIT = """\
## Exit status

| status | meaning |
| --- | --- |
| 0 | all is well; for `check`: every rule is kept; for `compare`: the files agree |
| 1 | something failed, or the compared files differ |
| 2 | the input or an option cannot be used, or `check` found a broken rule |
| 3 | the model met a value it cannot go on with, or a budget does not close |
| 130, 143 | interrupted by Ctrl-C, terminated by the system |
"""


def page() -> str:
    """The page: the options of `wepl` itself, then each command with its arguments and options."""
    group: Any = typer.main.get_command(app)
    context = typer.Context(group, info_name="wepl")
    parts = [_MADE, "# Command line\n", _INTRODUCTION]
    parts.append(_table(("command", "what it does"), (
        (f"[`wepl {name}`](#wepl-{name})", command.short_help) for name, command in group.commands.items())))
    parts += ["## wepl\n", *_command(group, context)]
    for name, command in group.commands.items():
        parts += [f"## wepl {name}\n", *_command(command, typer.Context(command, info_name=name, parent=context))]
    return "\n".join([*parts, _LANGUAGE, _EXIT])


def _command(command: Any, context: typer.Context) -> Iterator[str]:
    yield f"    {context.command_path} {' '.join(command.collect_usage_pieces(context))}\n"
    yield inspect.cleandoc(command.help) + "\n"
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    if arguments:
        yield _table(("argument", "meaning"), ((f"`{one.metavar}`", one.help) for one in arguments))
    if options:
        yield _table(("option", "default", "meaning"), (
            (_names(one), _default(one), one.help) for one in options))


def _names(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len, reverse=True))
    return f"{names} `{option.metavar}`" if option.metavar and not option.is_flag else names


def _default(option: Any) -> str:
    return "" if option.is_flag or option.default is None or option.multiple else f"{option.default}"


def _table(head: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    lines += [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status: 1 when ``--check`` finds the page out of date, else 0."""
    parser = argparse.ArgumentParser(prog="python -m wepl.cli.document", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page is out of date")
    parser.add_argument("--page", type=Path, default=PAGE, help="place of the page")
    options = parser.parse_args(arguments)
    if not options.page.parent.is_dir():
        print(f"{options.page.parent} is not a folder: give the page's place with --page", file=sys.stderr)
        return 2
    if not options.check:
        options.page.write_text(page(), encoding="utf-8")
        return 0
    old = not options.page.is_file() or options.page.read_text(encoding="utf-8") != page()
    if old:
        print(f"{options.page} is out of date; run python -m wepl.cli.document", file=sys.stderr)
    return int(old)


if __name__ == "__main__":
    sys.exit(main())
