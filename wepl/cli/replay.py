"""The command that repeats the step at which a run failed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wepl.cli.app import app, errors
from wepl.cli.arguments import Debug

_CrashFile = Annotated[Path, typer.Argument(metavar="OUT.crash.nc", show_default=False,
                                            help="Crash file of a failed run.")]


@app.command("replay", short_help="Repeat the step at which a run failed.")
def replay_command(crash: _CrashFile, debug: Debug = False) -> None:
    """Repeat the step at which a run failed, alone and on the CPU: process by process, what went in and came out.

    Exit status 0 when the fault comes again, 1 when it does not.
    """
    with errors(debug):
        from wepl.run.replay import replay

        found = replay(crash)
        print(found.text)
        if not found.reproduced:
            raise typer.Exit(1)
