"""The run's clock: steps of equal length from a start in a CF calendar."""

from __future__ import annotations

import re
from datetime import timedelta

import cftime
import numpy as np

from wepl.errors import InputError

CALENDARS = ("standard", "gregorian", "proleptic_gregorian", "noleap", "365_day")
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?)?Z?")


class Clock:
    """Equal steps, each named by the moment at which it starts.

    Parameters
    ----------
    start : str or cftime.datetime
        Start of step 0 (UTC), ISO text such as ``2010-01-01`` or ``2010-01-01T06:00``.
    step_seconds : float
        Length of a step, s.
    n_steps : int
        Number of steps.
    calendar : str
        ``standard`` (or ``proleptic_gregorian``) or ``noleap``.
    """

    def __init__(self, start: str | cftime.datetime, step_seconds: float, n_steps: int,
                 calendar: str = "standard") -> None:
        self.calendar = {"gregorian": "standard", "365_day": "noleap"}.get(calendar, calendar)
        self.step_seconds = float(step_seconds)
        self.n_steps = int(n_steps)
        self.start = self._parse(start)[0] if isinstance(start, str) else start

    def __repr__(self) -> str:
        return f"Clock({self.label(0)!r}, {self.step_seconds:g}, {self.n_steps}, {self.calendar!r})"

    def _parse(self, text: str) -> tuple[cftime.datetime, bool]:
        """The moment that ``text`` names, and whether it is a whole day."""
        match = _ISO.fullmatch(text.strip())
        if not match:
            raise InputError(f"{text!r} is not a date: write 2010-07-31 or 2010-07-31T06:00")
        numbers = [int(part or 0) for part in match.groups()]
        try:
            moment = cftime.datetime(*numbers, calendar=self.calendar)
        except ValueError as error:
            raise InputError(f"{text!r} is not a date of the {self.calendar} calendar: {error}") from None
        return moment, match.group(4) is None

    def moment(self, step: int) -> cftime.datetime:
        """Start of a step; ``n_steps`` gives the end of the last one."""
        return self.start + timedelta(seconds=step * self.step_seconds)

    def label(self, step: int) -> str:
        """Start of a step as ISO text, without the hour where all steps start at midnight."""
        moment = self.moment(step)
        midnights = self.step_seconds % 86400 == 0 and self.start.hour == self.start.minute == self.start.second == 0
        if midnights:
            return str(moment.strftime("%Y-%m-%d"))
        return str(moment.strftime("%Y-%m-%dT%H:%M:%S" if moment.second else "%Y-%m-%dT%H:%M"))

    def index(self, text: str, end: bool = False) -> int:
        """Number of the step that ``text`` names.

        Parameters
        ----------
        text : str
            ISO date or moment. A date names the first of its steps that is there, or the last with ``end``; a moment
            names the step that holds it.
        end : bool
            Whether the step closes a period.

        Raises
        ------
        InputError
            The text is no date, or lies outside the forcing.
        """
        moment, whole_day = self._parse(text)
        seconds = (moment - self.start).total_seconds()
        if whole_day:
            first = int(np.ceil(seconds / self.step_seconds))
            last = int(np.ceil((seconds + 86400.0) / self.step_seconds)) - 1
        else:
            first = last = int(np.floor(seconds / self.step_seconds))
        step = min(last, self.n_steps - 1) if end else max(first, 0)
        if last < 0 or first >= self.n_steps:
            raise InputError(f"{text} lies outside the forcing, which goes from {self.label(0)} to "
                             f"{self.label(self.n_steps - 1)}: choose a date within it")
        return step

    def _middles(self, first: int, last: int) -> list[cftime.datetime]:
        half = 0.5 * self.step_seconds
        return [self.start + timedelta(seconds=step * self.step_seconds + half) for step in range(first, last)]

    def day_of_year(self, first: int, last: int) -> np.ndarray:
        """Day of the year (1 to 366) at the middle of steps ``first`` to ``last`` (not included)."""
        return np.array([moment.dayofyr for moment in self._middles(first, last)], dtype=float)

    def solar_hour(self, first: int, last: int) -> np.ndarray:
        """UTC hour (h) at the middle of steps ``first`` to ``last`` (not included)."""
        return np.array([moment.hour + moment.minute / 60.0 + moment.second / 3600.0
                         for moment in self._middles(first, last)], dtype=float)

    def month_weights(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How monthly values, taken to stand at mid-month, are interpolated to the steps' middles.

        Returns
        -------
        before, after : ndarray of int
            Months (0 to 11) on either side of each step ``first`` to ``last`` (not included).
        weight : ndarray
            Weight of ``after``; ``before`` has the rest.
        """
        before, after, weight = [], [], []
        for moment in self._middles(first, last):
            length = moment.daysinmonth
            share = (moment.day - 1 + (moment.hour + moment.minute / 60.0) / 24.0) / length
            month = moment.month - 1
            other = (month + (1 if share >= 0.5 else -1)) % 12
            span = 0.5 * (length + _month_length(other, moment))
            away = abs(share - 0.5) * length / span
            before.append(month if share >= 0.5 else other)
            after.append(other if share >= 0.5 else month)
            weight.append(away if share >= 0.5 else 1.0 - away)
        return np.array(before, dtype=int), np.array(after, dtype=int), np.array(weight)


def _month_length(month: int, near: cftime.datetime) -> int:
    """Days of month 0 to 11 of the year of ``near``."""
    return int(cftime.datetime(near.year, month + 1, 1, calendar=near.calendar).daysinmonth)
