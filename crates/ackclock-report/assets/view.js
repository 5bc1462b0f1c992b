// What is in view, and how time, sequence and window become pixels.

const data = JSON.parse(document.getElementById("data").textContent);
// Time in seconds; sequence as a share of each panel's own range, so that panels move together whatever their scales.
const full = { t0: data.view.t0, t1: data.view.t1, y0: 0, y1: 1 };
// What is in view at first, and after a reset.
const start = data.start ? startView() : full;
const view = { ...start };
const hidden = new Set(["arrival"]);
const layers = [...data.causes, ...data.layers];
const darkMode = matchMedia("(prefers-color-scheme: dark)");
let theme = {};

function startView() {
  const { y0, y1 } = data.view;
  const share = (y) => Math.min(Math.max((y - y0) / (y1 - y0), 0), 1);
  return { t0: data.start.t0, t1: data.start.t1, y0: share(data.start.y0), y1: share(data.start.y1) };
}

// White and black, in which views are saved.
const PAPER = { panel: "#ffffff", ink: "#1b2430", soft: "#5a6675", line: "#d8dee6", accent: "#0062b3" };

function readTheme(dark = darkMode.matches) {
  const css = getComputedStyle(document.documentElement);
  theme = { dark, colour: Object.fromEntries(layers.map((l) => [l.key, dark ? l.dark : l.light])) };
  for (const name in PAPER) theme[name] = dark === darkMode.matches ? css.getPropertyValue("--" + name).trim() : PAPER[name];
}

// Margins around the plots of a canvas, the gap between graph and strip, and the height of the strip, in CSS pixels.
const LEFT = 46, RIGHT = 12, TOP = 20, BOTTOM = 34, GAP = 26, STRIP = 84;

// The mapping of one panel at its present size. `scale` has its whole range in segments.
function geometry(width, height, scale) {
  const [range, size] = [scale.y1 - scale.y0, view.y1 - view.y0];
  const w = Math.max(width - LEFT - RIGHT, 1);
  const stripTop = height - BOTTOM - STRIP;
  const h = Math.max(stripTop - GAP - TOP, 1);
  return {
    w, h, stripTop,
    x: (t) => LEFT + ((t - view.t0) / (view.t1 - view.t0)) * w,
    y: (segment) => TOP + h - (((segment - scale.y0) / range - view.y0) / size) * h,
    s: (segments) => stripTop + STRIP - (segments / scale.w1) * STRIP,
    time: (px) => view.t0 + ((px - LEFT) / w) * (view.t1 - view.t0),
    share: (py) => view.y0 + ((TOP + h - py) / h) * size,
    // The first and the last segment in view, and the top of the strip.
    y0: scale.y0 + view.y0 * range, y1: scale.y0 + view.y1 * range, w1: scale.w1,
  };
}

// Sets the view unless floating point could no longer tell its ends apart.
function setView(t0, t1, y0, y1) {
  const wide = (a, b) => b - a > Math.max(Math.abs(a), Math.abs(b), 1) * 1e-12 && Number.isFinite(a + b);
  if (!wide(t0, t1) || !wide(y0, y1)) return;
  Object.assign(view, { t0, t1, y0, y1 });
  redraw();
}

// Keeps [a, b] inside [low, high] as far as it fits.
function inside(a, b, low, high) {
  if (b - a >= high - low) return [low, high];
  const shift = a < low ? low - a : b > high ? high - b : 0;
  return [a + shift, b + shift];
}

function zoomBy(factor, t, axis) {
  const stretch = (a, b, c, low, high) => inside(c - (c - a) * factor, c + (b - c) * factor, low, high);
  if (axis === "y") setView(view.t0, view.t1, ...stretch(view.y0, view.y1, t, full.y0, full.y1));
  else setView(...stretch(view.t0, view.t1, t, full.t0, full.t1), view.y0, view.y1);
}

function panBy(dt, dy) {
  setView(
    ...inside(view.t0 + dt, view.t1 + dt, full.t0, full.t1),
    ...inside(view.y0 + dy, view.y1 + dy, full.y0, full.y1),
  );
}

function reset() {
  setView(start.t0, start.t1, start.y0, start.y1);
}

// First index in the ascending column with value >= v.
function lowerBound(column, v) {
  let low = 0, high = column.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (column[mid] < v) low = mid + 1;
    else high = mid;
  }
  return low;
}

// Round values in [a, b], at most about n of them, and the digits they need.
function ticks(a, b, n) {
  const raw = (b - a) / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((m) => m * power >= raw * 0.999) * power;
  const values = [];
  for (let i = Math.ceil(a / step); values.length < 4 * n && i * step <= b; i++) values.push(i * step);
  return { values, step };
}

// The class of a timeout, for people.
const classText = (name) => (name === "non_trigger" ? "non-trigger" : name.replaceAll("_", " "));

function label(value, step) {
  if (value === 0) return "0";
  const [unit, suffix] = step >= 1e9 ? [1e9, "G"] : step >= 1e6 ? [1e6, "M"] : step >= 1e4 ? [1e3, "k"] : [1, ""];
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / unit) + 1e-9)));
  return (value / unit).toFixed(digits) + suffix;
}
