"""The page of a result: it stands alone, says what the result says, and refuses what it cannot show."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from pages import Page
from typer.testing import CliRunner

import wepl.report.page as page_module
from wepl.cli import app
from wepl.errors import InputError
from wepl.language import LANGUAGES, table, translate
from wepl.report import LIMIT, write_report
from wepl.run import outputs


@pytest.fixture(scope="module")
def parsed(page: Path) -> Page:
    return Page.read(page)


@pytest.fixture(scope="module")
def data(result: Path) -> xr.Dataset:
    with xr.open_dataset(result) as opened:
        return opened.load()


def edited(result: Path, folder: Path, **changes: object) -> Path:
    """A copy of a result with other texts: attributes, or ``gauge_name``."""
    copy = folder / "edited.nc"
    shutil.copy(result, copy)
    with netCDF4.Dataset(copy, "a") as file:
        for name, value in changes.items():
            if name == "gauge_name":
                file["gauge_name"][0] = value
            else:
                file.setncattr(name, value)
    return copy


def test_the_page_is_sound_html(parsed):
    assert parsed.faults == []
    names = [element.get("id") for element in parsed.root.iter() if element.get("id")]
    assert len(names) == len(set(names))
    assert parsed.root.get("lang") == "en"


def test_the_page_needs_nothing_from_elsewhere(parsed):
    policy = next(meta.get("content") for meta in parsed.all("meta")
                  if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'") and "http" not in policy
    for element in parsed.root.iter():
        assert element.get("src") is None
        assert (element.get("href") or "#").startswith("#")
    assert parsed.all("link") == [] and "@import" not in parsed.text and "url(" not in parsed.text
    own = [script.text or "" for script in parsed.all("script") if "wepl" in (script.text or "")[:3000]]
    assert not any(word in text for text in own for word in ("fetch(", "XMLHttpRequest", "eval(", "localStorage"))


def test_every_control_has_a_name(parsed):
    labelled = {label.get("for") for label in parsed.all("label")}
    inside = {id(child) for label in parsed.all("label") for child in label.iter()}
    for tag in ("input", "select"):
        for control in parsed.all(tag):
            assert control.get("id") in labelled or id(control) in inside
    assert all("".join(button.itertext()).strip() for button in parsed.all("button"))
    targets = {element.get("id") for element in parsed.root.iter()}
    assert {link.get("href", "")[1:] for link in parsed.all("a")} <= targets


def test_discharge_of_gauges_is_that_of_the_result(parsed, data):
    index = parsed.index
    found = parsed.matrix(index["flow"]["simulated"], len(index["places"]))
    np.testing.assert_array_equal(found, data["gauge_discharge"].values.T.astype(np.float32))
    assert [place["name"] for place in index["places"]] == list(data["gauge_name"].values)
    dates = parsed.array(index["levels"]["step"]["date"])
    assert list(dates) == [int(str(moment)[:10].replace("-", "")) for moment in data["time"].values]


def test_series_of_sub_basins_are_those_of_the_result(parsed, data):
    np.testing.assert_allclose(parsed.series("discharge"), data["discharge"].values.T, rtol=5e-4,
                               atol=1e-9 * float(data["discharge"].max()))
    weight = data["unit_area"].values
    cases = {name: data[name] for name in ("evapotranspiration", "precipitation_depth")}
    for key, values in {**cases, "soil_moisture.2": data["soil_moisture"][:, 1]}.items():
        for place, identifier in enumerate(data["subbasin"].values):
            inside = data["unit_subbasin"].values == identifier
            part = np.ma.masked_invalid(values.values[:, inside])
            expected = np.ma.average(part, axis=1, weights=weight[inside]).filled(np.nan)
            np.testing.assert_allclose(parsed.series(key)[place], expected, rtol=1e-3, atol=2e-4 * np.nanmax(expected))


def test_values_by_year(parsed, data):
    count, index = data.sizes["subbasin"], parsed.index
    years = parsed.matrix(parsed.variable("discharge")["yearly"], 1 + len(index["years"]["names"]))
    whole = data["discharge"].sel(time="2010").mean("time").values
    assert index["years"]["names"][0] == 2010 and index["years"]["complete"][0]
    np.testing.assert_allclose(years[1], whole, rtol=1e-6)
    np.testing.assert_allclose(years[0], whole, rtol=1e-6)
    assert years.shape[1] == count
    rain = parsed.matrix(parsed.variable("precipitation_depth")["yearly"], len(years))
    area = parsed.array(index["subbasins"]["area"])
    units = data["precipitation_depth"].sel(time="2010").sum("time").values
    expected = np.average(units, weights=data["unit_area"].values)
    assert np.average(rain[1], weights=area) == pytest.approx(expected, rel=1e-6)


def test_runoff_of_sub_basins_adds_up_to_the_outflow(parsed, data):
    area = parsed.array(parsed.index["subbasins"]["area"])
    depth = parsed.matrix(parsed.variable("local_runoff")["yearly"], 1 + len(parsed.index["years"]["names"]))[1]
    outflow = data["discharge"].sel(time="2010").values[:, data["downstream"].values < 0].sum() * 86400.0
    assert (depth * area).sum() * 1e3 == pytest.approx(outflow, rel=1e-5)


def test_rain_of_a_gauge_is_the_mean_over_what_drains_to_it(parsed, data):
    below = {int(a): int(b) for a, b in zip(data["subbasin"].values, data["downstream"].values, strict=True)}
    gauge = int(data["gauge_subbasin"].values[0])

    def drains(place: int) -> bool:
        while place != -1 and place != gauge:
            place = below[place]
        return place == gauge

    inside = np.array([drains(int(place)) for place in data["unit_subbasin"].values])
    weights = data["unit_area"].values[inside]
    expected = np.average(data["precipitation_depth"].values[:, inside], axis=1, weights=weights)
    found = parsed.matrix(parsed.index["flow"]["rain"], len(parsed.index["places"]))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_balance_is_that_of_the_result(parsed, data):
    rows = parsed.rows("terms")
    assert len(rows) == 1 + data["balance_term"].size
    rain = float(data["balance_depth"].values[0])
    assert rows[1][:2] == ["precipitation", f"{rain:,.1f}"] and rows[1][3] == "100.00"
    made = dict(row[:2] for row in parsed.rows("made"))
    assert made["hash of basin and options (SHA-256)"] == data.attrs["basin_hash"]
    assert "--variables precipitation_depth,evapotranspiration" in made["command that makes it again"]


def test_the_same_result_gives_the_same_page(page, result, observed, tmp_path):
    assert write_report(result, tmp_path / "again.html", observed=observed).read_bytes() == page.read_bytes()


def test_a_result_with_discharge_only(bare_result, tmp_path):
    found = Page.read(write_report(bare_result, tmp_path / "bare.html"))
    assert found.faults == [] and "rain" not in found.index["flow"] and "observed" not in found.index["flow"]
    notes = " ".join("".join(note.itertext()) for note in found.all("p") if note.get("class") == "note")
    assert "--variables precipitation_depth" in notes and "--observed" in notes and "transpiration" in notes
    assert [entry["key"] for entry in found.index["variables"]] == ["local_runoff", "discharge"]


def test_rain_from_the_basin_file(bare_result, result, daily_basin, tmp_path):
    found = Page.read(write_report(bare_result, tmp_path / "rain.html", basin=daily_basin))
    with xr.open_dataset(result) as data:
        depth = data["precipitation_depth"].isel(time=slice(0, 120)).sum("time")
        expected = float((depth * data["unit_area"]).sum() / data["unit_area"].sum())
    area = found.array(found.index["subbasins"]["area"])
    total = found.matrix(found.variable("precipitation_depth")["yearly"], 2)[1]
    assert np.average(total, weights=area) == pytest.approx(expected, rel=1e-5)


def test_chinese(bare_result, tmp_path):
    found = Page.read(write_report(bare_result, tmp_path / "zh.html", language="zh"))
    text = "".join(found.by_id("main").itertext())
    assert found.root.get("lang") == "zh-CN" and "流量过程线" in text and "水量平衡" in text and "子流域" in text
    assert found.variable("local_runoff")["name"] == "子流域产流"


def test_every_text_stands_in_every_language():
    assert all(table("en")[key].strip() or key == "page.log_scale" for key in table("en"))
    for key, text in table("en").items():
        fields = set(re.findall(r"\{(\w+)\}", text))
        for language in LANGUAGES:
            assert set(re.findall(r"\{(\w+)\}", table(language)[key])) == fields, key
    assert {f"variable.{name}" for name in outputs.choices()} <= set(table("zh"))


def test_every_key_of_the_scripts_is_in_the_table():
    scripts = "".join(page_module.asset(name) for name in page_module._SCRIPTS)
    used = {f"page.{key}" for key in re.findall(r'wepl\.text\("(\w+)"', scripts)}
    assert used and used <= set(table("en"))


def test_unknown_language():
    with pytest.raises(InputError, match="en or zh"):
        translate("report.title", "fr")


def test_names_cannot_break_out(result, tmp_path):
    bad = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&amp;"
    found = Page.read(write_report(edited(result, tmp_path, gauge_name=bad, title=bad, history=bad),
                                   tmp_path / "bad.html"))
    assert found.faults == [] and found.all("img") == []
    assert found.index["places"][0]["name"] == bad
    assert "alert(1)" in "".join(found.all("h1")[0].itertext())
    assert not any((script.text or "").startswith("alert") for script in found.all("script"))


def leave_room(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Let packed numbers take ``size`` characters."""
    names = (*page_module._SCRIPTS, page_module._LIBRARY, "report.css")
    fixed = sum(len(page_module.asset(name)) for name in names) + page_module._TABLES
    monkeypatch.setattr(page_module, "LIMIT", fixed + size)


