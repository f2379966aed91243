"""Basins of wrong times and texts; how each is broken and what is said."""

from __future__ import annotations

import numpy as np
from spoil import Break, attribute, both, drop, everywhere, no_attribute, text, times, updated

BROKEN: dict[str, tuple[Break, str]] = {
    # time
    "gap": (times([0, 1, 2, 4, 5, 6]), r"time has a gap after 2010-01-03.*\(the next is 2010-01-05"),
    "duplicate": (times([0, 1, 2, 2, 3, 4]), "time has a duplicate after 2010-01-03"),
    "reversed": (times([5, 4, 3, 2, 1, 0]), "time goes back after 2010-01-06"),
    "one step back": (times([0, 1, 3, 2, 4, 5]), "time .*after 2010-01-02"),
    "missing time": (times([0, 1, np.nan, 3, 4, 5]), r"time has 1 missing value\(s\), the first at position 3"),
    "time of another age": (times([0, 1, 2, 1e300]), "time has a gap after 2010-01-03"),
    "time beyond any calendar": (times([1e300, 2e300]), "time .*cannot be read"),
    "time slowly adrift": (times(np.arange(400) * (1 + 5e-6)), "time drifts away from steps of 86400 s, "
                           "by 172.*until 2011-02-04"),
    "all at once": (times([0, 0, 0, 0]), "time has a duplicate after 2010-01-01"),
    "time without units": (no_attribute("time", "units"), "time has units None: write them as 'days since"),
    "time in months": (attribute("time", "units", "months since 2010-01-01"), "time has units 'months since"),
    "time in days": (attribute("time", "units", "days"), "time has units 'days': write"),
    "time since nothing": (attribute("time", "units", "days since the flood"), "time has units 'days since the flood'"),
    "time since a year": (attribute("time", "units", "days since 2010"), "time has units 'days since 2010': write"),
    "time since a zone": (attribute("time", "units", "days since 2010-01-01 00:00 CET"), "time has units .*CET'"),
    "time since a thirteenth month": (attribute("time", "units", "days since 2010-13-01"), "time units .*cannot be"),
    "calendar of 360 days": (attribute("time", "calendar", "360_day"), "time has calendar '360_day': use one of stand"),
    "unknown calendar": (attribute("time", "calendar", "lunar"), "time has calendar 'lunar'"),
    "steps of ten minutes": (times(np.arange(12) * 10, "minutes since 2010-01-01"), "step is 600 s: it must be 3600 "),
    "steps of five hours": (times(np.arange(6) * 5, "hours since 2010-01-01"), "step is 18000 s: it must .*divide a d"),
    "steps of two days": (times(np.arange(6) * 2), "step is 172800 s: it must be 3600 to 86400 s"),
    "one step": (times([0]), "the forcing has one step only, .*give at least two"),
    "text as time": (text("time"), "time must be one list of numbers"),
    "hours without longitude": (both(times(np.arange(6), "hours since 2010-01-01"), drop("unit_longitude"),
                                     everywhere("sunshine_duration", np.zeros((6, 2)))),
                                "unit_longitude is missing: steps shorter than a day"),
    "an hour with five hours of sun": (both(times(np.arange(6), "hours since 2010-01-01"),
                                            everywhere("sunshine_duration", np.full((6, 2), 5.0))),
                                       "sunshine_duration in cell 7 at 2010-01-01T00:00: 5 h is outside 0 to 1 h"),

    # other text
    "names of other gauges": (updated("gauge_name", "subbasin", list("abcd")),
                              r"gauge_name has dimensions \('subbasin',\), expected \('gauge',\)"),
    "names of kinds that are not there": (updated("vegetation_name", "vegetation", ["x", "y"]),
                                          "vegetation_name .*vegetation table"),
}
