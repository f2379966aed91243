"""What a backend is: memory on a device, copies to and from it, and launches of the model's kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

Array = Any


class Backend(ABC):
    """One device with its memory and its kernels.

    Attributes
    ----------
    name : str
        Name as given to ``--backend``.
    precision : str
        ``float64`` (others where a backend offers them).
    reason : str
        One line: why this backend runs and on what.
    """

    name: str
    precision: str
    reason: str

    @property
    def real(self) -> np.dtype[Any]:
        """Data type of the kernels' real arrays."""
        return np.dtype(self.precision)

    @abstractmethod
    def upload(self, host: np.ndarray) -> Array:
        """A copy of ``host`` on the device; float arrays in the backend's precision, integers as int32."""

    @abstractmethod
    def allocate(self, shape: tuple[int, ...], dtype: str = "real") -> Array:
        """A new array of zeros on the device; ``dtype`` is ``real`` or ``int32``."""

    @abstractmethod
    def download(self, array: Array) -> np.ndarray:
        """The array on the host; a view when it already is there."""

    @abstractmethod
    def launch(self, kernel: str, values: Mapping[str, Any]) -> None:
        """Run a kernel of :mod:`wepl.kernels.buffers` on its arguments by name."""

    def prepare(self, dtype: str) -> np.dtype[Any]:
        """The NumPy type behind ``real`` or ``int32``."""
        return self.real if dtype == "real" else np.dtype(dtype)
