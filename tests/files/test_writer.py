"""Result files. Sources: CF conventions 1.11 (chapters 4, 5, 7 and 9), the registry, and docs on results."""

from __future__ import annotations

import datetime
import errno
import json
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from types import SimpleNamespace

import cf_units
import cftime
import netCDF4
import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wepl import registry
from wepl.errors import InputError, WeplError
from wepl.netcdf import LOCK
from wepl.run import result_schema
from wepl.run.writer import ResultWriter

LAYERS, SUBBASINS, UNITS = 3, 4, 7
CHOSEN = ("evapotranspiration", "snow_water_equivalent", "soil_moisture", "surface_temperature", "baseflow", "recharge")


class Clock:
    """The part of the forcing's clock that a writer asks for."""

    def __init__(self, step_seconds=86400, calendar="standard", start=(2000, 2, 27)):
        self.step_seconds, self.calendar = step_seconds, calendar
        self._start = cftime.datetime(*start, calendar=calendar)

    def label(self, i):
        return (self._start + datetime.timedelta(seconds=self.step_seconds * i)).strftime("%Y-%m-%dT%H:%M:%S")


def make_basin(gauges=True, coordinates=True):
    data = {
        "subbasin": ("subbasin", np.array([11, 12, 13, 20])), "downstream": ("subbasin", np.array([20, 20, 20, -1])),
        "unit": ("unit", np.arange(101, 101 + UNITS)),
        "unit_subbasin": ("unit", np.array([11, 11, 12, 12, 13, 20, 20])),
        "unit_area": ("unit", np.linspace(1e6, 7e6, UNITS)), "unit_elevation": ("unit", np.linspace(900, 10, UNITS)),
        "unit_latitude": ("unit", np.full(UNITS, 28.5)),
        "soil_thickness": (("unit", "soil_layer"), np.full((UNITS, LAYERS), 0.4)),
    }
    if coordinates:
        data["subbasin_longitude"] = ("subbasin", np.linspace(115.0, 116.5, SUBBASINS))
        data["subbasin_latitude"] = ("subbasin", np.linspace(28.0, 29.5, SUBBASINS))
        data["unit_longitude"] = ("unit", np.linspace(115.0, 116.5, UNITS))
    if gauges:
        data["gauge"] = ("gauge", np.array([1, 2]))
        data["gauge_subbasin"] = ("gauge", np.array([20, 12]))
        data["gauge_name"] = ("gauge", np.array(["Waizhou", "Lijiadu"], dtype=object))
    options = {entry.name: entry.default for entry in registry.of_kind("option")}
    return SimpleNamespace(parameters=xr.Dataset(data), hash="ab" * 32, title="Test basin", path=None, options=options)


def make_values(n_steps, variables=CHOSEN, seed=1):
    rng = np.random.default_rng(seed)
    sizes = {"unit": UNITS, "subbasin": SUBBASINS, "soil_layer": LAYERS}
    return {name: rng.uniform(0.0, 3.0, (n_steps, *(sizes[dim] for dim in result_schema.file_dims(name))))
            for name in ("discharge", *variables)}


def write(path, n_steps=10, cuts=(), clock=None, first=0, basin=None, variables=CHOSEN, **more):
    clock, basin = clock or Clock(), basin or make_basin()
    values = make_values(n_steps, variables)
    edges = [0, *sorted(set(cuts) - {0, n_steps}), n_steps]
    with ResultWriter(path, basin=basin, clock=clock, first=first, last=first + n_steps, variables=variables,
                      **more) as writer:
        for start, stop in zip(edges[:-1], edges[1:], strict=True):
            writer.put(first + start, {name: array[start:stop] for name, array in values.items()})
        writer.finish()
    return values


def leftovers(folder: Path):
    return sorted(item.name for item in folder.iterdir())


def test_values_come_back_in_file_units(tmp_path):
    values = write(tmp_path / "out.nc")
    with xr.open_dataset(tmp_path / "out.nc") as result:
        assert result["discharge"].dims == ("time", "subbasin")
        assert result["soil_moisture"].dims == ("time", "soil_layer", "unit")
        assert result["discharge"].dtype == np.float64 and result["baseflow"].dtype == np.float64
        assert result["evapotranspiration"].dtype == np.float32
        np.testing.assert_array_equal(result["discharge"], values["discharge"])
        np.testing.assert_array_equal(result["evapotranspiration"], (values["evapotranspiration"] * 1000).astype("f4"))
        np.testing.assert_array_equal(result["soil_moisture"], values["soil_moisture"].astype("f4"))
        np.testing.assert_array_equal(result["surface_temperature"], values["surface_temperature"].astype("f4"))


