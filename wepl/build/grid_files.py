"""Files of gridded weather: axes, variables and times recognised, values read by windows of cells and time."""

from __future__ import annotations

import glob
import math
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.build.clock import to_seconds
from wepl.build.quantities import is_amount, known, recognise
from wepl.errors import BasinError, InputError
from wepl.forcing.classic import is_cut_short
from wepl.forcing.sources import time_axis
from wepl.netcdf import LOCK, PACKED_CONSTANT, UNREADABLE, check_size
from wepl.paths import regular

if TYPE_CHECKING:
    from wepl.build.config import Grids

_OPEN = 4
# HDF5 keeps what it unpacked of each variable of each open file, up to this.
_CHUNK_CACHE_BYTES = 16 * 2**20
_GRAVITY = 9.80665
_AXES = {"y": (("latitude", "projection_y_coordinate", "grid_latitude"),
               ("lat", "latitude", "y", "northing", "nav_lat"), ("degrees_north", "degree_north", "degrees_n")),
         "x": (("longitude", "projection_x_coordinate", "grid_longitude"),
               ("lon", "longitude", "x", "easting", "nav_lon"), ("degrees_east", "degree_east", "degrees_e"))}


@dataclass(frozen=True)
class Axes:
    """Where the cells of a grid lie: centres ``x`` and ``y``, of one dimension each, or both of two; system ``crs``.

    An empty ``crs`` means that the file does not say.
    """

    x: np.ndarray
    y: np.ndarray
    crs: str

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.x.shape if self.x.ndim == 2 else (self.y.size, self.x.size)

    def same(self, other: Axes) -> bool:
        """Whether both describe the same cells."""
        return (self.crs == other.crs and self.x.shape == other.x.shape and self.y.shape == other.y.shape
                and np.allclose(self.x, other.x, rtol=0.0, atol=1e-5 * _spacing(self.x))
                and np.allclose(self.y, other.y, rtol=0.0, atol=1e-5 * _spacing(self.y)))


def _spacing(values: np.ndarray) -> float:
    return float(np.ptp(values)) / max(1, max(values.shape) - 1) or 1.0


@dataclass(frozen=True)
class Piece:
    """Part of a variable's times in one file: start (s since 1970, UTC), step (s; 0 for one time) and number."""

    path: Path
    group: str
    start: int
    step: int
    n_times: int
    offset: int | None


@dataclass(frozen=True)
class Variable:
    """One variable of a grid: its name in the files, unit, how GRIB says that it was summed, and its parts by time.

    ``offset`` is the start of a value's interval less its time, s, where time bounds tell it.
    """

    quantity: str
    name: str
    units: str
    step_type: str
    calendar: str
    pieces: tuple[Piece, ...]


