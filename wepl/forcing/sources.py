"""From time axes and files to a forcing reader: where each variable's values lie, and whether they are whole."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cftime
import numpy as np

from wepl import registry
from wepl.errors import BasinError
from wepl.forcing.classic import is_cut_short
from wepl.forcing.reader import ArraySource, FileSource, ForcingReader, OpenFiles, Segment
from wepl.forcing.zarr_store import is_store
from wepl.run.clock import CALENDARS, Clock

if TYPE_CHECKING:
    import xarray as xr

NAMES = tuple(entry.name for entry in registry.of_kind("forcing"))
SHORTEST_STEP, LONGEST_STEP = 3600.0, 86400.0
_SECONDS = {"second": 1.0, "sec": 1.0, "s": 1.0, "minute": 60.0, "min": 60.0, "hour": 3600.0, "hr": 3600.0, "h": 3600.0,
            "day": 86400.0, "d": 86400.0}
_SINCE = re.compile(r"(?P<unit>[a-z]+) +since +(?P<date>\d{1,4}-\d{1,2}-\d{1,2})"
                    r"(?:[T ]+(?P<time>\d{1,2}(?::\d{1,2}(?::\d{1,2}(?:\.\d*)?)?)?) *"
                    r"(?:Z|UTC|GMT|(?P<zone>[+-](?:\d{1,2}|\d{1,2}:\d{2}|\d{4})))?)?")


@dataclass(frozen=True)
class Axis:
    """Equal steps of one file: start, step (s; 0 for a single step) and number."""

    start: cftime.datetime
    step: float
    n_steps: int


@dataclass(frozen=True)
class Piece:
    """One forcing variable in one place, not yet put on a clock."""

    variable: str
    axis: Axis
    source: Any
    units: str
    cells: np.ndarray
    where: str


def time_axis(values: np.ndarray, units: object, calendar: object, where: str = "") -> Axis:
    """Read a CF time coordinate of equal steps.

    Raises
    ------
    BasinError
        It has no values, missing values, unknown units or calendar, or its steps are not equal: gap, duplicate or
        wrong order, with the first place.
    """
    at = f"{where}: " if where else ""
    unit, reference = _reference(units, at)
    calendar = str(calendar).lower()
    if calendar not in CALENDARS:
        raise BasinError(f"{at}time has calendar {calendar!r}: use one of {', '.join(CALENDARS)}")
    values = np.asarray(values)
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        raise BasinError(f"{at}time must be one list of numbers, one for the start of each step")
    if values.size == 0:
        raise BasinError(f"{at}time has no values: give the start of each step")
    numbers = values.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        raise BasinError(f"{at}time has {bad.size} missing value(s), the first at position {bad[0] + 1}: give the "
                         "start of every step")

    def moment(place: int) -> cftime.datetime:
        return _whole_second(cftime.num2date(numbers[place], reference, calendar))

    def shown(place: int) -> str:
        try:
            return str(moment(place))
        except (ValueError, OverflowError):
            return f"{numbers[place]:g}"

    try:
        start = moment(0)
    except (ValueError, OverflowError) as error:
        raise BasinError(f"{at}time units {units!r} cannot be read ({error}): write them as 'days since "
                         "2010-01-01'") from None
    if numbers.size == 1:
        return Axis(start, 0.0, 1)
    with np.errstate(over="ignore"):
        seconds = (numbers - numbers[0]) * unit
    steps = np.diff(seconds)
    step = float(np.round(np.median(steps)))
    wrong = np.flatnonzero(~(np.abs(steps - step) <= 0.5))
    if step <= 0 or wrong.size:
        place = int(wrong[0]) if wrong.size else int(np.flatnonzero(steps <= 0)[0])
        kind = "has a duplicate" if steps[place] == 0 else "goes back" if steps[place] < 0 else (
            "has a gap" if steps[place] > step else "has a shorter step")
        raise BasinError(f"{at}time {kind} after {shown(place)} (the next is {shown(place + 1)}, the usual step is "
                         f"{step:g} s; {max(1, wrong.size)} such place(s)): give every step once, in order")
    away = np.abs(seconds - step * np.arange(seconds.size))
    if away.max() > 0.5:
        raise BasinError(f"{at}time drifts away from steps of {step:g} s, by {away.max():g} s until "
                         f"{shown(int(away.argmax()))}: give equal steps")
    return Axis(start, step, numbers.size)


def _reference(units: object, at: str) -> tuple[float, str]:
    """Length of the unit of time units in s, and the units in the one spelling of which cftime reads every part."""
    match = _SINCE.fullmatch(str(units or "").strip())
    unit = match["unit"] if match else ""
    length = _SECONDS.get(unit) or _SECONDS.get(unit.removesuffix("s"))
    if not match or length is None:
        raise BasinError(f"{at}time has units {units!r}: write them as 'days since 2010-01-01' (or hours, minutes, "
                         "seconds since a date or a date and time)")
    hour, minute, second = ([*(match["time"] or "0").split(":"), "0", "0"])[:3]
    zone = match["zone"] or "+0"
    zone_hour, zone_minute = int(zone[1:3].strip(":") or 0), int(zone[3:].strip(":") or 0)
    return length, (f"{unit} since {match['date']} {hour}:{minute}:{second}"
                    f"{zone[0]}{zone_hour:02d}:{zone_minute:02d}")


def _whole_second(moment: cftime.datetime) -> cftime.datetime:
    """Times as fractions of a day carry rounding: the nearest whole second, in the run's name of the calendar."""
    from datetime import timedelta

    rounded = moment + timedelta(microseconds=500_000)
    rounded -= timedelta(microseconds=rounded.microsecond)
    # Since 1582 the two are the same, and files of both may stand side by side.
    if rounded.calendar == "proleptic_gregorian" and rounded.year > 1582:
        return cftime.datetime(*rounded.timetuple()[:6], calendar="standard")
    return rounded


