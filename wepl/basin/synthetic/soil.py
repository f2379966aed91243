"""Soils of the contour bands: red soil, paddy soil with a plough pan, mountain yellow soil, alluvium."""

from __future__ import annotations

import numpy as np

from wepl.basin.soils import texture_parameters
from wepl.basin.synthetic import facts
from wepl.basin.synthetic.cover import Cover
from wepl.basin.synthetic.terrain import Bands

SOILS = ("red", "paddy", "yellow", "alluvium")
RED, PADDY, YELLOW, ALLUVIUM = range(4)
THICKNESS = np.array([0.2, 0.4, 1.4])  # m
# USDA texture of each layer, top first.
TEXTURES = {
    "red": ("clay loam", "clay loam", "clay"),
    "paddy": ("clay loam", "clay loam", "clay loam"),
    "yellow": ("loam", "loam", "loam"),
    "alluvium": ("silt loam", "silt loam", "silt loam"),
}
PAN_LAYER, PAN_CONDUCTIVITY = 1, 0.1  # the plough pan conducts this share of the layer above
_SHORE_WATER = 0.4  # share of water in a unit above which its soil is taken to be laid down by the lake or river
_STEEP, _THINNING, _THINNEST = 0.25, 1.6, 0.45
_CONDUCTIVITY_SPREAD, _THICKNESS_SPREAD = 0.15, 0.08


def soil_kinds(bands: Bands, cover: Cover, random: np.random.Generator) -> np.ndarray:
    """Soil of each band, a position in ``SOILS``.

    Alluvium along the lake and the large rivers, paddy soil where paddy is the largest use of the soil; of the others
    the lower ones are red soil, up to its published share, and the higher ones yellow soil.
    """
    weight = bands.area / bands.area.sum()
    alluvium = cover.of("water") > _SHORE_WATER
    paddy = cover.of("irrigated") > np.maximum(cover.of("soil_vegetation"), cover.of("non_irrigated"))
    rank = np.log(bands.elevation) + 0.15 * random.standard_normal(bands.elevation.size)
    order = np.argsort(rank, kind="stable")
    order = order[~(alluvium | paddy)[order]]
    middle = np.cumsum(weight[order]) - 0.5 * weight[order]
    kind = np.where(alluvium, ALLUVIUM, PADDY)
    kind[order] = np.where(middle < facts.RED_SOIL_SHARE, RED, YELLOW)
    return kind


def layered_parameters(kind: np.ndarray, slope: np.ndarray, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Layered registry parameters in SI, each of shape (unit, layer), from the table of Rawls et al. (1982)."""
    names = sorted({texture for layers in TEXTURES.values() for texture in layers})
    table = {texture: texture_parameters(texture) for texture in names}
    result = {}
    for name in ("saturated_water_content", "residual_water_content", "field_capacity", "wilting_point",
                 "saturated_conductivity", "wetting_front_suction"):
        of_kind = np.array([[table[texture][name] for texture in TEXTURES[soil]] for soil in SOILS])
        result[name] = of_kind[kind]
    spread = np.clip(random.standard_normal(kind.size), -2.5, 2.5)
    result["saturated_conductivity"] *= np.exp(_CONDUCTIVITY_SPREAD * spread)[:, None]
    pan = kind == PADDY
    result["saturated_conductivity"][pan, PAN_LAYER] = (
        PAN_CONDUCTIVITY * result["saturated_conductivity"][pan, PAN_LAYER - 1])
    thin = np.clip(1.0 - _THINNING * (slope - _STEEP), _THINNEST, 1.0)
    thin *= np.exp(_THICKNESS_SPREAD * np.clip(random.standard_normal(kind.size), -2.5, 2.5))
    result["soil_thickness"] = THICKNESS * np.column_stack([np.ones(kind.size), thin, thin])
    return result
