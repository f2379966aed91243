"""What all refusals have in common: exit status 2, one message, no traceback, little memory, nothing left behind."""

from __future__ import annotations

import os
import re
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wepl.basin.dataset import Basin
from wepl.cli import app
from wepl.errors import WeplError
from wepl.run.simulation import run

MOST_BYTES = 2**30
# No test waits for ever: far more than any refusal takes on a loaded machine.
HANG_S = 120
# What a message tells its reader to do.
REMEDY = re.compile(r"\b(give|make|making|correct|check|write|save|fill|choose|set|use|name|rename|export|download|"
                    r"declare|copy|clip|convert|leave|needs?|must|expected|see|export|part|assign|drop|says what)\b")


def listing(folder: Path) -> dict[str, int]:
    return {path.relative_to(folder).as_posix(): path.lstat().st_mtime_ns for path in folder.rglob("*")}


@contextmanager
def bounded() -> Iterator[None]:
    """Fail where what is inside hangs, or takes more than 1 GiB beyond the most that the process ever had."""
    def late(*_: object) -> None:
        raise TimeoutError(f"no end within {HANG_S} s")

    before, former = _peak(), signal.signal(signal.SIGALRM, late)
    signal.alarm(HANG_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)
    assert _peak() - before < MOST_BYTES


def _peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def refused(path: Path, pattern: str, **arguments: object) -> None:
    """Assert that a run is refused with one message that matches, and that it leaves its folder as it was."""
    folder = path.parent
    before = listing(folder)
    with pytest.raises(WeplError) as caught, bounded():
        run(Basin.open(path), **{"output": folder / "result.nc", "quiet": True, **arguments})
    message = str(caught.value)
    assert caught.value.exit_code == 2, message
    assert re.search(pattern, message), f"{message!r} lacks {pattern!r}"
    assert len(getattr(caught.value, "problems", ())) <= 1, message
    assert listing(folder) == before


def commands_refuse(path: Path, pattern: str, *commands: tuple[object, ...]) -> None:
    """Assert that commands end with status 2 and one message, without a traceback, and leave their folder as it was."""
    before = listing(path.parent)
    for command in commands or (("check", path), ("run", path, "-o", path.parent / "result.nc", "--quiet")):
        shown = said(2, *command)
        assert re.search(pattern, shown), shown
    assert listing(path.parent) == before


def said(status: int, *command: object) -> str:
    """What a command prints that must end with a status, without a traceback."""
    with bounded():
        done = CliRunner().invoke(app, [os.fspath(word) if isinstance(word, Path) else str(word) for word in command])
    shown = done.stdout + done.stderr
    assert done.exit_code == status, (shown, done.exception)
    assert "Traceback" not in shown and "fault of wepl" not in shown
    return shown


def lies(path: Path, pattern: str, *command: object) -> None:
    """Assert that a command refuses a file: status 2, one message with its name, what is wrong and what to do."""
    folder = path.parent
    before = listing(folder)
    shown = said(2, *command)
    assert shown.count("wepl: error:") == 1, shown
    # What a TOML file asks for may be wrong though each file is right.
    assert path.name in shown or "build.toml" in shown, shown
    assert re.search(pattern, shown), f"{shown!r} lacks {pattern!r}"
    assert REMEDY.search(shown), f"{shown!r} does not say what to do"
    assert listing(folder) == before
