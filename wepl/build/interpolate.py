"""Weights from stations and grid cells to forcing cells, and values carried with them block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl import registry
from wepl.build.overlay import unit_places, unit_rows
from wepl.errors import InputError

if TYPE_CHECKING:
    from wepl.build.types import Terrain

Weights = Any  # scipy.sparse.csr_array, (target, source), rows add to 1
_AT_PLACE = 1.0  # m: a station nearer than this stands at the place
_MOST_PIXELS = 20_000_000
_LATTICE = 32
_BLOCK_PIXELS = 4_000_000
_KEPT_PATTERNS = 64
_LEAST_RELIEF = 50.0  # m between the lowest and the highest station of a regression
_FACTOR_RANGE = (0.25, 4.0)


@dataclass(frozen=True)
class Places:
    """Points on the terrain's grid: ``xy`` (n, 2) and ``elevation`` (n,) in m, ``latitude`` (n,) in degrees."""

    xy: np.ndarray
    elevation: np.ndarray
    latitude: np.ndarray


def units_as_places(terrain: Terrain) -> Places:
    """Centres of the units."""
    units = terrain.units
    return Places(unit_places(terrain), units["elevation_m"].to_numpy(dtype=float),
                  units["latitude"].to_numpy(dtype=float))


def distance_weights(sources: np.ndarray, targets: np.ndarray, method: str, power: float, neighbours: int) -> Weights:
    """Weights by inverse distance of the nearest sources, or of the nearest alone (``thiessen``).

    Parameters
    ----------
    sources, targets : ndarray, (n, 2)
        m.
    method : str
        ``thiessen``, else inverse distance (Shepard 1968) to ``power`` of the ``neighbours`` nearest.
    """
    from scipy.sparse import csr_array
    from scipy.spatial import cKDTree

    count = 1 if method == "thiessen" else min(neighbours, sources.shape[0])
    distance, index = cKDTree(sources).query(targets, k=count)
    distance, index = distance.reshape(-1, count), index.reshape(-1, count)
    weight = np.where(distance[:, :1] < _AT_PLACE, (distance < _AT_PLACE).astype(float),
                      np.maximum(distance, _AT_PLACE) ** -power)
    weight /= weight.sum(axis=1, keepdims=True)
    start = np.arange(0, targets.shape[0] * count + 1, count)
    return csr_array((weight.ravel(), index.ravel(), start), shape=(targets.shape[0], sources.shape[0]))


