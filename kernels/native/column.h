// The column stage on vector lanes.
// Written by wepl.kernels.lanes_translate from wepl/physics and wepl/stages: change it there.
#pragma once
#include "arrays.h"
#include "rows.cuh"

namespace wepl::on_column {

using wepl::pick;

constexpr int stage_column___N_STORE = 9;
constexpr int stage_column___N_SOIL_PARAMETER = 11;
constexpr int stage_column___N_LATERAL = 3;
constexpr int stage_column___N_FLUX = 22;
constexpr Real constants__DAY = Real(86400.0);
constexpr Real constants__HOUR = Real(3600.0);
constexpr Real energy__OMEGA = Real(7.27220521664304e-05);
constexpr Real energy__C1 = Real(1.34835132816368e-05);
constexpr Real constants__WATER_DENSITY = Real(1000.0);
constexpr int interception___WET_PARTS = 4;
constexpr Real constants__FUSION_HEAT = Real(334000.0);
constexpr Real stage_ground___PONDED = Real(1e-07);
constexpr Real rain_pattern___PEAK = Real(0.4);
constexpr int green_ampt__NEWTON_STEPS = 8;
constexpr Real green_ampt__LAST_STEP = Real(1e-05);
constexpr Real soil_hydraulics___SMALLEST_SATURATION = Real(1e-09);
constexpr Real soil_hydraulics___LARGEST_LOG = Real(16.11809565095832);
constexpr int stage_soil_water___SUCTION = 17;
constexpr int stage_soil_water___SLOPE = 18;
constexpr int stage_soil_water___LINK = 19;
constexpr int stage_soil_water___UPPER = 20;
constexpr int stage_soil_water___CHANGE = 21;
constexpr Real energy__C3 = Real(1.9909103440312356e-07);
constexpr Real stage_column___FLOOR = Real(0.001);

// The weather of one step over one unit (see the registry's ``weather`` rows) and its wet and dry time (s).
struct stage_surface__Air {
    V rain;
    V snow;
    V temperature;
    V shortwave;
    V daylight_shortwave;
    V longwave_net;
    V deficit;
    V slope;
    V gamma;
    V vaporisation_heat;
    V heat_capacity;
    V wind;
    V wet_time;
    V dry_time;
};
WEPL_LANE stage_surface__Air pick(M m, stage_surface__Air a, stage_surface__Air b) { return {pick(m, a.rain, b.rain), pick(m, a.snow, b.snow), pick(m, a.temperature, b.temperature), pick(m, a.shortwave, b.shortwave), pick(m, a.daylight_shortwave, b.daylight_shortwave), pick(m, a.longwave_net, b.longwave_net), pick(m, a.deficit, b.deficit), pick(m, a.slope, b.slope), pick(m, a.gamma, b.gamma), pick(m, a.vaporisation_heat, b.vaporisation_heat), pick(m, a.heat_capacity, b.heat_capacity), pick(m, a.wind, b.wind), pick(m, a.wet_time, b.wet_time), pick(m, a.dry_time, b.dry_time)}; }

// A canopy after one step: water on it, evaporated and dripped in the step (m over the tile).
struct interception__CanopyStep {
    V water;
    V evaporation;
    V drip;
};
WEPL_LANE interception__CanopyStep pick(M m, interception__CanopyStep a, interception__CanopyStep b) { return {pick(m, a.water, b.water), pick(m, a.evaporation, b.evaporation), pick(m, a.drip, b.drip)}; }

// One vegetation kind in one step: covered share of the tile, transpiration rate (m s-1), drip (m), radiation.
struct stage_surface__Canopy {
    V cover;
    V transpiration;
    V drip;
    V radiation;
};
WEPL_LANE stage_surface__Canopy pick(M m, stage_surface__Canopy a, stage_surface__Canopy b) { return {pick(m, a.cover, b.cover), pick(m, a.transpiration, b.transpiration), pick(m, a.drip, b.drip), pick(m, a.radiation, b.radiation)}; }

// A pack after one step: ice and liquid water (m), water that left it and sublimation in the step (m).
struct snow__SnowStep {
    V ice;
    V liquid;
    V outflow;
    V sublimation;
};
WEPL_LANE snow__SnowStep pick(M m, snow__SnowStep a, snow__SnowStep b) { return {pick(m, a.ice, b.ice), pick(m, a.liquid, b.liquid), pick(m, a.outflow, b.outflow), pick(m, a.sublimation, b.sublimation)}; }

// Evaporative demand of the ground: rates in m s-1 over the tile, radiation in W m-2 over the tile.
struct stage_surface__Demand {
    V wet;
    V dry;
    V radiation;
};
WEPL_LANE stage_surface__Demand pick(M m, stage_surface__Demand a, stage_surface__Demand b) { return {pick(m, a.wet, b.wet), pick(m, a.dry, b.dry), pick(m, a.radiation, b.radiation)}; }

// What evaporation took from the soil in one part, m.
struct stage_soil_water__Draw {
    V soil_evaporation;
    V transpiration;
};
WEPL_LANE stage_soil_water__Draw pick(M m, stage_soil_water__Draw a, stage_soil_water__Draw b) { return {pick(m, a.soil_evaporation, b.soil_evaporation), pick(m, a.transpiration, b.transpiration)}; }

// What left a layer downward and sideways in a time, m.
struct soil_water__Drainage {
    V down;
    V sideways;
};
WEPL_LANE soil_water__Drainage pick(M m, soil_water__Drainage a, soil_water__Drainage b) { return {pick(m, a.down, b.down), pick(m, a.sideways, b.sideways)}; }

// What left the soil in one part upward, sideways and downward, m.
struct stage_soil_water__SoilPart {
    V exfiltration;
    V interflow;
    V percolation;
};
WEPL_LANE stage_soil_water__SoilPart pick(M m, stage_soil_water__SoilPart a, stage_soil_water__SoilPart b) { return {pick(m, a.exfiltration, b.exfiltration), pick(m, a.interflow, b.interflow), pick(m, a.percolation, b.percolation)}; }

// Infiltration of one part (m), since the event began (m), and whether every iteration converged.
struct stage_infiltration__GreenAmptPart {
    V infiltrated;
    V event_infiltration;
    M converged;
};
WEPL_LANE stage_infiltration__GreenAmptPart pick(M m, stage_infiltration__GreenAmptPart a, stage_infiltration__GreenAmptPart b) { return {pick(m, a.infiltrated, b.infiltrated), pick(m, a.event_infiltration, b.event_infiltration), pick(m, a.converged, b.converged)}; }

// Where the wetting front stands: layer, infiltration at its top and bottom (m), k (m s-1), A and B (m).
struct stage_infiltration__Front {
    V layer;
    V top;
    V bottom;
    V conductivity;
    V a;
    V b;
};
WEPL_LANE stage_infiltration__Front pick(M m, stage_infiltration__Front a, stage_infiltration__Front b) { return {pick(m, a.layer, b.layer), pick(m, a.top, b.top), pick(m, a.bottom, b.bottom), pick(m, a.conductivity, b.conductivity), pick(m, a.a, b.a), pick(m, a.b, b.b)}; }

// A front after a stretch in one layer: infiltration (m), time used (s), ponding, convergence.
struct stage_infiltration__Advance {
    V infiltration;
    V time;
    M ponded;
    M converged;
};
WEPL_LANE stage_infiltration__Advance pick(M m, stage_infiltration__Advance a, stage_infiltration__Advance b) { return {pick(m, a.infiltration, b.infiltration), pick(m, a.time, b.time), pick(m, a.ponded, b.ponded), pick(m, a.converged, b.converged)}; }

// Cumulative infiltration at the end of a ponded time (m), and whether the iteration reached its tolerance.
struct green_ampt__Ponded {
    V infiltration;
    M converged;
};
WEPL_LANE green_ampt__Ponded pick(M m, green_ampt__Ponded a, green_ampt__Ponded b) { return {pick(m, a.infiltration, b.infiltration), pick(m, a.converged, b.converged)}; }

// Suction head and its derivative by effective saturation, m.
struct soil_hydraulics__Suction {
    V head;
    V slope;
};
WEPL_LANE soil_hydraulics__Suction pick(M m, soil_hydraulics__Suction a, soil_hydraulics__Suction b) { return {pick(m, a.head, b.head), pick(m, a.slope, b.slope)}; }

// End of a step: temperatures (degC) and mean ground and sensible heat over the step (W m-2).
struct energy__ForceRestore {
    V surface_temperature;
    V deep_temperature;
    V ground_heat;
    V sensible_heat;
};
WEPL_LANE energy__ForceRestore pick(M m, energy__ForceRestore a, energy__ForceRestore b) { return {pick(m, a.surface_temperature, b.surface_temperature), pick(m, a.deep_temperature, b.deep_temperature), pick(m, a.ground_heat, b.ground_heat), pick(m, a.sensible_heat, b.sensible_heat)}; }

// Copy a tile's state and soil parameters into scratch.
template <typename tile_state_t, typename soil_state_t, typename soil_parameter_t, typename store_t, typename soil_t>
static inline void stage_column__load_tile(M on, Lane tile, int n_layers, tile_state_t& tile_state, soil_state_t& soil_state, soil_parameter_t& soil_parameter, store_t& store, soil_t& soil) {
    {
        M on_1 = on;
        for (int row = 0; row < stage_column___N_STORE; ++row) {
            store(row) = pick(on, at(on, tile_state, row, tile), store(row));
        }
    }
    {
        M on_2 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            {
                M on_3 = on;
                for (int row = 0; row < stage_column___N_SOIL_PARAMETER; ++row) {
                    soil(row, layer) = pick(on, at(on, soil_parameter, row, layer, tile), soil(row, layer));
                }
            }
            soil(rows::WORK_WATER, layer) = pick(on, at(on, soil_state, rows::SOIL_WATER, layer, tile), soil(rows::WORK_WATER, layer));
            soil(rows::WORK_DEFICIT, layer) = pick(on, at(on, soil_state, rows::EVENT_DEFICIT, layer, tile), soil(rows::WORK_DEFICIT, layer));
        }
    }
}

// Length, s, of the storm that brings ``depth`` m in a day, 1 to 24 h; eq. (2.2).
static inline V rain_pattern__storm_duration(M on, V depth) {
    V answer{};
    M done = mask(false);
    {
        const M if_1 = M(depth <= wide(Real(0.0)));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(constants__HOUR), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, (wide(constants__HOUR) * min(wide(Real(24.0)), max(wide(Real(1.0)), (wide(Real(2.5)) * pow((wide(Real(1000.0)) * depth), wide(Real(0.4))))))), answer);
    return answer;
    return answer;
}

// Gather the weather rows of one step; ``wet_time`` (s) of the step is wet, the rest dry.
template <typename weather_t>
static inline stage_surface__Air stage_surface__read_air(M on, weather_t& weather, int step, V unit, V wet_time, Real dt) {
    return stage_surface__Air{at(on, weather, rows::RAIN, step, unit), at(on, weather, rows::SNOW, step, unit), at(on, weather, rows::TEMPERATURE, step, unit), at(on, weather, rows::SHORTWAVE, step, unit), at(on, weather, rows::DAYLIGHT_SHORTWAVE, step, unit), at(on, weather, rows::LONGWAVE_NET, step, unit), at(on, weather, rows::VAPOUR_PRESSURE_DEFICIT, step, unit), at(on, weather, rows::SLOPE_OF_SATURATION, step, unit), at(on, weather, rows::PSYCHROMETRIC, step, unit), at(on, weather, rows::VAPORISATION_HEAT, step, unit), at(on, weather, rows::AIR_HEAT_CAPACITY, step, unit), at(on, weather, rows::WIND, step, unit), wet_time, (wide(dt) - wet_time)};
}

// Clear the step's fluxes, read its weather, enter the precipitation.
template <typename weather_t, typename flux_t>
static inline stage_surface__Air stage_column__begin_step(M on, weather_t& weather, int step, V unit, Real dt, flux_t& flux) {
    V rain{};
    V wet{};
    stage_surface__Air air{};
    {
        M on_1 = on;
        for (int row = 0; row < stage_column___N_FLUX; ++row) {
            flux(row) = pick(on, wide(Real(0.0)), flux(row));
        }
    }
    rain = at(on, weather, rows::RAIN, step, unit);
    wet = wide(Real(0.0));
    {
        const M if_2 = M(rain > wide(Real(0.0)));
        M on_3 = on & if_2;
        if (any(on_3)) {
            wet = pick(on_3, ((dt >= constants__DAY) ? min(wide(dt), rain_pattern__storm_duration(on_3, rain)) : wide(dt)), wet);
        }
    }
    air = stage_surface__read_air(on, weather, step, unit, wet, dt);
    flux(rows::PRECIPITATION_DEPTH) = pick(on, (air.rain + air.snow), flux(rows::PRECIPITATION_DEPTH));
    flux(rows::RAINFALL) = pick(on, air.rain, flux(rows::RAINFALL));
    flux(rows::SNOWFALL) = pick(on, air.snow, flux(rows::SNOWFALL));
    return air;
}

// Ground heat that evaporation of the coming step reckons with, W m-2; eq. (6.24).
static inline V energy__ground_heat_estimate(M on, V surface_temperature, V deep_temperature) {
    return ((wide(energy__OMEGA) * (surface_temperature - deep_temperature)) / wide(energy__C1));
}

// All water in the column, m.
template <typename store_t, typename soil_t>
static inline V stage_column__tile_water(M on, store_t& store, soil_t& soil, int n_layers) {
    V water{};
    water = ((((store(rows::SNOW_ICE) + store(rows::SNOW_LIQUID)) + store(rows::CANOPY_A)) + store(rows::CANOPY_B)) + store(rows::SURFACE_STORAGE));
    {
        M on_1 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            water = (water + soil(rows::WORK_WATER, layer));
        }
    }
    return water;
}

// A canopy that snow covers holds nothing: its water and the rain go to the ground; the drip, m.
template <typename store_t>
static inline V stage_surface__drain_canopy(M on, int canopy_row, Real rain, store_t& store) {
    V drip{};
    drip = (store(canopy_row) + wide(rain));
    store(canopy_row) = pick(on, wide(Real(0.0)), store(canopy_row));
    return drip;
}

// Net radiation of a surface with the given albedo, W m-2; eq. (3.19).
static inline V stage_surface__net_radiation(M on, stage_surface__Air air, V albedo) {
    return (((wide(Real(1.0)) - albedo) * air.shortwave) + air.longwave_net);
}

