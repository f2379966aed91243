"""Periods, packed numbers and drawings."""

from __future__ import annotations

import base64
import gzip

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from wepl.basin import polygons
from wepl.errors import InputError
from wepl.report import geometry
from wepl.report.collect import Series
from wepl.report.encode import LEVELS, MISSING, Blobs, quantise
from wepl.report.periods import Steps
from wepl.report.read import Quantity, downstream_order, upstream_of


@given(hnp.arrays(np.float64, (3, 20), elements=st.floats(0.0, 1e9) | st.just(np.nan)))
def test_numbers_that_are_never_negative_keep_their_digits(values):
    low, span, power, codes = quantise(values)
    back = low[:, None] + span[:, None] * (codes / LEVELS) ** power
    assert power == 3
    np.testing.assert_array_equal(codes == MISSING, np.isnan(values))
    there = np.isfinite(values)
    large = there & (values > 1e-4 * span[:, None])
    assert (np.abs(back - values)[large] <= 6e-4 * values[large]).all()
    assert (np.abs(back - values)[there] <= np.broadcast_to(3e-5 * span[:, None], values.shape)[there]).all()


@given(hnp.arrays(np.float64, (2, 9), elements=st.floats(-1e6, 1e6)))
def test_numbers_of_both_signs(values):
    low, span, power, codes = quantise(values)
    back = low[:, None] + span[:, None] * (codes / LEVELS) ** power
    assert (np.abs(back - values) <= 3e-5 * span[:, None] + 1e-300).all()


def test_arrays_come_back_from_their_text():
    values = np.random.default_rng(0).normal(size=1000)
    blobs = Blobs()
    entry = blobs.add(values, "<f4")
    planes = np.frombuffer(gzip.decompress(base64.b64decode(blobs.texts[entry["blob"]])), np.uint8)
    np.testing.assert_array_equal(planes.reshape(4, -1).T.copy().view("<f4").ravel(), values.astype(np.float32))
    again = Blobs()
    again.add(values, "<f4")
    assert again.texts == blobs.texts


def test_periods_nest():
    steps = Steps.from_edges(np.arange(24.0 * 70 + 1) + 12.0, "hours since 2012-01-25", "standard")
    names = [periods.name for periods in steps.ladder()]
    assert names == ["step", "day", "dekad", "month", "year"]
    finer = steps.ladder()
    for fine, coarse in zip(finer, finer[1:], strict=False):
        assert len(np.unique(np.stack([fine.of_step, coarse.of_step]), axis=1).T) == fine.count
    dekads = steps.periods("dekad")
    assert [int(steps.date[place]) for place in dekads.first[:5]] == [20120125, 20120201, 20120211, 20120221, 20120301]
    assert dekads.lengths().sum() == steps.count


def test_complete_years():
    steps = Steps.from_edges(np.arange(365.0 + 366 + 1), "days since 2011-01-01", "standard")
    assert steps.complete_years().tolist() == [True, True]
    short = Steps.from_edges(np.arange(365.0 + 366), "days since 2011-01-01", "standard")
    assert short.complete_years().tolist() == [True, False]
    plain = Steps.from_edges(np.arange(2 * 365.0 + 1), "days since 2011-01-01", "noleap")
    assert plain.complete_years().tolist() == [True, True]


@pytest.mark.parametrize("summed", [True, False])
def test_blocks_and_longer_periods_give_the_same(summed):
    steps = Steps.from_edges(np.arange(101.0), "days since 2011-01-15", "standard")
    values = np.random.default_rng(1).uniform(size=(100, 4))
    months, dekads = steps.periods("month"), steps.periods("dekad")
    direct = np.zeros((months.count, 4))
    for first in range(0, 100, 7):
        months.sums(values[first:first + 7], first, direct)
    quantity = Quantity("x", -1, "mm", summed)
    series = Series(quantity, steps.periods("step"), values).coarser(dekads).coarser(months)
    np.testing.assert_allclose(series.values, direct if summed else direct / months.lengths()[:, None], rtol=1e-12)


