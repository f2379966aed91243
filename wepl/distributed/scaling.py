"""``python -m wepl.distributed.scaling``: strong and weak scaling measured here, beside what a model says of it.

Other work on the machine slows every task. How much is seen in the tasks themselves, wall over CPU seconds, and the
model's seconds are stretched by it, and the time from task to task is shortened by it for a machine without other work;
speed-ups from CPU seconds alone are what cores without other work would give.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from wepl.distributed import scaling_model
from wepl.distributed.cluster import Cluster, connect
from wepl.distributed.partition import partition
from wepl.distributed.run import DistributedJob, Traffic
from wepl.distributed.scaling_model import Costs, Load

_MEGABYTES = 32
_ROUND_TRIPS = 40
_LARGE_UNITS = 10_000_000


@dataclass(frozen=True)
class Measured:
    """One run: wall seconds of its blocks, what passed, its load."""

    wall: float
    traffic: Traffic
    load: Load

    @property
    def cpu(self) -> float:
        """CPU seconds of all tasks."""
        return sum(cpu for *_, cpu in self.traffic.seconds)

    @property
    def stretch(self) -> float:
        """Wall over CPU seconds of the tasks: how much other work slowed them."""
        return sum(wall for *_, wall, _ in self.traffic.seconds) / self.cpu

    def critical(self, workers: int) -> float:
        """CPU seconds of the worker with most work."""
        found = np.zeros(workers)
        for group, *_, cpu in self.traffic.seconds:
            found[group % workers] += cpu
        return float(found.max())


def measure(cluster: Cluster, basin: Path, days: int, block_days: int, groups: int) -> Measured:
    """Run a basin once; the first run of a cluster compiles and is not to be counted."""
    from wepl.basin.dataset import Basin
    from wepl.run.job import Plan
    from wepl.run.simulation import resolve_options

    opened = Basin.open(basin)
    with tempfile.TemporaryDirectory(prefix="wepl-scaling-") as folder:
        end = opened.clock.label(days - 1)
        job = cast(DistributedJob, replace(cluster, groups=groups).job(
            opened, Path(folder) / "result.nc", {}, None, end, (), block_days, resolve_options))
        result = job.run(cluster.device("cpu", "float64", 1), Plan(block_days, quiet=True, compression="none"), {})
    tiles = np.bincount(job.arrays.subbasin_of_unit[job.arrays.unit_of_tile], minlength=job.partition.group_of.size)
    n_route = round(opened.clock.step_seconds / job.arrays.values["option"][_routing_row()])
    load = Load.of(job.partition, tiles, days, block_days, n_route)
    return Measured(result.seconds["compute"] + result.seconds["write"], job.traffic, load)


def _routing_row() -> int:
    from wepl import rows

    return int(rows.ROUTING_STEP)


def costs_of(cluster: Cluster, coarse: Measured, fine: Measured) -> Costs:
    """Costs from two runs of one group with long and with short blocks, from empty tasks and from moved bytes."""
    rows = np.array([[sum(steps * one.load.tiles[group] for group, _, steps, *_ in one.traffic.seconds),
                      len(one.traffic.seconds)] for one in (coarse, fine)], dtype=float)
    tile_step, task = np.linalg.solve(rows, np.array([coarse.cpu, fine.cpu]))
    return Costs(float(tile_step), max(0.0, float(task)), _dispatch(cluster), _rate(cluster))


def _dispatch(cluster: Cluster) -> float:
    """Seconds from task to task in a chain of empty ones."""
    from wepl.distributed import worker

    began = time.perf_counter()
    future = cluster.client.submit(worker.keep, 0, pure=False)
    for _ in range(_ROUND_TRIPS):
        future = cluster.client.submit(worker.keep, future, pure=False)
    cluster.result(future)
    return (time.perf_counter() - began) / _ROUND_TRIPS


def _rate(cluster: Cluster) -> float:
    """Bytes per second from a worker to the client."""
    found = []
    for _ in range(3):
        future = cluster.client.submit(np.zeros, _MEGABYTES * 2**17, pure=False)
        cluster.client.submit(len, future, pure=False).result()
        began = time.perf_counter()
        cluster.result(future)
        found.append(_MEGABYTES * 2**20 / (time.perf_counter() - began))
    return statistics.median(found)


def compare(basin: Path, twice: Path, days: int, block_days: int, repeats: int) -> tuple[list[str], Costs, Load]:
    """Lines of a table: strong and weak scaling from one worker to two, measured and as the model has them."""
    with connect(workers=1, threads=1) as one, connect(workers=2, threads=1) as two:
        measure(one, basin, days, block_days, 1)
        measure(two, basin, days, block_days, 2)
        found: dict[str, list[Measured]] = {"one": [], "two": [], "twice": [], "fine": []}
        for _ in range(repeats):
            found["one"].append(measure(one, basin, days, block_days, 1))
            found["two"].append(measure(two, basin, days, block_days, 2))
            found["twice"].append(measure(two, twice, days, block_days, 2))
            found["fine"].append(measure(one, basin, days, max(1, block_days // 4), 1))
        middle = {name: sorted(runs, key=lambda run: run.cpu)[repeats // 2] for name, runs in found.items()}
        costs = costs_of(one, middle["one"], middle["fine"])
    lines = [f"costs: {1e6 * costs.tile_step:.2f} us CPU per tile and step, {1e3 * costs.task:.1f} ms per task, "
             f"{1e3 * costs.dispatch:.1f} ms from task to task, {costs.bytes_per_second / 1e6:.0f} MB/s",
             "run                    tiles groups   wall s   CPU s  busiest  stretch  model s"]
    for name, label, workers in (("one", "1 worker", 1), ("two", "2 workers", 2), ("twice", "2 workers, twice", 2)):
        run = middle[name]
        wall = statistics.median(other.wall for other in found[name])
        slowed = replace(costs, tile_step=costs.tile_step * run.stretch, task=costs.task * run.stretch)
        lines.append(f"{label:20} {int(run.load.tiles.sum()):7} {run.load.tiles.size:6} {wall:8.2f} {run.cpu:7.2f} "
                     f"{run.critical(workers):8.2f} {run.stretch:8.2f} "
                     f"{scaling_model.seconds(run.load, slowed, workers):8.2f}")
    one_run, two_run, twice_run = middle["one"], middle["two"], middle["twice"]
    size = twice_run.load.tiles.sum() / one_run.load.tiles.sum()
    walls = {name: statistics.median(run.wall for run in runs) for name, runs in found.items()}
    costs = replace(costs, dispatch=costs.dispatch / middle["one"].stretch)
    ideal = {name: scaling_model.seconds(middle[name].load, costs, workers)
             for name, workers in (("one", 1), ("two", 2), ("twice", 2))}
    lines += ["", "from 1 to 2 workers      wall   CPU seconds of the busiest   model, cores without other work",
              f"strong: times faster   {walls['one'] / walls['two']:6.2f} {one_run.cpu / two_run.critical(2):14.2f} "
              f"{ideal['one'] / ideal['two']:22.2f}",
              f"weak: efficiency       {size / 2 * walls['one'] / walls['twice']:6.2f} "
              f"{size / 2 * one_run.cpu / twice_run.critical(2):14.2f} "
              f"{size / 2 * ideal['one'] / ideal['twice']:22.2f}", "",
              *_traffic("2 workers", two_run), *_traffic("2 workers, twice", twice_run)]
    return lines, costs, one_run.load


def _traffic(label: str, run: Measured) -> list[str]:
    load, traffic = run.load, run.traffic
    return [f"{label}: {int(load.links.sum())} of {int(load.reaches.sum())} reaches cross, {load.link_bytes} bytes a "
            f"step between groups, {load.value_bytes} to the client; in all {traffic.inflow:,}, {traffic.values:,} and "
            f"{traffic.state:,} of states"]


def predict(costs: Costs, tiles_per_unit: float, units_per_subbasin: float, workers: tuple[int, ...] = (1, 8, 64),
            units: int = _LARGE_UNITS, steps: int = 365) -> list[str]:
    """Lines of a table: a prediction, not a measurement, of one year of days on cores of their own."""
    below = scaling_model.braided(round(units / units_per_subbasin))
    tiles = np.full(below.size, units_per_subbasin * tiles_per_unit)
    lines = [f"PREDICTION, {units:,} units, {below.size:,} sub-basins, {steps} daily steps, cores without other work:",
             "workers  depth  crossing  bytes/step between groups  bytes/step to the client  hours  times faster"]
    first = 0.0
    for count in workers:
        parts = partition(below, tiles, count)
        block = max(1, min(8, steps // (8 * parts.depth)))
        load = Load.of(parts, tiles, steps, block, 4)
        taken = scaling_model.seconds(load, costs, count)
        first = first or taken
        lines.append(f"{count:7} {parts.depth:6} {int(load.links.sum()):9} {load.link_bytes:26,} "
                     f"{load.value_bytes:25,} {taken / 3600:6.2f} {first / taken:13.1f}")
    return lines


def main() -> None:
    """Measure and print."""
    from wepl.basin.synthetic import synthesize

    parser = argparse.ArgumentParser(prog="python -m wepl.distributed.scaling", description=__doc__)
    parser.add_argument("--units", type=int, default=1000, help="units of the synthetic basin")
    parser.add_argument("--days", type=int, default=32, help="days of each run")
    parser.add_argument("--block-days", type=int, default=8, help="days of a task")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the median counts")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wepl-scaling-") as folder:
        basin, twice = Path(folder) / "basin.nc", Path(folder) / "twice.nc"
        synthesize(basin, units=given.units, years=1, seed=3)
        synthesize(twice, units=2 * given.units, years=1, seed=3)
        before = os.getloadavg()[0]
        lines, costs, load = compare(basin, twice, given.days, given.block_days, given.repeats)
    print(f"{os.cpu_count()} cores, load of the machine {before:.1f} before and {os.getloadavg()[0]:.1f} after")
    print("\n".join(lines))
    tiles = float(load.tiles.sum())
    print("\n" + "\n".join(predict(costs, tiles / given.units, given.units / float(load.reaches.sum()))))


if __name__ == "__main__":
    main()
