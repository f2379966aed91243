"""The one table of every variable and parameter of the model.

Adding a parameter is adding one entry here: input checks, array layout, restart list, output attributes and the
table in the docs are all made from it. Sources in short: FAO = Allen et al. 1998; JT = Jia and Tamai 1998; PHY =
docs/theory (choices marked [D] there).
"""

from __future__ import annotations

from wepl.registry.model import Balance, Variable
from wepl.registry.options import OPTIONS

INF = float("inf")
LAND_CLASSES = ("water", "soil_vegetation", "irrigated", "non_irrigated", "impervious")
MAX_SOIL_LAYERS = 128


def _parameter(name, dims, units, file_units, text, **more):
    return Variable(name, "parameter", dims, units, file_units, text, **more)


def _state(name, dims, array, units, file_units, text, **more):
    return Variable(name, "state", dims, units, file_units, text, array=array, restart=True, **more)


def _flux(name, text, **more):
    return Variable(name, "flux", ("tile",), "m", "mm", text, array="tile_flux", restart=True, **more)


def _derived(name, dims, array, units, text, **more):
    return Variable(name, "derived", dims, units, units, text, array=array, **more)


_SUBBASIN, _UNIT, _LAYERED = ("subbasin",), ("unit",), ("unit", "soil_layer")
_KIND, _MONTHLY = ("vegetation",), ("vegetation", "month")

TOPOLOGY = (
    Variable("subbasin", "topology", _SUBBASIN, "1", "1", "sub-basin identifier", integer=True),
    Variable("downstream", "topology", _SUBBASIN, "1", "1",
             "identifier of the sub-basin into which the reach flows, -1 at an outlet", integer=True),
    Variable("pfafstetter", "topology", _SUBBASIN, "1", "1", "Pfafstetter code", integer=True, optional=True),
    Variable("subbasin_longitude", "topology", _SUBBASIN, "degrees_east", "degrees_east",
             "longitude of the sub-basin's centre", "longitude", valid=(-180, 360), optional=True),
    Variable("subbasin_latitude", "topology", _SUBBASIN, "degrees_north", "degrees_north",
             "latitude of the sub-basin's centre", "latitude", valid=(-90, 90), optional=True),
    Variable("unit", "topology", _UNIT, "1", "1", "unit (contour band) identifier", integer=True),
    Variable("unit_subbasin", "topology", _UNIT, "1", "1", "identifier of the unit's sub-basin", integer=True),
    Variable("unit_order", "topology", _UNIT, "1", "1",
             "place of the band in its sub-basin, 1 at the ridge, rising to the river", integer=True, valid=(1, 1000)),
    Variable("parameter_zone", "topology", _UNIT, "1", "1",
             "zone of the unit in which calibration multipliers may have values of their own", integer=True,
             optional=True),
    Variable("unit_cell", "topology", _UNIT, "1", "1", "identifier of the unit's forcing cell", integer=True),
    Variable("cell", "topology", ("cell",), "1", "1", "forcing cell identifier", integer=True),
    Variable("gauge", "topology", ("gauge",), "1", "1", "gauge identifier", integer=True, optional=True),
    Variable("gauge_subbasin", "topology", ("gauge",), "1", "1",
             "identifier of the sub-basin at whose reach end the gauge stands", integer=True, optional=True),
)

