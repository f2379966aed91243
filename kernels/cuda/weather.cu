// The weather stage: a thread per unit, all steps of the block.
#include "common.cuh"
#include "stages/weather.cuh"

extern "C" __global__ void weather_kernel(WEATHER_ARGUMENTS) {
    WEATHER_VIEWS
    for (int unit = first_thread(); unit < n_units; unit += all_threads()) {
        wepl::stage_weather::advance_weather<Real>(unit, n_steps, dt, option, calendar, forcing, unit_cell,
                                                   shortwave_given, longwave_given, unit_parameter, unit_state,
                                                   weather);
    }
}
