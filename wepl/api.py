"""What a notebook calls: open a basin, run it, open a result."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wepl.analysis.result import open_result
from wepl.basin.dataset import Basin
from wepl.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["open_basin", "open_result", "run"]


def open_basin(path: str | Path) -> Basin:
    """Open and check a basin file; see :meth:`wepl.basin.dataset.Basin.open`.

    Raises
    ------
    InputError
        There is no such file, or it is no netCDF.
    BasinError
        The file breaks rules; ``problems`` lists all that could be found.
    """
    return Basin.open(path)


def run(basin: str | Path | Basin, *, output: str | Path | None = None, **named: Any) -> xr.Dataset:
    """Run the model over a basin and give its result.

    Parameters
    ----------
    basin : path or Basin
        The basin file, or a basin already opened.
    output : path, optional
        Result file; its values are read when they are used. When None the result is in memory and no file is left.
    **named
        ``backend``, ``start``, ``end``, ``variables``, ``options`` and the rest of
        :func:`wepl.run.simulation.run`, which returns the path, the balance and the seconds instead.

    Returns
    -------
    xarray.Dataset
        With the accessor ``.wepl`` (:class:`wepl.analysis.accessor.ResultAccessor`). The attribute
        ``water_balance_closure`` is the residual of the water balance.

    Raises
    ------
    InputError
        Something in the input cannot be used, or a journal is asked for without an output.
    NumericalError
        A kernel met a value it cannot go on with, or the balance does not close.
    """
    from wepl.run.simulation import run as simulate

    if output is not None:
        return open_result(simulate(basin, output=output, **named).path)
    if named.get("checkpoint"):
        raise InputError("a checkpoint needs an output beside which the journal lies: give output")
    with tempfile.TemporaryDirectory(prefix="wepl-run-") as folder:
        path = simulate(basin, output=Path(folder) / "result.nc", compression=named.pop("compression", "none"),
                        **named).path
        with open_result(path) as data:
            return data.load()
