"""Soil of a build: texture maps, one texture, or rasters of sand, silt and clay to layered parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry
from wepl.basin import catchment_land
from wepl.basin.catchment_land import SOIL_PARAMETERS
from wepl.basin.catchment_terrain import soil_depth
from wepl.basin.soils import TEXTURES, texture_parameters
from wepl.build import classes, overlay, tables
from wepl.build.pedotransfer import pedotransfer
from wepl.errors import InputError
from wepl.units import convert

if TYPE_CHECKING:
    from wepl.build.config import Soil
    from wepl.build.types import Terrain

# Percent by which sand, silt and clay may miss 100: rounding of three maps.
_SUM_TOLERANCE = 2.0
_LEAST_LAYER = 0.05  # m


def soil_parameters(config: Soil, terrain: Terrain, folder: Path,
                    notes: list[str] | None = None) -> dict[str, np.ndarray]:
    """Layered soil parameters of every unit.

    Parameters
    ----------
    config : Soil
        ``map`` with ``classes``, ``texture``, or ``sand``, ``silt``, ``clay`` (and ``organic``) rasters in percent with
        ``depths_m``, the lower edge of the depth that each stands for; ``pedotransfer``, ``layers_m``, ``depth``.
    terrain : Terrain
        Units on a projected grid.
    folder : Path
        What files are relative to.
    notes : list, optional
        Lines are added on what was filled.

    Returns
    -------
    dict
        ``soil_thickness`` and the hydraulic parameters, (unit, soil_layer), in file units.

    Raises
    ------
    InputError
        A map cannot be used, percentages do not add to 100, or the layers are too thick for the depth.
    """
    thickness = _thickness(config, terrain)
    n_units, n_layers = thickness.shape
    if config.map is not None:
        path = overlay.find(config.map, folder)
        of_unit = _from_map(config, path, terrain, folder, notes)
        values = {name: np.repeat(column[:, None], n_layers, axis=1) for name, column in of_unit.items()}
    elif config.texture is not None:
        one = texture_parameters(config.texture)
        values = {name: np.full((n_units, n_layers), one[name]) for name in SOIL_PARAMETERS}
    else:
        sand, clay, organic = _composition(config, terrain, thickness, folder, notes)
        values = pedotransfer(config.pedotransfer, sand, clay, organic)
    values["soil_thickness"] = thickness
    return {name: np.asarray(convert(array, registry.variable(name).units, registry.variable(name).file_units, name))
            for name, array in values.items()}


def _thickness(config: Soil, terrain: Terrain) -> np.ndarray:
    """Thickness of the layers, (unit, layer), m; with ``depth = "slope"`` the lowest takes what the depth leaves."""
    layers = np.asarray(config.layers_m, dtype=float)
    if layers.ndim != 1 or layers.size == 0 or not (layers > 0.0).all():
        raise InputError(f"soil: layers_m = {config.layers_m!r}: give one thickness above 0 m per layer, top first")
    thickness = np.tile(layers, (len(terrain.units), 1))
    if config.depth == "slope":
        units = terrain.units
        depth = soil_depth(units["slope"].to_numpy(dtype=float), units["elevation_m"].to_numpy(dtype=float))
        left = depth - layers[:-1].sum()
        if (left < _LEAST_LAYER).any():
            raise InputError(f"soil: the upper layers take {layers[:-1].sum():g} m, but the soil of unit "
                             f"{units.index[int(np.argmin(left))]} is {depth.min():.2f} m deep by its slope and "
                             "elevation: give thinner layers_m")
        thickness[:, -1] = left
    return thickness


def _from_map(config: Soil, path: Path | str, terrain: Terrain, folder: Path,
              notes: list[str] | None) -> dict[str, np.ndarray]:
    """Parameters of each unit from a class map: of textures, or of sand, silt and clay per class."""
    areas = overlay.class_areas(path, terrain)
    table = folder / str(config.classes)
    if config.classes not in classes.SOIL_LEGENDS and _has_grains(table):
        share, per_class, names = _grain_classes(table, areas, config, path)
    else:
        legend = classes.soil_legend(str(config.classes), folder)
        share = areas.share @ legend.weights(areas.codes, TEXTURES, path)
        per_class = {name: np.array([texture_parameters(texture)[name] for texture in TEXTURES])
                     for name in SOIL_PARAMETERS}
        names = TEXTURES
    covered = share.sum(axis=1)
    share = share / np.where(covered > 0.0, covered, 1.0)[:, None]
    share = overlay.fill_units(share, covered, terrain, path, notes)
    if names == TEXTURES:
        mixed = [catchment_land.soil_parameters(dict(zip(TEXTURES, row.tolist(), strict=True)), [1.0])
                 for row in share]
        return {name: np.array([of_unit[name][0] for of_unit in mixed]) for name in SOIL_PARAMETERS}
    return _mean(share, per_class)


def _mean(share: np.ndarray, per_class: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Weighted means; of conductivity the geometric one, as in :func:`wepl.basin.catchment_land.soil_parameters`."""
    values = {name: share @ per_class[name] for name in SOIL_PARAMETERS}
    values["saturated_conductivity"] = np.exp(share @ np.log(per_class["saturated_conductivity"]))
    return values


def _has_grains(table: Path) -> bool:
    names = {str(name).strip().lower() for name in tables.read_text(table).columns}
    return {"sand", "clay"} <= names