def test_gauges_show_the_discharge_of_their_reach(tmp_path):
    values = write(tmp_path / "out.nc")
    with xr.open_dataset(tmp_path / "out.nc") as result:
        np.testing.assert_array_equal(result["gauge_discharge"], values["discharge"][:, [3, 1]])
        assert list(result["gauge_name"].values) == ["Waizhou", "Lijiadu"]


def test_a_basin_without_gauges_and_coordinates(tmp_path):
    write(tmp_path / "out.nc", basin=make_basin(gauges=False, coordinates=False), variables=())
    with xr.open_dataset(tmp_path / "out.nc") as result:
        assert "gauge_discharge" not in result and "featureType" not in result.attrs


@pytest.mark.parametrize("step", [3600, 86400, 10800, 900])
@pytest.mark.parametrize("calendar", ["standard", "noleap"])
def test_time_is_the_start_of_each_step(tmp_path, step, calendar):
    clock = Clock(step, calendar)
    write(tmp_path / "out.nc", n_steps=5, first=2, clock=clock)
    with netCDF4.Dataset(tmp_path / "out.nc") as result:
        time = result["time"]
        moments = cftime.num2date(time[:], time.units, time.calendar)
        bounds = cftime.num2date(result[time.bounds][:], time.units, time.calendar)
        for i in range(5):
            assert moments[i].strftime("%Y-%m-%dT%H:%M:%S") == clock.label(2 + i)
            assert [bound.strftime("%Y-%m-%dT%H:%M:%S") for bound in bounds[i]] == [clock.label(2 + i),
                                                                                    clock.label(3 + i)]
        assert (result.run_start, result.run_end) == (clock.label(2), clock.label(7))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.sets(st.integers(1, 89)), compression=st.sampled_from(["zstd", "zlib", "none"]))
def test_the_file_is_the_same_byte_for_byte_whatever_the_blocks(tmp_path, cuts, compression):
    fixed = {"attributes": {"history": "fixed"}, "compression": compression, "n_steps": 90}
    write(tmp_path / "whole.nc", **fixed)
    write(tmp_path / "parts.nc", cuts=cuts, **fixed)
    assert (tmp_path / "whole.nc").read_bytes() == (tmp_path / "parts.nc").read_bytes()


def test_blocks_across_several_chunks_of_different_length(tmp_path, monkeypatch):
    steps = {"discharge": 4, "gauge_discharge": 16, "evapotranspiration": 7}

    def short(n_time, shape, item_bytes):
        return (steps.get({SUBBASINS: "discharge", 2: "gauge_discharge"}.get(shape[-1], "evapotranspiration")), *shape)

    monkeypatch.setattr(result_schema, "chunk_shape", short)
    values = write(tmp_path / "a.nc", n_steps=53, attributes={"history": ""}, cuts=(1, 17, 18, 40))
    write(tmp_path / "b.nc", n_steps=53, attributes={"history": ""})
    assert (tmp_path / "a.nc").read_bytes() == (tmp_path / "b.nc").read_bytes()
    with xr.open_dataset(tmp_path / "a.nc") as result:
        np.testing.assert_array_equal(result["discharge"], values["discharge"])
        np.testing.assert_array_equal(result["recharge"], values["recharge"])
        np.testing.assert_array_equal(result["soil_moisture"], values["soil_moisture"].astype("f4"))


@pytest.mark.parametrize("shape, item, places", [((24897,), 4, 24897), ((200000,), 4, 200000), ((3, 24897), 4, 24897),
                                                 ((120,), 8, 120), ((1,), 8, 1)])
def test_chunks_stay_near_one_mebibyte_and_buffers_small(shape, item, places):
    chunk = result_schema.chunk_shape(3653, shape, item)
    assert np.prod(chunk) * item <= 1.1 * 2**20
    assert chunk[0] * np.prod(shape) * item <= 2**23 or chunk[0] == 1
    assert 1 <= chunk[-1] <= places and len(chunk) == 1 + len(shape)
    assert result_schema.chunk_shape(5, shape, item)[0] <= 5


