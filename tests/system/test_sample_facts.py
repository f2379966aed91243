"""The sample file against the published facts of the Poyang Lake basin that docs/sample.md lists with their sources.

The figures stand here once more, apart from the generator's own table, so that a slip there is seen. Each series has
its monthly means fixed but for the rounding of the file (0.01 mm, 0.01 K, 0.1 %, 0.01 h a day).
"""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from wepl import registry, units
from wepl.basin.dataset import Basin
from wepl.basin.sample import make_sample
from wepl.basin.synthetic import build, synthesize
from wepl.errors import InputError

GAUGES = {"Waizhou": 80_948, "Lijiadu": 15_811, "Meigang": 15_535, "Hushan": 6_374, "Dufengkeng": 5_013,
          "Qiujin": 9_914, "Wanjiabu": 3_548, "Hukou": 162_225}  # km2, hydrological yearbooks; Pang et al. 2024
# Nanchang, normals by month.
TEMPERATURE = [5.5, 7.9, 11.8, 18.1, 23.1, 26.2, 29.6, 29.0, 25.3, 20.0, 13.5, 7.8]  # degC
PRECIPITATION = [74, 101, 175, 219, 228, 306, 144, 124, 75, 57, 74, 45]  # mm
SUNSHINE = [89, 86, 97, 127, 155, 159, 240, 232, 184, 164, 140, 131]  # h
HUMIDITY = [74, 77, 79, 79, 78, 81, 75, 75, 74, 71, 72, 70]  # %
YEARS = 3


@pytest.fixture(scope="module")
def sample(sample_path):
    with xr.open_dataset(sample_path, decode_timedelta=False) as data:
        return data.load()


def area_share(sample):
    """Share of each unit in the basin's area."""
    area = sample["unit_area"].values
    return area / area.sum()


def cell_share(sample):
    """Share of the basin's area in each forcing cell."""
    position = np.searchsorted(sample["cell"].values, sample["unit_cell"].values)
    return np.bincount(position, weights=area_share(sample), minlength=sample.sizes["cell"])


def upstream_area(sample):
    """Area above each reach's end, km2, and the position of the reach below (-1 at the outlet)."""
    ids = list(sample["subbasin"].values)
    place = {name: number for number, name in enumerate(ids)}
    below = np.array([place.get(name, -1) for name in sample["downstream"].values])
    total = np.zeros(len(ids))
    np.add.at(total, [place[name] for name in sample["unit_subbasin"].values], sample["unit_area"].values)
    for number in range(len(ids)):
        if below[number] >= 0:
            assert below[number] > number, "the file is ordered from the sources to the outlet"
            total[below[number]] += total[number]
    return total, below


def monthly(sample, name, how):
    """Mean over the years of each calendar month's sum or mean at each cell, shape (12, cell)."""
    by_month = sample[name].astype("f8").groupby("time.month")
    return (by_month.sum("time") / YEARS if how == "sum" else by_month.mean("time")).values


def test_every_check_of_a_basin_file_passes(sample_path):
    assert [check for check in Basin.open(sample_path).validate() if not check.passed] == []


def test_size_and_period(sample, sample_path):
    assert sample.sizes["unit"] == 500
    assert 110 <= sample.sizes["subbasin"] <= 130
    assert sample.sizes["cell"] >= 12
    assert sample.sizes["time"] == 1096
    assert str(sample["time"].values[0])[:10] == "2010-01-01"
    assert str(sample["time"].values[-1])[:10] == "2012-12-31"
    assert sample_path.stat().st_size <= 8e6


def test_says_that_it_is_synthetic(sample, sample_path):
    assert "ynthetic" in sample.attrs["title"]
    assert "synthetic" in (sample_path.parent / "README.md").read_text(encoding="utf-8").splitlines()[0]


def test_made_again_by_its_command(sample, tmp_path):
    with xr.open_dataset(make_sample(tmp_path / "again.nc"), decode_timedelta=False) as again:
        assert set(again.variables) == set(sample.variables)
        for name, values in again.variables.items():
            if values.dtype.kind in "fi":  # another numpy or BLAS may differ in the last bits and so in the last digit
                tolerance = 0.011 if "time" in values.dims else 0.0
                np.testing.assert_allclose(values.values, sample[name].values, rtol=1e-6, atol=tolerance, err_msg=name)


