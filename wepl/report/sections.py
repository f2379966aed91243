"""The parts of the page that stand as text: key figures, water balance, skill, provenance, and frames for charts."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wepl import registry
from wepl.language import translate
from wepl.report import balance
from wepl.report.collect import Collected
from wepl.report.observed import LOG_OFFSET, Skill
from wepl.report.read import RAIN, ResultReader
from wepl.report.words import unit_text


@dataclass(frozen=True)
class Part:
    """A section: its anchor and its HTML."""

    anchor: str
    text: str


def all_sections(reader: ResultReader, collected: Collected, skills: Sequence[Skill], has_observed: bool,
                 language: str) -> list[Part]:
    """Sections in the page's order."""
    made = [("hydrographs", _hydrographs(reader, collected, has_observed, language)),
            ("basinmap", _map(reader, language)),
            ("balance", balance.section(reader, collected, language)),
            ("season", _season(language)),
            ("skill", _skill(reader, skills, language) if has_observed else ""),
            ("provenance", _provenance(reader, language))]
    return [Part(anchor, f'<section id="{anchor}" aria-labelledby="{anchor}-name">\n<h2 id="{anchor}-name">'
                         f"{_t(anchor, language)}</h2>\n{text}\n</section>") for anchor, text in made if text]


def navigation(parts: Sequence[Part], language: str) -> str:
    """Links to the sections."""
    return "\n".join(f'<li><a href="#{part.anchor}">{_t(part.anchor, language)}</a></li>' for part in parts)


def facts(reader: ResultReader, language: str) -> str:
    """The line below the title: period, size, closure."""
    steps, sizes = reader.steps, reader.dataset.sizes
    hours = steps.step_seconds / 3600
    step = translate("report.step_day" if hours == 24 else "report.step_hours", language, hours=f"{hours:g}")
    parts = [f"{_moment(steps.start)} – {_moment(steps.end)}", f"{steps.count} × {step}",
             translate("report.size", language, subbasins=sizes["subbasin"], units=sizes.get("unit", 0))]
    if np.isfinite(reader.area).all():
        parts.append(f"{reader.area.sum():,.0f} km²")
    if "water_balance_closure" in reader.attributes:
        parts.append(translate("report.closure_short", language,
                               closure=f"{float(reader.attributes['water_balance_closure']):.1e}"))
    return html.escape(" · ".join(parts))


def version(reader: ResultReader) -> str:
    """Version of wepl that writes the page."""
    from wepl import __version__

    return str(__version__)


def _moment(moment: object) -> str:
    return str(moment).removesuffix(":00").removesuffix(" 00:00")


def _t(key: str, language: str, **values: object) -> str:
    return html.escape(translate(f"report.{key}", language, **values))


def _hydrographs(reader: ResultReader, collected: Collected, has_observed: bool, language: str) -> str:
    notes = []
    if collected.rain is None:
        notes.append(_t("no_rain", language))
    if not has_observed:
        notes.append(_t("no_observed", language))
    buttons = "\n".join(f'<button type="button" id="{name}">{_t(name, language)}</button>'
                        for name in ("zoomin", "zoomout", "earlier", "later", "whole"))
    return f"""<p>{_t("hydrographs_help", language)}</p>
<details><summary>{_t("keyboard", language)}</summary><p id="chartkeys">{_t("chart_keys", language)}</p></details>
{_notes(notes)}
<fieldset id="places"><legend>{_t("places", language)}</legend></fieldset>
<div class="controls" role="group" aria-label="{_t("view", language)}">
{buttons}
<label><input type="checkbox" id="log"> {_t("log_axis", language)}</label>
<span id="window" class="quiet push"></span>
<button type="button" id="saveflows">{_t("save_csv", language)}</button>
</div>
<p id="nogauge" class="note" hidden>{_t("no_place", language)}</p>
<div id="flowcharts"></div>
<details id="flowtable"><summary>{_t("flow_table", language)}</summary><div class="holder"></div></details>"""


