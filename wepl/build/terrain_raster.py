"""Reading rasters and outlines onto one north-up grid with metres as its unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.errors import InputError

if TYPE_CHECKING:
    import affine
    from rasterio.crs import CRS

# Elevations are kept to 2^-10 m (1 mm): sums and differences of such numbers below 16 km are exact in float32, so that
# water raised to the brim of a pit stands exactly level with it.
_STEPS_PER_METRE = 1024.0
_LOWEST, _HIGHEST = -500.0, 9000.0  # valid range of unit_elevation, m
_MARGIN_CELLS = 3
_MOST_CELLS = 2**31 - 1  # cells are numbered in int32
# Beyond this width a UTM zone stretches areas by more than 0.5 per cent.
_WIDEST_UTM_DEGREES = 8.0
_LARGEST_STRETCH = 0.02
_LEAST_COVER = 0.95
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
    import rasterio
    from rasterio.errors import RasterioIOError

    path = _path(name, folder)
    try:
        with rasterio.open(path) as source:
            own = _own_crs(source, path, crs)
            window = _window(source, own, outline, folder, path)
            if window.width * window.height > _MOST_CELLS:
                raise InputError(f"{path}: {window.width} x {window.height} cells are too many: clip it by an outline "
                                 "or give a coarser raster")
            values = _read(source, window)
            transform = source.window_transform(window)
    except RasterioIOError as error:
        raise InputError(f"{path}: it cannot be read as a raster: {error}") from error
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
    from rasterio.errors import RasterioIOError
    from rasterio.vrt import WarpedVRT
    from rasterio.windows import Window

    path = _path(name, folder)
    rows, columns = grid.values.shape
    try:
        with rasterio.open(path) as source, WarpedVRT(
                source, src_crs=source.crs or grid.crs, crs=grid.crs, transform=grid.transform, width=columns,
                height=rows, nodata=np.nan, dtype="float32") as warped:
            values = _read(warped, Window(0, 0, columns, rows))
    except RasterioIOError as error:
        raise InputError(f"{path}: it cannot be read as a raster: {error}") from error
    if not np.isfinite(values).any():
        raise InputError(f"{path}: it holds no data where the flow directions are: check that both cover one place")
    return values


def _path(name: str, folder: Path) -> str:
    if name.startswith("/vsi") or "://" in name:
        return name
    path = Path(folder) / name
    if not path.exists():
        raise InputError(f"{path}: no such file: names are relative to the folder of the TOML file")
    return str(path)


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
                         f"{bottom:g} to {top:g}, the outline x {box[0]:g} to {box[2]:g}, y {box[1]:g} to {box[3]:g}")
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
    return (2.0 * step) ** 2 / ground


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


def read_outline(name: str, folder: Path, crs: CRS) -> list[dict]:
    """Polygons of an outline in a coordinate system; the outline is taken to be in it where it names none.

    Raises
    ------
    InputError
        The file cannot be read or holds no polygon.
    """
    try:
        import fiona
    except ModuleNotFoundError as error:
        raise InputError("reading an outline needs fiona: pip install 'wepl[prep]'") from error
    from rasterio.crs import CRS
    from rasterio.warp import transform_geom

    path = _path(name, folder)
    try:
        with fiona.open(path) as source:
            shapes = [feature.geometry.__geo_interface__ for feature in source if feature.geometry is not None]
            own = CRS.from_wkt(source.crs_wkt) if source.crs_wkt else None
    except fiona.errors.DriverError as error:
        raise InputError(f"{path}: it cannot be read as an outline: {error}") from error
    shapes = [shape for shape in shapes if shape["type"] in ("Polygon", "MultiPolygon")]
    if not shapes:
        raise InputError(f"{path}: it holds no polygon")
    if own is not None and own != crs:
        shapes = [transform_geom(own, crs, shape) for shape in shapes]
    return shapes


def inside_outline(grid: Grid, name: str, folder: Path) -> np.ndarray:
    """Cells whose centre lies inside an outline and whose value is known.

    Raises
    ------
    InputError
        The raster covers less than 95 per cent of the outline.
    """
    from rasterio.features import geometry_mask

    shapes = read_outline(name, folder, grid.crs)
    inside = geometry_mask(shapes, grid.values.shape, grid.transform, invert=True)
    area = sum(_area(shape) for shape in shapes)
    inside &= np.isfinite(grid.values)
    covered = inside.sum() * abs(grid.transform.a * grid.transform.e)
    if not inside.any() or covered < _LEAST_COVER * area:
        raise InputError(f"{name}: the raster holds data for {covered / 1e6:.4g} of the outline's {area / 1e6:.4g} "
                         "km2: give a raster that covers it all, or clip the outline")
    return inside


def _area(shape: dict) -> float:
    """Area of a polygon by its corners, in squared units of its coordinates."""
    parts = [shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"]
    total = 0.0
    for rings in parts:
        for k, ring in enumerate(rings):
            x, y = np.asarray(ring, dtype=float)[:, :2].T - np.asarray(ring[0], dtype=float)[:2, None]
            size = 0.5 * abs(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1]))
            total += size if k == 0 else -size
    return total


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
