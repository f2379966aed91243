// Numbers, words and dates of the page. Everything hangs on one object, so that the parts can be read one by one.
"use strict";
const wepl = {};

wepl.index = JSON.parse(document.getElementById("index").textContent);
wepl.arrays = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u2: Uint16Array };
wepl.unpacked = new Map();

/** A text of the page's language; {name} stands for a value. */
wepl.text = (key, values = {}) =>
  wepl.index.texts[key].replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));

wepl.bytesOf = (base64) => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
  return bytes;
};

/** Undo base64, gzip and the shuffle by byte; the bytes of a number stand in planes, the lowest first. */
wepl.unpack = async (entry) => {
  const packed = wepl.bytesOf(document.getElementById(`b${entry.blob}`).textContent);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const Kind = wepl.arrays[entry.dtype];
  const width = Kind.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < width; plane++) {
    const offset = plane * entry.size;
    for (let place = 0; place < entry.size; place++) bytes[place * width + plane] = planes[offset + place];
  }
  return new Kind(bytes.buffer);
};

/** The array of an entry of the index, unpacked once. */
wepl.array = (entry) => {
  if (!wepl.unpacked.has(entry.blob)) wepl.unpacked.set(entry.blob, wepl.unpack(entry));
  return wepl.unpacked.get(entry.blob);
};

/** Row of a matrix that is stored flat. */
wepl.row = (flat, row, width) => flat.subarray(row * width, (row + 1) * width);

/** Series of one variable in one sub-basin: from steps between whole numbers of 16 bits back to values. */
wepl.series = async (variable, place) => {
  const stored = variable.series;
  const chunk = await wepl.array(stored.chunks[Math.floor(place / stored.rows)]);
  const [low, span] = await Promise.all([wepl.array(stored.low), wepl.array(stored.span)]);
  const steps = wepl.row(chunk, place % stored.rows, stored.periods);
  const values = new Float64Array(stored.periods);
  let code = 0;
  for (let period = 0; period < steps.length; period++) {
    code = (code + steps[period]) & 0xffff;
    values[period] = code === 0xffff ? NaN : low[place] + span[place] * (code / 65534) ** stored.power;
  }
  return values;
};

/** The axis of a level with the middles of its periods, in days from the start of the run. */
wepl.axes = new Map();
wepl.axis = async (name) => {
  if (!wepl.axes.has(name)) {
    const level = wepl.index.levels[name];
    const [start, date, minute] = await Promise.all([level.start, level.date, level.minute].map(wepl.array));
    const middle = Array.from(start, (from, place) =>
      0.5 * (from + (place + 1 < start.length ? start[place + 1] : level.end)));
    wepl.axes.set(name, { name, start, date, minute, middle, end: level.end, daily: minute.every((value) => value === 0) });
  }
  return wepl.axes.get(name);
};

const two = (number) => String(number).padStart(2, "0");
wepl.isoDate = (date) => `${String(Math.floor(date / 10000)).padStart(4, "0")}-${two(Math.floor(date / 100) % 100)}-${two(date % 100)}`;
wepl.isoHour = (minute) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;

/** Name of a period: its start, as finely as the level needs. */
wepl.periodName = (axis, place) => {
  const day = wepl.isoDate(axis.date[place]);
  if (axis.name === "month") return day.slice(0, 7);
  if (axis.name === "dekad") return wepl.text("dekad", { day });
  return axis.daily ? day : `${day} ${wepl.isoHour(axis.minute[place])}`;
};

/** Unit of a variable over the periods of a level: what adds up is so much per day, month, year. */
wepl.unitOf = (variable, level = variable.level) => {
  const { unit } = variable;
  if (!variable.summed) return unit;
  if (level !== "step") return wepl.text(`per_${level}`, { unit });
  const hours = wepl.index.stepSeconds / 3600;
  if (hours === 24) return wepl.text("per_day", { unit });
  return hours === 1 ? wepl.text("per_hour", { unit }) : wepl.text("per_hours", { unit, hours });
};
wepl.withUnit = (name, unit) => (unit ? `${name} (${unit})` : name);

wepl.format = (digits) => {
  const locale = wepl.index.language === "zh" ? "zh-CN" : "en-GB";
  const usual = new Intl.NumberFormat(locale, { maximumSignificantDigits: digits });
  return (value) => {
    if (!Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    return size !== 0 && (size < 1e-3 || size >= 1e9) ? value.toExponential(digits - 1) : usual.format(value);
  };
};
wepl.number = wepl.format(4);
wepl.tick = wepl.format(3);

/** Values for a chart: what is missing is null, and so is what a logarithmic axis cannot show. */
wepl.drawable = (values, log = false) => {
  const shown = new Array(values.length);
  for (let place = 0; place < values.length; place++) {
    const value = values[place];
    shown[place] = Number.isFinite(value) && (!log || value > 0) ? value : null;
  }
  return shown;
};

wepl.colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
wepl.say = (text) => { document.getElementById("live").textContent = text; };

/** Build an element: attributes, then children or text. */
wepl.make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
};

/** A table from rows of cells; the first cell of a row is its heading. */
wepl.table = (caption, head, rows) => wepl.make("table", {},
  wepl.make("caption", {}, caption),
  wepl.make("thead", {}, wepl.make("tr", {}, ...head.map((text) => wepl.make("th", { scope: "col" }, text)))),
  wepl.make("tbody", {}, ...rows.map((row) => wepl.make("tr", {},
    wepl.make("th", { scope: "row" }, row[0]), ...row.slice(1).map((cell) => wepl.make("td", {}, cell))))));

/** A table in a frame that scrolls and can be reached with the keyboard. */
wepl.frame = (table) => wepl.make("div", { class: "scroll long", tabindex: "0", role: "region",
  "aria-label": table.querySelector("caption").textContent }, table);

/** Offer a text as a file. */
wepl.save = (name, text) => {
  const address = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  const link = wepl.make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};
