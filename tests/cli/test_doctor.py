"""wepl doctor: what it finds, the commands it gives, and its exit status, on machines with and without a GPU."""

from __future__ import annotations

import configparser
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wepl import doctor
from wepl.backends import choose
from wepl.cli import app

ROOT = Path(__file__).resolve().parents[2]
# nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total --format=csv,noheader
H100 = "NVIDIA H100 80GB HBM3, 580.65.06, 9.0, 81559 MiB\n"
V100 = "Tesla V100-SXM2-16GB, 580.65.06, 7.0, 16384 MiB\n"


@pytest.fixture
def machine(monkeypatch):
    """A machine with a working driver, the GPUs of ``text`` and the distributions of ``installed``."""
    def make(text: str, installed: dict[str, str]):
        monkeypatch.setattr(choose, "driver_problem", lambda: None)
        monkeypatch.setattr(doctor, "nvidia_smi", lambda: doctor.parse_gpus(text))
        monkeypatch.setattr(doctor, "_installed", lambda name: installed.get(name, ""))
        return {finding.subject: finding for finding in doctor.examine()}
    return make


def test_here_it_reports_and_finds_the_cpu():
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0, done.output
    for subject in ("Python", "CPU", "C++ compiler", "NVIDIA driver", "CuPy", "numba-cuda", "NVRTC", "libraries"):
        assert any(line.startswith(subject) for line in done.output.splitlines()), subject
    assert "cpu              works" in done.output
    working = done.output.splitlines()[-1].removeprefix("working: ").split(", ")
    assert "cpu" in working
    assert ("emulate" in working) == (shutil.which("g++") is not None or shutil.which("clang++") is not None)


def test_a_machine_where_nothing_works_ends_with_status_1(monkeypatch):
    monkeypatch.setattr(doctor, "examine", lambda: iter(()))
    monkeypatch.setattr(doctor, "self_test", lambda: iter([(doctor.Finding("cpu", "FAILS: oops"), False)]))
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 1
    assert "no backend works" in done.output


def test_packages_are_those_of_the_extras():
    setup = configparser.RawConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    for version, names in doctor.PACKAGES.items():
        assert set(setup["options.extras_require"][f"cuda{version}"].split()) == set(names)


def test_an_empty_machine_with_a_new_gpu(machine):
    findings = machine(H100, {})
    assert findings["GPU"].found == "NVIDIA H100 80GB HBM3, compute capability 9.0, 81559 MiB"
    assert findings["NVIDIA driver"].found == "580.65.06"
    assert findings["CuPy"].advice == (f"{sys.executable} -m pip install cupy-cuda13x 'numba-cuda[cu13]' "
                                       "nvidia-cuda-nvrtc")
    assert findings["NVRTC"].advice == f"{sys.executable} -m pip install nvidia-cuda-nvrtc"


def test_an_old_driver_gets_the_packages_of_cuda_12(machine):
    findings = machine("NVIDIA A100-SXM4-40GB, 535.104.05, 8.0, 40960 MiB\n", {})
    assert findings["CuPy"].advice.endswith("pip install cupy-cuda12x 'numba-cuda[cu12]' nvidia-cuda-nvrtc-cu12")


def test_volta_gets_the_packages_of_cuda_12(machine):
    """CUDA 13 compiles for Turing (7.5) and later."""
    assert "cupy-cuda12x" in machine(V100, {})["CuPy"].advice
    assert "cupy-cuda12x" in machine(H100 + V100, {})["CuPy"].advice


def test_a_driver_before_cuda_12_must_be_updated(machine):
    findings = machine("Tesla T4, 470.82.01, 7.5, 15360 MiB\n", {})
    assert "too old" in findings["CUDA"].found
    assert "driver" in findings["CUDA"].advice
    assert findings["CuPy"].advice == ""


def test_the_wheel_for_another_cuda_is_exchanged(machine):
    advice = machine(V100, {"cupy-cuda13x": "14.2.0"})["CuPy"].advice
    assert "pip uninstall -y cupy-cuda13x && " in advice
    assert advice.endswith("pip install cupy-cuda12x 'numba-cuda[cu12]' nvidia-cuda-nvrtc-cu12")


def test_the_wheel_for_cuda_12_runs_on_a_new_driver(machine):
    assert machine(H100, {"cupy-cuda12x": "14.2.0"})["CuPy"].advice == ""


def test_two_wheels_are_one_too_many(machine):
    advice = machine(H100, {"cupy-cuda12x": "14.2.0", "cupy-cuda13x": "14.2.0"})["CuPy"].advice
    assert "pip uninstall -y cupy-cuda13x cupy-cuda12x && " in advice
    assert advice.endswith("pip install cupy-cuda13x")


def test_all_there_needs_no_advice(machine):
    findings = machine(H100, {"cupy-cuda13x": "14.2.0", "numba-cuda": "0.30.4", "nvidia-cuda-nvrtc": "13.0"})
    assert [finding.subject for finding in findings.values() if finding.advice] == []


def test_without_a_gpu_nothing_is_to_be_installed(monkeypatch):
    monkeypatch.setattr(choose, "driver_problem", lambda: "no NVIDIA driver is installed (libcuda.so.1 is not there)")
    monkeypatch.setattr(doctor, "nvidia_smi", lambda: [])
    monkeypatch.setattr(doctor, "_installed", lambda name: "")
    findings = {finding.subject: finding for finding in doctor.examine()}
    assert "pip" not in "".join(findings[name].advice for name in ("CuPy", "numba-cuda", "NVRTC", "NVIDIA driver"))


def test_missing_libraries_are_named_with_their_command(monkeypatch):
    found = doctor.importlib.util.find_spec
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None if name in ("cf_units", "rasterio")
                        else found(name))
    (finding,) = [finding for finding in doctor.examine() if finding.subject == "libraries"]
    assert finding.found == "missing: cf_units, rasterio"
    assert finding.advice.endswith("pip install cf-units rasterio")


def test_a_backend_that_differs_is_said_to_fail(monkeypatch, daily_basin):
    from wepl import crosscheck
    from wepl.basin.dataset import Basin

    monkeypatch.setattr(crosscheck, "TOLERANCES", {"float64": (-1.0, 1e-9, 1e-9)})
    finding, well = doctor._try("emulate", Basin.open(daily_basin))
    assert not well
    assert "differs from the cpu backend by" in finding.found


def test_a_backend_that_raises_is_said_to_fail(daily_basin):
    from wepl.basin.dataset import Basin

    finding, well = doctor._try("abacus", Basin.open(daily_basin))
    assert not well
    assert "abacus" in finding.found
