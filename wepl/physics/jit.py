"""How physics and stages are compiled: one decorator each, and a disk cache that cannot go stale.

Numba's cache knows only the file of the function it stores, not the files of the functions it calls nor the
registry's row numbers. So the cache lives in a folder named after the hash of all compiled sources.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])
_PACKAGE = Path(__file__).resolve().parent.parent
_COMPILED = ("physics", "stages", "registry")


@cache
def cache_folder() -> Path:
    """Folder of compiled code for exactly these sources and this numba."""
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in _COMPILED:
        for path in sorted((_PACKAGE / folder).glob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    digest.update((_PACKAGE / "rows.py").read_bytes())
    base = os.environ.get("WEPL_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "wepl")
    return Path(base) / "numba" / digest.hexdigest()[:16]


def _compile(function: F, **options: Any) -> F:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder())
    try:
        return numba.njit(cache=True, error_model="numpy", fastmath=False, **options)(function)
    finally:
        numba.config.CACHE_DIR = before


def physics(function: F) -> F:
    """Compile a scalar physics function; numba.cuda can call the result from a kernel."""
    return _compile(function)


def kernel(function: F) -> F:
    """Compile a CPU driver: a parallel loop over tiles, units, sub-basins or reaches, without the GIL."""
    return _compile(function, parallel=True, nogil=True)
