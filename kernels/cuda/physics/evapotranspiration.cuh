// Evaporation, transpiration and their resistances (docs/theory/evapotranspiration.md, eqs. 6.1 to 6.11).
// Written by wepl.kernels.translate from wepl/physics/evapotranspiration.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/constants.cuh"

namespace wepl::evapotranspiration {

// Numerator of Penman's equation, Pa K-1 W m-2.
template <typename R>
WEPL_FUNCTION R _supply_of_energy(R available, R slope, R heat_capacity, R deficit, R resistance) {
    return ((slope * available) + ((heat_capacity * deficit) / resistance));
}

// Evaporation of a wet surface, m s-1 (negative: condensation); eq. (6.1), Penman.
template <typename R>
WEPL_FUNCTION R penman(R available, R slope, R gamma, R heat, R heat_capacity, R deficit, R resistance) {
    R energy;
    energy = wepl::evapotranspiration::_supply_of_energy<R>(available, slope, heat_capacity, deficit, resistance);
    return (energy / ((R(wepl::constants::WATER_DENSITY) * heat) * (slope + gamma)));
}

// Transpiration of a fully covering dry canopy, m s-1; eq. (6.2), Penman-Monteith.
template <typename R>
WEPL_FUNCTION R penman_monteith(R available, R slope, R gamma, R heat, R heat_capacity, R deficit, R resistance, R canopy_resistance) {
    R energy;
    energy = wepl::evapotranspiration::_supply_of_energy<R>(available, slope, heat_capacity, deficit, resistance);
    return (energy / ((R(wepl::constants::WATER_DENSITY) * heat) * (slope + (gamma * (R(1.0) + (canopy_resistance / resistance))))));
}

// Evaporation of bare soil, m s-1; eq. (6.3), WEP. Arguments as :func:`penman`, ``wetness`` 0 to 1.
template <typename R>
WEPL_FUNCTION R bare_soil_evaporation(R available, R slope, R gamma, R heat, R heat_capacity, R deficit, R resistance, R wetness) {
    R energy;
    energy = wepl::evapotranspiration::_supply_of_energy<R>(available, slope, heat_capacity, deficit, resistance);
    return ((wetness * energy) / ((R(wepl::constants::WATER_DENSITY) * heat) * ((wetness * slope) + gamma)));
}

// Wetness factor of a soil surface, 0 to 1; eq. (6.4), Lee and Pielke 1992.
template <typename R>
WEPL_FUNCTION R soil_wetness(R water, R dry, R field_capacity) {
    if ((water <= dry)) {
        return R(0.0);
    }
    if ((water >= field_capacity)) {
        return R(1.0);
    }
    return (R(0.25) * power<2>((R(1.0) - wepl::cos(((R(3.141592653589793) * (water - dry)) / (field_capacity - dry))))));
}

// Temperature factor f1, 0.001 to 1, at ``temperature`` degC; eq. (6.7).
template <typename R>
WEPL_FUNCTION R jarvis_temperature(R temperature) {
    return wepl::max(R(0.001), (R(1.0) - (R(0.0016) * power<2>((R(25.0) - temperature)))));
}

// Humidity factor f2, 0.001 to 1, from the deficit and its critical value (Pa); eq. (6.8).
template <typename R>
WEPL_FUNCTION R jarvis_humidity(R deficit, R critical) {
    return wepl::max(R(0.001), (R(1.0) - (deficit / critical)));
}

// Light factor f3, rs_min/rs_max to 1; eq. (6.9).
template <typename R>
WEPL_FUNCTION R jarvis_light(R shortwave, R critical, R leaf_area_index, R rs_min, R rs_max) {
    R light;
    if ((leaf_area_index <= R(0.0))) {
        return (rs_min / rs_max);
    }
    light = (((R(0.55) * R(2.0)) * shortwave) / (critical * leaf_area_index));
    return ((light + (rs_min / rs_max)) / (R(1.0) + light));
}

// Moisture factor f4, 0 to 1; eq. (6.10). Root-weighted water, wilting point and critical content, one unit.
template <typename R>
WEPL_FUNCTION R jarvis_moisture(R root, R wilting, R critical) {
    if ((root >= critical)) {
        return R(1.0);
    }
    if ((root <= wilting)) {
        return R(0.0);
    }
    return ((root - wilting) / (critical - wilting));
}

// Canopy resistance, s m-1, at most ``rs_max``; eq. (6.6), Jarvis. ``active_leaf_area`` is the active LAI.
template <typename R>
WEPL_FUNCTION R canopy_resistance(R rs_min, R active_leaf_area, R f1, R f2, R f3, R f4, R rs_max) {
    R openness;
    openness = ((((active_leaf_area * f1) * f2) * f3) * f4);
    if (((openness * rs_max) <= rs_min)) {
        return rs_max;
    }
    return (rs_min / openness);
}

// Share of the roots above ``depth``, 0 to 1; eq. (6.11). Both depths in m.
template <typename R>
WEPL_FUNCTION R root_fraction_above(R depth, R root_depth) {
    R x;
    x = wepl::min(R(1.0), (depth / root_depth));
    return ((R(1.8) * x) - ((R(0.8) * x) * x));
}

// Aerodynamic resistance of vegetation times wind speed, 1; eq. (6.5).
template <typename R>
WEPL_FUNCTION R aerodynamic_factor_vegetation(R height, R wind_height) {
    R d;
    R momentum;
    R z;
    R factor;
    R grass_d;
    R grass_z0;
    R gain;
    d = (R(0.67) * height);
    momentum = (R(0.123) * height);
    z = wepl::max(wind_height, (height + R(2.0)));
    factor = ((wepl::log(((z - d) / momentum)) * wepl::log(((z - d) / (R(0.1) * momentum)))) / power<2>(R(wepl::constants::VON_KARMAN)));
    if ((z > wind_height)) {
        const R part_1 = (R(0.67) * R(0.12));
        const R part_2 = (R(0.123) * R(0.12));
        grass_d = part_1;
        grass_z0 = part_2;
        gain = (wepl::log(((z - grass_d) / grass_z0)) / wepl::log(((wind_height - grass_d) / grass_z0)));
        factor /= gain;
    }
    return factor;
}

// Aerodynamic resistance of a surface without displacement times wind speed, 1; eq. (6.5) with d = 0.
template <typename R>
WEPL_FUNCTION R aerodynamic_factor_surface(R roughness, R wind_height) {
    return ((wepl::log((wind_height / roughness)) * wepl::log((wind_height / (R(0.1) * roughness)))) / power<2>(R(wepl::constants::VON_KARMAN)));
}

}  // namespace
