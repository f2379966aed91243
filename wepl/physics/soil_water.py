"""Water leaving one soil layer (docs/theory/soil-water.md, eq. 9.4; interflow.md, eq. 10.1)."""

from __future__ import annotations

import math
from typing import NamedTuple

from wepl.physics.jit import physics


class Drainage(NamedTuple):
    """What left a layer downward and sideways in a time, m."""

    down: float
    sideways: float


@physics
def drained(water, conductivity, exponent, time):
    """Water, m, that drains in ``time`` s from ``water`` m above the residual; eq. (9.4) as a share of what is there.

    ``conductivity`` is K at the start (m s-1), ``exponent`` n of K = Ks Se^n, above 1.
    """
    if water <= 0.0 or conductivity <= 0.0:
        return 0.0
    x = (exponent - 1.0) * conductivity * time / water
    return -water * math.expm1(-math.log1p(x) / (exponent - 1.0))


@physics
def mean_above(water, threshold, conductivity, exponent, time):
    """Mean, m, over ``time`` s of what a draining layer holds above ``threshold``; the integral of eq. (9.4).

    ``water`` (above the threshold) and ``threshold`` in m above the residual, ``conductivity`` K at the start (m s-1).
    """
    power = exponent - 1.0
    speed = power * conductivity / water
    if speed * time < 1e-6:
        # The rate hardly changes; it may still take all that is above.
        above, fall = water - threshold, conductivity * time
        return above - 0.5 * fall if fall <= above else 0.5 * above * above / fall
    wet = time
    growth = math.log1p(speed * time)
    if threshold > 0.0:
        until = power * math.log(water / threshold)
        if until < growth:
            growth = until
            wet = math.expm1(until) / speed
    order = 1.0 - 1.0 / power
    if order != 0.0:
        growth = math.expm1(order * growth) / order
    integral = water * growth / speed
    return max(0.0, (integral - threshold * wet) / time)


@physics
def drain_layer(water, threshold, capacity, conductivity, saturated_conductivity, exponent, side_factor, time):
    """Gravity drainage and interflow of a layer at once; eqs. (9.4) and (10.1), second order in ``time``.

    Parameters
    ----------
    water, threshold, capacity : float
        Water in the layer now, at field capacity and at saturation, m above the residual.
    conductivity, saturated_conductivity : float
        K now and at saturation, m s-1.
    exponent : float
        n of K = Ks Se^n, above 1.
    side_factor : float
        Interflow of a saturated layer as a share of its conductivity: factor (m-1) times thickness (m).
    time : float
        s.
    """
    if side_factor <= 0.0 or water <= threshold:
        return Drainage(drained(water, conductivity, exponent, time), 0.0)
    # Perched water, the share of the pores above field capacity that is full, moves at Ks: a linear store, fed by what
    # drainage alone would leave above field capacity on the mean of the time.
    rate = side_factor * saturated_conductivity / (capacity - threshold)
    above = min(water, capacity) - threshold
    mean = min(above, mean_above(water, threshold, conductivity, exponent, time))
    sideways = -above * math.expm1(-rate * mean * time / above)
    # Drainage in turn sees the layer without half of what goes sideways.
    left = water - 0.5 * sideways
    down = drained(left, conductivity * (left / water) ** exponent, exponent, time)
    return Drainage(min(down, water - sideways), sideways)
