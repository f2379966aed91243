"""The column stage: one tile through a block of steps (docs/theory sections 4 to 10).

``advance_tile`` is the whole stage for one tile; the CPU runs it in a parallel loop (:func:`column_kernel`), numba.cuda
in a grid-stride loop. State is loaded once, kept in scratch arrays while the block lasts, and stored once.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from wepl import rows
from wepl.physics.constants import DAY, HOUR
from wepl.physics.energy import force_restore_step, ground_heat_estimate
from wepl.physics.jit import kernel, physics
from wepl.physics.rain_pattern import storm_depth, storm_duration
from wepl.stages import surface
from wepl.stages.ground import add_lateral, ground_step, wet_surface_step

_N_STORE = rows.N_ROWS["tile_state"]
_N_FLUX = rows.N_ROWS["tile_flux"]
_N_SOIL_PARAMETER = rows.N_ROWS["soil_parameter"]
_N_SOIL_WORK = rows.N_SOIL_WORK
_N_LATERAL = rows.N_ROWS["lateral"]
_CHUNK = 64
# Water that a step's closure is measured against at least, m.
_FLOOR = 1e-3


@physics
def load_tile(tile, n_layers, tile_state, soil_state, soil_parameter, store, soil):
    """Copy a tile's state and soil parameters into scratch."""
    for row in range(_N_STORE):
        store[row] = tile_state[row, tile]
    for layer in range(n_layers):
        for row in range(_N_SOIL_PARAMETER):
            soil[row, layer] = soil_parameter[row, layer, tile]
        soil[rows.WORK_WATER, layer] = soil_state[rows.SOIL_WATER, layer, tile]
        soil[rows.WORK_DEFICIT, layer] = soil_state[rows.EVENT_DEFICIT, layer, tile]


@physics
def store_tile(tile, n_layers, store, soil, tile_state, soil_state):
    """Copy a tile's state back from scratch."""
    for row in range(_N_STORE):
        tile_state[row, tile] = store[row]
    for layer in range(n_layers):
        soil_state[rows.SOIL_WATER, layer, tile] = soil[rows.WORK_WATER, layer]
        soil_state[rows.EVENT_DEFICIT, layer, tile] = soil[rows.WORK_DEFICIT, layer]


@physics
def tile_water(store, soil, n_layers):
    """All water in the column, m."""
    water = (store[rows.SNOW_ICE] + store[rows.SNOW_LIQUID] + store[rows.CANOPY_A] + store[rows.CANOPY_B]
             + store[rows.SURFACE_STORAGE])
    for layer in range(n_layers):
        water += soil[rows.WORK_WATER, layer]
    return water


@physics
def water_step(tile, first_route, n_route, dt, air, option, tile_parameter, store, flux, lateral):
    """Open water: precipitation in, evaporation out, the excess above the sill to the reach. Radiation, W m-2."""
    radiation = surface.net_radiation(air, tile_parameter[rows.GROUND_ALBEDO, tile])
    rate = surface.wet_surface_rate(air, radiation, 0.0, option[rows.WATER_AERODYNAMIC_FACTOR])
    supply = air.rain + air.snow
    evaporation, overflow = wet_surface_step(supply, rate, air, dt, tile_parameter[rows.DEPRESSION_CAPACITY, tile],
                                             store)
    flux[rows.THROUGHFALL] += air.rain
    flux[rows.GROUND_SUPPLY] += supply
    flux[rows.OPEN_WATER_EVAPORATION] += evaporation
    flux[rows.OPEN_WATER_OUTFLOW] += overflow
    flux[rows.POTENTIAL_EVAPORATION] += rate * dt
    add_lateral(lateral, rows.TO_REACH, tile, first_route, 0, 1, n_route, overflow)
    return radiation


