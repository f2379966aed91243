"""SIGINT and SIGTERM during a run: the block that is being computed is finished, then the run stops in good order."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType

from wepl.errors import WeplError


class Interrupted(WeplError):
    """The run was stopped by a signal; the message says how to go on."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.exit_code = 128 + number


class Watch:
    """Notes the first signal and lets the second act as before; does nothing outside the main thread."""

    def __init__(self) -> None:
        self.caught: int | None = None
        self._before: dict[int, object] = {}

    def __enter__(self) -> Watch:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.caught = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal.signal itself gave
        self._before = {}
