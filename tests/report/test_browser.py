"""The page in a real browser: headless Chromium, driven by Playwright.

Skipped where either is absent: ``pip install playwright`` and a Chromium on the path, or WEPL_CHROMIUM with its place.
WEPL_AXE with the place of ``axe.min.js`` (npm package axe-core) adds the check of accessibility.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from wepl.report import write_report

CHROMIUM = os.environ.get("WEPL_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
READY = "html[data-ready=yes]"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright here: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("no Chromium on the path; WEPL_CHROMIUM may name one")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def tab(browser: Any, page: Path) -> Iterator[Any]:
    """The page opened; fails when the console holds an error or the network is asked."""
    with opened(browser, page) as shown:
        yield shown


class opened:
    """A tab with a page, closed in the end; asserts that nothing went wrong inside."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.tab = browser.new_page(**{"viewport": {"width": 1200, "height": 900}, **options})
        self.faults: list[str] = []
        self.tab.on("console", lambda message: self.faults.append(message.text)
                    if message.type in ("error", "warning") else None)
        self.tab.on("pageerror", lambda error: self.faults.append(str(error)))
        self.tab.on("request", lambda request: self.faults.append(request.url)
                    if not request.url.startswith(("file:", "blob:", "data:")) else None)
        self.path = path

    def __enter__(self) -> Any:
        self.tab.goto(self.path.as_uri())
        self.tab.wait_for_selector(READY, state="attached", timeout=60_000)
        return self.tab

    def __exit__(self, *reason: object) -> None:
        self.tab.close()
        if reason[0] is None:
            assert self.faults == []


def windows(tab: Any) -> list[list[float]]:
    return tab.evaluate("[...wepl.charts].filter((item) => item.options.linked)"
                        ".map(({uplot}) => [uplot.scales.x.min, uplot.scales.x.max])")


def plot_of(tab: Any, number: int = 0) -> Any:
    return tab.locator("#flowcharts .plot").nth(number)


def colour_at_middle(tab: Any) -> str:
    return tab.evaluate("getComputedStyle(document.body).backgroundColor")


def test_dragging_zooms_all_charts_and_a_double_click_goes_back(tab):
    before = windows(tab)
    assert len(before) == 7 and before[0] == [0, 365]
    box = plot_of(tab).locator(".u-over").bounding_box()
    tab.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 50)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=5)
    tab.mouse.up()
    tab.wait_for_timeout(200)
    after = windows(tab)
    assert all(140 < low < 150 and 215 < high < 225 for low, high in after)
    assert "2010-05-2" in tab.locator("#window").inner_text()
    plot_of(tab, 1).locator(".u-over").dblclick()
    tab.wait_for_timeout(200)
    assert windows(tab) == before


def test_hovering_reads_dates_and_values(tab, result):
    with xr.open_dataset(result) as data:
        flow = data["gauge_discharge"].values[:, 0]
    plot_of(tab).scroll_into_view_if_needed()
    box = plot_of(tab).locator(".u-over").bounding_box()
    tab.mouse.move(box["x"] + box["width"] * (100.5 / 365), box["y"] + 40)
    text = tab.locator("#flowcharts .readout").nth(0).inner_text()
    assert text.startswith("2010-04-11") and "rain" in text and "observed" in text
    shown = float(text.split("simulated ")[1].split(" ")[0].replace(",", ""))
    assert shown == pytest.approx(float(flow[100]), rel=1e-3)
    assert tab.locator("#flowcharts .readout").nth(3).inner_text().startswith("2010-04-11")


def test_charts_answer_keys(tab):
    plot_of(tab).focus()
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight"):
        tab.keyboard.press(key)
        tab.wait_for_timeout(50)
    assert tab.locator("#live").inner_text().startswith("2010-01-13: simulated")
    tab.keyboard.press("+")
    tab.wait_for_timeout(100)
    low, high = windows(tab)[2]
    assert high - low == pytest.approx(182.5, rel=0.01)
    tab.keyboard.press("0")
    tab.wait_for_timeout(100)
    assert windows(tab)[2] == [0, 365]


def test_a_click_on_the_map_shows_the_series_clicked(tab, result):
    with xr.open_dataset(result) as data:
        identifiers, flow = data["subbasin"].values, data["discharge"].values
    canvas = tab.locator("#map")
    canvas.scroll_into_view_if_needed()
    place = len(identifiers) - 2
    x, y = tab.evaluate("(place) => { const v = wepl.mapView(); return "
                        "[wepl.map.cx[place] * v.sx + v.ox, wepl.map.cy[place] * v.sy + v.oy]; }", place)
    box = canvas.bounding_box()
    tab.mouse.move(box["x"] + x, box["y"] + y)
    tab.wait_for_timeout(100)
    assert f"Sub-basin {identifiers[place]}:" in tab.locator("#maphint").inner_text()
    tab.mouse.click(box["x"] + x, box["y"] + y)
    tab.wait_for_selector("#detailcharts .uplot")
    assert tab.locator("#detailname").inner_text() == f"Sub-basin {identifiers[place]}"
    values = tab.evaluate("async (place) => Array.from(await wepl.series(wepl.index.variables.find((v) => v.key === "
                          "'discharge'), place))", place)
    np.testing.assert_allclose(values, flow[:, place], rtol=5e-4, atol=1e-8 * flow.max())
    tab.select_option("#place", f"s{place}")
    tab.wait_for_timeout(200)
    assert f"Sub-basin {identifiers[place]}" in tab.locator("#regime .name").inner_text()


