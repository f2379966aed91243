"""The client's side of a Dask cluster: made here or found, checked, and asked for what runs, ensembles and calibrations
need."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.backends.base import Array, Backend
from wepl.distributed.group import Device
from wepl.errors import BackendError, InputError, WeplError

if TYPE_CHECKING:
    from distributed import Client, Future

    from wepl.basin.dataset import Basin
    from wepl.calibrate.simulate import Simulator
    from wepl.distributed.ensemble import BatchRunner
    from wepl.run.batch import Shared
    from wepl.run.ensemble import Changes
    from wepl.run.ensemble_file import Layout
    from wepl.run.job import Job

INSTALL = "pip install 'wepl[distributed]'"
_ADDRESS = re.compile(r"((tcp|tls|ucx|ucxx|ws|wss)://)?[^/\s]+:\d+")
_ANSWER_SECONDS, _WORKER_SECONDS, _POLL_SECONDS, _LOST_SECONDS = 15.0, 60.0, 1.0, 600.0
# What the graph holds (arrays of the groups, states) is meant to lie on the scheduler, where no worker can lose it.
_CONFIG = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}


class RemoteDevice(Backend):
    """What a client knows of its workers' backend: name, precision and number types. It launches nothing."""

    def __init__(self, device: Device, reason: str, free: int | None) -> None:
        self.name, self.precision, self.reason = device.name, device.precision, reason
        self.device, self._free = device, free

    def upload(self, host: np.ndarray, dtype: str) -> Array:
        return self.encode(host, dtype)

    def allocate(self, shape: tuple[int, ...], dtype: str = "real") -> Array:
        return np.zeros(shape, dtype=self.types[dtype])

    def download(self, array: Array) -> np.ndarray:
        return self.decode(np.asarray(array))

    def low_part(self, array: Array) -> np.ndarray | None:
        return array.imag.copy() if array.dtype.kind == "c" else None

    def free_bytes(self) -> int | None:
        """Bytes free on the device of the worker that has least."""
        return self._free

    def launch(self, kernel: str, values: Mapping[str, Any]) -> None:
        raise BackendError(f"kernel {kernel} was to be launched on the client of a cluster")


