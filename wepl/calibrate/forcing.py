"""The forcing of a calibration: read once and kept, since every population needs the same steps again.

A spin-up repeats the first year before the run; it is a longer forcing whose first steps stand for earlier ones, so
that the model needs no knowledge of it.
"""

from __future__ import annotations

import copy
from datetime import timedelta

import cftime
import numpy as np

from wepl import registry
from wepl.basin.dataset import Basin
from wepl.errors import InputError
from wepl.forcing.reader import ForcingReader
from wepl.run.clock import Clock

# Forcing that is larger is read anew for every population, as a run reads it.
_KEPT_BYTES = 2**30


class MappedClock(Clock):
    """Steps of a clock in another order, each on its own date.

    Parameters
    ----------
    clock : Clock
    steps : ndarray of int
        Step of ``clock`` that each of these steps stands for.
    """

    def __init__(self, clock: Clock, steps: np.ndarray) -> None:
        super().__init__(clock.start, clock.step_seconds, steps.size, clock.calendar)
        self._origin, self._steps = clock, steps

    def moment(self, step: int) -> cftime.datetime:
        if step >= self._steps.size:
            return self._origin.moment(int(self._steps[-1]) + 1 + step - self._steps.size)
        return self._origin.moment(int(self._steps[step]))

    def _middles(self, first: int, last: int) -> list[cftime.datetime]:
        half = timedelta(seconds=0.5 * self.step_seconds)
        return [self.moment(step) + half for step in range(first, last)]


class KeptForcing(ForcingReader):
    """Steps of a forcing, kept in memory when they are small enough.

    Parameters
    ----------
    reader : ForcingReader
    steps : ndarray of int
        Step of the reader that each step stands for.
    """

    def __init__(self, reader: ForcingReader, steps: np.ndarray) -> None:
        super().__init__(MappedClock(reader.clock, steps), reader.cells, {})
        self.available = reader.available
        self._reader, self._steps = reader, steps
        first, last = int(steps.min()), int(steps.max()) + 1
        size = len(registry.layout("forcing")) * (last - first) * reader.cells.size * 8
        self._first = first
        self._kept = reader.read(first, last) if size <= _KEPT_BYTES else None

    def read(self, first: int, last: int) -> np.ndarray:
        steps = self._steps[first:last]
        if self._kept is not None:
            return self._kept[:, steps - self._first]
        runs = np.split(steps, np.flatnonzero(np.diff(steps) != 1) + 1)
        return np.concatenate([self._reader.read(int(run[0]), int(run[-1]) + 1) for run in runs], axis=1)


def prepared(basin: Basin, first: int, last: int, spin_up_years: int) -> tuple[Basin, int]:
    """The basin with the forcing of a run, and the number of spin-up steps before it.

    Parameters
    ----------
    basin : Basin
    first, last : int
        Steps of the run, ``last`` not included.
    spin_up_years : int
        How often the first year of the run is repeated before it.

    Raises
    ------
    InputError
        The run is shorter than the year to repeat.
    BasinError
        A forcing value of the run is missing or out of range.
    """
    basin.check_forcing(first, last)
    year = round(365 * 86400 / basin.clock.step_seconds)
    if spin_up_years and last - first < year:
        raise InputError(f"period.spin_up_years {spin_up_years}: the run from {basin.clock.label(first)} is shorter "
                         "than a year, so no year can be repeated: set it to 0")
    steps = np.concatenate([*[np.arange(first, first + year)] * spin_up_years, np.arange(first, last)])
    view = copy.copy(basin)
    view.forcing = KeptForcing(basin.forcing, steps)
    return view, spin_up_years * year
