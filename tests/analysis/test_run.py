"""The calls of a notebook on a real run."""

from __future__ import annotations

import numpy as np
import pytest

import wepl
from wepl.run.simulation import run

VARIABLES = ["precipitation_depth", "evapotranspiration"]


@pytest.fixture(scope="module")
def data(daily_basin):
    return wepl.run(daily_basin, end="2010-03-31", variables=VARIABLES, quiet=True)


def test_without_output_no_file_is_left(daily_basin, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    again = wepl.run(wepl.open_basin(daily_basin), end="2010-03-31", variables=VARIABLES, quiet=True)
    assert not list(tmp_path.iterdir())
    np.testing.assert_array_equal(again["discharge"].values, data["discharge"].values)


def test_with_output_the_file_is_read(daily_basin, data, tmp_path):
    result = wepl.run(daily_basin, output=tmp_path / "out.nc", end="2010-03-31", quiet=True)
    np.testing.assert_array_equal(result["discharge"].values, data["discharge"].values)
    result.close()
    told = run(daily_basin, output=tmp_path / "told.nc", end="2010-03-31", quiet=True)
    with told.dataset as opened:
        np.testing.assert_array_equal(opened["discharge"].values, data["discharge"].values)


def test_periods_add_to_the_balance_of_the_run(data):
    """What remains of a period is change of storage and loss to depth; float32 of unit series is the rounding."""
    whole, months = data.wepl.water_balance(), data.wepl.water_balance("month").sum()
    depth = whole["depth_mm"]
    assert months["precipitation_mm"] == pytest.approx(depth["precipitation_depth"], rel=1e-6)
    assert months["evapotranspiration_mm"] == pytest.approx(depth["evapotranspiration"], rel=1e-6)
    assert months["outflow_mm"] == pytest.approx(depth["outflow"], rel=1e-9)
    assert months["storage_change_mm"] == pytest.approx(depth["storage_change"] + depth["deep_loss"], abs=1e-4)


def test_subbasins_add_to_the_basin(data):
    table = data.wepl.water_balance("subbasin")
    area = table["area_km2"]
    basin = data.wepl.water_balance()["depth_mm"]
    assert (table["outflow_mm"] * area).sum() / area.sum() == pytest.approx(basin["outflow"], rel=1e-9)
    rain = (table["precipitation_mm"] * area).sum() / area.sum()
    assert rain == pytest.approx(basin["precipitation_depth"], rel=1e-6)


def test_a_journal_needs_a_file(daily_basin):
    with pytest.raises(wepl.InputError, match="needs an output"):
        wepl.run(daily_basin, checkpoint=10.0, quiet=True)
