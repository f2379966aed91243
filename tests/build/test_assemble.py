"""A build of a small valley: what the basin holds, that it is the same each time, and that faults leave nothing."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from small_maps import CELL, DAYS, SIDE, TOML, elevation, weather, write_raster, write_valley
from typer.testing import CliRunner

from wepl.basin.dataset import Basin, inspect
from wepl.build.assemble import build
from wepl.cli import app
from wepl.errors import BasinError, InputError


@pytest.fixture(scope="module")
def toml(tmp_path_factory):
    return write_valley(tmp_path_factory.mktemp("valley"))


@pytest.fixture(scope="module")
def built(toml, tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    return build(toml, folder / "basin.nc", plots=folder / "plots")


@pytest.fixture
def own(tmp_path):
    """A valley that a test may spoil."""
    return write_valley(tmp_path / "valley")


def refused(toml, output, *words) -> str:
    """The message of a build that fails; nothing may be left beside the input."""
    before = sorted(output.parent.iterdir())
    with pytest.raises(InputError) as caught:
        build(toml, output, plots=output.parent / "plots")
    assert sorted(output.parent.iterdir()) == before
    for word in words:
        assert word in str(caught.value)
    return str(caught.value)


def test_every_rule_is_kept(built):
    assert [check.rule for check in inspect(built.path) if not check.passed] == []


def test_areas_and_network(built):
    """The valley is one catchment of 40 x 40 cells of 100 m; what leaves it passes the lowest cell."""
    values = Basin.open(built.path).parameters
    assert values["unit_area"].values.sum() == pytest.approx(SIDE**2 * CELL**2)
    downstream = dict(zip(values["subbasin"].values.tolist(), values["downstream"].values.tolist(), strict=True))
    assert list(downstream.values()).count(-1) == 1
    assert values["gauge_subbasin"].values.tolist() == [at for at, below in downstream.items() if below == -1]
    elevation_mean = np.average(values["unit_elevation"].values, weights=values["unit_area"].values)
    assert elevation_mean == pytest.approx(elevation().mean(), abs=1.0)


def test_land_soil_and_forcing(built):
    """Half of the map is forest and half grass; loam and the record pass through unchanged."""
    basin = Basin.open(built.path)
    values = basin.parameters
    area = values["unit_area"].values / values["unit_area"].values.sum()
    assert area @ values["tall_fraction"].values == pytest.approx(0.5, abs=0.01)
    assert area @ values["short_fraction"].values == pytest.approx(0.5, abs=0.01)
    assert values["saturated_water_content"].values == pytest.approx(0.463)  # loam, Rawls et al. 1982
    assert (basin.clock.n_steps, basin.clock.label(0)) == (DAYS, "2010-06-01")
    rain = basin.forcing.read(0, DAYS)[0] * 86400e3
    assert rain == pytest.approx(np.broadcast_to(weather()["P [mm]"].to_numpy()[:, None], rain.shape), abs=1e-5)


def test_what_the_file_says_of_itself(built):
    with xr.open_dataset(built.path) as data:
        assert data.attrs["title"] == "Valley"
        assert data.attrs["Conventions"] == "CF-1.11"
        assert data.attrs["build_configuration"] == TOML
        assert not re.search(r"20\d\d-\d\d-\d\dT", data.attrs["history"])
        assert data["gauge_name"].values.tolist() == ["bridge"]


def test_table_of_sums(built):
    lines = {line.split("  ")[0]: line.split("  ")[-1].strip() for line in built.table.splitlines()}
    assert lines["area"] == "16.00 km2"
    assert lines["land: soil vegetation"] == "100.00 %"
    assert lines["mean precipitation"] == f"{weather()['P [mm]'].mean() * 365.25:.4g} mm a-1"
    assert "16.00 km2 (+0.0 % of the 16 km2 given)" in lines["gauge bridge"]


def test_page_stands_alone(built):
    page = built.page.read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == page.count("<img") == 6
    assert "http" not in page
    assert built.table.splitlines()[-1] in page


def test_same_input_same_bytes(built, toml, tmp_path):
    again = build(toml, tmp_path / "basin.nc", plots=tmp_path / "plots")
    assert again.path.read_bytes() == built.path.read_bytes()
    assert again.page.read_bytes() == built.page.read_bytes()


def test_dry_run_keeps_nothing(built, toml, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dry = build(toml, None, dry_run=True)
    assert (dry.path, dry.page, dry.table) == (None, None, built.table)
    assert list(tmp_path.iterdir()) == []


def test_numbers_replace_what_the_maps_say(own, tmp_path):
    own.write_text(TOML + "[parameters]\nreach_manning = 0.05\nunit_slope = 0.3\nrecharge_delay = 20\n"
                   "cell_elevation = 200\n[options]\nenergy_balance = 'force_restore'\nsnow_temperature = -1.5\n")
    basin = Basin.open(build(own, tmp_path / "basin.nc").path)
    assert basin.parameters["reach_manning"].values == pytest.approx(0.05)
    assert basin.parameters["unit_slope"].values == pytest.approx(0.3)
    assert basin.parameters["recharge_delay"].values == pytest.approx(20 * 86400)
    assert basin.parameters["cell_elevation"].values == pytest.approx(200)
    assert (basin.options["energy_balance"], basin.options["snow_temperature"]) == (1.0, -1.5)


def test_directions_need_an_elevation(own, tmp_path):
    codes = np.full((SIDE, SIDE), 5, dtype=np.uint8)
    codes[:, :20], codes[:, 21:] = 3, 7
    write_raster(own.parent / "d8.tif", codes)
    own.write_text(TOML.replace('dem = "dem.tif"', 'd8 = "d8.tif"\nd8_encoding = "1n_clockwise"\noutlets = "all"')
                   .replace(TOML[TOML.index("[[gauges]]"):TOML.index("[land]")], ""))
    refused(own, tmp_path / "basin.nc", "unit_elevation", "[parameters]")


def test_value_out_of_its_range(own, tmp_path):
    own.write_text(TOML + "[parameters]\nreach_manning = 5\n")
    with pytest.raises(BasinError) as caught:
        build(own, tmp_path / "basin.nc")
    assert "reach_manning" in str(caught.value) and "0.01 to 0.5" in str(caught.value)
    assert str(own) in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["valley"]


def test_dem_without_data(own, tmp_path):
    write_raster(own.parent / "dem.tif", np.full((SIDE, SIDE), -9999.0, np.float32), nodata=-9999.0)
    refused(own, tmp_path / "basin.nc", "dem.tif")


def test_flat_dem(own, tmp_path):
    write_raster(own.parent / "dem.tif", np.full((SIDE, SIDE), 100.0, np.float32))
    refused(own, tmp_path / "basin.nc", "dem.tif")


def test_dem_without_a_coordinate_system(own, tmp_path):
    write_raster(own.parent / "dem.tif", elevation(), crs=None)
    refused(own, tmp_path / "basin.nc", "dem.tif", "coordinate")


def test_dem_that_is_none(own, tmp_path):
    (own.parent / "dem.tif").write_text("not a raster")
    refused(own, tmp_path / "basin.nc", "dem.tif")


def test_land_elsewhere(own, tmp_path):
    write_raster(own.parent / "land.tif", np.full((SIDE, SIDE), 10, np.uint8), crs="EPSG:32618")
    refused(own, tmp_path / "basin.nc", "land.tif")


def test_unknown_land_codes_are_listed(own, tmp_path):
    codes = np.full((SIDE, SIDE), 10, np.uint8)
    codes[:5], codes[5:9] = 11, 12
    write_raster(own.parent / "land.tif", codes)
    refused(own, tmp_path / "basin.nc", "11, 12", "esa_worldcover")


def test_gauge_outside(own, tmp_path):
    own.write_text(TOML.replace("x = 402050", "x = 502050"))
    refused(own, tmp_path / "basin.nc", "bridge")


def test_gauge_of_another_area(own, tmp_path):
    own.write_text(TOML.replace("area_km2 = 16.0", "area_km2 = 160.0"))
    refused(own, tmp_path / "basin.nc", "bridge", "160")


def test_station_without_a_place(own, tmp_path):
    (own.parent / "stations.csv").write_text("id,lon,lat,elevation\nother,116,28,5\n")
    refused(own, tmp_path / "basin.nc", "coordinates", "weather")


def test_day_that_all_stations_miss(own, tmp_path):
    table = weather()
    table.loc[4, "P [mm]"] = np.nan
    table.to_csv(own.parent / "weather.csv", index=False)
    refused(own, tmp_path / "basin.nc", "precipitation", "2010-06-05")


def test_two_time_zones(own, tmp_path):
    table = weather()
    table["date"] = pd.date_range("2010-06-01", periods=DAYS, tz="Asia/Shanghai").strftime("%Y-%m-%dT%H:%M%z")
    table.loc[3, "date"] = table.loc[3, "date"].replace("+0800", "+0100")
    table.to_csv(own.parent / "weather.csv", index=False)
    refused(own, tmp_path / "basin.nc", "zone")


def test_output_that_may_not_be_replaced(toml, tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    refused(toml, other, "not a basin file")
    assert other.read_text() == "mine"



def test_a_basin_is_replaced(toml, built, tmp_path):
    path = tmp_path / "basin.nc"
    path.write_bytes(built.path.read_bytes())
    build(toml, path)
    assert path.read_bytes() == built.path.read_bytes()
    assert [entry.name for entry in tmp_path.iterdir()] == ["basin.nc"]


def test_command(toml, built, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["build", str(toml), "--plots", "plots"])
    assert (done.exit_code, done.output.splitlines()[:-2]) == (0, built.table.splitlines())
    assert done.output.splitlines()[-2:] == ["basin: build.nc", "plots: plots/build.html"]
    assert (tmp_path / "build.nc").read_bytes() == built.path.read_bytes()
    done = CliRunner().invoke(app, ["build", str(toml), "--dry-run"])
    assert (done.exit_code, done.output) == (0, built.table + "\n")
    done = CliRunner().invoke(app, ["build", "none.toml"])
    assert done.exit_code == 2
