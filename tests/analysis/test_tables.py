"""Tables of a result against numbers that can be worked out by hand."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from small_results import AREAS, small_result

import wepl
from wepl.analysis import accessor, network  # noqa: F401
from wepl.errors import InputError


@pytest.fixture(scope="module")
def data():
    return small_result()


def test_hydrograph(data):
    table = data.wepl.hydrograph()
    assert list(table.columns) == ["Mouth", "Upper"]
    assert table.columns.name == "discharge, m3 s-1" and table.attrs["units"] == "m3 s-1"
    np.testing.assert_array_equal(table["Mouth"], data["discharge"].values[:, 2])
    for place in ("Upper", 2, 10, "10"):
        np.testing.assert_array_equal(data.wepl.hydrograph(place), data["discharge"].values[:, 0])
    monthly = data.wepl.hydrograph("Mouth", "month")
    assert len(monthly) == 24
    assert monthly.iloc[1] == pytest.approx(table["Mouth"].loc["2001-02"].mean(), rel=1e-14)
    assert len(data.wepl.hydrograph("Mouth", "year")) == 2


def test_outlets_stand_in_for_gauges(data):
    without = data.drop_dims("gauge")
    assert list(without.wepl.hydrograph().columns) == ["sub-basin 30"]


def test_flow_duration(data):
    curve = data.wepl.flow_duration("Mouth")
    assert (np.diff(curve) <= 0.0).all()
    assert curve.index.name == "exceedance probability, %"
    assert curve.index[0] == pytest.approx(100.0 / 731.0)
    assert curve.iloc[364] == pytest.approx(np.median(data["discharge"].values[:, 2]), abs=0.02)


def test_regime_weighs_years_alike(data):
    regime = data.wepl.regime("Upper")
    assert list(regime.index) == list(range(1, 13))
    months = data.wepl.hydrograph("Upper", "month")
    assert regime.loc[3] == pytest.approx(0.5 * (months.loc["2001-03-01"] + months.loc["2002-03-01"]))


def test_water_balance_of_subbasins(data):
    table = data.wepl.water_balance("subbasin")
    days = data.sizes["time"]
    assert table.loc[10, "precipitation_mm"] == pytest.approx(days * (1.0 * 1.0 + 2.0 * 3.0) / 4.0)
    # What flows through from 10 and 20 leaves nothing of its own in 30.
    assert table.loc[30, "outflow_mm"] == pytest.approx(0.0, abs=1e-9)
    volume = data["discharge"].values[:, 0].sum() * 86400.0
    assert table.loc[10, "outflow_mm"] == pytest.approx(volume / 4e6 * 1e3)
    assert table.loc[30, "storage_change_mm"] == pytest.approx(days * 3.0)


def test_water_balance_of_years_adds_up(data):
    years, months = data.wepl.water_balance("year"), data.wepl.water_balance("month")
    assert [str(name) for name in years.index] == ["2001", "2002"] and str(months.index[0]) == "2001-01"
    mean = (np.array([1.0, 2.0, 3.0, 4.0]) * AREAS).sum() / AREAS.sum()
    assert years["precipitation_mm"].iloc[0] == pytest.approx(365.0 * mean)
    pd.testing.assert_series_equal(months.sum(), years.sum())
    assert data.wepl.water_balance().loc["outflow", "depth_mm"] == 60.0


def test_evapotranspiration_by_source(data):
    table = data.wepl.evapotranspiration_by_source("basin")
    assert table.loc["basin", "transpiration_mm"] == pytest.approx(0.1 * 730.0)
    assert len(data.wepl.evapotranspiration_by_source("month")) == 24
    assert data.wepl.evapotranspiration_by_source("subbasin").loc[20, "soil_evaporation_mm"] == pytest.approx(146.0)


def test_upstream(data):
    own = data.wepl.subbasins("precipitation_depth").isel(time=0).values
    np.testing.assert_allclose(own, [1.75, 3.0, 4.0])
    gathered = data.wepl.upstream("precipitation_depth").isel(time=0).values
    np.testing.assert_allclose(gathered, [1.75, 3.0, (1.75 * 4 + 3.0 * 2 + 4.0 * 4) / 10.0])
    np.testing.assert_allclose(data.wepl.upstream("lateral_inflow").isel(time=5).values, [1.0, 2.0, 7.0])
    # Ground without soil takes no part.
    moisture = data.wepl.upstream("soil_moisture").isel(time=0, soil_layer=0).values
    np.testing.assert_allclose(moisture, [0.25, np.nan, (0.25 * 4 + 0.2 * 4) / 8.0])
    np.testing.assert_allclose(network.upstream_areas(data), [4.0, 2.0, 10.0])


@pytest.mark.parametrize(("ask", "words"), [
    (lambda wepl: wepl.hydrograph("Uper"), ["no gauge 'Uper'", "Did you mean 'Upper'", "Mouth"]),
    (lambda wepl: wepl.hydrograph(99), ["no gauge 99"]),
    (lambda wepl: wepl.hydrograph("Upper", "week"), ["week", "month"]),
    (lambda wepl: wepl.water_balance("river"), ["'river'", "subbasin"]),
    (lambda wepl: wepl.evapotranspiration_by_source("day"), ["'day'"]),
    (lambda wepl: wepl.upstream("discharge"), ["comes from upstream already"]),
    (lambda wepl: wepl.upstream("snow"), ["no series 'snow'", "lateral_inflow"]),
])
def test_refused(data, ask, words):
    with pytest.raises(InputError) as caught:
        ask(data.wepl)
    assert all(word in str(caught.value) for word in words), caught.value


def test_what_is_missing_is_named(data):
    with pytest.raises(InputError, match="--variables evapotranspiration"):
        data.drop_vars("evapotranspiration").wepl.water_balance("year")
    with pytest.raises(InputError, match="no result of wepl"):
        _ = xr.Dataset().wepl


def test_days_without_leap_years():
    time = xr.date_range("2004-02-27", periods=4, freq="D", calendar="noleap", use_cftime=True)
    short = small_result().isel(time=slice(0, 4)).assign_coords(time=time)
    assert [f"{day:%m-%d}" for day in short.wepl.hydrograph().index] == ["02-27", "02-28", "03-01", "03-02"]


def test_open_result_refuses(tmp_path, sample_path):
    with pytest.raises(InputError, match="not there"):
        wepl.open_result(tmp_path / "none.nc")
    with pytest.raises(InputError, match="basin"):
        wepl.open_result(sample_path)


def test_import_stays_light():
    """``import wepl`` loads no library that it may not need."""
    code = "import sys, wepl; print([name for name in ('xarray', 'matplotlib', 'dask', 'numba', 'cupy') " \
           "if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
