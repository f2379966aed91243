"""Ranges of the physics functions' arguments, by name: what a basin of the Earth can bring, with the edges.

A range is ``(low, high)`` spread evenly, or ``(low, high, "log")``. A name that means something else in one function
stands in ``SPECIAL`` as ``module.function.argument``. ``EDGES`` are values beside the ends that must be met exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

_HALF_TURN = math.pi

RANGES: dict[str, tuple] = {
    # Air and radiation
    "temperature": (-40.0, 45.0), "elevation": (-100.0, 6000.0), "pressure": (45e3, 105e3), "heat": (2.38e6, 2.6e6),
    "day": (1.0, 366.0), "latitude": (-1.56, 1.56), "declination": (-0.41, 0.41),
    "longitude": (-_HALF_TURN, _HALF_TURN), "utc_hour": (0.0, 24.0), "sunset": (0.0, _HALF_TURN),
    "sines": (-0.4, 0.4), "cosines": (0.0, 1.0),
    "period": (0.1, 24.0), "extraterrestrial": (0.0, 560.0), "ratio": (0.0, 1.0), "angstrom_a": (0.1, 0.4),
    "angstrom_b": (0.3, 0.7), "shortwave": (0.0, 450.0), "downward": (100.0, 500.0), "emissivity": (0.9, 1.0),
    # Snow and leaves; depths in m, factors in m K-1 s-1
    "snow_temperature": (-2.0, 0.0), "rain_temperature": (0.5, 4.0), "ice": (0.0, 1.0), "liquid": (0.0, 0.1),
    "rain": (0.0, 0.2), "snowfall": (0.0, 0.1), "potential_sublimation": (0.0, 0.005), "dt": (600.0, 86400.0),
    "factor": (1e-8, 1e-7), "melt_temperature": (-1.0, 1.0), "liquid_share": (0.0, 0.1), "refreezing_share": (0.0, 1.0),
    "capacity": (1e-5, 3e-3), "rate": (1e-10, 2e-7, "log"), "time": (60.0, 86400.0), "potential": (1e-10, 2e-7, "log"),
    "wet_time": (0.0, 86400.0), "dry_time": (0.0, 86400.0), "water": (0.0, 4e-3),
    # Evaporation
    "available": (-100.0, 700.0), "slope": (5.0, 500.0), "gamma": (30.0, 70.0), "heat_capacity": (600.0, 1500.0),
    "deficit": (0.0, 6000.0), "resistance": (5.0, 1000.0, "log"), "canopy_resistance": (5.0, 5000.0, "log"),
    "wetness": (0.0, 1.0), "dry": (0.001, 0.004), "field_capacity": (0.005, 0.03), "critical": (1500.0, 4000.0),
    "leaf_area_index": (0.0, 8.0), "rs_min": (20.0, 500.0), "rs_max": (1000.0, 10000.0), "root": (0.0, 0.5),
    "wilting": (0.05, 0.2), "active_leaf_area": (0.0, 6.0), "f1": (1e-3, 1.0), "f2": (1e-3, 1.0), "f3": (0.01, 1.0),
    "f4": (0.0, 1.0), "depth": (0.0, 3.0), "root_depth": (0.1, 3.0), "height": (0.05, 30.0), "wind_height": (2.0, 10.0),
    "surface_temperature": (-40.0, 60.0), "deep_temperature": (-20.0, 35.0), "x": (0.0, 50.0),
    "surface": (-40.0, 60.0), "deep": (-20.0, 35.0), "radiation": (-150.0, 800.0), "latent": (-50.0, 600.0),
    "air_temperature": (-40.0, 45.0), "conductance": (0.0, 200.0), "share": (-0.5, 1.5),
    # Soil; depths in m, conductivities in m s-1
    "saturation": (1e-6, 1.0), "a": (5.0, 300.0, "log"), "b": (2.0, 7.0), "saturated": (1e-8, 1e-4, "log"),
    "exponent": (1.5, 25.0), "suction_head": (1e-3, 1e4, "log"), "conductivity": (1e-12, 1e-4, "log"),
    "threshold": (0.0, 0.05), "saturated_conductivity": (1e-8, 1e-4, "log"), "side_factor": (0.0, 0.1),
    "infiltration": (0.0, 0.3),
    # Slopes, rivers, aquifers
    "c": (1e-8, 1e8, "log"), "manning": (0.01, 0.8, "log"), "flow_length": (10.0, 1e4, "log"), "held": (0.0, 0.5),
    "storage": (0.0, 1e7), "length": (100.0, 2e4, "log"), "width": (0.5, 1500.0, "log"), "area": (1e-3, 2e4, "log"),
    "inflow": (0.0, 1e4), "lateral": (-1e5, 1e6), "roughness": (0.05, 3.0, "log"), "delay": (0.0, 1e7),
    "head": (-20.0, 20.0), "recharge": (0.0, 1e5), "river_depth": (0.0, 10.0), "bed_thickness": (0.1, 3.0),
    "yield_area": (1e4, 1e8, "log"), "loss_rate": (0.0, 1e-8),
}

SPECIAL: dict[str, tuple] = {
    # Angles of the sun, within the turn before and the turn after.
    "atmosphere._sun_between.start": (-9.0, 9.0), "atmosphere._sun_between.end": (-9.0, 9.0),
    "evapotranspiration.soil_wetness.water": (0.0, 0.04),
    "evapotranspiration.jarvis_light.critical": (30.0, 100.0),
    "evapotranspiration.jarvis_moisture.critical": (0.25, 0.4),
    "evapotranspiration.aerodynamic_factor_surface.roughness": (1e-4, 0.05, "log"),
    "rain_pattern.storm_duration.depth": (0.0, 0.5), "rain_pattern.storm_depth.depth": (1e-5, 0.5),
    "rain_pattern.storm_depth.start": (0.0, 43200.0), "rain_pattern.storm_depth.end": (43200.0, 86400.0),
    "soil_water.drained.water": (0.0, 0.5), "soil_water.mean_above.water": (0.06, 0.5),
    "soil_water.drain_layer.water": (0.0, 0.5), "soil_water.drain_layer.capacity": (0.1, 0.5),
    # Green-Ampt: a the suction term and b the wetted depth, m.
    "green_ampt.capacity.a": (0.0, 0.3), "green_ampt.capacity.b": (0.0, 0.5),
    "green_ampt.ponding_infiltration.a": (1e-4, 0.3), "green_ampt.ponding_infiltration.b": (0.0, 0.1),
    "green_ampt.ponding_infiltration.rate": (2e-4, 1e-2, "log"),
    "green_ampt.ponded_time.a": (1e-4, 0.3), "green_ampt.ponded_time.b": (0.0, 0.5),
    "green_ampt.ponded_time.start": (0.0, 0.1), "green_ampt.ponded_time.end": (0.11, 0.5),
    "green_ampt.ponded_infiltration.a": (1e-4, 0.3), "green_ampt.ponded_infiltration.b": (0.0, 0.5),
    "green_ampt.ponded_infiltration.start": (0.0, 0.3), "green_ampt.ponded_infiltration.time": (1.0, 86400.0, "log"),
    "kinematic.kinematic_root.b": (1e-8, 1e3, "log"),
    "overland.overland_rate.slope": (1e-4, 1.0, "log"), "overland.overland_step.rate": (1e-5, 10.0, "log"),
    "groundwater.transition_step.storage": (0.0, 1.0), "groundwater.transition_step.inflow": (0.0, 0.1),
    "groundwater.aquifer_step.conductance": (1e-4, 10.0, "log"),
}

# Values to be met exactly, besides both ends of the range.
EDGES: dict[str, tuple[float, ...]] = {
    "temperature": (0.0, 25.0), "latitude": (0.0,), "declination": (0.0,), "x": (1e-9, 1e-8, 1.1e-8),
    "saturation": (0.0, 1e-9, 1.5), "share": (0.0, 0.4, 1.0), "water": (0.0,), "capacity": (0.0,), "rain": (0.0,),
    "held": (0.0, -1e-6), "delay": (0.0,), "head": (0.0,), "conductance": (0.0,), "leaf_area_index": (0.0,),
    "angstrom_b": (0.0,), "conductivity": (0.0,), "infiltration": (0.0,), "side_factor": (0.0,), "threshold": (0.0,),
    "storage": (0.0,), "depth": (0.0,), "wet_time": (0.0,), "dry_time": (0.0,), "snow_temperature": (0.0,),
    "rain_temperature": (0.0,), "suction_head": (0.01,), "extraterrestrial": (0.0,), "exponent": (2.0,),
}


def of(label: str, argument: str) -> tuple:
    """The range of an argument of ``module.function``."""
    return SPECIAL.get(f"{label}.{argument}") or RANGES[argument]


# Outputs that are what is left of a larger sum are as exact in single precision as that sum, not as they are
# themselves: the sum's size by function and output, from the arguments.
SCALES: dict[str, dict[str, Callable[..., np.ndarray]]] = {
    # 1 - cos, 1 - a square, the sun's height between noon and the horizon
    "evapotranspiration.soil_wetness": {"value": lambda **_: 0.01},
    "evapotranspiration.jarvis_temperature": {"value": lambda **_: 1.0},
    "atmosphere.extraterrestrial_period": {"value": lambda **_: 1367.0},
    # Heat and temperatures of the force-restore scheme: both follow from differences of the two temperatures.
    "energy.force_restore_step": {"surface_temperature": lambda **given: 0.1 * _heat(**given),
                                  "deep_temperature": lambda **given: 0.1 * _heat(**given),
                                  "ground_heat": lambda **given: _heat(**given),
                                  "sensible_heat": lambda **given: _heat(**given)},
    # The aquifer's exchange is recharge less a change of head times the area.
    "groundwater.aquifer_step": {"discharge": lambda head, recharge, river_depth, bed_thickness, yield_area, **_:
                                 recharge + yield_area * (abs(head) + river_depth + bed_thickness)},
    # Water that stays, leaves or evaporates is part of what was there and came.
    "interception.canopy_step": {name: lambda water, rain, **_: water + rain
                                 for name in ("water", "evaporation", "drip")},
    "overland.overland_step": {name: lambda held, **_: abs(held) for name in ("depth", "outflow")},
    "river.cell_step": {"storage": lambda storage, inflow, lateral, dt, **_: storage + dt * inflow + abs(lateral),
                        "discharge": lambda storage, inflow, lateral, dt, **_: (storage + abs(lateral)) / dt + inflow},
    "snow.snow_step": {name: lambda ice, liquid, rain, snowfall, **_: ice + liquid + rain + snowfall
                       for name in ("ice", "liquid", "outflow")},
}


def _heat(surface, deep, radiation, latent, air_temperature, conductance, dt):
    return (abs(radiation) + abs(latent) + conductance * (abs(air_temperature) + abs(surface))
            + 10.0 * (abs(surface) + abs(deep)))
