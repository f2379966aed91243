"""The commands as their user meets them: options, messages, exit status, and what is left on the disk."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import xarray as xr
from typer.testing import CliRunner, Result

import wepl
from wepl import backends, errors
from wepl.cli import app

OPTIONS = {
    "run": {"--output", "-o", "--backend", "--precision", "--threads", "--start", "--end", "--block-days",
            "--variables", "--set", "--from-state", "--save-state", "--checkpoint", "--resume",
            "--spinup", "--compression", "--params", "--members", "--sample", "--ranges", "--seed", "--gauges",
            "--subbasins", "--indices", "--control", "--batch", "--rain-noise", "--temperature-noise", "--noise-days",
            "--noise-km", "--workers", "--scheduler", "--quiet", "--debug"},
    "build": {"--output", "-o", "--dry-run", "--plots", "--quiet", "--debug"},
    "check": {"--debug"},
    "info": {"--debug"},
    "synth": {"--units", "--years", "--start", "--step", "--seed", "--output", "-o", "--quiet", "--debug"},
    "compare": {"--rtol", "--atol", "--debug"},
}


def invoke(*arguments: object) -> Result:
    """A command inside this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def command(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command as a process of its own."""
    return subprocess.run([sys.executable, "-m", "wepl", *map(str, arguments)], cwd=cwd, capture_output=True,
                          text=True, timeout=600)


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Make every run end with an error."""
    def run(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("wepl.run.simulation.run", run)


@pytest.fixture(scope="module")
def result(daily_basin, tmp_path_factory) -> Path:
    """The result of a short run."""
    path = tmp_path_factory.mktemp("result") / "result.nc"
    done = invoke("run", daily_basin, "-o", path, "--end", "2010-01-20", "--variables", "runoff", "--quiet")
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture
def broken_basin(daily_basin, tmp_path) -> Path:
    """A basin whose third unit has a negative slope."""
    path = tmp_path / "broken.nc"
    with xr.open_dataset(daily_basin, decode_times=False) as data:
        data = data.load()
    data["unit_slope"][2] = -0.5
    data.to_netcdf(path)
    return path


def test_version_and_help():
    done = invoke("--version")
    assert (done.exit_code, done.output) == (0, f"wepl {wepl.__version__}\n")
    done = invoke("--help")
    assert done.exit_code == 0
    assert all(f"\n  {name} " in done.output for name in OPTIONS)
    assert invoke("-h").output == done.output


@pytest.mark.parametrize("name", OPTIONS)
def test_each_command_lists_its_options(name):
    done = invoke(name, "--help")
    assert done.exit_code == 0
    listed = {word.strip(",") for line in done.output.splitlines() if line.startswith("  -")
              for word in line.split()[:2] if word.startswith("-")}
    assert listed == OPTIONS[name] | {"-h", "--help"} | ({"-q"} if "--quiet" in OPTIONS[name] else set())


def test_help_names_every_backend():
    assert "|".join(backends.NAMES) in invoke("run", "--help").output


def test_help_loads_nothing_heavy():
    script = ("import sys; sys.argv = ['wepl', 'run', '--help']\n"
              "from wepl.__main__ import main\n"
              "try:\n    main()\nfinally:\n"
              "    print(sorted({'numpy', 'numba', 'xarray', 'netCDF4', 'scipy', 'pandas'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.parametrize("arguments", [(), ("walk",), ("run", "a.nc", "--speed", "9"), ("synth",),
                                       ("run", "a.nc", "--threads", "many"), ("compare", "a.nc")])
def test_wrong_usage(arguments):
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert "Usage: " in done.output


def test_run_hands_over_every_option(monkeypatch):
    given = {}
    monkeypatch.setattr("wepl.run.simulation.run", lambda basin, **options: given.update(options, basin=basin))
    done = invoke("run", "basin.nc", "-o", "out.nc", "--backend", "cpu", "--precision", "float64", "--threads", 2,
                  "--start", "2010-01-01", "--end", "2010-02-01T06:00", "--block-days", 2.5, "--variables",
                  "runoff, interflow,", "--variables", "baseflow", "--set", "rs_max=4000", "--set",
                  "infiltration_switch = never", "--from-state", "a.nc", "--save-state", "b.nc", "--compression",
                  "zlib", "--checkpoint", 30, "--spinup", 1, "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    assert given == {
        "basin": Path("basin.nc"), "output": Path("out.nc"), "backend": "cpu", "precision": "float64", "threads": 2,
        "start": "2010-01-01", "end": "2010-02-01T06:00", "block_days": 2.5,
        "variables": ["runoff", "interflow", "baseflow"],
        "options": {"rs_max": "4000", "infiltration_switch": "never"},
        "from_state": Path("a.nc"), "save_state": Path("b.nc"), "compression": "zlib", "quiet": True,
        "checkpoint": 30.0, "spinup": 1, "cluster": None,
    }


def test_run_without_options_takes_the_defaults_of_the_function(monkeypatch):
    given = {}
    monkeypatch.setattr("wepl.run.simulation.run", lambda basin, **options: given.update(options))
    assert invoke("run", "basin.nc").exit_code == 0
    assert given == dict(output=None, backend="auto", precision="float64", threads=None, start=None, end=None,
                         block_days=None, variables=[], options={}, from_state=None, save_state=None,
                         compression="zstd", quiet=False, checkpoint=365.0, spinup=0, cluster=None)


def test_run_of_nothing_and_of_too_much():
    assert "give a basin file, or --resume" in invoke("run").stderr
    assert "leave BASIN.nc out" in invoke("run", "basin.nc", "--resume", "out.nc").stderr


@pytest.mark.parametrize("text", ["rs_max", "=3", "rs_max=", "  =  "])
def test_assignments_that_are_none(text):
    done = invoke("run", "basin.nc", "--set", text)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"wepl: error: --set {text}: give NAME=VALUE")


