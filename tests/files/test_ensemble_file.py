"""Ensembles from the command line and from Python: what their file holds, and going on after a stop."""

from __future__ import annotations

import json
import re
import signal

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from wepl import backends
from wepl.basin.dataset import Basin
from wepl.cli import app
from wepl.errors import InputError
from wepl.run import ensemble_job
from wepl.run.ensemble_job import resume_ensemble, run_ensemble
from wepl.run.interrupt import Interrupted
from wepl.run.simulation import run

MEMBERS = [{}, {"conductivity_factor": 0.3, "stomatal_resistance_factor": 1.7}, {"snow_albedo": 0.5}]
END = "2010-02-28"


@pytest.fixture(scope="module")
def device():
    return backends.create("cpu")


@pytest.fixture(scope="module")
def ensemble(daily_basin, device) -> xr.Dataset:
    return run_ensemble(daily_basin, MEMBERS, end=END, backend=device)


@pytest.mark.parametrize("options", [{}, {"energy_balance": "force_restore"}])
def test_members_equal_runs_to_files(daily_basin, device, tmp_path, options):
    found = run_ensemble(daily_basin, MEMBERS, end=END, backend=device, options=options, batch=2)
    for number, member in enumerate(MEMBERS):
        result = run(daily_basin, output=tmp_path / "one.nc", end=END, backend=device, quiet=True,
                     options={**options, **member})
        with xr.open_dataset(result.path) as single:
            np.testing.assert_array_equal(found["discharge"][number], single["gauge_discharge"])
            np.testing.assert_array_equal(found["time"], single["time"])
        terms = result.balance.terms
        assert float(found["basin_outflow"][number]) == 1e3 * terms.outflow / terms.area
        rain = terms.precipitation["precipitation_depth"]
        assert float(found["basin_precipitation"][number]) == 1e3 * rain / terms.area
        assert float(found["water_balance_closure"][number]) == result.balance.closure


def test_indices_are_those_of_the_series(ensemble):
    discharge = ensemble["discharge"].values
    np.testing.assert_allclose(ensemble["mean_discharge"], discharge.mean(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(ensemble["maximum_discharge"], discharge.max(axis=1))
    np.testing.assert_allclose(ensemble["discharge_volume"], discharge.sum(axis=1) * 86400.0, rtol=1e-12)
    np.testing.assert_allclose(ensemble["seasonal_discharge"].sel(season="DJF"), discharge.mean(axis=1), rtol=1e-12)
    assert np.isnan(ensemble["seasonal_discharge"].sel(season="JJA")).all()
    rest = (ensemble["basin_precipitation"] - ensemble["basin_evapotranspiration"] - ensemble["basin_outflow"]
            - ensemble["basin_deep_loss"] - ensemble["basin_storage_change"])
    np.testing.assert_allclose(rest, 0.0, atol=1e-9)


def test_seasons_follow_the_months(hourly_basin, device):
    found = run_ensemble(hourly_basin, [{}], start="2010-02-25", end="2010-03-05", backend=device, indices=["seasonal"])
    months = found["time"].dt.month.values
    discharge = found["discharge"].values[0]
    for season, month in (("DJF", 2), ("MAM", 3)):
        np.testing.assert_allclose(found["seasonal_discharge"].sel(season=season)[0],
                                   discharge[months == month].mean(axis=0), rtol=1e-12)
    assert "mean_discharge" not in found and "basin_outflow" not in found


def test_parameters_stand_beside_the_members(ensemble):
    np.testing.assert_array_equal(ensemble["conductivity_factor"], [1.0, 0.3, 1.0])
    np.testing.assert_array_equal(ensemble["snow_albedo"], [0.7, 0.7, 0.5])
    assert ensemble["snow_albedo"].attrs["option"] == "snow_albedo"
    assert ensemble["discharge"].attrs["units"] == "m3 s-1"
    assert ensemble["discharge"].dims == ("member", "time", "place")
    assert ensemble["member"].attrs["standard_name"] == "realization"


def test_places(daily_basin, device):
    basin = Basin.open(daily_basin)
    gauge = str(basin.parameters["gauge_name"].values[0])
    ids = basin.parameters["subbasin"].values
    found = run_ensemble(basin, [{}], end="2010-01-03", backend=device, gauges=[gauge], subbasins=[int(ids[1])])
    assert list(found["place_name"].values) == [gauge, f"sub-basin {ids[1]}"]
    assert found["place_subbasin"].values[1] == ids[1]
    with pytest.raises(InputError, match="no gauge Atlantis; there are"):
        run_ensemble(basin, [{}], gauges=["Atlantis"], backend=device)
    with pytest.raises(InputError, match="no sub-basin -5"):
        run_ensemble(basin, [{}], subbasins=[-5], backend=device)


def test_perturbed_forcing(daily_basin, device, ensemble):
    named = dict(end=END, backend=device, rain_noise=0.3, temperature_noise=1.0, seed=2, control=True)
    found = run_ensemble(daily_basin, 5, **named)
    np.testing.assert_array_equal(found["discharge"][0], ensemble["discharge"][0])
    assert len(np.unique(found["mean_discharge"].values[:, 0])) == 5
    cut = run_ensemble(daily_basin, 5, batch=2, **named)
    xr.testing.assert_equal(found.drop_vars("history", errors="ignore"), cut)
    assert found.attrs["rain_noise"] == 0.3


def test_a_stopped_ensemble_goes_on_to_the_same_bits(daily_basin, device, tmp_path, monkeypatch):
    target = tmp_path / "ensemble.nc"
    named = dict(end=END, backend=device, sample="lhs", rain_noise=0.2, batch=2)
    whole = run_ensemble(daily_basin, 5, **named)
    run_batch, done = ensemble_job.run_batch, []

    def stopped(path, numbers, layout, shared, members, device, watch):
        if len(done) == 1:
            watch.caught = signal.SIGTERM
        done.append(list(numbers))
        return run_batch(path, numbers, layout, shared, members, device, watch)

    monkeypatch.setattr(ensemble_job, "run_batch", stopped)
    with pytest.raises(Interrupted, match="2 of 5 members are kept"):
        run_ensemble(daily_basin, 5, output=target, **named)
    assert not target.exists()
    journal = tmp_path / "ensemble.nc.run"
    assert [path.name for path in journal.glob("*batch*")] == ["batch-0.nc"], "nothing half done is left"
    (journal / "batch-1.nc").write_bytes(b"cut short")
    done.clear()
    monkeypatch.setattr(ensemble_job, "run_batch", lambda *given: done.append(list(given[1])) or run_batch(*given))
    assert resume_ensemble(target, quiet=True) == target
    assert done == [[2, 3], [4]]
    assert not journal.exists()
    with xr.open_dataset(target) as found:
        xr.testing.assert_equal(found.load(), whole)


def test_resuming_what_is_not_there_or_not_the_same(daily_basin, tmp_path):
    with pytest.raises(InputError, match="nothing to resume"):
        resume_ensemble(tmp_path / "none.nc")
    folder = tmp_path / "run.nc.run"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"format": 1, "basin": ""}))
    with pytest.raises(InputError, match="not of an ensemble"):
        resume_ensemble(tmp_path / "run.nc")


