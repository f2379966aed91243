"""Station tables in the layouts that people keep, gaps, interpolation, and what is refused."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pandas as pd
import pytest
from rasterio.warp import transform
from small_terrain import BOTTOM, CRS, LEFT, RIGHT, TOP, forcing, table, terrain

from wepl.build import clock, humidity, tables
from wepl.build.forcing import build_forcing
from wepl.build.gaps import fill, longest_run
from wepl.build.interpolate import Places, Regression, StationInterpolator, distance_weights, units_as_places
from wepl.build.stations import read_stations
from wepl.errors import InputError
from wepl.physics import atmosphere

DAYS = pd.date_range("2010-01-01", periods=20, freq="D").strftime("%Y-%m-%d")
# Coefficients of the made weather: rain mm/d, temperature degC.
RAIN = np.where(np.arange(20) % 3 == 0, 12.0, 0.0)
WARMTH = 10.0 + np.sin(np.arange(20))


def _coordinates(folder: Path, name: str = "stations.csv", elevations: bool = True) -> str:
    xs, ys = [LEFT - 500.0, RIGHT + 500.0, 0.5 * (LEFT + RIGHT)], [TOP, BOTTOM, TOP + 800.0]
    longitude, latitude = transform(CRS, "EPSG:4326", xs, ys)
    lines = ["id,lon,lat,elevation" if elevations else "id,lon,lat"]
    for station, x, y, z in zip("ABC", longitude, latitude, (900.0, 20.0, 400.0), strict=True):
        lines.append(f"{station},{x:.8f},{y:.8f}" + (f",{z}" if elevations else ""))
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def _wide(folder: Path, name: str, values: np.ndarray, stations: str = "ABC", days=DAYS, separator: str = ",",
          decimal: str = ".", end: str = "\n") -> str:
    """One file per variable: a column per station."""
    lines = [separator.join(["date", *stations])]
    for day, row in zip(days, np.broadcast_to(values.T, (len(stations), len(days))).T, strict=True):
        lines.append(separator.join([str(day), *("" if np.isnan(cell) else f"{cell:.6g}".replace(".", decimal)
                                                 for cell in row)]))
    (folder / name).write_bytes((end.join(lines) + end).encode())
    return name


def _weather(folder: Path, **changed) -> list:
    """Five tables of the same three stations."""
    place = _coordinates(folder)
    values = {"precipitation": (RAIN, "mm"), "air_temperature": (WARMTH, "degC"),
              "relative_humidity": (np.full(20, 70.0), "%"), "wind_speed": (np.full(20, 2.0), "m s-1"),
              "sunshine_duration": (np.full(20, 6.0), "h")}
    entries = []
    for name, (series, unit) in values.items():
        cells = changed.get(name, series)
        entries.append(table(file=_wide(folder, f"{name}.csv", np.asarray(cells, dtype=float)), variable=name,
                             unit=unit, coordinates=place))
    return entries


def _read(entries, folder, zone=0):
    notes: list[str] = []
    records, place, places = read_stations(entries, folder, zone, terrain(), notes)
    return records, place, places, notes


def _built(path: Path, name: str) -> np.ndarray:
    with netCDF4.Dataset(path) as file:
        return np.ma.filled(file[name][:].astype(float), np.nan)


def test_a_daily_basin_from_five_tables(tmp_path):
    target = tmp_path / "out.nc"
    facts = build_forcing(forcing(stations=_weather(tmp_path)), terrain(), tmp_path, target)
    np.testing.assert_array_equal(facts.cells, [1, 2, 3])
    np.testing.assert_array_equal(facts.unit_cell, [1, 2, 3])
    # All stations agree, so every cell has their value; the table has six digits.
    np.testing.assert_allclose(_built(target, "precipitation"), np.repeat(RAIN[:, None], 3, 1), rtol=1e-6)
    np.testing.assert_allclose(_built(target, "air_temperature"), np.repeat(WARMTH[:, None], 3, 1), rtol=1e-5)
    np.testing.assert_allclose(_built(target, "sunshine_duration"), 6.0, rtol=1e-6)
    np.testing.assert_allclose(_built(target, "relative_humidity"), 70.0, rtol=1e-6)
    with netCDF4.Dataset(target) as file:
        assert file["time"].units == "days since 2010-01-01 00:00:00"
        assert file["precipitation"].units == "mm d-1"
        assert file["precipitation"].dimensions == ("time", "cell")


def test_the_same_input_gives_the_same_bytes(tmp_path):
    entries = _weather(tmp_path)
    for name in ("a.nc", "b.nc"):
        build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / name)
    assert (tmp_path / "a.nc").read_bytes() == (tmp_path / "b.nc").read_bytes()


def test_cells_carry_the_elevation_of_their_stations(tmp_path):
    # The model applies the lapse between cell and unit: the cell's elevation is the stations', weighted as they are.
    place = terrain()
    facts = build_forcing(forcing(stations=_weather(tmp_path)), place, tmp_path, tmp_path / "out.nc")
    _, _, places, _ = _read(_weather(tmp_path), tmp_path)
    weights = distance_weights(places.xy, units_as_places(place).xy, "idw", 2.0, 8)
    np.testing.assert_allclose(facts.cell_elevation, weights @ places.elevation, rtol=1e-12)
    assert facts.cell_elevation.min() > 20.0 and facts.cell_elevation.max() < 900.0


def test_stations_as_cells(tmp_path):
    facts = build_forcing(forcing(stations=_weather(tmp_path), cells="station"), terrain(), tmp_path,
                          tmp_path / "out.nc")
    # Nearest of A (north-west), B (south-east), C (north of the middle), by hand.
    xy = units_as_places(terrain()).xy
    stations = np.array([[LEFT - 500.0, TOP], [RIGHT + 500.0, BOTTOM], [0.5 * (LEFT + RIGHT), TOP + 800.0]])
    nearest = np.linalg.norm(xy[:, None] - stations[None], axis=2).argmin(axis=1)
    elevation = np.array([900.0, 20.0, 400.0])
    place = {int(cell): row for row, cell in enumerate(facts.cells)}
    found = facts.cell_elevation[[place[int(cell)] for cell in facts.unit_cell]]
    np.testing.assert_allclose(found, elevation[nearest])


@pytest.mark.parametrize(("separator", "decimal", "end"), [(",", ".", "\n"), (";", ",", "\r\n"), ("\t", ".", "\r\n"),
                                                          (";", ".", "\r"), ("|", ".", "\n")])
def test_separators_decimals_and_line_ends(tmp_path, separator, decimal, end):
    name = _wide(tmp_path, "p.csv", RAIN + 0.25, separator=separator, decimal=decimal, end=end)
    entry = table(file=name, variable="precipitation", unit="mm", coordinates=_coordinates(tmp_path))
    records, *_ = _read([entry], tmp_path)
    np.testing.assert_allclose(records["precipitation"].values[:, 1], (RAIN + 0.25) * 1e-3 / 86400.0, rtol=1e-6)


def test_decimal_commas_between_commas_are_refused(tmp_path):
    (tmp_path / "p.csv").write_text("date,A\n2010-01-01,1,5\n2010-01-02,2,5\n", encoding="utf-8")
    with pytest.raises(InputError, match="row 2 has 3 fields, but there are 2 columns: with decimal commas"):
        tables.read_records(tmp_path / "p.csv")


def test_long_table_unicode_names_unit_column_and_repeated_rows(tmp_path):
    lines = ["日期,站名,数值,单位"]
    for day in range(1, 6):
        lines += [f"2010/1/{day},修水,{day},mm", f"2010/1/{day},Gölä,{day},cm"]
    lines.append("2010/1/5,修水,5,mm")
    (tmp_path / "数据.csv").write_bytes(("\ufeff" + "\r\n".join(lines)).encode())
    (tmp_path / "站.csv").write_text(f"id,x,y,elevation\n修水,{LEFT},{TOP},10\nGölä,{RIGHT},{TOP},20\n",
                                    encoding="utf-8")
    entry = table(file="数据.csv", variable="precipitation", unit="单位", time="日期", station="站名",
                  columns={"precipitation": "数值"}, coordinates="站.csv")
    records, place, places, notes = _read([entry], tmp_path)
    found = records["precipitation"]
    assert found.names == ["Gölä", "修水"]
    np.testing.assert_allclose(found.values[:, 0] / found.values[:, 1], 10.0, rtol=1e-6)
    np.testing.assert_allclose(places.xy[place["修水"]], [LEFT, TOP], atol=1e-3)
    assert notes == ["precipitation of station 修水: 1 repeated rows with the same value were dropped"]


def test_one_file_per_station_with_units_in_the_names(tmp_path):
    for station, shift in (("A", 0.0), ("B", 1.0)):
        rows = [f"{day},{rain},{warm + shift:.3f},-9999" for day, rain, warm in zip(DAYS, RAIN, WARMTH, strict=True)]
        text = "\n".join(["date,P [mm],T (degC),wind [m/s]", *rows])
        (tmp_path / f"{station}.csv").write_text(text, encoding="utf-8")
    entry = table(file="[AB].csv", columns={"precipitation": "P [mm]", "air_temperature": "T (degC)",
                                            "wind_speed": "wind [m/s]"}, coordinates=_coordinates(tmp_path))
    records, *_ = _read([entry], tmp_path)
    assert records["air_temperature"].names == ["A", "B"]
    np.testing.assert_allclose(records["air_temperature"].values[:, 1] - records["air_temperature"].values[:, 0], 1.0,
                               atol=1e-5)
    assert np.isnan(records["wind_speed"].values).all()


def test_workbook(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"date": pd.to_datetime(DAYS), 57993: RAIN, 58606: RAIN})
    with pd.ExcelWriter(tmp_path / "p.xlsx") as book:
        frame.to_excel(book, sheet_name="notes", index=False)
        frame.assign(**{"57993": 1.0}).to_excel(book, sheet_name="rain", index=False)
    pd.DataFrame({"id": [57993, 58606], "x": [LEFT, RIGHT], "y": [TOP, TOP], "elevation": [1.0, 2.0]}).to_excel(
        tmp_path / "s.xlsx", index=False)
    entry = table(file="p.xlsx", variable="precipitation", unit="mm", coordinates="s.xlsx")
    records, *_ = _read([entry], tmp_path)
    assert records["precipitation"].names == ["57993", "58606"]
    np.testing.assert_allclose(records["precipitation"].values[:, 0], RAIN * 1e-3 / 86400.0, rtol=1e-6)


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
    place = _coordinates(tmp_path)
    for name, unit, value in (("precipitation", "mm", 1.0), ("air_temperature", "degC", 5.0),
                              ("relative_humidity", "%", 50.0), ("wind_speed", "m/s", 1.0),
                              ("shortwave_radiation", "W m-2", 100.0)):
        _wide(tmp_path, f"{name}.csv", np.full(48, value), days=hours)
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
    entry = table(file="p.csv", variable="precipitation", unit="mm", coordinates=_coordinates(tmp_path))
    with pytest.raises(InputError, match=r"another time zone \(\+8 h\) than the forcing's \(\+0 h\)"):
        _read([entry], tmp_path)
    records, *_ = _read([entry], tmp_path, 28800)
    assert clock.label(records["precipitation"].steps.start) == "2010-01-01"


def test_hours_become_days(tmp_path):
    hours = pd.date_range("2010-01-01", periods=72, freq="h").strftime("%Y-%m-%d %H:%M")
    entries = _weather(tmp_path)
    _wide(tmp_path, "hourly.csv", np.arange(72.0), days=hours)
    entries[0] = table(file="hourly.csv", variable="precipitation", unit="mm", coordinates="stations.csv")
    build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / "out.nc")
    expected = np.arange(72.0).reshape(3, 24).sum(axis=1)
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation")[:, 0], expected, rtol=1e-6)


def test_days_are_held_over_hours_but_not_the_sun(tmp_path):
    hours = pd.date_range("2010-01-01", periods=48, freq="h").strftime("%Y-%m-%d %H:%M")
    entries = _weather(tmp_path)
    _wide(tmp_path, "hourly.csv", np.arange(48.0), days=hours)
    entries[0] = table(file="hourly.csv", variable="precipitation", unit="mm", coordinates="stations.csv")
    with pytest.raises(InputError, match="it would shine at night"):
        build_forcing(forcing(stations=entries, step="1h"), terrain(), tmp_path, tmp_path / "out.nc")
    _wide(tmp_path, "sun.csv", np.full(48, 200.0), days=hours)
    entries[4] = table(file="sun.csv", variable="shortwave_radiation", unit="W m-2", coordinates="stations.csv")
    build_forcing(forcing(stations=entries, step="1h"), terrain(), tmp_path, tmp_path / "out.nc")
    warmth = _built(tmp_path / "out.nc", "air_temperature")[:, 0]
    np.testing.assert_allclose(warmth, np.repeat(WARMTH[:2], 24), rtol=1e-5)


def test_different_values_for_one_day_are_refused(tmp_path):
    text = "date,A\n2010-01-01,1\n2010-01-02,2\n2010-01-02,3\n2010-01-03,1\n"
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    entry = table(file="p.csv", variable="precipitation", unit="mm", coordinates=_coordinates(tmp_path))
    with pytest.raises(InputError, match=r"station A has different values for the same time, 1 times \(2010-01-02\)"):
        _read([entry], tmp_path)


def test_stations_without_coordinates_are_named(tmp_path):
    _coordinates(tmp_path)
    entry = table(file=_wide(tmp_path, "p.csv", RAIN, "AXY"), variable="precipitation", unit="mm",
                  coordinates="stations.csv")
    with pytest.raises(InputError, match="no coordinates for the stations X, Y"):
        _read([entry], tmp_path)


def test_elevation_comes_from_the_terrain_inside_it_only(tmp_path):
    place = terrain()
    (tmp_path / "in.csv").write_text(f"id,x,y\nA,{LEFT + 50},{TOP - 50}\n", encoding="utf-8")
    entry = table(file=_wide(tmp_path, "p.csv", RAIN, "A"), variable="precipitation", unit="mm", coordinates="in.csv")
    _, _, places, notes = _read([entry], tmp_path)
    assert places.elevation[0] == place.elevation[0, 0]
    assert notes == ["station A: elevation 800 m from the terrain"]
    (tmp_path / "in.csv").write_text(f"id,x,y\nA,{LEFT - 50},{TOP - 50}\n", encoding="utf-8")
    with pytest.raises(InputError, match="station A has no elevation and lies outside the terrain"):
        _read([entry], tmp_path)


@pytest.mark.parametrize(("content", "name", "message"), [
    (b"\x89HDF\r\n\x1a\n....", "p.csv", "is a netCDF or HDF5 file, not a table"),
    (b"date,A\n2010-01-01,1\n", "p.xlsx", "is no workbook, whatever its name says"),
    (b"PK\x03\x04 broken", "p.csv", "is no workbook"),
    ("date,Göl\n2010-01-01,1\n".encode("latin-1"), "p.csv", "is not text in UTF-8"),
    (b"<!DOCTYPE html>\n<html>\n", "p.csv", "web page"),
    (b"date,A\n", "p.csv", "has no rows"),
    (b"date,A,A\n2010-01-01,1,2\n", "p.csv", "'A' stands twice"),
    (b"date,A\n2010-01-01,1\n2010-01-02,wet\n2010-01-03,1\n", "p.csv", "column A, row 3: 'wet' is no number"),
    (b"day,A\n2010-01-01,1\n2010-01-02,1\n", "p.csv", "has no column 'date' for time: it has day, A"),
    (b"date,A\n2010-01-01,1\n2010-01-02,-5\n2010-01-03,1\n", "p.csv", "station A on 2010-01-02 is -5"),
])
def test_tables_that_are_not_what_they_should_be(tmp_path, content, name, message):
    _coordinates(tmp_path)
    (tmp_path / name).write_bytes(content)
    entry = table(file=name, variable="precipitation", unit="mm d-1", coordinates="stations.csv")
    with pytest.raises(InputError, match=message):
        _read([entry], tmp_path)


def test_units_that_are_missing_or_wrong(tmp_path):
    name, place = _wide(tmp_path, "p.csv", RAIN), _coordinates(tmp_path)
    with pytest.raises(InputError, match="the unit of precipitation is missing"):
        _read([table(file=name, variable="precipitation", coordinates=place)], tmp_path)
    with pytest.raises(InputError, match="give a unit that converts to 'm s-1' or 'm' in a step"):
        _read([table(file=name, variable="precipitation", unit="degC", coordinates=place)], tmp_path)
    with pytest.raises(InputError, match="'rainfall' is no variable of the forcing"):
        _read([table(file=name, variable="rainfall", unit="mm", coordinates=place)], tmp_path)


def test_missing_variables_are_named_with_ways_to_make_them(tmp_path):
    entries = _weather(tmp_path)[:2]
    with pytest.raises(InputError, match="relative_humidity, wind_speed, shortwave_radiation or sunshine_duration are "
                                         "given by no station or grid; relative_humidity can be made from dew_point"):
        build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / "out.nc")
    assert not (tmp_path / "out.nc").exists()


def test_gaps_are_refused_unless_asked_for(tmp_path):
    rain = np.repeat(RAIN[:, None], 3, axis=1)
    rain[4:6, 1] = np.nan
    entries = _weather(tmp_path, precipitation=rain)
    with pytest.raises(InputError, match="missing 2 times at 1 of 3 stations, first at B on 2010-01-05"):
        build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / "out.nc")
    facts = build_forcing(forcing(stations=entries, gaps="neighbours"), terrain(), tmp_path, tmp_path / "out.nc")
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation")[:, 0], RAIN, rtol=1e-6)
    assert "precipitation of station B: 2 of 20 values missing, filled by neighbours" in facts.notes
    with pytest.raises(InputError, match="missing for 2 days from 2010-01-05, longer than max_gap_days = 1"):
        build_forcing(forcing(stations=entries, gaps="neighbours", max_gap_days=1.0), terrain(), tmp_path,
                      tmp_path / "other.nc")


def test_all_stations_missing_on_a_day(tmp_path):
    rain = np.repeat(RAIN[:, None], 3, axis=1)
    rain[7] = np.nan
    entries = _weather(tmp_path, precipitation=rain)
    with pytest.raises(InputError, match="precipitation is missing at all stations on 2010-01-08"):
        build_forcing(forcing(stations=entries, gaps="neighbours"), terrain(), tmp_path, tmp_path / "out.nc")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv"] * 6
    build_forcing(forcing(stations=entries, gaps="climatology"), terrain(), tmp_path, tmp_path / "out.nc")
    # Days 1 to 15 are within a week of the 8th; without the 8th itself.
    expected = np.delete(RAIN[:15], 7).mean()
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation")[7], expected, rtol=1e-5)


def test_longest_run():
    assert longest_run(np.array([0, 1, 1, 0, 1, 1, 1], dtype=bool)) == (3, 4)
    assert longest_run(np.zeros(3, dtype=bool)) == (0, 0)


def test_climatology_takes_the_time_of_day():
    steps = clock.Steps(0, 3600, 24 * 4)
    values = np.tile(np.arange(24.0), 4)[:, None]
    values[30] = np.nan
    filled = fill(values, steps, "air_temperature", ["A"], "climatology", 1.0, [])
    assert filled[30, 0] == 6.0


def _places(n: int, seed: int) -> Places:
    generator = np.random.default_rng(seed)
    return Places(generator.uniform(0.0, 1e4, (n, 2)), generator.uniform(0.0, 1500.0, n), np.full(n, 29.0))


def test_inverse_distance_by_hand():
    sources = np.array([[0.0, 0.0], [3000.0, 0.0], [0.0, 9000.0]])
    weights = distance_weights(sources, np.array([[1000.0, 0.0], [3000.0, 0.0]]), "idw", 2.0, 2).toarray()
    # Distances 1 and 2 km: 1 and 1/4; the second target stands at a station.
    np.testing.assert_allclose(weights, [[0.8, 0.2, 0.0], [0.0, 1.0, 0.0]], atol=1e-15)
    nearest = distance_weights(sources, np.array([[1000.0, 0.0]]), "thiessen", 2.0, 8).toarray()
    np.testing.assert_array_equal(nearest, [[1.0, 0.0, 0.0]])


def test_temperature_of_a_cell_does_not_jump_when_a_station_is_silent():
    # Stations on one lapse of 6.5 K/km: leaving one out must leave the cell's temperature as it was.
    stations, targets = _places(6, 1), _places(40, 2)
    carry = StationInterpolator(stations, targets, "air_temperature", "idw", 2.0, 8)
    values = np.tile(20.0 - 0.0065 * stations.elevation, (2, 1))
    values[1, 3] = np.nan
    moved = carry(values, np.zeros(2, dtype=int))
    np.testing.assert_allclose(moved[0], 20.0 - 0.0065 * carry.elevation, atol=1e-9)
    np.testing.assert_allclose(moved[1], moved[0], atol=1e-9)


def test_regression_finds_the_lapse_and_goes_to_the_targets_height():
    stations, targets = _places(8, 3), _places(30, 4)
    times = 60
    level = np.sin(np.arange(times))[:, None]
    values = 15.0 + level - 0.0048 * stations.elevation
    months = np.repeat([0, 1], times // 2)
    regression = Regression(values, months, stations.elevation, "air_temperature")
    np.testing.assert_allclose(regression.gradient[:2], -0.0048, rtol=1e-9)
    carry = StationInterpolator(stations, targets, "air_temperature", "idw", 2.0, 8, regression)
    np.testing.assert_array_equal(carry.elevation, targets.elevation)
    np.testing.assert_allclose(carry(values, months), 15.0 + level - 0.0048 * targets.elevation, atol=1e-9)


def test_regression_of_rain_keeps_dry_days_dry_and_finds_the_increase():
    stations, targets = _places(8, 5), _places(30, 6)
    months = np.zeros(30, dtype=int)
    rain = np.where(np.arange(30)[:, None] % 2 == 0, 10.0 * (1.0 + 4e-4 * stations.elevation), 0.0)
    carry = StationInterpolator(stations, targets, "precipitation", "idw", 2.0, 8,
                                Regression(rain, months, stations.elevation, "precipitation"))
    moved = carry(rain, months)
    assert (moved[1::2] == 0.0).all()
    np.testing.assert_allclose(moved[::2], np.tile(10.0 * (1.0 + 4e-4 * targets.elevation), (15, 1)), rtol=1e-9)


def test_regression_needs_stations_at_different_heights(tmp_path):
    with pytest.raises(InputError, match="at least 3 stations of air_temperature"):
        Regression(np.ones((4, 2)), np.zeros(4, dtype=int), np.array([0.0, 900.0]), "air_temperature")
    with pytest.raises(InputError, match="differ by 50 m"):
        Regression(np.ones((4, 3)), np.zeros(4, dtype=int), np.array([0.0, 10.0, 20.0]), "air_temperature")


def test_humidity_agrees_with_the_models_own_formulas():
    temperature = np.array([-10.0, 0.0, 12.5, 35.0])
    expected = [atmosphere.saturation_vapour_pressure(value) for value in temperature]
    np.testing.assert_allclose(humidity.saturation_vapour_pressure(temperature), expected, rtol=1e-14)
    np.testing.assert_allclose(humidity.air_pressure(np.array([1800.0])), atmosphere.air_pressure(1800.0), rtol=1e-14)
    days = humidity.daylight_seconds(np.array([246.0]), np.array([-20.0]))
    assert days[0, 0] / 3600.0 == pytest.approx(11.7, abs=0.05)  # FAO-56 example 9


def test_humidity_of_published_examples():
    # FAO-56 example 3 and table 2.3: es(24.5) = 3.075 kPa, es(15) = 1.705 kPa, es(1800 m) pressure 81.8 kPa.
    assert humidity.saturation_vapour_pressure(np.array(24.5)) == pytest.approx(3075.0, abs=1.0)
    assert humidity.air_pressure(np.array(1800.0)) == pytest.approx(81800.0, abs=50.0)
    assert humidity.from_dew_point(np.array(15.0), np.array(24.5)) == pytest.approx(1705.0 / 3075.0, abs=5e-4)
    # Saturated air at 20 degC and 1013.25 hPa holds 14.5 g/kg (Wallace and Hobbs, skew T chart).
    assert humidity.from_specific_humidity(np.array(0.0145), np.array(20.0), np.array(101325.0)) == pytest.approx(
        1.0, abs=0.01)


def test_humidity_and_wind_made_from_other_columns(tmp_path):
    entries = _weather(tmp_path)
    entries[1] = table(file=_wide(tmp_path, "tx.csv", WARMTH + 4.0), variable="maximum_temperature", unit="degC",
                       coordinates="stations.csv")
    entries.append(table(file=_wide(tmp_path, "tn.csv", WARMTH - 4.0), variable="minimum_temperature", unit="degC",
                         coordinates="stations.csv"))
    entries[2] = table(file=_wide(tmp_path, "td.csv", WARMTH - 5.0), variable="dew_point", unit="degC",
                       coordinates="stations.csv")
    entries[4] = table(file=_wide(tmp_path, "sun.csv", np.full(20, 50.0)), variable="sunshine_duration", unit="%",
                       coordinates="stations.csv")
    build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / "out.nc")
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "air_temperature")[:, 0], WARMTH, rtol=1e-5)
    expected = 100.0 * humidity.from_dew_point(WARMTH - 5.0, WARMTH)
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "relative_humidity")[:, 0], expected, rtol=1e-4)
    # Half of the daylight of 1 and 15 January at 29 N: 10.2 and 10.4 h by FAO-56's formulas.
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "sunshine_duration")[[0, 14], 0], [5.1, 5.2], atol=0.05)


def test_unused_columns_and_coordinates_do_no_harm(tmp_path):
    """A long table that carries the places of its stations itself."""
    lines = ["date,station,x,y,elevation,P"]
    for day in DAYS:
        lines += [f"{day},A,{LEFT},{TOP},5,1.5", f"{day},B,{RIGHT},{BOTTOM},7,2.5"]
    (tmp_path / "long.csv").write_text("\n".join(lines), encoding="utf-8")
    entry = table(file="long.csv", variable="precipitation", unit="mm/d", station="station")
    records, place, places, _ = _read([entry], tmp_path)
    assert places.elevation[place["B"]] == 7.0
    np.testing.assert_allclose(records["precipitation"].values[0] * 86400e3, [1.5, 2.5], rtol=1e-6)
