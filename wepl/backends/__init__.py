"""Backends: where the kernels run. :func:`create` picks one and says why."""

from __future__ import annotations

from wepl.backends.base import Backend
from wepl.errors import BackendError

__all__ = ["NAMES", "Backend", "create"]

NAMES = ("auto", "cpu", "emulate")


def create(name: str = "auto", precision: str = "float64", threads: int | None = None) -> Backend:
    """The backend called ``name``.

    Parameters
    ----------
    name : str
        ``cpu``, ``emulate`` (the CUDA C sources on the CPU), or ``auto`` for the fastest that works here.
    precision : str
        Precision of the kernels: ``float64``; ``mixed`` and ``float32`` for the CUDA C sources.
    threads : int, optional
        CPU threads; all when None.

    Raises
    ------
    BackendError
        The name, the precision or the number of threads cannot be had.
    """
    if name not in NAMES:
        raise BackendError(f"unknown backend {name!r}: choose one of {', '.join(NAMES)}")
    if name == "emulate":
        from wepl.backends.emulate import EmulateBackend

        return EmulateBackend(precision)
    from wepl.backends.cpu import CpuBackend

    backend = CpuBackend(precision, threads)
    if name == "auto":
        backend.reason += " (auto: the only backend of this version)"
    return backend