PARAMETERS = (
    # cells
    _parameter("cell_elevation", ("cell",), "m", "m", "elevation of the forcing cell", standard_name="surface_altitude",
               valid=(-500, 9000)),
    # sub-basins and reaches
    _parameter("reach_length", _SUBBASIN, "m", "m", "length of the reach", valid=(1.0, 1e7)),
    _parameter("reach_slope", _SUBBASIN, "1", "1", "bed slope of the reach", valid=(1e-6, 1.0)),
    _parameter("reach_width", _SUBBASIN, "m", "m", "width of the rectangular reach", valid=(0.1, 1e5)),
    _parameter("reach_manning", _SUBBASIN, "s m-1/3", "s m-1/3", "Manning roughness of the reach", default=0.035,
               valid=(0.01, 0.5), source="Chow 1959"),
    _parameter("drainage_density", _SUBBASIN, "m-1", "km-1",
               "length of all channels draining above 0.1 km2 per area, for interflow", default=2.0e-3,
               valid=(0.0, 0.1), source="PHY 10"),
    _parameter("tributary_width", _SUBBASIN, "m", "m",
               "mean bed width of the channels that drainage_density counts beside the reach", default=2.5,
               valid=(0.0, 1000.0), source="PHY 11"),
    _parameter("bedrock_conductivity", _SUBBASIN, "m s-1", "m s-1",
               "conductivity of the ground below the soil, the most that percolates", default=1e-6,
               valid=(1e-12, 1.0), source="PHY 9: Gleeson et al. 2011"),
    _parameter("specific_yield", _SUBBASIN, "1", "1", "specific yield of the unconfined aquifer", default=0.05,
               valid=(1e-4, 0.5), source="PHY 16: 0.05 hills, 0.15 plain"),
    _parameter("riverbed_conductivity", _SUBBASIN, "m s-1", "m s-1", "conductivity of the river bed", default=1e-6,
               valid=(0.0, 1e-2), source="PHY 16"),
    _parameter("riverbed_thickness", _SUBBASIN, "m", "m", "thickness of the river bed", default=1.0, valid=(0.01, 100),
               source="PHY 16"),
    _parameter("recharge_delay", _SUBBASIN, "s", "d", "time constant of the transition store", default=864000.0,
               valid=(0.0, 1e9), source="PHY 16: 10 d"),
    _parameter("deep_loss_rate", _SUBBASIN, "s-1", "d-1", "share of the unconfined store lost to depth per time",
               default=0.0, valid=(0.0, 1e-3), source="PHY 11"),
    _parameter("initial_groundwater_head", _SUBBASIN, "m", "m", "groundwater head above the river bed at the start",
               default=1.0, valid=(-1000, 1000), source="PHY 11"),
    # units
    _parameter("unit_area", _UNIT, "m2", "km2", "area of the unit", valid=(1.0, 1e12), standard_name="cell_area"),
    _parameter("unit_elevation", _UNIT, "m", "m", "mean elevation of the unit", standard_name="surface_altitude",
               valid=(-500, 9000)),
    _parameter("unit_slope", _UNIT, "1", "1", "mean surface slope (tangent) of the unit", valid=(0.0, 10.0)),
    _parameter("unit_flow_length", _UNIT, "m", "m", "overland flow length through the unit", valid=(1.0, 1e6)),
    _parameter("unit_latitude", _UNIT, "degrees_north", "degrees_north", "latitude of the unit's centre",
               standard_name="latitude", valid=(-90, 90)),
    _parameter("unit_longitude", _UNIT, "degrees_east", "degrees_east", "longitude of the unit's centre",
               standard_name="longitude", valid=(-180, 360), optional=True),
    _parameter("land_fraction", ("unit", "land_class"), "1", "1",
               "share of the unit in each land class; the classes add to 1", valid=(0.0, 1.0)),
    _parameter("tall_fraction", _UNIT, "1", "1", "share of the soil-vegetation class under tall vegetation",
               default=0.5, valid=(0.0, 1.0)),
    _parameter("short_fraction", _UNIT, "1", "1", "share of the soil-vegetation class under short vegetation",
               default=0.3, valid=(0.0, 1.0)),
    _parameter("tall_vegetation", _UNIT, "1", "1", "index of the tall vegetation kind", default=0, integer=True,
               valid=(0, 1000)),
    _parameter("short_vegetation", _UNIT, "1", "1", "index of the short vegetation kind", default=5, integer=True,
               valid=(0, 1000)),
    _parameter("irrigated_vegetation", _UNIT, "1", "1", "index of the irrigated crop kind", default=7, integer=True,
               valid=(0, 1000)),
    _parameter("non_irrigated_vegetation", _UNIT, "1", "1", "index of the non-irrigated crop kind", default=6,
               integer=True, valid=(0, 1000)),
    _parameter("manning_overland", _UNIT, "s m-1/3", "s m-1/3",
               "Manning roughness of overland flow; from the vegetation kinds when absent", valid=(0.005, 2.0),
               optional=True, source="Engman 1986; PHY 16"),
    # soil
    _parameter("soil_thickness", _LAYERED, "m", "m", "thickness of the soil layer, top layer first",
               valid=(0.005, 100)),
    _parameter("saturated_water_content", _LAYERED, "1", "m3 m-3", "volumetric water content at saturation",
               valid=(0.05, 0.95)),
    _parameter("residual_water_content", _LAYERED, "1", "m3 m-3", "residual volumetric water content",
               valid=(0.0, 0.5)),
    _parameter("field_capacity", _LAYERED, "1", "m3 m-3", "volumetric water content at field capacity",
               valid=(0.01, 0.9)),
    _parameter("wilting_point", _LAYERED, "1", "m3 m-3", "volumetric water content at the wilting point",
               valid=(0.001, 0.8)),
    _parameter("saturated_conductivity", _LAYERED, "m s-1", "mm h-1", "saturated hydraulic conductivity",
               standard_name="soil_hydraulic_conductivity_at_saturation", valid=(1e-12, 1e-1)),
    _parameter("wetting_front_suction", _LAYERED, "m", "mm", "suction head at the wetting front", valid=(0.0, 10.0)),
    _parameter("haverkamp_a", _LAYERED, "1", "1", "a of the retention curve; derived when absent", valid=(1e-12, 1e12),
               optional=True, source="PHY 7"),
    _parameter("haverkamp_b", _LAYERED, "1", "1", "b of the retention curve; derived when absent", valid=(0.05, 50),
               optional=True, source="PHY 7"),
    _parameter("mualem_n", _LAYERED, "1", "1", "exponent of the conductivity curve; derived when absent",
               valid=(1.001, 1000), optional=True, source="PHY 7"),
    _parameter("initial_soil_moisture", _LAYERED, "1", "m3 m-3",
               "water content at the start; by initial_wetness when absent", valid=(0.0, 0.95), optional=True),
    # vegetation kinds (the built-in table is used when the file has none)
    _parameter("leaf_area_index", _MONTHLY, "1", "1", "leaf area index of the covered part",
               standard_name="leaf_area_index", valid=(0.0, 20), optional=True),
    _parameter("vegetation_cover", _MONTHLY, "1", "1", "share of the kind's area covered by leaves",
               valid=(0.0, 1.0), optional=True),
    _parameter("vegetation_height", _MONTHLY, "m", "m", "height of the vegetation", standard_name="canopy_height",
               valid=(0.001, 120), optional=True),
    _parameter("root_depth", _KIND, "m", "m", "rooting depth", standard_name="root_depth", valid=(0.01, 20),
               optional=True),
    _parameter("vegetation_albedo", _KIND, "1", "1", "albedo of the kind", valid=(0.0, 1.0), optional=True),
    _parameter("minimum_stomatal_resistance", _KIND, "s m-1", "s m-1", "stomatal resistance of an unstressed leaf",
               valid=(5.0, 5000), optional=True),
    _parameter("critical_radiation", _KIND, "W m-2", "W m-2", "PARc of the light factor f3", valid=(1, 1000),
               optional=True),
    _parameter("kind_manning", _KIND, "s m-1/3", "s m-1/3", "Manning roughness of overland flow under the kind",
               valid=(0.005, 2.0), optional=True),
    _parameter("kind_depression_storage", _KIND, "m", "mm", "depression store under the kind", valid=(0.0, 1.0),
               optional=True),
    _parameter("kind_degree_day_factor", _KIND, "m K-1 s-1", "mm K-1 d-1", "degree-day factor of snow under the kind",
               valid=(0.0, 3e-7), optional=True),
)

