"""Writing a synthetic basin as a basin file, its weather in blocks of time."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry
from wepl.basin.synthetic import facts
from wepl.basin.synthetic.build import SyntheticBasin, build
from wepl.basin.synthetic.hourly import hours
from wepl.basin.synthetic.stations import Stations
from wepl.basin.synthetic.weather import Weather, build_weather
from wepl.errors import InputError
from wepl.netcdf import LOCK, check_target, publish, temporary_path, write_failure
from wepl.units import convert

if TYPE_CHECKING:
    import netCDF4

FEWEST_UNITS, MOST_UNITS, MOST_YEARS = 10, 200_000, 100
_FIRST_YEAR, _LAST_YEAR = 1600, 2500
_OPTIONS = {"angstrom_a": facts.ANGSTROM_A}
_FORCING = ("precipitation", "air_temperature", "relative_humidity", "wind_speed", "sunshine_duration")
_BLOCK_VALUES = 4_000_000  # values of one variable that are in memory at once while writing
_CHUNK_BYTES = 1 << 20
_TITLE = "Synthetic basin conditioned on published facts of the Poyang Lake basin (not measured data)"
_SOURCE = ("Synthetic: drawn at random and fitted to published areas, relief, land cover, soils and climate normals of "
           "the Poyang Lake basin; see docs/sample.md")


def synthesize(path: str | os.PathLike[str], units: int = 8712, years: int = 1, start: str = "2010-01-01",
               step: str = "1d", seed: int = 0) -> Path:
    """Write a synthetic basin like that of Poyang Lake: 162,225 km2, five rivers, subtropical monsoon.

    Nothing in it is measured. It honours published areas, relief, land cover, soils and monthly climate; the same
    arguments give the same file.

    Parameters
    ----------
    path : path
        The netCDF file to write; a basin file that this function wrote is replaced.
    units : int
        Number of contour bands, 10 to 200,000; about 4.2 make a sub-basin. The published runs of the basin used
        8,712 and 24,897. With fewer than 32 units only the largest rivers are there, with their true areas.
    years : int
        Years of weather, 1 to 100.
    start : str
        First day, ``YYYY-MM-DD``, from 1600 on.
    step : {"1d", "1h"}
        Time step of the weather. Hours are UTC.
    seed : int
        Seed of the random numbers, 0 or more.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        An argument is out of its range, or the file cannot stand there.
    WeplError
        Writing failed.
    """
    path = Path(path)
    units = _whole("units", units, FEWEST_UNITS, MOST_UNITS)
    years = _whole("years", years, 1, MOST_YEARS)
    seed = _whole("seed", seed, 0, 2**63 - 1)
    if step not in ("1d", "1h"):
        raise InputError(f"step is {step!r}; give 1d (daily) or 1h (hourly)")
    dates = _dates(start, years)
    check_target(path, "basin")
    land_seed, weather_seed = np.random.SeedSequence(seed).spawn(2)
    basin = build(units, np.random.Generator(np.random.PCG64(land_seed)))
    weather = build_weather(basin.stations, dates, np.random.Generator(np.random.PCG64(weather_seed)),
                            timing=step == "1h")
    temporary = temporary_path(path)
    history = f"wepl: synthesize(units={units}, years={years}, start={dates[0]!s}, step={step}, seed={seed})"
    try:
        _write(temporary, basin, weather, dates, step, history)
        publish(temporary, path)
    except (OSError, RuntimeError) as error:
        raise write_failure(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _whole(name: str, value: int, low: int, high: int) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = low - 1
    if number != value or not low <= number <= high:
        raise InputError(f"{name} is {value!r}; give a whole number from {low} to {high}")
    return number


def _dates(start: str, years: int) -> np.ndarray:
    """Days of ``years`` years from ``start``."""
    try:
        first = datetime.date.fromisoformat(start)
    except (TypeError, ValueError) as error:
        raise InputError(f"start is {start!r}; give a day as YYYY-MM-DD, for example 2010-01-01") from error
    if not _FIRST_YEAR <= first.year <= _LAST_YEAR:
        raise InputError(f"start is {start}; give a day in the years {_FIRST_YEAR} to {_LAST_YEAR}")
    month, day = (3, 1) if (first.month, first.day) == (2, 29) else (first.month, first.day)
    end = datetime.date(first.year + years, month, day)
    return np.arange(np.datetime64(first), np.datetime64(end))


def _write(path: Path, basin: SyntheticBasin, weather: Weather, dates: np.ndarray, step: str, history: str) -> None:
    import netCDF4

    with LOCK, netCDF4.Dataset(path, "w", format="NETCDF4") as file:
        file.setncatts({"Conventions": "CF-1.11", "title": _TITLE, "source": _SOURCE, "history": history,
                        "wepl_content": "basin", "references": "docs/sample.md"})
        _write_land(file, basin)
        _write_weather(file, basin.stations, weather, dates, step)


def _write_land(file: netCDF4.Dataset, basin: SyntheticBasin) -> None:
    values = basin.variables()
    for name, data in values.items():
        for dim, size in zip(registry.variable(name).dims, np.shape(data), strict=True):
            if dim not in file.dimensions:
                file.createDimension(dim, size)
    for name, data in values.items():
        _write_variable(file, name, data)
    for name, value in _OPTIONS.items():
        _write_variable(file, name, np.array(value))
    names = {"gauge_name": ("gauge", "name of the gauge", basin.gauge_names()),
             "land_class": ("land_class", "name of the land class", list(registry.LAND_CLASSES))}
    for name, (dim, text, entries) in names.items():
        variable = file.createVariable(name, str, (dim,))
        variable.long_name = text
        variable[:] = np.array(entries, dtype=object)


def _write_variable(file: netCDF4.Dataset, name: str, data: np.ndarray) -> None:
    entry = registry.variable(name)
    data = np.asarray(data)
    kind = np.int32 if entry.integer else np.float64
    variable = file.createVariable(name, kind, entry.dims, zlib=data.ndim > 0, complevel=4, shuffle=data.ndim > 0)
    variable.long_name = entry.long_name
    variable.units = entry.file_units
    if entry.standard_name:
        variable.standard_name = entry.standard_name
    variable[...] = data if entry.integer else convert(data, entry.units, entry.file_units, name)


def _write_weather(file: netCDF4.Dataset, stations: Stations, weather: Weather, dates: np.ndarray, step: str) -> None:
    per_day = 1 if step == "1d" else 24
    n_cells, n_steps = stations.longitude.size, dates.size * per_day
    file.createDimension("time", n_steps)
    time = file.createVariable("time", np.int32, ("time",), zlib=True, complevel=4, shuffle=True)
    time.setncatts({"standard_name": "time", "long_name": "start of the step", "axis": "T", "calendar": "standard",
                    "units": f"{'days' if per_day == 1 else 'hours'} since {dates[0]!s} 00:00:00"})
    time[:] = np.arange(n_steps)
    for name, text, values in (("cell_longitude", "longitude", stations.longitude),
                               ("cell_latitude", "latitude", stations.latitude)):
        place = file.createVariable(name, np.float64, ("cell",))
        units = "degrees_east" if text == "longitude" else "degrees_north"
        place.setncatts({"standard_name": text, "long_name": f"{text} of the station", "units": units})
        place[:] = values
    chunk = (min(n_steps, max(1, _CHUNK_BYTES // (4 * n_cells))), n_cells)
    for name in _FORCING:
        entry = registry.variable(name)
        variable = file.createVariable(name, np.float32, ("time", "cell"), zlib=True, complevel=4, shuffle=True,
                                       chunksizes=chunk)
        variable.setncatts({"standard_name": entry.standard_name, "long_name": entry.long_name,
                            "units": entry.file_units, "coordinates": "cell_longitude cell_latitude"})
    for first, block in _blocks(stations, weather, dates, per_day):
        for name in _FORCING:
            file[name][first:first + block[name].shape[0]] = block[name].astype(np.float32)


def _blocks(stations: Stations, weather: Weather, dates: np.ndarray,
            per_day: int) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """First step and values of each block of days, in the registry's file units."""
    n_days = max(1, _BLOCK_VALUES // (per_day * stations.longitude.size))
    for first in range(0, dates.size, n_days):
        last = min(first + n_days, dates.size)
        if per_day == 24:
            yield first * 24, hours(weather, stations, dates, first, last)
            continue
        days = slice(first, last)
        yield first, {"precipitation": weather.precipitation[days], "air_temperature": weather.temperature[days],
                      "relative_humidity": weather.humidity[days], "wind_speed": weather.wind[days],
                      "sunshine_duration": weather.sunshine[days]}
