"""The command that looks for the fastest way to run a basin on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from wepl.cli.app import app, errors
from wepl.cli.arguments import BasinFile, Debug, listed

Seconds = Annotated[float, typer.Option(metavar="S", help="Time of the search.")]
Allowed = Annotated[str, typer.Option(
    "--precisions", metavar="A,B,...",
    help="Precisions to look at: float64, mixed, float32; each is remembered alone.")]


@app.command("tune", short_help="Find the fastest way to run a basin on this machine.")
def tune_command(basin: BasinFile, seconds: Seconds = 60.0, precisions: Allowed = "float64",
                 debug: Debug = False) -> None:
    """Measure backends, threads and lengths of blocks on short runs, and remember the best for run --backend auto."""
    with errors(debug):
        from wepl.bench.tune_command import tune_basin

        tune_basin(basin, seconds, listed([precisions]))
