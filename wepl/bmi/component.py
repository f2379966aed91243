"""The component: BMI 2.0 over the engine. Grids: 0 units, 1 reaches with the links between them, 2 forcing cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wepl import registry
from wepl.bmi import config as configuration
from wepl.bmi.engine import Engine
from wepl.bmi.names import EXTERNAL, FORCING, GRIDS, INFLOW, RIVER, UNITS, VOLUME, Item
from wepl.errors import InputError, WeplError
from wepl.run.balance import BalanceReport

_ROUNDING = 1e-9  # of a step, in the times of update_until


class WeplBmi:
    """WEP-L as a component with the Basic Model Interface 2.0.

    Time is in seconds from the start of the run. Forcing that is set holds for the next step; then the basin's own
    comes again. Inflow from outside holds until it is set again. Values are internal units of the registry, which
    ``get_var_units`` names.
    """

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._items: dict[str, Item] = {}
        self._inputs: tuple[str, ...] = ()
        self._outputs: tuple[str, ...] = ()
        self._values: dict[str, np.ndarray] = {}
        self._volume: np.ndarray = np.zeros(0)
        self._area: np.ndarray = np.zeros(0)

    def initialize(self, config_file: str) -> None:
        """Open the basin of a TOML file (docs/bmi.md) and bring the model to its start.

        Raises
        ------
        InputError
            The file or something it names cannot be used.
        """
        given = configuration.read(config_file)
        engine = Engine(given)
        forcing = [item for item in FORCING if item.variable in engine.basin.forcing.available]
        chosen = [item for item in UNITS if item.variable in given.variables]
        self._engine = engine
        self._items = {item.name: item for item in (*forcing, EXTERNAL, *RIVER, *chosen)}
        self._inputs = (*(item.name for item in forcing), INFLOW, VOLUME)
        self._outputs = tuple(item.name for item in (*RIVER, *chosen))
        self._values = {name: np.zeros(self._size(item.place)) for name, item in self._items.items()}
        parameters = engine.basin.parameters
        place = {int(number): at for at, number in enumerate(parameters["subbasin"].values)}
        at = [place[int(number)] for number in parameters["unit_subbasin"].values]
        self._area = np.bincount(at, weights=parameters["unit_area"].values, minlength=len(place))
        self._take_forcing()
        self._take_volume()

    def update(self) -> None:
        """Advance by one step.

        Raises
        ------
        InputError
            The run is over, or a value that was set cannot be used.
        NumericalError
            A kernel met a value that it cannot go on with.
        """
        engine = self._running()
        if engine.at >= engine.last:
            raise InputError(f"the run ended at {engine.basin.clock.label(engine.last)}: it cannot be updated")
        forcing = engine.forcing()
        for name in self._inputs:
            self._check(self._items[name])
            if self._items[name].place == "cell":
                forcing[registry.row(self._items[name].variable)] = self._values[name]
        if not np.array_equal(self._values[VOLUME], self._volume):
            engine.set_river_volume(self._values[VOLUME])
        found = engine.step(forcing, self._values[INFLOW])
        step = engine.basin.clock.step_seconds
        for name in self._outputs:
            item = self._items[name]
            if name != VOLUME:
                divisor: Any = {"": 1.0, "step": step, "area": self._area}[item.per]
                self._values[name][:] = found[item.variable] / divisor
        self._take_forcing()
        self._take_volume()

    def update_until(self, time: float) -> None:
        """Advance to a time, s, which must be the end of a step.

        Raises
        ------
        InputError
            The time is over, after the end, or within a step.
        """
        steps = (time - self.get_current_time()) / self.get_time_step()
        if steps < -_ROUNDING or abs(steps - round(steps)) > _ROUNDING or time > self.get_end_time():
            raise InputError(f"update_until {time:g} s: give the end of a step of {self.get_time_step():g} s from "
                             f"{self.get_current_time():g} to {self.get_end_time():g} s")
        for _ in range(round(steps)):
            self.update()

    def finalize(self) -> None:
        """Let the model go."""
        self.__init__()  # type: ignore[misc]

    def balance(self) -> BalanceReport:
        """Water balance since the start (not of the BMI); water from outside stands in its residual."""
        return self._running().balance()

    def _running(self) -> Engine:
        if self._engine is None:
            raise InputError("the component is not initialized: call initialize with a TOML file")
        return self._engine

    def _item(self, name: str) -> Item:
        self._running()
        if name not in self._items:
            raise InputError(f"there is no variable {name!r}: choose from {', '.join(self._items)}")
        return self._items[name]

    def _size(self, place: str) -> int:
        engine = self._running()
        return len(engine.basin.forcing.cells) if place == "cell" else int(engine.basin.parameters.sizes[place])

    def _take_forcing(self) -> None:
        """The basin's own forcing of the next step, where it may be set."""
        forcing = self._running().forcing()
        for name in self._inputs:
            if self._items[name].place == "cell":
                self._values[name][:] = forcing[registry.row(self._items[name].variable)]

    def _take_volume(self) -> None:
        self._volume = self._running().river_volume()
        self._values[VOLUME][:] = self._volume

    def _check(self, item: Item) -> None:
        """Refuse a value that the model cannot take."""
        values = self._values[item.name]
        low, high = registry.variable(item.variable).valid if item.variable else (0.0, np.inf)
        low = max(low, 0.0) if item.place == "subbasin" else low
        bad = ~(np.isfinite(values) & (values >= low) & (values <= high))
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            raise InputError(f"{item.name} is {values[at]:g} {item.units} at place {at}, outside {low:g} to {high:g}: "
                             "set a value within")

    def get_component_name(self) -> str:
        """Name of the component."""
        return "WEP-L"

    def get_input_item_count(self) -> int:
        """Number of variables that can be set."""
        return len(self._inputs)

    def get_output_item_count(self) -> int:
        """Number of variables that are given."""
        return len(self._outputs)

    def get_input_var_names(self) -> tuple[str, ...]:
        """CSDMS names of what can be set: forcing, inflow from outside, and water in the reaches."""
        return self._inputs

    def get_output_var_names(self) -> tuple[str, ...]:
        """CSDMS names of what is given."""
        return self._outputs

    def get_var_grid(self, name: str) -> int:
        """Grid of a variable: 0 units, 1 reaches, 2 forcing cells."""
        return GRIDS[self._item(name).place]

    def get_var_type(self, name: str) -> str:
        """Type of a variable's values."""
        return str(self._values[self._item(name).name].dtype)

    def get_var_units(self, name: str) -> str:
        """Unit of a variable, as UDUNITS reads it."""
        return self._item(name).units

    def get_var_itemsize(self, name: str) -> int:
        """Bytes of one value."""
        return int(self._values[self._item(name).name].itemsize)

    def get_var_nbytes(self, name: str) -> int:
        """Bytes of all values."""
        return int(self._values[self._item(name).name].nbytes)

    def get_var_location(self, name: str) -> str:
        """Where values stand on the grid."""
        self._item(name)
        return "node"

    def get_current_time(self) -> float:
        """Seconds from the start of the run to the next step."""
        engine = self._running()
        return (engine.at - engine.first) * engine.basin.clock.step_seconds

    def get_start_time(self) -> float:
        """Start of the run: 0 s."""
        return 0.0

    def get_end_time(self) -> float:
        """Seconds from the start of the run to its end."""
        engine = self._running()
        return (engine.last - engine.first) * engine.basin.clock.step_seconds

    def get_time_units(self) -> str:
        """Unit of times."""
        return "s"

    def get_time_step(self) -> float:
        """Length of a step, s."""
        return self._running().basin.clock.step_seconds

    def get_value(self, name: str, dest: NDArray[Any]) -> NDArray[Any]:
        """Copy the values of a variable into ``dest``."""
        dest[:] = self._values[self._item(name).name]
        return dest

    def get_value_ptr(self, name: str) -> NDArray[Any]:
        """The array of a variable itself: it follows the model, and what is written to it is set."""
        return self._values[self._item(name).name]

    def get_value_at_indices(self, name: str, dest: NDArray[Any], inds: NDArray[np.int_]) -> NDArray[Any]:
        """Copy the values of a variable at places into ``dest``."""
        dest[:] = self._values[self._item(name).name][inds]
        return dest

    def set_value(self, name: str, src: NDArray[Any]) -> None:
        """Set a variable; it is checked at the next update.

        Raises
        ------
        InputError
            The variable cannot be set.
        """
        self._settable(name)[:] = src

    def set_value_at_indices(self, name: str, inds: NDArray[np.int_], src: NDArray[Any]) -> None:
        """Set a variable at places; see :meth:`set_value`."""
        self._settable(name)[inds] = src

    def _settable(self, name: str) -> np.ndarray:
        if self._item(name).name not in self._inputs:
            raise InputError(f"{name} cannot be set: choose from {', '.join(self._inputs)}")
        return self._values[name]

    def get_grid_rank(self, grid: int) -> int:
        """Dimensions of space: 2."""
        self._place(grid)
        return 2

    def get_grid_size(self, grid: int) -> int:
        """Number of places."""
        return self._size(self._place(grid))

    def get_grid_type(self, grid: int) -> str:
        """All grids are ``unstructured``."""
        self._place(grid)
        return "unstructured"

    def get_grid_node_count(self, grid: int) -> int:
        """Number of places."""
        return self.get_grid_size(grid)

    def get_grid_edge_count(self, grid: int) -> int:
        """Number of links between reaches; 0 on the other grids."""
        return len(self._links()) if self._place(grid) == "subbasin" else 0

    def get_grid_face_count(self, grid: int) -> int:
        """No grid has faces."""
        self._place(grid)
        return 0

    def get_grid_edge_nodes(self, grid: int, edge_nodes: NDArray[np.int_]) -> NDArray[np.int_]:
        """Upper and lower reach of each link, one after the other."""
        if self._place(grid) == "subbasin":
            edge_nodes[:] = self._links().ravel()
        return edge_nodes

    def get_grid_x(self, grid: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Longitude of the places, degrees east."""
        x[:] = self._coordinates(grid, "longitude")
        return x

    def get_grid_y(self, grid: int, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Latitude of the places, degrees north."""
        y[:] = self._coordinates(grid, "latitude")
        return y

    def get_grid_z(self, grid: int, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The grids have two dimensions."""
        raise self._absent(grid, "z")

    def get_grid_shape(self, grid: int, shape: NDArray[np.int_]) -> NDArray[np.int_]:
        """Unstructured grids have no shape."""
        raise self._absent(grid, "shape")

    def get_grid_spacing(self, grid: int, spacing: NDArray[np.float64]) -> NDArray[np.float64]:
        """Unstructured grids have no spacing."""
        raise self._absent(grid, "spacing")

    def get_grid_origin(self, grid: int, origin: NDArray[np.float64]) -> NDArray[np.float64]:
        """Unstructured grids have no origin."""
        raise self._absent(grid, "origin")

    def get_grid_nodes_per_face(self, grid: int, nodes_per_face: NDArray[np.int_]) -> NDArray[np.int_]:
        """No grid has faces: ``nodes_per_face`` has no places and stays as it is."""
        self._place(grid)
        return nodes_per_face

    def get_grid_face_edges(self, grid: int, face_edges: NDArray[np.int_]) -> NDArray[np.int_]:
        """No grid has faces: ``face_edges`` has no places and stays as it is."""
        self._place(grid)
        return face_edges

    def get_grid_face_nodes(self, grid: int, face_nodes: NDArray[np.int_]) -> NDArray[np.int_]:
        """No grid has faces: ``face_nodes`` has no places and stays as it is."""
        self._place(grid)
        return face_nodes

    def _place(self, grid: int) -> str:
        self._running()
        for place, number in GRIDS.items():
            if number == grid:
                return place
        raise InputError(f"there is no grid {grid}: choose from {', '.join(map(str, GRIDS.values()))}")

    def _absent(self, grid: int, what: str) -> WeplError:
        return InputError(f"grid {grid} ({self._place(grid)}) is unstructured and has no {what}")

    def _links(self) -> np.ndarray:
        """Positions of the upper and lower sub-basin of each link."""
        parameters = self._running().basin.parameters
        identifiers = parameters["subbasin"].values
        place = {int(number): at for at, number in enumerate(identifiers)}
        return np.array([(at, place[int(below)]) for at, below in enumerate(parameters["downstream"].values)
                         if int(below) in place], dtype=np.int32).reshape(-1, 2)

    def _coordinates(self, grid: int, axis: str) -> np.ndarray:
        place = self._place(grid)
        engine = self._running()
        parameters = engine.basin.parameters
        name = f"{'unit' if place == 'cell' else place}_{axis}"
        if name not in parameters:
            raise InputError(f"the basin has no {name}, which the coordinates of grid {grid} need")
        values = parameters[name].values
        if place != "cell":
            return values
        # A cell stands in the middle of its units.
        cells = engine.basin.forcing.cells
        at = np.searchsorted(cells, parameters["unit_cell"].values, sorter=np.argsort(cells))
        at = np.argsort(cells)[at]
        count = np.bincount(at, minlength=cells.size)
        mean = np.bincount(at, weights=values, minlength=cells.size) / np.maximum(count, 1)
        return np.where(count > 0, mean, values.mean())
