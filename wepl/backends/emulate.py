"""The CUDA C sources on the CPU: the same kernels and the same launches, with NumPy arrays, for tests."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from wepl.backends.base import Array
from wepl.backends.cuda_c import CudaCBackend
from wepl.kernels import host

_REALS = {"float64": ctypes.c_double, "mixed": ctypes.c_float, "float32": ctypes.c_float}


class EmulateBackend(CudaCBackend):
    """Runs each launch's threads one after the other; see :class:`wepl.backends.cuda_c.CudaCBackend`.

    ``memory`` are the bytes that the device is said to have free; no limit when None.
    """

    name = "emulate"

    def __init__(self, precision: str = "float64", mapping: str = "tile", grid_threads: int | None = None,
                 memory: int | None = None) -> None:
        super().__init__(precision, mapping, grid_threads)
        self.memory = memory
        self.reason = f"emulate: the CUDA C sources compiled by {host.compiler()} for the CPU, 1 thread, {precision}"

    def upload(self, host: np.ndarray, dtype: str) -> Array:
        return self.encode(host, dtype)

    def allocate(self, shape: tuple[int, ...], dtype: str = "real") -> Array:
        return np.zeros(shape, dtype=self.types[dtype])

    def download(self, array: Array) -> np.ndarray:
        return self.decode(np.asarray(array))

    def low_part(self, array: Array) -> np.ndarray | None:
        return array.imag.copy() if array.dtype.kind == "c" else None

    def free_bytes(self) -> int | None:
        return self.memory

    def _library(self, n_layers: int) -> ctypes.CDLL:
        return host.library(self.precision, n_layers)

    def run_grid(self, kernel: str, threads: int, arguments: list[Any], n_layers: int) -> None:
        function = getattr(self._library(n_layers), f"run_{kernel}")
        function.restype = None
        real = _REALS[self.precision]
        given: list[Any] = [ctypes.c_int(threads)]
        for value in arguments:
            if isinstance(value, np.ndarray):
                given.append(ctypes.c_void_p(value.ctypes.data))
            elif isinstance(value, float):
                given.append(real(value))
            else:
                given.append(ctypes.c_int(int(value)))
        function(*given)
