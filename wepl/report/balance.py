"""The water balance on the page: key figures, the table, bars that end at the same place, stores, and single years."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from wepl import registry
from wepl.language import translate
from wepl.report.collect import LOCAL_RUNOFF, Collected
from wepl.report.read import RAIN, ResultReader
from wepl.report.words import variable_name

_TOTALS = (RAIN, "evapotranspiration", "runoff", "outflow", "deep_loss", "storage_change", "residual")
_CARDS = (RAIN, "evapotranspiration", "outflow", "storage_change")
_YEARLY = (RAIN, "evapotranspiration", *registry.EVAPORATION, LOCAL_RUNOFF, "runoff", "overland_runoff", "interflow",
           "percolation", "open_water_outflow")


def section(reader: ResultReader, collected: Collected, language: str) -> str:
    """The section of the water balance; it says so when the result holds none."""
    parts = [_years(reader, collected, language)]
    if "balance_term" in reader.dataset.variables:
        terms = [str(term) for term in reader.values("balance_term")]
        depth = dict(zip(terms, map(float, reader.values("balance_depth")), strict=True))
        volume = dict(zip(terms, map(float, reader.values("balance_volume")), strict=True))
        parts = [_cards(reader, depth, language), _bars(depth, language), _runoff(depth, language),
                 _stores(depth, language), _table(depth, volume, language), *parts]
    else:
        parts.insert(0, f'<p class="note">{_t("no_balance", language)}</p>')
    return "\n".join(part for part in parts if part)


def _t(key: str, language: str, **values: object) -> str:
    return html.escape(translate(f"report.{key}", language, **values))


def term_name(term: str, language: str) -> str:
    """Name of a term of the balance."""
    return translate(f"balance.{term}", language)


def _name(term: str, language: str) -> str:
    try:
        return html.escape(term_name(term, language))
    except KeyError:
        return html.escape(term.replace("_", " "))


def _depth(value: float) -> str:
    text = f"{value:.1e}" if value != 0.0 and abs(value) < 0.05 else f"{value:,.1f}"
    return text.replace("-", "\u2212")


def _cards(reader: ResultReader, depth: dict[str, float], language: str) -> str:
    cards = [f'<div><dt>{_name(term, language)}</dt><dd>{_depth(depth[term])} <span class="unit">mm</span></dd></div>'
             for term in _CARDS if term in depth]
    if depth.get(RAIN):
        ratio = depth.get("outflow", 0.0) / depth[RAIN]
        cards.append(f'<div><dt>{_t("runoff_ratio", language)}</dt><dd>{ratio:.2f}</dd></div>')
    if "water_balance_closure" in reader.attributes:
        closure = float(reader.attributes["water_balance_closure"])
        cards.append(f'<div><dt>{_t("closure_card", language)}</dt><dd>{closure:.1e}</dd></div>')
    return f'<p>{_t("balance_help", language)}</p>\n<dl class="cards">{"".join(cards)}</dl>'


def _stack(label: str, items: Sequence[tuple[str, float, str]], whole: float, language: str) -> str:
    """One bar of parts (name, depth, look), as wide as its share of ``whole``."""
    spans = "".join(f'<span style="width:{100 * value / whole:.4f}%;{look}" title="{name}: {_depth(value)} mm"></span>'
                    for name, value, look in items if value > 0.0)
    said = ", ".join(f"{name} {_depth(value)} mm" for name, value, _ in items if value > 0.0)
    total = sum(value for _, value, _ in items)
    return (f'<div class="row"><div>{label}<br><span class="quiet">{_depth(total)} mm</span></div>'
            f'<div class="bar" role="img" aria-label="{label}: {said}">{spans}</div></div>')


def _keys(items: Sequence[tuple[str, float, str]], total: float) -> str:
    rows = "".join(f'<li><span class="swatch" style="{look}"></span>{name} {_depth(value)} mm '
                   f'<span class="quiet">({100 * value / total:.1f} %)</span></li>'
                   for name, value, look in items if value > 0.0)
    return f'<ul class="keylist">{rows}</ul>'


def _look(number: int, hatched: bool = False) -> str:
    hatch = ";background-image:repeating-linear-gradient(45deg,transparent 0 5px,rgb(255 255 255/50%) 5px 8px)"
    return f"--colour:var(--c{number}){hatch if hatched else ''}"


def _bars(depth: dict[str, float], language: str) -> str:
    """What came in above what it became: two bars of one length when the balance closes."""
    change = depth.get("storage_change", 0.0)
    gains = [(_name("rainfall", language), depth.get("rainfall", 0.0), _look(1)),
             (_name("snowfall", language), depth.get("snowfall", 0.0), _look(5))]
    if change < 0.0:
        gains.append((_t("from_storage", language), -change, _look(7, hatched=True)))
    looks = [_look(3), _look(3, hatched=True), _look(2), _look(6), _look(2, hatched=True), _look(8)]
    losses = [(_name(name, language), depth.get(name, 0.0), look)
              for name, look in zip(registry.EVAPORATION, looks, strict=False)]
    losses += [(_name("outflow", language), depth.get("outflow", 0.0), _look(4)),
               (_name("deep_loss", language), depth.get("deep_loss", 0.0), _look(6, hatched=True))]
    if change > 0.0:
        losses.append((_t("to_storage", language), change, _look(7, hatched=True)))
    whole = max(sum(value for _, value, _ in gains), sum(value for _, value, _ in losses))
    if whole <= 0.0:
        return ""
    total = depth.get(RAIN) or whole
    return f"""<h3>{_t("in_and_out", language)}</h3>
