"""Air and radiation (docs/theory/atmosphere.md): examples of FAO-56 (Allen et al. 1998), numbers.md section 1.

"Book" is the printed answer, to half a unit of its last digit; the longer numbers are what the formulas give.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from wepl.physics import atmosphere
from wepl.physics.constants import KELVIN, STEFAN_BOLTZMANN
from wepl.validation.radiation import MIDDLES, MJ_PER_DAY, MJ_PER_HOUR, MONTHLY_DAYLIGHT, MONTHLY_RADIATION, SUN


def daylight(day: int, latitude: float) -> float:
    return atmosphere.daylight_hours(atmosphere.sunset_angle(latitude, atmosphere.solar_declination(day)))


@pytest.mark.parametrize(("elevation", "pressure", "book"), [(1800.0, 81.75580, 81.8), (1200.0, 87.896634, 87.9)])
def test_pressure(elevation, pressure, book):
    """FAO-56 examples 2 and 4, kPa; the standard pressure is rounded to 101.3 kPa in both."""
    assert atmosphere.air_pressure(elevation) / 1e3 == pytest.approx(pressure, abs=5e-6)
    assert atmosphere.air_pressure(elevation) / 1e3 == pytest.approx(book, abs=0.05)


def test_psychrometric_constant():
    """Example 2: 0.054 kPa/K at 1800 m with lambda 2.45 MJ/kg; FAO's factor 0.665e-3 is rounded (4e-4)."""
    gamma = atmosphere.psychrometric_constant(atmosphere.air_pressure(1800.0), 2.45e6) / 1e3
    assert gamma == pytest.approx(0.054, abs=5e-4)
    assert gamma == pytest.approx(0.05436760, rel=5e-4)


@pytest.mark.parametrize(("temperature", "pressure"), [
    (24.5, 3.0746491), (15.0, 1.7053462), (19.75, 2.3023386), (19.5, 2.2668801), (38.0, 6.6247579), (28.0, 3.7799304)])
def test_saturation_vapour_pressure(temperature, pressure):
    """FAO-56 examples 3, 4 and 19, kPa."""
    assert atmosphere.saturation_vapour_pressure(temperature) / 1e3 == pytest.approx(pressure, rel=1e-7)


def test_example_3_means():
    """Example 3: 2.39 kPa from the two extremes, 2.30 at the mean temperature."""
    high, low, mean = (atmosphere.saturation_vapour_pressure(t) / 1e3 for t in (24.5, 15.0, 19.75))
    assert 0.5 * (high + low) == pytest.approx(2.3899976, abs=5e-8)
    assert 0.5 * (high + low) == pytest.approx(2.39, abs=5e-3)
    assert mean == pytest.approx(2.30, abs=5e-3)


@pytest.mark.parametrize(("temperature", "slope"), [(30.2, 0.24580028), (28.0, 0.22008034), (38.0, 0.35820325)])
def test_slope(temperature, slope):
    """FAO-56 examples 17 and 19, kPa/K; and the derivative by differences (second order: 1e-8)."""
    assert atmosphere.vapour_pressure_slope(temperature) / 1e3 == pytest.approx(slope, abs=5.1e-9)
    difference = (atmosphere.saturation_vapour_pressure(temperature + 1e-3)
                  - atmosphere.saturation_vapour_pressure(temperature - 1e-3)) / 2e-3
    # 4098 is 17.27 x 237.3 = 4098.17 rounded.
    assert atmosphere.vapour_pressure_slope(temperature) == pytest.approx(difference, rel=5e-5)


def test_slopes_of_the_asce_check():
    """Ten slopes of the ASCE manual, kPa/K, to half a unit of the last digit printed (26.0: three digits only)."""
    temperature = (21.65, 22.9, 23.7, 22.8, 24.3, 26.0, 26.1, 26.4, 23.9, 24.2)
    slope = (0.1585, 0.1692, 0.1762, 0.1684, 0.1820, 0.199, 0.1996, 0.2027, 0.1781, 0.1809)
    found = [atmosphere.vapour_pressure_slope(value) / 1e3 for value in temperature]
    np.testing.assert_allclose(found, slope, rtol=0.0, atol=6e-4)


def test_heat_and_density():
    """2.45 MJ/kg at 20 degC (annex 3 prints 2.45); density p/(1.01 (T + 273) R) of box 6: 1.2 kg/m3 at 20 degC."""
    assert atmosphere.vaporisation_heat(20.0) / 1e6 == pytest.approx(2.45, abs=5e-3)
    assert atmosphere.vaporisation_heat(16.9) / 1e6 == pytest.approx(2.4610991, abs=5e-8)
    assert atmosphere.air_density(101300.0, 20.0) == pytest.approx(101.3 / (1.01 * 293.0 * 0.287), rel=1e-12)
    assert atmosphere.air_density(101300.0, 20.0) == pytest.approx(1.20, abs=0.01)


