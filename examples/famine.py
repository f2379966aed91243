"""Basin of the Famine river (Quebec) from the response units of a Raven model.

    python examples/famine.py DATA -o famine.nc

DATA is a folder with ``hru_Famine_final.zip`` (polygons made by BasinMaker) and ``famine_input.nc`` (three stations,
discharge), both from github.com/Ouranosinc/raven-testdata. Nothing is fitted to discharge.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from wepl.basin.dataset import Basin
from wepl.build.importers import estimated_weather, from_tables

LAND = {"AGRICULTURE": "dry_crop", "BARE_SOIL": "bare", "CONIFEROUS_FOREST": "evergreen_needleleaf_forest",
        "DECIDUOUS_FOREST": "deciduous_forest", "IMPERMEABLE_SURFACE": "urban", "PEATLAND": "shrub", "WATER": "water",
        "WETLAND": "grass"}
SOIL = {"SAND": "sand", "LOAMY_SAND": "loamy sand"}
LEAST_SLOPE = 1e-4


def famine(folder: Path) -> Basin:
    """Daily basin, 1998-2008, with its gauge at the outlet."""
    units = read_polygons(folder / "hru_Famine_final.zip")
    subbasins = read_reaches(units)
    with xr.open_dataset(folder / "famine_input.nc") as data:
        stations = data.load()
    places = pd.DataFrame({name: stations[name].values for name in ("lat", "lon", "alt")})
    weather = station_weather(stations, places)
    responses = pd.DataFrame({
        "subbasin": units["SubId"], "area": units["HRU_Area"] / 1e6, "elevation": units["HRU_E_mean"],
        "slope": np.tan(np.radians(units["HRU_S_mean"])), "latitude": units["HRU_CenY"], "longitude": units["HRU_CenX"],
        "texture": units["TOPSOIL"].map(SOIL), "cell": nearest(units, places)})
    for kind in dict.fromkeys(LAND.values()):
        responses[kind] = (units["LAND_USE_C"].map(LAND) == kind).astype(float)
    outlet = int(subbasins.index[subbasins["downstream"] == -1][0])
    return from_tables("Famine river", subbasins, responses, weather, places["alt"].astype(float),
                       gauges={"Famine": outlet}, options={"wind_height": 2.0})


def read_polygons(archive: Path) -> pd.DataFrame:
    """Attributes of the polygons."""
    import fiona

    name = next(name for name in fiona.listlayers(f"zip://{archive}"))
    with fiona.open(f"zip://{archive}", layer=name) as source:
        return pd.DataFrame([dict(feature.properties) for feature in source])


def read_reaches(units: pd.DataFrame) -> pd.DataFrame:
    """Sub-basins and their reaches.

    The slopes given would let the main river fall five times the relief of the basin, so a reach falls no more than
    from the mean elevation of its sub-basin to that of the next. A lake has no length, width or roughness in the table:
    it gets the length of its side, and the width of the reach below.
    """
    table = units.groupby("SubId").first()
    below = table["DowSubId"].where(table["DowSubId"].isin(table.index), -1).astype(int)
    # The polygons of a sub-basin with a lake say so only where the lake is.
    lake_area = units.groupby("SubId")["LakeArea"].max()
    lake = units.groupby("SubId")["Lake_Cat"].max() == 1
    length = table["RivLength"].where(~lake, np.sqrt(lake_area * 1e6)).clip(lower=100.0)
    next_elevation = below.map(table["MeanElev"]).fillna(table["MeanElev"].min())
    fall = (table["MeanElev"] - next_elevation) / length
    width = table["BkfWidth"].where(~lake, below.map(table["BkfWidth"]))
    return pd.DataFrame({
        "downstream": below, "reach_length": length, "reach_width": width,
        "reach_slope": np.minimum(table["RivSlope"], fall).clip(lower=LEAST_SLOPE),
        "reach_manning": table["Ch_n"].where(~lake, below.map(table["Ch_n"]))})


def station_weather(stations: xr.Dataset, places: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Precipitation (mm d-1) as recorded, the rest from the extremes of temperature."""
    frames = {name: pd.DataFrame(stations[name].transpose("time", "station").values,
                                 index=pd.DatetimeIndex(stations["time"].values), columns=places.index)
              for name in ("pr", "tasmax", "tasmin")}
    return {"precipitation": frames["pr"], **estimated_weather(frames["tasmax"], frames["tasmin"], places["lat"])}


def nearest(units: pd.DataFrame, places: pd.DataFrame) -> np.ndarray:
    """Station nearest to each unit."""
    east = np.cos(np.radians(units["HRU_CenY"].to_numpy()[:, None])) * (
        units["HRU_CenX"].to_numpy()[:, None] - places["lon"].to_numpy())
    north = units["HRU_CenY"].to_numpy()[:, None] - places["lat"].to_numpy()
    return places.index.to_numpy()[np.hypot(east, north).argmin(axis=1)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("famine.nc"))
    arguments = parser.parse_args()
    famine(arguments.folder).to_netcdf(arguments.output)
