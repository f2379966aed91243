// Charts of series: uPlot draws them; here are axes for any calendar, rain from above, keys, links and colours.
"use strict";

wepl.charts = new Set();

/** Places of marks on a time axis and their texts, chosen so that they do not crowd. */
wepl.dateMarks = (axis, from, to, most) => {
  const { middle, start, date, minute } = axis;
  let first = 0;
  while (first < start.length && start[first] < from) first++;
  let last = first;
  while (last < start.length && start[last] <= to) last++;
  const days = Math.max(1e-6, to - from);
  const kinds = [
    [1 / 24, (d, m) => m % 60 === 0], [3 / 24, (d, m) => m % 180 === 0], [6 / 24, (d, m) => m % 360 === 0],
    [12 / 24, (d, m) => m % 720 === 0], [1, (d, m) => m === 0], [2, (d, m) => m === 0 && d % 2 === 1 && d % 100 < 31],
    [5, (d, m) => m === 0 && [1, 6, 11, 16, 21, 26].includes(d % 100)],
    [10, (d, m) => m === 0 && [1, 11, 21].includes(d % 100)], [30, (d, m) => m === 0 && d % 100 === 1],
    [91, (d, m) => m === 0 && d % 100 === 1 && (Math.floor(d / 100) % 100) % 3 === 1],
    [182, (d, m) => m === 0 && d % 100 === 1 && (Math.floor(d / 100) % 100) % 6 === 1],
    ...[1, 2, 5, 10, 20, 50, 100].map((years) => [365 * years, (d, m) =>
      m === 0 && d % 10000 === 101 && Math.floor(d / 10000) % years === 0]),
  ];
  const finest = axis.name === "month" ? 30 : axis.name === "dekad" ? 10 : 0;
  const [length, fits] = kinds.find(([size]) => size >= finest && days / size <= most) || kinds[kinds.length - 1];
  const marks = [], texts = [];
  for (let place = first; place < last; place++) {
    if (!fits(date[place], minute[place])) continue;
    // Where a step is longer than the axis of marks asks, only its first period in each month or year is marked.
    const day = wepl.isoDate(date[place]);
    marks.push(start[place]);
    texts.push(length >= 365 ? day.slice(0, 4) : length >= 30 ? day.slice(0, 7)
      : length >= 1 ? (marks.length === 1 ? day : day.slice(5)) : minute[place] === 0 ? day.slice(5) : wepl.isoHour(minute[place]));
  }
  if (!marks.length && last > first) {
    marks.push(middle[first]);
    texts.push(wepl.periodName(axis, first));
  }
  return { marks, texts };
};

/** Bars that hang from the top; where many fall on a pixel the largest is drawn. */
wepl.drawRain = (chart, number) => {
  const [low, high] = [chart.scales.x.min, chart.scales.x.max];
  const x = chart.data[0], values = chart.data[number], context = chart.ctx;
  const { left, width, top } = chart.bbox;
  const most = new Map();
  let gap = Infinity;
  for (let place = 0; place < x.length; place++) {
    if (place && x[place] >= low && x[place - 1] <= high) gap = Math.min(gap, x[place] - x[place - 1]);
    if (x[place] < low || x[place] > high || !(values[place] > 0)) continue;
    const column = Math.round(chart.valToPos(x[place], "x", true));
    most.set(column, Math.max(most.get(column) || 0, values[place]));
  }
  const thick = Math.max(1, Math.floor((Number.isFinite(gap) ? gap / (high - low) : 0.5) * width * 0.8));
  context.save();
  context.beginPath();
  context.rect(left, top, width, chart.bbox.height);
  context.clip();
  context.fillStyle = wepl.colour("rain");
  for (const [column, value] of most) {
    context.fillRect(column - thick / 2, top, thick, chart.valToPos(value, "rain", true) - top);
  }
  context.restore();
};

