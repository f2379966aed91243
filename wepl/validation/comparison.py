"""The form of a comparison, and the one runner that makes them all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Tolerance(NamedTuple):
    """The largest accepted error: relative to the expected value, or absolute in its unit."""

    value: float
    relative: bool


def relative(value: float) -> Tolerance:
    """A tolerance relative to the expected value."""
    return Tolerance(value, True)


def absolute(value: float) -> Tolerance:
    """A tolerance in the unit of the value."""
    return Tolerance(value, False)


class Case(NamedTuple):
    """One number to be met.

    Attributes
    ----------
    what : str
        The quantity and its setting, in words.
    inputs : tuple
        Arguments of the group's functions.
    expected : float
        The outside number; NaN where the group's ``reference`` computes it.
    tolerance : Tolerance or None
        Where it differs from the group's.
    source : str
        Where it differs from the group's.
    """

    what: str
    inputs: tuple[Any, ...]
    expected: float = math.nan
    tolerance: Tolerance | None = None
    source: str = ""


class Group(NamedTuple):
    """Cases of one process that one function evaluates.

    Attributes
    ----------
    process : str
        Section of the page.
    unit : str
        Unit of expected and computed values.
    source : str
        Where the expected values come from.
    tolerance : Tolerance
        Largest accepted error.
    evaluate : callable
        The model's answer to a case's inputs.
    cases : tuple of Case
        What is compared.
    reference : callable or None
        An independent solution of a case's inputs, where no number was published.
    digits : int
        Significant digits of the page; fewer where an adaptive solver stands behind a number, so that machines agree.
    floor : float
        Errors below it are rounding or solver noise and printed as such; in the kind of the tolerance.
    """

    process: str
    unit: str
    source: str
    tolerance: Tolerance
    evaluate: Callable[..., float]
    cases: tuple[Case, ...]
    reference: Callable[..., float] | None = None
    digits: int = 7
    floor: float = 1e-11


class Comparison(NamedTuple):
    """One finished comparison; ``error`` is of the kind of ``tolerance``."""

    process: str
    what: str
    unit: str
    expected: float
    got: float
    error: float
    tolerance: Tolerance
    source: str
    digits: int
    floor: float

    @property
    def passed(self) -> bool:
        """Whether the error is a number within the tolerance."""
        return self.error <= self.tolerance.value


def compare(group: Group) -> list[Comparison]:
    """Evaluate every case of a group.

    Raises
    ------
    ValueError
        A relative tolerance is asked of an expected value of 0.
    """
    finished = []
    for case in group.cases:
        expected = case.expected if group.reference is None else float(group.reference(*case.inputs))
        got = float(group.evaluate(*case.inputs))
        tolerance = case.tolerance or group.tolerance
        error = abs(got - expected)
        if tolerance.relative:
            if expected == 0.0:
                raise ValueError(f"{group.process}, {case.what}: an expected 0 needs an absolute tolerance")
            error /= abs(expected)
        floor = group.floor if tolerance.relative else max(group.floor, 1e-11 * abs(expected))
        finished.append(Comparison(group.process, case.what, group.unit, expected, got, error, tolerance,
                                   case.source or group.source, group.digits, floor))
    return finished


def compare_all(groups: Iterable[Group]) -> list[Comparison]:
    """Evaluate all groups, in their order."""
    return [comparison for group in groups for comparison in compare(group)]


def table(pattern: str, rows: Iterable[tuple[Any, ...]]) -> tuple[Case, ...]:
    """Cases from rows of inputs whose last entry is the expected value; ``pattern`` is formatted with the inputs."""
    return tuple(Case(pattern.format(*row[:-1]), tuple(row[:-1]), float(row[-1])) for row in rows)
