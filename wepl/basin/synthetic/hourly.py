"""Hours from days: storms at a time of the day, the daily course of temperature, humidity, wind and sunshine.

Days and hours are UTC, as the model's solar time asks; what follows the sun is placed by the station's longitude.
"""

from __future__ import annotations

import numpy as np

from wepl.basin.synthetic.stations import Stations
from wepl.basin.synthetic.weather import Weather, declination, sunset_angle

_WARMEST, _WINDIEST = 14.5, 14.0  # solar time, h
_RANGE_OVERCAST, _RANGE_CLEAR = 3.5, 8.5  # K, daily range of temperature: under clouds, and what a clear sky adds
_WIND_RANGE = 0.35
_STORM_PEAK = 0.4  # of its duration


def hours(weather: Weather, stations: Stations, dates: np.ndarray, first: int, last: int) -> dict[str, np.ndarray]:
    """Hourly forcing of the days ``first`` to ``last`` (not included), arrays of shape (hour, station).

    Daily sums of rain (returned as a rate, mm d-1) and sunshine, and daily means of temperature and wind are kept;
    those of humidity too where no hour reaches 100 %.
    """
    days = slice(first, last)
    hour = np.arange(24) + 0.5
    solar = (hour[:, None] + stations.longitude / 15.0) % 24.0  # hour, station
    shape = ((last - first) * 24, stations.longitude.size)
    rain = _rain(weather.precipitation[days], weather.storm_time[days])
    warm = np.cos(2.0 * np.pi * (solar - _WARMEST) / 24.0)
    half = 0.5 * (_RANGE_OVERCAST + _RANGE_CLEAR * weather.clearness[days])
    temperature = _between_days(weather.temperature, first, last) + half[:, None, :] * warm
    dryness = 1.0 / _saturation(temperature)  # the vapour pressure is constant over the day
    humidity = weather.humidity[days][:, None, :] * dryness / dryness.mean(axis=1, keepdims=True)
    humidity = np.minimum(humidity, 100.0)
    wind = weather.wind[days][:, None, :] * (1.0 + _WIND_RANGE * np.cos(2.0 * np.pi * (solar - _WINDIEST) / 24.0))
    half_day = sunset_angle(declination(dates[days])[:, None], np.radians(stations.latitude)) * 12.0 / np.pi
    daylight = _daylight(stations.longitude, half_day)
    sunshine = weather.clearness[days][:, None, :] * daylight
    values = {"precipitation": rain * 24.0, "air_temperature": temperature, "relative_humidity": humidity,
              "wind_speed": wind, "sunshine_duration": sunshine}
    return {name: value.reshape(shape) for name, value in values.items()}


def _rain(daily: np.ndarray, storm_time: np.ndarray) -> np.ndarray:
    """Rain of each hour, mm, shape (day, hour, station): one triangular storm a day, eq. (2.2) and (2.3)."""
    duration = np.clip(2.5 * daily**0.4, 1.0, 24.0)
    start = storm_time * (24.0 - duration)
    edge = (np.arange(25.0)[:, None] - start[:, None, :]) / duration[:, None, :]
    edge = np.clip(edge, 0.0, 1.0)
    fallen = np.where(edge <= _STORM_PEAK, edge**2 / _STORM_PEAK, 1.0 - (1.0 - edge) ** 2 / (1.0 - _STORM_PEAK))
    return np.diff(fallen, axis=1) * daily[:, None, :]


def _between_days(daily: np.ndarray, first: int, last: int) -> np.ndarray:
    """Daily means joined by straight lines, then moved day by day so that each mean is kept: (day, hour, station)."""
    before = daily[np.maximum(np.arange(first, last) - 1, 0)][:, None, :]
    after = daily[np.minimum(np.arange(first, last) + 1, daily.shape[0] - 1)][:, None, :]
    middle = daily[first:last][:, None, :]
    part = ((np.arange(24) + 0.5) / 24.0 - 0.5)[:, None]
    line = middle + np.where(part < 0.0, -part * (before - middle), part * (after - middle))
    return line + middle - line.mean(axis=1, keepdims=True)


def _daylight(longitude: np.ndarray, half_day: np.ndarray) -> np.ndarray:
    """Hours of daylight within each UTC hour, shape (day, hour, station); they add to the day length."""
    total = np.zeros((half_day.shape[0], 24, longitude.size))
    for turn in (-24.0, 0.0, 24.0):
        start = np.arange(24.0)[:, None] + longitude / 15.0 - 12.0 + turn
        low = np.maximum(start, -half_day[:, None, :])
        total += np.maximum(np.minimum(start + 1.0, half_day[:, None, :]) - low, 0.0)
    return total


def _saturation(temperature: np.ndarray) -> np.ndarray:
    """Saturation vapour pressure, Pa; eq. (3.2)."""
    return 610.8 * np.exp(17.27 * temperature / (temperature + 237.3))
