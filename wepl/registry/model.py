"""The form of one registry entry, and the questions that the rest of the model asks of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["parameter", "option", "state", "flux", "forcing", "diagnostic", "derived", "topology"]


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable or parameter of the model.

    Attributes
    ----------
    name : str
        The field's name, the same in registry, code, files and docs.
    kind : Kind
        ``parameter`` and ``topology`` come from the basin file, ``option`` is a scalar that a file or
        ``--set`` may change, ``state`` evolves, ``flux`` is a water or energy depth over one step,
        ``forcing`` comes with time, ``derived`` is computed once before a run, ``diagnostic`` is written only.
    dims : tuple of str
        Dimensions in files, without time for forcing, states and fluxes.
    units : str
        Unit inside the model (SI, water as depth over the tile: m).
    file_units : str
        Unit written to files; any convertible unit is read.
    long_name : str
        Text for people and for the ``long_name`` attribute.
    standard_name : str
        CF standard name, empty where CF has none.
    default : float or None
        Value used where the file has none; None means that the file must give it (parameters) or that
        it is optional (``optional``).
    valid : tuple of float
        Smallest and largest accepted value, in ``units``.
    array : str
        Kernel array whose row this is (empty: not in a kernel). Row numbers follow the table's order.
    restart : bool
        True when the value belongs to a restart file.
    source : str
        Where the default or the definition comes from.
    optional : bool
        True when a file may leave it out although there is no default.
    integer : bool
        True for ids, counts and switches.
    choices : tuple of str
        Names of the integer values of a switch, in order from 0.
    average : str
        How tile values combine to a unit value: ``unit`` (weighted by tile fraction) or ``soil``
        (weighted over soil tiles only).
    """

    name: str
    kind: Kind
    dims: tuple[str, ...]
    units: str
    file_units: str
    long_name: str
    standard_name: str = ""
    default: float | None = None
    valid: tuple[float, float] = (float("-inf"), float("inf"))
    array: str = ""
    restart: bool = False
    source: str = ""
    optional: bool = False
    integer: bool = False
    choices: tuple[str, ...] = ()
    average: str = "unit"


@dataclass(frozen=True, slots=True)
class Balance:
    """The terms of one process's water budget: inflow - outflow - change of storage = 0.

    Terms are names of fluxes (totals since the start) and of states; ``place`` says what the budget
    is drawn over: ``tile``, ``unit`` or ``subbasin``.
    """

    process: str
    place: str
    inflow: tuple[str, ...]
    outflow: tuple[str, ...]
    storage: tuple[str, ...]
