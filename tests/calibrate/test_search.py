"""Searches on functions whose optimum is known, each population told at once or one population late."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from wepl.calibrate.config import Algorithm, Range
from wepl.calibrate.driver import _Loop
from wepl.calibrate.log import Log
from wepl.calibrate.objective import Score
from wepl.calibrate.progress import Progress
from wepl.calibrate.search import create
from wepl.calibrate.simulate import Simulated
from wepl.calibrate.space import Space
from wepl.errors import InputError

OPTIMUM = 0.37


def sphere(points: np.ndarray) -> np.ndarray:
    return ((points - OPTIMUM) ** 2).sum(axis=1)


def rosenbrock(points: np.ndarray) -> np.ndarray:
    """Its valley is bent; the optimum, 0, lies at 0.55 in every dimension."""
    z = 4.0 * points - 1.2
    return (100.0 * (z[:, 1:] - z[:, :-1] ** 2) ** 2 + (1.0 - z[:, :-1]) ** 2).sum(axis=1)


def search(folder, function, name: str, asynchronous: bool, seed: int, populations: int, dimensions: int = 4,
           resume: bool = False) -> list[float]:
    """Best loss after each population, found by the loop of a calibration on a function in place of the model."""
    space = Space({f"p{place}": Range(low=0.0, high=1.0) for place in range(dimensions)})
    algorithm = Algorithm(name=name, seed=seed, population=16, evaluations=16 * populations, asynchronous=asynchronous)

    def run(members):
        points = np.array([list(member.values()) for member in members])
        return Simulated(function(points)[None, :, None], {}, 0.0)

    def score(discharge):
        loss = float(discharge[0, 0])
        return Score(1.0 - loss, np.array([loss]), {})

    problem = SimpleNamespace(config=SimpleNamespace(algorithm=algorithm), space=space, member=dict)
    log = Log(folder, {"seed": seed}, resume)
    drawn = create(name, dimensions, seed=seed, population=16, evaluations=algorithm.evaluations)
    try:
        _Loop(problem, SimpleNamespace(run=run), SimpleNamespace(score=score), drawn, log, Progress(quiet=True)).run()
    finally:
        log.close()
    losses = [min(float(one.score.losses[0]) for one in population.evaluations) for population in log.populations]
    return np.minimum.accumulate(losses).tolist()


def median_run(tmp_path, function, name: str, asynchronous: bool, populations: int) -> np.ndarray:
    runs = []
    for seed in range(5):
        folder = tmp_path / f"{name}_{asynchronous}_{seed}"
        folder.mkdir()
        runs.append(search(folder, function, name, asynchronous, seed, populations))
    return np.median(runs, axis=0)


@pytest.mark.parametrize("name, populations, reached", [("cmaes", 40, 1e-6), ("de", 50, 1e-4)])
def test_asynchronous_loses_no_skill(tmp_path, name, populations, reached):
    """What it costs is known: no more than half as many populations again for the same loss (docs/calibration.md)."""
    at_once, late = (median_run(tmp_path, sphere, name, asynchronous, populations) for asynchronous in (False, True))
    assert late[-1] < reached
    assert late[-1] <= at_once[populations * 2 // 3]


def test_bent_valley(tmp_path):
    """Both ways come down the valley's side, from some 400 at random points to its floor."""
    for asynchronous in (False, True):
        assert median_run(tmp_path, rosenbrock, "cmaes", asynchronous, 30)[-1] < 5.0


@pytest.mark.parametrize("name", ["cmaes", "de", "nsga2", "lhs"])
def test_same_seed_same_points(name):
    def drawn(seed: int) -> np.ndarray:
        one = create(name, 3, seed=seed, population=8, evaluations=24, objectives=2 if name == "nsga2" else 1)
        points = []
        for _ in range(3):
            points.append(one.ask())
            losses = sphere(points[-1])[:, None]
            one.tell(np.hstack([losses, 1.0 - losses]) if name == "nsga2" else losses)
        return np.array(points)

    np.testing.assert_array_equal(drawn(5), drawn(5))
    assert not np.array_equal(drawn(5), drawn(6))
    assert drawn(5).min() >= 0.0 and drawn(5).max() <= 1.0


@pytest.mark.parametrize("asynchronous", [False, True])
def test_loop_goes_on_with_the_same_points(tmp_path, asynchronous):
    whole = search(tmp_path, sphere, "cmaes", asynchronous, 3, 12)
    parts = tmp_path / "parts"
    parts.mkdir()
    search(parts, sphere, "cmaes", asynchronous, 3, 5)
    assert search(parts, sphere, "cmaes", asynchronous, 3, 12, resume=True) == whole


def test_other_points_than_the_log_are_refused(tmp_path):
    search(tmp_path, sphere, "cmaes", False, 3, 3)
    with pytest.raises(InputError, match="draws other parameters"):
        search(tmp_path, sphere, "de", False, 3, 3, resume=True)


def test_two_calibrations_do_not_share_a_log(tmp_path):
    first = Log(tmp_path, {"seed": 1}, False)
    with pytest.raises(InputError, match="is being written by another calibration"):
        Log(tmp_path, {"seed": 1}, True)
    first.close()
    Log(tmp_path, {"seed": 1}, True).close()


def test_latin_hypercube_fills_every_row():
    points = create("lhs", 2, seed=1, population=10, evaluations=20)
    both = np.concatenate([points.ask(), points.ask()])
    assert points.ask().size == 0
    assert (np.sort((both * 20).astype(int), axis=0) == np.arange(20)[:, None]).all()


def test_sobol_indices_of_a_sum():
    """a + 2 b over the unit square: first-order indices 1/5 and 4/5."""
    design = create("sobol_sensitivity", 2, seed=1, population=64, evaluations=4096)
    points = np.concatenate([design.ask() for _ in range(-(-design.total // 64))])
    found = design.indices(points @ np.array([1.0, 2.0]), seed=1)
    assert found["first"] == pytest.approx([0.2, 0.8], abs=0.03)
    assert found["total"] == pytest.approx([0.2, 0.8], abs=0.03)


@pytest.mark.parametrize("name, population, evaluations, message", [
    ("cmaes", 2, 100, "needs 4 at least"), ("de", 3, 100, "needs 6 at least"),
    ("sobol_sensitivity", None, 5, "needs 8 at least"), ("sce", None, 5, "unknown algorithm")])
def test_unusable_numbers(name, population, evaluations, message):
    with pytest.raises(InputError, match=message):
        create(name, 2, seed=0, population=population, evaluations=evaluations)