def test_example_8_sun():
    """20 S on 3 September (day 246): dr 0.985, declination 0.120, sunset 1.527, Ra 32.2 MJ m-2 d-1, N 11.7 h."""
    latitude = math.radians(-20.0)
    declination = atmosphere.solar_declination(246)
    assert atmosphere.inverse_relative_distance(246) == pytest.approx(0.98482882, abs=5.1e-9)
    assert declination == pytest.approx(0.11965509, abs=5.1e-9)
    assert atmosphere.sunset_angle(latitude, declination) == pytest.approx(1.52702241, abs=5.1e-9)
    radiation = atmosphere.extraterrestrial_daily(246, latitude) * MJ_PER_DAY * SUN
    assert radiation == pytest.approx(32.193996, abs=5.1e-7)
    assert radiation == pytest.approx(32.2, abs=0.05)
    assert daylight(246, latitude) == pytest.approx(11.6655919, abs=5.1e-8)


def test_example_10_shortwave():
    """Rio de Janeiro, 22.9 S (22 deg 54 min), 15 May, 7.1 h of sun: Ra 25.1, N 10.9, Rs 14.5."""
    latitude = math.radians(-22.9)
    radiation = atmosphere.extraterrestrial_daily(135, latitude) * MJ_PER_DAY * SUN
    assert radiation == pytest.approx(25.111028, abs=5.1e-7)
    length = daylight(135, latitude)
    assert length == pytest.approx(10.8950756, abs=5.1e-8)
    shortwave = atmosphere.shortwave_from_sunshine(radiation, 7.1 / length, 0.25, 0.50)
    assert shortwave == pytest.approx(14.4598157, abs=1e-6)
    assert shortwave == pytest.approx(14.5, abs=0.05)
    assert atmosphere.sunshine_ratio(shortwave, radiation, 0.25, 0.50) == pytest.approx(7.1 / length, rel=1e-12)


@pytest.mark.parametrize("latitude", MONTHLY_RADIATION)
def test_radiation_table(latitude):
    """Annex 2 of FAO-56, one decimal."""
    found = [atmosphere.extraterrestrial_daily(day, math.radians(latitude)) * MJ_PER_DAY * SUN for day in MIDDLES]
    np.testing.assert_allclose(found, MONTHLY_RADIATION[latitude], rtol=0.0, atol=0.0501)


@pytest.mark.parametrize("latitude", MONTHLY_DAYLIGHT)
def test_daylight_table(latitude):
    found = [daylight(day, math.radians(latitude)) for day in MIDDLES]
    np.testing.assert_allclose(found, MONTHLY_DAYLIGHT[latitude], rtol=0.0, atol=0.0501)


def test_polar_day_and_night():
    """70 N: at midsummer 24 h of sun and 42.694984 MJ m-2 d-1, at midwinter none."""
    latitude = math.radians(70.0)
    assert daylight(172, latitude) == pytest.approx(24.0, rel=1e-12)
    assert atmosphere.extraterrestrial_daily(172, latitude) * MJ_PER_DAY * SUN == pytest.approx(42.694984, rel=1e-7)
    assert daylight(355, latitude) == 0.0
    assert atmosphere.extraterrestrial_daily(355, latitude) == pytest.approx(0.0, abs=1e-12)
    assert atmosphere.extraterrestrial_period(355, latitude, 0.3, 12.0, 1.0) == 0.0
    for pole in (math.radians(90.0), math.radians(-90.0)):
        assert math.isfinite(atmosphere.extraterrestrial_daily(172, pole))


@pytest.mark.parametrize("hours", [1.0, 2.0, 3.0, 12.0, 24.0])
@pytest.mark.parametrize(("day", "latitude", "longitude"), [
    (166, 29.0, 115.0), (15, 60.0, -120.0), (258, -35.0, 179.0), (172, 70.0, 20.0), (355, 70.0, 20.0)])
def test_periods_add_to_the_day(hours, day, latitude, longitude):
    """The periods of one turn of the Earth add to the daily mean and day length: one integral, cut in pieces."""
    place = (math.radians(latitude), math.radians(longitude))
    middles = np.arange(0.5 * hours, 24.0, hours)
    periods = [atmosphere.extraterrestrial_period(day, *place, hour, hours) for hour in middles]
    assert np.mean(periods) == pytest.approx(atmosphere.extraterrestrial_daily(day, place[0]), rel=1e-10, abs=1e-10)
    sun = [atmosphere.daylight_in_period(day, *place, hour, hours) for hour in middles]
    assert np.sum(sun) == pytest.approx(daylight(day, place[0]), rel=1e-10, abs=1e-10)
    assert min(periods) >= 0.0 and min(sun) >= 0.0 and max(sun) <= hours * (1.0 + 1e-12)


def test_example_19_hour():
    """N'Diaye, 16 deg 13 min N, 16 deg 15 min W, 1 October 14:00 to 15:00 (UTC-1): angle 0.682, Ra 3.543 MJ m-2 h-1."""
    latitude, longitude = math.radians(16.0 + 13.0 / 60.0), math.radians(-16.25)
    # FAO-56 rounds 1/15 to 0.06667, which shifts the angle by 1e-6.
    assert atmosphere.solar_time_angle(274, longitude, 15.5) == pytest.approx(0.68214555, abs=2e-6)
    radiation = atmosphere.extraterrestrial_period(274, latitude, longitude, 15.5, 1.0) * MJ_PER_HOUR * SUN
    assert radiation == pytest.approx(3.5434175, rel=2e-6)
    assert radiation == pytest.approx(3.543, abs=5e-4)
    assert atmosphere.extraterrestrial_period(274, latitude, longitude, 3.5, 1.0) == 0.0
    assert atmosphere.daylight_in_period(274, latitude, longitude, 3.5, 1.0) == 0.0
    assert atmosphere.daylight_in_period(274, latitude, longitude, 15.5, 1.0) == pytest.approx(1.0, rel=1e-12)


