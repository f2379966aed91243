"""Gridded weather: sums recognised, areas weighted, days and cells."""

from __future__ import annotations

import netCDF4
import numpy as np
import pytest
import xarray as xr
from small_grids import (
    DEW,
    EAST,
    GROUND,
    HOURS,
    LAT,
    LON,
    NORTH,
    RAIN,
    SOUTH,
    SUN,
    WARMTH,
    WEST,
    build,
    built,
    cmfd,
    era5_land,
    shares,
)
from small_terrain import LEFT, TOP, grid, table, terrain

from wepl.build import humidity
from wepl.build.grid_files import Axes
from wepl.build.grids import locator
from wepl.build.interpolate import area_weights, weighted
from wepl.errors import InputError


def test_weights_are_areas(tmp_path):
    axes = Axes(LON, LAT, "EPSG:4326")
    found = area_weights(terrain(), "EPSG:4326", locator(axes, "grid"), 9, "grid").toarray()
    # One cell of the terrain in 400 may fall on the other side of an edge by the interpolated projection.
    np.testing.assert_allclose(found, shares(), atol=1 / 400)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


def test_longitudes_from_0_to_360_and_rising_latitudes():
    place = np.array([WEST, EAST]) - 360.0
    across = locator(Axes(LON, LAT, "EPSG:4326"), "grid")(place, np.array([NORTH, SOUTH]))
    np.testing.assert_array_equal(across, [0, 8])
    up = locator(Axes(LON, LAT[::-1], "EPSG:4326"), "grid")(np.array([WEST, EAST]), np.array([NORTH, SOUTH]))
    np.testing.assert_array_equal(up, [6, 2])
    assert (locator(Axes(LON, LAT, "EPSG:4326"), "grid")(np.array([WEST + 1.0]), np.array([NORTH])) == -1).all()


def test_hours_of_era5_land(tmp_path):
    era5_land(tmp_path / "era5.nc")
    facts = build(tmp_path, grid(file="era5.nc"))
    weights = shares()
    hours = slice(0, HOURS)

    def carried(values):
        return values[hours].reshape(HOURS, 9) @ weights.T

    # Cells of 100 m weigh 1/400 of a unit: rain differs between cells by its whole size.
    # m in an hour to mm/d, J m-2 in an hour to W m-2.
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation"), carried(RAIN) * 24e3, atol=0.02 * 24)
    rain = built(tmp_path / "out.nc", "precipitation")
    np.testing.assert_allclose(rain.sum(), carried(RAIN).sum() * 24e3, rtol=0.01)
    np.testing.assert_allclose(built(tmp_path / "out.nc", "shortwave_radiation"), carried(SUN) / 3600.0, rtol=1e-5,
                               atol=1e-3)
    np.testing.assert_allclose(built(tmp_path / "out.nc", "longwave_radiation"), 300.0, rtol=1e-5)
    np.testing.assert_allclose(built(tmp_path / "out.nc", "wind_speed"), 5.0, rtol=1e-6)
    np.testing.assert_allclose(built(tmp_path / "out.nc", "air_temperature"), carried(WARMTH) - 273.15, atol=0.1)
    wet = 100.0 * humidity.from_dew_point(DEW - 273.15, WARMTH - 273.15)
    np.testing.assert_allclose(built(tmp_path / "out.nc", "relative_humidity"), carried(wet), atol=0.1)
    np.testing.assert_allclose(facts.cell_elevation, weights @ GROUND.ravel(), atol=5.0)
    assert "tp: read as sums since 00 UTC" in facts.notes
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert file["time"].units == "hours since 2010-01-01 00:00:00"
        assert file["time"].size == HOURS


def test_sums_of_a_step_are_told_from_sums_of_a_day(tmp_path):
    # As ERA5 gives them: the sum of the hour that ends at the time (GRIB says so).
    late = np.concatenate([np.zeros((1, 3, 3)), RAIN[:-1]])
    path = era5_land(tmp_path / "era5.nc", tp=(late, "m"))
    data = xr.load_dataset(path, decode_times=False)
    data["tp"].attrs["GRIB_stepType"] = "accum"
    data.to_netcdf(path)
    facts = build(tmp_path, grid(file="era5.nc"))
    assert "tp: read as sums since 00 UTC" not in facts.notes and "ssrd: read as sums since 00 UTC" in facts.notes
    expected = RAIN[:HOURS].reshape(HOURS, 9) @ shares().T * 24e3
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation"), expected, atol=0.02 * 24)


def test_days_are_cut_in_the_time_zone(tmp_path):
    era5_land(tmp_path / "era5.nc")
    build(tmp_path, grid(file="era5.nc"), step="1d", time_zone="UTC+8")
    # Whole days of UTC+8 begin at 16 UTC: two of them lie within the 72 hours.
    expected = np.stack([RAIN[16 + 24 * day:40 + 24 * day].sum(axis=0).ravel() for day in (0, 1)]) @ shares().T * 1e3
    found = built(tmp_path / "out.nc", "precipitation")
    assert found.shape == (2, 3)
    np.testing.assert_allclose(found, expected, rtol=0.02)
    with netCDF4.Dataset(tmp_path / "out.nc") as file:
        assert file["time"].units == "days since 2010-01-02 00:00:00"


def test_grid_cells_as_cells(tmp_path):
    era5_land(tmp_path / "era5.nc")
    facts = build(tmp_path, grid(file="era5.nc"), cells="grid")
    most = shares().argmax(axis=1)
    used = np.unique(most)
    np.testing.assert_array_equal(facts.unit_cell, np.searchsorted(used, most) + 1)
    np.testing.assert_allclose(facts.cell_elevation, GROUND.ravel()[used], rtol=1e-9)
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation"),
                               RAIN[:HOURS].reshape(HOURS, 9)[:, used] * 24e3, rtol=1e-4, atol=1e-3)


def test_stations_come_before_grids(tmp_path):
    cmfd(tmp_path / "cmfd.nc", 24)
    rows = "\n".join(f"1900-01-{day:02d},7.0" for day in range(1, 25))
    (tmp_path / "p.csv").write_text(f"date,A\n{rows}\n", encoding="utf-8")
    (tmp_path / "s.csv").write_text(f"id,x,y,elevation\nA,{LEFT},{TOP},300\n", encoding="utf-8")
    rain = table(file="p.csv", variable="precipitation", unit="mm", coordinates="s.csv")
    facts = build(tmp_path, grid(file="cmfd.nc"), step="1d", stations=[rain])
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation"), 7.0, rtol=1e-6)
    assert "precipitation comes from stations, not from cmfd.nc" in facts.notes


def test_weighted_means_of_what_is_there():
    from scipy.sparse import csr_array

    weights = csr_array(np.array([[0.5, 0.5], [1.0, 0.0]]))
    values = np.array([[1.0, 3.0], [np.nan, 3.0]])
    np.testing.assert_array_equal(weighted(weights, values), [[2.0, 1.0], [3.0, np.nan]])


def test_a_period_of_the_files(tmp_path):
    era5_land(tmp_path / "era5.nc")
    build(tmp_path, grid(file="era5.nc"), start="2010-01-02", end="2010-01-02")
    expected = RAIN[24:48].reshape(24, 9) @ shares().T * 24e3
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation"), expected, atol=0.02 * 24)
    with pytest.raises(InputError, match="end = 2010-01-09 lies after 2010-01-04"):
        build(tmp_path, grid(file="era5.nc"), end="2010-01-09")
    with pytest.raises(InputError, match="start = 2009-12-31 lies before 2010-01-01"):
        build(tmp_path, grid(file="era5.nc"), start="2009-12-31")
