"""Options, defaults, vegetation, layers and identifiers of basin files. Source of the rules: docs/basin-file.md."""

from __future__ import annotations

import numpy as np
import pytest
from basins import forcing, put, valid, write

from wepl import registry
from wepl.basin import vegetation
from wepl.basin.dataset import Basin, inspect
from wepl.run.simulation import resolve_options


@pytest.fixture(scope="module")
def plain() -> Basin:
    return Basin.from_dataset(valid())


def test_options_in_the_file(plain):
    data = valid()
    data["wind_height"] = ((), 2, {"units": "m"})
    data["heavy_rain_depth"] = ((), 25.0, {"units": "mm"})
    data["degree_day_factor"] = ((), 3.0, {"units": "mm K-1 d-1"})
    data["infiltration_switch"] = ((), "rate")
    data["energy_balance"] = ((), 1)
    basin = Basin.from_dataset(data)
    assert basin.options == plain.options | {
        "wind_height": 2.0, "heavy_rain_depth": 0.025, "infiltration_switch": 1.0, "energy_balance": 1.0,
        "degree_day_factor": pytest.approx(3e-3 / 86400, rel=1e-14)}
    assert resolve_options(basin, {"wind_height": "10"})["wind_height"] == 10.0


def test_options_not_in_the_file_have_their_defaults(plain):
    assert plain.options == {entry.name: float(entry.default) for entry in registry.of_kind("option")}


def test_defaults_are_filled_in(plain):
    for entry in registry.of_kind("parameter"):
        if entry.default is not None:
            assert np.all(plain.parameters[entry.name].values == entry.default), entry.name
            assert plain.parameters[entry.name].dims == entry.dims


def test_what_may_be_left_out_is_left_out(plain):
    assert not {"manning_overland", "haverkamp_a", "initial_soil_moisture", "pfafstetter"} & set(plain.parameters)


def test_the_built_in_vegetation(plain):
    for name, array in vegetation.table().items():
        np.testing.assert_array_equal(plain.parameters[name].values, array)
    assert list(plain.parameters["vegetation_name"].values) == list(vegetation.NAMES)


def test_a_vegetation_table_of_its_own():
    data = valid()
    for name, array in vegetation.table().items():
        put(data, name, array[:2], registry.variable(name).units)
    for name in ("tall", "short", "irrigated", "non_irrigated"):
        put(data, f"{name}_vegetation", [1] * 8)
    basin = Basin.from_dataset(data)
    assert basin.parameters.sizes["vegetation"] == 2
    assert "vegetation_name" not in basin.parameters


def test_values_that_may_be_missing(tmp_path):
    data = valid()
    put(data, "manning_overland", [0.1, *[np.nan] * 7])
    put(data, "initial_soil_moisture", np.full((8, 3), np.nan))
    assert all(check.passed for check in Basin.open(write(data, tmp_path / "basin.nc")).validate())


@pytest.mark.parametrize("layers", [*range(1, 13), registry.MAX_SOIL_LAYERS])
def test_layers(layers):
    assert Basin.from_dataset(valid(layers=layers)).parameters.sizes["soil_layer"] == layers


def test_identifiers_in_any_order_and_kind(plain):
    data = valid()
    for name in ("subbasin", "downstream", "unit_subbasin", "gauge_subbasin"):
        old = data[name].values
        data[name] = (data[name].dims, np.where(old < 0, -1, 10**12 - 7 * old).astype(float))
    data = data.isel(subbasin=[2, 0, 3, 1], unit=[5, 1, 7, 3, 0, 2, 6, 4], cell=[1, 0])
    basin = Basin.from_dataset(data)
    assert basin.parameters["subbasin"].dtype == np.int64
    assert list(basin.parameters["downstream"].values) == [10**12 - 28, 10**12 - 21, -1, 10**12 - 21]
    np.testing.assert_array_equal(forcing(basin), forcing(plain)[:, :, ::-1])


def test_two_outlets_and_a_sub_basin_alone(tmp_path):
    data = valid()
    data["downstream"] = ("subbasin", [3, -1, -1, -1])
    assert all(check.passed for check in inspect(write(data, tmp_path / "basin.nc")))


def test_no_gauges(tmp_path):
    data = valid().drop_vars(["gauge", "gauge_subbasin"])
    assert "gauge" not in Basin.open(write(data, tmp_path / "basin.nc")).parameters.sizes
