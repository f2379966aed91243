"""Evapotranspiration (docs/theory/evapotranspiration.md): the model's own forms, evaluated elsewhere."""

from __future__ import annotations

import math

import numpy as np

from wepl.physics import atmosphere
from wepl.physics import evapotranspiration as et
from wepl.physics.constants import SPECIFIC_HEAT_AIR, VON_KARMAN
from wepl.validation.columns import DAY, DEFAULT_LAYERS, MM_PER_DAY
from wepl.validation.comparison import Case, Group, absolute, relative, table

PROCESS = "Evapotranspiration"
# The weather of FAO-56 example 18 in the general equations.
RADIATION = 13.28318517e6 / DAY  # W m-2
PRESSURE = atmosphere.air_pressure(100.0)
SLOPE = atmosphere.vapour_pressure_slope(16.9)
GAMMA = 0.665e-3 * PRESSURE  # FAO-56 eq. 8
DEFICIT = 1997.48556 - 1408.62380  # Pa
RESISTANCE = 208.0 / 2.07764188  # s m-1
HEAT = atmosphere.vaporisation_heat(16.9)
FAO_AIR = SPECIFIC_HEAT_AIR * atmosphere.air_density(PRESSURE, 16.9)
# Density as the published WEP writes it, 3.486 P/(275 + T).
WEP_AIR = SPECIFIC_HEAT_AIR * 3.486e-3 * PRESSURE / (275.0 + 16.9)
WEP = (RADIATION, SLOPE, GAMMA, HEAT, WEP_AIR, DEFICIT, RESISTANCE)
FAO = (RADIATION, SLOPE, GAMMA, 2.45e6, FAO_AIR, DEFICIT, RESISTANCE)


def transpiration(air: tuple[float, float, float, float, float, float, float], canopy: float) -> float:
    """Penman-Monteith, mm/d."""
    return et.penman_monteith(*air, canopy) / MM_PER_DAY


def bare_soil(wetness: float) -> float:
    """Bare soil, mm/d."""
    return et.bare_soil_evaporation(*WEP, wetness) / MM_PER_DAY


def light(shortwave: float, critical: float, leaf_area: float, rs_min: float) -> float:
    """Light factor with a largest resistance of 5000 s/m."""
    return et.jarvis_light(shortwave, critical, leaf_area, rs_min, 5000.0)


def forest_resistance(active_leaf_area: float) -> float:
    """Canopy resistance, s/m: rs_min 150, LAI 5, 500 W/m2, 20 degC, deficit 1 kPa, moisture factor 0.6."""
    factors = (et.jarvis_temperature(20.0), et.jarvis_humidity(1000.0, 4000.0), light(500.0, 30.0, 5.0, 150.0), 0.6)
    return et.canopy_resistance(150.0, active_leaf_area, *factors, 5000.0)


def root_share(root_depth: float, layer: int) -> float:
    """Share of the roots in a layer of the default column."""
    bounds = np.concatenate([[0.0], np.cumsum(DEFAULT_LAYERS)])
    return (et.root_fraction_above(float(bounds[layer + 1]), root_depth)
            - et.root_fraction_above(float(bounds[layer]), root_depth))


