"""Basins of a few units built in memory, made-up weather, and runs of the whole model without files, for tests.

Everything is in the registry's internal units (SI, water in m). A run uses the model's own parts in the order of
:mod:`wepl.run.simulation`; ``test_invariants.py`` proves that both give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import xarray as xr

from wepl import backends, registry, rows
from wepl.basin.dataset import Basin
from wepl.basin.soils import texture_parameters
from wepl.errors import BackendError
from wepl.kernels import host
from wepl.run import assembly, balance, model, outputs, simulation
from wepl.run.balance_report import BalanceReport

DAY, HOUR, MM = 86400.0, 3600.0, 1e-3
MM_PER_DAY = MM / DAY
# Water of the whole run that may be lost to rounding, share of what passed (docs/theory/balance.md).
CLOSURE = 1e-9
# Some tens of operations in double precision, relative to what they add up.
ROUNDING = 1e-12
# Variables that may be negative.
TWO_WAY = ("surface_temperature", "deep_temperature", "groundwater_head", "water_table", "net_radiation", "latent_heat",
           "sensible_heat", "ground_heat", "groundwater_discharge", "baseflow", "lateral_inflow")
WATER, SOIL, IRRIGATED, NON_IRRIGATED, IMPERVIOUS = range(5)
MIXED_LAND = (0.05, 0.70, 0.10, 0.05, 0.10)
THICKNESS = {1: (1.5,), 3: (0.2, 0.4, 1.4), 12: (0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.3, 0.3, 0.3)}

# Every backend and precision on which the invariants are checked: a new one is one more line.
BACKENDS = (
    pytest.param(("cpu", "float64"), id="cpu"),
    pytest.param(("native", "float64"), id="native"),
    pytest.param(("emulate", "float64"), id="emulate"),
)


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> backends.Backend:
    """Each backend of :data:`BACKENDS`, skipped where it cannot run."""
    name, precision = request.param
    if name == "emulate" and host.compiler() is None:
        pytest.skip("the emulate backend needs a C++ compiler and found none")
    try:
        return backends.create(name, precision, threads=1)
    except BackendError as error:
        pytest.skip(str(error))


def weather(days: int, step: float = DAY, seed: int = 1, temperature: float = 17.0, wet: float = 0.4,
            depth: float = 12.0) -> dict[str, np.ndarray]:
    """Made-up weather of one cell, ``[time]`` each: days with rain of ``depth`` mm on the mean, seasons, sun.

    Values are constant within a day but for shortwave radiation of shorter steps, which follows the sun from 6 to 18 h.
    """
    random = np.random.default_rng(seed)
    day = np.arange(days)
    season = np.sin(2.0 * np.pi * (day - 110) / 365.0)
    fallen = (random.random(days) < wet) * random.exponential(depth, days) * MM_PER_DAY
    values = {
        "precipitation": fallen,
        "air_temperature": temperature + 12.0 * season + random.normal(0.0, 3.0, days),
        "relative_humidity": np.clip(0.75 + random.normal(0.0, 0.1, days), 0.2, 1.0),
        "wind_speed": np.abs(random.normal(2.0, 1.0, days)),
        "shortwave_radiation": (150.0 + 60.0 * season) * random.uniform(0.4, 1.4, days),
    }
    per_day = round(DAY / step)
    values = {name: np.repeat(series, per_day) for name, series in values.items()}
    values["shortwave_radiation"] *= np.tile(sun_course(per_day), days)
    return values


def sun_course(per_day: int) -> np.ndarray:
    """Factor of each of ``per_day`` steps on the day's mean radiation: half a sine from 6 to 18 h; mean 1."""
    edges = np.clip(np.arange(per_day + 1) * 24.0 / per_day, 6.0, 18.0)
    return 0.5 * per_day * -np.diff(np.cos(np.pi * (edges - 6.0) / 12.0))


def steady_weather(days: int, **values: float) -> dict[str, np.ndarray]:
    """The same mild weather every day, ``[time]`` each; values by name in internal units."""
    constant = {"precipitation": 4.0 * MM_PER_DAY, "air_temperature": 15.0, "relative_humidity": 0.75,
                "wind_speed": 2.0, "shortwave_radiation": 150.0} | values
    return {name: np.full(days, value) for name, value in constant.items()}


