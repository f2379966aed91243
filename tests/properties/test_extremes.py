"""Input at the ends of what is accepted: the model closes its balance and stays finite, or refuses with a reason."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest
import small_basins
from hypothesis import given, settings
from hypothesis import strategies as st
from small_basins import (
    DAY,
    HOUR,
    IMPERVIOUS,
    MM,
    MM_PER_DAY,
    ROUNDING,
    SOIL,
    Run,
    basin,
    check_sound,
    simulate,
    steady_weather,
    weather,
)

from wepl import registry
from wepl.errors import InputError

backend = small_basins.backend

STEPS = pytest.mark.parametrize("step", [DAY, HOUR], ids=["daily", "hourly"])
ONE_SOIL = np.eye(5)[SOIL]
FORCE_RESTORE = {"energy_balance": "force_restore"}
OPTIONS = {entry.name: entry for entry in registry.of_kind("option")}
MULTIPLIERS = [name for name, entry in OPTIONS.items() if name.endswith("_factor") and entry.default == 1.0]
# They set how much is computed, not what; or they are drawn together below.
NOT_DRAWN = {"routing_step", "river_cell_length", "wind_height", "soil_roughness", "water_roughness",
             "temperature_lapse_rate"}


def short(step: float) -> int:
    """Days of a short run."""
    return 40 if step == DAY else 6


@STEPS
@pytest.mark.parametrize("temperature", [-60.0, 55.0])
@pytest.mark.parametrize("humidity", [0.0, 1.0])
@pytest.mark.parametrize("wind", [0.0, 60.0])
def test_any_air(backend, step, temperature, humidity, wind):
    """Polar cold to desert heat, dry to saturated, calm to hurricane: snow only below 0 degC, no deficit, no wonder."""
    forcing = weather(short(step), step)
    for name, value in (("air_temperature", temperature), ("relative_humidity", humidity), ("wind_speed", wind)):
        forcing[name] = np.full_like(forcing[name], value)
    finished = simulate(basin(forcing, step=step, cell_elevation=250.0, bands=1), backend, FORCE_RESTORE,
                        record=("potential_evaporation", "surface_temperature"))
    check_sound(finished)
    snow = finished.volume("snowfall") / finished.rain
    assert snow == pytest.approx(1.0 if temperature < 0.0 else 0.0, abs=ROUNDING)
    if temperature > 0.0 and humidity == 0.0:
        # The air alone (Penman's second term at 55 degC and 15.7 kPa) takes some millimetres a day.
        assert finished.volume("potential_evaporation") > 5.0 * MM * short(step) * finished.arrays.tile_area.sum()
    assert np.abs(finished.record["surface_temperature"] - temperature).max() < 60.0


@pytest.mark.parametrize("latitude", [-90.0, -80.0, 0.0, 80.0, 90.0])
@STEPS
def test_any_latitude_in_december(backend, step, latitude):
    """Without a sun above the horizon net radiation is negative all day; under the polar summer's sun it is not."""
    days = short(step)
    forcing = weather(days, step, temperature=25.0)
    del forcing["shortwave_radiation"]
    forcing["sunshine_duration"] = np.full(forcing["wind_speed"].size, 0.5 * step)
    finished = simulate(basin(forcing, step=step, start="2010-12-01", unit_latitude=latitude), backend, FORCE_RESTORE,
                        record=("net_radiation",))
    check_sound(finished)
    radiation = finished.record["net_radiation"]
    if latitude > 0.0:
        assert radiation.max() < 0.0
    else:
        assert radiation.sum(axis=0).min() > 0.0


@STEPS
def test_no_sunshine(backend, step):
    """Overcast all the time: less radiation and less evapotranspiration than in full sun, not none."""
    runs = []
    for share in (0.0, 1.0):
        forcing = weather(short(step), step)
        del forcing["shortwave_radiation"]
        forcing["sunshine_duration"] = np.full(forcing["wind_speed"].size, share * step)
        runs.append(simulate(basin(forcing, step=step), backend))
        check_sound(runs[-1])
    assert 0.0 < runs[0].evaporation < runs[1].evaporation
    assert runs[0].volume("net_radiation") < runs[1].volume("net_radiation")


