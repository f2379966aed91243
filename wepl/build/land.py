"""Land cover of a build: class maps or shares to tile classes and vegetation, and leaf area from monthly rasters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry
from wepl.basin import catchment_land, vegetation
from wepl.basin.catchment_land import LAND_KINDS
from wepl.build import classes, overlay
from wepl.errors import InputError
from wepl.units import convert

if TYPE_CHECKING:
    from wepl.build.config import Land
    from wepl.build.types import Terrain

# Largest leaf area index of the MODIS product (MOD15A2H user guide), per area of ground.
_LARGEST_LEAF_AREA = 10.0


def land_parameters(config: Land, terrain: Terrain, folder: Path,
                    notes: list[str] | None = None) -> dict[str, np.ndarray]:
    """Land cover of every unit.

    Parameters
    ----------
    config : Land
        ``map`` with ``classes``, or ``shares``; ``lai`` (12 rasters) with ``lai_scale``.
    terrain : Terrain
        Units on a projected grid.
    folder : Path
        What files are relative to.
    notes : list, optional
        Lines are added on what was filled.

    Returns
    -------
    dict
        ``land_fraction`` (unit, land_class) and the vegetation parameters (unit,) of
        :func:`wepl.basin.catchment_land.land_parameters`; with ``lai`` the whole vegetation table too, (vegetation,
        month) and (vegetation,), in the order of the built-in kinds. File units.

    Raises
    ------
    InputError
        A map cannot be used: no raster, unknown codes (all listed), no overlap.
    """
    n_units = len(terrain.units)
    if config.map is None:
        if config.shares is None:
            raise InputError("land: give a map with classes, or shares")
        if config.lai:
            raise InputError("land: lai needs a land-cover map, which tells the leaf area of each kind")
        one = catchment_land.land_parameters(config.shares, 1)
        return {name: np.repeat(values, n_units, axis=0) for name, values in one.items()}
    path = overlay.find(config.map, folder)
    legend = classes.land_legend(str(config.classes), folder)
    areas = overlay.class_areas(path, terrain)
    shares = areas.share @ legend.weights(areas.codes, LAND_KINDS, path)
    covered = shares.sum(axis=1)
    shares = overlay.fill_units(shares / np.where(covered > 0.0, covered, 1.0)[:, None], covered, terrain, path, notes)
    per_unit = [{name: float(share) for name, share in zip(LAND_KINDS, row, strict=True) if share > 0.0}
                for row in np.minimum(shares, 1.0)]
    values = catchment_land.land_parameters(per_unit, n_units)
    if config.lai:
        values |= _vegetation_table(config, legend, path, terrain, folder, notes)
    return values


def _vegetation_table(config: Land, legend: classes.Legend, path: Path | str, terrain: Terrain, folder: Path,
                      notes: list[str] | None) -> dict[str, np.ndarray]:
    """The built-in vegetation table with the leaf area of the rasters, in file units.

    Rasters give leaf area per area of ground, the table per area under leaves: it is divided by the kind's cover.
    """
    table = vegetation.table()
    rasters = [overlay.find(str(name), folder) for name in config.lai or ()]
    if len(rasters) != 12:
        raise InputError(f"land: lai names {len(rasters)} rasters: give 12, January to December")
    for raster in rasters:
        # An overlap is asked of each month; the means by unit are not needed.
        overlay.unit_means(raster, terrain)
    total, weight = np.zeros((len(vegetation.NAMES), 12)), np.zeros((len(vegetation.NAMES), 12))
    for code, mean in overlay.class_means(path, rasters, terrain).items():
        for kind, share in legend.shares.get(code, {}).items():
            if kind in vegetation.NAMES:
                place = vegetation.NAMES.index(kind)
                known = np.isfinite(mean)
                total[place, known] += share * mean[known]
                weight[place, known] += share
    ground = config.lai_scale * total / np.where(weight > 0.0, weight, np.nan)
    if (ground < 0.0).any() or (ground > 2.0 * _LARGEST_LEAF_AREA).any():
        raise InputError(f"land: the leaf area of the rasters goes from {np.nanmin(ground):.4g} to "
                         f"{np.nanmax(ground):.4g}: give lai_scale (0.1 for MODIS) and set the value for no data")
    given = np.asarray(np.isfinite(ground).all(axis=1))
    leaves = np.minimum(ground / table["vegetation_cover"], _LARGEST_LEAF_AREA)
    table["leaf_area_index"][given] = leaves[given]
    if notes is not None:
        without = [name for name, known in zip(vegetation.NAMES, given, strict=True) if not known]
        notes.append("leaf area from rasters" + (f"; built in for {', '.join(without)}" if without else ""))
    return {name: np.asarray(convert(array, registry.variable(name).units, registry.variable(name).file_units, name))
            for name, array in table.items()}
