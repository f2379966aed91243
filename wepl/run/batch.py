"""A batch of members on a device: its size, its block loop, and the checks that a run of one basin makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wepl import registry, rows
from wepl.backends import Backend
from wepl.basin.dataset import Basin
from wepl.errors import NumericalError
from wepl.forcing.perturb import Noise, PerturbedForcing, spatial_factor
from wepl.run import plan
from wepl.run.assembly import assemble, repeat_kinds, vegetation_table
from wepl.run.balance import BalanceReport, close
from wepl.run.ensemble import Changes, Ensemble, assemble_members
from wepl.run.fixed import Fixed
from wepl.run.job import CLOSURE
from wepl.run.model import _SLACK as SLACK
from wepl.run.model import Model, Staged, array_sizes, problem_text, route_steps
from wepl.run.outputs import Selection
from wepl.run.simulation import resolve_options

_NOTHING = Selection((), (), ())
# A batch on the CPU takes this much at most, and this share of the memory that is free.
_HOST_BYTES, _HOST_SHARE = 512 * 2**20, 0.25
# On a GPU: enough to fill it, and far from where positions in an array would pass 32 bits.
_DEVICE_BYTES, _DEVICE_SHARE = 8 * 2**30, 0.8
# A batch is so large that blocks of so many days fit beside it.
_BLOCK_DAYS = 8
# Arrays of members stand in memory one by one, joined and on the device at the same time.
_COPIES = 3


@dataclass(frozen=True)
class Shared:
    """What all batches of an ensemble share: the basin's fixed facts, the period, the noise and its correlation."""

    basin: Basin
    fixed: Fixed
    first: int
    last: int
    noise: Noise
    factor: np.ndarray | None = None

    @classmethod
    def of(cls, basin: Basin, first: int = 0, last: int | None = None, noise: Noise | None = None) -> Shared:
        """Work out what the batches share.

        Raises
        ------
        InputError
            The noise cannot be had on this basin.
        """
        noise = noise or Noise()
        noise.check()
        factor = spatial_factor(basin, noise.km) if noise else None
        return cls(basin, Fixed(basin.parameters), first, basin.clock.n_steps if last is None else last, noise, factor)

    @property
    def given(self) -> tuple[bool, bool]:
        """Whether the forcing has shortwave and longwave radiation."""
        available = self.basin.forcing.available
        return "shortwave_radiation" in available, "longwave_radiation" in available

    def need(self, options: dict[str, float], types: Mapping[str, np.dtype], n_members: int) -> plan.Need:
        """Bytes that a batch takes."""
        arrays = assemble(self.basin, options, self.fixed)
        n_route = route_steps(arrays, self.basin.clock.step_seconds)
        one = array_sizes(arrays, _NOTHING, 1, n_route)
        sizes = {name: size if name in ("layer", "step", "route", "level+1") else size * n_members
                 for name, size in one.items()}
        sizes["cell"] = len(self.basin.forcing.cells) * (n_members if self.noise else 1)
        sizes["kind"] = self.basin.parameters.sizes["vegetation"] * n_members
        return plan.need(sizes, n_route, types)

    def batch_size(self, options: dict[str, float], device: Backend, n_members: int) -> int:
        """Members at a time that leave room for blocks of some days, one at least."""
        free = device.free_bytes()
        if free is None:
            room = min(_HOST_BYTES, int(_HOST_SHARE * _free_memory()))
        else:
            room = min(_DEVICE_BYTES, int(_DEVICE_SHARE * free))
        one = self.need(options, device.types, 1)
        steps = min(self.last - self.first, max(1, round(_BLOCK_DAYS * 86400 / self.basin.clock.step_seconds)))
        return max(1, min(n_members, room // (_COPIES * one.fixed + steps * one.per_step)))

    def block_steps(self, options: dict[str, float], device: Backend, n_members: int) -> int:
        """Steps of a block of a batch."""
        needed = self.need(options, device.types, n_members)
        return plan.block_steps(needed, self.last - self.first, self.basin.clock.step_seconds,
                                free=device.free_bytes())


class Batch:
    """Members that share a launch, from their first step to their last.

    Parameters
    ----------
    shared : Shared
    members : sequence of mapping
        Options of each; those of :func:`wepl.run.ensemble.kernel_options` agree.
    numbers : sequence of int
        Their numbers in the whole ensemble, for messages and random numbers.
    device : Backend
    block_steps : int, optional
        Steps computed at a time; chosen when None. The results do not depend on it.
    keep_going : bool
        Whether a member that the model cannot go on with ends in ``failed`` and gets NaN, in place of ending the run.

    Attributes
    ----------
    failed : dict of int to str
        By position in the batch, what went wrong.
    """

    def __init__(self, shared: Shared, members: Sequence[Changes], numbers: Sequence[int], device: Backend, *,
                 block_steps: int | None = None, keep_going: bool = False) -> None:
        self.shared, self.numbers, self.failed = shared, list(numbers), dict[int, str]()
        self._keep_going = keep_going
        self.ensemble: Ensemble = assemble_members(shared.basin, members, shared.fixed)
        options = self.ensemble.options[0]
        if shared.noise:
            assert shared.factor is not None
            self._forcing = PerturbedForcing(shared.basin, shared.noise, self.numbers, shared.first, shared.factor)
            cells = np.repeat(np.arange(len(members)) * len(shared.basin.forcing.cells),
                              shared.basin.parameters.sizes["unit"])
            self.ensemble.arrays.values["unit_cell"] += cells.astype(np.int32)
        else:
            self._forcing = shared.basin.forcing  # type: ignore[assignment]  # it reads in the same way
        steps = block_steps or shared.block_steps(options, device, len(members))
        self.model = Model(device, self.ensemble.arrays, _NOTHING, shared.basin.clock.step_seconds,
                           min(steps, shared.last - shared.first), shared.given)
        self._before: dict[str, np.ndarray] = {}

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """First step and ``series[row, step, member, subbasin]`` of each block; the next one is read meanwhile.

        Raises
        ------
        NumericalError
            A member met a value that the model cannot go on with.
        """
        first, last, steps = self.shared.first, self.shared.last, self.model.block_steps
        if self.ensemble.options[0]["energy_balance"]:
            self._start_temperatures()
        self._before = self.model.state()
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="wepl-read") as reader:
            waiting = reader.submit(self._stage, first)
            for at in range(first, last, steps):
                staged = waiting.result()
                if at + steps < last:
                    waiting = reader.submit(self._stage, at + steps)
                series = self.ensemble.by_member(self.model.advance_staged(staged).series)
                self._check(at)
                for member in self.failed:
                    series[:, :, member] = np.nan
                yield at, series

    def reports(self) -> list[BalanceReport | None]:
        """The water balance of each member after the last block, None for one that failed.

        Raises
        ------
        NumericalError
            The balance of a member does not close.
        """
        after = self.model.state()
        found: list[BalanceReport | None] = []
        for member in range(self.ensemble.n_members):
            if member not in self.failed:
                report = close(self.ensemble.state_of(member, self._before), self.ensemble.state_of(member, after),
                               self.ensemble.part(member), self.shared.basin)
                try:
                    report.check(CLOSURE[self.model.backend.precision])
                except NumericalError as error:
                    self._note(member, str(error))
            found.append(None if member in self.failed else report)
        return found

    def _stage(self, at: int) -> Staged:
        shared = self.shared
        until = min(shared.last, at + self.model.block_steps)
        clock, parameters = shared.basin.clock, shared.basin.parameters
        calendar = np.stack([clock.day_of_year(at, until), clock.solar_hour(at, until)]).astype(float)
        one = vegetation_table(parameters, clock, at, until, shared_kinds(self.ensemble.options[0]))
        table = repeat_kinds(one, parameters["minimum_stomatal_resistance"].values, self.ensemble.resistance)
        return self.model.stage(self._forcing.read(at, until), calendar, table)

    def _start_temperatures(self) -> None:
        """Start the force-restore scheme as :class:`wepl.run.job.Job` does."""
        shared, arrays = self.shared, self.ensemble.arrays
        steps = max(1, int(86400 / shared.basin.clock.step_seconds))
        forcing: PerturbedForcing = self._forcing
        if shared.noise:
            assert shared.factor is not None
            # A reader of its own: the other one goes on from the first step.
            forcing = PerturbedForcing(shared.basin, shared.noise, self.numbers, shared.first, shared.factor)
        read = forcing.read(shared.first, min(shared.last, shared.first + steps))
        unit = arrays.unit_of_tile
        mean = read[registry.row("air_temperature")].mean(axis=0)[arrays.values["unit_cell"][unit]]
        difference = arrays.values["unit_parameter"][rows.ELEVATION_DIFFERENCE, unit]
        state = self.model.state()
        for name in ("surface_temperature", "deep_temperature"):
            state[name] = mean - self.ensemble.options[0]["temperature_lapse_rate"] * difference
        self.model.set_state(state)

    def _check(self, at: int) -> None:
        """Find members that went wrong in the block from step ``at``; the first one ends the run, or all are noted."""
        clock = self.shared.basin.clock
        if self.model.problem() is not None:
            for stage, dim in (("column", "tile"), ("hillslope", "subbasin"), ("river", "subbasin")):
                code, step = self.model.backend.download(self.model.values[f"{stage}_status"])
                scale = 1 if stage == "column" else self.model.n_route
                for place in np.flatnonzero(code):
                    when = clock.label(at + int(step[place]) // scale)
                    self._note(self.ensemble.member_at(dim, int(place)),
                               f"{stage} stage, {when}: {problem_text(int(code[place]))}")
        if self.model.out_of_range() is not None:
            self._note_out_of_range(f"in the block from {clock.label(at)}")

    def _note_out_of_range(self, when: str) -> None:
        for name, values in self.model.state().items():
            entry = registry.variable(name)
            low, high = entry.valid
            if entry.kind != "state":
                continue
            bad = ~((values >= low - SLACK) & (values <= high)).reshape(-1, values.shape[-1]).all(axis=0)
            for place in np.flatnonzero(bad):
                self._note(self.ensemble.member_at(entry.dims[-1], int(place)),
                           f"{name} ({entry.long_name}) is outside {low:g} to {high:g} {entry.units} {when}")

    def _note(self, member: int, text: str) -> None:
        if not self._keep_going:
            raise NumericalError(f"member {self.numbers[member]}: {text}. Look at its parameters; no result was "
                                 "written")
        self.failed.setdefault(member, text)


def shared_kinds(options: Mapping[str, float]) -> dict[str, float]:
    """Options without those of parameter zones, with which the table of vegetation kinds has each kind once."""
    return {name: value for name, value in options.items() if "@" not in name}


def batches(basin: Basin, members: Sequence[Changes], groups: Sequence[Sequence[int]], shared: Shared, device: Backend,
            size: int | None = None) -> list[list[int]]:
    """Numbers of the members of each batch: groups cut to what fits.

    Parameters
    ----------
    basin : Basin
    members : sequence of mapping
    groups : sequence of sequence of int
        See :func:`wepl.run.ensemble.groups`.
    shared : Shared
    device : Backend
    size : int, optional
        Largest number of members in a batch; what fits the memory when None.
    """
    found = []
    for group in groups:
        most = size or shared.batch_size(resolve_options(basin, members[group[0]]), device, len(group))
        found += [list(group[at:at + most]) for at in range(0, len(group), most)]
    return found


def _free_memory() -> int:
    """Bytes that programs can have without swapping, where the system says so; else what a small machine has."""
    path = Path("/proc/meminfo")
    if path.is_file():
        for line in path.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 4 * 2**30
