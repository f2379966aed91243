"""Green-Ampt in several layers: the three layers of Jia and Tamai 1998, and random stacks against quadrature."""

from __future__ import annotations

from functools import cache

import numpy as np

from wepl import rows
from wepl.physics import green_ampt
from wepl.stages.infiltration import find_front
from wepl.validation.columns import (
    HOUR,
    MM,
    MM_PER_HOUR,
    darcy_capacity,
    green_ampt_column,
    time_to,
)
from wepl.validation.comparison import Case, Group, absolute, relative, table
from wepl.validation.infiltration import FLOOD, capacity, infiltrated, ponding

PROCESS = "Infiltration, several layers"
STACKS_PER_ROW, ROWS = 50, 10


def layers() -> np.ndarray:
    """200 and 400 mm over a deep layer: k 25.2, 7.2, 1.08 mm/h, suction 89, 125, 175 mm, deficit 0.20, 0.15, 0.10."""
    return green_ampt_column([0.2, 0.4, 100.0], np.array([25.2, 7.2, 1.08]) * MM_PER_HOUR, [0.089, 0.125, 0.175],
                             [0.20, 0.15, 0.10])


def layer_capacity(total: float) -> float:
    """Capacity, mm/h, when ``total`` mm are in."""
    return capacity(layers(), total * MM) / MM_PER_HOUR


def time_within(start: float, end: float) -> float:
    """Time, h, of ponding between two infiltrated depths (mm) in one layer."""
    front = find_front(layers(), 3, start * MM)
    return green_ampt.ponded_time(start * MM, end * MM, front.conductivity, front.a, front.b) / HOUR


def arrival(total: float) -> float:
    """Time, h, of ponding from the start until ``total`` mm are in, layer by layer."""
    start, time = 0.0, 0.0
    while start < total * (1.0 - 1e-12):
        end = min(total, find_front(layers(), 3, start * MM).bottom / MM)
        time += time_within(start, end)
        start = end
    return time


def ponding_depth(rate: float, reached: float) -> float:
    """Infiltration, mm, at which ``rate`` mm/h ponds in the layer that ``reached`` mm have reached."""
    return ponding(layers(), rate * MM_PER_HOUR, reached * MM) / MM


def steady(rate: float, hours: float) -> float:
    """Infiltration, mm, after ``hours`` of a steady supply, mm/h."""
    return infiltrated(layers(), rate * MM_PER_HOUR, hours * HOUR) / MM


RAIN = (10.0, 30.0, 60.0, 40.0, 15.0, 5.0, 0.0, 20.0)  # mm/h, hour by hour
EVENT = (10.0, 40.0, 62.37914, 77.16935, 89.93507, 94.93507, 94.93507, 105.16817)
EVENT_RUNOFF = (0.0, 0.0, 37.62086, 62.83065, 65.06493, 65.06493, 65.06493, 74.83183)


@cache
def event() -> tuple[float, ...]:
    """Infiltration, mm, after each hour of the event, without surface storage."""
    total, result = 0.0, []
    for rate in RAIN:
        total = infiltrated(layers(), rate * MM_PER_HOUR, HOUR, total)
        result.append(total / MM)
    return tuple(result)


def equal_layers(n_layers: int, hours: float) -> float:
    """Ponded infiltration, mm, of three metres of one soil cut into equal layers: k 10 mm/h, 100 mm, 0.2."""
    soil = green_ampt_column([3.0 / n_layers] * n_layers, [10.0 * MM_PER_HOUR] * n_layers, [0.1] * n_layers,
                             [0.2] * n_layers)
    return infiltrated(soil, FLOOD * MM_PER_HOUR, hours * HOUR) / MM


def series_capacity() -> float:
    """Capacity, cm/h, of 20, 40 and 140 cm in series without suction, the front at the bottom."""
    soil = green_ampt_column([0.2, 0.4, 1.4], np.array([25.2, 7.2, 1.08]) * MM_PER_HOUR, [0.0] * 3, [0.1] * 3)
    return capacity(soil, 0.2 * (1.0 - 1e-12)) / MM_PER_HOUR / 10.0


def random_stack(random: np.random.Generator) -> np.ndarray:
    """One to four layers; a fifth of them without deficit; conductivities over five decades."""
    n_layers = int(random.integers(1, 5))
    deficit = np.where(random.uniform(size=n_layers) < 0.2, 0.0, random.uniform(0.01, 0.5, n_layers))
    deficit[-1] = max(deficit[-1], 0.05)
    return green_ampt_column(random.uniform(0.02, 2.0, n_layers), 10.0 ** random.uniform(-9.0, -4.0, n_layers),
                             random.uniform(0.01, 0.5, n_layers), deficit)


