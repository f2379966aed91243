"""The application, and how an error ends a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from wepl.cli.translation import Application, Group
from wepl.errors import WeplError
from wepl.language import current, say, table
from wepl.paths import allow_outside

app = Application(cls=Group, no_args_is_help=True, add_completion=False, rich_markup_mode=None,
                  pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})

FAULT, BAD_INPUT, _INTERRUPTED = 1, 2, 130


@contextmanager
def errors(debug: bool) -> Iterator[None]:
    """Turn whatever ends a command into one message on standard error and an exit status."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = _say(say("cli.interrupted"), _INTERRUPTED)
    except BrokenPipeError:
        # The reader is gone (as in `wepl info FILE.nc | head -1`); Python would complain once more when it closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = FAULT
    except WeplError as error:
        if debug:
            raise
        status = _say(say("cli.error", text=error) + _hint(error), error.exit_code)
    except MemoryError as error:
        if debug:
            raise
        status = _say(say("cli.error", text=say("cli.no_memory", text=error)), FAULT)
    except typer.Exit:
        raise
    except Exception as error:
        if debug:
            raise
        status = _say(say("cli.error", text=say("cli.fault", text=f"{type(error).__name__}: {error}")), FAULT)
    else:
        return
    raise typer.Exit(status)


def _say(message: str, status: int) -> int:
    print(f"wepl: {message}", file=sys.stderr)
    return status


def _hint(error: WeplError) -> str:
    """What mends errors of this kind, on a line of its own, where the language is not that of the message."""
    if current() == "en":
        return ""
    keys = (f"hint.{kind.__name__}" for kind in type(error).__mro__)
    return next((f"\n{say(key)}" for key in keys if key in table("en")), "")


def _version(asked: bool) -> None:
    if asked:
        from wepl import __version__

        print(f"wepl {__version__}")
        raise typer.Exit


@app.callback()
def _main(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
                                                help="Show the version and end.")] = False,
          places: Annotated[list[str] | None, typer.Option(
              "--allow-outside", metavar="PLACE", show_default=False,
              help="A folder, or the beginning of an address, that names inside input files may lead to beyond the "
                   "file's own folder; may be given several times.")] = None,
          language: Annotated[str | None, typer.Option(
              "--lang", metavar="en|zh", show_default=False,
              help="Language of help, messages and reports; may stand anywhere on the line. WEPL_LANG sets it for "
                   "good.")] = None) -> None:
    """WEP-L: a distributed hydrological model of water and energy transfer in large river basins."""
    allow_outside(places or ())