FORCING = (
    Variable("precipitation", "forcing", ("cell",), "m s-1", "mm d-1", "precipitation", "lwe_precipitation_rate",
             valid=(0.0, 1.0e-3), array="forcing"),
    Variable("air_temperature", "forcing", ("cell",), "degC", "degC", "air temperature", "air_temperature",
             valid=(-90, 65), array="forcing"),
    Variable("relative_humidity", "forcing", ("cell",), "1", "%", "relative humidity", "relative_humidity",
             valid=(0.0, 1.05), array="forcing"),
    Variable("wind_speed", "forcing", ("cell",), "m s-1", "m s-1", "wind speed", "wind_speed", valid=(0.0, 120.0),
             array="forcing"),
    Variable("shortwave_radiation", "forcing", ("cell",), "W m-2", "W m-2", "downward shortwave radiation",
             "surface_downwelling_shortwave_flux_in_air", valid=(0.0, 1500.0), array="forcing", optional=True),
    Variable("sunshine_duration", "forcing", ("cell",), "s", "h", "bright sunshine in the step",
             "duration_of_sunshine", valid=(0.0, 86400.0), array="forcing", optional=True),
    Variable("longwave_radiation", "forcing", ("cell",), "W m-2", "W m-2", "downward longwave radiation",
             "surface_downwelling_longwave_flux_in_air", valid=(0.0, 800.0), array="forcing", optional=True),
)

