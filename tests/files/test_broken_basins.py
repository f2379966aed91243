"""Broken basin files: each is refused by ``check`` and ``run`` with exit status 2 and one message that says what is
wrong, where, and what to do; nothing is computed and no file is left.

Source of the rules: docs/basin-file.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from basins import FORCING, outside, put, valid, write
from typer.testing import CliRunner

from wepl import registry
from wepl.basin import vegetation
from wepl.basin.dataset import Basin, inspect
from wepl.cli import app
from wepl.errors import BasinError, InputError, WeplError
from wepl.run.simulation import run

Break = Callable[[xr.Dataset], xr.Dataset | None]


# Small functions that each break one thing in a valid basin.

def drop(*names: str) -> Break:
    return lambda data: data.drop_vars(names)


def value(name: str, place: object, number: float) -> Break:
    """Put a number at one place of a variable."""
    def change(data: xr.Dataset) -> None:
        array = data[name].values.astype(type(number) if data[name].dtype.kind in "iu" else float)
        array[place] = number
        data[name] = (data[name].dims, array, data[name].attrs)
    return change


def everywhere(name: str, values: object, units: str | None = None) -> Break:
    return lambda data: put(data, name, values, units)


def updated(name: str, dims: str, values: object, **attributes: str) -> Break:
    def change(data: xr.Dataset) -> None:
        data[name] = (dims, values, attributes)
    return change


def attribute(name: str, key: str, text: object) -> Break:
    def change(data: xr.Dataset) -> None:
        data[name].attrs[key] = text
    return change


def no_attribute(name: str, key: str) -> Break:
    def change(data: xr.Dataset) -> None:
        del data[name].attrs[key]
    return change


def option(name: str, number: object, units: str | None = None) -> Break:
    def change(data: xr.Dataset) -> None:
        data[name] = ((), number, {"units": units} if units else {})
    return change


def text(name: str) -> Break:
    """Text where numbers belong."""
    def change(data: xr.Dataset) -> None:
        data[name] = (data[name].dims, data[name].values.astype(str).astype(object), data[name].attrs)
    return change


def redimensioned(name: str, *dims: str, shape: tuple[int, ...] | None = None) -> Break:
    def change(data: xr.Dataset) -> None:
        sizes = shape or tuple(data.sizes[dim] for dim in dims)
        data[name] = (dims, np.resize(data[name].values, sizes), data[name].attrs)
    return change


def resized(dim: str, size: int) -> Break:
    """Another size of a dimension, in everything that has it."""
    def change(data: xr.Dataset) -> xr.Dataset:
        return data.isel({dim: np.resize(np.arange(data.sizes[dim]), size)})
    return change


def times(numbers: object, units: str = "days since 2010-01-01", calendar: str = "standard") -> Break:
    def change(data: xr.Dataset) -> xr.Dataset:
        array = np.asarray(numbers)
        data = data.isel(time=np.resize(np.arange(data.sizes["time"]), array.size)).drop_vars("time")
        data["time"] = ("time", array, {"units": units, "calendar": calendar})
        return data
    return change


def both(*changes: Break) -> Break:
    def change(data: xr.Dataset) -> xr.Dataset:
        for one in changes:
            made = one(data)
            data = data if made is None else made
        return data
    return change


def network(*downstream: int) -> Break:
    """A network of as many sub-basins as there are numbers, one unit each."""
    def change(data: xr.Dataset) -> xr.Dataset:
        n = len(downstream)
        data = data.drop_vars(["gauge", "gauge_subbasin"])
        data = data.isel(subbasin=np.zeros(n, int), unit=np.zeros(n, int))
        for name, values in (("subbasin", np.arange(n) + 1), ("unit", np.arange(n) + 100),
                             ("unit_subbasin", np.arange(n) + 1), ("downstream", downstream)):
            data[name] = (data[name].dims, np.asarray(values))
        return data
    return change


def part_of_vegetation(data: xr.Dataset) -> None:
    put(data, "leaf_area_index", vegetation.table()["leaf_area_index"])


def own_vegetation(**changes: object) -> Break:
    """A vegetation table in the file, some of it changed."""
    def change(data: xr.Dataset) -> None:
        for name, array in vegetation.table().items():
            put(data, name, changes.get(name, array), registry.variable(name).units)
    return change


def whole_curve(**changes: float) -> Break:
    def change(data: xr.Dataset) -> None:
        for name, number in {"haverkamp_a": 500.0, "haverkamp_b": 4.0, "mualem_n": 8.0, **changes}.items():
            put(data, name, np.full(data["soil_thickness"].shape, number))
    return change


LAYERED = (8, 3)
BROKEN: dict[str, tuple[Break, str]] = {
    # what is missing
    **{f"no {name}": (drop(name), rf"{name} is missing \(.*the file must give it")
       for name in ("downstream", "unit", "unit_cell", "cell", "reach_length", "reach_slope", "unit_area",
                    "land_fraction", "soil_thickness", "wilting_point", "saturated_conductivity", "unit_latitude")},
    **{f"no {name}": (drop(name), rf"{name} is missing: the forcing must give it")
       for name in ("precipitation", "air_temperature", "relative_humidity", "wind_speed")},
    "no sub-basins": (drop("subbasin"), "subbasin is missing"),
    "neither radiation nor sunshine": (drop("sunshine_duration"), "neither shortwave_radiation nor sunshine_duration"),
    "no forcing": (drop(*FORCING), "the basin has no forcing: give precipitation"),
    "no time": (drop("time"), "the variable time is missing"),
    "gauge without place": (drop("gauge_subbasin"), "gauge and gauge_subbasin belong together"),
    "place without gauge": (drop("gauge"), "gauge and gauge_subbasin belong together"),
    "half a vegetation table": (part_of_vegetation, "the vegetation table is incomplete: vegetation_cover, .* missing"),
    "half a soil curve": (both(whole_curve(), drop("mualem_n")), "the soil curve is incomplete: mualem_n missing"),

    # dimensions
    "length per unit": (redimensioned("reach_length", "unit"), r"reach_length has dimensions \('unit',\), expected "
                        r"\('subbasin',\)"),
    "one length for all": (redimensioned("reach_length", shape=()), r"reach_length has dimensions \(\)"),
    "soil without layers": (redimensioned("field_capacity", "unit"), r"field_capacity has dimensions"),
    "rain in time only": (redimensioned("precipitation", "time"), r"precipitation has dimensions \('time',\), expected "
                          r"\('time', 'cell'\)"),
    "rain per unit": (redimensioned("precipitation", "time", "unit"), r"precipitation has dimensions \('time', 'unit'"),
    "four land classes": (resized("land_class", 4), "dimension land_class has size 4, expected 5"),
    "six land classes": (resized("land_class", 6), "dimension land_class has size 6, expected 5"),
    "eleven months": (both(own_vegetation(), resized("month", 11)), "dimension month has size 11, expected 12"),
    "too many layers": (resized("soil_layer", registry.MAX_SOIL_LAYERS + 1),
                        f"soil_layer has size {registry.MAX_SOIL_LAYERS + 1}, expected 1 to "),
    "no layers": (resized("soil_layer", 0), "dimension soil_layer has size 0"),
    "no units": (resized("unit", 0), "dimension unit has size 0"),
    "no sub-basin": (resized("subbasin", 0), "dimension subbasin has size 0"),
    "no cells": (resized("cell", 0), "dimension cell has size 0"),
    "no steps": (resized("time", 0), "time has no values"),

    # units
    "area in metres": (attribute("unit_area", "units", "m"), "unit_area: 'm' does not convert to 'm2'"),
    "unknown unit": (attribute("unit_area", "units", "blob"), "unit_area: the unit 'blob' is unknown"),
    "unit that is a date": (attribute("reach_length", "units", "days since 2000-01-01"), "reach_length: .*not a unit"),
    "unit that is a logarithm": (attribute("reach_length", "units", "lg(re 1 m)"), "reach_length: .*'lg"),
    "no unit of area": (no_attribute("unit_area", "units"), "unit_area: the attribute units is missing; .*'km2'"),
    "no unit of conductivity": (no_attribute("saturated_conductivity", "units"), "saturated_conductivity: the attr"),
    "rain that is no rate": (attribute("precipitation", "units", "mm"), "precipitation: 'mm' does not convert to "
                             "'m s-1'; .*'mm d-1'"),
    "rain as mass": (attribute("precipitation", "units", "kg m-2"), "precipitation: 'kg m-2' does not convert"),
    "rain in degrees": (attribute("precipitation", "units", "degC"), "precipitation: 'degC' does not convert"),
    "rain without unit": (no_attribute("precipitation", "units"), "precipitation: the attribute units is missing"),
    "wind in knots per hour": (attribute("wind_speed", "units", "knot/h"), "wind_speed: 'knot/h' does not convert"),
    "temperature without unit": (no_attribute("air_temperature", "units"), "air_temperature: the attribute units is"),
    "kelvin as degC": (lambda data: put(data, "air_temperature", data["air_temperature"].values + 273.15),
                       r"air_temperature in cell 7 at 2010-01-01: 29\d.*degC is outside -90 to 65 degC \(12 such"),
    "degC as kelvin": (attribute("air_temperature", "units", "K"), "air_temperature in cell 7 at .*outside -90 to 65"),
    "percent as share": (attribute("relative_humidity", "units", "1"), "relative_humidity in cell 7 .*outside 0 to 105"
                         " %"),
    "conductivity in m/s as mm/h": (attribute("saturated_conductivity", "units", "mm h-1"), "saturated_conductivity at "
                                    r"unit 100, layer 1: .* mm h-1 is outside 3.6e-06 .*\(24 such values\)"),

    # numbers that are none
    "missing length": (value("reach_length", 1, np.nan), "reach_length at subbasin 2: .*missing"),
    "infinite width": (value("reach_width", 2, np.inf), "reach_width at subbasin 3: inf .*infinite"),
    "missing area": (value("unit_area", 3, np.nan), "unit_area at unit 103: .*missing"),
    "missing land": (value("land_fraction", (2, 1), np.nan), "land_fraction at unit 102, soil_vegetation: .*missing"),
    "missing soil": (value("field_capacity", (5, 1), np.nan), "field_capacity at unit 105, layer 2: .*missing"),
    "missing elevation of a cell": (value("cell_elevation", 1, np.nan), "cell_elevation at cell 8: .*missing"),
    "missing identifier": (value("subbasin", 1, np.nan), "subbasin at position 2: .*missing"),
    "missing downstream": (value("downstream", 1, np.nan), "downstream at subbasin 2: .*missing"),
    "missing cover": (own_vegetation(vegetation_cover=np.full((9, 12), np.nan)), "vegetation_cover at vegetation 1, "
                      "month 1: .*missing"),
    "missing rain": (value("precipitation", (3, 1), np.nan), r"precipitation in cell 8 at 2010-01-04: missing .*\(1 "
                     r"such value\); fill or correct"),
    "infinite rain": (value("precipitation", (3, 1), np.inf), "precipitation in cell 8 at 2010-01-04: infinite"),
    "missing temperature": (value("air_temperature", (0, 0), np.nan), "air_temperature in cell 7 at 2010-01-01: miss"),
    "missing wind on all days": (value("wind_speed", (slice(2, None), 0), np.nan), r"wind_speed in cell 7 at 2010-01-03"
                                 r": missing .*\(4 such values\)"),
    "text in lengths": (text("reach_length"), "reach_length holds text, expected numbers"),
    "text in identifiers": (text("unit"), "unit holds text, expected numbers"),
    "text in rain": (text("precipitation"), "precipitation holds text, expected numbers"),
    "text in cells": (text("cell"), "cell holds text, expected numbers"),

    # numbers out of range
    "negative area": (value("unit_area", 3, -5.0), r"unit_area at unit 103: -5 km2 is outside 1e-06 to 1e\+06 km2"),
    "zero slope of a reach": (value("reach_slope", 0, 0.0), "reach_slope at subbasin 1: 0 is outside 1e-06 to 1"),
    "zero width": (value("reach_width", 0, 0.0), "reach_width at subbasin 1: 0 m is outside 0.1 to"),
    "zero length": (value("reach_length", 0, 0.0), "reach_length at subbasin 1: 0 m is outside 1 to"),
    "zero flow length": (value("unit_flow_length", 0, 0.0), "unit_flow_length at unit 100: 0 m is outside"),
    "negative slope": (value("unit_slope", 0, -0.1), "unit_slope at unit 100: -0.1 is outside 0 to 10"),
    "zero thickness": (value("soil_thickness", (0, 2), 0.0), "soil_thickness at unit 100, layer 3: 0 m is outside"),
    "negative share of land": (value("land_fraction", (0, 0), -0.05), "land_fraction at unit 100, water: -0.05 is out"),
    "share a little above one": (value("land_fraction", (0, 0), 1.0000004), "land_fraction at unit 100, water: "
                                 "1.0000004 is outside 0 to 1"),
    "order zero": (value("unit_order", 0, 0), "unit_order at unit 100: 0 is outside 1 to 1000"),
    "latitude in gon": (value("unit_latitude", 0, 100.0), "unit_latitude at unit 100: 100 .*is outside -90 to 90"),
    "negative rain": (value("precipitation", (2, 0), -3.0), r"precipitation in cell 7 at 2010-01-03: -3 mm d-1 is "
                      r"outside 0 to 86400 mm d-1"),
    "slightly negative rain": (value("precipitation", (2, 0), -0.05), "precipitation in cell 7 at .*: -0.05 mm"),
    "sunny night": (value("sunshine_duration", (2, 0), 25.0), "sunshine_duration .*: 25 h is outside 0 to 24 h"),
    "humidity of 130 %": (value("relative_humidity", (2, 0), 130.0), "relative_humidity in cell 7 .* 130 % is outside"),

    # identifiers
    "sub-basin twice": (both(value("subbasin", 1, 1), value("unit_subbasin", slice(2, 4), 1),
                             everywhere("unit_order", [1, 3, 2, 4, 1, 2, 1, 2]),
                             everywhere("unit_elevation", [9.0] * 8)), "subbasin 1 stands 2 times"),
    "unit twice": (value("unit", 1, 100), "unit 100 stands 2 times"),
    "cell twice": (both(value("cell", 1, 7), everywhere("unit_cell", [7] * 8)), "cell 7 stands 2 times"),
    "gauge twice": (value("gauge", 1, 1), "gauge 1 stands 2 times"),
    "negative sub-basin": (both(value("subbasin", 0, -5), value("unit_subbasin", slice(0, 2), -5)),
                           "subbasin -5 is negative"),
    "half an identifier": (value("unit", 1, 100.5), "unit at position 2: 100.5 is not a whole number"),
    "half a downstream": (value("downstream", 0, 2.5), "downstream at subbasin 1: 2.5 is not a whole number"),
    "huge identifier": (value("subbasin", 3, 1e300), r"subbasin at position 4: 1e\+300 is too large"),
    "identifier beyond 64 bit": (updated("unit", "unit", np.arange(8, dtype="u8") + 2**63 + 5),
                                 "unit at position 1: 9223372036854775813 is too large"),
    "unit of no sub-basin": (value("unit_subbasin", 3, 77), "unit_subbasin of unit 103 is 77, but there is no such s"),
    "unit of no cell": (value("unit_cell", 3, 77), "unit_cell of unit 103 is 77, but there is no such cell"),
    "gauge of no sub-basin": (value("gauge_subbasin", 1, 77), "gauge_subbasin of gauge 2 is 77"),
    "downstream of nothing": (value("downstream", 0, 77), "downstream of subbasin 1 is 77, but there is no such"),
    "fill value as downstream": (value("downstream", 0, -2147483647), "downstream of subbasin 1 is -2147483647.*-1"),
    "sub-basin without unit": (lambda data: data.isel(unit=slice(2, None)), "subbasin 1 has no unit"),

    # network
    "reach into itself": (value("downstream", 0, 1), r"cycle of 1 sub-basin\(s\): 1 -> 1; .*outlet"),
    "two in a circle": (value("downstream", 3, 3), r"cycle of 2 sub-basin\(s\): (3 -> 4 -> 3|4 -> 3 -> 4)"),
    "no outlet": (value("downstream", 3, 1), r"cycle of 3 sub-basin\(s\)"),
    "a long circle": (network(*range(2, 41), 1), r"cycle of 40 sub-basin\(s\): .* -> \.\.\.;"),
    "a circle beside a river": (network(2, -1, 4, 5, 3), r"cycle of 3 sub-basin\(s\): 3 -> 4 -> 5 -> 3"),

    # bands, land, soil
    "two bands in one place": (value("unit_order", 1, 1), "unit_order 1 stands twice in subbasin 1"),
    "bands upside down": (everywhere("unit_order", [2, 1] * 4), "unit 100 of subbasin 1 lies at 400 m, above unit 101"),
    "land beyond one": (value("land_fraction", (4, 0), 0.06), "land_fraction of unit 104 adds to 1.01, not 1"),
    "land in percent": (attribute("land_fraction", "units", "%"), r"land_fraction of unit 100 adds to 0.01, not 1 \(8"),
    "too much vegetation": (both(everywhere("tall_fraction", [0.7] * 8), everywhere("short_fraction", [0.4] * 8)),
                            "tall_fraction and short_fraction of unit 100 add to 1.1, above 1"),
    "no such vegetation": (everywhere("tall_vegetation", [0] * 7 + [9]), "tall_vegetation of unit 107 is 9, but there "
                           "are 9 kinds, numbered from 0"),
    "negative vegetation": (everywhere("short_vegetation", [0] * 7 + [-1]), "short_vegetation at unit 107: -1 is outs"),
    "layers upside down": (updated("soil_layer", "soil_layer", [3, 2, 1]),
                           "soil_layer does not rise: the layers are upside down"),
    "wilting above capacity": (value("wilting_point", (1, 0), 0.4), "wilting_point 0.4 is not below field_capacity 0.2"
                               r".* in layer 1 of unit 101"),
    "residual above wilting": (value("residual_water_content", (1, 0), 0.3), "residual_water_content 0.3 is not below "
                               "wilting_point"),
    "capacity above saturation": (value("field_capacity", (1, 2), 0.5), "field_capacity 0.5 is not below saturated_wat"
                                  ".* 0.41 in layer 3 of unit 101"),
    "wilting at capacity": (lambda data: put(data, "wilting_point", data["field_capacity"].values - 1e-4),
                            "wilting_point .* of unit 100 .*no retention curve fits"),
    "water above saturation": (everywhere("initial_soil_moisture", np.full(LAYERED, 0.6)), "initial_soil_moisture 0.6 "
                               "is above saturated_water_content 0.41 in layer 1 of unit 100"),
    "curve out of range": (whole_curve(mualem_n=0.5), "mualem_n at unit 100, layer 1: 0.5 is outside"),

    # options in the file
    "option out of range": (option("rs_max", 50.0, "s m-1"), "rs_max: 50 s m-1 is outside 100 to"),
    "option without unit": (option("rs_max", 4000.0), "rs_max: the attribute units is missing"),
    "option in a wrong unit": (option("rs_max", 4000.0, "m"), "rs_max: 'm' does not convert"),
    "option that is no number": (option("rs_max", np.nan, "s m-1"), "rs_max is not a finite number"),
    "option by an unknown name": (option("infiltration_switch", "sometimes"), "infiltration_switch is 'sometimes', "
                                  "expected a number or one of daily_depth, rate"),
    "number as text": (option("rs_max", "4000"), "rs_max is '4000', expected a number"),
    "half a switch": (option("infiltration_switch", 1.5), "infiltration_switch: 1.5 is not a whole number"),
    "unknown switch": (option("infiltration_switch", 7), "infiltration_switch: 7 is outside 0 to 4"),
    "option per unit": (updated("rs_max", "unit", np.full(8, 5000.0), units="s m-1"),
                        r"rs_max has dimensions \('unit',\), but an option is one number"),

    # time
    "gap": (times([0, 1, 2, 4, 5, 6]), r"time has a gap after 2010-01-03.*\(the next is 2010-01-05"),
    "duplicate": (times([0, 1, 2, 2, 3, 4]), "time has a duplicate after 2010-01-03"),
    "reversed": (times([5, 4, 3, 2, 1, 0]), "time goes back after 2010-01-06"),
    "one step back": (times([0, 1, 3, 2, 4, 5]), "time .*after 2010-01-02"),
    "missing time": (times([0, 1, np.nan, 3, 4, 5]), r"time has 1 missing value\(s\), the first at position 3"),
    "time of another age": (times([0, 1, 2, 1e300]), "time has a gap after 2010-01-03"),
    "time beyond any calendar": (times([1e300, 2e300]), "time .*cannot be read"),
    "time slowly adrift": (times(np.arange(400) * (1 + 5e-6)), "time drifts away from steps of 86400 s, "
                           "by 172.*until 2011-02-04"),
    "all at once": (times([0, 0, 0, 0]), "time has a duplicate after 2010-01-01"),
    "time without units": (no_attribute("time", "units"), "time has units None: write them as 'days since"),
    "time in months": (attribute("time", "units", "months since 2010-01-01"), "time has units 'months since"),
    "time in days": (attribute("time", "units", "days"), "time has units 'days': write"),
    "time since nothing": (attribute("time", "units", "days since the flood"), "time has units 'days since the flood'"),
    "time since a year": (attribute("time", "units", "days since 2010"), "time has units 'days since 2010': write"),
    "time since a zone": (attribute("time", "units", "days since 2010-01-01 00:00 CET"), "time has units .*CET'"),
    "time since a thirteenth month": (attribute("time", "units", "days since 2010-13-01"), "time units .*cannot be"),
    "calendar of 360 days": (attribute("time", "calendar", "360_day"), "time has calendar '360_day': use one of stand"),
    "unknown calendar": (attribute("time", "calendar", "lunar"), "time has calendar 'lunar'"),
    "steps of ten minutes": (times(np.arange(12) * 10, "minutes since 2010-01-01"), "step is 600 s: it must be 3600 "),
    "steps of five hours": (times(np.arange(6) * 5, "hours since 2010-01-01"), "step is 18000 s: it must .*divide a d"),
    "steps of two days": (times(np.arange(6) * 2), "step is 172800 s: it must be 3600 to 86400 s"),
    "one step": (times([0]), "the forcing has one step only, .*give at least two"),
    "text as time": (text("time"), "time must be one list of numbers"),
    "hours without longitude": (both(times(np.arange(6), "hours since 2010-01-01"), drop("unit_longitude"),
                                     everywhere("sunshine_duration", np.zeros((6, 2)))),
                                "unit_longitude is missing: steps shorter than a day"),
    "an hour with five hours of sun": (both(times(np.arange(6), "hours since 2010-01-01"),
                                            everywhere("sunshine_duration", np.full((6, 2), 5.0))),
                                       "sunshine_duration in cell 7 at 2010-01-01T00:00: 5 h is outside 0 to 1 h"),

    # other text
    "names of other gauges": (updated("gauge_name", "subbasin", list("abcd")),
                              r"gauge_name has dimensions \('subbasin',\), expected \('gauge',\)"),
    "names of kinds that are not there": (updated("vegetation_name", "vegetation", ["x", "y"]),
                                          "vegetation_name .*vegetation table"),
}


def broken(name: str) -> xr.Dataset:
    data = valid()
    made = BROKEN[name][0](data)
    return data if made is None else made


def listing(folder: Path) -> dict[str, int]:
    return {path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in folder.rglob("*")}


def refused(path: Path, pattern: str, **arguments: object) -> None:
    """Assert that a run is refused with one message that matches, and that it leaves its folder as it was."""
    folder = path.parent
    before = listing(folder)
    with pytest.raises(WeplError) as caught:
        run(Basin.open(path), **{"output": folder / "result.nc", "quiet": True, **arguments})
    message = str(caught.value)
    assert caught.value.exit_code == 2, message
    assert re.search(pattern, message), f"{message!r} lacks {pattern!r}"
    assert len(getattr(caught.value, "problems", ())) <= 1, message
    assert listing(folder) == before


def commands_refuse(path: Path, pattern: str, *commands: tuple[object, ...]) -> None:
    """Assert that commands end with status 2 and one message, without a traceback, and leave their folder as it was."""
    before = listing(path.parent)
    for command in commands or (("check", path), ("run", path, "-o", path.parent / "result.nc", "--quiet")):
        done = CliRunner().invoke(app, [str(word) for word in command])
        shown = done.stdout + done.stderr
        assert done.exit_code == 2, (shown, done.exception)
        assert re.search(pattern, shown), shown
        assert "Traceback" not in shown and "fault of wepl" not in shown
    assert listing(path.parent) == before


def test_the_valid_basin_is_valid(tmp_path):
    assert all(check.passed for check in inspect(write(valid(), tmp_path / "basin.nc")))
    assert all(check.passed for check in Basin.from_dataset(valid(hourly=True)).validate())


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_basin_is_refused(name, tmp_path):
    data, pattern = broken(name), BROKEN[name][1]
    refused(write(data, tmp_path / "basin.nc"), pattern)
    with pytest.raises(InputError, match=pattern):
        Basin.from_dataset(data).check_forcing()


@pytest.mark.parametrize("name", ["no downstream", "two in a circle", "missing rain", "percent as share", "gap",
                                  "negative area", "text in rain", "huge identifier"])
def test_the_commands_refuse_a_broken_basin(name, tmp_path):
    commands_refuse(write(broken(name), tmp_path / "basin.nc"), BROKEN[name][1])


def test_all_problems_are_told_at_once(tmp_path):
    data = valid()
    for change in (value("reach_length", 0, np.nan), value("unit_area", 2, -1.0), value("wilting_point", (3, 1), 2.0)):
        change(data)
    path = write(data, tmp_path / "basin.nc")
    with pytest.raises(BasinError) as caught:
        Basin.open(path)
    assert len(caught.value.problems) == 3
    assert [line for line in caught.value.problems if line not in str(caught.value)] == []
    assert sum(not check.passed for check in inspect(path)) == 2


# Files that are damaged, or are something else.

def empty(path: Path) -> None:
    path.touch()


def words(path: Path) -> None:
    path.write_text("a list of reaches\n")


def signature_only(path: Path) -> None:
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(range(256)))


def folder(path: Path) -> None:
    path.mkdir()


def cut(share: float, kind: str = "NETCDF4") -> Callable[[Path], None]:
    """The valid file, cut short."""
    def make(path: Path) -> None:
        write(valid(days=200), path, kind)
        with path.open("r+b") as file:
            file.truncate(int(path.stat().st_size * share))
    return make


def torn(path: Path) -> None:
    """The valid file with one wrong byte in the rain, which carries a checksum."""
    data = valid()
    write(data, path, precipitation={"fletcher32": True, "chunksizes": (6, 2), "_FillValue": None})
    content = path.read_bytes()
    place = content.index(data["precipitation"].values.tobytes()) + 20
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1:])


def nothing_inside(path: Path) -> None:
    netCDF4.Dataset(path, "w").close()


def of_wepl(content: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with netCDF4.Dataset(path, "w") as file:
            file.wepl_content = content
    return make


def absent(path: Path) -> None:
    """No file at all."""


DAMAGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "absent": (absent, "there is no file .*basin.nc; check the name"),
    "empty": (empty, "basin.nc is empty; give a basin file"),
    "text": (words, "basin.nc is not a netCDF file; give"),
    "a folder": (folder, "basin.nc is a folder; give a basin file"),
    "a signature and no more": (signature_only, "basin.nc cannot be read as netCDF .*damaged or cut short"),
    "a result": (of_wepl("result"), "basin.nc is a result file of wepl, not a basin"),
    "a state": (of_wepl("state"), "basin.nc is a state file of wepl, not a basin"),
    "torn": (torn, "basin.nc: precipitation cannot be read .*damaged"),
    **{f"{kind} cut at {share:.1%}": (cut(share, kind), "basin.nc (cannot be read|is not|is cut short)")
       for kind in ("NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT") for share in (0.001, 0.05, 0.3, 0.6, 0.9, 0.999)},
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused(name, tmp_path):
    path = tmp_path / "basin.nc"
    DAMAGED[name][0](path)
    refused(path, DAMAGED[name][1])
    if "NETCDF" not in name:
        commands_refuse(path, DAMAGED[name][1])


def test_a_netcdf_file_of_something_else(tmp_path):
    nothing_inside(tmp_path / "basin.nc")
    commands_refuse(tmp_path / "basin.nc", "subbasin is missing")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind here")
def test_a_file_that_may_not_be_read(tmp_path):
    path = write(valid(), tmp_path / "basin.nc")
    path.chmod(0)
    refused(path, "basin.nc cannot be read: .*check its permissions")


# Weather in other files.

def apart(basin: Path, pattern: str = "weather*.nc", halves: bool = True,
          change: Callable[[list[xr.Dataset]], list[xr.Dataset] | None] = lambda parts: None) -> None:
    data, weather = outside(valid(), pattern)
    parts = [weather.isel(time=slice(0, 3)), weather.isel(time=slice(3, None))] if halves else [weather]
    parts = [part.copy(deep=True) for part in parts]
    for number, part in enumerate(change(parts) or parts):
        write(part, basin.parent / f"weather_{number}.nc")
    write(data, basin)


def second(change: Break) -> Callable[[list[xr.Dataset]], list[xr.Dataset]]:
    """Break the second of two files."""
    def make(parts: list[xr.Dataset]) -> list[xr.Dataset]:
        made = change(parts[1])
        return [parts[0], parts[1] if made is None else made]
    return make


APART: dict[str, tuple[Callable[[list[xr.Dataset]], list[xr.Dataset] | None], str]] = {
    "gap": (second(lambda part: part.isel(time=slice(1, None))), "precipitation: a gap between .*weather_0.nc and .*wea"
            "ther_1.nc: the next step should start at 2010-01-04"),
    "overlap": (second(times([2, 3, 4])), "precipitation: an overlap between .*weather_0.nc and .*weather_1.nc"),
    "the same twice": (lambda parts: [*parts, parts[1]], "precipitation: an overlap between .*weather_[12].nc"),
    "other step": (second(times([72, 73, 74], "hours since 2010-01-01")), "files differ in their step .3600 s, 86400"),
    "other calendar": (second(attribute("time", "calendar", "noleap")), "different calendars: .*noleap in .*_1.nc"),
    "a cell less": (second(lambda part: part.isel(cell=[0])), "weather_1.nc: precipitation lacks 1 cell.*cell 8"),
    "a cell twice": (second(value("cell", 1, 7)), "weather_1.nc: cell 7 stands twice"),
    "no cells": (second(drop("cell")), "weather_1.nc: the variable cell .* is missing"),
    "text as cells": (second(text("cell")), "weather_1.nc: cell must be a list of whole numbers"),
    "half a cell": (second(value("cell", 1, 7.5)), "weather_1.nc: cell must be a list of whole numbers"),
    "no time": (second(drop("time")), "weather_1.nc: the variable time is missing"),
    "text as time": (second(text("time")), "weather_1.nc: time must be one list of numbers"),
    "no unit": (second(no_attribute("precipitation", "units")), "precipitation: the attribute units is missing"),
    "text as rain": (second(text("precipitation")), "weather_1.nc: precipitation holds text"),
    "rain per unit": (second(redimensioned("precipitation", "time", "unit", shape=(3, 8))),
                      r"weather_1.nc: precipitation has dimensions \('time', 'unit'\)"),
    "a variable less": (second(drop("wind_speed")), "wind_speed goes from 2010-01-01 in 3 steps .* but precipitation "
                        ".* in 6"),
    "a variable nowhere": (lambda parts: [part.drop_vars("wind_speed") for part in parts], "wind_speed is missing"),
    "a missing value": (second(value("wind_speed", (1, 0), np.nan)), "wind_speed in cell 7 at 2010-01-05: missing"),
}


@pytest.mark.parametrize("name", APART)
def test_broken_weather_files_are_refused(name, tmp_path):
    apart(tmp_path / "basin.nc", change=APART[name][0])
    refused(tmp_path / "basin.nc", APART[name][1])


@pytest.mark.parametrize("pattern, message", [
    ("rain.nc", "the attribute forcing names 'rain.nc', but no such file lies in"),
    ("weather_0.nc rain*.nc", "the attribute forcing names 'rain.*.nc', but no such file"),
    ("/nowhere/rain.nc", "the attribute forcing names '/nowhere/rain.nc', but no such file"),
    (".", "the attribute forcing names '.', "),
    ("weather**", "the attribute forcing names 'weather.*'"),
    ("weather_0.nc weather_0.nc", "an overlap between"),
    ("  ", "the basin has no forcing"),
])
def test_a_forcing_attribute_that_names_no_weather(pattern, message, tmp_path):
    apart(tmp_path / "basin.nc", pattern, halves=False)
    refused(tmp_path / "basin.nc", message)


@pytest.mark.parametrize("make", [words, empty, signature_only, cut(0.5)])
def test_a_damaged_weather_file_is_refused(make, tmp_path):
    apart(tmp_path / "basin.nc", halves=False)
    make(tmp_path / "weather_1.nc")
    refused(tmp_path / "basin.nc", "weather_1.nc: the forcing file cannot be read .*make or copy it again")


def test_weather_inside_and_outside_overlap(tmp_path):
    apart(tmp_path / "basin.nc", halves=False)
    data = valid()
    data.attrs["forcing"] = "weather_0.nc"
    refused(write(data, tmp_path / "basin.nc"), "precipitation: an overlap between .*basin.nc and .*weather_0.nc")


# Arguments of a run over a good basin.

ARGUMENTS: dict[str, tuple[dict[str, object], str]] = {
    "starts before the forcing": ({"start": "2009-12-31"}, "2009-12-31 lies outside the forcing, which goes from 2010-0"
                                  "1-01 to 2010-01-06"),
    "ends after the forcing": ({"end": "2010-01-07"}, "2010-01-07 lies outside the forcing"),
    "ends before it starts": ({"start": "2010-01-04", "end": "2010-01-03"}, "would end .* before it starts"),
    "no date": ({"start": "spring"}, "'spring' is not a date: write 2010-07-31"),
    "no such day": ({"start": "2010-02-30"}, "'2010-02-30' is not a date of the standard calendar"),
    "unknown option": ({"options": {"speed": "3"}}, "unknown option speed: choose from"),
    "option out of range": ({"options": {"rs_max": "3"}}, "option rs_max = 3 is outside 100 to"),
    "option that is no number": ({"options": {"rs_max": "fast"}}, "option rs_max: 'fast' is not a number"),
    "option that is not finite": ({"options": {"rs_max": "nan"}}, "option rs_max = nan is outside"),
    "unknown switch": ({"options": {"energy_balance": "perhaps"}}, "'perhaps' is not one of none, force_restore"),
    "no block": ({"block_days": 0}, "--block-days 0 is shorter"),
    "no threads": ({"threads": 0}, "--threads 0: give a number from 1"),
    "unknown variable": ({"variables": ["gold"]}, "unknown output variable gold: choose from"),
    "routing step": ({"options": {"routing_step": "50000"}}, "routing_step is 50000 s, .*give a divisor of 86400"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_cannot_be_are_refused(name, tmp_path):
    arguments, pattern = ARGUMENTS[name]
    refused(write(valid(), tmp_path / "basin.nc"), pattern, **arguments)


def test_places_where_no_result_can_stand(tmp_path):
    path = write(valid(), tmp_path / "basin.nc")
    content = path.read_bytes()
    apart(tmp_path / "other.nc", halves=False)
    (tmp_path / "results.nc").mkdir()
    refused(path, "the result would overwrite the basin", output=path)
    refused(path, "the folder .*nowhere does not exist", output=tmp_path / "nowhere" / "result.nc")
    refused(path, "results.nc is a folder", output=tmp_path / "results.nc")
    refused(tmp_path / "other.nc", "weather_0.nc exists and is not a result", output=tmp_path / "weather_0.nc")
    assert path.read_bytes() == content


def test_nothing_is_compiled_for_a_broken_basin(tmp_path):
    """A refusal comes at once: no kernel, and no function that the checks share with kernels, is compiled for it."""
    basins = [write(broken(name), tmp_path / f"{number}.nc") for number, name in enumerate(
        ["negative area", "two in a circle", "wilting above capacity", "wilting at capacity", "missing rain", "gap"])]
    good = write(valid(), tmp_path / "good.nc")
    script = f"""
from numba.core import event
from wepl import InputError, run
with event.install_recorder("numba:compile") as compiled:
    for basin, options in [(name, {{}}) for name in {[str(path) for path in basins]}] + [
            ({str(good)!r}, dict(start="1999-01-01")), ({str(good)!r}, dict(options=dict(rs_max=-1)))]:
        try:
            run(basin, output={str(tmp_path / "result.nc")!r}, **options)
        except InputError:
            continue
        raise SystemExit(f"{{basin}} was run")
print(len(compiled.buffer))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "WEPL_CACHE_DIR": str(tmp_path / "cache")})
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
