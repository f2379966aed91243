"""Transition store and unconfined aquifer (docs/theory/groundwater.md): closed forms, and an ODE across the regimes.

Numbers: numbers.md section 9.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from wepl.physics.groundwater import aquifer_step, deep_loss_step, transition_step
from wepl.validation.columns import DAY, MM

AREA = 2.5e6  # m2
YIELD = 0.1


@pytest.mark.parametrize(("days", "expected"), [(1, 9.238699), (5, 6.852245), (10, 4.943036), (30, 2.398297)])
def test_linear_store(days, expected):
    """k 0.1 per day, inflow 2, Q0 10: Q = 2 + 8 exp(-k t), through the transition store and through the aquifer."""
    rate, inflow, first = 0.1 / DAY, 2.0, 10.0
    time = days * DAY
    exact = inflow + (first - inflow) * math.exp(-rate * time)
    assert exact == pytest.approx(expected, abs=5.1e-7)
    stored = transition_step(first / rate, inflow * time, 1.0 / rate, time)
    assert stored * rate == pytest.approx(exact, rel=1e-10)
    # The aquifer with yield times area 1 m2 and its river bed as datum: discharge is conductance times head.
    aquifer = aquifer_step(first / rate, inflow * time, 0.0, rate, 1.0, 1.0, time)
    assert aquifer.head * rate == pytest.approx(exact, rel=1e-10)
    assert aquifer.discharge == pytest.approx(inflow * time + (first - exact) / rate, rel=1e-10)


@pytest.mark.parametrize(("days", "head"), [(1, 1.970298), (10, 1.728096), (50, 1.051819), (200, 0.527473)])
@pytest.mark.parametrize("river_depth", [0.0, 1.3])
def test_store_with_river_exchange(days, head, river_depth):
    """S dh/dt = R - lam S h with lam 0.02 per day, R 1 mm/d, S 0.1, h0 2 m above the river's level."""
    conductance = 0.02 / DAY * YIELD * AREA
    result = aquifer_step(2.0 + river_depth, MM * AREA * days, river_depth, conductance, 1.0, YIELD * AREA, days * DAY)
    assert result.head - river_depth == pytest.approx(head, abs=5.1e-7)
    exact = 0.5 + 1.5 * math.exp(-0.02 * days)
    assert result.head - river_depth == pytest.approx(exact, rel=1e-10)
    # Mass: recharge - discharge is what the head holds.
    assert result.discharge == pytest.approx(MM * AREA * days - YIELD * AREA * (exact - 2.0), rel=1e-10)


def test_exchange_is_continuous_where_the_regimes_meet():
    """At h = Hr - db eqs. (11.3) and (11.4) give the same flow, -kb Ab; above it, it falls in proportion."""
    depth, thickness, conductance, time = 2.0, 0.8, 0.05, 1.0
    meeting = depth - thickness

    def flow(head: float) -> float:
        return aquifer_step(head, 0.0, depth, conductance, thickness, YIELD * AREA, time).discharge / time

    # One second changes the head by 1.6e-7 m, so flows are those of the start to 1e-6.
    assert flow(meeting) == pytest.approx(-conductance * thickness, rel=1e-6)
    assert flow(meeting - 1e-9) == pytest.approx(flow(meeting + 1e-9), rel=1e-6)
    assert flow(meeting - 3.0) == pytest.approx(-conductance * thickness, rel=1e-6)
    assert flow(depth - 0.25 * thickness) == pytest.approx(-0.25 * conductance * thickness, rel=1e-6)
    assert flow(depth) == pytest.approx(0.0, abs=1e-12)
    assert flow(depth + 0.5) == pytest.approx(0.5 * conductance, rel=1e-6)


def by_ode(head: float, recharge: float, depth: float, conductance: float, thickness: float, time: float) -> float:
    def rise(_time, state):
        exchange = conductance * max(-thickness, state[0] - depth)
        return [(recharge / time - exchange) / (YIELD * AREA)]

    def meeting(_time, state):
        return state[0] - (depth - thickness)

    meeting.terminal = True
    options = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}
    solution = solve_ivp(rise, (0.0, time), [head], events=meeting if head < depth - thickness else None, **options)
    if solution.t[-1] < time:
        solution = solve_ivp(rise, (solution.t[-1], time), solution.y[:, -1], **options)
    return float(solution.y[0, -1])


