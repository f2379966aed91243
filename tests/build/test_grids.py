"""Gridded weather: names, units and sums recognised, areas weighted, files of many makers, and what is refused."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from rasterio.warp import transform
from small_terrain import BOTTOM, CELL, CRS, LEFT, RIGHT, SIZE, TOP, forcing, grid, table, terrain

from wepl.build import humidity
from wepl.build.forcing import build_forcing
from wepl.build.grid_files import Axes
from wepl.build.grids import locator
from wepl.build.interpolate import area_weights, weighted
from wepl.errors import InputError

HOURS = 72
(WEST, EAST), (SOUTH, NORTH) = transform(CRS, "EPSG:4326", [LEFT, RIGHT], [BOTTOM, TOP])
LON = np.array([WEST - 0.01, 0.5 * (WEST + EAST) + 0.003, EAST + 0.012])
LAT = np.array([NORTH + 0.01, 0.5 * (SOUTH + NORTH) - 0.002, SOUTH - 0.014])
SHAPE = (HOURS + 1, 3, 3)
RAIN = np.random.default_rng(7).gamma(0.3, 1e-3, SHAPE)  # m in the hour that starts at each time
SUN = np.maximum(0.0, np.sin(2.0 * np.pi * (np.arange(HOURS + 1) - 6) / 24))[:, None, None] * np.full(SHAPE, 2e6)
WARMTH = 285.0 + np.random.default_rng(8).normal(0.0, 3.0, SHAPE)
DEW = WARMTH - 4.0
GROUND = np.array([[900.0, 500.0, 100.0]] * 3)


def _running(hourly: np.ndarray) -> np.ndarray:
    """Sums since 00 UTC at the end of each hour, as ERA5-Land gives them; the value of a time is the hour before it."""
    total = np.zeros_like(hourly)
    for time in range(1, hourly.shape[0]):
        before = total[time - 1] if (time - 1) % 24 else 0.0
        total[time] = before + hourly[time - 1]
    return total


def _era5_land(path: Path, hours: slice = slice(None), names: str = "time", **changed) -> Path:
    """Like the reanalysis: sums since 00 UTC, instants, attributes of the Copernicus store."""
    values = {"tp": (_running(RAIN), "m"), "ssrd": (_running(SUN), "J m**-2"), "strd": (
        _running(np.full(SHAPE, 300.0 * 3600.0)), "J m**-2"), "t2m": (WARMTH, "K"), "d2m": (DEW, "K"),
        "u10": (np.full(SHAPE, 3.0), "m s**-1"), "v10": (np.full(SHAPE, -4.0), "m s**-1")}
    values |= changed
    stamps = np.arange(HOURS + 1)[hours]
    data = xr.Dataset({name: ((names, "latitude", "longitude"), array[hours], {"units": unit})
                       for name, (array, unit) in values.items()})
    data["z"] = (("latitude", "longitude"), GROUND * 9.80665, {"units": "m**2 s**-2", "standard_name": "geopotential"})
    data[names] = ((names,), stamps, {"units": "hours since 2010-01-01", "calendar": "proleptic_gregorian"})
    data["latitude"] = (("latitude",), LAT, {"units": "degrees_north"})
    data["longitude"] = (("longitude",), LON, {"units": "degrees_east"})
    data.to_netcdf(path)
    return path


def _weights() -> np.ndarray:
    """Share of each unit in each cell, counted at the terrain's cells one by one."""
    columns, rows = np.meshgrid(np.arange(SIZE), np.arange(SIZE))
    x, y = transform(CRS, "EPSG:4326", (LEFT + CELL * (columns.ravel() + 0.5)).tolist(),
                     (TOP - CELL * (rows.ravel() + 0.5)).tolist())
    nearest = [np.abs(np.asarray(values)[:, None] - axis).argmin(axis=1) for values, axis in ((y, LAT), (x, LON))]
    cell = nearest[0] * 3 + nearest[1]
    unit = terrain().unit_map.ravel()
    counts = np.array([np.bincount(cell[unit == number], minlength=9) for number in (1, 2, 3)], dtype=float)
    return counts / counts.sum(axis=1, keepdims=True)