_TILE = ("tile",)
STATES = (
    _state("snow_ice", _TILE, "tile_state", "m", "mm", "ice in the snow pack, water equivalent",
           standard_name="lwe_thickness_of_surface_snow_amount", valid=(0.0, 1e3)),
    _state("snow_liquid", _TILE, "tile_state", "m", "mm", "liquid water in the snow pack", valid=(0.0, 1e3)),
    _state("canopy_a", _TILE, "tile_state", "m", "mm", "water on the first canopy (tall vegetation or crop)",
           standard_name="lwe_thickness_of_canopy_water_amount", valid=(0.0, 1.0)),
    _state("canopy_b", _TILE, "tile_state", "m", "mm", "water on the second canopy (short vegetation)",
           valid=(0.0, 1.0)),
    _state("surface_storage", _TILE, "tile_state", "m", "mm",
           "water in depressions, on impervious ground, or open water above its lowest level", valid=(0.0, 1e3)),
    _state("event_infiltration", _TILE, "tile_state", "m", "mm", "infiltrated since the Green-Ampt event began",
           valid=(0.0, 1e3)),
    _state("event_active", _TILE, "tile_state", "1", "1", "1 during a Green-Ampt event, else 0", valid=(0.0, 1.0)),
    _state("surface_temperature", _TILE, "tile_state", "degC", "degC", "surface temperature (force-restore)",
           standard_name="surface_temperature", valid=(-100.0, 100.0)),
    _state("deep_temperature", _TILE, "tile_state", "degC", "degC", "deep soil temperature (force-restore)",
           valid=(-100.0, 100.0)),
    _state("soil_water", ("soil_layer", "tile"), "soil_state", "m", "mm", "water in the soil layer",
           valid=(0.0, 100.0), average="soil"),
    _state("event_deficit", ("soil_layer", "tile"), "soil_state", "1", "1",
           "moisture deficit of the layer when the Green-Ampt event began", valid=(0.0, 1.0)),
    _state("cloud_ratio", _UNIT, "unit_state", "1", "1", "last known relative sunshine n/N", valid=(0.0, 1.0)),
    _state("overland_depth", _UNIT, "unit_state", "m", "mm", "overland flow depth over the unit", valid=(0.0, 1e3)),
    _state("transition_storage", _SUBBASIN, "subbasin_state", "m", "mm", "water on its way to the aquifer",
           valid=(0.0, 1e3)),
    _state("groundwater_head", _SUBBASIN, "subbasin_state", "m", "m", "groundwater head above the river bed",
           valid=(-1e4, 1e4)),
    _state("river_storage", ("river_cell",), "river_state", "m3", "m3", "water in the river cell", valid=(0.0, 1e13)),
)

FLUXES = (
    _flux("precipitation_depth", "precipitation", standard_name="lwe_thickness_of_precipitation_amount"),
    _flux("rainfall", "liquid precipitation", standard_name="thickness_of_rainfall_amount"),
    _flux("snowfall", "solid precipitation, water equivalent", standard_name="lwe_thickness_of_snowfall_amount"),
    _flux("canopy_evaporation", "evaporation of intercepted water"),
    _flux("transpiration", "transpiration"),
    _flux("soil_evaporation", "evaporation from bare soil"),
    _flux("snow_sublimation", "sublimation from the snow pack"),
    _flux("surface_evaporation", "evaporation from depressions and impervious ground"),
    _flux("open_water_evaporation", "evaporation from open water"),
    _flux("throughfall", "rain that reaches the ground or the snow pack"),
    _flux("ground_supply", "rain and melt that reach the ground surface"),
    _flux("infiltration", "infiltration into the soil"),
    _flux("exfiltration", "water returned from a saturated soil to its surface"),
    _flux("overland_runoff", "runoff from the surface (R1)", standard_name=""),
    _flux("interflow", "lateral flow from the soil to the reach (R2)"),
    _flux("percolation", "percolation from the lowest soil layer"),
    _flux("open_water_outflow", "outflow of open water to the reach"),
    _flux("potential_evaporation", "evaporation of a wet surface of the same kind (not part of the balance)"),
    Variable("net_radiation", "flux", _TILE, "J m-2", "J m-2", "net radiation", array="tile_flux", restart=True),
    Variable("latent_heat", "flux", _TILE, "J m-2", "J m-2", "latent heat", array="tile_flux", restart=True),
    Variable("sensible_heat", "flux", _TILE, "J m-2", "J m-2", "sensible heat", array="tile_flux", restart=True),
    Variable("ground_heat", "flux", _TILE, "J m-2", "J m-2", "ground heat", array="tile_flux", restart=True),
)

