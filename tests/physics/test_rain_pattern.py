"""The storm pattern of a day (docs/theory/space-time.md, eqs. 2.2 and 2.3)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wepl.physics.rain_pattern import storm_depth, storm_duration
from wepl.validation.columns import DAY, HOUR, MM


@pytest.mark.parametrize(("depth", "hours"), [
    (0.0, 1.0), (0.05, 1.0), (1.0, 2.5), (10.0, 2.5 * 10**0.4), (50.0, 2.5 * 50**0.4), (286.0, 24.0), (2000.0, 24.0)])
def test_duration(depth, hours):
    """2.5 P^0.4 h between 1 and 24 h (24 h from 286 mm on)."""
    assert storm_duration(depth * MM) / HOUR == pytest.approx(hours, rel=1e-3 if depth == 286.0 else 1e-12)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.floats(0.0, 2.0), st.floats(0.0, 0.5))
def test_duration_grows_with_depth(depth, more):
    assert HOUR <= storm_duration(depth) <= storm_duration(depth + more) <= DAY


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.floats(0.0, 1.0), st.lists(st.floats(0.0, DAY), max_size=30))
def test_any_partition_adds_to_the_depth(depth, cuts):
    """However the day is cut, its parts add to the depth and none is negative (T1)."""
    edges = sorted([0.0, *cuts, DAY])
    parts = [storm_depth(depth, start, end) for start, end in zip(edges[:-1], edges[1:], strict=True)]
    # Rounding of a part's bounds leaves a few units of the last place.
    assert min(parts) >= -1e-15 * depth
    assert sum(parts) == pytest.approx(depth, rel=1e-12, abs=1e-300)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.floats(1e-6, 1.0), st.floats(0.0, DAY), st.floats(0.0, DAY))
def test_more_time_more_rain(depth, first, second):
    early, late = sorted((first, second))
    assert storm_depth(depth, 0.0, early) <= storm_depth(depth, 0.0, late) * (1.0 + 1e-12) + 1e-15


def test_triangle():
    """20 mm: centred in the day, 40 % fallen at the peak, which is twice the mean; straight up and straight down."""
    depth = 20.0 * MM
    duration = storm_duration(depth)
    begin = 0.5 * (DAY - duration)
    peak = begin + 0.4 * duration
    assert storm_depth(depth, 0.0, begin) == 0.0
    assert storm_depth(depth, begin + duration, DAY) == 0.0
    assert storm_depth(depth, begin, peak) == pytest.approx(0.4 * depth, rel=1e-12)
    edges = np.linspace(begin, begin + duration, 1001)
    rate = np.array([storm_depth(depth, start, end) for start, end in zip(edges[:-1], edges[1:], strict=True)])
    rate *= 1000.0 / depth
    middle = (np.arange(1000) + 0.5) / 1000.0
    np.testing.assert_allclose(rate, np.where(middle < 0.4, 2.0 * middle / 0.4, 2.0 * (1.0 - middle) / 0.6), rtol=1e-9)


def test_longest_storm_fills_the_day():
    assert storm_depth(0.5, 0.0, 0.4 * DAY) == pytest.approx(0.2, rel=1e-12)
    assert storm_depth(0.0, 0.0, DAY) == 0.0
