"""Sub-basins and the river network: places, a branching tree per river, areas, reaches.

Sub-basins are scattered evenly over each river's outline and joined to a tree by flooding the terrain from the gauge
upwards (Barnes et al. 2014), first over the bare orography, then over valleys that the first tree has carved by the
slope-area law (Flint 1974). The trees have Horton-like statistics; a test measures them.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from scipy.spatial import Delaunay

from wepl.basin.synthetic import facts
from wepl.basin.synthetic.terrain import Orography, kilometres

_R2 = np.array([1.0 / 1.324717957244746, 1.0 / 1.324717957244746**2])
# Reach length per distance of the centres in coarse networks. In fine ones the line through the centres is itself
# crooked, so lengths are scaled to the known length of the Gan wherever it has this many sub-basins.
_SINUOSITY, _COUNTED = 1.25, 20
_HEADWATER_LENGTH = 1.2  # km per square root of the area in km2
# Slope-area law through the Xiu's slopes: 1.05 per mille in its upper, 0.42 in its middle and 0.12 in its lower part.
_SLOPE_800 = 1.05e-3
_CONCAVITY = 0.6
_PLAIN_SLOPE = 2.0e-4
_SMALLEST_SLOPE = 3.0e-5
# W = a A^b through the Xiu's widths: 50 to 100 m near 800 km2, 150 to 400 m near 10,000 km2.
_WIDTH_A, _WIDTH_B = 2.5, 0.5


@dataclass
class Network:
    """Sub-basins in order from the sources to the outlet.

    Attributes
    ----------
    longitude, latitude : ndarray
        Centres, degrees.
    area, upstream_area : ndarray
        Own area, and area at the reach's end, km2.
    below : ndarray of int
        Position of the sub-basin downstream, -1 at the outlet; always after the sub-basin itself.
    region : ndarray of int
        Position in ``regions``.
    length, slope, width : ndarray
        Reach length (m), bed slope (1) and width (m).
    bed : ndarray
        Height of the reach's end above the outlet as the slopes give it, m.
    gauge : ndarray of int
        Position of the sub-basin at whose end each region's gauge stands.
    regions : tuple of Region
        The regions that are there, the lake plain last.
    """

    longitude: np.ndarray
    latitude: np.ndarray
    area: np.ndarray
    upstream_area: np.ndarray
    below: np.ndarray
    region: np.ndarray
    length: np.ndarray
    slope: np.ndarray
    width: np.ndarray
    bed: np.ndarray
    gauge: np.ndarray
    regions: tuple[facts.Region, ...]

    @property
    def on_plain(self) -> np.ndarray:
        """Whether each sub-basin belongs to the lake plain."""
        return self.region == len(self.regions) - 1


def shares(total: int, weights: np.ndarray, least: int = 1, most: int | None = None) -> np.ndarray:
    """Whole numbers that add to ``total``, each at least ``least`` (at most ``most``), in proportion to ``weights``."""
    weights = np.asarray(weights, dtype=float)
    count = np.full(weights.size, least)
    room = np.full(weights.size, total if most is None else most) - least
    left = total - count.sum()
    while left > 0:
        open_ = room > 0
        exact = left * np.where(open_, weights, 0.0) / weights[open_].sum()
        whole = np.minimum(np.floor(exact).astype(np.int64), room)
        if whole.sum() == 0:
            ranked = np.argsort(-np.where(open_, exact, -1.0), kind="stable")[:min(left, int(open_.sum()))]
            whole[ranked] = 1
        count += whole
        room -= whole
        left -= whole.sum()
    return count


def inside(longitude: np.ndarray, latitude: np.ndarray, outline: tuple[tuple[float, float], ...]) -> np.ndarray:
    """Whether points lie in a polygon (even-odd rule)."""
    result = np.zeros(longitude.shape, dtype=bool)
    for (x0, y0), (x1, y1) in zip(outline, outline[1:] + outline[:1], strict=True):
        crosses = (y0 > latitude) != (y1 > latitude)
        if y0 != y1:
            result ^= crosses & (longitude < x0 + (x1 - x0) * (latitude - y0) / (y1 - y0))
    return result


def scatter(region: facts.Region, n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Longitudes and latitudes of ``n`` even places in a region: an R2 sequence, slightly shaken."""
    outline = np.array(region.outline)
    low, span = outline.min(axis=0), np.ptp(outline, axis=0)
    shift = random.random(2)
    found = np.zeros((0, 2))
    start = 1
    while found.shape[0] < n:
        size = 4 * (n - found.shape[0]) + 16
        place = low + span * ((shift + np.outer(np.arange(start, start + size), _R2)) % 1.0)
        found = np.concatenate([found, place[inside(place[:, 0], place[:, 1], region.outline)]])
        start += size
    found = found[:n]
    spacing = np.sqrt(region.area / n) / 111.0
    shaken = found + spacing * 0.22 * random.standard_normal(found.shape)
    keep = inside(shaken[:, 0], shaken[:, 1], region.outline)
    found = np.where(keep[:, None], shaken, found)
    return found[:, 0], found[:, 1]


