"""The block loop of a run: read ahead, compute, write behind, keep a journal, close the balance."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl import registry
from wepl.errors import InputError, NumericalError, WeplError, WriteError
from wepl.language import say
from wepl.run.behind import Behind
from wepl.run.interrupt import Interrupted, Watch
from wepl.run.journal import Journal
from wepl.run.lock import OutputLock

if TYPE_CHECKING:
    import xarray as xr

    from wepl.backends import Backend
    from wepl.basin.dataset import Basin
    from wepl.run.balance import BalanceReport
    from wepl.run.model import Model, Staged
    from wepl.run.progress import Progress
    from wepl.run.writer import Compression, ResultWriter

# Largest residual of a run, share of the water that passed.
CLOSURE = {"float64": 1e-9, "mixed": 1e-6, "float32": 1e-6}
# Cycles of a spin-up at most, and the change of storage between two cycles, share of precipitation, that ends it.
_MOST_CYCLES, _SETTLED = 50, 1e-3


@dataclass
class RunResult:
    """What a run leaves: the result's path, the water balance, and seconds spent per stage of the work."""

    path: Path
    balance: BalanceReport
    seconds: dict[str, float] = field(default_factory=dict)
    n_steps: int = 0
    n_tiles: int = 0

    @property
    def dataset(self) -> xr.Dataset:
        """The result file as :func:`wepl.open_result` opens it: values are read when they are used."""
        from wepl.analysis.result import open_result

        return open_result(self.path)


@dataclass(frozen=True)
class Plan:
    """How a run goes on: block length, states to start from and to save, checkpoints, spin-up, output.

    ``checkpoint`` days between states in the journal (0: no journal); ``resume`` from the journal; ``spinup`` years.
    """

    block_days: float | None = None
    from_state: str | Path | None = None
    save_state: str | Path | None = None
    checkpoint: float = 0.0
    resume: bool = False
    spinup: int = 0
    quiet: bool = False
    compression: Compression = "zstd"


