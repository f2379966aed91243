"""Humidity and wind made from other quantities."""

from __future__ import annotations

import numpy as np
import pytest
from small_stations import WARMTH, built, weather, wide
from small_terrain import forcing, table, terrain

from wepl.build import humidity
from wepl.build.forcing import build_forcing
from wepl.physics import atmosphere


def test_humidity_agrees_with_the_models_own_formulas():
    temperature = np.array([-10.0, 0.0, 12.5, 35.0])
    expected = [atmosphere.saturation_vapour_pressure(value) for value in temperature]
    np.testing.assert_allclose(humidity.saturation_vapour_pressure(temperature), expected, rtol=1e-14)
    np.testing.assert_allclose(humidity.air_pressure(np.array([1800.0])), atmosphere.air_pressure(1800.0), rtol=1e-14)
    days = humidity.daylight_seconds(np.array([246.0]), np.array([-20.0]))
    assert days[0, 0] / 3600.0 == pytest.approx(11.7, abs=0.05)  # FAO-56 example 9


def test_humidity_of_published_examples():
    # FAO-56 example 3 and table 2.3: es(24.5) = 3.075 kPa, es(15) = 1.705 kPa, es(1800 m) pressure 81.8 kPa.
    assert humidity.saturation_vapour_pressure(np.array(24.5)) == pytest.approx(3075.0, abs=1.0)
    assert humidity.air_pressure(np.array(1800.0)) == pytest.approx(81800.0, abs=50.0)
    assert humidity.from_dew_point(np.array(15.0), np.array(24.5)) == pytest.approx(1705.0 / 3075.0, abs=5e-4)
    # Saturated air at 20 degC and 1013.25 hPa holds 14.5 g/kg (Wallace and Hobbs, skew T chart).
    assert humidity.from_specific_humidity(np.array(0.0145), np.array(20.0), np.array(101325.0)) == pytest.approx(
        1.0, abs=0.01)


def test_humidity_and_wind_made_from_other_columns(tmp_path):
    entries = weather(tmp_path)
    entries[1] = table(file=wide(tmp_path, "tx.csv", WARMTH + 4.0), variable="maximum_temperature", unit="degC",
                       coordinates="stations.csv")
    entries.append(table(file=wide(tmp_path, "tn.csv", WARMTH - 4.0), variable="minimum_temperature", unit="degC",
                         coordinates="stations.csv"))
    entries[2] = table(file=wide(tmp_path, "td.csv", WARMTH - 5.0), variable="dew_point", unit="degC",
                       coordinates="stations.csv")
    entries[4] = table(file=wide(tmp_path, "sun.csv", np.full(20, 50.0)), variable="sunshine_duration", unit="%",
                       coordinates="stations.csv")
    build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / "out.nc")
    np.testing.assert_allclose(built(tmp_path / "out.nc", "air_temperature")[:, 0], WARMTH, rtol=1e-5)
    expected = 100.0 * humidity.from_dew_point(WARMTH - 5.0, WARMTH)
    np.testing.assert_allclose(built(tmp_path / "out.nc", "relative_humidity")[:, 0], expected, rtol=1e-4)
    # Half of the daylight of 1 and 15 January at 29 N: 10.2 and 10.4 h by FAO-56's formulas.
    np.testing.assert_allclose(built(tmp_path / "out.nc", "sunshine_duration")[[0, 14], 0], [5.1, 5.2], atol=0.05)
