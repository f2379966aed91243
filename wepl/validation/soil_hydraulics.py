"""Retention and conductivity (docs/theory/soil-hydraulics.md): published curves, textures, derived parameters."""

from __future__ import annotations

from wepl.basin import soils
from wepl.basin.soils import COARSE, TEXTURES, texture_parameters, van_genuchten
from wepl.physics.soil_hydraulics import conductivity, retention_saturation, suction
from wepl.validation.columns import MM_PER_DAY, WEP_SOILS, texture_curve
from wepl.validation.comparison import Case, Group, absolute, relative, table

PROCESS = "Soil hydraulics"
HEADS = (10.0, 100.0, 330.0, 1000.0, 15000.0)  # cm
WEP_HEADS = (10.0, 100.0, 1000.0, 15000.0)
WEP_CONTENT = {
    "sand": (0.39997, 0.06825, 0.03504, 0.03500), "loam": (0.45964, 0.29218, 0.11129, 0.07073),
    "clay loam": (0.47491, 0.43296, 0.18862, 0.13914), "clay": (0.47889, 0.43076, 0.15038, 0.09361),
}
WEP_CONDUCTIVITY = {  # mm/h at 10, 100 and 1000 cm
    "sand": (89.976, 0.028047, 3.38e-12), "loam": (23.660, 2.7008, 5.9486e-3),
    "clay loam": (7.1917, 4.1451, 3.0447e-3), "clay": (1.0787, 0.60472, 3.0884e-4),
}
# Carsel and Parrish 1988: theta_r, theta_s, alpha 1/cm, n, Ks cm/d, and the contents at HEADS.
CARSEL_PARRISH = {
    "sand": ((0.045, 0.43, 0.145, 2.68, 712.8), (0.21434, 0.04931, 0.04558, 0.04509, 0.04500)),
    "loamy sand": ((0.057, 0.41, 0.124, 2.28, 350.2), (0.26199, 0.07104, 0.06005, 0.05774, 0.05702)),
    "sandy loam": ((0.065, 0.41, 0.075, 1.89, 106.1), (0.34310, 0.12182, 0.08482, 0.07240, 0.06566)),
    "loam": ((0.078, 0.43, 0.036, 1.56, 24.96), (0.40739, 0.24213, 0.16538, 0.12525, 0.08838)),
    "silt": ((0.034, 0.46, 0.016, 1.37, 6.0), (0.45111, 0.35343, 0.25819, 0.18581, 0.09006)),
    "silt loam": ((0.067, 0.45, 0.020, 1.41, 10.8), (0.43920, 0.32969, 0.24024, 0.17867, 0.10394)),
    "sandy clay loam": ((0.100, 0.39, 0.059, 1.48, 31.44), (0.35662, 0.22094, 0.16947, 0.14093, 0.11117)),
    "clay loam": ((0.095, 0.41, 0.019, 1.31, 6.24), (0.40208, 0.33216, 0.26969, 0.22082, 0.14961)),
    "silty clay loam": ((0.089, 0.43, 0.010, 1.23, 1.68), (0.42637, 0.38855, 0.33827, 0.28766, 0.19667)),
    "sandy clay": ((0.100, 0.38, 0.027, 1.23, 2.88), (0.37062, 0.31231, 0.26725, 0.23078, 0.17037)),
    "silty clay": ((0.070, 0.36, 0.005, 1.09, 0.48), (0.35910, 0.35092, 0.33695, 0.31761, 0.26648)),
    "clay": ((0.068, 0.38, 0.008, 1.09, 4.8), (0.37841, 0.36544, 0.34695, 0.32465, 0.27069)),
}

# Rawls et al. 1982: contents at field capacity (33 kPa) and wilting point (1500 kPa); silt, not in their table, as
# silt loam.
RAWLS = {
    "sand": (0.091, 0.033), "loamy sand": (0.125, 0.055), "sandy loam": (0.207, 0.095), "loam": (0.270, 0.117),
    "silt": (0.330, 0.133), "silt loam": (0.330, 0.133), "sandy clay loam": (0.255, 0.148),
    "clay loam": (0.318, 0.197), "silty clay loam": (0.366, 0.208), "sandy clay": (0.339, 0.239),
    "silty clay": (0.387, 0.250), "clay": (0.396, 0.272),
}


def wep_content(name: str, head: float) -> float:
    """Content of a published WEP soil at a suction in cm."""
    saturated, residual, _, a, b, _ = WEP_SOILS[name]
    return residual + (saturated - residual) * retention_saturation(head / 100.0, a, b)


def wep_conductivity(name: str, head: float) -> float:
    """Conductivity of a published WEP soil at a suction in cm, mm/h."""
    _, _, saturated, a, b, n = WEP_SOILS[name]
    return conductivity(retention_saturation(head / 100.0, a, b), saturated, n)


