"""One reach (docs/theory/river.md): Manning, steady flow, celerity, and the exact wave of Sobey (2001).

Numbers: numbers.md section 11. Sobey's "California Water Olympics" gives the set-up; the entropy solution was computed
by a variational formula.
"""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wepl.physics.river import cell_step, normal_discharge, section_factor
from wepl.validation.river import CUBIC_FOOT, FOOT, PEAKS, factor, olympics, route


@pytest.mark.parametrize(("discharge", "depth", "area"), [(100.0, 1.50326129, 75.16306)])
def test_normal_depth(discharge, depth, area):
    """Width 50 m, slope 0.001, n 0.03; area and depth by Manning's formula with the banks wetted."""
    assert normal_discharge(50.0 * depth, 50.0, factor(0.001, 0.03)) == pytest.approx(discharge, rel=1e-8)
    assert 50.0 * depth == pytest.approx(area, abs=1e-5)


def test_normal_discharge_is_manning():
    for area, width, slope, manning in ((3.0, 5.0, 1e-4, 0.05), (800.0, 120.0, 2e-3, 0.025)):
        perimeter = width + 2.0 * area / width
        expected = math.sqrt(slope) / manning * area ** (5 / 3) / perimeter ** (2 / 3)
        assert normal_discharge(area, width, factor(slope, manning)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("per_width", "depth", "celerity"), [
    (1.0, 0.96888616, 1.72018833), (2.0, 1.46855681, 2.26980211), (5.0, 2.54480644, 3.27464329)])
def test_depth_and_celerity_of_a_wide_channel(per_width, depth, celerity):
    """Slope 0.001, n 0.03, banks without weight: depth, and dQ/dA by differences."""
    width, roughness = 1e7, factor(0.001, 0.03)
    assert normal_discharge(width * depth, width, roughness) == pytest.approx(per_width * width, rel=1e-6)
    step = 1e-4 * depth
    slope = (normal_discharge(width * (depth + step), width, roughness)
             - normal_discharge(width * (depth - step), width, roughness)) / (2.0 * step * width)
    assert slope == pytest.approx(celerity, rel=1e-6)


@pytest.mark.parametrize("dt", [60.0, 3600.0, 86400.0])
def test_steady_flow(dt):
    """A constant inflow leaves as it came, and the water stands at its normal depth (T2)."""
    inflow = np.full(int(max(400, 250_000 / dt)), 100.0)
    discharge, storage = route(inflow, 5000.0 * 20.0, 3, 5000.0, 50.0, factor(0.001, 0.03), dt, np.arange(3))
    np.testing.assert_allclose(discharge[-1], 100.0, rtol=1e-6)
    np.testing.assert_allclose(storage / (5000.0 * 50.0), 1.50326129, rtol=1e-6)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.floats(0.0, 1e8), st.floats(0.0, 1e4), st.floats(-1e6, 1e6), st.floats(10.0, 1e4), st.floats(0.5, 1e3),
       st.floats(1e-5, 0.2), st.floats(0.01, 0.2), st.sampled_from([60.0, 3600.0, 86400.0]))
def test_a_cell_keeps_its_mass(storage, inflow, lateral, length, width, slope, manning, dt):
    """storage + dt discharge = what was there and came, never a negative flow, at any Courant number."""
    after = cell_step(storage, inflow, lateral, length, width, factor(slope, manning), dt)
    held = storage + dt * inflow + lateral
    assert math.isfinite(after.discharge)
    assert after.discharge >= 0.0
    assert after.storage >= min(held, 0.0)
    assert after.storage + dt * after.discharge == pytest.approx(held, rel=1e-14, abs=1e-14 * abs(held))


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.floats(1.0, 1e7), st.floats(0.0, 1e3), st.floats(1e-5, 0.1), st.sampled_from([600.0, 86400.0]))
def test_a_cell_solves_its_equation(storage, inflow, slope, dt):
    """Eq. (13.2) with the perimeter of the start: V1 = dx alpha Q^(3/5) (1e-10, the root itself has 1e-14)."""
    length, width, roughness = 3000.0, 30.0, factor(slope, 0.035)
    after = cell_step(storage, inflow, 0.0, length, width, roughness, dt)
    alpha = section_factor(storage, length, width, roughness)
    held = storage + dt * inflow
    assert length * alpha * after.discharge**0.6 + dt * after.discharge == pytest.approx(held, rel=1e-10)


def test_a_dry_cell_stays_dry_and_fills():
    assert cell_step(0.0, 0.0, 0.0, 5000.0, 30.0, factor(0.001, 0.035), 3600.0) == (0.0, 0.0)
    after = cell_step(0.0, 2.0, 0.0, 5000.0, 30.0, factor(0.001, 0.035), 3600.0)
    assert 0.0 < after.discharge < 2.0
    assert after.storage > 0.0


