"""The basin: one netCDF file (or dataset in memory) checked against the registry, in internal units."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl import registry, units
from wepl.basin import checks, polygons, vegetation
from wepl.basin.checks import Check
from wepl.errors import BasinError, InputError
from wepl.forcing import sources
from wepl.forcing.classic import is_cut_short
from wepl.forcing.reader import ForcingReader, OpenFiles

if TYPE_CHECKING:
    import xarray as xr

    from wepl.run.clock import Clock

_SIGNATURES = (b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF\r\n\x1a\n")
_TEXTS = ("gauge_name", "vegetation_name")
# Bytes from which dimensions are checked before values are read.
_LARGE = 64 * 2**20


class Basin:
    """A checked basin. Make one with :meth:`open` or :meth:`from_dataset`.

    Attributes
    ----------
    parameters : xarray.Dataset
        Topology and parameters by registry name, in internal units, defaults and the built-in vegetation filled in.
    options : dict of str to float
        Every option of the registry in internal units, the file's values over the defaults.
    forcing : ForcingReader
        Forcing in blocks of time.
    title : str
    path : Path or None
        The file, when there is one.
    hash : str
        SHA-256 of parameters and options: a restart file belongs to one.
    outlines : dict or None
        Outlines of the sub-basins as :func:`wepl.basin.polygons.of_dataset` gives them; None where the file has none.
    """

    def __init__(self, raw: xr.Dataset, path: Path | None, forcing: ForcingReader, found: list[Check]) -> None:
        self._raw = raw
        self._checks = found
        self.path = path
        self.title = str(raw.attrs.get("title", path.stem if path else ""))
        self.parameters = _parameters(raw)
        self.options = _options(raw)
        self.forcing = forcing
        self.hash = _digest(self.parameters, self.options)
        self.outlines = polygons.of_dataset(raw)

    def __repr__(self) -> str:
        sizes = self.parameters.sizes
        return (f"<Basin {self.title!r}: {sizes['subbasin']} sub-basins, {sizes['unit']} units, {sizes['cell']} cells, "
                f"{self.clock.n_steps} steps of {self.clock.step_seconds:g} s from {self.clock.label(0)}>")

    @property
    def clock(self) -> Clock:
        """The forcing's clock."""
        return self.forcing.clock

    @classmethod
    def open(cls, path: str | Path) -> Basin:
        """Open and check a basin file; forcing values are checked by :meth:`validate` or before a run.

        Raises
        ------
        InputError
            There is no such file, or it is no netCDF.
        BasinError
            The file breaks rules; ``problems`` lists all that could be found.
        """
        raw, found = read_raw(path)
        return cls._checked(raw, Path(path), found)

    @classmethod
    def from_dataset(cls, data: xr.Dataset) -> Basin:
        """A basin from a dataset laid out as the file, forcing included, units in the variables' attributes.

        ``time`` may be decoded (datetime64 or cftime) or numbers with units.

        Raises
        ------
        BasinError
            The dataset breaks rules.
        """
        return cls._checked(_encoded_time(data), None, [])

    @classmethod
    def _checked(cls, raw: xr.Dataset, path: Path | None, found: list[Check]) -> Basin:
        found = found + checks.examine(raw)
        forcing = None
        if all(check.passed for check in found):
            forcing, more = checks.examine_time(lambda: open_forcing(raw, path), raw)
            found += more
        problems = tuple(line for check in found if not check.passed for line in check.problems)
        if problems:
            raise BasinError(_refusal(path, problems), problems)
        assert forcing is not None
        return cls(raw, path, forcing, found)

    def validate(self) -> list[Check]:
        """Every rule and whether the basin keeps it, the forcing's values included."""
        return self._checks + checks.examine_forcing(self.forcing)

    def check_forcing(self, first: int = 0, last: int | None = None) -> None:
        """Refuse forcing that is missing, infinite or out of range in steps ``first`` to ``last`` (not included).

        Raises
        ------
        BasinError
            Names variable, cell, first time and number of values.
        """
        problems = checks.forcing_problems(self.forcing, first, last)
        if problems:
            raise BasinError(_refusal(self.path, problems), problems)

    def to_dataset(self) -> xr.Dataset:
        """The basin as given, forcing included, in its own units; times as numbers."""
        if any(name in self._raw for name in sources.NAMES):
            return self._raw.copy()
        if self.path is not None and self._raw.attrs.get("_forcing_inside"):
            import xarray as xr

            with xr.open_dataset(self.path, engine="netcdf4", decode_times=False, decode_timedelta=False,
                                 decode_coords=False) as data:
                return data.load()
        raise InputError(f"the forcing of {self.path or self.title} lies in other files "
                         f"({self._raw.attrs.get('forcing')}): copy them with the basin file")

    def to_netcdf(self, path: str | Path) -> None:
        """Write the basin file; it appears only when complete.

        Raises
        ------
        InputError
            The forcing lies in other files, or there is no such folder.
        WeplError
            Writing failed.
        """
        from wepl.netcdf import publish, temporary_path, write_failure

        target = Path(path)
        if target.is_dir():
            raise InputError(f"{target} is a folder; give the name of a file to write")
        if not target.parent.is_dir():
            raise InputError(f"the folder {target.parent} does not exist; create it or write elsewhere")
        data = self.to_dataset()
        data.attrs.setdefault("Conventions", "CF-1.11")
        data.attrs.setdefault("title", self.title)
        packed = {"zlib": True, "complevel": 4, "shuffle": True}
        encoding: dict[str, dict[str, Any]] = {name: dict(packed) for name in sources.NAMES if name in data}
        for name in data.variables:
            encoding.setdefault(str(name), {})["_FillValue"] = None
        unfinished = temporary_path(target)
        try:
            data.to_netcdf(unfinished, engine="netcdf4", encoding=encoding)
            publish(unfinished, target)
        except (OSError, RuntimeError) as error:
            raise write_failure(target, error) from error
        finally:
            unfinished.unlink(missing_ok=True)


