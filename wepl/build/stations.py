"""Station records: tables in several layouts to one series per station and quantity, with the stations' places."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl.build import clock, tables
from wepl.build.clock import DAY, Steps
from wepl.build.interpolate import Places
from wepl.build.quantities import QUANTITIES, first_outside, known, recognise, to_internal
from wepl.build.raster_faults import told
from wepl.errors import InputError

if TYPE_CHECKING:
    from wepl.build.config import Stations
    from wepl.build.types import Terrain

_STATION = ("id", "station", "station_id", "stationid", "name", "code", "gauge")
_COORDINATES = {"longitude": ("lon", "long", "longitude"), "latitude": ("lat", "latitude"),
                "x": ("x", "easting", "east"), "y": ("y", "northing", "north"),
                "elevation": ("elevation", "elev", "altitude", "alt", "height", "z")}
_LOWEST, _HIGHEST = -500.0, 9000.0  # m
_HEADER_UNIT = re.compile(r"[\[(]\s*([^\])]*?)\s*[\])]\s*$")


@dataclass
class Records:
    """Series of one quantity.

    ``values`` is float32 [time, station] in the quantity's unit, NaN where missing; ``steps`` are its times.
    """

    quantity: str
    names: list[str]
    steps: Steps
    values: np.ndarray


@dataclass(frozen=True)
class _Column:
    """One column of a table: what it holds, of which station, its unit (one for all rows, or one per row)."""

    quantity: str
    station: str
    values: np.ndarray
    unit: str
    rows: np.ndarray


def read_stations(entries: Sequence[Stations], folder: Path, zone: int, terrain: Terrain,
                  notes: list[str]) -> tuple[dict[str, Records], dict[str, int], Places]:
    """All station tables of a configuration.

    Parameters
    ----------
    entries : sequence of Stations
    folder : Path
        What files are relative to.
    zone : int
        Seconds east of UTC of times that do not say so.
    terrain : Terrain
        For its coordinate system, and the elevation of stations that have none.
    notes : list
        Lines on what was noticed are added.

    Returns
    -------
    records : dict
        By quantity.
    place : dict
        Row of ``places`` of each station.
    places : Places

    Raises
    ------
    InputError
        A table cannot be read, a value cannot be true, or a station has no coordinates; nothing is guessed.
    """
    series: dict[str, dict[str, list[tuple[np.ndarray, np.ndarray]]]] = {}
    steps: dict[str, dict[int, Path]] = {}
    coordinates: dict[str, tuple[float, float, float, bool]] = {}
    for entry in entries:
        for path, sheet in _files(entry.file, folder):
            times, step, columns, frame = _table(entry, path, sheet, zone)
            _note_places(entry, folder, path, frame, coordinates)
            for column in columns:
                values = to_internal(column.values, column.unit, column.quantity, step,
                                     f"{path}: station {column.station}")
                quantity = column.quantity
                _check_range(values, quantity, step, times[column.rows], column.station, path)
                series.setdefault(quantity, {}).setdefault(column.station, []).append((times[column.rows], values))
                steps.setdefault(quantity, {})[step] = path
    records = {}
    for quantity, of_stations in series.items():
        if len(steps[quantity]) > 1:
            shown = ", ".join(f"{step} s in {path.name}" for step, path in sorted(steps[quantity].items()))
            raise InputError(f"forcing: {quantity} is recorded in different steps ({shown}): give one step for each "
                             "variable")
        records[quantity] = _aligned(quantity, of_stations, next(iter(steps[quantity])), notes)
    names = sorted({name for of_quantity in records.values() for name in of_quantity.names})
    places = _places(names, coordinates, terrain, notes)
    return records, {name: row for row, name in enumerate(names)}, places


def _files(name: str, folder: Path) -> list[tuple[Path, str | None]]:
    """Files that a name or pattern means, and the sheet that stands behind ``#``."""
    plain, _, sheet = name.partition("#") if not (folder / name).exists() else (name, "", "")
    if glob.has_magic(plain) and not (folder / plain).exists():
        found = sorted(glob.glob(plain, root_dir=folder, recursive=True))
        if not found:
            raise InputError(f"forcing: no file fits {folder / plain}")
        return [(folder / match, sheet or None) for match in found]
    return [(folder / plain, sheet or None)]


