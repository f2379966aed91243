"""Basins whose numbers contradict each other: identifiers, network, bands, land, soil, options."""

from __future__ import annotations

import numpy as np
from basins import put
from spoil import LAYERED, Break, attribute, both, everywhere, network, option, updated, value, whole_curve

BROKEN: dict[str, tuple[Break, str]] = {
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
    "wilting above capacity": (value("wilting_point", (1, 0), 0.4), "wilting_point 0.4 is not below field_capacity 0.3"
                               r".* in layer 1 of unit 101"),
    "residual above wilting": (value("residual_water_content", (1, 0), 0.3), "residual_water_content 0.3 is not below "
                               "wilting_point"),
    "capacity above saturation": (value("field_capacity", (1, 2), 0.5), "field_capacity 0.5 is not below saturated_wat"
                                  ".* 0.464 in layer 3 of unit 101"),
    "wilting at capacity": (lambda data: put(data, "wilting_point", data["field_capacity"].values - 1e-4),
                            "wilting_point .* of unit 100 .*no retention curve fits"),
    "water above saturation": (everywhere("initial_soil_moisture", np.full(LAYERED, 0.6)), "initial_soil_moisture 0.6 "
                               "is above saturated_water_content 0.464 in layer 1 of unit 100"),
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
}
