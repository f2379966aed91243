"""A result file as a report needs it: facts of places, and series as means of sub-basins, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl import registry
from wepl.errors import InputError
from wepl.netcdf import content_of
from wepl.report.periods import Steps

if TYPE_CHECKING:
    from wepl.basin.dataset import Basin

_BLOCK_VALUES = 2**23
RAIN = "precipitation_depth"
DISCHARGE = "discharge"
_NEEDED = ("time", "time_bounds", "subbasin", "downstream", "discharge")


@dataclass(frozen=True)
class Place:
    """A gauge, or an outlet of a basin without gauges.

    Attributes
    ----------
    identifier : str
        Of the gauge, or of the outlet's sub-basin.
    name : str
        Empty for an outlet.
    subbasin : int
        Position of its sub-basin in the file.
    """

    identifier: str
    name: str
    subbasin: int


@dataclass(frozen=True)
class Quantity:
    """A variable of the file, or one of its soil layers, as series of sub-basins.

    Attributes
    ----------
    name : str
        In the registry.
    layer : int
        Position of the soil layer, -1 when the variable has none.
    units : str
        As in the file.
    summed : bool
        Whether values of steps add up over time; if not, they are averaged.
    """

    name: str
    layer: int
    units: str
    summed: bool

    @property
    def key(self) -> str:
        """Name with the number of the layer, 1 at the top."""
        return self.name if self.layer < 0 else f"{self.name}.{self.layer + 1}"


class ResultReader:
    """An open result file; a context manager.

    Parameters
    ----------
    path : Path
        A result of wepl.
    basin : Basin, optional
        The basin of the run, from which rain is taken when the result has none.

    Attributes
    ----------
    attributes : dict
        Global attributes of the file.
    steps : Steps
    identifiers, downstream : ndarray of int
        Of each sub-basin, and the position of the one below it (-1 at an outlet).
    area : ndarray
        Of each sub-basin, km2; NaN when the file has no units.
    places : list of Place
    quantities : list of Quantity
        What :meth:`blocks` gives.

    Raises
    ------
    InputError
        The file is no complete result of wepl, or the basin is not that of the run.
    """

    def __init__(self, path: Path, basin: Basin | None = None) -> None:
        import xarray as xr

        if not path.is_file():
            raise InputError(f"{path} is {'a folder' if path.is_dir() else 'not there'}; give a result file of wepl")
        content = content_of(path)
        if content != "result":
            raise InputError(f"{path} is {f'a {content} file' if content else 'no result'} of wepl; give the file that "
                             "`wepl run` wrote")
        self.path = path
        try:
            self.dataset = xr.open_dataset(path, engine="netcdf4", decode_times=False, decode_coords=False,
                                           decode_timedelta=False, cache=False)
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError(f"{path} cannot be read: {error}; it is damaged: run again") from error
        try:
            self._describe(basin)
        except BaseException:
            self.close()
            raise

    def _describe(self, basin: Basin | None) -> None:
        data = self.dataset
        absent = [name for name in _NEEDED if name not in data.variables]
        if absent:
            raise InputError(f"{self.path} lacks {', '.join(absent)}: it is no complete result of wepl; run again")
        if data.sizes["time"] == 0:
            raise InputError(f"{self.path} holds no steps: run again")
        self.attributes: dict[str, Any] = dict(data.attrs)
        bounds = self.values("time_bounds")
        time = data["time"].attrs
        self.steps = Steps.from_edges(np.append(bounds[:, 0], bounds[-1, 1]), time["units"],
                                      time.get("calendar", "standard"))
        self.identifiers = self.values("subbasin").astype(np.int64)
        self.downstream = self._positions(self.values("downstream"), missing=True)
        self._units()
        self.places = list(self._places())
        self.quantities = list(self._quantities())
        self.basin: Basin | None = None
        self._rain: tuple[Any, int] | None = None
        if basin is not None:
            self._take_basin(basin)

    def _positions(self, identifiers: np.ndarray, missing: bool = False) -> np.ndarray:
        """Positions of sub-basins by identifier; -1 for what is not there, if that may be."""
        order = np.argsort(self.identifiers, kind="stable")
        found = np.searchsorted(self.identifiers, identifiers, sorter=order)
        places = order[np.minimum(found, order.size - 1)]
        there = self.identifiers[places] == identifiers
        if not missing and not there.all():
            raise InputError(f"{self.path}: sub-basin {int(identifiers[~there][0])} is named but not there")
        return np.where(there, places, -1)

    def _units(self) -> None:
        """Shares of the units in their sub-basins, for means by area."""
        from scipy.sparse import csr_array

        count = self.identifiers.size
        self.unit_area = np.zeros(0)
        self._shares = None
        self.area = np.full(count, np.nan)
        if not {"unit_area", "unit_subbasin"} <= set(self.dataset.variables):
            return
        self.unit_area = self.values("unit_area").astype(float)
        self.unit_subbasin = self._positions(self.values("unit_subbasin"))
        self.area = np.bincount(self.unit_subbasin, weights=self.unit_area, minlength=count)
        units = np.arange(self.unit_area.size)
        self._shares = csr_array((self.unit_area, (units, self.unit_subbasin)), shape=(units.size, count))

    def _places(self) -> Iterator[Place]:
        data = self.dataset
        if "gauge" in data.variables and data.sizes.get("gauge", 0):
            names = self.values("gauge_name") if "gauge_name" in data.variables else [""] * data.sizes["gauge"]
            for identifier, name, place in zip(self.values("gauge"), names,
                                               self._positions(self.values("gauge_subbasin")), strict=True):
                yield Place(str(int(identifier)), str(name), int(place))
            return
        outlets = np.flatnonzero(self.downstream < 0)
        largest = outlets[np.argsort(-self.upstream_area()[outlets], kind="stable")][:8]
        for place in largest:
            yield Place(str(int(self.identifiers[place])), "", int(place))

    def _quantities(self) -> Iterator[Quantity]:
        known = set(registry.names())
        for name, variable in self.dataset.variables.items():
            dims = variable.dims
            if "time" not in dims or name not in known or dims[-1] not in ("unit", "subbasin"):
                continue
            if dims[-1] == "unit" and self._shares is None:
                continue
            units = str(variable.attrs.get("units", "1"))
            summed = "time: sum" in str(variable.attrs.get("cell_methods", ""))
            layers = range(variable.shape[1]) if "soil_layer" in dims else (-1,)
            yield from (Quantity(str(name), layer, units, summed) for layer in layers)

    def _take_basin(self, basin: Basin) -> None:
        if basin.hash != self.attributes.get("basin_hash"):
            raise InputError(f"{basin.path} is not the basin of {self.path}: its hash is {basin.hash[:12]}, that of "
                             f"the run {str(self.attributes.get('basin_hash'))[:12]}; give the basin file of the run")
        self.basin = basin
        held = {quantity.name for quantity in self.quantities}
        plain = float(basin.options["precipitation_lapse_rate"]) == 0.0 and self._lapse_unchanged()
        if RAIN not in held and self._shares is not None and plain:
            cells = basin.parameters["cell"].values
            order = np.argsort(cells, kind="stable")
            self._unit_cell = order[np.searchsorted(cells, basin.parameters["unit_cell"].values, sorter=order)]
            first = basin.clock.index(str(self.attributes["run_start"]))
            self._rain = basin.forcing, first
            self.quantities.append(Quantity(RAIN, -1, "mm", True))

    def _lapse_unchanged(self) -> bool:
        """Whether the run rained on its units what its forcing says."""
        return "precipitation_lapse_rate" not in str(self.attributes.get("options_changed", ""))

    def upstream_area(self) -> np.ndarray:
        """Area of each sub-basin and all above it, km2; the number of sub-basins where areas are not known."""
        total = np.where(np.isfinite(self.area), self.area, 1.0).copy()
        for place in downstream_order(self.downstream):
            if self.downstream[place] >= 0:
                total[self.downstream[place]] += total[place]
        return total

    def values(self, name: str) -> np.ndarray:
        """All values of one variable."""
        return np.asarray(self.dataset.variables[name].values)

    def blocks(self) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """First step and values ``[step, subbasin]`` of every quantity by key, float64, in the file's units."""
        widest = max(self.unit_area.size, self.identifiers.size)
        size = max(1, _BLOCK_VALUES // widest)
        for first in range(0, self.steps.count, size):
            last = min(self.steps.count, first + size)
            yield first, {quantity.key: self._block(quantity, first, last) for quantity in self.quantities}

    def _block(self, quantity: Quantity, first: int, last: int) -> np.ndarray:
        if quantity.name == RAIN and self._rain is not None:
            forcing, start = self._rain
            rate = forcing.read(start + first, start + last)[registry.row("precipitation")]
            return self.of_subbasins(rate[:, self._unit_cell] * 1e3 * self.steps.step_seconds)
        variable = self.dataset.variables[quantity.name]
        part = variable[first:last] if quantity.layer < 0 else variable[first:last, quantity.layer]
        try:
            values = np.asarray(part.values, dtype=np.float64)
        except (OSError, RuntimeError) as error:
            raise InputError(f"{self.path}: {quantity.name} cannot be read ({error}): run again") from error
        return values if variable.dims[-1] == "subbasin" else self.of_subbasins(values)

    def of_subbasins(self, values: np.ndarray) -> np.ndarray:
        """Means of units by area, ``[step, unit]`` to ``[step, subbasin]``; units without a value do not count."""
        assert self._shares is not None
        there = np.isfinite(values)
        total = np.where(there, values, 0.0) @ self._shares
        weight = self.area if there.all() else there.astype(float) @ self._shares
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(total / weight)

    def close(self) -> None:
        """Close the file."""
        self.dataset.close()

    def __enter__(self) -> ResultReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def downstream_order(downstream: np.ndarray) -> np.ndarray:
    """Positions of sub-basins such that each stands after all above it.

    Raises
    ------
    InputError
        The network runs in a circle.
    """
    above = np.bincount(downstream[downstream >= 0], minlength=downstream.size)
    order = list(np.flatnonzero(above == 0))
    for place in order:
        below = downstream[place]
        if below >= 0:
            above[below] -= 1
            if above[below] == 0:
                order.append(below)
    if len(order) != downstream.size:
        raise InputError("the network of sub-basins runs in a circle: the result file is damaged; run again")
    return np.array(order, dtype=np.int64)


def upstream_of(place: int, downstream: np.ndarray) -> np.ndarray:
    """Whether each sub-basin drains through ``place``, itself included."""
    inside = np.zeros(downstream.size, dtype=bool)
    inside[place] = True
    for other in downstream_order(downstream)[::-1]:
        if downstream[other] >= 0 and inside[downstream[other]]:
            inside[other] = True
    return inside
