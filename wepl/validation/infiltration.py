"""Green-Ampt in one and two layers (docs/theory/infiltration.md): Lambert W, Chow et al. 1988, Mein and Larson 1973."""

from __future__ import annotations

from functools import cache

import numpy as np

from wepl.physics import green_ampt
from wepl.stages.infiltration import find_front, green_ampt_part
from wepl.validation.columns import HOUR, MM, MM_PER_HOUR, green_ampt_column
from wepl.validation.comparison import Case, Group, absolute, relative
from wepl.validation.infiltration_tables import MEIN_LARSON, TWO_LAYERS

PROCESS = "Infiltration, one and two layers"
CM = 1e-2  # m
CM_PER_HOUR = CM / HOUR  # m s-1
# A supply that ponds at once: what the soil takes before is below rounding.
FLOOD = 1e12


def infiltrated(soil: np.ndarray, rate: float, time: float, start: float = 0.0) -> float:
    """Infiltration, m, at the end of a part of ``time`` s under a steady supply (m s-1).

    Raises
    ------
    ValueError
        The iteration did not converge.
    """
    result = green_ampt_part(soil, soil.shape[1], start, rate, time)
    if not result.converged:
        raise ValueError(f"Green-Ampt did not converge under {rate:g} m s-1 for {time:g} s")
    return result.event_infiltration


def capacity(soil: np.ndarray, total: float) -> float:
    """Infiltration capacity, m s-1, when ``total`` m are in."""
    front = find_front(soil, soil.shape[1], total)
    return green_ampt.capacity(total, front.conductivity, front.a, front.b)


def ponding(soil: np.ndarray, rate: float, reached: float = 0.0) -> float:
    """Infiltration, m, at which a supply ponds in the layer that ``reached`` m have reached."""
    front = find_front(soil, soil.shape[1], reached)
    return green_ampt.ponding_infiltration(rate, front.conductivity, front.a, front.b)


# Ponded from the start: t* = K t/(psi dtheta), F* = F/(psi dtheta), f* = f/K.
LAMBERT = (
    (1e-4, 0.0142088807098, 71.378520337), (1e-3, 0.0453904959637, 23.031043697), (0.01, 0.1481651223794, 7.7492267002),
    (0.1, 0.5162211614250, 2.9371542175), (0.5, 1.3576766739459, 1.7365523907), (1.0, 2.1461932206206, 1.4659412724),
    (2.0, 3.5052414957929, 1.2852870483), (5.0, 7.0907174051555, 1.1410294534), (10.0, 12.6108686381499, 1.0792966788),
    (100.0, 104.6602285548500, 1.0095547278),
)


def _deep() -> tuple[np.ndarray, float, float]:
    """An endless layer, its scale psi dtheta (m) and conductivity."""
    k, suction, deficit = 6.5 * MM_PER_HOUR, 0.167, 0.34
    return green_ampt_column([1e6], [k], [suction], [deficit]), suction * deficit, k


def scaled_infiltration(time: float) -> float:
    """F* at t*."""
    soil, scale, k = _deep()
    return infiltrated(soil, FLOOD * k, time * scale / k) / scale


def scaled_capacity(time: float) -> float:
    """f* at t*."""
    soil, scale, k = _deep()
    return capacity(soil, scaled_infiltration(time) * scale) / k


def silt_loam() -> np.ndarray:
    """The soil of examples 4.3.1 to 4.4.2."""
    return green_ampt_column([1e3], [0.65 * CM_PER_HOUR], [16.7 * CM], [0.34])


INTENSITY = (1.08, 1.26, 1.56, 1.92, 2.22, 2.58, 3.84, 6.84, 19.08, 9.90, 4.86, 3.12, 2.52, 2.16, 1.68, 1.44, 1.14,
             1.02)  # cm/h in parts of ten minutes
STORM = (.18, .39, .65, .97, 1.34, 1.77, 2.2009, 2.5891, 2.9493, 3.2894, 3.6142, 3.9270, 4.2298, 4.5244, 4.8044, 5.0444,
         5.2344, 5.4044)  # cm


@cache
def storm() -> tuple[float, ...]:
    """Infiltration, cm, after each ten minutes of example 5.4.1."""
    soil = green_ampt_column([1e3], [1.09 * CM_PER_HOUR], [11.01 * CM], [0.247])
    total, result = 0.0, []
    for rate in INTENSITY:
        total = infiltrated(soil, rate * CM_PER_HOUR, 600.0, total)
        result.append(total / CM)
    return tuple(result)


def steady_rain(k: float, suction: float, deficit: float, rain: float, time: float, which: str) -> float:
    """Infiltration at ponding or at ``time`` h (mm), or the rate then (mm/h), of an endless layer; mm and h."""
    soil = green_ampt_column([1e3], [k * MM_PER_HOUR], [suction * MM], [deficit])
    if which == "ponding":
        return ponding(soil, rain * MM_PER_HOUR) / MM
    total = infiltrated(soil, rain * MM_PER_HOUR, time * HOUR)
    return total / MM if which == "total" else min(rain, capacity(soil, total) / MM_PER_HOUR)


