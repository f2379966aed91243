"""Outlines: polygons that cut the raster of a build, and the cells inside them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl.build.raster_faults import path_of, told
from wepl.errors import InputError
from wepl.netcdf import UNREADABLE

if TYPE_CHECKING:
    from rasterio.crs import CRS

    from wepl.build.terrain_raster import Grid

_LEAST_COVER = 0.95


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

    path = path_of(name, folder)
    try:
        with fiona.open(path) as source:
            shapes = [feature.geometry.__geo_interface__ for feature in source if feature.geometry is not None]
            with told(path, "outline"):
                own = CRS.from_wkt(source.crs_wkt) if source.crs_wkt else None
    except (fiona.errors.FionaError, fiona._err.CPLE_BaseError, *UNREADABLE) as error:
        raise InputError(f"{path}: it cannot be read as an outline ({error}): make it again") from None
    shapes = [shape for shape in shapes if shape["type"] in ("Polygon", "MultiPolygon")]
    if not shapes:
        raise InputError(f"{path}: it holds no polygon: give the outline as one")
    if own is not None and own != crs:
        with told(path, "outline"):
            shapes = [transform_geom(own, crs, shape) for shape in shapes]
    if not all(np.isfinite(ring).all() and len(ring) > 3 for shape in shapes for ring in _rings(shape)):
        raise InputError(f"{path}: a ring of a polygon has fewer than three corners, or one that is no number: "
                         "correct it")
    return shapes


def _rings(shape: dict) -> list[np.ndarray]:
    """Corners of all rings, (corner, x and y)."""
    parts = [shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"]
    return [np.asarray([corner[:2] for corner in ring], dtype=float).reshape(-1, 2) for part in parts for ring in part]


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
