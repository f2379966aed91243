"""Times of a build: whole seconds on the clock of one time zone, from CF axes and from what people write in tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cftime
import numpy as np

from wepl.errors import InputError

DAY = 86400
_EPOCH = "seconds since 1970-01-01"
_ZONE = re.compile(r"(?:UTC|GMT)?\s*(?:(?P<sign>[+-])\s*(?P<hour>\d{1,2})(?::?(?P<minute>\d{2}))?)?|Z", re.IGNORECASE)
# After a time of day only: the year of 31-07-2010 is no offset.
_OFFSET = re.compile(r"(?<=:\d{2})(?:\.\d+)?\s*(Z|UTC|[+-]\d{2}(?::?\d{2})?)$")
_FORMATS = ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y/%m/%d",
            "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y.%m.%d", "%Y%m%d", "%Y%m%d%H", "%Y%m%d%H%M", "%Y-%m-%d %H",
            "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S")
_SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})(.*)")


@dataclass(frozen=True)
class Steps:
    """Equal steps: start of the first (s since 1970-01-01 on the build's clock), length (s) and number."""

    start: int
    step: int
    n_steps: int

    @property
    def end(self) -> int:
        """End of the last step."""
        return self.start + self.step * self.n_steps


def zone_seconds(text: str) -> int:
    """Seconds east of UTC of ``UTC``, ``UTC+8``, ``+08:00`` or ``-5``.

    Raises
    ------
    InputError
        The text is no offset; names of places are not known.
    """
    match = _ZONE.fullmatch(text.strip())
    hours = int(match["hour"] or 0) if match else 99
    if match is None or hours > 14:
        raise InputError(f"forcing: time_zone = {text!r}: give the offset from UTC, such as 'UTC+8' or '-05:00'")
    seconds = hours * 3600 + int(match["minute"] or 0) * 60
    return -seconds if match["sign"] == "-" else seconds


def moment(text: str, calendar: str = "standard") -> int:
    """Seconds since 1970-01-01 of ISO text."""
    from wepl.run.clock import Clock

    return to_seconds(Clock(text, DAY, 1, calendar).start)


def to_seconds(when: cftime.datetime) -> int:
    """Whole seconds since 1970-01-01 in the calendar of ``when``."""
    return int(round(float(cftime.date2num(when, _EPOCH, when.calendar))))


def to_dates(seconds: np.ndarray, calendar: str) -> np.ndarray:
    """Dates of seconds since 1970-01-01."""
    return np.atleast_1d(cftime.num2date(np.asarray(seconds, dtype=np.int64), _EPOCH, calendar))


def label(seconds: int, calendar: str = "standard") -> str:
    """ISO text, without the time of day at midnight."""
    date = to_dates(np.array([seconds]), calendar)[0]
    return str(date.strftime("%Y-%m-%d" if seconds % DAY == 0 else "%Y-%m-%dT%H:%M"))


def parse_times(column: Sequence[Any], path: Path, name: str) -> tuple[np.ndarray, int | None]:
    """Times of a table.

    Parameters
    ----------
    column : sequence
        Dates and times as text, or as a workbook holds them.
    path, name : Path, str
        File and column, for messages.

    Returns
    -------
    seconds : ndarray
        int64, as they are written.
    offset : int or None
        Seconds east of UTC where the times say so.

    Raises
    ------
    InputError
        A time cannot be read, day and month cannot be told apart, or the times are of two time zones.
    """
    import pandas as pd

    written = [str(cell).strip() for cell in column]
    zones = {match[1] if match else "" for match in map(_OFFSET.search, written)}
    if len(zones) > 1:
        shown = ", ".join(sorted(zone or "none" for zone in zones))
        raise InputError(f"{path}: the times of column {name} are of two time zones ({shown}): give all of them in "
                         "one, without daylight saving")
    zone = zones.pop() if zones else ""
    plain = [text[:text.rindex(zone)].strip() for text in written] if zone else written
    plain = [text[:-2] if text.endswith(".0") else text for text in _unambiguous(plain, path, name)]
    parsed = None
    for form in _FORMATS:
        try:
            parsed = pd.to_datetime(plain, format=form)
            break
        except (ValueError, OverflowError):
            continue
    if parsed is None:
        place = _first_unreadable(plain)
        raise InputError(f"{path}: column {name}, row {place + 2}: {written[place]!r} is no time like the others: "
                         "write 2010-07-31 or 2010-07-31 06:00")
    if parsed.isna().any():
        place = int(np.argmax(parsed.isna()))
        raise InputError(f"{path}: column {name}, row {place + 2}: the time is missing: write it, or drop "
                         "the row")
    offset = None if not zone else 0 if zone in ("Z", "UTC") else zone_seconds(zone)
    return parsed.to_numpy().astype("datetime64[s]").astype(np.int64), offset


def _first_unreadable(texts: list[str]) -> int:
    """Row of the first time that the form of most of them does not read."""
    import pandas as pd

    best = max(_FORMATS, key=lambda form: int(pd.to_datetime(texts, format=form, errors="coerce").notna().sum()))
    return int(np.argmax(pd.to_datetime(texts, format=best, errors="coerce").isna()))


def _unambiguous(texts: list[str], path: Path, name: str) -> list[str]:
    """Dates such as 31/07/2010 or 7/31/2010 as ISO text, where one of them shows which number is the day."""
    matches = [_SLASHED.fullmatch(text) for text in texts]
    if not texts or not all(matches):
        return texts
    first = max(int(match[1]) for match in matches if match)
    second = max(int(match[2]) for match in matches if match)
    if (first > 12) == (second > 12):
        raise InputError(f"{path}: column {name}: {texts[0]!r} may be day/month or month/day: write 2010-07-31")
    order = (2, 1) if first > 12 else (1, 2)
    return [f"{match[3]}-{int(match[order[0]]):02d}-{int(match[order[1]]):02d}{match[4]}" for match in matches if match]
