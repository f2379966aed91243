"""Daily weather at the stations: correlated in space and time, with the monthly climate of each station.

Rain comes from a latent Gaussian field: an autoregressive process in time, correlated in space, of a wide and a local
part. At each station and calendar month its highest days, over all years, are the wet days; their amounts follow a
stretched exponential (Wilson and Toumi 2005, whose exponent of 2/3 gives the heavy tail of storms). Temperature,
humidity, wind and sunshine follow with the rain and are shifted so that the mean over the years of each calendar month
is the station's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky
from scipy.signal import lfilter
from scipy.special import ndtr

from wepl.basin.synthetic import facts
from wepl.basin.synthetic.stations import Stations
from wepl.basin.synthetic.terrain import kilometres

LEAST_RAIN = 0.1  # mm, the smallest amount of a rain day
_STORM_EXPONENT = 2.0 / 3.0
_WIDE, _LOCAL = 500.0, 90.0  # km, decay of the correlation of rain
# Share of the wide part by month: fronts and the plum rains in winter to June, showers and typhoons from July.
_WIDE_SHARE = np.array([0.85, 0.85, 0.85, 0.8, 0.75, 0.75, 0.6, 0.55, 0.65, 0.8, 0.85, 0.85])
_RAIN_MEMORY, _TEMPERATURE_MEMORY, _OTHER_MEMORY = 0.5, 0.78, 0.4  # lag-one autocorrelation
_TEMPERATURE_SPREAD = np.array([3.2, 3.4, 3.4, 3.1, 2.5, 2.0, 1.3, 1.3, 2.0, 2.4, 2.8, 3.0])  # K
_RAIN_COOLING = np.array([0.5, 0.8, 1.5, 2.2, 2.4, 2.6, 2.4, 2.2, 2.0, 1.6, 1.2, 0.6])  # K
_CLEAREST, _HAZE = 0.95, 0.15  # most sunshine of the day length, and what haze takes of it at most
_HUMIDITY_RANGE = (35.0, 98.5)


@dataclass
class Weather:
    """Daily series, each of shape (day, station).

    Attributes
    ----------
    precipitation, temperature, humidity, wind, sunshine : ndarray
        mm, degC, %, m s-1, h.
    clearness : ndarray
        Sunshine as a share of the day length.
    storm_time : ndarray
        When the day's storm comes, from 0 to 1, coherent in space.
    """

    precipitation: np.ndarray
    temperature: np.ndarray
    humidity: np.ndarray
    wind: np.ndarray
    sunshine: np.ndarray
    clearness: np.ndarray
    storm_time: np.ndarray


def build_weather(stations: Stations, dates: np.ndarray, random: np.random.Generator, *, timing: bool) -> Weather:
    """Weather of the days ``dates`` (datetime64[D], whole years); ``timing`` asks for the times of storms."""
    month = dates.astype("datetime64[M]").astype(np.int64) % 12
    pools = [np.flatnonzero(month == number) for number in range(12)]
    parts = _month_parts(dates)
    x, y = kilometres(stations.longitude, stations.latitude)
    distance = np.hypot(x[:, None] - x, y[:, None] - y)
    wide = _field(distance, _WIDE, _RAIN_MEMORY, dates.size, random)
    share = _WIDE_SHARE[month][:, None]
    rain_field = np.sqrt(share) * wide
    del wide
    rain_field += np.sqrt(1.0 - share) * _field(distance, _LOCAL, _RAIN_MEMORY, dates.size, random)
    precipitation = _precipitation(stations, rain_field, pools, parts, random)
    wet = precipitation > 0.0

    cloud = -0.75 * rain_field + np.sqrt(1.0 - 0.75**2) * _field(distance, _WIDE, _OTHER_MEMORY, dates.size, random)
    del rain_field
    day = day_length(dates, stations.latitude)
    haze = _HAZE * random.random(day.shape)
    sunshine = _sunshine(stations, cloud - 0.5 * wet, day, (_CLEAREST - haze) * day, pools, parts)
    temperature = _temperature(stations, dates, wet, pools, distance, random)
    humidity = _humidity(stations, cloud, wet, pools, distance, random)
    del cloud
    wind = np.exp(0.35 * _field(distance, 300.0, _OTHER_MEMORY, dates.size, random))
    for number, days in enumerate(pools):
        if days.size:
            wind[days] *= stations.wind[number] / wind[days].mean(axis=0)
    storm_time = np.empty((0, x.size))
    if timing:
        storm_time = ndtr(_field(distance, 250.0, 0.0, dates.size, random))
    return Weather(np.round(precipitation, 2), np.round(temperature, 2), np.round(humidity, 1),
                   np.round(np.maximum(wind, 0.1), 2), np.round(sunshine, 2), sunshine / day, storm_time)


def day_length(dates: np.ndarray, latitude: np.ndarray) -> np.ndarray:
    """Hours from sunrise to sunset, shape (day, station); eq. (3.9), (3.10) and (3.13)."""
    angle = sunset_angle(declination(dates)[:, None], np.radians(latitude))
    return 24.0 / np.pi * angle


def declination(dates: np.ndarray) -> np.ndarray:
    """Solar declination of each day, rad; eq. (3.9)."""
    number = (dates - dates.astype("datetime64[Y]").astype("datetime64[D]")).astype(np.int64) + 1
    return 0.409 * np.sin(2.0 * np.pi * number / 365.0 - 1.39)


def sunset_angle(declined: np.ndarray, latitude: np.ndarray) -> np.ndarray:
    """Hour angle of sunset, rad; eq. (3.10)."""
    return np.arccos(np.clip(-np.tan(latitude) * np.tan(declined), -1.0, 1.0))


def _month_parts(dates: np.ndarray) -> np.ndarray:
    """How many of each calendar month the dates hold (a part where a month is cut)."""
    months, count = np.unique(dates.astype("datetime64[M]"), return_counts=True)
    length = ((months + 1).astype("datetime64[D]") - months.astype("datetime64[D]")).astype(np.int64)
    return np.bincount(months.astype(np.int64) % 12, weights=count / length, minlength=12)


def _field(distance: np.ndarray, decay: float, memory: float, n_days: int, random: np.random.Generator) -> np.ndarray:
    """Standard Gaussian series (day, station): correlation exp(-distance/decay), lag-one autocorrelation ``memory``."""
    root = cholesky(np.exp(-distance / decay) + 1e-9 * np.eye(distance.shape[0]), lower=True)
    series = np.empty((n_days, distance.shape[0]))
    for first in range(0, n_days, 4096):
        block = random.standard_normal((min(4096, n_days - first), distance.shape[0]))
        series[first:first + 4096] = block @ root.T
    if memory == 0.0:
        return series
    series[1:] *= np.sqrt(1.0 - memory**2)
    for station in range(distance.shape[0]):
        series[:, station] = lfilter([1.0], [1.0, -memory], series[:, station])
    return series


def _precipitation(stations: Stations, field: np.ndarray, pools: list[np.ndarray], parts: np.ndarray,
                   random: np.random.Generator) -> np.ndarray:
    """Daily rain, mm: rain days and totals of each calendar month are the station's."""
    amount = np.zeros(field.shape)
    n_wet = np.round(np.cumsum(parts[:, None] * stations.rain_days, axis=0))
    n_wet = np.diff(n_wet, axis=0, prepend=0.0).astype(np.int64)
    for number, days in enumerate(pools):
        if days.size == 0:
            continue
        highest = np.argsort(-field[days], axis=0, kind="stable")
        total = stations.precipitation[number] * parts[number]
        for station in range(field.shape[1]):
            count = min(int(n_wet[number, station]), days.size, int(total[station] / LEAST_RAIN))
            if count == 0:
                continue
            above = (np.arange(count) + random.random(count)) / count
            excess = (-np.log(np.maximum(above, 1e-12))) ** (1.0 / _STORM_EXPONENT)
            excess *= (total[station] - LEAST_RAIN * count) / excess.sum()
            amount[days[highest[:count, station]], station] = LEAST_RAIN + excess
    return amount


