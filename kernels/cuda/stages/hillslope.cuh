// The hillslope stage: runoff of a sub-basin's tiles over its bands to the reach (docs/theory/overland.md).
// Written by wepl.kernels.translate from wepl/stages/hillslope.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/overland.cuh"

namespace wepl::stage_hillslope {

constexpr int MOST_PARTS = 24;
constexpr double _HOUR = 3600.0;

// What a unit's tiles hand over in a routing step to slope, reach and aquifer, m over the unit, in stored order.
template <typename R, typename tile_start_t, typename tile_list_t, typename tile_parameter_t, typename lateral_t>
WEPL_FUNCTION Tuple3<R, R, R> unit_lateral(int unit, int route, tile_start_t& tile_start, tile_list_t& tile_list, tile_parameter_t& tile_parameter, lateral_t& lateral) {
    R overland;
    R outflow;
    R deep;
    int tile;
    R fraction;
    const R part_1 = R(0.0);
    const R part_2 = R(0.0);
    const R part_3 = R(0.0);
    overland = part_1;
    outflow = part_2;
    deep = part_3;
    for (int place = tile_start(unit); place < tile_start((unit + 1)); ++place) {
        tile = tile_list(place);
        fraction = tile_parameter(wepl::rows::TILE_FRACTION, tile);
        overland += (fraction * lateral(wepl::rows::TO_OVERLAND, route, tile));
        outflow += (fraction * lateral(wepl::rows::TO_REACH, route, tile));
        deep += (fraction * lateral(wepl::rows::TO_AQUIFER, route, tile));
    }
    return Tuple3<R, R, R>{overland, outflow, deep};
}

// Advance one sub-basin through ``n_routes`` routing steps of ``dt_route`` s.
template <typename R, typename tile_start_t, typename tile_list_t, typename unit_start_t, typename tile_parameter_t, typename unit_parameter_t, typename unit_state_t, typename lateral_t, typename inflow_t, typename subbasin_flux_t, typename status_t, typename flow_t>
WEPL_FUNCTION void advance_subbasin(int subbasin, int n_routes, R dt_route, tile_start_t& tile_start, tile_list_t& tile_list, unit_start_t& unit_start, tile_parameter_t& tile_parameter, unit_parameter_t& unit_parameter, unit_state_t& unit_state, lateral_t& lateral, inflow_t& inflow, subbasin_flux_t& subbasin_flux, status_t& status, flow_t& flow) {
    int n_parts;
    R part_dt;
    int first;
    int last;
    R supplied;
    R direct;
    R percolated;
    R arrived;
    R area;
    R supply;
    R outflow;
    R deep;
    R depth;
    R rate;
    wepl::overland::BandStep<R> band;
    n_parts = wepl::max(1, int(wepl::ceil((dt_route / R(wepl::stage_hillslope::_HOUR)))));
    part_dt = (dt_route / R(n_parts));
    const int part_1 = unit_start(subbasin);
    const int part_2 = unit_start((subbasin + 1));
    first = part_1;
    last = part_2;
    for (int route = 0; route < n_routes; ++route) {
        const R part_3 = R(0.0);
        const R part_4 = R(0.0);
        const R part_5 = R(0.0);
        const R part_6 = R(0.0);
        supplied = part_3;
        direct = part_4;
        percolated = part_5;
        arrived = part_6;
        for (int part = 0; part < n_parts; ++part) {
            flow(part) = R(0.0);
        }
        for (int unit = first; unit < last; ++unit) {
            area = unit_parameter(wepl::rows::AREA, unit);
            const Tuple3<R, R, R> parts_7 = wepl::stage_hillslope::unit_lateral<R>(unit, route, tile_start, tile_list, tile_parameter, lateral);
            supply = parts_7.v0;
            outflow = parts_7.v1;
            deep = parts_7.v2;
            direct += (area * outflow);
            percolated += (area * deep);
            supplied += (supply * area);
            depth = unit_state(wepl::rows::OVERLAND_DEPTH, unit);
            rate = unit_parameter(wepl::rows::OVERLAND_RATE, unit);
            for (int part = 0; part < n_parts; ++part) {
                band = wepl::overland::overland_step<R>(((depth + (supply / R(n_parts))) + (flow(part) / area)), rate, part_dt);
                depth = band.depth;
                flow(part) = (band.outflow * area);
            }
            unit_state(wepl::rows::OVERLAND_DEPTH, unit) = depth;
        }
        for (int part = 0; part < n_parts; ++part) {
            arrived += flow(part);
        }
        inflow(wepl::rows::SURFACE_INFLOW, route, subbasin) = (arrived + direct);
        inflow(wepl::rows::PERCOLATION_INFLOW, route, subbasin) = percolated;
        subbasin_flux(wepl::rows::OVERLAND_SUPPLY, subbasin) += supplied;
        subbasin_flux(wepl::rows::OVERLAND_INFLOW, subbasin) += arrived;
        subbasin_flux(wepl::rows::DIRECT_INFLOW, subbasin) += direct;
        if (((status(0, subbasin) == wepl::rows::OK) && !(wepl::isfinite(((arrived + direct) + percolated))))) {
            status(0, subbasin) = wepl::rows::NOT_FINITE;
            status(1, subbasin) = route;
        }
    }
}

}  // namespace
