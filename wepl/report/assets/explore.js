// Choosing on the map: variable, year and sub-basin; the series and table of the chosen one; and the start of the page.
"use strict";

wepl.variable = () => wepl.index.variables[Number(document.getElementById("variable").value)];
wepl.yearRow = () => Number(document.getElementById("year").value);
wepl.yearName = (row) => (row === 0 ? wepl.text(wepl.index.years.complete.some(Boolean) ? "mean_year" : "whole_run")
  : `${wepl.index.years.names[row - 1]}${wepl.index.years.complete[row - 1] ? "" : ` ${wepl.text("part_year")}`}`);
wepl.mapUnit = (variable) => (variable.summed && (wepl.yearRow() > 0 || wepl.index.years.complete.some(Boolean))
  ? wepl.text("per_year", { unit: variable.unit }) : variable.unit);

/** Colour the map by the chosen variable and year. */
wepl.showVariable = async () => {
  const variable = wepl.variable(), state = wepl.map, row = wepl.yearRow(), years = await wepl.array(variable.yearly);
  state.values = wepl.row(years, row, state.count);
  // One scale for all years, so that years can be compared by eye.
  state.scale = wepl.colourScale(row === 0 ? state.values : years.subarray(state.count));
  wepl.colourMap();
  wepl.drawMap();
  const label = `${wepl.withUnit(variable.name, wepl.mapUnit(variable))}, ${wepl.yearName(row)}`;
  wepl.drawScale(label);
  const finite = state.values.filter(Number.isFinite);
  document.getElementById("map").setAttribute("aria-label", wepl.text("map_label", { label, count: state.count,
    low: wepl.number(finite.reduce((a, b) => Math.min(a, b), Infinity)), high: wepl.number(finite.reduce((a, b) => Math.max(a, b), -Infinity)) }));
  wepl.mapPage = 0;
  if (document.getElementById("maptable").open) wepl.fillMapTable();
};

wepl.drawScale = (label) => {
  const { scale } = wepl.map, box = document.getElementById("scale");
  if (!scale) { box.replaceChildren(wepl.make("p", { class: "label" }, wepl.text("no_values"))); return; }
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => wepl.tick(scale.back(part)));
  if (scale.below) marks[0] = `≤ ${marks[0]}`;
  if (scale.above) marks[4] = `≥ ${marks[4]}`;
  box.replaceChildren(wepl.make("p", { class: "label" }, `${label}${scale.log ? wepl.text("log_scale") : ""}`),
    wepl.make("div", { class: "ramp", style: `background: linear-gradient(to right, ${scale.stops.join(",")})` }),
    wepl.make("div", { class: "ticks" }, ...marks.map((mark) => wepl.make("span", {}, mark))));
};

wepl.fillMapTable = () => {
  const state = wepl.map, size = 50, pages = Math.ceil(state.count / size), first = wepl.mapPage * size;
  const places = Array.from({ length: Math.min(size, state.count - first) }, (unused, number) => first + number);
  const variable = wepl.variable();
  const table = wepl.table(wepl.text("map_caption", { name: variable.name, year: wepl.yearName(wepl.yearRow()) }),
    [wepl.text("subbasin_head"), wepl.withUnit(variable.name, wepl.mapUnit(variable)), wepl.text("area_head"), wepl.text("below_head")],
    places.map((place) => [wepl.make("button", { onclick: () => wepl.choose(place) }, String(state.ids[place])), wepl.number(state.values[place]),
      wepl.number(state.area[place]), state.downstream[place] < 0 ? wepl.text("outlet_word") : String(state.ids[state.downstream[place]])]));
  const turn = (by) => { wepl.mapPage += by; wepl.fillMapTable(); };
  const pager = wepl.make("p", { class: "controls pages" },
    wepl.make("button", { disabled: wepl.mapPage === 0, onclick: () => turn(-1) }, wepl.text("previous")),
    wepl.make("span", {}, wepl.text("page_of", { page: wepl.mapPage + 1, pages })),
    wepl.make("button", { disabled: wepl.mapPage + 1 >= pages, onclick: () => turn(1) }, wepl.text("next")));
  document.querySelector("#maptable .holder").replaceChildren(wepl.frame(table), ...(pages > 1 ? [pager] : []));
};

