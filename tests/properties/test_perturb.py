"""Noise of forcing has the statistics that were asked for, and makes no water on average."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wepl import registry
from wepl.basin.dataset import Basin
from wepl.errors import InputError
from wepl.forcing.perturb import Noise, PerturbedForcing, spatial_factor

RAIN, AIR = registry.row("precipitation"), registry.row("air_temperature")


@pytest.fixture(scope="module")
def basin(sample_path) -> Basin:
    return Basin.open(sample_path)


@pytest.fixture(scope="module")
def fields(basin) -> np.ndarray:
    """[rain or temperature, step, member, cell] of 200 members over 480 days."""
    noise = Noise(rain=0.3, temperature=1.0, days=2.0, km=150.0, seed=7)
    return PerturbedForcing(basin, noise, range(200), 0, spatial_factor(basin, noise.km)).noise(480)


def test_fields_are_standard_normal(fields):
    assert abs(fields.mean()) < 0.01
    assert fields.std() == pytest.approx(1.0, abs=0.01)
    assert (fields[:, 0].std(), fields[:, -1].std()) == pytest.approx((1.0, 1.0), abs=0.05), "stationary from the start"
    assert np.mean(fields**4) / np.mean(fields**2) ** 2 == pytest.approx(3.0, abs=0.05)


@pytest.mark.parametrize("lag", [1, 2, 5])
def test_memory_in_time(fields, lag):
    assert np.mean(fields[:, lag:] * fields[:, :-lag]) == pytest.approx(math.exp(-lag / 2.0), abs=0.01)


def test_correlation_between_cells(basin, fields):
    found = np.einsum("rtmi,rtmj->ij", fields, fields) / (fields.size / fields.shape[-1])
    factor = spatial_factor(basin, 150.0)
    np.testing.assert_allclose(found, factor @ factor.T, atol=0.03)
    assert (factor @ factor.T).min() < 0.3, "the sample's cells are far enough apart to tell"


def test_correlation_falls_with_distance(basin):
    """Of two cells 1 degree of latitude apart, 111.19 km on the sphere."""
    data = basin.parameters[["cell", "unit_cell", "unit_area", "unit_latitude", "unit_longitude"]].copy(deep=True)
    cells = data["cell"].values
    data["unit_cell"][:] = np.where(np.arange(data.sizes["unit"]) % 2, cells[0], cells[1])
    data["unit_longitude"][:] = 115.0
    data["unit_latitude"][:] = np.where(data["unit_cell"].values == cells[0], 28.0, 29.0)
    moved = Basin.__new__(Basin)
    moved.parameters, moved.forcing = data, basin.forcing
    factor = spatial_factor(moved, 50.0)
    assert (factor @ factor.T)[0, 1] == pytest.approx(math.exp(-111.19 / 50.0), rel=1e-3)


def test_rain_keeps_its_mass_and_temperature_its_mean(basin):
    noise = Noise(rain=0.5, temperature=2.0, days=1.0, km=100.0, seed=3)
    forcing = PerturbedForcing(basin, noise, range(300), 0, spatial_factor(basin, noise.km))
    given = basin.forcing.read(0, 200)
    read = forcing.read(0, 200).reshape(*given.shape[:2], 300, given.shape[2])
    factor = read[RAIN].sum(axis=(0, 2)) / given[RAIN].sum()
    assert factor.mean() == pytest.approx(1.0, abs=4 * factor.std() / math.sqrt(300))
    wet = given[RAIN] > 0
    factors = (read[RAIN] / np.where(wet, given[RAIN], 1.0)[:, None])[np.broadcast_to(wet[:, None], read[RAIN].shape)]
    assert factors.std() == pytest.approx(0.5, abs=0.02), "the coefficient of variation that was asked for"
    difference = read[AIR] - given[AIR][:, None]
    assert difference.mean() == pytest.approx(0.0, abs=0.03)
    assert difference.std() == pytest.approx(2.0, abs=0.05)
    assert not read[RAIN][np.broadcast_to(~wet[:, None], read[RAIN].shape)].any(), "dry stays dry"
    others = [row for row in range(given.shape[0]) if row not in (RAIN, AIR)]
    np.testing.assert_array_equal(read[others], np.repeat(given[others][:, :, None], 300, axis=2))


def test_neither_batches_nor_blocks_change_a_bit(basin):
    noise = Noise(rain=0.3, temperature=1.0, days=2.0, km=80.0, seed=1, control=True)
    factor = spatial_factor(basin, noise.km)
    whole = PerturbedForcing(basin, noise, [0, 1, 2], 0, factor).read(0, 50)
    forcing = PerturbedForcing(basin, noise, [2, 0], 0, factor)
    cut = np.concatenate([forcing.read(0, 7), forcing.read(7, 40), forcing.read(40, 50)], axis=1)
    n = len(basin.forcing.cells)
    np.testing.assert_array_equal(cut[..., :n], whole[..., 2 * n:])
    np.testing.assert_array_equal(cut[..., n:], whole[..., :n])
    np.testing.assert_array_equal(whole[..., :n], basin.forcing.read(0, 50), err_msg="the control is as it was")


def test_lengths_at_both_ends(basin):
    n = len(basin.forcing.cells)
    np.testing.assert_array_equal(spatial_factor(basin, math.inf), np.ones((n, 1)))
    np.testing.assert_array_equal(spatial_factor(basin, 0.0), np.eye(n))


@pytest.mark.parametrize("wrong", [{"rain": -0.1}, {"temperature": float("nan")}, {"days": -1.0}, {"km": -5.0},
                                   {"rain": 1e3}])
def test_noise_that_cannot_be(wrong):
    with pytest.raises(InputError, match="give a number"):
        Noise(**wrong).check()


def test_noise_that_leaves_the_range_is_told(basin):
    noise = Noise(temperature=50.0, km=0.0)
    with pytest.raises(InputError, match="--temperature-noise brings air_temperature of member"):
        PerturbedForcing(basin, noise, range(50), 0, spatial_factor(basin, 0.0)).read(0, 60)


def test_places_that_are_not_known(basin):
    bare = Basin.__new__(Basin)
    bare.parameters, bare.forcing = basin.parameters.drop_vars("unit_longitude"), basin.forcing
    with pytest.raises(InputError, match="needs unit_longitude"):
        spatial_factor(bare, 50.0)
