"""Multi-layer Green-Ampt infiltration of one tile (docs/theory/infiltration.md, eqs. 8.1 to 8.7)."""

from __future__ import annotations

from typing import NamedTuple

from wepl import rows
from wepl.physics import green_ampt
from wepl.physics.jit import physics


class GreenAmptPart(NamedTuple):
    """Infiltration of one part (m), since the event began (m), and whether every iteration converged."""

    infiltrated: float
    event_infiltration: float
    converged: bool


class Front(NamedTuple):
    """Where the wetting front stands: layer, infiltration at its top and bottom (m), k (m s-1), A and B (m)."""

    layer: int
    top: float
    bottom: float
    conductivity: float
    a: float
    b: float


class Advance(NamedTuple):
    """A front after a stretch in one layer: infiltration (m), time used (s), ponding, convergence."""

    infiltration: float
    time: float
    ponded: bool
    converged: bool


@physics
def begin_event(soil, n_layers):
    """Keep each layer's moisture deficit at the start of an event in WORK_DEFICIT."""
    for layer in range(n_layers):
        room = soil[rows.SATURATED_WATER, layer] - soil[rows.WORK_WATER, layer]
        soil[rows.WORK_DEFICIT, layer] = max(0.0, room / soil[rows.LAYER_THICKNESS, layer])


@physics
def free_room(soil, n_layers):
    """Water that the profile can still take, m."""
    room = 0.0
    for layer in range(n_layers):
        room += max(0.0, soil[rows.SATURATED_WATER, layer] - soil[rows.WORK_WATER, layer])
    return room


@physics
def fill_from_top(soil, n_layers, depth):
    """Fill layers to saturation from the top with ``depth`` m; the depth that found no room."""
    for layer in range(n_layers):
        taken = min(depth, max(0.0, soil[rows.SATURATED_WATER, layer] - soil[rows.WORK_WATER, layer]))
        soil[rows.WORK_WATER, layer] += taken
        depth -= taken
    return depth


@physics
def saturated_profile_rate(soil, n_layers):
    """Rate that a saturated profile passes, m s-1: its smallest conductivity."""
    rate = soil[rows.LAYER_CONDUCTIVITY, 0]
    for layer in range(1, n_layers):
        rate = min(rate, soil[rows.LAYER_CONDUCTIVITY, layer])
    return rate


@physics
def find_front(soil, n_layers, infiltration):
    """The layer that ``infiltration`` m of the event have reached; layer ``n_layers`` when all are full.

    Layers without deficit are passed and keep their resistance; eqs. (8.1) and (8.2).
    """
    depth, resistance, filled = 0.0, 0.0, 0.0
    for layer in range(n_layers):
        thickness = soil[rows.LAYER_THICKNESS, layer]
        deficit = soil[rows.WORK_DEFICIT, layer]
        k = soil[rows.LAYER_CONDUCTIVITY, layer]
        bottom = filled + thickness * deficit
        if infiltration < bottom:
            a = (depth - resistance * k + soil[rows.FRONT_SUCTION, layer]) * deficit
            b = resistance * k * deficit - filled
            return Front(layer, filled, bottom, k, a, b)
        depth += thickness
        resistance += thickness / k
        filled = bottom
    return Front(n_layers, filled, filled, 0.0, 0.0, 0.0)


@physics
def _advance_in_layer(front, infiltration, rate, time, ponded):
    """Go on in one layer until the time is used, ponding begins or the layer is full."""
    if front.a <= 0.0:
        # A lower layer more permeable than those above: its capacity on entry is the most that they let through.
        steady = min(rate, green_ampt.capacity(front.top, front.conductivity, front.a, front.b))
        return _advance_at(front, infiltration, steady, time)
    if not ponded:
        if rate <= front.conductivity:
            return _advance_at(front, infiltration, rate, time)
        start = green_ampt.ponding_infiltration(rate, front.conductivity, front.a, front.b)
        if start > infiltration:
            reached = min(start, front.bottom)
            needed = (reached - infiltration) / rate
            if needed > time:
                return Advance(infiltration + rate * time, time, False, True)
            return Advance(reached, needed, start <= front.bottom, True)
    to_bottom = green_ampt.ponded_time(infiltration, front.bottom, front.conductivity, front.a, front.b)
    if to_bottom <= time:
        return Advance(front.bottom, to_bottom, False, True)
    end = green_ampt.ponded_infiltration(infiltration, time, front.conductivity, front.a, front.b)
    most = min(front.bottom, infiltration + rate * time)
    return Advance(max(infiltration, min(end.infiltration, most)), time, True, end.converged)


@physics
def _advance_at(front, infiltration, rate, time):
    """Go on at a steady rate within one layer."""
    if infiltration + rate * time < front.bottom:
        return Advance(infiltration + rate * time, time, False, True)
    return Advance(front.bottom, min(time, (front.bottom - infiltration) / rate), False, True)


@physics
def green_ampt_part(soil, n_layers, event_infiltration, rate, dt):
    """Infiltration of one part under a steady supply.

    Parameters
    ----------
    soil : array
        Scratch of the column with the event's deficits in WORK_DEFICIT.
    n_layers : int
    event_infiltration : float
        Infiltrated since the event began, m.
    rate : float
        Supply, m s-1: rain and what stands on the ground, over the part.
    dt : float
        Length of the part, s.

    Returns
    -------
    GreenAmptPart
        Once the front has left the profile, the smallest conductivity passes.
    """
    infiltration = event_infiltration
    left = dt
    ponded, converged = False, True
    if rate <= 0.0:
        return GreenAmptPart(0.0, infiltration, True)
    # Each round uses up the time, begins ponding or leaves a layer.
    for _ in range(2 * n_layers + 2):
        if left <= 0.0:
            break
        front = find_front(soil, n_layers, infiltration)
        if front.layer == n_layers:
            infiltration += min(rate, saturated_profile_rate(soil, n_layers)) * left
            left = 0.0
            break
        step = _advance_in_layer(front, infiltration, rate, left, ponded)
        infiltration = step.infiltration
        left -= step.time
        ponded = step.ponded
        converged = converged and step.converged
    return GreenAmptPart(infiltration - event_infiltration, infiltration, converged and left <= 1e-9 * dt)
