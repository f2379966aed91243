"""Reading elevations, directions and outlines: projections, nodata, tiles, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import rasterio
from affine import Affine
from rasterio.crs import CRS
from rasterio.transform import from_origin
from rasterio.warp import transform
from terrain_surfaces import NORTH, UTM, WEST, gauge, half_funnel, rule, settings, tilted_v, write

from wepl.build import terrain_flow
from wepl.build.terrain import build_terrain
from wepl.build.terrain_raster import Grid, read_grid
from wepl.build.types import Terrain
from wepl.errors import InputError

CELL_KM2 = 0.0009
RADIUS = 8000.0
FUNNEL_KM2 = 0.5 * math.pi * RADIUS**2 / 1e6


def build(folder: Path, **given) -> Terrain:
    return build_terrain(settings(bands=1, **given), [], rule(), folder)


def funnel_in_degrees(path: Path, step: float = 0.0003, descending: bool = True) -> str:
    """The half funnel at 117 E 28 N on a grid of degrees; about 30 m."""
    x0, y0 = (value[0] for value in transform("EPSG:4326", UTM, [117.0], [28.0]))
    column, row = np.arange(700), np.arange(420)
    longitude, latitude = np.meshgrid(116.895 + (column + 0.5) * step, 28.1 - (row + 0.5) * step)
    x, y = (np.reshape(value, longitude.shape) for value in
            transform("EPSG:4326", UTM, longitude.ravel().tolist(), latitude.ravel().tolist()))
    dem = half_funnel(x - x0, y - y0, RADIUS)
    grid = from_origin(116.895, 28.1, step, step)
    if not descending:
        dem, grid = dem[::-1], Affine(step, 0.0, 116.895, 0.0, step, 28.1 - 420 * step)
    with rasterio.open(path, "w", driver="GTiff", height=420, width=700, count=1, dtype="float32", crs="EPSG:4326",
                       transform=grid, nodata=float("nan")) as target:
        target.write(dem, 1)
    return path.name


@pytest.mark.parametrize("descending", [True, False])
def test_degrees_give_the_same_areas(tmp_path: Path, descending: bool) -> None:
    """The surface on a grid of degrees, rows from north or from south, has the areas of the plane one."""
    terrain = build(tmp_path, dem=funnel_in_degrees(tmp_path / "dem.tif", descending=descending),
                    subbasin_area_km2=1000.0)
    assert terrain.crs == UTM  # zone 50 north spans 114 to 120 E
    assert terrain.subbasins.area_km2.sum() == pytest.approx(FUNNEL_KM2, rel=0.01)
    assert terrain.cell_area == pytest.approx((0.0003 * 111_195.0)**2 * math.cos(math.radians(28.0)), rel=0.01)
    assert terrain.units.slope.to_numpy() == pytest.approx(0.1, rel=0.03)
    assert terrain.subbasins.longitude[1] == pytest.approx(117.0, abs=0.001)
    # The centre of a half disk lies 4 / (3 pi) of the radius from its middle.
    assert terrain.subbasins.latitude[1] == pytest.approx(28.0 + 4.0 * RADIUS / (3.0 * math.pi) / 111_195.0, abs=0.002)


def test_wide_raster_is_true_in_area(tmp_path: Path) -> None:
    """Beyond a UTM zone the grid is an equal-area one: 16 by 8 degrees have their area on the globe."""
    dem = np.add.outer(np.linspace(900.0, 100.0, 160), np.linspace(0.0, 50.0, 320)).astype(np.float32)
    with rasterio.open(tmp_path / "dem.tif", "w", driver="GTiff", height=160, width=320, count=1, dtype="float32",
                       crs="EPSG:4326", transform=from_origin(105.0, 34.0, 0.05, 0.05)) as target:
        target.write(dem, 1)
    grid = read_grid("dem.tif", tmp_path, "auto")
    assert not grid.crs.to_epsg() and "equal" in grid.crs.to_wkt().lower()
    area = np.isfinite(grid.values).sum() * abs(grid.transform.a * grid.transform.e)
    radius = 6371.0088e3
    ground = radius**2 * math.radians(16.0) * (math.sin(math.radians(34.0)) - math.sin(math.radians(26.0)))
    # Sphere against ellipsoid at these latitudes, and half a cell of 5 km lost around the edge of 1600 by 890 km.
    assert area == pytest.approx(ground, rel=0.01)


def test_web_mercator_is_not_kept(tmp_path: Path) -> None:
    """It is projected and in metres, yet shows areas at 47 N twice as large as they are."""
    x, y = (value[0] for value in transform("EPSG:4326", "EPSG:3857", [9.4], [47.3]))
    name = write(tmp_path / "dem.tif", tilted_v(), crs="EPSG:3857", west=x, north=y)
    grid = read_grid(name, tmp_path, "auto")
    assert grid.crs == CRS.from_epsg(32632)
    area = np.isfinite(grid.values).sum() * abs(grid.transform.a * grid.transform.e)
    assert area == pytest.approx(81 * 200 * 900.0 * math.cos(math.radians(47.27)) ** 2, rel=0.02)


def test_feet_become_metres(tmp_path: Path) -> None:
    """A grid in US survey feet is laid on one in metres."""
    name = write(tmp_path / "dem.tif", tilted_v(), size=100.0, crs="EPSG:2225", west=6_500_000.0, north=2_000_000.0)
    grid = read_grid(name, tmp_path, "auto")
    assert grid.crs.linear_units_factor[1] == 1.0
    area = np.isfinite(grid.values).sum() * abs(grid.transform.a * grid.transform.e)
    assert area == pytest.approx(81 * 200 * (100.0 * 1200.0 / 3937.0) ** 2, rel=0.02)


def test_asked_system_and_resolution(tmp_path: Path) -> None:
    name = write(tmp_path / "dem.tif", tilted_v())
    coarse = build(tmp_path, dem=name, resolution=60.0)
    assert coarse.cell_area == 3600.0 and coarse.crs == UTM
    assert coarse.subbasins.area_km2.sum() == pytest.approx(81 * 200 * CELL_KM2, rel=0.03)
    other = build(tmp_path, dem=name, crs="EPSG:32651", resolution=30.0)
    assert other.crs == "EPSG:32651"
    # Nine degrees off its meridian a UTM zone stretches areas by about 2 per cent.
    assert other.subbasins.area_km2.sum() == pytest.approx(81 * 200 * CELL_KM2, rel=0.04)
    for crs, said in (("EPSG:4326", "projected system in metres"), ("EPSG:999999", "no such coordinate")):
        with pytest.raises(InputError, match=said):
            build(tmp_path, dem=name, crs=crs)


def test_integers_and_scale(tmp_path: Path) -> None:
    """Whole metres, and decimetres with a scale in the file, give the same catchment."""
    dem = np.rint(tilted_v())
    dem[:3] = np.nan
    whole = np.where(np.isnan(dem), -32768, dem).astype(np.int16)
    of_whole = build(tmp_path, dem=write(tmp_path / "whole.tif", whole, nodata=-32768))
    assert of_whole.subbasins.area_km2.sum() == pytest.approx(81 * 197 * CELL_KM2, rel=1e-9)
    fine = np.where(np.isnan(dem), -32768, dem * 10).astype(np.int16)
    write(tmp_path / "fine.tif", fine, nodata=-32768)
    with rasterio.open(tmp_path / "fine.tif", "r+") as target:
        target.scales = (0.1,)
    of_fine = build(tmp_path, dem="fine.tif")
    np.testing.assert_allclose(of_fine.units.elevation_m, of_whole.units.elevation_m, atol=1e-3)


def test_tiles_of_a_virtual_raster(tmp_path: Path) -> None:
    """A VRT of two tiles gives what one file gives."""
    dem = tilted_v()
    write(tmp_path / "north.tif", dem[:120])
    write(tmp_path / "south.tif", dem[120:], north=NORTH - 120 * 30.0)
    band = "".join(f"""<SimpleSource><SourceFilename relativeToVRT="1">{name}.tif</SourceFilename>
        <SourceBand>1</SourceBand><SrcRect xOff="0" yOff="0" xSize="81" ySize="{size}"/>
        <DstRect xOff="0" yOff="{first}" xSize="81" ySize="{size}"/></SimpleSource>"""
                   for name, first, size in (("north", 0, 120), ("south", 120, 80)))
    (tmp_path / "dem.vrt").write_text(
        f"""<VRTDataset rasterXSize="81" rasterYSize="200"><SRS>{UTM}</SRS>
        <GeoTransform>{WEST}, 30.0, 0.0, {NORTH}, 0.0, -30.0</GeoTransform>
        <VRTRasterBand dataType="Float32" band="1">{band}</VRTRasterBand></VRTDataset>""")
    tiles = build(tmp_path, dem="dem.vrt")
    whole = build(tmp_path, dem=write(tmp_path / "dem.tif", dem))
    assert tiles.units.equals(whole.units) and tiles.subbasins.equals(whole.subbasins)


def outline(path: Path, corners: list[tuple[float, float]]) -> str:
    """Write a polygon in the coordinates of the surfaces."""
    ring = [[WEST + x, NORTH - y] for x, y in [*corners, corners[0]]]
    path.write_text(json.dumps({
        "type": "FeatureCollection", "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32650"}},
        "features": [{"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [ring]}}]}))
    return path.name


def test_outline(tmp_path: Path) -> None:
    """The catchment is the whole of the outline, though cells along its edge fall outwards."""
    name = write(tmp_path / "dem.tif", tilted_v())
    # A lozenge down the valley from row 20 to row 180; its lower edges cross the fall of the sides.
    shape = outline(tmp_path / "outline.geojson", [(1215, 600), (2100, 3000), (1215, 5400), (330, 3000)])
    terrain = build(tmp_path, dem=name, outline=shape, subbasin_area_km2=1000.0)
    assert (terrain.subbasins.downstream == -1).sum() == 1
    assert terrain.subbasins.area_km2.sum() == pytest.approx(0.5 * 1.770 * 4.8, rel=0.01)
    # Ground beyond the outline serves the slopes along it; only the 160 cells of the middle column fall less.
    level = 160 * CELL_KM2 / (0.5 * 1.770 * 4.8)
    np.testing.assert_allclose(terrain.units.slope, math.hypot(0.2, 0.02) * (1.0 - level) + 0.02 * level, rtol=3e-3)


def test_outlines_that_cannot_be_used(tmp_path: Path) -> None:
    name = write(tmp_path / "dem.tif", tilted_v())
    away = outline(tmp_path / "away.geojson", [(90_000, 0), (91_000, 0), (91_000, 900)])
    beyond = outline(tmp_path / "beyond.geojson", [(-3000, 0), (2000, 0), (2000, 6000), (-3000, 6000)])
    with pytest.raises(InputError, match="do not overlap"):
        build(tmp_path, dem=name, outline=away)
    with pytest.raises(InputError, match=r"holds data for \d+\S* of the outline's 30 km2"):
        build(tmp_path, dem=name, outline=beyond)
    (tmp_path / "text.geojson").write_text("no outline")
    with pytest.raises(InputError, match="cannot be read as an outline"):
        build(tmp_path, dem=name, outline="text.geojson")


def test_outline_over_a_ridge(tmp_path: Path) -> None:
    """An outline whose ground drains two ways is none of a catchment, unless all outlets are asked for."""
    sides = -tilted_v(along=0.001) + np.float32(700.0)
    name = write(tmp_path / "dem.tif", sides)
    shape = outline(tmp_path / "outline.geojson", [(0, 0), (2430, 0), (2430, 6000), (0, 6000)])
    with pytest.raises(InputError, match=r"only \d+ % of it drains to one outlet"):
        build(tmp_path, dem=name, outline=shape)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    dem = tilted_v()
    void = write(tmp_path / "void.tif", np.full_like(dem, np.nan), nodata=-9999.0)
    flat = write(tmp_path / "flat.tif", np.full_like(dem, 12.0))
    marked = dem.copy()
    marked[0, 0] = -9999.0
    undeclared = write(tmp_path / "undeclared.tif", marked)
    bare = write(tmp_path / "bare.tif", dem, crs=None)
    with rasterio.open(tmp_path / "degrees.tif", "w", driver="GTiff", height=200, width=81, count=1, dtype="float32",
                       transform=from_origin(116.0, 28.0, 0.0003, 0.0003)) as target:
        target.write(dem, 1)
    (tmp_path / "table.tif").write_text("date,value\n2000-01-01,3\n")
    small = write(tmp_path / "small.tif", dem[:2, :3])
    for name, said in ((void, "every cell is nodata"), (flat, "every elevation is 12 m: a flat DEM"),
                       (undeclared, "-9999 m is outside -500 to 9000 m: declare it as nodata"),
                       (bare, "no coordinate reference system: .*or give crs"),
                       ("degrees.tif", "no coordinate reference system, though its coordinates look like degrees"),
                       ("table.tif", "cannot be read as a raster"), ("absent.tif", "no such file"),
                       (small, "fewer than 9 cells")):
        with pytest.raises(InputError, match=said):
            build(tmp_path, dem=name)
    assert build(tmp_path, dem=bare, crs="32650").crs == UTM
    with pytest.raises(InputError, match="look like degrees"):
        build(tmp_path, dem="degrees.tif", crs=UTM)
    with pytest.raises(InputError, match=r"no catchment reaches 1000 km2: the largest has 14\.58 km2"):
        build(tmp_path, dem=bare, crs=UTM, outlets="all", stream_threshold_km2=1000.0)


def codes_of(dem: np.ndarray, east_clockwise: list[int], pit: int) -> np.ndarray:
    """Directions of a DEM in an encoding that is given from east clockwise."""
    flow, _ = terrain_flow.from_elevation(Grid(None, from_origin(0.0, 0.0, 30.0, 30.0), dem.copy()))
    cells = np.arange(dem.size)
    down = flow.downstream // dem.shape[1] - cells // dem.shape[1]
    right = flow.downstream % dem.shape[1] - cells % dem.shape[1]
    steps = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
    code = {step: value for step, value in zip(steps, east_clockwise, strict=True)} | {(0, 0): pit}
    flat = [code[step] for step in zip(down.tolist(), right.tolist(), strict=True)]
    return np.array(flat, np.uint8).reshape(dem.shape)


ENCODINGS = {"esri": ([1, 2, 4, 8, 16, 32, 64, 128], 0), "ldd": ([6, 3, 2, 1, 4, 7, 8, 9], 5),
             "1n_clockwise": ([3, 4, 5, 6, 7, 8, 1, 2], 0)}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_directions_give_the_network_of_their_dem(tmp_path: Path, encoding: str) -> None:
    """Same sub-basins and areas; elevations unknown; slopes those of the raster."""
    dem = tilted_v()
    whole = build(tmp_path, dem=write(tmp_path / "dem.tif", dem))
    name = write(tmp_path / "d8.tif", codes_of(dem, *ENCODINGS[encoding]))
    slope = write(tmp_path / "slope.tif", np.full(dem.shape, 0.04, np.float32))
    flow, _ = terrain_flow.from_elevation(Grid(None, from_origin(0.0, 0.0, 30.0, 30.0), dem.copy()))
    area = write(tmp_path / "area.tif", (flow.cells.reshape(dem.shape) * 900.0).astype(np.float32))
    terrain = build(tmp_path, d8=name, d8_encoding=encoding, slope=slope, accumulation=area)
    same = ["downstream", "pfafstetter", "area_km2", "upstream_km2", "reach_length_m", "longitude", "latitude"]
    assert terrain.subbasins[same].equals(whole.subbasins[same])
    assert terrain.subbasins.reach_slope.to_numpy() == pytest.approx(0.04)
    assert terrain.units.slope.to_numpy() == pytest.approx(0.04)
    assert np.isnan(terrain.elevation).all() and terrain.units.elevation_m.isna().all()
    np.testing.assert_array_equal(terrain.subbasin_map, whole.subbasin_map)


def test_bands_without_elevation(tmp_path: Path) -> None:
    """They are cut by the length of the way to the outlet: the ridge is what lies farthest."""
    name = write(tmp_path / "d8.tif", codes_of(tilted_v(), *ENCODINGS["esri"]))
    terrain = build_terrain(settings(d8=name, d8_encoding="esri", bands=3), [], rule(), tmp_path)
    assert terrain.units.order.tolist() == [1, 2, 3]
    assert terrain.units.latitude.is_monotonic_decreasing  # the valley runs south
    assert terrain.units.slope.isna().all() and terrain.subbasins.reach_slope.isna().all()


def test_directions_that_cannot_be_used(tmp_path: Path) -> None:
    dem = tilted_v()
    codes = codes_of(dem, *ENCODINGS["esri"])
    good = write(tmp_path / "d8.tif", codes)
    with pytest.raises(InputError, match=r"\[16.*are no directions of the encoding 1n_clockwise"):
        build(tmp_path, d8=good, d8_encoding="1n_clockwise")
    circle = codes.copy()
    circle[50, 10], circle[50, 11] = 1, 16
    around = write(tmp_path / "circle.tif", circle)
    with pytest.raises(InputError, match="of its cells run in circles"):
        build(tmp_path, d8=around, d8_encoding="esri")
    with pytest.raises(InputError, match="cannot be moved to another grid"):
        build(tmp_path, d8=good, d8_encoding="esri", resolution=90.0)
    steep = write(tmp_path / "steep.tif", np.full(dem.shape, 12.0, np.float32))
    with pytest.raises(InputError, match="a slope of 12: give tangents"):
        build(tmp_path, d8=good, d8_encoding="esri", slope=steep)
    areas = write(tmp_path / "areas.tif", np.full(dem.shape, 5e4, np.float32))
    with pytest.raises(InputError, match="at the outlets it differs by"):
        build(tmp_path, d8=good, d8_encoding="esri", accumulation=areas)


def test_gauge_in_another_system(tmp_path: Path) -> None:
    """A place in degrees, in its own system, or in that of the raster is one place."""
    name = write(tmp_path / "dem.tif", tilted_v())
    x, y = WEST + 40.5 * 30.0, NORTH - 150.5 * 30.0
    longitude, latitude = (value[0] for value in transform(UTM, "EPSG:4326", [x], [y]))
    east, north = (value[0] for value in transform(UTM, "EPSG:32649", [x], [y]))
    three = [gauge("raster", x, y), gauge("degrees", longitude, latitude),
             gauge("other", east, north, crs="EPSG:32649")]
    terrain = build_terrain(settings(dem=name), three, rule(), tmp_path)
    assert terrain.gauges.subbasin.nunique() == 1
    np.testing.assert_allclose(terrain.gauges.found_km2, 81 * 151 * CELL_KM2, rtol=1e-9)
    np.testing.assert_allclose(terrain.gauges.moved_m, 0.0, atol=0.1)
