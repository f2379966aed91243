"""Forcing in Zarr stores: folders whose names end in .zarr, read by xarray where the package zarr is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from wepl.errors import BasinError, InputError

INSTALL = "pip install zarr"


class ZarrSource:
    """One variable of one store; ``where`` names the store in messages."""

    def __init__(self, values: Any, path: Path, columns: slice = slice(None)) -> None:
        self.where = str(path)
        self.path = path
        self._values = values
        self._columns = columns

    def part(self, low: int, high: int) -> ZarrSource:
        before = self._columns.start or 0
        return ZarrSource(self._values, self.path, slice(before + low, before + high))

    def read(self, first: int, last: int) -> np.ndarray:
        """Rows ``first`` to ``last`` (not included) as float64, missing values as NaN.

        Raises
        ------
        InputError
            The store is damaged or gone.
        """
        try:
            values = self._values[{"time": slice(first, last), "cell": self._columns}].transpose("time", "cell").values
        except (OSError, ValueError, RuntimeError, LookupError) as error:
            raise InputError(f"{self.path}: {self._values.name} cannot be read ({error}): the store is damaged or "
                             "gone; make or copy it again") from None
        return np.array(values, dtype=np.float64)


def is_store(path: Path) -> bool:
    """Whether a path is the folder of a Zarr store."""
    return path.is_dir() and path.suffix == ".zarr"


def pieces_of_store(path: Path) -> list[Any]:
    """Forcing variables that a store holds, to be joined by :func:`wepl.forcing.sources.join`.

    Raises
    ------
    InputError
        zarr is not installed.
    BasinError
        It is no Zarr store, or its variables cannot be forcing.
    """
    from wepl.forcing import sources

    if importlib.util.find_spec("zarr") is None:
        raise InputError(f"{path}: to read a Zarr store the package zarr is needed: {INSTALL}")
    import xarray as xr

    try:
        data = xr.open_dataset(path, engine="zarr", chunks=None, decode_times=False, decode_timedelta=False,
                               backend_kwargs={"consolidated": False})
        names = [name for name in sources.NAMES if name in data.variables]
        # What is not forcing is small and read at once; a lazy array of text may not be.
        small = data[[name for name in ("time", "cell") if name in data.variables]].load()
    except (OSError, ValueError, RuntimeError, LookupError, TypeError) as error:
        raise BasinError(f"{path}: the forcing cannot be read ({error}): it is no Zarr store or damaged; make or copy "
                         "it again") from None
    if not names:
        return []
    time = small.variables.get("time")
    where = str(path)
    cells = None
    if "cell" in small.variables:
        cells = sources.plain(small["cell"].values)
    axis = sources.axis_of(None if time is None else time.values, {} if time is None else time.attrs, where)
    identifiers = sources.identifiers(cells, where)
    found = []
    for name in names:
        variable = data[name]
        sources.check_form(name, variable.dims, variable.dtype, where)
        found.append(sources.Piece(name, axis, ZarrSource(variable, path),
                                   sources.units_of(name, variable.attrs.get("units"), where), identifiers, where))
    return found
