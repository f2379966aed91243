"""The Cance at Sarras from flow directions and hourly rain, by ``examples/cance.toml``: the floods of autumn 2014.

Facts: 381.7 km2 at the outlet (Hydroportail), 107 and 25.3 km2 at the inner gauges, on a grid of 1 km2.
"""

from __future__ import annotations

import shutil

import pandas as pd
import pytest
from built import EXAMPLES, agreement, discharge, example, gauge_areas, outlets, upstream_areas

from wepl.basin.dataset import Basin
from wepl.build.assemble import build


@pytest.fixture(scope="module")
def folder(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cance")
    shutil.copy(EXAMPLES / "cance.toml", folder)
    example("cance_maps").write_maps(shared_data / "cance", folder)
    return folder


@pytest.fixture(scope="module")
def built(folder):
    return build(folder / "cance.toml", folder / "basin.nc")


@pytest.fixture(scope="module")
def basin(built):
    return Basin.open(built.path)


def test_areas(basin):
    """3 % at the outlet; at the others what the cells of 1 km2 along the divide allow."""
    found = gauge_areas(basin)
    assert found["V3524010"] == pytest.approx(381.7, rel=0.03)
    assert found["V3515010"] == pytest.approx(107.0, abs=3.0)
    assert found["V3517010"] == pytest.approx(25.3, abs=3.0)


def test_network(basin):
    [outlet] = outlets(basin)
    assert upstream_areas(basin)[outlet] == pytest.approx(basin.parameters["unit_area"].values.sum() / 1e6)
    assert basin.clock.step_seconds == 3600


def test_same_input_same_bytes(folder, built, tmp_path):
    assert build(folder / "cance.toml", tmp_path / "basin.nc").path.read_bytes() == built.path.read_bytes()


def test_run(shared_data, folder, built):
    """Two weeks warm the model up. Only the rain is real, so the volume is not asked, but the floods are."""
    table, closure = discharge(built.path, folder / "result.nc")
    measured = pd.read_csv(shared_data / "cance" / "discharge_V3524010.csv", index_col="time",
                           parse_dates=True)["discharge_m3_s"]
    scores = agreement(table["V3524010"].loc["2014-10":], measured)
    print(f"\nCance October 2014 to 15 January 2015, hourly, closure {closure:.1e}: {scores.text()}")
    assert closure <= 1e-9
    assert scores.kling_gupta.correlation > 0.8
    assert scores.kling_gupta.efficiency > 0.6
