"""What must hold for the whole model whatever the weather: closure, energy, and changes of space that change nothing.

Invariants in time stand in ``test_invariants_time.py``, extreme input in ``test_extremes.py``.
"""

from __future__ import annotations

import numpy as np
import pytest
import small_basins
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from small_basins import (
    DAY,
    HOUR,
    IMPERVIOUS,
    IRRIGATED,
    MM,
    MM_PER_DAY,
    NON_IRRIGATED,
    ROUNDING,
    SOIL,
    basin,
    check_sound,
    simulate,
    steady_weather,
    weather,
)

from wepl import registry
from wepl.basin.dataset import Basin
from wepl.run.simulation import run

backend = small_basins.backend

FORK = (2, 2, -1)
DRY = {"riverbed_conductivity": 0.0}
HILLSLOPE = ("overland_supply", "overland_inflow", "direct_inflow", "percolation_volume", "recharge")
# A bed so wide that its banks (2 h of the wetted perimeter B + 2 h, under 1 %) hardly count.
WIDE = {"reach_width": 2000.0, "tributary_width": 0.0}


def one_land(*classes: int) -> np.ndarray:
    """Land shared equally by some classes."""
    land = np.zeros(5)
    land[list(classes)] = 1.0 / len(classes)
    return land


@pytest.mark.parametrize("energy", ["none", "force_restore"])
@pytest.mark.parametrize("layers", [1, 3, 12])
@pytest.mark.parametrize("step", [DAY, HOUR], ids=["daily", "hourly"])
def test_every_budget_closes(backend, step, layers, energy):
    """Each process at each place, and the basin (theory 15): rounding only, through rain, snow and drying out."""
    data = basin(weather(240 if step == DAY else 15, step, temperature=8.0), step=step, layers=layers, downstream=FORK,
                 bands=2)
    finished = simulate(data, backend, {"energy_balance": energy})
    processes = {closure.process for closure in finished.balance.closures}
    assert processes >= {budget.process for budget in registry.BALANCES} | {"all"}
    assert max(closure.relative for closure in finished.balance.closures) < ROUNDING
    assert finished.volume("snowfall") > 0.05 * finished.rain
    check_sound(finished)


@pytest.mark.parametrize("step", [DAY, HOUR], ids=["daily", "hourly"])
def test_a_run_with_files_gives_the_same_bits(backend, step, tmp_path):
    """The runs of these tests are those of the command line: discharge and snow of a result file, bit for bit."""
    data = basin(weather(90 if step == DAY else 6, step, temperature=0.0), step=step, downstream=FORK, bands=2)
    options = {"energy_balance": "force_restore", "soil_parts": 8}
    result = run(Basin.from_dataset(data), output=tmp_path / "result.nc", backend=backend.name,
                 precision=backend.precision, options=options, variables=("snow_ice", "water_table"), quiet=True)
    finished = simulate(data, backend, options, record=("snow_ice",), block=7)
    with xr.open_dataset(result.path, decode_times=False) as file:
        np.testing.assert_array_equal(file["discharge"].values, finished.series["discharge"])
        np.testing.assert_array_equal(file["water_table"].values, finished.series["water_table"])
    assert result.balance.terms == finished.balance.terms


@pytest.mark.parametrize("step", [DAY, HOUR], ids=["daily", "hourly"])
def test_energy_closes_and_evaporation_stays_below_its_potential(backend, step):
    """eq. (6.22): RN = lE + H + G of every step and tile; and what evaporates is at most what a wet surface would."""
    fluxes = ("net_radiation", "latent_heat", "sensible_heat", "ground_heat", "potential_evaporation",
              *registry.EVAPORATION)
    data = basin(weather(300 if step == DAY else 15, step, temperature=10.0), step=step, bands=2)
    finished = simulate(data, backend, {"energy_balance": "force_restore"}, record=fluxes)
    energy = {name: finished.record[name] for name in fluxes}
    residual = energy["net_radiation"] - energy["latent_heat"] - energy["sensible_heat"] - energy["ground_heat"]
    scale = sum(np.abs(energy[name]) for name in fluxes[:4])
    assert np.all(np.abs(residual) <= 1e-9 * scale)
    assert np.abs(energy["ground_heat"]).max() > 1.0 * step
    evaporated = sum(energy[name] for name in registry.EVAPORATION)
    assert np.all(evaporated <= energy["potential_evaporation"] * (1.0 + ROUNDING))
    assert evaporated.max() > 0.0
    assert finished.evaporation < finished.volume("potential_evaporation")


