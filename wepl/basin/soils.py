"""Ready-made soils by texture: Carsel and Parrish (1988) curves and the suctions of Rawls et al. (1983).

Field capacity and wilting point are the van Genuchten water contents at the heads of eq. (7.4): 330 cm, or 100 cm in
the coarse textures, and 15,000 cm.
"""

from __future__ import annotations

import math

import numpy as np

from wepl.errors import InputError

# Carsel and Parrish 1988: residual and saturated content (1), alpha (cm-1), n (1), conductivity (cm d-1).
_CURVES = {
    "sand": (0.045, 0.43, 0.145, 2.68, 712.8),
    "loamy sand": (0.057, 0.41, 0.124, 2.28, 350.2),
    "sandy loam": (0.065, 0.41, 0.075, 1.89, 106.1),
    "loam": (0.078, 0.43, 0.036, 1.56, 24.96),
    "silt": (0.034, 0.46, 0.016, 1.37, 6.0),
    "silt loam": (0.067, 0.45, 0.020, 1.41, 10.8),
    "sandy clay loam": (0.100, 0.39, 0.059, 1.48, 31.44),
    "clay loam": (0.095, 0.41, 0.019, 1.31, 6.24),
    "silty clay loam": (0.089, 0.43, 0.010, 1.23, 1.68),
    "sandy clay": (0.100, 0.38, 0.027, 1.23, 2.88),
    "silty clay": (0.070, 0.36, 0.005, 1.09, 0.48),
    "clay": (0.068, 0.38, 0.008, 1.09, 4.8),
}
# Rawls et al. 1983: suction at the wetting front, cm; silt, which their table lacks, as silt loam.
_SUCTION = {"sand": 4.95, "loamy sand": 6.13, "sandy loam": 11.01, "loam": 8.89, "silt": 16.68, "silt loam": 16.68,
            "sandy clay loam": 21.85, "clay loam": 20.88, "silty clay loam": 27.30, "sandy clay": 23.90,
            "silty clay": 29.22, "clay": 31.63}
COARSE = ("sand", "loamy sand", "sandy loam")
TEXTURES = tuple(_CURVES)
TABLES = ("carsel_parrish_1988",)
WILTING_SUCTION_CM = 15000.0
FIELD_CAPACITY_CONDUCTIVITY = 1.0e-3 / 86400.0  # m s-1: 1 mm a day
TIGHT_SHARE = 0.1  # of saturated conductivity at field capacity, where that is below 1 mm a day


def van_genuchten(suction_cm: float | np.ndarray, residual: float, saturated: float, alpha: float,
                  n: float) -> np.ndarray:
    """Volumetric water content at a suction (cm); van Genuchten 1980 with m = 1 - 1/n, alpha in cm-1."""
    return residual + (saturated - residual) * (1.0 + (alpha * np.asarray(suction_cm)) ** n) ** (1.0 / n - 1.0)


def texture_parameters(name: str, table: str = "carsel_parrish_1988") -> dict[str, float]:
    """Layered soil parameters of a USDA texture class, in internal units.

    Parameters
    ----------
    name : str
        Texture such as ``clay loam`` (underscores are read as blanks).
    table : str
        Where conductivity and curve come from.

    Returns
    -------
    dict of str to float
        ``saturated_water_content``, ``residual_water_content``, ``field_capacity``, ``wilting_point`` (1),
        ``saturated_conductivity`` (m s-1) and ``wetting_front_suction`` (m).

    Raises
    ------
    InputError
        The texture or the table is unknown.
    """
    key = name.strip().lower().replace("_", " ")
    if table not in TABLES:
        raise InputError(f"unknown soil table {table!r}: choose from {', '.join(TABLES)}")
    if key not in _CURVES:
        raise InputError(f"unknown soil texture {name!r}: choose from {', '.join(TEXTURES)}")
    residual, saturated, alpha, n, conductivity = _CURVES[key]
    capacity = 100.0 if key in COARSE else 330.0
    return {
        "saturated_water_content": saturated,
        "residual_water_content": residual,
        "field_capacity": float(van_genuchten(capacity, residual, saturated, alpha, n)),
        "wilting_point": float(van_genuchten(15000.0, residual, saturated, alpha, n)),
        "saturated_conductivity": conductivity * 1e-2 / 86400.0,
        "wetting_front_suction": _SUCTION[key] * 1e-2,
    }


def derive_curve(saturated, residual, field_capacity, wilting_point, conductivity, field_capacity_suction):
    """a, b and n of a soil from its field capacity, wilting point and conductivity; eqs. (7.4) and (7.5).

    Parameters
    ----------
    saturated, residual, field_capacity, wilting_point : array_like
        Volumetric water contents, residual < wilting point < field capacity < saturated.
    conductivity : array_like
        Saturated conductivity, m s-1.
    field_capacity_suction : array_like
        Suction of field capacity, cm.

    Returns
    -------
    a, b, n : ndarray
        Haverkamp a and b, exponent of conductivity.
    """
    span = np.asarray(saturated, dtype=float) - residual
    at_capacity = (np.asarray(field_capacity, dtype=float) - residual) / span
    at_wilting = (np.asarray(wilting_point, dtype=float) - residual) / span
    ratio_capacity = (1.0 - at_capacity) / at_capacity
    ratio_wilting = (1.0 - at_wilting) / at_wilting
    log_capacity = np.log(np.asarray(field_capacity_suction, dtype=float))
    b = np.log(ratio_wilting / ratio_capacity) / np.log(math.log(WILTING_SUCTION_CM) / log_capacity)
    a = log_capacity**b / ratio_capacity
    saturated_conductivity = np.asarray(conductivity, dtype=float)
    drained = np.minimum(FIELD_CAPACITY_CONDUCTIVITY, TIGHT_SHARE * saturated_conductivity)
    n = np.log(drained / saturated_conductivity) / np.log(at_capacity)
    return a, b, n
