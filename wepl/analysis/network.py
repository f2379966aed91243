"""From units to sub-basins, and down the river network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wepl.analysis import result
from wepl.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

# Variables of these units add up; others are averaged over area.
_ADD = ("m3 s-1", "m3")
# What a reach has already from all reaches above it.
_GATHERED = ("discharge", "gauge_discharge", "reach_outflow", "reach_inflow")


def to_subbasins(data: xr.Dataset, values: xr.DataArray) -> xr.DataArray:
    """Area-weighted mean over the units of each sub-basin; values of sub-basins stay as they are.

    Parameters
    ----------
    data : xarray.Dataset
        A result.
    values : xarray.DataArray
        Its last dimension is ``unit`` or ``subbasin``. NaN (ground without soil) is left out of the mean.

    Raises
    ------
    InputError
        The values stand at other places.
    """
    import xarray as xr

    if values.dims[-1] == "subbasin":
        return values
    if values.dims[-1] != "unit":
        raise InputError(f"{values.name} has dimensions {values.dims}: give a variable of units or sub-basins")
    place, area, count = result.unit_places(data), result.unit_areas(data), data.sizes["subbasin"]
    given = values.values.astype(float)
    order = np.argsort(place, kind="stable")
    there = np.unique(place)
    first = np.searchsorted(place[order], there)
    known = np.isfinite(given)
    weight = np.add.reduceat(np.where(known, area, 0.0)[..., order], first, axis=-1)
    total = np.add.reduceat(np.where(known, given, 0.0)[..., order] * area[order], first, axis=-1)
    mean = np.full((*given.shape[:-1], count), np.nan)
    mean[..., there] = np.divide(total, weight, out=np.full_like(total, np.nan), where=weight > 0.0)
    dims = (*values.dims[:-1], "subbasin")
    coords = {name: values.coords[name] for name in values.dims[:-1] if name in values.coords}
    return xr.DataArray(mean, dims=dims, coords={**coords, "subbasin": data["subbasin"].values}, name=values.name,
                        attrs=dict(values.attrs))


def basin_mean(data: xr.Dataset, values: xr.DataArray) -> xr.DataArray:
    """Area-weighted mean over the basin of a variable of units or sub-basins."""
    import xarray as xr

    place = str(values.dims[-1])
    area = result.unit_areas(data) if place == "unit" else result.subbasin_areas(data)
    weights = xr.DataArray(area, dims=place)
    mean = values.astype(float).weighted(weights).mean(place, keep_attrs=True)
    return mean.rename(values.name)


def order(below: np.ndarray) -> np.ndarray:
    """Positions of sub-basins so that each stands before the one below it.

    Parameters
    ----------
    below : ndarray of int
        Position of the sub-basin below each one, -1 at an outlet.
    """
    waiting = np.bincount(below[below >= 0], minlength=below.size)
    ready = [int(place) for place in np.flatnonzero(waiting == 0)]
    found = []
    while ready:
        at = ready.pop()
        found.append(at)
        down = int(below[at])
        if down >= 0:
            waiting[down] -= 1
            if waiting[down] == 0:
                ready.append(down)
    return np.array(found)


def gather(data: xr.Dataset, values: np.ndarray) -> np.ndarray:
    """Sum of ``values[..., subbasin]`` over each sub-basin and all above it."""
    below = result.downstream(data)
    total = np.array(values, dtype=float)
    for at in order(below):
        if below[at] >= 0:
            total[..., below[at]] += total[..., at]
    return total


def upstream(data: xr.Dataset, name: str) -> xr.DataArray:
    """A variable over all ground that drains through the end of each reach.

    Depths, contents and temperatures are averaged by area; volumes and flows (m3, m3 s-1) are added.

    Parameters
    ----------
    data : xarray.Dataset
        A result.
    name : str
        A variable of units or sub-basins.

    Returns
    -------
    xarray.DataArray
        ``[..., subbasin]`` in the variable's unit.

    Raises
    ------
    InputError
        There is no such variable, or it has come from upstream already, as discharge has.
    """
    if name in _GATHERED:
        raise InputError(f"{name} comes from upstream already: it is what all sub-basins above bring")
    given = result.series_variable(data, name)
    own = to_subbasins(data, given)
    if str(own.attrs.get("units")) in _ADD:
        gathered = gather(data, own.values)
        text = "sum"
    else:
        # A sub-basin without a value (no soil) takes no part.
        known = np.isfinite(own.values)
        area = np.broadcast_to(result.subbasin_areas(data), own.shape)
        weight = gather(data, np.where(known, area, 0.0))
        total = gather(data, np.where(known, own.values, 0.0) * area)
        gathered = np.divide(total, weight, out=np.full_like(total, np.nan), where=weight > 0.0)
        text = "area-weighted mean"
    found = own.copy(data=gathered)
    found.attrs["long_name"] = f"{given.attrs.get('long_name', name)}, {text} over all ground upstream"
    return found.rename(name)


def upstream_areas(data: xr.Dataset) -> np.ndarray:
    """Area that drains through the end of each reach, km2."""
    return gather(data, result.subbasin_areas(data))
