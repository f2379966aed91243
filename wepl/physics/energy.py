"""Surface and deep soil temperature by force-restore (docs/theory/energy.md, eqs. 6.20 to 6.24; Deardorff 1978)."""

from __future__ import annotations

import math
from typing import NamedTuple

from wepl.physics.jit import physics

OMEGA = 2.0 * math.pi / 86400.0  # s-1
SOIL_HEAT_CAPACITY = 2.0e6  # J m-3 K-1, moist mineral soil
SOIL_DIFFUSIVITY = 2.0e-7  # m2 s-1
# C1 = 2/(rho c d), d = sqrt(2 kappa/omega) the daily damping depth; C3 = 1/(rho c d2), d2 = sqrt(365 kappa tau).
C1 = 2.0 / (SOIL_HEAT_CAPACITY * math.sqrt(2.0 * SOIL_DIFFUSIVITY / OMEGA))  # K m2 J-1
C3 = 1.0 / (SOIL_HEAT_CAPACITY * math.sqrt(365.0 * 86400.0 * SOIL_DIFFUSIVITY))  # K m2 J-1


class ForceRestore(NamedTuple):
    """End of a step: temperatures (degC) and mean ground and sensible heat over the step (W m-2)."""

    surface_temperature: float
    deep_temperature: float
    ground_heat: float
    sensible_heat: float


@physics
def ground_heat_estimate(surface_temperature, deep_temperature):
    """Ground heat that evaporation of the coming step reckons with, W m-2; eq. (6.24)."""
    return OMEGA * (surface_temperature - deep_temperature) / C1


@physics
def _phi(x):
    """(1 - exp(-x))/x, 1 at 0."""
    return -math.expm1(-x) / x if x > 1e-8 else 1.0 - 0.5 * x


@physics
def force_restore_step(surface, deep, radiation, latent, air_temperature, conductance, dt):
    """Integrate eqs. (6.20) and (6.21) exactly over one step under constant radiation and latent heat.

    With G = radiation - latent - conductance (Ts - Ta), eqs. (6.22) and (6.23), both equations are linear in (Ts, T2);
    their matrix has two real negative eigenvalues (or one that is 0 when there is no conductance).

    Parameters
    ----------
    surface, deep : float
        Surface and deep temperature at the start, degC.
    radiation, latent : float
        Net radiation and latent heat flux, W m-2.
    air_temperature : float
        Air temperature, degC.
    conductance : float
        Heat capacity of air over aerodynamic resistance, W m-2 K-1; at least 0.
    dt : float
        Step, s.

    Returns
    -------
    ForceRestore
        Radiation - latent = sensible + ground heat to rounding.
    """
    known = radiation - latent + conductance * air_temperature  # G = known - conductance Ts
    # d(Ts)/dt = -p Ts + w T2 + C1 known; d(T2)/dt = -q Ts + C3 known
    p = C1 * conductance + OMEGA
    q = C3 * conductance
    root = math.sqrt(max(0.0, p * p - 4.0 * OMEGA * q))
    fast = 0.5 * (p + root)
    slow = OMEGA * q / fast
    start_surface = -p * surface + OMEGA * deep + C1 * known
    start_deep = -q * surface + C3 * known
    # The solution is start + t phi-functions of the matrix M on the first derivative v: x(t) = x0 + f(M) v with
    # f(M) = a I + b M from its values t phi(l t) at the two eigenvalues -fast and -slow.
    at_fast = dt * _phi(fast * dt)
    at_slow = dt * _phi(slow * dt)
    b = (at_slow - at_fast) / (fast - slow)
    a = at_slow + b * slow
    turned_surface = -p * start_surface + OMEGA * start_deep
    turned_deep = -q * start_surface
    end_surface = surface + a * start_surface + b * turned_surface
    end_deep = deep + a * start_deep + b * turned_deep
    # d(T2)/dt = C3 G, so the step's mean G is the deep temperature's rise.
    ground = (a * start_deep + b * turned_deep) / (C3 * dt)
    return ForceRestore(end_surface, end_deep, ground, radiation - latent - ground)
