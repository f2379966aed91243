"""What a calibration leaves beside its log: the best parameters, a split-sample summary, hydrographs and pictures."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.errors import InputError
from wepl.netcdf import publish, temporary_path, write_failure

if TYPE_CHECKING:
    from wepl.backends import Backend
    from wepl.calibrate.log import Evaluation, Log
    from wepl.calibrate.problem import Problem
    from wepl.calibrate.search import Search
    from wepl.calibrate.targets import Target

BEST, SUMMARY, HYDROGRAPHS = "best.toml", "summary", "hydrographs.csv"
# Share of all evaluations, the best ones, that show what is identified; and how many of them are run for the band.
_GOOD_SHARE, _BAND = 0.1, 24


@dataclass(frozen=True)
class Hydrographs:
    """Discharge of the final run, ``[step, member, gauge]``: best, defaults, then the members of the band.

    ``first`` is its first step; ``targets`` are the observations by period and gauge.
    """

    first: int
    discharge: np.ndarray
    targets: dict[str, list[Target]]


def require_plots() -> None:
    """Refuse, before any work, plots that cannot be drawn.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise InputError("plots need matplotlib: pip install 'wepl[calibrate]', or leave --plots out") from None


def good(evaluations: list[Evaluation]) -> list[Evaluation]:
    """The best tenth of the evaluations, two at least, best first."""
    done = sorted((one for one in evaluations if not one.score.failure), key=lambda one: -one.score.total)
    return done[:max(2, math.ceil(_GOOD_SHARE * len(done)))]


def write(folder: Path, problem: Problem, backend: Backend, search: Search, log: Log, best: Evaluation, *,
          plots: bool, quiet: bool) -> None:
    """Run the best member over all periods, assess it, and write everything but the log."""
    from wepl.calibrate.search import Sobol
    from wepl.calibrate.summary import summarise, text

    write_text(folder / BEST, best_toml(problem, best))
    graphs = _final_run(problem, backend, log, best)
    sensitivity = None
    if isinstance(search, Sobol) and len(log.evaluations) == search.total:
        scores = np.array([one.score.total for one in log.evaluations])
        sensitivity = search.indices(scores, problem.config.algorithm.seed)
    content = summarise(problem, log, best, graphs, sensitivity)
    write_text(folder / f"{SUMMARY}.json", json.dumps(content, indent=1) + "\n")
    words = text(content)
    write_text(folder / f"{SUMMARY}.txt", words)
    write_text(folder / HYDROGRAPHS, _table(problem, graphs))
    if problem.config.algorithm.name == "nsga2":
        write_text(folder / "front.csv", _front(problem, log))
    if plots:
        from wepl.calibrate.plots import draw

        draw(folder, problem, log, best, graphs, sensitivity)
    if not quiet:
        print(f"{words}\nresults: {folder}")


def _final_run(problem: Problem, backend: Backend, log: Log, best: Evaluation) -> Hydrographs:
    from wepl.calibrate.problem import PERIODS
    from wepl.errors import NumericalError

    names = [name for name in PERIODS if problem.period(name) is not None]
    simulator = problem.simulator(backend, names, problem.positions)
    band = [one.parameters for one in good(log.evaluations)]
    chosen = [band[place] for place in np.unique(np.linspace(0, len(band) - 1, min(_BAND, len(band))).astype(int))]
    members = [problem.member(dict(values)) for values in (best.parameters, {}, *chosen)]
    simulated = simulator.run(members)
    if 0 in simulated.failures:
        raise NumericalError(f"the best member of the calibration cannot be run over all periods: "
                             f"{simulated.failures[0]}; its parameters are in {BEST}")
    return Hydrographs(simulator.first, simulated.discharge,
                       {name: problem.targets(name, simulator.first) for name in names})


def best_toml(problem: Problem, best: Evaluation) -> str:
    """The best parameters in the form that ``wepl run --params`` takes."""
    lines = [f"# Evaluation {best.number} of a calibration of {_plain(problem.basin.title)}, score "
             f"{best.score.total:.6f}", f"# wepl run BASIN.nc --params {BEST}", ""]
    if problem.config.options:
        lines += ["[options]", *[f"{_key(name)} = {_value(value)}" for name, value in problem.config.options.items()],
                  ""]
    lines += ["[parameters]", *[f"{_key(name)} = {value!r}" for name, value in best.parameters.items()], ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    return " ".join(text.split()) or "a basin"


def _key(name: str) -> str:
    return json.dumps(name) if "@" in name else name


def _value(value: float | str) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _table(problem: Problem, graphs: Hydrographs) -> str:
    """Observed, best, default and band discharge in the bins of the objective, as CSV."""
    lines = ["period,gauge,time,observed_m3_s,best_m3_s,default_m3_s,band_low_m3_s,band_high_m3_s"]
    for name, targets in graphs.targets.items():
        for place, target in enumerate(targets):
            series = target.of(graphs.discharge[:, :, place])
            band = np.nanmin(series[:, 2:], axis=1), np.nanmax(series[:, 2:], axis=1)
            for row, time in enumerate(target.times.astype("datetime64[s]").astype(str)):
                values = (target.observed[row], series[row, 0], series[row, 1], band[0][row], band[1][row])
                lines.append(",".join([name, _cell(target.gauge), time[:16], *[f"{value:.6g}" for value in values]]))
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n') else text


def _front(problem: Problem, log: Log) -> str:
    """Members that no other member excels in every measure, as CSV."""
    done = [one for one in log.evaluations if not one.score.failure]
    losses = np.array([one.score.losses for one in done])
    excelled = [bool(((losses <= mine).all(axis=1) & (losses < mine).any(axis=1)).any()) for mine in losses]
    front = sorted((one for one, out in zip(done, excelled, strict=True) if not out),
                   key=lambda one: one.score.losses.tolist())
    measures = list(problem.config.objective.measures)
    lines = [",".join(["evaluation", *measures, *problem.space.names])]
    for one in front:
        lines.append(",".join([str(one.number), *[f"{1.0 - loss:.6f}" for loss in one.score.losses],
                               *[repr(value) for value in one.parameters.values()]]))
    return "\n".join(lines) + "\n"


def write_text(path: Path, content: str) -> None:
    """Write a file that appears only when complete."""
    publish_bytes(path, content.encode())


def publish_bytes(path: Path, content: bytes) -> None:
    """Write a file that appears only when complete.

    Raises
    ------
    WeplError
        Writing failed.
    """
    unfinished = temporary_path(path)
    try:
        unfinished.write_bytes(content)
        publish(unfinished, path)
    except OSError as error:
        raise write_failure(path, error) from error
    finally:
        unfinished.unlink(missing_ok=True)


def json_number(value: float) -> float | None:
    """A number as JSON can hold it."""
    return float(value) if math.isfinite(value) else None


def assess(simulated: np.ndarray, target: Target, has_peaks: bool) -> dict[str, Any]:
    """Measures of one series with the parts of the Kling-Gupta efficiency; volume error in per cent."""
    from wepl.analysis.metrics import percent_bias
    from wepl.calibrate.objective import MEASURES, kling_gupta

    kge = kling_gupta(simulated, target.observed)
    result: dict[str, Any] = {
        "values": int(target.observed.size), "kge": kge.efficiency, "r": kge.correlation, "alpha": kge.variability,
        "beta": kge.bias, "nse": MEASURES["nse"](simulated, target),
        "log_nse": MEASURES["log_nse"](simulated, target),
        "volume_error_percent": percent_bias(simulated, target.observed)}
    if has_peaks and target.peaks:
        result["peaks"] = MEASURES["peaks"](simulated, target)
    return result
