"""The durable log of a calibration: one line of JSON per evaluation, a whole population on the disk at a time.

The first line says what is calibrated; a log goes on only with the same. A population that a crash cut short is cut
off when the log is opened again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from wepl.calibrate.objective import Score
from wepl.errors import InputError
from wepl.netcdf import write_failure

NAME = "log.jsonl"


@dataclass(frozen=True)
class Evaluation:
    """One member's parameters and score."""

    number: int
    population: int
    parameters: Mapping[str, float]
    score: Score


@dataclass(frozen=True)
class Population:
    """Members that were simulated together, and the seconds that took."""

    evaluations: tuple[Evaluation, ...]
    seconds: float


class Log:
    """The log of one calibration.

    Parameters
    ----------
    folder : Path
    facts : mapping
        What is calibrated; a log with others is refused.
    resume : bool
        Go on with the log that is there; otherwise begin a new one.

    Raises
    ------
    InputError
        There is no log to go on with, there is one already, or it belongs to another calibration.
    """

    def __init__(self, folder: Path, facts: Mapping[str, Any], resume: bool) -> None:
        self.path = folder / NAME
        self.populations: list[Population] = []
        self._file: BinaryIO | None = None
        check_place(folder, resume)
        try:
            if resume:
                self._read(dict(facts))
            else:
                self._begin(dict(facts))
        except BaseException:
            self.close()
            raise

    def _begin(self, facts: dict[str, Any]) -> None:
        self._open()
        self._append(json.dumps(facts) + "\n")

    def append(self, population: Population) -> None:
        """Put a population on the disk; it is safe when this returns."""
        size = len(population.evaluations)
        lines = [json.dumps({"evaluation": one.number, "population": one.population, "of": size,
                             "seconds": round(population.seconds, 3), "score": one.score.total,
                             "losses": one.score.losses.tolist(), "parameters": dict(one.parameters),
                             "gauges": one.score.gauges, "failure": one.score.failure})
                 for one in population.evaluations]
        self._append("".join(line + "\n" for line in lines))
        self.populations.append(population)

    @property
    def evaluations(self) -> list[Evaluation]:
        """All evaluations in their order."""
        return [one for population in self.populations for one in population.evaluations]

    def _append(self, text: str) -> None:
        assert self._file is not None
        try:
            self._file.write(text.encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise write_failure(self.path, error) from error

    def close(self) -> None:
        """Let the file go; another calibration may go on with it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> None:
        """Open the file to append to, and keep others from doing the same."""
        try:
            self._file = open(self.path, "ab")  # noqa: SIM115  # held to the end of the calibration
        except OSError as error:
            raise write_failure(self.path, error) from error
        if not _lock(self._file):
            self.close()
            raise InputError(f"{self.path} is being written by another calibration: wait for it, or choose another "
                             "folder with -o")

    def _read(self, facts: dict[str, Any]) -> None:
        self._open()
        raw = self.path.read_bytes()
        lines = raw.splitlines(keepends=True)
        if not lines or not lines[0].endswith(b"\n"):
            raise InputError(f"{self.path} has no first line: remove it and begin anew")
        begun = _parsed(lines[0], self.path, 1)
        other = sorted(name for name in {*facts, *begun} if facts.get(name) != begun.get(name))
        if other:
            raise InputError(f"{self.path} belongs to another calibration ({', '.join(other)} differs): go on with "
                             "what it was begun with, or choose another folder with -o")
        whole = len(lines[0])
        waiting: list[dict[str, Any]] = []
        for number, line in enumerate(lines[1:], 2):
            if not line.endswith(b"\n"):
                break
            waiting.append(_parsed(line, self.path, number))
            if len(waiting) == waiting[0]["of"]:
                self.populations.append(_population(waiting))
                whole += sum(map(len, lines[number - len(waiting):number]))
                waiting = []
        if whole < len(raw):
            os.truncate(self.path, whole)


def check_place(folder: Path, resume: bool) -> None:
    """Refuse a folder without the log to go on with, or with the log of an earlier calibration.

    Raises
    ------
    InputError
        See above.
    """
    path = folder / NAME
    if resume and not path.is_file():
        raise InputError(f"there is no {path} to go on with: leave --resume out")
    if not resume and path.exists():
        raise InputError(f"{path} is there already: go on with --resume, remove it, or choose another folder with -o")


def _lock(file: BinaryIO) -> bool:
    """Whether no other process has the file; where the system has no locks, none is known of."""
    try:
        import fcntl
    except ModuleNotFoundError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except ValueError as error:
        raise InputError(f"{path}, line {number} is damaged ({error}): remove it and all below, then go on") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}, line {number} is no line of a log: remove it and all below, then go on")
    return content


def _population(lines: Sequence[Mapping[str, Any]]) -> Population:
    return Population(tuple(
        Evaluation(line["evaluation"], line["population"], line["parameters"],
                   Score(line["score"], np.array(line["losses"]), line["gauges"], line["failure"]))
        for line in lines), lines[0]["seconds"])
