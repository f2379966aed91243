"""Files that are damaged or something else, made in place of a basin file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import netCDF4
from basins import valid, write


def empty(path: Path) -> None:
    path.touch()


def words(path: Path) -> None:
    path.write_text("a list of reaches\n")


def signature_only(path: Path) -> None:
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(range(256)))


def folder(path: Path) -> None:
    path.mkdir()


def cut(share: float, kind: str = "NETCDF4") -> Callable[[Path], None]:
    """The valid file, cut short."""
    def make(path: Path) -> None:
        write(valid(days=200), path, kind)
        with path.open("r+b") as file:
            file.truncate(int(path.stat().st_size * share))
    return make


def torn(path: Path) -> None:
    """The valid file with one wrong byte in the rain, which carries a checksum."""
    data = valid()
    write(data, path, precipitation={"fletcher32": True, "chunksizes": (6, 2), "_FillValue": None})
    content = path.read_bytes()
    place = content.index(data["precipitation"].values.tobytes()) + 20
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1:])


def nothing_inside(path: Path) -> None:
    netCDF4.Dataset(path, "w").close()


def of_wepl(content: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with netCDF4.Dataset(path, "w") as file:
            file.wepl_content = content
    return make


def absent(path: Path) -> None:
    """No file at all."""
