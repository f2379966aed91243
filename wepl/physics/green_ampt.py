"""Green-Ampt within one layer (docs/theory/infiltration.md, eqs. 8.1 to 8.6; Jia and Tamai 1998)."""

from __future__ import annotations

import math
from typing import NamedTuple

from wepl.physics.jit import physics

# Newton falls from above; eight steps reach a relative 1e-9 for k dt/A from 1e-4 to 1e6 (below: 1e-8, tested).
# The error after a step goes with its square: a last step of 1e-5 of the gain leaves about 1e-10 of it.
NEWTON_STEPS = 8
LAST_STEP = 1e-5


class Ponded(NamedTuple):
    """Cumulative infiltration at the end of a ponded time (m), and whether the iteration reached its tolerance."""

    infiltration: float
    converged: bool


@physics
def capacity(infiltration, conductivity, a, b):
    """Infiltration capacity, m s-1, once ``infiltration`` m are in; eq. (8.3). Infinite where B + F is 0."""
    below = b + infiltration
    if below <= 0.0:
        return math.inf if a > 0.0 else conductivity
    return conductivity * (1.0 + a / below)


@physics
def ponding_infiltration(rate, conductivity, a, b):
    """Infiltration, m, at which a supply of ``rate`` (above ``conductivity``, m s-1) ponds; eq. (8.5)."""
    return a / (rate / conductivity - 1.0) - b


@physics
def ponded_time(start, end, conductivity, a, b):
    """Time, s, that a ponded front takes from ``start`` to ``end`` m of infiltration; eq. (8.4)."""
    gain = end - start
    return max(0.0, (gain - a * math.log1p(gain / (a + b + start))) / conductivity)


@physics
def ponded_infiltration(start, time, conductivity, a, b):
    """Infiltration, m, after ``time`` s of ponding from ``start`` m; eq. (8.4) by Newton from eq. (8.6), a > 0."""
    reach = conductivity * time
    base = a + b + start
    gain = reach + math.sqrt(2.0 * a * reach)
    step = 0.0
    for _ in range(NEWTON_STEPS):
        slope = (b + start + gain) / (base + gain)
        if slope <= 0.0:
            break
        step = (gain - a * math.log1p(gain / base) - reach) / slope
        gain = max(0.0, gain - step)
    return Ponded(start + gain, abs(step) <= LAST_STEP * gain)