/** Observations as circles, smaller where they stand close. */
wepl.drawPoints = (chart, number, colour) => {
  const [low, high] = [chart.scales.x.min, chart.scales.x.max], x = chart.data[0], values = chart.data[number], context = chart.ctx;
  const { left, top, width, height } = chart.bbox, ratio = window.devicePixelRatio || 1;
  const inside = Math.max(1, x.filter((value) => value >= low && value <= high).length);
  const radius = Math.max(1.2, Math.min(3.2, (0.45 * width) / ratio / inside)) * ratio, open = radius >= 2.4 * ratio;
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.fillStyle = open ? wepl.colour("ground") : wepl.colour(colour);
  context.strokeStyle = wepl.colour(colour);
  context.lineWidth = 1.5 * ratio;
  for (let place = 0; place < x.length; place++) {
    if (values[place] === null || x[place] < low || x[place] > high) continue;
    context.beginPath();
    context.arc(chart.valToPos(x[place], "x", true), chart.valToPos(values[place], "y", true), radius, 0, 7);
    context.fill();
    if (open) context.stroke();
  }
  context.restore();
};

const axisLook = (extra) => ({
  stroke: () => wepl.colour("quiet"), grid: { stroke: () => wepl.colour("grid"), width: 1 },
  ticks: { stroke: () => wepl.colour("grid"), size: 4 }, font: "12px system-ui, sans-serif",
  labelFont: "12px system-ui, sans-serif", labelSize: 18, ...extra,
});

const lineLook = (line) => ({
  label: line.label, scale: line.scale || "y", stroke: () => wepl.colour(line.colour), width: line.width || 1.6,
  ...(line.kind === "points" ? { paths: () => null, points: { show: false } } : {}),
  ...(line.kind === "rain" ? { scale: "rain", paths: () => null, points: { show: false } } : {}),
  ...(line.kind === "edge" ? { width: 0, points: { show: false } } : {}),
  ...(line.kind === undefined ? { points: { show: false } } : {}),
  ...(line.dash ? { dash: line.dash } : {}),
});

/** A round number at or above a value. */
const roundUp = (value) => {
  const size = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 6, 8, 10].find((step) => step * size >= value * 0.999) * size;
};

const scalesOf = (options) => {
  const rain = options.lines.find((line) => line.kind === "rain");
  const rainMost = rain ? roundUp(rain.values.reduce((most, value) => (value > most ? value : most), 0.1)) : 1;
  const [first, last] = options.ends;
  const inner = [options.x[0], options.x[options.x.length - 1]];
  return {
    // Middles of periods are drawn; the axis goes from the start of the first to the end of the last.
    x: { time: false, range: (chart, low, high) => [low <= inner[0] ? Math.min(low, first) : low, high >= inner[1] ? Math.max(high, last) : high] },
    y: options.log ? { distr: 3 } : { range: (chart, low, high) => {
      if (low === null) return [0, 1];
      const least = options.zero && low >= 0 ? 0 : low, room = (high - least) * 0.06 || Math.abs(high) * 0.1 || 1;
      return [least === 0 ? 0 : least - room, high + (rain ? 5 * room : room)];
    } },
    rain: { dir: -1, range: () => [0, rainMost * 3] },
    rainMost,
  };
};

/** Marks of a logarithmic axis: powers of ten, and 2 and 5 times them where there are few. */
const decades = (low, high) => {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))], marks = [];
  for (let power = first; power <= last; power++) {
    for (const step of last - first > 3 ? [1] : [1, 2, 5]) marks.push(step * 10 ** power);
  }
  return marks.filter((mark) => mark >= low * 0.999 && mark <= high * 1.001);
};

const axesOf = (options, rainMost) => [
  axisLook({ ...(options.timeAxis ? {
    splits: (chart, number, low, high) => wepl.dateMarks(options.timeAxis, low, high, Math.max(2, chart.width / 90)).marks,
    values: (chart, marks) => wepl.dateMarks(options.timeAxis, chart.scales.x.min, chart.scales.x.max,
      Math.max(2, chart.width / 90)).texts.slice(0, marks.length),
  } : { values: options.xValues, splits: options.xSplits }), label: options.xLabel, size: 34 }),
  axisLook({ scale: "y", size: 62, label: options.unit, ...(options.log ? { splits: (chart, number, low, high) => decades(low, high) } : {}),
    values: (chart, marks) => marks.map((mark) => (mark === null ? "" : wepl.tick(mark))) }),
  ...(options.lines.some((line) => line.kind === "rain") ? [axisLook({ scale: "rain", side: 1, size: 46,
    label: options.rainUnit, grid: { show: false }, splits: () => [0, rainMost / 2, rainMost], stroke: () => wepl.colour("rain-text"),
    values: (chart, marks) => marks.map(wepl.tick) })] : []),
];

