"""Pictures of measurements, for people who did not make them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wepl.bench.measure import Entry
from wepl.errors import InputError


def draw(entries: Sequence[Entry], path: Path) -> None:
    """Time against threads, and unit-steps per second against units, as far as the entries have them.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError:
        raise InputError("plots need matplotlib: pip install matplotlib, or leave --plot out") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    sweep = [entry for entry in entries if entry.backend not in ("cpu",) and entry.threads]
    panels = [bool(sweep), len({entry.units for entry in entries}) > 1]
    if not any(panels):
        panels = [False, False, True]
    figure, axes = pyplot.subplots(1, sum(panels), figsize=(7.0 * sum(panels), 5.0), squeeze=False)
    place = iter(axes[0])
    if panels[0]:
        _threads(next(place), sweep)
    if panels[1]:
        _units(next(place), entries)
    if len(panels) == 3:
        _bars(next(place), entries)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _label(entry: Entry) -> str:
    threads = f", {entry.threads} thread{'s' * (entry.threads > 1)}" if entry.backend == "cpu" else ""
    return f"{entry.backend} {entry.precision}{threads}"


def _threads(axis: Any, entries: Sequence[Entry]) -> None:
    for key in dict.fromkeys((entry.backend, entry.precision, entry.mapping) for entry in entries):
        mine = [entry for entry in entries if (entry.backend, entry.precision, entry.mapping) == key]
        axis.plot([entry.threads for entry in mine], [entry.run for entry in mine], marker="o",
                  label=f"{key[0]} {key[1]}, a thread per {key[2]}")
    axis.axvline(entries[0].units, color="0.6", linestyle="--")
    axis.text(entries[0].units, axis.get_ylim()[1], " units", va="top", color="0.4")
    axis.set(xscale="log", yscale="log", xlabel="threads of a launch in all",
             ylabel=f"seconds for {entries[0].steps} steps",
             title=f"Threads, {entries[0].units:,} units, {entries[0].tiles:,} tiles")
    axis.grid(True, which="both", alpha=0.25)
    axis.legend()


def _units(axis: Any, entries: Sequence[Entry]) -> None:
    for key in dict.fromkeys(_label(entry) for entry in entries):
        mine = sorted((entry for entry in entries if _label(entry) == key), key=lambda entry: entry.units)
        axis.plot([entry.units for entry in mine], [entry.unit_steps_per_second for entry in mine], marker="o",
                  label=key)
    axis.set(xscale="log", yscale="log", xlabel="units", ylabel="unit-steps per second",
             title="Speed against size: higher is better")
    axis.grid(True, which="both", alpha=0.25)
    axis.legend()


def _bars(axis: Any, entries: Sequence[Entry]) -> None:
    labels = [_label(entry) for entry in entries]
    left = [0.0] * len(entries)
    for kernel in entries[0].stages:
        widths = [entry.stages[kernel] for entry in entries]
        axis.barh(labels, widths, left=left, label=kernel)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axis.set(xlabel=f"seconds for {entries[0].steps} steps",
             title=f"Where the time goes, {entries[0].units:,} units, {entries[0].tiles:,} tiles")
    axis.legend()
