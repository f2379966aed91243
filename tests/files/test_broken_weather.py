"""Weather in other files than the basin: gaps, overlaps, wrong cells, and names that lead nowhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from basins import outside, valid, write
from damage import cut, empty, signature_only, words
from refusal import refused
from spoil import Break, attribute, drop, no_attribute, redimensioned, text, times, value


def apart(basin: Path, pattern: str = "weather*.nc", halves: bool = True,
          change: Callable[[list[xr.Dataset]], list[xr.Dataset] | None] = lambda parts: None) -> None:
    data, weather = outside(valid(), pattern)
    parts = [weather.isel(time=slice(0, 3)), weather.isel(time=slice(3, None))] if halves else [weather]
    parts = [part.copy(deep=True) for part in parts]
    for number, part in enumerate(change(parts) or parts):
        write(part, basin.parent / f"weather_{number}.nc")
    write(data, basin)


def second(change: Break) -> Callable[[list[xr.Dataset]], list[xr.Dataset]]:
    """Break the second of two files."""
    def make(parts: list[xr.Dataset]) -> list[xr.Dataset]:
        made = change(parts[1])
        return [parts[0], parts[1] if made is None else made]
    return make


APART: dict[str, tuple[Callable[[list[xr.Dataset]], list[xr.Dataset] | None], str]] = {
    "gap": (second(lambda part: part.isel(time=slice(1, None))), "precipitation: a gap between .*weather_0.nc and .*wea"
            "ther_1.nc: the next step should start at 2010-01-04"),
    "overlap": (second(times([2, 3, 4])), "precipitation: an overlap between .*weather_0.nc and .*weather_1.nc"),
    "the same twice": (lambda parts: [*parts, parts[1]], "precipitation: an overlap between .*weather_[12].nc"),
    "other step": (second(times([72, 73, 74], "hours since 2010-01-01")), "files differ in their step .3600 s, 86400"),
    "other calendar": (second(attribute("time", "calendar", "noleap")), "different calendars: .*noleap in .*_1.nc"),
    "a cell less": (second(lambda part: part.isel(cell=[0])), "weather_1.nc: precipitation lacks 1 cell.*cell 8"),
    "a cell twice": (second(value("cell", 1, 7)), "weather_1.nc: cell 7 stands twice"),
    "no cells": (second(drop("cell")), "weather_1.nc: the variable cell .* is missing"),
    "text as cells": (second(text("cell")), "weather_1.nc: cell must be a list of whole numbers"),
    "half a cell": (second(value("cell", 1, 7.5)), "weather_1.nc: cell must be a list of whole numbers"),
    "no time": (second(drop("time")), "weather_1.nc: the variable time is missing"),
    "text as time": (second(text("time")), "weather_1.nc: time must be one list of numbers"),
    "no unit": (second(no_attribute("precipitation", "units")), "precipitation: the attribute units is missing"),
    "text as rain": (second(text("precipitation")), "weather_1.nc: precipitation holds text"),
    "rain per unit": (second(redimensioned("precipitation", "time", "unit", shape=(3, 8))),
                      r"weather_1.nc: precipitation has dimensions \('time', 'unit'\)"),
    "a variable less": (second(drop("wind_speed")), "wind_speed goes from 2010-01-01 in 3 steps .* but precipitation "
                        ".* in 6"),
    "a variable nowhere": (lambda parts: [part.drop_vars("wind_speed") for part in parts], "wind_speed is missing"),
    "a missing value": (second(value("wind_speed", (1, 0), np.nan)), "wind_speed in cell 7 at 2010-01-05: missing"),
}


@pytest.mark.parametrize("name", APART)
def test_broken_weather_files_are_refused(name, tmp_path):
    apart(tmp_path / "basin.nc", change=APART[name][0])
    refused(tmp_path / "basin.nc", APART[name][1])


@pytest.mark.parametrize("pattern, message", [
    ("rain.nc", "the attribute forcing names 'rain.nc', but no such file lies in"),
    ("weather_0.nc rain*.nc", "the attribute forcing names 'rain.*.nc', but no such file"),
    ("/nowhere/rain.nc", "the attribute forcing: '/nowhere/rain.nc' leads out of the folder .*copy or link"),
    ("../rain.nc", "the attribute forcing: '../rain.nc' leads out of the folder .*--allow-outside"),
    ("http://server/rain.nc", "the attribute forcing: 'http://server/rain.nc' leads out of the folder"),
    (".", "the attribute forcing names '.', "),
    ("weather**", "the attribute forcing names 'weather.*'"),
    ("weather_0.nc weather_0.nc", "an overlap between"),
    ("  ", "the basin has no forcing"),
])
def test_a_forcing_attribute_that_names_no_weather(pattern, message, tmp_path):
    apart(tmp_path / "basin.nc", pattern, halves=False)
    refused(tmp_path / "basin.nc", message)


@pytest.mark.parametrize("make", [words, empty, signature_only, cut(0.5)])
def test_a_damaged_weather_file_is_refused(make, tmp_path):
    apart(tmp_path / "basin.nc", halves=False)
    make(tmp_path / "weather_1.nc")
    refused(tmp_path / "basin.nc", "weather_1.nc: the forcing file cannot be read .*make or copy it again")


def test_weather_inside_and_outside_overlap(tmp_path):
    apart(tmp_path / "basin.nc", halves=False)
    data = valid()
    data.attrs["forcing"] = "weather_0.nc"
    refused(write(data, tmp_path / "basin.nc"), "precipitation: an overlap between .*basin.nc and .*weather_0.nc")
