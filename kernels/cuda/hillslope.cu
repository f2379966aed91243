// The hillslope stage: a thread per sub-basin, its bands from the ridge to the river.
#include "common.cuh"
#include "stages/hillslope.cuh"

extern "C" __global__ void hillslope_kernel(HILLSLOPE_ARGUMENTS) {
    HILLSLOPE_VIEWS
    wepl::Local1<Real, wepl::stage_hillslope::MOST_PARTS> flow;
    for (int subbasin = first_thread(); subbasin < n_subbasins; subbasin += all_threads()) {
        wepl::stage_hillslope::advance_subbasin<Real>(subbasin, n_routes, dt_route, tile_start, tile_list, unit_start,
                                                      tile_parameter, unit_parameter, unit_state, lateral, inflow,
                                                      subbasin_flux, status, flow);
    }
}
