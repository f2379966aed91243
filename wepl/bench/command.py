"""The benchmark command: which measurements, printed, written and drawn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from wepl.basin.dataset import Basin
from wepl.bench import measure
from wepl.errors import InputError

_DEFAULT_UNITS = 8712


def _range(text: str, name: str) -> tuple[int, int]:
    low, colon, high = text.partition(":")
    if not (colon and low.isdigit() and high.isdigit() and 1 <= int(low) < int(high)):
        raise InputError(f"{name} {text}: give LOW:HIGH, two whole numbers with LOW below HIGH")
    return int(low), int(high)


def run_benchmarks(basin: Path | None, units: int | None, names: Sequence[str], precisions: Sequence[str], *,
                   days: float, repeats: int, sweep_threads: bool, sweep_units: str | None, members: str | None,
                   json_file: Path | None, plot: Path | None) -> list[measure.Entry]:
    """Measure as asked, print a table, write JSON and a plot; see ``python -m wepl bench --help``.

    Raises
    ------
    InputError
        A range, a number or a file cannot be used, or no GPU form is among the backends of a threads sweep.
    """
    if repeats < 1 or days <= 0:
        raise InputError("--repeats must be at least 1 and --days above 0")
    if basin is not None and (units is not None or sweep_units):
        raise InputError("give a basin file, or --units or --units-sweep, not both")
    for target in (json_file, plot):
        if target is not None and not target.parent.is_dir():
            raise InputError(f"{target}: the folder {target.parent} does not exist")
    entries: list[measure.Entry] = []
    if sweep_units:
        low, high = _range(sweep_units, "--units-sweep")
        entries += measure.units_sweep(low, high, names, precisions, days=days, repeats=repeats)
    else:
        opened = Basin.open(basin) if basin is not None else measure.synthetic(units or _DEFAULT_UNITS)
        if members:
            low, high = _range(members, "--members")
            entries += measure.members_sweep(opened, low, high, names, precisions, days=days, repeats=repeats)
        elif sweep_threads:
            forms = [name for name in names if name != "cpu"]
            if not forms:
                raise InputError("--threads-sweep needs a GPU backend (or emulate) in --backends")
            for name in forms:
                for precision in precisions if name in ("emulate", "cupy") else ("float64",):
                    entries += measure.threads_sweep(opened, name, precision, days=days, repeats=repeats)
        else:
            entries += measure.benchmark(opened, names, precisions, days=days, repeats=repeats)
    print(measure.table(entries))
    if json_file is not None:
        json_file.write_text(json.dumps(measure.as_dict(entries), indent=1))
    if plot is not None:
        from wepl.bench.plots import draw

        draw(entries, plot)
    return entries
