"""Soil water of one tile in one part of a step: draws, drainage, diffusion, limits (docs/theory/soil-water.md)."""

from __future__ import annotations

from typing import NamedTuple

from wepl import rows
from wepl.physics.jit import physics
from wepl.physics.soil_hydraulics import conductivity, suction_and_slope
from wepl.physics.soil_water import drain_layer

# Scratch rows: suction and its slope, conductance to the layer below, elimination.
_SUCTION, _SLOPE, _LINK, _UPPER, _CHANGE = (rows.WORK_1, rows.WORK_2, rows.WORK_3, rows.WORK_4, rows.WORK_5)


class Draw(NamedTuple):
    """What evaporation took from the soil in one part, m."""

    soil_evaporation: float
    transpiration: float


class SoilPart(NamedTuple):
    """What left the soil in one part upward, sideways and downward, m."""

    exfiltration: float
    interflow: float
    percolation: float


@physics
def draw_part(soil, n_layers, dt, soil_evaporation_rate):
    """Take evaporation (m s-1) from the top layer and WORK_TRANSPIRATION (m s-1) from each, within their limits."""
    wanted = soil_evaporation_rate * dt
    evaporation = max(0.0, min(wanted, soil[rows.WORK_WATER, 0] - soil[rows.DRY_WATER, 0]))
    soil[rows.WORK_WATER, 0] -= evaporation
    transpiration = 0.0
    for layer in range(n_layers):
        wanted = soil[rows.WORK_TRANSPIRATION, layer] * dt
        taken = max(0.0, min(wanted, soil[rows.WORK_WATER, layer] - soil[rows.WILTING_WATER, layer]))
        soil[rows.WORK_WATER, layer] -= taken
        transpiration += taken
    return Draw(evaporation, transpiration)


@physics
def _saturation(soil, layer):
    """Effective saturation of a layer, 0 to 1; eq. (7.1)."""
    residual = soil[rows.RESIDUAL_WATER, layer]
    span = soil[rows.SATURATED_WATER, layer] - residual
    return max(0.0, min(1.0, (soil[rows.WORK_WATER, layer] - residual) / span))


@physics
def _set_conductivity(soil, layer):
    """Saturation and conductivity of a layer into its scratch rows."""
    saturation = _saturation(soil, layer)
    soil[rows.WORK_SATURATION, layer] = saturation
    soil[rows.WORK_CONDUCTIVITY, layer] = conductivity(saturation, soil[rows.LAYER_CONDUCTIVITY, layer],
                                                       soil[rows.CONDUCTIVITY_EXPONENT, layer])


@physics
def _drain(soil, layer, dt, interflow_factor):
    """Drain one layer whose conductivity is in scratch; the Drainage has left it."""
    residual = soil[rows.RESIDUAL_WATER, layer]
    gone = drain_layer(soil[rows.WORK_WATER, layer] - residual, soil[rows.FIELD_CAPACITY_WATER, layer] - residual,
                       soil[rows.SATURATED_WATER, layer] - residual, soil[rows.WORK_CONDUCTIVITY, layer],
                       soil[rows.LAYER_CONDUCTIVITY, layer], soil[rows.CONDUCTIVITY_EXPONENT, layer],
                       interflow_factor * soil[rows.LAYER_THICKNESS, layer], dt)
    soil[rows.WORK_WATER, layer] -= gone.down
    soil[rows.WORK_WATER, layer] -= gone.sideways
    return gone


@physics
def parts_factor(soil, n_layers, part_dt):
    """How much finer than ``part_dt`` (s) the parts of a step must be: 1, 2 or 4.

    The scheme's error goes with the share by which a layer's conductivity changes in a part, n K dt/(w - w_r); so many
    parts keep the drained depth within 2 % for all textures at all contents.
    """
    fastest = 0.0
    for layer in range(n_layers):
        _set_conductivity(soil, layer)
        water = soil[rows.WORK_WATER, layer] - soil[rows.RESIDUAL_WATER, layer]
        change = soil[rows.CONDUCTIVITY_EXPONENT, layer] * soil[rows.WORK_CONDUCTIVITY, layer] * part_dt
        if water > 0.0 and change > fastest * water:
            fastest = change / water
    if fastest <= 0.1:
        return 1
    return 2 if fastest <= 0.4 else 4


@physics
def _percolate(soil, n_layers, drained, limit):
    """What of the lowest layer's drainage the ground below takes, at most ``limit`` m, the rest stays; eq. (9.6)."""
    percolation = min(drained, limit)
    soil[rows.WORK_WATER, n_layers - 1] += drained - percolation
    return percolation


