"""Mutations of files, drawn by hypothesis: of bytes, of netCDF content, of text tables, of nested settings."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from content import Content
from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

NUMBERS = (0, -1, 1, 0.5, -0.0, 1e-300, 1e300, -1e300, 2**31, 2**53 + 1, 2**63 - 1, -2**63, float("nan"), float("inf"),
           float("-inf"), -9999, -99.99, 32767, 1e20, 9.96921e36)
TEXTS = ("", " ", "0", "nan", "m", "degC", "days since 2010-01-01", "days since 0000-00-00", "hours since 99999-01-01",
         "%", "lunar", "noleap", "../x", "/etc/passwd", "*", "[", "\x00", "é", "鄱阳湖", "\u202e", "x" * 5000, "1e400",
         "-1", "{0}", "%s", "${HOME}", "__import__('os')", "EPSG:4326", "1 2 3", "1,5", "'", '"', "\ud800".encode(
             "utf-8", "surrogatepass").decode("latin-1"), "2010-13-45", "24:61", "kg/(", "m^999999999", "1e999 m")
KINDS = ("i1", "u1", "i2", "i4", "u4", "i8", "u8", "f4", "f8", ">i4", ">f8", "<f4")


def edited(draw: Draw, content: bytes) -> bytes:
    """Bytes with one to eight faults."""
    made = bytearray(content)
    for _ in range(draw(st.integers(1, 8))):
        size = len(made)
        if not size:
            break
        place = draw(st.one_of(st.integers(0, min(size, 512) - 1), st.integers(0, size - 1)))
        length = draw(st.sampled_from((1, 2, 4, 8, 64)))
        kind = draw(st.sampled_from(("flip", "set", "insert", "delete", "zero", "ones", "copy", "reverse", "cut")))
        if kind == "flip":
            made[place] ^= 1 << draw(st.integers(0, 7))
        elif kind == "set":
            made[place:place + length] = draw(st.binary(min_size=1, max_size=length))
        elif kind == "insert":
            made[place:place] = draw(st.binary(min_size=1, max_size=16))
        elif kind == "delete":
            del made[place:place + length]
        elif kind in ("zero", "ones"):
            made[place:place + length] = (b"\0" if kind == "zero" else b"\xff") * len(made[place:place + length])
        elif kind == "copy":
            made[place:place] = made[draw(st.integers(0, size - 1)):][:length]
        elif kind == "reverse":
            made[place:place + length] = made[place:place + length][::-1]
        elif draw(st.booleans()):
            del made[place:]
    return bytes(made)


def _value(draw: Draw) -> Any:
    return draw(st.one_of(st.sampled_from(NUMBERS), st.sampled_from(TEXTS), st.floats(), st.integers(-2**63, 2**63 - 1),
                          st.just(np.array([1.0, 2.0])), st.just(np.array([], dtype=float)), st.text(max_size=8)))


def restructured(draw: Draw, content: Content) -> Content:
    """Content with one to four faults of structure."""
    made = copy.deepcopy(content)
    for _ in range(draw(st.integers(1, 4))):
        if not made.variables:
            break
        name = draw(st.sampled_from(sorted(made.variables)))
        entry = made.variables[name]
        kind = draw(st.sampled_from((_values, _values, _attribute, _attribute, _shape, _kind, _names, _sizes)))
        kind(draw, made, name, entry)
    return made


def _values(draw: Draw, made: Content, name: str, entry: dict[str, Any]) -> None:
    if entry["values"] is None or entry["values"].dtype.kind not in "iuf":
        return
    values = entry["values"].astype(float)
    if not values.size:
        return
    how = draw(st.sampled_from(("one", "all", "shuffle", "scale", "none", "reverse")))
    flat = values.reshape(-1)
    if how == "one":
        flat[draw(st.integers(0, flat.size - 1))] = draw(st.sampled_from(NUMBERS))
    elif how == "all":
        flat[:] = draw(st.sampled_from(NUMBERS))
    elif how == "shuffle":
        flat[:] = np.roll(flat, draw(st.integers(0, 7)))
    elif how == "scale":
        flat *= draw(st.sampled_from((0.0, -1.0, 1e-30, 1e30, 1000.0, 1.0000001)))
    elif how == "reverse":
        flat[:] = flat[::-1].copy()
    else:
        entry["values"] = None
        return
    with np.errstate(all="ignore"):
        entry["values"] = values if np.dtype(entry["kind"]).kind == "f" else values.astype(np.dtype(entry["kind"]))


def _attribute(draw: Draw, made: Content, name: str, entry: dict[str, Any]) -> None:
    owner = draw(st.sampled_from((made.attributes, entry["attributes"], entry["attributes"])))
    keys = [*sorted(owner), "units", "calendar", "_FillValue", "scale_factor", "add_offset", "missing_value", "forcing",
            "valid_range", "bounds", "coordinates", "_Unsigned", "dtype", "wepl_content", "grid_mapping", "title",
            "standard_name", "positive", "moment"]
    key = draw(st.sampled_from(keys))
    if draw(st.booleans()) and key in owner:
        del owner[key]
    else:
        owner[key] = _value(draw)


def _shape(draw: Draw, made: Content, name: str, entry: dict[str, Any]) -> None:
    dims = draw(st.lists(st.sampled_from(sorted(made.dims) or ["unit"]), max_size=4))
    entry["dims"] = tuple(dims)


def _kind(draw: Draw, made: Content, name: str, entry: dict[str, Any]) -> None:
    kind = draw(st.sampled_from((*KINDS, str, "S1")))
    entry["kind"] = kind
    if kind is str or kind == "S1":
        words = draw(st.lists(st.sampled_from(TEXTS if kind is str else ("a", "")), min_size=1, max_size=4))
        entry["values"] = np.array(words, dtype=object if kind is str else "S1")
    elif entry["values"] is not None and entry["values"].dtype.kind in "iuf":
        with np.errstate(all="ignore"):
            entry["values"] = entry["values"].astype(kind)
    else:
        entry["values"] = np.zeros(1, kind)


def _names(draw: Draw, made: Content, name: str, entry: dict[str, Any]) -> None:
    how = draw(st.sampled_from(("drop", "rename", "copy", "swap")))
    other = draw(st.sampled_from([*sorted(made.variables), "time", "cell", "x", "lat", "lon", "é", "a b"]))
    if how == "drop":
        del made.variables[name]
    elif how == "swap" and other in made.variables:
        made.variables[name], made.variables[other] = made.variables[other], entry
    else:
        made.variables[other] = copy.deepcopy(entry)
        if how == "rename" and other != name:
            del made.variables[name]


def _sizes(draw: Draw, made: Content, name: str, entry: dict[str, Any]) -> None:
    if not made.dims:
        return
    dim = draw(st.sampled_from(sorted(made.dims)))
    size = draw(st.sampled_from((0, 1, 2, 3, 13, 100, None, 10**6, 2**31)))
    made.dims[dim] = size
    if size is not None and size > 1000:
        # Huge and empty: what was never written takes no room in the file.
        for other in made.variables.values():
            if dim in other["dims"]:
                other["values"] = None


def altered(draw: Draw, tree: Any) -> Any:
    """Nested dictionaries and lists with one to three faults."""
    made = copy.deepcopy(tree)
    for _ in range(draw(st.integers(1, 3))):
        at, parent, key = made, None, None
        while isinstance(at, dict | list) and at and (parent is None or draw(st.integers(0, 5)) > 0):
            parent = at
            key = draw(st.sampled_from(sorted(at))) if isinstance(at, dict) else draw(st.integers(0, len(at) - 1))
            at = at[key]
        if parent is None:
            break
        how = draw(st.sampled_from(("set", "set", "set", "drop", "copy", "wrap", "name")))
        if how == "drop":
            del parent[key]
        elif how == "copy" and isinstance(parent, list):
            parent.append(copy.deepcopy(at))
        elif how == "wrap":
            parent[key] = [at]
        elif how == "name" and isinstance(parent, dict):
            parent[draw(st.sampled_from([*TEXTS, "crs", "file", "resolution", "step"]))] = at
        else:
            parent[key] = draw(st.one_of(st.sampled_from(NUMBERS), st.sampled_from(TEXTS), st.booleans(), st.just([]),
                                         st.just({}), st.floats(1e-9, 1e9), st.text(max_size=6)))
    return made


def respelled(draw: Draw, rows: list[list[str]]) -> tuple[list[list[str]], str, str, str]:
    """A table with up to four changed cells, its separator, line end and encoding."""
    made = [list(row) for row in rows]
    for _ in range(draw(st.integers(0, 4))):
        if not made:
            break
        row = draw(st.integers(0, len(made) - 1))
        how = draw(st.sampled_from(("cell", "cell", "cell", "drop", "copy", "short", "long", "blank")))
        if how == "cell" and made[row]:
            made[row][draw(st.integers(0, len(made[row]) - 1))] = draw(
                st.one_of(st.sampled_from(TEXTS), st.sampled_from(NUMBERS).map(str), st.text(max_size=6)))
        elif how == "drop":
            del made[row]
        elif how == "copy":
            made.insert(row, list(made[row]))
        elif how == "short":
            made[row] = made[row][:-1]
        elif how == "long":
            made[row] = [*made[row], "1"]
        else:
            made.insert(row, [""])
    return (made, draw(st.sampled_from((",", ";", "\t", "|", " ", ", ", "::"))),
            draw(st.sampled_from(("\n", "\r\n", "\r", "\n\n"))),
            draw(st.sampled_from(("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1", "gb18030", "utf-32"))))
