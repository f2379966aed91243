"""Retention and conductivity (docs/theory/soil-hydraulics.md): numbers.md section 6, and eqs. (7.4) and (7.5)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wepl.basin.soils import CARSEL_PARRISH, COARSE, RAWLS, TABLES, TEXTURES, derive_curve, texture_parameters
from wepl.physics.soil_hydraulics import (
    conductivity,
    retention_saturation,
    suction,
    suction_and_slope,
    suction_slope,
)
from wepl.validation.columns import MM_PER_DAY, WEP_SOILS, texture_curve

HEADS = (10.0, 100.0, 1000.0, 15000.0)  # cm
PUBLISHED_CONTENT = {
    "sand": (0.39997, 0.06825, 0.03504, 0.03500), "loam": (0.45964, 0.29218, 0.11129, 0.07073),
    "clay loam": (0.47491, 0.43296, 0.18862, 0.13914), "clay": (0.47889, 0.43076, 0.15038, 0.09361),
}
PUBLISHED_CONDUCTIVITY = {  # mm/h at 10, 100 and 1000 cm
    "sand": (89.976, 0.028047, 3.38e-12), "loam": (23.660, 2.7008, 5.9486e-3),
    "clay loam": (7.1917, 4.1451, 3.0447e-3), "clay": (1.0787, 0.60472, 3.0884e-4),
}


def field_capacity_head(name: str, table: str) -> float:
    """m."""
    return 1.0 if name in COARSE[table] else 3.3


def saturation(name: str, which: str, table: str = RAWLS) -> float:
    given = texture_parameters(name, table)
    residual = given["residual_water_content"]
    return (given[which] - residual) / (given["saturated_water_content"] - residual)


@pytest.mark.parametrize("name", WEP_SOILS)
def test_published_soils(name):
    """Contents and conductivities of the WEP-L table, to the digits printed."""
    saturated, residual, k, a, b, n = WEP_SOILS[name]
    found = [retention_saturation(head / 100.0, a, b) for head in HEADS]
    np.testing.assert_allclose(residual + np.array(found) * (saturated - residual), PUBLISHED_CONTENT[name], rtol=0.0,
                               atol=5.1e-6)
    rates = [conductivity(value, k, n) for value in found[:3]]
    np.testing.assert_allclose(rates, PUBLISHED_CONDUCTIVITY[name], rtol=2e-3 if name == "sand" else 5e-5)


def test_yolo_light_clay():
    """Haverkamp et al. 1977: 0.124 + 0.371 x 739/(739 + (ln h)^4); the inverse of 0.2376 is 599.974 cm."""
    a, b = 739.0, 4.0
    content = [0.124 + 0.371 * retention_saturation(head / 100.0, a, b) for head in (1.0, 10.0, 100.0, 600.0, 1000.0,
                                                                                    15000.0)]
    np.testing.assert_allclose(content, (0.495, 0.481405, 0.354634, 0.237598, 0.214907, 0.153517), rtol=0.0,
                               atol=5.1e-7)
    assert suction((0.2376 - 0.124) / 0.371, a, b) * 100.0 == pytest.approx(599.974, abs=5.1e-4)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", TEXTURES)
def test_the_curve_passes_through_its_points(name, table):
    """Field capacity at 330 cm (100 cm in coarse soils) and wilting point at 15,000 cm (T1)."""
    a, b, _ = texture_curve(name, table)
    capacity, wilting = saturation(name, "field_capacity", table), saturation(name, "wilting_point", table)
    assert retention_saturation(field_capacity_head(name, table), a, b) == pytest.approx(capacity, rel=1e-10)
    assert retention_saturation(150.0, a, b) == pytest.approx(wilting, rel=1e-10)
    assert suction(capacity, a, b) == pytest.approx(field_capacity_head(name, table), rel=1e-9)
    assert suction(wilting, a, b) == pytest.approx(150.0, rel=1e-9)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", TEXTURES)
def test_field_capacity_drains_a_millimetre_a_day(name, table):
    """K(fc) is 1 mm/d; a tenth of Ks where Ks is below 10 mm/d (T1)."""
    k = texture_parameters(name, table)["saturated_conductivity"]
    expected = MM_PER_DAY if k >= 10.0 * MM_PER_DAY else 0.1 * k
    found = conductivity(saturation(name, "field_capacity", table), k, texture_curve(name, table)[2])
    assert found == pytest.approx(expected, rel=1e-10)
    assert (name == "silty clay" and table == CARSEL_PARRISH) == (k < 10.0 * MM_PER_DAY)


def test_derivation_works_on_arrays():
    """Units and layers at once give what each gives alone."""
    given = [texture_parameters(name) for name in ("loam", "clay")]
    names = ("saturated_water_content", "residual_water_content", "field_capacity", "wilting_point",
             "saturated_conductivity")
    together = derive_curve(*(np.array([[soil[name] for soil in given]]) for name in names), 330.0)
    for place, name in enumerate(("loam", "clay")):
        np.testing.assert_allclose([values[0, place] for values in together], texture_curve(name), rtol=1e-12)


@pytest.mark.parametrize("name", TEXTURES)
def test_round_trip(name):
    """theta -> psi -> theta between th_r + 1e-3 and th_s - 1e-6 (T2), where psi is below its largest value."""
    a, b, _ = texture_curve(name)
    given = texture_parameters(name)
    span = given["saturated_water_content"] - given["residual_water_content"]
    compared = 0
    for value in np.concatenate([np.linspace(1e-3 / span, 1.0 - 1e-6 / span, 300), [1.0 - 1e-4, 1.0 - 1e-5]]):
        head = suction(value, a, b)
        if head < 1e5 * (1.0 - 1e-9):
            assert retention_saturation(head, a, b) == pytest.approx(value, rel=1e-6)
            compared += 1
    assert compared > 200


@pytest.mark.parametrize("name", TEXTURES)
def test_slope_is_the_derivative(name):
    """By central differences of the suction (1e-6)."""
    a, b, _ = texture_curve(name)
    for value in np.linspace(0.05, 0.98, 40):
        head, slope = suction_and_slope(value, a, b)
        assert head == pytest.approx(suction(value, a, b), rel=1e-14)
        assert slope == suction_slope(value, a, b)
        if head < 0.99e5:
            step = 1e-5 * min(value, 1.0 - value)
            difference = (suction(value + step, a, b) - suction(value - step, a, b)) / (2.0 * step)
            assert slope == pytest.approx(difference, rel=1e-6)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.sampled_from(TEXTURES), st.floats(-0.1, 1.1), st.floats(0.0, 0.5))
def test_monotone_and_bounded(name, value, more):
    """Wetter soil sucks less and conducts more; between 1 cm and 1e5 m, 0 and Ks."""
    a, b, n = texture_curve(name)
    assert 0.01 <= suction(value + more, a, b) <= suction(value, a, b) <= 1.0000001e5
    assert 0.0 <= conductivity(value, 1e-6, n) <= conductivity(value + more, 1e-6, n) <= 1e-6
    assert suction_slope(value, a, b) <= 0.0
    assert math.isfinite(suction_slope(value, a, b))


def test_ends():
    """Dry and saturated, no conductivity and all of it; below 1 cm of suction the soil is saturated."""
    assert conductivity(0.0, 1e-6, 5.0) == 0.0
    assert conductivity(1.0, 1e-6, 5.0) == 1e-6
    assert suction(1.0, 60.0, 2.5) == 0.01
    assert suction(0.0, 60.0, 2.5) == pytest.approx(1e5, rel=1e-12)
    assert retention_saturation(0.005, 60.0, 2.5) == 1.0
    assert retention_saturation(0.01, 60.0, 2.5) == 1.0
