"""A basin from tables of another model: sub-basins with reaches, hydrological response units, and daily weather.

Response units have no place in a cascade, so those of a sub-basin are gathered into contour bands by their elevation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry
from wepl.basin import catchment_land, catchment_terrain
from wepl.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from wepl.basin.dataset import Basin

LAYERS = (0.2, 0.4, 1.4)
_SLIVER = 0.01  # share of a neighbour's unit that a sub-basin without land gets
_MOST_BANDS = 10


def from_tables(title: str, subbasins: pd.DataFrame, responses: pd.DataFrame, forcing: Mapping[str, pd.DataFrame],
                cell_elevation: pd.Series, *, gauges: Mapping[str, int] | None = None, band_relief: float = 100.0,
                options: Mapping[str, float] | None = None) -> Basin:
    """Build a basin from the tables of a model of response units.

    Parameters
    ----------
    title : str
    subbasins : pandas.DataFrame
        Index: identifiers, 1 or more. Columns ``downstream`` (identifier, -1 at an outlet), ``reach_length``,
        ``reach_width`` (m), ``reach_slope`` (tangent), and any other parameter of sub-basins, in file units.
    responses : pandas.DataFrame
        Response units: ``subbasin``, ``area`` (km2), ``elevation`` (m), ``slope`` (tangent), ``latitude``,
        ``longitude`` (degrees), ``texture`` (USDA), ``cell`` (column of the forcing), and the share of each land kind
        (:data:`wepl.basin.catchment_land.LAND_KINDS`; kinds that are not there have none).
    forcing : mapping of str to pandas.DataFrame
        Forcing by registry name in file units: index of days, one column per cell.
    cell_elevation : pandas.Series
        Elevation (m) of each cell.
    gauges : mapping of str to int, optional
        Sub-basin at whose outlet each gauge stands.
    band_relief : float
        Relief of a band, m: response units of a sub-basin that lie closer together become one unit.
    options : mapping, optional
        Options of the registry in file units.

    Returns
    -------
    Basin
        With a forcing cell per unit, the area-weighted mean of its response units' cells. A sub-basin without response
        units gets a hundredth of one beside it, so that every reach stays.

    Raises
    ------
    InputError
        A table lacks a column or names what is not there.
    BasinError
        The basin breaks a rule.
    """
    from wepl.basin.dataset import Basin

    _check_tables(subbasins, responses, forcing, cell_elevation)
    responses = _fill_empty(subbasins, responses)
    unit = _bands(responses, band_relief)
    weight = responses["area"].to_numpy(dtype=float)
    total = np.bincount(unit, weights=weight)

    def mean(column: str) -> np.ndarray:
        return np.bincount(unit, weights=weight * responses[column].to_numpy(dtype=float)) / total

    first = np.unique(unit, return_index=True)[1]
    owner = responses["subbasin"].to_numpy()[first]
    order = np.arange(unit.max() + 1) - np.searchsorted(owner, owner) + 1
    values: dict[str, np.ndarray] = {
        "subbasin": subbasins.index.to_numpy(), "unit": np.arange(1, total.size + 1), "unit_subbasin": owner,
        "unit_order": order, "unit_area": total, "unit_elevation": mean("elevation"), "unit_slope": mean("slope"),
        "unit_latitude": mean("latitude"), "unit_longitude": mean("longitude"),
        "cell": np.arange(1, total.size + 1), "unit_cell": np.arange(1, total.size + 1)}
    for name in subbasins:
        values[str(name)] = subbasins[name].to_numpy()
    values["unit_flow_length"] = _flow_length(owner, total)
    values |= _land(responses, unit, weight) | _soil(responses, unit, weight, values)
    if gauges:
        values["gauge"] = np.arange(1, len(gauges) + 1)
        values["gauge_subbasin"] = np.array(list(gauges.values()))
    shares = _cell_shares(responses, unit, weight / total[unit], list(cell_elevation.index))
    values["cell_elevation"] = shares @ cell_elevation.to_numpy(dtype=float)
    weather = {name: np.asarray(frame[cell_elevation.index].to_numpy(dtype=float) @ shares.T, dtype=np.float32)
               for name, frame in forcing.items()}
    days = next(iter(forcing.values())).index
    return Basin.from_dataset(_dataset(title, values, weather, days, list(gauges or ()), options or {}))


def _check_tables(subbasins: pd.DataFrame, responses: pd.DataFrame, forcing: Mapping[str, pd.DataFrame],
                  cell_elevation: pd.Series) -> None:
    for what, frame, needed in (
            ("subbasins", subbasins, ("downstream", "reach_length", "reach_width", "reach_slope")),
            ("responses", responses, ("subbasin", "area", "elevation", "slope", "latitude", "longitude", "texture",
                                      "cell"))):
        missing = [name for name in needed if name not in frame]
        if missing:
            raise InputError(f"{what}: the column {', '.join(missing)} is missing")
    known = {entry.name for entry in registry.TABLE if entry.dims == ("subbasin",)}
    unknown = [str(name) for name in subbasins if name not in known]
    if unknown:
        raise InputError(f"subbasins: {', '.join(unknown)}: no parameter of sub-basins; see docs/basin-file.md")
    for column, there in (("subbasin", subbasins.index), ("cell", cell_elevation.index)):
        strange = responses.loc[~responses[column].isin(there), column]
        if len(strange):
            raise InputError(f"responses: {column} {strange.iloc[0]} is not there ({len(strange)} such rows)")
    for name, frame in forcing.items():
        missing = [cell for cell in cell_elevation.index if cell not in frame]
        if missing:
            raise InputError(f"forcing: {name} has no column {missing[0]} ({len(missing)} such cells)")


def _fill_empty(subbasins: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """Response units sorted by sub-basin in its order; those without any share one with a neighbour."""
    import pandas as pd

    downstream = subbasins["downstream"].to_dict()
    upstream: dict[int, int] = {below: identifier for identifier, below in downstream.items()}
    filled = set(responses["subbasin"])
    extra = []
    responses = responses.copy()
    responses["area"] = responses["area"].astype(float)
    for empty in (identifier for identifier in subbasins.index if identifier not in filled):
        neighbour = _neighbour(empty, downstream, upstream, filled)
        group = responses.loc[responses["subbasin"] == neighbour, "area"]
        row = group.idxmax()
        piece = responses.loc[row].copy()
        piece["subbasin"], piece["area"] = empty, _SLIVER * responses.loc[row, "area"]
        responses.loc[row, "area"] *= 1.0 - _SLIVER
        extra.append(piece)
    if extra:
        added = pd.DataFrame(extra).astype(responses.dtypes)
        responses = pd.concat([responses, added], ignore_index=True)
    place = {identifier: position for position, identifier in enumerate(subbasins.index)}
    rank = responses["subbasin"].map(place).to_numpy()
    return responses.iloc[np.argsort(rank, kind="stable")].reset_index(drop=True)


def _neighbour(start: int, downstream: Mapping[int, int], upstream: Mapping[int, int], filled: set[int]) -> int:
    """Nearest sub-basin with land down the river, else up it."""
    for way in (downstream, upstream):
        at = way.get(start, -1)
        while at != -1 and at not in filled:
            at = way.get(at, -1)
        if at != -1:
            return at
    raise InputError(f"subbasins: {start} has no response unit and no neighbour on its river that has one: take it out")


def _bands(responses: pd.DataFrame, relief: float) -> np.ndarray:
    """Position of the unit of each response unit: sub-basin by sub-basin, and in one from the ridge to the river."""
    elevation = responses["elevation"].to_numpy(dtype=float)
    owner = responses["subbasin"].to_numpy()
    starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    unit = np.zeros(owner.size, dtype=np.int64)
    count = 0
    for low, high in zip(starts, [*starts[1:], owner.size], strict=True):
        heights = elevation[low:high]
        span = float(np.ptp(heights))
        number = int(np.clip(np.ceil(span / relief), 1, _MOST_BANDS))
        edges = heights.max() - span * np.arange(1, number) / number
        band = np.unique((heights[:, None] < edges).sum(axis=1), return_inverse=True)[1]
        unit[low:high] = count + band
        count += int(band.max()) + 1
    return unit


def _flow_length(owner: np.ndarray, area: np.ndarray) -> np.ndarray:
    """1 / (2 drainage density), shared among the bands of a sub-basin by area (Horton 1945)."""
    place = np.unique(owner, return_inverse=True)[1]
    density = float(registry.variable("drainage_density").default or 0.0)
    return np.maximum(1.0, 0.5 / density * area / np.bincount(place, weights=area)[place])


def _land(responses: pd.DataFrame, unit: np.ndarray, weight: np.ndarray) -> dict[str, np.ndarray]:
    kinds = [kind for kind in catchment_land.LAND_KINDS if kind in responses]
    areas = [np.bincount(unit, weights=weight * responses[kind].to_numpy(dtype=float)) for kind in kinds]
    shares = np.stack(areas) / np.bincount(unit, weights=weight)
    per_unit = [dict(zip(kinds, column, strict=True)) for column in shares.T.tolist()]
    return catchment_land.land_parameters(per_unit, len(per_unit))


def _soil(responses: pd.DataFrame, unit: np.ndarray, weight: np.ndarray,
          values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Layered parameters in file units; depth by slope and elevation."""
    from wepl.units import convert

    textures, code = np.unique(responses["texture"].to_numpy(dtype=str), return_inverse=True)
    areas = [np.bincount(unit, weights=weight * (code == place)) for place in range(textures.size)]
    shares = np.stack(areas) / np.sum(areas, axis=0)
    mixed = [catchment_land.soil_parameters(dict(zip(textures.tolist(), column, strict=True)), LAYERS)
             for column in shares.T.tolist()]
    soil = {}
    for name in mixed[0]:
        entry = registry.variable(name)
        soil[name] = np.asarray(convert(np.stack([of_unit[name] for of_unit in mixed]), entry.units, entry.file_units))
    depth = catchment_terrain.soil_depth(values["unit_slope"], values["unit_elevation"])
    soil["soil_thickness"][:, -1] = depth - sum(LAYERS[:-1])
    return soil


