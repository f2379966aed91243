"""What assembly needs of a basin whatever the options: worked out once for all members of an ensemble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wepl.basin.soils import derive_curve
from wepl.physics.soil_hydraulics import retention_saturation
from wepl.run import zones

if TYPE_CHECKING:
    import xarray as xr

_COARSE_SUCTION_CM = 100.0
_FINE_SUCTION_CM = 330.0
_COARSE_CONDUCTIVITY = 1.0 / 86400.0  # m s-1: sand and loamy sand of Rawls et al. lie above 1 m/d


class Table(dict[str, "xr.DataArray"]):
    """The variables of a dataset by name, since looking one up in a dataset takes longer than computing with it."""

    def __init__(self, data: xr.Dataset) -> None:
        super().__init__({str(name): data[name] for name in data.variables})
        self.sizes = data.sizes


@dataclass(frozen=True)
class Curves:
    """Retention and conductivity curves ``[unit, layer]`` and the water content at 1e6 cm suction."""

    a: np.ndarray
    b: np.ndarray
    n: np.ndarray
    dry: np.ndarray


class Fixed:
    """Facts of one basin that do not depend on options.

    Parameters
    ----------
    parameters : xarray.Dataset
        Those of :class:`wepl.basin.dataset.Basin`.

    Attributes
    ----------
    parameters, units : Table
        All variables, and those with units sorted by sub-basin, then from the ridge to the river.
    unit_order, subbasin_of_unit : ndarray of int
        File position and position of the sub-basin of each sorted unit.
    below, n_upstream, level : ndarray of int
        Of each sub-basin: position of the next one (-1 at an outlet), number of those above, longest way from a
        headwater in reaches.
    curves : Curves
    unit_zone, subbasin_zone : ndarray of int or None
        Parameter zones, where the basin has them.
    """

    def __init__(self, parameters: xr.Dataset) -> None:
        subbasin = positions(parameters["subbasin"].values, parameters["unit_subbasin"].values)
        self.unit_order = np.lexsort((parameters["unit_order"].values, subbasin))
        self.subbasin_of_unit = subbasin[self.unit_order]
        self.parameters = Table(parameters)
        self.units = Table(parameters.isel(unit=self.unit_order))
        self.below = _below(parameters)
        self.n_upstream = np.bincount(self.below[self.below >= 0], minlength=self.below.size)
        self.level = _levels(self.below, self.n_upstream)
        self.curves = _curves(self.units)
        self.unit_zone: np.ndarray | None = None
        self.subbasin_zone: np.ndarray | None = None
        if "parameter_zone" in self.units:
            self.unit_zone = self.units["parameter_zone"].values
            self.subbasin_zone = zones.of_subbasins(self.unit_zone, self.subbasin_of_unit,
                                                    self.units["unit_area"].values)


def positions(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Position of each wanted id in ``ids``."""
    order = np.argsort(ids, kind="stable")
    return np.asarray(order[np.searchsorted(ids, wanted, sorter=order)])


def _below(parameters: xr.Dataset) -> np.ndarray:
    ids, downstream = parameters["subbasin"].values, parameters["downstream"].values
    below = np.full(ids.size, -1)
    inside = downstream >= 0
    below[inside] = positions(ids, downstream[inside])
    return below


def _levels(below: np.ndarray, n_upstream: np.ndarray) -> np.ndarray:
    """Longest way from a headwater to each reach, in reaches."""
    waiting = n_upstream.copy()
    level = np.zeros(below.size, dtype=np.int64)
    front = np.flatnonzero(waiting == 0)
    while front.size:
        down = below[front]
        going = down >= 0
        np.maximum.at(level, down[going], level[front[going]] + 1)
        np.subtract.at(waiting, down[going], 1)
        touched = np.unique(down[going])
        front = touched[waiting[touched] == 0]
    return level


def _curves(units: Table) -> Curves:
    """The file's curves, or those derived from field capacity and wilting point."""
    saturated, residual = units["saturated_water_content"].values, units["residual_water_content"].values
    conductivity = units["saturated_conductivity"].values
    if "haverkamp_a" in units:
        a, b, n = (units[name].values for name in ("haverkamp_a", "haverkamp_b", "mualem_n"))
    else:
        suction = np.where(conductivity > _COARSE_CONDUCTIVITY, _COARSE_SUCTION_CM, _FINE_SUCTION_CM)
        a, b, n = derive_curve(saturated, residual, units["field_capacity"].values, units["wilting_point"].values,
                               conductivity, suction)
    return Curves(a, b, n, _dry_content(saturated, residual, a, b))


def _dry_content(saturated: np.ndarray, residual: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Water content at 1e6 cm suction, at or above the residual content."""
    # Soils are few and layers many. Not compiled, the function gives the same bits, and a run on another backend than
    # cpu need not wait for numba to load.
    function = getattr(retention_saturation, "py_func", retention_saturation)
    pairs, place = np.unique(np.stack([a.ravel(), b.ravel()]), axis=1, return_inverse=True)
    of_pair = np.array([function(1e4, x, y) for x, y in pairs.T.tolist()], dtype=float)
    saturation = of_pair[place.ravel()].reshape(a.shape)
    return np.asarray(residual + saturation * (saturated - residual))
