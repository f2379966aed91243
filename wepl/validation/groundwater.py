"""Groundwater (docs/theory/groundwater.md): linear stores, river exchange, and an ODE across the regimes."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

from wepl.physics.groundwater import aquifer_step, deep_loss_step, transition_step
from wepl.validation.columns import DAY, MM
from wepl.validation.comparison import Case, Group, absolute, relative, table

PROCESS = "Groundwater"
AREA = 2.5e6  # m2
YIELD = 0.1
CONDUCTANCE = 0.02 / DAY * YIELD * AREA  # m2 s-1: a recession of 0.02 per day


def transition_store(days: float) -> float:
    """Outflow, from 10 with an inflow of 2 and 0.1 per day, of the transition store."""
    rate = 0.1 / DAY
    return transition_step(10.0 / rate, 2.0 * days * DAY, 1.0 / rate, days * DAY) * rate


def aquifer_store(days: float) -> float:
    """The same of the aquifer over 1 m2 of yield, its river dry."""
    rate = 0.1 / DAY
    return aquifer_step(10.0 / rate, 2.0 * days * DAY, 0.0, rate, 1.0, 1.0, days * DAY).head * rate


def exchange(days: float, river_depth: float) -> float:
    """Head above the river's level, m: from 2 m, recharge 1 mm/d."""
    return aquifer_step(2.0 + river_depth, MM * AREA * days, river_depth, CONDUCTANCE, 1.0, YIELD * AREA,
                        days * DAY).head - river_depth


def flow_at(head: float) -> float:
    """Discharge to the river over a second, relative to kb Ab; river 2 m deep, bed 0.8 m thick."""
    conductance, thickness = 0.05, 0.8
    return aquifer_step(head, 0.0, 2.0, conductance, thickness, YIELD * AREA, 1.0).discharge / (conductance * thickness)


def rising(days: float, recharge: float) -> float:
    """Head, m, from 2.5 m below a river bed 1 m thick, river 1.5 m deep, recharge in m/d."""
    return aquifer_step(-2.5, recharge * AREA * days, 1.5, CONDUCTANCE, 1.0, YIELD * AREA, days * DAY).head


def rising_by_ode(days: float, recharge: float) -> float:
    """The same by an ODE solver, with the meeting of the river as an event."""
    def rise(_time: float, state: np.ndarray) -> list[float]:
        return [(recharge * AREA / DAY - CONDUCTANCE * max(-1.0, state[0] - 1.5)) / (YIELD * AREA)]

    def meeting(_time: float, state: np.ndarray) -> float:
        return state[0] - 0.5

    meeting.terminal = True  # type: ignore[attr-defined]
    time = days * DAY
    first = solve_ivp(rise, (0.0, time), [-2.5], events=meeting, rtol=1e-12, atol=1e-13, method="DOP853")
    if first.t[-1] < time:
        first = solve_ivp(rise, (first.t[-1], time), first.y[:, -1], rtol=1e-12, atol=1e-13, method="DOP853")
    return float(first.y[0, -1])


LINEAR = ((1, 9.238699), (5, 6.852245), (10, 4.943036), (30, 2.398297))
GROUPS = (
    Group(PROCESS, "1", "2 + 8 exp(-k t), evaluated", absolute(5.1e-7), transition_store, table(
        "transition store: outflow after {} d", LINEAR)),
    Group(PROCESS, "1", "2 + 8 exp(-k t), evaluated", absolute(5.1e-7), aquifer_store, table(
        "aquifer: outflow after {} d", LINEAR)),
    Group(PROCESS, "m", "0.5 + 1.5 exp(-0.02 t), evaluated", absolute(5.1e-7), exchange, tuple(
        Case(f"head above a river {depth} m deep after {days} d", (days, depth), head)
        for depth in (0.0, 1.3)
        for days, head in ((1, 1.970298), (10, 1.728096), (50, 1.051819), (200, 0.527473)))),
    # In a second the head moves by 1.6e-7 m.
    Group(PROCESS, "1", "eqs. (11.3) and (11.4)", absolute(1e-6), flow_at, (
        Case("exchange over kb Ab, head level with the river", (2.0,), 0.0),
        Case("exchange over kb Ab, head 0.5 m above it", (2.5,), 0.625),
        Case("exchange over kb Ab, head a quarter of the bed below it", (1.8,), -0.25),
        Case("exchange over kb Ab, where the regimes meet", (1.2,), -1.0),
        Case("exchange over kb Ab, far below", (-1.8,), -1.0))),
    Group(PROCESS, "m", "ODE solver (DOP853, 1e-12) with events", absolute(1e-8), rising, tuple(
        Case(f"head after {days:g} d from below the river, recharge {1e3 * recharge:g} mm/d", (days, recharge))
        for days in (0.5, 5.0, 40.0, 400.0) for recharge in (0.0, 2.0 * MM)), reference=rising_by_ode, digits=6,
        floor=1e-9),
    Group(PROCESS, "m", "exp(-k t)", relative(1e-10),
          lambda head: deep_loss_step(head, 0.01 / DAY, 5.0 * DAY), (
              Case("head after 5 d of deep loss, 0.01 per day", (2.0,), 2.0 * math.exp(-0.05)),
              Case("head below the bed, no deep loss", (-2.0,), -2.0))),
)
