// The river stage: aquifers and the kinematic network (docs/theory/groundwater.md and river.md).
// Written by wepl.kernels.translate from wepl/stages/river.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/groundwater.cuh"
#include "physics/river.cuh"

namespace wepl::stage_river {

// Pass ``percolation`` (m3) through the transition store; the recharge of the step, m3.
template <typename R, typename subbasin_parameter_t, typename subbasin_state_t, typename subbasin_flux_t>
WEPL_FUNCTION R _recharge(int reach, R percolation, R dt, subbasin_parameter_t& subbasin_parameter, subbasin_state_t& subbasin_state, subbasin_flux_t& subbasin_flux) {
    R area;
    R inflow;
    R before;
    R after;
    R recharge;
    area = subbasin_parameter(wepl::rows::SUBBASIN_AREA, reach);
    inflow = (percolation / area);
    before = subbasin_state(wepl::rows::TRANSITION_STORAGE, reach);
    after = wepl::groundwater::transition_step<R>(before, inflow, subbasin_parameter(wepl::rows::DELAY, reach), dt);
    recharge = wepl::max(R(0.0), (((before + inflow) - after) * area));
    subbasin_state(wepl::rows::TRANSITION_STORAGE, reach) += (inflow - (recharge / area));
    subbasin_flux(wepl::rows::PERCOLATION_VOLUME, reach) += percolation;
    subbasin_flux(wepl::rows::RECHARGE, reach) += recharge;
    return recharge;
}

// Mean water depth of a reach, m.
template <typename R, typename subbasin_parameter_t, typename river_state_t>
WEPL_FUNCTION R _river_depth(int reach, int first, int last, subbasin_parameter_t& subbasin_parameter, river_state_t& river_state) {
    R volume;
    R length;
    volume = R(0.0);
    for (int cell = first; cell < last; ++cell) {
        volume += river_state(wepl::rows::RIVER_STORAGE, cell);
    }
    length = (subbasin_parameter(wepl::rows::CELL_LENGTH, reach) * R((last - first)));
    return (volume / (length * subbasin_parameter(wepl::rows::WIDTH, reach)));
}

// Advance a reach's cells; discharge at its end (m3 s-1) and the volume that the bed could take (m3).
template <typename R, typename subbasin_parameter_t, typename river_state_t>
WEPL_FUNCTION Tuple2<R, R> _route(int reach, int first, int last, R inflow, R lateral, R wanted, R dt, subbasin_parameter_t& subbasin_parameter, river_state_t& river_state) {
    int n_cells;
    R length;
    R width;
    R roughness;
    R discharge;
    R taken;
    R storage;
    R side;
    R loss;
    wepl::river::CellStep<R> result;
    n_cells = (last - first);
    length = subbasin_parameter(wepl::rows::CELL_LENGTH, reach);
    width = subbasin_parameter(wepl::rows::WIDTH, reach);
    roughness = subbasin_parameter(wepl::rows::ROUGHNESS_FACTOR, reach);
    discharge = inflow;
    taken = R(0.0);
    for (int cell = first; cell < last; ++cell) {
        storage = river_state(wepl::rows::RIVER_STORAGE, cell);
        side = (lateral / R(n_cells));
        if ((wanted > R(0.0))) {
            loss = wepl::min(((wanted - taken) / R((last - cell))), ((storage + (dt * discharge)) + side));
            taken += loss;
            side -= loss;
        }
        result = wepl::river::cell_step<R>(storage, discharge, side, length, width, roughness, dt);
        river_state(wepl::rows::RIVER_STORAGE, cell) = wepl::max(R(0.0), result.storage);
        discharge = result.discharge;
    }
    return Tuple2<R, R>{discharge, taken};
}

// One routing step of one reach: recharge, exchange with the aquifer, flow.
template <typename R, typename upstream_start_t, typename upstream_list_t, typename cell_start_t, typename subbasin_parameter_t, typename subbasin_state_t, typename river_state_t, typename inflow_t, typename series_t, typename subbasin_flux_t, typename status_t>
WEPL_FUNCTION void advance_reach(int reach, int route, R dt, upstream_start_t& upstream_start, upstream_list_t& upstream_list, cell_start_t& cell_start, subbasin_parameter_t& subbasin_parameter, subbasin_state_t& subbasin_state, river_state_t& river_state, inflow_t& inflow, series_t& series, subbasin_flux_t& subbasin_flux, status_t& status) {
    int first;
    int last;
    R upstream;
    R surface;
    R recharge;
    R yield_area;
    R head;
    R depth;
    wepl::groundwater::AquiferStep<R> aquifer;
    R given;
    R discharge;
    R taken;
    R exchange;
    R before_loss;
    R loss;
    R after;
    const int part_1 = cell_start(reach);
    const int part_2 = cell_start((reach + 1));
    first = part_1;
    last = part_2;
    upstream = R(0.0);
    for (int place = upstream_start(reach); place < upstream_start((reach + 1)); ++place) {
        upstream += series(wepl::rows::DISCHARGE, route, upstream_list(place));
    }
    surface = inflow(wepl::rows::SURFACE_INFLOW, route, reach);
    recharge = wepl::stage_river::_recharge<R>(reach, inflow(wepl::rows::PERCOLATION_INFLOW, route, reach), dt, subbasin_parameter, subbasin_state, subbasin_flux);
    yield_area = subbasin_parameter(wepl::rows::YIELD_AREA, reach);
    head = subbasin_state(wepl::rows::GROUNDWATER_HEAD, reach);
    depth = wepl::stage_river::_river_depth<R>(reach, first, last, subbasin_parameter, river_state);
    aquifer = wepl::groundwater::aquifer_step<R>(head, recharge, depth, subbasin_parameter(wepl::rows::BED_CONDUCTANCE, reach), subbasin_parameter(wepl::rows::BED_THICKNESS, reach), yield_area, dt);
    given = wepl::max(R(0.0), aquifer.discharge);
    const Tuple2<R, R> parts_3 = wepl::stage_river::_route<R>(reach, first, last, upstream, (surface + given), wepl::max(R(0.0), (-aquifer.discharge)), dt, subbasin_parameter, river_state);
    discharge = parts_3.v0;
    taken = parts_3.v1;
    exchange = (given - taken);
    subbasin_state(wepl::rows::GROUNDWATER_HEAD, reach) += ((recharge - exchange) / yield_area);
    before_loss = subbasin_state(wepl::rows::GROUNDWATER_HEAD, reach);
    loss = (before_loss - wepl::groundwater::deep_loss_step<R>(before_loss, subbasin_parameter(wepl::rows::LOSS_RATE, reach), dt));
    subbasin_state(wepl::rows::GROUNDWATER_HEAD, reach) -= loss;
    after = (before_loss - loss);
    series(wepl::rows::DISCHARGE, route, reach) = discharge;
    series(wepl::rows::LATERAL_INFLOW, route, reach) = ((surface + exchange) / dt);
    series(wepl::rows::BASEFLOW, route, reach) = (exchange / dt);
    series(wepl::rows::WATER_TABLE, route, reach) = after;
    subbasin_flux(wepl::rows::GROUNDWATER_DISCHARGE, reach) += exchange;
    subbasin_flux(wepl::rows::DEEP_LOSS, reach) += (yield_area * loss);
    subbasin_flux(wepl::rows::REACH_INFLOW, reach) += (upstream * dt);
    subbasin_flux(wepl::rows::REACH_OUTFLOW, reach) += (discharge * dt);
    if (((status(0, reach) == wepl::rows::OK) && !(wepl::isfinite((discharge + after))))) {
        status(0, reach) = wepl::rows::NOT_FINITE;
        status(1, reach) = route;
    }
}

}  // namespace
