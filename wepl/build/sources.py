"""Where forcing variables come from, stations or a grid, and how each is brought to the basin's steps and cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from wepl.build import clock, humidity
from wepl.build.clock import DAY, Steps
from wepl.build.gaps import fill
from wepl.build.grids import Grid
from wepl.build.interpolate import Places, Regression, StationInterpolator, Weights, weighted
from wepl.build.quantities import FORCING, OF_DAYLIGHT
from wepl.build.stations import Records
from wepl.errors import InputError

if TYPE_CHECKING:
    from wepl.build.config import Forcing


class Source(Protocol):
    """Something that gives forcing variables."""

    name: str
    calendar: str

    @property
    def offers(self) -> set[str]:
        """Forcing variables that it can give."""
        ...

    def coverage(self, name: str) -> Steps:
        """Own steps of a variable."""
        ...

    def prepare(self, name: str, steps: Steps) -> None:
        """Make ready for reading at the steps of the basin; faults are found here as far as they can be."""
        ...

    def read(self, name: str, first: int, last: int) -> np.ndarray:
        """Steps ``first`` to ``last`` (not included), [time, cell], in the variable's unit."""
        ...

    def elevation(self, name: str) -> np.ndarray:
        """Elevation, m, that the values of each cell belong to."""
        ...


def to_steps(values: np.ndarray, own: Steps, steps: Steps, name: str, where: str) -> np.ndarray:
    """Values at a source's own steps, which cover ``steps``, as means over ``steps``; sums for sunshine.

    Steps longer than those asked for are held: each holds the value of the step that it lies in.
    """
    if own.step <= steps.step:
        parts = steps.step // own.step
        shaped = values.reshape(steps.n_steps, parts, values.shape[1])
        if parts == 1:
            return shaped[:, 0]
        return shaped.sum(axis=1) if name == "sunshine_duration" else shaped.mean(axis=1)
    if name in OF_DAYLIGHT:
        raise InputError(f"{where}: {name} comes in steps of {own.step} s and cannot be held over steps of "
                         f"{steps.step} s, it would shine at night: give it in the basin's step, or set step = '1d'")
    place = (steps.start - own.start + steps.step * np.arange(steps.n_steps)) // own.step
    return values[place]


