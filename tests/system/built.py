"""What is asked of each real basin that is built from raw files: its network, its run, and its discharge."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import xarray as xr

from wepl.analysis import metrics
from wepl.basin.dataset import Basin
from wepl.run.simulation import run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name: str) -> ModuleType:
    """A script of the folder ``examples`` as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def upstream_areas(basin: Basin) -> dict[int, float]:
    """Area above the end of each reach, km2, summed down the network; fails on a cycle."""
    values = basin.parameters
    ids = values["subbasin"].values.tolist()
    below = dict(zip(ids, values["downstream"].values.tolist(), strict=True))
    own = pd.Series(values["unit_area"].values / 1e6).groupby(values["unit_subbasin"].values).sum()
    total = dict.fromkeys(ids, 0.0)
    for start in ids:
        at, steps = start, 0
        while at != -1:
            total[at] += own[start]
            at, steps = below[at], steps + 1
            assert steps <= len(ids), f"sub-basin {start} leads into a cycle"
    return total


def gauge_areas(basin: Basin) -> dict[str, float]:
    """Area above each gauge, km2."""
    total, values = upstream_areas(basin), basin.parameters
    names = [str(name) for name in values["gauge_name"].values]
    return {name: total[at] for name, at in zip(names, values["gauge_subbasin"].values.tolist(), strict=True)}


def outlets(basin: Basin) -> list[int]:
    """Identifiers of the sub-basins at outlets."""
    values = basin.parameters
    return values["subbasin"].values[values["downstream"].values == -1].tolist()


@dataclass(frozen=True)
class Agreement:
    """Volume error (%), and the efficiencies of Kling and Gupta and of Nash and Sutcliffe."""

    volume_error: float
    kling_gupta: metrics.KlingGupta
    nash_sutcliffe: float

    def text(self) -> str:
        """The scores for people."""
        kge = self.kling_gupta
        return (f"volume error {self.volume_error:+.1f} %, KGE {kge.efficiency:.3f} (r {kge.correlation:.3f}, alpha "
                f"{kge.variability:.3f}, beta {kge.bias:.3f}), NSE {self.nash_sutcliffe:.3f}")


def agreement(simulated: pd.Series, measured: pd.Series) -> Agreement:
    """Scores over the times that both have."""
    both = pd.concat([simulated, measured], axis=1, join="inner").dropna().to_numpy().T
    return Agreement(metrics.percent_bias(*both), metrics.kling_gupta(*both), metrics.nash_sutcliffe(*both))


def discharge(basin: Basin | Path, output: Path) -> tuple[pd.DataFrame, float]:
    """Discharge at each gauge, m3 s-1, of a run with default parameters, and the closure of its balance."""
    result = run(basin, output=output, quiet=True)
    with xr.open_dataset(output) as data:
        names = [str(name) for name in data["gauge_name"].values]
        table = pd.DataFrame(data["gauge_discharge"].values.astype(np.float64), index=data.indexes["time"],
                             columns=names)
    return table, result.balance.closure
