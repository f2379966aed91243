"""Measures of how well a simulated series follows an observed one.

All functions take the simulated series first. Pairs whose observation is missing (NaN) are left out; a simulated value
that is not finite beside an observation is an error, so that a broken run cannot score well.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wepl.errors import InputError


class KlingGupta(NamedTuple):
    """Kling-Gupta efficiency and its components.

    Attributes
    ----------
    efficiency : float
        1 - distance of the components from 1; at most 1.
    correlation : float
        Pearson's r.
    variability : float
        Ratio of the standard deviations (2009) or of the coefficients of variation (2012), simulated over observed.
    bias : float
        Ratio of the means, simulated over observed.
    """

    efficiency: float
    correlation: float
    variability: float
    bias: float


def pairs(simulated: ArrayLike, observed: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Simulated and observed values where there is an observation.

    Parameters
    ----------
    simulated, observed : array_like
        Series of one shape.

    Returns
    -------
    tuple of ndarray
        Simulated and observed values, one-dimensional.

    Raises
    ------
    InputError
        Shapes differ, no pair is left, or a simulated value beside an observation is not finite.
    """
    simulation, observation = np.asarray(simulated, dtype=float), np.asarray(observed, dtype=float)
    if simulation.shape != observation.shape:
        raise InputError(f"simulated {simulation.shape} and observed {observation.shape} differ in shape: cut both to "
                         "one period")
    if np.isinf(observation).any():
        raise InputError("an observed value is infinite: mark what is missing with NaN")
    there = ~np.isnan(observation)
    if not there.any():
        raise InputError("no observation lies in the simulated period: nothing can be compared")
    simulation, observation = simulation[there], observation[there]
    if not np.isfinite(simulation).all():
        raise InputError(f"{int((~np.isfinite(simulation)).sum())} simulated values beside observations are not finite")
    return simulation, observation


def nash_sutcliffe(simulated: ArrayLike, observed: ArrayLike) -> float:
    """Nash-Sutcliffe efficiency, 1 - sum (s - o)^2 / sum (o - mean o)^2 (Nash and Sutcliffe 1970).

    Parameters
    ----------
    simulated, observed : array_like
        Series of one shape and unit.

    Raises
    ------
    InputError
        No pair is left, or all observations are equal.
    """
    s, o = pairs(simulated, observed)
    return _nash_sutcliffe(s, o)


def log_nash_sutcliffe(simulated: ArrayLike, observed: ArrayLike, offset: float = 0.0) -> float:
    """Nash-Sutcliffe efficiency of natural logarithms, which weighs low flows.

    Parameters
    ----------
    simulated, observed : array_like
        Series of one shape and unit.
    offset : float
        Added to both series before the logarithm; a hundredth of the mean observation is usual where flow can be zero
        (Pushpalatha et al. 2012).

    Raises
    ------
    InputError
        No pair is left, a value plus the offset is not above 0, or all observations are equal.
    """
    s, o = pairs(simulated, observed)
    if min(s.min(), o.min()) + offset <= 0.0:
        raise InputError("a value is not above 0, so it has no logarithm: give an offset, such as a hundredth of the "
                         "mean observation")
    return _nash_sutcliffe(np.log(s + offset), np.log(o + offset))


def _nash_sutcliffe(s: np.ndarray, o: np.ndarray) -> float:
    _need_variance(o, "observations")
    return float(1.0 - np.sum((s - o) ** 2) / np.sum((o - o.mean()) ** 2))


def kling_gupta(simulated: ArrayLike, observed: ArrayLike, form: Literal["2009", "2012"] = "2009") -> KlingGupta:
    """Kling-Gupta efficiency with its components.

    Parameters
    ----------
    simulated, observed : array_like
        Series of one shape and unit.
    form : str
        ``2009``: variability is the ratio of standard deviations (Gupta et al. 2009); ``2012``: of coefficients of
        variation (Kling et al. 2012).

    Raises
    ------
    InputError
        No pair is left, a series does not vary, a mean is 0, or the form is unknown.
    """
    if form not in ("2009", "2012"):
        raise InputError(f"Kling-Gupta form {form!r}: choose 2009 or 2012")
    s, o = pairs(simulated, observed)
    _need_variance(o, "observations")
    _need_variance(s, "simulated values")
    _need_mean(o)
    correlation = float(np.corrcoef(s, o)[0, 1])
    bias = float(s.mean() / o.mean())
    variability = float(s.std() / o.std())
    if form == "2012":
        if bias == 0.0:
            raise InputError("the simulated mean is 0: it has no coefficient of variation")
        variability /= bias
    distance = np.sqrt((correlation - 1.0) ** 2 + (variability - 1.0) ** 2 + (bias - 1.0) ** 2)
    return KlingGupta(float(1.0 - distance), correlation, variability, bias)


def percent_bias(simulated: ArrayLike, observed: ArrayLike) -> float:
    """Volume error, 100 (sum s - sum o) / sum o, in per cent: positive where the model gives too much.

    Parameters
    ----------
    simulated, observed : array_like
        Series of one shape and unit.

    Raises
    ------
    InputError
        No pair is left, or the observations add to 0.
    """
    s, o = pairs(simulated, observed)
    _need_mean(o)
    return float(100.0 * (s.sum() - o.sum()) / o.sum())


def root_mean_square_error(simulated: ArrayLike, observed: ArrayLike) -> float:
    """Root of the mean squared difference, in the unit of the series.

    Parameters
    ----------
    simulated, observed : array_like
        Series of one shape and unit.

    Raises
    ------
    InputError
        No pair is left.
    """
    s, o = pairs(simulated, observed)
    return float(np.sqrt(np.mean((s - o) ** 2)))


def _need_variance(values: np.ndarray, what: str) -> None:
    if np.ptp(values) == 0.0:
        raise InputError(f"all {values.size} {what} are {values[0]:g}: the measure needs values that vary")


def _need_mean(observation: np.ndarray) -> None:
    if observation.sum() == 0.0:
        raise InputError("the observations add to 0: the volume error has no meaning")
