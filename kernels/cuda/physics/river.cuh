// One cell of a river reach (docs/theory/river.md, eqs. 13.1 to 13.3).
// Written by wepl.kernels.translate from wepl/physics/river.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"
#include "physics/kinematic.cuh"

namespace wepl::river {

// A cell after one step: storage (m3) and discharge at its end, mean of the step (m3 s-1).
template <typename R>
struct CellStep {
    R storage;
    R discharge;
};

// alpha of ``A = alpha Q^(3/5)``, eq. (13.1), for the wetted perimeter that belongs to ``storage``.
template <typename R>
WEPL_FUNCTION R section_factor(R storage, R length, R width, R roughness) {
    R area;
    R perimeter;
    area = (storage / length);
    perimeter = (width + ((R(2.0) * area) / width));
    return (roughness * wepl::pow(perimeter, R(0.4)));
}

// Discharge, m3 s-1, of uniform flow through ``area`` m2 of a rectangle ``width`` m wide; Manning.
template <typename R>
WEPL_FUNCTION R normal_discharge(R area, R width, R roughness) {
    return wepl::pow((area / wepl::river::section_factor<R>(area, R(1.0), width, roughness)), (R(5.0) / R(3.0)));
}

// Advance one cell through ``dt`` s; eqs. (13.2) and (13.3), implicit upwind, which diffuses by eq. (13.4).
template <typename R>
WEPL_FUNCTION wepl::river::CellStep<R> cell_step(R storage, R inflow, R lateral, R length, R width, R roughness, R dt) {
    R held;
    R scale;
    R y;
    R gone;
    held = ((storage + (dt * inflow)) + lateral);
    if ((held <= R(0.0))) {
        return wepl::river::CellStep<R>{held, R(0.0)};
    }
    scale = (length * wepl::river::section_factor<R>(storage, length, width, roughness));
    y = wepl::kinematic::kinematic_root<R>((held / scale), (dt / scale));
    gone = wepl::min(held, (dt * power<5>(y)));
    return wepl::river::CellStep<R>{(held - gone), (gone / dt)};
}

}  // namespace
