"""One run at a time writes a result, with or without a journal."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from wepl.errors import InputError


class OutputLock:
    """Holds ``.OUT.nc.lock`` beside a result while a run writes it; the system frees it however the process ends.

    Parameters
    ----------
    output : Path
        The result file.

    Raises
    ------
    InputError
        On entry: another run holds it, or the folder cannot be written.
    """

    def __init__(self, output: Path) -> None:
        self._output = output
        self._path = output.with_name(f".{output.name}.lock")
        self._descriptor: int | None = None

    def __enter__(self) -> OutputLock:
        if os.name == "posix":
            self._descriptor = self._take()
        return self

    def _take(self) -> int:
        import fcntl

        while True:
            try:
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                raise InputError(f"{self._path.parent} cannot be written ({error.strerror}): write the result "
                                 "elsewhere") from None
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                raise InputError(f"another run writes {self._output} at this moment: wait for it, or choose another "
                                 "name with -o") from None
            # The run that held it may have removed the file between the two calls: the lock would be of no file.
            if self._path.exists() and os.path.samestat(os.stat(self._path), os.fstat(descriptor)):
                return descriptor
            os.close(descriptor)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None
