// The hillslope stage on vector lanes.
// Written by wepl.kernels.lanes_translate from wepl/physics and wepl/stages: change it there.
#pragma once
#include "arrays.h"
#include "rows.cuh"

namespace wepl::on_hillslope {

using wepl::pick;

constexpr Real stage_hillslope___HOUR = Real(3600.0);
constexpr int kinematic__HALLEY_STEPS = 3;

// A band after one part of a step: depth left on it and depth that ran off it, m over the band.
struct overland__BandStep {
    V depth;
    V outflow;
};
WEPL_LANE overland__BandStep pick(M m, overland__BandStep a, overland__BandStep b) { return {pick(m, a.depth, b.depth), pick(m, a.outflow, b.outflow)}; }

// What a unit's tiles hand over in a routing step to slope, reach and aquifer, m over the unit, in stored order.
template <typename tile_start_t, typename tile_list_t, typename tile_parameter_t, typename lateral_t>
static inline Tuple3<V, V, V> stage_hillslope__unit_lateral(M on, V unit, int route, tile_start_t& tile_start, tile_list_t& tile_list, tile_parameter_t& tile_parameter, lateral_t& lateral) {
    V overland{};
    V outflow{};
    V deep{};
    V tile{};
    V fraction{};
    const Real part_1 = Real(0.0);
    const Real part_2 = Real(0.0);
    const Real part_3 = Real(0.0);
    overland = wide(part_1);
    outflow = wide(part_2);
    deep = wide(part_3);
    const V stop_4 = at(on, tile_start, (unit + wide(Real(1))));
    {
        M on_5 = on;
        for (V place = at(on, tile_start, unit);; place = place + 1.0) {
            on_5 &= M(place < stop_4);
            if (!any(on_5)) { break; }
            tile = at(on_5, tile_list, place);
            fraction = at(on_5, tile_parameter, rows::TILE_FRACTION, tile);
            overland = pick(on_5, (overland + (fraction * at(on_5, lateral, rows::TO_OVERLAND, route, tile))), overland);
            outflow = pick(on_5, (outflow + (fraction * at(on_5, lateral, rows::TO_REACH, route, tile))), outflow);
            deep = pick(on_5, (deep + (fraction * at(on_5, lateral, rows::TO_AQUIFER, route, tile))), deep);
        }
    }
    return Tuple3<V, V, V>{overland, outflow, deep};
}

// The y >= 0 with ``y^3 + c y^5 = b`` (b, c >= 0).
static inline V kinematic__kinematic_root(M on, V b, V c) {
    M fast{};
    V y{};
    V cube{};
    V bent{};
    V excess{};
    V slope{};
    V answer{};
    M done = mask(false);
    {
        const M if_1 = M(b <= wide(Real(0.0)));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(0.0)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    fast = M((((c * b) * (c * b)) * c) > wide(Real(1.0)));
    y = pow(pick(fast, (b / c), b), pick(fast, wide(Real(0.2)), wide((Real(1.0) / Real(3.0)))));
    {
        M on_4 = on;
        for (int turn_3 = 0; turn_3 < kinematic__HALLEY_STEPS; ++turn_3) {
            cube = ((y * y) * y);
            bent = ((c * y) * y);
            excess = ((cube * (wide(Real(1.0)) + bent)) - b);
            slope = (wide(Real(3.0)) + (wide(Real(5.0)) * bent));
            y = (y - ((((wide(Real(2.0)) * y) * excess) * slope) / ((((wide(Real(2.0)) * cube) * slope) * slope) - (excess * (wide(Real(6.0)) + (wide(Real(20.0)) * bent))))));
        }
    }
    answer = pick(on, y, answer);
    return answer;
    return answer;
}

// What stays and what leaves of the depth ``held`` (m: start, supply and inflow) in ``dt`` s; eq. (12.2).
static inline overland__BandStep overland__overland_step(M on, V held, V rate, Real dt) {
    V y{};
    V outflow{};
    overland__BandStep answer{};
    M done = mask(false);
    {
        const M if_1 = M(held <= wide(Real(0.0)));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, overland__BandStep{held, wide(Real(0.0))}, answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    y = kinematic__kinematic_root(on, held, (rate * wide(dt)));
    outflow = min(held, max(wide(Real(0.0)), (held - ((y * y) * y))));
    answer = pick(on, overland__BandStep{(held - outflow), outflow}, answer);
    return answer;
    return answer;
}

// Advance one sub-basin through ``n_routes`` routing steps of ``dt_route`` s.
template <typename tile_start_t, typename tile_list_t, typename unit_start_t, typename tile_parameter_t, typename unit_parameter_t, typename unit_state_t, typename lateral_t, typename inflow_t, typename subbasin_flux_t, typename status_t, typename flow_t>
static inline void stage_hillslope__advance_subbasin(M on, Lane subbasin, int n_routes, Real dt_route, tile_start_t& tile_start, tile_list_t& tile_list, unit_start_t& unit_start, tile_parameter_t& tile_parameter, unit_parameter_t& unit_parameter, unit_state_t& unit_state, lateral_t& lateral, inflow_t& inflow, subbasin_flux_t& subbasin_flux, status_t& status, flow_t& flow) {
    int n_parts;
    Real part_dt;
    V first{};
    V last{};
    V supplied{};
    V direct{};
    V percolated{};
    V arrived{};
    V area{};
    V supply{};
    V outflow{};
    V deep{};
    V depth{};
    V rate{};
    overland__BandStep band{};
    n_parts = max(1, int(std::ceil((dt_route / stage_hillslope___HOUR))));
    part_dt = (dt_route / Real(n_parts));
    const V part_1 = at(on, unit_start, subbasin);
    const V part_2 = at(on, unit_start, Lane{subbasin.base + 1});
    first = part_1;
    last = part_2;
    {
        M on_3 = on;
        for (int route = 0; route < n_routes; ++route) {
            const Real part_4 = Real(0.0);
            const Real part_5 = Real(0.0);
            const Real part_6 = Real(0.0);
            const Real part_7 = Real(0.0);
            supplied = wide(part_4);
            direct = wide(part_5);
            percolated = wide(part_6);
            arrived = wide(part_7);
            {
                M on_8 = on;
                for (int part = 0; part < n_parts; ++part) {
                    flow(part) = pick(on, wide(Real(0.0)), flow(part));
                }
            }
            const V stop_9 = last;
            {
                M on_10 = on;
                for (V unit = first;; unit = unit + 1.0) {
                    on_10 &= M(unit < stop_9);
                    if (!any(on_10)) { break; }
                    area = at(on_10, unit_parameter, rows::AREA, unit);
                    const Tuple3<V, V, V> parts_11 = stage_hillslope__unit_lateral(on_10, unit, route, tile_start, tile_list, tile_parameter, lateral);
                    supply = parts_11.v0;
                    outflow = parts_11.v1;
                    deep = parts_11.v2;
                    direct = pick(on_10, (direct + (area * outflow)), direct);
                    percolated = pick(on_10, (percolated + (area * deep)), percolated);
                    supplied = pick(on_10, (supplied + (supply * area)), supplied);
                    depth = at(on_10, unit_state, rows::OVERLAND_DEPTH, unit);
                    rate = at(on_10, unit_parameter, rows::OVERLAND_RATE, unit);
                    {
                        M on_12 = on_10;
                        for (int part = 0; part < n_parts; ++part) {
                            band = overland__overland_step(on_10, ((depth + (supply / wide(Real(n_parts)))) + (flow(part) / area)), rate, part_dt);
                            depth = band.depth;
                            flow(part) = pick(on_10, (band.outflow * area), flow(part));
                        }
                    }
                    put(on_10, depth, unit_state, rows::OVERLAND_DEPTH, unit);
                }
            }
            {
                M on_13 = on;
                for (int part = 0; part < n_parts; ++part) {
                    arrived = (arrived + flow(part));
                }
            }
            put(on, (arrived + direct), inflow, rows::SURFACE_INFLOW, route, subbasin);
            put(on, percolated, inflow, rows::PERCOLATION_INFLOW, route, subbasin);
            put(on, (at(on, subbasin_flux, rows::OVERLAND_SUPPLY, subbasin) + supplied), subbasin_flux, rows::OVERLAND_SUPPLY, subbasin);
            put(on, (at(on, subbasin_flux, rows::OVERLAND_INFLOW, subbasin) + arrived), subbasin_flux, rows::OVERLAND_INFLOW, subbasin);
            put(on, (at(on, subbasin_flux, rows::DIRECT_INFLOW, subbasin) + direct), subbasin_flux, rows::DIRECT_INFLOW, subbasin);
            {
                const M if_14 = (M(at(on, status, 0, subbasin) == wide(Real(rows::OK))) & ~(isfinite(((arrived + direct) + percolated))));
                M on_15 = on & if_14;
                {
                    put(on_15, wide(Real(rows::NOT_FINITE)), status, 0, subbasin);
                    put(on_15, wide(Real(route)), status, 1, subbasin);
                }
            }
        }
    }
}

}  // namespace
