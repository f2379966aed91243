"""Backends: where the kernels run. :func:`create` picks one and says why."""

from __future__ import annotations

from wepl.backends.base import Backend
from wepl.errors import BackendError

__all__ = ["NAMES", "Backend", "create"]

NAMES = ("auto", "cpu")


def create(name: str = "auto", precision: str = "float64", threads: int | None = None) -> Backend:
    """The backend called ``name``.

    Parameters
    ----------
    name : str
        ``cpu``, or ``auto`` for the fastest that works here (today the CPU is the only one).
    precision : str
        Precision of the kernels; the CPU reference computes in ``float64``.
    threads : int, optional
        CPU threads; all when None.

    Raises
    ------
    BackendError
        The name, the precision or the number of threads cannot be had.
    """
    if name not in NAMES:
        raise BackendError(f"unknown backend {name!r}: choose one of {', '.join(NAMES)}")
    from wepl.backends.cpu import CpuBackend

    backend = CpuBackend(precision, threads)
    if name == "auto":
        backend.reason += " (auto: the only backend of this version)"
    return backend
