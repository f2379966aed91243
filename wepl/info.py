"""What a basin, result, ensemble or state file holds, in a screenful."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import cftime
import netCDF4
import numpy as np

from wepl import registry
from wepl.errors import InputError
from wepl.netcdf import LOCK, PACKED_CONSTANT, UNREADABLE, check_size
from wepl.run.result_schema import ALWAYS
from wepl.units import convert

_WIDTH = 100
_BLOCK_VALUES = 2**20
Line = tuple[str, str]


def describe(path: str | os.PathLike[str]) -> str:
    """Text that says what a file holds.

    Parameters
    ----------
    path : path
        A basin, result, ensemble or state file.

    Returns
    -------
    str
        A table of two columns, at most about 25 lines.

    Raises
    ------
    InputError
        The file cannot be read, or is none of the four.
    """
    file_path = Path(path)
    if not file_path.is_file():
        raise InputError(f"{file_path} is {'a folder' if file_path.is_dir() else 'not there'}; give a netCDF file")
    try:
        with LOCK, netCDF4.Dataset(file_path) as file:
            file.set_auto_mask(False)
            check_size(file_path, {name: 8 * math.prod(variable.shape) for name, variable in file.variables.items()},
                       PACKED_CONSTANT)
            lines = [("file", f"{file_path} ({_size(file_path.stat().st_size)})"), *_describe(file, file_path)]
    except (OSError, RuntimeError) as error:
        raise InputError(f"{file_path} cannot be read: {error}; it is damaged or not netCDF: make or copy it "
                         "again") from error
    except UNREADABLE as error:
        raise InputError(f"{file_path} does not hold what its kind of file should: {error}; for a basin file, "
                         "`wepl check` says what is wrong") from error
    width = max(len(label) for label, _ in lines)
    return "\n".join(f"{label:<{width}}  {part}" for name, value in lines
                     for label, part in zip([name] + [""] * value.count("\n"), value.split("\n"), strict=True))


def _describe(file: netCDF4.Dataset, path: Path) -> Iterator[Line]:
    content = getattr(file, "wepl_content", "")
    if content == "result":
        return _result(file)
    if content == "ensemble":
        return _ensemble(file)
    if content == "state":
        return _state(file)
    if content in ("", "basin") and "unit_subbasin" in file.variables and "downstream" in file.variables:
        return _basin(file)
    raise InputError(f"{path} is neither a basin, a result nor a state file of wepl: it holds "
                     f"{_wrapped(list(file.variables)) or 'no variables'}; give one of these")


def _basin(file: netCDF4.Dataset) -> Iterator[Line]:
    yield "content", "basin"
    yield "title", str(getattr(file, "title", "none"))
    yield "size", _sizes(file, ("subbasin", "unit", "soil_layer", "vegetation", "cell", "gauge"))
    outlets = [int(name) for name, below in zip(file["subbasin"][:], file["downstream"][:], strict=True) if below < 0]
    yield "outlets", _wrapped([f"sub-basin {name}" for name in outlets[:6]] + (["..."] if len(outlets) > 6 else []))
    area = _facts(file, "unit_area")
    if area is not None:
        yield "area", f"{area.sum() / 1e6:.6g} km2 in units of {area.min() / 1e6:.3g} to {area.max() / 1e6:.3g} km2"
        land = _facts(file, "land_fraction")
        if land is not None:
            shares = (area[:, None] * land).sum(axis=0) / area.sum()
            yield "land", ", ".join(f"{name} {share:.1%}" for name, share in
                                    zip(registry.LAND_CLASSES, shares, strict=False))
    height = _facts(file, "unit_elevation")
    if height is not None:
        yield "elevation", f"{height.min():.0f} to {height.max():.0f} m"
    yield from _forcing(file)
    if "gauge_name" in file.variables:
        yield "gauges", _wrapped([str(name) for name in netCDF4.chartostring(file["gauge_name"][:]).ravel()]
                                 if file["gauge_name"].dtype != str else list(file["gauge_name"][:]))
    options = [entry.name for entry in registry.of_kind("option") if entry.name in file.variables]
    yield "options", _wrapped([f"{name} {_scalar(file[name])}" for name in options]) or "all at their defaults"


def _forcing(file: netCDF4.Dataset) -> Iterator[Line]:
    outside = getattr(file, "forcing", "")
    if outside:
        yield "forcing", f"in {outside}"
    names = [entry.name for entry in registry.of_kind("forcing") if entry.name in file.variables]
    if names:
        yield "forcing", _wrapped(names)
    if "time" in file.variables and file["time"].size:
        yield "period", _period(file)


def _result(file: netCDF4.Dataset) -> Iterator[Line]:
    facts = {name: file.getncattr(name) for name in file.ncattrs()}
    yield "content", "result"
    yield "title", str(facts.get("title", "none"))
    yield "made by", _wrapped([f"wepl {facts.get('wepl_version')}", f"backend {facts.get('backend', 'unknown')}",
                               f"precision {facts.get('precision', 'unknown')}"])
    yield "basin", f"{facts.get('basin_file') or 'unnamed'} (hash {str(facts.get('basin_hash'))[:12]})"
    yield "period", _period(file)
    yield "size", _sizes(file, ("subbasin", "unit", "soil_layer", "gauge"))
    held = [name for name, variable in file.variables.items() if "time" in variable.dimensions]
    held = [name for name in held if name not in ("time", "time_bounds")]
    yield "variables", _wrapped([f"{name} ({getattr(file[name], 'units', '1')})" for name in held])
    changed = sorted(name for name in facts if name.startswith("option_"))
    yield "options", _wrapped([f"{name[7:]} {facts[name]}" for name in changed]) or "all at their defaults"
    for name in ALWAYS[::-1]:
        if name in file.variables:
            yield from _mean_flow(file, name)
            break
    yield from _balance(file, facts)


def _ensemble(file: netCDF4.Dataset) -> Iterator[Line]:
    yield "content", "ensemble"
    yield "title", str(getattr(file, "title", "none"))
    yield "made by", _wrapped([f"wepl {getattr(file, 'wepl_version', 'unknown')}",
                               f"backend {getattr(file, 'backend', 'unknown')}",
                               f"precision {getattr(file, 'precision', 'unknown')}"])
    yield "basin", f"{getattr(file, 'basin_file', '') or 'unnamed'} (hash {str(getattr(file, 'basin_hash', ''))[:12]})"
    yield "period", _period(file)
    yield "size", _sizes(file, ("member", "place"))
    yield "places", _wrapped(list(file["place_name"][:12]) + (["..."] if file["place_name"].size > 12 else []))
    for variable in file.variables.values():
        if hasattr(variable, "option"):
            values = variable[...]
            units = getattr(variable, "units", "1")
            yield str(variable.option), f"{values.min():.4g} to {values.max():.4g}{f' {units}' * (units != '1')}"
    if "basin_outflow" in file.variables:
        values = file["basin_outflow"][...]
        yield "outflow", f"{np.nanmin(values):.1f} to {np.nanmax(values):.1f} mm"


def _mean_flow(file: netCDF4.Dataset, name: str) -> Iterator[Line]:
    """Mean flow at the gauges, or at the outlets of a basin without gauges."""
    place = file[name].dimensions[1]
    if place == "gauge":
        chosen = np.arange(file[name].shape[1])
        labels = list(file["gauge_name"][:]) if "gauge_name" in file.variables else list(file["gauge"][:])
    else:
        chosen = np.flatnonzero(file["downstream"][:] < 0)
        labels = list(file["subbasin"][:][chosen])
    total = np.zeros(len(chosen))
    steps = file[name].shape[0]
    at_once = max(1, _BLOCK_VALUES // max(1, file[name].shape[1]))
    for start in range(0, steps, at_once):
        total += file[name][start:start + at_once][:, chosen].sum(axis=0)
    means = [f"{label} {value:.4g}" for label, value in zip(labels, total / steps, strict=True)]
    yield "mean flow", _wrapped(means[:12] + (["..."] if len(means) > 12 else [])) + " m3 s-1"


def _balance(file: netCDF4.Dataset, facts: Mapping[str, Any]) -> Iterator[Line]:
    if "balance_term" in file.variables:
        depth = dict(zip(file["balance_term"][:], file["balance_depth"][:], strict=True))
        terms = ("precipitation_depth", "evapotranspiration", "outflow", "deep_loss", "storage_change")
        yield "balance", _wrapped([f"{name.removesuffix('_depth').replace('_', ' ')} {depth[name]:.1f}"
                                   for name in terms if name in depth]) + " mm"
    if "water_balance_closure" in facts:
        yield "closure", f"{float(facts['water_balance_closure']):.1e} of precipitation"


def _state(file: netCDF4.Dataset) -> Iterator[Line]:
    facts = {name: file.getncattr(name) for name in file.ncattrs()}
    yield "content", "state"
    yield "title", str(facts.get("title", "none"))
    yield "moment", f"{facts.get('moment')} (calendar {facts.get('calendar')})"
    yield "made by", f"wepl {facts.get('wepl_version')}, format {facts.get('state_format')}"
    yield "basin", f"hash {str(facts.get('basin_hash'))[:12]}"
    yield "size", _sizes(file, ("subbasin", "unit", "tile", "soil_layer", "river_cell"))
    yield "variables", _wrapped(list(file.variables))


def _period(file: netCDF4.Dataset) -> str:
    time = file["time"]
    calendar = getattr(time, "calendar", "standard")
    if "time_bounds" in file.variables:
        ends = file["time_bounds"][0, 0], file["time_bounds"][-1, 1]
        step = file["time_bounds"][0, 1] - file["time_bounds"][0, 0]
    else:
        step = time[1] - time[0] if time.size > 1 else math.nan
        ends = time[0], time[-1] + (0 if math.isnan(step) else step)
    first, last = (cftime.num2date(value, time.units, calendar) for value in ends)
    seconds = (last - first).total_seconds() / time.size
    return f"{_moment(first)} to {_moment(last)}, {time.size} steps of {_duration(seconds)}, calendar {calendar}"


def _moment(moment: Any) -> str:
    return str(moment).removesuffix(":00").removesuffix(" 00:00")


def _duration(seconds: float) -> str:
    for unit, size in (("d", 86400.0), ("h", 3600.0)):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def _facts(file: netCDF4.Dataset, name: str) -> np.ndarray | None:
    """A parameter in internal units; None when the file has none or its unit cannot be read."""
    if name not in file.variables:
        return None
    entry = registry.variable(name)
    try:
        values = np.asarray(file[name][:], dtype=np.float64)
        return np.asarray(convert(values, getattr(file[name], "units", entry.file_units), entry.units, name))
    except InputError:
        return None


def _scalar(variable: netCDF4.Variable) -> str:
    return f"{variable[...]} {getattr(variable, 'units', '')}".strip()


def _sizes(file: netCDF4.Dataset, dims: tuple[str, ...]) -> str:
    words = {"subbasin": "sub-basins", "unit": "units", "soil_layer": "soil layers", "vegetation": "vegetation kinds",
             "cell": "forcing cells", "gauge": "gauges", "tile": "tiles", "river_cell": "river cells",
             "member": "members", "place": "places"}
    return ", ".join(f"{file.dimensions[dim].size} {words[dim]}" for dim in dims if dim in file.dimensions)


def _wrapped(words: list[str]) -> str:
    """Words joined by commas, broken into lines."""
    lines, line = [], ""
    for number, word in enumerate(words):
        piece = word + (", " if number < len(words) - 1 else "")
        if line and len(line) + len(piece) > _WIDTH:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return "\n".join([*lines, line])


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"
