"""The TOML file of a build, checked: unknown keys are refused, and every fault is named by its dotted path.

Files are named relative to the TOML file; that they exist is checked here, before any work.
"""

from __future__ import annotations

import datetime
import glob
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from wepl import registry
from wepl.build.config_faults import fault_lines, unknown_names
from wepl.errors import InputError
from wepl.paths import is_address, outside
from wepl.toml_file import read_toml

LAND_LEGENDS = ("esa_worldcover", "modis_igbp", "globeland30", "clcd", "corine")
SOIL_LEGENDS = ("usda",)


def _fault(text: str) -> PydanticCustomError:
    # Braces are a template of pydantic's own.
    return PydanticCustomError("build", "{text}", {"text": text})


def _folder(info: ValidationInfo) -> Path:
    """Folder of the TOML file."""
    return Path((info.context or {})["folder"])


def _existing(name: str, info: ValidationInfo) -> str:
    """A file that is there, relative to the folder of the TOML file; what only GDAL understands is left to GDAL."""
    folder = _folder(info)
    if not name.strip() or "\0" in name:
        raise _fault("the name of the file is empty" if not name.strip() else f"{name!r} is no name of a file")
    stray = outside(name, folder)
    if stray:
        raise _fault(stray)
    if is_address(name):
        return name
    if glob.has_magic(name):
        if not glob.glob(name, root_dir=folder, recursive=True):
            raise _fault(f"no file fits {folder / name}; names are relative to the TOML file: check the name")
    elif not os.path.exists(folder / name):
        raise _fault(f"there is no file {folder / name}; names are relative to the TOML file: check the name")
    return name


def _legend(known: tuple[str, ...]) -> AfterValidator:
    def check(name: str, info: ValidationInfo) -> str:
        if name in known:
            return name
        if not name.lower().endswith(".csv"):
            raise _fault(f"{name!r} is no legend: choose from {', '.join(known)}, or name a table of two columns that "
                         "ends in .csv")
        return _existing(name, info)

    return AfterValidator(check)


def _outlets(given: Any) -> Any:
    pairs = isinstance(given, list) and given and all(
        isinstance(pair, list) and len(pair) == 2
        and all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in pair)
        for pair in given)
    if pairs or given in ("all", "largest"):
        return given
    raise _fault(f'{given!r}: give "all", "largest", or a list of points [[x, y], ...]')


def _system(given: Any) -> Any:
    """A coordinate reference system: "auto", or what names one, an EPSG code among them."""
    if isinstance(given, int) and not isinstance(given, bool):
        return f"EPSG:{given}"
    if isinstance(given, str) and given.strip().isdigit():
        return f"EPSG:{given.strip()}"
    return given


def _moment(given: Any) -> Any:
    """A date or time as ISO text; TOML has dates of its own."""
    if isinstance(given, datetime.datetime):
        if given.tzinfo is not None:
            raise _fault(f"{given.isoformat()}: leave the offset out and give time_zone")
        return given.isoformat()
    if isinstance(given, datetime.date):
        return given.isoformat()
    if isinstance(given, str):
        try:
            return _moment(datetime.datetime.fromisoformat(given)) if len(given) > 10 else (
                datetime.date.fromisoformat(given).isoformat())
        except ValueError:
            raise _fault(f"{given!r} is no date: give one such as 2010-01-01 or 2010-01-01T06:00") from None
    return given


def _number_or_name(given: Any) -> Any:
    if isinstance(given, str) or (isinstance(given, (int, float)) and not isinstance(given, bool)):
        return given
    raise _fault(f"{given!r}: give a number, or the name of a choice")


def _existing_book(name: str, info: ValidationInfo) -> str:
    """A table; ``#sheet`` behind a workbook's name is no part of it."""
    folder = _folder(info)
    _existing(name if os.path.exists(folder / name) else name.partition("#")[0], info)
    return name


File = Annotated[str, AfterValidator(_existing)]
Book = Annotated[str, AfterValidator(_existing_book)]
Moment = Annotated[str, BeforeValidator(_moment)]
System = Annotated[str, BeforeValidator(_system)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Value = Annotated[Any, BeforeValidator(_number_or_name)]
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]


