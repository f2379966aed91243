"""The space that is searched: parameters with ranges, and the unit cube in which a search draws points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from wepl.calibrate.config import Range

# Share of a range within which a value is said to sit at its bound.
_AT_BOUND = 0.02


@dataclass(frozen=True)
class Space:
    """Parameters by name with their ranges, in a fixed order."""

    ranges: Mapping[str, Range]

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return list(self.ranges)

    def values(self, point: np.ndarray) -> dict[str, float]:
        """Parameters at a point of the unit cube."""
        result = {}
        for (name, one), share in zip(self.ranges.items(), point.tolist(), strict=True):
            if one.scale == "log":
                value = one.low * (one.high / one.low) ** share
            else:
                value = one.low + share * (one.high - one.low)
            result[name] = float(min(max(value, one.low), one.high))
        return result

    def point(self, values: Mapping[str, float]) -> np.ndarray:
        """Point of the unit cube of parameters within their ranges."""
        shares = [np.log(values[name] / one.low) / np.log(one.high / one.low) if one.scale == "log"
                  else (values[name] - one.low) / (one.high - one.low) for name, one in self.ranges.items()]
        return np.clip(np.array(shares, dtype=float), 0.0, 1.0)

    def start(self, defaults: Mapping[str, float]) -> np.ndarray:
        """Where a search begins: what the file says, else the basin's own value where the range holds it."""
        values = {}
        for name, one in self.ranges.items():
            own = defaults.get(name.partition("@")[0], np.nan)
            middle = float(np.sqrt(one.low * one.high)) if one.scale == "log" else 0.5 * (one.low + one.high)
            values[name] = one.start if one.start is not None else own if one.low <= own <= one.high else middle
        return self.point(values)

    def at_bounds(self, values: Mapping[str, float]) -> dict[str, str]:
        """``low`` or ``high`` for each parameter that sits at a bound of its range."""
        point = self.point(values)
        return {name: "low" if share < 0.5 else "high" for name, share in zip(self.names, point, strict=True)
                if min(share, 1.0 - share) < _AT_BOUND}
