"""Good basin files, and what is read from them. Source of the rules: docs/basin-file.md."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from basins import FORCING, outside, put, valid, write

from wepl import registry
from wepl.basin import vegetation
from wepl.basin.dataset import Basin, inspect
from wepl.errors import InputError
from wepl.run.simulation import resolve_options, run


def forcing(basin: Basin) -> np.ndarray:
    return basin.forcing.read(0, basin.clock.n_steps)


def same(first: Basin, second: Basin, units: bool = False) -> None:
    """Assert that two basins hold the same; with ``units``, up to the rounding of one conversion."""
    assert first.options == second.options
    assert set(first.parameters) == set(second.parameters)
    for name in first.parameters.variables:
        compare = np.testing.assert_allclose if units and first.parameters[name].dtype.kind == "f" else (
            np.testing.assert_array_equal)
        compare(first.parameters[name].values, second.parameters[name].values, err_msg=str(name))
    assert first.forcing.available == second.forcing.available
    np.testing.assert_array_equal(forcing(first), forcing(second))
    assert repr(first.clock) == repr(second.clock)
    assert units or first.hash == second.hash


@pytest.fixture(scope="module")
def plain() -> Basin:
    return Basin.from_dataset(valid())


def changed(name: str, units: str, factor: float, offset: float = 0.0) -> Basin:
    """The basin with one variable in other units."""
    data = valid()
    put(data, name, data[name].values * factor + offset, units)
    return Basin.from_dataset(data)


# A factor and a few ulp: each conversion is one multiplication by a factor that is itself rounded.
ROUNDING = 1e-14


@pytest.mark.parametrize("name, units, factor", [
    ("precipitation", "mm/day", 1.0), ("precipitation", "mm h-1", 1 / 24), ("precipitation", "kg m-2 s-1", 1 / 86400),
    ("precipitation", "kg m-2 d-1", 1.0), ("precipitation", "m s-1", 1e-3 / 86400), ("precipitation", "cm/d", 0.1),
    ("relative_humidity", "1", 0.01), ("wind_speed", "km h-1", 3.6), ("sunshine_duration", "s", 3600.0),
    ("sunshine_duration", "minutes", 60.0),
])
def test_forcing_in_other_units(plain, name, units, factor):
    row = registry.row(name)
    np.testing.assert_allclose(forcing(changed(name, units, factor))[row], forcing(plain)[row], rtol=ROUNDING, atol=0)


def test_forcing_in_the_units_of_the_model_is_taken_bit_by_bit():
    rain = np.random.default_rng(1).uniform(0.0, 1e-6, (6, 2))
    data = valid()
    put(data, "precipitation", rain, "m s-1")
    np.testing.assert_array_equal(forcing(Basin.from_dataset(data))[registry.row("precipitation")], rain)


def test_temperature_in_kelvin(plain):
    row = registry.row("air_temperature")
    # Kelvins of 288 carry 5.7e-14.
    np.testing.assert_allclose(forcing(changed("air_temperature", "K", 1.0, 273.15))[row], forcing(plain)[row],
                               rtol=0, atol=2e-13)


@pytest.mark.parametrize("name, units, factor", [
    ("unit_area", "m2", 1e6), ("unit_area", "ha", 100.0), ("reach_length", "km", 1e-3),
    ("saturated_conductivity", "cm d-1", 1e2 * 86400 / 3.6e6 * 3.6e6), ("wetting_front_suction", "cm", 1e2),
    ("land_fraction", "%", 100.0), ("field_capacity", "m3 m-3", 1.0), ("unit_elevation", "km", 1e-3),
])
def test_parameters_in_other_units(plain, name, units, factor):
    np.testing.assert_allclose(changed(name, units, factor).parameters[name].values, plain.parameters[name].values,
                               rtol=ROUNDING, atol=0)


def test_shares_need_no_units(plain):
    data = valid()
    for name in ("land_fraction", "field_capacity", "unit_slope"):
        del data[name].attrs["units"]
    same(Basin.from_dataset(data), plain)


# Calendars and times.

@pytest.mark.parametrize("calendar, third", [("standard", "2012-02-29"), ("gregorian", "2012-02-29"),
                                             ("proleptic_gregorian", "2012-02-29"), ("noleap", "2012-03-01"),
                                             ("365_day", "2012-03-01"), ("NoLeap", "2012-03-01")])
def test_calendars(calendar, third):
    data = valid()
    data["time"] = ("time", np.arange(6), {"units": "days since 2012-02-27", "calendar": calendar})
    basin = Basin.from_dataset(data)
    assert basin.clock.label(2) == third
    assert basin.clock.calendar == ("noleap" if third.endswith("01") else "standard")


@pytest.mark.parametrize("units, numbers", [
    ("hours since 2010-01-01", np.arange(6) * 24), ("seconds since 1970-01-01", 1262304000 + np.arange(6) * 86400),
    ("days since 0001-01-01", np.arange(6) + 733774), ("days since 1900-01-01 00:00:00", np.arange(6) + 40177.0),
    ("minutes since 2009-12-31T23:00", np.arange(6) * 1440 + 60), ("d since 2010-01-01", np.arange(6)),
    *((f"days since 2010-01-01{moment}", np.arange(6)) for moment in (
        "T00:00:00Z", " 00:00:00 UTC", " 0:0:0.0", " 0", " 06:00 +6:00", " 06:00:00+06:00", " 6 +6", "T06:00 +0600")),
    ("days since 2009-12-31 19:00 -5", np.arange(6)), ("hours since 2010-01-01 05:30 +05:30", np.arange(6) * 24),
])
def test_units_of_time(plain, units, numbers):
    data = valid()
    data["time"] = ("time", numbers, {"units": units, "calendar": "standard"})
    same(Basin.from_dataset(data), plain)


def test_a_time_without_calendar_is_standard(plain):
    data = valid()
    del data["time"].attrs["calendar"]
    same(Basin.from_dataset(data), plain)


def test_hours_as_fractions_of_a_day():
    data = valid(hourly=True)
    data["time"] = ("time", np.arange(144) / 24.0, {"units": "days since 2010-01-01"})
    clock = Basin.from_dataset(data).clock
    assert (clock.step_seconds, clock.label(143)) == (3600.0, "2010-01-06T23:00")


@pytest.mark.parametrize("use_cftime", [False, True])
def test_a_dataset_with_decoded_time(plain, use_cftime):
    coder = xr.coders.CFDatetimeCoder(use_cftime=use_cftime)
    decoded = xr.decode_cf(valid(), decode_times=coder, decode_timedelta=False)
    assert decoded["time"].dtype.kind in "MO"
    same(Basin.from_dataset(decoded), plain)


# The file.

@pytest.mark.parametrize("kind", ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT",
                                  "NETCDF3_64BIT_DATA"])
def test_every_netcdf_format(plain, tmp_path, kind):
    basin = Basin.open(write(valid(), tmp_path / "basin.nc", kind))
    same(basin, plain)
    assert all(check.passed for check in basin.validate())


def test_a_record_dimension(plain, tmp_path):
    for kind in ("NETCDF4", "NETCDF3_CLASSIC"):
        valid().to_netcdf(tmp_path / f"{kind}.nc", format=kind, unlimited_dims=("time",))
        same(Basin.open(tmp_path / f"{kind}.nc"), plain)


def test_names_that_are_not_ascii(plain, tmp_path):
    data = valid()
    data.attrs["title"] = "Poyang 鄱阳湖"
    data["gauge_name"] = ("gauge", ["Wàizhōu 外洲", "Hǔkǒu"])
    data["größe"] = ("unit", np.arange(8.0))
    folder = tmp_path / "Einzugsgebiet Größe"
    folder.mkdir()
    basin = Basin.open(write(data, folder / "鄱阳湖.nc"))
    assert basin.title == "Poyang 鄱阳湖"
    assert list(basin.parameters["gauge_name"].values) == ["Wàizhōu 外洲", "Hǔkǒu"]
    np.testing.assert_array_equal(forcing(basin), forcing(plain))


def test_text_as_characters(tmp_path):
    """Character arrays, as C and Fortran write text."""
    path = write(valid(), tmp_path / "basin.nc")
    with netCDF4.Dataset(path, "a") as file:
        file.createDimension("length", 8)
        for name, dims, texts in (("gauge_name", ("gauge",), ["Wäi", "b"]), ("infiltration_switch", (), "never")):
            variable = file.createVariable(name, "S1", (*dims, "length"))
            encoded = [text.encode().ljust(8, b"\0") for text in (texts if dims else [texts])]
            characters = np.frombuffer(b"".join(encoded), dtype="S1")
            variable[:] = characters.reshape(len(encoded), 8) if dims else characters
    basin = Basin.open(path)
    assert list(basin.parameters["gauge_name"].values) == ["Wäi", "b"]
    assert basin.options["infiltration_switch"] == 3


def test_dimensions_in_another_order(plain, tmp_path):
    data = valid()
    for name in ("land_fraction", "soil_thickness", *FORCING):
        data[name] = data[name].transpose()
    same(Basin.open(write(data, tmp_path / "basin.nc")), plain)
    same(Basin.from_dataset(data), plain)


def test_packed_forcing(plain, tmp_path):
    """Short integers with scale and offset: dry days come back as rain of -1e-16, which is none."""
    packing = {"dtype": "i2", "scale_factor": 0.0025, "add_offset": 81.7, "_FillValue": -32768}
    path = write(valid(), tmp_path / "basin.nc", precipitation=packing)
    rain = forcing(Basin.open(path))[registry.row("precipitation")]
    Basin.open(path).check_forcing()
    assert rain.min() == 0.0
    expected = forcing(plain)[registry.row("precipitation")]
    np.testing.assert_allclose(rain, expected, rtol=0, atol=0.5 * 0.0025e-3 / 86400 * (1 + 1e-6))
    assert (rain > 0).sum() == (expected > 0).sum()


def test_single_precision(plain, tmp_path):
    data = valid()
    put(data, "tall_fraction", np.full(8, 0.6))
    put(data, "short_fraction", np.full(8, 0.4))
    for name in data.data_vars:
        if data[name].dtype == float:
            data[name] = data[name].astype("f4")
    basin = Basin.open(write(data, tmp_path / "basin.nc"))
    assert (basin.parameters["tall_fraction"] + basin.parameters["short_fraction"]).max() <= 1.0
    np.testing.assert_allclose(forcing(basin), forcing(plain), rtol=1e-6)


def test_round_trip(plain, tmp_path):
    data = valid()
    data["rs_max"] = ((), 4000.0, {"units": "s m-1"})
    data["gauge_name"] = ("gauge", ["A", "B"])
    first = Basin.from_dataset(data)
    first.to_netcdf(tmp_path / "one.nc")
    second = Basin.open(tmp_path / "one.nc")
    second.to_netcdf(tmp_path / "two.nc")
    same(second, first)
    same(Basin.open(tmp_path / "two.nc"), first)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.nc", "two.nc"]
    assert first.hash != plain.hash


def test_a_basin_may_be_written_over_itself(tmp_path):
    path = write(valid(), tmp_path / "basin.nc")
    basin = Basin.open(path)
    basin.validate()
    basin.to_netcdf(path)
    same(Basin.open(path), Basin.from_dataset(valid()))


def test_where_a_basin_cannot_be_written(plain, tmp_path):
    with pytest.raises(InputError, match="the folder .*nowhere does not exist"):
        plain.to_netcdf(tmp_path / "nowhere" / "basin.nc")
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(InputError, match="folder.nc is a folder"):
        plain.to_netcdf(tmp_path / "folder.nc")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.nc"]


# Options, defaults, vegetation.

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
        "degree_day_factor": pytest.approx(3e-3 / 86400, rel=ROUNDING)}
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


# Weather in other files.

def test_weather_in_other_files_by_time_and_by_variable(plain, tmp_path):
    data, weather = outside(valid(), "rain/*.nc other/weather_*.nc")
    for folder in ("rain", "other"):
        (tmp_path / folder).mkdir()
    reversed_cells = weather.isel(cell=[1, 0])
    for part, steps in enumerate((slice(0, 1), slice(1, 4), slice(4, None))):
        write(reversed_cells[["precipitation"]].isel(time=steps), tmp_path / "rain" / f"{part}.nc")
    later = weather.drop_vars("precipitation")
    later["time"] = ("time", (np.arange(6) + 1) * 24, {"units": "hours since 2009-12-31", "calendar": "gregorian"})
    write(later.isel(time=slice(3, None)), tmp_path / "other" / "weather_a.nc")
    write(later.isel(time=slice(0, 3)).transpose("cell", "time"), tmp_path / "other" / "weather_b.nc")
    basin = Basin.open(write(data, tmp_path / "basin.nc"))
    same(basin, plain)
    assert all(check.passed for check in basin.validate())


def test_weather_files_may_hold_more_cells(plain, tmp_path):
    data, weather = outside(valid(), "weather.nc")
    more = xr.concat([weather, weather.isel(cell=[0]).assign_coords(cell=[99]) + np.nan], "cell")
    for name in FORCING:
        more[name].attrs.update(weather[name].attrs)
    write(more.isel(cell=[2, 1, 0]), tmp_path / "weather.nc")
    same(Basin.open(write(data, tmp_path / "basin.nc")), plain)


def test_a_basin_whose_weather_lies_elsewhere_is_not_written(tmp_path):
    data, weather = outside(valid(), "weather.nc")
    write(weather, tmp_path / "weather.nc")
    basin = Basin.open(write(data, tmp_path / "basin.nc"))
    with pytest.raises(InputError, match="lies in other files .*weather.nc.*: copy them with the basin file"):
        basin.to_netcdf(tmp_path / "copy.nc")
    assert not (tmp_path / "copy.nc").exists()


# The hash and the bytes.

def test_the_hash_belongs_to_the_content(plain, tmp_path):
    path = write(valid(), tmp_path / "basin.nc")
    shutil.copy(path, tmp_path / "copy.nc")
    assert Basin.open(path).hash == Basin.open(tmp_path / "copy.nc").hash == plain.hash
    hashes = {plain.hash}
    for name, place, number in (("reach_length", 0, 4001.0), ("unit_cell", 0, 8),
                                ("land_fraction", (0, 1), 0.7 - 1e-7)):
        data = valid()
        data[name].values[place] = number
        hashes.add(Basin.from_dataset(data).hash)
    data = valid()
    data["rs_max"] = ((), 4000.0, {"units": "s m-1"})
    hashes.add(Basin.from_dataset(data).hash)
    assert len(hashes) == 5


def test_the_hash_does_not_depend_on_the_weather(plain):
    assert Basin.from_dataset(valid(days=9)).hash == plain.hash


def test_reading_changes_nothing(tmp_path):
    path = write(valid(), tmp_path / "basin.nc")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    basin = Basin.open(path)
    basin.validate()
    run(basin, output=tmp_path / "result.nc", quiet=True)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    data = valid()
    untouched = data.copy(deep=True)
    Basin.from_dataset(data).validate()
    xr.testing.assert_identical(data, untouched)


def test_file_and_dataset_run_alike(tmp_path: Path):
    """The same basin from memory, from a file, and with its weather in other files gives the same discharge."""
    data, weather = outside(valid(), "weather.nc")
    write(weather, tmp_path / "weather.nc")
    sources = [Basin.from_dataset(valid()), write(valid(), tmp_path / "one.nc"), write(data, tmp_path / "two.nc")]
    flows = []
    for number, basin in enumerate(sources):
        run(basin, output=tmp_path / f"result_{number}.nc", quiet=True)
        with xr.open_dataset(tmp_path / f"result_{number}.nc") as result:
            flows.append(result["discharge"].values)
    assert np.isfinite(flows[0]).all() and (flows[0] > 0).any()
    np.testing.assert_array_equal(flows[0], flows[1])
    np.testing.assert_array_equal(flows[0], flows[2])
