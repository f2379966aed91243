"""Maps and weather of the Cance in the form that ``cance.toml`` names, from the example data of smash.

    python examples/cance_maps.py DATA FOLDER

Writes ``directions.tif``, ``accumulation.tif``, ``rain.nc``, ``climate.csv`` and ``stations.csv`` into FOLDER.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import rasterio
import xarray as xr
from rasterio.transform import from_origin

from wepl.physics.atmosphere import extraterrestrial_period

CRS, CELL = "EPSG:2154", 1000.0
PLACE = {"lon": 4.65, "lat": 45.22, "elevation": 650.0}
# Of the middle of each month, September to January; a guess for 650 m on the western side of the Rhone.
MONTHS = {"2014-09-15": 15.5, "2014-10-15": 11.5, "2014-11-15": 6.0, "2014-12-15": 2.5, "2015-01-15": 1.5}
HUMIDITY, WIND, CLEARNESS = 80.0, 2.0, 0.45  # %; m/s at 2 m (FAO-56); share of the radiation outside the atmosphere


def write_maps(data: Path, folder: Path) -> None:
    """Write all files."""
    folder.mkdir(exist_ok=True)
    with xr.open_dataset(data / "Cance_mesh.nc") as mesh:
        corner = from_origin(float(mesh["x"][0]) - CELL / 2, float(mesh["y"][0]) + CELL / 2, CELL, CELL)
        for name, variable, scale in (("directions", "flwdir", 1.0), ("accumulation", "flwacc", 1e-6)):
            values = (scale * mesh[variable].values).astype(np.float32)
            with rasterio.open(folder / f"{name}.tif", "w", driver="GTiff", height=values.shape[0],
                               width=values.shape[1], count=1, dtype="float32", crs=CRS, transform=corner) as target:
                target.write(values, 1)
    with xr.open_dataset(data / "Cance_forcing_descriptors.nc", decode_timedelta=False) as source:
        # An hour of 19 December 2014 is missing; it gets the mean of its neighbours.
        times = pd.date_range(source["time"].values[0], source["time"].values[-1], freq="1h")
        depth = source["prcp"].interp(time=times).values.astype(np.float32)
        rain = xr.Dataset({"rain": (("time", "y", "x"), depth,
                                    {"units": "mm", "long_name": "precipitation in the step"})},
                          coords={"time": times,
                                  "y": ("y", source["y"].values, _axis("y")),
                                  "x": ("x", source["x"].values, _axis("x"))})
        with rasterio.Env():
            rain["crs"] = ((), 0, {"crs_wkt": rasterio.crs.CRS.from_string(CRS).to_wkt(), "grid_mapping_name":
                                   "lambert_conformal_conic"})
        rain["rain"].attrs["grid_mapping"] = "crs"
        rain.to_netcdf(folder / "rain.nc", encoding={"rain": {"zlib": True}})
        climate(times).to_csv(folder / "climate.csv", index=False)
    pd.DataFrame([{"id": "climate", **PLACE}]).to_csv(folder / "stations.csv", index=False)


def _axis(name: str) -> dict[str, str]:
    return {"units": "m", "standard_name": f"projection_{name}_coordinate"}


def climate(times: pd.DatetimeIndex) -> pd.DataFrame:
    """Hourly weather without weather: the season's temperature, and the sun behind a steady haze."""
    known = pd.DatetimeIndex(list(MONTHS))
    temperature = np.interp(times.to_numpy().astype("int64"), known.as_unit(times.unit).to_numpy().astype("int64"),
                            list(MONTHS.values()))
    latitude, longitude = np.radians(PLACE["lat"]), np.radians(PLACE["lon"])
    sun = [extraterrestrial_period(float(time.day_of_year), latitude, longitude, time.hour + 0.5, 1.0)
           for time in times]
    return pd.DataFrame({"time": times.strftime("%Y-%m-%d %H:%M"), "temperature [degC]": temperature.round(2),
                         "humidity [%]": HUMIDITY, "wind [m s-1]": WIND,
                         "shortwave [W m-2]": (CLEARNESS * np.array(sun)).round(2)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    write_maps(arguments.data, arguments.folder)
