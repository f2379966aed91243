"""Drainage, interflow and diffusion (docs/theory/soil-water.md, interflow.md) against closed forms and ODE solvers.

Numbers: numbers.md section 8.6, the WEP loam in layers of 200, 400 and 1400 mm from 0.42, 0.30, 0.28, an accurate ODE.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from wepl import rows
from wepl.basin.soils import TEXTURES
from wepl.physics.soil_hydraulics import retention_saturation, suction
from wepl.physics.soil_water import drain_layer, drained
from wepl.stages import soil_water
from wepl.validation.columns import (
    DAY,
    DEFAULT_LAYERS,
    HOUR,
    MM,
    MM_PER_HOUR,
    WEP_SOILS,
    column,
    content,
    set_content,
    texture_column,
    wep_column,
)
from wepl.validation.soil_water import FREE, THREE_LAYERS, by_ode, gravity, scheme, start


@pytest.mark.parametrize(("name", "saturations"), [
    ("loam", (0.801926, 0.530883, 0.346773, 0.161854)), ("clay", (0.986526, 0.929241, 0.799986, 0.476379)),
    ("sand", (0.561796, 0.291754, 0.165407, 0.062943))])
def test_free_drainage_of_one_layer(name, saturations):
    """Se of 200 mm after 1, 6, 24 and 240 h from saturation, numbers.md 8.6, and eq. (9.4) itself."""
    saturated, residual, k, _, _, n = WEP_SOILS[name]
    water = 0.2 * (saturated - residual)
    for hours, expected in zip((1, 6, 24, 240), saturations, strict=True):
        left = 1.0 - drained(water, k * MM_PER_HOUR, n, hours * HOUR) / water
        assert left == pytest.approx(expected, abs=5.1e-7)
        exact = (1.0 + (n - 1.0) * k * MM_PER_HOUR * hours * HOUR / water) ** (1.0 / (1.0 - n))
        assert left == pytest.approx(exact, rel=1e-10)


def test_drainage_chains():
    """Two times in a row drain what their sum drains (closed form)."""
    water, k, n = 0.08, 7e-6, 3.97
    first = drained(water, k, n, 2 * HOUR)
    second = drained(water - first, k * ((water - first) / water) ** n, n, 5 * HOUR)
    assert first + second == pytest.approx(drained(water, k, n, 7 * HOUR), rel=1e-10)


def test_drainage_keeps_its_digits_in_dry_soil():
    """A trickle of 1e-18 m s-1 drains K t, without cancellation."""
    assert drained(0.05, 1e-18, 12.0, HOUR) == pytest.approx(1e-18 * HOUR, rel=1e-10)
    assert drained(0.0, 1e-6, 4.0, HOUR) == 0.0
    assert drained(0.1, 0.0, 4.0, HOUR) == 0.0


LAYER = {"threshold": 0.045, "capacity": 0.08, "saturated_conductivity": 5e-6, "exponent": 4.5}


def split(water: float, side_factor: float, time: float, parts: int) -> np.ndarray:
    """Drained and sideways depth (m) of one layer in even parts."""
    gone = np.zeros(2)
    for _ in range(parts):
        k = LAYER["saturated_conductivity"] * (water / LAYER["capacity"]) ** LAYER["exponent"]
        part = drain_layer(water, LAYER["threshold"], LAYER["capacity"], k, LAYER["saturated_conductivity"],
                           LAYER["exponent"], side_factor, time / parts)
        gone += part
        water -= sum(part)
    return gone


def split_by_ode(water: float, side_factor: float, time: float) -> np.ndarray:
    """The same by solve_ivp, with field capacity as an event: K(W) down, eq. (10.1) sideways."""
    def change(_time, state, side):
        k = LAYER["saturated_conductivity"] * (state[0] / LAYER["capacity"]) ** LAYER["exponent"]
        perched = (state[0] - LAYER["threshold"]) / (LAYER["capacity"] - LAYER["threshold"])
        sideways = side * LAYER["saturated_conductivity"] * perched
        return [-k - sideways, k, sideways]

    def field_capacity(_time, state, _side):
        return state[0] - LAYER["threshold"]

    field_capacity.terminal = True
    options = {"rtol": 1e-12, "atol": 1e-16, "method": "DOP853"}
    solution = solve_ivp(change, (0.0, time), [water, 0.0, 0.0], args=(side_factor,), events=field_capacity, **options)
    if solution.t[-1] < time:
        solution = solve_ivp(change, (solution.t[-1], time), solution.y[:, -1], args=(0.0,), **options)
    return solution.y[1:, -1]


@pytest.mark.parametrize("side_factor", [0.004, 0.01, 0.1, 0.3, 5.0])
@pytest.mark.parametrize("hours", [1, 6, 60])
def test_interflow_and_drainage_together(side_factor, hours):
    """Interflow from the mean of the draining course: second order, through field capacity too.

    In parts of an hour within 1 % of what left (6 % where interflow is five times the drainage), as a layer of 80 mm
    drains half of its water in that time.
    """
    exact = split_by_ode(0.078, side_factor, hours * HOUR)
    errors = [np.max(np.abs(split(0.078, side_factor, hours * HOUR, parts * hours) - exact)) for parts in (1, 4, 16)]
    assert errors[0] < (0.06 if side_factor > 1.0 else 0.012) * exact.sum()
    # Four times the parts: 16 times less in the limit.
    assert errors[0] / errors[1] > 7.0
    assert 11.0 < errors[1] / errors[2] < 19.0


def test_no_interflow_without_slope_or_below_field_capacity():
    k = LAYER["saturated_conductivity"]
    for water, side in ((0.078, 0.0), (0.045, 0.5), (0.02, 0.5)):
        gone = drain_layer(water, LAYER["threshold"], LAYER["capacity"], k, k, LAYER["exponent"], side, HOUR)
        assert gone == (drained(water, k, LAYER["exponent"], HOUR), 0.0)


def test_interflow_takes_at_most_what_is_perched():
    """However conductive the hillslope, field capacity stays; a saturated layer gives all above it."""
    gone = drain_layer(0.08, 0.045, 0.08, 5e-6, 5e-6, 4.5, 1e9, DAY)
    assert gone.sideways == pytest.approx(0.035, rel=1e-12)


@pytest.mark.parametrize("diffusion", [False, True])
def test_reference_gives_the_published_numbers(diffusion):
    """The ODE of this file is that of numbers.md 8.6, to its printed digits."""
    soil = start()
    times = [hours * HOUR for hours in THREE_LAYERS]
    for hours, state in zip(THREE_LAYERS, by_ode(soil, times, diffusion), strict=True):
        np.testing.assert_allclose(state[:3] / soil[rows.LAYER_THICKNESS], THREE_LAYERS[hours][diffusion][:3], rtol=0.0,
                                   atol=6e-7)
        assert state[3] / MM == pytest.approx(THREE_LAYERS[hours][diffusion][3], abs=6e-5)


@pytest.mark.parametrize(("solver", "diffusion"), [(gravity, False), (scheme, True)])
def test_hourly_parts(solver, diffusion):
    """Within 0.003 in content, and within 2 % of the drained depth from 24 h on (tolerances of numbers.md 8.6)."""
    soil = start()
    for hours, published in THREE_LAYERS.items():
        state = solver(soil, hours * HOUR, hours)
        if hours >= 24:
            np.testing.assert_allclose(state[:3] / soil[rows.LAYER_THICKNESS], published[diffusion][:3], rtol=0.0,
                                       atol=0.003)
            assert state[3] / MM == pytest.approx(published[diffusion][3], rel=0.02)


@pytest.mark.parametrize("thickness", [(1.0,), DEFAULT_LAYERS, (0.05,) * 4 + (0.1,) * 4 + (0.2,) * 4])
def test_first_order_in_the_length_of_the_parts(thickness):
    """One layer is exact; with several, halving the parts halves the error (12 layers need shorter parts)."""
    soil = wep_column("loam", thickness)
    depth = np.cumsum(soil[rows.LAYER_THICKNESS]) - 0.5 * soil[rows.LAYER_THICKNESS]
    set_content(soil, 0.42 - 0.14 * np.minimum(1.0, depth))
    exact = by_ode(soil, [DAY])[0]
    counts = (24, 48, 96) if len(thickness) < 10 else (96, 192, 384)
    errors = np.array([np.max(np.abs(scheme(soil, DAY, parts) - exact)) for parts in counts])
    if len(thickness) == 1:
        assert np.all(errors < 1e-9 * exact[-1] + 1e-10)
        return
    assert errors[-1] < 2e-3
    # Ratio 2 in the limit; what is left of higher orders at these parts is below a fifth.
    assert np.all(errors[:-1] / errors[1:] > 1.8)
    assert np.all(errors[:-1] / errors[1:] < 2.3)


@pytest.mark.parametrize("name", TEXTURES)
@pytest.mark.parametrize("start", ["field capacity", "a quarter above", "halfway to saturation", "wet top"])
def test_daily_step_in_default_parts(name, start):
    """A day in the parts that the model takes: no layer, nor the drained depth, off by more than 2 % of what moved.

    At field capacity, where hardly anything moves, 4 %; saturated sand and what drains on from it 2.5 %.
    """
    soil = texture_column(name)
    share = {"field capacity": 0.0, "a quarter above": 0.25, "halfway to saturation": 0.5, "wet top": 0.0}[start]
    soil[rows.WORK_WATER] += share * (soil[rows.SATURATED_WATER] - soil[rows.WORK_WATER])
    if start == "wet top":
        soil[rows.WORK_WATER, 0] = soil[rows.SATURATED_WATER, 0]
    exact = by_ode(soil, [DAY])[0]
    moved = 0.5 * (np.sum(np.abs(exact[:3] - soil[rows.WORK_WATER])) + exact[3])
    error = scheme(soil, DAY, 4 * soil_water.parts_factor(soil, 3, DAY / 4)) - exact
    bound = 0.04 if start == "field capacity" else 0.02
    assert np.max(np.abs(error)) < (0.025 if (name, start) == ("sand", "wet top") else bound) * moved


def test_equal_suction_moves_nothing():
    """Layers of two soils at one suction: no diffusion (T1 of the suctions' rounding)."""
    sand, clay = wep_column("sand", (0.3, 0.5)), wep_column("clay", (0.3, 0.5))
    soil = np.concatenate([sand[:, :1], clay[:, 1:]], axis=1)
    for layer in range(2):
        saturation = retention_saturation(4.0, soil[rows.RETENTION_A, layer], soil[rows.RETENTION_B, layer])
        span = soil[rows.SATURATED_WATER, layer] - soil[rows.RESIDUAL_WATER, layer]
        soil[rows.WORK_WATER, layer] = soil[rows.RESIDUAL_WATER, layer] + saturation * span
    before = soil[rows.WORK_WATER].copy()
    soil_water._diffuse(soil, 2, DAY)
    np.testing.assert_allclose(soil[rows.WORK_WATER], before, rtol=1e-10)


def test_diffusion_levels_the_suctions():
    """From far apart, diffusion alone brings the suctions of two soils together, without gain or loss."""
    sand, clay = wep_column("clay loam", (0.1, 0.1)), wep_column("loam", (0.1, 0.1))
    soil = np.concatenate([sand[:, :1], clay[:, 1:]], axis=1)
    set_content(soil, (0.25, 0.40))
    before = soil[rows.WORK_WATER].sum()
    for _ in range(4000):
        soil_water._diffuse(soil, 2, 3 * HOUR)
    psi = [suction((soil[rows.WORK_WATER, layer] - soil[rows.RESIDUAL_WATER, layer])
                   / (soil[rows.SATURATED_WATER, layer] - soil[rows.RESIDUAL_WATER, layer]),
                   soil[rows.RETENTION_A, layer], soil[rows.RETENTION_B, layer]) for layer in range(2)]
    assert psi[0] == pytest.approx(psi[1], rel=1e-6)
    assert soil[rows.WORK_WATER].sum() == pytest.approx(before, rel=1e-12)


@st.composite
def columns(draw) -> np.ndarray:
    """Any textures in any order at any content from residual to saturated."""
    names = draw(st.lists(st.sampled_from(TEXTURES), min_size=1, max_size=5))
    thickness = [draw(st.floats(0.02, 2.0)) for _ in names]
    soil = np.concatenate([texture_column(name, [depth]) for name, depth in zip(names, thickness, strict=True)], axis=1)
    share = np.array([draw(st.one_of(st.sampled_from([0.0, 1e-12, 1.0]), st.floats(0.0, 1.0))) for _ in names])
    soil[rows.WORK_WATER] = (soil[rows.RESIDUAL_WATER]
                             + share * (soil[rows.SATURATED_WATER] - soil[rows.RESIDUAL_WATER]))
    return soil


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(columns(), st.sampled_from([60.0, HOUR, 6 * HOUR, DAY]), st.sampled_from([0.0, 1e-3, 1.0]),
       st.sampled_from([0.0, 1e-7, FREE]), st.booleans())
def test_mass_and_limits_in_any_column(soil, time, interflow_factor, bedrock, heavy):
    """Each part keeps its mass to rounding and each layer stays between residual and saturated."""
    before = soil[rows.WORK_WATER].sum()
    scale = soil[rows.SATURATED_WATER].sum()
    step = soil_water.heavy_part if heavy else soil_water.redistribute_part
    for _ in range(3):
        part = step(soil, soil.shape[1], time, interflow_factor, bedrock)
        assert min(part) >= 0.0
        assert part.percolation <= bedrock * time
        after = soil[rows.WORK_WATER].sum()
        assert after + sum(part) == pytest.approx(before, rel=0.0, abs=1e-14 * scale)
        before = after
        assert np.all(soil[rows.WORK_WATER] >= soil[rows.RESIDUAL_WATER] - 1e-15)
        assert np.all(soil[rows.WORK_WATER] <= soil[rows.SATURATED_WATER] * (1.0 + 1e-14))


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(columns(), st.floats(0.0, 1e-6), st.floats(0.0, 1e-6), st.sampled_from([HOUR, DAY]))
def test_draws_stop_at_their_limits(soil, evaporation, transpiration, time):
    soil[rows.WORK_TRANSPIRATION] = transpiration
    before = soil[rows.WORK_WATER].copy()
    draw = soil_water.draw_part(soil, soil.shape[1], time, evaporation)
    assert draw.soil_evaporation + draw.transpiration == pytest.approx(np.sum(before - soil[rows.WORK_WATER]),
                                                                       abs=1e-15, rel=1e-12)
    assert 0.0 <= draw.soil_evaporation <= evaporation * time
    assert 0.0 <= draw.transpiration <= transpiration * time * soil.shape[1] * (1.0 + 1e-12)
    assert draw.soil_evaporation <= max(0.0, before[0] - soil[rows.DRY_WATER, 0])
    lower = soil[rows.WORK_WATER, 1:]
    assert np.all(lower >= np.minimum(before[1:], soil[rows.WILTING_WATER, 1:]) - 1e-16)


def test_water_above_saturation_comes_out_on_top():
    """An overfull lowest layer fills those above and the rest exfiltrates."""
    soil = wep_column("clay")
    set_content(soil, (0.47, 0.479, 0.479))
    soil[rows.WORK_WATER, 2] += 0.005
    room = 0.2 * 0.009
    assert soil_water._limit(soil, 3) == pytest.approx(0.005 - room, rel=1e-12)
    np.testing.assert_allclose(content(soil), 0.479, rtol=1e-14)


def test_interflow_stops_at_field_capacity():
    """Only layers above field capacity give interflow, in a heavy part too; (10.1) to first order in a short time."""
    soil = texture_column("loam")
    soil[rows.WORK_WATER] *= 0.95
    soil[rows.WORK_WATER, 1] = soil[rows.SATURATED_WATER, 1]
    factor, time = 0.02, 1.0
    expected = factor * soil[rows.LAYER_THICKNESS, 1] * soil[rows.LAYER_CONDUCTIVITY, 1] * time
    for step in (soil_water.redistribute_part, soil_water.heavy_part):
        assert step(soil.copy(), 3, time, factor, FREE).interflow == pytest.approx(expected, rel=1e-3)
    dry = texture_column("loam")
    assert soil_water.heavy_part(dry.copy(), 3, DAY, factor, FREE).interflow == 0.0
    # K at field capacity is 1 mm a day; a minute drains too little to lower it by more than 1e-4.
    assert soil_water.heavy_part(dry, 3, 60.0, factor, FREE).percolation == pytest.approx(MM / 1440.0, rel=1e-4)


def test_flux_is_the_published_law():
    """QD of eq. (9.3), upward positive, over a short time from a wet to a dry layer of one soil."""
    soil = column((0.2, 0.4), 0.43, 0.078, 0.25, 0.12, 1e-6, (60.0, 2.5, 4.0))
    set_content(soil, (0.20, 0.30))
    saturation = (content(soil) - 0.078) / (0.43 - 0.078)
    psi = [suction(value, 60.0, 2.5) for value in saturation]
    k = 1e-6 * saturation**4.0
    law = (0.2 * k[0] + 0.4 * k[1]) / 0.6 * (psi[0] - psi[1]) / 0.3
    before = soil[rows.WORK_WATER, 0]
    soil_water._diffuse(soil, 2, 0.01)
    assert (soil[rows.WORK_WATER, 0] - before) / 0.01 == pytest.approx(law, rel=1e-4)


def test_the_ground_below_bounds_percolation():
    """Eq. (9.6): what the rock does not take stays in the lowest layer, in both kinds of step."""
    limit = 0.1 * MM_PER_HOUR
    for step in (soil_water.redistribute_part, soil_water.heavy_part):
        soil = set_content(wep_column("loam"), (0.30, 0.30, 0.44))
        free, bound = soil.copy(), soil.copy()
        drained_free = step(free, 3, HOUR, 0.0, FREE)
        drained_bound = step(bound, 3, HOUR, 0.0, limit)
        assert drained_free.percolation > limit * HOUR
        assert drained_bound.percolation == pytest.approx(limit * HOUR, rel=1e-12)
        assert bound[rows.WORK_WATER].sum() == pytest.approx(soil[rows.WORK_WATER].sum() - limit * HOUR, rel=1e-14)
    # A tight rock fills the column from below until it comes out on top.
    soil = set_content(wep_column("loam"), 0.46)
    total = 0.0
    for _ in range(100):
        soil[rows.WORK_WATER, 0] += 1.0 * MM
        total += soil_water.redistribute_part(soil, 3, HOUR, 0.0, 0.0).exfiltration
    np.testing.assert_allclose(content(soil), 0.466, rtol=1e-9)
    assert total == pytest.approx(0.1 - 2.0 * 0.006, rel=1e-9)