@STEPS
def test_no_rain_on_dry_ground(backend, step):
    """At the residual content without rain or groundwater nothing moves: no evaporation, no runoff, no discharge."""
    forcing = steady_weather(round(10 * DAY / step), precipitation=0.0)
    data = basin(forcing, step=step, land=ONE_SOIL, initial_soil_moisture=0.0, initial_groundwater_head=0.0)
    finished = simulate(data, backend)
    check_sound(finished)
    assert finished.evaporation == 0.0
    assert not finished.series["discharge"].any()
    for name in registry.RUNOFF:
        assert not finished.total(name).any(), name


@pytest.mark.parametrize("content", ["saturated_water_content", "wilting_point", "residual_water_content"])
@STEPS
def test_any_start(backend, step, content):
    """From saturation water leaves at once; at the wilting point and below plants take nothing until it rains."""
    forcing, day = weather(short(step), step), slice(0, round(DAY / step))
    forcing["precipitation"][day] = 0.0
    data = basin(forcing, step=step, land=ONE_SOIL, bands=2)
    data["initial_soil_moisture"] = data[content]
    finished = simulate(data, backend, record=("transpiration", "interflow", "percolation"))
    check_sound(finished)
    first = finished.record["transpiration"][day]
    if content == "saturated_water_content":
        assert first.max() > 0.0
        assert finished.record["interflow"][0].min() > 0.0 and finished.record["percolation"][0].min() > 0.0
    else:
        assert first.max() == 0.0
        assert finished.volume("infiltration") > 0.0


def test_level_ground(backend):
    """Slope 0: no interflow; overland flow runs on the floor of the slope and reaches the river."""
    finished = simulate(basin(weather(60), bands=3, unit_slope=0.0), backend)
    check_sound(finished)
    assert not finished.total("interflow").any()
    assert finished.total("overland_inflow")[0] > 0.0


@STEPS
def test_areas_from_a_square_metre_to_a_continent(backend, step):
    """Units of 1 m2 and 1e6 km2 in one sub-basin: columns do not know it, and the balance closes at both."""
    data = basin(weather(short(step), step), step=step, downstream=(1, -1), bands=2, unit_elevation=100.0,
                 unit_slope=0.1, unit_area=[1.0, 1e12, 1e12, 1.0])
    finished = simulate(data, backend)
    check_sound(finished)
    for name in (*registry.EVAPORATION, *registry.RUNOFF):
        depth = finished.unit(name)
        np.testing.assert_allclose(depth, depth[0], rtol=ROUNDING, err_msg=name)


@STEPS
@pytest.mark.parametrize("length, width, slope", [(1.0, 0.1, 1.0), (1.0, 1e5, 1e-6), (1e6, 0.1, 1e-6), (1e6, 1e5, 1.0)])
def test_any_reach(backend, step, length, width, slope):
    """From a gutter of a metre to an inland sea: discharge of two such reaches in a row is finite and closes."""
    data = basin(weather(short(step), step), step=step, downstream=(1, -1), reach_length=length, reach_width=width,
                 reach_slope=slope)
    finished = simulate(data, backend)
    check_sound(finished)
    if length == 1.0 and slope == 1.0:
        # Nothing stays in a metre of steep reach: what enters leaves.
        inflow = finished.series["lateral_inflow"].sum(axis=1)
        np.testing.assert_allclose(finished.series["discharge"][-1, -1], inflow[-1], rtol=1e-3)


