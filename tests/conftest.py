"""Fixtures shared by all tests: small synthetic basins, made once per session."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real catchments beside the checkout; skips where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"real catchments are not here: {folder} is absent")
    return folder


@pytest.fixture(scope="session")
def sample_path() -> Path:
    """The Poyang sample of the repository."""
    return ROOT / "data" / "poyang_sample" / "basin.nc"


@pytest.fixture(scope="session")
def daily_basin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic basin of 30 units, one year of daily weather."""
    from wepl.basin.synthetic import synthesize

    path = tmp_path_factory.mktemp("basins") / "daily.nc"
    synthesize(path, units=30, years=1, seed=3)
    return path


@pytest.fixture(scope="session")
def hourly_basin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic basin of 12 units, one year of hourly weather."""
    from wepl.basin.synthetic import synthesize

    path = tmp_path_factory.mktemp("basins") / "hourly.nc"
    synthesize(path, units=12, years=1, step="1h", seed=5)
    return path
