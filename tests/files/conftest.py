"""The corpus of faulty files starts from the small maps and tables of the tests of builds."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "build"))
