"""Make a basin ready to be calibrated: basin file, observed discharge and ``calibrate_NAME.toml`` in one folder.

    python examples/calibrate_basins.py NAME DATA FOLDER
    wepl calibrate FOLDER/calibrate_NAME.toml -o FOLDER/calibrated --plots

NAME is sitter, cache_creek, famine, cance or delaware, DATA the folder with the files that the example of that name
(for Cache Creek tests/system/catchments.py) says.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from wepl.build.assemble import build

EXAMPLES = Path(__file__).resolve().parent


def _sitter(data: Path, folder: Path) -> str:
    from sitter_weather import write_estimates

    for path in data.iterdir():
        shutil.copyfile(path, folder / path.name)
    shutil.copyfile(EXAMPLES / "sitter.toml", folder / "sitter.toml")
    write_estimates(folder)
    build(folder / "sitter.toml", folder / "sitter.nc")
    return "discharge.csv"


def _cache_creek(data: Path, folder: Path) -> str:
    sys.path.insert(0, str(EXAMPLES.parent / "tests" / "system"))
    from catchments import cache_creek

    cache_creek(data).to_netcdf(folder / "cache_creek.nc")
    return "discharge.csv"


def _famine(data: Path, folder: Path) -> str:
    from famine import famine

    famine(data).to_netcdf(folder / "famine.nc")
    return "famine_input.nc"


def _cance(data: Path, folder: Path) -> str:
    from cance_maps import write_maps

    shutil.copyfile(EXAMPLES / "cance.toml", folder / "cance.toml")
    write_maps(data, folder)
    build(folder / "cance.toml", folder / "cance.nc")
    return "discharge_V3524010.csv"


def _delaware(data: Path, folder: Path) -> str:
    from delaware import delaware

    delaware(data).to_netcdf(folder / "delaware.nc")
    return "discharge_ft3_s.csv"


MAKERS = {"sitter": _sitter, "cache_creek": _cache_creek, "famine": _famine, "cance": _cance, "delaware": _delaware}


def make(name: str, data: Path, folder: Path) -> Path:
    """Write all that a calibration needs into a folder and return the TOML file."""
    folder.mkdir(exist_ok=True)
    discharge = MAKERS[name](data, folder)
    shutil.copyfile(data / discharge, folder / discharge)
    return Path(shutil.copyfile(EXAMPLES / f"calibrate_{name}.toml", folder / f"calibrate_{name}.toml"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=MAKERS)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    print(make(arguments.name, arguments.data, arguments.folder))
