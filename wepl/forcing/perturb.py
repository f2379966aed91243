"""Perturbed forcing: noise on rain and temperature of each member, correlated in time and between cells.

Rain of a cell is multiplied by exp(s e - s2/2), whose mean is one, so that no water is made or lost on average; s2 =
ln(1 + c2) where c is the coefficient of variation that the user gives. Temperature gets t e' added. e and e' are
independent standard normal fields: first order autoregressive in time, with correlation exp(-dt/tau) from one step to
the next, and with correlation exp(-d/L) between cells at a distance d. Numbers are drawn per member and per fixed
stretch of steps, so that they depend neither on how members are batched nor on the length of blocks.

Source of the form: Evensen (2003), doi:10.1007/s10236-003-0036-9; lognormal rain as in Nijssen and Lettenmaier (2004),
doi:10.1029/2003JD003497.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry
from wepl.errors import InputError

if TYPE_CHECKING:
    from wepl.basin.dataset import Basin

_EARTH_KM = 6371.0
_MOST_CELLS = 4000
_STRETCH = 16
_ROWS = ("precipitation", "air_temperature")


@dataclass(frozen=True)
class Noise:
    """What the user asks for.

    Attributes
    ----------
    rain : float
        Coefficient of variation of the factor of rain.
    temperature : float
        Standard deviation of what is added to temperature, K.
    days : float
        Decorrelation time tau in days; 0 for noise without memory.
    km : float
        Decorrelation length L in km; 0 for cells on their own, infinite for one noise in all cells.
    seed : int
    control : bool
        Whether member 0 has the forcing as it is.
    """

    rain: float = 0.0
    temperature: float = 0.0
    days: float = 2.0
    km: float = 50.0
    seed: int = 0
    control: bool = False

    def check(self) -> None:
        """Refuse numbers that make no noise.

        Raises
        ------
        InputError
            A number is negative or not finite.
        """
        for name, value, most in (("--rain-noise", self.rain, 10.0), ("--temperature-noise", self.temperature, 50.0),
                                  ("--noise-days", self.days, 1e6), ("--noise-km", self.km, math.inf)):
            if not 0.0 <= value <= most:
                raise InputError(f"{name} {value:g}: give a number from 0 to {most:g}")

    def __bool__(self) -> bool:
        return self.rain > 0.0 or self.temperature > 0.0


class PerturbedForcing:
    """Forcing of some members side by side: ``[row, step, member * cell]``, read from the first step on in order.

    Parameters
    ----------
    basin : Basin
    noise : Noise
    numbers : sequence of int
        Numbers of the members in the whole ensemble: each has random numbers of its own.
    first : int
        Step at which the run begins.
    factor : ndarray
        :func:`spatial_factor` of the basin.
    """

    def __init__(self, basin: Basin, noise: Noise, numbers: Sequence[int], first: int, factor: np.ndarray) -> None:
        self._basin, self._noise, self._numbers, self._first = basin, noise, list(numbers), first
        self._factor = factor
        self._spread = math.sqrt(math.log1p(noise.rain**2))
        step = basin.clock.step_seconds / 86400.0
        self._memory = math.exp(-step / noise.days) if noise.days > 0.0 else 0.0
        self._generators = [[np.random.default_rng(np.random.SeedSequence(noise.seed, spawn_key=(number, row)))
                             for number in self._numbers] for row in range(len(_ROWS))]
        self._field = np.zeros((len(_ROWS), len(self._numbers), factor.shape[0]))
        self._drawn = first
        self._waiting = np.zeros((len(_ROWS), 0, len(self._numbers), factor.shape[0]))

    def read(self, first: int, last: int) -> np.ndarray:
        """Steps ``first`` to ``last`` (not included) in internal units.

        Raises
        ------
        InputError
            The noise leads out of what the model accepts.
        """
        given = self._basin.forcing.read(first, last)
        n_members, n_cells = len(self._numbers), given.shape[2]
        forcing = np.repeat(given[:, :, np.newaxis], n_members, axis=2)
        noise = self.noise(last - first)
        rain = registry.row("precipitation")
        air = registry.row("air_temperature")
        for member, number in enumerate(self._numbers):
            if number == 0 and self._noise.control:
                continue
            if self._noise.rain > 0.0:
                forcing[rain, :, member] *= np.exp(self._spread * noise[0, :, member] - 0.5 * self._spread**2)
            if self._noise.temperature > 0.0:
                forcing[air, :, member] += self._noise.temperature * noise[1, :, member]
        self._check(forcing[rain], "precipitation", "--rain-noise", first)
        self._check(forcing[air], "air_temperature", "--temperature-noise", first)
        return forcing.reshape(given.shape[0], last - first, n_members * n_cells)

    def noise(self, n_steps: int) -> np.ndarray:
        """The next steps of the standard normal fields, ``[rain or temperature, step, member, cell]``."""
        while self._waiting.shape[1] < n_steps:
            self._waiting = np.concatenate([self._waiting, self._stretch()], axis=1)
        taken, self._waiting = self._waiting[:, :n_steps], self._waiting[:, n_steps:]
        return taken

    def _stretch(self) -> np.ndarray:
        n_cells = self._factor.shape[0]
        stretch = np.empty((len(_ROWS), _STRETCH, len(self._numbers), n_cells))
        fresh = math.sqrt(1.0 - self._memory**2)
        for row, generators in enumerate(self._generators):
            for member, generator in enumerate(generators):
                drawn = generator.standard_normal((_STRETCH, self._factor.shape[1]))
                # Not a matrix product: its sums would depend on the number of threads.
                stretch[row, :, member] = np.einsum("tj,ij->ti", drawn, self._factor, optimize=False)
            for step in range(_STRETCH):
                begins = self._drawn == self._first and step == 0
                new = stretch[row, step] * (1.0 if begins else fresh)
                self._field[row] = new if begins else self._memory * self._field[row] + new
                stretch[row, step] = self._field[row]
        self._drawn += _STRETCH
        return stretch

    def _check(self, values: np.ndarray, name: str, option: str, first: int) -> None:
        low, high = registry.variable(name).valid
        if values.min() >= low and values.max() <= high:
            return
        bad = np.argwhere(~((values >= low) & (values <= high)))[0]
        entry = registry.variable(name)
        raise InputError(f"{option} brings {name} of member {self._numbers[bad[1]]}, cell "
                         f"{self._basin.forcing.cells[bad[2]]}, {self._basin.clock.label(first + int(bad[0]))} to "
                         f"{values[tuple(bad)]:g} {entry.units}, outside {low:g} to {high:g}: give less noise")


def spatial_factor(basin: Basin, km: float) -> np.ndarray:
    """``F[cell, source]`` that makes correlated fields of independent normal numbers: F F' is the correlation.

    Raises
    ------
    InputError
        The places of the cells are not known, or there are too many of them.
    """
    n_cells = len(basin.forcing.cells)
    if math.isinf(km) or n_cells == 1:
        return np.ones((n_cells, 1))
    if n_cells > _MOST_CELLS:
        raise InputError(f"noise that is correlated between {n_cells} cells needs a matrix of "
                         f"{n_cells**2 * 8 / 1e9:.1f} GB: up to {_MOST_CELLS} cells are accepted; --noise-km inf gives "
                         "one noise in all cells")
    if km == 0.0:
        return np.eye(n_cells)
    longitude, latitude = _cell_centres(basin)
    x, y = np.radians(longitude), np.radians(latitude)
    half = (np.sin(0.5 * (y[:, None] - y)) ** 2 + np.cos(y)[:, None] * np.cos(y) * np.sin(0.5 * (x[:, None] - x)) ** 2)
    distance = 2.0 * _EARTH_KM * np.arcsin(np.sqrt(np.minimum(1.0, half)))
    correlation = np.exp(-distance / km)
    # Cells at one place are one: what this adds is far below what a sample could show.
    correlation[np.diag_indices(n_cells)] += 1e-10
    return np.linalg.cholesky(correlation)


def _cell_centres(basin: Basin) -> tuple[np.ndarray, np.ndarray]:
    """Longitude and latitude of each cell: the mean of its units, weighted by area; others have none and are refused.

    A cell without units is never looked at, so it takes the place of the first one that has some.
    """
    parameters = basin.parameters
    if "unit_longitude" not in parameters or not np.isfinite(parameters["unit_longitude"].values).all():
        raise InputError("noise that is correlated over a distance needs unit_longitude in the basin file: add it, or "
                         "give --noise-km inf (one noise in all cells) or 0 (each cell on its own)")
    cells, unit_cell = parameters["cell"].values, parameters["unit_cell"].values
    order = np.argsort(cells, kind="stable")
    place = order[np.searchsorted(cells, unit_cell, sorter=order)]
    area = parameters["unit_area"].values
    total = np.bincount(place, weights=area, minlength=cells.size)
    used = total > 0.0
    centres = []
    for name in ("unit_longitude", "unit_latitude"):
        summed = np.bincount(place, weights=area * parameters[name].values, minlength=cells.size)
        centre = summed / np.where(used, total, 1.0)
        centres.append(np.where(used, centre, centre[np.argmax(used)]))
    return centres[0], centres[1]
