"""Commands that make and read files: build, synth, check, info, compare."""

from __future__ import annotations

from pathlib import Path

import typer

from wepl.cli.app import BAD_INPUT, app, errors
from wepl.cli.arguments import (
    AnyFile,
    Atol,
    BasinFile,
    BuildFile,
    BuiltFile,
    Debug,
    DryRun,
    FirstDay,
    FirstFile,
    PlotsFolder,
    Quiet,
    Rtol,
    SecondFile,
    Seed,
    Step,
    SyntheticFile,
    Units,
    Years,
)


@app.command("build", short_help="Build a basin from maps and stations.")
def build_command(toml: BuildFile, output: BuiltFile = None, dry_run: DryRun = False, plots: PlotsFolder = None,
                  quiet: Quiet = False, debug: Debug = False) -> None:
    """Build a basin file from maps and stations, and print a table of sums to compare with what is known."""
    with errors(debug):
        from wepl.build.assemble import build
        from wepl.language import say

        built = build(toml, output or Path(f"{toml.stem}.nc"), dry_run=dry_run, plots=plots)
        if not quiet:
            print(built.table)
            for what, path in (("basin", built.path), ("plots", built.page)):
                if path is not None:
                    print(say(f"cli.{what}", path=path))


@app.command("synth", short_help="Make a synthetic basin.")
def synth_command(output: SyntheticFile, units: Units = 8712, years: Years = 1, start: FirstDay = "2010-01-01",
                  step: Step = "1d", seed: Seed = 0, quiet: Quiet = False, debug: Debug = False) -> None:
    """Make a synthetic basin in the likeness of the Poyang Lake basin, with any number of units."""
    with errors(debug):
        from wepl.basin.synthetic import synthesize
        from wepl.language import say

        synthesize(output, units=units, years=years, start=start, step=step, seed=seed)
        if not quiet:
            print(say("cli.basin", path=output))


@app.command("check", short_help="Check a basin file against every rule.")
def check_command(basin: BasinFile, debug: Debug = False) -> None:
    """Check a basin file against every rule; exit status 0 when all are kept, 2 when one is broken."""
    with errors(debug):
        from wepl.basin.dataset import inspect
        from wepl.language import say

        checks = inspect(basin)
        for check in checks:
            print(f"{say('cli.rule_kept' if check.passed else 'cli.rule_broken')}  {check.rule}")
            for problem in check.problems:
                print(f"      {problem}")
        broken = sum(not check.passed for check in checks)
        print(say("cli.rules_broken" if broken else "cli.rules_kept", broken=broken, count=len(checks)))
        if broken:
            raise typer.Exit(BAD_INPUT)


@app.command("info", short_help="Say what a basin, result or state file holds.")
def info_command(file: AnyFile, debug: Debug = False) -> None:
    """Say in a screenful what a basin, result or state file holds."""
    with errors(debug):
        from wepl.info import describe

        print(describe(file))


@app.command("compare", short_help="Compare two files variable by variable.")
def compare_command(first: FirstFile, second: SecondFile, rtol: Rtol = 1e-9, atol: Atol = 0.0,
                    debug: Debug = False) -> None:
    """Compare two files variable by variable; exit status 0 when they agree, 1 when they do not."""
    with errors(debug):
        from wepl.compare import compare

        comparison = compare(first, second, rtol=rtol, atol=atol)
        print(comparison.text)
        if not comparison.within:
            raise typer.Exit(1)