def test_a_network_is_followed_downwards():
    downstream = np.array([2, 2, 4, 4, -1, -1])
    order = list(downstream_order(downstream))
    assert all(order.index(place) < order.index(below) for place, below in enumerate(downstream) if below >= 0)
    assert upstream_of(2, downstream).tolist() == [True, True, True, False, False, False]
    with pytest.raises(InputError, match="runs in a circle"):
        downstream_order(np.array([1, 0]))


def test_the_tree_keeps_sources_apart():
    downstream = np.array([2, 2, 4, 4, -1, -1])
    x, y = geometry.tree(downstream)
    sources = [0, 1, 3, 5]
    assert len(set(x[sources])) == 4 and x.min() == 0.0 and x.max() == 1.0
    assert (y[downstream >= 0] < y[downstream[downstream >= 0]]).all() and y[4] == y[5] == 1.0
    deep = np.append(np.arange(1, 5000), -1)
    assert geometry.tree(deep)[1][0] == 0.0


class Reader:
    """As much of a reader as a drawing needs."""

    def __init__(self, dataset: xr.Dataset) -> None:
        self.dataset, self.basin, self.unit_area = dataset, None, np.zeros(0)
        self.identifiers = dataset["subbasin"].values
        self.downstream = np.array([1, -1])

    def values(self, name: str) -> np.ndarray:
        return self.dataset[name].values


def square(west: float, south: float, size: float = 1.0) -> np.ndarray:
    return np.array([[west, south], [west + size, south], [west + size, south + size], [west, south + size],
                     [west, south]])


def decoded(blobs: Blobs, entry: dict, dtype: str = "<i4") -> np.ndarray:
    planes = np.frombuffer(gzip.decompress(base64.b64decode(blobs.texts[entry["blob"]])), np.uint8)
    return planes.reshape(np.dtype(dtype).itemsize, -1).T.copy().view(dtype).ravel()


def test_outlines_keep_their_shape():
    hole = square(110.3, 0.3, 0.4)[::-1]
    rings = [(5, [square(110.0, 0.0), hole]), (6, [square(111.0, 0.0), square(112.5, 0.0, 0.5)])]
    data = xr.Dataset(polygons.encode(rings), coords={"subbasin": [5, 6]})
    blobs = Blobs()
    drawn = geometry.drawing(Reader(data), blobs)
    assert drawn["kind"] == "polygons" and decoded(blobs, drawn["rings"]).tolist() == [2, 2]
    nodes = decoded(blobs, drawn["nodes"])
    assert nodes.tolist() == [5, 5, 5, 5]
    x = np.concatenate([np.cumsum(part) for part in np.split(decoded(blobs, drawn["dx"]), np.cumsum(nodes)[:-1])])
    expected = np.concatenate([ring[:, 0] for _, parts in rings for ring in parts])
    np.testing.assert_allclose(x / drawn["grid"] * 3.0 + 110.0, expected, atol=2e-4)
    np.testing.assert_allclose(decoded(blobs, drawn["x"], "<f4")[0] * 3.0 + 110.0, 110.5, atol=1e-3)


@pytest.mark.parametrize(("longitude", "kind"), [([110.0, 111.0], "positions"), ([110.0, np.nan], "tree"),
                                                 ([110.0, 110.0], "tree"), (None, "tree")])
def test_without_outlines_the_network_is_drawn(longitude, kind):
    data = xr.Dataset(coords={"subbasin": [1, 2]})
    if longitude is not None:
        data["subbasin_longitude"] = "subbasin", longitude
        data["subbasin_latitude"] = "subbasin", [30.0, 30.0]
    drawn = geometry.drawing(Reader(data), Blobs())
    assert drawn["kind"] == kind and drawn["width"] > 0.0 and drawn["height"] > 0.0
