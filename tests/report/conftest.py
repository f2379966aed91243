"""A small result with most variables, and pages made of it, once per session."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest

from wepl.report import write_report
from wepl.run.simulation import run

VARIABLES = ("precipitation_depth", "evapotranspiration", "transpiration", "runoff", "soil_moisture", "water_table")


@pytest.fixture(scope="session")
def result(daily_basin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A year of a synthetic basin of 30 units."""
    path = tmp_path_factory.mktemp("report") / "out.nc"
    run(daily_basin, output=path, backend="cpu", threads=1, variables=VARIABLES, quiet=True)
    return path


@pytest.fixture(scope="session")
def bare_result(daily_basin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with discharge only."""
    path = tmp_path_factory.mktemp("report") / "bare.nc"
    run(daily_basin, output=path, backend="cpu", threads=1, end="2010-04-30", quiet=True)
    return path


@pytest.fixture(scope="session")
def observed(result: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of made-up observations of the first gauge, with gaps."""
    with netCDF4.Dataset(result) as file:
        flow = np.asarray(file["gauge_discharge"][:, 0], float)
        name = str(file["gauge_name"][0])
        days = netCDF4.num2date(file["time"][:], file["time"].units, file["time"].calendar)
    flow = 0.9 * flow * (1.0 + 0.2 * np.sin(np.arange(flow.size)))
    rows = [f"{day.strftime('%Y-%m-%d')},{'' if 40 <= number < 50 else repr(float(value))}"
            for number, (day, value) in enumerate(zip(days, flow, strict=True))]
    path = tmp_path_factory.mktemp("observed") / "q.csv"
    path.write_text("\n".join([f"date,{name}", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def page(result: Path, observed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of :func:`result` with observations."""
    return write_report(result, tmp_path_factory.mktemp("page") / "report.html", observed=observed)
