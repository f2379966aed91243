// The one equation of kinematic routing (docs/theory/overland.md, eq. 12.3; river.md, eq. 13.3).
// Written by wepl.kernels.translate from wepl/physics/kinematic.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"

namespace wepl::kinematic {

constexpr int NEWTON_STEPS = 6;

// The y >= 0 with ``y^3 + c y^5 = b`` (b, c >= 0).
template <typename R>
WEPL_FUNCTION R kinematic_root(R b, R c) {
    R y;
    R square;
    if ((b <= R(0.0))) {
        return R(0.0);
    }
    y = wepl::pow(b, (R(1.0) / R(3.0)));
    if ((((c * y) * y) > R(1.0))) {
        y = wepl::pow((b / c), R(0.2));
    }
    for (int turn_1 = 0; turn_1 < wepl::kinematic::NEWTON_STEPS; ++turn_1) {
        square = (y * y);
        y -= (((y * (R(1.0) + (c * square))) - (b / square)) / (R(3.0) + ((R(5.0) * c) * square)));
    }
    return y;
}

}  // namespace