def _cell_shares(responses: pd.DataFrame, unit: np.ndarray, share: np.ndarray, cells: Sequence) -> np.ndarray:
    """``[unit, cell]``: part of each unit's area in each cell."""
    place = {cell: position for position, cell in enumerate(cells)}
    shares = np.zeros((unit.max() + 1, len(cells)))
    np.add.at(shares, (unit, responses["cell"].map(place).to_numpy()), share)
    return shares


def _dataset(title: str, values: Mapping[str, np.ndarray], weather: Mapping[str, np.ndarray], days: pd.DatetimeIndex,
             gauge_names: list[str], options: Mapping[str, float]) -> xr.Dataset:
    import xarray as xr

    data: dict[str, tuple] = {}
    for name, array in [*values.items(), *weather.items(), *((key, np.asarray(v)) for key, v in options.items())]:
        entry = registry.variable(name)
        dims = ("time", "cell") if entry.kind == "forcing" else entry.dims
        data[name] = (dims, array, {"units": entry.file_units, "long_name": entry.long_name})
    data["time"] = (("time",), ((days - days[0]) / np.timedelta64(1, "D")).to_numpy().astype(np.int64),
                    {"units": f"days since {days[0]:%Y-%m-%d}", "calendar": "standard", "standard_name": "time"})
    if gauge_names:
        data["gauge_name"] = (("gauge",), np.array(gauge_names, dtype=object), {"long_name": "name of the gauge"})
    data["land_class"] = (("land_class",), np.array(registry.LAND_CLASSES, dtype=object), {"long_name": "land class"})
    return xr.Dataset(data, attrs={"Conventions": "CF-1.11", "title": title, "wepl_content": "basin",
                                   "source": "built from tables by wepl.build.importers",
                                   "history": "made by wepl.build.importers.from_tables"})


