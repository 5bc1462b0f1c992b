// Draws one panel: the time-sequence graph, and below it the windows.

const FONT = "12px system-ui, 'DejaVu Sans', sans-serif";
const SMALL = "11px system-ui, 'DejaVu Sans', sans-serif";
const BOLD = "bold 11px system-ui, 'DejaVu Sans', sans-serif";

// Draws panel `p` and returns how many segments are in view.
function drawPanel(p) {
  const { ctx, trace } = p;
  const g = (p.g = geometry(p.width, p.height, trace.own ?? data.view));
  ctx.setTransform(p.ratio, 0, 0, p.ratio, 0, (p.top ?? 0) * p.ratio);
  ctx.fillStyle = theme.panel;
  ctx.fillRect(0, 0, p.width, p.height);
  drawAxes(ctx, g);
  drawMarks(ctx, g);

  ctx.save();
  ctx.beginPath();
  ctx.rect(LEFT, TOP, g.w, g.h);
  ctx.rect(LEFT, g.stripTop, g.w, STRIP);
  ctx.clip();
  if (shown("in_recovery")) drawRecoveries(ctx, g, trace.recoveries);
  drawStalls(ctx, g, trace.stalls);
  ctx.restore();

  // A window or ssthresh above its scale stays out of the graph.
  ctx.save();
  ctx.beginPath();
  ctx.rect(LEFT, g.stripTop, g.w, STRIP);
  ctx.clip();
  drawWindows(ctx, g, trace);
  ctx.restore();

  ctx.save();
  ctx.beginPath();
  ctx.rect(LEFT, TOP, g.w, g.h);
  ctx.clip();
  if (shown("edge")) drawSteps(ctx, g, trace.acks.t, trace.acks.edge, trace.mss, "edge", g.y, [6, 3]);
  if (shown("sack")) drawSacks(ctx, g, trace);
  if (shown("ack")) drawSteps(ctx, g, trace.acks.t, trace.acks.ack, trace.mss, "ack", g.y, []);
  if (shown("dupack")) drawDupacks(ctx, g, trace);
  if (shown("arrival")) drawArrivals(ctx, g, trace);
  if (shown("zero")) drawZeroWindows(ctx, g, trace);
  const drawn = drawSegments(ctx, g, trace);
  if (shown("drop")) drawDrops(ctx, g, p);
  if (shown("spurious")) drawSpurious(ctx, g, trace);
  ctx.restore();
  drawMoments(ctx, g, trace);
  drawVerdicts(ctx, g, trace.stalls);
  return drawn;
}

function shown(key) {
  return !hidden.has(key);
}

function drawAxes(ctx, g) {
  const bottom = g.stripTop + STRIP;
  ctx.lineWidth = 1;
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  ctx.strokeStyle = theme.line;
  ctx.fillStyle = theme.soft;
  const line = (x0, y0, x1, y1) => {
    ctx.beginPath();
    ctx.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
    ctx.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
    ctx.stroke();
  };
  const time = ticks(view.t0, view.t1, Math.max(2, g.w / 90));
  ctx.textAlign = "center";
  for (const t of time.values) {
    line(g.x(t), TOP, g.x(t), TOP + g.h);
    line(g.x(t), g.stripTop, g.x(t), bottom);
    ctx.fillText(label(t, time.step), g.x(t), bottom + 11);
  }
  ctx.textAlign = "right";
  const rows = ticks(g.y0, g.y1, Math.max(2, g.h / 45));
  for (const v of rows.values) {
    line(LEFT, g.y(v), LEFT + g.w, g.y(v));
    ctx.fillText(label(v, rows.step), LEFT - 6, g.y(v));
  }
  const windows = ticks(0, g.w1, 3);
  for (const v of windows.values) {
    line(LEFT, g.s(v), LEFT + g.w, g.s(v));
    ctx.fillText(label(v, windows.step), LEFT - 6, g.s(v));
  }
  ctx.font = SMALL;
  ctx.fillText("time (s)", LEFT + g.w, bottom + 25);
  ctx.textAlign = "left";
  ctx.fillText("sequence (segments)", LEFT, TOP - 10);
  ctx.fillText("windows (segments)", LEFT, g.stripTop - 10);
  ctx.strokeStyle = theme.soft;
  ctx.strokeRect(LEFT + 0.5, TOP + 0.5, g.w - 1, g.h - 1);
  ctx.strokeRect(LEFT + 0.5, g.stripTop + 0.5, g.w - 1, STRIP - 1);
}

