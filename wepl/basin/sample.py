"""Make the sample basin of the repository again: ``python -m wepl.basin.sample [PATH]``."""

from __future__ import annotations

import sys
from pathlib import Path

from wepl.basin.synthetic import synthesize
from wepl.errors import WeplError

UNITS, YEARS, START, SEED = 500, 3, "2010-01-01", 2010
DEFAULT_PATH = Path(__file__).resolve().parents[2] / "data" / "poyang_sample" / "basin.nc"


def make_sample(path: str | Path = DEFAULT_PATH) -> Path:
    """Write the sample: 500 units, 2010 to 2012, daily; the file in the repository holds the same values."""
    return synthesize(path, units=UNITS, years=YEARS, start=START, step="1d", seed=SEED)


def main(arguments: list[str]) -> int:
    """Write the sample to the path given, or to its place in a checkout; 0 when that worked."""
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print("usage: python -m wepl.basin.sample [PATH]", file=sys.stderr)
        return 2
    try:
        print(make_sample(*arguments))
    except WeplError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
