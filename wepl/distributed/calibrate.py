"""Populations of a calibration on a cluster: each worker simulates a part of the members."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from wepl.calibrate.simulate import Member, Simulator
from wepl.distributed import worker

if TYPE_CHECKING:
    from wepl.backends import Backend
    from wepl.basin.dataset import Basin
    from wepl.distributed.cluster import Cluster, RemoteDevice


class DistributedSimulator(Simulator):
    """Simulates populations as :class:`wepl.calibrate.simulate.Simulator` does, in parts of equal size.

    Each part has a basin of its own, made ready by the worker that computes it: tasks go where their basin is.
    """

    def __init__(self, cluster: Cluster, basin: Basin, backend: Backend, positions: Sequence[int], first: int,
                 last: int, spin_up_years: int = 0) -> None:
        super().__init__(basin, backend, positions, first, last, spin_up_years)
        cluster.check_paths(basin.forcing.paths)
        self._cluster, self._device = cluster, cast("RemoteDevice", backend).device
        self._name, self._populations = uuid.uuid4().hex, 0
        self.seconds: list[tuple[float, float]] = []
        submit, count = cluster.client.submit, max(1, len(cluster.workers))
        held = [submit(worker.keep, basin, key=f"wepl-basin-{self._name}-{place}", pure=False)
                for place in range(count)]
        self._ready = [submit(worker.prepare_members, one, first, last, spin_up_years,
                              key=f"wepl-ready-{self._name}-{place}", pure=False) for place, one in enumerate(held)]

    def _series(self, members: Sequence[Member]) -> np.ndarray:
        self._populations += 1
        parts = np.array_split(np.arange(len(members)), min(len(self._ready), len(members)))
        tasks = [self._cluster.client.submit(
            worker.run_members, ready, [members[number] for number in part], self._positions, self._device,
            worker.facts(), key=f"wepl-members-{self._name}-{self._populations}-{place}", pure=False)
            for place, (ready, part) in enumerate(zip(self._ready, parts, strict=False))]
        found = [self._cluster.result(task) for task in tasks]
        self.seconds += [seconds for _, seconds in found]
        return np.concatenate([series for series, _ in found], axis=1)