@STEPS
@pytest.mark.parametrize("layers, thickness", [(1, 0.005), (1, 100.0), (12, 0.005), (12, 1.0)])
@pytest.mark.parametrize("conductivity", [1e-12, 1e-2])
def test_any_soil_column(backend, step, layers, thickness, conductivity):
    """From a film of 5 mm to 100 m, from rock to gravel, under the start's field capacity."""
    data = basin(weather(short(step), step), step=step, layers=layers, soil_thickness=thickness, land=ONE_SOIL,
                 saturated_conductivity=conductivity)
    finished = simulate(data, backend, FORCE_RESTORE)
    check_sound(finished)
    if conductivity == 1e-12:
        # A day's Green-Ampt front, sqrt(2 k A t) with A of 15 mm (suction 89 mm, deficit 0.17), draws in 0.05 mm.
        assert 0.0 < finished.volume("infiltration") < 0.02 * finished.volume("ground_supply")
        assert finished.volume("overland_runoff") > 0.0
    elif layers * thickness > 1.0:
        assert finished.volume("overland_runoff") == 0.0


@STEPS
@pytest.mark.parametrize("values", [
    {"specific_yield": 1e-4, "riverbed_conductivity": 1e-2}, {"specific_yield": 0.5, "riverbed_conductivity": 0.0},
    {"specific_yield": 1e-4, "deep_loss_rate": 1e-3, "recharge_delay": 0.0},
    {"recharge_delay": 1e9, "initial_groundwater_head": 1000.0},
    {"initial_groundwater_head": -1000.0, "riverbed_conductivity": 1e-2, "riverbed_thickness": 0.01},
    {"bedrock_conductivity": 1e-12}, {"bedrock_conductivity": 1.0, "drainage_density": 0.1, "tributary_width": 1000.0},
], ids=lambda values: ", ".join(f"{name} {value:g}" for name, value in values.items()))
def test_any_ground_below(backend, step, values):
    """Aquifers of any yield over beds of any leak, from drained to brimming; a dry river gives nothing to the bed."""
    finished = simulate(basin(weather(short(step), step), step=step, downstream=(1, -1), **values), backend)
    check_sound(finished)
    assert np.all(finished.total("recharge") <= finished.total("percolation_volume") * (1.0 + ROUNDING))


@STEPS
def test_interflow_from_none_to_all(backend, step):
    """Anisotropy 0 gives no interflow; 1e5 empties each layer to field capacity sideways, and never below."""
    forcing = weather(short(step), step, depth=40.0)
    none, some, much = (simulate(basin(forcing, step=step, land=ONE_SOIL), backend, {"interflow_anisotropy": value})
                        for value in (0.0, 50.0, 1e5))
    for finished in (none, some, much):
        check_sound(finished)
    assert none.volume("interflow") == 0.0
    assert 0.0 < some.volume("interflow") < much.volume("interflow")
    assert much.volume("percolation") < none.volume("percolation")


def test_interflow_is_continuous_in_the_conductivity_exponent(backend):
    """n = 2 is where the integral of eq. (9.4) is a logarithm: interflow lies between that of its neighbours."""
    curve = {"haverkamp_a": 1e4, "haverkamp_b": 6.0}
    below, at, above = (simulate(basin(weather(60), land=ONE_SOIL, mualem_n=n, **curve), backend).volume("interflow")
                        for n in (1.999, 2.0, 2.001))
    assert 0.0 < below < at < above or below > at > above > 0.0
    assert at == pytest.approx(0.5 * (below + above), rel=1e-4)


def ends_of(name: str) -> st.SearchStrategy[float]:
    """An option at either end of its range, at its default, or between (by its logarithm where all is above 0)."""
    entry = OPTIONS[name]
    low, high = entry.valid
    if entry.integer:
        return st.integers(int(low), int(high)).map(float)
    inner = st.floats(low, high)
    if low > 0.0:
        inner = st.floats(math.log(low), math.log(high)).map(lambda x: min(high, max(low, math.exp(x))))
    return st.one_of(st.sampled_from([low, high, float(entry.default)]), inner)


def closes_or_is_refused(backend, options: Mapping[str, float], step: float, seed: int, **values: object) -> Run | None:
    """A sound run of two sub-basins, or None where the input was refused with a reason that names something."""
    forcing = weather(20 if step == DAY else 3, step, seed=seed, temperature=12.0)
    try:
        finished = simulate(basin(forcing, step=step, downstream=(1, -1), bands=2, **values), backend, options)
    except InputError as error:
        assert any(name in str(error) for name in (*options, *values)), error
        return None
    check_sound(finished)
    return finished


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(options=st.fixed_dictionaries({name: ends_of(name) for name in MULTIPLIERS}), seed=st.integers(0, 1000),
       step=st.sampled_from([DAY, HOUR]))
