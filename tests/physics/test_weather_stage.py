"""The weather stage (docs/theory/atmosphere.md): forcing of a cell to the air over a unit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wepl import rows
from wepl.physics import atmosphere
from wepl.stages.weather import weather_kernel

DAY, HOUR = 86400.0, 3600.0
OPTIONS = {
    rows.TEMPERATURE_LAPSE_RATE: 0.0065, rows.PRECIPITATION_LAPSE_RATE: 0.0, rows.ANGSTROM_A: 0.25,
    rows.ANGSTROM_B: 0.50, rows.SURFACE_EMISSIVITY: 0.97, rows.MINIMUM_WIND_SPEED: 0.5, rows.SNOW_TEMPERATURE: 0.0,
    rows.RAIN_TEMPERATURE: 2.0,
}


class Stage:
    """Arrays of a run over ``n_units`` in one cell; fields of forcing are set by row before :meth:`run`."""

    def __init__(self, n_steps: int, dt: float, n_units: int = 1) -> None:
        self.dt = dt
        self.option = np.zeros(rows.N_ROWS["option"])
        for row, value in OPTIONS.items():
            self.option[row] = value
        self.calendar = np.zeros((rows.N_ROWS["calendar"], n_steps))
        self.calendar[rows.DAY_OF_YEAR] = 166 + (np.arange(n_steps) * dt // DAY)
        self.calendar[rows.SOLAR_HOUR] = (np.arange(n_steps) + 0.5) * dt / HOUR % 24.0
        self.forcing = np.zeros((rows.N_ROWS["forcing"], n_steps, 1))
        self.set(AIR_TEMPERATURE=20.0, RELATIVE_HUMIDITY=0.7, WIND_SPEED=2.0)
        self.parameter = np.zeros((rows.N_ROWS["unit_parameter"], n_units))
        self.parameter[rows.LATITUDE] = math.radians(29.0)
        self.state = np.zeros((rows.N_ROWS["unit_state"], n_units))
        self.weather = np.full((rows.N_ROWS["weather"], n_steps, n_units), np.nan)

    def set(self, **values: float | np.ndarray) -> Stage:
        for name, value in values.items():
            self.forcing[getattr(rows, name), :, 0] = value
        return self

    def run(self, shortwave: bool = False, longwave: bool = False) -> Stage:
        n_units, n_steps = self.parameter.shape[1], self.forcing.shape[1]
        weather_kernel(n_units, n_steps, self.dt, self.option, self.calendar, self.forcing,
                       np.zeros(n_units, dtype=np.int32), int(shortwave), int(longwave), self.parameter, self.state,
                       self.weather)
        assert np.all(np.isfinite(self.weather))
        return self

    def value(self, row: int, step: int = 0, unit: int = 0) -> float:
        return float(self.weather[row, step, unit])


def test_height_changes_temperature_and_what_follows_from_it():
    """A unit 1000 m above its cell is 6.5 K colder (eq. 3.1); pressure is that of its own elevation."""
    stage = Stage(1, DAY)
    stage.parameter[rows.ELEVATION_DIFFERENCE] = 1000.0
    stage.parameter[rows.ELEVATION] = 1400.0
    stage.run()
    pressure, heat = atmosphere.air_pressure(1400.0), atmosphere.vaporisation_heat(13.5)
    expected = {
        rows.TEMPERATURE: 13.5,
        rows.VAPOUR_PRESSURE_DEFICIT: 0.3 * atmosphere.saturation_vapour_pressure(13.5),
        rows.SLOPE_OF_SATURATION: atmosphere.vapour_pressure_slope(13.5),
        rows.VAPORISATION_HEAT: heat,
        rows.PSYCHROMETRIC: atmosphere.psychrometric_constant(pressure, heat),
        rows.AIR_HEAT_CAPACITY: 1013.0 * atmosphere.air_density(pressure, 13.5),
        rows.WIND: 2.0,
    }
    for row, value in expected.items():
        assert stage.value(row) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("temperature", [-5.0, 0.0, 0.5, 1.0, 1.9, 2.0, 9.0])
@pytest.mark.parametrize("lapse", [0.0, 3e-4])
def test_rain_and_snow_add_to_the_precipitation(temperature, lapse):
    """Split by eq. (4.1); the factor of eq. (3.1) multiplies both (T1)."""
    stage = Stage(1, DAY)
    stage.option[rows.PRECIPITATION_LAPSE_RATE] = lapse
    stage.parameter[rows.ELEVATION_DIFFERENCE] = 500.0
    stage.set(AIR_TEMPERATURE=temperature + 3.25, PRECIPITATION=0.012 / DAY).run()
    total = 0.012 * (1.0 + 500.0 * lapse)
    assert stage.value(rows.RAIN) + stage.value(rows.SNOW) == pytest.approx(total, rel=1e-10)
    assert stage.value(rows.SNOW) == pytest.approx(total * min(1.0, max(0.0, (2.0 - temperature) / 2.0)), rel=1e-10)


def test_precipitation_is_never_negative():
    stage = Stage(1, DAY)
    stage.option[rows.PRECIPITATION_LAPSE_RATE] = 1e-3
    stage.parameter[rows.ELEVATION_DIFFERENCE] = -1500.0
    stage.set(PRECIPITATION=0.01 / DAY).run()
    assert stage.value(rows.RAIN) == 0.0


def test_humidity_and_wind_are_bounded():
    """Air above saturation has no deficit; wind is at least the floor."""
    stage = Stage(1, DAY).set(RELATIVE_HUMIDITY=1.05, WIND_SPEED=0.1).run()
    assert stage.value(rows.VAPOUR_PRESSURE_DEFICIT) == 0.0
    assert stage.value(rows.WIND) == 0.5


def test_daily_sunshine():
    """n/N of the day gives shortwave by eq. (3.14), longwave by (3.17) and the mean over daylight."""
    stage = Stage(1, DAY).set(SUNSHINE_DURATION=6.0 * HOUR).run()
    latitude = math.radians(29.0)
    outside = atmosphere.extraterrestrial_daily(166, latitude)
    hours = atmosphere.daylight_hours(atmosphere.sunset_angle(latitude, atmosphere.solar_declination(166)))
    shortwave = (0.25 + 0.5 * 6.0 / hours) * outside
    assert stage.value(rows.SHORTWAVE) == pytest.approx(shortwave, rel=1e-12)
    assert stage.value(rows.DAYLIGHT_SHORTWAVE) == pytest.approx(shortwave * 24.0 / hours, rel=1e-12)
    assert stage.value(rows.LONGWAVE_NET) == pytest.approx(atmosphere.net_longwave(20.0, 6.0 / hours), rel=1e-12)


def test_daily_shortwave_gives_back_the_sunshine():
    """Given shortwave instead of sunshine, n/N and so longwave come out the same."""
    from_sun = Stage(1, DAY).set(SUNSHINE_DURATION=6.0 * HOUR).run()
    from_shortwave = Stage(1, DAY).set(SHORTWAVE_RADIATION=from_sun.value(rows.SHORTWAVE)).run(shortwave=True)
    for row in (rows.SHORTWAVE, rows.DAYLIGHT_SHORTWAVE, rows.LONGWAVE_NET):
        assert from_shortwave.value(row) == pytest.approx(from_sun.value(row), rel=1e-10)


def test_longwave_that_is_given_is_used():
    stage = Stage(1, DAY).set(SHORTWAVE_RADIATION=200.0, LONGWAVE_RADIATION=330.0).run(shortwave=True, longwave=True)
    assert stage.value(rows.LONGWAVE_NET) == pytest.approx(atmosphere.net_longwave_given(20.0, 330.0, 0.97), rel=1e-12)


def test_hours_add_to_the_day():
    """Clear sky: 24 hourly steps have the daily mean shortwave of one daily step on the same day of the year."""
    day = Stage(1, DAY).set(SUNSHINE_DURATION=24 * HOUR).run()
    hours = Stage(24, HOUR)
    hours.calendar[rows.DAY_OF_YEAR] = 166
    hours.set(SUNSHINE_DURATION=HOUR)
    hours.state[rows.CLOUD_RATIO] = 1.0
    hours.run()
    assert hours.weather[rows.SHORTWAVE].mean() == pytest.approx(day.value(rows.SHORTWAVE), rel=1e-10)
    assert hours.weather[rows.SHORTWAVE].min() == 0.0


def test_night_keeps_the_last_known_cloud():
    """Shortwave says nothing of clouds at night or under a low sun: the ratio of the last high sun holds (causal)."""
    latitude = math.radians(29.0)
    hours = Stage(24, HOUR)
    hours.calendar[rows.DAY_OF_YEAR] = 166
    outside = np.array([atmosphere.extraterrestrial_period(166, latitude, 0.0, hour + 0.5, 1.0) for hour in range(24)])
    hours.set(SHORTWAVE_RADIATION=(0.25 + 0.5 * 0.4) * outside)
    hours.state[rows.CLOUD_RATIO] = 0.9
    hours.run(shortwave=True)
    ratio = hours.weather[rows.LONGWAVE_NET, :, 0] / atmosphere.net_longwave(20.0, 1.0)
    np.testing.assert_allclose(ratio[:4], 0.1 + 0.9 * 0.9, rtol=1e-10)
    np.testing.assert_allclose(ratio[outside >= 300.0], 0.1 + 0.9 * 0.4, rtol=1e-10)
    np.testing.assert_allclose(ratio[20:], 0.1 + 0.9 * 0.4, rtol=1e-10)
    assert hours.state[rows.CLOUD_RATIO, 0] == pytest.approx(0.4, rel=1e-10)


def test_polar_night():
    """Without sun the shortwave is 0, the cloud ratio stays and nothing is NaN."""
    stage = Stage(1, DAY)
    stage.calendar[rows.DAY_OF_YEAR] = 355
    stage.parameter[rows.LATITUDE] = math.radians(75.0)
    stage.state[rows.CLOUD_RATIO] = 0.3
    stage.set(SUNSHINE_DURATION=0.0).run()
    assert stage.value(rows.SHORTWAVE) == 0.0
    assert stage.state[rows.CLOUD_RATIO, 0] == 0.3


def test_every_unit_is_filled():
    """Units beyond one chunk of the parallel loop get the same weather as the first."""
    many = Stage(2, DAY, n_units=130).set(SUNSHINE_DURATION=5 * HOUR, PRECIPITATION=1e-7).run()
    np.testing.assert_array_equal(many.weather, np.broadcast_to(many.weather[:, :, :1], many.weather.shape))
