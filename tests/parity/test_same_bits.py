"""The result does not depend on how the work is cut: threads, block length, a stop and a start in the middle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from wepl.run.simulation import run

VARIABLES = ("evapotranspiration", "soil_moisture", "snow_water_equivalent", "surface_storage", "baseflow")


def values(path: Path) -> dict[str, np.ndarray]:
    with xr.open_dataset(path, decode_times=False) as data:
        return {name: data[name].values for name in ("discharge", *VARIABLES)}


def assert_same(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> None:
    for name, expected in first.items():
        np.testing.assert_array_equal(second[name], expected, err_msg=name)


@pytest.fixture(scope="module", params=["daily", "hourly"])
def case(request, daily_basin, hourly_basin, tmp_path_factory):
    """Basin, period and the reference result of one thread and one block of 40 days."""
    basin, end = (daily_basin, "2010-07-31") if request.param == "daily" else (hourly_basin, "2010-06-20")
    start = "2010-01-01" if request.param == "daily" else "2010-05-20"
    output = tmp_path_factory.mktemp("reference") / "reference.nc"
    run(basin, output=output, start=start, end=end, threads=1, block_days=40, variables=VARIABLES, quiet=True)
    return basin, start, end, values(output)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("block_days", [1, 7, 400])
def test_threads_and_blocks(case, tmp_path, threads, block_days):
    basin, start, end, expected = case
    output = tmp_path / "other.nc"
    run(basin, output=output, start=start, end=end, threads=threads, block_days=block_days, variables=VARIABLES,
        quiet=True)
    assert_same(expected, values(output))


def test_two_joined_runs_equal_one(case, tmp_path):
    basin, start, end, expected = case
    middle, after = ("2010-04-17", "2010-04-18") if start == "2010-01-01" else ("2010-06-03T10:00", "2010-06-03T11:00")
    state = tmp_path / "state.nc"
    run(basin, output=tmp_path / "a.nc", start=start, end=middle, save_state=state, variables=VARIABLES, quiet=True)
    run(basin, output=tmp_path / "b.nc", start=after, end=end, from_state=state, variables=VARIABLES, quiet=True)
    first, second = values(tmp_path / "a.nc"), values(tmp_path / "b.nc")
    assert_same(expected, {name: np.concatenate([first[name], second[name]]) for name in expected})


def test_the_reference_has_something_to_compare(case):
    _, _, _, expected = case
    assert expected["discharge"].max() > 0.0
    assert np.ptp(expected["evapotranspiration"]) > 0.0
    assert np.ptp(expected["soil_moisture"][np.isfinite(expected["soil_moisture"])]) > 0.01