def chosen_regions(n: int) -> tuple[facts.Region, ...]:
    """All regions, or the ``n`` largest where ``n`` sub-basins are too few; the lake plain is the second largest."""
    largest = sorted(facts.REGIONS, key=lambda region: -region.area)[:n]
    return tuple(region for region in facts.REGIONS if region in largest)


def build_network(n: int, orography: Orography, random: np.random.Generator) -> Network:
    """A network of ``n`` (at least 2) sub-basins over the five rivers and the lake plain.

    Every region keeps its published area. With fewer sub-basins than regions only the largest regions are there.
    """
    regions = chosen_regions(n)
    counts = shares(n, np.array([region.area for region in regions]))
    offset = np.concatenate([[0], np.cumsum(counts)])
    longitude, latitude, area, below = np.empty(n), np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
    roots = np.empty(len(regions), dtype=np.int64)
    for number, region in enumerate(regions):
        here = slice(offset[number], offset[number + 1])
        longitude[here], latitude[here] = scatter(region, counts[number], random)
        weight = np.exp(0.22 * random.standard_normal(counts[number]))
        area[here] = region.area * weight / weight.sum()
        noise = random.standard_normal(counts[number])
        root, parent = _tree(longitude[here], latitude[here], area[here], region, orography, noise)
        roots[number] = root + offset[number]
        below[here] = np.where(parent >= 0, parent + offset[number], -1)
    plain = np.arange(offset[-2], n)
    for number, region in enumerate(regions[:-1]):
        x, y = kilometres(longitude[plain], latitude[plain])
        x0, y0 = kilometres(*(np.array([value]) for value in region.outlet))
        below[roots[number]] = plain[np.argmin((x - x0) ** 2 + (y - y0) ** 2)]
    order = _downstream_order(below)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    below = np.where(below[order] >= 0, place[below[order]], -1)
    region_of = np.repeat(np.arange(len(regions)), counts)[order]
    return _reaches(longitude[order], latitude[order], area[order], below, region_of, place[roots], regions, random)


def _tree(longitude: np.ndarray, latitude: np.ndarray, area: np.ndarray, region: facts.Region, orography: Orography,
          noise: np.ndarray) -> tuple[int, np.ndarray]:
    """Root and parent of each node of one region."""
    x, y = kilometres(longitude, latitude)
    x0, y0 = kilometres(*(np.array([value]) for value in region.outlet))
    root = int(np.argmin((x - x0) ** 2 + (y - y0) ** 2))
    neighbours, near = _neighbours(x, y)
    away = np.hypot(x - x0, y - y0)
    if region is facts.LAKE_PLAIN:  # flat: the way to the outlet through the lake counts, not the relief
        ground = 0.3 * orography.height(longitude, latitude) + 4.0 * away + 15.0 * noise
    else:
        ground = orography.height(longitude, latitude) + 0.6 * away + 40.0 * noise
    parent = _flood(root, ground, neighbours, near)
    for _ in range(2):
        order = _downstream_order(parent)
        total = _accumulate(area, parent, order)
        bed = np.zeros(area.size)
        for node in order[::-1]:
            if parent[node] >= 0:
                step = np.hypot(x[node] - x[parent[node]], y[node] - y[parent[node]])
                bed[node] = bed[parent[node]] + 1e3 * step * _SLOPE_800 * (total[node] / 800.0) ** -_CONCAVITY
        parent = _flood(root, 0.35 * ground + 1.3 * bed, neighbours, near)
    return root, parent


def _neighbours(x: np.ndarray, y: np.ndarray) -> tuple[list[list[int]], list[list[bool]]]:
    """Neighbours of each node by Delaunay triangles, and whether they are near (no long edge across a bay)."""
    n = x.size
    if n < 5:
        pairs = np.array([(i, j) for i in range(n) for j in range(n) if i != j], dtype=np.int64).reshape(-1, 2)
    else:
        triangles = Delaunay(np.column_stack([x, y])).simplices
        pairs = np.concatenate([triangles[:, edge] for edge in ([0, 1], [1, 2], [2, 0])])
        pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0).astype(np.int64)
    neighbours: list[list[int]] = [[] for _ in range(n)]
    near: list[list[bool]] = [[] for _ in range(n)]
    if pairs.size:
        length = np.hypot(x[pairs[:, 0]] - x[pairs[:, 1]], y[pairs[:, 0]] - y[pairs[:, 1]])
        short = length <= 2.0 * np.median(length)
        for (i, j), is_short in zip(pairs.tolist(), short.tolist(), strict=True):
            neighbours[i].append(j)
            near[i].append(is_short)
    return neighbours, near


