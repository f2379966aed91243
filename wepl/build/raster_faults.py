"""What every raster and outline is asked before it is used, and the one message where the libraries fail."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wepl.errors import InputError
from wepl.netcdf import check_size
from wepl.paths import is_address, outside, regular

# Tiles of one value pack some thousandfold.
_PACKED = 10_000


@contextmanager
def told(path: Path | str, what: str = "raster") -> Iterator[None]:
    """Turn what rasterio, GDAL and PROJ raise into a message about the file.

    Raises
    ------
    InputError
        Names the file and the libraries' reason.
    """
    from rasterio._err import CPLE_BaseError
    from rasterio.errors import CRSError, NotGeoreferencedWarning, RasterioError

    try:
        with warnings.catch_warnings():
            # What lacks a place is told by the checks of its coordinate system.
            warnings.simplefilter("ignore", NotGeoreferencedWarning)
            yield
    except (RasterioError, CRSError, CPLE_BaseError, ZeroDivisionError) as error:
        reason = str(error.__cause__ or error).strip().replace("\n", " ")[:300]
        raise InputError(f"{path}: it cannot be read as {'an outline' if what == 'outline' else 'a ' + what}, or its "
                         f"coordinate system and place do not fit the others ({reason}): check it with gdalinfo or "
                         "make it again") from None


def check_place(path: Path | str) -> None:
    """Refuse what is no regular file; what only GDAL knows is left to it.

    Raises
    ------
    InputError
        It is a folder that GDAL cannot read, a pipe or a device, or is not there.
    """
    if not is_address(str(path)) and not Path(path).is_dir():
        regular(Path(path), "a raster")


def check_raster(source: Any, path: Path | str) -> None:
    """Refuse an open raster whose grid has no extent, which is larger than its file can be, or which leads elsewhere.

    Raises
    ------
    InputError
        Names the file and what is wrong.
    """
    if source.count < 1 or "complex" in source.dtypes[0]:
        raise InputError(f"{path}: its first band is of type {source.dtypes[0] if source.count else 'none'}: give a "
                         "raster of real numbers")
    transform = source.transform
    numbers = (transform.a, transform.b, transform.c, transform.d, transform.e, transform.f)
    if not all(map(math.isfinite, numbers)) or transform.determinant == 0.0:
        raise InputError(f"{path}: its geotransform {tuple(numbers)} is no grid: correct it (gdal_edit.py -a_ullr) or "
                         "make the raster again")
    if is_address(str(path)):
        return
    folder = Path(path).parent
    for other in source.files:
        stray = outside(str(Path(other).absolute()) if not is_address(str(other)) else str(other), folder)
        if stray:
            raise InputError(f"{path} refers to another file: {stray}")
    held = [Path(other) for other in source.files if not is_address(str(other)) and Path(other).is_file()]
    if held and not any(is_address(str(other)) for other in source.files):
        largest = max(held, key=lambda file: file.stat().st_size)
        check_size(largest, {"band 1": 8 * source.width * source.height}, _PACKED * len(held))


def path_of(name: str, folder: Path) -> str:
    """A raster or outline named in the configuration, relative to the TOML file; InputError where it is none."""
    if is_address(name):
        return name
    path = Path(folder) / name
    if not path.exists():
        raise InputError(f"{path}: no such file: names are relative to the folder of the TOML file")
    check_place(path)
    return str(path)