def invoke(*arguments):
    return CliRunner().invoke(app, ["run", *map(str, arguments)])


def test_the_command(daily_basin, tmp_path, ensemble):
    table, target = tmp_path / "params.csv", tmp_path / "ensemble.nc"
    table.write_text("member,conductivity_factor,stomatal_resistance_factor,snow_albedo\nbase,,,\ntight,0.3,1.7,\n"
                     "dark,,,0.5\n", encoding="utf-8")
    said = invoke(daily_basin, "--members", table, "-o", target, "--end", END, "--backend", "cpu")
    assert said.exit_code == 0, said.output
    assert "3 of 3 members" in said.output
    with xr.open_dataset(target) as found:
        assert list(found["member_name"].values) == ["base", "tight", "dark"]
        np.testing.assert_array_equal(found["discharge"], ensemble["discharge"])
    told = CliRunner().invoke(app, ["info", str(target)])
    assert told.exit_code == 0 and "3 members" in told.output and "conductivity_factor" in told.output
    again = invoke(daily_basin, "--members", "2", "--sample", "sobol", "-o", target, "--end", "2010-01-03", "--quiet")
    assert again.exit_code == 0 and again.output == ""


@pytest.mark.parametrize(("arguments", "match"), [
    (["--members", "3"], "3 members would be the same"),
    (["--members", "0", "--sample", "lhs"], "give 1 to"),
    (["--members", "3", "--sample", "halton"], "choose from lhs"),
    (["--members", "none.csv"], "cannot be read as CSV"),
    (["--members", "3", "--sample", "lhs", "--variables", "runoff"], "--variables cannot be given with --members"),
    (["--members", "3", "--sample", "lhs", "--indices", "median"], "unknown index median"),
    (["--members", "3", "--sample", "lhs", "--batch", "0"], "give 1 or more"),
    (["--members", "3", "--sample", "lhs", "--subbasins", "a"], "numbers of sub-basins"),
    (["--members", "3", "--rain-noise", "-1"], "would be the same|give a number"),
    (["--members", "3", "--sample", "lhs", "--start", "2010-03-01", "--end", "2010-02-01"], "before it starts"),
    (["--sample", "lhs"], "--sample belongs to an ensemble"),
])
def test_what_is_refused_leaves_nothing(daily_basin, tmp_path, arguments, match, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = invoke(daily_basin, "-o", "ensemble.nc", *arguments)
    assert said.exit_code == 2, said.output
    assert re.search(match, said.output), said.output
    assert list(tmp_path.iterdir()) == []
