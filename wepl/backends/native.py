"""The native backend: the model's functions on vector lanes, compiled for this machine's CPU."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from wepl.backends.base import Array
from wepl.backends.cuda_c import CudaCBackend
from wepl.errors import BackendError
from wepl.kernels import native_build


class NativeBackend(CudaCBackend):
    """Arrays are NumPy arrays; kernels work on four places at a time, spread over threads.

    Parameters
    ----------
    precision : str
        ``float64``; anything else is refused.
    threads : int, optional
        Number of threads, at most the machine's; all when None. The results do not depend on it.
    more : tuple of str
        Further options of the compiler.

    Raises
    ------
    BackendError
        There is no compiler that works, or the precision or number of threads cannot be had.
    """

    name = "native"
    precisions = ("float64",)

    def __init__(self, precision: str = "float64", threads: int | None = None, more: tuple[str, ...] = ()) -> None:
        super().__init__(precision)
        # A container or a batch system may grant fewer cores than the machine has.
        most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if threads is not None and not 1 <= threads <= most:
            raise BackendError(f"--threads {threads}: give a number from 1 to {most} (this machine's threads)")
        if native_build.compiler() is None:
            raise BackendError("the native backend compiles the model for this CPU and found no C++ compiler: "
                               f"{native_build.INSTALL}")
        self.threads = threads or most
        self.more = more
        self.reason = (f"native: vector lanes compiled by {native_build.name()} for this CPU, {self.threads} "
                       f"thread{'s' * (self.threads > 1)}, {precision}")

    def upload(self, host: np.ndarray, dtype: str) -> Array:
        return self.encode(host, dtype)

    def allocate(self, shape: tuple[int, ...], dtype: str = "real") -> Array:
        return np.zeros(shape, dtype=self.types[dtype])

    def download(self, array: Array) -> np.ndarray:
        return np.asarray(array)

    def compiles(self, n_layers: int) -> str | None:
        """Where the library will be kept, when it is not there yet."""
        path = native_build.target(n_layers, self.more)
        return None if path.exists() else str(path.parent)

    def _wavefront(self, values: Mapping[str, Any], arguments: list[Any], n_layers: int) -> None:
        self.run_grid("river", 1, arguments, n_layers)

    def run_grid(self, kernel: str, threads: int, arguments: list[Any], n_layers: int) -> None:
        function = getattr(native_build.library(n_layers, self.more), f"run_{kernel}")
        function.restype = None
        given: list[Any] = [ctypes.c_int(self.threads)]
        for value in arguments:
            if isinstance(value, np.ndarray):
                given.append(ctypes.c_void_p(value.ctypes.data))
            elif isinstance(value, float):
                given.append(ctypes.c_double(value))
            else:
                given.append(ctypes.c_int(int(value)))
        function(*given)
