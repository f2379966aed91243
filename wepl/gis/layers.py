"""Layers of a result or basin: places with a shape in WGS 84 and a value of each variable at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from wepl.analysis import maps, network, result
from wepl.basin.polygons import is_hole, read_polygons
from wepl.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Name = Literal["subbasins", "units", "network", "gauges"]
Geometry = dict[str, Any]
HOW = ("mean", "sum", "min", "max")
_FACTS = {"subbasins": ("downstream",), "units": ("unit_subbasin", "unit_elevation"), "gauges": ("gauge_subbasin",)}
_PLACE = {"subbasins": "subbasin", "units": "unit", "gauges": "gauge"}
_DIGITS = 6


@dataclass(frozen=True)
class Layer:
    """One layer: a row of ``table`` and a GeoJSON geometry (None where the file tells none) per place.

    ``shape`` is ``MultiPolygon``, ``Point`` or ``LineString``; None where no place has a geometry.
    """

    name: Name
    table: pd.DataFrame
    geometries: list[Geometry | None]
    shape: str | None


def layers(data: xr.Dataset, variables: Sequence[str] = (), time: str | None = None,
           how: str | None = None) -> dict[Name, Layer]:
    """All layers of a result or basin.

    Parameters
    ----------
    data : xarray.Dataset
        A result or basin file as xarray opens it.
    variables : sequence of str
        Variables of units or sub-basins; all series of a result when empty. Those of units stand in the layer of
        sub-basins as means by area.
    time : str, optional
        See :func:`wepl.analysis.maps.aggregate`.
    how : {"mean", "sum", "min", "max"}, optional
        What to do with the steps of that time; sum for fluxes and mean for the rest when None.

    Returns
    -------
    dict of str to Layer
        ``subbasins``, ``units``, ``network`` (lines between the centres of sub-basins) and ``gauges``, as far as the
        file has them. A column's name ends with its unit, such as ``evapotranspiration_mm``.

    Raises
    ------
    InputError
        A variable is unknown or stands at no place of a layer, or no step lies in the time.
    """
    if how is not None and how not in HOW:
        raise InputError(f"how={how!r}: choose {', '.join(HOW)}")
    names = list(dict.fromkeys(variables)) or _all_series(data)
    of_units: dict[str, xr.DataArray] = {}
    of_subbasins: dict[str, xr.DataArray] = {}
    for name in names:
        for column, values in _columns(data, name, time, how):
            if values.dims == ("unit",):
                of_units[column] = values
            of_subbasins[column] = network.to_subbasins(data, values)
    found: dict[Name, Layer] = {"subbasins": _subbasins(data, of_subbasins), "units": _units(data, of_units)}
    reaches = _network(data)
    if reaches is not None:
        found["network"] = reaches
    if "gauge" in data.variables:
        found["gauges"] = _gauges(data, time, how)
    return found


def column_name(name: str, units: str) -> str:
    """A column's name with its unit in letters and digits: ``discharge_m3_per_s``."""
    above: list[str] = []
    below: list[str] = []
    for part in units.split():
        match = re.fullmatch(r"([A-Za-z_%]+)(-?)([0-9/]*)", part)
        symbol, sign, power = match.groups() if match else (part, "", "")
        (below if sign else above).append(symbol + (power if power != "1" else ""))
    words = [*above, *(["per", *below] if below else [])]
    text = re.sub(r"[^0-9A-Za-z]+", "_", "_".join(words)).strip("_")
    return f"{name}_{text}" if text and units != "1" else name


def _all_series(data: xr.Dataset) -> list[str]:
    return [str(name) for name, values in data.data_vars.items() if "time" in values.dims
            and values.dims[-1] in ("unit", "subbasin")]


def _columns(data: xr.Dataset, name: str, time: str | None, how: str | None) -> Iterator[tuple[str, xr.DataArray]]:
    """Columns of a variable: one, or one per soil layer."""
    layered = name in data.variables and "soil_layer" in data[name].dims
    count = data.sizes["soil_layer"] if layered else 1
    steady = name in data.variables and "time" not in data[name].dims
    for layer in range(1, count + 1):
        values = maps.aggregate(data, name, None if steady else time, how, layer)
        yield column_name(f"{name}_layer{layer}" if layered else name, str(values.attrs.get("units", "1"))), values


