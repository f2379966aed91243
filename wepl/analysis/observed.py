"""Observed discharge beside the simulated one: units, places and times brought together, and a table of measures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl import units as unit_tables
from wepl.analysis import metrics, network, result
from wepl.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_DISCHARGE, _DEPTH_RATE = "m3 s-1", "m s-1"
# "Waizhou (m3/s)", "Waizhou [ft3 s-1]"
_HEADING = re.compile(r"(?P<name>.*?)\s*[\[(](?P<units>[^\])]+)[\])]\s*")
# Offset of logarithms, share of the mean observation (Pushpalatha et al. 2012).
_LOG_OFFSET = 0.01
_COLUMNS = ("kge", "r", "alpha", "beta", "nse", "log_nse", "bias_percent", "pairs", "first", "last")
_MONTH_DAYS, _YEAR_DAYS = (28.0, 31.0), (365.0, 366.0)


def read_observed(observed: pd.DataFrame | pd.Series | str | Path, units: str | None = None) -> pd.DataFrame:
    """Observed discharge as a table with a column per gauge.

    Parameters
    ----------
    observed : DataFrame, Series or path
        Indexed by time; or a CSV file whose first column is time and whose other columns are gauges. A heading may end
        with its unit: ``Waizhou (m3/s)``.
    units : str, optional
        Unit of the columns whose heading has none; ``attrs["units"]`` of the table or m3 s-1 when None.

    Returns
    -------
    pandas.DataFrame
        Columns are gauges; ``attrs["units"]`` is a mapping of column to unit. Times are UTC without a zone.

    Raises
    ------
    InputError
        The file cannot be read, times are no times or stand twice, or a value is no number.
    """
    import pandas as pd

    frame = _frame(observed)
    given = frame.attrs.get("units")
    default = units or (given if isinstance(given, str) else None) or _DISCHARGE
    try:
        dated = isinstance(frame.index, pd.DatetimeIndex)
        index = frame.index if dated else pd.DatetimeIndex(pd.to_datetime(frame.index, format="ISO8601"))
    except (ValueError, TypeError) as error:
        raise InputError(f"the observations' times cannot be read: {error}; write them as 2010-07-31 or "
                         "2010-07-31T06:00") from None
    frame.index = index.tz_convert("UTC").tz_localize(None) if index.tz is not None else index
    if frame.index.hasnans or frame.index.has_duplicates:
        raise InputError("the observations have a row without a time, or a time twice: mend the table")
    columns, found = {}, {}
    for heading in frame.columns:
        match = _HEADING.fullmatch(str(heading))
        name = (match["name"] if match else str(heading)).strip()
        try:
            columns[name] = pd.to_numeric(frame[heading]).astype(float)
        except (ValueError, TypeError) as error:
            raise InputError(f"observed {name}: {error}; leave a cell empty where a value is missing") from None
        found[name] = match["units"].strip() if match else default
    table = pd.DataFrame(columns, index=frame.index).sort_index()
    table.attrs["units"] = found
    return table


def _frame(observed: pd.DataFrame | pd.Series | str | Path) -> pd.DataFrame:
    import pandas as pd

    if isinstance(observed, pd.Series):
        frame = observed.to_frame(str(observed.name) if observed.name is not None else "observed")
        frame.attrs = dict(observed.attrs)
        return frame
    if isinstance(observed, pd.DataFrame):
        return observed.copy()
    try:
        frame = pd.read_csv(observed, index_col=0, comment="#", skipinitialspace=True, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"{observed} cannot be read as a table: {error}; give a CSV file with a column of times and a "
                         "column per gauge") from None
    if frame.shape[1] == 0 or frame.empty:
        raise InputError(f"{observed} holds no observations; give a column of times and a column per gauge")
    return frame


def in_discharge(data: xr.Dataset, values: np.ndarray, units: str, gauge: str) -> np.ndarray:
    """Values in m3 s-1; a depth over time (mm d-1) is taken over the area above the gauge.

    Raises
    ------
    InputError
        The unit is no discharge.
    """
    try:
        factor, offset = unit_tables.linear(units, _DISCHARGE)
    except ValueError:
        try:
            factor, offset = unit_tables.linear(units, _DEPTH_RATE)
        except ValueError as error:
            raise InputError(f"observed {gauge}: {error}; give m3 s-1 or mm d-1") from None
        factor *= _area(data, gauge) * 1e6
    return factor * values + offset


def _area(data: xr.Dataset, gauge: str) -> float:
    """Area above a place as :func:`wepl.analysis.result.find_series` names it, km2."""
    names = result.gauge_names(data)
    number = (int(data["gauge_subbasin"].values[names.index(gauge)]) if gauge in names
              else int(gauge.removeprefix("sub-basin ")))
    return float(network.upstream_areas(data)[result.positions(data)[number]])


def aligned(simulated: pd.Series, observed: pd.Series, step_seconds: float) -> pd.DataFrame:
    """Columns ``simulated`` and ``observed`` at times that both cover whole.

    Where observations are days, months or years of a finer run, the run is averaged; where they are finer than the
    run's steps, they are. A time is the start of what it stands for.

    Parameters
    ----------
    simulated, observed : pandas.Series
        By time.
    step_seconds : float
        Step of the run.
    """
    import pandas as pd

    rule, seconds = _step(observed, step_seconds)
    if seconds > step_seconds:
        groups = simulated.resample(rule)
        length = pd.Series(step_seconds, index=simulated.index).resample(rule).sum()
        ends = length.index + pd.tseries.frequencies.to_offset(rule)
        whole = (ends - length.index).total_seconds() == length.to_numpy()
        simulated = groups.mean()[whole]
        if rule in ("MS", "YS"):
            # Months and years may be dated at any day of theirs.
            observed = observed.copy()
            observed.index = observed.index.to_period(rule[0]).to_timestamp()
    elif seconds < step_seconds:
        step = pd.Timedelta(seconds=step_seconds)
        groups = observed.resample(step, origin=simulated.index[0])
        observed = groups.mean()[groups.count() == round(step_seconds / seconds)]
    return pd.DataFrame({"simulated": simulated, "observed": observed}).dropna(subset=["observed"]).dropna(
        subset=["simulated"])


def _step(observed: pd.Series, step_seconds: float) -> tuple[str, float]:
    """Rule of pandas and seconds of the observations' usual step."""
    if len(observed) < 2:
        return f"{step_seconds:.0f}s", step_seconds
    gaps = np.diff(observed.index.to_numpy()) / np.timedelta64(1, "s")
    days = float(np.median(gaps)) / 86400.0
    if _MONTH_DAYS[0] <= days <= _MONTH_DAYS[1]:
        return "MS", days * 86400.0
    if _YEAR_DAYS[0] <= days <= _YEAR_DAYS[1]:
        return "YS", days * 86400.0
    values, counts = np.unique(gaps, return_counts=True)
    seconds = float(values[np.argmax(counts)])
    return f"{seconds:.0f}s", seconds


