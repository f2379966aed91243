"""Many parameter sets of one basin in one launch: members side by side on the axes of tiles, units and sub-basins.

A member is a basin of its own whose units look at the same forcing cells; the kernels see one large basin of many
networks, so every backend runs ensembles as it runs basins. Options that act when a basin is assembled, such as the
calibration multipliers, may differ between the members of a launch; those that the kernels read themselves are the
same in it, so members that differ in them make groups which are launched one after another.
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
from wepl.run.fixed import Fixed
from wepl.run.simulation import resolve_options
from wepl.run.zones import resistance_factors

Changes = Mapping[str, float | str]

# Lists of positions, and by how much a member's entries move: the number of tiles, units, ... of those before it.
_MOVED = {"tile_list": "tile", "unit_start": "unit", "tile_start": "tile", "upstream_start": "link",
          "upstream_list": "subbasin", "cell_start": "river_cell"}
_SHARED = ("option",)
# Options that act in assembly alone, so that no kernel reads them; tests/parity/test_ensemble.py holds it.
_ASSEMBLED = frozenset({
    "river_cell_length", "water_albedo", "bare_soil_albedo", "impervious_albedo", "roof_fraction", "roof_storage",
    "pavement_storage", "impervious_manning", "bare_manning", "bare_depression_storage", "open_water_depth",
    "degree_day_factor", "interflow_anisotropy", "minimum_slope", "soil_thickness_factor",
    "stomatal_resistance_factor", "conductivity_factor", "aquifer_factor", "riverbed_conductivity_factor",
    "manning_overland_factor", "manning_river_factor", "depression_storage_factor", "degree_day_factor_factor",
    "initial_wetness"})


@dataclass
class Ensemble:
    """An assembled ensemble.

    Attributes
    ----------
    arrays : Arrays
        The kernels' arrays of all members.
    n_members, n_subbasins : int
        Number of members, and of the sub-basins of one.
    bounds : dict of str to ndarray
        Where each member begins among the ``tile``, ``unit``, ``subbasin`` and ``river_cell``, and the end.
    resistance : list of float
        Multipliers of stomatal resistance for which the table of vegetation kinds is repeated.
    options : list of dict
        All options of each member.
    """

    arrays: Arrays
    n_members: int
    n_subbasins: int
    bounds: dict[str, np.ndarray]
    resistance: list[float]
    options: list[dict[str, float]]

    def by_member(self, series: np.ndarray) -> np.ndarray:
        """``[..., member, subbasin]`` of an array whose last axis is all sub-basins of all members."""
        return series.reshape(*series.shape[:-1], self.n_members, self.n_subbasins)

    def member_at(self, dim: str, place: int) -> int:
        """The member to which a place of a dimension belongs."""
        return int(np.searchsorted(self.bounds[dim], place, side="right")) - 1

    def state_of(self, member: int, state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """One member's share of the restart variables."""
        found = {}
        for name, values in state.items():
            bounds = self.bounds[registry.variable(name).dims[-1]]
            found[name] = values[..., bounds[member]:bounds[member + 1]]
        return found

    def part(self, member: int) -> Arrays:
        """One member's share of the arrays by which a balance is drawn."""
        tile, unit, subbasin = (slice(*self.bounds[dim][member:member + 2]) for dim in ("tile", "unit", "subbasin"))
        values = self.arrays.values
        index = values["tile_index"][:, tile].copy()
        index[rows.TILE_UNIT] -= unit.start
        cells = values["cell_start"][subbasin.start:subbasin.stop + 1]
        return Arrays({"tile_index": index, "tile_parameter": values["tile_parameter"][:, tile],
                       "unit_parameter": values["unit_parameter"][:, unit],
                       "subbasin_parameter": values["subbasin_parameter"][:, subbasin],
                       "cell_start": cells - cells[0]},
                      self.arrays.unit_order[unit] - unit.start, self.arrays.subbasin_of_unit[unit] - subbasin.start,
                      self.arrays.n_layers)


def kernel_options() -> frozenset[str]:
    """Options that the kernels read: members that differ in them are launched in groups of their own."""
    return frozenset(entry.name for entry in registry.of_kind("option")) - _ASSEMBLED


def groups(options: Sequence[Mapping[str, float]]) -> list[list[int]]:
    """Numbers of the members that may share a launch, in the order of their first member.

    Parameters
    ----------
    options : sequence of mapping
        All options of each member, from :func:`wepl.run.simulation.resolve_options`.
    """
    names = sorted(kernel_options())
    found: dict[tuple[float, ...], list[int]] = {}
    for number, member in enumerate(options):
        found.setdefault(tuple(member[name] for name in names), []).append(number)
    return list(found.values())