def _built(path: Path, name: str) -> np.ndarray:
    with netCDF4.Dataset(path) as file:
        return np.asarray(file[name][:], dtype=float)


def _build(folder: Path, *entries, **more):
    (folder / "out.nc").unlink(missing_ok=True)
    return build_forcing(forcing(grids=list(entries), **({"step": "1h"} | more)), terrain(), folder, folder / "out.nc")


def test_weights_are_areas(tmp_path):
    axes = Axes(LON, LAT, "EPSG:4326")
    found = area_weights(terrain(), "EPSG:4326", locator(axes, "grid"), 9, "grid").toarray()
    # One cell of the terrain in 400 may fall on the other side of an edge by the interpolated projection.
    np.testing.assert_allclose(found, _weights(), atol=1 / 400)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


def test_longitudes_from_0_to_360_and_rising_latitudes():
    place = np.array([WEST, EAST]) - 360.0
    across = locator(Axes(LON, LAT, "EPSG:4326"), "grid")(place, np.array([NORTH, SOUTH]))
    np.testing.assert_array_equal(across, [0, 8])
    up = locator(Axes(LON, LAT[::-1], "EPSG:4326"), "grid")(np.array([WEST, EAST]), np.array([NORTH, SOUTH]))
    np.testing.assert_array_equal(up, [6, 2])
    assert (locator(Axes(LON, LAT, "EPSG:4326"), "grid")(np.array([WEST + 1.0]), np.array([NORTH])) == -1).all()


def test_hours_of_era5_land(tmp_path):
    _era5_land(tmp_path / "era5.nc")
    facts = _build(tmp_path, grid(file="era5.nc"))
    weights = _weights()
    hours = slice(0, HOURS)

    def carried(values):
        return values[hours].reshape(HOURS, 9) @ weights.T

    # Cells of 100 m weigh 1/400 of a unit: rain differs between cells by its whole size.
    # m in an hour to mm/d, J m-2 in an hour to W m-2.
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation"), carried(RAIN) * 24e3, atol=0.02 * 24)
    rain = _built(tmp_path / "out.nc", "precipitation")
    np.testing.assert_allclose(rain.sum(), carried(RAIN).sum() * 24e3, rtol=0.01)
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "shortwave_radiation"), carried(SUN) / 3600.0, rtol=1e-5,
                               atol=1e-3)
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "longwave_radiation"), 300.0, rtol=1e-5)
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "wind_speed"), 5.0, rtol=1e-6)
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "air_temperature"), carried(WARMTH) - 273.15, atol=0.1)
    wet = 100.0 * humidity.from_dew_point(DEW - 273.15, WARMTH - 273.15)
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "relative_humidity"), carried(wet), atol=0.1)
    np.testing.assert_allclose(facts.cell_elevation, weights @ GROUND.ravel(), atol=5.0)
    assert "tp: read as sums since 00 UTC" in facts.notes
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert file["time"].units == "hours since 2010-01-01 00:00:00"
        assert file["time"].size == HOURS


def test_sums_of_a_step_are_told_from_sums_of_a_day(tmp_path):
    # As ERA5 gives them: the sum of the hour that ends at the time (GRIB says so).
    late = np.concatenate([np.zeros((1, 3, 3)), RAIN[:-1]])
    path = _era5_land(tmp_path / "era5.nc", tp=(late, "m"))
    data = xr.load_dataset(path, decode_times=False)
    data["tp"].attrs["GRIB_stepType"] = "accum"
    data.to_netcdf(path)
    facts = _build(tmp_path, grid(file="era5.nc"))
    assert "tp: read as sums since 00 UTC" not in facts.notes and "ssrd: read as sums since 00 UTC" in facts.notes
    expected = RAIN[:HOURS].reshape(HOURS, 9) @ _weights().T * 24e3
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation"), expected, atol=0.02 * 24)


