"""The picture of the README: the Sitter at Appenzell, simulated without calibration, beside what was observed.

    python examples/readme_figure.py DATA FOLDER PICTURE.png

DATA is the folder of the catchment that ``sitter.toml`` names; basin and result are put into FOLDER.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from calibrate_basins import make

import wepl

SCORED = ("1982-01-01", "2000-12-31")
SHOWN = ("1996-01-01", "1997-12-31")
SIMULATED, OBSERVED, RAIN = "#0b6e99", "#222222", "#8fb8cc"


def simulate(data: Path, folder: Path) -> Any:
    """The result of a run with default parameters."""
    folder.mkdir(parents=True, exist_ok=True)
    make("sitter", data, folder)
    return wepl.run(folder / "sitter.nc", output=folder / "result.nc", quiet=True,
                    variables=["evapotranspiration", "precipitation_depth"])


def draw(result: Any, observed: pd.Series, picture: Path) -> None:
    """Map on the left; rain above discharge on the right."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False,
                         "axes.titlelocation": "left", "axes.titlesize": 12})
    scored = result.sel(time=slice(*SCORED))
    skill = scored.wepl.compare(observed, gauge="Appenzell", units="m3 s-1").iloc[0]
    shown = result.sel(time=slice(*SHOWN))
    figure = plt.figure(figsize=(12, 5.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 2.1), height_ratios=(1, 3.2))
    place = figure.add_subplot(grid[:, 0])
    result.wepl.map("evapotranspiration", "1996", axes=place, cmap="YlGnBu", edgecolor="white", linewidth=1.0)
    figure.axes[-1].set_ylabel("")
    place.set_title("Evapotranspiration in 1996, mm")
    place.set_axis_off()

    simulated = shown.wepl.hydrograph("Appenzell")
    seen = observed.reindex(simulated.index)
    weight = shown["unit_area"] / shown["unit_area"].sum()
    rain = (shown["precipitation_depth"] * weight).sum("unit")
    above, below = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    above.bar(simulated.index, rain, width=1.0, color=RAIN)
    above.set(ylabel="mm d$^{-1}$", xlim=(simulated.index[0], simulated.index[-1]), xticks=[])
    above.invert_yaxis()
    above.set_title(f"Sitter at Appenzell (74 km²). 1982–2000: KGE {skill['kge']:.2f}, NSE {skill['nse']:.2f}")
    below.plot(simulated.index, seen, color=OBSERVED, linewidth=1.0, label="observed")
    below.plot(simulated.index, simulated, color=SIMULATED, linewidth=1.6, alpha=0.85,
               label="simulated with default parameters")
    below.set(ylabel="discharge, m$^3$ s$^{-1}$", xlim=(simulated.index[0], simulated.index[-1]),
              ylim=(0, 1.15 * float(np.nanmax([seen.max(), simulated.max()]))))
    below.xaxis.set_major_formatter(matplotlib.dates.ConciseDateFormatter(below.xaxis.get_major_locator()))
    below.legend(frameon=False, loc="upper left", ncols=2)
    figure.savefig(picture, dpi=110)


def main() -> None:
    """Run and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    result = simulate(arguments.data, arguments.folder)
    observed = pd.read_csv(arguments.folder / "discharge.csv", index_col="date", parse_dates=True)["discharge_m3_s"]
    draw(result, observed, arguments.picture)


if __name__ == "__main__":
    main()
