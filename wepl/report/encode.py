"""Numbers as text inside a page: quantised where asked, shuffled by byte, compressed, in base64.

A page's scripts undo it in the browser (``assets/data.js``), with no library but the browser's own gzip.
"""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Series of a sub-basin stand as whole numbers of 16 bits; the last one marks what is missing.
LEVELS, MISSING = 65534, 65535
# Exponent of the scale of variables that are never negative: small values keep three digits far below the largest.
POWER = 3
_CHUNK_VALUES = 2**17
_NAMES = {"<f4": "f4", "<f8": "f8", "<i4": "i4", "<u2": "u2"}


@dataclass
class Blobs:
    """The arrays of a page, each a text of its own, so that a page unpacks only what it shows.

    Attributes
    ----------
    texts : list of str
        Base64 by number.
    """

    texts: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Characters so far."""
        return sum(len(text) for text in self.texts)

    def add(self, values: np.ndarray, dtype: str) -> dict[str, Any]:
        """Store an array and say where: ``{"blob": number, "dtype": ..., "size": ...}``.

        Parameters
        ----------
        values : ndarray
            Any shape; stored flat in C order.
        dtype : str
            ``<f4``, ``<f8``, ``<i4`` or ``<u2``.
        """
        flat = np.ascontiguousarray(values, dtype=dtype).ravel()
        planes = flat.view(np.uint8).reshape(flat.size, flat.itemsize).T
        # Without a time inside, the same numbers give the same page.
        packed = gzip.compress(planes.tobytes(), compresslevel=6, mtime=0)
        self.texts.append(base64.b64encode(packed).decode("ascii"))
        return {"blob": len(self.texts) - 1, "dtype": _NAMES[dtype], "size": int(flat.size)}

    def add_series(self, values: np.ndarray) -> dict[str, Any]:
        """Store series of many places as whole numbers of 16 bits, in chunks of places.

        Parameters
        ----------
        values : ndarray
            ``[place, period]``; NaN is missing.

        Returns
        -------
        dict
            ``rows`` places per chunk, ``chunks``, ``low`` and ``span`` per place and ``power``: a value is
            ``low + span * (whole number / 65534) ** power``.
        """
        low, span, power, codes = quantise(values)
        rows = max(1, _CHUNK_VALUES // max(1, values.shape[1]))
        steps = np.diff(codes, axis=1, prepend=np.uint16(0))
        chunks = [self.add(steps[first:first + rows], "<u2") for first in range(0, len(steps), rows)]
        return {"rows": rows, "periods": values.shape[1], "power": power, "low": self.add(low, "<f8"),
                "span": self.add(span, "<f8"), "chunks": chunks}


def quantise(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """Lowest value and span of each row, the exponent of the scale, and the whole numbers.

    The error is at most ``power / 131068`` of the row's span, and shrinks with the value where the exponent is 3.
    """
    there = np.isfinite(values)
    any_there = there.any(axis=1)
    low = np.where(any_there, np.min(np.where(there, values, np.inf), axis=1), 0.0)
    high = np.where(any_there, np.max(np.where(there, values, -np.inf), axis=1), 0.0)
    power = 1 if (low < 0.0).any() else POWER
    if power == POWER:
        low = np.zeros_like(low)
    span = high - low
    share = np.where(there, values - low[:, None], 0.0) / np.where(span > 0.0, span, 1.0)[:, None]
    codes = np.rint(np.clip(share, 0.0, 1.0) ** (1.0 / power) * LEVELS).astype(np.uint16)
    codes[~there] = MISSING
    return low, span, power, codes