def _table(entry: Stations, path: Path, sheet: str | None,
           zone: int) -> tuple[np.ndarray, int, list[_Column], tables.Frame]:
    """Times on the build's clock, the step in s, and the columns of one table."""
    parts = [entry.time]
    frame = tables.read_records(path, tuple(text for text in (entry.time, entry.station, entry.unit) if text), sheet)
    if entry.time not in frame.columns:
        parts = entry.time.replace(",", " ").split()
        missing = [part for part in parts if part not in frame.columns]
        if missing:
            raise InputError(f"{path} has no column {', '.join(map(repr, missing))} for time: it has "
                             f"{', '.join(map(str, frame.columns))}; correct the name in the TOML file")
    written = _joined(frame, parts)
    times, offset = clock.parse_times(written, path, entry.time)
    step = _step(times, path)
    if offset is not None and offset != zone:
        if step >= DAY:
            raise InputError(f"{path}: its days are of another time zone ({offset / 3600:+g} h) than the forcing's "
                             f"({zone / 3600:+g} h): set time_zone to it, and give all tables in one time zone")
        times = times - offset + zone
    return times, step, list(_columns(entry, path, frame, parts)), frame


def _joined(frame: tables.Frame, parts: list[str]) -> list[str]:
    """Time as text; from year, month, day and hour where they stand in columns of their own."""
    if len(parts) == 1:
        return tables.texts(frame[parts[0]])
    numbers = [tables.texts(frame[part]) for part in parts]
    return [f"{int(float(row[0])):04d}-" + "-".join(f"{int(float(part)):02d}" for part in row[1:3])
            + (f" {int(float(row[3])):02d}:00" if len(row) > 3 else "") for row in zip(*numbers, strict=True)]


def _step(times: np.ndarray, path: Path) -> int:
    """Usual step of a table, s."""
    differences = np.diff(np.unique(times))
    if differences.size == 0:
        raise InputError(f"{path} has one time only: give a series")
    found, counts = np.unique(differences, return_counts=True)
    step = int(found[np.argmax(counts)])
    if step > DAY or DAY % step:
        raise InputError(f"{path}: the usual step of its times is {step} s: it must divide a day")
    return step


def _columns(entry: Stations, path: Path, frame: tables.Frame, time: list[str]) -> Iterator[_Column]:
    """Columns of values, by the layout that the entry describes."""
    by_quantity, by_station = _mapping(entry, path, frame)
    every = np.arange(len(frame))
    if entry.station is not None:
        if entry.station not in frame.columns:
            raise InputError(f"{path} has no column {entry.station!r} for station: it has "
                             f"{', '.join(map(str, frame.columns))}; correct the name in the TOML file")
        quantities = by_quantity or {known(str(entry.variable), "forcing").name: _value_column(entry, path, frame,
                                                                                               time)}
        names = np.array(tables.texts(frame[entry.station]))
        for quantity, column in quantities.items():
            values = tables.numbers(frame, column, path)
            for name in sorted(set(names.tolist())):
                rows = np.flatnonzero(names == name)
                yield from _by_unit(entry, quantity, name, column, values, rows, frame, path, len(quantities))
        return
    if by_quantity:
        for quantity, column in by_quantity.items():
            yield from _by_unit(entry, quantity, path.stem, column, tables.numbers(frame, column, path), every, frame,
                                path, len(by_quantity))
        return
    if not by_station:
        others = [str(name) for name in frame.columns if str(name) not in (*time, entry.unit)]
        found = {name: recognise(name) for name in others}
        if entry.variable is None:
            seen = ", ".join(f"{name} ({quantity})" if quantity else name for name, quantity in found.items())
            raise InputError(f"{path}: give variable, or columns (such as columns = {{precipitation = 'P'}}): the "
                             f"table has {seen}")
        by_station = {name: name for name in others}
    quantity = known(str(entry.variable), "forcing").name
    for name, column in by_station.items():
        yield from _by_unit(entry, quantity, name, column, tables.numbers(frame, column, path), every, frame, path, 1)


def _mapping(entry: Stations, path: Path, frame: tables.Frame) -> tuple[dict[str, str], dict[str, str]]:
    """The entry's columns: by quantity, or by station."""
    columns = dict(entry.columns or {})
    missing = [column for column in columns.values() if column not in frame.columns]
    if missing:
        raise InputError(f"{path} has no column {', '.join(map(repr, missing))}: it has "
                         f"{', '.join(map(str, frame.columns))}; correct the name in the TOML file")
    quantities = [name for name in columns if name in QUANTITIES]
    if quantities and len(quantities) < len(columns):
        raise InputError(f"{path}: columns names variables ({', '.join(quantities)}) and others "
                         f"({', '.join(name for name in columns if name not in quantities)}): give one kind")
    if columns and not quantities and (entry.variable is None or entry.station is not None):
        raise InputError(f"{path}: columns names {', '.join(columns)}, which are no variables: choose from "
                         f"{', '.join(QUANTITIES)}, or give variable and stations")
    return (columns, {}) if quantities else ({}, columns)