class Store:
    """Datasets that are open, a few at most."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[Path, str], Any] = OrderedDict()

    def get(self, path: Path, group: str = "") -> Any:
        """The open dataset, times not decoded; InputError where it cannot be read."""
        key = (path, group)
        if key not in self._open:
            while len(self._open) >= _OPEN:
                self._open.popitem(last=False)[1].close()
            self._open[key] = _open_dataset(path, group)
        self._open.move_to_end(key)
        return self._open[key]

    def close(self) -> None:
        """Close all; a later :meth:`get` opens them again."""
        while self._open:
            self._open.popitem()[1].close()


def _open_dataset(path: Path, group: str) -> Any:
    import netCDF4
    import xarray as xr

    if not path.is_dir():
        regular(path, "netCDF or Zarr")
    usual = netCDF4.get_chunk_cache()
    netCDF4.set_chunk_cache(_CHUNK_CACHE_BYTES, *usual[1:])
    try:
        if path.is_dir():
            return xr.open_zarr(path, group=group or None, decode_times=False, chunks=None, consolidated=False)
        if is_cut_short(path):
            raise OSError("its end is missing")
        with LOCK, netCDF4.Dataset(path) as file:
            held = file[group].variables if group else file.variables
            check_size(path, {name: 8 * math.prod(one.shape) for name, one in held.items() if one.ndim < 2})
            check_size(path, {name: 8 * math.prod(one.shape) for name, one in held.items()}, PACKED_CONSTANT)
        return xr.open_dataset(path, group=group or None, engine="netcdf4", decode_times=False)
    except ModuleNotFoundError:
        raise InputError(f"{path}: Zarr stores need zarr: pip install zarr") from None
    except UNREADABLE as error:
        raise InputError(f"{path} cannot be read as netCDF or Zarr ({' '.join(str(error).split())[:120]}): the file is "
                         "damaged, cut short, or not what its name says") from None
    finally:
        netCDF4.set_chunk_cache(*usual)


def paths_of(name: str, folder: Path) -> list[Path]:
    """Files or the store that a name or pattern means, in order."""
    if glob.has_magic(name) and not (folder / name).exists():
        found = sorted(folder / match for match in glob.glob(name, root_dir=folder, recursive=True))
    else:
        found = [folder / name] if (folder / name).exists() else []
    if not found:
        raise InputError(f"forcing: no file fits {folder / name}; names are relative to the TOML file")
    return found


def scan(entry: Grids, folder: Path, store: Store) -> tuple[Axes, dict[str, Variable], np.ndarray | None]:
    """What the files of one entry hold.

    Returns
    -------
    axes : Axes
    variables : dict
        By quantity.
    elevation : ndarray or None
        (y, x), m, where the files have it.

    Raises
    ------
    InputError
        A file cannot be read, has another grid than the first, or holds no variable of the forcing.
    """
    axes: Axes | None = None
    elevation = None
    pieces: dict[str, list[tuple[Any, Piece]]] = {}
    for path in paths_of(entry.file, folder):
        group = _group(path, store)
        data = store.get(path, group)
        for quantity, name in _names(entry, data, path).items():
            found = axes_of(data, name, path)
            if axes is not None and not axes.same(found):
                raise InputError(f"{path}: the grid of {name} differs from that of the files before it: give each grid "
                                 "its own [[forcing.grids]]")
            axes = axes or found
            if quantity == "elevation":
                elevation = _elevation(data, name, path)
            else:
                pieces.setdefault(quantity, []).append(_piece(data, name, path, group))
    if axes is None:
        raise InputError(f"forcing: {entry.file} holds no variable that is known: give variables = {{precipitation = "
                         "'...'}")
    return axes, {quantity: _joined(quantity, found) for quantity, found in pieces.items()}, elevation


def _group(path: Path, store: Store) -> str:
    """The group that holds the variables: the root, or the first one that has some (GPM keeps them in Grid)."""
    if len(store.get(path).data_vars) or path.is_dir():
        return ""
    import netCDF4

    with LOCK, netCDF4.Dataset(path) as file:
        groups = [name for name, group in file.groups.items() if group.variables]
    return groups[0] if groups else ""


def _names(entry: Grids, data: Any, path: Path) -> dict[str, str]:
    """Variables of a file by quantity: those that the entry names, else those that are recognised."""
    if entry.variables:
        wanted = {known(quantity, "forcing.grids").name: name for quantity, name in entry.variables.items()}
        there = {quantity: name for quantity, name in wanted.items() if name in data.variables}
        return there
    found: dict[str, str] = {}
    for name, variable in data.data_vars.items():
        quantity = recognise(str(name), str(variable.attrs.get("standard_name", "")))
        if quantity is None or variable.dtype.kind not in "fiu" or not _fits(quantity, variable.attrs.get("units")):
            continue
        if variable.ndim < 2:
            continue
        if quantity in found:
            raise InputError(f"{path}: {found[quantity]} and {name} both look like {quantity}: say which by variables "
                             f"= {{{quantity} = '{name}'}}")
        found[quantity] = str(name)
    return found


def _fits(quantity: str, unit: object) -> bool:
    if unit is None:
        return True
    if quantity == "elevation":
        return str(unit) in ("m", "metre", "meters", "m**2 s**-2", "m2 s-2")
    try:
        is_amount(quantity, str(unit))
    except ValueError:
        return False
    return True


def _time_dim(variable: Any, data: Any) -> str | None:
    for dim in variable.dims:
        if dim in data.variables and "since" in str(data[dim].attrs.get("units", "")):
            return str(dim)
    return None


def axes_of(data: Any, name: str, path: Path) -> Axes:
    """Axes of a variable, by CF attributes, else by the names of its coordinates."""
    variable = data[name]
    found = {}
    for axis, (standard, names, units) in _AXES.items():
        candidates = [str(other) for other in data.variables
                      if other != name and set(data[other].dims) <= set(variable.dims) and 1 <= data[other].ndim <= 2]
        ranked = ([other for other in candidates if data[other].attrs.get("standard_name") in standard]
                  or [other for other in candidates if str(data[other].attrs.get("units", "")).lower() in units]
                  or [other for other in candidates if other.lower() in names])
        # A grid on a plane may have latitude and longitude of its cells beside its own axes: the axes are simpler.
        one = [other for other in ranked if data[other].ndim == 1]
        plane = [other for other in candidates if data[other].attrs.get("standard_name") == standard[1]]
        if not ranked:
            raise InputError(f"{path}: {name} has no {'latitude' if axis == 'y' else 'longitude'} (or {axis}) "
                             "coordinate: name it so, or give it a CF standard_name")
        found[axis] = (plane or one or ranked)[0]
    x, y = (np.asarray(data[found[axis]].values, dtype=float) for axis in ("x", "y"))
    if x.ndim != y.ndim or not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError(f"{path}: the coordinates {found['x']} and {found['y']} do not fit each other")
    return Axes(x, y, _system(data, variable, found, x, y))


def _system(data: Any, variable: Any, found: Mapping[str, str], x: np.ndarray, y: np.ndarray) -> str:
    """Coordinate system of the axes: by grid mapping, degrees, or a code among the file's attributes."""
    degrees = str(data[found["x"]].attrs.get("units", "")).lower() in _AXES["x"][2] or found["x"].lower() in (
        "lon", "longitude")
    if degrees or x.ndim == 2:
        return "EPSG:4326"
    mapping = str(variable.attrs.get("grid_mapping", variable.encoding.get("grid_mapping", "")))
    if mapping in data.variables:
        attributes = data[mapping].attrs
        for key in ("crs_wkt", "spatial_ref", "proj4", "proj4_params"):
            if attributes.get(key):
                return str(attributes[key])
    for value in data.attrs.values():
        code = re.search(r"EPSG:+(\d{4,5})", str(value), re.IGNORECASE)
        if code:
            return f"EPSG:{code[1]}"
    return ""


