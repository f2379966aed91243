"""A run from end to end: open, assemble, the block loop with reading ahead and writing behind, balance, result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry
from wepl.errors import InputError

if TYPE_CHECKING:
    from wepl.backends import Backend
    from wepl.basin.dataset import Basin
    from wepl.run.balance import BalanceReport
    from wepl.run.model import Model, Staged
    from wepl.run.progress import Progress
    from wepl.run.writer import Compression, ResultWriter

# Largest residual of a run, share of the water that passed.
_CLOSURE = {"float64": 1e-9, "mixed": 1e-6, "float32": 1e-6}


@dataclass
class RunResult:
    """What a run leaves: the result's path, the water balance, and seconds spent per stage of the work."""

    path: Path
    balance: BalanceReport
    seconds: dict[str, float] = field(default_factory=dict)
    n_steps: int = 0
    n_tiles: int = 0


def run(basin: str | Path | Basin, *, output: str | Path | None = None, backend: str | Backend = "auto",
        precision: str = "float64", threads: int | None = None, start: str | None = None, end: str | None = None,
        block_days: float | None = None, variables: Sequence[str] = (),
        options: Mapping[str, float | str] | None = None,
        from_state: str | Path | None = None, save_state: str | Path | None = None, quiet: bool = False,
        compression: Compression = "zstd") -> RunResult:
    """Run the model over a basin and write a result file.

    Parameters
    ----------
    basin : path or Basin
        The basin file, or a basin already opened.
    output : path, optional
        Result file; ``NAME_result.nc`` in the working folder when None. It appears only when complete.
    backend, precision, threads
        See :func:`wepl.backends.create`. A backend made before brings its own precision and threads.
    start, end : str, optional
        First and last step (ISO date or date and time); the whole forcing when None.
    block_days : float, optional
        Days computed at a time; chosen to fit memory when None. The result does not depend on it.
    variables : sequence of str
        Unit and sub-basin variables to write beside discharge (:func:`wepl.run.outputs.choices`).
    options : mapping, optional
        Options and calibration multipliers by registry name, over those of the file; switches by name or number.
    from_state, save_state : path, optional
        State file to start from, and to write at the end.
    quiet : bool
        Print nothing.
    compression : str
        ``zstd``, ``zlib`` or ``none``.

    Returns
    -------
    RunResult

    Raises
    ------
    InputError
        Something in the input cannot be used; nothing is written.
    NumericalError
        A kernel met a value it cannot go on with, or the balance does not close; nothing is written.
    """
    from wepl import backends
    from wepl.basin.dataset import Basin

    opened = basin if isinstance(basin, Basin) else Basin.open(basin)
    device = backends.create(backend, precision, threads) if isinstance(backend, str) else backend
    job = _Job(opened, output, options or {}, start, end, variables, block_days)
    return job.run(device, block_days, from_state, save_state, quiet, compression)


def resolve_options(basin: Basin, changes: Mapping[str, float | str]) -> dict[str, float]:
    """Options of the basin with the user's changes, each checked against the registry.

    Raises
    ------
    InputError
        An option is unknown, not a number or choice, or out of its range.
    """
    merged = dict(basin.options)
    known = {entry.name: entry for entry in registry.of_kind("option")}
    for name, given in changes.items():
        if name not in known:
            raise InputError(f"unknown option {name}: choose from {', '.join(known)}")
        entry = known[name]
        if isinstance(given, str) and given in entry.choices:
            value = float(entry.choices.index(given))
        else:
            try:
                value = float(given)
            except ValueError:
                wanted = f"one of {', '.join(entry.choices)}" if entry.choices else f"a number in {entry.units}"
                raise InputError(f"option {name}: {given!r} is not {wanted}") from None
        low, high = entry.valid
        if not low <= value <= high or (entry.integer and value != int(value)):
            raise InputError(f"option {name} = {given} is outside {low:g} to {high:g} {entry.units}")
        merged[name] = value
    return merged


