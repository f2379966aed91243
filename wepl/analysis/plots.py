"""Pictures of a result, each with its units on the axes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wepl.analysis import balances, maps, observed, series

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes

_FLOW = f"discharge, {series.UNITS}"
_TERMS = {"precipitation_depth": "precipitation", "evapotranspiration": "evapotranspiration", "outflow": "outflow",
          "deep_loss": "deep loss", "storage_change": "storage change"}


class Plots:
    """Pictures of one result; each method returns the matplotlib axes it drew on.

    Parameters
    ----------
    data : xarray.Dataset
        A result.
    """

    def __init__(self, data: xr.Dataset) -> None:
        maps.require_matplotlib()
        self._data = data

    def hydrograph(self, gauge: str | int | None = None, given: pd.DataFrame | pd.Series | str | Path | None = None,
                   step: series.Step = "step", units: str | None = None, axes: Axes | None = None) -> Axes:
        """Discharge at gauges, and what was observed there.

        Parameters
        ----------
        gauge, step
            See :func:`wepl.analysis.series.hydrograph`.
        given : DataFrame, Series or path, optional
            Observed discharge; see :func:`wepl.analysis.observed.compare`. Needs ``step="step"``.
        units : str, optional
            Unit of the observations.
        axes : matplotlib.axes.Axes, optional
        """
        drawn = _axes(axes)
        if given is None:
            flows = series.hydrograph(self._data, gauge, step)
            for name, flow in (flows.items() if flows.ndim == 2 else [(flows.name, flows)]):
                drawn.plot(flow.index, flow.to_numpy(), linewidth=0.9, label=str(name))
        else:
            for name, both in observed.paired(self._data, given, gauge, units).items():
                drawn.plot(both.index, both["observed"].to_numpy(), "k.", markersize=2.5, label=f"{name}, observed")
                drawn.plot(both.index, both["simulated"].to_numpy(), linewidth=0.9, label=f"{name}, simulated")
        drawn.set(ylabel=_FLOW, xlabel="time (UTC)")
        drawn.set_ylim(bottom=0.0)
        drawn.legend(fontsize="small")
        return drawn

    def flow_duration(self, gauge: str | int | None = None, axes: Axes | None = None) -> Axes:
        """Flow-duration curves on a logarithmic scale."""
        drawn = _axes(axes)
        curves = series.flow_duration(self._data, gauge)
        for name, curve in (curves.items() if curves.ndim == 2 else [(curves.name, curves)]):
            positive = curve[curve > 0.0]
            drawn.semilogy(positive.index, positive.to_numpy(), label=str(name))
        drawn.set(ylabel=_FLOW, xlabel=str(curves.index.name), xlim=(0.0, 100.0))
        drawn.legend(fontsize="small")
        return drawn

    def regime(self, gauge: str | int | None = None, axes: Axes | None = None) -> Axes:
        """Mean discharge of the months of the year."""
        drawn = _axes(axes)
        flows = series.regime(self._data, gauge)
        for name, flow in (flows.items() if flows.ndim == 2 else [(flows.name, flows)]):
            drawn.plot(flow.index, flow.to_numpy(), marker="o", markersize=3, label=str(name))
        drawn.set(ylabel=_FLOW, xlabel="month", xticks=range(1, 13))
        drawn.set_ylim(bottom=0.0)
        drawn.legend(fontsize="small")
        return drawn

    def water_balance(self, by: balances.By = "year", axes: Axes | None = None) -> Axes:
        """Precipitation, and what became of it: bars of evapotranspiration, outflow and storage."""
        table = balances.water_balance(self._data, by)
        if by == "basin":
            table = table.loc[list(_TERMS), ["depth_mm"]].set_axis(list(_TERMS.values()))
        else:
            table = table.drop(columns="area_km2", errors="ignore")
            table.columns = [_words(name) for name in table.columns]
        return _bars(table, f"water, {_per(by)}", by, _axes(axes), stacked=False)

    def evapotranspiration(self, by: balances.By = "year", axes: Axes | None = None) -> Axes:
        """Evapotranspiration by source, stacked."""
        table = balances.evapotranspiration_by_source(self._data, by)
        table.columns = [_words(name) for name in table.columns]
        return _bars(table, f"evapotranspiration, {_per(by)}", by, _axes(axes), stacked=True)


def _per(by: str) -> str:
    return f"mm per {by}" if by in ("year", "month") else "mm over the run"


def _words(name: object) -> str:
    return str(name).removesuffix("_mm").replace("_", " ")


def _axes(axes: Axes | None) -> Axes:
    if axes is not None:
        return axes
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(9.0, 4.0), layout="constrained")[1]


def _bars(table: pd.DataFrame, label: str, by: str, axes: Axes, stacked: bool) -> Axes:
    drawn: Any = table.set_axis(table.index.astype(str)).plot.bar(ax=axes, stacked=stacked, width=0.8)
    drawn.set(ylabel=label, xlabel="" if by == "basin" else by.replace("subbasin", "sub-basin"))
    drawn.axhline(0.0, color="black", linewidth=0.8)
    count = len(table)
    every = max(1, -(-count // 24))
    drawn.set_xticks(range(0, count, every), [str(name) for name in table.index[::every]],
                     rotation=0 if count < 8 else 90)
    if table.shape[1] > 1:
        drawn.legend(fontsize="small")
    else:
        drawn.get_legend().remove()
    return drawn