/** Choose a sub-basin: mark it, and show its series and its table. */
wepl.choose = async (place) => {
  if (place < 0 || place >= wepl.map.count) return;
  const state = wepl.map;
  state.chosen = place;
  wepl.chosenId = String(state.ids[place]);
  wepl.drawMap();
  document.getElementById("number").value = wepl.chosenId;
  document.getElementById("detailname").textContent = wepl.text("subbasin", { id: wepl.chosenId });
  const gauges = wepl.index.places.flatMap((gauge, number) => (gauge.subbasin === place && gauge.name ? [gauge.name] : []));
  document.getElementById("detailfacts").textContent = [
    ...(Number.isFinite(state.area[place]) ? [wepl.text("area_is", { area: wepl.number(state.area[place]), upstream: wepl.number(state.upstream[place]) })] : []),
    ...gauges.map((name) => wepl.text("gauge_is", { name }))].join(" ");
  wepl.drawNeighbours(place);
  wepl.say(wepl.text("chosen", { id: wepl.chosenId, name: wepl.variable().name, value: wepl.number(state.values[place]),
    unit: wepl.mapUnit(wepl.variable()) }));
  const select = document.getElementById("place");
  select.querySelector("option[value^=s]")?.remove();
  select.append(wepl.make("option", { value: `s${place}` }, wepl.text("subbasin", { id: wepl.chosenId })));
  document.getElementById("detail").hidden = false;
  document.getElementById("nodetail").hidden = true;
  await wepl.drawDetail();
};

wepl.drawNeighbours = (place) => {
  const state = wepl.map, above = [];
  state.downstream.forEach((below, other) => { if (below === place) above.push(other); });
  above.sort((a, b) => state.upstream[b] - state.upstream[a]);
  const go = (other, key) => wepl.make("button", { onclick: () => wepl.choose(other) }, wepl.text(key, { id: state.ids[other] }));
  document.getElementById("neighbours").replaceChildren(
    ...(state.downstream[place] >= 0 ? [go(state.downstream[place], "go_down")] : []), ...above.slice(0, 4).map((other) => go(other, "go_up")));
};

wepl.drawDetail = async () => {
  const place = wepl.map.chosen;
  if (place < 0) return;
  const variable = wepl.variable(), figures = document.getElementById("detailcharts"), turn = (wepl.turn = (wepl.turn || 0) + 1);
  const [values, axis, flow] = await Promise.all([wepl.series(variable, place), wepl.axis(variable.level), wepl.flowOfSubbasin(place, wepl.chosenId)]);
  // A later click may have overtaken this one while its series were unpacked.
  if (turn !== wepl.turn) return;
  for (const figure of figures.children) wepl.dropChart(figure);
  const own = variable.key !== "discharge";
  figures.replaceChildren(...(own ? [wepl.make("figure", { class: "chart" })] : []), wepl.make("figure", { class: "chart" }));
  if (own) wepl.chart(figures.children[0], { name: variable.name, unit: wepl.unitOf(variable), x: axis.middle, ends: [0, axis.end], timeAxis: axis, zero: true, height: 190,
    linked: true, lines: [{ label: variable.name, raw: values, values: wepl.drawable(values), colour: "second" }],
    xName: (period) => wepl.periodName(axis, period) });
  wepl.hydrograph(figures.lastElementChild, { ...flow, name: wepl.text("discharge_of") }, { height: 210, log: document.getElementById("log").checked });
  document.getElementById("detailnote").textContent = wepl.text("detail_note", { level: wepl.text(`level_${variable.level}`) });
  const { names } = wepl.index.years, rows = await Promise.all(wepl.index.variables.map(async (entry) => {
    const years = await wepl.array(entry.yearly);
    return [wepl.withUnit(entry.name, entry.unit), ...[0, ...names.map((unused, number) => number + 1)].map((row) => wepl.number(years[row * wepl.map.count + place]))];
  }));
  if (turn !== wepl.turn) return;
  document.querySelector("#detailtable .holder").replaceChildren(wepl.frame(wepl.table(wepl.text("detail_caption", { id: wepl.chosenId }),
    [wepl.text("variable_head"), ...[0, ...names.map((unused, number) => number + 1)].map(wepl.yearName)], rows)));
  if (document.getElementById("place").value.startsWith("s") || document.getElementById("follow").checked) {
    document.getElementById("place").value = `s${place}`;
    await wepl.drawPlace();
  }
};

/** The nearest sub-basin in the direction of an arrow key. */
wepl.step = (dx, dy) => {
  const state = wepl.map, from = state.chosen;
  if (from < 0) return wepl.choose(wepl.index.places[0]?.subbasin ?? 0);
  let best = -1, least = Infinity;
  for (let place = 0; place < state.count; place++) {
    const x = state.cx[place] - state.cx[from], y = state.cy[place] - state.cy[from];
    const along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
    if (along <= 1e-9 || across > along) continue;
    if (along + 2 * across < least) [best, least] = [place, along + 2 * across];
  }
  return best >= 0 ? wepl.choose(best) : undefined;
};

