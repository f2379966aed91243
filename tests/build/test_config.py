"""The TOML file of a build: what it gives, what is refused, and that every fault is named by its dotted path."""

from __future__ import annotations

import pytest
from small_maps import TOML, write_valley

from wepl.build import classes, config
from wepl.errors import InputError


@pytest.fixture
def toml(tmp_path):
    return write_valley(tmp_path)


def refusal(path) -> str:
    with pytest.raises(InputError) as caught:
        config.read(path)
    return str(caught.value)


def test_values_and_defaults(toml):
    read, text = config.read(toml)
    assert text == TOML
    assert (read.title, read.terrain.dem, read.terrain.crs) == ("Valley", "dem.tif", "auto")
    assert (read.terrain.stream_threshold_km2, read.terrain.subbasin_area_km2) == (0.5, 3.0)
    assert (read.terrain.outlets, read.terrain.bands, read.gauge_rule.max_area_error) == ("largest", 0, 0.2)
    assert (read.gauges[0].name, read.gauges[0].area_km2) == ("bridge", 16.0)
    assert (read.soil.layers_m, read.soil.depth) == ([0.2, 0.4, 1.4], None)
    assert (read.forcing.method, read.forcing.gaps, read.forcing.time_zone) == ("idw", "refuse", "UTC")


def test_dates_of_toml_and_text_are_the_same(toml):
    toml.write_text(TOML.replace('step = "1d"', 'step = "1d"\nstart = 2010-06-02\nend = "2010-06-05"'))
    forcing = config.read(toml)[0].forcing
    assert (forcing.start, forcing.end) == ("2010-06-02", "2010-06-05")


def test_a_number_names_a_coordinate_system(toml):
    toml.write_text(TOML.replace('dem = "dem.tif"', 'dem = "dem.tif"\ncrs = 2056'))
    assert config.read(toml)[0].terrain.crs == "EPSG:2056"


def test_a_sheet_is_no_part_of_the_name_of_a_workbook(toml):
    toml.write_text(TOML.replace('file = "weather.csv"', 'file = "weather.csv#June"'))
    assert config.read(toml)[0].forcing.stations[0].file == "weather.csv#June"


def test_legends_are_those_that_the_land_step_knows():
    assert set(config.LAND_LEGENDS) == set(classes.LAND_LEGENDS)
    assert set(config.SOIL_LEGENDS) == set(classes.SOIL_LEGENDS)


@pytest.mark.parametrize(("old", "new", "expected"), [
    ("title =", "titel =", "titel: unknown key (did you mean title?)"),
    ("title =", "titel =", "title: missing"),
    ("dem =", "dam =", "terrain.dam: unknown key (did you mean dem?)"),
    ('"dem.tif"', '"none.tif"', "terrain.dem: there is no file"),
    ('dem = "dem.tif"', 'dem = "dem.tif"\nd8 = "dem.tif"', "terrain: give either dem or d8"),
    ('dem = "dem.tif"', 'd8 = "dem.tif"', "terrain: d8 needs d8_encoding"),
    ('dem = "dem.tif"', 'dem = "dem.tif"\nslope = "dem.tif"', "terrain: slope: used with d8 only"),
    ('dem = "dem.tif"', 'dem = "dem.tif"\noutlets = [[1, 2], [3]]', 'terrain.outlets: [[1, 2], [3]]: give "all"'),
    ('dem = "dem.tif"', 'dem = "dem.tif"\nbands = 11', "terrain.bands: 11 must be less than or equal to 10"),
    ("stream_threshold_km2 = 0.5", "stream_threshold_km2 = -1", "terrain.stream_threshold_km2: -1 must be greater"),
    ("stream_threshold_km2 = 0.5", 'stream_threshold_km2 = "1"', "terrain.stream_threshold_km2: '1' must be a valid"),
    ("y = 3196050", "", "gauges[1].y: missing"),
    ('name = "bridge"', 'name = "bridge"\nx = 1\ny = 1\n[[gauges]]\nname = "bridge"', "the name bridge stands"),
    ('"esa_worldcover"', '"worldcover"', "land.classes: 'worldcover' is no legend: choose from esa_worldcover"),
    ('"esa_worldcover"', '"codes.csv"', "land.classes: there is no file"),
    ('classes = "esa_worldcover"', "", "land: map and classes belong together"),
    ('map = "land.tif"\nclasses = "esa_worldcover"', "shares = { grass = 0.5 }", "land: shares: they add to 0.5"),
    ('map = "land.tif"\nclasses = "esa_worldcover"', "shares = { gras = 1.0 }", "land: shares: unknown kind gras"),
    ('map = "land.tif"\nclasses = "esa_worldcover"', "", "land: give either map with classes, or shares"),
    ('classes = "esa_worldcover"', 'classes = "esa_worldcover"\nlai = ["land.tif"]', "land: lai: 1 rasters: give 12"),
    ('texture = "loam"', "", "soil: give one of map with classes, texture, or sand, silt and clay"),
    ('texture = "loam"', 'sand = ["dem.tif"]', "soil: sand needs silt, clay, depths_m"),
    ('step = "1d"', 'step = "2d"', "forcing.step: '2d' must be '1d' or '1h'"),
    ('step = "1d"', 'start = "01.06.2010"', "forcing.start: '01.06.2010' is no date"),
    ('step = "1d"', "start = 2010-06-02\nend = 2010-06-01", "forcing: end 2010-06-01 lies before start 2010-06-02"),
    ('"weather.csv"', '"weather_*.csv"', "forcing.stations[1].file: no file fits"),
    ("[soil]", "[parameters]\nreach_maning = 0.03\n[soil]", "parameters.reach_maning: not in the registry"),
    ("[soil]", "[parameters]\nleaf_area_index = 3\n[soil]", "parameters.leaf_area_index: not in the registry"),
    ("[soil]", "[options]\nenergy_balance = 'some'\n[soil]", "options.energy_balance: 'some': choose from none"),
    ("[soil]", "[options]\nwind_height = true\n[soil]", "options.wind_height: True: give a number"),
])
def test_refused(toml, old, new, expected):
    assert old in TOML
    toml.write_text(TOML.replace(old, new, 1))
    assert expected in refusal(toml)


def test_all_faults_are_listed_once(toml):
    toml.write_text(TOML.replace('"dem.tif"', '"none.tif"').replace('"loam"', "3").replace("title =", "titel ="))
    lines = refusal(toml).splitlines()
    assert lines[0].endswith("build.toml cannot be used:")
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["title", "terrain.dem", "soil.texture", "titel"]


@pytest.mark.parametrize("content", [b"title = \n", b"\xff\xfe", b"\x89HDF\r\n\x1a\n"], ids=["syntax", "bytes", "HDF"])
def test_what_is_no_toml(tmp_path, content):
    path = tmp_path / "build.toml"
    path.write_bytes(content)
    assert "is not a TOML file" in refusal(path)


def test_no_file(tmp_path):
    assert "there is no file" in refusal(tmp_path / "build.toml")
    assert "is a folder; give a TOML file" in refusal(tmp_path)
