"""Basins that the benchmarks share, and processor time in place of wall time."""

from __future__ import annotations

from pathlib import Path

import pytest

from wepl.basin.dataset import Basin
from wepl.basin.synthetic import synthesize
from wepl.run.assembly import Arrays, assemble
from wepl.run.simulation import resolve_options

UNITS = {"1d": 2000, "1h": 200}


def pytest_configure(config: pytest.Config) -> None:
    config.option.benchmark_timer = "time.process_time"


@pytest.fixture(scope="session", params=["1d", "1h"])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Basin, Arrays]:
    """A synthetic basin of daily or hourly weather, and its arrays."""
    path: Path = tmp_path_factory.mktemp("basin") / "basin.nc"
    synthesize(path, units=UNITS[request.param], years=1, step=request.param, seed=1)
    basin = Basin.open(path)
    return basin, assemble(basin, resolve_options(basin, {}))