@dataclass(frozen=True)
class Cluster:
    """A cluster whose workers have been checked. Made by :func:`connect`.

    Attributes
    ----------
    client : distributed.Client
    threads : int
        CPU threads of a worker's kernels; 0 for as many as each worker was started with.
    groups : int or None
        Groups of sub-basins into which a run is cut; one for each worker when None.
    on_gpus : bool
        Whether each worker was given a GPU here.
    """

    client: Client
    threads: int
    groups: int | None = None
    on_gpus: bool = False

    @property
    def workers(self) -> list[str]:
        """Addresses of the workers that are there now, in a fixed order."""
        return sorted(self.client.scheduler_info(n_workers=-1)["workers"])

    def device(self, backend: str, precision: str, threads: int | None) -> RemoteDevice:
        """The backend of all workers.

        Raises
        ------
        BackendError
            A worker cannot have it, or ``auto`` finds different ones, which would not give the same bits.
        """
        from wepl.distributed import worker

        asked = Device(backend, precision, threads or self.threads)
        found = self.everywhere(worker.describe, asked)
        names = sorted({name for name, _, _ in found.values()})
        if len(names) > 1:
            raise BackendError(f"the workers would take different backends ({', '.join(names)}), which do not give the "
                               "same bits: choose one with --backend")
        free = [left for _, _, left in found.values() if left is not None]
        reason = f"{len(found)} worker{'s' * (len(found) > 1)}: {next(iter(found.values()))[1]}"
        return RemoteDevice(Device(names[0], precision, asked.threads), reason, min(free, default=None))

    def everywhere(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """What a function gives on each worker, by address; errors of the model are raised as they are.

        Raises
        ------
        InputError
            A worker does not know the function: it has another wepl, or none.
        """
        found = self.client.run(function, *arguments, on_error="return")
        for address, value in found.items():
            if isinstance(value, WeplError):
                raise value
            if isinstance(value, Exception):
                raise InputError(f"worker {address} cannot run wepl ({type(value).__name__}: {value}): install there "
                                 "the version that is here")
        return found

    def check(self) -> None:
        """Refuse workers whose versions differ from the client's.

        Raises
        ------
        InputError
            Names worker and version.
        """
        from wepl.distributed import worker

        for address, found in self.everywhere(worker.differing, worker.facts()).items():
            if found:
                raise worker.refusal(address, found)

    def check_paths(self, paths: Sequence[Path]) -> None:
        """Refuse files that a worker cannot see.

        Raises
        ------
        InputError
            Names worker and file.
        """
        from wepl.distributed import worker

        for address, gone in self.everywhere(worker.missing, [str(path.resolve()) for path in paths]).items():
            if gone:
                raise InputError(f"worker {address} does not see {gone[0]}: put the basin and its weather on a file "
                                 "system that client and workers share, under the same path")

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what Dask raises into errors of the model."""
        from distributed import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise WeplError(f"workers died again and again at the same task ({error}): most often their memory is "
                            "full; give them more, or compute fewer --block-days or members (--batch) at a "
                            "time") from error
        except CancelledError as error:
            raise WeplError(f"the scheduler was lost or dropped the work ({error}): see its log, and start again; what "
                            "the journal keeps is not lost (--resume)") from error

    def result(self, future: Future, watch: Callable[[], bool] = lambda: False) -> Any:
        """The result of a task, or None as soon as ``watch`` says that nobody waits for it any more."""
        # A timeout of the future itself may be lost where the machine is very busy (distributed 2026.8).
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        lost = 0.0
        while not done.wait(_POLL_SECONDS):
            if watch():
                return None
            lost = 0.0 if self.workers else lost or time.monotonic()
            if lost and time.monotonic() - lost > _LOST_SECONDS:
                raise WeplError(f"the cluster has had no worker for {_LOST_SECONDS:g} s: see the workers' logs; what "
                                "the journal keeps is not lost (--resume)")
        with self.errors():
            return future.result()

    @property
    def job(self) -> Callable[..., Job]:
        """What makes the job of a run on this cluster, called as :class:`wepl.run.job.Job` is."""
        from wepl.distributed.run import DistributedJob

        return lambda *arguments: DistributedJob(self, *arguments)

    def split(self, batches: Sequence[Sequence[int]]) -> list[list[int]]:
        """Batches of an ensemble cut so that each worker gets two at least."""
        total = sum(len(numbers) for numbers in batches)
        most = max(1, -(-total // (2 * max(1, len(self.workers)))))
        found = []
        for numbers in batches:
            parts = np.array_split(np.asarray(numbers), -(-len(numbers) // most))
            found += [[int(number) for number in part] for part in parts]
        return found

    def batch_runner(self, batches: Sequence[Sequence[int]], layout: Layout, shared: Shared,
                     members: Sequence[Changes], device: Backend) -> BatchRunner:
        """What runs batches of an ensemble on the workers, called as :func:`wepl.run.ensemble_job.run_batch` is."""
        from wepl.distributed.ensemble import BatchRunner

        return BatchRunner(self, batches, layout, shared, members, device)

    def simulator(self, basin: Basin, backend: Backend, positions: Sequence[int], first: int, last: int,
                  spin_up_years: int) -> Simulator:
        """What simulates populations of a calibration on the workers."""
        from wepl.distributed.calibrate import DistributedSimulator

        return DistributedSimulator(self, basin, backend, positions, first, last, spin_up_years)


@contextmanager
def connect(*, workers: int | None = None, scheduler: str | None = None, threads: int | None = None,
            groups: int | None = None) -> Iterator[Cluster]:
    """Start workers on this machine, or find those of a scheduler.

    Parameters
    ----------
    workers : int, optional
        Worker processes to start here; each has a GPU of its own where there are GPUs and dask-cuda.
    scheduler : str, optional
        Address of a running scheduler, such as ``tcp://host:8786``.
    threads : int, optional
        CPU threads of a worker's kernels; this machine's shared out, or as many as the worker was started with.
    groups : int, optional
        Groups of sub-basins of a run; one for each worker when None.

    Raises
    ------
    InputError
        distributed is not installed, the scheduler does not answer or has no worker, or versions differ.
    """
    if (workers is None) == (scheduler is None):
        raise InputError("give --workers N to start workers here, or --scheduler ADDRESS to use those of a scheduler, "
                         "and not both")
    if workers is not None and workers < 1:
        raise InputError(f"--workers {workers}: give 1 or more")
    if groups is not None and groups < 1:
        raise InputError(f"{groups} groups of sub-basins: give 1 or more")
    try:
        import dask.config
        import distributed
    except ModuleNotFoundError:
        raise InputError(f"workers need Dask.distributed, which is not installed: {INSTALL}") from None
    logging.getLogger("distributed").setLevel(logging.ERROR)
    with dask.config.set(_CONFIG):
        if scheduler is not None:
            with _client(scheduler) as client:
                yield _checked(Cluster(client, threads or 0, groups))
            return
        assert workers is not None
        local, on_gpus = _local(workers)
        share = threads or max(1, (os.cpu_count() or 1) // workers)
        with local, distributed.Client(local, set_as_default=False) as client:
            yield _checked(Cluster(client, share, groups, on_gpus))


def _checked(cluster: Cluster) -> Cluster:
    cluster.check()
    return cluster


@contextmanager
def _client(scheduler: str) -> Iterator[Client]:
    """A client of a scheduler that answers and has a worker."""
    import warnings

    from distributed import Client

    if not _ADDRESS.fullmatch(scheduler):
        raise InputError(f"--scheduler {scheduler}: give the address that `dask scheduler` prints, such as "
                         "tcp://host:8786")
    try:
        # Versions are compared by :meth:`Cluster.check`, which refuses.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*[Mm]ismatch", category=UserWarning)
            client = Client(scheduler, timeout=_ANSWER_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"no scheduler answers at {scheduler} ({error}): start one with `dask scheduler`, and give "
                         "its address, such as tcp://host:8786") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError:
            raise InputError(f"the scheduler at {scheduler} has no worker after {_WORKER_SECONDS:g} s: start some with "
                             f"`dask worker {scheduler} --nthreads 1`") from None
        yield client


def _local(workers: int) -> tuple[Any, bool]:
    """Worker processes on this machine, and whether each has a GPU of its own."""
    import distributed

    from wepl.backends.choose import cupy_problem

    common = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.ERROR}
    if cupy_problem() is None:
        try:
            from dask_cuda import LocalCUDACluster
            from dask_cuda.utils import get_n_gpus
        except ModuleNotFoundError:
            raise InputError(f"this machine has a GPU, and {workers} workers would share the first one: pip install "
                             "dask-cuda, or hide the GPU with CUDA_VISIBLE_DEVICES=''") from None
        if workers > get_n_gpus():
            raise InputError(f"--workers {workers}: each has a GPU of its own, and there are {get_n_gpus()}")
        return LocalCUDACluster(**common), True
    return distributed.LocalCluster(processes=True, **common), False
