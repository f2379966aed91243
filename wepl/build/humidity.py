"""Relative humidity, wind, mean temperature and sunshine from what was measured instead."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from wepl.build.quantities import RECIPES

_WATER_TO_AIR = 0.622  # molar mass of water vapour over that of dry air


def saturation_vapour_pressure(temperature: np.ndarray) -> np.ndarray:
    """Saturation vapour pressure over water, Pa, of a temperature in degC; eq. (3.2)."""
    return 610.8 * np.exp(17.27 * temperature / (temperature + 237.3))


def air_pressure(elevation: np.ndarray) -> np.ndarray:
    """Air pressure, Pa, at an elevation in m; eq. (3.5)."""
    return 101300.0 * ((293.0 - 0.0065 * elevation) / 293.0) ** 5.26


def from_dew_point(dew_point: np.ndarray, temperature: np.ndarray) -> np.ndarray:
    """Relative humidity (0 to 1) from dew point and air temperature, both degC."""
    return _share(saturation_vapour_pressure(dew_point), temperature)


def from_vapour_pressure(vapour_pressure: np.ndarray, temperature: np.ndarray) -> np.ndarray:
    """Relative humidity (0 to 1) from vapour pressure, Pa, and air temperature, degC."""
    return _share(vapour_pressure, temperature)


def from_specific_humidity(specific_humidity: np.ndarray, temperature: np.ndarray, pressure: np.ndarray) -> np.ndarray:
    """Relative humidity (0 to 1) from specific humidity, kg kg-1, air temperature, degC, and pressure, Pa.

    e = q p / (0.622 + 0.378 q), by the definition of specific humidity.
    """
    vapour = specific_humidity * pressure / (_WATER_TO_AIR + (1.0 - _WATER_TO_AIR) * specific_humidity)
    return _share(vapour, temperature)


def _share(vapour_pressure: np.ndarray, temperature: np.ndarray) -> np.ndarray:
    return np.clip(vapour_pressure / saturation_vapour_pressure(temperature), 0.0, 1.0)


def daylight_seconds(day_of_year: np.ndarray, latitude: np.ndarray) -> np.ndarray:
    """Length of the day, s, ``[day, place]``, of days of the year at latitudes in degrees; eqs. (3.9), (3.10), (3.13).
    """
    declination = 0.409 * np.sin(2.0 * np.pi * day_of_year / 365.0 - 1.39)
    cosine = -np.tan(np.radians(latitude))[None, :] * np.tan(declination)[:, None]
    return 86400.0 / np.pi * np.arccos(np.clip(cosine, -1.0, 1.0))


def recipe(name: str, given: Collection[str]) -> tuple[str, ...] | None:
    """What a forcing variable is made from: itself, else the first set of :data:`RECIPES` that is given; else None."""
    if name in given:
        return (name,)
    for parts in RECIPES.get(name, ()):
        if all(recipe(part, given) for part in parts if not part.endswith("?")):
            return tuple(part.rstrip("?") for part in parts if not part.endswith("?") or part[:-1] in given)
    return None


def make(name: str, parts: Mapping[str, np.ndarray], elevation: np.ndarray, latitude: np.ndarray,
         day_of_year: np.ndarray) -> np.ndarray:
    """A forcing variable from the parts of its recipe, ``[time, place]``.

    Parameters
    ----------
    name : str
        Forcing variable.
    parts : mapping
        Arrays of the recipe's quantities, in units of a build.
    elevation, latitude : ndarray
        m and degrees, of each place.
    day_of_year : ndarray
        Of each time.
    """
    if name in parts:
        values = parts[name]
        return np.clip(values, 0.0, 1.0) if name == "relative_humidity" else values
    if name == "air_temperature":
        return 0.5 * (parts["minimum_temperature"] + parts["maximum_temperature"])
    if name == "wind_speed":
        return np.hypot(parts["eastward_wind"], parts["northward_wind"])
    if name == "sunshine_duration":
        return np.clip(parts["relative_sunshine"], 0.0, 1.0) * daylight_seconds(day_of_year, latitude)
    temperature = parts["air_temperature"]
    if "dew_point" in parts:
        return from_dew_point(parts["dew_point"], temperature)
    if "vapour_pressure" in parts:
        return from_vapour_pressure(parts["vapour_pressure"], temperature)
    pressure = parts["air_pressure"] if "air_pressure" in parts else air_pressure(elevation)[None, :]
    return from_specific_humidity(parts["specific_humidity"], temperature, pressure)
