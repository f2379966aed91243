"""The accessor ``.wepl`` of a result's dataset: what one asks of a run, as tables of pandas and pictures of matplotlib.

``wepl.open_result`` and ``wepl.run`` bring it along; for a dataset that xarray opened, import this module.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from wepl.analysis import balances, maps, network, observed, plots, series
from wepl.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from wepl.basin.polygons import Polygon


@xr.register_dataset_accessor("wepl")
class ResultAccessor:
    """Views of a result. Make none; write ``result.wepl``.

    Parameters
    ----------
    data : xarray.Dataset
        A result of wepl.
    """

    def __init__(self, data: xr.Dataset) -> None:
        if "discharge" not in data.variables or "downstream" not in data.variables:
            raise InputError("this dataset is no result of wepl: it lacks discharge or downstream; open one with "
                             "wepl.open_result")
        self._data = data

    def hydrograph(self, gauge: str | int | None = None, step: series.Step = "step") -> pd.DataFrame | pd.Series:
        """Discharge at gauges, m3 s-1; see :func:`wepl.analysis.series.hydrograph`."""
        return series.hydrograph(self._data, gauge, step)

    def flow_duration(self, gauge: str | int | None = None) -> pd.DataFrame | pd.Series:
        """Flow-duration curve, m3 s-1 by per cent of time; see :func:`wepl.analysis.series.flow_duration`."""
        return series.flow_duration(self._data, gauge)

    def regime(self, gauge: str | int | None = None) -> pd.DataFrame | pd.Series:
        """Mean discharge of the months of the year, m3 s-1; see :func:`wepl.analysis.series.regime`."""
        return series.regime(self._data, gauge)

    def water_balance(self, by: balances.By = "basin") -> pd.DataFrame:
        """Water balance by basin, sub-basin, year or month, mm; see :func:`wepl.analysis.balances.water_balance`."""
        return balances.water_balance(self._data, by)

    def evapotranspiration_by_source(self, by: balances.By = "year") -> pd.DataFrame:
        """Evapotranspiration by source, mm; see :func:`wepl.analysis.balances.evapotranspiration_by_source`."""
        return balances.evapotranspiration_by_source(self._data, by)

    def upstream(self, variable: str) -> xr.DataArray:
        """A variable over all ground above each reach's end; see :func:`wepl.analysis.network.upstream`."""
        return network.upstream(self._data, variable)

    def subbasins(self, variable: str) -> xr.DataArray:
        """A variable of units as area-weighted means of sub-basins; see :func:`wepl.analysis.network.to_subbasins`."""
        return network.to_subbasins(self._data, self._data[variable])

    def compare(self, given: pd.DataFrame | pd.Series | str | Path, gauge: str | int | None = None,
                units: str | None = None) -> pd.DataFrame:
        """KGE, NSE, bias and more against observed discharge; see :func:`wepl.analysis.observed.compare`."""
        return observed.compare(self._data, given, gauge, units)

    def map(self, variable: str, time: str | None = None, how: str | None = None, *, layer: int = 1,
            axes: Axes | None = None, **drawing: Any) -> Axes:
        """Draw a variable of units or sub-basins as a map; see :func:`wepl.analysis.maps.draw`."""
        return maps.draw(self._data, variable, time, how, layer=layer, axes=axes, **drawing)

    @property
    def polygons(self) -> list[Polygon] | None:
        """Outlines of the sub-basins, or None; see :func:`wepl.basin.polygons.read_polygons`."""
        from wepl.basin.polygons import read_polygons

        return read_polygons(self._data)

    @property
    def plot(self) -> plots.Plots:
        """Pictures: ``plot.hydrograph``, ``plot.flow_duration``, ``plot.regime``, ``plot.water_balance``,
        ``plot.evapotranspiration``; see :class:`wepl.analysis.plots.Plots`."""
        return plots.Plots(self._data)
