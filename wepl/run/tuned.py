"""What `wepl tune` found: the best choice per machine and class of basin, kept in a file that people can read.

The file is ``tune.json`` in WEPL_CACHE_DIR, XDG_CACHE_HOME/wepl or ~/.cache/wepl. A choice belongs to one machine, one
state of the sources and one class of basins (number of units to a factor of two, step, soil layers, precision).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wepl.errors import BackendError, InputError
from wepl.netcdf import publish, temporary_path

if TYPE_CHECKING:
    from wepl.backends import Backend
    from wepl.basin.dataset import Basin

FORMAT = 1
_PACKAGE = Path(__file__).resolve().parent.parent
_FOLDERS = ("physics", "stages", "registry", "backends", "run")
_SUFFIXES = (".py", ".cu", ".cuh", ".cpp", ".h")


@dataclass(frozen=True)
class Choice:
    """Where and how to compute.

    Attributes
    ----------
    backend, precision : str
        See :func:`wepl.backends.create`.
    threads : int or None
        CPU threads; all when None, and on a GPU.
    mapping : str
        ``tile`` or ``unit``: what a thread of a GPU works on.
    block_threads : int or None
        Threads of a block on a GPU; the backend's own number when None.
    block_steps : int or None
        Forcing steps computed at a time; as without a choice when None.
    """

    backend: str
    precision: str = "float64"
    threads: int | None = None
    mapping: str = "tile"
    block_threads: int | None = None
    block_steps: int | None = None

    @property
    def text(self) -> str:
        """In words."""
        parts = [self.backend]
        if self.precision != "float64":
            parts.append(self.precision)
        if self.threads is not None:
            parts.append(f"{self.threads} thread{'s' * (self.threads > 1)}")
        if self.mapping != "tile":
            parts.append(f"a thread per {self.mapping}")
        if self.block_threads is not None:
            parts.append(f"blocks of {self.block_threads} threads")
        if self.block_steps is not None:
            parts.append(f"{self.block_steps} steps at a time")
        return ", ".join(parts)

    def create(self) -> Backend:
        """The backend of this choice."""
        from wepl import backends

        if self.block_threads is not None and self.backend == "cupy":
            from wepl.backends.cupy_raw import CupyBackend

            return CupyBackend(self.precision, self.mapping, block_threads=self.block_threads)
        return backends.create(self.backend, self.precision, self.threads, mapping=self.mapping)


@dataclass(frozen=True)
class Found:
    """A remembered choice, how many times faster than the default it was, and the day it was measured."""

    choice: Choice
    ratio: float
    measured: str


def path() -> Path:
    """The file of choices."""
    base = os.environ.get("WEPL_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "wepl")
    return Path(base) / "tune.json"


@cache
def machine() -> str:
    """This machine: processor, CPUs to use, GPUs; and a hash of the sources that compute."""
    from wepl.backends.choose import device_names
    from wepl.kernels import native_build

    told = hashlib.sha256(native_build.processor().encode())
    for folder in (*(_PACKAGE / name for name in _FOLDERS), native_build.FOLDER.parent):
        for source in sorted(folder.rglob("*")):
            if source.suffix in _SUFFIXES:
                told.update(source.name.encode() + source.read_bytes())
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    lines = [line.split(":", 1)[1].strip() for line in native_build.processor().splitlines()
             if line.startswith("model name")]
    return (f"{lines[0] if lines else 'unknown processor'}, {cpus} CPUs, {', '.join(device_names()) or 'no GPU'}, "
            f"sources {told.hexdigest()[:16]}")


def basin_class(basin: Basin, precision: str) -> str:
    """The class of basins for which one choice is good."""
    sizes = basin.parameters.sizes
    low = 1 << (int(sizes["unit"]).bit_length() - 1)
    return (f"{low} to {2 * low - 1} units, steps of {basin.clock.step_seconds:g} s, {sizes['soil_layer']} soil "
            f"layers, {precision}")


def recall(basin: Basin, precision: str) -> Found | None:
    """The remembered choice for a basin on this machine; None when there is none.

    Raises
    ------
    InputError
        The file of choices cannot be read.
    """
    entry = _load().get(machine(), {}).get(basin_class(basin, precision))
    if entry is None:
        return None
    try:
        given = entry["choice"]
        choice = Choice(**{field.name: given[field.name] for field in fields(Choice)})
        found = Found(choice, float(entry["times_the_default"]), str(entry["measured"]))
    except (KeyError, TypeError, ValueError):
        raise _unreadable("an entry is not as wepl tune writes it") from None
    if not _valid(choice) or choice.precision != precision:
        raise _unreadable(f"a choice cannot be used ({choice.text})")
    return found


def _valid(choice: Choice) -> bool:
    from wepl import backends

    numbers = (choice.threads, choice.block_threads, choice.block_steps)
    return choice.backend in backends.NAMES and all(
        number is None or (isinstance(number, int) and number >= 1) for number in numbers)


def remember(basin: Basin, found: Found, details: Mapping[str, Any] | None = None) -> None:
    """Write a choice down; what others wrote meanwhile stays but for this one entry."""
    target = path()
    target.parent.mkdir(parents=True, exist_ok=True)
    known = _load()
    known.setdefault(machine(), {})[basin_class(basin, found.choice.precision)] = {
        "choice": asdict(found.choice), "times_the_default": round(found.ratio, 3), "measured": found.measured,
        **(details or {})}
    unfinished = temporary_path(target)
    try:
        unfinished.write_text(json.dumps({"format": FORMAT, "machines": known}, indent=1, sort_keys=True) + "\n",
                              encoding="utf-8")
        publish(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def device_of(basin: Basin, precision: str, threads: int | None) -> tuple[Backend, int | None]:
    """The backend for ``--backend auto`` and the steps to compute at a time: as remembered, else the default.

    A number of threads that the user gives leaves the memory aside.
    """
    from wepl import backends

    found = recall(basin, precision) if threads is None else None
    if found is None:
        return backends.create("auto", precision, threads), None
    try:
        device = found.choice.create()
    except BackendError as error:
        device = backends.create("auto", precision, threads)
        device.reason += f"; what wepl tune chose on {found.measured} does not work any more: {error}"
        return device, None
    device.reason += (f" (auto: wepl tune chose {found.choice.text} on {found.measured}, {found.ratio:.2f} times as "
                      "fast as the default)")
    return device, found.choice.block_steps


def _load() -> dict[str, dict[str, Any]]:
    try:
        content = json.loads(path().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable(str(error)) from None
    machines = content.get("machines") if isinstance(content, dict) and content.get("format") == FORMAT else None
    if not isinstance(machines, dict) or not all(isinstance(entry, dict) for entry in machines.values()):
        raise _unreadable("it is not as wepl tune writes it")
    return machines


def _unreadable(why: str) -> InputError:
    return InputError(f"{path()} cannot be used ({why}): remove it and run wepl tune again")
