"""The one equation of kinematic routing (docs/theory/overland.md, eq. 12.3; river.md, eq. 13.3)."""

from __future__ import annotations

from wepl.physics.jit import physics

# From the start below, at most 2^(1/3) times the root, the error falls to rounding in six steps.
NEWTON_STEPS = 6


@physics
def kinematic_root(b, c):
    """The y >= 0 with ``y^3 + c y^5 = b`` (b, c >= 0).

    Both ``b^(1/3)`` and ``(b/c)^(1/5)`` lie at or above the root, where the left side is convex: Newton falls to the
    root from above without overshoot, whatever the Courant number.
    """
    if b <= 0.0:
        return 0.0
    y = b ** (1.0 / 3.0)
    if c * y * y > 1.0:
        y = (b / c) ** 0.2
    for _ in range(NEWTON_STEPS):
        square = y * y
        y -= (y * (1.0 + c * square) - b / square) / (3.0 + 5.0 * c * square)
    return y
