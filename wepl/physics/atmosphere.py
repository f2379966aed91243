"""Humidity, air and radiation of one place and step (docs/theory/atmosphere.md, eqs. 3.1 to 3.19)."""

from __future__ import annotations

import math

from wepl.physics.constants import (
    GAS_CONSTANT_AIR,
    KELVIN,
    MOLECULAR_RATIO,
    SOLAR_CONSTANT,
    SPECIFIC_HEAT_AIR,
    STEFAN_BOLTZMANN,
)
from wepl.physics.jit import physics

_YEAR_ANGLE = 2.0 * math.pi / 365.0
_HOUR_ANGLE = math.pi / 12.0


@physics
def saturation_vapour_pressure(temperature):
    """Saturation vapour pressure over water, Pa, of air at ``temperature`` degC; eq. (3.2), FAO-56 eq. 11."""
    return 610.8 * math.exp(17.27 * temperature / (temperature + 237.3))


@physics
def vapour_pressure_slope(temperature):
    """Slope of the saturation curve, Pa K-1, at ``temperature`` degC; eq. (3.3), FAO-56 eq. 13."""
    return 4098.0 * saturation_vapour_pressure(temperature) / (temperature + 237.3) ** 2


@physics
def vaporisation_heat(temperature):
    """Latent heat of vaporisation, J kg-1, at ``temperature`` degC; eq. (3.4), FAO-56 annex 3."""
    return 1.0e6 * (2.501 - 0.002361 * temperature)


@physics
def air_pressure(elevation):
    """Air pressure, Pa, at ``elevation`` m of the standard atmosphere; eq. (3.5), after FAO-56 eq. 7."""
    return 101300.0 * ((293.0 - 0.0065 * elevation) / 293.0) ** 5.26


@physics
def psychrometric_constant(pressure, heat):
    """Psychrometric constant, Pa K-1, from air pressure (Pa) and heat of vaporisation (J kg-1); eq. (3.6)."""
    return SPECIFIC_HEAT_AIR * pressure / (MOLECULAR_RATIO * heat)


@physics
def air_density(pressure, temperature):
    """Density of moist air, kg m-3, from pressure (Pa) and temperature (degC); eq. (3.7), FAO-56 box 6."""
    return pressure / (GAS_CONSTANT_AIR * 1.01 * (temperature + 273.0))


@physics
def inverse_relative_distance(day):
    """Inverse relative distance of the Earth to the sun, 1, on day of the year ``day``; eq. (3.8), FAO-56 eq. 23."""
    return 1.0 + 0.033 * math.cos(_YEAR_ANGLE * day)


@physics
def solar_declination(day):
    """Declination of the sun, rad, on day of the year ``day``; eq. (3.9), FAO-56 eq. 24."""
    return 0.409 * math.sin(_YEAR_ANGLE * day - 1.39)


@physics
def sunset_angle(latitude, declination):
    """Sunset hour angle, rad, from latitude and declination (rad); 0 in polar night, pi in polar day; eq. (3.10)."""
    return math.acos(min(1.0, max(-1.0, -math.tan(latitude) * math.tan(declination))))


@physics
def extraterrestrial_daily(day, latitude):
    """Radiation outside the atmosphere, daily mean W m-2, at ``latitude`` rad; eq. (3.11), FAO-56 eq. 21."""
    declination = solar_declination(day)
    sunset = sunset_angle(latitude, declination)
    return (SOLAR_CONSTANT / math.pi * inverse_relative_distance(day)
            * (sunset * math.sin(latitude) * math.sin(declination)
               + math.cos(latitude) * math.cos(declination) * math.sin(sunset)))


@physics
def solar_time_angle(day, longitude, utc_hour):
    """Solar time angle, rad, 0 at solar noon, within -pi to pi; equation of time of FAO-56 eqs. 31 to 33."""
    b = 2.0 * math.pi * (day - 81.0) / 364.0
    correction = 0.1645 * math.sin(2.0 * b) - 0.1255 * math.cos(b) - 0.025 * math.sin(b)
    angle = _HOUR_ANGLE * (utc_hour + correction - 12.0) + longitude
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


