"""The loop of a calibration: draw, simulate, score, note, tell; and the same again from the log when it goes on.

A search is a function of its seed and of what it was told, so a stopped calibration goes on by telling a new search
what the log holds. With ``asynchronous`` the next population is simulated, in a thread, while the last one is scored
and told; it was drawn one population earlier than it could have been, which costs the search some of its speed.
"""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl.errors import InputError, NumericalError

if TYPE_CHECKING:
    from wepl.calibrate.log import Evaluation, Log
    from wepl.calibrate.objective import Scorer
    from wepl.calibrate.problem import Problem
    from wepl.calibrate.progress import Progress
    from wepl.calibrate.search import Search
    from wepl.calibrate.simulate import Simulated, Simulator
    from wepl.distributed import Cluster


def calibrate(path: str | Path, *, output: str | Path | None = None, resume: bool = False, plots: bool = False,
              quiet: bool = False, cluster: Cluster | None = None) -> Path:
    """Calibrate as a TOML file says.

    Parameters
    ----------
    path : path
        The TOML file; docs/calibration.md.
    output : path, optional
        Folder for log, ``best.toml``, summary and plots; ``NAME_calibration`` in the working folder when None.
    resume : bool
        Go on with the log in that folder.
    plots : bool
        Draw pictures too.
    quiet : bool
        Print nothing.
    cluster : Cluster, optional
        Where populations are simulated (:func:`wepl.distributed.connect`); here when None. Same bits.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InputError
        Something in the input cannot be used.
    NumericalError
        The model could finish no member at all.
    """
    from wepl.calibrate import results
    from wepl.calibrate.log import Log, check_place
    from wepl.calibrate.problem import prepare
    from wepl.calibrate.progress import Progress
    from wepl.calibrate.search import create
    from wepl.run.ensemble import kernel_options

    if plots:
        results.require_plots()
    folder = Path(output) if output is not None else Path(f"{Path(path).stem}_calibration")
    check_place(folder, resume)
    problem = prepare(path)
    problem.cluster = cluster
    backend = problem.backend()
    algorithm = problem.config.algorithm
    search = create(algorithm.name, len(problem.space.names), seed=algorithm.seed, population=algorithm.population,
                    start=problem.space.start(problem.basin.options), evaluations=algorithm.evaluations,
                    objectives=len(problem.config.objective.measures))
    scorer = problem.scorer()
    simulator = problem.simulator(backend, ["calibration"], [target.position for target in scorer.targets])
    _make(folder)
    with Progress(quiet=quiet) as progress:
        progress.announce(backend.reason)
        apart = sorted(kernel_options() & set(problem.space.names))
        if apart:
            progress.announce(f"members are launched one by one, since the kernels read {', '.join(apart)}: a "
                              "population takes as long as so many runs")
        log = Log(folder, problem.facts, resume)
        try:
            _Loop(problem, simulator, scorer, search, log, progress).run()
        finally:
            log.close()
    best = best_of(log.evaluations)
    results.write(folder, problem, backend, search, log, best, plots=plots, quiet=quiet)
    return folder


def best_of(evaluations: list[Evaluation]) -> Evaluation:
    """The evaluation with the best score, the first of equals.

    Raises
    ------
    NumericalError
        The model could finish none.
    """
    done = [one for one in evaluations if not one.score.failure]
    if not done:
        raise NumericalError(f"the model could finish none of {len(evaluations)} members; the first: "
                             f"{evaluations[0].score.failure}")
    return max(done, key=lambda one: one.score.total)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be made: {error.strerror}; choose another with -o") from None


class _Loop:
    """One calibration under way."""

    def __init__(self, problem: Problem, simulator: Simulator, scorer: Scorer, search: Search, log: Log,
                 progress: Progress) -> None:
        self._problem, self._simulator, self._scorer = problem, simulator, scorer
        self._search, self._log, self._progress = search, log, progress
        algorithm = problem.config.algorithm
        self._asynchronous = algorithm.asynchronous
        self._seconds = 60.0 * algorithm.minutes if algorithm.minutes else float("inf")
        total = algorithm.evaluations if search.total is None else search.total
        self._populations = max(1, total // search.population if search.total is None
                                else -(-total // search.population))
        self._planned = min(total, self._populations * search.population)
        self._drawn: deque[np.ndarray] = deque()
        self._asked = self._told = 0
        self._done = 0

    def run(self) -> None:
        """Tell the search what the log holds, then go on to the end of the budget."""
        self._replay()
        spent = sum(population.seconds for population in self._log.populations)
        self._progress.begin(self._planned, self._done, best=self._best(), spent=spent)
        if self._told >= self._populations:
            return
        from wepl.run.interrupt import Interrupted, Watch

        with Watch() as watch, ThreadPoolExecutor(max_workers=1, thread_name_prefix="wepl-members") as worker:
            self._draw()
            running: Future[Simulated] | None = self._submit(worker)
            while running is not None:
                began = time.perf_counter()
                simulated = running.result()
                points = self._drawn.popleft()
                running = self._submit(worker) if self._asynchronous and self._drawn and not watch.caught else None
                self._take(points, simulated)
                spent += time.perf_counter() - began
                self._progress.update(self._done, self._best(), spent)
                if watch.caught:
                    raise Interrupted(f"stopped after {self._done} evaluations, all of which are in {self._log.path}; "
                                      "go on with --resume", watch.caught)
                over = spent * (1.0 + 1.0 / self._told) > self._seconds
                if running is None and self._drawn and not over:
                    running = self._submit(worker)
                if over:
                    break

    def _submit(self, worker: ThreadPoolExecutor) -> Future[Simulated]:
        members = [self._problem.member(self._problem.space.values(point)) for point in self._drawn[0]]
        return worker.submit(self._simulator.run, members)

    def _draw(self) -> None:
        """Draw what may be drawn by now: one population, and with ``asynchronous`` one more after the first is told."""
        ahead = 1 if self._asynchronous and self._told else 0
        while self._asked < min(self._told + 1 + ahead, self._populations):
            self._drawn.append(self._search.ask())
            self._asked += 1

    def _take(self, points: np.ndarray, simulated: Simulated) -> None:
        from wepl.calibrate.log import Evaluation, Population

        scores = [self._scorer.failed(simulated.failures[place]) if place in simulated.failures
                  else self._scorer.score(simulated.discharge[:, place]) for place in range(len(points))]
        self._log.append(Population(tuple(
            Evaluation(self._done + place, self._told, self._problem.space.values(point), score)
            for place, (point, score) in enumerate(zip(points, scores, strict=True))), simulated.seconds))
        self._tell(np.array([score.losses for score in scores]))

    def _tell(self, losses: np.ndarray) -> None:
        self._search.tell(losses)
        self._told += 1
        self._done += len(losses)
        self._draw()

    def _replay(self) -> None:
        """Bring the search to where the log ends.

        Raises
        ------
        InputError
            The search draws other points than the log holds.
        """
        self._draw()
        for population in self._log.populations:
            points = self._drawn.popleft() if self._drawn else np.zeros((0, 0))
            found = [self._problem.space.values(point) for point in points]
            if found != [dict(one.parameters) for one in population.evaluations]:
                raise InputError(f"{self._log.path}: the search draws other parameters than evaluation "
                                 f"{population.evaluations[0].number} of the log has: another version of its library, "
                                 "or fewer evaluations than the log holds; begin anew in another folder")
            self._tell(np.array([one.score.losses for one in population.evaluations]))

    def _best(self) -> float:
        done = [one.score.total for one in self._log.evaluations if not one.score.failure]
        return max(done, default=float("nan"))
