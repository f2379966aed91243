"""Backends: where the kernels run. :func:`create` picks one and says why."""

from __future__ import annotations

from wepl.backends import choose
from wepl.backends.base import Backend
from wepl.errors import BackendError

__all__ = ["NAMES", "Backend", "create"]

NAMES = ("auto", "native", "cpu", "cupy", "numba-cuda", "emulate")


def create(name: str = "auto", precision: str = "float64", threads: int | None = None, *, mapping: str = "tile",
           grid_threads: int | None = None) -> Backend:
    """The backend called ``name``.

    Parameters
    ----------
    name : str
        ``cpu`` (numba); ``native`` (vector lanes, compiled by the system's C++ compiler); ``cupy`` (the CUDA C sources)
        or ``numba-cuda`` (the Python sources) on an NVIDIA GPU; ``emulate`` (the CUDA C sources on the CPU); or
        ``auto`` for the fastest that works here.
    precision : str
        Precision of the kernels: ``float64``; ``mixed`` and ``float32`` for the CUDA C sources.
    threads : int, optional
        CPU threads; all when None.
    mapping, grid_threads
        Form of a GPU's launches, see :class:`wepl.backends.cuda_c.CudaCBackend`; the results do not depend on them.

    Raises
    ------
    BackendError
        The name, the precision or the number of threads cannot be had, or the backend does not work here.
    """
    if name not in NAMES:
        raise BackendError(f"unknown backend {name!r}: choose one of {', '.join(NAMES)}")
    if name != "auto":
        return _create(name, precision, threads, mapping, grid_threads)
    chosen, why = choose.choose(precision, threads)
    backend = _create(chosen, precision, threads, mapping, grid_threads)
    backend.reason += f" (auto: {why})"
    return backend


def _create(name: str, precision: str, threads: int | None, mapping: str, grid_threads: int | None) -> Backend:
    if name == "cupy":
        _require(name, choose.cupy_problem())
        from wepl.backends.cupy_raw import CupyBackend

        return CupyBackend(precision, mapping, grid_threads)
    if name == "numba-cuda":
        _require(name, choose.numba_cuda_problem())
        from wepl.backends.numba_cuda import NumbaCudaBackend

        return NumbaCudaBackend(precision, mapping, grid_threads)
    if name == "native":
        from wepl.backends.native import NativeBackend

        return NativeBackend(precision, threads)
    if name == "emulate":
        from wepl.backends.emulate import EmulateBackend

        return EmulateBackend(precision, mapping, grid_threads)
    from wepl.backends.cpu import CpuBackend

    return CpuBackend(precision, threads)


def _require(name: str, problem: str | None) -> None:
    if problem is not None:
        raise BackendError(f"the {name} backend does not work here: {problem}. It needs an NVIDIA GPU, its driver and "
                           f"the packages of {choose.INSTALL}; --backend auto takes what works")
