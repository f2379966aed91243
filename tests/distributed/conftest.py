"""One cluster of two worker processes for all tests here, and a hand that kills a worker while it computes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from wepl.distributed import Cluster, connect


@pytest.fixture(scope="session")
def two_workers() -> Iterator[Cluster]:
    with connect(workers=2, threads=1, groups=4) as cluster:
        yield cluster


@pytest.fixture
def cluster(two_workers) -> Cluster:
    """The cluster with both workers, also after a test that killed one."""
    two_workers.client.wait_for_workers(2, timeout=120)
    return two_workers


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
    cluster.client.wait_for_workers(2, timeout=120)
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
