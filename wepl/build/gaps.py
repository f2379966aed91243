"""Gaps in the records of stations: refused, or filled as asked and reported."""

from __future__ import annotations

import numpy as np

from wepl.build import clock
from wepl.build.clock import DAY, Steps
from wepl.errors import InputError

_HALF_WINDOW = 7  # days on either side of the day of the year


def fill(values: np.ndarray, steps: Steps, name: str, stations: list[str], rule: str, most_days: float,
         notes: list[str]) -> np.ndarray:
    """Treat missing values of one variable.

    Parameters
    ----------
    values : ndarray
        [time, station], NaN where missing.
    steps : Steps
    name : str
        Forcing variable.
    stations : list of str
    rule : str
        ``refuse``; ``neighbours`` leaves a station out while it is missing; ``climatology`` takes the station's mean of
        the same time of day within a week of the same day of other years.
    most_days : float
        Longest gap that is filled.
    notes : list
        A line per station that has gaps is added.

    Returns
    -------
    ndarray
        Values with gaps filled; with ``neighbours`` they stay NaN.

    Raises
    ------
    InputError
        There are gaps and none may be filled, one is too long, or all stations are missing at once.
    """
    missing = np.isnan(values)
    if not missing.any():
        return values
    if rule == "refuse":
        step, first = (int(place[0]) for place in np.nonzero(missing))
        raise InputError(f"forcing: {name} is missing {int(missing.sum())} times at "
                         f"{int(missing.any(axis=0).sum())} of {len(stations)} stations, first at {stations[first]} "
                         f"on {_label(steps, step)}: fill the gaps, or set gaps = 'neighbours' or 'climatology'")
    for column, station in enumerate(stations):
        length, begin = longest_run(missing[:, column])
        if length * steps.step > most_days * DAY:
            raise InputError(f"forcing: {name} of station {station} is missing for {length * steps.step / DAY:g} days "
                             f"from {_label(steps, begin)}, longer than max_gap_days = {most_days:g}: drop the "
                             "station, choose another period, or raise max_gap_days")
        if missing[:, column].any():
            notes.append(f"{name} of station {station}: {int(missing[:, column].sum())} of {steps.n_steps} values "
                         f"missing, filled by {rule}")
    if rule == "climatology":
        return _climatology(values, steps, name, stations)
    alone = missing.all(axis=1)
    if alone.any():
        raise InputError(f"forcing: {name} is missing at all stations on {_label(steps, int(np.argmax(alone)))} "
                         f"({int(alone.sum())} such steps): no neighbour is left; fill them, or set gaps = "
                         "'climatology'")
    return values


def _label(steps: Steps, step: int) -> str:
    return clock.label(steps.start + step * steps.step)


def longest_run(missing: np.ndarray) -> tuple[int, int]:
    """Length and begin of the longest run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], missing, [False]]).astype(np.int8)))
    if edges.size == 0:
        return 0, 0
    begins, lengths = edges[::2], edges[1::2] - edges[::2]
    longest = int(np.argmax(lengths))
    return int(lengths[longest]), int(begins[longest])


def _climatology(values: np.ndarray, steps: Steps, name: str, stations: list[str]) -> np.ndarray:
    """Means of the same time of day within a week of the same day of the year."""
    per_day = DAY // steps.step
    moments = steps.start + steps.step * np.arange(steps.n_steps)
    days, place = np.unique(moments // DAY, return_inverse=True)
    of_year = np.array([date.dayofyr - 1 for date in clock.to_dates(days * DAY, "standard")])[place]
    of_day = (moments % DAY) // steps.step
    slot = of_year * per_day + of_day
    filled = values.copy()
    for column in range(values.shape[1]):
        series = values[:, column]
        known = np.isfinite(series)
        total = np.bincount(slot[known], weights=series[known], minlength=366 * per_day).reshape(366, per_day)
        count = np.bincount(slot[known], minlength=366 * per_day).reshape(366, per_day)
        around = range(-_HALF_WINDOW, _HALF_WINDOW + 1)
        total, count = (np.sum([np.roll(table, shift, axis=0) for shift in around], axis=0) for table in (total, count))
        lacking = np.flatnonzero(~known)
        at = of_year[lacking], of_day[lacking]
        if (count[at] == 0).any():
            first = int(lacking[np.argmax(count[at] == 0)])
            raise InputError(f"forcing: {name} of station {stations[column]} on {_label(steps, first)} has no value "
                             "within a week of that day in any year: it cannot be filled by climatology")
        filled[lacking, column] = total[at] / count[at]
    return filled
