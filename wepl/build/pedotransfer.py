"""Hydraulic parameters of a soil from its sand, clay and organic matter.

Water contents and conductivity come from the function that is named. What it does not give is taken from elsewhere:
residual water content from Rawls and Brakensiek (1985), and for Saxton and Rawls the suction at the wetting front too.
"""

from __future__ import annotations

import numpy as np

from wepl.errors import InputError

METHODS = ("saxton_rawls_2006", "cosby_1984")
# The organic matter of table 3 of Saxton and Rawls (2006), %.
DEFAULT_ORGANIC_MATTER = 2.5
# Saxton and Rawls (2006) fitted soils of up to 60 % clay and 8 % organic matter.
_MOST_CLAY, _MOST_ORGANIC = 60.0, 8.0
_FIELD_CAPACITY_KPA, _WILTING_KPA = 33.0, 1500.0
# In the corners of the texture triangle, for which it was not fitted, the water contents are kept apart by this.
_LEAST_CONTENT = 0.02
_WILTING_CM = 15000.0
# Of the model's retention curve: 100 cm in soils that conduct more than 1 m a day, 330 cm in others.
_COARSE_CM, _FINE_CM, _COARSE_CONDUCTIVITY = 100.0, 330.0, 1.0 / 86400.0
_LARGEST_RESIDUAL_SHARE = 0.8


