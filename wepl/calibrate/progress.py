"""Progress of a calibration: a bar on a terminal, a line now and then in a log, nothing when quiet."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_LOG_SECONDS = 10.0
_LOG_SHARE = 0.1


class Progress:
    """Tells how far a calibration is; a context manager, so that no error leaves a live bar on the terminal.

    Messages go to standard output, the bar and the progress lines to standard error.

    Parameters
    ----------
    quiet : bool
        Print nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._total = self._done = self._before = 0
        self._best, self._spent, self._spent_before = float("nan"), 0.0, 0.0
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._logged_at, self._logged_share = time.monotonic(), 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def announce(self, text: str) -> None:
        """Print a message."""
        if not self._quiet:
            print(text, flush=True)

    def begin(self, total: int, done: int, best: float, spent: float) -> None:
        """Tell the number of evaluations, and what an earlier part of the calibration did."""
        self._total, self._done, self._before = total, done, done
        self._best, self._spent, self._spent_before = best, spent, spent
        if done:
            self.announce(f"going on after {done} evaluations, best {best:.4f}")

    def update(self, done: int, best: float, spent: float) -> None:
        """Tell that a population is done.

        Parameters
        ----------
        done : int
            Evaluations so far.
        best : float
            Best score so far.
        spent : float
            Seconds so far.
        """
        self._done, self._best, self._spent = done, best, spent
        if self._quiet:
            return
        if sys.stderr.isatty():
            self._draw()
        else:
            self._log()

    def close(self) -> None:
        """Leave the terminal as it was; may be called more than once."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    @property
    def text(self) -> str:
        """Evaluations, best score and time left, e.g. ``120 of 500  best 0.8123  0:02:40 left``."""
        made, took = self._done - self._before, self._spent - self._spent_before
        left = f"  {_duration((self._total - self._done) * took / made)} left" if made and took else ""
        return f"{self._done} of {self._total}  best {self._best:.4f}{left}"

    def _draw(self) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(BarColumn(), TaskProgressColumn(), TextColumn("{task.description}", markup=False),
                            console=Console(stderr=True))
            self._task = self._bar.add_task("", total=self._total)
            self._bar.start()
        if self._task is not None:
            self._bar.update(self._task, completed=self._done, description=self.text)

    def _log(self) -> None:
        share = self._done / self._total
        now = time.monotonic()
        if share - self._logged_share < _LOG_SHARE and now - self._logged_at < _LOG_SECONDS and share < 1.0:
            return
        self._logged_share, self._logged_at = share, now
        print(f"{share:4.0%}  {self.text}", file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}"
