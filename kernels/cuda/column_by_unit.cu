// The column stage in the published mapping: a thread walks the tiles of its unit.
#include "tile.cuh"

extern "C" __global__ void column_by_unit_kernel(COLUMN_BY_UNIT_ARGUMENTS) {
    COLUMN_BY_UNIT_VIEWS
    TILE_SCRATCH
    for (int unit = first_thread(); unit < n_units; unit += all_threads()) {
        for (int place = tile_start(unit); place < tile_start(unit + 1); ++place) {
            const int tile = tile_list(place);
            ADVANCE_TILE;
        }
    }
}
