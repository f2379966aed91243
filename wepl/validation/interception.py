"""Interception (docs/theory/interception.md): closed forms of the Noilhan and Planton bucket.

Cover 0.8 and leaf area 4 give a capacity of 0.64 mm.
"""

from __future__ import annotations

from wepl.physics.interception import canopy_step, dry_canopy
from wepl.physics.jit import physics
from wepl.validation.columns import HOUR, MM, MM_PER_HOUR
from wepl.validation.comparison import Case, Group, absolute, relative, table

PROCESS = "Interception"
COVER = 0.8
CAPACITY = 0.2 * MM * COVER * 4.0
POTENTIAL = COVER * 0.3 * MM_PER_HOUR  # over the tile, Ep 0.3 mm/h


@physics
def _film(rain, capacity, potential, dt, n_steps):
    """Water on the leaves after ``n_steps`` of ``dt`` s under ``rain`` m s-1."""
    water = 0.0
    for _ in range(n_steps):
        water = canopy_step(water, rain * dt, capacity, potential, dt, 0.0).water
    return water


def drying(hours: float) -> float:
    """Water left of a full canopy, mm."""
    return dry_canopy(CAPACITY, CAPACITY, POTENTIAL, hours * HOUR) / MM


def filling(hours: float, which: str) -> float:
    """Water or drip under 5 mm/h without evaporation, mm."""
    step = canopy_step(0.0, COVER * 5.0 * MM * hours, CAPACITY, 0.0, hours * HOUR, 0.0)
    return getattr(step, which) / MM


GROUPS = (
    Group(PROCESS, "mm", "closed form, empty at 8 h", absolute(1e-10), drying, table(
        "water {} h after the rain, Ep 0.3 mm/h", ((0.5, 0.52734375), (1.0, 0.42875), (2.0, 0.27), (4.0, 0.08),
                                                   (6.0, 0.01), (8.0, 0.0), (9.0, 0.0)))),
    Group(PROCESS, "mm", "closed form; an explicit step would take 0.24", relative(1e-10),
          lambda: canopy_step(CAPACITY, 0.0, CAPACITY, POTENTIAL, HOUR, 0.0).evaporation / MM, (
              Case("evaporation of the first hour", (), 0.21125),)),
    Group(PROCESS, "mm", "full after 0.16 h", absolute(1e-10), filling, (
        Case("water after 0.1 h of 5 mm/h", (0.1, "water"), 0.4),
        Case("water after 0.16 h of 5 mm/h", (0.16, "water"), 0.64),
        Case("water after 0.5 h of 5 mm/h", (0.5, "water"), 0.64),
        Case("drip in 0.16 h of 5 mm/h", (0.16, "drip"), 0.0),
        Case("drip in 0.5 h of 5 mm/h", (0.5, "drip"), 1.36))),
    # Rain and drying alternate: second order in the length of the parts.
    Group(PROCESS, "mm", "steady film (P/Ep)^(3/2)", relative(1e-4),
          lambda dt: _film(COVER * 0.2 * MM_PER_HOUR, CAPACITY, POTENTIAL, dt, round(72 * HOUR / dt)) / MM, (
              Case("film under 0.2 mm/h of rain, Ep 0.3 mm/h, steps of a minute", (60.0,), 0.3483719),
              Case("the same in steps of an hour", (HOUR,), 0.3483719, relative(0.01)))),
)
