"""Water on leaves (docs/theory/interception.md, eqs. 5.1 to 5.4; Noilhan and Planton 1989)."""

from __future__ import annotations

from typing import NamedTuple

from wepl.physics.jit import physics

_WET_PARTS = 4


class CanopyStep(NamedTuple):
    """A canopy after one step: water on it, evaporated and dripped in the step (m over the tile)."""

    water: float
    evaporation: float
    drip: float


@physics
def dry_canopy(water, capacity, rate, time):
    """Water left on a canopy after ``time`` s of drying at the potential ``rate`` (m s-1), m; eq. (5.4)."""
    if water <= 0.0 or capacity <= 0.0:
        return 0.0
    fill = (min(water, capacity) / capacity) ** (1.0 / 3.0)
    left = max(0.0, fill - rate * time / (3.0 * capacity))
    return min(water, capacity * left * left * left)


@physics
def canopy_step(water, rain, capacity, potential, wet_time, dry_time):
    """Advance a canopy through a step whose wet part comes first; eqs. (5.2) to (5.4).

    In the wet part rain and drying alternate in four symmetric parts: half of a part's rain, its drying, the other
    half.

    Parameters
    ----------
    water : float
        Water on the leaves, m over the tile.
    rain : float
        Rain on the leaves in the step, m over the tile.
    capacity : float
        Wmax, m over the tile; 0 without leaves.
    potential : float
        Evaporation of the fully wet canopy, m s-1 over the tile.
    wet_time, dry_time : float
        Length of the wet and the dry part, s.

    Returns
    -------
    CanopyStep
    """
    drip = max(0.0, water - capacity)
    water = water - drip
    if capacity <= 0.0:
        return CanopyStep(0.0, 0.0, drip + rain)
    evaporation = 0.0
    if rain > 0.0:
        half = 0.5 * rain / _WET_PARTS
        for _ in range(_WET_PARTS):
            full = water + half
            spilled = max(0.0, full - capacity)
            full -= spilled
            left = dry_canopy(full, capacity, potential, wet_time / _WET_PARTS)
            evaporation += full - left
            full = left + half
            more = max(0.0, full - capacity)
            water = full - more
            drip += spilled + more
    elif wet_time > 0.0:
        left = dry_canopy(water, capacity, potential, wet_time)
        evaporation += water - left
        water = left
    left = dry_canopy(water, capacity, potential, dry_time)
    evaporation += water - left
    return CanopyStep(left, evaporation, drip)
