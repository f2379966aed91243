"""Long runs and large basins: peak memory and closure of each, ``python -m wepl.bench.endurance [CASE ...]``.

A case is ``BASIN:LENGTH``: ``sample`` (the sample of the checkout, its weather repeated) or a number of units (a
synthetic basin), and years (``100y``) or days (``31d``). Every case runs in a process of its own on one thread, so that
its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wepl.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

CASES = ("sample:1y", "sample:10y", "sample:100y", "24897:10y", "200000:31d")
_SAMPLE = Path(__file__).resolve().parents[2] / "data" / "poyang_sample" / "basin.nc"
_YEAR_DAYS = 365.25
_VARIABLES = ("evapotranspiration", "soil_moisture")


def parse(case: str) -> tuple[int | None, int]:
    """Units (None: the sample) and days of a case.

    Raises
    ------
    InputError
        The text is no case.
    """
    basin, _, length = case.partition(":")
    number, unit = length[:-1], length[-1:]
    if not ((basin == "sample" or basin.isdigit()) and number.isdigit() and unit in ("y", "d") and int(number)):
        raise InputError(f"{case!r} is no case: give sample or a number of units, a colon and years or days, such as "
                         "sample:10y or 200000:31d")
    days = int(int(number) * _YEAR_DAYS) if unit == "y" else int(number)
    return (None if basin == "sample" else int(basin)), days


def repeated(data: xr.Dataset, n_steps: int) -> xr.Dataset:
    """A basin whose weather is repeated, or cut, to ``n_steps``."""
    import numpy as np

    held = data.sizes["time"]
    step = data["time"].values[1] - data["time"].values[0]
    longer = data.isel(time=np.arange(n_steps) % held)
    time = data["time"].values[0] + step * np.arange(n_steps, dtype=np.int64)
    return longer.assign_coords(time=("time", time, data["time"].attrs))


def measure(case: str, folder: Path) -> dict[str, Any]:
    """Make the basin of a case in ``folder``, run it in another process, and say what it took."""
    from wepl.basin.dataset import Basin
    from wepl.basin.synthetic import synthesize

    units, days = parse(case)
    basin = folder / f"{units or 'sample'}-{days}.nc"
    if units is None:
        Basin.from_dataset(repeated(Basin.open(_SAMPLE).to_dataset(), days)).to_netcdf(basin)
    else:
        synthesize(basin, units=units, years=-(-days // 366))
    done = subprocess.run([sys.executable, "-m", "wepl.bench.endurance", "--one", str(basin), str(days)],
                          stdout=subprocess.PIPE, text=True, check=True)
    basin.unlink()
    return {"case": case, **json.loads(done.stdout.splitlines()[-1])}


def one(basin: Path, days: int) -> dict[str, Any]:
    """Run the first days of a basin here: seconds, peak memory (MB), closure, change of storage over precipitation."""
    from wepl.basin.dataset import Basin
    from wepl.run.simulation import run

    opened = Basin.open(basin)
    before = peak_memory()
    began = time.perf_counter()
    result = run(opened, output=basin.with_suffix(".result.nc"), end=opened.clock.label(days - 1), backend="cpu",
                 threads=1, variables=_VARIABLES, checkpoint=365.0, quiet=True)
    seconds = time.perf_counter() - began
    result.path.unlink()
    terms = result.balance.terms
    return {"units": int(opened.parameters.sizes["unit"]), "days": result.n_steps, "seconds": seconds,
            "peak_mb": peak_memory(), "before_mb": before, "closure": result.balance.closure,
            "basin_residual": terms.residual / terms.precipitation["precipitation_depth"],
            "storage_change": sum(terms.storage.values()) / terms.precipitation["precipitation_depth"]}


def peak_memory() -> float:
    """Most memory that this process has held, MB."""
    status = Path("/proc/self/status")
    if status.is_file():
        # Not getrusage: its figure counts what stood here before the program was loaded.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1e3
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main(arguments: list[str] | None = None) -> None:
    """Measure the cases that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m wepl.bench.endurance", description=__doc__)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE", help=f"one of {', '.join(CASES)}, or alike")
    parser.add_argument("--json", type=Path, help="append each measurement to this file, one line each")
    parser.add_argument("--one", nargs=2, metavar=("BASIN", "DAYS"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        print(json.dumps(one(Path(given.one[0]), int(given.one[1]))))
        return
    try:
        for case in given.cases:
            parse(case)
    except InputError as error:
        parser.error(str(error))
    print("| case | units | days | seconds | peak memory, MB | closure | basin residual / rain | storage / rain |",
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        for case in given.cases:
            found = measure(case, Path(folder))
            shown = (f"{found['seconds']:.0f}", f"{found['peak_mb']:.0f}", f"{found['closure']:.1e}",
                     f"{found['basin_residual']:.1e}", f"{found['storage_change']:.3f}")
            print(f"| {' | '.join([case, str(found['units']), str(found['days']), *shown])} |", flush=True)
            if given.json is not None:
                with given.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
