"""Rasters and settings for the tests of terrain: surfaces whose areas, slopes and lengths are known."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import rasterio
from rasterio.transform import from_origin

UTM = "EPSG:32650"
WEST, NORTH = 400_000.0, 3_200_000.0


def settings(**given) -> SimpleNamespace:
    """The table [terrain] with its defaults."""
    values = {"dem": None, "d8": None, "d8_encoding": None, "accumulation": None, "slope": None, "outline": None,
              "crs": "auto", "resolution": 0.0, "stream_threshold_km2": 1.0, "subbasin_area_km2": 20.0,
              "outlets": "largest", "bands": 0, "band_relief_m": 200.0, "band_rule": "area", "min_band_area_km2": 0.05,
              "width_a": 2.5, "width_b": 0.5}
    assert given.keys() <= values.keys()
    return SimpleNamespace(**{**values, **given})


def gauge(name: str, x: float, y: float, area_km2: float | None = None, crs: str | None = None) -> SimpleNamespace:
    """One of the tables [[gauges]]."""
    return SimpleNamespace(name=name, x=x, y=y, area_km2=area_km2, crs=crs)


def rule(search_m: float = 3000.0, max_area_error: float = 0.2, force: bool = False) -> SimpleNamespace:
    """The table [gauge_rule]."""
    return SimpleNamespace(search_m=search_m, max_area_error=max_area_error, force=force)


def write(path: Path, values: np.ndarray, size: float = 30.0, crs: str | None = UTM, nodata: float | None = None,
          west: float = WEST, north: float = NORTH) -> str:
    """Write a raster and return its name; NaN becomes the nodata value."""
    if nodata is not None and values.dtype.kind == "f":
        values = np.where(np.isnan(values), nodata, values)
    with rasterio.open(path, "w", driver="GTiff", height=values.shape[0], width=values.shape[1], count=1,
                       dtype=values.dtype, crs=crs, transform=from_origin(west, north, size, size),
                       nodata=nodata) as target:
        target.write(values, 1)
    return path.name


def tilted_v(rows: int = 200, half: int = 40, size: float = 30.0, side: float = 0.2, along: float = 0.02) -> np.ndarray:
    """Valley of two planes that fall to the middle column, and all to the last row; m."""
    row, column = np.mgrid[:rows, :2 * half + 1]
    return (100.0 + side * size * abs(column - half) + along * size * (rows - 1 - row)).astype(np.float32)


def two_valleys(rows: int = 200, halves: tuple[int, int] = (30, 45)) -> np.ndarray:
    """Two tilted valleys side by side with their ridge between them; they share their highest line."""
    return np.concatenate([tilted_v(rows, half) - np.float32(0.2 * 30.0 * half) for half in halves], axis=1) + 300.0


def half_funnel(x: np.ndarray, y: np.ndarray, radius: float, slope: float = 0.1) -> np.ndarray:
    """Height of a cone that stands on its tip at the origin, north of it and up to a radius; NaN elsewhere."""
    distance = np.hypot(x, y)
    return np.where((distance < radius) & (y > 0.0), 500.0 + slope * distance, np.nan).astype(np.float32)


def rough_slope(n: int, seed: int = 0, size: float = 30.0) -> np.ndarray:
    """A plane that falls to the south-east with correlated noise on it, full of pits; m."""
    from scipy import ndimage

    generator = np.random.default_rng(seed)
    noise = sum(scale * ndimage.zoom(generator.standard_normal((n // step + 2, n // step + 2)), step, order=1)[:n, :n]
                for step, scale in ((2, 1.0), (8, 6.0), (32, 25.0)))
    row, column = np.mgrid[:n, :n]
    return (600.0 + 0.02 * size * (2 * n - row - column) + noise).astype(np.float32)
