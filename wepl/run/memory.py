"""A run without files: what cross-checks, benchmarks and ensembles need of the model."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from wepl import registry
from wepl.backends import Backend
from wepl.basin.dataset import Basin
from wepl.run.assembly import Arrays, assemble, vegetation_table
from wepl.run.balance import close
from wepl.run.model import Model
from wepl.run.outputs import Selection
from wepl.run.simulation import resolve_options

_BLOCK_STEPS = 64


@dataclass
class Outcome:
    """What a run in memory leaves.

    Attributes
    ----------
    series : dict of str to ndarray
        Discharge and the other reach series by name, ``[step, subbasin]``, means of each step.
    state : dict of str to ndarray
        Storages and totals at the end by registry name.
    closure : float
        Residual of the water balance relative to what passed.
    seconds : dict of str to float
        Wall time by kernel (launch to done) and of the whole loop (``total``), and of the first block (``first``).
    """

    series: dict[str, np.ndarray]
    state: dict[str, np.ndarray]
    closure: float
    seconds: dict[str, float] = field(default_factory=dict)


def run_in_memory(basin: Basin, backend: Backend, *, first: int = 0, last: int | None = None,
                  options: Mapping[str, float | str] | None = None, arrays: Arrays | None = None,
                  block_steps: int = _BLOCK_STEPS, balance: bool = True) -> Outcome:
    """Run steps ``first`` to ``last`` (not included) and keep the reach series and the last state.

    Parameters
    ----------
    basin : Basin
    backend : Backend
        See :func:`wepl.backends.create`.
    first, last : int
        Steps of the forcing; to its end when None.
    options : mapping, optional
        Options over those of the basin.
    arrays : Arrays, optional
        An assembled basin to use in place of assembling here, such as an ensemble.
    block_steps : int
        Steps computed at a time.
    balance : bool
        Whether to close the balance; it needs arrays of this very basin.

    Raises
    ------
    NumericalError
        A kernel met a value that it cannot go on with.
    """
    last = basin.clock.n_steps if last is None else last
    merged = resolve_options(basin, options or {})
    arrays = assemble(basin, merged) if arrays is None else arrays
    model = Model(backend, arrays, Selection((), (), ()), basin.clock.step_seconds, min(block_steps, last - first),
                  ("shortwave_radiation" in basin.forcing.available, "longwave_radiation" in basin.forcing.available))
    before = model.state()
    names = [entry.name for entry in registry.layout("series")]
    blocks: list[np.ndarray] = []
    seconds = {"total": 0.0}
    for at in range(first, last, model.block_steps):
        until = min(last, at + model.block_steps)
        forcing = basin.forcing.read(at, until)
        calendar = np.stack([basin.clock.day_of_year(at, until), basin.clock.solar_hour(at, until)])
        vegetation = vegetation_table(basin.parameters, basin.clock, at, until, merged)
        began = time.perf_counter()
        blocks.append(model.advance(forcing, calendar, vegetation).series)
        problem = model.problem()
        spent = time.perf_counter() - began
        seconds["total"] += spent
        seconds.setdefault("first", spent)
        if problem is not None:
            model.raise_problem(basin.parameters["unit"].values, basin.parameters["subbasin"].values,
                                basin.clock.label(at + problem[2]))
    series = np.concatenate(blocks, axis=1)
    state = model.state()
    closure = close(before, state, arrays, basin).closure if balance else float("nan")
    return Outcome(dict(zip(names, series, strict=True)), state, closure, seconds)

