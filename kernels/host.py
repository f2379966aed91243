"""Builds the CUDA C sources for the CPU with the system's C++ compiler, once per machine and source."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from wepl.errors import BackendError
from wepl.kernels import sources

# No contraction of a * b + c: the reference does not contract either.
_FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-DWEPL_EMULATE")


def compiler() -> str | None:
    """The C++ compiler to use: ``CXX``, else g++ or clang++ on the path; None when there is none."""
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        if name and shutil.which(name):
            return shutil.which(name)
    return None


def folder(name: str = "host") -> Path:
    """Where compiled code is kept: a folder below WEPL_CACHE_DIR, XDG_CACHE_HOME/wepl or ~/.cache/wepl."""
    base = os.environ.get("WEPL_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "wepl")
    return Path(base) / name


@cache
def _version(path: str) -> str:
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


@cache
def library(precision: str, n_layers: int, counted: bool = False) -> ctypes.CDLL:
    """The kernels as a shared library, built unless it is in the cache.

    With ``counted`` arithmetic is done by numbers that count it (``kernels/cuda/counted.h``), in double precision.

    Raises
    ------
    BackendError
        There is no C++ compiler, or it refuses the sources.
    """
    path = compiler()
    if path is None:
        raise BackendError("the emulate backend compiles the CUDA C sources for the CPU and found no C++ compiler: "
                           "install g++ or clang++, or name one in CXX")
    defines = sources.defines(precision, n_layers)
    if counted:
        defines |= {"WEPL_COUNT": "1", "WEPL_REAL": "wepl::Counted", "WEPL_STORE": "wepl::Counted"}
    macros = [f"-D{name}={value}" for name, value in defines.items()]
    key = hashlib.sha256(repr((sources.digest(), sources.host_program(), _FLAGS, macros, _version(path))).encode())
    target = folder() / f"wepl-{key.hexdigest()[:16]}.so"
    if not target.exists():
        _build(path, macros, target)
    return ctypes.CDLL(str(target))


def _build(path: str, macros: list[str], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    # Two processes may build at once: each under its own name, the last rename stands, both are the same.
    unfinished = target.with_suffix(f".{os.getpid()}.so")
    command = [path, *_FLAGS, *macros, f"-I{sources.FOLDER}", "-x", "c++", "-", "-o", str(unfinished)]
    done = subprocess.run(command, input=sources.host_program(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise BackendError(f"{path} refuses the CUDA C sources:\n{done.stderr.strip()[:2000]}")
    os.replace(unfinished, target)
