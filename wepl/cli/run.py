"""The command that runs the model."""

from __future__ import annotations

from wepl.cli.app import app, errors
from wepl.cli.arguments import (
    BackendName,
    BlockDays,
    Changes,
    Checkpoint,
    Compression,
    Debug,
    End,
    FromState,
    Precision,
    Quiet,
    ResultFile,
    Resume,
    RunBasin,
    SaveState,
    Spinup,
    Start,
    Threads,
    Variables,
    assignments,
    listed,
)
from wepl.errors import InputError


@app.command("run", short_help="Run the model over a basin.")
def run_command(basin: RunBasin = None, output: ResultFile = None, backend: BackendName = "auto",
                precision: Precision = "float64", threads: Threads = None, start: Start = None, end: End = None,
                block_days: BlockDays = None, variables: Variables = None, changes: Changes = None,
                from_state: FromState = None, save_state: SaveState = None, compression: Compression = "zstd",
                checkpoint: Checkpoint = 365.0, resume_file: Resume = None, spinup: Spinup = 0, quiet: Quiet = False,
                debug: Debug = False) -> None:
    """Run the model over a basin and write discharge, chosen variables and the water balance."""
    with errors(debug):
        from wepl.run.simulation import resume, run

        if resume_file is not None:
            if basin is not None:
                raise InputError("--resume takes the basin and all else from the stopped run: leave BASIN.nc out")
            resume(resume_file, quiet=quiet)
            return
        if basin is None:
            raise InputError("give a basin file, or --resume OUT.nc to go on with a stopped run")
        run(basin, output=output, backend=backend, precision=precision, threads=threads, start=start, end=end,
            block_days=block_days, variables=listed(variables), options=assignments(changes), from_state=from_state,
            save_state=save_state, quiet=quiet, checkpoint=checkpoint, spinup=spinup,
            compression=compression)  # type: ignore[arg-type]
