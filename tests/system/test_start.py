"""What a start imports, and what it says of compiling."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from wepl.physics.soil_hydraulics import retention_saturation
from wepl.run.progress import Progress

HEAVY = ("cupy", "cuda", "numba", "dask", "distributed", "matplotlib", "xarray", "pandas", "scipy", "netCDF4",
         "rasterio", "pymoo", "rich")


def modules_after(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"],
                          capture_output=True, text=True, check=True, timeout=300)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("code", [
    "import wepl",
    "import sys; sys.argv = ['wepl', '--help']\nfrom wepl.cli import app\ntry:\n    app(prog_name='wepl')\n"
    "except SystemExit:\n    pass"])
def test_nothing_heavy_is_imported(code):
    loaded = modules_after(code)
    assert "wepl" in loaded
    assert sorted(name for name in HEAVY if name in loaded) == []


class Clock:
    step_seconds = 86400.0

    def label(self, index):
        return str(index)


def test_compiling_is_told_once_with_its_place(tmp_path, monkeypatch, capsys):
    import wepl.physics.jit

    monkeypatch.setattr(wepl.physics.jit, "cache_folder", lambda: tmp_path)
    Progress(Clock(), 0, 1).announce_compilation()
    assert str(tmp_path) in capsys.readouterr().out
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "column.column_kernel-1.py311.nbi").touch()
    Progress(Clock(), 0, 1).announce_compilation()
    assert capsys.readouterr().out == ""
    Progress(Clock(), 0, 1).announce_compilation("/somewhere/native")
    assert capsys.readouterr().out.count("/somewhere/native") == 1


def test_assembly_without_numba_has_the_bits_of_the_compiled_function():
    generator = np.random.default_rng(1)
    a, b = 10.0 ** generator.uniform(-3.0, 6.0, 2000), generator.uniform(0.5, 9.0, 2000)
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        assert retention_saturation(1e4, x, y) == retention_saturation.py_func(1e4, x, y)
