"""Every backend on the same input, compared with the CPU reference: the proof that they are one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from wepl import backends, registry
from wepl.backends import Backend
from wepl.basin.dataset import Basin
from wepl.errors import InputError
from wepl.run.memory import Outcome, run_in_memory

# Largest difference from the reference: of a reach's discharge relative to its mean flow, of storages relative to the
# largest of their kind, and the closure of the balance; docs/architecture.md.
TOLERANCES = {"float64": (1e-9, 1e-9, 1e-9), "mixed": (1e-3, 1e-3, 1e-6), "float32": (1e-3, 1e-3, 1e-6)}
# Backends that run the CUDA C sources; the others compute in double precision.
_WITH_PRECISIONS = ("emulate", "cupy")
_STORAGES = ("snow_ice", "snow_liquid", "canopy_a", "canopy_b", "surface_storage", "soil_water", "overland_depth",
             "transition_storage", "groundwater_head", "river_storage")


@dataclass(frozen=True)
class Row:
    """One variable of one backend: largest absolute and relative difference, where, and whether it is within."""

    backend: str
    precision: str
    variable: str
    absolute: float
    relative: float
    where: str
    passed: bool


@dataclass(frozen=True)
class CrossCheck:
    """Rows of all comparisons, seconds and closure of each run by ``backend precision``."""

    rows: tuple[Row, ...]
    closures: dict[str, float]
    seconds: dict[str, float]

    @property
    def passed(self) -> bool:
        """Whether every difference and every closure is within its tolerance."""
        closed = all(closure <= TOLERANCES[name.split()[1]][2] for name, closure in self.closures.items())
        return closed and all(row.passed for row in self.rows)

    @property
    def text(self) -> str:
        """The comparison as a table."""
        lines = [f"{'backend':<12} {'precision':<9} {'variable':<20} {'max abs':>10} {'max rel':>10}  where"]
        lines += [f"{row.backend:<12} {row.precision:<9} {row.variable:<20} {row.absolute:10.2e} {row.relative:10.2e}  "
                  f"{row.where}{'' if row.passed else '  FAIL'}" for row in self.rows]
        for name, closure in self.closures.items():
            limit = TOLERANCES[name.split()[1]][2]
            lines.append(f"{name}: closure {closure:.1e} ({'within' if closure <= limit else 'above'} {limit:g}), "
                         f"{self.seconds[name]:.2f} s")
        return "\n".join([*lines, "PASS" if self.passed else "FAIL"])

    def as_dict(self) -> dict[str, object]:
        """For a JSON file."""
        return {"passed": self.passed, "rows": [asdict(row) for row in self.rows], "closures": self.closures,
                "seconds": self.seconds}


def crosscheck(basin: Basin, names: Sequence[str] = ("cpu", "emulate"), precisions: Sequence[str] = ("float64",),
               days: float | None = None) -> CrossCheck:
    """Run backends over the first ``days`` of a basin and compare each with the CPU in double precision.

    Parameters
    ----------
    basin : Basin
    names : sequence of str
        Backends; ``cpu`` is the reference and always runs.
    precisions : sequence of str
        Precisions of the backends that offer a choice; the CPU and numba.cuda compute in float64 only.
    days : float, optional
        Length; the whole forcing when None.

    Raises
    ------
    InputError, BackendError
        A name is unknown, or a backend cannot run here.
    """
    last = basin.clock.n_steps if days is None else int(days * 86400 / basin.clock.step_seconds)
    if not 1 <= last <= basin.clock.n_steps:
        raise InputError(f"--days {days:g} is not within the forcing of "
                         f"{basin.clock.n_steps * basin.clock.step_seconds / 86400:g} days")
    devices = _devices(names, precisions)
    basin.check_forcing(0, last)
    reference = run_in_memory(basin, backends.create("cpu"), last=last)
    closures = {"cpu float64": reference.closure}
    seconds = {"cpu float64": reference.seconds["total"]}
    rows: list[Row] = []
    for device in devices:
        outcome = run_in_memory(basin, device, last=last)
        key = f"{device.name} {device.precision}"
        closures[key], seconds[key] = outcome.closure, outcome.seconds["total"]
        rows += _compare(device, reference, outcome, basin)
    return CrossCheck(tuple(rows), closures, seconds)


def _devices(names: Sequence[str], precisions: Sequence[str]) -> list[Backend]:
    found = []
    for name in names:
        if name != "cpu":
            choices = precisions if name in _WITH_PRECISIONS else ("float64",)
            found += [backends.create(name, precision) for precision in choices]
    return found


def _compare(device: Backend, reference: Outcome, outcome: Outcome, basin: Basin) -> list[Row]:
    flow, storage, _ = TOLERANCES[device.precision]
    expected, got = reference.series["discharge"], outcome.series["discharge"]
    mean = np.maximum(expected.mean(axis=0), 1e-9)
    difference = np.abs(got - expected)
    relative = difference / mean
    step, reach = np.unravel_index(int(np.argmax(np.nan_to_num(relative, nan=np.inf))), relative.shape)
    where = f"sub-basin {basin.parameters['subbasin'].values[reach]}, {basin.clock.label(int(step))}"
    rows = [Row(device.name, device.precision, "discharge", float(difference.max()), float(relative.max()), where,
                bool(relative.max() <= flow))]
    for name in _STORAGES:
        expected, got = reference.state[name], outcome.state[name]
        difference = np.abs(got - expected)
        scale = max(float(np.abs(expected).max()), 1e-12)
        place = np.unravel_index(int(np.argmax(np.nan_to_num(difference, nan=np.inf))), difference.shape)
        dims = registry.variable(name).dims
        where = ", ".join(f"{dim.replace('_', ' ')} {int(index)}" for dim, index in zip(dims, place, strict=True))
        worst = float(difference.max()) / scale
        rows.append(Row(device.name, device.precision, name, float(difference.max()), worst, f"position {where}",
                        bool(worst <= storage)))
    return rows