def _map(reader: ResultReader, language: str) -> str:
    held = {quantity.name for quantity in reader.quantities}
    wanted = [name for name in (RAIN, "evapotranspiration", *registry.EVAPORATION, "runoff", "percolation",
                                "soil_moisture") if name not in held]
    notes = [_t("more_variables", language, names=", ".join(wanted))] if wanted else []
    return f"""<p>{_t("map_help", language)}</p>
<details><summary>{_t("keyboard", language)}</summary><p id="mapkeys">{_t("map_keys", language)}</p></details>
{_notes(notes)}
<div class="split stick">
<div>
<div class="controls">
<label>{_t("variable", language)} <select id="variable"></select></label>
<label>{_t("year", language)} <select id="year"></select></label>
<form id="find" class="controls"><label for="number">{_t("subbasin", language)}</label>
<input id="number" inputmode="numeric" size="7" autocomplete="off">
<button type="submit">{_t("show", language)}</button></form>
</div>
<div class="mapbox"><canvas id="map" role="application" tabindex="0" aria-label="{_t("basinmap", language)}"
 aria-roledescription="{_t("map_role", language)}" aria-describedby="mapkeys"></canvas>
<div id="maphint" aria-hidden="true">{_t("map_hint", language)}</div></div>
<div id="scale" class="scale"></div>
<div class="controls" role="group" aria-label="{_t("map_view", language)}">
<button type="button" id="mapin">{_t("zoomin", language)}</button>
<button type="button" id="mapout">{_t("zoomout", language)}</button>
<button type="button" id="mapall">{_t("mapall", language)}</button>
<label><input type="checkbox" id="rivers" checked> {_t("rivers", language)}</label></div>
<details id="maptable"><summary>{_t("map_table", language)}</summary><div class="holder"></div></details>
</div>
<div>
<p id="nodetail" class="note">{_t("choose_first", language)}</p>
<div id="detail" hidden>
<h3 id="detailname"></h3>
<p id="detailfacts"></p>
<div id="neighbours" class="controls" role="group" aria-label="{_t("neighbours", language)}"></div>
<div id="detailcharts"></div>
<p id="detailnote" class="quiet"></p>
<details id="detailtable" open><summary>{_t("detail_table", language)}</summary><div class="holder"></div></details>
</div>
</div>
</div>"""


def _season(language: str) -> str:
    frames = "\n".join(f"""<div><figure id="{name}" class="chart"></figure>
<p id="{name}note" class="quiet"></p>
<details id="{name}table"><summary>{_t("table_behind", language)}</summary><div class="holder"></div></details></div>"""
                       for name in ("regime", "duration"))
    return f"""<div class="controls"><label for="place">{_t("place", language)}</label><select id="place"></select>
<label><input type="checkbox" id="follow"> {_t("follow", language)}</label></div>
<div class="split">
{frames}
</div>"""


def _skill(reader: ResultReader, skills: Sequence[Skill], language: str) -> str:
    head = ("gauge", "pairs", "kge", "r", "alpha", "beta", "nse", "log_nse", "bias", "compared")
    rows = []
    for item in skills:
        numbers = (item.efficiency, item.correlation, item.variability, item.bias, item.nash_sutcliffe,
                   item.log_nash_sutcliffe)
        cells = "".join(f"<td>{_measure(value, 3)}</td>" for value in numbers)
        place = reader.places[item.place]
        name = place.name or translate("page.outlet", language).replace("{id}", place.identifier)
        rows.append(f'<tr><th scope="row">{html.escape(name)}</th><td>{item.pairs}</td>{cells}'
                    f"<td>{_measure(item.percent_bias, 1, signed=True)}</td><td>{item.first} – {item.last}</td></tr>")
    heads = _heads("skill", head, language)
    return f"""<div class="scroll" tabindex="0" role="region" aria-label="{_t("skill_caption", language)}">
<table id="skills"><caption>{_t("skill_caption", language)}</caption><thead><tr>{heads}</tr></thead>
<tbody>{"".join(rows)}</tbody></table></div>
<p class="quiet">{_t("skill_note", language, share=f"{LOG_OFFSET:g}")}</p>"""


def _heads(group: str, names: Sequence[str], language: str) -> str:
    return "".join(f'<th scope="col">{_t(f"{group}_{name}", language)}</th>' for name in names)


def _measure(value: float, decimals: int, signed: bool = False) -> str:
    if not math.isfinite(value):
        return "–"
    return f"{value:+.{decimals}f}" if signed else f"{value:.{decimals}f}"


