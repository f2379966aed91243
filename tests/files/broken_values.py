"""Basins of wrong numbers: none at all, or out of range; how each is broken and what is said."""

from __future__ import annotations

import numpy as np
from spoil import Break, own_vegetation, text, value

BROKEN: dict[str, tuple[Break, str]] = {
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
}
