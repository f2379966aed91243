"""Pictures of a calibration as PNG, each drawn without a window: convergence, parameters, hydrographs."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from wepl.calibrate.results import Hydrographs, good, publish_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from wepl.calibrate.log import Evaluation, Log
    from wepl.calibrate.problem import Problem
    from wepl.calibrate.targets import Target

_GREY, _BLUE, _RED, _ORANGE = "0.75", "#1f5fa8", "#b8352c", "#e08a1e"
# Bins between two values of a hydrograph that are joined by no line: more is a gap.
_GAP = 1.5
# Bins that one panel of a hydrograph shows, and the most panels.
_PANEL_BINS, _PANELS = 1000, 6


def draw(folder: Path, problem: Problem, log: Log, best: Evaluation, graphs: Hydrographs,
         sensitivity: dict[str, np.ndarray] | None) -> None:
    """Draw every picture into the folder."""
    _save(folder / "convergence.png", _convergence(log))
    _save(folder / "parameters.png", _parameters(problem, log, best))
    if sensitivity is not None:
        _save(folder / "sensitivity.png", _sensitivity(problem, sensitivity))
    for name, targets in graphs.targets.items():
        for place, target in enumerate(targets):
            series = target.of(graphs.discharge[:, :, place])
            plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", target.gauge)
            _save(folder / f"hydrograph_{plain}_{name}.png", _hydrograph(target, series, name))


def _save(path: Path, figure: Figure) -> None:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    publish_bytes(path, buffer.getvalue())


def _floor(scores: np.ndarray) -> float:
    """Lower end of an axis of scores: the worst tail would hide all else."""
    return float(max(scores.min(), np.quantile(scores, 0.5) - 3.0 * (scores.max() - np.quantile(scores, 0.5)) - 0.05))


def _convergence(log: Log) -> Figure:
    done = [one for one in log.evaluations if not one.score.failure]
    number = np.array([one.number for one in done]) + 1
    scores = np.array([one.score.total for one in done])
    figure = Figure(figsize=(8.0, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(number, scores, ".", color=_GREY, markersize=4, label="evaluations")
    axes.step(number, np.maximum.accumulate(scores), where="post", color=_BLUE, label="best so far")
    low = _floor(scores)
    axes.set_ylim(low - 0.03 * (scores.max() - low), scores.max() + 0.05 * (scores.max() - low) + 1e-9)
    below = int((scores < low).sum())
    axes.set_title("Convergence" + (f" ({below} of the evaluations below the axis)" if below else ""), fontsize=11)
    axes.set_xlabel("evaluation")
    axes.set_ylabel("score")
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    return figure


def _parameters(problem: Problem, log: Log, best: Evaluation) -> Figure:
    done = [one for one in log.evaluations if not one.score.failure]
    best_tenth = good(log.evaluations)
    scores = np.array([one.score.total for one in done])
    low = _floor(scores)
    names = problem.space.names
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(3.4 * columns, 4.0 * rows + 0.6), layout="constrained")
    grids = figure.subfigures(rows, columns, squeeze=False).ravel()
    for name, grid in zip(names, grids, strict=False):
        one = problem.space.ranges[name]
        upper, lower = grid.subplots(2, 1, sharex=True, height_ratios=[2.2, 1.0])
        values = np.array([member.parameters[name] for member in done])
        upper.plot(values, scores, ".", color=_GREY, markersize=3)
        upper.plot([member.parameters[name] for member in best_tenth],
                   [member.score.total for member in best_tenth], ".", color=_BLUE, markersize=4)
        upper.plot(best.parameters[name], best.score.total, "*", color=_RED, markersize=10)
        upper.set_ylim(low, scores.max() + 0.05 * (scores.max() - low) + 1e-9)
        edges = np.geomspace(one.low, one.high, 21) if one.scale == "log" else np.linspace(one.low, one.high, 21)
        lower.hist([member.parameters[name] for member in best_tenth], bins=edges, color=_BLUE)
        lower.axvline(best.parameters[name], color=_RED, linewidth=1.0)
        lower.set_yticks([])
        if one.scale == "log":
            lower.set_xscale("log")
            marks = [one.low, float(np.sqrt(one.low * one.high)), one.high]
            lower.set_xticks(marks, [f"{mark:.4g}" for mark in marks])
            lower.set_xticks([], minor=True)
        lower.set_xlim(one.low, one.high)
        upper.set_title(name, fontsize=9)
        upper.set_ylabel("score", fontsize=8)
        lower.set_ylabel("best tenth", fontsize=8)
        for axes in (upper, lower):
            axes.tick_params(labelsize=7)
        upper.grid(alpha=0.3)
    figure.suptitle("Score by parameter (grey: all, blue: best tenth, star: best); below: where the best tenth lies",
                    fontsize=10, wrap=True)
    return figure


def _sensitivity(problem: Problem, indices: dict[str, np.ndarray]) -> Figure:
    names = problem.space.names
    figure = Figure(figsize=(8.0, 0.5 * len(names) + 1.6), layout="constrained")
    axes = figure.subplots()
    place = np.arange(len(names))
    for shift, key, color, label in ((-0.2, "first", _BLUE, "first order"), (0.2, "total", _ORANGE, "total")):
        axes.barh(place + shift, indices[key], 0.38, xerr=indices[f"{key}_width"], color=color, label=label,
                  error_kw={"linewidth": 0.8})
    axes.set_yticks(place, names)
    axes.invert_yaxis()
    axes.set_xlabel("Sobol index of the score, with 95 % interval")
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.legend()
    axes.grid(axis="x", alpha=0.3)
    return figure


def _hydrograph(target: Target, series: np.ndarray, period: str) -> Figure:
    """Linear panels, as many as a reader needs; of a short period one more with logarithms; the duration curves."""
    from wepl.calibrate.objective import kling_gupta

    edges = np.linspace(0, target.times.size, min(_PANELS, -(-target.times.size // _PANEL_BINS)) + 1).astype(int)
    slices = [slice(first, last) for first, last in zip(edges, edges[1:], strict=False)]
    short = len(slices) == 1
    figure = Figure(figsize=(12.0, 2.6 * (len(slices) + short) + 3.6), layout="constrained")
    grid = figure.subplots(len(slices) + short + 1, 1, squeeze=False)[:, 0]
    top = 1.05 * max(float(target.observed.max()), float(series[:, 0].max()))
    for axes, part in zip(grid, slices, strict=False):
        _lines(axes, target, series, part)
        axes.set_ylim(0.0, top)
    floor = 0.5 * _positive(target.observed, series[:, 0])
    if short:
        _lines(grid[1], target, series, slices[0])
        grid[1].set_yscale("log")
        grid[1].set_ylim(floor, 1.3 * top)
    _duration(grid[-1], target, series)
    grid[-1].set_ylim(floor, 1.3 * top)
    kge = kling_gupta(series[:, 0], target.observed)
    grid[0].set_title(f"{target.gauge}, {period}: KGE {kge.efficiency:.3f} (r {kge.correlation:.3f}, alpha "
                      f"{kge.variability:.3f}, beta {kge.bias:.3f})", fontsize=11)
    grid[0].legend(fontsize=8, ncols=4)
    return figure


def _lines(axes: Axes, target: Target, series: np.ndarray, part: slice) -> None:
    """One stretch of the hydrograph; a gap in the observations is a gap in every line."""
    times, values, observed = target.times[part], series[part], target.observed[part]
    step = int(np.median(np.diff(target.times)))
    breaks = np.flatnonzero(np.diff(times) > _GAP * step) + 1

    def parted(line: np.ndarray) -> np.ndarray:
        return np.insert(line.astype(float), breaks, np.nan)

    when = np.insert(times, breaks, times[breaks] - step).astype("datetime64[s]")
    low, high = np.nanmin(values[:, 2:], axis=1), np.nanmax(values[:, 2:], axis=1)
    axes.fill_between(when, parted(low), parted(high), color=_BLUE, alpha=0.25, linewidth=0.0,
                      label="band of the best tenth")
    axes.plot(when, parted(values[:, 1]), color=_ORANGE, linewidth=0.7, alpha=0.8, label="defaults")
    axes.plot(when, parted(observed), color="black", linewidth=0.9, label="observed")
    axes.plot(when, parted(values[:, 0]), color=_BLUE, linewidth=0.9, label="best")
    axes.set_xlim(when[0], when[-1])
    axes.grid(alpha=0.3)
    axes.set_ylabel("discharge, m³ s⁻¹")


def _duration(axes: Axes, target: Target, series: np.ndarray) -> None:
    share = 100.0 * (np.arange(target.observed.size) + 0.5) / target.observed.size
    sorted_down = -np.sort(-series, axis=0)
    axes.fill_between(share, np.nanmin(sorted_down[:, 2:], axis=1), np.nanmax(sorted_down[:, 2:], axis=1), color=_BLUE,
                      alpha=0.25, linewidth=0.0)
    axes.plot(share, sorted_down[:, 1], color=_ORANGE, linewidth=1.0)
    axes.plot(share, -np.sort(-target.observed), color="black", linewidth=1.2)
    axes.plot(share, sorted_down[:, 0], color=_BLUE, linewidth=1.2)
    axes.set_yscale("log")
    axes.set_xlim(0.0, 100.0)
    axes.set_xlabel("share of time with more discharge, %")
    axes.set_ylabel("discharge, m³ s⁻¹")
    axes.grid(alpha=0.3)


def _positive(*series: Any) -> float:
    """The smallest flow that a logarithmic axis needs to show."""
    values = np.concatenate(series)
    above = values[values > 0.0]
    return float(np.quantile(above, 0.005)) if above.size else 1e-3
