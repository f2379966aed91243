"""What runs on the workers. Each task is a function of its arguments alone, so that Dask may compute it again.

What a process keeps between tasks (backends, the kernel arrays of its groups) saves time and changes no result. Kernels
use all threads that the worker has, and numba's threads take one task at a time, so a lock stands around them.
"""

from __future__ import annotations

import hashlib
import platform
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import wepl.kernels
from wepl import __version__, registry, rows
from wepl.distributed.group import Device, Group
from wepl.errors import BackendError, InputError, NumericalError

if TYPE_CHECKING:
    from wepl.backends import Backend
    from wepl.basin.dataset import Basin
    from wepl.run.batch import Shared
    from wepl.run.ensemble import Changes
    from wepl.run.ensemble_file import Layout
    from wepl.run.model import Model
    from wepl.run.outputs import UnitOutputs

_LOCK = threading.RLock()
_MOST_MODELS = 4
_MODELS: dict[str, tuple[Model, UnitOutputs]] = {}
State = dict[str, np.ndarray]


@dataclass(frozen=True)
class Step:
    """What a group gives after one block.

    Attributes
    ----------
    values : dict of str to ndarray
        What is written: reach series ``[step, own sub-basin]`` and unit variables ``[step, (layer,) unit]``.
    outflow : ndarray
        Discharge of the group's exports in each routing step, ``[routing step, reach]``, in the kernels' precision.
    state : dict of str to ndarray
        Restart variables of the group's own places after the block.
    seconds : tuple of float
        Wall and CPU seconds that the block took.
    """

    values: dict[str, np.ndarray]
    outflow: np.ndarray
    state: State
    seconds: tuple[float, float]

    @property
    def result(self) -> tuple[dict[str, np.ndarray], tuple[float, float]]:
        """What the client takes of every block."""
        return self.values, self.seconds


@cache
def facts() -> tuple[tuple[str, str], ...]:
    """Versions of what the bits of a result depend on, those of the model's sources and variables among them."""
    from importlib.metadata import version

    package = Path(__file__).resolve().parent.parent
    kernels = Path(str(wepl.kernels.__file__)).parent
    sources = hashlib.sha256()
    for folder in (package / "physics", package / "stages", kernels / "cuda"):
        for path in sorted(found for found in folder.rglob("*") if found.suffix in (".py", ".cu", ".cuh", ".h")):
            sources.update(path.read_bytes())
    table = hashlib.sha256(repr(registry.TABLE).encode()).hexdigest()
    return (("wepl", __version__), ("the model's sources", sources.hexdigest()[:12]), ("registry", table[:12]),
            ("Python", platform.python_version()), ("numpy", version("numpy")), ("numba", version("numba")),
            ("distributed", version("distributed")))


def differing(wanted: Sequence[tuple[str, str]]) -> list[str]:
    """What differs between this worker's versions and a client's, in words."""
    return [f"{name} {own} there, {given} here" for (name, own), (_, given) in zip(facts(), wanted, strict=True)
            if own != given]


def refusal(where: str, found: Sequence[str]) -> InputError:
    """The error of a worker with other versions."""
    return InputError(f"worker {where} cannot give the same bits: {'; '.join(found)}. Install the same versions on "
                      "client and workers")


def check_facts(wanted: Sequence[tuple[str, str]]) -> None:
    """Refuse a task of a client with other versions: the worker may have come after the first check.

    Raises
    ------
    InputError
        Something differs.
    """
    if found := differing(wanted):
        raise refusal(platform.node(), found)


def missing(paths: Sequence[str]) -> list[str]:
    """Those of some files that this worker cannot see."""
    return [path for path in paths if not Path(path).is_file()]


def describe(device: Device, dask_worker: Any = None) -> tuple[str, str, int | None]:
    """Make a backend: its name, why it is taken, and the bytes free on its device.

    Raises
    ------
    BackendError
        It cannot be had here.
    """
    made = _backend(device.name, device.precision, device.threads or _threads(dask_worker))
    return made.name, made.reason, made.free_bytes()


