"""From a basin to kernel arrays: tiles, layered soil, network levels, river cells and starting states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry, rows
from wepl.errors import InputError
from wepl.physics.evapotranspiration import aerodynamic_factor_surface, aerodynamic_factor_vegetation
from wepl.run.fixed import Fixed, Table, positions
from wepl.run.zones import resistance_factors, spread

if TYPE_CHECKING:
    import xarray as xr

    from wepl.basin.dataset import Basin
    from wepl.run.clock import Clock

WATER_CLASS, SOIL_CLASS, IRRIGATED_CLASS, NON_IRRIGATED_CLASS, IMPERVIOUS_CLASS = range(5)
_LARGEST_LAPSE = 100.0  # K between a cell and a unit: more is a mistake, and nears the pole of eq. (3.2)


@dataclass
class Arrays:
    """Kernel arrays of one basin on the host, by the names of :mod:`wepl.kernels.buffers`, and its topology.

    ``values`` holds the arrays; ``unit_tiles`` are CSR lists; ``subbasin_of_unit``, ``unit_of_tile`` index positions,
    units being sorted by sub-basin and band (``unit_order``: file position of each sorted unit).
    """

    values: dict[str, np.ndarray] = field(default_factory=dict)
    unit_order: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    subbasin_of_unit: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    n_layers: int = 0

    @property
    def unit_of_tile(self) -> np.ndarray:
        """Position of each tile's unit."""
        return self.values["tile_index"][rows.TILE_UNIT]

    @property
    def tile_area(self) -> np.ndarray:
        """Area of each tile, m2."""
        area = self.values["unit_parameter"][rows.AREA][self.unit_of_tile]
        return area * self.values["tile_parameter"][rows.TILE_FRACTION]


def option_array(options: dict[str, float], step_seconds: float) -> np.ndarray:
    """The kernels' option row values, automatic choices resolved for a forcing step of ``step_seconds``."""
    option = np.zeros(rows.N_ROWS["option"])
    for row, entry in enumerate(registry.layout("option")):
        if entry.kind == "option":
            option[row] = options[entry.name]
    if option[rows.SOIL_PARTS] == 0:
        # Negative: as many at least, more where the soil drains fast.
        option[rows.SOIL_PARTS] = -max(1, round(4 * step_seconds / 86400))
    option[rows.ROUTING_STEP] = routing_step(options, step_seconds)
    height = options["wind_height"]
    for name in ("soil_roughness", "water_roughness"):
        if options[name] >= height:
            raise InputError(f"{name} is {options[name]:g} m, not below wind_height, {height:g} m: the log profile of "
                             "the wind needs a height above the roughness")
    option[rows.SOIL_AERODYNAMIC_FACTOR] = aerodynamic_factor_surface(options["soil_roughness"], height)
    option[rows.WATER_AERODYNAMIC_FACTOR] = aerodynamic_factor_surface(options["water_roughness"], height)
    return option


def routing_step(options: dict[str, float], step_seconds: float) -> float:
    """Routing step in s: 6 h for daily forcing, 1 h for shorter, or what ``routing_step`` says.

    Raises
    ------
    InputError
        The forcing step is not a whole number of routing steps.
    """
    chosen = options["routing_step"]
    if chosen == 0:
        chosen = 21600.0 if step_seconds >= 86400 else min(3600.0, step_seconds)
    if chosen > step_seconds or step_seconds % chosen != 0:
        raise InputError(f"routing_step is {chosen:g} s, but the forcing step of {step_seconds:g} s is not a whole "
                         f"number of it: give a divisor of {step_seconds:g}")
    return chosen


def assemble(basin: Basin, options: dict[str, float], fixed: Fixed | None = None) -> Arrays:
    """All time-independent kernel arrays and the starting states of ``basin``.

    Parameters
    ----------
    basin : Basin
        An opened basin (checked).
    options : dict of str to float
        Every option of the registry, the user's changes included.
    fixed : Fixed, optional
        What does not depend on the options, where it is known from another assembly of this basin.
    """
    fixed = Fixed(basin.parameters) if fixed is None else fixed
    units = fixed.units
    arrays = Arrays()
    _order_units(arrays, fixed)
    fraction, kinds = _tiles(arrays, units)
    _tile_parameters(arrays, fixed, options, fraction, kinds)
    _soil_parameters(arrays, fixed, options)
    _unit_parameters(arrays, fixed, options)
    _network(arrays, fixed, options)
    _starting_states(arrays, units, fixed.parameters, options["initial_wetness"])
    arrays.values["option"] = option_array(options, basin.forcing.clock.step_seconds)
    return arrays