def yolo(head: float) -> float:
    """Content of Yolo light clay at a suction in cm, Haverkamp et al. 1977."""
    return 0.124 + 0.371 * retention_saturation(head / 100.0, 739.0, 4.0)


def field_capacity_head(name: str, table: str = soils.RAWLS) -> float:
    """Suction of field capacity, cm."""
    return 100.0 if name in COARSE[table] else 330.0


def derived_content(name: str, head: float, table: str = soils.RAWLS) -> float:
    """Content on the derived curve of a texture at a suction in cm."""
    given = texture_parameters(name, table)
    residual, saturated = given["residual_water_content"], given["saturated_water_content"]
    a, b, _ = texture_curve(name, table)
    return residual + (saturated - residual) * retention_saturation(head / 100.0, a, b)


def derived_suction(name: str) -> float:
    """Suction on the derived curve of a texture at its wilting point, cm."""
    given = texture_parameters(name)
    residual, saturated = given["residual_water_content"], given["saturated_water_content"]
    a, b, _ = texture_curve(name)
    return 100.0 * suction((given["wilting_point"] - residual) / (saturated - residual), a, b)


def capacity_conductivity(name: str) -> float:
    """Conductivity of a texture at field capacity, mm/d."""
    given = texture_parameters(name)
    residual, saturated = given["residual_water_content"], given["saturated_water_content"]
    share = (given["field_capacity"] - residual) / (saturated - residual)
    return conductivity(share, given["saturated_conductivity"], texture_curve(name)[2]) / MM_PER_DAY


def _texture_content(name: str, head: float) -> float:
    """Content of a texture at a suction in cm, from the parameters typed here."""
    return float(van_genuchten(head, *CARSEL_PARRISH[name][0][:4]))


def _carsel_parrish() -> tuple[Case, ...]:
    return tuple(Case(f"{name}: content at {head:g} cm", (name, head), content)
                 for name, (_, contents) in CARSEL_PARRISH.items()
                 for head, content in zip(HEADS, contents, strict=True))


def _derived_points(table: str) -> tuple[Case, ...]:
    cases = []
    for name in TEXTURES:
        heads = (field_capacity_head(name, table), 15000.0)
        if table == soils.RAWLS:
            contents = dict(zip(heads, RAWLS[name], strict=True))
        else:
            contents = dict(zip(HEADS, CARSEL_PARRISH[name][1], strict=True))
        for head in heads:
            cases.append(Case(f"{name}: derived curve at {head:g} cm", (name, head, table), contents[head]))
    return tuple(cases)


# The recomputed table of the published soils: sand's conductivity at 1000 cm has three digits.
_CONDUCTIVITY_CASES = tuple(
    Case(f"WEP {name}: conductivity at {head:g} cm", (name, head), value, relative(2e-3) if name == "sand" else None)
    for name, values in WEP_CONDUCTIVITY.items() for head, value in zip(WEP_HEADS[:3], values, strict=True))
GROUPS = (
    Group(PROCESS, "1", "WEP-L table, evaluated", absolute(5.1e-6), wep_content, tuple(
        Case(f"WEP {name}: content at {head:g} cm", (name, head), value)
        for name, values in WEP_CONTENT.items() for head, value in zip(WEP_HEADS, values, strict=True))),
    Group(PROCESS, "mm/h", "WEP-L table, evaluated", relative(5e-5), wep_conductivity, _CONDUCTIVITY_CASES),
    Group(PROCESS, "1", "Haverkamp et al. 1977, evaluated", absolute(5.1e-7), yolo, table(
        "Yolo light clay: content at {} cm", (
            (1.0, 0.495), (10.0, 0.481405), (100.0, 0.354634), (600.0, 0.237598), (1000.0, 0.214907),
            (15000.0, 0.153517)))),
    Group(PROCESS, "cm", "Haverkamp et al. 1977, evaluated", absolute(5.1e-4),
          lambda content: 100.0 * suction((content - 0.124) / 0.371, 739.0, 4.0), (
              Case("Yolo light clay: suction at content 0.2376", (0.2376,), 599.974),)),
    Group(PROCESS, "1", "Carsel and Parrish 1988, evaluated", absolute(5.1e-6), _texture_content, _carsel_parrish()),
    Group(PROCESS, "1", "Carsel and Parrish 1988, evaluated", absolute(5.1e-6), derived_content,
          _derived_points(soils.CARSEL_PARRISH)),
    Group(PROCESS, "1", "Rawls et al. 1982", absolute(1e-9), derived_content, _derived_points(soils.RAWLS)),
    Group(PROCESS, "cm", "eq. (7.4): the curve passes there", relative(1e-9), derived_suction, tuple(
        Case(f"{name}: suction at the wilting point", (name,), 15000.0) for name in TEXTURES)),
    Group(PROCESS, "mm/d", "eq. (7.5): 1 mm/d", relative(1e-10), capacity_conductivity, tuple(
        Case(f"{name}: conductivity at field capacity", (name,), 1.0)
        for name in TEXTURES)),
)
