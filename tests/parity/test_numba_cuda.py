"""The numba.cuda backend where there is no GPU: code for each architecture, and runs in numba's simulator.

The simulator must stand in the environment before numba is imported, and the compilation needs a stand-in for the
device, so both run in processes of their own: this file as a script.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xarray as xr

from wepl import backends, rows
from wepl.backends import choose
from wepl.errors import BackendError, NumericalError
from wepl.kernels import buffers, host

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = ("evapotranspiration", "soil_moisture", "snow_water_equivalent", "baseflow")
N_LAYERS = 3
KERNELS = ("weather", "column", "column_by_unit", "hillslope", "river")
ARCHITECTURES = ("75", "80", "86", "89", "90")
# A basin of ten units in summer, by day and by hour.
PERIODS = {"daily": ("1d", "2010-05-01", "2010-05-24"), "hourly": ("1h", "2010-06-10", "2010-06-12")}
# Mapping, threads in all, threads of a block: the last block is partly idle in some, some threads have many places.
GRIDS = {"default": {}, "one_thread": {"grid_threads": 1}, "small_blocks": {"grid_threads": 7, "block_threads": 3},
         "by_unit": {"mapping": "unit"}, "by_unit_small": {"mapping": "unit", "grid_threads": 4, "block_threads": 4}}
# A state of each stage that checks its results, and what the error says of the place.
POISONED = {"snow_ice": ("column stage", r"unit \d+.*, land class \w+"), "overland_depth": ("hillslope", "sub-basin"),
            "groundwater_head": ("river stage", "sub-basin")}


# What the processes do: `simulate` in numba's simulator, `compile` with a stand-in for the device.

def simulate(folder: Path) -> None:
    """Run each basin of ``folder`` on every grid; poison a state on every backend; leave results and messages."""
    from wepl.backends.numba_cuda import NumbaCudaBackend
    from wepl.run.simulation import run

    for name, (_, start, end) in PERIODS.items():
        for grid, settings in GRIDS.items():
            with made(NumbaCudaBackend(**settings) if settings else None):
                run(folder / f"{name}.nc", output=folder / f"{name}_{grid}.nc", backend="numba-cuda", start=start,
                    end=end, block_days=10, variables=VARIABLES, quiet=True)
    messages = {"reason": backends.create("numba-cuda").reason, "auto": backends.create().reason}
    for backend in ("cpu", "numba-cuda", *(["emulate"] if host.compiler() else [])):
        for state in POISONED:
            messages[f"{backend} {state}"] = poisoned_message(folder, backend, state)
    (folder / "messages.json").write_text(json.dumps(messages))


@contextmanager
def made(backend: Any) -> Iterator[None]:
    """Let runs have ``backend`` whatever they ask for; nothing changes for None."""
    before = backends.create
    try:
        if backend is not None:
            backends.create = lambda *_, **__: backend
        yield
    finally:
        backends.create = before


def poisoned_message(folder: Path, backend: str, state: str) -> str:
    """What the user reads when the last value of a state is NaN in the second block."""
    from wepl.run.model import Model
    from wepl.run.simulation import run

    calls, advance = [0], Model.advance_staged

    def poisoned(self: Model, *arguments: Any, **more: Any) -> Any:
        calls[0] += 1
        if calls[0] == 2:
            values = self.state()
            values[state][-1] = np.nan
            self.set_state(values)
        return advance(self, *arguments, **more)

    Model.advance_staged = poisoned
    try:
        run(folder / "daily.nc", output=folder / "poisoned.nc", backend=backend, start="2010-05-01", end="2010-05-24",
            block_days=10, quiet=True)
    except NumericalError as error:
        return str(error)
    finally:
        Model.advance_staged = advance
    return "the run went on"


def compile_kernels(folder: Path) -> None:
    """Leave the PTX of every kernel and architecture in ``folder``."""
    from numba import cuda, float64, int32, int64, types
    from numba.cuda import dispatcher

    from wepl.kernels import numba_cuda as kernels

    number = {"real": float64, "store": float64, "int32": int32, "int": int64}
    for architecture in ARCHITECTURES:
        capability = (int(architecture[:-1]), int(architecture[-1]))
        dispatcher.get_current_device = lambda found=capability: SimpleNamespace(compute_capability=found)
        for kernel in KERNELS if architecture == "86" else (name for name in KERNELS if name != "column_by_unit"):
            signature = [types.Array(number[argument.dtype], len(argument.dims), "C")
                         if isinstance(argument, buffers.Buffer) else number[argument.dtype]
                         for argument in buffers.arguments(kernel)]
            signature += [int64] * 4 if kernel == "river" else []
            code, _ = cuda.compile_ptx(kernels.function(kernel, N_LAYERS), tuple(signature), cc=capability)
            (folder / f"{kernel}_{architecture}.ptx").write_text(code)


def process(task: str, folder: Path, **environment: str) -> None:
    # Where the checkout is not installed, the script finds it beside itself.
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run([sys.executable, "-W", "error", __file__, task, str(folder)], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": path} | environment, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


# Code for the architectures.

def has_nvvm() -> bool:
    """Whether numba-cuda finds the compiler that turns its code into PTX."""
    try:
        from numba.cuda.cudadrv import nvvm
        nvvm.NVVM()
    except Exception:  # Each release has an error of its own for a missing library.
        return False
    return True


@pytest.fixture(scope="module")
def ptx(tmp_path_factory) -> Path:
    """Folder of the PTX of all kernels."""
    if not has_nvvm():
        pytest.skip("libNVVM is not here: pip install 'numba-cuda[cu13]'")
    folder = tmp_path_factory.mktemp("ptx")
    process("compile", folder)
    return folder


CODE = pytest.mark.parametrize(("kernel", "architecture"), [
    *((kernel, architecture) for architecture in ARCHITECTURES for kernel in KERNELS if kernel != "column_by_unit"),
    ("column_by_unit", "86")])


@CODE
def test_code_is_whole_and_in_double_precision(ptx, kernel, architecture):
    code = (ptx / f"{kernel}_{architecture}.ptx").read_text()
    assert re.search(rf"^\.target sm_{architecture}\b", code, re.MULTILINE)
    assert len(re.findall(r"^\.visible \.entry ", code, re.MULTILINE)) == 1
    # Nothing is left for a linker: physics and libdevice are inside.
    assert ".extern" not in code
    assert re.search(r"\b(add|mul|fma)\.rn\.f64", code)
    # libdevice compares the upper halves of doubles as floats, but nothing computes or rounds in single precision.
    assert not re.findall(r"\b(?:add|sub|mul|div|fma|mad|sqrt|rcp|rsqrt|ex2|lg2|sin|cos|cvt)\.[a-z0-9.]*f32", code)


@pytest.mark.parametrize("kernel", ["column", "column_by_unit"])
def test_scratch_is_local_memory_of_a_known_size(ptx, kernel):
    code = (ptx / f"{kernel}_86.ptx").read_text()
    size = int(re.search(r"\.local .*__local_depot0\[(\d+)\]", code)[1])
    assert size >= 8 * (rows.N_ROWS["tile_state"] + rows.N_SOIL_WORK * N_LAYERS)
    assert size < 2 * 8 * (rows.N_ROWS["tile_state"] + rows.N_ROWS["tile_flux"] + rows.N_SOIL_WORK * N_LAYERS)


@pytest.mark.parametrize("architecture", ["86", "90"])
@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "column_by_unit"])
def test_registers_suffice(ptx, kernel, architecture):
    assembler = shutil.which("ptxas")
    if assembler is None:
        pytest.skip("ptxas of the CUDA toolkit is not on the path")
    done = subprocess.run([assembler, "-v", f"-arch=sm_{architecture}", str(ptx / f"{kernel}_{architecture}.ptx"), "-o",
                           os.devnull], capture_output=True, text=True, timeout=300, check=False)
    if "Unsupported .version" in done.stderr:
        pytest.skip("this ptxas is older than the PTX")
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"(\d+) bytes spill", done.stderr)) == {"0"}
    # A block has 65536 registers on every one of these architectures.
    assert 128 * max(map(int, re.findall(r"Used (\d+) registers", done.stderr))) <= 65536


# Runs in the simulator.

def values(path: Path) -> dict[str, np.ndarray]:
    with xr.open_dataset(path, decode_times=False) as data:
        return {name: data[name].values for name in ("discharge", *VARIABLES)}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory) -> Path:
    """Folder of basins, of their results on the CPU, and of what the simulator made of them."""
    from wepl.basin.synthetic import synthesize
    from wepl.run.simulation import run

    folder = tmp_path_factory.mktemp("simulated")
    for name, (step, start, end) in PERIODS.items():
        synthesize(folder / f"{name}.nc", units=10, years=1, step=step, seed=3)
        run(folder / f"{name}.nc", output=folder / f"{name}_cpu.nc", backend="cpu", start=start, end=end,
            variables=VARIABLES, quiet=True)
    process("simulate", folder, NUMBA_ENABLE_CUDASIM="1")
    return folder


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("period", PERIODS)
def test_same_bits_as_the_cpu_on_every_grid(simulated, period, grid):
    # Both run the same compiled functions; only the loops around them differ.
    expected, found = values(simulated / f"{period}_cpu.nc"), values(simulated / f"{period}_{grid}.nc")
    assert np.ptp(expected["discharge"]) > 0.0
    assert np.ptp(expected["evapotranspiration"]) > 0.0
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.fixture(scope="module")
def messages(simulated) -> Mapping[str, str]:
    """What the backends of the simulator's process said."""
    return json.loads((simulated / "messages.json").read_text())


