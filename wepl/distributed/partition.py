"""Cutting a river network into groups of sub-basins, of which each needs the discharge of earlier groups only.

Reaches are numbered so that every subtree is one stretch and ends with its own outlet (a post-order), the largest
tributary first; the stretch is cut into pieces of equal weight. A group is then whole subtrees and pieces of stems.
What crosses a cut are the finished tributaries that wait for their confluence. With the largest tributary first, n
reaches of which k meet at most let no more than (k - 1) log2(n) + 1 of them wait (Sethi and Ullman 1970, J. ACM 17,
715-728).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Partition:
    """Groups of sub-basins in an order in which each comes after those above it.

    Attributes
    ----------
    members : list of ndarray of int
        Positions of each group's sub-basins, increasing.
    above : list of ndarray of int
        Positions of the reaches of other groups that flow into each group, increasing.
    group_of : ndarray of int
        Group of each sub-basin.
    """

    members: list[np.ndarray]
    above: list[np.ndarray]
    group_of: np.ndarray

    def sources(self, group: int) -> list[int]:
        """Groups that flow into a group, increasing."""
        return sorted({int(number) for number in self.group_of[self.above[group]]})

    def exports(self, group: int) -> np.ndarray:
        """Positions of a group's reaches that flow into other groups, increasing."""
        flowing = np.concatenate([*self.above, np.zeros(0, dtype=np.int64)])
        return np.sort(flowing[self.group_of[flowing] == group])

    @property
    def depth(self) -> int:
        """Groups in the longest chain in which each needs the one before it."""
        found: list[int] = []
        for group in range(len(self.members)):
            found.append(1 + max((found[source] for source in self.sources(group)), default=0))
        return max(found)


def partition(below: np.ndarray, weight: np.ndarray, n_groups: int) -> Partition:
    """Cut a network into groups of about equal weight.

    Parameters
    ----------
    below : ndarray of int
        Position of the next reach of each one, -1 at an outlet.
    weight : ndarray
        What each sub-basin costs, such as its number of tiles.
    n_groups : int
        Groups that are wanted; there are fewer where the network has no more reaches, or a few weigh most.
    """
    order = post_order(below)
    cost = np.maximum(np.asarray(weight, dtype=float)[order], 1e-9)
    middle = np.cumsum(cost) - 0.5 * cost
    share = np.minimum((middle * n_groups / cost.sum()).astype(np.int64), n_groups - 1)
    group_of = np.empty(below.size, dtype=np.int64)
    group_of[order] = np.unique(share, return_inverse=True)[1]
    count = int(group_of.max()) + 1
    crossing = np.flatnonzero((below >= 0) & (group_of[below] != group_of))
    into = group_of[below[crossing]]
    return Partition([np.flatnonzero(group_of == group) for group in range(count)],
                     [crossing[into == group] for group in range(count)], group_of)


def post_order(below: np.ndarray) -> np.ndarray:
    """Positions of all reaches, each subtree one stretch that ends with its outlet, the largest tributary first.

    Parameters
    ----------
    below : ndarray of int
        Position of the next reach of each one, -1 at an outlet.
    """
    n = below.size
    size = _subtree_sizes(below)
    parent = np.where(below < 0, n, below)
    # Siblings stand together, the largest first; each begins where the ones before it end.
    siblings = np.lexsort((np.arange(n), -size, parent))
    ends = np.cumsum(size[siblings])
    begins = ends - size[siblings]
    first = np.concatenate([[True], np.diff(parent[siblings]) != 0])
    start = np.empty(n, dtype=np.int64)
    start[siblings] = begins - np.maximum.accumulate(np.where(first, begins, 0))
    # Added up along the way to the outlet, in steps that double.
    further = np.where(below < 0, -1, below)
    while (going := further >= 0).any():
        target = further[going]
        start[going] += start[target]
        further[going] = further[target]
    order = np.empty(n, dtype=np.int64)
    order[start + size - 1] = np.arange(n)
    return order


def _subtree_sizes(below: np.ndarray) -> np.ndarray:
    """Number of reaches above and with each one."""
    size = np.ones(below.size, dtype=np.int64)
    waiting = np.bincount(below[below >= 0], minlength=below.size)
    front = np.flatnonzero(waiting == 0)
    while front.size:
        inner = front[below[front] >= 0]
        down = below[inner]
        np.add.at(size, down, size[inner])
        np.subtract.at(waiting, down, 1)
        touched = np.unique(down)
        front = touched[waiting[touched] == 0]
    return size
