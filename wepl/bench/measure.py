"""Measures the model on each backend: stages, end to end, by number of threads, units and members."""

from __future__ import annotations

import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from wepl import backends
from wepl.backends import Backend
from wepl.backends.base import Array
from wepl.basin.dataset import Basin
from wepl.run.assembly import Arrays, assemble
from wepl.run.ensemble import assemble_members
from wepl.run.memory import run_in_memory
from wepl.run.simulation import resolve_options

_PACKAGES = ("numpy", "numba", "cupy-cuda13x", "cupy-cuda12x", "numba-cuda", "nvidia-cuda-nvrtc")


class Timed(Backend):
    """A backend that keeps the seconds of each kernel and counts launches, waiting for the device after each."""

    def __init__(self, inner: Backend) -> None:
        self.inner = inner
        self.name, self.precision, self.reason = inner.name, inner.precision, inner.reason
        self.seconds: dict[str, float] = {}
        self.launches = 0

    def upload(self, host: np.ndarray, dtype: str) -> Array:
        return self.inner.upload(host, dtype)

    def allocate(self, shape: tuple[int, ...], dtype: str = "real") -> Array:
        return self.inner.allocate(shape, dtype)

    def download(self, array: Array) -> np.ndarray:
        return self.inner.download(array)

    def launch(self, kernel: str, values: Mapping[str, Any]) -> None:
        began = time.perf_counter()
        self.inner.launch(kernel, values)
        synchronize = getattr(self.inner, "synchronize", None)
        if synchronize is not None:
            synchronize()
        self.seconds[kernel] = self.seconds.get(kernel, 0.0) + time.perf_counter() - began
        self.launches += 1

    def copy(self, array: Array) -> Array:
        return self.inner.copy(array)

    def extremes(self, array: Array) -> tuple[np.ndarray, np.ndarray]:
        return self.inner.extremes(array)

    def stage(self, hosts: Mapping[str, np.ndarray]) -> Mapping[str, Array]:
        return self.inner.stage(hosts)

    def settle(self, staged: Mapping[str, Array]) -> None:
        self.inner.settle(staged)


@dataclass
class Entry:
    """One measurement; seconds are medians over ``repeats`` runs after a first one that compiles and warms up.

    ``first`` is that first run's time, ``stages`` seconds by kernel, ``run`` the loop over all blocks with transfers,
    ``spread`` the largest less the smallest run over the median.
    """

    backend: str
    precision: str
    device: str
    mapping: str
    threads: int
    units: int
    tiles: int
    members: int
    steps: int
    launches: int
    first: float
    run: float
    spread: float
    repeats: int
    stages: dict[str, float] = field(default_factory=dict)
    unit_steps_per_second: float = 0.0
    ratio_to_one_thread: float | None = None
    ratio_to_all_threads: float | None = None


def machine() -> dict[str, Any]:
    """What the measurements ran on: processor, cores, system, versions."""
    processor = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines()
                 if line.startswith("model name")]
        processor = names[0] if names else processor
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {"processor": processor, "cores": os.cpu_count(), "system": platform.platform(),
            "python": platform.python_version(), "versions": versions}


def measure(basin: Basin, make: Callable[[], Backend], *, days: float, repeats: int = 5, arrays: Arrays | None = None,
            members: int = 1) -> Entry:
    """Median times of ``days`` of a basin on one backend.

    Parameters
    ----------
    basin : Basin
    make : callable
        Makes the backend.
    days : float
        Length of each run, at most the forcing's.
    repeats : int
        Runs after the first.
    arrays : Arrays, optional
        An assembled ensemble.
    members : int
        Its number of members.
    """
    last = min(basin.clock.n_steps, max(1, int(days * 86400 / basin.clock.step_seconds)))
    arrays = assemble(basin, resolve_options(basin, {})) if arrays is None else arrays
    device = Timed(make())
    began = time.perf_counter()
    run_in_memory(basin, device, last=last, arrays=arrays, balance=False)
    first = time.perf_counter() - began
    runs, stages, launches = [], [], 0
    for _ in range(repeats):
        device.seconds, device.launches = {}, 0
        outcome = run_in_memory(basin, device, last=last, arrays=arrays, balance=False)
        runs.append(outcome.seconds["total"])
        stages.append(dict(device.seconds))
        launches = device.launches
    run = statistics.median(runs)
    units = arrays.unit_order.size
    inner = device.inner
    threads = int(getattr(inner, "threads", None) or getattr(inner, "grid_threads", None) or 0)
    return Entry(inner.name, inner.precision, inner.reason, str(getattr(inner, "mapping", "tile")), threads,
                 units, arrays.unit_of_tile.size, members, last, launches, first, run, (max(runs) - min(runs)) / run,
                 repeats, {kernel: statistics.median(stage[kernel] for stage in stages) for kernel in stages[0]},
                 units * last / run)


