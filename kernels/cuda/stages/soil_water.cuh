// Soil water of one tile in one part of a step: draws, drainage, diffusion, limits (docs/theory/soil-water.md).
// Written by wepl.kernels.translate from wepl/stages/soil_water.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/soil_hydraulics.cuh"
#include "physics/soil_water.cuh"

namespace wepl::stage_soil_water {

constexpr int _SUCTION = 17;
constexpr int _SLOPE = 18;
constexpr int _LINK = 19;
constexpr int _UPPER = 20;
constexpr int _CHANGE = 21;

// What evaporation took from the soil in one part, m.
template <typename R>
struct Draw {
    R soil_evaporation;
    R transpiration;
};

// What left the soil in one part upward, sideways and downward, m.
template <typename R>
struct SoilPart {
    R exfiltration;
    R interflow;
    R percolation;
};

// Take evaporation (m s-1) from the top layer and WORK_TRANSPIRATION (m s-1) from each, within their limits.
template <typename R, typename soil_t>
WEPL_FUNCTION wepl::stage_soil_water::Draw<R> draw_part(soil_t& soil, int n_layers, R dt, R soil_evaporation_rate) {
    R wanted;
    R evaporation;
    R transpiration;
    R taken;
    wanted = (soil_evaporation_rate * dt);
    evaporation = wepl::max(R(0.0), wepl::min(wanted, (soil(wepl::rows::WORK_WATER, 0) - soil(wepl::rows::DRY_WATER, 0))));
    soil(wepl::rows::WORK_WATER, 0) -= evaporation;
    transpiration = R(0.0);
    for (int layer = 0; layer < n_layers; ++layer) {
        wanted = (soil(wepl::rows::WORK_TRANSPIRATION, layer) * dt);
        taken = wepl::max(R(0.0), wepl::min(wanted, (soil(wepl::rows::WORK_WATER, layer) - soil(wepl::rows::WILTING_WATER, layer))));
        soil(wepl::rows::WORK_WATER, layer) -= taken;
        transpiration += taken;
    }
    return wepl::stage_soil_water::Draw<R>{evaporation, transpiration};
}

// Effective saturation of a layer, 0 to 1; eq. (7.1).
template <typename R, typename soil_t>
WEPL_FUNCTION R _saturation(soil_t& soil, int layer) {
    R residual;
    R span;
    residual = soil(wepl::rows::RESIDUAL_WATER, layer);
    span = (soil(wepl::rows::SATURATED_WATER, layer) - residual);
    return wepl::max(R(0.0), wepl::min(R(1.0), ((soil(wepl::rows::WORK_WATER, layer) - residual) / span)));
}

// Saturation and conductivity of a layer into its scratch rows.
template <typename R, typename soil_t>
WEPL_FUNCTION void _set_conductivity(soil_t& soil, int layer) {
    R saturation;
    saturation = wepl::stage_soil_water::_saturation<R>(soil, layer);
    soil(wepl::rows::WORK_SATURATION, layer) = saturation;
    soil(wepl::rows::WORK_CONDUCTIVITY, layer) = wepl::soil_hydraulics::conductivity<R>(saturation, soil(wepl::rows::LAYER_CONDUCTIVITY, layer), soil(wepl::rows::CONDUCTIVITY_EXPONENT, layer));
}

// Drain one layer whose conductivity is in scratch; the Drainage has left it.
template <typename R, typename soil_t>
WEPL_FUNCTION wepl::soil_water::Drainage<R> _drain(soil_t& soil, int layer, R dt, R interflow_factor) {
    R residual;
    wepl::soil_water::Drainage<R> gone;
    residual = soil(wepl::rows::RESIDUAL_WATER, layer);
    gone = wepl::soil_water::drain_layer<R>((soil(wepl::rows::WORK_WATER, layer) - residual), (soil(wepl::rows::FIELD_CAPACITY_WATER, layer) - residual), (soil(wepl::rows::SATURATED_WATER, layer) - residual), soil(wepl::rows::WORK_CONDUCTIVITY, layer), soil(wepl::rows::LAYER_CONDUCTIVITY, layer), soil(wepl::rows::CONDUCTIVITY_EXPONENT, layer), (interflow_factor * soil(wepl::rows::LAYER_THICKNESS, layer)), dt);
    soil(wepl::rows::WORK_WATER, layer) -= gone.down;
    soil(wepl::rows::WORK_WATER, layer) -= gone.sideways;
    return gone;
}

// How much finer than ``part_dt`` (s) the parts of a step must be: 1, 2 or 4.
template <typename R, typename soil_t>
WEPL_FUNCTION int parts_factor(soil_t& soil, int n_layers, R part_dt) {
    R fastest;
    R water;
    R change;
    fastest = R(0.0);
    for (int layer = 0; layer < n_layers; ++layer) {
        wepl::stage_soil_water::_set_conductivity<R>(soil, layer);
        water = (soil(wepl::rows::WORK_WATER, layer) - soil(wepl::rows::RESIDUAL_WATER, layer));
        change = ((soil(wepl::rows::CONDUCTIVITY_EXPONENT, layer) * soil(wepl::rows::WORK_CONDUCTIVITY, layer)) * part_dt);
        if (((water > R(0.0)) && (change > (fastest * water)))) {
            fastest = (change / water);
        }
    }
    if ((fastest <= R(0.1))) {
        return 1;
    }
    return ((fastest <= R(0.4)) ? 2 : 4);
}

// What of the lowest layer's drainage the ground below takes, at most ``limit`` m, the rest stays; eq. (9.6).
template <typename R, typename soil_t>
WEPL_FUNCTION R _percolate(soil_t& soil, int n_layers, R drained, R limit) {
    R percolation;
    percolation = wepl::min(drained, limit);
    soil(wepl::rows::WORK_WATER, (n_layers - 1)) += (drained - percolation);
    return percolation;
}

// Carry out the changes in _CHANGE as fluxes between neighbours (upward positive), each within its limits.
template <typename R, typename soil_t>
WEPL_FUNCTION void _move(soil_t& soil, int n_layers) {
    R flux;
    R upper;
    R lower;
    R amount;
    flux = R(0.0);
    for (int layer = 0; layer < (n_layers - 1); ++layer) {
        flux += soil(wepl::stage_soil_water::_CHANGE, layer);
        const R part_1 = soil(wepl::rows::WORK_WATER, layer);
        const R part_2 = soil(wepl::rows::WORK_WATER, (layer + 1));
        upper = part_1;
        lower = part_2;
        if ((flux > R(0.0))) {
            amount = wepl::min(flux, wepl::max(R(0.0), (lower - soil(wepl::rows::RESIDUAL_WATER, (layer + 1)))));
            amount = wepl::min(amount, wepl::max(R(0.0), (soil(wepl::rows::SATURATED_WATER, layer) - upper)));
        } else {
            amount = wepl::min((-flux), wepl::max(R(0.0), (upper - soil(wepl::rows::RESIDUAL_WATER, layer))));
            amount = (-wepl::min(amount, wepl::max(R(0.0), (soil(wepl::rows::SATURATED_WATER, (layer + 1)) - lower))));
        }
        soil(wepl::rows::WORK_WATER, layer) += amount;
        soil(wepl::rows::WORK_WATER, (layer + 1)) -= amount;
    }
}

// Suction diffusion between layers by one implicit solve; eqs. (9.3) and (9.5).
template <typename R, typename soil_t>
WEPL_FUNCTION void _diffuse(soil_t& soil, int n_layers, R dt) {
    R span;
    wepl::soil_hydraulics::Suction<R> psi;
    R d1;
    R d2;
    R mean;
    R above;
    R flux_above;
    R upper;
    R change;
    R link;
    R flux;
    R slope;
    R below;
    R pivot;
    for (int layer = 0; layer < n_layers; ++layer) {
        wepl::stage_soil_water::_set_conductivity<R>(soil, layer);
        span = (soil(wepl::rows::SATURATED_WATER, layer) - soil(wepl::rows::RESIDUAL_WATER, layer));
        psi = wepl::soil_hydraulics::suction_and_slope<R>(soil(wepl::rows::WORK_SATURATION, layer), soil(wepl::rows::RETENTION_A, layer), soil(wepl::rows::RETENTION_B, layer));
        soil(wepl::stage_soil_water::_SUCTION, layer) = psi.head;
        soil(wepl::stage_soil_water::_SLOPE, layer) = ((-psi.slope) / span);
    }
    for (int layer = 0; layer < (n_layers - 1); ++layer) {
        d1 = soil(wepl::rows::LAYER_THICKNESS, layer);
        d2 = soil(wepl::rows::LAYER_THICKNESS, (layer + 1));
        mean = (((d1 * soil(wepl::rows::WORK_CONDUCTIVITY, layer)) + (d2 * soil(wepl::rows::WORK_CONDUCTIVITY, (layer + 1)))) / (d1 + d2));
        soil(wepl::stage_soil_water::_LINK, layer) = (((R(2.0) * dt) * mean) / (d1 + d2));
    }
    soil(wepl::stage_soil_water::_LINK, (n_layers - 1)) = R(0.0);
    const R part_1 = R(0.0);
    const R part_2 = R(0.0);
    const R part_3 = R(0.0);
    const R part_4 = R(0.0);
    above = part_1;
    flux_above = part_2;
    upper = part_3;
    change = part_4;
    for (int layer = 0; layer < n_layers; ++layer) {
        link = soil(wepl::stage_soil_water::_LINK, layer);
        flux = R(0.0);
        if ((layer < (n_layers - 1))) {
            flux = (link * (soil(wepl::stage_soil_water::_SUCTION, layer) - soil(wepl::stage_soil_water::_SUCTION, (layer + 1))));
        }
        slope = soil(wepl::stage_soil_water::_SLOPE, layer);
        below = ((layer > 0) ? ((-above) * soil(wepl::stage_soil_water::_SLOPE, (layer - 1))) : R(0.0));
        pivot = ((R(1.0) + ((link + above) * slope)) - (below * upper));
        upper = ((layer < (n_layers - 1)) ? (((-link) * soil(wepl::stage_soil_water::_SLOPE, (layer + 1))) / pivot) : R(0.0));
        change = (((flux - flux_above) - (below * change)) / pivot);
        soil(wepl::stage_soil_water::_UPPER, layer) = upper;
        soil(wepl::stage_soil_water::_CHANGE, layer) = change;
        const R part_5 = link;
        const R part_6 = flux;
        above = part_5;
        flux_above = part_6;
    }
    for (int layer = (n_layers - 2); layer > (-1); --layer) {
        soil(wepl::stage_soil_water::_CHANGE, layer) -= (soil(wepl::stage_soil_water::_UPPER, layer) * soil(wepl::stage_soil_water::_CHANGE, (layer + 1)));
    }
    wepl::stage_soil_water::_move<R>(soil, n_layers);
}

// Water above saturation goes up, layer by layer; the depth that comes out at the surface, m.
template <typename R, typename soil_t>
WEPL_FUNCTION R _limit(soil_t& soil, int n_layers) {
    R excess;
    excess = R(0.0);
    for (int layer = (n_layers - 1); layer > (-1); --layer) {
        soil(wepl::rows::WORK_WATER, layer) += excess;
        excess = wepl::max(R(0.0), (soil(wepl::rows::WORK_WATER, layer) - soil(wepl::rows::SATURATED_WATER, layer)));
        soil(wepl::rows::WORK_WATER, layer) -= excess;
    }
    return excess;
}

// Drainage from the top downward with interflow, diffusion, limits, for ``dt`` s; a :class:`SoilPart`.
template <typename R, typename soil_t>
WEPL_FUNCTION wepl::stage_soil_water::SoilPart<R> redistribute_part(soil_t& soil, int n_layers, R dt, R interflow_factor, R bedrock_conductivity) {
    R interflow;
    R passed;
    wepl::soil_water::Drainage<R> gone;
    R percolation;
    const R part_1 = R(0.0);
    const R part_2 = R(0.0);
    interflow = part_1;
    passed = part_2;
    for (int layer = 0; layer < n_layers; ++layer) {
        soil(wepl::rows::WORK_WATER, layer) += passed;
        wepl::stage_soil_water::_set_conductivity<R>(soil, layer);
        gone = wepl::stage_soil_water::_drain<R>(soil, layer, dt, interflow_factor);
        interflow += gone.sideways;
        passed = gone.down;
    }
    percolation = wepl::stage_soil_water::_percolate<R>(soil, n_layers, passed, (bedrock_conductivity * dt));
    if ((n_layers > 1)) {
        wepl::stage_soil_water::_diffuse<R>(soil, n_layers, dt);
    }
    return wepl::stage_soil_water::SoilPart<R>{wepl::stage_soil_water::_limit<R>(soil, n_layers), interflow, percolation};
}

// Interflow of every layer and percolation from the lowest, which go on in a Green-Ampt step; a SoilPart.
template <typename R, typename soil_t>
WEPL_FUNCTION wepl::stage_soil_water::SoilPart<R> heavy_part(soil_t& soil, int n_layers, R dt, R interflow_factor, R bedrock_conductivity) {
    R interflow;
    R percolation;
    bool lowest;
    wepl::soil_water::Drainage<R> gone;
    const R part_1 = R(0.0);
    const R part_2 = R(0.0);
    interflow = part_1;
    percolation = part_2;
    for (int layer = 0; layer < n_layers; ++layer) {
        lowest = (layer == (n_layers - 1));
        if ((lowest || ((interflow_factor > R(0.0)) && (soil(wepl::rows::WORK_WATER, layer) > soil(wepl::rows::FIELD_CAPACITY_WATER, layer))))) {
            wepl::stage_soil_water::_set_conductivity<R>(soil, layer);
            gone = wepl::stage_soil_water::_drain<R>(soil, layer, dt, interflow_factor);
            interflow += gone.sideways;
            if (lowest) {
                percolation = wepl::stage_soil_water::_percolate<R>(soil, n_layers, gone.down, (bedrock_conductivity * dt));
            } else {
                soil(wepl::rows::WORK_WATER, layer) += gone.down;
            }
        }
    }
    return wepl::stage_soil_water::SoilPart<R>{R(0.0), interflow, percolation};
}

}  // namespace
