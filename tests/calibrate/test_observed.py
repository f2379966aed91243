"""Observed discharge from tables and netCDF files: columns, times, units, missing values, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from small import GAUGE, make

from wepl.basin.dataset import Basin
from wepl.calibrate.config import Observed
from wepl.calibrate.observed import gauge_positions, read_records, upstream_area
from wepl.errors import InputError

DAYS = [f"2010-01-{day:02d}" for day in range(1, 5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make(tmp_path_factory.mktemp("observed"))


@pytest.fixture(scope="module")
def basin(folder):
    return Basin.open(folder / "basin.nc")


def read(folder, basin, text: str | None = None, file: str = "table.csv", **given):
    if text is not None:
        (folder / file).write_text(text)
    [record] = read_records(Observed.model_validate({"gauge": GAUGE, "file": file, **given},
                                                    context={"folder": folder}), folder, basin)
    return record


def table(times: list[str], name: str = "date", values: str = "1 2 -9999 4", column: str = "q") -> str:
    rows = [f"{time},{value}" for time, value in zip(times, values.split(), strict=True)]
    return "\n".join([f"{name},{column}", *rows]) + "\n"


def first_times(record) -> list[str]:
    return record.times.astype("datetime64[s]").astype(str).tolist()


def test_plain_table(folder, basin):
    """The second of two columns is the discharge, a usual number for missing values is missing."""
    record = read(folder, basin, table(DAYS))
    assert first_times(record) == [f"{day}T00:00:00" for day in DAYS] and record.step == 86400
    np.testing.assert_array_equal(record.values, [1.0, 2.0, np.nan, 4.0])


def test_units(folder, basin):
    cubic_foot = 0.3048**3
    assert read(folder, basin, table(DAYS), units="ft3 s-1").values[1] == pytest.approx(2.0 * cubic_foot)
    area = upstream_area(basin, 0)
    assert area == pytest.approx(basin.parameters["unit_area"].values.sum())
    assert read(folder, basin, table(DAYS), units="mm d-1").values[1] == pytest.approx(2e-3 * area / 86400.0)
    with pytest.raises(InputError, match="give a unit of discharge"):
        read(folder, basin, table(DAYS), units="kg")


@pytest.mark.parametrize("text, given", [
    (table(["1/1/2010", "1/2/2010", "1/3/2010", "1/4/2010"]), {"time_format": "%m/%d/%Y"}),
    ("year,month,day,q\n2010,1,1,1\n2010,1,2,2\n2010,1,3,\n2010,1,4,4\n",
     {"time": ["year", "month", "day"], "column": "q"}),
    ("q;station;when\n1;a;2010-01-01\n2;a;2010-01-02\n;a;2010-01-03\n4;a;2010-01-04\n",
     {"time": "when", "column": "q"}),
    (table(["2010-01-02", "2010-01-03", "2010-01-04", "2010-01-05"]), {"stamp": "end"}),
    (table(DAYS, values="1 2 -7 4"), {"missing": [-7.0]}),
    (table([DAYS[place] for place in (3, 1, 2, 0)], values="4 2 -9999 1"), {}),
])
def test_forms_of_time(folder, basin, text, given):
    record = read(folder, basin, text, **given)
    assert first_times(record) == [f"{day}T00:00:00" for day in DAYS]
    np.testing.assert_array_equal(record.values, [1.0, 2.0, np.nan, 4.0])


def test_netcdf_with_several_places(folder, basin):
    flows = [[1.0, 5.0], [2.0, 6.0], [np.nan, 7.0], [4.0, 8.0]]
    data = xr.Dataset({"q": (("time", "station"), flows, {"units": "L/s"})},
                      coords={"time": pd.DatetimeIndex(DAYS), "name": ("station", ["elsewhere", GAUGE])})
    data.to_netcdf(folder / "flows.nc")
    record = read(folder, basin, file="flows.nc", column="q")
    np.testing.assert_allclose(record.values, [0.005, 0.006, 0.007, 0.008])
    with pytest.raises(InputError, match="has no variable 'x': it has q"):
        read(folder, basin, file="flows.nc", column="x")
    data.drop_vars("name").to_netcdf(folder / "unnamed.nc")
    with pytest.raises(InputError, match="no coordinate names one of them"):
        read(folder, basin, file="unnamed.nc", column="q")


@pytest.mark.parametrize("text, given, message", [
    (table(DAYS), {"column": "flow"}, "has no column 'flow': it has date, q"),
    (table(DAYS), {"gauge": "99"}, "the basin has no gauge 99"),
    (table([*DAYS[:3], DAYS[2]]), {}, "2010-01-03T00:00:00 stands twice"),
    (table(DAYS, values="1 2 -3 4"), {}, "-3 m3 s-1 at 2010-01-03T00:00:00 is no discharge"),
    (table(DAYS, values="1 2 x 4"), {}, "row 4: 'x' is no number"),
    (table([*DAYS[:3], "later"]), {"time_format": "%Y-%m-%d"}, "row 5: 'later' is no time"),
    ("not netCDF", {"file": "broken.nc"}, "cannot be read as netCDF"),
])
def test_refused(folder, basin, text, given, message):
    (folder / given.get("file", "table.csv")).write_text(text)
    with pytest.raises(InputError, match=message):
        read(folder, basin, **given)


def test_a_sub_basin_stands_for_its_outlet(basin):
    assert gauge_positions(basin) == {"2": 0, GAUGE: 0}