def basin(forcing: Mapping[str, np.ndarray], *, step: float = DAY, downstream: Sequence[int] = (-1,), bands: int = 1,
          layers: int = 3, land: Sequence[float] = MIXED_LAND, texture: str = "loam", start: str = "2010-01-01",
          calendar: str = "noleap", **values: object) -> xr.Dataset:
    """A basin laid out as a basin file, in internal units.

    Parameters
    ----------
    forcing : mapping
        ``[time]`` for one cell, or ``[time, cell]``.
    downstream : sequence of int
        Position of the sub-basin below each one, -1 at an outlet; identifiers are positions plus 1.
    bands : int
        Units per sub-basin.
    values
        Registry variables in internal units over the defaults below, of any shape that broadcasts to their dimensions.
    """
    n_subbasins = len(downstream)
    n_units = n_subbasins * bands
    series = {name: np.asarray(array) for name, array in forcing.items()}
    n_steps = next(iter(series.values())).shape[0]
    n_cells = max(array.shape[1] if array.ndim == 2 else 1 for array in series.values())
    thickness = THICKNESS.get(layers, (2.0 / layers,) * layers)
    order = np.tile(np.arange(bands) + 1, n_subbasins)
    height = 1.0 - (order - 0.5) / bands
    defaults: dict[str, object] = {
        "subbasin": np.arange(n_subbasins) + 1, "downstream": np.where(np.array(downstream) < 0, -1,
                                                                      np.array(downstream) + 1),
        "reach_length": 12e3, "reach_slope": 1e-3, "reach_width": 20.0, "cell": np.arange(n_cells) + 1,
        "cell_elevation": 100.0, "unit": np.arange(n_units) + 1,
        "unit_subbasin": np.repeat(np.arange(n_subbasins) + 1, bands), "unit_order": order,
        "unit_cell": np.arange(n_units) % n_cells + 1, "unit_area": 10e6, "unit_elevation": 100.0 + 300.0 * height,
        "unit_slope": 0.02 + 0.3 * height, "unit_flow_length": 400.0, "unit_latitude": 28.0, "unit_longitude": 0.0,
        "land_fraction": np.asarray(land), "soil_thickness": np.asarray(thickness), **texture_parameters(texture),
    } | values
    sizes = {"subbasin": n_subbasins, "unit": n_units, "cell": n_cells, "land_class": 5, "soil_layer": layers}
    variables = {}
    for name, given in defaults.items():
        entry = registry.variable(name)
        shape = tuple(sizes.get(dim) or np.shape(given)[axis] for axis, dim in enumerate(entry.dims))
        array = np.broadcast_to(np.asarray(given), shape).astype(np.int64 if entry.integer else float)
        variables[name] = (entry.dims, array, {} if entry.integer else {"units": entry.units})
    for name, array in series.items():
        cells = array if array.ndim == 2 else array[:, None]
        cells = np.broadcast_to(cells, (n_steps, n_cells)).copy()
        variables[name] = (("time", "cell"), cells, {"units": registry.variable(name).units})
    time = {"units": f"seconds since {start}", "calendar": calendar}
    variables["time"] = (("time",), np.arange(n_steps) * step, time)
    return xr.Dataset(variables)


@dataclass
class Run:
    """A finished run: restart variables before and after, ``series[step, subbasin]``, ``record[step, (layer,) tile]``,
    and the balance."""

    basin: Basin
    arrays: assembly.Arrays
    before: dict[str, np.ndarray]
    after: dict[str, np.ndarray]
    series: dict[str, np.ndarray]
    record: dict[str, np.ndarray]
    balance: BalanceReport

    @property
    def outflow(self) -> float:
        """Water that left at the outlets, m3."""
        return self.balance.terms.outflow

    @property
    def rain(self) -> float:
        """Precipitation over the basin, m3."""
        return self.balance.terms.precipitation["precipitation_depth"]

    @property
    def evaporation(self) -> float:
        """Evapotranspiration of the basin, m3."""
        return sum(self.balance.terms.evaporation.values())

    def total(self, name: str) -> np.ndarray:
        """A flux over the run at its place: m over the tile, or m3 of the sub-basin."""
        return self.after[name] - self.before[name]

    def volume(self, name: str) -> float:
        """A flux of the tiles over the run and the basin, m3."""
        return float(self.total(name) @ self.arrays.tile_area)

    def unit(self, name: str) -> np.ndarray:
        """A flux of the tiles over the run as a depth per unit in the basin's order, m."""
        depth = np.bincount(self.arrays.unit_of_tile, self.total(name) * self.arrays.tile_area)
        area = np.bincount(self.arrays.unit_of_tile, self.arrays.tile_area)
        in_file = np.empty_like(depth)
        in_file[self.arrays.unit_order] = depth / area
        return in_file