def test_the_map_answers_keys_and_numbers(tab, result):
    with xr.open_dataset(result) as data:
        identifiers, below = data["subbasin"].values, data["downstream"].values
    tab.fill("#number", str(identifiers[0]))
    tab.press("#number", "Enter")
    tab.wait_for_selector("#detailcharts .uplot")
    tab.focus("#map")
    tab.keyboard.press("d")
    tab.wait_for_timeout(300)
    assert tab.locator("#detailname").inner_text() == f"Sub-basin {below[0]}"
    seen = set()
    for key in ("ArrowUp", "ArrowLeft", "ArrowRight", "ArrowDown"):
        tab.keyboard.press(key)
        tab.wait_for_timeout(200)
        seen.add(tab.locator("#detailname").inner_text())
    assert len(seen) > 1
    tab.fill("#number", "123456")
    tab.press("#number", "Enter")
    assert "no sub-basin 123456" in tab.locator("#live").inner_text()


def test_variable_and_year_colour_the_map(tab):
    picture = "document.getElementById('map').toDataURL()"
    first = tab.evaluate(picture)
    tab.select_option("#variable", label="evapotranspiration (mm)")
    tab.wait_for_function("document.querySelector('#scale .label').textContent.startsWith('evapotranspiration')")
    assert "mm per year" in tab.locator("#scale .label").inner_text()
    assert tab.evaluate(picture) != first
    tab.locator("#maptable summary").click()
    tab.wait_for_selector("#maptable td button, #maptable th button")
    assert tab.locator("#maptable tbody tr").count() == tab.evaluate("wepl.map.count")


def test_every_chart_has_a_table(tab):
    for name, rows in (("flowtable", 12), ("regimetable", 12), ("durationtable", 13)):
        tab.locator(f"#{name} summary").click()
        tab.wait_for_selector(f"#{name} tbody tr")
        assert tab.locator(f"#{name} tbody tr").count() == rows
    with tab.expect_download() as told:
        tab.click("#saveflows")
    text = Path(told.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert len(text) == 366 and text[1].startswith("2010-01-01,")


def test_logarithmic_flow(tab):
    tab.check("#log")
    tab.wait_for_timeout(300)
    assert tab.evaluate("[...wepl.charts].find((item) => item.options.linked).uplot.scales.y.distr") == 3


def test_light_dark_and_print(tab):
    assert colour_at_middle(tab) == "rgb(255, 255, 255)"
    tab.select_option("#theme", "dark")
    assert colour_at_middle(tab) == "rgb(16, 21, 26)"
    assert len(tab.pdf()) > 50_000
    tab.emulate_media(media="print")
    assert colour_at_middle(tab) == "rgb(255, 255, 255)"
    assert not tab.locator("#zoomin").is_visible()
    tab.emulate_media(media="screen", color_scheme="dark")
    tab.select_option("#theme", "auto")
    assert colour_at_middle(tab) == "rgb(16, 21, 26)"


def test_the_skip_link_comes_first(tab):
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"


def test_a_narrow_screen_does_not_scroll_sideways(browser, page):
    with opened(browser, page, viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True) as tab:
        tab.evaluate("wepl.choose(0)")
        tab.wait_for_timeout(300)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_result_with_discharge_only_in_chinese(browser, bare_result, tmp_path):
    path = write_report(bare_result, tmp_path / "zh.html", language="zh")
    with opened(browser, path) as tab:
        tab.evaluate("wepl.choose(1)")
        tab.wait_for_selector("#detailcharts .uplot")
        assert tab.locator("#detailname").inner_text().startswith("子流域")


@pytest.mark.skipif("WEPL_AXE" not in os.environ, reason="WEPL_AXE does not name axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(browser, page, scheme):
    # The page's own policy keeps foreign scripts out; the check is one.
    with opened(browser, page, color_scheme=scheme, bypass_csp=True) as tab:
        tab.evaluate("async () => { await wepl.choose(0); document.querySelectorAll('details').forEach((box) => "
                     "{ box.open = true; }); }")
        tab.wait_for_timeout(500)
        tab.add_script_tag(path=os.environ["WEPL_AXE"])
        found = tab.evaluate("async () => (await axe.run()).violations.map((v) => [v.impact, v.id, v.nodes.length, "
                             "v.nodes[0].html.slice(0, 200)])")
        assert [item for item in found if item[0] in ("serious", "critical")] == []
