"""Conversions at the file boundary. Source: SI definitions; 1 kg m-2 of water is 1 mm (docs/basin-file.md)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wepl import registry
from wepl.errors import InputError
from wepl.units import convert, linear

FILE_VARIABLES = [entry for kind in ("parameter", "option", "forcing") for entry in registry.of_kind(kind)]
PAIRS = sorted({(entry.units, entry.file_units) for entry in FILE_VARIABLES} | {
    ("degC", "K"), ("degC", "degF"), ("m2", "ha"), ("s", "h"), ("1", "%")})

KNOWN = [
    (1.0, "mm d-1", "m s-1", 1e-3 / 86400), (1.0, "kg m-2 s-1", "m s-1", 1e-3), (1.0, "kg m-2", "m", 1e-3),
    (1.0, "km2", "m2", 1e6), (1.0, "ha", "m2", 1e4), (100.0, "%", "1", 1.0), (0.0, "K", "degC", -273.15),
    (25.0, "degC", "K", 298.15), (212.0, "degF", "degC", 100.0), (1.0, "mm h-1", "m s-1", 1e-3 / 3600),
    (1.0, "mm K-1 d-1", "m K-1 s-1", 1e-3 / 86400), (1.0, "mm degC-1 d-1", "m K-1 s-1", 1e-3 / 86400),
    (1.0, "km-1", "m-1", 1e-3), (1.0, "d-1", "s-1", 1 / 86400), (1.0, "h", "s", 3600.0), (5.0, "m3 m-3", "1", 5.0),
    (1.0, "s/m^(1/3)", "s m-1/3", 1.0), (1.0, "°C", "degC", 1.0), (0.3, "fraction", "1", 0.3), (2.0, "", "1", 2.0),
    (1.0, "J cm-2 d-1", "W m-2", 1e4 / 86400), (180.0, "degrees_east", "degrees_north", 180.0),
]


@pytest.mark.parametrize("value, source, target, expected", KNOWN)
def test_known_conversions(value, source, target, expected):
    assert convert(value, source, target) == pytest.approx(expected, rel=1e-14, abs=1e-12 * (expected == 0))


@pytest.mark.parametrize("internal, file", PAIRS)
@given(value=st.floats(-1e6, 1e6, allow_subnormal=False))
def test_there_and_back(internal, file, value):
    back = float(convert(convert(value, internal, file), file, internal))
    # Temperatures pass through an offset of 273.15 K or 32 degF, the rest are one multiplication each way.
    assert back == pytest.approx(value, rel=1e-13, abs=1e-11 if "deg" in internal else 1e-290)


@pytest.mark.parametrize("entry", FILE_VARIABLES, ids=lambda entry: entry.name)
def test_the_registry_converts(entry):
    factor, _ = linear(entry.file_units, entry.units)
    assert np.isfinite(factor) and factor > 0


@given(values=st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=5))
def test_the_same_unit_changes_no_bit(values):
    array = np.array(values)
    result = convert(array, "m", "m")
    np.testing.assert_array_equal(result.view("u8"), array.view("u8"))
    assert result is not array and not np.shares_memory(result, array)


def test_what_is_given_is_not_changed():
    given_values = np.array([1, 2, 3])
    np.testing.assert_array_equal(convert(given_values, "km", "m"), [1000.0, 2000.0, 3000.0])
    np.testing.assert_array_equal(given_values, [1, 2, 3])


@pytest.mark.parametrize("source, target", [
    ("mm", "m s-1"), ("m", "m2"), ("degC", "m s-1"), ("s m-1", "s m-1/3"), ("s m-1/3", "s m-1"), ("1", "s m-1/3"),
    ("kg m-2", "m s-1"), ("kg", "m"), ("W m-2", "m s-1"), ("lg(re 1 m)", "m"), ("dBZ", "m"),
    ("days since 2000-01-01", "s"), ("unknown", "1"), ("no_unit", "1"), ("blob", "m"), ("m", "blob"), ("m s^", "m"),
])
def test_what_does_not_convert_is_named(source, target):
    with pytest.raises(InputError) as caught:
        convert(1.0, source, target, "depth of the lake")
    message = str(caught.value)
    assert message.startswith("depth of the lake: ") and message.endswith(f"that converts to {target!r}")
    assert repr(source) in message or repr(target) in message


@given(text=st.text(max_size=12), target=st.sampled_from(["m", "1", "degC", "m s-1", "s m-1/3"]))
def test_any_text_is_converted_or_refused(text, target):
    try:
        factor, offset = linear(text, target)
    except ValueError as error:
        assert str(error)
    else:
        assert np.isfinite(factor) and np.isfinite(offset) and factor != 0.0


@given(value=st.floats(0.0, 1e3), other=st.floats(0.0, 1e3))
def test_order_is_kept(value, other):
    assume(value < other)
    for internal, file in PAIRS:
        assert convert(value, file, internal) <= convert(other, file, internal)
