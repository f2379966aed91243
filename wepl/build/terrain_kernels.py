"""Compiled loops over the cells of a flow-direction grid; cells are numbered row by row.

``downstream`` holds the number of the next cell, the cell's own at a pit, -1 outside; ``sequence`` the cells from
downstream to upstream, so that every cell stands after the one it drains to.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NOT_RESOLVED = -2
# Orthogonal neighbours first: they win where two ways are equally steep or equally short.
_ROW_STEP = np.array([0, 1, 0, -1, 1, 1, -1, -1])
_COLUMN_STEP = np.array([1, 0, -1, 0, 1, -1, -1, 1])


@njit(cache=True)
def steepest_descent(height: np.ndarray, nodata: float, width: float, depth: float) -> np.ndarray:
    """Neighbour of the steepest fall per distance (O'Callaghan and Mark 1984).

    Parameters
    ----------
    height : ndarray (row, column)
        Elevation without pits, m; ``nodata`` outside.
    width, depth : float
        Size of a cell along the row and along the column, m.

    Returns
    -------
    ndarray int32 (cell,)
        Downstream cell; -1 outside, ``NOT_RESOLVED`` where no neighbour is lower.
    """
    n_rows, n_columns = height.shape
    downstream = np.full(height.size, -1, np.int32)
    distance = np.sqrt((_ROW_STEP * depth) ** 2 + (_COLUMN_STEP * width) ** 2)
    for row in range(n_rows):
        for column in range(n_columns):
            own = height[row, column]
            if own == nodata:
                continue
            best, target = 0.0, NOT_RESOLVED
            for k in range(8):
                r, c = row + _ROW_STEP[k], column + _COLUMN_STEP[k]
                if r < 0 or c < 0 or r >= n_rows or c >= n_columns or height[r, c] == nodata:
                    continue
                fall = (own - height[r, c]) / distance[k]
                if fall > best:
                    best, target = fall, r * n_columns + c
            downstream[row * n_columns + column] = target
    return downstream


@njit(cache=True)
def _spread(downstream: np.ndarray, height: np.ndarray, front: np.ndarray, n_front: int) -> None:
    """Let cells without direction drain, ring by ring, towards cells of their height that have one."""
    n_rows, n_columns = height.shape
    first = 0
    while first < n_front:
        cell = front[first]
        first += 1
        row, column = cell // n_columns, cell % n_columns
        for k in range(8):
            r, c = row + _ROW_STEP[k], column + _COLUMN_STEP[k]
            if r < 0 or c < 0 or r >= n_rows or c >= n_columns:
                continue
            other = r * n_columns + c
            if downstream[other] == NOT_RESOLVED and height[r, c] == height[row, column]:
                downstream[other] = cell
                front[n_front] = other
                n_front += 1


@njit(cache=True)
def resolve_flats(downstream: np.ndarray, height: np.ndarray, outlet: np.ndarray) -> None:
    """Direct flat cells to the nearest cell that leaves the flat; what cannot leave becomes a pit.

    Parameters
    ----------
    downstream : ndarray int32 (cell,)
        From :func:`steepest_descent`; changed in place.
    height : ndarray (row, column)
        Elevation without pits, m.
    outlet : ndarray bool (cell,)
        Where water may leave the grid: these become the pits of flats without a lower neighbour.
    """
    n_rows, n_columns = height.shape
    n_open = 0
    for cell in range(downstream.size):
        if downstream[cell] == NOT_RESOLVED:
            n_open += 1
    # A resolved cell of the front has an open neighbour, and an open cell enters once.
    front = np.empty(min(downstream.size, 9 * n_open), np.int32)
    n_front = 0
    for cell in range(downstream.size):
        if downstream[cell] < 0:
            continue
        row, column = cell // n_columns, cell % n_columns
        for k in range(8):
            r, c = row + _ROW_STEP[k], column + _COLUMN_STEP[k]
            if r < 0 or c < 0 or r >= n_rows or c >= n_columns:
                continue
            if downstream[r * n_columns + c] == NOT_RESOLVED and height[r, c] == height[row, column]:
                front[n_front] = cell
                n_front += 1
                break
    _spread(downstream, height, front, n_front)
    for only_outlets in (True, False):
        n_front = 0
        for cell in range(downstream.size):
            if downstream[cell] == NOT_RESOLVED and (outlet[cell] or not only_outlets):
                downstream[cell] = cell
                front[n_front] = cell
                n_front += 1
        _spread(downstream, height, front, n_front)


@njit(cache=True)
def flow_sequence(downstream: np.ndarray) -> tuple[np.ndarray, int]:
    """Cells from downstream to upstream, and the number of cells that run in circles (they are left out)."""
    inflows = np.zeros(downstream.size, np.int8)
    n_valid = 0
    for cell in range(downstream.size):
        target = downstream[cell]
        if target >= 0:
            n_valid += 1
            if target != cell:
                inflows[target] += 1
    sequence = np.empty(n_valid, downstream.dtype)
    place = n_valid
    for start in range(downstream.size):
        if downstream[start] < 0 or inflows[start] != 0:
            continue
        cell = start
        while True:
            place -= 1
            sequence[place] = cell
            inflows[cell] = -1
            target = downstream[cell]
            if target == cell:
                break
            inflows[target] -= 1
            if inflows[target] != 0:
                break
            cell = target
    return sequence[place:], place


@njit(cache=True)
def crop_network(downstream: np.ndarray, inside: np.ndarray, first_row: int, last_row: int, first_column: int,
                 last_column: int) -> np.ndarray:
    """Next cells of the cells ``inside`` on a part of the grid; who drains to a cell that is not, becomes a pit."""
    n_columns, n_kept = inside.shape[1], last_column - first_column
    part = np.full((last_row - first_row) * n_kept, -1, np.int32)
    for row in range(first_row, last_row):
        for column in range(first_column, last_column):
            if not inside[row, column]:
                continue
            cell = (row - first_row) * n_kept + column - first_column
            target = downstream[row * n_columns + column]
            r, c = target // n_columns, target % n_columns
            part[cell] = (r - first_row) * n_kept + c - first_column if inside[r, c] else cell
    return part


@njit(cache=True)
def link_length(cell: int, target: int, n_columns: int, width: float, depth: float) -> float:
    """Distance between the centres of two cells, m."""
    return np.hypot((cell // n_columns - target // n_columns) * depth, (cell % n_columns - target % n_columns) * width)


@njit(cache=True)
def distance_to_edge(downstream: np.ndarray, sequence: np.ndarray, zone: np.ndarray, channel: np.ndarray,
                     n_columns: int, width: float, depth: float) -> np.ndarray:
    """Length of the flow path to a channel or to where it leaves the cell's zone, m.

    A channel lies in the middle of its cell, so the ground of a channel cell is a quarter of a cell away from it on
    average; the edge of a zone lies half-way to the next cell.

    Parameters
    ----------
    zone : ndarray (cell,)
        Identifier; 0 outside.
    channel : ndarray bool (cell,)

    Returns
    -------
    ndarray float32 (cell,)
    """
    distance = np.zeros(downstream.size, np.float32)
    quarter = 0.125 * (width + depth)
    for cell in sequence:
        target = downstream[cell]
        if channel[cell] or target == cell:
            distance[cell] = quarter
            continue
        link = link_length(cell, target, n_columns, width, depth)
        if zone[target] != zone[cell]:
            distance[cell] = 0.5 * link
        elif channel[target]:
            distance[cell] = link
        else:
            distance[cell] = link + distance[target]
    return distance


@njit(cache=True)
def trace_reaches(outlets: np.ndarray, main_upstream: np.ndarray, zone: np.ndarray, cells: np.ndarray,
                  least: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Main stem of each sub-basin, from its outlet up to its border or to the head of the channel.

    Parameters
    ----------
    outlets : ndarray (subbasin,)
        Outlet cell.
    main_upstream : ndarray (cell,)
        Upstream neighbour of the largest drainage area; -1 at a divide.
    zone, cells : ndarray (cell,)
        Identifier of the sub-basin; number of cells drained.
    least : ndarray (subbasin,)
        Number of cells drained at the head of a channel.

    Returns
    -------
    start : ndarray int64 (subbasin + 1,)
        Where the path of each begins.
    path : ndarray int64
        Cells from upstream to downstream.
    """
    start = np.zeros(outlets.size + 1, np.int64)
    for k in range(outlets.size):
        cell, n = outlets[k], 0
        while cell >= 0 and zone[cell] == zone[outlets[k]] and (n == 0 or cells[cell] >= least[k]):
            n += 1
            cell = main_upstream[cell]
        start[k + 1] = start[k] + n
    path = np.empty(start[-1], np.int64)
    for k in range(outlets.size):
        cell = outlets[k]
        for place in range(start[k + 1] - 1, start[k] - 1, -1):
            path[place] = cell
            cell = main_upstream[cell]
    return start, path


@njit(cache=True)
def group_cells(zone: np.ndarray, n_zones: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells of the zones 1 to ``n_zones``, zone after zone, and where each begins."""
    start = np.zeros(n_zones + 2, np.int64)
    for cell in range(zone.size):
        start[zone[cell] + 1] += 1
    start[1] = 0
    for k in range(1, n_zones + 1):
        start[k + 1] += start[k]
    place = start.copy()
    members = np.empty(start[-1], np.int32)
    for cell in range(zone.size):
        if zone[cell] > 0:
            members[place[zone[cell]]] = cell
            place[zone[cell]] += 1
    return start[1:], members


@njit(cache=True)
def cut_zone(height: np.ndarray, n_bands: int, equal_area: bool, least: float) -> np.ndarray:
    """Upper edges of the bands of one sub-basin, the highest first; the lowest band has no lower edge.

    Parameters
    ----------
    height : ndarray (cell,)
        Elevations, sorted upwards.
    least : float
        Fewest cells of a band; smaller ones join the one below, the last joins the one above.

    Returns
    -------
    ndarray (bands - 1,)
        Band k holds what lies at or above edge k and below edge k - 1.
    """
    n = height.size
    edges = np.empty(max(n_bands - 1, 0), height.dtype)
    n_edges = 0
    above = n  # first place of the bands that are cut
    for k in range(1, n_bands):
        share = 1.0 - k / n_bands
        edge = height[int(n * share)] if equal_area else height[0] + (height[-1] - height[0]) * share
        first = np.searchsorted(height, edge)
        if above - first >= max(least, 1.0) and first >= max(least, 1.0):
            edges[n_edges] = edge
            n_edges += 1
            above = first
    return edges[:n_edges]


@njit(cache=True)
def assign_bands(start: np.ndarray, members: np.ndarray, height: np.ndarray, number: np.ndarray, equal_area: bool,
                 least: float) -> tuple[np.ndarray, np.ndarray]:
    """Contour band of every cell and number of bands of every sub-basin.

    Parameters
    ----------
    start, members : ndarray
        From :func:`group_cells`.
    height : ndarray (cell,)
        Elevation, m.
    number : ndarray int (subbasin,)
        Most bands of each.

    Returns
    -------
    unit : ndarray int32 (cell,)
        Identifier from 1, running through the sub-basins and from ridge to river; 0 outside.
    found : ndarray int64 (subbasin,)
    """
    unit = np.zeros(height.size, np.int32)
    found = np.zeros(number.size, np.int64)
    first = 1
    for k in range(number.size):
        cells = members[start[k]:start[k + 1]]
        edges = cut_zone(np.sort(height[cells]), number[k], equal_area, least)
        for cell in cells:
            band = 0
            while band < edges.size and height[cell] < edges[band]:
                band += 1
            unit[cell] = first + band
        found[k] = edges.size + 1
        first += found[k]
    return unit, found


@njit(cache=True)
def zone_sums(zone: np.ndarray, n_zones: int, values: np.ndarray) -> np.ndarray:
    """Sum of a variable over each of the zones 1 to ``n_zones``, in double precision."""
    total = np.zeros(n_zones)
    for cell in range(zone.size):
        if zone[cell] > 0:
            total[zone[cell] - 1] += values[cell]
    return total


@njit(cache=True)
def zone_places(zone: np.ndarray, n_zones: int, n_columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of cells, mean row and mean column of each of the zones 1 to ``n_zones``."""
    count = np.zeros(n_zones, np.int64)
    row = np.zeros(n_zones)
    column = np.zeros(n_zones)
    for cell in range(zone.size):
        if zone[cell] > 0:
            k = zone[cell] - 1
            count[k] += 1
            row[k] += cell // n_columns
            column[k] += cell % n_columns
    return count, row / count, column / count


@njit(cache=True)
def zone_range(zone: np.ndarray, n_zones: int, values: np.ndarray) -> np.ndarray:
    """Largest less smallest value in each of the zones 1 to ``n_zones``."""
    low = np.full(n_zones, np.inf)
    high = np.full(n_zones, -np.inf)
    for cell in range(zone.size):
        if zone[cell] > 0:
            k = zone[cell] - 1
            low[k] = min(low[k], values[cell])
            high[k] = max(high[k], values[cell])
    return high - low
