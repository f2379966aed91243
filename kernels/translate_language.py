"""The words of the translator: kinds of values, conventions of names, what is known of Python."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

# A name means the same kind of thing in every function: these are whole numbers, these are arrays of them.
INTEGERS = frozenset("""
    tile step layer n_layers unit cell reach route first last part n_parts n_route n_routes n_steps row kind which
    first_route canopy_row subbasin shortwave_given longwave_given place code source target item turn
""".split())
BOOLEANS = frozenset({"ponded", "wet"})
INTEGER_ARRAYS = frozenset("""
    tile_index record_index status tile_start tile_list unit_start upstream_start upstream_list cell_start unit_cell
    level_start level_list
""".split())
STRUCTS = {"air": "surface.Air", "bare": "surface.Demand", "front": "infiltration.Front"}
# Drivers that allocate or loop in parallel have their own form on each device.
SKIPPED = frozenset({"column_kernel", "coprime_stride", "hillslope_kernel", "river_kernel", "river_wavefront",
                     "weather_kernel", "unit_mean"})
MATH = {"exp", "log", "log1p", "expm1", "sqrt", "sin", "cos", "tan", "acos", "floor", "ceil", "isfinite"}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "/", ast.Mod: "%"}
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class TranslationError(Exception):
    """Python that the translator does not know: file, line and what it is."""


@dataclass(frozen=True)
class Type:
    """``real``, ``int``, ``bool``, ``array``, ``void``, a struct (``name`` set) or a tuple (``parts`` set)."""

    base: str
    name: str = ""
    parts: tuple[Type, ...] = ()

    def text(self) -> str:
        """The type in C++."""
        if self.base == "struct":
            return f"{self.name}<R>"
        if self.base == "tuple":
            return f"Tuple{len(self.parts)}<{', '.join(part.text() for part in self.parts)}>"
        return {"real": "R", "int": "int", "bool": "bool", "void": "void"}[self.base]


REAL, INT, BOOL, ARRAY, VOID = Type("real"), Type("int"), Type("bool"), Type("array"), Type("void")


@dataclass
class Function:
    """One translated function: signature, C++ text, the functions it calls, the modules of its constants."""

    module: ModuleType
    name: str
    parameters: list[tuple[str, Type]]
    result: Type
    body: list[str] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    summary: str = ""
    modules: list[str] = field(default_factory=list)


def namespace(module: ModuleType) -> str:
    """C++ namespace of a Python module."""
    parts = module.__name__.split(".")
    return f"stage_{parts[-1]}" if parts[-2] == "stages" else parts[-1]


def is_struct(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, tuple) and hasattr(value, "_fields")


def python_function(value: Any) -> Any:
    """The Python function behind a compiled one, None for other things."""
    value = getattr(value, "py_func", value)
    return value if inspect.isfunction(value) else None
