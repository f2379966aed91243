"""Pages of the docs made from the registry: ``python -m wepl.registry.document`` writes them, ``--check`` compares.

The pages are stored with the docs so that they can be read anywhere; a test holds them equal to the registry.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from wepl import registry
from wepl.registry import Kind, Variable

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"

_MADE = "<!-- Made by `python -m wepl.registry.document` from wepl/registry: change the registry, not this page. -->\n"
_ARRAYS = {
    "option": "options of the run, one value a row",
    "forcing": "forcing of a block of time, `[row, step, cell]`",
    "calendar": "time of a step, `[row, step]`",
    "weather": "weather of the units, `[row, step, unit]`",
    "vegetation": "vegetation kinds interpolated between months, `[row, step, kind]`",
    "tile_parameter": "parameters of the tiles, `[row, tile]`",
    "soil_parameter": "parameters of the soil layers, `[row, layer, tile]`",
    "unit_parameter": "parameters of the units, `[row, unit]`",
    "subbasin_parameter": "parameters of sub-basins and their reaches, `[row, subbasin]`",
    "tile_state": "states of the tiles, `[row, tile]`",
    "soil_state": "states of the soil layers, `[row, layer, tile]`",
    "unit_state": "states of the units, `[row, unit]`",
    "subbasin_state": "states of the sub-basins, `[row, subbasin]`",
    "river_state": "states of the river cells, `[row, river_cell]`",
    "tile_flux": "totals of the tiles since the start, `[row, tile]`",
    "subbasin_flux": "totals of the sub-basins since the start, `[row, subbasin]`",
    "lateral": "what columns hand to hillslopes, `[row, route, tile]`",
    "inflow": "what hillslopes hand to rivers, `[row, route, subbasin]`",
    "series": "what the rivers write, `[row, route, subbasin]`",
}
_DIMS = {
    "subbasin": "sub-basins, each with one reach",
    "unit": "units: the contour bands of the sub-basins",
    "land_class": f"the land classes, in this order: {', '.join(registry.LAND_CLASSES)}",
    "soil_layer": f"soil layers from the top down, at most {registry.MAX_SOIL_LAYERS}",
    "vegetation": "vegetation kinds, when the file brings its own table",
    "month": "the 12 months, January first",
    "cell": "forcing cells",
    "time": "forcing steps",
    "gauge": "discharge gauges",
}


def registry_page() -> str:
    """The page of every variable: files, states, fluxes, kernel arrays and balances."""
    parts = [_MADE, "# Registry\n", _REGISTRY_INTRODUCTION]
    sections: tuple[tuple[str, Kind, str, Sequence[_Column]], ...] = (
        ("Topology", "topology", "Who flows where; from the basin file.", _INPUT),
        ("Parameters", "parameter", "From the basin file.", _INPUT),
        ("Options", "option", "Numbers of the whole run: scalars in the basin file, or `--set`.", _INPUT),
        ("Forcing", "forcing", "Comes with time, per forcing cell.", _INPUT),
        ("States", "state", "What evolves; all of it stands in a state file.", _STATE),
        ("Fluxes", "flux", "Totals per step; their sums since the start stand in a state file.", _STATE),
        ("Diagnostics", "diagnostic", "Written only.", _STATE),
    )
    for title, kind, text, columns in sections:
        parts += [f"## {title}\n", f"{text}\n", _table(registry.of_kind(kind), columns)]
    parts += ["## Kernel arrays\n", _ARRAY_INTRODUCTION]
    for array in registry.array_names():
        parts += [f"### {array}\n", f"{_ARRAYS[array][0].upper()}{_ARRAYS[array][1:]}.\n",
                  _rows(("row", "name", "unit", "meaning"),
                        ((str(row), f"`{entry.name}`", entry.units, entry.long_name)
                         for row, entry in enumerate(registry.layout(array))))]
    parts += ["## Balances\n", _BALANCE_INTRODUCTION,
              _rows(("process", "over", "inflow", "outflow", "storage"),
                    ((entry.process, entry.place, _names(entry.inflow), _names(entry.outflow), _names(entry.storage))
                     for entry in registry.BALANCES))]
    return "\n".join(parts)


def basin_file_page() -> str:
    """The page of the basin file: its dimensions and variables, what must be there and what may."""
    given = [*registry.of_kind("topology"), *registry.of_kind("parameter")]
    vegetation = [entry for entry in given if entry.dims[0] == "vegetation"]
    others = [entry for entry in given if entry not in vegetation]
    needed = [entry for entry in others if entry.default is None and not entry.optional]
    defaulted = [entry for entry in others if entry.default is not None]
    optional = [entry for entry in others if entry.optional]
    return "\n".join([
        _MADE, "# Basin file\n", _FILE_INTRODUCTION,
        "## Dimensions\n", _rows(("dimension", "what it counts"), ((f"`{dim}`", text) for dim, text in _DIMS.items())),
        "## What must be there\n", _table(needed, _FILE),
        "## What has a default\n", "Used for every place when the file has no such variable.\n",
        _table(defaulted, _FILE + (("default", _default),)),
        "## What may be left out\n", _table(optional, _FILE),
        "## Vegetation kinds\n", _VEGETATION_TEXT, _kinds(), _OWN_VEGETATION_TEXT, _table(vegetation, _FILE),
        "## Forcing\n", _FORCING_TEXT, _table(registry.of_kind("forcing"), (*_FILE, ("needed", _forcing_need))),
        "## Options\n", _OPTION_TEXT,
    ])


PAGES: dict[str, Callable[[], str]] = {"registry.md": registry_page, "basin-file.md": basin_file_page}


def outdated(docs: Path = DOCS) -> list[str]:
    """Names of the pages in ``docs`` that are missing or differ from what the registry says now."""
    return [name for name, page in PAGES.items()
            if not (docs / name).is_file() or (docs / name).read_text(encoding="utf-8") != page()]


def write(docs: Path = DOCS) -> None:
    """Write the pages into the folder ``docs``."""
    for name, page in PAGES.items():
        (docs / name).write_text(page(), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status: 1 when ``--check`` finds a page that is out of date, else 0."""
    parser = argparse.ArgumentParser(prog="python -m wepl.registry.document", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is out of date")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the pages")
    options = parser.parse_args(arguments)
    if not options.docs.is_dir():
        print(f"{options.docs} is not a folder: give the folder of the docs with --docs", file=sys.stderr)
        return 2
    if not options.check:
        write(options.docs)
        return 0
    old = outdated(options.docs)
    if old:
        print(f"out of date: {', '.join(old)}; run python -m wepl.registry.document", file=sys.stderr)
    return int(bool(old))


