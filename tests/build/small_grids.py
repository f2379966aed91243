"""Gridded weather over the small terrain in the form of two well-known products, and what a build makes of it."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import xarray as xr
from rasterio.warp import transform
from small_terrain import BOTTOM, CELL, CRS, LEFT, RIGHT, SIZE, TOP, forcing, terrain

from wepl.build.forcing import build_forcing

HOURS = 72
(WEST, EAST), (SOUTH, NORTH) = transform(CRS, "EPSG:4326", [LEFT, RIGHT], [BOTTOM, TOP])
LON = np.array([WEST - 0.01, 0.5 * (WEST + EAST) + 0.003, EAST + 0.012])
LAT = np.array([NORTH + 0.01, 0.5 * (SOUTH + NORTH) - 0.002, SOUTH - 0.014])
SHAPE = (HOURS + 1, 3, 3)
RAIN = np.random.default_rng(7).gamma(0.3, 1e-3, SHAPE)  # m in the hour that starts at each time
SUN = np.maximum(0.0, np.sin(2.0 * np.pi * (np.arange(HOURS + 1) - 6) / 24))[:, None, None] * np.full(SHAPE, 2e6)
WARMTH = 285.0 + np.random.default_rng(8).normal(0.0, 3.0, SHAPE)
DEW = WARMTH - 4.0
GROUND = np.array([[900.0, 500.0, 100.0]] * 3)


def _running(hourly: np.ndarray) -> np.ndarray:
    """Sums since 00 UTC at the end of each hour, as ERA5-Land gives them; the value of a time is the hour before it."""
    total = np.zeros_like(hourly)
    for time in range(1, hourly.shape[0]):
        before = total[time - 1] if (time - 1) % 24 else 0.0
        total[time] = before + hourly[time - 1]
    return total


def era5_land(path: Path, hours: slice = slice(None), names: str = "time", **changed) -> Path:
    """Like the reanalysis: sums since 00 UTC, instants, attributes of the Copernicus store."""
    values = {"tp": (_running(RAIN), "m"), "ssrd": (_running(SUN), "J m**-2"), "strd": (
        _running(np.full(SHAPE, 300.0 * 3600.0)), "J m**-2"), "t2m": (WARMTH, "K"), "d2m": (DEW, "K"),
        "u10": (np.full(SHAPE, 3.0), "m s**-1"), "v10": (np.full(SHAPE, -4.0), "m s**-1")}
    values |= changed
    stamps = np.arange(HOURS + 1)[hours]
    data = xr.Dataset({name: ((names, "latitude", "longitude"), array[hours], {"units": unit})
                       for name, (array, unit) in values.items()})
    data["z"] = (("latitude", "longitude"), GROUND * 9.80665, {"units": "m**2 s**-2", "standard_name": "geopotential"})
    data[names] = ((names,), stamps, {"units": "hours since 2010-01-01", "calendar": "proleptic_gregorian"})
    data["latitude"] = (("latitude",), LAT, {"units": "degrees_north"})
    data["longitude"] = (("longitude",), LON, {"units": "degrees_east"})
    data.to_netcdf(path)
    return path


def shares() -> np.ndarray:
    """Share of each unit in each cell, counted at the terrain's cells one by one."""
    columns, rows = np.meshgrid(np.arange(SIZE), np.arange(SIZE))
    x, y = transform(CRS, "EPSG:4326", (LEFT + CELL * (columns.ravel() + 0.5)).tolist(),
                     (TOP - CELL * (rows.ravel() + 0.5)).tolist())
    nearest = [np.abs(np.asarray(values)[:, None] - axis).argmin(axis=1) for values, axis in ((y, LAT), (x, LON))]
    cell = nearest[0] * 3 + nearest[1]
    unit = terrain().unit_map.ravel()
    counts = np.array([np.bincount(cell[unit == number], minlength=9) for number in (1, 2, 3)], dtype=float)
    return counts / counts.sum(axis=1, keepdims=True)


def built(path: Path, name: str) -> np.ndarray:
    with netCDF4.Dataset(path) as file:
        return np.asarray(file[name][:], dtype=float)


def build(folder: Path, *entries, **more):
    (folder / "out.nc").unlink(missing_ok=True)
    return build_forcing(forcing(grids=list(entries), **({"step": "1h"} | more)), terrain(), folder, folder / "out.nc")


def cmfd(path: Path, step: int = 3, **more) -> Path:
    """Like the China Meteorological Forcing Dataset: means of steps, specific humidity, pressure."""
    n = 24
    shape = (n, 3, 3)
    values = {"prec": (np.full(shape, 0.5), "mm hr-1"), "temp": (np.full(shape, 290.0), "K"),
              "shum": (np.full(shape, 0.008), "kg kg-1"), "pres": (np.full(shape, 9.5e4), "Pa"),
              "wind": (np.full(shape, 2.5), "m s-1"), "srad": (np.full(shape, 150.0), "W m-2"),
              "lrad": (np.full(shape, 310.0), "W m-2")} | more
    data = xr.Dataset({name: (("time", "lat", "lon"), array, {"units": unit})
                       for name, (array, unit) in values.items()})
    data["time"] = (("time",), step * np.arange(n), {"units": "hours since 1900-01-01 00:00:0.0"})
    data["lat"], data["lon"] = (("lat",), LAT[::-1]), (("lon",), LON)
    data.to_netcdf(path)
    return path
