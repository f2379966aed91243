"""The command that calibrates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wepl.cli.app import app, errors
from wepl.cli.arguments import Debug, Quiet
from wepl.cli.distributed import Scheduler, Workers, cluster_of

_File = Annotated[Path, typer.Argument(metavar="CAL.toml", show_default=False, help="What to calibrate, and how.")]
_Folder = Annotated[Path | None, typer.Option(
    "--output", "-o", metavar="DIR", show_default=False,
    help="Folder of the results; CAL_calibration in the working folder when not given.")]
_Resume = Annotated[bool, typer.Option("--resume", help="Go on with the calibration that was stopped in that folder.")]
_Plots = Annotated[bool, typer.Option("--plots", help="Draw convergence, parameters and hydrographs.")]


@app.command("calibrate", short_help="Search for the parameters that follow observed discharge.")
def calibrate_command(toml: _File, output: _Folder = None, resume: _Resume = False, plots: _Plots = False,
                      workers: Workers = None, scheduler: Scheduler = None, quiet: Quiet = False,
                      debug: Debug = False) -> None:
    """Search for the parameters with which the model follows observed discharge, and validate them."""
    with errors(debug), cluster_of(workers, scheduler) as cluster:
        from wepl.calibrate import calibrate

        calibrate(toml, output=output, resume=resume, plots=plots, quiet=quiet, cluster=cluster)
