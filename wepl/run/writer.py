"""Result files: written behind the run by a thread, complete or not there at all."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import netCDF4
import numpy as np

from wepl import registry
from wepl.basin.polygons import CONTAINER
from wepl.errors import InputError
from wepl.netcdf import LOCK, add_shuffle, check_target, publish, temporary_path, write_failure
from wepl.run import result_schema as schema

Compression = Literal["zstd", "zlib", "none"]
_FILTERS: dict[str, dict[str, Any]] = {
    "zstd": {"compression": "zstd", "complevel": 3, "shuffle": True},
    "zlib": {"compression": "zlib", "complevel": 1, "shuffle": True},
    "none": {},
}
_CACHE_BYTES, _CACHE_SLOTS = 2**20, 101
_QUEUE_BLOCKS = 2


@dataclass(slots=True)
class _Series:
    """One variable with time: where it goes, how it is scaled, and the rows of its chunk that are not written yet."""

    target: netCDF4.Variable
    factor: float
    offset: float
    shape: tuple[int, ...]
    steps: int
    buffer: np.ndarray

    def convert(self, values: np.ndarray) -> np.ndarray:
        """A copy of ``values`` in the unit and type of the file."""
        copy = np.empty(values.shape, self.buffer.dtype)
        np.multiply(values, self.factor, out=copy, casting="same_kind")
        if self.offset:
            np.add(copy, self.offset, out=copy, casting="same_kind")
        return copy


class ResultWriter:
    """Writes one result file behind a run.

    The file is written under a temporary name in the same folder and renamed by :meth:`finish`, so an older result
    stays until the new one is complete, and a run that fails leaves nothing. Values go through a bounded queue to a
    thread that fills chunks of a fixed number of steps; values and layout do not depend on how many steps each
    :meth:`put` brings. Series of sub-basins and gauges are stored as float64, those of units as float32.

    Parameters
    ----------
    path : path
        The file to write. A result that is there already is replaced at the end; any other file is refused.
    basin : Basin
        Gives ``parameters`` (identifiers, gauges, areas, coordinates), ``hash``, ``title``, ``path`` and ``options``.
    clock : Clock
        The forcing's clock; steps are counted from its start.
    first, last : int
        Steps ``first`` to ``last - 1`` are written.
    variables : iterable of str
        Registry names beyond ``discharge`` and ``gauge_discharge``, which are always written.
    attributes : mapping
        Global attributes (``backend``, ``precision``, ...); they win over those made here.
    options : mapping, optional
        The run's options; those of the basin when not given.
    compression : {"zstd", "zlib", "none"}
        zstd level 3 or zlib level 1, both with shuffle.

    Raises
    ------
    InputError
        The place cannot be written, a variable is unknown, or the netCDF library lacks the filter.
    """

    def __init__(self, path: str | os.PathLike[str], *, basin: Any, clock: Any, first: int, last: int,
                 variables: Iterable[str] = (), attributes: Mapping[str, Any] | None = None,
                 options: Mapping[str, float] | None = None, compression: Compression = "zstd") -> None:
        self.path = Path(path)
        self._check(basin, compression)
        self._names = schema.choose(variables)
        if not 0 <= first < last:
            raise ValueError(f"no steps to write: first {first}, last {last}")
        self._first, self._last, self._next, self._written = first, last, first, first
        self._series: dict[str, _Series] = {}
        self._gauge_reach: np.ndarray | None = None
        self._error: BaseException | None = None
        self._open = True
        self._temporary = temporary_path(self.path)
        self._queue: queue.Queue[tuple[int, dict[str, np.ndarray]] | None] = queue.Queue(_QUEUE_BLOCKS)
        described = schema.places(basin.parameters)
        layers = int(basin.parameters.sizes.get("soil_layer", 0))
        self._thread = threading.Thread(target=self._work, name="wepl-results", daemon=True)
        try:
            with LOCK:
                self._file = netCDF4.Dataset(self._temporary, "w", format="NETCDF4")
                if compression == "zstd" and not self._file.has_zstd_filter():
                    raise InputError("the netCDF library has no zstd filter here; use compression zlib")
                self._define(described, layers, clock, compression)
                self._write_outlines(getattr(basin, "outlines", None) or {})
                self._set_attributes(basin, clock, attributes or {}, basin.options if options is None else options)
        except (OSError, RuntimeError) as error:
            self._discard()
            raise write_failure(self.path, error) from error
        except BaseException:
            self._discard()
            raise
        self._thread.start()

    def put(self, first: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Take the values of the next steps, in internal units.

        Parameters
        ----------
        first : int
            The step of the arrays' first row; blocks come in order without gaps.
        arrays : mapping
            ``discharge`` [time, subbasin] and each chosen variable [time, (soil_layer,) unit or subbasin]. The arrays
            are copied; gauges are taken from the discharge.

        Raises
        ------
        WeplError
            Writing failed (now or in an earlier block).
        """
        self._raise_error()
        steps = arrays["discharge"].shape[0]
        if first != self._next or first + steps > self._last:
            raise ValueError(f"steps {first} to {first + steps - 1} do not follow step {self._next - 1}")
        block = {}
        for name, series in self._series.items():
            if name == "gauge_discharge":
                block[name] = series.convert(arrays["discharge"][:, self._gauge_reach])
                continue
            values = arrays[name]
            if values.shape != (steps, *series.shape):
                raise ValueError(f"{name} has shape {values.shape}, expected {(steps, *series.shape)}")
            block[name] = series.convert(values)
        self._queue.put((first, block))
        self._next = first + steps

    def finish(self, attributes: Mapping[str, Any] | None = None, balance: Any = None) -> Path:
        """Write what is left, add the balance and give the file its name.

        Parameters
        ----------
        attributes : mapping, optional
            More global attributes.
        balance : BalanceReport, optional
            Its table and residuals go into the file, its closure into ``water_balance_closure``.

        Returns
        -------
        Path
            The result.
        """
        if self._next != self._last:
            raise ValueError(f"the result ends at step {self._next - 1}, {self._last - 1} was asked")
        self._queue.put(None)
        self._thread.join()
        try:
            self._raise_error()
            with LOCK:
                if balance is not None:
                    self._write_balance(balance)
                self._file.setncatts(_plain(attributes or {}))
                self._file.close()
            publish(self._temporary, self.path)
        except (OSError, RuntimeError) as error:
            self._discard()
            raise write_failure(self.path, error) from error
        except BaseException:
            self._discard()
            raise
        self._open = False
        return self.path

    def abort(self) -> None:
        """Stop writing and leave nothing behind; does nothing after :meth:`finish`."""
        if not self._open:
            return
        if self._thread.is_alive():
            self._error = self._error or InterruptedError("the run was stopped")
            self._queue.put(None)
            self._thread.join()
        self._discard()

    def __enter__(self) -> ResultWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.abort()

    def _check(self, basin: Any, compression: str) -> None:
        if compression not in _FILTERS:
            raise InputError(f"unknown compression {compression!r}; choose zstd, zlib or none")
        if compression == "zstd" and not netCDF4.__has_zstandard_support__:
            raise InputError("netCDF4 was built without zstd here; use compression zlib")
        source = getattr(basin, "path", None)
        if source is not None and self.path.exists() and Path(source).exists() and self.path.samefile(source):
            raise InputError(f"the result would replace the basin file {source}; choose another name")
        check_target(self.path, "result")

    def _define(self, described: schema.Places, layers: int, clock: Any, compression: Compression) -> None:
        n_time = self._last - self._first
        self._file.createDimension("time", n_time)
        self._file.createDimension("bounds", 2)
        self._define_time(clock)
        for place, facts in described.items():
            self._file.createDimension(place, facts[place][0].size)
            for name, (values, attributes) in facts.items():
                self._write_variable(name, (place,), values, attributes)
        names = ["discharge", *(["gauge_discharge"] if "gauge" in described else []), *self._names]
        if any("soil_layer" in schema.file_dims(name) for name in names):
            self._file.createDimension("soil_layer", layers)
            self._write_variable("soil_layer", ("soil_layer",), np.arange(1, layers + 1, dtype=np.int32),
                                 {"long_name": "soil layer, 1 at the top"})
        if "gauge" in described:
            reach_of = {int(value): index for index, value in enumerate(described["subbasin"]["subbasin"][0])}
            self._gauge_reach = np.array([reach_of[int(value)] for value in described["gauge"]["gauge_subbasin"][0]])
        for name in names:
            self._define_series(name, described, n_time, compression)

    def _define_time(self, clock: Any) -> None:
        step = clock.step_seconds
        unit, seconds = next(item for item in (("days", 86400), ("hours", 3600), ("seconds", 1))
                             if step % item[1] == 0)
        origin = str(clock.label(0)).replace("T", " ")
        units = f"{unit} since {origin if ':' in origin else origin + ' 00:00:00'}"
        edges = np.arange(self._first, self._last + 1, dtype=np.int64) * int(step) / seconds
        attributes = {"standard_name": "time", "long_name": "start of the step", "units": units,
                      "calendar": clock.calendar, "axis": "T", "bounds": "time_bounds"}
        if clock.calendar == "standard":
            attributes["units_metadata"] = "leap_seconds: none"
        self._write_variable("time", ("time",), edges[:-1], attributes)
        self._write_variable("time_bounds", ("time", "bounds"), np.stack([edges[:-1], edges[1:]], axis=1), {})

    def _define_series(self, name: str, described: schema.Places, n_time: int,
                       compression: Compression) -> None:
        entry = registry.variable(name)
        dims = schema.file_dims(name)
        shape = tuple(self._file.dimensions[dim].size for dim in dims)
        dtype: np.dtype[Any] = np.dtype(np.float32 if "unit" in dims else np.float64)
        chunk = schema.chunk_shape(n_time, shape, dtype.itemsize)
        target = self._file.createVariable(name, dtype, ("time", *dims), chunksizes=chunk, fill_value=np.nan,
                                           **_FILTERS[compression])
        if compression != "none":
            add_shuffle(target)
        # Chunks are written whole and once: kept in the library's cache they would only fill it, run for run.
        target.set_var_chunk_cache(size=_CACHE_BYTES, nelems=_CACHE_SLOTS, preemption=1.0)
        attributes = schema.variable_attributes(entry)
        where = schema.coordinates(dims, described)
        target.setncatts({**attributes, **({"coordinates": where} if where else {})})
        factor, offset = schema.scale(entry)
        buffer = np.empty((chunk[0], *shape), dtype)
        self._series[name] = _Series(target, factor, offset, shape, chunk[0], buffer)

    def _set_attributes(self, basin: Any, clock: Any, given: Mapping[str, Any], options: Mapping[str, float]) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        version = schema.version()
        made: dict[str, Any] = {
            "Conventions": "CF-1.11",
            "title": f"{getattr(basin, 'title', '') or 'basin'}: simulated discharge and water balance",
            "source": f"wepl {version}, distributed hydrological model WEP-L",
            "history": f"{now} written by wepl {version}",
            "wepl_content": "result",
            "wepl_version": version,
            "basin_file": Path(basin.path).name if getattr(basin, "path", None) else "",
            "basin_hash": basin.hash,
            "run_start": str(clock.label(self._first)),
            "run_end": str(clock.label(self._last)),
            "step_seconds": int(clock.step_seconds),
        }
        layered = any("soil_layer" in series.target.dimensions for series in self._series.values())
        if "subbasin_latitude" in self._file.variables and not layered:
            made["featureType"] = "timeSeries"
        self._file.setncatts(_plain({**made, **schema.option_attributes(options), **given}))

    def _write_outlines(self, outlines: Mapping[str, tuple[tuple[str, ...], np.ndarray, Mapping[str, Any]]]) -> None:
        """Carry the outlines of sub-basins over from the basin file."""
        for name, (dims, values, attributes) in outlines.items():
            for dim, size in zip(dims, values.shape, strict=True):
                if dim not in self._file.dimensions:
                    self._file.createDimension(dim, size)
            self._write_variable(name, dims, values, attributes)
        if outlines:
            for series in self._series.values():
                if series.target.dimensions[-1] == "subbasin":
                    series.target.setncattr("geometry", CONTAINER)

    def _write_variable(self, name: str, dims: tuple[str, ...], values: np.ndarray,
                        attributes: Mapping[str, Any]) -> None:
        values = np.asarray(values)
        text = values.dtype.kind in "OUS"
        kind: Any = str if text else values.dtype
        variable = self._file.createVariable(name, kind, dims)
        variable.setncatts(_plain(attributes))
        variable[...] = values.astype(object) if text else values

    def _write_balance(self, balance: Any) -> None:
        for name, (dims, values, attributes) in balance.variables().items():
            for dim, size in zip(dims, np.shape(values), strict=True):
                if dim not in self._file.dimensions:
                    self._file.createDimension(dim, size)
            self._write_variable(name, dims, values, attributes)
        self._file.setncatts({"water_balance_closure": float(balance.closure)})

    def _work(self) -> None:
        """The thread: append blocks until the end; after a failure only empty the queue, so that nobody waits."""
        while (item := self._queue.get()) is not None:
            if self._error is None:
                try:
                    self._append(*item)
                except BaseException as error:
                    self._error = error

    def _append(self, first: int, block: Mapping[str, np.ndarray]) -> None:
        """Fill the buffers step by step up to the next end of any chunk, so that the order in the file is fixed."""
        steps = len(block["discharge"])
        total = self._last - self._first
        row, end = first - self._first, first - self._first + steps
        while row < end:
            stop = min([end, *((row // series.steps + 1) * series.steps for series in self._series.values())])
            for name, series in self._series.items():
                start = row - row % series.steps
                series.buffer[row - start:stop - start] = block[name][row - end + steps:stop - end + steps]
                if stop - start == series.steps or stop == total:
                    with LOCK:
                        series.target[start:stop] = series.buffer[:stop - start]
            row = stop

    def _raise_error(self) -> None:
        if self._error is not None:
            error = self._error
            self._discard()
            raise write_failure(self.path, error) from error

    def _discard(self) -> None:
        """Close and remove the unfinished file, whatever state it is in."""
        self._open = False
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()
        file = getattr(self, "_file", None)
        try:
            if file is not None:
                with LOCK:
                    if file.isopen():
                        file.close()
        except (OSError, RuntimeError):
            pass
        finally:
            self._temporary.unlink(missing_ok=True)


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes in types that netCDF holds."""
    return {name: int(value) if isinstance(value, bool) else value for name, value in attributes.items()
            if value is not None}
