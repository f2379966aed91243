"""State files: everything that a run needs to go on, complete by the registry, in float64.

A state file holds each registry variable with ``restart`` (states and the totals of fluxes) and the facts that must
agree before it may be used: basin, calendar, layers, moment, and the registry's restart list itself.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
from numpy.typing import NDArray

from wepl import registry
from wepl.errors import InputError, NumericalError
from wepl.netcdf import LOCK, check_target, publish, temporary_path, write_failure
from wepl.registry import Variable
from wepl.run.result_schema import version

FORMAT = 1
_FACTS = ("basin_hash", "calendar", "label", "precision")


@dataclass(frozen=True, slots=True)
class State:
    """A moment of a run.

    Attributes
    ----------
    arrays : dict
        Registry name to float64 array with the registry's dimensions, in its units.
    label : str
        The moment, as the clock writes it: the start of the next step.
    calendar, basin_hash : str
        What the state belongs to.
    attributes : dict
        Further scalar facts (title, backend, precision, first moment of the totals ...).
    """

    arrays: dict[str, NDArray[np.float64]]
    label: str
    calendar: str
    basin_hash: str
    attributes: dict[str, Any] = field(default_factory=dict)


def entries() -> list[Variable]:
    """Registry entries that a state holds, in the table's order."""
    return [entry for entry in registry.TABLE if entry.restart]


def fingerprint() -> str:
    """Hash of the restart list: names, dimensions and units."""
    text = ";".join(f"{entry.name}:{','.join(entry.dims)}:{entry.units}" for entry in entries())
    return hashlib.sha256(text.encode()).hexdigest()


