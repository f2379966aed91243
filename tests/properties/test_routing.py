"""The river network: order of work, mass, dry start, losing reaches (docs/theory/river.md, groundwater.md)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wepl import rows
from wepl.stages.river import river_kernel, river_wavefront

DAY = 86400.0
HOUR = 3600.0


class Network:
    """A tree of reaches stored upstream to downstream, with the river stage's arrays; ``below[-1]`` is -1."""

    def __init__(self, below: list[int], n_routes: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        n = len(below)
        self.below = np.array(below)
        self.n_routes = n_routes
        children = [[reach for reach in range(n) if below[reach] == place] for place in range(n)]
        self.upstream_start = np.cumsum([0, *(len(found) for found in children)]).astype(np.int32)
        self.upstream_list = np.array([reach for found in children for reach in found], dtype=np.int32)
        level = np.zeros(n, dtype=np.int64)
        for reach in range(n):
            if below[reach] >= 0:
                level[below[reach]] = max(level[below[reach]], level[reach] + 1)
        self.level_list = np.argsort(level, kind="stable").astype(np.int32)
        self.level_start = np.cumsum([0, *np.bincount(level)]).astype(np.int32)
        cells = random.integers(1, 5, n)
        self.cell_start = np.cumsum([0, *cells]).astype(np.int32)
        self.parameter = np.zeros((rows.N_ROWS["subbasin_parameter"], n))
        self.parameter[rows.SUBBASIN_AREA] = random.uniform(5e6, 1e8, n)
        self.parameter[rows.YIELD_AREA] = 0.1 * self.parameter[rows.SUBBASIN_AREA]
        self.parameter[rows.BED_CONDUCTANCE] = 0.0
        self.parameter[rows.BED_THICKNESS] = 1.0
        self.parameter[rows.DELAY] = 10 * DAY
        self.parameter[rows.CELL_LENGTH] = random.uniform(1e3, 5e3, n)
        self.parameter[rows.WIDTH] = random.uniform(5.0, 80.0, n)
        self.parameter[rows.ROUGHNESS_FACTOR] = (0.035 / np.sqrt(random.uniform(1e-4, 1e-2, n))) ** 0.6
        self.state = np.zeros((rows.N_ROWS["subbasin_state"], n))
        self.river = np.zeros((rows.N_ROWS["river_state"], int(self.cell_start[-1])))
        self.inflow = np.zeros((rows.N_ROWS["inflow"], n_routes, n))
        self.series = np.zeros((rows.N_ROWS["series"], n_routes, n))
        self.flux = np.zeros((rows.N_ROWS["subbasin_flux"], n))
        self.status = np.zeros((2, n), dtype=np.int32)

    def run(self, kernel, dt: float) -> None:
        kernel(self.level_start, self.level_list, self.n_routes, dt, self.upstream_start, self.upstream_list,
               self.cell_start, self.parameter, self.state, self.river, self.inflow, self.series, self.flux,
               self.status)
        assert np.all(self.status == rows.OK)

    def storage(self) -> float:
        """All water in rivers, transition stores and aquifers (head above the bed), m3."""
        return float(self.river.sum()
                     + np.sum(self.state[rows.TRANSITION_STORAGE] * self.parameter[rows.SUBBASIN_AREA])
                     + np.sum(self.state[rows.GROUNDWATER_HEAD] * self.parameter[rows.YIELD_AREA]))


def wet(network: Network, seed: int) -> Network:
    """Random storms, percolation and starting states, with beds that give and take."""
    random = np.random.default_rng(seed)
    n = network.below.size
    shape = (network.n_routes, n)
    network.inflow[rows.SURFACE_INFLOW] = random.uniform(0.0, 2e5, shape) * (random.random(shape) < 0.3)
    network.inflow[rows.PERCOLATION_INFLOW] = random.uniform(0.0, 5e4, shape)
    network.parameter[rows.BED_CONDUCTANCE] = 10.0 ** random.uniform(-3.0, 1.0, n)
    network.parameter[rows.DELAY] = random.choice([0.0, DAY, 20 * DAY], n)
    network.parameter[rows.LOSS_RATE] = random.choice([0.0, 1e-3 / DAY], n)
    network.state[rows.GROUNDWATER_HEAD] = random.uniform(-4.0, 4.0, n)
    network.state[rows.TRANSITION_STORAGE] = random.uniform(0.0, 0.05, n)
    network.river[:] = random.uniform(0.0, 1e5, network.river.shape)
    return network


@st.composite
def trees(draw) -> list[int]:
    """For each of up to 20 reaches the one below, with several outlets now and then."""
    n = draw(st.integers(1, 20))
    return [draw(st.integers(reach + 1, n - 1)) if reach < n - 1 and draw(st.integers(0, 9)) else -1
            for reach in range(n)]


CHAIN = [1, 2, 3, 4, 5, 6, 7, -1]
FORK = [3, 3, 4, 5, 5, 6, -1]


@pytest.mark.parametrize("below", [CHAIN, FORK])
@pytest.mark.parametrize("dt", [HOUR, 6 * HOUR])
def test_steady_state_is_the_sum(below, dt):
    """Constant lateral inflow: every reach carries the sum of what enters at and above it (T2)."""
    n_routes = 2000
    network = Network(below, n_routes, seed=1)
    rate = np.linspace(1.0, 3.0, len(below))
    network.inflow[rows.SURFACE_INFLOW] = rate * dt
    network.run(river_kernel, dt)
    total = rate.copy()
    for reach, down in enumerate(below):
        if down >= 0:
            total[down] += total[reach]
    np.testing.assert_allclose(network.series[rows.DISCHARGE, -1], total, rtol=1e-6)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(trees(), st.integers(0, 1000), st.integers(1, 12), st.sampled_from([HOUR, 6 * HOUR]))
def test_the_wavefront_gives_the_same_bits(below, seed, n_routes, dt):
    """Level l on step k - l, all levels at once, against level by level."""
    by_level = wet(Network(below, n_routes, seed), seed)
    diagonal = wet(Network(below, n_routes, seed), seed)
    by_level.run(river_kernel, dt)
    diagonal.run(river_wavefront, dt)
    for name in ("state", "river", "series", "flux"):
        np.testing.assert_array_equal(getattr(diagonal, name), getattr(by_level, name), err_msg=name)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(trees(), st.integers(0, 1000), st.integers(1, 12), st.sampled_from([HOUR, 6 * HOUR, DAY]))
def test_mass_is_exact(below, seed, n_routes, dt):
    """What came in left at the outlets, was lost to the deep, or is stored (1e-12 of all water)."""
    network = wet(Network(below, n_routes, seed), seed)
    before = network.storage()
    network.run(river_kernel, dt)
    came = network.inflow.sum()
    outlets = network.below < 0
    left = network.series[rows.DISCHARGE][:, outlets].sum() * dt + network.flux[rows.DEEP_LOSS].sum()
    scale = abs(before) + came + np.sum(4.0 * network.parameter[rows.YIELD_AREA])
    assert network.storage() - before == pytest.approx(came - left, rel=0.0, abs=1e-12 * scale)
    # Reach by reach the totals say the same.
    rivers = network.flux[rows.REACH_INFLOW] + network.inflow[rows.SURFACE_INFLOW].sum(axis=0)
    rivers += network.flux[rows.GROUNDWATER_DISCHARGE] - network.flux[rows.REACH_OUTFLOW]
    again = wet(Network(below, n_routes, seed), seed)
    change = np.add.reduceat(network.river[0] - again.river[0], network.cell_start[:-1])
    np.testing.assert_allclose(rivers, change, rtol=0.0, atol=1e-12 * scale)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(trees(), st.integers(0, 1000), st.sampled_from([HOUR, 6 * HOUR, DAY]))
def test_a_losing_reach_gives_no_more_than_it_carries(below, seed, dt):
    """Aquifers far below their beds and leaky beds: rivers run dry, never below 0, and never stop the mass."""
    network = wet(Network(below, 8, seed), seed)
    network.state[rows.GROUNDWATER_HEAD] = -20.0
    network.inflow[rows.PERCOLATION_INFLOW] = 0.0
    network.parameter[rows.BED_CONDUCTANCE] = 50.0
    before = network.storage()
    network.run(river_kernel, dt)
    assert network.river.min() >= 0.0
    assert network.series[rows.DISCHARGE].min() >= 0.0
    assert np.all(network.flux[rows.GROUNDWATER_DISCHARGE] <= 0.0)
    left = network.series[rows.DISCHARGE][:, network.below < 0].sum() * dt + network.flux[rows.DEEP_LOSS].sum()
    scale = abs(before) + network.inflow.sum()
    assert network.storage() - before == pytest.approx(network.inflow.sum() - left, rel=0.0, abs=1e-12 * scale)


def test_dry_start():
    """A dry network stays dry without inflow and passes on the first water it gets."""
    network = Network(FORK, 10)
    network.run(river_kernel, HOUR)
    assert not network.series[rows.DISCHARGE].any()
    assert not network.river.any()
    network.inflow[rows.SURFACE_INFLOW, 0, 0] = 1e4
    network.run(river_kernel, HOUR)
    outlet = network.series[rows.DISCHARGE, :, -1]
    assert np.all(np.isfinite(network.series))
    assert outlet.min() >= 0.0 and outlet[-1] > 0.0
    assert network.river.sum() + outlet.sum() * HOUR == pytest.approx(1e4, rel=1e-12)


def test_groundwater_feeds_a_dry_river():
    """A head above the bed gives baseflow to the dry reach; in the end the aquifer has drained to the bed."""
    network = Network([-1], 4000)
    network.state[rows.GROUNDWATER_HEAD] = 2.0
    network.parameter[rows.BED_CONDUCTANCE] = 0.05 / DAY * network.parameter[rows.YIELD_AREA]
    network.run(river_kernel, 6 * HOUR)
    baseflow = network.series[rows.BASEFLOW, :, 0]
    assert baseflow[0] > 0.0
    assert np.all(np.diff(baseflow) <= 1e-12 * baseflow[0])
    total = network.series[rows.DISCHARGE].sum() * 6 * HOUR
    # After 1,000 days exp(-50) of it is left in the aquifer, and the last of it is still in the reach.
    assert total == pytest.approx(2.0 * network.parameter[rows.YIELD_AREA, 0], rel=1e-3)
