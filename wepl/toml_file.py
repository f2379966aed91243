"""TOML files as people give them: read whole, with the faults that a file as such can have."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from wepl.errors import InputError
from wepl.paths import regular


def read_toml(path: Path, page: str) -> tuple[str, dict[str, Any]]:
    """Text and content of a TOML file in UTF-8, with or without a byte order mark.

    Parameters
    ----------
    path : Path
    page : str
        The page of the docs that says what belongs into it.

    Raises
    ------
    InputError
        There is no such file, it cannot be read, or it is no TOML.
    """
    regular(path, "a TOML file")
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return text, tomllib.loads(text)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; give a TOML file") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} is not a TOML file: {error}; see {page}") from None
    except RecursionError:
        raise InputError(f"{path} is not a TOML file: its lists are nested too deeply; see {page}") from None
