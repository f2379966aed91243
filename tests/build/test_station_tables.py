"""Station tables in the layouts that people keep, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from small_stations import DAYS, RAIN, WARMTH, coordinates, read, wide
from small_terrain import BOTTOM, LEFT, RIGHT, TOP, table, terrain

from wepl.build import tables
from wepl.errors import InputError


@pytest.mark.parametrize(("separator", "decimal", "end"), [(",", ".", "\n"), (";", ",", "\r\n"), ("\t", ".", "\r\n"),
                                                          (";", ".", "\r"), ("|", ".", "\n")])
def test_separators_decimals_and_line_ends(tmp_path, separator, decimal, end):
    name = wide(tmp_path, "p.csv", RAIN + 0.25, separator=separator, decimal=decimal, end=end)
    entry = table(file=name, variable="precipitation", unit="mm", coordinates=coordinates(tmp_path))
    records, *_ = read([entry], tmp_path)
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
    records, place, places, notes = read([entry], tmp_path)
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
                                            "wind_speed": "wind [m/s]"}, coordinates=coordinates(tmp_path))
    records, *_ = read([entry], tmp_path)
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
    records, *_ = read([entry], tmp_path)
    assert records["precipitation"].names == ["57993", "58606"]
    np.testing.assert_allclose(records["precipitation"].values[:, 0], RAIN * 1e-3 / 86400.0, rtol=1e-6)


def test_different_values_for_one_day_are_refused(tmp_path):
    text = "date,A\n2010-01-01,1\n2010-01-02,2\n2010-01-02,3\n2010-01-03,1\n"
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    entry = table(file="p.csv", variable="precipitation", unit="mm", coordinates=coordinates(tmp_path))
    with pytest.raises(InputError, match=r"station A has different values for the same time, 1 times \(2010-01-02\)"):
        read([entry], tmp_path)


def test_stations_without_coordinates_are_named(tmp_path):
    coordinates(tmp_path)
    entry = table(file=wide(tmp_path, "p.csv", RAIN, "AXY"), variable="precipitation", unit="mm",
                  coordinates="stations.csv")
    with pytest.raises(InputError, match="no coordinates for the stations X, Y"):
        read([entry], tmp_path)


def test_elevation_comes_from_the_terrain_inside_it_only(tmp_path):
    place = terrain()
    (tmp_path / "in.csv").write_text(f"id,x,y\nA,{LEFT + 50},{TOP - 50}\n", encoding="utf-8")
    entry = table(file=wide(tmp_path, "p.csv", RAIN, "A"), variable="precipitation", unit="mm", coordinates="in.csv")
    _, _, places, notes = read([entry], tmp_path)
    assert places.elevation[0] == place.elevation[0, 0]
    assert notes == ["station A: elevation 800 m from the terrain"]
    (tmp_path / "in.csv").write_text(f"id,x,y\nA,{LEFT - 50},{TOP - 50}\n", encoding="utf-8")
    with pytest.raises(InputError, match="station A has no elevation and lies outside the terrain"):
        read([entry], tmp_path)


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
    coordinates(tmp_path)
    (tmp_path / name).write_bytes(content)
    entry = table(file=name, variable="precipitation", unit="mm d-1", coordinates="stations.csv")
    with pytest.raises(InputError, match=message):
        read([entry], tmp_path)


def test_units_that_are_missing_or_wrong(tmp_path):
    name, place = wide(tmp_path, "p.csv", RAIN), coordinates(tmp_path)
    with pytest.raises(InputError, match="the unit of precipitation is missing"):
        read([table(file=name, variable="precipitation", coordinates=place)], tmp_path)
    with pytest.raises(InputError, match="give a unit that converts to 'm s-1' or 'm' in a step"):
        read([table(file=name, variable="precipitation", unit="degC", coordinates=place)], tmp_path)
    with pytest.raises(InputError, match="'rainfall' is no variable of the forcing"):
        read([table(file=name, variable="rainfall", unit="mm", coordinates=place)], tmp_path)


def test_unused_columns_and_coordinates_do_no_harm(tmp_path):
    """A long table that carries the places of its stations itself."""
    lines = ["date,station,x,y,elevation,P"]
    for day in DAYS:
        lines += [f"{day},A,{LEFT},{TOP},5,1.5", f"{day},B,{RIGHT},{BOTTOM},7,2.5"]
    (tmp_path / "long.csv").write_text("\n".join(lines), encoding="utf-8")
    entry = table(file="long.csv", variable="precipitation", unit="mm/d", station="station")
    records, place, places, _ = read([entry], tmp_path)
    assert places.elevation[place["B"]] == 7.0
    np.testing.assert_allclose(records["precipitation"].values[0] * 86400e3, [1.5, 2.5], rtol=1e-6)
