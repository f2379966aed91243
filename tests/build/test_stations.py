"""From station tables to the forcing of a basin: cells, elevations, gaps."""

from __future__ import annotations

import netCDF4
import numpy as np
import pytest
from small_stations import RAIN, WARMTH, built, read, weather
from small_terrain import BOTTOM, LEFT, RIGHT, TOP, forcing, terrain

from wepl.build import clock
from wepl.build.forcing import build_forcing
from wepl.build.gaps import fill, longest_run
from wepl.build.interpolate import distance_weights, units_as_places
from wepl.errors import InputError


def test_a_daily_basin_from_five_tables(tmp_path):
    target = tmp_path / "out.nc"
    facts = build_forcing(forcing(stations=weather(tmp_path)), terrain(), tmp_path, target)
    np.testing.assert_array_equal(facts.cells, [1, 2, 3])
    np.testing.assert_array_equal(facts.unit_cell, [1, 2, 3])
    # All stations agree, so every cell has their value; the table has six digits.
    np.testing.assert_allclose(built(target, "precipitation"), np.repeat(RAIN[:, None], 3, 1), rtol=1e-6)
    np.testing.assert_allclose(built(target, "air_temperature"), np.repeat(WARMTH[:, None], 3, 1), rtol=1e-5)
    np.testing.assert_allclose(built(target, "sunshine_duration"), 6.0, rtol=1e-6)
    np.testing.assert_allclose(built(target, "relative_humidity"), 70.0, rtol=1e-6)
    with netCDF4.Dataset(target) as file:
        assert file["time"].units == "days since 2010-01-01 00:00:00"
        assert file["precipitation"].units == "mm d-1"
        assert file["precipitation"].dimensions == ("time", "cell")


def test_the_same_input_gives_the_same_bytes(tmp_path):
    entries = weather(tmp_path)
    for name in ("a.nc", "b.nc"):
        build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / name)
    assert (tmp_path / "a.nc").read_bytes() == (tmp_path / "b.nc").read_bytes()


def test_cells_carry_the_elevation_of_their_stations(tmp_path):
    # The model applies the lapse between cell and unit: the cell's elevation is the stations', weighted as they are.
    place = terrain()
    facts = build_forcing(forcing(stations=weather(tmp_path)), place, tmp_path, tmp_path / "out.nc")
    _, _, places, _ = read(weather(tmp_path), tmp_path)
    weights = distance_weights(places.xy, units_as_places(place).xy, "idw", 2.0, 8)
    np.testing.assert_allclose(facts.cell_elevation, weights @ places.elevation, rtol=1e-12)
    assert facts.cell_elevation.min() > 20.0 and facts.cell_elevation.max() < 900.0


def test_stations_as_cells(tmp_path):
    facts = build_forcing(forcing(stations=weather(tmp_path), cells="station"), terrain(), tmp_path,
                          tmp_path / "out.nc")
    # Nearest of A (north-west), B (south-east), C (north of the middle), by hand.
    xy = units_as_places(terrain()).xy
    stations = np.array([[LEFT - 500.0, TOP], [RIGHT + 500.0, BOTTOM], [0.5 * (LEFT + RIGHT), TOP + 800.0]])
    nearest = np.linalg.norm(xy[:, None] - stations[None], axis=2).argmin(axis=1)
    elevation = np.array([900.0, 20.0, 400.0])
    place = {int(cell): row for row, cell in enumerate(facts.cells)}
    found = facts.cell_elevation[[place[int(cell)] for cell in facts.unit_cell]]
    np.testing.assert_allclose(found, elevation[nearest])


def test_missing_variables_are_named_with_ways_to_make_them(tmp_path):
    entries = weather(tmp_path)[:2]
    with pytest.raises(InputError, match="relative_humidity, wind_speed, shortwave_radiation or sunshine_duration are "
                                         "given by no station or grid; relative_humidity can be made from dew_point"):
        build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / "out.nc")
    assert not (tmp_path / "out.nc").exists()


def test_gaps_are_refused_unless_asked_for(tmp_path):
    rain = np.repeat(RAIN[:, None], 3, axis=1)
    rain[4:6, 1] = np.nan
    entries = weather(tmp_path, precipitation=rain)
    with pytest.raises(InputError, match="missing 2 times at 1 of 3 stations, first at B on 2010-01-05"):
        build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / "out.nc")
    facts = build_forcing(forcing(stations=entries, gaps="neighbours"), terrain(), tmp_path, tmp_path / "out.nc")
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation")[:, 0], RAIN, rtol=1e-6)
    assert "precipitation of station B: 2 of 20 values missing, filled by neighbours" in facts.notes
    with pytest.raises(InputError, match="missing for 2 days from 2010-01-05, longer than max_gap_days = 1"):
        build_forcing(forcing(stations=entries, gaps="neighbours", max_gap_days=1.0), terrain(), tmp_path,
                      tmp_path / "other.nc")


def test_all_stations_missing_on_a_day(tmp_path):
    rain = np.repeat(RAIN[:, None], 3, axis=1)
    rain[7] = np.nan
    entries = weather(tmp_path, precipitation=rain)
    with pytest.raises(InputError, match="precipitation is missing at all stations on 2010-01-08"):
        build_forcing(forcing(stations=entries, gaps="neighbours"), terrain(), tmp_path, tmp_path / "out.nc")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv"] * 6
    build_forcing(forcing(stations=entries, gaps="climatology"), terrain(), tmp_path, tmp_path / "out.nc")
    # Days 1 to 15 are within a week of the 8th; without the 8th itself.
    expected = np.delete(RAIN[:15], 7).mean()
    np.testing.assert_allclose(built(tmp_path / "out.nc", "precipitation")[7], expected, rtol=1e-5)


def test_longest_run():
    assert longest_run(np.array([0, 1, 1, 0, 1, 1, 1], dtype=bool)) == (3, 4)
    assert longest_run(np.zeros(3, dtype=bool)) == (0, 0)


def test_climatology_takes_the_time_of_day():
    steps = clock.Steps(0, 3600, 24 * 4)
    values = np.tile(np.arange(24.0), 4)[:, None]
    values[30] = np.nan
    filled = fill(values, steps, "air_temperature", ["A"], "climatology", 1.0, [])
    assert filled[30, 0] == 6.0
