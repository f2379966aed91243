"""Reading forcing in blocks: across files, beside a writer, with few files open, and what is told of bad values."""

from __future__ import annotations

import threading
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from basins import CELLS, FORCING, outside, put, valid, write
from hypothesis import given, settings
from hypothesis import strategies as st

from wepl import netcdf, registry
from wepl.basin.dataset import Basin
from wepl.errors import InputError
from wepl.forcing import reader
from wepl.forcing.reader import ArraySource, ForcingReader, OpenFiles, Segment
from wepl.run.clock import Clock

DAYS = 40
RAIN = registry.row("precipitation")


def in_memory(values: np.ndarray, name: str = "wind_speed", units: str = "m s-1") -> ForcingReader:
    clock = Clock("2010-01-01", 86400.0, len(values))
    return ForcingReader(clock, np.array(CELLS), {name: [Segment(0, len(values), ArraySource(values), units)]})


@pytest.fixture(scope="module")
def whole() -> np.ndarray:
    return Basin.from_dataset(valid(days=DAYS)).forcing.read(0, DAYS)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory) -> Path:
    """A basin whose weather lies in files of one day to a week."""
    folder = tmp_path_factory.mktemp("pieces")
    data, weather = outside(valid(days=DAYS))
    borders = [0, 1, 2, 5, 12, 13, 20, 27, 33, DAYS]
    for number, (first, last) in enumerate(zip(borders, borders[1:], strict=False)):
        write(weather.isel(time=slice(first, last)), folder / f"weather_{number}.nc")
    return write(data, folder / "basin.nc")


@pytest.fixture(scope="module")
def from_pieces(pieces) -> ForcingReader:
    return Basin.open(pieces).forcing


@settings(max_examples=30, deadline=None)
@given(first=st.integers(0, DAYS - 1), length=st.integers(0, DAYS))
def test_blocks_across_files(whole, from_pieces, first, length):
    last = min(DAYS, first + length)
    block = from_pieces.read(first, last)
    assert block.shape == (len(registry.layout("forcing")), last - first, len(CELLS))
    assert block.dtype == np.float64
    np.testing.assert_array_equal(block, whole[:, first:last])


def test_what_is_not_there_is_nan(whole):
    available = Basin.from_dataset(valid()).forcing.available
    assert available == set(FORCING)
    for row, entry in enumerate(registry.layout("forcing")):
        assert np.isnan(whole[row]).all() == (entry.name not in available)


def test_a_block_is_the_callers_own():
    values = np.ones((4, 2))
    forcing = in_memory(values)
    forcing.read(0, 4)[:] = -5.0
    assert (values == 1.0).all()
    assert (forcing.read(0, 4)[registry.row("wind_speed")] == 1.0).all()


def test_reading_beside_a_writer(whole, pieces, tmp_path):
    """A thread reads ahead while another writes results, as in a run: the netCDF library is not thread-safe."""
    forcing = Basin.open(pieces).forcing
    errors, done = [], threading.Event()

    def write_results() -> None:
        try:
            with netcdf.LOCK:
                file = netCDF4.Dataset(tmp_path / "result.nc", "w")
                file.createDimension("time", None)
                variable = file.createVariable("discharge", "f8", ("time",), zlib=True, chunksizes=(64,))
            at = 0
            while not done.is_set() or at < 640:
                with netcdf.LOCK:
                    variable[at:at + 64] = np.arange(at, at + 64)
                at += 64
            with netcdf.LOCK:
                file.close()
        except Exception as error:
            errors.append(error)

    def read() -> None:
        try:
            for first in [*range(0, DAYS, 3)] * 4:
                last = min(DAYS, first + 5)
                np.testing.assert_array_equal(forcing.read(first, last), whole[:, first:last])
        except Exception as error:
            errors.append(error)

    writer, readers = threading.Thread(target=write_results), [threading.Thread(target=read) for _ in range(3)]
    for thread in [writer, *readers]:
        thread.start()
    for thread in readers:
        thread.join()
    done.set()
    writer.join()
    assert errors == []
    with netCDF4.Dataset(tmp_path / "result.nc") as file:
        np.testing.assert_array_equal(file["discharge"][:], np.arange(file.dimensions["time"].size))


def test_few_files_are_open_at_once(pieces, whole, monkeypatch):
    """A decade of monthly files must not use up the files that a process may open."""
    monkeypatch.setattr(reader, "_OPEN_FILES", 3)
    open_now, get = [], OpenFiles.get

    def counted(self: OpenFiles, path: Path) -> netCDF4.Dataset:
        file = get(self, path)
        open_now.append(sum(other.isopen() for other in self._files.values()))
        return file

    monkeypatch.setattr(OpenFiles, "get", counted)
    np.testing.assert_array_equal(Basin.open(pieces).forcing.read(0, DAYS), whole)
    assert max(open_now) == 3


