// The snow pack of one tile (docs/theory/snow.md, eqs. 4.1 to 4.4).
// Written by wepl.kernels.translate from wepl/physics/snow.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"

namespace wepl::snow {

// A pack after one step: ice and liquid water (m), water that left it and sublimation in the step (m).
template <typename R>
struct SnowStep {
    R ice;
    R liquid;
    R outflow;
    R sublimation;
};

// Share of precipitation that falls as snow, 0 to 1; eq. (4.1).
template <typename R>
WEPL_FUNCTION R snow_share(R temperature, R snow_temperature, R rain_temperature) {
    if ((temperature <= snow_temperature)) {
        return R(1.0);
    }
    if ((temperature >= rain_temperature)) {
        return R(0.0);
    }
    return ((rain_temperature - temperature) / (rain_temperature - snow_temperature));
}

// Advance a pack through one step; eqs. (4.2) to (4.4).
template <typename R>
WEPL_FUNCTION wepl::snow::SnowStep<R> snow_step(R ice, R liquid, R rain, R snowfall, R temperature, R potential_sublimation, R dt, R factor, R melt_temperature, R liquid_share, R refreezing_share) {
    R sublimation;
    R warmth;
    R melt;
    R frozen;
    R outflow;
    ice = (ice + snowfall);
    liquid = (liquid + rain);
    sublimation = wepl::min(ice, potential_sublimation);
    ice -= sublimation;
    warmth = (temperature - melt_temperature);
    if ((warmth > R(0.0))) {
        melt = wepl::min(ice, ((factor * warmth) * dt));
        ice -= melt;
        liquid += melt;
    } else {
        frozen = ((ice > R(0.0)) ? wepl::min(liquid, ((((-refreezing_share) * factor) * warmth) * dt)) : R(0.0));
        ice += frozen;
        liquid -= frozen;
    }
    outflow = wepl::max(R(0.0), (liquid - (liquid_share * ice)));
    return wepl::snow::SnowStep<R>{ice, (liquid - outflow), outflow, sublimation};
}

}  // namespace
