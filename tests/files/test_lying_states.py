"""States that lie: each is refused by a run that should go on from it."""

from __future__ import annotations

import numpy as np
import pytest
from basins import valid
from content import Content
from lying_basins import attribute, global_attribute
from lying_files import BINARY, CONTENTS, PLACES

from wepl.basin.dataset import Basin
from wepl.errors import InputError
from wepl.run import restart

ENTRY = restart.entries()[0].name
OTHER = restart.entries()[-1].name
MOST_BYTES = 2**30


@pytest.fixture(scope="module")
def run_facts():
    """The basin of a run, the step at which it begins, and the shapes of its state."""
    basin = Basin.from_dataset(valid())
    sizes = {"unit": 8, "tile": 5, "subbasin": 4, "soil_layer": 3}
    shapes = {entry.name: tuple(sizes.get(dim, 2) for dim in entry.dims) for entry in restart.entries()}
    return {"basin": basin, "clock": basin.clock, "at": 2, "shapes": shapes}


@pytest.fixture(scope="module")
def good(run_facts, tmp_path_factory):
    path = tmp_path_factory.mktemp("state") / "state.nc"
    arrays = {name: np.ones(shape) for name, shape in run_facts["shapes"].items()}
    restart.save_state(path, arrays, basin=run_facts["basin"], clock=run_facts["clock"], at=2)
    return path


def drop(content: Content) -> None:
    del content.variables[ENTRY]


def more(content: Content) -> None:
    content.variables["gold"] = dict(content.variables[ENTRY])


def kind(given: object, values: object = None):
    def change(content: Content) -> None:
        content.variables[ENTRY].update(kind=given, values=values)
    return change


def number(value: float):
    def change(content: Content) -> None:
        content.variables[ENTRY]["values"].reshape(-1)[-1] = value
    return change


def turned(content: Content) -> None:
    content.variables[ENTRY]["dims"] = content.variables[ENTRY]["dims"][::-1] + ("unit",)


def larger(dim: str, size: int):
    def change(content: Content) -> None:
        content.dims[dim] = size
        for entry in content.variables.values():
            if dim in entry["dims"]:
                entry["values"] = None
    return change


LYING = {
    "a variable less": (drop, f"it lacks {ENTRY}"),
    "a variable more": (more, "it holds gold, which this version does not know"),
    "single precision": (kind("f4"), f"{ENTRY} is float32, expected float64"),
    "whole numbers": (kind("i8"), f"{ENTRY} is int64, expected float64"),
    "text": (kind("S1", np.array(b"a")), f"{ENTRY} is .*S1, expected float64"),
    "other dimensions": (turned, f"{ENTRY} stands on"),
    "no number": (number(np.nan), f"1 values of {ENTRY} that are not finite"),
    "infinity": (number(-np.inf), f"1 values of {ENTRY} that are not finite"),
    "a unit more": (larger("unit", 9), "it has 9 units, the run has 8"),
    "a layer less": (larger("soil_layer", 2), "it has 2 soil layers, the run has 3"),
    "two milliard units": (larger("unit", 2**31), "it has 2147483648 units, the run has 8"),
    "other units": (attribute(ENTRY, "units", "furlong"), f"{ENTRY} stands on .* in furlong, expected"),
    "a number as units": (attribute(ENTRY, "units", 5), f"{ENTRY} stands on .* in 5, expected"),
    "another basin": (global_attribute("basin_hash", "0" * 64), r"its basin \(content hash\) is 000000000000\.\.\."),
    "a list as basin": (global_attribute("basin_hash", np.array([1, 2])), r"its basin \(content hash\) is \[1 2\]"),
    "another moment": (global_attribute("moment", "1999-01-01"), "its moment is 1999-01-01, the run has 2010-01-03"),
    "a number as moment": (global_attribute("moment", 7.0), "its moment is 7.0, the run has 2010-01-03"),
    "another calendar": (global_attribute("calendar", "noleap"), "its calendar is noleap, the run has standard"),
    "another format": (global_attribute("state_format", 99), "its format is 99, this version reads"),
    "text as format": (global_attribute("state_format", "one"), "its format is one, this version reads"),
    "another list of states": (global_attribute("registry_fingerprint", "0" * 64), "another list of state variables"),
    "a result": (global_attribute("wepl_content", "result"), "is not a state file of wepl; it holds result"),
    "something": (global_attribute("wepl_content", 5), "is not a state file of wepl"),
}


@pytest.mark.parametrize("name", LYING)
def test_a_lying_state_is_refused(name, good, run_facts, tmp_path):
    content = Content.read(good)
    LYING[name][0](content)
    content.write(tmp_path / "state.nc")
    with pytest.raises(InputError, match=f"state.nc.*{LYING[name][1]}"):
        restart.load_state(tmp_path / "state.nc", **run_facts)


@pytest.mark.parametrize("name", [*PLACES, *CONTENTS, *BINARY])
def test_what_is_no_state_is_refused(name, good, run_facts, tmp_path):
    path = tmp_path / "state.nc"
    {**CONTENTS, **BINARY, **{place: make for place, (make, _) in PLACES.items()}}[name](path, good.read_bytes())
    with pytest.raises(InputError, match="state.nc"):
        restart.load_state(path, **run_facts)


def test_every_state_may_be_the_one_that_lacks(good, run_facts, tmp_path):
    for entry in restart.entries():
        content = Content.read(good)
        del content.variables[entry.name]
        path = tmp_path / "state.nc"
        path.unlink(missing_ok=True)
        content.write(path)
        with pytest.raises(InputError, match=f"it lacks {entry.name}"):
            restart.load_state(path, **run_facts)
