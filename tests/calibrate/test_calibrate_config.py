"""The calibration file: every fault is named by its dotted path, all at once; and the space that it spans."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from wepl.calibrate.config import Range, read
from wepl.calibrate.space import Space
from wepl.errors import InputError

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("calibrate_*.toml"))

GOOD = """
basin = "basin.nc"
[[observed]]
gauge = "G"
file = "flow.csv"
[period]
calibration = [2010-01-01, 2010-12-31]
[parameters]
conductivity_factor = { low = 0.1, high = 10, scale = "log" }
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("basin.nc", "flow.csv"):
        (tmp_path / name).write_text("")
    return tmp_path


def fault(folder, old: str, new: str) -> str:
    assert old in GOOD
    path = folder / "cal.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(InputError) as caught:
        read(path)
    return str(caught.value)


def test_defaults(folder):
    (folder / "cal.toml").write_text(GOOD)
    config, _ = read(folder / "cal.toml")
    assert config.algorithm.name == "cmaes" and config.objective.measures == {"kge": 1.0}
    assert config.period.calibration == ["2010-01-01", "2010-12-31"] and not config.algorithm.asynchronous


@pytest.mark.parametrize("old, new, expected", [
    ('basin = "basin.nc"', 'basin = "gone.nc"', "basin: there is no file"),
    ('file = "flow.csv"', 'file = "flow.csv"\nunit = "m3 s-1"', "observed[1].unit: unknown key (did you mean units?)"),
    ("2010-12-31", "2009-12-31", "period: calibration: 2009-12-31 lies before 2010-01-01"),
    ("low = 0.1", "low = 20", "parameters.conductivity_factor: low 20 is not below high 10"),
    ("low = 0.1", "low = 0", "has no logarithm"),
    ("low = 0.1", "lo = 0.1", "parameters.conductivity_factor.lo: unknown key (did you mean low?)"),
    ("conductivity_factor", "conductivty_factor", "parameters.conductivty_factor: not an option"),
    ("conductivity_factor", "infiltration_switch", "parameters.infiltration_switch: a switch has no range"),
    ("[parameters]", '[objective]\nmeasures = { kgge = 1.0 }\n[parameters]', "objective: measures: unknown kgge"),
    ("[parameters]", '[algorithm]\nname = "nsga2"\n[parameters]', "nsga2 needs two measures"),
    ("[parameters]", '[algorithm]\nname = "sce"\n[parameters]', "algorithm.name: 'sce'"),
    ("[parameters]", "[options]\nconductivity_factor = 2\n[parameters]", "conductivity_factor stands under parameters"),
    ('gauge = "G"', 'gauge = ["G", "G"]', "the gauge G stands twice"),
    ('gauge = "G"', 'gauge = "G"\nuse = "validation"', "give one to calibrate to"),
])
def test_fault_is_named(folder, old, new, expected):
    assert expected in fault(folder, old, new)


def test_all_faults_at_once(folder):
    text = fault(folder, GOOD, GOOD.replace("basin.nc", "gone.nc").replace("flow.csv", "lost.csv"))
    assert "basin: there is no file" in text and "observed[1].file: there is no file" in text


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples(tmp_path, example):
    name = example.stem.removeprefix("calibrate_")
    for file in (f"{name}.nc", "discharge.csv", "famine_input.nc", "discharge_V3524010.csv", "discharge_ft3_s.csv"):
        (tmp_path / file).write_text("")
    config, _ = read(Path(shutil.copy(example, tmp_path)))
    assert config.basin == f"{name}.nc" and config.period.validation is not None
    assert config.algorithm.minutes is not None and config.algorithm.minutes < 30.0


def test_no_toml(folder):
    (folder / "cal.toml").write_text("basin = ")
    with pytest.raises(InputError, match="is not a TOML file"):
        read(folder / "cal.toml")
    with pytest.raises(InputError, match="there is no file"):
        read(folder / "none.toml")


def test_space_goes_there_and_back():
    space = Space({"a": Range(low=0.1, high=10.0, scale="log"), "b@2": Range(low=-1.0, high=3.0)})
    assert space.values(np.array([0.5, 0.5])) == pytest.approx({"a": 1.0, "b@2": 1.0})
    assert space.values(np.array([0.0, 1.0])) == {"a": 0.1, "b@2": 3.0}
    assert space.point({"a": 10.0, "b@2": 0.0}).tolist() == pytest.approx([1.0, 0.25])
    assert space.start({"a": 1.0, "b": 9.0}).tolist() == pytest.approx([0.5, 0.5])
    assert space.at_bounds({"a": 0.1, "b@2": 1.0}) == {"a": "low"}
