"""Members of an ensemble: parameter sets from a table, or drawn within ranges."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wepl import registry
from wepl.errors import InputError
from wepl.run.zones import split

SAMPLES = ("lhs", "sobol", "random")
_MOST_MEMBERS = 1_000_000


@dataclass(frozen=True)
class Range:
    """From where to where an option is drawn, evenly or evenly in its logarithm."""

    low: float
    high: float
    logarithmic: bool = False

    def at(self, share: np.ndarray) -> np.ndarray:
        """The values at shares from 0 to 1 of the range."""
        if self.logarithmic:
            values = np.exp(np.log(self.low) + share * (np.log(self.high) - np.log(self.low)))
            return np.clip(values, self.low, self.high)
        return self.low + share * (self.high - self.low)


# The calibration multipliers of docs/theory/parameters.md: what a field's uncertainty makes plausible.
DEFAULT_RANGES = {
    "soil_thickness_factor": Range(0.5, 2.0, True),
    "stomatal_resistance_factor": Range(0.5, 2.0, True),
    "conductivity_factor": Range(0.1, 10.0, True),
    "aquifer_factor": Range(0.2, 5.0, True),
    "riverbed_conductivity_factor": Range(0.1, 10.0, True),
    "manning_overland_factor": Range(0.5, 2.0, True),
    "manning_river_factor": Range(0.5, 2.0, True),
    "depression_storage_factor": Range(0.5, 2.0, True),
    "degree_day_factor_factor": Range(0.5, 2.0, True),
    "interflow_anisotropy": Range(10.0, 2000.0, True),
}


def draw(n_members: int, sample: str, ranges: Mapping[str, Range], seed: int = 0,
         control: bool = False) -> list[dict[str, float | str]]:
    """Draw parameter sets.

    Parameters
    ----------
    n_members : int
    sample : str
        ``lhs`` (Latin hypercube), ``sobol`` (scrambled Sobol sequence) or ``random`` (independent numbers).
    ranges : mapping of str to Range
        By ``NAME`` or ``NAME@ZONE``.
    seed : int
        The same seed gives the same members.
    control : bool
        Whether member 0 keeps the basin's own parameters.

    Raises
    ------
    InputError
        The kind of sample is unknown.
    """
    from scipy.stats import qmc

    if sample not in SAMPLES:
        raise InputError(f"--sample {sample}: choose from {', '.join(SAMPLES)}")
    n_drawn = n_members - int(control)
    generator = np.random.default_rng(seed)
    if sample == "random" or n_drawn == 0:
        shares = generator.random((n_drawn, len(ranges)))
    elif sample == "lhs":
        shares = qmc.LatinHypercube(len(ranges), rng=generator).random(n_drawn)
    else:
        # The sequence is balanced in whole powers of two; the first ones of it are taken.
        shares = qmc.Sobol(len(ranges), rng=generator).random_base2((n_drawn - 1).bit_length())[:n_drawn]
    columns = {name: given.at(shares[:, column]) for column, (name, given) in enumerate(ranges.items())}
    drawn: list[dict[str, float | str]] = [{name: float(values[member]) for name, values in columns.items()}
                                           for member in range(n_drawn)]
    return [{}, *drawn] if control else drawn


def count(text: str) -> int | None:
    """The number of members that ``text`` gives; None when it is the name of a table.

    Raises
    ------
    InputError
        The number is not between 1 and a million.
    """
    try:
        number = int(text)
    except ValueError:
        return None
    if not 1 <= number <= _MOST_MEMBERS:
        raise InputError(f"--members {text}: give 1 to {_MOST_MEMBERS} members")
    return number


def read_members(path: str | Path) -> tuple[list[dict[str, float | str]], list[str]]:
    """Parameter sets and names of the members of a CSV table: a row per member, a column per option.

    A column ``member`` names the members; an empty cell leaves the basin's value.

    Raises
    ------
    InputError
        The table cannot be read, a column stands twice or is no option, or a cell is not a number or a choice.
    """
    header, lines = _table(Path(path))
    columns = [name for name in header if name != "member"]
    for name in columns:
        _entry(name, f"{path}, column {name}")
    members, names = [], []
    for number, (line, cells) in enumerate(lines):
        given = dict(zip(header, cells, strict=True))
        names.append(given.pop("member", "") or str(number))
        member: dict[str, float | str] = {}
        for name, text in given.items():
            if text:
                member[name] = _value(name, text, f"{path}, line {line}, column {name}")
        members.append(member)
    return members, names


def read_ranges(path: str | Path) -> dict[str, Range]:
    """Ranges from a TOML file (``NAME = [low, high]`` or ``[low, high, "log"]``) or a CSV table.

    The table has the columns ``name,low,high`` and may have ``scale`` (``log`` or ``linear``).

    Raises
    ------
    InputError
        The file cannot be read, an option is unknown, or a range is not one within what the option accepts.
    """
    place = Path(path)
    rows: list[tuple[str, Sequence[object], str]]
    if place.suffix == ".toml":
        try:
            given = tomllib.loads(place.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"{place} cannot be read as TOML: {error}") from None
        rows = [(name, value if isinstance(value, list) else [value], f"{place}, {name}")
                for name, value in given.items()]
    else:
        header, lines = _table(place)
        if header[:3] != ["name", "low", "high"] or header[3:] not in ([], ["scale"]):
            raise InputError(f"{place}: the columns are {','.join(header)}; give name,low,high or name,low,high,scale")
        rows = [(cells[0], [cell for cell in cells[1:] if cell], f"{place}, line {line}") for line, cells in lines]
    if not rows:
        raise InputError(f"{place} gives no range")
    ranges: dict[str, Range] = {}
    for name, values, where in rows:
        if name in ranges:
            raise InputError(f"{where}: {name} stands twice")
        ranges[name] = _range(name, values, where)
    return ranges


def _range(name: str, values: Sequence[object], where: str) -> Range:
    entry = _entry(name, where)
    scale = "linear"
    if len(values) == 3:
        scale, values = str(values[2]), values[:2]
    if len(values) != 2 or scale not in ("linear", "log"):
        raise InputError(f"{where}: give two numbers, low and high, and at most linear or log after them")
    if entry.choices or entry.integer:
        raise InputError(f"{where}: {name} takes whole numbers or names, which are not drawn; use a table of members")
    try:
        low, high = (float(value) for value in values)  # type: ignore[arg-type]  # what is no number is refused here
    except (TypeError, ValueError):
        raise InputError(f"{where}: {values[0]} and {values[1]} are not two numbers") from None
    least, most = entry.valid
    if not least <= low < high <= most:
        raise InputError(f"{where}: {low:g} to {high:g} is not a rising range within {least:g} to {most:g} "
                         f"{entry.units}, which {name} accepts")
    if scale == "log" and low <= 0.0:
        raise InputError(f"{where}: a logarithmic range begins above 0, not at {low:g}")
    return Range(low, high, scale == "log")


def _entry(name: str, where: str) -> registry.Variable:
    known = {entry.name: entry for entry in registry.of_kind("option")}
    option, _ = split(name)
    if option not in known:
        raise InputError(f"{where}: unknown option {option!r}: choose from {', '.join(known)}")
    return known[option]


def _value(name: str, text: str, where: str) -> float | str:
    entry = _entry(name, where)
    if text in entry.choices:
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{where}: {text!r} is not a number"
                         + (f" or one of {', '.join(entry.choices)}" if entry.choices else "")) from None


def _table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header and numbered lines of a CSV file, every cell stripped; empty lines are passed over."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [(number, [cell.strip() for cell in cells]) for number, cells in enumerate(csv.reader(file), 1)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read as CSV: {error}") from None
    lines = [(number, cells) for number, cells in lines if any(cells)]
    if len(lines) < 2:
        raise InputError(f"{path} has no line below its header: give one for each member or range")
    header = lines[0][1]
    for name in header:
        if not name or header.count(name) > 1:
            raise InputError(f"{path}: the header has {'an empty name' if not name else f'{name} twice'}")
    for number, cells in lines[1:]:
        if len(cells) != len(header):
            raise InputError(f"{path}, line {number}: {len(cells)} cells under {len(header)} columns")
    return header, lines[1:]
