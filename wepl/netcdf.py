"""What every reader and writer of netCDF files shares: one lock, and files that appear only when they are complete.

The netCDF and HDF5 libraries are not thread-safe, and netCDF4 releases the interpreter lock while it reads or writes.
Forcing is read ahead and results are written behind in threads, so each direct use of netCDF4 holds :data:`LOCK`.
It is the lock that xarray takes by itself, and it is not reentrant: do not call xarray while holding it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from xarray.backends.netCDF4_ import NETCDF4_PYTHON_LOCK as LOCK

from wepl.errors import InputError, WriteError

if TYPE_CHECKING:
    import netCDF4

__all__ = ["LOCK", "UNREADABLE", "add_shuffle", "check_size", "check_target", "content_of", "publish",
           "temporary_path", "write_failure"]

# What the libraries raise where a file is damaged or holds what its kind cannot.
UNREADABLE = (OSError, RuntimeError, ValueError, LookupError, AttributeError, TypeError, OverflowError)
# Deflate packs a thousandfold at most, zstd constant numbers some ten thousandfold.
PACKED_ALL, PACKED_CONSTANT = 2_000, 50_000
_ALWAYS_READ = 256 * 2**20

_serial = count()


def check_size(path: Path, sizes: Mapping[str, int], packed: int = PACKED_ALL) -> None:
    """Refuse to read what is far larger than the file can hold: a dimension that is wrong, values never written.

    Parameters
    ----------
    path : Path
        The file.
    sizes : mapping of str to int
        Bytes in memory of each variable that will be read.
    packed : int
        How many times larger than the file the sum may be; 256 MiB are always read.

    Raises
    ------
    InputError
        Names the largest variable.
    """
    held = path.stat().st_size
    if sum(sizes.values()) > max(_ALWAYS_READ, packed * held):
        name = max(sizes, key=lambda key: sizes[key])
        raise InputError(f"{path}: {name} would take {sizes[name] / 1e9:.3g} GB of memory, but the whole file has "
                         f"{held / 1e6:.3g} MB: a dimension of {name} is wrong, or its values were never written; "
                         "make the file again")


def content_of(path: Path) -> str:
    """What the file at ``path`` says it is (attribute ``wepl_content``); empty when it does not say or is no netCDF."""
    import netCDF4

    try:
        with LOCK, netCDF4.Dataset(path) as file:
            return str(getattr(file, "wepl_content", ""))
    except UNREADABLE:
        return ""


def check_target(path: Path, content: str) -> None:
    """Refuse a place where a file cannot be written, or where it would replace something else.

    Parameters
    ----------
    path : Path
        The file to be written.
    content : str
        ``result`` or ``state``: a file that is there already is replaced only when it holds the same.

    Raises
    ------
    InputError
        The folder is missing or read-only, the path is a folder, or another kind of file stands there.
    """
    folder = path.parent
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file to write")
    if not folder.is_dir():
        raise InputError(f"the folder {folder} does not exist; create it or write {path.name} elsewhere")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"the folder {folder} is read-only; write {path.name} elsewhere")
    if path.exists() and (not path.is_file() or path.stat().st_size > 0) and content_of(path) != content:
        raise InputError(f"{path} exists and is not a {content} file of wepl; remove it or choose another name")


def temporary_path(path: Path) -> Path:
    """A name in the folder of ``path`` for the file while it is being written."""
    return path.with_name(f".{path.name}.partial-{os.getpid()}-{next(_serial)}")


def publish(temporary: Path, path: Path) -> None:
    """Give the complete file its name: flushed to the disk first, then renamed in one step."""
    _flush(temporary, os.O_RDWR)
    os.replace(temporary, path)
    if os.name == "posix":
        _flush(path.parent, os.O_RDONLY)


def _flush(path: Path, mode: int) -> None:
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def add_shuffle(variable: netCDF4.Variable) -> None:
    """Put the byte shuffle before the compression of a variable that holds no data yet.

    netCDF4 1.7 takes ``shuffle=True`` but applies it for zlib only, so the C function is called here. Without the
    shuffle a zstd file of smooth series is several times larger; its values are the same, so where the function cannot
    be reached nothing is done.
    """
    import netCDF4

    if variable.filters()["shuffle"]:
        return
    try:
        library = ctypes.CDLL(sys.modules[netCDF4.Dataset.__module__].__file__)
        library.nc_def_var_deflate(variable._grpid, variable._varid, 1, 0, 0)
    except (AttributeError, OSError):
        return


def write_failure(path: Path, error: BaseException) -> WriteError:
    """The error to raise when writing ``path`` failed: the library's reason, the free space and what to do."""
    reason = str(error) or type(error).__name__
    if isinstance(error, MemoryError) or "memory" in reason.lower():
        return WriteError(f"cannot write {path}: not enough memory ({reason}). No unfinished file was left behind; "
                          "free some memory, or ask for fewer --block-days or --variables")
    try:
        free = f"{shutil.disk_usage(path.parent).free / 1e6:.0f} MB are free there"
    except OSError:
        free = "the folder cannot be read any more"
    return WriteError(f"cannot write {path}: {reason} ({free}). No unfinished file was left behind; free some space, "
                      "raise the quota or write to another folder, and run again")