def _set_ratios(entries: list[Entry]) -> None:
    """Ratios to the CPU reference on one and on all threads, of the same basin size and number of members."""
    for entry in entries:
        same = [other for other in entries if other.backend == "cpu" and other.units == entry.units
                and other.steps == entry.steps]
        if same:
            one = min(same, key=lambda other: other.threads)
            most = max(same, key=lambda other: other.threads)
            entry.ratio_to_one_thread = one.run / entry.run if one.threads == 1 else None
            entry.ratio_to_all_threads = most.run / entry.run


def makers(names: Sequence[str], precisions: Sequence[str]) -> list[Callable[[], Backend]]:
    """Makers of the asked backends; the CPU on one and on all threads."""
    import numba

    most = int(numba.config.NUMBA_NUM_THREADS)
    found: list[Callable[[], Backend]] = []
    for name in names:
        if name in ("cpu", "native"):
            found += [partial(backends.create, name, threads=threads) for threads in sorted({1, most})]
        elif name in ("emulate", "cupy"):
            found += [partial(backends.create, name, precision) for precision in precisions]
        else:
            found.append(partial(backends.create, name))
    return found


def benchmark(basin: Basin, names: Sequence[str], precisions: Sequence[str], *, days: float = 64,
              repeats: int = 5) -> list[Entry]:
    """Every backend and precision on one basin."""
    entries = [measure(basin, make, days=days, repeats=repeats) for make in makers(names, precisions)]
    _set_ratios(entries)
    return entries


def synthetic(units: int, seed: int = 0) -> Basin:
    """A synthetic basin of one year of daily weather, in memory."""
    from wepl.basin.synthetic import synthesize

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "basin.nc"
        synthesize(path, units=units, years=1, seed=seed)
        return Basin.from_dataset(Basin.open(path).to_dataset())


def threads_sweep(basin: Basin, name: str, precision: str, *, days: float = 64, repeats: int = 3) -> list[Entry]:
    """The published experiment: total threads from 128 to beyond the number of places, thread per unit and per tile."""
    entries = []
    n_tiles = assemble(basin, resolve_options(basin, {})).unit_of_tile.size
    for mapping in ("unit", "tile"):
        places = basin.parameters.sizes["unit"] if mapping == "unit" else n_tiles
        threads = 128
        while True:
            make = partial(backends.create, name, precision, mapping=mapping, grid_threads=threads)
            entries.append(measure(basin, make, days=days, repeats=repeats))
            if threads >= places:
                break
            threads *= 2
    return entries


def units_sweep(low: int, high: int, names: Sequence[str], precisions: Sequence[str], *, days: float = 64,
                repeats: int = 3) -> list[Entry]:
    """Basins of ``low`` to ``high`` units, three sizes a decade: where a GPU begins to help."""
    sizes = np.unique(np.round(np.geomspace(low, high, max(2, int(3 * np.log10(high / low)) + 1))).astype(int))
    entries: list[Entry] = []
    for size in sizes:
        entries += benchmark(synthetic(int(size)), names, precisions, days=days, repeats=repeats)
    return entries


def members_sweep(basin: Basin, low: int, high: int, names: Sequence[str], precisions: Sequence[str], *,
                  days: float = 64, repeats: int = 3) -> list[Entry]:
    """Ensembles of ``low`` to ``high`` members, doubling."""
    entries: list[Entry] = []
    members = low
    while members <= high:
        arrays = assemble_members(basin, [{}] * members).arrays
        for make in makers(names, precisions):
            entries.append(measure(basin, make, days=days, repeats=repeats, arrays=arrays, members=members))
        members *= 2
    _set_ratios(entries)
    return entries


def table(entries: Sequence[Entry]) -> str:
    """The entries as text, one line each."""
    lines = [f"{'backend':<11} {'precision':<9} {'map':<5} {'threads':>8} {'units':>7} {'memb':>5} {'run s':>9} "
             f"{'spread':>7} {'unit-steps/s':>13} {'x 1 thread':>10} {'x all':>7}  stages"]
    for entry in entries:
        ratios = [f"{ratio:.1f}" if ratio else "" for ratio in (entry.ratio_to_one_thread, entry.ratio_to_all_threads)]
        stages = ", ".join(f"{kernel} {seconds:.3f}" for kernel, seconds in entry.stages.items())
        lines.append(f"{entry.backend:<11} {entry.precision:<9} {entry.mapping:<5} {entry.threads or 'all':>8} "
                     f"{entry.units:>7} {entry.members:>5} {entry.run:>9.3f} {entry.spread:>7.0%} "
                     f"{entry.unit_steps_per_second:>13,.0f} {ratios[0]:>10} {ratios[1]:>7}  {stages}")
    return "\n".join(lines)


def as_dict(entries: Sequence[Entry]) -> dict[str, Any]:
    """For a JSON file: machine and entries."""
    return {"machine": machine(), "entries": [asdict(entry) for entry in entries]}