/** Texts of all lines at one place of the x axis. */
const reading = (options, place) => {
  const parts = options.lines.filter((line) => line.kind !== "edge").map((line) => {
    const value = line.raw ? line.raw[place] : line.values[place];
    if (value === null || value === undefined || Number.isNaN(value)) return null;
    return `${line.label} ${wepl.number(value)} ${line.unit ?? options.unit}`.trim();
  }).filter((part) => part !== null);
  return { when: options.xName(place), what: parts.join(wepl.text("comma")) };
};

/** What the line above a chart says before anyone points at it: the highest value of the first line. */
const highest = (options) => {
  const [line] = options.lines, values = line.raw || line.values;
  let best = -1;
  values.forEach((value, place) => { if (Number.isFinite(value) && (best < 0 || value > values[best])) best = place; });
  return best < 0 ? "" : wepl.text("highest", { value: `${wepl.number(values[best])} ${options.unit}`.trim(), when: options.xName(best) });
};

const legendOf = (options) => wepl.make("span", { class: "keys" }, ...options.lines.filter((line) => line.kind !== "edge")
  .map((line) => wepl.make("span", {}, wepl.make("span", { class: `swatch ${{ points: "point", rain: "" }[line.kind] ?? "line"}`,
    style: `--colour: var(--${line.colour})` }), wepl.withUnit(line.label, line.unit ?? options.unit))));

/**
 * A chart in a figure, with its legend, a line that reads the values, and keys.
 * options: name, unit, x, ends (of the axis), lines [{label, values, raw, colour, kind, unit}], xName(place), timeAxis, log, zero, height,
 * linked, rainUnit, xLabel, xValues, xSplits, bands.
 */
wepl.chart = (figure, options) => {
  wepl.dropChart(figure);
  const readout = wepl.make("p", { class: "readout" }, highest(options));
  const plot = wepl.make("div", { class: "plot", tabindex: "0", role: "application",
    "aria-roledescription": wepl.text("chart_role"), "aria-describedby": "chartkeys",
    "aria-label": `${options.name}. ${options.lines.filter((line) => line.kind !== "edge").map((line) =>
      wepl.withUnit(line.label, line.unit ?? options.unit)).join(wepl.text("comma"))}` });
  const keys = legendOf(options);
  figure.replaceChildren(wepl.make("figcaption", {}, wepl.make("span", { class: "name" }, options.name), keys), readout, plot);
  const scales = scalesOf(options);
  const { rainMost, ...usable } = scales;
  const item = { figure, options, plot, readout };
  const uplot = new uPlot({
    width: Math.max(200, plot.clientWidth), height: options.height || 250, legend: { show: false }, scales: usable,
    axes: axesOf(options, rainMost), bands: options.bands || [], pxAlign: 0,
    series: [{}, ...options.lines.map(lineLook)],
    cursor: { drag: { x: true, y: false }, points: { size: 7 },
      ...(options.linked ? { sync: { key: "wepl", scales: ["x", null] } } : {}) },
    hooks: {
      drawAxes: options.lines.flatMap((line, number) => (line.kind === "rain" ? [(chart) => wepl.drawRain(chart, number + 1)]
        : line.kind === "points" ? [(chart) => wepl.drawPoints(chart, number + 1, line.colour)] : [])),
      setCursor: [(chart) => wepl.readCursor(item, chart)],
      setScale: [(chart, key) => { if (key === "x" && options.linked) wepl.follow(item); }],
    },
  }, [options.x, ...options.lines.map((line) => line.values)], plot);
  item.uplot = uplot;
  item.full = options.ends;
  wepl.charts.add(item);
  plot.addEventListener("keydown", (event) => wepl.chartKey(item, event));
  plot.addEventListener("wheel", (event) => wepl.chartWheel(item, event), { passive: false });
  const watch = new ResizeObserver(() => {
    if (Math.abs(plot.clientWidth - uplot.width) > 1 && plot.clientWidth > 0 && !wepl.printing) {
      uplot.setSize({ width: plot.clientWidth, height: options.height || 250 });
    }
  });
  watch.observe(plot);
  item.drop = () => { watch.disconnect(); uplot.destroy(); wepl.charts.delete(item); };
  figure.weplChart = item;
  if (options.linked && wepl.window) uplot.setScale("x", { min: wepl.window[0], max: wepl.window[1] });
  return item;
};

