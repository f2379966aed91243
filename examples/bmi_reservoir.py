"""A toy reservoir coupled with the model through the Basic Model Interface, and the water balance of both together.

    python examples/bmi_reservoir.py [BASIN.nc] [--dam SUB-BASIN] [--end TIME]

The reach of the dam hands its outflow to the reservoir (``coupled_reaches``). Each step the reservoir decides its
release from what it stores, the model is advanced with that release as inflow to the reach below, and the reservoir
takes the discharge that came. Nothing is lost between the two: rain less evaporation, outflow and change of storage in
basin and reservoir is rounding.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wepl.basin.dataset import Basin
from wepl.bmi import WeplBmi
from wepl.bmi.names import DISCHARGE, INFLOW

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "poyang_sample" / "basin.nc"


@dataclass
class Reservoir:
    """Releases a share of its water per day, never less than it must where it has it, and spills above its capacity.

    Attributes
    ----------
    capacity, storage : float
        m3.
    residence : float
        Days in which a constant release would empty it.
    """

    capacity: float
    storage: float
    residence: float = 10.0
    inflows: list[float] = field(default_factory=list)
    releases: list[float] = field(default_factory=list)

    def release(self, seconds: float) -> float:
        """Release of the next step, m3 s-1."""
        wanted = self.storage / (86400.0 * self.residence) + max(0.0, self.storage - self.capacity) / seconds
        return min(wanted, self.storage / seconds)

    def take(self, inflow: float, release: float, seconds: float) -> None:
        """End of a step with an inflow and a release, m3 s-1."""
        self.storage += (inflow - release) * seconds
        self.inflows.append(inflow)
        self.releases.append(release)


@dataclass(frozen=True)
class Coupled:
    """What a coupled run leaves: inflow and release, m3 s-1, storage at the end, m3, and the residual of both."""

    inflow: np.ndarray
    release: np.ndarray
    storage: float
    residual: float


def couple(path: Path, dam: int, end: str | None, capacity: float) -> Coupled:
    """Run a basin with a reservoir at the end of a sub-basin's reach.

    Parameters
    ----------
    path : Path
        Basin file.
    dam : int
        Sub-basin at whose reach end the dam stands.
    end : str or None
        Last step.
    capacity : float
        m3; the reservoir begins half full.

    Returns
    -------
    Coupled
        ``residual`` is that of the balance of basin and reservoir, as a share of precipitation.
    """
    basin = Basin.open(path)
    identifiers = basin.parameters["subbasin"].values.tolist()
    at = identifiers.index(dam)
    below = int(basin.parameters["downstream"].values[at])
    if below < 0:
        raise SystemExit(f"sub-basin {dam} is an outlet: put the dam further up")
    model = WeplBmi()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "wepl.toml"
        lines = [f"basin = {json.dumps(str(path.resolve()))}", f"coupled_reaches = [{dam}]"]
        config.write_text("\n".join(lines + ([f'end = "{end}"'] if end else [])), encoding="utf-8")
        model.initialize(str(config))
    reservoir = Reservoir(capacity, 0.5 * capacity)
    seconds, start = model.get_time_step(), reservoir.storage
    discharge = np.zeros(1)
    while model.get_current_time() < model.get_end_time():
        release = reservoir.release(seconds)
        model.set_value_at_indices(INFLOW, np.array([identifiers.index(below)]), np.array([release]))
        model.update()
        model.get_value_at_indices(DISCHARGE, discharge, np.array([at]))
        reservoir.take(float(discharge[0]), release, seconds)
    terms = model.balance().terms
    rain = terms.precipitation["precipitation_depth"]
    # The dam's outflow leaves the model and enters the reservoir; the release comes back.
    outflow = terms.outflow - seconds * sum(reservoir.inflows)
    change = sum(terms.storage.values()) + reservoir.storage - start
    residual = (rain - sum(terms.evaporation.values()) - outflow - terms.deep_loss - change) / rain
    return Coupled(np.array(reservoir.inflows), np.array(reservoir.releases), reservoir.storage, residual)


def main() -> None:
    """Run the example and print what the reservoir did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("basin", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--dam", type=int, default=84, help="sub-basin at whose reach end the dam stands")
    parser.add_argument("--end", default="2010-12-31", help="last step")
    parser.add_argument("--capacity", type=float, default=6.0e9, help="m3")
    given = parser.parse_args()
    found = couple(given.basin, given.dam, given.end, given.capacity)
    print(f"steps {len(found.inflow)}, dam at the end of sub-basin {given.dam}")
    for name, flow in (("inflow", found.inflow), ("release", found.release)):
        print(f"{name:8} mean {flow.mean():8.1f}  largest {flow.max():8.1f}  smallest {flow.min():8.1f} m3 s-1")
    print(f"stored at the end {found.storage / 1e6:.1f} million m3")
    print(f"residual of basin and reservoir {found.residual:.1e} of precipitation")


if __name__ == "__main__":
    main()
