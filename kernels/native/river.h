// The river stage on vector lanes.
// Written by wepl.kernels.lanes_translate from wepl/physics and wepl/stages: change it there.
#pragma once
#include "arrays.h"
#include "rows.cuh"

namespace wepl::on_river {

using wepl::pick;

constexpr int kinematic__HALLEY_STEPS = 3;

// An aquifer after one step: head (m) and volume given to the river in the step (m3, negative: taken from it).
struct groundwater__AquiferStep {
    V head;
    V discharge;
};
WEPL_LANE groundwater__AquiferStep pick(M m, groundwater__AquiferStep a, groundwater__AquiferStep b) { return {pick(m, a.head, b.head), pick(m, a.discharge, b.discharge)}; }

// A cell after one step: storage (m3) and discharge at its end, mean of the step (m3 s-1).
struct river__CellStep {
    V storage;
    V discharge;
};
WEPL_LANE river__CellStep pick(M m, river__CellStep a, river__CellStep b) { return {pick(m, a.storage, b.storage), pick(m, a.discharge, b.discharge)}; }

// Water left (m) in the transition store after ``dt`` s of even ``inflow`` (m); eq. (11.1), exact.
static inline V groundwater__transition_step(M on, V storage, V inflow, V delay, Real dt) {
    V x{};
    V answer{};
    M done = mask(false);
    {
        const M if_1 = M(delay <= wide(Real(0.0)));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(0.0)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    x = (wide(dt) / delay);
    answer = pick(on, ((storage * exp((-x))) + (inflow * ((-expm1((-x))) / x))), answer);
    return answer;
    return answer;
}

// Pass ``percolation`` (m3) through the transition store; the recharge of the step, m3.
template <typename subbasin_parameter_t, typename subbasin_state_t, typename subbasin_flux_t>
static inline V stage_river___recharge(M on, V reach, V percolation, Real dt, subbasin_parameter_t& subbasin_parameter, subbasin_state_t& subbasin_state, subbasin_flux_t& subbasin_flux) {
    V area{};
    V inflow{};
    V before{};
    V after{};
    V recharge{};
    area = at(on, subbasin_parameter, rows::SUBBASIN_AREA, reach);
    inflow = (percolation / area);
    before = at(on, subbasin_state, rows::TRANSITION_STORAGE, reach);
    after = groundwater__transition_step(on, before, inflow, at(on, subbasin_parameter, rows::DELAY, reach), dt);
    recharge = max(wide(Real(0.0)), (((before + inflow) - after) * area));
    put(on, (at(on, subbasin_state, rows::TRANSITION_STORAGE, reach) + (inflow - (recharge / area))), subbasin_state, rows::TRANSITION_STORAGE, reach);
    put(on, (at(on, subbasin_flux, rows::PERCOLATION_VOLUME, reach) + percolation), subbasin_flux, rows::PERCOLATION_VOLUME, reach);
    put(on, (at(on, subbasin_flux, rows::RECHARGE, reach) + recharge), subbasin_flux, rows::RECHARGE, reach);
    return recharge;
}

// Mean water depth of a reach, m.
template <typename subbasin_parameter_t, typename river_state_t>
static inline V stage_river___river_depth(M on, V reach, V first, V last, subbasin_parameter_t& subbasin_parameter, river_state_t& river_state) {
    V volume{};
    V length{};
    volume = wide(Real(0.0));
    const V stop_1 = last;
    {
        M on_2 = on;
        for (V cell = first;; cell = cell + 1.0) {
            on_2 &= M(cell < stop_1);
            if (!any(on_2)) { break; }
            volume = pick(on_2, (volume + at(on_2, river_state, rows::RIVER_STORAGE, cell)), volume);
        }
    }
    length = (at(on, subbasin_parameter, rows::CELL_LENGTH, reach) * (last - first));
    return (volume / (length * at(on, subbasin_parameter, rows::WIDTH, reach)));
}

// (1 - exp(-x))/x, 1 at 0.
static inline V groundwater___mean_decay(M on, V x) {
    return ([&] { const M when_ = M(x > wide(Real(1e-09))); V chosen_ = (wide(Real(1.0)) - (wide(Real(0.5)) * x)); if (any(on & when_)) { chosen_ = pick(when_, ((-expm1((-x))) / x), chosen_); } return chosen_; }());
}

// Exchange with the river over one step; eqs. (11.2) to (11.4) without deep loss, exact in each regime.
static inline groundwater__AquiferStep groundwater__aquifer_step(M on, V head, V recharge, V river_depth, V conductance, V bed_thickness, V yield_area, Real dt) {
    V left{};
    V level{};
    V gained{};
    V threshold{};
    V rise{};
    V rate{};
    left = wide(dt);
    level = head;
    gained = wide(Real(0.0));
    threshold = (river_depth - bed_thickness);
    {
        const M if_1 = M(level < threshold);
        M on_2 = on & if_1;
        if (any(on_2)) {
            rise = (((recharge / wide(dt)) + (conductance * bed_thickness)) / yield_area);
            {
                const M if_3 = M((rise * left) <= (threshold - level));
                M on_4 = on_2 & if_3;
                {
                    gained = pick(on_4, (rise * left), gained);
                    left = pick(on_4, wide(Real(0.0)), left);
                }
                M on_5 = on_2 & ~if_3;
                {
                    gained = pick(on_5, (threshold - level), gained);
                    left = pick(on_5, (left - (gained / rise)), left);
                    level = pick(on_5, threshold, level);
                }
            }
        }
    }
    {
        const M if_6 = M(left > wide(Real(0.0)));
        M on_7 = on & if_6;
        if (any(on_7)) {
            rate = (((recharge / wide(dt)) - (conductance * (level - river_depth))) / yield_area);
            gained = pick(on_7, (gained + ((rate * left) * groundwater___mean_decay(on_7, ((conductance * left) / yield_area)))), gained);
        }
    }
    return groundwater__AquiferStep{(head + gained), (recharge - (yield_area * gained))};
}

// alpha of ``A = alpha Q^(3/5)``, eq. (13.1), for the wetted perimeter that belongs to ``storage``.
static inline V river__section_factor(M on, V storage, V length, V width, V roughness) {
    V area{};
    V perimeter{};
    area = (storage / length);
    perimeter = (width + ((wide(Real(2.0)) * area) / width));
    return (roughness * pow(perimeter, wide(Real(0.4))));
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

// Advance one cell through ``dt`` s; eqs. (13.2) and (13.3), implicit upwind, which diffuses by eq. (13.4).
static inline river__CellStep river__cell_step(M on, V storage, V inflow, V lateral, V length, V width, V roughness, Real dt) {
    V held{};
    V scale{};
    V y{};
    V gone{};
    river__CellStep answer{};
    M done = mask(false);
    held = ((storage + (wide(dt) * inflow)) + lateral);
    {
        const M if_1 = M(held <= wide(Real(0.0)));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, river__CellStep{held, wide(Real(0.0))}, answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    scale = (length * river__section_factor(on, storage, length, width, roughness));
    y = kinematic__kinematic_root(on, (held / scale), (wide(dt) / scale));
    gone = min(held, (wide(dt) * power<5>(y)));
    answer = pick(on, river__CellStep{(held - gone), (gone / wide(dt))}, answer);
    return answer;
    return answer;
}

// Advance a reach's cells; discharge at its end (m3 s-1) and the volume that the bed could take (m3).
template <typename subbasin_parameter_t, typename river_state_t>
static inline Tuple2<V, V> stage_river___route(M on, V reach, V first, V last, V inflow, V lateral, V wanted, Real dt, subbasin_parameter_t& subbasin_parameter, river_state_t& river_state) {
    V n_cells{};
    V length{};
    V width{};
    V roughness{};
    V discharge{};
    V taken{};
    V storage{};
    V side{};
    V loss{};
    river__CellStep result{};
    n_cells = (last - first);
    length = at(on, subbasin_parameter, rows::CELL_LENGTH, reach);
    width = at(on, subbasin_parameter, rows::WIDTH, reach);
    roughness = at(on, subbasin_parameter, rows::ROUGHNESS_FACTOR, reach);
    discharge = inflow;
    taken = wide(Real(0.0));
    const V stop_1 = last;
    {
        M on_2 = on;
        for (V cell = first;; cell = cell + 1.0) {
            on_2 &= M(cell < stop_1);
            if (!any(on_2)) { break; }
            storage = at(on_2, river_state, rows::RIVER_STORAGE, cell);
            side = (lateral / n_cells);
            {
                const M if_3 = M(wanted > wide(Real(0.0)));
                M on_4 = on_2 & if_3;
                {
                    loss = min(((wanted - taken) / (last - cell)), ((storage + (wide(dt) * discharge)) + side));
                    taken = pick(on_4, (taken + loss), taken);
                    side = pick(on_4, (side - loss), side);
                }
            }
            result = river__cell_step(on_2, storage, discharge, side, length, width, roughness, dt);
            put(on_2, max(wide(Real(0.0)), result.storage), river_state, rows::RIVER_STORAGE, cell);
            discharge = pick(on_2, result.discharge, discharge);
        }
    }
    return Tuple2<V, V>{discharge, taken};
}

// Head, m, after deep loss over ``dt`` s at ``loss_rate`` s-1; only water above the river bed is lost.
static inline V groundwater__deep_loss_step(M on, V head, V loss_rate, Real dt) {
    return ([&] { const M when_ = M(head > wide(Real(0.0))); V chosen_ = head; if (any(on & when_)) { chosen_ = pick(when_, (head * exp(((-loss_rate) * wide(dt)))), chosen_); } return chosen_; }());
}

// One routing step of one reach: recharge, exchange with the aquifer, flow.
template <typename upstream_start_t, typename upstream_list_t, typename cell_start_t, typename subbasin_parameter_t, typename subbasin_state_t, typename river_state_t, typename inflow_t, typename series_t, typename subbasin_flux_t, typename status_t>
static inline void stage_river__advance_reach(M on, V reach, int route, Real dt, upstream_start_t& upstream_start, upstream_list_t& upstream_list, cell_start_t& cell_start, subbasin_parameter_t& subbasin_parameter, subbasin_state_t& subbasin_state, river_state_t& river_state, inflow_t& inflow, series_t& series, subbasin_flux_t& subbasin_flux, status_t& status) {
    V first{};
    V last{};
    V upstream{};
    V surface{};
    V recharge{};
    V yield_area{};
    V head{};
    V depth{};
    groundwater__AquiferStep aquifer{};
    V given{};
    V discharge{};
    V taken{};
    V exchange{};
    V before_loss{};
    V loss{};
    V after{};
    const V part_1 = at(on, cell_start, reach);
    const V part_2 = at(on, cell_start, (reach + wide(Real(1))));
    first = part_1;
    last = part_2;
    upstream = wide(Real(0.0));
    const V stop_3 = at(on, upstream_start, (reach + wide(Real(1))));
    {
        M on_4 = on;
        for (V place = at(on, upstream_start, reach);; place = place + 1.0) {
            on_4 &= M(place < stop_3);
            if (!any(on_4)) { break; }
            upstream = pick(on_4, (upstream + at(on_4, series, rows::DISCHARGE, route, at(on_4, upstream_list, place))), upstream);
        }
    }
    surface = at(on, inflow, rows::SURFACE_INFLOW, route, reach);
    recharge = stage_river___recharge(on, reach, at(on, inflow, rows::PERCOLATION_INFLOW, route, reach), dt, subbasin_parameter, subbasin_state, subbasin_flux);
    yield_area = at(on, subbasin_parameter, rows::YIELD_AREA, reach);
    head = at(on, subbasin_state, rows::GROUNDWATER_HEAD, reach);
    depth = stage_river___river_depth(on, reach, first, last, subbasin_parameter, river_state);
    aquifer = groundwater__aquifer_step(on, head, recharge, depth, at(on, subbasin_parameter, rows::BED_CONDUCTANCE, reach), at(on, subbasin_parameter, rows::BED_THICKNESS, reach), yield_area, dt);
    given = max(wide(Real(0.0)), aquifer.discharge);
    const Tuple2<V, V> parts_5 = stage_river___route(on, reach, first, last, upstream, (surface + given), max(wide(Real(0.0)), (-aquifer.discharge)), dt, subbasin_parameter, river_state);
    discharge = parts_5.v0;
    taken = parts_5.v1;
    exchange = (given - taken);
    put(on, (at(on, subbasin_state, rows::GROUNDWATER_HEAD, reach) + ((recharge - exchange) / yield_area)), subbasin_state, rows::GROUNDWATER_HEAD, reach);
    before_loss = at(on, subbasin_state, rows::GROUNDWATER_HEAD, reach);
    loss = (before_loss - groundwater__deep_loss_step(on, before_loss, at(on, subbasin_parameter, rows::LOSS_RATE, reach), dt));
    put(on, (at(on, subbasin_state, rows::GROUNDWATER_HEAD, reach) - loss), subbasin_state, rows::GROUNDWATER_HEAD, reach);
    after = (before_loss - loss);
    put(on, discharge, series, rows::DISCHARGE, route, reach);
    put(on, ((surface + exchange) / wide(dt)), series, rows::LATERAL_INFLOW, route, reach);
    put(on, (exchange / wide(dt)), series, rows::BASEFLOW, route, reach);
    put(on, after, series, rows::WATER_TABLE, route, reach);
    put(on, (at(on, subbasin_flux, rows::GROUNDWATER_DISCHARGE, reach) + exchange), subbasin_flux, rows::GROUNDWATER_DISCHARGE, reach);
    put(on, (at(on, subbasin_flux, rows::DEEP_LOSS, reach) + (yield_area * loss)), subbasin_flux, rows::DEEP_LOSS, reach);
    put(on, (at(on, subbasin_flux, rows::REACH_INFLOW, reach) + (upstream * wide(dt))), subbasin_flux, rows::REACH_INFLOW, reach);
    put(on, (at(on, subbasin_flux, rows::REACH_OUTFLOW, reach) + (discharge * wide(dt))), subbasin_flux, rows::REACH_OUTFLOW, reach);
    {
        const M if_6 = (M(at(on, status, 0, reach) == wide(Real(rows::OK))) & ~(isfinite((discharge + after))));
        M on_7 = on & if_6;
        {
            put(on_7, wide(Real(rows::NOT_FINITE)), status, 0, reach);
            put(on_7, wide(Real(route)), status, 1, reach);
        }
    }
}

}  // namespace