@physics
def impervious_step(tile, first_route, n_route, dt, air, ground_heat, option, tile_parameter, store, flux, lateral):
    """Roofs and paved ground: snow, a depression store, runoff in the storm's pattern. Radiation, W m-2."""
    covered = store[rows.SNOW_ICE] + store[rows.SNOW_LIQUID] + air.snow > 0.0
    flux[rows.THROUGHFALL] += air.rain
    supply, radiation = surface.snow_pack(air.rain, 1.0, air, ground_heat, dt,
                                          tile_parameter[rows.TILE_DEGREE_DAY_FACTOR, tile], option, store, flux)
    flux[rows.GROUND_SUPPLY] += supply
    rate = 0.0
    if not covered:
        radiation = surface.net_radiation(air, tile_parameter[rows.GROUND_ALBEDO, tile])
        rate = surface.wet_surface_rate(air, radiation, ground_heat, option[rows.SOIL_AERODYNAMIC_FACTOR])
        flux[rows.POTENTIAL_EVAPORATION] += rate * dt
    evaporation, runoff = wet_surface_step(supply, rate, air, dt, tile_parameter[rows.DEPRESSION_CAPACITY, tile], store)
    flux[rows.SURFACE_EVAPORATION] += evaporation
    flux[rows.OVERLAND_RUNOFF] += runoff
    if dt >= DAY and supply > option[rows.HEAVY_RAIN_DEPTH]:
        n_parts = int(dt / HOUR)
        for part in range(n_parts):
            share = storm_depth(supply, part * HOUR, (part + 1) * HOUR) / supply
            add_lateral(lateral, rows.TO_OVERLAND, tile, first_route, part, n_parts, n_route, runoff * share)
    else:
        add_lateral(lateral, rows.TO_OVERLAND, tile, first_route, 0, 1, n_route, runoff)
    return radiation


@physics
def soil_step(tile, step, first_route, n_route, dt, air, ground_heat, option, tile_index, tile_parameter, vegetation,
              store, flux, soil, n_layers, lateral):
    """A tile with soil: canopies, snow, ground. Radiation (W m-2) and status code."""
    for layer in range(n_layers):
        soil[rows.WORK_TRANSPIRATION, layer] = 0.0
    covered = store[rows.SNOW_ICE] + store[rows.SNOW_LIQUID] + air.snow > 0.0
    tall = tile_index[rows.TILE_CLASS, tile] == 1
    cover, drip, radiation = 0.0, 0.0, 0.0
    for which in range(2):
        kind = tile_index[rows.VEGETATION_A + which, tile]
        if kind >= 0:
            share = tile_parameter[rows.SHARE_A + which, tile]
            if covered and not (tall and which == 0):
                drip += surface.drain_canopy(rows.CANOPY_A + which, 0.0, store)
            else:
                leaves = surface.canopy(kind, share, rows.CANOPY_A + which, air, ground_heat, dt, step, option,
                                        vegetation, store, flux, soil, n_layers)
                cover += leaves.cover
                drip += leaves.drip
                radiation += leaves.radiation
    open_share = max(0.0, 1.0 - cover)
    throughfall = open_share * air.rain + drip
    flux[rows.THROUGHFALL] += throughfall
    supply, snow_radiation = surface.snow_pack(throughfall, open_share, air, ground_heat, dt,
                                               tile_parameter[rows.TILE_DEGREE_DAY_FACTOR, tile], option, store, flux)
    flux[rows.GROUND_SUPPLY] += supply
    bare = surface.bare_ground(open_share, air, ground_heat, tile_parameter[rows.GROUND_ALBEDO, tile],
                               option[rows.SOIL_AERODYNAMIC_FACTOR], soil)
    if covered:
        radiation += snow_radiation
        bare = surface.Demand(0.0, 0.0, 0.0)
    else:
        radiation += bare.radiation
        flux[rows.POTENTIAL_EVAPORATION] += bare.wet * dt
    status = ground_step(tile, first_route, n_route, dt, supply, bare, option, tile_parameter, store, flux, soil,
                         n_layers, lateral)
    return radiation, status


