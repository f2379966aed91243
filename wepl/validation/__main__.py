"""Command line of the comparisons: ``python -m wepl.validation [--check] [--page FILE]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from wepl.validation import page


def main(arguments: Sequence[str] | None = None) -> int:
    """Make all comparisons; returns the exit status: 1 when one fails or ``--check`` finds another page, else 0."""
    parser = argparse.ArgumentParser(prog="python -m wepl.validation",
                                     description="Compare the model with outside numbers and write docs/validation.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page is out of date")
    parser.add_argument("--page", type=Path, default=page.PAGE, help="the page")
    options = parser.parse_args(arguments)
    if not options.page.parent.is_dir():
        print(f"{options.page.parent} is not a folder: give the page's place with --page", file=sys.stderr)
        return 2
    comparisons = page.run()
    text = page.page(comparisons)
    failed = [entry for entry in comparisons if not entry.passed]
    for entry in failed:
        print(f"{entry.process}: {entry.what}: expected {entry.expected:.10g}, got {entry.got:.10g} {entry.unit} "
              f"(error {entry.error:.2e}, tolerance {entry.tolerance.value:.1e})", file=sys.stderr)
    print(f"{len(comparisons)} comparisons, {len(failed)} outside their tolerance")
    old = options.check and (not options.page.is_file() or options.page.read_text(encoding="utf-8") != text)
    if old:
        print(f"{options.page} is out of date; run python -m wepl.validation", file=sys.stderr)
    if not options.check:
        options.page.write_text(text, encoding="utf-8")
    return int(bool(failed) or old)


if __name__ == "__main__":
    raise SystemExit(main())
