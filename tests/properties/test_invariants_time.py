"""What must hold along time for the whole model: resolution, cause before effect, dry-down, steady state, no drift."""

from __future__ import annotations

import numpy as np
import pytest
import small_basins
from small_basins import (
    DAY,
    HOUR,
    MM,
    MM_PER_DAY,
    ROUNDING,
    SOIL,
    basin,
    check_sound,
    simulate,
    steady_weather,
    weather,
)

from wepl import registry
from wepl.physics.atmosphere import daylight_in_period
from wepl.physics.rain_pattern import storm_depth

backend = small_basins.backend

SIX_HOURS = 6 * HOUR
ONE_SOIL = np.eye(5)[SOIL]


def finer(daily: dict[str, np.ndarray], step: float) -> dict[str, np.ndarray]:
    """Daily weather in shorter steps: rain by the daily model's own storm, eq. (2.3); the rest constant in the day."""
    per_day = round(DAY / step)
    series = {name: np.repeat(values, per_day) for name, values in daily.items()}
    edges = np.arange(per_day + 1) * step
    for day, rate in enumerate(daily["precipitation"]):
        depth = [storm_depth(rate * DAY, start, end) for start, end in zip(edges, edges[1:], strict=False)]
        series["precipitation"][day * per_day:(day + 1) * per_day] = np.array(depth) / step
    return series


def with_sun(series: dict[str, np.ndarray], ratio: np.ndarray, step: float, latitude: float,
             longitude: float) -> dict[str, np.ndarray]:
    """The day's relative sunshine n/N (``[day]``) in the daylight of each step in place of shortwave radiation."""
    place, per_day, hours = np.radians((latitude, longitude)), round(DAY / step), step / HOUR
    daylight = [[daylight_in_period(day % 365 + 1.0, *place, (part + 0.5) * hours, hours) for part in range(per_day)]
                for day in range(ratio.size)]
    bright = HOUR * ratio[:, None] * np.array(daylight)
    return {name: values for name, values in series.items() if name != "shortwave_radiation"} | {
        "sunshine_duration": bright.ravel()}


def differences(run: small_basins.Run, other: small_basins.Run) -> dict[str, float]:
    """Relative difference of a run's volumes from another's: rain, evapotranspiration, outflow, runoff of columns."""
    volumes = [(one.rain, one.evaporation, one.outflow, sum(one.volume(flux) for flux in registry.RUNOFF))
               for one in (run, other)]
    names = ("rain", "evapotranspiration", "outflow", "runoff")
    return {name: here / there - 1.0 for name, here, there in zip(names, *volumes, strict=True)}


def coarser(series: dict[str, np.ndarray], count: int) -> dict[str, np.ndarray]:
    """Means of ``count`` steps, repeated: the same weather for both lengths of step."""
    return {name: np.repeat(values.reshape(-1, count).mean(axis=1), count) for name, values in series.items()}


@pytest.mark.parametrize("energy", ["none", "force_restore"])
@pytest.mark.parametrize("texture", ["sandy loam", "clay loam"])
@pytest.mark.parametrize("depth", [4.0, 12.0])
def test_constant_days_at_any_resolution(backend, depth, texture, energy):
    """Days without a course where the sun never sets (80 N, summer): volumes within 5 %.

    Daily against hourly with the daily model's storms, and 6 h against hourly under rain that is even over each 6 h.
    There the ground heat that evaporation reckons with is that of the step's start, eq. (6.24): with force-restore
    evapotranspiration is held to 10 %.
    """
    steady = {"air_temperature": np.full(120, 12.0), "longwave_radiation": np.full(120, 320.0)}
    daily = weather(120, depth=depth) | steady
    hourly = finer(daily, HOUR)
    even = coarser(hourly, 6)

    def finished(forcing: dict[str, np.ndarray], step: float) -> small_basins.Run:
        data = basin(forcing, step=step, texture=texture, start="2010-05-01", unit_latitude=80.0, bands=2)
        return simulate(data, backend, {"energy_balance": energy})

    of_day, of_hour = finished(daily, DAY), finished(hourly, HOUR)
    found = differences(of_hour, of_day)
    assert max(map(abs, found.values())) < 0.05, found
    six = {name: values[::6] for name, values in even.items()}
    of_six_hours, of_even_hour = finished(six, SIX_HOURS), finished(even, HOUR)
    found = differences(of_even_hour, of_six_hours)
    assert abs(found.pop("evapotranspiration")) < (0.05 if energy == "none" else 0.10)
    assert max(map(abs, found.values())) < 0.05, found
    # Open water has nothing that depends on the step.
    water = [run.volume("open_water_evaporation") for run in (of_day, of_hour, of_six_hours, of_even_hour)]
    np.testing.assert_allclose(water, water[0], rtol=1e-9)


