"""A small valid basin in memory, ways to write it whole or in parts, and to tell whether two hold the same."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import xarray as xr

from wepl import registry
from wepl.basin.dataset import Basin
from wepl.basin.soils import texture_parameters

FORCING = ("precipitation", "air_temperature", "relative_humidity", "wind_speed", "sunshine_duration")
CELLS = (7, 8)
# Four sub-basins with two bands each: 1 and 2 flow into 3, 3 into 4, 4 is the outlet.
DOWNSTREAM = (3, 3, 4, -1)
FIRST_UNIT = 100


def valid(days: int = 6, hourly: bool = False, layers: int = 3) -> xr.Dataset:
    """A basin that keeps every rule: 4 sub-basins, 8 units (100 to 107), 2 cells (7 and 8), weather from 2010-01-01."""
    return _valid(days, hourly, layers).copy(deep=True)


@cache
def _valid(days: int, hourly: bool, layers: int) -> xr.Dataset:
    subbasins = len(DOWNSTREAM)
    units = 2 * subbasins
    ids = np.arange(subbasins) + 1
    soil = texture_parameters("clay loam")
    values = {
        "subbasin": ids,
        "downstream": DOWNSTREAM,
        "unit": np.arange(units) + FIRST_UNIT,
        "unit_subbasin": np.repeat(ids, 2),
        "unit_order": np.tile([1, 2], subbasins),
        "unit_cell": np.tile(CELLS, subbasins),
        "cell": CELLS,
        "gauge": [1, 2],
        "gauge_subbasin": [3, 4],
        "cell_elevation": [50.0, 60.0],
        "reach_length": np.linspace(4e3, 16e3, subbasins),
        "reach_slope": np.full(subbasins, 1e-3),
        "reach_width": np.full(subbasins, 30.0),
        "unit_area": np.linspace(5.0, 20.0, units),
        "unit_elevation": np.tile([400.0, 50.0], subbasins),
        "unit_slope": np.tile([0.3, 0.01], subbasins),
        "unit_flow_length": np.full(units, 500.0),
        "unit_latitude": np.full(units, 28.0),
        "unit_longitude": np.full(units, 116.0),
        "land_fraction": np.tile([0.05, 0.70, 0.15, 0.05, 0.05], (units, 1)),
        "soil_thickness": np.tile(np.resize([0.2, 0.4, 1.4], layers), (units, 1)),
    }
    data = xr.Dataset(attrs={"Conventions": "CF-1.11", "title": "Eight units"})
    for name, array in values.items():
        put(data, name, array)
    for name, value in soil.items():
        put(data, name, np.full((units, layers), value), registry.variable(name).units)
    for name, array in _weather(days, hourly).items():
        put(data, name, array)
    data["time"] = ("time", np.arange(data.sizes["time"]),
                    {"units": f"{'hours' if hourly else 'days'} since 2010-01-01", "calendar": "standard"})
    return data


def put(data: xr.Dataset, name: str, values: object, units: str | None = None) -> None:
    """Set a variable of the registry with its dimensions, in file units unless others are named."""
    entry = registry.variable(name)
    dims = ("time", "cell") if entry.kind == "forcing" else entry.dims
    attributes = {} if entry.integer else {"units": units or entry.file_units}
    data[name] = (dims, np.asarray(values), attributes)


def _weather(days: int, hourly: bool) -> dict[str, np.ndarray]:
    steps = days * (24 if hourly else 1)
    rng = np.random.default_rng(0)
    shape = (steps, len(CELLS))
    wet = rng.random(shape) < 0.4
    return {
        "precipitation": np.where(wet, rng.exponential(10.0, shape), 0.0),
        "air_temperature": 15.0 + rng.normal(0.0, 3.0, shape),
        "relative_humidity": rng.uniform(60.0, 95.0, shape),
        "wind_speed": rng.uniform(0.5, 4.0, shape),
        "sunshine_duration": rng.uniform(0.0, 0.9 if hourly else 9.0, shape),
    }


def write(data: xr.Dataset, path: Path, kind: str = "NETCDF4", **encoding: dict[str, object]) -> Path:
    """Write a dataset as it stands; ``encoding`` holds xarray's encoding of single variables."""
    plain = {str(name): {"_FillValue": None} for name in data.variables if data[name].dtype.kind not in "OSU"}
    data.to_netcdf(path, format=kind, engine="netcdf4", encoding=plain | encoding)
    return path


def outside(data: xr.Dataset, pattern: str = "weather*.nc") -> tuple[xr.Dataset, xr.Dataset]:
    """The basin without its weather, which it names by ``pattern``, and the weather."""
    weather = data[[*FORCING]]
    basin = data.drop_vars([*FORCING, "time"])
    basin.attrs["forcing"] = pattern
    return basin, weather


def forcing(basin: Basin) -> np.ndarray:
    """All forcing of a basin."""
    return basin.forcing.read(0, basin.clock.n_steps)


def same(first: Basin, second: Basin, units: bool = False) -> None:
    """Assert that two basins hold the same; with ``units``, up to the rounding of one conversion."""
    assert first.options == second.options
    assert set(first.parameters) == set(second.parameters)
    for name in first.parameters.variables:
        compare = np.testing.assert_allclose if units and first.parameters[name].dtype.kind == "f" else (
            np.testing.assert_array_equal)
        compare(first.parameters[name].values, second.parameters[name].values, err_msg=str(name))
    assert first.forcing.available == second.forcing.available
    np.testing.assert_array_equal(forcing(first), forcing(second))
    assert repr(first.clock) == repr(second.clock)
    assert units or first.hash == second.hash
