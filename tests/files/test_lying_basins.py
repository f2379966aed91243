"""Basins that lie in their form or in one number, by rule: every variable with every kind of wrong value."""

from __future__ import annotations

import numpy as np
import pytest
from basins import FORCING, forcing, valid, write
from lying_basins import LYING, TYPED, attribute, make, make_typed, replaced
from lying_files import BINARY, CONTENTS, PLACES
from refusal import commands_refuse, lies

from wepl import registry, units
from wepl.basin.dataset import Basin
from wepl.errors import InputError


@pytest.mark.parametrize("name", LYING)
def test_a_lying_basin_is_refused(name, tmp_path):
    path = make(tmp_path / "basin.nc", LYING[name][0])
    lies(path, LYING[name][1], "run", path, "-o", tmp_path / "result.nc", "--quiet")


@pytest.mark.parametrize("name", TYPED)
def test_a_type_that_is_no_number_is_refused(name, tmp_path):
    path = make_typed(tmp_path / "basin.nc", TYPED[name][0])
    lies(path, TYPED[name][1], "run", path, "-o", tmp_path / "result.nc", "--quiet")


@pytest.mark.parametrize("name", PLACES)
def test_what_is_no_file_is_refused(name, tmp_path):
    path = tmp_path / "basin.nc"
    PLACES[name][0](path, b"")
    commands_refuse(path, f"basin.nc.*({PLACES[name][1]})|{PLACES[name][1]} .*basin.nc")


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("good")
    return {kind: write(valid(days=60), folder / f"{kind}.nc", kind).read_bytes()
            for kind in ("NETCDF4", "NETCDF3_CLASSIC")}


@pytest.mark.parametrize("kind", ["NETCDF4", "NETCDF3_CLASSIC"])
@pytest.mark.parametrize("name", [*CONTENTS, *BINARY])
def test_a_file_of_another_kind_is_refused(name, kind, good, tmp_path):
    path = tmp_path / "basin.nc"
    {**CONTENTS, **BINARY}[name](path, good[kind])
    lies(path, "is empty|is not a netCDF file|cannot be read as netCDF|cut short|damaged", "run", path, "-o",
         tmp_path / "result.nc", "--quiet")


# By rule: every variable of the valid basin, one wrong value of each kind.

def entries() -> list[registry.Variable]:
    data = valid()
    return [entry for entry in registry.TABLE if entry.name in data.variables
            and entry.kind in ("topology", "parameter", "forcing")]


def number_faults(entry: registry.Variable) -> dict[str, float]:
    """Wrong values in the units of the valid basin."""
    given = valid()[entry.name].attrs.get("units", "1")
    low, high = (float(units.convert(np.asarray(limit), entry.units, given, entry.name))
                 if not entry.integer and np.isfinite(limit) else limit for limit in entry.valid)
    span = high - low if np.isfinite(high - low) else abs(high) + 1.0
    faults = {"missing": np.nan, "infinite": np.inf, "minus infinite": -np.inf, "huge": 1e300, "minus huge": -1e300}
    if np.isfinite(high):
        faults["above its range"] = high + 0.01 * span
    if np.isfinite(low):
        faults["below its range"] = low - 0.01 * span - 1.5 * entry.integer
    if entry.integer:
        faults["half"] = float(np.ravel(valid()[entry.name].values)[-1]) + 0.5
    return faults


RULES = [(entry.name, fault) for entry in entries() for fault in number_faults(entry)
         # An outlet is -1; identifiers reach from nought to beyond what float64 counts.
         if not (entry.integer and fault in ("above its range", "below its range"))]


@pytest.mark.parametrize(("name", "fault"), RULES)
def test_one_wrong_number_is_refused(name, fault):
    data, entry = valid(), registry.variable(name)
    values = data[name].values.astype(float)
    values.reshape(-1)[-1] = number_faults(entry)[fault]
    data[name] = (data[name].dims, values, data[name].attrs)
    with pytest.raises(InputError, match=name):
        Basin.from_dataset(data).check_forcing()


@pytest.mark.parametrize("name", [entry.name for entry in entries()])
def test_other_dimensions_are_refused(name):
    data = valid()
    old = data[name]
    data = data.drop_vars(name)
    data[name] = ((*old.dims, "extra"), old.values[..., None].repeat(2, axis=-1), old.attrs)
    with pytest.raises(InputError, match=name):
        Basin.from_dataset(data).check_forcing()


# What can be read safely is read.

def altered(tmp_path, change) -> Basin:
    return Basin.open(make(tmp_path / "basin.nc", change))


@pytest.mark.parametrize("kind", [">f8", "<f8", ">f4", "<f4"])
def test_declared_byte_order_is_read(kind, tmp_path):
    found = altered(tmp_path, replaced("reach_length", kind)).parameters["reach_length"].values
    np.testing.assert_allclose(found, valid()["reach_length"].values, rtol=1e-7)
    found = altered(tmp_path, replaced("precipitation", kind))
    np.testing.assert_allclose(forcing(found), forcing(Basin.from_dataset(valid())), rtol=1e-6)


@pytest.mark.parametrize("kind", ["u1", "i2", "u4", "f8", ">i4"])
def test_identifiers_of_any_type_are_read(kind, tmp_path):
    basin = altered(tmp_path, replaced("unit", kind))
    np.testing.assert_array_equal(basin.parameters["unit"].values, valid()["unit"].values)


def test_units_with_blanks_around_them_are_read(tmp_path):
    found = altered(tmp_path, attribute("reach_length", "units", " m\n")).parameters["reach_length"].values
    np.testing.assert_array_equal(found, valid()["reach_length"].values)


def test_names_and_titles_in_any_script(tmp_path):
    folder = tmp_path / "бассейн 流域 🌊"
    folder.mkdir()
    data = valid().assign_attrs(title="\u202eReversed\u202c 鄱阳湖")
    assert Basin.open(write(data, folder / "река.nc")).title == "\u202eReversed\u202c 鄱阳湖"


def test_weather_beside_the_basin_under_a_link_is_read(tmp_path):
    """Whoever may put a link into the folder may put the file there."""
    (tmp_path / "far").mkdir()
    (tmp_path / "near").mkdir()
    data = valid()
    write(data[[*FORCING]], tmp_path / "far" / "weather.nc")
    (tmp_path / "near" / "weather.nc").symlink_to(tmp_path / "far" / "weather.nc")
    basin = data.drop_vars([*FORCING, "time"]).assign_attrs(forcing="weather.nc")
    path = write(basin, tmp_path / "near" / "basin.nc")
    np.testing.assert_array_equal(forcing(Basin.open(path)), forcing(Basin.from_dataset(data)))
