"""Compressed netCDF, other chunks, many files and Zarr stores give the same forcing, bit for bit; faults are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from basins import outside, valid, write

from wepl.basin.dataset import Basin
from wepl.errors import BasinError, InputError
from wepl.forcing import window, zarr_store
from wepl.forcing.reader import ForcingReader
from wepl.forcing.window import Window

DAYS = 40
DEFLATED = {"zlib": True, "complevel": 4, "shuffle": True}


def single(data: xr.Dataset) -> xr.Dataset:
    """With weather in single precision, as most files have it."""
    names = [name for name in data.variables if data[name].dims == ("time", "cell")]
    return data.assign({name: data[name].astype(np.float32).assign_attrs(data[name].attrs) for name in names})


@pytest.fixture(scope="module")
def parts() -> tuple[xr.Dataset, xr.Dataset]:
    data, weather = outside(valid(days=DAYS))
    return data, single(weather)


@pytest.fixture(scope="module")
def expected(parts) -> np.ndarray:
    data, weather = parts
    return Basin.from_dataset(data.drop_attrs(deep=False).merge(weather)).forcing.read(0, DAYS)


def beside(folder: Path, data: xr.Dataset, names: str) -> Basin:
    return Basin.open(write(data.assign_attrs(forcing=names), folder / "basin.nc"))


def chunked(weather: xr.Dataset, path: Path, chunk: tuple[int, int], **filters) -> None:
    weather = weather.copy()
    names = [name for name in weather.variables if weather[name].dims == ("time", "cell")]
    weather.to_netcdf(path, encoding={name: {"chunksizes": chunk, **filters} for name in names})


@pytest.mark.parametrize("chunk", [(1, 1), (7, 2), (DAYS, 1)])
def test_compressed_netcdf(parts, expected, tmp_path, chunk):
    data, weather = parts
    chunked(weather, tmp_path / "weather.nc", (chunk[0], min(chunk[1], weather.sizes["cell"])), **DEFLATED)
    np.testing.assert_array_equal(beside(tmp_path, data, "weather.nc").forcing.read(0, DAYS), expected)


def test_many_files(parts, expected, tmp_path):
    data, weather = parts
    # A file of one step alone does not tell its length; the others do.
    borders = [0, 2, *range(3, DAYS + 1)]
    for first, last in zip(borders, borders[1:], strict=False):
        write(weather.isel(time=slice(first, last)), tmp_path / f"day_{first:02d}.nc")
    np.testing.assert_array_equal(beside(tmp_path, data, "day_*.nc").forcing.read(0, DAYS), expected)


@pytest.mark.parametrize("version", [2, 3])
def test_zarr(parts, expected, tmp_path, version):
    pytest.importorskip("zarr")
    data, weather = parts
    weather.to_zarr(tmp_path / "weather.zarr", zarr_format=version, consolidated=False)
    basin = beside(tmp_path, data, "weather.zarr")
    np.testing.assert_array_equal(basin.forcing.read(0, DAYS), expected)
    np.testing.assert_array_equal(basin.forcing.read(3, 11), expected[:, 3:11])
    cells = np.array([1, 0])
    np.testing.assert_array_equal(basin.forcing.part(cells).read(5, 9), expected[:, 5:9, cells])
    assert basin.forcing.paths == (tmp_path / "weather.zarr",)
    basin.check_forcing(0, DAYS)


def test_zarr_and_netcdf_side_by_side(parts, expected, tmp_path):
    pytest.importorskip("zarr")
    data, weather = parts
    weather.isel(time=slice(0, 13)).to_zarr(tmp_path / "a.zarr", consolidated=False)
    write(weather.isel(time=slice(13, DAYS)), tmp_path / "b.nc")
    np.testing.assert_array_equal(beside(tmp_path, data, "a.zarr b.nc").forcing.read(0, DAYS), expected)


def test_zarr_that_lies(parts, tmp_path):
    pytest.importorskip("zarr")
    data, weather = parts
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises(BasinError, match=r"empty\.zarr: the forcing cannot be read"):
        beside(tmp_path, data, "empty.zarr")
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(BasinError, match="no such file"):
        beside(tmp_path, data, "folder.nc")
    wrong = weather.copy(deep=True)
    wrong["precipitation"].values[7, 0] = -1.0
    wrong.to_zarr(tmp_path / "rain.zarr", consolidated=False)
    with pytest.raises(InputError, match=r"rain\.zarr"):
        beside(tmp_path, data, "rain.zarr").check_forcing(0, DAYS)


def test_zarr_not_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(zarr_store.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install zarr"):
        zarr_store.pieces_of_store(tmp_path / "a.zarr")


@pytest.mark.parametrize("length", [1, 5, 13, DAYS])
def test_a_window_reads_the_same_and_seldom(parts, expected, tmp_path, monkeypatch, length):
    data, weather = parts
    write(weather, tmp_path / "weather.nc")
    basin = beside(tmp_path, data, "weather.nc")
    monkeypatch.setattr(window, "_DAYS", 13)
    reads, real = [], ForcingReader.read

    def read(self, first, last):
        reads.append((first, last))
        return real(self, first, last)

    monkeypatch.setattr(ForcingReader, "read", read)
    ahead = Window(basin.forcing, DAYS)
    for at in range(0, DAYS, length):
        block = ahead.read(at, min(DAYS, at + length))
        np.testing.assert_array_equal(block, expected[:, at:at + length])
        block[...] = np.nan
    assert len(reads) <= max(DAYS // 13 + 1, DAYS // length + 1) and reads[-1][1] == DAYS
    np.testing.assert_array_equal(ahead.read(2, 4), expected[:, 2:4])
