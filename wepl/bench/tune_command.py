"""The command that tunes: what it prints and remembers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from wepl.basin.dataset import Basin
from wepl.bench.tune import BasinMeasurer, Search, tune
from wepl.errors import InputError
from wepl.run import tuned

_PRECISIONS = ("float64", "mixed", "float32")
_LEAST_SECONDS = 5.0


def tune_basin(path: Path, seconds: float, precisions: Sequence[str]) -> list[Search]:
    """Search, print and remember; see ``wepl tune --help``.

    Raises
    ------
    InputError
        The time or a precision cannot be used.
    BackendError
        No backend computes in a precision here.
    """
    until = time.monotonic() + seconds
    if not _LEAST_SECONDS <= seconds <= 86400.0:
        raise InputError(f"--seconds {seconds:g}: give {_LEAST_SECONDS:g} to 86400")
    wrong = [name for name in precisions if name not in _PRECISIONS]
    if wrong or not precisions:
        raise InputError(f"--precisions {','.join(precisions)}: give some of {', '.join(_PRECISIONS)}")
    basin = Basin.open(path)
    basin.check_forcing(0, min(basin.clock.n_steps, 64))
    measurer = BasinMeasurer(basin, seconds)
    print(f"{tuned.machine()}\n{tuned.basin_class(basin, precisions[0])}; {measurer.steps} steps a run")
    searches = tune(basin, precisions, until, measurer)
    for search in searches:
        print(search.text)
        measured = [trial for trial in search.trials if trial.seconds is not None]
        if not measured:
            print("nothing was remembered: give more --seconds")
            continue
        today = datetime.now(UTC).strftime("%Y-%m-%d")
        tuned.remember(basin, tuned.Found(search.best, search.ratio, today), {
            "default": search.default.text,
            "milliseconds_per_step": {trial.choice.text: round(1e3 * (trial.seconds or 0.0), 4) for trial in measured}})
    print(f"remembered in {tuned.path()}; run --backend auto takes it")
    return searches