wepl.mapKey = (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const actions = { ArrowLeft: () => wepl.step(-1, 0), ArrowRight: () => wepl.step(1, 0), ArrowUp: () => wepl.step(0, -1), ArrowDown: () => wepl.step(0, 1),
    "+": () => wepl.mapZoom(1.5), "=": () => wepl.mapZoom(1.5), "-": () => wepl.mapZoom(1 / 1.5), 0: () => wepl.mapZoom(0),
    d: () => wepl.choose(wepl.map.downstream[wepl.map.chosen] ?? -1) };
  if (!(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
};

wepl.mapPointers = (canvas) => {
  const hint = document.getElementById("maphint"), state = wepl.map;
  let grip = null;
  canvas.addEventListener("pointerdown", (event) => { grip = { x: event.offsetX, y: event.offsetY, mx: state.x, my: state.y, moved: false }; });
  canvas.addEventListener("pointermove", (event) => {
    if (grip && event.buttons && state.zoom > 1) {
      const { sx, sy } = wepl.mapView();
      grip.moved ||= Math.hypot(event.offsetX - grip.x, event.offsetY - grip.y) > 4;
      if (grip.moved) {
        state.x = grip.mx - (event.offsetX - grip.x) / sx;
        state.y = grip.my - (event.offsetY - grip.y) / sy;
        wepl.planMap();
        return;
      }
    }
    const under = wepl.subbasinAt(event.offsetX, event.offsetY);
    if (under === state.under) return;
    state.under = under;
    hint.textContent = under < 0 ? wepl.text("map_hint") : `${wepl.text("subbasin", { id: state.ids[under] })}: ${wepl.number(state.values[under])} ${wepl.mapUnit(wepl.variable())}`;
    canvas.style.cursor = under < 0 ? "default" : "pointer";
    wepl.planMap();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (grip && !grip.moved) wepl.choose(wepl.subbasinAt(event.offsetX, event.offsetY));
    grip = null;
  });
  canvas.addEventListener("pointerleave", () => { grip = null; state.under = -1; hint.textContent = wepl.text("map_hint"); wepl.planMap(); });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    wepl.mapZoom(event.deltaY > 0 ? 1 / 1.25 : 1.25, event.offsetX, event.offsetY);
  }, { passive: false });
  canvas.addEventListener("keydown", wepl.mapKey);
};

wepl.startMap = async () => {
  await wepl.loadMap();
  const variable = document.getElementById("variable"), year = document.getElementById("year"), number = document.getElementById("number");
  wepl.index.variables.forEach((entry, place) => variable.append(wepl.make("option", { value: place }, wepl.withUnit(entry.name, entry.unit))));
  [0, ...wepl.index.years.names.map((unused, place) => place + 1)].forEach((row) => year.append(wepl.make("option", { value: row }, wepl.yearName(row))));
  variable.addEventListener("change", async () => { await wepl.showVariable(); await wepl.drawDetail(); });
  year.addEventListener("change", wepl.showVariable);
  document.getElementById("rivers").addEventListener("change", wepl.drawMap);
  document.getElementById("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const place = wepl.map.ids.findIndex((id) => String(id) === number.value.trim());
    number.setAttribute("aria-invalid", String(place < 0));
    if (place < 0) wepl.say(wepl.text("no_subbasin", { id: number.value })); else wepl.choose(place);
  });
  document.getElementById("mapin").addEventListener("click", () => wepl.mapZoom(1.6));
  document.getElementById("mapout").addEventListener("click", () => wepl.mapZoom(1 / 1.6));
  document.getElementById("mapall").addEventListener("click", () => wepl.mapZoom(0));
  document.getElementById("maptable").addEventListener("toggle", (event) => { if (event.target.open) wepl.fillMapTable(); });
  const canvas = document.getElementById("map");
  wepl.mapPointers(canvas);
  new ResizeObserver(() => { if (!wepl.printing) wepl.planMap(); }).observe(canvas);
  await wepl.showVariable();
};

/** Draw everything again in the colours that now hold. */
wepl.repaint = () => {
  if (wepl.map.values) { wepl.colourMap(); wepl.drawMap(); }
  for (const { uplot } of wepl.charts) uplot?.redraw(false, true);
};

wepl.startLook = () => {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("change", (event) => {
    if (event.target.value === "auto") delete root.dataset.theme; else root.dataset.theme = event.target.value;
    wepl.repaint();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", wepl.repaint);
  matchMedia("print").addEventListener("change", (event) => { wepl.printing = event.matches; wepl.repaint(); });
};

wepl.start = async () => {
  try {
    wepl.startLook();
    await wepl.startHydrographs();
    await wepl.startMap();
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    const note = document.getElementById("failure");
    note.textContent = wepl.text("failure", { error: error.message });
    note.hidden = false;
    throw error;
  }
};
wepl.start();
