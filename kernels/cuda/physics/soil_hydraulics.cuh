// Retention and conductivity of a soil layer (docs/theory/soil-hydraulics.md, eqs. 7.1 to 7.5).
// Written by wepl.kernels.translate from wepl/physics/soil_hydraulics.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"

namespace wepl::soil_hydraulics {

constexpr double _LARGEST_LOG = 16.11809565095832;
constexpr double _SMALLEST_SATURATION = 1e-09;

// Suction head and its derivative by effective saturation, m.
template <typename R>
struct Suction {
    R head;
    R slope;
};

// Suction head, m, at effective saturation ``saturation``; eq. (7.2), Haverkamp in ln(psi), at most 1e5 m.
template <typename R>
WEPL_FUNCTION R suction(R saturation, R a, R b) {
    R ratio;
    if ((saturation >= R(1.0))) {
        return R(0.01);
    }
    ratio = (a * ((R(1.0) / wepl::max(saturation, R(wepl::soil_hydraulics::_SMALLEST_SATURATION))) - R(1.0)));
    return (R(0.01) * wepl::exp(wepl::min(R(wepl::soil_hydraulics::_LARGEST_LOG), wepl::pow(ratio, (R(1.0) / b)))));
}

// Suction head (m) and its derivative by saturation (m, negative or 0); eq. (7.2) and its derivative.
template <typename R>
WEPL_FUNCTION wepl::soil_hydraulics::Suction<R> suction_and_slope(R saturation, R a, R b) {
    R bounded;
    R ratio;
    R logarithm;
    R psi;
    if ((saturation >= R(1.0))) {
        return wepl::soil_hydraulics::Suction<R>{R(0.01), R(0.0)};
    }
    bounded = wepl::max(saturation, R(wepl::soil_hydraulics::_SMALLEST_SATURATION));
    ratio = (a * ((R(1.0) / bounded) - R(1.0)));
    logarithm = wepl::pow(ratio, (R(1.0) / b));
    if ((logarithm >= R(wepl::soil_hydraulics::_LARGEST_LOG))) {
        return wepl::soil_hydraulics::Suction<R>{(R(0.01) * wepl::exp(R(wepl::soil_hydraulics::_LARGEST_LOG))), R(0.0)};
    }
    psi = (R(0.01) * wepl::exp(logarithm));
    return wepl::soil_hydraulics::Suction<R>{psi, (((-psi) * logarithm) / ((b * bounded) * (R(1.0) - bounded)))};
}

// Derivative of the suction head by saturation, m, negative or 0.
template <typename R>
WEPL_FUNCTION R suction_slope(R saturation, R a, R b) {
    return wepl::soil_hydraulics::suction_and_slope<R>(saturation, a, b).slope;
}

// Hydraulic conductivity in the unit of ``saturated``; eq. (7.3), Mualem power.
template <typename R>
WEPL_FUNCTION R conductivity(R saturation, R saturated, R exponent) {
    if ((saturation <= R(0.0))) {
        return R(0.0);
    }
    return (saturated * wepl::pow(wepl::min(R(1.0), saturation), exponent));
}

// Effective saturation, 0 to 1, at ``suction_head`` m; eq. (7.2).
template <typename R>
WEPL_FUNCTION R retention_saturation(R suction_head, R a, R b) {
    R centimetres;
    centimetres = (R(100.0) * suction_head);
    if ((centimetres <= R(1.0))) {
        return R(1.0);
    }
    return (a / (a + wepl::pow(wepl::log(centimetres), b)));
}

}  // namespace