@pytest.mark.parametrize("backend", ["cpu", "emulate", "numba-cuda"])
@pytest.mark.parametrize("state", POISONED)
def test_a_poisoned_state_is_named(messages, backend, state):
    if backend == "emulate" and host.compiler() is None:
        pytest.skip("no C++ compiler for the emulate backend")
    stage, place = POISONED[state]
    # The second block of ten days begins on 11 May.
    assert re.search(rf"{stage}.*{place}.*2010-05-11.*not finite", messages[f"{backend} {state}"])
    assert messages[f"{backend} {state}"] == messages[f"cpu {state}"]


def test_the_simulator_is_named_and_not_chosen(messages):
    assert "simulator" in messages["reason"]
    assert messages["auto"].startswith(("cpu:", "native:"))
    assert "simulator stands in" in messages["auto"] or "threads" in messages["auto"]


# Without a GPU, and with one.

def test_without_a_gpu_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(choose, "numba_cuda_problem", lambda: "the NVIDIA driver sees no GPU")
    with pytest.raises(BackendError, match=r"numba-cuda.*sees no GPU.*pip install 'wepl\[cuda13\]'"):
        backends.create("numba-cuda")


@pytest.mark.parametrize(("cupy", "numba_cuda", "chosen", "reason"), [
    (None, None, "cupy", "the fastest"),
    ("CuPy is not installed", None, "numba-cuda", "no cupy: CuPy is not installed"),
    ("a", "b", "cpu", "no cupy: a; no numba-cuda: b"),
    ("no driver", "no driver", "cpu", "no cupy and no numba-cuda: no driver"),
])
def test_auto_says_why(monkeypatch, cupy, numba_cuda, chosen, reason):
    monkeypatch.setattr(choose, "cupy_problem", lambda: cupy)
    monkeypatch.setattr(choose, "numba_cuda_problem", lambda: numba_cuda)
    monkeypatch.setattr("wepl.kernels.native_build.has_vectors", lambda: False)
    name, why = choose.choose()
    assert name == chosen
    assert why.startswith(reason)


