"""Delayed recharge and the unconfined aquifer of one sub-basin (docs/theory/groundwater.md, eqs. 11.1 to 11.5)."""

from __future__ import annotations

import math
from typing import NamedTuple

from wepl.physics.jit import physics


class AquiferStep(NamedTuple):
    """An aquifer after one step: head (m) and volume given to the river in the step (m3, negative: taken from it)."""

    head: float
    discharge: float


@physics
def transition_step(storage, inflow, delay, dt):
    """Water left (m) in the transition store after ``dt`` s of even ``inflow`` (m); eq. (11.1), exact.

    ``delay`` is its time constant in s; 0 passes the inflow on.
    """
    if delay <= 0.0:
        return 0.0
    x = dt / delay
    return storage * math.exp(-x) + inflow * (-math.expm1(-x) / x)


@physics
def _mean_decay(x):
    """(1 - exp(-x))/x, 1 at 0."""
    return -math.expm1(-x) / x if x > 1e-9 else 1.0 - 0.5 * x


@physics
def aquifer_step(head, recharge, river_depth, conductance, bed_thickness, yield_area, dt):
    """Exchange with the river over one step; eqs. (11.2) to (11.4) without deep loss, exact in each regime.

    Parameters
    ----------
    head, river_depth : float
        Heads above the river bed, m.
    recharge : float
        Volume that reaches the aquifer in the step, m3, not negative.
    conductance : float
        kb Ab/db, m2 s-1.
    bed_thickness : float
        db, m: the river loses at a constant rate where the head is further than this below its level.
    yield_area : float
        Specific yield times area, m2.
    dt : float
        Step, s.
    """
    left = dt
    level = head
    gained = 0.0  # summed as it comes: the difference of two heads rounds too much in single precision
    threshold = river_depth - bed_thickness
    if level < threshold:
        rise = (recharge / dt + conductance * bed_thickness) / yield_area
        # The moment at which the head comes within reach of the river; after it the linear law holds.
        if rise * left <= threshold - level:
            gained = rise * left
            left = 0.0
        else:
            gained = threshold - level
            left -= gained / rise
            level = threshold
    if left > 0.0:
        rate = (recharge / dt - conductance * (level - river_depth)) / yield_area
        gained += rate * left * _mean_decay(conductance * left / yield_area)
    return AquiferStep(head + gained, recharge - yield_area * gained)


@physics
def deep_loss_step(head, loss_rate, dt):
    """Head, m, after deep loss over ``dt`` s at ``loss_rate`` s-1; only water above the river bed is lost."""
    return head * math.exp(-loss_rate * dt) if head > 0.0 else head
