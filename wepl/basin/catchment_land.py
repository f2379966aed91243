"""Land cover and soil of one catchment: shares of kinds to tile classes, textures to layered parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from wepl import registry
from wepl.basin.vegetation import NAMES as VEGETATION_KINDS
from wepl.errors import InputError

TALL = ("evergreen_broadleaf_forest", "evergreen_needleleaf_forest", "deciduous_forest", "mixed_forest")
SHORT = ("shrub", "grass")
CROPS = ("dry_crop", "orchard")
OTHER = ("bare", "urban", "water")
LAND_KINDS = (*VEGETATION_KINDS, *OTHER)
_SHARE_TOLERANCE = 1e-3

Soil = str | Mapping[str, float] | Sequence[str | Mapping[str, float]]
SOIL_PARAMETERS = ("saturated_water_content", "residual_water_content", "field_capacity", "wilting_point",
                   "saturated_conductivity", "wetting_front_suction")


def land_parameters(land: Mapping[str, float] | Sequence[Mapping[str, float]], n_bands: int) -> dict[str, np.ndarray]:
    """Registry parameters of the land cover, arrays over bands.

    Parameters
    ----------
    land : mapping, or sequence of one mapping per band
        Share of the area by land kind (:data:`LAND_KINDS`); the shares add to 1.
    n_bands : int
        Bands of the catchment, ridge first.

    Returns
    -------
    dict
        ``land_fraction`` (band, land_class) and the vegetation parameters (band,). Forests are tall vegetation,
        grass and shrub short vegetation, bare ground the rest of the soil-vegetation class; dry crop and orchard are
        the non-irrigated class, paddy the irrigated one, urban ground the impervious one. Where kinds share a place
        the largest one stands for them.

    Raises
    ------
    InputError
        A kind is unknown, a share is outside 0 to 1, or the shares do not add to 1.
    """
    if isinstance(land, Mapping):
        per_band: Sequence[Mapping[str, float]] = [land] * n_bands
    else:
        per_band = list(land)
        if len(per_band) != n_bands:
            raise InputError(f"land: {len(per_band)} sets of shares were given for {n_bands} bands: give one for the "
                             "catchment, or one per band from the ridge to the river")
    shares = np.array([_checked(of_band, band) for band, of_band in enumerate(per_band)])
    column = {name: shares[:, place] for place, name in enumerate(LAND_KINDS)}
    tall, short = (sum(column[name] for name in names) for names in (TALL, SHORT))
    soil = tall + short + column["bare"]
    by_class = {"water": column["water"], "soil_vegetation": soil, "irrigated": column["paddy"],
                "non_irrigated": sum(column[name] for name in CROPS), "impervious": column["urban"]}
    divisor = np.where(soil > 0.0, soil, 1.0)
    return {
        "land_fraction": np.stack([by_class[name] for name in registry.LAND_CLASSES], axis=1),
        "tall_fraction": tall / divisor,
        "short_fraction": short / divisor,
        "tall_vegetation": _largest(column, TALL, "evergreen_broadleaf_forest"),
        "short_vegetation": _largest(column, SHORT, "grass"),
        "irrigated_vegetation": _largest(column, ("paddy",), "paddy"),
        "non_irrigated_vegetation": _largest(column, CROPS, "dry_crop"),
    }


def _checked(land: Mapping[str, float], band: int) -> list[float]:
    """Shares in the order of LAND_KINDS, adding to exactly 1."""
    unknown = [name for name in land if name not in LAND_KINDS]
    if unknown:
        raise InputError(f"land of band {band + 1}: unknown kind {', '.join(map(repr, unknown))}: choose from "
                         f"{', '.join(LAND_KINDS)}")
    shares = np.array([float(land.get(name, 0.0)) for name in LAND_KINDS])
    wrong = ~((shares >= 0.0) & (shares <= 1.0))
    if wrong.any():
        name = LAND_KINDS[int(np.argmax(wrong))]
        raise InputError(f"land of band {band + 1}: the share of {name} is {land[name]!r}: shares lie from 0 to 1")
    total = float(shares.sum())
    if abs(total - 1.0) > _SHARE_TOLERANCE:
        raise InputError(f"land of band {band + 1}: the shares add to {total:.6g}, not to 1")
    return list(shares / total)


def _largest(column: Mapping[str, np.ndarray], names: Sequence[str], otherwise: str) -> np.ndarray:
    """Index of the vegetation kind with the largest share in each band."""
    shares = np.stack([column[name] for name in names])
    index = np.array([VEGETATION_KINDS.index(name) for name in names])[shares.argmax(axis=0)]
    return np.where(shares.max(axis=0) > 0.0, index, VEGETATION_KINDS.index(otherwise)).astype(np.int64)


def soil_parameters(soil: Soil, thickness: Sequence[float]) -> dict[str, np.ndarray]:
    """Layered registry parameters (SI), arrays over soil layers.

    Parameters
    ----------
    soil : str, mapping, or sequence of these per layer
        A USDA texture, or the share of each texture: water contents and suction are weighted means, conductivity
        the weighted geometric mean (conductivity is log-normal, so this is its effective value in two dimensions:
        Matheron 1967).
    thickness : sequence of float
        Thickness of the layers, m, top first.

    Raises
    ------
    InputError
        A texture is unknown, shares do not add to 1, or the layers do not agree in number.
    """
    depths = np.asarray(thickness, dtype=float)
    if depths.ndim != 1 or depths.size == 0 or not (depths > 0.0).all():
        raise InputError(f"soil_thickness = {thickness!r}: give one thickness above 0 m per layer, top first")
    per_layer = [soil] * depths.size if isinstance(soil, (str, Mapping)) else list(soil)
    if len(per_layer) != depths.size:
        raise InputError(f"soil: {len(per_layer)} layers of texture for {depths.size} thicknesses: give one texture, "
                         "or one per layer")
    layers = [_mixed(of_layer, layer) for layer, of_layer in enumerate(per_layer)]
    values = {name: np.array([of_layer[name] for of_layer in layers]) for name in SOIL_PARAMETERS}
    values["soil_thickness"] = depths
    return values


def _mixed(soil: str | Mapping[str, float], layer: int) -> dict[str, float]:
    from wepl.basin.soils import texture_parameters

    if isinstance(soil, str):
        return texture_parameters(soil)
    shares = np.array([float(share) for share in soil.values()])
    if shares.size == 0 or not (shares >= 0.0).all() or abs(shares.sum() - 1.0) > _SHARE_TOLERANCE:
        raise InputError(f"soil of layer {layer + 1}: the shares of textures add to {shares.sum():.6g}, not to 1, or "
                         "one is below 0")
    shares = shares / shares.sum()
    tables = [texture_parameters(name) for name in soil]
    mixed = {name: float(shares @ np.array([table[name] for table in tables])) for name in SOIL_PARAMETERS}
    conductivity = np.array([table["saturated_conductivity"] for table in tables])
    mixed["saturated_conductivity"] = float(np.exp(shares @ np.log(conductivity)))
    return mixed
