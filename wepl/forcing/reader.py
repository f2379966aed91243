"""Forcing in blocks of time: from one file or many, or from arrays in memory, in internal units.

A variable's values may be spread over several files by time; what is read is checked to be whole when the reader is
made, and to be finite and in range by :meth:`ForcingReader.check` before a run starts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from wepl import registry, units
from wepl.errors import InputError
from wepl.run.clock import Clock

_SCAN_BYTES = 64 * 2**20
_OPEN_FILES = 32
# Share of the largest valid value by which rounding (units, packing to short integers) may pass the smallest one.
_ROUNDING = 1e-8


class Source(Protocol):
    """Something that holds ``[time, cell]`` values of one forcing variable in one file or array.

    ``where`` names the file in messages; empty where the basin's own message does.
    """

    where: str

    def read(self, first: int, last: int) -> np.ndarray:
        """Rows ``first`` to ``last`` (not included) as float64, missing values as NaN, in the source's units."""
        ...

    def part(self, low: int, high: int) -> Source:
        """The same values of columns ``low`` to ``high`` (not included)."""
        ...


class ArraySource:
    """Values in memory, ``[time, cell]``."""

    where = ""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    def part(self, low: int, high: int) -> ArraySource:
        return ArraySource(self._values[:, low:high])

    def read(self, first: int, last: int) -> np.ndarray:
        return np.array(self._values[first:last], dtype=np.float64)


class OpenFiles:
    """netCDF files that are open while a block is read, a few at most: the one unused for longest is closed.

    Forcing may lie in thousands of files, and a process may hold about a thousand. None may be left to the garbage
    collector: netCDF4 1.7 crashes when it frees an open file that holds text. Use it under the library's lock.
    """

    def __init__(self) -> None:
        self._files: OrderedDict[Path, Any] = OrderedDict()

    def get(self, path: Path) -> Any:
        """The open file; OSError or RuntimeError when it cannot be opened."""
        if path not in self._files:
            import netCDF4

            while len(self._files) >= _OPEN_FILES:
                self._files.popitem(last=False)[1].close()
            self._files[path] = netCDF4.Dataset(path)
        self._files.move_to_end(path)
        return self._files[path]

    def close(self) -> None:
        """Close all files; a later :meth:`get` opens them again."""
        while self._files:
            self._files.popitem()[1].close()


class FileSource:
    """One variable of one netCDF file, read under the library's lock; ``where`` names the file in messages."""

    def __init__(self, path: Path, variable: str, transpose: bool, files: OpenFiles, where: str = "",
                 columns: tuple[int, int | None] = (0, None)) -> None:
        self.path = path
        self.where = where
        self.files = files
        self._name = variable
        self._transpose = transpose
        self._columns = columns

    def part(self, low: int, high: int) -> FileSource:
        before = self._columns[0]
        return FileSource(self.path, self._name, self._transpose, self.files, self.where, (before + low, before + high))

    def read(self, first: int, last: int) -> np.ndarray:
        from wepl.netcdf import LOCK, UNREADABLE

        with LOCK:
            try:
                variable = self.files.get(self.path)[self._name]
                columns = slice(*self._columns)
                values = variable[columns, first:last].T if self._transpose else variable[first:last, columns]
                return np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)
            except UNREADABLE as error:
                raise InputError(f"{self.path}: {self._name} cannot be read ({error}): the file is damaged, cut short "
                                 "or gone; make or copy it again") from None


@dataclass(frozen=True)
class Segment:
    """A stretch of steps of one variable: where it starts on the clock, its length, its source and its units.

    ``order`` gives the source's column of each cell (None: the same order).
    """

    start: int
    length: int
    source: Source
    units: str
    order: np.ndarray | None = None

    def part(self, cells: np.ndarray) -> Segment:
        """The same stretch of some cells, by their positions; no more of the source than the range that holds them."""
        order = cells if self.order is None else self.order[cells]
        low = int(order.min())
        return replace(self, source=self.source.part(low, int(order.max()) + 1), order=order - low)


@dataclass(frozen=True)
class Fault:
    """A value that cannot be used: variable, what is wrong, cell id, first step, how many, the accepted range.

    ``where`` names the file where it is not the basin's own.
    """

    variable: str
    text: str
    cell: int
    step: int
    count: int
    value: float
    valid: tuple[float, float]
    where: str = ""


