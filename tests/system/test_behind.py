"""Work behind the loop keeps its order, is bounded, and brings its errors back; a run that fails there says so."""

from __future__ import annotations

import threading

import pytest

from wepl.errors import WriteError
from wepl.run.behind import Behind
from wepl.run.journal import Journal, folder_of
from wepl.run.simulation import resume, run


def test_order_and_bound():
    gate, done = threading.Event(), []

    def work(number):
        assert gate.wait(60)
        done.append(number)

    with Behind(work, most=2) as behind:
        behind.put(0)
        behind.put(1)
        third = threading.Thread(target=behind.put, args=(2,))
        third.start()
        third.join(0.05)
        # Two are under way, so the third waits until one is done.
        assert third.is_alive() and done == []
        gate.set()
        third.join(60)
        assert not third.is_alive()
        behind.drain()
        assert done == [0, 1, 2]
        behind.put(3)
    assert done == [0, 1, 2, 3]


def test_an_error_comes_back_and_stops_the_rest():
    done = []

    def work(number):
        if number == 1:
            raise WriteError("full")
        done.append(number)

    with pytest.raises(WriteError, match="full"), Behind(work) as behind:
        behind.put(0)
        behind.put(1)
        behind.put(2)
        behind.drain()
    assert done == [0]


def test_an_error_of_the_loop_wins_and_leaves_no_thread():
    before, gate, done = threading.active_count(), threading.Event(), []

    def work(number):
        assert gate.wait(60)
        done.append(number)

    with pytest.raises(KeyError), Behind(work) as behind:
        behind.put(0)
        behind.put(1)
        gate.set()
        raise KeyError
    assert 0 in done or done == []
    assert threading.active_count() == before


def test_blocks_are_put_away_in_another_thread_and_before_each_state(daily_basin, tmp_path, monkeypatch):
    output, told = tmp_path / "out.nc", []
    write, state = Journal.write_block, Journal.state_path

    def write_block(self, first, values):
        assert threading.current_thread() is not threading.main_thread()
        write(self, first, values)
        told.append(("block", first))

    def state_path(self, at):
        told.append(("state", at))
        return state(self, at)

    monkeypatch.setattr(Journal, "write_block", write_block)
    monkeypatch.setattr(Journal, "state_path", state_path)
    run(daily_basin, output=output, end="2010-01-30", block_days=5, checkpoint=10, quiet=True)
    states = [(place, at) for place, (kind, at) in enumerate(told) if kind == "state"]
    assert [at for _, at in states if at][:1] == [10]
    for place, at in states:
        assert {("block", first) for first in range(0, at, 5)} <= set(told[:place])


def test_a_full_disk_behind_the_loop_says_how_to_go_on(daily_basin, tmp_path, monkeypatch):
    output, real = tmp_path / "out.nc", Journal.write_block

    def write_block(self, first, values):
        if first >= 15:
            raise WriteError("cannot write: no space left")
        real(self, first, values)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "write_block", write_block)
        with pytest.raises(WriteError, match="no space left.*--resume"):
            run(daily_basin, output=output, end="2010-01-30", block_days=5, checkpoint=10, quiet=True)
    assert not output.exists() and folder_of(output).is_dir()
    resume(output, quiet=True)
    assert output.exists() and not folder_of(output).exists()