def test_values_within_the_registry(sample):
    for entry in registry.TABLE:
        if entry.name in sample and entry.kind in ("topology", "parameter", "option", "forcing"):
            values = sample[entry.name]
            inside = units.convert(values.values.astype(float), values.attrs["units"], entry.units, entry.name)
            assert np.isfinite(inside).all(), entry.name
            assert entry.valid[0] <= inside.min() and inside.max() <= entry.valid[1], entry.name
    assert sample["relative_humidity"].max() <= 100.0
    np.testing.assert_allclose(sample["land_fraction"].sum("land_class"), 1.0, atol=1e-12)


def test_areas_of_the_gauges(sample):
    total, below = upstream_area(sample)
    assert np.count_nonzero(below < 0) == 1
    for name, area in GAUGES.items():
        gauge = [number for number, text in enumerate(sample["gauge_name"].values) if name in str(text)]
        assert len(gauge) == 1, name
        place = np.flatnonzero(sample["subbasin"].values == sample["gauge_subbasin"].values[gauge[0]])[0]
        assert total[place] == pytest.approx(area, rel=0.01), name
        assert (below[place] < 0) == (name == "Hukou")


def strahler(below):
    """Strahler order of each reach; reaches come after all those above."""
    orders, entering = np.zeros(below.size, int), [[] for _ in below]
    for number, down in enumerate(below):
        above = sorted(entering[number])
        orders[number] = 1 if not above else above[-1] + (len(above) > 1 and above[-1] == above[-2])
        if down >= 0:
            entering[down].append(orders[number])
    return orders


def horton_ratios(below, total, length):
    """Ratios of number, mean area and mean length from one Strahler order to the next, by regression.

    The highest order is left out of the lengths: its one stream ends where the basin does.
    """
    order = strahler(below)
    ends = (below < 0) | (order[below] != order)
    along = length.copy()
    for number, down in enumerate(below):
        if down >= 0 and order[down] == order[number]:
            along[down] = max(along[down], length[down] + along[number])
    levels = np.arange(1, order.max() + 1)
    count = [np.count_nonzero(ends & (order == level)) for level in levels]
    area = [total[ends & (order == level)].mean() for level in levels]
    mean_length = [along[ends & (order == level)].mean() for level in levels[:-1]]
    return tuple(np.exp(abs(np.polyfit(levels[:len(values)], np.log(values), 1)[0]))
                 for values in (count, area, mean_length))


def assert_like_horton(ratios):
    # Ranges of natural networks: Rodriguez-Iturbe and Rinaldo 1997.
    bifurcation, area, length = ratios
    assert 3.0 <= bifurcation <= 5.0
    assert 3.0 <= area <= 6.0
    assert 1.5 <= length <= 3.5


def test_network_is_like_natural_ones(sample):
    total, below = upstream_area(sample)
    assert_like_horton(horton_ratios(below, total, sample["reach_length"].values))


@pytest.mark.parametrize("n_units", [8712, 24897])
def test_large_networks_are_like_natural_ones(n_units):
    network = build(n_units, np.random.Generator(np.random.PCG64(1))).network
    assert_like_horton(horton_ratios(network.below, network.upstream_area, network.length))


def test_channels(sample):
    """The Gan is 766 km long; slopes (per mille) and widths (m) of the Xiu at its drainage areas."""
    total, below = upstream_area(sample)
    way = sample["reach_length"].values / 1e3
    for number, down in enumerate(below):
        if down >= 0:
            way[down] = max(way[down], sample["reach_length"].values[down] / 1e3 + way[number])
    waizhou = np.argmin(np.abs(total - GAUGES["Waizhou"]))
    assert way[waizhou] == pytest.approx(766, rel=0.02)
    slope, width = sample["reach_slope"].values * 1e3, sample["reach_width"].values
    small, large = (total > 500) & (total < 1300), (total > 8000) & (total < 13000)
    assert 0.6 <= np.median(slope[small]) <= 1.6  # upper Xiu 1.05
    assert 0.1 <= np.median(slope[large]) <= 0.45  # middle and lower Xiu 0.42 and 0.12
    assert 50 <= np.median(width[small]) <= 100
    assert 150 <= np.median(width[large]) <= 400


