"""Options that may differ between parameter zones: ``NAME@ZONE`` holds in one zone, ``NAME`` in all others.

A zone is a set of units with one number in ``parameter_zone`` of the basin file. A sub-basin, which has one reach and
one aquifer, belongs to the zone that covers most of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wepl.errors import InputError

# Multipliers that are applied to fields of the basin when it is assembled; docs/theory/parameters.md.
ZONED = ("soil_thickness_factor", "stomatal_resistance_factor", "conductivity_factor", "aquifer_factor",
         "riverbed_conductivity_factor", "manning_overland_factor", "manning_river_factor",
         "depression_storage_factor", "degree_day_factor_factor", "interflow_anisotropy")


def split(name: str) -> tuple[str, int | None]:
    """Option and zone of ``NAME`` or ``NAME@ZONE``.

    Raises
    ------
    InputError
        The option cannot differ between zones, or the zone is not a whole number.
    """
    option, at, zone = name.partition("@")
    if not at:
        return option, None
    if option not in ZONED:
        raise InputError(f"{name}: only {', '.join(ZONED)} may differ between parameter zones")
    try:
        return option, int(zone)
    except ValueError:
        raise InputError(f"{name}: {zone!r} is not the number of a parameter zone") from None


def check_zone(name: str, zone: int, zones: np.ndarray | None) -> None:
    """Refuse a zone that the basin does not have.

    Parameters
    ----------
    name : str
        As the user gave it, for the message.
    zone : int
    zones : ndarray of int, optional
        ``parameter_zone`` of the units; None where the basin has none.

    Raises
    ------
    InputError
        There is no such zone.
    """
    if zones is None:
        raise InputError(f"{name}: the basin has no variable parameter_zone(unit); add it, or leave @{zone} out")
    if zone not in zones:
        known = ", ".join(str(value) for value in np.unique(zones)[:20])
        raise InputError(f"{name}: no unit has parameter_zone {zone}; there are {known}")


def of_subbasins(zone: np.ndarray, subbasin: np.ndarray, area: np.ndarray) -> np.ndarray:
    """Zone that covers most of each sub-basin, the smallest number where two cover the same area.

    Parameters
    ----------
    zone, subbasin, area : ndarray
        Zone, position of the sub-basin and area (m2) of each unit.
    """
    numbers, place = np.unique(zone, return_inverse=True)
    covered = np.zeros((int(subbasin.max()) + 1, numbers.size))
    np.add.at(covered, (subbasin, place), area)
    return np.asarray(numbers[np.argmax(covered, axis=1)])


def spread(options: Mapping[str, float], name: str, zone: np.ndarray | None) -> float | np.ndarray:
    """An option where it is used: one number, or one for each place where zones differ in it.

    Parameters
    ----------
    options : mapping
        All options, ``NAME@ZONE`` among them.
    name : str
    zone : ndarray of int, optional
        Zone of each place.
    """
    own = {key: value for key, value in options.items() if key.startswith(name + "@")}
    if not own or zone is None:
        return options[name]
    values = np.full(zone.shape, options[name])
    for key, value in own.items():
        values[zone == int(key.partition("@")[2])] = value
    return values


def resistance_factors(options: Mapping[str, float]) -> list[float]:
    """Distinct multipliers of stomatal resistance: the table of vegetation kinds is repeated for each of them."""
    name = "stomatal_resistance_factor"
    return list(dict.fromkeys([options[name], *(value for key, value in options.items()
                                                if key.startswith(name + "@"))]))
