"""The command line: build a basin from maps and stations, run it, check it, say what a file holds, compare two files.

What is heavy is imported inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from wepl.errors import InputError, WeplError

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
                  context_settings={"help_option_names": ["-h", "--help"]})

_FAULT, _INTERRUPTED, _BAD_INPUT = 1, 130, 2

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
    metavar="auto|cpu|cupy|numba-cuda|emulate",
    help="Where to compute: auto takes the fastest that works here, cupy and numba-cuda need an NVIDIA GPU, emulate "
         "runs the sources of cupy on the CPU.")]
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
    "--backends", metavar="A,B,...", help="Backends: cpu, emulate, numba-cuda, cupy.")]
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


@contextmanager
def _errors(debug: bool) -> Iterator[None]:
    """Turn whatever ends a command into one message on standard error and an exit status."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = _say("interrupted; no unfinished file was left behind", _INTERRUPTED)
    except BrokenPipeError:
        # The reader is gone (as in `wepl info FILE.nc | head -1`); Python would complain once more when it closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = _FAULT
    except WeplError as error:
        if debug:
            raise
        status = _say(f"error: {error}", error.exit_code)
    except MemoryError as error:
        if debug:
            raise
        status = _say(f"error: not enough memory ({error}); try fewer --block-days or --variables", _FAULT)
    except typer.Exit:
        raise
    except Exception as error:
        if debug:
            raise
        status = _say(f"error: {type(error).__name__}: {error}\nThis is a fault of wepl, not of your input. Run again "
                      "with --debug to see where, and report it with what is shown", _FAULT)
    else:
        return
    raise typer.Exit(status)


def _say(message: str, status: int) -> int:
    print(f"wepl: {message}", file=sys.stderr)
    return status


def _version(asked: bool) -> None:
    if asked:
        from wepl import __version__

        print(f"wepl {__version__}")
        raise typer.Exit


@app.callback()
def _main(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
                                                help="Show the version and end.")] = False) -> None:
    """WEP-L: a distributed hydrological model of water and energy transfer in large river basins."""


@app.command("run", short_help="Run the model over a basin.")
def run_command(basin: RunBasin = None, output: ResultFile = None, backend: BackendName = "auto",
                precision: Precision = "float64", threads: Threads = None, start: Start = None, end: End = None,
                block_days: BlockDays = None, variables: Variables = None, changes: Changes = None,
                from_state: FromState = None, save_state: SaveState = None, compression: Compression = "zstd",
                checkpoint: Checkpoint = 365.0, resume_file: Resume = None, spinup: Spinup = 0, quiet: Quiet = False,
                debug: Debug = False) -> None:
    """Run the model over a basin and write discharge, chosen variables and the water balance."""
    with _errors(debug):
        from wepl.run.simulation import resume, run

        if resume_file is not None:
            if basin is not None:
                raise InputError("--resume takes the basin and all else from the stopped run: leave BASIN.nc out")
            resume(resume_file, quiet=quiet)
            return
        if basin is None:
            raise InputError("give a basin file, or --resume OUT.nc to go on with a stopped run")
        run(basin, output=output, backend=backend, precision=precision, threads=threads, start=start, end=end,
            block_days=block_days, variables=_names(variables), options=_assignments(changes), from_state=from_state,
            save_state=save_state, quiet=quiet, checkpoint=checkpoint, spinup=spinup,
            compression=compression)  # type: ignore[arg-type]


@app.command("build", short_help="Build a basin from maps and stations.")
def build_command(toml: BuildFile, output: BuiltFile = None, dry_run: DryRun = False, plots: PlotsFolder = None,
                  quiet: Quiet = False, debug: Debug = False) -> None:
    """Build a basin file from maps and stations, and print a table of sums to compare with what is known."""
    with _errors(debug):
        from wepl.build.assemble import build

        built = build(toml, output or Path(f"{toml.stem}.nc"), dry_run=dry_run, plots=plots)
        if not quiet:
            print(built.table)
            for what, path in (("basin", built.path), ("plots", built.page)):
                if path is not None:
                    print(f"{what}: {path}")


