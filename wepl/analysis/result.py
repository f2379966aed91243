"""What every view of a result asks of its dataset: times, places, areas, texts with units, and errors that help."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl.errors import InputError
from wepl.netcdf import content_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def open_result(path: str | Path) -> xr.Dataset:
    """Open a result file; values are read when they are used.

    Parameters
    ----------
    path : path
        What ``wepl run`` wrote.

    Returns
    -------
    xarray.Dataset
        With the accessor ``.wepl`` (:class:`wepl.analysis.accessor.ResultAccessor`).

    Raises
    ------
    InputError
        There is no such file, or it is no result of wepl.
    """
    import xarray as xr

    from wepl.analysis import accessor  # noqa: F401

    place = Path(path)
    if not place.is_file():
        raise InputError(f"{place} is {'a folder' if place.is_dir() else 'not there'}; give a result file of wepl run")
    content = content_of(place)
    if content != "result":
        raise InputError(f"{place} is {f'a {content} file' if content else 'no result file'}; give what wepl run wrote")
    return xr.open_dataset(place, engine="netcdf4", decode_timedelta=False)


def times(data: xr.Dataset) -> pd.DatetimeIndex:
    """Starts of the steps; dates of a 365-day calendar stand by their name in the common one."""
    import pandas as pd

    index = data.indexes["time"]
    if isinstance(index, pd.DatetimeIndex):
        return index.rename("time")
    labels = [moment.strftime("%Y-%m-%dT%H:%M:%S") for moment in index]
    return pd.DatetimeIndex(labels, name="time")


def step_seconds(data: xr.Dataset) -> float:
    """Length of a step, s."""
    if "step_seconds" in data.attrs:
        return float(data.attrs["step_seconds"])
    index = times(data)
    if len(index) < 2:
        raise InputError("the dataset has one time and no attribute step_seconds: open the whole result")
    return float((index[1] - index[0]).total_seconds())


def need(data: xr.Dataset, *names: str, why: str = "this") -> None:
    """Refuse when a variable is not in the result.

    Raises
    ------
    InputError
        Names what is missing and how to write it.
    """
    missing = [name for name in names if name not in data.variables]
    if missing:
        raise InputError(f"{why} needs {', '.join(missing)}, which the result does not hold: run again with "
                         f"--variables {','.join(missing)} (variables={missing!r} in Python)")


def series_variable(data: xr.Dataset, name: str) -> xr.DataArray:
    """A variable with time, by name.

    Raises
    ------
    InputError
        The result has no such variable; the message lists those it has.
    """
    held = [str(key) for key, value in data.variables.items() if "time" in value.dims and len(value.dims) > 1
            and key != "time_bounds"]
    if name not in held:
        near = difflib.get_close_matches(name, held, n=1)
        advice = f" Did you mean {near[0]}?" if near else ""
        raise InputError(f"the result has no series {name!r}.{advice} It holds {', '.join(held)}; others are written "
                         "with --variables")
    return data[name]


def label(values: xr.DataArray, text: str = "") -> str:
    """Text for an axis or column: what it is, and its unit."""
    unit = str(values.attrs.get("units", "1"))
    return f"{text or values.attrs.get('long_name', values.name)}, {unit}"


def gauge_names(data: xr.Dataset) -> list[str]:
    """Names of the gauges, or their identifiers where they have none; empty without gauges."""
    if "gauge" not in data.variables:
        return []
    source = "gauge_name" if "gauge_name" in data.variables else "gauge"
    return [str(name) for name in data[source].values]


def positions(data: xr.Dataset) -> dict[int, int]:
    """Position of each sub-basin by its identifier."""
    return {int(identifier): place for place, identifier in enumerate(data["subbasin"].values)}


def downstream(data: xr.Dataset) -> np.ndarray:
    """Position of the sub-basin below each one, -1 at an outlet."""
    place = positions(data)
    return np.array([place.get(int(below), -1) for below in data["downstream"].values])


def outlets(data: xr.Dataset) -> list[int]:
    """Identifiers of the sub-basins at outlets."""
    return [int(value) for value in data["subbasin"].values[downstream(data) < 0]]


def unit_places(data: xr.Dataset) -> np.ndarray:
    """Position of each unit's sub-basin."""
    place = positions(data)
    return np.array([place[int(identifier)] for identifier in data["unit_subbasin"].values])


def unit_areas(data: xr.Dataset) -> np.ndarray:
    """Area of each unit, km2."""
    from wepl.units import convert

    return convert(data["unit_area"].values, str(data["unit_area"].attrs.get("units", "km2")), "km2", "unit_area")


def subbasin_areas(data: xr.Dataset) -> np.ndarray:
    """Area of each sub-basin, km2."""
    return np.bincount(unit_places(data), weights=unit_areas(data), minlength=data.sizes["subbasin"])


def find_series(data: xr.Dataset, place: str | int | None) -> dict[str, np.ndarray]:
    """Discharge by place.

    Parameters
    ----------
    place : str, int or None
        Name or identifier of a gauge, else identifier of a sub-basin; all gauges when None, or the outlets of a basin
        without gauges.

    Returns
    -------
    dict of str to ndarray
        Discharge of each step, m3 s-1, by the place's name.

    Raises
    ------
    InputError
        There is no such place; the message lists the gauges.
    """
    names = gauge_names(data)
    if place is None and names:
        return {name: data["gauge_discharge"].values[:, at] for at, name in enumerate(names)}
    where = positions(data)
    if place is None:
        return {f"sub-basin {outlet}": data["discharge"].isel(subbasin=where[outlet]).values
                for outlet in outlets(data)}
    if str(place) in names:
        at = names.index(str(place))
        return {names[at]: data["gauge_discharge"].isel(gauge=at).values}
    identifiers = [int(value) for value in data["gauge"].values] if names else []
    if not isinstance(place, str) and int(place) in identifiers:
        at = identifiers.index(int(place))
        return {names[at]: data["gauge_discharge"].isel(gauge=at).values}
    number = int(place) if str(place).lstrip("-").isdigit() else None
    if number in where:
        return {f"sub-basin {number}": data["discharge"].isel(subbasin=where[number]).values}
    near = difflib.get_close_matches(str(place), names, n=1, cutoff=0.4)
    advice = f" Did you mean {near[0]!r}?" if near else ""
    raise InputError(f"there is no gauge {place!r}.{advice} The gauges are: {', '.join(names) or 'none'}; the number "
                     "of a sub-basin stands for the end of its reach")
