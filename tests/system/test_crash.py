"""A run that goes wrong leaves a crash file, and `replay` repeats its step alone on the CPU."""

from __future__ import annotations

import netCDF4
import numpy as np
import pytest
from typer.testing import CliRunner

from wepl import backends, registry
from wepl.backends.emulate import EmulateBackend
from wepl.cli import app
from wepl.errors import InputError, NumericalError, WeplError
from wepl.kernels import host
from wepl.run import crash as crash_module
from wepl.run import isolate
from wepl.run import model as model_module
from wepl.run.crash import crash_path, read
from wepl.run.replay import replay
from wepl.run.simulation import run

COMPILED = pytest.mark.skipif(host.compiler() is None, reason="no C++ compiler")
# A state, what it is made, what the message says, and the dimension of the place.
POISONED = [("snow_ice", 2e3, "snow_ice .* tile of unit .* outside 0 to 1000", "tile"),
            ("soil_water", np.nan, "column stage, unit .* not finite", "tile"),
            ("deep_temperature", -500.0, "deep_temperature .* tile of unit .* outside -100 to 100", "tile"),
            ("overland_depth", np.nan, "hillslope stage, sub-basin .* not finite", "subbasin"),
            ("groundwater_head", 2e4, "groundwater_head .* sub-basin .* outside -10000 to 10000", "subbasin"),
            ("river_storage", np.nan, "river stage, sub-basin .* not finite", "subbasin")]


