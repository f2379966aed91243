"""The closed water balance: as a table for people, as variables for the result file, and as a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wepl.errors import NumericalError
from wepl.language import columns, current, pad, say, table

# Storages that stand in one row of the table; others stand by their own name.
_STORES = {
    "canopy": ("canopy_a", "canopy_b"),
    "snow": ("snow_ice", "snow_liquid"),
    "surface and open water": ("surface_storage",),
    "soil": ("soil_water",),
    "overland flow": ("overland_depth",),
    "transition store": ("transition_storage",),
    "groundwater": ("groundwater_head",),
    "rivers": ("river_storage",),
}


@dataclass(frozen=True, slots=True)
class Closure:
    """The largest residual of one budget.

    Attributes
    ----------
    process : str
        Name of the budget; ``all`` for the whole budget of a place.
    place : str
        ``tile``, ``unit``, ``subbasin`` or ``basin``.
    where : str
        The worst place, by its identifier.
    volume, depth : float
        Residual there: inflow minus outflow minus change of storage, in m3 and in m over the place.
    relative : float
        Its size relative to the water that passed the place.
    """

    process: str
    place: str
    where: str
    volume: float
    depth: float
    relative: float


@dataclass(frozen=True, slots=True)
class Terms:
    """Water of the whole basin between two moments, m3; ``runoff`` stays inside, it is no term of the balance."""

    area: float
    precipitation: dict[str, float]
    evaporation: dict[str, float]
    runoff: dict[str, float]
    storage: dict[str, float]
    outflow: float
    deep_loss: float
    residual: float

    def rows(self) -> Iterator[tuple[str, str, float, int]]:
        """Rows of the table: key, label, volume (m3), level of indentation."""
        total = "precipitation_depth"
        yield total, "precipitation", self.precipitation[total], 0
        yield from self._parts({name: value for name, value in self.precipitation.items() if name != total})
        yield "evapotranspiration", "evapotranspiration", sum(self.evaporation.values()), 0
        yield from self._parts(self.evaporation)
        yield "runoff", "inflow to the reaches (within the basin)", sum(self.runoff.values()), 0
        yield from self._parts(self.runoff)
        yield "outflow", "outflow at the outlets", self.outflow, 0
        yield "deep_loss", "loss to depth", self.deep_loss, 0
        yield "storage_change", "change of storage", sum(self.storage.values()), 0
        yield from self._stores()
        yield "residual", "residual", self.residual, 0

    @staticmethod
    def _parts(parts: dict[str, float]) -> Iterator[tuple[str, str, float, int]]:
        for name, value in parts.items():
            yield name, name.replace("_", " "), value, 1

    def _stores(self) -> Iterator[tuple[str, str, float, int]]:
        label_of = {name: label for label, names in _STORES.items() for name in names}
        sums: dict[str, float] = {}
        for name, value in self.storage.items():
            label = label_of.get(name, name.replace("_", " "))
            sums[label] = sums.get(label, 0.0) + value
        for label, value in sums.items():
            yield f"{label.replace(' ', '_')}_change", label, value, 1


@dataclass(frozen=True, slots=True)
class BalanceReport:
    """What :func:`wepl.run.balance.close` found.

    Attributes
    ----------
    terms : Terms
        Water of the basin, m3.
    closures : tuple of Closure
        The worst residual of each budget; the last one is the basin's.
    unit_residual : array [unit]
        Residual of the columns of each unit, m, in the basin file's order.
    subbasin_residual : array [subbasin]
        Residual of each sub-basin from rain to the reach's end, m.
    """

    terms: Terms
    closures: tuple[Closure, ...]
    unit_residual: NDArray[np.float64]
    subbasin_residual: NDArray[np.float64]

    @property
    def closure(self) -> float:
        """Residual of the basin relative to its precipitation (to precipitation and storage when it did not rain)."""
        return self.closures[-1].relative

    @property
    def worst(self) -> Closure:
        """The budget that closes worst."""
        return max(self.closures, key=lambda closure: closure.relative)

    def check(self, tolerance: float = 1e-9) -> None:
        """Raise when a budget is not closed.

        Parameters
        ----------
        tolerance : float
            Largest relative residual: 1e-9 in float64, 1e-6 in float32 (docs/theory, section 15).

        Raises
        ------
        NumericalError
            Names the process and the place with the largest residual.
        """
        worst = self.worst
        if worst.relative <= tolerance:
            return
        process = "the whole balance" if worst.process == "all" else f"the process {worst.process!r}"
        raise NumericalError(
            f"water balance: {process} is not closed in {worst.where}: residual {worst.depth * 1000.0:.3e} mm "
            f"({worst.volume:.3e} m3), {worst.relative:.2e} of the water that passed, allowed {tolerance:.0e}. "
            "Run with float64 precision; if it is float64 already, this is a fault of the model: please report it")

    @property
    def text(self) -> str:
        """The basin's terms as a table, in mm over the basin and in 1e8 m3, and the closure."""
        words = {} if current() == "en" else table(current())
        lines = [("", "mm", say("run.head_volume"))]
        lines += [(f"{'  ' * level}{words.get(f'balance.{key}', label)}",
                   _number(volume / self.terms.area * 1e3, 2), _number(volume / 1e8, 4))
                  for key, label, volume, level in self.terms.rows()]
        width = max(columns(label) for label, *_ in lines)
        text = [f"{pad(label, width)} {depth:>12} {' ' * (12 - columns(volume))}{volume}"
                for label, depth, volume in lines]
        worst = self.worst
        text.append(say("run.closure", closure=f"{self.closure:.1e}", worst=f"{worst.relative:.1e}",
                        process=worst.process, where=worst.where))
        return "\n".join(text)

    def variables(self) -> dict[str, tuple[tuple[str, ...], Any, dict[str, str]]]:
        """Variables for a file: name to (dimensions, values, attributes)."""
        rows = list(self.terms.rows())
        volume = np.array([row[2] for row in rows])
        # Dimensions have names of their own: CF takes a variable with its dimension's name for numbers in order.
        term, process = ("balance_row",), ("balance_budget",)
        of_term, of_process = {"coordinates": "balance_term"}, {"coordinates": "balance_process"}
        closures = self.closures
        return {
            "balance_term": (term, np.array([row[0] for row in rows], dtype=object),
                             {"long_name": "term of the basin's water balance"}),
            "balance_volume": (term, volume, {"long_name": "water over the run", "units": "m3", **of_term}),
            "balance_depth": (term, volume / self.terms.area * 1e3,
                              {"long_name": "water over the run and the basin", "units": "mm", **of_term}),
            "balance_process": (process, np.array([f"{item.place}: {item.process}" for item in closures], dtype=object),
                                {"long_name": "budget that was closed"}),
            "balance_worst_place": (process, np.array([item.where for item in closures], dtype=object),
                                    {"long_name": "place with the budget's largest residual"}),
            "balance_residual": (process, np.array([item.depth * 1e3 for item in closures]),
                                 {"long_name": "residual at the worst place", "units": "mm", **of_process}),
            "balance_closure": (process, np.array([item.relative for item in closures]),
                                {"long_name": "size of the residual relative to the water that passed", "units": "1",
                                 **of_process}),
            "unit_balance_residual": (("unit",), self.unit_residual * 1e3,
                                      {"long_name": "residual of the columns' water balance", "units": "mm"}),
            "subbasin_balance_residual": (("subbasin",), self.subbasin_residual * 1e3,
                                          {"long_name": "residual of the water balance", "units": "mm"}),
        }


def _number(value: float, decimals: int) -> str:
    """Fixed decimals; a value too small to show stands in powers of ten, so that a residual is never a bare zero."""
    if value != 0.0 and abs(value) < 0.5 * 10.0**-decimals:
        return f"{value:.1e}"
    return f"{value:.{decimals}f}"
