"""Tables of three stations A, B and C around the small terrain, and how they are read."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pandas as pd
from rasterio.warp import transform
from small_terrain import BOTTOM, CRS, LEFT, RIGHT, TOP, table, terrain

from wepl.build.stations import read_stations

DAYS = pd.date_range("2010-01-01", periods=20, freq="D").strftime("%Y-%m-%d")
# Coefficients of the made weather: rain mm/d, temperature degC.
RAIN = np.where(np.arange(20) % 3 == 0, 12.0, 0.0)
WARMTH = 10.0 + np.sin(np.arange(20))


def coordinates(folder: Path, name: str = "stations.csv", elevations: bool = True) -> str:
    xs, ys = [LEFT - 500.0, RIGHT + 500.0, 0.5 * (LEFT + RIGHT)], [TOP, BOTTOM, TOP + 800.0]
    longitude, latitude = transform(CRS, "EPSG:4326", xs, ys)
    lines = ["id,lon,lat,elevation" if elevations else "id,lon,lat"]
    for station, x, y, z in zip("ABC", longitude, latitude, (900.0, 20.0, 400.0), strict=True):
        lines.append(f"{station},{x:.8f},{y:.8f}" + (f",{z}" if elevations else ""))
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def wide(folder: Path, name: str, values: np.ndarray, stations: str = "ABC", days=DAYS, separator: str = ",",
          decimal: str = ".", end: str = "\n") -> str:
    """One file per variable: a column per station."""
    lines = [separator.join(["date", *stations])]
    for day, row in zip(days, np.broadcast_to(values.T, (len(stations), len(days))).T, strict=True):
        lines.append(separator.join([str(day), *("" if np.isnan(cell) else f"{cell:.6g}".replace(".", decimal)
                                                 for cell in row)]))
    (folder / name).write_bytes((end.join(lines) + end).encode())
    return name


def weather(folder: Path, **changed) -> list:
    """Five tables of the same three stations."""
    place = coordinates(folder)
    values = {"precipitation": (RAIN, "mm"), "air_temperature": (WARMTH, "degC"),
              "relative_humidity": (np.full(20, 70.0), "%"), "wind_speed": (np.full(20, 2.0), "m s-1"),
              "sunshine_duration": (np.full(20, 6.0), "h")}
    entries = []
    for name, (series, unit) in values.items():
        cells = changed.get(name, series)
        entries.append(table(file=wide(folder, f"{name}.csv", np.asarray(cells, dtype=float)), variable=name,
                             unit=unit, coordinates=place))
    return entries


def read(entries, folder, zone=0):
    notes: list[str] = []
    records, place, places = read_stations(entries, folder, zone, terrain(), notes)
    return records, place, places, notes


def built(path: Path, name: str) -> np.ndarray:
    with netCDF4.Dataset(path) as file:
        return np.ma.filled(file[name][:].astype(float), np.nan)
