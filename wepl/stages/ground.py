"""The ground of one tile in one step: what infiltrates, runs off, drains and comes back (theory 2, 8 to 10).

Functions work on the tile's scratch arrays (``store`` states, ``flux`` depths of this step, ``soil`` layers) and are
called by :mod:`wepl.stages.column`.
"""

from __future__ import annotations

import math

from wepl import rows
from wepl.physics.constants import DAY, HOUR
from wepl.physics.jit import physics
from wepl.physics.rain_pattern import storm_depth
from wepl.stages import infiltration, soil_water

# Less standing water or rain in a part than this is rounding, m (single precision: 1e-7 of a day with 1 m).
_PONDED = 1e-7


@physics
def add_lateral(lateral, row, tile, first_route, part, n_parts, n_route, amount):
    """Add what left in part ``part`` of ``n_parts`` of a step to the routing steps that it overlaps (m)."""
    start = part * n_route
    stop = start + n_route
    route = start // n_parts
    while route * n_parts < stop:
        overlap = min(stop, (route + 1) * n_parts) - max(start, route * n_parts)
        lateral[row, first_route + route, tile] += amount * overlap / n_route
        route += 1


@physics
def add_part(lateral, tile, first_route, part, n_parts, n_route, runoff, interflow, percolation):
    """The same as :func:`add_lateral` for what one part hands over on its three ways (m)."""
    start = part * n_route
    stop = start + n_route
    route = start // n_parts
    while route * n_parts < stop:
        overlap = min(stop, (route + 1) * n_parts) - max(start, route * n_parts)
        lateral[rows.TO_OVERLAND, first_route + route, tile] += runoff * overlap / n_route
        lateral[rows.TO_REACH, first_route + route, tile] += interflow * overlap / n_route
        lateral[rows.TO_AQUIFER, first_route + route, tile] += percolation * overlap / n_route
        route += 1


@physics
def is_heavy(supply, dt, option, store, soil):
    """Whether the water that reaches the ground (m in ``dt`` s) makes this a Green-Ampt step; eq. (2.1)."""
    rule = int(option[rows.INFILTRATION_SWITCH])
    if rule == rows.AUTOMATIC:
        rule = rows.DAILY_DEPTH if dt >= DAY else rows.RATE
    if rule == rows.ALWAYS:
        return supply > 0.0
    if rule == rows.NEVER:
        return False
    if rule == rows.DAILY_DEPTH:
        return supply * DAY / dt > option[rows.HEAVY_RAIN_DEPTH]
    going_on = store[rows.EVENT_ACTIVE] > 0.0 and (supply > 0.0 or store[rows.SURFACE_STORAGE] > _PONDED)
    return going_on or supply > soil[rows.LAYER_CONDUCTIVITY, 0] * dt


@physics
def wet_surface_step(supply, wet_rate, air, dt, capacity, store):
    """A store without soil below: evaporation (m) and overflow (m), the wet part of the step first; eq. (6.12).

    In single precision a store may end a rounding below zero: nothing is taken from it then.
    """
    store[rows.SURFACE_STORAGE] += supply
    evaporation = min(max(0.0, store[rows.SURFACE_STORAGE]), wet_rate * air.wet_time)
    store[rows.SURFACE_STORAGE] -= evaporation
    overflow = max(0.0, store[rows.SURFACE_STORAGE] - capacity)
    store[rows.SURFACE_STORAGE] -= overflow
    late = min(max(0.0, store[rows.SURFACE_STORAGE]), wet_rate * air.dry_time)
    store[rows.SURFACE_STORAGE] -= late
    return evaporation + late, overflow


@physics
def ground_draws(bare, dt, store, flux, soil, n_layers):
    """Evaporation of one part: from standing water first, then from the top layer and the roots."""
    wanted = bare.wet * dt
    standing = min(max(0.0, store[rows.SURFACE_STORAGE]), wanted)
    store[rows.SURFACE_STORAGE] -= standing
    rest = 1.0 - standing / wanted if wanted > 0.0 else 0.0
    draw = soil_water.draw_part(soil, n_layers, dt, bare.dry * rest)
    flux[rows.SURFACE_EVAPORATION] += standing
    flux[rows.SOIL_EVAPORATION] += draw.soil_evaporation
    flux[rows.TRANSPIRATION] += draw.transpiration


@physics
def spill(capacity, store, flux):
    """What stands above the depression store runs off (m); eq. (8.7)."""
    runoff = max(0.0, store[rows.SURFACE_STORAGE] - capacity)
    store[rows.SURFACE_STORAGE] -= runoff
    flux[rows.OVERLAND_RUNOFF] += runoff
    return runoff