_VOLUME = dict(array="subbasin_flux", restart=True)
SUBBASIN_FLUXES = (
    Variable("overland_inflow", "flux", _SUBBASIN, "m3", "m3", "overland flow into the reach", **_VOLUME),
    Variable("overland_supply", "flux", _SUBBASIN, "m3", "m3", "runoff that entered the overland cascade", **_VOLUME),
    Variable("direct_inflow", "flux", _SUBBASIN, "m3", "m3", "interflow and open-water outflow into the reach",
             **_VOLUME),
    Variable("percolation_volume", "flux", _SUBBASIN, "m3", "m3", "percolation that entered the transition store",
             **_VOLUME),
    Variable("recharge", "flux", _SUBBASIN, "m3", "m3", "recharge of the unconfined aquifer", **_VOLUME),
    Variable("groundwater_discharge", "flux", _SUBBASIN, "m3", "m3",
             "flow from the aquifer to the reach, negative when the reach loses water", **_VOLUME),
    Variable("deep_loss", "flux", _SUBBASIN, "m3", "m3", "loss of the aquifer to depth", **_VOLUME),
    Variable("reach_inflow", "flux", _SUBBASIN, "m3", "m3", "inflow from upstream reaches", **_VOLUME),
    Variable("reach_outflow", "flux", _SUBBASIN, "m3", "m3", "outflow at the reach's end", **_VOLUME),
)

# What the river stage writes at each routing step and reach.
SERIES = (
    Variable("discharge", "diagnostic", _SUBBASIN, "m3 s-1", "m3 s-1", "discharge at the reach's end",
             "water_volume_transport_in_river_channel", array="series"),
    Variable("lateral_inflow", "diagnostic", _SUBBASIN, "m3 s-1", "m3 s-1",
             "overland flow, interflow, open-water outflow and groundwater into the reach", array="series"),
    Variable("baseflow", "diagnostic", _SUBBASIN, "m3 s-1", "m3 s-1", "flow from the aquifer to the reach",
             array="series"),
    Variable("water_table", "diagnostic", _SUBBASIN, "m", "m", "groundwater head above the river bed",
             array="series"),
)

