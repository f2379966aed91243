"""Rasters and outlines that lie are refused by a build: elevation, land, soil, flow directions, polygons."""

from __future__ import annotations

import json

import numpy as np
import pytest
import rasterio
from affine import Affine
from lying_files import BINARY, CONTENTS, PLACES
from refusal import lies, said
from small_maps import CELL, CRS, NORTH, SIDE, TOML, WEST, elevation, write_raster, write_valley

SOIL = TOML.replace('texture = "loam"', 'map = "soil.tif"\nclasses = "usda"')
OUTLINE = TOML.replace('dem = "dem.tif"', 'dem = "dem.tif"\noutline = "outline.geojson"')
NORTH_UP = Affine(CELL, 0.0, WEST, 0.0, -CELL, NORTH)


def raster(path, values, crs=CRS, transform=NORTH_UP, nodata=None, **more) -> None:
    """A GeoTIFF of one band whose grid may be anything."""
    with rasterio.open(path, "w", driver="GTiff", height=values.shape[0], width=values.shape[1], count=1,
                       dtype=values.dtype, crs=crs, transform=transform, nodata=nodata, **more) as target:
        target.write(values, 1)


def tile(value, kind="float32") -> np.ndarray:
    return np.full((SIDE, SIDE), value, kind)


def changed(value, kind="float32", rows=slice(3, 5)) -> np.ndarray:
    values = elevation().astype(kind)
    values[rows] = value
    return values


def sparse(path, side: int) -> None:
    """A raster of which nothing was written."""
    rasterio.open(path, "w", driver="GTiff", height=side, width=side, count=1, dtype="float32", crs=CRS,
                  transform=NORTH_UP, SPARSE_OK=True, tiled=True, BIGTIFF="YES").close()


NOWHERE = Affine(CELL, 0.0, 0.0, 0.0, -CELL, 0.0)
DEMS = {
    "no nodata": (lambda path: raster(path, changed(-9999.0)), "an elevation of -9999 m .*declare it as nodata"),
    "feet beyond the sky": (lambda path: raster(path, 300.0 * elevation()), "an elevation of .* is outside"),
    "a value of 1e30": (lambda path: raster(path, changed(1e30)), "an elevation of 1e.30 m is outside"),
    "nothing but nodata": (lambda path: raster(path, tile(-9999.0), nodata=-9999.0), "every cell is nodata"),
    "nothing but NaN": (lambda path: raster(path, tile(np.nan)), "every cell is nodata"),
    "nothing but infinities": (lambda path: raster(path, tile(np.inf)), "every cell is nodata"),
    "flat": (lambda path: raster(path, tile(7.0)), "every elevation is 7 m"),
    "no coordinate system": (lambda path: raster(path, elevation(), crs=None), "no coordinate reference system"),
    "degrees as metres": (lambda path: raster(path, elevation(), crs="EPSG:4326"), "dem.tif"),
    "Web Mercator far north": (lambda path: raster(path, elevation(), "EPSG:3857", Affine(1e5, 0, 0, 0, -1e5, 1e9)),
                               "dem.tif"),
    "a system in space": (lambda path: raster(path, elevation(), crs="EPSG:4978"), "dem.tif"),
    "a grid without extent": (lambda path: raster(path, elevation(), transform=Affine(0.0, 0, WEST, 0, 0.0, NORTH)),
                              "geotransform|grid|coordinate"),
    "a grid of NaN": (lambda path: raster(path, elevation(), transform=Affine(np.nan, 0, WEST, 0, -CELL, NORTH)),
                      "its geotransform .* is no grid"),
    "columns on columns": (lambda path: raster(path, elevation(), transform=Affine(CELL, 0, WEST, CELL, 0, NORTH)),
                           "its geotransform .* is no grid"),
    "a row": (lambda path: raster(path, elevation()[:1]), "dem.tif|gauge"),
    "a cell": (lambda path: raster(path, elevation()[:1, :1]), "dem.tif|gauge"),
    "gauge elsewhere": (lambda path: raster(path, elevation(), transform=Affine(CELL, 0, 5e5, 0, -CELL, 4e6)),
                        "gauge bridge .*outside"),
    "axes exchanged": (lambda path: raster(path, elevation(), transform=Affine(CELL, 0, NORTH, 0, -CELL, WEST)),
                       "dem.tif|gauge bridge"),
    "a million cells a side": (lambda path: sparse(path, 1_000_000), "too many|would take"),
    "thirty thousand cells a side": (lambda path: sparse(path, 30_000), "would take .* GB of memory|nodata|flat|every"),
    "numbers of two parts": (lambda path: raster(path, elevation().astype("complex64")), "dem.tif"),
}
LANDS = {
    "unknown codes": (lambda path: raster(path, tile(11, "uint8")), "the codes 11 are not in the legend esa_w"),
    "negative codes": (lambda path: raster(path, tile(-10, "int16")), "the codes -10 are not in the legend"),
    "fractions": (lambda path: raster(path, tile(10.5)), "holds fractions: it is no map of classes"),
    "codes of 1e30": (lambda path: raster(path, tile(1e30)), "land.tif"),
    "a picture of all values": (lambda path: raster(path, np.arange(SIDE**2, dtype="int32").reshape(SIDE, SIDE) + 300),
                                "are not in the legend|more than 2000"),
    "nothing but nodata": (lambda path: raster(path, tile(10, "uint8"), nodata=10), "no data on the catchment"),
    "nothing but NaN": (lambda path: raster(path, tile(np.nan)), "no data on the catchment"),
    "no coordinate system": (lambda path: raster(path, tile(10, "uint8"), crs=None), "no coordinate system"),
    "another zone": (lambda path: raster(path, tile(10, "uint8"), crs="EPSG:32618"), "land.tif"),
    "nowhere": (lambda path: raster(path, tile(10, "uint8"), transform=NOWHERE), "no data on the catchment"),
    "degrees as metres": (lambda path: raster(path, tile(10, "uint8"), crs="EPSG:4326"), "land.tif"),
    "a grid of NaN": (lambda path: raster(path, tile(10, "uint8"), transform=Affine(np.nan, 0, WEST, 0, -CELL, NORTH)),
                      "its geotransform .* is no grid"),
    "a grid of infinite cells": (lambda path: raster(path, tile(10, "uint8"),
                                                     transform=Affine(np.inf, 0, WEST, 0, -CELL, NORTH)), "geotransf"),
    "a million cells a side": (lambda path: sparse(path, 1_000_000), "would take|land.tif"),
}
SOILS = {
    "unknown textures": (lambda path: raster(path, tile(13, "uint8")), "the codes 13 are not in the legend usda"),
    "nothing but nought": (lambda path: raster(path, tile(0, "uint8")), "soil.tif"),
    "fractions": (lambda path: raster(path, tile(0.5)), "holds fractions"),
    "no coordinate system": (lambda path: raster(path, tile(6, "uint8"), crs=None), "no coordinate system"),
    "nowhere": (lambda path: raster(path, tile(6, "uint8"), transform=NOWHERE), "no data on the catchment"),
}