def _flood(root: int, ground: np.ndarray, neighbours: list[list[int]], near: list[list[bool]]) -> np.ndarray:
    """Parent of each node: the node from which rising water first reaches it; two tributaries a node where possible."""
    height = ground.tolist()
    n = len(height)
    parent = np.full(n, -1, dtype=np.int64)
    done = [False] * n
    children = [0] * n
    done[root] = True
    for most, far in ((2, False), (3, False), (n, False), (n, True)):
        heap = [(height[j], height[i], j, i) for i in range(n) if done[i]
                for j, short in zip(neighbours[i], near[i], strict=True) if not done[j] and (short or far)]
        heapq.heapify(heap)
        while heap:
            level, _, node, source = heapq.heappop(heap)
            if done[node] or children[source] >= most:
                continue
            done[node] = True
            parent[node] = source
            children[source] += 1
            for other, short in zip(neighbours[node], near[node], strict=True):
                if not done[other] and (short or far):
                    heapq.heappush(heap, (max(level, height[other]), height[node], other, node))
    return parent


def _downstream_order(below: np.ndarray) -> np.ndarray:
    """Nodes so that each comes before the one downstream, a tributary's nodes together."""
    upstream: list[list[int]] = [[] for _ in range(below.size)]
    stack = []
    for node, down in enumerate(below.tolist()):
        if down >= 0:
            upstream[down].append(node)
        else:
            stack.append(node)
    order = []
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(upstream[node])
    return np.array(order[::-1], dtype=np.int64)


def _accumulate(area: np.ndarray, below: np.ndarray, order: np.ndarray) -> np.ndarray:
    total = area.tolist()
    down = below.tolist()
    for node in order.tolist():
        if down[node] >= 0:
            total[down[node]] += total[node]
    return np.array(total)


def _reaches(longitude: np.ndarray, latitude: np.ndarray, area: np.ndarray, below: np.ndarray, region: np.ndarray,
             gauge: np.ndarray, regions: tuple[facts.Region, ...], random: np.random.Generator) -> Network:
    """Lengths, slopes and widths of the reaches."""
    n = area.size
    upstream_area = _accumulate(area, below, np.arange(n))
    x, y = kilometres(longitude, latitude)
    source = np.ones(n, dtype=bool)
    source[below[below >= 0]] = False
    size = np.sqrt(area)
    step = np.where(below >= 0, np.hypot(x - x[below], y - y[below]), size)
    step[gauge] = size[gauge]
    step = np.clip(step, 0.5 * size, 2.0 * size)
    length = np.where(source, _HEADWATER_LENGTH * size, _SINUOSITY * step)
    if regions[0].river == "Gan" and np.count_nonzero(region == 0) >= _COUNTED:
        head, whole = _longest(np.where(source, length, 0.0), length, below, gauge[0])
        length *= np.where(source, 1.0, np.clip((facts.GAN_LENGTH - head) / (whole - head), 0.5, 1.5))
    middle = upstream_area - 0.5 * area
    slope = _SLOPE_800 * (middle / 800.0) ** -_CONCAVITY * np.exp(0.12 * random.standard_normal(n))
    plain = region == len(regions) - 1
    slope = np.maximum(np.where(plain, np.minimum(slope, _PLAIN_SLOPE), np.minimum(slope, 0.1)), _SMALLEST_SLOPE)
    width = _WIDTH_A * upstream_area**_WIDTH_B * np.exp(0.08 * random.standard_normal(n))
    bed = np.zeros(n)
    fall = length * 1e3 * slope
    for node in range(n - 1, -1, -1):
        if below[node] >= 0:
            bed[node] = bed[below[node]] + fall[below[node]]
    return Network(longitude, latitude, area, upstream_area, below, region, length * 1e3, slope, width, bed, gauge,
                   regions)


def _longest(part: np.ndarray, length: np.ndarray, below: np.ndarray, end: int) -> tuple[float, float]:
    """Sums of ``part`` and of ``length`` along the longest way down to the end of the reach ``end``."""
    total, partial = length.copy(), part.copy()
    above = np.zeros(length.size)
    for node, down in enumerate(below.tolist()):
        if down >= 0 and total[node] > above[down]:
            above[down] = total[node]
            total[down], partial[down] = length[down] + total[node], part[down] + partial[node]
    return float(partial[end]), float(total[end])
