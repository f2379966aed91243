"""The weather stage: forcing cells to the air over each unit (docs/theory/atmosphere.md, snow.md eq. 4.1)."""

from __future__ import annotations

import numba

from wepl import rows
from wepl.physics import atmosphere
from wepl.physics.constants import DAY, SPECIFIC_HEAT_AIR
from wepl.physics.jit import kernel, physics
from wepl.physics.snow import snow_share

_CHUNK = 64
# Below this height of the sun (mean radiation outside the atmosphere, W m-2) Rs/Ra says little about clouds.
_HIGH_SUN = 300.0


@physics
def sky(step, unit, cell, dt, option, calendar, forcing, shortwave_given, unit_parameter, unit_state):
    """Shortwave radiation, its mean over daylight (W m-2) and n/N of one step; eqs. (3.10) to (3.15)."""
    day = calendar[rows.DAY_OF_YEAR, step]
    latitude = unit_parameter[rows.LATITUDE, unit]
    a, b = option[rows.ANGSTROM_A], option[rows.ANGSTROM_B]
    daily = dt >= DAY
    if daily:
        outside = atmosphere.extraterrestrial_daily(day, latitude)
        sunset = atmosphere.sunset_angle(latitude, atmosphere.solar_declination(day))
        daylight = 3600.0 * atmosphere.daylight_hours(sunset)
    else:
        longitude, hour = unit_parameter[rows.LONGITUDE, unit], calendar[rows.SOLAR_HOUR, step]
        outside = atmosphere.extraterrestrial_period(day, latitude, longitude, hour, dt / 3600.0)
        daylight = atmosphere.daylight_in_period(day, latitude, longitude, hour, dt / 3600.0) * 3600.0
    ratio = unit_state[rows.CLOUD_RATIO, unit]
    if shortwave_given == 1:
        shortwave = forcing[rows.SHORTWAVE_RADIATION, step, cell]
        if outside > 0.0 and (daily or outside >= _HIGH_SUN):
            ratio = atmosphere.sunshine_ratio(shortwave, outside, a, b)
    else:
        if daylight >= 0.5 * min(dt, DAY) or (daily and daylight > 0.0):
            ratio = min(1.0, forcing[rows.SUNSHINE_DURATION, step, cell] / daylight)
        shortwave = atmosphere.shortwave_from_sunshine(outside, ratio, a, b)
    unit_state[rows.CLOUD_RATIO, unit] = ratio
    bright = shortwave * dt / max(daylight, 3600.0) if daily else shortwave
    return shortwave, bright, ratio


@physics
def advance_weather(unit, n_steps, dt, option, calendar, forcing, unit_cell, shortwave_given, longwave_given,
                    unit_parameter, unit_state, weather):
    """Fill ``weather[row, step, unit]`` of one unit for ``n_steps`` of ``dt`` s; rows as in the registry, eq. (3.1)."""
    cell = unit_cell[unit]
    height = unit_parameter[rows.ELEVATION_DIFFERENCE, unit]
    pressure = atmosphere.air_pressure(unit_parameter[rows.ELEVATION, unit])
    wetter = max(0.0, 1.0 + option[rows.PRECIPITATION_LAPSE_RATE] * height)
    for step in range(n_steps):
        temperature = (forcing[rows.AIR_TEMPERATURE, step, cell]
                       - option[rows.TEMPERATURE_LAPSE_RATE] * height)
        precipitation = forcing[rows.PRECIPITATION, step, cell] * wetter * dt
        snow = precipitation * snow_share(temperature, option[rows.SNOW_TEMPERATURE], option[rows.RAIN_TEMPERATURE])
        shortwave, bright, ratio = sky(step, unit, cell, dt, option, calendar, forcing, shortwave_given,
                                       unit_parameter, unit_state)
        if longwave_given == 1:
            longwave = atmosphere.net_longwave_given(temperature, forcing[rows.LONGWAVE_RADIATION, step, cell],
                                                     option[rows.SURFACE_EMISSIVITY])
        else:
            longwave = atmosphere.net_longwave(temperature, ratio)
        humidity = min(1.0, forcing[rows.RELATIVE_HUMIDITY, step, cell])
        heat = atmosphere.vaporisation_heat(temperature)
        weather[rows.RAIN, step, unit] = precipitation - snow
        weather[rows.SNOW, step, unit] = snow
        weather[rows.TEMPERATURE, step, unit] = temperature
        weather[rows.SHORTWAVE, step, unit] = shortwave
        weather[rows.DAYLIGHT_SHORTWAVE, step, unit] = bright
        weather[rows.LONGWAVE_NET, step, unit] = longwave
        weather[rows.VAPOUR_PRESSURE_DEFICIT, step, unit] = (
            (1.0 - humidity) * atmosphere.saturation_vapour_pressure(temperature))
        weather[rows.SLOPE_OF_SATURATION, step, unit] = atmosphere.vapour_pressure_slope(temperature)
        weather[rows.PSYCHROMETRIC, step, unit] = atmosphere.psychrometric_constant(pressure, heat)
        weather[rows.VAPORISATION_HEAT, step, unit] = heat
        weather[rows.AIR_HEAT_CAPACITY, step, unit] = (
            SPECIFIC_HEAT_AIR * atmosphere.air_density(pressure, temperature))
        weather[rows.WIND, step, unit] = max(option[rows.MINIMUM_WIND_SPEED], forcing[rows.WIND_SPEED, step, cell])


@kernel
def weather_kernel(n_units, n_steps, dt, option, calendar, forcing, unit_cell, shortwave_given, longwave_given,
                   unit_parameter, unit_state, weather):
    """Fill the weather of all units for a block; see :func:`advance_weather`."""
    for chunk in numba.prange((n_units + _CHUNK - 1) // _CHUNK):
        for unit in range(chunk * _CHUNK, min(n_units, (chunk + 1) * _CHUNK)):
            advance_weather(unit, n_steps, dt, option, calendar, forcing, unit_cell, shortwave_given, longwave_given,
                            unit_parameter, unit_state, weather)
