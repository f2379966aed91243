"""Interpolation between stations."""

from __future__ import annotations

import numpy as np
import pytest

from wepl.build.interpolate import Places, Regression, StationInterpolator, distance_weights
from wepl.errors import InputError


def _places(n: int, seed: int) -> Places:
    generator = np.random.default_rng(seed)
    return Places(generator.uniform(0.0, 1e4, (n, 2)), generator.uniform(0.0, 1500.0, n), np.full(n, 29.0))


def test_inverse_distance_by_hand():
    sources = np.array([[0.0, 0.0], [3000.0, 0.0], [0.0, 9000.0]])
    weights = distance_weights(sources, np.array([[1000.0, 0.0], [3000.0, 0.0]]), "idw", 2.0, 2).toarray()
    # Distances 1 and 2 km: 1 and 1/4; the second target stands at a station.
    np.testing.assert_allclose(weights, [[0.8, 0.2, 0.0], [0.0, 1.0, 0.0]], atol=1e-15)
    nearest = distance_weights(sources, np.array([[1000.0, 0.0]]), "thiessen", 2.0, 8).toarray()
    np.testing.assert_array_equal(nearest, [[1.0, 0.0, 0.0]])


def test_temperature_of_a_cell_does_not_jump_when_a_station_is_silent():
    # Stations on one lapse of 6.5 K/km: leaving one out must leave the cell's temperature as it was.
    stations, targets = _places(6, 1), _places(40, 2)
    carry = StationInterpolator(stations, targets, "air_temperature", "idw", 2.0, 8)
    values = np.tile(20.0 - 0.0065 * stations.elevation, (2, 1))
    values[1, 3] = np.nan
    moved = carry(values, np.zeros(2, dtype=int))
    np.testing.assert_allclose(moved[0], 20.0 - 0.0065 * carry.elevation, atol=1e-9)
    np.testing.assert_allclose(moved[1], moved[0], atol=1e-9)


def test_regression_finds_the_lapse_and_goes_to_the_targets_height():
    stations, targets = _places(8, 3), _places(30, 4)
    times = 60
    level = np.sin(np.arange(times))[:, None]
    values = 15.0 + level - 0.0048 * stations.elevation
    months = np.repeat([0, 1], times // 2)
    regression = Regression(values, months, stations.elevation, "air_temperature")
    np.testing.assert_allclose(regression.gradient[:2], -0.0048, rtol=1e-9)
    carry = StationInterpolator(stations, targets, "air_temperature", "idw", 2.0, 8, regression)
    np.testing.assert_array_equal(carry.elevation, targets.elevation)
    np.testing.assert_allclose(carry(values, months), 15.0 + level - 0.0048 * targets.elevation, atol=1e-9)


def test_regression_of_rain_keeps_dry_days_dry_and_finds_the_increase():
    stations, targets = _places(8, 5), _places(30, 6)
    months = np.zeros(30, dtype=int)
    rain = np.where(np.arange(30)[:, None] % 2 == 0, 10.0 * (1.0 + 4e-4 * stations.elevation), 0.0)
    carry = StationInterpolator(stations, targets, "precipitation", "idw", 2.0, 8,
                                Regression(rain, months, stations.elevation, "precipitation"))
    moved = carry(rain, months)
    assert (moved[1::2] == 0.0).all()
    np.testing.assert_allclose(moved[::2], np.tile(10.0 * (1.0 + 4e-4 * targets.elevation), (15, 1)), rtol=1e-9)


def test_regression_needs_stations_at_different_heights(tmp_path):
    with pytest.raises(InputError, match="at least 3 stations of air_temperature"):
        Regression(np.ones((4, 2)), np.zeros(4, dtype=int), np.array([0.0, 900.0]), "air_temperature")
    with pytest.raises(InputError, match="differ by 50 m"):
        Regression(np.ones((4, 3)), np.zeros(4, dtype=int), np.array([0.0, 10.0, 20.0]), "air_temperature")
