"""The one equation of kinematic routing (docs/theory/overland.md, eq. 12.3; river.md, eq. 13.3)."""

from __future__ import annotations

from wepl.physics.jit import physics

# From the start below, at most 2^(1/3) times the root, the error falls to 7e-3, 3e-7 and rounding.
HALLEY_STEPS = 3


@physics
def kinematic_root(b, c):
    """The y >= 0 with ``y^3 + c y^5 = b`` (b, c >= 0).

    Both ``b^(1/3)`` and ``(b/c)^(1/5)`` lie at or above the root, at most a quarter, whatever the Courant number:
    Halley's steps, each with one division, reach it from there.
    """
    if b <= 0.0:
        return 0.0
    # The lower of the two: c (b^(1/3))^2 is above 1 where the second is.
    fast = (c * b) * (c * b) * c > 1.0
    y = (b / c if fast else b) ** (0.2 if fast else 1.0 / 3.0)
    for _ in range(HALLEY_STEPS):
        cube = y * y * y
        bent = c * y * y
        excess = cube * (1.0 + bent) - b
        slope = 3.0 + 5.0 * bent
        y -= 2.0 * y * excess * slope / (2.0 * cube * slope * slope - excess * (6.0 + 20.0 * bent))
    return y
