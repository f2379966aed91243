// Water leaving one soil layer (docs/theory/soil-water.md, eq. 9.4; interflow.md, eq. 10.1).
// Written by wepl.kernels.translate from wepl/physics/soil_water.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"

namespace wepl::soil_water {

// What left a layer downward and sideways in a time, m.
template <typename R>
struct Drainage {
    R down;
    R sideways;
};

// Water, m, that drains in ``time`` s from ``water`` m above the residual; eq. (9.4) as a share of what is there.
template <typename R>
WEPL_FUNCTION R drained(R water, R conductivity, R exponent, R time) {
    R x;
    if (((water <= R(0.0)) || (conductivity <= R(0.0)))) {
        return R(0.0);
    }
    x = ((((exponent - R(1.0)) * conductivity) * time) / water);
    return ((-water) * wepl::expm1(((-wepl::log1p(x)) / (exponent - R(1.0)))));
}

// Mean, m, over ``time`` s of what a draining layer holds above ``threshold``; the integral of eq. (9.4).
template <typename R>
WEPL_FUNCTION R mean_above(R water, R threshold, R conductivity, R exponent, R time) {
    R power;
    R speed;
    R above;
    R fall;
    R wet;
    R growth;
    R until;
    R order;
    R integral;
    power = (exponent - R(1.0));
    speed = ((power * conductivity) / water);
    if (((speed * time) < R(1e-06))) {
        const R part_1 = (water - threshold);
        const R part_2 = (conductivity * time);
        above = part_1;
        fall = part_2;
        return ((fall <= above) ? (above - (R(0.5) * fall)) : (((R(0.5) * above) * above) / fall));
    }
    wet = time;
    growth = wepl::log1p((speed * time));
    if ((threshold > R(0.0))) {
        until = (power * wepl::log((water / threshold)));
        if ((until < growth)) {
            growth = until;
            wet = (wepl::expm1(until) / speed);
        }
    }
    order = (R(1.0) - (R(1.0) / power));
    if ((order != R(0.0))) {
        growth = (wepl::expm1((order * growth)) / order);
    }
    integral = ((water * growth) / speed);
    return wepl::max(R(0.0), ((integral - (threshold * wet)) / time));
}

// Gravity drainage and interflow of a layer at once; eqs. (9.4) and (10.1), second order in ``time``.
template <typename R>
WEPL_FUNCTION wepl::soil_water::Drainage<R> drain_layer(R water, R threshold, R capacity, R conductivity, R saturated_conductivity, R exponent, R side_factor, R time) {
    R rate;
    R above;
    R mean;
    R sideways;
    R left;
    R down;
    if (((side_factor <= R(0.0)) || (water <= threshold))) {
        return wepl::soil_water::Drainage<R>{wepl::soil_water::drained<R>(water, conductivity, exponent, time), R(0.0)};
    }
    rate = ((side_factor * saturated_conductivity) / (capacity - threshold));
    above = (wepl::min(water, capacity) - threshold);
    mean = wepl::min(above, wepl::soil_water::mean_above<R>(water, threshold, conductivity, exponent, time));
    sideways = ((-above) * wepl::expm1(((((-rate) * mean) * time) / above)));
    left = (water - (R(0.5) * sideways));
    down = wepl::soil_water::drained<R>(left, (conductivity * wepl::pow((left / water), exponent)), exponent, time);
    return wepl::soil_water::Drainage<R>{wepl::min(down, (water - sideways)), sideways};
}

}  // namespace
