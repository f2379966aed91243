"""A calibration made ready: basin, observations in bins, parameters and period, checked before time is spent."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.errors import InputError

if TYPE_CHECKING:
    from wepl.backends import Backend
    from wepl.basin.dataset import Basin
    from wepl.calibrate.config import Config
    from wepl.calibrate.objective import Scorer
    from wepl.calibrate.observed import Record
    from wepl.calibrate.simulate import Simulator
    from wepl.calibrate.space import Space
    from wepl.calibrate.targets import Target
    from wepl.distributed import Cluster

PERIODS = ("calibration", "validation")


@dataclass
class Problem:
    """All that a search needs, made by :func:`prepare`.

    Attributes
    ----------
    config : Config
    basin : Basin
    space : Space
    records : list of Record
        Of the gauges in the order of the file; with their weights, and whether they are calibrated to, in ``weights``.
    weights : list of float
        0 for gauges that are used in validation only.
    positions : list of int
        Position of each gauge's sub-basin.
    facts : dict
        What makes this calibration another one, for the log.
    cluster : Cluster or None
        Where populations are simulated; here when None.
    """

    config: Config
    basin: Basin
    space: Space
    records: list[Record]
    weights: list[float]
    positions: list[int]
    facts: dict[str, Any]
    cluster: Cluster | None = None

    @cached_property
    def times(self) -> np.ndarray:
        """Start of each of the model's steps, s since 1970-01-01."""
        from wepl.calibrate.targets import step_seconds

        return step_seconds(self.basin.clock)

    @property
    def step(self) -> int:
        """Length of the model's step, s."""
        return int(self.basin.clock.step_seconds)

    def period(self, name: str) -> tuple[int, int] | None:
        """Start and end of ``calibration`` or ``validation`` on the records' clocks, s; None when not given."""
        given = getattr(self.config.period, name)
        return None if given is None else (_seconds(given[0]), _seconds(given[1], self.step))

    def steps(self, names: Sequence[str]) -> tuple[int, int]:
        """First and last step (not included) of a run over periods and the warm-up before them.

        Raises
        ------
        InputError
            The forcing does not cover it.
        """
        spans = [span for span in map(self.period, names) if span is not None]
        start = min(span[0] for span in spans) - max(record.offset for record in self.records)
        end = max(span[1] for span in spans) - min(record.offset for record in self.records)
        forcing = int(self.times[0]), int(self.times[-1]) + self.step
        warm_up = self.config.period.warm_up_days
        begin = forcing[0] if warm_up is None else start - round(86400 * warm_up)
        day = 86400
        if start < forcing[0] - day or end > forcing[1] + day:
            raise InputError(f"period: the forcing goes from {_label(forcing[0])} to {_label(forcing[1] - 1)}, and "
                             f"does not hold {_label(start)} to {_label(end - 1)}: choose periods within it")
        if begin < forcing[0] - day:
            raise InputError(f"period.warm_up_days {warm_up:g}: the forcing begins at {_label(forcing[0])}, "
                             f"{max(0, start - forcing[0]) // day} days before the period: give so many, begin the "
                             "period later, or repeat the first year by spin_up_years")
        return int(np.searchsorted(self.times, begin)), int(np.searchsorted(self.times, end))

    def targets(self, name: str, first: int, calibrated_only: bool = False) -> list[Target]:
        """Observations of each gauge in a period of a run that begins at step ``first``."""
        from wepl.calibrate.targets import target

        objective, span = self.config.objective, self.period(name)
        assert span is not None
        return [target(record, position, weight, self.times, self.step, span, first, objective.aggregation,
                       objective.peaks, objective.peak_days)
                for record, weight, position in zip(self.records, self.weights, self.positions, strict=True)
                if weight > 0.0 or not calibrated_only]

    def backend(self) -> Backend:
        """The backend that the file asks for."""
        from wepl import backends

        machine = self.config.machine
        create = backends.create if self.cluster is None else self.cluster.device
        return create(machine.backend, machine.precision, machine.threads)

    def simulator(self, backend: Backend, periods: Sequence[str], positions: Sequence[int]) -> Simulator:
        """What simulates populations over periods."""
        from wepl.calibrate.simulate import Simulator

        first, last = self.steps(periods)
        make = Simulator if self.cluster is None else self.cluster.simulator
        return make(self.basin, backend, positions, first, last, self.config.period.spin_up_years)

    def scorer(self) -> Scorer:
        """What scores a member over the calibration period."""
        from wepl.calibrate.objective import Scorer

        objective = self.config.objective
        return Scorer(self.targets("calibration", self.steps(["calibration"])[0], calibrated_only=True),
                      objective.measures, worst=objective.gauges == "worst",
                      several=self.config.algorithm.name == "nsga2")

    def member(self, parameters: dict[str, float]) -> dict[str, float | str]:
        """A member's options: the fixed ones of the file and its own."""
        return {**self.config.options, **parameters}