class _Job:
    """One run's fixed facts and its loop."""

    def __init__(self, basin: Basin, output: str | Path | None, changes: Mapping[str, float | str],
                 start: str | None, end: str | None, variables: Sequence[str], block_days: float | None) -> None:
        from wepl.run.assembly import assemble
        from wepl.run.outputs import select

        self.basin = basin
        self.changes = dict(changes)
        self.options = resolve_options(basin, changes)
        self.clock = basin.forcing.clock
        self.first, self.last = self._period(start, end)
        self.selection = select(variables, basin.parameters.sizes["soil_layer"])
        self.output = self._output(output)
        if block_days is not None and block_days * 86400 < self.clock.step_seconds:
            raise InputError(f"--block-days {block_days:g} is shorter than the forcing step of "
                             f"{self.clock.step_seconds:g} s")
        basin.check_forcing(self.first, self.last)
        # What may compile and take time comes after all that may be refused.
        self.arrays = assemble(basin, self.options)
        self.seconds = {"read": 0.0, "compute": 0.0, "write": 0.0}

    def _period(self, start: str | None, end: str | None) -> tuple[int, int]:
        first = self.clock.index(start) if start else 0
        last = self.clock.index(end, end=True) + 1 if end else self.clock.n_steps
        if last <= first:
            raise InputError(f"the run would end ({end or self.clock.label(self.clock.n_steps - 1)}) before it starts "
                             f"({start or self.clock.label(0)})")
        return first, last

    def _output(self, output: str | Path | None) -> Path:
        path = Path(output) if output else Path(f"{Path(self.basin.path or 'basin.nc').stem}_result.nc")
        if not path.parent.is_dir():
            raise InputError(f"{path}: the folder {path.parent} does not exist: make it, or choose another with -o")
        if self.basin.path and path.exists() and path.resolve() == Path(self.basin.path).resolve():
            raise InputError(f"{path}: the result would overwrite the basin file: choose another name with -o")
        return path

    def block_steps(self, device: Backend, block_days: float | None) -> int:
        """Steps in a block: as asked, else what fits the block's memory and a readable progress, and the device."""
        from wepl.run import plan
        from wepl.run.model import array_sizes, route_steps

        step = self.clock.step_seconds
        n_route = route_steps(self.arrays, step)
        sizes = array_sizes(self.arrays, self.selection, 1, n_route)
        sizes |= {"cell": len(self.basin.forcing.cells), "kind": self.basin.parameters.sizes["vegetation"]}
        needed = plan.need(sizes, n_route, device.types)
        return plan.block_steps(needed, self.last - self.first, step, block_days=block_days, free=device.free_bytes())

    def run(self, device: Backend, block_days: float | None, from_state: str | Path | None,
            save_state: str | Path | None, quiet: bool, compression: Compression) -> RunResult:
        """The whole run; see :func:`run`."""
        from wepl.netcdf import check_target
        from wepl.run.progress import Progress

        if save_state:
            check_target(Path(save_state), "state")
        with Progress(self.clock, self.first, self.last, quiet=quiet) as progress:
            return self._run(progress, device, block_days, from_state, save_state, compression)

    def _run(self, progress: Progress, device: Backend, block_days: float | None, from_state: str | Path | None,
             save_state: str | Path | None, compression: Compression) -> RunResult:
        progress.announce_compilation()
        block_steps = self.block_steps(device, block_days)
        model = self._model(device, block_steps)
        progress.line(model.backend.reason)
        if from_state:
            self._load(model, from_state)
        elif self.options["energy_balance"]:
            self._start_temperatures(model)
        before = model.state()
        with self._writer(model, compression) as writer:
            for at, block_time in self._blocks(model, block_steps, writer):
                progress.update(at, block_time)
            report = self._balance(before, model.state())
            report.check(_CLOSURE[model.backend.precision])
            write_time = time.perf_counter()
            if save_state:
                self._save(model, save_state)
            writer.finish(balance=report)
            self.seconds["write"] += time.perf_counter() - write_time
        progress.close()
        progress.line(report.text)
        progress.line(f"result: {self.output}")
        return RunResult(self.output, report, self.seconds, self.last - self.first, self.arrays.unit_of_tile.size)

    def _model(self, backend: Backend, block_steps: int) -> Model:
        from wepl.run.model import Model

        available = self.basin.forcing.available
        given = ("shortwave_radiation" in available, "longwave_radiation" in available)
        return Model(backend, self.arrays, self.selection, self.clock.step_seconds, block_steps, given)

    def _blocks(self, model: Model, block_steps: int, writer) -> Iterator[tuple[int, float]]:
        """Compute block after block while the next one is read and staged and the last one is written."""
        from wepl.run.outputs import UnitOutputs

        outputs = UnitOutputs(self.selection, self.arrays)
        starts = list(range(self.first, self.last, block_steps))
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="wepl-read") as reader:
            waiting: Future[Staged] = reader.submit(self._stage, model, starts[0], block_steps)
            for number, at in enumerate(starts):
                began = time.perf_counter()
                staged = waiting.result()
                if number + 1 < len(starts):
                    waiting = reader.submit(self._stage, model, starts[number + 1], block_steps)
                until = at + staged.n_steps
                read_done = time.perf_counter()
                block = model.advance_staged(staged)
                self._check(model, at)
                computed = time.perf_counter()
                values = self._series(block.series)
                values.update(outputs.block(block.record, until - at))
                writer.put(at, values)
                written = time.perf_counter()
                self.seconds["read"] += read_done - began
                self.seconds["compute"] += computed - read_done
                self.seconds["write"] += written - computed
                yield until, written - began

    def _stage(self, model: Model, at: int, block_steps: int) -> Staged:
        until = min(self.last, at + block_steps)
        return model.stage(self.basin.forcing.read(at, until), *self._time_tables(at, until))

    def _time_tables(self, at: int, until: int) -> tuple[np.ndarray, np.ndarray]:
        from wepl.run.assembly import vegetation_table

        calendar = np.stack([self.clock.day_of_year(at, until), self.clock.solar_hour(at, until)]).astype(float)
        return calendar, vegetation_table(self.basin.parameters, self.clock, at, until, self.options)

    def _series(self, series: np.ndarray) -> dict[str, np.ndarray]:
        values = {}
        for row, entry in enumerate(registry.layout("series")):
            if entry.name == "discharge" or entry.name in self.selection.series:
                values[entry.name] = series[row]
        return values

    def _check(self, model: Model, at: int) -> None:
        problem = model.problem()
        if problem is not None:
            label = self.clock.label(at + problem[2])
            parameters = self.basin.parameters
            model.raise_problem(parameters["unit"].values, parameters["subbasin"].values, label)

    def _writer(self, model: Model, compression: Compression) -> ResultWriter:
        import json

        from wepl.run.writer import ResultWriter

        attributes = {
            "backend": model.backend.name, "precision": model.backend.precision,
            "options_changed": json.dumps(self.changes, sort_keys=True),
        }
        names = (*self.selection.units, *self.selection.series)
        return ResultWriter(self.output, basin=self.basin, clock=self.clock, first=self.first, last=self.last,
                            variables=names, attributes=attributes, options=self.options, compression=compression)

    def _balance(self, before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> BalanceReport:
        from wepl.run.balance import close

        return close(before, after, self.arrays, self.basin)

    def _start_temperatures(self, model: Model) -> None:
        """Start the force-restore scheme at the mean air temperature of the first day."""
        steps = max(1, int(86400 / self.clock.step_seconds))
        forcing = self.basin.forcing.read(self.first, min(self.last, self.first + steps))
        unit = self.arrays.unit_of_tile
        mean = forcing[registry.row("air_temperature")].mean(axis=0)[self.arrays.values["unit_cell"][unit]]
        state = model.state()
        lapse = self.options["temperature_lapse_rate"]
        difference = self.arrays.values["unit_parameter"][registry.row("elevation_difference"), unit]
        for name in ("surface_temperature", "deep_temperature"):
            state[name] = mean - lapse * difference
        model.set_state(state)

    def _load(self, model: Model, path: str | Path) -> None:
        from wepl.run.restart import load_state

        model.set_state(load_state(path, basin=self.basin, clock=self.clock, at=self.first,
                                   shapes={name: array.shape for name, array in model.state().items()}))

    def _save(self, model: Model, path: str | Path) -> None:
        from wepl.run.restart import save_state

        save_state(path, model.state(), basin=self.basin, clock=self.clock, at=self.last)
