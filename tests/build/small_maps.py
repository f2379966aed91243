"""A small valley as a build needs it: an elevation model, a land map, a soil map and one table of weather."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import rasterio
from rasterio.transform import from_origin

CRS, SIDE, CELL = "EPSG:32650", 40, 100.0
WEST, NORTH = 400_000.0, 3_200_000.0
DAYS = 10

TOML = """
title = "Valley"
[terrain]
dem = "dem.tif"
stream_threshold_km2 = 0.5
subbasin_area_km2 = 3.0
band_relief_m = 50.0
[[gauges]]
name = "bridge"
x = 402050
y = 3196050
area_km2 = 16.0
crs = "EPSG:32650"
[land]
map = "land.tif"
classes = "esa_worldcover"
[soil]
texture = "loam"
[forcing]
step = "1d"
[[forcing.stations]]
file = "weather.csv"
time = "date"
columns = { precipitation = "P [mm]", air_temperature = "T [degC]", relative_humidity = "RH [%]", \
wind_speed = "wind [m s-1]", sunshine_duration = "sun [h]" }
coordinates = "stations.csv"
"""


def write_raster(path: Path, values: np.ndarray, crs: str | None = CRS, nodata: float | None = None) -> None:
    """A raster on the valley's grid."""
    with rasterio.open(path, "w", driver="GTiff", height=values.shape[0], width=values.shape[1], count=1,
                       dtype=values.dtype, crs=crs, transform=from_origin(WEST, NORTH, CELL, CELL),
                       nodata=nodata) as target:
        target.write(values, 1)


def elevation() -> np.ndarray:
    """A V-shaped valley that falls to the south, 4 km by 4 km; the river runs in column 20."""
    row, column = np.mgrid[:SIDE, :SIDE]
    return (100.0 + 2.0 * (SIDE - row) + 5.0 * np.abs(column - 20)).astype(np.float32)


def weather(days: int = DAYS) -> pd.DataFrame:
    """A table with units in the names of its columns."""
    number = np.arange(days)
    return pd.DataFrame({
        "date": pd.date_range("2010-06-01", periods=days).strftime("%Y-%m-%d"), "P [mm]": 3.0 * (number % 4),
        "T [degC]": 20.0 + number, "RH [%]": 70.0, "wind [m s-1]": 2.0, "sun [h]": 6.0})


def write_valley(folder: Path) -> Path:
    """All files; returns the TOML file."""
    folder.mkdir(exist_ok=True)
    write_raster(folder / "dem.tif", elevation())
    land = np.full((SIDE, SIDE), 10, dtype=np.uint8)
    land[:, 20:] = 30
    write_raster(folder / "land.tif", land)
    weather().to_csv(folder / "weather.csv", index=False)
    pd.DataFrame([{"id": "weather", "lon": 116.0, "lat": 28.9, "elevation": 120.0}]).to_csv(
        folder / "stations.csv", index=False)
    toml = folder / "build.toml"
    toml.write_text(TOML, encoding="utf-8")
    return toml