def _value_column(entry: Stations, path: Path, frame: tables.Frame, time: list[str]) -> str:
    """The one column of values of a long table."""
    taken = {*time, entry.station, entry.unit}
    taken |= {name for name in frame.columns if _coordinate(str(name)) is not None}
    left = [str(name) for name in frame.columns if name not in taken]
    fitting = [name for name in left if recognise(name) == entry.variable or name.lower() in ("value", "values")]
    if len(fitting) == 1 or len(left) == 1:
        return (fitting or left)[0]
    raise InputError(f"{path}: which of {', '.join(left) or 'no columns'} holds {entry.variable}? Give columns = "
                     f"{{{entry.variable} = '...'}}")


def _by_unit(entry: Stations, quantity: str, station: str, column: str, values: np.ndarray, rows: np.ndarray,
             frame: tables.Frame, path: Path, n_quantities: int) -> Iterator[_Column]:
    """The rows of a column, parted by the unit of each where units have a column."""
    if entry.unit is not None and entry.unit in frame.columns:
        given = np.array(tables.texts(frame[entry.unit]))
        for unit in sorted(set(given[rows].tolist())):
            mine = rows[given[rows] == unit]
            yield _named(quantity, station, values[mine], unit, mine)
        return
    header = _HEADER_UNIT.search(column)
    if entry.unit is not None and n_quantities > 1:
        raise InputError(f"{path}: one unit ({entry.unit}) is given for {n_quantities} variables: write units into the "
                         "column names, such as 'P [mm]', or give one [[forcing.stations]] for each variable")
    unit = entry.unit if entry.unit is not None else header[1] if header else None
    if unit is None:
        raise InputError(f"{path}: the unit of {quantity} is missing: give unit = '...', or write it into the column's "
                         f"name, such as '{column} [mm]'")
    yield _named(quantity, station, values[rows], unit, rows)


def _named(quantity: str, station: str, values: np.ndarray, unit: str, rows: np.ndarray) -> _Column:
    # Sunshine without a unit of time is the share of what is possible.
    if quantity == "sunshine_duration" and unit.strip() in ("%", "percent", "1", "fraction", "-"):
        quantity = "relative_sunshine"
    if not station:
        raise InputError(f"forcing: a row of {quantity} names no station: give each row one")
    return _Column(quantity, station, values, unit, rows)


def _check_range(values: np.ndarray, quantity: str, step: int, times: np.ndarray, station: str, path: Path) -> None:
    outside = first_outside(values, quantity, step)
    if outside is not None:
        low, high = QUANTITIES[quantity].valid
        high = step if quantity == "sunshine_duration" else high
        raise InputError(f"{path}: {quantity} of station {station} on {clock.label(int(times[outside[0]]))} is "
                         f"{values[outside[0]]:.6g} {QUANTITIES[quantity].units}, outside {low:g} to {high:g}: check "
                         "the unit, correct the value, or leave it empty where it is missing")


