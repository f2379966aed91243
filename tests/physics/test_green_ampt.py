"""Multi-layer Green-Ampt (docs/theory/infiltration.md): closed forms, Chow, Maidment and Mays 1988, layered soil.

Numbers: numbers.md section 7. The layered case is that of Jia and Tamai (1998) with its coefficients recomputed there;
the closed-form files were solved to 1e-12 for this project.
"""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import lambertw

from wepl import rows
from wepl.physics import green_ampt
from wepl.stages import infiltration
from wepl.validation.columns import HOUR, MM, MM_PER_HOUR, darcy_capacity, green_ampt_column, texture_column, time_to

CM = 1e-2  # m
CM_PER_HOUR = CM / HOUR  # m s-1
# A supply that ponds at once: what the soil takes before is below rounding.
FLOOD = 1e12


def part(soil: np.ndarray, start: float, rate: float, time: float) -> infiltration.GreenAmptPart:
    result = infiltration.green_ampt_part(soil, soil.shape[1], start, rate, time)
    assert result.converged
    assert result.event_infiltration == pytest.approx(start + result.infiltrated, rel=1e-14, abs=1e-18)
    return result


def cumulative(soil: np.ndarray, rates: list[float], time: float) -> np.ndarray:
    """Infiltration (m) after each of a row of parts of ``time`` s; what does not enter runs off."""
    total, result = 0.0, []
    for rate in rates:
        total = part(soil, total, rate, time).event_infiltration
        result.append(total)
    return np.array(result)


def capacity(soil: np.ndarray, total: float) -> float:
    front = infiltration.find_front(soil, soil.shape[1], total)
    return green_ampt.capacity(total, front.conductivity, front.a, front.b)


LAMBERT = [  # t* = K t/(psi dtheta), F* = F/(psi dtheta), f* = f/K; Barry et al. 1993, computed
    (1e-4, 0.0142088807098, 71.378520337), (1e-3, 0.0453904959637, 23.031043697), (0.01, 0.1481651223794, 7.7492267002),
    (0.1, 0.5162211614250, 2.9371542175), (0.5, 1.3576766739459, 1.7365523907), (1.0, 2.1461932206206, 1.4659412724),
    (2.0, 3.5052414957929, 1.2852870483), (5.0, 7.0907174051555, 1.1410294534), (10.0, 12.6108686381499, 1.0792966788),
    (100.0, 104.6602285548500, 1.0095547278),
]


@pytest.mark.parametrize(("time", "total", "rate"), LAMBERT)
def test_ponded_from_the_start_is_lambert_w(time, total, rate):
    k, suction, deficit = 6.5 * MM_PER_HOUR, 0.167, 0.34
    scale = suction * deficit
    soil = green_ampt_column([1e6], [k], [suction], [deficit])
    result = part(soil, 0.0, FLOOD * k, time * scale / k)
    assert result.infiltrated == pytest.approx(total * scale, rel=1e-9)
    assert capacity(soil, result.infiltrated) == pytest.approx(rate * k, rel=1e-9)


@pytest.mark.parametrize("exponent", range(-6, 7))
def test_newton_converges_at_every_scale(exponent):
    """k dt/A from 1e-6 to 1e6 in fixed steps, against -1 - W_-1(-exp(-1 - t)), or its series and its limit."""
    time = 10.0**exponent
    if time < 1e-4:  # the series of numbers.md 7.1, relative error 1e-11 at 1e-6 and 1e-8 at 1e-4
        exact = math.sqrt(2.0 * time) + 2.0 * time / 3.0 + math.sqrt(2.0) / 18.0 * time**1.5
        tolerance = 1e-10 if exponent == -6 else 1e-8
    elif time < 500.0:
        exact, tolerance = float(-1.0 - lambertw(-math.exp(-1.0 - time), -1).real), 1e-9
    else:  # F = t + ln(1 + F)
        exact, tolerance = time, 1e-12
        for _ in range(60):
            exact = time + math.log1p(exact)
    result = green_ampt.ponded_infiltration(0.0, time, 1.0, 1.0, 0.0)
    assert result.converged
    assert result.infiltration == pytest.approx(exact, rel=tolerance)


