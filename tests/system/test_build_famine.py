"""The Famine river from the response units of a Raven model, by ``examples/famine.py``.

Facts: 704 km2 (SA_Up of the outlet's polygons), 82 sub-basins, discharge of 1998-2008 at the outlet.
"""

from __future__ import annotations

import pandas as pd
import pytest
import xarray as xr
from built import agreement, discharge, example, gauge_areas, outlets, upstream_areas

from wepl.basin.dataset import Basin


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("famine")


@pytest.fixture(scope="module")
def path(shared_data, folder):
    example("famine").famine(shared_data / "famine").to_netcdf(folder / "basin.nc")
    return folder / "basin.nc"


@pytest.fixture(scope="module")
def basin(path):
    return Basin.open(path)


def test_area_and_network(basin):
    """The polygons' areas are rounded to 0.01 km2, 453 of them."""
    assert basin.parameters.sizes["subbasin"] == 82
    assert outlets(basin) == [159]
    assert upstream_areas(basin)[159] == pytest.approx(704.07, rel=0.001)
    assert gauge_areas(basin)["Famine"] == pytest.approx(704.07, rel=0.001)


def test_areas_above_each_reach(shared_data, basin):
    """The polygons name the area above each sub-basin's outlet."""
    given = example("famine").read_polygons(shared_data / "famine" / "hru_Famine_final.zip")
    given = given.groupby("SubId")["SA_Up"].first()
    found = pd.Series(upstream_areas(basin))
    assert (found.loc[given.index] - given).abs().max() < 0.5


def test_land(basin):
    """Coniferous 32.8 % and deciduous forest 47.7 % of the polygons' area, water 1.0 %, fields 11.4 %."""
    values = basin.parameters
    area = values["unit_area"].values / values["unit_area"].values.sum()
    share = dict(zip(("water", "soil", "irrigated", "fields", "sealed"), area @ values["land_fraction"].values,
                     strict=True))
    tall = area @ (values["land_fraction"].values[:, 1] * values["tall_fraction"].values)
    assert share["water"] == pytest.approx(0.0103, abs=0.0002)
    assert share["fields"] == pytest.approx(0.1141, abs=0.0002)
    assert tall == pytest.approx(0.328 + 0.477, abs=0.001)


def test_no_reach_falls_more_than_the_basin(basin):
    """The slopes of the table would let the rivers fall several times the relief of 340 m."""
    values = basin.parameters
    fall = dict(zip(values["subbasin"].values.tolist(),
                    (values["reach_slope"].values * values["reach_length"].values).tolist(), strict=True))
    below = dict(zip(values["subbasin"].values.tolist(), values["downstream"].values.tolist(), strict=True))

    def to_outlet(at: int) -> float:
        return 0.0 if at == -1 else fall[at] + to_outlet(below[at])

    assert max(to_outlet(start) for start in fall) < 340.0


def test_same_input_same_bytes(shared_data, path, tmp_path):
    example("famine").famine(shared_data / "famine").to_netcdf(tmp_path / "basin.nc")
    assert (tmp_path / "basin.nc").read_bytes() == path.read_bytes()


def test_run(shared_data, folder, path):
    """1998 warms the model up. Three stations, of which one is near the basin: a seventh of the volume is asked."""
    table, closure = discharge(path, folder / "result.nc")
    with xr.open_dataset(shared_data / "famine" / "famine_input.nc") as data:
        measured = pd.Series(data["qobs"].values, index=data.indexes["time"]).loc["1999":]
    daily = agreement(table["Famine"], measured)
    monthly = agreement(table["Famine"].resample("MS").mean(), measured.resample("MS").mean())
    print(f"\nFamine 1999-2008, closure {closure:.1e}\n  daily: {daily.text()}\n  monthly: {monthly.text()}")
    assert closure <= 1e-9
    assert 0.85 < daily.kling_gupta.bias < 1.15
    assert daily.kling_gupta.efficiency > 0.55
