"""``python -m wepl``."""

from __future__ import annotations

import signal
import sys
from typing import Any

from wepl.cli import app
from wepl.language import say

_TERMINATED = 143


def _terminate(*_: Any) -> None:
    """End as an error would, so that unfinished files are removed: job schedulers stop a run with SIGTERM."""
    print(f"wepl: {say('cli.terminated')}", file=sys.stderr)
    sys.exit(_TERMINATED)


def main() -> None:
    """Run the command line; ends the process with the command's exit status."""
    signal.signal(signal.SIGTERM, _terminate)
    app(prog_name="wepl")


if __name__ == "__main__":
    main()