def test_days_are_cut_in_the_time_zone(tmp_path):
    _era5_land(tmp_path / "era5.nc")
    _build(tmp_path, grid(file="era5.nc"), step="1d", time_zone="UTC+8")
    # Whole days of UTC+8 begin at 16 UTC: two of them lie within the 72 hours.
    expected = np.stack([RAIN[16 + 24 * day:40 + 24 * day].sum(axis=0).ravel() for day in (0, 1)]) @ _weights().T * 1e3
    found = _built(tmp_path / "out.nc", "precipitation")
    assert found.shape == (2, 3)
    np.testing.assert_allclose(found, expected, rtol=0.02)
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert file["time"].units == "days since 2010-01-02 00:00:00"


def test_files_by_month_and_by_variable_are_joined(tmp_path):
    _era5_land(tmp_path / "whole.nc")
    _build(tmp_path, grid(file="whole.nc"))
    whole = {name: _built(tmp_path / "out.nc", name) for name in ("precipitation", "relative_humidity")}
    for number, hours in enumerate((slice(0, 20), slice(20, 21), slice(21, HOURS + 1))):
        path = _era5_land(tmp_path / f"part_{number}.nc", hours, "valid_time")
        data = xr.load_dataset(path, decode_times=False)
        data[["tp", "ssrd"]].to_netcdf(tmp_path / f"sums_{number}.nc")
        data.drop_vars(["tp", "ssrd"]).to_netcdf(tmp_path / f"state_{number}.nc")
    _build(tmp_path, grid(file="sums_*.nc"), grid(file="state_*.nc"))
    for name, values in whole.items():
        np.testing.assert_allclose(_built(tmp_path / "out.nc", name), values, rtol=1e-6, atol=1e-6)


def test_a_zarr_store_gives_the_same(tmp_path):
    pytest.importorskip("zarr")
    _era5_land(tmp_path / "era5.nc")
    _build(tmp_path, grid(file="era5.nc"))
    expected = (tmp_path / "out.nc").read_bytes()
    xr.load_dataset(tmp_path / "era5.nc", decode_times=False).to_zarr(tmp_path / "era5.zarr", zarr_format=2,
                                                                     consolidated=False)
    _build(tmp_path, grid(file="era5.zarr"))
    assert (tmp_path / "out.nc").read_bytes() == expected


def test_packed_to_short_integers(tmp_path):
    _era5_land(tmp_path / "era5.nc")
    data = xr.load_dataset(tmp_path / "era5.nc", decode_times=False)
    encoding = {}
    for name in ("tp", "ssrd", "strd", "t2m", "d2m", "u10", "v10"):
        low, high = float(data[name].min()), float(data[name].max())
        encoding[name] = {"dtype": "int16", "scale_factor": (high - low) / 65000.0 or 1.0,
                          "add_offset": 0.5 * (high + low), "_FillValue": -32767}
    data.to_netcdf(tmp_path / "packed.nc", encoding=encoding)
    _build(tmp_path, grid(file="packed.nc"))
    found = _built(tmp_path / "out.nc", "precipitation")
    expected = RAIN[:HOURS].reshape(HOURS, 9) @ _weights().T * 24e3
    assert found.min() >= 0.0
    np.testing.assert_allclose(found.sum(axis=0), expected.sum(axis=0), rtol=0.02)


