"""Progress: what a log and a terminal show, and that nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from wepl.run import progress as module
from wepl.run.progress import Progress

DAILY = SimpleNamespace(step_seconds=86400.0, label=lambda index: f"day {index}")
HOURLY = SimpleNamespace(step_seconds=3600.0, label=lambda index: f"hour {index}")


def test_quiet_prints_nothing(capfd, monkeypatch, tmp_path):
    monkeypatch.setattr("wepl.physics.jit.cache_folder", lambda: tmp_path)
    with Progress(DAILY, 0, 100, quiet=True) as progress:
        progress.announce_compilation()
        progress.line("a message")
        for step in range(100):
            progress.update(step + 1, 20.0)
    assert capfd.readouterr() == ("", "")


def test_messages_go_to_output_and_progress_to_errors(capfd):
    with Progress(DAILY, 0, 10) as progress:
        progress.line("a message")
        progress.update(10, 1.0)
    output, errors = capfd.readouterr()
    assert output == "a message\n"
    assert errors == "100%  day 9  1.64 years/min  0:00:00 left\n"


def test_a_log_has_a_line_each_tenth(capfd):
    with Progress(DAILY, 1000, 2000) as progress:
        for step in range(1000, 2000):
            progress.update(step + 1, 0.001)
    lines = capfd.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == [f"{tenth}0%" for tenth in range(1, 11)]
    assert "day 1999" in lines[-1]


def test_a_log_has_a_line_each_ten_seconds_of_a_slow_run(capfd, monkeypatch):
    now = 0.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    with Progress(DAILY, 0, 10_000) as progress:
        for step in range(20):
            now += 4.0
            progress.update(step + 1, 4.0)
    # a line at 12, 24, 36, 48, 60 and 72 s: the first update at which 10 s have passed since the last line
    assert len(capfd.readouterr().err.splitlines()) == 6


def test_speed_leaves_out_the_block_that_compiled():
    progress = Progress(DAILY, 0, 100, quiet=True)
    progress.update(10, 60.0)
    assert progress.text == "day 9  0.17 days/s  0:09:00 left"
    progress.update(20, 1.0)
    # 10 days/s = 600 days/min = 1.643 years/min; 80 days are left
    assert progress.text == "day 19  1.64 years/min  0:00:08 left"


def test_slow_runs_show_days_per_second():
    progress = Progress(HOURLY, 0, 24_000, quiet=True)
    for block in range(3):
        progress.update((block + 1) * 24, 2.0)
    # 0.5 days/s; 24000 - 72 hours are 997 days
    assert progress.text == "hour 71  0.5 days/s  0:33:14 left"


def test_blocks_without_measurable_time():
    progress = Progress(DAILY, 0, 2, quiet=True)
    progress.update(1, 0.0)
    assert progress.text == "day 0"


@pytest.mark.parametrize("stored", [False, True])
def test_compilation_is_announced_when_nothing_is_stored(capfd, monkeypatch, tmp_path, stored):
    monkeypatch.setattr("wepl.physics.jit.cache_folder", lambda: tmp_path)
    if stored:
        (tmp_path / "stages_1").mkdir()
        (tmp_path / "stages_1" / "column.column_kernel-120.py311.nbi").touch()
    Progress(DAILY, 0, 1).announce_compilation()
    output = capfd.readouterr().out
    assert (output == "") == stored
    assert stored or (str(tmp_path) in output and output.count("\n") == 1)


_ON_A_TERMINAL = """
from types import SimpleNamespace
from wepl.run.progress import Progress
clock = SimpleNamespace(step_seconds=86400.0, label=lambda index: f"day-{index}")
with Progress(clock, 0, 10) as progress:
    progress.update(2, 0.1)
    progress.line("[bold]a message")
    progress.update(4, 0.1)
    raise SystemExit(7)
"""


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
def test_an_error_leaves_no_live_bar():
    ours, theirs = os.openpty()
    environment = dict(os.environ, TERM="xterm", COLUMNS="100")
    process = subprocess.Popen([sys.executable, "-c", _ON_A_TERMINAL], stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux says so when the other side has closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait(timeout=60) == 7
    text = shown.decode()
    assert "day-3" in text and "40%" in text and "[bold]a message" in text
    hidden, visible = "\x1b[?25l", "\x1b[?25h"
    assert text.count(hidden) == 1 and text.rindex(visible) > text.rindex(hidden)
    assert "\x1b[?25h" in text[text.rindex("day-3"):]
