"""Options of a run: switches, defaults that hold for a whole basin, and calibration multipliers."""

from __future__ import annotations

from wepl.registry.model import Variable


def _option(name, units, default, valid, text, **more):
    return Variable(name, "option", (), units, more.pop("file_units", units), text, default=default, valid=valid,
                    array="option", **more)


OPTIONS = (
    # time
    _option("heavy_rain_depth", "m", 0.010, (0.0, 10.0), "daily depth at the ground above which a step is heavy",
            file_units="mm", source="W"),
    _option("infiltration_switch", "1", 4, (0, 4), "rule that makes a step heavy; automatic is daily_depth for daily "
            "steps and rate for shorter ones", integer=True,
            choices=("daily_depth", "rate", "always", "never", "automatic"), source="PHY 2"),
    _option("soil_parts", "1", 0, (0, 96), "parts of a step for soil water (n_sub); 0: 4 daily, "
            "1 hourly, and up to four times as many while the soil drains fast", integer=True,
            source="PHY 2"),
    _option("routing_step", "s", 0.0, (0.0, 86400.0), "routing step; 0: 1 h for hourly forcing, 6 h for daily",
            source="W"),
    _option("river_cell_length", "m", 5000.0, (1.0, 1e7), "largest length of a river cell", source="PHY 13"),
    # atmosphere
    _option("wind_height", "m", 10.0, (0.5, 500), "height of the wind measurement", source="PHY 3"),
    _option("temperature_lapse_rate", "K m-1", 0.0065, (-0.05, 0.05), "fall of air temperature with height",
            source="PHY 3"),
    _option("precipitation_lapse_rate", "m-1", 0.0, (-0.01, 0.01),
            "relative rise of precipitation with height above the forcing cell", source="PHY 3"),
    _option("angstrom_a", "1", 0.25, (0.0, 1.0), "a_s of the Angstrom formula", source="FAO eq. 35"),
    _option("angstrom_b", "1", 0.50, (0.0, 1.0), "b_s of the Angstrom formula", source="FAO eq. 35"),
    _option("surface_emissivity", "1", 0.97, (0.5, 1.0), "emissivity of the surface for given longwave"),
    _option("minimum_wind_speed", "m s-1", 0.5, (0.01, 5.0), "floor of the wind speed", source="PHY 6"),
    _option("energy_balance", "1", 0, (0, 1), "ground heat flux: none (G = 0) or force_restore", integer=True,
            choices=("none", "force_restore"), source="PHY 6"),
    # surfaces
    _option("water_albedo", "1", 0.08, (0.0, 1.0), "albedo of open water", source="PHY 16"),
    _option("bare_soil_albedo", "1", 0.18, (0.0, 1.0), "albedo of bare soil", source="PHY 16"),
    _option("impervious_albedo", "1", 0.18, (0.0, 1.0), "albedo of impervious ground", source="PHY 16"),
    _option("snow_albedo", "1", 0.70, (0.0, 1.0), "albedo of snow", source="PHY 16"),
    _option("soil_roughness", "m", 0.005, (1e-5, 1.0), "roughness length of bare soil and impervious ground",
            source="PHY 6"),
    _option("water_roughness", "m", 0.001, (1e-5, 1.0), "roughness length of open water and snow", source="PHY 6"),
    _option("roof_fraction", "1", 0.4, (0.0, 1.0), "share of roofs in the impervious class"),
    _option("roof_storage", "m", 0.002, (0.0, 0.1), "depression store of roofs", file_units="mm", source="PHY 6"),
    _option("pavement_storage", "m", 0.003, (0.0, 0.1), "depression store of paved ground", file_units="mm",
            source="PHY 6"),
    _option("impervious_manning", "s m-1/3", 0.02, (0.005, 1.0), "Manning roughness of impervious ground",
            source="PHY 16"),
    _option("bare_manning", "s m-1/3", 0.05, (0.005, 1.0), "Manning roughness of bare soil", source="PHY 16"),
    _option("bare_depression_storage", "m", 0.003, (0.0, 1.0), "depression store of bare soil", file_units="mm",
            source="PHY 16"),
    _option("open_water_depth", "m", 2.0, (0.0, 100.0),
            "water that open water holds below its outlet sill and evaporation may use", source="PHY 11 [D]"),
    # vegetation
    _option("rs_max", "s m-1", 5000.0, (100, 1e5), "largest canopy and stomatal resistance", source="W"),
    _option("critical_vapour_pressure_deficit", "Pa", 4000.0, (500, 20000), "VPDc of the humidity factor f2",
            source="W"),
    _option("canopy_storage_per_leaf_area", "m", 0.2e-3, (0.0, 0.01), "interception store per leaf area",
            file_units="mm", source="Noilhan and Planton 1989"),
    _option("active_leaf_share", "1", 0.5, (0.1, 1.0), "share of the leaf area that transpires",
            source="FAO: active half"),
    # snow
    _option("snow_temperature", "degC", 0.0, (-20, 20), "all precipitation is snow at and below", source="PHY 4"),
    _option("rain_temperature", "degC", 2.0, (-20, 20), "all precipitation is rain at and above", source="PHY 4"),
    _option("melt_temperature", "degC", 0.0, (-20, 20), "T0 of the degree-day formula", source="PHY 4"),
    _option("degree_day_factor", "m K-1 s-1", 3.5e-3 / 86400, (0.0, 3e-7),
            "degree-day factor of bare and impervious ground", file_units="mm K-1 d-1",
            source="PHY 4: 1 to 7 mm; Kuusisto 1980, open sites"),
    _option("snow_liquid_share", "1", 0.1, (0.0, 0.5), "liquid water a pack holds, share of its ice", source="PHY 4"),
    _option("refreezing_share", "1", 0.05, (0.0, 1.0), "refreezing factor, share of the degree-day factor",
            source="PHY 4"),
    # soil
    _option("interflow_anisotropy", "1", 300.0, (0.0, 1e5), "multiplier of conductivity for interflow",
            source="PHY 10"),
    _option("minimum_slope", "1", 1e-4, (1e-6, 0.1), "floor of the overland slope", source="PHY 12"),
    # calibration multipliers
    _option("soil_thickness_factor", "1", 1.0, (0.01, 100), "multiplier of soil thickness"),
    _option("stomatal_resistance_factor", "1", 1.0, (0.01, 100), "multiplier of minimum stomatal resistance"),
    _option("conductivity_factor", "1", 1.0, (1e-3, 1e3), "multiplier of saturated conductivity"),
    _option("aquifer_factor", "1", 1.0, (0.01, 100), "multiplier of specific yield (aquifer thickness)"),
    _option("riverbed_conductivity_factor", "1", 1.0, (0.0, 1e4), "multiplier of river-bed conductivity"),
    _option("manning_overland_factor", "1", 1.0, (0.01, 100), "multiplier of overland roughness"),
    _option("manning_river_factor", "1", 1.0, (0.01, 100), "multiplier of river roughness"),
    _option("depression_storage_factor", "1", 1.0, (0.0, 100), "multiplier of depression stores"),
    _option("degree_day_factor_factor", "1", 1.0, (0.0, 100), "multiplier of degree-day factors"),
    # start
    _option("initial_wetness", "1", 1.0, (0.0, 1.0),
            "where no initial_soil_moisture is given: water for plants at the start, share of its capacity"),
)
