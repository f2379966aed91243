"""The model stepped one forcing step at a time, with inflow from outside into its reaches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl import backends, registry
from wepl.basin.dataset import Basin
from wepl.errors import InputError
from wepl.kernels import buffers
from wepl.run.assembly import assemble, vegetation_table
from wepl.run.balance import close
from wepl.run.model import Model
from wepl.run.outputs import UnitOutputs, select
from wepl.run.simulation import resolve_options

if TYPE_CHECKING:
    from wepl.bmi.config import Config
    from wepl.run.balance import BalanceReport


class _WithInflow:
    """A backend that adds water from outside to the reaches' inflow before the river kernel reads it."""

    def __init__(self, backend: backends.Backend) -> None:
        self._backend = backend
        self.volume: np.ndarray | None = None  # m3 in a routing step, by sub-basin

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def launch(self, kernel: str, values: Mapping[str, Any]) -> None:
        """Run a kernel; see :meth:`wepl.backends.Backend.launch`."""
        if kernel == "river" and self.volume is not None:
            inflow = self._backend.download(values["inflow"]).copy()
            inflow[registry.row("surface_inflow")] += self.volume
            values = {**values, "inflow": self._backend.upload(inflow, buffers.buffer("inflow").dtype)}
        self._backend.launch(kernel, values)


class Engine:
    """A basin on a backend, one step at a time.

    Parameters
    ----------
    config : Config

    Attributes
    ----------
    basin : Basin
    first, last, at : int
        First step, the one after the last, and the next one to compute.
    """

    def __init__(self, config: Config) -> None:
        self.basin = Basin.open(config.basin)
        _cut(self.basin, config.coupled_reaches)
        clock = self.basin.clock
        self.first = clock.index(config.start) if config.start else 0
        self.last = clock.index(config.end, end=True) + 1 if config.end else clock.n_steps
        if self.last <= self.first:
            raise InputError(f"the run would end ({config.end}) before it starts ({config.start})")
        self.basin.check_forcing(self.first, self.last)
        self._options = resolve_options(self.basin, config.options)
        selection = select(config.variables, self.basin.parameters.sizes["soil_layer"])
        self._arrays = assemble(self.basin, self._options)
        available = self.basin.forcing.available
        self._backend = _WithInflow(backends.create(config.backend, config.precision, config.threads))
        self._model = Model(self._backend, self._arrays, selection, clock.step_seconds, 1,  # type: ignore[arg-type]
                            ("shortwave_radiation" in available, "longwave_radiation" in available))
        self._outputs = UnitOutputs(selection, self._arrays)
        self.at = self.first
        if config.from_state is not None:
            self._load(config)
        elif self._options["energy_balance"]:
            self._start_temperatures()
        self._before = self._model.state()

    def forcing(self) -> np.ndarray:
        """Forcing ``[row, cell]`` of the next step, or of the last one when the run is over; internal units."""
        at = min(self.at, self.last - 1)
        return np.asarray(self.basin.forcing.read(at, at + 1))[:, 0]

    def step(self, forcing: np.ndarray, inflow: np.ndarray) -> dict[str, np.ndarray]:
        """Compute the next step.

        Parameters
        ----------
        forcing : ndarray
            ``[row, cell]``, internal units.
        inflow : ndarray
            Inflow from outside into each reach, m3 s-1.

        Returns
        -------
        dict of str to ndarray
            Reach series ``[subbasin]`` and chosen unit variables ``[unit]`` of the step by registry name.

        Raises
        ------
        NumericalError
            A kernel met a value that it cannot go on with.
        """
        clock, at = self.basin.clock, self.at
        calendar = np.stack([clock.day_of_year(at, at + 1), clock.solar_hour(at, at + 1)])
        vegetation = vegetation_table(self.basin.parameters, clock, at, at + 1, self._options)
        # Where nothing comes from outside nothing is touched, so that the bits are those of a run.
        volume = inflow * clock.step_seconds / self._model.n_route
        self._backend.volume = volume if inflow.any() else None
        block = self._model.advance(forcing[:, None], calendar, vegetation)
        if self._model.problem() is not None:
            self._model.raise_problem(self.basin.parameters["unit"].values, self.basin.parameters["subbasin"].values,
                                      clock.label(at))
        self.at += 1
        values = {entry.name: block.series[row, 0] for row, entry in enumerate(registry.layout("series"))}
        return values | {name: array[0] for name, array in self._outputs.block(block.record, 1).items()}

    def river_volume(self) -> np.ndarray:
        """Water in the reach of each sub-basin, m3."""
        stored = self._backend.download(self._model.values["river_state"])[registry.row("river_storage")]
        return np.bincount(self._reach_of_cell(), weights=stored, minlength=self.basin.parameters.sizes["subbasin"])

    def set_river_volume(self, volume: np.ndarray) -> None:
        """Put water into the reaches, m3, shared among the cells of a reach as it was, or evenly where it was dry."""
        state = self._model.state()
        reach, stored = self._reach_of_cell(), state["river_storage"]
        old = self.river_volume()
        cells = np.bincount(reach, minlength=old.size)
        share = np.where(old[reach] > 0.0, stored / np.where(old > 0.0, old, 1.0)[reach], 1.0 / cells[reach])
        # A reach whose volume stays keeps its bits.
        state["river_storage"] = np.where(volume[reach] == old[reach], stored, share * volume[reach])
        self._model.set_state(state)

    def balance(self) -> BalanceReport:
        """Water balance since the start; water from outside stands in its residual."""
        return close(self._before, self._model.state(), self._arrays, self.basin)

    def _reach_of_cell(self) -> np.ndarray:
        cells = np.diff(self._arrays.values["cell_start"])
        return np.repeat(np.arange(cells.size), cells)

    def _load(self, config: Config) -> None:
        from wepl.run.restart import load_state

        assert config.from_state is not None
        shapes = {name: array.shape for name, array in self._model.state().items()}
        self._model.set_state(load_state(config.from_state, basin=self.basin, clock=self.basin.clock, at=self.first,
                                         shapes=shapes))

    def _start_temperatures(self) -> None:
        """As a run does: the force-restore scheme starts at the mean air temperature of the first day."""
        steps = max(1, int(86400 / self.basin.clock.step_seconds))
        forcing = self.basin.forcing.read(self.first, min(self.last, self.first + steps))
        unit = self._arrays.unit_of_tile
        mean = forcing[registry.row("air_temperature")].mean(axis=0)[self._arrays.values["unit_cell"][unit]]
        state = self._model.state()
        difference = self._arrays.values["unit_parameter"][registry.row("elevation_difference"), unit]
        for name in ("surface_temperature", "deep_temperature"):
            state[name] = mean - self._options["temperature_lapse_rate"] * difference
        self._model.set_state(state)


def _cut(basin: Basin, reaches: tuple[int, ...]) -> None:
    """Make outlets of the reaches whose outflow goes to another component."""
    identifiers = basin.parameters["subbasin"].values
    unknown = [number for number in reaches if number not in identifiers]
    if unknown:
        raise InputError(f"coupled_reaches: there is no sub-basin {unknown[0]} in {basin.path}")
    below = basin.parameters["downstream"].values.copy()
    below[np.isin(identifiers, reaches)] = -1
    basin.parameters["downstream"] = (("subbasin",), below)
