"""Humidity and air (docs/theory/atmosphere.md) against the worked examples of FAO-56 and the ASCE manual."""

from __future__ import annotations

from wepl.physics import atmosphere
from wepl.validation.comparison import Case, Group, absolute, relative, table

PROCESS = "Humidity and air"
FAO_HEAT = 2.45e6  # J kg-1, the constant heat of vaporisation of FAO-56


def pressure(elevation: float) -> float:
    """Air pressure, kPa."""
    return atmosphere.air_pressure(elevation) / 1e3


def psychrometric(elevation: float) -> float:
    """Psychrometric constant with FAO-56's constant heat of vaporisation, kPa/K."""
    return atmosphere.psychrometric_constant(atmosphere.air_pressure(elevation), FAO_HEAT) / 1e3


def saturation(temperature: float) -> float:
    """Saturation vapour pressure, kPa."""
    return atmosphere.saturation_vapour_pressure(temperature) / 1e3


def mean_saturation(*temperatures: float) -> float:
    """Mean of the saturation vapour pressures of several temperatures, kPa."""
    return sum(saturation(value) for value in temperatures) / len(temperatures)


def from_wet_bulb(wet: float, dry: float, elevation: float, coefficient: float) -> float:
    """Vapour pressure, kPa, from a psychrometer with the given coefficient (K-1); FAO-56 eq. 15."""
    return saturation(wet) - coefficient * pressure(elevation) * (dry - wet)


def from_humidity(*pairs: tuple[float, float]) -> float:
    """Mean vapour pressure, kPa, of pairs of temperature (degC) and relative humidity (%)."""
    return sum(saturation(temperature) * humidity / 100.0 for temperature, humidity in pairs) / len(pairs)


def slope(temperature: float) -> float:
    """Slope of the saturation curve, kPa/K."""
    return atmosphere.vapour_pressure_slope(temperature) / 1e3


def air_density(pressure_kpa: float, temperature: float) -> float:
    """Density of air, kg m-3."""
    return atmosphere.air_density(1e3 * pressure_kpa, temperature)


PRINTED = "FAO-56, printed"
COMPUTED = "FAO-56, formula evaluated"
ASCE_SLOPES = ((21.65, 0.1585), (22.9, 0.1692), (23.7, 0.1762), (22.8, 0.1684), (24.3, 0.1820), (26.0, 0.199),
               (26.1, 0.1996), (26.4, 0.2027), (23.9, 0.1781), (24.2, 0.1809))
GROUPS = (
    Group(PROCESS, "kPa", PRINTED, absolute(0.05), pressure, (
        Case("ex. 2: pressure at 1800 m", (1800.0,), 81.8),
        Case("ex. 4: pressure at 1200 m", (1200.0,), 87.9),
        Case("pressure at 1462.4 m", (1462.4,), 85.17, absolute(0.005), "ASCE manual, printed"))),
    Group(PROCESS, "kPa", COMPUTED, relative(1e-7), pressure, (
        Case("ex. 2: pressure at 1800 m, all digits", (1800.0,), 81.75580, absolute(5.1e-6)),
        Case("ex. 4: pressure at 1200 m, all digits", (1200.0,), 87.896634))),
    # FAO-56 rounds the factor of pressure to 0.665e-3 K-1; cp/(0.622 lambda) is 4e-4 less.
    Group(PROCESS, "kPa/K", PRINTED, absolute(5e-4), psychrometric, (
        Case("ex. 2: psychrometric constant at 1800 m", (1800.0,), 0.054),
        Case("ex. 2: psychrometric constant at 1800 m, all digits", (1800.0,), 0.05436760, relative(5e-4), COMPUTED),
        Case("psychrometric constant at 1462.4 m", (1462.4,), 0.0566, absolute(5e-5), "ASCE manual, printed"))),
    Group(PROCESS, "kPa", COMPUTED, relative(5e-8), saturation, table("saturation vapour pressure at {} degC", (
        (24.5, 3.0746491), (15.0, 1.7053462), (19.75, 2.3023386), (19.5, 2.2668801), (38.0, 6.6247576),
        (28.0, 3.7799304)))),
    Group(PROCESS, "kPa", PRINTED, absolute(5e-4), saturation, table("ex. 3: saturation vapour pressure at {} degC", (
        (24.5, 3.075), (15.0, 1.705)))),
    Group(PROCESS, "kPa", COMPUTED, absolute(5.1e-8), mean_saturation, (
        Case("ex. 3: mean of 24.5 and 15 degC", (24.5, 15.0), 2.3899976),
        Case("ex. 3: the same, printed", (24.5, 15.0), 2.39, absolute(5e-3), PRINTED))),
    Group(PROCESS, "kPa", COMPUTED, absolute(5.1e-8), from_wet_bulb, (
        Case("ex. 4: vapour pressure, wet 19.5, dry 25.6 degC", (19.5, 25.6, 1200.0, 0.000662), 1.9119359),
        Case("ex. 4: the same, printed", (19.5, 25.6, 1200.0, 0.000662), 1.91, absolute(5e-3), PRINTED))),
    Group(PROCESS, "kPa", COMPUTED, absolute(5.1e-8), from_humidity, (
        Case("ex. 5: vapour pressure from both humidities", ((18.0, 82.0), (25.0, 54.0)), 1.7015356),
        Case("ex. 5: from the maximum humidity only", ((18.0, 82.0),), 1.6924711),
        Case("ex. 5: both humidities, printed", ((18.0, 82.0), (25.0, 54.0)), 1.70, absolute(5e-3), PRINTED),
        Case("ex. 5: maximum humidity only, printed", ((18.0, 82.0),), 1.69, absolute(5e-3), PRINTED),
        Case("ex. 5: mean humidity 68 %", ((18.0, 68.0), (25.0, 68.0)), 1.7788008),
        Case("ex. 5: mean humidity, printed", ((18.0, 68.0), (25.0, 68.0)), 1.78, absolute(5e-3), PRINTED))),
    Group(PROCESS, "kPa/K", COMPUTED, absolute(5.1e-9), slope, table("slope of saturation at {} degC", (
        (30.2, 0.24580028), (28.0, 0.22008034), (38.0, 0.35820325)))),
    # Ten means of half-degree readings: their last digit is uncertain by the rounding of the temperature.
    Group(PROCESS, "kPa/K", "ASCE manual, printed", absolute(6e-4), slope,
          table("ASCE check: slope at {} degC", ASCE_SLOPES)),
    Group(PROCESS, "MJ/kg", "FAO-56 annex 3, printed", absolute(5e-3),
          lambda temperature: atmosphere.vaporisation_heat(temperature) / 1e6, (
              Case("heat of vaporisation at 20 degC", (20.0,), 2.45),
              Case("heat of vaporisation at 16.9 degC", (16.9,), 2.4610991, absolute(5.1e-8),
                   "2.501 - 0.002361 T, evaluated"))),
    Group(PROCESS, "kg/m3", "FAO-56 box 6, p/(1.01 (T + 273) R)", relative(1e-7), air_density, (
        Case("density of air, 101.3 kPa, 20 degC", (101.3, 20.0), 101.3 / (1.01 * 293.0 * 0.287)),)),
)
