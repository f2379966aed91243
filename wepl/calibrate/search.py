"""Searches that draw and take whole populations of points in the unit cube, each from a library that is kept.

A search is a deterministic function of its seed and of what it was told: a search that is told the same again is in
the same state again. This is how a calibration is resumed, without any file of the search's own.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, Protocol

import numpy as np

from wepl.errors import InputError

ALGORITHMS = ("cmaes", "de", "nsga2", "lhs", "sobol_sensitivity")
# A third of the unit cube's half: nearly all of the first population lies inside.
_SIGMA = 0.3
_INSTALL = "pip install 'wepl[calibrate]'"


class Search(Protocol):
    """Draws populations of ``population`` points and is told their losses; ends by itself after ``total`` points."""

    @property
    def population(self) -> int: ...

    @property
    def total(self) -> int | None: ...

    def ask(self) -> np.ndarray:
        """The next population, ``[point, dimension]`` in the unit cube; empty at the end."""
        ...

    def tell(self, losses: np.ndarray) -> None:
        """Losses ``[point, objective]`` (smaller is better) of the oldest population that was asked but not told."""
        ...


def create(name: str, dimensions: int, *, seed: int, population: int | None = None, start: np.ndarray | None = None,
           evaluations: int = 0, objectives: int = 1) -> Search:
    """The search called ``name``.

    Parameters
    ----------
    name : str
        One of :data:`ALGORITHMS`.
    dimensions : int
        Number of parameters.
    seed : int
    population : int, optional
        Points in a population; what suits the search when None.
    start : ndarray, optional
        Point of the unit cube around which ``cmaes`` begins; the middle when None.
    evaluations : int
        Points in all, for the searches that lay out their points beforehand.
    objectives : int
        Number of losses of a point; more than one for ``nsga2`` only.

    Raises
    ------
    InputError
        The name is unknown, a library is missing, or the numbers do not suit the search.
    """
    if name not in ALGORITHMS:
        raise InputError(f"unknown algorithm {name!r}: choose one of {', '.join(ALGORITHMS)}")
    try:
        if name == "cmaes":
            return _Cmaes(dimensions, seed, population, np.full(dimensions, 0.5) if start is None else start)
        if name == "lhs":
            return _Lhs(dimensions, seed, population, evaluations)
        if name == "sobol_sensitivity":
            return Sobol(dimensions, seed, population, evaluations)
        return _Pymoo(name, dimensions, seed, population, objectives)
    except ModuleNotFoundError as error:
        raise InputError(f"the algorithm {name} needs the package {error.name}: {_INSTALL}") from None


class _Cmaes:
    """CMA-ES (Hansen 2016) of the package cmaes; points outside the cube are drawn anew."""

    total: int | None = None

    def __init__(self, dimensions: int, seed: int, population: int | None, start: np.ndarray) -> None:
        from cmaes import CMA

        self.population = population or 4 + math.floor(3 * math.log(dimensions))
        if self.population < 4:
            raise InputError(f"algorithm.population {self.population}: cmaes needs 4 at least")
        # A start on the bound would send half of all points outside.
        inside = np.clip(start, 0.05, 0.95)
        self._strategy = CMA(mean=inside, sigma=_SIGMA, bounds=np.tile([0.0, 1.0], (dimensions, 1)), seed=seed,
                             population_size=self.population)
        self._asked: list[np.ndarray] = []

    def ask(self) -> np.ndarray:
        points = np.array([self._strategy.ask() for _ in range(self.population)])
        self._asked.append(points)
        return points

    def tell(self, losses: np.ndarray) -> None:
        points = self._asked.pop(0)
        self._strategy.tell(list(zip(points, losses[:, 0].tolist(), strict=True)))


class _Pymoo:
    """Differential evolution (Storn and Price 1997) and NSGA-II (Deb et al. 2002) of the package pymoo."""

    total: int | None = None

    def __init__(self, name: str, dimensions: int, seed: int, population: int | None, objectives: int) -> None:
        with warnings.catch_warnings():
            # Other packages of pymoo warn when they are imported.
            warnings.simplefilter("ignore")
            from pymoo.algorithms.moo.nsga2 import NSGA2
            from pymoo.algorithms.soo.nonconvex.de import DE
            from pymoo.core.problem import Problem
            from pymoo.core.termination import NoTermination
            from pymoo.operators.sampling.lhs import LHS
        self.population = population or max(16, 4 * dimensions)
        if self.population < 6:
            raise InputError(f"algorithm.population {self.population}: {name} needs 6 at least")
        kind = DE if name == "de" else NSGA2
        problem = Problem(n_var=dimensions, n_obj=objectives, xl=np.zeros(dimensions), xu=np.ones(dimensions))
        self._algorithm = kind(pop_size=self.population, sampling=LHS())
        self._algorithm.setup(problem, seed=seed, termination=NoTermination())
        self._asked: list[Any] = []

    def ask(self) -> np.ndarray:
        drawn = self._algorithm.ask()
        self._asked.append(drawn)
        return np.array(drawn.get("X"), dtype=float)

    def tell(self, losses: np.ndarray) -> None:
        told = self._asked.pop(0)
        told.set("F", np.array(losses, dtype=float))
        self._algorithm.tell(infills=told)


class _Laid:
    """Points laid out beforehand, handed out in populations."""

    def __init__(self, points: np.ndarray, population: int) -> None:
        self.points, self.population, self.total = points, population, len(points)
        self._at = 0

    def ask(self) -> np.ndarray:
        points = self.points[self._at:self._at + self.population]
        self._at += len(points)
        return points

    def tell(self, losses: np.ndarray) -> None:
        pass


class _Lhs(_Laid):
    """A Latin hypercube (McKay et al. 1979) of scipy."""

    def __init__(self, dimensions: int, seed: int, population: int | None, evaluations: int) -> None:
        from scipy.stats import qmc

        super().__init__(qmc.LatinHypercube(dimensions, rng=np.random.default_rng(seed)).random(evaluations),
                         population or 16)


class Sobol(_Laid):
    """Saltelli's (2010) design of SALib: first-order and total indices from ``N (d + 2)`` points, N a power of two."""

    def __init__(self, dimensions: int, seed: int, population: int | None, evaluations: int) -> None:
        from SALib.sample import sobol

        most = evaluations // (dimensions + 2)
        if most < 2:
            raise InputError(f"algorithm.evaluations {evaluations}: sobol_sensitivity of {dimensions} parameters needs "
                             f"{2 * (dimensions + 2)} at least, and some hundreds for each parameter to be of use")
        self._problem = {"num_vars": dimensions, "names": [str(place) for place in range(dimensions)],
                         "bounds": [[0.0, 1.0]] * dimensions}
        points = sobol.sample(self._problem, 2 ** int(math.log2(most)), calc_second_order=False, seed=seed)
        super().__init__(points, population or 16)

    def indices(self, scores: np.ndarray, seed: int) -> dict[str, np.ndarray]:
        """Indices and the half widths of their 95 % intervals: ``first``, ``first_width``, ``total``, ``total_width``.

        Parameters
        ----------
        scores : ndarray
            Of all points in their order.
        seed : int
            Of the resampling that gives the intervals.
        """
        from SALib.analyze import sobol

        found = sobol.analyze(self._problem, scores, calc_second_order=False, seed=seed)
        return {"first": found["S1"], "first_width": found["S1_conf"], "total": found["ST"],
                "total_width": found["ST_conf"]}