def enclosing(cover: Steps, steps: Steps, where: str) -> Steps:
    """A source's own steps that enclose ``steps``; InputError where they do not fit each other."""
    long, short = max(cover.step, steps.step), min(cover.step, steps.step)
    if long % short or (cover.start - steps.start) % short:
        raise InputError(f"{where}: steps of {cover.step} s from {clock.label(cover.start)} do not fit steps of "
                         f"{steps.step} s from {clock.label(steps.start)}: choose another step or time_zone")
    first = (steps.start - cover.start) // cover.step
    last = -((cover.start - steps.end) // cover.step)
    return Steps(cover.start + first * cover.step, cover.step, last - first)


def months_of(steps: Steps, first: int, last: int, calendar: str) -> np.ndarray:
    """Calendar month (0 to 11) of steps."""
    days, place = np.unique((steps.start + steps.step * np.arange(first, last)) // DAY, return_inverse=True)
    return np.array([date.month - 1 for date in clock.to_dates(days * DAY, calendar)])[place]


class StationSource:
    """Records of stations, held in memory."""

    def __init__(self, records: Mapping[str, Records], place: Mapping[str, int], places: Places, targets: Places,
                 config: Forcing, notes: list[str]) -> None:
        self.name = "the stations"
        self.calendar = "standard"
        self._records, self._place, self._places, self._targets = records, place, places, targets
        self._config, self._notes = config, notes
        self._series: dict[str, np.ndarray] = {}
        self._interpolators: dict[str, StationInterpolator] = {}
        self._steps = Steps(0, DAY, 0)

    @property
    def offers(self) -> set[str]:
        """Forcing variables that can be made."""
        return {name for name in FORCING if humidity.recipe(name, self._records) is not None}

    def _needs(self, name: str) -> list[str]:
        parts = humidity.recipe(name, self._records) or ()
        return sorted({given for part in parts
                       for given in ([part] if part in self._records else self._needs(part))})

    def stations(self, name: str) -> list[str]:
        """Stations that have all that a variable is made from."""
        needed = self._needs(name)
        common = set.intersection(*(set(self._records[part].names) for part in needed))
        if not common:
            raise InputError(f"forcing: no station has all of {', '.join(needed)}, from which {name} is made: give "
                             "them for the same stations")
        return sorted(common)

    def coverage(self, name: str) -> Steps:
        """Steps from the first to the last record of the variable."""
        parts = [self._records[part].steps for part in self._needs(name)]
        if len({part.step for part in parts}) > 1:
            raise InputError(f"forcing: {', '.join(self._needs(name))}, from which {name} is made, come in different "
                             "steps: give them in one")
        start, end = max(part.start for part in parts), min(part.end for part in parts)
        return Steps(start, parts[0].step, max(0, (end - start) // parts[0].step))

    def _own(self, name: str, stations: list[str], own: Steps) -> np.ndarray:
        """A variable at its own steps, float64 [time, station]."""
        parts = {}
        for part in humidity.recipe(name, self._records) or ():
            if part not in self._records:
                parts[part] = self._own(part, stations, own)
                continue
            record = self._records[part]
            first = (own.start - record.steps.start) // own.step
            columns = [record.names.index(station) for station in stations]
            parts[part] = record.values[first:first + own.n_steps][:, columns].astype(np.float64)
        rows = [self._place[station] for station in stations]
        if "relative_sunshine" in parts and own.step != DAY:
            raise InputError("forcing: relative sunshine is for days only: give sunshine in hours for shorter steps")
        days = np.array([date.dayofyr for date in clock.to_dates(own.start + own.step * np.arange(own.n_steps),
                                                                 self.calendar)], dtype=float)
        return humidity.make(name, parts, self._places.elevation[rows], self._places.latitude[rows], days)

    def prepare(self, name: str, steps: Steps) -> None:
        """Series at the basin's steps, gaps filled as asked, and the way to the cells."""
        stations = self.stations(name)
        own = enclosing(self.coverage(name), steps, "the stations")
        values = to_steps(self._own(name, stations, own), own, steps, name, "the stations")
        months = months_of(steps, 0, steps.n_steps, self.calendar)
        values = fill(values, steps, name, stations, self._config.gaps, self._config.max_gap_days, self._notes)
        rows = [self._place[station] for station in stations]
        mine = Places(self._places.xy[rows], self._places.elevation[rows], self._places.latitude[rows])
        regression = None
        if self._config.method == "regression" and name in ("air_temperature", "precipitation"):
            regression = Regression(values, months, mine.elevation, name)
        method = "idw" if self._config.method == "regression" else self._config.method
        self._series[name] = values.astype(np.float32)
        self._steps = steps
        self._interpolators[name] = StationInterpolator(mine, self._targets, name, method, self._config.power,
                                                        self._config.neighbours, regression)

    def read(self, name: str, first: int, last: int) -> np.ndarray:
        """See :class:`Source`."""
        months = months_of(self._steps, first, last, self.calendar)
        return self._interpolators[name](self._series[name][first:last], months)

    def elevation(self, name: str) -> np.ndarray:
        """See :class:`Source`."""
        return self._interpolators[name].elevation


@dataclass
class _Gap:
    """Missing values of one variable of a grid, followed from block to block."""

    running: np.ndarray
    count: int = 0


class GridSource:
    """One grid, read in blocks; ``weights`` (cell, used grid cell) carry it to the cells of the basin."""

    def __init__(self, grid: Grid, weights: Weights, targets: Places, config: Forcing, notes: list[str]) -> None:
        self.name = grid.name
        self.calendar = grid.calendar
        self.grid = grid
        self._weights = weights
        self._targets = targets
        self._config, self._notes = config, notes
        self._of: dict[str, Weights] = {}
        self._gaps: dict[str, _Gap] = {}
        self._steps = Steps(0, DAY, 0)

    @property
    def offers(self) -> set[str]:
        """Forcing variables that can be made."""
        return self.grid.offers

    def coverage(self, name: str) -> Steps:
        """See :class:`Source`."""
        return self.grid.coverage(name)

    def prepare(self, name: str, steps: Steps) -> None:
        """Leave out the grid cells that never have a value."""
        self._steps = steps
        enclosing(self.coverage(name), steps, self.name)
        masked = self.grid.masked(name)
        self._gaps[name] = _Gap(np.zeros(self.grid.used.size, dtype=np.int64))
        if not masked.any():
            self._of[name] = self._weights
            return
        self._of[name] = self._without(masked, name)

    def _without(self, masked: np.ndarray, name: str) -> Weights:
        """Weights without masked cells; a basin cell that has none left takes the nearest one."""
        from scipy.sparse import coo_array, csr_array, diags_array

        if masked.all():
            raise InputError(f"{self.name}: {name} has no values on the catchment: check that both cover the same "
                             "place")
        kept = csr_array(self._weights @ diags_array((~masked).astype(float)))
        share = np.asarray(kept.sum(axis=1)).ravel()
        empty = np.flatnonzero(share <= 0.0)
        if empty.size:
            heights = self._weights[empty].argmax(axis=1)
            nearest = _nearest_open(self.grid, np.asarray(heights).ravel(), masked)
            kept = csr_array(kept + coo_array((np.ones(empty.size), (empty, nearest)), shape=kept.shape))
            share[empty] = 1.0
            self._notes.append(f"{self.name}: {name} has no value over {empty.size} cells of the basin (sea or lake): "
                               "the nearest grid cell was taken")
        return csr_array(diags_array(1.0 / share) @ kept)

    def read(self, name: str, first: int, last: int) -> np.ndarray:
        """See :class:`Source`."""
        steps = Steps(self._steps.start + first * self._steps.step, self._steps.step, last - first)
        own = enclosing(self.coverage(name), steps, self.name)
        values = to_steps(self.grid.read(name, own.start, own.n_steps), own, steps, name, self.name)
        missing = np.isnan(values) & ~self.grid.masked(name)
        self._follow(name, missing, steps)
        carried = weighted(self._of[name], values)
        if np.isnan(carried).any():
            step = int(np.nonzero(np.isnan(carried))[0][0])
            raise InputError(f"{self.name}: {name} is missing on {clock.label(steps.start + step * steps.step)} in all "
                             "grid cells of a cell of the basin: its gaps cannot be filled from neighbours")
        return carried

    def _follow(self, name: str, missing: np.ndarray, steps: Steps) -> None:
        gap = self._gaps[name]
        if not missing.any():
            gap.running[:] = 0
            return
        step, cell = (int(place[0]) for place in np.nonzero(missing))
        when = clock.label(steps.start + step * steps.step, self.calendar)
        if self._config.gaps != "neighbours":
            advice = ("set gaps = 'neighbours' to leave grid cells out while they are missing"
                      if self._config.gaps == "refuse" else "climatology is for stations: set gaps = 'neighbours'")
            raise InputError(f"{self.name}: {name} is missing from {when} in {int(missing.any(axis=0).sum())} of "
                             f"{missing.shape[1]} grid cells: {advice}, or fill them first")
        for row in missing:
            gap.running = np.where(row, gap.running + 1, 0)
            if gap.running.max() * steps.step > self._config.max_gap_days * DAY:
                raise InputError(f"{self.name}: {name} is missing for longer than max_gap_days = "
                                 f"{self._config.max_gap_days:g} days around {when}: fill the gap first")
        gap.count += int(missing.sum())

    def elevation(self, name: str) -> np.ndarray:
        """See :class:`Source`."""
        height = np.asarray(self._of[name] @ self.grid.height)
        return np.where(np.isfinite(height), height, self._targets.elevation)

    def report(self) -> None:
        """Note what was filled."""
        for name, gap in self._gaps.items():
            if gap.count:
                self._notes.append(f"{self.name}: {name}: {gap.count} missing values of grid cells were left out")


def _nearest_open(grid: Grid, cells: np.ndarray, masked: np.ndarray) -> np.ndarray:
    """The nearest used grid cell that has values, by rows and columns of the grid."""
    from scipy.spatial import cKDTree

    place = np.column_stack(np.divmod(grid.used, grid.axes.shape[1])).astype(float)
    open_cells = np.flatnonzero(~masked)
    return open_cells[cKDTree(place[open_cells]).query(place[cells])[1]]
