"""The vegetation kinds that come with the package, used where a basin file has no table of its own.

Leaf area, cover and height follow the seasonal ranges of MODIS-IGBP classes as tabulated for the Noah land model (Chen
and Dudhia 2001), with a humid subtropical growing season; double-cropped rice after Jiangxi's crop calendar. Albedo,
resistance, roughness, depression store: docs/theory, section 16 of the parameter list. Root depth: Canadell et al. 1996
scaled to the soil columns in use. Degree-day factors: open ground 3.5, forest 2.5 to 3.5 (Kuusisto 1980).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Share of the growing season reached in each month, January to December.
_SEASON = np.array([0.0, 0.05, 0.2, 0.5, 0.8, 1.0, 1.0, 1.0, 0.85, 0.55, 0.25, 0.05])
_PADDY = np.array([0.0, 0.0, 0.05, 0.25, 0.7, 1.0, 0.55, 0.75, 1.0, 0.7, 0.15, 0.0])
_DAY = 86400.0


@dataclass(frozen=True)
class Kind:
    """One vegetation kind: winter and summer values of what changes, constants of the rest.

    ``leaf_area_index`` 1, ``cover`` 1, ``height`` m, ``root_depth`` m, ``albedo`` 1, ``resistance`` s m-1 (minimum
    stomatal), ``radiation`` W m-2 (PARc), ``manning`` s m-1/3, ``depression`` mm, ``degree_day`` mm K-1 d-1.
    """

    name: str
    leaf_area_index: tuple[float, float]
    cover: tuple[float, float]
    height: tuple[float, float]
    root_depth: float
    albedo: float
    resistance: float
    radiation: float
    manning: float
    depression: float
    degree_day: float
    season: str = "leaf"


KINDS = (
    Kind("evergreen_broadleaf_forest", (3.6, 5.6), (0.90, 0.95), (15.0, 15.0), 1.8, 0.13, 200.0, 30.0, 0.40, 10.0, 3.0),
    Kind("evergreen_needleleaf_forest", (3.2, 4.6), (0.80, 0.85), (14.0, 14.0), 1.6, 0.13, 200.0, 30.0, 0.40, 10.0,
         2.5),
    Kind("deciduous_forest", (0.6, 5.0), (0.40, 0.90), (15.0, 15.0), 1.8, 0.13, 200.0, 30.0, 0.40, 10.0, 3.5),
    Kind("mixed_forest", (2.2, 5.0), (0.65, 0.90), (14.0, 14.0), 1.7, 0.13, 200.0, 30.0, 0.40, 10.0, 3.0),
    Kind("shrub", (1.0, 3.0), (0.50, 0.70), (1.2, 1.2), 1.2, 0.18, 150.0, 60.0, 0.30, 8.0, 3.5),
    Kind("grass", (0.6, 2.9), (0.50, 0.85), (0.10, 0.35), 0.7, 0.21, 100.0, 100.0, 0.25, 8.0, 3.5),
    Kind("dry_crop", (0.4, 4.0), (0.25, 0.85), (0.10, 1.00), 0.9, 0.20, 70.0, 100.0, 0.15, 8.0, 3.5),
    Kind("paddy", (0.2, 4.5), (0.10, 0.90), (0.05, 0.80), 0.5, 0.15, 60.0, 100.0, 0.08, 60.0, 3.5, "paddy"),
    Kind("orchard", (2.4, 3.6), (0.60, 0.75), (3.0, 3.0), 1.3, 0.16, 130.0, 60.0, 0.20, 8.0, 3.5),
)
NAMES = tuple(kind.name for kind in KINDS)


def _monthly(values: tuple[float, float], season: str) -> np.ndarray:
    low, high = values
    return low + (high - low) * (_PADDY if season == "paddy" else _SEASON)


def table() -> dict[str, np.ndarray]:
    """Registry variables of the vegetation kinds in internal units: ``(vegetation, month)`` or ``(vegetation,)``."""
    return {
        "leaf_area_index": np.stack([_monthly(kind.leaf_area_index, kind.season) for kind in KINDS]),
        "vegetation_cover": np.stack([_monthly(kind.cover, kind.season) for kind in KINDS]),
        "vegetation_height": np.stack([_monthly(kind.height, kind.season) for kind in KINDS]),
        "root_depth": np.array([kind.root_depth for kind in KINDS]),
        "vegetation_albedo": np.array([kind.albedo for kind in KINDS]),
        "minimum_stomatal_resistance": np.array([kind.resistance for kind in KINDS]),
        "critical_radiation": np.array([kind.radiation for kind in KINDS]),
        "kind_manning": np.array([kind.manning for kind in KINDS]),
        "kind_depression_storage": np.array([kind.depression for kind in KINDS]) * 1e-3,
        "kind_degree_day_factor": np.array([kind.degree_day for kind in KINDS]) * 1e-3 / _DAY,
    }
