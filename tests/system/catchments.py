"""Two real catchments as basins, from the records and maps beside the checkout, and scores of their runs.

No number here was fitted to discharge: areas, relief, land and weather come from the data, soils and vegetation from
tables, everything else is the model's default.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from wepl import registry
from wepl.analysis import metrics
from wepl.basin.catchment import from_catchment
from wepl.basin.catchment_terrain import Hypsometry, cut_bands, hypsometry_from_cells, hypsometry_from_dem
from wepl.run.simulation import run

SITTER_AREA = 74.4  # km2
SITTER_PLACE = (47.28, 9.42)  # degrees: middle of the outline
SITTER_BANDS = 8
# FAO-56 eq. 48 takes the dew point as the minimum temperature in a humid climate. The record has only daily means; the
# daily range is about 9 K in the valleys and 5 K on the peaks here, so the minimum lies some 4 K below the mean (76 %
# relative humidity).
DEW_POINT_DEPRESSION = 4.0  # K
# FAO-56 chapter 3: 2 m/s at 2 m where no wind is measured.
WIND_SPEED, WIND_HEIGHT = 2.0, 2.0
ROCK_LINE, FOREST_LINES, FOREST_SHARE = 1900.0, (850.0, 1700.0), 1.0 / 3.0

CACHE_PLACE = (38.9, -122.3)
CACHE_BANDS = 5
# Land classes of the mesh are row numbers of the land table counted from 1, and the table's own index counts the IGBP
# classes from 0: row 11 is index 10, grassland (counted from 0 nine tenths of these hills would be wetland).
CACHE_LAND = {9: "shrub", 10: "grass", 11: "grass", 12: "grass"}
FIELD_CAPACITY_SUCTION, WILTING_SUCTION = 3.3, 150.0  # m


def sitter(folder: Path):
    """Basin of the Sitter at Appenzell, daily 1981-2000."""
    curve = hypsometry_from_dem(folder / "dem.tif", folder / "outline.shp")
    weather = pd.read_csv(folder / "meteo.csv", index_col="date", parse_dates=True)
    temperature = weather["temperature_degC"]
    vapour = [0.6108 * np.exp(17.27 * t / (t + 237.3)) for t in (temperature - DEW_POINT_DEPRESSION, temperature)]
    forcing = pd.DataFrame({
        "precipitation": weather["precipitation_mm_d"], "air_temperature": temperature,
        "relative_humidity": 100.0 * vapour[0] / vapour[1], "wind_speed": WIND_SPEED,
        "sunshine_duration": weather["relative_sunshine_pct"] / 100.0 * _day_length(weather.index, SITTER_PLACE[0])})
    return from_catchment("Sitter at Appenzell", SITTER_AREA, *SITTER_PLACE, hypsometry=curve, bands=SITTER_BANDS,
                          land=_sitter_land(curve), soil="loam", forcing=forcing,
                          options={"wind_height": WIND_HEIGHT})


def _day_length(days: pd.DatetimeIndex, latitude: float) -> np.ndarray:
    """Hours between sunrise and sunset, FAO-56 eqs. 24, 25 and 34."""
    declination = 0.409 * np.sin(2.0 * np.pi * days.day_of_year.to_numpy() / 365.0 - 1.39)
    return 24.0 / np.pi * np.arccos(-np.tan(np.radians(latitude)) * np.tan(declination))


def _sitter_land(curve: Hypsometry) -> list[dict[str, float]]:
    """A third forest between valley floor and timber line, rock above 1900 m, pasture elsewhere."""
    cut = cut_bands(curve, SITTER_BANDS)

    def below(height: float | np.ndarray) -> np.ndarray:
        return np.interp(height, curve.elevation, curve.share_below)

    def share_between(low: float, high: float) -> np.ndarray:
        inside = below(np.minimum(cut.highest, high)) - below(np.maximum(cut.lowest, low))
        return np.maximum(0.0, inside) / cut.share

    wooded = share_between(*FOREST_LINES)
    forest = wooded * FOREST_SHARE / float(cut.share @ wooded)
    rock = share_between(ROCK_LINE, np.inf)
    return [{"evergreen_needleleaf_forest": f, "bare": b, "grass": 1.0 - f - b}
            for f, b in zip(forest, rock, strict=True)]


@dataclass(frozen=True)
class Mesh:
    """Triangles of the Cache Creek mesh: area (km2), mean elevation (m), slope, land class and soil row."""

    area: np.ndarray
    elevation: np.ndarray
    slope: np.ndarray
    land: np.ndarray
    soil: np.ndarray


def read_mesh(folder: Path) -> Mesh:
    """Triangles with their attributes."""
    attributes = _table(folder / "ccw.sp.att", 0)
    triangles, nodes = (_table(folder / "ccw.sp.mesh", block) for block in (0, 1))
    place = nodes.set_index("ID")[["X", "Y", "Elevation"]]
    corner = [place.loc[triangles[f"Node{i}"]].to_numpy() for i in (1, 2, 3)]
    normal = np.cross(corner[1] - corner[0], corner[2] - corner[0])
    return Mesh(0.5e-6 * np.abs(normal[:, 2]), np.mean([c[:, 2] for c in corner], axis=0),
                np.hypot(normal[:, 0], normal[:, 1]) / np.abs(normal[:, 2]),
                attributes["LC"].to_numpy(), attributes["SOIL"].to_numpy())


def _table(path: Path, block: int) -> pd.DataFrame:
    """One of the stacked tables of a file: a line with the number of rows, column names, rows."""
    lines = path.read_text().splitlines()
    at = 0
    for _ in range(block):
        at += int(lines[at].split()[0]) + 2
    count = int(lines[at].split()[0])
    rows = [[float(value) for value in line.split()] for line in lines[at + 2: at + 2 + count]]
    frame = pd.DataFrame(rows, columns=lines[at + 1].split())
    return frame.astype({name: int for name in frame if (frame[name] % 1 == 0).all()})


def _cache_soil(folder: Path, mesh: Mesh) -> dict[str, float]:
    """Area means of the soil table, field capacity and wilting point from van Genuchten curves at 33 and 1500 kPa."""
    soil = _table(folder / "ccw.para.soil", 0).set_index("INDEX").loc[mesh.soil]
    saturated, residual = soil["ThetaS(m3_m3)"], soil["ThetaR(m3_m3)"]

    def content(suction: float) -> pd.Series:
        n = soil["Beta"]
        return residual + (saturated - residual) * (1.0 + (soil["Alpha(1_m)"] * suction) ** n) ** (1.0 / n - 1.0)

    columns = {"saturated_water_content": saturated, "residual_water_content": residual,
               "field_capacity": content(FIELD_CAPACITY_SUCTION), "wilting_point": content(WILTING_SUCTION),
               "saturated_conductivity": soil["KsatV(m_d)"]}
    return {name: float(np.average(values, weights=mesh.area)) for name, values in columns.items()}


def cache_creek(folder: Path):
    """Basin of Cache Creek, hourly 2000-2002."""
    mesh = read_mesh(folder)
    area = float(mesh.area.sum())
    land: dict[str, float] = {}
    for number, kind in CACHE_LAND.items():
        land[kind] = land.get(kind, 0.0) + float(mesh.area[mesh.land == number].sum()) / area
    soil = _cache_soil(folder, mesh)
    conductivity = (soil.pop("saturated_conductivity"), "m d-1")
    rivers = _table(folder / "ccw.sp.riv", 0)
    weather = pd.read_csv(folder / "forcing_hourly.csv.gz", index_col="time", parse_dates=True)
    weather = weather.resample("1h").asfreq().interpolate()  # one hour of 4 December 2002 is missing
    forcing = pd.DataFrame({
        "precipitation": weather["precipitation_mm_d"], "air_temperature": weather["temperature_degC"],
        "relative_humidity": weather["relative_humidity_1"], "wind_speed": weather["wind_m_s"],
        "shortwave_radiation": weather["shortwave_W_m2"]})
    return from_catchment("Cache Creek", area, *CACHE_PLACE,
                          hypsometry=hypsometry_from_cells(mesh.elevation, mesh.slope, mesh.area, area),
                          bands=CACHE_BANDS, land=land, soil="loam", forcing=forcing,
                          forcing_units={"precipitation": "mm d-1", "relative_humidity": "1"},
                          reach_length=_main_channel(rivers),
                          parameters={**soil, "saturated_conductivity": conductivity})


def _main_channel(rivers: pd.DataFrame) -> float:
    """Longest way down the reaches to the outlet, m."""
    down, length = (rivers.set_index("Index")[name].to_dict() for name in ("Down", "Length"))

    def way(reach: int) -> float:
        total = 0.0
        while reach in length:
            total, reach = total + length[reach], down[reach]
        return total

    return max(way(reach) for reach in length)


def observed(folder: Path) -> pd.Series:
    """Observed daily discharge, m3 s-1."""
    return pd.read_csv(folder / "discharge.csv", index_col="date", parse_dates=True)["discharge_m3_s"]


@dataclass(frozen=True)
class Scores:
    """Water balance (mm a-1) and agreement of the scored years."""

    closure: float
    precipitation: float
    evaporation: dict[str, float]
    discharge: float
    observed: float
    volume_error: float
    monthly: metrics.KlingGupta
    daily: metrics.KlingGupta
    nash_sutcliffe: float
    log_nash_sutcliffe: float

    def text(self) -> str:
        """The scores for people."""
        kinds = ", ".join(f"{name.replace('_', ' ')} {value:.0f}" for name, value in self.evaporation.items())
        monthly, daily = (f"{kge.efficiency:.3f} (r {kge.correlation:.3f}, alpha {kge.variability:.3f}, beta "
                          f"{kge.bias:.3f})" for kge in (self.monthly, self.daily))
        return (f"P {self.precipitation:.0f}, ET {sum(self.evaporation.values()):.0f} ({kinds}), "
                f"Q {self.discharge:.0f}, observed Q {self.observed:.0f} mm a-1\n"
                f"volume error {self.volume_error:.1f} %, monthly KGE {monthly}, daily KGE {daily}, "
                f"NSE {self.nash_sutcliffe:.3f}, NSE of logarithms {self.log_nash_sutcliffe:.3f}, "
                f"closure {self.closure:.1e}")


def score(basin, folder: Path, output: Path, first: str, last: str, local_time: str = "0h") -> Scores:
    """Run a basin over all its weather with default parameters and score the days from ``first`` to ``last``.

    ``local_time`` is what the days of the discharge record are ahead of the times of the weather.
    """
    variables = ("precipitation_depth", *registry.EVAPORATION)
    result = run(basin, output=output, quiet=True, variables=variables)
    with xr.open_dataset(output) as data:
        area = basin.parameters["unit_area"].values
        depth = {name: data[name].sel(time=slice(first, last)) @ xr.DataArray(area / area.sum(), dims="unit")
                 for name in variables}
        years = (pd.Timestamp(last) - pd.Timestamp(first) + pd.Timedelta("1D")) / pd.Timedelta("365.25D")
        yearly = {name: float(values.sum()) / years for name, values in depth.items()}
        outlet = data["gauge_discharge"].values[:, 0]
        times = data.indexes["time"] + pd.Timedelta(local_time)
        simulated = pd.Series(outlet, index=times).resample("1D").mean().loc[first:last]
    measured = observed(folder).loc[first:last].reindex(simulated.index)
    to_depth = 86400.0 / area.sum() * 1000.0
    months = [series.resample("MS").mean() for series in (simulated, measured)]
    return Scores(
        closure=result.balance.closure, precipitation=yearly.pop("precipitation_depth"), evaporation=yearly,
        discharge=float(simulated.sum()) * to_depth / years, observed=float(measured.sum()) * to_depth / years,
        volume_error=metrics.percent_bias(simulated, measured), monthly=metrics.kling_gupta(*months),
        daily=metrics.kling_gupta(simulated, measured), nash_sutcliffe=metrics.nash_sutcliffe(simulated, measured),
        log_nash_sutcliffe=metrics.log_nash_sutcliffe(simulated, measured, 0.01 * float(measured.mean())))
