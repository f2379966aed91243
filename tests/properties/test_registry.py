"""The registry: names, units, defaults, rows and budgets fit together, and the pages made from it are up to date."""

from __future__ import annotations

import math
import re

import cf_units
import pytest

from wepl import registry, rows
from wepl.registry import document
from wepl.units import convert

TABLE = registry.TABLE
# UDUNITS has no fractional powers: Manning's roughness and what is made of it.
FRACTIONAL = re.compile(r"\d/\d")
DIMS = {"subbasin", "unit", "tile", "cell", "gauge", "land_class", "soil_layer", "vegetation", "month", "river_cell",
        "time"}


def by_name(entry):
    return entry.name


def test_names_are_unique_words():
    names = [entry.name for entry in TABLE]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name)] == []
    assert registry.names() == names


@pytest.mark.parametrize("entry", TABLE, ids=by_name)
def test_units_parse_and_convert(entry):
    """cf-units (UDUNITS) reads both units, and one converts to the other and back."""
    if FRACTIONAL.search(entry.units):
        assert entry.file_units == entry.units
    else:
        for text in (entry.units, entry.file_units):
            unit = cf_units.Unit(text)
            assert not unit.is_unknown() and not unit.is_no_unit()
    there = convert([0.0, 1.0, 273.0], entry.units, entry.file_units)
    back = convert(there, entry.file_units, entry.units)
    assert back == pytest.approx([0.0, 1.0, 273.0], rel=1e-14, abs=1e-13)  # two roundings of each value


@pytest.mark.parametrize("entry", TABLE, ids=by_name)
def test_an_entry_is_whole(entry):
    assert entry.long_name and entry.long_name[0] != " " and not entry.long_name.endswith(".")
    assert set(entry.dims) <= DIMS
    low, high = entry.valid
    assert low < high
    if entry.default is not None:
        assert low <= entry.default <= high
        assert not entry.optional
    if entry.integer and entry.default is not None:
        assert entry.default == int(entry.default)
    if entry.choices:
        assert entry.integer and entry.valid == (0, len(entry.choices) - 1)
    if entry.kind in ("state", "flux"):
        assert entry.restart and entry.array and len(entry.dims) <= 2
    if entry.kind in ("state", "option", "parameter", "forcing"):
        assert math.isfinite(low) and math.isfinite(high)
    if entry.kind == "option":
        assert entry.default is not None and entry.dims == ()


def test_rows_are_numbered_from_zero_without_gaps():
    for array in registry.array_names():
        layout = registry.layout(array)
        assert [registry.row(entry.name) for entry in layout] == list(range(len(layout)))
        assert rows.N_ROWS[array] == len(layout)
        for number, entry in enumerate(layout):
            assert getattr(rows, entry.name.upper()) == number


@pytest.mark.parametrize("balance", registry.BALANCES, ids=lambda balance: balance.process)
def test_budgets_name_fluxes_and_states(balance):
    place = {"tile": {"tile"}, "unit": {"unit", "tile"}, "subbasin": {"subbasin", "unit", "river_cell"}}[balance.place]
    for name in balance.inflow + balance.outflow:
        assert registry.variable(name).kind == "flux"
        assert registry.variable(name).dims == (balance.place,)
    for name in balance.storage:
        assert registry.variable(name).kind == "state"
        assert registry.variable(name).dims[-1] in place


def test_every_store_of_water_is_in_a_budget():
    """A state in m or m3 holds water, unless it only remembers an event."""
    stores = {entry.name for entry in registry.of_kind("state") if entry.units in ("m", "m3")} - {"event_infiltration"}
    assert stores == {name for balance in registry.BALANCES for name in balance.storage}


def test_every_row_of_every_array_is_documented():
    page = document.registry_page()
    for array in registry.array_names():
        section = page.split(f"### {array}\n")[1].split("\n## ")[0].split("\n### ")[0]
        assert section.count("\n| ") == len(registry.layout(array)) + 2
        for number, entry in enumerate(registry.layout(array)):
            assert f"| {number} | `{entry.name}` | {entry.units} | {entry.long_name} |" in section


def test_every_input_is_documented_once():
    page = document.basin_file_page()
    for kind in ("topology", "parameter", "forcing"):
        for entry in registry.of_kind(kind):
            assert page.count(f"| `{entry.name}` | ") == 1 + (entry.name in DIMS), entry.name


def test_pages_are_up_to_date(capsys):
    assert document.outdated() == [], "run python -m wepl.registry.document"
    assert document.main(["--check"]) == 0


def test_pages_are_checked_and_written(tmp_path, capsys):
    assert document.main(["--check", "--docs", str(tmp_path)]) == 1
    assert "registry.md, basin-file.md" in capsys.readouterr().err
    assert document.main(["--docs", str(tmp_path)]) == 0
    assert document.main(["--check", "--docs", str(tmp_path)]) == 0
    (tmp_path / "registry.md").write_text("old")
    assert document.main(["--check", "--docs", str(tmp_path)]) == 1
    assert document.main(["--docs", str(tmp_path / "nowhere")]) == 2


def test_values_are_shown_in_the_unit_of_files():
    page = document.registry_page()
    row = next(line for line in page.splitlines() if line.startswith("| `recharge_delay` "))
    assert "| d | s | 10 |" in row
    row = next(line for line in page.splitlines() if line.startswith("| `infiltration_switch` "))
    assert "| automatic | daily_depth, rate, always, never, automatic |" in row
