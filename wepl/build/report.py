"""What a build gave, for the eye: a table of sums, and one page of plots that needs no other file."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wepl import registry
from wepl.errors import InputError
from wepl.netcdf import publish, temporary_path, write_failure

if TYPE_CHECKING:
    import pandas as pd

    from wepl.basin.dataset import Basin
    from wepl.build.types import Terrain

PAGE = "build.html"
_BLOCK_VALUES = 4_000_000
_DAYS_PER_YEAR = 365.25


@dataclass(frozen=True)
class Summary:
    """Sums and means of a basin, areas in km2.

    Attributes
    ----------
    title, period : str
    area : float
        Of all units.
    outlets : pandas.DataFrame
        Identifier and area above of each outlet.
    counts : dict of str to int
        Sub-basins, units, cells.
    means : dict of str to (float, str)
        Area-weighted means and their units.
    land : dict of str to float
        Share of the area by land class.
    gauges : pandas.DataFrame
        As in :class:`wepl.build.types.Terrain`.
    forcing : dict of str to ndarray
        Mean of each forcing variable per cell, in file units; precipitation in mm per year.
    unit_cell : ndarray of int
        Position of each unit's cell in the arrays of ``forcing``.
    """

    title: str
    period: str
    area: float
    outlets: pd.DataFrame
    counts: dict[str, int]
    means: dict[str, tuple[float, str]]
    land: dict[str, float]
    gauges: pd.DataFrame
    forcing: dict[str, np.ndarray]
    unit_cell: np.ndarray


def summarise(terrain: Terrain, basin: Basin) -> Summary:
    """Sums and means of a built basin; reads its forcing once, in blocks."""
    values = basin.parameters
    area = values["unit_area"].values / 1e6
    cells = values["cell"].values
    order = np.argsort(cells, kind="stable")
    unit_cell = order[np.searchsorted(cells, values["unit_cell"].values, sorter=order)]
    forcing = _forcing_means(basin)
    means = {"elevation": (_mean(values["unit_elevation"].values, area), "m"),
             "slope": (_mean(values["unit_slope"].values, area), "1"),
             "overland flow length": (_mean(values["unit_flow_length"].values, area), "m"),
             "soil depth": (_mean(values["soil_thickness"].values.sum(axis=1), area), "m"),
             "water between field capacity and wilting point": (_mean(_available(basin), area), "mm"),
             "saturated conductivity of the top layer (geometric)": (
                 float(np.exp(_mean(np.log(values["saturated_conductivity"].values[:, 0] * 3.6e6), area))), "mm h-1")}
    for name, of_cell in forcing.items():
        unit = "mm a-1" if name == "precipitation" else registry.variable(name).file_units
        means[name.replace("_", " ")] = (_mean(of_cell[unit_cell], area), unit)
    shares = values["land_fraction"].values
    clock = basin.clock
    outlets = terrain.subbasins[terrain.subbasins["downstream"] == -1]
    return Summary(
        basin.title, f"{clock.label(0)} to {clock.label(clock.n_steps - 1)}, {clock.n_steps} steps of "
        f"{clock.step_seconds / 3600:g} h", float(area.sum()), outlets[["upstream_km2"]],
        {"sub-basins": values.sizes["subbasin"], "units": values.sizes["unit"], "forcing cells": cells.size},
        means, {name: _mean(shares[:, place], area) for place, name in enumerate(registry.LAND_CLASSES)},
        terrain.gauges, forcing, unit_cell)


def _mean(values: np.ndarray, weight: np.ndarray) -> float:
    return float(np.average(values, weights=weight))


def _available(basin: Basin) -> np.ndarray:
    """Water that plants can draw from the soil of each unit, mm."""
    values = basin.parameters
    return 1e3 * ((values["field_capacity"] - values["wilting_point"]) * values["soil_thickness"]).values.sum(axis=1)


def _forcing_means(basin: Basin) -> dict[str, np.ndarray]:
    from wepl.units import convert

    entries = registry.layout("forcing")
    n_steps = basin.clock.n_steps
    size = max(1, _BLOCK_VALUES // (len(entries) * basin.forcing.cells.size))
    total = np.zeros((len(entries), basin.forcing.cells.size))
    for first in range(0, n_steps, size):
        total += basin.forcing.read(first, min(n_steps, first + size)).sum(axis=1)
    means = {}
    for row, entry in enumerate(entries):
        if entry.name in basin.forcing.available:
            mean = np.asarray(convert(total[row] / n_steps, entry.units, entry.file_units, entry.name))
            means[entry.name] = mean * _DAYS_PER_YEAR if entry.name == "precipitation" else mean
    return means


def table(summary: Summary, notes: Sequence[str] = ()) -> str:
    """The table of sums as text, with notes on what was filled."""
    rows = [("title", summary.title), ("area", f"{summary.area:.2f} km2")]
    rows += [(name, str(count)) for name, count in summary.counts.items()]
    rows += [(f"outlet {identifier}", f"{row['upstream_km2']:.2f} km2 above it")
             for identifier, row in list(summary.outlets.iterrows())[:5]]
    if len(summary.outlets) > 5:
        rows.append(("more outlets", str(len(summary.outlets) - 5)))
    rows += [(f"land: {name.replace('_', ' ')}", f"{100 * share:.2f} %") for name, share in summary.land.items()]
    rows += [(f"mean {name}", f"{value:.4g} {'' if unit == '1' else unit}".rstrip())
             for name, (value, unit) in summary.means.items()]
    rows.append(("forcing", summary.period))
    rows += [(f"gauge {row['name']}", _gauge_text(row)) for _, row in summary.gauges.iterrows()]
    rows += [("note", note) for note in dict.fromkeys(notes)]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:{width}}  {text}" for name, text in rows)


def _gauge_text(row: pd.Series) -> str:
    text = f"sub-basin {row['subbasin']}, {row['found_km2']:.2f} km2"
    if np.isfinite(row["given_km2"]):
        error = row["found_km2"] / row["given_km2"] - 1.0
        text += f" ({100 * error:+.1f} % of the {row['given_km2']:g} km2 given)"
    return f"{text}, moved {row['moved_m']:.0f} m"


def require_plots() -> None:
    """Refuse, before any work, plots that cannot be drawn.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    try:
        import wepl.build.plots  # noqa: F401
    except ModuleNotFoundError:
        raise InputError("plots need matplotlib: pip install 'wepl[prep]', or leave --plots out") from None


def page(summary: Summary, terrain: Terrain, basin: Basin, sums: str) -> str:
    """The page of plots: HTML with its pictures inside."""
    from wepl.build.plots import pictures

    title = html.escape(summary.title)
    parts = [f"<h2>{html.escape(heading)}</h2>\n<img alt=\"{html.escape(heading)}\" "
             f"src=\"data:image/png;base64,{data}\">" for heading, data in pictures(summary, terrain, basin)]
    return "\n".join([
        "<!doctype html>", '<html lang="en"><head><meta charset="utf-8">', f"<title>{title}</title>",
        "<style>body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em}img{max-width:100%}"
        "pre{background:#f4f4f4;padding:1em;overflow-x:auto}</style></head><body>",
        f"<h1>{title}</h1>", f"<pre>{html.escape(sums)}</pre>", *parts, "</body></html>", ""])


def write_page(text: str, folder: Path) -> Path:
    """Write the page into a folder, which is made when it is not there."""
    place = folder / PAGE
    unfinished = temporary_path(place)
    try:
        folder.mkdir(exist_ok=True)
        unfinished.write_text(text, encoding="utf-8")
        publish(unfinished, place)
    except OSError as error:
        raise write_failure(place, error) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return place
