"""The cupy backend's own code (arguments, types, grids, staging, options) with a stand-in for CuPy: no GPU is needed.

What the stand-in computes is the CUDA C source on the CPU, so results must equal the emulate backend's bit for bit.
"""

from __future__ import annotations

import importlib
import inspect
import sys

import cupy_stand_in as stand_in
import numpy as np
import pytest
import xarray as xr

from wepl.backends import choose
from wepl.backends.emulate import EmulateBackend
from wepl.errors import BackendError
from wepl.kernels import compile as nvrtc
from wepl.kernels import host, sources
from wepl.run.simulation import run

VARIABLES = ("evapotranspiration", "soil_moisture", "baseflow")
pytestmark = pytest.mark.skipif(host.compiler() is None, reason="no C++ compiler compiles the sources for the CPU")


@pytest.fixture
def cupy_raw(monkeypatch):
    for name, module in stand_in.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "wepl.backends.cupy_raw", raising=False)
    monkeypatch.setattr(choose, "cupy_problem", lambda: None)
    stand_in.RawModule.made.clear()
    stand_in.Kernel.launches.clear()
    yield importlib.import_module("wepl.backends.cupy_raw")
    sys.modules.pop("wepl.backends.cupy_raw", None)


def result(path, basin, backend, **named):
    run(basin, output=path, end="2010-03-31", backend=backend, variables=VARIABLES, quiet=True, **named)
    with xr.open_dataset(path, decode_times=False) as data:
        return {name: data[name].values for name in ("discharge", *VARIABLES)}


@pytest.mark.parametrize("precision", ["float64", "mixed", "float32"])
@pytest.mark.parametrize("mapping", ["tile", "unit"])
def test_launches_equal_the_emulated_ones(cupy_raw, daily_basin, tmp_path, precision, mapping):
    """Blocks of eleven days, a short one at the end."""
    given = result(tmp_path / "a.nc", daily_basin, cupy_raw.CupyBackend(precision, mapping), block_days=11)
    expected = result(tmp_path / "b.nc", daily_basin, EmulateBackend(precision, mapping))
    for name, values in expected.items():
        np.testing.assert_array_equal(given[name], values, err_msg=name)


def test_grids_cover_all_places_in_whole_blocks(cupy_raw, daily_basin, tmp_path):
    one = result(tmp_path / "a.nc", daily_basin, cupy_raw.CupyBackend(grid_threads=48, block_threads=32))
    assert {(grid, block) for name, grid, block in stand_in.Kernel.launches if name == "column"} == {(2, 32)}
    stand_in.Kernel.launches.clear()
    other = result(tmp_path / "b.nc", daily_basin, cupy_raw.CupyBackend())
    assert {block for _, _, block in stand_in.Kernel.launches} <= set(range(1, 129))
    assert max(block for _, _, block in stand_in.Kernel.launches) <= 128
    np.testing.assert_array_equal(one["discharge"], other["discharge"])


def test_each_kernel_is_compiled_once(cupy_raw, daily_basin, tmp_path):
    result(tmp_path / "a.nc", daily_basin, cupy_raw.CupyBackend(), block_days=20)
    assert len(stand_in.RawModule.made) == 4


def test_staging_is_waited_for(cupy_raw):
    backend = cupy_raw.CupyBackend("mixed")
    assert backend._copies.non_blocking
    hosts = {"forcing": np.arange(6.0).reshape(1, 3, 2), "calendar": np.full((2, 3), 1.0 / 3.0)}
    staged = backend.stage(hosts)
    assert backend._copies.log == ["copy", "copy", "record"]
    backend.settle(staged)
    for name, values in hosts.items():
        assert staged[name].dtype == np.float32
        np.testing.assert_array_equal(staged[name], values.astype(np.float32))
    # The host memory is alive as long as the arrays that are read from it.
    assert len(staged.pinned) == 2


def test_free_memory_is_what_is_free_and_pooled_less_the_stacks(cupy_raw):
    assert cupy_raw.CupyBackend().free_bytes() == 2**33 + 1000 - 4096 * 32


def test_options_follow_precision_and_sources(cupy_raw):
    plain, exact = nvrtc.options("float32", 3), nvrtc.options("float32", 3, exact=True)
    assert {"--std=c++17", "--fmad=true", "-DWEPL_REAL=float", "-DWEPL_STORE=wepl::Pair", "-DN_LAYERS=3"} < set(plain)
    assert set(exact) - set(plain) == {"--fmad=false"}
    # CuPy keys its cache by options and text of the kernel, not by what the text includes.
    assert any(sources.digest() in option for option in plain)


def test_a_refused_precision_is_named(cupy_raw):
    with pytest.raises(BackendError, match="float64, mixed, float32, not half"):
        cupy_raw.CupyBackend("half")


def test_the_real_cupy_takes_what_the_backend_gives():
    """Signatures of the CuPy that is installed."""
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    cupyx = pytest.importorskip("cupyx", reason="CuPy is not installed")
    assert {"shape", "dtype"} <= set(inspect.signature(cupyx.empty_pinned).parameters)
    assert "blocking" in inspect.signature(cupy.asarray).parameters
    module = cupy.RawModule(code=nvrtc.source("river"), backend="nvrtc", options=nvrtc.options("mixed", 3))
    assert module.options == nvrtc.options("mixed", 3)
    assert issubclass(cupy.cuda.compiler.CompileException, Exception)
