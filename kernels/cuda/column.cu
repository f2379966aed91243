// The column stage: a thread per tile, all steps of the block in one launch.
#include "tile.cuh"

extern "C" __global__ void column_kernel(COLUMN_ARGUMENTS) {
    COLUMN_VIEWS
    TILE_SCRATCH
    for (int tile = first_thread(); tile < n_tiles; tile += all_threads()) {
        ADVANCE_TILE;
    }
}
