"""What an ensemble keeps of each member beside the series: means, peaks, volumes, seasons and the water balance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wepl.errors import InputError

if TYPE_CHECKING:
    from wepl.run.balance import BalanceReport
    from wepl.run.clock import Clock

SEASONS = ("DJF", "MAM", "JJA", "SON")
CHOICES = ("mean", "maximum", "volume", "seasonal", "balance")


@dataclass(frozen=True)
class Index:
    """One variable of an ensemble file: the choice that brings it, dimensions after ``member``, unit and text."""

    choice: str
    dims: tuple[str, ...]
    units: str
    long_name: str
    cell_methods: str = ""


VARIABLES: Mapping[str, Index] = {
    "mean_discharge": Index("mean", ("place",), "m3 s-1", "mean discharge of the run", "time: mean"),
    "maximum_discharge": Index("maximum", ("place",), "m3 s-1", "largest discharge of a step", "time: maximum"),
    "discharge_volume": Index("volume", ("place",), "m3", "water that passed in the run", "time: sum"),
    "seasonal_discharge": Index("seasonal", ("season", "place"), "m3 s-1", "mean discharge of the season",
                                "time: mean"),
    "basin_precipitation": Index("balance", (), "mm", "precipitation over the basin", "time: sum area: mean"),
    "basin_evapotranspiration": Index("balance", (), "mm", "evapotranspiration of the basin", "time: sum area: mean"),
    "basin_outflow": Index("balance", (), "mm", "flow out of the basin's reaches", "time: sum area: mean"),
    "basin_deep_loss": Index("balance", (), "mm", "loss of the aquifers to depth", "time: sum area: mean"),
    "basin_storage_change": Index("balance", (), "mm", "change of the water stored in the basin", "area: mean"),
    "water_balance_closure": Index("balance", (), "1", "largest residual of the water balance, share of the water "
                                   "that passed"),
}


def choose(names: Sequence[str]) -> list[str]:
    """Variables of the chosen indices, all of them when none is named.

    Raises
    ------
    InputError
        A name is unknown.
    """
    unknown = [name for name in names if name not in CHOICES]
    if unknown:
        raise InputError(f"unknown index {', '.join(unknown)}: choose from {', '.join(CHOICES)}")
    return [name for name, index in VARIABLES.items() if not names or index.choice in names]


class DischargeIndices:
    """Indices of discharge, taken step by step so that they do not depend on the length of blocks.

    Parameters
    ----------
    clock : Clock
    n_members, n_places : int
    """

    def __init__(self, clock: Clock, n_members: int, n_places: int) -> None:
        self._clock = clock
        self._total = np.zeros((len(SEASONS), n_members, n_places))
        self._steps = np.zeros(len(SEASONS), dtype=np.int64)
        self._sum = np.zeros((n_members, n_places))
        self._largest = np.full((n_members, n_places), -np.inf)

    def add(self, first: int, discharge: np.ndarray) -> None:
        """Take the steps from ``first`` on: ``[step, member, place]``, m3 s-1."""
        for number, values in enumerate(discharge):
            season = self._clock.moment(first + number).month % 12 // 3
            self._total[season] += values
            self._steps[season] += 1
            self._sum += values
        np.maximum(self._largest, discharge.max(axis=0), out=self._largest)

    def values(self) -> dict[str, np.ndarray]:
        """The variables with the dimension ``place`` by name, ``[member, (season,) place]``; a season without a step
        has no value."""
        steps = int(self._steps.sum())
        counted = np.where(self._steps > 0, self._steps, np.nan)[:, np.newaxis, np.newaxis]
        return {
            "mean_discharge": self._sum / steps,
            "maximum_discharge": self._largest,
            "discharge_volume": self._sum * self._clock.step_seconds,
            "seasonal_discharge": np.moveaxis(self._total / counted, 0, 1),
        }


def balance_values(reports: Sequence[BalanceReport | None]) -> dict[str, np.ndarray]:
    """The terms of each member's water balance by name, ``[member]``, mm over the basin; NaN where there is none."""
    names = [name for name, index in VARIABLES.items() if index.choice == "balance"]
    return {name: np.array([np.nan if report is None else _term(report, name) for report in reports])
            for name in names}


def _term(report: BalanceReport, name: str) -> float:
    terms = report.terms
    if name == "water_balance_closure":
        return report.closure
    volume = {"basin_precipitation": terms.precipitation["precipitation_depth"],
              "basin_evapotranspiration": sum(terms.evaporation.values()), "basin_outflow": terms.outflow,
              "basin_deep_loss": terms.deep_loss, "basin_storage_change": sum(terms.storage.values())}[name]
    return 1e3 * volume / terms.area
