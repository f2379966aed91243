"""Classic netCDF files that were cut short: the netCDF library silently reads zeros where their end is missing."""

from __future__ import annotations

from pathlib import Path

# The third classic format (CDF-5) has 64-bit sizes, which SciPy does not read.
_CLASSIC = (b"CDF\x01", b"CDF\x02")


def is_cut_short(path: Path) -> bool:
    """Whether a classic netCDF file is shorter than its header says; False for every other file.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    with path.open("rb") as file:
        if file.read(4) not in _CLASSIC:
            return False
    from scipy.io import netcdf_file

    try:
        # Each variable becomes a view of the mapped file; no values are read.
        netcdf_file(path, "r", mmap=True).close()
    except (ValueError, IndexError, TypeError):
        return True
    return False