// Numerator of Penman's equation, Pa K-1 W m-2.
static inline V evapotranspiration___supply_of_energy(M on, V available, V slope, V heat_capacity, V deficit, V resistance) {
    return ((slope * available) + ((heat_capacity * deficit) / resistance));
}

// Evaporation of a wet surface, m s-1 (negative: condensation); eq. (6.1), Penman.
static inline V evapotranspiration__penman(M on, V available, V slope, V gamma, V heat, V heat_capacity, V deficit, V resistance) {
    V energy{};
    energy = evapotranspiration___supply_of_energy(on, available, slope, heat_capacity, deficit, resistance);
    return (energy / ((wide(constants__WATER_DENSITY) * heat) * (slope + gamma)));
}

// Penman evaporation of a wet surface, m s-1, not below 0 (condensation is left out of the balance).
static inline V stage_surface__wet_surface_rate(M on, stage_surface__Air air, V radiation, V ground_heat, V resistance_factor) {
    V resistance{};
    resistance = (resistance_factor / air.wind);
    return max(wide(Real(0.0)), evapotranspiration__penman(on, (radiation - ground_heat), air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity, air.deficit, resistance));
}

// Water left on a canopy after ``time`` s of drying at the potential ``rate`` (m s-1), m; eq. (5.4).
static inline V interception__dry_canopy(M on, V water, V capacity, V rate, V time) {
    V fill{};
    V left{};
    V answer{};
    M done = mask(false);
    {
        const M if_1 = (M(water <= wide(Real(0.0))) | M(capacity <= wide(Real(0.0))));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(0.0)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    fill = pow((min(water, capacity) / capacity), wide((Real(1.0) / Real(3.0))));
    left = max(wide(Real(0.0)), (fill - ((rate * time) / (wide(Real(3.0)) * capacity))));
    answer = pick(on, min(water, (((capacity * left) * left) * left)), answer);
    return answer;
    return answer;
}

// Advance a canopy through a step whose wet part comes first; eqs. (5.2) to (5.4).
static inline interception__CanopyStep interception__canopy_step(M on, V water, V rain, V capacity, V potential, V wet_time, V dry_time) {
    V drip{};
    V evaporation{};
    V half{};
    V full{};
    V spilled{};
    V left{};
    V more{};
    interception__CanopyStep answer{};
    M done = mask(false);
    drip = max(wide(Real(0.0)), (water - capacity));
    water = (water - drip);
    {
        const M if_1 = M(capacity <= wide(Real(0.0)));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, interception__CanopyStep{wide(Real(0.0)), wide(Real(0.0)), (drip + rain)}, answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    evaporation = wide(Real(0.0));
    {
        const M if_3 = M(rain > wide(Real(0.0)));
        M on_4 = on & if_3;
        if (any(on_4)) {
            half = ((wide(Real(0.5)) * rain) / wide(Real(interception___WET_PARTS)));
            {
                M on_6 = on_4;
                for (int turn_5 = 0; turn_5 < interception___WET_PARTS; ++turn_5) {
                    full = (water + half);
                    spilled = max(wide(Real(0.0)), (full - capacity));
                    full = (full - spilled);
                    left = pick(on_4, interception__dry_canopy(on_4, full, capacity, potential, (wet_time / wide(Real(interception___WET_PARTS)))), left);
                    evaporation = pick(on_4, (evaporation + (full - left)), evaporation);
                    full = (left + half);
                    more = max(wide(Real(0.0)), (full - capacity));
                    water = pick(on_4, (full - more), water);
                    drip = pick(on_4, (drip + (spilled + more)), drip);
                }
            }
        }
        M on_7 = on & ~if_3;
        if (any(on_7)) {
            {
                const M if_8 = M(wet_time > wide(Real(0.0)));
                M on_9 = on_7 & if_8;
                if (any(on_9)) {
                    left = pick(on_9, interception__dry_canopy(on_9, water, capacity, potential, wet_time), left);
                    evaporation = pick(on_9, (evaporation + (water - left)), evaporation);
                    water = pick(on_9, left, water);
                }
            }
        }
    }
    left = interception__dry_canopy(on, water, capacity, potential, dry_time);
    evaporation = (evaporation + (water - left));
    answer = pick(on, interception__CanopyStep{left, evaporation, drip}, answer);
    return answer;
    return answer;
}

// Share of the roots above ``depth``, 0 to 1; eq. (6.11). Both depths in m.
static inline V evapotranspiration__root_fraction_above(M on, V depth, V root_depth) {
    V x{};
    x = min(wide(Real(1.0)), (depth / root_depth));
    return ((wide(Real(1.8)) * x) - ((wide(Real(0.8)) * x) * x));
}

// Moisture factor f4, 0 to 1; eq. (6.10). Root-weighted water, wilting point and critical content, one unit.
static inline V evapotranspiration__jarvis_moisture(M on, V root, V wilting, V critical) {
    V answer{};
    M done = mask(false);
    {
        const M if_1 = M(root >= critical);
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(1.0)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    {
        const M if_3 = M(root <= wilting);
        M on_4 = on & if_3;
        {
            answer = pick(on_4, wide(Real(0.0)), answer);
            done |= on_4;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, ((root - wilting) / (critical - wilting)), answer);
    return answer;
    return answer;
}

// Moisture factor f4 of the root zone; leaves each layer's root share in WORK_ROOT (they add to 1).
template <typename soil_t>
static inline V stage_surface__root_moisture(M on, soil_t& soil, int n_layers, V root_depth) {
    V bottom{};
    V whole{};
    V above{};
    V water{};
    V wilting{};
    V critical{};
    V thickness{};
    V here{};
    V share{};
    V weight{};
    bottom = wide(Real(0.0));
    {
        M on_1 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            bottom = (bottom + soil(rows::LAYER_THICKNESS, layer));
        }
    }
    whole = evapotranspiration__root_fraction_above(on, bottom, root_depth);
    above = wide(Real(0.0));
    bottom = wide(Real(0.0));
    const Real part_2 = Real(0.0);
    const Real part_3 = Real(0.0);
    const Real part_4 = Real(0.0);
    water = wide(part_2);
    wilting = wide(part_3);
    critical = wide(part_4);
    {
        M on_5 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            thickness = soil(rows::LAYER_THICKNESS, layer);
            bottom = (bottom + thickness);
            here = (evapotranspiration__root_fraction_above(on, bottom, root_depth) / whole);
            share = (here - above);
            above = here;
            soil(rows::WORK_ROOT, layer) = pick(on, share, soil(rows::WORK_ROOT, layer));
            weight = (share / thickness);
            water = (water + (weight * soil(rows::WORK_WATER, layer)));
            wilting = (wilting + (weight * soil(rows::WILTING_WATER, layer)));
            critical = (critical + (weight * soil(rows::FIELD_CAPACITY_WATER, layer)));
        }
    }
    return evapotranspiration__jarvis_moisture(on, water, wilting, critical);
}

// Light factor f3, rs_min/rs_max to 1; eq. (6.9).
static inline V evapotranspiration__jarvis_light(M on, V shortwave, V critical, V leaf_area_index, V rs_min, Real rs_max) {
    V light{};
    V answer{};
    M done = mask(false);
    {
        const M if_1 = M(leaf_area_index <= wide(Real(0.0)));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, (rs_min / wide(rs_max)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    light = ((wide((Real(0.55) * Real(2.0))) * shortwave) / (critical * leaf_area_index));
    answer = pick(on, ((light + (rs_min / wide(rs_max))) / (wide(Real(1.0)) + light)), answer);
    return answer;
    return answer;
}

// Temperature factor f1, 0.001 to 1, at ``temperature`` degC; eq. (6.7).
static inline V evapotranspiration__jarvis_temperature(M on, V temperature) {
    return max(wide(Real(0.001)), (wide(Real(1.0)) - (wide(Real(0.0016)) * power<2>((wide(Real(25.0)) - temperature)))));
}

// Humidity factor f2, 0.001 to 1, from the deficit and its critical value (Pa); eq. (6.8).
static inline V evapotranspiration__jarvis_humidity(M on, V deficit, Real critical) {
    return max(wide(Real(0.001)), (wide(Real(1.0)) - (deficit / wide(critical))));
}

// Canopy resistance, s m-1, at most ``rs_max``; eq. (6.6), Jarvis. ``active_leaf_area`` is the active LAI.
static inline V evapotranspiration__canopy_resistance(M on, V rs_min, V active_leaf_area, V f1, V f2, V f3, V f4, Real rs_max) {
    V openness{};
    V answer{};
    M done = mask(false);
    openness = ((((active_leaf_area * f1) * f2) * f3) * f4);
    {
        const M if_1 = M((openness * wide(rs_max)) <= rs_min);
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(rs_max), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, (rs_min / openness), answer);
    return answer;
    return answer;
}

// Transpiration of a fully covering dry canopy, m s-1; eq. (6.2), Penman-Monteith.
static inline V evapotranspiration__penman_monteith(M on, V available, V slope, V gamma, V heat, V heat_capacity, V deficit, V resistance, V canopy_resistance) {
    V energy{};
    energy = evapotranspiration___supply_of_energy(on, available, slope, heat_capacity, deficit, resistance);
    return (energy / ((wide(constants__WATER_DENSITY) * heat) * (slope + (gamma * (wide(Real(1.0)) + (canopy_resistance / resistance))))));
}

// Interception and transpiration of one vegetation kind; adds its draw per layer to WORK_TRANSPIRATION (m s-1).
template <typename option_t, typename vegetation_t, typename store_t, typename flux_t, typename soil_t>
static inline stage_surface__Canopy stage_surface__canopy(M on, V kind, V share, int canopy_row, stage_surface__Air air, V ground_heat, Real dt, int step, option_t& option, vegetation_t& vegetation, store_t& store, flux_t& flux, soil_t& soil, int n_layers) {
    V leaf_area{};
    V cover{};
    V radiation{};
    V factor{};
    V wet{};
    V capacity{};
    interception__CanopyStep result{};
    V potential{};
    V wet_share{};
    V f4{};
    V rs_min{};
    Real rs_max;
    V f3{};
    V resistance{};
    V rate{};
    V transpiration{};
    leaf_area = at(on, vegetation, rows::KIND_LEAF_AREA_INDEX, step, kind);
    cover = (share * at(on, vegetation, rows::KIND_COVER, step, kind));
    radiation = stage_surface__net_radiation(on, air, at(on, vegetation, rows::KIND_ALBEDO, step, kind));
    factor = at(on, vegetation, rows::KIND_AERODYNAMIC_FACTOR, step, kind);
    wet = stage_surface__wet_surface_rate(on, air, radiation, ground_heat, factor);
    capacity = ((wide(Real(option(rows::CANOPY_STORAGE_PER_LEAF_AREA))) * cover) * leaf_area);
    result = interception__canopy_step(on, store(canopy_row), (cover * air.rain), capacity, (cover * wet), air.wet_time, air.dry_time);
    store(canopy_row) = pick(on, result.water, store(canopy_row));
    flux(rows::CANOPY_EVAPORATION) = pick(on, (flux(rows::CANOPY_EVAPORATION) + result.evaporation), flux(rows::CANOPY_EVAPORATION));
    flux(rows::POTENTIAL_EVAPORATION) = pick(on, (flux(rows::POTENTIAL_EVAPORATION) + ((cover * wet) * wide(dt))), flux(rows::POTENTIAL_EVAPORATION));
    potential = ((cover * wet) * wide(dt));
    wet_share = pick(M(potential > wide(Real(0.0))), min(wide(Real(1.0)), (result.evaporation / potential)), wide(Real(0.0)));
    f4 = stage_surface__root_moisture(on, soil, n_layers, at(on, vegetation, rows::KIND_ROOT_DEPTH, step, kind));
    rs_min = at(on, vegetation, rows::KIND_STOMATAL_RESISTANCE, step, kind);
    rs_max = Real(option(rows::RS_MAX));
    f3 = evapotranspiration__jarvis_light(on, air.daylight_shortwave, at(on, vegetation, rows::KIND_CRITICAL_RADIATION, step, kind), leaf_area, rs_min, rs_max);
    resistance = evapotranspiration__canopy_resistance(on, rs_min, (wide(Real(option(rows::ACTIVE_LEAF_SHARE))) * leaf_area), evapotranspiration__jarvis_temperature(on, air.temperature), evapotranspiration__jarvis_humidity(on, air.deficit, Real(option(rows::CRITICAL_VAPOUR_PRESSURE_DEFICIT))), f3, f4, rs_max);
    rate = evapotranspiration__penman_monteith(on, (radiation - ground_heat), air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity, air.deficit, (factor / air.wind), resistance);
    transpiration = pick(M(f4 > wide(Real(0.0))), ((cover * (wide(Real(1.0)) - wet_share)) * max(wide(Real(0.0)), rate)), wide(Real(0.0)));
    {
        M on_1 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            soil(rows::WORK_TRANSPIRATION, layer) = pick(on, (soil(rows::WORK_TRANSPIRATION, layer) + (transpiration * soil(rows::WORK_ROOT, layer))), soil(rows::WORK_TRANSPIRATION, layer));
        }
    }
    return stage_surface__Canopy{cover, transpiration, result.drip, (cover * radiation)};
}

// Net radiation of a surface with the given albedo, W m-2; eq. (3.19).
static inline V stage_surface__net_radiation(M on, stage_surface__Air air, Real albedo) {
    return ((wide((Real(1.0) - albedo)) * air.shortwave) + air.longwave_net);
}

// Penman rate of a snow surface, m s-1, with the heat of sublimation in place of that of vaporisation.
static inline V stage_surface__sublimation_rate(M on, stage_surface__Air air, V radiation, V ground_heat, Real resistance_factor) {
    V heat{};
    V gamma{};
    heat = (air.vaporisation_heat + wide(constants__FUSION_HEAT));
    gamma = ((air.gamma * air.vaporisation_heat) / heat);
    return max(wide(Real(0.0)), evapotranspiration__penman(on, (radiation - ground_heat), air.slope, gamma, heat, air.heat_capacity, air.deficit, (wide(resistance_factor) / air.wind)));
}

// Advance a pack through one step; eqs. (4.2) to (4.4).
static inline snow__SnowStep snow__snow_step(M on, V ice, V liquid, V rain, V snowfall, V temperature, V potential_sublimation, Real dt, V factor, Real melt_temperature, Real liquid_share, Real refreezing_share) {
    V sublimation{};
    V warmth{};
    V melt{};
    V frozen{};
    V outflow{};
    ice = (ice + snowfall);
    liquid = (liquid + rain);
    sublimation = min(ice, potential_sublimation);
    ice = (ice - sublimation);
    warmth = (temperature - wide(melt_temperature));
    {
        const M if_1 = M(warmth > wide(Real(0.0)));
        M on_2 = on & if_1;
        {
            melt = min(ice, ((factor * warmth) * wide(dt)));
            ice = pick(on_2, (ice - melt), ice);
            liquid = pick(on_2, (liquid + melt), liquid);
        }
        M on_3 = on & ~if_1;
        {
            frozen = pick(M(ice > wide(Real(0.0))), min(liquid, (((wide((-refreezing_share)) * factor) * warmth) * wide(dt))), wide(Real(0.0)));
            ice = pick(on_3, (ice + frozen), ice);
            liquid = pick(on_3, (liquid - frozen), liquid);
        }
    }
    outflow = max(wide(Real(0.0)), (liquid - (wide(liquid_share) * ice)));
    return snow__SnowStep{ice, (liquid - outflow), outflow, sublimation};
}

// Advance the pack under ``rain`` (m) that reaches it; ``share`` of the tile sublimates. Outflow (m), radiation.
template <typename option_t, typename store_t, typename flux_t>
static inline Tuple2<V, V> stage_surface__snow_pack(M on, V rain, V share, stage_surface__Air air, V ground_heat, Real dt, V factor, option_t& option, store_t& store, flux_t& flux) {
    V radiation{};
    M lies{};
    V potential{};
    snow__SnowStep pack{};
    radiation = stage_surface__net_radiation(on, air, Real(option(rows::SNOW_ALBEDO)));
    lies = M(((store(rows::SNOW_ICE) + store(rows::SNOW_LIQUID)) + air.snow) > wide(Real(0.0)));
    potential = wide(Real(0.0));
    {
        const M if_1 = lies;
        M on_2 = on & if_1;
        if (any(on_2)) {
            potential = pick(on_2, ((share * wide(dt)) * stage_surface__sublimation_rate(on_2, air, radiation, ground_heat, Real(option(rows::WATER_AERODYNAMIC_FACTOR)))), potential);
        }
    }
    pack = snow__snow_step(on, store(rows::SNOW_ICE), store(rows::SNOW_LIQUID), rain, air.snow, air.temperature, potential, dt, factor, Real(option(rows::MELT_TEMPERATURE)), Real(option(rows::SNOW_LIQUID_SHARE)), Real(option(rows::REFREEZING_SHARE)));
    store(rows::SNOW_ICE) = pick(on, pack.ice, store(rows::SNOW_ICE));
    store(rows::SNOW_LIQUID) = pick(on, pack.liquid, store(rows::SNOW_LIQUID));
    flux(rows::SNOW_SUBLIMATION) = pick(on, (flux(rows::SNOW_SUBLIMATION) + pack.sublimation), flux(rows::SNOW_SUBLIMATION));
    flux(rows::POTENTIAL_EVAPORATION) = pick(on, (flux(rows::POTENTIAL_EVAPORATION) + potential), flux(rows::POTENTIAL_EVAPORATION));
    return Tuple2<V, V>{pack.outflow, (share * radiation)};
}

// Wetness factor of a soil surface, 0 to 1; eq. (6.4), Lee and Pielke 1992.
static inline V evapotranspiration__soil_wetness(M on, V water, V dry, V field_capacity) {
    V answer{};
    M done = mask(false);
    {
        const M if_1 = M(water <= dry);
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(0.0)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    {
        const M if_3 = M(water >= field_capacity);
        M on_4 = on & if_3;
        {
            answer = pick(on_4, wide(Real(1.0)), answer);
            done |= on_4;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, (wide(Real(0.25)) * power<2>((wide(Real(1.0)) - cos(((wide(Real(3.141592653589793)) * (water - dry)) / (field_capacity - dry)))))), answer);
    return answer;
    return answer;
}

// Evaporation of bare soil, m s-1; eq. (6.3), WEP. Arguments as :func:`penman`, ``wetness`` 0 to 1.
static inline V evapotranspiration__bare_soil_evaporation(M on, V available, V slope, V gamma, V heat, V heat_capacity, V deficit, V resistance, V wetness) {
    V energy{};
    energy = evapotranspiration___supply_of_energy(on, available, slope, heat_capacity, deficit, resistance);
    return ((wetness * energy) / ((wide(constants__WATER_DENSITY) * heat) * ((wetness * slope) + gamma)));
}

// Demand of bare soil over ``share`` of the tile: wet where water stands on it, dry where it must come up.
template <typename soil_t>
static inline stage_surface__Demand stage_surface__bare_ground(M on, V share, stage_surface__Air air, V ground_heat, V albedo, Real resistance_factor, soil_t& soil) {
    V radiation{};
    V resistance{};
    V available{};
    V beta{};
    V wet{};
    V dry{};
    radiation = stage_surface__net_radiation(on, air, albedo);
    resistance = (wide(resistance_factor) / air.wind);
    available = (radiation - ground_heat);
    beta = evapotranspiration__soil_wetness(on, soil(rows::WORK_WATER, 0), soil(rows::DRY_WATER, 0), soil(rows::FIELD_CAPACITY_WATER, 0));
    wet = evapotranspiration__penman(on, available, air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity, air.deficit, resistance);
    dry = evapotranspiration__bare_soil_evaporation(on, available, air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity, air.deficit, resistance, beta);
    return stage_surface__Demand{(share * max(wide(Real(0.0)), wet)), (share * max(wide(Real(0.0)), dry)), (share * radiation)};
}

// Whether the water that reaches the ground (m in ``dt`` s) makes this a Green-Ampt step; eq. (2.1).
template <typename option_t, typename store_t, typename soil_t>
static inline M stage_ground__is_heavy(M on, V supply, Real dt, option_t& option, store_t& store, soil_t& soil) {
    int rule;
    M going_on{};
    M answer{};
    M done = mask(false);
    rule = int(Real(option(rows::INFILTRATION_SWITCH)));
    if ((rule == rows::AUTOMATIC)) {
        rule = ((dt >= constants__DAY) ? rows::DAILY_DEPTH : rows::RATE);
    }
    if ((rule == rows::ALWAYS)) {
        answer = pick(on, M(supply > wide(Real(0.0))), answer);
        return answer;
    }
    if ((rule == rows::NEVER)) {
        answer = pick(on, mask(false), answer);
        return answer;
    }
    if ((rule == rows::DAILY_DEPTH)) {
        answer = pick(on, M(((supply * wide(constants__DAY)) / wide(dt)) > wide(Real(option(rows::HEAVY_RAIN_DEPTH)))), answer);
        return answer;
    }
    going_on = (M(store(rows::EVENT_ACTIVE) > wide(Real(0.0))) & (M(supply > wide(Real(0.0))) | M(store(rows::SURFACE_STORAGE) > wide(stage_ground___PONDED))));
    answer = pick(on, (going_on | M(supply > (soil(rows::LAYER_CONDUCTIVITY, 0) * wide(dt)))), answer);
    return answer;
    return answer;
}

// Effective saturation of a layer, 0 to 1; eq. (7.1).
template <typename soil_t>
static inline V stage_soil_water___saturation(M on, soil_t& soil, int layer) {
    V residual{};
    V span{};
    residual = soil(rows::RESIDUAL_WATER, layer);
    span = (soil(rows::SATURATED_WATER, layer) - residual);
    return max(wide(Real(0.0)), min(wide(Real(1.0)), ((soil(rows::WORK_WATER, layer) - residual) / span)));
}

// Hydraulic conductivity in the unit of ``saturated``; eq. (7.3), Mualem power.
static inline V soil_hydraulics__conductivity(M on, V saturation, V saturated, V exponent) {
    V answer{};
    M done = mask(false);
    {
        const M if_1 = M(saturation <= wide(Real(0.0)));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(0.0)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, (saturated * pow(min(wide(Real(1.0)), saturation), exponent)), answer);
    return answer;
    return answer;
}

// Saturation and conductivity of a layer into its scratch rows.
template <typename soil_t>
static inline void stage_soil_water___set_conductivity(M on, soil_t& soil, int layer) {
    V saturation{};
    saturation = stage_soil_water___saturation(on, soil, layer);
    soil(rows::WORK_SATURATION, layer) = pick(on, saturation, soil(rows::WORK_SATURATION, layer));
    soil(rows::WORK_CONDUCTIVITY, layer) = pick(on, soil_hydraulics__conductivity(on, saturation, soil(rows::LAYER_CONDUCTIVITY, layer), soil(rows::CONDUCTIVITY_EXPONENT, layer)), soil(rows::WORK_CONDUCTIVITY, layer));
}

// How much finer than ``part_dt`` (s) the parts of a step must be: 1, 2 or 4.
template <typename soil_t>
static inline V stage_soil_water__parts_factor(M on, soil_t& soil, int n_layers, V part_dt) {
    V fastest{};
    V water{};
    V change{};
    V answer{};
    M done = mask(false);
    fastest = wide(Real(0.0));
    {
        M on_1 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            stage_soil_water___set_conductivity(on, soil, layer);
            water = (soil(rows::WORK_WATER, layer) - soil(rows::RESIDUAL_WATER, layer));
            change = ((soil(rows::CONDUCTIVITY_EXPONENT, layer) * soil(rows::WORK_CONDUCTIVITY, layer)) * part_dt);
            {
                const M if_2 = (M(water > wide(Real(0.0))) & M(change > (fastest * water)));
                M on_3 = on & if_2;
                {
                    fastest = pick(on_3, (change / water), fastest);
                }
            }
        }
    }
    {
        const M if_4 = M(fastest <= wide(Real(0.1)));
        M on_5 = on & if_4;
        {
            answer = pick(on_5, wide(Real(1)), answer);
            done |= on_5;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, pick(M(fastest <= wide(Real(0.4))), wide(Real(2)), wide(Real(4))), answer);
    return answer;
    return answer;
}

// Share of the depth fallen by ``share`` of the storm's length; eq. (2.3).
static inline V rain_pattern___fallen(M on, V share) {
    V rest{};
    V answer{};
    M done = mask(false);
    {
        const M if_1 = M(share <= wide(Real(0.0)));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(0.0)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    {
        const M if_3 = M(share >= wide(Real(1.0)));
        M on_4 = on & if_3;
        {
            answer = pick(on_4, wide(Real(1.0)), answer);
            done |= on_4;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    {
        const M if_5 = M(share <= wide(rain_pattern___PEAK));
        M on_6 = on & if_5;
        {
            answer = pick(on_6, ((share * share) / wide(rain_pattern___PEAK)), answer);
            done |= on_6;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    rest = (wide(Real(1.0)) - share);
    answer = pick(on, (wide(Real(1.0)) - ((rest * rest) / wide((Real(1.0) - rain_pattern___PEAK)))), answer);
    return answer;
    return answer;
}

// Rain, m, between ``start`` and ``end`` (s since the day began) of a day with ``depth`` m; eq. (2.3).
static inline V rain_pattern__storm_depth(M on, V depth, V start, V end) {
    V duration{};
    V begin{};
    duration = rain_pattern__storm_duration(on, depth);
    begin = (wide(Real(0.5)) * (wide(constants__DAY) - duration));
    return (depth * (rain_pattern___fallen(on, ((end - begin) / duration)) - rain_pattern___fallen(on, ((start - begin) / duration))));
}

// Keep each layer's moisture deficit at the start of an event in WORK_DEFICIT.
template <typename soil_t>
static inline void stage_infiltration__begin_event(M on, soil_t& soil, int n_layers) {
    V room{};
    {
        M on_1 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            room = (soil(rows::SATURATED_WATER, layer) - soil(rows::WORK_WATER, layer));
            soil(rows::WORK_DEFICIT, layer) = pick(on, max(wide(Real(0.0)), (room / soil(rows::LAYER_THICKNESS, layer))), soil(rows::WORK_DEFICIT, layer));
        }
    }
}

// A Green-Ampt event begins with the deficits of this moment, and ends when neither rain nor ponding is left.
template <typename store_t, typename soil_t>
static inline void stage_ground__begin_or_end_event(M on, M wet, store_t& store, soil_t& soil, int n_layers) {
    {
        const M if_1 = (wet & M(store(rows::EVENT_ACTIVE) == wide(Real(0.0))));
        M on_2 = on & if_1;
        if (any(on_2)) {
            stage_infiltration__begin_event(on_2, soil, n_layers);
            store(rows::EVENT_ACTIVE) = pick(on_2, wide(Real(1.0)), store(rows::EVENT_ACTIVE));
            store(rows::EVENT_INFILTRATION) = pick(on_2, wide(Real(0.0)), store(rows::EVENT_INFILTRATION));
        }
    }
    {
        const M if_3 = ~(wet);
        M on_4 = on & if_3;
        {
            store(rows::EVENT_ACTIVE) = pick(on_4, wide(Real(0.0)), store(rows::EVENT_ACTIVE));
            store(rows::EVENT_INFILTRATION) = pick(on_4, wide(Real(0.0)), store(rows::EVENT_INFILTRATION));
        }
    }
}

// Take evaporation (m s-1) from the top layer and WORK_TRANSPIRATION (m s-1) from each, within their limits.
template <typename soil_t>
static inline stage_soil_water__Draw stage_soil_water__draw_part(M on, soil_t& soil, int n_layers, V dt, V soil_evaporation_rate) {
    V wanted{};
    V evaporation{};
    V transpiration{};
    V taken{};
    wanted = (soil_evaporation_rate * dt);
    evaporation = max(wide(Real(0.0)), min(wanted, (soil(rows::WORK_WATER, 0) - soil(rows::DRY_WATER, 0))));
    soil(rows::WORK_WATER, 0) = pick(on, (soil(rows::WORK_WATER, 0) - evaporation), soil(rows::WORK_WATER, 0));
    transpiration = wide(Real(0.0));
    {
        M on_1 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            wanted = (soil(rows::WORK_TRANSPIRATION, layer) * dt);
            taken = max(wide(Real(0.0)), min(wanted, (soil(rows::WORK_WATER, layer) - soil(rows::WILTING_WATER, layer))));
            soil(rows::WORK_WATER, layer) = pick(on, (soil(rows::WORK_WATER, layer) - taken), soil(rows::WORK_WATER, layer));
            transpiration = (transpiration + taken);
        }
    }
    return stage_soil_water__Draw{evaporation, transpiration};
}

// Evaporation of one part: from standing water first, then from the top layer and the roots.
template <typename store_t, typename flux_t, typename soil_t>
static inline void stage_ground__ground_draws(M on, stage_surface__Demand bare, V dt, store_t& store, flux_t& flux, soil_t& soil, int n_layers) {
    V wanted{};
    V standing{};
    V rest{};
    stage_soil_water__Draw draw{};
    wanted = (bare.wet * dt);
    standing = min(max(wide(Real(0.0)), store(rows::SURFACE_STORAGE)), wanted);
    store(rows::SURFACE_STORAGE) = pick(on, (store(rows::SURFACE_STORAGE) - standing), store(rows::SURFACE_STORAGE));
    rest = pick(M(wanted > wide(Real(0.0))), (wide(Real(1.0)) - (standing / wanted)), wide(Real(0.0)));
    draw = stage_soil_water__draw_part(on, soil, n_layers, dt, (bare.dry * rest));
    flux(rows::SURFACE_EVAPORATION) = pick(on, (flux(rows::SURFACE_EVAPORATION) + standing), flux(rows::SURFACE_EVAPORATION));
    flux(rows::SOIL_EVAPORATION) = pick(on, (flux(rows::SOIL_EVAPORATION) + draw.soil_evaporation), flux(rows::SOIL_EVAPORATION));
    flux(rows::TRANSPIRATION) = pick(on, (flux(rows::TRANSPIRATION) + draw.transpiration), flux(rows::TRANSPIRATION));
}

// Water, m, that drains in ``time`` s from ``water`` m above the residual; eq. (9.4) as a share of what is there.
static inline V soil_water__drained(M on, V water, V conductivity, V exponent, V time) {
    V x{};
    V answer{};
    M done = mask(false);
    {
        const M if_1 = (M(water <= wide(Real(0.0))) | M(conductivity <= wide(Real(0.0))));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(0.0)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    x = ((((exponent - wide(Real(1.0))) * conductivity) * time) / water);
    answer = pick(on, ((-water) * expm1(((-log1p(x)) / (exponent - wide(Real(1.0)))))), answer);
    return answer;
    return answer;
}

// Mean, m, over ``time`` s of what a draining layer holds above ``threshold``; the integral of eq. (9.4).
static inline V soil_water__mean_above(M on, V water, V threshold, V conductivity, V exponent, V time) {
    V power{};
    V speed{};
    V above{};
    V fall{};
    V wet{};
    V growth{};
    V until{};
    V order{};
    V integral{};
    V answer{};
    M done = mask(false);
    power = (exponent - wide(Real(1.0)));
    speed = ((power * conductivity) / water);
    {
        const M if_1 = M((speed * time) < wide(Real(1e-06)));
        M on_2 = on & if_1;
        {
            const V part_3 = (water - threshold);
            const V part_4 = (conductivity * time);
            above = part_3;
            fall = part_4;
            answer = pick(on_2, pick(M(fall <= above), (above - (wide(Real(0.5)) * fall)), (((wide(Real(0.5)) * above) * above) / fall)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    wet = time;
    growth = log1p((speed * time));
    {
        const M if_5 = M(threshold > wide(Real(0.0)));
        M on_6 = on & if_5;
        if (any(on_6)) {
            until = (power * log((water / threshold)));
            {
                const M if_7 = M(until < growth);
                M on_8 = on_6 & if_7;
                if (any(on_8)) {
                    growth = pick(on_8, until, growth);
                    wet = pick(on_8, (expm1(until) / speed), wet);
                }
            }
        }
    }
    order = (wide(Real(1.0)) - (wide(Real(1.0)) / power));
    {
        const M if_9 = M(order != wide(Real(0.0)));
        M on_10 = on & if_9;
        if (any(on_10)) {
            growth = pick(on_10, (expm1((order * growth)) / order), growth);
        }
    }
    integral = ((water * growth) / speed);
    answer = pick(on, max(wide(Real(0.0)), ((integral - (threshold * wet)) / time)), answer);
    return answer;
    return answer;
}

// Gravity drainage and interflow of a layer at once; eqs. (9.4) and (10.1), second order in ``time``.
static inline soil_water__Drainage soil_water__drain_layer(M on, V water, V threshold, V capacity, V conductivity, V saturated_conductivity, V exponent, V side_factor, V time) {
    V rate{};
    V above{};
    V mean{};
    V sideways{};
    V left{};
    V down{};
    soil_water__Drainage answer{};
    M done = mask(false);
    {
        const M if_1 = (M(side_factor <= wide(Real(0.0))) | M(water <= threshold));
        M on_2 = on & if_1;
        if (any(on_2)) {
            answer = pick(on_2, soil_water__Drainage{soil_water__drained(on_2, water, conductivity, exponent, time), wide(Real(0.0))}, answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    rate = ((side_factor * saturated_conductivity) / (capacity - threshold));
    above = (min(water, capacity) - threshold);
    mean = min(above, soil_water__mean_above(on, water, threshold, conductivity, exponent, time));
    sideways = ((-above) * expm1(((((-rate) * mean) * time) / above)));
    left = (water - (wide(Real(0.5)) * sideways));
    down = soil_water__drained(on, left, (conductivity * pow((left / water), exponent)), exponent, time);
    answer = pick(on, soil_water__Drainage{min(down, (water - sideways)), sideways}, answer);
    return answer;
    return answer;
}

// Drain one layer whose conductivity is in scratch; the Drainage has left it.
template <typename soil_t>
static inline soil_water__Drainage stage_soil_water___drain(M on, soil_t& soil, int layer, V dt, V interflow_factor) {
    V residual{};
    soil_water__Drainage gone{};
    residual = soil(rows::RESIDUAL_WATER, layer);
    gone = soil_water__drain_layer(on, (soil(rows::WORK_WATER, layer) - residual), (soil(rows::FIELD_CAPACITY_WATER, layer) - residual), (soil(rows::SATURATED_WATER, layer) - residual), soil(rows::WORK_CONDUCTIVITY, layer), soil(rows::LAYER_CONDUCTIVITY, layer), soil(rows::CONDUCTIVITY_EXPONENT, layer), (interflow_factor * soil(rows::LAYER_THICKNESS, layer)), dt);
    soil(rows::WORK_WATER, layer) = pick(on, (soil(rows::WORK_WATER, layer) - gone.down), soil(rows::WORK_WATER, layer));
    soil(rows::WORK_WATER, layer) = pick(on, (soil(rows::WORK_WATER, layer) - gone.sideways), soil(rows::WORK_WATER, layer));
    return gone;
}

// What of the lowest layer's drainage the ground below takes, at most ``limit`` m, the rest stays; eq. (9.6).
template <typename soil_t>
static inline V stage_soil_water___percolate(M on, soil_t& soil, int n_layers, V drained, V limit) {
    V percolation{};
    percolation = min(drained, limit);
    soil(rows::WORK_WATER, (n_layers - 1)) = pick(on, (soil(rows::WORK_WATER, (n_layers - 1)) + (drained - percolation)), soil(rows::WORK_WATER, (n_layers - 1)));
    return percolation;
}

// Interflow of every layer and percolation from the lowest, which go on in a Green-Ampt step; a SoilPart.
template <typename soil_t>
static inline stage_soil_water__SoilPart stage_soil_water__heavy_part(M on, soil_t& soil, int n_layers, V dt, V interflow_factor, V bedrock_conductivity) {
    V interflow{};
    V percolation{};
    bool lowest;
    soil_water__Drainage gone{};
    const Real part_1 = Real(0.0);
    const Real part_2 = Real(0.0);
    interflow = wide(part_1);
    percolation = wide(part_2);
    {
        M on_3 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            lowest = (layer == (n_layers - 1));
            {
                const M if_4 = (mask(lowest) | (M(interflow_factor > wide(Real(0.0))) & M(soil(rows::WORK_WATER, layer) > soil(rows::FIELD_CAPACITY_WATER, layer))));
                M on_5 = on & if_4;
                if (any(on_5)) {
                    stage_soil_water___set_conductivity(on_5, soil, layer);
                    gone = stage_soil_water___drain(on_5, soil, layer, dt, interflow_factor);
                    interflow = pick(on_5, (interflow + gone.sideways), interflow);
                    if (lowest) {
                        percolation = pick(on_5, stage_soil_water___percolate(on_5, soil, n_layers, gone.down, (bedrock_conductivity * dt)), percolation);
                    } else {
                        soil(rows::WORK_WATER, layer) = pick(on_5, (soil(rows::WORK_WATER, layer) + gone.down), soil(rows::WORK_WATER, layer));
                    }
                }
            }
        }
    }
    return stage_soil_water__SoilPart{wide(Real(0.0)), interflow, percolation};
}

// The layer that ``infiltration`` m of the event have reached; layer ``n_layers`` when all are full.
template <typename soil_t>
static inline stage_infiltration__Front stage_infiltration__find_front(M on, soil_t& soil, int n_layers, V infiltration) {
    V depth{};
    V resistance{};
    V filled{};
    V thickness{};
    V deficit{};
    V k{};
    V bottom{};
    V a{};
    V b{};
    stage_infiltration__Front answer{};
    M done = mask(false);
    const Real part_1 = Real(0.0);
    const Real part_2 = Real(0.0);
    const Real part_3 = Real(0.0);
    depth = wide(part_1);
    resistance = wide(part_2);
    filled = wide(part_3);
    {
        M on_4 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            if (!any(on_4)) { break; }
            thickness = soil(rows::LAYER_THICKNESS, layer);
            deficit = soil(rows::WORK_DEFICIT, layer);
            k = soil(rows::LAYER_CONDUCTIVITY, layer);
            bottom = (filled + (thickness * deficit));
            {
                const M if_5 = M(infiltration < bottom);
                M on_6 = on_4 & if_5;
                {
                    a = (((depth - (resistance * k)) + soil(rows::FRONT_SUCTION, layer)) * deficit);
                    b = (((resistance * k) * deficit) - filled);
                    answer = pick(on_6, stage_infiltration__Front{wide(Real(layer)), filled, bottom, k, a, b}, answer);
                    done |= on_6;
                }
            }
            on_4 &= ~done;
            depth = pick(on_4, (depth + thickness), depth);
            resistance = pick(on_4, (resistance + (thickness / k)), resistance);
            filled = pick(on_4, bottom, filled);
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, stage_infiltration__Front{wide(Real(n_layers)), filled, filled, wide(Real(0.0)), wide(Real(0.0)), wide(Real(0.0))}, answer);
    return answer;
    return answer;
}

// Rate that a saturated profile passes, m s-1: its smallest conductivity.
template <typename soil_t>
static inline V stage_infiltration__saturated_profile_rate(M on, soil_t& soil, int n_layers) {
    V rate{};
    rate = soil(rows::LAYER_CONDUCTIVITY, 0);
    {
        M on_1 = on;
        for (int layer = 1; layer < n_layers; ++layer) {
            rate = min(rate, soil(rows::LAYER_CONDUCTIVITY, layer));
        }
    }
    return rate;
}

// Infiltration capacity, m s-1, once ``infiltration`` m are in; eq. (8.3). Infinite where B + F is 0.
static inline V green_ampt__capacity(M on, V infiltration, V conductivity, V a, V b) {
    V below{};
    V answer{};
    M done = mask(false);
    below = (b + infiltration);
    {
        const M if_1 = M(below <= wide(Real(0.0)));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, pick(M(a > wide(Real(0.0))), wide(Real(HUGE_VAL)), conductivity), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, (conductivity * (wide(Real(1.0)) + (a / below))), answer);
    return answer;
    return answer;
}

// Go on at a steady rate within one layer.
static inline stage_infiltration__Advance stage_infiltration___advance_at(M on, stage_infiltration__Front front, V infiltration, V rate, V time) {
    stage_infiltration__Advance answer{};
    M done = mask(false);
    {
        const M if_1 = M((infiltration + (rate * time)) < front.bottom);
        M on_2 = on & if_1;
        {
            answer = pick(on_2, stage_infiltration__Advance{(infiltration + (rate * time)), time, mask(false), mask(true)}, answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, stage_infiltration__Advance{front.bottom, min(time, ((front.bottom - infiltration) / rate)), mask(false), mask(true)}, answer);
    return answer;
    return answer;
}

// Infiltration, m, at which a supply of ``rate`` (above ``conductivity``, m s-1) ponds; eq. (8.5).
static inline V green_ampt__ponding_infiltration(M on, V rate, V conductivity, V a, V b) {
    return ((a / ((rate / conductivity) - wide(Real(1.0)))) - b);
}

// Time, s, that a ponded front takes from ``start`` to ``end`` m of infiltration; eq. (8.4).
static inline V green_ampt__ponded_time(M on, V start, V end, V conductivity, V a, V b) {
    V gain{};
    gain = (end - start);
    return max(wide(Real(0.0)), ((gain - (a * log1p((gain / ((a + b) + start))))) / conductivity));
}

// Infiltration, m, after ``time`` s of ponding from ``start`` m; eq. (8.4) by Newton from eq. (8.6), a > 0.
static inline green_ampt__Ponded green_ampt__ponded_infiltration(M on, V start, V time, V conductivity, V a, V b) {
    V reach{};
    V base{};
    V gain{};
    V step{};
    V slope{};
    reach = (conductivity * time);
    base = ((a + b) + start);
    gain = (reach + sqrt(((wide(Real(2.0)) * a) * reach)));
    step = wide(Real(0.0));
    {
        M on_2 = on;
        M gone_2 = mask(false);
        for (int turn_1 = 0; turn_1 < green_ampt__NEWTON_STEPS; ++turn_1) {
            if (!any(on_2)) { break; }
            slope = (((b + start) + gain) / (base + gain));
            {
                const M if_3 = M(slope <= wide(Real(0.0)));
                M on_4 = on_2 & if_3;
                {
                    gone_2 |= on_4;
                }
            }
            on_2 &= ~gone_2;
            step = pick(on_2, (((gain - (a * log1p((gain / base)))) - reach) / slope), step);
            gain = pick(on_2, max(wide(Real(0.0)), (gain - step)), gain);
        }
    }
    return green_ampt__Ponded{(start + gain), M(abs(step) <= (wide(green_ampt__LAST_STEP) * gain))};
}

// Go on in one layer until the time is used, ponding begins or the layer is full.
static inline stage_infiltration__Advance stage_infiltration___advance_in_layer(M on, stage_infiltration__Front front, V infiltration, V rate, V time, M ponded) {
    V steady{};
    V start{};
    V reached{};
    V needed{};
    V to_bottom{};
    green_ampt__Ponded end{};
    V most{};
    stage_infiltration__Advance answer{};
    M done = mask(false);
    {
        const M if_1 = M(front.a <= wide(Real(0.0)));
        M on_2 = on & if_1;
        if (any(on_2)) {
            steady = min(rate, green_ampt__capacity(on_2, front.top, front.conductivity, front.a, front.b));
            answer = pick(on_2, stage_infiltration___advance_at(on_2, front, infiltration, steady, time), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    {
        const M if_3 = ~(ponded);
        M on_4 = on & if_3;
        if (any(on_4)) {
            {
                const M if_5 = M(rate <= front.conductivity);
                M on_6 = on_4 & if_5;
                if (any(on_6)) {
                    answer = pick(on_6, stage_infiltration___advance_at(on_6, front, infiltration, rate, time), answer);
                    done |= on_6;
                }
            }
            on_4 &= ~done;
            start = green_ampt__ponding_infiltration(on_4, rate, front.conductivity, front.a, front.b);
            {
                const M if_7 = M(start > infiltration);
                M on_8 = on_4 & if_7;
                {
                    reached = min(start, front.bottom);
                    needed = ((reached - infiltration) / rate);
                    {
                        const M if_9 = M(needed > time);
                        M on_10 = on_8 & if_9;
                        {
                            answer = pick(on_10, stage_infiltration__Advance{(infiltration + (rate * time)), time, mask(false), mask(true)}, answer);
                            done |= on_10;
                        }
                    }
                    on_8 &= ~done;
                    answer = pick(on_8, stage_infiltration__Advance{reached, needed, M(start <= front.bottom), mask(true)}, answer);
                    done |= on_8;
                }
            }
            on_4 &= ~done;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    to_bottom = green_ampt__ponded_time(on, infiltration, front.bottom, front.conductivity, front.a, front.b);
    {
        const M if_11 = M(to_bottom <= time);
        M on_12 = on & if_11;
        {
            answer = pick(on_12, stage_infiltration__Advance{front.bottom, to_bottom, mask(false), mask(true)}, answer);
            done |= on_12;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    end = green_ampt__ponded_infiltration(on, infiltration, time, front.conductivity, front.a, front.b);
    most = min(front.bottom, (infiltration + (rate * time)));
    answer = pick(on, stage_infiltration__Advance{max(infiltration, min(end.infiltration, most)), time, mask(true), end.converged}, answer);
    return answer;
    return answer;
}

// Infiltration of one part under a steady supply.
template <typename soil_t>
static inline stage_infiltration__GreenAmptPart stage_infiltration__green_ampt_part(M on, soil_t& soil, int n_layers, V event_infiltration, V rate, V dt) {
    V infiltration{};
    V left{};
    M ponded{};
    M converged{};
    stage_infiltration__Front front{};
    stage_infiltration__Advance step{};
    stage_infiltration__GreenAmptPart answer{};
    M done = mask(false);
    infiltration = event_infiltration;
    left = dt;
    const bool part_1 = false;
    const bool part_2 = true;
    ponded = mask(part_1);
    converged = mask(part_2);
    {
        const M if_3 = M(rate <= wide(Real(0.0)));
        M on_4 = on & if_3;
        {
            answer = pick(on_4, stage_infiltration__GreenAmptPart{wide(Real(0.0)), infiltration, mask(true)}, answer);
            done |= on_4;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    {
        M on_6 = on;
        M gone_6 = mask(false);
        for (int turn_5 = 0; turn_5 < ((2 * n_layers) + 2); ++turn_5) {
            if (!any(on_6)) { break; }
            {
                const M if_7 = M(left <= wide(Real(0.0)));
                M on_8 = on_6 & if_7;
                {
                    gone_6 |= on_8;
                }
            }
            on_6 &= ~gone_6;
            front = stage_infiltration__find_front(on_6, soil, n_layers, infiltration);
            {
                const M if_9 = M(front.layer == wide(Real(n_layers)));
                M on_10 = on_6 & if_9;
                if (any(on_10)) {
                    infiltration = pick(on_10, (infiltration + (min(rate, stage_infiltration__saturated_profile_rate(on_10, soil, n_layers)) * left)), infiltration);
                    left = pick(on_10, wide(Real(0.0)), left);
                    gone_6 |= on_10;
                }
            }
            on_6 &= ~gone_6;
            step = stage_infiltration___advance_in_layer(on_6, front, infiltration, rate, left, ponded);
            infiltration = pick(on_6, step.infiltration, infiltration);
            left = pick(on_6, (left - step.time), left);
            ponded = pick(on_6, step.ponded, ponded);
            converged = pick(on_6, (converged & step.converged), converged);
        }
    }
    answer = pick(on, stage_infiltration__GreenAmptPart{(infiltration - event_infiltration), infiltration, (converged & M(left <= (wide(Real(1e-09)) * dt)))}, answer);
    return answer;
    return answer;
}

// Water that the profile can still take, m.
template <typename soil_t>
static inline V stage_infiltration__free_room(M on, soil_t& soil, int n_layers) {
    V room{};
    room = wide(Real(0.0));
    {
        M on_1 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            room = (room + max(wide(Real(0.0)), (soil(rows::SATURATED_WATER, layer) - soil(rows::WORK_WATER, layer))));
        }
    }
    return room;
}

// Fill layers to saturation from the top with ``depth`` m; the depth that found no room.
template <typename soil_t>
static inline V stage_infiltration__fill_from_top(M on, soil_t& soil, int n_layers, V depth) {
    V taken{};
    {
        M on_1 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            taken = min(depth, max(wide(Real(0.0)), (soil(rows::SATURATED_WATER, layer) - soil(rows::WORK_WATER, layer))));
            soil(rows::WORK_WATER, layer) = pick(on, (soil(rows::WORK_WATER, layer) + taken), soil(rows::WORK_WATER, layer));
            depth = (depth - taken);
        }
    }
    return depth;
}

// One part of a Green-Ampt step: draws, percolation and interflow, infiltration. SoilPart and convergence.
template <typename store_t, typename flux_t, typename soil_t>
static inline Tuple2<stage_soil_water__SoilPart, M> stage_ground__heavy_part(M on, V supply, V dt, stage_surface__Demand bare, V interflow_factor, V bedrock_conductivity, store_t& store, flux_t& flux, soil_t& soil, int n_layers) {
    stage_soil_water__SoilPart below{};
    V offered{};
    stage_infiltration__GreenAmptPart part{};
    V taken{};
    V left{};
    stage_ground__ground_draws(on, bare, dt, store, flux, soil, n_layers);
    below = stage_soil_water__heavy_part(on, soil, n_layers, dt, interflow_factor, bedrock_conductivity);
    store(rows::SURFACE_STORAGE) = pick(on, (store(rows::SURFACE_STORAGE) + supply), store(rows::SURFACE_STORAGE));
    offered = store(rows::SURFACE_STORAGE);
    part = stage_infiltration__green_ampt_part(on, soil, n_layers, store(rows::EVENT_INFILTRATION), (offered / dt), dt);
    taken = min(min(part.infiltrated, offered), stage_infiltration__free_room(on, soil, n_layers));
    left = stage_infiltration__fill_from_top(on, soil, n_layers, taken);
    taken = (taken - left);
    store(rows::EVENT_INFILTRATION) = pick(on, (store(rows::EVENT_INFILTRATION) + taken), store(rows::EVENT_INFILTRATION));
    store(rows::SURFACE_STORAGE) = pick(on, (store(rows::SURFACE_STORAGE) - taken), store(rows::SURFACE_STORAGE));
    flux(rows::INFILTRATION) = pick(on, (flux(rows::INFILTRATION) + taken), flux(rows::INFILTRATION));
    flux(rows::INTERFLOW) = pick(on, (flux(rows::INTERFLOW) + below.interflow), flux(rows::INTERFLOW));
    flux(rows::PERCOLATION) = pick(on, (flux(rows::PERCOLATION) + below.percolation), flux(rows::PERCOLATION));
    return Tuple2<stage_soil_water__SoilPart, M>{below, part.converged};
}

// Suction head (m) and its derivative by saturation (m, negative or 0); eq. (7.2) and its derivative.
static inline soil_hydraulics__Suction soil_hydraulics__suction_and_slope(M on, V saturation, V a, V b) {
    V bounded{};
    V ratio{};
    V logarithm{};
    V psi{};
    soil_hydraulics__Suction answer{};
    M done = mask(false);
    {
        const M if_1 = M(saturation >= wide(Real(1.0)));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, soil_hydraulics__Suction{wide(Real(0.01)), wide(Real(0.0))}, answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    bounded = max(saturation, wide(soil_hydraulics___SMALLEST_SATURATION));
    ratio = (a * ((wide(Real(1.0)) / bounded) - wide(Real(1.0))));
    logarithm = pow(ratio, (wide(Real(1.0)) / b));
    {
        const M if_3 = M(logarithm >= wide(soil_hydraulics___LARGEST_LOG));
        M on_4 = on & if_3;
        if (any(on_4)) {
            answer = pick(on_4, soil_hydraulics__Suction{wide((Real(0.01) * std::exp(soil_hydraulics___LARGEST_LOG))), wide(Real(0.0))}, answer);
            done |= on_4;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    psi = (wide(Real(0.01)) * exp(logarithm));
    answer = pick(on, soil_hydraulics__Suction{psi, (((-psi) * logarithm) / ((b * bounded) * (wide(Real(1.0)) - bounded)))}, answer);
    return answer;
    return answer;
}

// Carry out the changes in _CHANGE as fluxes between neighbours (upward positive), each within its limits.
template <typename soil_t>
static inline void stage_soil_water___move(M on, soil_t& soil, int n_layers) {
    V flux{};
    V upper{};
    V lower{};
    V amount{};
    flux = wide(Real(0.0));
    {
        M on_1 = on;
        for (int layer = 0; layer < (n_layers - 1); ++layer) {
            flux = (flux + soil(stage_soil_water___CHANGE, layer));
            const V part_2 = soil(rows::WORK_WATER, layer);
            const V part_3 = soil(rows::WORK_WATER, (layer + 1));
            upper = part_2;
            lower = part_3;
            {
                const M if_4 = M(flux > wide(Real(0.0)));
                M on_5 = on & if_4;
                {
                    amount = pick(on_5, min(flux, max(wide(Real(0.0)), (lower - soil(rows::RESIDUAL_WATER, (layer + 1))))), amount);
                    amount = pick(on_5, min(amount, max(wide(Real(0.0)), (soil(rows::SATURATED_WATER, layer) - upper))), amount);
                }
                M on_6 = on & ~if_4;
                {
                    amount = pick(on_6, min((-flux), max(wide(Real(0.0)), (upper - soil(rows::RESIDUAL_WATER, layer)))), amount);
                    amount = pick(on_6, (-min(amount, max(wide(Real(0.0)), (soil(rows::SATURATED_WATER, (layer + 1)) - lower)))), amount);
                }
            }
            soil(rows::WORK_WATER, layer) = pick(on, (soil(rows::WORK_WATER, layer) + amount), soil(rows::WORK_WATER, layer));
            soil(rows::WORK_WATER, (layer + 1)) = pick(on, (soil(rows::WORK_WATER, (layer + 1)) - amount), soil(rows::WORK_WATER, (layer + 1)));
        }
    }
}

// Suction diffusion between layers by one implicit solve; eqs. (9.3) and (9.5).
template <typename soil_t>
static inline void stage_soil_water___diffuse(M on, soil_t& soil, int n_layers, V dt) {
    V span{};
    soil_hydraulics__Suction psi{};
    V d1{};
    V d2{};
    V mean{};
    V above{};
    V flux_above{};
    V upper{};
    V change{};
    V link{};
    V flux{};
    V slope{};
    V below{};
    V pivot{};
    {
        M on_1 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            stage_soil_water___set_conductivity(on, soil, layer);
            span = (soil(rows::SATURATED_WATER, layer) - soil(rows::RESIDUAL_WATER, layer));
            psi = soil_hydraulics__suction_and_slope(on, soil(rows::WORK_SATURATION, layer), soil(rows::RETENTION_A, layer), soil(rows::RETENTION_B, layer));
            soil(stage_soil_water___SUCTION, layer) = pick(on, psi.head, soil(stage_soil_water___SUCTION, layer));
            soil(stage_soil_water___SLOPE, layer) = pick(on, ((-psi.slope) / span), soil(stage_soil_water___SLOPE, layer));
        }
    }
    {
        M on_2 = on;
        for (int layer = 0; layer < (n_layers - 1); ++layer) {
            d1 = soil(rows::LAYER_THICKNESS, layer);
            d2 = soil(rows::LAYER_THICKNESS, (layer + 1));
            mean = (((d1 * soil(rows::WORK_CONDUCTIVITY, layer)) + (d2 * soil(rows::WORK_CONDUCTIVITY, (layer + 1)))) / (d1 + d2));
            soil(stage_soil_water___LINK, layer) = pick(on, (((wide(Real(2.0)) * dt) * mean) / (d1 + d2)), soil(stage_soil_water___LINK, layer));
        }
    }
    soil(stage_soil_water___LINK, (n_layers - 1)) = pick(on, wide(Real(0.0)), soil(stage_soil_water___LINK, (n_layers - 1)));
    const Real part_3 = Real(0.0);
    const Real part_4 = Real(0.0);
    const Real part_5 = Real(0.0);
    const Real part_6 = Real(0.0);
    above = wide(part_3);
    flux_above = wide(part_4);
    upper = wide(part_5);
    change = wide(part_6);
    {
        M on_7 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            link = soil(stage_soil_water___LINK, layer);
            flux = wide(Real(0.0));
            if ((layer < (n_layers - 1))) {
                flux = (link * (soil(stage_soil_water___SUCTION, layer) - soil(stage_soil_water___SUCTION, (layer + 1))));
            }
            slope = soil(stage_soil_water___SLOPE, layer);
            below = ((layer > 0) ? ((-above) * soil(stage_soil_water___SLOPE, (layer - 1))) : wide(Real(0.0)));
            pivot = ((wide(Real(1.0)) + ((link + above) * slope)) - (below * upper));
            upper = ((layer < (n_layers - 1)) ? (((-link) * soil(stage_soil_water___SLOPE, (layer + 1))) / pivot) : wide(Real(0.0)));
            change = (((flux - flux_above) - (below * change)) / pivot);
            soil(stage_soil_water___UPPER, layer) = pick(on, upper, soil(stage_soil_water___UPPER, layer));
            soil(stage_soil_water___CHANGE, layer) = pick(on, change, soil(stage_soil_water___CHANGE, layer));
            const V part_8 = link;
            const V part_9 = flux;
            above = part_8;
            flux_above = part_9;
        }
    }
    {
        M on_10 = on;
        for (int layer = (n_layers - 2); layer > (-1); --layer) {
            soil(stage_soil_water___CHANGE, layer) = pick(on, (soil(stage_soil_water___CHANGE, layer) - (soil(stage_soil_water___UPPER, layer) * soil(stage_soil_water___CHANGE, (layer + 1)))), soil(stage_soil_water___CHANGE, layer));
        }
    }
    stage_soil_water___move(on, soil, n_layers);
}

// Water above saturation goes up, layer by layer; the depth that comes out at the surface, m.
template <typename soil_t>
static inline V stage_soil_water___limit(M on, soil_t& soil, int n_layers) {
    V excess{};
    excess = wide(Real(0.0));
    {
        M on_1 = on;
        for (int layer = (n_layers - 1); layer > (-1); --layer) {
            soil(rows::WORK_WATER, layer) = pick(on, (soil(rows::WORK_WATER, layer) + excess), soil(rows::WORK_WATER, layer));
            excess = max(wide(Real(0.0)), (soil(rows::WORK_WATER, layer) - soil(rows::SATURATED_WATER, layer)));
            soil(rows::WORK_WATER, layer) = pick(on, (soil(rows::WORK_WATER, layer) - excess), soil(rows::WORK_WATER, layer));
        }
    }
    return excess;
}

// Drainage from the top downward with interflow, diffusion, limits, for ``dt`` s; a :class:`SoilPart`.
template <typename soil_t>
static inline stage_soil_water__SoilPart stage_soil_water__redistribute_part(M on, soil_t& soil, int n_layers, V dt, V interflow_factor, V bedrock_conductivity) {
    V interflow{};
    V passed{};
    soil_water__Drainage gone{};
    V percolation{};
    const Real part_1 = Real(0.0);
    const Real part_2 = Real(0.0);
    interflow = wide(part_1);
    passed = wide(part_2);
    {
        M on_3 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            soil(rows::WORK_WATER, layer) = pick(on, (soil(rows::WORK_WATER, layer) + passed), soil(rows::WORK_WATER, layer));
            stage_soil_water___set_conductivity(on, soil, layer);
            gone = stage_soil_water___drain(on, soil, layer, dt, interflow_factor);
            interflow = (interflow + gone.sideways);
            passed = gone.down;
        }
    }
    percolation = stage_soil_water___percolate(on, soil, n_layers, passed, (bedrock_conductivity * dt));
    if ((n_layers > 1)) {
        stage_soil_water___diffuse(on, soil, n_layers, dt);
    }
    return stage_soil_water__SoilPart{stage_soil_water___limit(on, soil, n_layers), interflow, percolation};
}

// One part of another step: the top layer takes what it can, then draws and redistribution. SoilPart.
template <typename store_t, typename flux_t, typename soil_t>
static inline stage_soil_water__SoilPart stage_ground__light_part(M on, V supply, V dt, stage_surface__Demand bare, V interflow_factor, V bedrock_conductivity, store_t& store, flux_t& flux, soil_t& soil, int n_layers) {
    V offered{};
    V room{};
    V taken{};
    stage_soil_water__SoilPart below{};
    store(rows::SURFACE_STORAGE) = pick(on, (store(rows::SURFACE_STORAGE) + supply), store(rows::SURFACE_STORAGE));
    offered = store(rows::SURFACE_STORAGE);
    room = max(wide(Real(0.0)), (soil(rows::SATURATED_WATER, 0) - soil(rows::WORK_WATER, 0)));
    taken = min(min(offered, (soil(rows::LAYER_CONDUCTIVITY, 0) * dt)), room);
    soil(rows::WORK_WATER, 0) = pick(on, (soil(rows::WORK_WATER, 0) + taken), soil(rows::WORK_WATER, 0));
    store(rows::SURFACE_STORAGE) = pick(on, (store(rows::SURFACE_STORAGE) - taken), store(rows::SURFACE_STORAGE));
    flux(rows::INFILTRATION) = pick(on, (flux(rows::INFILTRATION) + taken), flux(rows::INFILTRATION));
    stage_ground__ground_draws(on, bare, dt, store, flux, soil, n_layers);
    below = stage_soil_water__redistribute_part(on, soil, n_layers, dt, interflow_factor, bedrock_conductivity);
    store(rows::SURFACE_STORAGE) = pick(on, (store(rows::SURFACE_STORAGE) + below.exfiltration), store(rows::SURFACE_STORAGE));
    flux(rows::EXFILTRATION) = pick(on, (flux(rows::EXFILTRATION) + below.exfiltration), flux(rows::EXFILTRATION));
    flux(rows::INTERFLOW) = pick(on, (flux(rows::INTERFLOW) + below.interflow), flux(rows::INTERFLOW));
    flux(rows::PERCOLATION) = pick(on, (flux(rows::PERCOLATION) + below.percolation), flux(rows::PERCOLATION));
    return below;
}

// What stands above the depression store runs off (m); eq. (8.7).
template <typename store_t, typename flux_t>
static inline V stage_ground__spill(M on, V capacity, store_t& store, flux_t& flux) {
    V runoff{};
    runoff = max(wide(Real(0.0)), (store(rows::SURFACE_STORAGE) - capacity));
    store(rows::SURFACE_STORAGE) = pick(on, (store(rows::SURFACE_STORAGE) - runoff), store(rows::SURFACE_STORAGE));
    flux(rows::OVERLAND_RUNOFF) = pick(on, (flux(rows::OVERLAND_RUNOFF) + runoff), flux(rows::OVERLAND_RUNOFF));
    return runoff;
}

// The same as :func:`add_lateral` for what one part hands over on its three ways (m).
template <typename lateral_t>
static inline void stage_ground__add_part(M on, lateral_t& lateral, Lane tile, int first_route, int part, V n_parts, int n_route, V runoff, V interflow, V percolation) {
    int start;
    int stop;
    V route{};
    V overlap{};
    start = (part * n_route);
    stop = (start + n_route);
    route = whole_quotient(wide(Real(start)), n_parts);
    {
        M on_1 = on;
        for (;;) {
            on_1 &= M((route * n_parts) < wide(Real(stop)));
            if (!any(on_1)) { break; }
            overlap = (min(wide(Real(stop)), ((route + wide(Real(1))) * n_parts)) - max(wide(Real(start)), (route * n_parts)));
            put(on_1, (at(on_1, lateral, rows::TO_OVERLAND, (wide(Real(first_route)) + route), tile) + ((runoff * overlap) / wide(Real(n_route)))), lateral, rows::TO_OVERLAND, (wide(Real(first_route)) + route), tile);
            put(on_1, (at(on_1, lateral, rows::TO_REACH, (wide(Real(first_route)) + route), tile) + ((interflow * overlap) / wide(Real(n_route)))), lateral, rows::TO_REACH, (wide(Real(first_route)) + route), tile);
            put(on_1, (at(on_1, lateral, rows::TO_AQUIFER, (wide(Real(first_route)) + route), tile) + ((percolation * overlap) / wide(Real(n_route)))), lateral, rows::TO_AQUIFER, (wide(Real(first_route)) + route), tile);
            route = pick(on_1, (route + wide(Real(1))), route);
        }
    }
}

// A Green-Ampt event begins with the deficits of this moment, and ends when neither rain nor ponding is left.
template <typename store_t, typename soil_t>
static inline void stage_ground__begin_or_end_event(M on, bool wet, store_t& store, soil_t& soil, int n_layers) {
    {
        const M if_1 = (mask(wet) & M(store(rows::EVENT_ACTIVE) == wide(Real(0.0))));
        M on_2 = on & if_1;
        if (any(on_2)) {
            stage_infiltration__begin_event(on_2, soil, n_layers);
            store(rows::EVENT_ACTIVE) = pick(on_2, wide(Real(1.0)), store(rows::EVENT_ACTIVE));
            store(rows::EVENT_INFILTRATION) = pick(on_2, wide(Real(0.0)), store(rows::EVENT_INFILTRATION));
        }
    }
    if (!(wet)) {
        store(rows::EVENT_ACTIVE) = pick(on, wide(Real(0.0)), store(rows::EVENT_ACTIVE));
        store(rows::EVENT_INFILTRATION) = pick(on, wide(Real(0.0)), store(rows::EVENT_INFILTRATION));
    }
}

// Infiltration, soil water and runoff of one step under ``supply`` m at the ground. Status code.
template <typename option_t, typename tile_parameter_t, typename store_t, typename flux_t, typename soil_t, typename lateral_t>
static inline V stage_ground__ground_step(M on, Lane tile, int first_route, int n_route, Real dt, V supply, stage_surface__Demand bare, option_t& option, tile_parameter_t& tile_parameter, store_t& store, flux_t& flux, soil_t& soil, int n_layers, lateral_t& lateral) {
    V interflow_factor{};
    V bedrock_conductivity{};
    V capacity{};
    bool daily;
    M heavy{};
    V n_parts{};
    V part_dt{};
    V status{};
    V rain{};
    M wet{};
    stage_soil_water__SoilPart below{};
    M converged{};
    V runoff{};
    interflow_factor = at(on, tile_parameter, rows::INTERFLOW_FACTOR, tile);
    bedrock_conductivity = at(on, tile_parameter, rows::PERCOLATION_LIMIT, tile);
    capacity = at(on, tile_parameter, rows::DEPRESSION_CAPACITY, tile);
    daily = (dt >= constants__DAY);
    heavy = stage_ground__is_heavy(on, supply, dt, option, store, soil);
    {
        const M if_1 = heavy;
        M on_2 = on & if_1;
        if (any(on_2)) {
            n_parts = pick(on_2, wide(Real(max(1, int(std::ceil((dt / constants__HOUR)))))), n_parts);
        }
        M on_3 = on & ~if_1;
        if (any(on_3)) {
            n_parts = pick(on_3, wide(Real(int(Real(option(rows::SOIL_PARTS))))), n_parts);
            {
                const M if_4 = M(n_parts < wide(Real(0)));
                M on_5 = on_3 & if_4;
                if (any(on_5)) {
                    n_parts = pick(on_5, ((-n_parts) * stage_soil_water__parts_factor(on_5, soil, n_layers, (wide((-dt)) / n_parts))), n_parts);
                }
            }
        }
    }
    part_dt = (wide(dt) / n_parts);
    status = wide(Real(rows::OK));
    const V stop_6 = n_parts;
    {
        M on_7 = on;
        for (int part = 0;; ++part) {
            on_7 &= M(wide(Real(part)) < stop_6);
            if (!any(on_7)) { break; }
            rain = (supply / n_parts);
            wet = heavy;
            {
                const M if_8 = (heavy & mask(daily));
                M on_9 = on_7 & if_8;
                if (any(on_9)) {
                    rain = pick(on_9, rain_pattern__storm_depth(on_9, supply, (wide(Real(part)) * part_dt), (wide(Real((part + 1))) * part_dt)), rain);
                    wet = pick(on_9, (M(rain > wide(stage_ground___PONDED)) | M(store(rows::SURFACE_STORAGE) > wide(stage_ground___PONDED))), wet);
                }
            }
            stage_ground__begin_or_end_event(on_7, wet, store, soil, n_layers);
            {
                const M if_10 = wet;
                M on_11 = on_7 & if_10;
                if (any(on_11)) {
                    const Tuple2<stage_soil_water__SoilPart, M> parts_12 = stage_ground__heavy_part(on_11, rain, part_dt, bare, interflow_factor, bedrock_conductivity, store, flux, soil, n_layers);
                    below = pick(on_11, parts_12.v0, below);
                    converged = parts_12.v1;
                    {
                        const M if_13 = ~(converged);
                        M on_14 = on_11 & if_13;
                        {
                            status = pick(on_14, wide(Real(rows::NOT_CONVERGED)), status);
                        }
                    }
                }
                M on_15 = on_7 & ~if_10;
                if (any(on_15)) {
                    below = pick(on_15, stage_ground__light_part(on_15, rain, part_dt, bare, interflow_factor, bedrock_conductivity, store, flux, soil, n_layers), below);
                }
            }
            runoff = stage_ground__spill(on_7, capacity, store, flux);
            stage_ground__add_part(on_7, lateral, tile, first_route, part, n_parts, n_route, runoff, below.interflow, below.percolation);
        }
    }
    if (daily) {
        stage_ground__begin_or_end_event(on, false, store, soil, n_layers);
    }
    return status;
}

// A tile with soil: canopies, snow, ground. Radiation (W m-2) and status code.
template <typename option_t, typename tile_index_t, typename tile_parameter_t, typename vegetation_t, typename store_t, typename flux_t, typename soil_t, typename lateral_t>
static inline Tuple2<V, V> stage_column__soil_step(M on, Lane tile, int step, int first_route, int n_route, Real dt, stage_surface__Air air, V ground_heat, option_t& option, tile_index_t& tile_index, tile_parameter_t& tile_parameter, vegetation_t& vegetation, store_t& store, flux_t& flux, soil_t& soil, int n_layers, lateral_t& lateral) {
    M covered{};
    M tall{};
    V cover{};
    V drip{};
    V radiation{};
    V kind{};
    V share{};
    stage_surface__Canopy leaves{};
    V open_share{};
    V throughfall{};
    V supply{};
    V snow_radiation{};
    stage_surface__Demand bare{};
    V status{};
    {
        M on_1 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            soil(rows::WORK_TRANSPIRATION, layer) = pick(on, wide(Real(0.0)), soil(rows::WORK_TRANSPIRATION, layer));
        }
    }
    covered = M(((store(rows::SNOW_ICE) + store(rows::SNOW_LIQUID)) + air.snow) > wide(Real(0.0)));
    tall = M(at(on, tile_index, rows::TILE_CLASS, tile) == wide(Real(1)));
    const Real part_2 = Real(0.0);
    const Real part_3 = Real(0.0);
    const Real part_4 = Real(0.0);
    cover = wide(part_2);
    drip = wide(part_3);
    radiation = wide(part_4);
    {
        M on_5 = on;
        for (int which = 0; which < 2; ++which) {
            kind = at(on, tile_index, (rows::VEGETATION_A + which), tile);
            {
                const M if_6 = M(kind >= wide(Real(0)));
                M on_7 = on & if_6;
                if (any(on_7)) {
                    share = at(on_7, tile_parameter, (rows::SHARE_A + which), tile);
                    {
                        const M if_8 = (covered & ~((tall & mask((which == 0)))));
                        M on_9 = on_7 & if_8;
                        if (any(on_9)) {
                            drip = pick(on_9, (drip + stage_surface__drain_canopy(on_9, (rows::CANOPY_A + which), Real(0.0), store)), drip);
                        }
                        M on_10 = on_7 & ~if_8;
                        if (any(on_10)) {
                            leaves = stage_surface__canopy(on_10, kind, share, (rows::CANOPY_A + which), air, ground_heat, dt, step, option, vegetation, store, flux, soil, n_layers);
                            cover = pick(on_10, (cover + leaves.cover), cover);
                            drip = pick(on_10, (drip + leaves.drip), drip);
                            radiation = pick(on_10, (radiation + leaves.radiation), radiation);
                        }
                    }
                }
            }
        }
    }
    open_share = max(wide(Real(0.0)), (wide(Real(1.0)) - cover));
    throughfall = ((open_share * air.rain) + drip);
    flux(rows::THROUGHFALL) = pick(on, (flux(rows::THROUGHFALL) + throughfall), flux(rows::THROUGHFALL));
    const Tuple2<V, V> parts_11 = stage_surface__snow_pack(on, throughfall, open_share, air, ground_heat, dt, at(on, tile_parameter, rows::TILE_DEGREE_DAY_FACTOR, tile), option, store, flux);
    supply = parts_11.v0;
    snow_radiation = parts_11.v1;
    flux(rows::GROUND_SUPPLY) = pick(on, (flux(rows::GROUND_SUPPLY) + supply), flux(rows::GROUND_SUPPLY));
    bare = stage_surface__bare_ground(on, open_share, air, ground_heat, at(on, tile_parameter, rows::GROUND_ALBEDO, tile), Real(option(rows::SOIL_AERODYNAMIC_FACTOR)), soil);
    {
        const M if_12 = covered;
        M on_13 = on & if_12;
        if (any(on_13)) {
            radiation = pick(on_13, (radiation + snow_radiation), radiation);
            bare = pick(on_13, stage_surface__Demand{wide(Real(0.0)), wide(Real(0.0)), wide(Real(0.0))}, bare);
        }
        M on_14 = on & ~if_12;
        {
            radiation = pick(on_14, (radiation + bare.radiation), radiation);
            flux(rows::POTENTIAL_EVAPORATION) = pick(on_14, (flux(rows::POTENTIAL_EVAPORATION) + (bare.wet * wide(dt))), flux(rows::POTENTIAL_EVAPORATION));
        }
    }
    status = stage_ground__ground_step(on, tile, first_route, n_route, dt, supply, bare, option, tile_parameter, store, flux, soil, n_layers, lateral);
    return Tuple2<V, V>{radiation, status};
}

// Advance the pack under ``rain`` (m) that reaches it; ``share`` of the tile sublimates. Outflow (m), radiation.
template <typename option_t, typename store_t, typename flux_t>
static inline Tuple2<V, V> stage_surface__snow_pack(M on, V rain, Real share, stage_surface__Air air, V ground_heat, Real dt, V factor, option_t& option, store_t& store, flux_t& flux) {
    V radiation{};
    M lies{};
    V potential{};
    snow__SnowStep pack{};
    radiation = stage_surface__net_radiation(on, air, Real(option(rows::SNOW_ALBEDO)));
    lies = M(((store(rows::SNOW_ICE) + store(rows::SNOW_LIQUID)) + air.snow) > wide(Real(0.0)));
    potential = wide(Real(0.0));
    {
        const M if_1 = lies;
        M on_2 = on & if_1;
        if (any(on_2)) {
            potential = pick(on_2, (wide((share * dt)) * stage_surface__sublimation_rate(on_2, air, radiation, ground_heat, Real(option(rows::WATER_AERODYNAMIC_FACTOR)))), potential);
        }
    }
    pack = snow__snow_step(on, store(rows::SNOW_ICE), store(rows::SNOW_LIQUID), rain, air.snow, air.temperature, potential, dt, factor, Real(option(rows::MELT_TEMPERATURE)), Real(option(rows::SNOW_LIQUID_SHARE)), Real(option(rows::REFREEZING_SHARE)));
    store(rows::SNOW_ICE) = pick(on, pack.ice, store(rows::SNOW_ICE));
    store(rows::SNOW_LIQUID) = pick(on, pack.liquid, store(rows::SNOW_LIQUID));
    flux(rows::SNOW_SUBLIMATION) = pick(on, (flux(rows::SNOW_SUBLIMATION) + pack.sublimation), flux(rows::SNOW_SUBLIMATION));
    flux(rows::POTENTIAL_EVAPORATION) = pick(on, (flux(rows::POTENTIAL_EVAPORATION) + potential), flux(rows::POTENTIAL_EVAPORATION));
    return Tuple2<V, V>{pack.outflow, (wide(share) * radiation)};
}

// Penman evaporation of a wet surface, m s-1, not below 0 (condensation is left out of the balance).
static inline V stage_surface__wet_surface_rate(M on, stage_surface__Air air, V radiation, V ground_heat, Real resistance_factor) {
    V resistance{};
    resistance = (wide(resistance_factor) / air.wind);
    return max(wide(Real(0.0)), evapotranspiration__penman(on, (radiation - ground_heat), air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity, air.deficit, resistance));
}

// A store without soil below: evaporation (m) and overflow (m), the wet part of the step first; eq. (6.12).
template <typename store_t>
static inline Tuple2<V, V> stage_ground__wet_surface_step(M on, V supply, V wet_rate, stage_surface__Air air, Real dt, V capacity, store_t& store) {
    V evaporation{};
    V overflow{};
    V late{};
    store(rows::SURFACE_STORAGE) = pick(on, (store(rows::SURFACE_STORAGE) + supply), store(rows::SURFACE_STORAGE));
    evaporation = min(max(wide(Real(0.0)), store(rows::SURFACE_STORAGE)), (wet_rate * air.wet_time));
    store(rows::SURFACE_STORAGE) = pick(on, (store(rows::SURFACE_STORAGE) - evaporation), store(rows::SURFACE_STORAGE));
    overflow = max(wide(Real(0.0)), (store(rows::SURFACE_STORAGE) - capacity));
    store(rows::SURFACE_STORAGE) = pick(on, (store(rows::SURFACE_STORAGE) - overflow), store(rows::SURFACE_STORAGE));
    late = min(max(wide(Real(0.0)), store(rows::SURFACE_STORAGE)), (wet_rate * air.dry_time));
    store(rows::SURFACE_STORAGE) = pick(on, (store(rows::SURFACE_STORAGE) - late), store(rows::SURFACE_STORAGE));
    return Tuple2<V, V>{(evaporation + late), overflow};
}

// Rain, m, between ``start`` and ``end`` (s since the day began) of a day with ``depth`` m; eq. (2.3).
static inline V rain_pattern__storm_depth(M on, V depth, Real start, Real end) {
    V duration{};
    V begin{};
    duration = rain_pattern__storm_duration(on, depth);
    begin = (wide(Real(0.5)) * (wide(constants__DAY) - duration));
    return (depth * (rain_pattern___fallen(on, ((wide(end) - begin) / duration)) - rain_pattern___fallen(on, ((wide(start) - begin) / duration))));
}

// Add what left in part ``part`` of ``n_parts`` of a step to the routing steps that it overlaps (m).
template <typename lateral_t>
static inline void stage_ground__add_lateral(M on, lateral_t& lateral, int row, Lane tile, int first_route, int part, int n_parts, int n_route, V amount) {
    int start;
    int stop;
    int route;
    int overlap;
    start = (part * n_route);
    stop = (start + n_route);
    route = (start / n_parts);
    {
        M on_1 = on;
        while (((route * n_parts) < stop)) {
            overlap = (min(stop, ((route + 1) * n_parts)) - max(start, (route * n_parts)));
            put(on, (at(on, lateral, row, (first_route + route), tile) + ((amount * wide(Real(overlap))) / wide(Real(n_route)))), lateral, row, (first_route + route), tile);
            route = (route + 1);
        }
    }
}

// Roofs and paved ground: snow, a depression store, runoff in the storm's pattern. Radiation, W m-2.
template <typename option_t, typename tile_parameter_t, typename store_t, typename flux_t, typename lateral_t>
static inline V stage_column__impervious_step(M on, Lane tile, int first_route, int n_route, Real dt, stage_surface__Air air, V ground_heat, option_t& option, tile_parameter_t& tile_parameter, store_t& store, flux_t& flux, lateral_t& lateral) {
    M covered{};
    V supply{};
    V radiation{};
    V rate{};
    V evaporation{};
    V runoff{};
    int n_parts;
    V share{};
    covered = M(((store(rows::SNOW_ICE) + store(rows::SNOW_LIQUID)) + air.snow) > wide(Real(0.0)));
    flux(rows::THROUGHFALL) = pick(on, (flux(rows::THROUGHFALL) + air.rain), flux(rows::THROUGHFALL));
    const Tuple2<V, V> parts_1 = stage_surface__snow_pack(on, air.rain, Real(1.0), air, ground_heat, dt, at(on, tile_parameter, rows::TILE_DEGREE_DAY_FACTOR, tile), option, store, flux);
    supply = parts_1.v0;
    radiation = parts_1.v1;
    flux(rows::GROUND_SUPPLY) = pick(on, (flux(rows::GROUND_SUPPLY) + supply), flux(rows::GROUND_SUPPLY));
    rate = wide(Real(0.0));
    {
        const M if_2 = ~(covered);
        M on_3 = on & if_2;
        if (any(on_3)) {
            radiation = pick(on_3, stage_surface__net_radiation(on_3, air, at(on_3, tile_parameter, rows::GROUND_ALBEDO, tile)), radiation);
            rate = pick(on_3, stage_surface__wet_surface_rate(on_3, air, radiation, ground_heat, Real(option(rows::SOIL_AERODYNAMIC_FACTOR))), rate);
            flux(rows::POTENTIAL_EVAPORATION) = pick(on_3, (flux(rows::POTENTIAL_EVAPORATION) + (rate * wide(dt))), flux(rows::POTENTIAL_EVAPORATION));
        }
    }
    const Tuple2<V, V> parts_4 = stage_ground__wet_surface_step(on, supply, rate, air, dt, at(on, tile_parameter, rows::DEPRESSION_CAPACITY, tile), store);
    evaporation = parts_4.v0;
    runoff = parts_4.v1;
    flux(rows::SURFACE_EVAPORATION) = pick(on, (flux(rows::SURFACE_EVAPORATION) + evaporation), flux(rows::SURFACE_EVAPORATION));
    flux(rows::OVERLAND_RUNOFF) = pick(on, (flux(rows::OVERLAND_RUNOFF) + runoff), flux(rows::OVERLAND_RUNOFF));
    {
        const M if_5 = (mask((dt >= constants__DAY)) & M(supply > wide(Real(option(rows::HEAVY_RAIN_DEPTH)))));
        M on_6 = on & if_5;
        if (any(on_6)) {
            n_parts = int((dt / constants__HOUR));
            {
                M on_7 = on_6;
                for (int part = 0; part < n_parts; ++part) {
                    share = (rain_pattern__storm_depth(on_6, supply, (Real(part) * constants__HOUR), (Real((part + 1)) * constants__HOUR)) / supply);
                    stage_ground__add_lateral(on_6, lateral, rows::TO_OVERLAND, tile, first_route, part, n_parts, n_route, (runoff * share));
                }
            }
        }
        M on_8 = on & ~if_5;
        if (any(on_8)) {
            stage_ground__add_lateral(on_8, lateral, rows::TO_OVERLAND, tile, first_route, 0, 1, n_route, runoff);
        }
    }
    return radiation;
}

// Penman evaporation of a wet surface, m s-1, not below 0 (condensation is left out of the balance).
static inline V stage_surface__wet_surface_rate(M on, stage_surface__Air air, V radiation, Real ground_heat, Real resistance_factor) {
    V resistance{};
    resistance = (wide(resistance_factor) / air.wind);
    return max(wide(Real(0.0)), evapotranspiration__penman(on, (radiation - wide(ground_heat)), air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity, air.deficit, resistance));
}

// Open water: precipitation in, evaporation out, the excess above the sill to the reach. Radiation, W m-2.
template <typename option_t, typename tile_parameter_t, typename store_t, typename flux_t, typename lateral_t>
static inline V stage_column__water_step(M on, Lane tile, int first_route, int n_route, Real dt, stage_surface__Air air, option_t& option, tile_parameter_t& tile_parameter, store_t& store, flux_t& flux, lateral_t& lateral) {
    V radiation{};
    V rate{};
    V supply{};
    V evaporation{};
    V overflow{};
    radiation = stage_surface__net_radiation(on, air, at(on, tile_parameter, rows::GROUND_ALBEDO, tile));
    rate = stage_surface__wet_surface_rate(on, air, radiation, Real(0.0), Real(option(rows::WATER_AERODYNAMIC_FACTOR)));
    supply = (air.rain + air.snow);
    const Tuple2<V, V> parts_1 = stage_ground__wet_surface_step(on, supply, rate, air, dt, at(on, tile_parameter, rows::DEPRESSION_CAPACITY, tile), store);
    evaporation = parts_1.v0;
    overflow = parts_1.v1;
    flux(rows::THROUGHFALL) = pick(on, (flux(rows::THROUGHFALL) + air.rain), flux(rows::THROUGHFALL));
    flux(rows::GROUND_SUPPLY) = pick(on, (flux(rows::GROUND_SUPPLY) + supply), flux(rows::GROUND_SUPPLY));
    flux(rows::OPEN_WATER_EVAPORATION) = pick(on, (flux(rows::OPEN_WATER_EVAPORATION) + evaporation), flux(rows::OPEN_WATER_EVAPORATION));
    flux(rows::OPEN_WATER_OUTFLOW) = pick(on, (flux(rows::OPEN_WATER_OUTFLOW) + overflow), flux(rows::OPEN_WATER_OUTFLOW));
    flux(rows::POTENTIAL_EVAPORATION) = pick(on, (flux(rows::POTENTIAL_EVAPORATION) + (rate * wide(dt))), flux(rows::POTENTIAL_EVAPORATION));
    stage_ground__add_lateral(on, lateral, rows::TO_REACH, tile, first_route, 0, 1, n_route, overflow);
    return radiation;
}

// Latent heat of all water that left in this step, J m-2.
template <typename flux_t>
static inline V stage_surface__latent_energy(M on, stage_surface__Air air, flux_t& flux) {
    V water{};
    V ice{};
    water = ((((flux(rows::CANOPY_EVAPORATION) + flux(rows::TRANSPIRATION)) + flux(rows::SOIL_EVAPORATION)) + flux(rows::SURFACE_EVAPORATION)) + flux(rows::OPEN_WATER_EVAPORATION));
    ice = flux(rows::SNOW_SUBLIMATION);
    return (wide(constants__WATER_DENSITY) * ((air.vaporisation_heat * (water + ice)) + (wide(constants__FUSION_HEAT) * ice)));
}

// (1 - exp(-x))/x, 1 at 0.
static inline V energy___phi(M on, V x) {
    return ([&] { const M when_ = M(x > wide(Real(1e-08))); V chosen_ = (wide(Real(1.0)) - (wide(Real(0.5)) * x)); if (any(on & when_)) { chosen_ = pick(when_, ((-expm1((-x))) / x), chosen_); } return chosen_; }());
}

// Integrate eqs. (6.20) and (6.21) exactly over one step under constant radiation and latent heat.
static inline energy__ForceRestore energy__force_restore_step(M on, V surface, V deep, V radiation, V latent, V air_temperature, V conductance, Real dt) {
    V known{};
    V p{};
    V q{};
    V root{};
    V fast{};
    V slow{};
    V start_surface{};
    V start_deep{};
    V at_fast{};
    V at_slow{};
    V b{};
    V a{};
    V turned_surface{};
    V turned_deep{};
    V end_surface{};
    V end_deep{};
    V ground{};
    known = ((radiation - latent) + (conductance * air_temperature));
    p = ((wide(energy__C1) * conductance) + wide(energy__OMEGA));
    q = (wide(energy__C3) * conductance);
    root = sqrt(max(wide(Real(0.0)), ((p * p) - (wide((Real(4.0) * energy__OMEGA)) * q))));
    fast = (wide(Real(0.5)) * (p + root));
    slow = ((wide(energy__OMEGA) * q) / fast);
    start_surface = ((((-p) * surface) + (wide(energy__OMEGA) * deep)) + (wide(energy__C1) * known));
    start_deep = (((-q) * surface) + (wide(energy__C3) * known));
    at_fast = (wide(dt) * energy___phi(on, (fast * wide(dt))));
    at_slow = (wide(dt) * energy___phi(on, (slow * wide(dt))));
    b = ((at_slow - at_fast) / (fast - slow));
    a = (at_slow + (b * slow));
    turned_surface = (((-p) * start_surface) + (wide(energy__OMEGA) * start_deep));
    turned_deep = ((-q) * start_surface);
    end_surface = ((surface + (a * start_surface)) + (b * turned_surface));
    end_deep = ((deep + (a * start_deep)) + (b * turned_deep));
    ground = (((a * start_deep) + (b * turned_deep)) / wide((energy__C3 * dt)));
    return energy__ForceRestore{end_surface, end_deep, ground, ((radiation - latent) - ground)};
}

// Energy terms of the step (J m-2): what is neither latent nor ground heat is sensible heat; eq. (15.2).
template <typename option_t, typename store_t, typename flux_t>
static inline void stage_column__close_energy(M on, int kind, V radiation, stage_surface__Air air, Real dt, option_t& option, store_t& store, flux_t& flux) {
    V latent{};
    V ground{};
    V sensible{};
    V conductance{};
    energy__ForceRestore result{};
    latent = stage_surface__latent_energy(on, air, flux);
    const Real part_1 = Real(0.0);
    const V part_2 = ((radiation * wide(dt)) - latent);
    ground = wide(part_1);
    sensible = part_2;
    if (((kind != rows::WATER) && (int(Real(option(rows::ENERGY_BALANCE))) == rows::FORCE_RESTORE))) {
        conductance = ((air.heat_capacity * air.wind) / wide(Real(option(rows::SOIL_AERODYNAMIC_FACTOR))));
        result = energy__force_restore_step(on, store(rows::SURFACE_TEMPERATURE), store(rows::DEEP_TEMPERATURE), radiation, (latent / wide(dt)), air.temperature, conductance, dt);
        store(rows::SURFACE_TEMPERATURE) = pick(on, result.surface_temperature, store(rows::SURFACE_TEMPERATURE));
        store(rows::DEEP_TEMPERATURE) = pick(on, result.deep_temperature, store(rows::DEEP_TEMPERATURE));
        const V part_3 = (result.ground_heat * wide(dt));
        const V part_4 = (result.sensible_heat * wide(dt));
        ground = part_3;
        sensible = part_4;
    }
    flux(rows::GROUND_HEAT) = pick(on, ground, flux(rows::GROUND_HEAT));
    flux(rows::SENSIBLE_HEAT) = pick(on, sensible, flux(rows::SENSIBLE_HEAT));
    flux(rows::NET_RADIATION) = pick(on, (radiation * wide(dt)), flux(rows::NET_RADIATION));
    flux(rows::LATENT_HEAT) = pick(on, latent, flux(rows::LATENT_HEAT));
}

// Status code of a finished step: finite, and closed to rounding.
template <typename option_t, typename flux_t>
static inline V stage_column__check_step(M on, V before, V after, stage_surface__Air air, option_t& option, flux_t& flux) {
    V gone{};
    V residual{};
    V answer{};
    M done = mask(false);
    gone = (((((((((flux(rows::CANOPY_EVAPORATION) + flux(rows::TRANSPIRATION)) + flux(rows::SOIL_EVAPORATION)) + flux(rows::SNOW_SUBLIMATION)) + flux(rows::SURFACE_EVAPORATION)) + flux(rows::OPEN_WATER_EVAPORATION)) + flux(rows::OVERLAND_RUNOFF)) + flux(rows::INTERFLOW)) + flux(rows::PERCOLATION)) + flux(rows::OPEN_WATER_OUTFLOW));
    residual = (((air.rain + air.snow) - gone) - (after - before));
    {
        const M if_1 = ~(isfinite(residual));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(rows::NOT_FINITE)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    {
        const M if_3 = M(abs(residual) > (wide(Real(option(rows::STEP_CLOSURE))) * ((((before + after) + air.rain) + air.snow) + wide(stage_column___FLOOR))));
        M on_4 = on & if_3;
        {
            answer = pick(on_4, wide(Real(rows::OUT_OF_BALANCE)), answer);
            done |= on_4;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, wide(Real(rows::OK)), answer);
    return answer;
    return answer;
}

// One step of one tile, whatever its kind. Status code.
template <typename option_t, typename tile_index_t, typename tile_parameter_t, typename vegetation_t, typename store_t, typename flux_t, typename soil_t, typename lateral_t>
static inline V stage_column__tile_step(M on, Lane tile, int step, int n_route, Real dt, stage_surface__Air air, option_t& option, tile_index_t& tile_index, tile_parameter_t& tile_parameter, vegetation_t& vegetation, store_t& store, flux_t& flux, soil_t& soil, int n_layers, lateral_t& lateral) {
    int kind;
    int first_route;
    V ground_heat{};
    V before{};
    V code{};
    V radiation{};
    kind = first_of(on, tile_index, rows::TILE_KIND, tile);
    first_route = (step * n_route);
    ground_heat = wide(Real(0.0));
    if (((kind != rows::WATER) && (int(Real(option(rows::ENERGY_BALANCE))) == rows::FORCE_RESTORE))) {
        ground_heat = energy__ground_heat_estimate(on, store(rows::SURFACE_TEMPERATURE), store(rows::DEEP_TEMPERATURE));
    }
    before = stage_column__tile_water(on, store, soil, n_layers);
    code = wide(Real(rows::OK));
    if ((kind == rows::SOIL)) {
        const Tuple2<V, V> parts_1 = stage_column__soil_step(on, tile, step, first_route, n_route, dt, air, ground_heat, option, tile_index, tile_parameter, vegetation, store, flux, soil, n_layers, lateral);
        radiation = parts_1.v0;
        code = parts_1.v1;
    } else {
        if ((kind == rows::IMPERVIOUS)) {
            radiation = stage_column__impervious_step(on, tile, first_route, n_route, dt, air, ground_heat, option, tile_parameter, store, flux, lateral);
        } else {
            radiation = stage_column__water_step(on, tile, first_route, n_route, dt, air, option, tile_parameter, store, flux, lateral);
        }
    }
    stage_column__close_energy(on, kind, radiation, air, dt, option, store, flux);
    {
        const M if_2 = M(code == wide(Real(rows::OK)));
        M on_3 = on & if_2;
        if (any(on_3)) {
            code = pick(on_3, stage_column__check_step(on_3, before, stage_column__tile_water(on_3, store, soil, n_layers), air, option, flux), code);
        }
    }
    return code;
}

// Write the chosen variables of this step.
template <typename record_index_t, typename record_t, typename store_t, typename flux_t, typename soil_t>
static inline void stage_column__record_step(M on, Lane tile, int step, int n_layers, record_index_t& record_index, record_t& record, store_t& store, flux_t& flux, soil_t& soil) {
    int source;
    int row;
    int layer;
    {
        M on_1 = on;
        for (int item = 0; item < record_index.shape(1); ++item) {
            source = int(record_index(0, item));
            row = int(record_index(1, item));
            layer = int(record_index(2, item));
            if ((source == rows::RECORD_FLUX)) {
                put(on, flux(row), record, item, step, tile);
            } else {
                if ((source == rows::RECORD_STATE)) {
                    put(on, store(row), record, item, step, tile);
                } else {
                    if ((layer < n_layers)) {
                        put(on, soil(rows::WORK_WATER, layer), record, item, step, tile);
                    }
                }
            }
        }
    }
}

// Copy a tile's state back from scratch.
template <typename store_t, typename soil_t, typename tile_state_t, typename soil_state_t>
static inline void stage_column__store_tile(M on, Lane tile, int n_layers, store_t& store, soil_t& soil, tile_state_t& tile_state, soil_state_t& soil_state) {
    {
        M on_1 = on;
        for (int row = 0; row < stage_column___N_STORE; ++row) {
            put(on, store(row), tile_state, row, tile);
        }
    }
    {
        M on_2 = on;
        for (int layer = 0; layer < n_layers; ++layer) {
            put(on, soil(rows::WORK_WATER, layer), soil_state, rows::SOIL_WATER, layer, tile);
            put(on, soil(rows::WORK_DEFICIT, layer), soil_state, rows::EVENT_DEFICIT, layer, tile);
        }
    }
}

// Advance one tile through ``n_steps`` of ``dt`` s, each of ``n_route`` routing steps.
template <typename option_t, typename tile_index_t, typename tile_parameter_t, typename soil_parameter_t, typename vegetation_t, typename weather_t, typename tile_state_t, typename soil_state_t, typename tile_flux_t, typename lateral_t, typename record_index_t, typename record_t, typename status_t, typename store_t, typename flux_t, typename soil_t>
static inline void stage_column__advance_tile(M on, Lane tile, int n_steps, int n_route, Real dt, option_t& option, tile_index_t& tile_index, tile_parameter_t& tile_parameter, soil_parameter_t& soil_parameter, vegetation_t& vegetation, weather_t& weather, tile_state_t& tile_state, soil_state_t& soil_state, tile_flux_t& tile_flux, lateral_t& lateral, record_index_t& record_index, record_t& record, status_t& status, store_t& store, flux_t& flux, soil_t& soil) {
    V unit{};
    int n_layers;
    stage_surface__Air air{};
    V code{};
    unit = at(on, tile_index, rows::TILE_UNIT, tile);
    n_layers = ((first_of(on, tile_index, rows::TILE_KIND, tile) == rows::SOIL) ? soil_state.shape(1) : 0);
    stage_column__load_tile(on, tile, n_layers, tile_state, soil_state, soil_parameter, store, soil);
    {
        M on_1 = on;
        for (int row = 0; row < stage_column___N_LATERAL; ++row) {
            {
                M on_2 = on;
                for (int route = 0; route < (n_steps * n_route); ++route) {
                    put(on, wide(Real(0.0)), lateral, row, route, tile);
                }
            }
        }
    }
    {
        M on_3 = on;
        M gone_3 = mask(false);
        for (int step = 0; step < n_steps; ++step) {
            if (!any(on_3)) { break; }
            air = stage_column__begin_step(on_3, weather, step, unit, dt, flux);
            code = stage_column__tile_step(on_3, tile, step, n_route, dt, air, option, tile_index, tile_parameter, vegetation, store, flux, soil, n_layers, lateral);
            stage_column__record_step(on_3, tile, step, n_layers, record_index, record, store, flux, soil);
            {
                M on_4 = on_3;
                for (int row = 0; row < stage_column___N_FLUX; ++row) {
                    put(on_3, (at(on_3, tile_flux, row, tile) + flux(row)), tile_flux, row, tile);
                }
            }
            {
                const M if_5 = M(code != wide(Real(rows::OK)));
                M on_6 = on_3 & if_5;
                {
                    put(on_6, code, status, 0, tile);
                    put(on_6, wide(Real(step)), status, 1, tile);
                    gone_3 |= on_6;
                }
            }
            on_3 &= ~gone_3;
        }
    }
    stage_column__store_tile(on, tile, n_layers, store, soil, tile_state, soil_state);
}

}  // namespace
