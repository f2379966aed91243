"""The component: the bits of a run, what can be set, the interface's rules, and a reservoir that loses no water."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import bmipy
import numpy as np
import pytest
import xarray as xr
from standard_names.standardname import is_valid_name

from wepl.basin.dataset import Basin
from wepl.bmi import WeplBmi
from wepl.bmi.names import DISCHARGE, EXTERNAL, FORCING, INFLOW, RIVER, UNITS, VOLUME
from wepl.errors import InputError
from wepl.run.simulation import run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "bmi_reservoir.py"
EVAPORATION = "land_surface_water__evaporation_volume_flux"
RAIN = "atmosphere_water__precipitation_leq-volume_flux"
END = "2010-01-12"


@pytest.fixture(scope="module")
def config(daily_basin, tmp_path_factory):
    path = tmp_path_factory.mktemp("bmi") / "wepl.toml"
    path.write_text(f'basin = {json.dumps(str(daily_basin))}\nend = "{END}"\n')
    return path


@pytest.fixture
def component(config):
    model = WeplBmi()
    model.initialize(str(config))
    return model


def test_the_bits_of_a_run(component, daily_basin, tmp_path):
    run(daily_basin, output=tmp_path / "run.nc", end=END, variables=["evapotranspiration"], backend="cpu", quiet=True)
    flows, evaporation = [], []
    while component.get_current_time() < component.get_end_time():
        component.update()
        flows.append(component.get_value_ptr(DISCHARGE).copy())
        evaporation.append(component.get_value_ptr(EVAPORATION).copy())
    with xr.open_dataset(tmp_path / "run.nc") as result:
        np.testing.assert_array_equal(np.array(flows), result["discharge"].values)
        np.testing.assert_allclose(np.array(evaporation) * 86400e3, result["evapotranspiration"].values, rtol=1e-6)
        assert component.balance().closure == pytest.approx(result.attrs["water_balance_closure"], abs=1e-16)


def test_every_method_of_the_interface():
    for name, method in inspect.getmembers(bmipy.Bmi, inspect.isfunction):
        own = getattr(WeplBmi, name)
        assert list(inspect.signature(own).parameters) == list(inspect.signature(method).parameters), name


def test_names_are_valid():
    for item in (*FORCING, *RIVER, *UNITS, EXTERNAL):
        assert is_valid_name(item.name), item.name


def test_bmi_tester(config):
    """All checks of bmi-tester 0.5, in a process of its own."""
    done = subprocess.run([sys.executable, "-m", "bmi_tester", "wepl.bmi:WeplBmi", "--root-dir", str(config.parent),
                           "--config-file", config.name], cwd=config.parent, capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTEST_ADDOPTS": "-n 0"})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


def test_update_until(component):
    component.update_until(3 * 86400.0)
    assert component.get_current_time() == 3 * 86400.0
    for wrong in (86400.0, 3.5 * 86400.0, 1e9):
        with pytest.raises(InputError, match="end of a step"):
            component.update_until(wrong)
    component.update_until(component.get_end_time())
    with pytest.raises(InputError, match="run ended"):
        component.update()


def test_rain_that_is_set_holds_for_one_step(component, config):
    plain = WeplBmi()
    plain.initialize(str(config))
    own = plain.get_value_ptr(RAIN).copy()
    component.set_value(RAIN, np.full(own.size, 100e-3 / 86400.0))
    for model in (component, plain):
        model.update()
    assert (component.get_value_ptr(DISCHARGE) >= plain.get_value_ptr(DISCHARGE)).all()
    rain = component.balance().terms.precipitation["precipitation_depth"] / component.balance().terms.area
    assert rain == pytest.approx(0.1)
    np.testing.assert_array_equal(component.get_value_ptr(RAIN), plain.get_value_ptr(RAIN))


def test_inflow_from_outside_is_in_the_balance(component):
    """The residual of the model's own balance is the water that came from outside."""
    at = int(np.argmin(component.get_value_ptr(DISCHARGE)))
    component.set_value_at_indices(INFLOW, np.array([at]), np.array([50.0]))
    component.update_until(5 * 86400.0)
    terms = component.balance().terms
    assert -terms.residual == pytest.approx(50.0 * 5 * 86400.0, rel=1e-9)


def test_water_in_a_reach_can_be_set(component):
    component.update()
    before = component.get_value_ptr(VOLUME).copy()
    component.set_value(VOLUME, before + 1e6)
    component.update()
    assert -component.balance().terms.residual == pytest.approx(1e6 * before.size, rel=1e-6)


@pytest.mark.parametrize(("name", "value", "words"), [
    (RAIN, -1.0, "outside 0 to"), (RAIN, np.nan, "outside 0 to"), (INFLOW, -5.0, "outside 0"),
])
def test_values_that_cannot_be(component, name, value, words):
    component.get_value_ptr(name)[0] = value
    with pytest.raises(InputError, match=words):
        component.update()


def test_what_is_asked_wrongly(component):
    with pytest.raises(InputError, match="no variable 'rain'"):
        component.get_value_ptr("rain")
    with pytest.raises(InputError, match="cannot be set"):
        component.set_value(DISCHARGE, np.zeros(3))
    with pytest.raises(InputError, match="no grid 7"):
        component.get_grid_rank(7)
    with pytest.raises(InputError, match="not initialized"):
        WeplBmi().update()
    component.finalize()
    with pytest.raises(InputError, match="not initialized"):
        component.update()


@pytest.mark.parametrize(("text", "words"), [
    ("", "basin is missing"), ("basin = 3", "should be a str"), ('basin = "b.nc"\nstop = 3', "unknown entry stop"),
    ("basin =", "cannot be read"), ('basin = "b.nc"\nvariables = ["soil_moisture"]', "choose from"),
    ('basin = "b.nc"', "no file"), ('basin = "BASIN"\ncoupled_reaches = [99999]', "no sub-basin 99999"),
    ('basin = "BASIN"\nstart = "2010-05-01"\nend = "2010-04-01"', "before it starts"),
    ('basin = "BASIN"\n[options]\nrain = 3', "unknown option rain"),
])
def test_broken_configurations(daily_basin, tmp_path, text, words):
    path = tmp_path / "wepl.toml"
    path.write_text(text.replace("BASIN", str(daily_basin)))
    with pytest.raises(InputError, match=words):
        WeplBmi().initialize(str(path))


def test_reservoir_and_basin_lose_no_water(daily_basin):
    spec = importlib.util.spec_from_file_location("bmi_reservoir", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = example
    spec.loader.exec_module(example)
    values = Basin.open(daily_basin).parameters
    dam = int(values["subbasin"].values[values["downstream"].values >= 0][0])
    found = example.couple(daily_basin, dam, "2010-01-20", 1e6)
    assert abs(found.residual) < 1e-12
    assert found.release.max() > 0.0 and found.storage != 0.5e6
