"""Tables that lie are refused by a build; tables that people write in their own way are read right."""

from __future__ import annotations

import openpyxl
import pytest
from lying_files import CONTENTS, PLACES
from lying_tables import DAYS, GOOD, HEAD, LEGENDS, RECORDS, ROWS, STATIONS
from refusal import lies, said
from small_maps import TOML, write_valley

from wepl.basin.dataset import Basin


@pytest.fixture
def folder(tmp_path):
    """A valley that a test may spoil."""
    write_valley(tmp_path)
    return tmp_path


def spoilt(folder, file, content, pattern, toml=TOML):
    """Assert that a build with such a file is refused, and that the message names the file or the TOML file."""
    path = folder / file
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "build.toml").write_text(toml, encoding="utf-8")
    lies(path, pattern, *_build(folder))


def _build(folder):
    return "build", folder / "build.toml", "-o", folder / "basin.nc"


@pytest.mark.parametrize("name", RECORDS)
def test_a_lying_table_of_records_is_refused(name, folder):
    spoilt(folder, "weather.csv", *RECORDS[name])


@pytest.mark.parametrize("name", STATIONS)
def test_a_lying_table_of_stations_is_refused(name, folder):
    spoilt(folder, "stations.csv", *STATIONS[name])


@pytest.mark.parametrize("name", LEGENDS)
def test_a_lying_legend_is_refused(name, folder):
    spoilt(folder, "codes.csv", *LEGENDS[name], toml=TOML.replace('"esa_worldcover"', '"codes.csv"'))


@pytest.mark.parametrize("name", [*PLACES, *CONTENTS])
def test_a_table_that_is_none_is_refused(name, folder):
    path = folder / "weather.csv"
    path.unlink()
    {**CONTENTS, **{place: make for place, (make, _) in PLACES.items()}}[name](path, GOOD.encode())
    spoilt(folder, "weather.csv", None, PLACES.get(name, ("", "is |has |cannot be read|no column|first row"))[1]
           if name != "a loop of links" else "no file|symbolic links")


# Workbooks.

def workbook(folder, change) -> None:
    book = openpyxl.Workbook()
    for line in [HEAD, *ROWS]:
        book.active.append([float(cell) if cell.replace(".", "").isdigit() else cell for cell in line.split(",")])
    change(book)
    book.save(folder / "weather.xlsx")


def put(place, value):
    return lambda book: book.active.__setitem__(place, value)


BOOKS = {
    "no rows": (lambda book: book.active.delete_rows(1, 99), "has no rows"),
    "one row": (lambda book: book.active.delete_rows(2, 99), "has no rows"),
    "words as rain": (put("B5", "much"), r"column P \[mm\], row 5: 'much' is no number"),
    "true as rain": (put("B5", True), r"column P \[mm\], row 5: 'True' is no number"),
    "a formula as rain": (put("B5", "=1+8"), "precipitation .*missing"),
    "an error as rain": (put("B5", "#DIV/0!"), "row 5: '#DIV/0!' is no number"),
    "a number as time": (put("A5", 40333.0), "row 5: '40333' is no time|is no time"),
    "no time": (put("A5", None), "row 5: .*(no time|missing)"),
    "a name less": (put("B1", None), r"has no column 'P \[mm\]'"),
    "a cell far away": (put("XFD1048576", 1.0), "row|time"),
    "all on another sheet": (lambda book: book.create_sheet("notes", 0), "has no rows"),
}


@pytest.mark.parametrize("name", BOOKS)
def test_a_lying_workbook_is_refused(name, folder):
    workbook(folder, BOOKS[name][0])
    spoilt(folder, "weather.xlsx", None, BOOKS[name][1], TOML.replace("weather.csv", "weather.xlsx"))


@pytest.mark.parametrize("name", CONTENTS)
def test_a_workbook_that_is_none_is_refused(name, folder):
    workbook(folder, lambda book: None)
    good = (folder / "weather.xlsx").read_bytes()
    (folder / "weather.xlsx").unlink()
    CONTENTS[name](folder / "weather.xlsx", good)
    spoilt(folder, "weather.xlsx", None, "is no workbook|is a |is an ", TOML.replace("weather.csv", "weather.xlsx"))


def test_a_sheet_that_is_not_there(folder):
    workbook(folder, lambda book: None)
    spoilt(folder, "weather.xlsx", None, "has no sheet 'June': it has Sheet",
           TOML.replace("weather.csv", "weather.xlsx#June"))


# What people write in their own way, and what it means.

def rain(folder) -> list[float]:
    said(0, *_build(folder))
    values = Basin.open(folder / "basin.nc").forcing.read(0, len(DAYS))[0]
    assert (values == values[:, :1]).all()
    return [round(float(value) * 86400e3, 4) for value in values[:, 0]]


EXPECTED = [3.0 * (number % 4) for number in range(len(DAYS))]
SEMICOLON = GOOD.replace(",", ";").replace(".0", ",0")
WAYS = {
    "lines of Windows": GOOD.replace("\n", "\r\n").encode(),
    "lines of old Macs": GOOD.replace("\n", "\r").encode(),
    "a byte order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "UTF-16 with its mark": GOOD.encode("utf-16"),
    "big-endian UTF-16 with its mark": b"\xfe\xff" + GOOD.encode("utf-16-be"),
    "semicolons and decimal commas": SEMICOLON.encode(),
    "tabs and decimal commas": SEMICOLON.replace(";", "\t").encode(),
    "semicolons, decimal commas and lines of Windows": SEMICOLON.replace("\n", "\r\n").encode(),
    "no line end at the end": GOOD.rstrip("\n").encode(),
    "empty lines": GOOD.replace("\n", "\n\n").encode(),
    "remarks": ("# station Weather\n" + GOOD).encode(),
    "blanks around names and numbers": GOOD.replace(",", " , ").encode(),
    "quotes around everything": "\n".join(",".join(f'"{cell}"' for cell in line.split(","))
                                          for line in GOOD.splitlines()).encode(),
    "rows out of order": "\n".join([HEAD, *ROWS[5:], *ROWS[:5]]).encode(),
    "a row twice": "\n".join([HEAD, *ROWS, ROWS[3]]).encode(),
    "days of Germany": GOOD.replace("2010-06-", "").replace("date", "date", 1).encode(),
    "one more column": "\n".join(line + f",{'note' if line == HEAD else 'fine'}" for line in [HEAD, *ROWS]).encode(),
    "numbers with exponents": GOOD.replace(",9.0,", ",9.0E+00,").replace(",6.0,70", ",0.6e1,70").encode(),
}
WAYS["days of Germany"] = "\n".join([HEAD, *(f"{line[8:10]}.06.2010{line[10:]}" for line in ROWS)]).encode()


@pytest.mark.parametrize("name", WAYS)
def test_what_people_write_is_read_right(name, folder):
    (folder / "weather.csv").write_bytes(WAYS[name])
    assert rain(folder) == EXPECTED


def test_a_workbook_is_read_right(folder):
    workbook(folder, lambda book: None)
    (folder / "build.toml").write_text(TOML.replace("weather.csv", "weather.xlsx"), encoding="utf-8")
    assert rain(folder) == EXPECTED
