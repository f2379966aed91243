"""Force-restore (docs/theory/energy.md): Deardorff 1978, the half-space's exact answers, and an ODE solver."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

from wepl.physics.energy import C1, C3, OMEGA, SOIL_DIFFUSIVITY, SOIL_HEAT_CAPACITY, force_restore_step
from wepl.physics.jit import physics
from wepl.validation.columns import DAY, HOUR
from wepl.validation.comparison import Case, Group, absolute, relative, table

PROCESS = "Ground heat"
_STEP = 60.0  # s
CASES = {
    "warm afternoon": (20.0, 18.0, 350.0, 120.0, 22.0, 15.0), "frost": (-5.0, 2.0, -60.0, 0.0, -8.0, 4.0),
    "strong wind": (30.0, 20.0, 600.0, 50.0, 25.0, 80.0), "no exchange": (15.0, 15.0, 100.0, 20.0, 15.0, 0.0),
    "nearly none": (15.0, 14.0, 0.0, 0.0, 10.0, 1e-9),
}


@physics
def _held_deep(constant, amplitude, n_steps):
    """Surface temperature from rest under G = constant + amplitude sin(wt), the deep one put back after each step."""
    surface = 0.0
    for index in range(n_steps):
        start, end = index * _STEP, (index + 1) * _STEP
        mean = constant + amplitude * (math.cos(OMEGA * start) - math.cos(OMEGA * end)) / (OMEGA * _STEP)
        surface = force_restore_step(surface, 0.0, mean, 0.0, 0.0, 0.0, _STEP).surface_temperature
    return surface


def constant_heat(hours: float) -> float:
    """Surface temperature under 50 W/m2, K above the start."""
    return _held_deep(50.0, 0.0, round(hours * HOUR / _STEP))


def daily_wave(hours: float) -> float:
    """Surface temperature under 100 sin(wt) W/m2, K above the start."""
    return _held_deep(0.0, 100.0, round(hours * HOUR / _STEP))


@cache
def _third_day() -> tuple[float, float]:
    """Amplitude (K) and lag (h) of the surface behind the ground heat, by Fourier sums over the third day."""
    hours = np.arange(48.0, 72.0, 0.5)
    values = np.array([daily_wave(hour) for hour in hours])
    sine, cosine = (2.0 * np.mean(values * wave(OMEGA * hours * HOUR)) for wave in (np.sin, np.cos))
    return math.hypot(sine, cosine), math.atan2(-cosine, sine) / OMEGA / HOUR


def step_end(name: str, dt: float, place: int) -> float:
    """Surface (0) or deep (1) temperature after one step."""
    return force_restore_step(*CASES[name], dt)[place]


def by_ode(name: str, dt: float, place: int) -> float:
    """The same by an ODE solver at 1e-12."""
    surface, deep, radiation, latent, air, conductance = CASES[name]

    def change(_time: float, state: np.ndarray) -> list[float]:
        ground = radiation - latent - conductance * (state[0] - air)
        return [C1 * ground - OMEGA * (state[0] - state[1]), C3 * ground]

    solution = solve_ivp(change, (0.0, dt), [surface, deep], method="DOP853", rtol=1e-12, atol=1e-12)
    return float(solution.y[place, -1])


EXACT_AMPLITUDE = 13.1105811671
GROUPS = (
    Group(PROCESS, "K m2/J", "2/(rho c d)", relative(1e-10), lambda: C1, (
        Case("C1 for rho c 2e6, kappa 2e-7", (), 1.34835132816e-5),)),
    Group(PROCESS, "K m2/J", "Deardorff 1978, 1/(rho c sqrt(365 kappa tau))", relative(1e-10), lambda: C3, (
        Case("C3 for rho c 2e6, kappa 2e-7", (), 1.0 / (2.0e6 * math.sqrt(365.0 * 2.0e-7 * DAY))),)),
    Group(PROCESS, "m", "sqrt(2 kappa/w)", absolute(5.1e-11), lambda: 2.0 / (SOIL_HEAT_CAPACITY * C1), (
        Case("daily damping depth", (), 0.0741646468),)),
    Group(PROCESS, "K", "half-space, GA/(rho c sqrt(kappa w))", relative(1e-10),
          lambda: 100.0 / (SOIL_HEAT_CAPACITY * math.sqrt(SOIL_DIFFUSIVITY * OMEGA)), (
              Case("amplitude that the coefficients imply", (), EXACT_AMPLITUDE),)),
    # The deep temperature moves by 3e-5 of the surface's change in each minute before it is put back.
    Group(PROCESS, "K", "9.2705808 (1 - exp(-wt))", relative(1e-4), constant_heat, table(
        "surface after {} h of 50 W/m2", ((1, 2.13534), (3, 5.04377), (6, 7.34342), (24, 9.25327)))),
    Group(PROCESS, "K", "half-space under 100 sin(wt) W/m2 from rest", absolute(1e-3), daily_wave, table(
        "surface after {} h of the daily wave", (
            (1, 0.579955), (3, 4.226811), (6, 11.197745), (9, 13.989249), (12, 9.671199), (18, -9.187301),
            (24, -9.253269), (48, -9.270549)))),
    Group(PROCESS, "K", "half-space", relative(1e-4), lambda: _third_day()[0], (
        Case("amplitude of the third day", (), EXACT_AMPLITUDE),)),
    Group(PROCESS, "h", "half-space, an eighth of a day", absolute(1e-3), lambda: _third_day()[1], (
        Case("lag of the third day", (), 3.0),)),
    Group(PROCESS, "degC", "ODE solver (DOP853, 1e-12)", relative(1e-9), step_end, tuple(
        Case(f"{'deep' if place else 'surface'} temperature, {name}, step of {dt:g} s", (name, dt, place))
        for name in CASES for dt in (60.0, HOUR, DAY) for place in (0, 1)), reference=by_ode, digits=6, floor=1e-10),
)
