"""Outlines of sub-basins from their map, simplified so that neighbours still share their borders.

The rings of the map are cut into arcs at the corners where borders meet. Each arc is simplified once (Douglas and
Peucker 1973) and used by both neighbours, so that no gap and no overlap opens. Where an outline then crosses itself or
collapses, its arcs are simplified less until it does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from wepl.basin.polygons import Polygon, signed_area
from wepl.build.terrain_raster import to_degrees

if TYPE_CHECKING:
    from wepl.build.types import Terrain

# Largest departure of an outline from the map's: a cell, and this share of the side of a mean sub-basin.
_SHARE = 0.02
# Halvings of an arc's tolerance before it stays as the map has it.
_HALVINGS = 4
_DIGITS = 6  # of degrees: 0.1 m


def outlines(terrain: Terrain) -> list[Polygon]:
    """Outline of every sub-basin of a terrain, in the order of its table.

    Returns
    -------
    list of (int, list of ndarray)
        See :func:`wepl.basin.polygons.read_polygons`.
    """
    from rasterio.crs import CRS

    side = abs(terrain.transform.a)
    mean_area = terrain.cell_area * np.count_nonzero(terrain.subbasin_map) / max(1, len(terrain.subbasins))
    tolerance = max(1.0, _SHARE * mean_area**0.5 / side)
    by_label = simplified_rings(terrain.subbasin_map, tolerance)
    crs = CRS.from_user_input(terrain.crs)
    found = []
    for identifier in terrain.subbasins.index:
        rings = []
        for ring in by_label.get(int(identifier), []):
            x, y = terrain.transform * (ring[:, 0], ring[:, 1])
            degrees = np.stack(to_degrees(crs, np.asarray(x), np.asarray(y)), axis=1)
            rings.append(np.round(degrees, _DIGITS))
        found.append((int(identifier), rings))
    return found


def simplified_rings(labels: np.ndarray, tolerance: float) -> dict[int, list[np.ndarray]]:
    """Rings of each label of a map, simplified together.

    Parameters
    ----------
    labels : ndarray int32 (y, x)
        0 outside.
    tolerance : float
        Largest departure of a simplified border, in cells.

    Returns
    -------
    dict of int to list of ndarray
        Closed rings ``[n, 2]`` of column and row; outer rings have a negative area, since rows run downwards and
        outer rings anticlockwise on the ground; holes a positive one.
    """
    from rasterio.features import shapes

    junction = _junctions(labels)
    rings: list[tuple[int, list[tuple[int, bool]]]] = []
    arcs: list[np.ndarray] = []
    known: dict[tuple[int, ...], int] = {}
    for geometry, label in shapes(labels.astype(np.int32), mask=labels > 0, connectivity=4):
        for place, points in enumerate(geometry["coordinates"]):
            ring = np.asarray(points).round().astype(np.int64)
            if (signed_area(ring.astype(float)) < 0.0) != (place == 0):
                ring = ring[::-1]
            rings.append((int(label), _cut(ring, junction, arcs, known)))
    return _assemble(rings, arcs, tolerance)


def _junctions(labels: np.ndarray) -> np.ndarray:
    """Whether three or four borders meet at each corner of the cells, bool (y + 1, x + 1)."""
    padded = np.pad(labels, 1)
    upright, level = padded[:, 1:] != padded[:, :-1], padded[1:] != padded[:-1]
    count = upright[1:].astype(np.int8) + upright[:-1]
    count += level[:, 1:].astype(np.int8) + level[:, :-1]
    return count > 2


def _cut(ring: np.ndarray, junction: np.ndarray, arcs: list[np.ndarray],
         known: dict[tuple[int, ...], int]) -> list[tuple[int, bool]]:
    """Cut a closed ring at its junctions; number of each arc, and whether the ring runs along it backwards."""
    step = np.diff(ring, axis=0)
    length = np.abs(step).sum(axis=1)
    along = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    points = np.repeat(ring[:-1], length, axis=0) + along[:, None] * np.repeat(np.sign(step), length, axis=0)
    cuts = np.flatnonzero(junction[points[:, 1], points[:, 0]])
    if not cuts.size:
        # An island: begin at one end of its own, the same from either side.
        cuts = np.array([np.lexsort((points[:, 1], points[:, 0]))[0]])
    points = np.concatenate([np.roll(points, -cuts[0], axis=0), points[cuts[0]][None]])
    ends = np.append(cuts - cuts[0], len(points) - 1)
    found = []
    for begin, end in zip(ends[:-1], ends[1:], strict=True):
        arc = points[begin:end + 1]
        forward, backward = (*arc[0], *arc[1]), (*arc[-1], *arc[-2])
        turned = backward < forward
        key = tuple(int(value) for value in (backward if turned else forward))
        if key not in known:
            known[key] = len(arcs)
            arcs.append(np.ascontiguousarray(arc[::-1] if turned else arc).astype(float))
        found.append((known[key], turned))
    return found


def _assemble(rings: list[tuple[int, list[tuple[int, bool]]]], arcs: list[np.ndarray],
              tolerance: float) -> dict[int, list[np.ndarray]]:
    """Simplify the arcs and join them, with smaller tolerances where a ring would cross itself or another."""
    allowed = np.full(len(arcs), tolerance)
    simple = [_simplify(arc, tolerance) for arc in arcs]
    by_label: dict[int, list[int]] = {}
    for place, (label, _) in enumerate(rings):
        by_label.setdefault(label, []).append(place)
    joined = [_join(members, simple) for _, members in rings]
    waiting = set(by_label)
    for halving in range(_HALVINGS + 1):
        crossing = [label for label in sorted(waiting) if not _sound([joined[place] for place in by_label[label]])]
        if not crossing:
            break
        touched = {arc for label in crossing for place in by_label[label] for arc, _ in rings[place][1]}
        for arc in touched:
            allowed[arc] = 0.0 if halving == _HALVINGS else 0.5 * allowed[arc]
            simple[arc] = _simplify(arcs[arc], allowed[arc])
        # A neighbour's border changes too, so it is looked at again.
        changed = [place for place, (_, members) in enumerate(rings) if any(arc in touched for arc, _ in members)]
        for place in changed:
            joined[place] = _join(rings[place][1], simple)
        waiting = {rings[place][0] for place in changed}
    return {label: [joined[place] for place in places] for label, places in by_label.items()}


def _join(members: list[tuple[int, bool]], arcs: list[np.ndarray]) -> np.ndarray:
    pieces = [arcs[arc][::-1] if turned else arcs[arc] for arc, turned in members]
    return np.concatenate([*(piece[:-1] for piece in pieces), pieces[-1][-1:]])


def _simplify(arc: np.ndarray, tolerance: float) -> np.ndarray:
    """The arc without the points that lie within ``tolerance`` of a line between those kept."""
    return arc[_kept(arc, tolerance)]


@njit(cache=True)
def _kept(arc, tolerance):
    """Which points Douglas and Peucker keep; of a closed arc also the one farthest from its end."""
    keep = np.zeros(arc.shape[0], np.bool_)
    last = arc.shape[0] - 1
    keep[0] = keep[last] = True
    stack = [(0, last)]
    while len(stack) > 0:
        first, end = stack.pop()
        worst, at = -1.0, -1
        x, y = arc[end, 0] - arc[first, 0], arc[end, 1] - arc[first, 1]
        length = x * x + y * y
        for i in range(first + 1, end):
            u, v = arc[i, 0] - arc[first, 0], arc[i, 1] - arc[first, 1]
            share = min(1.0, max(0.0, (u * x + v * y) / length)) if length > 0.0 else 0.0
            distance = (u - share * x) ** 2 + (v - share * y) ** 2
            if distance > worst:
                worst, at = distance, i
        if at > 0 and (worst > tolerance * tolerance or length == 0.0):
            keep[at] = True
            stack.append((first, at))
            stack.append((at, end))
    return keep


def _sound(rings: list[np.ndarray]) -> bool:
    """Whether all rings enclose ground and none of their sides cross."""
    if any(len(ring) < 4 or signed_area(ring) == 0.0 for ring in rings):
        return False
    sides = np.concatenate([np.concatenate([ring[:-1], ring[1:]], axis=1) for ring in rings])
    return not _cross(sides)


@njit(cache=True)
def _cross(sides):
    """Whether two of the sides ``[n, 4]`` cross, one ends on another, or one lies along another."""
    for i in range(sides.shape[0]):
        ax, ay, bx, by = sides[i]
        for j in range(i):
            cx, cy, dx, dy = sides[j]
            if (max(ax, bx) < min(cx, dx) or max(cx, dx) < min(ax, bx) or max(ay, by) < min(cy, dy)
                    or max(cy, dy) < min(ay, by)):
                continue
            c = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            d = (bx - ax) * (dy - ay) - (by - ay) * (dx - ax)
            a = (dx - cx) * (ay - cy) - (dy - cy) * (ax - cx)
            b = (dx - cx) * (by - cy) - (dy - cy) * (bx - cx)
            if (a * b < 0.0 and c * d <= 0.0) or (a * b <= 0.0 and c * d < 0.0):
                return True
            if a == 0.0 and b == 0.0 and (min(max(ax, bx), max(cx, dx)) > max(min(ax, bx), min(cx, dx))
                                          or min(max(ay, by), max(cy, dy)) > max(min(ay, by), min(cy, dy))):
                return True
    return False