def test_snow_closes_from_the_first_flake_to_the_last(backend):
    """A winter's pack: what fell melted, ran through or sublimated; nothing is left of it in summer."""
    data = basin(weather(230, temperature=5.0, seed=4), land=one_land(SOIL, NON_IRRIGATED, IMPERVIOUS))
    finished = simulate(data, backend, record=("snow_ice", "snow_liquid"))
    pack = finished.record["snow_ice"] + finished.record["snow_liquid"]
    assert np.all(pack.max(axis=0) > 50.0 * MM)
    assert np.all(pack[-30:] == 0.0)
    left = finished.total("ground_supply") + finished.total("snow_sublimation")
    np.testing.assert_allclose(left, finished.total("snowfall") + finished.total("throughfall"), rtol=ROUNDING)


def test_doubled_areas_give_doubled_volumes(backend):
    """Columns and hillslopes know no area: their volumes double to the bit; outflow does where banks do not count."""
    forcing = weather(365)
    single = simulate(basin(forcing, bands=3, **WIDE), backend)
    double = simulate(basin(forcing, bands=3, **WIDE | {"unit_area": 20e6, "reach_width": 4000.0}), backend)
    for name in HILLSLOPE:
        np.testing.assert_array_equal(double.total(name), 2.0 * single.total(name), err_msg=name)
    assert double.outflow == pytest.approx(2.0 * single.outflow, rel=1e-3)


def test_two_halves_side_by_side_are_one_whole(backend):
    """A sub-basin cut along its slope into two of the same kind, each with half of the river's width."""
    forcing = weather(365)
    whole = simulate(basin(forcing, bands=2, **WIDE), backend)
    halves = simulate(basin(forcing, bands=2, downstream=(-1, -1), **WIDE | {"unit_area": 5e6, "reach_width": 1000.0}),
                      backend)
    for name in HILLSLOPE:
        assert halves.total(name).sum() == pytest.approx(whole.total(name).sum(), rel=ROUNDING), name
    assert halves.outflow == pytest.approx(whole.outflow, rel=1e-6)


def test_one_land_in_two_classes_is_one_land(backend):
    """Irrigated and other crops of one kind differ in name only: how they share the land changes nothing."""
    kinds = {"irrigated_vegetation": 6, "non_irrigated_vegetation": 6, "downstream": FORK, "bands": 2}
    forcing = weather(200, temperature=5.0)
    one = simulate(basin(forcing, land=(0.1, 0.3, 0.0, 0.5, 0.1), **kinds), backend)
    two = simulate(basin(forcing, land=(0.1, 0.3, 0.2, 0.3, 0.1), **kinds), backend)
    np.testing.assert_allclose(two.series["discharge"], one.series["discharge"], rtol=ROUNDING)
    for name in (*registry.EVAPORATION, *registry.RUNOFF, "snowfall"):
        np.testing.assert_allclose(two.unit(name), one.unit(name), rtol=ROUNDING, err_msg=name)


def shuffled(data: xr.Dataset, seed: int) -> tuple[xr.Dataset, np.ndarray, np.ndarray]:
    """The same basin with sub-basins and units in another order, and the orders."""
    random = np.random.default_rng(seed)
    subbasins, units = random.permutation(data.sizes["subbasin"]), random.permutation(data.sizes["unit"])
    return data.isel(subbasin=subbasins, unit=units), subbasins, units


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_file_does_not_matter(backend, seed):
    """Units keep their bits; a reach adds its upstream reaches in file order, so discharge may differ by rounding."""
    data = basin(weather(120), downstream=(4, 4, 4, 4, 5, -1), bands=3,
                 unit_slope=np.random.default_rng(9).uniform(0.0, 0.5, 18))
    other, subbasins, units = shuffled(data, seed)
    assert not np.array_equal(subbasins, np.arange(6))
    first, second = simulate(data, backend), simulate(other, backend)
    for name in (*registry.EVAPORATION, *registry.RUNOFF):
        np.testing.assert_array_equal(second.unit(name), first.unit(name)[units], err_msg=name)
    for name in HILLSLOPE:
        np.testing.assert_array_equal(second.total(name), first.total(name)[subbasins], err_msg=name)
    discharge = first.series["discharge"][:, subbasins]
    np.testing.assert_allclose(second.series["discharge"], discharge, rtol=ROUNDING)
    headwaters = subbasins < 4
    np.testing.assert_array_equal(second.series["discharge"][:, headwaters], discharge[:, headwaters])


@settings(max_examples=4, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 1000), texture=st.sampled_from(["sand", "loam", "clay"]))
def test_a_wetter_start_never_gives_less_runoff(backend, seed, texture):
    """From the wilting point to saturation: outflow and what leaves the columns never fall."""
    outflow, runoff = [], []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        data = basin(weather(60, seed=seed), texture=texture, bands=2)
        low, high = data["wilting_point"], data["saturated_water_content"]
        data["initial_soil_moisture"] = (low + share * (high - low)).assign_attrs(units="1")
        finished = simulate(data, backend)
        outflow.append(finished.outflow)
        runoff.append(sum(finished.volume(name) for name in registry.RUNOFF))
    assert np.all(np.diff(outflow) > 0.0)
    assert np.all(np.diff(runoff) > 0.0)


