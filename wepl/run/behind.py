"""Work done behind the block loop: one thread, few calls waiting, errors brought back to the loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

# One call at work and one waiting: more would hold more blocks in memory and hide nothing more.
_MOST = 2


class Behind:
    """Calls a function in a thread of its own, in the order of :meth:`put`; a context manager.

    Parameters
    ----------
    work : callable
        What is called with the arguments of :meth:`put`.
    most : int
        Calls that may be at work or waiting; one more makes :meth:`put` wait.

    Notes
    -----
    After an error in ``work`` no further call is begun, and the next :meth:`put` or :meth:`drain` raises it. Leaving
    the context without an error drains; with one, what waits is dropped and what is at work is finished.
    """

    def __init__(self, work: Callable[..., None], most: int = _MOST) -> None:
        self._work = work
        self._most = most
        self._error: BaseException | None = None
        self._waiting: deque[Future[None]] = deque()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="wepl-behind")

    def put(self, *arguments: Any) -> None:
        """Call ``work`` with these arguments when those before are done; they must not be changed afterwards."""
        self._settle(self._most - 1)
        self._waiting.append(self._thread.submit(self._call, *arguments))

    def drain(self) -> None:
        """Wait until all is done."""
        self._settle(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            if error is None:
                self.drain()
        finally:
            self._thread.shutdown(wait=True, cancel_futures=True)

    def _call(self, *arguments: Any) -> None:
        if self._error is None:
            try:
                self._work(*arguments)
            except BaseException as error:
                self._error = error

    def _settle(self, most: int) -> None:
        while len(self._waiting) > most:
            self._waiting.popleft().result()
        if self._error is not None:
            raise self._error
