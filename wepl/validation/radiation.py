"""Sun and radiation (docs/theory/atmosphere.md) against FAO-56: examples, monthly tables, polar day and night."""

from __future__ import annotations

import math
from collections.abc import Mapping

from wepl.physics import atmosphere
from wepl.physics.constants import KELVIN, SOLAR_CONSTANT, STEFAN_BOLTZMANN
from wepl.validation.comparison import Case, Group, absolute, relative

PROCESS = "Sun and radiation"
MJ_PER_DAY = 0.0864  # MJ m-2 d-1 of 1 W m-2
MJ_PER_HOUR = 0.0036
# FAO-56 works with 0.0820 MJ m-2 min-1, 1366.67 W m-2; the model with 1367.
SUN = (0.0820e6 / 60.0) / SOLAR_CONSTANT
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MIDDLES = (15, 46, 74, 105, 135, 166, 196, 227, 258, 288, 319, 349)
# Radiation outside the atmosphere on the 15th of each month, MJ m-2 d-1, and day length, h.
MONTHLY_RADIATION = {
    0: (36.2, 37.4, 37.9, 36.8, 34.8, 33.4, 33.9, 35.6, 37.2, 37.3, 36.3, 35.6),
    29: (21.7, 26.3, 31.8, 37.0, 40.0, 41.0, 40.5, 38.1, 33.6, 28.0, 22.7, 20.3),
    40: (15.0, 20.4, 27.2, 34.7, 39.7, 41.8, 40.8, 36.7, 29.9, 22.5, 16.3, 13.6),
    60: (3.3, 8.3, 16.6, 27.5, 36.7, 41.2, 39.1, 31.3, 20.5, 10.8, 4.4, 2.2),
}
MONTHLY_DAYLIGHT = {
    29: (10.3, 11.0, 11.8, 12.7, 13.5, 13.8, 13.7, 13.0, 12.2, 11.3, 10.5, 10.2),
    40: (9.5, 10.5, 11.7, 13.1, 14.2, 14.8, 14.6, 13.6, 12.2, 10.9, 9.7, 9.2),
}


def outside(day: float, latitude: float) -> float:
    """Radiation outside the atmosphere with FAO-56's sun, MJ m-2 d-1; latitude in degrees."""
    return atmosphere.extraterrestrial_daily(day, math.radians(latitude)) * MJ_PER_DAY * SUN


def sunset(day: float, latitude: float) -> float:
    """Sunset hour angle, rad; latitude in degrees."""
    return atmosphere.sunset_angle(math.radians(latitude), atmosphere.solar_declination(day))


def daylight(day: float, latitude: float) -> float:
    """Day length, h; latitude in degrees."""
    return atmosphere.daylight_hours(sunset(day, latitude))


def shortwave(day: float, latitude: float, sunshine: float) -> float:
    """Shortwave radiation from hours of sunshine, Angstrom 0.25 and 0.50, MJ m-2 d-1."""
    return atmosphere.shortwave_from_sunshine(outside(day, latitude), sunshine / daylight(day, latitude), 0.25, 0.50)


def hourly_outside(day: float, latitude: float, longitude: float, hour: float) -> float:
    """Radiation outside the atmosphere over the hour around ``hour`` (UTC), MJ m-2 h-1; angles in degrees."""
    return atmosphere.extraterrestrial_period(day, math.radians(latitude), math.radians(longitude), hour,
                                              1.0) * MJ_PER_HOUR * SUN


def longwave_loss(temperature: float, ratio: float) -> float:
    """Net longwave loss, MJ m-2 d-1, carried over to FAO-56's sigma 4.903e-9 and 273.2 K."""
    own = STEFAN_BOLTZMANN * MJ_PER_DAY * (temperature + KELVIN) ** 4
    fao = 4.903e-9 * (temperature + 273.2) ** 4
    return -atmosphere.net_longwave(temperature, ratio) * MJ_PER_DAY * fao / own


def _monthly(name: str, values: Mapping[int, tuple[float, ...]]) -> tuple[Case, ...]:
    return tuple(Case(f"{name}, {latitude} N, 15 {month}", (day, float(latitude)), expected)
                 for latitude, year in values.items()
                 for month, day, expected in zip(MONTHS, MIDDLES, year, strict=True))


