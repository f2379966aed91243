"""The kernels for numba.cuda: grid-stride loops over the functions of :mod:`wepl.stages`, the very ones the CPU runs.

Each takes the arguments of :mod:`wepl.kernels.buffers` in their order; the river's take their diagonal as well. Scratch
is local to a thread and its size part of the code, so kernels with soil are made per number of soil layers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import cuda

from wepl import rows
from wepl.physics.jit import cache_folder
from wepl.stages import column, hillslope, river, weather

SIMULATED = bool(numba.config.ENABLE_CUDASIM)
_N_STORE = rows.N_ROWS["tile_state"]
_N_FLUX = rows.N_ROWS["tile_flux"]
_N_SOIL_WORK = rows.N_SOIL_WORK
_N_FLOW = hillslope.MOST_PARTS
_REAL = numba.float64


def _stage(function: Callable[..., None]) -> Callable[..., None]:
    """The function as kernels call it: CUDA's simulator wraps arrays, which compiled functions want bare."""
    if not SIMULATED:
        return function

    def unwrapped(*arguments: Any) -> None:
        function(*(np.asarray(value) if getattr(value, "ndim", 0) else value for value in arguments))

    return unwrapped


advance_weather = _stage(weather.advance_weather)
advance_tile = _stage(column.advance_tile)
advance_subbasin = _stage(hillslope.advance_subbasin)
advance_reach = _stage(river.advance_reach)


def weather_kernel(n_units, n_steps, dt, option, calendar, forcing, unit_cell, shortwave_given, longwave_given,
                   unit_parameter, unit_state, weather):
    """A thread per unit, all steps of the block."""
    for unit in range(cuda.grid(1), n_units, cuda.gridsize(1)):
        advance_weather(unit, n_steps, dt, option, calendar, forcing, unit_cell, shortwave_given, longwave_given,
                        unit_parameter, unit_state, weather)


def make_column_kernel(n_layers: int) -> Callable[..., None]:
    """The column kernel for ``n_layers`` soil layers: a thread per tile, all steps of the block."""
    size = max(1, n_layers)

    def column_kernel(n_tiles, n_steps, n_route, dt, option, tile_index, tile_parameter, soil_parameter, vegetation,
                      weather, tile_state, soil_state, tile_flux, lateral, record_index, record, status):
        store = cuda.local.array(_N_STORE, _REAL)
        flux = cuda.local.array(_N_FLUX, _REAL)
        soil = cuda.local.array((_N_SOIL_WORK, size), _REAL)
        for tile in range(cuda.grid(1), n_tiles, cuda.gridsize(1)):
            advance_tile(tile, n_steps, n_route, dt, option, tile_index, tile_parameter, soil_parameter, vegetation,
                         weather, tile_state, soil_state, tile_flux, lateral, record_index, record, status, store,
                         flux, soil)

    return column_kernel


def make_column_by_unit_kernel(n_layers: int) -> Callable[..., None]:
    """The published mapping for ``n_layers`` soil layers: a thread walks the tiles of its unit."""
    size = max(1, n_layers)

    def column_by_unit_kernel(n_units, n_tiles, n_steps, n_route, dt, option, tile_index, tile_parameter,
                              soil_parameter, vegetation, weather, tile_state, soil_state, tile_flux, lateral,
                              record_index, record, status, tile_start, tile_list):
        store = cuda.local.array(_N_STORE, _REAL)
        flux = cuda.local.array(_N_FLUX, _REAL)
        soil = cuda.local.array((_N_SOIL_WORK, size), _REAL)
        for unit in range(cuda.grid(1), n_units, cuda.gridsize(1)):
            for place in range(tile_start[unit], tile_start[unit + 1]):
                advance_tile(tile_list[place], n_steps, n_route, dt, option, tile_index, tile_parameter,
                             soil_parameter, vegetation, weather, tile_state, soil_state, tile_flux, lateral,
                             record_index, record, status, store, flux, soil)

    return column_by_unit_kernel


def hillslope_kernel(n_subbasins, n_routes, dt_route, tile_start, tile_list, unit_start, tile_parameter,
                     unit_parameter, unit_state, lateral, inflow, subbasin_flux, status):
    """A thread per sub-basin, its bands from the ridge to the river."""
    flow = cuda.local.array(_N_FLOW, _REAL)
    for subbasin in range(cuda.grid(1), n_subbasins, cuda.gridsize(1)):
        advance_subbasin(subbasin, n_routes, dt_route, tile_start, tile_list, unit_start, tile_parameter,
                         unit_parameter, unit_state, lateral, inflow, subbasin_flux, status, flow)


def river_kernel(level_start, level_list, n_routes, dt_route, upstream_start, upstream_list, cell_start,
                 subbasin_parameter, subbasin_state, river_state, inflow, series, subbasin_flux, status, diagonal, low,
                 first, last):
    """The network as a wavefront: in one launch, level l works on step ``diagonal`` - l.

    The launch's reaches are the places ``first`` to ``last`` of ``level_list``, of the levels from ``low`` on.
    """
    for place in range(first + cuda.grid(1), last, cuda.gridsize(1)):
        level = low
        while level_start[level + 1] <= place:
            level += 1
        advance_reach(level_list[place], diagonal - level, dt_route, upstream_start, upstream_list, cell_start,
                      subbasin_parameter, subbasin_state, river_state, inflow, series, subbasin_flux, status)


_MAKERS: dict[str, Callable[[int], Callable[..., None]]] = {
    "weather": lambda n_layers: weather_kernel,
    "column": make_column_kernel,
    "column_by_unit": make_column_by_unit_kernel,
    "hillslope": lambda n_layers: hillslope_kernel,
    "river": lambda n_layers: river_kernel,
}
NAMES = tuple(_MAKERS)


def function(name: str, n_layers: int) -> Callable[..., None]:
    """The kernel ``name`` (as in :mod:`wepl.kernels.buffers`) for so many soil layers, not compiled."""
    return _MAKERS[name](n_layers)


@cache
def compiled(name: str, n_layers: int) -> Any:
    """The kernel ``name`` for so many soil layers, compiled at its first launch and cached on disk."""
    # Numba knows of this file but not of the stages: the cache is named after the hash of all. It stays set, since the
    # functions that a kernel calls are compiled at its first launch, and would be kept beside their sources otherwise.
    numba.config.CACHE_DIR = str(cache_folder())
    return cuda.jit(cache=True)(function(name, n_layers))
