"""Forcing as the model reads it: written in blocks, whole, in bounded memory, and nothing left behind on a fault."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from small_terrain import LEFT, TOP, forcing, grid, table, terrain

from wepl.build import forcing as module
from wepl.build.forcing import build_forcing
from wepl.errors import InputError
from wepl.forcing.reader import OpenFiles
from wepl.forcing.sources import join, pieces_of_file

VALUES = {"precipitation": ("mm", 4.0), "air_temperature": ("degC", 11.0), "relative_humidity": ("%", 65.0),
          "wind_speed": ("m/s", 3.0), "shortwave_radiation": ("W m-2", 120.0)}


def _entries(folder: Path, days: int = 40, faulty: float | None = None) -> list:
    dates = pd.date_range("2011-03-01", periods=days, freq="D").strftime("%Y-%m-%d")
    places = f"id,x,y,elevation\nA,{LEFT},{TOP},300\nB,{LEFT + 4000},{TOP},100\n"
    (folder / "s.csv").write_text(places, encoding="utf-8")
    entries = []
    for name, (unit, value) in VALUES.items():
        rows = [f"{date},{value + 0.01 * number},{value + 0.02 * number}" for number, date in enumerate(dates)]
        if faulty is not None and name == "relative_humidity":
            rows[-1] = f"{dates[-1]},{faulty},{faulty}"
        (folder / f"{name}.csv").write_text("\n".join(["date,A,B", *rows]), encoding="utf-8")
        entries.append(table(file=f"{name}.csv", variable=name, unit=unit, coordinates="s.csv"))
    return entries


def test_the_models_reader_takes_the_file(tmp_path):
    target = tmp_path / "basin.nc"
    facts = build_forcing(forcing(stations=_entries(tmp_path)), terrain(), tmp_path, target)
    reader = join(pieces_of_file(target, OpenFiles()), facts.cells)
    assert reader.clock.label(0) == "2011-03-01" and reader.clock.n_steps == 40
    assert reader.available == set(VALUES)
    assert reader.check() == []


def test_blocks_do_not_change_a_value(tmp_path, monkeypatch):
    entries = _entries(tmp_path)
    build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / "whole.nc")
    monkeypatch.setattr(module, "_BLOCK_BYTES", 8 * 3 * 7)
    monkeypatch.setattr(module, "_CHUNK_BYTES", 4 * 3 * 7)
    build_forcing(forcing(stations=entries), terrain(), tmp_path, tmp_path / "blocks.nc")
    with xr.open_dataset(tmp_path / "whole.nc") as whole, xr.open_dataset(tmp_path / "blocks.nc") as blocks:
        xr.testing.assert_identical(whole, blocks)


def test_a_file_that_is_there_gets_the_forcing_beside_what_it_has(tmp_path):
    target = tmp_path / "basin.nc"
    with netCDF4.Dataset(target, "w") as file:
        file.createDimension("subbasin", 2)
        file.title = "kept"
    build_forcing(forcing(stations=_entries(tmp_path)), terrain(), tmp_path, target)
    with netCDF4.Dataset(target) as file:
        assert file.title == "kept"
        assert set(VALUES) <= set(file.variables)


@pytest.mark.parametrize("when", ["plan", "block"])
def test_nothing_half_written_remains(tmp_path, monkeypatch, when):
    target = tmp_path / "basin.nc"
    entries = _entries(tmp_path, faulty=-5.0 if when == "plan" else None)
    if when == "block":
        # A fault that shows only while the last block is made.
        read = module.StationSource.read

        def spoilt(self, name, first, last):
            values = read(self, name, first, last)
            return values + 1e6 if last == 40 and name == "wind_speed" else values

        monkeypatch.setattr(module.StationSource, "read", spoilt)
        monkeypatch.setattr(module, "_BLOCK_BYTES", 8 * 3 * 7)
        monkeypatch.setattr(module, "_CHUNK_BYTES", 4 * 3 * 7)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InputError, match="relative_humidity of station A on 2011-04-09" if when == "plan"
                       else "wind_speed of cell 1 on .* which cannot be true"):
        build_forcing(forcing(stations=entries), terrain(), tmp_path, target)
    assert sorted(tmp_path.iterdir()) == before


def test_two_calendars_are_refused(tmp_path):
    time = np.arange(40)
    data = xr.Dataset({"tas": (("time", "lat", "lon"), np.full((40, 2, 2), 10.0), {"units": "degC"})})
    data["time"] = (("time",), time, {"units": "days since 2011-03-01", "calendar": "noleap"})
    data["lat"], data["lon"] = (("lat",), [28.5, 29.3]), (("lon",), [116.7, 117.5])
    data.to_netcdf(tmp_path / "t.nc")
    entries = [entry for entry in _entries(tmp_path) if entry.variable != "air_temperature"]
    with pytest.raises(InputError, match="different calendars"):
        build_forcing(forcing(stations=entries, grids=[grid(file="t.nc")]), terrain(), tmp_path, tmp_path / "out.nc")


_LARGE = """
import json, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np, pandas as pd, xarray as xr
from affine import Affine
from rasterio.warp import transform
from small_terrain import forcing, grid
from wepl.build.forcing import build_forcing
from wepl.build.types import Terrain
folder, hours, side = Path(sys.argv[2]), int(sys.argv[3]), 158
cells, size, left, top = side * 6, 400.0, 300000.0, 3300000.0
units = (np.arange(cells)[:, None] // 6 * side + np.arange(cells)[None, :] // 6 + 1).astype(np.int32)
ids = np.arange(1, side * side + 1)
row, column = np.divmod(ids - 1, side)
x, y = transform("EPSG:32650", "EPSG:4326", (left + (column + 0.5) * 6 * size).tolist(),
                 (top - (row + 0.5) * 6 * size).tolist())
frame = pd.DataFrame({"subbasin": 1, "order": 1, "area_km2": 5.76, "elevation_m": 300.0, "slope": 0.1,
                      "flow_length_m": 500.0, "longitude": x, "latitude": y}, index=pd.Index(ids, name="id"))
place = Terrain("EPSG:32650", Affine(size, 0, left, 0, -size, top), np.zeros(units.shape, np.float32), size**2, units,
                units, frame, frame, frame, [])
longitude, latitude = np.arange(min(x) - 0.2, max(x) + 0.2, 0.1), np.arange(max(y) + 0.2, min(y) - 0.2, -0.1)
shape = (hours + 1, latitude.size, longitude.size)
since = ((np.arange(hours + 1) - 1) % 24 + 1)[:, None, None]
made = {"tp": (since * 1e-4, "m"), "ssrd": (since * 5e5, "J m**-2"), "strd": (since * 1e6, "J m**-2"),
        "t2m": (285.0, "K"), "d2m": (280.0, "K"), "u10": (2.0, "m s**-1"), "v10": (1.0, "m s**-1")}
data = xr.Dataset({name: (("time", "latitude", "longitude"), np.broadcast_to(values, shape).astype(np.float32),
                          {"units": unit}) for name, (values, unit) in made.items()})
data["time"] = (("time",), np.arange(hours + 1), {"units": "hours since 2010-01-01"})
data["latitude"], data["longitude"] = (("latitude",), latitude), (("longitude",), longitude)
data.to_netcdf(folder / "era5.nc")
data.close()
build_forcing(forcing(grids=[grid(file="era5.nc")], step="1h"), place, folder, folder / "out.nc")
print(json.dumps({"units": ids.size, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read as Linux reports it")
def test_25_000_units_of_hourly_reanalysis_stay_below_2_gib(tmp_path):
    """Memory follows the block, not the length of the record: 4 and 12 days need the same within one block's arrays."""
    peaks = []
    for hours in (96, 288):
        done = subprocess.run([sys.executable, "-c", _LARGE, str(Path(__file__).parent), str(tmp_path), str(hours)],
                              capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
        assert done.returncode == 0, done.stderr
        facts = json.loads(done.stdout)
        assert facts["units"] > 24_900
        peaks.append(facts["peak"])
        with netCDF4.Dataset(tmp_path / "out.nc") as file:
            assert file["precipitation"].shape == (hours, facts["units"])
            np.testing.assert_allclose(file["precipitation"][-1], 2.4, rtol=1e-4)
        (tmp_path / "out.nc").unlink()
    assert max(peaks) < 2 * 2**30
    # 192 h more of the test's own made fields, in single and double precision, and nothing of the basin's cells.
    assert peaks[1] - peaks[0] < 192 * 25_000 * 8 * 2
