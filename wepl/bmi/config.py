"""The TOML file with which the component is initialized."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wepl.bmi.names import UNITS
from wepl.errors import InputError

_TYPES: dict[str, tuple[type, ...]] = {
    "basin": (str,), "start": (str,), "end": (str,), "backend": (str,), "precision": (str,), "threads": (int,),
    "from_state": (str,), "variables": (list,), "coupled_reaches": (list,), "options": (dict,),
}


@dataclass(frozen=True)
class Config:
    """What a component runs.

    Attributes
    ----------
    basin : Path
        Basin file.
    start, end : str or None
        First and last step; the whole forcing when None.
    backend, precision, threads
        See :func:`wepl.backends.create`.
    from_state : Path or None
        State file to start from.
    variables : tuple of str
        Unit variables to give, by registry name.
    coupled_reaches : tuple of int
        Sub-basins whose outflow goes to another component in place of the reach below.
    options : dict
        Options over those of the basin.
    """

    basin: Path
    start: str | None = None
    end: str | None = None
    backend: str = "cpu"
    precision: str = "float64"
    threads: int | None = None
    from_state: Path | None = None
    variables: tuple[str, ...] = ("evapotranspiration", "runoff", "snow_water_equivalent")
    coupled_reaches: tuple[int, ...] = ()
    options: dict[str, float | str] = field(default_factory=dict)


def read(path: str | Path) -> Config:
    """Read a TOML file; file names in it are relative to its folder.

    Raises
    ------
    InputError
        The file cannot be read, or an entry is unknown or of the wrong type.
    """
    place = Path(path)
    try:
        given: dict[str, Any] = tomllib.loads(place.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{place} cannot be read: {error}; give a TOML file that names a basin") from None
    for name, value in given.items():
        if name not in _TYPES:
            raise InputError(f"{place}: unknown entry {name}; choose from {', '.join(_TYPES)}")
        if not isinstance(value, _TYPES[name]) or isinstance(value, bool):
            raise InputError(f"{place}: {name} = {value!r} should be a {_TYPES[name][0].__name__}")
    if "basin" not in given:
        raise InputError(f"{place}: basin is missing; name the basin file")
    known = [item.variable for item in UNITS]
    wrong = [name for name in given.get("variables", ()) if name not in known]
    if wrong:
        raise InputError(f"{place}: variables has {wrong[0]!r}; choose from {', '.join(known)}")
    if not all(isinstance(number, int) for number in given.get("coupled_reaches", ())):
        raise InputError(f"{place}: coupled_reaches should list identifiers of sub-basins")
    for name in ("variables", "coupled_reaches"):
        if name in given:
            given[name] = tuple(given[name])
    for name in ("basin", "from_state"):
        if name in given:
            given[name] = place.parent / given[name]
    return Config(**given)
