"""What the weather record of the Sitter lacks, estimated: humidity and wind, and the place of the record.

    python examples/sitter_weather.py DATA

Writes ``estimates.csv`` and ``stations.csv`` into the folder, for ``sitter.toml``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

# The record is the mean of the catchment; its elevation is that of the outline's cells.
PLACE = {"lon": 9.42, "lat": 47.28, "elevation": 1250}
# FAO-56 eq. 48: the dew point is near the night's minimum, here about 4 K below the daily mean.
DEW_POINT_DEPRESSION = 4.0
# FAO-56 chapter 3: 2 m/s at 2 m where no wind is measured.
WIND_SPEED = 2.0


def write_estimates(folder: Path) -> None:
    """Write the two tables."""
    weather = pd.read_csv(folder / "meteo.csv")
    table = pd.DataFrame({"date": weather["date"],
                          "dew point [degC]": (weather["temperature_degC"] - DEW_POINT_DEPRESSION).round(2),
                          "wind [m s-1]": WIND_SPEED})
    table.to_csv(folder / "estimates.csv", index=False)
    pd.DataFrame([{"id": "meteo", **PLACE}]).to_csv(folder / "stations.csv", index=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    write_estimates(parser.parse_args().folder)