def _aligned(quantity: str, series: Mapping[str, list[tuple[np.ndarray, np.ndarray]]], step: int,
             notes: list[str]) -> Records:
    """All stations of a quantity on one clock."""
    first = min(int(times.min()) for parts in series.values() for times, _ in parts)
    last = max(int(times.max()) for parts in series.values() for times, _ in parts)
    steps = Steps(first, step, (last - first) // step + 1)
    names = sorted(series)
    values = np.full((steps.n_steps, len(names)), np.nan, dtype=np.float32)
    for column, name in enumerate(names):
        times = np.concatenate([times for times, _ in series[name]])
        of_station = np.concatenate([part for _, part in series[name]])
        away = (times - first) % step
        if away.any():
            raise InputError(f"forcing: {quantity} of station {name}: the time "
                             f"{clock.label(int(times[np.argmax(away)]))} does not fit steps of {step} s from "
                             f"{clock.label(first)}")
        place = (times - first) // step
        place, of_station = _single(place, of_station, times, quantity, name, notes)
        values[place, column] = of_station
    return Records(quantity, names, steps, values)


def _single(place: np.ndarray, values: np.ndarray, times: np.ndarray, quantity: str, name: str,
            notes: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Every time once: rows that repeat a value are dropped, rows that disagree are refused."""
    order = np.argsort(place, kind="stable")
    place, values, times = place[order], values[order], times[order]
    again = np.flatnonzero(np.diff(place) == 0) + 1
    if again.size == 0:
        return place, values
    same = (values[again] == values[again - 1]) | (np.isnan(values[again]) & np.isnan(values[again - 1]))
    if not same.all():
        bad = again[~same]
        shown = ", ".join(clock.label(int(times[row])) for row in bad[:5])
        raise InputError(f"forcing: {quantity} of station {name} has different values for the same time, {bad.size} "
                         f"times ({shown}{', ...' if bad.size > 5 else ''}): give each time once")
    notes.append(f"{quantity} of station {name}: {again.size} repeated rows with the same value were dropped")
    keep = np.ones(place.size, dtype=bool)
    keep[again] = False
    return place[keep], values[keep]


def _coordinate(column: str) -> str | None:
    plain = re.split(r"[\s\[(]", column.strip().lower())[0]
    return next((name for name, names in _COORDINATES.items() if plain in names), None)


def _note_places(entry: Stations, folder: Path, path: Path, frame: tables.Frame,
                 coordinates: dict[str, tuple[float, float, float, bool]]) -> None:
    """Places from the entry's table of coordinates, or from columns of a long table itself."""
    if entry.coordinates is not None:
        path = folder / entry.coordinates
        frame = tables.read_text(path)
        station = next((str(name) for name in frame.columns if str(name).strip().lower() in _STATION),
                       str(frame.columns[0]))
    elif entry.station is not None and any(_coordinate(str(name)) for name in frame.columns):
        station = entry.station
        frame = frame.drop_duplicates(subset=[station])
    else:
        return
    columns = {_coordinate(str(name)): str(name) for name in frame.columns if str(name) != station}
    degrees = "longitude" in columns and "latitude" in columns
    pair = ("longitude", "latitude") if degrees else ("x", "y")
    if not all(name in columns for name in pair):
        raise InputError(f"{path}: give columns lon and lat (degrees) or x and y (m in the terrain's coordinate "
                         f"system), and elevation: it has {', '.join(map(str, frame.columns))}")
    x, y = (tables.numbers(frame, columns[name], path) for name in pair)
    elevation = (tables.numbers(frame, columns["elevation"], path) if "elevation" in columns
                 else np.full(len(frame), np.nan))
    for row, name in enumerate(tables.texts(frame[station])):
        place = (float(x[row]), float(y[row]), float(elevation[row]))
        in_degrees = degrees or (abs(place[0]) <= 180.0 and abs(place[1]) <= 90.0)
        before = coordinates.setdefault(name, (*place, in_degrees))
        if not np.array_equal(before[:3], place, equal_nan=True):
            raise InputError(f"{path}: station {name} has two places, {before[:3]} and {place}: give it once")


def _places(names: list[str], coordinates: Mapping[str, tuple[float, float, float, bool]], terrain: Terrain,
            notes: list[str]) -> Places:
    """Places of the stations on the terrain's grid."""
    from rasterio.warp import transform

    lost = [name for name in names if name not in coordinates
            or not np.isfinite(coordinates[name][:2]).all()]
    if lost:
        raise InputError(f"forcing: no coordinates for the station{'s' if len(lost) > 1 else ''} {', '.join(lost)}: "
                         "give coordinates = 'stations.csv' with the columns id, lon, lat, elevation; it has "
                         f"{', '.join(coordinates) or 'none'}")
    given = np.array([coordinates[name][:3] for name in names], dtype=float).reshape(-1, 3)
    degrees = np.array([coordinates[name][3] for name in names], dtype=bool)
    astray = ((degrees & ((np.abs(given[:, 0]) > 360.0) | (np.abs(given[:, 1]) > 90.0)))
              | (given[:, 2] < _LOWEST) | (given[:, 2] > _HIGHEST))
    if astray.any():
        first = int(np.argmax(astray))
        raise InputError(f"forcing: station {names[first]} lies at {tuple(given[first].tolist())}: give longitude, "
                         f"latitude (degrees) and elevation ({_LOWEST:g} to {_HIGHEST:g} m), each in its own column")
    xy, lonlat = given[:, :2].copy(), given[:, :2].copy()
    for mask, source, target, result in ((degrees, "EPSG:4326", terrain.crs, xy),
                                         (~degrees, terrain.crs, "EPSG:4326", lonlat)):
        if mask.any():
            with told("forcing: the places of the stations", "table of places"):
                result[mask] = np.column_stack(transform(source, target, given[mask, 0].tolist(),
                                                         given[mask, 1].tolist()))
    elevation = given[:, 2].copy()
    for row in np.flatnonzero(np.isnan(elevation)):
        elevation[row] = _ground(xy[row], terrain)
        if np.isnan(elevation[row]):
            raise InputError(f"forcing: station {names[row]} has no elevation and lies outside the terrain: give the "
                             "column elevation, m")
        notes.append(f"station {names[row]}: elevation {elevation[row]:.0f} m from the terrain")
    return Places(xy, elevation, lonlat[:, 1])


def _ground(xy: np.ndarray, terrain: Terrain) -> float:
    column, row = ~terrain.transform * (float(xy[0]), float(xy[1]))
    height, width = terrain.elevation.shape
    if not (0 <= row < height and 0 <= column < width):
        return float("nan")
    return float(terrain.elevation[int(row), int(column)])
