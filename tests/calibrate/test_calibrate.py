"""Whole calibrations of a small basin: a known truth, a killed one that goes on, what it leaves, and bad input."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr
from small import GAUGE, TRUTH, make, write
from typer.testing import CliRunner

from wepl.calibrate import calibrate
from wepl.calibrate.driver import best_of
from wepl.cli import app
from wepl.errors import InputError

CMAES = 'name = "cmaes"\nevaluations = {}\npopulation = 6\nseed = 4'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make(tmp_path_factory.mktemp("calibrate"))


@pytest.fixture(scope="module")
def known(folder):
    """A calibration to the known truth, with pictures."""
    return calibrate(write(folder, "known", CMAES.format(150)), output=folder / "known", plots=True, quiet=True)


def test_known_truth_is_found(known):
    summary = json.loads((known / "summary.json").read_text())
    for period in ("calibration", "validation"):
        assert summary["scores"][period][GAUGE]["best"]["kge"] >= 0.99
        assert summary["scores"][period][GAUGE]["default"]["kge"] < 0.95
    for name, value in TRUTH.items():
        assert summary["parameters"][name]["best"] == pytest.approx(value, rel=0.15)
        assert summary["parameters"][name]["at_bound"] == ""
    # 143 days of calibration: ten of the 153 have no observation.
    assert summary["scores"]["calibration"][GAUGE]["best"]["values"] == 143


def test_log_holds_every_evaluation(known):
    lines = [json.loads(line) for line in (known / "log.jsonl").read_text().splitlines()]
    assert [line["evaluation"] for line in lines[1:]] == list(range(150))
    assert [line["population"] for line in lines[1:]] == [number // 6 for number in range(150)]
    best = max(lines[1:], key=lambda line: line["score"])
    summary = json.loads((known / "summary.json").read_text())
    assert summary["best_evaluation"] == best["evaluation"] and summary["score"] == best["score"]


def test_pictures_and_hydrographs(known):
    names = {path.name for path in known.glob("*.png")}
    assert names == {"convergence.png", "parameters.png", "hydrograph_Fu_at_Lijiadu_calibration.png",
                     "hydrograph_Fu_at_Lijiadu_validation.png"}
    assert all((known / name).read_bytes().startswith(b"\x89PNG") for name in names)
    rows = (known / "hydrographs.csv").read_text().splitlines()
    assert len(rows) == 1 + 143 + 91


def test_run_takes_the_best_parameters(known, folder):
    """The run from the warm-up's start on gives the discharge that the calibration scored."""
    outcome = CliRunner().invoke(app, ["run", str(folder / "basin.nc"), "--params", str(known / "best.toml"), "--start",
                                       "2010-01-01", "--backend", "cpu", "-o", str(folder / "run.nc"), "--quiet"])
    assert outcome.exit_code == 0, outcome.output
    with xr.open_dataset(folder / "run.nc") as data:
        discharge = data["gauge_discharge"].sel(time=slice("2010-09-01", "2010-11-30")).values[:, 0]
    rows = [line.split(",") for line in (known / "hydrographs.csv").read_text().splitlines()]
    best = [float(row[4]) for row in rows[1:] if row[0] == "validation"]
    # The table has six digits.
    np.testing.assert_allclose(best, discharge, rtol=5e-6)


def test_set_goes_over_the_file(known, folder):
    outcome = CliRunner().invoke(app, ["run", str(folder / "basin.nc"), "--params", str(known / "best.toml"), "--set",
                                       "conductivity_factor=-1", "-o", str(folder / "refused.nc")])
    assert outcome.exit_code == 2 and not (folder / "refused.nc").exists()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_killed_calibration_goes_on_to_the_same_best(folder, asynchronous):
    """SIGKILL after the second population, and a line that was cut short."""
    name = f"killed_{asynchronous}"
    toml = write(folder, name, CMAES.format(30) + f"\nasynchronous = {str(asynchronous).lower()}")
    undisturbed = calibrate(toml, output=folder / f"{name}_whole", quiet=True)
    target = folder / name
    log = target / "log.jsonl"
    process = subprocess.Popen([sys.executable, "-m", "wepl", "calibrate", str(toml), "-o", str(target), "--quiet"])
    while not log.exists() or log.read_bytes().count(b"\n") < 13:
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    lines = log.read_bytes().splitlines(keepends=True)
    assert len(lines) < 31
    log.write_bytes(b"".join(lines[:16]) + lines[2][:40])
    calibrate(toml, output=target, resume=True, quiet=True)
    assert (target / "best.toml").read_bytes() == (undisturbed / "best.toml").read_bytes()
    scores = [[line["score"] for line in map(json.loads, (where / "log.jsonl").read_text().splitlines()[1:])]
              for where in (target, undisturbed)]
    assert scores[0] == scores[1] and len(scores[0]) == 30


