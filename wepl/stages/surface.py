"""What evaporates from one tile in one step: the demand of each surface, and what its stores can give.

The functions read the tile's scratch arrays (``store`` states, ``flux`` depths of this step, ``soil`` layers) and are
called by :mod:`wepl.stages.column`; docs/theory sections 4 to 6.
"""

from __future__ import annotations

from typing import NamedTuple

from wepl import rows
from wepl.physics import evapotranspiration as et
from wepl.physics.constants import FUSION_HEAT, WATER_DENSITY
from wepl.physics.interception import canopy_step
from wepl.physics.jit import physics
from wepl.physics.snow import snow_step


class Air(NamedTuple):
    """The weather of one step over one unit (see the registry's ``weather`` rows) and its wet and dry time (s)."""

    rain: float
    snow: float
    temperature: float
    shortwave: float
    daylight_shortwave: float
    longwave_net: float
    deficit: float
    slope: float
    gamma: float
    vaporisation_heat: float
    heat_capacity: float
    wind: float
    wet_time: float
    dry_time: float


class Demand(NamedTuple):
    """Evaporative demand of the ground: rates in m s-1 over the tile, radiation in W m-2 over the tile."""

    wet: float
    dry: float
    radiation: float


class Canopy(NamedTuple):
    """One vegetation kind in one step: covered share of the tile, transpiration rate (m s-1), drip (m), radiation."""

    cover: float
    transpiration: float
    drip: float
    radiation: float


@physics
def read_air(weather, step, unit, wet_time, dt):
    """Gather the weather rows of one step; ``wet_time`` (s) of the step is wet, the rest dry."""
    return Air(
        weather[rows.RAIN, step, unit],
        weather[rows.SNOW, step, unit],
        weather[rows.TEMPERATURE, step, unit],
        weather[rows.SHORTWAVE, step, unit],
        weather[rows.DAYLIGHT_SHORTWAVE, step, unit],
        weather[rows.LONGWAVE_NET, step, unit],
        weather[rows.VAPOUR_PRESSURE_DEFICIT, step, unit],
        weather[rows.SLOPE_OF_SATURATION, step, unit],
        weather[rows.PSYCHROMETRIC, step, unit],
        weather[rows.VAPORISATION_HEAT, step, unit],
        weather[rows.AIR_HEAT_CAPACITY, step, unit],
        weather[rows.WIND, step, unit],
        wet_time,
        dt - wet_time,
    )


@physics
def net_radiation(air, albedo):
    """Net radiation of a surface with the given albedo, W m-2; eq. (3.19)."""
    return (1.0 - albedo) * air.shortwave + air.longwave_net


@physics
def wet_surface_rate(air, radiation, ground_heat, resistance_factor):
    """Penman evaporation of a wet surface, m s-1, not below 0 (condensation is left out of the balance)."""
    resistance = resistance_factor / air.wind
    return max(0.0, et.penman(radiation - ground_heat, air.slope, air.gamma, air.vaporisation_heat,
                              air.heat_capacity, air.deficit, resistance))


@physics
def sublimation_rate(air, radiation, ground_heat, resistance_factor):
    """Penman rate of a snow surface, m s-1, with the heat of sublimation in place of that of vaporisation."""
    heat = air.vaporisation_heat + FUSION_HEAT
    gamma = air.gamma * air.vaporisation_heat / heat
    return max(0.0, et.penman(radiation - ground_heat, air.slope, gamma, heat, air.heat_capacity, air.deficit,
                              resistance_factor / air.wind))


@physics
def root_moisture(soil, n_layers, root_depth):
    """Moisture factor f4 of the root zone; leaves each layer's root share in WORK_ROOT (they add to 1)."""
    bottom = 0.0
    for layer in range(n_layers):
        bottom += soil[rows.LAYER_THICKNESS, layer]
    whole = et.root_fraction_above(bottom, root_depth)
    above = 0.0
    bottom = 0.0
    water, wilting, critical = 0.0, 0.0, 0.0
    for layer in range(n_layers):
        thickness = soil[rows.LAYER_THICKNESS, layer]
        bottom += thickness
        here = et.root_fraction_above(bottom, root_depth) / whole
        share = here - above
        above = here
        soil[rows.WORK_ROOT, layer] = share
        weight = share / thickness
        water += weight * soil[rows.WORK_WATER, layer]
        wilting += weight * soil[rows.WILTING_WATER, layer]
        critical += weight * soil[rows.FIELD_CAPACITY_WATER, layer]
    return et.jarvis_moisture(water, wilting, critical)


