// Overland flow of one band (docs/theory/overland.md, eqs. 12.1 to 12.3).
// Written by wepl.kernels.translate from wepl/physics/overland.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/kinematic.cuh"

namespace wepl::overland {

// A band after one part of a step: depth left on it and depth that ran off it, m over the band.
template <typename R>
struct BandStep {
    R depth;
    R outflow;
};

// sqrt(S)/(n L), m-2/3 s-1: outflow per area is this times depth^(5/3), eq. (12.1); slope 1, n s m-1/3, L m.
template <typename R>
WEPL_FUNCTION R overland_rate(R slope, R manning, R flow_length) {
    return (wepl::pow(slope, R(0.5)) / (manning * flow_length));
}

// What stays and what leaves of the depth ``held`` (m: start, supply and inflow) in ``dt`` s; eq. (12.2).
template <typename R>
WEPL_FUNCTION wepl::overland::BandStep<R> overland_step(R held, R rate, R dt) {
    R y;
    R outflow;
    if ((held <= R(0.0))) {
        return wepl::overland::BandStep<R>{held, R(0.0)};
    }
    y = wepl::kinematic::kinematic_root<R>(held, (rate * dt));
    outflow = wepl::min(held, wepl::max(R(0.0), (held - ((y * y) * y))));
    return wepl::overland::BandStep<R>{(held - outflow), outflow};
}

}  // namespace
