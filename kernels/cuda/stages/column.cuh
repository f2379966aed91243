// The column stage: one tile through a block of steps (docs/theory sections 4 to 10).
// Written by wepl.kernels.translate from wepl/stages/column.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/constants.cuh"
#include "physics/energy.cuh"
#include "physics/rain_pattern.cuh"
#include "stages/ground.cuh"
#include "stages/surface.cuh"

namespace wepl::stage_column {

constexpr int _N_STORE = 9;
constexpr int _N_FLUX = 22;
constexpr int _N_SOIL_PARAMETER = 11;
constexpr int _N_SOIL_WORK = 23;
constexpr int _N_LATERAL = 3;
constexpr int _CHUNK = 64;
constexpr double _FLOOR = 0.001;

// Copy a tile's state and soil parameters into scratch.
template <typename R, typename tile_state_t, typename soil_state_t, typename soil_parameter_t, typename store_t, typename soil_t>
WEPL_FUNCTION void load_tile(int tile, int n_layers, tile_state_t& tile_state, soil_state_t& soil_state, soil_parameter_t& soil_parameter, store_t& store, soil_t& soil) {
    for (int row = 0; row < wepl::stage_column::_N_STORE; ++row) {
        store(row) = tile_state(row, tile);
    }
    for (int layer = 0; layer < n_layers; ++layer) {
        for (int row = 0; row < wepl::stage_column::_N_SOIL_PARAMETER; ++row) {
            soil(row, layer) = soil_parameter(row, layer, tile);
        }
        soil(wepl::rows::WORK_WATER, layer) = soil_state(wepl::rows::SOIL_WATER, layer, tile);
        soil(wepl::rows::WORK_DEFICIT, layer) = soil_state(wepl::rows::EVENT_DEFICIT, layer, tile);
    }
}

// Copy a tile's state back from scratch.
template <typename R, typename store_t, typename soil_t, typename tile_state_t, typename soil_state_t>
WEPL_FUNCTION void store_tile(int tile, int n_layers, store_t& store, soil_t& soil, tile_state_t& tile_state, soil_state_t& soil_state) {
    for (int row = 0; row < wepl::stage_column::_N_STORE; ++row) {
        tile_state(row, tile) = store(row);
    }
    for (int layer = 0; layer < n_layers; ++layer) {
        soil_state(wepl::rows::SOIL_WATER, layer, tile) = soil(wepl::rows::WORK_WATER, layer);
        soil_state(wepl::rows::EVENT_DEFICIT, layer, tile) = soil(wepl::rows::WORK_DEFICIT, layer);
    }
}

// All water in the column, m.
template <typename R, typename store_t, typename soil_t>
WEPL_FUNCTION R tile_water(store_t& store, soil_t& soil, int n_layers) {
    R water;
    water = ((((store(wepl::rows::SNOW_ICE) + store(wepl::rows::SNOW_LIQUID)) + store(wepl::rows::CANOPY_A)) + store(wepl::rows::CANOPY_B)) + store(wepl::rows::SURFACE_STORAGE));
    for (int layer = 0; layer < n_layers; ++layer) {
        water += soil(wepl::rows::WORK_WATER, layer);
    }
    return water;
}

// Open water: precipitation in, evaporation out, the excess above the sill to the reach. Radiation, W m-2.
template <typename R, typename option_t, typename tile_parameter_t, typename store_t, typename flux_t, typename lateral_t>
WEPL_FUNCTION R water_step(int tile, int first_route, int n_route, R dt, wepl::stage_surface::Air<R> air, option_t& option, tile_parameter_t& tile_parameter, store_t& store, flux_t& flux, lateral_t& lateral) {
    R radiation;
    R rate;
    R supply;
    R evaporation;
    R overflow;
    radiation = wepl::stage_surface::net_radiation<R>(air, tile_parameter(wepl::rows::GROUND_ALBEDO, tile));
    rate = wepl::stage_surface::wet_surface_rate<R>(air, radiation, R(0.0), option(wepl::rows::WATER_AERODYNAMIC_FACTOR));
    supply = (air.rain + air.snow);
    const Tuple2<R, R> parts_1 = wepl::stage_ground::wet_surface_step<R>(supply, rate, air, dt, tile_parameter(wepl::rows::DEPRESSION_CAPACITY, tile), store);
    evaporation = parts_1.v0;
    overflow = parts_1.v1;
    flux(wepl::rows::THROUGHFALL) += air.rain;
    flux(wepl::rows::GROUND_SUPPLY) += supply;
    flux(wepl::rows::OPEN_WATER_EVAPORATION) += evaporation;
    flux(wepl::rows::OPEN_WATER_OUTFLOW) += overflow;
    flux(wepl::rows::POTENTIAL_EVAPORATION) += (rate * dt);
    wepl::stage_ground::add_lateral<R>(lateral, wepl::rows::TO_REACH, tile, first_route, 0, 1, n_route, overflow);
    return radiation;
}

// Roofs and paved ground: snow, a depression store, runoff in the storm's pattern. Radiation, W m-2.
template <typename R, typename option_t, typename tile_parameter_t, typename store_t, typename flux_t, typename lateral_t>
WEPL_FUNCTION R impervious_step(int tile, int first_route, int n_route, R dt, wepl::stage_surface::Air<R> air, R ground_heat, option_t& option, tile_parameter_t& tile_parameter, store_t& store, flux_t& flux, lateral_t& lateral) {
    bool covered;
    R supply;
    R radiation;
    R rate;
    R evaporation;
    R runoff;
    int n_parts;
    R share;
    covered = (((store(wepl::rows::SNOW_ICE) + store(wepl::rows::SNOW_LIQUID)) + air.snow) > R(0.0));
    flux(wepl::rows::THROUGHFALL) += air.rain;
    const Tuple2<R, R> parts_1 = wepl::stage_surface::snow_pack<R>(air.rain, R(1.0), air, ground_heat, dt, tile_parameter(wepl::rows::TILE_DEGREE_DAY_FACTOR, tile), option, store, flux);
    supply = parts_1.v0;
    radiation = parts_1.v1;
    flux(wepl::rows::GROUND_SUPPLY) += supply;
    rate = R(0.0);
    if (!(covered)) {
        radiation = wepl::stage_surface::net_radiation<R>(air, tile_parameter(wepl::rows::GROUND_ALBEDO, tile));
        rate = wepl::stage_surface::wet_surface_rate<R>(air, radiation, ground_heat, option(wepl::rows::SOIL_AERODYNAMIC_FACTOR));
        flux(wepl::rows::POTENTIAL_EVAPORATION) += (rate * dt);
    }
    const Tuple2<R, R> parts_2 = wepl::stage_ground::wet_surface_step<R>(supply, rate, air, dt, tile_parameter(wepl::rows::DEPRESSION_CAPACITY, tile), store);
    evaporation = parts_2.v0;
    runoff = parts_2.v1;
    flux(wepl::rows::SURFACE_EVAPORATION) += evaporation;
    flux(wepl::rows::OVERLAND_RUNOFF) += runoff;
    if (((dt >= R(wepl::constants::DAY)) && (supply > option(wepl::rows::HEAVY_RAIN_DEPTH)))) {
        n_parts = int((dt / R(wepl::constants::HOUR)));
        for (int part = 0; part < n_parts; ++part) {
            share = (wepl::rain_pattern::storm_depth<R>(supply, (R(part) * R(wepl::constants::HOUR)), (R((part + 1)) * R(wepl::constants::HOUR))) / supply);
            wepl::stage_ground::add_lateral<R>(lateral, wepl::rows::TO_OVERLAND, tile, first_route, part, n_parts, n_route, (runoff * share));
        }
    } else {
        wepl::stage_ground::add_lateral<R>(lateral, wepl::rows::TO_OVERLAND, tile, first_route, 0, 1, n_route, runoff);
    }
    return radiation;
}

// A tile with soil: canopies, snow, ground. Radiation (W m-2) and status code.
template <typename R, typename option_t, typename tile_index_t, typename tile_parameter_t, typename vegetation_t, typename store_t, typename flux_t, typename soil_t, typename lateral_t>
WEPL_FUNCTION Tuple2<R, int> soil_step(int tile, int step, int first_route, int n_route, R dt, wepl::stage_surface::Air<R> air, R ground_heat, option_t& option, tile_index_t& tile_index, tile_parameter_t& tile_parameter, vegetation_t& vegetation, store_t& store, flux_t& flux, soil_t& soil, int n_layers, lateral_t& lateral) {
    bool covered;
    bool tall;
    R cover;
    R drip;
    R radiation;
    int kind;
    R share;
    wepl::stage_surface::Canopy<R> leaves;
    R open_share;
    R throughfall;
    R supply;
    R snow_radiation;
    wepl::stage_surface::Demand<R> bare;
    int status;
    for (int layer = 0; layer < n_layers; ++layer) {
        soil(wepl::rows::WORK_TRANSPIRATION, layer) = R(0.0);
    }
    covered = (((store(wepl::rows::SNOW_ICE) + store(wepl::rows::SNOW_LIQUID)) + air.snow) > R(0.0));
    tall = (tile_index(wepl::rows::TILE_CLASS, tile) == 1);
    const R part_1 = R(0.0);
    const R part_2 = R(0.0);
    const R part_3 = R(0.0);
    cover = part_1;
    drip = part_2;
    radiation = part_3;
    for (int which = 0; which < 2; ++which) {
        kind = tile_index((wepl::rows::VEGETATION_A + which), tile);
        if ((kind >= 0)) {
            share = tile_parameter((wepl::rows::SHARE_A + which), tile);
            if ((covered && !((tall && (which == 0))))) {
                drip += wepl::stage_surface::drain_canopy<R>((wepl::rows::CANOPY_A + which), R(0.0), store);
            } else {
                leaves = wepl::stage_surface::canopy<R>(kind, share, (wepl::rows::CANOPY_A + which), air, ground_heat, dt, step, option, vegetation, store, flux, soil, n_layers);
                cover += leaves.cover;
                drip += leaves.drip;
                radiation += leaves.radiation;
            }
        }
    }
    open_share = wepl::max(R(0.0), (R(1.0) - cover));
    throughfall = ((open_share * air.rain) + drip);
    flux(wepl::rows::THROUGHFALL) += throughfall;
    const Tuple2<R, R> parts_4 = wepl::stage_surface::snow_pack<R>(throughfall, open_share, air, ground_heat, dt, tile_parameter(wepl::rows::TILE_DEGREE_DAY_FACTOR, tile), option, store, flux);
    supply = parts_4.v0;
    snow_radiation = parts_4.v1;
    flux(wepl::rows::GROUND_SUPPLY) += supply;
    bare = wepl::stage_surface::bare_ground<R>(open_share, air, ground_heat, tile_parameter(wepl::rows::GROUND_ALBEDO, tile), option(wepl::rows::SOIL_AERODYNAMIC_FACTOR), soil);
    if (covered) {
        radiation += snow_radiation;
        bare = wepl::stage_surface::Demand<R>{R(0.0), R(0.0), R(0.0)};
    } else {
        radiation += bare.radiation;
        flux(wepl::rows::POTENTIAL_EVAPORATION) += (bare.wet * dt);
    }
    status = wepl::stage_ground::ground_step<R>(tile, first_route, n_route, dt, supply, bare, option, tile_parameter, store, flux, soil, n_layers, lateral);
    return Tuple2<R, int>{radiation, status};
}

// Energy terms of the step (J m-2): what is neither latent nor ground heat is sensible heat; eq. (15.2).
template <typename R, typename option_t, typename store_t, typename flux_t>
WEPL_FUNCTION void close_energy(int kind, R radiation, wepl::stage_surface::Air<R> air, R dt, option_t& option, store_t& store, flux_t& flux) {
    R latent;
    R ground;
    R sensible;
    R conductance;
    wepl::energy::ForceRestore<R> result;
    latent = wepl::stage_surface::latent_energy<R>(air, flux);
    const R part_1 = R(0.0);
    const R part_2 = ((radiation * dt) - latent);
    ground = part_1;
    sensible = part_2;
    if (((kind != wepl::rows::WATER) && (int(option(wepl::rows::ENERGY_BALANCE)) == wepl::rows::FORCE_RESTORE))) {
        conductance = ((air.heat_capacity * air.wind) / option(wepl::rows::SOIL_AERODYNAMIC_FACTOR));
        result = wepl::energy::force_restore_step<R>(store(wepl::rows::SURFACE_TEMPERATURE), store(wepl::rows::DEEP_TEMPERATURE), radiation, (latent / dt), air.temperature, conductance, dt);
        store(wepl::rows::SURFACE_TEMPERATURE) = result.surface_temperature;
        store(wepl::rows::DEEP_TEMPERATURE) = result.deep_temperature;
        const R part_3 = (result.ground_heat * dt);
        const R part_4 = (result.sensible_heat * dt);
        ground = part_3;
        sensible = part_4;
    }
    flux(wepl::rows::GROUND_HEAT) = ground;
    flux(wepl::rows::SENSIBLE_HEAT) = sensible;
    flux(wepl::rows::NET_RADIATION) = (radiation * dt);
    flux(wepl::rows::LATENT_HEAT) = latent;
}

// Status code of a finished step: finite, and closed to rounding.
template <typename R, typename option_t, typename flux_t>
WEPL_FUNCTION int check_step(R before, R after, wepl::stage_surface::Air<R> air, option_t& option, flux_t& flux) {
    R gone;
    R residual;
    gone = (((((((((flux(wepl::rows::CANOPY_EVAPORATION) + flux(wepl::rows::TRANSPIRATION)) + flux(wepl::rows::SOIL_EVAPORATION)) + flux(wepl::rows::SNOW_SUBLIMATION)) + flux(wepl::rows::SURFACE_EVAPORATION)) + flux(wepl::rows::OPEN_WATER_EVAPORATION)) + flux(wepl::rows::OVERLAND_RUNOFF)) + flux(wepl::rows::INTERFLOW)) + flux(wepl::rows::PERCOLATION)) + flux(wepl::rows::OPEN_WATER_OUTFLOW));
    residual = (((air.rain + air.snow) - gone) - (after - before));
    if (!(wepl::isfinite(residual))) {
        return wepl::rows::NOT_FINITE;
    }
    if ((wepl::abs(residual) > (option(wepl::rows::STEP_CLOSURE) * ((((before + after) + air.rain) + air.snow) + R(wepl::stage_column::_FLOOR))))) {
        return wepl::rows::OUT_OF_BALANCE;
    }
    return wepl::rows::OK;
}

// Write the chosen variables of this step.
template <typename R, typename record_index_t, typename record_t, typename store_t, typename flux_t, typename soil_t>
WEPL_FUNCTION void record_step(int tile, int step, int n_layers, record_index_t& record_index, record_t& record, store_t& store, flux_t& flux, soil_t& soil) {
    int source;
    int row;
    int layer;
    for (int item = 0; item < record_index.shape(1); ++item) {
        source = record_index(0, item);
        row = record_index(1, item);
        layer = record_index(2, item);
        if ((source == wepl::rows::RECORD_FLUX)) {
            record(item, step, tile) = flux(row);
        } else {
            if ((source == wepl::rows::RECORD_STATE)) {
                record(item, step, tile) = store(row);
            } else {
                if ((layer < n_layers)) {
                    record(item, step, tile) = soil(wepl::rows::WORK_WATER, layer);
                }
            }
        }
    }
}

// Clear the step's fluxes, read its weather, enter the precipitation.
template <typename R, typename weather_t, typename flux_t>
WEPL_FUNCTION wepl::stage_surface::Air<R> begin_step(weather_t& weather, int step, int unit, R dt, flux_t& flux) {
    R rain;
    R wet;
    wepl::stage_surface::Air<R> air;
    for (int row = 0; row < wepl::stage_column::_N_FLUX; ++row) {
        flux(row) = R(0.0);
    }
    rain = weather(wepl::rows::RAIN, step, unit);
    wet = R(0.0);
    if ((rain > R(0.0))) {
        wet = ((dt >= R(wepl::constants::DAY)) ? wepl::min(dt, wepl::rain_pattern::storm_duration<R>(rain)) : dt);
    }
    air = wepl::stage_surface::read_air<R>(weather, step, unit, wet, dt);
    flux(wepl::rows::PRECIPITATION_DEPTH) = (air.rain + air.snow);
    flux(wepl::rows::RAINFALL) = air.rain;
    flux(wepl::rows::SNOWFALL) = air.snow;
    return air;
}

// One step of one tile, whatever its kind. Status code.
template <typename R, typename option_t, typename tile_index_t, typename tile_parameter_t, typename vegetation_t, typename store_t, typename flux_t, typename soil_t, typename lateral_t>
WEPL_FUNCTION int tile_step(int tile, int step, int n_route, R dt, wepl::stage_surface::Air<R> air, option_t& option, tile_index_t& tile_index, tile_parameter_t& tile_parameter, vegetation_t& vegetation, store_t& store, flux_t& flux, soil_t& soil, int n_layers, lateral_t& lateral) {
    int kind;
    int first_route;
    R ground_heat;
    R before;
    int code;
    R radiation;
    kind = tile_index(wepl::rows::TILE_KIND, tile);
    first_route = (step * n_route);
    ground_heat = R(0.0);
    if (((kind != wepl::rows::WATER) && (int(option(wepl::rows::ENERGY_BALANCE)) == wepl::rows::FORCE_RESTORE))) {
        ground_heat = wepl::energy::ground_heat_estimate<R>(store(wepl::rows::SURFACE_TEMPERATURE), store(wepl::rows::DEEP_TEMPERATURE));
    }
    before = wepl::stage_column::tile_water<R>(store, soil, n_layers);
    code = wepl::rows::OK;
    if ((kind == wepl::rows::SOIL)) {
        const Tuple2<R, int> parts_1 = wepl::stage_column::soil_step<R>(tile, step, first_route, n_route, dt, air, ground_heat, option, tile_index, tile_parameter, vegetation, store, flux, soil, n_layers, lateral);
        radiation = parts_1.v0;
        code = parts_1.v1;
    } else {
        if ((kind == wepl::rows::IMPERVIOUS)) {
            radiation = wepl::stage_column::impervious_step<R>(tile, first_route, n_route, dt, air, ground_heat, option, tile_parameter, store, flux, lateral);
        } else {
            radiation = wepl::stage_column::water_step<R>(tile, first_route, n_route, dt, air, option, tile_parameter, store, flux, lateral);
        }
    }
    wepl::stage_column::close_energy<R>(kind, radiation, air, dt, option, store, flux);
    if ((code == wepl::rows::OK)) {
        code = wepl::stage_column::check_step<R>(before, wepl::stage_column::tile_water<R>(store, soil, n_layers), air, option, flux);
    }
    return code;
}

// Advance one tile through ``n_steps`` of ``dt`` s, each of ``n_route`` routing steps.
template <typename R, typename option_t, typename tile_index_t, typename tile_parameter_t, typename soil_parameter_t, typename vegetation_t, typename weather_t, typename tile_state_t, typename soil_state_t, typename tile_flux_t, typename lateral_t, typename record_index_t, typename record_t, typename status_t, typename store_t, typename flux_t, typename soil_t>
WEPL_FUNCTION void advance_tile(int tile, int n_steps, int n_route, R dt, option_t& option, tile_index_t& tile_index, tile_parameter_t& tile_parameter, soil_parameter_t& soil_parameter, vegetation_t& vegetation, weather_t& weather, tile_state_t& tile_state, soil_state_t& soil_state, tile_flux_t& tile_flux, lateral_t& lateral, record_index_t& record_index, record_t& record, status_t& status, store_t& store, flux_t& flux, soil_t& soil) {
    int unit;
    int n_layers;
    wepl::stage_surface::Air<R> air;
    int code;
    unit = tile_index(wepl::rows::TILE_UNIT, tile);
    n_layers = ((tile_index(wepl::rows::TILE_KIND, tile) == wepl::rows::SOIL) ? soil_state.shape(1) : 0);
    wepl::stage_column::load_tile<R>(tile, n_layers, tile_state, soil_state, soil_parameter, store, soil);
    for (int row = 0; row < wepl::stage_column::_N_LATERAL; ++row) {
        for (int route = 0; route < (n_steps * n_route); ++route) {
            lateral(row, route, tile) = R(0.0);
        }
    }
    for (int step = 0; step < n_steps; ++step) {
        air = wepl::stage_column::begin_step<R>(weather, step, unit, dt, flux);
        code = wepl::stage_column::tile_step<R>(tile, step, n_route, dt, air, option, tile_index, tile_parameter, vegetation, store, flux, soil, n_layers, lateral);
        wepl::stage_column::record_step<R>(tile, step, n_layers, record_index, record, store, flux, soil);
        for (int row = 0; row < wepl::stage_column::_N_FLUX; ++row) {
            tile_flux(row, tile) += flux(row);
        }
        if ((code != wepl::rows::OK)) {
            status(0, tile) = code;
            status(1, tile) = step;
            break;
        }
    }
    wepl::stage_column::store_tile<R>(tile, n_layers, store, soil, tile_state, soil_state);
}

}  // namespace
