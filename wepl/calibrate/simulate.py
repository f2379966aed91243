"""Simulation of populations: members side by side in one launch, of which only the gauges' discharge is kept."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wepl.backends import Backend
from wepl.basin.dataset import Basin
from wepl.calibrate.forcing import prepared
from wepl.run.ensemble import run_members

Member = Mapping[str, float | str]


@dataclass(frozen=True)
class Simulated:
    """Discharge of a population.

    Attributes
    ----------
    discharge : ndarray
        ``[step, member, gauge]``, m3 s-1; NaN for members that failed.
    failures : dict of int to str
        Why members could not be finished, by their place.
    seconds : float
        Wall time.
    """

    discharge: np.ndarray
    failures: dict[int, str]
    seconds: float


class Simulator:
    """Runs populations over one period.

    Parameters
    ----------
    basin : Basin
    backend : Backend
    positions : sequence of int
        Sub-basins at whose outlets discharge is kept.
    first, last : int
        Steps of the run, ``last`` not included.
    spin_up_years : int
        How often the first year is repeated before it.
    """

    def __init__(self, basin: Basin, backend: Backend, positions: Sequence[int], first: int, last: int,
                 spin_up_years: int = 0) -> None:
        self._basin, self._before = prepared(basin, first, last, spin_up_years)
        self._backend, self._positions = backend, list(positions)
        self.first, self.n_steps = first, last - first

    def run(self, members: Sequence[Member]) -> Simulated:
        """Simulate a population; a member that the model cannot finish does not disturb the others."""
        began = time.perf_counter()
        series = self._series(members)
        lost = np.isnan(series).any(axis=2)
        failures = {int(place): "the model could not go on in the block of "
                                f"{self._basin.clock.label(int(lost[:, place].argmax()))}"
                    for place in np.flatnonzero(lost.any(axis=0))}
        return Simulated(series[self._before:], failures, time.perf_counter() - began)

    def _series(self, members: Sequence[Member]) -> np.ndarray:
        """Discharge ``[step, member, gauge]`` of all steps, those of the spin-up among them."""
        return run_members(self._basin, members, self._backend, names=["discharge"], subbasins=self._positions,
                           keep_going=True)["discharge"]
