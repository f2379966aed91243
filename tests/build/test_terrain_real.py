"""Terrain of real catchments, and Pfafstetter codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rasterio
import xarray as xr
from rasterio.transform import from_origin
from rasterio.warp import Resampling, calculate_default_transform, reproject
from terrain_surfaces import gauge, rule, settings
from test_terrain import check_closure

from wepl.basin.catchment_terrain import hypsometry_from_dem
from wepl.build.terrain import build_terrain
from wepl.build.terrain_network import pfafstetter_codes
from wepl.build.types import Terrain

SITTER_KM2 = 74.4  # CAMELS-CH, attribute ar_1903 of the outline
CANCE_KM2 = 381.7  # Hydroportail, V3524010


@pytest.fixture(scope="module")
def sitter(shared_data: Path) -> Terrain:
    """Sitter at Appenzell from its DEM, its outline and its gauge's place in degrees."""
    place = gauge("Appenzell", 9.4097, 47.3310, area_km2=SITTER_KM2)
    config = settings(dem="dem.tif", outline="outline.shp")
    return build_terrain(config, [place], rule(), shared_data / "sitter_appenzell")


def test_sitter_area_and_network(sitter: Terrain) -> None:
    check_closure(sitter)
    assert sitter.crs == "EPSG:2056"
    assert sitter.subbasins.area_km2.sum() == pytest.approx(SITTER_KM2, rel=0.02)
    assert (sitter.subbasins.downstream == -1).sum() == 1
    assert sitter.subbasins.pfafstetter.is_unique
    found = sitter.gauges.iloc[0]
    assert found.found_km2 == pytest.approx(SITTER_KM2, rel=0.02)
    assert sitter.subbasins.downstream[found.subbasin] == -1


def test_sitter_hypsometry(sitter: Terrain, shared_data: Path) -> None:
    """The elevations of the catchment, and its bands put in one row, follow the curve of DEM and outline."""
    folder = shared_data / "sitter_appenzell"
    curve = hypsometry_from_dem(folder / "dem.tif", folder / "outline.shp")
    inside = np.sort(sitter.elevation[np.isfinite(sitter.elevation)])
    share = (np.arange(inside.size) + 0.5) / inside.size
    at = np.linspace(0.0, 1.0, 101)
    difference = np.interp(at, share, inside) - np.interp(at, curve.share_below, curve.elevation)
    assert abs(difference).max() < 20.0
    bands = sitter.units.sort_values("elevation_m")
    end = np.cumsum(bands.area_km2) / bands.area_km2.sum()
    middle = end - 0.5 * bands.area_km2 / bands.area_km2.sum()
    of_bands = bands.elevation_m - np.interp(middle, curve.share_below, curve.elevation)
    # Bands of several sub-basins overlap in height, each 200 m of relief at most.
    assert abs(np.average(of_bands, weights=bands.area_km2)) < 20.0
    assert np.average(bands.elevation_m, weights=bands.area_km2) == pytest.approx(curve.mean, abs=1.0)
    assert np.average(bands.slope, weights=bands.area_km2) == pytest.approx(
        float(np.trapezoid(curve.slope, curve.share_below)), rel=0.05)


def test_sitter_in_degrees(sitter: Terrain, shared_data: Path, tmp_path: Path) -> None:
    """The DEM put on a grid of degrees gives the same catchment on a UTM grid."""
    with rasterio.open(shared_data / "sitter_appenzell" / "dem.tif") as source:
        grid, columns, rows = calculate_default_transform(source.crs, "EPSG:4326", source.width, source.height,
                                                          *source.bounds)
        values = np.full((rows, columns), -9999.0, np.float32)
        reproject(rasterio.band(source, 1), values, dst_transform=grid, dst_crs="EPSG:4326", dst_nodata=-9999.0,
                  resampling=Resampling.bilinear)
    with rasterio.open(tmp_path / "dem.tif", "w", driver="GTiff", height=rows, width=columns, count=1, dtype="float32",
                       crs="EPSG:4326", transform=grid, nodata=-9999.0) as target:
        target.write(values, 1)
    outline = str(shared_data / "sitter_appenzell" / "outline.shp")
    terrain = build_terrain(settings(dem="dem.tif", outline=outline), [], rule(), tmp_path)
    check_closure(terrain)
    assert terrain.crs == "EPSG:32632"
    assert terrain.subbasins.area_km2.sum() == pytest.approx(sitter.subbasins.area_km2.sum(), rel=0.01)
    mean, other = (np.average(each.units.elevation_m, weights=each.units.area_km2) for each in (terrain, sitter))
    assert mean == pytest.approx(other, abs=2.0)


