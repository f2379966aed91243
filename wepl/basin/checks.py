"""The rules of a basin, made from the registry: each passes, or says what is wrong, where, and what to do.

Rules come in an order in which a later one may rely on an earlier one: names, dimensions and units first, then
values, then what values say about each other, then time and forcing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry, units
from wepl.basin import relations, vegetation
from wepl.errors import BasinError, InputError
from wepl.forcing.reader import ForcingReader
from wepl.registry.model import Variable

if TYPE_CHECKING:
    import xarray as xr

_REQUIRED_FORCING = ("precipitation", "air_temperature", "relative_humidity", "wind_speed")
_MAY_BE_MISSING = ("manning_overland", "initial_soil_moisture")
_TEXTS = {"gauge_name": "gauge", "vegetation_name": "vegetation"}
# Whole numbers up to this are exact as float64, which is what a variable with a fill value is read as.
_LARGEST_INTEGER = 2**53
# Share of a limit by which a value may pass it: units bring rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Check:
    """One rule: what it says, whether the basin keeps it, and a line for each way in which it does not."""

    rule: str
    passed: bool
    problems: tuple[str, ...]

    @property
    def message(self) -> str:
        """The problems as one text; empty when the rule is kept."""
        return "\n".join(self.problems)


def _check(rule: str, problems: Iterator[str] | list[str]) -> Check:
    found = tuple(problems)
    return Check(rule, not found, found)


def examine(raw: xr.Dataset) -> list[Check]:
    """Rules about everything but time and forcing; stops after the first stage that is broken."""
    stages = (
        (("required variables are there", _missing), ("dimensions have a usable size", _sizes)),
        (("variables have their dimensions", _dims), ("variables hold numbers", _kinds)),
        (("units are known and convert", _units), ("tables are given whole or not at all", _tables),
         ("options have one value", _options)),
        (("values are there and finite", _finite), ("values are within their range", _ranges)),
        tuple(relations.RULES),
    )
    found: list[Check] = []
    for stage in stages:
        now = [_check(rule, function(raw)) for rule, function in stage]
        found += now
        if not all(check.passed for check in now):
            break
    return found


def _entries(raw: xr.Dataset) -> list[Variable]:
    """Topology and parameters that the file gives."""
    table = registry.of_kind("topology") + registry.of_kind("parameter")
    return [entry for entry in table if entry.name in raw.variables]


def _missing(raw: xr.Dataset) -> Iterator[str]:
    for entry in registry.of_kind("topology") + registry.of_kind("parameter"):
        if entry.default is None and not entry.optional and entry.name not in raw.variables:
            yield (f"{entry.name} is missing ({entry.long_name}; dimensions {entry.dims}): the file must give it, see "
                   "docs/basin-file.md")
    if ("gauge" in raw.variables) != ("gauge_subbasin" in raw.variables):
        yield "gauge and gauge_subbasin belong together: give both or none"


def _sizes(raw: xr.Dataset) -> Iterator[str]:
    yield from wrong_sizes({str(dim): size for dim, size in raw.sizes.items()})


def wrong_sizes(sizes: Mapping[str, int]) -> Iterator[str]:
    """A line for each dimension whose size cannot be."""
    fixed = {"land_class": (len(registry.LAND_CLASSES),) * 2, "month": (12, 12),
             "soil_layer": (1, registry.MAX_SOIL_LAYERS)}
    for dim in ("subbasin", "unit", "cell", "land_class", "soil_layer", "month", "vegetation"):
        if dim not in sizes:
            continue
        low, high = fixed.get(dim, (1, 2**31 - 1))
        if not low <= sizes[dim] <= high:
            wanted = f"{low}" if low == high else f"{low} to {high}"
            yield f"dimension {dim} has size {sizes[dim]}, expected {wanted}"


def _dims(raw: xr.Dataset) -> Iterator[str]:
    for entry in _entries(raw):
        given = raw.variables[entry.name].dims
        if sorted(map(str, given)) != sorted(entry.dims):
            yield f"{entry.name} has dimensions {given}, expected {entry.dims}"
    for name, dim in _TEXTS.items():
        if name in raw.variables and raw.variables[name].dims != (dim,):
            yield f"{name} has dimensions {raw.variables[name].dims}, expected {(dim,)}"


def _kinds(raw: xr.Dataset) -> Iterator[str]:
    for entry in _entries(raw):
        kind = raw.variables[entry.name].dtype.kind
        if kind not in "iuf":
            yield f"{entry.name} holds {'text' if kind in 'SUO' else raw.variables[entry.name].dtype}, expected numbers"


def _units(raw: xr.Dataset) -> Iterator[str]:
    for entry in _entries(raw) + [entry for entry in registry.of_kind("option") if entry.name in raw.variables]:
        if entry.integer or raw.variables[entry.name].dtype.kind in "USO":
            continue
        given = raw.variables[entry.name].attrs.get("units")
        if given is None:
            if entry.units != "1":
                yield (f"{entry.name}: the attribute units is missing; give one that converts to {entry.units!r}, such "
                       f"as {entry.file_units!r}")
            continue
        try:
            units.linear(str(given), entry.units)
        except ValueError as error:
            yield (f"{entry.name}: {error}; give a unit that converts to {entry.units!r}, such as "
                   f"{entry.file_units!r}")


def _tables(raw: xr.Dataset) -> Iterator[str]:
    for what, names in (("the vegetation table", tuple(vegetation.table())),
                        ("the soil curve", ("haverkamp_a", "haverkamp_b", "mualem_n"))):
        absent = [name for name in names if name not in raw.variables]
        if absent and len(absent) < len(names):
            yield f"{what} is incomplete: {', '.join(absent)} missing; give all of it or none"
    if "vegetation_name" in raw.variables and "leaf_area_index" not in raw.variables:
        yield "vegetation_name is there without the vegetation table (leaf_area_index, ...): give all of it or none"


def _options(raw: xr.Dataset) -> Iterator[str]:
    for entry in registry.of_kind("option"):
        if entry.name not in raw.variables:
            continue
        given = raw.variables[entry.name]
        if given.ndim:
            yield f"{entry.name} has dimensions {given.dims}, but an option is one number"
        elif given.dtype.kind in "USO":
            if text_of(given.values) not in entry.choices:
                yield f"{entry.name} is {text_of(given.values)!r}, expected a number" + (
                    f" or one of {', '.join(entry.choices)}" if entry.choices else "")
        elif not np.isfinite(given.values):
            yield f"{entry.name} is not a finite number"


def _finite(raw: xr.Dataset) -> Iterator[str]:
    for entry in _entries(raw):
        values = raw.variables[entry.name].transpose(*entry.dims).values
        if values.dtype.kind != "f":
            continue
        allowed = np.isnan(values) if entry.name in _MAY_BE_MISSING else np.zeros(values.shape, bool)
        yield from _report(raw, entry, ~np.isfinite(values) & ~allowed, values, "is missing (NaN or fill value) or "
                           "infinite", "give a number")


def _ranges(raw: xr.Dataset) -> Iterator[str]:
    named = [entry for entry in registry.of_kind("option") if entry.name in raw.variables]
    for entry in _entries(raw) + named:
        given = raw.variables[entry.name]
        if given.dtype.kind not in "iuf":
            continue
        values = given.transpose(*entry.dims).values
        if entry.integer:
            whole = np.where(np.isfinite(values), values, 0.0)
            yield from _report(raw, entry, whole != np.round(whole), values, "is not a whole number", "give an integer")
            yield from _report(raw, entry, np.abs(whole.astype(float)) > _LARGEST_INTEGER, values, "is too large",
                               f"use whole numbers up to {_LARGEST_INTEGER}")
        else:
            values = units.convert(values, str(given.attrs.get("units", "1")), entry.units, entry.name)
        low, high = entry.valid
        if np.isfinite(low) and np.isfinite(high):
            low, high = low - (_ROUNDING * abs(low) or 1e-3 * _ROUNDING * high), high + _ROUNDING * abs(high)
        bad = np.isfinite(values) & ((values < low) | (values > high))
        scale, unit = _file_scale(entry)
        yield from _report(raw, entry, bad, scale(values), f"is outside {outside(entry)}", "correct it or its units",
                           unit)


def _file_scale(entry: Variable) -> tuple[Callable[[np.ndarray], np.ndarray], str]:
    """How a message shows values of a variable: from internal units to those of the docs, and their text."""
    if entry.integer:
        return np.asarray, ""
    factor, offset = units.linear(entry.units, entry.file_units)
    return lambda values: factor * np.asarray(values) + offset, "" if entry.file_units == "1" else entry.file_units


def outside(entry: Variable, valid: tuple[float, float] | None = None) -> str:
    """The accepted range as text, in the units of the docs."""
    scale, unit = _file_scale(entry)
    low, high = scale(np.asarray(valid or entry.valid))
    return f"{low:g} to {high:g} {unit}".rstrip()


def text_of(value: object) -> str:
    """Text as the file gives it: a string, or the bytes of a character array."""
    given = value.item() if isinstance(value, np.ndarray) else value
    return given.decode("utf-8", "replace") if isinstance(given, bytes) else str(given)


def _digits(number: float) -> str:
    """A number with the digits that tell it from a limit; whole numbers in full."""
    if abs(number) <= _LARGEST_INTEGER * 2**11 and number == int(number):
        return str(int(number))
    return f"{number:.9g}"


def _report(raw: xr.Dataset, entry: Variable, bad: np.ndarray, values: np.ndarray, fault: str, advice: str,
            unit: str = "") -> Iterator[str]:
    """One line for a mask of bad values: the first place by its identifier, the value, the count."""
    if not bad.any():
        return
    place = tuple(int(index[0]) for index in np.nonzero(np.atleast_1d(bad)))
    value = np.atleast_1d(values)[place]
    parts = []
    for dim, index in zip(entry.dims, place, strict=False):
        if dim == entry.name:
            parts.append(f"position {index + 1}")
        elif dim in raw.variables and raw.variables[dim].dtype.kind in "iuf" and raw.variables[dim].ndim == 1:
            shown = raw.variables[dim].values[index]
            parts.append(f"{dim} {_digits(shown)}" if np.isfinite(shown) else f"{dim} at position {index + 1}")
        elif dim == "land_class":
            parts.append(registry.LAND_CLASSES[index])
        else:
            parts.append(f"{dim.replace('soil_', '')} {index + 1}")
    where = f" at {', '.join(parts)}" if parts else ""
    total = int(bad.sum())
    more = f" ({total} such values)" if total > 1 else ""
    shown = _digits(value) if np.isfinite(value) else str(value)
    yield f"{entry.name}{where}: {shown}{f' {unit}' if unit else ''} {fault}{more}; {advice}"


def examine_time(open_forcing: Callable[[], ForcingReader],
                 raw: xr.Dataset) -> tuple[ForcingReader | None, list[Check]]:
    """Rules about the forcing's time and variables; the reader when it can be made."""
    rule = "forcing is there, on equal steps without gap or duplicate"
    try:
        forcing = open_forcing()
    except BasinError as error:
        return None, [Check(rule, False, error.problems or (str(error),))]
    except InputError as error:
        return None, [Check(rule, False, (str(error),))]
    found = [Check(rule, True, ())]
    found.append(_check("the forcing has what the model needs", _needs(forcing, raw)))
    return (forcing if found[-1].passed else None), found