def test_relief(sample):
    share, height = area_share(sample), sample["unit_elevation"].values
    land = share * (1.0 - sample["land_fraction"].sel(land_class="water").values)
    assert land[height > 300].sum() == pytest.approx(0.36, abs=0.015)
    assert land[(height > 50) & (height <= 300)].sum() == pytest.approx(0.42, abs=0.015)
    assert land[height <= 50].sum() == pytest.approx(0.12, abs=0.015)
    assert 1500 <= height.max() <= 2158
    assert 10 <= height.min() <= 20


def test_bands_run_from_ridge_to_river(sample):
    frame = sample[["unit_subbasin", "unit_order", "unit_elevation"]].to_dataframe()
    for _, bands in frame.groupby("unit_subbasin"):
        bands = bands.sort_values("unit_order")
        assert list(bands["unit_order"]) == list(range(1, len(bands) + 1))
        assert bands["unit_elevation"].is_monotonic_decreasing
        assert len(bands) <= 10


def test_land_cover(sample):
    share = area_share(sample)
    land = {name: sample["land_fraction"].sel(land_class=name).values for name in registry.LAND_CLASSES}
    forest = land["soil_vegetation"] * sample["tall_fraction"].values
    orchard = sample["non_irrigated_vegetation"].values == 8
    dry_field = share * land["non_irrigated"]
    for part, published in ((share * forest, 0.62), (share * land["irrigated"], 0.136),
                            (dry_field[~orchard], 0.027), (dry_field[orchard], 0.034),
                            (share * land["water"], 0.10), (share * land["impervious"], 0.05)):
        assert part.sum() == pytest.approx(published, abs=0.004)
    assert set(sample["irrigated_vegetation"].values) == {7}
    assert set(sample["non_irrigated_vegetation"].values) == {6, 8}
    bare = land["soil_vegetation"] * (1.0 - sample["tall_fraction"].values - sample["short_fraction"].values)
    assert 0.0 < (share * bare).sum() < 0.02
    height, ground = sample["unit_elevation"].values, 1.0 - land["water"]
    for here, published in ((height > 500, 0.9), (height <= 30, 0.2)):
        assert (share * forest)[here].sum() / (share * ground)[here].sum() == pytest.approx(published, abs=0.04)


def test_water_lies_low(sample):
    water = area_share(sample) * sample["land_fraction"].sel(land_class="water").values
    assert water[sample["unit_elevation"].values < 50].sum() > 0.8 * water.sum()


def test_soils(sample):
    """Red soil (clay loam to clay) on 46 %; a plough pan with a tenth of the conductivity; thin soils on steep slopes.

    Texture is told by the saturated water content of Rawls et al. 1982: 0.464 clay loam, 0.463 loam, 0.501 silt loam.
    """
    share, height = area_share(sample), sample["unit_elevation"].values
    conductivity = sample["saturated_conductivity"].values
    texture = sample["saturated_water_content"].values[:, 0].round(3)
    pan = conductivity[:, 1] < 0.5 * conductivity[:, 0]
    red, yellow, alluvium = (texture == 0.464) & ~pan, texture == 0.463, texture == 0.501
    assert (red | yellow | alluvium | pan).all()
    assert share[red].sum() == pytest.approx(0.46, abs=0.01)
    np.testing.assert_allclose(conductivity[pan, 1] / conductivity[pan, 0], 0.1, rtol=1e-9)
    paddy = sample["land_fraction"].sel(land_class="irrigated").values
    assert (paddy[pan] > sample["land_fraction"].sel(land_class="soil_vegetation").values[pan]).all()
    assert 0.05 <= share[pan].sum() <= 0.15
    assert height[yellow].min() > 150 and np.median(height[yellow]) > 400
    assert height[alluvium].max() < 50
    depth, slope = sample["soil_thickness"].sum("soil_layer").values, sample["unit_slope"].values
    np.testing.assert_allclose(sample["soil_thickness"].values[slope < 0.2].mean(axis=0), [0.2, 0.4, 1.4], rtol=0.03)
    assert depth[slope > 0.4].mean() < 0.8 * depth[slope < 0.2].mean()


def test_specific_yield(sample):
    values = sample["specific_yield"].values
    assert values.min() == pytest.approx(0.05) and values.max() == pytest.approx(0.15)


