// The map of sub-basins: outlines, or a schematic of the network; coloured by a variable, clicked for its series.
"use strict";

// Viridis and a brown-to-teal scale about zero; both can be read by colour-blind people.
wepl.ramps = {
  plain: ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"],
  about: ["#543005", "#8c510a", "#bf812d", "#dfc27d", "#f6e8c3", "#c7eae5", "#80cdc1", "#35978f", "#01665e", "#003c30"],
};
const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
wepl.rampColours = Object.fromEntries(Object.entries(wepl.ramps).map(([name, stops]) => [name, Array.from({ length: 256 }, (unused, step) => {
  const where = (step / 255) * (stops.length - 1), before = Math.min(stops.length - 2, Math.floor(where)), part = where - before;
  const [a, b] = [channels(stops[before]), channels(stops[before + 1])];
  return `rgb(${a.map((value, place) => Math.round(value + part * (b[place] - value))).join(" ")})`;
})]));

wepl.map = { zoom: 1, x: 0, y: 0, chosen: -1, under: -1 };

wepl.loadMap = async () => {
  const { map, subbasins } = wepl.index, state = wepl.map;
  [state.cx, state.cy, state.ids, state.downstream, state.area, state.upstream] = await Promise.all(
    [map.x, map.y, subbasins.ids, subbasins.downstream, subbasins.area, subbasins.upstream].map(wepl.array));
  state.count = state.ids.length;
  if (map.kind !== "polygons") return;
  const [rings, nodes, dx, dy] = await Promise.all([map.rings, map.nodes, map.dx, map.dy].map(wepl.array));
  state.paths = [];
  state.boxes = [];
  let ring = 0, node = 0;
  for (let place = 0; place < state.count; place++) {
    const path = new Path2D(), box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let part = 0; part < rings[place]; part++, ring++) {
      let x = 0, y = 0;
      for (let step = 0; step < nodes[ring]; step++, node++) {
        x += dx[node];
        y += dy[node];
        const [px, py] = [x / map.grid, y / map.grid];
        if (step) path.lineTo(px, py); else path.moveTo(px, py);
        box[0] = Math.min(box[0], px); box[1] = Math.min(box[1], py);
        box[2] = Math.max(box[2], px); box[3] = Math.max(box[3], py);
      }
      path.closePath();
    }
    state.paths.push(path);
    state.boxes.push(box);
  }
};

/** From the plane of the map to pixels: scale and offset. */
wepl.mapView = () => {
  const { map } = wepl.index, canvas = document.getElementById("map"), state = wepl.map;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight], margin = 22;
  const fit = Math.min((width - 2 * margin) / map.width, (height - 2 * margin) / map.height);
  // A tree has no shape to keep: it fills the frame.
  const sx = (map.kind === "tree" ? (width - 2 * margin) / map.width : fit) * state.zoom;
  const sy = (map.kind === "tree" ? (height - 2 * margin) / map.height : fit) * state.zoom;
  return { sx, sy, ox: width / 2 - (map.width / 2 + state.x) * sx, oy: height / 2 - (map.height / 2 + state.y) * sy, width, height };
};

/** Scale of the colours: limits without the outermost hundredth, logarithmic where values spread over decades. */
wepl.colourScale = (values) => {
  const sorted = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  if (!sorted.length) return null;
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  let [low, high] = [at(0.01), at(0.99)];
  const log = low > 0 && high / at(0.1) > 60;
  const about = !log && low < 0 && high > 0 && Math.min(-low, high) > 0.05 * Math.max(-low, high);
  if (about) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
  if (low === high) [low, high] = [low - (Math.abs(low) * 0.1 || 1), high + (Math.abs(high) * 0.1 || 1)];
  const share = log ? (value) => Math.log(value / low) / Math.log(high / low) : (value) => (value - low) / (high - low);
  const back = log ? (part) => low * (high / low) ** part : (part) => low + part * (high - low);
  return { low, high, log, share, back, below: sorted[0] < low, above: sorted[sorted.length - 1] > high,
    colours: wepl.rampColours[about ? "about" : "plain"], stops: wepl.ramps[about ? "about" : "plain"] };
};

wepl.mapColour = (place) => {
  const value = wepl.map.values[place], { scale } = wepl.map;
  if (!scale || !Number.isFinite(value)) return wepl.colour("missing");
  return scale.colours[Math.round(255 * Math.min(1, Math.max(0, value <= 0 && scale.log ? 0 : scale.share(value))))];
};

/** Colours of all sub-basins, looked up once per drawing of new values. */
wepl.colourMap = () => { wepl.map.fills = Array.from({ length: wepl.map.count }, (unused, place) => wepl.mapColour(place)); };