@physics
def close_energy(kind, radiation, air, dt, option, store, flux):
    """Energy terms of the step (J m-2): what is neither latent nor ground heat is sensible heat; eq. (15.2)."""
    latent = surface.latent_energy(air, flux)
    ground, sensible = 0.0, radiation * dt - latent
    if kind != rows.WATER and int(option[rows.ENERGY_BALANCE]) == rows.FORCE_RESTORE:
        conductance = air.heat_capacity * air.wind / option[rows.SOIL_AERODYNAMIC_FACTOR]
        result = force_restore_step(store[rows.SURFACE_TEMPERATURE], store[rows.DEEP_TEMPERATURE], radiation,
                                    latent / dt, air.temperature, conductance, dt)
        store[rows.SURFACE_TEMPERATURE] = result.surface_temperature
        store[rows.DEEP_TEMPERATURE] = result.deep_temperature
        ground, sensible = result.ground_heat * dt, result.sensible_heat * dt
    flux[rows.GROUND_HEAT] = ground
    flux[rows.SENSIBLE_HEAT] = sensible
    flux[rows.NET_RADIATION] = radiation * dt
    flux[rows.LATENT_HEAT] = latent


@physics
def check_step(before, after, air, option, flux):
    """Status code of a finished step: finite, and closed to rounding."""
    gone = (flux[rows.CANOPY_EVAPORATION] + flux[rows.TRANSPIRATION] + flux[rows.SOIL_EVAPORATION]
            + flux[rows.SNOW_SUBLIMATION] + flux[rows.SURFACE_EVAPORATION] + flux[rows.OPEN_WATER_EVAPORATION]
            + flux[rows.OVERLAND_RUNOFF] + flux[rows.INTERFLOW] + flux[rows.PERCOLATION]
            + flux[rows.OPEN_WATER_OUTFLOW])
    residual = air.rain + air.snow - gone - (after - before)
    if not math.isfinite(residual):
        return rows.NOT_FINITE
    if abs(residual) > option[rows.STEP_CLOSURE] * (before + after + air.rain + air.snow + _FLOOR):
        return rows.OUT_OF_BALANCE
    return rows.OK


@physics
def record_step(tile, step, n_layers, record_index, record, store, flux, soil):
    """Write the chosen variables of this step."""
    for item in range(record_index.shape[1]):
        source = record_index[0, item]
        row = record_index[1, item]
        layer = record_index[2, item]
        if source == rows.RECORD_FLUX:
            record[item, step, tile] = flux[row]
        elif source == rows.RECORD_STATE:
            record[item, step, tile] = store[row]
        elif layer < n_layers:
            record[item, step, tile] = soil[rows.WORK_WATER, layer]


@physics
def begin_step(weather, step, unit, dt, flux):
    """Clear the step's fluxes, read its weather, enter the precipitation."""
    for row in range(_N_FLUX):
        flux[row] = 0.0
    rain = weather[rows.RAIN, step, unit]
    wet = 0.0
    if rain > 0.0:
        wet = min(dt, storm_duration(rain)) if dt >= DAY else dt
    air = surface.read_air(weather, step, unit, wet, dt)
    flux[rows.PRECIPITATION_DEPTH] = air.rain + air.snow
    flux[rows.RAINFALL] = air.rain
    flux[rows.SNOWFALL] = air.snow
    return air


