"""Rasters laid over units: areas of classes and means of values, weighted by area.

A raster on the terrain's coordinate system is cut by the edges of its own cells and of the terrain's, so areas are
exact. Any other is carried over by GDAL to terrain cells cut finely enough to see each of its cells.
"""

from __future__ import annotations

import glob
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from wepl.build.raster_faults import check_place, check_raster, told
from wepl.errors import InputError
from wepl.paths import is_address

if TYPE_CHECKING:
    from wepl.build.types import Terrain

_BLOCK_CELLS = 8_000_000
_MOST_CODES = 2000
_LARGEST_CODE = 2**53
_MOST_CUTS = 32
_MOST_SAMPLES = 2_000_000_000
_LOOK_UP = 2**20
_SNAP = 1e-6  # of a terrain cell: edges nearer than this are one


@dataclass(frozen=True)
class ClassAreas:
    """Share of each unit's area under each code of a class map.

    Attributes
    ----------
    codes : ndarray
        int64 (code,), rising; only those that lie on units.
    share : ndarray
        (unit, code), share of the unit's area; what has no data belongs to none.
    """

    codes: np.ndarray
    share: np.ndarray


@dataclass(frozen=True)
class _Axis:
    """Pieces along one axis: the terrain's and the raster's cell of each, and its length in terrain cells."""

    terrain: np.ndarray
    raster: np.ndarray
    length: np.ndarray


@numba.njit(cache=True)
def _count(units, raster, unit_row, raster_row, height, unit_column, raster_column, width, totals):
    for i in range(height.size):
        for j in range(width.size):
            unit = units[unit_row[i], unit_column[j]]
            if unit >= 0:
                totals[unit, raster[raster_row[i], raster_column[j]]] += height[i] * width[j]


@numba.njit(cache=True)
def _sum(units, raster, unit_row, raster_row, height, unit_column, raster_column, width, totals):
    for i in range(height.size):
        for j in range(width.size):
            unit = units[unit_row[i], unit_column[j]]
            if unit >= 0:
                value = raster[raster_row[i], raster_column[j]]
                if not np.isnan(value):
                    area = height[i] * width[j]
                    totals[unit, 0] += area
                    totals[unit, 1] += area * value


def find(name: str, folder: Path) -> Path | str:
    """A raster named in the configuration: relative to the TOML file, or as GDAL knows it."""
    if is_address(name):
        return name
    path = Path(name) if Path(name).is_absolute() else folder / name
    if glob.has_magic(name) and not path.exists():
        matches = sorted(glob.glob(name, root_dir=folder, recursive=True))
        if len(matches) != 1:
            raise InputError(f"{name} fits {len(matches)} files in {folder}: name one raster (join tiles with "
                             "gdalbuildvrt)")
        path = folder / matches[0]
    return path


def unit_rows(terrain: Terrain) -> np.ndarray:
    """Row of ``terrain.units`` of each cell, int32 (y, x); -1 outside."""
    ids = terrain.units.index.to_numpy()
    place = np.full(int(ids.max()) + 1, -1, dtype=np.int32)
    place[ids] = np.arange(ids.size, dtype=np.int32)
    return place[terrain.unit_map]


@contextmanager
def open_raster(path: Path | str) -> Iterator[Any]:
    """An open raster with a coordinate system; InputError where it is none."""
    import rasterio

    check_place(path)
    with told(path), rasterio.open(path) as source:
        check_raster(source, path)
        if source.crs is None:
            raise InputError(f"{path} has no coordinate system: assign one (gdal_edit.py -a_srs EPSG:... {path})")
        yield source


