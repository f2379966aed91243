"""A run of one basin on a cluster: groups of sub-basins advance block by block as tasks, results come to one writer.

A task is one group and one block. It needs the group's state after the block before, and what flows in from the groups
above in the same block, so the tasks advance as a wavefront: while a group works on block k, those below it work on
blocks before k. The state stays with the worker that made it. Groups, and the states with which a stretch of the run
begins, are held by the graph: a worker that dies takes nothing with it that Dask cannot compute again. A stretch ends
with each checkpoint of the journal, so no more than that is ever computed twice.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from wepl import registry
from wepl.distributed import worker
from wepl.distributed.group import VEGETATION, Common, Group, Places, cut
from wepl.distributed.partition import Partition, partition
from wepl.run.job import Job, Plan, RunResult
from wepl.run.model import STATES, TOTALS, Staged, array_sizes, route_steps

if TYPE_CHECKING:
    from distributed import Future

    from wepl.backends import Backend
    from wepl.distributed.cluster import Cluster, RemoteDevice
    from wepl.run.behind import Behind
    from wepl.run.guard import Guard
    from wepl.run.journal import Journal
    from wepl.run.model import Model

# Blocks of a stretch for each group that waits for another one: what the wavefront takes to begin stays small.
_BLOCKS_PER_DEPTH = 8
# Blocks that are asked for before their turn, beyond the groups that wait for one another.
_AHEAD = 2


@dataclass
class Traffic:
    """What passed between processes, in bytes, and what was computed.

    Attributes
    ----------
    state, inflow, values : int
        Bytes of states brought to the client, of discharge between groups, of results to the client.
    seconds : list of tuple
        Group, first step, steps, wall and CPU seconds of each task whose results were taken.
    """

    state: int = 0
    inflow: int = 0
    values: int = 0
    seconds: list[tuple[int, int, int, float, float]] = field(default_factory=list)


@dataclass(frozen=True)
class _Submitted:
    """One block of all groups under way."""

    at: int
    until: int
    values: list[Future]
    states: list[Future]


class Fleet:
    """The groups of a run on the workers, with the parts of :class:`wepl.run.model.Model` that a job uses."""

    def __init__(self, cluster: Cluster, job: DistributedJob, device: RemoteDevice, block_steps: int) -> None:
        self.cluster, self.backend, self.block_steps = cluster, device, block_steps
        self.traffic = Traffic()
        self._client = cluster.client
        self._partition, self._places = job.partition, job.places
        self._run = uuid.uuid4().hex
        self._serial = 0
        self.n_route = route_steps(job.arrays, job.clock.step_seconds)
        common = job.common(device, block_steps, self._run)
        self._groups = [self._hold("group", number, job.group(number, common))
                        for number in range(len(self._partition.members))]
        self._host: dict[str, np.ndarray] | None = _start(job, device)
        self._low: dict[str, np.ndarray] = {}
        if device.types["store"].kind == "c":
            self._low = _named(job, device, low=True)
        self._states = self._spread()
        # Those after the block that was given last.
        self._taken = self._states

    def state(self) -> dict[str, np.ndarray]:
        """Restart variables after the block that was given last, for the whole basin."""
        self._bring()
        assert self._host is not None
        return {name: values.copy() for name, values in self._host.items()}

    def low_parts(self) -> dict[str, np.ndarray]:
        """See :meth:`wepl.run.model.Model.low_parts`."""
        self._bring()
        return {name: values.copy() for name, values in self._low.items()}

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Put restart variables on the workers."""
        lows = {f"{entry.name}_low" for array in STATES + TOTALS for entry in registry.layout(array)}
        given = {name: np.array(values, dtype=np.float64) for name, values in state.items()}
        self._low = {name: values for name, values in given.items() if name in lows}
        self._host = {name: values for name, values in given.items() if name not in lows}
        if self.backend.types["store"].kind == "c":
            self._settle_pairs()
        self._states = self._taken = self._spread()

    def _settle_pairs(self) -> None:
        """Pairs as a device holds them: the sum that it gives back may differ from what it was given by a rounding."""
        assert self._host is not None
        for name, values in self._host.items():
            low = self._low.get(f"{name}_low")
            if low is None:
                pair = self.backend.encode(values, "store")
                self._low[f"{name}_low"] = pair.imag.astype(np.float64)
                self._host[name] = self.backend.decode(pair)

    def advance_staged(self, staged: Staged) -> None:
        """Let all groups advance through a block whose results nobody wants."""
        at = int(staged.values["at"])
        self._taken = self.submit(at, at + staged.n_steps).states
        self._host = None

    def submit(self, at: int, until: int) -> _Submitted:
        """Ask for a block of all groups."""
        outflows: list[Future] = []
        values, states = [], []
        for number, group in enumerate(self._groups):
            inflows = [outflows[source] for source in self._partition.sources(number)]
            name = f"{self._run}-{self._serial}-{number}"
            step = self._client.submit(worker.advance, group, self._states[number], inflows, at, until,
                                       key=f"wepl-advance-{name}", pure=False)
            parts = {part: self._client.submit(getattr, step, part, key=f"wepl-{part}-{name}", pure=False)
                     for part in ("outflow", "state", "result")}
            outflows.append(parts["outflow"])
            states.append(parts["state"])
            values.append(parts["result"])
        self._serial += 1
        self._states = states
        return _Submitted(at, until, values, states)

    def take(self, block: _Submitted) -> list[dict[str, np.ndarray]]:
        """Wait for what the groups give to be written in a block."""
        found = [self.cluster.result(future) for future in block.values]
        for number, (values, seconds) in enumerate(found):
            self.traffic.values += sum(array.nbytes for array in values.values())
            self.traffic.seconds.append((number, block.at, block.until - block.at, *seconds))
        links = sum(above.size for above in self._partition.above)
        self.traffic.inflow += links * (block.until - block.at) * self.n_route * self.backend.types["real"].itemsize
        self._taken, self._host = block.states, None
        return [values for values, _ in found]

    def rebase(self) -> None:
        """Begin a new stretch from the state after the last block: what lies before is never computed again."""
        self._bring()
        self._states = self._taken = self._spread()

    def _bring(self) -> None:
        """Bring the states after the block that was given last to the client."""
        if self._host is not None:
            return
        parts = [self.cluster.result(future) for future in self._taken]
        self.traffic.state += sum(array.nbytes for part in parts for array in part.values())
        whole: dict[str, np.ndarray] = {}
        for name in parts[0]:
            along = registry.variable(name.removesuffix("_low")).dims[-1]
            size = sum(places.along[along].size for places in self._places)
            whole[name] = np.empty((*parts[0][name].shape[:-1], size))
            for part, places in zip(parts, self._places, strict=True):
                whole[name][..., places.along[along]] = part[name]
        self._host = {name: values for name, values in whole.items() if not name.endswith("_low")}
        self._low = {name: values for name, values in whole.items() if name.endswith("_low")}

    def _spread(self) -> list[Future]:
        """The client's state cut into the groups' parts, held by the graph."""
        assert self._host is not None
        held = {**self._host, **self._low}
        self._serial += 1
        return [self._hold(f"start-{self._serial}", number, {
            name: np.ascontiguousarray(values[..., places.along[registry.variable(name.removesuffix("_low")).dims[-1]]])
            for name, values in held.items()}, self._groups[number]) for number, places in enumerate(self._places)]

    def _hold(self, what: str, number: int, value: Any, *beside: Future) -> Future:
        """A value in the graph, on the worker where another one lies.

        Tasks are bound to no address: where all workers die, Dask would wait for the old ones. They go where most of
        what they need lies, and what stands alone goes from worker to worker in turn.
        """
        return self._client.submit(worker.keep, value, *beside, key=f"wepl-{what}-{self._run}-{number}", pure=False)


