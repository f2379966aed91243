"""Nothing that stands in an input file is executed: the sources call nothing that could.

Source of the rule: docs/reliability.md, "Files that lie".
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*(ROOT / "wepl").rglob("*.py"), *(ROOT / "kernels").rglob("*.py")])
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "joblib", "code", "codeop", "yaml", "pty",
           "commands"}
CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "subprocess.getoutput",
         "subprocess.getstatusoutput", "pd.eval", "pandas.eval", "pd.read_pickle", "pandas.read_pickle", "np.fromregex",
         "numexpr.evaluate", "runpy.run_path", "runpy.run_module"}
# The emulator compiles the kernels' own sources, and ``kernels`` writes code from the model's own functions.
ALLOWED = {("kernels/numba_cuda.py", "exec"), ("kernels/numba_cuda.py", "compile")}


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def name_of(node: ast.expr) -> str:
    """Dotted name of what is called; empty where it has none."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}".lstrip(".")
    return ""


def faults(tree: ast.AST) -> Iterator[str]:
    """What a source file does that could execute input."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from (name for name in names if name.split(".")[0] in MODULES)
        if not isinstance(node, ast.Call):
            continue
        name, given = name_of(node.func), {word.arg: word.value for word in node.keywords}
        if name in CALLS or name.endswith((".read_pickle", ".to_pickle", ".load_module")):
            yield name
        if "shell" in given and not (isinstance(given["shell"], ast.Constant) and given["shell"].value is False):
            yield f"{name}(shell=...)"
        if "allow_pickle" in given and not (isinstance(given["allow_pickle"], ast.Constant)
                                            and given["allow_pickle"].value is False):
            yield f"{name}(allow_pickle=...)"
        if name.endswith(".query") and node.args and isinstance(node.args[0], ast.Constant | ast.JoinedStr):
            yield name
        if name in ("np.load", "numpy.load") and "allow_pickle" not in given:
            yield f"{name} without allow_pickle=False"
        # Without an engine xarray guesses by content and may hand a file to any plugin that is installed.
        if name.endswith(("xr.open_dataset", "xr.open_mfdataset", "xr.load_dataset", "xarray.open_dataset")):
            engine = given.get("engine")
            if not isinstance(engine, ast.Constant) or engine.value not in ("netcdf4", "zarr"):
                yield f"{name} without engine='netcdf4' or 'zarr'"


@pytest.mark.parametrize("path", SOURCES, ids=place)
def test_no_source_executes_input(path):
    found = [name for name in faults(ast.parse(path.read_text(encoding="utf-8"))) if (place(path), name) not in ALLOWED]
    assert found == []


@pytest.mark.parametrize("text", ["import pickle", "from yaml import load", "eval(x)", "exec(x)", "os.system(x)",
                                  "subprocess.run(x, shell=True)", "np.load(x)", "np.load(x, allow_pickle=True)",
                                  "pd.read_pickle(x)", "xr.open_dataset(x)", "xr.open_dataset(x, engine=y)",
                                  "frame.query(f'a > {x}')"])
def test_the_scan_sees(text):
    assert list(faults(ast.parse(text)))


@pytest.mark.parametrize("text", ["np.load(x, allow_pickle=False)", "subprocess.run([x])", "re.compile(x)",
                                  "xr.open_dataset(x, engine='netcdf4')", "import code_of_practice"])
def test_the_scan_does_not_see_ghosts(text):
    assert list(faults(ast.parse(text))) == []
