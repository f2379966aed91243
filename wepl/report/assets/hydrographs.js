// Hydrographs of the gauges, and what is made of them: seasonal regime and flow-duration curve.
"use strict";

wepl.placeName = (place) => {
  const { id, name } = wepl.index.places[place];
  return name || wepl.text("outlet", { id });
};

/** Discharge, rain and observations of a place, on the axis of the hydrographs. */
wepl.flowOf = async (place) => {
  const { flow } = wepl.index, axis = await wepl.axis(flow.level), width = axis.start.length;
  const row = async (entry) => (entry ? wepl.row(await wepl.array(entry), place, width) : null);
  const [simulated, rain, observed] = await Promise.all([row(flow.simulated), row(flow.rain), row(flow.observed)]);
  return { axis, simulated, rain, observed: observed && observed.some(Number.isFinite) ? observed : null,
    name: wepl.placeName(place), level: flow.level };
};

/** The same of a sub-basin from its own series. */
wepl.flowOfSubbasin = async (place, id) => {
  const find = (key) => wepl.index.variables.find((variable) => variable.key === key);
  const discharge = find("discharge"), rain = find("precipitation_depth");
  const axis = await wepl.axis(discharge.level);
  return { axis, simulated: await wepl.series(discharge, place), observed: null, level: discharge.level,
    rain: rain && rain.level === discharge.level ? await wepl.series(rain, place) : null,
    name: wepl.text("subbasin", { id }) };
};

const rainUnit = (level) => wepl.unitOf({ unit: "mm", summed: true }, level);

/** Lines of a hydrograph for wepl.chart. */
const flowLines = (flow, log) => {
  const lines = [{ label: wepl.text("simulated"), raw: flow.simulated, values: wepl.drawable(flow.simulated, log), colour: "simulated" }];
  if (flow.observed) lines.push({ label: wepl.text("observed"), raw: flow.observed,
    values: wepl.drawable(flow.observed, log), colour: "observed", kind: "points" });
  if (flow.rain) lines.push({ label: wepl.text("rain"), raw: flow.rain, values: wepl.drawable(flow.rain), colour: "rain",
    kind: "rain", unit: rainUnit(flow.level) });
  return lines;
};

wepl.hydrograph = (figure, flow, { log = false, height = 230 } = {}) => wepl.chart(figure, {
  name: flow.name, unit: "m³ s⁻¹", rainUnit: rainUnit(flow.level), x: flow.axis.middle, ends: [0, flow.axis.end], timeAxis: flow.axis, log, zero: true,
  height, linked: true, lines: flowLines(flow, log), xName: (place) => wepl.periodName(flow.axis, place) });

wepl.shownPlaces = () => [...document.querySelectorAll("#places input:checked")].map((box) => Number(box.value));

wepl.drawHydrographs = async () => {
  const list = document.getElementById("flowcharts"), log = document.getElementById("log").checked;
  for (const figure of list.children) wepl.dropChart(figure);
  const places = wepl.shownPlaces();
  const flows = await Promise.all(places.map(wepl.flowOf));
  list.replaceChildren(...places.map(() => wepl.make("figure", { class: "chart" })));
  flows.forEach((flow, number) => wepl.hydrograph(list.children[number], flow, { log, height: flows.length > 3 ? 190 : 250 }));
  document.getElementById("nogauge").hidden = places.length > 0;
  document.getElementById("flowtable").open = false;
};

/** Means of a series by calendar month of each year: Map of "2010-07" to {sum, count}. */
wepl.byMonth = (axis, values, only = null) => {
  const months = new Map();
  values.forEach((value, place) => {
    if (!Number.isFinite(value) || (only && !Number.isFinite(only[place]))) return;
    const name = wepl.isoDate(axis.date[place]).slice(0, 7);
    const found = months.get(name) || { sum: 0, count: 0 };
    found.sum += value;
    found.count += 1;
    months.set(name, found);
  });
  return months;
};

wepl.fillFlowTable = async () => {
  const box = document.querySelector("#flowtable .holder");
  const flows = await Promise.all(wepl.shownPlaces().map(wepl.flowOf));
  const columns = flows.flatMap((flow) => [
    [`${flow.name}, ${wepl.text("simulated")}`, wepl.byMonth(flow.axis, flow.simulated), false],
    ...(flow.observed ? [[`${flow.name}, ${wepl.text("observed")}`, wepl.byMonth(flow.axis, flow.observed), false]] : []),
    ...(flow.rain ? [[`${flow.name}, ${wepl.text("rain")} (mm)`, wepl.byMonth(flow.axis, flow.rain), true]] : [])]);
  const months = [...new Set(columns.flatMap(([, found]) => [...found.keys()]))].sort();
  box.replaceChildren(wepl.frame(wepl.table(wepl.text("flow_caption"), [wepl.text("month"), ...columns.map(([name]) => name)],
    months.map((month) => [month, ...columns.map(([, found, summed]) => {
      const cell = found.get(month);
      return cell ? wepl.number(summed ? cell.sum : cell.sum / cell.count) : "–";
    })]))));
};