wepl.dropChart = (figure) => { if (figure.weplChart) figure.weplChart.drop(); figure.weplChart = null; };

wepl.readCursor = (item, chart) => {
  const place = chart.cursor.idx;
  if (place === null || place === undefined) return;
  const { when, what } = reading(item.options, place);
  item.readout.replaceChildren(wepl.make("b", {}, when), `  ${what}`);
};

/** Give all linked charts the window of one of them. */
wepl.follow = (item) => {
  const { min, max } = item.uplot ? item.uplot.scales.x : {};
  if (wepl.following || min === undefined || min === null) return;
  wepl.setWindow(min, max, item);
};

wepl.setWindow = (low, high, from = null) => {
  wepl.window = [low, high];
  wepl.following = true;
  for (const other of wepl.charts) {
    if (other === from || !other.options.linked || !other.uplot) continue;
    other.uplot.setScale("x", { min: low, max: high });
  }
  // uPlot applies a scale in a later turn; until then what the others report is an echo.
  queueMicrotask(() => setTimeout(() => { wepl.following = false; }, 0));
  wepl.onWindow?.(low, high);
};

const window0 = (item) => [item.uplot.scales.x.min, item.uplot.scales.x.max];
wepl.look = (item, low, high) => {
  const [first, last] = item.full, least = (last - first) / item.options.x.length * 2;
  const length = Math.min(last - first, Math.max(least, high - low));
  const from = Math.min(Math.max(first, low), last - length);
  if (item.options.linked) wepl.setWindow(from, from + length);
  else item.uplot.setScale("x", { min: from, max: from + length });
};
wepl.zoom = (item, factor, about = null) => {
  const [low, high] = window0(item), middle = about ?? 0.5 * (low + high);
  wepl.look(item, middle - (middle - low) * factor, middle + (high - middle) * factor);
};
wepl.pan = (item, share) => {
  const [low, high] = window0(item);
  wepl.look(item, low + (high - low) * share, high + (high - low) * share);
};
wepl.wholeRun = (item) => wepl.look(item, ...item.full);

wepl.moveTo = (item, place) => {
  const { x } = item.options, { uplot } = item;
  const target = Math.min(x.length - 1, Math.max(0, place));
  const [low, high] = window0(item);
  if (x[target] < low || x[target] > high) wepl.look(item, x[target] - (high - low) / 2, x[target] + (high - low) / 2);
  setTimeout(() => {
    uplot.setCursor({ left: uplot.valToPos(x[target], "x"), top: uplot.over.clientHeight / 2 });
    const { when, what } = reading(item.options, target);
    item.place = target;
    wepl.say(`${when}: ${what}`);
  }, 0);
};

wepl.chartKey = (item, event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { x } = item.options, [low, high] = window0(item), stride = event.shiftKey ? 10 : 1;
  const here = item.place ?? x.findIndex((value) => value >= low);
  const about = item.place === undefined ? null : x[item.place];
  const last = x.findLastIndex((value) => value <= high);
  const actions = {
    ArrowLeft: () => wepl.moveTo(item, here - stride), ArrowRight: () => wepl.moveTo(item, here + stride),
    Home: () => wepl.moveTo(item, x.findIndex((value) => value >= low)), End: () => wepl.moveTo(item, last),
    "+": () => wepl.zoom(item, 0.5, about), "=": () => wepl.zoom(item, 0.5, about), "-": () => wepl.zoom(item, 2, about),
    PageUp: () => wepl.pan(item, -0.8), PageDown: () => wepl.pan(item, 0.8),
    0: () => wepl.wholeRun(item), Escape: () => wepl.wholeRun(item),
  };
  if (!(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
};

wepl.chartWheel = (item, event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  const { uplot } = item, box = uplot.over.getBoundingClientRect();
  wepl.zoom(item, event.deltaY > 0 ? 1.25 : 0.8, uplot.posToVal(event.clientX - box.left, "x"));
};
