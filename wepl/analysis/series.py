"""Hydrographs, flow duration and seasons as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from wepl.analysis import result
from wepl.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Step = Literal["step", "day", "month", "year"]
_RULES = {"day": "D", "month": "MS", "year": "YS"}
UNITS = "m3 s-1"


def hydrograph(data: xr.Dataset, gauge: str | int | None = None, step: Step = "step") -> pd.DataFrame | pd.Series:
    """Discharge at gauges.

    Parameters
    ----------
    data : xarray.Dataset
        A result.
    gauge : str or int, optional
        Name or identifier of a gauge, or identifier of a sub-basin; all gauges when None, or the outlets of a basin
        without gauges.
    step : {"step", "day", "month", "year"}
        Steps of the run, or means over days, months or calendar years (of what the run has of them).

    Returns
    -------
    pandas.DataFrame or pandas.Series
        A column per gauge; a series when one gauge is named. ``attrs["units"]`` is m3 s-1.

    Raises
    ------
    InputError
        There is no such gauge, or the step is unknown.
    """
    import pandas as pd

    frame = pd.DataFrame(result.find_series(data, gauge), index=result.times(data))
    frame = resampled(frame, step)
    frame.columns.name = f"discharge, {UNITS}"
    frame.attrs["units"] = UNITS
    if gauge is None:
        return frame
    series = frame.iloc[:, 0]
    series.attrs["units"] = UNITS
    return series


def resampled(frame: pd.DataFrame, step: Step) -> pd.DataFrame:
    """Means of a table over days, months or years; itself for ``step``."""
    if step == "step":
        return frame
    if step not in _RULES:
        raise InputError(f"step {step!r}: choose step, {', '.join(_RULES)}")
    return frame.resample(_RULES[step]).mean()


def flow_duration(data: xr.Dataset, gauge: str | int | None = None) -> pd.DataFrame | pd.Series:
    """Discharge that is reached or exceeded in a share of all steps.

    Parameters
    ----------
    data, gauge
        As for :func:`hydrograph`.

    Returns
    -------
    pandas.DataFrame or pandas.Series
        Discharge, m3 s-1, falling; the index is the exceedance probability in per cent, 100 m / (n + 1) of the m-th
        largest of n values (Weibull 1939).

    Raises
    ------
    InputError
        There is no such gauge.
    """
    import pandas as pd

    found = result.find_series(data, gauge)
    count = data.sizes["time"]
    index = pd.Index(100.0 * np.arange(1, count + 1) / (count + 1), name="exceedance probability, %")
    frame = pd.DataFrame({name: np.sort(values)[::-1] for name, values in found.items()}, index=index)
    frame.columns.name = f"discharge, {UNITS}"
    frame.attrs["units"] = UNITS
    if gauge is None:
        return frame
    return frame.iloc[:, 0]


def regime(data: xr.Dataset, gauge: str | int | None = None) -> pd.DataFrame | pd.Series:
    """Mean discharge of each month of the year.

    Each month of the run counts alike, so a run of whole years gives the usual regime.

    Parameters
    ----------
    data, gauge
        As for :func:`hydrograph`.

    Returns
    -------
    pandas.DataFrame or pandas.Series
        Index month 1 to 12 (those the run has); m3 s-1.
    """
    import pandas as pd

    monthly = hydrograph(data, gauge, "month")
    assert isinstance(monthly.index, pd.DatetimeIndex)
    mean = monthly.groupby(monthly.index.month).mean()
    mean.index.name = "month"
    mean.attrs["units"] = UNITS
    return mean
