"""The summary of a calibration: split-sample scores of each gauge, and what is known of each parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.calibrate.results import Hydrographs, assess, good, json_number

if TYPE_CHECKING:
    from wepl.calibrate.log import Evaluation, Log
    from wepl.calibrate.problem import Problem


def summarise(problem: Problem, log: Log, best: Evaluation, graphs: Hydrographs,
              sensitivity: dict[str, np.ndarray] | None) -> dict[str, Any]:
    """The summary as JSON holds it.

    Parameters
    ----------
    problem : Problem
    log : Log
    best : Evaluation
    graphs : Hydrographs
        Of the final run.
    sensitivity : dict of str to ndarray, optional
        Sobol indices of the score.
    """
    algorithm, objective = problem.config.algorithm, problem.config.objective
    evaluations = log.evaluations
    bounds = problem.space.at_bounds(best.parameters)
    best_tenth = np.array([problem.space.point(one.parameters) for one in good(evaluations)])
    parameters: dict[str, dict[str, Any]] = {}
    for place, (name, one) in enumerate(problem.space.ranges.items()):
        share = np.quantile(best_tenth[:, place], [0.1, 0.9])
        at = best_tenth.mean(axis=0)
        low, high = (problem.space.values(np.where(np.arange(at.size) == place, end, at))[name] for end in share)
        parameters[name] = {"best": best.parameters[name], "low": one.low, "high": one.high, "scale": one.scale,
                            "at_bound": bounds.get(name, ""), "good_low": low, "good_high": high,
                            "good_share_of_range": float(share[1] - share[0])}
        if sensitivity is not None:
            parameters[name]["sobol"] = {key: json_number(values[place]) for key, values in sensitivity.items()}
    weight = {record.gauge: value for record, value in zip(problem.records, problem.weights, strict=True)}
    scores: dict[str, Any] = {}
    for name, targets in graphs.targets.items():
        scores[name] = {}
        for place, target in enumerate(targets):
            series = target.of(graphs.discharge[:, :2, place])
            scores[name][target.gauge] = {
                "weight": weight[target.gauge],
                "best": assess(series[:, 0], target, True),
                "default": assess(series[:, 1], target, True) if np.isfinite(series[:, 1]).all() else None}
    return {
        "title": problem.config.title or problem.basin.title,
        "algorithm": algorithm.name, "seed": algorithm.seed, "asynchronous": algorithm.asynchronous,
        "evaluations": len(evaluations), "failed": sum(bool(one.score.failure) for one in evaluations),
        "measures": objective.measures, "aggregation": objective.aggregation, "gauges_by": objective.gauges,
        "best_evaluation": best.number, "score": best.score.total,
        "period": problem.config.period.model_dump(mode="json"), "parameters": parameters, "scores": scores}


def text(content: dict[str, Any]) -> str:
    """The summary for people."""
    measures = ", ".join(f"{name} ({weight:g})" for name, weight in content["measures"].items())
    failed = f", {content['failed']} of them failed" if content["failed"] else ""
    lines = [f"{content['title']}",
             f"{content['evaluations']} evaluations of {content['algorithm']} (seed {content['seed']}){failed}; "
             f"best is evaluation {content['best_evaluation']}: {measures}, {content['aggregation']}, "
             f"{content['score']:.4f}", "", *_score_lines(content), "", *_parameter_lines(content["parameters"])]
    return "\n".join(lines) + "\n"


def _score_lines(content: dict[str, Any]) -> list[str]:
    lines = []
    for name, gauges in content["scores"].items():
        first, last = content["period"][name]
        width = max(12, *(len(gauge) for gauge in gauges))
        lines.append(f"{name} {first} to {last}")
        lines.append(f"  {'gauge':{width}}  {'member':7}  {'values':>6}  {'KGE':>6}  {'r':>6}  {'alpha':>6}  "
                     f"{'beta':>6}  {'NSE':>6}  {'logNSE':>6}  {'volume':>8}")
        for gauge, of_gauge in gauges.items():
            for member in ("best", "default"):
                lines.append(f"  {gauge if member == 'best' else '':{width}}  {member:7}  "
                             + _row(of_gauge[member], of_gauge["weight"] if member == "best" else 1.0))
        lines.append("")
    return lines[:-1]


def _row(score: dict[str, Any] | None, weight: float) -> str:
    if score is None:
        return "the model could not finish"
    note = "  not calibrated to" if weight == 0.0 else ""
    numbers = "  ".join(f"{score[key]:6.3f}" for key in ("kge", "r", "alpha", "beta", "nse", "log_nse"))
    return f"{score['values']:6d}  {numbers}  {score['volume_error_percent']:+7.1f}%{note}"


def _parameter_lines(parameters: dict[str, Any]) -> list[str]:
    width = max(len(name) for name in parameters)
    has_sobol = any("sobol" in one for one in parameters.values())
    lines = [f"{'parameter':{width}}  {'best':>11}  {'range':>23}  {'80 % of the best tenth':>23}"
             + ("  first order    total" if has_sobol else "")]
    for name, one in parameters.items():
        note = f"  at its {one['at_bound']} bound" if one["at_bound"] else ""
        sobol = ""
        if "sobol" in one:
            values = [one["sobol"][key] for key in ("first", "total")]
            sobol = "  " + "  ".join("     none" if value is None else f"{value:9.3f}" for value in values)
        lines.append(f"{name:{width}}  {one['best']:11.5g}  {one['low']:10.4g} - {one['high']:10.4g}  "
                     f"{one['good_low']:10.4g} - {one['good_high']:10.4g}{sobol}{note}")
    return lines
