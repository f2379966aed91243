"""Observed discharge from a table, set beside the run, and how well the run follows it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import cftime
import numpy as np

from wepl.analysis import metrics
from wepl.errors import InputError
from wepl.report.periods import Steps
from wepl.report.read import Place

_MOMENT = re.compile(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.0*)?)?)?)?\s*Z?")
# Offset of logarithms, as a share of the mean observation (Pushpalatha et al. 2012).
LOG_OFFSET = 0.01


@dataclass(frozen=True)
class Observations:
    """Observed discharge of places at moments of the run's calendar.

    Attributes
    ----------
    first, last : ndarray
        Ends of the time that each row stands for, seconds from the start of the run.
    values : dict of int to ndarray
        By position of the place, m3 s-1; NaN is missing.
    """

    first: np.ndarray
    last: np.ndarray
    values: Mapping[int, np.ndarray]


@dataclass(frozen=True)
class Skill:
    """Measures of one place; a measure that has no meaning there is NaN."""

    place: int
    pairs: int
    first: str
    last: str
    efficiency: float
    correlation: float
    variability: float
    bias: float
    nash_sutcliffe: float
    log_nash_sutcliffe: float
    percent_bias: float


def read(path: Path, places: Sequence[Place], steps: Steps) -> Observations:
    """Read a table of observed discharge.

    Parameters
    ----------
    path : Path
        A CSV file: the first column holds dates or moments (or months, ``2010-07``) in order, each other column the
        discharge of one place in m3 s-1 under its name or identifier; an empty cell is missing.
    places : sequence of Place
        The places of the run.
    steps : Steps
        The run's steps.

    Raises
    ------
    InputError
        Names file, line or column.
    """
    import pandas as pd

    try:
        table = pd.read_csv(path, dtype=str, skipinitialspace=True, keep_default_na=False, comment="#",
                            encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a table: {error}; give a CSV file with a column of dates and a "
                         "column per gauge") from None
    if table.shape[1] < 2 or table.empty:
        raise InputError(f"{path} has {table.shape[1]} columns and {len(table)} rows; give a column of dates and a "
                         "column of discharge (m3 s-1) per gauge")
    texts = [str(text).strip() for text in table.iloc[:, 0]]
    moments = [_moment(text, path, row, steps.calendar) for row, text in enumerate(texts)]
    first = np.array([(moment - steps.start).total_seconds() for moment in moments])
    if (np.diff(first) <= 0.0).any():
        row = int(np.flatnonzero(np.diff(first) <= 0.0)[0]) + 1
        raise InputError(f"{path}, line {row + 2}: {texts[row]} does not follow {texts[row - 1]}; sort the rows by "
                         "time and give each time once")
    values = _columns(table, path, places)
    return Observations(first, _ends(moments, first, steps), values)


def _moment(text: str, path: Path, row: int, calendar: str) -> cftime.datetime:
    found = _MOMENT.fullmatch(text)
    try:
        if found is None:
            raise ValueError("write 2010-07-31, 2010-07-31T06:00 or 2010-07")
        parts = [int(part or default) for part, default in zip(found.groups(), (0, 1, 1, 0, 0, 0), strict=True)]
        return cftime.datetime(*parts, calendar=calendar)
    except ValueError as error:
        raise InputError(f"{path}, line {row + 2}: {text!r} is no date of the {calendar} calendar: "
                         f"{error}") from None


def _columns(table: object, path: Path, places: Sequence[Place]) -> dict[int, np.ndarray]:
    """Numbers of each column by the position of its place."""
    import pandas as pd

    assert isinstance(table, pd.DataFrame)
    by_name = {place.identifier: position for position, place in enumerate(places)}
    by_name |= {place.name.strip(): position for position, place in enumerate(places) if place.name.strip()}
    values: dict[int, np.ndarray] = {}
    for column in table.columns[1:]:
        name = str(column).strip()
        if name not in by_name:
            known = ", ".join(place.name or place.identifier for place in places) or "none"
            raise InputError(f"{path}: the column {name!r} is no gauge of the result; its gauges are: {known}")
        if by_name[name] in values:
            raise InputError(f"{path}: the column {name!r} names a gauge that has a column already")
        cells = [str(cell).strip() for cell in table[column]]
        numbers = np.full(len(cells), np.nan)
        for row, cell in enumerate(cells):
            if cell.lower() in ("", "nan", "na"):
                continue
            try:
                numbers[row] = float(cell)
            except ValueError:
                raise InputError(f"{path}, line {row + 2}, column {name!r}: {cell!r} is not a number; leave the cell "
                                 "empty where nothing was observed") from None
            if not 0.0 <= numbers[row] < math.inf:
                raise InputError(f"{path}, line {row + 2}, column {name!r}: a discharge of {cell} m3 s-1; leave the "
                                 "cell empty where nothing was observed")
        values[by_name[name]] = numbers
    return values


def _ends(moments: Sequence[cftime.datetime], first: np.ndarray, steps: Steps) -> np.ndarray:
    """Ends of the rows' times: a month later for months, else after the commonest distance of two rows."""
    if len(moments) == 1:
        return first + steps.step_seconds
    monthly = all(moment.day == 1 and moment.hour == moment.minute == 0 for moment in moments)
    gaps, counts = np.unique(np.diff(first), return_counts=True)
    if monthly and gaps.min() >= 28 * 86400.0:
        following = [_next_month(moment) for moment in moments]
        return np.array([(moment - steps.start).total_seconds() for moment in following])
    return first + gaps[np.argmax(counts)]


