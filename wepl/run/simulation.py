"""Running a basin, and going on with a run that was stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wepl import registry
from wepl.errors import InputError
from wepl.run import caches, tuned, zones
from wepl.run.job import Job, Plan, RunResult

if TYPE_CHECKING:
    from wepl.backends import Backend
    from wepl.basin.dataset import Basin
    from wepl.distributed import Cluster
    from wepl.run.writer import Compression

__all__ = ["RunResult", "resolve_options", "resume", "run"]


def run(basin: str | Path | Basin, *, output: str | Path | None = None, backend: str | Backend = "auto",
        precision: str = "float64", threads: int | None = None, start: str | None = None, end: str | None = None,
        block_days: float | None = None, variables: Sequence[str] = (),
        options: Mapping[str, float | str] | None = None,
        from_state: str | Path | None = None, save_state: str | Path | None = None, quiet: bool = False,
        compression: Compression = "zstd", checkpoint: float = 0.0, spinup: int = 0,
        cluster: Cluster | None = None) -> RunResult:
    """Run the model over a basin and write a result file.

    Parameters
    ----------
    basin : path or Basin
        The basin file, or a basin already opened.
    output : path, optional
        Result file; ``NAME_result.nc`` in the working folder when None. It appears only when complete.
    backend, precision, threads
        See :func:`wepl.backends.create`. A backend made before brings its own precision and threads.
    start, end : str, optional
        First and last step (ISO date or date and time); the whole forcing when None.
    block_days : float, optional
        Days computed at a time; chosen to fit memory when None. The result does not depend on it.
    variables : sequence of str
        Unit and sub-basin variables to write beside discharge (:func:`wepl.run.outputs.choices`).
    options : mapping, optional
        Options and calibration multipliers by registry name, over those of the file; switches by name or number;
        ``NAME@ZONE`` for a multiplier in one parameter zone.
    from_state, save_state : path, optional
        State file to start from, and to write at the end.
    quiet : bool
        Print nothing.
    compression : str
        ``zstd``, ``zlib`` or ``none``.
    checkpoint : float
        Days between states in the journal beside the result, from which :func:`resume` goes on; 0 keeps no journal.
    spinup : int
        Repeat the first so many years until storages settle, then begin.
    cluster : Cluster, optional
        Where groups of sub-basins are computed (:func:`wepl.distributed.connect`); here when None. Same bits.

    Returns
    -------
    RunResult

    Raises
    ------
    InputError
        Something in the input cannot be used; nothing is written.
    NumericalError
        A kernel met a value it cannot go on with, or the balance does not close; nothing is written.
    """
    from wepl import backends
    from wepl.basin.dataset import Basin
    from wepl.physics.jit import cache_folder

    opened = basin if isinstance(basin, Basin) else Basin.open(basin)
    _check_numbers(opened, checkpoint, spinup)
    create, make = (backends.create, Job) if cluster is None else (cluster.device, cluster.job)
    steps = None
    if not isinstance(backend, str):
        device = backend
    elif backend == "auto" and cluster is None:
        device, steps = tuned.device_of(opened, precision, threads)
    else:
        device = create(backend, precision, threads)
    job = make(opened, output, options or {}, start, end, variables, block_days, resolve_options)
    job.preferred_steps = steps
    caches.tidy(cache_folder())
    facts = {"basin": str(Path(opened.path).resolve()) if opened.path else "", "basin_hash": opened.hash,
             "backend": device.name, "precision": device.precision, "threads": threads, "start": start, "end": end,
             "block_days": block_days, "variables": list(variables), "options": dict(options or {}),
             "save_state": str(save_state) if save_state else None, "compression": compression,
             "checkpoint": checkpoint, "from_state": str(Path(from_state).resolve()) if from_state else None,
             "spinup": spinup}
    return job.run(device, Plan(block_days, from_state, save_state, checkpoint, False, spinup, quiet, compression),
                   facts)


def _check_numbers(basin: Basin, checkpoint: float, spinup: int) -> None:
    if not checkpoint >= 0.0:
        raise InputError(f"--checkpoint {checkpoint:g}: give days above 0, or 0 for no journal")
    years = basin.clock.n_steps * basin.clock.step_seconds / 86400 / 365.25
    if spinup < 0 or spinup > years + 0.01:
        raise InputError(f"--spinup {spinup}: give whole years from 0 to the {years:.2f} of the forcing")


def resume(output: str | Path, *, quiet: bool = False, block_days: float | None = None,
           cluster: Cluster | None = None) -> RunResult:
    """Go on with a run that was stopped or killed, from its newest checkpoint; the result has the same bits.

    Parameters
    ----------
    output : path
        The result file that the run was to write; its journal lies beside it.
    quiet : bool
        Print nothing.
    block_days : float, optional
        Days computed at a time; as the run had them when None. Fewer take less memory.
    cluster : Cluster, optional
        Where to go on, whether the run began there or not.

    Raises
    ------
    InputError
        There is nothing to resume, or the basin is not the same any more.
    """
    from wepl import backends
    from wepl.basin.dataset import Basin
    from wepl.run.journal import Journal

    target = Path(output)
    journal = Journal(target, resume=True)
    try:
        facts: dict[str, Any] = journal.facts()
        if block_days is not None:
            facts["block_days"] = block_days
    finally:
        journal.close()
    if not facts["basin"]:
        raise InputError(f"the run of {target} was given its basin in memory: run it anew")
    basin = Basin.open(facts["basin"])
    if basin.hash != facts["basin_hash"]:
        raise InputError(f"{facts['basin']} is not the basin with which {target} was begun: run anew")
    create, make = (backends.create, Job) if cluster is None else (cluster.device, cluster.job)
    device = create(facts["backend"], facts["precision"], facts["threads"])
    job = make(basin, target, facts["options"], facts["start"], facts["end"], facts["variables"], facts["block_days"],
              resolve_options)
    plan = Plan(facts["block_days"], facts.get("from_state"), facts["save_state"], facts["checkpoint"], True,
                facts.get("spinup", 0), quiet, facts["compression"])
    return job.run(device, plan, facts)


def resolve_options(basin: Basin, changes: Mapping[str, float | str]) -> dict[str, float]:
    """Options of the basin with the user's changes, each checked against the registry.

    Raises
    ------
    InputError
        An option is unknown, not a number or choice, or out of its range, or there is no such parameter zone.
    """
    merged = dict(basin.options)
    known = {entry.name: entry for entry in registry.of_kind("option")}
    for name, given in changes.items():
        option, zone = zones.split(name)
        if option not in known:
            raise InputError(f"unknown option {option}: choose from {', '.join(known)}")
        if zone is not None:
            given_zones = basin.parameters["parameter_zone"].values if "parameter_zone" in basin.parameters else None
            zones.check_zone(name, zone, given_zones)
        entry = known[option]
        if isinstance(given, str) and given in entry.choices:
            value = float(entry.choices.index(given))
        else:
            try:
                value = float(given)
            except ValueError:
                wanted = f"one of {', '.join(entry.choices)}" if entry.choices else f"a number in {entry.units}"
                raise InputError(f"option {name}: {given!r} is not {wanted}") from None
        low, high = entry.valid
        if not low <= value <= high or (entry.integer and value != int(value)):
            raise InputError(f"option {name} = {given} is outside {low:g} to {high:g} {entry.units}")
        merged[option if zone is None else f"{option}@{zone}"] = value
    return merged
