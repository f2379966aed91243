"""Good basin files, and what is read from them. Source of the rules: docs/basin-file.md."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from basins import FORCING, forcing, outside, put, same, valid, write

from wepl import registry
from wepl.basin.dataset import Basin
from wepl.errors import InputError
from wepl.run.simulation import run


@pytest.fixture(scope="module")
def plain() -> Basin:
    return Basin.from_dataset(valid())


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
