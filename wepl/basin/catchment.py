"""A basin from the facts of one catchment: area, relief, land, soil, and a table of weather."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry
from wepl.basin import catchment_forcing, catchment_land, catchment_terrain
from wepl.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from wepl.basin.dataset import Basin

DEFAULT_THICKNESS = (0.2, 0.4, 1.4)
_AREA_TOLERANCE = 0.1
Curve = catchment_terrain.Hypsometry | tuple[Sequence[float], Sequence[float]]
Value = float | Sequence[float] | tuple[float | Sequence[float], str]


@dataclass(frozen=True)
class _Relief:
    """Area (km2), curve, and bands with slopes of the catchment."""

    area: float
    curve: catchment_terrain.Hypsometry
    bands: catchment_terrain.Bands
    slope: np.ndarray


def from_catchment(name: str, area: float | None, latitude: float, longitude: float, *,
                   land: Mapping[str, float] | Sequence[Mapping[str, float]], soil: catchment_land.Soil,
                   forcing: pd.DataFrame | Mapping[str, Sequence[float]],
                   hypsometry: Curve | None = None, dem: str | Path | None = None, outline: str | Path | None = None,
                   bands: int = 5, slope: float | Sequence[float] | None = None,
                   soil_thickness: Sequence[float] | None = None,
                   forcing_units: Mapping[str, str] | None = None, forcing_elevation: float | None = None,
                   start: str | None = None, step: float | str | None = None, calendar: str = "standard",
                   reach_length: float | None = None, reach_slope: float | None = None,
                   reach_width: float | None = None, hillslope_length: float | None = None, n_subbasins: int = 1,
                   parameters: Mapping[str, Value] | None = None,
                   options: Mapping[str, float | str] | None = None) -> Basin:
    """Build a basin of one catchment.

    Parameters
    ----------
    name : str
        Name of the catchment and of the gauge at its outlet.
    area : float or None
        Area, km2; None takes the area inside the outline.
    latitude, longitude : float
        Centre, degrees north and east.
    land : mapping, or sequence of one mapping per band (ridge first)
        Share of the area by land kind: the forests, grass, shrub, dry_crop, paddy, orchard, bare, urban, water
        (:data:`wepl.basin.catchment_land.LAND_KINDS`).
    soil : str, mapping, or sequence of these per layer
        USDA texture, or shares of textures.
    forcing : pandas.DataFrame or mapping of sequences
        Columns by the registry's forcing names; times from a DatetimeIndex, else from ``start`` and ``step``. A time
        is the start of its step; times are UTC where the step is shorter than a day.
    hypsometry : Hypsometry, or (elevation, share_below), optional
        Area-elevation curve: m, and share of the area below, from 0 to 1. Needed unless ``dem`` is given.
    dem, outline : path, optional
        Elevation raster and outline polygon from which curve and slopes are taken.
    bands : int
        Contour bands, 1 to 10, of equal area.
    slope : float or sequence per band (ridge first), optional
        Mean slope of the ground (tangent); needed where the curve has no slopes.
    soil_thickness : sequence of float, optional
        Thickness of the soil layers, m, top first; when None three layers of 0.2 m, 0.4 m and what is left of the soil
        depth that goes with each band's slope and elevation (:func:`wepl.basin.catchment_terrain.soil_depth`).
    forcing_units : mapping, optional
        Unit of each forcing column; the registry's file unit where none is given.
    forcing_elevation : float, optional
        Elevation to which the forcing belongs, m; the mean elevation of the catchment when None.
    start, step, calendar
        See :func:`wepl.basin.catchment_forcing.read_table`.
    reach_length, reach_slope, reach_width : float, optional
        m, tangent, m; estimated when None (:func:`wepl.basin.catchment_terrain.reach_geometry`).
    hillslope_length : float, optional
        Length of overland flow from the ridge to a channel, m; when None 1 / (2 drainage density) (Horton 1945).
    n_subbasins : int
        Equal sub-basins in a chain, each with all bands and its part of the reach.
    parameters : mapping, optional
        Any other parameter of the registry: a number, or an array over its dimensions (bands, soil layers), in the
        registry's file unit, or a pair of the value and its unit.
    options : mapping, optional
        Options of the registry, numbers in the file unit or names of choices.

    Returns
    -------
    Basin

    Raises
    ------
    InputError
        Something given cannot be used; the message says what and where.
    """
    from wepl.basin.dataset import Basin

    _check_place(latitude, longitude, n_subbasins)
    relief = _relief(area, hypsometry, dem, outline, bands, slope)
    reach = catchment_terrain.reach_geometry(relief.area, relief.curve, reach_length, reach_slope, reach_width)
    table = catchment_forcing.read_table(forcing, forcing_units, start, step, calendar)
    values = _values(relief, latitude, longitude, reach, n_subbasins)
    values["cell_elevation"] = np.array([relief.curve.mean if forcing_elevation is None else float(forcing_elevation)])
    thickness = DEFAULT_THICKNESS if soil_thickness is None else soil_thickness
    soil_values = catchment_land.soil_parameters(soil, thickness)
    for key, of_layer in soil_values.items():
        values[key] = np.tile(_to_file(key, of_layer), (bands * n_subbasins, 1))
    if soil_thickness is None:
        depth = catchment_terrain.soil_depth(relief.slope, relief.bands.elevation)
        values["soil_thickness"][:, -1] = np.tile(depth - sum(DEFAULT_THICKNESS[:-1]), n_subbasins)
    for key, of_band in catchment_land.land_parameters(land, bands).items():
        values[key] = np.concatenate([of_band] * n_subbasins)
    sizes = {"subbasin": n_subbasins, "unit": bands * n_subbasins, "soil_layer": len(soil_values["soil_thickness"]),
             "land_class": len(registry.LAND_CLASSES), "cell": 1, "band": bands}
    values.update(_more(parameters or {}, sizes))
    values["unit_flow_length"] = _flow_length(relief, values, hillslope_length, sizes)
    return Basin.from_dataset(_dataset(name, values, table, options or {}))


def _check_place(latitude: float, longitude: float, n_subbasins: int) -> None:
    for text, value, (low, high) in (("latitude", latitude, registry.variable("unit_latitude").valid),
                                     ("longitude", longitude, registry.variable("unit_longitude").valid)):
        if not low <= value <= high:
            raise InputError(f"{text} = {value!r} is outside {low:g} to {high:g} degrees")
    if not (isinstance(n_subbasins, (int, np.integer)) and n_subbasins >= 1):
        raise InputError(f"n_subbasins = {n_subbasins!r}: give a whole number from 1")


def _relief(area: float | None, hypsometry: Curve | None, dem: str | Path | None, outline: str | Path | None,
            bands: int, slope: float | Sequence[float] | None) -> _Relief:
    if hypsometry is None:
        if dem is None or outline is None:
            raise InputError("the relief is not given: give hypsometry, or dem with the outline of the catchment")
        curve = catchment_terrain.hypsometry_from_dem(dem, outline)
    elif dem is not None:
        raise InputError("hypsometry and dem are both given: leave one out")
    elif isinstance(hypsometry, catchment_terrain.Hypsometry):
        curve = hypsometry
    else:
        elevation, share_below = hypsometry
        curve = catchment_terrain.hypsometry(elevation, share_below)
    if area is None:
        area = curve.area
        if area is None:
            raise InputError("area is needed where the hypsometry does not come from a dem")
    if not (np.isfinite(area) and area > 0.0):
        raise InputError(f"area = {area!r} km2 must be above 0")
    if curve.area is not None and abs(curve.area / area - 1.0) > _AREA_TOLERANCE:
        raise InputError(f"area is {area:g} km2, but the relief covers {curve.area:.4g} km2: check the outline, or the "
                         "unit of the area")
    cut = catchment_terrain.cut_bands(curve, bands)
    return _Relief(float(area), curve, cut, _slopes(cut, bands, slope))


def _slopes(cut: catchment_terrain.Bands, bands: int, slope: float | Sequence[float] | None) -> np.ndarray:
    if slope is None:
        if cut.slope is None:
            raise InputError("slope is needed: the hypsometry does not tell how steep the ground is")
        return cut.slope
    given = np.asarray(slope, dtype=float)
    if given.shape not in ((), (bands,)):
        raise InputError(f"slope: {given.size} values were given for {bands} bands: give one, or one per band from the "
                         "ridge to the river")
    if not (np.isfinite(given) & (given >= 0.0)).all():
        raise InputError(f"slope = {slope!r}: give the tangent of the mean slope, from 0")
    return np.broadcast_to(given, (bands,)).copy()


def _values(relief: _Relief, latitude: float, longitude: float, reach: tuple[float, float, float],
            n: int) -> dict[str, np.ndarray]:
    """Topology and geometry in file units."""
    n_bands = relief.bands.share.size
    ids = np.arange(1, n + 1)
    n_units = n * n_bands
    return {
        "subbasin": ids, "downstream": np.append(ids[1:], -1),
        "subbasin_latitude": np.full(n, float(latitude)), "subbasin_longitude": np.full(n, float(longitude)),
        "unit": np.arange(1, n_units + 1), "unit_subbasin": np.repeat(ids, n_bands),
        "unit_order": np.tile(np.arange(1, n_bands + 1), n), "unit_cell": np.ones(n_units, dtype=np.int64),
        "cell": np.array([1]), "gauge": np.array([1]), "gauge_subbasin": np.array([n]),
        "reach_length": np.full(n, reach[0] / n), "reach_slope": np.full(n, reach[1]),
        "reach_width": np.full(n, reach[2]),
        "unit_area": np.tile(relief.bands.share * relief.area / n, n),
        "unit_elevation": np.tile(relief.bands.elevation, n), "unit_slope": np.tile(relief.slope, n),
        "unit_latitude": np.full(n_units, float(latitude)), "unit_longitude": np.full(n_units, float(longitude)),
    }


def _flow_length(relief: _Relief, values: Mapping[str, np.ndarray], hillslope_length: float | None,
                 sizes: Mapping[str, int]) -> np.ndarray:
    """Overland flow length of each band: its share of the way from the ridge to a channel, so widths are equal."""
    if hillslope_length is None:
        if "drainage_density" in values:
            density = float(_to_model("drainage_density", values["drainage_density"]).mean())
        else:
            density = float(registry.variable("drainage_density").default or 0.0)
        if not density > 0.0:
            raise InputError("drainage_density is 0: give hillslope_length, which is estimated from it otherwise")
        hillslope_length = 0.5 / density
    if not hillslope_length > 0.0:
        raise InputError(f"hillslope_length = {hillslope_length!r} m must be above 0")
    return np.tile(relief.bands.share * hillslope_length, sizes["subbasin"])


def _to_file(name: str, values: np.ndarray) -> np.ndarray:
    from wepl.units import convert

    entry = registry.variable(name)
    return np.asarray(convert(values, entry.units, entry.file_units, name))


def _to_model(name: str, values: np.ndarray) -> np.ndarray:
    from wepl.units import convert

    entry = registry.variable(name)
    return np.asarray(convert(values, entry.file_units, entry.units, name))


def _more(parameters: Mapping[str, Value], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Further parameters, spread over their dimensions, in file units."""
    from wepl.units import convert

    known = {entry.name: entry for entry in registry.of_kind("parameter")
             if set(entry.dims) <= {"subbasin", "unit", "soil_layer", "cell", "land_class"}}
    spread = {}
    for name, given in parameters.items():
        if name not in known:
            raise InputError(f"parameters: {name} is not a parameter of a catchment: choose from {', '.join(known)}")
        entry = known[name]
        value, unit = (given, entry.file_units)
        if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], str):
            value, unit = given
        array = np.asarray(convert(np.asarray(value, dtype=float), unit, entry.file_units, name))
        shape = tuple(sizes[dim] for dim in entry.dims)
        if entry.dims[0] == "unit" and array.ndim == len(shape) and array.shape[0] == sizes["band"]:
            array = np.concatenate([array] * sizes["subbasin"])
        try:
            array = np.broadcast_to(array, shape)
        except ValueError:
            raise InputError(f"parameters: {name} has the shape {array.shape}: give one number, or {shape} values over "
                             f"{', '.join(entry.dims)}") from None
        spread[name] = array.astype(np.int64) if entry.integer else array.copy()
    return spread