def estimated_weather(maximum: pd.DataFrame, minimum: pd.DataFrame, latitude: pd.Series) -> dict[str, pd.DataFrame]:
    """Daily weather where nothing but the extremes of temperature was recorded, after FAO-56 chapter 3.

    Parameters
    ----------
    maximum, minimum : pandas.DataFrame
        Daily extremes, degC: index of days, one column per cell. Where the minimum lies above the maximum both are
        taken as their mean.
    latitude : pandas.Series
        Latitude of each cell, degrees north.

    Returns
    -------
    dict of str to pandas.DataFrame
        ``air_temperature`` (mean of the extremes, degC), ``relative_humidity`` (%, dew point at the minimum: eq. 48),
        ``wind_speed`` (2 m/s at a height of 2 m, the mean of 2,000 stations), ``shortwave_radiation`` (W m-2, 0.16
        times the root of the daily range: eq. 50, inland).
    """
    import pandas as pd

    from wepl.physics.atmosphere import extraterrestrial_daily

    mean = 0.5 * (maximum + minimum)
    span = (maximum - minimum).clip(lower=0.0)
    lowest = mean - 0.5 * span
    vapour = [np.exp(17.27 * t / (t + 237.3)) for t in (lowest, mean)]
    angle = np.radians(latitude[mean.columns].to_numpy(dtype=float))
    of_day = np.array([[extraterrestrial_daily(day, place) for place in angle] for day in range(1, 367)])
    outside = of_day[mean.index.day_of_year.to_numpy() - 1]
    return {"air_temperature": mean, "relative_humidity": (100.0 * vapour[0] / vapour[1]).clip(upper=100.0),
            "wind_speed": pd.DataFrame(2.0, index=mean.index, columns=mean.columns),
            "shortwave_radiation": 0.16 * np.sqrt(span) * outside}
