"""The Delaware river from parameter files of the National Hydrologic Model, by ``examples/delaware.py``.

Facts: 456 segments, 765 response units; areas above the gauges as the tables of response units have them
(``gauges.csv``), which differ from those of the Geological Survey where a segment ends beside the gauge.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from built import agreement, discharge, example, gauge_areas, outlets, upstream_areas

from wepl.basin.dataset import Basin

CUBIC_FOOT = 0.3048**3
# Above these gauges stand large reservoirs of New York City (Pepacton, Cannonsville, Neversink) or others that the
# model does not have.
BELOW_RESERVOIRS = ("01417500", "01421000", "01426500", "01436500", "01437500", "01449800", "01429000")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("delaware")


@pytest.fixture(scope="module")
def path(shared_data, folder):
    example("delaware").delaware(shared_data / "delaware").to_netcdf(folder / "basin.nc")
    return folder / "basin.nc"


@pytest.fixture(scope="module")
def basin(path):
    return Basin.open(path)


def test_network(basin):
    """Six segments end at the sea; the area is that of the response units that drain to a segment."""
    assert basin.parameters.sizes["subbasin"] == 456
    ends = outlets(basin)
    assert len(ends) == 6
    total = upstream_areas(basin)
    assert sum(total[end] for end in ends) == pytest.approx(basin.parameters["unit_area"].values.sum() / 1e6)


def test_gauge_areas(shared_data, basin):
    given = pd.read_csv(shared_data / "delaware" / "gauges.csv", dtype={"gage": str}).set_index("gage")
    found = gauge_areas(basin)
    assert len(found) == 51
    assert found["01463500"] == pytest.approx(17560.1, rel=0.001)  # at Trenton, Geological Survey
    # A hundredth of a response unit changes hands where a segment has none: at most 0.5 km2 here.
    assert max(abs(found[name] - given.loc[name, "hru_area_km2"]) for name in found) < 0.5


def test_units_were_converted(basin):
    """Precipitation of Daymet 1979-1980 is 1,162 mm a year, and the mean of the daily extremes about 10 degC."""
    area = basin.parameters["unit_area"].values / basin.parameters["unit_area"].values.sum()
    means = basin.forcing.read(0, basin.clock.n_steps).mean(axis=1) @ area
    assert means[0] * 365.25 * 86400e3 == pytest.approx(1162.0, rel=0.01)
    assert means[1] == pytest.approx(10.0, abs=1.0)
    assert means[2] == pytest.approx(0.63, abs=0.05)


def test_same_input_same_bytes(shared_data, path, tmp_path):
    example("delaware").delaware(shared_data / "delaware").to_netcdf(tmp_path / "basin.nc")
    assert (tmp_path / "basin.nc").read_bytes() == path.read_bytes()


def test_run(shared_data, folder, path):
    """1979 warms the model up. Scored are the gauges without reservoirs whose area fits within 10 %."""
    table, closure = discharge(path, folder / "result.nc")
    data = shared_data / "delaware"
    measured = pd.read_csv(data / "discharge_ft3_s.csv", index_col="date", parse_dates=True) * CUBIC_FOOT
    ratio = pd.read_csv(data / "gauges.csv", dtype={"gage": str}).set_index("gage")["area_ratio"]
    scores = {name: agreement(table[name].loc["1980":], measured[name]) for name in table
              if name not in BELOW_RESERVOIRS and abs(ratio[name] - 1.0) <= 0.1}
    volume = np.array([score.volume_error for score in scores.values()])
    efficiency = np.array([score.kling_gupta.efficiency for score in scores.values()])
    print(f"\nDelaware 1980, {len(scores)} gauges, closure {closure:.1e}: volume error of {np.median(volume):+.1f} % "
          f"({volume.min():+.0f} to {volume.max():+.0f}), daily KGE {np.median(efficiency):.3f} "
          f"({efficiency.min():.2f} to {efficiency.max():.2f}); Trenton: {scores['01463500'].text()}")
    assert closure <= 1e-9
    assert abs(np.median(volume)) <= 20.0
    assert np.median(efficiency) > 0.4
