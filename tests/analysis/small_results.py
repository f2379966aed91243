"""A result small enough to check by hand: three sub-basins, four units, two gauges, two years of days."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from wepl import registry
from wepl.basin import polygons

# Sub-basins 10 and 20 flow into 30. Unit areas, km2: 10 has one of 1 and one of 3, 20 has 2, 30 has 4.
AREAS = np.array([1.0, 3.0, 2.0, 4.0])
SUBBASIN_OF_UNIT = np.array([10, 10, 20, 30])
SQUARES = [(10, [np.array([[0, 1], [1, 1], [1, 2], [0, 2], [0, 1]], float)]),
           (20, [np.array([[1, 1], [2, 1], [2, 2], [1, 2], [1, 1]], float)]),
           (30, [np.array([[0, 0], [2, 0], [2, 1], [0, 1], [0, 0]], float),
                 np.array([[0.5, 0.2], [0.5, 0.6], [0.9, 0.6], [0.9, 0.2], [0.5, 0.2]], float)])]


def small_result(outlines: bool = False, places: bool = True) -> xr.Dataset:
    """Discharge of reach 30 is the sum of 10 and 20; precipitation of a unit is its number, mm each day."""
    time = pd.date_range("2001-01-01", "2002-12-31", freq="D")
    count = len(time)
    season = 2.0 + np.sin(2.0 * np.pi * (time.day_of_year.to_numpy() - 1) / 365.0)
    upper = np.stack([season, 0.5 * season], axis=1)
    discharge = np.concatenate([upper, upper.sum(axis=1, keepdims=True)], axis=1)
    each_day = np.ones((count, 1))
    flux = {"units": "mm", "cell_methods": "time: sum area: mean"}
    data = xr.Dataset(
        {"discharge": (("time", "subbasin"), discharge, {"units": "m3 s-1", "long_name": "discharge at the reach's end",
                                                         "cell_methods": "time: mean"}),
         "gauge_discharge": (("time", "gauge"), discharge[:, [2, 0]], {"units": "m3 s-1"}),
         "lateral_inflow": (("time", "subbasin"), each_day * [1.0, 2.0, 4.0], {"units": "m3 s-1"}),
         "precipitation_depth": (("time", "unit"), (each_day * [1.0, 2.0, 3.0, 4.0]).astype("f4"),
                                 {"long_name": "precipitation", **flux}),
         "evapotranspiration": (("time", "unit"), (each_day * [0.5, 0.5, 1.0, 1.0]).astype("f4"),
                                {"long_name": "evapotranspiration", **flux}),
         "soil_moisture": (("time", "soil_layer", "unit"),
                           np.broadcast_to([[0.1, 0.3, np.nan, 0.2], [0.2, 0.2, np.nan, 0.4]], (count, 2, 4)),
                           {"units": "m3 m-3", "long_name": "soil water"}),
         "downstream": ("subbasin", [30, 30, -1]),
         "unit_subbasin": ("unit", SUBBASIN_OF_UNIT), "unit_area": ("unit", AREAS, {"units": "km2"}),
         "unit_elevation": ("unit", [400.0, 300.0, 200.0, 100.0], {"units": "m", "long_name": "elevation"}),
         "gauge_subbasin": ("gauge", [30, 10]),
         "balance_depth": ("balance_row", [100.0, 60.0]), "balance_volume": ("balance_row", [1e6, 6e5])},
        coords={"time": time, "subbasin": [10, 20, 30], "unit": [1, 2, 3, 4], "gauge": [1, 2],
                "soil_layer": [1, 2], "gauge_name": ("gauge", ["Mouth", "Upper"]),
                "balance_term": ("balance_row", ["precipitation_depth", "outflow"])},
        attrs={"step_seconds": 86400, "wepl_content": "result"})
    for share, name in enumerate(registry.EVAPORATION):
        data[name] = ("time", "unit"), np.full((count, 4), 0.1 * share), {"long_name": name, **flux}
    if places:
        data = data.assign_coords(
            subbasin_longitude=("subbasin", [0.5, 1.5, 1.0]), subbasin_latitude=("subbasin", [1.5, 1.5, 0.5]),
            unit_longitude=("unit", [0.4, 0.6, 1.5, 1.0]), unit_latitude=("unit", [1.4, 1.6, 1.5, 0.5]))
    if outlines:
        for name, (dims, values, attributes) in polygons.encode(SQUARES).items():
            data[name] = dims, values, attributes
    return data
