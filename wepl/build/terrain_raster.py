"""Reading rasters onto one north-up grid with metres as its unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.build.raster_faults import check_raster, path_of, told
from wepl.build.terrain_outline import read_outline
from wepl.errors import InputError

if TYPE_CHECKING:
    import affine
    from rasterio.crs import CRS

# Elevations are kept to 2^-10 m (1 mm): sums and differences of such numbers below 16 km are exact in float32, so that
# water raised to the brim of a pit stands exactly level with it.
_STEPS_PER_METRE = 1024.0
_LOWEST, _HIGHEST = -500.0, 9000.0  # valid range of unit_elevation, m
_MARGIN_CELLS = 3
_FINEST = 0.1  # of a cell of the raster: nothing is to be seen in finer ones
_MOST_CELLS = 2**31 - 1  # cells are numbered in int32
# Beyond this width a UTM zone stretches areas by more than 0.5 per cent.
_WIDEST_UTM_DEGREES = 8.0
_LARGEST_STRETCH = 0.02
_METRES_PER_DEGREE = 111_195.0  # on a sphere of 6371 km


@dataclass
class Grid:
    """Values on a north-up grid in metres.

    Attributes
    ----------
    crs : CRS
    transform : affine.Affine
        From (column, row) to (x, y), m.
    values : ndarray float32 (row, column)
        NaN where unknown.
    source_crs : CRS or None
        Coordinate system of the raster that the values were read from.
    """

    crs: CRS
    transform: affine.Affine
    values: np.ndarray
    source_crs: CRS | None = None


def read_grid(name: str, folder: Path, crs: Any, resolution: float = 0.0, outline: str | None = None,
              what: str = "elevation") -> Grid:
    """Read the first band of a raster onto a projected grid.

    Parameters
    ----------
    name, folder : str, Path
        Raster, relative to the folder.
    crs : str or int
        "auto" keeps a projected grid in metres that is true in area, else takes the UTM zone of the centre, or an
        equal-area projection where the raster is wider than a zone; else an EPSG code or what rasterio takes.
    resolution : float
        Cell size, m; 0 keeps the raster's own or its equivalent.
    outline : str, optional
        Polygons beyond which nothing is needed.
    what : str
        "elevation" is interpolated where the grid changes; "direction" must keep its grid.

    Raises
    ------
    InputError
        The file is no raster, has no coordinate system, or holds nothing.
    """
    with told(path_of(name, folder)):
        return _grid_of(path_of(name, folder), folder, crs, resolution, outline, what)


def _grid_of(path: str, folder: Path, crs: Any, resolution: float, outline: str | None, what: str) -> Grid:
    import rasterio

    with rasterio.open(path) as source:
        check_raster(source, path)
        own = _own_crs(source, path, crs)
        window = _window(source, own, outline, folder, path)
        if window.width * window.height > _MOST_CELLS:
            raise InputError(f"{path}: {window.width} x {window.height} cells are too many: clip it by an outline "
                             "or give a coarser raster")
        values = _read(source, window)
        transform = source.window_transform(window)
    if not np.isfinite(values).any():
        raise InputError(f"{path}: every cell is nodata{' inside the outline' if outline else ''}: check the file and "
                         "its nodata value")
    target = _target_crs(own, transform, values.shape, crs, path)
    if what == "direction" and (target != own or resolution > 0.0):
        raise InputError(f"{path}: flow directions cannot be moved to another grid: give them on a projected grid in "
                         "metres, with resolution = 0, or give a DEM")
    grid = _on_grid(Grid(own, transform, values), target, resolution, path)
    grid.source_crs = own
    return grid


def read_like(name: str, folder: Path, grid: Grid) -> np.ndarray:
    """First band of a raster on the cells of a grid, nearest value, NaN where it has none.

    Raises
    ------
    InputError
        The file is no raster, or lies elsewhere.
    """
    import rasterio
    from rasterio.vrt import WarpedVRT
    from rasterio.windows import Window

    path = path_of(name, folder)
    rows, columns = grid.values.shape
    with told(path), rasterio.open(path) as source:
        check_raster(source, path)
        with WarpedVRT(source, src_crs=source.crs or grid.crs, crs=grid.crs, transform=grid.transform, width=columns,
                       height=rows, nodata=np.nan, dtype="float32") as warped:
            values = _read(warped, Window(0, 0, columns, rows))
    if not np.isfinite(values).any():
        raise InputError(f"{path}: it holds no data where the flow directions are: check that both cover one place")
    return values


def _own_crs(source, path: str, wanted: Any) -> CRS:
    """Coordinate system of the raster; a wanted one stands in where the raster has none."""
    from rasterio.crs import CRS

    if source.crs:
        return source.crs
    left, bottom, right, top = source.bounds
    in_degrees = max(abs(left), abs(right)) <= 360.0 and max(abs(bottom), abs(top)) <= 90.0
    if in_degrees or wanted == "auto":
        looks = ", though its coordinates look like degrees" if in_degrees else ""
        raise InputError(f"{path}: it has no coordinate reference system{looks}: write one into it, e.g. "
                         f"`gdal_edit.py -a_srs EPSG:{4326 if in_degrees else 'CODE'} {Path(path).name}`"
                         + ("" if in_degrees else ", or give crs"))
    return CRS.from_user_input(_named(wanted))


def _named(crs: Any) -> Any:
    """An EPSG code also without its prefix."""
    return int(crs) if isinstance(crs, str) and crs.isdigit() else crs


def _window(source, own: CRS, outline: str | None, folder: Path, path: str):
    """Part of the raster that is needed: the outline's extent and a margin."""
    from rasterio.features import bounds as shape_bounds
    from rasterio.windows import Window

    whole = Window(0, 0, source.width, source.height)
    if outline is None:
        return whole
    boxes = np.array([shape_bounds(shape) for shape in read_outline(outline, folder, own)])
    box = (*boxes[:, :2].min(axis=0), *boxes[:, 2:].max(axis=0))
    left, bottom, right, top = source.bounds
    if box[0] >= right or box[2] <= left or box[1] >= max(top, bottom) or box[3] <= min(top, bottom):
        raise InputError(f"{path} and {outline} do not overlap: the raster spans x {left:g} to {right:g}, y "
                         f"{bottom:g} to {top:g}, the outline x {box[0]:g} to {box[2]:g}, y {box[1]:g} to {box[3]:g}: "
                         "check the coordinate systems of both")
    columns, rows = zip(*(~source.transform * corner for corner in
                          ((box[0], box[1]), (box[0], box[3]), (box[2], box[1]), (box[2], box[3]))), strict=True)
    # A reprojected grid is turned against the raster, so that a tenth of the extent is kept around it.
    margin = _MARGIN_CELLS + 0.1 * max(max(columns) - min(columns), max(rows) - min(rows))
    first_column, first_row = max(0, math.floor(min(columns) - margin)), max(0, math.floor(min(rows) - margin))
    last_column = min(source.width, math.ceil(max(columns) + margin))
    last_row = min(source.height, math.ceil(max(rows) + margin))
    return Window(first_column, first_row, last_column - first_column, last_row - first_row)