def test_attributes_follow_cf_and_the_registry(tmp_path):
    write(tmp_path / "out.nc", variables=("evapotranspiration", "transpiration", "canopy_a", "baseflow"))
    with netCDF4.Dataset(tmp_path / "out.nc") as result:
        assert result.Conventions == "CF-1.11" and result.featureType == "timeSeries"
        for name, variable in result.variables.items():
            if "time" not in variable.dimensions or name in ("time", "time_bounds"):
                continue
            entry = registry.variable(name)
            assert variable.units == entry.file_units and variable.long_name == entry.long_name
            assert getattr(variable, "standard_name", "") == entry.standard_name
            cf_units.Unit(variable.units)
            for coordinate in getattr(variable, "coordinates", "").split():
                assert set(result[coordinate].dimensions) <= set(variable.dimensions)
        assert result["transpiration"].cell_methods == "time: sum area: mean"
        assert result["discharge"].cell_methods == "time: mean"
        assert "time" not in result["canopy_a"].cell_methods and "end of the step" in result["canopy_a"].comment
        assert result["unit_area"].units == "km2"
        np.testing.assert_allclose(result["unit_area"][:], np.linspace(1.0, 7.0, UNITS), rtol=1e-15)


def test_options_and_provenance_are_recorded(tmp_path):
    basin = make_basin()
    options = dict(basin.options, heavy_rain_depth=0.02, infiltration_switch=1.0)
    write(tmp_path / "out.nc", basin=basin, options=options,
          attributes={"backend": "cpu", "precision": "float64", "title": "My run"})
    with netCDF4.Dataset(tmp_path / "out.nc") as result:
        changed = {name: result.getncattr(name) for name in result.ncattrs() if name.startswith("option_")}
        assert changed == {"option_heavy_rain_depth": 0.02, "option_infiltration_switch": "rate"}
        everything = json.loads(result.options)
        assert set(everything) == {entry.name for entry in registry.of_kind("option")}
        assert everything["infiltration_switch"] == "rate" and everything["heavy_rain_depth"] == 0.02
        assert (result.backend, result.precision, result.title) == ("cpu", "float64", "My run")
        assert result.basin_hash == basin.hash and result.wepl_version == result_schema.version()


def test_the_balance_goes_into_the_file(tmp_path):
    balance = SimpleNamespace(closure=3e-14, variables=lambda: {
        "balance_term": (("balance_term",), np.array(["precipitation", "outflow"], dtype=object), {}),
        "balance_depth": (("balance_term",), np.array([1500.0, 700.0]), {"units": "mm"}),
        "unit_balance_residual": (("unit",), np.zeros(UNITS), {"units": "mm"})})
    with ResultWriter(tmp_path / "out.nc", basin=make_basin(), clock=Clock(), first=0, last=2) as writer:
        writer.put(0, make_values(2, ()))
        writer.finish({"note": "done"}, balance)
    with xr.open_dataset(tmp_path / "out.nc") as result:
        assert result.attrs["water_balance_closure"] == 3e-14 and result.attrs["note"] == "done"
        assert result["balance_depth"].sel(balance_term="outflow") == 700.0


def test_an_exception_leaves_nothing_and_keeps_the_older_result(tmp_path):
    write(tmp_path / "out.nc")
    older = (tmp_path / "out.nc").read_bytes()
    with (pytest.raises(KeyboardInterrupt),
          ResultWriter(tmp_path / "out.nc", basin=make_basin(), clock=Clock(), first=0, last=9) as writer):
        writer.put(0, make_values(3, ()))
        raise KeyboardInterrupt
    assert leftovers(tmp_path) == ["out.nc"] and (tmp_path / "out.nc").read_bytes() == older


def test_leaving_without_finish_leaves_nothing(tmp_path):
    with ResultWriter(tmp_path / "out.nc", basin=make_basin(), clock=Clock(), first=0, last=2) as writer:
        writer.put(0, make_values(2, ()))
        assert len(leftovers(tmp_path)) == 1 and leftovers(tmp_path) != ["out.nc"]
    assert leftovers(tmp_path) == []
    writer.abort()