def fail(basin, output, monkeypatch, name, value, backend=("cpu", "float64"), place=None) -> str:
    """The message of a run in whose second block of seven days a state is poisoned, at a place in the middle."""
    real, calls = model_module.Model.advance_staged, []

    def poisoned(self, staged):
        if self.block_steps > 1:
            calls.append(staged)
            if len(calls) == 2:
                state = self.state()
                state[name][..., state[name].shape[-1] // 3 if place is None else place] = value
                self.set_state(state)
        return real(self, staged)

    with monkeypatch.context() as patch:
        patch.setattr(model_module.Model, "advance_staged", poisoned)
        with pytest.raises(NumericalError) as caught:
            run(basin, output=output, start="2010-05-01", end="2010-06-10", block_days=7, backend=backend[0],
                precision=backend[1], quiet=True)
    return str(caught.value)


CASES = [*(pytest.param(*case, ("cpu", "float64"), id=f"{case[0]}-cpu") for case in POISONED),
         *(pytest.param(*case, ("emulate", precision), marks=COMPILED, id=f"{case[0]}-{precision}")
           for case, precision in zip(POISONED, ("mixed", "float32") * 3, strict=True))]


@pytest.mark.parametrize(("name", "value", "words", "dim", "backend"), CASES)
def test_fault_is_kept_and_comes_again(daily_basin, tmp_path, monkeypatch, backend, name, value, words, dim):
    output = tmp_path / "out.nc"
    message = fail(daily_basin, output, monkeypatch, name, value, backend)
    with pytest.raises(NumericalError, match=words):
        raise NumericalError(message)
    # The second block begins on 8 May.
    assert "2010-05-08" in message and "States before: " in message
    assert message.endswith(f"python -m wepl replay {tmp_path / 'out.crash.nc'}")
    assert [path.name for path in tmp_path.iterdir()] == ["out.crash.nc"]
    crash = read(tmp_path / "out.crash.nc")
    assert (crash.facts["backend"], crash.facts["precision"]) == backend
    assert crash.fault.dim == dim and crash.isolated.n_steps == 1 and not crash.fault.in_block
    found = replay(tmp_path / "out.crash.nc")
    assert found.reproduced, found.text
    assert "step of 2010-05-08" in found.text and "\nreproduced: " in found.text
    place = "tile" if dim == "tile" else "subbasin"
    for balance in registry.BALANCES:
        assert (f"    {balance.process}\n" in found.text) == (balance.place == place)


def test_a_sub_basin_alone_has_the_bits_of_the_whole(daily_basin):
    """Each sub-basin repeated alone, with what flowed in, ends a block in the state that it has in the basin."""
    from wepl.basin.dataset import Basin
    from wepl.run.assembly import assemble, vegetation_table
    from wepl.run.model import Model
    from wepl.run.outputs import Selection

    basin = Basin.open(daily_basin)
    arrays = assemble(basin, basin.options)
    device = backends.create("cpu")
    model = Model(device, arrays, Selection((), (), ()), 86400.0, 9, (False, False))
    for at in (150, 159):
        calendar = np.stack([basin.clock.day_of_year(at, at + 9), basin.clock.solar_hour(at, at + 9)])
        inputs = (basin.forcing.read(at, at + 9), calendar,
                  vegetation_table(basin.parameters, basin.clock, at, at + 9, basin.options))
        model.advance(*inputs)
    whole = model.state()
    assert any(isolate.upstream_of(arrays, subbasin).size > 1 for subbasin in range(arrays.values["level_list"].size))
    for subbasin in range(arrays.values["level_list"].size):
        places = isolate.places_of(arrays, subbasin)
        steps = list(isolate.repeat(isolate.isolate(model, places, *inputs, 86400.0), device))
        assert len(steps) == 9
        for entry in registry.of_kind("state"):
            along = {"tile": places.tiles, "unit": places.units, "subbasin": [subbasin],
                     "river_cell": places.river_cells}[entry.dims[-1]]
            alone = steps[-1].after[entry.name][..., :len(along)]
            np.testing.assert_array_equal(alone, whole[entry.name][..., along], err_msg=entry.name)


def test_the_first_step_is_found(daily_basin, tmp_path, monkeypatch):
    """A head that rises past its limit in the middle of a block: the day is that on which it does."""
    output = tmp_path / "out.nc"
    limit = registry.variable("groundwater_head")
    rain = next(row for row, entry in enumerate(registry.layout("forcing")) if entry.name == "precipitation")
    from wepl.forcing.reader import ForcingReader

    real = ForcingReader.read

    def wetter(self, first, last):
        values = real(self, first, last)
        for step in range(max(first, 130), last):
            values[rain, step - first] = 9e-4  # 78 m a day, within what is accepted
        return values

    with monkeypatch.context() as patch:
        patch.setattr(ForcingReader, "read", wetter)
        with pytest.raises(NumericalError) as caught:
            run(daily_basin, output=output, start="2010-05-01", end="2010-12-10", block_days=60, quiet=True)
    crash = read(crash_path(output))
    assert crash.fault.time in str(caught.value)
    assert crash.isolated.n_steps == 1 and crash.fault.time == crash.times[0] > "2010-05-11"
    assert crash.fault.variable and not crash.fault.low <= crash.fault.value <= crash.fault.high
    before = crash.isolated.state[crash.fault.variable][crash.fault.place if len(crash.fault.place) > 1
                                                        else crash.fault.place[0]]
    assert crash.fault.low <= before <= crash.fault.high
    assert replay(crash_path(output)).reproduced
    assert limit.valid == (-1e4, 1e4)


@COMPILED
def test_a_fault_of_the_device_is_not_reproduced(daily_basin, tmp_path, monkeypatch):
    """A device that computes wrongly: the CPU does not, and the replay says so with exit status 1."""
    real = EmulateBackend.launch

    def wrong(self, kernel, values):
        real(self, kernel, values)
        if kernel == "column":
            values["tile_state"][0, 1] = 3e3

    with monkeypatch.context() as patch:
        patch.setattr(EmulateBackend, "launch", wrong)
        with pytest.raises(NumericalError, match="snow_ice"):
            run(daily_basin, output=tmp_path / "out.nc", end="2010-02-10", block_days=7, backend="emulate", quiet=True)
    done = CliRunner().invoke(app, ["replay", str(tmp_path / "out.crash.nc")])
    assert done.exit_code == 1
    assert "not reproduced: nothing goes wrong on the CPU" in done.output


def test_command(daily_basin, tmp_path, monkeypatch):
    fail(daily_basin, tmp_path / "out.nc", monkeypatch, "snow_ice", 2e3)
    done = CliRunner().invoke(app, ["replay", str(tmp_path / "out.crash.nc")])
    assert done.exit_code == 0, done.output
    assert "reproduced: snow_ice is" in done.output


def test_a_crash_file_that_cannot_be_written_does_not_hide_the_fault(daily_basin, tmp_path, monkeypatch):
    def full(path, crash):
        raise WeplError("cannot write: No space left on device")

    monkeypatch.setattr("wepl.run.guard.write", full)
    message = fail(daily_basin, tmp_path / "out.nc", monkeypatch, "snow_ice", 2e3)
    assert "snow_ice" in message and "could not be written: cannot write: No space left" in message
    assert list(tmp_path.iterdir()) == []


def test_the_crash_file_is_of_the_last_run(daily_basin, tmp_path, monkeypatch):
    fail(daily_basin, tmp_path / "out.nc", monkeypatch, "snow_ice", 2e3)
    run(daily_basin, output=tmp_path / "out.nc", end="2010-01-05", quiet=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out.nc"]
    (tmp_path / "other.crash.nc").write_text("precious")
    with pytest.raises(InputError, match="is not a crash file"):
        run(daily_basin, output=tmp_path / "other.nc", end="2010-01-05", quiet=True)
    assert (tmp_path / "other.crash.nc").read_text() == "precious"


@pytest.fixture(scope="module")
def crash_bytes(daily_basin, tmp_path_factory):
    folder = tmp_path_factory.mktemp("crash")
    with pytest.MonkeyPatch.context() as patch:
        fail(daily_basin, folder / "out.nc", patch, "groundwater_head", 2e4)
    return (folder / "out.crash.nc").read_bytes()


@pytest.fixture
def crash_file(crash_bytes, tmp_path):
    (tmp_path / "out.crash.nc").write_bytes(crash_bytes)
    return tmp_path / "out.crash.nc"


def spoil(path, change) -> None:
    with netCDF4.Dataset(path, "a") as file:
        change(file)


@pytest.mark.parametrize(("change", "words"), [
    (lambda file: file["tile_unit"].__setitem__(0, 999), "tile_unit has a value outside"),
    (lambda file: file["vegetation_a"].__setitem__(0, 70), "vegetation_a has a value outside"),
    (lambda file: file["unit_cell_position"].__setitem__(0, -4), "points outside the cells"),
    (lambda file: file["soil_parts"].__setitem__(..., 1e12), "option soil_parts is 1e"),
    (lambda file: file["routing_step"].__setitem__(..., 7.0), "not a whole number of routing steps"),
    (lambda file: file.setncattr("step_seconds", 1e12), "not a whole number of routing steps"),
    (lambda file: file.setncattr("fault_place", 12), "no place of subbasin"),
    (lambda file: file.setncattr("fault_variable", "nonsense"), "nonsense"),
    (lambda file: file.setncattr("registry_fingerprint", "0"), "replay it with that version"),
    (lambda file: file.setncattr("wepl_content", "state"), "is not a crash file of wepl; it holds state"),
    (lambda file: file.renameVariable("snow_ice", "other"), "snow_ice"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_crash_file_that_lies_is_refused(crash_file, change, words):
    spoil(crash_file, change)
    done = CliRunner().invoke(app, ["replay", str(crash_file)])
    assert done.exit_code == 2 and "Traceback" not in done.output
    with pytest.raises(InputError, match=words):
        read(crash_file)


def test_files_that_are_no_crash_file(crash_file, daily_basin, tmp_path):
    whole = crash_file.read_bytes()
    for share in (0.0, 0.01, 0.5, 0.98):
        crash_file.write_bytes(whole[:int(share * len(whole))])
        with pytest.raises(InputError, match="cannot be read"):
            read(crash_file)
    with pytest.raises(InputError, match="there is no file"):
        read(tmp_path / "none.nc")
    with pytest.raises(InputError, match="is not a crash file"):
        read(daily_basin)


def test_the_file_holds_every_row(crash_file):
    """By construction from the registry: every row of the kernel arrays that a step reads, each state, all options."""
    arrays = set(crash_module._DIMS)
    assert arrays == {"option", "tile_parameter", "soil_parameter", "unit_parameter", "subbasin_parameter",
                      "forcing", "calendar", "vegetation", *model_module.STATES}
    with netCDF4.Dataset(crash_file) as file:
        missing = [entry.name for entry in registry.TABLE if entry.array in arrays and entry.name not in file.variables]
        assert missing == []
        assert {entry.name for entry in registry.of_kind("state")} <= set(file.variables)
        assert file["snow_ice"].units == "m" and file["groundwater_head"].dimensions == ("subbasin",)
