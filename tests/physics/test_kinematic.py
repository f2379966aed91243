"""The root that kinematic routing stands on (docs/theory/overland.md eq. 12.3, river.md eq. 13.3)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from wepl.physics.kinematic import kinematic_root

EXPONENTS = range(-12, 13, 2)


@pytest.mark.parametrize("b_exponent", EXPONENTS)
def test_against_bisection(b_exponent):
    """y^3 + c y^5 = b over 24 decades of b and of c, against brentq, to 1e-14."""
    for c_exponent in EXPONENTS:
        for mantissa in (1.0, 3.7):
            b, c = mantissa * 10.0**b_exponent, 10.0**c_exponent
            high = min(b ** (1.0 / 3.0), (b / c) ** 0.2) * (1.0 + 1e-12)
            exact = brentq(lambda y, b=b, c=c: (y**3 + c * y**5) / b - 1.0, 0.0, high, xtol=1e-300, rtol=1e-15)
            assert kinematic_root(b, c) == pytest.approx(exact, rel=1e-14)


def test_ends():
    """Nothing held, nothing flows; without resistance to storage (c = 0) the cube root; never below 0."""
    assert kinematic_root(0.0, 1.0) == 0.0
    assert kinematic_root(-1.0, 1.0) == 0.0
    assert kinematic_root(8.0, 0.0) == pytest.approx(2.0, rel=1e-15)
    assert kinematic_root(32.0, 1e300) == pytest.approx((32.0 / 1e300) ** 0.2, rel=1e-14)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.floats(-30.0, 30.0), st.floats(-30.0, 30.0))
def test_residual_is_rounding(b_exponent, c_exponent):
    """Put back in exact arithmetic, the root misses b by a few units of rounding (5e-15)."""
    b, c = 10.0**b_exponent, 10.0**c_exponent
    y = Fraction(kinematic_root(b, c))
    assert abs(y**3 + Fraction(c) * y**5 - Fraction(b)) <= Fraction(5, 10**15) * Fraction(b)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.floats(1e-9, 1e9), st.floats(1e-9, 1e9), st.floats(1.001, 100.0))
def test_more_water_more_flow(b, c, more):
    assert kinematic_root(b * more, c) > kinematic_root(b, c)
    assert kinematic_root(b, c * more) <= kinematic_root(b, c)
