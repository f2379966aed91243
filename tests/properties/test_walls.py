"""The walls of docs/architecture.md: who may import what, read from the sources."""

from __future__ import annotations

import ast
import configparser
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*(ROOT / "wepl").rglob("*.py"), *(ROOT / "kernels").rglob("*.py")])

# The modules that read and write files.
FILES = {
    "wepl/netcdf.py", "wepl/info.py", "wepl/compare.py", "wepl/run/writer.py", "wepl/run/restart.py",
    "wepl/run/journal.py", "wepl/run/crash.py", "wepl/gis/export.py", "wepl/run/ensemble_file.py",
}
FILE_FOLDERS = ("wepl/basin/", "wepl/build/", "wepl/forcing/")
# Distributions whose import name is another.
DISTRIBUTIONS = {"cf_units": "cf-units", "netCDF4": "netcdf4", "pydantic_core": "pydantic",
                 "dask": "distributed"}


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[str]:
    """Full names of all modules that a source file imports, wherever the import stands."""
    package = ["wepl", "kernels"] if path.parts[-2] == "kernels" else list(path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[:len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def importers(*names: str) -> set[str]:
    """Places of the sources that import one of the modules, or something inside it."""
    return {place(path) for path in SOURCES for found in imports(path)
            if any(found == name or found.startswith(name + ".") for name in names)}


def test_the_sources_are_found():
    assert {"wepl/cli/app.py", "wepl/physics/jit.py", "kernels/buffers.py"} <= {place(path) for path in SOURCES}
    assert "wepl/physics/jit.py" in importers("numba")


def test_only_backends_know_the_gpu():
    # The kernels of numba.cuda are Python, so their module is the one beside the backends that imports it.
    strangers = {name for name in importers("cupy", "cupyx", "numba.cuda", "cuda") if
                 not name.startswith("wepl/backends/") and name not in ("kernels/numba_cuda.py", "kernels/compile.py")}
    assert not strangers
    # NVRTC compiles for a GPU but needs none.
    assert {name for path in SOURCES if place(path) == "kernels/compile.py" for name in imports(path)
            if name.split(".")[0] == "cuda"} == {"cuda.bindings", "cuda.bindings.nvrtc"}
    assert importers("wepl.kernels.numba_cuda") == {"wepl/backends/numba_cuda.py"}


def test_only_modules_that_read_and_write_know_the_file_libraries():
    strangers = {name for name in importers("netCDF4", "rasterio", "fiona", "h5py")
                 if name not in FILES and not name.startswith(FILE_FOLDERS)}
    assert not strangers


@pytest.mark.parametrize("path", sorted((ROOT / "wepl" / "physics").glob("*.py")), ids=lambda path: path.name)
def test_physics_stands_alone(path):
    # The decorator that compiles must find its cache folder, so it alone may know files and hashes.
    allowed = {"__future__", "math", "typing", "numba"} | (
        {"collections", "functools", "hashlib", "os", "pathlib"} if path.name == "jit.py" else set())
    strangers = {name for name in imports(path)
                 if name.split(".")[0] not in allowed and not (name + ".").startswith("wepl.physics.")}
    assert not strangers


def test_stages_know_physics_and_rows_only():
    strangers = {(place(path), name) for path in SOURCES if place(path).startswith("wepl/stages/")
                 for name in imports(path) if name.startswith("wepl.")
                 and not (name + ".").startswith(("wepl.physics.", "wepl.stages.", "wepl.rows."))}
    assert not strangers


def requirements(text: str) -> set[str]:
    """Names of the distributions in a list of requirements."""
    return {re.split(r"[<>=!~; \[]", line)[0].lower() for line in text.split("\n") if line.strip()}


def test_every_library_is_declared():
    """A library stands in install_requires, or in an extra for users and is then imported inside functions only."""
    setup = configparser.RawConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    always = requirements(setup["options"]["install_requires"])
    extra = set().union(*(requirements(setup["options.extras_require"][name])
                          for name in ("prep", "calibrate", "distributed")))
    own = ("wepl/build/", "wepl/calibrate/")
    undeclared = set()
    for path in SOURCES:
        # Modules that say themselves what GPU libraries they miss.
        if place(path).startswith("wepl/backends/") or place(path) in ("kernels/compile.py",
                                                                       "wepl/distributed/cluster.py"):
            continue
        for name in imports(path):
            top = name.split(".")[0]
            if top in sys.stdlib_module_names or top == "wepl":
                continue
            distribution = DISTRIBUTIONS.get(top, top).lower()
            # These are imported only by who builds or calibrates, and say themselves what they miss.
            alone = top in outer_imports(path) and not place(path).startswith(own)
            if distribution not in always and (distribution not in extra or alone):
                undeclared.add((place(path), top))
    assert not undeclared


def outer_imports(path: Path) -> set[str]:
    """Top names of what a source file imports when it is itself imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in names}
