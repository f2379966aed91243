"""The degree-day pack (docs/theory/snow.md), numbers.md section 4."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wepl.physics.snow import snow_share, snow_step
from wepl.validation.columns import DAY, HOUR, MM

FACTOR = 3.0 * MM / DAY  # m K-1 s-1


def melt(ice: float, temperature: float, dt: float, liquid_share: float = 0.0):
    return snow_step(ice, 0.0, 0.0, 0.0, temperature, 0.0, dt, FACTOR, 0.0, liquid_share, 0.05)


def test_constant_warmth():
    """5 degC, 3 mm/d/K, 40 mm: 15 mm a day; the third day melts exactly the remaining 10 mm (T1)."""
    ice, outflow = 40.0 * MM, []
    for _ in range(4):
        step = melt(ice, 5.0, DAY)
        ice = step.ice
        outflow.append(step.outflow / MM)
    assert outflow == pytest.approx([15.0, 15.0, 10.0, 0.0], rel=1e-10)
    assert ice == 0.0
    # Gone after 2.6666667 days.
    assert melt(40.0 * MM, 5.0, 2.6666 * DAY).ice > 0.0
    assert melt(40.0 * MM, 5.0, 2.6667 * DAY).ice == 0.0


@pytest.mark.parametrize(("amplitude", "mean", "degrees"), [(6.0, -2.0, 1.01697953), (6.0, 0.0, 1.90985932)])
def test_daily_cycle(amplitude, mean, degrees):
    """T = Tm + A cos: mean positive degree (A sin a + Tm a)/pi, cos a = -Tm/A; an hourly sum within 0.5 %."""
    angle = math.acos(-mean / amplitude)
    assert (amplitude * math.sin(angle) + mean * angle) / math.pi == pytest.approx(degrees, abs=5.1e-9)
    ice = 1.0
    for hour in range(24):
        ice = melt(ice, mean + amplitude * math.cos(2.0 * math.pi * (hour + 0.5) / 24.0), HOUR, 1.0).ice
    assert (1.0 - ice) / MM == pytest.approx(3.0 * degrees, rel=5e-3, abs=3.0 * 5e-3 * degrees)


@pytest.mark.parametrize(("temperature", "share"), [
    (-3.0, 1.0), (0.0, 1.0), (0.5, 0.75), (1.0, 0.5), (2.0, 0.0), (9.0, 0.0)])
def test_share_of_snow(temperature, share):
    """Linear between all snow at 0 and all rain at 2 degC, half at the middle."""
    assert snow_share(temperature, 0.0, 2.0) == pytest.approx(share, abs=1e-14)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.floats(-30.0, 30.0), st.floats(0.0, 10.0), st.floats(-3.0, 3.0), st.floats(0.0, 5.0))
def test_share_falls_with_temperature(temperature, step, snow_temperature, width):
    colder = snow_share(temperature, snow_temperature, snow_temperature + width)
    warmer = snow_share(temperature + step, snow_temperature, snow_temperature + width)
    assert 0.0 <= warmer <= colder <= 1.0


def test_one_threshold():
    """Where both temperatures are the same, snow up to it and rain above."""
    assert snow_share(1.0, 1.0, 1.0) == 1.0
    assert snow_share(1.0 + 1e-12, 1.0, 1.0) == 0.0


def test_the_pack_holds_a_share_of_its_ice():
    """20 mm of ice with share 0.1: of 5 mm of rain at 0 degC 2 mm stay (eq. 4.3)."""
    step = snow_step(20 * MM, 0.0, 5 * MM, 0.0, 0.0, 0.0, DAY, FACTOR, 0.0, 0.1, 0.05)
    assert step == pytest.approx((20 * MM, 2 * MM, 3 * MM, 0.0), rel=1e-12)


def test_refreezing():
    """1.5 mm of 5 % of 3 mm/d/K at -10 degC freeze in a day, and no more than there is (eq. 4.4)."""
    step = snow_step(30 * MM, 2.5 * MM, 0.0, 0.0, -10.0, 0.0, DAY, FACTOR, 0.0, 0.1, 0.05)
    assert step == pytest.approx((31.5 * MM, 1.0 * MM, 0.0, 0.0), rel=1e-10)
    step = snow_step(30 * MM, 2.5 * MM, 0.0, 0.0, -40.0, 0.0, DAY, FACTOR, 0.0, 0.1, 0.05)
    assert step == pytest.approx((32.5 * MM, 0.0, 0.0, 0.0), rel=1e-10, abs=1e-17)


def test_sublimation_takes_ice():
    step = snow_step(1 * MM, 0.0, 0.0, 0.5 * MM, -5.0, 0.7 * MM, DAY, FACTOR, 0.0, 0.1, 0.05)
    assert step == pytest.approx((0.8 * MM, 0.0, 0.0, 0.7 * MM), rel=1e-12)
    gone = snow_step(1 * MM, 0.0, 0.0, 0.0, -5.0, 5.0 * MM, DAY, FACTOR, 0.0, 0.1, 0.05)
    assert gone == pytest.approx((0.0, 0.0, 0.0, 1.0 * MM), rel=1e-12)


@pytest.mark.parametrize("temperature", [-8.0, 8.0])
def test_without_a_pack_rain_passes(temperature):
    """In frost too: rain that no pack holds does not freeze onto nothing."""
    assert snow_step(0.0, 0.0, 7 * MM, 0.0, temperature, 0.0, DAY, FACTOR, 0.0, 0.1, 0.05) == (0.0, 0.0, 7 * MM, 0.0)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.floats(0.0, 2.0), st.floats(0.0, 0.2), st.floats(0.0, 0.1), st.floats(0.0, 0.1), st.floats(-40.0, 40.0),
       st.floats(0.0, 0.01), st.sampled_from([HOUR, DAY]))
def test_water_is_kept(ice, liquid, rain, snowfall, temperature, potential, dt):
    """Ice, liquid, outflow and sublimation add to what was there and came; none is negative (T1)."""
    step = snow_step(ice, liquid, rain, snowfall, temperature, potential, dt, FACTOR, 0.0, 0.1, 0.05)
    assert min(step) >= 0.0
    assert sum(step) == pytest.approx(ice + liquid + rain + snowfall, rel=1e-12, abs=1e-18)
    assert step.liquid <= 0.1 * step.ice + 1e-15 * (liquid + rain + ice)
    assert step.sublimation <= potential
