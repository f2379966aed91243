"""Basin files that are damaged, cut short or something else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from basins import valid, write
from damage import absent, cut, empty, folder, nothing_inside, of_wepl, signature_only, torn, words
from refusal import commands_refuse, refused

DAMAGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "absent": (absent, "there is no file .*basin.nc; check the name"),
    "empty": (empty, "basin.nc is empty; give a basin file"),
    "text": (words, "basin.nc is not a netCDF file; give"),
    "a folder": (folder, "basin.nc is a folder; give a basin file"),
    "a signature and no more": (signature_only, "basin.nc cannot be read as netCDF .*damaged or cut short"),
    "a result": (of_wepl("result"), "basin.nc is a result file of wepl, not a basin"),
    "a state": (of_wepl("state"), "basin.nc is a state file of wepl, not a basin"),
    "torn": (torn, "basin.nc: precipitation cannot be read .*damaged"),
    **{f"{kind} cut at {share:.1%}": (cut(share, kind), "basin.nc (cannot be read|is not|is cut short)")
       for kind in ("NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT") for share in (0.001, 0.05, 0.3, 0.6, 0.9, 0.999)},
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused(name, tmp_path):
    path = tmp_path / "basin.nc"
    DAMAGED[name][0](path)
    refused(path, DAMAGED[name][1])
    if "NETCDF" not in name:
        commands_refuse(path, DAMAGED[name][1])


def test_a_netcdf_file_of_something_else(tmp_path):
    nothing_inside(tmp_path / "basin.nc")
    commands_refuse(tmp_path / "basin.nc", "subbasin is missing")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind here")
def test_a_file_that_may_not_be_read(tmp_path):
    path = write(valid(), tmp_path / "basin.nc")
    path.chmod(0)
    refused(path, "basin.nc cannot be read: .*check its permissions")
