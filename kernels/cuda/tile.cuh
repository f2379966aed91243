// What both mappings of the column stage share: a thread's scratch, and one tile through the block.
#pragma once

#include "common.cuh"
#include "stages/column.cuh"

#define TILE_SCRATCH                                      \
    wepl::Local1<Store, wepl::rows::N_TILE_STATE> store;  \
    wepl::Local1<Real, wepl::rows::N_TILE_FLUX> flux;     \
    wepl::Local2<Store, wepl::rows::N_SOIL_WORK, N_LAYERS> soil;

#define ADVANCE_TILE                                                                                                  \
    wepl::stage_column::advance_tile<Real>(tile, n_steps, n_route, dt, option, tile_index, tile_parameter,            \
                                           soil_parameter, vegetation, weather, tile_state, soil_state, tile_flux,   \
                                           lateral, record_index, record, status, store, flux, soil)
