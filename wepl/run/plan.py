"""The memory of a run: what its arrays need for a block length, and the longest block that a device holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wepl.errors import BackendError
from wepl.kernels import buffers
from wepl.run.model import STATES

# A block's input: two of each are on the device, since the next block's is copied while this one's is read.
_STAGED = ("forcing", "calendar", "vegetation")
_BLOCK_BYTES = 256 * 2**20
_BLOCK_DAYS = 64
# What is read before the first block and written after the last one cannot hide behind computing.
_LEAST_BLOCKS, _LEAST_STEPS = 8, 8


@dataclass(frozen=True)
class Need:
    """Bytes that a run's arrays take: whatever the block, and for each of its steps."""

    fixed: int
    per_step: int

    def bytes(self, steps: int) -> int:
        """Bytes for a block of ``steps``."""
        return self.fixed + steps * self.per_step


def need(sizes: Mapping[str, int], n_route: int, types: Mapping[str, np.dtype]) -> Need:
    """What the arrays of :mod:`wepl.kernels.buffers` need.

    Parameters
    ----------
    sizes : mapping
        Size of each dimension but ``step`` and ``route``; see :func:`wepl.run.model.array_sizes`.
    n_route : int
        Routing steps in one step.
    types : mapping
        Types of ``real``, ``store`` and ``int32`` arrays; see :class:`wepl.backends.Backend`.
    """
    known = {**sizes, "step": 1, "route": n_route}
    fixed = per_step = 0
    arrays = {argument.name: argument for table in buffers.KERNELS.values() for argument in table
              if isinstance(argument, buffers.Buffer)}
    for name, array in arrays.items():
        size = types[array.dtype].itemsize * math.prod(known[dim] if isinstance(dim, str) else dim
                                                       for dim in array.dims)
        if {"step", "route"} & set(array.dims):
            per_step += size * (2 if name in _STAGED else 1)
        else:
            # The states before a block are kept beside those after it.
            fixed += size * (2 if name in STATES else 1)
    return Need(fixed, per_step)


def block_steps(needed: Need, total: int, step_seconds: float, *, block_days: float | None = None,
                preferred: int | None = None, free: int | None = None) -> int:
    """Steps in a block: as asked, else some for each run, 256 MB at most, and no more than the device holds.

    Parameters
    ----------
    needed : Need
    total : int
        Steps of the whole run.
    step_seconds : float
        Forcing step, s.
    block_days : float, optional
        Days that the user asks for.
    preferred : int, optional
        Steps that were found to be fast, taken where memory allows and the user asks for nothing.
    free : int, optional
        Bytes free on the device; no limit when None.

    Raises
    ------
    BackendError
        The device does not hold a block of one day.
    """
    day = max(1, round(86400 / step_seconds))
    if block_days is not None:
        wanted = min(total, int(block_days * 86400 / step_seconds))
    else:
        share = preferred or max(_LEAST_STEPS, total // _LEAST_BLOCKS)
        wanted = max(1, min(total, share, int(_BLOCK_BYTES / needed.per_step),
                            int(_BLOCK_DAYS * 86400 / step_seconds)))
    if free is None or needed.bytes(wanted) <= free:
        return wanted
    steps = (free - needed.fixed) // needed.per_step
    least = min(day, wanted)
    if steps < least:
        raise BackendError(
            f"the basin needs {_megabytes(needed.bytes(least))} on the device for a block of {least * step_seconds:g} "
            f"s ({_megabytes(needed.fixed)} whatever the block), and {_megabytes(free)} are free: free memory there, "
            "write fewer --variables, try --precision float32 or --backend cpu, or cut the basin")
    # Whole days read better in the progress; the result does not depend on it.
    return steps if steps < day else steps - steps % day


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
