"""The registry: one table from which checks, arrays, restart files, output attributes and docs are made."""

from __future__ import annotations

from functools import cache

from wepl.registry.model import Balance, Kind, Variable
from wepl.registry.variables import (
    BALANCES,
    EVAPORATION,
    LAND_CLASSES,
    MAX_SOIL_LAYERS,
    RUNOFF,
    TABLE,
)

__all__ = [
    "BALANCES", "EVAPORATION", "LAND_CLASSES", "MAX_SOIL_LAYERS", "RUNOFF", "TABLE", "Balance", "Kind", "Variable",
    "array_names", "layout", "names", "of_kind", "row", "variable",
]


@cache
def _index() -> dict[str, Variable]:
    index = {entry.name: entry for entry in TABLE}
    if len(index) != len(TABLE):
        raise AssertionError("a name stands twice in the registry")
    return index


def names() -> list[str]:
    """Every name in the table, in its order."""
    return list(_index())


def variable(name: str) -> Variable:
    """The entry called ``name``; KeyError when there is none."""
    return _index()[name]


def of_kind(kind: Kind) -> list[Variable]:
    """Entries of one kind, in the table's order."""
    return [entry for entry in TABLE if entry.kind == kind]


@cache
def layout(array: str) -> tuple[Variable, ...]:
    """Entries that make the rows of the kernel array ``array``, in row order."""
    return tuple(entry for entry in TABLE if entry.array == array)


def array_names() -> list[str]:
    """Names of all kernel arrays."""
    return list(dict.fromkeys(entry.array for entry in TABLE if entry.array))


def row(name: str) -> int:
    """Row of the variable ``name`` in its kernel array."""
    entry = variable(name)
    return layout(entry.array).index(entry)
