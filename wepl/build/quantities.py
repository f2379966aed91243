"""Weather quantities that a build reads: their units, the names they go by in files, and what is made from them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from wepl import units
from wepl.errors import InputError


@dataclass(frozen=True)
class Quantity:
    """One measured quantity.

    Attributes
    ----------
    name : str
        Registry name, or the name of something that a registry variable is made from.
    units : str
        Unit inside a build: a rate, a mean or a state; ``s`` in the step for sunshine.
    amount : str
        Unit of its sum over a step; empty where a sum has no meaning.
    names : tuple of str
        Lower-case names of variables and columns.
    standard_names : tuple of str
        CF standard names.
    valid : tuple of float
        Smallest and largest value that can be true.
    """

    name: str
    units: str
    amount: str
    names: tuple[str, ...]
    standard_names: tuple[str, ...]
    valid: tuple[float, float]


QUANTITIES = {entry.name: entry for entry in (
    Quantity("precipitation", "m s-1", "m",
             ("tp", "prec", "precip", "pre", "precipitation", "precipitationcal", "pr", "prcp", "rain", "rainfall",
              "rainrate", "mtpr", "avg_tprate", "total_precipitation", "p"),
             ("precipitation_flux", "lwe_precipitation_rate", "precipitation_amount",
              "lwe_thickness_of_precipitation_amount"), (0.0, 1e-3)),
    Quantity("air_temperature", "degC", "",
             ("t2m", "2t", "tas", "temp", "tmp", "temperature", "tavg", "tmean", "tem", "t2", "air_temperature",
              "2m_temperature"), ("air_temperature",), (-90.0, 65.0)),
    Quantity("maximum_temperature", "degC", "", ("tmax", "tasmax", "mx2t", "maximum_temperature"), (), (-90.0, 65.0)),
    Quantity("minimum_temperature", "degC", "", ("tmin", "tasmin", "mn2t", "minimum_temperature"), (), (-90.0, 65.0)),
    Quantity("relative_humidity", "1", "", ("rh", "rhum", "hurs", "r2", "rhu", "rhavg", "relative_humidity"),
             ("relative_humidity",), (0.0, 1.2)),
    Quantity("dew_point", "degC", "", ("d2m", "2d", "tdew", "tdps", "dewpoint", "dew_point", "td"),
             ("dew_point_temperature",), (-100.0, 45.0)),
    Quantity("vapour_pressure", "Pa", "", ("vp", "vap", "vapour_pressure", "vapor_pressure"),
             ("water_vapor_partial_pressure_in_air",), (0.0, 1e4)),
    Quantity("specific_humidity", "1", "", ("shum", "huss", "q2", "q2m", "qair", "specific_humidity"),
             ("specific_humidity",), (0.0, 0.06)),
    Quantity("air_pressure", "Pa", "", ("sp", "ps", "pres", "psurf", "prs", "surface_pressure", "air_pressure"),
             ("surface_air_pressure", "air_pressure"), (3e4, 1.1e5)),
    Quantity("wind_speed", "m s-1", "", ("wind", "sfcwind", "ws", "ws10", "si10", "win", "wind_speed"),
             ("wind_speed",), (0.0, 120.0)),
    Quantity("eastward_wind", "m s-1", "", ("u10", "10u", "uas", "eastward_wind"), ("eastward_wind",), (-120.0, 120.0)),
    Quantity("northward_wind", "m s-1", "", ("v10", "10v", "vas", "northward_wind"), ("northward_wind",),
             (-120.0, 120.0)),
    Quantity("shortwave_radiation", "W m-2", "J m-2",
             ("ssrd", "srad", "rsds", "swdown", "dswrf", "shortwave_radiation", "msdwswrf", "avg_sdswrf"),
             ("surface_downwelling_shortwave_flux_in_air",
              "integral_wrt_time_of_surface_downwelling_shortwave_flux_in_air"), (0.0, 1500.0)),
    Quantity("longwave_radiation", "W m-2", "J m-2",
             ("strd", "lrad", "rlds", "lwdown", "dlwrf", "longwave_radiation", "msdwlwrf", "avg_sdlwrf"),
             ("surface_downwelling_longwave_flux_in_air",
              "integral_wrt_time_of_surface_downwelling_longwave_flux_in_air"), (0.0, 800.0)),
    Quantity("sunshine_duration", "s", "", ("sund", "ssd", "sun", "sunshine", "sunshine_duration"),
             ("duration_of_sunshine",), (0.0, 86400.0)),
    Quantity("relative_sunshine", "1", "", ("relative_sunshine",), (), (0.0, 1.001)),
    Quantity("elevation", "m", "", ("elevation", "orog", "orography", "hgt", "topo", "dem", "z", "altitude"),
             ("surface_altitude", "geopotential"), (-500.0, 9000.0)),
)}
FORCING = ("precipitation", "air_temperature", "relative_humidity", "wind_speed", "shortwave_radiation",
           "sunshine_duration", "longwave_radiation")
# Ways to make what is not given, the first that can be done counts; `?` marks what may be missing.
RECIPES: dict[str, tuple[tuple[str, ...], ...]] = {
    "air_temperature": (("minimum_temperature", "maximum_temperature"),),
    "relative_humidity": (("dew_point", "air_temperature"), ("vapour_pressure", "air_temperature"),
                          ("specific_humidity", "air_temperature", "air_pressure?")),
    "wind_speed": (("eastward_wind", "northward_wind"),),
    "sunshine_duration": (("relative_sunshine",),),
}
# Set at steps shorter than the source's, these would shine at night.
OF_DAYLIGHT = ("shortwave_radiation", "sunshine_duration", "relative_sunshine")
_ROUNDING = 1e-6
_PER_STEP = re.compile(r"\s*(per|/)\s*(time)?\s*step\s*$")


def recognise(name: str, standard_name: str = "") -> str | None:
    """The quantity that a variable or column holds by its CF standard name, else by its own name; None if unknown."""
    for entry in QUANTITIES.values():
        if standard_name and standard_name in entry.standard_names:
            return entry.name
    plain = re.split(r"[\s\[(]", name.strip().lower())[0]
    for entry in QUANTITIES.values():
        if plain in entry.names:
            return entry.name
    return None


def known(name: str, where: str) -> Quantity:
    """The quantity of a name in the configuration; InputError names all that there are."""
    if name not in QUANTITIES:
        raise InputError(f"{where}: {name!r} is no variable of the forcing: choose from {', '.join(QUANTITIES)}")
    return QUANTITIES[name]


def is_amount(quantity: str, unit: str) -> bool:
    """Whether the unit is that of a sum over a step rather than of a rate or state.

    Raises
    ------
    ValueError
        The unit fits neither.
    """
    entry = QUANTITIES[quantity]
    text = _PER_STEP.sub("", unit)
    try:
        units.linear(text, entry.units)
        return False
    except ValueError:
        if not entry.amount:
            raise
    units.linear(text, entry.amount)
    return True


def to_internal(values: np.ndarray, unit: str, quantity: str, step_seconds: float, where: str) -> np.ndarray:
    """Values in the quantity's unit, float64; a sum over a step becomes the mean rate of the step.

    Raises
    ------
    InputError
        The unit is unknown or does not fit.
    """
    entry = QUANTITIES[quantity]
    text = _PER_STEP.sub("", unit)
    try:
        amount = is_amount(quantity, unit)
    except ValueError as error:
        sums = f" or {entry.amount!r} in a step" if entry.amount else ""
        raise InputError(f"{where}: {quantity}: {error}; give a unit that converts to {entry.units!r}{sums}") from None
    factor, offset = units.linear(text, entry.amount if amount else entry.units)
    if amount:
        factor /= step_seconds
    result = np.array(values, dtype=np.float64)
    if factor != 1.0:
        result *= factor
    if offset != 0.0:
        result += offset
    return result


def first_outside(values: np.ndarray, quantity: str, step_seconds: float = 86400.0) -> tuple[int, ...] | None:
    """Index of the first value that cannot be true, None when all can; missing values pass."""
    low, high = QUANTITIES[quantity].valid
    if quantity == "sunshine_duration":
        high = step_seconds
    slack = _ROUNDING * max(abs(low), abs(high))
    bad = (values < low - slack) | (values > high + slack)
    if not bad.any():
        return None
    return tuple(int(place[0]) for place in np.nonzero(bad))
