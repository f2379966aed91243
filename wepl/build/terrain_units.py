"""Contour bands of the sub-basins, with the mean state of their ground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.build import terrain_kernels as kernels
from wepl.build.terrain_flow import Flow
from wepl.build.terrain_network import SubBasins
from wepl.build.terrain_raster import Grid, to_degrees

if TYPE_CHECKING:
    import pandas as pd

MAX_BANDS = 10
# Ground that drains this much carries a channel, as drainage_density counts channels.
_CHANNEL_KM2 = 0.1


def cut_bands(config: Any, flow: Flow, subbasins: SubBasins, elevation: np.ndarray | None) -> tuple[np.ndarray,
                                                                                                    np.ndarray]:
    """Contour band of every cell, and the number of bands of every sub-basin.

    Without elevations the bands are cut by the length of the flow path to the main stem's sub-basin outlet, and there
    is one band unless their number is given.

    Parameters
    ----------
    config : object
        ``bands``, ``band_relief_m``, ``band_rule`` and ``min_band_area_km2``.
    elevation : ndarray (cell,) or None
        m.

    Returns
    -------
    unit : ndarray int32 (cell,)
        Identifier from 1, through the sub-basins and from the ridge to the river; 0 outside.
    number : ndarray int64 (subbasin,)
    """
    n = subbasins.outlet.size
    if elevation is None:
        never = np.zeros(subbasins.map.size, bool)
        height = kernels.distance_to_edge(flow.downstream, flow.sequence, subbasins.map, never, flow.shape[1],
                                          flow.width, flow.depth)
        number = np.full(n, config.bands or 1)
    else:
        height = elevation
        relief = kernels.zone_range(subbasins.map, n, height)
        number = np.ceil(relief / config.band_relief_m) if config.bands == 0 else np.full(n, config.bands)
    number = np.clip(number, 1, MAX_BANDS).astype(np.int64)
    least = config.min_band_area_km2 / flow.cell_km2
    size = np.bincount(subbasins.map, minlength=n + 1)[1:]
    number = np.clip(np.floor(size / max(least, 1.0)), 1, number).astype(np.int64)
    start, members = kernels.group_cells(subbasins.map, n)
    return kernels.assign_bands(start, members, height, number, config.band_rule == "area", least)


def unit_table(flow: Flow, grid: Grid, unit: np.ndarray, number: np.ndarray, elevation: np.ndarray | None,
               slope: np.ndarray, threshold_cells: float) -> pd.DataFrame:
    """Area, mean elevation, slope and flow length of every contour band.

    The flow length is twice the mean length of the flow path from the cells of a band to a channel or to the band's
    lower edge: the length of an even slope on which paths of that mean begin everywhere.

    Parameters
    ----------
    unit, number : ndarray
        From :func:`cut_bands`.
    elevation : ndarray (cell,) or None
        m.
    slope : ndarray (cell,)
        Tangent.
    threshold_cells : float
        Number of cells drained at the head of a stream; channels begin there or at 0.1 km2, whichever is smaller.
    """
    import pandas as pd

    n = int(number.sum())
    channel = flow.cells >= min(threshold_cells, _CHANNEL_KM2 / flow.cell_km2)
    distance = kernels.distance_to_edge(flow.downstream, flow.sequence, unit, channel, flow.shape[1], flow.width,
                                        flow.depth)
    count, row, column = kernels.zone_places(unit, n, flow.shape[1])
    longitude, latitude = to_degrees(grid.crs, *(grid.transform * (column + 0.5, row + 0.5)))
    first = np.repeat(np.cumsum(number) - number, number)
    height = np.full(n, np.nan) if elevation is None else kernels.zone_sums(unit, n, elevation) / count
    return pd.DataFrame({
        "subbasin": np.repeat(np.arange(1, number.size + 1), number),
        "order": np.arange(n) - first + 1,
        "area_km2": count * flow.cell_km2,
        "elevation_m": height,
        "slope": kernels.zone_sums(unit, n, slope) / count,
        "flow_length_m": 2.0 * kernels.zone_sums(unit, n, distance) / count,
        "longitude": longitude,
        "latitude": latitude,
    }, index=pd.RangeIndex(1, n + 1, name="id"))
