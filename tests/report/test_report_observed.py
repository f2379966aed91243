"""Observed discharge beside the run: reading, pairing, measures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pages import Page

from wepl.analysis import metrics
from wepl.errors import InputError
from wepl.report import observed as observations
from wepl.report.periods import Steps
from wepl.report.read import Place

DAILY = Steps.from_edges(np.arange(91.0), "days since 2011-01-01", "standard")
HOURLY = Steps.from_edges(np.arange(49.0), "hours since 2011-01-01", "standard")
PLACES = [Place("7", "Upper gauge", 0), Place("8", "", 1)]


def read(folder: Path, text: str, steps: Steps = DAILY) -> observations.Observations:
    path = folder / "q.csv"
    path.write_text(text, encoding="utf-8")
    return observations.read(path, PLACES, steps)


def test_rows_of_the_steps_are_paired_one_to_one(tmp_path):
    found = read(tmp_path, "date,Upper gauge,8\n2010-12-31,1,\n2011-01-01,2.5,1\n2011-01-02,,2\n2011-01-03,4,\n")
    flow = np.arange(90.0)
    np.testing.assert_array_equal(observations.paired(found, 0, flow, DAILY), [[0, 0.0, 2.5], [2, 2.0, 4.0]])
    np.testing.assert_array_equal(observations.paired(found, 1, flow, DAILY), [[0, 0.0, 1.0], [1, 1.0, 2.0]])


def test_daily_observations_beside_hourly_steps(tmp_path):
    found = read(tmp_path, "time,7\n2011/1/1,10\n2011/1/2,20\n2011/1/3,30\n", HOURLY)
    flow = np.concatenate([np.full(24, 1.0), np.arange(24.0)])
    np.testing.assert_allclose(observations.paired(found, 0, flow, HOURLY), [[0, 1.0, 10.0], [24, 11.5, 20.0]])


def test_hourly_observations_beside_daily_steps_need_whole_days(tmp_path):
    rows = [f"2011-01-0{1 + hour // 24}T{hour % 24:02d}:00,{hour}" for hour in range(30)]
    found = read(tmp_path, "\n".join(["time,7", *rows]))
    np.testing.assert_allclose(observations.paired(found, 0, np.arange(90.0), DAILY), [[0, 0.0, 11.5]])


def test_monthly_observations(tmp_path):
    found = read(tmp_path, "month,7\n2011-01,5\n2011-02,6\n2011-03,7\n2011-04,8\n")
    flow = np.concatenate([np.full(31, 1.0), np.full(28, 2.0), np.full(31, 3.0)])
    np.testing.assert_allclose(observations.paired(found, 0, flow, DAILY), [[0, 1, 5], [31, 2, 6], [59, 3, 7]])


def test_other_calendars(tmp_path):
    steps = Steps.from_edges(np.arange(366.0), "days since 2012-01-01", "noleap")
    found = read(tmp_path, "date,7\n2012-02-28,1\n2012-03-01,2\n", steps)
    np.testing.assert_array_equal(observations.paired(found, 0, np.arange(365.0), steps), [[58, 58, 1], [59, 59, 2]])
    with pytest.raises(InputError, match="noleap calendar"):
        read(tmp_path, "date,7\n2012-02-29,1\n", steps)


def test_measures_are_those_of_the_library():
    random = np.random.default_rng(4)
    observed = random.gamma(2.0, 30.0, 90)
    simulated = observed * random.lognormal(0.0, 0.3, 90)
    found = observations.skill(0, np.stack([np.arange(90.0), simulated, observed], axis=1), DAILY)
    expected = metrics.kling_gupta(simulated, observed)
    assert (found.efficiency, found.correlation, found.variability, found.bias) == expected
    assert found.nash_sutcliffe == metrics.nash_sutcliffe(simulated, observed)
    assert found.log_nash_sutcliffe == metrics.log_nash_sutcliffe(simulated, observed, 0.01 * observed.mean())
    assert found.percent_bias == metrics.percent_bias(simulated, observed)
    assert (found.pairs, found.first, found.last) == (90, "2011-01-01", "2011-03-31")


def test_observations_that_do_not_vary_have_no_efficiency():
    pairs = np.stack([np.arange(3.0), [1.0, 2.0, 3.0], [2.0, 2.0, 2.0]], axis=1)
    found = observations.skill(0, pairs, DAILY)
    assert np.isnan(found.efficiency) and found.percent_bias == 0.0


@pytest.mark.parametrize(("text", "match"), [
    ("date\n2011-01-01\n", "1 columns"),
    ("date,7\n", "0 rows"),
    ("date,9\n2011-01-01,1\n", "'9' is no gauge of the result; its gauges are: Upper gauge, 8"),
    ("date,7,Upper gauge\n2011-01-01,1,2\n", "has a column already"),
    ("date,7\n2011-01-01,1\n01.02.2011,2\n", "line 3: '01.02.2011' is no date"),
    ("date,7\n2011-02-30,1\n", "line 2: '2011-02-30' is no date"),
    ("date,7\n2011-01-02,1\n2011-01-01,2\n", "line 3: 2011-01-01 does not follow 2011-01-02"),
    ("date,7\n2011-01-01,high\n", "line 2, column '7': 'high' is not a number"),
    ("date,7\n2011-01-01,-999\n", "a discharge of -999 m3 s-1"),
    ("date,7\n2011-01-01,inf\n", "a discharge of inf"),
])
def test_bad_tables(tmp_path, text, match):
    with pytest.raises(InputError, match=match):
        read(tmp_path, text)


def test_the_page_shows_the_measures(page, result, observed):
    import xarray as xr

    found = Page.read(page)
    with xr.open_dataset(result) as data:
        simulated = data["gauge_discharge"].values[:, 0]
    text = observed.read_text().splitlines()[1:]
    given = np.array([float(line.split(",")[1] or "nan") for line in text])
    row = found.rows("skills")[1]
    there = np.isfinite(given)
    assert row[1] == str(there.sum())
    assert row[2] == f"{metrics.kling_gupta(simulated[there], given[there]).efficiency:.3f}"
    assert row[8] == f"{metrics.percent_bias(simulated, given):+.1f}"
    points = found.matrix(found.index["flow"]["observed"], len(found.index["places"]))
    np.testing.assert_array_equal(points[0], given.astype(np.float32))
    assert np.isnan(points[1:]).all()


def test_observations_outside_the_run_are_refused(result, tmp_path):
    from wepl.report import write_report

    (tmp_path / "old.csv").write_text("date,1\n1990-01-01,5\n1990-01-02,5\n")
    with pytest.raises(InputError, match="no observation lies in the period of the run"):
        write_report(result, tmp_path / "page.html", observed=tmp_path / "old.csv")
    assert not (tmp_path / "page.html").exists()
