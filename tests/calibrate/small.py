"""A basin of a few units with discharge that the model itself made with known parameters, and its calibration file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from wepl import backends
from wepl.basin.dataset import Basin
from wepl.basin.synthetic import synthesize
from wepl.run.ensemble import run_members

TRUTH = {"conductivity_factor": 0.3, "stomatal_resistance_factor": 1.8}
GAUGE = "Fu at Lijiadu"

TOML = """
title = "Known truth"
basin = "basin.nc"

[[observed]]
gauge = "{gauge}"
file = "discharge.csv"

[period]
calibration = [2010-04-01, 2010-08-31]
validation = [2010-09-01, 2010-11-30]
warm_up_days = 90

[parameters]
conductivity_factor = {{ low = 0.05, high = 5.0, scale = "log" }}
stomatal_resistance_factor = {{ low = 0.5, high = 3.0, start = 1.0 }}

[machine]
backend = "cpu"
threads = 1

[algorithm]
{algorithm}
"""


def make(folder: Path) -> Path:
    """A sub-basin of two units, its observed discharge (with a gap), and the folder of both."""
    synthesize(folder / "whole.nc", units=10, years=1, seed=3)
    data = Basin.open(folder / "whole.nc").to_dataset().isel(subbasin=[1], unit=[6, 7], gauge=[1], cell=[3])
    data["downstream"][:] = -1
    Basin.from_dataset(data).to_netcdf(folder / "basin.nc")
    basin = Basin.open(folder / "basin.nc")
    series = run_members(basin, [TRUTH], backends.create("cpu"), names=["discharge"], subbasins=[0])["discharge"]
    discharge = series[:, 0, 0]
    discharge[160:170] = np.nan
    pd.DataFrame({"date": pd.date_range("2010-01-01", periods=discharge.size), "flow": discharge}).to_csv(
        folder / "discharge.csv", index=False)
    return folder


def write(folder: Path, name: str, algorithm: str, **changes: str) -> Path:
    """A calibration file with an algorithm table and replaced pieces of text."""
    text = TOML.format(gauge=GAUGE, algorithm=algorithm)
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path