@contextmanager
def _laid(path: Path | str, terrain: Terrain, cuts: int = 0) -> Iterator[tuple[Any, _Axis, _Axis]]:
    """The raster to read from, and the pieces along rows and columns."""
    from affine import Affine
    from rasterio.crs import CRS
    from rasterio.enums import Resampling
    from rasterio.vrt import WarpedVRT

    height, width = terrain.unit_map.shape
    with open_raster(path) as source:
        own = source.transform
        if cuts == 0 and source.crs == CRS.from_user_input(terrain.crs) and own.b == own.d == 0.0:
            at = terrain.transform
            rows = _pieces((own.f - at.f) / at.e, own.e / at.e, source.height, height)
            columns = _pieces((own.c - at.c) / at.a, own.a / at.a, source.width, width)
            yield source, rows, columns
            return
        cuts = cuts or _cuts(source, terrain)
        fine = terrain.transform * Affine.scale(1.0 / cuts)
        bands = {} if source.nodata is not None else {"add_alpha": True}
        with WarpedVRT(source, crs=CRS.from_user_input(terrain.crs), transform=fine, width=width * cuts,
                       height=height * cuts, resampling=Resampling.nearest, **bands) as warped:
            yield warped, _even(height, cuts), _even(width, cuts)


def _pieces(begin: float, size: float, raster_cells: int, terrain_cells: int) -> _Axis:
    """Cut one axis, in units of terrain cells, at the edges of both; ``size`` is below 0 where the raster runs back."""
    edges = begin + size * np.arange(raster_cells + 1)
    near = np.abs(edges - np.round(edges)) < _SNAP
    edges[near] = np.round(edges[near])
    rising = edges if size > 0.0 else edges[::-1]
    low, high = max(0.0, rising[0]), min(float(terrain_cells), rising[-1])
    if low >= high:
        nothing = np.empty(0, dtype=np.int64)
        return _Axis(nothing, nothing, np.empty(0))
    cuts = np.unique(np.concatenate([np.arange(terrain_cells + 1.0), rising, [low, high]]))
    cuts = cuts[(cuts >= low) & (cuts <= high)]
    middle = 0.5 * (cuts[1:] + cuts[:-1])
    raster = np.searchsorted(rising, middle) - 1
    return _Axis(np.floor(middle).astype(np.int64), raster if size > 0.0 else raster_cells - 1 - raster, np.diff(cuts))


def _even(cells: int, cuts: int) -> _Axis:
    return _Axis(np.repeat(np.arange(cells), cuts), np.arange(cells * cuts), np.full(cells * cuts, 1.0 / cuts))


def _cuts(source: Any, terrain: Terrain) -> int:
    """Parts of a terrain cell's side that are no longer than a cell of the raster."""
    from rasterio.warp import transform_bounds

    height, width = terrain.unit_map.shape
    left, bottom, right, top = _bounds(terrain)
    west, south, east, north = transform_bounds(terrain.crs, source.crs, left, bottom, right, top)
    across = (east - west) / math.hypot(source.transform.a, source.transform.d) / width
    down = (north - south) / math.hypot(source.transform.b, source.transform.e) / height
    most = max(1, int(math.sqrt(_MOST_SAMPLES / (height * width))))
    return max(1, min(math.ceil(max(across, down, 2.0)), _MOST_CUTS, most))


def _bounds(terrain: Terrain) -> tuple[float, float, float, float]:
    height, width = terrain.unit_map.shape
    left, top = terrain.transform * (0, 0)
    right, bottom = terrain.transform * (width, height)
    return left, bottom, right, top


def _blocks(source: Any, rows: _Axis, columns: _Axis) -> Iterator[tuple[np.ma.MaskedArray, _Axis, _Axis]]:
    """Windows of the raster with their pieces, a bounded number of cells at a time."""
    from rasterio.windows import Window

    if rows.length.size == 0 or columns.length.size == 0:
        return
    first, last = int(columns.raster.min()), int(columns.raster.max()) + 1
    inside = _Axis(columns.terrain, columns.raster - first, columns.length)
    count = np.abs(np.diff(rows.raster, prepend=rows.raster[0]))
    place = np.cumsum(count) // max(1, _BLOCK_CELLS // (last - first))
    for begin, end in _runs(place):
        mine = slice(begin, end)
        top, bottom = int(rows.raster[mine].min()), int(rows.raster[mine].max()) + 1
        window = Window(first, top, last - first, bottom - top)
        block = source.read(1, window=window, masked=True)
        yield block, _Axis(rows.terrain[mine], rows.raster[mine] - top, rows.length[mine]), inside


