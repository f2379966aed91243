// Surface and deep soil temperature by force-restore (docs/theory/energy.md, eqs. 6.20 to 6.24; Deardorff 1978).
// Written by wepl.kernels.translate from wepl/physics/energy.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"

namespace wepl::energy {

constexpr double OMEGA = 7.27220521664304e-05;
constexpr double SOIL_HEAT_CAPACITY = 2000000.0;
constexpr double SOIL_DIFFUSIVITY = 2e-07;
constexpr double C1 = 1.34835132816368e-05;
constexpr double C3 = 1.9909103440312356e-07;

// End of a step: temperatures (degC) and mean ground and sensible heat over the step (W m-2).
template <typename R>
struct ForceRestore {
    R surface_temperature;
    R deep_temperature;
    R ground_heat;
    R sensible_heat;
};

// Ground heat that evaporation of the coming step reckons with, W m-2; eq. (6.24).
template <typename R>
WEPL_FUNCTION R ground_heat_estimate(R surface_temperature, R deep_temperature) {
    return ((R(wepl::energy::OMEGA) * (surface_temperature - deep_temperature)) / R(wepl::energy::C1));
}

// (1 - exp(-x))/x, 1 at 0.
template <typename R>
WEPL_FUNCTION R _phi(R x) {
    return ((x > R(1e-08)) ? ((-wepl::expm1((-x))) / x) : (R(1.0) - (R(0.5) * x)));
}

// Integrate eqs. (6.20) and (6.21) exactly over one step under constant radiation and latent heat.
template <typename R>
WEPL_FUNCTION wepl::energy::ForceRestore<R> force_restore_step(R surface, R deep, R radiation, R latent, R air_temperature, R conductance, R dt) {
    R known;
    R p;
    R q;
    R root;
    R fast;
    R slow;
    R start_surface;
    R start_deep;
    R at_fast;
    R at_slow;
    R b;
    R a;
    R turned_surface;
    R turned_deep;
    R end_surface;
    R end_deep;
    R ground;
    known = ((radiation - latent) + (conductance * air_temperature));
    p = ((R(wepl::energy::C1) * conductance) + R(wepl::energy::OMEGA));
    q = (R(wepl::energy::C3) * conductance);
    root = wepl::sqrt(wepl::max(R(0.0), ((p * p) - ((R(4.0) * R(wepl::energy::OMEGA)) * q))));
    fast = (R(0.5) * (p + root));
    slow = ((R(wepl::energy::OMEGA) * q) / fast);
    start_surface = ((((-p) * surface) + (R(wepl::energy::OMEGA) * deep)) + (R(wepl::energy::C1) * known));
    start_deep = (((-q) * surface) + (R(wepl::energy::C3) * known));
    at_fast = (dt * wepl::energy::_phi<R>((fast * dt)));
    at_slow = (dt * wepl::energy::_phi<R>((slow * dt)));
    b = ((at_slow - at_fast) / (fast - slow));
    a = (at_slow + (b * slow));
    turned_surface = (((-p) * start_surface) + (R(wepl::energy::OMEGA) * start_deep));
    turned_deep = ((-q) * start_surface);
    end_surface = ((surface + (a * start_surface)) + (b * turned_surface));
    end_deep = ((deep + (a * start_deep)) + (b * turned_deep));
    ground = (((a * start_deep) + (b * turned_deep)) / (R(wepl::energy::C3) * dt));
    return wepl::energy::ForceRestore<R>{end_surface, end_deep, ground, ((radiation - latent) - ground)};
}

}  // namespace
