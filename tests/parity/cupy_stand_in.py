"""CuPy's part of the cupy backend on the CPU: arrays are NumPy's, kernels the CUDA C sources compiled for the host.

It is as strict as a launch on a GPU is careless: number and type of each argument are compared with the kernel's.
"""

from __future__ import annotations

import ctypes
import re
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from wepl.kernels import buffers, host, sources

CTYPES = {np.dtype("float64"): ctypes.c_double, np.dtype("float32"): ctypes.c_float, np.dtype("int32"): ctypes.c_int}
REALS = {"double": "float64", "float": "float32"}
STORES = {"double": "float64", "wepl::Pair": "complex64"}


class Array(np.ndarray):
    """A NumPy array with CuPy's ``set``, which asks for one type and shape and contiguous memory."""

    def set(self, values: np.ndarray, stream: Stream) -> None:
        assert values.dtype == self.dtype and values.shape == self.shape and values.flags.c_contiguous
        stream.log.append("copy")
        self[...] = values


class Stream:
    def __init__(self, non_blocking: bool = False) -> None:
        self.non_blocking = non_blocking
        self.log: list[str] = []

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def record(self) -> SimpleNamespace:
        self.log.append("record")
        return SimpleNamespace(stream=self, after=len(self.log) - 1)

    def wait_event(self, event: SimpleNamespace) -> None:
        # Copies of the next block may already stand behind the event.
        assert event.stream.log[event.after] == "record" and "copy" in event.stream.log[:event.after]
        self.log.append("wait")


class Kernel:
    """Called as a RawKernel: grid, block, arguments."""

    launches: list[tuple[str, int, int]] = []

    def __init__(self, name: str, precision: str, n_layers: int) -> None:
        self.name, self.precision, self.n_layers = name, precision, n_layers

    def expected(self) -> list[tuple[str, str]]:
        """Kind (array or number) and type of every parameter."""
        real, store = sources.TYPES[self.precision]
        types = {"real": REALS[real], "store": STORES[store], "int32": "int32", "int": "int32"}
        found = [("array" if isinstance(argument, buffers.Buffer) else "number", types[argument.dtype])
                 for argument in buffers.arguments(self.name)]
        return found + [("number", "int32")] * (len(sources.parameters(self.name)) - len(found))

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        expected = self.expected()
        assert len(arguments) == len(expected), self.name
        given: list[Any] = [ctypes.c_int(grid[0] * block[0])]
        for value, (kind, dtype) in zip(arguments, expected, strict=True):
            assert value.dtype == dtype
            if kind == "array":
                assert isinstance(value, np.ndarray) and value.flags.c_contiguous
                given.append(ctypes.c_void_p(value.ctypes.data))
            else:
                assert isinstance(value, np.generic)
                given.append(CTYPES[value.dtype](value.item()))
        Kernel.launches.append((self.name, grid[0], block[0]))
        function = getattr(host.library(self.precision, self.n_layers), f"run_{self.name}")
        function.restype = None
        function(*given)


class RawModule:
    """Knows precision and layers from the macros in its options, as the compiler does."""

    made: list[RawModule] = []

    def __init__(self, code: str, backend: str, options: tuple[str, ...]) -> None:
        assert backend == "nvrtc"
        self.code, self.options = code, options
        macros = dict(option[2:].split("=", 1) for option in options if option.startswith("-D"))
        types = (macros["WEPL_REAL"], macros["WEPL_STORE"])
        self.precision = {pair: name for name, pair in sources.TYPES.items()}[types]
        self.n_layers = int(macros["N_LAYERS"])
        RawModule.made.append(self)

    def compile(self) -> None:
        pass

    def get_function(self, name: str) -> Kernel:
        assert re.search(rf"__global__ void {name}\(", self.code)
        return Kernel(name.removesuffix("_kernel"), self.precision, self.n_layers)


def modules(free: int = 2**33) -> dict[str, ModuleType]:
    """Stand-ins for ``cupy`` and ``cupyx`` on a device with ``free`` bytes, one multiprocessor of 32 threads."""
    default = Stream()

    def empty(shape: tuple[int, ...], dtype: Any) -> Array:
        # Not zeros: what the backend does not fill must show.
        return np.full(shape, 77, dtype=dtype).view(Array)

    cupy, cupyx = ModuleType("cupy"), ModuleType("cupyx")
    cupy.__version__ = "0.0"
    cupy.asarray = lambda host, blocking: np.array(host).view(Array) if blocking else None
    cupy.asnumpy = np.array
    cupy.zeros = lambda shape, dtype: np.zeros(shape, dtype).view(Array)
    cupy.empty = empty
    cupy.RawModule = RawModule
    cupy.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: 1000)
    properties = {"name": b"Stand-in", "major": 9, "minor": 0, "multiProcessorCount": 1,
                  "maxThreadsPerMultiProcessor": 32}
    device = Stream()
    device.id = 0
    cupy.cuda = SimpleNamespace(
        Device=lambda: device, Stream=Stream, get_current_stream=lambda: default,
        compiler=SimpleNamespace(CompileException=RuntimeError),
        runtime=SimpleNamespace(getDeviceProperties=lambda _: properties, memGetInfo=lambda: (free, 2**33)))
    cupyx.empty_pinned = lambda shape, dtype: np.full(shape, 77, dtype=dtype)
    return {"cupy": cupy, "cupyx": cupyx}
