"""Fuzz every reader of wepl: ``python tests/fuzz --minutes 20``; ``--reader NAME`` for one, ``--out DIR`` for findings.

Each reader works in a process of its own, which may take 1 GiB beyond its start and 2 s of processor time per file, so
that a crash or a hang of a C library is a finding too. A reader may read a file or refuse it with an ``InputError``;
everything else is kept in the folder of findings with the file and the traceback, once per place.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HANG_S = 40.0
HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run the workers until the time is over; exit status 1 when something was found."""
    arguments = argparse.ArgumentParser(prog="tests/fuzz", description=__doc__)
    arguments.add_argument("--minutes", type=float, default=20.0)
    arguments.add_argument("--reader", action="append", help="only this one; may be given several times")
    arguments.add_argument("--out", type=Path, default=Path("fuzz-findings"))
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    arguments.add_argument("--examples", type=int, default=300, help="files per process")
    given = arguments.parse_args()
    sys.path.insert(0, str(HERE))
    from readers import READERS

    names = given.reader or list(READERS)
    given.out.mkdir(exist_ok=True)
    end, tried, seed = time.monotonic() + 60.0 * given.minutes, dict.fromkeys(names, 0), given.seed
    while time.monotonic() < end:
        for name in names:
            if time.monotonic() >= end:
                break
            seed += 1
            tried[name] += batch(name, seed, given.examples, given.out, end)
    found = sorted(path.name for path in given.out.iterdir())
    print(json.dumps({"tried": tried, "total": sum(tried.values()), "findings": found}, indent=1))
    return 1 if found else 0


def batch(name: str, seed: int, examples: int, out: Path, end: float) -> int:
    """One process for one reader; returns how many files it read."""
    with tempfile.TemporaryDirectory(prefix="wepl-fuzz-") as scratch:
        errors = (Path(scratch) / "stderr").open("w+")
        worker = subprocess.Popen([sys.executable, str(HERE / "worker.py"), name, str(seed), str(examples),
                                   scratch + "/work", str(out)], stdout=subprocess.PIPE, stderr=errors)
        tried, last, reading = 0, time.monotonic(), False
        assert worker.stdout is not None
        while True:
            ready, _, _ = select.select([worker.stdout], [], [], 1.0)
            if ready:
                lines = os.read(worker.stdout.fileno(), 2**16).decode().splitlines()
                if not lines:
                    break
                tried, last, reading = tried + lines.count("done"), time.monotonic(), lines[-1] == "read"
            elif time.monotonic() - last > HANG_S + 60.0 * (tried == 0):
                worker.kill()
                if reading:
                    keep(out, f"{name}-hang-{seed}", Path(scratch) / "work", f"no answer for {HANG_S:g} s")
                break
            if time.monotonic() > end + HANG_S:
                worker.kill()
                break
        status = worker.wait()
        errors.seek(0)
        said = errors.read()
        errors.close()
        # A library that crashes when the bad file is written says nothing of the reader.
        if status not in (0, -9) and (reading or status > 0):
            keep(out, f"{name}-crash-{status}-{seed}", Path(scratch) / "work", said[-4000:])
        return tried


def keep(out: Path, name: str, work: Path, said: str) -> None:
    """Put the files of a finding and what was said into a folder."""
    target = out / name
    if not target.exists() and work.exists():
        shutil.copytree(work, target)
        (target / "said.txt").write_text(said)


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    sys.exit(main())
