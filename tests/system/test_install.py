"""The package can be imported whole however it was installed, and ``wepl.kernels`` is one module object each time.

The environments are made beside the running one and borrow its libraries, so nothing is downloaded.
"""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

import wepl

ROOT = Path(__file__).resolve().parents[2]

_PROBE = """
import pickle, sys
import wepl
from wepl.kernels import buffers
import wepl.kernels.buffers as again

assert again is buffers is wepl.kernels.buffers is sys.modules["wepl.kernels.buffers"]
same = [name for name, module in list(sys.modules.items()) if getattr(module, "__file__", None) == buffers.__file__]
assert same == ["wepl.kernels.buffers"], same
thing = buffers.buffer("tile_state")
assert type(pickle.loads(pickle.dumps(thing))) is buffers.Buffer
assert pickle.loads(pickle.dumps(thing)) == thing
print(wepl.__file__)
print(buffers.__file__)
"""
_IMPORT_ALL = """
import importlib, pkgutil
import wepl
names = [found.name for found in pkgutil.walk_packages(wepl.__path__, "wepl.") if not found.name.endswith("__main__")]
for name in names:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        # The one library that no environment without a GPU needs; whoever imports the module says so.
        assert (name, error.name) == ("wepl.backends.cupy_raw", "cupy"), error
print(*names)
"""


@dataclass(frozen=True)
class Environment:
    """A virtual environment with a copy of the checkout installed in it."""

    python: Path
    checkout: Path

    def run(self, *arguments: str, cwd: Path) -> str:
        """Standard output of a Python process in ``cwd``."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run([self.python, *arguments], cwd=cwd, env=variables, capture_output=True, text=True,
                              timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout


def install(folder: Path, *how: str) -> Environment:
    checkout = folder / "checkout"
    checkout.mkdir(parents=True)
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, checkout)
    for name in ("wepl", "kernels"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    site = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                          capture_output=True, text=True).stdout.strip()
    borrowed = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    Path(site, "borrowed.pth").write_text("\n".join(borrowed), encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps",
                           "--no-build-isolation", "--force-reinstall", *how, checkout], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return Environment(python, checkout)


@pytest.fixture(scope="module")
def editable(tmp_path_factory):
    return install(tmp_path_factory.mktemp("editable"), "--editable")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed"))


def test_every_package_is_listed():
    setup = configparser.RawConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    listed = setup["options"]["packages"].split()
    folders = ["wepl.kernels"] + [".".join(path.parent.relative_to(ROOT).parts)
                                  for path in (ROOT / "wepl").rglob("__init__.py")]
    assert sorted(listed) == sorted(folders)


@pytest.mark.parametrize("inside", [False, True], ids=["elsewhere", "in the checkout"])
def test_editable(editable, tmp_path, inside):
    package, kernels = editable.run("-c", _PROBE, cwd=editable.checkout if inside else tmp_path).splitlines()
    assert Path(package) == editable.checkout / "wepl" / "__init__.py"
    assert Path(kernels) == editable.checkout / "kernels" / "buffers.py"


def test_not_editable_from_elsewhere(installed, tmp_path):
    package, kernels = installed.run("-c", _PROBE, cwd=tmp_path).splitlines()
    assert "site-packages" in package
    assert Path(kernels) == Path(package).parent / "kernels" / "buffers.py"
    assert (Path(package).parent / "py.typed").is_file()


def test_not_editable_in_the_checkout(installed):
    """The checkout's ``wepl`` shadows the installed one, and has no ``kernels`` inside."""
    package, kernels = installed.run("-c", _PROBE, cwd=installed.checkout).splitlines()
    assert Path(package) == installed.checkout / "wepl" / "__init__.py"
    assert Path(kernels) == installed.checkout / "kernels" / "buffers.py"


def test_every_module_is_installed(installed, tmp_path):
    found = set(installed.run("-c", _IMPORT_ALL, cwd=tmp_path).split())
    sources = [*(ROOT / "wepl").rglob("*.py"), *(ROOT / "kernels").rglob("*.py")]
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sources}
    modules = {name.removesuffix(".__init__") for name in modules}
    modules = {f"wepl.{name}" if name.split(".")[0] == "kernels" else name for name in modules}
    assert found == {name for name in modules if name != "wepl" and not name.endswith("__main__")}


def test_every_other_file_is_installed(installed, tmp_path):
    """Sources of kernels and the mark of a typed package, which are no modules."""
    kernels = Path(installed.run("-c", "import wepl.kernels as kernels; print(kernels.__file__)", cwd=tmp_path)).parent
    for source, target in ((ROOT / "kernels", kernels), (ROOT / "wepl", kernels.parent)):
        others = [path.relative_to(source) for path in source.rglob("*")
                  if path.is_file() and path.suffix != ".py" and path.parent.name != "__pycache__"]
        assert [path for path in others if not (target / path).is_file()] == []


def test_the_command_is_installed(editable, tmp_path):
    command = editable.python.with_name("wepl.exe" if os.name == "nt" else "wepl")
    done = subprocess.run([command, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"wepl {wepl.__version__}\n")


def test_public_names(installed, tmp_path):
    """What ``import wepl`` promises is there, loads late, and the package ``wepl.run`` can be called."""
    installed.run("-c", """
import sys, wepl
assert not {"numpy", "numba", "xarray", "netCDF4"} & set(sys.modules)
for name in wepl.__all__:
    assert getattr(wepl, name) is not None and name in dir(wepl)
import wepl.run.simulation
assert callable(wepl.run) and wepl.run.simulation.RunResult is wepl.RunResult
try:
    wepl.run("nothing.nc", quiet=True)
except wepl.InputError as error:
    assert "nothing.nc" in str(error)
else:
    raise AssertionError
""", cwd=tmp_path)