// A thin line at each marked time, with its word below the top of the graph.
function drawMarks(ctx, g) {
  ctx.font = SMALL;
  ctx.lineWidth = 1;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ctx.strokeStyle = ctx.fillStyle = theme.soft;
  for (const { at, label } of data.marks) {
    if (at < view.t0 || at > view.t1) continue;
    ctx.setLineDash([2, 3]);
    ctx.beginPath();
    ctx.moveTo(g.x(at), TOP);
    ctx.lineTo(g.x(at), TOP + g.h);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.save();
    ctx.translate(g.x(at) - 7, TOP + 6);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(label, 0, 0);
    ctx.restore();
  }
}

// A line that stays at each value until the next one. Of the steps within one pixel column only the extent and the last
// value are drawn.
function drawSteps(ctx, g, t, values, mss, key, to, dash, end) {
  const right = end === undefined ? g.x(t[t.length - 1] ?? 0) : end;
  let last = null, column = null, low = 0, high = 0;
  const flush = () => {
    if (last === null || (low === last && high === last)) return;
    ctx.lineTo(column, low);
    ctx.lineTo(column, high);
    ctx.lineTo(column, last);
  };
  ctx.beginPath();
  for (let i = Math.max(lowerBound(t, view.t0) - 1, 0); i < t.length && t[i] <= view.t1; i++) {
    const x = Math.round(2 * Math.max(g.x(t[i]), LEFT - 5)) / 2;
    if (values[i] === null) {
      flush();
      if (last !== null) ctx.lineTo(x, last);
      last = null;
      continue;
    }
    const y = to(values[i] / mss);
    if (last === null) {
      ctx.moveTo(x, y);
      [column, low, high] = [x, y, y];
    } else if (x === column) {
      [low, high] = [Math.min(low, y), Math.max(high, y)];
    } else {
      flush();
      ctx.lineTo(x, last);
      ctx.lineTo(x, y);
      [column, low, high] = [x, y, y];
    }
    last = y;
  }
  flush();
  if (last !== null) ctx.lineTo(Math.min(right, LEFT + g.w + 5), last);
  ctx.strokeStyle = theme.colour[key];
  ctx.lineWidth = key === "edge" ? 1 : 1.6;
  ctx.lineJoin = "bevel";
  ctx.setLineDash(dash);
  ctx.stroke();
  ctx.setLineDash([]);
}

function drawRecoveries(ctx, g, r) {
  for (let i = 0; i < r.t0.length; i++) drawBand(ctx, g, "in_recovery", r.t0[i], r.t1[i] ?? full.t1, theme.dark ? 0.16 : 0.14);
}

// Shades a time in both plots.
function drawBand(ctx, g, key, t0, t1, alpha) {
  const x0 = g.x(t0), x1 = g.x(t1);
  ctx.fillStyle = theme.colour[key];
  ctx.globalAlpha = alpha;
  ctx.fillRect(x0, TOP, Math.max(x1 - x0, 1), g.h);
  ctx.fillRect(x0, g.stripTop, Math.max(x1 - x0, 1), STRIP);
  ctx.globalAlpha = 1;
}

function drawStalls(ctx, g, s) {
  s.tone.forEach((tone, i) => shown(tone) && drawBand(ctx, g, tone, s.t0[i], s.t1[i], theme.dark ? 0.26 : 0.18));
}