def _default(entry: Variable) -> str:
    if entry.default is None:
        return "may be left out" if entry.optional else ""
    return entry.choices[int(entry.default)] if entry.choices else _in_file_units(entry, entry.default)


def _range(entry: Variable) -> str:
    if entry.choices:
        return ", ".join(entry.choices)
    low, high = (_in_file_units(entry, limit) for limit in entry.valid)
    if math.isinf(entry.valid[0]) and math.isinf(entry.valid[1]):
        return ""
    return f"{low} to {high}"


def _in_file_units(entry: Variable, value: float) -> str:
    """A value of the registry as a file would give it, to six digits."""
    from wepl.units import convert

    if not math.isfinite(value):
        return f"{value:g}"
    return f"{float(convert(np.array(value), entry.units, entry.file_units, entry.name)):.6g}"


def _forcing_need(entry: Variable) -> str:
    if not entry.optional:
        return "yes"
    return "no" if entry.name == "longwave_radiation" else "one of the two"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


_Column = tuple[str, Callable[[Variable], str]]
_NAME: _Column = ("name", lambda entry: f"`{entry.name}`")
_MEANING: _Column = ("meaning", lambda entry: entry.long_name)
_PLACE: _Column = ("dimensions", lambda entry: ", ".join(("time",) * (entry.kind == "forcing") + entry.dims) or "none")
_UNIT: _Column = ("unit", lambda entry: entry.file_units)
_FILE: tuple[_Column, ...] = (_NAME, _PLACE, _UNIT, ("range", _range), _MEANING)
_INPUT: tuple[_Column, ...] = (_NAME, _PLACE, _UNIT, ("inside", lambda entry: entry.units), ("default", _default),
                               ("range", _range), _MEANING, ("CF name", lambda entry: entry.standard_name),
                               ("source", lambda entry: entry.source))
