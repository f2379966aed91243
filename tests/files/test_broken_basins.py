"""Broken basin files: each is refused by ``check`` and ``run`` with exit status 2 and one message that says what is
wrong, where, and what to do; nothing is computed and no file is left.

Source of the rules: docs/basin-file.md.
"""

from __future__ import annotations

import os
import subprocess
import sys

import broken_relations
import broken_structure
import broken_times
import broken_values
import numpy as np
import pytest
import xarray as xr
from basins import valid, write
from refusal import commands_refuse, refused
from spoil import value

from wepl.basin.dataset import Basin, inspect
from wepl.errors import BasinError, InputError

BROKEN = broken_structure.BROKEN | broken_values.BROKEN | broken_relations.BROKEN | broken_times.BROKEN


def broken(name: str) -> xr.Dataset:
    data = valid()
    made = BROKEN[name][0](data)
    return data if made is None else made


def test_the_valid_basin_is_valid(tmp_path):
    assert all(check.passed for check in inspect(write(valid(), tmp_path / "basin.nc")))
    assert all(check.passed for check in Basin.from_dataset(valid(hourly=True)).validate())


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_basin_is_refused(name, tmp_path):
    data, pattern = broken(name), BROKEN[name][1]
    refused(write(data, tmp_path / "basin.nc"), pattern)
    with pytest.raises(InputError, match=pattern):
        Basin.from_dataset(data).check_forcing()


@pytest.mark.parametrize("name", ["no downstream", "two in a circle", "missing rain", "percent as share", "gap",
                                  "negative area", "text in rain", "huge identifier"])
def test_the_commands_refuse_a_broken_basin(name, tmp_path):
    commands_refuse(write(broken(name), tmp_path / "basin.nc"), BROKEN[name][1])


def test_all_problems_are_told_at_once(tmp_path):
    data = valid()
    for change in (value("reach_length", 0, np.nan), value("unit_area", 2, -1.0), value("wilting_point", (3, 1), 2.0)):
        change(data)
    path = write(data, tmp_path / "basin.nc")
    with pytest.raises(BasinError) as caught:
        Basin.open(path)
    assert len(caught.value.problems) == 3
    assert [line for line in caught.value.problems if line not in str(caught.value)] == []
    assert sum(not check.passed for check in inspect(path)) == 2


def test_nothing_is_compiled_for_a_broken_basin(tmp_path):
    """A refusal comes at once: no kernel, and no function that the checks share with kernels, is compiled for it."""
    basins = [write(broken(name), tmp_path / f"{number}.nc") for number, name in enumerate(
        ["negative area", "two in a circle", "wilting above capacity", "wilting at capacity", "missing rain", "gap"])]
    good = write(valid(), tmp_path / "good.nc")
    script = f"""
from numba.core import event
from wepl import InputError, run
with event.install_recorder("numba:compile") as compiled:
    for basin, options in [(name, {{}}) for name in {[str(path) for path in basins]}] + [
            ({str(good)!r}, dict(start="1999-01-01")), ({str(good)!r}, dict(options=dict(rs_max=-1)))]:
        try:
            run(basin, output={str(tmp_path / "result.nc")!r}, **options)
        except InputError:
            continue
        raise SystemExit(f"{{basin}} was run")
print(len(compiled.buffer))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "WEPL_CACHE_DIR": str(tmp_path / "cache")})
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
