"""Overland flow (docs/theory/overland.md): exact planes and the V-catchment of di Giammarco et al. 1996.

Planes and channel are routed by the model's own step in equal cells; the answers are those of the kinematic wave
itself, by characteristics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from wepl.physics.jit import physics
from wepl.physics.overland import overland_rate, overland_step
from wepl.physics.river import cell_step
from wepl.validation.columns import MM, MM_PER_HOUR
from wepl.validation.comparison import Case, Group, Tolerance, absolute, relative

PROCESS = "Overland flow"
FINE_CELLS, FINE_STEP = 500, 2.0  # cells of a plane, s


@physics
def plane(n_cells, length, slope, manning, rain, duration, dt, n_steps):
    """Outflow per width (m2 s-1, mean of each step) of a plane of equal cells under ``rain`` m s-1 for ``duration`` s.

    Also what is left on it (m2).
    """
    cell = length / n_cells
    rate = overland_rate(slope, manning, cell)
    depth = np.zeros(n_cells)
    flow = np.empty(n_steps)
    for step in range(n_steps):
        supply = rain * max(0.0, min(dt, duration - step * dt))
        arrived = 0.0
        for index in range(n_cells):
            band = overland_step(depth[index] + supply + arrived, rate, dt)
            depth[index] = band.depth
            arrived = band.outflow
        flow[step] = arrived * cell / dt
    return flow, depth.sum() * cell


def at(flow: np.ndarray, dt: float, times: Sequence[float]) -> np.ndarray:
    """Flow at the ends of steps: the implicit scheme's mean of a step is its end."""
    return flow[[round(time / dt) - 1 for time in times]]


def exact_plane(length: float, slope: float, manning: float, rain: float, duration: float,
                times: np.ndarray) -> np.ndarray:
    """Outflow per width of a plane by characteristics: rise, plateau, recession."""
    alpha = math.sqrt(slope) / manning
    equilibrium = (length / (alpha * rain ** (2 / 3))) ** 0.6
    result = np.empty(times.size)
    for place, time in enumerate(times):
        if time <= min(duration, equilibrium):
            result[place] = alpha * (rain * time) ** (5 / 3)
        elif time <= duration:
            result[place] = rain * length
        else:
            depth = rain * min(duration, equilibrium)
            plateau = alpha * depth ** (5 / 3)
            start = duration + (length - plateau / rain) / (5 / 3 * alpha * depth ** (2 / 3))
            if time <= start:
                result[place] = plateau
            else:
                low, high = 0.0, plateau
                for _ in range(200):
                    q = 0.5 * (low + high)
                    reached = q / rain + 5 / 3 * alpha**0.6 * q**0.4 * (time - duration)
                    low, high = (q, high) if reached < length else (low, q)
                result[place] = 0.5 * (low + high)
    return result


@physics
def v_catchment(n_cells, dt, n_steps):
    """Two planes of 800 x 1000 m beside a channel of 20 x 1000 m under 10.8 mm/h for 90 minutes.

    Outflow of a plane per width (m2 s-1), of the channel (m3 s-1), and water left (m3).
    """
    rain = 10.8 * MM_PER_HOUR
    side, left = plane(n_cells, 800.0, 0.05, 0.015, rain, 5400.0, dt, n_steps)
    length = 1000.0 / n_cells
    roughness = (0.15 / math.sqrt(0.02)) ** 0.6
    storage = np.zeros(n_cells)
    flow = np.empty(n_steps)
    for step in range(n_steps):
        supply = rain * max(0.0, min(dt, 5400.0 - step * dt)) * 20.0 * length
        discharge = 0.0
        for cell in range(n_cells):
            lateral = 2.0 * side[step] * length * dt + supply
            after = cell_step(storage[cell], discharge, lateral, length, 20.0, roughness, dt)
            storage[cell] = after.storage
            discharge = after.discharge
        flow[step] = discharge
    return side, flow, 2.0 * left * 1000.0 + storage.sum()