@pytest.mark.parametrize("texture", ["sandy loam", "clay loam"])
def test_sunny_days_at_any_resolution(backend, texture):
    """A year at 28 N with the sun's course and storms around 18 h local time: volumes within 5 % from day to hour."""
    daily = weather(365, depth=12.0)
    ratio = np.clip(np.random.default_rng(5).uniform(-0.2, 1.0, 365), 0.0, 1.0)
    ratio *= np.where(daily["precipitation"] > 0.0, 0.4, 1.0)
    of_day, of_hour = (simulate(basin(with_sun(finer(daily, step), ratio, step, 28.0, 90.0), step=step, texture=texture,
                                      unit_longitude=90.0, bands=2), backend) for step in (DAY, HOUR))
    found = differences(of_hour, of_day)
    assert max(map(abs, found.values())) < 0.05, found


@pytest.mark.parametrize("step", [DAY, HOUR], ids=["daily", "hourly"])
def test_nothing_changes_before_its_cause(backend, step):
    """Other weather from a step on: all series and states before that step keep their bits, and later ones change."""
    days, changed = (120, 77) if step == DAY else (10, 101)
    names = ("soil_water", "snow_ice", "surface_storage", "canopy_a", "transpiration", "overland_runoff",
             "surface_temperature")
    runs = []
    for other in (False, True):
        forcing = weather(days, step, temperature=9.0)
        if other:
            later = weather(days, step, seed=8, temperature=14.0)
            for name, values in forcing.items():
                values[changed:] = later[name][changed:]
        runs.append(simulate(basin(forcing, step=step, downstream=(1, -1), bands=2), backend,
                             {"energy_balance": "force_restore"}, record=names))
    first, second = (run.series | run.record for run in runs)
    for name, values in first.items():
        np.testing.assert_array_equal(second[name][:changed], values[:changed], err_msg=name)
        assert not np.array_equal(second[name][changed:], values[changed:]), name


@pytest.mark.parametrize("texture", ["sand", "loam", "clay"])
@pytest.mark.parametrize("layers", [1, 3])
def test_without_rain_everything_dries(backend, texture, layers):
    """From a saturated start without rain: all water of a column, on the hillslope and in the basin falls every day.

    What physics lets rise: a layer of soil below another, the transition store, groundwater and rivers, which drainage
    fills first. From the second day on (on the first, drainage is still in the transition store) the water table rises
    to one peak and falls from there on, and with it, a day behind, discharge.
    """
    data = basin(steady_weather(400, precipitation=0.0), bands=2, downstream=(1, -1), layers=layers, texture=texture)
    data["initial_soil_moisture"] = data["saturated_water_content"]
    stores = ("canopy_a", "canopy_b", "snow_ice", "surface_storage", "soil_water")
    finished = simulate(data, backend, record=stores)
    check_sound(finished)
    column = finished.record["soil_water"].sum(axis=1) + sum(finished.record[name] for name in stores[:4])
    soil = finished.record["soil_water"][0, 0] > 0.0
    assert np.all(np.diff(column, axis=0) <= ROUNDING * column[0].max())
    assert np.all(column[-1, soil] < column[0, soil])
    assert not finished.volume("precipitation_depth") and not finished.volume("throughfall")
    table, discharge = finished.series["water_table"], finished.series["discharge"]
    for reach in range(2):
        peak = int(table[:, reach].argmax())
        assert np.all(np.diff(table[1:peak + 1, reach]) >= 0.0)
        assert np.all(np.diff(table[peak:, reach]) <= 0.0)
    assert np.all(np.diff(discharge[table.argmax(axis=0).max() + 1:], axis=0) <= 0.0)
    assert 0.0 < discharge[-1, -1] < 0.5 * discharge[:, -1].max()