class ForcingReader:
    """Forcing of a basin.

    Attributes
    ----------
    clock : Clock
        The steps that every variable covers.
    cells : ndarray of int
        Cell identifiers in the order of the values.
    available : frozenset of str
        Forcing variables that are there.
    """

    def __init__(self, clock: Clock, cells: np.ndarray, segments: dict[str, list[Segment]]) -> None:
        self.clock = clock
        self.cells = np.asarray(cells)
        self.available = frozenset(segments)
        self._segments = segments
        self._files = {segment.source.files for group in segments.values() for segment in group
                       if isinstance(segment.source, FileSource)}

    def part(self, cells: np.ndarray) -> ForcingReader:
        """A reader of some of the cells, by their positions."""
        return ForcingReader(self.clock, self.cells[cells],
                             {name: [segment.part(cells) for segment in group]
                              for name, group in self._segments.items()})

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files that are read."""
        return tuple(dict.fromkeys(path for group in self._segments.values() for segment in group
                                   if (path := getattr(segment.source, "path", None)) is not None))

    def read(self, first: int, last: int) -> np.ndarray:
        """Steps ``first`` to ``last`` (not included): ``[row, step, cell]`` in registry order and internal units.

        Rows of variables that are not there are NaN. What lies below the smallest valid value by no more than rounding
        is that value: there is no rain of -1e-18 m s-1.

        Raises
        ------
        InputError
            A file cannot be read.
        """
        # No handle stays open between blocks: HDF5 does not bear that xarray opens and closes the same file meanwhile.
        try:
            return self._read(first, last)
        finally:
            self._close()

    def _read(self, first: int, last: int) -> np.ndarray:
        entries = registry.layout("forcing")
        result = np.full((len(entries), last - first, self.cells.size), np.nan)
        for row, entry in enumerate(entries):
            for segment in self._segments.get(entry.name, ()):
                low, high = max(first, segment.start), min(last, segment.start + segment.length)
                if low >= high:
                    continue
                values = segment.source.read(low - segment.start, high - segment.start)
                if segment.order is not None:
                    values = values[:, segment.order]
                factor, offset = units.linear(segment.units, entry.units)
                if factor != 1.0:
                    values *= factor
                if offset != 0.0:
                    values += offset
                _snap(values, entry.valid)
                result[row, low - first:high - first] = values
        return result

    def _blocks(self, first: int, last: int) -> Iterator[tuple[int, np.ndarray]]:
        n_rows = len(registry.layout("forcing"))
        size = max(1, int(_SCAN_BYTES / (8 * n_rows * max(1, self.cells.size))))
        for at in range(first, last, size):
            yield at, self.read(at, min(last, at + size))

    def check(self, first: int = 0, last: int | None = None) -> list[Fault]:
        """Every variable of a period whose values are missing, infinite or out of range; empty when all is well.

        One fault per variable and kind, at its first step, with the number of values concerned.
        """
        last = self.clock.n_steps if last is None else last
        found: dict[tuple[str, str], Fault] = {}
        for at, block in self._blocks(first, last):
            for row, entry in enumerate(registry.layout("forcing")):
                if entry.name in self.available:
                    low, high = entry.valid
                    if entry.name == "sunshine_duration":
                        high = min(high, self.clock.step_seconds)
                    for text, bad in _faulty(block[row], (low, high)):
                        _note(found, entry.name, text, bad, block[row], at, self.cells, (low, high))
        return [replace(fault, where=self._where(fault)) for fault in found.values()]

    def _where(self, fault: Fault) -> str:
        """The file that holds a fault."""
        return next((segment.source.where for segment in self._segments[fault.variable]
                     if segment.start <= fault.step < segment.start + segment.length), "")

    def _close(self) -> None:
        from wepl.netcdf import LOCK

        with LOCK:
            for files in self._files:
                files.close()


def _snap(values: np.ndarray, valid: tuple[float, float]) -> None:
    """Lift to the smallest valid value what lies below it by no more than rounding."""
    low, high = valid
    below = (values < low) & (values >= low - _ROUNDING * max(abs(low), abs(high)))
    values[below] = low


def _faulty(values: np.ndarray, valid: tuple[float, float]) -> Iterator[tuple[str, np.ndarray]]:
    """Masks of the kinds of fault that ``values`` have."""
    low, high = valid
    # Units and single precision bring rounding: 24 h of sunshine are no fault.
    high += 1e-6 * abs(high)
    if np.all((values >= low) & (values <= high)):
        return
    missing = np.isnan(values)
    infinite = np.isinf(values)
    outside = ~missing & ~infinite & ((values < low) | (values > high))
    for text, bad in (("missing (NaN or fill value)", missing), ("infinite", infinite), ("out of range", outside)):
        if bad.any():
            yield text, bad


def _note(found: dict[tuple[str, str], Fault], name: str, text: str, bad: np.ndarray, values: np.ndarray, at: int,
          cells: np.ndarray, valid: tuple[float, float]) -> None:
    step, cell = (int(place[0]) for place in np.nonzero(bad))
    count = int(bad.sum())
    known = found.get((name, text))
    if known is None:
        found[name, text] = Fault(name, text, int(cells[cell]), at + step, count, float(values[step, cell]), valid)
    else:
        found[name, text] = Fault(name, text, known.cell, known.step, known.count + count, known.value, valid)
