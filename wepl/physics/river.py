"""One cell of a river reach (docs/theory/river.md, eqs. 13.1 to 13.3)."""

from __future__ import annotations

from typing import NamedTuple

from wepl.physics.jit import physics
from wepl.physics.kinematic import kinematic_root


class CellStep(NamedTuple):
    """A cell after one step: storage (m3) and discharge at its end, mean of the step (m3 s-1)."""

    storage: float
    discharge: float


@physics
def section_factor(storage, length, width, roughness):
    """alpha of ``A = alpha Q^(3/5)``, eq. (13.1), for the wetted perimeter that belongs to ``storage``.

    Storage m3, length and width m, ``roughness`` = (n/sqrt(S))^(3/5).
    """
    area = storage / length
    perimeter = width + 2.0 * area / width
    return roughness * perimeter**0.4


@physics
def normal_discharge(area, width, roughness):
    """Discharge, m3 s-1, of uniform flow through ``area`` m2 of a rectangle ``width`` m wide; Manning."""
    return (area / section_factor(area, 1.0, width, roughness)) ** (5.0 / 3.0)


@physics
def cell_step(storage, inflow, lateral, length, width, roughness, dt):
    """Advance one cell through ``dt`` s; eqs. (13.2) and (13.3), implicit upwind, which diffuses by eq. (13.4).

    Parameters
    ----------
    storage : float
        Water in the cell, m3.
    inflow : float
        Discharge from upstream, mean of the step, m3 s-1.
    lateral : float
        Volume that enters (or leaves, negative) from the side in the step, m3.
    length, width : float
        Of the cell, m.
    roughness : float
        (n/sqrt(S))^(3/5).
    dt : float
        Step, s.

    Returns
    -------
    CellStep
        ``storage`` + ``dt`` x ``discharge`` is what was there and came, exactly.
    """
    held = storage + dt * inflow + lateral
    if held <= 0.0:
        return CellStep(held, 0.0)
    scale = length * section_factor(storage, length, width, roughness)
    y = kinematic_root(held / scale, dt / scale)
    gone = min(held, dt * y**5)
    return CellStep(held - gone, gone / dt)
