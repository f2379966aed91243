"""Ready-made soils: Carsel and Parrish (1988), Rawls et al. (1983); numbers.md sections 6 and 14.1."""

from __future__ import annotations

import numpy as np
import pytest

from wepl.basin import soils
from wepl.basin.soils import COARSE, TEXTURES, texture_parameters, van_genuchten
from wepl.errors import InputError

HEADS = (10.0, 100.0, 330.0, 1000.0, 15000.0)  # cm
# theta_r, theta_s, alpha 1/cm, n, Ks cm/d, and the contents at those heads.
TABLE = {
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
# Rawls et al. 1983, cm; silt is not in their table.
SUCTION = {"sand": 4.95, "loamy sand": 6.13, "sandy loam": 11.01, "loam": 8.89, "silt loam": 16.68,
           "sandy clay loam": 21.85, "clay loam": 20.88, "silty clay loam": 27.30, "sandy clay": 23.90,
           "silty clay": 29.22, "clay": 31.63}


def test_all_twelve_are_there():
    assert set(TEXTURES) == set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_retention_table(name):
    (residual, saturated, alpha, n, _), contents = TABLE[name]
    np.testing.assert_allclose(van_genuchten(np.array(HEADS), residual, saturated, alpha, n), contents, rtol=0.0,
                               atol=5.1e-6)


@pytest.mark.parametrize("name", TABLE)
def test_parameters_in_si(name):
    """Contents at field capacity (330 cm, 100 cm in the coarse textures) and wilting point, m and s."""
    (residual, saturated, _, _, conductivity), contents = TABLE[name]
    found = texture_parameters(name)
    assert found["residual_water_content"] == residual
    assert found["saturated_water_content"] == saturated
    assert found["field_capacity"] == pytest.approx(contents[1 if name in COARSE else 2], abs=5.1e-6)
    assert found["wilting_point"] == pytest.approx(contents[4], abs=5.1e-6)
    assert found["saturated_conductivity"] == pytest.approx(conductivity * 0.01 / 86400.0, rel=1e-12)
    assert found["wetting_front_suction"] == pytest.approx(SUCTION.get(name, 16.68) / 100.0, rel=1e-12)
    assert (residual < found["wilting_point"] < found["field_capacity"] < saturated)


def test_names():
    """Blanks, underscores and case do not matter; an unknown name or table says what there is."""
    assert texture_parameters(" Clay_Loam ") == texture_parameters("clay loam")
    with pytest.raises(InputError, match="peat.*sandy clay loam"):
        texture_parameters("peat")
    with pytest.raises(InputError, match="carsel_parrish_1988"):
        texture_parameters("loam", table="cosby")
    assert soils.TABLES == ("carsel_parrish_1988",)


def test_wetter_with_less_suction():
    for name in TEXTURES:
        (residual, saturated, alpha, n, _), _ = TABLE[name]
        content = van_genuchten(np.geomspace(0.1, 1e6, 200), residual, saturated, alpha, n)
        assert np.all(np.diff(content) < 0.0)
        assert np.all((content > residual) & (content <= saturated))
