"""From a basin to kernel arrays: tiles, layered soil, network levels, river cells and starting states."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry, rows
from wepl.basin.soils import derive_curve
from wepl.errors import InputError
from wepl.physics.evapotranspiration import aerodynamic_factor_surface, aerodynamic_factor_vegetation
from wepl.physics.soil_hydraulics import retention_saturation

if TYPE_CHECKING:
    import xarray as xr

    from wepl.basin.dataset import Basin
    from wepl.run.clock import Clock

WATER_CLASS, SOIL_CLASS, IRRIGATED_CLASS, NON_IRRIGATED_CLASS, IMPERVIOUS_CLASS = range(5)
_COARSE_SUCTION_CM = 100.0
_LARGEST_LAPSE = 100.0  # K between a cell and a unit: more is a mistake, and nears the pole of eq. (3.2)
_FINE_SUCTION_CM = 330.0
_COARSE_CONDUCTIVITY = 1.0 / 86400.0  # m s-1: sand and loamy sand of Rawls et al. lie above 1 m/d


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
    for entry in registry.of_kind("option"):
        option[registry.row(entry.name)] = options[entry.name]
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


def assemble(basin: Basin, options: dict[str, float]) -> Arrays:
    """All time-independent kernel arrays and the starting states of ``basin``.

    Parameters
    ----------
    basin : Basin
        An opened basin (checked).
    options : dict of str to float
        Every option of the registry, the user's changes included.
    """
    parameters = basin.parameters
    arrays = Arrays()
    _order_units(arrays, parameters)
    units = parameters.isel(unit=arrays.unit_order)
    fraction, kinds = _tiles(arrays, units)
    _tile_parameters(arrays, units, options, fraction, kinds)
    _soil_parameters(arrays, units, options)
    _unit_parameters(arrays, units, options)
    _network(arrays, parameters, options)
    _starting_states(arrays, units, parameters)
    arrays.values["option"] = option_array(options, basin.forcing.clock.step_seconds)
    return arrays


def _positions(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Position of each wanted id in ``ids``."""
    order = np.argsort(ids, kind="stable")
    return order[np.searchsorted(ids, wanted, sorter=order)]