@pytest.fixture
def folder(tmp_path):
    """A valley that a test may spoil."""
    write_valley(tmp_path)
    return tmp_path


def spoilt(folder, file, make, pattern, toml=TOML):
    """Assert that a build with such a file is refused."""
    path = folder / file
    path.unlink(missing_ok=True)
    make(path)
    (folder / "build.toml").write_text(toml, encoding="utf-8")
    lies(path, pattern, "build", folder / "build.toml", "-o", folder / "basin.nc")


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
@pytest.mark.parametrize("name", DEMS)
def test_a_lying_elevation_model_is_refused(name, folder):
    spoilt(folder, "dem.tif", *DEMS[name])


@pytest.mark.parametrize("name", LANDS)
def test_a_lying_land_map_is_refused(name, folder):
    spoilt(folder, "land.tif", *LANDS[name])


@pytest.mark.parametrize("name", SOILS)
def test_a_lying_soil_map_is_refused(name, folder):
    spoilt(folder, "soil.tif", *SOILS[name], SOIL)


@pytest.mark.parametrize("file", ["dem.tif", "land.tif"])
@pytest.mark.parametrize("name", [*PLACES, *CONTENTS, *BINARY])
def test_a_raster_that_is_none_is_refused(name, file, folder):
    good = (folder / file).read_bytes()
    make = {**CONTENTS, **BINARY, **{place: lie for place, (lie, _) in PLACES.items()}}[name]
    spoilt(folder, file, lambda path: make(path, good), "no file|cannot be read|geotransform|no coordinate|pipe|device|"
           "recognized|elevation|nodata|no data|legend|gauge|overlap|coordinate")


