"""The crash file: one sub-basin with all that is needed to repeat the step that ended a run.

``OUT.crash.nc`` stands beside the result that was to be. It holds the kernel arrays of the sub-basin by the registry's
names, its states before the first step, the weather of the steps, what flowed in from upstream, and what went wrong.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

from wepl import registry, rows
from wepl.errors import InputError
from wepl.netcdf import LOCK, UNREADABLE, check_size, publish, temporary_path, write_failure
from wepl.paths import regular
from wepl.run.isolate import Isolated, empty_states, topology
from wepl.run.model import STATES
from wepl.run.result_schema import version

FORMAT = 1
# Dimensions of the rows of each kernel array in the file.
_DIMS: dict[str, tuple[str, ...]] = {
    "option": (), "tile_parameter": ("tile",), "soil_parameter": ("soil_layer", "tile"), "unit_parameter": ("unit",),
    "subbasin_parameter": ("subbasin",), "tile_state": ("tile",), "soil_state": ("soil_layer", "tile"),
    "unit_state": ("unit",), "subbasin_state": ("subbasin",), "river_state": ("river_cell",),
    "forcing": ("step", "cell"), "calendar": ("step",), "vegetation": ("step", "kind"),
}
_PARAMETERS = ("option", "tile_parameter", "soil_parameter", "unit_parameter", "subbasin_parameter")
DIMS_OF_STAGE = {"column": ("tile",), "hillslope": ("subbasin",), "river": ("subbasin",)}
_INDEX = ("tile_kind", "tile_unit", "tile_class", "vegetation_a", "vegetation_b")


@dataclass(frozen=True)
class Fault:
    """What went wrong: ``stage`` of a status or ``variable`` of a state, where (in words and as position) and when.

    ``place`` is the position along the dimensions of the variable (or the tile or sub-basin of the stage) in the crash
    file; ``time`` is the start of the step, or of the block when ``in_block``; ``low`` and ``high`` bound the variable.
    """

    stage: str
    variable: str
    code: int
    text: str
    where: str
    place: tuple[int, ...]
    time: str
    in_block: bool
    value: float
    low: float
    high: float

    @property
    def dim(self) -> str:
        """The dimension along which the place stands last."""
        return (DIMS_OF_STAGE[self.stage] if self.stage else registry.variable(self.variable).dims)[-1]


@dataclass(frozen=True)
class Crash:
    """A fault, the sub-basin in which it happened, identifiers of its units, the steps' times, and the run's facts."""

    fault: Fault
    isolated: Isolated
    units: np.ndarray
    subbasin: int
    times: tuple[str, ...]
    facts: dict[str, str]


def crash_path(output: Path) -> Path:
    """The crash file of a result."""
    return output.with_name(f"{output.stem}.crash.nc")


def fingerprint() -> str:
    """Hash of the rows of all kernel arrays that the file holds."""
    text = ";".join(f"{array}:{','.join(f'{entry.name} {entry.units}' for entry in registry.layout(array))}"
                    for array in _DIMS)
    return hashlib.sha256(text.encode()).hexdigest()


def write(path: Path, crash: Crash) -> None:
    """Write the file; it appears under its name only when it is complete.

    Raises
    ------
    WeplError
        Writing failed; nothing is left behind.
    """
    temporary = temporary_path(path)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    fault = {f"fault_{name}": value for name, value in asdict(crash.fault).items()}
    facts: dict[str, Any] = {
        "title": f"crash of a run: {crash.fault.text}", "history": f"{now} written by wepl {version()}",
        "wepl_content": "crash", "wepl_version": version(), "crash_format": FORMAT,
        "registry_fingerprint": fingerprint(), "step_seconds": crash.isolated.step_seconds, **crash.facts,
        **fault, "fault_in_block": int(crash.fault.in_block), "fault_place": list(crash.fault.place),
        "shortwave_given": int(crash.isolated.given[0]), "longwave_given": int(crash.isolated.given[1]),
    }
    try:
        with LOCK, netCDF4.Dataset(temporary, "w", format="NETCDF4") as file:
            _fill(file, crash)
            file.setncatts(facts)
        publish(temporary, path)
    except (OSError, RuntimeError) as error:
        raise write_failure(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _fill(file: netCDF4.Dataset, crash: Crash) -> None:
    isolated, values = crash.isolated, crash.isolated.arrays.values
    sizes = {"tile": values["tile_list"].size, "soil_layer": isolated.arrays.n_layers, "unit": crash.units.size,
             "subbasin": 1, "river_cell": int(values["cell_start"][1]), "step": isolated.n_steps,
             "cell": isolated.forcing.shape[2], "kind": isolated.vegetation.shape[2],
             "route": isolated.upstream.shape[1], "upstream": isolated.upstream.shape[2]}
    for dim, size in sizes.items():
        # A size of 0 would make the dimension unlimited: a sub-basin at the head of the network has no such variable.
        if size:
            file.createDimension(dim, size)
    given = {"forcing": isolated.forcing, "calendar": isolated.calendar, "vegetation": isolated.vegetation}
    for array, dims in _DIMS.items():
        for row, entry in enumerate(registry.layout(array)):
            if array in STATES:
                held = isolated.state[entry.name]
            else:
                held = given[array][row] if array in given else values[array][row]
            target = file.createVariable(entry.name, "f8", dims)
            target.setncatts({"long_name": entry.long_name, "units": entry.units})
            target[...] = held[:1] if array == "subbasin_parameter" else held
    for row, name in enumerate(_INDEX):
        file.createVariable(name, "i4", ("tile",))[...] = values["tile_index"][row]
    file.createVariable("unit_cell_position", "i4", ("unit",))[...] = values["unit_cell"]
    file.createVariable("unit_identifier", "i8", ("unit",))[...] = crash.units
    file.createVariable("subbasin_identifier", "i8", ("subbasin",))[...] = crash.subbasin
    file.createVariable("step_start", str, ("step",))[...] = np.array(crash.times, dtype=object)
    if sizes["upstream"]:
        file.createVariable("upstream_discharge", "f8", ("step", "route", "upstream"))[...] = isolated.upstream


def read(path: Path) -> Crash:
    """Read a crash file.

    Raises
    ------
    InputError
        The file is not there, is no crash file, is damaged, or was written with another registry.
    """
    if not path.exists():
        raise InputError(f"there is no file {path}; give the crash file that the message of the failed run names")
    regular(path, "a crash file")
    try:
        with LOCK, netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            content = getattr(file, "wepl_content", "")
            if content != "crash":
                raise InputError(f"{path} is not a crash file of wepl; it holds {content or 'something else'}")
            made_by = (getattr(file, "crash_format", None), getattr(file, "registry_fingerprint", ""))
            if made_by != (FORMAT, fingerprint()):
                raise InputError(f"{path} was written by wepl {getattr(file, 'wepl_version', '?')} with other "
                                 f"variables than those of this version, {version()}: replay it with that version")
            sizes = {str(name): int(variable.size) * 8 for name, variable in file.variables.items()}
            check_size(path, sizes)
            return _read(file)
    except UNREADABLE as error:
        raise InputError(f"{path} cannot be read as a crash file ({error}): it is damaged; run again to have it "
                         "written anew") from error


def _read(file: netCDF4.Dataset) -> Crash:
    arrays = {array: _stacked(file, array) for array in _DIMS}
    index = np.stack([np.asarray(file[name][...]) for name in _INDEX])
    unit_cell = np.asarray(file["unit_cell_position"][...])
    upstream = (np.asarray(file["upstream_discharge"][...]) if "upstream_discharge" in file.variables else
                np.zeros((file.dimensions["step"].size, file.dimensions["route"].size, 0)))
    _check(arrays, index, unit_cell, file.dimensions["kind"].size)
    _check_steps(float(file.step_seconds), arrays, upstream)
    n_upstream, n_river_cells = upstream.shape[2], arrays["river_state"].shape[1]
    made = topology(index, unit_cell, n_upstream, n_river_cells)
    made.n_layers = arrays["soil_state"].shape[1]
    made.values |= {name: arrays[name] for name in _PARAMETERS}
    made.values["subbasin_parameter"] = np.repeat(arrays["subbasin_parameter"], 1 + n_upstream, axis=1)
    made.values |= empty_states(made, n_upstream, n_river_cells)
    state = {entry.name: arrays[array][row] for array in STATES for row, entry in enumerate(registry.layout(array))}
    isolated = Isolated(made, state, arrays["forcing"], arrays["calendar"], arrays["vegetation"], upstream,
                        float(file.step_seconds), (bool(file.shortwave_given), bool(file.longwave_given)))
    facts = {name: str(file.getncattr(name)) for name in file.ncattrs() if not name.startswith("fault_")}
    fault = _fault(file)
    dims = DIMS_OF_STAGE[fault.stage] if fault.stage else registry.variable(fault.variable).dims
    if len(dims) != len(fault.place) or not all(
            0 <= index < file.dimensions[dim].size for dim, index in zip(dims, fault.place, strict=True)):
        raise ValueError(f"fault_place is {fault.place}, which is no place of {'/'.join(dims)}")
    return Crash(fault, isolated, np.asarray(file["unit_identifier"][...]),
                 int(file["subbasin_identifier"][0]), tuple(map(str, file["step_start"][...])), facts)


def _stacked(file: netCDF4.Dataset, array: str) -> np.ndarray:
    for entry in registry.layout(array):
        if file[entry.name].dimensions != _DIMS[array]:
            raise ValueError(f"{entry.name} stands on {file[entry.name].dimensions}, expected {_DIMS[array]}")
    return np.stack([np.asarray(file[entry.name][...], dtype=np.float64) for entry in registry.layout(array)])


def _fault(file: netCDF4.Dataset) -> Fault:
    held = {name.removeprefix("fault_"): file.getncattr(name) for name in file.ncattrs() if name.startswith("fault_")}
    place = tuple(int(index) for index in np.atleast_1d(held["place"]))
    stage, variable, text, where, time = (str(held[name]) for name in ("stage", "variable", "text", "where", "time"))
    value, low, high = (float(held[name]) for name in ("value", "low", "high"))
    return Fault(stage, variable, int(held["code"]), text, where, place, time, bool(held["in_block"]), value, low, high)


def _check(arrays: Mapping[str, np.ndarray], index: np.ndarray, unit_cell: np.ndarray, n_kinds: int) -> None:
    """Refuse positions outside their arrays and options outside their range: compiled code does not look."""
    n_units, n_cells = arrays["unit_state"].shape[1], arrays["forcing"].shape[2]
    bounds = {rows.TILE_KIND: (0, 2), rows.TILE_UNIT: (0, n_units - 1), rows.TILE_CLASS: (0, 4),
              rows.VEGETATION_A: (-1, n_kinds - 1), rows.VEGETATION_B: (-1, n_kinds - 1)}
    for row, (first, last) in bounds.items():
        if index[row].min() < first or index[row].max() > last:
            raise ValueError(f"{_INDEX[row]} has a value outside {first} to {last}")
    if unit_cell.min() < 0 or unit_cell.max() >= n_cells:
        raise ValueError("unit_cell_position points outside the cells")
    for row, entry in enumerate(registry.layout("option")):
        value = float(arrays["option"][row])
        # Automatic choices stand there resolved: negative parts are as many at least.
        low, high = (-1e4, 1e4) if entry.name == "soil_parts" else entry.valid
        if not low <= value <= high:
            raise ValueError(f"option {entry.name} is {value:g}, outside {low:g} to {high:g}")


def _check_steps(step_seconds: float, arrays: Mapping[str, np.ndarray], upstream: np.ndarray) -> None:
    routing = float(arrays["option"][rows.ROUTING_STEP])
    if not 0.0 < step_seconds <= 366 * 86400.0 or routing <= 0.0 or step_seconds % routing != 0:
        raise ValueError(f"a step of {step_seconds:g} s is not a whole number of routing steps of {routing:g} s")
    wanted = (arrays["calendar"].shape[1], round(step_seconds / routing))
    if upstream.shape[:2] != wanted:
        raise ValueError(f"upstream_discharge has {upstream.shape[:2]} steps and routing steps, expected {wanted}")