@physics
def _sun_between(start, end, sunset, sines, cosines):
    """Integral of the sun's height over the angles ``start`` to ``end``, clipped at sunrise and sunset, rad."""
    low = max(start, -sunset)
    high = min(end, sunset)
    if high <= low:
        return 0.0
    return (high - low) * sines + cosines * (math.sin(high) - math.sin(low))


@physics
def extraterrestrial_period(day, latitude, longitude, utc_hour, period):
    """Mean radiation outside the atmosphere over a period, W m-2; eq. (3.12), FAO-56 eqs. 28 to 33.

    ``latitude`` and ``longitude`` in rad, ``utc_hour`` (h) the middle of the period, ``period`` its length (h, at
    most 24). A period that crosses solar midnight is taken as its two pieces.
    """
    declination = solar_declination(day)
    sunset = sunset_angle(latitude, declination)
    middle = solar_time_angle(day, longitude, utc_hour)
    half = 0.5 * period * _HOUR_ANGLE
    sines = math.sin(latitude) * math.sin(declination)
    cosines = math.cos(latitude) * math.cos(declination)
    turn = 2.0 * math.pi
    total = _sun_between(middle - half, middle + half, sunset, sines, cosines)
    total += _sun_between(middle - half + turn, middle + half + turn, sunset, sines, cosines)
    total += _sun_between(middle - half - turn, middle + half - turn, sunset, sines, cosines)
    return max(0.0, SOLAR_CONSTANT * inverse_relative_distance(day) * total / (2.0 * half))


@physics
def daylight_in_period(day, latitude, longitude, utc_hour, period):
    """Hours of a period (middle ``utc_hour``, length ``period``, h) in which the sun is up; angles in rad."""
    sunset = sunset_angle(latitude, solar_declination(day))
    middle = solar_time_angle(day, longitude, utc_hour)
    half = 0.5 * period * _HOUR_ANGLE
    total = 0.0
    for turn in range(-1, 2):
        shift = 2.0 * math.pi * turn
        total += max(0.0, min(middle + half + shift, sunset) - max(middle - half + shift, -sunset))
    return total / _HOUR_ANGLE


@physics
def daylight_hours(sunset):
    """Day length, h, from the sunset hour angle (rad); eq. (3.13), FAO-56 eq. 34."""
    return 24.0 * sunset / math.pi


@physics
def shortwave_from_sunshine(extraterrestrial, ratio, angstrom_a, angstrom_b):
    """Shortwave radiation at the ground, in the unit of ``extraterrestrial``, from n/N; eq. (3.14), Angstrom."""
    return (angstrom_a + angstrom_b * ratio) * extraterrestrial


@physics
def sunshine_ratio(shortwave, extraterrestrial, angstrom_a, angstrom_b):
    """Relative sunshine n/N, 0 to 1, that belongs to a shortwave radiation; eq. (3.15).

    Both radiations in one unit; without sun (``extraterrestrial`` 0) or with ``angstrom_b`` 0 it is 0.
    """
    if extraterrestrial <= 0.0 or angstrom_b <= 0.0:
        return 0.0
    return min(1.0, max(0.0, (shortwave / extraterrestrial - angstrom_a) / angstrom_b))


@physics
def net_emissivity(temperature):
    """Net emissivity between ground and clear sky, 1, from air temperature (degC); eq. (3.16), Idso and Jackson."""
    return -0.02 + 0.261 * math.exp(-7.77e-4 * temperature * temperature)


@physics
def net_longwave(temperature, ratio):
    """Net longwave radiation, W m-2, positive downward, from air temperature (degC) and n/N; eq. (3.17), WEP."""
    cloud = 0.1 + 0.9 * ratio
    return -cloud * net_emissivity(temperature) * STEFAN_BOLTZMANN * (temperature + KELVIN) ** 4


@physics
def net_longwave_given(temperature, downward, emissivity):
    """Net longwave radiation, W m-2, from the sky's longwave radiation (W m-2); eq. (3.18).

    The surface is taken to be at air temperature (degC).
    """
    return emissivity * (downward - STEFAN_BOLTZMANN * (temperature + KELVIN) ** 4)