// What each stall is, along the bottom of the graph, or upwards where it is too short for that.
function drawVerdicts(ctx, g, s) {
  ctx.font = BOLD;
  ctx.lineWidth = 3;
  ctx.textBaseline = "middle";
  ctx.strokeStyle = theme.panel;
  s.label.forEach((text, i) => {
    const x0 = Math.max(g.x(s.t0[i]), LEFT), x1 = Math.min(g.x(s.t1[i]), LEFT + g.w);
    if (!shown(s.tone[i]) || x1 - x0 < 13) return;
    const flat = x1 - x0 > ctx.measureText(text).width + 4;
    ctx.save();
    ctx.translate((x0 + x1) / 2, TOP + g.h - (flat ? 10 : 6));
    ctx.rotate(flat ? 0 : -Math.PI / 2);
    ctx.textAlign = flat ? "center" : "left";
    ctx.fillStyle = theme.colour[s.tone[i]];
    ctx.strokeText(text, 0, 0);
    ctx.fillText(text, 0, 0);
    ctx.restore();
  });
}

// A thick line along the window edge while the window is closed.
function drawZeroWindows(ctx, g, trace) {
  const z = trace.zero;
  ctx.fillStyle = theme.colour.zero;
  z.t0.forEach((t0, i) => {
    const x = g.x(t0), width = g.x(z.t1[i] ?? full.t1) - x;
    ctx.fillRect(x, g.y(z.edge[i] / trace.mss) - 2, Math.max(width, 2), 4);
  });
}

// A ring around each transmission that was not needed.
function drawSpurious(ctx, g, trace) {
  const { fates: f, segments: s } = trace;
  ctx.strokeStyle = theme.colour.spurious;
  ctx.lineWidth = 1.6;
  ctx.beginPath();
  f.segment.forEach((i, n) => {
    if (f.spurious[n] === null) return;
    const x = g.x(s.t[i]), y = g.y((s.seq[i] + s.len[i] / 2) / trace.mss);
    ctx.moveTo(x + 5, y);
    ctx.arc(x, y, 5, 0, 2 * Math.PI);
  });
  ctx.stroke();
}

function drawWindows(ctx, g, trace) {
  const w = trace.windows, right = g.x(w.end ?? full.t1);
  const steps = (column, key, dash) => shown(key) && drawSteps(ctx, g, w.t, column, trace.mss, key, g.s, dash, right);
  steps(w.flight, "flight", [1.5, 2]);
  steps(w.ssthresh, "ssthresh", [5, 3]);
  steps(w.cwnd, "cwnd", []);
  if (shown("reduced")) drawReduced(ctx, g, trace.reduced.t);
}

// A short line at the foot of the windows for each reduction for ECN.
function drawReduced(ctx, g, times) {
  const foot = g.stripTop + STRIP;
  ctx.strokeStyle = theme.colour.reduced;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  for (let i = lowerBound(times, view.t0); i < times.length && times[i] <= view.t1; i++) {
    const x = g.x(times[i]);
    ctx.moveTo(x, foot);
    ctx.lineTo(x, foot - 9);
  }
  ctx.stroke();
}

// Marks closer together than this many pixels would grow into a solid area; those between are left out.
const HATCH = 3;

// Every block at the time of the ACK that carried it; the first one, which shows what just arrived, stronger.
function drawSacks(ctx, g, trace) {
  const a = trace.acks;
  ctx.fillStyle = theme.colour.sack;
  let last = -Infinity;
  for (let i = lowerBound(a.t, view.t0); i < a.t.length && a.t[i] <= view.t1; i++) {
    const x = g.x(a.t[i]);
    if (x - last < HATCH || a.sack[i].length === 0) continue;
    last = x;
    a.sack[i].forEach(([left, right], n) => {
      ctx.globalAlpha = n === 0 ? 0.9 : 0.45;
      const top = g.y(right / trace.mss);
      ctx.fillRect(x - 0.5, top, 1, Math.max(g.y(left / trace.mss) - top, 1));
    });
  }
  ctx.globalAlpha = 1;
}

function isDupack(a, i) {
  return a.dupacks[i] > 0 && a.newly_acked[i] === 0;
}

