"""The command that shows a result as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wepl.cli.app import app, errors
from wepl.cli.arguments import Debug, Quiet

Result = Annotated[Path, typer.Argument(metavar="OUT.nc", show_default=False, help="Result file.")]
Page = Annotated[Path | None, typer.Option(
    "--output", "-o", metavar="REPORT.html", show_default=False,
    help="Page to write; OUT.html in the working folder when not given.")]
Observed = Annotated[Path | None, typer.Option(
    metavar="Q.csv", show_default=False,
    help="Observed discharge, m3 s-1: a column of dates, then one per gauge, headed by its name or identifier.")]
RunBasin = Annotated[Path | None, typer.Option(
    "--basin", metavar="BASIN.nc", show_default=False,
    help="Basin file of the run: gives rain when the result has none, and outlines of sub-basins.")]


@app.command("report", short_help="Show a result as one page for the browser.")
def report_command(result: Result, output: Page = None, observed: Observed = None, basin: RunBasin = None,
                   quiet: Quiet = False, debug: Debug = False) -> None:
    """Show a result as one page: hydrographs, a map, the water balance, regime, duration, skill and provenance."""
    with errors(debug):
        from wepl.language import current, say
        from wepl.report import write_report

        page = write_report(result, output or Path(f"{result.stem}.html"), observed=observed, basin=basin,
                            language=current())
        if not quiet:
            print(say("cli.page", path=page))