def packed(found: Page) -> int:
    return sum(len(script.text or "") for script in found.all("script") if (script.get("id") or "").startswith("b"))


def test_a_small_room_makes_longer_periods(result, page, tmp_path, monkeypatch):
    whole = Page.read(page)
    assert {entry["level"] for entry in whole.index["variables"][1:]} == {"step"}
    leave_room(monkeypatch, packed(whole) // 2)
    found = Page.read(write_report(result, tmp_path / "small.html"))
    assert packed(found) <= packed(whole) // 2
    assert {entry["level"] for entry in found.index["variables"]} & {"dekad", "month"} - {"step"}
    assert found.variable("transpiration")["level"] in ("dekad", "month")
    assert len(found.array(found.index["levels"]["month"]["date"])) in (12, 13)


def test_no_room_is_refused(result, tmp_path, monkeypatch):
    leave_room(monkeypatch, 3_000)
    with pytest.raises(InputError, match="too large for one page"):
        write_report(result, tmp_path / "none.html")
    assert list(tmp_path.iterdir()) == []


def test_the_limit_leaves_a_page_below_25_megabytes():
    assert LIMIT + 500_000 < 25_000_000


@pytest.mark.parametrize(("make", "match"), [
    (lambda folder, result, basin: (folder / "absent.nc", {}), "not there"),
    (lambda folder, result, basin: (basin, {}), "a basin file"),
    (lambda folder, result, basin: (folder, {}), "a folder"),
    (lambda folder, result, basin: (result, {"basin": folder / "absent.nc"}), "absent.nc"),
    (lambda folder, result, basin: (result, {"observed": folder / "absent.csv"}), "cannot be read as a table"),
])
def test_bad_input_leaves_nothing(result, daily_basin, tmp_path, make, match):
    given, options = make(tmp_path, result, daily_basin)
    with pytest.raises(InputError, match=match):
        write_report(given, tmp_path / "page.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_another_basin_is_refused(result, sample_path, tmp_path):
    with pytest.raises(InputError, match="is not the basin of"):
        write_report(result, tmp_path / "page.html", basin=sample_path)


def test_other_files_are_not_replaced(result, tmp_path):
    precious = tmp_path / "notes.txt"
    precious.write_text("mine")
    with pytest.raises(InputError, match="is no HTML page"):
        write_report(result, precious)
    assert precious.read_text() == "mine"
    with pytest.raises(InputError, match="does not exist"):
        write_report(result, tmp_path / "absent" / "page.html")


def test_the_command(result, tmp_path):
    told = CliRunner().invoke(app, ["report", str(result), "-o", str(tmp_path / "a.html"), "--lang", "zh"])
    assert told.exit_code == 0 and "报告：" in told.output and (tmp_path / "a.html").is_file()
    refused = CliRunner().invoke(app, ["report", str(result), "-o", str(tmp_path / "b.html"), "--lang", "xx"])
    assert refused.exit_code == 2 and not (tmp_path / "b.html").exists()
