"""Soil columns in the layout of the stages' scratch array ``soil[row, layer]``, and Darcy's law over them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad

from wepl import rows
from wepl.basin.soils import COARSE, RAWLS, derive_curve, texture_parameters
from wepl.physics import green_ampt
from wepl.physics.soil_hydraulics import retention_saturation
from wepl.stages import infiltration

MM = 1e-3  # m
HOUR = 3600.0  # s
DAY = 86400.0  # s
MM_PER_HOUR = MM / HOUR  # m s-1
MM_PER_DAY = MM / DAY  # m s-1

# Three layers over one metre and more, the default of the model, m.
DEFAULT_LAYERS = (0.2, 0.4, 1.4)
# The published soils of WEP-L: saturated and residual content, Ks (mm/h), Haverkamp a and b, Mualem n. Their table is
# printed with errors; these values give all the digits of contents and conductivities that were recomputed from it.
WEP_SOILS = {
    "sand": (0.400, 0.035, 90.0, 1.75e10, 16.95, 3.37),
    "loam": (0.466, 0.062, 25.2, 6451.0, 5.56, 3.97),
    "clay loam": (0.475, 0.136, 7.2, 6.58e6, 9.0, 4.17),
    "clay": (0.479, 0.090, 1.08, 6.58e6, 9.0, 4.38),
}


def green_ampt_column(thickness: ArrayLike, conductivity: ArrayLike, suction: ArrayLike,
                      deficit: ArrayLike) -> np.ndarray:
    """A column that knows what Green-Ampt needs: m, m s-1, m and 1 per layer; the deficits are the event's."""
    depth = np.asarray(thickness, dtype=float)
    soil = np.zeros((rows.N_SOIL_WORK, depth.size))
    soil[rows.LAYER_THICKNESS] = depth
    soil[rows.LAYER_CONDUCTIVITY] = conductivity
    soil[rows.FRONT_SUCTION] = suction
    soil[rows.WORK_DEFICIT] = deficit
    soil[rows.SATURATED_WATER] = 0.5 * depth
    soil[rows.WORK_WATER] = soil[rows.SATURATED_WATER] - soil[rows.WORK_DEFICIT] * depth
    return soil


def set_content(soil: np.ndarray, content: Sequence[float] | float) -> np.ndarray:
    """Give the layers a volumetric water content; the same array."""
    soil[rows.WORK_WATER] = np.asarray(content) * soil[rows.LAYER_THICKNESS]
    return soil


def content(soil: np.ndarray) -> np.ndarray:
    """Volumetric water content of the layers."""
    return soil[rows.WORK_WATER] / soil[rows.LAYER_THICKNESS]


def column(thickness: Sequence[float], saturated: float, residual: float, capacity: float, wilting: float,
           conductivity: float, curve: tuple[float, float, float], suction: float = 0.1) -> np.ndarray:
    """A column of one soil, at field capacity: contents, Ks (m s-1), (a, b, n) and suction at the front (m)."""
    soil = np.zeros((rows.N_SOIL_WORK, len(thickness)))
    depth = np.asarray(thickness, dtype=float)
    a, b, n = (float(value) for value in curve)
    dry = residual + retention_saturation(1e4, a, b) * (saturated - residual)
    for row, value in ((rows.LAYER_THICKNESS, 1.0), (rows.SATURATED_WATER, saturated), (rows.RESIDUAL_WATER, residual),
                       (rows.FIELD_CAPACITY_WATER, capacity), (rows.WILTING_WATER, wilting), (rows.DRY_WATER, dry)):
        soil[row] = value * depth
    for row, value in ((rows.LAYER_CONDUCTIVITY, conductivity), (rows.FRONT_SUCTION, suction),
                       (rows.RETENTION_A, a), (rows.RETENTION_B, b), (rows.CONDUCTIVITY_EXPONENT, n)):
        soil[row] = value
    return set_content(soil, capacity)


def wep_column(name: str, thickness: Sequence[float] = DEFAULT_LAYERS) -> np.ndarray:
    """A column of a published WEP soil; field capacity and wilting point from its own curve at 330 and 15,000 cm."""
    saturated, residual, conductivity, a, b, n = WEP_SOILS[name]
    capacity, wilting = (residual + retention_saturation(head, a, b) * (saturated - residual) for head in (3.3, 150.0))
    return column(thickness, saturated, residual, capacity, wilting, conductivity * MM_PER_HOUR, (a, b, n))


def texture_curve(name: str, table: str = RAWLS) -> tuple[float, float, float]:
    """Haverkamp a and b and Mualem n of a USDA texture, derived as the model does it."""
    given = texture_parameters(name, table)
    a, b, n = derive_curve(given["saturated_water_content"], given["residual_water_content"], given["field_capacity"],
                           given["wilting_point"], given["saturated_conductivity"],
                           100.0 if name in COARSE[table] else 330.0)
    return float(a), float(b), float(n)


def texture_column(name: str, thickness: Sequence[float] = DEFAULT_LAYERS) -> np.ndarray:
    """A column of a USDA texture, at field capacity."""
    given = texture_parameters(name)
    return column(thickness, given["saturated_water_content"], given["residual_water_content"],
                  given["field_capacity"], given["wilting_point"], given["saturated_conductivity"],
                  texture_curve(name), given["wetting_front_suction"])


def darcy_capacity(soil: np.ndarray, total: float) -> float:
    """Capacity by Darcy's law over the wet layers in series, without the A and B of the theory page.

    Where a layer lets more through the deeper the front (more permeable than those above), its value on entry holds.
    """
    filled, depth, resistance = 0.0, 0.0, 0.0
    for thickness, deficit, k, suction in zip(soil[rows.LAYER_THICKNESS], soil[rows.WORK_DEFICIT],
                                              soil[rows.LAYER_CONDUCTIVITY], soil[rows.FRONT_SUCTION], strict=True):
        if total < filled + thickness * deficit:
            wet = (total - filled) / deficit
            if depth + suction <= k * resistance:
                wet = 0.0
            head, hindrance = depth + wet + suction, resistance + wet / k
            return math.inf if hindrance == 0.0 else head / hindrance
        filled += thickness * deficit
        depth += thickness
        resistance += thickness / k
    return float(soil[rows.LAYER_CONDUCTIVITY].min())


def time_to(soil: np.ndarray, total: float, rate: float) -> float:
    """Time (s) in which ``total`` m enter under a steady supply: the integral of dF/min(rate, capacity)."""
    bounds = np.concatenate([[0.0], np.cumsum(soil[rows.WORK_DEFICIT] * soil[rows.LAYER_THICKNESS])])
    points = {0.0, total, *(float(bound) for bound in bounds if bound < total)}
    for layer in range(soil.shape[1]):  # the kinks where ponding begins
        front = infiltration.find_front(soil, soil.shape[1], float(bounds[layer]))
        if front.layer < soil.shape[1] and front.a > 0.0 and rate > front.conductivity:
            kink = green_ampt.ponding_infiltration(rate, front.conductivity, front.a, front.b)
            if front.top < kink < min(total, front.bottom):
                points.add(kink)
    knots = sorted(points)
    pieces = (quad(lambda x: 1.0 / min(rate, darcy_capacity(soil, x)), low, high, epsabs=0.0, epsrel=1e-11, limit=200)
              for low, high in zip(knots[:-1], knots[1:], strict=True))
    return sum(piece[0] for piece in pieces)
