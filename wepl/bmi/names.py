"""CSDMS standard names of what the component takes and gives, with the registry's variable behind each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wepl import registry

Place = Literal["unit", "subbasin", "cell"]
GRIDS: dict[Place, int] = {"unit": 0, "subbasin": 1, "cell": 2}
INFLOW = "channel_entrance_water_x-section__volume_flow_rate"
DISCHARGE = "channel_exit_water_x-section__volume_flow_rate"
VOLUME = "channel_water__volume"


@dataclass(frozen=True)
class Item:
    """One variable of the component.

    Attributes
    ----------
    name : str
        CSDMS standard name.
    variable : str
        Name in the registry; empty for the inflow from outside.
    place : str
        ``unit``, ``subbasin`` (its reach) or ``cell`` (of the forcing).
    units : str
    per : str
        What the registry's value is divided by: nothing, ``step`` (a depth per step gives a flux), or ``area`` (a flow
        gives a flux over the sub-basin).
    """

    name: str
    variable: str
    place: Place
    units: str
    per: Literal["", "step", "area"] = ""


_FORCING = {
    "precipitation": "atmosphere_water__precipitation_leq-volume_flux",
    "air_temperature": "atmosphere_bottom_air__temperature",
    "relative_humidity": "atmosphere_bottom_air_water~vapor__relative_saturation",
    "wind_speed": "atmosphere_bottom_air_flow__reference_height_speed",
    "shortwave_radiation": "land_surface_radiation~incoming~shortwave__energy_flux",
    "sunshine_duration": "land_surface__sunshine_duration",
    "longwave_radiation": "land_surface_radiation~incoming~longwave__energy_flux",
}
FORCING = tuple(Item(_FORCING[entry.name], entry.name, "cell", entry.units) for entry in registry.of_kind("forcing"))
RIVER = (
    Item(DISCHARGE, "discharge", "subbasin", "m3 s-1"),
    Item("land_surface_water__baseflow_volume_flux", "baseflow", "subbasin", "m s-1", "area"),
    Item("land_subsurface_sat-zone_top__elevation", "water_table", "subbasin", "m"),
    Item(VOLUME, "river_storage", "subbasin", "m3"),
)
UNITS = (
    Item("land_surface_water__evaporation_volume_flux", "evapotranspiration", "unit", "m s-1", "step"),
    Item("land_surface_water__potential_evaporation_volume_flux", "potential_evaporation", "unit", "m s-1", "step"),
    Item("land_surface_water__runoff_volume_flux", "runoff", "unit", "m s-1", "step"),
    Item("snowpack__liquid-equivalent_depth", "snow_water_equivalent", "unit", "m"),
    Item("land_surface__temperature", "surface_temperature", "unit", "degC"),
)
EXTERNAL = Item(INFLOW, "", "subbasin", "m3 s-1")
