"""The numba.cuda backend: the functions of :mod:`wepl.stages`, compiled for an NVIDIA GPU, in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

import numba
import numpy as np
from numba import cuda
from numba.cuda.cudadrv.driver import CudaAPIError

from wepl.backends.base import Array, memory_errors
from wepl.backends.cuda_c import CudaCBackend
from wepl.errors import BackendError
from wepl.kernels import numba_cuda as kernels

# Threads of a block: the column kernel needs some 220 registers a thread, and 65536 stand for a block.
_BLOCK_THREADS = 128
# Threads that look for the extremes of a row.
_PARTS = 256
# The driver sets aside local memory for every thread that a GPU can hold at once when the first kernel runs.
_STACK_BYTES = 4096


class NumbaCudaBackend(CudaCBackend):
    """Arrays lie on the GPU, kernels are those of :mod:`wepl.kernels.numba_cuda`.

    :func:`wepl.backends.create` makes it after a trial of GPU, driver and numba-cuda. With the environment variable
    ``NUMBA_ENABLE_CUDASIM=1`` numba simulates the GPU with Python's threads, which serves to test small basins.

    Parameters
    ----------
    precision : str
        ``float64``; anything else is refused: numba computes single precision with double precision literals.
    mapping : str
        ``tile``: a thread per tile; ``unit``: a thread walks the tiles of its unit (the published mapping).
    grid_threads : int, optional
        Threads of a launch in all, rounded up to whole blocks; as many as there are places when None. The results do
        not depend on it.
    block_threads : int
        Threads of a block.

    Raises
    ------
    BackendError
        The precision or the mapping cannot be had.
    """

    name = "numba-cuda"
    precisions = ("float64",)

    def __init__(self, precision: str = "float64", mapping: str = "tile", grid_threads: int | None = None,
                 block_threads: int = _BLOCK_THREADS) -> None:
        super().__init__(precision, mapping, grid_threads)
        self.block_threads = block_threads
        # Numba warns of every grid that cannot fill a GPU, and the river's diagonals are such grids by nature.
        numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
        self.reason = f"numba-cuda: {_device()}, numba-cuda {version('numba-cuda')}, float64"

    def upload(self, host: np.ndarray, dtype: str) -> Array:
        return self._place(np.ascontiguousarray(host, dtype=self.types[dtype]))

    def allocate(self, shape: tuple[int, ...], dtype: str = "real") -> Array:
        return self._place(np.zeros(shape, dtype=self.types[dtype]))

    def _place(self, host: np.ndarray) -> Array:
        try:
            with memory_errors(CudaAPIError, "code"):
                return cuda.to_device(host)
        except CudaAPIError as error:
            raise BackendError(f"the GPU takes no array of {host.nbytes / 1e6:.0f} MB: {error}") from error

    def download(self, array: Array) -> np.ndarray:
        return array.copy_to_host()

    def copy(self, array: Array) -> Array:
        with memory_errors(CudaAPIError, "code"):
            made = cuda.device_array(array.shape, dtype=array.dtype)
        made.copy_to_device(array)
        return made

    def extremes(self, array: Array) -> tuple[np.ndarray, np.ndarray]:
        flat = array.reshape(array.shape[0], int(np.prod(array.shape[1:])))
        n_rows, count = flat.shape
        parts = max(1, min(_PARTS, count // 32))
        low, high = (cuda.device_array((n_rows, parts), dtype=array.dtype) for _ in range(2))
        _extremes_kernel()[-(-n_rows * parts // self.block_threads), self.block_threads](flat, low, high)
        return low.copy_to_host().min(axis=1), high.copy_to_host().max(axis=1)

    def free_bytes(self) -> int | None:
        if kernels.SIMULATED:
            return None
        device = cuda.get_current_device()
        stack = _STACK_BYTES * device.MULTIPROCESSOR_COUNT * device.MAX_THREADS_PER_MULTIPROCESSOR
        return max(0, cuda.current_context().get_memory_info().free - stack)

    def size_arguments(self, kernel: str, values: Mapping[str, Any]) -> list[int]:
        """None: numba's arrays know their shapes."""
        return []

    def run_grid(self, kernel: str, threads: int, arguments: list[Any], n_layers: int) -> None:
        block = min(threads, self.block_threads)
        # The first launch takes stack for every thread that the GPU can hold.
        with memory_errors(CudaAPIError, "code"):
            kernels.compiled(kernel, n_layers)[-(-threads // block), block](*arguments)


@cache
def _extremes_kernel() -> Any:
    """Fills ``low[row, part]`` and ``high[row, part]`` with the extremes of every so many places of ``array[row]``."""
    def extremes(array, low, high):
        parts = low.shape[1]
        for index in range(cuda.grid(1), array.shape[0] * parts, cuda.gridsize(1)):
            row, part = index // parts, index % parts
            smallest = array[row, part]
            largest = smallest
            for place in range(part, array.shape[1], parts):
                value = array[row, place]
                # A value that is not itself is NaN; no number displaces it.
                if value < smallest or value != value:
                    smallest = value
                if value > largest or value != value:
                    largest = value
            low[row, part] = smallest
            high[row, part] = largest

    return cuda.jit(extremes)


def _device() -> str:
    if kernels.SIMULATED:
        return "numba's simulator (NUMBA_ENABLE_CUDASIM)"
    device = cuda.get_current_device()
    return f"{device.name}, compute capability {'.'.join(map(str, device.compute_capability))}"