class Job:
    """One run's fixed facts and its loop."""

    def __init__(self, basin: Basin, output: str | Path | None, changes: Mapping[str, float | str],
                 start: str | None, end: str | None, variables: Sequence[str], block_days: float | None,
                 resolve: Callable[[Basin, Mapping[str, float | str]], dict[str, float]]) -> None:
        from wepl.forcing.window import Window
        from wepl.run.assembly import assemble
        from wepl.run.guard import Guard
        from wepl.run.outputs import select

        self.basin = basin
        self.changes = dict(changes)
        self.options = resolve(basin, changes)
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
        self.guard = Guard(basin, self.arrays, self.output, self.options, self.changes, self._time_tables)
        self.window = Window(basin.forcing, self.last)
        self.preferred_steps: int | None = None
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
        from wepl.run.zones import resistance_factors

        step = self.clock.step_seconds
        n_route = route_steps(self.arrays, step)
        sizes = array_sizes(self.arrays, self.selection, 1, n_route)
        sizes |= {"cell": len(self.basin.forcing.cells), "kind": self.basin.parameters.sizes["vegetation"]}
        sizes["kind"] *= len(resistance_factors(self.options))
        needed = plan.need(sizes, n_route, device.types)
        return plan.block_steps(needed, self.last - self.first, step, block_days=block_days,
                                preferred=self.preferred_steps, free=device.free_bytes())

    def run(self, device: Backend, plan: Plan, facts: Mapping[str, Any]) -> RunResult:
        """The whole run; ``facts`` are the arguments with which it can be resumed."""
        from wepl.netcdf import check_target
        from wepl.run.crash import crash_path

        for path, content in ((plan.save_state, "state"), (self.output, "result"),
                              (crash_path(self.output), "crash")):
            if path:
                check_target(Path(path), content)
        with OutputLock(self.output):
            # It tells of the last run of this result: an older one would mislead.
            crash_path(self.output).unlink(missing_ok=True)
            journal = Journal(self.output, plan.resume) if plan.checkpoint > 0 or plan.resume else None
            return self._run_with(journal, device, plan, facts)

    def _run_with(self, journal: Journal | None, device: Backend, plan: Plan, facts: Mapping[str, Any]) -> RunResult:
        from wepl.run.progress import Progress

        try:
            with Progress(self.clock, self.first, self.last, quiet=plan.quiet) as progress, Watch() as watch:
                if journal is not None and not plan.resume:
                    journal.begin(facts)
                result = self._run(progress, watch, device, plan, journal)
        except (InputError, NumericalError):
            # Going on would end the same way.
            if journal is not None and not plan.resume:
                journal.remove()
            raise
        except MemoryError as error:
            raise WeplError(f"not enough memory ({error}): free some, or ask for fewer --block-days or --variables. "
                            f"{self._how_to_go_on(journal)}") from error
        except WriteError as error:
            raise WriteError(f"{error}. {self._how_to_go_on(journal)}") from error
        finally:
            if journal is not None:
                journal.close()
        if journal is not None:
            journal.remove()
        return result

    def _run(self, progress: Progress, watch: Watch, device: Backend, plan: Plan, journal: Journal | None) -> RunResult:
        compiles = getattr(device, "compiles", None)
        progress.announce_compilation(compiles(self.arrays.n_layers) or "" if compiles else None)
        block_steps = self.block_steps(device, plan.block_days)
        model = self._model(device, block_steps)
        progress.line(say("run.backend", reason=model.backend.reason))
        at, before = self._start(progress, model, plan, journal)
        with (self._writer(model, plan.compression) as writer,
              Behind(partial(self._put_away, journal, writer)) as behind):
            if journal is not None:
                self._write_again(journal, writer, at)
            first = kept = at
            for at, block_time in self._blocks(model, block_steps, behind, first, journal):
                progress.update(at, block_time)
                due = (at - kept) * self.clock.step_seconds >= plan.checkpoint * 86400
                if journal is not None and at < self.last and (due or watch.caught is not None):
                    # A state is of use only with all blocks before it.
                    behind.drain()
                    self._keep(model, journal, at)
                    kept = at
                if watch.caught is not None and at < self.last:
                    raise self._interrupted(watch.caught, at, journal)
            report = self._balance(before, model.state())
            report.check(CLOSURE[model.backend.precision])
            write_time = time.perf_counter()
            behind.drain()
            if plan.save_state:
                self._save(model, plan.save_state, self.last)
            writer.finish(balance=report)
            self.seconds["write"] += time.perf_counter() - write_time
        progress.close()
        progress.line(report.text)
        progress.line(say("run.result", path=self.output))
        return RunResult(self.output, report, self.seconds, self.last - self.first, self.arrays.unit_of_tile.size)

    def _start(self, progress: Progress, model: Model, plan: Plan,
               journal: Journal | None) -> tuple[int, dict[str, np.ndarray]]:
        """Bring the model to its first state; the step to compute next, and the state with which the run began."""
        if plan.resume and journal is not None and self._has_start(model, journal):
            return self._resume(progress, model, journal)
        if plan.from_state:
            model.set_state(self._read(model, plan.from_state, self.first))
        elif self.options["energy_balance"]:
            self._start_temperatures(model)
        if plan.spinup:
            self._spin_up(progress, model, plan.spinup)
        before = model.state()
        if journal is not None:
            self._save(model, journal.start_path, self.first)
        return self.first, before

    def _has_start(self, model: Model, journal: Journal) -> bool:
        """Whether the first state was written; where nothing else was, a damaged one is as none."""
        if any(True for _ in journal.states()):
            return True
        try:
            self._read(model, journal.start_path, self.first)
        except InputError:
            journal.drop_blocks_after(self.first)
            return False
        return True

    def _resume(self, progress: Progress, model: Model, journal: Journal) -> tuple[int, dict[str, np.ndarray]]:
        """The newest state of the journal that is whole and to which whole blocks lead."""
        before = self._read(model, journal.start_path, self.first)
        at = self.first
        for step in journal.states():
            chain = journal.blocks(self.first, step)
            try:
                if chain is None:
                    raise InputError("blocks are missing")
                state = self._read(model, journal.state_path(step), step)
                for block in chain:
                    journal.read_block(*block)
            except (InputError, OSError, RuntimeError) as error:
                progress.line(say("run.bad_checkpoint", time=self.clock.label(step), error=error))
                journal.state_path(step).unlink()
                continue
            at, start = step, state
            break
        else:
            start = before
        journal.drop_blocks_after(at)
        model.set_state(start)
        progress.line(say("run.going_on", time=self.clock.label(at)))
        return at, before

    def _write_again(self, journal: Journal, writer: ResultWriter, until: int) -> None:
        """Give the writer the blocks that were computed before."""
        for block in journal.blocks(self.first, until) or []:
            writer.put(block[0], journal.read_block(*block))

    def _keep(self, model: Model, journal: Journal, at: int) -> None:
        """A checkpoint: the state before step ``at``."""
        self._save(model, journal.state_path(at), at)
        journal.drop_states_before(at)

    def _interrupted(self, number: int, at: int, journal: Journal | None) -> Interrupted:
        return Interrupted(f"stopped before {self.clock.label(at)}. {self._how_to_go_on(journal)}", number)

    def _how_to_go_on(self, journal: Journal | None) -> str:
        if journal is None:
            return "No journal was kept (--checkpoint 0), so the run must start anew"
        return f"Go on with: python -m wepl run --resume {self.output}"

    def _spin_up(self, progress: Progress, model: Model, years: int) -> None:
        """Repeat the first years until a cycle changes storage by no more than a thousandth of its precipitation."""
        end = min(self.last, self.first + round(years * 365.25 * 86400 / self.clock.step_seconds))
        zero = {name: np.zeros_like(array) for name, array in model.state().items()
                if registry.variable(name).kind == "flux"}
        for cycle in range(1, _MOST_CYCLES + 1):
            before = model.state()
            for at in range(self.first, end, model.block_steps):
                staged = self._stage(model, at, min(model.block_steps, end - at))
                model.advance_staged(staged)
                self.guard.check(model, at, staged.n_steps)
            report = self._balance(before, model.state())
            model.set_state({**model.state(), **zero})
            change = sum(report.terms.storage.values()) / max(report.terms.precipitation["precipitation_depth"], 1e-9)
            progress.line(say("run.spinup_cycle", cycle=cycle, change=f"{change:.2%}"))
            if abs(change) <= _SETTLED:
                return
        progress.line(say("run.spinup_ended", cycles=_MOST_CYCLES))

    def _model(self, backend: Backend, block_steps: int) -> Model:
        from wepl.run.model import Model

        available = self.basin.forcing.available
        given = ("shortwave_radiation" in available, "longwave_radiation" in available)
        return Model(backend, self.arrays, self.selection, self.clock.step_seconds, block_steps, given)

    @staticmethod
    def _put_away(journal: Journal | None, writer: ResultWriter, at: int, values: dict[str, np.ndarray]) -> None:
        """Give a block's values to the journal, then to the writer."""
        if journal is not None:
            journal.write_block(at, values)
        writer.put(at, values)

    def _blocks(self, model: Model, block_steps: int, behind: Behind, first: int,
                journal: Journal | None) -> Iterator[tuple[int, float]]:
        """Compute block after block while the next one is read and staged and the last one is written."""
        from wepl.run.outputs import UnitOutputs

        outputs = UnitOutputs(self.selection, self.arrays)
        starts = list(range(first, self.last, block_steps))
        if not starts:
            return
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
                self.guard.check(model, at, staged.n_steps)
                computed = time.perf_counter()
                values = self._series(block.series)
                values.update(outputs.block(block.record, until - at))
                behind.put(at, values)
                written = time.perf_counter()
                self.seconds["read"] += read_done - began
                self.seconds["compute"] += computed - read_done
                self.seconds["write"] += written - computed
                yield until, written - began

    def _stage(self, model: Model, at: int, block_steps: int) -> Staged:
        until = min(self.last, at + block_steps)
        return model.stage(self.window.read(at, until), *self._time_tables(at, until))

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

    def _writer(self, model: Model, compression: Compression) -> ResultWriter:
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

    def _read(self, model: Model, path: str | Path, at: int) -> dict[str, np.ndarray]:
        from wepl.run.restart import load_state

        return load_state(path, basin=self.basin, clock=self.clock, at=at,
                          shapes={name: array.shape for name, array in model.state().items()})

    def _save(self, model: Model, path: str | Path, at: int) -> None:
        from wepl.run.restart import save_state

        save_state(path, model.state() | model.low_parts(), basin=self.basin, clock=self.clock, at=at)
