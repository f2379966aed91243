"""Arguments of a run over a good basin that cannot be."""

from __future__ import annotations

import pytest
from basins import valid, write
from refusal import refused
from test_broken_weather import apart

ARGUMENTS: dict[str, tuple[dict[str, object], str]] = {
    "starts before the forcing": ({"start": "2009-12-31"}, "2009-12-31 lies outside the forcing, which goes from 2010-0"
                                  "1-01 to 2010-01-06"),
    "ends after the forcing": ({"end": "2010-01-07"}, "2010-01-07 lies outside the forcing"),
    "ends before it starts": ({"start": "2010-01-04", "end": "2010-01-03"}, "would end .* before it starts"),
    "no date": ({"start": "spring"}, "'spring' is not a date: write 2010-07-31"),
    "no such day": ({"start": "2010-02-30"}, "'2010-02-30' is not a date of the standard calendar"),
    "unknown option": ({"options": {"speed": "3"}}, "unknown option speed: choose from"),
    "option out of range": ({"options": {"rs_max": "3"}}, "option rs_max = 3 is outside 100 to"),
    "option that is no number": ({"options": {"rs_max": "fast"}}, "option rs_max: 'fast' is not a number"),
    "option that is not finite": ({"options": {"rs_max": "nan"}}, "option rs_max = nan is outside"),
    "unknown switch": ({"options": {"energy_balance": "perhaps"}}, "'perhaps' is not one of none, force_restore"),
    "no block": ({"block_days": 0}, "--block-days 0 is shorter"),
    "no threads": ({"threads": 0}, "--threads 0: give a number from 1"),
    "unknown variable": ({"variables": ["gold"]}, "unknown output variable gold: choose from"),
    "routing step": ({"options": {"routing_step": "50000"}}, "routing_step is 50000 s, .*give a divisor of 86400"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_cannot_be_are_refused(name, tmp_path):
    arguments, pattern = ARGUMENTS[name]
    refused(write(valid(), tmp_path / "basin.nc"), pattern, **arguments)


def test_places_where_no_result_can_stand(tmp_path):
    path = write(valid(), tmp_path / "basin.nc")
    content = path.read_bytes()
    apart(tmp_path / "other.nc", halves=False)
    (tmp_path / "results.nc").mkdir()
    refused(path, "the result would overwrite the basin", output=path)
    refused(path, "the folder .*nowhere does not exist", output=tmp_path / "nowhere" / "result.nc")
    refused(path, "results.nc is a folder", output=tmp_path / "results.nc")
    refused(tmp_path / "other.nc", "weather_0.nc exists and is not a result", output=tmp_path / "weather_0.nc")
    assert path.read_bytes() == content
