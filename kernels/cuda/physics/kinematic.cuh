// The one equation of kinematic routing (docs/theory/overland.md, eq. 12.3; river.md, eq. 13.3).
// Written by wepl.kernels.translate from wepl/physics/kinematic.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"

namespace wepl::kinematic {

constexpr int HALLEY_STEPS = 3;

// The y >= 0 with ``y^3 + c y^5 = b`` (b, c >= 0).
template <typename R>
WEPL_FUNCTION R kinematic_root(R b, R c) {
    bool fast;
    R y;
    R cube;
    R bent;
    R excess;
    R slope;
    if ((b <= R(0.0))) {
        return R(0.0);
    }
    fast = ((((c * b) * (c * b)) * c) > R(1.0));
    y = wepl::pow((fast ? (b / c) : b), (fast ? R(0.2) : (R(1.0) / R(3.0))));
    for (int turn_1 = 0; turn_1 < wepl::kinematic::HALLEY_STEPS; ++turn_1) {
        cube = ((y * y) * y);
        bent = ((c * y) * y);
        excess = ((cube * (R(1.0) + bent)) - b);
        slope = (R(3.0) + (R(5.0) * bent));
        y -= ((((R(2.0) * y) * excess) * slope) / ((((R(2.0) * cube) * slope) * slope) - (excess * (R(6.0) + (R(20.0) * bent)))));
    }
    return y;
}

}  // namespace