_KERNEL_TILE = ("tile",)
DERIVED = (
    _derived("tile_fraction", _KERNEL_TILE, "tile_parameter", "1", "share of the tile in its unit"),
    _derived("share_a", _KERNEL_TILE, "tile_parameter", "1", "share of the tile for the first vegetation kind"),
    _derived("share_b", _KERNEL_TILE, "tile_parameter", "1", "share of the tile for the second vegetation kind"),
    _derived("depression_capacity", _KERNEL_TILE, "tile_parameter", "m",
             "depression store (open water: depth to sill)"),
    _derived("tile_degree_day_factor", _KERNEL_TILE, "tile_parameter", "m K-1 s-1", "degree-day factor"),
    _derived("ground_albedo", _KERNEL_TILE, "tile_parameter", "1", "albedo of the ground or water surface"),
    _derived("interflow_factor", _KERNEL_TILE, "tile_parameter", "m-1",
             "2 sin(slope) drainage density anisotropy, for R2 = K factor thickness"),
    _derived("percolation_limit", _KERNEL_TILE, "tile_parameter", "m s-1", "conductivity of the ground below the soil"),
    _derived("layer_thickness", ("soil_layer", "tile"), "soil_parameter", "m", "thickness"),
    _derived("saturated_water", ("soil_layer", "tile"), "soil_parameter", "m", "water at saturation"),
    _derived("residual_water", ("soil_layer", "tile"), "soil_parameter", "m", "water at the residual content"),
    _derived("field_capacity_water", ("soil_layer", "tile"), "soil_parameter", "m", "water at field capacity"),
    _derived("wilting_water", ("soil_layer", "tile"), "soil_parameter", "m", "water at the wilting point"),
    _derived("dry_water", ("soil_layer", "tile"), "soil_parameter", "m", "water at 1e6 cm, the limit of evaporation"),
    _derived("layer_conductivity", ("soil_layer", "tile"), "soil_parameter", "m s-1", "saturated conductivity"),
    _derived("front_suction", ("soil_layer", "tile"), "soil_parameter", "m", "suction at the wetting front"),
    _derived("retention_a", ("soil_layer", "tile"), "soil_parameter", "1", "Haverkamp a"),
    _derived("retention_b", ("soil_layer", "tile"), "soil_parameter", "1", "Haverkamp b"),
    _derived("conductivity_exponent", ("soil_layer", "tile"), "soil_parameter", "1", "Mualem power n"),
    _derived("area", _UNIT, "unit_parameter", "m2", "area of the unit"),
    _derived("elevation_difference", _UNIT, "unit_parameter", "m", "unit elevation minus forcing-cell elevation"),
    _derived("elevation", _UNIT, "unit_parameter", "m", "elevation of the unit"),
    _derived("latitude", _UNIT, "unit_parameter", "rad", "latitude of the unit"),
    _derived("longitude", _UNIT, "unit_parameter", "rad", "longitude of the unit"),
    _derived("overland_rate", _UNIT, "unit_parameter", "m-2/3 s-1",
             "sqrt(slope)/(n L): overland outflow per unit area is this times depth^(5/3)"),
    _derived("subbasin_area", _SUBBASIN, "subbasin_parameter", "m2", "area of the sub-basin"),
    _derived("yield_area", _SUBBASIN, "subbasin_parameter", "m2", "specific yield times area"),
    _derived("bed_conductance", _SUBBASIN, "subbasin_parameter", "m2 s-1", "kb Ab / db"),
    _derived("bed_thickness", _SUBBASIN, "subbasin_parameter", "m", "db"),
    _derived("delay", _SUBBASIN, "subbasin_parameter", "s", "time constant of the transition store"),
    _derived("loss_rate", _SUBBASIN, "subbasin_parameter", "s-1", "deep loss rate"),
    _derived("cell_length", _SUBBASIN, "subbasin_parameter", "m", "length of a river cell"),
    _derived("width", _SUBBASIN, "subbasin_parameter", "m", "river width"),
    _derived("roughness_factor", _SUBBASIN, "subbasin_parameter", "s3/5 m-1/5",
             "(n/sqrt(S))^(3/5): A = factor P^(2/5) Q^(3/5)"),
    _derived("step_closure", (), "option", "1",
             "residual of a step that is rounding, share of the water in the column"),
    _derived("soil_aerodynamic_factor", (), "option", "1", "aerodynamic resistance times wind speed, bare ground"),
    _derived("water_aerodynamic_factor", (), "option", "1", "aerodynamic resistance times wind speed, water and snow"),
    # per vegetation kind and step, interpolated between mid-months
    _derived("kind_leaf_area_index", _KIND, "vegetation", "1", "leaf area index"),
    _derived("kind_cover", _KIND, "vegetation", "1", "share of the kind's area covered by leaves"),
    _derived("kind_albedo", _KIND, "vegetation", "1", "albedo"),
    _derived("kind_aerodynamic_factor", _KIND, "vegetation", "1", "aerodynamic resistance times wind speed"),
    _derived("kind_stomatal_resistance", _KIND, "vegetation", "s m-1", "minimum stomatal resistance"),
    _derived("kind_critical_radiation", _KIND, "vegetation", "W m-2", "PARc"),
    _derived("kind_root_depth", _KIND, "vegetation", "m", "rooting depth"),
    # per unit and step: what the atmosphere stage hands to the columns
    _derived("rain", _UNIT, "weather", "m", "rain in the step"),
    _derived("snow", _UNIT, "weather", "m", "snowfall in the step"),
    _derived("temperature", _UNIT, "weather", "degC", "air temperature"),
    _derived("shortwave", _UNIT, "weather", "W m-2", "downward shortwave radiation"),
    _derived("daylight_shortwave", _UNIT, "weather", "W m-2", "shortwave averaged over daylight"),
    _derived("longwave_net", _UNIT, "weather", "W m-2", "net longwave radiation, positive downward"),
    _derived("vapour_pressure_deficit", _UNIT, "weather", "Pa", "vapour pressure deficit"),
    _derived("slope_of_saturation", _UNIT, "weather", "Pa K-1", "slope of the saturation curve"),
    _derived("psychrometric", _UNIT, "weather", "Pa K-1", "psychrometric constant"),
    _derived("vaporisation_heat", _UNIT, "weather", "J kg-1", "latent heat of vaporisation"),
    _derived("air_heat_capacity", _UNIT, "weather", "J m-3 K-1", "volumetric heat capacity of air"),
    _derived("wind", _UNIT, "weather", "m s-1", "wind speed, at least its floor"),
    # per step
    _derived("day_of_year", ("time",), "calendar", "1", "day of the year, 1 to 366"),
    _derived("solar_hour", ("time",), "calendar", "h", "UTC hour at the middle of the step"),
    # what the columns hand to the hillslopes, per routing step and tile
    _derived("to_overland", _KERNEL_TILE, "lateral", "m", "runoff to the overland cascade"),
    _derived("to_reach", _KERNEL_TILE, "lateral", "m", "interflow and open-water outflow"),
    _derived("to_aquifer", _KERNEL_TILE, "lateral", "m", "percolation"),
    # what the hillslopes hand to the rivers, per routing step and sub-basin
    _derived("surface_inflow", _SUBBASIN, "inflow", "m3", "overland flow, interflow and open-water outflow"),
    _derived("percolation_inflow", _SUBBASIN, "inflow", "m3", "percolation"),
)

