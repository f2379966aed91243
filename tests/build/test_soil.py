"""Soils: pedotransfer functions against published tables, maps of textures and of grains, layers, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from small_terrain import SIZE, soil, terrain, write_raster

from wepl.basin.catchment_terrain import soil_depth
from wepl.basin.soils import texture_parameters
from wepl.build.pedotransfer import cosby_curve, pedotransfer, rawls_brakensiek_suction
from wepl.build.soil import soil_parameters
from wepl.errors import InputError

# Saxton and Rawls 2006, table 3 (2.5 % organic matter): sand, clay, %; water contents at 1500 and 33 kPa and at
# saturation, %v; saturated conductivity, mm h-1.
TABLE_3 = {
    "sand": (88, 5, 5, 10, 46, 108.1), "loamy sand": (80, 5, 5, 12, 46, 96.7),
    "sandy loam": (65, 10, 8, 18, 45, 50.3), "loam": (40, 20, 14, 28, 46, 15.5),
    "silt loam": (20, 15, 11, 31, 48, 16.1),
    "silt": (10, 5, 6, 30, 48, 22.0), "sandy clay loam": (60, 25, 17, 27, 43, 11.3),
    "clay loam": (30, 35, 22, 36, 48, 4.3), "silty clay loam": (10, 35, 22, 38, 51, 5.7),
    "silty clay": (10, 45, 27, 41, 52, 3.7), "sandy clay": (50, 40, 25, 36, 44, 1.4), "clay": (25, 50, 30, 42, 50, 1.1)}


@pytest.mark.parametrize("texture", TABLE_3)
def test_saxton_rawls_gives_its_table_3(texture):
    sand, clay, wilting, capacity, saturated, conductivity = TABLE_3[texture]
    found = pedotransfer("saxton_rawls_2006", np.array([sand]), np.array([clay]))
    # The table is printed in whole per cent and tenths of mm/h.
    assert found["wilting_point"][0] * 100.0 == pytest.approx(wilting, abs=0.5)
    assert found["field_capacity"][0] * 100.0 == pytest.approx(capacity, abs=0.5)
    assert found["saturated_water_content"][0] * 100.0 == pytest.approx(saturated, abs=0.5)
    assert found["saturated_conductivity"][0] * 3.6e6 == pytest.approx(conductivity, abs=0.05)


# Worked from the published regressions (Cosby et al. 1984): b, psi_s cm, Ks mm s-1, theta_s.
@pytest.mark.parametrize(("sand", "clay", "expected"), [
    (43.0, 18.0, (5.772, 20.734807, 4.1921224e-3, 0.43482)), (92.0, 3.0, (3.387, 4.729334, 2.3557758e-2, 0.37308)),
    (22.0, 58.0, (12.132, 39.066095, 2.0004788e-3, 0.46128))])
def test_cosby_regressions(sand, clay, expected):
    b, suction, saturated, conductivity = cosby_curve(np.array(sand), np.array(clay))
    assert (b, suction, conductivity * 1e3, saturated) == pytest.approx(expected, rel=1e-7)


def test_cosby_suction_is_that_of_rawls_1983():
    # Rawls et al. 1983 with Brooks and Corey's lambda = 1 / b: (2 + 3 lambda) / (1 + 3 lambda) psi_s / 2.
    sand, clay = np.array(40.0), np.array(25.0)
    b, suction, _, _ = cosby_curve(sand, clay)
    slope = 1.0 / b
    expected = (2.0 + 3.0 * slope) / (1.0 + 3.0 * slope) * suction / 2.0 * 1e-2
    assert pedotransfer("cosby_1984", sand, clay)["wetting_front_suction"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("method", ["saxton_rawls_2006", "cosby_1984"])
def test_every_mixture_gives_a_soil_that_the_model_takes(method):
    sand, clay = (values.ravel() for values in np.meshgrid(np.arange(0.0, 101.0, 5.0), np.arange(0.0, 101.0, 5.0)))
    real = sand + clay <= 100.0
    for organic in (0.1, 2.5, 8.0, 30.0):
        found = pedotransfer(method, sand[real], clay[real], np.full(real.sum(), organic))
        assert (found["residual_water_content"] < found["wilting_point"]).all()
        assert (found["wilting_point"] < found["field_capacity"]).all()
        assert (found["field_capacity"] < found["saturated_water_content"]).all()
        assert (found["saturated_water_content"] < 0.95).all()
        assert ((found["saturated_conductivity"] > 1e-12) & (found["saturated_conductivity"] < 1e-3)).all()
        assert ((found["wetting_front_suction"] > 0.0) & (found["wetting_front_suction"] < 3.0)).all()


def test_suction_is_that_of_rawls_1983_in_size():
    # Rawls et al. 1983 give means of 11.0, 8.9 and 31.6 cm with ranges of a factor of about six either way.
    for sand, clay, mean in ((65.0, 10.0, 0.1101), (40.0, 20.0, 0.0889), (25.0, 50.0, 0.3163)):
        assert mean / 6.0 < float(rawls_brakensiek_suction(sand, clay, 0.46)) < mean * 6.0


def test_usda_map_and_mixture(tmp_path):
    codes = np.full((SIZE, SIZE), 6, dtype=np.uint8)  # loam
    codes[:10] = 12  # clay
    path = write_raster(tmp_path / "soil.tif", codes)
    values = soil_parameters(soil(map=path.name, classes="usda"), terrain(), tmp_path)
    loam, clay = texture_parameters("loam"), texture_parameters("clay")
    assert values["saturated_water_content"].shape == (3, 3)
    np.testing.assert_allclose(values["saturated_water_content"][2], loam["saturated_water_content"], rtol=1e-12)
    # Rows 0 to 9 of 40 in unit 1: a quarter of clay; conductivity mixes geometrically and is written in mm/h.
    expected = np.exp(0.25 * np.log(clay["saturated_conductivity"]) + 0.75 * np.log(loam["saturated_conductivity"]))
    assert values["saturated_conductivity"][0, 0] == pytest.approx(expected * 3.6e6, rel=1e-9)
    np.testing.assert_array_equal(values["soil_thickness"][0], [0.2, 0.4, 1.4])


def test_one_texture_and_depth_by_slope():
    place = terrain()
    values = soil_parameters(soil(texture="clay loam", depth="slope", layers_m=[0.2, 0.3, 1.0]), place, None)
    depth = soil_depth(place.units["slope"].to_numpy(), place.units["elevation_m"].to_numpy())
    np.testing.assert_allclose(values["soil_thickness"].sum(axis=1), depth, rtol=1e-12)
    np.testing.assert_array_equal(values["soil_thickness"][:, 0], 0.2)
    with pytest.raises(InputError, match="the upper layers take 3 m"):
        soil_parameters(soil(texture="clay loam", depth="slope", layers_m=[1.5, 1.5, 1.0]), place, None)


def test_table_of_grains_with_shares(tmp_path):
    codes = np.full((SIZE, SIZE), 11375, dtype=np.int32)
    path = write_raster(tmp_path / "hwsd.tif", codes)
    (tmp_path / "hwsd.csv").write_text("MU_GLOBAL,share,sand,silt,clay,organic\n11375,70,40,40,20,2.5\n"
                                       "11375,20,25,25,50,2.5\n11375,10,,,,\n", encoding="utf-8")
    values = soil_parameters(soil(map=path.name, classes="hwsd.csv"), terrain(), tmp_path)
    loam, clay = (pedotransfer("saxton_rawls_2006", np.array([sand]), np.array([share]))
                  for sand, share in ((40.0, 20.0), (25.0, 50.0)))
    expected = (0.7 * loam["field_capacity"][0] + 0.2 * clay["field_capacity"][0]) / 0.9
    np.testing.assert_allclose(values["field_capacity"], expected, rtol=1e-12)


def _grains(folder, sand, silt, clay, dtype=np.float32, **more):
    names = {}
    for name, value in (("sand", sand), ("silt", silt), ("clay", clay)):
        fields = [np.full((SIZE, SIZE), each, dtype=dtype) for each in value]
        names[name] = [write_raster(folder / f"{name}{depth}.tif", field, **more).name
                       for depth, field in enumerate(fields)]
    return names


def test_layers_take_the_depths_that_they_span(tmp_path):
    names = _grains(tmp_path, [60.0, 20.0], [20.0, 40.0], [20.0, 40.0])
    values = soil_parameters(soil(**names, depths_m=[0.3, 1.0]), terrain(), tmp_path)
    # Layers of 0 to 0.2, 0.2 to 0.6 and 0.6 to 2 m: the second holds 0.1 m of the upper depth and 0.3 m of the lower.
    expected = pedotransfer("saxton_rawls_2006", np.array([60.0, 30.0, 20.0]), np.array([20.0, 35.0, 40.0]))
    for name in ("wilting_point", "field_capacity", "saturated_water_content"):
        np.testing.assert_allclose(values[name][1], expected[name], rtol=1e-6)


def test_percentages_that_do_not_add_to_100_are_refused(tmp_path):
    names = _grains(tmp_path, [40.0, 40.0], [40.0, 40.0], [20.0, 10.0])
    with pytest.raises(InputError, match=r"unit 1 down to 1 m add to 90, not to 100 % \(3 of 6 such places\)"):
        soil_parameters(soil(**names, depths_m=[0.3, 1.0]), terrain(), tmp_path)


def test_grams_per_kilogram_are_named_and_a_scale_is_honoured(tmp_path):
    names = _grains(tmp_path, [400], [400], [200], np.int16)
    with pytest.raises(InputError, match="look like g kg-1"):
        soil_parameters(soil(**names, depths_m=[1.0]), terrain(), tmp_path)
    names = _grains(tmp_path, [400], [400], [200], np.int16, scale=0.1)
    values = soil_parameters(soil(**names, depths_m=[1.0]), terrain(), tmp_path)
    assert values["wilting_point"][0, 0] * 100.0 == pytest.approx(14, abs=0.5)


def test_unknown_soil_codes_are_listed(tmp_path):
    codes = np.full((SIZE, SIZE), 6, dtype=np.uint8)
    codes[5, :2] = 13, 14
    path = write_raster(tmp_path / "soil.tif", codes)
    with pytest.raises(InputError, match="codes 13, 14 are not in the legend usda"):
        soil_parameters(soil(map=path.name, classes="usda"), terrain(), tmp_path)
    (tmp_path / "t.csv").write_text("code,sand,silt,clay\n6,40,40,20\n", encoding="utf-8")
    with pytest.raises(InputError, match="codes 13, 14 are not in"):
        soil_parameters(soil(map=path.name, classes="t.csv"), terrain(), tmp_path)
    (tmp_path / "u.csv").write_text("code,sand,silt,clay\n6,40,40,10\n", encoding="utf-8")
    with pytest.raises(InputError, match="of code 6 add to 90"):
        soil_parameters(soil(map=path.name, classes="u.csv"), terrain(), tmp_path)
