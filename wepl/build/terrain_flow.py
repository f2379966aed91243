"""Flow directions of a catchment from elevations or from a raster of directions, and its outlets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.build import terrain_kernels as kernels
from wepl.build.terrain_raster import Grid
from wepl.errors import InputError

if TYPE_CHECKING:
    from rasterio.crs import CRS

_NODATA = -9999.0
_ACCUMULATION_TOLERANCE = 0.05
# Clockwise from north in the powers of two of ESRI, which pyflwdir takes; 0 and below are pits.
_ONE_IS_NORTH = np.array([0, 64, 128, 1, 2, 4, 8, 16, 32], np.uint8)
_ESRI_DIRECTIONS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 255)


@dataclass
class Flow:
    """Flow network over the cells of a grid, numbered row by row.

    Attributes
    ----------
    shape : tuple
        Rows and columns.
    width, depth : float
        Size of a cell along the row and along the column, m.
    downstream : ndarray int32 (cell,)
        Next cell; its own at a pit; -1 outside.
    sequence : ndarray (cell,)
        Cells from downstream to upstream.
    cells : ndarray int32 (cell,)
        Number of cells drained, with its own; 0 outside.
    """

    shape: tuple[int, int]
    width: float
    depth: float
    downstream: np.ndarray
    sequence: np.ndarray
    cells: np.ndarray

    @property
    def cell_km2(self) -> float:
        """Area of a cell, km2."""
        return self.width * self.depth / 1e6

    @property
    def pits(self) -> np.ndarray:
        """Cells from which nothing flows on."""
        return self.sequence[self.downstream[self.sequence] == self.sequence]

    def main_upstream(self) -> np.ndarray:
        """Upstream neighbour of the largest drainage area; -1 at a divide."""
        from pyflwdir import core

        return core.main_upstream(self.downstream, self.cells)

    def basins(self, outlets: np.ndarray) -> np.ndarray:
        """Number from 1, by place in ``outlets``, of the outlet that each cell reaches first; 0 where none."""
        from pyflwdir import basins

        return basins.basins(self.downstream, outlets, self.sequence,
                             np.arange(1, outlets.size + 1, dtype=np.int32))


def network(downstream: np.ndarray, grid: Grid) -> tuple[Flow, int]:
    """Flow network from next cells, and the number of cells that run in circles."""
    from pyflwdir import streams

    sequence, n_circling = kernels.flow_sequence(downstream)
    own = np.zeros(downstream.size, np.int32)
    own[sequence] = 1
    cells = streams.accuflux(downstream, sequence, own, -1)
    width, depth = abs(grid.transform.a), abs(grid.transform.e)
    return Flow(grid.values.shape, width, depth, downstream, sequence, cells), n_circling


def outer_edge(valid: np.ndarray) -> np.ndarray:
    """Cells at the frame or beside missing cells that reach the frame; holes in the data let no water out."""
    from scipy import ndimage

    edge = np.zeros(valid.shape, bool)
    edge[0], edge[-1], edge[:, 0], edge[:, -1] = True, True, True, True
    if not valid.all():
        labels = ndimage.label(~valid)[0]
        frame = np.unique(labels[edge])
        outside = np.isin(labels, frame[frame > 0])
        edge |= ndimage.binary_dilation(outside, np.ones((3, 3), bool))
    return edge & valid


def raise_pits(elevation: np.ndarray, outlets: np.ndarray) -> np.ndarray:
    """Elevations with pits filled to the brim, -9999 where they are missing.

    Parameters
    ----------
    elevation : ndarray float32 (row, column)
        m; NaN where missing.
    outlets : ndarray
        Cells over which water may leave.
    """
    from pyflwdir import dem

    height = np.where(np.isnan(elevation), np.float32(_NODATA), elevation)
    return dem.fill_depressions(height, idxs_pit=outlets, nodata=_NODATA)[0]


def from_elevation(grid: Grid, outlets: np.ndarray | None = None) -> tuple[Flow, np.ndarray]:
    """Flow network down the steepest descent, and the elevations with pits filled.

    Pits are filled by pyflwdir (Wang and Liu 2006). Its own directions follow the lowest neighbour, which on an even
    slope is a diagonal one, so that the steepest neighbour is taken here; flats drain the shortest way out.

    Parameters
    ----------
    grid : Grid
        Elevation, m.
    outlets : ndarray, optional
        The only cells over which water may leave; the outer edge when None.
    """
    if outlets is None:
        outlets = np.flatnonzero(outer_edge(np.isfinite(grid.values)))
    height = raise_pits(grid.values, outlets)
    width, depth = abs(grid.transform.a), abs(grid.transform.e)
    downstream = kernels.steepest_descent(height, _NODATA, width, depth)
    may_leave = np.zeros(height.size, bool)
    may_leave[outlets] = True
    kernels.resolve_flats(downstream, height, may_leave)
    return network(downstream, grid)[0], height


def from_directions(grid: Grid, encoding: str, name: str) -> tuple[Flow, int]:
    """Flow network of a raster of D8 directions, and the number of cells that run in circles.

    Parameters
    ----------
    grid : Grid
        Codes; NaN where missing.
    encoding : str
        "esri" (1 east, clockwise in powers of two), "ldd" (keypad of PCRaster) or "1n_clockwise" (1 north to 8
        north-west).

    Raises
    ------
    InputError
        A code that the encoding does not have.
    """
    from pyflwdir import core_d8, core_ldd

    known = {"esri": _ESRI_DIRECTIONS, "ldd": tuple(range(1, 10)), "1n_clockwise": tuple(range(9))}
    if encoding not in known:
        raise InputError(f"d8_encoding = {encoding!r}: choose from {', '.join(known)}")
    missing = np.isnan(grid.values)
    if encoding == "esri":
        missing |= grid.values == core_d8._mv
    codes = np.where(missing, 0, grid.values)
    wrong = ~np.isin(codes, (0, *known[encoding])) | ((codes == 0) & ~missing & (0 not in known[encoding]))
    if wrong.any():
        raise InputError(f"{name}: {np.unique(codes[wrong])[:5].tolist()} are no directions of the encoding "
                         f"{encoding}: check d8_encoding and the raster's nodata value")
    decoder = core_ldd if encoding == "ldd" else core_d8
    codes = codes.astype(np.uint8)
    if encoding == "1n_clockwise":
        codes = _ONE_IS_NORTH[codes]
    codes[missing] = decoder._mv
    downstream = decoder.from_array(codes, dtype=np.int32)[0]
    return network(downstream, grid)


def check_accumulation(flow: Flow, given: np.ndarray, outlets: np.ndarray, name: str) -> None:
    """Compare a given raster of drainage areas (cells, m2 or km2) with the directions at the outlets.

    Raises
    ------
    InputError
        They differ by more than 5 per cent, as where the catchment reaches beyond the raster.
    """
    given = given.ravel()[outlets].astype(float)
    found = flow.cells[outlets].astype(float)
    factors = {"cells": 1.0, "m2": flow.cell_km2 * 1e6, "km2": flow.cell_km2}
    # Some programs leave the cell itself out.
    error = {unit: np.nanmax(np.minimum(abs(given / factor - found), abs(given / factor + 1.0 - found)) / found)
             for unit, factor in factors.items()}
    unit = min(error, key=lambda key: error[key])
    if not error[unit] <= _ACCUMULATION_TOLERANCE:
        raise InputError(f"{name}: at the outlets it differs by {100.0 * error[unit]:.3g} % from what the directions "
                         "drain: give directions of the whole catchment, in the same cells")


def choose_outlets(flow: Flow, wanted: Any, least_cells: float, crs: CRS, grid: Grid, given_crs: CRS,
                   search: float) -> np.ndarray:
    """Cells at which the catchment ends, those of the largest area first.

    Parameters
    ----------
    wanted : str or list of pairs
        "largest", "all" (pits with at least ``least_cells``), or places in ``given_crs``, which move to the nearest
        stream within ``search`` m.

    Raises
    ------
    InputError
        No pit is large enough, a place has no stream near it, or one lies upstream of another.
    """
    if isinstance(wanted, str):
        pits = flow.pits
        pits = pits[np.lexsort((pits, -flow.cells[pits].astype(np.int64)))]
        if wanted == "largest":
            return pits[:1]
        chosen = pits[flow.cells[pits] >= least_cells]
        if not chosen.size:
            raise InputError(f"outlets: no catchment reaches {least_cells * flow.cell_km2:g} km2: the largest has "
                             f"{flow.cells[pits[0]] * flow.cell_km2:.4g} km2; give a lower stream_threshold_km2")
        return chosen
    return _outlets_at(flow, wanted, least_cells, crs, grid, given_crs, search)


def _outlets_at(flow: Flow, places: list, least_cells: float, crs: CRS, grid: Grid, given_crs: CRS,
                search: float) -> np.ndarray:
    from rasterio.warp import transform

    x, y = transform(given_crs, crs, [float(place[0]) for place in places], [float(place[1]) for place in places])
    chosen = []
    for k, place in enumerate(zip(x, y, strict=True)):
        near, distance = cells_near(flow, grid, *place, search)
        stream = flow.cells[near] >= least_cells
        if not stream.any():
            raise InputError(f"outlets[{k}] = {list(places[k])}: no stream of {least_cells * flow.cell_km2:g} km2 "
                             f"within {search:g} m: check its coordinates, which are those of the raster")
        near, distance = near[stream], distance[stream]
        chosen.append(int(near[np.lexsort((-flow.cells[near].astype(np.int64), distance))[0]]))
    outlets = np.array(chosen, flow.downstream.dtype)
    for k, cell in enumerate(outlets):
        below = flow.downstream[cell]
        while below != flow.downstream[below] and below not in outlets:
            below = flow.downstream[below]
        if below != cell and below in outlets:
            other = int(np.flatnonzero(outlets == below)[0])
            raise InputError(f"outlets[{k}] lies upstream of outlets[{other}]: name it as a gauge instead")
    if np.unique(outlets).size != outlets.size:
        raise InputError("outlets: two of them lie on the same cell: leave one out")
    return outlets[np.argsort(-flow.cells[outlets].astype(np.int64), kind="stable")]


def cells_near(flow: Flow, grid: Grid, x: float, y: float, search: float) -> tuple[np.ndarray, np.ndarray]:
    """Cells with a flow direction whose centre lies within a distance of a place, and these distances, m.

    The cell that holds the place always counts.
    """
    column, row = ~grid.transform * (x, y)
    n_rows, n_columns = flow.shape
    reach_columns, reach_rows = search / flow.width + 1.0, search / flow.depth + 1.0
    rows = np.arange(max(0, int(row - reach_rows)), min(n_rows, int(row + reach_rows) + 1))
    columns = np.arange(max(0, int(column - reach_columns)), min(n_columns, int(column + reach_columns) + 1))
    down = (rows[:, None] + 0.5 - row) * flow.depth
    across = (columns[None, :] + 0.5 - column) * flow.width
    distance = np.hypot(down, across)
    holds = (abs(down) <= 0.5 * flow.depth) & (abs(across) <= 0.5 * flow.width)
    cells = rows[:, None] * n_columns + columns[None, :]
    near = ((distance <= search) | holds) & (flow.cells[cells] > 0)
    return cells[near], distance[near]


def crop(flow: Flow, grid: Grid, outlets: np.ndarray) -> tuple[Flow, Grid, np.ndarray, tuple[slice, slice]]:
    """Flow network, grid and outlets of the catchments of the outlets alone, and the rows and columns that are kept."""
    from affine import Affine

    inside = flow.basins(outlets).reshape(flow.shape) > 0
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    downstream = kernels.crop_network(flow.downstream, inside, rows[0], rows[-1] + 1, columns[0], columns[-1] + 1)
    shape = (rows[-1] + 1 - rows[0], columns[-1] + 1 - columns[0])
    moved = (outlets // flow.shape[1] - rows[0]) * shape[1] + outlets % flow.shape[1] - columns[0]
    small = Grid(grid.crs, grid.transform * Affine.translation(columns[0], rows[0]), grid.values[part])
    return network(downstream, small)[0], small, moved.astype(np.int32), part