@pytest.mark.parametrize(("length", "dt"), [(250.0, 60.0), (250.0, 600.0), (1000.0, 60.0)])
def test_celerity_and_numerical_diffusion(length, dt):
    """A small bump on steady flow moves at dQ/dA and spreads with eq. (13.4), by the moments of its hydrographs."""
    width, roughness, n_cells = 50.0, factor(0.001, 0.03), 40
    area = 75.16306
    celerity = (normal_discharge(area * 1.0001, width, roughness)
                - normal_discharge(area * 0.9999, width, roughness)) / (0.0002 * area)
    travel = n_cells * length / celerity
    times = np.arange(0.5, (3.0 * travel + 30_000.0) / dt) * dt
    base = normal_discharge(area, width, roughness)
    inflow = base + 0.01 * np.exp(-(((times - 9000.0) / 3000.0) ** 2))
    watched = np.array([n_cells // 4 - 1, n_cells - 1])
    discharge, _ = route(inflow, area * length, n_cells, length, width, roughness, dt, watched)
    bump = discharge - base
    mass = bump.sum(axis=0)
    centre = (times[:, None] * bump).sum(axis=0) / mass
    spread = ((times[:, None] - centre) ** 2 * bump).sum(axis=0) / mass
    distance = 0.75 * n_cells * length
    # The perimeter of eq. (13.1) lags by a step: second order for the celerity, a few per cent of the diffusivity.
    assert distance / (centre[1] - centre[0]) == pytest.approx(celerity, rel=0.01)
    diffusivity = (spread[1] - spread[0]) * celerity**3 / (2.0 * distance)
    assert diffusivity == pytest.approx(0.5 * celerity * length + 0.5 * celerity**2 * dt, rel=0.06)


EXACT = np.array(PEAKS)


def test_water_olympics_base_flow():
    """250 cfs stand 0.5216219 m deep with a celerity of 0.7322769 m/s; 727.464829 cfs 1.0020633 m, 1.0963354 m/s."""
    width, roughness = 100.0 * FOOT, factor(0.001, 0.045)
    for discharge, depth, celerity in ((250.0, 0.5216219, 0.7322769), (727.464829, 1.0020633, 1.0963354)):
        area = width * depth
        assert normal_discharge(area, width, roughness) / CUBIC_FOOT == pytest.approx(discharge, rel=1e-6)
        slope = (normal_discharge(area * 1.0001, width, roughness)
                 - normal_discharge(area * 0.9999, width, roughness)) / (0.0002 * area)
        assert slope == pytest.approx(celerity, rel=1e-6)


def test_water_olympics_in_cells_of_the_model():
    """Cells of 5,080 m and hourly steps: mass exact, no new extremes, and a wave shorter than two cells nearly lost."""
    times, discharge, storage, came = olympics(9, 3600.0)
    base = 9 * 0.5216219 * 100.0 * FOOT * 150_000.0 * FOOT / 9
    gone = discharge[:, -1].sum() * 3600.0 * CUBIC_FOOT
    assert storage.sum() + gone == pytest.approx(base + came, rel=1e-12)
    assert discharge.min() >= 250.0 * (1.0 - 1e-6)
    peaks = discharge.max(axis=0)
    # Eq. (13.4) with celerity 0.73 to 1.1 m/s gives about 3,500 m2/s, which leaves 70, 45 and 36 cfs of 477.
    np.testing.assert_allclose(peaks, [320.5, 295.2, 285.8], atol=0.1)
    assert np.all(peaks < EXACT)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="millions of cell steps need compiled code")
def test_water_olympics_converges_to_the_exact_wave():
    """Halving cells and steps: order 1 where the wave is smooth, the peaks behind the shock from below."""
    smooth = {0: ((24_000, 431.5), (27_000, 314.0)), 1: ((45_000, 334.3),), 2: ((66_000, 303.3),)}
    runs = [olympics(n_cells, dt) for n_cells, dt in ((750, 80.0), (1500, 40.0), (3000, 20.0))]
    for station, points in smooth.items():
        for time, exact in points:
            coarse, middle, fine = (np.interp(time, run[0], run[1][:, station]) for run in runs)
            assert (coarse - middle) / (middle - fine) == pytest.approx(2.0, abs=0.2)
            # Extrapolated to cells of no length; the rest is second order.
            assert 2.0 * fine - middle == pytest.approx(exact, rel=0.002)
    coarse, middle, fine = (run[1].max(axis=0) for run in runs)
    assert np.all((coarse < middle) & (middle < fine) & (fine < EXACT))
    np.testing.assert_allclose(fine, EXACT, rtol=0.055)
    # At a shock the order lies between a half and 1: the exact peak is between the two extrapolations.
    order_one = 2.0 * fine - middle
    free = fine + (fine - middle) ** 2 / ((middle - coarse) - (fine - middle))
    assert np.all((order_one < EXACT) & (free > EXACT))