def _dataset(name: str, values: Mapping[str, np.ndarray], table: catchment_forcing.Table,
             options: Mapping[str, float | str]) -> xr.Dataset:
    """The basin as it lies in a file."""
    import xarray as xr

    data: dict[str, tuple] = {key: (registry.variable(key).dims, array, _attributes(key))
                              for key, array in values.items()}
    for key, column in table.values.items():
        data[key] = (("time", "cell"), column[:, None], _attributes(key) | {"units": table.units[key]})
    for key, given in options.items():
        data[key] = ((), _option(key, given), _attributes(key))
    data["gauge_name"] = (("gauge",), np.array([name], dtype=object), {"long_name": "name of the gauge"})
    data["land_class"] = (("land_class",), np.array(registry.LAND_CLASSES, dtype=object),
                          {"long_name": "land class"})
    time, attributes = catchment_forcing.time_coordinate(table)
    data["time"] = (("time",), time, attributes)
    return xr.Dataset(data, attrs={"Conventions": "CF-1.11", "title": name,
                                   "source": "built from the facts of one catchment by wepl.basin.catchment",
                                   "history": "made by wepl.basin.catchment.from_catchment"})


def _option(name: str, given: float | str) -> float:
    known = {entry.name: entry for entry in registry.of_kind("option")}
    if name not in known:
        raise InputError(f"options: unknown option {name}: choose from {', '.join(known)}")
    entry = known[name]
    if isinstance(given, str):
        if given not in entry.choices:
            raise InputError(f"options: {name} = {given!r}: choose from {', '.join(entry.choices) or 'numbers'}")
        return float(entry.choices.index(given))
    return float(given)


def _attributes(name: str) -> dict[str, str]:
    entry = registry.variable(name)
    attributes = {"units": entry.file_units, "long_name": entry.long_name}
    if entry.standard_name:
        attributes["standard_name"] = entry.standard_name
    return attributes
