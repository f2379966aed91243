"""What the CUDA C kernels use of a GPU, as compiled by NVRTC without one: ``python -m wepl.bench.resources``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from wepl.kernels import compile as nvrtc
from wepl.kernels import sources

PRECISIONS = tuple(sources.TYPES)
KINDS = ("fp32", "fp64", "special", "global", "local", "branch", "other")
# Threads of a block that the cupy backend launches; registers of a multiprocessor, threads it holds at once, and the
# number in which a warp's registers are given out, the same for all architectures here but for the threads.
_BLOCK_THREADS, _REGISTERS, _GRAIN, _WARP = 128, 65536, 256, 32
_MOST_THREADS = {"sm_75": 1024, "sm_86": 1536, "sm_89": 1536, "sm_120": 1536}
_COUNTED_ON = "sm_90"

_HEAD = """# What the kernels use of a GPU

Written by `python -m wepl.bench.resources`, with {version}, {layers} soil layers, and the options of the cupy backend.
Nothing is measured here: NVRTC compiles without a GPU, and these are its compiler's own numbers.

## Registers, stack and spills

Per thread. `stack` are bytes of local memory: a thread's own arrays are there, since loops over soil layers and rows
index them (state, fluxes and soil work of the column, flow of the hillslope); it is cached like global memory. `spills`
are bytes stored and loaded because registers ran out. `occupancy` is the share of a multiprocessor's threads that its
65536 registers allow in blocks of {block}.
"""
_COUNTS = """
## Instructions

PTX instructions of {architecture}, each counted once wherever it stands: loops are not multiplied out, and a branch not
taken counts. They say what a kernel is made of, as the basis of a roofline; what is executed, a profiler on a GPU says.
`special` are divisions, roots, exponentials and logarithms of the hardware; exact divisions and CUDA's functions are
sequences in which multiplications and additions count as such. `global` and `local` are loads and stores. `bytes` are
those that a thread must at least move of global memory in a step of one routing step: arrays with a time dimension, by
the table of arguments (`kernels/buffers.py`), without recorded variables. State and parameters come once a block, which
a long block makes small; the weather of a unit is shared by its tiles and comes from cache for all but the first.
"""


@dataclass(frozen=True)
class Row:
    """One kernel, precision and architecture."""

    kernel: str
    precision: str
    architecture: str
    resources: nvrtc.Resources
    counts: Counter[str]

    @property
    def occupancy(self) -> float:
        """Share of a multiprocessor's threads that its registers allow."""
        most = _MOST_THREADS.get(self.architecture, 2048)
        warp = -(-self.resources.registers * _WARP // _GRAIN) * _GRAIN
        blocks = _REGISTERS // (warp * (_BLOCK_THREADS // _WARP))
        return min(most // _BLOCK_THREADS, blocks) * _BLOCK_THREADS / most


def measure(kernels: tuple[str, ...] = tuple(sources.FILES), precisions: tuple[str, ...] = PRECISIONS,
            architectures: tuple[str, ...] = nvrtc.ARCHITECTURES, n_layers: int = 3) -> Iterator[Row]:
    """Compile and read off, one row after another; NVRTC releases the interpreter, so two are at work at a time."""
    def compiled(case: tuple[str, str, str]) -> Row:
        kernel, precision, architecture = case
        done = nvrtc.compile_kernel(kernel, precision, n_layers, architecture)
        return Row(kernel, precision, architecture, done.resources, nvrtc.instruction_counts(done.ptx))

    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(compiled, product(kernels, precisions, architectures))


def step_bytes(kernel: str, precision: str) -> int:
    """Bytes of global memory that a thread moves for one forcing step with one routing step, records left out."""
    from wepl.kernels import buffers

    itemsize = {"float64": 8, "mixed": 4, "float32": 4}[precision]
    total = 0
    for argument in buffers.arguments(kernel):
        in_time = isinstance(argument, buffers.Buffer) and {"step", "route"} & set(argument.dims)
        if in_time and argument.name != "record":
            total += itemsize * next((dim for dim in argument.dims if isinstance(dim, int)), 1)
    return total


def document(rows: list[Row], version: str, n_layers: int = 3) -> str:
    """The page ``docs/resources.md``."""
    text = [_HEAD.format(version=version, layers=n_layers, block=_BLOCK_THREADS)]
    text += ["| kernel | precision | architecture | registers | stack | spills | occupancy |",
             "| --- | --- | --- | ---: | ---: | ---: | ---: |"]
    for row in rows:
        used = row.resources
        text.append(f"| {row.kernel} | {row.precision} | {row.architecture} | {used.registers} | {used.stack} | "
                    f"{used.spill_stores} + {used.spill_loads} | {row.occupancy:.0%} |")
    text += [_COUNTS.format(architecture=_COUNTED_ON), f"| kernel | precision | {' | '.join(KINDS)} | bytes |",
             f"| --- | --- |{' ---: |' * (len(KINDS) + 1)}"]
    counted = [row for row in rows if row.architecture == _COUNTED_ON]
    text += [f"| {row.kernel} | {row.precision} | {' | '.join(str(row.counts[kind]) for kind in KINDS)} | "
             f"{step_bytes(row.kernel, row.precision)} |" for row in counted]
    return "\n".join(text) + "\n"


def main() -> None:
    """Write docs/resources.md of the checkout."""
    rows = []
    for row in measure():
        print(f"{row.kernel} {row.precision} {row.architecture}: {row.resources}", file=sys.stderr, flush=True)
        rows.append(row)
    target = Path(__file__).resolve().parents[2] / "docs" / "resources.md"
    target.write_text(document(rows, nvrtc.version()), encoding="utf-8")
    print(target)


if __name__ == "__main__":
    main()