wepl.saveFlows = async () => {
  const flows = await Promise.all(wepl.shownPlaces().map(wepl.flowOf));
  if (!flows.length) return;
  const cell = (text) => `"${text.replaceAll('"', '""')}"`;
  const columns = flows.flatMap((flow) => [[`${flow.name} ${wepl.text("simulated")} (m3 s-1)`, flow.simulated],
    ...(flow.observed ? [[`${flow.name} ${wepl.text("observed")} (m3 s-1)`, flow.observed]] : []),
    ...(flow.rain ? [[`${flow.name} ${wepl.text("rain")} (mm)`, flow.rain]] : [])]);
  const { axis } = flows[0];
  const rows = Array.from(axis.start, (start, place) => [
    axis.daily ? wepl.isoDate(axis.date[place]) : `${wepl.isoDate(axis.date[place])}T${wepl.isoHour(axis.minute[place])}`,
    ...columns.map(([, values]) => (Number.isFinite(values[place]) ? values[place] : ""))].join(","));
  wepl.save("discharge.csv", [["time", ...columns.map(([name]) => cell(name))].join(","), ...rows].join("\n"));
};

/** Twelve monthly means, lowest and highest year, over all values or those beside an observation. */
wepl.regime = (flow) => {
  const part = (values, only) => {
    const months = Array.from({ length: 12 }, () => []);
    for (const [name, { sum, count }] of wepl.byMonth(flow.axis, values, only)) months[Number(name.slice(5)) - 1].push(sum / count);
    const of = (reduce) => months.map((found) => (found.length ? reduce(found) : null));
    return { mean: of((found) => found.reduce((a, b) => a + b) / found.length), low: of((found) => Math.min(...found)),
      high: of((found) => Math.max(...found)), years: months.map((found) => found.length) };
  };
  return { simulated: part(flow.simulated, flow.observed), observed: flow.observed && part(flow.observed, null),
    rain: flow.rain && wepl.rainOfMonths(flow) };
};

/** Rain of an average month: mean rate times length, so that a month cut short does not count as dry. */
wepl.rainOfMonths = ({ axis, rain }) => {
  const lengths = [31, 28.25, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], depth = new Float64Array(12), days = new Float64Array(12);
  rain.forEach((value, place) => {
    if (!Number.isFinite(value)) return;
    const month = (Math.floor(axis.date[place] / 100) % 100) - 1;
    depth[month] += value;
    days[month] += (place + 1 < axis.start.length ? axis.start[place + 1] : axis.end) - axis.start[place];
  });
  return Array.from(depth, (value, month) => (days[month] ? (value / days[month]) * lengths[month] : null));
};

wepl.drawRegime = (flow) => {
  const { simulated, observed, rain } = wepl.regime(flow);
  const several = Math.max(...simulated.years) > 1;
  const lines = [{ label: wepl.text("simulated"), values: simulated.mean, colour: "simulated", width: 2.2 }];
  if (observed) lines.push({ label: wepl.text("observed"), values: observed.mean, colour: "observed", kind: "points" });
  if (rain) lines.push({ label: wepl.text("rain"), values: rain, colour: "rain", kind: "rain", unit: wepl.text("per_month", { unit: "mm" }) });
  const bands = [];
  if (several) {
    lines.push({ label: "", values: simulated.high, colour: "band", kind: "edge" }, { label: "", values: simulated.low, colour: "band", kind: "edge" });
    bands.push({ series: [lines.length - 1, lines.length], fill: () => wepl.colour("band") });
  }
  const months = wepl.text("months").split(" ");
  wepl.chart(document.getElementById("regime"), { name: wepl.text("regime_of", { name: flow.name }), unit: "m³ s⁻¹",
    rainUnit: wepl.text("per_month", { unit: "mm" }), x: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], ends: [0.5, 12.5], zero: true, height: 270, lines, bands,
    xName: (place) => months[place], xSplits: () => [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    xValues: (chart, marks) => marks.map((mark) => (chart.width < 480 && mark % 2 === 0 ? "" : months[mark - 1])) });
  const head = [wepl.text("month"), wepl.text("simulated_mean"), wepl.text("simulated_low"), wepl.text("simulated_high"),
    ...(observed ? [wepl.text("observed_mean")] : []), ...(rain ? [wepl.text("rain_month")] : [])];
  const show = (value) => (value === null ? "–" : wepl.number(value));
  document.querySelector("#regimetable .holder").replaceChildren(wepl.frame(wepl.table(
    wepl.text("regime_of", { name: flow.name }), head, months.map((month, place) => [month, show(simulated.mean[place]),
      show(simulated.low[place]), show(simulated.high[place]), ...(observed ? [show(observed.mean[place])] : []),
      ...(rain ? [show(rain[place])] : [])]))));
};