wepl.drawMap = () => {
  const canvas = document.getElementById("map"), state = wepl.map, ratio = window.devicePixelRatio || 1;
  const view = wepl.mapView(), { sx, sy, ox, oy } = view;
  if (!state.fills || view.width === 0) return;
  if (canvas.width !== Math.round(view.width * ratio)) canvas.width = Math.round(view.width * ratio);
  if (canvas.height !== Math.round(view.height * ratio)) canvas.height = Math.round(view.height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  const toPixel = (place) => [state.cx[place] * sx + ox, state.cy[place] * sy + oy];
  if (state.paths) {
    context.setTransform(sx * ratio, 0, 0, sy * ratio, ox * ratio, oy * ratio);
    context.lineWidth = 0.7 / sx;
    context.strokeStyle = wepl.colour("edge");
    state.paths.forEach((path, place) => {
      context.fillStyle = state.fills[place];
      context.fill(path, "evenodd");
      context.stroke(path);
    });
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (document.getElementById("rivers").checked) wepl.drawRivers(context, toPixel);
  if (!state.paths) {
    const radius = wepl.nodeRadius(view);
    for (let place = 0; place < state.count; place++) {
      const [x, y] = toPixel(place);
      context.fillStyle = state.fills[place];
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.fill();
      if (radius > 4) { context.lineWidth = 0.8; context.strokeStyle = wepl.colour("quiet"); context.stroke(); }
    }
  }
  wepl.drawChosen(context, view, ratio, toPixel);
  wepl.drawGauges(context, toPixel);
};

wepl.nodeRadius = ({ sx, sy }) => {
  const { map } = wepl.index;
  return Math.max(1.6, Math.min(11, 0.42 * Math.sqrt((map.width * sx * map.height * sy) / wepl.map.count) * 0.75));
};

/** Lines to the sub-basin below, wider where more drains through them; drawn by width, so that few strokes are made. */
wepl.drawRivers = (context, toPixel) => {
  const state = wepl.map, most = state.upstream.reduce((a, b) => Math.max(a, b), 0);
  const widths = new Map();
  for (let place = 0; place < state.count; place++) {
    if (state.downstream[place] < 0) continue;
    const width = Math.max(0.4, Math.round(Math.sqrt(state.upstream[place] / most) * 10) / 2.2);
    if (!widths.has(width)) widths.set(width, []);
    widths.get(width).push(place);
  }
  context.strokeStyle = wepl.colour("river");
  context.lineCap = "round";
  for (const [width, places] of widths) {
    context.lineWidth = width;
    context.beginPath();
    for (const place of places) {
      context.moveTo(...toPixel(place));
      context.lineTo(...toPixel(state.downstream[place]));
    }
    context.stroke();
  }
};

wepl.drawGauges = (context, toPixel) => {
  context.font = "12px system-ui, sans-serif";
  const taken = [];
  wepl.index.places.slice(0, 40).forEach((gauge, number) => {
    const [x, y] = toPixel(gauge.subbasin), label = wepl.placeName(number);
    context.beginPath();
    context.moveTo(x, y - 6); context.lineTo(x + 5.5, y + 4); context.lineTo(x - 5.5, y + 4); context.closePath();
    context.fillStyle = wepl.colour("ground");
    context.fill();
    context.lineWidth = 1.6;
    context.strokeStyle = wepl.colour("mark");
    context.stroke();
    const width = context.measureText(label).width, left = x + 9 + width > context.canvas.clientWidth ? x - 9 - width : x + 9;
    // A label that would lie on another one is left out; the gauge can still be found by its mark.
    if (taken.some(([a, b, c]) => Math.abs(b - y) < 15 && a < left + width && left < c)) return;
    taken.push([left, y, left + width]);
    context.lineWidth = 3.5;
    context.lineJoin = "round";
    context.strokeStyle = wepl.colour("ground");
    context.strokeText(label, left, y + 4);
    context.fillStyle = wepl.colour("text");
    context.fillText(label, left, y + 4);
  });
};

wepl.drawChosen = (context, view, ratio, toPixel) => {
  const state = wepl.map;
  for (const [place, width] of [[state.under, 1.5], [state.chosen, 3]]) {
    if (place < 0) continue;
    for (const [colour, extra] of [["ground", 2.4], ["mark", 0]]) {
      context.strokeStyle = wepl.colour(colour);
      if (state.paths) {
        context.setTransform(view.sx * ratio, 0, 0, view.sy * ratio, view.ox * ratio, view.oy * ratio);
        context.lineWidth = (width + extra) / view.sx;
        context.stroke(state.paths[place]);
      } else {
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.lineWidth = width + extra;
        context.beginPath();
        context.arc(...toPixel(place), wepl.nodeRadius(view) + 2.5, 0, 7);
        context.stroke();
      }
    }
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
};

let planned = 0;
wepl.planMap = () => { cancelAnimationFrame(planned); planned = requestAnimationFrame(wepl.drawMap); };

/** The sub-basin at a pixel; without outlines the nearest node within reach. */
wepl.subbasinAt = (px, py) => {
  const { sx, sy, ox, oy } = wepl.mapView(), state = wepl.map, x = (px - ox) / sx, y = (py - oy) / sy;
  if (state.paths) {
    const context = wepl.probe ||= document.createElement("canvas").getContext("2d");
    for (let place = 0; place < state.count; place++) {
      const box = state.boxes[place];
      if (x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3] && context.isPointInPath(state.paths[place], x, y, "evenodd")) return place;
    }
    return -1;
  }
  let best = -1, nearest = 18 ** 2;
  for (let place = 0; place < state.count; place++) {
    const distance = (state.cx[place] * sx + ox - px) ** 2 + (state.cy[place] * sy + oy - py) ** 2;
    if (distance < nearest) [best, nearest] = [place, distance];
  }
  return best;
};

wepl.mapZoom = (factor, px = null, py = null) => {
  const state = wepl.map, before = wepl.mapView(), x = px ?? before.width / 2, y = py ?? before.height / 2;
  const at = [(x - before.ox) / before.sx, (y - before.oy) / before.sy];
  state.zoom = Math.min(60, Math.max(1, state.zoom * factor));
  const after = wepl.mapView();
  state.x += at[0] - (x - after.ox) / after.sx;
  state.y += at[1] - (y - after.oy) / after.sy;
  if (state.zoom === 1) state.x = state.y = 0;
  wepl.planMap();
};