def silt_loam() -> np.ndarray:
    return green_ampt_column([1e3], [0.65 * CM_PER_HOUR], [16.7 * CM], [0.34])


def test_chow_example_4_3_1():
    """Ponded silt loam: F 3.17 cm and f 1.81 cm/h after an hour in the book; 3.1664192 and 1.8155753 exactly."""
    total = part(silt_loam(), 0.0, FLOOD * CM_PER_HOUR, HOUR).infiltrated
    assert total / CM == pytest.approx(3.1664192, abs=5e-8)
    assert capacity(silt_loam(), total) / CM_PER_HOUR == pytest.approx(1.8155753, abs=5e-8)


@pytest.mark.parametrize(("rate", "time", "depth"), [(1.0, 10.5448571, 10.5448571), (5.0, 0.16968736, 0.84843678)])
def test_chow_example_4_4_1_ponding(rate, time, depth):
    """Ponding time (h) and infiltration (cm) under 1 and 5 cm/h; 10.5 h and 10 min in the book."""
    soil = silt_loam()
    front = infiltration.find_front(soil, 1, 0.0)
    start = green_ampt.ponding_infiltration(rate * CM_PER_HOUR, front.conductivity, front.a, front.b)
    assert start / CM == pytest.approx(depth, rel=1e-7)
    before = part(soil, 0.0, rate * CM_PER_HOUR, 0.999 * time * HOUR)
    after = part(soil, 0.0, rate * CM_PER_HOUR, 1.01 * time * HOUR)
    assert before.infiltrated == pytest.approx(0.999 * time * rate * CM, rel=1e-12)
    assert depth * CM < after.infiltrated < 1.01 * time * rate * CM * (1.0 - 1e-6)


def test_chow_example_4_4_2():
    """5 cm/h for an hour: F 3.02 cm, f 1.87 to 1.88 cm/h in the book, 3.0172436 and 1.8732025 exactly."""
    total = part(silt_loam(), 0.0, 5.0 * CM_PER_HOUR, HOUR).infiltrated
    assert total / CM == pytest.approx(3.0172436, abs=5e-8)
    assert capacity(silt_loam(), total) / CM_PER_HOUR == pytest.approx(1.8732025, abs=5e-8)


def test_chow_example_5_4_1_storm():
    """Sandy loam under 18 intensities of ten minutes (cm/h): F (cm), ponding from 60 to 140 min, excess 5.9656 cm."""
    soil = green_ampt_column([1e3], [1.09 * CM_PER_HOUR], [11.01 * CM], [0.247])
    intensity = [1.08, 1.26, 1.56, 1.92, 2.22, 2.58, 3.84, 6.84, 19.08, 9.90, 4.86, 3.12, 2.52, 2.16, 1.68, 1.44, 1.14,
                 1.02]
    expected = [.18, .39, .65, .97, 1.34, 1.77, 2.2009, 2.5891, 2.9493, 3.2894, 3.6142, 3.9270, 4.2298, 4.5244, 4.8044,
                5.0444, 5.2344, 5.4044]
    total = cumulative(soil, [rate * CM_PER_HOUR for rate in intensity], 600.0) / CM
    # Half a unit of the last printed digit, and the last digit of the parameters behind it.
    np.testing.assert_allclose(total, expected, rtol=0.0, atol=1e-4)
    assert capacity(soil, total[5] * CM) / CM_PER_HOUR == pytest.approx(2.7647, abs=5e-5)
    assert sum(intensity) / 6.0 - total[-1] == pytest.approx(5.9656, abs=1e-4)
    ponded = np.diff(total, prepend=0.0) < np.array(intensity) / 6.0 - 1e-9
    np.testing.assert_array_equal(np.flatnonzero(ponded), np.arange(6, 14))