def _dims(variable: Any, data: Any, path: Path, timed: bool) -> tuple[str | None, str, str]:
    """Names of the time, row and column dimensions; others must have one entry."""
    time = _time_dim(variable, data)
    if timed and time is None:
        raise InputError(f"{path}: {variable.name} has no time coordinate with units such as 'hours since 1900-01-01'")
    axes: dict[str, str] = {}
    for axis, (standard, names, units) in _AXES.items():
        for dim in variable.dims:
            attributes = data[dim].attrs if dim in data.variables else {}
            if dim != time and dim not in axes.values() and (
                    attributes.get("standard_name") in standard or str(attributes.get("units", "")).lower() in units
                    or str(dim).lower() in names):
                axes[axis] = str(dim)
                break
    left = [str(dim) for dim in variable.dims if dim != time and dim not in axes.values()]
    if len(axes) < 2:
        # Two-dimensional coordinates: rows before columns.
        wide = [dim for dim in left if variable.sizes[dim] > 1][-2:]
        if len(wide) < 2:
            raise InputError(f"{path}: {variable.name} has the dimensions {variable.dims}: expected time, rows, "
                             "columns")
        axes = {"y": wide[0], "x": wide[1]}
        left = [dim for dim in left if dim not in wide]
    several = [dim for dim in left if variable.sizes[dim] > 1]
    if several:
        raise InputError(f"{path}: {variable.name} has the further dimension {', '.join(several)} with more than one "
                         "entry: choose one and write it to a file of its own")
    return time, axes["y"], axes["x"]


def _elevation(data: Any, name: str, path: Path) -> np.ndarray:
    """Elevation of the cells, m, from heights or geopotential."""
    variable = data[name]
    time, down, across = _dims(variable, data, path, timed=False)
    chosen = variable.isel({dim: 0 for dim in variable.dims if dim not in (down, across)}).transpose(down, across)
    values = np.asarray(chosen.values, dtype=float)
    geopotential = "s" in str(variable.attrs.get("units", "m")).replace("meters", "m")
    return values / _GRAVITY if geopotential else values