def pedotransfer(method: str, sand: np.ndarray, clay: np.ndarray,
                 organic: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Layered registry parameters in internal units.

    Parameters
    ----------
    method : str
        ``saxton_rawls_2006`` or ``cosby_1984``.
    sand, clay : ndarray
        Percent of the mineral soil by weight.
    organic : ndarray, optional
        Organic matter, percent by weight; 2.5 where not given. Cosby et al. do not use it.

    Returns
    -------
    dict
        ``saturated_water_content``, ``residual_water_content``, ``field_capacity``, ``wilting_point`` (1),
        ``saturated_conductivity`` (m s-1), ``wetting_front_suction`` (m).

    Raises
    ------
    InputError
        The method is unknown.
    """
    if method == "saxton_rawls_2006":
        amount = np.full(np.shape(sand), DEFAULT_ORGANIC_MATTER) if organic is None else organic
        return saxton_rawls_2006(sand, clay, amount)
    if method == "cosby_1984":
        return cosby_1984(sand, clay)
    raise InputError(f"unknown pedotransfer function {method!r}: choose from {', '.join(METHODS)}")


def saxton_rawls_2006(sand: np.ndarray, clay: np.ndarray, organic: np.ndarray) -> dict[str, np.ndarray]:
    """Saxton and Rawls 2006, Soil Sci. Soc. Am. J. 70, 1569-1578, eqs. 1 to 5 and 15 to 18; see :func:`pedotransfer`.

    Clay above 60 % and organic matter above 8 %, for which it was not fitted, count as these. Residual content and
    suction by Rawls and Brakensiek (1985).
    """
    s = np.asarray(sand, dtype=float) / 100.0
    c = np.minimum(np.asarray(clay, dtype=float), _MOST_CLAY) / 100.0
    om = np.minimum(np.asarray(organic, dtype=float), _MOST_ORGANIC)
    first = -0.024 * s + 0.487 * c + 0.006 * om + 0.005 * s * om - 0.013 * c * om + 0.068 * s * c + 0.031
    wilting = first + (0.14 * first - 0.02)
    first = -0.251 * s + 0.195 * c + 0.011 * om + 0.006 * s * om - 0.027 * c * om + 0.452 * s * c + 0.299
    capacity = first + (1.283 * first**2 - 0.374 * first - 0.015)
    first = 0.278 * s + 0.034 * c + 0.022 * om - 0.018 * s * om - 0.027 * c * om - 0.584 * s * c + 0.078
    above_capacity = first + (0.636 * first - 0.107)
    saturated = capacity + above_capacity - 0.097 * s + 0.043
    wilting = np.maximum(wilting, _LEAST_CONTENT)
    capacity = np.maximum(capacity, wilting + _LEAST_CONTENT)
    saturated = np.maximum(saturated, capacity + _LEAST_CONTENT)
    slope = (np.log(capacity) - np.log(wilting)) / (np.log(_WILTING_KPA) - np.log(_FIELD_CAPACITY_KPA))
    conductivity = 1930.0 * (saturated - capacity) ** (3.0 - slope)  # mm h-1
    return _result(sand, clay, saturated, capacity, wilting, conductivity * 1e-3 / 3600.0,
                   rawls_brakensiek_suction(sand, clay, saturated))


def cosby_1984(sand: np.ndarray, clay: np.ndarray) -> dict[str, np.ndarray]:
    """Cosby et al. 1984, Water Resour. Res. 20, 682-690, univariate regressions; see :func:`pedotransfer`.

    Field capacity and wilting point lie on the curve psi = psi_s (theta / theta_s)^-b. The suction at the wetting
    front, (2 b + 3) / (2 b + 6) psi_s, is that of Rawls et al. (1983) for Brooks and Corey's curve with lambda = 1 / b:
    the mean of suction over conductivity from half of the air-entry suction.
    """
    sand, clay = np.asarray(sand, dtype=float), np.asarray(clay, dtype=float)
    b, suction, saturated, conductivity = cosby_curve(sand, clay)
    at = np.where(conductivity > _COARSE_CONDUCTIVITY, _COARSE_CM, _FINE_CM)
    capacity = saturated * np.minimum(1.0, (at / suction) ** (-1.0 / b))
    wilting = saturated * (_WILTING_CM / suction) ** (-1.0 / b)
    front = (2.0 * b + 3.0) / (2.0 * b + 6.0) * suction * 1e-2
    return _result(sand, clay, saturated, capacity, wilting, conductivity, front)


def cosby_curve(sand: np.ndarray, clay: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """b (1), psi_s (cm), theta_s (1) and saturated conductivity (m s-1) of Cosby et al. 1984."""
    b = 2.91 + 0.159 * clay
    suction = 10.0 ** (1.88 - 0.0131 * sand)
    saturated = 0.489 - 0.00126 * sand
    conductivity = 0.0070556e-3 * 10.0 ** (-0.884 + 0.0153 * sand)
    return b, suction, saturated, conductivity


def rawls_brakensiek_residual(sand: np.ndarray, clay: np.ndarray, porosity: np.ndarray) -> np.ndarray:
    """Residual water content; Rawls and Brakensiek 1985, Watershed Management in the Eighties, ASCE, 293-299.

    Sand is held within 5 to 70 % and clay within 5 to 60 %, for which it was fitted.
    """
    s, c, p = _fitted(sand, clay, porosity)
    return (-0.0182482 + 0.00087269 * s + 0.00513488 * c + 0.02939286 * p - 0.00015395 * c**2 - 0.0010827 * s * p
            - 0.00018233 * c**2 * p**2 + 0.00030703 * c**2 * p - 0.0023584 * p**2 * c)


def rawls_brakensiek_suction(sand: np.ndarray, clay: np.ndarray, porosity: np.ndarray) -> np.ndarray:
    """Suction at the wetting front, m; Rawls and Brakensiek 1985, as for the residual water content."""
    s, c, p = _fitted(sand, clay, porosity)
    exponent = (6.53 - 7.326 * p + 0.00158 * c**2 + 3.809 * p**2 + 0.000344 * s * c - 0.04989 * s * p
                + 0.0016 * s**2 * p**2 + 0.0016 * c**2 * p**2 - 0.0000136 * s**2 * c - 0.00348 * c**2 * p
                - 0.000799 * s**2 * p)
    return np.exp(exponent) * 1e-2


def _fitted(sand: np.ndarray, clay: np.ndarray, porosity: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.clip(sand, 5.0, 70.0), np.clip(clay, 5.0, 60.0), np.asarray(porosity, dtype=float)


def _result(sand: np.ndarray, clay: np.ndarray, saturated: np.ndarray, capacity: np.ndarray, wilting: np.ndarray,
            conductivity: np.ndarray, suction: np.ndarray) -> dict[str, np.ndarray]:
    residual = np.clip(rawls_brakensiek_residual(sand, clay, saturated), 0.005, _LARGEST_RESIDUAL_SHARE * wilting)
    return {"saturated_water_content": saturated, "residual_water_content": residual, "field_capacity": capacity,
            "wilting_point": wilting, "saturated_conductivity": conductivity, "wetting_front_suction": suction}
