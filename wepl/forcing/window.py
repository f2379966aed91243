"""Forcing read ahead in stretches longer than a block: compressed chunks and files are opened once, not per block."""

from __future__ import annotations

import numpy as np

from wepl import registry
from wepl.forcing.reader import ForcingReader

_BYTES = 32 * 2**20
_DAYS = 366


class Window:
    """Steps of a forcing reader, of which the stretch around the last ones asked for is kept in memory.

    A block is often shorter than a chunk of the file, and each read opens the files and unpacks whole chunks. Use it
    from one thread.

    Parameters
    ----------
    reader : ForcingReader
    last : int
        End of the run: nothing behind it is read.
    """

    def __init__(self, reader: ForcingReader, last: int) -> None:
        self._reader = reader
        self._last = last
        step = 8 * len(registry.layout("forcing")) * max(1, reader.cells.size)
        self._length = min(_BYTES // step, int(_DAYS * 86400 / reader.clock.step_seconds))
        self._first = 0
        self._values = np.empty((len(registry.layout("forcing")), 0, reader.cells.size))

    def read(self, first: int, last: int) -> np.ndarray:
        """As :meth:`wepl.forcing.reader.ForcingReader.read`; the same bits."""
        if first < self._first or last > self._first + self._values.shape[1]:
            self._first = first
            self._values = self._reader.read(first, max(last, min(self._last, first + self._length)))
        return self._values[:, first - self._first:last - self._first].copy()
