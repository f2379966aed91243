"""One checker for the water balance of every process and place, made from the budgets that the registry declares.

Water is followed from tile to tile: each budget of :data:`wepl.registry.BALANCES` is drawn at its native place, the
hand-over between places is checked (what the columns shed is what hillslopes and reaches receive), and the sums are
closed for each unit, each sub-basin and the basin (docs/theory/balance.md, eq. 15.1):

    P + in - E - out - change of storage = 0

A residual is judged relative to the water that passed: precipitation over the place, and for sub-basins and reaches
also the inflow from upstream. Where that is less than a thousandth of the water stored at the start (a run without
rain), the stored water is added to the scale. Differences of storage are taken before anything is summed, sums over the
basin are exact (``math.fsum``) and sums of terms are compensated, so that the checker adds no error of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wepl import registry, rows
from wepl.run.balance_report import BalanceReport, Closure, Terms

if TYPE_CHECKING:
    from wepl.basin.dataset import Basin
    from wepl.run.assembly import Arrays as KernelArrays

__all__ = ["BalanceReport", "Closure", "Topology", "budget", "close"]

Values = NDArray[np.float64]
Arrays = Mapping[str, Values]

# What the columns shed and the sub-basins receive.
HANDOVERS = {
    "overland_supply": ("overland_runoff",),
    "direct_inflow": ("interflow", "open_water_outflow"),
    "percolation_volume": ("percolation",),
}
_LEAST_PASSED = 0.1  # share of the water stored that counts as passed where less did: what rounding is relative to


@dataclass(frozen=True, slots=True)
class Topology:
    """Where the water stands: indices from 0, areas in m2.

    Attributes
    ----------
    tile_unit, tile_area : array [tile]
        Unit of the tile; area of the tile.
    unit_subbasin, unit_area : array [unit]
    subbasin_area, yield_area : array [subbasin]
        Area, and specific yield times area.
    downstream : array [subbasin]
        Index of the next sub-basin, -1 at an outlet.
    river_cell_subbasin : array [river_cell]
    unit_id, subbasin_id : array
        Identifiers for messages.
    tile_class : array [tile], optional
        Index of the land class, for messages.
    unit_order : array [unit], optional
        Position of each unit in the basin file, where units are sorted differently.
    """

    tile_unit: NDArray[np.integer]
    tile_area: Values
    unit_subbasin: NDArray[np.integer]
    unit_area: Values
    subbasin_area: Values
    yield_area: Values
    downstream: NDArray[np.integer]
    river_cell_subbasin: NDArray[np.integer]
    unit_id: NDArray[np.integer]
    subbasin_id: NDArray[np.integer]
    tile_class: NDArray[np.integer] | None = None
    unit_order: NDArray[np.integer] | None = None

    @classmethod
    def of(cls, arrays: KernelArrays, basin: Basin) -> Topology:
        """The topology of an assembled basin."""
        values, parameters = arrays.values, basin.parameters
        identifiers = parameters["subbasin"].values
        below = parameters["downstream"].values
        position = {int(identifier): index for index, identifier in enumerate(identifiers)}
        cells = np.diff(values["cell_start"])
        return cls(
            tile_unit=arrays.unit_of_tile, tile_area=arrays.tile_area, unit_subbasin=arrays.subbasin_of_unit,
            unit_area=values["unit_parameter"][rows.AREA],
            subbasin_area=values["subbasin_parameter"][rows.SUBBASIN_AREA],
            yield_area=values["subbasin_parameter"][rows.YIELD_AREA],
            downstream=np.array([position.get(int(identifier), -1) for identifier in below]),
            river_cell_subbasin=np.repeat(np.arange(len(cells)), cells),
            unit_id=parameters["unit"].values[arrays.unit_order], subbasin_id=identifiers,
            tile_class=values["tile_index"][rows.TILE_CLASS], unit_order=arrays.unit_order)

    def place_name(self, place: str, index: int) -> str:
        """How a message calls a place."""
        if place == "basin":
            return "the basin"
        if place == "subbasin":
            return f"sub-basin {self.subbasin_id[index]}"
        unit = int(self.tile_unit[index]) if place == "tile" else index
        text = f"unit {self.unit_id[unit]} of sub-basin {self.subbasin_id[self.unit_subbasin[unit]]}"
        if place == "tile" and self.tile_class is not None:
            return f"the {registry.LAND_CLASSES[int(self.tile_class[index])]} tile of {text}"
        return text


def close(before: Arrays, after: Arrays, arrays: KernelArrays, basin: Basin) -> BalanceReport:
    """Close the water balance of a run between two moments.

    Parameters
    ----------
    before, after : mapping
        All restart variables at both moments (states, and totals of fluxes since some earlier moment).
    arrays : Arrays
        The assembled basin.
    basin : Basin
        Gives the identifiers.

    Returns
    -------
    BalanceReport
        See :func:`budget`.
    """
    totals = ("tile_flux", "subbasin_flux")
    fluxes = {name: after[name] - before[name] for name in after if registry.variable(name).array in totals}
    return budget(before, after, fluxes, Topology.of(arrays, basin))


def budget(before: Arrays, after: Arrays, fluxes: Arrays, topology: Topology) -> BalanceReport:
    """Close the water balance between two moments, from plain arrays.

    Parameters
    ----------
    before, after : mapping
        Water storages (states of the registry) at both moments, in the registry's units and dimensions.
    fluxes : mapping
        Totals between the moments: tile fluxes [tile] in m over the tile, sub-basin fluxes [subbasin] in m3.
    topology : Topology
        Indices and areas.

    Returns
    -------
    BalanceReport
        Terms of the basin, residuals of each process and place; ``check`` raises when one is too large.
    """
    accounts = _Accounts(before, after, fluxes, topology)
    closures = [accounts.process(balance) for balance in registry.BALANCES]
    closures += [accounts.handover(received, shed) for received, shed in HANDOVERS.items()]
    closures.append(accounts.network())
    unit, unit_closure = accounts.units()
    subbasin, subbasin_closure = accounts.subbasins()
    terms, basin_closure = accounts.basin()
    closures += [unit_closure, subbasin_closure, basin_closure]
    unit_depth = unit / topology.unit_area
    if topology.unit_order is not None:
        unit_depth[topology.unit_order] = unit_depth.copy()
    return BalanceReport(terms=terms, closures=tuple(closures), unit_residual=unit_depth,
                         subbasin_residual=subbasin / topology.subbasin_area)


@dataclass(slots=True)
class _Accounts:
    """Volumes (m3) by place; a tile's budget is drawn in volumes too."""

    before: Arrays
    after: Arrays
    fluxes: Arrays
    topology: Topology
    tile_stored: Values = field(init=False)
    subbasin_stored: Values = field(init=False)

    def __post_init__(self) -> None:
        tile = [np.abs(_layers_summed(self.before[name])) for name in _storages("tile")]
        self.tile_stored = _sum(tile) * self.topology.tile_area
        rest = [self._at_subbasin(name, np.abs(self.before[name])) for name in _storages("subbasin")]
        self.subbasin_stored = _sum([self._tiles_to_subbasins(self.tile_stored), *rest])

    def process(self, balance: registry.Balance) -> Closure:
        """Residual of one declared budget at its place."""
        signed = [self.flux(name) for name in balance.inflow]
        signed += [-self.flux(name) for name in balance.outflow]
        signed += [-self.change(name) for name in balance.storage]
        residual = _sum(signed)
        return self._closure(balance.process, balance.place, residual)

    def handover(self, received: str, shed: tuple[str, ...]) -> Closure:
        """What tiles shed and sub-basins received."""
        given = [self._tiles_to_subbasins(self.flux(name)) for name in shed]
        return self._closure(f"hand-over to {received}", "subbasin", _sum([*given, -self.flux(received)]))

    def network(self) -> Closure:
        """What reaches let go and the next ones took up."""
        downstream = self.topology.downstream
        inner = downstream >= 0
        given = _gather(downstream[inner], self.flux("reach_outflow")[inner], len(downstream))
        return self._closure("hand-over between reaches", "subbasin", given - self.flux("reach_inflow"))

    def units(self) -> tuple[Values, Closure]:
        """The columns of each unit together."""
        terms = [self.flux("precipitation_depth")]
        terms += [-self.flux(name) for name in registry.EVAPORATION + registry.RUNOFF]
        terms += [-self.change(name) for name in _storages("tile")]
        count = len(self.topology.unit_area)
        residual = _sum([_gather(self.topology.tile_unit, term, count) for term in terms])
        return residual, self._closure("all", "unit", residual)

    def subbasins(self) -> tuple[Values, Closure]:
        """Each sub-basin from rain to the reach's end."""
        inside = [self.flux("precipitation_depth"), *(-self.flux(name) for name in registry.EVAPORATION)]
        inside += [-self.change(name) for name in _storages("tile")]
        terms = [self._tiles_to_subbasins(term) for term in inside]
        terms += [self.flux("reach_inflow"), -self.flux("reach_outflow"), -self.flux("deep_loss")]
        terms += [-self.change(name) for name in _storages("subbasin")]
        residual = _sum(terms)
        return residual, self._closure("all", "subbasin", residual)

    def basin(self) -> tuple[Terms, Closure]:
        """The whole basin: its terms and its residual."""
        outlets = self.topology.downstream < 0

        def total(name: str) -> float:
            return math.fsum(self.flux(name))

        storage = {name: math.fsum(self.change(name)) for name in _storages("tile") + _storages("subbasin")}
        evaporation = {name: total(name) for name in registry.EVAPORATION}
        outflow = math.fsum(self.flux("reach_outflow")[outlets])
        precipitation, deep_loss = total("precipitation_depth"), total("deep_loss")
        residual = math.fsum([precipitation, *(-value for value in evaporation.values()), -outflow, -deep_loss,
                              *(-value for value in storage.values())])
        terms = Terms(
            area=math.fsum(self.topology.subbasin_area),
            precipitation={"precipitation_depth": precipitation, "rainfall": total("rainfall"),
                           "snowfall": total("snowfall")},
            evaporation=evaporation,
            runoff={name: total(name) for name in ("overland_inflow", "interflow", "open_water_outflow",
                                                   "groundwater_discharge")},
            storage=storage, outflow=outflow, deep_loss=deep_loss, residual=residual)
        return terms, self._closure("all", "basin", np.array([residual]))

    def flux(self, name: str) -> Values:
        """Total of a flux in m3, at its place."""
        values = np.asarray(self.fluxes[name], dtype=np.float64)
        return values * self.topology.tile_area if registry.variable(name).array == "tile_flux" else values

    def change(self, name: str) -> Values:
        """Change of a storage in m3, at the tile or the sub-basin."""
        difference = np.asarray(self.after[name], dtype=np.float64) - np.asarray(self.before[name], dtype=np.float64)
        if name in _storages("tile"):
            return _layers_summed(difference) * self.topology.tile_area
        return self._at_subbasin(name, difference)

    def _at_subbasin(self, name: str, values: Values) -> Values:
        """Water (m3) per sub-basin of a state that stands at units, sub-basins or river cells."""
        topology = self.topology
        count = len(topology.subbasin_area)
        if name == "groundwater_head":
            return values * topology.yield_area
        dims = registry.variable(name).dims
        if dims == ("subbasin",):
            return values * topology.subbasin_area
        if dims == ("unit",):
            return _gather(topology.unit_subbasin, values * topology.unit_area, count)
        return _gather(topology.river_cell_subbasin, values, count)

    def _tiles_to_subbasins(self, values: Values) -> Values:
        topology = self.topology
        units = _gather(topology.tile_unit, values, len(topology.unit_area))
        return _gather(topology.unit_subbasin, units, len(topology.subbasin_area))

    def _scale(self, place: str) -> Values:
        """Water that passed the place (m3), or a tenth of the water stored where less passed."""
        rain = np.abs(self.flux("precipitation_depth"))
        if place == "tile":
            passed, stored = rain, self.tile_stored
        elif place == "unit":
            count = len(self.topology.unit_area)
            passed = _gather(self.topology.tile_unit, rain, count)
            stored = _gather(self.topology.tile_unit, self.tile_stored, count)
        elif place == "subbasin":
            passed = self._tiles_to_subbasins(rain) + np.abs(self.flux("reach_inflow"))
            stored = self.subbasin_stored
        else:
            passed, stored = np.array([math.fsum(rain)]), np.array([math.fsum(self.subbasin_stored)])
        return np.maximum(passed, _LEAST_PASSED * stored)

    def _closure(self, process: str, place: str, residual: Values) -> Closure:
        relative = np.abs(residual) / np.maximum(self._scale(place), np.finfo(np.float64).tiny)
        relative = np.where(np.isfinite(relative), relative, np.inf)
        worst = int(np.argmax(relative))
        area = {"tile": self.topology.tile_area, "unit": self.topology.unit_area,
                "subbasin": self.topology.subbasin_area}.get(place)
        ground = math.fsum(self.topology.subbasin_area) if area is None else float(area[worst])
        return Closure(process=process, place=place, where=self.topology.place_name(place, worst),
                       volume=float(residual[worst]), depth=float(residual[worst]) / ground,
                       relative=float(relative[worst]))


def _storages(place: str) -> tuple[str, ...]:
    """States that hold water, at tiles or at sub-basins (and their units and river cells)."""
    return tuple(dict.fromkeys(name for balance in registry.BALANCES if balance.place == place
                               for name in balance.storage))


def _gather(index: NDArray[np.integer], values: Values, count: int) -> Values:
    """Sum of ``values`` at each of ``count`` places."""
    return np.asarray(np.bincount(index, values, count), dtype=np.float64)


def _layers_summed(values: Values) -> Values:
    return _sum(values) if values.ndim == 2 else values


def _sum(terms: Iterable[Values]) -> Values:
    """Sum of arrays, element by element, with the rounding of each addition carried along (Neumaier 1974)."""
    total: Values | None = None
    for term in terms:
        if total is None:
            total = np.array(term, dtype=np.float64)
            lost = np.zeros_like(total)
            continue
        new = total + term
        lost += np.where(np.abs(total) >= np.abs(term), (total - new) + term, (term - new) + total)
        total = new
    if total is None:
        raise ValueError("nothing to sum")
    return total + lost
