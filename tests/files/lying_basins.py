"""Basin files that lie in their form: types, byte order, huge dimensions, attributes of a wrong kind.

Each function changes a good netCDF file in place; the texts say what is said of it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
from basins import valid, write
from content import Content

Change = Callable[[Content], None]
Typed = Callable[[netCDF4.Dataset], None]


def replaced(name: str, kind: Any = None, values: object = None, **attributes: object) -> Change:
    """A variable of another type, with other values or attributes; None takes an attribute away."""
    def change(content: Content) -> None:
        entry = content.variables[name]
        entry["kind"] = kind or entry["kind"]
        if values is not None:
            entry["values"] = values
        entry["attributes"] = {key: value for key, value in {**entry["attributes"], **attributes}.items()
                               if value is not None}
    return change


def huge(dim: str, size: int, *written: str) -> Change:
    """A dimension of a size that nothing was written for, in the variables that are named; others lose it."""
    def change(content: Content) -> None:
        content.dims[dim] = size
        for name in [name for name, entry in content.variables.items() if dim in entry["dims"]]:
            if name in written:
                content.variables[name]["values"] = None
            else:
                del content.variables[name]
    return change


def attribute(name: str, key: str, value: object) -> Change:
    return lambda content: content.variables[name]["attributes"].__setitem__(key, value)


def global_attribute(key: str, value: object) -> Change:
    return lambda content: content.attributes.__setitem__(key, value)


def compound(file: netCDF4.Dataset) -> None:
    kind = file.createCompoundType(np.dtype([("a", "f8"), ("b", "i4")]), "pair")
    file.createVariable("reach_length", kind, ("subbasin",))[:] = np.zeros(4, [("a", "f8"), ("b", "i4")])


def lists(file: netCDF4.Dataset) -> None:
    variable = file.createVariable("reach_length", file.createVLType(np.float64, "ragged"), ("subbasin",))
    for place in range(4):
        variable[place] = np.arange(place + 1.0)


def choices(file: netCDF4.Dataset) -> None:
    kind = file.createEnumType(np.uint8, "colour", {"red": 0, "blue": 1})
    file.createVariable("reach_length", kind, ("subbasin",))[:] = np.zeros(4, np.uint8)


def group(file: netCDF4.Dataset) -> None:
    inner = file.createGroup("basin")
    inner.createDimension("subbasin", 4)
    inner.createVariable("reach_length", "f8", ("subbasin",))[:] = 1.0


def swapped(name: str) -> Change:
    """Values in the other byte order than the file says."""
    def change(content: Content) -> None:
        content.variables[name]["values"] = content.variables[name]["values"].byteswap()
    return change


# Types that only netCDF4 knows, in place of the lengths of reaches.
TYPED: dict[str, tuple[Typed, str]] = {
    "pairs as lengths": (compound, "reach_length|cannot be read as netCDF"),
    "lists as lengths": (lists, "reach_length holds .*expected numbers"),
    "colours as lengths": (choices, "reach_length"),
    "lengths in a group": (group, "reach_length is missing"),
}
LYING: dict[str, tuple[Change, str]] = {
    # types
    "characters as lengths": (replaced("reach_length", "S1", values=np.array(list("abcd"), "S1")),
                              "reach_length holds text"),
    "text as area": (replaced("unit_area", str, values=np.array(["5"] * 8, object)), "unit_area holds text"),
    "text as share": (replaced("land_fraction", str, values=np.array([["a"] * 5] * 8, object)), "land_fraction holds"),
    "characters as rain": (replaced("precipitation", "S1", values=np.full((6, 2), b"3", "S1")), "precipitation holds"),
    "rain of whole bytes": (replaced("precipitation", "u1", values=np.full((6, 2), 255, "u1"), _FillValue=255),
                            "precipitation in cell 7 .*missing"),

    # byte order
    "time in the other byte order": (swapped("time"), "the forcing step is"),
    **{f"{name} in the other byte order": (swapped(name), name)
       for name in ("unit_area", "reach_length", "field_capacity", "precipitation", "air_temperature", "unit",
                    "land_fraction")},

    # huge dimensions, of which nothing was written
    "two milliard sub-basins": (huge("subbasin", 2**31, "subbasin", "downstream"), "subbasin has size 2147483648, exp"),
    "a milliard units": (huge("unit", 10**9, "unit", "unit_area", "unit_subbasin"), "would take .* GB of memory"),
    "a milliard cells": (huge("cell", 10**9, "cell"), "would take 8 GB of memory, but the whole file has"),
    "a milliard steps": (huge("time", 10**9, "time", "precipitation"), "would take .* GB|time"),
    "a milliard layers": (huge("soil_layer", 10**9, "soil_thickness"), "soil_layer has size 1000000000, expected 1 to"),
    "a milliard land classes": (huge("land_class", 10**9, "land_fraction"), "land_class has size 1000000000, expected"),
    "a milliard gauges": (huge("gauge", 10**9, "gauge", "gauge_subbasin"), "would take .* GB of memory"),

    # attributes
    "a number as unit": (attribute("unit_area", "units", 5.0), "unit_area: the unit '5.0' is unknown|unit_area: '5.0'"),
    "a list as unit": (attribute("unit_area", "units", np.array([1.0, 2.0])), "unit_area: .*units?"),
    "no text as unit": (attribute("unit_area", "units", ""), "unit_area: "),
    "a unit in Chinese": (attribute("unit_area", "units", "平方公里"), "unit_area: the unit '平方公里' is unknown"),
    "a long unit": (attribute("unit_area", "units", "k" * 70_000), "unit_area: "),
    "a unit of many powers": (attribute("unit_area", "units", "m^99999999999"), "unit_area: "),
    "a unit with a line break": (attribute("unit_area", "units", "km2\nm"), "unit_area: "),
    "a number as calendar": (attribute("time", "calendar", 360), "time has calendar '360'"),
    "a list as calendar": (attribute("time", "calendar", np.array([1, 2])), "time has calendar"),
    "a number as units of time": (attribute("time", "units", 5), "time has units .*write"),
    "text as scale": (attribute("reach_length", "scale_factor", "ten"), "cannot be read as netCDF|reach_length"),
    "no number as scale": (attribute("reach_length", "scale_factor", np.nan), "reach_length at subbasin 1: .*missing"),
    "an infinite offset": (attribute("reach_length", "add_offset", np.inf), "reach_length at subbasin 1: .*infinite"),
    "a scale of nought": (attribute("reach_length", "scale_factor", 0.0), "reach_length at subbasin 1: 0 m is outside"),
    "text as scale of rain": (attribute("precipitation", "scale_factor", "ten"), "scale_factor of precip"),
    "a scale of rain that is none": (attribute("precipitation", "scale_factor", np.nan), "scale_factor of precip"),
    "dry days as fill value": (attribute("precipitation", "missing_value", 0.0), "precipitation in cell .*missing"),
    "an area as fill value": (attribute("unit_area", "missing_value", 5.0), "unit_area at unit 100: .*missing"),
    "a folder as forcing": (global_attribute("forcing", "/etc"), "'/etc' leads out of the folder"),
    "a number as forcing": (global_attribute("forcing", 5), "the attribute forcing names '5'"),
    "another content": (global_attribute("wepl_content", "state"), "is a state file of wepl, not a basin"),
    "a number as content": (global_attribute("wepl_content", 5), "is a 5 file of wepl, not a basin"),
}


def make(path: Path, change: Change) -> Path:
    """A good file, changed."""
    content = Content.read(write(valid(), path))
    change(content)
    path.unlink()
    content.write(path)
    return path


def make_typed(path: Path, change: Typed) -> Path:
    """A good file with lengths of another type."""
    write(valid().drop_vars("reach_length"), path)
    with netCDF4.Dataset(path, "a") as file:
        change(file)
    return path
