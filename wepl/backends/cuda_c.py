"""What the backends that launch grids of threads share: order of arguments, sizes, the river's wavefront."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from wepl.backends.base import Backend
from wepl.errors import BackendError
from wepl.kernels import buffers
from wepl.kernels.translate_views import dimension_names

PRECISIONS = ("float64", "mixed", "float32")
MAPPINGS = ("tile", "unit")
_COUNTS = {"weather": "n_units", "column": "n_tiles", "column_by_unit": "n_units", "hillslope": "n_subbasins"}


class CudaCBackend(Backend):
    """Launches kernels of grid-stride loops: by default those of ``kernels/cuda``.

    Parameters
    ----------
    precision : str
        ``float64``, ``mixed`` or ``float32``.
    mapping : str
        ``tile``: a thread per tile; ``unit``: a thread walks the tiles of its unit (the published mapping).
    grid_threads : int, optional
        Threads of a launch in all; as many as there are places when None. The results do not depend on it.
    """

    precisions: tuple[str, ...] = PRECISIONS

    def __init__(self, precision: str, mapping: str = "tile", grid_threads: int | None = None) -> None:
        if precision not in self.precisions:
            raise BackendError(f"the {self.name} backend computes in {', '.join(self.precisions)}, not {precision}")
        if mapping not in MAPPINGS:
            raise BackendError(f"unknown mapping {mapping!r}: choose one of {', '.join(MAPPINGS)}")
        self.precision = precision
        self.mapping = mapping
        self.grid_threads = grid_threads
        # The network's levels of the array that was launched last, on the host.
        self._levels: tuple[Any, np.ndarray] = (None, np.zeros(0))

    @abstractmethod
    def run_grid(self, kernel: str, threads: int, arguments: list[Any], n_layers: int) -> None:
        """Launch ``kernel`` with ``threads`` threads; arguments are arrays and numbers in the kernel's order."""

    def launch(self, kernel: str, values: Mapping[str, Any]) -> None:
        name = "column_by_unit" if kernel == "column" and self.mapping == "unit" else kernel
        arguments = [*buffers.check(name, values, self.types), *self.size_arguments(name, values)]
        n_layers = int(values["soil_state"].shape[1])
        if name == "river":
            self._wavefront(values, arguments, n_layers)
            return
        count = int(values[_COUNTS[name]])
        if count:
            self.run_grid(name, min(count, self.grid_threads or count), arguments, n_layers)

    def size_arguments(self, kernel: str, values: Mapping[str, Any]) -> list[int]:
        """Sizes that follow the arguments: kernels in CUDA C see bare pointers."""
        sizes = self._sizes(kernel, values)
        return [sizes[dim] for dim in dimension_names(kernel)]

    @staticmethod
    def _sizes(kernel: str, values: Mapping[str, Any]) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for argument in buffers.arguments(kernel):
            if isinstance(argument, buffers.Buffer):
                for dim, size in zip(argument.dims, values[argument.name].shape, strict=True):
                    if isinstance(dim, str):
                        name, _, more = dim.partition("+")
                        sizes[name] = int(size) - int(more or 0)
        return sizes

    def _wavefront(self, values: Mapping[str, Any], arguments: list[Any], n_layers: int) -> None:
        """One launch per diagonal: level l of the network works on step diagonal - l."""
        held = values["level_start"]
        if self._levels[0] is not held:
            self._levels = (held, np.array(self.download(held)))
        start = self._levels[1]
        n_levels, n_routes = start.size - 1, int(values["n_routes"])
        for diagonal in range(n_routes + n_levels - 1):
            low, high = max(0, diagonal - n_routes + 1), min(n_levels, diagonal + 1)
            first, last = int(start[low]), int(start[high])
            count = last - first
            self.run_grid("river", min(count, self.grid_threads or count), [*arguments, diagonal, low, first, last],
                          n_layers)
