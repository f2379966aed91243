"""Small functions that each break one thing in a basin of :mod:`basins`; None stands for a change in place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr
from basins import put

from wepl import registry
from wepl.basin import vegetation

Break = Callable[[xr.Dataset], xr.Dataset | None]
LAYERED = (8, 3)


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
