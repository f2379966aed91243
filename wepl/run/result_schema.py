"""What a result file holds: which variables can be written, where they stand, and with which attributes."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

import numpy as np

import wepl
from wepl import registry
from wepl.errors import InputError
from wepl.registry import Variable
from wepl.units import convert

ALWAYS = ("discharge", "gauge_discharge")
PLACES = ("subbasin", "unit", "gauge")
_WRITABLE_DIMS = {
    ("tile",): ("unit",),
    ("soil_layer", "tile"): ("soil_layer", "unit"),
    ("unit", "soil_layer"): ("soil_layer", "unit"),
    ("unit",): ("unit",),
    ("subbasin",): ("subbasin",),
    ("river_cell",): ("subbasin",),
    ("gauge",): ("gauge",),
}
# Facts of the basin that are written beside the values, per place.
_FACTS = {
    "subbasin": ("downstream", "subbasin_longitude", "subbasin_latitude"),
    "unit": ("unit_subbasin", "unit_area", "unit_elevation", "unit_longitude", "unit_latitude"),
    "gauge": ("gauge_subbasin",),
}
# The registry's name is not in the CF table (version 93); this one is.
_STANDARD_NAMES = {"evapotranspiration": "lwe_thickness_of_water_evaporation_amount"}
_COORDINATES = {"subbasin": ("subbasin_latitude", "subbasin_longitude"), "unit": ("unit_latitude", "unit_longitude")}
Places = dict[str, dict[str, tuple[np.ndarray, dict[str, Any]]]]


def version() -> str:
    """Version of the package."""
    given = getattr(wepl, "__version__", "")
    if given:
        return str(given)
    try:
        return metadata.version("wepl")
    except metadata.PackageNotFoundError:
        return "0+unknown"


def writable() -> list[str]:
    """Names of all variables that a result file can hold, in the registry's order."""
    kinds = ("state", "flux", "diagnostic")
    return [entry.name for entry in registry.TABLE if entry.kind in kinds and entry.dims in _WRITABLE_DIMS]


def file_dims(name: str) -> tuple[str, ...]:
    """Dimensions of a variable in a result file, without time, e.g. ``("soil_layer", "unit")``.

    Tile values are written as unit values, values of river cells summed over the sub-basin's reach.
    """
    return _WRITABLE_DIMS[registry.variable(name).dims]


def choose(variables: Iterable[str]) -> list[str]:
    """The chosen variables, each once, without those that are always written.

    Raises
    ------
    InputError
        A name is not in the registry or cannot be written.
    """
    known = writable()
    chosen = []
    for name in dict.fromkeys(variables):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            advice = f"did you mean {', '.join(near)}?" if near else f"choose from: {', '.join(known)}"
            raise InputError(f"the variable {name!r} cannot be written to a result; {advice}")
        if name not in ALWAYS:
            chosen.append(name)
    return chosen


def scale(entry: Variable) -> tuple[float, float]:
    """Factor and offset from the internal unit of a variable to its unit in files."""
    if entry.units == entry.file_units:
        return 1.0, 0.0
    zero, one = convert(np.array([0.0, 1.0]), entry.units, entry.file_units, entry.name)
    return float(one - zero), float(zero)


def variable_attributes(entry: Variable) -> dict[str, Any]:
    """CF attributes of a variable with a time dimension, made from its registry entry."""
    attributes: dict[str, Any] = {"long_name": entry.long_name, "units": entry.file_units}
    standard_name = _STANDARD_NAMES.get(entry.name, entry.standard_name)
    if standard_name:
        attributes["standard_name"] = standard_name
    if entry.file_units == "degC":
        attributes["units_metadata"] = "temperature: on_scale"
    dims = file_dims(entry.name)
    methods = []
    if entry.kind == "flux" or entry.name in ("evapotranspiration", "runoff"):
        methods.append("time: sum")
    elif entry.array == "series" or entry.name == "gauge_discharge":
        methods.append("time: mean")
    else:
        attributes["comment"] = "value at the end of the step, the second bound of time"
    if "unit" in dims:
        methods.append("area: mean")
        if entry.average == "soil":
            note = "mean over the unit's ground with soil"
            attributes["comment"] = "; ".join(filter(None, (attributes.get("comment"), note)))
    if methods:
        attributes["cell_methods"] = " ".join(methods)
    return attributes


