"""The canopy store (docs/theory/interception.md): closed forms of the Noilhan and Planton bucket, numbers.md section 3.

Veg 0.8, LAI 4: capacity 0.64 mm; the closed forms are derived there.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wepl.physics.interception import canopy_step, dry_canopy
from wepl.validation.columns import HOUR, MM, MM_PER_HOUR

COVER = 0.8
CAPACITY = 0.2 * MM * COVER * 4.0
POTENTIAL = COVER * 0.3 * MM_PER_HOUR  # over the tile, Ep 0.3 mm/h


@pytest.mark.parametrize(("hours", "share"), [
    (0.5, 0.52734375), (1, 0.42875), (2, 0.27), (4, 0.08), (6, 0.01), (8, 0.0), (9, 0.0)])
def test_drying(hours, share):
    """From full at Ep 0.3 mm/h; the shares are W in mm, since x W = 0.64 x; empty at exactly 8 h."""
    assert dry_canopy(CAPACITY, CAPACITY, POTENTIAL, hours * HOUR) / MM == pytest.approx(share, rel=1e-10, abs=1e-13)
    step = canopy_step(CAPACITY, 0.0, CAPACITY, POTENTIAL, 0.0, hours * HOUR)
    assert step.water / MM == pytest.approx(share, rel=1e-10, abs=1e-13)
    assert step.evaporation == pytest.approx(CAPACITY - step.water, rel=1e-12)
    assert step.drip == 0.0


def test_first_hour():
    """0.21125 mm evaporate; an explicit step would take Veg Ep t = 0.24 mm."""
    step = canopy_step(CAPACITY, 0.0, CAPACITY, POTENTIAL, HOUR, 0.0)
    assert step.evaporation / MM == pytest.approx(0.21125, rel=1e-10)


def test_drying_chains():
    """Two times in a row dry what their sum dries."""
    first = dry_canopy(0.5 * MM, CAPACITY, POTENTIAL, 1.3 * HOUR)
    assert dry_canopy(first, CAPACITY, POTENTIAL, 2.1 * HOUR) == pytest.approx(
        dry_canopy(0.5 * MM, CAPACITY, POTENTIAL, 3.4 * HOUR), rel=1e-10)


@pytest.mark.parametrize("hours", [0.1, 0.16, 0.5])
def test_filling_without_evaporation(hours):
    """5 mm/h on the leaves: full after 0.16 h, then all of Veg P drips."""
    rain = COVER * 5.0 * MM * hours
    step = canopy_step(0.0, rain, CAPACITY, 0.0, hours * HOUR, 0.0)
    assert step.water == pytest.approx(min(rain, CAPACITY), rel=1e-12)
    assert step.drip == pytest.approx(max(0.0, rain - CAPACITY), rel=1e-10, abs=1e-17)
    assert step.evaporation == pytest.approx(0.0, abs=1e-15 * CAPACITY)


def test_light_rain_reaches_a_steady_film():
    """P 0.2 mm/h under Ep 0.3: x = (P/Ep)^(3/2), 0.3483719 mm; parts of a minute, second order in their length."""
    water = 0.0
    for _ in range(60 * 72):
        water = canopy_step(water, COVER * 0.2 * MM / 60.0, CAPACITY, POTENTIAL, 60.0, 0.0).water
    assert water / MM == pytest.approx(0.3483719, rel=1e-4)
    hourly = 0.0
    for _ in range(72):
        step = canopy_step(hourly, COVER * 0.2 * MM, CAPACITY, POTENTIAL, HOUR, 0.0)
        hourly = step.water
    assert hourly / MM == pytest.approx(0.3483719, rel=0.01)
    assert step.evaporation == pytest.approx(COVER * 0.2 * MM, rel=1e-6)


def test_no_leaves_no_store():
    """Without capacity everything drips, also what was held when the leaves fell."""
    assert canopy_step(0.3 * MM, 2.0 * MM, 0.0, POTENTIAL, HOUR, HOUR) == (0.0, 0.0, 2.3 * MM)
    shrunk = canopy_step(0.6 * MM, 0.0, 0.2 * MM, 0.0, HOUR, HOUR)
    assert shrunk.drip == pytest.approx(0.4 * MM, rel=1e-12)
    assert dry_canopy(1.0 * MM, 0.0, POTENTIAL, HOUR) == 0.0


def test_wet_part_comes_before_the_dry_part():
    """A day's storm of 6 h: the leaves are full at its end and lose one fill afterwards."""
    step = canopy_step(0.0, COVER * 30.0 * MM, CAPACITY, POTENTIAL, 6 * HOUR, 18 * HOUR)
    assert step.water == 0.0
    # One fill after the storm, and the full rate through all of it but the first minutes.
    assert step.evaporation == pytest.approx(CAPACITY + POTENTIAL * 6 * HOUR, rel=0.25)
    assert step.evaporation <= CAPACITY + POTENTIAL * 6 * HOUR


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.floats(0.0, 5e-3), st.floats(0.0, 0.3), st.floats(0.0, 5e-3), st.floats(0.0, 5e-7), st.floats(0.0, 1.0))
def test_balance_and_bounds(water, rain, capacity, potential, wet_share):
    """Water is kept to rounding, nothing is negative, and no more than the potential evaporates (T1)."""
    time = 86400.0
    step = canopy_step(water, rain, capacity, potential, wet_share * time, (1.0 - wet_share) * time)
    assert all(math.isfinite(value) and value >= 0.0 for value in step)
    assert sum(step) == pytest.approx(water + rain, rel=1e-12, abs=1e-18)
    assert step.water <= capacity
    assert step.evaporation <= potential * time * (1.0 + 1e-9) + 1e-15
