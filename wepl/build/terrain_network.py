"""Sub-basins, their reaches and their Pfafstetter codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wepl.build import terrain_kernels as kernels
from wepl.build.terrain_flow import Flow

if TYPE_CHECKING:
    import affine

# A reach that the raster shows as level still falls; 1 cm per km is a large lowland river.
_LEAST_SLOPE = 1e-5
_HEAD_SHARE = 0.1
_MOST_DIGITS = 18  # an int64 holds as many


@dataclass
class SubBasins:
    """Sub-basins from upstream to downstream; all arrays but ``map`` over them.

    Attributes
    ----------
    map : ndarray int32 (cell,)
        Identifier from 1; 0 outside.
    outlet : ndarray
        Outlet cell.
    downstream : ndarray int64
        Identifier; -1 at an outlet of the catchment.
    """

    map: np.ndarray
    outlet: np.ndarray
    downstream: np.ndarray


def cut_subbasins(flow: Flow, threshold_cells: float, target_cells: float, gauges: np.ndarray) -> SubBasins:
    """Cut the catchment above each junction of streams and at each gauge; join what is small to what lies below.

    Parameters
    ----------
    threshold_cells : float
        Number of cells drained from which a cell carries a stream.
    target_cells : float
        Size below which a sub-basin joins the one below, unless it ends at a gauge or an outlet.
    gauges : ndarray
        Cells of the gauges.
    """
    from pyflwdir import core

    stream = flow.cells >= threshold_cells
    inflows = core.upstream_count(flow.downstream, mask=stream)
    cells = np.flatnonzero(stream)
    junction = cells[inflows[flow.downstream[cells]] > 1]
    fixed = np.union1d(flow.pits, gauges)
    breaks = np.union1d(junction, fixed)
    breaks = breaks[np.lexsort((breaks, flow.cells[breaks]))].astype(flow.downstream.dtype)
    label = flow.basins(breaks)
    kept, parent = _join(flow, breaks, label, np.isin(breaks, fixed), target_cells)
    identifier = np.zeros(breaks.size + 1, np.int32)
    identifier[1:][kept] = np.arange(1, kept.sum() + 1)
    identifier[1:] = identifier[1:][parent]
    outlet = breaks[kept]
    below = flow.downstream[outlet]
    downstream = np.where(below == outlet, -1, identifier[label[below]]).astype(np.int64)
    return SubBasins(identifier[label], outlet, downstream)


def _join(flow: Flow, breaks: np.ndarray, label: np.ndarray, fixed: np.ndarray,
          target_cells: float) -> tuple[np.ndarray, np.ndarray]:
    """Which breaks stay, and the break whose sub-basin each belongs to; breaks run from upstream to downstream."""
    size = np.bincount(label, minlength=breaks.size + 1)[1:].astype(np.int64)
    below = label[flow.downstream[breaks]] - 1
    kept = fixed | (size >= target_cells)
    for k in range(breaks.size):
        kept[k] = fixed[k] or size[k] >= target_cells
        if not kept[k]:
            size[below[k]] += size[k]
    parent = np.arange(breaks.size)
    for k in range(breaks.size - 1, -1, -1):
        if not kept[k]:
            parent[k] = parent[below[k]]
    return kept, parent


@dataclass
class Reaches:
    """Main stem of each sub-basin.

    Attributes
    ----------
    start : ndarray int64 (subbasin + 1,)
        Where the cells of each begin in ``path``.
    path : ndarray int64
        Cells from upstream to downstream.
    length : ndarray (subbasin,)
        m, up to the first cell of the sub-basin below.
    slope : ndarray (subbasin,)
        Tangent; NaN where neither elevation nor slope is known.
    """

    start: np.ndarray
    path: np.ndarray
    length: np.ndarray
    slope: np.ndarray


def find_reaches(flow: Flow, subbasins: SubBasins, threshold_cells: float, height: np.ndarray | None,
                 ground_slope: np.ndarray) -> Reaches:
    """Trace the main stem of each sub-basin up to its border or the head of the stream.

    Parameters
    ----------
    threshold_cells : float
        Number of cells drained at the head of a stream; a tenth of the area where a whole sub-basin is smaller.
    height : ndarray (cell,) or None
        Elevation without pits, m, from which the slope of a reach is taken.
    ground_slope : ndarray (cell,)
        Slope of the ground (tangent), whose mean along the reach stands in where ``height`` is None.
    """
    outlet = subbasins.outlet
    drained = flow.cells[outlet]
    least = np.where(drained >= threshold_cells, threshold_cells, np.maximum(1.0, _HEAD_SHARE * drained))
    start, path = kernels.trace_reaches(outlet, flow.main_upstream(), subbasins.map, flow.cells, least)
    target = flow.downstream[path].astype(np.int64)
    n_columns = flow.shape[1]
    link = np.hypot((path // n_columns - target // n_columns) * flow.depth,
                    (path % n_columns - target % n_columns) * flow.width)
    # At an outlet the last cell is crossed to its far side.
    link = np.where(path == target, 0.5 * (flow.width + flow.depth), link)
    length = np.add.reduceat(link, start[:-1])
    if height is None:
        slope = np.add.reduceat(ground_slope[path].astype(float), start[:-1]) / np.diff(start)
    else:
        last = target[start[1:] - 1]
        slope = (height[path[start[:-1]]].astype(float) - height[last]) / length
    return Reaches(start, path, length, np.maximum(slope, _LEAST_SLOPE))


def river_lines(flow: Flow, reaches: Reaches, transform: affine.Affine) -> list[tuple[int, np.ndarray]]:
    """Identifier and polyline of every reach, through the centres of its cells to the first cell below it."""
    lines = []
    for k in range(reaches.length.size):
        cells = reaches.path[reaches.start[k]:reaches.start[k + 1]]
        cells = np.append(cells, flow.downstream[cells[-1]])
        row, column = np.divmod(cells, flow.shape[1])
        x, y = transform * (column + 0.5, row + 0.5)
        line = np.column_stack([x, y])
        lines.append((k + 1, line[:-1] if cells[-1] == cells[-2] and len(line) > 2 else line))
    return lines


def pfafstetter_codes(downstream: np.ndarray, upstream_area: np.ndarray) -> np.ndarray:
    """Pfafstetter code of each sub-basin, with as many digits as tell it from all others.

    Each level numbers the four largest tributaries of the main stem 2, 4, 6 and 8 and the ground between them 1, 3,
    5, 7 and 9, from downstream (Verdin and Verdin 1999, J. Hydrol. 218). Where there are several catchments, their
    number, by area, comes first. No code has more than 18 digits: what would need more shares its code.

    Parameters
    ----------
    downstream : ndarray int (subbasin,)
        Place of the sub-basin below; -1 at an outlet. Sub-basins run from upstream to downstream.
    upstream_area : ndarray (subbasin,)
        Area drained, growing downstream.

    Returns
    -------
    ndarray int64 (subbasin,)
    """
    n = downstream.size
    root = np.arange(n)
    for k in range(n - 1, -1, -1):
        if downstream[k] >= 0:
            root[k] = root[downstream[k]]
    outlets = np.flatnonzero(downstream < 0)
    outlets = outlets[np.lexsort((outlets, -upstream_area[outlets]))]
    digits = len(str(outlets.size))
    by_root = np.split(np.argsort(root, kind="stable"), np.cumsum(np.bincount(root, minlength=n))[:-1])
    codes = np.zeros(n, np.int64)
    open_groups = []
    for k, outlet in enumerate(outlets):
        several = outlets.size > 1
        open_groups.append((by_root[outlet], k + 10 ** (digits - 1) if several else 0, digits if several else 0))
    while open_groups:
        members, code, length = open_groups.pop()
        if members.size == 1 or length == _MOST_DIGITS:
            codes[members] = code or 1
            continue
        digit = _next_digit(members, downstream, upstream_area)
        for value in np.unique(digit):
            open_groups.append((members[digit == value], 10 * code + int(value), length + 1))
    return codes


def _next_digit(members: np.ndarray, downstream: np.ndarray, upstream_area: np.ndarray) -> np.ndarray:
    """Digits 1 to 9 that divide a connected group of at least two sub-basins, the last of which is its outlet."""
    from pyflwdir import basins, core

    n = members.size
    place = np.searchsorted(members, downstream[members])
    local = np.where(np.isin(downstream[members], members), place, np.arange(n)).astype(np.int64)
    local[-1] = n - 1
    area = upstream_area[members].astype(float)
    main = core.main_upstream(local, area)
    if not (np.bincount(np.delete(local, n - 1), minlength=n) > 1).any():
        # A chain without tributaries: up to five stretches, numbered as the ground between tributaries is.
        return 9 - 2 * (np.arange(n) * min(n, 5) // n) if n >= 5 else 2 * np.arange(n, 0, -1) - 1
    sequence = np.arange(n - 1, -1, -1, dtype=np.int64)
    return basins.subbasins_pfafstetter(np.array([n - 1]), local, sequence, main, area, depth=1)[0]
