"""Outlines of sub-basins in basin and result files, as a CF-1.8 geometry container.

The container ``subbasin_polygon`` names the variables that hold the rings: nodes of a sub-basin
(``subbasin_polygon_node_count``), nodes of a ring (``subbasin_polygon_part_node_count``), whether a ring is a hole
(``subbasin_polygon_interior_ring``), and longitude and latitude of the nodes (``subbasin_polygon_x``, ``_y``). Rings
are closed: the first node stands again at the end. Outer rings run anticlockwise, holes clockwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

CONTAINER = "subbasin_polygon"
_NODE_COUNT, _PART_COUNT = f"{CONTAINER}_node_count", f"{CONTAINER}_part_node_count"
_HOLE = f"{CONTAINER}_interior_ring"
_X, _Y = f"{CONTAINER}_x", f"{CONTAINER}_y"
_PART, _NODE = f"{CONTAINER}_part", f"{CONTAINER}_node"
NAMES = (CONTAINER, _NODE_COUNT, _PART_COUNT, _HOLE, _X, _Y)
_DIMS = {CONTAINER: (), _NODE_COUNT: ("subbasin",), _PART_COUNT: (_PART,), _HOLE: (_PART,), _X: (_NODE,), _Y: (_NODE,)}

Rings = list[np.ndarray]
Polygon = tuple[int, Rings]
Encoded = dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, Any]]]


def read_polygons(dataset: xr.Dataset) -> list[Polygon] | None:
    """Outlines of the sub-basins of a basin or result dataset.

    Parameters
    ----------
    dataset : xarray.Dataset
        A basin file or a result file as xarray opens it.

    Returns
    -------
    list of (int, list of ndarray) or None
        Per sub-basin, in the file's order, its identifier and its closed rings, each float64 ``[n, 2]`` longitude and
        latitude in degrees. Outer rings run anticlockwise, holes clockwise (:func:`is_hole`). None when the dataset
        has no outlines.

    Raises
    ------
    InputError
        The outlines are incomplete or do not fit together.
    """
    if CONTAINER not in dataset.variables:
        return None
    problems = list(faults(dataset))
    if problems:
        raise InputError(f"the outlines of sub-basins cannot be read: {problems[0]}")
    nodes = np.stack([np.asarray(dataset.variables[name].values, dtype=float) for name in (_X, _Y)], axis=1)
    rings = np.split(nodes, np.cumsum(dataset.variables[_PART_COUNT].values)[:-1])
    ends = np.cumsum(dataset.variables[_NODE_COUNT].values)
    starts = np.concatenate([[0], np.cumsum(dataset.variables[_PART_COUNT].values)])
    last = np.searchsorted(starts, ends)
    first = np.concatenate([[0], last[:-1]])
    identifiers = dataset.variables["subbasin"].values
    return [(int(identifier), rings[begin:end])
            for identifier, begin, end in zip(identifiers, first, last, strict=True)]


def is_hole(ring: np.ndarray) -> bool:
    """Whether a ring ``[n, 2]`` runs clockwise, as holes do."""
    return signed_area(ring) < 0.0


def signed_area(ring: np.ndarray) -> float:
    """Area inside a closed ring ``[n, 2]`` in its squared unit, positive when it runs anticlockwise."""
    x, y = (ring - ring[0]).T
    return float(0.5 * np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))


def encode(polygons: Sequence[Polygon]) -> Encoded:
    """Variables of the container: per name its dimensions, values and attributes.

    Parameters
    ----------
    polygons : sequence of (int, list of ndarray)
        As :func:`read_polygons` gives them, in the order of the file's sub-basins.
    """
    rings = [ring for _, parts in polygons for ring in parts]
    nodes = np.concatenate(rings)
    values = {
        CONTAINER: np.array(0, np.int32),
        _NODE_COUNT: np.array([sum(len(ring) for ring in parts) for _, parts in polygons], np.int32),
        _PART_COUNT: np.array([len(ring) for ring in rings], np.int32),
        _HOLE: np.array([is_hole(ring) for ring in rings], np.int32),
        _X: nodes[:, 0], _Y: nodes[:, 1],
    }
    return {name: (_DIMS[name], values[name], attributes(name)) for name in NAMES}


def of_dataset(dataset: xr.Dataset) -> Encoded | None:
    """The container's variables of a dataset as they stand, to be carried to another file; None without outlines."""
    if CONTAINER not in dataset.variables:
        return None
    return {name: (_DIMS[name], dataset.variables[name].values, attributes(name)) for name in NAMES}


def attributes(name: str) -> dict[str, str]:
    """CF attributes of one of :data:`NAMES`."""
    table: Mapping[str, dict[str, str]] = {
        CONTAINER: {"long_name": "outlines of the sub-basins", "geometry_type": "polygon", "node_count": _NODE_COUNT,
                    "part_node_count": _PART_COUNT, "interior_ring": _HOLE, "node_coordinates": f"{_X} {_Y}"},
        _NODE_COUNT: {"long_name": "nodes of the sub-basin's outline"},
        _PART_COUNT: {"long_name": "nodes of the ring"},
        _HOLE: {"long_name": "1 where the ring is a hole, else 0"},
        _X: {"long_name": "longitude of the node", "standard_name": "longitude", "units": "degrees_east", "axis": "X"},
        _Y: {"long_name": "latitude of the node", "standard_name": "latitude", "units": "degrees_north", "axis": "Y"},
    }
    return table[name]


def faults(dataset: xr.Dataset) -> Iterator[str]:
    """What is wrong with the outlines of a dataset, a line each; nothing when there are none or all is well."""
    there = [name for name in NAMES if name in dataset.variables]
    if not there:
        return
    absent = [name for name in NAMES if name not in there]
    if absent:
        yield f"{', '.join(absent)} missing beside {there[0]}: give all outline variables or none"
        return
    for name in NAMES:
        given = dataset.variables[name]
        if given.dims != _DIMS[name]:
            yield f"{name} has dimensions {given.dims}, expected {_DIMS[name]}"
        elif given.dtype.kind not in "iuf":
            yield f"{name} holds {given.dtype}, expected numbers"
        elif not np.isfinite(given.values).all():
            yield f"{name} has missing or infinite values: give numbers"
        else:
            continue
        return
    yield from _counts(*(dataset.variables[name].values for name in (_NODE_COUNT, _PART_COUNT, _X)))
    for name, limit in ((_X, 360.0), (_Y, 90.0)):
        if np.abs(dataset.variables[name].values).max(initial=0.0) > limit:
            yield f"{name} leaves -{limit:g} to {limit:g}: give degrees"


def _counts(of_subbasin: np.ndarray, of_ring: np.ndarray, nodes: np.ndarray) -> Iterator[str]:
    if (of_ring < 4).any():
        yield f"{_PART_COUNT}: a ring of {int(of_ring.min())} nodes; a closed ring has at least 4"
    elif of_ring.sum() != nodes.size:
        yield f"{_PART_COUNT} adds to {int(of_ring.sum())} nodes, but there are {nodes.size}"
    elif of_subbasin.sum() != nodes.size or (of_subbasin < 0).any():
        yield f"{_NODE_COUNT} adds to {int(of_subbasin.sum())} nodes, but there are {nodes.size}"
    elif not np.isin(np.cumsum(of_subbasin), np.concatenate([[0], np.cumsum(of_ring)])).all():
        yield f"{_NODE_COUNT} and {_PART_COUNT} do not fit: a ring would belong to two sub-basins"
