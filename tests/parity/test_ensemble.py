"""Members of an ensemble in one launch give the same bits as runs one by one, on every backend here."""

from __future__ import annotations

import numpy as np
import pytest

from wepl import backends
from wepl.basin.dataset import Basin
from wepl.errors import InputError
from wepl.kernels import host
from wepl.run.ensemble import run_members
from wepl.run.memory import run_in_memory

MEMBERS = [{}, {"conductivity_factor": 0.5, "interflow_anisotropy": 10.0},
           {"soil_thickness_factor": 0.7, "manning_river_factor": 1.5, "aquifer_factor": 2.0}]
BACKENDS = ["cpu", pytest.param("emulate", marks=pytest.mark.skipif(host.compiler() is None,
                                                                   reason="no C++ compiler"))]


@pytest.mark.parametrize("name", BACKENDS)
def test_members_equal_single_runs(daily_basin, name):
    basin = Basin.open(daily_basin)
    together = run_members(basin, MEMBERS, backends.create(name), last=90)
    for number, member in enumerate(MEMBERS):
        alone = run_in_memory(basin, backends.create(name), options=member, last=90)
        for variable, values in alone.series.items():
            np.testing.assert_array_equal(together[variable][:, number], values, err_msg=f"{variable} {number}")
    assert not np.array_equal(together["discharge"][:, 0], together["discharge"][:, 1])


def test_kernel_options_must_agree(daily_basin):
    with pytest.raises(InputError, match="heavy_rain_depth"):
        run_members(Basin.open(daily_basin), [{}, {"heavy_rain_depth": 0.02}], backends.create("cpu"), last=2)


def test_no_member(daily_basin):
    with pytest.raises(InputError, match="no member"):
        run_members(Basin.open(daily_basin), [], backends.create("cpu"), last=2)