def pieces_of_dataset(data: xr.Dataset, where: str = "") -> list[Piece]:
    """Forcing variables that a dataset in memory holds (undecoded times)."""
    names = [name for name in NAMES if name in data.variables]
    if not names:
        return []
    axis = axis_of(data["time"].values if "time" in data.variables else None,
                    data["time"].attrs if "time" in data.variables else {}, where)
    found = []
    for name in names:
        variable = data[name]
        check_form(name, variable.dims, variable.dtype, where)
        values = variable.transpose("time", "cell").values
        found.append(Piece(name, axis, ArraySource(values), units_of(name, variable.attrs.get("units"), ""),
                           data["cell"].values, where))
    return found


def pieces_of_file(path: Path, files: OpenFiles, own: bool = False) -> list[Piece]:
    """Forcing variables that a netCDF file holds; their values stay in the file, to be read through ``files``.

    ``own`` says that it is the basin file itself, which messages name anyway.
    """
    from wepl.netcdf import LOCK, PACKED_CONSTANT, UNREADABLE, check_size

    with LOCK:
        try:
            if is_cut_short(path):
                raise OSError("its end is missing")
            file = files.get(path)
            names = [name for name in NAMES if name in file.variables]
            if not names:
                return []
            time = file.variables.get("time")
            check_size(path, {name: _bytes(file[name]) for name in ("time", "cell") if name in file.variables})
            check_size(path, {name: _bytes(file[name]) for name in names}, PACKED_CONSTANT)
            times = None if time is None else plain(time[:])
            attributes = {} if time is None else {key: time.getncattr(key) for key in time.ncattrs()}
            cells = plain(file["cell"][:]) if "cell" in file.variables else None
            facts = [(name, file[name].dimensions, file[name].dtype, getattr(file[name], "units", None))
                     for name in names]
            for name in names:
                _check_packing(file[name])
        except UNREADABLE as error:
            raise BasinError(f"{path}: the forcing file cannot be read ({error}): it is no netCDF file, damaged or cut "
                             "short; make or copy it again") from None
    axis = axis_of(times, attributes, str(path))
    cells = identifiers(cells, str(path))
    found = []
    for name, dims, dtype, unit in facts:
        check_form(name, dims, np.dtype(dtype), str(path))
        source = FileSource(path, name, dims[0] == "cell", files, "" if own else str(path))
        found.append(Piece(name, axis, source, units_of(name, unit, str(path)), cells, str(path)))
    return found


