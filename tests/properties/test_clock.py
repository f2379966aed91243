"""The clock: steps named by their start, the inverse of that, and the interpolation between months."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wepl.errors import InputError
from wepl.run.clock import Clock

CALENDARS = ("standard", "noleap")
STEPS = (3600.0, 7200.0, 10800.0, 21600.0, 43200.0, 86400.0)

clocks = st.builds(
    lambda date, hour, step, n, calendar: Clock(
        f"{date.year:04d}-{date.month:02d}-{min(date.day, 28):02d}T{hour:02d}:00", step, n, calendar),
    st.dates(datetime.date(1600, 1, 1), datetime.date(2400, 1, 1)), st.integers(0, 23), st.sampled_from(STEPS),
    st.integers(1, 20000), st.sampled_from(CALENDARS))


@given(clock=clocks, data=st.data())
def test_index_is_the_inverse_of_label(clock, data):
    step = data.draw(st.integers(0, clock.n_steps - 1))
    label = clock.label(step)
    assert clock.index(label) == clock.index(label, end=True) == step
    assert ("T" in label) == (clock.step_seconds < 86400.0 or clock.start.hour > 0)


@given(clock=clocks, data=st.data())
def test_a_day_is_its_first_and_last_step(clock, data):
    """A whole day, as start and as end of a period, holds the steps that start in it and are there."""
    step = data.draw(st.integers(0, clock.n_steps - 1))
    day = str(clock.moment(step).strftime("%Y-%m-%d"))
    starting = [number for number in range(max(0, step - 25), min(clock.n_steps, step + 25))
                if str(clock.moment(number).strftime("%Y-%m-%d")) == day]
    assert clock.index(day) == starting[0]
    assert clock.index(day, end=True) == starting[-1]


@given(clock=clocks, data=st.data(), seconds=st.integers(0, 3599))
def test_a_moment_is_in_the_step_that_holds_it(clock, data, seconds):
    step = data.draw(st.integers(0, clock.n_steps - 1))
    moment = clock.moment(step) + datetime.timedelta(seconds=seconds)
    assert clock.index(moment.strftime("%Y-%m-%dT%H:%M:%S")) == step


@given(clock=clocks)
def test_outside_is_refused(clock):
    before = clock.start - datetime.timedelta(days=1)
    after = clock.moment(clock.n_steps) + datetime.timedelta(days=1)
    for moment in (before, after):
        for end in (False, True):
            with pytest.raises(InputError, match="lies outside the forcing, which goes from"):
                clock.index(moment.strftime("%Y-%m-%d"), end)


@pytest.mark.parametrize("text, message", [
    ("2011-02-29", "not a date of the noleap calendar"), ("2012-02-29", "not a date of the noleap calendar"),
    ("2012-13-01", "not a date of the noleap"), ("2012-04-31", "not a date of the noleap"),
    ("2012-04-01T25:00", "not a date of the noleap"), ("2012-04-01T12:77", "not a date of the noleap"),
    ("0000-01-01", "not a date of the noleap|lies outside"), ("spring", "is not a date: write 2010-07-31"),
    ("", "is not a date"), ("2012", "is not a date"), ("2012-04-01T", "is not a date"), ("01.04.2012", "is not a date"),
    ("2012-04-01T06:00+01:00", "is not a date"), ("２０１２-04-01", "is not a date|lies outside"),
])
def test_what_is_no_date(text, message):
    with pytest.raises(InputError, match=message):
        Clock("2010-01-01", 86400, 365, "noleap").index(text)


def test_leap_years():
    standard, noleap = (Clock("2012-02-27", 86400, 366, calendar) for calendar in CALENDARS)
    assert [standard.label(step) for step in (1, 2, 3)] == ["2012-02-28", "2012-02-29", "2012-03-01"]
    assert [noleap.label(step) for step in (1, 2)] == ["2012-02-28", "2012-03-01"]
    assert standard.day_of_year(2, 4).tolist() == [60.0, 61.0]
    assert noleap.day_of_year(1, 3).tolist() == [59.0, 60.0]
    assert Clock("1900-02-28", 86400, 3).label(1) == "1900-03-01"
    assert Clock("2000-02-28", 86400, 3).label(1) == "2000-02-29"


@pytest.mark.parametrize("given_name, name", [("gregorian", "standard"), ("365_day", "noleap"), ("noleap", "noleap")])
def test_names_of_calendars(given_name, name):
    assert Clock("2010-01-01", 86400, 1, given_name).calendar == name


@pytest.mark.parametrize("text", ["2010-07-31", "2010-7-31", "2010-07-31T00:00", "2010-07-31 00:00",
                                  "2010-07-31T00:00Z", " 2010-07-31 ", "2010-07-31T00:00:00"])
def test_ways_to_write_a_date(text):
    assert Clock("2010-01-01", 86400, 365).index(text) == 211


def test_labels_carry_what_they_need():
    assert Clock("2010-01-01", 86400, 2).label(1) == "2010-01-02"
    assert Clock("2010-01-01T06:00", 86400, 2).label(1) == "2010-01-02T06:00"
    assert Clock("2010-01-01", 3600, 30).label(25) == "2010-01-02T01:00"
    assert Clock("0987-01-01", 86400, 2).label(1) == "0987-01-02"


@given(clock=clocks)
def test_middles_of_steps(clock):
    last = min(clock.n_steps, 50)
    hours, days = clock.solar_hour(0, last), clock.day_of_year(0, last)
    assert ((hours >= 0.0) & (hours < 24.0)).all()
    assert ((days >= 1) & (days <= (365 if clock.calendar == "noleap" else 366))).all()
    first = clock.start.hour + clock.step_seconds / 7200.0
    np.testing.assert_allclose(hours, (first + np.arange(last) * clock.step_seconds / 3600.0) % 24.0, atol=1e-9)


@given(clock=clocks)
def test_month_weights_lie_between_neighbours(clock):
    before, after, weight = clock.month_weights(0, min(clock.n_steps, 400))
    assert ((weight >= 0.0) & (weight <= 1.0)).all()
    assert ((after - before) % 12 == 1).all()
    assert before.min() >= 0 and after.max() <= 11


@pytest.mark.parametrize("calendar", CALENDARS)
@pytest.mark.parametrize("step", [3600.0, 86400.0])
def test_month_weights_are_continuous(calendar, step):
    """A monthly table changes from step to step by no more than its steepest slope allows: there is no jump."""
    n = round(2 * 366 * 86400 / step)
    before, after, weight = Clock("2011-12-01", step, n, calendar).month_weights(0, n)
    table = np.array([0.0, 3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0])
    series = (1.0 - weight) * table[before] + weight * table[after]
    steepest = np.abs(np.diff(np.append(table, table[0]))).max() / (29.5 * 86400.0)
    assert np.abs(np.diff(series)).max() <= steepest * step * (1 + 1e-9)
    assert series.min() >= 0.0 and series.max() <= 9.0


def test_a_constant_stays_constant():
    before, after, weight = Clock("2011-01-01", 86400, 1461).month_weights(0, 1461)
    table = np.full(12, 0.3)
    np.testing.assert_allclose((1.0 - weight) * table[before] + weight * table[after], 0.3, rtol=1e-15)


def test_the_middle_of_a_month_has_its_own_value():
    # January has 31 days: its middle is noon of the 16th, the middle of that day's step.
    before, after, weight = Clock("2011-01-16", 86400, 1).month_weights(0, 1)
    assert (1.0 - weight[0]) * (before[0] == 0) + weight[0] * (after[0] == 0) == 1.0


@given(clock=clocks, data=st.data())
def test_blocks_give_what_the_whole_gives(clock, data):
    last = min(clock.n_steps, 60)
    cut = data.draw(st.integers(0, last))
    for method in (clock.day_of_year, clock.solar_hour):
        np.testing.assert_array_equal(np.concatenate([method(0, cut), method(cut, last)]), method(0, last))
    for left, right, both in zip(clock.month_weights(0, cut), clock.month_weights(cut, last),
                                 clock.month_weights(0, last), strict=True):
        np.testing.assert_array_equal(np.concatenate([left, right]), both)
