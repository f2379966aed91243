"""State files. Source: docs on restart: complete by the registry, float64, refused with what differs."""

from __future__ import annotations

import errno
import os
from types import SimpleNamespace

import netCDF4
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from wepl import netcdf, registry
from wepl.errors import InputError, NumericalError, WeplError
from wepl.run import restart

SIZES = {"tile": 9, "soil_layer": 3, "unit": 5, "subbasin": 4, "river_cell": 6}
NAMES = [entry.name for entry in restart.entries()]
CLOCK = SimpleNamespace(calendar="standard", label=lambda i: f"2010-01-{i + 1:02d}T00:00:00")
BASIN = SimpleNamespace(hash="ab" * 32, title="Test basin")


def shape_of(entry, sizes=SIZES):
    return tuple(sizes[dim] for dim in entry.dims)


def make_state(seed=0, sizes=SIZES):
    rng = np.random.default_rng(seed)
    return {entry.name: rng.normal(size=shape_of(entry, sizes)) for entry in restart.entries()}


SHAPES = {entry.name: shape_of(entry) for entry in restart.entries()}


def save(path, state=None, at=3, **more):
    return restart.save_state(path, make_state() if state is None else state, basin=BASIN, clock=CLOCK, at=at, **more)


def load(path, basin=BASIN, clock=CLOCK, at=3, shapes=SHAPES):
    return restart.load_state(path, basin=basin, clock=clock, at=at, shapes=shapes)


def refusal(path, **more):
    with pytest.raises(InputError) as caught:
        load(path, **more)
    return str(caught.value)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_bit_comes_back(tmp_path, data):
    finite = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)
    state = make_state()
    for name in data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)):
        state[name] = data.draw(hnp.arrays(np.float64, SHAPES[name], elements=finite))
    save(tmp_path / "state.nc", state)
    back = load(tmp_path / "state.nc")
    assert list(back) == NAMES
    for name in NAMES:
        assert back[name].dtype == np.float64 and back[name].flags.c_contiguous
        np.testing.assert_array_equal(back[name].view(np.uint64), np.ascontiguousarray(state[name]).view(np.uint64))


def test_the_state_is_complete_by_the_registry():
    """Everything that evolves or accumulates restarts: all states and the totals of all fluxes."""
    evolving = {entry.name for entry in registry.of_kind("state")}
    totals = {entry.name for array in ("tile_flux", "subbasin_flux") for entry in registry.layout(array)}
    assert set(NAMES) == evolving | totals


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_variable_is_named(tmp_path, name):
    state = make_state()
    del state[name]
    with pytest.raises(ValueError, match=f"the state lacks {name}$"):
        save(tmp_path / "state.nc", state)
    assert list(tmp_path.iterdir()) == []
    save(tmp_path / "state.nc")
    with netCDF4.Dataset(tmp_path / "state.nc", "a") as file:
        file.renameVariable(name, "forgotten")
    message = refusal(tmp_path / "state.nc")
    assert f"it lacks {name};" in message and "holds forgotten" in message


def test_what_differs_is_said(tmp_path):
    save(tmp_path / "state.nc")
    path = tmp_path / "state.nc"
    other = SimpleNamespace(hash="cd" * 32, title="Other")
    assert "its basin (content hash) is abababababab..., the run has cdcdcdcdcdcd..." in refusal(path, basin=other)
    noleap = SimpleNamespace(calendar="noleap", label=CLOCK.label)
    assert "its calendar is standard, the run has noleap" in refusal(path, clock=noleap)
    assert "its moment is 2010-01-04T00:00:00, the run has 2010-01-08T00:00:00" in refusal(path, at=7)
    shapes = {entry.name: shape_of(entry, SIZES | {"soil_layer": 5, "river_cell": 8}) for entry in restart.entries()}
    message = refusal(path, shapes=shapes, at=7)
    assert "it has 3 soil layers, the run has 5" in message and "it has 6 river cells, the run has 8" in message
    assert "moment" in message and "tiles" not in message