@pytest.mark.parametrize("days", [0.5, 5.0, 40.0, 400.0])
@pytest.mark.parametrize("recharge", [0.0, 2.0 * MM])
def test_the_moment_of_meeting_the_river_is_exact(days, recharge):
    """From 3 m below the reach of the river, against solve_ivp with the meeting as an event."""
    conductance, thickness, depth = 0.02 / DAY * YIELD * AREA, 1.0, 1.5
    volume = recharge * AREA * days
    result = aquifer_step(-2.5, volume, depth, conductance, thickness, YIELD * AREA, days * DAY)
    expected = by_ode(-2.5, volume, depth, conductance, thickness, days * DAY)
    assert result.head == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert result.discharge == pytest.approx(volume - YIELD * AREA * (result.head + 2.5), rel=1e-12)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.floats(-20.0, 20.0), st.floats(0.0, 0.02), st.floats(0.0, 5.0), st.floats(1e-10, 1e-5), st.floats(0.05, 5.0),
       st.integers(2, 12))
def test_one_step_equals_many(head, recharge, depth, rate, thickness, steps):
    """The step is exact in each regime, so its length does not matter (T1 of the heads; 1e-12)."""
    conductance = rate * YIELD * AREA
    whole = aquifer_step(head, recharge * AREA * steps, depth, conductance, thickness, YIELD * AREA, steps * DAY)
    level, discharge = head, 0.0
    for _ in range(steps):
        part = aquifer_step(level, recharge * AREA, depth, conductance, thickness, YIELD * AREA, DAY)
        level = part.head
        discharge += part.discharge
    scale = abs(head) + depth + thickness + recharge * steps / YIELD
    assert level == pytest.approx(whole.head, rel=0.0, abs=1e-12 * scale)
    assert discharge == pytest.approx(whole.discharge, rel=0.0, abs=1e-12 * scale * YIELD * AREA)
    # Nothing is drawn above the river's level that was not there, and nothing sinks out of its reach.
    assert level >= min(head, depth) - 1e-12 * scale


def test_ten_days_at_once():
    conductance = 0.3 / DAY * YIELD * AREA
    whole = aquifer_step(4.0, 10 * MM * AREA, 1.0, conductance, 1.0, YIELD * AREA, 10 * DAY)
    level = 4.0
    for _ in range(10):
        level = aquifer_step(level, MM * AREA, 1.0, conductance, 1.0, YIELD * AREA, DAY).head
    assert level == pytest.approx(whole.head, rel=1e-12)


def test_no_river_no_exchange():
    result = aquifer_step(3.0, 100.0, 1.0, 0.0, 1.0, 50.0, DAY)
    assert result.head == pytest.approx(5.0, rel=1e-14)
    assert result.discharge == pytest.approx(0.0, abs=1e-12)
    below = aquifer_step(-3.0, 0.0, 1.0, 0.0, 1.0, 50.0, DAY)
    assert below == (-3.0, 0.0)


@pytest.mark.parametrize("days", [0.25, 1.0, 30.0])
def test_transition_store_is_exact(days):
    """Eq. (11.1): S = S0 exp(-t/tau) + p tau (1 - exp(-t/tau)); ten steps are one."""
    delay, start, rate = 10 * DAY, 0.03, 2.0 * MM / DAY
    time = days * DAY
    exact = start * math.exp(-time / delay) + rate * delay * (1.0 - math.exp(-time / delay))
    assert transition_step(start, rate * time, delay, time) == pytest.approx(exact, rel=1e-12)
    stored = start
    for _ in range(10):
        stored = transition_step(stored, rate * time / 10, delay, time / 10)
    assert stored == pytest.approx(exact, rel=1e-12)


def test_transition_store_at_its_ends():
    """Without delay all passes at once; with an endless one all stays; in balance inflow passes unchanged."""
    assert transition_step(0.02, 0.01, 0.0, DAY) == 0.0
    assert transition_step(0.02, 0.01, 1e20, DAY) == pytest.approx(0.03, rel=1e-10)
    assert transition_step(0.02, 0.002, 10 * DAY, DAY) == pytest.approx(0.02, rel=1e-12)


def test_deep_loss():
    """Exponential above the river bed, nothing below it."""
    assert deep_loss_step(2.0, 0.01 / DAY, 5 * DAY) == pytest.approx(2.0 * math.exp(-0.05), rel=1e-12)
    assert deep_loss_step(-2.0, 0.01 / DAY, 5 * DAY) == -2.0
    assert deep_loss_step(2.0, 0.0, DAY) == 2.0