def _order_units(arrays: Arrays, parameters: xr.Dataset) -> None:
    """Sort units by sub-basin, then from the ridge to the river."""
    subbasin = _positions(parameters["subbasin"].values, parameters["unit_subbasin"].values)
    order = np.lexsort((parameters["unit_order"].values, subbasin))
    arrays.unit_order = order
    arrays.subbasin_of_unit = subbasin[order]
    counts = np.bincount(subbasin, minlength=parameters.sizes["subbasin"])
    arrays.values["unit_start"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    arrays.values["unit_cell"] = _positions(parameters["cell"].values,
                                            parameters["unit_cell"].values[order]).astype(np.int32)


def _tiles(arrays: Arrays, units: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
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


def _tile_parameters(arrays: Arrays, units: xr.Dataset, options: dict[str, float], fraction: np.ndarray,
                     kinds: np.ndarray) -> None:
    index = arrays.values["tile_index"]
    unit, land_class = index[rows.TILE_UNIT], index[rows.TILE_CLASS]
    soil = land_class == SOIL_CLASS
    share_a = np.where(soil, units["tall_fraction"].values[unit], 1.0)
    share_b = np.where(soil, units["short_fraction"].values[unit], 0.0)
    share_a[kinds[0] < 0] = 0.0
    share_b[kinds[1] < 0] = 0.0
    index[rows.VEGETATION_A] = np.where(share_a > 0.0, kinds[0], -1)
    index[rows.VEGETATION_B] = np.where(share_b > 0.0, kinds[1], -1)
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
                                                store * options["depression_storage_factor"])
    melt = np.where(of_soil, mixed("kind_degree_day_factor", options["degree_day_factor"]),
                    options["degree_day_factor"])
    values[rows.TILE_DEGREE_DAY_FACTOR] = melt * options["degree_day_factor_factor"]
    values[rows.GROUND_ALBEDO] = np.select([impervious, land_class == WATER_CLASS],
                                           [options["impervious_albedo"], options["water_albedo"]],
                                           options["bare_soil_albedo"])
    density = units["drainage_density"].values[arrays.subbasin_of_unit][unit]
    slope = np.arctan(units["unit_slope"].values[unit])
    values[rows.INTERFLOW_FACTOR] = np.where(
        of_soil, 2.0 * np.sin(slope) * density * options["interflow_anisotropy"], 0.0)
    values[rows.PERCOLATION_LIMIT] = units["bedrock_conductivity"].values[arrays.subbasin_of_unit][unit]
    arrays.values["tile_parameter"] = values
    rough = np.where(of_soil, mixed("kind_manning", options["bare_manning"]), options["impervious_manning"])
    weight = np.where(land_class == WATER_CLASS, 0.0, fraction)
    total = np.bincount(unit, weights=weight * rough, minlength=units.sizes["unit"])
    land = np.bincount(unit, weights=weight, minlength=units.sizes["unit"])
    arrays.values["unit_manning"] = np.where(land > 0.0, total / np.where(land > 0.0, land, 1.0),
                                             options["bare_manning"])


def _soil_parameters(arrays: Arrays, units: xr.Dataset, options: dict[str, float]) -> None:
    """Layered soil of each tile as depths; the curves are derived from field capacity and wilting point if needed."""
    thickness = units["soil_thickness"].values * options["soil_thickness_factor"]
    content = {name: units[name].values for name in ("saturated_water_content", "residual_water_content",
                                                     "field_capacity", "wilting_point")}
    conductivity = units["saturated_conductivity"].values
    if "haverkamp_a" in units:
        a, b, n = (units[name].values for name in ("haverkamp_a", "haverkamp_b", "mualem_n"))
    else:
        suction = np.where(conductivity > _COARSE_CONDUCTIVITY, _COARSE_SUCTION_CM, _FINE_SUCTION_CM)
        a, b, n = derive_curve(content["saturated_water_content"], content["residual_water_content"],
                               content["field_capacity"], content["wilting_point"], conductivity, suction)
    dry = _dry_content(content["saturated_water_content"], content["residual_water_content"], a, b)
    by_row = {
        rows.LAYER_THICKNESS: thickness,
        rows.SATURATED_WATER: content["saturated_water_content"] * thickness,
        rows.RESIDUAL_WATER: content["residual_water_content"] * thickness,
        rows.FIELD_CAPACITY_WATER: content["field_capacity"] * thickness,
        rows.WILTING_WATER: content["wilting_point"] * thickness,
        rows.DRY_WATER: dry * thickness,
        rows.LAYER_CONDUCTIVITY: conductivity * options["conductivity_factor"],
        rows.FRONT_SUCTION: units["wetting_front_suction"].values,
        rows.RETENTION_A: a,
        rows.RETENTION_B: b,
        rows.CONDUCTIVITY_EXPONENT: n,
    }
    unit = arrays.unit_of_tile
    arrays.n_layers = thickness.shape[1]
    values = np.empty((rows.N_ROWS["soil_parameter"], arrays.n_layers, unit.size))
    for row, of_unit in by_row.items():
        values[row] = np.broadcast_to(of_unit, thickness.shape)[unit].T
    arrays.values["soil_parameter"] = values


def _dry_content(saturated: np.ndarray, residual: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Water content at 1e6 cm suction, at or above the residual content."""
    saturation = np.frompyfunc(lambda x, y: retention_saturation(1e4, x, y), 2, 1)(a, b).astype(float)
    return residual + saturation * (saturated - residual)


def _unit_parameters(arrays: Arrays, units: xr.Dataset, options: dict[str, float]) -> None:
    cell_elevation = units["cell_elevation"].values[arrays.values["unit_cell"]]
    manning = arrays.values.pop("unit_manning")
    if "manning_overland" in units:
        given = units["manning_overland"].values
        manning = np.where(np.isfinite(given), given, manning)
    manning = manning * options["manning_overland_factor"]
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


def _network(arrays: Arrays, parameters: xr.Dataset, options: dict[str, float]) -> None:
    """Upstream lists, levels, river cells and sub-basin parameters; the bed's area is that of eq. (11.5)."""
    ids, downstream = parameters["subbasin"].values, parameters["downstream"].values
    n = ids.size
    inside = downstream >= 0
    below = np.full(n, -1)
    below[inside] = _positions(ids, downstream[inside])
    children = np.flatnonzero(inside)
    order = children[np.argsort(below[children], kind="stable")]
    counts = np.bincount(below[children], minlength=n)
    arrays.values["upstream_start"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    arrays.values["upstream_list"] = order.astype(np.int32)
    level = _levels(below, counts)
    by_level = np.argsort(level, kind="stable")
    arrays.values["level_list"] = by_level.astype(np.int32)
    arrays.values["level_start"] = np.concatenate([[0], np.cumsum(np.bincount(level))]).astype(np.int32)

    length, width = parameters["reach_length"].values, parameters["reach_width"].values
    cells = np.maximum(1, np.ceil(length / options["river_cell_length"] - 1e-9)).astype(np.int64)
    arrays.values["cell_start"] = np.concatenate([[0], np.cumsum(cells)]).astype(np.int32)
    area = np.bincount(arrays.subbasin_of_unit, weights=arrays.values["unit_parameter"][rows.AREA], minlength=n)
    manning = parameters["reach_manning"].values * options["manning_river_factor"]
    values = np.zeros((rows.N_ROWS["subbasin_parameter"], n))
    values[rows.SUBBASIN_AREA] = area
    values[rows.YIELD_AREA] = parameters["specific_yield"].values * options["aquifer_factor"] * area
    bed = parameters["riverbed_conductivity"].values * options["riverbed_conductivity_factor"]
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


def _levels(below: np.ndarray, n_upstream: np.ndarray) -> np.ndarray:
    """Longest way from a headwater to each reach, in reaches."""
    waiting = n_upstream.copy()
    level = np.zeros(below.size, dtype=np.int64)
    front = np.flatnonzero(waiting == 0)
    while front.size:
        down = below[front]
        going = down >= 0
        np.maximum.at(level, down[going], level[front[going]] + 1)
        np.subtract.at(waiting, down[going], 1)
        touched = np.unique(down[going])
        front = touched[waiting[touched] == 0]
    return level


def _starting_states(arrays: Arrays, units: xr.Dataset, parameters: xr.Dataset) -> None:
    index, unit = arrays.values["tile_index"], arrays.unit_of_tile
    tile = np.zeros((rows.N_ROWS["tile_state"], unit.size))
    water = index[rows.TILE_KIND] == rows.WATER
    tile[rows.SURFACE_STORAGE, water] = arrays.values["tile_parameter"][rows.DEPRESSION_CAPACITY, water]
    arrays.values["tile_state"] = tile
    soil = np.zeros((rows.N_ROWS["soil_state"], arrays.n_layers, unit.size))
    parameter = arrays.values["soil_parameter"]
    start = parameter[rows.FIELD_CAPACITY_WATER]
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
    """``vegetation[row, step, kind]`` of steps first to last (not included), interpolated between mid-months."""
    before, after, weight = clock.month_weights(first, last)

    def monthly(name: str) -> np.ndarray:
        values = parameters[name].values
        return ((1.0 - weight) * values[:, before] + weight * values[:, after]).T

    n_steps, n_kinds = last - first, parameters.sizes["vegetation"]
    table = np.empty((rows.N_ROWS["vegetation"], n_steps, n_kinds))
    table[rows.KIND_LEAF_AREA_INDEX] = monthly("leaf_area_index")
    table[rows.KIND_COVER] = monthly("vegetation_cover")
    table[rows.KIND_ALBEDO] = parameters["vegetation_albedo"].values
    height = monthly("vegetation_height")
    heights, inverse = np.unique(height, return_inverse=True)
    factor = np.array([aerodynamic_factor_vegetation(float(value), options["wind_height"]) for value in heights])
    table[rows.KIND_AERODYNAMIC_FACTOR] = factor[inverse].reshape(height.shape)
    table[rows.KIND_STOMATAL_RESISTANCE] = (parameters["minimum_stomatal_resistance"].values
                                            * options["stomatal_resistance_factor"])
    table[rows.KIND_CRITICAL_RADIATION] = parameters["critical_radiation"].values
    table[rows.KIND_ROOT_DEPTH] = parameters["root_depth"].values
    if not math.isfinite(float(table.sum())):
        raise InputError("the vegetation table has values that are not finite: see `wepl check`")
    return table
