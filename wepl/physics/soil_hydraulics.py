"""Retention and conductivity of a soil layer (docs/theory/soil-hydraulics.md, eqs. 7.1 to 7.5)."""

from __future__ import annotations

import math
from typing import NamedTuple

from wepl.physics.jit import physics

# Suction at and below 1 cm is saturation; the driest suction followed is 1e7 cm (oven-dry air).
_LARGEST_LOG = math.log(1.0e7)
_SMALLEST_SATURATION = 1e-9


class Suction(NamedTuple):
    """Suction head and its derivative by effective saturation, m."""

    head: float
    slope: float


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
        return Suction(0.01, 0.0)
    bounded = max(saturation, _SMALLEST_SATURATION)
    ratio = a * (1.0 / bounded - 1.0)
    logarithm = ratio ** (1.0 / b)
    if logarithm >= _LARGEST_LOG:
        return Suction(0.01 * math.exp(_LARGEST_LOG), 0.0)
    psi = 0.01 * math.exp(logarithm)
    return Suction(psi, -psi * logarithm / (b * bounded * (1.0 - bounded)))


@physics
def suction_slope(saturation, a, b):
    """Derivative of the suction head by saturation, m, negative or 0."""
    return suction_and_slope(saturation, a, b).slope


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
