"""What the steps of a build hand to one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import affine
    import pandas as pd


@dataclass
class Terrain:
    """Sub-basins, contour bands and rivers on one projected grid with metres as its unit.

    Attributes
    ----------
    crs : str
        Coordinate reference system of the grid, "EPSG:..." where it has a code, else its WKT.
    transform : affine.Affine
        From (column, row) of a cell's upper left corner to (x, y) in m.
    elevation : numpy.ndarray
        float32 (y, x), m; NaN outside the catchment, and everywhere where only flow directions were given.
    cell_area : float
        Area of a cell, m2.
    subbasin_map, unit_map : numpy.ndarray
        int32 (y, x): identifier of the sub-basin and of the contour band, 0 outside.
    subbasins : pandas.DataFrame
        Index ``id`` from 1; rows from upstream to downstream. Columns ``downstream`` (identifier, -1 at an outlet),
        ``pfafstetter``, ``area_km2``, ``upstream_km2`` (with its own area), ``reach_length_m``, ``reach_slope``,
        ``reach_width_m``, ``longitude``, ``latitude`` (degrees, of the centroid).
    units : pandas.DataFrame
        Index ``id`` from 1; rows in the order of the sub-basins and, within one, from the ridge to the river. Columns
        ``subbasin``, ``order`` (1 at the ridge), ``area_km2``, ``elevation_m``, ``slope`` (tangent),
        ``flow_length_m``, ``longitude``, ``latitude``.
    gauges : pandas.DataFrame
        Columns ``name``, ``subbasin``, ``given_km2`` (NaN where not given), ``found_km2``, ``moved_m``.
    rivers : list of tuple
        Identifier of the sub-basin and its reach as float64 (n, 2), x and y in ``crs``, from upstream to downstream.
    """

    crs: str
    transform: affine.Affine
    elevation: np.ndarray
    cell_area: float
    subbasin_map: np.ndarray
    unit_map: np.ndarray
    subbasins: pd.DataFrame
    units: pd.DataFrame
    gauges: pd.DataFrame
    rivers: list[tuple[int, np.ndarray]]
