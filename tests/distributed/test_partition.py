"""Groups of sub-basins: a network in pieces of equal weight, in an order in which water goes on only."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wepl.basin.dataset import Basin
from wepl.distributed.group import cut
from wepl.distributed.partition import partition, post_order
from wepl.distributed.scaling_model import Costs, Load, braided, seconds
from wepl.run.assembly import assemble
from wepl.run.fixed import Fixed


@st.composite
def networks(draw) -> np.ndarray:
    """The next reach of each one, in any order of numbers; forests of chains, combs and bushes."""
    n = draw(st.integers(1, 60))
    reach = draw(st.integers(1, n))
    below = np.array([-1] + [draw(st.integers(max(-1, at - reach), at - 1)) for at in range(1, n)])
    shuffled = np.array(draw(st.permutations(range(n))))
    mixed = np.empty(n, dtype=int)
    mixed[shuffled] = np.where(below < 0, -1, shuffled[below])
    return mixed


@given(networks())
def test_subtrees_are_stretches_that_end_with_their_outlet(below):
    order = post_order(below)
    place = np.argsort(order)
    assert sorted(order) == list(range(below.size))
    for reach in range(below.size):
        subtree = [reach]
        for member in subtree:
            subtree += np.flatnonzero(below == member).tolist()
        stretch = sorted(int(place[member]) for member in subtree)
        assert stretch == list(range(int(place[reach]) - len(subtree) + 1, int(place[reach]) + 1))


@given(networks(), st.integers(1, 9), st.integers(0, 99))
def test_water_flows_to_later_groups_and_few_reaches_cross(below, n_groups, seed):
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, below.size)
    parts = partition(below, weight, n_groups)
    group_of = parts.group_of
    inner = below >= 0
    assert (group_of[inner] <= group_of[below[inner]]).all()
    assert sorted(np.concatenate(parts.members)) == list(range(below.size))
    meeting = max(2, np.bincount(below[inner], minlength=1).max())
    for group, (members, above) in enumerate(zip(parts.members, parts.above, strict=True)):
        assert weight[members].sum() <= weight.sum() / n_groups + weight.max()
        crossing = inner & (group_of < group) & (group_of[below] >= group)
        assert crossing.sum() <= (meeting - 1) * math.log2(below.size) + 1
        np.testing.assert_array_equal(above, np.flatnonzero(inner & (group_of != group) & (group_of[below] == group)))
    flowing = np.concatenate([parts.exports(group) for group in range(len(parts.members))])
    np.testing.assert_array_equal(np.sort(flowing), np.sort(np.concatenate(parts.above)))
    assert 1 <= parts.depth <= len(parts.members)


def test_a_chain_waits_for_each_group_and_trees_apart_for_none():
    chain = np.arange(1, 13)
    chain[-1] = -1
    assert partition(chain, np.ones(12), 4).depth == 4
    assert partition(np.full(12, -1), np.ones(12), 4).depth == 1


@pytest.mark.parametrize("n_groups", [1, 3])
def test_groups_together_hold_every_place_once(daily_basin, n_groups):
    basin = Basin.open(daily_basin)
    arrays = assemble(basin, basin.options)
    below = Fixed(basin.parameters).below
    parts = partition(below, np.ones(below.size), n_groups)
    cuts = [cut(arrays, own, above) for own, above in zip(parts.members, parts.above, strict=True)]
    sizes = {"tile": arrays.unit_of_tile.size, "unit": arrays.unit_order.size, "subbasin": below.size,
             "river_cell": arrays.values["river_state"].shape[1]}
    for dim, size in sizes.items():
        places = np.concatenate([place.along[dim] for _, place in cuts])
        np.testing.assert_array_equal(np.sort(places), np.arange(size))
    if n_groups == 1:
        for name, values in arrays.values.items():
            # The forcing keeps the cells that units look at.
            if name != "unit_cell":
                np.testing.assert_array_equal(cuts[0][0].values[name], values, err_msg=name)


def test_the_model_of_a_run_adds_up():
    costs = Costs(tile_step=1e-3, task=0.0, dispatch=0.0, bytes_per_second=math.inf)
    tiles = np.full(16, 10.0)
    apart, chain = np.full(16, -1), np.append(np.arange(1, 16), -1)

    def taken(below: np.ndarray, groups: int, workers: int, block: int = 5, costs: Costs = costs) -> float:
        return seconds(Load.of(partition(below, tiles, groups), tiles, 100, block, 4), costs, workers)

    whole = 16 * 10 * 100 * 1e-3
    assert taken(chain, 1, 1) == pytest.approx(whole)
    assert taken(apart, 4, 4) == pytest.approx(whole / 4)
    # A chain of 4 groups ends 3 blocks after its first group; 4 groups on one worker take what one group does.
    assert taken(chain, 4, 4) == pytest.approx(whole / 4 * 23 / 20)
    assert taken(chain, 4, 1) == pytest.approx(whole)
    # 16 reaches come to the client, 8 bytes a step each, at the end of each block.
    slow = Costs(1e-3, 0.0, 0.0, 1e3)
    assert taken(chain, 1, 1, costs=slow) == pytest.approx(whole + 16 * 8 * 5 / 1e3, rel=1e-3)
    assert taken(chain, 1, 1, costs=Costs(1e-3, 0.5, 0.25, math.inf)) == pytest.approx(whole + 20 * 0.75 + 0.25)


def test_a_made_up_network_is_a_tree():
    below = braided(500, seed=2)
    assert (below < np.arange(500)).all() and (below == -1).sum() == 1
    assert np.bincount(below[below >= 0]).max() == 2
