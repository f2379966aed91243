"""Soil water (docs/theory/soil-water.md, interflow.md): closed drainage, the three-layer system, interflow by ODE."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

from wepl import rows
from wepl.physics.jit import physics
from wepl.physics.soil_hydraulics import suction
from wepl.physics.soil_water import drain_layer, drained
from wepl.stages.soil_water import redistribute_part
from wepl.validation.columns import HOUR, MM, MM_PER_HOUR, WEP_SOILS, set_content, wep_column
from wepl.validation.comparison import Case, Group, absolute, relative

PROCESS = "Soil water"
FREE = 1.0  # m s-1: ground below that takes all that drains
# The published WEP loam in 200, 400 and 1400 mm from contents 0.42, 0.30, 0.28; hours: contents and drained mm, by
# gravity only and with diffusion.
THREE_LAYERS = {
    1: ((0.364644, 0.318434, 0.281073, 2.1954), (0.343003, 0.326032, 0.281982, 2.2114)),
    6: ((0.271920, 0.311724, 0.287772, 14.0452), (0.283015, 0.298757, 0.289572, 14.4934)),
    24: ((0.201230, 0.250731, 0.283141, 59.0640), (0.239375, 0.253243, 0.277858, 57.8270)),
    72: ((0.159523, 0.197554, 0.247798, 138.1569), (0.209877, 0.220258, 0.241799, 127.4026)),
    240: ((0.127346, 0.153352, 0.195311, 235.7550), (0.175241, 0.181238, 0.194063, 216.7685)),
}
# Above the residual, m: field capacity and saturation of a layer; Ks, m s-1; exponent.
LAYER = (0.045, 0.08, 5e-6, 4.5)


def start() -> np.ndarray:
    """The column of the three-layer system at its start."""
    return set_content(wep_column("loam"), (0.42, 0.30, 0.28))


@physics
def _redistribute(soil, n_layers, part, parts):
    """Drained depth, m, of ``parts`` parts of ``part`` s with diffusion."""
    gone = 0.0
    for _ in range(parts):
        gone += redistribute_part(soil, n_layers, part, 0.0, FREE).percolation
    return gone


@physics
def _gravity(above, span, saturated, exponent, part, parts):
    """The same without diffusion: ``above`` (m, above the residual) of layers that drain into one another."""
    gone = 0.0
    for _ in range(parts):
        passed = 0.0
        for layer in range(above.size):
            above[layer] += passed
            k = saturated[layer] * (above[layer] / span[layer]) ** exponent[layer]
            passed = drained(above[layer], k, exponent[layer], part)
            above[layer] -= passed
        gone += passed
    return gone


def scheme(soil: np.ndarray, time: float, parts: int) -> np.ndarray:
    """Water of the layers and drained depth (m) after ``time`` s in even parts; the column is left as it was."""
    soil = soil.copy()
    gone = _redistribute(soil, soil.shape[1], time / parts, parts)
    return np.append(soil[rows.WORK_WATER], gone)


def gravity(soil: np.ndarray, time: float, parts: int) -> np.ndarray:
    """The scheme without diffusion: the layers' closed forms from the top, one into the next."""
    residual = soil[rows.RESIDUAL_WATER]
    above = soil[rows.WORK_WATER] - residual
    gone = _gravity(above, soil[rows.SATURATED_WATER] - residual, soil[rows.LAYER_CONDUCTIVITY],
                    soil[rows.CONDUCTIVITY_EXPONENT], time / parts, parts)
    return np.append(above + residual, gone)


def by_ode(soil: np.ndarray, times: list[float], diffusion: bool = True) -> np.ndarray:
    """Water of the layers and drained depth (m) at ``times`` by LSODA: eqs. (9.1) to (9.3) without supply and draws."""
    d, residual = soil[rows.LAYER_THICKNESS], soil[rows.RESIDUAL_WATER]
    span = soil[rows.SATURATED_WATER] - residual
    n_layers = d.size

    def change(_time: float, state: np.ndarray) -> np.ndarray:
        saturation = np.clip((state[:n_layers] - residual) / span, 0.0, 1.0)
        k = soil[rows.LAYER_CONDUCTIVITY] * saturation ** soil[rows.CONDUCTIVITY_EXPONENT]
        down = np.concatenate([[0.0], k])
        if diffusion:
            psi = np.array([suction(s, a, b) for s, a, b in zip(saturation, soil[rows.RETENTION_A],
                                                                soil[rows.RETENTION_B], strict=True)])
            mean = (d[:-1] * k[:-1] + d[1:] * k[1:]) / (d[:-1] + d[1:])
            down[1:-1] -= mean * (psi[:-1] - psi[1:]) / ((d[:-1] + d[1:]) / 2.0)
        return np.concatenate([down[:-1] - down[1:], down[-1:]])

    solution = solve_ivp(change, (0.0, times[-1]), np.append(soil[rows.WORK_WATER], 0.0), method="LSODA", rtol=1e-10,
                         atol=1e-13, t_eval=times)
    if not solution.success:
        raise RuntimeError(solution.message)
    return solution.y.T


