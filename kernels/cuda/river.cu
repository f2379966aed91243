// The river stage as a wavefront: in one launch, level l of the network works on step diagonal - l.
#include "common.cuh"
#include "stages/river.cuh"

extern "C" __global__ void river_kernel(RIVER_ARGUMENTS, int diagonal, int low, int first, int last) {
    RIVER_VIEWS
    for (int place = first + first_thread(); place < last; place += all_threads()) {
        int level = low;
        while (level_start(level + 1) <= place) {
            ++level;
        }
        wepl::stage_river::advance_reach<Real>(level_list(place), diagonal - level, dt_route, upstream_start,
                                               upstream_list, cell_start, subbasin_parameter, subbasin_state,
                                               river_state, inflow, series, subbasin_flux, status);
    }
}
