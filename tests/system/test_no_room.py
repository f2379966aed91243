"""Memory, disk and quota that run out: a clear end, the checkpoint intact, and the same bits after going on."""

from __future__ import annotations

import errno
import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from wepl import netcdf
from wepl.backends import choose
from wepl.backends.base import memory_errors
from wepl.errors import InputError, WeplError, WriteError
from wepl.kernels import host
from wepl.run import job
from wepl.run.journal import folder_of
from wepl.run.lock import OutputLock
from wepl.run.simulation import resume, run

VARIABLES = ("evapotranspiration", "soil_moisture")
# After the first checkpoint the process may take no more memory, or write no longer files, than it has.
SCRIPT = """
import resource, sys
from wepl.run import job
from wepl.cli import app

real, limit = job.Job._keep, sys.argv[3]

def keep(self, model, journal, at):
    real(self, model, journal, at)
    if limit == "memory":
        held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held, resource.RLIM_INFINITY))
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

job.Job._keep = keep
app(["run", sys.argv[1], "-o", sys.argv[2], "--backend", "cpu", "--block-days", "30", "--checkpoint", "60", "-q",
     "--end", "2010-06-30",
     "--variables", "evapotranspiration,soil_moisture"])
"""


def values(path: Path) -> dict[str, np.ndarray]:
    with xr.open_dataset(path, decode_times=False) as data:
        return {str(name): data[name].values for name in data.variables}


@pytest.fixture(scope="module")
def basin(tmp_path_factory) -> Path:
    """A basin large enough for its blocks to be asked of the system and not of what the process has left."""
    from wepl.basin.synthetic import synthesize

    return synthesize(tmp_path_factory.mktemp("large") / "basin.nc", units=400, years=1, seed=1)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
@pytest.mark.parametrize(("limit", "words"), [("memory", "not enough memory"), ("disk", "cannot write")])
def test_a_limit_of_the_system(basin, tmp_path, limit, words):
    output = tmp_path / "out.nc"
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(basin), str(output), limit], capture_output=True,
                          text=True, timeout=600, check=False)
    assert done.returncode == 1, done.stderr
    assert words in done.stderr and f"run --resume {output}" in done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.nc.run"]
    resume(output, quiet=True, block_days=7)
    run(basin, output=tmp_path / "whole.nc", end="2010-06-30", backend="cpu", variables=VARIABLES, quiet=True)
    expected, got = values(tmp_path / "whole.nc"), values(output)
    for name, array in expected.items():
        np.testing.assert_array_equal(got[name], array, err_msg=name)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_what_a_disk_says(daily_basin, tmp_path, monkeypatch, number):
    """Every write after the first checkpoint fails: at its flush, as quotas do on some systems."""
    output, real = tmp_path / "out.nc", job.Job._keep

    def keep(self, model, journal, at):
        real(self, model, journal, at)

        def full(descriptor):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(netcdf.os, "fsync", full)

    with monkeypatch.context() as patch:
        patch.setattr(job.Job, "_keep", keep)
        with pytest.raises(WriteError, match=f"{os.strerror(number)}.*run --resume {output}"):
            run(daily_basin, output=output, block_days=20, checkpoint=60, quiet=True)
    monkeypatch.undo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.nc.run"]
    assert not [path for path in folder_of(output).iterdir() if "partial" in path.name]
    resume(output, quiet=True)
    assert output.is_file() and not folder_of(output).exists()


def test_a_folder_that_cannot_be_written(daily_basin, tmp_path, monkeypatch):
    # Root may write everywhere, so the system's answer is put in its place.
    real = os.access
    monkeypatch.setattr(netcdf.os, "access", lambda path, mode, **named: path != tmp_path and real(path, mode, **named))
    with pytest.raises(InputError, match="is read-only; write out.nc elsewhere"):
        run(daily_basin, output=tmp_path / "out.nc", quiet=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("checkpoint", [0.0, 60.0])
def test_one_run_at_a_time_with_and_without_journal(daily_basin, tmp_path, checkpoint):
    output = tmp_path / "out.nc"
    with OutputLock(output), pytest.raises(InputError, match="another run writes"):
        run(daily_basin, output=output, end="2010-01-05", checkpoint=checkpoint, quiet=True)
    run(daily_basin, output=output, end="2010-01-05", checkpoint=checkpoint, quiet=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out.nc"]


def test_a_lock_that_was_left_behind_does_not_hinder(tmp_path):
    (tmp_path / ".out.nc.lock").touch()
    with OutputLock(tmp_path / "out.nc"):
        pass
    assert list(tmp_path.iterdir()) == []


class NoMemory(RuntimeError):
    """As CuPy's and numba's errors of the driver: a number says what it is."""

    def __init__(self, number: int) -> None:
        super().__init__("CUDA_ERROR")
        self.status = self.code = number


@pytest.mark.parametrize("field", ["status", "code"])
def test_errors_of_the_driver(field):
    with pytest.raises(MemoryError, match="on the GPU"), memory_errors(NoMemory, field):
        raise NoMemory(2)
    with pytest.raises(NoMemory), memory_errors(NoMemory, field):
        raise NoMemory(700)


@pytest.mark.skipif(host.compiler() is None, reason="no C++ compiler")
@pytest.mark.parametrize("where", ["empty", "empty_pinned"])
def test_a_gpu_without_memory_keeps_the_checkpoint(daily_basin, tmp_path, monkeypatch, where):
    """CuPy's part by its stand-in: device memory (a MemoryError) or pinned memory (a number) ends in a later block."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1] / "parity"))
    stand_in = importlib.import_module("cupy_stand_in")
    modules = stand_in.modules()
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "wepl.backends.cupy_raw", raising=False)
    monkeypatch.setattr(choose, "cupy_problem", lambda: None)
    owner = modules["cupy" if where == "empty" else "cupyx"]
    real, calls = getattr(owner, where), []

    def full(*given, **named):
        calls.append(given)
        if len(calls) == 18:  # three arrays a block: in the sixth one
            raise MemoryError("Out of memory allocating 8 bytes") if where == "empty" else NoMemory(2)
        return real(*given, **named)

    output = tmp_path / "out.nc"
    with monkeypatch.context() as patch:
        patch.setattr(owner, where, full)
        with pytest.raises(WeplError, match=f"not enough memory.*fewer --block-days.*run --resume {output}"):
            run(daily_basin, output=output, backend="cupy", block_days=20, checkpoint=20, quiet=True)
    assert not output.exists() and folder_of(output).is_dir()
    resume(output, quiet=True)
    assert output.is_file()
    sys.modules.pop("wepl.backends.cupy_raw", None)
