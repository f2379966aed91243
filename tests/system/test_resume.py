"""A run that is stopped or killed at any moment goes on from its last checkpoint and ends with the same bits."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from wepl.errors import InputError, WeplError
from wepl.run import job
from wepl.run.journal import Journal, folder_of
from wepl.run.simulation import resume, run

# More by hand: WEPL_KILLS=100 pytest tests/system/test_resume.py
KILLS = int(os.environ.get("WEPL_KILLS", "3"))
VARIABLES = ("evapotranspiration", "soil_moisture")
ARGUMENTS = {"block_days": 6.0, "checkpoint": 20.0, "variables": VARIABLES, "quiet": True}


def values(path: Path) -> dict[str, np.ndarray]:
    with xr.open_dataset(path, decode_times=False) as data:
        return {str(name): data[name].values for name in data.variables}


def assert_same(first: Path, second: Path) -> None:
    expected, got = values(first), values(second)
    assert expected.keys() == got.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(got[name], array, err_msg=name)


@pytest.fixture(scope="module")
def undisturbed(daily_basin, tmp_path_factory) -> Path:
    output = tmp_path_factory.mktemp("undisturbed") / "out.nc"
    run(daily_basin, output=output, block_days=40, variables=VARIABLES, quiet=True)
    return output


class Stopped(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("block", [1, 2, 7, 33, 59])
def test_stopped_after_a_block(daily_basin, undisturbed, tmp_path, monkeypatch, block):
    output = tmp_path / "out.nc"
    real, count = Journal.write_block, []

    def write_block(self, first, arrays):
        real(self, first, arrays)
        count.append(first)
        if len(count) == block:
            raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "write_block", write_block)
        with pytest.raises(Stopped):
            run(daily_basin, output=output, **ARGUMENTS)
    assert not output.exists()
    resume(output, quiet=True)
    assert_same(undisturbed, output)
    assert not folder_of(output).exists()


def test_damaged_checkpoint_and_block(daily_basin, undisturbed, tmp_path, monkeypatch):
    """The newest state is cut short, and a block before the one before it: the run goes on from still further back."""
    output = tmp_path / "out.nc"
    real = job.Job._keep

    def keep(self, model, journal, at):
        real(self, model, journal, at)
        if at >= 120:
            raise Stopped

    monkeypatch.setattr(Journal, "drop_states_before", lambda self, at: None)
    with monkeypatch.context() as patch:
        patch.setattr(job.Job, "_keep", keep)
        with pytest.raises(Stopped):
            run(daily_basin, output=output, **ARGUMENTS)
    folder = folder_of(output)
    states = sorted(folder.glob("state-*.nc"), key=lambda path: int(path.stem.split("-")[1]))
    with states[-1].open("r+b") as file:
        file.truncate(states[-1].stat().st_size // 2)
    damaged = folder / "block-90-96.nc"
    damaged.write_bytes(damaged.read_bytes()[:200])
    resume(output, quiet=True)
    assert_same(undisturbed, output)


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_at_a_random_moment(daily_basin, undisturbed, tmp_path, seed):
    """SIGKILL: no handler runs. The moment is drawn between the first block and the end of an undisturbed run."""
    output = tmp_path / "out.nc"
    script = (f"from wepl.run.simulation import run; run({str(daily_basin)!r}, output={str(output)!r}, "
              f"block_days=2.0, checkpoint=10.0, variables={VARIABLES!r}, quiet=True)")
    process = subprocess.Popen([sys.executable, "-c", script])
    folder = folder_of(output)
    deadline = time.monotonic() + 120.0
    while not list(folder.glob("block-*.nc")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(random.Random(seed).uniform(0.0, 1.5))
    process.send_signal(signal.SIGKILL)
    process.wait()
    if output.exists():
        assert_same(undisturbed, output)
        return
    resume(output, quiet=True)
    assert_same(undisturbed, output)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_in_good_order(daily_basin, undisturbed, tmp_path, number, status):
    output = tmp_path / "out.nc"
    process = subprocess.Popen([sys.executable, "-m", "wepl", "run", str(daily_basin), "-o", str(output), "-q",
                                "--block-days", "2", "--variables", ",".join(VARIABLES)],
                               stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120.0
    while not list(folder_of(output).glob("block-*.nc")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    message = process.communicate(timeout=120)[1]
    assert process.returncode == status, message
    assert f"run --resume {output}" in message
    assert "Traceback" not in message
    resume(output, quiet=True)
    assert_same(undisturbed, output)


def test_one_writer_at_a_time(daily_basin, tmp_path):
    output = tmp_path / "out.nc"
    held = Journal(output)
    with pytest.raises(InputError, match="another run writes"):
        run(daily_basin, output=output, **ARGUMENTS)
    held.remove()


def test_nothing_to_resume(tmp_path):
    with pytest.raises(InputError, match="nothing to resume"):
        resume(tmp_path / "out.nc")


def test_another_basin_is_refused(daily_basin, tmp_path, monkeypatch):
    basin, output = tmp_path / "basin.nc", tmp_path / "out.nc"
    shutil.copy(daily_basin, basin)

    def stop(self, first, arrays):
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "write_block", stop)
        with pytest.raises(Stopped):
            run(basin, output=output, **ARGUMENTS)
    with xr.open_dataset(basin, decode_times=False) as data:
        changed = data.load().assign(reach_width=data["reach_width"] * 2.0)
    changed["reach_width"].attrs = data["reach_width"].attrs
    changed.to_netcdf(basin)
    with pytest.raises(InputError, match="not the basin"):
        resume(output, quiet=True)


def test_disk_full_keeps_the_checkpoint(daily_basin, undisturbed, tmp_path, monkeypatch):
    """Writing fails in the middle: a clear end, and the journal still leads to the same result."""
    output = tmp_path / "out.nc"
    real, count = Journal.write_block, []

    def write_block(self, first, arrays):
        count.append(first)
        if len(count) == 20:
            raise WeplError("cannot write: No space left on device")
        real(self, first, arrays)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "write_block", write_block)
        with pytest.raises(WeplError, match="No space"):
            run(daily_basin, output=output, **ARGUMENTS)
    assert not output.exists()
    resume(output, quiet=True)
    assert_same(undisturbed, output)


def test_spin_up_settles_storages(daily_basin, tmp_path, capsys):
    """After repeating the year the groundwater at the start is near that at the end; without it, it is not."""
    cold, warm = tmp_path / "cold.nc", tmp_path / "warm.nc"
    first = run(daily_basin, output=cold, quiet=True)
    second = run(daily_basin, output=warm, spinup=1, quiet=True)
    change = [abs(result.balance.terms.storage["groundwater_head"]) for result in (first, second)]
    assert change[1] < 0.1 * change[0]
    assert second.balance.closure <= 1e-9
    with pytest.raises(InputError, match="--spinup 3"):
        run(daily_basin, output=warm, spinup=3, quiet=True)
