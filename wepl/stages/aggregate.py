"""Tile values to unit values: weighted sums over a unit's tiles in stored order."""

from __future__ import annotations

import numba

from wepl.physics.jit import kernel


@kernel
def unit_mean(n_units, n_steps, record, tile_start, tile_list, weight, result):
    """``result[item, step, unit]`` = sum over the unit's tiles of ``weight[item, tile] * record[item, step, tile]``.

    Eq. (1.1), the weights being shares of the unit.
    """
    for unit in numba.prange(n_units):
        for item in range(record.shape[0]):
            for step in range(n_steps):
                total = 0.0
                for place in range(tile_start[unit], tile_start[unit + 1]):
                    tile = tile_list[place]
                    total += weight[item, tile] * record[item, step, tile]
                result[item, step, unit] = total
