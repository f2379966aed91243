"""Observed and simulated values in bins: gaps, clocks, steps of other lengths, months, flood peaks."""

from __future__ import annotations

import numpy as np
import pytest

from wepl.calibrate.observed import DAY, Record
from wepl.calibrate.targets import step_seconds, target
from wepl.errors import InputError
from wepl.run.clock import Clock

HOUR = 3600


def seconds(text: str) -> int:
    return int(np.datetime64(text, "s").astype(np.int64))


def record(start: str, values: np.ndarray, step: int = DAY, offset: int = 0) -> Record:
    times = seconds(start) + step * np.arange(len(values))
    return Record("G", times, np.asarray(values, dtype=float), step, offset, "table.csv (G)")


def make(observed: Record, clock: Clock, aggregation: str, first: int = 0, **more):
    times = step_seconds(clock)
    step = int(clock.step_seconds)
    return target(observed, 0, 1.0, times, step, (int(times[0]) - DAY, int(times[-1]) + step + DAY), first, aggregation,
                  **more)


def test_gap_is_left_out_of_both():
    """The month's mean of the simulation is that of the days with an observation."""
    clock = Clock("2010-01-01", DAY, 59)
    values = np.arange(59.0)
    values[10:20] = np.nan
    found = make(record("2010-01-01", values), clock, "monthly")
    assert found.of(np.arange(59.0)) == pytest.approx(found.observed)
    assert found.counts.tolist() == [21, 28]


def test_month_with_few_days_is_left_out():
    clock = Clock("2010-01-01", DAY, 120)
    values = np.arange(120.0)
    values[31:50] = np.nan
    found = make(record("2010-01-01", values), clock, "monthly")
    assert found.times.astype("datetime64[s]").astype("datetime64[M]").astype(str).tolist() == [
        "2010-01", "2010-03", "2010-04"]


def test_days_of_another_clock():
    """Hourly steps of UTC and days of a clock 8 h behind: a day begins at 8 h UTC."""
    clock = Clock("2010-01-01T00:00", HOUR, 72)
    found = make(record("2010-01-01", np.array([1.0, 2.0]), offset=-8 * HOUR), clock, "daily")
    assert found.steps.tolist() == list(range(8, 56)) and found.starts.tolist() == [0, 24]
    simulated = np.arange(72.0)
    assert found.of(simulated).tolist() == [simulated[8:32].mean(), simulated[32:56].mean()]


def test_steps_count_from_the_first_of_the_run():
    clock = Clock("2010-01-01", DAY, 10)
    found = make(record("2010-01-01", np.arange(10.0)), clock, "step", first=4)
    assert found.steps.tolist() == [0, 1, 2, 3, 4, 5] and found.observed.tolist() == [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]


def test_finer_record_becomes_the_models_steps():
    """A day with less than half of its hours has no value."""
    clock = Clock("2010-01-01", DAY, 4)
    values = np.repeat([1.0, 2.0, 3.0, 4.0], 24)
    values[24:40] = np.nan
    found = make(record("2010-01-01T00:00", values, HOUR), clock, "step")
    assert found.observed.tolist() == [1.0, 3.0, 4.0] and found.steps.tolist() == [0, 2, 3]


def test_monthly_record():
    clock = Clock("2010-01-01", DAY, 90)
    months = Record("G", np.array([seconds("2010-01-01"), seconds("2010-02-01"), seconds("2010-03-01")]),
                    np.array([5.0, 6.0, 7.0]), 31 * DAY, 0, "table.csv (G)")
    found = make(months, clock, "monthly")
    assert found.counts.tolist() == [31, 28, 31] and found.observed.tolist() == [5.0, 6.0, 7.0]


def test_calendar_without_leap_days():
    clock = Clock("2012-02-27", DAY, 4, "noleap")
    found = make(record("2012-02-27", np.array([1.0, 2.0, 99.0, 3.0, 4.0])), clock, "step")
    assert found.observed.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_peaks_are_apart():
    clock = Clock("2010-01-01", DAY, 30)
    values = np.ones(30)
    values[[5, 6, 20]] = [9.0, 8.0, 7.0]
    found = make(record("2010-01-01", values), clock, "daily", peaks=2, peak_days=3.0)
    assert [(peak.height, peak.first, peak.last) for peak in found.peaks] == [(9.0, 2, 9), (7.0, 17, 24)]


@pytest.mark.parametrize("values, aggregation, step, message", [
    (np.full(10, np.nan), "step", DAY, "no observation of G lies in the period"),
    (np.full(10, 3.0), "step", DAY, "does not vary"),
    (np.arange(10.0), "monthly", DAY, "0 values of G are left"),
    (np.arange(5.0), "daily", 2 * DAY, "longer than a day"),
])
def test_what_cannot_be_compared(values, aggregation, step, message):
    with pytest.raises(InputError, match=message):
        make(record("2010-01-01", values, step), Clock("2010-01-01", DAY, 10), aggregation)
