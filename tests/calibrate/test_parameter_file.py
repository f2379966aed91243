"""Parameter files of a run: what they may hold."""

from __future__ import annotations

import pytest

from wepl.errors import InputError
from wepl.run.parameter_file import read_parameters


def test_parameters_go_over_options(tmp_path):
    path = tmp_path / "best.toml"
    path.write_text('[options]\ninfiltration_switch = "green_ampt"\nwind_height = 2\n'
                    '[parameters]\nwind_height = 10.5\n"conductivity_factor@3" = 0.5\n')
    assert read_parameters(path) == {"infiltration_switch": "green_ampt", "wind_height": 10.5,
                                     "conductivity_factor@3": 0.5}


@pytest.mark.parametrize("text, message", [
    ("conductivity_factor = 1.0", "has conductivity_factor: give the tables"), ("", "has nothing"),
    ("[parameters]\na = true", "parameters.a is True"), ("[parameters", "is not a TOML file")])
def test_refused(tmp_path, text, message):
    path = tmp_path / "best.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_parameters(path)


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_parameters(tmp_path / "best.toml")