<div class="bars">{_stack(_t("water_in", language), gains, whole, language)}
{_stack(_t("water_out", language), losses, whole, language)}</div>
{_keys(gains, total)}
{_keys(losses, total)}
<p class="quiet">{_t("share_of_rain", language)}</p>"""


def _runoff(depth: dict[str, float], language: str) -> str:
    looks = {"overland_inflow": 4, "interflow": 2, "open_water_outflow": 5, "groundwater_discharge": 1}
    items = [(_name(name, language), depth.get(name, 0.0), _look(look)) for name, look in looks.items()]
    whole = sum(max(0.0, value) for _, value, _ in items)
    if whole <= 0.0:
        return ""
    return f"""<h3>{_t("runoff_sources", language)}</h3>
<div class="bars">{_stack(_name("runoff", language), items, whole, language)}</div>
{_keys(items, whole)}"""


def _stores(depth: dict[str, float], language: str) -> str:
    stores = {term: value for term, value in depth.items() if term.endswith("_change") and term != "storage_change"}
    most = max((abs(value) for value in stores.values()), default=0.0)
    if most <= 0.0:
        return ""
    rows = []
    for term, value in stores.items():
        shown = f"{value:+.1f}".replace("-", "\u2212")
        width = 50.0 * abs(value) / most
        left = 50.0 if value >= 0.0 else 50.0 - width
        look = f"left:{left:.3f}%;width:{width:.3f}%;{_look(1 if value >= 0.0 else 4)}"
        rows.append(f'<div>{_name(term, language)}</div><div class="track" aria-hidden="true">'
                    f'<span style="{look}"></span></div>'
                    f'<div class="value">{shown} mm</div>')
    return f'<h3>{_t("stores", language)}</h3>\n<div class="diverging">{"".join(rows)}</div>'


def _table(depth: dict[str, float], volume: dict[str, float], language: str) -> str:
    total = depth.get(RAIN, 0.0)
    rows = []
    for term, value in depth.items():
        kind = "total" if term in _TOTALS else "part"
        share = f"{100 * value / total:.2f}" if total and abs(value) > 1e-6 * total else "0" if total else "–"
        rows.append(f'<tr class="{kind}"><th scope="row">{_name(term, language)}</th><td>{_depth(value)}</td>'
                    f"<td>{_volume(volume[term])}</td><td>{share}</td></tr>")
    head = "".join(f'<th scope="col">{_t(f"head_{name}", language)}</th>' for name in ("term", "mm", "volume", "share"))
    return f"""<h3>{_t("balance_table", language)}</h3>
<div class="scroll" tabindex="0" role="region" aria-label="{_t("balance_table", language)}">
<table id="terms"><caption>{_t("balance_caption", language)}</caption>
<thead><tr>{head}</tr></thead><tbody>
{"".join(rows)}</tbody></table></div>"""


def _volume(value: float) -> str:
    scaled = value / 1e8
    return f"{scaled:.1e}" if scaled != 0.0 and abs(scaled) < 5e-4 else f"{scaled:,.3f}"


def _years(reader: ResultReader, collected: Collected, language: str) -> str:
    """Basin means of what adds up, by year."""
    if not np.isfinite(reader.area).all():
        return ""
    weight = reader.area / reader.area.sum()
    shown = [name for name in _YEARLY if name in collected.yearly]
    if not shown:
        return ""
    series = {name: np.nansum(collected.yearly[name].values * weight, axis=1) for name in shown}
    periods = collected.yearly[shown[0]].periods
    complete = reader.steps.complete_years()
    rows = []
    for place in range(periods.count):
        year = str(int(reader.steps.date[periods.first[place]]) // 10000)
        mark = "" if complete[place] else " " + translate("page.part_year", language)
        rows.append(f'<tr><th scope="row">{html.escape(year + mark)}</th>'
                    + "".join(f"<td>{_depth(float(series[name][place]))}</td>" for name in shown) + "</tr>")
    head = "".join(f'<th scope="col">{html.escape(variable_name(name, language))} (mm)</th>' for name in shown)
    return f"""<h3>{_t("years_table", language)}</h3>
<div class="scroll" tabindex="0" role="region" aria-label="{_t("years_table", language)}">
<table id="yearly"><caption>{_t("years_caption", language)}</caption>
<thead><tr><th scope="col">{_t("year", language)}</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>"""
