"""The forcing table of one catchment: columns and times checked, converted to the file's layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry
from wepl.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_NEEDED = ("precipitation", "air_temperature", "relative_humidity", "wind_speed")
_SUN = ("shortwave_radiation", "sunshine_duration")


@dataclass(frozen=True)
class Table:
    """Checked forcing: ``values[name]`` over time, the ``units`` of each, and the step's time axis.

    ``start`` is an ISO date and time, ``step_seconds`` the length of the even steps, ``calendar`` of CF.
    """

    values: dict[str, np.ndarray]
    units: dict[str, str]
    start: str
    step_seconds: int
    calendar: str

    @property
    def n_steps(self) -> int:
        """Number of steps."""
        return next(iter(self.values.values())).size


def read_table(forcing: pd.DataFrame | Mapping[str, Sequence[float]], units: Mapping[str, str] | None = None,
               start: str | None = None, step: float | str | None = None, calendar: str = "standard") -> Table:
    """Check a forcing table.

    Parameters
    ----------
    forcing : pandas.DataFrame, or mapping of equally long sequences
        Columns are the registry's forcing names; other columns of a frame are refused too, so that a misspelt name
        cannot be overlooked. A frame with a DatetimeIndex brings its times, the start of each step.
    units : mapping, optional
        Unit of each column; the registry's file unit where none is given.
    start : str, optional
        Start of the first step (ISO); needed where the table has no times.
    step : float or str, optional
        Step in s, or as pandas writes it ("1h", "1D"); needed where the table has no times.
    calendar : str
        ``standard`` or ``noleap`` (only without times).

    Raises
    ------
    InputError
        A column is missing or unknown, has missing values, lengths differ, or times are not even.
    """
    columns = _columns(forcing)
    known = {entry.name: entry for entry in registry.of_kind("forcing")}
    unknown = [str(name) for name in columns if name not in known]
    if unknown:
        raise InputError(f"forcing: unknown column {', '.join(unknown)}: choose from {', '.join(known)}")
    missing = [name for name in _NEEDED if name not in columns]
    if missing:
        raise InputError(f"forcing: the column {', '.join(missing)} is missing")
    if not any(name in columns for name in _SUN):
        raise InputError(f"forcing: one of the columns {' or '.join(_SUN)} is needed")
    strange = [name for name in units or {} if name not in columns]
    if strange:
        raise InputError(f"forcing: units were given for {', '.join(strange)}, which is no column of the table")
    values = {name: _column(name, columns[name]) for name in known if name in columns}
    lengths = {name: column.size for name, column in values.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"forcing: the columns differ in length: {lengths}")
    if next(iter(lengths.values())) == 0:
        raise InputError("forcing: the table has no rows")
    used = {name: (units or {}).get(name, known[name].file_units) for name in values}
    begins, seconds = _times(forcing, start, step)
    return Table(values, used, begins, seconds, calendar)


def _columns(forcing: pd.DataFrame | Mapping[str, Sequence[float]]) -> dict[str, np.ndarray]:
    if not hasattr(forcing, "items"):
        raise InputError(f"forcing: a {type(forcing).__name__} was given: give a pandas DataFrame or a mapping of "
                         "arrays")
    return {name: np.asarray(column) for name, column in forcing.items()}


def _column(name: str, column: np.ndarray) -> np.ndarray:
    if column.ndim != 1 or column.dtype.kind not in "fiu":
        raise InputError(f"forcing: {name} is not a list of numbers (shape {column.shape}, type {column.dtype})")
    values = column.astype(float)
    wrong = ~np.isfinite(values)
    if wrong.any():
        raise InputError(f"forcing: {name} has {int(wrong.sum())} missing values, the first in row "
                         f"{int(np.argmax(wrong))}: fill the gaps first")
    return values


def _times(forcing: pd.DataFrame | Mapping[str, Sequence[float]], start: str | None,
           step: float | str | None) -> tuple[str, int]:
    """Start (ISO) and step in s, from the frame's times or as given."""
    import pandas as pd

    index = getattr(forcing, "index", None)
    if isinstance(index, pd.DatetimeIndex):
        return _from_index(index, start, step)
    if start is None or step is None:
        raise InputError("forcing: the table has no times: give start and step, or a DataFrame with a DatetimeIndex")
    return str(pd.Timestamp(start).isoformat()), _seconds(step)


def _from_index(index: pd.DatetimeIndex, start: str | None, step: float | str | None) -> tuple[str, int]:
    if start is not None:
        raise InputError("forcing: the table has times of its own: leave start out")
    if index.tz is not None:
        index = index.tz_convert("UTC").tz_localize(None)
    if len(index) < 2:
        if step is None:
            raise InputError("forcing: one row does not tell the step: give step")
        return str(index[0].isoformat()), _seconds(step)
    differences = np.diff(index.to_numpy().astype("datetime64[s]")).astype("timedelta64[s]").astype(np.int64)
    usual = int(np.median(differences))
    uneven = differences != usual
    if uneven.any():
        at = int(np.argmax(uneven))
        raise InputError(f"forcing: times are not even: from {index[at]} to {index[at + 1]} pass {differences[at]} s, "
                         f"elsewhere {usual} s: fill the gap first")
    if step is not None and _seconds(step) != usual:
        raise InputError(f"forcing: step is {step}, but the table's times are {usual} s apart")
    return str(index[0].isoformat()), _seconds(usual)


def _seconds(step: float | str) -> int:
    import pandas as pd

    seconds = pd.Timedelta(step).total_seconds() if isinstance(step, str) else float(step)
    if not (3600 <= seconds <= 86400 and 86400 % seconds == 0):
        raise InputError(f"forcing: a step of {seconds:g} s cannot be used: it must be from one hour to one day, and a "
                         "day a whole number of steps")
    return int(seconds)


def time_coordinate(table: Table) -> tuple[np.ndarray, dict[str, str]]:
    """Values and attributes of the CF time coordinate, at the start of each step."""
    start = table.start.replace("T", " ")
    attributes = {"units": f"hours since {start}", "calendar": table.calendar, "standard_name": "time",
                  "long_name": "start of the step", "axis": "T"}
    return np.arange(table.n_steps) * (table.step_seconds / 3600.0), attributes
