"""Where a run begins: soils between wilting point and field capacity, unless the basin file says otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from small_basins import MIXED_LAND, steady_weather
from small_basins import basin as small_basin

from wepl import rows
from wepl.basin.dataset import Basin
from wepl.run.assembly import assemble
from wepl.run.simulation import resolve_options


@pytest.mark.parametrize("wetness", [0.0, 0.25, 1.0])
def test_soils_begin_at_the_wetness_asked_for(wetness):
    basin = Basin.from_dataset(small_basin(steady_weather(2), land=MIXED_LAND))
    arrays = assemble(basin, resolve_options(basin, {"initial_wetness": wetness})).values
    soil = arrays["tile_index"][rows.TILE_KIND] == rows.SOIL
    assert soil.any() and not soil.all()
    parameter = arrays["soil_parameter"]
    wilting, capacity = parameter[rows.WILTING_WATER], parameter[rows.FIELD_CAPACITY_WATER]
    water = arrays["soil_state"][rows.SOIL_WATER]
    np.testing.assert_allclose(water[:, soil], (wilting + wetness * (capacity - wilting))[:, soil], rtol=1e-14)
    assert (water[:, ~soil] == 0.0).all()
    if wetness == 1.0:
        np.testing.assert_array_equal(water[:, soil], capacity[:, soil])