def worst_stack(row: int) -> float:
    """Largest error of F, relative, among random stacks and supplies: quadrature of dF/dt = min(rate, capacity).

    The quadrature gives the time in which the model's F enters; what it differs from the part's length is an error of F
    at the rate of the moment. Stacks that fill up, or take all of the supply, are drawn anew.
    """
    random = np.random.default_rng(1998 + row)
    worst, compared = 0.0, 0
    while compared < STACKS_PER_ROW:
        soil = random_stack(random)
        rate = 10.0 ** random.uniform(-8.0, -3.0)
        time = float(random.choice([600.0, HOUR, 24.0 * HOUR]))
        total = infiltrated(soil, rate, time)
        if total >= _room(soil) * (1.0 - 1e-9) or total > 0.999 * rate * time:
            continue
        off = abs(time_to(soil, total, rate) - time) * min(rate, darcy_capacity(soil, total))
        worst = max(worst, off / total)
        compared += 1
    return worst


def _room(soil: np.ndarray) -> float:
    """Infiltration that fills the stack, m."""
    return float(np.sum(soil[rows.WORK_DEFICIT] * soil[rows.LAYER_THICKNESS]))


SOURCE = "Jia and Tamai 1998, three layers, evaluated elsewhere"
GROUPS = (
    Group(PROCESS, "mm/h", SOURCE, relative(1e-5), layer_capacity, table("capacity at F {} mm", (
        (1.0, 473.76), (20.0, 47.628), (39.9, 36.4421), (40.1, 40.5608), (70.0, 14.7000), (99.9, 11.4249),
        (100.1, 12.0463)))),
    # Four decimals.
    Group(PROCESS, "mm/h", SOURCE, absolute(5.1e-5), layer_capacity, table("capacity at F {} mm", (
        (150.0, 2.4219), (400.0, 1.3286)))),
    Group(PROCESS, "h", SOURCE, relative(1e-5), time_within, table("ponded from F {} to {} mm", (
        (0.5, 39.0, 0.727742), (41.0, 99.0, 3.743037), (101.0, 300.0, 101.664526)))),
    Group(PROCESS, "mm", SOURCE, relative(1e-5), ponding_depth, (
        Case("F at ponding, 30 mm/h, second layer", (30.0, 41.0), 44.117, absolute(5.1e-4)),
        Case("F at ponding, 10 mm/h, third layer", (10.0, 101.0), 101.696),
        Case("F at ponding, 5 mm/h, third layer", (5.0, 101.0), 112.606))),
    Group(PROCESS, "h", SOURCE, absolute(6e-9), arrival, table("ponded from the start until F {} mm", (
        (40.0, 0.75537033), (100.0, 4.61132380), (150.0, 18.34398216)))),
    Group(PROCESS, "mm", SOURCE, absolute(1.1e-8), lambda hours: steady(FLOOD, hours), table(
        "F after {} h of ponding", (
            (0.1, 11.22104713), (0.5, 30.29157050), (1.0, 47.53819141), (2.0, 66.29214957), (5.0, 103.80997619),
            (10.0, 126.80072651), (24.0, 162.93420392), (72.0, 248.33382526)))),
    Group(PROCESS, "mm", SOURCE, absolute(5.1e-5), steady, tuple(
        Case(f"F after {hours} h of {rate:g} mm/h", (rate, hours), total) for rate, totals in (
            (30.0, (30.0, 56.1979, 72.2935, 85.6028, 106.7854, 131.3020)),
            (60.0, (45.1969, 64.9120, 79.2642, 91.8238, 109.8850, 132.8454)))
        for hours, total in zip((1, 2, 3, 4, 6, 12), totals, strict=True))),
    Group(PROCESS, "mm", SOURCE, absolute(5.1e-6), lambda hour: event()[hour], tuple(
        Case(f"F after hour {hour + 1} of the event", (hour,), total) for hour, total in enumerate(EVENT))),
    Group(PROCESS, "mm", SOURCE, absolute(5.1e-6), lambda hour: sum(RAIN[:hour + 1]) - event()[hour], tuple(
        Case(f"runoff by hour {hour + 1} of the event", (hour,), total) for hour, total in enumerate(EVENT_RUNOFF))),
    Group(PROCESS, "mm", "one layer, evaluated elsewhere", absolute(1.1e-8), equal_layers, (
        Case("F after 5 h, one layer", (1, 5.0), 82.72681896),
        Case("F after 5 h, the same in three layers", (3, 5.0), 82.72681896))),
    Group(PROCESS, "cm/h", "layers in series", absolute(5.1e-9), series_capacity, (
        Case("20, 40 and 140 cm of 2.52, 0.72 and 0.108 cm/h", (), 0.14708171),)),
    Group(PROCESS, "1", "scipy quadrature of dF/dt = f", absolute(1e-7), worst_stack, tuple(
        Case(f"largest relative error of F, random stacks {row * STACKS_PER_ROW + 1} to {(row + 1) * STACKS_PER_ROW}",
             (row,), 0.0) for row in range(ROWS)), floor=1e-9),
)
