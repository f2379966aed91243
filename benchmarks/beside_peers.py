"""Our processor time per unit and step on one thread, as one line of JSON."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

from wepl.backends import create
from wepl.basin.dataset import Basin
from wepl.basin.synthetic import synthesize
from wepl.run.assembly import assemble
from wepl.run.memory import run_in_memory
from wepl.run.simulation import resolve_options


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=8712)
    parser.add_argument("--days", type=int, default=32)
    parser.add_argument("--step", choices=("1d", "1h"), default="1d")
    parser.add_argument("--backend", default="native")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "basin.nc"
        synthesize(path, units=given.units, years=1, step=given.step, seed=0)
        basin = Basin.open(path)
        arrays = assemble(basin, resolve_options(basin, {}))
        steps = round(given.days * 86400 / basin.clock.step_seconds)
        device = create(given.backend, threads=1)
        times = []
        for _ in range(given.repeats + 1):
            began = time.process_time()
            run_in_memory(basin, device, last=steps, arrays=arrays, balance=False)
            times.append(1e9 * (time.process_time() - began) / (steps * given.units))
    print(json.dumps({"model": "wepl", "backend": given.backend, "units": given.units, "steps": steps,
                      "ns_per_unit_step_cpu": round(statistics.median(times[1:]), 1),
                      "smallest": round(min(times[1:]), 1), "largest": round(max(times[1:]), 1),
                      "load": [round(load, 1) for load in os.getloadavg()]}))


if __name__ == "__main__":
    main()
