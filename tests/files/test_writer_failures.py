"""Writing a result that fails: what is refused, what ends it, and that nothing but older results is left."""

from __future__ import annotations

import errno
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from results import Clock, leftovers, make_basin, make_values, write

from wepl.errors import InputError, WeplError
from wepl.run.writer import ResultWriter


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
        from results import Clock, make_basin, make_values
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
