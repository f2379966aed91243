"""Times of station tables: forms of dates, time zones, hours and days."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pandas as pd
import pytest
from small_stations import DAYS, WARMTH, built, coordinates, read, weather, wide
from small_terrain import forcing, table, terrain

from wepl.build import clock
from wepl.build.forcing import build_forcing
from wepl.errors import InputError


@pytest.mark.parametrize(("written", "expected"), [
    (["2010-07-31", "2010-08-01"], "2010-07-31"), (["2010/7/31", "2010/8/1"], "2010-07-31"),
    (["31.07.2010", "01.08.2010"], "2010-07-31"), (["31/07/2010", "01/08/2010"], "2010-07-31"),
    (["7/31/2010", "8/1/2010"], "2010-07-31"), (["31-07-2010", "01-08-2010"], "2010-07-31"),
    (["20100731", "20100801"], "2010-07-31"),
    (["2010-07-31 06:00", "2010-07-31 07:00"], "2010-07-31T06:00"), (["2010-07-31T06:00:00", "2010-07-31T07:00:00"],
                                                                      "2010-07-31T06:00")])
def test_forms_of_dates(written, expected):
    seconds, offset = clock.parse_times(written, Path("t.csv"), "date")
    assert clock.label(int(seconds[0])) == expected
    assert offset is None


@pytest.mark.parametrize(("written", "message"), [
    (["01/02/2010", "02/02/2010"], "day/month or month/day"),
    (["2010-01-01T00:00+08:00", "2010-01-01T01:00+09:00"], r"two time zones \(\+08:00, \+09:00\)"),
    (["2010-01-01T00:00Z", "2010-01-01T01:00"], r"two time zones \(Z, none\)"),
    (["2010-01-01", "yesterday"], "row 3: 'yesterday' is no time"),
    (["2010-02-28", "2010-02-30"], "row 3: '2010-02-30'"),
])
def test_times_that_cannot_be_told(written, message):
    with pytest.raises(InputError, match=message):
        clock.parse_times(written, Path("t.csv"), "date")


@pytest.mark.parametrize(("text", "seconds"), [("UTC", 0), ("UTC+8", 28800), ("+05:30", 19800), ("-3", -10800),
                                               ("Z", 0)])
def test_time_zones(text, seconds):
    assert clock.zone_seconds(text) == seconds


def test_time_zone_of_a_place_is_refused():
    with pytest.raises(InputError, match="give the offset from UTC"):
        clock.zone_seconds("Asia/Shanghai")


def test_hours_of_a_zone_are_written_in_utc(tmp_path):
    hours = pd.date_range("2010-01-01", periods=48, freq="h").strftime("%Y-%m-%d %H:%M")
    entries = []
    place = coordinates(tmp_path)
    for name, unit, value in (("precipitation", "mm", 1.0), ("air_temperature", "degC", 5.0),
                              ("relative_humidity", "%", 50.0), ("wind_speed", "m/s", 1.0),
                              ("shortwave_radiation", "W m-2", 100.0)):
        wide(tmp_path, f"{name}.csv", np.full(48, value), days=hours)
        entries.append(table(file=f"{name}.csv", variable=name, unit=unit, coordinates=place))
    build_forcing(forcing(stations=entries, step="1h", time_zone="UTC+8"), terrain(), tmp_path, tmp_path / "out.nc")
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert file["time"].units == "hours since 2009-12-31 16:00:00"
        assert file["time"].size == 48
        # 1 mm in an hour is 24 mm/d.
        np.testing.assert_allclose(file["precipitation"][:], 24.0, rtol=1e-6)


def test_days_of_another_time_zone_are_refused(tmp_path):
    rows = "\n".join(f"{day}T00:00+08:00,1" for day in DAYS)
    (tmp_path / "p.csv").write_text(f"date,A\n{rows}\n", encoding="utf-8")
    entry = table(file="p.csv", variable="precipitation", unit="mm", coordinates=coordinates(tmp_path))
    with pytest.raises(InputError, match=r"another time zone \(\+8 h\) than the forcing's \(\+0 h\)"):
        read([entry], tmp_path)
    records, *_ = read([entry], tmp_path, 28800)
    assert clock.label(records["precipitation"].steps.start) == "2010-01-01"


def test_hours_become_days(tmp_path):
    hours = pd.date_range("2010-01-01", periods=72, freq="h").strftime("%Y-%m-%d %H:%M")
    entries = weather(tmp_path)
    wide(tmp_path, "hourly.csv", np.arange(72.0), days=hours)
    entries[0] = table(file="hourly.csv", variable="precipitation", unit="mm", coordinates="stations.csv")
    build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / "out.nc")
    expected = np.arange(72.0).reshape(3, 24).sum(axis=1)
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation")[:, 0], expected, rtol=1e-6)


def test_days_are_held_over_hours_but_not_the_sun(tmp_path):
    hours = pd.date_range("2010-01-01", periods=48, freq="h").strftime("%Y-%m-%d %H:%M")
    entries = weather(tmp_path)
    wide(tmp_path, "hourly.csv", np.arange(48.0), days=hours)
    entries[0] = table(file="hourly.csv", variable="precipitation", unit="mm", coordinates="stations.csv")
    with pytest.raises(InputError, match="it would shine at night"):
        build_forcing(forcing(stations=entries, step="1h"), terrain(), tmp_path, tmp_path / "out.nc")
    wide(tmp_path, "sun.csv", np.full(48, 200.0), days=hours)
    entries[4] = table(file="sun.csv", variable="shortwave_radiation", unit="W m-2", coordinates="stations.csv")
    build_forcing(forcing(stations=entries, step="1h"), terrain(), tmp_path, tmp_path / "out.nc")
    warmth = built(tmp_path / "out.nc", "air_temperature")[:, 0]
    np.testing.assert_allclose(warmth, np.repeat(WARMTH[:2], 24), rtol=1e-5)
