"""What the tutorial builds a basin from: an invented valley of some 40 km2, and weather of the sample.

    python examples/tutorial_valley.py FOLDER

writes elevation model, weather, ``build.toml`` and ``calibrate.toml`` into FOLDER. Nothing of it is a real place.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import rasterio
import xarray as xr

SAMPLE = Path(__file__).resolve().parent.parent / "data" / "poyang_sample" / "basin.nc"
CELLS, SIZE = 140, 50.0
MIDDLE = 70
WEST, NORTH = 400_000.0, 3_200_000.0
COLUMNS = {"precipitation": "rain [mm]", "air_temperature": "temperature [degC]", "relative_humidity": "humidity [%]",
           "wind_speed": "wind [m s-1]", "sunshine_duration": "sun [h]"}

BUILD = """\
title = "Tutorial valley"

[terrain]
dem = "dem.tif"
stream_threshold_km2 = 1.0
subbasin_area_km2 = 5.0
band_relief_m = 100.0

[[gauges]]
name = "bridge"
x = {x}
y = {y}
crs = "EPSG:32650"

[land]
shares = {{ evergreen_broadleaf_forest = 0.55, grass = 0.15, paddy = 0.20, dry_crop = 0.07, urban = 0.03 }}

[soil]
texture = "clay loam"

[forcing]
step = "1d"

[[forcing.stations]]
file = "weather.csv"
time = "date"
columns = {{ {columns} }}
coordinates = "stations.csv"
"""

CALIBRATE = """\
title = "Tutorial valley"
basin = "valley.nc"

[[observed]]
gauge = "bridge"
file = "observed.csv"

[period]
calibration = [2010-07-01, 2011-06-30]
validation = [2011-07-01, 2012-12-31]

[parameters]
conductivity_factor = { low = 0.1, high = 10, scale = "log" }
interflow_anisotropy = { low = 20, high = 2000, scale = "log" }

[algorithm]
name = "cmaes"
evaluations = 64
population = 8
seed = 1
"""


def elevation() -> np.ndarray:
    """Heights, m: a valley that falls southwards between two ridges, with side valleys."""
    y, x = np.mgrid[0:CELLS, 0:CELLS] * SIZE
    across = (x - SIZE * MIDDLE) / (SIZE * MIDDLE)
    along = 1.0 - y / y.max()
    spurs = 0.5 + 0.5 * np.cos(2.0 * np.pi * y / 1750.0 + 2.0 * across)
    rim = 1.0 + 2.0 * np.maximum(0.0, 0.15 - y / y.max())
    return 40.0 + 160.0 * along + 420.0 * across**2 * rim + 120.0 * np.abs(across) * spurs


def write_valley(folder: Path) -> None:
    """Write all files of the valley."""
    folder.mkdir(parents=True, exist_ok=True)
    heights = elevation()
    with rasterio.open(folder / "dem.tif", "w", driver="GTiff", width=CELLS, height=CELLS, count=1, dtype="float32",
                       crs="EPSG:32650", transform=rasterio.transform.from_origin(WEST, NORTH, SIZE, SIZE)) as file:
        file.write(heights.astype("float32"), 1)
    with xr.open_dataset(SAMPLE) as sample:
        weather = sample[list(COLUMNS)].isel(cell=0)
        height = float(sample["cell_elevation"][0])
        table = weather.to_dataframe()[list(COLUMNS)].rename(columns=COLUMNS).round(2)
    table.to_csv(folder / "weather.csv", index_label="date")
    (folder / "stations.csv").write_text(f"id,lon,lat,elevation\nweather,116.0,28.9,{height:.0f}\n", encoding="utf-8")
    columns = ", ".join(f'{name} = "{column}"' for name, column in COLUMNS.items())
    gauge = {"x": WEST + SIZE * (MIDDLE + 0.5), "y": NORTH - SIZE * (CELLS - 4)}
    (folder / "build.toml").write_text(BUILD.format(columns=columns, **gauge), encoding="utf-8")
    (folder / "calibrate.toml").write_text(CALIBRATE, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    write_valley(parser.parse_args().folder)
