"""The hillslope stage: runoff of a sub-basin's tiles over its bands to the reach (docs/theory/overland.md)."""

from __future__ import annotations

import math

import numba
import numpy as np

from wepl import rows
from wepl.physics.jit import kernel, physics
from wepl.physics.overland import overland_step

# Parts of a routing step are at most an hour, a routing step at most a day.
MOST_PARTS = 24
_HOUR = 3600.0


@physics
def unit_lateral(unit, route, tile_start, tile_list, tile_parameter, lateral):
    """What a unit's tiles hand over in a routing step to slope, reach and aquifer, m over the unit, in stored order."""
    overland, outflow, deep = 0.0, 0.0, 0.0
    for place in range(tile_start[unit], tile_start[unit + 1]):
        tile = tile_list[place]
        fraction = tile_parameter[rows.TILE_FRACTION, tile]
        overland += fraction * lateral[rows.TO_OVERLAND, route, tile]
        outflow += fraction * lateral[rows.TO_REACH, route, tile]
        deep += fraction * lateral[rows.TO_AQUIFER, route, tile]
    return overland, outflow, deep


@physics
def advance_subbasin(subbasin, n_routes, dt_route, tile_start, tile_list, unit_start, tile_parameter, unit_parameter,
                     unit_state, lateral, inflow, subbasin_flux, status, flow):
    """Advance one sub-basin through ``n_routes`` routing steps of ``dt_route`` s.

    Arrays as in :mod:`wepl.kernels.buffers`; ``flow`` is scratch for the volumes (m3) that pass from band to band in
    the parts of a routing step. Bands are ordered from the ridge to the river.
    """
    n_parts = max(1, int(math.ceil(dt_route / _HOUR)))
    part_dt = dt_route / n_parts
    first, last = unit_start[subbasin], unit_start[subbasin + 1]
    for route in range(n_routes):
        supplied, direct, percolated, arrived = 0.0, 0.0, 0.0, 0.0
        for part in range(n_parts):
            flow[part] = 0.0
        for unit in range(first, last):
            area = unit_parameter[rows.AREA, unit]
            supply, outflow, deep = unit_lateral(unit, route, tile_start, tile_list, tile_parameter, lateral)
            direct += area * outflow
            percolated += area * deep
            supplied += supply * area
            depth = unit_state[rows.OVERLAND_DEPTH, unit]
            rate = unit_parameter[rows.OVERLAND_RATE, unit]
            for part in range(n_parts):
                band = overland_step(depth + supply / n_parts + flow[part] / area, rate, part_dt)
                depth = band.depth
                flow[part] = band.outflow * area
            unit_state[rows.OVERLAND_DEPTH, unit] = depth
        for part in range(n_parts):
            arrived += flow[part]
        inflow[rows.SURFACE_INFLOW, route, subbasin] = arrived + direct
        inflow[rows.PERCOLATION_INFLOW, route, subbasin] = percolated
        subbasin_flux[rows.OVERLAND_SUPPLY, subbasin] += supplied
        subbasin_flux[rows.OVERLAND_INFLOW, subbasin] += arrived
        subbasin_flux[rows.DIRECT_INFLOW, subbasin] += direct
        if status[0, subbasin] == rows.OK and not math.isfinite(arrived + direct + percolated):
            status[0, subbasin] = rows.NOT_FINITE
            status[1, subbasin] = route


@kernel
def hillslope_kernel(n_subbasins, n_routes, dt_route, tile_start, tile_list, unit_start, tile_parameter,
                     unit_parameter, unit_state, lateral, inflow, subbasin_flux, status):
    """Advance all sub-basins through a block; see :func:`advance_subbasin`."""
    for subbasin in numba.prange(n_subbasins):
        flow = np.empty(MOST_PARTS)
        advance_subbasin(subbasin, n_routes, dt_route, tile_start, tile_list, unit_start, tile_parameter,
                         unit_parameter, unit_state, lateral, inflow, subbasin_flux, status, flow)