@pytest.mark.parametrize("kind, status", [(errors.WeplError, 1), (errors.InputError, 2), (errors.BasinError, 2),
                                          (errors.NumericalError, 3), (errors.BackendError, 2)])
def test_errors_are_one_message_and_a_status(monkeypatch, kind, status):
    failing(monkeypatch, kind("unit 7: slope is negative: mend it"))
    done = invoke("run", "basin.nc")
    assert (done.exit_code, done.stdout) == (status, "")
    assert done.stderr == "wepl: error: unit 7: slope is negative: mend it\n"
    done = invoke("run", "basin.nc", "--debug")
    assert type(done.exception) is kind


def test_a_fault_of_ours_says_so(monkeypatch):
    failing(monkeypatch, ZeroDivisionError("division by zero"))
    done = invoke("run", "basin.nc")
    assert done.exit_code == 1
    assert done.stderr.startswith("wepl: error: ZeroDivisionError: division by zero\nThis is a fault of wepl")
    assert "--debug" in done.stderr
    assert type(invoke("run", "basin.nc", "--debug").exception) is ZeroDivisionError


def test_no_memory(monkeypatch):
    failing(monkeypatch, MemoryError("Unable to allocate 9 TiB"))
    done = invoke("run", "basin.nc")
    assert done.exit_code == 1
    assert done.stderr == "wepl: error: not enough memory (Unable to allocate 9 TiB); try fewer --block-days or " \
                          "--variables\n"


def test_ctrl_c(monkeypatch):
    failing(monkeypatch, KeyboardInterrupt())
    done = invoke("run", "basin.nc")
    assert (done.exit_code, done.stdout) == (130, "")
    assert done.stderr == "wepl: interrupted; no unfinished file was left behind\n"


def test_debug_shows_the_traceback(tmp_path):
    plain, debug = command("info", "none.nc", cwd=tmp_path), command("info", "none.nc", "--debug", cwd=tmp_path)
    assert plain.returncode == 2 and plain.stderr.count("\n") == 1 and "none.nc is not there" in plain.stderr
    assert debug.returncode != 0 and "Traceback" in debug.stderr and "InputError" in debug.stderr


