"""The planner's choices under a clock and a measurer that are made up, and what is remembered of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import pytest
from typer.testing import CliRunner

from wepl.basin.dataset import Basin
from wepl.bench.tune import Planner, tune
from wepl.cli import app
from wepl.errors import BackendError, InputError
from wepl.run import tuned
from wepl.run.simulation import run
from wepl.run.tuned import Choice, Found

DEFAULT = Choice("native", threads=2)


@dataclass
class Machine:
    """A clock, and a measurer whose choices take what ``cost`` says (s per step); each measurement takes two runs."""

    cost: dict[Choice, float]
    steps: int = 32
    n_tiles: int = 1000
    n_launches: int = 100
    cold: tuple[str, ...] = ()
    noise: list[float] = field(default_factory=list)
    now: float = 0.0
    measured: list[Choice] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def default(self, precision):
        return replace(DEFAULT, precision=precision)

    def offers(self, precision):
        return [replace(choice, precision=precision) for choice in self.cost if choice.block_steps is None]

    def compiled(self, choice):
        return choice.backend not in self.cold

    def seconds(self, choice):
        self.measured.append(choice)
        exact = self.cost.get(choice) or self.cost[replace(choice, block_steps=None)]
        if self.noise:
            exact *= self.noise[len(self.measured) % len(self.noise)]
        self.now += 2 * exact * self.steps
        return exact


def search(machine: Machine, seconds: float = 60.0):
    return Planner(machine, seconds, machine.clock).search()


def test_the_fastest_is_found_level_by_level():
    fast = Choice("native", threads=1)
    machine = Machine({DEFAULT: 2e-3, fast: 1.5e-3, replace(fast, block_steps=8): 1e-3})
    found = search(machine)
    assert found.best == replace(fast, block_steps=8)
    assert found.ratio == pytest.approx(2.0)
    # Lengths of blocks are tried around the best backend only.
    assert {choice.threads for choice in machine.measured if choice.block_steps} == {1}
    assert "(default)" in found.text and "best: native, 1 thread, 8 steps" in found.text


def test_the_default_wins_ties():
    machine = Machine({DEFAULT: 1e-3, Choice("cpu", threads=2): 1e-3, Choice("native", threads=1): 0.99e-3})
    found = search(machine)
    assert (found.best, found.ratio) == (DEFAULT, 1.0)


@pytest.mark.parametrize("noise", [[1.0, 1.3, 0.8], [0.7, 1.0], [1.0, 1.0, 1.0, 3.0]])
def test_noise_alone_does_not_beat_the_default(noise):
    other = Choice("native", threads=1)
    found = search(Machine({DEFAULT: 1e-3, other: 1.05e-3}, noise=noise))
    exact = {DEFAULT: 1e-3, other: 1.05e-3}
    chosen = replace(found.best, block_steps=None)
    # Whatever noise does, nothing is chosen that is more than 5 % slower.
    assert exact[chosen] <= 1.05 * exact[DEFAULT]


@pytest.mark.parametrize("seconds", [0.05, 0.5, 2.0, 60.0])
@pytest.mark.parametrize("step", [1e-4, 1e-2, 0.5])
def test_the_search_ends_in_time(seconds, step):
    cost = {DEFAULT: step, Choice("native", threads=1): 1.5 * step, Choice("cpu", threads=2): 2.0 * step,
            Choice("cpu", threads=1): 4.0 * step}
    machine = Machine(cost)
    search(machine, seconds)
    # The first measurement sets the scale of the cost model; only it may be longer than thought.
    first = 2 * step * machine.steps
    assert machine.now <= max(seconds, first)


def test_what_cannot_win_or_is_not_compiled_is_left_out():
    slow, cold = Choice("cpu", threads=1), Choice("numba-cuda")
    machine = Machine({DEFAULT: 1e-3, slow: 1e-6, cold: 1e-6}, cold=("numba-cuda",))
    found = search(machine)
    assert slow not in machine.measured and cold not in machine.measured
    told = {trial.choice: trial.why for trial in found.trials}
    assert "cost model" in told[slow] and "no time" in told[cold]


def test_launches_are_looked_at_on_a_gpu():
    gpu = Choice("cupy")
    machine = Machine({DEFAULT: 1e-2, gpu: 1e-4, replace(gpu, mapping="unit"): 2e-4,
                       **{replace(gpu, block_threads=threads): 1e-4 / (threads / 64) for threads in (64, 128, 256)}})
    assert search(machine).best == replace(gpu, block_threads=256)


def test_each_precision_has_its_share():
    machine = Machine({DEFAULT: 1e-3, replace(DEFAULT, precision="mixed"): 5e-4})
    found = tune(None, ["float64", "mixed"], 60.0, machine, machine.clock)
    assert [search.best.precision for search in found] == ["float64", "mixed"]


@pytest.fixture
def memory(tmp_path, monkeypatch):
    # Compiled code stays where it is.
    monkeypatch.setattr(tuned, "path", lambda: tmp_path / "cache" / "tune.json")
    return tmp_path / "cache" / "tune.json"


def test_memory_comes_back_and_is_keyed(daily_basin, hourly_basin, memory, monkeypatch):
    basin = Basin.open(daily_basin)
    assert tuned.recall(basin, "float64") is None
    found = Found(Choice("cpu", threads=1, block_steps=8), 1.25, "2026-01-02")
    tuned.remember(basin, found)
    tuned.remember(basin, Found(Choice("cupy", "mixed"), 2.0, "2026-01-02"))
    assert tuned.recall(basin, "float64") == found
    assert tuned.recall(basin, "mixed").choice.precision == "mixed"
    assert tuned.recall(Basin.open(hourly_basin), "float64") is None
    assert list(memory.parent.iterdir()) == [memory]
    assert "16 to 31 units" in memory.read_text()
    monkeypatch.setattr(tuned, "machine", lambda: "another machine or other sources")
    assert tuned.recall(basin, "float64") is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 2, "machines": {}}', '{"format": 1, "machines": [1]}'])
def test_a_memory_that_cannot_be_read_is_named(daily_basin, memory, content):
    memory.parent.mkdir()
    memory.write_text(content)
    with pytest.raises(InputError, match=r"tune\.json cannot be used .*remove it"):
        tuned.recall(Basin.open(daily_basin), "float64")


@pytest.mark.parametrize("changes", [{"backend": "abacus"}, {"threads": 0}, {"block_steps": "8"}, {"block_steps": -1},
                                     {"precision": "mixed"}])
def test_a_choice_that_lies_is_named(daily_basin, memory, changes):
    basin = Basin.open(daily_basin)
    tuned.remember(basin, Found(Choice("cpu"), 1.0, "2026-01-02"))
    content = json.loads(memory.read_text())
    next(iter(content["machines"][tuned.machine()].values()))["choice"].update(changes)
    memory.write_text(json.dumps(content))
    with pytest.raises(InputError, match="cannot be used"):
        tuned.recall(basin, "float64")


def test_a_run_takes_it_says_so_and_has_the_same_bits(daily_basin, memory, tmp_path, capsys):
    basin = Basin.open(daily_basin)
    run(basin, output=tmp_path / "a.nc", backend="cpu", end="2010-02-10", quiet=True)
    tuned.remember(basin, Found(Choice("cpu", threads=1, block_steps=7), 1.25, "2026-01-02"))
    run(basin, output=tmp_path / "b.nc", end="2010-02-10")
    told = capsys.readouterr()
    assert told.out.count("wepl tune chose cpu, 1 thread, 7 steps at a time on 2026-01-02, 1.25 times") == 1
    result = CliRunner().invoke(app, ["compare", str(tmp_path / "a.nc"), str(tmp_path / "b.nc"), "--rtol", "0"])
    assert result.exit_code == 0, result.output


def test_what_does_not_work_any_more_is_said(daily_basin, memory, monkeypatch):
    basin = Basin.open(daily_basin)
    tuned.remember(basin, Found(Choice("cpu", block_steps=7), 1.25, "2026-01-02"))

    def fail(self):
        raise BackendError("gone")

    monkeypatch.setattr(Choice, "create", fail)
    device, steps = tuned.device_of(basin, "float64", None)
    assert steps is None and "does not work any more: gone" in device.reason


def test_bad_arguments(daily_basin, memory):
    for given in (["--seconds", "1"], ["--seconds", "nan"], ["--precisions", "half"], ["--precisions", ","]):
        result = CliRunner().invoke(app, ["tune", str(daily_basin), *given])
        assert result.exit_code == 2, result.output
    assert not memory.exists()


def test_the_command(daily_basin, memory, tmp_path):
    run(daily_basin, output=tmp_path / "compiled.nc", end="2010-01-02", quiet=True)
    result = CliRunner().invoke(app, ["tune", str(daily_basin), "--seconds", "6"])
    assert result.exit_code == 0, result.output
    assert "best:" in result.output and memory.exists()
