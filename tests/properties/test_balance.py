"""The water balance checker. Source: docs/theory, section 15: P + in - E - out - change of storage = 0.

The worlds below close exactly: depths are multiples of 2^-20 m and areas whole m2, so that every product and sum is
exact in float64 and any residual is the checker's own, or the one that a test put in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wepl import registry, rows
from wepl.errors import NumericalError
from wepl.run import balance
from wepl.run.balance import Topology

GRAIN = 2.0**-20
LAYERS = 3


@dataclass
class World:
    topology: Topology
    before: dict
    after: dict
    fluxes: dict

    def close(self):
        return balance.budget(self.before, self.after, self.fluxes, self.topology)


def make_topology(rng, n_subbasins):
    unit_subbasin = np.concatenate([np.arange(n_subbasins), rng.integers(0, n_subbasins, n_subbasins)])
    n_units = len(unit_subbasin)
    tile_unit = np.concatenate([np.arange(n_units), rng.integers(0, n_units, 2 * n_units)])
    tile_area = rng.integers(1, 1000, len(tile_unit)).astype(float) * 16
    unit_area = np.bincount(tile_unit, tile_area)
    subbasin_area = np.bincount(unit_subbasin, unit_area)
    downstream = np.array([rng.integers(i + 1, n_subbasins + 1) for i in range(n_subbasins)])
    downstream[downstream == n_subbasins] = -1
    return Topology(
        tile_unit=tile_unit, tile_area=tile_area, unit_subbasin=unit_subbasin, unit_area=unit_area,
        subbasin_area=subbasin_area, yield_area=subbasin_area / 16, downstream=downstream,
        river_cell_subbasin=np.repeat(np.arange(n_subbasins), rng.integers(1, 4, n_subbasins)),
        unit_id=100 + np.arange(n_units), subbasin_id=10 + np.arange(n_subbasins),
        tile_class=rng.integers(0, 5, len(tile_unit)))


def make_world(seed=0, n_subbasins=5, rain=True, integrate=None):
    """A world whose budgets all close; the last flux of each budget follows from the others."""
    rng = np.random.default_rng(seed)
    topology = make_topology(rng, n_subbasins)
    sizes = {"tile": len(topology.tile_unit), "unit": len(topology.unit_area), "subbasin": n_subbasins,
             "river_cell": len(topology.river_cell_subbasin), "soil_layer": LAYERS}

    def depths(dims, top=2**18):
        return rng.integers(0, top, tuple(sizes[dim] for dim in dims)) * GRAIN

    flux = {entry.name: depths(entry.dims, 2**16) for entry in registry.layout("tile_flux")}
    volume = {entry.name: depths(entry.dims, 2**24) for entry in registry.layout("subbasin_flux")}
    storages = {name for budget in registry.BALANCES for name in budget.storage}
    before = {name: depths(registry.variable(name).dims) for name in storages}
    after = {name: depths(registry.variable(name).dims) for name in storages}
    change = {name: after[name] - before[name] for name in storages}
    if not rain:
        flux["rainfall"][:] = flux["snowfall"][:] = 0.0
    flux["precipitation_depth"] = flux["rainfall"] + flux["snowfall"]
    flux["throughfall"] = (flux["rainfall"] - flux["canopy_evaporation"] - change["canopy_a"] - change["canopy_b"])
    flux["ground_supply"] = (flux["throughfall"] + flux["snowfall"] - flux["snow_sublimation"] - change["snow_ice"]
                             - change["snow_liquid"])
    flux["overland_runoff"] = (
        flux["ground_supply"] + flux["exfiltration"] - flux["infiltration"] - flux["surface_evaporation"]
        - flux["open_water_evaporation"] - flux["open_water_outflow"] - change["surface_storage"])
    flux["percolation"] = (flux["infiltration"] - flux["exfiltration"] - flux["soil_evaporation"]
                           - flux["transpiration"] - flux["interflow"] - change["soil_water"].sum(axis=0))

    def to_subbasins(per_tile):
        units = np.bincount(topology.tile_unit, per_tile * topology.tile_area)
        return np.bincount(topology.unit_subbasin, units)

    volume["overland_supply"] = to_subbasins(flux["overland_runoff"])
    volume["direct_inflow"] = to_subbasins(flux["interflow"] + flux["open_water_outflow"])
    volume["percolation_volume"] = to_subbasins(flux["percolation"])
    volume["overland_inflow"] = volume["overland_supply"] - np.bincount(
        topology.unit_subbasin, change["overland_depth"] * topology.unit_area)
    volume["recharge"] = volume["percolation_volume"] - change["transition_storage"] * topology.subbasin_area
    volume["groundwater_discharge"] = (volume["recharge"] - volume["deep_loss"]
                                       - change["groundwater_head"] * topology.yield_area)
    river = np.bincount(topology.river_cell_subbasin, change["river_storage"])
    volume["reach_inflow"] = np.zeros(n_subbasins)
    for reach in range(n_subbasins):
        volume["reach_outflow"][reach] = sum(
            volume[name][reach] for name in ("reach_inflow", "overland_inflow", "direct_inflow",
                                             "groundwater_discharge")) - river[reach]
        if topology.downstream[reach] >= 0:
            volume["reach_inflow"][topology.downstream[reach]] += volume["reach_outflow"][reach]
    return World(topology, before, after, {**flux, **volume})


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_subbasins=st.integers(1, 12), rain=st.booleans())
def test_the_checker_adds_no_error(seed, n_subbasins, rain):
    report = make_world(seed, n_subbasins, rain).close()
    assert report.closure == 0.0
    assert [closure for closure in report.closures if closure.volume != 0.0] == []
    assert not report.unit_residual.any() and not report.subbasin_residual.any()
    report.check(0.0)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_basin_residual_equals_exact_arithmetic(seed):
    """Terms that are not exact in float64: the residual of the column and of the basin against rational numbers."""
    world = make_world(seed, 4)
    rng = np.random.default_rng(seed)
    for values in (world.fluxes, world.before, world.after):
        for name in values:
            values[name] = values[name] * (1.0 + 1e-6 * rng.normal(size=values[name].shape))
    report = world.close()
    topology = world.topology
    exact = Fraction(0)
    for name, sign in [("precipitation_depth", 1), *((name, -1) for name in registry.EVAPORATION)]:
        exact += sign * sum(Fraction(value) * Fraction(area)
                            for value, area in zip(world.fluxes[name], topology.tile_area, strict=True))
    exact -= sum(Fraction(value) for value in world.fluxes["reach_outflow"][topology.downstream < 0])
    exact -= sum(Fraction(value) for value in world.fluxes["deep_loss"])
    areas = {"tile": topology.tile_area, "unit": topology.unit_area, "subbasin": topology.subbasin_area}
    size = 0.0
    for name in world.before:
        change = [Fraction(b) - Fraction(a)
                  for a, b in zip(world.before[name].ravel(), world.after[name].ravel(), strict=True)]
        dim = registry.variable(name).dims[-1]
        weight = topology.yield_area if name == "groundwater_head" else areas.get(dim, np.ones(len(change)))
        weight = np.tile(weight, len(change) // len(weight))
        exact -= sum(c * Fraction(w) for c, w in zip(change, weight, strict=True))
        size += float(sum(abs(c) * Fraction(w) for c, w in zip(change, weight, strict=True)))
    size += float(np.abs(world.fluxes["precipitation_depth"] * topology.tile_area).sum())
    assert abs(report.terms.residual - float(exact)) <= 4 * np.finfo(float).eps * size


@pytest.mark.parametrize("budget", registry.BALANCES, ids=lambda budget: budget.process)
def test_a_leak_in_one_process_is_found_where_it_is(budget):
    """Each process has a term that stands in its budget with one sign; bending it shows there, at the right place."""
    world = make_world(seed=3)
    name = (budget.storage or budget.outflow)[0]
    bent = world.after if budget.storage else world.fluxes
    place = 3
    index = (0, place) if bent[name].ndim == 2 else (place,)
    bent[name][index] += 2.0**-6
    closures = {(closure.process, closure.place): closure for closure in world.close().closures}
    found = closures[(budget.process, budget.place)]
    topology = world.topology
    if budget.place == "tile":
        volume = 2.0**-6 * topology.tile_area[place]
        unit = topology.tile_unit[place]
        assert f"tile of unit {topology.unit_id[unit]} of sub-basin" in found.where
        assert registry.LAND_CLASSES[topology.tile_class[place]] in found.where
    else:
        of = {"unit": topology.unit_subbasin, "river_cell": topology.river_cell_subbasin}
        dim = registry.variable(name).dims[-1]
        subbasin = of[dim][place] if dim in of else place
        weight = {"overland_depth": topology.unit_area, "transition_storage": topology.subbasin_area,
                  "groundwater_head": topology.yield_area}.get(name)
        volume = 2.0**-6 * (1.0 if weight is None else weight[place])
        assert found.where == f"sub-basin {topology.subbasin_id[subbasin]}"
    assert found.volume == -volume and found.relative > 0.0
    with pytest.raises(NumericalError):
        world.close().check(1e-12)


OWNERS = [budget for budget in registry.BALANCES if budget.storage and budget.process != "column"]


@pytest.mark.parametrize("budget", OWNERS, ids=lambda budget: budget.process)
def test_processes_that_are_sound_stay_silent(budget):
    """A storage that goes wrong shows in its own process and in the sums that hold it, in no other process."""
    world = make_world(seed=4)
    name = budget.storage[0]
    world.after[name][(0,) * world.after[name].ndim] += 2.0**-6
    wrong = {closure.process for closure in world.close().closures if closure.volume != 0.0}
    allowed = {budget.process, "all"} | ({"column"} if budget.place == "tile" else set())
    assert wrong == allowed


@pytest.mark.parametrize("received", balance.HANDOVERS)
def test_water_lost_between_columns_and_hillslopes(received):
    world = make_world(seed=5)
    world.fluxes[received][2] -= 0.5
    found = {closure.process: closure for closure in world.close().closures}[f"hand-over to {received}"]
    assert found.volume == 0.5 and found.where == "sub-basin 12"


def test_water_lost_between_reaches():
    world = make_world(seed=6)
    reach = int(np.flatnonzero(world.fluxes["reach_inflow"])[0])
    world.fluxes["reach_inflow"][reach] -= 8.0
    found = {closure.process: closure for closure in world.close().closures}["hand-over between reaches"]
    assert found.volume == 8.0 and found.where == f"sub-basin {10 + reach}"


def test_levels_add_up():
    """Residuals of tiles add to those of units; a leak of the river shows in the sub-basin and the basin."""
    world = make_world(seed=7)
    world.after["soil_water"][1, 4] += 2.0**-4
    world.after["river_storage"][0] -= 32.0
    report, topology = world.close(), world.topology
    unit = topology.tile_unit[4]
    expected = np.zeros(len(topology.unit_area))
    expected[unit] = -(2.0**-4) * topology.tile_area[4] / topology.unit_area[unit]
    np.testing.assert_array_equal(report.unit_residual, expected)
    subbasin = np.zeros(len(topology.subbasin_area))
    subbasin[topology.unit_subbasin[unit]] -= 2.0**-4 * topology.tile_area[4]
    subbasin[topology.river_cell_subbasin[0]] += 32.0
    np.testing.assert_array_equal(report.subbasin_residual, subbasin / topology.subbasin_area)
    assert report.terms.residual == subbasin.sum()


def water_stored(world) -> float:
    """Water in all storages before the run, m3."""
    topology = world.topology
    stored = sum((world.before[name].sum(axis=0) if world.before[name].ndim == 2 else world.before[name])
                 @ topology.tile_area for name in ("canopy_a", "canopy_b", "snow_ice", "snow_liquid",
                                                   "surface_storage", "soil_water"))
    stored += world.before["overland_depth"] @ topology.unit_area + world.before["river_storage"].sum()
    stored += world.before["transition_storage"] @ topology.subbasin_area
    return float(stored + world.before["groundwater_head"] @ topology.yield_area)


def test_the_scale_is_rain_or_a_tenth_of_storage():
    """Relative to P; where less than a tenth of the storage fell, to that tenth."""
    wet, dry = make_world(seed=8), make_world(seed=8, rain=False)
    for world in (wet, dry):
        world.after["surface_storage"][0] += 2.0**-10
    leak = 2.0**-10 * wet.topology.tile_area[0]
    assert dry.close().closure == pytest.approx(leak / (0.1 * water_stored(dry)), rel=1e-12)
    wet.fluxes["precipitation_depth"] += 1.0
    rain = (wet.fluxes["precipitation_depth"] * wet.topology.tile_area).sum()
    assert rain > 0.1 * water_stored(wet)
    leak -= wet.topology.tile_area.sum()
    assert wet.close().closure == pytest.approx(abs(leak) / rain, rel=1e-12)


def test_nothing_at_all_closes():
    world = make_world(seed=9)
    for values in (world.before, world.after, world.fluxes):
        for array in values.values():
            array[...] = 0.0
    report = world.close()
    assert report.closure == 0.0
    report.check()
    assert "precipitation" in report.text


@pytest.mark.parametrize("name, values", [("soil_water", "after"), ("interflow", "fluxes"), ("river_storage", "after")])
def test_a_value_that_is_not_finite_never_passes(name, values):
    world = make_world(seed=10)
    array = getattr(world, values)[name]
    array[(0,) * array.ndim] = np.nan
    report = world.close()
    assert report.worst.relative == np.inf
    with pytest.raises(NumericalError):
        report.check(1.0)


def test_the_error_names_process_place_and_size():
    world = make_world(seed=11)
    world.after["soil_water"][2, 6] -= 2.0**-5
    unit = world.topology.tile_unit[6]
    with pytest.raises(NumericalError) as caught:
        world.close().check(1e-9)
    message = str(caught.value)
    assert f"unit {world.topology.unit_id[unit]} of sub-basin" in message
    assert "'soil'" in message or "'column'" in message
    assert "3.125e+01 mm" in message and "allowed 1e-09" in message


def test_the_table_adds_up():
    """mm are m3 over the basin's area, and the rows of the text are the terms."""
    report = make_world(seed=12).close()
    terms = report.terms
    values = {key: volume for key, _, volume, _ in terms.rows()}
    assert values["precipitation_depth"] == values["rainfall"] + values["snowfall"]
    total = (values["precipitation_depth"] - values["evapotranspiration"] - values["outflow"] - values["deep_loss"]
             - values["storage_change"])
    assert total == pytest.approx(0.0, abs=1e-9 * values["precipitation_depth"])
    lines = {line[:line.rindex("  ")].strip().rsplit("  ", 1)[0].strip(): line.split()[-2:]
             for line in report.text.splitlines()[1:-1]}
    depth, volume = lines["precipitation"]
    assert float(depth) == pytest.approx(values["precipitation_depth"] / terms.area * 1000.0, abs=0.005)
    assert float(volume) == pytest.approx(values["precipitation_depth"] / 1e8, abs=5e-5)
    assert {"evapotranspiration", "transpiration", "interflow", "outflow at the outlets", "groundwater", "snow",
            "residual"} <= set(lines)
    assert values["snow_change"] == terms.storage["snow_ice"] + terms.storage["snow_liquid"]
    parts = [volume for key, _, volume, level in terms.rows() if level == 1 and key.endswith("_change")]
    assert sum(parts) == pytest.approx(values["storage_change"], rel=1e-12)
    assert report.text.splitlines()[0].split() == ["mm", "1e8", "m3"]


