"""One sub-basin taken out of a basin, so that a step of it can be repeated alone.

What flows in from upstream is given: reaches that hold no land and no water stand for the upstream ones, outside every
level of the network, and their discharge is filled in before each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from wepl import registry, rows
from wepl.backends import Backend
from wepl.run.assembly import Arrays
from wepl.run.model import TOTALS, Model, route_steps
from wepl.run.outputs import Selection


@dataclass(frozen=True)
class Isolated:
    """A sub-basin, its states at one moment, and what reached it in the steps that follow.

    Attributes
    ----------
    arrays : Arrays
        Kernel arrays of the sub-basin alone (position 0) and its stand-ins for upstream reaches.
    state : dict of str to ndarray
        States by registry name before the first step; those of sub-basins for position 0 only.
    forcing, calendar, vegetation : ndarray
        ``[row, step, cell]``, ``[row, step]`` and ``[row, step, kind]``.
    upstream : ndarray
        Discharge of the upstream reaches ``[step, routing step, reach]``, m3 s-1.
    step_seconds : float
    given : tuple of bool
        Whether the forcing has shortwave and longwave radiation.
    """

    arrays: Arrays
    state: dict[str, np.ndarray]
    forcing: np.ndarray
    calendar: np.ndarray
    vegetation: np.ndarray
    upstream: np.ndarray
    step_seconds: float
    given: tuple[bool, bool]

    @property
    def n_steps(self) -> int:
        """Steps that can be repeated."""
        return int(self.forcing.shape[1])

    def at(self, step: int, state: dict[str, np.ndarray]) -> Isolated:
        """The same with one step only, and the states before it."""
        here = slice(step, step + 1)
        return replace(self, state=state, forcing=self.forcing[:, here], calendar=self.calendar[:, here],
                       vegetation=self.vegetation[:, here], upstream=self.upstream[here])


@dataclass(frozen=True)
class Places:
    """Positions in the whole basin of what :class:`Isolated` holds."""

    subbasin: int
    units: np.ndarray
    tiles: np.ndarray
    river_cells: np.ndarray
    cells: np.ndarray

    def whole(self, dim: str, place: int) -> int:
        """The position in the whole basin of a position along ``dim`` here."""
        if dim == "subbasin":
            return self.subbasin
        return int({"tile": self.tiles, "unit": self.units, "river_cell": self.river_cells}[dim][place])


@dataclass(frozen=True)
class Step:
    """One repeated step: restart variables before and after (fluxes: of this step), weather, and what went wrong.

    ``problem`` is (stage, position, code) of a status, ``wrong`` (entry, position, value) of a state out of range.
    """

    number: int
    before: dict[str, np.ndarray]
    after: dict[str, np.ndarray]
    weather: np.ndarray
    problem: tuple[str, int, int] | None
    wrong: tuple[registry.Variable, tuple[int, ...], float] | None


def places_of(arrays: Arrays, subbasin: int) -> Places:
    """What belongs to a sub-basin."""
    values = arrays.values
    units = np.flatnonzero(arrays.subbasin_of_unit == subbasin)
    tiles = np.flatnonzero(arrays.subbasin_of_unit[arrays.unit_of_tile] == subbasin)
    first, last = values["cell_start"][subbasin:subbasin + 2]
    return Places(subbasin, units, tiles, np.arange(first, last), np.unique(values["unit_cell"][units]))


def upstream_of(arrays: Arrays, subbasin: int) -> np.ndarray:
    """Positions of the reaches that flow into a sub-basin's."""
    first, last = arrays.values["upstream_start"][subbasin:subbasin + 2]
    return np.asarray(arrays.values["upstream_list"][first:last])


def cut(arrays: Arrays, places: Places) -> Arrays:
    """Kernel arrays of one sub-basin; see :func:`topology` for those that say where things stand."""
    values = arrays.values
    index = values["tile_index"][:, places.tiles].copy()
    index[rows.TILE_UNIT] = np.searchsorted(places.units, index[rows.TILE_UNIT])
    unit_cell = np.searchsorted(places.cells, values["unit_cell"][places.units])
    n_upstream = upstream_of(arrays, places.subbasin).size
    made = topology(index, unit_cell, n_upstream, places.river_cells.size)
    made.n_layers = arrays.n_layers
    own = values["subbasin_parameter"][:, [places.subbasin]]
    made.values |= {
        "option": values["option"], "tile_parameter": values["tile_parameter"][:, places.tiles],
        "soil_parameter": values["soil_parameter"][..., places.tiles],
        "unit_parameter": values["unit_parameter"][:, places.units],
        "subbasin_parameter": np.repeat(own, 1 + n_upstream, axis=1),
        **empty_states(made, n_upstream, places.river_cells.size),
    }
    return made


