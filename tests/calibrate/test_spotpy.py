"""The adapter of spotpy: its samplers find what the model's own searches find."""

from __future__ import annotations

import numpy as np
import pytest
import spotpy
from small import TRUTH, make, write

from wepl.calibrate.spotpy import Setup


@pytest.fixture(scope="module")
def toml(tmp_path_factory):
    return write(make(tmp_path_factory.mktemp("spotpy")), "spotpy", 'name = "lhs"')


def test_truth_is_the_best(toml):
    setup = Setup(toml)
    vector = [np.log10(TRUTH["conductivity_factor"]), TRUTH["stomatal_resistance_factor"]]
    assert setup.member(vector) == pytest.approx(TRUTH)
    simulation, evaluation = setup.simulation(vector), setup.evaluation()
    assert setup.objectivefunction(simulation, evaluation) > 0.999999
    assert Setup(toml, larger_is_better=False).objectivefunction(simulation, evaluation) < 1e-6
    assert setup.objectivefunction(np.full(evaluation.size, np.nan), evaluation) == -100.0


def test_a_sampler_of_spotpy(toml):
    sampler = spotpy.algorithms.lhs(Setup(toml), dbname="lhs", dbformat="ram", random_state=1)
    sampler.sample(8)
    data = sampler.getdata()
    assert len(data) == 8 and {"parlog10_conductivity_factor", "parstomatal_resistance_factor"} <= set(data.dtype.names)
    assert (data["parlog10_conductivity_factor"] >= np.log10(0.05)).all()
    assert np.isfinite(data["like1"]).all() and np.ptp(data["like1"]) > 0.0