function drawDupacks(ctx, g, trace) {
  const a = trace.acks;
  ctx.beginPath();
  let last = -Infinity;
  for (let i = lowerBound(a.t, view.t0); i < a.t.length && a.t[i] <= view.t1; i++) {
    const x = g.x(a.t[i]);
    if (!isDupack(a, i) || x - last < HATCH) continue;
    last = x;
    const y = g.y(a.ack[i] / trace.mss);
    ctx.moveTo(x, y);
    ctx.lineTo(x, y + 5);
  }
  ctx.strokeStyle = theme.colour.dupack;
  ctx.lineWidth = 1;
  ctx.stroke();
}

function drawArrivals(ctx, g, trace) {
  const a = trace.arrivals;
  ctx.fillStyle = theme.colour.arrival;
  for (let i = lowerBound(a.t, view.t0); i < a.t.length && a.t[i] <= view.t1; i++) {
    const top = g.y((a.seq[i] + a.len[i]) / trace.mss);
    ctx.fillRect(g.x(a.t[i]) - 0.5, top, 1, Math.max(g.y(a.seq[i] / trace.mss) - top, 2));
  }
}

// Bars from the first to the last byte, in the order of causes so that retransmissions lie on top. Bars in one pixel
// column that touch become one.
function drawSegments(ctx, g, trace) {
  const s = trace.segments;
  const from = lowerBound(s.t, view.t0), runs = data.causes.map(() => []);
  let count = 0;
  for (let i = from; i < s.t.length && s.t[i] <= view.t1; i++) {
    const y0 = s.seq[i] / trace.mss, y1 = (s.seq[i] + s.len[i]) / trace.mss;
    if (y1 < g.y0 || y0 > g.y1) continue;
    count++;
    const run = runs[s.cause[i]], least = data.causes[s.cause[i]].letter ? 5 : 2;
    const x = g.x(s.t[i]), bottom = g.y(y0), top = Math.min(g.y(y1), bottom - least);
    const n = run.length;
    if (n > 0 && Math.abs(x - run[n - 3]) < 0.5 && top <= run[n - 2] + 1 && bottom >= run[n - 1] - 1) {
      run[n - 2] = Math.max(run[n - 2], bottom);
      run[n - 1] = Math.min(run[n - 1], top);
    } else {
      run.push(x, bottom, top);
    }
  }
  const heads = g.h / (g.y1 - g.y0) > 9;
  const taken = new Set();
  data.causes.forEach((cause, c) => {
    if (!shown(cause.key)) return;
    const run = runs[c], half = cause.letter ? 1.5 : 1;
    ctx.fillStyle = theme.colour[cause.key];
    for (let n = 0; n < run.length; n += 3) {
      const [x, bottom, top] = [run[n], run[n + 1], run[n + 2]];
      ctx.fillRect(x - half, top, 2 * half, bottom - top);
      if (heads) {
        ctx.fillRect(x - half - 1.5, top, 2 * half + 3, 1);
        ctx.fillRect(x - half - 1.5, bottom - 1, 2 * half + 3, 1);
      }
      if (cause.letter) drawLetter(ctx, cause, x, (top + bottom) / 2, taken);
    }
  });
  return count;
}

// A letter right of the bar, unless another one already stands there.
function drawLetter(ctx, cause, x, y, taken) {
  const cell = Math.round(x / 8) * 4096 + Math.round(y / 10);
  if (taken.has(cell)) return;
  taken.add(cell);
  ctx.font = BOLD;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.lineWidth = 3;
  ctx.strokeStyle = theme.panel;
  ctx.strokeText(cause.letter, x + 5, y + 0.5);
  ctx.fillText(cause.letter, x + 5, y + 0.5);
}

// A cross over each transmission that the network dropped, or that an analysis found lost.
function drawDrops(ctx, g, { trace, fates }) {
  const s = trace.segments;
  ctx.beginPath();
  for (let i = lowerBound(s.t, view.t0); i < s.t.length && s.t[i] <= view.t1; i++) {
    if (s.drop[i] === null && !fates.get(i)?.lost) continue;
    const x = g.x(s.t[i]), y = g.y((s.seq[i] + s.len[i] / 2) / trace.mss);
    ctx.moveTo(x - 3.5, y - 3.5);
    ctx.lineTo(x + 3.5, y + 3.5);
    ctx.moveTo(x - 3.5, y + 3.5);
    ctx.lineTo(x + 3.5, y - 3.5);
  }
  for (const [style, width] of [[theme.panel, 3.5], [theme.colour.drop, 1.6]]) {
    ctx.strokeStyle = style;
    ctx.lineWidth = width;
    ctx.stroke();
  }
}