def _check_packing(variable: Any) -> None:
    """ValueError where scale or offset is no number: netCDF4 would give the packed values as they are."""
    for key in ("scale_factor", "add_offset"):
        given = getattr(variable, key, 1.0)
        if np.ndim(given) or not isinstance(given, int | float | np.number) or not np.isfinite(given):
            raise ValueError(f"the attribute {key} of {variable.name} is {given!r}, which is no number")


def _bytes(variable: Any) -> int:
    """Size in memory."""
    return math.prod(variable.shape) * 8


def plain(values: Any) -> np.ndarray:
    """Numbers with missing ones as NaN; anything else as it is."""
    if values.dtype.kind not in "iuf":
        return np.asarray(values)
    return np.asarray(np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan))


def identifiers(cells: np.ndarray | None, where: str) -> np.ndarray:
    """The forcing cells of a file, after checking that they are different whole numbers."""
    if cells is None:
        raise BasinError(f"{where}: the variable cell (forcing cell identifiers) is missing")
    if cells.ndim != 1 or cells.dtype.kind != "f" or not (cells == np.round(cells)).all():
        raise BasinError(f"{where}: cell must be a list of whole numbers, the identifiers of the forcing cells")
    found, counts = np.unique(cells, return_counts=True)
    if (counts > 1).any():
        raise BasinError(f"{where}: cell {found[counts > 1][0]:g} stands twice: give each forcing cell once")
    return cells.astype(np.int64)


def axis_of(values: np.ndarray | None, attributes: Mapping[str, Any], where: str) -> Axis:
    if values is None:
        raise BasinError(f"{where}: the variable time is missing: give the start of each forcing step")
    return time_axis(values, attributes.get("units"), attributes.get("calendar", "standard"), where)


def check_form(name: str, dims: Sequence[Any], dtype: np.dtype[Any], where: str) -> None:
    if dtype.kind not in "iuf":
        raise BasinError(f"{where}: {name} holds {'text' if dtype.kind in 'SUO' else dtype}, expected numbers")
    if sorted(map(str, dims)) != ["cell", "time"]:
        raise BasinError(f"{where}: {name} has dimensions {tuple(dims)}, expected ('time', 'cell')")


def units_of(name: str, given: object, where: str) -> str:
    """The units of a forcing variable, after checking that they convert."""
    from wepl import units

    entry = registry.variable(name)
    at = f"{where}: " if where else ""
    if given is None and entry.units != "1":
        raise BasinError(f"{at}{name}: the attribute units is missing; give one that converts to {entry.units!r}, such "
                         f"as {entry.file_units!r}")
    text = str(given if given is not None else "1")
    try:
        units.linear(text, entry.units)
    except ValueError as error:
        raise BasinError(f"{at}{name}: {error}; give a unit that converts to {entry.units!r}, such as "
                         f"{entry.file_units!r}") from None
    return text


def expand(pattern: str, folder: Path) -> list[Path]:
    """Files named by the attribute ``forcing``: paths or globs, relative to the basin's folder, parted by blanks.

    Raises
    ------
    BasinError
        A name matches nothing.
    """
    from wepl.paths import outside

    paths: list[Path] = []
    for word in pattern.replace(",", " ").split():
        stray = outside(word, folder)
        if stray:
            raise BasinError(f"the attribute forcing: {stray}")
        try:
            matches = [Path(word)] if Path(word).is_absolute() else sorted(folder.glob(word))
        except (ValueError, IndexError, NotImplementedError) as error:
            raise BasinError(f"the attribute forcing names {word!r}, which is no file name or pattern ({error}): "
                             "correct it") from None
        if not matches or not all(path.is_file() or is_store(path) for path in matches):
            raise BasinError(f"the attribute forcing names {word!r}, but no such file lies in {folder}: put it there "
                             "or correct the name")
        paths.extend(matches)
    return paths


