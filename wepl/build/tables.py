"""Tables that people keep: text with commas, semicolons, tabs or blanks, decimal points or commas, and workbooks."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from wepl.errors import InputError
from wepl.netcdf import UNREADABLE
from wepl.paths import regular

Frame = Any  # pandas.DataFrame
Series = Any  # pandas.Series

_MISSING_TEXT = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "--", "---", "*", "missing", "#n/a"})
# Numbers that stand for missing values in widespread tables.
_MISSING_NUMBERS = np.array([-99.0, -99.9, -99.99, -999.0, -999.9, -999.99, -9999.0, -9999.9, -32767.0, -32768.0,
                             32766.0, 999999.0])
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LOOK = 200
_MOST_UNPACKED = 2**29
_KINDS = ((b"\x89HDF", "a netCDF or HDF5 file"), (b"CDF", "a netCDF file"), (b"%PDF", "a PDF file"),
          (b"\x1f\x8b", "a gzip archive"), (b"II*\x00", "a TIFF image"), (b"MM\x00*", "a TIFF image"),
          (b"\xd0\xcf\x11\xe0", "an old workbook (.xls)"))


def read_text(path: Path) -> Frame:
    """A small table, every cell as text; see :func:`read_records`."""
    return _read(path, (), all_text=True)


def read_records(path: Path, text: tuple[str, ...] = (), sheet: str | None = None) -> Frame:
    """A table of numbers.

    Parameters
    ----------
    path : Path
        Text in UTF-8 or UTF-16 whose first row names the columns, or a workbook (.xlsx).
    text : tuple of str
        Columns to be kept as text, where they are there.
    sheet : str, optional
        Sheet of a workbook; the first one otherwise.

    Returns
    -------
    pandas.DataFrame
        Columns are numbers, or text where not all of their cells are; see :func:`numbers`.

    Raises
    ------
    InputError
        There is no such file, it is something else than its name says, or rows and columns do not fit.
    """
    return _read(path, text, sheet=sheet)


def _read(path: Path, text: tuple[str, ...], all_text: bool = False, sheet: str | None = None) -> Frame:
    regular(path, "a table (.csv or .xlsx)")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; check its permissions") from None
    if raw.startswith(b"PK\x03\x04"):
        return _workbook(path, sheet, all_text)
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        raise InputError(f"{path} is no workbook, whatever its name says: rename it to .csv if it is text, or export "
                         "it again")
    for magic, kind in _KINDS:
        if raw.startswith(magic):
            raise InputError(f"{path} is {kind}, not a table: save the table as .csv or .xlsx")
    return _text_table(path, _decoded(raw, path), text, all_text)


def _decoded(raw: bytes, path: Path) -> str:
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        decoded = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8 (byte {error.start + 1} cannot be read): save it as UTF-8, in "
                         "Excel as 'CSV UTF-8'") from None
    if "\x00" in decoded:
        raise InputError(f"{path} is no text: save the table as .csv or .xlsx")
    return unicodedata.normalize("NFC", decoded.replace("\r\n", "\n").replace("\r", "\n"))


def _text_table(path: Path, content: str, text: tuple[str, ...], all_text: bool) -> Frame:
    import pandas as pd

    lines = [line for line in content.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) < 2:
        raise InputError(f"{path} has no rows: give a row of column names and rows of values")
    if lines[0].lstrip().startswith("<"):
        raise InputError(f"{path} is a web page or XML, not a table: download the file itself")
    separator = _separator(lines, path)
    names = [name.strip() for name in _fields(lines[0], separator)]
    _check_names(names, path)
    _check_width(lines, separator, len(names), path)
    decimal = "," if separator != "," and any(_DECIMAL_COMMA.fullmatch(field.strip()) for line in lines[1:_LOOK]
                                              for field in _fields(line, separator)) else "."
    keep = {name: str for name in names if name in text}
    frame = pd.read_csv(io.StringIO("\n".join(lines)), sep=separator, header=0, names=names, index_col=False,
                        decimal=decimal, dtype=str if all_text else keep, keep_default_na=False,
                        na_values=[] if all_text else {name: ["", "NA", "NaN", "nan", "-", "null", "NULL"]
                                                       for name in names if name not in keep},
                        skipinitialspace=True, low_memory=False)
    return frame


def _separator(lines: list[str], path: Path) -> str:
    for candidate in (";", "\t", ",", "|"):
        if candidate in lines[0]:
            return candidate
    if re.search(r"\S\s+\S", lines[0].strip()) and len(lines[0].split()) == len(lines[1].split()):
        return r"\s+"
    raise InputError(f"{path}: the first row {lines[0][:60]!r} has one column: part the columns by commas, semicolons "
                     "or tabs")


def _fields(line: str, separator: str) -> list[str]:
    if separator == r"\s+":
        return line.split()
    return next(csv.reader([line], delimiter=separator, skipinitialspace=True))


def _check_names(names: list[str], path: Path) -> None:
    if all(_NUMBER.fullmatch(name) for name in names):
        raise InputError(f"{path}: the first row holds numbers ({', '.join(names[:4])}): give a row of column names")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{path}: the column {', '.join(map(repr, twice))} stands twice: give each column a name of "
                         "its own")


def _check_width(lines: list[str], separator: str, width: int, path: Path) -> None:
    """Every row has as many fields as there are names; the fast count is right where nothing is quoted."""
    for number, line in enumerate(lines, 1):
        plain = separator != r"\s+" and '"' not in line
        found = line.count(separator) + 1 if plain else len(_fields(line, separator))
        if found != width:
            hint = ": write as many fields as there are names, empty ones where values are missing"
            if separator == "," and found > width and re.search(r"\d,\d", line):
                hint = ": with decimal commas, part the columns by semicolons"
            raise InputError(f"{path}: row {number} has {found} fields, but there are {width} columns{hint}")


def _workbook(path: Path, sheet: str | None, all_text: bool) -> Frame:
    import pandas as pd

    try:
        rows = _sheet_rows(path, sheet)
    except ModuleNotFoundError:
        raise InputError(f"{path}: workbooks need openpyxl: pip install openpyxl") from None
    except (*UNREADABLE, zipfile.BadZipFile, zlib.error, SyntaxError, EOFError) as error:
        raise InputError(f"{path} is no workbook ({error}): save the table as .xlsx or .csv") from None
    if len(rows) < 2:
        raise InputError(f"{path} has no rows: give a row of column names and rows of values")
    used = [place for place, name in enumerate(rows[0]) if name is not None]
    names = [_cell_text(rows[0][place]) for place in used]
    _check_names(names, path)
    rows = [(*row, *[None] * (len(rows[0]) - len(row))) for row in rows]
    cells = {name: [row[place] for row in rows[1:]] for name, place in zip(names, used, strict=True)}
    if all_text:
        return pd.DataFrame({name: [_cell_text(cell) for cell in column] for name, column in cells.items()}, dtype=str)
    return pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in cells.items()})


def _sheet_rows(path: Path, sheet: str | None) -> list[tuple[Any, ...]]:
    """Rows of a sheet that are not empty, each as long as it is written."""
    import openpyxl

    with zipfile.ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > _MOST_UNPACKED:
        raise InputError(f"{path} unpacks to {unpacked / 1e9:.3g} GB: save the table as .csv")
    with path.open("rb") as held:
        return _rows(openpyxl.load_workbook(held, read_only=True, data_only=True), path, sheet)


def _rows(book: Any, path: Path, sheet: str | None) -> list[tuple[Any, ...]]:
    try:
        if sheet is not None and sheet not in book.sheetnames:
            raise InputError(f"{path} has no sheet {sheet!r}: it has {', '.join(book.sheetnames)}; correct the name")
        chosen = book[sheet or book.sheetnames[0]]
        # The size that a sheet claims may be that of all rows and columns there can be.
        chosen.reset_dimensions()
        return [row for row in chosen.iter_rows(values_only=True) if any(cell is not None for cell in row)]
    finally:
        book.close()


def _cell_text(cell: Any) -> str:
    """A cell as a person would write it: 57993 and not 57993.0."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return unicodedata.normalize("NFC", str(cell).strip())


