"""Every physics function has a twin in CUDA C++, and the two agree; the headers are those the translator writes.

The twins are compiled for the host, with the same library of mathematical functions and without fused operations, so in
double precision they must agree to rounding. In single precision the bound is 2e-5 of the result or of the sum it is
what is left of (:data:`twin_ranges.SCALES`), and twice what a change of one argument by 2.4e-7 (two units in the last
place) changes: no more can be asked of arithmetic that rounds its arguments.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import twin_ranges
import twins

from wepl.kernels import host, sources, translate

CASES, EDGE_CASES = 2000, 40
DOUBLE, SINGLE, NUDGE = 1e-13, 2e-5, 2.0**-22
# Below this single precision knows no numbers or only some of their digits.
SMALLEST = 1e-30
TWINS = twins.physics_twins()
needs_compiler = pytest.mark.skipif(host.compiler() is None, reason="no C++ compiler compiles the twins for the CPU")
each_twin = pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.label)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return twins.Library(TWINS, tmp_path_factory.mktemp("twins"))


def draw(twin: twins.Twin, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random arguments ``[parameter, case]`` within the ranges."""
    rows = []
    for name, _ in twin.parameters:
        low, high, *spread = twin_ranges.of(twin.label, name)
        rows.append(np.exp(rng.uniform(np.log(low), np.log(high), count)) if spread else rng.uniform(low, high, count))
    return np.array(rows)


def edges(twin: twins.Twin, rng: np.random.Generator) -> np.ndarray:
    """Each argument at each end of its range and at each edge, the others random."""
    found = []
    for place, (name, _) in enumerate(twin.parameters):
        low, high, *_ = twin_ranges.of(twin.label, name)
        for value in (low, high, *twin_ranges.EDGES.get(name, ())):
            inputs = draw(twin, EDGE_CASES, rng)
            inputs[place] = value
            found.append(inputs)
    return np.concatenate(found, axis=1)


def seed(twin: twins.Twin) -> np.random.Generator:
    return np.random.default_rng(list(twin.label.encode()))


def assert_close(twin: twins.Twin, inputs: np.ndarray, expected: np.ndarray, found: np.ndarray,
                 allowed: np.ndarray) -> None:
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        bad = ~(same | (np.abs(found - expected) <= allowed))
    if bad.any():
        output, case = (int(index[0]) for index in np.nonzero(bad))
        given = ", ".join(f"{name}={value!r}" for (name, _), value in
                          zip(twin.parameters, inputs[:, case].tolist(), strict=True))
        pytest.fail(f"{twin.label}({given}).{twin.outputs[output]}: {found[output, case]!r} in C++, "
                    f"{expected[output, case]!r} in Python; {bad.sum()} of {bad.size} differ")


def test_all_physics_is_found():
    """As many as there are decorators."""
    folder = sources.FOLDER.parents[1] / "wepl" / "physics"
    decorated = sum(path.read_text(encoding="utf-8").count("@physics\n") for path in folder.glob("*.py"))
    assert len(TWINS) == decorated > 60


@each_twin
def test_has_a_twin(twin):
    header = twins.header(twin)
    assert header.is_file(), f"{twin.label}: no header {header.name}"
    assert re.search(rf"^WEPL_FUNCTION \S+ {twin.name}\(", header.read_text(encoding="utf-8"), re.MULTILINE), twin.label
    assert twins.takes_numbers(twin)


@each_twin
def test_has_ranges(twin):
    for name, _ in twin.parameters:
        low, high, *_ = twin_ranges.of(twin.label, name)
        assert low < high, name


def test_no_range_is_left_over():
    labels = {f"{twin.label}.{name}" for twin in TWINS for name, _ in twin.parameters}
    names = {name for twin in TWINS for name, _ in twin.parameters}
    assert set(twin_ranges.SPECIAL) <= labels
    assert set(twin_ranges.RANGES) <= names and set(twin_ranges.EDGES) <= names
    assert set(twin_ranges.SCALES) <= {twin.label for twin in TWINS}


@needs_compiler
@each_twin
def test_agrees_in_double_precision(twin, library):
    inputs = draw(twin, CASES, seed(twin))
    expected = twin.reference(inputs)
    assert np.isfinite(expected).all()
    assert np.ptp(expected, axis=1).max() > 0.0
    assert_close(twin, inputs, expected, library.run(twin, "float64", inputs), DOUBLE * np.abs(expected))


@needs_compiler
@each_twin
def test_agrees_at_the_edges(twin, library):
    """Infinite and undefined results must be the same ones."""
    inputs = edges(twin, seed(twin))
    expected = twin.reference(inputs)
    assert_close(twin, inputs, expected, library.run(twin, "float64", inputs), DOUBLE * np.abs(expected))


@needs_compiler
@each_twin
def test_agrees_in_single_precision(twin, library):
    inputs = draw(twin, CASES, seed(twin)).astype(np.float32).astype(np.float64)
    expected = twin.reference(inputs)
    allowed = SINGLE * np.abs(expected) + SMALLEST
    given = {name: inputs[place] for place, (name, _) in enumerate(twin.parameters)}
    for output, scale in twin_ranges.SCALES.get(twin.label, {}).items():
        allowed[twin.outputs.index(output)] += SINGLE * scale(**given)
    for place in range(len(inputs)):
        for change in (1.0 + NUDGE, 1.0 - NUDGE):
            nudged = inputs.copy()
            nudged[place] *= change
            allowed += np.abs(twin.reference(nudged) - expected)
    assert_close(twin, inputs, expected, library.run(twin, "float32", inputs), allowed)


@needs_compiler
def test_a_wrong_twin_is_noticed(library):
    """The comparison itself: the twin of one function against the Python of another."""
    first, other = (next(twin for twin in TWINS if twin.label == label)
                    for label in ("atmosphere.vaporisation_heat", "atmosphere.saturation_vapour_pressure"))
    inputs = draw(first, 10, seed(first))
    with pytest.raises(pytest.fail.Exception, match="temperature="):
        assert_close(first, inputs, other.reference(inputs), library.run(first, "float64", inputs), np.zeros((1, 10)))


def test_the_headers_are_those_of_the_translator():
    """``python -m wepl.kernels.translate`` writes them; a header that nothing writes any more must go."""
    written = translate.headers()
    stale = [path for path, text in written.items()
             if not (sources.FOLDER / path).is_file() or (sources.FOLDER / path).read_text(encoding="utf-8") != text]
    assert stale == []
    standing = {path.relative_to(sources.FOLDER).as_posix() for folder in ("physics", "stages")
                for path in (sources.FOLDER / folder).glob("*.cuh")}
    assert standing == {path for path in written if "/" in path}
