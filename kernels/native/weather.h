// The weather stage on vector lanes.
// Written by wepl.kernels.lanes_translate from wepl/physics and wepl/stages: change it there.
#pragma once
#include "arrays.h"
#include "rows.cuh"

namespace wepl::on_weather {

using wepl::pick;

constexpr Real constants__DAY = Real(86400.0);
constexpr Real atmosphere___YEAR_ANGLE = Real(0.01721420632103996);
constexpr Real constants__SOLAR_CONSTANT = Real(1367.0);
constexpr Real atmosphere___HOUR_ANGLE = Real(0.2617993877991494);
constexpr Real stage_weather___HIGH_SUN = Real(300.0);
constexpr Real constants__STEFAN_BOLTZMANN = Real(5.670374419e-08);
constexpr Real constants__KELVIN = Real(273.15);
constexpr Real constants__SPECIFIC_HEAT_AIR = Real(1013.0);
constexpr Real constants__MOLECULAR_RATIO = Real(0.622);
constexpr Real constants__GAS_CONSTANT_AIR = Real(287.0);

// Air pressure, Pa, at ``elevation`` m of the standard atmosphere; eq. (3.5), after FAO-56 eq. 7.
static inline V atmosphere__air_pressure(M on, V elevation) {
    return (wide(Real(101300.0)) * pow(((wide(Real(293.0)) - (wide(Real(0.0065)) * elevation)) / wide(Real(293.0))), wide(Real(5.26))));
}

// Share of precipitation that falls as snow, 0 to 1; eq. (4.1).
static inline V snow__snow_share(M on, V temperature, Real snow_temperature, Real rain_temperature) {
    V answer{};
    M done = mask(false);
    {
        const M if_1 = M(temperature <= wide(snow_temperature));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(1.0)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    {
        const M if_3 = M(temperature >= wide(rain_temperature));
        M on_4 = on & if_3;
        {
            answer = pick(on_4, wide(Real(0.0)), answer);
            done |= on_4;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, ((wide(rain_temperature) - temperature) / wide((rain_temperature - snow_temperature))), answer);
    return answer;
    return answer;
}

// Declination of the sun, rad, on day of the year ``day``; eq. (3.9), FAO-56 eq. 24.
static inline Real atmosphere__solar_declination(M on, Real day) {
    return (Real(0.409) * std::sin(((atmosphere___YEAR_ANGLE * day) - Real(1.39))));
}

// Sunset hour angle, rad, from latitude and declination (rad); 0 in polar night, pi in polar day; eq. (3.10).
static inline V atmosphere__sunset_angle(M on, V latitude, Real declination) {
    return acos(min(wide(Real(1.0)), max(wide((-Real(1.0))), ((-tan(latitude)) * wide(std::tan(declination))))));
}

// Inverse relative distance of the Earth to the sun, 1, on day of the year ``day``; eq. (3.8), FAO-56 eq. 23.
static inline Real atmosphere__inverse_relative_distance(M on, Real day) {
    return (Real(1.0) + (Real(0.033) * std::cos((atmosphere___YEAR_ANGLE * day))));
}

// Radiation outside the atmosphere, daily mean W m-2, at ``latitude`` rad; eq. (3.11), FAO-56 eq. 21.
static inline V atmosphere__extraterrestrial_daily(M on, Real day, V latitude) {
    Real declination;
    V sunset{};
    declination = atmosphere__solar_declination(on, day);
    sunset = atmosphere__sunset_angle(on, latitude, declination);
    return (wide(((constants__SOLAR_CONSTANT / Real(3.141592653589793)) * atmosphere__inverse_relative_distance(on, day))) * (((sunset * sin(latitude)) * wide(std::sin(declination))) + ((cos(latitude) * wide(std::cos(declination))) * sin(sunset))));
}

// Day length, h, from the sunset hour angle (rad); eq. (3.13), FAO-56 eq. 34.
static inline V atmosphere__daylight_hours(M on, V sunset) {
    return ((wide(Real(24.0)) * sunset) / wide(Real(3.141592653589793)));
}

// Solar time angle, rad, 0 at solar noon, within -pi to pi; equation of time of FAO-56 eqs. 31 to 33.
static inline V atmosphere__solar_time_angle(M on, Real day, V longitude, Real utc_hour) {
    Real b;
    Real correction;
    V angle{};
    b = (((Real(2.0) * Real(3.141592653589793)) * (day - Real(81.0))) / Real(364.0));
    correction = (((Real(0.1645) * std::sin((Real(2.0) * b))) - (Real(0.1255) * std::cos(b))) - (Real(0.025) * std::sin(b)));
    angle = (wide((atmosphere___HOUR_ANGLE * ((utc_hour + correction) - Real(12.0)))) + longitude);
    return (angle - (wide((Real(2.0) * Real(3.141592653589793))) * floor(((angle + wide(Real(3.141592653589793))) / wide((Real(2.0) * Real(3.141592653589793)))))));
}

// Integral of the sun's height over the angles ``start`` to ``end``, clipped at sunrise and sunset, rad.
static inline V atmosphere___sun_between(M on, V start, V end, V sunset, V sines, V cosines) {
    V low{};
    V high{};
    V answer{};
    M done = mask(false);
    low = max(start, (-sunset));
    high = min(end, sunset);
    {
        const M if_1 = M(high <= low);
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(0.0)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, (((high - low) * sines) + (cosines * (sin(high) - sin(low)))), answer);
    return answer;
    return answer;
}

// Mean radiation outside the atmosphere over a period, W m-2; eq. (3.12), FAO-56 eqs. 28 to 33.
static inline V atmosphere__extraterrestrial_period(M on, Real day, V latitude, V longitude, Real utc_hour, Real period) {
    Real declination;
    V sunset{};
    V middle{};
    Real half;
    V sines{};
    V cosines{};
    Real turn;
    V total{};
    declination = atmosphere__solar_declination(on, day);
    sunset = atmosphere__sunset_angle(on, latitude, declination);
    middle = atmosphere__solar_time_angle(on, day, longitude, utc_hour);
    half = ((Real(0.5) * period) * atmosphere___HOUR_ANGLE);
    sines = (sin(latitude) * wide(std::sin(declination)));
    cosines = (cos(latitude) * wide(std::cos(declination)));
    turn = (Real(2.0) * Real(3.141592653589793));
    total = atmosphere___sun_between(on, (middle - wide(half)), (middle + wide(half)), sunset, sines, cosines);
    total = (total + atmosphere___sun_between(on, ((middle - wide(half)) + wide(turn)), ((middle + wide(half)) + wide(turn)), sunset, sines, cosines));
    total = (total + atmosphere___sun_between(on, ((middle - wide(half)) - wide(turn)), ((middle + wide(half)) - wide(turn)), sunset, sines, cosines));
    return max(wide(Real(0.0)), ((wide((constants__SOLAR_CONSTANT * atmosphere__inverse_relative_distance(on, day))) * total) / wide((Real(2.0) * half))));
}

// Hours of a period (middle ``utc_hour``, length ``period``, h) in which the sun is up; angles in rad.
static inline V atmosphere__daylight_in_period(M on, Real day, V latitude, V longitude, Real utc_hour, Real period) {
    V sunset{};
    V middle{};
    Real half;
    V total{};
    Real shift;
    sunset = atmosphere__sunset_angle(on, latitude, atmosphere__solar_declination(on, day));
    middle = atmosphere__solar_time_angle(on, day, longitude, utc_hour);
    half = ((Real(0.5) * period) * atmosphere___HOUR_ANGLE);
    total = wide(Real(0.0));
    {
        M on_1 = on;
        for (int turn = (-1); turn < 2; ++turn) {
            shift = ((Real(2.0) * Real(3.141592653589793)) * Real(turn));
            total = (total + max(wide(Real(0.0)), (min(((middle + wide(half)) + wide(shift)), sunset) - max(((middle - wide(half)) + wide(shift)), (-sunset)))));
        }
    }
    return (total / wide(atmosphere___HOUR_ANGLE));
}

// Relative sunshine n/N, 0 to 1, that belongs to a shortwave radiation; eq. (3.15).
static inline V atmosphere__sunshine_ratio(M on, V shortwave, V extraterrestrial, Real angstrom_a, Real angstrom_b) {
    V answer{};
    M done = mask(false);
    {
        const M if_1 = (M(extraterrestrial <= wide(Real(0.0))) | mask((angstrom_b <= Real(0.0))));
        M on_2 = on & if_1;
        {
            answer = pick(on_2, wide(Real(0.0)), answer);
            done |= on_2;
        }
    }
    on &= ~done;
    if (!any(on)) { return answer; }
    answer = pick(on, min(wide(Real(1.0)), max(wide(Real(0.0)), (((shortwave / extraterrestrial) - wide(angstrom_a)) / wide(angstrom_b)))), answer);
    return answer;
    return answer;
}

// Shortwave radiation at the ground, in the unit of ``extraterrestrial``, from n/N; eq. (3.14), Angstrom.
static inline V atmosphere__shortwave_from_sunshine(M on, V extraterrestrial, V ratio, Real angstrom_a, Real angstrom_b) {
    return ((wide(angstrom_a) + (wide(angstrom_b) * ratio)) * extraterrestrial);
}

// Shortwave radiation, its mean over daylight (W m-2) and n/N of one step; eqs. (3.10) to (3.15).
template <typename option_t, typename calendar_t, typename forcing_t, typename unit_parameter_t, typename unit_state_t>
static inline Tuple3<V, V, V> stage_weather__sky(M on, int step, Lane unit, V cell, Real dt, option_t& option, calendar_t& calendar, forcing_t& forcing, int shortwave_given, unit_parameter_t& unit_parameter, unit_state_t& unit_state) {
    Real day;
    V latitude{};
    Real a;
    Real b;
    bool daily;
    V outside{};
    V sunset{};
    V daylight{};
    V longitude{};
    Real hour;
    V ratio{};
    V shortwave{};
    V bright{};
    day = Real(calendar(rows::DAY_OF_YEAR, step));
    latitude = at(on, unit_parameter, rows::LATITUDE, unit);
    const Real part_1 = Real(option(rows::ANGSTROM_A));
    const Real part_2 = Real(option(rows::ANGSTROM_B));
    a = part_1;
    b = part_2;
    daily = (dt >= constants__DAY);
    if (daily) {
        outside = atmosphere__extraterrestrial_daily(on, day, latitude);
        sunset = atmosphere__sunset_angle(on, latitude, atmosphere__solar_declination(on, day));
        daylight = (wide(Real(3600.0)) * atmosphere__daylight_hours(on, sunset));
    } else {
        const V part_3 = at(on, unit_parameter, rows::LONGITUDE, unit);
        const Real part_4 = Real(calendar(rows::SOLAR_HOUR, step));
        longitude = part_3;
        hour = part_4;
        outside = atmosphere__extraterrestrial_period(on, day, latitude, longitude, hour, (dt / Real(3600.0)));
        daylight = (atmosphere__daylight_in_period(on, day, latitude, longitude, hour, (dt / Real(3600.0))) * wide(Real(3600.0)));
    }
    ratio = at(on, unit_state, rows::CLOUD_RATIO, unit);
    if ((shortwave_given == 1)) {
        shortwave = at(on, forcing, rows::SHORTWAVE_RADIATION, step, cell);
        {
            const M if_5 = (M(outside > wide(Real(0.0))) & (mask(daily) | M(outside >= wide(stage_weather___HIGH_SUN))));
            M on_6 = on & if_5;
            if (any(on_6)) {
                ratio = pick(on_6, atmosphere__sunshine_ratio(on_6, shortwave, outside, a, b), ratio);
            }
        }
    } else {
        {
            const M if_7 = (M(daylight >= wide((Real(0.5) * min(dt, constants__DAY)))) | (mask(daily) & M(daylight > wide(Real(0.0)))));
            M on_8 = on & if_7;
            {
                ratio = pick(on_8, min(wide(Real(1.0)), (at(on_8, forcing, rows::SUNSHINE_DURATION, step, cell) / daylight)), ratio);
            }
        }
        shortwave = atmosphere__shortwave_from_sunshine(on, outside, ratio, a, b);
    }
    put(on, ratio, unit_state, rows::CLOUD_RATIO, unit);
    bright = (daily ? ((shortwave * wide(dt)) / max(daylight, wide(Real(3600.0)))) : shortwave);
    return Tuple3<V, V, V>{shortwave, bright, ratio};
}

// Net longwave radiation, W m-2, from the sky's longwave radiation (W m-2); eq. (3.18).
static inline V atmosphere__net_longwave_given(M on, V temperature, V downward, Real emissivity) {
    return (wide(emissivity) * (downward - (wide(constants__STEFAN_BOLTZMANN) * power<4>((temperature + wide(constants__KELVIN))))));
}

// Net emissivity between ground and clear sky, 1, from air temperature (degC); eq. (3.16), Idso and Jackson.
static inline V atmosphere__net_emissivity(M on, V temperature) {
    return (wide((-Real(0.02))) + (wide(Real(0.261)) * exp(((wide((-Real(0.000777))) * temperature) * temperature))));
}

// Net longwave radiation, W m-2, positive downward, from air temperature (degC) and n/N; eq. (3.17), WEP.
static inline V atmosphere__net_longwave(M on, V temperature, V ratio) {
    V cloud{};
    cloud = (wide(Real(0.1)) + (wide(Real(0.9)) * ratio));
    return ((((-cloud) * atmosphere__net_emissivity(on, temperature)) * wide(constants__STEFAN_BOLTZMANN)) * power<4>((temperature + wide(constants__KELVIN))));
}

// Latent heat of vaporisation, J kg-1, at ``temperature`` degC; eq. (3.4), FAO-56 annex 3.
static inline V atmosphere__vaporisation_heat(M on, V temperature) {
    return (wide(Real(1000000.0)) * (wide(Real(2.501)) - (wide(Real(0.002361)) * temperature)));
}

// Saturation vapour pressure over water, Pa, of air at ``temperature`` degC; eq. (3.2), FAO-56 eq. 11.
static inline V atmosphere__saturation_vapour_pressure(M on, V temperature) {
    return (wide(Real(610.8)) * exp(((wide(Real(17.27)) * temperature) / (temperature + wide(Real(237.3))))));
}

// Slope of the saturation curve, Pa K-1, at ``temperature`` degC; eq. (3.3), FAO-56 eq. 13.
static inline V atmosphere__vapour_pressure_slope(M on, V temperature) {
    return ((wide(Real(4098.0)) * atmosphere__saturation_vapour_pressure(on, temperature)) / power<2>((temperature + wide(Real(237.3)))));
}

// Psychrometric constant, Pa K-1, from air pressure (Pa) and heat of vaporisation (J kg-1); eq. (3.6).
static inline V atmosphere__psychrometric_constant(M on, V pressure, V heat) {
    return ((wide(constants__SPECIFIC_HEAT_AIR) * pressure) / (wide(constants__MOLECULAR_RATIO) * heat));
}

// Density of moist air, kg m-3, from pressure (Pa) and temperature (degC); eq. (3.7), FAO-56 box 6.
static inline V atmosphere__air_density(M on, V pressure, V temperature) {
    return (pressure / (wide((constants__GAS_CONSTANT_AIR * Real(1.01))) * (temperature + wide(Real(273.0)))));
}

// Fill ``weather[row, step, unit]`` of one unit for ``n_steps`` of ``dt`` s; rows as in the registry, eq. (3.1).
template <typename option_t, typename calendar_t, typename forcing_t, typename unit_cell_t, typename unit_parameter_t, typename unit_state_t, typename weather_t>
static inline void stage_weather__advance_weather(M on, Lane unit, int n_steps, Real dt, option_t& option, calendar_t& calendar, forcing_t& forcing, unit_cell_t& unit_cell, int shortwave_given, int longwave_given, unit_parameter_t& unit_parameter, unit_state_t& unit_state, weather_t& weather) {
    V cell{};
    V height{};
    V pressure{};
    V wetter{};
    V temperature{};
    V precipitation{};
    V snow{};
    V shortwave{};
    V bright{};
    V ratio{};
    V longwave{};
    V humidity{};
    V heat{};
    cell = at(on, unit_cell, unit);
    height = at(on, unit_parameter, rows::ELEVATION_DIFFERENCE, unit);
    pressure = atmosphere__air_pressure(on, at(on, unit_parameter, rows::ELEVATION, unit));
    wetter = max(wide(Real(0.0)), (wide(Real(1.0)) + (wide(Real(option(rows::PRECIPITATION_LAPSE_RATE))) * height)));
    {
        M on_1 = on;
        for (int step = 0; step < n_steps; ++step) {
            temperature = (at(on, forcing, rows::AIR_TEMPERATURE, step, cell) - (wide(Real(option(rows::TEMPERATURE_LAPSE_RATE))) * height));
            precipitation = ((at(on, forcing, rows::PRECIPITATION, step, cell) * wetter) * wide(dt));
            snow = (precipitation * snow__snow_share(on, temperature, Real(option(rows::SNOW_TEMPERATURE)), Real(option(rows::RAIN_TEMPERATURE))));
            const Tuple3<V, V, V> parts_2 = stage_weather__sky(on, step, unit, cell, dt, option, calendar, forcing, shortwave_given, unit_parameter, unit_state);
            shortwave = parts_2.v0;
            bright = parts_2.v1;
            ratio = parts_2.v2;
            if ((longwave_given == 1)) {
                longwave = atmosphere__net_longwave_given(on, temperature, at(on, forcing, rows::LONGWAVE_RADIATION, step, cell), Real(option(rows::SURFACE_EMISSIVITY)));
            } else {
                longwave = atmosphere__net_longwave(on, temperature, ratio);
            }
            humidity = min(wide(Real(1.0)), at(on, forcing, rows::RELATIVE_HUMIDITY, step, cell));
            heat = atmosphere__vaporisation_heat(on, temperature);
            put(on, (precipitation - snow), weather, rows::RAIN, step, unit);
            put(on, snow, weather, rows::SNOW, step, unit);
            put(on, temperature, weather, rows::TEMPERATURE, step, unit);
            put(on, shortwave, weather, rows::SHORTWAVE, step, unit);
            put(on, bright, weather, rows::DAYLIGHT_SHORTWAVE, step, unit);
            put(on, longwave, weather, rows::LONGWAVE_NET, step, unit);
            put(on, ((wide(Real(1.0)) - humidity) * atmosphere__saturation_vapour_pressure(on, temperature)), weather, rows::VAPOUR_PRESSURE_DEFICIT, step, unit);
            put(on, atmosphere__vapour_pressure_slope(on, temperature), weather, rows::SLOPE_OF_SATURATION, step, unit);
            put(on, atmosphere__psychrometric_constant(on, pressure, heat), weather, rows::PSYCHROMETRIC, step, unit);
            put(on, heat, weather, rows::VAPORISATION_HEAT, step, unit);
            put(on, (wide(constants__SPECIFIC_HEAT_AIR) * atmosphere__air_density(on, pressure, temperature)), weather, rows::AIR_HEAT_CAPACITY, step, unit);
            put(on, max(wide(Real(option(rows::MINIMUM_WIND_SPEED))), at(on, forcing, rows::WIND_SPEED, step, cell)), weather, rows::WIND, step, unit);
        }
    }
}

}  // namespace
