// What evaporates from one tile in one step: the demand of each surface, and what its stores can give.
// Written by wepl.kernels.translate from wepl/stages/surface.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/constants.cuh"
#include "physics/evapotranspiration.cuh"
#include "physics/interception.cuh"
#include "physics/snow.cuh"

namespace wepl::stage_surface {

// The weather of one step over one unit (see the registry's ``weather`` rows) and its wet and dry time (s).
template <typename R>
struct Air {
    R rain;
    R snow;
    R temperature;
    R shortwave;
    R daylight_shortwave;
    R longwave_net;
    R deficit;
    R slope;
    R gamma;
    R vaporisation_heat;
    R heat_capacity;
    R wind;
    R wet_time;
    R dry_time;
};

// Evaporative demand of the ground: rates in m s-1 over the tile, radiation in W m-2 over the tile.
template <typename R>
struct Demand {
    R wet;
    R dry;
    R radiation;
};

// One vegetation kind in one step: covered share of the tile, transpiration rate (m s-1), drip (m), radiation.
template <typename R>
struct Canopy {
    R cover;
    R transpiration;
    R drip;
    R radiation;
};

// Gather the weather rows of one step; ``wet_time`` (s) of the step is wet, the rest dry.
template <typename R, typename weather_t>
WEPL_FUNCTION wepl::stage_surface::Air<R> read_air(weather_t& weather, int step, int unit, R wet_time, R dt) {
    return wepl::stage_surface::Air<R>{weather(wepl::rows::RAIN, step, unit), weather(wepl::rows::SNOW, step, unit), weather(wepl::rows::TEMPERATURE, step, unit), weather(wepl::rows::SHORTWAVE, step, unit), weather(wepl::rows::DAYLIGHT_SHORTWAVE, step, unit), weather(wepl::rows::LONGWAVE_NET, step, unit), weather(wepl::rows::VAPOUR_PRESSURE_DEFICIT, step, unit), weather(wepl::rows::SLOPE_OF_SATURATION, step, unit), weather(wepl::rows::PSYCHROMETRIC, step, unit), weather(wepl::rows::VAPORISATION_HEAT, step, unit), weather(wepl::rows::AIR_HEAT_CAPACITY, step, unit), weather(wepl::rows::WIND, step, unit), wet_time, (dt - wet_time)};
}

// Net radiation of a surface with the given albedo, W m-2; eq. (3.19).
template <typename R>
WEPL_FUNCTION R net_radiation(wepl::stage_surface::Air<R> air, R albedo) {
    return (((R(1.0) - albedo) * air.shortwave) + air.longwave_net);
}

// Penman evaporation of a wet surface, m s-1, not below 0 (condensation is left out of the balance).
template <typename R>
WEPL_FUNCTION R wet_surface_rate(wepl::stage_surface::Air<R> air, R radiation, R ground_heat, R resistance_factor) {
    R resistance;
    resistance = (resistance_factor / air.wind);
    return wepl::max(R(0.0), wepl::evapotranspiration::penman<R>((radiation - ground_heat), air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity, air.deficit, resistance));
}

// Penman rate of a snow surface, m s-1, with the heat of sublimation in place of that of vaporisation.
template <typename R>
WEPL_FUNCTION R sublimation_rate(wepl::stage_surface::Air<R> air, R radiation, R ground_heat, R resistance_factor) {
    R heat;
    R gamma;
    heat = (air.vaporisation_heat + R(wepl::constants::FUSION_HEAT));
    gamma = ((air.gamma * air.vaporisation_heat) / heat);
    return wepl::max(R(0.0), wepl::evapotranspiration::penman<R>((radiation - ground_heat), air.slope, gamma, heat, air.heat_capacity, air.deficit, (resistance_factor / air.wind)));
}

// Moisture factor f4 of the root zone; leaves each layer's root share in WORK_ROOT (they add to 1).
template <typename R, typename soil_t>
WEPL_FUNCTION R root_moisture(soil_t& soil, int n_layers, R root_depth) {
    R bottom;
    R whole;
    R above;
    R water;
    R wilting;
    R critical;
    R thickness;
    R here;
    R share;
    R weight;
    bottom = R(0.0);
    for (int layer = 0; layer < n_layers; ++layer) {
        bottom += soil(wepl::rows::LAYER_THICKNESS, layer);
    }
    whole = wepl::evapotranspiration::root_fraction_above<R>(bottom, root_depth);
    above = R(0.0);
    bottom = R(0.0);
    const R part_1 = R(0.0);
    const R part_2 = R(0.0);
    const R part_3 = R(0.0);
    water = part_1;
    wilting = part_2;
    critical = part_3;
    for (int layer = 0; layer < n_layers; ++layer) {
        thickness = soil(wepl::rows::LAYER_THICKNESS, layer);
        bottom += thickness;
        here = (wepl::evapotranspiration::root_fraction_above<R>(bottom, root_depth) / whole);
        share = (here - above);
        above = here;
        soil(wepl::rows::WORK_ROOT, layer) = share;
        weight = (share / thickness);
        water += (weight * soil(wepl::rows::WORK_WATER, layer));
        wilting += (weight * soil(wepl::rows::WILTING_WATER, layer));
        critical += (weight * soil(wepl::rows::FIELD_CAPACITY_WATER, layer));
    }
    return wepl::evapotranspiration::jarvis_moisture<R>(water, wilting, critical);
}

// Interception and transpiration of one vegetation kind; adds its draw per layer to WORK_TRANSPIRATION (m s-1).
template <typename R, typename option_t, typename vegetation_t, typename store_t, typename flux_t, typename soil_t>
WEPL_FUNCTION wepl::stage_surface::Canopy<R> canopy(int kind, R share, int canopy_row, wepl::stage_surface::Air<R> air, R ground_heat, R dt, int step, option_t& option, vegetation_t& vegetation, store_t& store, flux_t& flux, soil_t& soil, int n_layers) {
    R leaf_area;
    R cover;
    R radiation;
    R factor;
    R wet;
    R capacity;
    wepl::interception::CanopyStep<R> result;
    R potential;
    R wet_share;
    R f4;
    R rs_min;
    R rs_max;
    R f3;
    R resistance;
    R rate;
    R transpiration;
    leaf_area = vegetation(wepl::rows::KIND_LEAF_AREA_INDEX, step, kind);
    cover = (share * vegetation(wepl::rows::KIND_COVER, step, kind));
    radiation = wepl::stage_surface::net_radiation<R>(air, vegetation(wepl::rows::KIND_ALBEDO, step, kind));
    factor = vegetation(wepl::rows::KIND_AERODYNAMIC_FACTOR, step, kind);
    wet = wepl::stage_surface::wet_surface_rate<R>(air, radiation, ground_heat, factor);
    capacity = ((option(wepl::rows::CANOPY_STORAGE_PER_LEAF_AREA) * cover) * leaf_area);
    result = wepl::interception::canopy_step<R>(store(canopy_row), (cover * air.rain), capacity, (cover * wet), air.wet_time, air.dry_time);
    store(canopy_row) = result.water;
    flux(wepl::rows::CANOPY_EVAPORATION) += result.evaporation;
    flux(wepl::rows::POTENTIAL_EVAPORATION) += ((cover * wet) * dt);
    potential = ((cover * wet) * dt);
    wet_share = ((potential > R(0.0)) ? wepl::min(R(1.0), (result.evaporation / potential)) : R(0.0));
    f4 = wepl::stage_surface::root_moisture<R>(soil, n_layers, vegetation(wepl::rows::KIND_ROOT_DEPTH, step, kind));
    rs_min = vegetation(wepl::rows::KIND_STOMATAL_RESISTANCE, step, kind);
    rs_max = option(wepl::rows::RS_MAX);
    f3 = wepl::evapotranspiration::jarvis_light<R>(air.daylight_shortwave, vegetation(wepl::rows::KIND_CRITICAL_RADIATION, step, kind), leaf_area, rs_min, rs_max);
    resistance = wepl::evapotranspiration::canopy_resistance<R>(rs_min, (option(wepl::rows::ACTIVE_LEAF_SHARE) * leaf_area), wepl::evapotranspiration::jarvis_temperature<R>(air.temperature), wepl::evapotranspiration::jarvis_humidity<R>(air.deficit, option(wepl::rows::CRITICAL_VAPOUR_PRESSURE_DEFICIT)), f3, f4, rs_max);
    rate = wepl::evapotranspiration::penman_monteith<R>((radiation - ground_heat), air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity, air.deficit, (factor / air.wind), resistance);
    transpiration = ((f4 > R(0.0)) ? ((cover * (R(1.0) - wet_share)) * wepl::max(R(0.0), rate)) : R(0.0));
    for (int layer = 0; layer < n_layers; ++layer) {
        soil(wepl::rows::WORK_TRANSPIRATION, layer) += (transpiration * soil(wepl::rows::WORK_ROOT, layer));
    }
    return wepl::stage_surface::Canopy<R>{cover, transpiration, result.drip, (cover * radiation)};
}

// A canopy that snow covers holds nothing: its water and the rain go to the ground; the drip, m.
template <typename R, typename store_t>
WEPL_FUNCTION R drain_canopy(int canopy_row, R rain, store_t& store) {
    R drip;
    drip = (store(canopy_row) + rain);
    store(canopy_row) = R(0.0);
    return drip;
}

// Demand of bare soil over ``share`` of the tile: wet where water stands on it, dry where it must come up.
template <typename R, typename soil_t>
WEPL_FUNCTION wepl::stage_surface::Demand<R> bare_ground(R share, wepl::stage_surface::Air<R> air, R ground_heat, R albedo, R resistance_factor, soil_t& soil) {
    R radiation;
    R resistance;
    R available;
    R beta;
    R wet;
    R dry;
    radiation = wepl::stage_surface::net_radiation<R>(air, albedo);
    resistance = (resistance_factor / air.wind);
    available = (radiation - ground_heat);
    beta = wepl::evapotranspiration::soil_wetness<R>(soil(wepl::rows::WORK_WATER, 0), soil(wepl::rows::DRY_WATER, 0), soil(wepl::rows::FIELD_CAPACITY_WATER, 0));
    wet = wepl::evapotranspiration::penman<R>(available, air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity, air.deficit, resistance);
    dry = wepl::evapotranspiration::bare_soil_evaporation<R>(available, air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity, air.deficit, resistance, beta);
    return wepl::stage_surface::Demand<R>{(share * wepl::max(R(0.0), wet)), (share * wepl::max(R(0.0), dry)), (share * radiation)};
}

// Advance the pack under ``rain`` (m) that reaches it; ``share`` of the tile sublimates. Outflow (m), radiation.
template <typename R, typename option_t, typename store_t, typename flux_t>
WEPL_FUNCTION Tuple2<R, R> snow_pack(R rain, R share, wepl::stage_surface::Air<R> air, R ground_heat, R dt, R factor, option_t& option, store_t& store, flux_t& flux) {
    R radiation;
    bool lies;
    R potential;
    wepl::snow::SnowStep<R> pack;
    radiation = wepl::stage_surface::net_radiation<R>(air, option(wepl::rows::SNOW_ALBEDO));
    lies = (((store(wepl::rows::SNOW_ICE) + store(wepl::rows::SNOW_LIQUID)) + air.snow) > R(0.0));
    potential = R(0.0);
    if (lies) {
        potential = ((share * dt) * wepl::stage_surface::sublimation_rate<R>(air, radiation, ground_heat, option(wepl::rows::WATER_AERODYNAMIC_FACTOR)));
    }
    pack = wepl::snow::snow_step<R>(store(wepl::rows::SNOW_ICE), store(wepl::rows::SNOW_LIQUID), rain, air.snow, air.temperature, potential, dt, factor, option(wepl::rows::MELT_TEMPERATURE), option(wepl::rows::SNOW_LIQUID_SHARE), option(wepl::rows::REFREEZING_SHARE));
    store(wepl::rows::SNOW_ICE) = pack.ice;
    store(wepl::rows::SNOW_LIQUID) = pack.liquid;
    flux(wepl::rows::SNOW_SUBLIMATION) += pack.sublimation;
    flux(wepl::rows::POTENTIAL_EVAPORATION) += potential;
    return Tuple2<R, R>{pack.outflow, (share * radiation)};
}

// Latent heat of all water that left in this step, J m-2.
template <typename R, typename flux_t>
WEPL_FUNCTION R latent_energy(wepl::stage_surface::Air<R> air, flux_t& flux) {
    R water;
    R ice;
    water = ((((flux(wepl::rows::CANOPY_EVAPORATION) + flux(wepl::rows::TRANSPIRATION)) + flux(wepl::rows::SOIL_EVAPORATION)) + flux(wepl::rows::SURFACE_EVAPORATION)) + flux(wepl::rows::OPEN_WATER_EVAPORATION));
    ice = flux(wepl::rows::SNOW_SUBLIMATION);
    return (R(wepl::constants::WATER_DENSITY) * ((air.vaporisation_heat * (water + ice)) + (R(wepl::constants::FUSION_HEAT) * ice)));
}

}  // namespace
