// Delayed recharge and the unconfined aquifer of one sub-basin (docs/theory/groundwater.md, eqs. 11.1 to 11.5).
// Written by wepl.kernels.translate from wepl/physics/groundwater.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"

namespace wepl::groundwater {

// An aquifer after one step: head (m) and volume given to the river in the step (m3, negative: taken from it).
template <typename R>
struct AquiferStep {
    R head;
    R discharge;
};

// Water left (m) in the transition store after ``dt`` s of even ``inflow`` (m); eq. (11.1), exact.
template <typename R>
WEPL_FUNCTION R transition_step(R storage, R inflow, R delay, R dt) {
    R x;
    if ((delay <= R(0.0))) {
        return R(0.0);
    }
    x = (dt / delay);
    return ((storage * wepl::exp((-x))) + (inflow * ((-wepl::expm1((-x))) / x)));
}

// (1 - exp(-x))/x, 1 at 0.
template <typename R>
WEPL_FUNCTION R _mean_decay(R x) {
    return ((x > R(1e-09)) ? ((-wepl::expm1((-x))) / x) : (R(1.0) - (R(0.5) * x)));
}

// Exchange with the river over one step; eqs. (11.2) to (11.4) without deep loss, exact in each regime.
template <typename R>
WEPL_FUNCTION wepl::groundwater::AquiferStep<R> aquifer_step(R head, R recharge, R river_depth, R conductance, R bed_thickness, R yield_area, R dt) {
    R left;
    R level;
    R gained;
    R threshold;
    R rise;
    R rate;
    left = dt;
    level = head;
    gained = R(0.0);
    threshold = (river_depth - bed_thickness);
    if ((level < threshold)) {
        rise = (((recharge / dt) + (conductance * bed_thickness)) / yield_area);
        if (((rise * left) <= (threshold - level))) {
            gained = (rise * left);
            left = R(0.0);
        } else {
            gained = (threshold - level);
            left -= (gained / rise);
            level = threshold;
        }
    }
    if ((left > R(0.0))) {
        rate = (((recharge / dt) - (conductance * (level - river_depth))) / yield_area);
        gained += ((rate * left) * wepl::groundwater::_mean_decay<R>(((conductance * left) / yield_area)));
    }
    return wepl::groundwater::AquiferStep<R>{(head + gained), (recharge - (yield_area * gained))};
}

// Head, m, after deep loss over ``dt`` s at ``loss_rate`` s-1; only water above the river bed is lost.
template <typename R>
WEPL_FUNCTION R deep_loss_step(R head, R loss_rate, R dt) {
    return ((head > R(0.0)) ? (head * wepl::exp(((-loss_rate) * dt))) : head);
}

}  // namespace