def inspect(path: str | Path) -> list[Check]:
    """Every rule of a basin file and whether it is kept, without raising for a broken one.

    Raises
    ------
    InputError
        There is no such file, or it is no netCDF.
    """
    raw, found = read_raw(path)
    found = found + checks.examine(raw)
    if not all(check.passed for check in found):
        return found
    forcing, more = checks.examine_time(lambda: open_forcing(raw, Path(path)), raw)
    found += more
    return found + checks.examine_forcing(forcing) if forcing is not None else found


def _refusal(path: Path | None, problems: tuple[str, ...]) -> str:
    """The message of a refused basin: one line per problem, the first dozen."""
    shown = [f"  {line}" for line in problems[:12]]
    if len(problems) > 12:
        shown.append(f"  ... and {len(problems) - 12} more: python -m wepl check lists them all")
    return "\n".join([f"{path or 'the basin'} cannot be used:", *shown])


def read_raw(path: str | Path) -> tuple[xr.Dataset, list[Check]]:
    """Everything but forcing values in memory, as the file gives it; missing values as NaN, times as numbers."""
    import xarray as xr

    from wepl.netcdf import UNREADABLE
    from wepl.paths import regular

    place = regular(Path(path), "a basin file (netCDF)")
    try:
        with place.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise InputError(f"{place} cannot be read: {error.strerror}; check its permissions") from None
    if not any(head.startswith(signature) for signature in _SIGNATURES):
        what = "empty" if not head else "not a netCDF file"
        raise InputError(f"{place} is {what}; give a basin file made by wepl synth or after docs/basin-file.md")
    damaged = "the file is damaged or cut short; make or copy it again"
    if is_cut_short(place):
        raise InputError(f"{place} cannot be read as netCDF: {damaged}")
    try:
        _check_room(place)
        with xr.open_dataset(place, engine="netcdf4", decode_times=False, decode_timedelta=False,
                             decode_coords=False) as data:
            wanted = [name for name in data.variables if name not in sources.NAMES]
            raw = data[wanted].load()
            for name in sources.NAMES:
                if name in data.variables:
                    raw.attrs.setdefault("_forcing_inside", True)
    except UNREADABLE as error:
        raise InputError(f"{place} cannot be read as netCDF ({error}): {damaged}") from None
    content = raw.attrs.get("wepl_content", "basin")
    if content != "basin":
        raise InputError(f"{place} is a {content} file of wepl, not a basin; give the basin file it was made from")
    return raw, [Check("the file can be read", True, ())]


def _check_room(place: Path) -> None:
    """Refuse dimensions that cannot be before their values are read."""
    import netCDF4

    from wepl.netcdf import LOCK, check_size

    with LOCK, netCDF4.Dataset(place) as file:
        dims = {name: dim.size for name, dim in file.dimensions.items()}
        sizes = {name: 8 * math.prod(variable.shape) for name, variable in file.variables.items()
                 if name not in sources.NAMES}
    wrong = tuple(checks.wrong_sizes(dims)) if sum(sizes.values()) > _LARGE else ()
    if wrong:
        raise BasinError(_refusal(place, wrong), wrong)
    check_size(place, sizes)


