"""One process that spoils the file of one reader over and over, and keeps what is neither read nor refused."""

from __future__ import annotations

import contextlib
import hashlib
import io
import resource
import shutil
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import StopTest, UnsatisfiedAssumption

MOST_BYTES, MOST_SECONDS, MOST_FILE = 2**30, 2.0, 2**26


def main(name: str, number: int, examples: int, folder: Path, out: Path) -> None:
    """Read ``examples`` spoiled files; one line on standard output for each."""
    from readers import READERS

    from wepl.errors import InputError

    warnings.simplefilter("ignore")
    reader = READERS[name](folder)
    with contextlib.redirect_stdout(io.StringIO()):
        reader.read()
    # A file with a huge dimension would fill the disk.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_FILE, MOST_FILE))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    def attempt() -> str:
        before = time.process_time()
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                reader.read()
        except InputError as error:
            named = any(str(part) in str(error) for part in (folder, reader.path.name))
            # Tables of stations are read here without the TOML file, which a build names.
            if not named and not str(error).startswith("forcing"):
                return f"a message that names no file: {error}"
        except BaseException:
            return traceback.format_exc()
        spent = time.process_time() - before
        return f"{spent:.1f} s of processor time" if spent > MOST_SECONDS else ""

    @seed(number)
    @settings(max_examples=examples, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(st.data())
    def fuzz(data: Any) -> None:
        try:
            reader.spoil(data.draw)
        except (StopTest, UnsatisfiedAssumption):
            raise
        except Exception:
            # The library that writes does not take it: no such file can be.
            return
        print("read", flush=True)
        said = attempt()
        if said:
            note(reader, name, said, out)
        print("done", flush=True)

    fuzz()


def note(reader: Any, name: str, said: str, out: Path) -> None:
    """Keep a finding, once for each place in the sources."""
    places = [line.strip() for line in said.splitlines() if line.strip().startswith("File ") and "wepl" in line]
    last = said.strip().splitlines()[-1].split(":")[0]
    key = hashlib.sha256(f"{places[-1] if places else said[:40]}{last}".encode()).hexdigest()[:8]
    target = out / f"{name}-{last.split('.')[-1].replace(' ', '-')[:40]}-{key}"
    if not target.exists():
        target.mkdir()
        shutil.copy(reader.path, target)
        (target / "said.txt").write_text(said, encoding="utf-8", errors="replace")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), Path(sys.argv[5]))
