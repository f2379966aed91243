"""The native backend, vector lanes compiled for this CPU, is the same model as the CPU reference."""

from __future__ import annotations

import numpy as np
import pytest
from test_crosscheck import with_layers

from wepl import backends
from wepl.backends import choose
from wepl.backends.native import NativeBackend
from wepl.basin.dataset import Basin
from wepl.basin.synthetic import synthesize
from wepl.crosscheck import crosscheck
from wepl.errors import BackendError
from wepl.kernels import lanes_translate, native_build
from wepl.run.memory import run_in_memory

needs_compiler = pytest.mark.skipif(native_build.compiler() is None, reason="no C++ compiler for the native backend")


def test_headers_are_up_to_date():
    for name, text in lanes_translate.headers().items():
        assert (lanes_translate.FOLDER / name).read_text(encoding="utf-8") == text, (
            f"{name} is not what the Python sources give: python -m wepl.kernels.lanes_translate")


@needs_compiler
def test_the_sample(sample_path):
    check = crosscheck(Basin.open(sample_path), ("native",), days=200)
    assert check.passed, check.text


@needs_compiler
@pytest.mark.parametrize("seed", range(6))
def test_random_basins(tmp_path, seed):
    hourly = seed % 2 == 1
    path = tmp_path / "basin.nc"
    # Numbers of places that do not fill the last group of lanes.
    synthesize(path, units=11 + 7 * seed, years=1, step="1h" if hourly else "1d", seed=200 + seed)
    basin = with_layers(path, (1, 3, 12)[seed % 3])
    check = crosscheck(basin, ("native",), days=20 if hourly else 180)
    assert check.passed, check.text


def same(got, expected, case) -> None:
    for part in ("series", "state"):
        for name, values in getattr(expected, part).items():
            np.testing.assert_array_equal(getattr(got, part)[name], values, err_msg=f"{name} {case}")


@needs_compiler
@pytest.mark.parametrize("step", ["daily", "hourly"])
def test_same_bits_for_any_threads_and_blocks(request, step):
    basin = Basin.open(request.getfixturevalue(f"{step}_basin"))
    expected = run_in_memory(basin, NativeBackend(threads=1), last=150, block_steps=150)
    for threads, block_steps in ((2, 150), (1, 1), (2, 13), (1, 64)):
        got = run_in_memory(basin, NativeBackend(threads=threads), last=150, block_steps=block_steps)
        same(got, expected, f"{threads} threads, blocks of {block_steps}")


@needs_compiler
def test_lanes_do_not_see_their_neighbours(daily_basin):
    """A tile's results are the same bits whatever tiles stand beside it: here all groups are shifted by one."""
    from wepl.run.assembly import assemble
    from wepl.run.ensemble import assemble_members
    from wepl.run.simulation import resolve_options

    basin = Basin.open(daily_basin)
    alone = run_in_memory(basin, NativeBackend(threads=1), last=90)
    tiles = assemble(basin, resolve_options(basin, {})).unit_of_tile.size
    members = next(count for count in (2, 3, 5) if (tiles * (count - 1)) % 4)
    assembled = assemble_members(basin, [{}] * members)
    together = run_in_memory(basin, NativeBackend(threads=1), last=90, arrays=assembled.arrays, balance=False)
    first = alone.series["discharge"].shape[-1]
    for member in range(members):
        np.testing.assert_array_equal(together.series["discharge"][..., member * first:(member + 1) * first],
                                      alone.series["discharge"])


@needs_compiler
def test_without_the_instructions_of_avx2(daily_basin):
    plain = NativeBackend(threads=1, more=("-DWEPL_PLAIN",))
    expected = run_in_memory(Basin.open(daily_basin), backends.create("cpu", threads=1), last=60)
    got = run_in_memory(Basin.open(daily_basin), plain, last=60)
    flow = expected.series["discharge"]
    np.testing.assert_allclose(got.series["discharge"], flow, rtol=1e-9, atol=1e-9 * flow.mean())


def test_no_compiler(monkeypatch):
    monkeypatch.setattr(native_build, "compiler", lambda: None)
    with pytest.raises(BackendError, match="no C\\+\\+ compiler: install"):
        backends.create("native")
    monkeypatch.setattr(choose, "cupy_problem", lambda: "no GPU")
    monkeypatch.setattr(choose, "numba_cuda_problem", lambda: "no GPU")
    monkeypatch.setattr(native_build, "has_vectors", lambda: True)
    monkeypatch.setattr(native_build, "problem", native_build.problem.__wrapped__)
    name, why = choose.choose()
    assert name == "cpu"
    assert "no native: no C++ compiler (install" in why


def test_auto_prefers_native_only_where_it_is_known_to_be_faster(monkeypatch):
    monkeypatch.setattr(choose, "cupy_problem", lambda: "no GPU")
    monkeypatch.setattr(choose, "numba_cuda_problem", lambda: "no GPU")
    monkeypatch.setattr(native_build, "problem", lambda: None)
    monkeypatch.setattr(native_build, "has_vectors", lambda: True)
    assert choose.choose()[0] == "native"
    assert choose.choose(threads=1)[0] == "native"
    monkeypatch.setattr(native_build, "has_vectors", lambda: False)
    name, why = choose.choose()
    assert name == "cpu"
    assert "AVX2" in why


def test_a_compiler_that_refuses(monkeypatch, tmp_path):
    monkeypatch.setenv("WEPL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(native_build, "compiler", lambda: ("false",))
    native_build.library.cache_clear()
    native_build._version.cache_clear()
    try:
        with pytest.raises(BackendError, match="false refuses the sources"):
            native_build.library(3)
        assert not list((tmp_path / "native").iterdir())
    finally:
        native_build.library.cache_clear()
        native_build._version.cache_clear()


@pytest.mark.parametrize("threads", [0, 10_000])
def test_threads_that_the_machine_has_not(threads):
    if native_build.compiler() is None:
        pytest.skip("no C++ compiler for the native backend")
    with pytest.raises(BackendError, match="--threads"):
        backends.create("native", threads=threads)
    with pytest.raises(BackendError, match="float64"):
        backends.create("native", "float32")
