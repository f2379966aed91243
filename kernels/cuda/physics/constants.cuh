// Physical constants, each with unit and source.
// Written by wepl.kernels.translate from wepl/physics/constants.py: change it there.
#pragma once
#include "prelude.cuh"
#include "rows.cuh"

namespace wepl::constants {

constexpr double VON_KARMAN = 0.41;
constexpr double STEFAN_BOLTZMANN = 5.670374419e-08;
constexpr double SOLAR_CONSTANT = 1367.0;
constexpr double SPECIFIC_HEAT_AIR = 1013.0;
constexpr double WATER_DENSITY = 1000.0;
constexpr double GAS_CONSTANT_AIR = 287.0;
constexpr double KELVIN = 273.15;
constexpr double MOLECULAR_RATIO = 0.622;
constexpr double FUSION_HEAT = 334000.0;
constexpr double GRAVITY = 9.80665;
constexpr double DAY = 86400.0;
constexpr double HOUR = 3600.0;

}  // namespace
