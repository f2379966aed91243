"""The guard of a run: after each block, what went wrong first, a crash file to repeat it from, the error."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry, rows
from wepl.errors import NumericalError, WeplError
from wepl.run import isolate
from wepl.run.crash import Crash, Fault, crash_path, write
from wepl.run.model import Model, problem_text

if TYPE_CHECKING:
    from wepl.basin.dataset import Basin
    from wepl.run.assembly import Arrays

# Steps of one block's input.
Tables = Callable[[int, int], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Guard:
    """What is needed to say what went wrong and to keep it.

    Attributes
    ----------
    basin : Basin
    arrays : Arrays
        The assembled basin.
    output : Path
        The result that the run writes.
    options, changes : mapping
        All options of the run, and those that the user gave.
    tables : callable
        Calendar and vegetation of steps ``first`` to ``last`` (not included).
    """

    basin: Basin
    arrays: Arrays
    output: Path
    options: Mapping[str, float]
    changes: Mapping[str, float | str]
    tables: Tables

    def check(self, model: Model, at: int, n_steps: int) -> None:
        """Look at the block of ``n_steps`` from step ``at`` that the model has just computed.

        Raises
        ------
        NumericalError
            Something went wrong; the message names what, where, when, the states around it and the crash file.
        """
        problem = model.problem()
        wrong = model.out_of_range() if problem is None else None
        if problem is not None:
            n_steps = problem[2] + 1
            places = isolate.places_of(self.arrays, self._subbasin("tile" if problem[0] == "column" else "subbasin",
                                                                   problem[1]))
            found = self._of_status(model, places, problem[0], problem[1], problem[3])
            found = replace(found, time=self.basin.clock.label(at + problem[2]), in_block=False)
        elif wrong is not None:
            places = isolate.places_of(self.arrays, self._subbasin(wrong[0].dims[-1], wrong[1][-1]))
            found = replace(self._of_range(*wrong, places), time=self.basin.clock.label(at))
        else:
            return
        calendar, vegetation = self.tables(at, at + n_steps)
        forcing = self.basin.forcing.read(at, at + n_steps)
        taken = isolate.isolate(model, places, forcing, calendar, vegetation, self.basin.clock.step_seconds)
        crash = self._located(model, places, taken, found, at)
        raise NumericalError(self._message(crash, self._write(crash)))

    def _located(self, model: Model, places: isolate.Places, taken: isolate.Isolated, found: Fault,
                 at: int) -> Crash:
        """The crash with its step alone, where repeating the sub-basin on the same backend shows it; else the block."""
        fault, first, kept = found, at, taken
        for step in isolate.repeat(taken, model.backend):
            if step.problem is None and step.wrong is None:
                continue
            if step.problem is not None:
                stage, place, code = step.problem
                whole = places.whole("tile" if stage == "column" else "subbasin", place)
                fault = self._of_status(model, places, stage, whole, code)
            elif step.wrong is not None:
                entry, position, value = step.wrong
                whole = places.whole(entry.dims[-1], position[-1])
                fault = self._of_range(entry, (*position[:-1], whole), value, places)
            first = at + step.number
            fault = replace(fault, time=self.basin.clock.label(first), in_block=False)
            state = {name: values[:1] if registry.variable(name).dims == ("subbasin",) else values
                     for name, values in step.before.items() if registry.variable(name).kind == "state"}
            kept = taken.at(step.number, state)
        parameters = self.basin.parameters
        units = parameters["unit"].values[self.arrays.unit_order[places.units]]
        times = tuple(self.basin.clock.label(first + step) for step in range(kept.n_steps))
        return Crash(fault, kept, units, int(parameters["subbasin"].values[places.subbasin]), times,
                     self._facts(model))

    def _facts(self, model: Model) -> dict[str, str]:
        return {"backend": model.backend.name, "precision": model.backend.precision, "basin_hash": self.basin.hash,
                "basin_file": str(self.basin.path or ""), "basin_title": self.basin.title,
                "calendar": self.basin.clock.calendar, "result_file": str(self.output),
                "options": json.dumps(dict(self.options), sort_keys=True),
                "options_changed": json.dumps(dict(self.changes), sort_keys=True)}

    def _subbasin(self, dim: str, place: int) -> int:
        arrays = self.arrays
        if dim == "tile":
            return int(arrays.subbasin_of_unit[arrays.unit_of_tile[place]])
        if dim == "unit":
            return int(arrays.subbasin_of_unit[place])
        if dim == "river_cell":
            return int(np.searchsorted(arrays.values["cell_start"], place, side="right")) - 1
        return place

    def _of_status(self, model: Model, places: isolate.Places, stage: str, place: int, code: int) -> Fault:
        parameters = self.basin.parameters
        where = model.place_of_stage(stage, place, parameters["unit"].values, parameters["subbasin"].values)
        here = int(np.searchsorted(places.tiles, place)) if stage == "column" else 0
        nothing = float("nan")
        return Fault(stage, "", code, problem_text(code), where, (here,), "", False, nothing, nothing, nothing)

    def _of_range(self, entry: registry.Variable, place: tuple[int, ...], value: float,
                  places: isolate.Places) -> Fault:
        low, high = entry.valid
        along = {"tile": places.tiles, "unit": places.units, "river_cell": places.river_cells,
                 "subbasin": np.array([places.subbasin])}[entry.dims[-1]]
        here = int(np.searchsorted(along, place[-1]))
        text = f"{entry.name} ({entry.long_name}) is {value:g} {entry.units}"
        return Fault("", entry.name, 0, text, self._where(entry, place), (*place[:-1], here), "", True, value, low,
                     high)

    def _where(self, entry: registry.Variable, place: tuple[int, ...]) -> str:
        """Words for a place of a state array."""
        parameters, arrays = self.basin.parameters, self.arrays
        last = place[-1]
        layer = f", soil layer {place[0] + 1}" if len(place) > 1 else ""
        if entry.dims[-1] == "tile":
            land = registry.LAND_CLASSES[arrays.values["tile_index"][rows.TILE_CLASS, last]]
            unit = parameters["unit"].values[arrays.unit_order[arrays.unit_of_tile[last]]]
            return f"in the {land} tile of unit {unit}{layer}"
        if entry.dims[-1] == "unit":
            return f"in unit {parameters['unit'].values[arrays.unit_order[last]]}"
        return f"in sub-basin {parameters['subbasin'].values[self._subbasin(entry.dims[-1], last)]}"

    def _write(self, crash: Crash) -> str:
        """Write the crash file; the sentence that tells of it."""
        path = crash_path(self.output)
        try:
            write(path, crash)
        except WeplError as error:
            return f"The crash file could not be written: {error}"
        return f"What is needed to repeat the step stands in {path}: python -m wepl replay {path}"

    def _message(self, crash: Crash, told: str) -> str:
        text = described(crash.fault)
        return (f"{text}. States before: {around(crash)}. Look at the forcing and parameters of this place and time; "
                f"no result was written. {told}")


def described(fault: Fault) -> str:
    """What went wrong, where and when."""
    when = f"in the block from {fault.time}" if fault.in_block else fault.time
    if fault.stage:
        return f"{fault.stage} stage, {fault.where}, {when}: {fault.text}"
    return f"{fault.text} {fault.where}, {when}, outside {fault.low:g} to {fault.high:g}"


def around(crash: Crash) -> str:
    """The states around a fault before the first step of the file: those of the tile, or of the sub-basin."""
    fault = crash.fault
    dim = fault.dim
    parts = []
    for name, values in crash.isolated.state.items():
        entry = registry.variable(name)
        if entry.dims[-1] == dim:
            shown = ", ".join(f"{value:.6g}" for value in np.atleast_1d(values[..., fault.place[-1]]))
        elif dim != "tile" and entry.dims[-1] in ("unit", "subbasin", "river_cell"):
            shown = f"{values.min():.6g} to {values.max():.6g}" if values.size > 1 else f"{values.item():.6g}"
        else:
            continue
        parts.append(f"{name} {shown}{f' {entry.units}' if entry.units != '1' else ''}")
    return "; ".join(parts)
