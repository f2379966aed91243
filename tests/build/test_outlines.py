"""Outlines of sub-basins: a coverage without gaps or overlaps, in basin and result files, and broken ones refused."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
import xarray as xr
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree
from small_maps import write_valley

from wepl.basin import polygons
from wepl.basin.dataset import Basin
from wepl.build.assemble import build
from wepl.build.outlines import simplified_rings
from wepl.errors import BasinError, InputError


def ragged_map(count: int, side: int, noise: float) -> np.ndarray:
    """Labels 1 to count with frayed borders inside a circle, 0 outside."""
    draw = np.random.default_rng(7)
    row, column = np.mgrid[:side, :side]
    moved = [axis + noise * gaussian_filter(draw.normal(size=(side, side)), 2) for axis in (row, column)]
    _, nearest = cKDTree(draw.uniform(0, side, (count, 2))).query(np.stack(moved, axis=-1).reshape(-1, 2))
    labels = nearest.reshape(side, side).astype(np.int32) + 1
    labels[(row - side / 2) ** 2 + (column - side / 2) ** 2 > (0.48 * side) ** 2] = 0
    return labels


def shape_of(rings):
    """One shape of a label's rings, outer ones having a negative area where rows run downwards."""
    outer = [shapely.Polygon(ring) for ring in rings if polygons.signed_area(ring) < 0.0]
    holes = [shapely.Polygon(ring) for ring in rings if polygons.signed_area(ring) > 0.0]
    assert all(part.is_valid for part in (*outer, *holes))
    return shapely.unary_union(outer).difference(shapely.unary_union(holes))


@pytest.mark.parametrize("tolerance", [0.0, 1.0, 4.0])
def test_no_gaps_and_no_overlaps(tolerance):
    labels = ragged_map(25, 110, 14.0)
    rings = simplified_rings(labels, tolerance)
    assert sorted(rings) == np.unique(labels[labels > 0]).tolist()
    shapes = [shape_of(parts) for parts in rings.values()]
    together = shapely.unary_union(shapes).area
    assert sum(shape.area for shape in shapes) == pytest.approx(together, rel=1e-12)
    if tolerance == 0.0:
        assert together == np.count_nonzero(labels)
    # Each outline stays near its cells: within the tolerance of the border on either side.
    exact = simplified_rings(labels, 0.0)
    for label, parts in rings.items():
        border = shape_of(exact[label]).boundary
        assert shapely.hausdorff_distance(shape_of(parts).boundary, border) <= tolerance + 1e-9


def test_simplified_means_fewer_nodes():
    labels = ragged_map(25, 110, 14.0)
    counts = [sum(len(ring) for parts in simplified_rings(labels, tolerance).values() for ring in parts)
              for tolerance in (0.0, 1.0, 4.0)]
    assert counts[0] > 1.3 * counts[1] > 1.3 * counts[2]


def test_island_and_hole():
    labels = np.ones((12, 12), np.int32)
    labels[4:8, 4:8] = 2
    rings = simplified_rings(labels, 1.0)
    assert len(rings[1]) == 2 and len(rings[2]) == 1
    assert polygons.signed_area(rings[1][0]) == -144.0 and polygons.signed_area(rings[1][1]) == 16.0
    assert polygons.signed_area(rings[2][0]) == -16.0


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outlines")
    return build(write_valley(folder), folder / "basin.nc").path


def test_basin_file_has_outlines(built):
    with xr.open_dataset(built) as data:
        found = polygons.read_polygons(data)
        places = data["subbasin_longitude"].values, data["subbasin_latitude"].values
        area = float(data["unit_area"].sum())
    assert found is not None
    rings = found[0][1]
    assert not polygons.is_hole(rings[0])
    shape = shapely.Polygon(rings[0])
    assert shape.contains(shapely.Point(places[0][0], places[1][0]))
    across = 111.195**2 * np.cos(np.radians(places[1][0]))
    assert shape.area * across == pytest.approx(area, rel=0.02)


def test_encode_and_read_are_inverse():
    given = [(5, [np.array([[0, 0], [1, 0], [1, 1], [0, 0]], float)]), (7, []),
             (9, [np.array([[2, 0], [5, 0], [5, 3], [2, 3], [2, 0]], float),
                  np.array([[3, 1], [3, 2], [4, 2], [3, 1]], float)])]
    encoded = polygons.encode(given)
    assert encoded["subbasin_polygon_interior_ring"][1].tolist() == [0, 0, 1]
    data = xr.Dataset({name: (dims, values) for name, (dims, values, _) in encoded.items()},
                      coords={"subbasin": [5, 7, 9]})
    found = polygons.read_polygons(data)
    assert [number for number, _ in found] == [5, 7, 9]
    for (_, wanted), (_, rings) in zip(given, found, strict=True):
        assert len(wanted) == len(rings)
        assert all(np.array_equal(a, b) for a, b in zip(wanted, rings, strict=True))
    assert polygons.read_polygons(xr.Dataset()) is None


@pytest.mark.parametrize(("spoil", "words"), [
    (lambda data: data.drop_vars("subbasin_polygon_x"), "subbasin_polygon_x missing"),
    (lambda data: data.assign(subbasin_polygon_node_count=data["subbasin_polygon_node_count"] + 1), "adds to"),
    (lambda data: data.assign(subbasin_polygon_y=data["subbasin_polygon_y"] * np.nan), "missing or infinite"),
    (lambda data: data.assign(subbasin_polygon_x=data["subbasin_polygon_x"] + 5e5), "give degrees"),
])
def test_broken_outlines_are_refused(built, spoil, words):
    with xr.open_dataset(built, decode_times=False) as data:
        broken = spoil(data.load())
    with pytest.raises(BasinError, match=words):
        Basin.from_dataset(broken)
    with pytest.raises(InputError, match=words) if "degrees" not in words else pytest.raises(InputError):
        polygons.read_polygons(broken)


def test_outlines_do_not_change_the_basin(built):
    """A state belongs to a basin with or without outlines."""
    with xr.open_dataset(built, decode_times=False) as data:
        without = data.load().drop_vars(list(polygons.NAMES))
    assert Basin.from_dataset(without).hash == Basin.open(built).hash
    assert Basin.from_dataset(without).outlines is None