def _provenance(reader: ResultReader, language: str) -> str:
    facts_of = reader.attributes
    closure = facts_of.get("water_balance_closure")
    rows = [("file", reader.path.name), ("command", command(reader)), ("history", facts_of.get("history", "")),
            ("wepl_version", facts_of.get("wepl_version", "")), ("backend", facts_of.get("backend", "")),
            ("precision", facts_of.get("precision", "")), ("basin_file", facts_of.get("basin_file", "")),
            ("basin_hash", facts_of.get("basin_hash", "")), ("calendar", reader.steps.calendar),
            ("closure", "" if closure is None else f"{float(closure):.2e}")]
    code = {"command", "file", "basin_file", "basin_hash", "history"}
    cells = []
    for key, value in rows:
        shown = html.escape(str(value)) or "–"
        cells.append(f'<tr><th scope="row">{_t(f"made_{key}", language)}</th><td class="text">'
                     f"{f'<code>{shown}</code>' if key in code else shown}</td></tr>")
    return f"""<div class="scroll" tabindex="0" role="region" aria-label="{_t("made_caption", language)}">
<table id="made"><caption>{_t("made_caption", language)}</caption><tbody>
{"".join(cells)}</tbody></table></div>
{_options(reader, language)}
{_closures(reader, language)}"""


def _options(reader: ResultReader, language: str) -> str:
    """All options of the run, those that were changed first."""
    try:
        options = json.loads(str(reader.attributes.get("options", "{}")))
    except json.JSONDecodeError:
        options = {}
    known = {entry.name: entry for entry in registry.of_kind("option")}
    changed = {name for name in options if f"option_{name}" in reader.attributes}
    rows = []
    for name in sorted(options, key=lambda name: name not in changed):
        value = options[name]
        shown = f"{value:g}" if isinstance(value, int | float) else str(value)
        unit = unit_text(known[name].units) if name in known and not isinstance(value, str) else ""
        mark = _t("option_changed", language) if name in changed else _t("option_default", language)
        rows.append(f'<tr><th scope="row"><code>{html.escape(name)}</code></th><td>{html.escape(shown)}</td>'
                    f"<td>{html.escape(unit)}</td><td>{mark}</td></tr>")
    if not rows:
        return ""
    head = _heads("option", ("name", "value", "unit", "state"), language)
    label = _t("options_caption", language, changed=len(changed), count=len(options))
    return f"""<details><summary>{label}</summary>
<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table><caption>{label}</caption>
<thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div></details>"""


def _closures(reader: ResultReader, language: str) -> str:
    """The budgets that the run closed, and where each closes worst."""
    names = ("balance_process", "balance_worst_place", "balance_residual", "balance_closure")
    if any(name not in reader.dataset.variables for name in names):
        return ""
    rows = "".join(
        f'<tr><th scope="row">{html.escape(str(process))}</th><td class="text">{html.escape(str(where))}</td>'
        f"<td>{residual:.1e}</td><td>{closure:.1e}</td></tr>"
        for process, where, residual, closure in zip(*(reader.values(name) for name in names), strict=True))
    head = _heads("closure", ("budget", "where", "mm", "share"), language)
    label = _t("closures_caption", language)
    return f"""<details><summary>{label}</summary>
<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table><caption>{label}</caption>
<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>"""


def command(reader: ResultReader) -> str:
    """A command that makes the result again."""
    facts_of = reader.attributes
    parts = ["wepl run", str(facts_of.get("basin_file") or "BASIN.nc"), "--output", reader.path.name]
    for name in ("backend", "precision"):
        if name in facts_of:
            parts += [f"--{name}", str(facts_of[name])]
    steps = reader.steps
    hourly = steps.step_seconds % 86400 != 0
    date = steps.date
    ends = [f"{day // 10000:04d}-{day // 100 % 100:02d}-{day % 100:02d}"
            + (f"T{minute // 60:02d}:{minute % 60:02d}" if hourly else "")
            for day, minute in ((int(date[0]), int(steps.minute[0])), (int(date[-1]), int(steps.minute[-1])))]
    parts += ["--start", ends[0], "--end", ends[1]]
    names = list(dict.fromkeys(quantity.name for quantity in reader.quantities
                               if quantity.name in reader.dataset.variables and quantity.name != "discharge"))
    if names:
        parts += ["--variables", ",".join(names)]
    changed = json.loads(str(facts_of.get("options_changed", "{}")) or "{}")
    for name, value in sorted(changed.items()):
        parts += ["--set", f"{name}={value}"]
    return " ".join(parts)


def _notes(notes: Sequence[str]) -> str:
    return "\n".join(f'<p class="note">{note}</p>' for note in notes)
