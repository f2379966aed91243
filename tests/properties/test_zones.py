"""Multipliers of parameter zones act in their zone alone."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from wepl import backends, rows
from wepl.basin.dataset import Basin
from wepl.errors import InputError
from wepl.run import zones
from wepl.run.assembly import assemble, vegetation_table
from wepl.run.ensemble import run_members
from wepl.run.memory import run_in_memory
from wepl.run.simulation import resolve_options


def zoned(path, number_of=lambda subbasin: 1 + subbasin % 2) -> Basin:
    """The basin of a file with a parameter zone for each unit."""
    with xr.open_dataset(path, decode_times=False) as data:
        raw = data.load()
    numbers = np.array([number_of(place) for place in np.unique(raw["unit_subbasin"].values, return_inverse=True)[1]])
    raw["parameter_zone"] = ("unit", numbers.astype(np.int32))
    return Basin.from_dataset(raw)


@pytest.fixture(scope="module")
def basin(daily_basin) -> Basin:
    return zoned(daily_basin)


def assembled(basin, **changes):
    options = resolve_options(basin, {name.replace("_at_", "@"): value for name, value in changes.items()})
    return assemble(basin, options).values


FIELDS = {
    "soil_thickness_factor": ("soil_parameter", rows.LAYER_THICKNESS), "conductivity_factor": (
        "soil_parameter", rows.LAYER_CONDUCTIVITY),
    "aquifer_factor": ("subbasin_parameter", rows.YIELD_AREA),
    "riverbed_conductivity_factor": ("subbasin_parameter", rows.BED_CONDUCTANCE),
    "manning_overland_factor": ("unit_parameter", rows.OVERLAND_RATE),
    "manning_river_factor": ("subbasin_parameter", rows.ROUGHNESS_FACTOR),
    "depression_storage_factor": ("tile_parameter", rows.DEPRESSION_CAPACITY),
    "degree_day_factor_factor": ("tile_parameter", rows.TILE_DEGREE_DAY_FACTOR),
    "interflow_anisotropy": ("tile_parameter", rows.INTERFLOW_FACTOR),
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_zone_has_its_own_and_the_rest_the_general_value(basin, name):
    array, row = FIELDS[name]
    own = {f"{name}@2": 3.0, name: 0.5}
    found = assemble(basin, resolve_options(basin, own))
    general, special = (assemble(basin, resolve_options(basin, {name: value})).values[array][row]
                        for value in (0.5, 3.0))
    zone = 1 + found.subbasin_of_unit % 2
    place = {"soil_parameter": zone[found.unit_of_tile], "tile_parameter": zone[found.unit_of_tile],
             "unit_parameter": zone, "subbasin_parameter": 1 + np.arange(general.size) % 2}[array]
    assert not np.array_equal(general, special)
    np.testing.assert_array_equal(found.values[array][row], np.where(place == 2, special, general))


def test_stomatal_resistance_of_zones(basin):
    options = resolve_options(basin, {"stomatal_resistance_factor@2": 3.0})
    found = assemble(basin, options)
    table = vegetation_table(basin.parameters, basin.clock, 0, 5, options)[rows.KIND_STOMATAL_RESISTANCE]
    least = basin.parameters["minimum_stomatal_resistance"].values
    plain = assemble(basin, resolve_options(basin, {})).values["tile_index"]
    for row in (rows.VEGETATION_A, rows.VEGETATION_B):
        kind, before = found.values["tile_index"][row], plain[row]
        zone = 1 + found.subbasin_of_unit[found.unit_of_tile] % 2
        grows = before >= 0
        np.testing.assert_array_equal(kind[~grows], -1)
        np.testing.assert_array_equal(table[0, kind[grows]],
                                      least[before[grows]] * np.where(zone[grows] == 2, 3.0, 1.0))


def test_the_same_value_in_all_zones_is_the_general_value(basin):
    names = [*FIELDS, "stomatal_resistance_factor"]
    device = backends.create("cpu")
    general = run_in_memory(basin, device, last=40, options=dict.fromkeys(names, 1.5))
    each = {f"{name}@{zone}": 1.5 for name in names for zone in (1, 2)}
    by_zone = run_in_memory(basin, device, last=40, options=each)
    for name, values in general.series.items():
        np.testing.assert_array_equal(by_zone.series[name], values)


def test_members_with_zones_equal_single_runs(basin):
    members = [{}, {"stomatal_resistance_factor@1": 0.5, "conductivity_factor@2": 2.0},
               {"stomatal_resistance_factor": 0.5, "stomatal_resistance_factor@2": 2.0, "aquifer_factor@1": 3.0}]
    device = backends.create("cpu")
    together = run_members(basin, members, device, last=40)
    for number, member in enumerate(members):
        alone = run_in_memory(basin, device, options=member, last=40)
        for name, values in alone.series.items():
            np.testing.assert_array_equal(together[name][:, number], values)


def test_a_subbasin_belongs_to_the_zone_that_covers_most_of_it():
    area = np.array([2.0, 1.0, 1.0, 1.0, 5.0])
    found = zones.of_subbasins(np.array([7, 3, 3, 7, 7]), np.array([0, 0, 1, 1, 2]), area)
    np.testing.assert_array_equal(found, [7, 3, 7])


def test_zones_that_are_not_there(basin, daily_basin):
    with pytest.raises(InputError, match="no unit has parameter_zone 9; there are 1, 2"):
        resolve_options(basin, {"aquifer_factor@9": 2.0})
    with pytest.raises(InputError, match=r"no variable parameter_zone\(unit\)"):
        resolve_options(Basin.open(daily_basin), {"aquifer_factor@1": 2.0})
    with pytest.raises(InputError, match="may differ between parameter zones"):
        resolve_options(basin, {"snow_albedo@1": 0.5})
    with pytest.raises(InputError, match="outside 0.01 to 100"):
        resolve_options(basin, {"aquifer_factor@1": 1e6})
