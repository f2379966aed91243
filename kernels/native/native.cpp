// The stages on vector lanes: groups of neighbours, spread over threads. What a group computes does not depend on which
// thread takes it nor on its neighbours, so results are the same bits for any number of threads.
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "arrays.h"
#include "rows.cuh"

using wepl::Real;
typedef Real Store;
#include "column.h"
#include "hillslope.h"
#include "river.h"
#include "views.cuh"
#include "weather.h"

namespace {

using wepl::Lane;
using wepl::M;
using wepl::V;
using wepl::W;

// Groups that a thread takes at a time.
constexpr int CHUNK = 16;

void spread(int threads, int n_groups, const std::function<void(int)>& work) {
    std::atomic<int> next{0};
    const auto take = [&] {
        for (;;) {
            const int first = next.fetch_add(CHUNK);
            if (first >= n_groups) {
                return;
            }
            for (int group = first; group < wepl::min(first + CHUNK, n_groups); ++group) {
                work(group);
            }
        }
    };
    std::vector<std::thread> others;
    for (int thread = 1; thread < wepl::min(threads, (n_groups + CHUNK - 1) / CHUNK); ++thread) {
        others.emplace_back(take);
    }
    take();
    for (auto& other : others) {
        other.join();
    }
}

int groups(int count) { return (count + W - 1) / W; }

M inside(int base, int count) { return M(wepl::numbers() < wepl::wide(double(count - base))); }

}  // namespace

extern "C" void run_weather(int threads, WEATHER_ARGUMENTS) {
    WEATHER_VIEWS
    spread(threads, groups(n_units), [&](int group) {
        wepl::on_weather::stage_weather__advance_weather(inside(group * W, n_units), Lane{group * W}, n_steps, dt, option, calendar,
                                             forcing, unit_cell, shortwave_given, longwave_given, unit_parameter,
                                             unit_state, weather);
    });
}

extern "C" void run_column(int threads, COLUMN_ARGUMENTS) {
    COLUMN_VIEWS
    spread(threads, groups(n_tiles), [&](int group) {
        const Lane tile{group * W};
        wepl::Local1<wepl::rows::N_TILE_STATE> store{};
        wepl::Local1<wepl::rows::N_TILE_FLUX> flux{};
        wepl::Local2<wepl::rows::N_SOIL_WORK, N_LAYERS> soil{};
        M left = inside(tile.base, n_tiles);
        const V kinds = wepl::at(left, tile_index, wepl::rows::TILE_KIND, tile);
        // Tiles are sorted by kind: few groups hold more than one.
        while (wepl::any(left)) {
            const int kind = wepl::first_of(left, tile_index, wepl::rows::TILE_KIND, tile);
            const M alike = left & M(kinds == wepl::wide(double(kind)));
            wepl::on_column::stage_column__advance_tile(alike, tile, n_steps, n_route, dt, option, tile_index, tile_parameter,
                                             soil_parameter, vegetation, weather, tile_state, soil_state, tile_flux,
                                             lateral, record_index, record, status, store, flux, soil);
            left = left & ~alike;
        }
    });
}

extern "C" void run_hillslope(int threads, HILLSLOPE_ARGUMENTS) {
    HILLSLOPE_VIEWS
    spread(threads, groups(n_subbasins), [&](int group) {
        wepl::Local1<24> flow{};
        wepl::on_hillslope::stage_hillslope__advance_subbasin(inside(group * W, n_subbasins), Lane{group * W}, n_routes, dt_route,
                                                tile_start, tile_list, unit_start, tile_parameter, unit_parameter,
                                                unit_state, lateral, inflow, subbasin_flux, status, flow);
    });
}

extern "C" void run_river(int threads, RIVER_ARGUMENTS) {
    RIVER_VIEWS
    for (int level = 0; level < size_level; ++level) {
        const int first = level_start(level), count = level_start(level + 1) - first;
        spread(threads, groups(count), [&](int group) {
            const M m = inside(group * W, count);
            const V reach = wepl::load(m, &level_list(first + group * W));
            for (int route = 0; route < n_routes; ++route) {
                wepl::on_river::stage_river__advance_reach(m, reach, route, dt_route, upstream_start, upstream_list, cell_start,
                                                 subbasin_parameter, subbasin_state, river_state, inflow, series,
                                                 subbasin_flux, status);
            }
        });
    }
}
