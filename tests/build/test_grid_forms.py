"""Gridded weather of many makers: groups, planes, curvilinear grids, Zarr, packing, time bounds."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from small_grids import (
    HOURS,
    LAT,
    LON,
    RAIN,
    build,
    built,
    cmfd,
    era5_land,
    shares,
)
from small_terrain import CRS, LEFT, TOP, grid, terrain


def test_half_hours_of_gpm_in_a_group_with_longitude_first(tmp_path):
    cmfd(tmp_path / "rest.nc", 1)
    data = xr.load_dataset(tmp_path / "rest.nc", decode_times=False).drop_vars("prec")
    data.to_netcdf(tmp_path / "rest.nc")
    for number in range(48):
        with netCDF4.Dataset(tmp_path / f"3B-HHR.{number:02d}.HDF5", "w") as file:
            group = file.createGroup("Grid")
            for name, size in (("time", 1), ("lon", 3), ("lat", 3)):
                group.createDimension(name, size)
            for name, units, values in (("time", "seconds since 1900-01-01 00:00:00 UTC", [1800 * number]),
                                        ("lon", "degrees_east", LON), ("lat", "degrees_north", LAT[::-1])):
                axis = group.createVariable(name, "f8", (name,))
                axis.units = units
                axis[:] = values
            rain = group.createVariable("precipitation", "f4", ("time", "lon", "lat"), fill_value=-9999.9)
            rain.units = "mm/hr"
            rain[:] = float(number % 2)
    build(tmp_path, grid(file="3B-HHR.*.HDF5"), grid(file="rest.nc"))
    # 0 and 1 mm/h in the two halves of each hour are 12 mm/d.
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation"), 12.0, rtol=1e-6)


def _on_a_plane(path: Path, mapping: bool) -> Path:
    x, y = LEFT + np.array([500.0, 2500.0, 4500.0]), TOP - np.array([500.0, 2500.0, 4500.0])
    cmfd(path, prec=(np.broadcast_to(np.array([1.0, 2.0, 3.0]), (24, 3, 3)).copy(), "mm hr-1"))
    data = xr.load_dataset(path, decode_times=False).rename({"lat": "y", "lon": "x"})
    data["x"], data["y"] = (("x",), x), (("y",), y)
    if mapping:
        for name in ("prec", "temp", "shum", "pres", "wind", "srad", "lrad"):
            data[name].attrs["grid_mapping"] = "crs"
        data["crs"] = ((), 0, {"crs_wkt": _wkt()})
    data.to_netcdf(path)
    return path


def _wkt() -> str:
    from rasterio.crs import CRS as System

    return System.from_user_input(CRS).to_wkt()


@pytest.mark.parametrize("mapping", [True, False])
def test_grid_on_a_plane(tmp_path, mapping):
    _on_a_plane(tmp_path / "plane.nc", mapping)
    facts = build(tmp_path, grid(file="plane.nc"), step="1d")
    # Edges at 1500 m and 3500 m: the west unit (0 to 2000 m) lies 3/4 in cell 1 and 1/4 in cell 2.
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation")[0], [24 * 1.25, 24 * 2.25, 24 * 2.25],
                               rtol=1e-6)
    assert any("no coordinate system is given" in note for note in facts.notes) is not mapping


def test_curvilinear_grid_takes_the_nearest_centre(tmp_path):
    cmfd(tmp_path / "c.nc", prec=(np.broadcast_to(np.array([1.0, 2.0, 3.0]), (24, 3, 3)).copy(), "mm hr-1"))
    data = xr.load_dataset(tmp_path / "c.nc", decode_times=False).rename({"lat": "south_north", "lon": "west_east"})
    data = data.drop_vars(["south_north", "west_east"])
    longitude, latitude = np.meshgrid(LON, LAT[::-1])
    data["XLONG"] = (("south_north", "west_east"), longitude, {"units": "degrees_east"})
    data["XLAT"] = (("south_north", "west_east"), latitude, {"units": "degrees_north"})
    data.to_netcdf(tmp_path / "c.nc")
    build(tmp_path, grid(file="c.nc"), step="1d")
    expected = np.tile([24.0, 48.0, 72.0], 3) @ shares().T
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation")[0], expected, rtol=5e-3)


def test_a_zarr_store_gives_the_same(tmp_path):
    pytest.importorskip("zarr")
    era5_land(tmp_path / "era5.nc")
    build(tmp_path, grid(file="era5.nc"))
    expected = (tmp_path / "out.nc").read_bytes()
    xr.load_dataset(tmp_path / "era5.nc", decode_times=False).to_zarr(tmp_path / "era5.zarr", zarr_format=2,
                                                                     consolidated=False)
    build(tmp_path, grid(file="era5.zarr"))
    assert (tmp_path / "out.nc").read_bytes() == expected


def test_packed_to_short_integers(tmp_path):
    era5_land(tmp_path / "era5.nc")
    data = xr.load_dataset(tmp_path / "era5.nc", decode_times=False)
    encoding = {}
    for name in ("tp", "ssrd", "strd", "t2m", "d2m", "u10", "v10"):
        low, high = float(data[name].min()), float(data[name].max())
        encoding[name] = {"dtype": "int16", "scale_factor": (high - low) / 65000.0 or 1.0,
                          "add_offset": 0.5 * (high + low), "_FillValue": -32767}
    data.to_netcdf(tmp_path / "packed.nc", encoding=encoding)
    build(tmp_path, grid(file="packed.nc"))
    found = built(tmp_path / "out.nc", "precipitation")
    expected = RAIN[:HOURS].reshape(HOURS, 9) @ shares().T * 24e3
    assert found.min() >= 0.0
    np.testing.assert_allclose(found.sum(axis=0), expected.sum(axis=0), rtol=0.02)


def test_files_by_month_and_by_variable_are_joined(tmp_path):
    era5_land(tmp_path / "whole.nc")
    build(tmp_path, grid(file="whole.nc"))
    whole = {name: built(tmp_path / "out.nc", name) for name in ("precipitation", "relative_humidity")}
    for number, hours in enumerate((slice(0, 20), slice(20, 21), slice(21, HOURS + 1))):
        path = era5_land(tmp_path / f"part_{number}.nc", hours, "valid_time")
        data = xr.load_dataset(path, decode_times=False)
        data[["tp", "ssrd"]].to_netcdf(tmp_path / f"sums_{number}.nc")
        data.drop_vars(["tp", "ssrd"]).to_netcdf(tmp_path / f"state_{number}.nc")
    build(tmp_path, grid(file="sums_*.nc"), grid(file="state_*.nc"))
    for name, values in whole.items():
        np.testing.assert_allclose(built(tmp_path / "out.nc", name), values, rtol=1e-6, atol=1e-6)


def test_means_of_cmfd(tmp_path):
    cmfd(tmp_path / "cmfd.nc")
    facts = build(tmp_path, grid(file="cmfd.nc"), step="1d")
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation"), 12.0, rtol=1e-6)
    np.testing.assert_allclose(built(tmp_path / "out.nc", "longwave_radiation"), 310.0, rtol=1e-6)
    vapour = 0.008 * 9.5e4 / (0.622 + 0.378 * 0.008)
    expected = 100.0 * vapour / (610.8 * np.exp(17.27 * 16.85 / (16.85 + 237.3)))
    np.testing.assert_allclose(built(tmp_path / "out.nc", "relative_humidity"), expected, rtol=1e-5)
    # Without an elevation of its own a cell has that of the units in it.
    place = terrain().units["elevation_m"]
    assert place.min() - 1.0 <= facts.cell_elevation.min() and facts.cell_elevation.max() <= place.max() + 1.0
    assert any("no elevation of its cells is given" in note for note in facts.notes)


def test_daily_values_at_noon_stand_for_their_day(tmp_path):
    path = cmfd(tmp_path / "daily.nc", 24, prec=(np.arange(24.0)[:, None, None] * np.ones((24, 3, 3)), "mm"))
    data = xr.load_dataset(path, decode_times=False)
    data["time"] = data["time"] + 12
    data["time"].attrs["units"] = "hours since 1900-01-01"
    data.to_netcdf(path)
    build(tmp_path, grid(file="daily.nc"), step="1d", time_zone="UTC+8")
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation")[:, 0], np.arange(24.0), rtol=1e-6)
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert file["time"].units == "days since 1900-01-01 00:00:00"


def test_time_bounds_tell_the_interval(tmp_path):
    cmfd(tmp_path / "a.nc", 1)
    data = xr.load_dataset(tmp_path / "a.nc", decode_times=False)
    data["prec"] = (("time", "lat", "lon"), np.arange(24.0)[:, None, None] * np.ones((24, 3, 3)), {"units": "mm"})
    data["time"].attrs["bounds"] = "time_bnds"
    hours = np.arange(24.0)
    data["time_bnds"] = (("time", "nv"), np.stack([hours - 1.0, hours], axis=1))
    data.to_netcdf(tmp_path / "a.nc")
    build(tmp_path, grid(file="a.nc"))
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert file["time"].units == "hours since 1899-12-31 23:00:00"
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation")[:, 0], 24.0 * hours, rtol=1e-6)
