"""Terrain of surfaces whose areas, slopes and lengths follow from their shape."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from rasterio.transform import from_origin
from terrain_surfaces import gauge, half_funnel, rough_slope, rule, settings, tilted_v, two_valleys, write

from wepl.build import terrain_flow
from wepl.build.terrain import build_terrain
from wepl.build.terrain_raster import Grid
from wepl.build.types import Terrain
from wepl.errors import InputError

CELL_KM2 = 0.0009


def check_closure(terrain: Terrain) -> None:
    """Areas, identifiers and the network agree with one another and with the maps."""
    subbasins, units = terrain.subbasins, terrain.units
    n = len(subbasins)
    assert subbasins.index.tolist() == list(range(1, n + 1)) and units.index.tolist() == list(range(1, len(units) + 1))
    downstream = subbasins.downstream
    assert ((downstream == -1) | (downstream > subbasins.index)).all()  # rows run downstream, hence no cycles
    assert downstream.max() <= n
    total = subbasins.area_km2.copy()
    for identifier, below in downstream.items():
        if below > 0:
            total[below] += total[identifier]
    np.testing.assert_allclose(subbasins.upstream_km2, total, rtol=1e-12)
    np.testing.assert_allclose(units.groupby("subbasin").area_km2.sum(), subbasins.area_km2, rtol=1e-12)
    for table, field in ((subbasins, terrain.subbasin_map), (units, terrain.unit_map)):
        cells = np.bincount(field.ravel(), minlength=len(table) + 1)[1:]
        np.testing.assert_allclose(table.area_km2, cells * terrain.cell_area / 1e6, rtol=1e-12)
    assert (units.subbasin.to_numpy()[terrain.unit_map[terrain.unit_map > 0] - 1]
            == terrain.subbasin_map[terrain.unit_map > 0]).all()
    assert ((terrain.unit_map > 0) == (terrain.subbasin_map > 0)).all()
    assert units.subbasin.is_monotonic_increasing
    for _, bands in units.groupby("subbasin"):
        assert bands.order.tolist() == list(range(1, len(bands) + 1)) and len(bands) <= 10
        assert bands.elevation_m.is_monotonic_decreasing or bands.elevation_m.isna().all()
    assert (subbasins.reach_length_m > 0.0).all() and (units.flow_length_m > 0.0).all()
    assert [identifier for identifier, _ in terrain.rivers] == list(range(1, n + 1))


def test_tilted_v(tmp_path: Path) -> None:
    """All ground drains to the middle of the last row; slope, reach and hillslope are those of the two planes."""
    name = write(tmp_path / "dem.tif", tilted_v())
    terrain = build_terrain(settings(dem=name, bands=1), [], rule(), tmp_path)
    check_closure(terrain)
    assert terrain.crs == "EPSG:32650" and terrain.cell_area == 900.0
    only = terrain.subbasins.loc[1]
    assert len(terrain.subbasins) == 1 and only.downstream == -1
    assert only.area_km2 == pytest.approx(81 * 200 * CELL_KM2, rel=1e-12)
    # A row of 81 cells drains to each cell of the channel, which begins with the first that gathers 1 km2.
    head = math.ceil(1.0 / CELL_KM2 / 81) - 1
    assert only.reach_length_m == pytest.approx(30.0 * (200 - head), rel=1e-9)
    assert only.reach_slope == pytest.approx(0.02 * (199 - head) / (200 - head), rel=1e-3)
    assert only.reach_width_m == pytest.approx(2.5 * math.sqrt(only.upstream_km2), rel=1e-12)
    # Each side is a plane 40 cells long; of 81 columns the middle one is level across and the outer two show half.
    plane = math.hypot(0.2, 0.02)
    assert terrain.units.slope[1] == pytest.approx(plane, rel=0.03)
    assert terrain.units.flow_length_m[1] == pytest.approx(40.5 * 30.0, rel=0.03)
    assert terrain.units.elevation_m[1] == pytest.approx(float(tilted_v().mean()), abs=1e-3)
    line = terrain.rivers[0][1]
    np.testing.assert_allclose(line[:, 0], 400_000.0 + 40.5 * 30.0)
    assert (np.diff(line[:, 1]) == -30.0).all()


def test_even_slope_is_drained_straight_down() -> None:
    """Water on a plane takes the steepest way, not the lowest neighbour, which is a diagonal one."""
    height = np.repeat(np.arange(20.0, 0.0, -1.0)[:, None], 20, axis=1).astype(np.float32)
    flow, _ = terrain_flow.from_elevation(Grid(None, from_origin(0.0, 0.0, 10.0, 10.0), height))
    cells = np.arange(19 * 20)
    assert (flow.downstream[cells] == cells + 20).all()


def test_flat_drains_the_shortest_way() -> None:
    """Across a level floor water goes straight to the gap in its rim."""
    height = np.full((21, 21), 9.0, np.float32)
    height[1:-1, 1:-1] = 5.0
    height[10, 20] = 4.0
    flow, _ = terrain_flow.from_elevation(Grid(None, from_origin(0.0, 0.0, 10.0, 10.0), height))
    for row in range(1, 20):
        cell, steps = row * 21 + 1, 0
        while cell != 10 * 21 + 20:
            cell, steps = int(flow.downstream[cell]), steps + 1
        assert steps == 19


def test_half_funnel(tmp_path: Path) -> None:
    """Bands of equal area of a cone have the mean radii of equal rings."""
    n, size = 300, 30.0
    radius = 8000.0
    y = (np.arange(n)[::-1, None] + 0.5) * size
    x = (np.arange(2 * n + 1)[None, :] - n) * size
    name = write(tmp_path / "dem.tif", half_funnel(x, y, radius), nodata=-9999.0)
    terrain = build_terrain(settings(dem=name, bands=4, subbasin_area_km2=1000.0), [], rule(), tmp_path)
    check_closure(terrain)
    assert len(terrain.subbasins) == 1
    assert terrain.subbasins.area_km2[1] == pytest.approx(0.5 * math.pi * radius**2 / 1e6, rel=0.01)
    edges = radius * np.sqrt(np.array([1.0, 0.75, 0.5, 0.25, 0.0]))
    outer, inner = edges[:-1], edges[1:]
    mean = 2.0 / 3.0 * (outer**3 - inner**3) / (outer**2 - inner**2)
    # A cell of 30 m on a slope of 0.1 is 3 m high.
    np.testing.assert_allclose(terrain.units.elevation_m, 500.0 + 0.1 * mean, atol=3.0)
    np.testing.assert_allclose(terrain.units.area_km2, 0.125 * math.pi * radius**2 / 1e6, rtol=0.02)
    np.testing.assert_allclose(terrain.units.slope, 0.1, rtol=0.02)


def test_bands_of_equal_elevation(tmp_path: Path) -> None:
    """A V without fall along the valley but for a trace has as much ground in each step of height."""
    name = write(tmp_path / "dem.tif", tilted_v(along=1e-3))
    terrain = build_terrain(settings(dem=name, bands=5, band_rule="elevation"), [], rule(), tmp_path)
    check_closure(terrain)
    np.testing.assert_allclose(terrain.units.area_km2, terrain.subbasins.area_km2[1] / 5.0, rtol=0.06)
    # From 100 to 346 m: the middle of the highest fifth lies a tenth of the relief below the top.
    np.testing.assert_allclose(np.diff(terrain.units.elevation_m), -246.0 / 5.0, rtol=0.1)


@pytest.mark.parametrize(("relief", "least", "expected"), [(50.0, 0.0, 5), (1000.0, 0.0, 1), (5.0, 0.0, 10),
                                                           (5.0, 5.0, 2)])
def test_number_of_bands(tmp_path: Path, relief: float, least: float, expected: int) -> None:
    """One band per step of relief (246 m here), at most ten, none below the least area (14.6 km2 in all)."""
    name = write(tmp_path / "dem.tif", tilted_v(along=1e-3))
    config = settings(dem=name, band_relief_m=relief, min_band_area_km2=least)
    terrain = build_terrain(config, [], rule(), tmp_path)
    assert len(terrain.units) == expected
    assert terrain.units.area_km2.min() >= least


def test_two_basins(tmp_path: Path) -> None:
    """Both valleys have their own outlet and code; "largest" keeps the wide one."""
    name = write(tmp_path / "dem.tif", two_valleys())
    both = build_terrain(settings(dem=name, outlets="all", bands=1), [], rule(), tmp_path)
    check_closure(both)
    assert (both.subbasins.downstream == -1).sum() == 2
    np.testing.assert_allclose(sorted(both.subbasins.area_km2), [61 * 200 * CELL_KM2, 91 * 200 * CELL_KM2], rtol=0.01)
    assert sorted(str(code)[0] for code in both.subbasins.pfafstetter) == ["1", "2"]
    largest = build_terrain(settings(dem=name, bands=1), [], rule(), tmp_path)
    assert largest.subbasins.area_km2.tolist() == [max(both.subbasins.area_km2)]
    x, y = 400_000.0 + 30.0 * 32, 3_200_000.0 - 30.0 * 198
    place = build_terrain(settings(dem=name, bands=1, outlets=[[x, y]]), [], rule(search_m=200.0), tmp_path)
    # The nearest stream is that of the narrow valley, two rows above its end.
    assert place.subbasins.area_km2.tolist() == pytest.approx([61 * 199 * CELL_KM2], rel=0.01)


def test_outlet_above_an_outlet_is_refused(tmp_path: Path) -> None:
    name = write(tmp_path / "dem.tif", tilted_v())
    x = 400_000.0 + 40.5 * 30.0
    config = settings(dem=name, outlets=[[x, 3_200_000.0 - 30.0 * 180], [x, 3_200_000.0 - 30.0 * 100]])
    with pytest.raises(InputError, match=r"outlets\[1\] lies upstream of outlets\[0\]"):
        build_terrain(config, [], rule(search_m=100.0), tmp_path)


def test_pits_are_filled(tmp_path: Path) -> None:
    """Holes dug into the planes keep no ground back and lower no elevation of the result."""
    dem = tilted_v()
    generator = np.random.default_rng(3)
    rows, columns = generator.integers(2, 198, 300), generator.integers(2, 79, 300)
    dem[rows, columns] -= generator.uniform(1.0, 60.0, 300).astype(np.float32)
    name = write(tmp_path / "dem.tif", dem)
    terrain = build_terrain(settings(dem=name), [], rule(), tmp_path)
    check_closure(terrain)
    assert terrain.subbasins.area_km2.sum() == pytest.approx(dem.size * CELL_KM2, rel=1e-12)
    # Elevations are kept to 2^-10 m.
    np.testing.assert_allclose(terrain.elevation, dem, atol=0.5 / 1024.0)


@pytest.mark.parametrize("nodata", [-9999.0, -3.4028234663852886e38, float("nan")])
def test_hole_of_missing_data(tmp_path: Path, nodata: float) -> None:
    """A hole counts for nothing, and the water above it runs round it and not into it."""
    dem = tilted_v()
    dem[100:110, 36:45] = np.nan
    name = write(tmp_path / "dem.tif", dem, nodata=nodata)
    terrain = build_terrain(settings(dem=name), [], rule(), tmp_path)
    check_closure(terrain)
    assert terrain.subbasins.area_km2.sum() == pytest.approx((dem.size - 90) * CELL_KM2, rel=1e-12)
    assert (terrain.subbasins.downstream == -1).sum() == 1
    assert np.isnan(terrain.elevation[100:110, 36:45]).all() and (terrain.unit_map[100:110, 36:45] == 0).all()


def test_rough_ground(tmp_path: Path) -> None:
    """Every cell of a rough slope belongs to a catchment that closes, twice the same to the last bit."""
    name = write(tmp_path / "dem.tif", rough_slope(400))
    config = settings(dem=name, subbasin_area_km2=5.0, stream_threshold_km2=0.5)
    terrain, again = (build_terrain(config, [], rule(), tmp_path) for _ in range(2))
    check_closure(terrain)
    subbasins = terrain.subbasins
    assert len(subbasins) > 5 and subbasins.pfafstetter.is_unique
    assert (subbasins.area_km2[subbasins.downstream > 0] >= 5.0).all()
    heads = ~subbasins.index.isin(subbasins.downstream)
    assert heads.any() and (subbasins.reach_slope >= 1e-5).all()
    assert terrain.subbasins.equals(again.subbasins) and terrain.units.equals(again.units)
    np.testing.assert_array_equal(terrain.unit_map, again.unit_map)


def test_small_subbasins_join_down(tmp_path: Path) -> None:
    """The larger the wanted area, the fewer sub-basins; without one they end at every junction."""
    name = write(tmp_path / "dem.tif", rough_slope(400))
    numbers = []
    for area in (1e-6, 2.0, 10.0, 1e6):
        config = settings(dem=name, subbasin_area_km2=area, stream_threshold_km2=0.5)
        terrain = build_terrain(config, [], rule(), tmp_path)
        check_closure(terrain)
        numbers.append(len(terrain.subbasins))
        inflows = terrain.subbasins.downstream[terrain.subbasins.downstream > 0].value_counts()
        if area == 1e-6:
            assert (inflows >= 2).all()  # every sub-basin with water from above begins at a junction
    assert numbers[0] > numbers[1] > numbers[2] > numbers[3] == 1


def test_four_million_cells(tmp_path: Path) -> None:
    """A DEM of 2000 x 2000 cells closes."""
    name = write(tmp_path / "dem.tif", rough_slope(2000))
    terrain = build_terrain(settings(dem=name, outlets="all"), [], rule(), tmp_path)
    check_closure(terrain)
    # What drains over the frame in catchments below 1 km2 is left out.
    assert terrain.subbasins.area_km2.sum() > 0.9 * 4e6 * CELL_KM2
    assert terrain.subbasins.pfafstetter.is_unique


def test_gauges(tmp_path: Path) -> None:
    """A gauge cuts the sub-basin at its own place and has the area of the rows above it."""
    name = write(tmp_path / "dem.tif", tilted_v())
    x, row = 400_000.0 + 40.5 * 30.0, 120
    beside = gauge("beside", x + 150.0, 3_200_000.0 - (row + 0.5) * 30.0)
    by_area = gauge("by area", x, 3_200_000.0 - (row + 0.5) * 30.0, area_km2=81 * 141 * CELL_KM2)
    end = gauge("end", x, 3_200_000.0 - 197.5 * 30.0, area_km2=81 * 200 * CELL_KM2)
    config = settings(dem=name, bands=1)
    terrain = build_terrain(config, [beside, by_area, end], rule(search_m=1500.0), tmp_path)
    check_closure(terrain)
    table = terrain.gauges.set_index("name")
    assert table.found_km2["beside"] == pytest.approx(81 * 121 * CELL_KM2, rel=1e-9)
    assert table.moved_m["beside"] == pytest.approx(150.0, abs=0.1)
    assert math.isnan(table.given_km2["beside"])
    # A move of 20 rows costs 600 / 1500 of a tenth, more than the last rows mend of the error of 14 per cent.
    assert abs(table.found_km2["by area"] / table.given_km2["by area"] - 1.0) < 0.03
    assert table.found_km2["end"] == pytest.approx(81 * 200 * CELL_KM2, rel=1e-9)
    upstream = terrain.subbasins.upstream_km2[terrain.gauges.subbasin]
    np.testing.assert_allclose(upstream, terrain.gauges.found_km2, rtol=1e-12)
    assert terrain.subbasins.downstream[table.subbasin["end"]] == -1
    assert table.subbasin.is_unique


def test_gauge_whose_area_does_not_fit(tmp_path: Path) -> None:
    name = write(tmp_path / "dem.tif", tilted_v())
    wrong = gauge("Anywhere", 400_000.0 + 40.5 * 30.0, 3_200_000.0 - 100.5 * 30.0, area_km2=30.0)
    config = settings(dem=name, bands=1)
    with pytest.raises(InputError, match=r"gauge Anywhere .* not 30 km2 \(\d\d % off, more than 20 %\).*force = true"):
        build_terrain(config, [wrong], rule(search_m=1000.0), tmp_path)
    forced = build_terrain(config, [wrong], rule(search_m=1000.0, force=True), tmp_path)
    assert forced.gauges.given_km2[0] == 30.0 and forced.gauges.found_km2[0] < 15.0


def test_gauge_outside(tmp_path: Path) -> None:
    """All gauges that lie outside are named at once; degrees are taken for degrees."""
    name = write(tmp_path / "dem.tif", tilted_v())
    far = [gauge("North", 400_000.0, 3_400_000.0), gauge("Null", 0.0, 0.0, area_km2=5.0)]
    with pytest.raises(InputError, match="gauge North .*outside.*\n.*gauge Null .*outside"):
        build_terrain(settings(dem=name), far, rule(), tmp_path)
    with pytest.raises(InputError, match="stands more than once"):
        build_terrain(settings(dem=name), [far[0], far[0]], rule(), tmp_path)