DIAGNOSTICS = (
    Variable("evapotranspiration", "diagnostic", _UNIT, "m", "mm", "evapotranspiration, all kinds",
             "lwe_thickness_of_water_evapotranspiration_amount"),
    Variable("runoff", "diagnostic", _UNIT, "m", "mm", "surface runoff and interflow"),
    Variable("snow_water_equivalent", "diagnostic", _UNIT, "m", "mm", "ice and liquid water in the snow pack",
             "lwe_thickness_of_surface_snow_amount"),
    Variable("soil_moisture", "diagnostic", _LAYERED, "1", "m3 m-3", "volumetric soil water content",
             "volume_fraction_of_condensed_water_in_soil", average="soil"),
    Variable("gauge_discharge", "diagnostic", ("gauge",), "m3 s-1", "m3 s-1", "discharge at the gauge",
             "water_volume_transport_in_river_channel"),
)

TABLE: tuple[Variable, ...] = (
    TOPOLOGY + PARAMETERS + OPTIONS + FORCING + STATES + FLUXES + SUBBASIN_FLUXES + SERIES + DERIVED + DIAGNOSTICS
)

EVAPORATION = ("canopy_evaporation", "transpiration", "soil_evaporation", "snow_sublimation", "surface_evaporation",
               "open_water_evaporation")
RUNOFF = ("overland_runoff", "interflow", "percolation", "open_water_outflow")

BALANCES = (
    Balance("precipitation", "tile", ("precipitation_depth",), ("rainfall", "snowfall"), ()),
    Balance("interception", "tile", ("rainfall",), ("throughfall", "canopy_evaporation"), ("canopy_a", "canopy_b")),
    Balance("snow", "tile", ("throughfall", "snowfall"), ("ground_supply", "snow_sublimation"),
            ("snow_ice", "snow_liquid")),
    Balance("surface", "tile", ("ground_supply", "exfiltration"),
            ("infiltration", "overland_runoff", "surface_evaporation", "open_water_evaporation", "open_water_outflow"),
            ("surface_storage",)),
    Balance("soil", "tile", ("infiltration",),
            ("exfiltration", "soil_evaporation", "transpiration", "interflow", "percolation"), ("soil_water",)),
    Balance("column", "tile", ("precipitation_depth",), EVAPORATION + RUNOFF,
            ("canopy_a", "canopy_b", "snow_ice", "snow_liquid", "surface_storage", "soil_water")),
    Balance("overland", "subbasin", ("overland_supply",), ("overland_inflow",), ("overland_depth",)),
    Balance("transition", "subbasin", ("percolation_volume",), ("recharge",), ("transition_storage",)),
    Balance("groundwater", "subbasin", ("recharge",), ("groundwater_discharge", "deep_loss"), ("groundwater_head",)),
    Balance("river", "subbasin", ("reach_inflow", "overland_inflow", "direct_inflow", "groundwater_discharge"),
            ("reach_outflow",), ("river_storage",)),
)
