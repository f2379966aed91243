"""Compare two result, state or basin files variable by variable, in blocks, so that size does not matter."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cftime
import netCDF4
import numpy as np

from wepl.errors import InputError
from wepl.netcdf import LOCK, PACKED_CONSTANT, UNREADABLE, check_size

_BLOCK_VALUES = 2**18


@dataclass(frozen=True, slots=True)
class Row:
    """The comparison of one variable.

    Attributes
    ----------
    name : str
    within : bool
        True when every value agrees: ``|a - b| <= atol + rtol max(|a|, |b|)``, or both are NaN.
    max_absolute, max_relative : float
        Largest ``|a - b|`` (in the variable's unit) and ``|a - b| / max(|a|, |b|)``; infinite where only one of the two
        is NaN; NaN when the variable could not be compared.
    where : str
        Place of the worst value: the one farthest beyond the tolerance, else the largest absolute difference.
    note : str
        Why the variable could not be compared, or the unit.
    """

    name: str
    within: bool
    max_absolute: float
    max_relative: float
    where: str
    note: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """All rows, in the first file's order, then what only the second has."""

    rows: tuple[Row, ...]

    @property
    def within(self) -> bool:
        """True when every variable agrees."""
        return all(row.within for row in self.rows)

    @property
    def text(self) -> str:
        """The rows as a table."""
        width = max((len(row.name) for row in self.rows), default=8)
        lines = [f"{'variable':<{width}} {'max abs':>10} {'max rel':>10}  agree  worst at"]
        for row in self.rows:
            verdict = "yes" if row.within else "NO"
            tail = row.note if math.isnan(row.max_absolute) else row.where
            lines.append(f"{row.name:<{width}} {_number(row.max_absolute):>10} {_number(row.max_relative):>10}  "
                         f"{verdict:<5}  {tail}".rstrip())
        differing = [row.name for row in self.rows if not row.within]
        lines.append(f"{len(differing)} of {len(self.rows)} variables differ" if differing
                     else f"all {len(self.rows)} variables agree")
        return "\n".join(lines)


def compare(path_a: str | os.PathLike[str], path_b: str | os.PathLike[str], rtol: float = 1e-9,
            atol: float = 0.0) -> Comparison:
    """Compare two netCDF files.

    Parameters
    ----------
    path_a, path_b : path
        The files.
    rtol, atol : float
        Allowed relative difference, and allowed absolute difference in each variable's unit.

    Returns
    -------
    Comparison
        One row per variable of either file; a variable that only one file has, or whose dimensions, type or unit
        differ, counts as a difference. Global attributes are not compared.

    Raises
    ------
    InputError
        A file cannot be read, or a tolerance is negative or not a number.
    """
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0.0:
            raise InputError(f"{name} is {value}; give a number that is not negative")
    first, second = _readable(path_a), _readable(path_b)
    try:
        with LOCK, netCDF4.Dataset(first) as a, netCDF4.Dataset(second) as b:
            a.set_auto_mask(False)
            b.set_auto_mask(False)
            for file, path in ((a, first), (b, second)):
                check_size(path, {name: 8 * math.prod(one.shape) for name, one in file.variables.items()},
                           PACKED_CONSTANT)
            rows = [_row(name, a, b, rtol, atol) for name in a.variables]
            rows += [_alone(name, first) for name in b.variables if name not in a.variables]
            return Comparison(tuple(rows))
    except UNREADABLE as error:
        raise InputError(f"{first} and {second} cannot be compared: {error}; one of them is damaged: make or copy it "
                         "again") from error


def _readable(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file} is {'a folder' if file.is_dir() else 'not there'}; give a netCDF file")
    try:
        with LOCK, netCDF4.Dataset(file):
            return file
    except UNREADABLE as error:
        raise InputError(f"{file} cannot be read: {error}; it is damaged or not netCDF: make or copy it "
                         "again") from error


def _alone(name: str, lacking: Path) -> Row:
    return Row(name, False, math.nan, math.nan, "", f"{lacking.name} has no such variable")


def _row(name: str, a: netCDF4.Dataset, b: netCDF4.Dataset, rtol: float, atol: float) -> Row:
    if name not in b.variables:
        return _alone(name, Path(b.filepath()))
    one, other = a[name], b[name]
    reason = _not_comparable(one, other)
    if reason:
        return Row(name, False, math.nan, math.nan, "", reason)
    if one.dtype is str or one.dtype.kind in "SU":
        return _text_row(name, a, one, other)
    max_absolute = max_relative = 0.0
    worst, place = -math.inf, None
    within = True
    for start, left, right in _blocks(one, other):
        absolute, relative, excess = _differences(left, right, rtol, atol)
        within = within and not bool((excess > 0.0).any())
        max_absolute = max(max_absolute, float(absolute.max()))
        max_relative = max(max_relative, float(relative.max()))
        measure = np.where(excess > 0.0, excess, -1.0 / (1.0 + absolute))
        here = int(np.argmax(measure))
        if measure.flat[here] > worst and absolute.flat[here] > 0.0:
            worst = float(measure.flat[here])
            index = np.unravel_index(here, measure.shape) if measure.shape else ()
            place = tuple(int(i) + (start if axis == 0 else 0) for axis, i in enumerate(index))
    where = "" if place is None else _where(a, one, place)
    return Row(name, within, max_absolute, max_relative, where, str(getattr(one, "units", "")))


def _not_comparable(one: netCDF4.Variable, other: netCDF4.Variable) -> str:
    """Why two variables of one name cannot be compared value by value; empty when they can."""
    if one.dimensions != other.dimensions or one.shape != other.shape:
        return f"shapes differ: {_shape(one)} and {_shape(other)}"
    units = [str(getattr(item, "units", "")) for item in (one, other)]
    if units[0] != units[1]:
        return f"units differ: {units[0] or 'none'} and {units[1] or 'none'}"
    text = [item.dtype is str or item.dtype.kind in "SU" for item in (one, other)]
    return "one is text, the other is not" if text[0] != text[1] else ""


def _shape(variable: netCDF4.Variable) -> str:
    sizes = zip(variable.dimensions, variable.shape, strict=True)
    return "(" + ", ".join(f"{dim} {size}" for dim, size in sizes) + ")"


def _blocks(one: netCDF4.Variable, other: netCDF4.Variable) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Pieces of both variables along the first dimension, as float64; whole chunks at a time."""
    if one.size == 0:
        return
    if one.ndim == 0:
        yield 0, np.asarray(one[...], np.float64), np.asarray(other[...], np.float64)
        return
    chunks = one.chunking()
    chunk = 1 if chunks in (None, "contiguous") else int(chunks[0])
    row = max(1, one.size // one.shape[0])
    steps = max(chunk, _BLOCK_VALUES // row // chunk * chunk)
    for start in range(0, one.shape[0], steps):
        part = slice(start, start + steps)
        yield start, np.asarray(one[part], np.float64), np.asarray(other[part], np.float64)


def _differences(left: np.ndarray, right: np.ndarray, rtol: float,
                 atol: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Absolute and relative difference, and what the absolute one has beyond the tolerance.

    A difference is 0 where both are NaN or the same infinity, infinite where only one is.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        absolute = np.abs(left - right)
        size = np.fmax(np.abs(left), np.abs(right))
        relative = absolute / np.where(size > 0.0, size, 1.0)
        allowed = np.where(np.isfinite(size), atol + rtol * size, 0.0)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    absolute = np.where(same, 0.0, np.where(np.isfinite(absolute), absolute, np.inf))
    relative = np.where(same, 0.0, np.where(np.isfinite(relative), relative, np.inf))
    return absolute, relative, absolute - allowed


def _text_row(name: str, file: netCDF4.Dataset, one: netCDF4.Variable, other: netCDF4.Variable) -> Row:
    left, right = np.asarray(one[...], dtype=object), np.asarray(other[...], dtype=object)
    differing = np.flatnonzero((left != right).ravel())
    if not differing.size:
        return Row(name, True, 0.0, 0.0, "", "text")
    index = tuple(int(i) for i in np.unravel_index(differing[0], left.shape)) if left.shape else ()
    return Row(name, False, math.nan, math.nan, _where(file, one, index),
               f"text differs at {differing.size} places, first at {_where(file, one, index) or 'the only value'}")


def _where(file: netCDF4.Dataset, variable: netCDF4.Variable, index: tuple[int, ...]) -> str:
    """An index as a time label and identifiers, e.g. ``1982-05-01 00:00:00, subbasin 12``."""
    words = []
    for dim, position in zip(variable.dimensions, index, strict=True):
        value: Any = position
        if dim in file.variables and file[dim].dimensions == (dim,):
            value = file[dim][position]
        if dim == "time" and dim in file.variables and hasattr(file[dim], "units"):
            calendar = getattr(file[dim], "calendar", "standard")
            words.append(str(cftime.num2date(value, file[dim].units, calendar)))
        elif dim in file.variables:
            words.append(f"{dim} {value}")
        else:
            words.append(f"{dim} number {position + 1}")
    return ", ".join(words)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"