def test_variables_for_the_result():
    report = make_world(seed=13).close()
    variables = report.variables()
    for name, (dims, values, attributes) in variables.items():
        assert len(dims) == np.ndim(values) and attributes["long_name"], name
    volume, depth = variables["balance_volume"][1], variables["balance_depth"][1]
    np.testing.assert_allclose(depth, volume / report.terms.area * 1000.0, rtol=1e-14)
    assert len(variables["balance_closure"][1]) == len(report.closures) == len(registry.BALANCES) + 7


def test_a_run_is_closed_from_its_totals_and_in_the_files_order():
    """Totals go on over a restart, so a run's fluxes are differences; units are sorted differently in the file."""
    world = make_world(seed=14)
    topology = world.topology
    earlier = {name: np.full_like(values, 0.25) for name, values in world.fluxes.items()}
    before = {**world.before, **earlier}
    after = {**world.after, **{name: values + 0.25 for name, values in world.fluxes.items()}}
    order = np.random.default_rng(0).permutation(len(topology.unit_area))
    unit = np.zeros((rows.N_ROWS["unit_parameter"], len(topology.unit_area)))
    unit[rows.AREA] = topology.unit_area
    subbasin = np.zeros((rows.N_ROWS["subbasin_parameter"], len(topology.subbasin_area)))
    subbasin[rows.SUBBASIN_AREA], subbasin[rows.YIELD_AREA] = topology.subbasin_area, topology.yield_area
    tile_index = np.zeros((5, len(topology.tile_unit)), int)
    tile_index[rows.TILE_CLASS], tile_index[rows.TILE_UNIT] = topology.tile_class, topology.tile_unit
    file_unit = np.empty(len(order), int)
    file_unit[order] = topology.unit_id
    arrays = SimpleNamespace(
        unit_of_tile=topology.tile_unit, tile_area=topology.tile_area, subbasin_of_unit=topology.unit_subbasin,
        unit_order=order, values={
            "unit_parameter": unit, "subbasin_parameter": subbasin, "tile_index": tile_index,
            "cell_start": np.concatenate([[0], np.cumsum(np.bincount(topology.river_cell_subbasin))])})
    downstream = np.where(topology.downstream >= 0, topology.subbasin_id[topology.downstream], -1)
    parameters = {"subbasin": topology.subbasin_id, "downstream": downstream, "unit": file_unit}
    basin = SimpleNamespace(parameters={name: SimpleNamespace(values=array) for name, array in parameters.items()})
    assert balance.close(before, after, arrays, basin).worst.volume == 0.0
    after["canopy_a"][5] += 2.0**-8
    report = balance.close(before, after, arrays, basin)
    assert np.flatnonzero(report.unit_residual).tolist() == [order[topology.tile_unit[5]]]
    assert f"unit {file_unit[order[topology.tile_unit[5]]]} of" in report.worst.where


def test_wrong_topology_does_not_close():
    """The checker would notice areas that do not belong to the run."""
    world = make_world(seed=15)
    area = world.topology.tile_area.copy()
    area[0] *= 2.0
    world.topology = replace(world.topology, tile_area=area)
    assert world.close().worst.relative > 1e-6