def _needs(forcing: ForcingReader, raw: xr.Dataset) -> Iterator[str]:
    for name in _REQUIRED_FORCING:
        if name not in forcing.available:
            yield f"{name} is missing: the forcing must give it with dimensions (time, cell)"
    if not {"shortwave_radiation", "sunshine_duration"} & forcing.available:
        yield "neither shortwave_radiation nor sunshine_duration is there: the forcing must give one of them"
    if forcing.clock.step_seconds < 86400 and "unit_longitude" not in raw.variables:
        yield "unit_longitude is missing: steps shorter than a day need it for the sun's height"


def forcing_problems(forcing: ForcingReader, first: int = 0, last: int | None = None) -> tuple[str, ...]:
    """A line for each kind of unusable forcing value in a period."""
    lines = []
    for fault in forcing.check(first, last):
        entry = registry.variable(fault.variable)
        text = fault.text
        if text == "out of range":
            scale, unit = _file_scale(entry)
            text = f"{float(scale(np.asarray(fault.value))):.9g} {unit} is outside {outside(entry, fault.valid)}"
        at = f"{fault.where}: " if fault.where else ""
        lines.append(f"{at}{fault.variable} in cell {fault.cell} at {forcing.clock.label(fault.step)}: {text} "
                     f"({fault.count} such value{'s' * (fault.count > 1)}); fill or correct the series")
    return tuple(lines)


def examine_forcing(forcing: ForcingReader) -> list[Check]:
    """The rule about forcing values, over the whole period."""
    return [_check("forcing values are there and within their range", list(forcing_problems(forcing)))]