def assemble_members(basin: Basin, members: Sequence[Changes], fixed: Fixed | None = None) -> Ensemble:
    """Assemble a basin once per member and join the members.

    Parameters
    ----------
    basin : Basin
    members : sequence of mapping
        Options of each member over those of the basin.
    fixed : Fixed, optional
        What does not depend on options, where it is known already.

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
            raise InputError(f"members differ in {name}, which is the same for a whole launch: run_members and "
                             "wepl run --members launch such members in groups")
    fixed = Fixed(basin.parameters) if fixed is None else fixed
    parts = [assemble(basin, options, fixed) for options in resolved]
    resistance = list(dict.fromkeys(factor for options in resolved for factor in resistance_factors(options)))
    for options, part in zip(resolved, parts, strict=True):
        _renumber_kinds(part.values["tile_index"], resistance_factors(options), resistance,
                        basin.parameters.sizes["vegetation"])
    sizes = [_sizes(part) for part in parts]
    bounds = {key: np.cumsum([0, *(size[key] for size in sizes)]) for key in sizes[0]}
    return Ensemble(_join(parts, bounds), len(parts), sizes[0]["subbasin"], bounds, resistance, resolved)


def _renumber_kinds(index: np.ndarray, own: list[float], all_of_them: list[float], n_kinds: int) -> None:
    """Kinds of a member's tables become kinds of the tables of all members."""
    place = np.array([all_of_them.index(factor) for factor in own])
    for row in (rows.VEGETATION_A, rows.VEGETATION_B):
        kind = index[row]
        index[row] = np.where(kind >= 0, place[kind // n_kinds] * n_kinds + kind % n_kinds, -1)


def _join(parts: list[Arrays], bounds: dict[str, np.ndarray]) -> Arrays:
    joined = Arrays(n_layers=parts[0].n_layers)
    counts = {key: ends[:-1] for key, ends in bounds.items()}
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


def run_members(basin: Basin, members: Sequence[Changes], backend: Backend, *, first: int = 0, last: int | None = None,
                block_steps: int | None = None, names: Sequence[str] | None = None,
                subbasins: Sequence[int] | None = None, batch: int | None = None,
                keep_going: bool = False) -> dict[str, np.ndarray]:
    """Run parameter sets side by side, in batches that fit the memory.

    Members that differ in :func:`kernel_options` are launched in groups of their own, which costs the more the more
    groups there are.

    Parameters
    ----------
    basin : Basin
    members : sequence of mapping
        Options of each member over those of the basin.
    backend : Backend
    first, last : int
        Steps of the forcing; to its end when None.
    block_steps : int, optional
        Steps computed at a time; chosen when None.
    names : sequence of str, optional
        Reach series to keep, such as ``discharge``; all when None.
    subbasins : sequence of int, optional
        Positions of the sub-basins to keep; all when None.
    batch : int, optional
        Largest number of members in a launch; what fits the memory when None.
    keep_going : bool
        Whether a member that the model cannot go on with becomes NaN from the block on in which it fails, and the
        others go on.

    Returns
    -------
    dict of str to ndarray
        The reach series by name, ``[step, member, subbasin]``; the same bits as single runs.

    Raises
    ------
    InputError
        There is no member, or an option of one cannot be used.
    NumericalError
        A member met a value that the model cannot go on with.
    """
    from wepl.run.batch import Batch, Shared, batches

    shared = Shared.of(basin, first, last)
    taken = {entry.name: row for row, entry in enumerate(registry.layout("series"))
             if names is None or entry.name in names}
    kept = np.arange(basin.parameters.sizes["subbasin"]) if subbasins is None else np.asarray(subbasins, dtype=int)
    shape = (shared.last - shared.first, len(members), kept.size)
    found = {name: np.empty(shape) for name in taken}
    together = groups([resolve_options(basin, member) for member in members])
    if not together:
        raise InputError("the ensemble has no member: give at least one set of options")
    for numbers in batches(basin, members, together, shared, backend, batch):
        part = Batch(shared, [members[number] for number in numbers], numbers, backend, block_steps=block_steps,
                     keep_going=keep_going)
        for at, series in part.blocks():
            rows_of_block = slice(at - shared.first, at - shared.first + series.shape[1])
            for name, row in taken.items():
                found[name][rows_of_block, numbers] = series[row][:, :, kept]
    return found
