"""Files that are named: what may be opened, and how far a name that stands inside a file may lead.

A name inside a file (the TOML file of a build, the attribute ``forcing`` of a basin, the sources of a VRT) comes from
whoever made that file. It is relative to the file's folder and may not lead out of it, by ``..``, as an absolute path
or as an address, unless the place is allowed by ``wepl --allow-outside PLACE`` or :func:`allow_outside`. A symbolic
link inside the folder is followed: who may put a link there may put the file there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from wepl.errors import InputError

_allowed: tuple[str, ...] = ()


def allow_outside(places: Iterable[str | os.PathLike[str]]) -> None:
    """Let names inside files lead to these places from now on, and to no others outside their folders.

    Parameters
    ----------
    places : iterable of str or path
        Folders, or beginnings of what only GDAL reads (``/vsicurl/https://server/``).
    """
    global _allowed
    _allowed = tuple(os.fspath(place) for place in places)


def regular(path: Path, wanted: str) -> Path:
    """The path, after checking that it is a file that can be read again and again: no folder, pipe or device.

    Raises
    ------
    InputError
        It is not; ``wanted`` says what to give.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; give {wanted}")
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"there is no file {path}; check the name") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}; give {wanted}") from None
    if not path.is_file():
        raise InputError(f"{path} is a pipe or a device (mode {status.st_mode:o}), not a file; give {wanted}")
    return path


def is_address(name: str) -> bool:
    """Whether GDAL alone knows how to read the name: archives and servers."""
    return name.startswith("/vsi") or "://" in name


def outside(name: str, folder: Path) -> str:
    """Why a name inside a file of ``folder`` may not be followed, and what to do; empty when it may.

    Parameters
    ----------
    name : str
        As it stands in the file; patterns too.
    folder : Path
        The folder of the file.
    """
    if is_address(name):
        if any(is_address(place) and name.startswith(place) for place in _allowed):
            return ""
        place = name
    else:
        path = Path(name)
        if not path.is_absolute() and ".." not in path.parts:
            return ""
        target = os.path.realpath(folder / path)
        homes = (os.fspath(folder), *(place for place in _allowed if not is_address(place)))
        if any(Path(target).is_relative_to(os.path.realpath(home)) for home in homes):
            return ""
        place = os.path.dirname(target)
    return (f"{name!r} leads out of the folder {os.path.abspath(folder)}: copy or link what is needed into it, or "
            f"allow it on the command line: wepl --allow-outside {place} ...")