class _Table(BaseModel):
    """A table of the TOML file: types as given, no unknown key."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Terrain(_Table):
    """Elevation or flow directions, and how they are cut into sub-basins and contour bands."""

    dem: File | None = None
    d8: File | None = None
    d8_encoding: Literal["esri", "ldd", "1n_clockwise"] | None = None
    accumulation: File | None = None
    slope: File | None = None
    outline: File | None = None
    crs: System = "auto"
    resolution: NotNegative = 0.0
    stream_threshold_km2: Positive = 1.0
    subbasin_area_km2: Positive = 20.0
    outlets: Annotated[Literal["all", "largest"] | list[list[float]], BeforeValidator(_outlets)] = "largest"
    bands: Annotated[int, Field(ge=0, le=10)] = 0
    band_relief_m: Positive = 200.0
    band_rule: Literal["area", "elevation"] = "area"
    min_band_area_km2: NotNegative = 0.05
    width_a: Positive = 2.5
    width_b: NotNegative = 0.5

    @model_validator(mode="after")
    def _source(self) -> Terrain:
        if (self.dem is None) == (self.d8 is None):
            raise _fault("give either dem or d8")
        if self.d8 is not None and self.d8_encoding is None:
            raise _fault('d8 needs d8_encoding: "esri", "ldd" or "1n_clockwise"')
        if self.d8 is None:
            given = [name for name in ("d8_encoding", "accumulation", "slope") if getattr(self, name) is not None]
            if given:
                raise _fault(f"{', '.join(given)}: used with d8 only; a dem has its own")
        return self


class Gauge(_Table):
    """A discharge gauge; without ``crs`` its place is in degrees when it can be, else in the system of the DEM."""

    name: Annotated[str, Field(min_length=1)]
    x: Number
    y: Number
    area_km2: Positive | None = None
    crs: System | None = None


class GaugeRule(_Table):
    """How far a gauge may move to its river, and how far its area may be off."""

    search_m: NotNegative = 3000.0
    max_area_error: Positive = 0.2
    force: bool = False


class Land(_Table):
    """Land cover: a map and its legend, or shares of the whole basin."""

    map: File | None = None
    classes: Annotated[str, _legend(LAND_LEGENDS)] | None = None
    shares: dict[str, Annotated[float, Field(ge=0.0, le=1.0)]] | None = None
    lai: list[File] | None = None
    lai_scale: Positive = 1.0

    @model_validator(mode="after")
    def _source(self) -> Land:
        if (self.map is None) == (self.shares is None):
            raise _fault("give either map with classes, or shares")
        if (self.map is None) != (self.classes is None):
            raise _fault("map and classes belong together")
        if self.shares is not None:
            self._check_shares(self.shares)
        if self.lai is not None and len(self.lai) != 12:
            raise _fault(f"lai: {len(self.lai)} rasters: give 12, January first")
        return self

    @staticmethod
    def _check_shares(shares: dict[str, float]) -> None:
        from wepl.basin.catchment_land import LAND_KINDS

        unknown = [name for name in shares if name not in LAND_KINDS]
        if unknown:
            raise _fault(f"shares: unknown kind {', '.join(unknown)}: choose from {', '.join(LAND_KINDS)}")
        total = sum(shares.values())
        if abs(total - 1.0) > 1e-3:
            raise _fault(f"shares: they add to {total:.6g}, not to 1")


class Soil(_Table):
    """Soil: a map of textures, one texture, or rasters of sand, silt and clay per depth."""

    map: File | None = None
    classes: Annotated[str, _legend(SOIL_LEGENDS)] | None = None
    texture: str | None = None
    sand: list[File] | None = None
    silt: list[File] | None = None
    clay: list[File] | None = None
    organic: list[File] | None = None
    pedotransfer: Literal["saxton_rawls_2006", "cosby_1984"] = "saxton_rawls_2006"
    depths_m: list[Positive] | None = None
    layers_m: Annotated[list[Positive], Field(min_length=1, max_length=registry.MAX_SOIL_LAYERS)] = [0.2, 0.4, 1.4]
    depth: Literal["slope"] | None = None

    @model_validator(mode="after")
    def _source(self) -> Soil:
        grains = {name: getattr(self, name) for name in ("sand", "silt", "clay", "organic")}
        ways = [self.map is not None, self.texture is not None, self.sand is not None]
        if sum(ways) != 1:
            raise _fault("give one of map with classes, texture, or sand, silt and clay")
        if (self.map is None) != (self.classes is None):
            raise _fault("map and classes belong together")
        if self.sand is None and (self.depths_m is not None or any(grains.values())):
            raise _fault("silt, clay, organic and depths_m belong to sand")
        if self.sand is not None:
            self._check_grains(grains)
        return self

    def _check_grains(self, grains: dict[str, list[str] | None]) -> None:
        missing = [name for name in ("silt", "clay") if grains[name] is None]
        if missing or self.depths_m is None:
            raise _fault(f"sand needs {', '.join([*missing, *(['depths_m'] if self.depths_m is None else [])])}")
        for name, rasters in grains.items():
            if rasters is not None and len(rasters) != len(self.depths_m):
                raise _fault(f"{name}: {len(rasters)} rasters for {len(self.depths_m)} depths_m: give one per depth")
        if sorted(set(self.depths_m)) != self.depths_m:
            raise _fault(f"depths_m: {self.depths_m} must rise")


class Stations(_Table):
    """A table of station records: CSV or a workbook."""

    file: Book
    variable: str | None = None
    unit: str | None = None
    time: str
    columns: dict[str, str] | None = None
    station: str | None = None
    coordinates: File | None = None


class Grids(_Table):
    """Gridded weather: netCDF files or a Zarr store."""

    file: File
    kind: Literal["auto", "accumulated", "mean", "instantaneous"] = "auto"
    variables: dict[str, str] | None = None


class Forcing(_Table):
    """Weather, and how it is carried to the forcing cells of the basin."""

    stations: list[Stations] = []
    grids: list[Grids] = []
    step: Literal["1d", "1h"] = "1d"
    start: Moment | None = None
    end: Moment | None = None
    method: Literal["idw", "thiessen", "regression"] = "idw"
    power: Positive = 2.0
    neighbours: Annotated[int, Field(ge=1)] = 8
    cells: Literal["unit", "station", "grid"] = "unit"
    gaps: Literal["refuse", "neighbours", "climatology"] = "refuse"
    max_gap_days: NotNegative = 3.0
    time_zone: str = "UTC"

    @model_validator(mode="after")
    def _sources(self) -> Forcing:
        if not self.stations and not self.grids:
            raise _fault("give [[forcing.stations]] or [[forcing.grids]]")
        if self.start is not None and self.end is not None and self.end < self.start:
            raise _fault(f"end {self.end} lies before start {self.start}")
        return self


class Config(_Table):
    """All of the TOML file."""

    title: Annotated[str, Field(min_length=1)]
    terrain: Terrain
    gauges: list[Gauge] = []
    gauge_rule: GaugeRule = GaugeRule()
    land: Land
    soil: Soil
    forcing: Forcing
    parameters: dict[str, Number] = {}
    options: dict[str, Value] = {}

    @model_validator(mode="after")
    def _names(self) -> Config:
        names = [gauge.name for gauge in self.gauges]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise _fault(f"gauges: the name {', '.join(twice)} stands twice")
        return self


def read(path: str | Path) -> tuple[Config, str]:
    """Read and check a TOML file.

    Parameters
    ----------
    path : path
        The TOML file.

    Returns
    -------
    config : Config
    text : str
        The file as it stands.

    Raises
    ------
    InputError
        There is no such file, it is no TOML, or what it says cannot be used; all faults are listed.
    """
    place = Path(path)
    text, given = read_toml(place, "docs/build.md")
    problems = unknown_names(given)
    try:
        config = Config.model_validate(given, context={"folder": place.parent})
    except ValidationError as error:
        problems = [*fault_lines(error, Config), *problems]
    if problems:
        raise InputError("\n".join([f"{place} cannot be used:", *(f"  {line}" for line in problems)]))
    return config, text
