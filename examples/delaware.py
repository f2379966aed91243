"""Basin of the Delaware river from the parameter files of the National Hydrologic Model (PRMS).

    python examples/delaware.py DATA -o delaware.nc

DATA is a folder with the files of the domain ``drb_2yr`` of github.com/EC-USGS/pywatershed: ``parameters_*.nc``, the
weather in inches and degrees Fahrenheit, and ``discharge_ft3_s.csv`` whose columns name the gauges. What that model
fitted to discharge (adjusted precipitation, soil moisture capacities, groundwater coefficients) is left alone.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from wepl.basin.dataset import Basin
from wepl.build.importers import estimated_weather, from_tables
from wepl.units import convert

TEXTURE = {1: "sand", 2: "loam", 3: "clay"}
COVER = {0: "bare", 1: "grass", 2: "shrub", 3: "tree", 4: "evergreen_needleleaf_forest"}
EVERGREEN_SHARE = 0.5  # of the summer's cover in winter: above it a forest is mixed, below it deciduous


def delaware(folder: Path) -> Basin:
    """Daily basin, 1979-1980, with a reach per segment and a gauge per column of the discharge table."""
    with (_open(folder, "dis_both") as both, _open(folder, "PRMSChannel") as channel,
          _open(folder, "PRMSCanopy") as canopy, _open(folder, "PRMSSoilzone") as soil,
          _open(folder, "PRMSRunoff") as runoff):
        subbasins = read_segments(both, channel)
        responses = read_responses(both, channel, canopy, soil, runoff)
        names = pd.read_csv(folder / "discharge_ft3_s.csv", nrows=0).columns[1:]
        segment = dict(zip(both["poi_gage_id"].values.astype(str).tolist(), both["poi_gage_segment"].values.tolist(),
                           strict=True))
    cells = responses["cell"]
    latitude = pd.Series(responses["latitude"].to_numpy(), index=cells)
    elevation = pd.Series(responses["elevation"].to_numpy(), index=cells)
    # Units whose water leaves the basin without passing a segment have no reach here.
    responses = responses[responses["subbasin"] > 0].reset_index(drop=True)
    return from_tables("Delaware river", subbasins, responses, read_weather(folder, latitude), elevation,
                       gauges={name: int(segment[name]) for name in names}, band_relief=200.0,
                       options={"wind_height": 2.0})


def _open(folder: Path, name: str) -> xr.Dataset:
    return xr.open_dataset(folder / f"parameters_{name}.nc", decode_times=False, decode_timedelta=False)


def read_segments(both: xr.Dataset, channel: xr.Dataset) -> pd.DataFrame:
    """Reaches; a segment is named by its place from 1, as the other tables name it."""
    below = both["tosegment"].values
    return pd.DataFrame({
        "downstream": np.where(below > 0, below, -1), "reach_length": both["seg_length"].values,
        "reach_width": both["seg_width"].values, "reach_slope": both["seg_slope"].values,
        "reach_manning": channel["mann_n"].values}, index=np.arange(1, below.size + 1))


def read_responses(both: xr.Dataset, channel: xr.Dataset, canopy: xr.Dataset, soil: xr.Dataset,
                   runoff: xr.Dataset) -> pd.DataFrame:
    """Response units, their land as shares: ponds, sealed ground, and the main cover over a ground of grass."""
    ponds = runoff["dprst_frac"].values
    sealed = np.minimum(runoff["hru_percent_imperv"].values, 1.0 - ponds)
    rest = 1.0 - ponds - sealed
    table = pd.DataFrame({
        "subbasin": channel["hru_segment"].values, "area": convert(both["hru_area"].values, "acre", "km2"),
        "elevation": both["hru_elev"].values, "slope": both["hru_slope"].values, "latitude": both["hru_lat"].values,
        "longitude": both["hru_lon"].values, "texture": [TEXTURE[kind] for kind in soil["soil_type"].values],
        "cell": both["nhm_id"].values, "water": ponds, "urban": sealed})
    dense, winter = canopy["covden_sum"].values, canopy["covden_win"].values
    cover = np.array([COVER[kind] for kind in canopy["cov_type"].values])
    leaves = np.where(winter > EVERGREEN_SHARE * dense, "mixed_forest", "deciduous_forest")
    cover = np.where(cover == "tree", leaves, cover)
    for kind in ("bare", "grass", "shrub", "mixed_forest", "deciduous_forest", "evergreen_needleleaf_forest"):
        table[kind] = rest * dense * (cover == kind)
    table["bare"] += rest * (1.0 - dense) * (cover == "bare")
    table["grass"] += rest * (1.0 - dense) * (cover != "bare")
    return table


def read_weather(folder: Path, latitude: pd.Series) -> dict[str, pd.DataFrame]:
    """Weather by unit in degC, mm and %; wind and radiation as estimated."""
    frames = {}
    for name in ("prcp", "tmax", "tmin"):
        with xr.open_dataset(folder / f"{name}.nc") as data:
            frames[name] = data[name].transpose("time", "nhm_id").to_pandas()[latitude.index].astype(float)
    celsius = [(frames[name] - 32.0) / 1.8 for name in ("tmax", "tmin")]
    weather = estimated_weather(*celsius, latitude)
    weather["precipitation"] = 25.4 * frames["prcp"]
    weather["relative_humidity"] = read_humidity(folder / "rhavg.cbh.gz", latitude.index)
    return weather


def read_humidity(path: Path, cells: pd.Index) -> pd.DataFrame:
    """A table of PRMS: a line of text, the name with the number of columns, a line of #, then date and values."""
    with gzip.open(path, "rt") as file:
        rows = np.loadtxt(file, skiprows=3)
    days = pd.to_datetime({"year": rows[:, 0], "month": rows[:, 1], "day": rows[:, 2]})
    return pd.DataFrame(rows[:, 6:], index=pd.DatetimeIndex(days), columns=cells)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("delaware.nc"))
    arguments = parser.parse_args()
    delaware(arguments.folder).to_netcdf(arguments.output)
