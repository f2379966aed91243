"""Running an ensemble: members in batches, each kept when done, then one file of all; and going on after a stop."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl import registry
from wepl.errors import InputError, NumericalError
from wepl.forcing.perturb import Noise
from wepl.language import say
from wepl.run import indices
from wepl.run.batch import Batch, Shared, batches
from wepl.run.ensemble import Changes, groups
from wepl.run.ensemble_file import BatchFile, Layout, is_whole, write
from wepl.run.interrupt import Interrupted, Watch
from wepl.run.journal import Journal
from wepl.run.members import DEFAULT_RANGES, Range, draw
from wepl.run.simulation import resolve_options

if TYPE_CHECKING:
    import xarray as xr

    from wepl.backends import Backend
    from wepl.basin.dataset import Basin
    from wepl.distributed import Cluster

KIND = "ensemble"


@dataclass(frozen=True)
class Request:
    """An ensemble as it was asked for, in plain values, so that it can be written down and gone on with.

    Attributes
    ----------
    members : list of dict
        Options of each member over those of the basin.
    names : list of str
        Names of the members.
    gauges, subbasins : list
        Gauges by name or identifier, and sub-basins by identifier; all gauges, or else all outlets, when both are
        empty.
    indices : list of str
    start, end : str, optional
    noise : Noise
    batch : int, optional
        Largest number of members at a time.
    """

    members: list[dict[str, float | str]]
    names: list[str]
    gauges: list[str]
    subbasins: list[int]
    indices: list[str]
    start: str | None = None
    end: str | None = None
    noise: Noise = Noise()
    batch: int | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Request:
        """What was written down."""
        return cls(**{**facts, "noise": Noise(**facts["noise"])})


def run_ensemble(basin: str | Path | Basin, members: int | Sequence[Changes], *, output: str | Path | None = None,
                 sample: str | None = None, ranges: Mapping[str, Range] | None = None, seed: int = 0,
                 control: bool = False, options: Changes | None = None, names: Sequence[str] = (),
                 gauges: Sequence[str] = (), subbasins: Sequence[int] = (), indices: Sequence[str] = (),
                 start: str | None = None, end: str | None = None, rain_noise: float = 0.0,
                 temperature_noise: float = 0.0, noise_days: float = 2.0, noise_km: float = 50.0,
                 backend: str | Backend = "auto", precision: str = "float64", threads: int | None = None,
                 batch: int | None = None, quiet: bool = True, cluster: Cluster | None = None) -> xr.Dataset:
    """Run parameter sets of one basin, with or without perturbed forcing.

    Each member has the bits of a single run with its options.

    Parameters
    ----------
    basin : path or Basin
    members : int or sequence of mapping
        Number of members to draw, or the options of each (``NAME`` or ``NAME@ZONE``).
    output : path, optional
        File of all members; it is read into memory and not kept when None.
    sample : str, optional
        ``lhs``, ``sobol`` or ``random``, for a number of members; all have the basin's parameters when None.
    ranges : mapping of str to Range, optional
        Where to draw; those of :data:`wepl.run.members.DEFAULT_RANGES` when None.
    seed : int
        Of what is drawn.
    control : bool
        Whether member 0 has the forcing as it is and, where parameters are drawn, the basin's own.
    options : mapping, optional
        Options of all members, over which each has its own.
    names : sequence of str
        Names of the members; their numbers when empty.
    gauges, subbasins : sequence
        Where to keep discharge: gauges by name or identifier, sub-basins by identifier; all gauges, or all outlets of
        a basin without gauges, when both are empty.
    indices : sequence of str
        Of :data:`wepl.run.indices.CHOICES`; all when empty.
    start, end : str, optional
        First and last step.
    rain_noise, temperature_noise, noise_days, noise_km
        See :class:`wepl.forcing.perturb.Noise`.
    backend, precision, threads
        See :func:`wepl.backends.create`.
    batch : int, optional
        Largest number of members at a time; what fits the memory when None. The results do not depend on it.
    quiet : bool
        Print nothing.
    cluster : Cluster, optional
        Where batches are computed (:func:`wepl.distributed.connect`); here when None.

    Returns
    -------
    xarray.Dataset
        The file of all members, opened.

    Raises
    ------
    InputError
        Something in the input cannot be used; nothing is written.
    NumericalError
        The model cannot go on with a member; its number is in the message.
    """
    import xarray as xr

    from wepl.basin.dataset import Basin

    opened = basin if isinstance(basin, Basin) else Basin.open(basin)
    noise = Noise(rain_noise, temperature_noise, noise_days, noise_km, seed, control)
    sets = _sets(members, sample, ranges, noise)
    common = dict(options or {})
    if names and len(names) != len(sets):
        raise InputError(f"{len(names)} names were given for {len(sets)} members")
    request = Request([{**common, **member} for member in sets], list(names) or [str(n) for n in range(len(sets))],
                      [str(gauge) for gauge in gauges], [int(value) for value in subbasins], list(indices), start, end,
                      noise, batch)
    device = _device(backend, precision, threads, cluster)
    if output is not None:
        execute(opened, request, Path(output), device, threads, quiet=quiet, cluster=cluster)
        return xr.open_dataset(output, engine="netcdf4")
    with tempfile.TemporaryDirectory(prefix="wepl-") as folder:
        path = Path(folder) / "ensemble.nc"
        execute(opened, request, path, device, threads, quiet=quiet, cluster=cluster)
        return xr.load_dataset(path, engine="netcdf4")


def resume_ensemble(output: str | Path, *, quiet: bool = False, cluster: Cluster | None = None) -> Path:
    """Go on with an ensemble that was stopped or killed: finished batches are kept, the others are run.

    Raises
    ------
    InputError
        There is nothing to resume, or the basin is not the same any more.
    """
    from wepl.basin.dataset import Basin

    target = Path(output)
    journal = Journal(target, resume=True)
    try:
        facts = journal.facts()
    finally:
        journal.close()
    if facts.get("kind") != KIND:
        raise InputError(f"{target} was to be the result of a run, not of an ensemble")
    if not facts["basin"]:
        raise InputError(f"the ensemble of {target} was given its basin in memory: run it anew")
    basin = Basin.open(facts["basin"])
    if basin.hash != facts["basin_hash"]:
        raise InputError(f"{facts['basin']} is not the basin with which {target} was begun: run anew")
    device = _device(facts["backend"], facts["precision"], facts["threads"], cluster)
    return execute(basin, Request.of(facts["request"]), target, device, facts["threads"], quiet=quiet,
                   planned=facts["batches"], cluster=cluster)


def is_ensemble(output: str | Path) -> bool:
    """Whether the unfinished run of ``output`` is one of an ensemble."""
    journal = Journal(Path(output), resume=True)
    try:
        return journal.facts().get("kind") == KIND
    finally:
        journal.close()


def execute(basin: Basin, request: Request, output: Path, device: Backend, threads: int | None = None, *,
            quiet: bool = False, planned: Sequence[Sequence[int]] | None = None,
            cluster: Cluster | None = None) -> Path:
    """Run an ensemble and write its file.

    Parameters
    ----------
    basin : Basin
    request : Request
    output : Path
    device : Backend
    threads : int, optional
        As asked, to be written down.
    quiet : bool
        Print nothing.
    planned : sequence of sequence of int, optional
        Batches of a run that is gone on with.
    cluster : Cluster, optional
    """
    from wepl.netcdf import check_target

    layout, shared = prepare(basin, request)
    check_target(output, KIND)
    if basin.path and output.exists() and output.samefile(basin.path):
        raise InputError(f"{output}: the result would replace the basin file: choose another name with -o")
    resolved = [resolve_options(basin, member) for member in request.members]
    plan = planned or batches(basin, request.members, groups(resolved), shared, device, request.batch)
    if cluster is not None and planned is None:
        plan = cluster.split(plan)
    journal = Journal(output, resume=planned is not None)
    try:
        with Watch() as watch:
            if planned is None:
                journal.begin({"kind": KIND, "basin": str(basin.path.resolve()) if basin.path else "",
                               "basin_hash": basin.hash, "backend": device.name, "precision": device.precision,
                               "threads": threads, "request": asdict(request), "batches": plan})
            files = [(journal.folder / f"batch-{place}.nc", numbers) for place, numbers in enumerate(plan)]
            _Teller(len(request.members), quiet).run(files, layout, shared, request, device, watch, cluster)
            write(output, basin, layout, _differing(basin, request, resolved), request.names, files,
                  _facts(request, device))
    except (InputError, NumericalError):
        if planned is None:
            journal.remove()
        raise
    finally:
        journal.close()
    journal.remove()
    if not quiet:
        print(say("run.ensemble", path=output))
    return output


def prepare(basin: Basin, request: Request) -> tuple[Layout, Shared]:
    """What the files hold and what batches share; all that can be refused is refused here."""
    clock = basin.clock
    first = clock.index(request.start) if request.start else 0
    last = clock.index(request.end, end=True) + 1 if request.end else clock.n_steps
    if last <= first:
        raise InputError(f"the run would end ({request.end}) before it starts ({request.start or clock.label(0)})")
    if request.batch is not None and request.batch < 1:
        raise InputError(f"--batch {request.batch}: give 1 or more members at a time")
    places, names = _places(basin, request.gauges, request.subbasins)
    layout = Layout(tuple(indices.choose(request.indices)), places, names, first, last)
    shared = Shared.of(basin, first, last, request.noise)
    for number, member in enumerate(request.members):
        try:
            resolve_options(basin, member)
        except InputError as error:
            raise InputError(f"member {number}: {error}") from None
    basin.check_forcing(first, last)
    return layout, shared


def run_batch(path: Path, numbers: Sequence[int], layout: Layout, shared: Shared, members: Sequence[Changes],
              device: Backend, watch: Watch | None = None) -> bool:
    """Run the members of one batch and write its file; False when a signal came first.

    Parameters
    ----------
    path : Path
    numbers : sequence of int
        Numbers of the members in the whole ensemble.
    layout : Layout
    shared : Shared
    members : sequence of mapping
        Options of all members of the ensemble.
    device : Backend
    watch : Watch, optional
    """
    batch = Batch(shared, [members[number] for number in numbers], numbers, device)
    kept = indices.DischargeIndices(shared.basin.clock, len(numbers), layout.places.size)
    with BatchFile(path, layout, len(numbers)) as file:
        for at, series in batch.blocks():
            discharge = series[registry.row("discharge")][:, :, layout.places]
            kept.add(at, discharge)
            file.put(at, discharge)
            if watch is not None and watch.caught is not None:
                return False
        file.finish({**kept.values(), **indices.balance_values(batch.reports())})
    return True


class _Teller:
    """Runs batch after batch and says how far it is."""

    def __init__(self, n_members: int, quiet: bool) -> None:
        self._n_members, self._quiet = n_members, quiet

    def run(self, files: Sequence[tuple[Path, Sequence[int]]], layout: Layout, shared: Shared, request: Request,
            device: Backend, watch: Watch, cluster: Cluster | None = None) -> None:
        """Run the batches that are not there yet."""
        waiting = [(path, numbers) for path, numbers in files if not is_whole(path, layout, len(numbers))]
        done = self._n_members - sum(len(numbers) for _, numbers in waiting)
        self._say(say("run.members", reason=device.reason, members=self._n_members, batches=len(files))
                  + (say("run.members_done", done=done) if done else ""))
        began, here = time.monotonic(), 0
        runner = run_batch if cluster is None else cluster.batch_runner([numbers for _, numbers in waiting], layout,
                                                                        shared, request.members, device)
        for path, numbers in waiting:
            if not runner(path, numbers, layout, shared, request.members, device, watch):
                assert watch.caught is not None
                output = path.parent.with_suffix("")
                raise Interrupted(f"stopped; {done} of {self._n_members} members are kept. Go on with: python -m wepl "
                                  f"run --resume {output}", watch.caught)
            done, here = done + len(numbers), here + len(numbers)
            left = (time.monotonic() - began) / here * (self._n_members - done)
            self._say(say("run.members_left", done=done, members=self._n_members, seconds=f"{left:.0f}"))

    def _say(self, text: str) -> None:
        if not self._quiet:
            print(text, flush=True)


def _sets(members: int | Sequence[Changes], sample: str | None, ranges: Mapping[str, Range] | None,
          noise: Noise) -> list[dict[str, float | str]]:
    """The options of each member."""
    if not isinstance(members, int):
        if sample is not None or ranges is not None:
            raise InputError("--sample and --ranges draw members: give --members a number, not a table")
        return [dict(member) for member in members]
    if sample is None and ranges is None:
        if not noise:
            raise InputError(f"{members} members would be the same: give --sample lhs, sobol or random, --ranges, or "
                             "--rain-noise and --temperature-noise")
        return [{} for _ in range(members)]
    return draw(members, sample or "lhs", ranges or DEFAULT_RANGES, noise.seed, noise.control)


def _places(basin: Basin, gauges: Sequence[str], subbasins: Sequence[int]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Positions and names of the sub-basins whose discharge is kept."""
    parameters = basin.parameters
    ids = parameters["subbasin"].values
    position = {int(value): place for place, value in enumerate(ids)}
    found: list[tuple[int, str]] = []
    known: dict[str, tuple[int, str]] = {}
    if "gauge_subbasin" in parameters:
        texts = [str(value) for value in parameters["gauge"].values]
        names = [str(value) for value in parameters["gauge_name"].values] if "gauge_name" in parameters else texts
        for text, name, subbasin in zip(texts, names, parameters["gauge_subbasin"].values, strict=True):
            known[text] = known[name] = (position[int(subbasin)], name)
        if not gauges and not subbasins:
            found = list(dict.fromkeys(known.values()))
    for gauge in gauges:
        if gauge not in known:
            there = ", ".join(dict.fromkeys(name for _, name in known.values())) or "none"
            raise InputError(f"--gauges: the basin has no gauge {gauge}; there are: {there}")
        found.append(known[gauge])
    for subbasin in subbasins:
        if subbasin not in position:
            raise InputError(f"--subbasins: the basin has no sub-basin {subbasin}")
        found.append((position[subbasin], f"sub-basin {subbasin}"))
    if not found:
        outlets = np.flatnonzero(parameters["downstream"].values < 0).tolist()
        found = [(place, f"outlet {ids[place]}") for place in outlets]
    return np.array([place for place, _ in found], dtype=int), tuple(name for _, name in found)


def _differing(basin: Basin, request: Request, resolved: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Each member's value of every option that any member sets."""
    names = list(dict.fromkeys(name for member in request.members for name in member))
    return [{name: options[name] if name in options else options[name.partition("@")[0]] for name in names}
            for options in resolved]


def _facts(request: Request, device: Backend) -> dict[str, Any]:
    noise = request.noise
    found: dict[str, Any] = {"backend": device.name, "precision": device.precision, "seed": noise.seed,
                             "control_member": int(noise.control)}
    if noise:
        found |= {"rain_noise": noise.rain, "temperature_noise_kelvin": noise.temperature, "noise_days": noise.days,
                  "noise_kilometres": noise.km}
    return found


def _device(backend: str | Backend, precision: str, threads: int | None, cluster: Cluster | None) -> Backend:
    from wepl import backends

    create = backends.create if cluster is None else cluster.device
    return create(backend, precision, threads) if isinstance(backend, str) else backend
