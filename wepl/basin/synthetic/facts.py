"""Published facts of the Poyang Lake basin that a synthetic basin is conditioned on, and coarse hand-drawn shapes.

Sources in short: areas of the gauges from hydrological yearbooks; total area from Pang et al. 2024; land shares from
the third national land survey (2019); relief, soils, channels and climate from provincial descriptions and station
normals. Outlines and ridge lines are drawn by hand to a few tenths of a degree: they give places, never areas.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TOTAL_AREA = 162_225.0  # km2, at Hukou


@dataclass(frozen=True)
class Region:
    """A drained region that ends at one gauge.

    Attributes
    ----------
    river, gauge : str
        Names of the river and of the gauge at its end.
    area : float
        Area, km2.
    outlet : tuple of float
        Longitude and latitude of the gauge, degrees.
    outline : tuple of tuple of float
        Longitudes and latitudes of a coarse outline, degrees.
    """

    river: str
    gauge: str
    area: float
    outlet: tuple[float, float]
    outline: tuple[tuple[float, float], ...]


_GAUGED = (
    Region("Gan", "Waizhou", 80_948.0, (115.83, 28.63), (
        (115.83, 28.66), (115.90, 28.30), (115.72, 27.95), (115.60, 27.60), (115.72, 27.20), (115.98, 26.92),
        (116.20, 26.55), (116.55, 26.35), (116.60, 26.00), (116.35, 25.55), (115.95, 25.20), (115.75, 24.85),
        (115.30, 24.55), (114.80, 24.60), (114.30, 24.75), (114.20, 25.20), (113.95, 25.40), (113.95, 25.90),
        (113.90, 26.40), (113.75, 27.00), (113.80, 27.60), (114.10, 28.00), (114.30, 28.40), (114.90, 28.55),
        (115.40, 28.64))),
    Region("Fu", "Lijiadu", 15_811.0, (116.17, 28.22), (
        (116.17, 28.25), (116.42, 28.08), (116.75, 27.80), (117.05, 27.50), (117.02, 27.10), (116.80, 26.75),
        (116.55, 26.45), (116.22, 26.62), (116.02, 26.97), (115.77, 27.24), (115.65, 27.60), (115.76, 27.95),
        (115.95, 28.15))),
    Region("Xin", "Meigang", 15_535.0, (116.82, 28.43), (
        (116.80, 28.45), (117.10, 28.68), (117.40, 28.78), (117.80, 28.88), (118.10, 28.93), (118.50, 28.75),
        (118.40, 28.35), (118.00, 28.05), (117.70, 27.85), (117.30, 27.60), (117.08, 27.62), (116.80, 27.85),
        (116.66, 28.15))),
    Region("Rao", "Hushan", 6_374.0, (117.27, 28.92), (
        (117.20, 28.90), (117.33, 29.10), (117.60, 29.42), (118.00, 29.56), (118.25, 29.40), (118.20, 29.00),
        (117.80, 28.92), (117.40, 28.83))),
    Region("Rao", "Dufengkeng", 5_013.0, (117.18, 29.26), (
        (117.12, 29.25), (117.00, 29.50), (117.10, 29.85), (117.50, 30.00), (117.90, 29.83), (117.97, 29.60),
        (117.57, 29.45), (117.30, 29.14))),
    Region("Xiu", "Qiujin", 9_914.0, (115.41, 29.10), (
        (115.45, 29.10), (115.20, 29.35), (114.70, 29.45), (114.20, 29.30), (113.95, 28.95), (114.10, 28.60),
        (114.35, 28.45), (114.75, 28.74), (115.08, 28.99))),
    Region("Xiu", "Wanjiabu", 3_548.0, (115.65, 28.85), (
        (115.70, 28.87), (115.40, 29.05), (115.10, 28.95), (114.80, 28.70), (114.90, 28.58), (115.40, 28.67))),
)
GAN_LENGTH = 766.0  # km
LAKE_PLAIN = Region("lake plain", "Hukou", TOTAL_AREA - sum(region.area for region in _GAUGED), (116.21, 29.75), (
    (115.46, 29.12), (115.25, 29.40), (115.60, 29.70), (116.20, 29.80), (116.60, 29.95), (116.97, 29.60),
    (117.08, 29.27), (117.28, 29.08), (117.18, 28.90), (117.38, 28.81), (117.08, 28.70), (116.77, 28.47),
    (116.64, 28.15), (116.42, 28.11), (116.17, 28.28), (115.93, 28.17), (115.92, 28.35), (115.86, 28.68),
    (115.45, 28.68), (115.74, 28.87)))
REGIONS = (*_GAUGED, LAKE_PLAIN)

# Ridge lines: longitude, latitude, crest height in m.
RIDGES = (
    ((116.60, 26.00, 1000.0), (116.90, 26.80, 1200.0), (117.30, 27.50, 1500.0), (117.85, 27.90, 2158.0),
     (118.40, 28.30, 1400.0)),
    ((114.20, 24.90, 1300.0), (114.80, 24.55, 1300.0), (115.40, 24.60, 1100.0), (115.95, 25.15, 1100.0),
     (116.50, 25.75, 1100.0)),
    ((114.10, 25.20, 1500.0), (113.95, 26.30, 2120.0), (113.85, 27.00, 1700.0), (114.15, 27.50, 1900.0),
     (114.10, 28.20, 1100.0)),
    ((113.95, 28.80, 1500.0), (114.40, 29.35, 1600.0), (115.00, 29.45, 1300.0), (115.95, 29.55, 1300.0)),
    ((114.30, 28.50, 1200.0), (114.85, 28.75, 1794.0), (115.30, 28.95, 900.0)),
    ((117.55, 28.85, 700.0), (118.06, 28.92, 1817.0), (118.25, 29.30, 1400.0), (117.95, 29.75, 1400.0),
     (117.40, 30.00, 1000.0)),
    ((115.70, 26.20, 900.0), (116.05, 26.90, 1200.0), (115.70, 27.40, 800.0)),
)
RIDGE_WIDTH = 42.0  # km, e-folding half width of a range

# Hypsometry: share of the area below an elevation (m). Mountains lie above 300 m, hills above 50 m; water is mostly
# on the plain, so the plain's band holds the 12 % of plain and most of the 10 % of water.
MOUNTAIN_ELEVATION, HILL_ELEVATION = 300.0, 50.0
RELIEF_SHARES = {"mountain": 0.36, "hill": 0.42, "plain": 0.12, "water": 0.10}
HYPSOMETRY = np.array([(0.0, 11.0), (0.10, 17.0), (0.205, 50.0), (0.42, 140.0), (0.632, 300.0), (0.79, 500.0),
                       (0.90, 750.0), (0.965, 1050.0), (0.993, 1500.0), (1.0, 2158.0)])

LAND_SHARES = {"forest": 0.62, "paddy": 0.136, "dry_crop": 0.027, "orchard": 0.034, "water": 0.10, "built": 0.05}
FOREST_ABOVE, FOREST_PLAIN = (500.0, 0.9), (30.0, 0.2)  # elevation in m, share of the land that is not water
RED_SOIL_SHARE = 0.46

# Climate of Nanchang (28.6 N, 47 m), January to December.
NANCHANG = (115.9, 28.6, 47.0)
TEMPERATURE = np.array([5.5, 7.9, 11.8, 18.1, 23.1, 26.2, 29.6, 29.0, 25.3, 20.0, 13.5, 7.8])  # degC
PRECIPITATION = np.array([74, 101, 175, 219, 228, 306, 144, 124, 75, 57, 74, 45], dtype=float)  # mm
SUNSHINE = np.array([89, 86, 97, 127, 155, 159, 240, 232, 184, 164, 140, 131], dtype=float)  # h
HUMIDITY = np.array([74, 77, 79, 79, 78, 81, 75, 75, 74, 71, 72, 70], dtype=float)  # %
RAIN_DAYS = np.array([12.5, 13.0, 17.5, 17.5, 16.5, 16.0, 11.5, 11.5, 9.0, 8.5, 9.5, 9.0])  # sum 152
MONTH_DAYS = np.array([31, 28.25, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])

BASIN_PRECIPITATION = 1645.0  # mm a-1, middle of the published 1,600 to 1,700
PLACE_PRECIPITATION = (1341.0, 1943.0)
PLACE_SUNSHINE = (1637.0, 1820.0)  # h a-1
PLACE_HUMIDITY = (75.0, 79.0)  # %
PLACE_WIND = (2.0, 2.3)  # m s-1
LAPSE_RATE = 6.5e-3  # K m-1
ANGSTROM_A = 0.165
