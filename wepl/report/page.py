"""The page: template, words, numbers and scripts put together and written."""

from __future__ import annotations

import html
import json
import math
import os
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from wepl.errors import InputError
from wepl.language import translate
from wepl.netcdf import publish, temporary_path, write_failure
from wepl.report import observed as observations
from wepl.report import sections
from wepl.report.encode import Blobs
from wepl.report.payload import fill
from wepl.report.read import ResultReader

if TYPE_CHECKING:
    from wepl.basin.dataset import Basin

# Characters of a page: mail and browsers still take it.
LIMIT = 24_000_000
_TABLES = 600_000
_LIBRARY = "uplot-1.6.32.min.js"
_SCRIPTS = ("data.js", "charts.js", "hydrographs.js", "map.js", "explore.js")


def write_report(result: str | os.PathLike[str], output: str | os.PathLike[str], *,
                 observed: str | os.PathLike[str] | None = None, basin: str | os.PathLike[str] | None = None,
                 language: str = "en") -> Path:
    """Write a report of a result: one HTML page that needs no other file and no network.

    Parameters
    ----------
    result : path
        A result file.
    output : path
        The page to write; an HTML file that is there is replaced.
    observed : path, optional
        Observed discharge, m3 s-1: a CSV file with a column of dates and a column for each gauge, headed by its name
        or identifier.
    basin : path, optional
        The basin file of the run: gives rain when the result has none, and outlines of the sub-basins.
    language : str
        ``en`` or ``zh``.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    InputError
        A file cannot be used, the language is unknown, or the result is too large for one page.
    """
    place = Path(output)
    translate("report.title", language)
    _check_target(place)
    opened = _open_basin(basin)
    with ResultReader(Path(result), opened) as reader:
        table = observations.read(Path(observed), reader.places, reader.steps) if observed is not None else None
        text = build(reader, table, language)
    unfinished = temporary_path(place)
    try:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        publish(unfinished, place)
    except OSError as error:
        raise write_failure(place, error) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return place


def build(reader: ResultReader, observed: observations.Observations | None, language: str) -> str:
    """The page as text."""
    scripts = "\n".join(asset(name) for name in _SCRIPTS)
    fixed = len(scripts) + len(asset(_LIBRARY)) + len(asset("report.css")) + _TABLES
    index, blobs, collected, skills = fill(reader, observed, language, LIMIT - fixed)
    parts = sections.all_sections(reader, collected, skills, observed is not None, language)
    words = {name: html.escape(translate(f"report.{name}", language)) for name in
             ("skip", "report", "theme_label", "theme_auto", "theme_light", "theme_dark", "sections", "noscript")}
    title = str(reader.attributes.get("title", reader.path.stem)).split(": simulated discharge")[0]
    return Template(asset("report.html")).substitute(
        words, language={"en": "en", "zh": "zh-CN"}[language], version=html.escape(sections.version(reader)),
        title=html.escape(translate("report.title", language, name=title)), heading=html.escape(title),
        facts=sections.facts(reader, language), navigation=sections.navigation(parts, language),
        content="\n".join(part.text for part in parts), footer=html.escape(translate("report.footer", language)),
        style=asset("report.css"), index=_json(index), blobs=_scripts(blobs), scripts=scripts,
        # The licence of the library asks that its text goes along.
        library=f"/*\n{asset('THIRD_PARTY.txt')}*/\n{asset(_LIBRARY)}")


def asset(name: str) -> str:
    """Text of one of the page's parts."""
    return files("wepl.report").joinpath("assets", name).read_text(encoding="utf-8")


def _scripts(blobs: Blobs) -> str:
    return "\n".join(f'<script type="text/plain" id="b{number}">{text}</script>'
                     for number, text in enumerate(blobs.texts))


def _json(value: Any) -> str:
    """JSON that cannot end the element it stands in; what is no number is null."""
    text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _check_target(place: Path) -> None:
    """Refuse a place where the page cannot be written or would replace something that is no page."""
    if place.is_dir():
        raise InputError(f"{place} is a folder; give the name of a page to write, such as {place / 'report.html'}")
    if not place.parent.is_dir():
        raise InputError(f"the folder {place.parent} does not exist; create it or write {place.name} elsewhere")
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise InputError(f"the folder {place.parent} is read-only; write {place.name} elsewhere")
    if place.exists() and place.stat().st_size > 0:
        with place.open("rb") as file:
            start = file.read(64).lstrip().lower()
        if not start.startswith((b"<!doctype html", b"<html")):
            raise InputError(f"{place} exists and is no HTML page; remove it or choose another name")


def _open_basin(path: str | os.PathLike[str] | None) -> Basin | None:
    if path is None:
        return None
    from wepl.basin.dataset import Basin

    return Basin.open(Path(path))
