"""The Sitter at Appenzell (CAMELS-CH), daily 1981-2000, with default parameters: humid, alpine, snow.

1981 warms the model up. Bands: a tenth of the volume, and efficiencies that calibrated models are called good at (0.7
by months, 0.6 by days); the mean flow as a guess scores -0.41 (Knoben et al. 2019).
"""

from __future__ import annotations

import pytest
from catchments import score, sitter


@pytest.fixture(scope="module")
def scores(shared_data, tmp_path_factory):
    folder = shared_data / "sitter_appenzell"
    result = score(sitter(folder), folder, tmp_path_factory.mktemp("sitter") / "result.nc", "1982-01-01", "2000-12-31")
    print(f"\nSitter at Appenzell 1982-2000: {result.text()}")
    return result


def test_record_is_read(scores):
    """Means of the record over 1981-2000: P 1909 and Q 1441 mm a-1; the 19 scored years lie within 5 % of them."""
    assert scores.precipitation == pytest.approx(1909.0, rel=0.05)
    assert scores.observed == pytest.approx(1441.0, rel=0.05)


def test_balance_closes(scores):
    assert scores.closure <= 1e-9


def test_volume(scores):
    assert abs(scores.volume_error) <= 10.0


def test_months(scores):
    assert scores.monthly.efficiency > 0.7


def test_days(scores):
    assert scores.daily.efficiency > 0.6
