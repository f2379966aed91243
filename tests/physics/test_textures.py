"""Ready-made soils: Carsel and Parrish (1988), Rawls et al. (1983); numbers.md sections 6 and 14.1."""

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