class DistributedJob(Job):
    """A job whose blocks are computed on a cluster; result, journal and balance are those of :class:`Job`."""

    def __init__(self, cluster: Cluster, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.cluster = cluster
        cluster.check_paths(self.basin.forcing.paths)
        self.partition, self.places = self._cut()
        # The workers look after each block themselves.
        self.guard = cast("Guard", _Unneeded())
        self._plan = Plan()
        self.traffic = Traffic()

    def _cut(self) -> tuple[Partition, list[Places]]:
        from wepl.run.fixed import Fixed

        below = Fixed(self.basin.parameters).below
        tiles = np.bincount(self.arrays.subbasin_of_unit[self.arrays.unit_of_tile], minlength=below.size)
        wanted = self.cluster.groups or max(1, len(self.cluster.workers))
        parts = partition(below, tiles + 1.0, wanted)
        return parts, [cut(self.arrays, own, above)[1] for own, above in zip(parts.members, parts.above, strict=True)]

    def common(self, device: RemoteDevice, block_steps: int, run: str) -> Common:
        """What the groups share."""
        forcing = self.basin.forcing
        series = tuple((entry.name, row) for row, entry in enumerate(registry.layout("series"))
                       if entry.name == "discharge" or entry.name in self.selection.series)
        return Common(run, worker.facts(), device.device, self.selection, series, self.clock.step_seconds, block_steps,
                      ("shortwave_radiation" in forcing.available, "longwave_radiation" in forcing.available),
                      self.options, self.clock, self.basin.parameters[list(VEGETATION)])

    def group(self, number: int, common: Common) -> Group:
        """What a worker needs of one group."""
        parts = self.partition
        arrays, places = cut(self.arrays, parts.members[number], parts.above[number])
        sources = parts.sources(number)
        exports = {source: parts.exports(source) for source in sources}
        imports = [(sources.index(int(parts.group_of[reach])),
                    int(np.searchsorted(exports[int(parts.group_of[reach])], reach))) for reach in parts.above[number]]
        units = self.arrays.unit_order[places.along["unit"]]
        identifiers = self.basin.parameters["subbasin"].values
        return Group(number, common, arrays, parts.members[number].size,
                     np.searchsorted(parts.members[number], parts.exports(number)),
                     np.array(imports, dtype=int).reshape(-1, 2), self.basin.forcing.part(places.cells),
                     self.basin.parameters["unit"].values[units],
                     identifiers[np.concatenate([parts.members[number], parts.above[number]])])

    def run(self, device: Backend, plan: Plan, facts: Mapping[str, Any]) -> RunResult:
        self._plan = plan
        return super().run(device, plan, facts)

    def block_steps(self, device: Backend, block_days: float | None) -> int:
        """As for one process, from what the largest group needs; and so short that the wavefront begins soon."""
        from wepl.run import plan
        from wepl.run.zones import resistance_factors

        largest = max(range(len(self.places)), key=lambda number: self.places[number].along["tile"].size)
        arrays, places = cut(self.arrays, self.partition.members[largest], self.partition.above[largest])
        step = self.clock.step_seconds
        n_route = route_steps(arrays, step)
        sizes = array_sizes(arrays, self.selection, 1, n_route)
        kinds = self.basin.parameters.sizes["vegetation"] * len(resistance_factors(self.options))
        needed = plan.need(sizes | {"cell": places.cells.size, "kind": kinds}, n_route, device.types)
        fitting = plan.block_steps(needed, self.last - self.first, step, block_days=block_days,
                                   free=device.free_bytes())
        if block_days is not None:
            return fitting
        stretch = self.last - self.first
        if self._plan.checkpoint > 0:
            stretch = min(stretch, max(1, round(self._plan.checkpoint * 86400 / step)))
        day = max(1, round(86400 / step))
        return min(fitting, max(day, stretch // (_BLOCKS_PER_DEPTH * self.partition.depth)))

    def _model(self, backend: Backend, block_steps: int) -> Model:
        return cast("Model", Fleet(self.cluster, self, cast("RemoteDevice", backend), block_steps))

    def _stage(self, model: Model, at: int, block_steps: int) -> Staged:
        return Staged(min(self.last, at + block_steps) - at, {"at": at})

    def _blocks(self, model: Model, block_steps: int, behind: Behind, first: int,
                journal: Journal | None) -> Iterator[tuple[int, float]]:
        """Give block after block as the groups finish them, in stretches from checkpoint to checkpoint."""
        fleet = cast(Fleet, model)
        self.traffic = fleet.traffic
        for begin, end in self._stretches(first, block_steps, journal is not None):
            if begin > first:
                fleet.rebase()
            waiting: deque[_Submitted] = deque()
            submitted = begin
            while waiting or submitted < end:
                began = time.perf_counter()
                while submitted < end and len(waiting) < self.partition.depth + _AHEAD:
                    until = min(end, submitted + block_steps)
                    waiting.append(fleet.submit(submitted, until))
                    submitted = until
                block = waiting.popleft()
                values = self._whole(fleet.take(block))
                computed = time.perf_counter()
                behind.put(block.at, values)
                written = time.perf_counter()
                self.seconds["compute"] += computed - began
                self.seconds["write"] += written - computed
                yield block.until, written - began

    def _stretches(self, first: int, block_steps: int, journal: bool) -> Iterator[tuple[int, int]]:
        """First step and end of each stretch; it ends where :class:`Job` keeps a checkpoint."""
        length = self.last - first
        if journal and self._plan.checkpoint > 0:
            block = block_steps * self.clock.step_seconds
            length = block_steps * max(1, int(np.ceil(self._plan.checkpoint * 86400 / block)))
        for begin in range(first, self.last, max(1, length)):
            yield begin, min(self.last, begin + length)

    def _whole(self, parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        """What the groups give, in the order of the file."""
        whole: dict[str, np.ndarray] = {}
        for name in parts[0]:
            of_units = name in self.selection.units
            along = "unit" if of_units else "subbasin"
            size = sum(places.along[along].size for places in self.places)
            whole[name] = np.empty((*parts[0][name].shape[:-1], size))
            for part, places in zip(parts, self.places, strict=True):
                at = places.along[along]
                whole[name][..., self.arrays.unit_order[at] if of_units else at] = part[name]
        return whole


class _Unneeded:
    """A guard that has nothing to look at."""

    def check(self, model: Any, at: int, n_steps: int) -> None:
        """Nothing: an error of a worker comes with its task."""


def _start(job: DistributedJob, device: RemoteDevice) -> dict[str, np.ndarray]:
    """Restart variables of the assembled basin, as a model on the device gives them before its first block."""
    return _named(job, device)


def _named(job: DistributedJob, device: RemoteDevice, low: bool = False) -> dict[str, np.ndarray]:
    found = {}
    sizes = {dim: sum(places.along[dim].size for places in job.places)
             for dim in ("tile", "unit", "subbasin", "river_cell")}
    for array in STATES + TOTALS:
        entries = registry.layout(array)
        if array in STATES:
            held = device.upload(job.arrays.values[array], "store")
        else:
            held = device.allocate((len(entries), sizes[entries[0].dims[-1]]), "store")
        host = device.low_part(held) if low else device.download(held)
        assert host is not None
        for row, entry in enumerate(entries):
            found[f"{entry.name}_low" if low else entry.name] = np.array(host[row], dtype=np.float64)
    return found
