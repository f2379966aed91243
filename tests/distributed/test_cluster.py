"""Runs, ensembles and calibrations on two worker processes: the bits of one process, a worker killed or not."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from typer.testing import CliRunner

from wepl.calibrate import calibrate
from wepl.cli import app
from wepl.distributed import cluster as cluster_module
from wepl.distributed import connect, worker
from wepl.distributed import run as run_module
from wepl.errors import InputError, NumericalError
from wepl.kernels import host
from wepl.run.ensemble_job import run_ensemble
from wepl.run.interrupt import Interrupted
from wepl.run.progress import Progress
from wepl.run.simulation import resume, run

END = "2010-03-31"
VARIABLES = ["snow_water_equivalent", "soil_moisture", "baseflow"]
WITHOUT = ("history", "backend", "basin_file")


def assert_same(path: Path, other: Path) -> None:
    """Every variable and attribute, but for the time of writing."""
    with xr.open_dataset(path) as first, xr.open_dataset(other) as second:
        assert set(first.variables) == set(second.variables)
        for name in first.variables:
            np.testing.assert_array_equal(first[name].values, second[name].values, err_msg=str(name))
        facts = [{name: value for name, value in data.attrs.items() if name not in WITHOUT} for data in (first, second)]
        assert facts[0] == facts[1]


def outputs(folder: Path) -> dict[str, Path]:
    return {name: folder / f"{name}.nc" for name in ("one", "many", "one_state", "many_state")}


@pytest.fixture(scope="module")
def one_process(daily_basin, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("one") / "one.nc"
    return run(daily_basin, output=path, backend="cpu", end=END, variables=VARIABLES, quiet=True).path


@pytest.mark.parametrize("checkpoint", [0.0, 20.0])
def test_a_run_has_the_same_bits(cluster, daily_basin, one_process, tmp_path, checkpoint):
    result = run(daily_basin, output=tmp_path / "many.nc", backend="cpu", end=END, variables=VARIABLES, quiet=True,
                 block_days=5, checkpoint=checkpoint, cluster=cluster)
    assert_same(one_process, result.path)
    assert [path.name for path in tmp_path.iterdir()] == ["many.nc"]


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_the_cuda_sources_have_the_same_bits(cluster, hourly_basin, tmp_path, precision):
    if host.compiler() is None:
        pytest.skip("the emulate backend needs a C++ compiler and found none")
    files = outputs(tmp_path)
    for name, where in (("one", None), ("many", cluster)):
        run(hourly_basin, output=files[name], save_state=files[f"{name}_state"], backend="emulate", quiet=True,
            precision=precision, start="2010-06-01", end="2010-06-05", cluster=where, block_days=1,
            options={"energy_balance": "force_restore"})
    assert_same(files["one"], files["many"])
    assert_same(files["one_state"], files["many_state"])


@pytest.mark.parametrize("everyone", [False, True])
def test_a_run_outlives_its_workers(cluster, kill_at, daily_basin, one_process, tmp_path, everyone):
    kill_at(7, everyone)
    path = run(daily_basin, output=tmp_path / "many.nc", backend="cpu", end=END, variables=VARIABLES, quiet=True,
               block_days=3, cluster=cluster).path
    assert_same(one_process, path)


def test_a_stopped_run_goes_on_here_or_there(cluster, daily_basin, one_process, tmp_path, monkeypatch):
    path = tmp_path / "many.nc"
    update = Progress.update
    first_step_not_done = []

    def stop(self, until, seconds):
        update(self, until, seconds)
        first_step_not_done.append(until)
        if len(first_step_not_done) in (3, 6):
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(Progress, "update", stop)
    with pytest.raises(Interrupted, match="--resume"):
        run(daily_basin, output=path, backend="cpu", end=END, variables=VARIABLES, quiet=True, block_days=5,
            checkpoint=10, cluster=cluster)
    with pytest.raises(Interrupted, match="--resume"):
        resume(path, quiet=True)
    assert_same(one_process, resume(path, quiet=True, cluster=cluster).path)
    assert first_step_not_done == list(range(5, 90, 5)) + [90]


@pytest.mark.parametrize(("name", "value", "message"), [
    ("soil_water", np.nan, "column stage, unit .*2010-01-01: a value is not finite.*crash file"),
    ("river_storage", np.nan, "river stage, sub-basin .*2010-01-01: a value is not finite.*crash file"),
    ("groundwater_head", 2e4, r"groundwater_head .* in sub-basin .* from 2010-01-01, outside .*crash file")])
def test_a_fault_names_place_and_time(cluster, daily_basin, tmp_path, monkeypatch, name, value, message):
    start = run_module._start

    def poisoned(*arguments):
        state = start(*arguments)
        state[name][..., 0] = value
        return state

    monkeypatch.setattr(run_module, "_start", poisoned)
    with pytest.raises(NumericalError, match=message):
        run(daily_basin, output=tmp_path / "many.nc", backend="cpu", quiet=True, end=END, cluster=cluster)
    assert not list(tmp_path.iterdir())


MEMBERS = [{}, {"conductivity_factor": 0.3, "stomatal_resistance_factor": 1.7}, {"snow_albedo": 0.5},
           {"aquifer_factor": 2.0}, {"manning_river_factor": 0.6}]


def test_an_ensemble_outlives_a_worker(cluster, kill_at, daily_basin, tmp_path):
    common = {"end": END, "backend": "cpu", "rain_noise": 0.2, "seed": 4}
    run_ensemble(daily_basin, MEMBERS, output=tmp_path / "one.nc", **common).close()
    kill_at(1)
    run_ensemble(daily_basin, MEMBERS, output=tmp_path / "many.nc", cluster=cluster, **common).close()
    assert_same(tmp_path / "one.nc", tmp_path / "many.nc")
    assert {path.name for path in tmp_path.iterdir()} == {"one.nc", "many.nc"}


CALIBRATION = """
basin = "{basin}"

