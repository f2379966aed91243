"""Relief: hand-drawn ranges with seeded noise, contour bands, hypsometry, slopes and flow lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wepl.basin.synthetic import facts

if TYPE_CHECKING:
    from wepl.basin.synthetic.network import Network

_BAND_EXPONENT = 1.6
# Ground slope (tangent) and hillslope length (m, ridge to channel) by elevation (m).
_SLOPE_TABLE = np.array([(11.0, 0.003), (20.0, 0.006), (50.0, 0.03), (150.0, 0.11), (300.0, 0.22), (600.0, 0.36),
                         (1200.0, 0.48), (2158.0, 0.60)])
_LENGTH_TABLE = np.array([(11.0, 1500.0), (50.0, 1300.0), (300.0, 900.0), (1000.0, 700.0)])


def kilometres(longitude: np.ndarray, latitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """East and north distances (km) from 116 E, 27.5 N on a plane that is good enough for the basin."""
    return (longitude - 116.0) * 98.7, (latitude - 27.5) * 110.9


class Orography:
    """Smooth height of the ground: ranges, a gentle rise away from the lake, and noise of 15 to 100 km."""

    def __init__(self, random: np.random.Generator) -> None:
        wave = np.exp(random.uniform(np.log(15.0), np.log(100.0), 48))
        turn = random.uniform(0.0, 2.0 * np.pi, 48)
        self._k = 2.0 * np.pi / wave[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
        self._phase = random.uniform(0.0, 2.0 * np.pi, 48)
        self._amplitude = (wave / 100.0) ** 0.7
        self._amplitude *= np.sqrt(2.0 / np.sum(self._amplitude**2))

    def height(self, longitude: np.ndarray, latitude: np.ndarray) -> np.ndarray:
        """Height in m at places in degrees."""
        x, y = kilometres(np.asarray(longitude, dtype=float), np.asarray(latitude, dtype=float))
        noise = np.zeros(x.shape)
        for (kx, ky), phase, amplitude in zip(self._k, self._phase, self._amplitude, strict=True):
            noise += amplitude * np.cos(kx * x + ky * y + phase)
        ranges = np.zeros(x.shape)
        for ridge in facts.RIDGES:
            for start, end in zip(ridge, ridge[1:], strict=False):
                ranges = np.maximum(ranges, _segment_height(x, y, start, end))
        lake = np.hypot(x - 25.0, (y - 165.0) * 0.8)
        return (60.0 + 0.35 * np.maximum(lake - 60.0, 0.0) + ranges) * np.exp(0.35 * noise)


def _segment_height(x: np.ndarray, y: np.ndarray, start: tuple[float, float, float],
                    end: tuple[float, float, float]) -> np.ndarray:
    """Height of one straight piece of a range, m."""
    x0, y0 = kilometres(np.array(start[0]), np.array(start[1]))
    x1, y1 = kilometres(np.array(end[0]), np.array(end[1]))
    along = np.clip(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2), 0.0, 1.0)
    distance = np.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0))
    crest = start[2] + along * (end[2] - start[2])
    return crest * np.exp(-((distance / facts.RIDGE_WIDTH) ** 1.3))


@dataclass
class Bands:
    """Contour bands, sub-basin by sub-basin, from the ridge to the river.

    Attributes
    ----------
    subbasin, order : ndarray of int
        Position of the sub-basin, and place in it from 1 at the ridge.
    area, elevation, slope, flow_length : ndarray
        km2, m, tangent, m.
    longitude, latitude : ndarray
        Centres, degrees.
    """

    subbasin: np.ndarray
    order: np.ndarray
    area: np.ndarray
    elevation: np.ndarray
    slope: np.ndarray
    flow_length: np.ndarray
    longitude: np.ndarray
    latitude: np.ndarray


def build_bands(network: Network, n_units: int, orography: Orography, random: np.random.Generator) -> Bands:
    """Cut the sub-basins into ``n_units`` contour bands, 1 to 10 each, more where the relief is strong.

    In basins of so few sub-basins that a river is one of them, each has two bands at least.
    """
    from wepl.basin.synthetic.network import shares

    n = network.area.size
    ground = orography.height(network.longitude, network.latitude)
    ground = np.where(network.on_plain, 0.4 * ground, ground)
    mean = np.maximum(ground, network.bed + 12.0)
    relief = (mean - network.bed) / (1.0 / (1.0 + _BAND_EXPONENT))
    count = shares(n_units, network.area * (0.25 + np.minimum(relief / np.median(relief), 4.0)),
                   least=2 if n < len(facts.REGIONS) else 1, most=10)
    subbasin = np.repeat(np.arange(n), count)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    order = np.arange(n_units) - first[subbasin] + 1
    weight = np.exp(0.25 * random.standard_normal(n_units))
    total = np.bincount(subbasin, weights=weight, minlength=n)
    share = weight / total[subbasin]
    above = np.cumsum(share)
    above -= np.concatenate([[0.0], above])[first][subbasin]
    height = 1.0 - (above - 0.5 * share)  # share of the sub-basin that lies lower: near 1 at the ridge
    raw = network.bed[subbasin] + relief[subbasin] * height**_BAND_EXPONENT
    area = network.area[subbasin] * share
    elevation = hypsometric(raw, area)
    slope = np.exp(np.interp(np.log(elevation), np.log(_SLOPE_TABLE[:, 0]), np.log(_SLOPE_TABLE[:, 1])))
    slope *= np.exp(0.2 * random.standard_normal(n_units))
    mean_elevation = np.bincount(subbasin, weights=elevation * share, minlength=n)
    hillslope = np.interp(mean_elevation, _LENGTH_TABLE[:, 0], _LENGTH_TABLE[:, 1])
    hillslope *= np.exp(0.12 * random.standard_normal(n))
    turn = random.uniform(0.0, 2.0 * np.pi, n)[subbasin]
    away = 0.4 * np.sqrt(network.area)[subbasin] * (height - 0.5)
    return Bands(subbasin, order, area, elevation, slope, hillslope[subbasin] * share,
                 network.longitude[subbasin] + away * np.cos(turn) / 98.7,
                 network.latitude[subbasin] + away * np.sin(turn) / 110.9)


def hypsometric(raw: np.ndarray, area: np.ndarray) -> np.ndarray:
    """Elevations (m) in the order of ``raw`` whose area below each height follows the basin's hypsometry."""
    order = np.argsort(raw, kind="stable")
    below = np.cumsum(area[order])
    middle = (below - 0.5 * area[order]) / below[-1]
    elevation = np.empty(raw.size)
    elevation[order] = np.exp(np.interp(middle, facts.HYPSOMETRY[:, 0], np.log(facts.HYPSOMETRY[:, 1])))
    return elevation