def _piece(data: Any, name: str, path: Path, group: str) -> tuple[Any, Piece]:
    variable = data[name]
    time, _, _ = _dims(variable, data, path, timed=True)
    axis = data[time]
    values = np.ma.filled(np.ma.asarray(axis.values, dtype=np.float64), np.nan)
    calendar = axis.attrs.get("calendar", "standard")
    try:
        times = time_axis(values, axis.attrs.get("units"), calendar, str(path))
    except BasinError as error:
        raise InputError(str(error)) from None
    start = to_seconds(times.start)
    offset = None
    bounds = axis.attrs.get("bounds", axis.encoding.get("bounds"))
    if bounds in data.variables and data[bounds].ndim == 2:
        unit = (times.step / (values[1] - values[0])) if values.size > 1 else None
        low, high = (float(value) for value in np.asarray(data[bounds][0].values, dtype=float))
        if unit is None:
            unit = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}[str(axis.attrs["units"]).strip().lower()[0]]
        if high > low:
            offset = int(round((low - values[0]) * unit))
    facts = {"units": variable.attrs.get("units"), "name": name, "calendar": times.start.calendar,
             "step_type": str(variable.attrs.get("GRIB_stepType", ""))}
    return facts, Piece(path, group, start, int(times.step), times.n_steps, offset)


def _joined(quantity: str, found: Sequence[tuple[Any, Piece]]) -> Variable:
    """The parts of a variable, one after the other."""
    facts = [fact for fact, _ in found]
    first = facts[0]
    for fact, piece in found:
        for key in ("units", "calendar"):
            if fact[key] != first[key]:
                raise InputError(f"{piece.path}: {fact['name']} has {key} {fact[key]!r}, but other files "
                                 f"{first[key]!r}: make them the same")
    if first["units"] is None:
        raise InputError(f"{found[0][1].path}: {first['name']} has no attribute units: set one, such as 'mm'")
    pieces = sorted((piece for _, piece in found), key=lambda piece: piece.start)
    steps = {piece.step for piece in pieces if piece.n_times > 1}
    if not steps and len(pieces) > 1:
        steps = {pieces[1].start - pieces[0].start}
    if len(steps) != 1:
        raise InputError(f"forcing: {first['name']} comes in steps of "
                         f"{', '.join(map(str, sorted(steps))) or 'unknown'} s: give one step, and at least two times")
    step = steps.pop()
    for before, piece in zip(pieces, pieces[1:], strict=False):
        expected = before.start + step * before.n_times
        if piece.start != expected:
            kind = "a gap" if piece.start > expected else "an overlap"
            raise InputError(f"forcing: {first['name']} has {kind} between {before.path.name} and {piece.path.name}: "
                             "give every time once")
    return Variable(quantity, first["name"], str(first["units"]), first["step_type"], first["calendar"],
                    tuple(Piece(piece.path, piece.group, piece.start, step, piece.n_times, piece.offset)
                          for piece in pieces))


def read_window(variable: Variable, store: Store, first: int, last: int, rows: slice, columns: slice) -> np.ndarray:
    """Times ``first`` to ``last`` (not included) of a window, [time, y, x], NaN where missing, in file units."""
    parts = []
    begin = 0
    for piece in variable.pieces:
        low, high = max(first, begin), min(last, begin + piece.n_times)
        if low < high:
            data = store.get(piece.path, piece.group)
            array = data[variable.name]
            time, down, across = _dims(array, data, piece.path, timed=True)
            chosen = {str(dim): 0 for dim in array.dims} | {time: slice(low - begin, high - begin), down: rows,
                                                            across: columns}
            try:
                values = array.isel(chosen).transpose(time, down, across).values
            except UNREADABLE as error:
                raise InputError(f"{piece.path}: {variable.name} cannot be read ({error}): the file is damaged or cut "
                                 "short") from None
            parts.append(np.asarray(values, dtype=np.float64))
        begin += piece.n_times
    return np.concatenate(parts)
