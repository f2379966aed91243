"""What a run leaves on the disk while it goes on, so that nothing is lost: finished blocks, states, how to go on.

The journal is a folder ``OUT.nc.run`` beside the result: ``run.json`` with the run's arguments, ``start.nc`` and
``state-N.nc`` (states before step N), and ``block-N-M.nc`` with the values of steps N to M - 1 as the writer gets them
(float64, internal units). Each file appears under its name only when it is complete, so a run that is killed at any
moment leaves a journal from which the same bits come out. A finished run removes it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import netCDF4
import numpy as np

from wepl.errors import InputError
from wepl.netcdf import LOCK, publish, temporary_path, write_failure

FORMAT = 1
_BLOCK = re.compile(r"block-(\d+)-(\d+)\.nc")
_STATE = re.compile(r"state-(\d+)\.nc")


def folder_of(output: Path) -> Path:
    """The journal's folder of a result file."""
    return output.with_name(output.name + ".run")


class Journal:
    """The journal of one run, locked against another run that would write the same result.

    Parameters
    ----------
    output : Path
        The result file.
    resume : bool
        Whether a journal must be there (to go on with) or is made anew; an old one of an unfinished run is replaced.

    Raises
    ------
    InputError
        Another run writes this result, there is nothing to resume, or the folder cannot be used.
    """

    def __init__(self, output: Path, resume: bool = False) -> None:
        self.folder = folder_of(output)
        if resume and not (self.folder / "run.json").is_file():
            raise InputError(f"there is nothing to resume: {self.folder} holds no unfinished run of {output.name}")
        try:
            self.folder.mkdir(exist_ok=True)
            self._lock: IO[str] | None = (self.folder / "lock").open("a+")
        except OSError as error:
            raise InputError(f"{self.folder} cannot be written ({error.strerror}): write the result elsewhere, or run "
                             "with --checkpoint 0, which keeps no journal") from None
        _take(self._lock, output)
        if not resume:
            for path in self.folder.iterdir():
                if path.name != "lock":
                    path.unlink()

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Write down the run's arguments."""
        text = json.dumps({"format": FORMAT, **facts}, indent=1, sort_keys=True)
        unfinished = temporary_path(self.folder / "run.json")
        unfinished.write_text(text)
        publish(unfinished, self.folder / "run.json")

    def facts(self) -> dict[str, Any]:
        """The arguments of the run.

        Raises
        ------
        InputError
            They cannot be read, or another version wrote them.
        """
        try:
            facts = json.loads((self.folder / "run.json").read_text())
        except (OSError, ValueError) as error:
            raise InputError(f"{self.folder / 'run.json'} cannot be read ({error}): run anew") from None
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise InputError(f"{self.folder} was written by another version of wepl: finish it there, or run anew")
        return facts

    def state_path(self, at: int) -> Path:
        """File of the state before step ``at``."""
        return self.folder / f"state-{at}.nc"

    @property
    def start_path(self) -> Path:
        """File of the state with which the run began."""
        return self.folder / "start.nc"

    def write_block(self, first: int, values: Mapping[str, np.ndarray]) -> None:
        """Keep the values of one block."""
        steps = len(next(iter(values.values())))
        target = self.folder / f"block-{first}-{first + steps}.nc"
        unfinished = temporary_path(target)
        try:
            with LOCK, netCDF4.Dataset(unfinished, "w", format="NETCDF4") as file:
                file.createDimension("time", steps)
                for name, array in values.items():
                    dims = ["time"]
                    for size in array.shape[1:]:
                        dim = f"n{size}"
                        if dim not in file.dimensions:
                            file.createDimension(dim, size)
                        dims.append(dim)
                    file.createVariable(name, "f8", dims)[...] = array
            publish(unfinished, target)
        except (OSError, RuntimeError) as error:
            raise write_failure(target, error) from error
        finally:
            unfinished.unlink(missing_ok=True)

    def blocks(self, first: int, until: int) -> list[tuple[int, int]] | None:
        """Blocks that lead from ``first`` exactly to ``until``; None when there are none that do."""
        known = {int(match[1]): int(match[2]) for path in self.folder.iterdir()
                 if (match := _BLOCK.fullmatch(path.name))}
        chain, at = [], first
        while at < until:
            if at not in known:
                return None
            chain.append((at, known[at]))
            at = known[at]
        return chain if at == until else None

    def read_block(self, first: int, until: int) -> dict[str, np.ndarray]:
        """The values of one block.

        Raises
        ------
        OSError, RuntimeError
            The file is damaged.
        """
        with LOCK, netCDF4.Dataset(self.folder / f"block-{first}-{until}.nc") as file:
            file.set_auto_mask(False)
            return {name: np.array(variable[...]) for name, variable in file.variables.items()}

    def states(self) -> Iterator[int]:
        """Steps before which a state was written, the newest first."""
        found = [int(match[1]) for path in self.folder.iterdir() if (match := _STATE.fullmatch(path.name))]
        yield from sorted(found, reverse=True)

    def drop_states_before(self, at: int) -> None:
        """Remove states that newer ones replace, but for the last of them: the newest may turn out damaged."""
        for older in [step for step in self.states() if step < at][1:]:
            self.state_path(older).unlink(missing_ok=True)

    def drop_blocks_after(self, at: int) -> None:
        """Remove blocks that begin at or after a step: they will be computed again."""
        for path in self.folder.iterdir():
            match = _BLOCK.fullmatch(path.name)
            if match and int(match[1]) >= at:
                path.unlink()

    def close(self) -> None:
        """Let go of the lock; the journal stays."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def remove(self) -> None:
        """The run is complete: nothing of the journal is needed."""
        self.close()
        shutil.rmtree(self.folder)


def _take(lock: IO[str], output: Path) -> None:
    """Hold the lock file, which the system frees however the process ends."""
    if os.name != "posix":
        return
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise InputError(f"another run writes {output} at this moment: wait for it, or choose another name with "
                         "-o") from None