@pytest.mark.parametrize("energy", ["none", "force_restore"])
def test_steady_weather_ends_in_a_steady_year(backend, energy):
    """The same day for 8 years: in the last one discharge is rain less evapotranspiration, to 1e-6 of the rain."""
    years = 8
    names = registry.EVAPORATION
    data = basin(steady_weather(365 * years), downstream=(1, -1))
    finished = simulate(data, backend, {"energy_balance": energy}, record=names, block=365)
    last = slice(-365, None)
    area = finished.arrays.tile_area
    rain = 365 * 4.0 * MM * area.sum()
    evaporated = sum(float((finished.record[name][last] @ area).sum()) for name in names)
    left = float(finished.series["discharge"][last, -1].sum()) * DAY
    assert 0.2 * rain < left < 0.8 * rain
    assert abs(left - (rain - evaporated)) < 1e-6 * rain
    before = finished.series["discharge"][-730:-365]
    np.testing.assert_allclose(finished.series["discharge"][last], before, rtol=1e-6)


def test_a_hundred_years_do_not_drift(backend):
    """One year's weather a hundred times on one tile: balance closed to 1e-9, each late year the same as the next."""
    years = 100
    forcing = {name: np.tile(values, years) for name, values in weather(365, temperature=8.0).items()}
    finished = simulate(basin(forcing, land=ONE_SOIL, texture="clay loam"), backend, {"routing_step": DAY},
                        record=("soil_water",), block=3650)
    assert max(closure.relative for closure in finished.balance.closures) < 1e-9
    water = finished.record["soil_water"].reshape(years, 365, 3)
    discharge = finished.series["discharge"].reshape(years, 365)
    np.testing.assert_allclose(water[-1], water[20], rtol=1e-9)
    np.testing.assert_allclose(discharge[-1], discharge[20], rtol=1e-9)


@pytest.mark.parametrize("texture", ["sand", "clay"])
@pytest.mark.parametrize("step", [DAY, HOUR], ids=["daily", "hourly"])
def test_a_metre_of_rain_in_a_day(backend, step, texture):
    """1,000 mm in a day on ground in any state: the balance closes and the flood leaves."""
    forcing = weather(20, step)
    day = np.arange(forcing["precipitation"].size) * step // DAY == 10
    forcing["precipitation"][day] = 1000.0 * MM_PER_DAY
    data = basin(forcing, step=step, texture=texture, downstream=(1, -1), bands=3)
    finished = simulate(data, backend, {"energy_balance": "force_restore"})
    check_sound(finished)
    flood = finished.series["discharge"][:, -1]
    assert flood.argmax() * step // DAY in (10, 11)
    assert flood.max() > 20.0 * np.median(flood)
    assert flood[-1] < 0.2 * flood.max()


@pytest.mark.parametrize("step", [DAY, HOUR], ids=["daily", "hourly"])
def test_whole_years_later_is_the_same(backend, step):
    """The same weather from another 1 March of the noleap calendar: the same bits."""
    forcing = weather(400 if step == DAY else 15, step)
    first, second = (simulate(basin(forcing, step=step, start=f"{year}-03-01", downstream=(1, -1)), backend,
                              {"energy_balance": "force_restore"}, record=("soil_water", "latent_heat"))
                     for year in (1987, 2040))
    for name, values in (first.series | first.record | first.after).items():
        np.testing.assert_array_equal((second.series | second.record | second.after)[name], values, err_msg=name)