def rows_of(path) -> list[dict[str, str]]:
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_mein_larson_file(shared_data):
    """Four soils under steady rain for 0.5 to 12 h: ponding infiltration, F and f to their printed digits."""
    for row in rows_of(shared_data / "closed_form" / "green_ampt_mein_larson.csv"):
        value = {name: float(text) for name, text in row.items() if name != "soil"}
        soil = green_ampt_column([1e3], [value["K_mm_h"] * MM_PER_HOUR], [value["psi_mm"] * MM], [value["dtheta"]])
        rate = value["rain_mm_h"] * MM_PER_HOUR
        front = infiltration.find_front(soil, 1, 0.0)
        start = green_ampt.ponding_infiltration(rate, front.conductivity, front.a, front.b)
        assert start / MM == pytest.approx(value["Fp_mm"], abs=1e-8)
        total = part(soil, 0.0, rate, value["t_h"] * HOUR).infiltrated
        assert total / MM == pytest.approx(value["F_mm"], abs=1e-6)
        assert min(rate, capacity(soil, total)) / MM_PER_HOUR == pytest.approx(value["f_mm_h"], abs=1e-6)


def test_two_layer_file(shared_data):
    """Ponded sandy loam over clay loam: F when the front stands at each depth, times printed to 1e-8 h."""
    for row in rows_of(shared_data / "closed_form" / "green_ampt_two_layer_ponded.csv"):
        value = {name: float(text) for name, text in row.items() if name != "case"}
        k = np.array([value["K1_mm_h"], value["K2_mm_h"]]) * MM_PER_HOUR
        suction = np.array([value["psi1_mm"], value["psi2_mm"]]) * MM
        soil = green_ampt_column([value["L1_mm"] * MM, 1e3], k, suction, [value["dth1"], value["dth2"]])
        front = infiltration.find_front(soil, 2, value["F_mm"] * MM * (1.0 - 1e-9))
        if front.a <= 0.0:
            # The file goes on with the capacity growing with depth; the model caps it (theory page): tested below.
            continue
        total = part(soil, 0.0, FLOOD * MM_PER_HOUR, value["t_h"] * HOUR).infiltrated
        # 5e-9 h of the printed time at the rate of the moment.
        assert total / MM == pytest.approx(value["F_mm"], abs=6e-9 * capacity(soil, 0.99 * total) / MM_PER_HOUR)
        assert front.conductivity * (1.0 + front.a / (front.b + value["F_mm"] * MM)) / MM_PER_HOUR == pytest.approx(
            value["f_mm_h"], abs=1e-6)


def layered() -> np.ndarray:
    """Three layers, numbers.md 7.3."""
    return green_ampt_column([0.2, 0.4, 100.0], np.array([25.2, 7.2, 1.08]) * MM_PER_HOUR, [0.089, 0.125, 0.175],
                             [0.20, 0.15, 0.10])


def test_layers_are_reached_in_time():
    """Ponded from 0: F 40, 100 and 150 mm at 0.75537033, 4.61132380 and 18.34398216 h."""
    time, start = 0.0, 0.0
    for total, expected in ((0.040, 0.75537033), (0.100, 4.61132380), (0.150, 18.34398216)):
        front = infiltration.find_front(layered(), 3, start)
        time += green_ampt.ponded_time(start, min(total, front.bottom), front.conductivity, front.a, front.b) / HOUR
        assert time == pytest.approx(expected, abs=5e-9)
        start = front.bottom


@pytest.mark.parametrize(("time", "total"), [
    (0.1, 11.22104713), (0.5, 30.29157050), (1, 47.53819141), (2, 66.29214957), (5, 103.80997619), (10, 126.80072651),
    (24, 162.93420392), (72, 248.33382526)])
def test_layers_ponded_from_the_start(time, total):
    assert part(layered(), 0.0, FLOOD * MM_PER_HOUR, time * HOUR).infiltrated / MM == pytest.approx(total, abs=1e-8)


@pytest.mark.parametrize(("rain", "totals"), [
    (30.0, [30, 56.1979, 72.2935, 85.6028, 106.7854, 131.3020]),
    (60.0, [45.1969, 64.9120, 79.2642, 91.8238, 109.8850, 132.8454])])
