"""Ready-made soils: Rawls et al. (1982, 1983), Carsel and Parrish (1988); numbers.md sections 6 and 14.1."""

from __future__ import annotations

import numpy as np
import pytest

from wepl.basin import soils
from wepl.basin.soils import COARSE, TEXTURES, texture_parameters, van_genuchten
from wepl.errors import InputError
from wepl.validation.soil_hydraulics import CARSEL_PARRISH as TABLE
from wepl.validation.soil_hydraulics import HEADS

# Rawls et al. 1983, cm; silt is not in their table.
SUCTION = {"sand": 4.95, "loamy sand": 6.13, "sandy loam": 11.01, "loam": 8.89, "silt loam": 16.68,
           "sandy clay loam": 21.85, "clay loam": 20.88, "silty clay loam": 27.30, "sandy clay": 23.90,
           "silty clay": 29.22, "clay": 31.63}
# Rawls et al. 1983, their effective porosity; silt as silt loam; clay loam, printed as 0.309, from their porosity.
EFFECTIVE_POROSITY = {
    "sand": 0.417, "loamy sand": 0.401, "sandy loam": 0.412, "loam": 0.434, "silt": 0.486, "silt loam": 0.486,
    "sandy clay loam": 0.330, "clay loam": 0.389, "silty clay loam": 0.432, "sandy clay": 0.321, "silty clay": 0.423,
    "clay": 0.385}


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
    found = texture_parameters(name, soils.CARSEL_PARRISH)
    assert found["residual_water_content"] == residual
    assert found["saturated_water_content"] == saturated
    at_capacity = contents[1 if name in COARSE[soils.CARSEL_PARRISH] else 2]
    assert found["field_capacity"] == pytest.approx(at_capacity, abs=5.1e-6)
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
    assert soils.TABLES == ("rawls_1982", "carsel_parrish_1988")


# FAO-56 table 19: ranges of field capacity, wilting point and water for plants.
FAO = {
    "sand": ((0.07, 0.17), (0.02, 0.07), (0.05, 0.11)), "loamy sand": ((0.11, 0.19), (0.03, 0.10), (0.06, 0.12)),
    "sandy loam": ((0.18, 0.28), (0.06, 0.16), (0.11, 0.15)), "loam": ((0.20, 0.30), (0.07, 0.17), (0.13, 0.18)),
    "silt loam": ((0.22, 0.36), (0.09, 0.21), (0.13, 0.19)),
    "silty clay loam": ((0.30, 0.37), (0.17, 0.24), (0.13, 0.18)),
    "silty clay": ((0.30, 0.42), (0.17, 0.29), (0.13, 0.19)), "clay": ((0.32, 0.40), (0.20, 0.24), (0.12, 0.20)),
}


@pytest.mark.parametrize("name", FAO)
def test_measured_contents_lie_in_the_ranges_of_fao(name):
    """Rawls' means, within 0.01 for silt loam's water and 0.035 for clay's wilting point, the two that lie outside."""
    found = texture_parameters(name)
    capacity, wilting = found["field_capacity"], found["wilting_point"]
    slack = {"silt loam": 0.01, "clay": 0.035}.get(name, 1e-9)
    for value, (low, high) in zip((capacity, wilting, capacity - wilting), FAO[name], strict=True):
        assert low - slack <= value <= high + slack


@pytest.mark.parametrize("name", TEXTURES)
def test_measured_parameters(name):
    """Order of the contents; effective porosity of Rawls et al. 1983 (numbers.md 14.1): porosity less residual."""
    found = texture_parameters(name)
    saturated, residual = found["saturated_water_content"], found["residual_water_content"]
    assert residual < found["wilting_point"] < found["field_capacity"] < saturated
    assert saturated - residual == pytest.approx(EFFECTIVE_POROSITY[name], abs=0.0021)


def test_wetter_with_less_suction():
    for name in TEXTURES:
        (residual, saturated, alpha, n, _), _ = TABLE[name]
        content = van_genuchten(np.geomspace(0.1, 1e6, 200), residual, saturated, alpha, n)
        assert np.all(np.diff(content) < 0.0)
        assert np.all((content > residual) & (content <= saturated))