def _cmfd(path: Path, step: int = 3, **more) -> Path:
    """Like the China Meteorological Forcing Dataset: means of steps, specific humidity, pressure."""
    n = 24
    shape = (n, 3, 3)
    values = {"prec": (np.full(shape, 0.5), "mm hr-1"), "temp": (np.full(shape, 290.0), "K"),
              "shum": (np.full(shape, 0.008), "kg kg-1"), "pres": (np.full(shape, 9.5e4), "Pa"),
              "wind": (np.full(shape, 2.5), "m s-1"), "srad": (np.full(shape, 150.0), "W m-2"),
              "lrad": (np.full(shape, 310.0), "W m-2")} | more
    data = xr.Dataset({name: (("time", "lat", "lon"), array, {"units": unit})
                       for name, (array, unit) in values.items()})
    data["time"] = (("time",), step * np.arange(n), {"units": "hours since 1900-01-01 00:00:0.0"})
    data["lat"], data["lon"] = (("lat",), LAT[::-1]), (("lon",), LON)
    data.to_netcdf(path)
    return path


def test_means_of_cmfd(tmp_path):
    _cmfd(tmp_path / "cmfd.nc")
    facts = _build(tmp_path, grid(file="cmfd.nc"), step="1d")
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation"), 12.0, rtol=1e-6)
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "longwave_radiation"), 310.0, rtol=1e-6)
    vapour = 0.008 * 9.5e4 / (0.622 + 0.378 * 0.008)
    expected = 100.0 * vapour / (610.8 * np.exp(17.27 * 16.85 / (16.85 + 237.3)))
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "relative_humidity"), expected, rtol=1e-5)
    # Without an elevation of its own a cell has that of the units in it.
    place = terrain().units["elevation_m"]
    assert place.min() - 1.0 <= facts.cell_elevation.min() and facts.cell_elevation.max() <= place.max() + 1.0
    assert any("no elevation of its cells is given" in note for note in facts.notes)


def test_daily_values_at_noon_stand_for_their_day(tmp_path):
    path = _cmfd(tmp_path / "daily.nc", 24, prec=(np.arange(24.0)[:, None, None] * np.ones((24, 3, 3)), "mm"))
    data = xr.load_dataset(path, decode_times=False)
    data["time"] = data["time"] + 12
    data["time"].attrs["units"] = "hours since 1900-01-01"
    data.to_netcdf(path)
    _build(tmp_path, grid(file="daily.nc"), step="1d", time_zone="UTC+8")
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation")[:, 0], np.arange(24.0), rtol=1e-6)
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert file["time"].units == "days since 1900-01-01 00:00:00"


def test_time_bounds_tell_the_interval(tmp_path):
    _cmfd(tmp_path / "a.nc", 1)
    data = xr.load_dataset(tmp_path / "a.nc", decode_times=False)
    data["prec"] = (("time", "lat", "lon"), np.arange(24.0)[:, None, None] * np.ones((24, 3, 3)), {"units": "mm"})
    data["time"].attrs["bounds"] = "time_bnds"
    hours = np.arange(24.0)
    data["time_bnds"] = (("time", "nv"), np.stack([hours - 1.0, hours], axis=1))
    data.to_netcdf(tmp_path / "a.nc")
    _build(tmp_path, grid(file="a.nc"))
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert file["time"].units == "hours since 1899-12-31 23:00:00"
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation")[:, 0], 24.0 * hours, rtol=1e-6)


def test_half_hours_of_gpm_in_a_group_with_longitude_first(tmp_path):
    _cmfd(tmp_path / "rest.nc", 1)
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
    _build(tmp_path, grid(file="3B-HHR.*.HDF5"), grid(file="rest.nc"))
    # 0 and 1 mm/h in the two halves of each hour are 12 mm/d.
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation"), 12.0, rtol=1e-6)


def _on_a_plane(path: Path, mapping: bool) -> Path:
    x, y = LEFT + np.array([500.0, 2500.0, 4500.0]), TOP - np.array([500.0, 2500.0, 4500.0])
    _cmfd(path, prec=(np.broadcast_to(np.array([1.0, 2.0, 3.0]), (24, 3, 3)).copy(), "mm hr-1"))
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
    facts = _build(tmp_path, grid(file="plane.nc"), step="1d")
    # Edges at 1500 m and 3500 m: the west unit (0 to 2000 m) lies 3/4 in cell 1 and 1/4 in cell 2.
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation")[0], [24 * 1.25, 24 * 2.25, 24 * 2.25],
                               rtol=1e-6)
    assert any("no coordinate system is given" in note for note in facts.notes) is not mapping