PLANES = {  # length, slope, n, mm/h, duration s; outflow m2/s at times s
    "A": ((100.0, 0.01, 0.1, 50.0, 3600.0),
          {300: 1.0789e-4, 600: 3.42529e-4, 900: 6.73261e-4, 1200: 1.08746e-3, 3900: 9.58153e-4, 4200: 6.50873e-4,
           4800: 3.02498e-4, 6000: 8.44736e-5, 9000: 1.27176e-5}),
    "B": ((100.0, 0.01, 0.1, 50.0, 600.0), {900: 3.4252945e-4, 1800: 3.02498e-4, 2400: 1.51869e-4, 3600: 5.14722e-5}),
    "C": ((100.0, 0.0016, 0.025, 50.0, 1800.0),
          {300: 1.72624e-4, 600: 5.48047e-4, 800: 8.85216e-4, 2100: 8.45655e-4, 2700: 3.05035e-4, 3600: 8.55113e-5}),
}
PLANE_FILES = {  # whole hydrographs solved for this project
    "hillslope": ((800.0, 0.05, 0.015, 10.8, 5400.0),
                  {300: 0.0001250637, 600: 0.00039705248, 900: 0.00078042891, 1200: 0.0012605631, 1500: 0.0018284423,
                  2400: 0.0024, 3600: 0.0024, 5400: 0.0024, 5700: 0.0017950026, 6000: 0.0013275485,
                  6600: 0.00072037776, 7200: 0.00040296499, 8400: 0.00015120195, 9600: 7.1156094e-05,
                  10800: 3.9274764e-05}),
    "long": ((2000.0, 0.01, 0.1, 30.0, 3600.0),
                  {600: 0.00014620089, 1200: 0.00046415888, 1800: 0.0009123303, 2400: 0.0014736126,
                  3000: 0.0021374699, 3600: 0.0028964682, 4800: 0.0028964682, 6000: 0.0028964682,
                  7200: 0.0028964682, 9600: 0.0028964682, 12000: 0.0028964682, 13200: 0.0028964682,
                  14400: 0.0026630212, 16200: 0.002024848, 18000: 0.0015663538, 21600: 0.00098538092}),
}
# Shortly behind the end of a plateau, a kink that first order smears.
NEAR_KINKS = (("B", 1800), ("long", 13200), ("long", 14400))
V_PLANE = {600: 3.97052e-4, 1200: 1.26056e-3, 6000: 1.32755e-3, 6600: 7.20378e-4, 7200: 4.02965e-4, 9000: 1.01263e-4,
           10800: 3.92748e-5}
V_OUTLET = {10: 0.0094, 20: 0.171, 30: 0.987, 40: 2.732, 50: 4.612, 60: 4.860, 70: 4.860, 80: 4.860, 90: 4.860,
            95: 4.686, 100: 4.276, 110: 3.178, 120: 2.167, 150: 0.707, 180: 0.300, 240: 0.091}


@cache
def _hydrograph(name: str) -> np.ndarray:
    """Outflow, m2/s, of a plane in fine cells, at each second."""
    (length, slope, manning, rain, duration), flows = (PLANES | PLANE_FILES)[name]
    return plane(FINE_CELLS, length, slope, manning, rain * MM_PER_HOUR, duration, FINE_STEP,
                 round(max(flows) / FINE_STEP))[0]


def plane_flow(name: str, time: float) -> float:
    """Outflow of a plane, m2/s."""
    return float(at(_hydrograph(name), FINE_STEP, [time])[0])


@cache
def _v_catchment() -> tuple[np.ndarray, np.ndarray, float]:
    return v_catchment(FINE_CELLS, FINE_STEP, 7200)


def v_flow(time: float, place: int) -> float:
    """Outflow of a plane (0, m2/s) or of the channel (1, m3/s) of the V-catchment."""
    side, outlet, _ = _v_catchment()
    return float(at(outlet if place else side, FINE_STEP, [time])[0])


def v_volume() -> float:
    """Water that left the V-catchment and that is left, m3."""
    _, flow, left = _v_catchment()
    return float(flow.sum()) * FINE_STEP + left


@cache
def _equilibrium() -> tuple[float, float]:
    """Outflow (m2/s) and storage (m2) of plane A under endless rain."""
    flow, left = plane(FINE_CELLS, 100.0, 0.01, 0.1, 50.0 * MM_PER_HOUR, 1e9, 60.0, 200)
    return float(flow[-1]), float(left)


