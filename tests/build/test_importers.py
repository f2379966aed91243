"""A basin from tables of response units: bands, shares, reaches without land, and weather from extremes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from wepl.build.importers import estimated_weather, from_tables
from wepl.errors import InputError

DAYS = pd.date_range("2001-01-01", periods=4)


def tables() -> dict:
    """Three sub-basins in a chain, the middle one without land; the upper one has three units in two bands."""
    subbasins = pd.DataFrame({"downstream": [2, 3, -1], "reach_length": 1000.0, "reach_width": 5.0,
                              "reach_slope": 0.01}, index=[1, 2, 3])
    responses = pd.DataFrame({
        "subbasin": [1, 1, 1, 3], "area": [1.0, 3.0, 2.0, 4.0], "elevation": [200.0, 480.0, 500.0, 100.0],
        "slope": 0.1, "latitude": 45.0, "longitude": 5.0, "texture": ["loam", "loam", "clay", "loam"],
        "cell": ["a", "a", "b", "b"], "grass": [1.0, 0.5, 0.0, 1.0], "deciduous_forest": [0.0, 0.5, 1.0, 0.0]})
    frame = pd.DataFrame({"a": 1.0, "b": 6.0}, index=DAYS)
    forcing = {"precipitation": frame, "air_temperature": frame, "relative_humidity": frame, "wind_speed": frame,
               "shortwave_radiation": frame}
    return {"title": "chain", "subbasins": subbasins, "responses": responses, "forcing": forcing,
            "cell_elevation": pd.Series({"a": 300.0, "b": 400.0})}


def test_bands_and_means():
    """Units within 150 m of each other share a band: 480 and 500 m, by area 3 and 2."""
    values = from_tables(**tables(), band_relief=150.0).parameters
    upper = values.isel(unit=values["unit_subbasin"].values == 1)
    assert upper["unit_order"].values.tolist() == [1, 2]
    assert upper["unit_area"].values == pytest.approx([5e6, 1e6])
    assert upper["unit_elevation"].values == pytest.approx([488.0, 200.0])
    assert upper["tall_fraction"].values == pytest.approx([0.7, 0.0])
    assert upper["saturated_water_content"].values[0] == pytest.approx(0.6 * 0.43 + 0.4 * 0.38)


def test_cells_are_means_of_units():
    basin = from_tables(**tables(), band_relief=150.0)
    assert basin.forcing.read(0, 4)[0, 0, :2] * 86400e3 == pytest.approx([3.0, 1.0])
    assert basin.parameters["cell_elevation"].values[:2] == pytest.approx([340.0, 300.0])


def test_a_reach_without_land_shares_its_neighbours():
    """The one below gives a hundredth, and no area is lost."""
    values = from_tables(**tables()).parameters
    area = dict(zip(values["unit_subbasin"].values.tolist(), values["unit_area"].values.tolist(), strict=True))
    assert values["subbasin"].values.tolist() == [1, 2, 3]
    assert (area[2], area[3]) == (pytest.approx(0.04e6), pytest.approx(3.96e6))
    assert values["unit_area"].values.sum() == pytest.approx(10e6)


@pytest.mark.parametrize(("table", "change", "expected"), [
    ("responses", {"texture": None}, "texture is missing"),
    ("responses", {"subbasin": [1, 1, 1, 7]}, "subbasin 7 is not there"),
    ("responses", {"cell": ["a", "a", "b", "c"]}, "cell c is not there"),
    ("subbasins", {"lenght": 3.0}, "lenght: no parameter of sub-basins"),
])
def test_refused(table, change, expected):
    given = tables()
    for name, values in change.items():
        given[table] = given[table].drop(columns=name) if values is None else given[table].assign(**{name: values})
    with pytest.raises(InputError, match=expected):
        from_tables(**given)


def test_weather_from_extremes():
    """FAO-56 example 20 (Lyon, 45.72 N, July): Tmax 26.6, Tmin 14.8, Rs 22.3 MJ m-2 d-1 (0.16 times the root)."""
    days = pd.DatetimeIndex(["2001-07-15"])
    high, low = (pd.DataFrame({"Lyon": [value]}, index=days) for value in (26.6, 14.8))
    weather = estimated_weather(high, low, pd.Series({"Lyon": 45.72}))
    assert weather["air_temperature"].iloc[0, 0] == pytest.approx(20.7)
    assert weather["shortwave_radiation"].iloc[0, 0] * 0.0864 == pytest.approx(22.3, abs=0.1)
    vapour = 0.6108 * np.exp(17.27 * 20.7 / (20.7 + 237.3)) * weather["relative_humidity"].iloc[0, 0] / 100.0
    assert vapour == pytest.approx(1.68, abs=0.01)  # example 20: actual vapour pressure from Tmin, kPa
