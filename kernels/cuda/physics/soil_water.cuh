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

// Gravity drainage and interflow of a layer; eqs. (9.4) and (10.1), interflow half before and half after drainage.
template <typename R>
WEPL_FUNCTION wepl::soil_water::Drainage<R> drain_layer(R water, R threshold, R capacity, R conductivity, R saturated_conductivity, R exponent, R side_factor, R time) {
    R share;
    R before;
    R left;
    R down;
    R after;
    if (((side_factor <= R(0.0)) || (water <= threshold))) {
        return wepl::soil_water::Drainage<R>{wepl::soil_water::drained<R>(water, conductivity, exponent, time), R(0.0)};
    }
    share = (-wepl::expm1((((((-R(0.5)) * side_factor) * saturated_conductivity) * time) / (capacity - threshold))));
    before = (share * wepl::min((water - threshold), (capacity - threshold)));
    left = (water - before);
    down = wepl::soil_water::drained<R>(left, (conductivity * wepl::pow((left / water), exponent)), exponent, time);
    after = (share * wepl::max(R(0.0), ((left - down) - threshold)));
    return wepl::soil_water::Drainage<R>{down, (before + after)};
}

}  // namespace
