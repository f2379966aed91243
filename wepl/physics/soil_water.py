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
def drain_layer(water, threshold, conductivity, exponent, side_factor, time):
    """Gravity drainage and interflow of a layer together, exactly; eqs. (9.4) and (10.1).

    Both go with K, so above field capacity the layer drains as if it were ``1 + side_factor`` times as conductive, and
    the two share what leaves; below it only gravity is left.

    Parameters
    ----------
    water, threshold : float
        Water in the layer now and at field capacity, m above the residual.
    conductivity : float
        K at the start, m s-1.
    exponent : float
        n of K = Ks Se^n, above 1.
    side_factor : float
        Interflow as a share of K: factor (m-1) times thickness (m).
    time : float
        s.
    """
    if side_factor <= 0.0 or water <= threshold:
        return Drainage(drained(water, conductivity, exponent, time), 0.0)
    together = 1.0 + side_factor
    gone = drained(water, conductivity * together, exponent, time)
    above = water - threshold
    if gone <= above:
        return Drainage(gone / together, gone * side_factor / together)
    # Field capacity is passed: the time it took, then gravity alone.
    power = exponent - 1.0
    reached = math.expm1(power * math.log(water / threshold)) * water / (power * conductivity * together)
    slower = conductivity * (threshold / water) ** exponent
    rest = drained(threshold, slower, exponent, max(0.0, time - reached))
    return Drainage(above / together + rest, above * side_factor / together)
