"""The command that writes files for geographic information systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wepl.cli.app import app, errors
from wepl.cli.arguments import Debug, Quiet, listed

Source = Annotated[Path, typer.Argument(metavar="FILE.nc", show_default=False, help="Result or basin file.")]
Target = Annotated[Path, typer.Option(
    "--output", "-o", metavar="OUT.gpkg|.geojson|.csv", show_default=False,
    help="File to write: a GeoPackage has all layers, GeoJSON and CSV have one.")]
Variables = Annotated[list[str] | None, typer.Option(
    metavar="A,B,...", show_default=False, help="Variables to write; all series of a result when not given.")]
Time = Annotated[str | None, typer.Option(
    metavar="mean|sum|min|max|TIME", show_default=False,
    help="What of the run: its mean, sum, minimum or maximum, or a time such as 2010, 2010-07, 2010-07-31 or "
         "2010-05-01/2010-09-30; sums of fluxes and means of the rest when not given.")]
How = Annotated[str | None, typer.Option(
    metavar="mean|sum|min|max", show_default=False, help="What to do with the steps of a TIME.")]
LayerName = Annotated[str | None, typer.Option(
    metavar="subbasins|units|network|gauges", show_default=False, help="Write this layer only.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")]


@app.command("export", short_help="Write a file for QGIS and its like.")
def export_command(source: Source, output: Target, variables: Variables = None, time: Time = None, how: How = None,
                   layer: LayerName = None, overwrite: Overwrite = False, quiet: Quiet = False,
                   debug: Debug = False) -> None:
    """Write sub-basins, units, river network and gauges with values of variables, for a GIS such as QGIS."""
    with errors(debug):
        from wepl.gis.export import export

        written = export(source, output, listed(variables), time, how, layer,  # type: ignore[arg-type]
                         overwrite)
        if not quiet:
            print(f"{output}: " + ", ".join(f"{count} {name}" for name, count in written.items()))