@physics
def _front(n_cells, cell, rate, before, inflow, dt, n_steps, first, last):
    """Times (s) at which flow passes half of the step's height at two cells; ``inflow`` m2/s enters from time 0."""
    depth = np.full(n_cells, before)
    base = rate * before ** (5.0 / 3.0) * cell
    middle = 0.5 * (base + inflow)
    times = np.zeros(2)
    for step in range(n_steps):
        arrived = inflow * dt / cell
        for index in range(n_cells):
            band = overland_step(depth[index] + arrived, rate, dt)
            depth[index] = band.depth
            arrived = band.outflow
            flow = arrived * cell / dt
            if index == first and times[0] == 0.0 and flow >= middle:
                times[0] = (step + 1) * dt
            if index == last and times[1] == 0.0 and flow >= middle:
                times[1] = (step + 1) * dt
    return times


def shock_speed(before: float) -> float:
    """Speed, m/s, of a front of 0.001 m2/s onto a flow ``before`` (m2/s); slope 0.02, n 0.05, 400 m in 1000 cells."""
    n_cells, cell, dt = 1000, 0.4, 1.0
    rate = overland_rate(0.02, 0.05, cell)
    depth = (before / (rate * cell)) ** 0.6
    times = _front(n_cells, cell, rate, depth, 1e-3, dt, 4000, n_cells // 2 - 1, n_cells - 1)
    return 0.5 * n_cells * cell / float(times[1] - times[0])


def _share_of_peak(flows: dict[int, float], share: float) -> Tolerance:
    return absolute(share * max(flows.values()))


def _plane_cases(planes: Mapping[str, tuple[tuple[float, ...], dict[int, float]]]) -> tuple[Case, ...]:
    return tuple(
        Case(f"plane {name}: outflow at {time} s", (name, time), expected,
             _share_of_peak(flows, 0.03 if (name, time) in NEAR_KINKS else 4e-3))
        for name, (_, flows) in planes.items() for time, expected in flows.items())


GROUPS = (
    # First order: 4e-3 of the peak in 500 cells and steps of two seconds.
    Group(PROCESS, "m2/s", "exact characteristics, evaluated", absolute(1e-5), plane_flow, _plane_cases(PLANES)),
    Group(PROCESS, "m2/s", "exact characteristics, solved for this project", absolute(1e-5), plane_flow,
          _plane_cases(PLANE_FILES)),
    Group(PROCESS, "m2/s", "rain times length", relative(1e-6), lambda: _equilibrium()[0], (
        Case("plane A at equilibrium: outflow", (), 1.388889e-3),)),
    Group(PROCESS, "mm", "normal depth, evaluated", relative(1e-6), lambda: _equilibrium()[0] ** 0.6 / MM, (
        Case("plane A at equilibrium: depth at its foot", (), 19.30192),)),
    # A cell's depth is that of its lower edge: half a cell more.
    Group(PROCESS, "m2", "5/8 L h", relative(2e-3), lambda: _equilibrium()[1], (
        Case("plane A at equilibrium: storage", (), 1.20636997),)),
    Group(PROCESS, "m/s", "Rankine and Hugoniot, evaluated", relative(2e-3), shock_speed, (
        Case("speed of a shock from 0.0001 to 0.001 m2/s", (1e-4,), 0.14151324),
        Case("speed of a front of 0.001 m2/s onto dry ground", (0.0,), 0.11774080))),
    Group(PROCESS, "m2/s", "di Giammarco et al. 1996, exact characteristics", _share_of_peak(V_PLANE, 4e-3), v_flow,
          tuple(Case(f"V-catchment: a plane's outflow at {time} s", (time, 0), expected)
                for time, expected in V_PLANE.items())),
    # Three decimals, of another code's upwind channel in 800 cells.
    Group(PROCESS, "m3/s", "di Giammarco et al. 1996, kinematic answer", absolute(0.01 * 4.86), v_flow, tuple(
        Case(f"V-catchment: outlet at {minutes} min", (60 * minutes, 1), expected)
        for minutes, expected in V_OUTLET.items())),
    Group(PROCESS, "m3/s", "rain times area, 3e-6 x 1.62e6", relative(1e-4), lambda: float(_v_catchment()[1].max()), (
        Case("V-catchment: peak at the outlet", (), 4.86),)),
    Group(PROCESS, "m3", "rain times area and time", relative(1e-10), v_volume, (
        Case("V-catchment: water out and left", (), 26_244.0),)),
)