def test_any_multipliers(backend, options, seed, step):
    """Calibration may try every multiplier anywhere in its range, all at once."""
    assert closes_or_is_refused(backend, options, step, seed) is not None


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(options=st.fixed_dictionaries({}, optional={name: ends_of(name) for name in OPTIONS if name not in NOT_DRAWN}),
       seed=st.integers(0, 1000), step=st.sampled_from([DAY, HOUR]))
def test_any_options(backend, options, seed, step):
    """Every option anywhere in its range."""
    assert closes_or_is_refused(backend, options, step, seed) is not None


@st.composite
def soils(draw) -> dict[str, np.ndarray]:
    """Three layers of any texture, as far as the registry and the order of contents allow."""
    contents = sorted(draw(st.lists(st.floats(0.01, 0.9), min_size=4, max_size=4, unique=True)))
    residual, wilting, capacity, saturated = contents
    result = {
        "residual_water_content": min(residual, 0.5), "wilting_point": min(wilting, 0.8), "field_capacity": capacity,
        "saturated_water_content": max(saturated, 0.05), "initial_soil_moisture": draw(st.floats(0.0, 1.0)) * saturated,
        "saturated_conductivity": 10.0 ** np.array(draw(st.tuples(*[st.floats(-12.0, -1.0)] * 3))),
        "wetting_front_suction": np.array(draw(st.tuples(*[st.sampled_from([0.0, 0.05, 0.3, 10.0])] * 3))),
        "soil_thickness": np.array(draw(st.tuples(*[st.sampled_from([0.005, 0.1, 1.0, 100.0])] * 3))),
        "unit_slope": draw(st.sampled_from([0.0, 0.1, 10.0])),
    }
    if draw(st.booleans()):
        result |= {"haverkamp_a": 10.0 ** draw(st.floats(-12.0, 12.0)), "haverkamp_b": draw(st.floats(0.05, 50.0)),
                   "mualem_n": draw(st.sampled_from([1.001, 1.5, 2.0, 20.0, 1000.0]))}
    return result


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(soil=soils(), seed=st.integers(0, 1000), step=st.sampled_from([DAY, HOUR]))
def test_any_soil(backend, soil, seed, step):
    """Soils that the checks accept run; the others are refused by name."""
    closes_or_is_refused(backend, {"interflow_anisotropy": 1e3}, step, seed, **soil)


@pytest.mark.parametrize("land", [ONE_SOIL, np.eye(5)[IMPERVIOUS], np.eye(5)[0]], ids=["soil", "impervious", "water"])
def test_drizzle_below_any_measure(backend, land):
    """Rain of 1e-12 mm a day and of 86 m a day, the ends of what forcing may hold: no step is lost or invented."""
    forcing = weather(20)
    forcing["precipitation"] = np.resize([1e-12 * MM_PER_DAY, 1e-3, 0.0], 20)
    finished = simulate(basin(forcing, land=land), backend, FORCE_RESTORE)
    check_sound(finished)


@pytest.mark.parametrize("options", [{"wind_height": 0.5, "soil_roughness": 0.5},
                                     {"wind_height": 0.5, "soil_roughness": 1.0},
                                     {"wind_height": 0.5, "water_roughness": 1.0}])
def test_a_roughness_above_the_wind_is_refused(backend, options):
    with pytest.raises(InputError, match="roughness"):
        simulate(basin(weather(20)), backend, options | FORCE_RESTORE)


def test_air_carried_below_absolute_zero_is_refused(backend):
    """0.05 K m-1 over 6,000 m."""
    with pytest.raises(InputError, match="temperature_lapse_rate"):
        simulate(basin(weather(20), cell_elevation=0.0, unit_elevation=6000.0), backend,
                 {"temperature_lapse_rate": 0.05})
