"""Gridded weather that has gaps, lies elsewhere or cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from small_grids import (
    DEW,
    HOURS,
    RAIN,
    WARMTH,
    build,
    built,
    cmfd,
    era5_land,
    shares,
)
from small_terrain import grid

from wepl.errors import InputError


def _fault(folder: Path, name: str) -> None:
    """Spoil the file in one way."""
    path = folder / "era5.nc"
    if name == "text":
        path.write_text("not netCDF\n")
        return
    if name == "cut":
        path.write_bytes(path.read_bytes()[:3000])
        return
    data = xr.load_dataset(path, decode_times=False)
    if name == "elsewhere":
        data["longitude"] = data["longitude"] + 20.0
        data["longitude"].attrs["units"] = "degrees_east"
    elif name == "units":
        del data["t2m"].attrs["units"]
    elif name == "twice":
        data["tas"] = data["t2m"]
    elif name == "kelvin":
        data["t2m"].attrs["units"] = "degC"
    elif name == "levels":
        data["tp"] = data["tp"].expand_dims(number=2)
    elif name == "gap":
        data.isel(time=slice(0, 20)).to_netcdf(folder / "one.nc")
        data.isel(time=slice(22, 40)).to_netcdf(folder / "two.nc")
    elif name == "calendar":
        data = data.drop_vars(["t2m"])
    data.to_netcdf(path)


@pytest.mark.parametrize(("name", "file", "message"), [
    ("text", "era5.nc", "cannot be read as netCDF"),
    ("cut", "era5.nc", "cannot be read as netCDF"),
    ("elsewhere", "era5.nc", "does not cover 3 of 3 units"),
    ("units", "era5.nc", "t2m has no attribute units"),
    ("twice", "era5.nc", "t2m and tas both look like air_temperature"),
    ("kelvin", "era5.nc", "air_temperature is 279.785 degC on 2010-01-01: it cannot be true"),
    ("levels", "era5.nc", "further dimension number"),
    ("gap", "[ot][nw][eo].nc", "a gap between one.nc and two.nc"),
    ("calendar", "era5.nc", "air_temperature, relative_humidity are given by no station or grid"),
    ("none", "nothing*.nc", "no file fits"),
])
def test_files_that_cannot_be_used_leave_nothing_behind(tmp_path, name, file, message):
    era5_land(tmp_path / "era5.nc")
    _fault(tmp_path, name)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InputError, match=message):
        build(tmp_path, grid(file=file))
    assert sorted(tmp_path.iterdir()) == before


def test_a_wrong_kind_is_found_out(tmp_path):
    late = np.concatenate([np.zeros((1, 3, 3)), RAIN[:-1]])
    era5_land(tmp_path / "era5.nc", tp=(late, "m"))
    with pytest.raises(InputError, match="tp falls within the day at .* so it is not summed since 00 UTC"):
        build(tmp_path, grid(file="era5.nc", kind="accumulated"))
    assert not (tmp_path / "out.nc").exists()


def test_given_names_of_variables(tmp_path):
    path = cmfd(tmp_path / "cmfd.nc")
    xr.load_dataset(path, decode_times=False).rename({"prec": "rr_final"}).to_netcdf(path)
    with pytest.raises(InputError, match="precipitation is given by no station or grid"):
        build(tmp_path, grid(file="cmfd.nc"), step="1d")
    names = {"precipitation": "rr_final", "air_temperature": "temp", "specific_humidity": "shum", "wind_speed": "wind",
             "shortwave_radiation": "srad"}
    build(tmp_path, grid(file="cmfd.nc", variables=names), step="1d")
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation"), 12.0, rtol=1e-6)


def test_two_grids_of_one_variable_are_refused(tmp_path):
    cmfd(tmp_path / "a.nc")
    cmfd(tmp_path / "b.nc")
    with pytest.raises(InputError, match="comes from a.nc and from b.nc: drop one"):
        build(tmp_path, grid(file="a.nc"), grid(file="b.nc"), step="1d")


def test_sea_is_left_out_and_gaps_are_not(tmp_path):
    warm = WARMTH.copy()
    warm[:, :, 2] = np.nan
    dew = DEW.copy()
    dew[:, :, 2] = np.nan
    era5_land(tmp_path / "era5.nc", t2m=(warm, "K"), d2m=(dew, "K"))
    build(tmp_path, grid(file="era5.nc"))
    weights = shares().reshape(3, 3, 3)[:, :, :2].reshape(3, 6)
    weights /= weights.sum(axis=1, keepdims=True)
    expected = warm[:HOURS, :, :2].reshape(HOURS, 6) @ weights.T - 273.15
    np.testing.assert_allclose(built(tmp_path / "out.nc", "air_temperature"), expected, atol=0.15)
    warm[30:33, 1, 1] = np.nan
    era5_land(tmp_path / "era5.nc", t2m=(warm, "K"), d2m=(dew, "K"))
    with pytest.raises(InputError, match="air_temperature is missing from 2010-01-02T06:00 in 1 of 9 grid cells"):
        build(tmp_path, grid(file="era5.nc"))
    facts = build(tmp_path, grid(file="era5.nc"), gaps="neighbours")
    assert any("air_temperature: 3 missing values" in note for note in facts.notes)
    with pytest.raises(InputError, match="longer than max_gap_days = 0.1"):
        build(tmp_path, grid(file="era5.nc"), gaps="neighbours", max_gap_days=0.1)


def test_units_over_sea_alone_take_the_nearest_land(tmp_path):
    warm, dew = WARMTH.copy(), DEW.copy()
    warm[:, :, 1:] = dew[:, :, 1:] = np.nan
    era5_land(tmp_path / "era5.nc", t2m=(warm, "K"), d2m=(dew, "K"))
    facts = build(tmp_path, grid(file="era5.nc"))
    found = built(tmp_path / "out.nc", "air_temperature")
    # Units 2 and 3 lie in the masked columns; most of unit 2 is in the north, most of unit 3 in the south.
    rows = [shares()[unit].reshape(3, 3).sum(axis=1).argmax() for unit in (1, 2)]
    for unit, row in zip((1, 2), rows, strict=True):
        np.testing.assert_allclose(found[:, unit], warm[:HOURS, row, 0] - 273.15, atol=1e-4)
    assert any("over 2 cells of the basin (sea or lake)" in note for note in facts.notes)
