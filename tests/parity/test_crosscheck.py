"""All backends are one model: the sample, and random basins of 1, 3 and 12 soil layers, daily and hourly.

Tolerances: docs/architecture.md: float64 1e-9, mixed and float32 1e-3, closure 1e-9 and 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from wepl import backends
from wepl.basin.dataset import Basin
from wepl.basin.synthetic import synthesize
from wepl.crosscheck import crosscheck
from wepl.errors import InputError
from wepl.kernels import host
from wepl.run.memory import run_in_memory

pytestmark = pytest.mark.skipif(host.compiler() is None, reason="no C++ compiler for the emulate backend")
PRECISIONS = ("float64", "mixed", "float32")


def with_layers(path, n_layers: int) -> Basin:
    """The basin of ``path`` with another number of soil layers over the same depth."""
    with xr.open_dataset(path, decode_times=False) as data:
        data = data.load()
    kept = {name: variable for name, variable in data.data_vars.items() if "soil_layer" not in variable.dims}
    thickness = data["soil_thickness"].sum("soil_layer").values
    for name, variable in data.data_vars.items():
        if "soil_layer" in variable.dims:
            top = variable.isel(soil_layer=0).values
            values = np.repeat((thickness / n_layers if name == "soil_thickness" else top)[:, None], n_layers, axis=1)
            kept[name] = (("unit", "soil_layer"), values, variable.attrs)
    return Basin.from_dataset(xr.Dataset(kept, coords={name: value for name, value in data.coords.items()
                                                       if "soil_layer" not in value.dims}, attrs=data.attrs))


def test_the_sample(sample_path):
    check = crosscheck(Basin.open(sample_path), ("emulate",), PRECISIONS, days=200)
    assert check.passed, check.text


@pytest.mark.parametrize("seed", range(20))
def test_random_basins(tmp_path, seed):
    hourly = seed % 2 == 1
    path = tmp_path / "basin.nc"
    synthesize(path, units=10 + 3 * seed, years=1, step="1h" if hourly else "1d", seed=100 + seed)
    basin = with_layers(path, (1, 3, 12)[seed % 3])
    check = crosscheck(basin, ("emulate",), PRECISIONS, days=20 if hourly else 180)
    assert check.passed, check.text


@pytest.mark.parametrize("precision", PRECISIONS)
def test_same_bits_for_any_block_grid_and_mapping(daily_basin, precision):
    from wepl.backends.emulate import EmulateBackend

    basin = Basin.open(daily_basin)
    expected = run_in_memory(basin, EmulateBackend(precision), last=120)
    for block_steps, mapping, threads in ((1, "tile", None), (13, "unit", None), (50, "tile", 7), (64, "unit", 3),
                                          (120, "tile", 1)):
        got = run_in_memory(basin, EmulateBackend(precision, mapping, threads), last=120, block_steps=block_steps)
        for name, values in expected.series.items():
            np.testing.assert_array_equal(got.series[name], values, err_msg=f"{name} {block_steps} {mapping} {threads}")
        for name, values in expected.state.items():
            np.testing.assert_array_equal(got.state[name], values, err_msg=f"{name} {block_steps} {mapping} {threads}")


def test_a_difference_is_found(daily_basin, monkeypatch):
    """The check can fail: a backend whose discharge is off by 1e-6 does not pass."""
    import wepl.crosscheck as module

    real = module.run_in_memory

    def wrong(basin, backend, **more):
        outcome = real(basin, backend, **more)
        if backend.name == "emulate":
            outcome.series["discharge"] = outcome.series["discharge"] * (1.0 + 1e-6)
        return outcome

    monkeypatch.setattr(module, "run_in_memory", wrong)
    check = crosscheck(Basin.open(daily_basin), ("emulate",), days=30)
    assert not check.passed
    assert "FAIL" in check.text


def test_days_outside_the_forcing(daily_basin):
    with pytest.raises(InputError, match="not within the forcing"):
        crosscheck(Basin.open(daily_basin), days=5000)


def test_precision_of_the_reference_is_refused():
    with pytest.raises(backends.BackendError, match="float64"):
        backends.create("cpu", "float32")
