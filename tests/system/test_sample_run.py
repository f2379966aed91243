"""The full sample with default parameters against the published water balance of the Poyang Lake basin.

Bands: design facts of docs/sample.md (Hu and Ruan 2011; hydrological yearbook figures; Xu et al. 2014 for
evapotranspiration).
"""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from wepl.run.simulation import run


@pytest.fixture(scope="module")
def result(sample_path, tmp_path_factory):
    output = tmp_path_factory.mktemp("sample") / "sample.nc"
    report = run(sample_path, output=output, quiet=True, variables=("evapotranspiration", "precipitation_depth"))
    with xr.open_dataset(output) as data, xr.open_dataset(sample_path) as basin:
        area = basin["unit_area"].values * 1e6
        years = data.sizes["time"] / 365.25
        depth = {name: float((data[name].sum("time").values * area).sum() / area.sum() / years)
                 for name in ("evapotranspiration", "precipitation_depth")}
        outlet = basin["downstream"].values < 0
        hukou = data["discharge"].values[:, outlet].sum(axis=1)
        gauges = {name: data["gauge_discharge"].values[:, place].mean()
                  for place, name in enumerate(str(value) for value in data["gauge_name"].values)}
        month = data["time"].dt.month.values
    runoff = hukou.mean() * 86400 * 365.25 / area.sum() * 1000
    return dict(depth, runoff=runoff, hukou=hukou, month=month, gauges=gauges, report=report)


def test_balance_closes(result):
    assert result["report"].balance.closure <= 1e-9


def test_precipitation(result):
    assert 1600 <= result["precipitation_depth"] <= 1700


def test_runoff_and_coefficient(result):
    assert 850 <= result["runoff"] <= 1000
    assert 0.52 <= result["runoff"] / result["precipitation_depth"] <= 0.62


def test_evapotranspiration(result):
    assert 640 <= result["evapotranspiration"] <= 800


def test_season(result):
    monthly = np.array([result["hukou"][result["month"] == month].mean() for month in range(1, 13)])
    wet = result["hukou"][(result["month"] >= 4) & (result["month"] <= 9)].sum() / result["hukou"].sum()
    assert 0.68 <= wet <= 0.80
    assert int(np.argmax(monthly)) + 1 in (5, 6)


def test_discharge_at_waizhou_and_hukou(result):
    waizhou = next(value for name, value in result["gauges"].items() if "Waizhou" in name)
    assert 1950 <= waizhou <= 2500
    assert 4300 <= result["hukou"].mean() <= 5300
