"""Result files. Sources: CF conventions 1.11 (chapters 4, 5, 7 and 9), the registry, and docs on results."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import cf_units
import cftime
import netCDF4
import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from results import SUBBASINS, UNITS, Clock, make_basin, make_values, write

from wepl import registry
from wepl.netcdf import LOCK
from wepl.run import result_schema
from wepl.run.writer import ResultWriter


def test_values_come_back_in_file_units(tmp_path):
    values = write(tmp_path / "out.nc")
    with xr.open_dataset(tmp_path / "out.nc") as result:
        assert result["discharge"].dims == ("time", "subbasin")
        assert result["soil_moisture"].dims == ("time", "soil_layer", "unit")
        assert result["discharge"].dtype == np.float64 and result["baseflow"].dtype == np.float64
        assert result["evapotranspiration"].dtype == np.float32
        np.testing.assert_array_equal(result["discharge"], values["discharge"])
        np.testing.assert_array_equal(result["evapotranspiration"], (values["evapotranspiration"] * 1000).astype("f4"))
        np.testing.assert_array_equal(result["soil_moisture"], values["soil_moisture"].astype("f4"))
        np.testing.assert_array_equal(result["surface_temperature"], values["surface_temperature"].astype("f4"))


def test_gauges_show_the_discharge_of_their_reach(tmp_path):
    values = write(tmp_path / "out.nc")
    with xr.open_dataset(tmp_path / "out.nc") as result:
        np.testing.assert_array_equal(result["gauge_discharge"], values["discharge"][:, [3, 1]])
        assert list(result["gauge_name"].values) == ["Waizhou", "Lijiadu"]


def test_a_basin_without_gauges_and_coordinates(tmp_path):
    write(tmp_path / "out.nc", basin=make_basin(gauges=False, coordinates=False), variables=())
    with xr.open_dataset(tmp_path / "out.nc") as result:
        assert "gauge_discharge" not in result and "featureType" not in result.attrs


@pytest.mark.parametrize("step", [3600, 86400, 10800, 900])
@pytest.mark.parametrize("calendar", ["standard", "noleap"])
def test_time_is_the_start_of_each_step(tmp_path, step, calendar):
    clock = Clock(step, calendar)
    write(tmp_path / "out.nc", n_steps=5, first=2, clock=clock)
    with netCDF4.Dataset(tmp_path / "out.nc") as result:
        time = result["time"]
        moments = cftime.num2date(time[:], time.units, time.calendar)
        bounds = cftime.num2date(result[time.bounds][:], time.units, time.calendar)
        for i in range(5):
            assert moments[i].strftime("%Y-%m-%dT%H:%M:%S") == clock.label(2 + i)
            assert [bound.strftime("%Y-%m-%dT%H:%M:%S") for bound in bounds[i]] == [clock.label(2 + i),
                                                                                    clock.label(3 + i)]
        assert (result.run_start, result.run_end) == (clock.label(2), clock.label(7))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.sets(st.integers(1, 89)), compression=st.sampled_from(["zstd", "zlib", "none"]))
def test_the_file_is_the_same_byte_for_byte_whatever_the_blocks(tmp_path, cuts, compression):
    fixed = {"attributes": {"history": "fixed"}, "compression": compression, "n_steps": 90}
    write(tmp_path / "whole.nc", **fixed)
    write(tmp_path / "parts.nc", cuts=cuts, **fixed)
    assert (tmp_path / "whole.nc").read_bytes() == (tmp_path / "parts.nc").read_bytes()


def test_blocks_across_several_chunks_of_different_length(tmp_path, monkeypatch):
    steps = {"discharge": 4, "gauge_discharge": 16, "evapotranspiration": 7}

    def short(n_time, shape, item_bytes):
        return (steps.get({SUBBASINS: "discharge", 2: "gauge_discharge"}.get(shape[-1], "evapotranspiration")), *shape)

    monkeypatch.setattr(result_schema, "chunk_shape", short)
    values = write(tmp_path / "a.nc", n_steps=53, attributes={"history": ""}, cuts=(1, 17, 18, 40))
    write(tmp_path / "b.nc", n_steps=53, attributes={"history": ""})
    assert (tmp_path / "a.nc").read_bytes() == (tmp_path / "b.nc").read_bytes()
    with xr.open_dataset(tmp_path / "a.nc") as result:
        np.testing.assert_array_equal(result["discharge"], values["discharge"])
        np.testing.assert_array_equal(result["recharge"], values["recharge"])
        np.testing.assert_array_equal(result["soil_moisture"], values["soil_moisture"].astype("f4"))


@pytest.mark.parametrize("shape, item, places", [((24897,), 4, 24897), ((200000,), 4, 200000), ((3, 24897), 4, 24897),
                                                 ((120,), 8, 120), ((1,), 8, 1)])
def test_chunks_stay_near_one_mebibyte_and_buffers_small(shape, item, places):
    chunk = result_schema.chunk_shape(3653, shape, item)
    assert np.prod(chunk) * item <= 1.1 * 2**20
    assert chunk[0] * np.prod(shape) * item <= 2**23 or chunk[0] == 1
    assert 1 <= chunk[-1] <= places and len(chunk) == 1 + len(shape)
    assert result_schema.chunk_shape(5, shape, item)[0] <= 5


def test_attributes_follow_cf_and_the_registry(tmp_path):
    write(tmp_path / "out.nc", variables=("evapotranspiration", "transpiration", "canopy_a", "baseflow"))
    with netCDF4.Dataset(tmp_path / "out.nc") as result:
        assert result.Conventions == "CF-1.11" and result.featureType == "timeSeries"
        for name, variable in result.variables.items():
            if "time" not in variable.dimensions or name in ("time", "time_bounds"):
                continue
            entry = registry.variable(name)
            assert variable.units == entry.file_units and variable.long_name == entry.long_name
            # The registry's name of this one is not in the CF table.
            named = "lwe_thickness_of_water_evaporation_amount" if name == "evapotranspiration" else entry.standard_name
            assert getattr(variable, "standard_name", "") == named
            cf_units.Unit(variable.units)
            for coordinate in getattr(variable, "coordinates", "").split():
                assert set(result[coordinate].dimensions) <= set(variable.dimensions)
        assert result["transpiration"].cell_methods == "time: sum area: mean"
        assert result["discharge"].cell_methods == "time: mean"
        assert "time" not in result["canopy_a"].cell_methods and "end of the step" in result["canopy_a"].comment
        assert result["unit_area"].units == "km2"
        np.testing.assert_allclose(result["unit_area"][:], np.linspace(1.0, 7.0, UNITS), rtol=1e-15)


def test_options_and_provenance_are_recorded(tmp_path):
    basin = make_basin()
    options = dict(basin.options, heavy_rain_depth=0.02, infiltration_switch=1.0)
    write(tmp_path / "out.nc", basin=basin, options=options,
          attributes={"backend": "cpu", "precision": "float64", "title": "My run"})
    with netCDF4.Dataset(tmp_path / "out.nc") as result:
        changed = {name: result.getncattr(name) for name in result.ncattrs() if name.startswith("option_")}
        assert changed == {"option_heavy_rain_depth": 0.02, "option_infiltration_switch": "rate"}
        everything = json.loads(result.options)
        assert set(everything) == {entry.name for entry in registry.of_kind("option")}
        assert everything["infiltration_switch"] == "rate" and everything["heavy_rain_depth"] == 0.02
        assert (result.backend, result.precision, result.title) == ("cpu", "float64", "My run")
        assert result.basin_hash == basin.hash and result.wepl_version == result_schema.version()


def test_the_balance_goes_into_the_file(tmp_path):
    balance = SimpleNamespace(closure=3e-14, variables=lambda: {
        "balance_term": (("balance_term",), np.array(["precipitation", "outflow"], dtype=object), {}),
        "balance_depth": (("balance_term",), np.array([1500.0, 700.0]), {"units": "mm"}),
        "unit_balance_residual": (("unit",), np.zeros(UNITS), {"units": "mm"})})
    with ResultWriter(tmp_path / "out.nc", basin=make_basin(), clock=Clock(), first=0, last=2) as writer:
        writer.put(0, make_values(2, ()))
        writer.finish({"note": "done"}, balance)
    with xr.open_dataset(tmp_path / "out.nc") as result:
        assert result.attrs["water_balance_closure"] == 3e-14 and result.attrs["note"] == "done"
        assert result["balance_depth"].sel(balance_term="outflow") == 700.0


def test_every_writable_name_has_dimensions_and_attributes(tmp_path):
    names = result_schema.writable()
    assert {"soil_water", "overland_depth", "discharge", "river_storage", "net_radiation"} <= set(names)
    for name in names:
        attributes = result_schema.variable_attributes(registry.variable(name))
        assert result_schema.file_dims(name)[-1] in ("unit", "subbasin", "gauge") and attributes["units"]
        factor, offset = result_schema.scale(registry.variable(name))
        assert factor > 0.0 and offset == 0.0


def test_zstd_with_shuffle_is_in_the_file(tmp_path):
    write(tmp_path / "out.nc")
    with netCDF4.Dataset(tmp_path / "out.nc") as result:
        filters = result["evapotranspiration"].filters()
        assert filters["zstd"] and filters["shuffle"] and filters["complevel"] == 3


def test_the_caller_may_reuse_its_arrays(tmp_path):
    values = make_values(4, ())
    kept = values["discharge"].copy()
    with ResultWriter(tmp_path / "out.nc", basin=make_basin(), clock=Clock(), first=0, last=4) as writer:
        writer.put(0, values)
        values["discharge"][:] = -1.0
        writer.finish()
    with xr.open_dataset(tmp_path / "out.nc") as result:
        np.testing.assert_array_equal(result["discharge"], kept)


def test_reading_ahead_and_writing_behind_at_once(tmp_path):
    """The netCDF library is not thread-safe: readers that hold the lock, or use xarray, do not disturb the writer."""
    with netCDF4.Dataset(tmp_path / "forcing.nc", "w") as file:
        file.createDimension("time", 400)
        file.createDimension("cell", 200)
        file.createVariable("rain", "f8", ("time", "cell"), chunksizes=(5, 200), zlib=True)[:] = np.ones((400, 200))
    stop, sums = threading.Event(), []

    def read_directly():
        while not stop.is_set():
            with LOCK, netCDF4.Dataset(tmp_path / "forcing.nc") as file:
                sums.append(float(file["rain"][:].sum()))

    def read_by_xarray():
        while not stop.is_set():
            with xr.open_dataset(tmp_path / "forcing.nc") as file:
                sums.append(float(file["rain"].sum()))

    readers = [threading.Thread(target=target) for target in (read_directly, read_by_xarray)]
    for reader in readers:
        reader.start()
    try:
        values = write(tmp_path / "out.nc", n_steps=2000, cuts=range(0, 2000, 10))
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert set(sums) == {80000.0}
    with xr.open_dataset(tmp_path / "out.nc") as result:
        np.testing.assert_array_equal(result["discharge"], values["discharge"])
