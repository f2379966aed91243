// Humidity, air and radiation of one place and step (docs/theory/atmosphere.md, eqs. 3.1 to 3.19).
// Written by wepl.kernels.translate from wepl/physics/atmosphere.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/constants.cuh"

namespace wepl::atmosphere {

constexpr double _YEAR_ANGLE = 0.01721420632103996;
constexpr double _HOUR_ANGLE = 0.2617993877991494;

// Saturation vapour pressure over water, Pa, of air at ``temperature`` degC; eq. (3.2), FAO-56 eq. 11.
template <typename R>
WEPL_FUNCTION R saturation_vapour_pressure(R temperature) {
    return (R(610.8) * wepl::exp(((R(17.27) * temperature) / (temperature + R(237.3)))));
}

// Slope of the saturation curve, Pa K-1, at ``temperature`` degC; eq. (3.3), FAO-56 eq. 13.
template <typename R>
WEPL_FUNCTION R vapour_pressure_slope(R temperature) {
    return ((R(4098.0) * wepl::atmosphere::saturation_vapour_pressure<R>(temperature)) / power<2>((temperature + R(237.3))));
}

// Latent heat of vaporisation, J kg-1, at ``temperature`` degC; eq. (3.4), FAO-56 annex 3.
template <typename R>
WEPL_FUNCTION R vaporisation_heat(R temperature) {
    return (R(1000000.0) * (R(2.501) - (R(0.002361) * temperature)));
}

// Air pressure, Pa, at ``elevation`` m of the standard atmosphere; eq. (3.5), after FAO-56 eq. 7.
template <typename R>
WEPL_FUNCTION R air_pressure(R elevation) {
    return (R(101300.0) * wepl::pow(((R(293.0) - (R(0.0065) * elevation)) / R(293.0)), R(5.26)));
}

// Psychrometric constant, Pa K-1, from air pressure (Pa) and heat of vaporisation (J kg-1); eq. (3.6).
template <typename R>
WEPL_FUNCTION R psychrometric_constant(R pressure, R heat) {
    return ((R(wepl::constants::SPECIFIC_HEAT_AIR) * pressure) / (R(wepl::constants::MOLECULAR_RATIO) * heat));
}

// Density of moist air, kg m-3, from pressure (Pa) and temperature (degC); eq. (3.7), FAO-56 box 6.
template <typename R>
WEPL_FUNCTION R air_density(R pressure, R temperature) {
    return (pressure / ((R(wepl::constants::GAS_CONSTANT_AIR) * R(1.01)) * (temperature + R(273.0))));
}

// Inverse relative distance of the Earth to the sun, 1, on day of the year ``day``; eq. (3.8), FAO-56 eq. 23.
template <typename R>
WEPL_FUNCTION R inverse_relative_distance(R day) {
    return (R(1.0) + (R(0.033) * wepl::cos((R(wepl::atmosphere::_YEAR_ANGLE) * day))));
}

// Declination of the sun, rad, on day of the year ``day``; eq. (3.9), FAO-56 eq. 24.
template <typename R>
WEPL_FUNCTION R solar_declination(R day) {
    return (R(0.409) * wepl::sin(((R(wepl::atmosphere::_YEAR_ANGLE) * day) - R(1.39))));
}

// Sunset hour angle, rad, from latitude and declination (rad); 0 in polar night, pi in polar day; eq. (3.10).
template <typename R>
WEPL_FUNCTION R sunset_angle(R latitude, R declination) {
    return wepl::acos(wepl::min(R(1.0), wepl::max((-R(1.0)), ((-wepl::tan(latitude)) * wepl::tan(declination)))));
}

// Radiation outside the atmosphere, daily mean W m-2, at ``latitude`` rad; eq. (3.11), FAO-56 eq. 21.
template <typename R>
WEPL_FUNCTION R extraterrestrial_daily(R day, R latitude) {
    R declination;
    R sunset;
    declination = wepl::atmosphere::solar_declination<R>(day);
    sunset = wepl::atmosphere::sunset_angle<R>(latitude, declination);
    return (((R(wepl::constants::SOLAR_CONSTANT) / R(3.141592653589793)) * wepl::atmosphere::inverse_relative_distance<R>(day)) * (((sunset * wepl::sin(latitude)) * wepl::sin(declination)) + ((wepl::cos(latitude) * wepl::cos(declination)) * wepl::sin(sunset))));
}

// Solar time angle, rad, 0 at solar noon, within -pi to pi; equation of time of FAO-56 eqs. 31 to 33.
template <typename R>
WEPL_FUNCTION R solar_time_angle(R day, R longitude, R utc_hour) {
    R b;
    R correction;
    R angle;
    b = (((R(2.0) * R(3.141592653589793)) * (day - R(81.0))) / R(364.0));
    correction = (((R(0.1645) * wepl::sin((R(2.0) * b))) - (R(0.1255) * wepl::cos(b))) - (R(0.025) * wepl::sin(b)));
    angle = ((R(wepl::atmosphere::_HOUR_ANGLE) * ((utc_hour + correction) - R(12.0))) + longitude);
    return (angle - ((R(2.0) * R(3.141592653589793)) * wepl::floor(((angle + R(3.141592653589793)) / (R(2.0) * R(3.141592653589793))))));
}

// Integral of the sun's height over the angles ``start`` to ``end``, clipped at sunrise and sunset, rad.
template <typename R>
WEPL_FUNCTION R _sun_between(R start, R end, R sunset, R sines, R cosines) {
    R low;
    R high;
    low = wepl::max(start, (-sunset));
    high = wepl::min(end, sunset);
    if ((high <= low)) {
        return R(0.0);
    }
    return (((high - low) * sines) + (cosines * (wepl::sin(high) - wepl::sin(low))));
}

// Mean radiation outside the atmosphere over a period, W m-2; eq. (3.12), FAO-56 eqs. 28 to 33.
template <typename R>
WEPL_FUNCTION R extraterrestrial_period(R day, R latitude, R longitude, R utc_hour, R period) {
    R declination;
    R sunset;
    R middle;
    R half;
    R sines;
    R cosines;
    R turn;
    R total;
    declination = wepl::atmosphere::solar_declination<R>(day);
    sunset = wepl::atmosphere::sunset_angle<R>(latitude, declination);
    middle = wepl::atmosphere::solar_time_angle<R>(day, longitude, utc_hour);
    half = ((R(0.5) * period) * R(wepl::atmosphere::_HOUR_ANGLE));
    sines = (wepl::sin(latitude) * wepl::sin(declination));
    cosines = (wepl::cos(latitude) * wepl::cos(declination));
    turn = (R(2.0) * R(3.141592653589793));
    total = wepl::atmosphere::_sun_between<R>((middle - half), (middle + half), sunset, sines, cosines);
    total += wepl::atmosphere::_sun_between<R>(((middle - half) + turn), ((middle + half) + turn), sunset, sines, cosines);
    total += wepl::atmosphere::_sun_between<R>(((middle - half) - turn), ((middle + half) - turn), sunset, sines, cosines);
    return wepl::max(R(0.0), (((R(wepl::constants::SOLAR_CONSTANT) * wepl::atmosphere::inverse_relative_distance<R>(day)) * total) / (R(2.0) * half)));
}

// Hours of a period (middle ``utc_hour``, length ``period``, h) in which the sun is up; angles in rad.
template <typename R>
WEPL_FUNCTION R daylight_in_period(R day, R latitude, R longitude, R utc_hour, R period) {
    R sunset;
    R middle;
    R half;
    R total;
    R shift;
    sunset = wepl::atmosphere::sunset_angle<R>(latitude, wepl::atmosphere::solar_declination<R>(day));
    middle = wepl::atmosphere::solar_time_angle<R>(day, longitude, utc_hour);
    half = ((R(0.5) * period) * R(wepl::atmosphere::_HOUR_ANGLE));
    total = R(0.0);
    for (int turn = (-1); turn < 2; ++turn) {
        shift = ((R(2.0) * R(3.141592653589793)) * R(turn));
        total += wepl::max(R(0.0), (wepl::min(((middle + half) + shift), sunset) - wepl::max(((middle - half) + shift), (-sunset))));
    }
    return (total / R(wepl::atmosphere::_HOUR_ANGLE));
}

// Day length, h, from the sunset hour angle (rad); eq. (3.13), FAO-56 eq. 34.
template <typename R>
WEPL_FUNCTION R daylight_hours(R sunset) {
    return ((R(24.0) * sunset) / R(3.141592653589793));
}

// Shortwave radiation at the ground, in the unit of ``extraterrestrial``, from n/N; eq. (3.14), Angstrom.
template <typename R>
WEPL_FUNCTION R shortwave_from_sunshine(R extraterrestrial, R ratio, R angstrom_a, R angstrom_b) {
    return ((angstrom_a + (angstrom_b * ratio)) * extraterrestrial);
}

// Relative sunshine n/N, 0 to 1, that belongs to a shortwave radiation; eq. (3.15).
template <typename R>
WEPL_FUNCTION R sunshine_ratio(R shortwave, R extraterrestrial, R angstrom_a, R angstrom_b) {
    if (((extraterrestrial <= R(0.0)) || (angstrom_b <= R(0.0)))) {
        return R(0.0);
    }
    return wepl::min(R(1.0), wepl::max(R(0.0), (((shortwave / extraterrestrial) - angstrom_a) / angstrom_b)));
}

// Net emissivity between ground and clear sky, 1, from air temperature (degC); eq. (3.16), Idso and Jackson.
template <typename R>
WEPL_FUNCTION R net_emissivity(R temperature) {
    return ((-R(0.02)) + (R(0.261) * wepl::exp((((-R(0.000777)) * temperature) * temperature))));
}

// Net longwave radiation, W m-2, positive downward, from air temperature (degC) and n/N; eq. (3.17), WEP.
template <typename R>
WEPL_FUNCTION R net_longwave(R temperature, R ratio) {
    R cloud;
    cloud = (R(0.1) + (R(0.9) * ratio));
    return ((((-cloud) * wepl::atmosphere::net_emissivity<R>(temperature)) * R(wepl::constants::STEFAN_BOLTZMANN)) * power<4>((temperature + R(wepl::constants::KELVIN))));
}

// Net longwave radiation, W m-2, from the sky's longwave radiation (W m-2); eq. (3.18).
template <typename R>
WEPL_FUNCTION R net_longwave_given(R temperature, R downward, R emissivity) {
    return (emissivity * (downward - (R(wepl::constants::STEFAN_BOLTZMANN) * power<4>((temperature + R(wepl::constants::KELVIN))))));
}

}  // namespace
