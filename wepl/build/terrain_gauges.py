"""Moving discharge gauges onto the rivers of the flow network by their drainage area."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.build.terrain_flow import Flow, cells_near
from wepl.build.terrain_raster import Grid
from wepl.errors import InputError

if TYPE_CHECKING:
    from rasterio.crs import CRS

# At the far end of the search a place must fit the area by this much better than one at the gauge.
_DISTANCE_WEIGHT = 0.1
# A gauge that the outlet fits as well stands at the outlet, and no sliver of a sub-basin remains below it.
_SAME_AS_OUTLET = 0.005


@dataclass
class Snapped:
    """Gauges on the network; arrays over the gauges.

    Attributes
    ----------
    name : list of str
    cell : ndarray int64
        Cell of the flow network.
    given_km2, found_km2 : ndarray
        Drainage area as given (NaN where not) and at the cell.
    moved_m : ndarray
        Distance from the given place to the centre of the cell.
    """

    name: list[str]
    cell: np.ndarray
    given_km2: np.ndarray
    found_km2: np.ndarray
    moved_m: np.ndarray


def snap_gauges(gauges: list[Any], rule: Any, flow: Flow, grid: Grid, given_crs: CRS,
                threshold_cells: float) -> Snapped:
    """Place each gauge on the river.

    A gauge with a drainage area goes to the cell within the search distance at which the error of the area and a tenth
    of the share of the distance add to the least; one without goes to the nearest stream.

    Parameters
    ----------
    gauges : list
        Objects with name, x, y, area_km2 and crs; without ``crs`` a place is in degrees when it can be, else in
        ``given_crs``.
    rule : object
        ``search_m``, ``max_area_error`` and ``force``.
    threshold_cells : float
        Number of cells drained at the head of a stream.

    Raises
    ------
    InputError
        A name stands twice, or a gauge lies outside or fits no river; all such gauges are listed.
    """
    names = [gauge.name for gauge in gauges]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"gauges: {', '.join(twice)} stands more than once: give each gauge a name of its own")
    cells, moved, faults = [], [], []
    for gauge in gauges:
        try:
            found, distance = _snap(gauge, rule, flow, grid, given_crs, threshold_cells)
        except InputError as error:
            faults.append(str(error))
            continue
        cells.append(found)
        moved.append(distance)
    if faults:
        raise InputError("\n".join(faults))
    cell = np.array(cells, np.int64)
    given = np.array([np.nan if gauge.area_km2 is None else gauge.area_km2 for gauge in gauges], float)
    return Snapped(names, cell, given, flow.cells[cell] * flow.cell_km2, np.array(moved, float))


def _snap(gauge: Any, rule: Any, flow: Flow, grid: Grid, given_crs: CRS, threshold: float) -> tuple[int, float]:
    x, y = _place(gauge, grid.crs, given_crs)
    column, row = ~grid.transform * (x, y)
    near, distance = cells_near(flow, grid, x, y, rule.search_m)
    if gauge.area_km2 is not None:
        threshold = min(threshold, 0.5 * gauge.area_km2 / flow.cell_km2)
    stream = flow.cells[near] >= threshold
    where = f"gauge {gauge.name} at ({gauge.x:.10g}, {gauge.y:.10g})"
    if not stream.any():
        reach = max(flow.width, flow.depth) + rule.search_m
        out = min(row, column, flow.shape[0] - row, flow.shape[1] - column) * min(flow.width, flow.depth) < -reach
        raise InputError(f"{where}: it lies outside the catchment{' and its extent' if out else ''}, with no river "
                         f"within {rule.search_m:g} m: check its coordinates and crs, the outline and the outlets")
    near, distance = near[stream], distance[stream]
    if gauge.area_km2 is None:
        best = np.lexsort((-flow.cells[near].astype(np.int64), distance))[0]
        return int(near[best]), float(distance[best])
    error = abs(flow.cells[near] * flow.cell_km2 / gauge.area_km2 - 1.0)
    cost = error + _DISTANCE_WEIGHT * distance / max(rule.search_m, flow.width)
    best = int(np.lexsort((near, cost))[0])
    ends = np.flatnonzero((flow.downstream[near] == near) & (error <= error[best] + _SAME_AS_OUTLET)
                          & _drains_to(flow, near[best], near))
    best = int(ends[0]) if ends.size else best
    if error[best] > rule.max_area_error and not rule.force:
        raise InputError(f"{where}: the river that fits best within {rule.search_m:g} m drains "
                         f"{flow.cells[near[best]] * flow.cell_km2:.4g} km2, not {gauge.area_km2:g} km2 "
                         f"({100.0 * error[best]:.0f} % off, more than {100.0 * rule.max_area_error:g} %): check its "
                         "coordinates and area, widen search_m, or set force = true under [gauge_rule]")
    return int(near[best]), float(distance[best])


def _drains_to(flow: Flow, cell: int, others: np.ndarray) -> np.ndarray:
    """Whether each of some cells is the pit that a cell drains to."""
    while flow.downstream[cell] != cell:
        cell = flow.downstream[cell]
    return others == cell


def _place(gauge: Any, crs: CRS, given_crs: CRS) -> tuple[float, float]:
    """Coordinates on the grid, m."""
    from rasterio.crs import CRS
    from rasterio.errors import CRSError
    from rasterio.warp import transform

    if gauge.crs is not None:
        try:
            own = CRS.from_user_input(int(gauge.crs) if str(gauge.crs).isdigit() else gauge.crs)
        except CRSError as error:
            raise InputError(f"gauge {gauge.name}: crs = {gauge.crs!r} is no coordinate reference system: give an "
                             "EPSG code") from error
    else:
        own = CRS.from_epsg(4326) if abs(gauge.x) <= 180.0 and abs(gauge.y) <= 90.0 else given_crs
    x, y = transform(own, crs, [gauge.x], [gauge.y])
    if not (np.isfinite(x[0]) and np.isfinite(y[0])):
        raise InputError(f"gauge {gauge.name} at ({gauge.x:.10g}, {gauge.y:.10g}): no place on earth in its coordinate "
                         "system: check its coordinates and crs")
    return x[0], y[0]