def _grain_classes(table: Path, areas: overlay.ClassAreas, config: Soil,
                   path: Path | str) -> tuple[np.ndarray, dict[str, np.ndarray], tuple[str, ...]]:
    """Share of each row of a table of code, sand, silt and clay in each unit, and the parameters of the rows."""
    frame = tables.read_text(table)
    column = {str(name).strip().lower(): name for name in frame.columns}
    codes = classes.whole_numbers(frame.iloc[:, 0], table)
    grains = {name: tables.numbers(frame, column[name], table) for name in classes.GRAINS if name in column}
    lost = np.isnan(grains["sand"]) | np.isnan(grains["clay"])
    total = grains["sand"] + grains["clay"] + grains.get("silt", 100.0 - grains["sand"] - grains["clay"])
    wrong = ~lost & ~(np.abs(total - 100.0) <= _SUM_TOLERANCE)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"{table}: sand, silt and clay of code {codes[row]} add to {total[row]:g}, not to 100 % "
                         f"({int(wrong.sum())} such rows)")
    shares = classes.table_shares(frame, table) if "share" in column else np.ones(len(codes))
    if "share" not in column and len(set(codes)) < len(codes):
        twice = next(code for code in codes if codes.count(code) > 1)
        raise InputError(f"{table}: the code {twice} stands twice: give it once, or a column share")
    unknown = [int(code) for code in areas.codes if int(code) not in codes and int(code) != 0]
    if unknown:
        raise InputError(f"{path}: the codes {', '.join(map(str, unknown))} are not in {table}: add them, with sand, "
                         "silt and clay, or empty ones where they mean no soil")
    weights = np.zeros((areas.codes.size, len(codes)))
    place = {int(code): number for number, code in enumerate(areas.codes)}
    for row, code in enumerate(codes):
        if code in place and not lost[row]:
            weights[place[code], row] = shares[row]
    total_share = weights.sum(axis=1, keepdims=True)
    weights /= np.where(total_share > 0.0, total_share, 1.0)
    # Rows without soil have no weight; their parameters only have to be numbers.
    filled = {name: np.where(np.isnan(values), 2.5 if name == "organic" else 100.0 / 3.0, values)
              for name, values in grains.items()}
    scale = 100.0 / np.where(lost, 100.0, total)
    per_class = pedotransfer(config.pedotransfer, filled["sand"] * scale, filled["clay"] * scale,
                             filled.get("organic"))
    return areas.share @ weights, per_class, tuple(map(str, codes))


def _composition(config: Soil, terrain: Terrain, thickness: np.ndarray, folder: Path,
                 notes: list[str] | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Sand, clay and organic matter, (unit, layer), %, from rasters of several depths."""
    edges = np.asarray(config.depths_m, dtype=float)
    if edges.ndim != 1 or edges.size == 0 or not (np.diff(edges, prepend=0.0) > 0.0).all():
        raise InputError(f"soil: depths_m = {config.depths_m!r}: give the lower edge of each raster's depth, rising")
    weights = _layer_weights(edges, thickness)
    found: dict[str, np.ndarray] = {}
    for name in classes.GRAINS:
        rasters = getattr(config, name)
        if rasters is None:
            continue
        if len(rasters) != edges.size:
            raise InputError(f"soil: {len(rasters)} rasters of {name} for {edges.size} depths_m: give one for each "
                             "depth")
        means = []
        for raster in rasters:
            path = overlay.find(str(raster), folder)
            mean, covered = overlay.unit_means(path, terrain)
            means.append(overlay.fill_units(mean, covered, terrain, path, notes))
        found[name] = np.stack(means, axis=1)
    missing = [name for name in ("sand", "silt", "clay") if name not in found]
    if missing:
        raise InputError(f"soil: {', '.join(missing)} is not given: give rasters of sand, silt and clay")
    _check_percentages(found, edges, terrain)
    total = found["sand"] + found["silt"] + found["clay"]
    sand, clay = (np.einsum("uld,ud->ul", weights, 100.0 * found[name] / total) for name in ("sand", "clay"))
    organic = None if "organic" not in found else np.einsum("uld,ud->ul", weights, found["organic"])
    return sand, clay, organic


def _check_percentages(found: dict[str, np.ndarray], edges: np.ndarray, terrain: Terrain) -> None:
    for name, values in found.items():
        if not ((values >= 0.0) & (values <= 1001.0)).all():
            raise InputError(f"soil: {name} goes from {np.nanmin(values):g} to {np.nanmax(values):g}: give percent, "
                             "and set the raster's value for no data")
    total = found["sand"] + found["silt"] + found["clay"]
    wrong = ~(np.abs(total - 100.0) <= _SUM_TOLERANCE)
    if wrong.any():
        unit, depth = (int(place[0]) for place in np.nonzero(wrong))
        per_kilogram = (total > 900.0).all()
        hint = "; they look like g kg-1: divide by 10, or set the rasters' scale to 0.1" if per_kilogram else ""
        raise InputError(f"soil: sand, silt and clay of unit {terrain.units.index[unit]} down to {edges[depth]:g} m "
                         f"add to {total[unit, depth]:.4g}, not to 100 % ({int(wrong.sum())} of {wrong.size} such "
                         f"places){hint}")
    if "organic" in found and (found["organic"] > 100.0).any():
        raise InputError(f"soil: organic matter reaches {found['organic'].max():g}: give percent by weight")


def _layer_weights(edges: np.ndarray, thickness: np.ndarray) -> np.ndarray:
    """Share of each depth of the rasters in each layer, (unit, layer, depth); the last depth goes on below its edge."""
    bottom = np.cumsum(thickness, axis=1)
    top = bottom - thickness
    upper = np.concatenate([[0.0], edges[:-1]])
    lower = np.concatenate([edges[:-1], [np.inf]])
    shared = np.minimum(bottom[:, :, None], lower) - np.maximum(top[:, :, None], upper)
    return np.maximum(shared, 0.0) / thickness[:, :, None]
