"""Observed discharge beside simulated: units, places and times, and what the table says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from small_results import small_result

from wepl.analysis import accessor, metrics  # noqa: F401
from wepl.errors import InputError


@pytest.fixture(scope="module")
def data():
    return small_result()


@pytest.fixture
def flows(data):
    return data.wepl.hydrograph()


def test_the_run_against_itself(data, flows):
    table = data.wepl.compare(flows)
    assert list(table.index) == ["Mouth", "Upper"]
    assert table.loc["Mouth", "kge"] == pytest.approx(1.0) and table.loc["Mouth", "bias_percent"] == 0.0
    assert table.loc["Upper", "pairs"] == 730
    assert table.loc["Upper", "last"] == pd.Timestamp("2002-12-31")


def test_measures_are_those_of_metrics(data, flows):
    observed = flows["Upper"] * 1.3 + 0.2 * np.cos(np.arange(730.0))
    row = data.wepl.compare(observed).loc["Upper"]
    kge = metrics.kling_gupta(flows["Upper"], observed)
    assert (row["kge"], row["r"], row["alpha"], row["beta"]) == pytest.approx(tuple(kge))
    assert row["nse"] == pytest.approx(metrics.nash_sutcliffe(flows["Upper"], observed))
    assert row["bias_percent"] == pytest.approx(metrics.percent_bias(flows["Upper"], observed))
    assert row["log_nse"] == pytest.approx(metrics.log_nash_sutcliffe(flows["Upper"], observed, observed.mean() / 100))


@pytest.mark.parametrize(("unit", "factor"), [("m3/s", 1.0), ("ft3 s-1", 1.0 / 0.3048**3), ("L/s", 1e3),
                                              ("mm d-1", 86400.0 / 4e6 * 1e3)])
def test_units(data, flows, unit, factor):
    """Upper drains 4 km2."""
    observed = flows["Upper"] * factor
    assert data.wepl.compare(observed, units=unit).loc["Upper", "bias_percent"] == pytest.approx(0.0, abs=1e-9)
    observed.attrs["units"] = unit
    assert data.wepl.compare(observed).loc["Upper", "bias_percent"] == pytest.approx(0.0, abs=1e-9)


def test_csv_with_a_unit_in_its_heading(data, flows, tmp_path):
    path = tmp_path / "observed.csv"
    table = (flows["Upper"].loc["2001-03":"2001-04"] * 1e3).rename("Upper (L/s)").to_frame()
    table.iloc[5] = np.nan
    table.to_csv(path, index_label="date")
    row = data.wepl.compare(path).loc["Upper"]
    assert row["pairs"] == 60 and row["nse"] == pytest.approx(1.0)


def test_months_are_compared_with_whole_months(data, flows):
    monthly = flows["Mouth"].resample("ME").mean()  # dated at their ends
    part = small_result().isel(time=slice(10, 100))
    row = part.wepl.compare(monthly).loc["Mouth"]
    assert row["pairs"] == 2 and row["first"] == pd.Timestamp("2001-02-01")
    assert row["bias_percent"] == pytest.approx(0.0, abs=1e-9)


def test_hours_are_averaged_over_the_days_of_the_run(data, flows):
    hours = pd.date_range("2001-05-01T00", "2001-05-10T12", freq="h")
    observed = pd.Series(np.tile([0.0, 2.0], 115)[:len(hours)], index=hours, name="Upper")
    both = data.wepl.compare(observed).loc["Upper"]
    assert both["pairs"] == 9
    assert both["beta"] != both["beta"]  # NaN: the days do not vary
    assert both["bias_percent"] == pytest.approx(100.0 * (flows["Upper"].loc["2001-05-01":"2001-05-09"].mean() - 1.0))


def test_zones_are_turned_to_utc(data, flows):
    local = flows["Upper"].copy()
    local.index = local.index.tz_localize("UTC").tz_convert("Asia/Shanghai")
    assert data.wepl.compare(local).loc["Upper", "pairs"] == 730


def test_another_name_than_the_gauge(data, flows):
    series = flows["Upper"].rename("flow")
    assert list(data.wepl.compare(series, gauge=10).index) == ["sub-basin 10"]
    with pytest.raises(InputError, match="no gauge 'flow'"):
        data.wepl.compare(series)


def spoiled(flows, kind):
    if kind == "unit":
        return {"given": flows["Upper"], "units": "kg"}
    if kind == "text":
        return {"given": flows["Upper"].astype(object).replace(flows["Upper"].iloc[3], "much")}
    if kind == "twice":
        return {"given": pd.concat([flows["Upper"], flows["Upper"]])}
    if kind == "dates":
        return {"given": pd.Series([1.0, 2.0], index=["first", "second"], name="Upper")}
    if kind == "elsewhere":
        moved = flows["Upper"].copy()
        moved.index = moved.index + pd.DateOffset(years=20)
        return {"given": moved}
    return {"given": flows, "gauge": "Upper"}


@pytest.mark.parametrize(("kind", "words"), [
    ("unit", "observed Upper"), ("text", "observed Upper"), ("twice", "a time twice"), ("dates", "cannot be read"),
    ("elsewhere", "no observation of Upper lies in the run, 2001-01-01 to 2002-12-31"),
    ("columns", "2 columns"),
])
def test_refused(data, flows, kind, words):
    with pytest.raises(InputError, match=words):
        data.wepl.compare(**spoiled(flows, kind))


def test_missing_file(data, tmp_path):
    with pytest.raises(InputError, match="cannot be read as a table"):
        data.wepl.compare(tmp_path / "none.csv")
