"""Files of ensembles: one of each finished batch of members while they run, and the one of all members at the end.

A batch is written block by block under a temporary name and gets its name when it is whole, so a run that is killed
loses the batch at which it was. The file of all members is put together from the batches in slabs of time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import netCDF4
import numpy as np

from wepl import registry
from wepl.basin.dataset import Basin
from wepl.netcdf import LOCK, add_shuffle, publish, temporary_path, write_failure
from wepl.run import indices
from wepl.run import result_schema as schema
from wepl.run.zones import split

_SLAB_BYTES = 32 * 2**20
_FILTER: dict[str, Any] = {"compression": "zlib", "complevel": 1, "shuffle": True}


@dataclass(frozen=True)
class Layout:
    """What the files of an ensemble hold.

    Attributes
    ----------
    names : tuple of str
        Index variables of :data:`wepl.run.indices.VARIABLES`.
    places : ndarray of int
        Positions of the sub-basins whose discharge is kept.
    place_names : tuple of str
    first, last : int
        Steps of the run.
    """

    names: tuple[str, ...]
    places: np.ndarray
    place_names: tuple[str, ...]
    first: int
    last: int

    @property
    def n_steps(self) -> int:
        """Number of steps."""
        return self.last - self.first


class BatchFile:
    """The file of one batch; a context manager that leaves nothing behind unless :meth:`finish` was called."""

    def __init__(self, path: Path, layout: Layout, n_members: int) -> None:
        self.path, self._layout = path, layout
        self._temporary = temporary_path(path)
        with LOCK:
            self._file = netCDF4.Dataset(self._temporary, "w", format="NETCDF4")
            sizes = {"member": n_members, "time": layout.n_steps, "place": layout.places.size,
                     "season": len(indices.SEASONS)}
            for name, size in sizes.items():
                self._file.createDimension(name, size)
            self._discharge = self._file.createVariable("discharge", "f8", ("time", "member", "place"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        with LOCK:
            if self._file.isopen():
                self._file.close()
        self._temporary.unlink(missing_ok=True)

    def put(self, first: int, discharge: np.ndarray) -> None:
        """Write the steps from ``first`` on: ``[step, member, place]``."""
        at = first - self._layout.first
        try:
            with LOCK:
                self._discharge[at:at + discharge.shape[0]] = discharge
        except (OSError, RuntimeError) as error:
            raise write_failure(self.path, error) from error

    def finish(self, values: Mapping[str, np.ndarray]) -> None:
        """Write the indices and give the file its name."""
        try:
            with LOCK:
                for name in self._layout.names:
                    dims = ("member", *indices.VARIABLES[name].dims)
                    self._file.createVariable(name, "f8", dims)[...] = values[name]
                self._file.close()
            publish(self._temporary, self.path)
        except (OSError, RuntimeError) as error:
            raise write_failure(self.path, error) from error


def is_whole(path: Path, layout: Layout, n_members: int) -> bool:
    """Whether ``path`` is a readable file of a batch of that size."""
    if not path.is_file():
        return False
    try:
        with LOCK, netCDF4.Dataset(path) as file:
            shape = (layout.n_steps, n_members, layout.places.size)
            return file["discharge"].shape == shape and all(name in file.variables for name in layout.names)
    except (OSError, RuntimeError, IndexError):
        return False


def write(path: Path, basin: Basin, layout: Layout, members: Sequence[Mapping[str, float]], names: Sequence[str],
          batches: Sequence[tuple[Path, Sequence[int]]], attributes: Mapping[str, Any]) -> None:
    """Put the file of all members together; it appears only when it is complete.

    Parameters
    ----------
    path : Path
    basin : Basin
    layout : Layout
    members : sequence of mapping
        Options of each member that differ from the basin's or between members, resolved.
    names : sequence of str
        Names of the members.
    batches : sequence of (Path, sequence of int)
        File and member numbers of each batch.
    attributes : mapping
        Global attributes beside those made here.

    Raises
    ------
    WeplError
        Writing failed.
    """
    unfinished = temporary_path(path)
    try:
        with LOCK, netCDF4.Dataset(unfinished, "w", format="NETCDF4") as file:
            _define(file, basin, layout, len(members))
            _describe(file, basin, layout, names)
            _parameters(file, members)
            file.setncatts({**_attributes(basin, layout), **attributes})
            for source, numbers in batches:
                _copy(file, source, layout, numbers)
        publish(unfinished, path)
    except (OSError, RuntimeError) as error:
        raise write_failure(path, error) from error
    finally:
        unfinished.unlink(missing_ok=True)


def _define(file: netCDF4.Dataset, basin: Basin, layout: Layout, n_members: int) -> None:
    clock = basin.clock
    seasons = any("season" in indices.VARIABLES[name].dims for name in layout.names)
    for name, size in (("member", n_members), ("time", layout.n_steps), ("place", layout.places.size), ("bounds", 2),
                       *([("season", len(indices.SEASONS))] if seasons else [])):
        file.createDimension(name, size)
    edges = np.arange(layout.first, layout.last + 1) * clock.step_seconds
    origin = clock.label(0).replace("T", " ")
    _variable(file, "time", ("time",), edges[:-1], {
        "standard_name": "time", "long_name": "start of the step", "calendar": clock.calendar, "axis": "T",
        "units": f"seconds since {origin if ':' in origin else origin + ' 00:00:00'}", "bounds": "time_bounds"})
    _variable(file, "time_bounds", ("time", "bounds"), np.stack([edges[:-1], edges[1:]], axis=1), {})
    steps = max(1, min(layout.n_steps, 2**20 // (8 * layout.places.size)))
    entry = registry.variable("discharge")
    discharge = file.createVariable("discharge", "f8", ("member", "time", "place"), fill_value=np.nan,
                                    chunksizes=(1, steps, layout.places.size), **_FILTER)
    add_shuffle(discharge)
    where = "member_name place_name place_subbasin"
    discharge.setncatts({**schema.variable_attributes(entry), "coordinates": where})
    for name in layout.names:
        index = indices.VARIABLES[name]
        variable = file.createVariable(name, "f8", ("member", *index.dims), fill_value=np.nan)
        variable.setncatts({"long_name": index.long_name, "units": index.units,
                            **({"cell_methods": index.cell_methods} if index.cell_methods else {}),
                            "coordinates": where if "place" in index.dims else "member_name"})


def _describe(file: netCDF4.Dataset, basin: Basin, layout: Layout, names: Sequence[str]) -> None:
    _variable(file, "member", ("member",), np.arange(len(names), dtype=np.int32),
              {"standard_name": "realization", "long_name": "number of the member"})
    _variable(file, "member_name", ("member",), np.array(names, dtype=object), {"long_name": "name of the member"})
    _variable(file, "place_name", ("place",), np.array(layout.place_names, dtype=object),
              {"long_name": "name of the gauge, outlet or sub-basin", "cf_role": "timeseries_id"})
    _variable(file, "place_subbasin", ("place",), basin.parameters["subbasin"].values[layout.places],
              {"long_name": "identifier of the sub-basin at whose reach end discharge is taken"})
    if "season" in file.dimensions:
        _variable(file, "season", ("season",), np.array(indices.SEASONS, dtype=object),
                  {"long_name": "season, by the initials of its months"})


def _parameters(file: netCDF4.Dataset, members: Sequence[Mapping[str, float]]) -> None:
    """A variable for each option that a member sets: ``NAME`` or ``NAME_zone_N``."""
    for name in dict.fromkeys(name for member in members for name in member):
        option, zone = split(name)
        entry = registry.variable(option)
        text = entry.long_name if zone is None else f"{entry.long_name}, parameter zone {zone}"
        units: dict[str, Any] = {"units": entry.units}
        if entry.choices:
            units = {"flag_values": np.arange(len(entry.choices), dtype=float),
                     "flag_meanings": " ".join(entry.choices)}
        _variable(file, option if zone is None else f"{option}_zone_{zone}", ("member",),
                  np.array([member[name] for member in members]),
                  {"long_name": text, **units, "option": name, "coordinates": "member_name"})


def _attributes(basin: Basin, layout: Layout) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    version = schema.version()
    return {"Conventions": "CF-1.11", "title": f"{basin.title or 'basin'}: ensemble of simulated discharge",
            "source": f"wepl {version}, distributed hydrological model WEP-L",
            "history": f"{now} written by wepl {version}", "wepl_content": "ensemble", "wepl_version": version,
            "basin_file": basin.path.name if basin.path else "", "basin_hash": basin.hash,
            "run_start": basin.clock.label(layout.first), "run_end": basin.clock.label(layout.last),
            "step_seconds": int(basin.clock.step_seconds)}


def _copy(file: netCDF4.Dataset, source: Path, layout: Layout, numbers: Sequence[int]) -> None:
    """Copy a batch in slabs of members, each at most some tens of megabytes."""
    with netCDF4.Dataset(source) as batch:
        batch.set_auto_mask(False)
        slab = max(1, _SLAB_BYTES // (8 * layout.n_steps * layout.places.size))
        for at in range(0, len(numbers), slab):
            values = batch["discharge"][:, at:at + slab]
            for column, number in enumerate(numbers[at:at + slab]):
                file["discharge"][number] = values[:, column]
        for name in layout.names:
            values = batch[name][...]
            for column, number in enumerate(numbers):
                file[name][number] = values[column]


def _variable(file: netCDF4.Dataset, name: str, dims: tuple[str, ...], values: np.ndarray,
              attributes: Mapping[str, Any]) -> None:
    kind: Any = str if values.dtype.kind == "O" else values.dtype
    variable = file.createVariable(name, kind, dims)
    variable.setncatts(dict(attributes))
    variable[...] = values
