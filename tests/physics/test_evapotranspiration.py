"""Penman, Penman-Monteith, bare soil and resistances (docs/theory/evapotranspiration.md).

Numbers: numbers.md sections 2.2 and 2.3: the weather of FAO-56 example 18 in the general equations.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wepl import rows
from wepl.physics import atmosphere
from wepl.physics import evapotranspiration as et
from wepl.physics.constants import SPECIFIC_HEAT_AIR
from wepl.stages.surface import root_moisture
from wepl.validation.columns import DAY, DEFAULT_LAYERS, MM_PER_DAY, texture_column

RADIATION = 13.28318517e6 / DAY  # W m-2
PRESSURE = atmosphere.air_pressure(100.0)
SLOPE = atmosphere.vapour_pressure_slope(16.9)
GAMMA = 0.665e-3 * PRESSURE  # FAO-56 eq. 8
DEFICIT = 1997.48556 - 1408.62380  # Pa
RESISTANCE = 208.0 / 2.07764188  # s m-1
HEAT = atmosphere.vaporisation_heat(16.9)
# Density as the published WEP writes it, 3.486 P/(275 + T).
WEP_AIR = SPECIFIC_HEAT_AIR * 3.486e-3 * PRESSURE / (275.0 + 16.9)
WEP = (RADIATION, SLOPE, GAMMA, HEAT, WEP_AIR, DEFICIT, RESISTANCE)


def test_fao_constants():
    """rc 70, lambda 2.45 MJ/kg and FAO's density: 3.8785117 mm/d, 0.05 % from the FAO-56 formula's 3.8802594."""
    air = SPECIFIC_HEAT_AIR * atmosphere.air_density(PRESSURE, 16.9)
    rate = et.penman_monteith(RADIATION, SLOPE, GAMMA, 2.45e6, air, DEFICIT, RESISTANCE, 70.0)
    assert rate / MM_PER_DAY == pytest.approx(3.8785117, abs=1e-7)
    assert rate / MM_PER_DAY == pytest.approx(3.8802594, rel=5e-4)


@pytest.mark.parametrize(("canopy", "expected"), [(0.0, 4.8183152), (70.0, 3.8647954), (200.0, 2.8261365)])
def test_penman_monteith(canopy, expected):
    assert et.penman_monteith(*WEP, canopy) / MM_PER_DAY == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("wetness", "expected"), [(0.0, 0.0), (0.25, 2.3406146), (0.5, 3.5615870), (1.0, 4.8183152)])
def test_bare_soil(wetness, expected):
    assert et.bare_soil_evaporation(*WEP, wetness) / MM_PER_DAY == pytest.approx(expected, rel=1e-6)


def test_identities_and_limits():
    """rc = 0 and beta = 1 are Penman; endless rc gives 0; endless ra leaves the radiation term."""
    penman = et.penman(*WEP)
    assert et.penman_monteith(*WEP, 0.0) == pytest.approx(penman, rel=1e-14)
    assert et.bare_soil_evaporation(*WEP, 1.0) == pytest.approx(penman, rel=1e-14)
    assert et.penman_monteith(*WEP, 1e12) < 1e-8 * penman
    still = et.penman(RADIATION, SLOPE, GAMMA, HEAT, WEP_AIR, DEFICIT, 1e12)
    assert still == pytest.approx(RADIATION / (1000.0 * HEAT) * SLOPE / (SLOPE + GAMMA), rel=1e-9)
    # Without energy and deficit nothing evaporates; a loss of energy condenses.
    assert et.penman(0.0, SLOPE, GAMMA, HEAT, WEP_AIR, 0.0, RESISTANCE) == 0.0
    assert et.penman(-20.0, SLOPE, GAMMA, HEAT, WEP_AIR, 0.0, RESISTANCE) < 0.0


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.floats(10.0, 600.0), st.floats(0.0, 4000.0), st.floats(5.0, 500.0), st.floats(0.0, 5000.0),
       st.floats(0.001, 0.999))
def test_evaporation_falls_with_resistance_and_rises_with_wetness(available, deficit, resistance, canopy, wetness):
    air = (available, SLOPE, GAMMA, HEAT, WEP_AIR, deficit, resistance)
    assert et.penman_monteith(*air, canopy + 1.0) < et.penman_monteith(*air, canopy) <= et.penman(*air) * (1 + 1e-14)
    assert 0.0 < et.bare_soil_evaporation(*air, wetness) < et.penman(*air)
    assert et.bare_soil_evaporation(*air, 1.001 * wetness) > et.bare_soil_evaporation(*air, wetness)


@pytest.mark.parametrize(("height", "wind_height", "wind", "resistance"), [
    (1.0, 10.0, 3.0, 56.922476), (15.0, 19.0, 3.0, 12.155412)])
def test_aerodynamic_resistance(height, wind_height, wind, resistance):
    """Eq. (6.5) with d = 0.67 h where the wind is measured high above the plants, s/m."""
    assert et.aerodynamic_factor_vegetation(height, wind_height) / wind == pytest.approx(resistance, abs=5.1e-7)


@pytest.mark.parametrize(("height", "wind_height", "wind", "resistance"), [
    (0.12, 2.0, 2.0, 103.824574), (0.5, 2.0, 2.0, 54.954087)])
def test_wind_is_carried_above_the_plants(height, wind_height, wind, resistance):
    """Plants less than 2 m below the instrument: wind at h + 2 m, up the log profile over the station's grass.

    The published numbers are those at the instrument's own height, which the same formula gives there.
    """
    d, z0 = 0.67 * height, 0.123 * height

    def factor(z: float) -> float:
        return math.log((z - d) / z0) * math.log((z - d) / (0.1 * z0)) / 0.41**2

    assert factor(wind_height) / wind == pytest.approx(resistance, abs=5.1e-7)
    grass_d, grass_z0 = 0.67 * 0.12, 0.123 * 0.12
    gain = math.log((height + 2.0 - grass_d) / grass_z0) / math.log((wind_height - grass_d) / grass_z0)
    found = et.aerodynamic_factor_vegetation(height, wind_height)
    assert found == pytest.approx(factor(height + 2.0) / gain, rel=1e-12)
    # For FAO-56's grass (208/u) it changes a hundredth, for plants of half a metre a twelfth.
    assert found / wind == pytest.approx(resistance, rel=0.02 if height < 0.2 else 0.09)


def test_resistance_is_continuous_where_the_wind_begins_to_be_carried():
    below, above = (et.aerodynamic_factor_vegetation(8.0 + step, 10.0) for step in (-1e-9, 1e-9))
    assert below == pytest.approx(above, rel=1e-8)
    assert 0.0 < et.aerodynamic_factor_vegetation(35.0, 2.0) < et.aerodynamic_factor_vegetation(0.12, 2.0)


def test_surface_resistance():
    """ln(z/z0) ln(z/(0.1 z0))/k2: bare soil of 5 mm under wind at 10 m."""
    assert et.aerodynamic_factor_surface(0.005, 10.0) == pytest.approx(
        math.log(2000.0) * math.log(20000.0) / 0.1681, rel=1e-12)


@pytest.mark.parametrize(("temperature", "factor"), [
    (0, 1e-3), (10, 0.64), (20, 0.96), (25, 1.0), (33, 0.8976), (39, 0.6864), (45, 0.36), (60, 1e-3)])
def test_jarvis_temperature(temperature, factor):
    assert et.jarvis_temperature(temperature) == pytest.approx(factor, rel=1e-10)


@pytest.mark.parametrize(("deficit", "factor"), [(500, 0.875), (1000, 0.75), (2000, 0.5), (3000, 0.25), (5000, 1e-3)])
def test_jarvis_humidity(deficit, factor):
    assert et.jarvis_humidity(deficit, 4000.0) == pytest.approx(factor, rel=1e-10)


@pytest.mark.parametrize(("plant", "factors"), [
    ((100.0, 2.0, 40.0), (0.008, 0.221961, 0.527619, 0.735467, 0.847385)),
    ((30.0, 5.0, 150.0), (0.03, 0.290244, 0.606757, 0.792143, 0.883600))])
def test_jarvis_light(plant, factors):
    """PARc, LAI and rs_min; shortwave 0, 50, 200, 500 and 1000 W/m2, rs_max 5000 s/m."""
    critical, leaf_area, rs_min = plant
    found = [et.jarvis_light(shortwave, critical, leaf_area, rs_min, 5000.0) for shortwave in (0, 50, 200, 500, 1000)]
    np.testing.assert_allclose(found, factors, rtol=0.0, atol=5.1e-7)
    assert et.jarvis_light(500.0, critical, 0.0, rs_min, 5000.0) == rs_min / 5000.0


@pytest.mark.parametrize(("water", "factor"), [
    (0.05, 0.0), (0.1, 0.0), (0.2, 0.5), (0.25, 0.75), (0.3, 1.0), (0.4, 1.0)])
def test_jarvis_moisture(water, factor):
    assert et.jarvis_moisture(water, 0.1, 0.3) == pytest.approx(factor, abs=1e-14)


def test_canopy_resistance_of_a_forest():
    """LAI 5, rs_min 150, 500 W/m2, 20 degC, deficit 1 kPa, f4 0.6: 87.666566 s/m."""
    factors = (et.jarvis_temperature(20.0), et.jarvis_humidity(1000.0, 4000.0),
               et.jarvis_light(500.0, 30.0, 5.0, 150.0, 5000.0), 0.6)
    assert et.canopy_resistance(150.0, 5.0, *factors, 5000.0) == pytest.approx(87.666566, abs=5.1e-7)
    # Half of the leaves active: twice the resistance.
    assert et.canopy_resistance(150.0, 2.5, *factors, 5000.0) == pytest.approx(2.0 * 87.666566, abs=1.1e-6)


def test_canopy_resistance_has_a_largest_value():
    assert et.canopy_resistance(150.0, 5.0, 1.0, 1.0, 1.0, 0.0, 5000.0) == 5000.0
    assert et.canopy_resistance(150.0, 0.0, 1.0, 1.0, 1.0, 1.0, 5000.0) == 5000.0
    assert et.canopy_resistance(150.0, 5.0, 1e-3, 1e-3, 1.0, 1.0, 5000.0) == 5000.0


@pytest.mark.parametrize(("share", "wetness"), [
    (-0.1, 0.0), (0.0, 0.0), (0.25, 0.02144661), (0.5, 0.25), (0.75, 0.72855339), (1.0, 1.0), (1.3, 1.0)])
def test_lee_and_pielke(share, wetness):
    """Share of the way from the driest content to field capacity."""
    assert et.soil_wetness(0.05 + share * 0.2, 0.05, 0.25) == pytest.approx(wetness, abs=5.1e-9)


ROOTS = {2.0: (0.172, 0.296, 0.532), 1.5: (0.225778, 0.366222, 0.408), 0.6: (0.511111, 0.488889, 0.0),
         0.4: (0.7, 0.3, 0.0)}


@pytest.mark.parametrize("depth", ROOTS)
def test_root_shares(depth):
    """1.8 x - 0.8 x2 over layers of 0.2, 0.4 and 1.4 m; the shares add to 1 (T1)."""
    above = np.array([0.0, *(et.root_fraction_above(bottom, depth) for bottom in np.cumsum(DEFAULT_LAYERS))])
    np.testing.assert_allclose(np.diff(above), ROOTS[depth], rtol=0.0, atol=5.1e-7)
    assert above[-1] == pytest.approx(1.0, rel=1e-10)
    soil = texture_column("loam")
    root_moisture(soil, 3, depth)
    np.testing.assert_allclose(soil[rows.WORK_ROOT], ROOTS[depth], rtol=0.0, atol=5.1e-7)
    assert soil[rows.WORK_ROOT].sum() == pytest.approx(1.0, rel=1e-12)


def test_roots_below_the_soil_are_shared_out():
    """Rooting deeper than the soil: shares of the three layers still add to 1."""
    soil = texture_column("loam")
    root_moisture(soil, 3, 4.0)
    assert soil[rows.WORK_ROOT].sum() == pytest.approx(1.0, rel=1e-12)
    whole = et.root_fraction_above(2.0, 4.0)
    assert soil[rows.WORK_ROOT, 0] == pytest.approx(et.root_fraction_above(0.2, 4.0) / whole, rel=1e-12)


def test_root_moisture():
    """f4 is that of the root-weighted content: 0 at the wilting point, 1 from field capacity, linear between."""
    soil = texture_column("loam")
    soil[rows.WORK_WATER] = soil[rows.WILTING_WATER]
    assert root_moisture(soil, 3, 1.0) == pytest.approx(0.0, abs=1e-14)
    soil[rows.WORK_WATER] = soil[rows.FIELD_CAPACITY_WATER]
    assert root_moisture(soil, 3, 1.0) == pytest.approx(1.0, rel=1e-12)
    soil[rows.WORK_WATER] = 0.5 * (soil[rows.WILTING_WATER] + soil[rows.FIELD_CAPACITY_WATER])
    assert root_moisture(soil, 3, 1.0) == pytest.approx(0.5, rel=1e-12)
    # Water that no root reaches does not count.
    soil[rows.WORK_WATER, 2] = 0.0
    assert root_moisture(soil, 3, 0.5) == pytest.approx(0.5, rel=1e-12)
