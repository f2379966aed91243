"""Compiled code of former sources: folders of the cache that no process has used for a month are removed."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

_DAY = 86400.0
KEPT_DAYS = 30
_MARK = "used"


def tidy(current: Path, now: float | None = None) -> list[Path]:
    """Note that a folder of compiled code is in use, and once a day remove its neighbours that are not.

    Parameters
    ----------
    current : Path
        The folder of these sources, such as that of :func:`wepl.physics.jit.cache_folder`.
    now : float, optional
        Seconds since 1970; the system's time when None.

    Returns
    -------
    list of Path
        What was removed.

    Notes
    -----
    Other processes may do the same at once, or use a folder that is removed: it is renamed first, so that it is there
    as a whole or not at all, and numba compiles anew what it does not find. A place that cannot be written stays as
    it is.
    """
    now = time.time() if now is None else now
    if not current.is_dir() or not os.access(current.parent, os.W_OK | os.X_OK) or now - _used(current) < _DAY:
        return []
    (current / _MARK).touch()
    os.utime(current / _MARK, (now, now))
    removed = []
    for folder in sorted(current.parent.iterdir()):
        if folder == current or folder.is_symlink() or not folder.is_dir():
            continue
        try:
            if now - max(_used(folder), folder.stat().st_mtime) <= KEPT_DAYS * _DAY:
                continue
            aside = folder.with_name(f".removed-{folder.name}-{os.getpid()}")
            folder.rename(aside)
        except FileNotFoundError:
            # Another process was faster.
            continue
        shutil.rmtree(aside, ignore_errors=True)
        removed.append(folder)
    return removed


def _used(folder: Path) -> float:
    """When a process last noted that it uses a folder; 0 when none did."""
    try:
        return (folder / _MARK).stat().st_mtime
    except FileNotFoundError:
        return 0.0
