// The ground of one tile in one step: what infiltrates, runs off, drains and comes back (theory 2, 8 to 10).
// Written by wepl.kernels.translate from wepl/stages/ground.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/constants.cuh"
#include "physics/rain_pattern.cuh"
#include "stages/infiltration.cuh"
#include "stages/soil_water.cuh"
#include "stages/surface.cuh"

namespace wepl::stage_ground {

constexpr double _PONDED = 1e-07;

// Add what left in part ``part`` of ``n_parts`` of a step to the routing steps that it overlaps (m).
template <typename R, typename lateral_t>
WEPL_FUNCTION void add_lateral(lateral_t& lateral, int row, int tile, int first_route, int part, int n_parts, int n_route, R amount) {
    int start;
    int stop;
    int route;
    int overlap;
    start = (part * n_route);
    stop = (start + n_route);
    route = (start / n_parts);
    while (((route * n_parts) < stop)) {
        overlap = (wepl::min(stop, ((route + 1) * n_parts)) - wepl::max(start, (route * n_parts)));
        lateral(row, (first_route + route), tile) += ((amount * R(overlap)) / R(n_route));
        route += 1;
    }
}

// The same as :func:`add_lateral` for what one part hands over on its three ways (m).
template <typename R, typename lateral_t>
WEPL_FUNCTION void add_part(lateral_t& lateral, int tile, int first_route, int part, int n_parts, int n_route, R runoff, R interflow, R percolation) {
    int start;
    int stop;
    int route;
    int overlap;
    start = (part * n_route);
    stop = (start + n_route);
    route = (start / n_parts);
    while (((route * n_parts) < stop)) {
        overlap = (wepl::min(stop, ((route + 1) * n_parts)) - wepl::max(start, (route * n_parts)));
        lateral(wepl::rows::TO_OVERLAND, (first_route + route), tile) += ((runoff * R(overlap)) / R(n_route));
        lateral(wepl::rows::TO_REACH, (first_route + route), tile) += ((interflow * R(overlap)) / R(n_route));
        lateral(wepl::rows::TO_AQUIFER, (first_route + route), tile) += ((percolation * R(overlap)) / R(n_route));
        route += 1;
    }
}

// Whether the water that reaches the ground (m in ``dt`` s) makes this a Green-Ampt step; eq. (2.1).
template <typename R, typename option_t, typename store_t, typename soil_t>
WEPL_FUNCTION bool is_heavy(R supply, R dt, option_t& option, store_t& store, soil_t& soil) {
    int rule;
    bool going_on;
    rule = int(option(wepl::rows::INFILTRATION_SWITCH));
    if ((rule == wepl::rows::AUTOMATIC)) {
        rule = ((dt >= R(wepl::constants::DAY)) ? wepl::rows::DAILY_DEPTH : wepl::rows::RATE);
    }
    if ((rule == wepl::rows::ALWAYS)) {
        return (supply > R(0.0));
    }
    if ((rule == wepl::rows::NEVER)) {
        return false;
    }
    if ((rule == wepl::rows::DAILY_DEPTH)) {
        return (((supply * R(wepl::constants::DAY)) / dt) > option(wepl::rows::HEAVY_RAIN_DEPTH));
    }
    going_on = ((store(wepl::rows::EVENT_ACTIVE) > R(0.0)) && ((supply > R(0.0)) || (store(wepl::rows::SURFACE_STORAGE) > R(wepl::stage_ground::_PONDED))));
    return (going_on || (supply > (soil(wepl::rows::LAYER_CONDUCTIVITY, 0) * dt)));
}

// A store without soil below: evaporation (m) and overflow (m), the wet part of the step first; eq. (6.12).
template <typename R, typename store_t>
WEPL_FUNCTION Tuple2<R, R> wet_surface_step(R supply, R wet_rate, wepl::stage_surface::Air<R> air, R dt, R capacity, store_t& store) {
    R evaporation;
    R overflow;
    R late;
    store(wepl::rows::SURFACE_STORAGE) += supply;
    evaporation = wepl::min(wepl::max(R(0.0), store(wepl::rows::SURFACE_STORAGE)), (wet_rate * air.wet_time));
    store(wepl::rows::SURFACE_STORAGE) -= evaporation;
    overflow = wepl::max(R(0.0), (store(wepl::rows::SURFACE_STORAGE) - capacity));
    store(wepl::rows::SURFACE_STORAGE) -= overflow;
    late = wepl::min(wepl::max(R(0.0), store(wepl::rows::SURFACE_STORAGE)), (wet_rate * air.dry_time));
    store(wepl::rows::SURFACE_STORAGE) -= late;
    return Tuple2<R, R>{(evaporation + late), overflow};
}

// Evaporation of one part: from standing water first, then from the top layer and the roots.
template <typename R, typename store_t, typename flux_t, typename soil_t>
WEPL_FUNCTION void ground_draws(wepl::stage_surface::Demand<R> bare, R dt, store_t& store, flux_t& flux, soil_t& soil, int n_layers) {
    R wanted;
    R standing;
    R rest;
    wepl::stage_soil_water::Draw<R> draw;
    wanted = (bare.wet * dt);
    standing = wepl::min(wepl::max(R(0.0), store(wepl::rows::SURFACE_STORAGE)), wanted);
    store(wepl::rows::SURFACE_STORAGE) -= standing;
    rest = ((wanted > R(0.0)) ? (R(1.0) - (standing / wanted)) : R(0.0));
    draw = wepl::stage_soil_water::draw_part<R>(soil, n_layers, dt, (bare.dry * rest));
    flux(wepl::rows::SURFACE_EVAPORATION) += standing;
    flux(wepl::rows::SOIL_EVAPORATION) += draw.soil_evaporation;
    flux(wepl::rows::TRANSPIRATION) += draw.transpiration;
}

// What stands above the depression store runs off (m); eq. (8.7).
template <typename R, typename store_t, typename flux_t>
WEPL_FUNCTION R spill(R capacity, store_t& store, flux_t& flux) {
    R runoff;
    runoff = wepl::max(R(0.0), (store(wepl::rows::SURFACE_STORAGE) - capacity));
    store(wepl::rows::SURFACE_STORAGE) -= runoff;
    flux(wepl::rows::OVERLAND_RUNOFF) += runoff;
    return runoff;
}

// One part of a Green-Ampt step: draws, percolation and interflow, infiltration. SoilPart and convergence.
template <typename R, typename store_t, typename flux_t, typename soil_t>
WEPL_FUNCTION Tuple2<wepl::stage_soil_water::SoilPart<R>, bool> heavy_part(R supply, R dt, wepl::stage_surface::Demand<R> bare, R interflow_factor, R bedrock_conductivity, store_t& store, flux_t& flux, soil_t& soil, int n_layers) {
    wepl::stage_soil_water::SoilPart<R> below;
    R offered;
    wepl::stage_infiltration::GreenAmptPart<R> part;
    R taken;
    R left;
    wepl::stage_ground::ground_draws<R>(bare, dt, store, flux, soil, n_layers);
    below = wepl::stage_soil_water::heavy_part<R>(soil, n_layers, dt, interflow_factor, bedrock_conductivity);
    store(wepl::rows::SURFACE_STORAGE) += supply;
    offered = store(wepl::rows::SURFACE_STORAGE);
    part = wepl::stage_infiltration::green_ampt_part<R>(soil, n_layers, store(wepl::rows::EVENT_INFILTRATION), (offered / dt), dt);
    taken = wepl::min(wepl::min(part.infiltrated, offered), wepl::stage_infiltration::free_room<R>(soil, n_layers));
    left = wepl::stage_infiltration::fill_from_top<R>(soil, n_layers, taken);
    taken -= left;
    store(wepl::rows::EVENT_INFILTRATION) += taken;
    store(wepl::rows::SURFACE_STORAGE) -= taken;
    flux(wepl::rows::INFILTRATION) += taken;
    flux(wepl::rows::INTERFLOW) += below.interflow;
    flux(wepl::rows::PERCOLATION) += below.percolation;
    return Tuple2<wepl::stage_soil_water::SoilPart<R>, bool>{below, part.converged};
}

// One part of another step: the top layer takes what it can, then draws and redistribution. SoilPart.
template <typename R, typename store_t, typename flux_t, typename soil_t>
WEPL_FUNCTION wepl::stage_soil_water::SoilPart<R> light_part(R supply, R dt, wepl::stage_surface::Demand<R> bare, R interflow_factor, R bedrock_conductivity, store_t& store, flux_t& flux, soil_t& soil, int n_layers) {
    R offered;
    R room;
    R taken;
    wepl::stage_soil_water::SoilPart<R> below;
    store(wepl::rows::SURFACE_STORAGE) += supply;
    offered = store(wepl::rows::SURFACE_STORAGE);
    room = wepl::max(R(0.0), (soil(wepl::rows::SATURATED_WATER, 0) - soil(wepl::rows::WORK_WATER, 0)));
    taken = wepl::min(wepl::min(offered, (soil(wepl::rows::LAYER_CONDUCTIVITY, 0) * dt)), room);
    soil(wepl::rows::WORK_WATER, 0) += taken;
    store(wepl::rows::SURFACE_STORAGE) -= taken;
    flux(wepl::rows::INFILTRATION) += taken;
    wepl::stage_ground::ground_draws<R>(bare, dt, store, flux, soil, n_layers);
    below = wepl::stage_soil_water::redistribute_part<R>(soil, n_layers, dt, interflow_factor, bedrock_conductivity);
    store(wepl::rows::SURFACE_STORAGE) += below.exfiltration;
    flux(wepl::rows::EXFILTRATION) += below.exfiltration;
    flux(wepl::rows::INTERFLOW) += below.interflow;
    flux(wepl::rows::PERCOLATION) += below.percolation;
    return below;
}

// A Green-Ampt event begins with the deficits of this moment, and ends when neither rain nor ponding is left.
template <typename R, typename store_t, typename soil_t>
WEPL_FUNCTION void begin_or_end_event(bool wet, store_t& store, soil_t& soil, int n_layers) {
    if ((wet && (store(wepl::rows::EVENT_ACTIVE) == R(0.0)))) {
        wepl::stage_infiltration::begin_event<R>(soil, n_layers);
        store(wepl::rows::EVENT_ACTIVE) = R(1.0);
        store(wepl::rows::EVENT_INFILTRATION) = R(0.0);
    }
    if (!(wet)) {
        store(wepl::rows::EVENT_ACTIVE) = R(0.0);
        store(wepl::rows::EVENT_INFILTRATION) = R(0.0);
    }
}

// Infiltration, soil water and runoff of one step under ``supply`` m at the ground. Status code.
template <typename R, typename option_t, typename tile_parameter_t, typename store_t, typename flux_t, typename soil_t, typename lateral_t>
WEPL_FUNCTION int ground_step(int tile, int first_route, int n_route, R dt, R supply, wepl::stage_surface::Demand<R> bare, option_t& option, tile_parameter_t& tile_parameter, store_t& store, flux_t& flux, soil_t& soil, int n_layers, lateral_t& lateral) {
    R interflow_factor;
    R bedrock_conductivity;
    R capacity;
    bool daily;
    bool heavy;
    int n_parts;
    R part_dt;
    int status;
    R rain;
    bool wet;
    wepl::stage_soil_water::SoilPart<R> below;
    bool converged;
    R runoff;
    interflow_factor = tile_parameter(wepl::rows::INTERFLOW_FACTOR, tile);
    bedrock_conductivity = tile_parameter(wepl::rows::PERCOLATION_LIMIT, tile);
    capacity = tile_parameter(wepl::rows::DEPRESSION_CAPACITY, tile);
    daily = (dt >= R(wepl::constants::DAY));
    heavy = wepl::stage_ground::is_heavy<R>(supply, dt, option, store, soil);
    if (heavy) {
        n_parts = wepl::max(1, int(wepl::ceil((dt / R(wepl::constants::HOUR)))));
    } else {
        n_parts = int(option(wepl::rows::SOIL_PARTS));
        if ((n_parts < 0)) {
            n_parts = ((-n_parts) * wepl::stage_soil_water::parts_factor<R>(soil, n_layers, ((-dt) / R(n_parts))));
        }
    }
    part_dt = (dt / R(n_parts));
    status = wepl::rows::OK;
    for (int part = 0; part < n_parts; ++part) {
        rain = (supply / R(n_parts));
        wet = heavy;
        if ((heavy && daily)) {
            rain = wepl::rain_pattern::storm_depth<R>(supply, (R(part) * part_dt), (R((part + 1)) * part_dt));
            wet = ((rain > R(wepl::stage_ground::_PONDED)) || (store(wepl::rows::SURFACE_STORAGE) > R(wepl::stage_ground::_PONDED)));
        }
        wepl::stage_ground::begin_or_end_event<R>(wet, store, soil, n_layers);
        if (wet) {
            const Tuple2<wepl::stage_soil_water::SoilPart<R>, bool> parts_1 = wepl::stage_ground::heavy_part<R>(rain, part_dt, bare, interflow_factor, bedrock_conductivity, store, flux, soil, n_layers);
            below = parts_1.v0;
            converged = parts_1.v1;
            if (!(converged)) {
                status = wepl::rows::NOT_CONVERGED;
            }
        } else {
            below = wepl::stage_ground::light_part<R>(rain, part_dt, bare, interflow_factor, bedrock_conductivity, store, flux, soil, n_layers);
        }
        runoff = wepl::stage_ground::spill<R>(capacity, store, flux);
        wepl::stage_ground::add_part<R>(lateral, tile, first_route, part, n_parts, n_route, runoff, below.interflow, below.percolation);
    }
    if (daily) {
        wepl::stage_ground::begin_or_end_event<R>(false, store, soil, n_layers);
    }
    return status;
}

}  // namespace
