"""Ready-made soils by texture: Rawls et al. (1982) with the suctions of Rawls et al. (1983), or Carsel and Parrish.

Rawls, Brakensiek and Saxton give measured means of 5,350 horizons at 33 and 1,500 kPa. The curves of Carsel and
Parrish were fitted over all suctions and hold half as much water for plants (8 % in loam, 0.4 % in sand, where FAO-56
table 19 has 13 to 18 and 5 to 11 %): basins that use them evaporate too little.
"""

from __future__ import annotations

import math

import numpy as np

from wepl.errors import InputError

# Rawls, Brakensiek and Saxton 1982, table 2: porosity, residual content, content at 33 and at 1,500 kPa, conductivity
# (cm h-1). Silt, which their data lack, as silt loam.
_RAWLS = {
    "sand": (0.437, 0.020, 0.091, 0.033, 21.00),
    "loamy sand": (0.437, 0.035, 0.125, 0.055, 6.11),
    "sandy loam": (0.453, 0.041, 0.207, 0.095, 2.59),
    "loam": (0.463, 0.027, 0.270, 0.117, 1.32),
    "silt": (0.501, 0.015, 0.330, 0.133, 0.68),
    "silt loam": (0.501, 0.015, 0.330, 0.133, 0.68),
    "sandy clay loam": (0.398, 0.068, 0.255, 0.148, 0.43),
    "clay loam": (0.464, 0.075, 0.318, 0.197, 0.23),
    "silty clay loam": (0.471, 0.040, 0.366, 0.208, 0.15),
    "sandy clay": (0.430, 0.109, 0.339, 0.239, 0.12),
    "silty clay": (0.479, 0.056, 0.387, 0.250, 0.09),
    "clay": (0.475, 0.090, 0.396, 0.272, 0.06),
}
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
TEXTURES = tuple(_RAWLS)
RAWLS, CARSEL_PARRISH = TABLES = ("rawls_1982", "carsel_parrish_1988")
# Textures that conduct more than 1 m a day: their field capacity is taken at 100 cm of suction (eq. 7.4).
COARSE = {RAWLS: ("sand", "loamy sand"), CARSEL_PARRISH: ("sand", "loamy sand", "sandy loam")}
WILTING_SUCTION_CM = 15000.0
FIELD_CAPACITY_CONDUCTIVITY = 1.0e-3 / 86400.0  # m s-1: 1 mm a day
TIGHT_SHARE = 0.1  # of saturated conductivity at field capacity, where that is below 1 mm a day


def van_genuchten(suction_cm: float | np.ndarray, residual: float, saturated: float, alpha: float,
                  n: float) -> np.ndarray:
    """Volumetric water content at a suction (cm); van Genuchten 1980 with m = 1 - 1/n, alpha in cm-1."""
    return residual + (saturated - residual) * (1.0 + (alpha * np.asarray(suction_cm)) ** n) ** (1.0 / n - 1.0)


def texture_parameters(name: str, table: str = RAWLS) -> dict[str, float]:
    """Layered soil parameters of a USDA texture class, in internal units.

    Parameters
    ----------
    name : str
        Texture such as ``clay loam`` (underscores are read as blanks).
    table : str
        ``rawls_1982`` or ``carsel_parrish_1988``: where contents and conductivity come from. Suctions at the
        wetting front are those of Rawls et al. (1983) in both.

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
    if key not in _RAWLS:
        raise InputError(f"unknown soil texture {name!r}: choose from {', '.join(TEXTURES)}")
    if table == RAWLS:
        saturated, residual, capacity, wilting, per_hour = _RAWLS[key]
        conductivity = per_hour * 1e-2 / 3600.0
    else:
        residual, saturated, alpha, n, per_day = _CURVES[key]
        heads = np.array([100.0 if key in COARSE[table] else 330.0, WILTING_SUCTION_CM])
        capacity, wilting = van_genuchten(heads, residual, saturated, alpha, n).tolist()
        conductivity = per_day * 1e-2 / 86400.0
    return {
        "saturated_water_content": saturated,
        "residual_water_content": residual,
        "field_capacity": capacity,
        "wilting_point": wilting,
        "saturated_conductivity": conductivity,
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
