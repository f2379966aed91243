"""Where sub-basins are drawn: their outlines when a file has them, else a schematic of the network."""

from __future__ import annotations

from typing import Any

import numpy as np

from wepl.report.encode import Blobs
from wepl.report.read import ResultReader, downstream_order

# Outlines are drawn on a grid of so many cells across the basin: a tenth of a pixel on a large screen.
_GRID = 16384


def drawing(reader: ResultReader, blobs: Blobs) -> dict[str, Any]:
    """What a page needs to draw the sub-basins.

    Returns
    -------
    dict
        ``kind`` (``polygons``, ``positions`` or ``tree``); ``x`` and ``y`` of each sub-basin, in 0 to ``width`` and 0
        to ``height``, y downwards; with polygons also ``rings`` (per sub-basin), ``nodes`` (per ring) and ``dx``,
        ``dy``, the steps from node to node of each ring on a grid of ``grid`` cells to a unit.
    """
    rings = _rings(reader)
    if rings is not None:
        return _polygons(rings, blobs)
    found = _positions(reader)
    x, y = tree(reader.downstream) if found is None else found
    x, y, width, height = _fit(x, y)
    return {"kind": "tree" if found is None else "positions", "width": width, "height": height,
            "x": blobs.add(x, "<f4"), "y": blobs.add(y, "<f4")}


def _rings(reader: ResultReader) -> list[list[np.ndarray]] | None:
    """Rings of each sub-basin from the result, or else from the basin file; None when neither has any."""
    from wepl.basin.polygons import read_polygons

    polygons = read_polygons(reader.dataset)
    if polygons is None and reader.basin is not None and reader.basin.path is not None:
        import xarray as xr

        with xr.open_dataset(reader.basin.path, engine="netcdf4", decode_times=False, decode_coords=False) as data:
            polygons = read_polygons(data)
    if polygons is None:
        return None
    found = dict(polygons)
    return [found.get(int(identifier), []) for identifier in reader.identifiers]


def _positions(reader: ResultReader) -> tuple[np.ndarray, np.ndarray] | None:
    """Centres of sub-basins on a plane; None unless all are known and they differ."""
    found = []
    for name in ("subbasin_longitude", "subbasin_latitude"):
        if name in reader.dataset.variables:
            found.append(reader.values(name))
        elif name.replace("subbasin", "unit") in reader.dataset.variables and reader.unit_area.size:
            of_units = reader.values(name.replace("subbasin", "unit"))[None]
            found.append(reader.of_subbasins(of_units)[0])
    if len(found) < 2 or not all(np.isfinite(part).all() for part in found):
        return None
    if reader.identifiers.size > 1 and max(np.ptp(part) for part in found) == 0.0:
        return None
    return _plane(*found)


def _plane(longitude: np.ndarray, latitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equirectangular projection about the middle latitude, y downwards."""
    middle = 0.5 * (latitude.min() + latitude.max())
    return longitude * np.cos(np.radians(middle)), -latitude


def _fit(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Coordinates from 0, the longer side 1."""
    size = max(float(np.ptp(x)), float(np.ptp(y))) or 1.0
    x, y = (x - x.min()) / size, (y - y.min()) / size
    return x, y, max(float(x.max()), 0.2), max(float(y.max()), 0.2)


def tree(downstream: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A drawing of the network: outlets at the foot, every source beside its neighbours, a row per confluence.

    Parameters
    ----------
    downstream : ndarray of int
        Position of the sub-basin below, -1 at an outlet.

    Returns
    -------
    x, y : ndarray
        Between 0 and 1; y is 1 at outlets.
    """
    order = downstream_order(downstream)
    above: list[list[int]] = [[] for _ in downstream]
    depth = np.zeros(downstream.size)
    for place in order[::-1]:
        if downstream[place] >= 0:
            depth[place] = depth[downstream[place]] + 1
            above[downstream[place]].append(int(place))
    x = np.zeros(downstream.size)
    sources = 0
    stack = list(np.flatnonzero(downstream < 0)[::-1])
    while stack:
        place = stack.pop()
        if not above[place]:
            x[place] = sources
            sources += 1
        stack.extend(above[place])
    for place in order:
        if above[place]:
            x[place] = np.mean(x[above[place]])
    return x / max(1, sources - 1), 1.0 - depth / max(1.0, float(depth.max()))


def _polygons(rings: list[list[np.ndarray]], blobs: Blobs) -> dict[str, Any]:
    flat = [ring for parts in rings for ring in parts]
    nodes = np.array([len(ring) for ring in flat])
    longitude, latitude = np.concatenate(flat).T
    x, y, width, height = _fit(*_plane(longitude, latitude))
    grid = np.rint(np.stack([x, y], axis=1) * _GRID).astype(np.int64)
    simple = [_simplified(part) for part in np.split(grid, np.cumsum(nodes)[:-1])]
    steps = np.concatenate([np.diff(part, axis=0, prepend=[[0, 0]]) for part in simple])
    centres = np.array([_centre(part) for part in simple]).reshape(-1, 3)
    owner = np.repeat(np.arange(len(rings)), [len(parts) for parts in rings])
    weight = np.bincount(owner, centres[:, 2], minlength=len(rings))
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = [np.bincount(owner, centres[:, column] * centres[:, 2], minlength=len(rings)) / weight / _GRID
                  for column in (0, 1)]
    return {"kind": "polygons", "width": width, "height": height, "grid": _GRID,
            "x": blobs.add(middle[0], "<f4"), "y": blobs.add(middle[1], "<f4"),
            "rings": blobs.add(np.array([len(parts) for parts in rings]), "<i4"),
            "nodes": blobs.add(np.array([len(part) for part in simple]), "<i4"),
            "dx": blobs.add(steps[:, 0], "<i4"), "dy": blobs.add(steps[:, 1], "<i4")}


def _simplified(ring: np.ndarray) -> np.ndarray:
    """A ring without nodes that repeat or lie on the line between their neighbours."""
    moved = np.any(np.diff(ring, axis=0, prepend=ring[:1] - 1) != 0, axis=1)
    kept = ring[moved]
    if len(kept) < 4:
        return kept
    ahead, behind = kept[2:] - kept[1:-1], kept[1:-1] - kept[:-2]
    bends = ahead[:, 0] * behind[:, 1] != ahead[:, 1] * behind[:, 0]
    return kept[np.concatenate([[True], bends, [True]])]


def _centre(ring: np.ndarray) -> tuple[float, float, float]:
    """Centroid of a ring and its area, negative for holes."""
    base = ring[0]
    x, y = (ring - base).astype(float).T
    cross = x[:-1] * y[1:] - x[1:] * y[:-1]
    area = 0.5 * float(cross.sum())
    if area == 0.0:
        return float(ring[:, 0].mean()), float(ring[:, 1].mean()), 1e-9
    return (float(base[0] + ((x[:-1] + x[1:]) * cross).sum() / (6.0 * area)),
            float(base[1] + ((y[:-1] + y[1:]) * cross).sum() / (6.0 * area)), area)
