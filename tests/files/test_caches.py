"""Compiled code of former sources goes after a month without use, whatever other processes do meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wepl.run.caches import KEPT_DAYS, tidy

DAY = 86400.0
NOW = 2_000_000_000.0


def folder(place: Path, age: float, used: float | None = None) -> Path:
    """A folder of compiled code that is so many days old and was used so many days ago."""
    (place / "inside").mkdir(parents=True)
    (place / "inside" / "kernel.nbi").write_text("code")
    if used is not None:
        (place / "used").touch()
        os.utime(place / "used", (NOW - used * DAY,) * 2)
    os.utime(place, (NOW - age * DAY,) * 2)
    return place


def test_what_is_unused_goes(tmp_path):
    current = folder(tmp_path / "current", 400)
    old = folder(tmp_path / "old", KEPT_DAYS + 1)
    long_unused = folder(tmp_path / "long_unused", 400, used=KEPT_DAYS + 1)
    young = folder(tmp_path / "young", KEPT_DAYS - 1)
    in_use = folder(tmp_path / "in_use", 400, used=KEPT_DAYS - 1)
    (tmp_path / "file").touch()
    assert tidy(current, NOW) == [long_unused, old]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["current", "file", "in_use", "young"]
    assert (current / "used").stat().st_mtime == NOW
    assert in_use.is_dir() and young.is_dir()


def test_once_a_day(tmp_path):
    current = folder(tmp_path / "current", 1)
    assert tidy(current, NOW) == []
    old = folder(tmp_path / "old", 400)
    assert tidy(current, NOW + DAY / 2) == []
    assert tidy(current, NOW + 1.5 * DAY) == [old]


def test_another_process_was_faster(tmp_path, monkeypatch):
    current, old = folder(tmp_path / "current", 1), folder(tmp_path / "old", 400)
    real = Path.rename

    def rename(self, target):
        real(self, tmp_path / "elsewhere")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    assert tidy(current, NOW) == []
    assert not old.exists()


def test_nothing_where_nothing_is_or_may_be(tmp_path, monkeypatch):
    assert tidy(tmp_path / "none" / "current", NOW) == []
    current, old = folder(tmp_path / "current", 1), folder(tmp_path / "old", 400)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert tidy(current, NOW) == []
    assert old.is_dir()


def test_a_link_is_left_alone(tmp_path):
    elsewhere = folder(tmp_path / "elsewhere" / "mine", 400)
    current = folder(tmp_path / "numba" / "current", 1)
    try:
        (tmp_path / "numba" / "link").symlink_to(elsewhere, target_is_directory=True)
    except OSError:
        pytest.skip("no links here")
    assert tidy(current, NOW) == []
    assert (elsewhere / "inside" / "kernel.nbi").is_file()
