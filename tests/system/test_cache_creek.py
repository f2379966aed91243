"""Cache Creek (NLDAS weather), hourly 2000-2002, with default parameters: winter rain, dry summer, hills.

2000 warms the model up. Bands: a fifth of the volume, and efficiencies that calibrated models are called good at (0.7
by months, 0.6 by days); the mean flow as a guess scores -0.41 (Knoben et al. 2019).
"""

from __future__ import annotations

import pytest
from catchments import cache_creek, read_mesh, score


@pytest.fixture(scope="module")
def scores(shared_data, tmp_path_factory):
    folder = shared_data / "cache_creek"
    output = tmp_path_factory.mktemp("cache_creek") / "result.nc"
    result = score(cache_creek(folder), folder, output, "2001-01-01", "2002-12-31", local_time="-8h")
    print(f"\nCache Creek 2001-2002: {result.text()}")
    return result


def test_mesh(shared_data):
    """The mesh covers 196.4 km2 between 450 and 1814 m, as its origin says."""
    mesh = read_mesh(shared_data / "cache_creek")
    assert mesh.area.sum() == pytest.approx(196.4, abs=0.05)
    assert 450.0 <= mesh.elevation.min() and mesh.elevation.max() <= 1814.2


def test_precipitation_is_a_daily_rate(scores):
    """Mean of the hourly rates over the two years is 864 mm a-1: taken as mm per hour it would be 24 times that."""
    assert scores.precipitation == pytest.approx(864.0, rel=0.01)


def test_balance_closes(scores):
    assert scores.closure <= 1e-9


def test_volume(scores):
    assert abs(scores.volume_error) <= 20.0


def test_months(scores):
    assert scores.monthly.efficiency > 0.7


def test_days(scores):
    assert scores.daily.efficiency > 0.6