def prepare(path: str | Path) -> Problem:
    """Read and check everything that a calibration needs.

    Parameters
    ----------
    path : path
        The TOML file.

    Raises
    ------
    InputError
        Something cannot be used: what, where, and what to do.
    """
    try:
        import pydantic  # noqa: F401
    except ModuleNotFoundError:
        raise InputError("a calibration needs pydantic: pip install 'wepl[calibrate]'") from None
    from wepl.basin.dataset import Basin
    from wepl.calibrate import observed
    from wepl.calibrate.config import read
    from wepl.calibrate.space import Space

    config, _ = read(path)
    folder = Path(path).parent
    basin = Basin.open(folder / config.basin)
    records: list[Record] = []
    weights: list[float] = []
    for entry in config.observed:
        found = observed.read_records(entry, folder, basin)
        records += found
        weights += [entry.weight if entry.use == "both" else 0.0] * len(found)
    known = observed.gauge_positions(basin)
    problem = Problem(config, basin, Space(config.parameters), records, weights,
                      [known[record.gauge] for record in records], _facts(config, basin, records))
    _check(problem)
    return problem


def _check(problem: Problem) -> None:
    """Refuse ranges that the model does not take, and periods without observations."""
    from wepl.run.ensemble import assemble_members

    ends = [problem.space.values(np.full(len(problem.space.names), share)) for share in (0.0, 1.0)]
    for values in ends:
        # One by one: what the kernels read may differ between members, though not in one launch.
        assemble_members(problem.basin, [problem.member(values)])
    problem.scorer()
    for name in PERIODS:
        if problem.period(name) is not None:
            problem.targets(name, problem.steps(PERIODS)[0])


def _facts(config: Config, basin: Basin, records: list[Record]) -> dict[str, Any]:
    """What must be the same when a calibration goes on; the budget and the machine's threads may change."""
    from wepl import __version__

    content = config.model_dump(exclude={"title": True, "algorithm": {"evaluations", "minutes"},
                                         "machine": {"threads"}}, mode="json")
    digest = hashlib.sha256()
    for record in records:
        digest.update(record.gauge.encode() + record.times.tobytes() + record.values.tobytes())
    return {"log": "wepl calibration", "version": __version__, "basin": basin.hash, "clock": repr(basin.clock),
            "observations": digest.hexdigest(), "settings": content}


def _seconds(moment: str, step: int = 0) -> int:
    """Seconds since 1970-01-01 of ISO text; with ``step`` the end of the day or step that it names."""
    seconds = int(np.datetime64(moment, "s").astype(np.int64))
    if step == 0:
        return seconds
    return seconds + (86400 if len(moment) == 10 else step)


def _label(seconds: int) -> str:
    text = str(np.datetime64(int(seconds), "s"))
    return text[:10] if text.endswith("T00:00:00") or text.endswith("23:59:59") else text[:16]
