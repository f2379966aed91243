"""Repeats the steps of a crash file on the CPU reference and says, process by process, what went in and came out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wepl import backends, registry, rows
from wepl.run import isolate
from wepl.run.crash import Crash, read
from wepl.run.guard import described
from wepl.run.model import problem_text
from wepl.run.result_schema import version

_ENERGY = ("net_radiation", "latent_heat", "sensible_heat", "ground_heat")


@dataclass(frozen=True)
class Replay:
    """What the replay found: the text to print, and whether the fault came again."""

    text: str
    reproduced: bool


def replay(path: Path) -> Replay:
    """Repeat the steps of a crash file.

    Parameters
    ----------
    path : Path
        The crash file of a failed run.

    Raises
    ------
    InputError
        The file cannot be used.
    """
    crash = read(path)
    device = backends.create("cpu", "float64", 1)
    steps = list(isolate.repeat(crash.isolated, device))
    last = steps[-1]
    reproduced, verdict = _verdict(crash, last)
    facts = crash.facts
    lines = [described(crash.fault),
             f"run:      {facts.get('backend')}, {facts.get('precision')}, wepl {facts.get('wepl_version')}, options "
             f"changed: {facts.get('options_changed')}",
             f"replayed: cpu, float64, wepl {version()}, sub-basin {crash.subbasin} alone", ""]
    if len(steps) > 1:
        lines += [f"{len(steps) - 1} steps from {crash.times[0]} on went well", ""]
    lines += [f"step of {crash.times[last.number]}", *_weather(crash, last), *_processes(crash, last),
              *_states(crash, last), "", verdict]
    return Replay("\n".join(lines), reproduced)


def _verdict(crash: Crash, step: isolate.Step) -> tuple[bool, str]:
    fault = crash.fault
    if step.problem is not None:
        stage, place, code = step.problem
        same = (stage, (place,), code) == (fault.stage, fault.place, fault.code)
        found = f"the {stage} stage ends with: {problem_text(code)}"
    elif step.wrong is not None:
        entry, position, value = step.wrong
        same = (entry.name, position) == (fault.variable, fault.place)
        found = f"{entry.name} is {value:g} {entry.units}, outside {entry.valid[0]:g} to {entry.valid[1]:g}"
    else:
        return False, (f"not reproduced: nothing goes wrong on the CPU in float64, so look at the arithmetic of "
                       f"{crash.facts.get('backend')} in {crash.facts.get('precision')}")
    return same, f"{'reproduced' if same else 'another fault, or in another place'}: {found}"


def _weather(crash: Crash, step: isolate.Step) -> Iterator[str]:
    """The air over the unit, or the range over the sub-basin's units."""
    yield "  weather"
    units = _units(crash)
    for row, entry in enumerate(registry.layout("weather")):
        yield f"    {entry.name:<24} {_range(step.weather[row, units])} {entry.units}"


def _units(crash: Crash) -> np.ndarray:
    fault = crash.fault
    if fault.dim == "tile":
        return crash.isolated.arrays.unit_of_tile[[fault.place[-1]]]
    return np.array([fault.place[-1]]) if fault.dim == "unit" else np.arange(crash.units.size)


def _processes(crash: Crash, step: isolate.Step) -> Iterator[str]:
    """Each declared budget at the place: what went in, what came out, what is stored, and what is left over."""
    tile = crash.fault.dim == "tile"
    yield f"  processes, {'m over the tile' if tile else 'm3 in the sub-basin'}"
    for balance in registry.BALANCES:
        if (balance.place == "tile") != tile:
            continue
        went_in = {name: _amount(crash, step.after, name) for name in balance.inflow}
        came_out = {name: _amount(crash, step.after, name) for name in balance.outflow}
        stored = {name: (_amount(crash, step.before, name), _amount(crash, step.after, name))
                  for name in balance.storage}
        left = sum(went_in.values()) - sum(came_out.values()) - sum(after - before for before, after in stored.values())
        yield f"    {balance.process}"
        for title, terms in (("in", went_in), ("out", came_out)):
            yield from (f"      {title:<7} {name:<24} {value:.9g}" for name, value in terms.items())
        yield from (f"      stored  {name:<24} {before:.9g} -> {after:.9g}" for name, (before, after) in stored.items())
        yield f"      left over                        {left:.3g}"
    if tile:
        yield "    energy, J m-2"
        yield from (f"      {name:<32} {_amount(crash, step.after, name):.9g}" for name in _ENERGY)


def _amount(crash: Crash, held: dict[str, np.ndarray], name: str) -> float:
    """A flux of the step or a storage at the place of the fault: m over the tile, or m3 in the sub-basin."""
    entry, values = registry.variable(name), held[name]
    if crash.fault.dim == "tile":
        return float(values[..., crash.fault.place[-1]].sum())
    parameters = crash.isolated.arrays.values
    if name == "groundwater_head":
        return float(values[0] * parameters["subbasin_parameter"][rows.YIELD_AREA, 0])
    if entry.dims == ("unit",):
        return float((values * parameters["unit_parameter"][rows.AREA]).sum())
    if entry.dims == ("river_cell",):
        return float(values.sum())
    area = parameters["subbasin_parameter"][rows.SUBBASIN_AREA, 0]
    return float(values[0] * area) if entry.units == "m" else float(values[0])


def _states(crash: Crash, step: isolate.Step) -> Iterator[str]:
    """The states at the place before and after, and whether the guard accepts them."""
    yield "  states"
    fault = crash.fault
    for entry in registry.of_kind("state"):
        if (entry.dims[-1] == "tile") != (fault.dim == "tile"):
            continue
        for label, place in _positions(entry, fault.dim, fault.place[-1], step.after[entry.name]):
            before, after = float(step.before[entry.name][place]), float(step.after[entry.name][place])
            low, high = entry.valid
            note = "" if low <= after <= high else f"   outside {low:g} to {high:g}"
            unit = "" if entry.units == "1" else f" {entry.units}"
            yield f"    {entry.name + label:<26} {before:.9g} -> {after:.9g}{unit}{note}"


def _positions(entry: registry.Variable, dim: str, last: int,
               values: np.ndarray) -> Iterator[tuple[str, tuple[int, ...]]]:
    if len(entry.dims) == 2:
        yield from ((f" layer {layer + 1}", (layer, last)) for layer in range(values.shape[0]))
    elif entry.dims == ("tile",) or entry.dims == (dim,):
        yield "", (last,)
    elif entry.dims == ("subbasin",):
        yield "", (0,)
    else:
        yield from ((f" {place + 1}", (place,)) for place in range(values.size))


def _range(values: np.ndarray) -> str:
    low, high = float(np.min(values)), float(np.max(values))
    return f"{low:.9g}" if low == high or not low <= high else f"{low:.9g} to {high:.9g}"
