"""Parameter files: TOML with the options of a run, such as the ``best.toml`` of a calibration."""

from __future__ import annotations

import tomllib
from pathlib import Path

from wepl.errors import InputError

_TABLES = ("options", "parameters")


def read_parameters(path: str | Path) -> dict[str, float | str]:
    """Options of the tables ``[options]`` and ``[parameters]``; those of the second win.

    Parameters
    ----------
    path : path
        The TOML file.

    Raises
    ------
    InputError
        There is no such file, it is no TOML, or it holds something else; names and ranges are checked by the run.
    """
    place = Path(path)
    try:
        given = tomllib.loads(place.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise InputError(f"--params: there is no file {place}; check the name") from None
    except OSError as error:
        raise InputError(f"--params: {place} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"--params: {place} is not a TOML file: {error}") from None
    unknown = [name for name in given if name not in _TABLES or not isinstance(given[name], dict)]
    if unknown or not given:
        raise InputError(f"--params: {place} has {', '.join(unknown) or 'nothing'}: give the tables "
                         "[options] and [parameters] with NAME = VALUE")
    changes: dict[str, float | str] = {}
    for table in _TABLES:
        for name, value in given.get(table, {}).items():
            if isinstance(value, bool) or not isinstance(value, (int, float, str)):
                raise InputError(f"--params: {place}: {table}.{name} is {value!r}: give a number, or the name of a "
                                 "choice")
            changes[name] = value
    return changes
