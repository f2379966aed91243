// Green-Ampt within one layer (docs/theory/infiltration.md, eqs. 8.1 to 8.6; Jia and Tamai 1998).
// Written by wepl.kernels.translate from wepl/physics/green_ampt.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"

namespace wepl::green_ampt {

constexpr int NEWTON_STEPS = 8;
constexpr double LAST_STEP = 1e-05;

// Cumulative infiltration at the end of a ponded time (m), and whether the iteration reached its tolerance.
template <typename R>
struct Ponded {
    R infiltration;
    bool converged;
};

// Infiltration capacity, m s-1, once ``infiltration`` m are in; eq. (8.3). Infinite where B + F is 0.
template <typename R>
WEPL_FUNCTION R capacity(R infiltration, R conductivity, R a, R b) {
    R below;
    below = (b + infiltration);
    if ((below <= R(0.0))) {
        return ((a > R(0.0)) ? R(INFINITY) : conductivity);
    }
    return (conductivity * (R(1.0) + (a / below)));
}

// Infiltration, m, at which a supply of ``rate`` (above ``conductivity``, m s-1) ponds; eq. (8.5).
template <typename R>
WEPL_FUNCTION R ponding_infiltration(R rate, R conductivity, R a, R b) {
    return ((a / ((rate / conductivity) - R(1.0))) - b);
}

// Time, s, that a ponded front takes from ``start`` to ``end`` m of infiltration; eq. (8.4).
template <typename R>
WEPL_FUNCTION R ponded_time(R start, R end, R conductivity, R a, R b) {
    R gain;
    gain = (end - start);
    return wepl::max(R(0.0), ((gain - (a * wepl::log1p((gain / ((a + b) + start))))) / conductivity));
}

// Infiltration, m, after ``time`` s of ponding from ``start`` m; eq. (8.4) by Newton from eq. (8.6), a > 0.
template <typename R>
WEPL_FUNCTION wepl::green_ampt::Ponded<R> ponded_infiltration(R start, R time, R conductivity, R a, R b) {
    R reach;
    R base;
    R gain;
    R step;
    R slope;
    reach = (conductivity * time);
    base = ((a + b) + start);
    gain = (reach + wepl::sqrt(((R(2.0) * a) * reach)));
    step = R(0.0);
    for (int turn_1 = 0; turn_1 < wepl::green_ampt::NEWTON_STEPS; ++turn_1) {
        slope = (((b + start) + gain) / (base + gain));
        if ((slope <= R(0.0))) {
            break;
        }
        step = (((gain - (a * wepl::log1p((gain / base)))) - reach) / slope);
        gain = wepl::max(R(0.0), (gain - step));
    }
    return wepl::green_ampt::Ponded<R>{(start + gain), (wepl::abs(step) <= (R(wepl::green_ampt::LAST_STEP) * gain))};
}

}  // namespace
