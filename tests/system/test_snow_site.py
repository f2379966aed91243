"""Snow at Col de Porte (Morin et al. 2012), winter 2005/06, by degree days with default parameters.

Observed: 440 mm on 20 March, gone on 28 April. Melt runoff of the site exceeds its precipitation and is not used. The
measured snow water equivalent is good to a tenth. A degree-day factor from a table is not the site's own: open sites
scatter by about 1 mm K-1 d-1 about their mean (Kuusisto 1980), which here moves melt-out by ten days and the peak by a
tenth; so open ground is held to two weeks and a fifth, and the kind whose factor is right to ten days and a tenth.
Figures: docs/towers.md.
"""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest
from towers import col_de_porte, col_de_porte_snow, col_de_porte_weather, simulate

GONE = 5.0  # mm
FOREST = "evergreen_needleleaf_forest"


def _melt_out(swe: pd.Series) -> pd.Timestamp:
    """First day after the peak without snow."""
    after = swe.dropna().loc[swe.idxmax():]
    return after.index[after <= GONE][0]


@pytest.fixture(scope="module")
def observed(shared_data):
    swe = col_de_porte_snow(shared_data / "snow_col_de_porte")
    print(f"\nCol de Porte observed: peak {swe.max():.0f} mm on {swe.idxmax():%d %B}, gone on {_melt_out(swe):%d %B}")
    return swe


@pytest.fixture(scope="module")
def pack(shared_data, observed, tmp_path_factory):
    """Makes the run of one land kind and step, once."""
    done = {}

    def make(land: str, step: str) -> SimpleNamespace:
        if (land, step) not in done:
            basin = col_de_porte(shared_data / "snow_col_de_porte", land, step)
            result = simulate(basin, tmp_path_factory.mktemp("snow") / "result.nc", ("snowfall",))
            steps = result.steps
            swe = steps["snow_water_equivalent"].resample("1D").mean()
            peak_late = (swe.idxmax() - observed.idxmax()).days
            melt_out_late = (_melt_out(swe) - _melt_out(observed)).days
            error = 100.0 * (swe.max() / observed.max() - 1.0)
            misfit = ((swe - observed)[observed.notna()] ** 2).mean() ** 0.5
            print(f"\n{land}, {step}: peak {swe.max():.0f} mm ({error:.0f} %) on {swe.idxmax():%d %B} ({peak_late} d), "
                  f"gone on {_melt_out(swe):%d %B} ({melt_out_late} d), root mean square error {misfit:.0f} mm, "
                  f"snowfall {steps['snowfall'].sum():.0f}, sublimation {steps['snow_sublimation'].sum():.0f} mm")
            done[land, step] = SimpleNamespace(peak=peak_late, melt_out=melt_out_late, error=error,
                                               closure=result.closure, snowfall=steps["snowfall"].sum())
        return done[land, step]

    return make


def test_record(shared_data, observed):
    """506 mm of snow and 390 mm of rain fell; the pack held 440 mm at most."""
    weather = col_de_porte_weather(shared_data / "snow_col_de_porte")
    assert weather["precipitation"].sum() * 3600.0 == pytest.approx(506.0 + 390.0, abs=1.0)
    assert observed.max() == 440.0


@pytest.mark.parametrize("step", ["1h", "1D"])
def test_balance(pack, step):
    assert pack("grass", step).closure <= 1e-9


def test_snowfall(pack):
    """Snow by temperature (0 to 2 degC) against the observer's 506 mm; gauges lose and observers err by a tenth."""
    assert pack("grass", "1h").snowfall == pytest.approx(506.0, rel=0.1)


@pytest.mark.parametrize("step", ["1h", "1D"])
@pytest.mark.parametrize("land", ["grass", "bare", FOREST])
def test_peak_date(pack, land, step):
    """The pack was within 2 % of its peak from 13 to 20 March already: ten days."""
    assert abs(pack(land, step).peak) <= 10


@pytest.mark.parametrize("step", ["1h", "1D"])
def test_needleleaf_factor(pack, step):
    """2.5 mm K-1 d-1, what forests (2.4 of Kuusisto 1980) and this sheltered clearing (wind 0.9 m s-1) melt at."""
    snow = pack(FOREST, step)
    assert abs(snow.melt_out) <= 10
    assert abs(snow.error) <= 10.0


@pytest.mark.parametrize("step", ["1h", "1D"])
@pytest.mark.parametrize("land", ["grass", "bare"])
def test_open_ground_melt_out(pack, land, step):
    assert abs(pack(land, step).melt_out) <= 14


@pytest.mark.parametrize("land", ["grass", "bare"])
def test_open_ground_peak(pack, land):
    assert abs(pack(land, "1h").error) <= 20.0
