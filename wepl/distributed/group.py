"""What a worker needs of one group of sub-basins: kernel arrays of the group, and reaches that stand for those above.

A reach of another group that flows in is a sub-basin without land, water and cells, outside every level of the
network, so that no kernel computes it; its discharge is filled in before each block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wepl import rows
from wepl.kernels import buffers
from wepl.run.assembly import Arrays

if TYPE_CHECKING:
    import xarray as xr

    from wepl.forcing.reader import ForcingReader
    from wepl.run.clock import Clock
    from wepl.run.outputs import Selection

# The parameters of :func:`wepl.run.assembly.vegetation_table`.
VEGETATION = ("leaf_area_index", "vegetation_cover", "vegetation_height", "vegetation_albedo", "critical_radiation",
              "root_depth", "minimum_stomatal_resistance")


@dataclass(frozen=True)
class Device:
    """The backend that workers make; ``threads`` 0 stands for as many as the worker has."""

    name: str
    precision: str
    threads: int


@dataclass(frozen=True)
class Common:
    """What the groups of a run share.

    Attributes
    ----------
    run : str
        Tells this run's groups from those of others.
    facts : tuple of (str, str)
        Versions of the client; see :func:`wepl.distributed.worker.facts`.
    device : Device
    selection : Selection
    series : tuple of (str, int)
        Reach series to give back, with their rows.
    step_seconds : float
    block_steps : int
    given : tuple of bool
        Whether the forcing has shortwave and longwave radiation.
    options : dict
    clock : Clock
    vegetation : xarray.Dataset
        The parameters of :data:`VEGETATION`.
    """

    run: str
    facts: tuple[tuple[str, str], ...]
    device: Device
    selection: Selection
    series: tuple[tuple[str, int], ...]
    step_seconds: float
    block_steps: int
    given: tuple[bool, bool]
    options: dict[str, float]
    clock: Clock
    vegetation: xr.Dataset


@dataclass(frozen=True)
class Group:
    """One group of sub-basins.

    Attributes
    ----------
    number : int
    common : Common
    arrays : Arrays
        Own sub-basins first, then those that stand for reaches above.
    n_own : int
        Own sub-basins.
    exports : ndarray of int
        Own reaches whose discharge other groups need.
    imports : ndarray of int ``[reach above, 2]``
        Which of the upstream groups, and which of its exports, each reach above is.
    forcing : ForcingReader
        Forcing of the group's cells.
    unit_ids, subbasin_ids : ndarray
        Identifiers, for messages.
    """

    number: int
    common: Common
    arrays: Arrays
    n_own: int
    exports: np.ndarray
    imports: np.ndarray
    forcing: ForcingReader
    unit_ids: np.ndarray
    subbasin_ids: np.ndarray

    @property
    def token(self) -> str:
        """Names the group among all groups of all runs."""
        return f"{self.common.run}-{self.number}"


@dataclass(frozen=True)
class Places:
    """Positions of a group in the whole basin by dimension (tile, unit, subbasin, river_cell), and forcing cells."""

    along: dict[str, np.ndarray]
    cells: np.ndarray


def cut(arrays: Arrays, own: np.ndarray, above: np.ndarray) -> tuple[Arrays, Places]:
    """Kernel arrays of some sub-basins with what stands for the reaches above them.

    Parameters
    ----------
    arrays : Arrays
        The whole basin.
    own, above : ndarray of int
        Positions of the sub-basins, and of the reaches outside that flow into them, increasing.
    """
    values = arrays.values
    n_subbasins, n_above = values["level_list"].size, above.size
    inside = np.zeros(n_subbasins, dtype=bool)
    inside[own] = True
    of_unit = inside[arrays.subbasin_of_unit]
    of_tile = of_unit[arrays.unit_of_tile]
    places = {"subbasin": own, "unit": np.flatnonzero(of_unit), "tile": np.flatnonzero(of_tile),
              "river_cell": np.flatnonzero(np.repeat(inside, np.diff(values["cell_start"])))}
    cells = np.unique(values["unit_cell"][places["unit"]])
    local = np.full(n_subbasins, -1)
    local[own], local[above] = np.arange(own.size), own.size + np.arange(n_above)

    def starts(name: str, kept: np.ndarray, more: int = 0) -> np.ndarray:
        counts = np.concatenate([np.diff(values[name])[kept], np.zeros(more, dtype=int)])
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    index = values["tile_index"][:, places["tile"]].copy()
    index[rows.TILE_UNIT] = np.searchsorted(places["unit"], index[rows.TILE_UNIT])
    tile_list = values["tile_list"]
    links = np.repeat(inside, np.diff(values["upstream_start"]))
    made: dict[str, np.ndarray] = {
        "option": values["option"], "tile_index": index,
        "tile_list": np.searchsorted(places["tile"], tile_list[of_tile[tile_list]]).astype(np.int32),
        "tile_start": starts("tile_start", places["unit"]),
        "unit_cell": np.searchsorted(cells, values["unit_cell"][places["unit"]]).astype(np.int32),
        "unit_start": starts("unit_start", own, n_above), "cell_start": starts("cell_start", own, n_above),
        "upstream_start": starts("upstream_start", own, n_above),
        "upstream_list": local[values["upstream_list"][links]].astype(np.int32),
    }
    made["level_start"], made["level_list"] = _levels(values, inside, local, n_above)
    columns = {**places, "subbasin": np.concatenate([own, above])}
    for name, array in values.items():
        if name not in made:
            made[name] = array[..., columns[str(buffers.buffer(name).dims[-1])]]
    units = places["unit"]
    return (Arrays(made, np.arange(units.size), local[arrays.subbasin_of_unit[units]], arrays.n_layers),
            Places(places, cells))


def _levels(values: dict[str, np.ndarray], inside: np.ndarray, local: np.ndarray,
            n_above: int) -> tuple[np.ndarray, np.ndarray]:
    """Levels of the group's reaches, without empty ones; the reaches above stand behind the last level."""
    order = values["level_list"]
    kept = inside[order]
    level = np.repeat(np.arange(values["level_start"].size - 1), np.diff(values["level_start"]))[kept]
    counts = np.unique(level, return_counts=True)[1]
    outside = int(inside.sum()) + np.arange(n_above)
    return (np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            np.concatenate([local[order[kept]], outside]).astype(np.int32))