@settings(max_examples=4, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 1000), texture=st.sampled_from(["sand", "loam", "clay"]))
def test_more_rain_never_gives_less_outflow(backend, seed, texture):
    outflow = []
    for factor in (0.5, 0.8, 1.0, 1.05, 1.5, 3.0):
        forcing = weather(60, seed=seed)
        forcing["precipitation"] *= factor
        outflow.append(simulate(basin(forcing, texture=texture, bands=2), backend).outflow)
    assert np.all(np.diff(outflow) > 0.0)


def test_a_pulse_comes_through_later_and_whole(backend):
    """A cloudburst on the uppermost sub-basin: each reach below passes the same volume, later, with a lower peak."""
    hours, wet = 30 * 24, slice(48, 51)
    steady = steady_weather(hours, precipitation=0.0, shortwave_radiation=0.0, relative_humidity=1.0)
    forcing = {name: np.repeat(values[:, None], 2, axis=1) for name, values in steady.items()}
    forcing["precipitation"][wet, 0] = 400.0 * MM_PER_DAY
    data = basin(forcing, step=HOUR, downstream=(1, 2, 3, -1), land=one_land(IMPERVIOUS), unit_cell=[1, 2, 2, 2],
                 initial_groundwater_head=0.0, **DRY)
    finished = simulate(data, backend)
    discharge = finished.series["discharge"]
    assert not discharge[:wet.start].any()
    volume = discharge.sum(axis=0) * HOUR
    # The tail of a kinematic wave is long: what stands in the reaches at the end belongs to the pulse.
    stored = np.add.reduceat(finished.after["river_storage"], finished.arrays.values["cell_start"][:-1])
    np.testing.assert_allclose(volume + np.cumsum(stored), finished.total("overland_inflow")[0], rtol=ROUNDING)
    assert np.all(stored < 0.01 * volume)
    centre = (np.arange(hours) + 0.5) @ discharge / discharge.sum(axis=0)
    assert centre[0] > wet.start + 1.5
    # 12 km at 2 m s-1 at the most (n = 0.035, S = 0.001, a depth of 2 m) take more than an hour.
    assert np.all(np.diff(centre) > 1.0)
    assert np.all(np.diff(discharge.argmax(axis=0)) >= 1)
    assert np.all(np.diff(discharge.max(axis=0)) < 0.0)


@pytest.mark.parametrize("cell_length", [1000.0, 5000.0])
def test_a_reach_cut_in_two_passes_the_same(backend, cell_length):
    """12 km below a headwater in one reach, or in two of 6 km (land of 1 m2 along them).

    With cells of 1 km both are the same row of cells. With cells of at most 5 km they are 3 cells of 4 km or 4 of 3 km:
    the hydrograph differs by numerical diffusion, eq. (13.4), whose part c dx/2 goes with the cell.
    """
    land = dict(land=one_land(IMPERVIOUS), initial_groundwater_head=0.0, **DRY)
    one = simulate(basin(weather(120), downstream=(1, -1), unit_area=[30e6, 1.0], **land), backend,
                   {"river_cell_length": cell_length})
    two = simulate(basin(weather(120), downstream=(1, 2, -1), unit_area=[30e6, 1.0, 1.0],
                         reach_length=[12e3, 6e3, 6e3], **land), backend, {"river_cell_length": cell_length})
    below, cut = one.series["discharge"][:, -1], two.series["discharge"][:, -1]
    assert two.outflow == pytest.approx(one.outflow, rel=1e-4)
    if cell_length == 1000.0:
        # Land of 1 m2 is left, 3e-8 of the headwater's.
        np.testing.assert_allclose(cut, below, rtol=1e-6)
    else:
        assert np.abs(cut - below).max() < 0.005 * below.max()
        assert np.abs(cut - below).max() > 1e-4 * below.max()


@pytest.mark.parametrize("land_class", range(5), ids=registry.LAND_CLASSES)
@pytest.mark.parametrize("step", [DAY, HOUR], ids=["daily", "hourly"])
def test_land_of_one_class(backend, land_class, step):
    """A unit wholly of one class runs and evaporates in that class's way; and a unit without it runs too."""
    forcing = weather(60 if step == DAY else 8, step)
    alone = simulate(basin(forcing, step=step, land=one_land(land_class)), backend)
    rest = simulate(basin(forcing, step=step, land=one_land(*set(range(5)) - {land_class})), backend)
    for finished in (alone, rest):
        check_sound(finished)
        assert 0.0 < finished.evaporation
    assert alone.arrays.unit_of_tile.size == 1 and rest.arrays.unit_of_tile.size == 4
    with_soil = land_class in (SOIL, IRRIGATED, NON_IRRIGATED)
    assert (alone.volume("infiltration") > 0.0) == with_soil
    assert (alone.volume("transpiration") > 0.0) == with_soil
    assert (alone.volume("open_water_evaporation") > 0.0) == (land_class == 0)
