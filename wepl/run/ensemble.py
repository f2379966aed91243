"""Many parameter sets of one basin in one launch: members side by side on the axes of tiles, units and sub-basins.

A member is a basin of its own whose units look at the same forcing cells; the kernels see one large basin of many
networks, so every backend runs ensembles as it runs basins. Options that act when a basin is assembled, such as the
calibration multipliers, may differ between members; those that the kernels read themselves are the same for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wepl import registry, rows
from wepl.backends import Backend
from wepl.basin.dataset import Basin
from wepl.errors import InputError
from wepl.run.assembly import Arrays, assemble
from wepl.run.memory import Outcome, run_in_memory
from wepl.run.simulation import resolve_options

# Lists of positions, and by how much a member's entries move: the number of tiles, units, ... of those before it.
_MOVED = {"tile_list": "tile", "unit_start": "unit", "tile_start": "tile", "upstream_start": "link",
          "upstream_list": "subbasin", "cell_start": "river_cell"}
_SHARED = ("option",)


@dataclass
class Ensemble:
    """An assembled ensemble: the kernels' arrays and the number of sub-basins of one member."""

    arrays: Arrays
    n_members: int
    n_subbasins: int

    def by_member(self, series: np.ndarray) -> np.ndarray:
        """``[..., member, subbasin]`` of an array whose last axis is all sub-basins of all members."""
        return series.reshape(*series.shape[:-1], self.n_members, self.n_subbasins)


def kernel_options() -> frozenset[str]:
    """Options that the kernels read: they cannot differ between members."""
    return frozenset({"heavy_rain_depth", "infiltration_switch", "soil_parts", "routing_step",
                      "temperature_lapse_rate", "precipitation_lapse_rate", "angstrom_a", "angstrom_b",
                      "surface_emissivity", "minimum_wind_speed", "energy_balance", "snow_albedo", "rs_max",
                      "critical_vapour_pressure_deficit", "canopy_storage_per_leaf_area", "active_leaf_share",
                      "snow_temperature", "rain_temperature", "melt_temperature", "snow_liquid_share",
                      "refreezing_share", "wind_height", "soil_roughness", "water_roughness",
                      "stomatal_resistance_factor"})


def assemble_members(basin: Basin, members: Sequence[Mapping[str, float | str]]) -> Ensemble:
    """Assemble a basin once per member and join the members.

    Parameters
    ----------
    basin : Basin
    members : sequence of mapping
        Options of each member over those of the basin.

    Raises
    ------
    InputError
        There is no member, or members differ in an option that the kernels read.
    """
    if not members:
        raise InputError("the ensemble has no member: give at least one set of options")
    resolved = [resolve_options(basin, member) for member in members]
    for name in sorted(kernel_options()):
        if len({options[name] for options in resolved}) > 1:
            raise InputError(f"members differ in {name}, which is the same for a whole run: give it to all of them, or "
                             "run the members one by one")
    parts = [assemble(basin, options) for options in resolved]
    return Ensemble(_join(parts), len(parts), parts[0].values["level_list"].size)


def _join(parts: list[Arrays]) -> Arrays:
    joined = Arrays(n_layers=parts[0].n_layers)
    counts = {key: np.cumsum([0, *(_sizes(part)[key] for part in parts)])[:-1]
              for key in ("tile", "unit", "subbasin", "link", "river_cell")}
    for name, first in parts[0].values.items():
        arrays = [part.values[name] for part in parts]
        if name in _SHARED:
            joined.values[name] = first
        elif name == "tile_index":
            joined.values[name] = np.concatenate([_moved_index(array, unit) for array, unit in
                                                  zip(arrays, counts["unit"], strict=True)], axis=1)
        elif name in ("level_start", "level_list"):
            continue
        elif name in _MOVED:
            moved = [array + by for array, by in zip(arrays, counts[_MOVED[name]], strict=True)]
            if name.endswith("_start"):
                moved = [moved[0], *(array[1:] for array in moved[1:])]
            joined.values[name] = np.concatenate(moved).astype(np.int32)
        else:
            joined.values[name] = np.concatenate(arrays, axis=-1)
    _join_levels(joined, parts, counts["subbasin"])
    n_units = parts[0].unit_order.size
    joined.unit_order = np.concatenate([part.unit_order + member * n_units for member, part in enumerate(parts)])
    joined.subbasin_of_unit = np.concatenate([part.subbasin_of_unit + by for part, by in
                                              zip(parts, counts["subbasin"], strict=True)])
    return joined


def _sizes(part: Arrays) -> dict[str, int]:
    values = part.values
    return {"tile": values["tile_list"].size, "unit": values["unit_cell"].size,
            "subbasin": values["level_list"].size, "link": values["upstream_list"].size,
            "river_cell": values["river_state"].shape[1]}


def _moved_index(index: np.ndarray, by: int) -> np.ndarray:
    moved = index.copy()
    moved[rows.TILE_UNIT] += by
    return moved


def _join_levels(joined: Arrays, parts: list[Arrays], offsets: np.ndarray) -> None:
    """Level by level, the reaches of all members."""
    starts = parts[0].values["level_start"]
    lists, lengths = [], [0]
    for level in range(starts.size - 1):
        of_level = [part.values["level_list"][starts[level]:starts[level + 1]] + by
                    for part, by in zip(parts, offsets, strict=True)]
        lists += of_level
        lengths.append(sum(reaches.size for reaches in of_level))
    joined.values["level_list"] = np.concatenate(lists).astype(np.int32)
    joined.values["level_start"] = np.cumsum(lengths).astype(np.int32)


def run_members(basin: Basin, members: Sequence[Mapping[str, float | str]], backend: Backend, *, first: int = 0,
                last: int | None = None, block_steps: int = 64) -> dict[str, np.ndarray]:
    """Run parameter sets side by side.

    Parameters
    ----------
    basin : Basin
    members : sequence of mapping
        Options of each member; those of :func:`kernel_options` must agree.
    backend : Backend
    first, last : int
        Steps of the forcing.
    block_steps : int
        Steps computed at a time.

    Returns
    -------
    dict of str to ndarray
        The reach series by name, ``[step, member, subbasin]``; the same bits as single runs.
    """
    ensemble = assemble_members(basin, members)
    outcome: Outcome = run_in_memory(basin, backend, first=first, last=last, options=members[0],
                                     arrays=ensemble.arrays, block_steps=block_steps, balance=False)
    return {entry.name: ensemble.by_member(outcome.series[entry.name]) for entry in registry.layout("series")}
