"""Retention and conductivity of a soil layer (docs/theory/soil-hydraulics.md, eqs. 7.1 to 7.5)."""

from __future__ import annotations

import math

import numpy as np

from wepl.physics.jit import physics

WILTING_SUCTION_CM = 15000.0
FIELD_CAPACITY_CONDUCTIVITY = 1.0e-3 / 86400.0  # m s-1: 1 mm a day
TIGHT_SHARE = 0.1  # of saturated conductivity at field capacity, where that is below 1 mm a day
# Suction at and below 1 cm is saturation; the driest suction followed is 1e7 cm (oven-dry air).
_LARGEST_LOG = math.log(1.0e7)
_SMALLEST_SATURATION = 1e-9


@physics
def suction(saturation, a, b):
    """Suction head, m, at effective saturation ``saturation``; eq. (7.2), Haverkamp in ln(psi), at most 1e5 m."""
    if saturation >= 1.0:
        return 0.01
    ratio = a * (1.0 / max(saturation, _SMALLEST_SATURATION) - 1.0)
    return 0.01 * math.exp(min(_LARGEST_LOG, ratio ** (1.0 / b)))


@physics
def suction_and_slope(saturation, a, b):
    """Suction head (m) and its derivative by saturation (m, negative or 0); eq. (7.2) and its derivative."""
    if saturation >= 1.0:
        return 0.01, 0.0
    bounded = max(saturation, _SMALLEST_SATURATION)
    ratio = a * (1.0 / bounded - 1.0)
    logarithm = ratio ** (1.0 / b)
    if logarithm >= _LARGEST_LOG:
        return 0.01 * math.exp(_LARGEST_LOG), 0.0
    psi = 0.01 * math.exp(logarithm)
    return psi, -psi * logarithm / (b * bounded * (1.0 - bounded))


@physics
def suction_slope(saturation, a, b):
    """Derivative of the suction head by saturation, m, negative or 0."""
    return suction_and_slope(saturation, a, b)[1]


@physics
def conductivity(saturation, saturated, exponent):
    """Hydraulic conductivity in the unit of ``saturated``; eq. (7.3), Mualem power."""
    if saturation <= 0.0:
        return 0.0
    return saturated * min(1.0, saturation) ** exponent


@physics
def retention_saturation(suction_head, a, b):
    """Effective saturation, 0 to 1, at ``suction_head`` m; eq. (7.2)."""
    centimetres = 100.0 * suction_head
    if centimetres <= 1.0:
        return 1.0
    return a / (a + math.log(centimetres) ** b)


def derive_curve(saturated, residual, field_capacity, wilting_point, conductivity, field_capacity_suction):
    """a, b and n of a soil from its field capacity, wilting point and conductivity; eqs. (7.4) and (7.5).

    Parameters
    ----------
    saturated, residual, field_capacity, wilting_point : array_like
        Volumetric water contents, residual < wilting point < field capacity < saturated.
    conductivity : array_like
        Saturated conductivity, m s-1.
    field_capacity_suction : array_like
        Suction of field capacity, cm.

    Returns
    -------
    a, b, n : ndarray
        Haverkamp a and b, exponent of conductivity.
    """
    span = np.asarray(saturated, dtype=float) - residual
    at_capacity = (np.asarray(field_capacity, dtype=float) - residual) / span
    at_wilting = (np.asarray(wilting_point, dtype=float) - residual) / span
    ratio_capacity = (1.0 - at_capacity) / at_capacity
    ratio_wilting = (1.0 - at_wilting) / at_wilting
    log_capacity = np.log(np.asarray(field_capacity_suction, dtype=float))
    b = np.log(ratio_wilting / ratio_capacity) / np.log(math.log(WILTING_SUCTION_CM) / log_capacity)
    a = log_capacity**b / ratio_capacity
    saturated_conductivity = np.asarray(conductivity, dtype=float)
    drained = np.minimum(FIELD_CAPACITY_CONDUCTIVITY, TIGHT_SHARE * saturated_conductivity)
    n = np.log(drained / saturated_conductivity) / np.log(at_capacity)
    return a, b, n