def open_forcing(raw: xr.Dataset, path: Path | None) -> ForcingReader:
    """The forcing of a basin: in its dataset, in its file, or in the files that it names."""
    from wepl.forcing.zarr_store import is_store, pieces_of_store
    from wepl.netcdf import LOCK

    pieces = sources.pieces_of_dataset(raw, "forcing")
    files = OpenFiles()
    try:
        if path is not None and raw.attrs.get("_forcing_inside"):
            pieces += sources.pieces_of_file(path, files, own=True)
        named = raw.attrs.get("forcing")
        if named:
            folder = path.parent if path is not None else Path()
            for file in sources.expand(str(named), folder):
                pieces += pieces_of_store(file) if is_store(file) else sources.pieces_of_file(file, files)
        return sources.join(pieces, raw.variables["cell"].values.astype(np.int64))
    finally:
        with LOCK:
            files.close()


def _encoded_time(data: xr.Dataset) -> xr.Dataset:
    """A copy whose time is numbers with units."""
    data = data.copy()
    if "time" in data.variables and not np.issubdtype(data["time"].dtype, np.number):
        import xarray as xr

        encoded = xr.conventions.encode_cf_variable(data["time"].variable)
        data = data.assign_coords(time=encoded)
    return data


def _parameters(raw: xr.Dataset) -> xr.Dataset:
    """Topology and parameters in internal units, with defaults."""
    import xarray as xr

    values: dict[str, Any] = {}
    for entry in registry.of_kind("topology") + registry.of_kind("parameter"):
        if entry.name in raw.variables:
            array = raw.variables[entry.name].transpose(*entry.dims).values
            if entry.integer:
                values[entry.name] = (entry.dims, np.asarray(array).astype(np.int64))
            else:
                unit = str(raw.variables[entry.name].attrs.get("units", "1"))
                converted = units.convert(array, unit, entry.units, entry.name)
                # What the checks let pass as rounding, such as a share of -1e-17, goes no further.
                values[entry.name] = (entry.dims, np.clip(converted, *entry.valid))
        elif entry.default is not None:
            shape = tuple(raw.sizes[dim] for dim in entry.dims)
            values[entry.name] = (entry.dims, np.full(shape, entry.default, dtype=np.int64 if entry.integer else float))
    if "leaf_area_index" not in values:
        for name, array in vegetation.table().items():
            values[name] = (registry.variable(name).dims, array)
        values["vegetation_name"] = (("vegetation",), np.array(vegetation.NAMES))
    for name in _TEXTS:
        if name in raw.variables:
            texts = [checks.text_of(text) for text in raw.variables[name].values]
            values[name] = (raw.variables[name].dims, np.array(texts, dtype=str))
    # Single precision may bring the two shares a little above one, which would leave less than no bare soil.
    total = np.maximum(1.0, values["tall_fraction"][1] + values["short_fraction"][1])
    for name in ("tall_fraction", "short_fraction"):
        values[name] = (values[name][0], values[name][1] / total)
    return xr.Dataset({name: (dims, array) for name, (dims, array) in values.items()})


def _options(raw: xr.Dataset) -> dict[str, float]:
    """Every option: the registry's default, or the file's scalar in internal units."""
    options = {}
    for entry in registry.of_kind("option"):
        options[entry.name] = float(entry.default or 0.0)
        if entry.name in raw.variables:
            given = raw.variables[entry.name].values
            if given.dtype.kind in "USO":
                options[entry.name] = float(entry.choices.index(checks.text_of(given)))
            else:
                unit = str(raw.variables[entry.name].attrs.get("units", "1" if entry.units == "1" else ""))
                options[entry.name] = float(units.convert(given, unit, entry.units, entry.name))
    return options


def _digest(parameters: xr.Dataset, options: Mapping[str, float]) -> str:
    digest = hashlib.sha256()
    for name in sorted(map(str, parameters.variables)):
        array = np.ascontiguousarray(parameters[name].values)
        digest.update(f"{name}{array.shape}{array.dtype.kind}".encode())
        digest.update("".join(array.ravel()).encode() if array.dtype.kind == "U" else array.tobytes())
    for name in sorted(options):
        digest.update(f"{name}={options[name]!r}".encode())
    return digest.hexdigest()