/** Values in falling order with the share of time in which each is reached or exceeded (Weibull), per cent. */
wepl.duration = (values) => {
  const sorted = Array.from(values).filter(Number.isFinite).sort((a, b) => b - a);
  return { x: sorted.map((value, place) => (100 * (place + 1)) / (sorted.length + 1)), y: sorted };
};

/** A sorted series at given shares of time. */
const atShares = ({ x, y }, shares) => shares.map((share) => {
  if (!x.length || share < x[0] || share > x[x.length - 1]) return null;
  const after = Math.max(1, x.findIndex((value) => value >= share));
  if (x.length === 1) return y[0];
  const part = (share - x[after - 1]) / (x[after] - x[after - 1]);
  return y[after - 1] + part * (y[after] - y[after - 1]);
});

wepl.drawDuration = (flow) => {
  const paired = flow.observed ? flow.simulated.map((value, place) => (Number.isFinite(flow.observed[place]) ? value : NaN)) : flow.simulated;
  const curves = [["simulated", wepl.duration(paired)], ...(flow.observed ? [["observed", wepl.duration(flow.observed)]] : [])];
  const shares = [0.1, 0.2, 0.5, ...Array.from({ length: 99 }, (unused, place) => place + 1), 99.5, 99.8, 99.9];
  const lines = curves.map(([key, curve]) => {
    const raw = atShares(curve, shares);
    return { label: wepl.text(key), raw, values: wepl.drawable(raw.map((value) => value ?? NaN), true), colour: key, width: 2.2,
      ...(key === "observed" ? { dash: [7, 4] } : {}) };
  });
  wepl.chart(document.getElementById("duration"), { name: wepl.text("duration_of", { name: flow.name }), unit: "m³ s⁻¹", x: shares, ends: [0, 100],
    log: true, height: 270, lines, xLabel: wepl.text("exceedance"), xName: (place) => `${shares[place]} %` });
  const kept = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99];
  document.querySelector("#durationtable .holder").replaceChildren(wepl.frame(wepl.table(
    wepl.text("duration_of", { name: flow.name }), [wepl.text("exceedance"), ...curves.map(([key]) => `${wepl.text(key)} (m³ s⁻¹)`)],
    kept.map((share) => [`${share}`, ...curves.map(([, curve]) => {
      const [value] = atShares(curve, [share]);
      return value === null ? "–" : wepl.number(value);
    })]))));
};

/** Regime and flow-duration curve of the place that is chosen: a gauge, or the sub-basin clicked on the map. */
wepl.drawPlace = async () => {
  const choice = document.getElementById("place").value;
  const flow = choice.startsWith("s") ? await wepl.flowOfSubbasin(Number(choice.slice(1)), wepl.chosenId) : await wepl.flowOf(Number(choice));
  wepl.drawRegime(flow);
  wepl.drawDuration(flow);
  for (const name of ["regime", "duration"]) {
    document.getElementById(`${name}note`).textContent = [wepl.text(`level_${flow.level}`),
      flow.observed ? wepl.text("paired_only") : ""].filter(Boolean).join(" ");
  }
};

wepl.startHydrographs = async () => {
  const boxes = document.getElementById("places"), many = wepl.index.places.length;
  wepl.index.places.forEach((place, number) => boxes.append(wepl.make("label", {}, wepl.make("input", { type: "checkbox", value: number,
    checked: number < (many > 8 ? 4 : 8), onchange: wepl.drawHydrographs }), " ", wepl.placeName(number))));
  const select = document.getElementById("place");
  wepl.index.places.forEach((place, number) => select.append(wepl.make("option", { value: number }, wepl.placeName(number))));
  select.addEventListener("change", wepl.drawPlace);
  document.getElementById("log").addEventListener("change", wepl.drawHydrographs);
  const linked = () => [...wepl.charts].find((item) => item.options.linked);
  const buttons = { zoomin: (item) => wepl.zoom(item, 0.5), zoomout: (item) => wepl.zoom(item, 2), earlier: (item) => wepl.pan(item, -0.5),
    later: (item) => wepl.pan(item, 0.5), whole: wepl.wholeRun };
  for (const [name, act] of Object.entries(buttons)) {
    document.getElementById(name).addEventListener("click", () => { const item = linked(); if (item) act(item); });
  }
  document.getElementById("saveflows").addEventListener("click", wepl.saveFlows);
  document.getElementById("flowtable").addEventListener("toggle", (event) => { if (event.target.open) wepl.fillFlowTable(); });
  const axis = await wepl.axis(wepl.index.flow.level);
  wepl.onWindow = (low, high) => {
    const inside = axis.middle.map((value, place) => [value, place]).filter(([value]) => value >= low && value <= high);
    if (!inside.length) return;
    document.getElementById("window").textContent = wepl.text("window", { from: wepl.periodName(axis, inside[0][1]),
      to: wepl.periodName(axis, inside[inside.length - 1][1]) });
  };
  wepl.onWindow(-Infinity, Infinity);
  await wepl.drawHydrographs();
  await wepl.drawPlace();
};
