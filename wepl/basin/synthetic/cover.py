"""Land cover of the contour bands: shares of the land classes by elevation, with the published totals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wepl.basin.synthetic import facts
from wepl.basin.synthetic.terrain import Bands
from wepl.registry import LAND_CLASSES

# Kinds of the built-in vegetation table.
BROADLEAF, NEEDLELEAF, MIXED, SHRUB, GRASS, DRY_CROP, PADDY, ORCHARD = 0, 1, 3, 4, 5, 6, 7, 8
_SMALLEST_SHARE = 0.004  # smaller patches of a class are left out: each costs a column of its own
_BARE_SHARE = 0.15  # of the open land (grass, shrub, bare)
# Shares of water in the mountains and hills: the published 12 % of plain is the plain without water, likewise above.
_WATER_ABOVE = {"mountain": 0.008, "hill": 0.007}
_USES = ("paddy", "dry_crop", "orchard", "built", "open")


@dataclass
class Cover:
    """Land of each band.

    Attributes
    ----------
    fraction : ndarray, shape (unit, land_class)
        Shares of the unit in ``registry.LAND_CLASSES``; they add to 1.
    forest, open_land : ndarray
        Shares of the unit under forest and under grass or shrub; with the bare rest they fill ``soil_vegetation``.
    tall, short, non_irrigated : ndarray of int
        Vegetation kinds.
    """

    fraction: np.ndarray
    forest: np.ndarray
    open_land: np.ndarray
    tall: np.ndarray
    short: np.ndarray
    non_irrigated: np.ndarray

    def of(self, land_class: str) -> np.ndarray:
        """Share of the units in one land class."""
        return self.fraction[:, LAND_CLASSES.index(land_class)]


def build_cover(bands: Bands, random: np.random.Generator) -> Cover:
    """Land cover of the bands; the totals over the basin are ``facts.LAND_SHARES``."""
    n = bands.area.size
    weight = bands.area / bands.area.sum()
    water = _water(bands, weight, random)
    land = 1.0 - water
    forest = _forest(bands, weight, land, random)
    orchard = _orchard_units(bands, random)
    uses = _uses(bands, weight, land - forest, orchard, random)
    paddy, dry, fruit, built, open_land = uses.T
    fraction = np.zeros((n, len(LAND_CLASSES)))
    fraction[:, LAND_CLASSES.index("water")] = water
    fraction[:, LAND_CLASSES.index("irrigated")] = paddy
    fraction[:, LAND_CLASSES.index("non_irrigated")] = dry + fruit
    fraction[:, LAND_CLASSES.index("impervious")] = built
    fraction[:, LAND_CLASSES.index("soil_vegetation")] = forest + open_land
    fraction /= fraction.sum(axis=1, keepdims=True)
    draw = random.random(n)
    tall = np.select([bands.elevation > 600.0, draw < 0.5], [np.where(draw < 0.6, BROADLEAF, MIXED), NEEDLELEAF],
                     np.where(draw < 0.8, BROADLEAF, MIXED))
    short = np.where(bands.elevation > facts.HILL_ELEVATION, SHRUB, GRASS)
    return Cover(fraction, forest, open_land * (1.0 - _BARE_SHARE), tall, short, np.where(orchard, ORCHARD, DRY_CROP))


def _water(bands: Bands, weight: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Share of water: the lake and its wetlands low on the plain, rivers and reservoirs above."""
    shape = np.exp(0.5 * random.standard_normal(weight.size))
    shape *= np.exp(-(np.maximum(bands.elevation, 13.0) - 13.0) / 12.0) + 0.02
    hill, mountain = bands.elevation > facts.HILL_ELEVATION, bands.elevation > facts.MOUNTAIN_ELEVATION
    plain_total = facts.LAND_SHARES["water"] - sum(_WATER_ABOVE.values())
    water = np.zeros(weight.size)
    for zone, total in ((~hill, plain_total), (hill & ~mountain, _WATER_ABOVE["hill"]),
                        (mountain, _WATER_ABOVE["mountain"])):
        if not zone.any():
            continue
        total = min(total, 0.8 * weight[zone].sum())
        factor = _solve(lambda k, s=shape[zone], w=weight[zone]: np.sum(w * -np.expm1(-k * s)), total, 0.0, 1e4)
        water[zone] = -np.expm1(-factor * shape[zone])
    water[water < _SMALLEST_SHARE] = 0.0
    return water


