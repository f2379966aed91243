"""All comparisons, and the page that lists them: docs/validation.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from wepl.validation import (
    atmosphere,
    energy,
    evapotranspiration,
    groundwater,
    infiltration,
    infiltration_layers,
    interception,
    metrics,
    overland,
    radiation,
    reference_evapotranspiration,
    river,
    snow,
    soil_hydraulics,
    soil_water,
)
from wepl.validation.comparison import Comparison, Group, compare_all

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "validation.md"
MODULES = (atmosphere, radiation, reference_evapotranspiration, evapotranspiration, interception, snow, energy,
           soil_hydraulics, infiltration, infiltration_layers, soil_water, groundwater, overland, river, metrics)
_THEORY = {
    atmosphere.PROCESS: "atmosphere", radiation.PROCESS: "atmosphere",
    reference_evapotranspiration.PROCESS: "evapotranspiration", evapotranspiration.PROCESS: "evapotranspiration",
    interception.PROCESS: "interception", snow.PROCESS: "snow", energy.PROCESS: "energy",
    soil_hydraulics.PROCESS: "soil-hydraulics", infiltration.PROCESS: "infiltration",
    infiltration_layers.PROCESS: "infiltration", soil_water.PROCESS: "soil-water", groundwater.PROCESS: "groundwater",
    overland.PROCESS: "overland", river.PROCESS: "river",
}
_HEAD = """\
<!-- Made by `python -m wepl.validation` from wepl/validation: change the tables there, not this page. -->

# Validation

Every number that the model's functions are held to: worked examples, closed solutions, and independent solvers.
Each row is computed anew by

    python -m wepl.validation            # writes this page
    python -m wepl.validation --check    # exit status 1 when a row fails or this page is out of date

An error is relative (rel.) to the expected value, or absolute in the row's unit; what is below the digits that two
machines share is given as an upper bound. *Evaluated* sources are formulas of the literature computed by separate code;
*printed* ones are the digits of a book. How whole catchments compare with observed discharge stands elsewhere: here are
processes only.

"""
_REFERENCE_NOTE = """\
FAO-56 rounds the constants of air into 900/(T + 273) and 0.34. The days are therefore compared twice: with these
coefficients put back as resistances, and with the resistances of 70 s/m and 208/u2 s/m themselves, which leave 1 % of
the aerodynamic term.
"""
_LAYER_NOTE = """\
Ponded loam over the more permeable sandy loam is compared down to the interface only: below it (A < 0) Darcy's law
would let the capacity grow with depth, and the model caps it at its value on entry
(see [infiltration](theory/infiltration.md)).
"""
_OVERLAND_NOTE = """\
Planes are cut into 500 cells and steps of two seconds here. The model itself has one cell per contour band and steps of
up to an hour; what the bands resolve is the user's choice.
"""
_NOTES: dict[str, Callable[[], str]] = {
    reference_evapotranspiration.PROCESS: lambda: _REFERENCE_NOTE, infiltration.PROCESS: lambda: _LAYER_NOTE,
    overland.PROCESS: lambda: _OVERLAND_NOTE, river.PROCESS: river.default_grid_note,
}


def groups() -> tuple[Group, ...]:
    """Every group, in the order of the page."""
    return tuple(group for module in MODULES for group in module.GROUPS)


def run() -> list[Comparison]:
    """Make every comparison."""
    return compare_all(groups())


def page(comparisons: Sequence[Comparison]) -> str:
    """The page of finished comparisons, as markdown."""
    processes = list(dict.fromkeys(entry.process for entry in comparisons))
    failed = sum(not entry.passed for entry in comparisons)
    outcome = "all within their tolerance" if failed == 0 else f"**{failed} outside their tolerance**"
    parts = [_HEAD, f"**{len(comparisons)} comparisons, {outcome}.**\n\n",
             "| process | comparisons | passed |\n| --- | --- | --- |\n"]
    for process in processes:
        own = [entry for entry in comparisons if entry.process == process]
        anchor = process.lower().replace(",", "").replace(" ", "-")
        parts.append(f"| [{process}](#{anchor}) | {len(own)} | {sum(entry.passed for entry in own)} |\n")
    for process in processes:
        parts.append(f"\n## {process}\n\n")
        if process in _THEORY:
            parts.append(f"Equations: [{_THEORY[process].replace('-', ' ')}](theory/{_THEORY[process]}.md).\n\n")
        if process in _NOTES:
            parts.append(_NOTES[process]() + "\n")
        parts.append("| what | unit | expected | got | error | tolerance | source | |\n" + "| --- " * 8 + "|\n")
        parts += [_row(entry) for entry in comparisons if entry.process == process]
    return "".join(parts)


def _row(entry: Comparison) -> str:
    suffix = " rel." if entry.tolerance.relative else ""
    cells = (entry.what, entry.unit, _value(entry.expected, entry), _value(entry.got, entry), _error(entry) + suffix,
             f"{entry.tolerance.value:.2g}{suffix}", entry.source, "pass" if entry.passed else "**fail**")
    return "| " + " | ".join(cells) + " |\n"


def _value(value: float, entry: Comparison) -> str:
    """A value to the digits that machines share; what is below the floor of an expected 0 is 0."""
    if abs(value) <= (entry.floor if entry.expected == 0.0 else 0.0):
        return "0"
    return f"{value:.{entry.digits}g}"


def _error(entry: Comparison) -> str:
    """One digit; below the floor a bound."""
    if not math.isfinite(entry.error):
        return "not finite"
    return f"< {entry.floor:.0e}" if entry.error < entry.floor else f"{entry.error:.0e}"
