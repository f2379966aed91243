"""The C++ twins of the physics functions as callables: a generated program that runs each over arrays of inputs."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from wepl.kernels import host, sources, translate
from wepl.kernels.translate_language import BOOL, REAL, Type, namespace

_REALS = {"float64": ("double", ctypes.c_double), "float32": ("float", ctypes.c_float)}
_TRANSLATOR = translate.Translator()


@dataclass(frozen=True)
class Twin:
    """A physics function of Python and the name of its twin."""

    module: ModuleType
    name: str

    @property
    def label(self) -> str:
        return f"{namespace(self.module)}.{self.name}"

    @property
    def entry(self) -> str:
        return f"{namespace(self.module)}_{self.name}"

    @cached_property
    def python(self) -> Callable[..., Any]:
        return getattr(self.module, self.name)

    @cached_property
    def parameters(self) -> list[tuple[str, Type]]:
        return _TRANSLATOR.function(self.module, self.name).parameters

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Fields of the result, ``value`` for a number."""
        result = _TRANSLATOR.function(self.module, self.name).result
        return getattr(self.module, result.name.split("::")[-1])._fields if result.base == "struct" else ("value",)

    def reference(self, inputs: np.ndarray) -> np.ndarray:
        """Results of the Python function ``[output, case]`` for ``inputs[parameter, case]``."""
        function = self.python
        found = np.array([function(*row) for row in inputs.T.tolist()], dtype=np.float64)
        return found.reshape(inputs.shape[1], len(self.outputs)).T

    def wrapper(self) -> list[str]:
        """C++ that runs the twin over arrays, for both types of arithmetic."""
        lines = []
        fields = [""] if self.outputs == ("value",) else [f".{field}" for field in self.outputs]
        for precision, (real, _) in _REALS.items():
            given = ", ".join(f"inputs[{place} * n + i]" for place in range(len(self.parameters)))
            lines += [f'extern "C" void {self.entry}_{precision}(long n, const {real}* inputs, {real}* outputs) {{',
                      "    for (long i = 0; i < n; ++i) {",
                      f"        const auto result = wepl::{namespace(self.module)}::{self.name}<{real}>({given});"]
            lines += [f"        outputs[{place} * n + i] = result{field};" for place, field in enumerate(fields)]
            lines += ["    }", "}"]
        return lines


def physics_twins() -> list[Twin]:
    """Every compiled function of every module in wepl/physics, whether it has a twin or not."""
    import importlib

    folder = Path(importlib.import_module("wepl.physics").__file__).parent
    found = []
    for path in sorted(folder.glob("*.py")):
        module = importlib.import_module(f"wepl.physics.{path.stem}" if path.stem != "__init__" else "wepl.physics")
        # With NUMBA_DISABLE_JIT the decorated functions are plain ones.
        found += [Twin(module, name) for name, value in vars(module).items()
                  if f"@physics\ndef {name}(" in path.read_text(encoding="utf-8") and callable(value)]
    return found


def header(twin: Twin) -> Path:
    """Where the twin of a function must stand."""
    return sources.FOLDER / "physics" / f"{namespace(twin.module)}.cuh"


class Library:
    """All twins, compiled for the host with the flags of the emulate backend."""

    def __init__(self, twins: list[Twin], folder: Path) -> None:
        program = [f'#include "physics/{path.name}"' for path in sorted({header(twin) for twin in twins})]
        for twin in twins:
            program += twin.wrapper()
        target = folder / "twins.so"
        command = [host.compiler(), *host._FLAGS, "-DN_LAYERS=3", f"-I{sources.FOLDER}", "-x", "c++", "-", "-o",
                   str(target)]
        subprocess.run(command, input="\n".join(program), text=True, check=True)
        self._library = ctypes.CDLL(str(target))

    def run(self, twin: Twin, precision: str, inputs: np.ndarray) -> np.ndarray:
        """Results of the twin ``[output, case]`` for ``inputs[parameter, case]``."""
        given = np.ascontiguousarray(inputs, dtype=precision)
        found = np.empty((len(twin.outputs), inputs.shape[1]), dtype=precision)
        pointer = ctypes.POINTER(_REALS[precision][1])
        function = getattr(self._library, f"{twin.entry}_{precision}")
        function.restype = None
        function(ctypes.c_long(inputs.shape[1]), given.ctypes.data_as(pointer), found.ctypes.data_as(pointer))
        return found.astype(np.float64)


def takes_numbers(twin: Twin) -> bool:
    """Whether all parameters are plain numbers, as they must be for the wrapper."""
    return all(kind in (REAL, BOOL) for _, kind in twin.parameters)
