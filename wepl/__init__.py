"""WEP-L: water and energy transfer processes in large river basins, as an open distributed hydrological model.

What most scripts need stands here and is loaded when it is first used, so that ``import wepl`` stays fast:
:func:`run`, :func:`run_ensemble`, :func:`open_basin`, :func:`open_result`, :class:`Basin`, :class:`RunResult`,
:func:`synthesize` and the errors.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

    from wepl.api import open_basin, open_result, run
    from wepl.basin.dataset import Basin
    from wepl.basin.synthetic import synthesize
    from wepl.errors import BackendError, BasinError, InputError, NumericalError, WeplError
    from wepl.run.ensemble_job import run_ensemble
    from wepl.run.simulation import RunResult

__version__ = "0.1.0"

__all__ = [
    "BackendError", "Basin", "BasinError", "InputError", "NumericalError", "RunResult", "WeplError", "__version__",
    "open_basin", "open_result", "run", "run_ensemble", "synthesize",
]

_PUBLIC = {
    "BackendError": "wepl.errors",
    "Basin": "wepl.basin.dataset",
    "BasinError": "wepl.errors",
    "InputError": "wepl.errors",
    "NumericalError": "wepl.errors",
    "RunResult": "wepl.run.simulation",
    "run_ensemble": "wepl.run.ensemble_job",
    "WeplError": "wepl.errors",
    "open_basin": "wepl.api",
    "open_result": "wepl.api",
    "synthesize": "wepl.basin.synthetic",
}


class _KernelsBesideThePackage(MetaPathFinder):
    """Finds ``wepl.kernels`` in a checkout, where its folder stands beside the package and not in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(self, fullname: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        """The import system's question; only ``wepl.kernels`` itself is answered, its modules follow from that."""
        if fullname != "wepl.kernels":
            return None
        return spec_from_file_location(fullname, self._folder / "__init__.py",
                                       submodule_search_locations=[str(self._folder)])


class _RunPackage(ModuleType):
    """The package ``wepl.run``, which may also be called: ``wepl.run("basin.nc")``."""

    def __call__(self, *arguments: Any, **named: Any) -> xr.Dataset:
        """Run the model over a basin and give its result; see :func:`wepl.api.run`."""
        from wepl.api import run

        return run(*arguments, **named)


def _prepare() -> None:
    """Make ``wepl.kernels`` importable from a checkout, and ``wepl.run`` a package that can be called."""
    package = Path(__file__).resolve().parent
    beside = package.parent / "kernels"
    if not (package / "kernels").is_dir() and (beside / "__init__.py").is_file():
        sys.meta_path.append(_KernelsBesideThePackage(beside))
    importlib.import_module("wepl.run").__class__ = _RunPackage


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'wepl' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))


_prepare()