def _next_month(moment: cftime.datetime) -> cftime.datetime:
    later = moment + timedelta(days=32)
    return cftime.datetime(later.year, later.month, 1, calendar=moment.calendar)


def paired(observed: Observations, position: int, simulated: np.ndarray, steps: Steps) -> np.ndarray:
    """Times and pairs of one place, ``[pair, 3]``: step at which it begins, simulated and observed mean.

    Where the rows are longer than the steps, the steps within a row are averaged; where they are shorter, the rows
    within a step are. A pair is made only where nothing is missing.

    Parameters
    ----------
    observed : Observations
    position : int
        Of the place.
    simulated : ndarray
        Discharge of each step, m3 s-1.
    steps : Steps
    """
    values = observed.values[position]
    length = float(np.median(observed.last - observed.first))
    if length >= steps.step_seconds:
        begin = np.searchsorted(steps.edges, observed.first)
        end = np.searchsorted(steps.edges, observed.last)
        inside = (end < steps.edges.size) & (begin < end)
        exact = inside.copy()
        exact[inside] = ((steps.edges[begin[inside]] == observed.first[inside])
                         & (steps.edges[end[inside]] == observed.last[inside]))
        exact &= np.isfinite(values)
        sums = np.concatenate([[0.0], np.cumsum(simulated)])
        begin, end = begin[exact], end[exact]
        means = (sums[end] - sums[begin]) / np.maximum(1, end - begin)
        single = end - begin == 1
        means[single] = simulated[begin[single]]
        return np.stack([begin, means, values[exact]], axis=1).reshape(-1, 3)
    there = np.isfinite(values) & (observed.first >= 0.0) & (observed.last <= steps.edges[-1])
    step = np.searchsorted(steps.edges, observed.first[there], side="right") - 1
    count = np.bincount(step, minlength=steps.count)
    total = np.bincount(step, weights=values[there], minlength=steps.count)
    full = np.flatnonzero(count == round(steps.step_seconds / length))
    return np.stack([full, simulated[full], total[full] / count[full]], axis=1).reshape(-1, 3)


def skill(position: int, pairs: np.ndarray, steps: Steps) -> Skill:
    """Measures of the pairs of one place; 2009 form of the Kling-Gupta efficiency."""
    simulated, observed = pairs[:, 1], pairs[:, 2]
    dates = [date_text(int(steps.date[int(step)])) for step in (pairs[0, 0], pairs[-1, 0])]
    if np.ptp(observed) == 0.0 or np.ptp(simulated) == 0.0 or observed.sum() == 0.0:
        missing = (math.nan,) * 6
        bias = metrics.percent_bias(simulated, observed) if observed.sum() > 0.0 else math.nan
        return Skill(position, len(pairs), dates[0], dates[1], *missing, bias)
    offset = LOG_OFFSET * float(observed.mean())
    return Skill(position, len(pairs), dates[0], dates[1], *metrics.kling_gupta(simulated, observed),
                 metrics.nash_sutcliffe(simulated, observed),
                 metrics.log_nash_sutcliffe(simulated, observed, offset),
                 metrics.percent_bias(simulated, observed))


def date_text(date: int) -> str:
    """``20100731`` as ``2010-07-31``."""
    return f"{date // 10000:04d}-{date // 100 % 100:02d}-{date % 100:02d}"
