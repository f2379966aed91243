"""What a run on a cluster takes, from the seconds of its tasks and the bytes that it moves (docs/scaling.md).

The finish of group g in block b follows from the tasks before it:

    finish(g, b) = max(finish(g, b - 1), free(worker of g), max over sources u of finish(u, b) + link(u, g)) + task(g)

and the client takes block b when all groups have finished it, and asks for no block before it has taken the one that
stands a window of blocks earlier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wepl.distributed.partition import Partition


@dataclass(frozen=True)
class Costs:
    """Seconds and rates of one machine.

    Attributes
    ----------
    tile_step : float
        Seconds of one tile in one step.
    task : float
        Seconds of a task whatever its size.
    dispatch : float
        Seconds from the end of a task to the start of the one that waits for it.
    bytes_per_second : float
        Rate at which results come to the client and discharge passes from worker to worker.
    """

    tile_step: float
    task: float
    dispatch: float
    bytes_per_second: float


@dataclass(frozen=True)
class Load:
    """What is computed and moved.

    Attributes
    ----------
    tiles, reaches, links : ndarray
        Tiles, sub-basins and reaches above of each group.
    sources : list of list of int
        Groups that flow into each group.
    steps, block_steps, n_route : int
        Steps of the run and of a block, routing steps in a step.
    series : int
        Reach series that are written.
    window : int
        Blocks that are under way at most.
    """

    tiles: np.ndarray
    reaches: np.ndarray
    links: np.ndarray
    sources: list[list[int]]
    steps: int
    block_steps: int
    n_route: int
    series: int
    window: int

    @classmethod
    def of(cls, parts: Partition, tiles: np.ndarray, steps: int, block_steps: int, n_route: int, series: int = 1,
           ahead: int = 2) -> Load:
        """The load of a network cut into groups; ``tiles`` of each sub-basin."""
        count = len(parts.members)
        return cls(np.array([tiles[own].sum() for own in parts.members]), np.array([own.size for own in parts.members]),
                   np.array([above.size for above in parts.above]), [parts.sources(group) for group in range(count)],
                   steps, block_steps, n_route, series, parts.depth + ahead)

    @property
    def link_bytes(self) -> int:
        """Bytes of discharge that pass between groups in one step: 8 for each routing step of a reach that crosses."""
        return int(self.links.sum()) * self.n_route * 8

    @property
    def value_bytes(self) -> int:
        """Bytes that come to the client in one step: 8 for each reach and series."""
        return int(self.reaches.sum()) * self.series * 8


def seconds(load: Load, costs: Costs, workers: int) -> float:
    """Wall time of a run's blocks on ``workers`` cores of their own."""
    count = load.tiles.size
    n_blocks = -(-load.steps // load.block_steps)
    finish = np.zeros(count)
    taken: list[float] = []
    free = np.zeros(workers)
    for block in range(n_blocks):
        steps = min(load.block_steps, load.steps - block * load.block_steps)
        asked = taken[block - load.window] if block >= load.window else 0.0
        now = np.zeros(count)
        for group in range(count):
            link = load.links[group] * load.n_route * steps * 8 / costs.bytes_per_second
            ready = max((now[source] + costs.dispatch + link for source in load.sources[group]), default=0.0)
            home = group % workers
            begin = max(finish[group], free[home], ready, asked) + costs.dispatch
            now[group] = begin + costs.task + costs.tile_step * load.tiles[group] * steps
            free[home] = now[group]
        finish = now
        client = load.value_bytes * steps / costs.bytes_per_second + count * costs.dispatch
        taken.append(max(float(finish.max()), taken[-1] if taken else 0.0) + client)
    return taken[-1]


def braided(n: int, seed: int = 0) -> np.ndarray:
    """The next reach of each one in a made-up network of ``n`` reaches, two of which meet at most.

    Each subtree is cut into two at a random share, so that the longest way grows like in nature, with a power of n.
    """
    random = np.random.default_rng(seed)
    below = np.full(n, -1)
    waiting = [(0, n, -1)]
    while waiting:
        first, size, parent = waiting.pop()
        # A stem of some reaches, then a confluence of two subtrees.
        stem = min(size, 1 + int(random.geometric(0.5)))
        for reach in range(first, first + stem):
            below[reach] = parent
            parent = reach
        left = size - stem
        if left == 1:
            waiting.append((first + stem, 1, parent))
        elif left > 1:
            share = max(1, min(left - 1, int(left * random.beta(0.6, 0.6))))
            waiting += [(first + stem, share, parent), (first + stem + share, left - share, parent)]
    return below
