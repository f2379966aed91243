"""What a backend is: memory on a device, copies to and from it, and launches of the model's kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

Array = Any


# CUDA's number, the same in the runtime and the driver, of an allocation that finds no room.
_NO_MEMORY = 2


@contextmanager
def memory_errors(kind: type[Exception], field: str) -> Iterator[None]:
    """Turn a library's error of too little memory on the device, told by its number, into a MemoryError."""
    try:
        yield
    except kind as error:
        if int(getattr(error, field, 0)) != _NO_MEMORY:
            raise
        raise MemoryError(f"on the GPU: {error}") from error


class Backend(ABC):
    """One device with its memory and its kernels.

    Attributes
    ----------
    name : str
        Name as given to ``--backend``.
    precision : str
        ``float64``, ``mixed`` (single arithmetic, storages in double) or ``float32`` (single arithmetic, storages
        compensated), as the backend offers.
    reason : str
        One line: why this backend runs and on what.
    """

    name: str
    precision: str
    reason: str

    @property
    def types(self) -> dict[str, np.dtype[Any]]:
        """NumPy types of the kernels' ``real``, ``store`` and ``int32`` arrays."""
        real = "float64" if self.precision == "float64" else "float32"
        # Pairs of single precision numbers travel as complex numbers: a sum and what it has rounded away.
        store = "complex64" if self.precision == "float32" else "float64"
        return {"real": np.dtype(real), "store": np.dtype(store), "int32": np.dtype("int32")}

    def encode(self, host: np.ndarray, dtype: str) -> np.ndarray:
        """A new contiguous array of the device's type; see :attr:`types`. Pairs stay as they are."""
        wanted = self.types[dtype]
        if wanted.kind != "c" or host.dtype.kind == "c":
            return np.array(host, dtype=wanted, order="C", copy=True)
        pair = np.empty(host.shape, dtype=wanted)
        pair.real = host
        pair.imag = host - pair.real.astype(np.float64)
        return pair

    @staticmethod
    def decode(host: np.ndarray) -> np.ndarray:
        """What :meth:`encode` made, pairs summed to float64."""
        if host.dtype.kind != "c":
            return host
        return host.real.astype(np.float64) + host.imag.astype(np.float64)

    @abstractmethod
    def upload(self, host: np.ndarray, dtype: str) -> Array:
        """A copy of ``host`` on the device; ``dtype`` is ``real``, ``store`` or ``int32``."""

    @abstractmethod
    def allocate(self, shape: tuple[int, ...], dtype: str = "real") -> Array:
        """A new array of zeros on the device; ``dtype`` is ``real``, ``store`` or ``int32``."""

    @abstractmethod
    def download(self, array: Array) -> np.ndarray:
        """The array on the host; a view when it already is there."""

    def low_part(self, array: Array) -> np.ndarray | None:
        """The second numbers of an array of pairs on the host; None where stores are no pairs."""
        return None

    def copy(self, array: Array) -> Array:
        """A copy of an array, on the device."""
        return array.copy()

    def extremes(self, array: Array) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest value of each row of ``array[row, ...]``, NaN where the row holds one.

        A device gives the numbers of the row, not the array, to the host; of a pair of numbers the first is looked at.
        """
        host = self.download(array)
        flat = host.reshape(host.shape[0], -1)
        return flat.min(axis=1), flat.max(axis=1)

    def stage(self, hosts: Mapping[str, np.ndarray]) -> Mapping[str, Array]:
        """Copies of a block's input on the device, type ``real``, by name.

        They may still be under way: :meth:`settle` comes before the launches that read them. May be called from
        another thread while kernels run.
        """
        return {name: self.upload(host, "real") for name, host in hosts.items()}

    def settle(self, staged: Mapping[str, Array]) -> None:  # noqa: B027
        """Make the launches that follow wait for the arrays of :meth:`stage`; nothing to do where it copies at once."""

    def free_bytes(self) -> int | None:
        """Bytes that new arrays may take on the device; None where the host's memory is the device's."""
        return None

    @abstractmethod
    def launch(self, kernel: str, values: Mapping[str, Any]) -> None:
        """Run a kernel of :mod:`wepl.kernels.buffers` on its arguments by name."""
