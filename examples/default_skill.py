"""Score the five catchments without calibration, under several values of one option.

    python examples/default_skill.py DATA FOLDER [--option NAME] [--values A,B,...] [--catchments A,B,...]

DATA holds one folder per catchment (``sitter_appenzell``, ``cache_creek``, ``famine``, ``cance``, ``delaware``) with
the files that ``calibrate_basins.py`` needs; basins and observations are put into FOLDER. Printed is the median over
gauges of the daily (Cance: hourly) Kling-Gupta efficiency with its correlation, variability and bias, in the
calibration and the validation period of ``calibrate_NAME.toml``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from calibrate_basins import MAKERS, make

from wepl.calibrate.objective import kling_gupta
from wepl.calibrate.problem import PERIODS, prepare

FOLDERS = {"sitter": "sitter_appenzell"}


def scores(toml: Path, members: list[dict[str, float | str]]) -> dict[str, np.ndarray]:
    """Median over gauges of efficiency, correlation, variability and bias, [member, 4], by period."""
    problem = prepare(toml)
    discharge = problem.simulator(problem.backend(), PERIODS, problem.positions).run(members).discharge
    first, _ = problem.steps(PERIODS)
    found = {}
    for period in PERIODS:
        targets = problem.targets(period, first)
        of_member = []
        for member in range(len(members)):
            parts = [kling_gupta(target.of(discharge[:, member, place]), target.observed)
                     for place, target in enumerate(targets)]
            of_member.append(np.median([(kge.efficiency, kge.correlation, kge.variability, kge.bias)
                                        for kge in parts], axis=0))
        found[period] = np.array(of_member)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--option", default="interflow_anisotropy")
    parser.add_argument("--values", default="50,100,200,400")
    parser.add_argument("--catchments", default=",".join(MAKERS))
    arguments = parser.parse_args()
    values = [float(value) for value in arguments.values.split(",")]
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.catchments.split(","):
        toml = make(name, arguments.data / FOLDERS.get(name, name), arguments.folder / name)
        for period, table in scores(toml, [{arguments.option: value} for value in values]).items():
            for value, (efficiency, *parts) in zip(values, table, strict=True):
                r, alpha, beta = parts
                print(f"{name:12} {period:12} {arguments.option} {value:<8g} KGE {efficiency:.3f} "
                      f"(r {r:.3f}, alpha {alpha:.3f}, beta {beta:.3f})", flush=True)


if __name__ == "__main__":
    main()
