"""Builds the stages on vector lanes for this machine's CPU, once per machine and source."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from wepl.errors import BackendError
from wepl.kernels import host, sources

FOLDER = Path(__file__).resolve().parent / "native"
# Products and sums may be fused, as on a GPU; nothing else that changes a result is allowed, so that what is not a
# number is seen and balances close.
_FLAGS = ("-std=c++17", "-O3", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared",
          "-pthread", "-w")
_LAYERS_OF_A_TRIAL = 3
INSTALL = "install g++ or clang++, name one in CXX, or pip install 'wepl[native]'"


def compiler() -> tuple[str, ...] | None:
    """The C++ compiler to use: that of :func:`wepl.kernels.host.compiler`, else the one of the package ziglang."""
    path = host.compiler()
    if path is not None:
        return (path,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "c++")
    return None


def processor() -> str:
    """What is known of this machine's CPU: machine code made for one may not run on another."""
    told = Path("/proc/cpuinfo")
    if told.exists():
        wanted = ("model name", "flags", "Features", "CPU implementer", "CPU part")
        lines = {line for line in told.read_text(encoding="utf-8").splitlines() if line.startswith(wanted)}
        return "\n".join([platform.machine(), *sorted(lines)])
    return "\n".join([platform.machine(), platform.processor()])


def has_vectors() -> bool:
    """Whether this CPU has the instructions (AVX2 and FMA) for which lanes were measured to be faster than numba."""
    words = processor().split()
    return "avx2" in words and "fma" in words


@cache
def digest() -> str:
    """Hash of all sources of the library."""
    found = hashlib.sha256()
    for path in (*sorted(FOLDER.iterdir()), sources.FOLDER / "rows.cuh", sources.FOLDER / "views.cuh"):
        if path.suffix in (".cpp", ".h", ".cuh"):
            found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()[:16]


@cache
def _version(command: tuple[str, ...]) -> str:
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else "unknown"


def target(n_layers: int, more: tuple[str, ...] = ()) -> Path:
    """Where the library for so many soil layers lies or will lie."""
    command = compiler()
    if command is None:
        raise BackendError(f"the native backend compiles the model for this CPU and found no C++ compiler: {INSTALL}")
    key = repr((digest(), _FLAGS, more, _version(command), processor(), n_layers))
    return host.folder("native") / f"wepl-{hashlib.sha256(key.encode()).hexdigest()[:16]}.so"


@cache
def library(n_layers: int, more: tuple[str, ...] = ()) -> ctypes.CDLL:
    """The stages as a shared library, built unless it is in the cache.

    Parameters
    ----------
    n_layers : int
        Number of soil layers.
    more : tuple of str
        Further options of the compiler: ``-DWEPL_PLAIN`` leaves out the instructions of AVX2.

    Raises
    ------
    BackendError
        There is no C++ compiler, or it refuses the sources.
    """
    path = target(n_layers, more)
    if not path.exists():
        _build(path, n_layers, more)
    return ctypes.CDLL(str(path))


def _build(path: Path, n_layers: int, more: tuple[str, ...]) -> None:
    command = compiler()
    assert command is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    # Two processes may build at once: each under its own name, the last rename stands, both are the same.
    unfinished = path.with_suffix(f".{os.getpid()}.so")
    machine = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
    given = [*command, *_FLAGS, machine, *more, f"-DN_LAYERS={max(1, n_layers)}", f"-I{FOLDER}", f"-I{sources.FOLDER}",
             str(FOLDER / "native.cpp"), "-o", str(unfinished)]
    done = subprocess.run(given, capture_output=True, text=True, check=False)
    if done.returncode:
        unfinished.unlink(missing_ok=True)
        raise BackendError(f"{' '.join(command)} refuses the sources of the native backend:\n"
                           f"{done.stderr.strip()[:2000]}")
    os.replace(unfinished, path)


@cache
def problem() -> str | None:
    """What keeps the native backend from running here; None when it builds and loads."""
    if compiler() is None:
        return f"no C++ compiler ({INSTALL})"
    try:
        library(_LAYERS_OF_A_TRIAL)
    except (BackendError, OSError) as error:
        return " ".join(str(error).split())[:300]
    return None


def name() -> str:
    """The compiler in words."""
    command = compiler()
    if command is None:
        return "no compiler"
    return "ziglang" if "ziglang" in command else (shutil.which(command[0]) or command[0])