def _read(source, window) -> np.ndarray:
    """First band as float32, scaled, NaN where it has no data."""
    values = source.read(1, window=window, out_dtype="float32")
    values[source.read_masks(1, window=window) == 0] = np.nan
    if source.scales[0] != 1.0 or source.offsets[0] != 0.0:
        values *= np.float32(source.scales[0])
        values += np.float32(source.offsets[0])
    values[~np.isfinite(values)] = np.nan
    return values


def _target_crs(own: CRS, transform: affine.Affine, shape: tuple[int, int], wanted: Any, path: str) -> CRS:
    from rasterio.crs import CRS
    from rasterio.errors import CRSError

    if wanted != "auto":
        try:
            target = CRS.from_user_input(_named(wanted))
        except CRSError as error:
            raise InputError(f"crs = {wanted!r}: no such coordinate reference system: give an EPSG code") from error
        if not target.is_projected or target.linear_units_factor[1] != 1.0:
            raise InputError(f"crs = {wanted!r}: the grid needs a projected system in metres, e.g. a UTM zone")
        return target
    longitude, latitude = _centre(own, transform, shape)
    if own.is_projected and own.linear_units_factor[1] == 1.0:
        if abs(_stretch(own, transform, shape) - 1.0) <= _LARGEST_STRETCH:
            return own
    elif not own.is_geographic and not own.is_projected:
        raise InputError(f"{path}: its coordinate system is neither geographic nor projected: give crs")
    width = abs(transform.a) * shape[1] if own.is_geographic else 0.0
    if width > _WIDEST_UTM_DEGREES or abs(latitude) > 80.0:
        return CRS.from_proj4(f"+proj=laea +lat_0={latitude:.1f} +lon_0={longitude:.1f} +datum=WGS84 +units=m")
    zone = int(math.floor((longitude + 180.0) / 6.0)) % 60 + 1
    return CRS.from_epsg((32600 if latitude >= 0.0 else 32700) + zone)


def _centre(own: CRS, transform: affine.Affine, shape: tuple[int, int]) -> tuple[float, float]:
    """Longitude and latitude of the middle of the raster, degrees."""
    longitude, latitude = to_degrees(own, *(transform * (shape[1] / 2.0, shape[0] / 2.0)))
    return float(longitude[0]), float(latitude[0])