def test_climate_of_nanchang(sample):
    """The cell nearest to Nanchang (115.9 E, 28.6 N) has its normals."""
    away = np.hypot(sample["cell_longitude"].values - 115.9, sample["cell_latitude"].values - 28.6)
    cell = int(np.argmin(away))
    assert away[cell] < 0.3
    np.testing.assert_allclose(monthly(sample, "precipitation", "sum")[:, cell], PRECIPITATION, atol=0.1)
    np.testing.assert_allclose(monthly(sample, "air_temperature", "mean")[:, cell], TEMPERATURE, atol=0.01)
    np.testing.assert_allclose(monthly(sample, "sunshine_duration", "sum")[:, cell], SUNSHINE, atol=0.1)
    np.testing.assert_allclose(monthly(sample, "relative_humidity", "mean")[:, cell], HUMIDITY, atol=0.02)


def test_rain_of_the_basin_and_of_places(sample):
    annual = monthly(sample, "precipitation", "sum").sum(axis=0)
    assert 1600 <= np.sum(annual * cell_share(sample)) <= 1700
    assert 1341 <= annual.min() and annual.max() <= 1943
    assert annual.max() - annual.min() > 300  # the places differ
    season = monthly(sample, "precipitation", "sum")[3:6].sum(axis=0) / annual
    assert (season >= 0.42).all() and (season <= 0.53).all()


def test_mountains_are_wetter(sample):
    annual = monthly(sample, "precipitation", "sum").sum(axis=0)
    height = sample["cell_elevation"].values
    assert height.max() - height.min() > 500
    assert np.corrcoef(height, annual)[0, 1] > 0.4


def test_rain_days_and_storms(sample):
    rain = sample["precipitation"].values.astype("f8")
    days = np.count_nonzero(rain >= 0.1 - 1e-6, axis=0) / YEARS
    assert (days >= 147).all() and (days <= 157).all()
    storms = np.count_nonzero(rain >= 50.0, axis=0).mean() / YEARS
    assert storms == pytest.approx(5.6, abs=0.6)
    assert rain.max() < 400  # no day above what the region's records know


def test_rain_is_correlated_in_space_and_time(sample):
    rain = sample["precipitation"].values.astype("f8")
    east = (sample["cell_longitude"].values - 116.0) * 98.7  # km
    north = sample["cell_latitude"].values * 110.9
    distance = np.hypot(east[:, None] - east, north[:, None] - north)
    correlation = np.corrcoef(rain.T)
    pair = np.triu(np.ones(distance.shape, bool), 1)
    near, middle, far = ((distance < 120) & pair, (distance > 150) & (distance < 300) & pair, (distance > 400) & pair)
    assert 0.4 <= correlation[near].mean() <= 0.8
    assert correlation[far].mean() < correlation[middle].mean() < correlation[near].mean()
    assert correlation[far].mean() > 0.0
    wet = rain >= 0.1 - 1e-6
    after_rain = (wet[1:] & wet[:-1]).sum() / wet[:-1].sum()
    assert 0.55 <= after_rain <= 0.75 and after_rain > wet.mean() + 0.1


def test_temperature(sample):
    """Falls by 6.5 K per km; at the height of the province's stations (100 m) 18.0 degC, 16.3 north to 19.5 south."""
    height, latitude = sample["cell_elevation"].values, sample["cell_latitude"].values
    mean = sample["air_temperature"].values.astype("f8").mean(axis=0)
    design = np.column_stack([np.ones(height.size), height / 1e3, latitude])
    slope = np.linalg.lstsq(design, mean, rcond=None)[0]
    assert slope[1] == pytest.approx(-6.5, abs=0.1)
    low = mean - 6.5e-3 * (100.0 - height)
    assert np.sum(low * cell_share(sample)) == pytest.approx(18.0, abs=0.7)
    assert low[np.argmax(latitude)] < 18.0 < low[np.argmin(latitude)] <= 20.2


def test_humidity_wind_sunshine_of_places(sample):
    humidity = monthly(sample, "relative_humidity", "mean").mean(axis=0)
    assert (humidity >= 75.0).all() and (humidity <= 79.0).all()
    wind = sample["wind_speed"].values.astype("f8").mean(axis=0)
    assert (wind >= 2.0).all() and (wind <= 2.3).all()
    sunshine = monthly(sample, "sunshine_duration", "sum").sum(axis=0)
    assert (sunshine >= 1637).all() and (sunshine <= 1820).all()


