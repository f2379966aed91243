"""The reference backend: numba on the CPU, in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
import numpy as np

from wepl.backends.base import Array, Backend
from wepl.errors import BackendError
from wepl.kernels import buffers
from wepl.stages.column import column_kernel
from wepl.stages.hillslope import hillslope_kernel
from wepl.stages.river import river_kernel
from wepl.stages.weather import weather_kernel

_KERNELS: dict[str, Any] = {
    "weather": weather_kernel,
    "column": column_kernel,
    "hillslope": hillslope_kernel,
    "river": river_kernel,
}


class CpuBackend(Backend):
    """Arrays are NumPy arrays, kernels are numba's parallel loops.

    Parameters
    ----------
    precision : str
        ``float64``; anything else is refused.
    threads : int, optional
        Number of threads, at most the machine's; all when None. The results do not depend on it.
    """

    name = "cpu"

    def __init__(self, precision: str = "float64", threads: int | None = None) -> None:
        if precision != "float64":
            raise BackendError(f"the cpu backend computes in float64, not {precision}: leave --precision out")
        most = int(numba.config.NUMBA_NUM_THREADS)
        if threads is not None and not 1 <= threads <= most:
            raise BackendError(f"--threads {threads}: give a number from 1 to {most} (this machine's threads)")
        self.precision = precision
        self.threads = threads or most
        self.reason = f"cpu: numba {numba.__version__}, {self.threads} thread{'s' * (self.threads > 1)}, float64"

    def upload(self, host: np.ndarray, dtype: str) -> Array:
        return self.encode(host, dtype)

    def allocate(self, shape: tuple[int, ...], dtype: str = "real") -> Array:
        return np.zeros(shape, dtype=self.types[dtype])

    def download(self, array: Array) -> np.ndarray:
        return np.asarray(array)

    def launch(self, kernel: str, values: Mapping[str, Any]) -> None:
        numba.set_num_threads(self.threads)
        _KERNELS[kernel](*buffers.check(kernel, values, self.types))