def _runs(labels: np.ndarray) -> list[tuple[int, int]]:
    cuts = np.flatnonzero(np.diff(labels)) + 1
    return list(zip([0, *cuts.tolist()], [*cuts.tolist(), labels.size], strict=True))


def class_areas(path: Path | str, terrain: Terrain) -> ClassAreas:
    """Share of each unit under each code of a class map.

    Raises
    ------
    InputError
        It is no raster, has no coordinate system, holds no classes or does not overlap the catchment.
    """
    units = unit_rows(terrain)
    totals = np.zeros((len(terrain.units), 1))
    codes = np.empty(0, dtype=np.int64)
    with _laid(path, terrain) as (source, rows, columns):
        for block, down, across in _blocks(source, rows, columns):
            values, missing = _classes(block, path)
            new = np.setdiff1d(_distinct(values, missing), codes)
            if codes.size + new.size > _MOST_CODES:
                raise InputError(f"{path} holds more than {_MOST_CODES} different values: it is no map of classes")
            order = np.argsort(np.concatenate([codes, new]), kind="stable")
            codes = np.concatenate([codes, new])[order]
            totals = np.concatenate([totals, np.zeros((totals.shape[0], new.size))], axis=1)
            totals = totals[:, np.concatenate([[0], order + 1])]
            column = _columns(values, missing, codes)
            _count(units, column, down.terrain, down.raster, down.length, across.terrain, across.raster,
                   across.length, totals)
    share = totals[:, 1:] / np.bincount(units[units >= 0], minlength=totals.shape[0])[:, None]
    _check_overlap(share, path, terrain)
    used = share.any(axis=0)
    return ClassAreas(codes[used], share[:, used])


def _classes(block: np.ma.MaskedArray, path: Path | str) -> tuple[np.ndarray, np.ndarray]:
    """Codes as whole numbers, and where there are none."""
    missing = np.ma.getmaskarray(block)
    values = np.asarray(block.data)
    if values.dtype.kind == "f":
        missing = missing | ~np.isfinite(values)
        values = np.where(missing, 0.0, values)
        if (values != np.round(values)).any():
            raise InputError(f"{path} holds fractions: it is no map of classes: give whole numbers as codes")
    largest = np.abs(values.astype(np.float64)).max(initial=0.0)
    if largest > _LARGEST_CODE:
        raise InputError(f"{path} holds values as large as {largest:g}: it is no map of classes: declare them as "
                         "nodata")
    return values.astype(np.int64), missing


