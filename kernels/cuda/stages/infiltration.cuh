// Multi-layer Green-Ampt infiltration of one tile (docs/theory/infiltration.md, eqs. 8.1 to 8.7).
// Written by wepl.kernels.translate from wepl/stages/infiltration.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/green_ampt.cuh"

namespace wepl::stage_infiltration {

// Infiltration of one part (m), since the event began (m), and whether every iteration converged.
template <typename R>
struct GreenAmptPart {
    R infiltrated;
    R event_infiltration;
    bool converged;
};

// Where the wetting front stands: layer, infiltration at its top and bottom (m), k (m s-1), A and B (m).
template <typename R>
struct Front {
    int layer;
    R top;
    R bottom;
    R conductivity;
    R a;
    R b;
};

// A front after a stretch in one layer: infiltration (m), time used (s), ponding, convergence.
template <typename R>
struct Advance {
    R infiltration;
    R time;
    bool ponded;
    bool converged;
};

// Keep each layer's moisture deficit at the start of an event in WORK_DEFICIT.
template <typename R, typename soil_t>
WEPL_FUNCTION void begin_event(soil_t& soil, int n_layers) {
    R room;
    for (int layer = 0; layer < n_layers; ++layer) {
        room = (soil(wepl::rows::SATURATED_WATER, layer) - soil(wepl::rows::WORK_WATER, layer));
        soil(wepl::rows::WORK_DEFICIT, layer) = wepl::max(R(0.0), (room / soil(wepl::rows::LAYER_THICKNESS, layer)));
    }
}

// Water that the profile can still take, m.
template <typename R, typename soil_t>
WEPL_FUNCTION R free_room(soil_t& soil, int n_layers) {
    R room;
    room = R(0.0);
    for (int layer = 0; layer < n_layers; ++layer) {
        room += wepl::max(R(0.0), (soil(wepl::rows::SATURATED_WATER, layer) - soil(wepl::rows::WORK_WATER, layer)));
    }
    return room;
}

// Fill layers to saturation from the top with ``depth`` m; the depth that found no room.
template <typename R, typename soil_t>
WEPL_FUNCTION R fill_from_top(soil_t& soil, int n_layers, R depth) {
    R taken;
    for (int layer = 0; layer < n_layers; ++layer) {
        taken = wepl::min(depth, wepl::max(R(0.0), (soil(wepl::rows::SATURATED_WATER, layer) - soil(wepl::rows::WORK_WATER, layer))));
        soil(wepl::rows::WORK_WATER, layer) += taken;
        depth -= taken;
    }
    return depth;
}

// Rate that a saturated profile passes, m s-1: its smallest conductivity.
template <typename R, typename soil_t>
WEPL_FUNCTION R saturated_profile_rate(soil_t& soil, int n_layers) {
    R rate;
    rate = soil(wepl::rows::LAYER_CONDUCTIVITY, 0);
    for (int layer = 1; layer < n_layers; ++layer) {
        rate = wepl::min(rate, soil(wepl::rows::LAYER_CONDUCTIVITY, layer));
    }
    return rate;
}

// The layer that ``infiltration`` m of the event have reached; layer ``n_layers`` when all are full.
template <typename R, typename soil_t>
WEPL_FUNCTION wepl::stage_infiltration::Front<R> find_front(soil_t& soil, int n_layers, R infiltration) {
    R depth;
    R resistance;
    R filled;
    R thickness;
    R deficit;
    R k;
    R bottom;
    R a;
    R b;
    const R part_1 = R(0.0);
    const R part_2 = R(0.0);
    const R part_3 = R(0.0);
    depth = part_1;
    resistance = part_2;
    filled = part_3;
    for (int layer = 0; layer < n_layers; ++layer) {
        thickness = soil(wepl::rows::LAYER_THICKNESS, layer);
        deficit = soil(wepl::rows::WORK_DEFICIT, layer);
        k = soil(wepl::rows::LAYER_CONDUCTIVITY, layer);
        bottom = (filled + (thickness * deficit));
        if ((infiltration < bottom)) {
            a = (((depth - (resistance * k)) + soil(wepl::rows::FRONT_SUCTION, layer)) * deficit);
            b = (((resistance * k) * deficit) - filled);
            return wepl::stage_infiltration::Front<R>{layer, filled, bottom, k, a, b};
        }
        depth += thickness;
        resistance += (thickness / k);
        filled = bottom;
    }
    return wepl::stage_infiltration::Front<R>{n_layers, filled, filled, R(0.0), R(0.0), R(0.0)};
}

// Go on at a steady rate within one layer.
template <typename R>
WEPL_FUNCTION wepl::stage_infiltration::Advance<R> _advance_at(wepl::stage_infiltration::Front<R> front, R infiltration, R rate, R time) {
    if (((infiltration + (rate * time)) < front.bottom)) {
        return wepl::stage_infiltration::Advance<R>{(infiltration + (rate * time)), time, false, true};
    }
    return wepl::stage_infiltration::Advance<R>{front.bottom, wepl::min(time, ((front.bottom - infiltration) / rate)), false, true};
}

// Go on in one layer until the time is used, ponding begins or the layer is full.
template <typename R>
WEPL_FUNCTION wepl::stage_infiltration::Advance<R> _advance_in_layer(wepl::stage_infiltration::Front<R> front, R infiltration, R rate, R time, bool ponded) {
    R steady;
    R start;
    R reached;
    R needed;
    R to_bottom;
    wepl::green_ampt::Ponded<R> end;
    R most;
    if ((front.a <= R(0.0))) {
        steady = wepl::min(rate, wepl::green_ampt::capacity<R>(front.top, front.conductivity, front.a, front.b));
        return wepl::stage_infiltration::_advance_at<R>(front, infiltration, steady, time);
    }
    if (!(ponded)) {
        if ((rate <= front.conductivity)) {
            return wepl::stage_infiltration::_advance_at<R>(front, infiltration, rate, time);
        }
        start = wepl::green_ampt::ponding_infiltration<R>(rate, front.conductivity, front.a, front.b);
        if ((start > infiltration)) {
            reached = wepl::min(start, front.bottom);
            needed = ((reached - infiltration) / rate);
            if ((needed > time)) {
                return wepl::stage_infiltration::Advance<R>{(infiltration + (rate * time)), time, false, true};
            }
            return wepl::stage_infiltration::Advance<R>{reached, needed, (start <= front.bottom), true};
        }
    }
    to_bottom = wepl::green_ampt::ponded_time<R>(infiltration, front.bottom, front.conductivity, front.a, front.b);
    if ((to_bottom <= time)) {
        return wepl::stage_infiltration::Advance<R>{front.bottom, to_bottom, false, true};
    }
    end = wepl::green_ampt::ponded_infiltration<R>(infiltration, time, front.conductivity, front.a, front.b);
    most = wepl::min(front.bottom, (infiltration + (rate * time)));
    return wepl::stage_infiltration::Advance<R>{wepl::max(infiltration, wepl::min(end.infiltration, most)), time, true, end.converged};
}

// Infiltration of one part under a steady supply.
template <typename R, typename soil_t>
WEPL_FUNCTION wepl::stage_infiltration::GreenAmptPart<R> green_ampt_part(soil_t& soil, int n_layers, R event_infiltration, R rate, R dt) {
    R infiltration;
    R left;
    bool ponded;
    bool converged;
    wepl::stage_infiltration::Front<R> front;
    wepl::stage_infiltration::Advance<R> step;
    infiltration = event_infiltration;
    left = dt;
    const bool part_1 = false;
    const bool part_2 = true;
    ponded = part_1;
    converged = part_2;
    if ((rate <= R(0.0))) {
        return wepl::stage_infiltration::GreenAmptPart<R>{R(0.0), infiltration, true};
    }
    for (int turn_3 = 0; turn_3 < ((2 * n_layers) + 2); ++turn_3) {
        if ((left <= R(0.0))) {
            break;
        }
        front = wepl::stage_infiltration::find_front<R>(soil, n_layers, infiltration);
        if ((front.layer == n_layers)) {
            infiltration += (wepl::min(rate, wepl::stage_infiltration::saturated_profile_rate<R>(soil, n_layers)) * left);
            left = R(0.0);
            break;
        }
        step = wepl::stage_infiltration::_advance_in_layer<R>(front, infiltration, rate, left, ponded);
        infiltration = step.infiltration;
        left -= step.time;
        ponded = step.ponded;
        converged = (converged && step.converged);
    }
    return wepl::stage_infiltration::GreenAmptPart<R>{(infiltration - event_infiltration), infiltration, (converged && (left <= (R(1e-09) * dt)))};
}

}  // namespace