def test_curvilinear_grid_takes_the_nearest_centre(tmp_path):
    _cmfd(tmp_path / "c.nc", prec=(np.broadcast_to(np.array([1.0, 2.0, 3.0]), (24, 3, 3)).copy(), "mm hr-1"))
    data = xr.load_dataset(tmp_path / "c.nc", decode_times=False).rename({"lat": "south_north", "lon": "west_east"})
    data = data.drop_vars(["south_north", "west_east"])
    longitude, latitude = np.meshgrid(LON, LAT[::-1])
    data["XLONG"] = (("south_north", "west_east"), longitude, {"units": "degrees_east"})
    data["XLAT"] = (("south_north", "west_east"), latitude, {"units": "degrees_north"})
    data.to_netcdf(tmp_path / "c.nc")
    _build(tmp_path, grid(file="c.nc"), step="1d")
    expected = np.tile([24.0, 48.0, 72.0], 3) @ _weights().T
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation")[0], expected, rtol=5e-3)


def test_grid_cells_as_cells(tmp_path):
    _era5_land(tmp_path / "era5.nc")
    facts = _build(tmp_path, grid(file="era5.nc"), cells="grid")
    most = _weights().argmax(axis=1)
    used = np.unique(most)
    np.testing.assert_array_equal(facts.unit_cell, np.searchsorted(used, most) + 1)
    np.testing.assert_allclose(facts.cell_elevation, GROUND.ravel()[used], rtol=1e-9)
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation"),
                               RAIN[:HOURS].reshape(HOURS, 9)[:, used] * 24e3, rtol=1e-4, atol=1e-3)


def test_stations_come_before_grids(tmp_path):
    _cmfd(tmp_path / "cmfd.nc", 24)
    rows = "\n".join(f"1900-01-{day:02d},7.0" for day in range(1, 25))
    (tmp_path / "p.csv").write_text(f"date,A\n{rows}\n", encoding="utf-8")
    (tmp_path / "s.csv").write_text(f"id,x,y,elevation\nA,{LEFT},{TOP},300\n", encoding="utf-8")
    rain = table(file="p.csv", variable="precipitation", unit="mm", coordinates="s.csv")
    facts = _build(tmp_path, grid(file="cmfd.nc"), step="1d", stations=[rain])
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation"), 7.0, rtol=1e-6)
    assert "precipitation comes from stations, not from cmfd.nc" in facts.notes


def test_sea_is_left_out_and_gaps_are_not(tmp_path):
    warm = WARMTH.copy()
    warm[:, :, 2] = np.nan
    dew = DEW.copy()
    dew[:, :, 2] = np.nan
    _era5_land(tmp_path / "era5.nc", t2m=(warm, "K"), d2m=(dew, "K"))
    _build(tmp_path, grid(file="era5.nc"))
    weights = _weights().reshape(3, 3, 3)[:, :, :2].reshape(3, 6)
    weights /= weights.sum(axis=1, keepdims=True)
    expected = warm[:HOURS, :, :2].reshape(HOURS, 6) @ weights.T - 273.15
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "air_temperature"), expected, atol=0.15)
    warm[30:33, 1, 1] = np.nan
    _era5_land(tmp_path / "era5.nc", t2m=(warm, "K"), d2m=(dew, "K"))
    with pytest.raises(InputError, match="air_temperature is missing from 2010-01-02T06:00 in 1 of 9 grid cells"):
        _build(tmp_path, grid(file="era5.nc"))
    facts = _build(tmp_path, grid(file="era5.nc"), gaps="neighbours")
    assert any("air_temperature: 3 missing values" in note for note in facts.notes)
    with pytest.raises(InputError, match="longer than max_gap_days = 0.1"):
        _build(tmp_path, grid(file="era5.nc"), gaps="neighbours", max_gap_days=0.1)


