"""Batches of an ensemble on a cluster: a batch is a task, its file comes back as bytes and is written by the client."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from wepl.distributed import worker
from wepl.netcdf import publish, temporary_path, write_failure

if TYPE_CHECKING:
    from wepl.backends import Backend
    from wepl.distributed.cluster import Cluster, RemoteDevice
    from wepl.run.batch import Shared
    from wepl.run.ensemble import Changes
    from wepl.run.ensemble_file import Layout
    from wepl.run.interrupt import Watch


class BatchRunner:
    """Asks for all batches at once, and gives them one by one when it is called.

    Parameters
    ----------
    cluster : Cluster
    batches : sequence of sequence of int
        Numbers of the members of each batch.
    layout : Layout
    shared : Shared
    members : sequence of mapping
        Options of all members.
    device : Backend
        From :meth:`Cluster.device`.
    """

    def __init__(self, cluster: Cluster, batches: Sequence[Sequence[int]], layout: Layout, shared: Shared,
                 members: Sequence[Changes], device: Backend) -> None:
        self._cluster = cluster
        cluster.check_paths(shared.basin.forcing.paths)
        run, submit = uuid.uuid4().hex, cluster.client.submit
        held = submit(worker.keep, shared, key=f"wepl-shared-{run}", pure=False)
        remote = cast("RemoteDevice", device).device
        self._tasks = {tuple(numbers): submit(
            worker.run_batch, held, list(numbers), layout, {number: members[number] for number in numbers}, remote,
            worker.facts(), key=f"wepl-batch-{run}-{place}", pure=False) for place, numbers in enumerate(batches)}

    def __call__(self, path: Path, numbers: Sequence[int], layout: Layout, shared: Shared, members: Sequence[Changes],
                 device: Backend, watch: Watch | None = None) -> bool:
        """Wait for a batch and write its file; False when a signal came first."""
        task = self._tasks[tuple(numbers)]
        content = self._cluster.result(task, lambda: watch is not None and watch.caught is not None)
        if content is None:
            self._cluster.client.cancel(list(self._tasks.values()))
            return False
        unfinished = temporary_path(path)
        try:
            unfinished.write_bytes(content)
            publish(unfinished, path)
        except OSError as error:
            raise write_failure(path, error) from error
        finally:
            unfinished.unlink(missing_ok=True)
        del self._tasks[tuple(numbers)]
        return True
