"""A basin built from one catchment's facts keeps those facts, and refuses what cannot be one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wepl import registry
from wepl.basin import catchment_land, catchment_terrain
from wepl.basin.catchment import from_catchment
from wepl.basin.soils import texture_parameters
from wepl.errors import InputError

CURVE = ([100.0, 300.0, 500.0, 900.0], [0.0, 0.5, 0.8, 1.0])
LAND = {"mixed_forest": 0.4, "evergreen_needleleaf_forest": 0.1, "grass": 0.2, "bare": 0.05, "dry_crop": 0.1,
        "paddy": 0.05, "urban": 0.06, "water": 0.04}


def weather(days: int = 20, freq: str = "1D") -> pd.DataFrame:
    index = pd.date_range("2001-03-01", periods=days, freq=freq)
    return pd.DataFrame({"precipitation": np.linspace(0.0, 30.0, days),
                         "air_temperature": np.linspace(-3.0, 15.0, days),
                         "relative_humidity": np.full(days, 70.0), "wind_speed": np.full(days, 2.0),
                         "shortwave_radiation": np.full(days, 150.0)}, index=index)


def build(**changes):
    facts = dict(name="Test", area=50.0, latitude=45.0, longitude=7.0, land=LAND, soil="loam", forcing=weather(),
                 hypsometry=CURVE, slope=0.2, bands=4)
    facts.update(changes)
    place = [facts.pop(key) for key in ("name", "area", "latitude", "longitude")]
    return from_catchment(*place, **facts)


def test_a_built_basin_passes_all_checks():
    checks = build().validate()
    assert checks and all(check.passed for check in checks), [check for check in checks if not check.passed]


def test_file_round_trip_and_run(tmp_path):
    from wepl.run.simulation import run

    path = tmp_path / "basin.nc"
    build().to_netcdf(path)
    result = run(path, output=tmp_path / "result.nc", quiet=True)
    direct = run(build(), output=tmp_path / "direct.nc", quiet=True)
    assert result.balance.closure <= 1e-9
    assert result.n_steps == direct.n_steps == 20
    import xarray as xr

    with xr.open_dataset(tmp_path / "result.nc") as one, xr.open_dataset(tmp_path / "direct.nc") as other:
        assert np.array_equal(one["discharge"].values, other["discharge"].values)
        assert str(one["gauge_name"].values[0]) == "Test"


@pytest.mark.parametrize("bands", [1, 3, 10])
@pytest.mark.parametrize("n_subbasins", [1, 3])
def test_area_and_relief_are_kept(bands, n_subbasins):
    data = build(bands=bands, n_subbasins=n_subbasins).parameters
    assert float(data["unit_area"].sum()) == pytest.approx(50e6, rel=1e-12)
    # Mean of the curve by hand: 0.5 * 200 + 0.3 * 400 + 0.2 * 700 = 360 m.
    mean = np.average(data["unit_elevation"], weights=data["unit_area"])
    assert mean == pytest.approx(360.0, rel=1e-9)
    one = data["unit_elevation"].values[data["unit_subbasin"].values == 1]
    assert one.size == bands and (np.diff(one) < 0.0).all()
    assert list(data["downstream"].values) == [*range(2, n_subbasins + 1), -1]
    assert float(data["reach_length"].sum()) == pytest.approx(1273.0 * 50.0**0.6, rel=1e-3)
    assert float(data["cell_elevation"].values[0]) == pytest.approx(360.0, rel=1e-9)


def test_estimates_of_the_reach():
    """Hack (1957): 1.4 A^0.6 miles, so 100 square miles have 22.19 miles; Bieger et al. (2015): 2.70 A^0.352 m."""
    curve = catchment_terrain.hypsometry(*CURVE)
    square_miles = 100.0 * 1.609344**2
    length, slope, width = catchment_terrain.reach_geometry(square_miles, curve)
    assert length == pytest.approx(1.4 * 100.0**0.6 * 1609.344, rel=2e-4)
    assert slope == pytest.approx(200.0 / length, rel=1e-12)
    assert width == pytest.approx(2.70 * square_miles**0.352, rel=1e-12)
    assert catchment_terrain.reach_geometry(50.0, curve, 1.0, 0.5, 3.0) == (1.0, 0.5, 3.0)


def test_overland_length_follows_drainage_density():
    """Horton (1945): half the inverse of the drainage density from the ridge to a channel."""
    assert float(build().parameters["unit_flow_length"].sum()) == pytest.approx(250.0)
    denser = build(parameters={"drainage_density": (4.0, "km-1")}).parameters
    assert float(denser["unit_flow_length"].sum()) == pytest.approx(125.0)
    assert float(build(hillslope_length=800.0).parameters["unit_flow_length"].sum()) == pytest.approx(800.0)


def test_land_classes():
    data = build().parameters
    fraction = dict(zip(registry.LAND_CLASSES, data["land_fraction"].values[0], strict=True))
    assert fraction == pytest.approx({"water": 0.04, "soil_vegetation": 0.75, "irrigated": 0.05, "non_irrigated": 0.1,
                                      "impervious": 0.06})
    assert float(data["tall_fraction"][0]) == pytest.approx(0.5 / 0.75)
    assert float(data["short_fraction"][0]) == pytest.approx(0.2 / 0.75)
    names = [str(name) for name in data["vegetation_name"].values]
    chosen = {key: names[int(data[key][0])] for key in ("tall_vegetation", "short_vegetation", "irrigated_vegetation",
                                                        "non_irrigated_vegetation")}
    assert chosen == {"tall_vegetation": "mixed_forest", "short_vegetation": "grass", "irrigated_vegetation": "paddy",
                      "non_irrigated_vegetation": "dry_crop"}
    assert names == list(catchment_land.VEGETATION_KINDS)


def test_land_per_band():
    land = [{"bare": 1.0}, {"grass": 1.0}, {"water": 1.0}, {"shrub": 0.5, "orchard": 0.5}]
    data = build(land=land).parameters
    assert data["tall_fraction"].values == pytest.approx(0.0)
    assert data["short_fraction"].values == pytest.approx([0.0, 1.0, 0.0, 1.0])
    assert data["land_fraction"].values[:, 1] == pytest.approx([1.0, 1.0, 0.0, 0.5])
    assert data["non_irrigated_vegetation"].values[3] == catchment_land.VEGETATION_KINDS.index("orchard")


@given(st.lists(st.floats(0.0, 1.0), min_size=12, max_size=12).filter(lambda shares: sum(shares) > 0.01))
def test_shares_of_land_add_to_one(shares):
    total = sum(shares)
    land = {kind: share / total for kind, share in zip(catchment_land.LAND_KINDS, shares, strict=True)}
    values = catchment_land.land_parameters(land, 2)
    assert values["land_fraction"].sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    vegetated = values["tall_fraction"] + values["short_fraction"]
    assert (vegetated <= 1.0 + 1e-12).all() and (values["tall_fraction"] >= 0.0).all()


def test_soil_by_texture_and_layer():
    data = build(soil=["loam", "clay", {"loam": 0.5, "clay": 0.5}]).parameters
    loam, clay = texture_parameters("loam"), texture_parameters("clay")
    for name in catchment_land.SOIL_PARAMETERS:
        mean = 0.5 * (loam[name] + clay[name])
        if name == "saturated_conductivity":
            mean = np.sqrt(loam[name] * clay[name])
        assert data[name].values[0] == pytest.approx([loam[name], clay[name], mean], rel=1e-9), name
    assert data["soil_thickness"].values[0, :2] == pytest.approx([0.2, 0.4])
    assert (data["soil_thickness"].values.sum(axis=1) >= 0.76).all()
    assert (data["soil_thickness"].values.sum(axis=1) <= 2.01).all()


def test_units_are_converted():
    hours = weather(48, "1h")
    inches = hours.assign(precipitation=hours["precipitation"] / 25.4)
    one = build(forcing=hours, forcing_units={"precipitation": "mm h-1"}).forcing.read(0, 48)
    other = build(forcing=inches, forcing_units={"precipitation": "inch h-1"}).forcing.read(0, 48)
    row = registry.row("precipitation")
    assert one[row, 47, 0] == pytest.approx(30.0e-3 / 3600.0, rel=1e-12)
    assert other[row] == pytest.approx(one[row], rel=1e-12)
    assert build(parameters={"specific_yield": 0.1}).parameters["specific_yield"].values == pytest.approx(0.1)
    per_day = build(parameters={"saturated_conductivity": ([0.24, 0.24, 0.024], "m d-1")}).parameters
    assert per_day["saturated_conductivity"].values[1] == pytest.approx(np.array([1e-2, 1e-2, 1e-3]) / 3600.0)


def test_times_of_a_mapping():
    table = {name: column.to_numpy() for name, column in weather().items()}
    clock = build(forcing=table, start="2001-03-01", step="1D").forcing.clock
    frame = build().forcing.clock
    assert (clock.n_steps, clock.step_seconds, clock.label(0)) == (frame.n_steps, frame.step_seconds, frame.label(0))
    assert clock.label(19).startswith("2001-03-20")


def test_options_stand_in_the_basin():
    options = build(options={"wind_height": 2.0, "infiltration_switch": "rate", "heavy_rain_depth": 5.0}).options
    assert options["wind_height"] == 2.0
    assert options["infiltration_switch"] == 1
    assert options["heavy_rain_depth"] == pytest.approx(0.005)  # given in mm, as in a file


@given(st.lists(st.tuples(st.floats(1.0, 400.0), st.floats(0.0, 1.0)), min_size=1, max_size=12), st.integers(1, 10))
def test_bands_keep_the_mean_elevation(steps, bands):
    rise, width = np.array(steps).T
    if width.sum() < 1e-3:
        width = np.ones_like(width)
    share = np.concatenate([[0.0], np.cumsum(width) / width.sum()])
    share[-1] = 1.0
    curve = catchment_terrain.hypsometry(np.concatenate([[0.0], np.cumsum(rise)]), np.minimum(share, 1.0))
    cut = catchment_terrain.cut_bands(curve, bands)
    assert float(cut.share @ cut.elevation) == pytest.approx(curve.mean, rel=1e-9)
    assert (cut.lowest <= cut.elevation + 1e-6).all() and (cut.elevation <= cut.highest + 1e-6).all()
    assert (np.diff(cut.elevation) <= 1e-6).all()


def test_relief_from_a_raster(tmp_path):
    """A tilted plane of 10 m cells, slope 0.3 to the east: curve and slope are known exactly."""
    import fiona
    import rasterio
    from affine import Affine

    plane = np.broadcast_to(100.0 + 3.0 * (np.arange(60) + 0.5), (40, 60)).astype("float32")
    with rasterio.open(tmp_path / "dem.tif", "w", driver="GTiff", width=60, height=40, count=1, dtype="float32",
                       crs="EPSG:32632", transform=Affine(10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0),
                       nodata=-9999.0) as raster:
        raster.write(plane, 1)
    ring = [(500_100.0, 4_999_900.0), (500_500.0, 4_999_900.0), (500_500.0, 4_999_700.0), (500_100.0, 4_999_700.0),
            (500_100.0, 4_999_900.0)]
    with fiona.open(tmp_path / "outline.gpkg", "w", driver="GPKG", crs="EPSG:32632",
                    schema={"geometry": "Polygon", "properties": {}}) as outline:
        outline.write({"geometry": {"type": "Polygon", "coordinates": [ring]}, "properties": {}})
    curve = catchment_terrain.hypsometry_from_dem(tmp_path / "dem.tif", tmp_path / "outline.gpkg")
    assert curve.area == pytest.approx(0.08, rel=1e-12)
    assert curve.mean == pytest.approx(100.0 + 0.3 * 300.0, abs=0.1)
    assert curve.slope == pytest.approx(0.3, rel=1e-5)
    data = build(area=None, hypsometry=None, slope=None, dem=tmp_path / "dem.tif",
                 outline=tmp_path / "outline.gpkg").parameters
    assert float(data["unit_area"].sum()) == pytest.approx(0.08e6, rel=1e-9)
    assert data["unit_slope"].values == pytest.approx(0.3, rel=1e-5)
    with pytest.raises(InputError, match="area is 50 km2, but the relief covers 0.08 km2"):
        build(hypsometry=None, slope=None, dem=tmp_path / "dem.tif", outline=tmp_path / "outline.gpkg")


def _without(column: str) -> pd.DataFrame:
    return weather().drop(columns=column)


def _gap() -> pd.DataFrame:
    return weather().drop(index=pd.Timestamp("2001-03-05"))


def _hole() -> pd.DataFrame:
    frame = weather()
    frame.iloc[7, 1] = np.nan
    return frame


@pytest.mark.parametrize(("changes", "message"), [
    (dict(latitude=91.0), "latitude = 91.0 is outside -90 to 90"),
    (dict(longitude=-200.0), "longitude = -200.0 is outside -180 to 360"),
    (dict(area=0.0), "area = 0.0 km2 must be above 0"),
    (dict(area=float("nan")), "must be above 0"),
    (dict(area=None), "area is needed"),
    (dict(bands=11), "bands = 11: give a whole number from 1 to 10"),
    (dict(bands=2.5), "bands = 2.5"),
    (dict(n_subbasins=0), "n_subbasins = 0"),
    (dict(hypsometry=None), "the relief is not given"),
    (dict(hypsometry=None, dem="nowhere.tif"), "dem with the outline"),
    (dict(dem="nowhere.tif", outline="nowhere.shp"), "both given"),
    (dict(hypsometry=None, dem="nowhere.tif", outline="nowhere.shp"), "no such file"),
    (dict(hypsometry=([100, 50], [0, 1])), "elevation does not rise from point 0"),
    (dict(hypsometry=([1, 2, 3], [0, 0.6, 0.5])), "falls from 0.6 at 2 m to 0.5 at 3 m"),
    (dict(hypsometry=([1, 2], [0.1, 1])), "from 0.1 to 1, not from 0 to 1"),
    (dict(hypsometry=([1, 2, 3], [0, 1])), "two lists of one length"),
    (dict(slope=None), "slope is needed"),
    (dict(slope=[0.1, 0.2]), "2 values were given for 4 bands"),
    (dict(slope=-0.1), "from 0"),
    (dict(land={"grass": 0.6}), "the shares add to 0.6, not to 1"),
    (dict(land={"grass": 0.6, "lawn": 0.4}), "unknown kind 'lawn': choose from"),
    (dict(land={"grass": 1.5, "bare": -0.5}), "the share of grass is 1.5"),
    (dict(land=[{"grass": 1.0}]), "1 sets of shares were given for 4 bands"),
    (dict(soil={"loam": 0.4, "clay": 0.4}), "add to 0.8, not to 1"),
    (dict(soil="mud"), "mud"),
    (dict(soil=["loam", "clay"]), "2 layers of texture for 3 thicknesses"),
    (dict(soil_thickness=[0.2, -1.0]), "one thickness above 0 m per layer"),
    (dict(forcing=_without("precipitation")), "the column precipitation is missing"),
    (dict(forcing=_without("shortwave_radiation")), "shortwave_radiation or sunshine_duration is needed"),
    (dict(forcing=weather().rename(columns={"wind_speed": "wind"})), "unknown column wind"),
    (dict(forcing=_gap()), "times are not even: from 2001-03-04 00:00:00 to 2001-03-06 00:00:00"),
    (dict(forcing=_hole()), "air_temperature has 1 missing values, the first in row 7"),
    (dict(forcing={name: [1.0] * 3 for name in weather()}), "has no times: give start and step"),
    (dict(forcing=weather().iloc[:0]), "no rows"),
    (dict(forcing=weather(60, "1min")), "a step of 60 s cannot be used"),
    (dict(forcing_units={"snowfall": "mm"}), "which is no column"),
    (dict(forcing_units={"precipitation": "furlong"}), "furlong"),
    (dict(parameters={"albedo": 0.2}), "albedo is not a parameter of a catchment"),
    (dict(parameters={"unit_slope": [0.1, 0.2]}), "give one number, or"),
    (dict(options={"windheight": 2.0}), "unknown option windheight"),
    (dict(options={"infiltration_switch": "often"}), "'often': choose from daily_depth"),
    (dict(reach_slope=0.0), "reach_slope = 0.0 must be above 0"),
    (dict(hillslope_length=0.0), "hillslope_length = 0.0 m must be above 0"),
])
def test_what_cannot_be_a_catchment(changes, message):
    with pytest.raises(InputError) as caught:
        build(**changes)
    assert message in str(caught.value)