def polygon(*corners) -> str:
    return json.dumps({"type": "FeatureCollection", "crs": {"type": "name", "properties": {
        "name": "urn:ogc:def:crs:EPSG::32650"}}, "features": [{"type": "Feature", "properties": {}, "geometry": {
            "type": "Polygon", "coordinates": [list(map(list, corners))]}}]})


SQUARE = ((401000, 3197000), (403000, 3197000), (403000, 3199000), (401000, 3199000), (401000, 3197000))
OUTLINES = {
    "empty": ("", "cannot be read as an outline"),
    "no JSON": ("a line around the lake", "cannot be read as an outline"),
    "cut short": (polygon(*SQUARE)[:-40], "cannot be read as an outline|holds no polygon"),
    "no feature": (json.dumps({"type": "FeatureCollection", "features": []}), "holds no polygon|cannot be read"),
    "a point": (polygon(*SQUARE).replace("[[[401000, 3197000]", "[[[1, 1]").replace('"Polygon"', '"Point"'),
                "holds no polygon|cannot be read"),
    "no ring": (polygon(), "outline.geojson"),
    "a ring of one corner": (polygon(SQUARE[0]), "outline.geojson"),
    "far away": (polygon(*((x + 1e6, y) for x, y in SQUARE)), "do not overlap"),
    "half outside": (polygon(*((x - 2500, y) for x, y in SQUARE)), "covers|holds data for|drains"),
    "words as corners": (polygon(*SQUARE).replace("403000", '"east"', 1), "outline.geojson"),
    "corners of 1e300": (polygon(*((1e300 * x, y) for x, y in SQUARE)), "outline.geojson"),
    "degrees as metres": (polygon(*((x / 4000, y / 110000) for x, y in SQUARE)), "do not overlap|outline.geojson"),
}


@pytest.mark.parametrize("name", OUTLINES)
def test_a_lying_outline_is_refused(name, folder):
    content, pattern = OUTLINES[name]
    spoilt(folder, "outline.geojson", lambda path: path.write_text(content), pattern, OUTLINE)


# What can be read safely is read.

def built(folder, toml=TOML) -> bytes:
    (folder / "build.toml").write_text(toml, encoding="utf-8")
    said(0, "build", folder / "build.toml", "-o", folder / "basin.nc")
    content = (folder / "basin.nc").read_bytes()
    (folder / "basin.nc").unlink()
    return content


@pytest.mark.parametrize("way", ["south up", "east to west", "doubles", "big-endian", "tiled", "packed"])
def test_the_same_elevations_in_another_form_give_the_same_basin(way, folder):
    expected = built(folder)
    path, values = folder / "dem.tif", elevation()
    path.unlink()
    if way == "south up":
        raster(path, values[::-1], transform=Affine(CELL, 0, WEST, 0, CELL, NORTH - SIDE * CELL))
    elif way == "east to west":
        raster(path, values[:, ::-1], transform=Affine(-CELL, 0, WEST + SIDE * CELL, 0, -CELL, NORTH))
    elif way == "packed":
        raster(path, (values * 10).astype("int16"))
        with rasterio.open(path, "r+") as target:
            target.scales = (0.1,)
    else:
        raster(path, values.astype("float64" if way == "doubles" else "float32"), **{
            "big-endian": {"ENDIANNESS": "BIG"}, "tiled": {"tiled": True, "blockxsize": 16, "blockysize": 16}}.get(
                way, {}))
    assert built(folder) == expected


def test_a_raster_of_tiles_may_not_lead_out_of_its_folder(folder, tmp_path_factory):
    far = tmp_path_factory.mktemp("far") / "far.tif"
    write_raster(far, elevation())
    vrt = f"""<VRTDataset rasterXSize="{SIDE}" rasterYSize="{SIDE}"><SRS>{CRS}</SRS>
        <GeoTransform>{WEST}, {CELL}, 0, {NORTH}, 0, -{CELL}</GeoTransform><VRTRasterBand dataType="Float32" band="1">
        <SimpleSource><SourceFilename relativeToVRT="0">{far}</SourceFilename><SourceBand>1</SourceBand></SimpleSource>
        </VRTRasterBand></VRTDataset>"""
    toml = TOML.replace("dem.tif", "dem.vrt")
    spoilt(folder, "dem.vrt", lambda path: path.write_text(vrt), "refers to another file: .*far.tif' leads out", toml)
    command = "build", folder / "build.toml", "-o", folder / "basin.nc"
    said(0, "--allow-outside", far.parent, *command)
    (folder / "dem.vrt").write_text(vrt.replace(str(far), str(folder / "dem.tif")))
    said(0, *command)
