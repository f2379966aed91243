"""Comparing files and saying what they hold. Source: docs on the commands `wepl compare` and `wepl info`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import netCDF4
import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from wepl import compare as compare_module
from wepl import registry
from wepl.compare import compare
from wepl.errors import InputError
from wepl.info import describe
from wepl.run import restart
from wepl.run.writer import ResultWriter


def make_file(path, values, dims=("time", "subbasin"), units="m3 s-1", name="discharge", text=None, **create):
    with netCDF4.Dataset(path, "w") as file:
        for dim, size in zip(dims, values.shape, strict=True):
            file.createDimension(dim, size)
        if "time" in dims:
            time = file.createVariable("time", "f8", ("time",))
            time.units, time.calendar = "days since 1982-01-01 00:00:00", "noleap"
            time[:] = np.arange(values.shape[0])
        if "subbasin" in dims:
            file.createVariable("subbasin", "i4", ("subbasin",))[:] = 10 + np.arange(values.shape[1])
        variable = file.createVariable(name, values.dtype, dims, **create)
        variable.units = units
        variable[...] = values
        if text is not None:
            file.createDimension("gauge", len(text))
            file.createVariable("gauge_name", str, ("gauge",))[:] = np.array(text, dtype=object)
    return path


def row(comparison, name="discharge"):
    return next(row for row in comparison.rows if row.name == name)


@pytest.fixture
def flows():
    return np.random.default_rng(0).uniform(1.0, 100.0, (60, 5))


def test_equal_files_agree(tmp_path, flows):
    result = compare(make_file(tmp_path / "a.nc", flows), make_file(tmp_path / "b.nc", flows), rtol=0.0)
    assert result.within and [row.name for row in result.rows] == ["time", "subbasin", "discharge"]
    assert row(result).max_absolute == row(result).max_relative == 0.0 and row(result).where == ""
    assert "all 3 variables agree" in result.text


def test_where_and_how_much(tmp_path, flows):
    other = flows.copy()
    flows[34, 2], other[34, 2] = 50.0, 50.5
    result = compare(make_file(tmp_path / "a.nc", flows), make_file(tmp_path / "b.nc", other))
    found = row(result)
    assert not result.within and not found.within
    assert found.max_absolute == 0.5 and found.max_relative == pytest.approx(0.5 / 50.5, rel=1e-15)
    assert found.where == "1982-02-04 00:00:00, subbasin 12"
    assert "1 of 3 variables differ" in result.text and "1982-02-04 00:00:00, subbasin 12" in result.text


@pytest.mark.parametrize("rtol, atol, within", [(0.01, 0.0, True), (0.009, 0.0, False), (0.0, 0.5, True),
                                                (0.0, 0.49, False), (0.005, 0.3, True)])
def test_tolerances_add(tmp_path, flows, rtol, atol, within):
    other = flows.copy()
    flows[3, 1], other[3, 1] = 50.0, 50.5
    files = make_file(tmp_path / "a.nc", flows), make_file(tmp_path / "b.nc", other)
    assert compare(*files, rtol=rtol, atol=atol).within is within


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), rtol=st.sampled_from([0.0, 1e-9, 1e-2]), atol=st.sampled_from([0.0, 1e-3, 10.0]),
       block=st.sampled_from([1, 7, 2**18]))
def test_the_verdict_is_numpys_whatever_the_blocks(tmp_path, data, rtol, atol, block):
    """numpy.isclose with the larger value as the reference, NaN equal to NaN."""
    shape = (13, 3)
    values = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, 5e-324]))
    a = data.draw(hnp.arrays(np.float64, shape, elements=values))
    b = np.where(data.draw(hnp.arrays(bool, shape)), a, data.draw(hnp.arrays(np.float64, shape, elements=values)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare_module, "_BLOCK_VALUES", block)
        result = row(compare(make_file(tmp_path / "a.nc", a, fill_value=False),
                             make_file(tmp_path / "b.nc", b, fill_value=False), rtol, atol))
    with np.errstate(invalid="ignore", over="ignore"):
        expected = np.isclose(a, b, rtol, atol, equal_nan=True) | np.isclose(b, a, rtol, atol, equal_nan=True)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        difference = np.where(same, 0.0, np.abs(a - b))
    assert result.within == bool(expected.all())
    worst = np.max(np.where(np.isfinite(difference), difference, np.inf))
    assert result.max_absolute == worst


def test_nan_on_one_side_is_a_difference(tmp_path, flows):
    other = flows.copy()
    other[59, 4] = np.nan
    found = row(compare(make_file(tmp_path / "a.nc", flows), make_file(tmp_path / "b.nc", other), 1.0, 1e9))
    assert not found.within and found.max_absolute == np.inf and found.where == "1982-03-01 00:00:00, subbasin 14"


def test_what_cannot_be_compared_is_said(tmp_path, flows):
    a = make_file(tmp_path / "a.nc", flows)
    found = row(compare(a, make_file(tmp_path / "b.nc", flows[:-1])))
    assert not found.within and found.note == "shapes differ: (time 60, subbasin 5) and (time 59, subbasin 5)"
    found = row(compare(a, make_file(tmp_path / "b.nc", flows, units="mm")))
    assert not found.within and found.note == "units differ: m3 s-1 and mm"
    result = compare(a, make_file(tmp_path / "b.nc", flows, name="runoff"))
    assert row(result).note == "b.nc has no such variable"
    assert row(result, "runoff").note == "a.nc has no such variable" and not result.within
    assert "units differ" not in result.text and "no such variable" in result.text


def test_texts_are_compared(tmp_path, flows):
    a = make_file(tmp_path / "a.nc", flows, text=["Waizhou", "Lijiadu", "Meigang"])
    assert compare(a, a).within
    result = compare(a, make_file(tmp_path / "b.nc", flows, text=["Waizhou", "Lijiadu", "Hushan"]))
    assert not result.within
    assert row(result, "gauge_name").note == "text differs at 1 places, first at gauge number 3"


@pytest.mark.parametrize("dtype", ["f4", "i4", "i8", "u1"])
def test_other_types(tmp_path, dtype):
    values = np.arange(12).reshape(4, 3).astype(dtype)
    a = make_file(tmp_path / "a.nc", values)
    assert compare(a, make_file(tmp_path / "b.nc", values)).within
    values[2, 1] += 1
    assert row(compare(a, make_file(tmp_path / "b.nc", values))).max_absolute == 1.0


def test_scalars_and_empty_variables(tmp_path):
    a = make_file(tmp_path / "a.nc", np.array(3.0), dims=())
    assert row(compare(a, make_file(tmp_path / "b.nc", np.array(3.0), dims=()))).within
    assert row(compare(a, make_file(tmp_path / "b.nc", np.array(4.0), dims=()))).max_absolute == 1.0
    empty = make_file(tmp_path / "c.nc", np.zeros((0, 3)))
    assert compare(empty, empty).within


def test_files_that_cannot_be_compared(tmp_path, flows):
    good = make_file(tmp_path / "a.nc", flows)
    (tmp_path / "text.nc").write_text("not netCDF")
    truncated = make_file(tmp_path / "short.nc", flows)
    with open(truncated, "r+b") as file:
        file.truncate(3000)
    for bad, words in [(tmp_path / "none.nc", "not there"), (tmp_path, "a folder"), (truncated, "cannot be read"),
                       (tmp_path / "text.nc", "cannot be read")]:
        for files in ((good, bad), (bad, good)):
            with pytest.raises(InputError, match=words):
                compare(*files)
    for tolerance in (-1.0, float("nan")):
        with pytest.raises(InputError, match="not negative"):
            compare(good, good, rtol=tolerance)


def test_large_files_do_not_fill_memory(tmp_path):
    """400 MB of values a side are compared with less than 150 MB on top of what the process starts with."""
    rng = np.random.default_rng(0)
    for name in ("a.nc", "b.nc"):
        with netCDF4.Dataset(tmp_path / name, "w") as file:
            file.createDimension("time", 5000)
            file.createDimension("unit", 10000)
            variable = file.createVariable("runoff", "f8", ("time", "unit"), chunksizes=(50, 10000),
                                           compression="zstd", complevel=1)
            for start in range(0, 5000, 50):
                variable[start:start + 50] = np.broadcast_to(rng.integers(0, 9, (50, 1)), (50, 10000))
        rng = np.random.default_rng(0)
    script = ("import resource, sys; from wepl.compare import compare; import wepl.info;"
              "base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
              "assert compare(sys.argv[1], sys.argv[2]).within;"
              "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base)")
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.nc"), str(tmp_path / "b.nc")],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    scale = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * scale < 150 * 2**20


CLOCK = SimpleNamespace(step_seconds=86400, calendar="standard", label=lambda i: f"2010-01-{i + 1:02d}T00:00:00")


def make_result(path, gauges=True):
    data = {
        "subbasin": ("subbasin", np.array([11, 20])), "downstream": ("subbasin", np.array([20, -1])),
        "unit": ("unit", np.array([1, 2, 3])), "unit_subbasin": ("unit", np.array([11, 11, 20])),
        "unit_area": ("unit", np.array([1e6, 2e6, 3e6])),
    }
    if gauges:
        data |= {"gauge": ("gauge", np.array([1])), "gauge_subbasin": ("gauge", np.array([11])),
                 "gauge_name": ("gauge", np.array(["Waizhou"], dtype=object))}
    options = {entry.name: entry.default for entry in registry.of_kind("option")} | {"rs_max": 4000.0}
    basin = SimpleNamespace(parameters=xr.Dataset(data), hash="ab" * 32, title="Small basin", path=None,
                            options=options)
    terms = np.array(["precipitation_depth", "evapotranspiration", "outflow", "residual"], dtype=object)
    balance = SimpleNamespace(closure=2.5e-15, variables=lambda: {
        "balance_term": (("balance_term",), terms, {}),
        "balance_depth": (("balance_term",), np.array([1500.0, 800.0, 650.0, 1e-12]), {"units": "mm"})})
    with ResultWriter(path, basin=basin, clock=CLOCK, first=0, last=4, variables=["evapotranspiration"],
                      attributes={"backend": "cpu", "precision": "float64"}) as writer:
        writer.put(0, {"discharge": np.array([[1.0, 4.0]] * 4), "evapotranspiration": np.ones((4, 3))})
        writer.finish(balance=balance)
    return path


def make_basin_file(path, **attributes):
    with netCDF4.Dataset(path, "w") as file:
        for dim, size in {"subbasin": 2, "unit": 3, "land_class": 5, "soil_layer": 3, "cell": 2, "time": 3}.items():
            file.createDimension(dim, size)

        def put(name, dims, values, **facts):
            variable = file.createVariable(name, np.asarray(values).dtype, dims)
            variable.setncatts(facts)
            variable[...] = values

        put("subbasin", ("subbasin",), [11, 20])
        put("downstream", ("subbasin",), [20, -1])
        put("unit_subbasin", ("unit",), [11, 11, 20])
        put("unit_area", ("unit",), [1.0, 2.0, 1.0], units="km2")
        put("unit_elevation", ("unit",), [900.0, 400.0, 20.0], units="m")
        put("land_fraction", ("unit", "land_class"), [[0, 1, 0, 0, 0], [0, 0.5, 0.5, 0, 0], [1.0, 0, 0, 0, 0]])
        put("time", ("time",), [0.0, 6.0, 12.0], units="hours since 2001-06-01 00:00:00", calendar="noleap")
        put("precipitation", ("time", "cell"), np.zeros((3, 2)), units="mm h-1")
        put("rs_max", (), 4000.0, units="s m-1")
        file.setncatts({"title": "Small basin", **attributes})
    return path


def test_a_basin_in_a_screenful(tmp_path):
    text = describe(make_basin_file(tmp_path / "basin.nc", forcing="weather/*.nc"))
    for words in ("basin.nc", "Small basin", "2 sub-basins, 3 units, 3 soil layers, 2 forcing cells", "sub-basin 20",
                  "4 km2 in units of 1 to 2 km2", "20 to 900 m", "water 25.0%, soil_vegetation 50.0%, irrigated 25.0%",
                  "weather/*.nc", "2001-06-01 to 2001-06-01 18:00, 3 steps of 6 h, calendar noleap", "rs_max 4000.0"):
        assert words in text, words
    assert len(text.splitlines()) <= 25 and max(map(len, text.splitlines())) <= 120


def test_a_result_in_a_screenful(tmp_path):
    text = describe(make_result(tmp_path / "result.nc"))
    for words in ("result", "Small basin", "backend cpu", "precision float64", "hash abababababab",
                  "2010-01-01 to 2010-01-05, 4 steps of 1 d", "evapotranspiration (mm)", "rs_max 4000.0",
                  "Waizhou 1 m3 s-1", "precipitation 1500.0, evapotranspiration 800.0, outflow 650.0 mm", "2.5e-15"):
        assert words in text, words
    assert len(text.splitlines()) <= 25


def test_mean_flow_at_the_outlets_without_gauges(tmp_path):
    assert "20 4 m3 s-1" in describe(make_result(tmp_path / "result.nc", gauges=False))


def test_a_state_in_a_screenful(tmp_path):
    sizes = {"tile": 9, "soil_layer": 3, "unit": 5, "subbasin": 4, "river_cell": 6}
    state = {entry.name: np.zeros([sizes[dim] for dim in entry.dims]) for entry in restart.entries()}
    basin = SimpleNamespace(hash="cd" * 32, title="Small basin")
    text = describe(restart.save_state(tmp_path / "state.nc", state, basin=basin, clock=CLOCK, at=3))
    for words in ("state", "2010-01-04T00:00:00", "9 tiles, 3 soil layers, 6 river cells", "hash cdcdcdcdcdcd",
                  "soil_water"):
        assert words in text, words
    assert len(text.splitlines()) <= 25


def test_files_that_info_refuses(tmp_path):
    (tmp_path / "text.nc").write_text("not netCDF")
    unknown = make_file(tmp_path / "unknown.nc", np.zeros((2, 2)), name="temperature")
    broken = make_result(tmp_path / "broken.nc")
    with netCDF4.Dataset(broken, "a") as file:
        file.renameVariable("subbasin", "basin_number")
        file.renameVariable("time", "hours")
    for bad, words in [(tmp_path / "none.nc", "not there"), (Path(tmp_path), "a folder"), (unknown, "neither a basin"),
                       (tmp_path / "text.nc", "cannot be read"), (broken, "does not hold")]:
        with pytest.raises(InputError, match=words):
            describe(bad)
