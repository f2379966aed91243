"""Counts the arithmetic and memory accesses of each kernel by running it with numbers that count.

``python -m wepl.bench.operations BASIN.nc [DAYS]`` prints, per kernel and place (tile, sub-basin, reach, unit) and
step, what a step needs, and the time that follows for a year on named processors, with its arithmetic.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wepl.backends.emulate import EmulateBackend
from wepl.basin.dataset import Basin
from wepl.kernels import host
from wepl.run.memory import run_in_memory

KINDS = ("add", "multiply", "divide", "root", "exp", "log", "pow", "trigonometric", "compare", "access")
# Instructions that a GPU issues for one operation in single precision: exact for the first two, for the others about
# the length of the sequences in the CUDA math library: an assumption of the estimate, like the share of peak.
INSTRUCTIONS = {"add": 1, "multiply": 1, "divide": 10, "root": 9, "exp": 12, "log": 18, "pow": 45, "trigonometric": 25,
                "compare": 1, "access": 3}
PLACES = {"weather": "n_units", "column": "n_tiles", "hillslope": "n_subbasins", "river": "n_subbasins"}


@dataclass(frozen=True)
class Processor:
    """A processor's peaks: single-precision instructions per second (an FMA is one) and bytes per second."""

    name: str
    instructions: float
    bandwidth: float


# Cores times boost clock, and memory bandwidth, from the vendor's data sheets.
PROCESSORS = (Processor("RTX A4000", 6144 * 1.56e9, 448e9), Processor("RTX 4090", 16384 * 2.52e9, 1008e9),
              Processor("H200", 16896 * 1.98e9, 4800e9))
SHARE_OF_PEAK = 0.10
LAUNCH_SECONDS = 4e-6


class CountingBackend(EmulateBackend):
    """The emulate backend with counting numbers; ``counts`` by kernel, and ``places`` x steps that they belong to."""

    def __init__(self) -> None:
        super().__init__("float64")
        self.counts: dict[str, np.ndarray] = {}
        self.steps: dict[str, int] = {}

    def _library(self, n_layers: int) -> ctypes.CDLL:
        return host.library(self.precision, n_layers, counted=True)

    def launch(self, kernel: str, values: Mapping[str, Any]) -> None:
        super().launch(kernel, values)
        out = (ctypes.c_longlong * len(KINDS))()
        self._library(int(values["soil_state"].shape[1])).take_operations(out)
        self.counts[kernel] = self.counts.get(kernel, np.zeros(len(KINDS))) + np.array(out, dtype=float)
        self.steps[kernel] = self.steps.get(kernel, 0) + int(values[PLACES[kernel]]) * int(values["n_steps"])


@dataclass(frozen=True)
class Need:
    """What one place and step of a kernel needs: operations by kind, and instructions in all."""

    kernel: str
    per_step: dict[str, float]

    @property
    def instructions(self) -> float:
        """Instructions of a GPU in single precision."""
        return sum(INSTRUCTIONS[kind] * count for kind, count in self.per_step.items())


def count(basin: Basin, days: int | None = None) -> list[Need]:
    """Operations per place and step of each kernel, mean over a run of ``days`` (all when None)."""
    backend = CountingBackend()
    last = None if days is None else round(days * 86400 / basin.clock.step_seconds)
    run_in_memory(basin, backend, last=last, balance=False)
    return [Need(kernel, dict(zip(KINDS, counts / backend.steps[kernel], strict=True)))
            for kernel, counts in backend.counts.items()]


def estimate(needs: list[Need], places: Mapping[str, int], steps: int) -> str:
    """Seconds that ``steps`` of a basin with so many places would take on each processor, with the arithmetic."""
    instructions = sum(need.instructions * places[need.kernel] * steps for need in needs)
    accessed = sum(need.per_step["access"] * 4.0 * places[need.kernel] * steps for need in needs)
    lines = [f"instructions {instructions:.3g}, bytes if nothing is cached {accessed:.3g}"]
    # One launch per diagonal of the river's wavefront, with some 100 levels more in each block of 64 days.
    launching = (steps * 4 + steps / 64 * 100) * LAUNCH_SECONDS
    for processor in PROCESSORS:
        compute, memory = instructions / processor.instructions, accessed / processor.bandwidth
        lines.append(f"{processor.name}: compute {compute * 1e3:.1f} ms at peak, memory at most {memory * 1e3:.1f} ms, "
                     f"launches {launching * 1e3:.1f} ms; at {SHARE_OF_PEAK:.0%} of peak "
                     f"{max(compute / SHARE_OF_PEAK, memory) + launching:.3f} s")
    return "\n".join(lines)


def main(path: Path, days: int | None) -> None:
    """Print the counts of a basin and the estimates for the published sizes."""
    basin = Basin.open(path)
    needs = count(basin, days)
    print(f"{'kernel':<10} " + " ".join(f"{kind:>10}" for kind in KINDS) + f" {'instructions':>13}")
    for need in needs:
        print(f"{need.kernel:<10} " + " ".join(f"{need.per_step[kind]:10.1f}" for kind in KINDS)
              + f" {need.instructions:13.0f}")
    sizes = basin.parameters.sizes
    tiles = int((basin.parameters["land_fraction"].values > 0).sum()) / sizes["unit"]
    for units in (8712, 24897):
        subbasins = round(units * sizes["subbasin"] / sizes["unit"])
        places = {"weather": units, "column": round(units * tiles), "hillslope": subbasins, "river": subbasins}
        print(f"{units} units, 365 daily steps: {estimate(needs, places, 365)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
