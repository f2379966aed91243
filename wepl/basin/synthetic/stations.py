"""Weather stations, which are the forcing cells: where they stand and what their climate is, month by month."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from wepl.basin.synthetic import facts
from wepl.basin.synthetic.terrain import Bands, kilometres

_PER_500_UNITS, _FEWEST = 16, 4
# Annual precipitation rises with the station's height and towards the east (Xin wetter than Gan), mm per m and per km.
_PRECIPITATION_HEIGHT, _PRECIPITATION_EAST, _PRECIPITATION_NOISE = 0.35, 0.55, 45.0
_HEIGHT_LIMIT = 1000.0
_MARGIN = 12.0  # mm, the published range of places is not touched
# Fall of temperature with latitude, K per degree: large in winter and nil in summer, so that the yearly means run from
# about 16.3 degC in the north to 19.5 degC in the south.
_LATITUDE_MEAN, _LATITUDE_SEASON = 0.55, 0.50


@dataclass
class Stations:
    """Stations and their monthly climate.

    Attributes
    ----------
    longitude, latitude, elevation : ndarray
        Degrees and m.
    unit_station : ndarray of int
        Position of each unit's nearest station.
    precipitation, rain_days, temperature, humidity, wind, sunshine : ndarray, shape (12, station)
        mm a month, days a month with 0.1 mm or more, degC, %, m s-1 at 10 m, h a month.
    """

    longitude: np.ndarray
    latitude: np.ndarray
    elevation: np.ndarray
    unit_station: np.ndarray
    precipitation: np.ndarray
    rain_days: np.ndarray
    temperature: np.ndarray
    humidity: np.ndarray
    wind: np.ndarray
    sunshine: np.ndarray


def build_stations(bands: Bands, random: np.random.Generator) -> Stations:
    """Stations for the bands: 16 for 500 units, growing with the square root; the first is Nanchang."""
    n = max(_FEWEST, round(_PER_500_UNITS * (bands.area.size / 500.0) ** 0.5))
    place = np.column_stack(kilometres(bands.longitude, bands.latitude))
    longitude, latitude, elevation = _places(n, place, bands)
    station = np.column_stack(kilometres(longitude, latitude))
    nearest = cKDTree(station).query(place)[1]
    share = np.bincount(nearest, weights=bands.area, minlength=n) / bands.area.sum()
    annual = _annual_precipitation(station, elevation, share, random)
    wetness = np.clip((annual - facts.PRECIPITATION.sum()) / 300.0, -1.0, 1.0)
    ratio = annual / facts.PRECIPITATION.sum()
    sunshine = np.clip(facts.SUNSHINE.sum() - 60.0 - 90.0 * wetness, facts.PLACE_SUNSHINE[0] + 8.0, 1812.0)
    humidity = np.clip(77.0 + 1.6 * wetness, 75.3, 78.7)
    wind = np.clip(2.15 + 0.06 * random.standard_normal(n), 2.03, 2.27)
    sunshine[0], humidity[0] = facts.SUNSHINE.sum(), facts.HUMIDITY.mean()
    month = np.arange(12)
    gradient = _LATITUDE_MEAN + _LATITUDE_SEASON * np.cos(2.0 * np.pi * month / 12.0)
    temperature = (facts.TEMPERATURE[:, None] - np.outer(gradient, latitude - facts.NANCHANG[1])
                   - facts.LAPSE_RATE * (elevation - facts.NANCHANG[2]))
    windy = 1.0 + 0.06 * np.cos(2.0 * np.pi * (month - 2) / 12.0)
    return Stations(
        longitude, latitude, elevation, nearest,
        np.outer(facts.PRECIPITATION, ratio),
        np.outer(facts.RAIN_DAYS, 1.0 + 4.0 * wetness / facts.RAIN_DAYS.sum()),
        temperature,
        facts.HUMIDITY[:, None] + (humidity - facts.HUMIDITY.mean()),
        np.outer(windy, wind),
        np.outer(facts.SUNSHINE, sunshine / facts.SUNSHINE.sum()))


def _places(n: int, place: np.ndarray, bands: Bands) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Longitude, latitude and height of the stations: one a cluster, in turn low and high in it, the first Nanchang.

    Clusters are found by Lloyd's iteration from places that are far from each other.
    """
    x, y = kilometres(np.array(facts.NANCHANG[0]), np.array(facts.NANCHANG[1]))
    centre = np.empty((n, 2))
    centre[0] = x, y
    distance = np.hypot(*(place - centre[0]).T)
    for number in range(1, n):
        centre[number] = place[np.argmax(distance)]
        distance = np.minimum(distance, np.hypot(*(place - centre[number]).T))
    for _ in range(12):
        cluster = cKDTree(centre).query(place)[1]
        total = np.bincount(cluster, weights=bands.area, minlength=n)
        for axis in range(2):
            mean = np.bincount(cluster, weights=bands.area * place[:, axis], minlength=n) / np.maximum(total, 1e-9)
            centre[1:, axis] = np.where(total > 0.0, mean, centre[:, axis])[1:]
    distance, cluster = cKDTree(centre).query(place)
    longitude, latitude, elevation = np.empty(n), np.empty(n), np.empty(n)
    longitude[0], latitude[0], elevation[0] = facts.NANCHANG
    taken = np.zeros(distance.size, dtype=bool)
    for number in range(1, n):
        inner = np.flatnonzero((cluster == number) & ~taken)
        if inner.size == 0:
            inner = np.flatnonzero(~taken)
        inner = inner[distance[inner] <= np.quantile(distance[inner], 0.6)]
        by_height = inner[np.argsort(bands.elevation[inner], kind="stable")]
        unit = by_height[int((0.1 + 0.8 * (number * 0.618 % 1.0)) * by_height.size)]
        taken[unit] = True
        longitude[number], latitude[number] = bands.longitude[unit], bands.latitude[unit]
        elevation[number] = bands.elevation[unit]
    return longitude, latitude, np.round(elevation)


def _annual_precipitation(station: np.ndarray, elevation: np.ndarray, share: np.ndarray,
                          random: np.random.Generator) -> np.ndarray:
    """Annual precipitation of each station, mm: Nanchang's own at the first, the published mean over the basin."""
    raw = (_PRECIPITATION_HEIGHT * np.minimum(elevation, _HEIGHT_LIMIT) + _PRECIPITATION_EAST * station[:, 0]
           + _PRECIPITATION_NOISE * random.standard_normal(elevation.size))
    nanchang = facts.PRECIPITATION.sum()
    low, high = facts.PLACE_PRECIPITATION[0] + _MARGIN, facts.PLACE_PRECIPITATION[1] - _MARGIN
    rest = share.copy()
    rest[0] = 0.0
    mean = (facts.BASIN_PRECIPITATION - share[0] * nanchang) / rest.sum()
    deviation = raw - np.sum(rest * raw) / rest.sum()
    deviation[0] = 0.0
    scale = min((high - mean) / max(deviation.max(), 1e-9), (mean - low) / max(-deviation.min(), 1e-9), 1.0)
    annual = mean + scale * deviation
    annual[0] = nanchang
    return annual
