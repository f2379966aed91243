"""TOML files of a build that lie, by rule: every key with every kind of wrong value, and names that lead away."""

from __future__ import annotations

import shutil
import tomllib

import pytest
from lying_files import CONTENTS, PLACES
from refusal import lies, said
from small_maps import TOML, write_valley

from wepl.build import config
from wepl.errors import InputError


@pytest.fixture(scope="module")
def valley(tmp_path_factory):
    return write_valley(tmp_path_factory.mktemp("valley")).parent


def refusal(folder, text) -> str:
    path = folder / "lying.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as caught:
        config.read(path)
    assert "lying.toml" in str(caught.value)
    return str(caught.value)


# By rule: each key of the valley's TOML.
KEYS = [(table, key) for table, content in tomllib.loads(TOML).items()
        for key in (content[0] if isinstance(content, list) else content if isinstance(content, dict) else [""])
        if key != "stations"]
WRONG = {"a date": "1999-12-31", "a table": "{ a = 1 }", "a list of lists": "[[1], [2]]", "true": "true",
         "no number": "nan", "infinity": "inf"}


def line_of(table, key) -> str:
    return next(line for line in TOML.splitlines() if line.startswith(f"{key or table} ="))


@pytest.mark.parametrize(("table", "key"), KEYS)
@pytest.mark.parametrize("kind", WRONG)
def test_a_value_of_a_wrong_kind_is_refused(table, key, kind, valley):
    wrong = f"{key or table} = {WRONG[kind]}"
    assert (key or table) in refusal(valley, TOML.replace(line_of(table, key), wrong, 1))


@pytest.mark.parametrize(("table", "key"), KEYS)
def test_an_unknown_key_is_refused(table, key, valley):
    wrong = line_of(table, key).replace(key or table, f"{key or table}_", 1)
    assert f"{key or table}_: unknown key" in refusal(valley, TOML.replace(line_of(table, key), wrong, 1))


@pytest.mark.parametrize(("text", "expected"), [
    (TOML.replace("=", ":"), "is not a TOML file"), (TOML + "[terrain]\n", "is not a TOML file"),
    (TOML.replace('"', "'", 1), "is not a TOML file"), (TOML.encode("utf-16"), "is not a TOML file"),
    (TOML.replace("Valley", "Göl").encode("latin-1"), "is not a TOML file"), (TOML[:200], "missing"),
    (TOML.replace("Valley", "Val\x00ley"), "is not a TOML file"), ("a = " + "[" * 5000, "is not a TOML file"),
    ("", "title: missing"), (TOML.replace("0.5", "0,5"), "is not a TOML file"),
    (TOML.replace("0.5", "1e400"), "stream_threshold_km2: inf"),
    (TOML.replace('"dem.tif"', '"dem\\u0000.tif"'), "name"),
    (TOML.replace('"dem.tif"', '""'), "the name of the file is empty"),
    (TOML.replace('"dem.tif"', '"' + "d" * 5000 + '"'), "terrain.dem"),
    (TOML.replace('"dem.tif"', '"DEM.TIF "'), "there is no file"),
])
def test_text_that_is_no_build_is_refused(text, expected, valley):
    assert expected in refusal(valley, text)


@pytest.mark.parametrize("name", [*PLACES, *CONTENTS])
def test_what_is_no_toml_file_is_refused(name, tmp_path):
    path = tmp_path / "lying.toml"
    {**CONTENTS, **{place: make for place, (make, _) in PLACES.items()}}[name](path, TOML.encode())
    lies(path, "no file|folder|pipe|device|symbolic links|is not a TOML file|missing", "build", path, "-o",
         tmp_path / "basin.nc")


# Names that lead out of the folder.

STRAY = ["/etc/passwd", "../dem.tif", "maps/../../dem.tif", "./../../../etc/passwd", "..", "/vsicurl/http://server/d.tif",
         "/vsizip/../dem.zip/dem.tif", "/vsistdin/", "https://server/dem.tif", "s3://bucket/dem.tif", "file:///etc/passwd",
         "../*.tif", "/etc/*"]
NAMED = {"dem": '"dem.tif"', "map": '"land.tif"', "classes": '"esa_worldcover"', "file": '"weather.csv"',
         "coordinates": '"stations.csv"'}


@pytest.mark.parametrize("key", NAMED)
@pytest.mark.parametrize("name", STRAY)
def test_a_name_may_not_lead_out_of_the_folder(name, key, valley):
    name = f"{name}/x.csv" if key == "classes" else name
    said_of = refusal(valley, TOML.replace(NAMED[key], f'"{name}"'))
    assert f".{key}: '{name}' leads out of the folder {valley}" in said_of.replace("[1]", "")
    assert "wepl --allow-outside" in said_of


def test_a_place_that_is_allowed_may_be_named(tmp_path):
    toml = write_valley(tmp_path / "valley")
    (tmp_path / "maps").mkdir()
    shutil.move(toml.parent / "dem.tif", tmp_path / "maps" / "dem.tif")
    for name in ("../maps/dem.tif", str(tmp_path / "maps" / "dem.tif")):
        toml.write_text(TOML.replace("dem.tif", name), encoding="utf-8")
        command = "build", toml, "--dry-run"
        said(0, "--allow-outside", tmp_path / "maps", *command)
        said(0, "--allow-outside", tmp_path, *command)
        # One command's leave is not another's.
        lies(toml, "leads out of the folder", *command)
        lies(toml, "leads out of the folder", "--allow-outside", tmp_path / "map", *command)


def test_names_inside_the_folder_and_links_are_followed(tmp_path):
    toml = write_valley(tmp_path / "valley")
    (tmp_path / "maps").mkdir()
    shutil.move(toml.parent / "dem.tif", tmp_path / "maps" / "dem.tif")
    (toml.parent / "maps").symlink_to(tmp_path / "maps")
    for name in ("maps/dem.tif", "./maps/dem.tif", str(toml.parent / "land.tif")):
        toml.write_text(TOML.replace("dem.tif" if "dem" in name else "land.tif", name)
                        .replace('"dem.tif"', '"maps/dem.tif"'), encoding="utf-8")
        config.read(toml)
    # Behind a link `..` is the folder of its target.
    toml.write_text(TOML.replace("dem.tif", "maps/../maps/dem.tif"), encoding="utf-8")
    with pytest.raises(InputError, match="leads out of the folder"):
        config.read(toml)


@pytest.mark.parametrize("way", ["a byte order mark", "lines of Windows", "remarks"])
def test_what_people_write_is_read_right(way, valley):
    text = {"a byte order mark": "\ufeff" + TOML, "lines of Windows": TOML.replace("\n", "\r\n"),
            "remarks": TOML.replace("\n", "  # 说明\n")}[way]
    (valley / "good.toml").write_bytes(text.encode())
    assert config.read(valley / "good.toml")[0].terrain.dem == "dem.tif"