def compare(data: xr.Dataset, observed: pd.DataFrame | pd.Series | str | Path, gauge: str | int | None = None,
            units: str | None = None) -> pd.DataFrame:
    """How well the run follows observed discharge, gauge by gauge.

    Parameters
    ----------
    data : xarray.Dataset
        A result.
    observed : DataFrame, Series or path
        See :func:`read_observed`. Columns are named as the gauges of the result.
    gauge : str or int, optional
        The gauge of a series or of a table with one column, whatever its name.
    units : str, optional
        Unit of the observations; m3 s-1 when neither this nor the table says it. A depth over time such as mm d-1 is
        taken over the area above the gauge.

    Returns
    -------
    pandas.DataFrame
        Index gauge; ``kge`` (Gupta et al. 2009) with its components ``r``, ``alpha`` (ratio of standard deviations) and
        ``beta`` (ratio of means), ``nse``, ``log_nse`` (with a hundredth of the mean observation added),
        ``bias_percent`` (positive where the model gives too much), ``pairs``, ``first`` and ``last``. A measure that
        has no meaning, as where the observations do not vary, is NaN.

    Raises
    ------
    InputError
        A column is no gauge, a unit is no discharge, or no observation lies in the run.
    """
    import pandas as pd

    table = pd.DataFrame({name: measures(both) for name, both in paired(data, observed, gauge, units).items()}).T
    table = table.reindex(columns=list(_COLUMNS)).astype({"pairs": int})
    table.index.name = "gauge"
    numbers = [name for name in _COLUMNS if name not in ("pairs", "first", "last")]
    return table.astype(dict.fromkeys(numbers, float))


def paired(data: xr.Dataset, observed: pd.DataFrame | pd.Series | str | Path, gauge: str | int | None = None,
           units: str | None = None) -> dict[str, pd.DataFrame]:
    """Simulated and observed discharge, m3 s-1, at common times, by gauge; see :func:`compare`."""
    import pandas as pd

    table = read_observed(observed, units)
    if gauge is not None and table.shape[1] != 1:
        raise InputError(f"a gauge is named, but the observations have {table.shape[1]} columns: give one series")
    found = {}
    for column in table.columns:
        place = column if gauge is None else gauge
        (name, values), = result.find_series(data, place).items()
        simulated = pd.Series(values, index=result.times(data))
        given = table[column].dropna()
        given = pd.Series(in_discharge(data, given.to_numpy(), table.attrs["units"][column], name), index=given.index)
        both = aligned(simulated, given, result.step_seconds(data))
        if both.empty:
            ends = f"{simulated.index[0]:%Y-%m-%d} to {simulated.index[-1]:%Y-%m-%d}"
            raise InputError(f"no observation of {name} lies in the run, {ends}, on the same times: check the dates "
                             "and the hour of the observations")
        found[name] = both
    return found


def measures(both: pd.DataFrame) -> dict[str, object]:
    """Measures of the columns ``simulated`` and ``observed``; those without meaning are NaN."""
    s, o = both["simulated"].to_numpy(), both["observed"].to_numpy()
    found: dict[str, object] = dict.fromkeys(_COLUMNS, np.nan)
    found |= {"pairs": len(both), "first": both.index[0], "last": both.index[-1]}
    if o.sum() != 0.0:
        found["bias_percent"] = metrics.percent_bias(s, o)
    if np.ptp(o) == 0.0:
        return found
    found["nse"] = metrics.nash_sutcliffe(s, o)
    offset = _LOG_OFFSET * float(o.mean())
    if min(s.min(), o.min()) + offset > 0.0:
        found["log_nse"] = metrics.log_nash_sutcliffe(s, o, offset)
    if np.ptp(s) > 0.0 and o.sum() != 0.0:
        found["kge"], found["r"], found["alpha"], found["beta"] = metrics.kling_gupta(s, o)
    return found
