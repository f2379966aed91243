"""Periods of a run: its steps grouped into days, thirds of months, months and years of any calendar."""

from __future__ import annotations

from dataclasses import dataclass

import cftime
import numpy as np

LADDER = ("step", "day", "dekad", "month", "year")


@dataclass(frozen=True)
class Periods:
    """Steps in groups, the groups in order.

    Attributes
    ----------
    name : str
        One of :data:`LADDER`.
    of_step : ndarray of int
        Group of each step.
    first : ndarray of int
        First step of each group.
    """

    name: str
    of_step: np.ndarray
    first: np.ndarray

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self.first.size)

    def sums(self, values: np.ndarray, start: int, target: np.ndarray) -> None:
        """Add steps ``start`` on (along the first axis) to the sums of their groups."""
        groups = self.of_step[start:start + len(values)]
        begins = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
        target[groups[begins]] += np.add.reduceat(values, begins, axis=0)

    def lengths(self) -> np.ndarray:
        """Steps in each group."""
        return np.diff(np.append(self.first, self.of_step.size))


@dataclass(frozen=True)
class Steps:
    """The steps of a run in its calendar.

    Attributes
    ----------
    edges : ndarray
        Starts of the steps and the end of the last, seconds from the start of the run.
    date, minute : ndarray of int
        Start of each step as year * 10000 + month * 100 + day, and minutes of that day.
    calendar : str
    start, end : cftime.datetime
        Ends of the run.
    """

    edges: np.ndarray
    date: np.ndarray
    minute: np.ndarray
    calendar: str
    start: cftime.datetime
    end: cftime.datetime

    @classmethod
    def from_edges(cls, values: np.ndarray, units: str, calendar: str) -> Steps:
        """Steps from their bounds, as a result file holds them."""
        moments = cftime.num2date(values, units, calendar, only_use_cftime_datetimes=True)
        date = np.array([moment.year * 10000 + moment.month * 100 + moment.day for moment in moments[:-1]])
        minute = np.array([moment.hour * 60 + moment.minute for moment in moments[:-1]])
        seconds = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}[units.split(" ", 1)[0]]
        edges = (values - values[0]) * seconds
        return cls(edges, date, minute, calendar, moments[0], moments[-1])

    @property
    def count(self) -> int:
        """Number of steps."""
        return int(self.date.size)

    @property
    def step_seconds(self) -> float:
        """Length of a step, s."""
        return float(self.edges[1])

    def periods(self, name: str) -> Periods:
        """Groups of one kind."""
        if name == "step":
            every = np.arange(self.count)
            return Periods(name, every, every)
        day = self.date % 100
        key = {"day": self.date, "month": self.date // 100, "year": self.date // 10000,
               "dekad": self.date // 100 * 10 + np.minimum((day - 1) // 10, 2)}[name]
        starts = np.diff(key, prepend=key[0] - 1) != 0
        return Periods(name, np.cumsum(starts) - 1, np.flatnonzero(starts))

    def ladder(self) -> list[Periods]:
        """Groups from the finest on, each coarser than the one before; months and years always stand."""
        found = [self.periods("step")]
        for name in LADDER[1:]:
            groups = self.periods(name)
            if groups.count < found[-1].count or name in ("month", "year"):
                found.append(groups)
        return found

    def complete_years(self) -> np.ndarray:
        """Whether the run holds all of each of its years."""
        years = self.periods("year")
        first = [self.start.year + place for place in range(years.count)]
        opens = [cftime.datetime(year, 1, 1, calendar=self.start.calendar) for year in first]
        closes = [cftime.datetime(year + 1, 1, 1, calendar=self.start.calendar) for year in first]
        return np.array([self.start <= a and b <= self.end for a, b in zip(opens, closes, strict=True)])
