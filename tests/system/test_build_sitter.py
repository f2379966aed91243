"""The Sitter at Appenzell from its elevation model, outline and weather table, by ``examples/sitter.toml``.

Facts: 74.4 km2 (CAMELS-CH); hypsometry of the cells inside the outline. The bands of the scores are those of
test_sitter.py, which builds the same catchment from its facts.
"""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from built import EXAMPLES, agreement, discharge, example, gauge_areas, outlets, upstream_areas
from catchments import observed

from wepl.basin.catchment_terrain import hypsometry_from_dem
from wepl.basin.dataset import Basin
from wepl.build.assemble import build

AREA = 74.4  # km2


@pytest.fixture(scope="module")
def folder(shared_data, tmp_path_factory):
    """The raw files with what the table lacks."""
    folder = tmp_path_factory.mktemp("sitter")
    for path in (shared_data / "sitter_appenzell").iterdir():
        shutil.copyfile(path, folder / path.name)
    shutil.copy(EXAMPLES / "sitter.toml", folder)
    example("sitter_weather").write_estimates(folder)
    return folder


@pytest.fixture(scope="module")
def built(folder):
    return build(folder / "sitter.toml", folder / "basin.nc", plots=folder / "plots")


@pytest.fixture(scope="module")
def basin(built):
    return Basin.open(built.path)


def test_area(basin):
    """2 %: what an outline, an elevation model of 25 m and a gauge beside the outlet may differ by."""
    assert basin.parameters["unit_area"].values.sum() / 1e6 == pytest.approx(AREA, rel=0.02)
    assert gauge_areas(basin)["Appenzell"] == pytest.approx(AREA, rel=0.02)


def test_network(basin):
    [outlet] = outlets(basin)
    assert upstream_areas(basin)[outlet] == pytest.approx(basin.parameters["unit_area"].values.sum() / 1e6)


def test_hypsometry(folder, basin):
    """Heights below which each tenth of the area lies: within 20 m of the cells'.

    A unit stands for a band of 200 m; its area is spread evenly over the half distances to its neighbours in height.
    """
    curve = hypsometry_from_dem(folder / "dem.tif", folder / "outline.shp")
    height, area = (basin.parameters[name].values for name in ("unit_elevation", "unit_area"))
    order = np.argsort(height)
    middle = (np.cumsum(area[order]) - 0.5 * area[order]) / area.sum()
    tenths = np.linspace(0.1, 0.9, 9)
    cells = np.interp(tenths, curve.share_below, curve.elevation)
    smooth = np.array([np.interp(tenth + np.linspace(-0.04, 0.04, 9), middle, height[order]).mean()
                       for tenth in tenths])
    print(f"\nheights of tenths: cells {cells.round()}, units {smooth.round()}")
    assert smooth == pytest.approx(cells, abs=20.0)
    assert np.average(height, weights=area) == pytest.approx(curve.mean, abs=2.0)


def test_same_input_same_bytes(folder, built, tmp_path):
    again = build(folder / "sitter.toml", tmp_path / "basin.nc", plots=tmp_path / "plots")
    assert again.path.read_bytes() == built.path.read_bytes()
    assert again.page.read_bytes() == built.page.read_bytes()


def test_run(folder, built):
    """1981 warms the model up."""
    table, closure = discharge(built.path, folder / "result.nc")
    simulated, measured = table["Appenzell"].loc["1982":], observed(folder).loc["1982":]
    daily = agreement(simulated, measured)
    monthly = agreement(simulated.resample("MS").mean(), measured.resample("MS").mean())
    print(f"\nSitter 1982-2000, closure {closure:.1e}\n  daily: {daily.text()}\n  monthly: {monthly.text()}")
    assert closure <= 1e-9
    assert abs(daily.volume_error) <= 20.0
    assert monthly.kling_gupta.efficiency > 0.4
