"""The cupy backend: the CUDA C sources, compiled by NVRTC and launched through CuPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cupy
import cupyx
import numpy as np

from wepl.backends.base import Array, memory_errors
from wepl.backends.choose import cupy_problem
from wepl.backends.cuda_c import CudaCBackend
from wepl.errors import BackendError
from wepl.kernels import compile as nvrtc
from wepl.kernels import sources

# The column kernel takes up to 200 registers a thread: in blocks of 128 no more than a few are left over.
_BLOCK_THREADS = 128
# The driver sets aside stack for every thread that a GPU can hold at once when the first kernel runs.
_STACK_BYTES = 4096


class _Transfer(dict[str, Array]):
    """Arrays on their way to the GPU, the host memory that is read meanwhile, and the event of their arrival."""

    pinned: tuple[np.ndarray, ...] = ()
    arrival: Any = None


class CupyBackend(CudaCBackend):
    """Arrays are CuPy's, kernels those of ``kernels/cuda``; see :class:`wepl.backends.cuda_c.CudaCBackend`.

    Parameters
    ----------
    precision : str
        ``float64``, ``mixed`` or ``float32``.
    mapping : str
        ``tile``: a thread per tile; ``unit``: a thread walks the tiles of its unit (the published mapping).
    grid_threads : int, optional
        Threads of a launch in all, rounded up to whole blocks; as many as there are places when None. The results do
        not depend on it.
    block_threads : int
        Threads of a block.
    exact : bool
        Round products and sums apart as the CPU reference does. By default they are fused, which is faster; results
        then differ from the reference by rounding.

    Raises
    ------
    BackendError
        There is no GPU, driver, CuPy or NVRTC that works, or the precision cannot be had.
    """

    name = "cupy"

    def __init__(self, precision: str = "float64", mapping: str = "tile", grid_threads: int | None = None,
                 block_threads: int = _BLOCK_THREADS, exact: bool = False) -> None:
        super().__init__(precision, mapping, grid_threads)
        problem = cupy_problem()
        if problem:
            raise BackendError(f"the cupy backend cannot run: {problem}")
        self.block_threads = block_threads
        self.exact = exact
        self._device = cupy.cuda.Device()
        # Only a stream that does not wait for the default one copies while that one computes.
        self._copies = cupy.cuda.Stream(non_blocking=True)
        self._functions: dict[tuple[str, int], Any] = {}
        facts = cupy.cuda.runtime.getDeviceProperties(self._device.id)
        self._stack_bytes = _STACK_BYTES * facts["multiProcessorCount"] * facts["maxThreadsPerMultiProcessor"]
        name = facts["name"].decode()
        self.reason = (f"cupy: {name}, compute capability {facts['major']}.{facts['minor']}, CuPy {cupy.__version__}, "
                       f"{precision}{', products and sums rounded apart' if exact else ''}")

    def upload(self, host: np.ndarray, dtype: str) -> Array:
        return cupy.asarray(self.encode(host, dtype), blocking=True)

    def allocate(self, shape: tuple[int, ...], dtype: str = "real") -> Array:
        return cupy.zeros(shape, dtype=self.types[dtype])

    def download(self, array: Array) -> np.ndarray:
        return self.decode(cupy.asnumpy(array))

    def low_part(self, array: Array) -> np.ndarray | None:
        return cupy.asnumpy(array.imag) if array.dtype.kind == "c" else None

    def extremes(self, array: Array) -> tuple[np.ndarray, np.ndarray]:
        flat = array.real.reshape(array.shape[0], -1)
        return cupy.asnumpy(flat.min(axis=1)), cupy.asnumpy(flat.max(axis=1))

    def free_bytes(self) -> int:
        free, _ = cupy.cuda.runtime.memGetInfo()
        return max(0, int(free + cupy.get_default_memory_pool().free_bytes() - self._stack_bytes))

    def stage(self, hosts: Mapping[str, np.ndarray]) -> Mapping[str, Array]:
        """Begin to copy a block's arrays from pinned memory; kernels that run meanwhile are not disturbed."""
        real = self.types["real"]
        transfer, pinned = _Transfer(), []
        # Pinned memory is the host's, but asked of CUDA.
        with self._device, self._copies, memory_errors(RuntimeError, "status"):
            for name, host in hosts.items():
                buffer = cupyx.empty_pinned(host.shape, dtype=real)
                buffer[...] = host
                transfer[name] = cupy.empty(host.shape, dtype=real)
                transfer[name].set(buffer, stream=self._copies)
                pinned.append(buffer)
            transfer.arrival = self._copies.record()
        transfer.pinned = tuple(pinned)
        return transfer

    def settle(self, staged: Mapping[str, Array]) -> None:
        assert isinstance(staged, _Transfer)
        cupy.cuda.get_current_stream().wait_event(staged.arrival)

    def run_grid(self, kernel: str, threads: int, arguments: list[Any], n_layers: int) -> None:
        real = self.types["real"].type
        # CuPy hands numbers over as they are: their size must be the parameter's.
        given = tuple(real(value) if isinstance(value, float) else
                      np.int32(value) if isinstance(value, int | np.integer) else value for value in arguments)
        block = min(threads, self.block_threads)
        # The first launch takes stack for every thread that the GPU can hold.
        with memory_errors(RuntimeError, "status"):
            self._function(kernel, n_layers)((-(-threads // block),), (block,), given)

    def _function(self, kernel: str, n_layers: int) -> Any:
        key = (kernel, n_layers)
        if key not in self._functions:
            module = cupy.RawModule(code=nvrtc.source(kernel), backend="nvrtc",
                                    options=nvrtc.options(self.precision, n_layers, exact=self.exact))
            try:
                module.compile()
            except cupy.cuda.compiler.CompileException as error:
                raise BackendError(f"NVRTC refuses {sources.FILES[kernel]}:\n{str(error)[:2000]}") from error
            self._functions[key] = module.get_function(f"{kernel}_kernel")
        return self._functions[key]