def test_layers_under_steady_rain(rain, totals):
    """60 mm/h: numbers.md 7.3. 30 mm/h ponds at F = 44.12 mm, in the second layer: Darcy's law in steps of 1e-5 h."""
    for time, total in zip((1, 2, 3, 4, 6, 12), totals, strict=True):
        infiltrated = part(layered(), 0.0, rain * MM_PER_HOUR, time * HOUR).infiltrated
        assert infiltrated / MM == pytest.approx(total, abs=5.1e-5)


def test_layers_under_an_event():
    """10, 30, 60, 40, 15, 5, 0, 20 mm/h without surface storage; a fine ODE gave the same to four decimals."""
    rain = [10.0, 30.0, 60.0, 40.0, 15.0, 5.0, 0.0, 20.0]
    total = cumulative(layered(), [rate * MM_PER_HOUR for rate in rain], HOUR) / MM
    np.testing.assert_allclose(
        total, [10, 40, 62.37914, 77.16935, 89.93507, 94.93507, 94.93507, 105.16817], rtol=0.0, atol=5.1e-6)
    np.testing.assert_allclose(
        np.cumsum(rain) - total, [0, 0, 37.62086, 62.83065, 65.06493, 65.06493, 65.06493, 74.83183],
        rtol=0.0, atol=5.1e-6)


def test_capacity_is_darcys_law():
    """A and B of eqs. (8.1) and (8.2) are Darcy's law over the wet layers in series."""
    for total in (1e-6, 0.02, 0.0399, 0.0401, 0.07, 0.0999, 0.1001, 0.5, 5.0):
        assert capacity(layered(), total) == pytest.approx(darcy_capacity(layered(), total), rel=1e-12)


def test_deep_front_passes_the_series_conductivity():
    """A front far down a uniform deep soil tends to its k; 20/40/140 cm in series pass 0.14708171 cm/h."""
    assert capacity(layered(), 9.9) / MM_PER_HOUR == pytest.approx(1.08, rel=0.01)
    soil = green_ampt_column([0.2, 0.4, 1.4], np.array([2.52, 0.72, 0.108]) * CM_PER_HOUR, [0.0, 0.0, 0.0], [0.1] * 3)
    assert capacity(soil, 0.2 * (1.0 - 1e-12)) / CM_PER_HOUR == pytest.approx(0.14708171, abs=5e-9)


def test_three_equal_layers_are_one():
    """k 10 mm/h, suction 100 mm, deficit 0.2: F(5 h) = 82.72681896 mm (numbers.md 7.3)."""
    def whole(n_layers: int) -> np.ndarray:
        return green_ampt_column([3.0 / n_layers] * n_layers, [10 * MM_PER_HOUR] * n_layers, [0.1] * n_layers,
                                 [0.2] * n_layers)

    for time in (0.5, 5.0, 40.0):
        one = part(whole(1), 0.0, FLOOD * MM_PER_HOUR, time * HOUR).infiltrated
        assert part(whole(3), 0.0, FLOOD * MM_PER_HOUR, time * HOUR).infiltrated == pytest.approx(one, rel=1e-10)
        steady = part(whole(1), 0.0, 14.0 * MM_PER_HOUR, time * HOUR).infiltrated
        assert part(whole(3), 0.0, 14.0 * MM_PER_HOUR, time * HOUR).infiltrated == pytest.approx(steady, rel=1e-10)
    assert part(whole(1), 0.0, FLOOD * MM_PER_HOUR, 5 * HOUR).infiltrated / MM == pytest.approx(82.72681896, abs=1e-8)


def test_a_layer_without_deficit_is_passed_and_keeps_its_resistance():
    full = green_ampt_column([0.2, 0.4, 100.0], np.array([25.2, 7.2, 1.08]) * MM_PER_HOUR, [0.089, 0.125, 0.175],
                             [0.20, 0.0, 0.10])
    front = infiltration.find_front(full, 3, 0.2 * 0.20)
    assert (front.layer, front.top) == (2, 0.2 * 0.20)
    assert green_ampt.capacity(front.top, front.conductivity, front.a, front.b) == pytest.approx(
        (0.6 + 0.175) / (0.2 / (25.2 * MM_PER_HOUR) + 0.4 / (7.2 * MM_PER_HOUR)), rel=1e-12)
    # A deficit that vanishes tends to the same.
    thin = full.copy()
    thin[rows.WORK_DEFICIT, 1] = 1e-9
    for time in (0.5, 2.0, 30.0):
        exact = part(full, 0.0, FLOOD * MM_PER_HOUR, time * HOUR).infiltrated
        assert part(thin, 0.0, FLOOD * MM_PER_HOUR, time * HOUR).infiltrated == pytest.approx(exact, rel=1e-7)


