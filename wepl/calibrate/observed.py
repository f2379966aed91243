"""Observed discharge from tables and netCDF files, in m3 s-1, with NaN where a value is missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl import units
from wepl.build import tables
from wepl.build.clock import DAY, parse_times
from wepl.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from wepl.basin.dataset import Basin
    from wepl.calibrate.config import Observed

_DISCHARGE = "m3 s-1"
_DEPTH_RATE = "m s-1"


@dataclass(frozen=True)
class Record:
    """Discharge of one gauge.

    Attributes
    ----------
    gauge : str
    times : ndarray of int
        Start of each value on the clock of the record, s since 1970-01-01, rising.
    values : ndarray
        m3 s-1, NaN where missing.
    step : int
        Usual length of a value, s.
    offset : int
        What the clock of the record is ahead of UTC, s.
    where : str
        File and column, for messages.
    """

    gauge: str
    times: np.ndarray
    values: np.ndarray
    step: int
    offset: int
    where: str


def gauge_positions(basin: Basin) -> dict[str, int]:
    """Position of each gauge's sub-basin; a sub-basin's number stands for its outlet where no gauge has that name."""
    ids = basin.parameters["subbasin"].values
    place = {str(number): position for position, number in enumerate(ids.tolist())}
    if "gauge_name" in basin.parameters:
        names = [str(name) for name in basin.parameters["gauge_name"].values]
        place |= {name: place[str(number)] for name, number in
                  zip(names, basin.parameters["gauge_subbasin"].values.tolist(), strict=True)}
    return place


def upstream_area(basin: Basin, position: int) -> float:
    """Area above the end of a sub-basin's reach, m2, itself included."""
    values = basin.parameters
    ids = values["subbasin"].values
    place = {number: at for at, number in enumerate(ids.tolist())}
    above: dict[int, list[int]] = {}
    for at, below in enumerate(values["downstream"].values.tolist()):
        if below in place:
            above.setdefault(place[below], []).append(at)
    inside, waiting = {position}, [position]
    while waiting:
        more = above.get(waiting.pop(), [])
        inside.update(more)
        waiting += more
    mine = np.isin(values["unit_subbasin"].values, ids[sorted(inside)])
    return float(values["unit_area"].values[mine].sum())


def read_records(given: Observed, folder: Path, basin: Basin) -> list[Record]:
    """Records of an entry of the TOML file.

    Parameters
    ----------
    given : Observed
    folder : Path
        Folder of the TOML file.
    basin : Basin
        Gives the places of the gauges, and the areas above them for records in depth.

    Raises
    ------
    InputError
        A gauge is unknown to the basin, or the file has no such column, time, unit or number.
    """
    path = folder / given.file
    known = gauge_positions(basin)
    unknown = [gauge for gauge in given.gauges if gauge not in known]
    if unknown:
        named = [name for name in known if not name.isdigit()][:20] or list(known)[:20]
        raise InputError(f"{path}: the basin has no gauge {', '.join(unknown)}: it has {', '.join(named)}; the number "
                         "of a sub-basin stands for its outlet")
    netcdf = path.suffix.lower() in (".nc", ".nc4", ".cdf")
    columns, unit, offset = _from_netcdf(given, path) if netcdf else _from_table(given, path)
    return [_record(given, path, gauge, *columns[gauge], given.units or unit.get(gauge, _DISCHARGE), offset, basin,
                    known[gauge]) for gauge in given.gauges]


_Columns = dict[str, tuple[np.ndarray, np.ndarray]]


def _from_table(given: Observed, path: Path) -> tuple[_Columns, dict[str, str], int]:
    names = [given.time] if isinstance(given.time, str) else list(given.time or ())
    frame = tables.read_records(path, tuple(names))
    if not names:
        names = [str(frame.columns[0])]
        frame = tables.read_records(path, tuple(names))
    values = {gauge: given.column or (gauge if gauge in frame.columns or len(frame.columns) != 2
                                      else str(frame.columns[1])) for gauge in given.gauges}
    missing = [name for name in (*names, *values.values()) if name not in frame.columns]
    if missing:
        raise InputError(f"{path} has no column {', '.join(map(repr, missing))}: it has "
                         f"{', '.join(map(str, frame.columns[:20]))}; name it by time or column")
    times, offset = _times(given, frame, names, path)
    return {gauge: (times, tables.numbers(frame, column, path)) for gauge, column in values.items()}, {}, offset


