// The weather stage: forcing cells to the air over each unit (docs/theory/atmosphere.md, snow.md eq. 4.1).
// Written by wepl.kernels.translate from wepl/stages/weather.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/atmosphere.cuh"
#include "physics/constants.cuh"
#include "physics/snow.cuh"

namespace wepl::stage_weather {

constexpr int _CHUNK = 64;
constexpr double _HIGH_SUN = 300.0;

// Shortwave radiation, its mean over daylight (W m-2) and n/N of one step; eqs. (3.10) to (3.15).
template <typename R, typename option_t, typename calendar_t, typename forcing_t, typename unit_parameter_t, typename unit_state_t>
WEPL_FUNCTION Tuple3<R, R, R> sky(int step, int unit, int cell, R dt, option_t& option, calendar_t& calendar, forcing_t& forcing, int shortwave_given, unit_parameter_t& unit_parameter, unit_state_t& unit_state) {
    R day;
    R latitude;
    R a;
    R b;
    bool daily;
    R outside;
    R sunset;
    R daylight;
    R longitude;
    R hour;
    R ratio;
    R shortwave;
    R bright;
    day = calendar(wepl::rows::DAY_OF_YEAR, step);
    latitude = unit_parameter(wepl::rows::LATITUDE, unit);
    const R part_1 = option(wepl::rows::ANGSTROM_A);
    const R part_2 = option(wepl::rows::ANGSTROM_B);
    a = part_1;
    b = part_2;
    daily = (dt >= R(wepl::constants::DAY));
    if (daily) {
        outside = wepl::atmosphere::extraterrestrial_daily<R>(day, latitude);
        sunset = wepl::atmosphere::sunset_angle<R>(latitude, wepl::atmosphere::solar_declination<R>(day));
        daylight = (R(3600.0) * wepl::atmosphere::daylight_hours<R>(sunset));
    } else {
        const R part_3 = unit_parameter(wepl::rows::LONGITUDE, unit);
        const R part_4 = calendar(wepl::rows::SOLAR_HOUR, step);
        longitude = part_3;
        hour = part_4;
        outside = wepl::atmosphere::extraterrestrial_period<R>(day, latitude, longitude, hour, (dt / R(3600.0)));
        daylight = (wepl::atmosphere::daylight_in_period<R>(day, latitude, longitude, hour, (dt / R(3600.0))) * R(3600.0));
    }
    ratio = unit_state(wepl::rows::CLOUD_RATIO, unit);
    if ((shortwave_given == 1)) {
        shortwave = forcing(wepl::rows::SHORTWAVE_RADIATION, step, cell);
        if (((outside > R(0.0)) && (daily || (outside >= R(wepl::stage_weather::_HIGH_SUN))))) {
            ratio = wepl::atmosphere::sunshine_ratio<R>(shortwave, outside, a, b);
        }
    } else {
        if (((daylight >= (R(0.5) * wepl::min(dt, R(wepl::constants::DAY)))) || (daily && (daylight > R(0.0))))) {
            ratio = wepl::min(R(1.0), (forcing(wepl::rows::SUNSHINE_DURATION, step, cell) / daylight));
        }
        shortwave = wepl::atmosphere::shortwave_from_sunshine<R>(outside, ratio, a, b);
    }
    unit_state(wepl::rows::CLOUD_RATIO, unit) = ratio;
    bright = (daily ? ((shortwave * dt) / wepl::max(daylight, R(3600.0))) : shortwave);
    return Tuple3<R, R, R>{shortwave, bright, ratio};
}

// Fill ``weather[row, step, unit]`` of one unit for ``n_steps`` of ``dt`` s; rows as in the registry, eq. (3.1).
template <typename R, typename option_t, typename calendar_t, typename forcing_t, typename unit_cell_t, typename unit_parameter_t, typename unit_state_t, typename weather_t>
WEPL_FUNCTION void advance_weather(int unit, int n_steps, R dt, option_t& option, calendar_t& calendar, forcing_t& forcing, unit_cell_t& unit_cell, int shortwave_given, int longwave_given, unit_parameter_t& unit_parameter, unit_state_t& unit_state, weather_t& weather) {
    int cell;
    R height;
    R pressure;
    R wetter;
    R temperature;
    R precipitation;
    R snow;
    R shortwave;
    R bright;
    R ratio;
    R longwave;
    R humidity;
    R heat;
    cell = unit_cell(unit);
    height = unit_parameter(wepl::rows::ELEVATION_DIFFERENCE, unit);
    pressure = wepl::atmosphere::air_pressure<R>(unit_parameter(wepl::rows::ELEVATION, unit));
    wetter = wepl::max(R(0.0), (R(1.0) + (option(wepl::rows::PRECIPITATION_LAPSE_RATE) * height)));
    for (int step = 0; step < n_steps; ++step) {
        temperature = (forcing(wepl::rows::AIR_TEMPERATURE, step, cell) - (option(wepl::rows::TEMPERATURE_LAPSE_RATE) * height));
        precipitation = ((forcing(wepl::rows::PRECIPITATION, step, cell) * wetter) * dt);
        snow = (precipitation * wepl::snow::snow_share<R>(temperature, option(wepl::rows::SNOW_TEMPERATURE), option(wepl::rows::RAIN_TEMPERATURE)));
        const Tuple3<R, R, R> parts_1 = wepl::stage_weather::sky<R>(step, unit, cell, dt, option, calendar, forcing, shortwave_given, unit_parameter, unit_state);
        shortwave = parts_1.v0;
        bright = parts_1.v1;
        ratio = parts_1.v2;
        if ((longwave_given == 1)) {
            longwave = wepl::atmosphere::net_longwave_given<R>(temperature, forcing(wepl::rows::LONGWAVE_RADIATION, step, cell), option(wepl::rows::SURFACE_EMISSIVITY));
        } else {
            longwave = wepl::atmosphere::net_longwave<R>(temperature, ratio);
        }
        humidity = wepl::min(R(1.0), forcing(wepl::rows::RELATIVE_HUMIDITY, step, cell));
        heat = wepl::atmosphere::vaporisation_heat<R>(temperature);
        weather(wepl::rows::RAIN, step, unit) = (precipitation - snow);
        weather(wepl::rows::SNOW, step, unit) = snow;
        weather(wepl::rows::TEMPERATURE, step, unit) = temperature;
        weather(wepl::rows::SHORTWAVE, step, unit) = shortwave;
        weather(wepl::rows::DAYLIGHT_SHORTWAVE, step, unit) = bright;
        weather(wepl::rows::LONGWAVE_NET, step, unit) = longwave;
        weather(wepl::rows::VAPOUR_PRESSURE_DEFICIT, step, unit) = ((R(1.0) - humidity) * wepl::atmosphere::saturation_vapour_pressure<R>(temperature));
        weather(wepl::rows::SLOPE_OF_SATURATION, step, unit) = wepl::atmosphere::vapour_pressure_slope<R>(temperature);
        weather(wepl::rows::PSYCHROMETRIC, step, unit) = wepl::atmosphere::psychrometric_constant<R>(pressure, heat);
        weather(wepl::rows::VAPORISATION_HEAT, step, unit) = heat;
        weather(wepl::rows::AIR_HEAT_CAPACITY, step, unit) = (R(wepl::constants::SPECIFIC_HEAT_AIR) * wepl::atmosphere::air_density<R>(pressure, temperature));
        weather(wepl::rows::WIND, step, unit) = wepl::max(option(wepl::rows::MINIMUM_WIND_SPEED), forcing(wepl::rows::WIND_SPEED, step, cell));
    }
}

}  // namespace