// Timeouts and undos: vertical lines through both plots, named along the line.
function drawMoments(ctx, g, trace) {
  const moments = [];
  if (shown("rto")) {
    const o = trace.timeouts;
    o.t.forEach((t, i) => moments.push([t, "rto", "timeout: " + classText(o.class[i])]));
  }
  if (shown("undo")) trace.undone.t.forEach((t, i) => moments.push([t, "undo", "undone by " + trace.undone.by[i]]));
  const names = [];
  let named = -Infinity;
  for (const [t, key, text] of moments.sort((a, b) => a[0] - b[0])) {
    const x = g.x(t);
    if (x < LEFT || x > LEFT + g.w) continue;
    ctx.strokeStyle = theme.colour[key];
    ctx.lineWidth = 1.3;
    ctx.setLineDash([7, 3, 2, 3]);
    ctx.beginPath();
    ctx.moveTo(x, TOP);
    ctx.lineTo(x, TOP + g.h);
    ctx.moveTo(x, g.stripTop);
    ctx.lineTo(x, g.stripTop + STRIP);
    ctx.stroke();
    ctx.setLineDash([]);
    if (x - named < 14) continue;
    named = x;
    names.push([x, key, text]);
  }
  // Above all lines, which would cross them.
  for (const [x, key, text] of names) {
    ctx.save();
    ctx.translate(x < LEFT + 16 ? x + 8 : x - 7, TOP + 6);
    ctx.rotate(-Math.PI / 2);
    ctx.font = SMALL;
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.lineWidth = 3;
    ctx.strokeStyle = theme.panel;
    ctx.fillStyle = theme.colour[key];
    ctx.strokeText(text, 0, 0);
    ctx.fillText(text, 0, 0);
    ctx.restore();
  }
}

// The sign of a layer in the legend, on a canvas of 20 by 14.
function drawSign(ctx, layer) {
  const colour = theme.colour[layer.key];
  ctx.fillStyle = ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  const path = (...points) => {
    ctx.beginPath();
    points.forEach(([x, y], i) => (i && x !== null ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    ctx.stroke();
  };
  if (layer.letter) {
    ctx.fillRect(4, 1, 3, 12);
    ctx.font = BOLD;
    ctx.textBaseline = "middle";
    ctx.fillText(layer.letter, 10, 7.5);
    return;
  }
  switch (layer.key) {
    case "drop": path([6, 3], [14, 11]); path([6, 11], [14, 3]); break;
    case "dupack": path([1, 4], [19, 4]); path([6, 4], [6, 11]); path([13, 4], [13, 11]); break;
    case "sack": ctx.globalAlpha = 0.75; ctx.fillRect(6, 1, 2, 12); ctx.fillRect(12, 4, 2, 9); break;
    case "spurious": ctx.beginPath(); ctx.arc(10, 7, 4, 0, 2 * Math.PI); ctx.stroke(); break;
    case "zero": ctx.fillRect(1, 5, 18, 4); break;
    case "in_recovery": case "loss": case "window": case "other": ctx.globalAlpha = 0.35; ctx.fillRect(2, 1, 16, 12); break;
    case "rto": case "undo": ctx.setLineDash([4, 2, 1, 2]); path([10, 0], [10, 14]); break;
    case "reduced": path([10, 5], [10, 14]); break;
    case "edge": ctx.setLineDash([5, 2]); path([1, 7], [19, 7]); break;
    case "ssthresh": ctx.setLineDash([4, 2]); path([1, 7], [19, 7]); break;
    case "flight": ctx.setLineDash([1.5, 2]); // and as cwnd
    case "ack": case "cwnd": path([1, 11], [8, 11], [8, 4], [19, 4]); break;
    default: ctx.fillRect(9, 1, 2, 12);
  }
}
