"""Measures against HydroErr, and how measures and gauges become one score."""

from __future__ import annotations

import HydroErr
import numpy as np
import pytest

from wepl.calibrate.objective import FAILED, MEASURES, Scorer
from wepl.calibrate.targets import Peak, Target

RANDOM = np.random.default_rng(2)
OBSERVED = RANDOM.gamma(2.0, 3.0, 200)
SIMULATED = OBSERVED * RANDOM.uniform(0.6, 1.5, 200)


def target(name: str = "A", weight: float = 1.0, observed: np.ndarray = OBSERVED,
           peaks: tuple[Peak, ...] = ()) -> Target:
    count = observed.size
    return Target(name, 0, weight, observed, np.arange(count), np.arange(count), np.arange(count), np.ones(count, int),
                  peaks)


@pytest.mark.parametrize("name, other", [("kge", HydroErr.kge_2009), ("kge_2012", HydroErr.kge_2012),
                                         ("nse", HydroErr.nse)])
def test_against_another_library(name, other):
    assert MEASURES[name](SIMULATED, target()) == pytest.approx(other(SIMULATED, OBSERVED), rel=1e-10)


def test_logarithms_and_volume():
    shift = 0.01 * OBSERVED.mean()
    expected = HydroErr.nse(np.log(SIMULATED + shift), np.log(OBSERVED + shift))
    assert MEASURES["log_nse"](SIMULATED, target()) == pytest.approx(expected, rel=1e-10)
    assert MEASURES["volume"](1.2 * OBSERVED, target()) == pytest.approx(0.8)


def test_peaks():
    """An early peak within the window counts as a peak: 8 of 10, and 5 of 4."""
    observed, simulated = np.ones(20), np.ones(20)
    observed[[5, 15]], simulated[[4, 15]] = [10.0, 4.0], [8.0, 5.0]
    two = target(observed=observed, peaks=(Peak(10.0, 3, 8), Peak(4.0, 13, 18)))
    assert MEASURES["peaks"](simulated, two) == pytest.approx(1.0 - 0.5 * (0.2 + 0.25))


def test_dry_river_has_a_score():
    """r and alpha 0, beta 0: 1 - sqrt(3)."""
    assert MEASURES["kge"](np.zeros(200), target()) == pytest.approx(1.0 - np.sqrt(3.0))
    assert MEASURES["kge_2012"](np.zeros(200), target()) == pytest.approx(1.0 - np.sqrt(3.0))


def test_weights_of_measures_and_gauges():
    scorer = Scorer([target("A", 3.0), target("B", 1.0)], {"kge": 3.0, "nse": 1.0})
    score = scorer.score(np.stack([SIMULATED, 1.3 * SIMULATED], axis=1))
    by_gauge = {name: 0.75 * values["kge"] + 0.25 * values["nse"] for name, values in score.gauges.items()}
    assert score.total == pytest.approx(0.75 * by_gauge["A"] + 0.25 * by_gauge["B"])
    assert score.losses == pytest.approx([1.0 - score.total])
    worst = Scorer(scorer.targets, {"kge": 1.0}, worst=True).score(np.stack([SIMULATED, 1.3 * SIMULATED], axis=1))
    assert worst.total == pytest.approx(score.gauges["B"]["kge"])


def test_several_objectives():
    scorer = Scorer([target()], {"kge": 1.0, "log_nse": 1.0}, several=True)
    score = scorer.score(SIMULATED[:, None])
    assert score.losses == pytest.approx([1.0 - value for value in score.gauges["A"].values()])
    assert scorer.failed("why").losses.tolist() == [1.0 - FAILED] * 2


def test_peaks_need_a_peak():
    with pytest.raises(Exception, match="no flood peak above 0"):
        Scorer([target()], {"peaks": 1.0})
