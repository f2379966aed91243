"""State files: everything that a run needs to go on, complete by the registry, in float64.

A state file holds each registry variable with ``restart`` (states and the totals of fluxes) and the facts that must
agree before it may be used: basin, calendar, layers, moment, and the registry's restart list itself.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import netCDF4
import numpy as np
from numpy.typing import NDArray

from wepl import registry
from wepl.errors import InputError, NumericalError
from wepl.netcdf import LOCK, UNREADABLE, check_target, publish, temporary_path, write_failure
from wepl.paths import regular
from wepl.registry import Variable
from wepl.run.result_schema import version

if TYPE_CHECKING:
    from wepl.basin.dataset import Basin
    from wepl.run.clock import Clock

FORMAT = 1
Arrays = Mapping[str, NDArray[np.float64]]
_PLURAL = {"tile": "tiles", "soil_layer": "soil layers", "unit": "units", "subbasin": "sub-basins",
           "river_cell": "river cells"}


def entries() -> list[Variable]:
    """Registry entries that a state holds, in the table's order."""
    return [entry for entry in registry.TABLE if entry.restart]


# A run in float32 precision has pairs: their sum stands under the name, these beside it.
_LOW = tuple(f"{_entry.name}_low" for _entry in entries())


def fingerprint() -> str:
    """Hash of the restart list: names, dimensions and units."""
    text = ";".join(f"{entry.name}:{','.join(entry.dims)}:{entry.units}" for entry in entries())
    return hashlib.sha256(text.encode()).hexdigest()


