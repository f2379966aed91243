"""Which variables a run writes, what the columns must record for them, and how tile values become unit values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wepl import registry, rows
from wepl.errors import InputError
from wepl.run.assembly import Arrays
from wepl.stages.aggregate import unit_mean

# Diagnostics that are sums of recorded variables.
_SUMS = {
    "evapotranspiration": registry.EVAPORATION,
    "runoff": ("overland_runoff", "interflow", "open_water_outflow"),
    "snow_water_equivalent": ("snow_ice", "snow_liquid"),
    "soil_moisture": ("soil_water",),
}
_SOURCES = {"tile_flux": rows.RECORD_FLUX, "tile_state": rows.RECORD_STATE, "soil_state": rows.RECORD_SOIL}
ALWAYS = ("discharge",)


def choices() -> list[str]:
    """Names that ``--variables`` accepts."""
    recorded = [entry.name for array in _SOURCES for entry in registry.layout(array) if entry.name != "event_deficit"]
    series = [entry.name for entry in registry.layout("series") if entry.name not in ALWAYS]
    return list(_SUMS) + recorded + series


@dataclass(frozen=True)
class Selection:
    """The chosen variables: ``units`` per unit, ``series`` per sub-basin, ``items`` recorded (name, layer)."""

    units: tuple[str, ...]
    series: tuple[str, ...]
    items: tuple[tuple[str, int], ...]

    @property
    def record_index(self) -> np.ndarray:
        """``record_index[source, row, layer]`` of each recorded item for the column kernel."""
        index = np.zeros((3, len(self.items)), dtype=np.int32)
        for place, (name, layer) in enumerate(self.items):
            index[:, place] = _SOURCES[registry.variable(name).array], registry.row(name), layer
        return index


def select(names: Sequence[str], n_layers: int) -> Selection:
    """Check the wanted names and find what must be recorded.

    Raises
    ------
    InputError
        A name is unknown; the message lists the known ones.
    """
    known = choices()
    unknown = [name for name in names if name not in known and name not in (*ALWAYS, "gauge_discharge")]
    if unknown:
        raise InputError(f"unknown output variable {', '.join(unknown)}: choose from {', '.join(known)}")
    wanted = [name for name in dict.fromkeys(names) if name in known]
    series = tuple(name for name in wanted if registry.variable(name).array == "series")
    units = tuple(name for name in wanted if name not in series)
    items: list[tuple[str, int]] = []
    for name in units:
        for part in _SUMS.get(name, (name,)):
            layers = range(n_layers) if registry.variable(part).array == "soil_state" else range(1)
            items.extend((part, layer) for layer in layers if (part, layer) not in items)
    return Selection(units, series, tuple(items))


class UnitOutputs:
    """Turns the columns' records into unit variables in the file's order of units.

    Parameters
    ----------
    selection : Selection
        What is wanted.
    arrays : Arrays
        The assembled basin.
    """

    def __init__(self, selection: Selection, arrays: Arrays) -> None:
        self.selection = selection
        self._arrays = arrays
        fraction = arrays.values["tile_parameter"][rows.TILE_FRACTION]
        unit = arrays.unit_of_tile
        n_units = arrays.unit_order.size
        soil = fraction * (arrays.values["tile_index"][rows.TILE_KIND] == rows.SOIL)
        self._soil_share = np.bincount(unit, weights=soil, minlength=n_units)
        divisor = np.where(self._soil_share > 0.0, self._soil_share, 1.0)
        soil = soil / divisor[unit]
        self._weight = np.empty((len(selection.items), unit.size))
        for place, (name, _) in enumerate(selection.items):
            self._weight[place] = soil if registry.variable(name).average == "soil" else fraction
        thickness = np.zeros((arrays.n_layers, n_units))
        for layer in range(arrays.n_layers):
            values = arrays.values["soil_parameter"][rows.LAYER_THICKNESS, layer] * soil
            thickness[layer] = np.bincount(unit, weights=values, minlength=n_units)
        self._thickness = np.where(thickness > 0.0, thickness, 1.0)
        self._back = np.argsort(arrays.unit_order)

    def block(self, record: np.ndarray, n_steps: int) -> dict[str, np.ndarray]:
        """Unit variables of one block: ``[step, unit]``, layered ones ``[step, layer, unit]``, internal units."""
        selection = self.selection
        if not selection.items:
            return {}
        n_units = self._arrays.unit_order.size
        mean = np.empty((len(selection.items), n_steps, n_units))
        unit_mean(n_units, n_steps, record, self._arrays.values["tile_start"], self._arrays.values["tile_list"],
                  self._weight, mean)
        result = {}
        for name in selection.units:
            result[name] = self._combine(name, mean)[..., self._back]
        return result

    def _combine(self, name: str, mean: np.ndarray) -> np.ndarray:
        parts = _SUMS.get(name, (name,))
        layered = registry.variable(parts[0]).array == "soil_state"
        if not layered:
            places = [self.selection.items.index((part, 0)) for part in parts]
            total = mean[places[0]].copy()
            for place in places[1:]:
                total += mean[place]
            return total
        places = [self.selection.items.index((parts[0], layer)) for layer in range(self._arrays.n_layers)]
        values = np.stack([mean[place] for place in places], axis=1)
        if name == "soil_moisture":
            values = values / self._thickness
        values[..., self._soil_share == 0.0] = np.nan
        return values
