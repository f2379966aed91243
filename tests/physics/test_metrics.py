"""Metrics against the published worked series and the HydroErr package."""

from __future__ import annotations

import HydroErr
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wepl.analysis import metrics
from wepl.errors import InputError

OBSERVED = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 4.0, 3.0, 2.0])
SIMULATED = np.array([1.2, 1.8, 3.3, 3.9, 4.5, 4.2, 2.7, 2.2])


def test_worked_series():
    """Design numbers of the series; given to the digits asserted here."""
    assert metrics.nash_sutcliffe(SIMULATED, OBSERVED) == pytest.approx(0.95, abs=1e-12)
    assert metrics.kling_gupta(SIMULATED, OBSERVED).efficiency == pytest.approx(0.9092861568958492, abs=1e-12)
    assert metrics.kling_gupta(SIMULATED, OBSERVED, "2012").efficiency == pytest.approx(0.9166460203148891, abs=1e-12)
    assert metrics.percent_bias(SIMULATED, OBSERVED) == pytest.approx(-0.8333333, abs=5e-8)
    assert metrics.root_mean_square_error(SIMULATED, OBSERVED) == pytest.approx(0.27386128, abs=5e-9)
    assert metrics.log_nash_sutcliffe(SIMULATED, OBSERVED) == pytest.approx(0.95327074, abs=5e-9)


_POSITIVE = st.floats(0.01, 1e4)


@given(st.lists(st.tuples(_POSITIVE, _POSITIVE), min_size=3, max_size=60))
def test_hydroerr_agrees(values):
    """HydroErr 2.0 computes the same measures; rounding of sums over up to 60 values stays below 1e-9 relative."""
    simulated, observed = np.array(values).T
    assume(np.std(observed) > 1e-3 * observed.mean() and np.std(simulated) > 1e-3 * simulated.mean())
    assert metrics.nash_sutcliffe(simulated, observed) == pytest.approx(HydroErr.nse(simulated, observed), rel=1e-9,
                                                                        abs=1e-9)
    assert metrics.kling_gupta(simulated, observed).efficiency == pytest.approx(
        HydroErr.kge_2009(simulated, observed), rel=1e-9, abs=1e-9)
    assert metrics.kling_gupta(simulated, observed, "2012").efficiency == pytest.approx(
        HydroErr.kge_2012(simulated, observed), rel=1e-9, abs=1e-9)
    assert metrics.root_mean_square_error(simulated, observed) == pytest.approx(HydroErr.rmse(simulated, observed),
                                                                                rel=1e-9, abs=1e-9)


def test_components_of_kling_gupta():
    """Doubling doubles mean and deviation: r = 1, alpha = beta = 2, and the coefficient of variation stays."""
    first, second = (metrics.kling_gupta(2.0 * OBSERVED, OBSERVED, form) for form in ("2009", "2012"))
    assert first == pytest.approx((1.0 - np.sqrt(2.0), 1.0, 2.0, 2.0), abs=1e-12)
    assert second == pytest.approx((0.0, 1.0, 1.0, 2.0), abs=1e-12)


def test_perfect_and_mean():
    assert metrics.nash_sutcliffe(OBSERVED, OBSERVED) == 1.0
    assert metrics.kling_gupta(OBSERVED, OBSERVED).efficiency == pytest.approx(1.0, abs=1e-12)
    assert metrics.nash_sutcliffe(np.full(8, OBSERVED.mean()), OBSERVED) == 0.0
    assert metrics.percent_bias(1.25 * OBSERVED, OBSERVED) == pytest.approx(25.0, abs=1e-12)


def test_missing_observations_leave_their_pairs_out():
    holes = np.append(OBSERVED, [np.nan, np.nan])
    simulated = np.append(SIMULATED, [99.0, np.nan])
    assert metrics.nash_sutcliffe(simulated, holes) == metrics.nash_sutcliffe(SIMULATED, OBSERVED)
    assert metrics.kling_gupta(simulated, holes) == metrics.kling_gupta(SIMULATED, OBSERVED)


def test_two_dimensions_are_one_series():
    assert metrics.nash_sutcliffe(SIMULATED.reshape(2, 4), OBSERVED.reshape(2, 4)) == metrics.nash_sutcliffe(
        SIMULATED, OBSERVED)


@pytest.mark.parametrize(("simulated", "observed", "message"), [
    ([1.0, 2.0], [np.nan, np.nan], "no observation"),
    ([], [], "no observation"),
    ([1.0, 2.0, 3.0], [1.0, 2.0], "differ in shape"),
    ([np.nan, 2.0], [1.0, 2.0], "1 simulated values beside observations are not finite"),
    ([1.0, 2.0], [1.0, np.inf], "infinite"),
    ([1.0, 2.0], [3.0, 3.0], "all 2 observations are 3"),
])
def test_series_that_cannot_be_compared(simulated, observed, message):
    with pytest.raises(InputError, match=message):
        metrics.nash_sutcliffe(simulated, observed)


def test_kling_gupta_needs_two_varying_series():
    with pytest.raises(InputError, match="all 3 simulated values are 2"):
        metrics.kling_gupta([2.0, 2.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="add to 0"):
        metrics.kling_gupta([1.0, 2.0, 3.0], [-1.0, 0.0, 1.0])
    with pytest.raises(InputError, match="choose 2009 or 2012"):
        metrics.kling_gupta(SIMULATED, OBSERVED, "2021")


def test_logarithms_need_positive_values():
    dry = OBSERVED - 1.0
    with pytest.raises(InputError, match="give an offset"):
        metrics.log_nash_sutcliffe(SIMULATED, dry)
    offset = 0.01 * dry.mean()
    expected = metrics.nash_sutcliffe(np.log(SIMULATED + offset), np.log(dry + offset))
    assert metrics.log_nash_sutcliffe(SIMULATED, dry, offset) == pytest.approx(expected, abs=1e-12)


def test_bias_without_volume():
    with pytest.raises(InputError, match="add to 0"):
        metrics.percent_bias([1.0, 2.0], [0.0, 0.0])