def backend(device: Device) -> Backend:
    """The backend of a task, kept for the next ones."""
    if device.threads:
        return _backend(device.name, device.precision, device.threads)
    from distributed import get_worker

    return _backend(device.name, device.precision, _threads(get_worker()))


def _threads(dask_worker: Any) -> int:
    """As many threads as the worker was started with, and the machine has."""
    import numba

    return min(int(dask_worker.state.nthreads), int(numba.config.NUMBA_NUM_THREADS))


@cache
def _backend(name: str, precision: str, threads: int) -> Backend:
    from wepl import backends

    try:
        return backends.create(name, precision, threads)
    except BackendError as error:
        raise BackendError(f"on a worker: {error}") from None


def keep(value: Any, *beside: Any) -> Any:
    """A value that the graph holds, so that it outlives the worker on which it stands; ``beside`` draws it there."""
    return value


def advance(group: Group, state: State, inflows: Sequence[np.ndarray], at: int, until: int) -> Step:
    """Advance a group through one block.

    Parameters
    ----------
    group : Group
    state : dict of str to ndarray
        Restart variables of the group's own places before the block, with the low parts of single precision.
    inflows : sequence of ndarray
        ``outflow`` of each upstream group in the same block.
    at, until : int
        Steps of the block, ``until`` not included.

    Raises
    ------
    NumericalError
        The model cannot go on; the message names process, place and time.
    """
    check_facts(group.common.facts)
    with _LOCK:
        wall, cpu = time.perf_counter(), time.process_time()
        model, outputs = _model(group)
        model.set_state(_with_stand_ins(state, model, group))
        if group.imports.size:
            _prescribe(model, group, inflows)
        block = model.advance(group.forcing.read(at, until), *_tables(group, at, until))
        _check(model, group, at)
        n_own, n_routes = group.n_own, (until - at) * model.n_route
        values = {name: np.ascontiguousarray(block.series[row][:, :n_own]) for name, row in group.common.series}
        values |= outputs.block(block.record, until - at)
        series = model.backend.download(model.values["series"])
        outflow = np.ascontiguousarray(series[rows.DISCHARGE, :n_routes][:, group.exports])
        after = {name: np.ascontiguousarray(array[:n_own]) if _along(name) == "subbasin" else array
                 for name, array in (model.state() | model.low_parts()).items()}
        return Step(values, outflow, after, (time.perf_counter() - wall, time.process_time() - cpu))


def _model(group: Group) -> tuple[Model, UnitOutputs]:
    """The group's arrays on this worker's device; those of other runs make room."""
    from wepl.run.model import Model
    from wepl.run.outputs import UnitOutputs

    if group.token not in _MODELS:
        for token in [token for token in _MODELS if token.rpartition("-")[0] != group.common.run]:
            del _MODELS[token]
        while len(_MODELS) >= _MOST_MODELS:
            del _MODELS[next(iter(_MODELS))]
        common = group.common
        model = Model(backend(common.device), group.arrays, common.selection, common.step_seconds, common.block_steps,
                      common.given)
        _MODELS[group.token] = model, UnitOutputs(common.selection, group.arrays)
    return _MODELS[group.token]


def _along(name: str) -> str:
    return registry.variable(name.removesuffix("_low")).dims[-1]


def _with_stand_ins(state: State, model: Model, group: Group) -> State:
    """The state with columns for the reaches above, whose values nobody reads."""
    n_above = group.arrays.values["level_list"].size - group.n_own
    if not n_above:
        return state
    full = dict(state)
    start = model.arrays.values["subbasin_state"]
    for name, array in state.items():
        if _along(name) == "subbasin":
            entry = registry.variable(name.removesuffix("_low"))
            rest = np.zeros(n_above)
            if entry.array == "subbasin_state" and not name.endswith("_low"):
                rest = start[registry.row(entry.name), group.n_own:]
            full[name] = np.concatenate([array, rest])
    return full


