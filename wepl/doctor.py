"""What the model finds on this machine, what is missing, and the command that mends it; a short run on each backend."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from wepl import __version__
from wepl.errors import WeplError

# The packages of the extras cuda13 and cuda12 in setup.cfg.
PACKAGES = {13: ("cupy-cuda13x", "numba-cuda[cu13]", "nvidia-cuda-nvrtc"),
            12: ("cupy-cuda12x", "numba-cuda[cu12]", "nvidia-cuda-nvrtc-cu12")}
# First driver of each CUDA version; CUDA 13 left out the GPUs before Turing.
_FIRST_DRIVER = {13: 580, 12: 525}
_FIRST_CAPABILITY = {13: 7.5, 12: 5.0}
_LIBRARIES = ("numba", "numpy", "scipy", "pandas", "xarray", "netCDF4", "cftime", "cf_units", "rasterio")
_SELF_TEST_DAYS = 60
_CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy-cuda11x", "cupy")


@dataclass(frozen=True)
class Finding:
    """One line of the report: what was looked for, what was found, and what mends it ("" when nothing needs to)."""

    subject: str
    found: str
    advice: str = ""

    @property
    def text(self) -> str:
        lines = [f"{self.subject:<16} {self.found}"]
        return "\n".join(lines + ([f"{'':<16}   -> {self.advice}"] if self.advice else []))


@dataclass(frozen=True)
class Gpu:
    """A GPU as nvidia-smi tells of it: name, driver, compute capability, memory in MiB."""

    name: str
    driver: str
    capability: float
    memory: str


def examine() -> Iterator[Finding]:
    """Everything but the backends' own runs, line by line."""
    yield Finding("wepl", f"{__version__} in {Path(__file__).resolve().parent}")
    yield Finding("Python", f"{platform.python_version()} ({sys.executable})")
    yield Finding("system", platform.platform())
    yield Finding("CPU", f"{_cores()} cores to use of {os.cpu_count()}")
    missing = [name for name in _LIBRARIES if importlib.util.find_spec(name) is None]
    yield Finding("libraries", f"missing: {', '.join(missing)}" if missing else "all there",
                  _pip(*(name.replace("cf_units", "cf-units") for name in missing)) if missing else "")
    yield _compiler()
    yield from _gpu()


def _cores() -> int:
    # A container or a batch system may grant fewer than the machine has.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pip(*packages: str) -> str:
    # Some shells read brackets as a pattern.
    return f"{sys.executable} -m pip install {' '.join(shlex.quote(package) for package in packages)}"


def _compiler() -> Finding:
    from wepl.kernels import native_build

    found = native_build.compiler()
    advice = "" if found else (f"without one the slower cpu backend computes: install g++ or clang++, name one in CXX, "
                               f"or {_pip('ziglang')}")
    return Finding("C++ compiler", native_build.name() if found else "none", advice)


def _gpu() -> Iterator[Finding]:
    from wepl.backends import choose

    problem = choose.driver_problem()
    gpus = nvidia_smi()
    if problem is not None:
        advice = "a GPU is not needed; to use one, install the driver from https://www.nvidia.com/drivers"
        yield Finding("NVIDIA driver", problem, advice)
    elif not gpus:
        yield Finding("NVIDIA driver", "works, but nvidia-smi is not on the path: version and GPUs are not known here")
    else:
        yield Finding("NVIDIA driver", gpus[0].driver)
        for gpu in gpus:
            yield Finding("GPU", f"{gpu.name}, compute capability {gpu.capability:.1f}, {gpu.memory}")
    cuda = cuda_version(gpus)
    if gpus and cuda is None:
        yield Finding("CUDA", f"the driver or the GPU is too old for the GPU backends: driver {_FIRST_DRIVER[12]} and "
                              f"compute capability {_FIRST_CAPABILITY[12]} are the least",
                      "update the driver from https://www.nvidia.com/drivers")
    yield from packages(cuda if problem is None else None)


def nvidia_smi() -> list[Gpu]:
    """The GPUs that nvidia-smi lists; none when there is no such program or it fails."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    asked = "name,driver_version,compute_cap,memory.total"
    done = subprocess.run([program, f"--query-gpu={asked}", "--format=csv,noheader"], capture_output=True, text=True,
                          check=False, timeout=30)
    return parse_gpus(done.stdout) if done.returncode == 0 else []


def parse_gpus(text: str) -> list[Gpu]:
    """The GPUs of nvidia-smi's comma-separated answer."""
    gpus = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.rsplit(",", 3)]
        if len(parts) == 4:
            gpus.append(Gpu(parts[0], parts[1], float(parts[2]), parts[3]))
    return gpus