def test_auto_takes_the_cpu_for_threads_and_nothing_for_a_precision_that_is_not_there(monkeypatch):
    monkeypatch.setattr(choose, "cupy_problem", lambda: "there is no CuPy")
    monkeypatch.setattr(choose, "numba_cuda_problem", lambda: None)
    assert choose.choose(threads=2)[0] in ("cpu", "native")
    with pytest.raises(BackendError, match="mixed needs .* there is no CuPy"):
        choose.choose("mixed")


@pytest.mark.parametrize(("code", "count", "expected"), [
    (100, 0, "sees no GPU"), (0, 0, "sees no GPU"), (803, 0, "CUDA error 803"), (0, 2, None)])
def test_the_driver_is_asked(monkeypatch, code, count, expected):
    def device_count(pointer):
        pointer._obj.value = count
        return 0

    driver = SimpleNamespace(cuInit=lambda flags: code, cuDeviceGetCount=device_count)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: driver)
    problem = choose.driver_problem.__wrapped__()
    assert problem is None if expected is None else expected in problem


def test_a_probe_that_fails_is_an_answer():
    def attempt():
        raise OSError("libnvrtc.so.13: cannot open\nshared object file")

    assert choose._trial("numba", "numba-cuda", attempt) == (
        "numba-cuda fails (OSError: libnvrtc.so.13: cannot open shared object file)")
    assert "pip install 'wepl[cuda13]'" in choose._trial("no_such_module", "CuPy", attempt)


@pytest.mark.skipif(choose.driver_problem() is not None or choose.simulated(), reason="there is no NVIDIA GPU here")
@pytest.mark.parametrize("settings", [{}, {"mapping": "unit", "grid_threads": 50}])
def test_a_gpu_agrees_with_the_cpu(simulated, tmp_path, monkeypatch, settings):
    from wepl.backends.numba_cuda import NumbaCudaBackend
    from wepl.run.simulation import run

    backend = NumbaCudaBackend(**settings)
    monkeypatch.setattr(backends, "create", lambda *_, **__: backend)
    for name, (_, start, end) in PERIODS.items():
        run(simulated / f"{name}.nc", output=tmp_path / "gpu.nc", start=start, end=end, variables=VARIABLES, quiet=True)
        # A GPU fuses products and sums: docs/architecture.md allows 1e-9 (unit variables are stored as float32).
        for variable, expected in values(simulated / f"{name}_cpu.nc").items():
            found = values(tmp_path / "gpu.nc")[variable]
            allowed = 1e-9 if expected.dtype == np.float64 else 2e-7
            np.testing.assert_allclose(found, expected, rtol=allowed, atol=allowed * np.nanmax(np.abs(expected)))


if __name__ == "__main__":
    {"simulate": simulate, "compile": compile_kernels}[sys.argv[1]](Path(sys.argv[2]))
