// The column stage: a thread per tile (or per unit, the published mapping), all steps of the block in one launch.
#include "common.cuh"
#include "stages/column.cuh"

#define ADVANCE_TILE                                                                                                  \
    wepl::stage_column::advance_tile<Real>(tile, n_steps, n_route, dt, option, tile_index, tile_parameter,            \
                                           soil_parameter, vegetation, weather, tile_state, soil_state, tile_flux,   \
                                           lateral, record_index, record, status, store, flux, soil)

extern "C" __global__ void column_kernel(COLUMN_ARGUMENTS) {
    COLUMN_VIEWS
    wepl::Local1<Store, wepl::rows::N_TILE_STATE> store;
    wepl::Local1<Real, wepl::rows::N_TILE_FLUX> flux;
    wepl::Local2<Store, wepl::rows::N_SOIL_WORK, N_LAYERS> soil;
    for (int tile = first_thread(); tile < n_tiles; tile += all_threads()) {
        ADVANCE_TILE;
    }
}

extern "C" __global__ void column_by_unit_kernel(COLUMN_BY_UNIT_ARGUMENTS) {
    COLUMN_BY_UNIT_VIEWS
    wepl::Local1<Store, wepl::rows::N_TILE_STATE> store;
    wepl::Local1<Real, wepl::rows::N_TILE_FLUX> flux;
    wepl::Local2<Store, wepl::rows::N_SOIL_WORK, N_LAYERS> soil;
    for (int unit = first_thread(); unit < n_units; unit += all_threads()) {
        for (int place = tile_start(unit); place < tile_start(unit + 1); ++place) {
            const int tile = tile_list(place);
            ADVANCE_TILE;
        }
    }
}