def test_cance_from_its_directions(shared_data: Path, tmp_path: Path) -> None:
    """The area of the grid of 1 km cells at the outlet and the network above it; there are no elevations."""
    folder = shared_data / "cance"
    with xr.open_dataset(folder / "Cance_mesh.nc") as mesh:
        codes, drained = mesh.flwdir.values.astype(np.uint8), mesh.flwacc.values.astype(np.float32)
        west, north = float(mesh.x[0]) - 500.0, float(mesh.y[0]) + 500.0
        active = int(mesh.active_cell.sum())
    for name, values in (("d8.tif", codes), ("accumulation.tif", drained)):
        with rasterio.open(tmp_path / name, "w", driver="GTiff", height=28, width=28, count=1, dtype=values.dtype,
                           crs="EPSG:2154", transform=from_origin(west, north, 1000.0, 1000.0)) as target:
            target.write(values, 1)
    x, y = west + 27.5 * 1000.0, north - 20.5 * 1000.0
    config = settings(d8="d8.tif", d8_encoding="1n_clockwise", accumulation="accumulation.tif", outlets=[[x, y]],
                      stream_threshold_km2=5.0)
    inner = gauge("V3515010", west + 13_500.0, north - 10_500.0, area_km2=107.0)
    terrain = build_terrain(config, [gauge("V3524010", x, y, area_km2=CANCE_KM2), inner], rule(), tmp_path)
    check_closure(terrain)
    assert (terrain.subbasins.downstream == -1).sum() == 1
    assert terrain.gauges.found_km2[0] == pytest.approx(CANCE_KM2, rel=0.03)
    assert terrain.gauges.found_km2[1] == pytest.approx(107.0, rel=0.03)
    assert (terrain.gauges.moved_m == 0.0).all()
    assert terrain.subbasins.area_km2.sum() == pytest.approx(active, rel=1e-12)


def test_pfafstetter_of_a_drawn_network() -> None:
    """Five tributaries on a main stem: the four largest are even, the smallest divides the ground it lies in.

    From the rule of Verdin and Verdin 1999: tributary k joins stem k; the second is the smallest.
    """
    own = {"stem 5": 20.0, "t5": 4.0, "stem 4": 1.0, "t4": 6.0, "stem 3": 1.0, "t3": 8.0, "stem 2": 1.0, "t2": 2.0,
           "stem 1": 1.0, "t1": 10.0, "stem 0": 1.0}
    names = list(own)
    below = {f"stem {k}": f"stem {k - 1}" for k in range(1, 6)} | {f"t{k}": f"stem {k - 1}" for k in range(1, 6)}
    downstream = np.array([names.index(below[name]) if name in below else -1 for name in names])
    area = np.array(list(own.values()))
    for k, target in enumerate(downstream[:-1]):
        area[target] += area[k]
    codes = dict(zip(names, pfafstetter_codes(downstream, area).tolist(), strict=True))
    assert codes == {"stem 0": 1, "t1": 2, "stem 1": 31, "t2": 32, "stem 2": 33, "t3": 4, "stem 3": 5, "t4": 6,
                     "stem 4": 7, "t5": 8, "stem 5": 9}


def test_pfafstetter_of_a_chain() -> None:
    """Stretches of a river without tributaries rise in odd digits from its mouth."""
    assert pfafstetter_codes(np.array([1, 2, -1]), np.array([1.0, 2.0, 3.0])).tolist() == [5, 3, 1]
    eleven = pfafstetter_codes(np.array([*range(1, 11), -1]), np.arange(1.0, 12.0))
    assert len(set(eleven.tolist())) == 11 and eleven[-1] == min(eleven)
    assert pfafstetter_codes(np.array([-1]), np.array([3.0])).tolist() == [1]


@pytest.mark.parametrize("seed", range(5))
def test_pfafstetter_codes_are_unique(seed: int) -> None:
    """Whatever the network, with any number of inflows to a sub-basin and several catchments."""
    generator = np.random.default_rng(seed)
    n = 400
    downstream = np.array([generator.integers(k + 1, min(n, k + 60)) for k in range(n - 1)] + [-1])
    downstream[generator.integers(0, n - 1, seed)] = -1
    area = generator.uniform(0.5, 2.0, n)
    for k in range(n):
        if downstream[k] >= 0:
            area[downstream[k]] += area[k]
    codes = pfafstetter_codes(downstream, area)
    assert np.unique(codes).size == n and codes.min() >= 1