@physics
def canopy(kind, share, canopy_row, air, ground_heat, dt, step, option, vegetation, store, flux, soil, n_layers):
    """Interception and transpiration of one vegetation kind; adds its draw per layer to WORK_TRANSPIRATION (m s-1).

    The capacity is that of eq. (5.1).
    """
    leaf_area = vegetation[rows.KIND_LEAF_AREA_INDEX, step, kind]
    cover = share * vegetation[rows.KIND_COVER, step, kind]
    radiation = net_radiation(air, vegetation[rows.KIND_ALBEDO, step, kind])
    factor = vegetation[rows.KIND_AERODYNAMIC_FACTOR, step, kind]
    wet = wet_surface_rate(air, radiation, ground_heat, factor)
    capacity = option[rows.CANOPY_STORAGE_PER_LEAF_AREA] * cover * leaf_area
    result = canopy_step(store[canopy_row], cover * air.rain, capacity, cover * wet, air.wet_time, air.dry_time)
    store[canopy_row] = result.water
    flux[rows.CANOPY_EVAPORATION] += result.evaporation
    flux[rows.POTENTIAL_EVAPORATION] += cover * wet * dt
    potential = cover * wet * dt
    wet_share = min(1.0, result.evaporation / potential) if potential > 0.0 else 0.0
    f4 = root_moisture(soil, n_layers, vegetation[rows.KIND_ROOT_DEPTH, step, kind])
    rs_min = vegetation[rows.KIND_STOMATAL_RESISTANCE, step, kind]
    rs_max = option[rows.RS_MAX]
    f3 = et.jarvis_light(air.daylight_shortwave, vegetation[rows.KIND_CRITICAL_RADIATION, step, kind], leaf_area,
                         rs_min, rs_max)
    resistance = et.canopy_resistance(rs_min, option[rows.ACTIVE_LEAF_SHARE] * leaf_area,
                                      et.jarvis_temperature(air.temperature),
                                      et.jarvis_humidity(air.deficit, option[rows.CRITICAL_VAPOUR_PRESSURE_DEFICIT]),
                                      f3, f4, rs_max)
    rate = et.penman_monteith(radiation - ground_heat, air.slope, air.gamma, air.vaporisation_heat,
                              air.heat_capacity, air.deficit, factor / air.wind, resistance)
    transpiration = cover * (1.0 - wet_share) * max(0.0, rate) if f4 > 0.0 else 0.0
    for layer in range(n_layers):
        soil[rows.WORK_TRANSPIRATION, layer] += transpiration * soil[rows.WORK_ROOT, layer]
    return Canopy(cover, transpiration, result.drip, cover * radiation)


@physics
def drain_canopy(canopy_row, rain, store):
    """A canopy that snow covers holds nothing: its water and the rain go to the ground; the drip, m."""
    drip = store[canopy_row] + rain
    store[canopy_row] = 0.0
    return drip


@physics
def bare_ground(share, air, ground_heat, albedo, resistance_factor, soil):
    """Demand of bare soil over ``share`` of the tile: wet where water stands on it, dry where it must come up."""
    radiation = net_radiation(air, albedo)
    resistance = resistance_factor / air.wind
    available = radiation - ground_heat
    beta = et.soil_wetness(soil[rows.WORK_WATER, 0], soil[rows.DRY_WATER, 0], soil[rows.FIELD_CAPACITY_WATER, 0])
    wet = et.penman(available, air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity, air.deficit, resistance)
    dry = et.bare_soil_evaporation(available, air.slope, air.gamma, air.vaporisation_heat, air.heat_capacity,
                                   air.deficit, resistance, beta)
    return Demand(share * max(0.0, wet), share * max(0.0, dry), share * radiation)


@physics
def snow_pack(rain, share, air, ground_heat, dt, factor, option, store, flux):
    """Advance the pack under ``rain`` (m) that reaches it; ``share`` of the tile sublimates. Outflow (m), radiation."""
    radiation = net_radiation(air, option[rows.SNOW_ALBEDO])
    lies = store[rows.SNOW_ICE] + store[rows.SNOW_LIQUID] + air.snow > 0.0
    potential = 0.0
    if lies:
        potential = share * dt * sublimation_rate(air, radiation, ground_heat, option[rows.WATER_AERODYNAMIC_FACTOR])
    pack = snow_step(store[rows.SNOW_ICE], store[rows.SNOW_LIQUID], rain, air.snow, air.temperature, potential, dt,
                     factor, option[rows.MELT_TEMPERATURE], option[rows.SNOW_LIQUID_SHARE],
                     option[rows.REFREEZING_SHARE])
    store[rows.SNOW_ICE] = pack.ice
    store[rows.SNOW_LIQUID] = pack.liquid
    flux[rows.SNOW_SUBLIMATION] += pack.sublimation
    flux[rows.POTENTIAL_EVAPORATION] += potential
    return pack.outflow, share * radiation


@physics
def latent_energy(air, flux):
    """Latent heat of all water that left in this step, J m-2."""
    water = (flux[rows.CANOPY_EVAPORATION] + flux[rows.TRANSPIRATION] + flux[rows.SOIL_EVAPORATION]
             + flux[rows.SURFACE_EVAPORATION] + flux[rows.OPEN_WATER_EVAPORATION])
    ice = flux[rows.SNOW_SUBLIMATION]
    return WATER_DENSITY * (air.vaporisation_heat * (water + ice) + FUSION_HEAT * ice)