def fact(parameters: Any, name: str) -> tuple[np.ndarray, dict[str, Any]]:
    """A fact of the basin in file units, with its attributes."""
    entry = registry.variable(name)
    values = np.asarray(parameters[name].values)
    factor, offset = scale(entry)
    if not entry.integer:
        values = values * factor + offset
    attributes = {"long_name": entry.long_name}
    if not entry.integer:
        attributes["units"] = entry.file_units
    if entry.standard_name:
        attributes["standard_name"] = entry.standard_name
    return values, attributes


def places(parameters: Any) -> Places:
    """Per place dimension the variables (values, attributes) that describe it; the identifier comes first."""
    described: Places = {}
    for place in PLACES:
        if place not in parameters or parameters[place].size == 0:
            continue
        values, attributes = fact(parameters, place)
        # CF allows one variable with a role: each sub-basin has discharge, units and gauges lie in sub-basins.
        role = {"cf_role": "timeseries_id"} if place == "subbasin" else {}
        described[place] = {place: (values, {**attributes, **role})}
        for name in _FACTS[place]:
            if name in parameters and not _absent(parameters[name].values):
                described[place][name] = fact(parameters, name)
    if "gauge" in described and "gauge_name" in parameters:
        names = np.asarray(parameters["gauge_name"].values)
        described["gauge"]["gauge_name"] = (names, {"long_name": "name of the gauge"})
    return described


def _absent(values: np.ndarray) -> bool:
    return values.dtype.kind == "f" and not np.isfinite(values).any()


def coordinates(dims: tuple[str, ...], described: Mapping[str, Mapping[str, Any]]) -> str:
    """The ``coordinates`` attribute of a variable on ``dims``: latitude and longitude where the basin has both."""
    place = dims[-1]
    names = [name for name in _COORDINATES.get(place, ()) if name in described.get(place, {})]
    if len(names) < 2:
        names = []
    if "gauge_name" in described.get(place, {}):
        names.append("gauge_name")
    return " ".join(names)


def option_attributes(options: Mapping[str, float]) -> dict[str, Any]:
    """Attributes that record the options: one for each that is not at its default, and all together as JSON.

    Values are in the registry's internal units; switches stand by the name of their choice.
    """
    readable = {}
    for entry in registry.of_kind("option"):
        value = options.get(entry.name, entry.default)
        if value is None:
            continue
        readable[entry.name] = entry.choices[int(value)] if entry.choices else float(value)
    changed = {
        f"option_{entry.name}": readable[entry.name]
        for entry in registry.of_kind("option")
        if entry.name in options and options[entry.name] != entry.default
    }
    return {**changed, "options": json.dumps(readable), "options_comment": "values in SI units; see the registry"}


def chunk_shape(n_time: int, place_shape: tuple[int, ...], item_bytes: int) -> tuple[int, ...]:
    """Shape of a file chunk, from the sizes of the variable alone.

    About 1 MiB; at least 32 steps where the buffer of that many steps (all places) stays within 8 MiB, so that the
    series of one place can be read without unpacking the file step by step.
    """
    row = max(1, int(np.prod(place_shape))) * item_bytes
    steps = max(1, 2**20 // row, min(32, 2**23 // row))
    steps = _even(n_time, steps)
    return (steps, *(1 for _ in place_shape[:-1]), _even(place_shape[-1], 2**20 // (steps * item_bytes)))


def _even(size: int, longest: int) -> int:
    """Length of equal pieces of ``size``, at most ``longest``, so that the last chunk is not mostly empty."""
    if size <= 0:
        return 1
    pieces = math.ceil(size / max(1, longest))
    return math.ceil(size / pieces)