def test_no_file_stays_open(tmp_path):
    """A basin may be replaced while a session holds it, and netCDF4 crashes when it frees open files with text."""
    data = valid()
    data["gauge_name"] = ("gauge", ["A", "B"])
    path = write(data, tmp_path / "basin.nc")
    for _ in range(20):
        basin = Basin.open(path)
        basin.check_forcing(0, 3)
        assert [files._files for files in basin.forcing._files] == [{}]
    write(data, path)


def test_a_file_that_goes_away_is_named(tmp_path):
    data, weather = outside(valid(), "weather.nc")
    path = write(weather, tmp_path / "weather.nc")
    basin = Basin.open(write(data, tmp_path / "basin.nc"))
    path.unlink()
    with pytest.raises(InputError, match="weather.nc: precipitation cannot be read .*gone; make or copy it again"):
        basin.validate()


# Checks of values.

def test_good_values_have_no_fault(whole):
    assert Basin.from_dataset(valid(days=DAYS)).forcing.check() == []


@pytest.mark.parametrize("bad, text", [(np.nan, "missing (NaN or fill value)"), (np.inf, "infinite"),
                                       (-np.inf, "infinite"), (-0.001, "out of range"), (121.0, "out of range")])
@pytest.mark.parametrize("scan", [1, 64 * 2**20])
def test_the_first_place_and_the_count(monkeypatch, bad, text, scan):
    """However the scan is cut into blocks."""
    monkeypatch.setattr(reader, "_SCAN_BYTES", scan)
    values = np.full((20, 2), 3.0)
    values[7, 1] = values[9, 0] = values[15, :] = bad
    fault, = in_memory(values).check()
    assert (fault.variable, fault.text, fault.cell, fault.step, fault.count) == ("wind_speed", text, 8, 7, 4)
    np.testing.assert_equal(fault.value, bad)


def test_only_the_period_of_the_run_is_checked():
    values = np.full((20, 2), 3.0)
    values[5, 0] = np.nan
    forcing = in_memory(values)
    assert forcing.check(6) == [] and forcing.check(0, 5) == []
    assert [fault.step for fault in forcing.check(5, 6)] == [5]


def test_each_kind_of_fault_is_told_once():
    values = np.full((20, 2), 3.0)
    values[3, 0], values[4, 0], values[5, 1], values[6, 1] = np.nan, 500.0, np.inf, 600.0
    faults = {fault.text: fault for fault in in_memory(values).check()}
    assert [faults[text].step for text in ("missing (NaN or fill value)", "out of range", "infinite")] == [3, 4, 5]
    assert (faults["out of range"].value, faults["out of range"].count) == (500.0, 2)


@pytest.mark.parametrize("name, units, value, good", [
    ("precipitation", "mm d-1", -1e-6, True), ("precipitation", "mm d-1", -0.01, False),
    ("sunshine_duration", "h", np.float32(24.0) * np.float32(1 + 2e-7), True), ("sunshine_duration", "h", 24.1, False),
    ("relative_humidity", "%", 105.0, True), ("relative_humidity", "%", 105.1, False),
    ("shortwave_radiation", "W m-2", -1e-6, True), ("shortwave_radiation", "W m-2", -1.0, False),
    ("air_temperature", "K", 100.0, False),
])
def test_rounding_is_no_fault(name, units, value, good):
    low = registry.variable(name).valid[0]
    forcing = in_memory(np.full((3, 2), value), name, units)
    assert (forcing.check() == []) == good
    if good:
        assert forcing.read(0, 3)[registry.row(name)].min() >= low


def test_fill_values_are_missing(tmp_path):
    """Both the fill value that a file names and the library's own where nothing was written."""
    data = valid()
    rain = data["precipitation"].values.copy()
    rain[2, 0] = np.nan
    put(data, "precipitation", rain)
    path = write(data, tmp_path / "basin.nc", precipitation={"_FillValue": -9999.0})
    with netCDF4.Dataset(path, "a") as file:
        file.set_auto_mask(False)
        assert file["precipitation"][2, 0] == -9999.0
        file["wind_speed"][4, 1] = netCDF4.default_fillvals["f8"]
    faults = [(fault.variable, fault.cell, fault.step, fault.count) for fault in Basin.open(path).forcing.check()]
    assert faults == [("precipitation", 7, 2, 1), ("wind_speed", 8, 4, 1)]