@cache
def _state(hours: int, per_hour: int, diffusion: bool) -> tuple[float, ...]:
    """Contents of the three layers and drained mm."""
    soil = start()
    state = (scheme if diffusion else gravity)(soil, hours * HOUR, hours * per_hour)
    return (*(state[:3] / soil[rows.LAYER_THICKNESS]), state[3] / MM)


def three_layers(hours: int, per_hour: int, diffusion: bool, place: int) -> float:
    """A content (place 0 to 2) or the drained depth (3, mm) in parts of an hour or less."""
    return _state(hours, per_hour, diffusion)[place]


def _three_layers(per_hour: int, drainage: bool) -> tuple[Case, ...]:
    part = "hourly parts" if per_hour == 1 else f"parts of {3600 / per_hour:g} s"
    return tuple(
        Case(f"{'drained' if place == 3 else f'content {place + 1}'} after {hours} h, "
             f"{'with diffusion' if diffusion else 'gravity only'}, {part}",
             (hours, per_hour, bool(diffusion), place), values[place])
        for hours, both in THREE_LAYERS.items() for diffusion, values in enumerate(both) for place in range(4)
        if (place == 3) == drainage and (per_hour > 1 or hours >= 24))


def free_drainage(name: str, hours: float) -> float:
    """Saturation of 200 mm of a published WEP soil that drains from saturation."""
    saturated, residual, k, _, _, n = WEP_SOILS[name]
    water = 0.2 * (saturated - residual)
    return 1.0 - drained(water, k * MM_PER_HOUR, n, hours * HOUR) / water


def sideways(side_factor: float, hours: int, parts: int) -> float:
    """Interflow, mm, of a draining layer that starts at 78 mm."""
    threshold, capacity, saturated, exponent = LAYER
    water, gone = 0.078, 0.0
    for _ in range(hours * parts):
        k = saturated * (water / capacity) ** exponent
        part = drain_layer(water, threshold, capacity, k, saturated, exponent, side_factor, HOUR / parts)
        gone += part.sideways
        water -= part.down + part.sideways
    return gone / MM


def sideways_by_ode(side_factor: float, hours: int, _parts: int) -> float:
    """The same by solve_ivp, with field capacity as an event: K(W) down, eq. (10.1) sideways."""
    threshold, capacity, saturated, exponent = LAYER

    def change(_time: float, state: np.ndarray) -> list[float]:
        perched = (state[0] - threshold) / (capacity - threshold)
        lateral = side_factor * saturated * perched
        return [-saturated * (state[0] / capacity) ** exponent - lateral, lateral]

    def field_capacity(_time: float, state: np.ndarray) -> float:
        return state[0] - threshold

    field_capacity.terminal = True  # type: ignore[attr-defined]
    solution = solve_ivp(change, (0.0, hours * HOUR), [0.078, 0.0], events=field_capacity, rtol=1e-12, atol=1e-16,
                         method="DOP853")
    return float(solution.y[1, -1]) / MM


ODE = "three-layer system, accurate ODE"
GROUPS = (
    Group(PROCESS, "1", "eq. (9.4), evaluated elsewhere", absolute(5.1e-7), free_drainage, tuple(
        Case(f"{name}: saturation after {hours} h of free drainage", (name, hours), expected)
        for name, values in (("loam", (0.801926, 0.530883, 0.346773, 0.161854)),
                             ("clay", (0.986526, 0.929241, 0.799986, 0.476379)),
                             ("sand", (0.561796, 0.291754, 0.165407, 0.062943)))
        for hours, expected in zip((1, 6, 24, 240), values, strict=True))),
    # First order in the length of the parts: hourly ones may be off by 0.003 in content and 2 % of the drained depth, a
    # thousandth of them by a thousandth of what hourly ones are off in the fast first hours, 0.01 and 5 %.
    Group(PROCESS, "1", ODE, absolute(3e-3), three_layers, _three_layers(1, False)),
    Group(PROCESS, "mm", ODE, relative(0.02), three_layers, _three_layers(1, True)),
    Group(PROCESS, "1", ODE, absolute(1.2e-5), three_layers, _three_layers(1000, False)),
    Group(PROCESS, "mm", ODE, relative(2e-4), three_layers, _three_layers(1000, True)),
    # Second order: sixteenths of an hour are 256 times closer than hours.
    Group(PROCESS, "mm", "ODE solver (DOP853, 1e-12)", relative(0.01), sideways, tuple(
        Case(f"interflow in {hours} h, factor {factor:g}, parts of an hour", (factor, hours, 1))
        for factor in (0.004, 0.01, 0.1, 0.3) for hours in (1, 6, 60)), reference=sideways_by_ode, digits=5),
    Group(PROCESS, "mm", "ODE solver (DOP853, 1e-12)", relative(2e-5), sideways, tuple(
        Case(f"interflow in {hours} h, factor {factor:g}, parts of 225 s", (factor, hours, 16))
        for factor in (0.004, 0.01, 0.1, 0.3) for hours in (1, 6, 60)), reference=sideways_by_ode, digits=5),
)