_STATE: tuple[_Column, ...] = (_NAME, _PLACE, _UNIT, ("inside", lambda entry: entry.units), _MEANING,
                               ("CF name", lambda entry: entry.standard_name))


def _table(entries: Iterable[Variable], columns: Sequence[_Column]) -> str:
    return _rows([title for title, _ in columns], ([cell(entry) for _, cell in columns] for entry in entries))


def _rows(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _kinds() -> str:
    """The built-in vegetation kinds as a table; ranges run from winter to summer."""
    from wepl.basin.vegetation import KINDS

    return _rows(("index", "kind", "leaf area index", "cover", "height, m", "roots, m", "albedo",
                  "least stomatal resistance, s m-1", "Manning, s m-1/3"),
                 ((str(index), kind.name, _span(kind.leaf_area_index), _span(kind.cover), _span(kind.height),
                   f"{kind.root_depth:g}", f"{kind.albedo:g}", f"{kind.resistance:g}", f"{kind.manning:g}")
                  for index, kind in enumerate(KINDS)))


def _span(limits: tuple[float, float]) -> str:
    low, high = limits
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


_REGISTRY_INTRODUCTION = """\
Every variable and parameter of the model stands once in `wepl/registry/variables.py`. Input checks, kernel arrays,
state files, attributes of results and this page are made from that table. *unit* is what we write to files (any
convertible unit is read), *inside* is the unit of the computation; defaults and ranges are in the unit of files.
Sources in short: FAO is Allen et al. 1998, JT is Jia and Tamai 1998, W is the published WEP-L form, and PHY with a
number is a section of the [theory](theory/index.md).
"""
_ARRAY_INTRODUCTION = """\
Rows of the arrays that the kernels take. `wepl.rows` holds the same numbers as constants: `tile_state[SNOW_ICE, tile]`.
"""
_BALANCE_INTRODUCTION = """\
Each row is a budget that must close: inflow minus outflow minus change of storage is zero, over each tile, unit or
sub-basin. See [balance](theory/balance.md).
"""
_FILE_INTRODUCTION = """\
One netCDF file (CF-1.11) is a whole basin. `wepl check BASIN.nc` compares a file with every rule, `wepl info BASIN.nc`
says what it holds, and `wepl synth -o BASIN.nc` writes one to look at.

Each variable has the name below and an attribute `units`; any unit that converts to the one given here is read.
Identifiers are whole numbers in any order; `unit_subbasin`, `downstream`, `unit_cell` and `gauge_subbasin` refer to
them. Global attributes: `Conventions` (`CF-1.11`), `title`, `history`, `source`. Text variables `gauge_name(gauge)`,
`vegetation_name(vegetation)` and `land_class(land_class)` may name things.
"""
_VEGETATION_TEXT = """\
`tall_vegetation`, `short_vegetation`, `irrigated_vegetation` and `non_irrigated_vegetation` are indices, counted from
0, into a table of kinds. These are built in:
"""
_OWN_VEGETATION_TEXT = """\
A file with a table of its own has all of the following variables, and its kinds replace the built-in ones:
"""
_FORCING_TEXT = """\
Forcing variables have the dimensions (`time`, `cell`). `time` is a CF coordinate (`days since 2010-01-01`, calendar
`standard` or `noleap`) and marks the start of each step; steps are equal, from one hour to one day. The forcing stands
in the basin file, or in other files that the global attribute `forcing` names (paths relative to the basin file; `*`
and `?` are allowed).
"""
_OPTION_TEXT = """\
Any option of the [registry](registry.md#options) may stand in the file as a scalar variable of its name with `units`;
`wepl run --set NAME=VALUE` wins over it. A switch holds the number of its choice, counted from 0.
"""

if __name__ == "__main__":
    raise SystemExit(main())
