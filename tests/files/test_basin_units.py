"""Units, calendars and times of basin files. Source of the rules: docs/basin-file.md."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from basins import forcing, put, same, valid

from wepl import registry
from wepl.basin.dataset import Basin


@pytest.fixture(scope="module")
def plain() -> Basin:
    return Basin.from_dataset(valid())


def changed(name: str, units: str, factor: float, offset: float = 0.0) -> Basin:
    """The basin with one variable in other units."""
    data = valid()
    put(data, name, data[name].values * factor + offset, units)
    return Basin.from_dataset(data)


# A factor and a few ulp: each conversion is one multiplication by a factor that is itself rounded.
ROUNDING = 1e-14


@pytest.mark.parametrize("name, units, factor", [
    ("precipitation", "mm/day", 1.0), ("precipitation", "mm h-1", 1 / 24), ("precipitation", "kg m-2 s-1", 1 / 86400),
    ("precipitation", "kg m-2 d-1", 1.0), ("precipitation", "m s-1", 1e-3 / 86400), ("precipitation", "cm/d", 0.1),
    ("relative_humidity", "1", 0.01), ("wind_speed", "km h-1", 3.6), ("sunshine_duration", "s", 3600.0),
    ("sunshine_duration", "minutes", 60.0),
])
def test_forcing_in_other_units(plain, name, units, factor):
    row = registry.row(name)
    np.testing.assert_allclose(forcing(changed(name, units, factor))[row], forcing(plain)[row], rtol=ROUNDING, atol=0)


def test_forcing_in_the_units_of_the_model_is_taken_bit_by_bit():
    rain = np.random.default_rng(1).uniform(0.0, 1e-6, (6, 2))
    data = valid()
    put(data, "precipitation", rain, "m s-1")
    np.testing.assert_array_equal(forcing(Basin.from_dataset(data))[registry.row("precipitation")], rain)


def test_temperature_in_kelvin(plain):
    row = registry.row("air_temperature")
    # Kelvins of 288 carry 5.7e-14.
    np.testing.assert_allclose(forcing(changed("air_temperature", "K", 1.0, 273.15))[row], forcing(plain)[row],
                               rtol=0, atol=2e-13)


@pytest.mark.parametrize("name, units, factor", [
    ("unit_area", "m2", 1e6), ("unit_area", "ha", 100.0), ("reach_length", "km", 1e-3),
    ("saturated_conductivity", "cm d-1", 1e2 * 86400 / 3.6e6 * 3.6e6), ("wetting_front_suction", "cm", 1e2),
    ("land_fraction", "%", 100.0), ("field_capacity", "m3 m-3", 1.0), ("unit_elevation", "km", 1e-3),
])
def test_parameters_in_other_units(plain, name, units, factor):
    np.testing.assert_allclose(changed(name, units, factor).parameters[name].values, plain.parameters[name].values,
                               rtol=ROUNDING, atol=0)


def test_shares_need_no_units(plain):
    data = valid()
    for name in ("land_fraction", "field_capacity", "unit_slope"):
        del data[name].attrs["units"]
    same(Basin.from_dataset(data), plain)


@pytest.mark.parametrize("calendar, third", [("standard", "2012-02-29"), ("gregorian", "2012-02-29"),
                                             ("proleptic_gregorian", "2012-02-29"), ("noleap", "2012-03-01"),
                                             ("365_day", "2012-03-01"), ("NoLeap", "2012-03-01")])
def test_calendars(calendar, third):
    data = valid()
    data["time"] = ("time", np.arange(6), {"units": "days since 2012-02-27", "calendar": calendar})
    basin = Basin.from_dataset(data)
    assert basin.clock.label(2) == third
    assert basin.clock.calendar == ("noleap" if third.endswith("01") else "standard")


@pytest.mark.parametrize("units, numbers", [
    ("hours since 2010-01-01", np.arange(6) * 24), ("seconds since 1970-01-01", 1262304000 + np.arange(6) * 86400),
    ("days since 0001-01-01", np.arange(6) + 733774), ("days since 1900-01-01 00:00:00", np.arange(6) + 40177.0),
    ("minutes since 2009-12-31T23:00", np.arange(6) * 1440 + 60), ("d since 2010-01-01", np.arange(6)),
    *((f"days since 2010-01-01{moment}", np.arange(6)) for moment in (
        "T00:00:00Z", " 00:00:00 UTC", " 0:0:0.0", " 0", " 06:00 +6:00", " 06:00:00+06:00", " 6 +6", "T06:00 +0600")),
    ("days since 2009-12-31 19:00 -5", np.arange(6)), ("hours since 2010-01-01 05:30 +05:30", np.arange(6) * 24),
])
def test_units_of_time(plain, units, numbers):
    data = valid()
    data["time"] = ("time", numbers, {"units": units, "calendar": "standard"})
    same(Basin.from_dataset(data), plain)


def test_a_time_without_calendar_is_standard(plain):
    data = valid()
    del data["time"].attrs["calendar"]
    same(Basin.from_dataset(data), plain)


def test_hours_as_fractions_of_a_day():
    data = valid(hourly=True)
    data["time"] = ("time", np.arange(144) / 24.0, {"units": "days since 2010-01-01"})
    clock = Basin.from_dataset(data).clock
    assert (clock.step_seconds, clock.label(143)) == (3600.0, "2010-01-06T23:00")


@pytest.mark.parametrize("use_cftime", [False, True])
def test_a_dataset_with_decoded_time(plain, use_cftime):
    coder = xr.coders.CFDatetimeCoder(use_cftime=use_cftime)
    decoded = xr.decode_cf(valid(), decode_times=coder, decode_timedelta=False)
    assert decoded["time"].dtype.kind in "MO"
    same(Basin.from_dataset(decoded), plain)