def _forest(bands: Bands, weight: np.ndarray, land: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Share of forest: 0.9 of the land above 500 m, falling to 0.2 on the plain so that the total is met."""
    (high, most), (low, least) = facts.FOREST_ABOVE, facts.FOREST_PLAIN
    rise = np.clip(np.log(bands.elevation / low) / np.log(high / low), 0.0, 1.0)
    noise = 0.06 * np.clip(random.standard_normal(weight.size), -2.5, 2.5)

    def share(exponent: float) -> np.ndarray:
        return np.clip(least + (most - least) * rise**exponent + noise, 0.05, 0.97)

    exponent = _solve(lambda p: -np.sum(weight * land * share(p)), -facts.LAND_SHARES["forest"], 0.1, 6.0)
    return land * share(exponent)


def _orchard_units(bands: Bands, random: np.random.Generator) -> np.ndarray:
    """Units whose dry fields are orchards: slopes of the hills, mostly; one unit at least of each kind."""
    chance = np.where((bands.elevation > 60.0) & (bands.elevation < 400.0), 0.75, 0.1)
    orchard = random.random(chance.size) < chance
    by_height = np.argsort(bands.elevation, kind="stable")
    orchard[by_height[0]], orchard[by_height[chance.size // 2]] = False, True
    return orchard


def _uses(bands: Bands, weight: np.ndarray, room: np.ndarray, orchard: np.ndarray,
          random: np.random.Generator) -> np.ndarray:
    """Shares of paddy, dry crop, orchard, built and open land that fill ``room`` and add to the published totals.

    Iterative proportional fitting (Deming and Stephan 1940) of weights that fall with elevation and slope.
    """
    height = bands.elevation
    flat = np.exp(-bands.slope / 0.12)
    seeds = np.column_stack([
        0.02 + 4.0 * flat * np.exp(-height / 250.0),
        (0.1 + flat) * np.exp(-height / 200.0) * ~orchard,
        (0.3 + flat) * np.exp(-(((height - 160.0) / 160.0) ** 2)) * orchard + 1e-3 * orchard,
        0.01 + flat * np.exp(-height / 150.0),
        0.15 + np.minimum(height / 400.0, 2.0),
    ])
    seeds *= np.exp(0.35 * random.standard_normal(seeds.shape))
    shares = facts.LAND_SHARES
    total = np.array([shares["paddy"], shares["dry_crop"], shares["orchard"], shares["built"], 0.0])
    free = float(np.sum(weight * room))
    total[-1] = max(free - total.sum(), 0.1 * free)
    total *= free / total.sum()
    for smallest in (_SMALLEST_SHARE, 0.0):
        seeds = _fit(seeds, weight, room, total)
        seeds[:, :-1] = np.where(seeds[:, :-1] < smallest, 0.0, seeds[:, :-1])
    return _fit(seeds, weight, room, total)


def _fit(shares: np.ndarray, weight: np.ndarray, room: np.ndarray, total: np.ndarray) -> np.ndarray:
    for _ in range(60):
        shares = shares * (total / np.maximum(weight @ shares, 1e-300))
        shares = shares * (room / np.maximum(shares.sum(axis=1), 1e-300))[:, None]
    return shares


def _solve(function, target: float, low: float, high: float) -> float:
    """Where a rising function reaches ``target``, by bisection; an end of the range when it does not."""
    for _ in range(80):
        middle = 0.5 * (low + high)
        if function(middle) < target:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