def _sunshine(stations: Stations, cloud: np.ndarray, day: np.ndarray, most: np.ndarray,
              pools: list[np.ndarray], parts: np.ndarray) -> np.ndarray:
    """Daily sunshine, h: the clearer the sky, the more of the ``day``, between none and ``most``."""
    sunshine = np.empty(cloud.shape)
    for number, days in enumerate(pools):
        if days.size:
            mean = stations.sunshine[number] * parts[number] / days.size
            sunshine[days] = _shifted(0.42 * cloud[days] * day[days], mean, 0.0, most[days])
    return sunshine


def _temperature(stations: Stations, dates: np.ndarray, wet: np.ndarray, pools: list[np.ndarray],
                 distance: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Daily mean temperature, degC: season, spells of warm and cold days, cooler on rain days."""
    month = dates.astype("datetime64[M]").astype(np.int64) % 12
    temperature = _field(distance, 1500.0, _TEMPERATURE_MEMORY, dates.size, random)
    temperature *= _TEMPERATURE_SPREAD[month][:, None]
    temperature -= _RAIN_COOLING[month][:, None] * wet
    temperature += _season(dates, stations.temperature)
    for number, days in enumerate(pools):
        if days.size:
            temperature[days] += stations.temperature[number] - temperature[days].mean(axis=0)
    return temperature


def _season(dates: np.ndarray, monthly: np.ndarray) -> np.ndarray:
    """Piecewise linear year through mid-months whose monthly means are ``monthly`` (12, station)."""
    middle = np.cumsum(facts.MONTH_DAYS) - 0.5 * facts.MONTH_DAYS
    year = np.concatenate([middle[-1:] - 365.25, middle, middle[:1] + 365.25])
    number = (dates - dates.astype("datetime64[Y]").astype("datetime64[D]")).astype(np.int64) + 0.5

    def weights(days: np.ndarray) -> np.ndarray:
        after = np.searchsorted(year, days, side="right")
        part = (days - year[after - 1]) / (year[after] - year[after - 1])
        matrix = np.zeros((days.size, 12))
        matrix[np.arange(days.size), (after - 2) % 12] = 1.0 - part
        matrix[np.arange(days.size), (after - 1) % 12] += part
        return matrix

    whole = np.arange(0.125, 365.25, 0.25)
    of_month = np.minimum(np.searchsorted(np.cumsum(facts.MONTH_DAYS), whole, side="right"), 11)
    means = np.array([weights(whole[of_month == number]).mean(axis=0) for number in range(12)])
    return weights(number) @ np.linalg.solve(means, monthly)


def _humidity(stations: Stations, cloud: np.ndarray, wet: np.ndarray, pools: list[np.ndarray], distance: np.ndarray,
              random: np.random.Generator) -> np.ndarray:
    """Daily mean relative humidity, %: high on rain days and under clouds."""
    humidity = 4.0 * _field(distance, 400.0, _OTHER_MEMORY, cloud.shape[0], random) - 5.0 * cloud + 5.0 * wet
    for number, days in enumerate(pools):
        if days.size:
            humidity[days] = _shifted(humidity[days], stations.humidity[number], *_HUMIDITY_RANGE)
    return humidity


def _shifted(values: np.ndarray, mean: np.ndarray, low: float, high: float | np.ndarray) -> np.ndarray:
    """``clip(values + shift, low, high)`` with one shift a station so that its mean is ``mean``, by bisection."""
    below = np.min(low - values, axis=0)
    above = np.max(high - values, axis=0)
    for _ in range(50):
        shift = 0.5 * (below + above)
        less = np.clip(values + shift, low, high).mean(axis=0) < mean
        below, above = np.where(less, shift, below), np.where(less, above, shift)
    return np.clip(values + shift, low, high)
