"""Physical constants, each with unit and source."""

VON_KARMAN = 0.41  # 1, FAO-56
STEFAN_BOLTZMANN = 5.670374419e-8  # W m-2 K-4, CODATA 2018
SOLAR_CONSTANT = 1367.0  # W m-2, FAO-56 (0.0820 MJ m-2 min-1)
SPECIFIC_HEAT_AIR = 1013.0  # J kg-1 K-1, FAO-56
WATER_DENSITY = 1000.0  # kg m-3
GAS_CONSTANT_AIR = 287.0  # J kg-1 K-1
KELVIN = 273.15  # K at 0 degC
MOLECULAR_RATIO = 0.622  # water vapour to dry air
FUSION_HEAT = 0.334e6  # J kg-1
GRAVITY = 9.80665  # m s-2
DAY = 86400.0  # s
HOUR = 3600.0  # s