def save_state(path: str | os.PathLike[str], arrays: Arrays, *, basin: Basin, clock: Clock, at: int,
               attributes: Mapping[str, Any] | None = None) -> Path:
    """Write a state; the file appears under its name only when it is complete.

    Parameters
    ----------
    path : path
        The file; a state that is there already is replaced at the end.
    arrays : mapping
        Every restart variable of the registry, float64, in its units and dimensions.
    basin : Basin
        What the state belongs to.
    clock : Clock
        The forcing's clock.
    at : int
        The moment: the start of step ``at``, which is the next one to compute.
    attributes : mapping, optional
        Further facts (backend, precision, ...).

    Returns
    -------
    Path
        The state file.

    Raises
    ------
    NumericalError
        A value is not finite.
    InputError
        The place cannot be written.
    WeplError
        Writing failed; nothing is left behind.
    """
    target = Path(path)
    check_target(target, "state")
    sizes = _check_arrays(arrays)
    temporary = temporary_path(target)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    facts = {**(attributes or {}), "Conventions": "CF-1.11", "title": f"state of {basin.title or 'a basin'}",
             "history": f"{now} written by wepl {version()}", "wepl_content": "state", "wepl_version": version(),
             "state_format": FORMAT, "registry_fingerprint": fingerprint(), **_expected(basin, clock, at)}
    try:
        with LOCK, netCDF4.Dataset(temporary, "w", format="NETCDF4") as file:
            for dim, size in sizes.items():
                file.createDimension(dim, size)
            for entry in entries():
                variable = file.createVariable(entry.name, "f8", entry.dims)
                variable.setncatts({"long_name": entry.long_name, "units": entry.units})
                variable[...] = arrays[entry.name]
            for entry in entries() if all(low in arrays for low in _LOW) else ():
                variable = file.createVariable(f"{entry.name}_low", "f8", entry.dims)
                variable.setncatts({"long_name": f"second number of the pair that is {entry.name} in float32 precision",
                                    "units": entry.units})
                variable[...] = arrays[f"{entry.name}_low"]
            file.setncatts(facts)
        publish(temporary, target)
    except (OSError, RuntimeError) as error:
        raise write_failure(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    return target


def load_state(path: str | os.PathLike[str], *, basin: Basin, clock: Clock, at: int,
               shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[np.float64]]:
    """Read a state and refuse it when it does not belong to the run.

    Parameters
    ----------
    path : path
        The file.
    basin, clock, at
        The run's basin and clock, and the step at which it starts.
    shapes : mapping
        Shape of each restart variable in the run.

    Returns
    -------
    dict
        Registry name to float64 array.

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
    regular(source, "a state file")
    try:
        with LOCK, netCDF4.Dataset(source) as file:
            file.set_auto_mask(False)
            return _read(file, source, _expected(basin, clock, at), shapes)
    except UNREADABLE as error:
        raise InputError(f"the state file {source} cannot be read ({error}); it is damaged or not netCDF: use another "
                         "one") from error


def _expected(basin: Basin, clock: Clock, at: int) -> dict[str, str]:
    """Facts that must agree between a state and the run that goes on from it."""
    return {"basin_hash": basin.hash, "calendar": clock.calendar, "moment": str(clock.label(at))}


def _read(file: netCDF4.Dataset, source: Path, expected: Mapping[str, str],
          shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[np.float64]]:
    content = getattr(file, "wepl_content", "")
    if content != "state":
        raise InputError(f"{source} is not a state file of wepl; it holds {content or 'something else'}")
    differences = _differences(file, expected, shapes)
    if differences:
        raise InputError(f"the state {source} does not fit this run: " + "; ".join(differences))
    names = [entry.name for entry in entries()]
    names += [low for low in _LOW if low in file.variables]
    arrays = {name: np.ascontiguousarray(file[name][...], dtype=np.float64) for name in names}
    for name, values in arrays.items():
        if not np.isfinite(values).all():
            raise InputError(f"the state {source} holds {_count_bad(values)} values of {name} that are not finite; "
                             "it is damaged, use another one")
    return arrays


def _differences(file: netCDF4.Dataset, expected: Mapping[str, str],
                 shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Everything that keeps the state from being used, one sentence each."""
    facts = {name: file.getncattr(name) for name in file.ncattrs()}
    found = []
    if facts.get("state_format") != FORMAT:
        found.append(f"its format is {facts.get('state_format')}, this version reads {FORMAT}")
    words = {"basin_hash": "basin (content hash)", "calendar": "calendar", "moment": "moment"}
    for name, value in expected.items():
        if str(facts.get(name)) != value:
            found.append(f"its {words[name]} is {_short(facts.get(name))}, the run has {_short(value)}")
    wanted = {entry.name: entry for entry in entries()}
    sizes = {dim: size for name, shape in shapes.items() for dim, size in zip(wanted[name].dims, shape, strict=True)}
    for dim, size in sizes.items():
        held = file.dimensions[dim].size if dim in file.dimensions else 0
        if held != size:
            found.append(f"it has {held} {_PLURAL[dim]}, the run has {size}")
    low = dict(zip(_LOW, wanted.values(), strict=True))
    if any(name in file.variables for name in low):
        wanted |= low
    missing = [name for name in wanted if name not in file.variables]
    unknown = [name for name in file.variables if name not in wanted]
    if missing:
        found.append(f"it lacks {', '.join(missing)}")
    if unknown:
        found.append(f"it holds {', '.join(unknown)}, which this version does not know")
    for name, entry in wanted.items():
        if name in missing:
            continue
        dims, units = file[name].dimensions, str(getattr(file[name], "units", "no unit"))
        if file[name].dtype != np.float64:
            found.append(f"{name} is {file[name].dtype}, expected float64")
        if dims != entry.dims or units != entry.units:
            found.append(f"{name} stands on {'/'.join(dims)} in {units}, expected {'/'.join(entry.dims)} in "
                         f"{entry.units}")
    if not found and facts.get("registry_fingerprint") != fingerprint():
        found.append("it was written with another list of state variables")
    if found and facts.get("wepl_version") != version():
        found.append(f"it was written by wepl {facts.get('wepl_version')}, this is {version()}: go on with that "
                     "version, or run anew up to this moment")
    return found


def _check_arrays(arrays: Arrays) -> dict[str, int]:
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
