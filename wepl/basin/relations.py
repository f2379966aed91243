"""Rules about what a basin's values say about each other: identifiers, network, bands, land, soil."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry, units
from wepl.basin import polygons, vegetation

if TYPE_CHECKING:
    import xarray as xr


def _values(raw: xr.Dataset, name: str) -> np.ndarray:
    """A variable in internal units, its default where the file has none."""
    entry = registry.variable(name)
    if name not in raw.variables:
        shape = tuple(raw.sizes[dim] for dim in entry.dims)
        return np.full(shape, entry.default)
    values = raw.variables[name].transpose(*entry.dims).values
    if entry.integer:
        return values.astype(np.int64)
    return units.convert(values, str(raw.variables[name].attrs.get("units", "1")), entry.units, name)


def _first(bad: np.ndarray) -> int:
    return int(np.flatnonzero(bad)[0])


def _more(count: int) -> str:
    return f" ({count} such places)" if count > 1 else ""


def _unique(raw: xr.Dataset) -> Iterator[str]:
    for name in ("subbasin", "unit", "cell", "gauge"):
        if name in raw.variables:
            found, counts = np.unique(_values(raw, name), return_counts=True)
            if (counts > 1).any():
                yield f"{name} {found[counts > 1][0]} stands {counts[counts > 1][0]} times: identifiers must be unique"
            if name == "subbasin" and (found < 0).any():
                yield f"subbasin {found[0]} is negative: -1 stands for an outlet, so identifiers must be 0 or more"


def _references(raw: xr.Dataset) -> Iterator[str]:
    for name, target, owner in (("unit_subbasin", "subbasin", "unit"), ("unit_cell", "cell", "unit"),
                                ("gauge_subbasin", "subbasin", "gauge"), ("downstream", "subbasin", "subbasin")):
        if name not in raw.variables:
            continue
        given = _values(raw, name)
        bad = ~np.isin(given, _values(raw, target))
        advice = f"name a {target} that is there"
        if name == "downstream":
            bad &= given != -1
            advice += ", or -1 at an outlet"
        if bad.any():
            place = _first(bad)
            yield (f"{name} of {owner} {_values(raw, owner)[place]} is {given[place]}, but there is no such {target}"
                   f"{_more(int(bad.sum()))}; {advice}")


def _network(raw: xr.Dataset) -> Iterator[str]:
    ids, downstream = _values(raw, "subbasin"), _values(raw, "downstream")
    order = np.argsort(ids, kind="stable")
    inside = np.isin(downstream, ids)
    below = np.full(ids.size, -1)
    below[inside] = order[np.searchsorted(ids, downstream[inside], sorter=order)]
    waiting = np.bincount(below[below >= 0], minlength=ids.size)
    done = np.zeros(ids.size, bool)
    front = np.flatnonzero(waiting == 0)
    while front.size:
        done[front] = True
        going = below[front][below[front] >= 0]
        np.subtract.at(waiting, going, 1)
        touched = np.unique(going)
        front = touched[waiting[touched] == 0]
    if not done.all():
        # A reach that never gets its turn lies on a cycle or below one: walk down until one repeats.
        place = _first(~done)
        for _ in range(ids.size):
            place = int(below[place])
        start, cycle = place, [int(ids[place])]
        while below[place] != start:
            place = int(below[place])
            cycle.append(int(ids[place]))
        lowest = cycle.index(min(cycle))
        cycle = cycle[lowest:] + cycle[:lowest]
        shown = " -> ".join(map(str, [*cycle[:8], cycle[0]] if len(cycle) <= 8 else [*cycle[:8], "..."]))
        yield f"downstream makes a cycle of {len(cycle)} sub-basin(s): {shown}; each must lead to an outlet (-1)"


def _bands(raw: xr.Dataset) -> Iterator[str]:
    subbasin, order = _values(raw, "unit_subbasin"), _values(raw, "unit_order")
    elevation, ids = _values(raw, "unit_elevation"), _values(raw, "unit")
    empty = ~np.isin(_values(raw, "subbasin"), subbasin)
    if empty.any():
        yield (f"subbasin {_values(raw, 'subbasin')[_first(empty)]} has no unit{_more(int(empty.sum()))}; give it one, "
               "or take it out of the network")
    ranked = np.lexsort((order, subbasin))
    same = subbasin[ranked][1:] == subbasin[ranked][:-1]
    twice = same & (order[ranked][1:] == order[ranked][:-1])
    if twice.any():
        place = ranked[1:][_first(twice)]
        yield (f"unit_order {order[place]} stands twice in subbasin {subbasin[place]} (unit {ids[place]})"
               f"{_more(int(twice.sum()))}: number the bands 1, 2, ... from the ridge to the river")
    rising = same & (elevation[ranked][1:] > elevation[ranked][:-1] + 1.0)
    if rising.any():
        place, upper = ranked[1:][_first(rising)], ranked[:-1][_first(rising)]
        yield (f"unit {ids[place]} of subbasin {subbasin[place]} lies at {elevation[place]:g} m, above unit "
               f"{ids[upper]} ({elevation[upper]:g} m) that drains onto it{_more(int(rising.sum()))}: the bands are "
               "upside down, unit_order 1 is the ridge")


def _land(raw: xr.Dataset) -> Iterator[str]:
    ids = _values(raw, "unit")
    total = _values(raw, "land_fraction").sum(axis=1)
    bad = np.abs(total - 1.0) > 1e-6
    if bad.any():
        place = _first(bad)
        yield (f"land_fraction of unit {ids[place]} adds to {total[place]:.9g}, not 1{_more(int(bad.sum()))}; correct "
               "the shares or their units")
    cover = _values(raw, "tall_fraction") + _values(raw, "short_fraction")
    bad = cover > 1.0 + 1e-6
    if bad.any():
        place = _first(bad)
        yield (f"tall_fraction and short_fraction of unit {ids[place]} add to {cover[place]:.9g}, above 1"
               f"{_more(int(bad.sum()))}: the rest is bare soil")
    n_kinds = raw.sizes["vegetation"] if "leaf_area_index" in raw.variables else len(vegetation.KINDS)
    for name in ("tall_vegetation", "short_vegetation", "irrigated_vegetation", "non_irrigated_vegetation"):
        kind = _values(raw, name)
        bad = kind >= n_kinds
        if bad.any():
            place = _first(bad)
            yield (f"{name} of unit {ids[place]} is {kind[place]}, but there are {n_kinds} kinds, numbered from 0"
                   f"{_more(int(bad.sum()))}; choose one of them")


def _soil(raw: xr.Dataset) -> Iterator[str]:
    if "soil_layer" in raw.variables and raw.variables["soil_layer"].dtype.kind in "iuf":
        depth = raw.variables["soil_layer"].values
        if depth.size > 1 and not (np.diff(depth) > 0).all():
            yield "soil_layer does not rise: the layers are upside down or out of order, the top layer comes first"
    ids = _values(raw, "unit")
    names = ("residual_water_content", "wilting_point", "field_capacity", "saturated_water_content")
    content = [_values(raw, name) for name in names]
    for lower, upper, name_lower, name_upper in zip(content, content[1:], names, names[1:], strict=False):
        bad = ~(lower < upper)
        if bad.any():
            unit, layer = (int(index[0]) for index in np.nonzero(bad))
            yield (f"{name_lower} {lower[unit, layer]:g} is not below {name_upper} {upper[unit, layer]:g} in layer "
                   f"{layer + 1} of unit {ids[unit]}{_more(int(bad.sum()))}; correct one of them")
            return
    yield from _start(raw, content[-1])
    if "mualem_n" not in raw.variables:
        from wepl.basin.soils import derive_curve

        conductivity = _values(raw, "saturated_conductivity")
        residual, wilting, capacity, saturated = content
        _, b, n = derive_curve(saturated, residual, capacity, wilting, conductivity, 330.0)
        bad = ~(b > registry.variable("haverkamp_b").valid[0])
        if bad.any():
            unit, layer = (int(index[0]) for index in np.nonzero(bad))
            yield (f"wilting_point {wilting[unit, layer]:g} of layer {layer + 1} of unit {ids[unit]} is so near "
                   f"field_capacity {capacity[unit, layer]:g} that no retention curve fits{_more(int(bad.sum()))}: "
                   "correct them, or give haverkamp_a, haverkamp_b and mualem_n")
        bad = ~(n > 1.001)
        if bad.any():
            unit, layer = (int(index[0]) for index in np.nonzero(bad))
            yield (f"field_capacity {capacity[unit, layer]:g} of layer {layer + 1} of unit {ids[unit]} is so near the "
                   f"residual content that no conductivity curve fits{_more(int(bad.sum()))}: correct it, or give "
                   "haverkamp_a, haverkamp_b and mualem_n")


def _start(raw: xr.Dataset, saturated: np.ndarray) -> Iterator[str]:
    if "initial_soil_moisture" not in raw.variables:
        return
    given = _values(raw, "initial_soil_moisture")
    bad = given > saturated + 1e-6
    if bad.any():
        unit, layer = (int(index[0]) for index in np.nonzero(bad))
        yield (f"initial_soil_moisture {given[unit, layer]:g} is above saturated_water_content "
               f"{saturated[unit, layer]:g} in layer {layer + 1} of unit {_values(raw, 'unit')[unit]}"
               f"{_more(int(bad.sum()))}; correct one of them")


RULES = (
    ("identifiers are unique", _unique),
    ("identifiers that are named exist", _references),
    ("the river network has no cycle", _network),
    ("bands go from the ridge to the river", _bands),
    ("land classes fill each unit", _land),
    ("soil water contents are in order", _soil),
    ("outlines of sub-basins fit together", polygons.faults),
)
