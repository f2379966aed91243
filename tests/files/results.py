"""Small results to write: a clock, a basin and values as a run would give them."""

from __future__ import annotations

import datetime
from pathlib import Path
from types import SimpleNamespace

import cftime
import numpy as np
import xarray as xr

from wepl import registry
from wepl.run import result_schema
from wepl.run.writer import ResultWriter

LAYERS, SUBBASINS, UNITS = 3, 4, 7
CHOSEN = ("evapotranspiration", "snow_water_equivalent", "soil_moisture", "surface_temperature", "baseflow", "recharge")


class Clock:
    """The part of the forcing's clock that a writer asks for."""

    def __init__(self, step_seconds=86400, calendar="standard", start=(2000, 2, 27)):
        self.step_seconds, self.calendar = step_seconds, calendar
        self._start = cftime.datetime(*start, calendar=calendar)

    def label(self, i):
        return (self._start + datetime.timedelta(seconds=self.step_seconds * i)).strftime("%Y-%m-%dT%H:%M:%S")


def make_basin(gauges=True, coordinates=True):
    data = {
        "subbasin": ("subbasin", np.array([11, 12, 13, 20])), "downstream": ("subbasin", np.array([20, 20, 20, -1])),
        "unit": ("unit", np.arange(101, 101 + UNITS)),
        "unit_subbasin": ("unit", np.array([11, 11, 12, 12, 13, 20, 20])),
        "unit_area": ("unit", np.linspace(1e6, 7e6, UNITS)), "unit_elevation": ("unit", np.linspace(900, 10, UNITS)),
        "unit_latitude": ("unit", np.full(UNITS, 28.5)),
        "soil_thickness": (("unit", "soil_layer"), np.full((UNITS, LAYERS), 0.4)),
    }
    if coordinates:
        data["subbasin_longitude"] = ("subbasin", np.linspace(115.0, 116.5, SUBBASINS))
        data["subbasin_latitude"] = ("subbasin", np.linspace(28.0, 29.5, SUBBASINS))
        data["unit_longitude"] = ("unit", np.linspace(115.0, 116.5, UNITS))
    if gauges:
        data["gauge"] = ("gauge", np.array([1, 2]))
        data["gauge_subbasin"] = ("gauge", np.array([20, 12]))
        data["gauge_name"] = ("gauge", np.array(["Waizhou", "Lijiadu"], dtype=object))
    options = {entry.name: entry.default for entry in registry.of_kind("option")}
    return SimpleNamespace(parameters=xr.Dataset(data), hash="ab" * 32, title="Test basin", path=None, options=options)


def make_values(n_steps, variables=CHOSEN, seed=1):
    rng = np.random.default_rng(seed)
    sizes = {"unit": UNITS, "subbasin": SUBBASINS, "soil_layer": LAYERS}
    return {name: rng.uniform(0.0, 3.0, (n_steps, *(sizes[dim] for dim in result_schema.file_dims(name))))
            for name in ("discharge", *variables)}


def write(path, n_steps=10, cuts=(), clock=None, first=0, basin=None, variables=CHOSEN, **more):
    clock, basin = clock or Clock(), basin or make_basin()
    values = make_values(n_steps, variables)
    edges = [0, *sorted(set(cuts) - {0, n_steps}), n_steps]
    with ResultWriter(path, basin=basin, clock=clock, first=first, last=first + n_steps, variables=variables,
                      **more) as writer:
        for start, stop in zip(edges[:-1], edges[1:], strict=True):
            writer.put(first + start, {name: array[start:stop] for name, array in values.items()})
        writer.finish()
    return values


def leftovers(folder: Path):
    return sorted(item.name for item in folder.iterdir())
