"""The physics as plain Python: the same tests with numba's compiler off, where an error names its line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off already")
def test_physics_without_the_compiler():
    """All files of this folder but this one and the metrics, which compile nothing."""
    left_out = [f"--ignore={FOLDER / name}" for name in ("test_jit_off.py", "test_metrics.py")]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", str(FOLDER), "-q", "-p", "no:cacheprovider", *left_out]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