def test_another_registry_is_said(tmp_path):
    path = save(tmp_path / "state.nc")
    with netCDF4.Dataset(path, "a") as file:
        file.setncattr("registry_fingerprint", "0" * 64)
        file.setncattr("wepl_version", "0.0.1")
    assert "another list of state variables; it was written by wepl 0.0.1" in refusal(path)
    with netCDF4.Dataset(path, "a") as file:
        file["snow_ice"].units = "mm"
    assert "snow_ice stands on tile in mm, expected tile in m" in refusal(path)
    with netCDF4.Dataset(path, "a") as file:
        file.setncattr("state_format", 99)
    assert "its format is 99, this version reads 1" in refusal(path)


def test_fingerprint_follows_the_registry(monkeypatch):
    before = restart.fingerprint()
    assert before == restart.fingerprint() and len(before) == 64
    monkeypatch.setattr(restart, "entries", lambda: [registry.variable("snow_ice")])
    assert restart.fingerprint() != before


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite(tmp_path, value):
    state = make_state()
    state["soil_water"][1, 2] = value
    with pytest.raises(NumericalError, match="1 values of soil_water"):
        save(tmp_path / "state.nc", state)
    path = save(tmp_path / "state.nc")
    with netCDF4.Dataset(path, "a") as file:
        file["soil_water"][1, 2] = value
    assert "1 values of soil_water that are not finite" in refusal(path)


def test_files_that_are_no_state(tmp_path):
    assert "does not exist" in refusal(tmp_path / "none.nc")
    assert "is a folder" in refusal(tmp_path)
    (tmp_path / "empty.nc").touch()
    assert "cannot be read" in refusal(tmp_path / "empty.nc")
    (tmp_path / "text.nc").write_text("not netCDF at all")
    assert "cannot be read" in refusal(tmp_path / "text.nc")
    with netCDF4.Dataset(tmp_path / "result.nc", "w") as file:
        file.setncattr("wepl_content", "result")
    assert "not a state file of wepl; it holds result" in refusal(tmp_path / "result.nc")


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95])
def test_a_truncated_state_is_refused(tmp_path, share):
    path = save(tmp_path / "state.nc", make_state(sizes=SIZES | {"tile": 2000}))
    with open(path, "r+b") as file:
        file.truncate(int(os.path.getsize(path) * share))
    assert "cannot be read" in refusal(path)


def test_a_failure_keeps_the_older_state(tmp_path, monkeypatch):
    path = save(tmp_path / "state.nc", make_state(seed=1))
    older = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(netcdf.os, "fsync", full)
    with pytest.raises(WeplError, match="No space left on device.*free some space"):
        save(path, make_state(seed=2))
    assert path.read_bytes() == older and [item.name for item in tmp_path.iterdir()] == ["state.nc"]


def test_a_state_replaces_only_a_state(tmp_path):
    save(tmp_path / "state.nc", make_state(seed=1))
    save(tmp_path / "state.nc", make_state(seed=2))
    np.testing.assert_array_equal(load(tmp_path / "state.nc")["snow_ice"], make_state(seed=2)["snow_ice"])
    (tmp_path / "basin.nc").write_text("precious")
    with pytest.raises(InputError, match="is not a state file"):
        save(tmp_path / "basin.nc")
    assert (tmp_path / "basin.nc").read_text() == "precious"


def test_shapes_that_do_not_agree(tmp_path):
    state = make_state()
    state["snow_liquid"] = state["snow_liquid"][:-1]
    with pytest.raises(ValueError, match="snow_liquid has 8 tiles, other states have 9"):
        save(tmp_path / "state.nc", state)
    state["snow_liquid"] = np.zeros((2, 9))
    with pytest.raises(ValueError, match="snow_liquid has shape"):
        save(tmp_path / "state.nc", state)


def test_facts_are_kept_for_people(tmp_path):
    path = save(tmp_path / "state.nc", attributes={"backend": "cpu", "precision": "float64"})
    with netCDF4.Dataset(path) as file:
        assert (file.moment, file.calendar, file.basin_hash) == ("2010-01-04T00:00:00", "standard", BASIN.hash)
        assert (file.backend, file.precision) == ("cpu", "float64") and "Test basin" in file.title
        assert file["soil_water"].dimensions == ("soil_layer", "tile") and file["soil_water"].units == "m"
