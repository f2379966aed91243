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

    The basin and its forcing are made ready once on a worker, from which the others get them.
    """

    def __init__(self, cluster: Cluster, basin: Basin, backend: Backend, positions: Sequence[int], first: int,
                 last: int, spin_up_years: int = 0) -> None:
        super().__init__(basin, backend, positions, first, last, spin_up_years)
        cluster.check_paths(basin.forcing.paths)
        self._cluster, self._device = cluster, cast("RemoteDevice", backend).device
        self._name, self._populations = uuid.uuid4().hex, 0
        self.seconds: list[tuple[float, float]] = []
        held = cluster.client.submit(worker.keep, basin, key=f"wepl-basin-{self._name}", pure=False)
        self._ready = cluster.client.submit(worker.prepare_members, held, first, last, spin_up_years,
                                            key=f"wepl-ready-{self._name}", pure=False)

    def _series(self, members: Sequence[Member]) -> np.ndarray:
        homes = self._cluster.workers
        self._populations += 1
        tasks = []
        for place, part in enumerate(np.array_split(np.arange(len(members)), max(1, min(len(homes), len(members))))):
            where = {"workers": [homes[place]], "allow_other_workers": True} if homes else {}
            tasks.append(self._cluster.client.submit(
                worker.run_members, self._ready, [members[number] for number in part], self._positions, self._device,
                worker.facts(), key=f"wepl-members-{self._name}-{self._populations}-{place}", pure=False, **where))
        found = [self._cluster.result(task) for task in tasks]
        self.seconds += [seconds for _, seconds in found]
        return np.concatenate([series for series, _ in found], axis=1)
