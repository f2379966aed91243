"""The numbers of a page: what is stored, how finely, and the index by which the page's scripts find it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wepl.errors import InputError
from wepl.language import table
from wepl.report import observed as observations
from wepl.report.collect import Collected, Series, collect, mean_year
from wepl.report.encode import Blobs
from wepl.report.geometry import drawing
from wepl.report.periods import Periods
from wepl.report.read import DISCHARGE, RAIN, Quantity, ResultReader
from wepl.report.words import quantity_name, unit_text

# Characters that one packed value is taken to need: series were found to take 0.2 (rain of few stations) to 2.6.
_SERIES_CHARACTERS, _FLOW_CHARACTERS = 1.6, 4.5
_FLOW_SHARE = 0.3
_FIRST = (DISCHARGE, RAIN)


def fill(reader: ResultReader, observed: observations.Observations | None, language: str,
         room: int) -> tuple[dict[str, Any], Blobs, Collected, list[observations.Skill]]:
    """Read the result and pack it.

    Parameters
    ----------
    reader : ResultReader
    observed : Observations, optional
    language : str
    room : int
        Characters that the packed numbers may take.

    Returns
    -------
    index : dict
        What the scripts of the page start from.
    blobs : Blobs
    collected : Collected
    skills : list of Skill

    Raises
    ------
    InputError
        Not even monthly series fit.
    """
    ladder = reader.steps.ladder()
    blobs = Blobs()
    # Outlines and facts come first: what they take is no longer free for series.
    index: dict[str, Any] = {"language": language, "stepSeconds": reader.steps.step_seconds}
    index["map"] = drawing(reader, blobs)
    index["subbasins"] = {"ids": blobs.add(reader.identifiers, "<f8"),
                          "downstream": blobs.add(reader.downstream, "<i4"),
                          "area": blobs.add(reader.area, "<f4"), "upstream": blobs.add(reader.upstream_area(), "<f4")}
    collected = collect(reader, _levels(reader, ladder, room - blobs.size))
    skills = _flows(index, reader, collected, observed, ladder, blobs, room)
    complete = reader.steps.complete_years()
    years = reader.steps.periods("year")
    index["years"] = {"names": [int(reader.steps.date[step] // 10000) for step in years.first],
                      "complete": [bool(flag) for flag in complete]}
    index["variables"] = [_described(series, language) for series in collected.yearly.values()]
    for entry in index["variables"]:
        series = collected.yearly[entry["key"]]
        entry["yearly"] = blobs.add(np.vstack([mean_year(series, complete), series.values]), "<f4")
    _pack_series(index["variables"], collected, ladder, blobs, room)
    index["levels"] = {periods.name: _axis(reader, periods, blobs) for periods in ladder if periods.name != "year"}
    index["texts"] = {key.removeprefix("page."): text for key, text in table(language).items()
                      if key.startswith("page.")}
    return index, blobs, collected, skills


def _levels(reader: ResultReader, ladder: Sequence[Periods], room: int) -> dict[str, Periods]:
    """Periods at which the series of each quantity are likely to fit: discharge, rain, the rest alike."""
    free = room * (1.0 - _FLOW_SHARE) / _SERIES_CHARACTERS / reader.identifiers.size
    months = next(periods.count for periods in ladder if periods.name == "month")
    order = sorted(reader.quantities, key=lambda quantity: _rank(quantity.key))
    levels = {}
    for number, quantity in enumerate(order):
        others = len(order) - number - 1
        most = free - months * others if _rank(quantity.key) < len(_FIRST) else free / (others + 1)
        levels[quantity.key] = _finest(ladder, most)
        free -= levels[quantity.key].count
    return levels


def _rank(key: str) -> int:
    """Place of a quantity in the order in which room is given."""
    return _FIRST.index(key) if key in _FIRST else len(_FIRST)


def _finest(ladder: Sequence[Periods], most: float) -> Periods:
    """The finest periods of which there are at most so many; months where even they are too many."""
    usable = [periods for periods in ladder if periods.name != "year"]
    return next((periods for periods in usable if periods.count <= most), usable[-1])


def _flows(index: dict[str, Any], reader: ResultReader, collected: Collected,
           observed: observations.Observations | None, ladder: Sequence[Periods], blobs: Blobs,
           room: int) -> list[observations.Skill]:
    """Pack discharge, rain and observations of the places."""
    count = len(reader.places)
    kinds = 1 + (collected.rain is not None) + (observed is not None)
    periods = _finest(ladder, room * _FLOW_SHARE / _FLOW_CHARACTERS / kinds / max(1, count))
    flow = Quantity(DISCHARGE, -1, "m3 s-1", False)
    every = ladder[0]
    index["flow"] = {"level": periods.name,
                     "simulated": blobs.add(Series(flow, every, collected.flow).coarser(periods).values.T, "<f4")}
    if collected.rain is not None:
        depth = Series(Quantity("", -1, "mm", True), every, collected.rain).coarser(periods)
        index["flow"]["rain"] = blobs.add(depth.values.T, "<f4")
    skills = []
    if observed is not None:
        points = np.full((periods.count, count), np.nan)
        for position in observed.values:
            pairs = observations.paired(observed, position, collected.flow[:, position], reader.steps)
            if len(pairs):
                skills.append(observations.skill(position, pairs, reader.steps))
                points[:, position] = _points(pairs, periods)
        if not skills:
            raise InputError("no observation lies in the period of the run, or none fits its steps: nothing can be "
                             f"compared. The run goes from {reader.steps.start} to {reader.steps.end}")
        index["flow"]["observed"] = blobs.add(points.T, "<f4")
    upstream = reader.upstream_area()
    index["places"] = [{"id": place.identifier, "name": place.name, "subbasin": place.subbasin,
                        "area": float(upstream[place.subbasin]) if np.isfinite(reader.area).all() else None}
                       for place in reader.places]
    return skills


def _points(pairs: np.ndarray, periods: Periods) -> np.ndarray:
    """Observed means on the axis of the hydrographs: at the period in which each pair begins."""
    where = periods.of_step[pairs[:, 0].astype(np.int64)]
    number = np.bincount(where, minlength=periods.count)
    total = np.bincount(where, weights=pairs[:, 2], minlength=periods.count)
    return np.where(number > 0, total / np.maximum(1, number), np.nan)


def _described(series: Series, language: str) -> dict[str, Any]:
    quantity = series.quantity
    return {"key": quantity.key, "name": quantity_name(quantity, language), "unit": unit_text(quantity.units),
            "summed": quantity.summed}


def _pack_series(entries: list[dict[str, Any]], collected: Collected, ladder: Sequence[Periods], blobs: Blobs,
                 room: int) -> None:
    """Store the series in the order of their rank; what does not fit after all is stored over longer periods."""
    order = sorted(range(len(entries)), key=lambda place: _rank(entries[place]["key"]))
    for number, place in enumerate(order):
        series = collected.fine[entries[place]["key"]]
        left = len(order) - number
        share = 0.6 if _rank(series.quantity.key) < len(_FIRST) else 1.5 / left
        most = (room - blobs.size) * (share if left > 1 else 1.0)
        while True:
            trial = Blobs(list(blobs.texts))
            packed = trial.add_series(series.values.T)
            coarser = [periods for periods in ladder if periods.count < series.periods.count
                       and periods.name != "year"]
            if trial.size - blobs.size <= most or not coarser:
                break
            series = series.coarser(coarser[0])
        blobs.texts[:] = trial.texts
        entries[place] |= {"level": series.periods.name, "series": packed}
    if blobs.size > room:
        raise InputError(f"the result is too large for one page: monthly series take {blobs.size / 1e6:.0f} MB of "
                         f"{room / 1e6:.0f}; run a shorter period or write fewer --variables")


def _axis(reader: ResultReader, periods: Periods, blobs: Blobs) -> dict[str, Any]:
    """Starts of the periods: days from the start of the run, dates and minutes of the day."""
    steps = reader.steps
    return {"start": blobs.add(steps.edges[periods.first] / 86400.0, "<f8"),
            "end": float(steps.edges[-1] / 86400.0),
            "date": blobs.add(steps.date[periods.first], "<i4"),
            "minute": blobs.add(steps.minute[periods.first], "<i4")}
