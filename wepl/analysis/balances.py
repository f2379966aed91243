"""Water balance tables of a result, and evapotranspiration by its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from wepl import registry
from wepl.analysis import network, result
from wepl.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

By = Literal["basin", "subbasin", "year", "month"]
_RULES = {"year": "YS", "month": "MS"}
_KM2_MM = 1e3  # m3 in 1 mm over 1 km2


def water_balance(data: xr.Dataset, by: By = "basin") -> pd.DataFrame:
    """Water balance of the run.

    Parameters
    ----------
    data : xarray.Dataset
        A result. All but ``basin`` needs ``precipitation_depth`` and ``evapotranspiration``.
    by : {"basin", "subbasin", "year", "month"}
        Whole basin and run, term by term; each sub-basin over the run; or the basin in each calendar year or month
        that the run has something of.

    Returns
    -------
    pandas.DataFrame
        ``basin``: index term, columns ``depth_mm`` (over the basin) and ``volume_m3``, as the run closed it. Else
        ``precipitation_mm``, ``evapotranspiration_mm``, ``outflow_mm`` (at the reach's end less what came in from
        upstream; at the outlets for years and months) and ``storage_change_mm``, which is what remains: change of all
        storages, and loss to depth where the basin has one. Sub-basins have ``area_km2`` too.

    Raises
    ------
    InputError
        A variable is not in the result, or ``by`` is unknown.
    """
    import pandas as pd

    if by == "basin":
        result.need(data, "balance_term", why="the water balance")
        return pd.DataFrame({"depth_mm": data["balance_depth"].values, "volume_m3": data["balance_volume"].values},
                            index=pd.Index(data["balance_term"].values.astype(str), name="term"))
    if by not in ("subbasin", *_RULES):
        raise InputError(f"water balance by {by!r}: choose basin, subbasin, year or month")
    result.need(data, "precipitation_depth", "evapotranspiration", why=f"the water balance by {by}")
    table = _of_subbasins(data) if by == "subbasin" else _of_periods(data, _RULES[by])
    table["storage_change_mm"] = table["precipitation_mm"] - table["evapotranspiration_mm"] - table["outflow_mm"]
    return table


def _of_subbasins(data: xr.Dataset) -> pd.DataFrame:
    import pandas as pd

    area = result.subbasin_areas(data)
    below = result.downstream(data)
    volume = data["discharge"].sum("time").values * result.step_seconds(data)
    net = volume.copy()
    inside = below >= 0
    np.subtract.at(net, below[inside], volume[inside])
    depths = {f"{name}_mm": network.to_subbasins(data, data[variable].sum("time", dtype=float, keep_attrs=True)).values
              for name, variable in (("precipitation", "precipitation_depth"),
                                     ("evapotranspiration", "evapotranspiration"))}
    return pd.DataFrame({"area_km2": area, **depths, "outflow_mm": net / area / _KM2_MM},
                        index=pd.Index(data["subbasin"].values, name="subbasin"))


def _of_periods(data: xr.Dataset, rule: str) -> pd.DataFrame:
    import pandas as pd

    leaving = data["discharge"].isel(subbasin=np.flatnonzero(result.downstream(data) < 0)).sum("subbasin").values
    columns = {f"{name}_mm": network.basin_mean(data, data[variable]).values
               for name, variable in (("precipitation", "precipitation_depth"),
                                      ("evapotranspiration", "evapotranspiration"))}
    columns["outflow_mm"] = leaving * result.step_seconds(data) / result.unit_areas(data).sum() / _KM2_MM
    return _periods(pd.DataFrame(columns, index=result.times(data)), rule)


def _periods(frame: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Sums over calendar years or months, named by year or ``YYYY-MM``."""
    total = frame.resample(rule).sum()
    total.index = total.index.to_period("Y" if rule == "YS" else "M")
    total.index.name = "year" if rule == "YS" else "month"
    return total


def evapotranspiration_by_source(data: xr.Dataset, by: By = "year") -> pd.DataFrame:
    """Evapotranspiration of each source.

    Parameters
    ----------
    data : xarray.Dataset
        A result with the six variables of :data:`wepl.registry.EVAPORATION`.
    by : {"basin", "subbasin", "year", "month"}
        Whole run, each sub-basin over the run, or calendar years or months of the basin.

    Returns
    -------
    pandas.DataFrame
        mm over the place; a column per source, such as ``transpiration_mm``.

    Raises
    ------
    InputError
        A source is not in the result, or ``by`` is unknown.
    """
    import pandas as pd

    if by not in ("basin", "subbasin", *_RULES):
        raise InputError(f"evapotranspiration by {by!r}: choose basin, subbasin, year or month")
    result.need(data, *registry.EVAPORATION, why="evapotranspiration by source")
    if by == "subbasin":
        return pd.DataFrame(
            {f"{name}_mm": network.to_subbasins(data, data[name].sum("time", dtype=float, keep_attrs=True)).values
             for name in registry.EVAPORATION}, index=pd.Index(data["subbasin"].values, name="subbasin"))
    frame = pd.DataFrame({f"{name}_mm": network.basin_mean(data, data[name]).values for name in registry.EVAPORATION},
                         index=result.times(data))
    if by == "basin":
        return frame.sum().to_frame("basin").T
    return _periods(frame, _RULES[by])
