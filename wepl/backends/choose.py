"""Which backends work on this machine, and which one ``auto`` takes.

The probes answer with the sentence that the user reads. They load nothing but the driver where there is no GPU.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Callable
from functools import cache

import numpy as np

from wepl.errors import BackendError

INSTALL = "pip install 'wepl[cuda13]', or 'wepl[cuda12]' for a driver of CUDA 12"
# Results of the driver's functions.
_SUCCESS, _NO_DEVICE = 0, 100


@cache
def driver_problem() -> str | None:
    """What keeps programs from an NVIDIA GPU here; None when there is one."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        driver = ctypes.CDLL(name)
    except OSError:
        return f"no NVIDIA driver is installed ({name} is not there)"
    count = ctypes.c_int(0)
    code = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if code == _NO_DEVICE or (code == _SUCCESS and count.value == 0):
        return "the NVIDIA driver sees no GPU"
    return f"the NVIDIA driver does not start (CUDA error {code})" if code else None


@cache
def device_names() -> tuple[str, ...]:
    """NVIDIA GPUs of this machine by the driver's names; empty where programs cannot use one."""
    if driver_problem() is not None:
        return ()
    driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    count = ctypes.c_int(0)
    driver.cuDeviceGetCount(ctypes.byref(count))
    names = []
    for number in range(count.value):
        text = ctypes.create_string_buffer(256)
        if driver.cuDeviceGetName(text, len(text), number) == _SUCCESS:
            names.append(text.value.decode(errors="replace"))
    return tuple(names)


@cache
def cupy_problem() -> str | None:
    """What keeps CuPy from running a kernel here; None when it does."""
    return driver_problem() or _trial("cupy", "CuPy", _try_cupy)


@cache
def numba_cuda_problem() -> str | None:
    """What keeps numba-cuda from running a kernel here; None when it does, on a GPU or in numba's simulator."""
    no_gpu = None if simulated() else driver_problem()
    return no_gpu or _trial("numba_cuda", "numba-cuda", _try_numba_cuda)


def simulated() -> bool:
    """Whether numba's simulator stands in for a GPU."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


def _trial(module: str, title: str, attempt: Callable[[], bool]) -> str | None:
    if importlib.util.find_spec(module) is None:
        return f"{title} is not installed ({INSTALL})"
    try:
        done = attempt()
    except Exception as error:  # Driver, compiler and linker have errors of their own: whatever it is, is the answer.
        return f"{title} fails ({type(error).__name__}: {' '.join(str(error).split())[:300]})"
    return None if done else f"{title} runs a kernel without effect"


def _try_cupy() -> bool:
    import cupy

    touch = cupy.RawKernel('extern "C" __global__ void touch(double* array) { array[0] = 1.0; }', "touch")
    array = cupy.zeros(1)
    touch((1,), (1,), (array,))
    return float(array[0]) == 1.0


def _try_numba_cuda() -> bool:
    import numba
    from numba import cuda

    # The warning that a grid is too small to fill a GPU is no news here.
    numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0

    @cuda.jit
    def touch(array):
        array[0] = 1.0

    array = cuda.to_device(np.zeros(1))
    touch[1, 1](array)
    return float(array.copy_to_host()[0]) == 1.0


def choose(precision: str = "float64", threads: int | None = None) -> tuple[str, str]:
    """The fastest backend that works here, and why it is that one.

    Parameters
    ----------
    precision : str
        Precision of the kernels: ``mixed`` and ``float32`` need CuPy.
    threads : int, optional
        CPU threads: who gives a number wants the CPU.

    Returns
    -------
    name, reason : str

    Raises
    ------
    BackendError
        None of those that compute in this precision works here.
    """
    if threads is not None:
        chosen, reason = _cpu(precision)
        return chosen, f"a number of threads is given{reason and '; '}{reason}"
    passed: dict[str, list[str]] = {}
    problem = cupy_problem()
    if problem is None:
        return "cupy", "the fastest backend there is"
    passed.setdefault(problem, []).append("cupy")
    if precision != "float64":
        raise BackendError(f"precision {precision} needs a GPU and CuPy, and here {problem}: leave --precision out to "
                           "compute in float64, or take --backend emulate for a small test")
    problem = "numba's simulator stands in for a GPU" if simulated() else numba_cuda_problem()
    if problem is not None:
        passed.setdefault(problem, []).append("numba-cuda")
    reasons = [f"no {' and no '.join(names)}: {text}" for text, names in passed.items()]
    chosen = "numba-cuda"
    if problem is not None:
        chosen, reason = _cpu(precision)
        reasons += [reason] if reason else []
    return chosen, "; ".join(reasons)


def _cpu(precision: str) -> tuple[str, str]:
    """The faster of the backends on the CPU, and what speaks against native when it is not that one."""
    from wepl.kernels import native_build

    if precision != "float64":
        return "cpu", ""
    if not native_build.has_vectors():
        return "cpu", "no native: it is not known to be faster on a CPU without AVX2"
    problem = native_build.problem()
    return ("native", "") if problem is None else ("cpu", f"no native: {problem}")
