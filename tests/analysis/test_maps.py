"""Maps and plots: what is drawn, and that every axis has its unit."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from small_results import SQUARES, small_result

from wepl.analysis import accessor, maps  # noqa: F401
from wepl.errors import InputError

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.mark.parametrize(("time", "how", "expected"), [
    (None, None, 730.0), ("2001", None, 365.0), ("2001-02", None, 28.0), ("2002-12-31", None, 1.0),
    ("2001-01-01/2001-01-10", None, 10.0), ("2001", "mean", 1.0), ("2001", "max", 1.0)])
def test_time_and_way(time, how, expected):
    values = maps.aggregate(small_result(), "precipitation_depth", time, how)
    np.testing.assert_allclose(values.values, expected * np.array([1.0, 2.0, 3.0, 4.0]))
    assert values.attrs["units"] == "mm"


def test_layers_and_steady_variables():
    np.testing.assert_allclose(maps.aggregate(small_result(), "soil_moisture", "2001", layer=2).values,
                               [0.2, 0.2, np.nan, 0.4])
    assert maps.aggregate(small_result(), "unit_elevation").values[0] == 400.0


@pytest.mark.parametrize(("asked", "words"), [
    ({"variable": "rain"}, "no series 'rain'"), ({"variable": "gauge_discharge"}, "units or sub-basins"),
    ({"variable": "discharge", "time": "1999"}, "2001-01-01 to 2002-12-31"),
    ({"variable": "discharge", "time": "soon"}, "cannot be read"),
    ({"variable": "discharge", "how": "median"}, "choose mean"),
    ({"variable": "soil_moisture", "layer": 3}, "layers 1 to 2"),
    ({"variable": "unit_elevation", "time": "2001"}, "leave time out"),
])
def test_refused(asked, words):
    with pytest.raises(InputError, match=words):
        maps.aggregate(small_result(), **asked)


def test_outlines_are_filled_with_means_of_subbasins():
    axes = small_result(outlines=True).wepl.map("precipitation_depth", "2001-01-01")
    shown, = (item for item in axes.collections if isinstance(item, PathCollection))
    np.testing.assert_allclose(shown.get_array(), [1.75, 3.0, 4.0])
    assert len(shown.get_paths()) == len(SQUARES)
    axes.figure.canvas.draw()
    picture = np.asarray(axes.figure.canvas.buffer_rgba())

    def colour(place):
        x, y = axes.transData.transform(place)
        return tuple(picture[picture.shape[0] - 1 - int(y), int(x), :3])

    # The hole of sub-basin 30 is open.
    assert colour((0.7, 0.4)) == (255, 255, 255) != colour((1.5, 0.5))
    assert axes.get_xlabel() == "longitude, degrees east"
    assert "mm" in axes.figure.axes[1].get_ylabel()


def test_without_outlines_units_are_points_over_the_network():
    axes = small_result().wepl.map("precipitation_depth", "2001")
    points, = (item for item in axes.collections if isinstance(item, PathCollection))
    np.testing.assert_allclose(points.get_offsets()[:, 0], [0.4, 0.6, 1.5, 1.0])


def test_without_places_the_network_is_a_tree():
    axes = small_result(places=False).wepl.map("precipitation_depth", "2001")
    assert "tree" in axes.get_title()
    np.testing.assert_allclose(maps.tree(np.array([2, 2, -1])), [[0.0, 1.0], [1.0, 1.0], [0.5, 0.0]])


@pytest.mark.parametrize("draw", [
    lambda plot: plot.hydrograph(), lambda plot: plot.hydrograph("Upper", step="month"),
    lambda plot: plot.flow_duration("Mouth"), lambda plot: plot.regime(), lambda plot: plot.water_balance("year"),
    lambda plot: plot.water_balance("subbasin"), lambda plot: plot.evapotranspiration("month")])
def test_axes_have_units(draw):
    axes = draw(small_result().wepl.plot)
    axes.figure.canvas.draw()
    assert "m3 s-1" in axes.get_ylabel() or "mm" in axes.get_ylabel()
    assert axes.get_xlabel()


def test_observed_points_beside_the_line():
    data = small_result()
    axes = data.wepl.plot.hydrograph(given=data.wepl.hydrograph("Upper") * 1.1)
    assert [line.get_label() for line in axes.lines] == ["Upper, observed", "Upper, simulated"]
