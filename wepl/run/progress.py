"""Progress of a run: a bar on a terminal, a line now and then in a log, nothing when quiet."""

from __future__ import annotations

import sys
import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from wepl.language import say

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_LOG_SECONDS = 10.0
_LOG_SHARE = 0.1
_SPEED_BLOCKS = 8
_YEAR_DAYS = 365.25


class _Clock(Protocol):
    """What is asked of the run's clock."""

    @property
    def step_seconds(self) -> float: ...

    def label(self, index: int) -> str: ...


class Progress:
    """Tells how far a run is; a context manager, so that no error leaves a live bar on the terminal.

    Messages go to standard output, the bar and the progress lines to standard error.

    Parameters
    ----------
    clock : Clock
        Gives the date of a step and its length.
    first, last : int
        The run covers steps ``first`` to ``last - 1``.
    quiet : bool
        Print nothing.
    """

    def __init__(self, clock: _Clock, first: int, last: int, *, quiet: bool = False) -> None:
        self._clock = clock
        self._first, self._last, self._done = first, last, first
        self._quiet = quiet
        self._blocks: deque[tuple[int, float]] = deque(maxlen=_SPEED_BLOCKS)
        self._n_blocks = 0
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._logged_at = time.monotonic()
        self._logged_share = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def announce_compilation(self, native: str | None = None) -> None:
        """Say that the first run compiles, when the compiled code is not on the disk yet.

        ``native`` is the folder of the native backend's library when that is still to be built, "" when it is there.
        """
        if self._quiet or native == "":
            return
        if native:
            self.line(say("run.compiling_native", folder=native))
            return
        from wepl.physics.jit import cache_folder

        if not is_compiled(cache_folder()):
            self.line(say("run.compiling", folder=cache_folder()))

    def line(self, text: str) -> None:
        """Print a message."""
        if not self._quiet:
            print(text, flush=True)

    def update(self, until: int, seconds: float) -> None:
        """Tell that a block is done.

        Parameters
        ----------
        until : int
            First step that is not done yet.
        seconds : float
            Time that the block took.
        """
        self._n_blocks += 1
        if self._n_blocks == 2:
            self._blocks.clear()  # the first block may hold the compilation
        self._blocks.append((until - self._done, seconds))
        self._done = until
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
        """Date reached, speed and time left, e.g. ``2012-05-09  12.4 years/min  0:01:20 left``."""
        parts = [self._clock.label(self._done - 1)]
        steps, seconds = (sum(column) for column in zip(*self._blocks, strict=True)) if self._blocks else (0, 0.0)
        if steps > 0 and seconds > 0.0:
            days = steps * self._clock.step_seconds / 86400.0 / seconds
            years = days * 60.0 / _YEAR_DAYS
            parts.append(say("run.years_per_minute", speed=f"{years:.3g}") if years >= 1.0
                         else say("run.days_per_second", speed=f"{days:.2g}"))
            parts.append(say("run.time_left", time=_duration((self._last - self._done) * seconds / steps)))
        return "  ".join(parts)

    def _draw(self) -> None:
        if self._bar is None:
            self._start_bar()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done - self._first, description=self.text)

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(BarColumn(), TaskProgressColumn(), TextColumn("{task.description}", markup=False),
                        console=Console(stderr=True))
        self._task = self._bar.add_task("", total=self._last - self._first)
        self._bar.start()

    def _log(self) -> None:
        share = (self._done - self._first) / (self._last - self._first)
        now = time.monotonic()
        if share - self._logged_share < _LOG_SHARE and now - self._logged_at < _LOG_SECONDS and self._done < self._last:
            return
        self._logged_share, self._logged_at = share, now
        print(f"{share:4.0%}  {self.text}", file=sys.stderr, flush=True)


def is_compiled(folder: Path) -> bool:
    """Whether numba has stored the column kernel, the one that takes longest to compile."""
    return any(folder.rglob("*column_kernel*.nbi"))


def _duration(seconds: float) -> str:
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}"
