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
    ParameterFile,
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
from wepl.cli.distributed import Scheduler, Workers, cluster_of
from wepl.cli.members import (
    BatchSize,
    Control,
    DrawSeed,
    EnsembleOptions,
    Gauges,
    Indices,
    Members,
    NoiseDays,
    NoiseKm,
    RainNoise,
    Ranges,
    Sample,
    Subbasins,
    TemperatureNoise,
    run_members_command,
)
from wepl.errors import InputError


@app.command("run", short_help="Run the model over a basin.")
def run_command(basin: RunBasin = None, output: ResultFile = None, backend: BackendName = "auto",
                precision: Precision = "float64", threads: Threads = None, start: Start = None, end: End = None,
                block_days: BlockDays = None, variables: Variables = None, changes: Changes = None,
                params: ParameterFile = None,
                from_state: FromState = None, save_state: SaveState = None, compression: Compression = "zstd",
                checkpoint: Checkpoint = 365.0, resume_file: Resume = None, spinup: Spinup = 0,
                members: Members = None, sample: Sample = None, ranges: Ranges = None, gauges: Gauges = None,
                subbasins: Subbasins = None, indices: Indices = None, rain_noise: RainNoise = 0.0,
                temperature_noise: TemperatureNoise = 0.0, noise_days: NoiseDays = 2.0, noise_km: NoiseKm = 50.0,
                seed: DrawSeed = 0, control: Control = False, batch: BatchSize = None, workers: Workers = None,
                scheduler: Scheduler = None, quiet: Quiet = False, debug: Debug = False) -> None:
    """Run the model over a basin and write discharge, chosen variables and the water balance."""
    with errors(debug), cluster_of(workers, scheduler, threads) as cluster:
        from wepl.run.parameter_file import read_parameters
        from wepl.run.simulation import resume, run

        ensemble = EnsembleOptions(members, sample, ranges, gauges, subbasins, indices, rain_noise, temperature_noise,
                                   noise_days, noise_km, seed, control, batch)
        if resume_file is not None:
            if basin is not None:
                raise InputError("--resume takes the basin and all but --block-days from the stopped run: leave "
                                 "BASIN.nc out")
            from wepl.run.ensemble_job import is_ensemble, resume_ensemble

            if is_ensemble(resume_file):
                resume_ensemble(resume_file, quiet=quiet, cluster=cluster)
            else:
                resume(resume_file, quiet=quiet, block_days=block_days, cluster=cluster)
            return
        if basin is None:
            raise InputError("give a basin file, or --resume OUT.nc to go on with a stopped run")
        options = {**(read_parameters(params) if params is not None else {}), **assignments(changes)}
        if members is not None:
            run_members_command(basin, output, ensemble, backend=backend, precision=precision, threads=threads,
                                start=start, end=end, options=options, quiet=quiet, cluster=cluster,
                                unusable={"--variables": variables, "--from-state": from_state,
                                          "--save-state": save_state, "--spinup": spinup, "--block-days": block_days})
            return
        ensemble.check_absent()
        run(basin, output=output, backend=backend, precision=precision, threads=threads, start=start, end=end,
            block_days=block_days, variables=listed(variables), options=options, from_state=from_state,
            save_state=save_state, quiet=quiet, checkpoint=checkpoint, spinup=spinup,
            cluster=cluster, compression=compression)  # type: ignore[arg-type]
