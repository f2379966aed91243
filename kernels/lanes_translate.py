"""Translates wepl/physics and wepl/stages to C++ on vector lanes: a lane per tile, unit, sub-basin or reach.

The same Python as for the GPU (:mod:`wepl.kernels.translate`), in another form: a GPU runs scalar code per thread, a
CPU wants each operation on several places at once. Starting from a stage's function, each function is written for the
kinds of parameters it is called with: what differs between lanes is a vector, what does not stays a number. The headers
are committed under ``kernels/native``; ``python -m wepl.kernels.lanes_translate`` writes them again and a test holds
them up to date.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

from wepl.kernels.lanes_body import Body
from wepl.kernels.lanes_expressions import _FIELDS
from wepl.kernels.lanes_kinds import ARRAY, INT, LANE, REAL, Function, Kind, Signature
from wepl.kernels.translate_language import namespace

FOLDER = Path(__file__).resolve().parent / "native"
_NUMBERS = {"dt": REAL, "dt_route": REAL}
# The function that a stage's driver calls, and its parameters that number the lanes.
ROOTS = {"weather": ("weather", "advance_weather", {"unit": LANE}),
         "column": ("column", "advance_tile", {"tile": LANE}),
         "hillslope": ("hillslope", "advance_subbasin", {"subbasin": LANE}),
         "river": ("river", "advance_reach", {"reach": INT.wide})}
_COUNTS = frozenset({"n_steps", "n_route", "n_routes", "route", "shortwave_given", "longwave_given"})


class Translator:
    """Translates a stage's function and all that it calls."""

    def __init__(self) -> None:
        self.structs: dict[str, type] = {}
        self._functions: dict[Signature, Function] = {}
        self._constants: dict[str, str] = {}

    def function(self, module: ModuleType, name: str, kinds: tuple[Kind, ...]) -> Function:
        """The translation of one function for these kinds of parameters."""
        key = Signature(module.__name__, name, kinds)
        if key not in self._functions:
            self._functions[key] = Body(self, module, name, kinds).translate()
        return self._functions[key]

    def struct(self, value: type) -> None:
        """Note a tuple with named fields that is in use."""
        module = importlib.import_module(value.__module__)
        self.structs.setdefault(f"{namespace(module)}__{value.__name__}", value)

    def constant(self, owner: str, name: str, value: float) -> str:
        """The C++ name of a module's number."""
        known = f"{owner}__{name}"
        kind, text = ("int", str(value)) if isinstance(value, int) else ("Real", f"Real({value!r})")
        self._constants[known] = f"constexpr {kind} {known} = {text};"
        return known

    def header(self, stage: str) -> str:
        """The header of one stage."""
        module_name, name, lanes = ROOTS[stage]
        module = importlib.import_module(f"wepl.stages.{module_name}")
        function = getattr(module, name)
        names = getattr(function, "py_func", function).__code__.co_varnames[:getattr(
            function, "py_func", function).__code__.co_argcount]
        kinds = tuple(lanes.get(one) or _NUMBERS.get(one) or (INT if one in _COUNTS else ARRAY) for one in names)
        self.function(module, name, kinds)
        lines = [f"// The {stage} stage on vector lanes.",
                 "// Written by wepl.kernels.lanes_translate from wepl/physics and wepl/stages: change it there.",
                 "#pragma once", '#include "arrays.h"', '#include "rows.cuh"', "",
                 f"namespace wepl::on_{stage} {{", "", "using wepl::pick;", ""]
        lines += [*self._constants.values(), ""] if self._constants else []
        for key, struct in self.structs.items():
            lines += [*_struct_text(key, struct), ""]
        order: list[Signature] = []
        self._visit(Signature(module.__name__, name, kinds), order)
        for signature in order:
            lines += [*_function_text(self._functions[signature]), ""]
        return "\n".join([*lines, "}  // namespace", ""])

    def _visit(self, signature: Signature, done: list[Signature]) -> None:
        if signature not in done:
            for called in self._functions[signature].calls:
                self._visit(called, done)
            done.append(signature)


def _struct_text(name: str, struct: type) -> list[str]:
    hints = get_type_hints(struct)
    fields = [f"    {_FIELDS[hints[field]].text()} {field};" for field in hints]
    picked = ", ".join(f"pick(m, a.{field}, b.{field})" for field in hints)
    return [f"// {(struct.__doc__ or '').strip().splitlines()[0]}", f"struct {name} {{", *fields, "};",
            f"WEPL_LANE {name} pick(M m, {name} a, {name} b) {{ return {{{picked}}}; }}"]


def _function_text(function: Function) -> list[str]:
    arrays = [name for name, kind in function.parameters if kind == ARRAY]
    parameters = ["M on", *(f"{name}_t& {name}" if kind == ARRAY else f"{kind.text()} {name}"
                           for name, kind in function.parameters)]
    template = [f"template <{', '.join(f'typename {name}_t' for name in arrays)}>"] if arrays else []
    return [f"// {function.summary}", *template,
            f"static inline {function.result.text()} {namespace(function.module)}__{function.name}"
            f"({', '.join(parameters)}) {{", *function.body, "}"]


def headers() -> dict[str, str]:
    """Text of every generated header by its name under ``kernels/native``."""
    return {f"{stage}.h": Translator().header(stage) for stage in ROOTS}


def write(folder: Path = FOLDER) -> list[str]:
    """Write the headers; the names of those that changed."""
    changed = []
    for name, text in headers().items():
        target = folder / name
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
            changed.append(name)
    return changed


if __name__ == "__main__":
    for changed_name in write():
        print(changed_name)