def _distinct(values: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """The different codes; counted, which is faster than sorting, where they lie close together."""
    known = values[~missing] if missing.any() else values.ravel()
    if known.size == 0:
        return known
    low, high = int(known.min()), int(known.max())
    if high - low < _LOOK_UP:
        return np.flatnonzero(np.bincount(known - low)) + low
    return np.unique(known)


def _columns(values: np.ndarray, missing: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Place of each code among ``codes`` from 1; 0 where there is none."""
    if codes.size == 0:
        return np.zeros(values.shape, dtype=np.int32)
    low, high = int(codes[0]), int(codes[-1])
    if high - low < _LOOK_UP:
        place = np.zeros(high - low + 1, dtype=np.int32)
        place[codes - low] = np.arange(1, codes.size + 1)
        column = place[np.clip(values, low, high) - low]
    else:
        column = (np.searchsorted(codes, values) + 1).astype(np.int32)
    column[missing] = 0
    return column


def unit_means(path: Path | str, terrain: Terrain) -> tuple[np.ndarray, np.ndarray]:
    """Mean of a raster over each unit (NaN where it has no data), and the share of the unit's area that has data.

    Raises
    ------
    InputError
        It is no raster, has no coordinate system, or does not overlap the catchment.
    """
    units = unit_rows(terrain)
    totals = np.zeros((len(terrain.units), 2))
    with _laid(path, terrain) as (source, rows, columns):
        scale, offset = scaling(source)
        for block, down, across in _blocks(source, rows, columns):
            values = np.ma.filled(block.astype(np.float64), np.nan) * scale + offset
            _sum(units, values, down.terrain, down.raster, down.length, across.terrain, across.raster, across.length,
                 totals)
    covered = totals[:, 0] / np.bincount(units[units >= 0], minlength=totals.shape[0])
    _check_overlap(covered[:, None], path, terrain)
    divisor = np.where(totals[:, 0] > 0.0, totals[:, 0], np.nan)
    return totals[:, 1] / divisor, covered


def scaling(source: Any) -> tuple[float, float]:
    """Scale and offset of a raster's first band."""
    return float(source.scales[0]), float(source.offsets[0])


def class_means(classes: Path | str, values: Sequence[Path | str], terrain: Terrain) -> dict[int, np.ndarray]:
    """Mean of each of several rasters over the terrain's cells of each code of a class map; NaN where there is none.

    Both are read at the middle of the terrain's cells.
    """
    units = unit_rows(terrain)
    sums: dict[int, np.ndarray] = {}
    for number, path in enumerate(values):
        with _laid(classes, terrain, 1) as (source, rows, columns), _laid(path, terrain, 1) as (other, _, _):
            scale, offset = scaling(other)
            for (block, down, _), (more, _, _) in zip(_blocks(source, rows, columns), _blocks(other, rows, columns),
                                                      strict=True):
                codes, missing = _classes(block, classes)
                data = np.ma.filled(more.astype(np.float64), np.nan) * scale + offset
                used = ~missing & np.isfinite(data) & (units[down.terrain] >= 0)
                found, place = np.unique(codes[used], return_inverse=True)
                for code, total, cells in zip(found, np.bincount(place, weights=data[used], minlength=found.size),
                                              np.bincount(place, minlength=found.size), strict=True):
                    of_code = sums.setdefault(int(code), np.zeros((len(values), 2)))
                    of_code[number] += total, cells
    return {code: of_code[:, 0] / np.where(of_code[:, 1] > 0.0, of_code[:, 1], np.nan)
            for code, of_code in sorted(sums.items())}


def _check_overlap(share: np.ndarray, path: Path | str, terrain: Terrain) -> None:
    if not share.any():
        left, bottom, right, top = _bounds(terrain)
        raise InputError(f"{path} has no data on the catchment (x {left:.0f} to {right:.0f}, y {bottom:.0f} to "
                         f"{top:.0f} m in {terrain.crs[:60]}): check that both cover the same place, and its "
                         "coordinate system")


def fill_units(values: np.ndarray, covered: np.ndarray, terrain: Terrain, path: Path | str,
               notes: list[str] | None = None, most: float = 0.1) -> np.ndarray:
    """Give units on which a map has no data the values of the nearest unit that has; few units only.

    Parameters
    ----------
    values : ndarray
        First axis: units.
    covered : ndarray
        Share of each unit's area that has data.
    path : path
        The map, for messages.
    notes : list, optional
        A line is added where units were filled.
    most : float
        Largest share of the catchment's area that may be without data.

    Raises
    ------
    InputError
        More of the catchment is without data.
    """
    area = terrain.units["area_km2"].to_numpy(dtype=float)
    lacking = float(area @ (1.0 - np.minimum(covered, 1.0)) / area.sum())
    if lacking > most:
        worst = terrain.units.index[int(np.argmin(covered))]
        raise InputError(f"{path} has no data on {100.0 * lacking:.1f} % of the catchment, unit {worst} among it: give "
                         "a map that covers it, or fill its gaps")
    empty = covered <= 0.0
    if not empty.any():
        return values
    from scipy.spatial import cKDTree

    places = unit_places(terrain)
    _, nearest = cKDTree(places[~empty]).query(places[empty])
    filled = values.copy()
    filled[empty] = values[~empty][nearest]
    if notes is not None:
        notes.append(f"{path}: {int(empty.sum())} units without data were given the values of the nearest one")
    return filled


def unit_places(terrain: Terrain) -> np.ndarray:
    """Centres of the units, (unit, 2), m in the terrain's coordinate system."""
    from rasterio.warp import transform

    x, y = transform("EPSG:4326", terrain.crs, terrain.units["longitude"].tolist(), terrain.units["latitude"].tolist())
    return np.column_stack([x, y])