def test_solar_time_angle_stays_within_half_a_turn():
    for hour in np.linspace(0.0, 48.0, 97):
        for longitude in (-math.pi, -1.0, 0.0, 2.0, math.pi):
            assert -math.pi <= atmosphere.solar_time_angle(100, longitude, hour) < math.pi + 1e-12


def test_sunshine_ratio_at_its_ends():
    """Darkness, an overcast below the scale and a sky above it stay between 0 and 1."""
    assert atmosphere.sunshine_ratio(0.0, 0.0, 0.25, 0.5) == 0.0
    assert atmosphere.sunshine_ratio(10.0, 100.0, 0.25, 0.5) == 0.0
    assert atmosphere.sunshine_ratio(90.0, 100.0, 0.25, 0.5) == 1.0
    assert atmosphere.sunshine_ratio(50.0, 100.0, 0.25, 0.0) == 0.0


@pytest.mark.parametrize(("temperature", "ratio", "loss"), [(20.0, 1.0, 6.2060565), (5.0, 0.3, 2.5642802)])
def test_idso_jackson_longwave(temperature, ratio, loss):
    """MJ m-2 d-1 with FAO's sigma 4.903e-9 and 273.2 K, carried over to the constants of the model."""
    own = STEFAN_BOLTZMANN * 0.0864 * (temperature + KELVIN) ** 4
    fao = 4.903e-9 * (temperature + 273.2) ** 4
    assert -atmosphere.net_longwave(temperature, ratio) * MJ_PER_DAY == pytest.approx(loss * own / fao, rel=1e-7)
    # Clouds leave a tenth of it.
    assert atmosphere.net_longwave(temperature, 0.0) == pytest.approx(0.1 * atmosphere.net_longwave(temperature, 1.0))


def test_longwave_from_the_sky():
    """A sky that radiates as the ground does gives 0; otherwise the difference times the emissivity."""
    black = STEFAN_BOLTZMANN * (15.0 + KELVIN) ** 4
    assert black == pytest.approx(390.9, abs=0.1)  # W m-2 of a black body at 15 degC
    assert atmosphere.net_longwave_given(15.0, black, 0.97) == pytest.approx(0.0, abs=1e-12)
    assert atmosphere.net_longwave_given(15.0, black - 50.0, 0.97) == pytest.approx(-48.5, rel=1e-12)


def test_reference_evapotranspiration_of_example_18_against_refet():
    """Brussels on 6 July from these functions with FAO-56 eqs. 6 and 39, against the package refet to 5e-4."""
    refet = pytest.importorskip("refet")
    high, low, elevation, latitude, day = 21.5, 12.3, 100.0, math.radians(50.80), 187
    mean = 0.5 * (high + low)
    saturated = 0.5e-3 * sum(atmosphere.saturation_vapour_pressure(t) for t in (high, low))
    actual = 0.5e-3 * (atmosphere.saturation_vapour_pressure(low) * 0.84
                       + atmosphere.saturation_vapour_pressure(high) * 0.63)
    wind = 10.0 / 3.6
    wind_2m = wind * 4.87 / math.log(67.8 * 10.0 - 5.42)
    outside = atmosphere.extraterrestrial_daily(day, latitude) * MJ_PER_DAY
    shortwave = atmosphere.shortwave_from_sunshine(outside, 9.25 / daylight(day, latitude), 0.25, 0.50)
    clear = (0.75 + 2e-5 * elevation) * outside
    longwave = (4.903e-9 * 0.5 * ((high + 273.16) ** 4 + (low + 273.16) ** 4) * (0.34 - 0.14 * math.sqrt(actual))
                * (1.35 * shortwave / clear - 0.35))
    net = 0.77 * shortwave - longwave
    slope = atmosphere.vapour_pressure_slope(mean) * 1e-3
    gamma = atmosphere.psychrometric_constant(atmosphere.air_pressure(elevation), 2.45e6) * 1e-3
    own = ((0.408 * slope * net + gamma * 900.0 / (mean + 273.0) * wind_2m * (saturated - actual))
           / (slope + gamma * (1.0 + 0.34 * wind_2m)))
    package = refet.Daily(tmin=low, tmax=high, ea=actual, rs=shortwave, uz=wind, zw=10.0, elev=elevation, lat=50.80,
                          doy=day, method="asce", rso_type="simple")
    assert own == pytest.approx(float(package.eto()[0]), rel=5e-4)
    assert own == pytest.approx(3.8802594, rel=5e-4)
    assert own == pytest.approx(3.9, abs=0.05)  # the book