def simulate(data: xr.Dataset | Basin, device: backends.Backend, options: Mapping[str, float | str] | None = None, *,
             record: Sequence[str] = (), block: int = 500, before: Mapping[str, np.ndarray] | None = None) -> Run:
    """Run the model over a basin in memory, in blocks of ``block`` steps, and close its balance to :data:`CLOSURE`.

    ``record`` names the tiles' variables to keep step by step; ``before`` replaces the state at the start.

    Raises
    ------
    NumericalError, InputError
        As :func:`wepl.run.simulation.run`.
    """
    opened = data if isinstance(data, Basin) else Basin.from_dataset(data)
    chosen = simulation.resolve_options(opened, options or {})
    opened.check_forcing()
    arrays = assembly.assemble(opened, chosen)
    selection = outputs.select(record, arrays.n_layers)
    clock, available = opened.clock, opened.forcing.available
    given = ("shortwave_radiation" in available, "longwave_radiation" in available)
    running = model.Model(device, arrays, selection, clock.step_seconds, min(block, clock.n_steps), given)
    if before is not None:
        running.set_state(dict(before))
    elif chosen["energy_balance"]:
        running.set_state(running.state() | _start_temperatures(opened, arrays, chosen))
    start = running.state()
    series, recorded = [], []
    for first, last in _blocks(clock.n_steps, block):
        calendar = np.stack([clock.day_of_year(first, last), clock.solar_hour(first, last)])
        done = running.advance(opened.forcing.read(first, last), calendar,
                               assembly.vegetation_table(opened.parameters, clock, first, last, chosen))
        problem = running.problem()
        if problem is not None:
            parameters = opened.parameters
            running.raise_problem(parameters["unit"].values, parameters["subbasin"].values,
                                  clock.label(first + problem[2]))
        series.append(done.series.copy())
        recorded.append(done.record[:, :last - first].copy())
    report = balance.close(start, running.state(), arrays, opened)
    report.check(CLOSURE)
    whole = np.concatenate(series, axis=1)
    named = {entry.name: whole[row] for row, entry in enumerate(registry.layout("series"))}
    return Run(opened, arrays, start, running.state(), named, _by_name(selection, recorded), report)


def _blocks(n_steps: int, block: int) -> Iterator[tuple[int, int]]:
    for first in range(0, n_steps, block):
        yield first, min(n_steps, first + block)


def _start_temperatures(opened: Basin, arrays: assembly.Arrays, options: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Surface and deep temperature at the mean air temperature of the first day."""
    steps = min(opened.clock.n_steps, max(1, int(DAY / opened.clock.step_seconds)))
    air = opened.forcing.read(0, steps)[registry.row("air_temperature")].mean(axis=0)
    unit = arrays.unit_of_tile
    rise = arrays.values["unit_parameter"][registry.row("elevation_difference"), unit]
    mean = air[arrays.values["unit_cell"][unit]] - options["temperature_lapse_rate"] * rise
    return {"surface_temperature": mean, "deep_temperature": mean.copy()}


def _by_name(selection: outputs.Selection, recorded: list[np.ndarray]) -> dict[str, np.ndarray]:
    if not selection.items:
        return {}
    whole = np.concatenate(recorded, axis=1)
    found: dict[str, list[np.ndarray]] = {}
    for place, (name, _) in enumerate(selection.items):
        found.setdefault(name, []).append(whole[place])
    return {name: np.stack(parts, axis=1) if registry.variable(name).array == "soil_state" else parts[0]
            for name, parts in found.items()}


def check_sound(run: Run) -> None:
    """Everything is finite, no storage or one-way flux is below zero, soil lies between residual and saturation."""
    for name, values in (run.after | run.series | run.record).items():
        assert np.isfinite(values).all(), f"{name} is not finite"
        if name not in TWO_WAY:
            assert values.min() >= 0.0, f"{name} falls to {values.min():g}"
    index, parameter = run.arrays.values["tile_index"], run.arrays.values["soil_parameter"]
    soil = index[rows.TILE_KIND] == rows.SOIL
    water = run.after["soil_water"][:, soil]
    low, high = parameter[rows.RESIDUAL_WATER][:, soil], parameter[rows.SATURATED_WATER][:, soil]
    assert (water >= low * (1.0 - ROUNDING)).all(), "a layer is drier than its residual content"
    assert (water <= high * (1.0 + ROUNDING)).all(), "a layer is wetter than saturated"
