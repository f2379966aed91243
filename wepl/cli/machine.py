"""Commands about the machine: doctor, crosscheck, bench."""

from __future__ import annotations

import json

import typer

from wepl.cli.app import FAULT, app, errors
from wepl.cli.arguments import (
    Backends,
    BasinFile,
    BenchDays,
    BenchUnits,
    Days,
    Debug,
    JsonFile,
    MaybeBasin,
    Members,
    PlotFile,
    Precisions,
    Repeats,
    Sweep,
    ThreadsSweep,
    listed,
)


@app.command("doctor", short_help="Say what works on this machine and what mends the rest.")
def doctor_command(debug: Debug = False) -> None:
    """Say what is installed, what is missing and how to mend it, and try every backend; exit status 0 if one works."""
    with errors(debug):
        from wepl.doctor import doctor

        if not doctor():
            raise typer.Exit(FAULT)


@app.command("crosscheck", short_help="Compare every backend with the CPU reference.")
def crosscheck_command(basin: BasinFile, names: Backends = "cpu,native,emulate", precisions: Precisions = "float64",
                       days: Days = None, json_file: JsonFile = None, debug: Debug = False) -> None:
    """Run every backend on the same input and compare it with the CPU reference; exit status 1 when one differs."""
    with errors(debug):
        from wepl.basin.dataset import Basin
        from wepl.crosscheck import crosscheck

        check = crosscheck(Basin.open(basin), listed([names]), listed([precisions]), days)
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
    with errors(debug):
        from wepl.bench.command import run_benchmarks

        run_benchmarks(basin, units, listed([names]), listed([precisions]), days=days, repeats=repeats,
                       sweep_threads=sweep_threads, sweep_units=sweep_units, members=members, json_file=json_file,
                       plot=plot)
