"""Every comparison of ``wepl.validation`` within its tolerance, and its page up to date."""

from __future__ import annotations

import math

import numba
import pytest

from wepl.validation import __main__ as command
from wepl.validation import page
from wepl.validation.comparison import Case, Group, absolute, compare, relative

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="millions of cell steps need compiled code")


@pytest.fixture(scope="module")
def comparisons():
    return page.run()


@compiled
def test_every_comparison_passes(comparisons):
    failed = [f"{entry.process}: {entry.what}: expected {entry.expected!r}, got {entry.got!r}"
              for entry in comparisons if not entry.passed]
    assert failed == []


@compiled
def test_there_are_enough_of_them(comparisons):
    """At least 300, none twice, each with a source and a tolerance."""
    assert len(comparisons) >= 300
    assert len({(entry.process, entry.what, entry.expected) for entry in comparisons}) == len(comparisons)
    assert all(entry.source and 0.0 < entry.tolerance.value < math.inf for entry in comparisons)


@compiled
def test_the_page_is_up_to_date(comparisons):
    assert page.PAGE.read_text(encoding="utf-8") == page.page(comparisons), "run python -m wepl.validation"


def group(got: float, expected: float, tolerance) -> Group:
    return Group("Process", "m", "source", tolerance, lambda: got, (Case("value", (), expected),))


@pytest.mark.parametrize(("got", "expected", "tolerance", "passed"), [
    (1.01, 1.0, absolute(0.02), True), (1.03, 1.0, absolute(0.02), False), (101.0, 100.0, relative(0.02), True),
    (103.0, 100.0, relative(0.02), False), (math.nan, 1.0, absolute(1.0), False),
    (math.inf, 1.0, relative(1.0), False)])
def test_what_passes(got, expected, tolerance, passed):
    """NaN never does."""
    assert compare(group(got, expected, tolerance))[0].passed is passed


def test_a_relative_error_of_zero_is_refused():
    with pytest.raises(ValueError, match="expected 0 needs an absolute tolerance"):
        compare(group(0.0, 0.0, relative(1e-6)))


def test_command(tmp_path, monkeypatch, capsys):
    """Written, up to date, out of date, failed: the exit statuses."""
    place = tmp_path / "validation.md"
    good, bad = (group(got, 1.0, absolute(0.1)) for got in (1.0, 2.0))
    monkeypatch.setattr(page, "groups", lambda: (good,))
    assert command.main(["--page", str(place)]) == 0
    assert "1 comparisons, all within" in place.read_text(encoding="utf-8")
    assert command.main(["--check", "--page", str(place)]) == 0
    place.write_text("old", encoding="utf-8")
    assert command.main(["--check", "--page", str(place)]) == 1
    assert "out of date" in capsys.readouterr().err
    assert place.read_text(encoding="utf-8") == "old"
    monkeypatch.setattr(page, "groups", lambda: (bad,))
    assert command.main(["--page", str(place)]) == 1
    assert "expected 1, got 2" in capsys.readouterr().err
    assert "**fail**" in place.read_text(encoding="utf-8")
    assert command.main(["--page", str(tmp_path / "absent" / "validation.md")]) == 2