def test_units_over_sea_alone_take_the_nearest_land(tmp_path):
    warm, dew = WARMTH.copy(), DEW.copy()
    warm[:, :, 1:] = dew[:, :, 1:] = np.nan
    _era5_land(tmp_path / "era5.nc", t2m=(warm, "K"), d2m=(dew, "K"))
    facts = _build(tmp_path, grid(file="era5.nc"))
    found = _built(tmp_path / "out.nc", "air_temperature")
    # Units 2 and 3 lie in the masked columns; most of unit 2 is in the north, most of unit 3 in the south.
    rows = [_weights()[unit].reshape(3, 3).sum(axis=1).argmax() for unit in (1, 2)]
    for unit, row in zip((1, 2), rows, strict=True):
        np.testing.assert_allclose(found[:, unit], warm[:HOURS, row, 0] - 273.15, atol=1e-4)
    assert any("over 2 cells of the basin (sea or lake)" in note for note in facts.notes)


def test_weighted_means_of_what_is_there():
    from scipy.sparse import csr_array

    weights = csr_array(np.array([[0.5, 0.5], [1.0, 0.0]]))
    values = np.array([[1.0, 3.0], [np.nan, 3.0]])
    np.testing.assert_array_equal(weighted(weights, values), [[2.0, 1.0], [3.0, np.nan]])


def test_a_period_of_the_files(tmp_path):
    _era5_land(tmp_path / "era5.nc")
    _build(tmp_path, grid(file="era5.nc"), start="2010-01-02", end="2010-01-02")
    expected = RAIN[24:48].reshape(24, 9) @ _weights().T * 24e3
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation"), expected, atol=0.02 * 24)
    with pytest.raises(InputError, match="end = 2010-01-09 lies after 2010-01-04"):
        _build(tmp_path, grid(file="era5.nc"), end="2010-01-09")
    with pytest.raises(InputError, match="start = 2009-12-31 lies before 2010-01-01"):
        _build(tmp_path, grid(file="era5.nc"), start="2009-12-31")


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
    _era5_land(tmp_path / "era5.nc")
    _fault(tmp_path, name)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InputError, match=message):
        _build(tmp_path, grid(file=file))
    assert sorted(tmp_path.iterdir()) == before


def test_a_wrong_kind_is_found_out(tmp_path):
    late = np.concatenate([np.zeros((1, 3, 3)), RAIN[:-1]])
    _era5_land(tmp_path / "era5.nc", tp=(late, "m"))
    with pytest.raises(InputError, match="tp falls within the day at .* so it is not summed since 00 UTC"):
        _build(tmp_path, grid(file="era5.nc", kind="accumulated"))
    assert not (tmp_path / "out.nc").exists()


def test_given_names_of_variables(tmp_path):
    path = _cmfd(tmp_path / "cmfd.nc")
    xr.load_dataset(path, decode_times=False).rename({"prec": "rr_final"}).to_netcdf(path)
    with pytest.raises(InputError, match="precipitation is given by no station or grid"):
        _build(tmp_path, grid(file="cmfd.nc"), step="1d")
    names = {"precipitation": "rr_final", "air_temperature": "temp", "specific_humidity": "shum", "wind_speed": "wind",
             "shortwave_radiation": "srad"}
    _build(tmp_path, grid(file="cmfd.nc", variables=names), step="1d")
    np.testing.assert_allclose(_built(tmp_path / "out.nc", "precipitation"), 12.0, rtol=1e-6)


def test_two_grids_of_one_variable_are_refused(tmp_path):
    _cmfd(tmp_path / "a.nc")
    _cmfd(tmp_path / "b.nc")
    with pytest.raises(InputError, match="comes from a.nc and from b.nc: drop one"):
        _build(tmp_path, grid(file="a.nc"), grid(file="b.nc"), step="1d")
