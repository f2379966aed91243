"""Gridded weather: sums taken apart, humidity and wind derived, carried to the steps of the basin in blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl.build import clock, grid_files, humidity
from wepl.build.clock import DAY, Steps
from wepl.build.grid_files import Axes, Store, Variable
from wepl.build.quantities import FORCING, QUANTITIES, first_outside, is_amount, to_internal
from wepl.errors import InputError

if TYPE_CHECKING:
    from wepl.build.config import Grids

_CACHE_BYTES = 48 * 2**20
_LOOK_DAYS = 10
_LOOK_TIMES = 400
# Share of the day's sum by which packing to short integers lets a sum fall.
_PACKING = 1e-3


@dataclass(frozen=True)
class Series:
    """One variable of a grid and the intervals that its values stand for.

    ``running`` values are sums since 00 UTC: value ``k`` less the one before it belongs to interval ``k``.
    ``intervals`` are on the build's clock; interval 0 belongs to time ``skipped``.
    """

    variable: Variable
    running: bool
    skipped: int
    intervals: Steps


@dataclass
class Grid:
    """A grid and its variables by quantity.

    ``used`` are the numbers of the cells that the basin needs; values are read for these, in this order. ``latitude``
    (degrees) and ``height`` (m) belong to them.
    """

    name: str
    axes: Axes
    series: dict[str, Series]
    elevation: np.ndarray | None
    store: Store
    zone: int
    latitude: np.ndarray = field(default_factory=lambda: np.empty(0))
    used: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    height: np.ndarray = field(default_factory=lambda: np.empty(0))
    _cache: dict[str, tuple[int, int, np.ndarray]] = field(default_factory=dict)
    _masked: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def offers(self) -> set[str]:
        """Forcing variables that can be made."""
        return {name for name in FORCING if humidity.recipe(name, self.series) is not None}

    @property
    def calendar(self) -> str:
        """Calendar of the times."""
        return next(iter(self.series.values())).variable.calendar

    def needs(self, name: str) -> set[str]:
        """Quantities that a forcing variable is made from in the end."""
        parts = humidity.recipe(name, self.series) or ()
        return {given for part in parts
                for given in ({part} if part in self.series else self.needs(part))}

    def coverage(self, name: str) -> Steps:
        """Intervals that all of a variable's parts cover; InputError where their steps differ."""
        parts = [self.series[part].intervals for part in sorted(self.needs(name))]
        first = parts[0]
        for other in parts[1:]:
            if other.step != first.step or (other.start - first.start) % first.step:
                raise InputError(f"{self.name}: {name} is made from variables in different steps: give all of them in "
                                 "one")
        start = max(part.start for part in parts)
        end = min(part.end for part in parts)
        return Steps(start, first.step, max(0, (end - start) // first.step))

    def read(self, name: str, start: int, n_native: int) -> np.ndarray:
        """A forcing variable over ``n_native`` of its own intervals from ``start``, [time, cell]."""
        parts = humidity.recipe(name, self.series) or ()
        values = {part: self._quantity(part, start, n_native) if part in self.series
                  else self.read(part, start, n_native) for part in parts}
        step = self.coverage(name).step
        if name == "sunshine_duration" and "relative_sunshine" in values and step != DAY:
            raise InputError(f"{self.name}: relative sunshine is for days only: its step is {step} s")
        days = np.array([date.dayofyr for date in clock.to_dates(start + step * np.arange(n_native) + step // 2,
                                                                 self.calendar)], dtype=float)
        made = humidity.make(name, values, self.height, self.latitude, days)
        bad = first_outside(made, name, step)
        if bad is not None:
            raise InputError(f"{self.name}: {name} is {made[bad]:.6g} {QUANTITIES[name].units} on "
                             f"{clock.label(start + step * bad[0], self.calendar)}: it cannot be true: check units and "
                             "kind (accumulated, mean, instantaneous)")
        return made

    def _quantity(self, quantity: str, start: int, count: int) -> np.ndarray:
        """A quantity in its unit over its own intervals, read ahead and kept."""
        series = self.series[quantity]
        first = (start - series.intervals.start) // series.intervals.step
        low, high, kept = self._cache.get(quantity, (0, 0, np.empty((0, self.used.size))))
        if not (low <= first and first + count <= high):
            ahead = max(count, _CACHE_BYTES // (8 * max(1, len(self.series)) * max(1, self.used.size)))
            low, high = first, min(first + ahead, series.intervals.n_steps)
            kept = self._intervals(series, low, high)
            self._cache[quantity] = (low, high, kept)
        return kept[first - low:first - low + count]

    def _intervals(self, series: Series, low: int, high: int) -> np.ndarray:
        variable, step = series.variable, series.intervals.step
        first, last = low + series.skipped, high + series.skipped
        raw = self.cells(variable, max(0, first - 1) if series.running else first, last)
        if series.running:
            raw = _taken_apart(raw, variable, max(0, first - 1), first, self.zone, self.name)
        return to_internal(raw, variable.units, variable.quantity, step, self.name)

    def cells(self, variable: Variable, first: int, last: int) -> np.ndarray:
        """Values of the used cells in file units; the window is read in pieces of bounded size."""
        row, column = np.divmod(self.used, self.axes.shape[1])
        rows, columns = slice(int(row.min()), int(row.max()) + 1), slice(int(column.min()), int(column.max()) + 1)
        size = (rows.stop - rows.start) * (columns.stop - columns.start)
        at_once = max(1, _CACHE_BYTES // (8 * size))
        parts = [grid_files.read_window(variable, self.store, begin, min(begin + at_once, last), rows, columns)
                 [:, row - rows.start, column - columns.start] for begin in range(first, last, at_once)]
        return np.concatenate(parts)

    def masked(self, name: str) -> np.ndarray:
        """Used cells that never have a value (sea, mostly), seen at the first, middle and last interval."""
        if name not in self._masked:
            cover = self.coverage(name)
            empty = np.ones(self.used.size, dtype=bool)
            for place in (0, cover.n_steps // 2, cover.n_steps - 1):
                empty &= np.isnan(self.read(name, cover.start + place * cover.step, 1)[0])
                self._cache.clear()
            self._masked[name] = empty
        return self._masked[name]


def _taken_apart(raw: np.ndarray, variable: Variable, from_time: int, first: int, zone: int, where: str) -> np.ndarray:
    """Amounts of each interval from sums that begin anew at 00 UTC; ``raw`` starts at time ``from_time``."""
    step = variable.pieces[0].step
    begin = variable.pieces[0].start
    stamp = begin + step * np.arange(from_time, from_time + raw.shape[0])
    before = np.concatenate([np.zeros((1, raw.shape[1])), raw[:-1]])
    anew = (stamp - step) % DAY == 0
    amount = np.where(anew[:, None], raw, raw - before)[first - from_time:]
    slack = _PACKING * (np.nanmax(np.abs(raw)) if np.isfinite(raw).any() else 0.0)
    if variable.quantity != "longwave_radiation" and (amount < -slack).any():
        place = int(np.nonzero(amount < -slack)[0][0])
        raise InputError(f"{where}: {variable.name} falls within the day at "
                         f"{clock.label(int(stamp[first - from_time + place]))} UTC, so it is not summed since 00 UTC: "
                         "give kind = 'mean' where each value is the sum or mean of its own step")
    return np.maximum(amount, 0.0)


def open_grids(entries: Sequence[Grids], folder: Path, zone: int, terrain_crs: str, store: Store,
               cells: Callable[[Axes, str], np.ndarray], notes: list[str]) -> list[Grid]:
    """Grids of a configuration; entries on the same cells are one grid.

    Parameters
    ----------
    cells : callable
        From the axes and the name of a grid to the numbers of the cells that the basin needs.

    Raises
    ------
    InputError
        A file cannot be used; see :func:`wepl.build.grid_files.scan`.
    """
    grids: list[Grid] = []
    for entry in entries:
        axes, variables, elevation = grid_files.scan(entry, folder, store)
        if not axes.crs:
            notes.append(f"{entry.file}: no coordinate system is given: that of the terrain is taken")
            axes = Axes(axes.x, axes.y, terrain_crs)
        same = next((grid for grid in grids if grid.axes.same(axes)), None)
        if same is None:
            same = Grid(entry.file, axes, {}, None, store, zone)
            same.used = cells(axes, entry.file)
            grids.append(same)
        if elevation is not None:
            same.elevation = elevation
        for quantity, variable in variables.items():
            if quantity in same.series:
                raise InputError(f"forcing: {quantity} comes from {same.name} and from {entry.file}: drop one")
            same.series[quantity] = _series(variable, entry.kind, same, notes)
    for grid in grids:
        calendars = {series.variable.calendar for series in grid.series.values()}
        if len(calendars) > 1:
            raise InputError(f"{grid.name}: the variables have different calendars ({', '.join(sorted(calendars))})")
    return [grid for grid in grids if grid.series]


def _series(variable: Variable, kind: str, grid: Grid, notes: list[str]) -> Series:
    """The intervals that a variable's values stand for."""
    zone = grid.zone
    piece = variable.pieces[0]
    step, count = piece.step, sum(part.n_times for part in variable.pieces)
    if DAY % step and step % DAY:
        raise InputError(f"{piece.path}: the step of {variable.name} is {step} s: it must divide a day")
    amount = is_amount(variable.quantity, variable.units)
    running = kind == "accumulated" and amount
    if kind == "auto" and amount and step < DAY and piece.offset is None:
        running = _is_running(variable, grid)
        if running:
            notes.append(f"{variable.name}: read as sums since 00 UTC")
    shift = piece.offset if piece.offset is not None else 0
    if running or (piece.offset is None and kind != "instantaneous" and variable.step_type in ("accum", "avg")):
        shift = -step
    elif piece.offset is None and step == DAY:
        # A day's value may be stamped at noon, or where the zone's day begins.
        shift = zone if piece.start % DAY and (piece.start + zone) % DAY == 0 else -(piece.start % DAY)
    skipped = 0
    if running and (piece.start - step) % DAY:
        skipped = 1
    # Days of a daily product are taken as they are; only shorter steps move with the zone.
    start = piece.start + shift + (zone if step < DAY else 0) + skipped * step
    return Series(variable, running, skipped, Steps(start, step, count - skipped))


def _is_running(variable: Variable, grid: Grid) -> bool:
    """Whether values only rise within each day (after 00 UTC) where there is something to see."""
    piece = variable.pieces[0]
    step, count = piece.step, sum(part.n_times for part in variable.pieces)
    per_look = max(2, min(count, _LOOK_DAYS * DAY // step, _LOOK_TIMES))
    for first in range(0, min(count, 40 * per_look), per_look):
        last = min(first + per_look, count)
        if last - first < 2:
            break
        raw = grid.cells(variable, first, last)
        if not np.isfinite(raw).any():
            continue
        stamp = piece.start + step * np.arange(first, last)
        inside = (stamp[1:] - step) % DAY != 0
        change = np.diff(raw, axis=0)[inside]
        largest = float(np.nanmax(np.abs(raw)))
        falls = bool((change < -_PACKING * largest).any())
        rises = bool((change > _PACKING * largest).any())
        if falls or rises:
            return not falls
    return False


def locator(axes: Axes, where: str) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """From places in the grid's system to the number of the cell (row by row), -1 outside.

    Cells of one-dimensional axes meet half-way between centres; of two-dimensional ones the nearest centre counts.

    Raises
    ------
    InputError
        An axis has one value, or does not rise or fall throughout.
    """
    if axes.x.ndim == 2:
        return _nearest(axes)
    edges = {name: _edges(values, f"{where}: the axis {name}") for name, values in (("x", axes.x), ("y", axes.y))}
    turning = axes.crs == "EPSG:4326"

    def locate(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if turning:
            x = edges["x"][0] + (x - edges["x"][0]) % 360.0
        place = []
        for values, line, axis in ((x, edges["x"], axes.x), (y, edges["y"], axes.y)):
            number = np.searchsorted(line, values, side="right") - 1
            inside = (number >= 0) & (number < axis.size)
            number = np.where(axis[0] < axis[-1], number, axis.size - 1 - number)
            place.append((number, inside))
        (column, in_x), (row, in_y) = place
        return np.where(in_x & in_y, row * axes.x.size + column, -1)

    return locate


def _edges(values: np.ndarray, where: str) -> np.ndarray:
    """Edges of cells, rising."""
    if values.size < 2:
        raise InputError(f"{where} has one value: give at least two, or the cell as a station")
    line = values if values[0] < values[-1] else values[::-1]
    if not (np.diff(line) > 0.0).all():
        raise InputError(f"{where} neither rises nor falls throughout")
    middle = 0.5 * (line[1:] + line[:-1])
    return np.concatenate([[line[0] - (middle[0] - line[0])], middle, [line[-1] + (line[-1] - middle[-1])]])


def _nearest(axes: Axes) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    from scipy.spatial import cKDTree

    def on_sphere(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        longitude, latitude = np.radians(x), np.radians(y)
        return np.stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude),
                         np.sin(latitude)], axis=-1)

    centres = on_sphere(axes.x, axes.y)
    widest = max(float(np.linalg.norm(np.diff(centres, axis=axis), axis=-1).max()) for axis in (0, 1))
    tree = cKDTree(centres.reshape(-1, 3))

    def locate(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        distance, number = tree.query(on_sphere(x, y))
        return np.where(distance <= 0.75 * widest, number, -1)

    return locate


def centres(axes: Axes) -> tuple[np.ndarray, np.ndarray]:
    """x and y of the centres of all cells, row by row."""
    if axes.x.ndim == 2:
        return axes.x.ravel(), axes.y.ravel()
    x, y = np.meshgrid(axes.x, axes.y)
    return x.ravel(), y.ravel()