def _prescribe(model: Model, group: Group, inflows: Sequence[np.ndarray]) -> None:
    """Fill in the discharge of the reaches above."""
    values = model.values["series"]
    series = np.zeros(values.shape, dtype=model.backend.types["real"])
    for place, (source, column) in enumerate(group.imports):
        inflow = inflows[source][:, column]
        series[rows.DISCHARGE, :inflow.size, group.n_own + place] = inflow
    model.values["series"] = model.backend.upload(series, "real")


def _tables(group: Group, at: int, until: int) -> tuple[np.ndarray, np.ndarray]:
    from wepl.run.assembly import vegetation_table

    common = group.common
    calendar = np.stack([common.clock.day_of_year(at, until), common.clock.solar_hour(at, until)]).astype(float)
    return calendar, vegetation_table(common.vegetation, common.clock, at, until, common.options)


def _check(model: Model, group: Group, at: int) -> None:
    """What :class:`wepl.run.guard.Guard` looks at; it alone keeps the step for a repetition."""
    clock, again = group.common.clock, "Run without --workers and --scheduler to have the step in a crash file"
    problem = model.problem()
    if problem is not None:
        try:
            model.raise_problem(group.unit_ids, group.subbasin_ids, clock.label(at + problem[2]))
        except NumericalError as error:
            raise NumericalError(f"{error}. {again}") from None
    wrong = model.out_of_range()
    if wrong is not None:
        entry, place, value = wrong
        low, high = entry.valid
        where = f"{_where(group, entry, place)} in the block from {clock.label(at)}"
        raise NumericalError(f"{entry.name} ({entry.long_name}) is {value:g} {entry.units} {where}, outside {low:g} to "
                             f"{high:g}; no result was written. {again}")


def _where(group: Group, entry: registry.Variable, place: tuple[int, ...]) -> str:
    arrays, dim, last = group.arrays, entry.dims[-1], place[-1]
    if dim == "tile":
        return f"in unit {group.unit_ids[arrays.unit_of_tile[last]]}"
    if dim == "unit":
        return f"in unit {group.unit_ids[last]}"
    if dim == "river_cell":
        last = int(np.searchsorted(arrays.values["cell_start"], last, side="right")) - 1
    return f"in sub-basin {group.subbasin_ids[last]}"


def run_batch(shared: Shared, numbers: Sequence[int], layout: Layout, members: Mapping[int, Changes], device: Device,
              wanted: Sequence[tuple[str, str]]) -> bytes:
    """Run a batch of an ensemble; the content of its file.

    Parameters
    ----------
    shared : Shared
    numbers : sequence of int
        Numbers of the members in the whole ensemble.
    layout : Layout
    members : mapping of int to mapping
        Options of these members by number.
    device : Device
    wanted : sequence of (str, str)
        Versions of the client.
    """
    from wepl.run import ensemble_job

    check_facts(wanted)
    with _LOCK, tempfile.TemporaryDirectory(prefix="wepl-batch-") as folder:
        path = Path(folder) / "batch.nc"
        ensemble_job.run_batch(path, numbers, layout, shared, members, backend(device))  # type: ignore[arg-type]
        return path.read_bytes()


def prepare_members(basin: Basin, first: int, last: int, spin_up_years: int) -> Basin:
    """The basin with the forcing of a calibration's run."""
    from wepl.calibrate.forcing import prepared

    return prepared(basin, first, last, spin_up_years)[0]


def run_members(basin: Basin, members: Sequence[Changes], positions: Sequence[int], device: Device,
                wanted: Sequence[tuple[str, str]]) -> tuple[np.ndarray, tuple[float, float]]:
    """Discharge ``[step, member, place]`` of a part of a population, with wall and CPU seconds."""
    from wepl.run import ensemble

    check_facts(wanted)
    with _LOCK:
        wall, cpu = time.perf_counter(), time.process_time()
        series = ensemble.run_members(basin, members, backend(device), names=["discharge"], subbasins=positions,
                                      keep_going=True)["discharge"]
        return series, (time.perf_counter() - wall, time.process_time() - cpu)