def test_a_larger_budget_goes_on(folder):
    small, large = (write(folder, "budget", CMAES.format(count)) for count in (12, 12))
    calibrate(small, output=folder / "budget", quiet=True)
    write(folder, "budget", CMAES.format(18))
    calibrate(large, output=folder / "budget", resume=True, quiet=True)
    assert (folder / "budget" / "log.jsonl").read_text().count("\n") == 19


def test_another_calibration_is_refused(folder):
    toml = write(folder, "other", CMAES.format(6))
    calibrate(toml, output=folder / "other", quiet=True)
    with pytest.raises(InputError, match="there already: go on with --resume"):
        calibrate(toml, output=folder / "other", quiet=True)
    write(folder, "other", CMAES.format(6).replace("seed = 4", "seed = 5"))
    with pytest.raises(InputError, match="settings differs"):
        calibrate(toml, output=folder / "other", resume=True, quiet=True)
    with pytest.raises(InputError, match="leave --resume out"):
        calibrate(toml, output=folder / "new", resume=True, quiet=True)
    assert not (folder / "new").exists()


@pytest.mark.parametrize("old, new, message", [
    ("2010-04-01, 2010-08-31", "2009-04-01, 2010-08-31", "the forcing goes from 2010-01-01 to 2010-12-31"),
    ("warm_up_days = 90", "warm_up_days = 200", "90 days before the period"),
    ("warm_up_days = 90", "warm_up_days = 60\nspin_up_years = 1", "shorter than a year"),
    (GAUGE, "nowhere", "the basin has no gauge nowhere: it has Fu at Lijiadu"),
    ("low = 0.05", "low = 0.0000001", "conductivity_factor"),
    ("conductivity_factor", '"conductivity_factor@7"', "parameter_zone"),
    ('backend = "cpu"', 'backend = "abacus"', "unknown backend"),
])
def test_bad_input_leaves_nothing(folder, tmp_path, old, new, message):
    toml = write(folder, "bad", CMAES.format(6), **{old: new})
    with pytest.raises(Exception, match=message) as caught:
        calibrate(toml, output=tmp_path / "results", quiet=True)
    assert caught.value.exit_code == 2
    assert not (tmp_path / "results").exists()


def test_front_of_two_measures(folder):
    toml = write(folder, "front", 'name = "nsga2"\nevaluations = 24\npopulation = 8\nseed = 1\n'
                                  "[objective]\nmeasures = { nse = 1.0, log_nse = 1.0 }")
    where = calibrate(toml, output=folder / "front", quiet=True)
    rows = np.array([line.split(",") for line in (where / "front.csv").read_text().splitlines()[1:]], dtype=float)
    assert len(rows) >= 1
    assert (np.diff(rows[:, 1]) <= 0.0).all() and (np.diff(rows[:, 2]) >= 0.0).all()


def test_sensitivity(folder):
    """Conductivity shapes the floods of this basin more than the stomata do."""
    toml = write(folder, "sobol", 'name = "sobol_sensitivity"\nevaluations = 64\npopulation = 32\nseed = 1\n'
                                  "[objective]\nmeasures = { nse = 1.0 }")
    where = calibrate(toml, output=folder / "sobol", quiet=True)
    found = json.loads((where / "summary.json").read_text())["parameters"]
    total = {name: one["sobol"]["total"] for name, one in found.items()}
    assert total["conductivity_factor"] > total["stomatal_resistance_factor"]
    assert 0.3 < total["conductivity_factor"] < 1.7


def test_nothing_finished_is_an_error():
    from wepl.calibrate.log import Evaluation
    from wepl.calibrate.objective import Score

    failed = Evaluation(0, 0, {}, Score(-100.0, np.array([101.0]), {}, "a storage fell below zero"))
    with pytest.raises(Exception, match="none of 1 members; the first: a storage"):
        best_of([failed])