def test_a_saturated_top_layer_has_finite_capacity():
    """F = 0 below a full layer: the resistance above bounds the capacity, so early rain can pond."""
    soil = green_ampt_column([0.1, 1.0], [2 * MM_PER_HOUR, 20 * MM_PER_HOUR], [0.1, 0.05], [0.0, 0.2])
    entry = (0.1 + 0.05) / (0.1 / (2 * MM_PER_HOUR))
    assert capacity(soil, 0.0) == pytest.approx(entry, rel=1e-12)
    assert part(soil, 0.0, 50 * MM_PER_HOUR, HOUR).infiltrated == pytest.approx(entry * HOUR, rel=1e-12)


def test_a_more_permeable_lower_layer_is_capped_at_its_value_on_entry():
    """A < 0: Darcy's law would grow with depth; the model keeps the value on entry (theory page, D)."""
    soil = green_ampt_column([0.1, 10.0], np.array([3.4, 10.9]) * MM_PER_HOUR, [0.0889, 0.1101], [0.25, 0.25])
    front = infiltration.find_front(soil, 2, 0.025)
    assert front.a < 0.0
    entry = (0.1 + 0.1101) / (0.1 / (3.4 * MM_PER_HOUR))
    reached = infiltration.find_front(soil, 2, 0.0)
    before = green_ampt.ponded_time(0.0, 0.025, reached.conductivity, reached.a, reached.b)
    total = part(soil, 0.0, FLOOD * MM_PER_HOUR, before + 5 * HOUR).infiltrated
    assert total == pytest.approx(0.025 + entry * 5 * HOUR, rel=1e-9)


def test_ponding_ends_where_the_capacity_jumps_up():
    """A lower layer that sucks harder takes rain again that stood on the layer above."""
    soil = green_ampt_column([0.1, 10.0], [5 * MM_PER_HOUR, 4.8 * MM_PER_HOUR], [0.02, 0.6], [0.2, 0.2])
    rate = 15.0 * MM_PER_HOUR
    assert capacity(soil, 0.0199) < rate < capacity(soil, 0.0201)
    ponded = part(soil, 0.0, rate, 1.5 * HOUR).infiltrated
    assert ponded < 1.5 * HOUR * rate
    assert time_to(soil, ponded, rate) == pytest.approx(1.5 * HOUR, rel=1e-8)
    later = part(soil, 0.0201, rate, 0.1 * HOUR).infiltrated
    assert later == pytest.approx(0.1 * HOUR * rate, rel=1e-12)


def test_a_saturated_profile_passes_its_smallest_conductivity():
    soil = layered()[:, :2]
    room = 0.1
    result = part(soil, room, 60 * MM_PER_HOUR, HOUR)
    assert result.infiltrated == pytest.approx(7.2 * MM, rel=1e-12)
    assert part(soil, room, 5 * MM_PER_HOUR, HOUR).infiltrated == pytest.approx(5 * MM, rel=1e-12)
    # Filling and passing in one part.
    through = part(soil, 0.09, 60 * MM_PER_HOUR, 10 * HOUR).infiltrated
    assert through == pytest.approx(0.01 + (10 * HOUR - (time_to(soil, 0.1 * (1.0 - 1e-12), FLOOD)
                                                         - time_to(soil, 0.09, FLOOD))) * 7.2 * MM_PER_HOUR, rel=1e-6)


def test_no_supply_no_infiltration():
    assert part(layered(), 0.03, 0.0, HOUR) == (0.0, 0.03, True)


