"""The model on a device: its arrays, and one block of time through the four stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wepl import registry, rows
from wepl.backends import Backend
from wepl.errors import NumericalError
from wepl.kernels import buffers
from wepl.run.assembly import Arrays
from wepl.run.outputs import Selection

STATES = ("tile_state", "soil_state", "unit_state", "subbasin_state", "river_state")
TOTALS = ("tile_flux", "subbasin_flux")
# Rounding of one step relative to the water in the column, by precision: some tens of operations.
_STEP_CLOSURE = {"float64": 1e-12, "mixed": 1e-5, "float32": 1e-5}
# A storage may end a rounding of its sums below zero (m, and m3 in rivers).
SLACK = 1e-6
_PROBLEMS = {
    rows.NOT_FINITE: "a value is not finite",
    rows.NOT_CONVERGED: "an iteration did not converge",
    rows.NEGATIVE_STORAGE: "a storage fell below zero",
    rows.OUT_OF_BALANCE: "the water balance of the step does not close",
}


@dataclass(frozen=True)
class Staged:
    """One block's input on the device, or on its way there: number of steps and arrays by name."""

    n_steps: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Block:
    """What one block hands to the writer: ``series[row, step, subbasin]`` means and the columns' record."""

    series: np.ndarray
    record: np.ndarray