def test_finishing_replaces_an_older_result(tmp_path):
    write(tmp_path / "out.nc", n_steps=4)
    write(tmp_path / "out.nc", n_steps=6)
    with xr.open_dataset(tmp_path / "out.nc") as result:
        assert result.sizes["time"] == 6
    assert leftovers(tmp_path) == ["out.nc"]


def test_missing_steps_are_not_finished(tmp_path):
    with ResultWriter(tmp_path / "out.nc", basin=make_basin(), clock=Clock(), first=0, last=5) as writer:
        writer.put(0, make_values(3, ()))
        with pytest.raises(ValueError, match="ends at step 2, 4 was asked"):
            writer.finish()
        with pytest.raises(ValueError, match="do not follow step 2"):
            writer.put(4, make_values(1, ()))
    assert leftovers(tmp_path) == []


def test_a_wrong_shape_is_refused_by_name(tmp_path):
    with ResultWriter(tmp_path / "out.nc", basin=make_basin(), clock=Clock(), first=0, last=5,
                      variables=["soil_moisture"]) as writer:
        values = make_values(3, ("soil_moisture",))
        values["soil_moisture"] = values["soil_moisture"].swapaxes(1, 2)
        with pytest.raises(ValueError, match=r"soil_moisture has shape \(3, 7, 3\), expected \(3, 3, 7\)"):
            writer.put(0, values)


@pytest.mark.parametrize("name, hint", [("evapotranspiraton", "evapotranspiration"), ("unit_area", "cannot be written"),
                                        ("xyz", "choose from"), ("layer_thickness", "cannot be written")])
def test_unknown_variables_are_refused_with_advice(tmp_path, name, hint):
    with pytest.raises(InputError, match=hint):
        write(tmp_path / "out.nc", variables=(), basin=make_basin(), n_steps=1, attributes={}) and None
        ResultWriter(tmp_path / "new.nc", basin=make_basin(), clock=Clock(), first=0, last=1, variables=[name])
    assert leftovers(tmp_path) == ["out.nc"]


def test_every_writable_name_has_dimensions_and_attributes(tmp_path):
    names = result_schema.writable()
    assert {"soil_water", "overland_depth", "discharge", "river_storage", "net_radiation"} <= set(names)
    for name in names:
        attributes = result_schema.variable_attributes(registry.variable(name))
        assert result_schema.file_dims(name)[-1] in ("unit", "subbasin", "gauge") and attributes["units"]
        factor, offset = result_schema.scale(registry.variable(name))
        assert factor > 0.0 and offset == 0.0


def _refusal(path, **more):
    with pytest.raises(InputError) as caught:
        ResultWriter(path, basin=more.pop("basin", make_basin()), clock=Clock(), first=0, last=1, **more)
    return str(caught.value)


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "folder.nc").mkdir()
    assert "is a folder" in _refusal(tmp_path / "folder.nc")
    assert "does not exist" in _refusal(tmp_path / "missing" / "out.nc")
    (tmp_path / "thesis.doc").write_text("years of work")
    assert "not a result file" in _refusal(tmp_path / "thesis.doc")
    assert (tmp_path / "thesis.doc").read_text() == "years of work"
    basin = make_basin()
    basin.path = tmp_path / "basin.nc"
    write(basin.path)
    assert "replace the basin file" in _refusal(basin.path, basin=basin)
    assert "zstd, zlib or none" in _refusal(tmp_path / "out.nc", compression="lzma")


def test_an_empty_file_may_be_replaced(tmp_path):
    (tmp_path / "out.nc").touch()
    write(tmp_path / "out.nc")
    assert (tmp_path / "out.nc").stat().st_size > 0


def test_no_zstd_in_the_library_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(netCDF4, "__has_zstandard_support__", 0)
    assert "use compression zlib" in _refusal(tmp_path / "out.nc")
    write(tmp_path / "out.nc", compression="zlib")


def test_zstd_with_shuffle_is_in_the_file(tmp_path):
    write(tmp_path / "out.nc")
    with netCDF4.Dataset(tmp_path / "out.nc") as result:
        filters = result["evapotranspiration"].filters()
        assert filters["zstd"] and filters["shuffle"] and filters["complevel"] == 3