def join(pieces: list[Piece], cells: np.ndarray) -> ForcingReader:
    """Put pieces of all variables on one clock.

    Raises
    ------
    BasinError
        A variable has a gap or an overlap between files, cells are missing, or variables cover different times.
    """
    if not pieces:
        raise BasinError("the basin has no forcing: give precipitation, air_temperature, relative_humidity, wind_speed "
                         "and shortwave_radiation or sunshine_duration with dimensions (time, cell), or name files in "
                         "the attribute forcing")
    calendars = {piece.axis.start.calendar: piece.where for piece in pieces}
    if len(calendars) > 1:
        raise BasinError("the forcing has different calendars: "
                         f"{', '.join(f'{name} in {where}' for name, where in calendars.items())}: use one for all")
    clock: Clock | None = None
    first_name = ""
    segments: dict[str, list[Segment]] = {}
    for name in NAMES:
        mine = sorted((piece for piece in pieces if piece.variable == name), key=lambda piece: piece.axis.start)
        if not mine:
            continue
        own = _common_clock(name, mine)
        if clock is None:
            clock, first_name = own, name
        elif (own.start, own.step_seconds, own.n_steps) != (clock.start, clock.step_seconds, clock.n_steps):
            raise BasinError(f"{name} goes from {own.label(0)} in {own.n_steps} steps of {own.step_seconds:g} s, but "
                             f"{first_name} from {clock.label(0)} in {clock.n_steps} of {clock.step_seconds:g} s: give "
                             "all forcing the same steps")
        at = 0
        segments[name] = []
        for piece in mine:
            segments[name].append(Segment(at, piece.axis.n_steps, piece.source, piece.units, _order(piece, cells)))
            at += piece.axis.n_steps
    assert clock is not None
    return ForcingReader(clock, cells, segments)


def _common_clock(name: str, pieces: list[Piece]) -> Clock:
    """The clock of one variable whose pieces must follow each other without gap."""
    from datetime import timedelta

    steps = {piece.axis.step for piece in pieces if piece.axis.n_steps > 1}
    if not steps:
        raise BasinError(f"{name}: the forcing has one step only, so its length is unknown: give at least two")
    if len(steps) > 1:
        raise BasinError(f"{name}: files differ in their step ({', '.join(f'{step:g} s' for step in sorted(steps))}): "
                         "give all of them the same")
    step = steps.pop()
    if not SHORTEST_STEP <= step <= LONGEST_STEP or 86400.0 % step:
        raise BasinError(f"the forcing step is {step:g} s: it must be 3600 to 86400 s and divide a day")
    start = pieces[0].axis.start
    expected = start
    for before, piece in zip([None, *pieces[:-1]], pieces, strict=True):
        if piece.axis.start != expected:
            kind = "a gap" if piece.axis.start > expected else "an overlap"
            raise BasinError(f"{name}: {kind} between {before.where if before else ''} and {piece.where}: the next "
                             f"step should start at {expected}, not {piece.axis.start}; give every step once")
        expected = piece.axis.start + timedelta(seconds=step * piece.axis.n_steps)
    return Clock(start, step, sum(piece.axis.n_steps for piece in pieces), pieces[0].axis.start.calendar)


def _order(piece: Piece, cells: np.ndarray) -> np.ndarray | None:
    """Column of each wanted cell in a piece, None where they are the same."""
    if np.array_equal(piece.cells, cells):
        return None
    place = {int(cell): number for number, cell in enumerate(piece.cells)}
    missing = [int(cell) for cell in cells if int(cell) not in place]
    if missing:
        raise BasinError(f"{piece.where}: {piece.variable} lacks {len(missing)} cell(s) of the basin, the first is "
                         f"cell {missing[0]}: give all of them")
    return np.array([place[int(cell)] for cell in cells])
