"""Arguments and options of the commands, with their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wepl.errors import InputError

BasinFile = Annotated[Path, typer.Argument(metavar="BASIN.nc", show_default=False, help="Basin file.")]
AnyFile = Annotated[Path, typer.Argument(metavar="FILE.nc", show_default=False, help="Basin, result or state file.")]
FirstFile = Annotated[Path, typer.Argument(metavar="A.nc", show_default=False, help="First file.")]
SecondFile = Annotated[Path, typer.Argument(metavar="B.nc", show_default=False, help="Second file.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]

ResultFile = Annotated[Path | None, typer.Option(
    "--output", "-o", metavar="OUT.nc", show_default=False,
    help="Result file; BASIN_result.nc in the working folder when not given.")]
BackendName = Annotated[str, typer.Option(
    metavar="auto|native|cpu|cupy|numba-cuda|emulate",
    help="Where to compute: auto takes the fastest that works here, native needs a C++ compiler, cupy and numba-cuda "
         "need an NVIDIA GPU, emulate runs the sources of cupy on the CPU.")]
Precision = Annotated[str, typer.Option(
    metavar="float64|mixed|float32", help="Precision of the computation; cpu has float64 only.")]
Threads = Annotated[int | None, typer.Option(
    metavar="N", show_default=False, help="CPU threads; all when not given.")]
Start = Annotated[str | None, typer.Option(
    metavar="TIME", show_default=False,
    help="First step of the run, such as 2010-01-01; the first step of the forcing when not given.")]
End = Annotated[str | None, typer.Option(
    metavar="TIME", show_default=False,
    help="Last step of the run, itself included; the last step of the forcing when not given.")]
BlockDays = Annotated[float | None, typer.Option(
    metavar="N", show_default=False,
    help="Days computed at a time: fewer take less memory. The results are the same.")]
Variables = Annotated[list[str] | None, typer.Option(
    metavar="A,B,...", show_default=False,
    help="Variables to write besides discharge, such as evapotranspiration,soil_moisture.")]
Changes = Annotated[list[str] | None, typer.Option(
    "--set", metavar="NAME=VALUE", show_default=False,
    help="Change an option or a calibration multiplier; may be given several times.")]
ParameterFile = Annotated[Path | None, typer.Option(
    "--params", metavar="FILE.toml", show_default=False,
    help="Options and calibration multipliers from a file, such as the best.toml of a calibration; --set goes over "
         "them.")]
FromState = Annotated[Path | None, typer.Option(
    metavar="STATE.nc", show_default=False, help="Start from this state file.")]
SaveState = Annotated[Path | None, typer.Option(
    metavar="STATE.nc", show_default=False, help="Write the state at the end of the run.")]
Compression = Annotated[str, typer.Option(metavar="zstd|zlib|none", help="Compression of the result file.")]

RunBasin = Annotated[Path | None, typer.Argument(metavar="BASIN.nc", show_default=False, help="Basin file.")]
Checkpoint = Annotated[float, typer.Option(
    metavar="DAYS", help="Days between the states from which --resume can go on; 0 keeps none.")]
Resume = Annotated[Path | None, typer.Option(
    "--resume", metavar="OUT.nc", show_default=False, help="Go on with the stopped run that was to write OUT.nc.")]
Spinup = Annotated[int, typer.Option(
    metavar="YEARS", help="Repeat the first years until storages settle, then begin.")]

SyntheticFile = Annotated[Path, typer.Option(
    "--output", "-o", metavar="BASIN.nc", show_default=False, help="Basin file to write.")]
Units = Annotated[int, typer.Option(metavar="N", help="Number of units (contour bands).")]
Years = Annotated[int, typer.Option(metavar="N", help="Years of weather.")]
FirstDay = Annotated[str, typer.Option(metavar="DATE", help="First day of the weather.")]
Step = Annotated[str, typer.Option(metavar="1d|1h", help="Step of the weather: a day or an hour.")]
Seed = Annotated[int, typer.Option(
    metavar="N", help="Seed of the random numbers; the same seed gives the same basin.")]

BuildFile = Annotated[Path, typer.Argument(metavar="BUILD.toml", show_default=False, help="What to build from.")]
BuiltFile = Annotated[Path | None, typer.Option(
    "--output", "-o", metavar="BASIN.nc", show_default=False,
    help="Basin file to write; BUILD.nc in the working folder when not given.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Do everything but keep no basin file.")]
PlotsFolder = Annotated[Path | None, typer.Option(
    "--plots", metavar="DIR", show_default=False, help="Folder for a page of plots, build.html.")]

Backends = Annotated[str, typer.Option(
    "--backends", metavar="A,B,...", help="Backends: cpu, native, emulate, numba-cuda, cupy.")]
Precisions = Annotated[str, typer.Option(
    "--precisions", metavar="A,B,...", help="Precisions of the backends that offer them: float64, mixed, float32.")]
Days = Annotated[float | None, typer.Option(
    metavar="N", show_default=False, help="Days from the start of the forcing; all when not given.")]
JsonFile = Annotated[Path | None, typer.Option(
    "--json", metavar="FILE.json", show_default=False, help="Write the numbers to this file.")]
MaybeBasin = Annotated[Path | None, typer.Argument(
    metavar="[BASIN.nc]", show_default=False, help="Basin file; a synthetic basin of --units when not given.")]
BenchUnits = Annotated[int | None, typer.Option(
    "--units", metavar="N", show_default=False, help="Units of the synthetic basin.")]
BenchDays = Annotated[float, typer.Option("--days", metavar="N", help="Days of each run.")]
Repeats = Annotated[int, typer.Option(metavar="N", help="Runs after the first, of which the median counts.")]
ThreadsSweep = Annotated[bool, typer.Option(
    "--threads-sweep", help="Repeat the published experiment: GPU threads from 128 to beyond the number of units.")]
Sweep = Annotated[str | None, typer.Option(
    "--units-sweep", metavar="LOW:HIGH", show_default=False, help="Synthetic basins of so many units.")]
Members = Annotated[str | None, typer.Option(
    "--members", metavar="LOW:HIGH", show_default=False, help="Ensembles of so many members, doubling.")]
PlotFile = Annotated[Path | None, typer.Option(
    "--plot", metavar="FILE.png", show_default=False, help="Draw the measurements.")]

Rtol = Annotated[float, typer.Option(metavar="R", help="Allowed relative difference.")]
Atol = Annotated[float, typer.Option(metavar="A", help="Allowed absolute difference, in each variable's unit.")]


def listed(given: list[str] | None) -> list[str]:
    """Names from a comma-separated option that may be given several times."""
    return [name.strip() for part in given or () for name in part.split(",") if name.strip()]


def assignments(given: list[str] | None) -> dict[str, float | str]:
    """``name=value`` pairs; the last one of a name wins."""
    changes: dict[str, float | str] = {}
    for part in given or ():
        name, equals, value = part.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise InputError(f"--set {part}: give NAME=VALUE, such as --set conductivity_factor=1.5")
        changes[name.strip()] = value.strip()
    return changes