PRINTED = "FAO-56, printed"
COMPUTED = "FAO-56, formula evaluated"
NDIAYE = (274, 16.0 + 13.0 / 60.0, -16.25)
GROUPS = (
    Group(PROCESS, "1", COMPUTED, absolute(5.1e-9), atmosphere.inverse_relative_distance, (
        Case("ex. 8: inverse relative distance, day 246", (246,), 0.98482882),
        Case("ex. 8: the same, printed", (246,), 0.985, absolute(5e-4), PRINTED))),
    Group(PROCESS, "rad", COMPUTED, absolute(5.1e-9), atmosphere.solar_declination, (
        Case("ex. 8: declination, day 246", (246,), 0.11965509),
        Case("ex. 8: the same, printed", (246,), 0.120, absolute(5e-4), PRINTED))),
    Group(PROCESS, "rad", COMPUTED, absolute(5.1e-9), sunset, (
        Case("ex. 8: sunset angle, 20 S, day 246", (246, -20.0), 1.52702241),
        Case("ex. 8: the same, printed", (246, -20.0), 1.527, absolute(5e-4), PRINTED))),
    Group(PROCESS, "MJ m-2 d-1", COMPUTED, absolute(5.1e-7), outside, (
        Case("ex. 8: Ra, 20 S, day 246", (246, -20.0), 32.193996),
        Case("ex. 8: the same, printed", (246, -20.0), 32.2, absolute(0.05), PRINTED),
        Case("ex. 10: Ra, 22.9 S, 15 May", (135, -22.9), 25.111028),
        Case("ex. 10: the same, printed", (135, -22.9), 25.1, absolute(0.05), PRINTED),
        Case("ex. 15: Ra, 45 deg 43 min N, 15 July", (196, 45.0 + 43.0 / 60.0), 40.5547727),
        Case("ex. 15: the same, printed", (196, 45.0 + 43.0 / 60.0), 40.6, absolute(0.05), PRINTED),
        Case("Ra at polar midsummer, 70 N, day 172", (172, 70.0), 42.6949857),
        Case("Ra at polar midwinter, 70 N, day 355", (355, 70.0), 0.0, absolute(1e-10), "no sun"))),
    Group(PROCESS, "h", COMPUTED, absolute(5.1e-8), daylight, (
        Case("ex. 9: day length, 20 S, day 246", (246, -20.0), 11.6655919),
        Case("ex. 9: the same, printed", (246, -20.0), 11.7, absolute(0.05), PRINTED),
        Case("ex. 10: day length, 22.9 S, 15 May", (135, -22.9), 10.8950756),
        Case("ex. 10: the same, printed", (135, -22.9), 10.9, absolute(0.05), PRINTED),
        Case("day length at polar midsummer, 70 N", (172, 70.0), 24.0, absolute(1e-9), "no sunset"),
        Case("day length at polar midwinter, 70 N", (355, 70.0), 0.0, absolute(1e-9), "no sunrise"))),
    Group(PROCESS, "MJ m-2 d-1", COMPUTED, absolute(1e-6), shortwave, (
        Case("ex. 10: Rs, 7.1 h of sunshine", (135, -22.9, 7.1), 14.4598157),
        Case("ex. 10: the same, printed", (135, -22.9, 7.1), 14.5, absolute(0.05), PRINTED))),
    Group(PROCESS, "rad", COMPUTED, absolute(2e-6),
          # FAO-56 rounds 1/15 to 0.06667, which shifts the angle by 1e-6.
          lambda day, longitude, hour: atmosphere.solar_time_angle(day, math.radians(longitude), hour), (
              Case("ex. 19: solar time angle, 14:30", (274, -16.25, 15.5), 0.68214555),)),
    Group(PROCESS, "MJ m-2 h-1", COMPUTED, relative(2e-6), hourly_outside, (
        Case("ex. 19: Ra, 14:00 to 15:00", (*NDIAYE, 15.5), 3.5434175),
        Case("ex. 19: Ra, 02:00 to 03:00", (*NDIAYE, 3.5), 0.0, absolute(1e-10), "night"))),
    Group(PROCESS, "MJ m-2 d-1", "Idso and Jackson 1969, evaluated", relative(1e-7), longwave_loss, (
        Case("net longwave loss, 20 degC, n/N 1", (20.0, 1.0), 6.2060565),
        Case("net longwave loss, 5 degC, n/N 0.3", (5.0, 0.3), 2.5642802))),
    # One decimal is printed.
    Group(PROCESS, "MJ m-2 d-1", "FAO-56 annex 2", absolute(0.0501), outside, _monthly("Ra", MONTHLY_RADIATION)),
    Group(PROCESS, "h", "FAO-56 annex 2", absolute(0.0501), daylight, _monthly("N", MONTHLY_DAYLIGHT)),
)
