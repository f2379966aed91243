"""Every reader of wepl: what it reads when all is well, how that is spoiled, and how it is read."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
for _folder in ("build", "files"):
    sys.path.append(str(ROOT / "tests" / _folder))

from basins import outside, valid, write  # noqa: E402
from content import Content  # noqa: E402
from mutations import Draw, altered, edited, respelled, restructured  # noqa: E402
from small_maps import SIDE, TOML, elevation, write_raster, write_valley  # noqa: E402
from small_terrain import LEFT, RIGHT, TOP, forcing, grid, table, terrain  # noqa: E402

FORMS = ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA")


class Reader:
    """A reader under test: ``make`` writes good files into a folder, ``spoil`` one bad one, ``read`` reads it."""

    file = "basin.nc"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.make()
        self.good = self.path.read_bytes()

    @property
    def path(self) -> Path:
        """The file that is spoiled."""
        return self.folder / self.file

    def make(self) -> None:
        """Write what is good."""
        raise NotImplementedError

    def structure(self, draw: Draw) -> None:
        """Write a file of wrong structure in place of the good one."""
        raise NotImplementedError

    def read(self) -> None:
        """Read it as a user would."""
        raise NotImplementedError

    def spoil(self, draw: Draw) -> None:
        """Write a bad file in place of the good one."""
        if draw(st.booleans()):
            self.path.write_bytes(edited(draw, self.good))
        else:
            self.structure(draw)


class NetCDF(Reader):
    """Readers of netCDF files."""

    def structure(self, draw: Draw) -> None:
        """See :class:`Reader`."""
        if not hasattr(self, "content"):
            (self.folder / "good.nc").write_bytes(self.good)
            self.content = Content.read(self.folder / "good.nc")
            self.forms = {}
            for form in FORMS:
                try:
                    self.content.write(self.folder / "form.nc", form)
                except (RuntimeError, ValueError, TypeError, OverflowError):
                    continue
                self.forms[form] = (self.folder / "form.nc").read_bytes()
        if draw(st.integers(0, 3)) == 0:
            self.path.write_bytes(edited(draw, self.forms[draw(st.sampled_from(sorted(self.forms)))]))
            return
        self.path.unlink(missing_ok=True)
        restructured(draw, self.content).write(self.path, draw(st.sampled_from(("NETCDF4", *FORMS))))


class Basin(NetCDF):
    """A basin file."""

    def make(self) -> None:
        data = valid()
        data["gauge_name"] = ("gauge", ["A", "B"])
        data["rs_max"] = ((), 4000.0, {"units": "s m-1"})
        data["infiltration_switch"] = ((), "rate")
        write(data, self.path)

    def read(self) -> None:
        from wepl.basin import dataset

        broken = [check for check in dataset.inspect(self.path) if not check.passed]
        if not broken:
            dataset.Basin.open(self.path).validate()


class Weather(NetCDF):
    """Weather in a file beside the basin."""

    file = "weather.nc"

    def make(self) -> None:
        data, weather = outside(valid(), "weather.nc")
        write(weather, self.path)
        write(data, self.folder / "basin.nc")

    def read(self) -> None:
        from wepl.basin import dataset

        dataset.Basin.open(self.folder / "basin.nc").check_forcing()


class State(NetCDF):
    """A state file."""

    file = "state.nc"

    def make(self) -> None:
        from wepl.basin import dataset
        from wepl.run import restart

        self.basin = dataset.Basin.from_dataset(valid())
        sizes = {"unit": 8, "tile": 5, "subbasin": 4, "soil_layer": 3, "river_cell": 4}
        self.shapes = {entry.name: tuple(sizes.get(dim, 2) for dim in entry.dims) for entry in restart.entries()}
        arrays = {name: np.zeros(shape) for name, shape in self.shapes.items()}
        restart.save_state(self.path, arrays, basin=self.basin, clock=self.basin.clock, at=2)

    def read(self) -> None:
        from wepl.run import restart

        restart.load_state(self.path, basin=self.basin, clock=self.basin.clock, at=2, shapes=self.shapes)


class Info(NetCDF):
    """What ``wepl info`` says of a result."""

    file = "result.nc"

    def make(self) -> None:
        import results

        results.write(self.path)
        (self.folder / "other.nc").write_bytes(self.path.read_bytes())

    def read(self) -> None:
        from wepl.info import describe

        describe(self.path)


class InfoBasin(Basin):
    """What ``wepl info`` says of a basin."""

    def read(self) -> None:
        from wepl.info import describe

        describe(self.path)


class InfoState(State):
    """What ``wepl info`` says of a state."""

    def read(self) -> None:
        from wepl.info import describe

        describe(self.path)


class Compare(Info):
    """``wepl compare`` of a result with a good one, both ways."""

    def read(self) -> None:
        from wepl.compare import compare
        from wepl.errors import InputError

        try:
            compare(self.path, self.folder / "other.nc")
        except InputError:
            compare(self.folder / "other.nc", self.path)


class Valley(Reader):
    """Readers of the files of a build."""

    def make(self) -> None:
        write_valley(self.folder)
        soil = np.full((SIDE, SIDE), 6, dtype=np.uint8)
        write_raster(self.folder / "soil.tif", soil)

    def read(self) -> None:
        from wepl.build.assemble import build

        build(self.folder / "build.toml", None, dry_run=True)


def toml_text(tree: dict[str, Any]) -> str:
    """Settings as TOML, tables inline."""
    def written(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(str(key))} = {written(item)}" for key, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(written, value)) + "]"
        if isinstance(value, bool):
            return str(value).lower()
        return json.dumps(value).replace("Infinity", "inf").replace("NaN", "nan")
    return "\n".join(f"{json.dumps(str(key))} = {written(value)}" for key, value in tree.items())


class Toml(Valley):
    """The TOML file of a build, and the build that it asks for."""

    file = "build.toml"

    def structure(self, draw: Draw) -> None:
        self.path.write_text(toml_text(altered(draw, tomllib.loads(TOML))), encoding="utf-8", errors="replace")


class Table(Valley):
    """A table of weather as CSV."""

    file = "weather.csv"

    def structure(self, draw: Draw) -> None:
        rows = [line.split(",") for line in self.good.decode().splitlines()]
        made, separator, end, encoding = respelled(draw, rows)
        content = end.join(separator.join(row) for row in made)
        self.path.write_bytes(content.encode(encoding, "replace"))

    def read(self) -> None:
        from wepl.build.stations import read_stations

        entry = table(file=self.file, coordinates="stations.csv", columns={
            "precipitation": "P [mm]", "air_temperature": "T [degC]", "relative_humidity": "RH [%]",
            "wind_speed": "wind [m s-1]", "sunshine_duration": "sun [h]"})
        read_stations([entry], self.folder, 0, terrain(), [])


class Places(Table):
    """A table of the places of stations."""

    file = "stations.csv"

    def read(self) -> None:
        from wepl.build.stations import read_stations

        entry = table(file="weather.csv", coordinates=self.file, columns={"precipitation": "P [mm]"})
        read_stations([entry], self.folder, 0, terrain(), [])


class LongTable(Table):
    """A long table with places and units of its own."""

    file = "long.csv"

    def make(self) -> None:
        lines = ["date,station,x,y,elevation,P,unit"]
        for day in range(1, 9):
            lines += [f"2010-01-{day:02d},A,{LEFT},{TOP},5,1.5,mm", f"2010-01-{day:02d},B,{RIGHT},{TOP},7,2.5,cm"]
        self.path.write_text("\n".join(lines), encoding="utf-8")

    def read(self) -> None:
        from wepl.build.stations import read_stations

        entry = table(file=self.file, variable="precipitation", station="station", unit="unit")
        read_stations([entry], self.folder, 0, terrain(), [])


class Workbook(Table):
    """A table of weather as a workbook."""

    file = "weather.xlsx"

    def make(self) -> None:
        super().make()
        self._book([line.split(",") for line in (self.folder / "weather.csv").read_text().splitlines()])

    def _book(self, rows: list[list[Any]]) -> None:
        import openpyxl

        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([_number(cell) for cell in row])
        book.save(self.path)

    def structure(self, draw: Draw) -> None:
        rows = [line.split(",") for line in (self.folder / "weather.csv").read_text().splitlines()]
        self._book(respelled(draw, rows)[0])


def _number(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell


class Legend(Table):
    """A legend of a class map."""

    file = "codes.csv"

    def make(self) -> None:
        self.path.write_text("code,kind,share\n1,grass,0.5\n1,shrub,0.5\n2,urban,1\n3,missing,1\n", encoding="utf-8")

    def read(self) -> None:
        from wepl.build.classes import land_legend

        land_legend(self.file, self.folder)


class Raster(Valley):
    """Rasters of a build."""

    values: np.ndarray = elevation()
    name = "dem"

    def structure(self, draw: Draw) -> None:
        import rasterio
        from affine import Affine

        values = self.values.astype(draw(st.sampled_from(("uint8", "int16", "float32", "float64", "int32", "uint16"))))
        with np.errstate(all="ignore"):
            flat = values.reshape(-1)
            number = draw(st.sampled_from((0, 255, -9999, 1e30, float("nan"), float("inf"), 8000, 101)))
            some = slice(0, draw(st.integers(1, flat.size)), draw(st.sampled_from((1, 2, 37))))
            flat[some] = np.asarray(number, dtype=float).astype(values.dtype)
        numbers = st.sampled_from((0.0, 1.0, 100.0, -100.0, 1e-9, 1e9, 0.001, 400_000.0, 3_200_000.0, 180.0))
        place = Affine(*(draw(st.one_of(st.just(own), numbers)) for own in (100.0, 0.0, 4e5, 0.0, -100.0, 3.2e6)))
        crs = draw(st.sampled_from(("EPSG:32650", "EPSG:32650", None, "EPSG:4326", "EPSG:3857", "EPSG:2263",
                                    "EPSG:4978", "+proj=ortho +lat_0=90")))
        height, width = draw(st.sampled_from((values.shape, values.shape, (1, 1600), (1600, 1), (1, 1))))
        with rasterio.open(self.path, "w", driver="GTiff", height=height, width=width, count=draw(st.integers(1, 2)),
                           dtype=values.dtype, crs=crs, transform=place) as target:
            target.write(np.resize(values, (height, width)), 1)
            target.nodata = draw(st.sampled_from((None, 0, 255, 101)))
            target.scales = [draw(st.sampled_from((1.0, 0.0, -1.0, 1e30, float("nan"))))] * target.count


class Dem(Raster):
    """An elevation model."""

    file = "dem.tif"


class Land(Raster):
    """A map of land cover."""

    file = "land.tif"
    values = np.full((SIDE, SIDE), 10)


class Soil(Raster):
    """A map of textures."""

    file = "soil.tif"
    values = np.full((SIDE, SIDE), 6)

    def make(self) -> None:
        super().make()
        (self.folder / "build.toml").write_text(TOML.replace('texture = "loam"', 'map = "soil.tif"\nclasses = "usda"'))


class Directions(Raster):
    """Flow directions."""

    file = "d8.tif"
    values = np.where(np.arange(SIDE) < 20, 3, np.where(np.arange(SIDE) > 20, 7, 5)) * np.ones((SIDE, 1), int)

    def make(self) -> None:
        super().make()
        write_raster(self.path, self.values.astype(np.uint8))
        (self.folder / "build.toml").write_text(
            TOML.replace('dem = "dem.tif"', 'd8 = "d8.tif"\nd8_encoding = "1n_clockwise"\noutlets = "all"')
            + "[parameters]\nunit_elevation = 100\nunit_slope = 0.1\nreach_slope = 0.001\n")


class Outline(Valley):
    """Polygons."""

    file = "outline.geojson"
    tree = {"type": "FeatureCollection", "crs": {"type": "name", "properties": {
        "name": "urn:ogc:def:crs:EPSG::32650"}}, "features": [{"type": "Feature", "properties": {}, "geometry": {
        "type": "Polygon", "coordinates": [[[401000.0, 3197000.0], [403000.0, 3197000.0], [403000.0, 3199000.0],
                                            [401000.0, 3199000.0], [401000.0, 3197000.0]]]}}]}

    def make(self) -> None:
        super().make()
        self.path.write_text(json.dumps(self.tree))

    def structure(self, draw: Draw) -> None:
        self.path.write_text(json.dumps(altered(draw, self.tree)), encoding="utf-8", errors="replace")

    def read(self) -> None:
        from rasterio.crs import CRS

        from wepl.build.terrain_outline import inside_outline
        from wepl.build.terrain_raster import read_grid

        CRS.from_epsg(32650)
        inside_outline(read_grid("dem.tif", self.folder, "auto", outline=self.file), self.file, self.folder)


class Gridded(NetCDF):
    """Gridded weather."""

    file = "era5.nc"

    def make(self) -> None:
        from small_grids import era5_land

        era5_land(self.path)

    def read(self) -> None:
        from wepl.build.forcing import build_forcing

        target = self.folder / "out.nc"
        target.unlink(missing_ok=True)
        build_forcing(forcing(grids=[grid(file=self.file)], step="1h"), terrain(), self.folder, target)


READERS: dict[str, Callable[[Path], Reader]] = {
    "basin": Basin, "weather": Weather, "state": State, "info-result": Info, "info-basin": InfoBasin,
    "info-state": InfoState, "compare": Compare, "toml": Toml, "table": Table, "places": Places,
    "long-table": LongTable, "workbook": Workbook, "legend": Legend, "dem": Dem, "land": Land, "soil": Soil,
    "directions": Directions, "outline": Outline, "gridded": Gridded}
__all__ = ["READERS", "netCDF4"]
