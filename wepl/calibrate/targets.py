"""What simulated discharge is compared with: observed values in bins of time, and the model's steps in each bin.

Gaps do not bias a comparison: the model's steps beside a missing observation are left out before means are taken.
"""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wepl.calibrate.observed import DAY, Record
from wepl.errors import InputError
from wepl.run.clock import Clock

# Least share of a bin's (a month's, a day's) observations that must be there.
_LEAST_SHARE = 0.5


@dataclass(frozen=True)
class Peak:
    """An observed flood peak: its height, m3 s-1, and the bins in which the simulated one is sought."""

    height: float
    first: int
    last: int


@dataclass(frozen=True)
class Target:
    """Observations of one gauge in one period.

    Attributes
    ----------
    gauge : str
    position : int
        Position of the gauge's sub-basin.
    weight : float
    observed : ndarray
        Mean discharge in each bin, m3 s-1.
    times : ndarray of int
        Start of each bin on the clock of the record, s since 1970-01-01.
    steps : ndarray of int
        The model's steps that are compared, counted from the first step of the run.
    starts, counts : ndarray of int
        Place in ``steps`` of each bin's first step, and their number.
    peaks : tuple of Peak
    """

    gauge: str
    position: int
    weight: float
    observed: np.ndarray
    times: np.ndarray
    steps: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    peaks: tuple[Peak, ...] = ()

    def of(self, discharge: np.ndarray) -> np.ndarray:
        """Means in the bins of a series ``[step, ...]`` from the first step of the run."""
        sums = np.add.reduceat(discharge[self.steps], self.starts, axis=0)
        return sums / self.counts.reshape(-1, *[1] * (discharge.ndim - 1))


def step_seconds(clock: Clock) -> np.ndarray:
    """Start of each step of a clock, s since 1970-01-01; a calendar without leap days leaves theirs out."""
    moments = [clock.moment(step) for step in range(clock.n_steps)]
    return np.array([calendar.timegm((m.year, m.month, m.day, m.hour, m.minute, m.second)) for m in moments],
                    dtype=np.int64)


def target(record: Record, position: int, weight: float, times: np.ndarray, step: int, period: Sequence[int],
           first: int, aggregation: str, peaks: int = 0, peak_days: float = 3.0) -> Target:
    """Bins of one gauge in one period.

    Parameters
    ----------
    record : Record
    position : int
        Position of the gauge's sub-basin.
    weight : float
    times : ndarray of int
        Start of each of the model's steps (UTC), s since 1970-01-01.
    step : int
        Length of the model's step, s.
    period : (int, int)
        Start and end of the period on the clock of the record, s.
    first : int
        First step of the run, from which ``steps`` are counted.
    aggregation : str
        ``step``, ``daily`` or ``monthly``.
    peaks, peak_days : int, float
        How many flood peaks to look for, and within how many days of an observed peak the simulated one is sought.

    Raises
    ------
    InputError
        No observation lies in the period, or the record is coarser than the aggregation.
    """
    local = times + record.offset
    inside = np.flatnonzero((local >= period[0]) & (local + step <= period[1]) & (np.arange(local.size) >= first))
    if aggregation == "daily" and max(record.step, step) > DAY:
        raise InputError(f"{record.where}: the values are longer than a day: aggregate by \"step\" or \"monthly\"")
    cell, value = _common_bins(record, local[inside], step)
    kept = np.isfinite(value)
    inside, cell, value = inside[kept], cell[kept], value[kept]
    if inside.size == 0:
        raise InputError(f"{record.where}: no observation of {record.gauge} lies in the period "
                         f"{_date(period[0])} to {_date(period[1] - 1)} of the run: correct the period, or the file")
    label = {"step": cell, "daily": local[inside] // DAY * DAY, "monthly": _months(local[inside])}[aggregation]
    bins, starts, counts = np.unique(label, return_index=True, return_counts=True)
    if aggregation != "step":
        length = DAY if aggregation == "daily" else _months(bins + 32 * DAY) - bins
        enough = counts * step >= _LEAST_SHARE * length
        keep = np.repeat(enough, counts)
        inside, value, label = inside[keep], value[keep], label[keep]
        bins, starts, counts = np.unique(label, return_index=True, return_counts=True)
    if bins.size < 2:
        raise InputError(f"{record.where}: {bins.size} values of {record.gauge} are left in the period "
                         f"{_date(period[0])} to {_date(period[1] - 1)}: too few to compare")
    observed = np.add.reduceat(value, starts) / counts
    if np.ptp(observed) == 0.0:
        raise InputError(f"{record.where}: all values of {record.gauge} in the period are {observed[0]:g}: nothing "
                         "can be calibrated to a series that does not vary")
    return Target(record.gauge, position, weight, observed, bins, inside - first, starts, counts,
                  _peaks(observed, bins, peaks, peak_days * DAY))


def _common_bins(record: Record, local: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
    """For each of the model's steps the start of the longer of its own and the record's step, and the observed mean."""
    if record.step <= step:
        place = np.searchsorted(local, record.times, side="right") - 1
        there = (place >= 0) & np.isfinite(record.values)
        there[there] &= record.times[there] < local[place[there]] + step
        number = np.bincount(place[there], minlength=local.size)
        total = np.bincount(place[there], weights=record.values[there], minlength=local.size)
        enough = number * record.step >= _LEAST_SHARE * step
        return local, np.where(enough, total / np.maximum(number, 1), np.nan)
    if record.step % step and record.step < 28 * DAY:
        raise InputError(f"{record.where}: the values are {record.step} s long, which is no whole number of the "
                         f"model's steps of {step} s")
    ends = _months(record.times + 32 * DAY) if record.step >= 28 * DAY else record.times + record.step
    place = np.searchsorted(record.times, local, side="right") - 1
    inside = (place >= 0) & (local + step <= ends[place])
    return record.times[place], np.where(inside, record.values[place], np.nan)


def _months(seconds: np.ndarray) -> np.ndarray:
    """Start of the month of each moment."""
    months = np.asarray(seconds).astype("datetime64[s]").astype("datetime64[M]")
    return np.asarray(months.astype("datetime64[s]").astype(np.int64))


def _peaks(observed: np.ndarray, times: np.ndarray, count: int, window: float) -> tuple[Peak, ...]:
    """The highest observed peaks that lie more than ``window`` seconds from any higher one."""
    found: list[int] = []
    for place in np.argsort(-observed, kind="stable"):
        if len(found) == count or observed[place] <= 0.0:
            break
        if all(abs(times[place] - times[other]) > window for other in found):
            found.append(int(place))
    place_of = np.array(found, dtype=int)
    low = np.searchsorted(times, times[place_of] - window, side="left")
    high = np.searchsorted(times, times[place_of] + window, side="right")
    return tuple(Peak(float(observed[place]), int(first), int(last))
                 for place, first, last in zip(found, low, high, strict=True))


def _date(seconds: int) -> str:
    return str(np.datetime64(int(seconds), "s").astype("datetime64[D]"))
