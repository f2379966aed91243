"""Force-restore (docs/theory/energy.md): Deardorff 1978, numbers.md section 5, and an ODE solver at 1e-12.

C3 is that of eq. (6.21) with sqrt(365 kappa tau) for the depth of the yearly wave.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from wepl.physics.energy import (
    C1,
    C3,
    OMEGA,
    SOIL_DIFFUSIVITY,
    SOIL_HEAT_CAPACITY,
    force_restore_step,
    ground_heat_estimate,
)
from wepl.validation.columns import DAY, HOUR


def held_deep(ground_heat, hours: float, step: float) -> float:
    """Surface temperature after ``hours`` under G(t), mean of each step, the deep one put back to 0 after each."""
    surface = 0.0
    for index in range(round(hours * HOUR / step)):
        mean = ground_heat(index * step, (index + 1) * step)
        surface = force_restore_step(surface, 0.0, mean, 0.0, 0.0, 0.0, step).surface_temperature
    return surface


def sine(start: float, end: float) -> float:
    """Mean of 100 sin(wt) W m-2."""
    return 100.0 * (math.cos(OMEGA * start) - math.cos(OMEGA * end)) / (OMEGA * (end - start))


def test_coefficients():
    """rho c 2.0e6 and kappa 2.0e-7: C1 1.34835132816e-5 by the book, and by 2/(rho c d) with d 0.0741646468 m."""
    assert C1 == pytest.approx(1.34835132816e-5, rel=1e-10)
    depth = math.sqrt(2.0 * SOIL_DIFFUSIVITY / OMEGA)
    assert depth == pytest.approx(0.0741646468, abs=5.1e-11)
    assert C1 == pytest.approx(2.0 / (SOIL_HEAT_CAPACITY * depth), rel=1e-12)
    assert C3 == pytest.approx(1.0 / (SOIL_HEAT_CAPACITY * math.sqrt(365.0 * SOIL_DIFFUSIVITY * DAY)), rel=1e-12)


@pytest.mark.parametrize(("hours", "temperature"), [(1, 2.13534), (3, 5.04377), (6, 7.34342), (24, 9.25327)])
def test_constant_ground_heat(hours, temperature):
    """50 W/m2 from rest: 9.2705808 (1 - exp(-wt)). In one minute the deep temperature moves by C3/C1 w dt/2 of the
    surface's change, 3e-5, before it is put back."""
    assert C1 * 50.0 / OMEGA == pytest.approx(9.2705808, rel=1e-7)
    assert held_deep(lambda start, end: 50.0, hours, 60.0) == pytest.approx(temperature, rel=1e-4)


@pytest.mark.parametrize(("hours", "temperature"), [
    (1, 0.579955), (3, 4.226811), (6, 11.197745), (9, 13.989249), (12, 9.671199), (18, -9.187301), (24, -9.253269),
    (48, -9.270549)])
def test_daily_wave(hours, temperature):
    """G = 100 sin(wt) from rest: the exact half-space answer, amplitude 13.11 K and lag 3 h; steps of a minute.

    Within 1e-3 K: the deep temperature's share as above and the even heat of a step.
    """
    assert held_deep(sine, hours, 60.0) == pytest.approx(temperature, abs=1e-3)


def test_amplitude_and_lag():
    """Amplitude 13.1105811671 K, GA/(rho c sqrt(kappa w)), three hours after G."""
    exact = 100.0 / (SOIL_HEAT_CAPACITY * math.sqrt(SOIL_DIFFUSIVITY * OMEGA))
    assert exact == pytest.approx(13.1105811671, rel=1e-10)
    # The transient exp(-wt) is gone to 4e-6 after two days.
    assert held_deep(sine, 48.0 + 9.0, 60.0) == pytest.approx(exact, rel=1e-4)
    assert held_deep(sine, 48.0 + 3.0, 60.0) == pytest.approx(0.0, abs=1e-3)


