"""Basins of a wrong structure: what is missing, dimensions, units; how each is broken and what is said."""

from __future__ import annotations

from basins import FORCING, put
from spoil import (
    Break,
    attribute,
    both,
    drop,
    no_attribute,
    own_vegetation,
    part_of_vegetation,
    redimensioned,
    resized,
    whole_curve,
)

from wepl import registry

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
}