def area_weights(terrain: Terrain, crs: str, locate: Callable[[np.ndarray, np.ndarray], np.ndarray],
                 n_cells: int, where: str) -> Weights:
    """Share of each unit's area in each grid cell, by the terrain's cells.

    Parameters
    ----------
    crs : str
        Coordinate system of the grid.
    locate : callable
        From x and y in ``crs`` to the number of the grid cell, -1 outside.
    n_cells : int
        Cells of the grid.
    where : str
        The grid, for messages.

    Raises
    ------
    InputError
        Some unit lies outside the grid.
    """
    from scipy.sparse import coo_array

    rows = unit_rows(terrain)
    n_units = len(terrain.units)
    stride = max(1, int(np.sqrt(np.count_nonzero(rows >= 0) / _MOST_PIXELS)))
    keys: list[np.ndarray] = []
    counts: list[np.ndarray] = []
    for unit, x, y in _pixels(terrain, rows, crs, stride):
        cell = locate(x, y)
        key, count = np.unique(unit[cell >= 0].astype(np.int64) * n_cells + cell[cell >= 0], return_counts=True)
        keys.append(key)
        counts.append(count)
    key = np.concatenate(keys) if keys else np.empty(0, dtype=np.int64)
    total = np.concatenate(counts) if counts else np.empty(0, dtype=np.int64)
    matrix = coo_array((total.astype(float), (key // n_cells, key % n_cells)), shape=(n_units, n_cells)).tocsr()
    inside = np.asarray(matrix.sum(axis=1)).ravel()
    if (inside == 0.0).any():
        matrix = _by_centre(matrix, inside == 0.0, terrain, crs, locate, where)
        inside = np.asarray(matrix.sum(axis=1)).ravel()
    matrix.data /= np.repeat(inside, np.diff(matrix.indptr))
    matrix.sort_indices()
    return matrix


def _by_centre(matrix: Weights, empty: np.ndarray, terrain: Terrain, crs: str, locate: Callable, where: str) -> Weights:
    """Units too small to be seen take the cell of their centre."""
    from rasterio.warp import transform
    from scipy.sparse import coo_array

    places = unit_places(terrain)[empty]
    x, y = transform(terrain.crs, crs, places[:, 0].tolist(), places[:, 1].tolist())
    cell = locate(np.array(x), np.array(y))
    if (cell < 0).any():
        worst = int(np.flatnonzero(empty)[np.argmax(cell < 0)])
        raise InputError(f"{where} does not cover {int((cell < 0).sum())} of {len(terrain.units)} units, unit "
                         f"{terrain.units.index[worst]} at {terrain.units['longitude'].iloc[worst]:.3f} E, "
                         f"{terrain.units['latitude'].iloc[worst]:.3f} N among them: give a grid that covers all of "
                         "the catchment")
    return (matrix + coo_array((np.ones(cell.size), (np.flatnonzero(empty), cell)), shape=matrix.shape)).tocsr()


def _pixels(terrain: Terrain, rows: np.ndarray, crs: str, stride: int):
    """Row of the unit and place in ``crs`` of the terrain's cells that lie on units, a block at a time.

    Places are transformed on a coarse lattice and interpolated: over some kilometres a projection is straight.
    """
    from rasterio.warp import transform
    from scipy.interpolate import RegularGridInterpolator

    height, width = rows.shape
    down, across = (_lattice(size) for size in (height, width))
    left, top = (terrain.transform * (column + 0.5, row + 0.5) for column, row in ((0, 0), (1, 1)))
    xs, ys = np.meshgrid(left[0] + (top[0] - left[0]) * across, left[1] + (top[1] - left[1]) * down)
    there = transform(terrain.crs, crs, xs.ravel().tolist(), ys.ravel().tolist())
    turn = [RegularGridInterpolator((down, across), np.reshape(values, xs.shape)) for values in there]
    for begin in range(0, height, max(1, _BLOCK_PIXELS // width)):
        block = rows[begin:begin + max(1, _BLOCK_PIXELS // width)]
        row, column = np.nonzero(block >= 0)
        used = ((row + begin) % stride == 0) & (column % stride == 0)
        row, column = row[used], column[used]
        if row.size:
            points = np.column_stack([row + begin, column]).astype(float)
            yield block[row, column], turn[0](points), turn[1](points)


def _lattice(size: int) -> np.ndarray:
    """Row or column numbers from the first to the last, at least two."""
    last = max(1, size - 1)
    return np.linspace(0.0, last, max(2, -(-last // _LATTICE) + 1))


def weighted(weights: Weights, values: np.ndarray) -> np.ndarray:
    """``values`` [time, source] to [time, target]; a target without any value is NaN, one with some has their mean."""
    known = np.isfinite(values)
    if known.all():
        return np.asarray((weights @ values.T).T)
    total = np.asarray((weights @ np.where(known, values, 0.0).T).T)
    share = np.asarray((weights @ known.astype(float).T).T)
    return np.where(share > 0.0, total / np.where(share > 0.0, share, 1.0), np.nan)


class Regression:
    """How a quantity changes with height, by calendar month, from the monthly means of stations.

    Temperature follows the straight line of least squares; precipitation the line's ratio to the mean, between a
    quarter and four times, so that it stays positive and dry days stay dry.
    """

    def __init__(self, values: np.ndarray, months: np.ndarray, elevation: np.ndarray, name: str) -> None:
        known = np.isfinite(elevation)
        if known.sum() < 3 or np.ptp(elevation[known]) < _LEAST_RELIEF:
            raise InputError(f"forcing: method = 'regression' needs at least 3 stations of {name} with elevations that "
                             f"differ by {_LEAST_RELIEF:g} m or more: use method = 'idw'")
        self.middle = float(elevation.mean())
        self.gradient = np.zeros(12)
        for month in range(12):
            mine = values[months == month]
            if mine.shape[0] == 0:
                continue
            counts = np.isfinite(mine).sum(axis=0)
            mean = np.nansum(mine, axis=0) / np.maximum(counts, 1)
            used = counts > 0
            if used.sum() < 3 or np.ptp(elevation[used]) < _LEAST_RELIEF:
                continue
            slope = float(np.polyfit(elevation[used] - self.middle, mean[used], 1)[0])
            if name == "precipitation":
                level = float(mean[used].mean())
                slope = slope / level if level > 0.0 else 0.0
            self.gradient[month] = slope

    def factor(self, month: int, elevation: np.ndarray) -> np.ndarray:
        """Ratio of precipitation at an elevation to that at the stations' mean elevation."""
        return np.clip(1.0 + self.gradient[month] * (elevation - self.middle), *_FACTOR_RANGE)


class StationInterpolator:
    """Carry one variable from stations to places.

    Parameters
    ----------
    stations, targets : Places
    name : str
        Forcing variable.
    method, power, neighbours
        As in the configuration.
    regression : Regression, optional
        Change with height; values then belong to the elevation of the targets.

    Attributes
    ----------
    elevation : ndarray
        Elevation, m, that the values of each target belong to.
    """

    def __init__(self, stations: Places, targets: Places, name: str, method: str, power: float, neighbours: int,
                 regression: Regression | None = None) -> None:
        self._stations, self._targets = stations, targets
        self._settings = (method, power, neighbours)
        self._name = name
        self._regression = regression
        self._patterns: dict[bytes, Weights] = {}
        self._full = distance_weights(stations.xy, targets.xy, *self._settings)
        self.elevation = self._full @ stations.elevation if regression is None else targets.elevation
        self._lapse = float(registry.variable("temperature_lapse_rate").default or 0.0)

    def __call__(self, values: np.ndarray, months: np.ndarray) -> np.ndarray:
        """[time, station] to [time, target]; stations without a value are left out, NaN where there is none at all.

        Parameters
        ----------
        values : ndarray
        months : ndarray
            Calendar month (0 to 11) of each time.
        """
        result = np.full((values.shape[0], self._targets.xy.shape[0]), np.nan)
        known = np.isfinite(values)
        kinds, place = np.unique(np.packbits(known, axis=1), axis=0, return_inverse=True)
        for kind in range(kinds.shape[0]):
            times = np.flatnonzero(place.ravel() == kind)
            there = known[times[0]]
            if there.any():
                weights = self._weights(there, kinds[kind].tobytes())
                result[times] = self._carried(values[times], months[times], there, weights)
        return result

    def _weights(self, there: np.ndarray, key: bytes) -> Weights:
        if there.all():
            return self._full
        if key not in self._patterns:
            while len(self._patterns) >= _KEPT_PATTERNS:
                self._patterns.pop(next(iter(self._patterns)))
            self._patterns[key] = distance_weights(self._stations.xy[there], self._targets.xy, *self._settings)
        return self._patterns[key]

    def _carried(self, values: np.ndarray, months: np.ndarray, there: np.ndarray, weights: Weights) -> np.ndarray:
        height = self._stations.elevation[there]
        used = values[:, there].astype(np.float64)
        if self._regression is None:
            moved = np.asarray((weights @ used.T).T)
            if self._name == "air_temperature" and not there.all():
                # The cell keeps the elevation of all its stations, whichever report.
                moved += self._lapse * (weights @ height - self.elevation)
            return moved
        moved = np.empty((used.shape[0], self._targets.xy.shape[0]))
        for month in np.unique(months):
            mine = months == month
            if self._name == "precipitation":
                scaled = used[mine] / self._regression.factor(month, height)
                moved[mine] = (weights @ scaled.T).T * self._regression.factor(month, self.elevation)
            else:
                rise = self._regression.gradient[month] * (self.elevation - weights @ height)
                moved[mine] = (weights @ used[mine].T).T + rise
        return moved
