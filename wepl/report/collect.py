"""Series of a result gathered for a report in one pass over the file: by month for all, finer where there is room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wepl.report.periods import Periods
from wepl.report.read import DISCHARGE, RAIN, Quantity, ResultReader, upstream_of

LOCAL_RUNOFF = "local_runoff"


@dataclass(frozen=True)
class Series:
    """A quantity of all sub-basins over periods.

    Attributes
    ----------
    quantity : Quantity
    periods : Periods
    values : ndarray
        ``[period, subbasin]``: sums of what adds up, means of the rest.
    """

    quantity: Quantity
    periods: Periods
    values: np.ndarray

    def coarser(self, periods: Periods) -> Series:
        """The same over longer periods, each made of whole ones of this series."""
        groups = periods.of_step[self.periods.first]
        begins = np.flatnonzero(np.diff(groups, prepend=-1))
        if self.quantity.summed:
            return Series(self.quantity, periods, np.add.reduceat(self.values, begins, axis=0))
        weighted = self.values * self.periods.lengths()[:, None]
        return Series(self.quantity, periods, np.add.reduceat(weighted, begins, axis=0) / periods.lengths()[:, None])


@dataclass(frozen=True)
class Collected:
    """What one pass gives.

    Attributes
    ----------
    flow : ndarray
        Discharge ``[step, place]``, m3 s-1.
    rain : ndarray or None
        Precipitation over the area that drains to each place ``[step, place]``, mm; None where nothing tells it.
    fine, monthly, yearly : dict of str to Series
        By key of the quantity; ``fine`` at the periods asked for.
    """

    flow: np.ndarray
    rain: np.ndarray | None
    fine: dict[str, Series]
    monthly: dict[str, Series]
    yearly: dict[str, Series]


def collect(reader: ResultReader, levels: dict[str, Periods]) -> Collected:
    """Read a result once.

    Parameters
    ----------
    reader : ResultReader
    levels : dict of str to Periods
        Periods of the fine series by key of the quantity.
    """
    steps, count = reader.steps, reader.identifiers.size
    months, years = steps.periods("month"), steps.periods("year")
    outlets = np.array([place.subbasin for place in reader.places], dtype=np.int64)
    rain_keys = [quantity.key for quantity in reader.quantities if quantity.name == RAIN]
    weights = _drained(reader, outlets) if rain_keys else None
    fine = {key: np.zeros((periods.count, count)) for key, periods in levels.items()}
    by_month = {quantity.key: np.zeros((months.count, count)) for quantity in reader.quantities}
    flow = np.empty((steps.count, outlets.size))
    rain = np.empty((steps.count, outlets.size)) if weights is not None else None
    for first, block in reader.blocks():
        for key, values in block.items():
            levels[key].sums(values, first, fine[key])
            months.sums(values, first, by_month[key])
        last = first + len(block[DISCHARGE])
        flow[first:last] = block[DISCHARGE][:, outlets]
        if rain is not None and weights is not None:
            rain[first:last] = np.nan_to_num(block[rain_keys[0]]) @ weights
    found = {quantity.key: quantity for quantity in reader.quantities}
    monthly = {key: _averaged(found[key], months, values) for key, values in by_month.items()}
    if np.isfinite(reader.area).all():
        monthly = {LOCAL_RUNOFF: _local_runoff(reader, monthly[DISCHARGE]), **monthly}
    yearly = {key: series.coarser(years) for key, series in monthly.items()}
    finest = {key: _averaged(found[key], levels[key], values) for key, values in fine.items()}
    if LOCAL_RUNOFF in monthly:
        finest = {LOCAL_RUNOFF: monthly[LOCAL_RUNOFF], **finest}
    return Collected(flow, rain, finest, monthly, yearly)


def _averaged(quantity: Quantity, periods: Periods, sums: np.ndarray) -> Series:
    return Series(quantity, periods, sums if quantity.summed else sums / periods.lengths()[:, None])


def _drained(reader: ResultReader, outlets: np.ndarray) -> np.ndarray:
    """Shares of the sub-basins in the area that drains to each outlet, ``[subbasin, outlet]``."""
    weights = np.zeros((reader.area.size, outlets.size))
    for column, outlet in enumerate(outlets):
        inside = upstream_of(int(outlet), reader.downstream)
        weights[inside, column] = reader.area[inside] / reader.area[inside].sum()
    return weights


def _local_runoff(reader: ResultReader, discharge: Series) -> Series:
    """What each sub-basin adds to the discharge, mm over its area."""
    added = discharge.values.copy()
    below = reader.downstream
    inner = below >= 0
    np.subtract.at(added.T, below[inner], discharge.values.T[inner])
    seconds = discharge.periods.lengths()[:, None] * reader.steps.step_seconds
    depth = added * seconds / (reader.area[None, :] * 1e3)
    return Series(Quantity(LOCAL_RUNOFF, -1, "mm", True), discharge.periods, depth)


def mean_year(series: Series, complete: np.ndarray) -> np.ndarray:
    """Mean of the complete years, ``[subbasin]``; of the whole run (sum of what adds up) when no year is complete."""
    if complete.any():
        return np.asarray(series.values[complete].mean(axis=0))
    if series.quantity.summed:
        return np.asarray(series.values.sum(axis=0))
    lengths = series.periods.lengths()
    return np.asarray(np.average(series.values, axis=0, weights=lengths))
