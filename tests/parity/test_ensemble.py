"""Members of an ensemble in one launch give the same bits as runs one by one, on every backend here."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from wepl import backends, registry
from wepl.basin.dataset import Basin
from wepl.errors import InputError, NumericalError
from wepl.kernels import host
from wepl.run.batch import Shared, batches
from wepl.run.ensemble import assemble_members, groups, kernel_options, run_members
from wepl.run.memory import run_in_memory
from wepl.run.simulation import resolve_options

ROOT = Path(__file__).resolve().parents[2]
MEMBERS = [{}, {"conductivity_factor": 0.5, "interflow_anisotropy": 10.0, "stomatal_resistance_factor": 0.7},
           {"soil_thickness_factor": 0.7, "manning_river_factor": 1.5, "aquifer_factor": 2.0,
            "river_cell_length": 900.0},
           {"melt_temperature": 1.5, "stomatal_resistance_factor": 2.0}]
BACKENDS = ["cpu", pytest.param("emulate", marks=pytest.mark.skipif(host.compiler() is None,
                                                                   reason="no C++ compiler"))]


@pytest.fixture(params=["daily_basin", "hourly_basin"])
def basin(request) -> Basin:
    return Basin.open(request.getfixturevalue(request.param))


@pytest.mark.parametrize("name", BACKENDS)
def test_members_equal_single_runs(basin, name):
    together = run_members(basin, MEMBERS, backends.create(name), last=60)
    for number, member in enumerate(MEMBERS):
        alone = run_in_memory(basin, backends.create(name), options=member, last=60)
        for variable, values in alone.series.items():
            np.testing.assert_array_equal(together[variable][:, number], values, err_msg=f"{variable} {number}")
    for one in range(len(MEMBERS)):
        for other in range(one):
            assert not all(np.array_equal(values[:, one], values[:, other]) for values in together.values())


def test_neither_batches_nor_blocks_change_a_bit(daily_basin):
    basin, device = Basin.open(daily_basin), backends.create("cpu")
    whole = run_members(basin, MEMBERS, device, last=12)
    for batch, steps in ((1, 12), (2, 5), (3, 1)):
        cut = run_members(basin, MEMBERS, device, last=12, batch=batch, block_steps=steps)
        for name, values in whole.items():
            np.testing.assert_array_equal(cut[name], values)


def test_batches_fit_the_device(daily_basin):
    basin, device = Basin.open(daily_basin), backends.create("cpu")
    members = [{"aquifer_factor": 1.0 + number / 10} for number in range(6)]
    shared = Shared.of(basin, 0, 20)
    room = shared.need(resolve_options(basin, {}), device.types, 1).bytes(20)
    device.free_bytes = lambda: 2 * room
    small = batches(basin, members, [range(6)], shared, device)
    assert len(small) > 1 and [number for part in small for number in part] == list(range(6))
    device.free_bytes = lambda: None
    assert len(batches(basin, members, [range(6)], shared, device)) == 1
    assert batches(basin, members, [range(6)], shared, device, size=4) == [[0, 1, 2, 3], [4, 5]]


def test_what_is_kept(daily_basin):
    basin, device = Basin.open(daily_basin), backends.create("cpu")
    whole = run_members(basin, MEMBERS[:2], device, last=10)
    part = run_members(basin, MEMBERS[:2], device, last=10, names=["discharge"], subbasins=[2, 0])
    assert set(part) == {"discharge"}
    np.testing.assert_array_equal(part["discharge"], whole["discharge"][:, :, [2, 0]])


def test_groups_are_those_of_the_kernels_options(daily_basin):
    basin = Basin.open(daily_basin)
    members = [{}, {"heavy_rain_depth": 0.02}, {"conductivity_factor": 2.0}, {"heavy_rain_depth": 0.02}]
    assert groups([resolve_options(basin, member) for member in members]) == [[0, 2], [1, 3]]
    with pytest.raises(InputError, match="heavy_rain_depth"):
        assemble_members(basin, members)


def test_no_kernel_reads_what_members_of_a_launch_may_differ_in():
    """An option that is not known as one of assembly counts as one of the kernels, so only the known ones can err."""
    read: set[str] = set()
    for path in [*(ROOT / "wepl" / "stages").glob("*.py"), *(ROOT / "wepl" / "physics").glob("*.py")]:
        read |= set(re.findall(r"option\[rows\.(\w+)", path.read_text(encoding="utf-8")))
    assert "HEAVY_RAIN_DEPTH" in read
    names = {entry.name for entry in registry.of_kind("option")}
    assert {name.lower() for name in read} & names <= kernel_options()


def test_a_member_that_fails_can_be_passed_over(daily_basin):
    """Its aquifer holds so little and sheds so slowly that the head rises above what the model accepts."""
    basin, device = Basin.open(daily_basin), backends.create("cpu")
    basin.parameters["initial_groundwater_head"][:] = 9999.9
    members = [{}, {"aquifer_factor": 0.01, "riverbed_conductivity_factor": 0.0, "conductivity_factor": 100.0}, {}]
    with pytest.raises(NumericalError, match="member 1: groundwater_head"):
        run_members(basin, members, device, last=60)
    kept = run_members(basin, members, device, last=60, keep_going=True)["discharge"]
    assert np.isfinite(kept[:, 0]).all() and np.isnan(kept[-1, 1]).all()
    np.testing.assert_array_equal(kept[:, 0], kept[:, 2])


def test_no_member(daily_basin):
    with pytest.raises(InputError, match="no member"):
        run_members(Basin.open(daily_basin), [], backends.create("cpu"), last=2)
