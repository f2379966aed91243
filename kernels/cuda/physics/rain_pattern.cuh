// How a day's rain is spread over its hours (docs/theory/space-time.md, eqs. 2.2 and 2.3).
// Written by wepl.kernels.translate from wepl/physics/rain_pattern.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/constants.cuh"

namespace wepl::rain_pattern {

constexpr double _PEAK = 0.4;

// Length, s, of the storm that brings ``depth`` m in a day, 1 to 24 h; eq. (2.2).
template <typename R>
WEPL_FUNCTION R storm_duration(R depth) {
    if ((depth <= R(0.0))) {
        return R(wepl::constants::HOUR);
    }
    return (R(wepl::constants::HOUR) * wepl::min(R(24.0), wepl::max(R(1.0), (R(2.5) * wepl::pow((R(1000.0) * depth), R(0.4))))));
}

// Share of the depth fallen by ``share`` of the storm's length; eq. (2.3).
template <typename R>
WEPL_FUNCTION R _fallen(R share) {
    R rest;
    if ((share <= R(0.0))) {
        return R(0.0);
    }
    if ((share >= R(1.0))) {
        return R(1.0);
    }
    if ((share <= R(wepl::rain_pattern::_PEAK))) {
        return ((share * share) / R(wepl::rain_pattern::_PEAK));
    }
    rest = (R(1.0) - share);
    return (R(1.0) - ((rest * rest) / (R(1.0) - R(wepl::rain_pattern::_PEAK))));
}

// Rain, m, between ``start`` and ``end`` (s since the day began) of a day with ``depth`` m; eq. (2.3).
template <typename R>
WEPL_FUNCTION R storm_depth(R depth, R start, R end) {
    R duration;
    R begin;
    duration = wepl::rain_pattern::storm_duration<R>(depth);
    begin = (R(0.5) * (R(wepl::constants::DAY) - duration));
    return (depth * (wepl::rain_pattern::_fallen<R>(((end - begin) / duration)) - wepl::rain_pattern::_fallen<R>(((start - begin) / duration))));
}

}  // namespace
