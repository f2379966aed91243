// Water on leaves (docs/theory/interception.md, eqs. 5.1 to 5.4; Noilhan and Planton 1989).
// Written by wepl.kernels.translate from wepl/physics/interception.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"

namespace wepl::interception {

constexpr int _WET_PARTS = 4;

// A canopy after one step: water on it, evaporated and dripped in the step (m over the tile).
template <typename R>
struct CanopyStep {
    R water;
    R evaporation;
    R drip;
};

// Water left on a canopy after ``time`` s of drying at the potential ``rate`` (m s-1), m; eq. (5.4).
template <typename R>
WEPL_FUNCTION R dry_canopy(R water, R capacity, R rate, R time) {
    R fill;
    R left;
    if (((water <= R(0.0)) || (capacity <= R(0.0)))) {
        return R(0.0);
    }
    fill = wepl::pow((wepl::min(water, capacity) / capacity), (R(1.0) / R(3.0)));
    left = wepl::max(R(0.0), (fill - ((rate * time) / (R(3.0) * capacity))));
    return wepl::min(water, (((capacity * left) * left) * left));
}

// Advance a canopy through a step whose wet part comes first; eqs. (5.2) to (5.4).
template <typename R>
WEPL_FUNCTION wepl::interception::CanopyStep<R> canopy_step(R water, R rain, R capacity, R potential, R wet_time, R dry_time) {
    R drip;
    R evaporation;
    R half;
    R full;
    R spilled;
    R left;
    R more;
    drip = wepl::max(R(0.0), (water - capacity));
    water = (water - drip);
    if ((capacity <= R(0.0))) {
        return wepl::interception::CanopyStep<R>{R(0.0), R(0.0), (drip + rain)};
    }
    evaporation = R(0.0);
    if ((rain > R(0.0))) {
        half = ((R(0.5) * rain) / R(wepl::interception::_WET_PARTS));
        for (int turn_1 = 0; turn_1 < wepl::interception::_WET_PARTS; ++turn_1) {
            full = (water + half);
            spilled = wepl::max(R(0.0), (full - capacity));
            full -= spilled;
            left = wepl::interception::dry_canopy<R>(full, capacity, potential, (wet_time / R(wepl::interception::_WET_PARTS)));
            evaporation += (full - left);
            full = (left + half);
            more = wepl::max(R(0.0), (full - capacity));
            water = (full - more);
            drip += (spilled + more);
        }
    } else {
        if ((wet_time > R(0.0))) {
            left = wepl::interception::dry_canopy<R>(water, capacity, potential, wet_time);
            evaporation += (water - left);
            water = left;
        }
    }
    left = wepl::interception::dry_canopy<R>(water, capacity, potential, dry_time);
    evaporation += (water - left);
    return wepl::interception::CanopyStep<R>{left, evaporation, drip};
}

}  // namespace