def _mein_larson(which: str) -> tuple[Case, ...]:
    cases = []
    for name, k, suction, deficit, rains in MEIN_LARSON:
        for rain, depth, _, values in rains:
            if which == "ponding":
                cases.append(Case(f"{name}, {rain:g} mm/h: F at ponding", (k, suction, deficit, rain, 0.0, which),
                                  depth))
                continue
            word = "F" if which == "total" else "rate"
            cases += [Case(f"{name}, {rain:g} mm/h: {word} after {time:g} h", (k, suction, deficit, rain, time, which),
                           total if which == "total" else rate) for time, total, rate in values]
    return tuple(cases)


def _two_layers(place: int) -> np.ndarray:
    _, k, suction, deficit, thickness, _ = TWO_LAYERS[place]
    return green_ampt_column([thickness * MM, 1e3], np.array(k) * MM_PER_HOUR, np.array(suction) * MM, deficit)


def two_layer_infiltration(place: int, time: float) -> float:
    """Infiltration, mm, after ``time`` h of ponding on the two layers."""
    return infiltrated(_two_layers(place), FLOOD * MM_PER_HOUR, time * HOUR) / MM


def two_layer_capacity(place: int, total: float) -> float:
    """Capacity, mm/h, when ``total`` mm are in; at an interface that of the layer above it."""
    soil = _two_layers(place)
    front = find_front(soil, 2, total * MM * (1.0 - 1e-9))
    return green_ampt.capacity(total * MM, front.conductivity, front.a, front.b) / MM_PER_HOUR


def _two_layer_cases(which: str) -> tuple[Case, ...]:
    cases: list[Case] = []
    for place, (name, *_, values) in enumerate(TWO_LAYERS):
        for time, total, rate in values:
            if which == "F":
                cases.append(Case(f"{name}: F after {time:.4f} h of ponding", (place, time), total))
            else:
                cases.append(Case(f"{name}: capacity at F {total:g} mm", (place, total), rate))
    return tuple(cases)


CHOW = "Chow, Maidment and Mays 1988"
GROUPS = (
    Group(PROCESS, "1", "-1 - W(-exp(-1 - t*)), Barry et al. 1993", relative(1e-9), scaled_infiltration, tuple(
        Case(f"F* at t* {time:g}, ponded from the start", (time,), total) for time, total, _ in LAMBERT)),
    Group(PROCESS, "1", "1 + 1/F*", relative(1e-9), scaled_capacity, tuple(
        Case(f"f* at t* {time:g}", (time,), rate) for time, _, rate in LAMBERT)),
    Group(PROCESS, "cm", f"{CHOW}, evaluated", absolute(6e-8), lambda rate: infiltrated(
        silt_loam(), rate * CM_PER_HOUR, HOUR) / CM, (
            Case("ex. 4.3.1: F after 1 h of ponding", (FLOOD,), 3.1664192),
            Case("ex. 4.4.2: F after 1 h of 5 cm/h", (5.0,), 3.0172436))),
    Group(PROCESS, "cm/h", f"{CHOW}, evaluated", absolute(6e-8), lambda rate: capacity(
        silt_loam(), infiltrated(silt_loam(), rate * CM_PER_HOUR, HOUR)) / CM_PER_HOUR, (
            Case("ex. 4.3.1: rate after 1 h of ponding", (FLOOD,), 1.8155753),
            Case("ex. 4.4.2: rate after 1 h of 5 cm/h", (5.0,), 1.8732025))),
    Group(PROCESS, "cm", f"{CHOW}, evaluated", relative(1e-7), lambda rate: ponding(
        silt_loam(), rate * CM_PER_HOUR) / CM, (
            Case("ex. 4.4.1: F at ponding, 1 cm/h", (1.0,), 10.5448571),
            Case("ex. 4.4.1: F at ponding, 5 cm/h", (5.0,), 0.84843678))),
    # Four decimals.
    Group(PROCESS, "cm", f"{CHOW}, ODE solver", absolute(1e-4), lambda place: storm()[place], tuple(
        Case(f"ex. 5.4.1: F after {10 * (place + 1)} min", (place,), total) for place, total in enumerate(STORM))),
    Group(PROCESS, "cm", f"{CHOW}, ODE solver", absolute(1e-4), lambda: sum(INTENSITY) / 6.0 - storm()[-1], (
        Case("ex. 5.4.1: rainfall excess", (), 5.9656),)),
    Group(PROCESS, "mm", "Mein and Larson 1973, solved to 1e-12", relative(1e-6), steady_rain, _mein_larson("ponding")),
    Group(PROCESS, "mm", "Mein and Larson 1973, solved to 1e-12", relative(1e-6), steady_rain, _mein_larson("total")),
    Group(PROCESS, "mm/h", "Mein and Larson 1973, solved to 1e-12", relative(1e-6), steady_rain, _mein_larson("rate")),
    Group(PROCESS, "mm", "two layers, solved to 1e-12", relative(1e-6), two_layer_infiltration, _two_layer_cases("F")),
    Group(PROCESS, "mm/h", "two layers, solved to 1e-12", relative(1e-6), two_layer_capacity,
          _two_layer_cases("capacity")),
)
