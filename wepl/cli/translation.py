"""The language of the command line: ``--lang`` anywhere on the line, and help in a language other than English.

English help is laid out by typer. Other languages are laid out here, since lines are broken by columns of the terminal
and a Chinese character takes two.
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from wepl.errors import InputError
from wepl.language import columns, current, help_texts, pad, say, use

_FLAG = "--lang"
_DEFAULT = re.compile(r"\[default: (.*)\]$")
_WIDEST, _LEFT = 100, 34
# Punctuation that does not begin a line.
_CLOSING = "，。；：、）？！,.;:)]"


class Group(TyperGroup):
    """The commands; takes the language from the line before anything else is read from it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Choose the language, translate all help where it is not English, and go on as usual."""
        try:
            args = _choose(args)
            translated = current() != "en"
        except InputError as error:
            raise typer.BadParameter(str(error)) from None
        if translated:
            _translate(self)
            for command in self.commands.values():
                _translate(command)
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        """The help in the language in use."""
        return super().get_help(ctx) if current() == "en" else _page(self, ctx, self.commands)


class Command(TyperCommand):
    """A command whose help is in the language in use."""

    def get_help(self, ctx: Any) -> str:
        """The help in the language in use."""
        return super().get_help(ctx) if current() == "en" else _page(self, ctx, {})


class Application(typer.Typer):
    """Commands that know the language in use."""

    def command(self, name: str | None = None, **settings: Any) -> Any:
        """Declare a command; see :meth:`typer.Typer.command`."""
        return super().command(name, cls=Command, **settings)


def _choose(args: Sequence[str]) -> list[str]:
    """Use the language that the line names, the environment's when it names none; the line without it."""
    language, rest, given = None, [], iter(args)
    for argument in given:
        if argument == "--":
            rest += [argument, *given]
        elif argument == _FLAG:
            language = next(given, "")
        elif argument.startswith(f"{_FLAG}="):
            language = argument.partition("=")[2]
        else:
            rest.append(argument)
    use(language)
    return rest


def _translate(command: Any) -> None:
    """Put the language's texts in the place of the English ones; typer makes a new tree for each call."""
    texts = help_texts()
    for item in (command, *command.params):
        for part in ("help", "short_help"):
            text = getattr(item, part, None)
            if text:
                setattr(item, part, texts.get(inspect.cleandoc(text), text))


def _page(command: Any, ctx: Any, commands: Mapping[str, Any]) -> str:
    width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST) - 2
    lines = [f"{say('cli.usage')}: {ctx.command_path} {' '.join(command.collect_usage_pieces(ctx))}", ""]
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        lines += [f"  {line}" for line in _wrap(paragraph, width - 2)] + [""]
    rows: dict[str, list[tuple[str, str]]] = {"arguments": [], "options": []}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            rows["arguments" if parameter.param_type_name == "argument" else "options"].append(
                (record[0].removesuffix(" <path>"), _help_of(record[1], parameter)))
    rows["commands"] = [(name, one.short_help or one.help or "") for name, one in commands.items() if not one.hidden]
    for section, records in rows.items():
        if records:
            lines += [f"{say(f'cli.{section}')}:", *_table(records, width), ""]
    return "\n".join(lines).rstrip()


def _help_of(text: str, parameter: Any) -> str:
    if parameter.name == "help":
        return say("cli.help")
    text = text.replace("[required]", f"[{say('cli.required')}]")
    return _DEFAULT.sub(lambda match: f"[{say('cli.default', value=match[1])}]", text)


def _table(records: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    left = min(max(columns(name) for name, _ in records), _LEFT)
    for name, text in records:
        wrapped = _wrap(text, width - left - 4) or [""]
        if columns(name) > left:
            yield f"  {name}"
        else:
            yield f"  {pad(name, left)}  {wrapped.pop(0)}"
        yield from (f"  {' ' * left}  {line}" for line in wrapped)


def _wrap(text: str, width: int) -> list[str]:
    """Lines of at most so many columns, broken at spaces and between Chinese characters."""
    lines, line = [], ""
    for piece in re.findall(r"\s+|[!-~]+|[^\s!-~]", text):
        if columns(line + piece) > width and line.strip() and piece not in _CLOSING:
            lines.append(line.rstrip())
            line = ""
        line += piece if line or not piece.isspace() else ""
    return [*lines, line.rstrip()] if line.strip() else lines