def test_sunshine_fits_the_day_and_the_rain(sample):
    latitude = np.radians(sample["cell_latitude"].values)
    number = sample["time"].dt.dayofyear.values
    declination = 0.409 * np.sin(2.0 * np.pi * number / 365.0 - 1.39)  # Allen et al. 1998, eq. 24, 25 and 34
    day = 24.0 / np.pi * np.arccos(-np.tan(latitude) * np.tan(declination)[:, None])
    sunshine, rain = sample["sunshine_duration"].values, sample["precipitation"].values
    assert (sunshine <= day).all()
    wet = rain >= 0.1 - 1e-6
    assert sunshine[wet].mean() < 0.5 * sunshine[~wet].mean()
    assert sample["relative_humidity"].values[wet].mean() > sample["relative_humidity"].values[~wet].mean() + 3.0


def test_radiation_by_the_angstrom_formula(sample):
    """4,279 MJ m-2 a year at Nanchang with a_s = 0.165, b_s = 0.50 (two sites of the region)."""
    assert sample["angstrom_a"].item() == 0.165
    latitude = np.radians(28.6)
    number = sample["time"].dt.dayofyear.values
    angle = 2.0 * np.pi * number / 365.0
    declination = 0.409 * np.sin(angle - 1.39)
    sunset = np.arccos(-np.tan(latitude) * np.tan(declination))
    above = 37.586 * (1.0 + 0.033 * np.cos(angle)) * (
        sunset * np.sin(latitude) * np.sin(declination) + np.cos(latitude) * np.cos(declination) * np.sin(sunset))
    shone = sample["sunshine_duration"].values[:, 0] / (24.0 / np.pi * sunset)
    assert np.sum((0.165 + 0.5 * shone) * above) / YEARS == pytest.approx(4279, rel=0.03)


def test_hours_keep_the_days(tmp_path):
    """The same seed gives the same days: sums of rain and sunshine, means of temperature and wind are kept."""
    with (xr.open_dataset(synthesize(tmp_path / "day.nc", units=12), decode_timedelta=False) as day,
          xr.open_dataset(synthesize(tmp_path / "hour.nc", units=12, step="1h"), decode_timedelta=False) as hour):
        assert hour.sizes["time"] == 24 * day.sizes["time"]
        by_day = {name: hour[name].values.astype("f8").reshape(-1, 24, hour.sizes["cell"])
                  for name in ("precipitation", "air_temperature", "wind_speed", "relative_humidity",
                               "sunshine_duration")}
        for name in ("precipitation", "air_temperature", "wind_speed"):  # rain is a rate: its mean is kept
            np.testing.assert_allclose(by_day[name].mean(axis=1), day[name].values, rtol=1e-5, atol=1e-5)
        # 0.005 h: the daily file is rounded to 0.01 h
        np.testing.assert_allclose(by_day["sunshine_duration"].sum(axis=1), day["sunshine_duration"].values, atol=0.006)
        assert by_day["sunshine_duration"].max() <= 1.0
        assert (by_day["sunshine_duration"][:, 12:20] == 0.0).all()  # 20 to 4 h local time: night
        assert by_day["relative_humidity"].max() <= 100.0
        mean = by_day["air_temperature"].mean(axis=(0, 2))
        assert 5 <= np.argmax(mean) <= 8  # UTC: 13 to 16 h local time


def test_small_basins_hold_every_land_class(tmp_path):
    for units_wanted in (10, 12, 30):
        path = synthesize(tmp_path / f"{units_wanted}.nc", units=units_wanted)
        assert all(check.passed for check in Basin.open(path).validate())
        with xr.open_dataset(path, decode_timedelta=False) as data:
            assert data.sizes["unit"] == units_wanted
            assert data.sizes["subbasin"] >= 3
            assert np.unique(data["unit_subbasin"].values, return_counts=True)[1].min() >= 2
            assert (data["land_fraction"].max("unit").values > 0.05).all()


def test_the_seed_decides(tmp_path):
    first, again, other = (synthesize(tmp_path / f"{number}.nc", units=20, seed=seed).read_bytes()
                           for number, seed in enumerate((1, 1, 2)))
    assert first == again
    assert first != other


@pytest.mark.parametrize("argument", [{"units": 9}, {"units": 200_001}, {"units": 12.5}, {"years": 0},
                                      {"step": "6h"}, {"start": "2010-02-30"}, {"start": "soon"}, {"seed": -1}])
def test_refuses_what_it_cannot_make(tmp_path, argument):
    with pytest.raises(InputError, match=next(iter(argument))):
        synthesize(tmp_path / "basin.nc", **{"units": 20, **argument})
    assert list(tmp_path.iterdir()) == []