@app.command("check", short_help="Check a basin file against every rule.")
def check_command(basin: BasinFile, debug: Debug = False) -> None:
    """Check a basin file against every rule; exit status 0 when all are kept, 2 when one is broken."""
    with _errors(debug):
        from wepl.basin.dataset import inspect

        checks = inspect(basin)
        for check in checks:
            print(f"{'pass' if check.passed else 'FAIL'}  {check.rule}")
            for problem in check.problems:
                print(f"      {problem}")
        broken = sum(not check.passed for check in checks)
        print(f"{broken} of {len(checks)} rules are broken" if broken else f"all {len(checks)} rules are kept")
        if broken:
            raise typer.Exit(_BAD_INPUT)


@app.command("info", short_help="Say what a basin, result or state file holds.")
def info_command(file: AnyFile, debug: Debug = False) -> None:
    """Say in a screenful what a basin, result or state file holds."""
    with _errors(debug):
        from wepl.info import describe

        print(describe(file))


@app.command("doctor", short_help="Say what works on this machine and what mends the rest.")
def doctor_command(debug: Debug = False) -> None:
    """Say what is installed, what is missing and how to mend it, and try every backend; exit status 0 if one works."""
    with _errors(debug):
        from wepl.doctor import doctor

        if not doctor():
            raise typer.Exit(_FAULT)


@app.command("synth", short_help="Make a synthetic basin.")
def synth_command(output: SyntheticFile, units: Units = 8712, years: Years = 1, start: FirstDay = "2010-01-01",
                  step: Step = "1d", seed: Seed = 0, quiet: Quiet = False, debug: Debug = False) -> None:
    """Make a synthetic basin in the likeness of the Poyang Lake basin, with any number of units."""
    with _errors(debug):
        from wepl.basin.synthetic import synthesize

        synthesize(output, units=units, years=years, start=start, step=step, seed=seed)
        if not quiet:
            print(f"basin: {output}")


@app.command("compare", short_help="Compare two files variable by variable.")
def compare_command(first: FirstFile, second: SecondFile, rtol: Rtol = 1e-9, atol: Atol = 0.0,
                    debug: Debug = False) -> None:
    """Compare two files variable by variable; exit status 0 when they agree, 1 when they do not."""
    with _errors(debug):
        from wepl.compare import compare

        comparison = compare(first, second, rtol=rtol, atol=atol)
        print(comparison.text)
        if not comparison.within:
            raise typer.Exit(1)


@app.command("crosscheck", short_help="Compare every backend with the CPU reference.")
def crosscheck_command(basin: BasinFile, names: Backends = "cpu,emulate", precisions: Precisions = "float64",
                       days: Days = None, json_file: JsonFile = None, debug: Debug = False) -> None:
    """Run every backend on the same input and compare it with the CPU reference; exit status 1 when one differs."""
    with _errors(debug):
        from wepl.basin.dataset import Basin
        from wepl.crosscheck import crosscheck

        check = crosscheck(Basin.open(basin), _names([names]), _names([precisions]), days)
        print(check.text)
        if json_file is not None:
            json_file.write_text(json.dumps(check.as_dict(), indent=1))
        if not check.passed:
            raise typer.Exit(1)


@app.command("bench", short_help="Measure the model's speed on each backend.")
def bench_command(basin: MaybeBasin = None, units: BenchUnits = None, names: Backends = "cpu",
                  precisions: Precisions = "float64", days: BenchDays = 64, repeats: Repeats = 5,
                  sweep_threads: ThreadsSweep = False, sweep_units: Sweep = None, members: Members = None,
                  json_file: JsonFile = None, plot: PlotFile = None, debug: Debug = False) -> None:
    """Measure the model on each backend: medians of several runs, as ratios to one and to all CPU threads."""
    with _errors(debug):
        from wepl.bench.command import run_benchmarks

        run_benchmarks(basin, units, _names([names]), _names([precisions]), days=days, repeats=repeats,
                       sweep_threads=sweep_threads, sweep_units=sweep_units, members=members, json_file=json_file,
                       plot=plot)


def _names(given: list[str] | None) -> list[str]:
    """Names from a comma-separated option that may be given several times."""
    return [name.strip() for part in given or () for name in part.split(",") if name.strip()]


def _assignments(given: list[str] | None) -> dict[str, float | str]:
    """``name=value`` pairs; the last one of a name wins."""
    changes: dict[str, float | str] = {}
    for part in given or ():
        name, equals, value = part.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise InputError(f"--set {part}: give NAME=VALUE, such as --set conductivity_factor=1.5")
        changes[name.strip()] = value.strip()
    return changes
