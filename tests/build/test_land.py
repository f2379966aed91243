"""Class maps to land fractions: exact areas, legends, other projections, leaf area, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from small_terrain import CELL, LEFT, SIZE, TOP, geographic, land, terrain, write_raster

from wepl import registry
from wepl.basin import vegetation
from wepl.basin.catchment_land import LAND_KINDS
from wepl.build import classes, overlay
from wepl.build.land import land_parameters
from wepl.errors import InputError

CLASS = {name: place for place, name in enumerate(registry.LAND_CLASSES)}


def test_areas_are_exact_where_cells_cut_one_another(tmp_path):
    # Cells of 270 m from 130 m west and 50 m north of the grid: none of their edges meets an edge of the terrain's.
    codes = np.random.default_rng(1).integers(1, 4, (17, 18)).astype(np.uint8)
    path = write_raster(tmp_path / "land.tif", codes, LEFT - 130.0, TOP + 50.0, 270.0)
    found = overlay.class_areas(path, terrain())
    # Counted independently on cells of 10 m, which divide 270, 130, 50 and 100 m.
    fine = np.kron(codes, np.ones((27, 27), dtype=np.uint8))[5:, 13:][:SIZE * 10, :SIZE * 10]
    units = np.kron(terrain().unit_map, np.ones((10, 10), dtype=np.int32))
    for unit in (1, 2, 3):
        inside = fine[units == unit]
        expected = [np.mean(inside == code) for code in found.codes]
        np.testing.assert_allclose(found.share[unit - 1], expected, rtol=0, atol=1e-12)


def test_areas_agree_with_exactextract(tmp_path):
    extract = pytest.importorskip("exactextract")
    from rasterio.features import shapes

    codes = np.random.default_rng(2).integers(1, 6, (30, 30)).astype(np.int16)
    path = write_raster(tmp_path / "land.tif", codes, LEFT - 33.0, TOP + 77.0, 143.0)
    place = terrain()
    features = [{"type": "Feature", "geometry": shape, "properties": {"unit": int(value)}}
                for shape, value in shapes(place.unit_map, transform=place.transform)]
    rows = extract.exact_extract(str(path), features, ["unique", "frac"], include_cols=["unit"])
    found = overlay.class_areas(path, place)
    for row in rows:
        facts = row["properties"]
        expected = dict(zip(facts["unique"], facts["frac"], strict=True))
        for code, share in zip(found.codes, found.share[facts["unit"] - 1], strict=True):
            # exactextract keeps coverage of cells in single precision.
            assert share == pytest.approx(expected.get(int(code), 0.0), abs=1e-6)


def test_map_that_runs_upward_gives_the_same_areas(tmp_path):
    import rasterio
    from affine import Affine

    codes = np.random.default_rng(3).integers(1, 4, (40, 40)).astype(np.uint8)
    down = write_raster(tmp_path / "down.tif", codes)
    up = tmp_path / "up.tif"
    with rasterio.open(up, "w", driver="GTiff", height=SIZE, width=SIZE, count=1, dtype="uint8", crs="EPSG:32650",
                       transform=Affine(CELL, 0.0, LEFT, 0.0, CELL, TOP - SIZE * CELL)) as file:
        file.write(codes[::-1], 1)
    np.testing.assert_array_equal(overlay.class_areas(up, terrain()).share, overlay.class_areas(down, terrain()).share)


def test_map_in_degrees_is_carried_over(tmp_path):
    # Water east of the meridian of the grid's middle, in cells of about 10 m: half of the catchment, the east units.
    from rasterio.warp import transform

    (middle,), _ = transform("EPSG:32650", "EPSG:4326", [LEFT + 20 * CELL], [TOP - 20 * CELL])
    path = geographic(tmp_path / "land.tif", lambda x, y: np.where(x < middle, 30, 80).astype(np.uint8), 1e-4, 0)
    values = land_parameters(land(map=path.name, classes="esa_worldcover"), terrain(), tmp_path)
    # The meridian leans by 0.01 degree from the grid's column over 4 km: about 1 m of 2000 m.
    np.testing.assert_allclose(values["land_fraction"][:, CLASS["water"]], [0.0, 1.0, 1.0], atol=0.006)


def test_kinds_become_tile_classes(tmp_path):
    codes = np.full((SIZE, SIZE), 10, dtype=np.uint8)
    codes[:, :10] = 50  # built-up: half of unit 1
    codes[:20, 20:] = 40  # crops: unit 2
    path = write_raster(tmp_path / "land.tif", codes)
    values = land_parameters(land(map=path.name, classes="esa_worldcover"), terrain(), tmp_path)
    fraction = values["land_fraction"]
    np.testing.assert_allclose(fraction.sum(axis=1), 1.0, atol=1e-12)
    assert fraction[0, CLASS["impervious"]] == pytest.approx(0.5)
    assert fraction[0, CLASS["soil_vegetation"]] == pytest.approx(0.5)
    assert fraction[1, CLASS["non_irrigated"]] == pytest.approx(1.0)
    assert values["tall_fraction"][2] == pytest.approx(1.0)
    assert values["tall_vegetation"][2] == vegetation.NAMES.index("mixed_forest")


@pytest.mark.parametrize(("legend", "code", "kinds"), [
    ("globeland30", 20, {"mixed_forest"}), ("globeland30", 80, {"urban"}), ("modis_igbp", 1,
                                                                            {"evergreen_needleleaf_forest"}),
    ("modis_igbp", 17, {"water"}), ("modis_igbp", 0, {"water"}), ("esa_worldcover", 95, {"evergreen_broadleaf_forest"}),
    ("clcd", 1, {"dry_crop"}), ("clcd", 8, {"urban"}), ("corine", 213, {"paddy"}), ("corine", 14, {"paddy"}),
    ("corine", 312, {"evergreen_needleleaf_forest"}), ("corine", 24, {"evergreen_needleleaf_forest"}),
    ("corine", 41, {"water"}), ("corine", 44, {"water"})])
def test_codes_of_known_legends(tmp_path, legend, code, kinds):
    # Product guides: see the sources beside the legends in wepl/build/classes.py.
    assert set(classes.land_legend(legend, tmp_path).shares[code]) == kinds


@pytest.mark.parametrize("name", classes.LAND_LEGENDS)
def test_legends_name_kinds_that_there_are_and_add_to_one(tmp_path, name):
    for shares in classes.land_legend(name, tmp_path).shares.values():
        assert set(shares) <= set(LAND_KINDS)
        assert sum(shares.values()) == pytest.approx(1.0)


def test_unknown_codes_are_all_listed(tmp_path):
    codes = np.full((SIZE, SIZE), 10, dtype=np.uint8)
    codes[0, :3] = 11, 77, 12
    path = write_raster(tmp_path / "land.tif", codes)
    with pytest.raises(InputError, match=r"codes 11, 12, 77 are not in the legend esa_worldcover"):
        land_parameters(land(map=path.name, classes="esa_worldcover"), terrain(), tmp_path)


def test_own_table_with_decimal_commas_crlf_and_no_data(tmp_path):
    codes = np.full((SIZE, SIZE), 7, dtype=np.int32)
    codes[:10] = 8
    codes[10:12] = 9
    path = write_raster(tmp_path / "forêt.tif", codes)
    (tmp_path / "légende.csv").write_bytes(b"code;kind;share\r\n7;Mixed forest;0,25\r\n7;grass;0,75\r\n8;water;1\r\n"
                                           b"9;missing;1\r\n")
    values = land_parameters(land(map=path.name, classes="légende.csv"), terrain(), tmp_path)
    # Rows 0-9 water, 10-11 without data, 12-39 mixed: in unit 1, 10 of 38 rows are water.
    assert values["land_fraction"][0, CLASS["water"]] == pytest.approx(10 / 38)
    assert values["tall_fraction"][0] == pytest.approx(0.25)


@pytest.mark.parametrize(("text", "message"), [
    ("code,kind\n1,meadow\n2,bog\n", "unknown kind 'bog', 'meadow'"),
    ("code,kind\n1,grass\n1,water\n", "the code 1 stands twice"),
    ("code,kind\nx,grass\n", "row 2: the code 'x' is no whole number"),
    ("code,kind,share\n1,grass,0.4\n1,water,0.4\n", "shares of code 1 add to 0.8"),
    ("1,2\n3,4\n", "first row holds numbers"),
    ("<html>\n<body>\n", "web page"),
])
def test_tables_that_cannot_be_used(tmp_path, text, message):
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        classes.land_legend("table.csv", tmp_path)


def test_shares_need_no_map():
    values = land_parameters(land(shares={"grass": 0.6, "evergreen_needleleaf_forest": 0.4}), terrain(), None)
    assert values["land_fraction"].shape == (3, 5)
    np.testing.assert_allclose(values["tall_fraction"], 0.4)


def test_leaf_area_of_kinds_comes_from_rasters(tmp_path):
    codes = np.full((SIZE, SIZE), 30, dtype=np.uint8)
    codes[:, 20:] = 10
    write_raster(tmp_path / "land.tif", codes)
    names = []
    for month in range(12):
        leaf = np.full((SIZE, SIZE), 5 + month, dtype=np.uint8)
        leaf[:, 20:] = 40
        leaf[0, 0] = 255
        names.append(write_raster(tmp_path / f"lai{month}.tif", leaf, nodata=255).name)
    config = land(map="land.tif", classes="esa_worldcover", lai=names, lai_scale=0.1)
    values = land_parameters(config, terrain(), tmp_path)
    table = vegetation.table()
    grass, forest = (vegetation.NAMES.index(kind) for kind in ("grass", "mixed_forest"))
    np.testing.assert_allclose(values["leaf_area_index"][grass] * table["vegetation_cover"][grass],
                               0.1 * (5 + np.arange(12)), rtol=1e-12)
    np.testing.assert_allclose(values["leaf_area_index"][forest] * table["vegetation_cover"][forest], 4.0, rtol=1e-12)
    paddy = vegetation.NAMES.index("paddy")
    np.testing.assert_array_equal(values["leaf_area_index"][paddy], table["leaf_area_index"][paddy])
    # The file must hold the whole table: depression stores in mm.
    np.testing.assert_allclose(values["kind_depression_storage"], table["kind_depression_storage"] * 1e3)


def test_maps_elsewhere_or_without_a_system_are_refused(tmp_path):
    codes = np.full((10, 10), 10, dtype=np.uint8)
    far = write_raster(tmp_path / "far.tif", codes, LEFT + 1e6)
    with pytest.raises(InputError, match="far.tif has no data on the catchment"):
        land_parameters(land(map=far.name, classes="esa_worldcover"), terrain(), tmp_path)
    other = write_raster(tmp_path / "other.tif", codes, 5.0, 50.0, 0.01, "EPSG:4326")
    with pytest.raises(InputError, match="other.tif has no data on the catchment"):
        land_parameters(land(map=other.name, classes="esa_worldcover"), terrain(), tmp_path)


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_what_is_no_class_map_is_refused(tmp_path):
    bare = write_raster(tmp_path / "bare.tif", np.ones((SIZE, SIZE), dtype=np.uint8), crs=None)
    with pytest.raises(InputError, match="no coordinate system"):
        land_parameters(land(map=bare.name, classes="clcd"), terrain(), tmp_path)
    heights = write_raster(tmp_path / "heights.tif", np.linspace(0, 1, 1600, dtype=np.float32).reshape(40, 40))
    with pytest.raises(InputError, match="no map of classes"):
        land_parameters(land(map=heights.name, classes="clcd"), terrain(), tmp_path)
    (tmp_path / "text.tif").write_text("not a raster\n")
    with pytest.raises(InputError, match="cannot be read as a raster"):
        land_parameters(land(map="text.tif", classes="clcd"), terrain(), tmp_path)


def test_map_over_half_of_the_catchment_is_refused(tmp_path):
    path = write_raster(tmp_path / "half.tif", np.full((SIZE, 30), 2, dtype=np.uint8))
    with pytest.raises(InputError, match=r"no data on 25.0 % of the catchment"):
        land_parameters(land(map=path.name, classes="clcd"), terrain(), tmp_path)


def test_a_small_unit_without_data_takes_the_nearest_and_is_noted(tmp_path):
    place = terrain()
    place.unit_map[0, 39] = 4
    place.units.loc[4] = place.units.loc[2]
    place.units.loc[4, "area_km2"] = 0.01
    place.units.index = place.units.index.astype(int)
    codes = np.full((SIZE, SIZE), 2, dtype=np.uint8)
    codes[:20, 20:] = 4
    codes[0, 39] = 0
    path = write_raster(tmp_path / "land.tif", codes)
    notes: list[str] = []
    values = land_parameters(land(map=path.name, classes="clcd"), place, tmp_path, notes)
    np.testing.assert_array_equal(values["short_fraction"][[1, 3]], [1.0, 1.0])
    assert any("1 units without data" in note for note in notes)
