"""The CUDA C sources as every user of them needs them: files, names, a hash, and the CPU's own entry points."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from wepl.kernels import buffers
from wepl.kernels.translate_views import dimension_names

FOLDER = Path(__file__).resolve().parent / "cuda"
# The source of each kernel: a file each, so that a run compiles no more than it launches.
FILES = {"weather": "weather.cu", "column": "column.cu", "column_by_unit": "column_by_unit.cu",
         "hillslope": "hillslope.cu", "river": "river.cu"}
# The river's launches walk the diagonals of network level and time.
EXTRA = {"river": ("diagonal", "low", "first", "last")}
TYPES = {"float64": ("double", "double"), "mixed": ("float", "double"), "float32": ("float", "wepl::Pair")}


@cache
def digest() -> str:
    """Hash of all sources: part of every cache's key, since compilers know nothing of included files."""
    found = hashlib.sha256()
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in (".cu", ".cuh", ".h"):
            found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()[:16]


def defines(precision: str, n_layers: int) -> dict[str, str]:
    """Macros that a compilation needs: types of arithmetic and storage, number of soil layers."""
    real, store = TYPES[precision]
    return {"WEPL_REAL": real, "WEPL_STORE": store, "N_LAYERS": str(max(1, n_layers))}


def parameters(kernel: str) -> list[str]:
    """Names of a kernel's parameters in order: arguments, sizes, and what its launches add."""
    names = [argument.name for argument in buffers.arguments(kernel)]
    return [*names, *(f"size_{name}" for name in dimension_names(kernel)), *EXTRA.get(kernel, ())]


def host_program() -> str:
    """A C++ program that holds all kernels and, for each, an entry that runs a grid of so many threads."""
    lines = [f'#include "{name}"' for name in dict.fromkeys(FILES.values())]
    for kernel in FILES:
        extra = "".join(f", int {name}" for name in EXTRA.get(kernel, ()))
        names = [f"{argument.name}_data" if isinstance(argument, buffers.Buffer) else argument.name
                 for argument in buffers.arguments(kernel)]
        names += [f"size_{name}" for name in dimension_names(kernel)] + list(EXTRA.get(kernel, ()))
        lines += [f'extern "C" void run_{kernel}(int threads, {kernel.upper()}_ARGUMENTS{extra}) {{',
                  "    for (int thread = 0; thread < threads; ++thread) {",
                  "        grid = {thread, threads};",
                  f"        {kernel}_kernel({', '.join(names)});", "    }", "}"]
    return "\n".join([*lines, ""])
