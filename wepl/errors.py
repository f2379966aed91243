"""One family of exceptions: each message says what is wrong, where, and what to do."""

from __future__ import annotations


class WeplError(Exception):
    """Base of every error that the model raises on purpose; the CLI prints it without a traceback."""

    exit_code = 1


class InputError(WeplError):
    """Something that the user gave (a file, an option) cannot be used."""

    exit_code = 2


class BasinError(InputError):
    """A basin file breaks one or more rules; ``problems`` lists them all, one line each."""

    def __init__(self, message: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


class WriteError(WeplError):
    """A file could not be written: the disk, the quota or the memory is full, or the place went away."""


class NumericalError(WeplError):
    """A kernel met a value it cannot go on with (not finite, not converged, out of balance)."""

    exit_code = 3


class BackendError(WeplError):
    """The asked backend cannot run here."""

    exit_code = 2
