"""The planner: which backend, how many threads and which length of blocks are the fastest for a basin here.

The space is walked in levels (backend and threads, then what a GPU's launches look like, then steps per block), each
around the best of the one before. A cost model leaves out what cannot win or does not fit in the time. The default
is among the candidates, and another one takes its place only if it wins a duel of alternating runs.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from wepl.run.tuned import Choice

if TYPE_CHECKING:
    from wepl.backends import Backend
    from wepl.basin.dataset import Basin

# Seconds per tile and step on one thread, and per launch on a GPU: the default, once measured, sets the scale.
_TILE_SECONDS = {"cpu": 5e-6, "native": 1.3e-6, "cupy": 2e-8, "numba-cuda": 4e-8}
_LAUNCH_SECONDS = {"cupy": 4e-6, "numba-cuda": 1e-5}
# Work of a block whatever its length: guard, copies of states, Python.
_BLOCK_SECONDS = 1e-3
# Cold compilation.
_COMPILE_SECONDS = {"cpu": 120.0, "native": 15.0, "cupy": 30.0, "numba-cuda": 90.0}
# A candidate that the model puts so many times behind the best is not measured.
_HOPELESS = 3.0
# What a duel must win by, and its rounds.
_MARGIN, _ROUNDS = 0.03, 5
_SHARE_OF_ONE_RUN = 1 / 30
_BLOCKS = (4, 8, 16, 32, 64)
_BLOCK_THREADS = (64, 128, 256)


class Measurer(Protocol):
    """Measures candidates."""

    n_tiles: int
    n_launches: int
    steps: int

    def default(self, precision: str) -> Choice:
        """What a run takes without a memory."""
        ...

    def offers(self, precision: str) -> list[Choice]:
        """Backends and threads that work here."""
        ...

    def compiled(self, choice: Choice) -> bool:
        """Whether the code of a choice needs no compilation."""
        ...

    def seconds(self, choice: Choice) -> float:
        """Seconds per step, measured over :attr:`steps` steps after a run that compiles and warms up."""
        ...


@dataclass(frozen=True)
class Trial:
    """A candidate and what became of it: seconds per step, or why it was left out."""

    choice: Choice
    seconds: float | None
    why: str = ""


@dataclass
class Search:
    """One search for one precision.

    Attributes
    ----------
    best : Choice
    ratio : float
        How many times as fast as the default it was in the duel; 1 when it is the default.
    trials : list of Trial
    """

    default: Choice
    best: Choice
    ratio: float = 1.0
    trials: list[Trial] = field(default_factory=list)

    @property
    def text(self) -> str:
        """A table of the trials and the choice."""
        width = max(len(trial.choice.text) for trial in self.trials)
        lines = []
        for trial in self.trials:
            told = f"{1e3 * trial.seconds:10.3f} ms per step" if trial.seconds is not None else trial.why
            mark = " (default)" if trial.choice == self.default else ""
            lines.append(f"{trial.choice.text:<{width}}  {told}{mark}")
        return "\n".join([*lines, f"best: {self.best.text} ({self.ratio:.2f} times as fast as the default)"])


class Planner:
    """Searches within a time.

    Parameters
    ----------
    measurer : Measurer
    until : float
        The moment, on ``clock``, at which the search must have ended.
    clock : callable
        Seconds; a test gives its own.
    """

    def __init__(self, measurer: Measurer, until: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._measurer = measurer
        self._until = until
        self._clock = clock
        # Measured over modelled seconds of each backend; where it is not measured yet, those of the default hold.
        self._scales: dict[str, float] = {}
        self._scale = 1.0

    def search(self, precision: str = "float64") -> Search:
        """The best choice for one precision."""
        default = self._measurer.default(precision)
        search = Search(default, default)
        known: dict[Choice, float] = {}
        if not self._fits(default):
            search.trials.append(Trial(default, None, "no time to measure it"))
            return search
        known[default] = self._measurer.seconds(default)
        search.trials.append(Trial(default, known[default]))
        self._scale = self._scales[default.backend] = known[default] / self._modelled(default)
        best = default
        for level in (self._devices, self._launches, self._lengths):
            for choice in level(best, precision):
                if choice in known:
                    continue
                trial = self._try(choice, min(known.values()))
                search.trials.append(trial)
                if trial.seconds is not None:
                    known[choice] = trial.seconds
            best = min(known, key=lambda choice: (known[choice], choice != default))
        if best != default:
            self._duel(search, best)
        return search

    def _try(self, choice: Choice, best: float) -> Trial:
        predicted = self._predicted(choice)
        if predicted > _HOPELESS * best:
            return Trial(choice, None, f"left out: about {1e3 * predicted:.3g} ms per step by the cost model")
        if not self._fits(choice):
            return Trial(choice, None, "left out: no time to compile and measure it")
        seconds = self._measurer.seconds(choice)
        self._scales.setdefault(choice.backend, seconds / self._modelled(choice))
        return Trial(choice, seconds)

    def _duel(self, search: Search, best: Choice) -> None:
        """Alternate with the default; the better one must win by more than noise."""
        ratios: list[float] = []
        while len(ratios) < _ROUNDS and self._fits(search.default, best):
            # Whoever comes first may find another state of the machine: the order alternates.
            pair = (search.default, best) if len(ratios) % 2 == 0 else (best, search.default)
            seconds = {choice: self._measurer.seconds(choice) for choice in pair}
            ratios.append(seconds[search.default] / seconds[best])
        if len(ratios) < 2:
            return
        ratio = statistics.median(ratios)
        if ratio > 1.0 + _MARGIN and sum(one > 1.0 for one in ratios) > len(ratios) / 2:
            search.best, search.ratio = best, ratio

    def _predicted(self, choice: Choice) -> float:
        return self._scales.get(choice.backend, self._scale) * self._modelled(choice)

    def _modelled(self, choice: Choice) -> float:
        """Seconds per step by the cost model, before scaling."""
        tiles = self._measurer.n_tiles * _TILE_SECONDS[choice.backend]
        if choice.precision != "float64":
            tiles *= 0.6
        tiles /= choice.threads or 1
        launches = self._measurer.n_launches * _LAUNCH_SECONDS.get(choice.backend, 0.0)
        return tiles + launches + _BLOCK_SECONDS / (choice.block_steps or self._measurer.steps)

    def _fits(self, *choices: Choice) -> bool:
        """Whether measuring all of them will end in time: each warms up and runs once."""
        needed = 0.0
        for choice in choices:
            needed += 2.5 * self._measurer.steps * self._predicted(choice)
            if not self._measurer.compiled(choice):
                needed += _COMPILE_SECONDS[choice.backend]
        return self._clock() + needed <= self._until

    def _devices(self, best: Choice, precision: str) -> Iterator[Choice]:
        del best
        yield from sorted(self._measurer.offers(precision), key=self._modelled)

    def _launches(self, best: Choice, precision: str) -> Iterator[Choice]:
        del precision
        if best.backend not in _LAUNCH_SECONDS:
            return
        yield replace(best, mapping="unit")
        if best.backend == "cupy":
            yield from (replace(best, block_threads=threads) for threads in _BLOCK_THREADS)

    def _lengths(self, best: Choice, precision: str) -> Iterator[Choice]:
        del precision
        yield from (replace(best, block_steps=steps) for steps in _BLOCKS if steps <= self._measurer.steps)


class BasinMeasurer:
    """Measures the four stages on the first steps of a basin's forcing, from the same state each time.

    Parameters
    ----------
    basin : Basin
    seconds : float
        Time of the whole search: one run takes about a thirtieth of it.
    """

    def __init__(self, basin: Basin, seconds: float) -> None:
        from wepl.run.assembly import assemble
        from wepl.run.simulation import resolve_options

        self.basin = basin
        self.arrays = assemble(basin, resolve_options(basin, {}))
        self.n_tiles = int(self.arrays.unit_of_tile.size)
        self.n_launches = 3 + int(self.arrays.values["level_start"].size) - 1
        self.steps = min(basin.clock.n_steps, max(_BLOCKS))
        fastest = self.n_tiles * _TILE_SECONDS["native"]
        self.steps = max(1, min(self.steps, int(_SHARE_OF_ONE_RUN * seconds / fastest)))

    def default(self, precision: str) -> Choice:
        from wepl.backends.choose import choose

        name = choose(precision)[0]
        return Choice(name, precision, self._all_threads() if name in ("cpu", "native") else None)

    def offers(self, precision: str) -> list[Choice]:
        from wepl.backends import choose
        from wepl.kernels import native_build

        found = []
        if choose.cupy_problem() is None:
            found.append(Choice("cupy", precision))
        if precision != "float64":
            return found
        if not choose.simulated() and choose.numba_cuda_problem() is None:
            found.append(Choice("numba-cuda"))
        names = ["cpu", *(["native"] if native_build.compiler() is not None else [])]
        most = self._all_threads()
        numbers = sorted({1, most, *(2**power for power in range(1, most.bit_length()) if 2**power < most)})
        return found + [Choice(name, threads=threads) for name in names for threads in numbers]

    def compiled(self, choice: Choice) -> bool:
        from wepl.kernels import native_build
        from wepl.physics.jit import cache_folder
        from wepl.run.progress import is_compiled

        if choice.backend == "native":
            return native_build.target(self.arrays.n_layers).exists()
        return choice.backend != "cpu" or is_compiled(cache_folder())

    def seconds(self, choice: Choice) -> float:
        return time_steps(self.basin, choice, self.steps, choice.create(), self)

    @staticmethod
    def _all_threads() -> int:
        import numba

        return int(numba.config.NUMBA_NUM_THREADS)


def time_steps(basin: Basin, choice: Choice, steps: int, device: Backend, measurer: BasinMeasurer) -> float:
    """Seconds per step of one run after a first one."""
    from wepl.run.memory import run_in_memory

    block = min(steps, choice.block_steps or steps)
    outcomes = [run_in_memory(basin, device, last=steps, arrays=measurer.arrays, block_steps=block, balance=False)
                for _ in range(2)]
    return outcomes[1].seconds["total"] / steps


def tune(basin: Basin, precisions: Sequence[str], until: float, measurer: Measurer,
         clock: Callable[[], float] = time.monotonic) -> list[Search]:
    """Search for each precision in its share of the time that is left until ``until``."""
    searches = []
    for number, precision in enumerate(precisions):
        now = clock()
        searches.append(Planner(measurer, now + (until - now) / (len(precisions) - number), clock).search(precision))
    return searches
