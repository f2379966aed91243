"""The river stage: aquifers and the kinematic network (docs/theory/groundwater.md and river.md)."""

from __future__ import annotations

import math

import numba

from wepl import rows
from wepl.physics import groundwater
from wepl.physics.jit import kernel, physics
from wepl.physics.river import cell_step


@physics
def _recharge(reach, percolation, dt, subbasin_parameter, subbasin_state, subbasin_flux):
    """Pass ``percolation`` (m3) through the transition store; the recharge of the step, m3."""
    area = subbasin_parameter[rows.SUBBASIN_AREA, reach]
    inflow = percolation / area
    before = subbasin_state[rows.TRANSITION_STORAGE, reach]
    after = groundwater.transition_step(before, inflow, subbasin_parameter[rows.DELAY, reach], dt)
    recharge = max(0.0, (before + inflow - after) * area)
    subbasin_state[rows.TRANSITION_STORAGE, reach] += inflow - recharge / area
    subbasin_flux[rows.PERCOLATION_VOLUME, reach] += percolation
    subbasin_flux[rows.RECHARGE, reach] += recharge
    return recharge


@physics
def _river_depth(reach, first, last, subbasin_parameter, river_state):
    """Mean water depth of a reach, m."""
    volume = 0.0
    for cell in range(first, last):
        volume += river_state[rows.RIVER_STORAGE, cell]
    length = subbasin_parameter[rows.CELL_LENGTH, reach] * (last - first)
    return volume / (length * subbasin_parameter[rows.WIDTH, reach])


@physics
def _route(reach, first, last, inflow, lateral, wanted, dt, subbasin_parameter, river_state):
    """Advance a reach's cells; discharge at its end (m3 s-1) and the volume that the bed could take (m3).

    ``inflow`` m3 s-1 enters at the top, ``lateral`` m3 evenly along the reach; the bed takes ``wanted`` m3 evenly too,
    but from no cell more than it holds: what is missing is asked of the next.
    """
    n_cells = last - first
    length = subbasin_parameter[rows.CELL_LENGTH, reach]
    width = subbasin_parameter[rows.WIDTH, reach]
    roughness = subbasin_parameter[rows.ROUGHNESS_FACTOR, reach]
    discharge = inflow
    taken = 0.0
    for cell in range(first, last):
        storage = river_state[rows.RIVER_STORAGE, cell]
        side = lateral / n_cells
        if wanted > 0.0:
            loss = min((wanted - taken) / (last - cell), storage + dt * discharge + side)
            taken += loss
            side -= loss
        result = cell_step(storage, discharge, side, length, width, roughness, dt)
        # Taking all that a cell holds leaves rounding, not water.
        river_state[rows.RIVER_STORAGE, cell] = max(0.0, result.storage)
        discharge = result.discharge
    return discharge, taken


@physics
def advance_reach(reach, route, dt, upstream_start, upstream_list, cell_start, subbasin_parameter, subbasin_state,
                  river_state, inflow, series, subbasin_flux, status):
    """One routing step of one reach: recharge, exchange with the aquifer, flow.

    The upstream reaches must have done this step: their discharge is read from ``series``. Arrays as in
    :mod:`wepl.kernels.buffers`.
    """
    first, last = cell_start[reach], cell_start[reach + 1]
    upstream = 0.0
    for place in range(upstream_start[reach], upstream_start[reach + 1]):
        upstream += series[rows.DISCHARGE, route, upstream_list[place]]
    surface = inflow[rows.SURFACE_INFLOW, route, reach]
    recharge = _recharge(reach, inflow[rows.PERCOLATION_INFLOW, route, reach], dt, subbasin_parameter, subbasin_state,
                         subbasin_flux)
    yield_area = subbasin_parameter[rows.YIELD_AREA, reach]
    head = subbasin_state[rows.GROUNDWATER_HEAD, reach]
    depth = _river_depth(reach, first, last, subbasin_parameter, river_state)
    aquifer = groundwater.aquifer_step(head, recharge, depth, subbasin_parameter[rows.BED_CONDUCTANCE, reach],
                                       subbasin_parameter[rows.BED_THICKNESS, reach], yield_area, dt)
    given = max(0.0, aquifer.discharge)
    discharge, taken = _route(reach, first, last, upstream, surface + given, max(0.0, -aquifer.discharge), dt,
                              subbasin_parameter, river_state)
    exchange = given - taken
    subbasin_state[rows.GROUNDWATER_HEAD, reach] += (recharge - exchange) / yield_area
    before_loss = subbasin_state[rows.GROUNDWATER_HEAD, reach]
    loss = before_loss - groundwater.deep_loss_step(before_loss, subbasin_parameter[rows.LOSS_RATE, reach], dt)
    subbasin_state[rows.GROUNDWATER_HEAD, reach] -= loss
    after = before_loss - loss
    series[rows.DISCHARGE, route, reach] = discharge
    series[rows.LATERAL_INFLOW, route, reach] = (surface + exchange) / dt
    series[rows.BASEFLOW, route, reach] = exchange / dt
    series[rows.WATER_TABLE, route, reach] = after
    subbasin_flux[rows.GROUNDWATER_DISCHARGE, reach] += exchange
    subbasin_flux[rows.DEEP_LOSS, reach] += yield_area * loss
    subbasin_flux[rows.REACH_INFLOW, reach] += upstream * dt
    subbasin_flux[rows.REACH_OUTFLOW, reach] += discharge * dt
    if status[0, reach] == rows.OK and not math.isfinite(discharge + after):
        status[0, reach] = rows.NOT_FINITE
        status[1, reach] = route


@kernel
def river_kernel(level_start, level_list, n_routes, dt_route, upstream_start, upstream_list, cell_start,
                 subbasin_parameter, subbasin_state, river_state, inflow, series, subbasin_flux, status):
    """Advance all reaches through a block, level by level: each reach of a level runs all steps."""
    for level in range(level_start.size - 1):
        for place in numba.prange(level_start[level], level_start[level + 1]):
            reach = level_list[place]
            for route in range(n_routes):
                advance_reach(reach, route, dt_route, upstream_start, upstream_list, cell_start, subbasin_parameter,
                              subbasin_state, river_state, inflow, series, subbasin_flux, status)


@kernel
def river_wavefront(level_start, level_list, n_routes, dt_route, upstream_start, upstream_list, cell_start,
                    subbasin_parameter, subbasin_state, river_state, inflow, series, subbasin_flux, status):
    """The same as :func:`river_kernel` along diagonals: level l works on step k - l, all levels at once.

    This is the order in which a GPU runs the network; here it proves that the order does not matter.
    """
    n_levels = level_start.size - 1
    for diagonal in range(n_routes + n_levels - 1):
        low = max(0, diagonal - n_routes + 1)
        high = min(n_levels, diagonal + 1)
        for place in numba.prange(level_start[low], level_start[high]):
            level = low
            while level_start[level + 1] <= place:
                level += 1
            advance_reach(level_list[place], diagonal - level, dt_route, upstream_start, upstream_list, cell_start,
                          subbasin_parameter, subbasin_state, river_state, inflow, series, subbasin_flux, status)