@physics
def heavy_part(supply, dt, bare, interflow_factor, bedrock_conductivity, store, flux, soil, n_layers):
    """One part of a Green-Ampt step: draws, percolation and interflow, infiltration. SoilPart and convergence."""
    ground_draws(bare, dt, store, flux, soil, n_layers)
    below = soil_water.heavy_part(soil, n_layers, dt, interflow_factor, bedrock_conductivity)
    store[rows.SURFACE_STORAGE] += supply
    offered = store[rows.SURFACE_STORAGE]
    part = infiltration.green_ampt_part(soil, n_layers, store[rows.EVENT_INFILTRATION], offered / dt, dt)
    taken = min(min(part.infiltrated, offered), infiltration.free_room(soil, n_layers))
    left = infiltration.fill_from_top(soil, n_layers, taken)
    taken -= left
    store[rows.EVENT_INFILTRATION] += taken
    store[rows.SURFACE_STORAGE] -= taken
    flux[rows.INFILTRATION] += taken
    flux[rows.INTERFLOW] += below.interflow
    flux[rows.PERCOLATION] += below.percolation
    return below, part.converged


@physics
def light_part(supply, dt, bare, interflow_factor, bedrock_conductivity, store, flux, soil, n_layers):
    """One part of another step: the top layer takes what it can, then draws and redistribution. SoilPart."""
    store[rows.SURFACE_STORAGE] += supply
    offered = store[rows.SURFACE_STORAGE]
    room = max(0.0, soil[rows.SATURATED_WATER, 0] - soil[rows.WORK_WATER, 0])
    taken = min(min(offered, soil[rows.LAYER_CONDUCTIVITY, 0] * dt), room)
    soil[rows.WORK_WATER, 0] += taken
    store[rows.SURFACE_STORAGE] -= taken
    flux[rows.INFILTRATION] += taken
    ground_draws(bare, dt, store, flux, soil, n_layers)
    below = soil_water.redistribute_part(soil, n_layers, dt, interflow_factor, bedrock_conductivity)
    store[rows.SURFACE_STORAGE] += below.exfiltration
    flux[rows.EXFILTRATION] += below.exfiltration
    flux[rows.INTERFLOW] += below.interflow
    flux[rows.PERCOLATION] += below.percolation
    return below


@physics
def begin_or_end_event(wet, store, soil, n_layers):
    """A Green-Ampt event begins with the deficits of this moment, and ends when neither rain nor ponding is left."""
    if wet and store[rows.EVENT_ACTIVE] == 0.0:
        infiltration.begin_event(soil, n_layers)
        store[rows.EVENT_ACTIVE] = 1.0
        store[rows.EVENT_INFILTRATION] = 0.0
    if not wet:
        store[rows.EVENT_ACTIVE] = 0.0
        store[rows.EVENT_INFILTRATION] = 0.0


@physics
def ground_step(tile, first_route, n_route, dt, supply, bare, option, tile_parameter, store, flux, soil, n_layers,
                lateral):
    """Infiltration, soil water and runoff of one step under ``supply`` m at the ground. Status code."""
    interflow_factor = tile_parameter[rows.INTERFLOW_FACTOR, tile]
    bedrock_conductivity = tile_parameter[rows.PERCOLATION_LIMIT, tile]
    capacity = tile_parameter[rows.DEPRESSION_CAPACITY, tile]
    daily = dt >= DAY
    heavy = is_heavy(supply, dt, option, store, soil)
    if heavy:
        n_parts = max(1, int(math.ceil(dt / HOUR)))
    else:
        n_parts = int(option[rows.SOIL_PARTS])
        if n_parts < 0:
            n_parts = -n_parts * soil_water.parts_factor(soil, n_layers, -dt / n_parts)
    part_dt = dt / n_parts
    status = rows.OK
    for part in range(n_parts):
        rain = supply / n_parts
        wet = heavy
        if heavy and daily:
            # The hours of a heavy day without rain and ponding belong to soil water, as they do on hourly input.
            rain = storm_depth(supply, part * part_dt, (part + 1) * part_dt)
            wet = rain > _PONDED or store[rows.SURFACE_STORAGE] > _PONDED
        begin_or_end_event(wet, store, soil, n_layers)
        if wet:
            below, converged = heavy_part(rain, part_dt, bare, interflow_factor, bedrock_conductivity, store, flux,
                                         soil, n_layers)
            if not converged:
                status = rows.NOT_CONVERGED
        else:
            below = light_part(rain, part_dt, bare, interflow_factor, bedrock_conductivity, store, flux, soil,
                              n_layers)
        runoff = spill(capacity, store, flux)
        add_part(lateral, tile, first_route, part, n_parts, n_route, runoff, below.interflow, below.percolation)
    if daily:
        begin_or_end_event(False, store, soil, n_layers)
    return status
