"""Overland flow of one band (docs/theory/overland.md, eqs. 12.1 to 12.3)."""

from __future__ import annotations

from typing import NamedTuple

from wepl.physics.jit import physics
from wepl.physics.kinematic import kinematic_root


class BandStep(NamedTuple):
    """A band after one part of a step: depth left on it and depth that ran off it, m over the band."""

    depth: float
    outflow: float


@physics
def overland_rate(slope, manning, flow_length):
    """sqrt(S)/(n L), m-2/3 s-1: outflow per area is this times depth^(5/3), eq. (12.1); slope 1, n s m-1/3, L m."""
    return slope**0.5 / (manning * flow_length)


@physics
def overland_step(held, rate, dt):
    """What stays and what leaves of the depth ``held`` (m: start, supply and inflow) in ``dt`` s; eq. (12.2).

    ``rate`` is :func:`overland_rate`. The two add to ``held`` exactly.
    """
    if held <= 0.0:
        return BandStep(held, 0.0)
    y = kinematic_root(held, rate * dt)
    outflow = min(held, max(0.0, held - y * y * y))
    return BandStep(held - outflow, outflow)