[[observed]]
gauge = "{gauge}"
file = "discharge.csv"

[period]
calibration = [2010-04-01, 2010-06-30]
validation = [2010-07-01, 2010-07-31]
warm_up_days = 60

[parameters]
conductivity_factor = {{ low = 0.05, high = 5.0, scale = "log" }}
stomatal_resistance_factor = {{ low = 0.5, high = 3.0 }}

[machine]
backend = "cpu"
threads = 1

[algorithm]
name = "cmaes"
population = 6
evaluations = 18
"""


@pytest.fixture(scope="module")
def calibration(daily_basin, one_process, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("calibration")
    truth = run(daily_basin, output=folder / "truth.nc", backend="cpu", quiet=True,
                options={"conductivity_factor": 0.3}, end="2010-07-31")
    with xr.open_dataset(truth.path) as data:
        gauge = str(data["gauge_name"].values[0])
        pd.DataFrame({"date": data["time"].values, "flow": data["gauge_discharge"].values[:, 0]}).to_csv(
            folder / "discharge.csv", index=False)
    (folder / "basin.nc").write_bytes(daily_basin.read_bytes())
    (folder / "cal.toml").write_text(CALIBRATION.format(basin="basin.nc", gauge=gauge))
    return folder / "cal.toml"


def evaluations(folder: Path) -> list[object]:
    """The log without the time that populations took."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def test_a_calibration_outlives_a_worker(cluster, kill_at, calibration, tmp_path):
    calibrate(calibration, output=tmp_path / "one", quiet=True)
    kill_at(3)
    calibrate(calibration, output=tmp_path / "many", quiet=True, cluster=cluster)
    assert evaluations(tmp_path / "one") == evaluations(tmp_path / "many")
    for name in ("best.toml", "hydrographs.csv"):
        assert (tmp_path / "one" / name).read_text() == (tmp_path / "many" / name).read_text()


def test_the_command_line_finds_a_scheduler(cluster, daily_basin, one_process, tmp_path):
    arguments = ["run", str(daily_basin), "-o", str(tmp_path / "many.nc"), "--backend", "cpu", "--end", END,
                 "--variables", ",".join(VARIABLES), "--scheduler", cluster.client.scheduler.address]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "2 workers" in done.output
    assert_same(one_process, tmp_path / "many.nc")


def test_workers_with_other_versions_are_refused(cluster, monkeypatch):
    own = worker.facts()
    monkeypatch.setattr(worker, "facts", lambda: tuple((name, "else" if name == "registry" else value)
                                                       for name, value in own))
    with pytest.raises(InputError, match="worker tcp.*cannot give the same bits: registry .* there, else here"):
        cluster.check()


def test_files_that_a_worker_does_not_see_are_refused(cluster, tmp_path):
    with pytest.raises(InputError, match=r"does not see .*gone.nc"):
        cluster.check_paths([tmp_path / "gone.nc"])


@pytest.mark.parametrize(("given", "message"), [
    ({"workers": 0}, "--workers 0"), ({}, "and not both"), ({"workers": 1, "scheduler": "tcp://a:1"}, "and not both"),
    ({"scheduler": "tcp://127.0.0.1:9"}, "no scheduler answers at"), ({"scheduler": "host"}, "give the address that"),
    ({"workers": 1, "groups": 0}, "groups")])
def test_what_cannot_be_connected_is_refused(given, message, monkeypatch):
    monkeypatch.setattr(cluster_module, "_ANSWER_SECONDS", 0.5)
    with pytest.raises(InputError, match=message), connect(**given):
        raise AssertionError


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'wepl\[distributed\]'"), connect(workers=1):
        raise AssertionError
