"""Results that lie, given to ``info`` and ``compare``: a message or a difference, never a traceback."""

from __future__ import annotations

import re

import numpy as np
import pytest
import results
from content import Content
from lying_basins import attribute, global_attribute, huge, replaced
from lying_files import BINARY, CONTENTS, PLACES
from refusal import lies, said


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("result") / "good.nc"
    results.write(path)
    return path


def drop(*names):
    def change(content: Content) -> None:
        for name in names:
            del content.variables[name]
    return change


# What `wepl info` refuses; what only differs is told by `wepl compare`, which ends with status 1.
LYING = {
    "no time": (drop("time", "time_bounds"), "does not hold what its kind of file should"),
    "time without units": (attribute("time", "units", "sometimes"), "does not hold what its kind of file should"),
    "a number as units of time": (attribute("time", "units", 5), "does not hold what its kind of file should"),
    "an unknown calendar": (attribute("time", "calendar", "lunar"), "does not hold what its kind of file should"),
    "a time beyond any calendar": (replaced("time_bounds", values=np.full((10, 2), 1e300)),
                                   "does not hold what its kind of file should"),
    "two milliard steps": (huge("time", 2**31, "time", "time_bounds", "discharge"), "would take .* GB of memory"),
    "two milliard units": (huge("unit", 2**31, "unit"), "would take .* GB of memory"),
    "text as closure": (global_attribute("water_balance_closure", "tight"), "does not hold what its kind"),
    "neither result nor anything": (global_attribute("wepl_content", "novel"), "is neither a basin, a result nor"),
    "a number as content": (global_attribute("wepl_content", 5), "is neither a basin, a result nor a state file"),
}
DIFFERING = {
    "a variable less": (drop("discharge"), "discharge"),
    "text as discharge": (replaced("discharge", "S1", values=np.full((10, 4), b"a", "S1")), "one is text"),
    "other units": (attribute("discharge", "units", "l s-1"), "units differ: m3 s-1 and l s-1|units differ: l s-1"),
    "a number as units": (attribute("discharge", "units", 7), "units differ"),
    "no number": (replaced("discharge", values=np.full((10, 4), np.nan)), "discharge +inf"),
    "huge numbers": (replaced("discharge", values=np.full((10, 4), 1e300)), "discharge +1e.300"),
}


def lying(good, path, change):
    content = Content.read(good)
    change(content)
    content.write(path)
    return path


@pytest.mark.parametrize("name", LYING)
def test_info_refuses_a_lying_result(name, good, tmp_path):
    path = lying(good, tmp_path / "result.nc", LYING[name][0])
    lies(path, LYING[name][1], "info", path)


@pytest.mark.parametrize("name", DIFFERING)
def test_compare_tells_what_differs(name, good, tmp_path):
    path = lying(good, tmp_path / "result.nc", DIFFERING[name][0])
    assert said(1, "compare", good, path).count("NO") >= 1
    assert re.search(DIFFERING[name][1], said(1, "compare", path, good))


@pytest.mark.parametrize("name", ["two milliard steps", "two milliard units"])
def test_compare_refuses_what_cannot_be_read(name, good, tmp_path):
    path = lying(good, tmp_path / "result.nc", LYING[name][0])
    lies(path, "would take .* GB of memory", "compare", good, path)


@pytest.mark.parametrize("name", [*PLACES, *CONTENTS, *BINARY])
def test_what_is_no_result_is_refused(name, good, tmp_path):
    path = tmp_path / "result.nc"
    {**CONTENTS, **BINARY, **{place: make for place, (make, _) in PLACES.items()}}[name](path, good.read_bytes())
    lies(path, "not there|a folder|cannot be read|pipe|device|neither", "info", path)
    lies(path, "not there|a folder|cannot be read|pipe|device|damaged", "compare", good, path)
