"""A state that leaves its physical range ends the run with its name, place, time and value, on every backend here."""

from __future__ import annotations

import numpy as np
import pytest

from wepl.basin.dataset import Basin
from wepl.errors import NumericalError
from wepl.kernels import host
from wepl.run import model as model_module
from wepl.run.simulation import run

BACKENDS = ["cpu", pytest.param("emulate", marks=pytest.mark.skipif(host.compiler() is None, reason="no compiler"))]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("name", "value", "words"), [
    ("groundwater_head", 2e4, "groundwater_head .* in sub-basin .* outside -10000 to 10000"),
    ("snow_ice", 2e3, "snow_ice .* tile of unit .* outside 0 to 1000")])
def test_out_of_range(daily_basin, tmp_path, monkeypatch, backend, name, value, words):
    real = model_module.Model.advance_staged

    def poisoned(self, staged):
        state = self.state()
        state[name] = np.where(np.arange(state[name].size) == 3, value, state[name])
        self.set_state(state)
        return real(self, staged)

    monkeypatch.setattr(model_module.Model, "advance_staged", poisoned)
    with pytest.raises(NumericalError, match=words) as caught:
        run(Basin.open(daily_basin), output=tmp_path / "out.nc", end="2010-02-01", backend=backend, quiet=True)
    assert "2010-01-01" in str(caught.value)
    assert not (tmp_path / "out.nc").exists()
