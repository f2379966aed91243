"""Import, assembly, each kernel and the writer; see README.md."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from wepl.backends import create
from wepl.run.assembly import assemble, vegetation_table
from wepl.run.model import Model
from wepl.run.outputs import Selection
from wepl.run.simulation import resolve_options
from wepl.run.writer import ResultWriter

STEPS = 32


def test_import(benchmark):
    benchmark._timer = time.perf_counter  # the time of another process
    benchmark(subprocess.run, [sys.executable, "-m", "wepl", "--help"], check=True, capture_output=True)


def test_assembly(benchmark, case):
    basin, _ = case
    benchmark(assemble, basin, resolve_options(basin, {}))


@pytest.mark.parametrize("backend", ["native", "cpu"])
@pytest.mark.parametrize("kernel", ["weather", "column", "hillslope", "river"])
def test_kernel(benchmark, case, backend, kernel):
    basin, arrays = case
    options = resolve_options(basin, {})
    model = Model(create(backend, threads=1), arrays, Selection((), (), ()), basin.clock.step_seconds, STEPS,
                  ("shortwave_radiation" in basin.forcing.available, "longwave_radiation" in basin.forcing.available))
    calendar = np.stack([basin.clock.day_of_year(0, STEPS), basin.clock.solar_hour(0, STEPS)])
    staged = model.stage(basin.forcing.read(0, STEPS), calendar,
                         vegetation_table(basin.parameters, basin.clock, 0, STEPS, options))
    # What the stages before leave is there, and all code is loaded.
    model.advance_staged(staged)
    values = dict(model.values, **model.scalars, **staged.values, n_steps=STEPS, n_routes=STEPS * model.n_route)
    benchmark.extra_info["units"], benchmark.extra_info["steps"] = int(arrays.unit_order.size), STEPS
    benchmark(model.backend.launch, kernel, values)


def test_writer(benchmark, case, tmp_path):
    basin, _ = case
    names = ("evapotranspiration", "runoff", "snow_water_equivalent")
    generator = np.random.default_rng(1)
    units, subbasins = basin.parameters.sizes["unit"], basin.parameters.sizes["subbasin"]
    values = {name: 1e-8 * generator.random((STEPS, units)) for name in names}
    values["discharge"] = generator.random((STEPS, subbasins))

    def write() -> None:
        with ResultWriter(tmp_path / "result.nc", basin=basin, clock=basin.clock, first=0, last=8 * STEPS,
                          variables=names) as writer:
            for at in range(0, 8 * STEPS, STEPS):
                writer.put(at, values)
            writer.finish()

    benchmark(write)
