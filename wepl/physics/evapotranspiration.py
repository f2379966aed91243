"""Evaporation, transpiration and their resistances (docs/theory/evapotranspiration.md, eqs. 6.1 to 6.11)."""

from __future__ import annotations

import math

from wepl.physics.constants import VON_KARMAN, WATER_DENSITY
from wepl.physics.jit import physics


@physics
def _supply_of_energy(available, slope, heat_capacity, deficit, resistance):
    """Numerator of Penman's equation, Pa K-1 W m-2."""
    return slope * available + heat_capacity * deficit / resistance


@physics
def penman(available, slope, gamma, heat, heat_capacity, deficit, resistance):
    """Evaporation of a wet surface, m s-1 (negative: condensation); eq. (6.1), Penman.

    Parameters
    ----------
    available : float
        Net radiation less ground heat, W m-2.
    slope, gamma : float
        Slope of the saturation curve and psychrometric constant, Pa K-1.
    heat : float
        Heat of vaporisation, J kg-1.
    heat_capacity : float
        Volumetric heat capacity of air, J m-3 K-1.
    deficit : float
        Vapour pressure deficit, Pa.
    resistance : float
        Aerodynamic resistance, s m-1.
    """
    energy = _supply_of_energy(available, slope, heat_capacity, deficit, resistance)
    return energy / (WATER_DENSITY * heat * (slope + gamma))


@physics
def penman_monteith(available, slope, gamma, heat, heat_capacity, deficit, resistance, canopy_resistance):
    """Transpiration of a fully covering dry canopy, m s-1; eq. (6.2), Penman-Monteith.

    Arguments as :func:`penman`, with the canopy's resistance in s m-1.
    """
    energy = _supply_of_energy(available, slope, heat_capacity, deficit, resistance)
    return energy / (WATER_DENSITY * heat * (slope + gamma * (1.0 + canopy_resistance / resistance)))


@physics
def bare_soil_evaporation(available, slope, gamma, heat, heat_capacity, deficit, resistance, wetness):
    """Evaporation of bare soil, m s-1; eq. (6.3), WEP. Arguments as :func:`penman`, ``wetness`` 0 to 1."""
    energy = _supply_of_energy(available, slope, heat_capacity, deficit, resistance)
    return wetness * energy / (WATER_DENSITY * heat * (wetness * slope + gamma))


@physics
def soil_wetness(water, dry, field_capacity):
    """Wetness factor of a soil surface, 0 to 1; eq. (6.4), Lee and Pielke 1992.

    Water now, at its driest and at field capacity in one unit (m or m3 m-3).
    """
    if water <= dry:
        return 0.0
    if water >= field_capacity:
        return 1.0
    return 0.25 * (1.0 - math.cos(math.pi * (water - dry) / (field_capacity - dry))) ** 2


@physics
def jarvis_temperature(temperature):
    """Temperature factor f1, 0.001 to 1, at ``temperature`` degC; eq. (6.7)."""
    return max(1e-3, 1.0 - 0.0016 * (25.0 - temperature) ** 2)


@physics
def jarvis_humidity(deficit, critical):
    """Humidity factor f2, 0.001 to 1, from the deficit and its critical value (Pa); eq. (6.8)."""
    return max(1e-3, 1.0 - deficit / critical)


@physics
def jarvis_light(shortwave, critical, leaf_area_index, rs_min, rs_max):
    """Light factor f3, rs_min/rs_max to 1; eq. (6.9).

    ``shortwave`` the mean over daylight and ``critical`` (PARc) in W m-2, resistances in s m-1.
    """
    if leaf_area_index <= 0.0:
        return rs_min / rs_max
    light = 0.55 * 2.0 * shortwave / (critical * leaf_area_index)
    return (light + rs_min / rs_max) / (1.0 + light)


@physics
def jarvis_moisture(root, wilting, critical):
    """Moisture factor f4, 0 to 1; eq. (6.10). Root-weighted water, wilting point and critical content, one unit."""
    if root >= critical:
        return 1.0
    if root <= wilting:
        return 0.0
    return (root - wilting) / (critical - wilting)


@physics
def canopy_resistance(rs_min, active_leaf_area, f1, f2, f3, f4, rs_max):
    """Canopy resistance, s m-1, at most ``rs_max``; eq. (6.6), Jarvis. ``active_leaf_area`` is the active LAI."""
    openness = active_leaf_area * f1 * f2 * f3 * f4
    if openness * rs_max <= rs_min:
        return rs_max
    return rs_min / openness


@physics
def root_fraction_above(depth, root_depth):
    """Share of the roots above ``depth``, 0 to 1; eq. (6.11). Both depths in m."""
    x = min(1.0, depth / root_depth)
    return 1.8 * x - 0.8 * x * x


@physics
def aerodynamic_factor_vegetation(height, wind_height):
    """Aerodynamic resistance of vegetation times wind speed, 1; eq. (6.5).

    ``height`` of the vegetation and of the wind measurement in m. Where the vegetation is taller than the measurement
    less 2 m, wind is carried to 2 m above it up the log profile of the grass on which the station stands.
    """
    d = 0.67 * height
    momentum = 0.123 * height
    z = max(wind_height, height + 2.0)
    factor = math.log((z - d) / momentum) * math.log((z - d) / (0.1 * momentum)) / VON_KARMAN**2
    if z > wind_height:
        grass_d, grass_z0 = 0.67 * 0.12, 0.123 * 0.12
        gain = math.log((z - grass_d) / grass_z0) / math.log((wind_height - grass_d) / grass_z0)
        factor /= gain
    return factor


@physics
def aerodynamic_factor_surface(roughness, wind_height):
    """Aerodynamic resistance of a surface without displacement times wind speed, 1; eq. (6.5) with d = 0.

    Roughness lengths of momentum ``roughness`` (m) and of heat a tenth of it.
    """
    return math.log(wind_height / roughness) * math.log(wind_height / (0.1 * roughness)) / VON_KARMAN**2