def _order_units(arrays: Arrays, fixed: Fixed) -> None:
    """Units sorted by sub-basin, then from the ridge to the river."""
    parameters, order = fixed.parameters, fixed.unit_order
    arrays.unit_order = order
    arrays.subbasin_of_unit = fixed.subbasin_of_unit
    counts = np.bincount(fixed.subbasin_of_unit, minlength=parameters.sizes["subbasin"])
    arrays.values["unit_start"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    arrays.values["unit_cell"] = positions(parameters["cell"].values,
                                           parameters["unit_cell"].values[order]).astype(np.int32)


def _tiles(arrays: Arrays, units: Table) -> tuple[np.ndarray, np.ndarray]:
    """Make tiles, soil first, then impervious, then water: threads of a warp take one path."""
    land = units["land_fraction"].values
    land = land / land.sum(axis=1, keepdims=True)
    tiles = []
    for land_class in (SOIL_CLASS, IRRIGATED_CLASS, NON_IRRIGATED_CLASS, IMPERVIOUS_CLASS, WATER_CLASS):
        unit = np.flatnonzero(land[:, land_class] > 0.0)
        tiles.append(np.stack([unit, np.full(unit.size, land_class)]))
    unit, land_class = np.concatenate(tiles, axis=1)
    n_tiles = unit.size
    index = np.full((5, n_tiles), -1, dtype=np.int32)
    index[rows.TILE_UNIT] = unit
    index[rows.TILE_CLASS] = land_class
    index[rows.TILE_KIND] = np.select([land_class == WATER_CLASS, land_class == IMPERVIOUS_CLASS],
                                      [rows.WATER, rows.IMPERVIOUS], rows.SOIL)
    arrays.values["tile_index"] = index
    by_unit = np.argsort(unit, kind="stable").astype(np.int32)
    counts = np.bincount(unit, minlength=land.shape[0])
    arrays.values["tile_list"] = by_unit
    arrays.values["tile_start"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    kinds = np.full((2, n_tiles), -1)
    for which, names in ((0, ("tall_vegetation", "irrigated_vegetation", "non_irrigated_vegetation")),
                         (1, ("short_vegetation",))):
        for name, of_class in zip(names, (SOIL_CLASS, IRRIGATED_CLASS, NON_IRRIGATED_CLASS), strict=False):
            here = land_class == of_class
            kinds[which, here] = units[name].values[unit[here]]
    return land[unit, land_class], kinds


def _tile_parameters(arrays: Arrays, fixed: Fixed, options: dict[str, float], fraction: np.ndarray,
                     kinds: np.ndarray) -> None:
    units, index = fixed.units, arrays.values["tile_index"]
    unit, land_class = index[rows.TILE_UNIT], index[rows.TILE_CLASS]
    zone = None if fixed.unit_zone is None else fixed.unit_zone[unit]
    soil = land_class == SOIL_CLASS
    share_a = np.where(soil, units["tall_fraction"].values[unit], 1.0)
    share_b = np.where(soil, units["short_fraction"].values[unit], 0.0)
    share_a[kinds[0] < 0] = 0.0
    share_b[kinds[1] < 0] = 0.0
    # The table of kinds is repeated for each multiplier of their resistance.
    factors = resistance_factors(options)
    own = np.searchsorted(np.sort(factors), spread(options, "stomatal_resistance_factor", zone))
    table = np.argsort(factors)[own] * units.sizes["vegetation"]
    index[rows.VEGETATION_A] = np.where(share_a > 0.0, kinds[0] + table, -1)
    index[rows.VEGETATION_B] = np.where(share_b > 0.0, kinds[1] + table, -1)
    bare = 1.0 - share_a - share_b

    def mixed(kind_name: str, bare_value: float) -> np.ndarray:
        table = units[kind_name].values
        return share_a * table[np.maximum(kinds[0], 0)] + share_b * table[np.maximum(kinds[1], 0)] + bare * bare_value

    roof = options["roof_fraction"]
    paved = roof * options["roof_storage"] + (1.0 - roof) * options["pavement_storage"]
    of_soil = index[rows.TILE_KIND] == rows.SOIL
    impervious = land_class == IMPERVIOUS_CLASS
    store = np.where(of_soil, mixed("kind_depression_storage", options["bare_depression_storage"]), paved)
    values = np.zeros((rows.N_ROWS["tile_parameter"], unit.size))
    values[rows.TILE_FRACTION] = fraction
    values[rows.SHARE_A] = share_a
    values[rows.SHARE_B] = share_b
    values[rows.DEPRESSION_CAPACITY] = np.where(land_class == WATER_CLASS, options["open_water_depth"],
                                                store * spread(options, "depression_storage_factor", zone))
    melt = np.where(of_soil, mixed("kind_degree_day_factor", options["degree_day_factor"]),
                    options["degree_day_factor"])
    values[rows.TILE_DEGREE_DAY_FACTOR] = melt * spread(options, "degree_day_factor_factor", zone)
    values[rows.GROUND_ALBEDO] = np.select([impervious, land_class == WATER_CLASS],
                                           [options["impervious_albedo"], options["water_albedo"]],
                                           options["bare_soil_albedo"])
    density = units["drainage_density"].values[arrays.subbasin_of_unit][unit]
    slope = np.arctan(units["unit_slope"].values[unit])
    values[rows.INTERFLOW_FACTOR] = np.where(
        of_soil, 2.0 * np.sin(slope) * density * spread(options, "interflow_anisotropy", zone), 0.0)
    values[rows.PERCOLATION_LIMIT] = units["bedrock_conductivity"].values[arrays.subbasin_of_unit][unit]
    arrays.values["tile_parameter"] = values
    rough = np.where(of_soil, mixed("kind_manning", options["bare_manning"]), options["impervious_manning"])
    weight = np.where(land_class == WATER_CLASS, 0.0, fraction)
    total = np.bincount(unit, weights=weight * rough, minlength=units.sizes["unit"])
    land = np.bincount(unit, weights=weight, minlength=units.sizes["unit"])
    arrays.values["unit_manning"] = np.where(land > 0.0, total / np.where(land > 0.0, land, 1.0),
                                             options["bare_manning"])


def _soil_parameters(arrays: Arrays, fixed: Fixed, options: dict[str, float]) -> None:
    """Layered soil of each tile as depths."""
    units, curves = fixed.units, fixed.curves
    layered = None if fixed.unit_zone is None else fixed.unit_zone[:, np.newaxis]
    thickness = units["soil_thickness"].values * spread(options, "soil_thickness_factor", layered)
    content = {name: units[name].values for name in ("saturated_water_content", "residual_water_content",
                                                     "field_capacity", "wilting_point")}
    by_row = {
        rows.LAYER_THICKNESS: thickness,
        rows.SATURATED_WATER: content["saturated_water_content"] * thickness,
        rows.RESIDUAL_WATER: content["residual_water_content"] * thickness,
        rows.FIELD_CAPACITY_WATER: content["field_capacity"] * thickness,
        rows.WILTING_WATER: content["wilting_point"] * thickness,
        rows.DRY_WATER: curves.dry * thickness,
        rows.LAYER_CONDUCTIVITY: (units["saturated_conductivity"].values
                                  * spread(options, "conductivity_factor", layered)),
        rows.FRONT_SUCTION: units["wetting_front_suction"].values,
        rows.RETENTION_A: curves.a,
        rows.RETENTION_B: curves.b,
        rows.CONDUCTIVITY_EXPONENT: curves.n,
    }
    unit = arrays.unit_of_tile
    arrays.n_layers = thickness.shape[1]
    values = np.empty((rows.N_ROWS["soil_parameter"], arrays.n_layers, unit.size))
    for row, of_unit in by_row.items():
        values[row] = np.broadcast_to(of_unit, thickness.shape)[unit].T
    arrays.values["soil_parameter"] = values


def _unit_parameters(arrays: Arrays, fixed: Fixed, options: dict[str, float]) -> None:
    units = fixed.units
    cell_elevation = units["cell_elevation"].values[arrays.values["unit_cell"]]
    manning = arrays.values.pop("unit_manning")
    if "manning_overland" in units:
        given = units["manning_overland"].values
        manning = np.where(np.isfinite(given), given, manning)
    manning = manning * spread(options, "manning_overland_factor", fixed.unit_zone)
    slope = np.maximum(units["unit_slope"].values, options["minimum_slope"])
    values = np.zeros((rows.N_ROWS["unit_parameter"], units.sizes["unit"]))
    values[rows.AREA] = units["unit_area"].values
    values[rows.ELEVATION] = units["unit_elevation"].values
    values[rows.ELEVATION_DIFFERENCE] = values[rows.ELEVATION] - cell_elevation
    warmer = np.abs(options["temperature_lapse_rate"] * values[rows.ELEVATION_DIFFERENCE])
    if warmer.max() > _LARGEST_LAPSE:
        worst = int(np.argmax(warmer))
        raise InputError(f"temperature_lapse_rate {options['temperature_lapse_rate']:g} K m-1 changes the air of unit "
                         f"{units['unit'].values[worst]} by {warmer[worst]:.0f} K over "
                         f"{values[rows.ELEVATION_DIFFERENCE, worst]:.0f} m: correct it, or the elevations")
    values[rows.LATITUDE] = np.radians(units["unit_latitude"].values)
    if "unit_longitude" in units:
        values[rows.LONGITUDE] = np.radians(units["unit_longitude"].values)
    values[rows.OVERLAND_RATE] = np.sqrt(slope) / (manning * units["unit_flow_length"].values)
    arrays.values["unit_parameter"] = values


def _network(arrays: Arrays, fixed: Fixed, options: dict[str, float]) -> None:
    """Upstream lists, levels, river cells and sub-basin parameters; the bed's area is that of eq. (11.5)."""
    parameters, below, zone = fixed.parameters, fixed.below, fixed.subbasin_zone
    n = below.size
    children = np.flatnonzero(below >= 0)
    order = children[np.argsort(below[children], kind="stable")]
    arrays.values["upstream_start"] = np.concatenate([[0], np.cumsum(fixed.n_upstream)]).astype(np.int32)
    arrays.values["upstream_list"] = order.astype(np.int32)
    by_level = np.argsort(fixed.level, kind="stable")
    arrays.values["level_list"] = by_level.astype(np.int32)
    arrays.values["level_start"] = np.concatenate([[0], np.cumsum(np.bincount(fixed.level))]).astype(np.int32)

    length, width = parameters["reach_length"].values, parameters["reach_width"].values
    cells = np.maximum(1, np.ceil(length / options["river_cell_length"] - 1e-9)).astype(np.int64)
    arrays.values["cell_start"] = np.concatenate([[0], np.cumsum(cells)]).astype(np.int32)
    area = np.bincount(arrays.subbasin_of_unit, weights=arrays.values["unit_parameter"][rows.AREA], minlength=n)
    manning = parameters["reach_manning"].values * spread(options, "manning_river_factor", zone)
    values = np.zeros((rows.N_ROWS["subbasin_parameter"], n))
    values[rows.SUBBASIN_AREA] = area
    values[rows.YIELD_AREA] = parameters["specific_yield"].values * spread(options, "aquifer_factor", zone) * area
    bed = parameters["riverbed_conductivity"].values * spread(options, "riverbed_conductivity_factor", zone)
    tributaries = np.maximum(0.0, parameters["drainage_density"].values * area - length)
    bed_area = length * width + tributaries * parameters["tributary_width"].values
    values[rows.BED_CONDUCTANCE] = bed * bed_area / parameters["riverbed_thickness"].values
    values[rows.BED_THICKNESS] = parameters["riverbed_thickness"].values
    values[rows.DELAY] = parameters["recharge_delay"].values
    values[rows.LOSS_RATE] = parameters["deep_loss_rate"].values
    values[rows.CELL_LENGTH] = length / cells
    values[rows.WIDTH] = width
    values[rows.ROUGHNESS_FACTOR] = (manning / np.sqrt(parameters["reach_slope"].values)) ** 0.6
    arrays.values["subbasin_parameter"] = values


def _starting_states(arrays: Arrays, units: Table, parameters: Table, wetness: float) -> None:
    index, unit = arrays.values["tile_index"], arrays.unit_of_tile
    tile = np.zeros((rows.N_ROWS["tile_state"], unit.size))
    water = index[rows.TILE_KIND] == rows.WATER
    tile[rows.SURFACE_STORAGE, water] = arrays.values["tile_parameter"][rows.DEPRESSION_CAPACITY, water]
    arrays.values["tile_state"] = tile
    soil = np.zeros((rows.N_ROWS["soil_state"], arrays.n_layers, unit.size))
    parameter = arrays.values["soil_parameter"]
    capacity = parameter[rows.FIELD_CAPACITY_WATER]
    start = capacity - (1.0 - wetness) * (capacity - parameter[rows.WILTING_WATER])
    if "initial_soil_moisture" in units:
        content = units["initial_soil_moisture"].values[unit].T
        given = np.clip(content * parameter[rows.LAYER_THICKNESS], parameter[rows.RESIDUAL_WATER],
                        parameter[rows.SATURATED_WATER])
        start = np.where(np.isfinite(content), given, start)
    soil[rows.SOIL_WATER] = start * (index[rows.TILE_KIND] == rows.SOIL)
    arrays.values["soil_state"] = soil
    unit_state = np.zeros((rows.N_ROWS["unit_state"], units.sizes["unit"]))
    unit_state[rows.CLOUD_RATIO] = 0.5
    arrays.values["unit_state"] = unit_state
    subbasin = np.zeros((rows.N_ROWS["subbasin_state"], parameters.sizes["subbasin"]))
    subbasin[rows.GROUNDWATER_HEAD] = parameters["initial_groundwater_head"].values
    arrays.values["subbasin_state"] = subbasin
    arrays.values["river_state"] = np.zeros((1, int(arrays.values["cell_start"][-1])))


def vegetation_table(parameters: xr.Dataset, clock: Clock, first: int, last: int,
                     options: dict[str, float]) -> np.ndarray:
    """``vegetation[row, step, kind]`` of steps first to last (not included), interpolated between mid-months.

    The kinds are repeated for each of :func:`wepl.run.zones.resistance_factors`.
    """
    before, after, weight = clock.month_weights(first, last)

    def monthly(name: str) -> np.ndarray:
        values = parameters[name].values
        return ((1.0 - weight) * values[:, before] + weight * values[:, after]).T

    n_steps, n_kinds = last - first, parameters.sizes["vegetation"]
    table = np.zeros((rows.N_ROWS["vegetation"], n_steps, n_kinds))
    table[rows.KIND_LEAF_AREA_INDEX] = monthly("leaf_area_index")
    table[rows.KIND_COVER] = monthly("vegetation_cover")
    table[rows.KIND_ALBEDO] = parameters["vegetation_albedo"].values
    height = monthly("vegetation_height")
    heights, inverse = np.unique(height, return_inverse=True)
    factor = np.array([aerodynamic_factor_vegetation(float(value), options["wind_height"]) for value in heights])
    table[rows.KIND_AERODYNAMIC_FACTOR] = factor[inverse].reshape(height.shape)
    table[rows.KIND_CRITICAL_RADIATION] = parameters["critical_radiation"].values
    table[rows.KIND_ROOT_DEPTH] = parameters["root_depth"].values
    if not math.isfinite(float(table.sum())):
        raise InputError("the vegetation table has values that are not finite: see `wepl check`")
    return repeat_kinds(table, parameters["minimum_stomatal_resistance"].values, resistance_factors(options))


def repeat_kinds(table: np.ndarray, resistance: np.ndarray, factors: Sequence[float]) -> np.ndarray:
    """The table of kinds once for each multiplier of their stomatal ``resistance`` (s m-1, [kind])."""
    repeated = np.tile(table, len(factors))
    repeated[rows.KIND_STOMATAL_RESISTANCE] = np.concatenate([resistance * factor for factor in factors])
    return repeated
