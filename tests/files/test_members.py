"""Tables of members and of ranges, and what is drawn within ranges."""

from __future__ import annotations

import numpy as np
import pytest

from wepl import registry
from wepl.errors import InputError
from wepl.run.members import DEFAULT_RANGES, Range, count, draw, read_members, read_ranges
from wepl.run.zones import ZONED


def test_a_table_of_members(tmp_path):
    path = tmp_path / "members.csv"
    path.write_text("\ufeffmember, conductivity_factor,infiltration_switch,aquifer_factor@3\n"
                    "dry,2,rate,\n\n,0.5,,1.5\n", encoding="utf-8")
    members, names = read_members(path)
    assert members == [{"conductivity_factor": 2.0, "infiltration_switch": "rate"},
                       {"conductivity_factor": 0.5, "aquifer_factor@3": 1.5}]
    assert names == ["dry", "1"]


@pytest.mark.parametrize(("text", "match"), [
    ("", "no line below its header"),
    ("conductivity_factor\n", "no line below its header"),
    ("conductivty_factor\n1\n", "column conductivty_factor: unknown option 'conductivty_factor'"),
    ("conductivity_factor\nmuch\n", "line 2, column conductivity_factor: 'much' is not a number"),
    ("infiltration_switch\nfast\n", "or one of daily_depth"),
    ("conductivity_factor,conductivity_factor\n1,2\n", "conductivity_factor twice"),
    ("conductivity_factor,aquifer_factor\n1\n", "line 2: 1 cells under 2 columns"),
    ("snow_albedo@2\n1\n", "may differ between parameter zones"),
    ("aquifer_factor@north\n1\n", "'north' is not the number of a parameter zone"),
])
def test_broken_tables(tmp_path, text, match):
    path = tmp_path / "members.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=match):
        read_members(path)


def test_a_table_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(InputError, match="cannot be read as CSV"):
        read_members(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(InputError, match="cannot be read as CSV"):
        read_members(tmp_path / "binary.csv")


def test_ranges_from_both_kinds_of_file(tmp_path):
    toml, table = tmp_path / "ranges.toml", tmp_path / "ranges.csv"
    toml.write_text('conductivity_factor = [0.1, 10, "log"]\n"aquifer_factor@2" = [0.5, 2]\n', encoding="utf-8")
    table.write_text("name,low,high,scale\nconductivity_factor,0.1,10,log\naquifer_factor@2,0.5,2,\n", encoding="utf-8")
    assert read_ranges(toml) == read_ranges(table) == {"conductivity_factor": Range(0.1, 10.0, True),
                                                       "aquifer_factor@2": Range(0.5, 2.0)}


@pytest.mark.parametrize(("text", "match"), [
    ("conductivity_factor = [10, 0.1]", "not a rising range"),
    ("conductivity_factor = [0.1, 1e9]", "within 0.001 to 1000"),
    ("conductivity_factor = 3", "give two numbers"),
    ('conductivity_factor = [1, 2, "square"]', "linear or log"),
    ('conductivity_factor = ["a", 2]', "are not two numbers"),
    ("conductivity_factor = [nan, 2]", "not a rising range"),
    ("depression_storage_factor = [0, 2, 'log']", "begins above 0"),
    ("infiltration_switch = [0, 3]", "which are not drawn"),
    ("porosity = [0, 3]", "unknown option 'porosity'"),
    ("", "gives no range"),
    ("conductivity_factor = ", "cannot be read as TOML"),
])
def test_broken_ranges(tmp_path, text, match):
    path = tmp_path / "ranges.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=match):
        read_ranges(path)


def test_broken_tables_of_ranges(tmp_path):
    path = tmp_path / "ranges.csv"
    for text, match in (("name,from,to\na,1,2\n", "give name,low,high"),
                        ("name,low,high\naquifer_factor,1,2\naquifer_factor,1,3\n", "stands twice")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=match):
            read_ranges(path)


@pytest.mark.parametrize("sample", ["lhs", "sobol", "random"])
def test_members_are_drawn_within_ranges(sample):
    ranges = {"conductivity_factor": Range(0.1, 10.0, True), "aquifer_factor": Range(0.5, 2.0)}
    members = draw(100, sample, ranges, seed=4)
    assert members == draw(100, sample, ranges, seed=4) != draw(100, sample, ranges, seed=5)
    values = np.array([[member[name] for name in ranges] for member in members], dtype=float)
    assert values.shape == (100, 2)
    assert (values >= [0.1, 0.5]).all() and (values <= [10.0, 2.0]).all()
    # Even in the logarithm, and even: in each tenth of the range about a tenth of the members.
    shares = np.column_stack([(np.log10(values[:, 0]) + 1.0) / 2.0, (values[:, 1] - 0.5) / 1.5])
    counts = np.array([np.histogram(column, 10, (0.0, 1.0))[0] for column in shares.T])
    assert np.abs(counts - 10).max() <= {"lhs": 0, "sobol": 3, "random": 12}[sample]


def test_the_control_has_nothing_of_its_own():
    members = draw(5, "lhs", DEFAULT_RANGES, control=True)
    assert members[0] == {} and all(set(member) == set(DEFAULT_RANGES) for member in members[1:])
    assert draw(1, "sobol", DEFAULT_RANGES, control=True) == [{}]
    assert len(draw(1, "sobol", DEFAULT_RANGES)) == 1
    with pytest.raises(InputError, match="lhs, sobol, random"):
        draw(5, "halton", DEFAULT_RANGES)


def test_default_ranges_are_of_the_calibration_multipliers():
    assert set(DEFAULT_RANGES) == set(ZONED)
    for name, given in DEFAULT_RANGES.items():
        low, high = registry.variable(name).valid
        assert low <= given.low < given.high <= high
        assert given.low <= (registry.variable(name).default or 0.0) <= given.high


def test_a_number_or_a_table():
    assert count("20") == 20
    assert count("params.csv") is None
    for text in ("0", "-3", "2000000"):
        with pytest.raises(InputError, match="give 1 to"):
            count(text)
