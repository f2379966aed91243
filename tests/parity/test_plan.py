"""The plan of a device's memory counts every array, shrinks the block to what is free, refuses less than a day."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from wepl.backends.base import Backend
from wepl.backends.emulate import EmulateBackend
from wepl.errors import BackendError
from wepl.run import plan
from wepl.run.simulation import run

# The sizes of a synthetic basin of 200,000 units.
LARGE = {"unit": 200_000, "tile": 720_000, "subbasin": 20_000, "unit+1": 200_001, "layer": 3, "subbasin+1": 20_001,
         "record": 0, "river_cell": 90_000, "link": 19_999, "level+1": 400, "cell": 12_000, "kind": 9}
TYPES = {"real": np.dtype("float64"), "store": np.dtype("float64"), "int32": np.dtype("int32")}
GIB, MIB = 2**30, 2**20


class Counted(EmulateBackend):
    """Adds up what is allocated and uploaded."""

    def __init__(self, *given, **named) -> None:
        super().__init__(*given, **named)
        self.bytes = 0

    def upload(self, host, dtype):
        array = super().upload(host, dtype)
        self.bytes += array.nbytes
        return array

    def allocate(self, shape, dtype="real"):
        array = super().allocate(shape, dtype)
        self.bytes += array.nbytes
        return array


def test_one_block_takes_what_the_plan_says(daily_basin, tmp_path):
    """Ten days in one block: all is uploaded once, the input once and not twice; int32 arrays of no use to a kernel
    are not counted."""
    backend = Counted("float64", memory=GIB)
    held = []
    fits = plan.block_steps

    def spy(needed, total, step_seconds, **named):
        held.append(needed)
        return fits(needed, total, step_seconds, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "block_steps", spy)
        run(daily_basin, output=tmp_path / "r.nc", end="2010-01-10", block_days=10, backend=backend, quiet=True,
            variables=["soil_moisture"])
    (needed,) = held
    assert 0.9 * needed.bytes(10) < backend.bytes <= needed.bytes(10)


def test_a_large_basin_shrinks_its_blocks():
    needed = plan.need(LARGE, 4, TYPES)
    wanted = plan.block_steps(needed, 3650, 86400.0, block_days=365)
    steps = plan.block_steps(needed, 3650, 86400.0, block_days=365, free=8 * GIB)
    assert wanted == 365
    assert 1 <= steps < 365
    assert needed.bytes(steps) <= 8 * GIB < needed.bytes(steps + 1)


def test_hourly_blocks_are_whole_days():
    needed = plan.need(LARGE, 1, TYPES)
    steps = plan.block_steps(needed, 87600, 3600.0, block_days=64, free=8 * GIB)
    assert steps % 24 == 0
    assert needed.bytes(steps) <= 8 * GIB < needed.bytes(steps + 24)


def test_too_little_memory_is_refused_with_both_numbers():
    needed = plan.need(LARGE, 4, TYPES)
    with pytest.raises(BackendError, match=r"needs [\d,.]+ MB on the device for a block of 86400 s .* 104\.9 MB are"):
        plan.block_steps(needed, 3650, 86400.0, free=100 * MIB)


def test_single_precision_takes_less():
    single = plan.need(LARGE, 4, {**TYPES, "real": np.dtype("float32"), "store": np.dtype("complex64")})
    double = plan.need(LARGE, 4, TYPES)
    assert single.per_step == pytest.approx(0.5 * double.per_step)
    assert single.fixed < double.fixed


def test_a_small_device_gives_the_same_result(daily_basin, tmp_path):
    """Blocks of two days or so instead of forty."""
    run(daily_basin, output=tmp_path / "a.nc", end="2010-02-09", backend=EmulateBackend(), quiet=True)
    run(daily_basin, output=tmp_path / "b.nc", end="2010-02-09", backend=EmulateBackend(memory=220_000), quiet=True)
    with xr.open_dataset(tmp_path / "a.nc") as large, xr.open_dataset(tmp_path / "b.nc") as small:
        np.testing.assert_array_equal(large["discharge"].values, small["discharge"].values)


def test_a_run_is_refused_before_anything_is_written(daily_basin, tmp_path):
    with pytest.raises(BackendError, match="MB are free"):
        run(daily_basin, output=tmp_path / "r.nc", backend=EmulateBackend(memory=10_000), quiet=True)
    assert list(tmp_path.iterdir()) == []


def test_the_cpu_has_no_limit():
    assert Backend.free_bytes(EmulateBackend()) is None