def cuda_version(gpus: list[Gpu]) -> int | None:
    """Newest CUDA version, 13 or 12, that the driver and every GPU take; None when neither does or none is known."""
    if not gpus:
        return None
    driver = int(gpus[0].driver.partition(".")[0])
    capability = min(gpu.capability for gpu in gpus)
    return next((version for version, first in _FIRST_DRIVER.items()
                 if driver >= first and capability >= _FIRST_CAPABILITY[version]), None)


def packages(cuda: int | None) -> Iterator[Finding]:
    """CuPy, numba-cuda and NVRTC as installed; advice only where a GPU could use them (``cuda`` its version)."""
    wanted = PACKAGES.get(cuda or 0, ("", "", ""))
    cupys = [(name, version) for name in _CUPY if (version := _installed(name))]
    found = ", ".join(f"{name} {version}" for name, version in cupys) or "not installed"
    if len(cupys) > 1:
        advice = (f"two of them hide each other: {sys.executable} -m pip uninstall -y "
                  f"{' '.join(name for name, _ in cupys)} && {_pip(wanted[0] or cupys[0][0])}")
    elif wanted[0] and cupys and cupys[0][0] not in (wanted[0], "cupy"):
        advice = f"{sys.executable} -m pip uninstall -y {cupys[0][0]} && {_pip(*wanted)}"
        # A wheel for CUDA 12 runs on the drivers of CUDA 13 as well.
        advice = "" if (cuda, cupys[0][0]) == (13, "cupy-cuda12x") else advice
    else:
        advice = _pip(*wanted) if wanted[0] and not cupys else ""
    yield Finding("CuPy", found, advice)
    numba_cuda = _installed("numba-cuda")
    yield Finding("numba-cuda", numba_cuda or "not installed", _pip(wanted[1]) if wanted[1] and not numba_cuda else "")
    nvrtcs = [(name, version) for name in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12")
              if (version := _installed(name))]
    yield Finding("NVRTC", ", ".join(f"{name} {version}" for name, version in nvrtcs)
                  or "no package (a CUDA toolkit of the system may bring it)",
                  _pip(wanted[2]) if wanted[2] and not nvrtcs else "")


def _installed(name: str) -> str:
    """Version of a distribution, "" when it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def self_test() -> Iterator[tuple[Finding, bool]]:
    """A tiny synthetic basin on every backend that can run here, each compared with the CPU; whether it is well."""
    from wepl.backends import choose
    from wepl.basin.dataset import Basin
    from wepl.basin.synthetic import synthesize
    from wepl.kernels import host, native_build

    problems = {"cpu": None, "native": native_build.problem(), "cupy": choose.cupy_problem(),
                "numba-cuda": choose.numba_cuda_problem(),
                "emulate": None if host.compiler() else "no C++ compiler"}
    if choose.simulated():
        problems["numba-cuda"] = "NUMBA_ENABLE_CUDASIM is set: numba simulates a GPU, too slowly for this test"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "basin.nc"
        synthesize(path, units=12, years=1, seed=1)
        basin = Basin.open(path)
        for name, problem in problems.items():
            yield (Finding(name, f"cannot run: {problem}"), False) if problem else _try(name, basin)


def _try(name: str, basin) -> tuple[Finding, bool]:
    from wepl.crosscheck import crosscheck

    began = time.perf_counter()
    try:
        check = crosscheck(basin, [name], days=_SELF_TEST_DAYS)
    except WeplError as error:
        return Finding(name, f"FAILS: {error}"), False
    seconds = time.perf_counter() - began
    closure = next(value for key, value in check.closures.items() if key.startswith(name))
    if not check.passed:
        worst = max(check.rows, key=lambda row: row.relative)
        return Finding(name, f"FAILS: {worst.variable} differs from the cpu backend by {worst.relative:.1e}"), False
    largest = max((row.relative for row in check.rows), default=0.0)
    same = f"differs from cpu by {largest:.1e} at most, " if check.rows else ""
    return Finding(name, f"works: {same}balance closed to {closure:.1e}, {seconds:.1f} s with compilation"), True


def doctor() -> bool:
    """Print the report; whether a backend works."""
    for finding in examine():
        print(finding.text, flush=True)
    print(f"\nbackends, {_SELF_TEST_DAYS} days of a synthetic basin of 12 units (at first they compile: a minute)",
          flush=True)
    works = []
    for finding, well in self_test():
        print(finding.text, flush=True)
        works += [finding.subject] if well else []
    print(f"\nworking: {', '.join(works)}" if works else "\nno backend works: mend what is marked with -> above")
    return bool(works)