@physics
def _diffuse(soil, n_layers, dt):
    """Suction diffusion between layers by one implicit solve; eqs. (9.3) and (9.5).

    Coefficients are those of the present state. The matrix is an M-matrix with unit column sums, so the solve neither
    makes nor loses water; a flux is cut to what its source holds above the residual and its target has room for.
    """
    for layer in range(n_layers):
        _set_conductivity(soil, layer)
        span = soil[rows.SATURATED_WATER, layer] - soil[rows.RESIDUAL_WATER, layer]
        psi = suction_and_slope(soil[rows.WORK_SATURATION, layer], soil[rows.RETENTION_A, layer],
                                soil[rows.RETENTION_B, layer])
        soil[_SUCTION, layer] = psi.head
        soil[_SLOPE, layer] = -psi.slope / span
    for layer in range(n_layers - 1):
        d1 = soil[rows.LAYER_THICKNESS, layer]
        d2 = soil[rows.LAYER_THICKNESS, layer + 1]
        mean = (d1 * soil[rows.WORK_CONDUCTIVITY, layer] + d2 * soil[rows.WORK_CONDUCTIVITY, layer + 1]) / (d1 + d2)
        soil[_LINK, layer] = 2.0 * dt * mean / (d1 + d2)
    soil[_LINK, n_layers - 1] = 0.0
    above, flux_above, upper, change = 0.0, 0.0, 0.0, 0.0
    for layer in range(n_layers):
        link = soil[_LINK, layer]
        flux = 0.0
        if layer < n_layers - 1:
            flux = link * (soil[_SUCTION, layer] - soil[_SUCTION, layer + 1])
        slope = soil[_SLOPE, layer]
        below = -above * soil[_SLOPE, layer - 1] if layer > 0 else 0.0
        pivot = 1.0 + (link + above) * slope - below * upper
        upper = -link * soil[_SLOPE, layer + 1] / pivot if layer < n_layers - 1 else 0.0
        change = (flux - flux_above - below * change) / pivot
        soil[_UPPER, layer] = upper
        soil[_CHANGE, layer] = change
        above, flux_above = link, flux
    for layer in range(n_layers - 2, -1, -1):
        soil[_CHANGE, layer] -= soil[_UPPER, layer] * soil[_CHANGE, layer + 1]
    _move(soil, n_layers)


@physics
def _move(soil, n_layers):
    """Carry out the changes in _CHANGE as fluxes between neighbours (upward positive), each within its limits."""
    flux = 0.0
    for layer in range(n_layers - 1):
        # What a layer gains comes through its lower face, less what it passes on through its upper one.
        flux += soil[_CHANGE, layer]
        upper, lower = soil[rows.WORK_WATER, layer], soil[rows.WORK_WATER, layer + 1]
        if flux > 0.0:
            amount = min(flux, max(0.0, lower - soil[rows.RESIDUAL_WATER, layer + 1]))
            amount = min(amount, max(0.0, soil[rows.SATURATED_WATER, layer] - upper))
        else:
            amount = min(-flux, max(0.0, upper - soil[rows.RESIDUAL_WATER, layer]))
            amount = -min(amount, max(0.0, soil[rows.SATURATED_WATER, layer + 1] - lower))
        soil[rows.WORK_WATER, layer] += amount
        soil[rows.WORK_WATER, layer + 1] -= amount


@physics
def _limit(soil, n_layers):
    """Water above saturation goes up, layer by layer; the depth that comes out at the surface, m."""
    excess = 0.0
    for layer in range(n_layers - 1, -1, -1):
        soil[rows.WORK_WATER, layer] += excess
        excess = max(0.0, soil[rows.WORK_WATER, layer] - soil[rows.SATURATED_WATER, layer])
        soil[rows.WORK_WATER, layer] -= excess
    return excess


@physics
def redistribute_part(soil, n_layers, dt, interflow_factor, bedrock_conductivity):
    """Drainage from the top downward with interflow, diffusion, limits, for ``dt`` s; a :class:`SoilPart`.

    One part of eqs. (9.1) and (9.2); ``interflow_factor`` m-1, ``bedrock_conductivity`` m s-1.
    """
    interflow, passed = 0.0, 0.0
    for layer in range(n_layers):
        soil[rows.WORK_WATER, layer] += passed
        _set_conductivity(soil, layer)
        gone = _drain(soil, layer, dt, interflow_factor)
        interflow += gone.sideways
        passed = gone.down
    percolation = _percolate(soil, n_layers, passed, bedrock_conductivity * dt)
    if n_layers > 1:
        _diffuse(soil, n_layers, dt)
    return SoilPart(_limit(soil, n_layers), interflow, percolation)


@physics
def heavy_part(soil, n_layers, dt, interflow_factor, bedrock_conductivity):
    """Interflow of every layer and percolation from the lowest, which go on in a Green-Ampt step; a SoilPart."""
    interflow, percolation = 0.0, 0.0
    for layer in range(n_layers):
        lowest = layer == n_layers - 1
        if lowest or (interflow_factor > 0.0
                      and soil[rows.WORK_WATER, layer] > soil[rows.FIELD_CAPACITY_WATER, layer]):
            _set_conductivity(soil, layer)
            gone = _drain(soil, layer, dt, interflow_factor)
            interflow += gone.sideways
            if lowest:
                percolation = _percolate(soil, n_layers, gone.down, bedrock_conductivity * dt)
            else:
                soil[rows.WORK_WATER, layer] += gone.down
    return SoilPart(0.0, interflow, percolation)