@pytest.mark.parametrize("rate", [9.0, 40.0, 200.0, 1e9])
@pytest.mark.parametrize("cuts", [2, 7, 60])
def test_the_parts_do_not_matter(rate, cuts):
    """A steady supply cut into parts gives the same F: the closed forms chain (1e-9 relative: Newton in each part)."""
    whole = part(layered(), 0.0, rate * MM_PER_HOUR, 7 * HOUR).infiltrated
    pieces = cumulative(layered(), [rate * MM_PER_HOUR] * cuts, 7 * HOUR / cuts)
    assert pieces[-1] == pytest.approx(whole, rel=1e-9)


@st.composite
def columns(draw) -> np.ndarray:
    n_layers = draw(st.integers(1, 4))

    def each(low: float, high: float):
        return [draw(st.floats(low, high)) for _ in range(n_layers)]

    deficit = [draw(st.one_of(st.just(0.0), st.floats(1e-6, 0.5))) for _ in range(n_layers)]
    k = [10.0**draw(st.floats(-9.0, -4.0)) for _ in range(n_layers)]
    return green_ampt_column(each(0.01, 2.0), k, each(0.01, 0.5), deficit)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(columns(), st.floats(0.0, 1.2), st.floats(0.0, 1e-3), st.floats(0.0, 1e-3),
       st.sampled_from([60.0, 3600.0, 86400.0]))
def test_any_column_and_supply(soil, share, first, second, time):
    """Never NaN, at most the supply, converged, and never less under more supply."""
    start = share * float(np.sum(soil[rows.WORK_DEFICIT] * soil[rows.LAYER_THICKNESS]))
    low, high = (part(soil, start, rate, time) for rate in sorted((first, second)))
    for result, rate in ((low, min(first, second)), (high, max(first, second))):
        assert math.isfinite(result.infiltrated)
        assert 0.0 <= result.infiltrated <= rate * time * (1.0 + 1e-12) + 1e-15
    # Newton leaves about the square of its last relative step.
    assert high.infiltrated >= low.infiltrated - 2e-9 * (low.infiltrated + 1e-12)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(columns(), st.floats(1e-8, 1e-3), st.sampled_from([600.0, 3600.0, 86400.0]))
def test_any_column_against_quadrature(soil, rate, time):
    """The time in which F enters, by quadrature of Darcy's law, is the length of the part."""
    total = part(soil, 0.0, rate, time).infiltrated
    bottom = float(np.sum(soil[rows.WORK_DEFICIT] * soil[rows.LAYER_THICKNESS]))
    if total < bottom * (1.0 - 1e-9):
        # An error of 2e-9 m in F is this much time at the rate of the moment.
        allowed = 2e-9 / min(rate, darcy_capacity(soil, total))
        assert time_to(soil, total, rate) == pytest.approx(time, rel=1e-7, abs=allowed)


def test_an_event_begins_with_the_deficits_of_the_moment():
    soil = texture_column("loam")
    soil[rows.WORK_WATER, 1] = soil[rows.SATURATED_WATER, 1] * (1.0 + 1e-15)
    infiltration.begin_event(soil, 3)
    expected = (soil[rows.SATURATED_WATER] - soil[rows.WORK_WATER]) / soil[rows.LAYER_THICKNESS]
    np.testing.assert_allclose(soil[rows.WORK_DEFICIT], np.maximum(0.0, expected), rtol=1e-14)
    assert infiltration.free_room(soil, 3) == pytest.approx(
        float(np.sum(soil[rows.WORK_DEFICIT] * soil[rows.LAYER_THICKNESS])), rel=1e-12)


def test_layers_fill_from_the_top():
    soil = texture_column("loam")
    room = soil[rows.SATURATED_WATER] - soil[rows.WORK_WATER]
    before = soil[rows.WORK_WATER].copy()
    assert infiltration.fill_from_top(soil, 3, room[0] + 0.25 * room[1]) == 0.0
    np.testing.assert_allclose(soil[rows.WORK_WATER] - before, [room[0], 0.25 * room[1], 0.0], rtol=1e-12, atol=1e-17)
    rest = infiltration.fill_from_top(soil, 3, 10.0)
    assert rest == pytest.approx(10.0 - 0.75 * room[1] - room[2], rel=1e-12)
    np.testing.assert_array_equal(soil[rows.WORK_WATER], soil[rows.SATURATED_WATER])