def _times(given: Observed, frame: pd.DataFrame, names: list[str], path: Path) -> tuple[np.ndarray, int]:
    import pandas as pd

    texts = [tables.texts(frame[name]) for name in names]
    if given.time_format is None:
        written = texts[0] if len(names) == 1 else [
            "-".join(part.zfill(2) for part in row[:3]) + (f" {row[3].zfill(2)}:00" if len(row) > 3 else "")
            for row in zip(*texts, strict=True)]
        seconds, zone = parse_times(written, path, " ".join(names))
        return seconds, int(given.utc_offset_hours * 3600) if zone is None else zone
    written = [" ".join(row) for row in zip(*texts, strict=True)]
    parsed = pd.to_datetime(pd.Series(written), format=given.time_format, errors="coerce")
    if parsed.isna().any():
        row = int(np.argmax(parsed.isna()))
        raise InputError(f"{path}: row {row + 2}: {written[row]!r} is no time of the form {given.time_format!r}: "
                         "correct time_format")
    if parsed.dt.tz is not None:
        raise InputError(f"{path}: time_format {given.time_format!r} reads an offset: leave %z out and give "
                         "utc_offset_hours")
    return parsed.to_numpy().astype("datetime64[s]").astype(np.int64), int(given.utc_offset_hours * 3600)


def _from_netcdf(given: Observed, path: Path) -> tuple[_Columns, dict[str, str], int]:
    import xarray as xr

    try:
        with xr.open_dataset(path, engine="netcdf4") as opened:
            data = opened.load()
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as netCDF: {error}") from None
    offset = int(given.utc_offset_hours * 3600)
    columns, unit = {}, {}
    for gauge in given.gauges:
        series = _variable(data, given, gauge, path)
        axis = next((name for name in series.dims if np.issubdtype(series[name].dtype, np.datetime64)), None)
        if axis is None:
            raise InputError(f"{path}: {series.name} has no time axis of the standard calendar")
        seconds = series[axis].values.astype("datetime64[s]").astype(np.int64)
        columns[gauge] = seconds, _one_series(series, str(axis), gauge, path)
        unit[gauge] = str(series.attrs.get("units", _DISCHARGE))
    return columns, unit, offset


def _variable(data: xr.Dataset, given: Observed, gauge: str, path: Path) -> xr.DataArray:
    name = given.column or gauge
    if name not in data:
        raise InputError(f"{path} has no variable {name!r}: it has {', '.join(map(str, data.data_vars))}; name it by "
                         "column")
    return data[name]


def _one_series(series: xr.DataArray, axis: str, gauge: str, path: Path) -> np.ndarray:
    """The gauge's values: of the only series there is, or of the place that a coordinate names as the gauge."""
    for dim in [name for name in series.dims if name != axis]:
        if series.sizes[dim] == 1:
            series = series.isel({dim: 0})
            continue
        labels = [name for name in series.coords if series[name].dims == (dim,) and series[name].dtype.kind in "iuSUO"]
        found = [np.flatnonzero(series[name].values.astype(str) == gauge) for name in labels]
        place = next((where for where in found if where.size == 1), None)
        if place is None:
            raise InputError(f"{path}: {series.name} has {series.sizes[dim]} places along {dim}, and no coordinate "
                             f"names one of them {gauge!r}")
        series = series.isel({dim: int(place[0])})
    return np.asarray(series.values, dtype=np.float64)


def _record(given: Observed, path: Path, gauge: str, times: np.ndarray, values: np.ndarray, unit: str, offset: int,
            basin: Basin, position: int) -> Record:
    where = f"{path} ({given.column or gauge})"
    values = np.where(np.isin(values, given.missing), np.nan, values)
    order = np.argsort(times, kind="stable")
    times, values = times[order], values[order]
    if times.size < 2 or (np.diff(times) == 0).any():
        twice = times[1:][np.diff(times) == 0]
        raise InputError(f"{where}: " + (f"the time {np.datetime64(int(twice[0]), 's')} stands twice" if twice.size else
                                         "one value is no series"))
    steps, counts = np.unique(np.diff(times), return_counts=True)
    step = int(steps[np.argmax(counts)])
    if given.stamp == "end":
        if step >= 28 * DAY:
            raise InputError(f"{where}: stamp = \"end\" is not known for months: give the first day of each month")
        times = times - step
    values = _in_discharge(values, unit, where, basin, position)
    bad = np.flatnonzero(values < 0.0)
    if bad.size or np.isinf(values).any():
        place = int(bad[0]) if bad.size else int(np.flatnonzero(np.isinf(values))[0])
        raise InputError(f"{where}: {values[place]:g} m3 s-1 at {np.datetime64(int(times[place]), 's')} is no "
                         "discharge: correct it, or name the number under missing")
    return Record(gauge, times, values, step, offset, where)


def _in_discharge(values: np.ndarray, unit: str, where: str, basin: Basin, position: int) -> np.ndarray:
    """Values in m3 s-1; a depth per time is that of the area above the gauge."""
    try:
        units.linear(unit, _DISCHARGE)
    except ValueError:
        try:
            units.linear(unit, _DEPTH_RATE)
        except ValueError as error:
            raise InputError(f"{where}: units {unit!r}: {error}; give a unit of discharge such as m3 s-1 or "
                             "ft3 s-1, or of depth in time such as mm d-1") from None
        return units.convert(values, unit, _DEPTH_RATE) * upstream_area(basin, position)
    return units.convert(values, unit, _DISCHARGE)
