"""Exports: what stands in each format, the same bytes for the same source, and what is refused; CF checks of files."""

from __future__ import annotations

import json

import fiona
import pandas as pd
import pytest
from compliance_checker.runner import CheckSuite, ComplianceChecker
from typer.testing import CliRunner

from wepl.basin import polygons
from wepl.basin.dataset import Basin
from wepl.cli import app
from wepl.errors import InputError
from wepl.gis.export import export
from wepl.gis.layers import column_name
from wepl.run.simulation import run

VARIABLES = ["evapotranspiration", "soil_moisture", "baseflow"]


@pytest.fixture(scope="module")
def result(daily_basin, tmp_path_factory):
    """A run of a basin whose sub-basins have square outlines."""
    path = tmp_path_factory.mktemp("gis") / "result.nc"
    basin = Basin.open(daily_basin)
    values = basin.parameters
    squares = []
    for number, x, y in zip(values["subbasin"].values, values["subbasin_longitude"].values,
                            values["subbasin_latitude"].values, strict=True):
        ring = [[x - 0.1, y - 0.1], [x + 0.1, y - 0.1], [x + 0.1, y + 0.1], [x - 0.1, y + 0.1], [x - 0.1, y - 0.1]]
        squares.append((int(number), [pd.DataFrame(ring).to_numpy()]))
    basin.outlines = polygons.encode(squares)
    run(basin, output=path, end="2010-02-28", variables=VARIABLES, quiet=True)
    return path


def test_geojson(result, tmp_path):
    export(result, tmp_path / "out.geojson", time="2010-02")
    data = json.loads((tmp_path / "out.geojson").read_text())
    first = data["features"][0]
    assert data["name"] == "subbasins" and first["geometry"]["type"] == "MultiPolygon"
    assert {"subbasin", "area_km2", "discharge_m3_per_s", "evapotranspiration_mm", "soil_moisture_layer1_m3_per_m3",
            "baseflow_m3_per_s"} <= set(first["properties"])


def test_geopackage_has_all_layers_and_the_same_bytes(result, tmp_path):
    written = export(result, tmp_path / "one.gpkg")
    export(result, tmp_path / "two.gpkg")
    assert fiona.listlayers(tmp_path / "one.gpkg") == list(written)
    with fiona.open(tmp_path / "one.gpkg", layer="units") as layer:
        assert layer.crs.to_epsg() == 4326 and len(layer) == 30
        assert "runoff_mm" not in layer.schema["properties"]
    with fiona.open(tmp_path / "one.gpkg", layer="subbasins") as layer:
        assert layer.schema["geometry"] == "MultiPolygon"
    assert (tmp_path / "one.gpkg").read_bytes() == (tmp_path / "two.gpkg").read_bytes()


def test_csv_of_a_way(result, tmp_path):
    export(result, tmp_path / "max.csv", ["discharge"], "max", layer="subbasins")
    export(result, tmp_path / "mean.csv", ["discharge"], "mean", layer="subbasins")
    largest, mean = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("max", "mean"))
    assert (largest["discharge_m3_per_s"] >= mean["discharge_m3_per_s"]).all()


def test_basin_file(daily_basin, tmp_path):
    written = CliRunner().invoke(app, ["export", str(daily_basin), "-o", str(tmp_path / "b.csv"), "--variables",
                                       "unit_slope,reach_length"])
    assert written.exit_code == 0, written.output
    table = pd.read_csv(tmp_path / "b.csv")
    assert {"unit", "longitude", "unit_slope"} <= set(table.columns) and len(table) == 30


@pytest.mark.parametrize(("units", "expected"), [("mm", "x_mm"), ("m3 s-1", "x_m3_per_s"), ("m3 m-3", "x_m3_per_m3"),
                                                 ("1", "x"), ("J m-2", "x_J_per_m2"), ("mm K-1 d-1", "x_mm_per_K_d")])
def test_column_names(units, expected):
    assert column_name("x", units) == expected


@pytest.mark.parametrize(("name", "more", "words"), [
    ("out.shp", {}, "must end in .gpkg"), ("no/out.csv", {}, "does not exist"),
    ("out.csv", {"time": "1999"}, "no step lies in '1999'"), ("out.csv", {"time": "sum", "how": "mean"}, "twice"),
    ("out.csv", {"how": "median"}, "choose mean"), ("out.csv", {"variables": ["rain"]}, "no series 'rain'"),
    ("out.csv", {"layer": "rivers"}, "no layer 'rivers'"),
])
def test_refused_leaves_nothing(result, tmp_path, name, more, words):
    with pytest.raises(InputError, match=words):
        export(result, tmp_path / name, **more)
    assert not list(tmp_path.iterdir())


def test_existing_file_is_kept(result, tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("mine")
    with pytest.raises(InputError, match="--overwrite"):
        export(result, target)
    assert target.read_text() == "mine"
    export(result, target, overwrite=True)
    assert target.read_text().startswith("subbasin,")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["result", "basin"])
def test_cf_checker_finds_no_errors(result, daily_basin, tmp_path, kind):
    """IOOS compliance checker, cf:1.11: nothing of high priority and no exception; recommendations stay."""
    CheckSuite.load_all_available_checkers()
    passed, failed = ComplianceChecker.run_checker(
        ds_loc=str(result if kind == "result" else daily_basin), checker_names=["cf:1.11"], verbose=0,
        criteria="lenient", output_filename=str(tmp_path / "report.json"), output_format="json")
    report = json.loads((tmp_path / "report.json").read_text())["cf:1.11"]
    wrong = [message for item in report["high_priorities"] for message in item["msgs"]
             if item["value"][0] < item["value"][1]]
    assert passed and not wrong
    if kind == "result":
        assert not failed
