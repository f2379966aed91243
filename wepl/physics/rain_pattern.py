"""How a day's rain is spread over its hours (docs/theory/space-time.md, eqs. 2.2 and 2.3)."""

from __future__ import annotations

from wepl.physics.constants import DAY, HOUR
from wepl.physics.jit import physics

_PEAK = 0.4


@physics
def storm_duration(depth):
    """Length, s, of the storm that brings ``depth`` m in a day, 1 to 24 h; eq. (2.2)."""
    if depth <= 0.0:
        return HOUR
    return HOUR * min(24.0, max(1.0, 2.5 * (1000.0 * depth) ** 0.4))


@physics
def _fallen(share):
    """Share of the depth fallen by ``share`` of the storm's length; eq. (2.3)."""
    if share <= 0.0:
        return 0.0
    if share >= 1.0:
        return 1.0
    if share <= _PEAK:
        return share * share / _PEAK
    rest = 1.0 - share
    return 1.0 - rest * rest / (1.0 - _PEAK)


@physics
def storm_depth(depth, start, end):
    """Rain, m, between ``start`` and ``end`` (s since the day began) of a day with ``depth`` m; eq. (2.3).

    The storm is centred in the day and its triangular intensity peaks at 0.4 of its length.
    """
    duration = storm_duration(depth)
    begin = 0.5 * (DAY - duration)
    return depth * (_fallen((end - begin) / duration) - _fallen((start - begin) / duration))