class Model:
    """A basin's arrays on one backend.

    Parameters
    ----------
    backend : Backend
        Where the kernels run.
    arrays : Arrays
        The assembled basin on the host.
    selection : Selection
        Variables that the columns record.
    step_seconds : float
        Forcing step, s.
    block_steps : int
        Largest number of steps in a block: sizes the block arrays.
    given : tuple of bool
        Whether the forcing has shortwave and longwave radiation.
    """

    def __init__(self, backend: Backend, arrays: Arrays, selection: Selection, step_seconds: float, block_steps: int,
                 given: tuple[bool, bool]) -> None:
        self.backend = backend
        self.arrays = arrays
        self.n_route = route_steps(arrays, step_seconds)
        self.block_steps = block_steps
        option = arrays.values["option"].copy()
        option[rows.STEP_CLOSURE] = _STEP_CLOSURE[backend.precision]
        values = {name: backend.upload(option if name == "option" else array, buffers.buffer(name).dtype)
                  for name, array in arrays.values.items()}
        sizes = array_sizes(arrays, selection, block_steps, self.n_route)
        for table in buffers.KERNELS.values():
            for argument in table:
                if isinstance(argument, buffers.Buffer) and argument.name not in values and argument.name not in (
                        "calendar", "forcing", "vegetation"):
                    shape = tuple(sizes[dim] if isinstance(dim, str) else dim for dim in argument.dims)
                    values[argument.name] = backend.allocate(shape, argument.dtype)
        values["record_index"] = backend.upload(selection.record_index, "int32")
        self.values: dict[str, Any] = values
        self.scalars = {
            "n_units": sizes["unit"], "n_tiles": sizes["tile"], "n_subbasins": sizes["subbasin"],
            "n_route": self.n_route, "dt": float(step_seconds), "dt_route": step_seconds / self.n_route,
            "shortwave_given": int(given[0]), "longwave_given": int(given[1]),
        }
        # The states before the last block, on the device: where a crash is looked into.
        self.before: dict[str, Any] = {}

    def advance(self, forcing: np.ndarray, calendar: np.ndarray, vegetation: np.ndarray) -> Block:
        """Advance the basin through one block of forcing ``[row, step, cell]`` (internal units)."""
        return self.advance_staged(self.stage(forcing, calendar, vegetation))

    def stage(self, forcing: np.ndarray, calendar: np.ndarray, vegetation: np.ndarray) -> Staged:
        """Begin to bring a block's input to the device.

        Another thread may do so with the next block while :meth:`advance_staged` is at work on this one.
        """
        hosts = {"forcing": forcing, "calendar": calendar, "vegetation": vegetation}
        return Staged(forcing.shape[1], self.backend.stage({name: self._padded(host) for name, host in hosts.items()}))

    def advance_staged(self, staged: Staged) -> Block:
        """Advance the basin through one block whose input is staged."""
        n_steps = staged.n_steps
        self.before = {name: self.backend.copy(self.values[name]) for name in STATES}
        values = dict(self.values, **self.scalars, n_steps=n_steps, n_routes=n_steps * self.n_route)
        self.backend.settle(staged.values)
        values.update(staged.values)
        for kernel in ("weather", "column", "hillslope", "river"):
            self.backend.launch(kernel, values)
        series = self.backend.download(self.values["series"])[:, :n_steps * self.n_route]
        by_step = series.reshape(series.shape[0], n_steps, self.n_route, series.shape[2])
        mean = by_step[:, :, 0].copy()
        for route in range(1, self.n_route):
            mean += by_step[:, :, route]
        return Block(mean / self.n_route, self.backend.download(self.values["record"]))

    def _padded(self, host: np.ndarray) -> np.ndarray:
        """The block's input in an array of the full block length, so that shapes never change."""
        if host.shape[1] == self.block_steps:
            return host
        full = np.zeros((host.shape[0], self.block_steps, *host.shape[2:]))
        full[:, :host.shape[1]] = host
        return full

    def problem(self) -> tuple[str, int, int, int] | None:
        """The first thing that went wrong in the last block: stage, place, step and code; None when all is well."""
        found = []
        for stage in ("column", "hillslope", "river"):
            if not self.backend.extremes(self.values[f"{stage}_status"])[1][0]:
                continue
            code, step = self.backend.download(self.values[f"{stage}_status"])
            bad = np.flatnonzero(code)
            if bad.size:
                scale = 1 if stage == "column" else self.n_route
                # Of the reaches that go wrong in one routing step, the uppermost: the others have it from there.
                rank = np.argsort(self.arrays.values["level_list"]) if stage == "river" else np.arange(code.size)
                first = bad[np.lexsort((rank[bad], step[bad]))[0]]
                found.append((int(step[first]) // scale, stage, int(first), int(code[first])))
        if not found:
            return None
        step_number, stage, place, code = min(found)
        return stage, place, step_number, code

    def out_of_range(self) -> tuple[registry.Variable, tuple[int, ...], float] | None:
        """The first state that lies outside its registry range after the last block: entry, place and value."""
        for array in STATES:
            if not self.values[array].size:
                continue
            smallest, largest = self.backend.extremes(self.values[array])
            for row, entry in enumerate(registry.layout(array)):
                low, high = entry.valid
                if smallest[row] >= low - SLACK and largest[row] <= high:
                    continue
                values = self.backend.download(self.values[array])[row]
                bad = ~((values >= low - SLACK) & (values <= high))
                if bad.any():
                    place = tuple(int(index[0]) for index in np.nonzero(bad))
                    return entry, place, float(values[place])
        return None

    def state(self) -> dict[str, np.ndarray]:
        """Every restart variable of the registry by name, float64 on the host."""
        return self._named({name: self.values[name] for name in STATES + TOTALS})

    def state_before(self) -> dict[str, np.ndarray]:
        """The states (not the totals) before the last block by name, float64 on the host."""
        return self._named(self.before)

    def low_parts(self) -> dict[str, np.ndarray]:
        """The second numbers of float32 precision's pairs as ``NAME_low``; with them a state comes back bit for bit."""
        result: dict[str, np.ndarray] = {}
        for array in STATES + TOTALS:
            low = self.backend.low_part(self.values[array])
            if low is not None:
                names = [f"{entry.name}_low" for entry in registry.layout(array)]
                result |= dict(zip(names, low.astype(np.float64), strict=True))
        return result

    def _named(self, arrays: Mapping[str, Any]) -> dict[str, np.ndarray]:
        result = {}
        for array, values in arrays.items():
            host = self.backend.download(values).astype(np.float64)
            for row, entry in enumerate(registry.layout(array)):
                result[entry.name] = host[row].copy()
        return result

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Put restart variables back on the device, with the :meth:`low_parts` where the state has them."""
        pairs = self.backend.types["store"].kind == "c"
        for array in STATES + TOTALS:
            names = [entry.name for entry in registry.layout(array)]
            host = np.stack([state[name] for name in names])
            if pairs and all(f"{name}_low" in state for name in names):
                low = np.stack([state[f"{name}_low"] for name in names])
                # The sum in double precision is nearer to the first number than any other single precision number is.
                pair = np.empty(host.shape, self.backend.types["store"])
                pair.real, pair.imag = host - low, low
                host = pair
            self.values[array] = self.backend.upload(host, "store")

    def place_of_stage(self, stage: str, place: int, basin_units: np.ndarray, basin_subbasins: np.ndarray) -> str:
        """How a message calls a place of :meth:`problem`."""
        if stage != "column":
            return f"sub-basin {basin_subbasins[place]}"
        index = self.arrays.values["tile_index"][:, place]
        unit = basin_units[self.arrays.unit_order[index[rows.TILE_UNIT]]]
        return f"unit {unit}, land class {registry.LAND_CLASSES[index[rows.TILE_CLASS]]}"

    def raise_problem(self, basin_units: np.ndarray, basin_subbasins: np.ndarray, label: str) -> None:
        """Turn :meth:`problem` into an error that names process, place and time (``label``)."""
        problem = self.problem()
        assert problem is not None
        stage, place, _, code = problem
        where = self.place_of_stage(stage, place, basin_units, basin_subbasins)
        raise NumericalError(f"{stage} stage, {where}, {label}: {problem_text(code)}. Look at the forcing and "
                             "parameters of this place and time; no result was written")


def problem_text(code: int) -> str:
    """What a status code says."""
    return _PROBLEMS.get(code, f"status {code}")


def route_steps(arrays: Arrays, step_seconds: float) -> int:
    """Routing steps in one forcing step."""
    return round(step_seconds / arrays.values["option"][rows.ROUTING_STEP])


def array_sizes(arrays: Arrays, selection: Selection, block_steps: int, n_route: int) -> dict[str, int]:
    """Sizes of the dimensions of :mod:`wepl.kernels.buffers`."""
    values = arrays.values
    n_units, n_tiles = values["unit_cell"].size, values["tile_list"].size
    n_subbasins = values["level_list"].size
    return {
        "unit": n_units, "tile": n_tiles, "subbasin": n_subbasins, "unit+1": n_units + 1, "layer": arrays.n_layers,
        "subbasin+1": n_subbasins + 1, "step": block_steps, "route": block_steps * n_route,
        "record": len(selection.items), "river_cell": values["river_state"].shape[1],
        "link": values["upstream_list"].size, "level+1": values["level_start"].size,
    }
