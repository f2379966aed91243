"""Rivers (docs/theory/river.md): Manning, celerity, numerical diffusion, and the exact wave of Sobey 2001."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.optimize import brentq

from wepl.physics.jit import physics
from wepl.physics.river import cell_step, normal_discharge
from wepl.validation.comparison import Case, Group, absolute, relative, table

PROCESS = "River"
FOOT = 0.3048  # m
CUBIC_FOOT = FOOT**3  # m3


def factor(slope: float, manning: float) -> float:
    """(n/sqrt(S))^(3/5)."""
    return (manning / math.sqrt(slope)) ** 0.6


@physics
def route(inflow, initial, n_cells, length, width, roughness, dt, watched):
    """Discharge of the watched cells in every step and storage at the end; cells start with ``initial`` m3."""
    storage = np.full(n_cells, initial)
    result = np.empty((inflow.size, watched.size))
    for step in range(inflow.size):
        discharge = inflow[step]
        place = 0
        for cell in range(n_cells):
            after = cell_step(storage[cell], discharge, 0.0, length, width, roughness, dt)
            storage[cell] = after.storage
            discharge = after.discharge
            if place < watched.size and watched[place] == cell:
                result[step, place] = discharge
                place += 1
    return result, storage


def olympics(n_cells: int, dt: float, duration: float = 9000.0) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Sobey's wave, in from 0 to ``duration`` s, through 150,000 ft.

    Ends of the steps (s), discharge at 50,000, 100,000 and 150,000 ft (cfs), storage at the end and inflow (m3).
    """
    width, roughness, length = 100.0 * FOOT, factor(0.001, 0.045), 150_000.0 * FOOT / n_cells
    times = np.arange(0.0, 61_000.0 + duration + dt, dt)
    inside = np.minimum(times, duration)
    turn = 0.5 * duration / math.pi
    volume = 250.0 * times + 750.0 / math.pi * (inside - turn * np.sin(inside / turn))
    inflow = np.diff(volume) / dt * CUBIC_FOOT
    watched = np.array([n_cells // 3 - 1, 2 * n_cells // 3 - 1, n_cells - 1])
    discharge, storage = route(inflow, 0.5216219 * width * length, n_cells, length, width, roughness, dt, watched)
    return times[1:], discharge / CUBIC_FOOT, storage, float(inflow.sum() * dt)


# Peaks at the three stations, cfs, and the moment of the front, s: entropy solution by a variational formula.
PEAKS = (721.0, 611.0, 538.0)
FRONTS = (18_750.0, 35_610.0, 53_070.0)
FINEST = (6000, 5.0)  # cells, s
DEFAULT = (9, 3600.0)  # cells of 5,080 m and steps of an hour, as the model takes them


@cache
def _wave(n_cells: int, dt: float, duration: float = 9000.0) -> tuple[np.ndarray, np.ndarray]:
    """Times and discharges of a run of Sobey's channel."""
    times, discharge, _, _ = olympics(n_cells, dt, duration)
    return times, discharge


def peak(station: int) -> float:
    """Peak of the finest run, cfs."""
    return float(_wave(*FINEST)[1][:, station].max())


def front(station: int) -> float:
    """When the finest run passes half of the rise to its peak, s."""
    times, discharge = _wave(*FINEST)
    column = discharge[:, station]
    return float(np.interp(0.5 * (250.0 + column.max()), column[:column.argmax()], times[:column.argmax()]))


def behind_front(station: int, time: float) -> float:
    """Discharge of the finest run behind its peak, cfs."""
    times, discharge = _wave(*FINEST)
    return float(np.interp(time, times, discharge[:, station]))


def normal_depth(discharge: float, width: float, slope: float, manning: float) -> float:
    """Depth of uniform flow, m."""
    return brentq(lambda depth: normal_discharge(width * depth, width, factor(slope, manning)) - discharge, 1e-6, 100.0,
                  xtol=1e-13)


def celerity(depth: float, width: float, slope: float, manning: float) -> float:
    """dQ/dA by central differences, m/s."""
    area, roughness = width * depth, factor(slope, manning)
    step = 1e-4 * area
    return (normal_discharge(area + step, width, roughness)
            - normal_discharge(area - step, width, roughness)) / (2.0 * step)


WIDE = 1e9  # m, banks without weight


def wide_depth(per_width: float) -> float:
    """Depth of a wide channel, slope 0.001, n 0.03, m."""
    return normal_depth(per_width * WIDE, WIDE, 0.001, 0.03)


def _wide_run(before: float, after: float, n_steps: int) -> np.ndarray:
    """Discharge per width at 5 and 10 km of a wide channel whose inflow steps from ``before`` to ``after`` m2/s."""
    n_cells, length, dt = 2000, 5.0, 2.0
    inflow = np.full(n_steps, after * WIDE)
    watched = np.array([n_cells // 2 - 1, n_cells - 1])
    discharge, _ = route(inflow, wide_depth(before) * WIDE * length, n_cells, length, WIDE, factor(0.001, 0.03), dt,
                         watched)
    return discharge / WIDE


def shock_speed() -> float:
    """Speed of the shock from 1 to 5 m2/s between 5 and 10 km, m/s."""
    discharge = _wide_run(1.0, 5.0, 2500)
    times = 2.0 * np.arange(1, len(discharge) + 1)
    first, second = (np.interp(3.0, discharge[:, place], times) for place in range(2))
    return float(5000.0 / (second - first))


def rarefaction(time: float) -> float:
    """Discharge per width at 10 km, ``time`` s after the inflow fell from 5 to 1 m2/s."""
    return float(_wide_run(5.0, 1.0, round(time / 2.0))[-1, 1])


def steady_depth(dt: float) -> float:
    """Depth, m, of three cells of 5 km under 100 m3/s after 3 days or 400 steps."""
    inflow = np.full(int(max(400, 250_000 / dt)), 100.0)
    _, storage = route(inflow, 5000.0 * 20.0, 3, 5000.0, 50.0, factor(0.001, 0.03), dt, np.arange(3))
    return float(storage[-1] / (5000.0 * 50.0))


@cache
def bump(length: float, dt: float) -> tuple[float, float]:
    """Celerity (m/s) and diffusivity (m2/s) of a small bump on 100 m3/s, by the moments of its hydrographs."""
    width, roughness, n_cells = 50.0, factor(0.001, 0.03), 40
    area = 50.0 * 1.50326129
    speed = celerity(1.50326129, 50.0, 0.001, 0.03)
    times = np.arange(0.5, (3.0 * n_cells * length / speed + 30_000.0) / dt) * dt
    base = normal_discharge(area, width, roughness)
    inflow = base + 0.01 * np.exp(-(((times - 9000.0) / 3000.0) ** 2))
    discharge, _ = route(inflow, area * length, n_cells, length, width, roughness, dt,
                         np.array([n_cells // 4 - 1, n_cells - 1]))
    above = discharge - base
    mass = above.sum(axis=0)
    centre = (times[:, None] * above).sum(axis=0) / mass
    spread = ((times[:, None] - centre) ** 2 * above).sum(axis=0) / mass
    distance = 0.75 * n_cells * length
    return float(distance / (centre[1] - centre[0])), float((spread[1] - spread[0]) * speed**3 / (2.0 * distance))


def numerical_diffusivity(length: float, dt: float) -> float:
    """Eq. (13.4), m2/s."""
    speed = celerity(1.50326129, 50.0, 0.001, 0.03)
    return 0.5 * speed * length + 0.5 * speed**2 * dt


GRIDS = ((250.0, 60.0), (250.0, 600.0), (1000.0, 60.0))
SOBEY = "Sobey 2001, entropy solution"
SMOOTH = ((0, 21_000, 599.3), (0, 24_000, 431.5), (0, 27_000, 314.0), (1, 39_000, 488.8), (1, 45_000, 334.3),
          (2, 57_000, 447.8), (2, 66_000, 303.3))
STATIONS = ("50,000", "100,000", "150,000")
SOBEY_CHANNEL = (100.0 * FOOT, 0.001, 0.045)
GROUPS = (
    Group(PROCESS, "m", "Manning, evaluated elsewhere", absolute(6e-9), normal_depth, (
        Case("normal depth, 100 m3/s, 50 m wide, slope 0.001, n 0.03", (100.0, 50.0, 0.001, 0.03), 1.50326129),)),
    Group(PROCESS, "m2", "Manning, evaluated elsewhere", absolute(6e-6), lambda: 50.0 * normal_depth(
        100.0, 50.0, 0.001, 0.03), (Case("the same: wetted area", (), 75.16306),)),
    Group(PROCESS, "m/s", "Manning, evaluated elsewhere", absolute(6e-6), lambda: 2.0 / normal_depth(
        100.0, 50.0, 0.001, 0.03), (Case("the same: velocity", (), 1.33044),)),
    Group(PROCESS, "m", "A = alpha Q^0.6, evaluated", relative(1e-7), wide_depth, table(
        "depth of a wide channel, {} m2/s", ((1.0, 0.96888616), (2.0, 1.46855681), (5.0, 2.54480644)))),
    # Differences of second order over 1e-4 of the area.
    Group(PROCESS, "m/s", "5/3 of the velocity, evaluated", relative(1e-7), lambda per_width: celerity(
        wide_depth(per_width), WIDE, 0.001, 0.03), table(
            "celerity in a wide channel, {} m2/s", ((1.0, 1.72018833), (2.0, 2.26980211), (5.0, 3.27464329)))),
    Group(PROCESS, "m", "Manning, evaluated elsewhere", absolute(6e-8), lambda flow: normal_depth(
        flow * CUBIC_FOOT, *SOBEY_CHANNEL), table(
            "Sobey's channel: depth at {} cfs", ((250.0, 0.5216219), (727.464829, 1.0020633)))),
    Group(PROCESS, "m/s", "Manning, evaluated elsewhere", relative(1e-6), lambda depth: celerity(
        depth, *SOBEY_CHANNEL), table(
            "Sobey's channel: celerity at {} m", ((0.5216219, 0.7322769), (1.0020633, 1.0963354)))),
    Group(PROCESS, "m", "normal depth", relative(1e-6), steady_depth, table(
        "depth under a steady 100 m3/s, steps of {:g} s", ((60.0, 1.50326129), (3600.0, 1.50326129),
                                                          (86400.0, 1.50326129)))),
    # First order in cells of 5 m and steps of 2 s; the fan's lower end, a kink, is smeared most.
    Group(PROCESS, "m/s", "Rankine and Hugoniot, evaluated", relative(1e-3), shock_speed, (
        Case("speed of a shock from 1 to 5 m2/s", (), 2.53819946),)),
    Group(PROCESS, "m2/s", "characteristics, evaluated", relative(0.025), rarefaction, table(
        "rarefaction from 5 to 1 m2/s: flow at 10 km after {:g} s", ((4000.0, 2.54630270), (5000.0, 1.45758871)))),
    # The perimeter of eq. (13.1) lags by a step: second order for the celerity, a few per cent of the diffusivity.
    Group(PROCESS, "m/s", "dQ/dA", relative(0.01), lambda length, dt: bump(length, dt)[0], tuple(
        Case(f"celerity of a small wave, cells of {length:g} m, steps of {dt:g} s", (length, dt))
        for length, dt in GRIDS), reference=lambda length, dt: celerity(1.50326129, 50.0, 0.001, 0.03)),
    Group(PROCESS, "m2/s", "eq. (13.4)", relative(0.06), lambda length, dt: bump(length, dt)[1], tuple(
        Case(f"numerical diffusivity, cells of {length:g} m, steps of {dt:g} s", (length, dt))
        for length, dt in GRIDS), reference=numerical_diffusivity),
    # Cells of 7.6 m and steps of 5 s: first order behind the front, between a half and first order at the shock.
    Group(PROCESS, "cfs", SOBEY, relative(0.025), peak, tuple(
        Case(f"Sobey's wave: peak at {name} ft", (station,), PEAKS[station])
        for station, name in enumerate(STATIONS))),
    Group(PROCESS, "s", SOBEY, relative(0.005), front, tuple(
        Case(f"Sobey's wave: front at {name} ft", (station,), FRONTS[station])
        for station, name in enumerate(STATIONS))),
    Group(PROCESS, "cfs", SOBEY, relative(0.005), behind_front, tuple(
        Case(f"Sobey's wave: flow at {STATIONS[station]} ft after {time} s", (station, time), flow)
        for station, time, flow in SMOOTH)),
)


_NOTE = """\
The comparisons of Sobey's wave use cells of 7.6 m and steps of 5 s. The model's defaults, cells of 5 km and steps of an
hour, diffuse by eq. (13.4): about 3,500 m2/s in Sobey's channel. What that costs depends on how long the wave is. Peaks
over base flow (cfs above 250) in the same channel, for waves of three lengths:

| wave comes in over | at | exact or converged | default grid | kept |
| --- | --- | --- | --- | --- |
"""


def default_grid_note() -> str:
    """Markdown: what cells of 5 km and steps of an hour lose of flood peaks, beside the exact or a converged answer."""
    lines = []
    for name, duration, fine in (("2.5 h (Sobey)", 9000.0, None), ("1 d", 86_400.0, (1500, 80.0)),
                                 ("3 d", 259_200.0, (1500, 160.0))):
        coarse = _wave(*DEFAULT, duration)[1].max(axis=0) - 250.0
        exact = np.array(PEAKS) if fine is None else _wave(*fine, duration)[1].max(axis=0)
        for station in (0, 2):
            high = exact[station] - 250.0
            lines.append(f"| {name} | {STATIONS[station]} ft | {high:.0f} | {coarse[station]:.0f} | "
                         f"{100.0 * coarse[station] / high:.0f} % |")
    return (_NOTE + "\n".join(lines) + "\n\nA flood of a few hours needs a smaller `river_cell_length` and "
            "`routing_step`. Mass is exact on any grid.\n")
