"""Row numbers of the kernel arrays as plain integers (``rows.SNOW_ICE``), made from the registry.

Compiled code reads them as constants; the CUDA C header is generated from the same names.
"""

from __future__ import annotations

from wepl import registry

# Rows of the integer array tile_index[row, tile].
TILE_KIND, TILE_UNIT, TILE_CLASS, VEGETATION_A, VEGETATION_B = range(5)
# Values of TILE_KIND.
WATER, IMPERVIOUS, SOIL = range(3)
# Values of the switches.
DAILY_DEPTH, RATE, ALWAYS, NEVER, AUTOMATIC = range(5)
NO_GROUND_HEAT, FORCE_RESTORE = range(2)
# Sources of a recorded value.
RECORD_FLUX, RECORD_STATE, RECORD_SOIL = range(3)
# Status codes: what went wrong in a kernel.
OK, NOT_FINITE, NOT_CONVERGED, NEGATIVE_STORAGE, OUT_OF_BALANCE = range(5)

# Rows of a soil column's scratch array soil[row, layer]: the rows of soil_parameter come first, under their own
# names, then these.
(WORK_WATER, WORK_DEFICIT, WORK_ROOT, WORK_TRANSPIRATION, WORK_SATURATION, WORK_CONDUCTIVITY, WORK_1, WORK_2, WORK_3,
 WORK_4, WORK_5, WORK_6) = range(len(registry.layout("soil_parameter")), len(registry.layout("soil_parameter")) + 12)
N_SOIL_WORK = WORK_6 + 1

N_ROWS: dict[str, int] = {}
for _array in registry.array_names():
    _entries = registry.layout(_array)
    N_ROWS[_array] = len(_entries)
    for _row, _entry in enumerate(_entries):
        _name = _entry.name.upper()
        if globals().setdefault(_name, _row) != _row:
            raise AssertionError(f"row name {_name} stands twice with different numbers")


def __getattr__(name: str) -> int:
    raise AttributeError(f"no kernel array has a row called {name}")