def test_a_full_disk_ends_the_run_with_advice(tmp_path, monkeypatch):
    def full(self, first, block):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ResultWriter, "_append", full)
    writer = ResultWriter(tmp_path / "out.nc", basin=make_basin(), clock=Clock(), first=0, last=4)
    writer.put(0, make_values(2, ()))
    with pytest.raises(WeplError, match="No space left on device.*free some space"):
        writer.put(2, make_values(2, ()))
        writer.finish()
    assert leftovers(tmp_path) == []


def test_a_real_limit_on_file_size(tmp_path):
    """The kernel refuses to let the file grow past 200 kB, as a quota would."""
    script = textwrap.dedent("""
        import resource, signal, sys
        import numpy as np
        sys.path.insert(0, sys.argv[1])
        from test_writer import Clock, make_basin, make_values
        from wepl.errors import WeplError
        from wepl.run.writer import ResultWriter
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        variables = ("evapotranspiration",)
        try:
            with ResultWriter(sys.argv[2], basin=make_basin(), clock=Clock(), first=0, last=200_000,
                              variables=variables) as writer:
                for start in range(0, 200_000, 10_000):
                    writer.put(start, make_values(10_000, variables, seed=start))
                writer.finish()
        except WeplError as error:
            print("refused:", error)
        """)
    done = subprocess.run([sys.executable, "-c", script, str(Path(__file__).parent), str(tmp_path / "out.nc")],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "refused: cannot write" in done.stdout and "free some space" in done.stdout
    assert leftovers(tmp_path) == []


def test_a_slow_disk_holds_the_run_back(tmp_path, monkeypatch):
    """The queue is bounded: blocks waiting to be written do not pile up in memory."""
    may_write = threading.Event()
    append = ResultWriter._append

    def slow(self, first, block):
        may_write.wait(60)
        append(self, first, block)

    monkeypatch.setattr(ResultWriter, "_append", slow)
    values = make_values(20, ())
    with ResultWriter(tmp_path / "out.nc", basin=make_basin(), clock=Clock(), first=0, last=20) as writer:
        taken = []

        def feed():
            for step in range(20):
                writer.put(step, {name: array[step:step + 1] for name, array in values.items()})
                taken.append(step)

        feeder = threading.Thread(target=feed)
        feeder.start()
        feeder.join(0.5)
        assert feeder.is_alive() and len(taken) <= 4
        may_write.set()
        feeder.join(60)
        writer.finish()
    with xr.open_dataset(tmp_path / "out.nc") as result:
        np.testing.assert_array_equal(result["discharge"], values["discharge"])


def test_the_caller_may_reuse_its_arrays(tmp_path):
    values = make_values(4, ())
    kept = values["discharge"].copy()
    with ResultWriter(tmp_path / "out.nc", basin=make_basin(), clock=Clock(), first=0, last=4) as writer:
        writer.put(0, values)
        values["discharge"][:] = -1.0
        writer.finish()
    with xr.open_dataset(tmp_path / "out.nc") as result:
        np.testing.assert_array_equal(result["discharge"], kept)


def test_reading_ahead_and_writing_behind_at_once(tmp_path):
    """The netCDF library is not thread-safe: readers that hold the lock, or use xarray, do not disturb the writer."""
    with netCDF4.Dataset(tmp_path / "forcing.nc", "w") as file:
        file.createDimension("time", 400)
        file.createDimension("cell", 200)
        file.createVariable("rain", "f8", ("time", "cell"), chunksizes=(5, 200), zlib=True)[:] = np.ones((400, 200))
    stop, sums = threading.Event(), []

    def read_directly():
        while not stop.is_set():
            with LOCK, netCDF4.Dataset(tmp_path / "forcing.nc") as file:
                sums.append(float(file["rain"][:].sum()))

    def read_by_xarray():
        while not stop.is_set():
            with xr.open_dataset(tmp_path / "forcing.nc") as file:
                sums.append(float(file["rain"].sum()))

    readers = [threading.Thread(target=target) for target in (read_directly, read_by_xarray)]
    for reader in readers:
        reader.start()
    try:
        values = write(tmp_path / "out.nc", n_steps=2000, cuts=range(0, 2000, 10))
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert set(sums) == {80000.0}
    with xr.open_dataset(tmp_path / "out.nc") as result:
        np.testing.assert_array_equal(result["discharge"], values["discharge"])