def test_a_run_end_to_end(daily_basin, tmp_path):
    done = command("run", daily_basin, "--end", "2010-03-31", "--variables", "evapotranspiration,soil_moisture",
                   "--save-state", "state.nc", "--set", "conductivity_factor=2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    output = tmp_path / f"{daily_basin.stem}_result.nc"
    assert sorted(path.name for path in tmp_path.iterdir()) == [output.name, "state.nc"]
    assert "precipitation" in done.stdout and done.stdout.splitlines()[-1] == f"result: {output.name}"
    assert done.stderr.splitlines()[-1].startswith("100%  2010-03-31")
    with xr.open_dataset(output) as data:
        assert data.sizes["time"] == 90
        assert {"discharge", "evapotranspiration", "soil_moisture"} <= set(data)
    assert invoke("info", output).output.count("\n") <= 25
    assert "conductivity_factor 2" in invoke("info", output).output
    assert "state" in invoke("info", tmp_path / "state.nc").output


def test_quiet_prints_nothing(daily_basin, tmp_path):
    done = command("run", daily_basin, "--end", "2010-01-05", "-o", "out.nc", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "out.nc").is_file()


@pytest.mark.parametrize("arguments, words", [
    (("--set", "speed=3"), "unknown option speed"),
    (("--set", "rs_max=fast"), "rs_max"),
    (("--set", "rs_max=-3"), "outside"),
    (("--variables", "gold"), "gold"),
    (("--backend", "abacus"), "abacus"),
    (("--precision", "float16"), "float16"),
    (("--threads", "0"), "--threads 0"),
    (("--start", "1950-01-01"), "1950-01-01"),
    (("--start", "2010-02-01", "--end", "2010-01-01"), "2010-01-01"),
    (("--end", "tomorrow"), "tomorrow"),
    (("--block-days", "0.001"), "--block-days"),
    (("--block-days", "-3"), "--block-days"),
    (("--compression", "rar"), "rar"),
    (("--from-state", "none.nc"), "none.nc"),
    (("-o", "nowhere/out.nc"), "nowhere"),
    (("--save-state", "nowhere/state.nc"), "nowhere"),
])
def test_a_run_that_cannot_start_leaves_no_file(daily_basin, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    done = invoke("run", daily_basin, "--end", "2010-01-03", *arguments) if "--end" not in arguments else invoke(
        "run", daily_basin, *arguments)
    assert done.exit_code == 2, (done.output, done.exception)
    message = done.stderr.splitlines()[-1]
    assert message.startswith("wepl: error: ") and words in message
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_no_basin(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.nc").write_text("not netCDF")
    for name in ("none.nc", "text.nc", "."):
        done = invoke("run", name)
        assert done.exit_code == 2 and name in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["text.nc"]


def test_a_run_over_its_own_basin(daily_basin, tmp_path):
    basin = tmp_path / "basin.nc"
    shutil.copy(daily_basin, basin)
    before = basin.read_bytes()
    assert invoke("run", basin, "-o", basin).exit_code == 2
    assert basin.read_bytes() == before


# A shell that starts the tests in the background lets them ignore Ctrl-C, and so would every process that they start.
_HEEDS_SIGNALS = ("import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
                  "from wepl.__main__ import main; main()")


@pytest.mark.skipif(os.name == "nt", reason="no POSIX signals here")
@pytest.mark.parametrize("sent, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_leaves_no_file(hourly_basin, tmp_path, result, sent, status):
    # ``result`` has compiled the model, so the run is in its block loop soon after its file appears.
    arguments = ["run", str(hourly_basin), "-o", "out.nc", "--block-days", "0.1", "--checkpoint", "0"]
    process = subprocess.Popen([sys.executable, "-c", _HEEDS_SIGNALS, *arguments], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not list(tmp_path.iterdir()) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(sent)
    _, messages = process.communicate(timeout=120)
    assert process.returncode == status
    assert "Traceback" not in messages and messages.splitlines()[-1].startswith("wepl: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="no POSIX pipes here")
@pytest.mark.parametrize("name", ["info", "check"])
def test_a_reader_that_leaves_early(daily_basin, tmp_path, name):
    process = subprocess.Popen([sys.executable, "-m", "wepl", name, str(daily_basin)], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    messages = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) == 1
    assert messages == b""


def test_check_of_a_good_basin(daily_basin):
    done = invoke("check", daily_basin)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert len(lines) > 10 and all(line.startswith("pass  ") for line in lines[:-1])
    assert lines[-1] == f"all {len(lines) - 1} rules are kept"


def test_check_names_variable_unit_and_value(broken_basin):
    with xr.open_dataset(broken_basin) as data:
        unit = int(data["unit"][2])
    done = invoke("check", broken_basin)
    assert done.exit_code == 2, done.output
    lines = done.output.splitlines()
    (failed,) = [place for place, line in enumerate(lines) if line.startswith("FAIL  ")]
    assert all(words in lines[failed + 1] for words in ("unit_slope", f"unit {unit}", "-0.5")), done.output
    assert lines[-1].startswith("1 of ") and lines[-1].endswith(" rules are broken")


def test_check_of_something_else(tmp_path):
    (tmp_path / "text.nc").write_text("not netCDF")
    for name in ("none.nc", "text.nc"):
        done = invoke("check", tmp_path / name)
        assert done.exit_code == 2 and name in done.stderr


def test_a_run_of_a_broken_basin_says_the_same(broken_basin, tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    done = invoke("run", broken_basin)
    assert done.exit_code == 2
    assert "unit_slope" in done.stderr and "-0.5" in done.stderr
    assert list(Path().iterdir()) == []


def test_synth_makes_the_asked_basin(tmp_path):
    for name, seed in (("a.nc", 1), ("b.nc", 1), ("c.nc", 2)):
        done = invoke("synth", "--units", 20, "--seed", seed, "--start", "2001-01-01", "-o", tmp_path / name)
        assert (done.exit_code, done.output) == (0, f"basin: {tmp_path / name}\n"), done.output
    with xr.open_dataset(tmp_path / "a.nc") as data:
        assert data.sizes["unit"] == 20 and data.sizes["time"] == 365
        assert str(data["time"].values[0]).startswith("2001-01-01")
    assert invoke("compare", tmp_path / "a.nc", tmp_path / "b.nc", "--rtol", 0).exit_code == 0
    assert invoke("compare", tmp_path / "a.nc", tmp_path / "c.nc").exit_code == 1
    assert invoke("check", tmp_path / "a.nc").exit_code == 0


@pytest.mark.parametrize("arguments, words", [
    (("--units", "0"), "units"), (("--units", "-5"), "units"), (("--years", "0"), "years"), (("--step", "1w"), "1w"),
    (("--start", "soon"), "soon"), (("-o", "nowhere/a.nc"), "nowhere"),
])
def test_a_synthetic_basin_that_cannot_be_made(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    done = invoke("synth", "--units", "12", "-o", "a.nc", *arguments)
    assert done.exit_code == 2, (done.output, done.exception)
    assert words in done.stderr and list(tmp_path.iterdir()) == []


def test_info_of_each_kind(daily_basin, result):
    for path, content in ((daily_basin, "basin"), (result, "result")):
        done = invoke("info", path)
        assert done.exit_code == 0 and re.search(rf"^content +{content}$", done.output, re.MULTILINE), done.output


def test_compare_within_and_beyond(result, tmp_path):
    other = tmp_path / "other.nc"
    with xr.open_dataset(result, decode_times=False) as data:
        data = data.load()
    encoding = {name: {"_FillValue": None} for name in data.variables}
    data.to_netcdf(tmp_path / "same.nc", encoding=encoding)
    data["discharge"] = data["discharge"] * (1 + 1e-6)
    data.to_netcdf(other, encoding=encoding)
    done = invoke("compare", result, result)
    assert done.exit_code == 0 and done.output.splitlines()[-1].endswith("variables agree")
    done = invoke("compare", tmp_path / "same.nc", other)
    assert done.exit_code == 1 and "1 of" in done.output and "NO" in done.output
    assert invoke("compare", tmp_path / "same.nc", other, "--rtol", "2e-6").exit_code == 0
    assert invoke("compare", tmp_path / "same.nc", other, "--atol", "1e6").exit_code == 0
    assert invoke("compare", result, tmp_path / "none.nc").exit_code == 2
    assert invoke("compare", result, other, "--rtol", "-1").exit_code == 2


def test_check_gives_each_problem_a_line(monkeypatch):
    checks = [SimpleNamespace(rule="a rule", passed=True, problems=()),
              SimpleNamespace(rule="another", passed=False, problems=("unit 3: x", "unit 4: y"))]
    monkeypatch.setattr("wepl.basin.dataset.inspect", lambda path: checks)
    done = invoke("check", "basin.nc")
    assert done.exit_code == 2
    assert done.output == ("pass  a rule\nFAIL  another\n      unit 3: x\n      unit 4: y\n1 of 2 rules are broken\n")
