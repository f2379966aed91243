"""Terrain of a catchment: sub-basins, rivers, contour bands and gauges from a DEM or a raster of flow directions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.build import terrain_raster as raster
from wepl.build.terrain_outline import inside_outline
from wepl.build.terrain_raster import Grid
from wepl.build.types import Terrain
from wepl.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from rasterio.crs import CRS

    from wepl.build.terrain_flow import Flow
    from wepl.build.terrain_gauges import Snapped
    from wepl.build.terrain_network import Reaches, SubBasins

_LEAST_CELLS = 9
# Share of an outline that must drain to one place before the rest, which its rasterised edge cuts off, joins it.
_LEAST_SHARE = 0.8
_LEAST_WIDTH = 0.1  # m
_STEEPEST = 5.0  # tangent; beyond it a slope raster is in degrees or per cent


@dataclass
class _Ground:
    """Catchment on its grid: flow network, outlets, and what is known of its cells (None where unknown)."""

    grid: Grid
    flow: Flow
    outlets: np.ndarray
    given_crs: CRS
    elevation: np.ndarray | None
    filled: np.ndarray | None
    slope: np.ndarray


def build_terrain(config: Any, gauges: list[Any], gauge_rule: Any, folder: Path) -> Terrain:
    """Cut a catchment into sub-basins and contour bands.

    Parameters
    ----------
    config : object
        Attributes of the table ``[terrain]``: ``dem``, or ``d8`` with ``d8_encoding``, ``accumulation`` and ``slope``;
        ``outline``, ``crs``, ``resolution`` (m), ``stream_threshold_km2``, ``subbasin_area_km2``, ``outlets``,
        ``bands``, ``band_relief_m``, ``band_rule``, ``min_band_area_km2``, ``width_a`` and ``width_b``.
    gauges : list
        Objects with ``name``, ``x``, ``y``, ``area_km2`` and ``crs``.
    gauge_rule : object
        ``search_m``, ``max_area_error`` and ``force``.
    folder : Path
        Folder that file names are relative to.

    Returns
    -------
    Terrain
        Without a DEM its elevations, and without a raster of slopes the slopes of units and reaches, are NaN.

    Raises
    ------
    InputError
        A file cannot be used, the catchment has no relief or no outlet, or a gauge fits no river.
    """
    _require_pyflwdir()
    from wepl.build.terrain_gauges import snap_gauges
    from wepl.build.terrain_network import cut_subbasins, find_reaches
    from wepl.build.terrain_units import cut_bands, unit_table

    ground = _from_dem(config, gauge_rule, folder) if config.d8 is None else _from_d8(config, gauge_rule, folder)
    grid, flow = ground.grid, ground.flow
    threshold = config.stream_threshold_km2 / flow.cell_km2
    snapped = snap_gauges(gauges, gauge_rule, flow, grid, ground.given_crs, threshold)
    subbasins = cut_subbasins(flow, threshold, config.subbasin_area_km2 / flow.cell_km2, snapped.cell)
    reaches = find_reaches(flow, subbasins, threshold, ground.filled, ground.slope)
    ground.filled = None
    unit, number = cut_bands(config, flow, subbasins, ground.elevation)
    units = unit_table(flow, grid, unit, number, ground.elevation, ground.slope, threshold)
    return _terrain(config, ground, subbasins, reaches, snapped, unit, units)


def _require_pyflwdir() -> None:
    try:
        import pyflwdir  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError("building terrain needs pyflwdir: pip install 'wepl[prep]'") from error


def _from_dem(config: Any, gauge_rule: Any, folder: Path) -> _Ground:
    """Directions, slopes and outlets from elevations."""
    from pyflwdir import dem

    from wepl.build import terrain_flow

    grid = raster.read_grid(config.dem, folder, config.crs, config.resolution, config.outline)
    raster.check_elevation(grid.values, config.dem)
    slope = dem.slope(np.where(np.isnan(grid.values), np.float32(-9999.0), grid.values), nodata=-9999.0,
                      transform=grid.transform)
    if config.outline is not None:
        grid.values[~inside_outline(grid, config.outline, folder)] = np.nan
        raster.check_elevation(grid.values, f"{config.dem} inside {config.outline}")
    if np.isfinite(grid.values).sum() < _LEAST_CELLS:
        raise InputError(f"{config.dem}: fewer than {_LEAST_CELLS} cells hold data: give a larger or finer DEM")
    flow, filled = terrain_flow.from_elevation(grid)
    outlets = terrain_flow.choose_outlets(flow, config.outlets, config.stream_threshold_km2 / flow.cell_km2, grid.crs,
                                          grid, grid.source_crs, gauge_rule.search_m)
    if config.outline is not None and config.outlets == "largest":
        _check_share(flow, outlets, config)
        flow, filled = terrain_flow.from_elevation(grid, outlets.astype(np.int64))
        outlets = flow.pits[np.isin(flow.pits, outlets)]
    flow, small, outlets, part = terrain_flow.crop(flow, grid, outlets)
    inside = flow.cells.reshape(flow.shape) > 0
    small.values = np.where(inside, small.values, np.float32(np.nan))
    return _Ground(small, flow, outlets, grid.source_crs, small.values.ravel(), filled[part].ravel(),
                   slope[part].ravel())


def _check_share(flow: Flow, outlets: np.ndarray, config: Any) -> None:
    share = flow.cells[outlets[0]] / flow.sequence.size
    if share < _LEAST_SHARE:
        raise InputError(f"{config.outline}: only {100.0 * share:.0f} % of it drains to one outlet by {config.dem}: "
                         'check that both are in the right place, or set outlets = "all"')


def _from_d8(config: Any, gauge_rule: Any, folder: Path) -> _Ground:
    """Directions and outlets from a raster of D8 codes."""
    from wepl.build import terrain_flow

    grid = raster.read_grid(config.d8, folder, config.crs, config.resolution, config.outline, what="direction")
    if config.outline is not None:
        grid.values[~inside_outline(grid, config.outline, folder)] = np.nan
    flow, n_circling = terrain_flow.from_directions(grid, config.d8_encoding, config.d8)
    if n_circling and isinstance(config.outlets, str):
        raise InputError(f"{config.d8}: {n_circling} of its cells run in circles: check d8_encoding, or name the "
                         "outlets by their places")
    outlets = terrain_flow.choose_outlets(flow, config.outlets, config.stream_threshold_km2 / flow.cell_km2, grid.crs,
                                          grid, grid.crs, gauge_rule.search_m)
    if config.accumulation is not None:
        given = raster.read_like(config.accumulation, folder, grid)
        terrain_flow.check_accumulation(flow, given, outlets, config.accumulation)
    slope = (np.full(grid.values.shape, np.nan, np.float32) if config.slope is None
             else raster.read_like(config.slope, folder, grid))
    flow, small, outlets, part = terrain_flow.crop(flow, grid, outlets)
    slope = slope[part].ravel()
    if config.slope is not None:
        _check_slope(slope, flow, config.slope)
    small.values = np.full(flow.shape, np.nan, np.float32)
    return _Ground(small, flow, outlets, grid.crs, None, None, slope)


def _check_slope(slope: np.ndarray, flow: Flow, name: str) -> None:
    inside = slope[flow.cells > 0]
    if not (inside >= 0.0).all():
        raise InputError(f"{name}: {int((~(inside >= 0.0)).sum())} cells of the catchment have no slope or one below "
                         "0: give slopes of the whole catchment")
    if inside.max() > _STEEPEST:
        raise InputError(f"{name}: a slope of {inside.max():g}: give tangents, not degrees or per cent")


def _terrain(config: Any, ground: _Ground, subbasins: SubBasins, reaches: Reaches, snapped: Snapped,
             unit: np.ndarray, units: pd.DataFrame) -> Terrain:
    import pandas as pd

    from wepl.build.terrain_network import river_lines

    grid, flow = ground.grid, ground.flow
    code = grid.crs.to_epsg()
    gauges = pd.DataFrame({"name": pd.Series(snapped.name, dtype=object),
                           "subbasin": subbasins.map[snapped.cell].astype(np.int64), "given_km2": snapped.given_km2,
                           "found_km2": snapped.found_km2, "moved_m": snapped.moved_m})
    return Terrain(
        crs=grid.crs.to_wkt() if code is None else f"EPSG:{code}", transform=grid.transform, elevation=grid.values,
        cell_area=flow.width * flow.depth, subbasin_map=subbasins.map.reshape(flow.shape),
        unit_map=unit.reshape(flow.shape), subbasins=_subbasin_table(config, ground, subbasins, reaches), units=units,
        gauges=gauges, rivers=river_lines(flow, reaches, grid.transform))


def _subbasin_table(config: Any, ground: _Ground, subbasins: SubBasins, reaches: Reaches) -> pd.DataFrame:
    import pandas as pd

    from wepl.build import terrain_kernels as kernels
    from wepl.build.terrain_network import pfafstetter_codes

    grid, flow = ground.grid, ground.flow
    n = subbasins.outlet.size
    count, row, column = kernels.zone_places(subbasins.map, n, flow.shape[1])
    longitude, latitude = raster.to_degrees(grid.crs, *(grid.transform * (column + 0.5, row + 0.5)))
    upstream = flow.cells[subbasins.outlet] * flow.cell_km2
    below = np.where(subbasins.downstream < 0, -1, subbasins.downstream - 1)
    return pd.DataFrame({
        "downstream": subbasins.downstream,
        "pfafstetter": pfafstetter_codes(below, upstream),
        "area_km2": count * flow.cell_km2,
        "upstream_km2": upstream,
        "reach_length_m": reaches.length,
        "reach_slope": reaches.slope,
        "reach_width_m": np.maximum(config.width_a * upstream**config.width_b, _LEAST_WIDTH),
        "longitude": longitude,
        "latitude": latitude,
    }, index=pd.RangeIndex(1, n + 1, name="id"))
