"""A catchment of three bands on 40 x 40 cells of 100 m, and rasters and configurations to build upon it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import rasterio
from affine import Affine
from rasterio.warp import transform

from wepl.build.types import Terrain

CRS = "EPSG:32650"
LEFT, TOP, CELL, SIZE = 500_000.0, 3_200_000.0, 100.0, 40
RIGHT, BOTTOM = LEFT + SIZE * CELL, TOP - SIZE * CELL


def terrain() -> Terrain:
    """Unit 1: the west half; units 2 and 3: north and south of the east half. The ground falls to the east."""
    units = np.zeros((SIZE, SIZE), dtype=np.int32)
    units[:, :20], units[:20, 20:], units[20:, 20:] = 1, 2, 3
    elevation = np.broadcast_to(np.linspace(800.0, 0.0, SIZE, dtype=np.float32), (SIZE, SIZE)).copy()
    rows = []
    for unit in (1, 2, 3):
        row, column = np.nonzero(units == unit)
        (longitude,), (latitude,) = transform(CRS, "EPSG:4326", [LEFT + (column.mean() + 0.5) * CELL],
                                              [TOP - (row.mean() + 0.5) * CELL])
        rows.append({"id": unit, "subbasin": 1, "order": unit, "area_km2": row.size * CELL**2 / 1e6,
                     "elevation_m": float(elevation[units == unit].mean()), "slope": 0.2, "flow_length_m": 500.0,
                     "longitude": longitude, "latitude": latitude})
    frame = pd.DataFrame(rows).set_index("id")
    empty = pd.DataFrame()
    return Terrain(CRS, Affine(CELL, 0.0, LEFT, 0.0, -CELL, TOP), elevation, CELL**2, (units > 0).astype(np.int32),
                   units, empty, frame, empty, [])


def write_raster(path: Path, values: np.ndarray, left: float = LEFT, top: float = TOP, size: float = CELL,
                 crs: str | None = CRS, nodata: float | None = None, scale: float = 1.0) -> Path:
    """A GeoTIFF of one band."""
    with rasterio.open(path, "w", driver="GTiff", height=values.shape[0], width=values.shape[1], count=1,
                       dtype=values.dtype, crs=crs, transform=Affine(size, 0.0, left, 0.0, -size, top),
                       nodata=nodata) as file:
        file.write(values, 1)
        file.scales = (scale,)
    return path


def geographic(path: Path, value, degrees: float, nodata: float | None = None) -> Path:
    """A raster in degrees around the catchment: ``value(longitude, latitude)`` at the middle of each cell."""
    (west, east), (south, north) = transform(CRS, "EPSG:4326", [LEFT - 3000.0, RIGHT + 3000.0],
                                             [BOTTOM - 3000.0, TOP + 3000.0])
    columns, rows = int((east - west) / degrees), int((north - south) / degrees)
    longitude = west + degrees * (np.arange(columns) + 0.5)
    latitude = north - degrees * (np.arange(rows) + 0.5)
    return write_raster(path, value(*np.meshgrid(longitude, latitude)), west, north, degrees, "EPSG:4326", nodata)


def land(**given) -> SimpleNamespace:
    """A land section."""
    return SimpleNamespace(**{"map": None, "classes": None, "shares": None, "lai": None, "lai_scale": 1.0} | given)


def soil(**given) -> SimpleNamespace:
    """A soil section."""
    return SimpleNamespace(**{"map": None, "classes": None, "texture": None, "sand": None, "silt": None, "clay": None,
                              "organic": None, "pedotransfer": "saxton_rawls_2006", "depths_m": None,
                              "layers_m": [0.2, 0.4, 1.4], "depth": None} | given)


def table(**given) -> SimpleNamespace:
    """One [[forcing.stations]]."""
    return SimpleNamespace(**{"variable": None, "unit": None, "time": "date", "columns": None, "station": None,
                              "coordinates": None} | given)


def grid(**given) -> SimpleNamespace:
    """One [[forcing.grids]]."""
    return SimpleNamespace(**{"kind": "auto", "variables": None} | given)


def forcing(**given) -> SimpleNamespace:
    """A forcing section."""
    return SimpleNamespace(**{"stations": [], "grids": [], "step": "1d", "start": None, "end": None, "method": "idw",
                              "power": 2.0, "neighbours": 8, "cells": "unit", "gaps": "refuse", "max_gap_days": 3.0,
                              "time_zone": "UTC"} | given)
