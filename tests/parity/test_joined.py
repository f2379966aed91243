"""One run equals two joined runs bit for bit: each backend and precision, day and hour, any split, any block length."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr

from wepl import backends
from wepl.errors import InputError
from wepl.kernels import buffers, host
from wepl.run import restart
from wepl.run.model import STATES, TOTALS
from wepl.run.simulation import run

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = ("evapotranspiration", "soil_moisture", "baseflow")
COMPILED = pytest.mark.skipif(host.compiler() is None, reason="no C++ compiler")
FORMS = [("cpu", "float64"), *(pytest.param(("emulate", precision), marks=COMPILED)
                               for precision in ("float64", "mixed", "float32"))]
# First and last step, then for each split the last step before it, the first after it, and the days of their blocks.
PERIODS = {
    # Neither part is so short that hardly any rain falls: single precision then does not close to 1e-6 of it.
    "daily": ("2010-05-01", "2010-07-09", [("2010-05-20", "2010-05-21", 1, 60), ("2010-06-15", "2010-06-16", 40, 7)]),
    "hourly": ("2010-06-10", "2010-06-14", [("2010-06-10T00:00", "2010-06-10T01:00", 1, 2),
                                            ("2010-06-12T13:00", "2010-06-12T14:00", 0.25, 5)]),
}


def values(path: Path) -> dict[str, np.ndarray]:
    with xr.open_dataset(path, decode_times=False) as data:
        return {name: data[name].values for name in ("discharge", *VARIABLES)}


def check_joined(basin: Path, folder: Path, period: str, backend: str, precision: str) -> None:
    """Compare series and last state of a whole run with those of two, for each split of a period."""
    start, end, splits = PERIODS[period]
    common = {"backend": backend, "precision": precision, "variables": VARIABLES, "quiet": True}
    run(basin, output=folder / "whole.nc", start=start, end=end, block_days=11, save_state=folder / "end.nc", **common)
    whole = values(folder / "whole.nc")
    for last, first, before, after in splits:
        run(basin, output=folder / "a.nc", start=start, end=last, block_days=before, save_state=folder / "split.nc",
            **common)
        run(basin, output=folder / "b.nc", start=first, end=end, block_days=after, from_state=folder / "split.nc",
            save_state=folder / "end_b.nc", **common)
        parts = values(folder / "a.nc"), values(folder / "b.nc")
        for name, expected in whole.items():
            joined = np.concatenate([part[name] for part in parts])
            np.testing.assert_array_equal(joined, expected, err_msg=f"{name}, split at {first}")
        with netCDF4.Dataset(folder / "end.nc") as one, netCDF4.Dataset(folder / "end_b.nc") as other:
            assert set(one.variables) == set(other.variables)
            for name in one.variables:
                assert one[name][...].tobytes() == other[name][...].tobytes(), f"{name}, split at {first}"


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(form))
def test_joined(daily_basin, hourly_basin, tmp_path, form, period):
    check_joined(daily_basin if period == "daily" else hourly_basin, tmp_path, period, *form)


def test_joined_in_the_simulator(tmp_path):
    """numba.cuda in numba's simulator, which must stand in the environment before numba is imported."""
    from wepl.basin.synthetic import synthesize

    synthesize(tmp_path / "small.nc", units=10, years=1, seed=3)
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run([sys.executable, "-W", "error", __file__, str(tmp_path)], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": path, "NUMBA_ENABLE_CUDASIM": "1"}, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


@COMPILED
def test_the_state_of_single_precision_has_both_numbers(daily_basin, tmp_path):
    """Without the second numbers a restart agrees to rounding only; a state of double precision has none to need."""
    common = {"start": "2010-05-01", "end": "2010-05-20", "quiet": True}
    run(daily_basin, output=tmp_path / "a.nc", backend="emulate", precision="float32", save_state=tmp_path / "a_s.nc",
        **common)
    run(daily_basin, output=tmp_path / "b.nc", backend="cpu", save_state=tmp_path / "b_s.nc", **common)
    names = [entry.name for entry in restart.entries()]
    with netCDF4.Dataset(tmp_path / "a_s.nc") as file:
        assert set(file.variables) == {*names, *(f"{name}_low" for name in names)}
        assert np.abs(file["soil_water_low"][...]).max() > 0.0
    with netCDF4.Dataset(tmp_path / "b_s.nc") as file:
        assert set(file.variables) == set(names)
    later = {"start": "2010-05-21", "end": "2010-06-20", "quiet": True}
    run(daily_basin, output=tmp_path / "c.nc", backend="emulate", precision="float32",
        from_state=tmp_path / "b_s.nc", **later)
    run(daily_basin, output=tmp_path / "d.nc", backend="cpu", from_state=tmp_path / "a_s.nc", **later)
    with netCDF4.Dataset(tmp_path / "a_s.nc", "a") as file:
        file.renameVariable("snow_ice_low", "snow_ice_lower")
    with pytest.raises(InputError, match="it lacks snow_ice_low; it holds snow_ice_lower"):
        run(daily_basin, output=tmp_path / "e.nc", backend="cpu", from_state=tmp_path / "a_s.nc", **later)


def test_what_stays_on_the_device_is_in_the_state():
    """Every array that a kernel both reads and writes is a state or a total, or tells of faults."""
    kept = {argument.name for table in buffers.KERNELS.values() for argument in table
            if isinstance(argument, buffers.Buffer) and argument.access == "read-write"}
    assert kept == {*STATES, *TOTALS, "column_status", "hillslope_status", "river_status"}


def test_a_real_state_file_lists_every_variable(daily_basin, tmp_path):
    run(daily_basin, output=tmp_path / "a.nc", end="2010-01-05", save_state=tmp_path / "state.nc", quiet=True)
    with netCDF4.Dataset(tmp_path / "state.nc") as file:
        missing = [entry.name for entry in restart.entries() if entry.name not in file.variables]
        assert missing == []
        assert {file[entry.name].dtype for entry in restart.entries()} == {np.dtype("float64")}


def test_extremes_of_rows():
    """What the guard asks of a device: NaN wherever it stands in the row shows, and only in its row."""
    rng = np.random.default_rng(1)
    host_array = rng.normal(size=(4, 3, 70))
    host_array[2, 1, 69] = np.nan
    expected = np.nanmin(host_array, axis=(1, 2)), np.nanmax(host_array, axis=(1, 2))
    forms = [backends.create("cpu"), *([backends.create("emulate", precision) for precision in ("float64", "float32")]
                                       if host.compiler() else [])]
    for device in forms:
        check_extremes(device, host_array, expected)


def check_extremes(device: backends.Backend, array: np.ndarray, expected: tuple[np.ndarray, np.ndarray]) -> None:
    low, high = device.extremes(device.upload(array, "store"))
    assert np.isnan(low[2]) and np.isnan(high[2])
    for found, wanted in zip((low, high), expected, strict=True):
        np.testing.assert_allclose(np.delete(found, 2), np.delete(wanted, 2), rtol=1e-6)
    whole = device.upload(np.array([[0, 0, 3], [5, 6, 7]]), "int32")
    assert [list(part) for part in device.extremes(whole)] == [[0, 5], [3, 7]]
    copy = device.copy(whole)
    np.testing.assert_array_equal(device.download(copy), device.download(whole))


def simulate(folder: Path) -> None:
    """What runs in the simulator's process: small blocks are many launches there, so the period is short."""
    PERIODS["simulated"] = ("2010-06-01", "2010-06-12", [("2010-06-04", "2010-06-05", 3, 5)])
    check_joined(folder / "small.nc", folder, "simulated", "numba-cuda", "float64")
    rng = np.random.default_rng(1)
    array = rng.normal(size=(4, 3, 70))
    array[2, 1, 69] = np.nan
    check_extremes(backends.create("numba-cuda"), array,
                   (np.nanmin(array, axis=(1, 2)), np.nanmax(array, axis=(1, 2))))


if __name__ == "__main__":
    simulate(Path(sys.argv[1]))