@physics
def tile_step(tile, step, n_route, dt, air, option, tile_index, tile_parameter, vegetation, store, flux, soil,
              n_layers, lateral):
    """One step of one tile, whatever its kind. Status code."""
    kind = tile_index[rows.TILE_KIND, tile]
    first_route = step * n_route
    ground_heat = 0.0
    if kind != rows.WATER and int(option[rows.ENERGY_BALANCE]) == rows.FORCE_RESTORE:
        ground_heat = ground_heat_estimate(store[rows.SURFACE_TEMPERATURE], store[rows.DEEP_TEMPERATURE])
    before = tile_water(store, soil, n_layers)
    code = rows.OK
    if kind == rows.SOIL:
        radiation, code = soil_step(tile, step, first_route, n_route, dt, air, ground_heat, option, tile_index,
                                    tile_parameter, vegetation, store, flux, soil, n_layers, lateral)
    elif kind == rows.IMPERVIOUS:
        radiation = impervious_step(tile, first_route, n_route, dt, air, ground_heat, option, tile_parameter, store,
                                    flux, lateral)
    else:
        radiation = water_step(tile, first_route, n_route, dt, air, option, tile_parameter, store, flux, lateral)
    close_energy(kind, radiation, air, dt, option, store, flux)
    if code == rows.OK:
        code = check_step(before, tile_water(store, soil, n_layers), air, option, flux)
    return code


@physics
def advance_tile(tile, n_steps, n_route, dt, option, tile_index, tile_parameter, soil_parameter, vegetation, weather,
                 tile_state, soil_state, tile_flux, lateral, record_index, record, status, store, flux, soil):
    """Advance one tile through ``n_steps`` of ``dt`` s, each of ``n_route`` routing steps.

    Arrays as in the registry: ``*_parameter[row, tile]``, ``weather[row, step, unit]``,
    ``vegetation[row, step, kind]``, ``lateral[row, routing step, tile]``, ``record[item, step, tile]``,
    ``status[2, tile]``; ``store``, ``flux`` and ``soil`` are this thread's scratch.
    """
    unit = tile_index[rows.TILE_UNIT, tile]
    n_layers = soil_state.shape[1] if tile_index[rows.TILE_KIND, tile] == rows.SOIL else 0
    load_tile(tile, n_layers, tile_state, soil_state, soil_parameter, store, soil)
    for row in range(_N_LATERAL):
        for route in range(n_steps * n_route):
            lateral[row, route, tile] = 0.0
    for step in range(n_steps):
        air = begin_step(weather, step, unit, dt, flux)
        code = tile_step(tile, step, n_route, dt, air, option, tile_index, tile_parameter, vegetation, store, flux,
                         soil, n_layers, lateral)
        record_step(tile, step, n_layers, record_index, record, store, flux, soil)
        for row in range(_N_FLUX):
            tile_flux[row, tile] += flux[row]
        if code != rows.OK:
            status[0, tile] = code
            status[1, tile] = step
            break
    store_tile(tile, n_layers, store, soil, tile_state, soil_state)


@physics
def coprime_stride(count):
    """A stride near the golden share of ``count`` that visits every place once."""
    stride = max(1, int(0.618 * count))
    while True:
        a, b = stride, count
        while b > 0:
            a, b = b, a % b
        if a == 1:
            return stride
        stride += 1


@kernel
def column_kernel(n_tiles, n_steps, n_route, dt, option, tile_index, tile_parameter, soil_parameter, vegetation,
                  weather, tile_state, soil_state, tile_flux, lateral, record_index, record, status):
    """Advance all tiles through a block, in parallel chunks; see :func:`advance_tile`."""
    n_layers = max(1, soil_state.shape[1])
    n_chunks = (n_tiles + _CHUNK - 1) // _CHUNK
    # Soil tiles come first and cost most: a stride without common divisor spreads them evenly over the threads.
    stride = coprime_stride(n_chunks)
    for place in numba.prange(n_chunks):
        chunk = (place * stride) % n_chunks
        store = np.empty(_N_STORE)
        flux = np.empty(_N_FLUX)
        soil = np.empty((_N_SOIL_WORK, n_layers))
        for tile in range(chunk * _CHUNK, min(n_tiles, (chunk + 1) * _CHUNK)):
            advance_tile(tile, n_steps, n_route, dt, option, tile_index, tile_parameter, soil_parameter, vegetation,
                         weather, tile_state, soil_state, tile_flux, lateral, record_index, record, status, store,
                         flux, soil)