def texts(column: Series) -> list[str]:
    """Cells of a column as text."""
    return [_cell_text(None if cell is None or cell != cell else cell) for cell in column]


def numbers(frame: Frame, column: str, path: Path) -> np.ndarray:
    """A column as float64, NaN where a value is missing.

    Empty cells, texts such as ``NA`` and ``-``, and numbers such as -9999 stand for missing values.

    Raises
    ------
    InputError
        A cell is no number; names its row and text.
    """
    series = frame[column]
    values = series.to_numpy(dtype=np.float64) if series.dtype.kind in "fiu" else _parsed(series, column, path)
    return np.where(np.isin(values, _MISSING_NUMBERS), np.nan, values)


def _parsed(series: Series, column: str, path: Path) -> np.ndarray:
    values = np.empty(len(series))
    for row, cell in enumerate(series):
        if isinstance(cell, (int, float)) and not isinstance(cell, bool):
            values[row] = cell
            continue
        written = "" if cell is None or cell != cell else str(cell).strip()
        if written.lower() in _MISSING_TEXT:
            values[row] = np.nan
            continue
        plain = written.replace(",", ".") if _DECIMAL_COMMA.fullmatch(written) else written
        try:
            values[row] = float(plain)
        except ValueError:
            raise InputError(f"{path}: column {column}, row {row + 2}: {written!r} is no number: correct it, or leave "
                             "the cell empty where the value is missing") from None
    return values
