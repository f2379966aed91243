"""One cluster of two worker processes for all tests here, and a hand that kills a worker while it computes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from wepl.distributed import Cluster, connect


class Workers:
    """A cluster of two workers that is made anew where Dask did not bring a killed worker back."""

    def __init__(self, held: ExitStack) -> None:
        self._held = held
        self._cluster: Cluster | None = None

    def both(self) -> Cluster:
        if self._cluster is not None:
            try:
                self._cluster.client.wait_for_workers(2, timeout=40)
            except TimeoutError:
                self._held.close()
                self._cluster = None
        if self._cluster is None:
            self._cluster = self._held.enter_context(connect(workers=2, threads=1, groups=4))
        return self._cluster


@pytest.fixture(scope="session")
def two_workers() -> Iterator[Workers]:
    with ExitStack() as held:
        yield Workers(held)


@pytest.fixture
def cluster(two_workers) -> Cluster:
    """The cluster with both workers, also after a test that killed one."""
    return two_workers.both()


@pytest.fixture
def kill_at(cluster, monkeypatch) -> Iterator[Callable[..., None]]:
    """Says at which wait for a result a worker that computes, or everyone, is killed; the test fails when none was."""
    before = cluster.client.run(os.getpid)
    waits = 0
    victims: list[int] = []
    result = Cluster.result

    def arm(number: int, everyone: bool = False) -> None:
        def killing(self, future, *arguments):
            nonlocal waits
            waits += 1
            if waits == number:
                victims.extend(_kill(self, before, everyone))
            return result(self, future, *arguments)

        monkeypatch.setattr(Cluster, "result", killing)

    yield arm
    assert victims
    assert not set(victims) & set(cluster.client.run(os.getpid).values())


def _kill(cluster: Cluster, processes: dict[str, int], everyone: bool) -> list[int]:
    """Kill the first worker that computes, or all of them then; their process numbers."""
    for _ in range(1000):
        busy = [address for address, keys in cluster.client.processing().items() if keys and address in processes]
        if busy:
            victims = list(processes.values()) if everyone else [processes[busy[0]]]
            for victim in victims:
                os.kill(victim, signal.SIGKILL)
            return victims
        time.sleep(0.01)
    raise AssertionError("no worker computes")