def _factors() -> tuple[Group, ...]:
    source = "formula evaluated elsewhere"
    lights = tuple(
        Case(f"f3 at {shortwave} W/m2, PARc {critical}, LAI {leaf_area}, rs_min {rs_min}",
             (shortwave, critical, leaf_area, rs_min), expected)
        for critical, leaf_area, rs_min, values in (
            (100.0, 2.0, 40.0, (0.008, 0.221961, 0.527619, 0.735467, 0.847385)),
            (30.0, 5.0, 150.0, (0.03, 0.290244, 0.606757, 0.792143, 0.883600)))
        for shortwave, expected in zip((0.0, 50.0, 200.0, 500.0, 1000.0), values, strict=True))
    shares = {2.0: (0.172, 0.296, 0.532), 1.5: (0.225778, 0.366222, 0.408), 0.6: (0.511111, 0.488889, 0.0),
              0.4: (0.7, 0.3, 0.0)}
    roots = tuple(Case(f"root share of layer {layer + 1}, roots to {depth} m", (depth, layer), expected)
                  for depth, values in shares.items() for layer, expected in enumerate(values))
    return (
        Group(PROCESS, "1", source, absolute(1e-10), et.jarvis_temperature, table("f1 at {} degC", (
            (0.0, 1e-3), (10.0, 0.64), (20.0, 0.96), (25.0, 1.0), (33.0, 0.8976), (39.0, 0.6864), (45.0, 0.36)))),
        Group(PROCESS, "1", source, absolute(1e-10), et.jarvis_humidity, table("f2 at {} Pa of {}", (
            (500.0, 4000.0, 0.875), (1000.0, 4000.0, 0.75), (2000.0, 4000.0, 0.5), (3000.0, 4000.0, 0.25)))),
        Group(PROCESS, "1", source, absolute(5.1e-7), light, lights),
        Group(PROCESS, "1", source, absolute(1e-10), et.jarvis_moisture, table("f4 at {}, between {} and {}", (
            (0.05, 0.1, 0.3, 0.0), (0.2, 0.1, 0.3, 0.5), (0.25, 0.1, 0.3, 0.75), (0.4, 0.1, 0.3, 1.0)))),
        Group(PROCESS, "s/m", source, absolute(1.1e-6), forest_resistance, (
            Case("canopy resistance of a forest, LAI 5, all leaves active", (5.0,), 87.666566),
            Case("the same, half of the leaves active", (2.5,), 2.0 * 87.666566))),
        Group(PROCESS, "1", "Lee and Pielke 1992, evaluated", absolute(5.1e-9), et.soil_wetness,
              table("wetness at {}, dry {}, field capacity {}", (
                  (0.05, 0.05, 0.25, 0.0), (0.10, 0.05, 0.25, 0.02144661), (0.15, 0.05, 0.25, 0.25),
                  (0.20, 0.05, 0.25, 0.72855339), (0.25, 0.05, 0.25, 1.0)))),
        Group(PROCESS, "1", "1.8 x - 0.8 x2, evaluated", absolute(5.1e-7), root_share, roots),
    )


GROUPS = (
    Group(PROCESS, "mm/d", "formula evaluated elsewhere, weather of FAO-56 ex. 18", absolute(6e-8), transpiration, (
        Case("Penman-Monteith, FAO's air, rc 70", (FAO, 70.0), 3.8785117),
        Case("Penman-Monteith, WEP's air, rc 0 (Penman)", (WEP, 0.0), 4.8183152),
        Case("Penman-Monteith, WEP's air, rc 70", (WEP, 70.0), 3.8647954),
        Case("Penman-Monteith, WEP's air, rc 200", (WEP, 200.0), 2.8261365),
        Case("Penman-Monteith, FAO's air, rc 70, against FAO-56's formula", (FAO, 70.0), 3.8802594, relative(5e-4)))),
    Group(PROCESS, "mm/d", "formula evaluated elsewhere, weather of FAO-56 ex. 18", absolute(1e-7), bare_soil, (
        Case("bare soil, wetness 0", (0.0,), 0.0),
        Case("bare soil, wetness 0.25", (0.25,), 2.3406142),
        Case("bare soil, wetness 0.5", (0.5,), 3.5615870),
        Case("bare soil, wetness 1 (Penman)", (1.0,), 4.8183152))),
    Group(PROCESS, "mm/d", "limit of an endless resistance: radiation term", relative(1e-9),
          lambda: et.penman(RADIATION, SLOPE, GAMMA, HEAT, WEP_AIR, DEFICIT, 1e12) / MM_PER_DAY, (
              Case("Penman in still air", (), RADIATION / (1e3 * HEAT) * SLOPE / (SLOPE + GAMMA) / MM_PER_DAY),)),
    Group(PROCESS, "s/m", "formula evaluated elsewhere", absolute(5.1e-7),
          lambda height, wind_height, wind: et.aerodynamic_factor_vegetation(height, wind_height) / wind,
          table("aerodynamic resistance, plants of {} m, wind at {} m, {} m/s", (
              (1.0, 10.0, 3.0, 56.922476), (15.0, 19.0, 3.0, 12.155412)))),
    # FAO-56's 208/u2 has d = 2/3 h and wind at 2 m; here wind is carried to 2.12 m and d = 0.67 h.
    Group(PROCESS, "1", "FAO-56, 208/u2", relative(0.02), et.aerodynamic_factor_vegetation, (
        Case("aerodynamic factor of FAO-56's grass", (0.12, 2.0), 208.0),)),
    Group(PROCESS, "1", "log law evaluated", relative(1e-10), et.aerodynamic_factor_surface, (
        Case("aerodynamic factor of bare soil, wind at 10 m", (0.005, 10.0),
             math.log(2000.0) * math.log(20000.0) / VON_KARMAN**2),)),
    *_factors(),
)