def save_state(path: str | os.PathLike[str], state: State) -> Path:
    """Write a state; the file appears under its name only when it is complete.

    Parameters
    ----------
    path : path
        The file; a state that is there already is replaced at the end.
    state : State
        Arrays of all restart variables.

    Raises
    ------
    NumericalError
        A value is not finite.
    InputError, WeplError
        The place cannot be written; writing failed.
    """
    target = Path(path)
    check_target(target, "state")
    sizes = _check_arrays(state.arrays)
    temporary = temporary_path(target)
    try:
        with LOCK, netCDF4.Dataset(temporary, "w", format="NETCDF4") as file:
            for dim, size in sizes.items():
                file.createDimension(dim, size)
            for entry in entries():
                variable = file.createVariable(entry.name, "f8", entry.dims)
                variable.setncatts({"long_name": entry.long_name, "units": entry.units})
                variable[...] = state.arrays[entry.name]
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            file.setncatts({
                **state.attributes, "Conventions": "CF-1.11", "wepl_content": "state", "state_format": FORMAT,
                "wepl_version": version(), "registry_fingerprint": fingerprint(), "basin_hash": state.basin_hash,
                "calendar": state.calendar, "label": state.label, "history": f"{now} written by wepl {version()}"})
        publish(temporary, target)
    except (OSError, RuntimeError) as error:
        raise write_failure(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    return target


def load_state(path: str | os.PathLike[str], *, basin_hash: str | None = None, calendar: str | None = None,
               label: str | None = None, sizes: Mapping[str, int] | None = None) -> State:
    """Read a state and refuse it when it does not belong to the run.

    Parameters
    ----------
    path : path
        The file.
    basin_hash, calendar, label : str, optional
        What the run has; compared where given.
    sizes : mapping, optional
        Sizes of the dimensions (tile, soil_layer, unit, subbasin, river_cell), compared where given.

    Raises
    ------
    InputError
        The file cannot be read, is not a state, is not complete, or belongs to something else; the message lists all
        that differs.
    """
    source = Path(path)
    if not source.exists():
        raise InputError(f"the state file {source} does not exist")
    if source.is_dir():
        raise InputError(f"{source} is a folder, not a state file")
    try:
        with LOCK, netCDF4.Dataset(source) as file:
            file.set_auto_mask(False)
            return _read(file, source, {"basin_hash": basin_hash, "calendar": calendar, "label": label}, sizes or {})
    except (OSError, RuntimeError) as error:
        raise InputError(f"the state file {source} cannot be read ({error}); it is damaged or not netCDF") from error


def _read(file: netCDF4.Dataset, source: Path, expected: Mapping[str, str | None], sizes: Mapping[str, int]) -> State:
    facts = {name: file.getncattr(name) for name in file.ncattrs()}
    if facts.get("wepl_content") != "state":
        raise InputError(f"{source} is not a state file of wepl ({facts.get('wepl_content') or 'unknown content'})")
    differences = _differences(file, facts, expected, sizes)
    if differences:
        raise InputError(f"the state {source} does not fit this run: " + "; ".join(differences))
    arrays = {entry.name: np.ascontiguousarray(file[entry.name][...], dtype=np.float64) for entry in entries()}
    for name, values in arrays.items():
        if not np.isfinite(values).all():
            raise InputError(f"the state {source} holds {_count_bad(values)} values of {name} that are not finite; "
                             "it is damaged, use another one")
    known = {"basin_hash", "calendar", "label", "wepl_content", "registry_fingerprint", "Conventions", "history"}
    rest = {name: value for name, value in facts.items() if name not in known}
    return State(arrays, str(facts["label"]), str(facts["calendar"]), str(facts["basin_hash"]), rest)


def _differences(file: netCDF4.Dataset, facts: Mapping[str, Any], expected: Mapping[str, str | None],
                 sizes: Mapping[str, int]) -> list[str]:
    """Everything that keeps the state from being used, one sentence each."""
    found = []
    if facts.get("state_format") != FORMAT:
        found.append(f"its format is {facts.get('state_format')}, this version reads {FORMAT}")
    words = {"basin_hash": "basin (content hash)", "calendar": "calendar", "label": "moment"}
    for name, value in expected.items():
        if value is not None and facts.get(name) != value:
            found.append(f"its {words[name]} is {_short(facts.get(name))}, the run has {_short(value)}")
    for dim, size in sizes.items():
        held = file.dimensions[dim].size if dim in file.dimensions else None
        if held != size:
            found.append(f"it has {held} {dim}s, the run has {size}")
    wanted = {entry.name: entry for entry in entries()}
    missing = [name for name in wanted if name not in file.variables]
    unknown = [name for name in file.variables if name not in wanted]
    if missing:
        found.append(f"it lacks {', '.join(missing)}")
    if unknown:
        found.append(f"it holds {', '.join(unknown)}, which this version does not know")
    for name in wanted.keys() & file.variables.keys():
        entry, variable = wanted[name], file[name]
        if variable.dimensions != entry.dims or getattr(variable, "units", None) != entry.units:
            found.append(f"{name} stands on {variable.dimensions} in {getattr(variable, 'units', 'no unit')}, expected "
                         f"{entry.dims} in {entry.units}")
    if not found and facts.get("registry_fingerprint") != fingerprint():
        found.append("it was written with another list of state variables")
    if found and facts.get("wepl_version") != version():
        found.append(f"it was written by wepl {facts.get('wepl_version')}, this is {version()}")
    return found


def _check_arrays(arrays: Mapping[str, NDArray[np.float64]]) -> dict[str, int]:
    """Sizes of the dimensions, after checking that every restart variable is there, shaped alike and finite."""
    sizes: dict[str, int] = {}
    for entry in entries():
        if entry.name not in arrays:
            raise ValueError(f"the state lacks {entry.name}")
        values = arrays[entry.name]
        if values.ndim != len(entry.dims):
            raise ValueError(f"{entry.name} has shape {values.shape}, expected dimensions {entry.dims}")
        for dim, size in zip(entry.dims, values.shape, strict=True):
            if sizes.setdefault(dim, size) != size:
                raise ValueError(f"{entry.name} has {size} {dim}s, other states have {sizes[dim]}")
        if not np.isfinite(values).all():
            raise NumericalError(f"the state cannot be saved: {_count_bad(values)} values of {entry.name} are not "
                                 "finite")
    return sizes


def _count_bad(values: NDArray[np.float64]) -> int:
    return int(np.count_nonzero(~np.isfinite(values)))


def _short(value: Any) -> str:
    text = str(value)
    return f"{text[:12]}..." if len(text) > 40 else text
