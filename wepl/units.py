"""Units at the file boundary: values are converted once, by UDUNITS, with the hydrologist's rule 1 kg m-2 = 1 mm."""

from __future__ import annotations

from functools import cache

import numpy as np

from wepl.errors import InputError

# UDUNITS has no fractional powers of a base unit: these are compared as text.
_MANNING = {"s m-1/3", "s m^-1/3", "s m**-1/3", "s/m^(1/3)", "s/m1/3", "s m^(-1/3)", "m-1/3 s", "m^(-1/3) s"}
# Spellings that UDUNITS reads as something else or not at all.
_SPELLINGS = {"°C": "degC", "deg C": "degC", "C": "degC", "m3/m3": "m3 m-3", "fraction": "1", "-": "1", "": "1"}


@cache
def linear(from_units: str, to_units: str) -> tuple[float, float]:
    """Factor and offset with ``to = factor * from + offset``.

    Raises
    ------
    ValueError
        A unit is unknown or the two measure different things; the message says which.
    """
    if from_units == to_units or (from_units in _MANNING and to_units in _MANNING):
        return 1.0, 0.0
    if from_units in _MANNING or to_units in _MANNING:
        raise ValueError(f"{from_units!r} does not convert to {to_units!r}")
    import cf_units

    units = []
    for text in (from_units, to_units):
        try:
            unit = cf_units.Unit(_SPELLINGS.get(text, text))
        except ValueError:
            raise ValueError(f"the unit {text!r} is unknown") from None
        if unit.is_unknown() or unit.is_no_unit() or unit.is_time_reference():
            raise ValueError(f"{text!r} is not a unit of measure")
        units.append(unit)
    source, target = units
    factor = 1.0
    if not source.is_convertible(target):
        # A mass of water per area is a depth: 1 kg m-2 is 1 mm.
        try:
            source = source / cf_units.Unit("kg m-3")
        except ValueError:
            raise ValueError(f"{from_units!r} does not convert to {to_units!r}") from None
        factor = 1.0e-3
        if not source.is_convertible(target):
            raise ValueError(f"{from_units!r} does not convert to {to_units!r}")
    at_zero, at_one, at_two = (float(value) for value in source.convert(np.array([0.0, 1.0, 2.0]), target))
    slope = at_one - at_zero
    if not np.isfinite(at_zero + at_two) or abs(at_two - at_one - slope) > 1e-9 * abs(at_two):
        raise ValueError(f"{from_units!r} is no linear scale of {to_units!r}")
    return factor * slope, at_zero


def convert(values: np.ndarray, from_units: str, to_units: str, quantity: str = "") -> np.ndarray:
    """``values`` in other units, as a new float64 array.

    Parameters
    ----------
    values : array_like
    from_units, to_units : str
        UDUNITS text, or Manning's s m-1/3.
    quantity : str
        What the values are, for the message.

    Raises
    ------
    InputError
        The units are unknown or do not convert: names the quantity and both units.
    """
    try:
        factor, offset = linear(from_units, to_units)
    except ValueError as error:
        what = f"{quantity}: " if quantity else ""
        raise InputError(f"{what}{error}; give a `units` attribute that converts to {to_units!r}") from None
    result = np.array(values, dtype=np.float64)
    if factor != 1.0:
        result *= factor
    if offset != 0.0:
        result += offset
    return result
