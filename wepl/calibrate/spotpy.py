"""The model as a setup class of spotpy, so that any of its samplers can calibrate it (Houska et al. 2015).

    import spotpy
    from wepl.calibrate.spotpy import Setup

    sampler = spotpy.algorithms.sceua(Setup("calibrate.toml"), dbname="sceua", dbformat="ram")
    sampler.sample(500)

spotpy asks for one parameter set at a time, so the members do not share a launch: the model's own searches are faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.errors import InputError

if TYPE_CHECKING:
    from wepl.calibrate.problem import Problem


class Setup:
    """Parameters, simulation, observation and objective of a calibration file, as spotpy asks for them.

    A parameter with ``scale = "log"`` is drawn as its decimal logarithm, named ``log10_NAME``.

    Parameters
    ----------
    path : path
        The TOML file; its ``[algorithm]`` is not used.
    larger_is_better : bool
        Whether the objective is the score, which most samplers of spotpy make large, or its loss 1 - score, which
        ``sceua`` and some others make small.

    Raises
    ------
    InputError
        spotpy is missing, or the file cannot be used.
    """

    def __init__(self, path: str | Path, larger_is_better: bool = True) -> None:
        from wepl.calibrate.problem import prepare

        try:
            from spotpy.parameter import Uniform
        except ModuleNotFoundError:
            raise InputError("the adapter needs spotpy: pip install 'wepl[calibrate]'") from None
        self.problem: Problem = prepare(path)
        self._scorer = self.problem.scorer()
        positions = [target.position for target in self._scorer.targets]
        self._simulator = self.problem.simulator(self.problem.backend(), ["calibration"], positions)
        self._sign = larger_is_better
        start = self.problem.space.values(self.problem.space.start(self.problem.basin.options))
        self.params = []
        for name, one in self.problem.space.ranges.items():
            ends = np.array([one.low, one.high, start[name]])
            if one.scale == "log":
                name, ends = f"log10_{name}", np.log10(ends)
            self.params.append(Uniform(name, low=float(ends[0]), high=float(ends[1]), optguess=float(ends[2])))

    def member(self, vector: Sequence[float]) -> dict[str, float]:
        """Parameters of the model for a vector as spotpy draws it."""
        ranges = self.problem.space.ranges.items()
        return {name: float(np.clip(10.0**value if one.scale == "log" else value, one.low, one.high))
                for (name, one), value in zip(ranges, vector, strict=True)}

    def parameters(self) -> Any:
        """Draws of all parameters."""
        import spotpy

        return spotpy.parameter.generate(self.params)

    def simulation(self, vector: Sequence[float]) -> np.ndarray:
        """Discharge of all gauges one after another, in the bins of the objective; NaN where the model fails."""
        simulated = self._simulator.run([self.problem.member(self.member(list(vector)))])
        discharge = simulated.discharge[:, 0]
        return np.concatenate([target.of(discharge[:, place]) for place, target in enumerate(self._scorer.targets)])

    def evaluation(self) -> np.ndarray:
        """Observed discharge in the same order."""
        return np.concatenate([target.observed for target in self._scorer.targets])

    def objectivefunction(self, simulation: np.ndarray, evaluation: np.ndarray, params: Any = None) -> float:
        """Score of a simulation, or its loss."""
        series = np.asarray(simulation, dtype=float)
        if np.isnan(series).any():
            total = self._scorer.failed("").total
        else:
            ends = np.cumsum([target.observed.size for target in self._scorer.targets])[:-1]
            total = self._scorer.of_bins(np.split(series, ends)).total
        return total if self._sign else 1.0 - total