def to_degrees(crs: CRS, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Longitude and latitude, degrees, of places in a coordinate system."""
    from rasterio.warp import transform

    longitude, latitude = transform(crs, "EPSG:4326", np.atleast_1d(x).tolist(), np.atleast_1d(y).tolist())
    return np.asarray(longitude), np.asarray(latitude)


def _stretch(crs: CRS, transform: affine.Affine, shape: tuple[int, int]) -> float:
    """Area on the map by area on the ground in the middle of a projected raster."""
    x, y = transform * (shape[1] / 2.0, shape[0] / 2.0)
    step = 1000.0
    longitude, latitude = to_degrees(crs, [x - step, x + step, x, x], [y, y, y - step, y + step])
    east = ((longitude[1::2] - longitude[::2] + 180.0) % 360.0 - 180.0) * math.cos(math.radians(latitude.mean()))
    north = latitude[1::2] - latitude[::2]
    ground = abs(east[0] * north[1] - east[1] * north[0]) * _METRES_PER_DEGREE**2
    if not ground > 0.0:
        raise ZeroDivisionError("its cells have no extent on the ground")
    return float((2.0 * step) ** 2 / ground)


def _on_grid(grid: Grid, target: CRS, resolution: float, path: str) -> Grid:
    """The grid itself, turned north-up, or its values on a new one."""
    from affine import Affine
    from rasterio.warp import Resampling, calculate_default_transform, reproject

    grid = _north_up(grid)
    own_size = (abs(grid.transform.a), abs(grid.transform.e))
    turned = grid.transform.b != 0.0 or grid.transform.d != 0.0
    kept = target == grid.crs and not turned
    if kept and (resolution == 0.0 or np.allclose(own_size, resolution, rtol=1e-6)):
        return grid
    rows, columns = grid.values.shape
    west, south, east, north = _extent(grid)
    size = resolution or _equivalent_size(grid)
    if size < _FINEST * _equivalent_size(grid):
        raise InputError(f"{path}: resolution = {size:g} m is far finer than its cells of {_equivalent_size(grid):.4g} "
                         "m: give a coarser resolution, or 0 for that of the raster")
    if kept:
        transform = Affine(size, 0.0, west, 0.0, -size, north)
        shape = (max(1, round((north - south) / size)), max(1, round((east - west) / size)))
    else:
        transform, n_columns, n_rows = calculate_default_transform(grid.crs, target, columns, rows, west, south, east,
                                                                   north, resolution=size)
        shape = (n_rows, n_columns)
    if shape[0] * shape[1] > _MOST_CELLS:
        raise InputError(f"{path}: at {size:g} m the grid has {shape[0]} x {shape[1]} cells, too many: give a coarser "
                         "resolution")
    if min(shape) < 2:
        raise InputError(f"{path}: at {size:g} m the grid has {shape[0]} x {shape[1]} cells: give a finer resolution")
    values = np.full(shape, np.nan, np.float32)
    coarser = resolution > 1.5 * _equivalent_size(grid)
    reproject(grid.values, values, src_transform=grid.transform, src_crs=grid.crs, dst_transform=transform,
              dst_crs=target, src_nodata=np.nan, dst_nodata=np.nan,
              resampling=Resampling.average if coarser else Resampling.bilinear)
    return Grid(target, transform, values)


def _north_up(grid: Grid) -> Grid:
    """Rows from north to south and columns from west to east."""
    from affine import Affine

    transform, values = grid.transform, grid.values
    if transform.b or transform.d:
        return grid
    if transform.e > 0.0:
        values = values[::-1]
        transform = Affine(transform.a, 0.0, transform.c, 0.0, -transform.e, transform.f + transform.e * len(values))
    if transform.a < 0.0:
        values = values[:, ::-1]
        transform = Affine(-transform.a, 0.0, transform.c + transform.a * values.shape[1], 0.0, transform.e,
                           transform.f)
    return Grid(grid.crs, transform, np.ascontiguousarray(values))


def _extent(grid: Grid) -> tuple[float, float, float, float]:
    """West, south, east, north."""
    rows, columns = grid.values.shape
    x, y = zip(*(grid.transform * corner for corner in ((0, 0), (columns, 0), (0, rows), (columns, rows))), strict=True)
    return min(x), min(y), max(x), max(y)


def _equivalent_size(grid: Grid) -> float:
    """Side of the square of the area of a cell in the middle of the grid, m."""
    rows, columns = grid.values.shape
    cell = abs(grid.transform.a * grid.transform.e - grid.transform.b * grid.transform.d)
    if grid.crs.is_geographic:
        latitude = _centre(grid.crs, grid.transform, (rows, columns))[1]
        return math.sqrt(cell * math.cos(math.radians(latitude))) * _METRES_PER_DEGREE
    return math.sqrt(cell / _stretch(grid.crs, grid.transform, (rows, columns)))


def check_elevation(elevation: np.ndarray, name: str) -> None:
    """Round elevations in place to steps that float32 adds exactly, and refuse what cannot be elevations.

    Raises
    ------
    InputError
        Values outside -500 to 9000 m, or no relief at all.
    """
    low, high = float(np.nanmin(elevation)), float(np.nanmax(elevation))
    if low < _LOWEST or high > _HIGHEST:
        value = low if low < _LOWEST else high
        raise InputError(f"{name}: an elevation of {value:g} m is outside {_LOWEST:g} to {_HIGHEST:g} m: declare it as "
                         f"nodata (`gdal_edit.py -a_nodata {value:g}`), or convert the raster to metres")
    if low == high:
        raise InputError(f"{name}: every elevation is {low:g} m: a flat DEM has no flow directions; check the file and "
                         "its band")
    elevation *= np.float32(_STEPS_PER_METRE)
    np.rint(elevation, out=elevation)
    elevation /= np.float32(_STEPS_PER_METRE)
