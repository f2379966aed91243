"""The arguments of each kernel, in order: name, type, dimensions and access.

Every backend launches a kernel by this table and :func:`check` compares what is handed over with it before each
launch, so a wrong shape or type is an error with names in it and never a silent read outside an array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wepl import registry
from wepl.errors import BackendError

Access = Literal["read", "write", "read-write"]


@dataclass(frozen=True, slots=True)
class Buffer:
    """One array argument: ``dims`` are names of sizes or fixed integers; ``dtype`` is ``real``, ``store`` or ``int32``.

    ``store`` are storages and running totals: they stay in double precision where arithmetic is single ("mixed").
    """

    name: str
    dims: tuple[str | int, ...]
    dtype: str
    access: Access


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number argument."""

    name: str
    dtype: str


Argument = Buffer | Scalar


def _rows(array: str) -> int:
    return len(registry.layout(array))


def _real(name: str, *dims: str | int, access: Access = "read") -> Buffer:
    return Buffer(name, dims, "real", access)


def _store(name: str, *dims: str | int) -> Buffer:
    return Buffer(name, dims, "store", "read-write")


def _int(name: str, *dims: str | int, access: Access = "read") -> Buffer:
    return Buffer(name, dims, "int32", access)


def _count(name: str) -> Scalar:
    return Scalar(name, "int")


_DT = Scalar("dt", "real")
_OPTION = _real("option", _rows("option"))

KERNELS: dict[str, tuple[Argument, ...]] = {
    "weather": (
        _count("n_units"), _count("n_steps"), _DT, _OPTION,
        _real("calendar", _rows("calendar"), "step"),
        _real("forcing", _rows("forcing"), "step", "cell"),
        _int("unit_cell", "unit"),
        _count("shortwave_given"), _count("longwave_given"),
        _real("unit_parameter", _rows("unit_parameter"), "unit"),
        _store("unit_state", _rows("unit_state"), "unit"),
        _real("weather", _rows("weather"), "step", "unit", access="write"),
    ),
    "column": (
        _count("n_tiles"), _count("n_steps"), _count("n_route"), _DT, _OPTION,
        _int("tile_index", 5, "tile"),
        _real("tile_parameter", _rows("tile_parameter"), "tile"),
        _real("soil_parameter", _rows("soil_parameter"), "layer", "tile"),
        _real("vegetation", _rows("vegetation"), "step", "kind"),
        _real("weather", _rows("weather"), "step", "unit"),
        _store("tile_state", _rows("tile_state"), "tile"),
        _store("soil_state", _rows("soil_state"), "layer", "tile"),
        _store("tile_flux", _rows("tile_flux"), "tile"),
        _real("lateral", _rows("lateral"), "route", "tile", access="write"),
        _int("record_index", 3, "record"),
        _real("record", "record", "step", "tile", access="write"),
        _int("column_status", 2, "tile", access="read-write"),
    ),
    "hillslope": (
        _count("n_subbasins"), _count("n_routes"), Scalar("dt_route", "real"),
        _int("tile_start", "unit+1"), _int("tile_list", "tile"), _int("unit_start", "subbasin+1"),
        _real("tile_parameter", _rows("tile_parameter"), "tile"),
        _real("unit_parameter", _rows("unit_parameter"), "unit"),
        _store("unit_state", _rows("unit_state"), "unit"),
        _real("lateral", _rows("lateral"), "route", "tile"),
        _real("inflow", _rows("inflow"), "route", "subbasin", access="write"),
        _store("subbasin_flux", _rows("subbasin_flux"), "subbasin"),
        _int("hillslope_status", 2, "subbasin", access="read-write"),
    ),
    "river": (
        _int("level_start", "level+1"), _int("level_list", "subbasin"),
        _count("n_routes"), Scalar("dt_route", "real"),
        _int("upstream_start", "subbasin+1"), _int("upstream_list", "link"), _int("cell_start", "subbasin+1"),
        _real("subbasin_parameter", _rows("subbasin_parameter"), "subbasin"),
        _store("subbasin_state", _rows("subbasin_state"), "subbasin"),
        _store("river_state", _rows("river_state"), "river_cell"),
        _real("inflow", _rows("inflow"), "route", "subbasin"),
        _real("series", _rows("series"), "route", "subbasin", access="write"),
        _store("subbasin_flux", _rows("subbasin_flux"), "subbasin"),
        _int("river_status", 2, "subbasin", access="read-write"),
    ),
}


# The published mapping, a thread per unit: the column's arguments and the units' lists of tiles.
KERNELS["column_by_unit"] = (_count("n_units"), *KERNELS["column"], _int("tile_start", "unit+1"),
                             _int("tile_list", "tile"))


def arguments(kernel: str) -> tuple[Argument, ...]:
    """Arguments of ``kernel`` in the order in which it takes them."""
    return KERNELS[kernel]


def buffer(name: str) -> Buffer:
    """The buffer called ``name``, as the first kernel that takes it declares it."""
    for table in KERNELS.values():
        for argument in table:
            if argument.name == name and isinstance(argument, Buffer):
                return argument
    raise KeyError(name)


def check(kernel: str, values: Mapping[str, Any], types: Mapping[str, Any]) -> list[Any]:
    """The values of a launch in order, after comparing each with the table.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    values : mapping
        Arrays and numbers by name; arrays need ``shape`` and ``dtype`` only.
    types : mapping
        Data types that ``real`` and ``store`` stand for.

    Raises
    ------
    BackendError
        A value is missing, or has another type or shape than declared: names kernel, buffer, expected, given.
    """
    sizes: dict[str, int] = {}
    ordered = []
    for argument in KERNELS[kernel]:
        if argument.name not in values:
            raise BackendError(f"kernel {kernel}: argument {argument.name} is missing")
        value = values[argument.name]
        if isinstance(argument, Buffer):
            _check_buffer(kernel, argument, value, types, sizes)
        ordered.append(value)
    return ordered


def _check_buffer(kernel: str, argument: Buffer, value: Any, types: Mapping[str, Any], sizes: dict[str, int]) -> None:
    expected = str(types.get(argument.dtype, argument.dtype))
    if str(value.dtype) != expected:
        raise BackendError(f"kernel {kernel}: {argument.name} is {value.dtype}, expected {expected}")
    if len(value.shape) != len(argument.dims):
        raise BackendError(f"kernel {kernel}: {argument.name} has shape {value.shape}, expected {argument.dims}")
    for dim, size in zip(argument.dims, value.shape, strict=True):
        if isinstance(dim, str):
            name, _, more = dim.partition("+")
            wanted = sizes.setdefault(name, size - int(more or 0)) + int(more or 0)
        else:
            wanted = dim
        if size != wanted:
            raise BackendError(f"kernel {kernel}: {argument.name} has size {size} along {dim}, expected {wanted}")