def topology(tile_index: np.ndarray, unit_cell: np.ndarray, n_upstream: int, n_river_cells: int) -> Arrays:
    """The arrays that say where things stand, for one sub-basin with ``n_upstream`` reaches above it."""
    n_units, n_subbasins = unit_cell.size, 1 + n_upstream
    unit = tile_index[rows.TILE_UNIT]

    def starts(first: int, size: int) -> np.ndarray:
        return np.concatenate([[0], np.full(size, first)]).astype(np.int32)

    values = {
        "tile_index": tile_index.astype(np.int32), "unit_cell": unit_cell.astype(np.int32),
        "tile_list": np.argsort(unit, kind="stable").astype(np.int32),
        "tile_start": np.concatenate([[0], np.cumsum(np.bincount(unit, minlength=n_units))]).astype(np.int32),
        "unit_start": starts(n_units, n_subbasins), "cell_start": starts(n_river_cells, n_subbasins),
        "upstream_start": starts(n_upstream, n_subbasins),
        "upstream_list": np.arange(1, n_subbasins, dtype=np.int32),
        # The one level holds the sub-basin; nobody computes those above it.
        "level_list": np.arange(n_subbasins, dtype=np.int32), "level_start": np.array([0, 1], dtype=np.int32),
    }
    return Arrays(values, np.arange(n_units), np.zeros(n_units, dtype=int))


def empty_states(arrays: Arrays, n_upstream: int, n_river_cells: int) -> dict[str, np.ndarray]:
    """State arrays of zeros, by the names of :mod:`wepl.kernels.buffers`."""
    n_tiles, n_units = arrays.values["tile_list"].size, arrays.values["unit_cell"].size
    shapes = {"tile_state": (n_tiles,), "soil_state": (arrays.n_layers, n_tiles), "unit_state": (n_units,),
              "subbasin_state": (1 + n_upstream,), "river_state": (n_river_cells,)}
    return {name: np.zeros((rows.N_ROWS[name], *shape)) for name, shape in shapes.items()}


def isolate(model: Model, places: Places, forcing: np.ndarray, calendar: np.ndarray, vegetation: np.ndarray,
            step_seconds: float) -> Isolated:
    """Take a sub-basin out of a model whose last block went wrong, as it was before that block.

    Parameters
    ----------
    model : Model
    places : Places
        See :func:`places_of`.
    forcing, calendar, vegetation : ndarray
        The block's input for the whole basin.
    step_seconds : float
    """
    n_steps = forcing.shape[1]
    above = upstream_of(model.arrays, places.subbasin)
    discharge = model.backend.download(model.values["series"])[rows.DISCHARGE]
    along = {"tile": places.tiles, "unit": places.units, "subbasin": np.array([places.subbasin]),
             "river_cell": places.river_cells}
    state = {name: np.asarray(values[..., along[registry.variable(name).dims[-1]]], dtype=np.float64)
             for name, values in model.state_before().items()}
    given = (bool(model.scalars["shortwave_given"]), bool(model.scalars["longwave_given"]))
    upstream = discharge[:n_steps * model.n_route, above].astype(np.float64)
    upstream = upstream.reshape(n_steps, model.n_route, above.size)
    return Isolated(cut(model.arrays, places), state, forcing[..., places.cells], calendar, vegetation, upstream,
                    step_seconds, given)


def repeat(isolated: Isolated, backend: Backend) -> Iterator[Step]:
    """Repeat the steps one by one up to the first in which something goes wrong.

    The states of a step are the same bits as in a run of the whole basin on the same backend, since a run does not
    depend on how it is cut into blocks, but for pairs of single precision numbers, which may round once.
    """
    arrays = isolated.arrays
    model = Model(backend, arrays, Selection((), (), ()), isolated.step_seconds, 1, isolated.given)
    n_subbasins = arrays.values["level_list"].size
    start = model.state()
    for name, values in isolated.state.items():
        if registry.variable(name).dims == ("subbasin",):
            start[name][0] = values[0]
        else:
            start[name] = values
    model.set_state(start)
    n_route = route_steps(arrays, isolated.step_seconds)
    for number in range(isolated.n_steps):
        for array in TOTALS:
            model.values[array] = backend.allocate(tuple(model.values[array].shape), "store")
        series = np.zeros((rows.N_ROWS["series"], n_route, n_subbasins))
        series[rows.DISCHARGE, :, 1:] = isolated.upstream[number]
        model.values["series"] = backend.upload(series, "real")
        before = model.state()
        here = slice(number, number + 1)
        model.advance(isolated.forcing[:, here], isolated.calendar[:, here], isolated.vegetation[:, here])
        problem = model.problem()
        status = None if problem is None else (problem[0], problem[1], problem[3])
        wrong = model.out_of_range() if status is None else None
        weather = np.array(backend.download(model.values["weather"])[:, 0], dtype=np.float64)
        yield Step(number, before, model.state(), weather, status, wrong)
        if status is not None or wrong is not None:
            return
