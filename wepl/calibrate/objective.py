"""How well a member follows the observations: measures whose best value is 1, and how they become one score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wepl.analysis import metrics
from wepl.calibrate.targets import Target
from wepl.errors import InputError

# Share of the mean observation that is added before logarithms (Pushpalatha et al. 2012).
_LOG_OFFSET = 0.01
# Score of a member that the model could not finish: below what any member that it finished is likely to have.
FAILED = -100.0


def _kge(simulated: np.ndarray, target: Target) -> float:
    return kling_gupta(simulated, target.observed).efficiency


def _kge_2012(simulated: np.ndarray, target: Target) -> float:
    if np.ptp(simulated) == 0.0:
        return kling_gupta(simulated, target.observed).efficiency
    return metrics.kling_gupta(simulated, target.observed, "2012").efficiency


def _nse(simulated: np.ndarray, target: Target) -> float:
    return metrics.nash_sutcliffe(simulated, target.observed)


def _log_nse(simulated: np.ndarray, target: Target) -> float:
    return metrics.log_nash_sutcliffe(simulated, target.observed, _LOG_OFFSET * float(target.observed.mean()))


def _volume(simulated: np.ndarray, target: Target) -> float:
    return 1.0 - abs(metrics.percent_bias(simulated, target.observed)) / 100.0


def _peaks(simulated: np.ndarray, target: Target) -> float:
    errors = [abs(float(simulated[peak.first:peak.last].max()) / peak.height - 1.0) for peak in target.peaks]
    return 1.0 - float(np.mean(errors))


MEASURES: dict[str, Callable[[np.ndarray, Target], float]] = {
    "kge": _kge, "kge_2012": _kge_2012, "nse": _nse, "log_nse": _log_nse, "volume": _volume, "peaks": _peaks}


def kling_gupta(simulated: np.ndarray, observed: np.ndarray) -> metrics.KlingGupta:
    """Kling-Gupta efficiency (2009); a simulation that does not vary has no correlation: r and alpha are 0.

    A search meets such members (a river that the model lets run dry), so they have a score here and no error.
    """
    if np.ptp(simulated) > 0.0:
        return metrics.kling_gupta(simulated, observed)
    bias = 1.0 + metrics.percent_bias(simulated, observed) / 100.0
    return metrics.KlingGupta(float(1.0 - np.sqrt(2.0 + (bias - 1.0) ** 2)), 0.0, 0.0, bias)


@dataclass(frozen=True)
class Score:
    """Score of one member.

    Attributes
    ----------
    total : float
        At most 1; :data:`FAILED` for a member that the model could not finish.
    losses : ndarray
        What the search makes small: 1 - total, or for several objectives one loss of each measure.
    gauges : dict of str to dict of str to float
        Measures of each gauge.
    failure : str
        Why the model could not finish; empty when it did.
    """

    total: float
    losses: np.ndarray
    gauges: Mapping[str, Mapping[str, float]]
    failure: str = ""


class Scorer:
    """Scores members.

    Parameters
    ----------
    targets : sequence of Target
        Gauges to calibrate to.
    weights : mapping
        Weight of each measure.
    worst : bool
        Whether the worst gauge counts, and not the weighted mean of the gauges.
    several : bool
        Whether each measure is an objective of its own.
    """

    def __init__(self, targets: Sequence[Target], weights: Mapping[str, float], *, worst: bool = False,
                 several: bool = False) -> None:
        self.targets, self._worst, self._several = tuple(targets), worst, several
        total = sum(weights.values())
        self.weights = {name: weight / total for name, weight in weights.items()}
        if "peaks" in weights:
            for target in targets:
                if not target.peaks:
                    raise InputError(f"gauge {target.gauge}: no flood peak above 0 lies in the period, so \"peaks\" "
                                     "cannot be measured: leave it out of objective.measures")

    def score(self, discharge: np.ndarray) -> Score:
        """Score of one member.

        Parameters
        ----------
        discharge : ndarray
            ``[step, target]``, m3 s-1, from the first step of the targets' run.
        """
        return self.of_bins([target.of(discharge[:, place]) for place, target in enumerate(self.targets)])

    def of_bins(self, simulated: Sequence[np.ndarray]) -> Score:
        """Score of one member from its discharge in the bins of each target."""
        gauges, losses = {}, np.zeros((len(self.targets), len(self.weights)))
        for place, (target, series) in enumerate(zip(self.targets, simulated, strict=True)):
            measures = {name: MEASURES[name](series, target) for name in self.weights}
            gauges[target.gauge] = measures
            losses[place] = [1.0 - value for value in measures.values()]
        weights = np.array(list(self.weights.values()))
        share = np.array([target.weight for target in self.targets])
        if self._worst:
            total = float(1.0 - (losses @ weights).max())
            by_measure = losses.max(axis=0)
        else:
            by_measure = share @ losses / share.sum()
            total = float(1.0 - by_measure @ weights)
        return Score(total, by_measure if self._several else np.array([1.0 - total]), gauges)

    def failed(self, failure: str) -> Score:
        """Score of a member that the model could not finish."""
        count = len(self.weights) if self._several else 1
        return Score(FAILED, np.full(count, 1.0 - FAILED), {}, failure)
