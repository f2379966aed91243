"""Three measured columns as basins of one unit and one tile, from the records beside the checkout.

No number here was fitted: places, soils and weather come from the data and the sites' descriptions, vegetation from the
built-in table, everything else is the model's default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from wepl import registry
from wepl.basin.catchment import from_catchment
from wepl.basin.synthetic import facts
from wepl.basin.synthetic.stations import Stations
from wepl.basin.synthetic.weather import build_weather
from wepl.physics.rain_pattern import storm_depth
from wepl.run.simulation import run

DAY = 86400.0
ENERGY = ("net_radiation", "latent_heat", "sensible_heat", "ground_heat")
VARIABLES = ("precipitation_depth", *registry.EVAPORATION, *ENERGY, "soil_moisture", "snow_water_equivalent",
             "percolation", "interflow", "overland_runoff")


@dataclass(frozen=True)
class Site:
    """Place of a column: degrees north and east, m, tangent of the slope, height of the wind measurement (m)."""

    name: str
    latitude: float
    longitude: float
    elevation: float
    slope: float
    wind_height: float = 10.0


# ChinaFLUX: 26.74 N 115.06 E, about 100 m with 20 to 50 m of relief, 18.6 degC, 1488.8 mm, 1785 h of sunshine a year;
# plantation of slash pine, masson pine and fir on red soil.
QIANYANZHOU = Site("CN-Qia Qianyanzhou", 26.74, 115.06, 100.0, 0.1)
QIANYANZHOU_PRECIPITATION, QIANYANZHOU_SUNSHINE = 1488.8, 1785.0
# The sample's red soil: clay loam over clay.
RED_SOIL = ("clay loam", "clay loam", "clay")
# Annual fall of temperature with latitude as at the sample's stations: 0.55 K per degree, 0.5 K more in January.
LATITUDE_MEAN, LATITUDE_SEASON, WIND_SPEED = 0.55, 0.50, 2.15

# AmeriFlux US-Wkg; slopes of 4 to 9 % and a surface horizon of 67 % sand, 16 % silt, 17 % clay (sandy loam) after the
# site's data description (USDA-ARS, Walnut Gulch, Kendall); sensors 6.4 m above the ground.
KENDALL = Site("US-Wkg Kendall", 31.74, -109.94, 1531.0, 0.065, 6.4)
# Depth of the soil moisture sensors, m.
KENDALL_DEPTHS = {"SM1": 0.05, "SM2": 0.15}

# Morin et al. 2012: meadow in a clearing, 45.30 N 5.77 E, 1325 m.
COL_DE_PORTE = Site("Col de Porte", 45.30, 5.77, 1325.0, 0.05)


def column(site: Site, land: str, soil: str | Sequence[str], forcing: pd.DataFrame,
           forcing_units: Mapping[str, str] | None = None, options: Mapping[str, float | str] | None = None):
    """Basin of one unit of 1 km2 under one land kind."""
    flat = ((site.elevation - 0.5, site.elevation + 0.5), (0.0, 1.0))
    return from_catchment(site.name, 1.0, site.latitude, site.longitude, hypsometry=flat, bands=1, slope=site.slope,
                          land={land: 1.0}, soil=soil, forcing=forcing, forcing_units=forcing_units,
                          forcing_elevation=site.elevation,
                          options={"wind_height": site.wind_height, **(options or {})})


@dataclass(frozen=True)
class Series:
    """Result of a column: what each step gave (depths in mm, energy in W m-2, layers as ``soil_moisture_1`` ...)."""

    steps: pd.DataFrame
    closure: float

    def evapotranspiration(self) -> pd.Series:
        """All evaporation of each step, mm."""
        return self.steps[list(registry.EVAPORATION)].sum(axis=1)


def simulate(basin, output: Path, more: Sequence[str] = ()) -> Series:
    """Run a column over all its weather with what its basin holds."""
    report = run(basin, output=output, quiet=True, variables=(*VARIABLES, *more))
    with xr.open_dataset(output) as data:
        step = basin.forcing.clock.step_seconds
        values = {}
        for name in (*VARIABLES, *more):
            of_unit = data[name].isel(unit=0)
            if "soil_layer" in of_unit.dims:
                values |= {f"{name}_{i + 1}": of_unit.isel(soil_layer=i).values
                           for i in range(of_unit.sizes["soil_layer"])}
            else:
                values[name] = of_unit.values.astype(float) / (step if name in ENERGY else 1.0)
        steps = pd.DataFrame(values, index=data.indexes["time"])
    return Series(steps, report.balance.closure)


def tower_months(folder: Path, site: str) -> pd.DataFrame:
    """Monthly climatology of a tower, W m-2: columns ``Qle`` and ``Qh``, index 1 to 12."""
    table = pd.read_csv(folder / "monthly_climatology_W_m2.csv").set_index(["site", "var"]).loc[site]
    months = table[[f"m{month:02d}" for month in range(1, 13)]].T.astype(float)
    return months.set_index(pd.RangeIndex(1, 13))[["Qle", "Qh"]]


def qianyanzhou_weather(years: int, seed: int = 1) -> pd.DataFrame:
    """Daily weather from Nanchang's months carried to the site: latitude, elevation, annual rain and sunshine.

    The site's monthly means are met exactly over the years; the days are the sample's generator's.
    """
    month = np.arange(12)
    gradient = LATITUDE_MEAN + LATITUDE_SEASON * np.cos(2.0 * np.pi * month / 12.0)
    temperature = (facts.TEMPERATURE - gradient * (QIANYANZHOU.latitude - facts.NANCHANG[1])
                   - facts.LAPSE_RATE * (QIANYANZHOU.elevation - facts.NANCHANG[2]))
    climate = (facts.PRECIPITATION * QIANYANZHOU_PRECIPITATION / facts.PRECIPITATION.sum(), facts.RAIN_DAYS,
               temperature, facts.HUMIDITY, np.full(12, WIND_SPEED),
               facts.SUNSHINE * QIANYANZHOU_SUNSHINE / facts.SUNSHINE.sum())
    station = Stations(np.array([QIANYANZHOU.longitude]), np.array([QIANYANZHOU.latitude]),
                       np.array([QIANYANZHOU.elevation]), np.array([0]), *(values[:, None] for values in climate))
    days = np.arange(np.datetime64("2001-01-01"), np.datetime64(f"{2001 + years}-01-01"))
    weather = build_weather(station, days, np.random.default_rng(seed), timing=False)
    return pd.DataFrame({
        "precipitation": weather.precipitation[:, 0], "air_temperature": weather.temperature[:, 0],
        "relative_humidity": weather.humidity[:, 0], "wind_speed": weather.wind[:, 0],
        "sunshine_duration": weather.sunshine[:, 0]}, index=pd.DatetimeIndex(days))


def qianyanzhou(years: int = 11):
    """Column of the plantation at Qianyanzhou."""
    return column(QIANYANZHOU, "evergreen_needleleaf_forest", RED_SOIL, qianyanzhou_weather(years),
                  options={"angstrom_a": facts.ANGSTROM_A})


def kendall_record(folder: Path) -> pd.DataFrame:
    """The record of Kendall, without its first day, which is a part of a day."""
    record = pd.read_csv(folder / "daily.csv", index_col="date", parse_dates=True)
    return record.iloc[1:]


def kendall_weather(record: pd.DataFrame) -> pd.DataFrame:
    """Forcing of Kendall: gaps up to five days interpolated, longer ones filled with the day's mean of other years.

    Only longwave radiation has longer gaps (5 % of the days). Rain is never made up.
    """
    weather = pd.DataFrame({
        "precipitation": record["PREC"].fillna(0.0), "air_temperature": record["Tair"],
        "relative_humidity": record["RH"], "wind_speed": record["Wind"],
        "shortwave_radiation": record["SWdown"].clip(lower=0.0), "longwave_radiation": record["LWdown"]})
    of_day = weather.groupby(weather.index.day_of_year).transform("mean")
    return weather.interpolate(limit=5, limit_area="inside").fillna(of_day)


def kendall(weather: pd.DataFrame, options: Mapping[str, float | str] | None = None):
    """Column of the grassland at Kendall under its own weather."""
    return column(KENDALL, "grass", "sandy loam", weather, options=options)


def as_hours(weather: pd.DataFrame) -> pd.DataFrame:
    """Daily weather as hours: rain in the storm pattern of a heavy day, all else even over the day."""
    hours = pd.date_range(weather.index[0], periods=24 * len(weather), freq="1h")
    spread = weather.loc[weather.index.repeat(24)].set_index(hours)
    rain = np.array([[storm_depth(depth, hour * 3600.0, (hour + 1) * 3600.0) if depth > 0.0 else 0.0
                      for hour in range(24)] for depth in weather["precipitation"] / 1000.0])
    spread["precipitation"] = 24.0 * 1000.0 * rain.ravel()
    return spread


def antecedent_precipitation(rain: pd.Series, memory: float = 0.9) -> pd.Series:
    """Antecedent precipitation index with a daily memory of 0.9 (Kohler and Linsley 1951): what any rain gauge says."""
    return rain.ewm(alpha=1.0 - memory, adjust=False).mean()


def col_de_porte_weather(folder: Path, step: str = "1h") -> pd.DataFrame:
    """Weather of winter 2005/06, hourly or averaged to ``step``; precipitation is snow and rain together, mm s-1."""
    names = ["year", "month", "day", "hour", "SW", "LW", "snow", "rain", "temperature", "RH", "wind", "pressure"]
    table = pd.read_csv(folder / "met_CdP_0506.txt", sep=r"\s+", header=None, names=names)
    table.index = pd.DatetimeIndex(pd.to_datetime(table[["year", "month", "day", "hour"]]))
    weather = pd.DataFrame({
        "precipitation": table["snow"] + table["rain"], "air_temperature": table["temperature"] - 273.15,
        "relative_humidity": table["RH"], "wind_speed": table["wind"], "shortwave_radiation": table["SW"],
        "longwave_radiation": table["LW"]})
    return weather if step == "1h" else weather.resample(step).mean()


def col_de_porte_snow(folder: Path) -> pd.Series:
    """Observed daily snow water equivalent, mm."""
    names = ["year", "month", "day", "albedo", "runoff", "depth", "swe", "surface_temperature", "soil_temperature"]
    table = pd.read_csv(folder / "obs_CdP_0506.txt", sep=r"\s+", header=None, names=names)
    table.index = pd.DatetimeIndex(pd.to_datetime(table[["year", "month", "day"]]))
    return table["swe"].where(table["swe"] > -90.0)


def col_de_porte(folder: Path, land: str, step: str = "1h"):
    """Column of the snow site under one land kind."""
    return column(COL_DE_PORTE, land, "loam", col_de_porte_weather(folder, step), {"precipitation": "mm s-1"})
