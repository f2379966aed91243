"""The native backend: the model's functions on vector lanes, compiled for this machine's CPU."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from wepl.backends.base import Array
from wepl.backends.cuda_c import CudaCBackend
from wepl.kernels import native_build

_REALS = {"float64": ctypes.c_double}


class NativeBackend(CudaCBackend):
    """Arrays are NumPy arrays; kernels work on four places at a time, spread over threads.

    Parameters
    ----------
    precision : str
        ``float64``; anything else is refused.
    threads : int, optional
        Number of threads; all when None. The results do not depend on it.

    Raises
    ------
    BackendError
        There is no compiler that works, or the precision or number of threads cannot be had.
    """

    name = "native"
    precisions = ("float64",)

    def __init__(self, precision: str = "float64", threads: int | None = None) -> None:
        super().__init__(precision)
        self.threads = threads or os.cpu_count() or 1
        self.reason = "native"

    def upload(self, host: np.ndarray, dtype: str) -> Array:
        return self.encode(host, dtype)

    def allocate(self, shape: tuple[int, ...], dtype: str = "real") -> Array:
        return np.zeros(shape, dtype=self.types[dtype])

    def download(self, array: Array) -> np.ndarray:
        return np.asarray(array)

    def _wavefront(self, values: Any, arguments: list[Any], n_layers: int) -> None:
        self.run_grid("river", 1, arguments, n_layers)

    def run_grid(self, kernel: str, threads: int, arguments: list[Any], n_layers: int) -> None:
        function = getattr(native_build.library(self.precision, n_layers), f"run_{kernel}")
        function.restype = None
        real = _REALS[self.precision]
        given: list[Any] = [ctypes.c_int(self.threads)]
        for value in arguments:
            if isinstance(value, np.ndarray):
                given.append(ctypes.c_void_p(value.ctypes.data))
            elif isinstance(value, float):
                given.append(real(value))
            else:
                given.append(ctypes.c_int(int(value)))
        function(*given)