def _table(data: xr.Dataset, name: Name, columns: dict[str, xr.DataArray], area: np.ndarray | None) -> pd.DataFrame:
    import pandas as pd

    place = _PLACE[name]
    table: dict[str, Any] = {place: data[place].values}
    for fact in _FACTS[name]:
        if fact in data.variables:
            units = "1" if data[fact].dtype.kind in "iu" else str(data[fact].attrs.get("units", "1"))
            table[column_name(fact.removeprefix(f"{place}_"), units)] = data[fact].values
    if area is not None:
        table["area_km2"] = area
    return pd.DataFrame({**table, **{column: values.values for column, values in columns.items()}})


def _points(data: xr.Dataset, place: str) -> list[Geometry] | None:
    names = f"{place}_longitude", f"{place}_latitude"
    if not all(name in data.variables for name in names):
        return None
    pairs = np.round(np.stack([data[name].values for name in names], axis=1), _DIGITS)
    return [{"type": "Point", "coordinates": pair} for pair in pairs.tolist()]


def _filled(points: list[Geometry] | None, count: int) -> list[Geometry | None]:
    return [None] * count if points is None else [*points]


def _units(data: xr.Dataset, columns: dict[str, xr.DataArray]) -> Layer:
    table = _table(data, "units", columns, result.unit_areas(data))
    points = _points(data, "unit")
    return Layer("units", table, _filled(points, len(table)), "Point" if points else None)


def _subbasins(data: xr.Dataset, columns: dict[str, xr.DataArray]) -> Layer:
    table = _table(data, "subbasins", columns, result.subbasin_areas(data))
    table["upstream_area_km2"] = network.upstream_areas(data)
    polygons = read_polygons(data)
    if polygons is not None:
        return Layer("subbasins", table, [multipolygon(rings) if rings else None for _, rings in polygons],
                     "MultiPolygon")
    points = _points(data, "subbasin")
    return Layer("subbasins", table, _filled(points, len(table)), "Point" if points else None)


def multipolygon(rings: list[np.ndarray]) -> Geometry:
    """GeoJSON of a sub-basin's rings: each hole goes to the smallest outer ring around its middle."""
    outer = [ring for ring in rings if not is_hole(ring)]
    parts = [[ring.tolist()] for ring in outer]
    for hole in (ring for ring in rings if is_hole(ring)):
        boxes = [(np.ptp(ring, axis=0).prod(), place) for place, ring in enumerate(outer)
                 if (ring.min(axis=0) <= hole.min(axis=0)).all() and (ring.max(axis=0) >= hole.max(axis=0)).all()]
        parts[min(boxes)[1] if boxes else 0].append(hole.tolist())
    return {"type": "MultiPolygon", "coordinates": parts}


def _network(data: xr.Dataset) -> Layer | None:
    """Lines from the centre of each sub-basin to that of the one below."""
    import pandas as pd

    points = _points(data, "subbasin")
    below = result.downstream(data)
    inside = np.flatnonzero(below >= 0)
    if points is None or not inside.size:
        return None
    lines: list[Geometry | None] = [
        {"type": "LineString", "coordinates": [points[at]["coordinates"], points[below[at]]["coordinates"]]}
        for at in inside]
    identifiers = data["subbasin"].values
    table = pd.DataFrame({"subbasin": identifiers[inside], "downstream": identifiers[below[inside]],
                          "upstream_area_km2": network.upstream_areas(data)[inside]})
    return Layer("network", table, lines, "LineString")


def _gauges(data: xr.Dataset, time: str | None, how: str | None) -> Layer:
    table = _table(data, "gauges", {}, None)
    table.insert(1, "name", result.gauge_names(data))
    places = [result.positions(data)[int(value)] for value in data["gauge_subbasin"].values]
    table["upstream_area_km2"] = network.upstream_areas(data)[places]
    if "discharge" in data.variables:
        values = maps.aggregate(data, "discharge", time, how)
        table[column_name("discharge", str(values.attrs["units"]))] = values.values[places]
    points = _points(data, "subbasin")
    return Layer("gauges", table, [points[at] if points else None for at in places], "Point" if points else None)