def by_ode(surface, deep, radiation, latent, air, conductance, dt):
    """Temperatures at the end and the integrals of ground and sensible heat."""
    def change(_time, state):
        sensible = conductance * (state[0] - air)
        ground = radiation - latent - sensible
        return [C1 * ground - OMEGA * (state[0] - state[1]), C3 * ground, ground, sensible]

    solution = solve_ivp(change, (0.0, dt), [surface, deep, 0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-12)
    return solution.y[:, -1]


CASES = [(20.0, 18.0, 350.0, 120.0, 22.0, 15.0), (-5.0, 2.0, -60.0, 0.0, -8.0, 4.0),
         (30.0, 20.0, 600.0, 50.0, 25.0, 80.0), (15.0, 15.0, 100.0, 20.0, 15.0, 0.0),
         (15.0, 14.0, 0.0, 0.0, 10.0, 1e-9)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dt", [60.0, HOUR, DAY])
def test_the_step_is_exact(case, dt):
    """Against solve_ivp at 1e-12; the heats are means over the step."""
    step = force_restore_step(*case, dt)
    surface, deep, ground, sensible = by_ode(*case, dt)
    assert step.surface_temperature == pytest.approx(surface, rel=1e-9, abs=1e-9)
    assert step.deep_temperature == pytest.approx(deep, rel=1e-9, abs=1e-9)
    assert step.ground_heat == pytest.approx(ground / dt, rel=1e-7, abs=1e-7)
    assert step.sensible_heat == pytest.approx(sensible / dt, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_one_day_is_24_hours(case):
    surface, deep = case[0], case[1]
    ground = 0.0
    for _ in range(24):
        step = force_restore_step(surface, deep, *case[2:], HOUR)
        surface, deep = step.surface_temperature, step.deep_temperature
        ground += step.ground_heat / 24.0
    whole = force_restore_step(*case, DAY)
    assert (surface, deep) == pytest.approx(whole[:2], rel=1e-10, abs=1e-10)
    assert ground == pytest.approx(whole.ground_heat, rel=1e-8, abs=1e-8)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.floats(-40.0, 60.0), st.floats(-20.0, 40.0), st.floats(-200.0, 1000.0), st.floats(0.0, 600.0),
       st.floats(-40.0, 45.0), st.floats(0.0, 200.0), st.sampled_from([HOUR, 6 * HOUR, DAY]))
def test_energy_closes(surface, deep, radiation, latent, air, conductance, dt):
    """RN = lE + H + G to rounding, and the deep soil stores G."""
    step = force_restore_step(surface, deep, radiation, latent, air, conductance, dt)
    assert all(math.isfinite(value) for value in step)
    scale = abs(radiation) + abs(latent) + abs(step.ground_heat) + abs(step.sensible_heat)
    assert latent + step.sensible_heat + step.ground_heat == pytest.approx(radiation, rel=0.0, abs=1e-15 * scale)
    assert step.deep_temperature - deep == pytest.approx(C3 * step.ground_heat * dt, rel=1e-9, abs=1e-12)


def test_rest():
    """Surface, deep soil and air at one temperature without net energy: nothing moves."""
    step = force_restore_step(12.0, 12.0, 0.0, 0.0, 12.0, 20.0, DAY)
    np.testing.assert_allclose(step, (12.0, 12.0, 0.0, 0.0), rtol=0.0, atol=1e-10)


def test_ground_heat_of_a_resting_surface():
    """Eq. (6.24) is the G under which dTs/dt is 0."""
    estimate = ground_heat_estimate(18.0, 15.0)
    assert C1 * estimate - OMEGA * 3.0 == pytest.approx(0.0, abs=1e-18)
    step = force_restore_step(18.0, 15.0, estimate, 0.0, 0.0, 0.0, 1.0)
    assert step.surface_temperature == pytest.approx(18.0, abs=1e-6)
