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
def drain_layer(water, threshold, capacity, conductivity, saturated_conductivity, exponent, side_factor, time):
    """Gravity drainage and interflow of a layer; eqs. (9.4) and (10.1), interflow half before and half after drainage.

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
    # Perched water, the share of the pores above field capacity that is full, moves at Ks: a linear store.
    share = -math.expm1(-0.5 * side_factor * saturated_conductivity * time / (capacity - threshold))
    before = share * min(water - threshold, capacity - threshold)
    left = water - before
    down = drained(left, conductivity * (left / water) ** exponent, exponent, time)
    after = share * max(0.0, left - down - threshold)
    return Drainage(down, before + after)
