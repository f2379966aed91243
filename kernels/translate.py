"""Translates the scalar Python of wepl/physics and wepl/stages into CUDA C++ headers, function by function.

The physics is written once, in Python: numba compiles it for the CPU and for numba.cuda, and this module writes the
functions as templates over the real type for CuPy's kernels (``kernels/cuda/physics`` and ``kernels/cuda/stages``). The
headers are committed, so that they can be read and reviewed; ``python -m wepl.kernels.translate`` writes them again and
a test holds them up to date. Only the small language in use is known: anything else is an error that names the line.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from wepl.kernels.translate_body import Body
from wepl.kernels.translate_language import (
    ARRAY,
    BOOL,
    INT,
    REAL,
    SKIPPED,
    STRUCTS,
    Function,
    Type,
    is_struct,
    namespace,
    python_function,
)
from wepl.kernels.translate_views import views_header

FOLDER = Path(__file__).resolve().parent / "cuda"
PHYSICS = ("constants", "atmosphere", "snow", "interception", "evapotranspiration", "energy", "rain_pattern",
           "soil_hydraulics", "soil_water", "green_ampt", "kinematic", "overland", "river", "groundwater")
STAGES = ("surface", "infiltration", "soil_water", "ground", "column", "hillslope", "river", "weather")

class Translator:
    """Translates modules; results are kept, so that a callee's types are known to its callers."""

    def __init__(self) -> None:
        self._functions: dict[tuple[str, str], Function] = {}

    def function(self, module: ModuleType, name: str) -> Function:
        """The translation of one function."""
        key = (module.__name__, name)
        if key not in self._functions:
            self._functions[key] = Body(self, module, name).translate()
        return self._functions[key]

    def module(self, module: ModuleType) -> str:
        """The header of one module."""
        own = [name for name in _function_names(module) if name not in SKIPPED]
        functions = {name: self.function(module, name) for name in own}
        includes = sorted({self._header(called) for function in functions.values() for called, _ in function.calls
                           if called != module.__name__}
                          | {self._header(used) for function in functions.values() for used in function.modules
                             if used != module.__name__}
                          | {self._header(used.__module__) for used in _foreign_structs(module)})
        lines = [f"// {(module.__doc__ or '').strip().splitlines()[0]}",
                 f"// Written by wepl.kernels.translate from {module.__name__.replace('.', '/')}.py: change it there.",
                 "#pragma once", '#include "prelude.cuh"', '#include "rows.cuh"']
        lines += [f'#include "{header}"' for header in includes]
        lines += ["", f"namespace wepl::{namespace(module)} {{", ""]
        constants = list(_constants(module))
        lines += constants + ([""] if constants else [])
        for struct in _structs(module):
            lines += [*_struct_text(struct), ""]
        for name in _call_order(module.__name__, functions):
            lines += [*_function_text(functions[name]), ""]
        return "\n".join([*lines, "}  // namespace", ""])

    @staticmethod
    def _header(module_name: str) -> str:
        folder, name = module_name.split(".")[-2:]
        return f"{folder}/{name}.cuh"


def _function_names(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items()
            if (function := python_function(value)) is not None and function.__module__ == module.__name__]


def _structs(module: ModuleType) -> list[type]:
    return [value for value in vars(module).values() if is_struct(value) and value.__module__ == module.__name__]


def _foreign_structs(module: ModuleType) -> list[type]:
    used = [value for value in vars(module).values() if is_struct(value)]
    names = {parameter for name in _function_names(module)
             for parameter in inspect.signature(python_function(getattr(module, name))).parameters}
    for parameter, path in STRUCTS.items():
        if parameter in names:
            stage, struct = path.split(".")
            used.append(getattr(importlib.import_module(f"wepl.stages.{stage}"), struct))
    return [value for value in used if value.__module__ != module.__name__]


def _constants(module: ModuleType) -> Iterator[str]:
    """The module's own numbers, by their names."""
    tree = ast.parse(inspect.getsource(module))
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names = [leaf.id for target in node.targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)]
            for name in names:
                value = getattr(module, name)
                if isinstance(value, int) and not isinstance(value, bool):
                    yield f"constexpr int {name} = {value};"
                elif isinstance(value, float):
                    yield f"constexpr double {name} = {value!r};"


def _field_type(annotation: Any) -> Type:
    return {float: REAL, int: INT, bool: BOOL}[annotation]


def _struct_text(struct: type) -> list[str]:
    hints = get_type_hints(struct)
    fields = [f"    {_field_type(hints[name]).text()} {name};" for name in hints]
    return [f"// {(struct.__doc__ or '').strip().splitlines()[0]}", "template <typename R>",
            f"struct {struct.__name__} {{", *fields, "};"]


def _call_order(module_name: str, functions: dict[str, Function]) -> list[str]:
    """Names so that each function stands after those it calls."""
    done: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        for called_module, called in functions[name].calls:
            if called_module == module_name:
                visit(called)
        done.append(name)

    for name in functions:
        visit(name)
    return done


def _function_text(function: Function) -> list[str]:
    arrays = [name for name, kind in function.parameters if kind == ARRAY]
    template = ", ".join(["typename R", *(f"typename {name}_t" for name in arrays)])
    parameters = ", ".join(f"{name}_t& {name}" if kind == ARRAY else f"{kind.text()} {name}"
                           for name, kind in function.parameters)
    return [f"// {function.summary}", f"template <{template}>",
            f"WEPL_FUNCTION {function.result.text()} {function.name}({parameters}) {{", *function.body, "}"]


def modules() -> list[ModuleType]:
    """All modules that are translated, in the order of their dependence."""
    return ([importlib.import_module(f"wepl.physics.{name}") for name in PHYSICS]
            + [importlib.import_module(f"wepl.stages.{name}") for name in STAGES])


def rows_header() -> str:
    """The rows of the kernel arrays and the values of switches, as constants."""
    from wepl import rows

    lines = ["// Rows of the kernel arrays, switches and status codes.",
             "// Written by wepl.kernels.translate from the registry: change them there.", "#pragma once", "",
             "namespace wepl::rows {", ""]
    for name, value in vars(rows).items():
        if name.isupper() and not name.startswith("_") and isinstance(value, int):
            lines.append(f"constexpr int {name} = {value};")
    for array, count in rows.N_ROWS.items():
        lines.append(f"constexpr int N_{array.upper()} = {count};")
    return "\n".join([*lines, "", "}  // namespace", ""])


def headers() -> dict[str, str]:
    """Text of every generated header by its path under ``kernels/cuda``."""
    translator = Translator()
    result = {"rows.cuh": rows_header(), "views.cuh": views_header()}
    for module in modules():
        folder, name = module.__name__.split(".")[-2:]
        result[f"{folder}/{name}.cuh"] = translator.module(module)
    return result


def write(folder: Path = FOLDER) -> list[str]:
    """Write the headers; the paths of those that changed."""
    changed = []
    for path, text in headers().items():
        target = folder / path
        if not target.exists() or target.read_text() != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            changed.append(path)
    return changed


if __name__ == "__main__":
    for changed_path in write():
        print(changed_path)
