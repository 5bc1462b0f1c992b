// The time-sequence graphs: what a run has, where it is on a canvas, and drawing it.

const ROW = 11;
const KIND = { sent: 0, acked: 1, lost: 3, entered: 4, left: 5, timedOut: 6, arrived: 9, dropped: 10, ackDropped: 11 };
const LEFT = 46, RIGHT = 8, TOP = 8, BOTTOM = 20, STRIP = 70, GAP = 18;

// The letter beside a retransmission, so that no cause is told by colour alone, and its colours on
// a light and on a dark ground: those of all pictures of the project.
const SIGNS = {
  new: ["", "#3b4350", "#c3cad6"], limited_transmit: ["L", "#8a5a00", "#f0b429"],
  fast_retransmit: ["F", "#d1410c", "#ff7a3d"], recovery: ["R", "#0062b3", "#56b4e9"],
  slow_start: ["S", "#007f5c", "#2fd0a0"], timeout: ["T", "#a3005c", "#ff6fb5"],
  backed_off_timeout: ["B", "#a3005c", "#ff6fb5"], f_rto: ["U", "#8a5a00", "#f0b429"],
  tail_loss_probe: ["P", "#8a5a00", "#f0b429"], marker: ["M", "#8a5a00", "#f0b429"],
  filler: ["D", "#8a5a00", "#f0b429"], window_probe: ["W", "#8a5a00", "#f0b429"],
  handshake: ["H", "#3b4350", "#c3cad6"],
  // Only captures have it.
  unknown: ["", "#3b4350", "#c3cad6"],
};
const ACK = ["#1f7a48", "#58c98b"], LOST = ["#000000", "#ffffff"], SSTHRESH = ["#d1410c", "#ff7a3d"];
// Names whose words are not those of the name.
const SPELT = { f_rto: "F-RTO", backed_off_timeout: "backed-off timeout" };
const words = (name) => SPELT[name] ?? name.replaceAll("_", " ");

let theme = {};
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches ? 1 : 0;
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  theme = {
    panel: of("panel"), ink: of("ink"), soft: of("soft"), line: of("line"), accent: of("accent"),
    ack: ACK[dark], lost: LOST[dark], ssthresh: SSTHRESH[dark],
    causes: names.causes.map((cause) => ({ cause, letter: SIGNS[cause][0], colour: SIGNS[cause][1 + dark] })),
  };
}

// The marks of a run in the order of time: segments, ACKs that came and ACKs that did not.
function tracesOf({ about, rows, acks }) {
  const mss = about.mss, marks = [], sent = new Map(), windows = [], recoveries = [], timeouts = [], came = [], gone = new Map();
  for (let i = 0; i < rows.length; i += ROW) {
    const kind = rows[i], t = rows[i + 1] / 1e9, a = rows[i + 2], b = rows[i + 3], c = rows[i + 4], d = rows[i + 5];
    if (kind === KIND.sent && b > 0) {
      const mark = {
        kind: "segment", t, y: a / mss, h: b / mss, segment: [Math.floor(a / mss), d], ack: null, cause: c, dropped: null, row: i,
      };
      sent.set(`${a}.${d}`, mark);
      marks.push(mark);
    } else if (kind === KIND.acked) {
      const mark = { kind: "ack", t, y: a / mss, h: 0, segment: null, ack: rows[i + 10], dupacks: b, came: true, row: i };
      marks.push(mark);
      came.push(mark);
    } else if (kind === KIND.dropped) {
      const mark = sent.get(`${a}.${c}`);
      if (mark) mark.dropped = about.words[d];
    } else if (kind === KIND.ackDropped) gone.set(a, (gone.get(a) ?? 0) + 1);
    else if (kind === KIND.entered) recoveries.push([t, Infinity]);
    else if (kind === KIND.left) {
      // The end of what a timeout began is told in the same way, with no recovery before it.
      if (recoveries.at(-1)?.[1] === Infinity) recoveries.at(-1)[1] = t;
    }
    else if (kind === KIND.timedOut) timeouts.push(t);
    windows.push(t, rows[i + 6] / mss, rows[i + 7] < 0 ? NaN : rows[i + 7] / mss);
  }
  for (let i = 0; i < acks.length; i += 4) {
    if (acks[i + 3] >= 0) continue;
    // Of those that acknowledge the same, the first: the others were on their way at the end.
    const left = gone.get(acks[i + 2]) ?? 0;
    gone.set(acks[i + 2], left - 1);
    marks.push({ kind: "ack", t: acks[i + 1] / 1e9, y: acks[i + 2] / mss, h: 0, segment: null, ack: acks[i], came: false, lost: left > 0 });
  }
  marks.sort((m, n) => m.t - n.t);
  const end = rows.length ? rows[rows.length - ROW + 1] / 1e9 : 1;
  return { about, mss, rows, marks, came, windows, recoveries, timeouts, end };
}

// Everything, over all runs.
function wholeOf(runs) {
  let t = 0.001, y = 1, w = 1;
  for (const { marks, windows, end } of runs) {
    t = Math.max(t, end);
    for (const m of marks) y = Math.max(y, m.y + m.h);
    for (let i = 1; i < windows.length; i += 3) w = Math.max(w, windows[i]);
  }
  return { t0: -0.02 * t, t1: 1.02 * t, y0: -0.03 * y, y1: 1.04 * y, w1: 1.1 * w };
}

// Around what was lost, where that is little of a long transfer.
function startOf(runs, whole) {
  const lost = runs.flatMap((run) => run.marks.filter((m) => m.dropped !== null && m.dropped !== undefined));
  if (whole.y1 < 400 || !lost.length) return whole;
  const t = lost.map((m) => m.t), y = lost.map((m) => m.y);
  const [t0, t1] = [Math.min(...t), Math.max(...t)], [y0, y1] = [Math.min(...y), Math.max(...y)];
  const more = Math.max(1.2, (t1 - t0) * 0.7), higher = Math.max(60, (y1 - y0) * 2);
  return {
    ...whole,
    t0: Math.max(whole.t0, t0 - more / 3), t1: Math.min(whole.t1, t1 + more),
    y0: Math.max(whole.y0, y0 - higher / 2), y1: Math.min(whole.y1, y1 + higher),
  };
}

// Where the graph is on a canvas.
function geometry(p, view) {
  const w = p.width - LEFT - RIGHT, h = p.height - TOP - BOTTOM - STRIP - GAP, strip = TOP + h + GAP;
  const kx = w / (view.t1 - view.t0), ky = h / (view.y1 - view.y0);
  return {
    w, h, strip, kx, ky,
    x: (t) => LEFT + (t - view.t0) * kx,
    y: (s) => TOP + h - (s - view.y0) * ky,
    win: (s) => strip + STRIP - (s / view.w1) * STRIP,
    time: (x) => view.t0 + (x - LEFT) / kx,
    position: (y) => view.y0 + (TOP + h - y) / ky,
  };
}

// The step of a scale with about `count` labels.
function tick(span, count) {
  const raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].find((n) => n * power >= raw) * power;
}

function drawPanel(p, view, until, selected, moment) {
  const { ctx, run } = p, g = (p.g = geometry(p, view));
  ctx.setTransform(p.ratio, 0, 0, p.ratio, 0, 0);
  ctx.fillStyle = theme.panel;
  ctx.fillRect(0, 0, p.width, p.height);
  drawAxes(ctx, g, p, view);
  if (!run) return;
  const clipped = (y, h, draw) => {
    ctx.save();
    ctx.beginPath();
    ctx.rect(LEFT, y, g.w, h);
    ctx.clip();
    draw();
    ctx.restore();
  };
  clipped(TOP, g.h + GAP + STRIP, () => {
    ctx.fillStyle = "#e9a23b2e";
    for (const [t0, t1] of run.recoveries) {
      if (t0 <= until) ctx.fillRect(g.x(t0), TOP, Math.max(1, g.x(Math.min(t1, until, run.end)) - g.x(t0)), g.h);
    }
    ctx.strokeStyle = theme.causes[5].colour;
    ctx.lineWidth = 1.5;
    ctx.setLineDash([3, 3]);
    for (const t of run.timeouts) {
      if (t > until) break;
      line(ctx, g.x(t), TOP, g.x(t), TOP + g.h);
    }
    ctx.setLineDash([]);
  });
  clipped(g.strip, STRIP, () => drawWindows(ctx, g, run, until));
  clipped(TOP, g.h, () => {
    drawAckLine(ctx, g, run, until);
    drawMarks(ctx, g, run, view, until);
    if (moment !== null && moment <= until) {
      ctx.strokeStyle = theme.accent;
      ctx.lineWidth = 1;
      line(ctx, g.x(moment), TOP, g.x(moment), TOP + g.h);
    }
    if (until < run.end) {
      ctx.strokeStyle = theme.soft;
      line(ctx, g.x(until), TOP, g.x(until), TOP + g.h);
    }
    if (selected) {
      ctx.strokeStyle = theme.accent;
      ctx.lineWidth = 2.5;
      ctx.beginPath();
      ctx.arc(g.x(selected.t), g.y(selected.y + selected.h / 2), 10, 0, 7);
      ctx.stroke();
    }
  });
}

function line(ctx, x0, y0, x1, y1) {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

function drawAxes(ctx, g, p, view) {
  ctx.lineWidth = 1;
  ctx.strokeStyle = theme.line;
  ctx.fillStyle = theme.soft;
  ctx.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  ctx.textBaseline = "middle";
  const dt = tick(view.t1 - view.t0, Math.max(2, g.w / 90)), decimals = Math.max(0, -Math.floor(Math.log10(dt)));
  ctx.textAlign = "center";
  for (let t = Math.ceil(view.t0 / dt) * dt; t <= view.t1; t += dt) {
    const x = Math.round(g.x(t)) + 0.5;
    line(ctx, x, TOP, x, TOP + g.h);
    ctx.fillText(`${t.toFixed(decimals)} s`, x, TOP + g.h + GAP / 2);
  }
  ctx.textAlign = "right";
  const dy = Math.max(1, tick(view.y1 - view.y0, Math.max(2, g.h / 45)));
  for (let s = Math.ceil(Math.max(0, view.y0) / dy) * dy; s <= view.y1; s += dy) {
    const y = Math.round(g.y(s)) + 0.5;
    line(ctx, LEFT, y, LEFT + g.w, y);
    ctx.fillText(`${s}`, LEFT - 5, y);
  }
  ctx.fillText(`${Math.floor(view.w1)}`, LEFT - 5, g.strip + 5);
  ctx.strokeRect(LEFT + 0.5, g.strip + 0.5, g.w - 1, STRIP - 1);
  ctx.textAlign = "left";
  ctx.fillText("segments", LEFT + 4, TOP + 7);
  ctx.fillText("cwnd and ssthresh (dashed), segments", LEFT + 4, g.strip + STRIP + 11);
}

function drawWindows(ctx, g, { windows }, until) {
  const steps = (offset, colour, dash) => {
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1.5;
    ctx.setLineDash(dash);
    ctx.beginPath();
    let last = NaN, x = 0;
    for (let i = 0; i < windows.length && windows[i] <= until; i += 3) {
      x = g.x(windows[i]);
      const value = windows[i + offset];
      if (value === last || Number.isNaN(value)) continue;
      if (Number.isNaN(last)) ctx.moveTo(x, g.win(value));
      else {
        ctx.lineTo(x, g.win(last));
        ctx.lineTo(x, g.win(value));
      }
      last = value;
    }
    if (!Number.isNaN(last)) ctx.lineTo(x, g.win(last));
    ctx.stroke();
    ctx.setLineDash([]);
  };
  steps(1, theme.causes[3].colour, []);
  steps(2, theme.ssthresh, [4, 3]);
}

function drawAckLine(ctx, g, { came }, until) {
  ctx.strokeStyle = theme.ack;
  ctx.lineWidth = 1.2;
  ctx.beginPath();
  let last = null;
  for (const { t, y } of came) {
    if (t > until) break;
    if (last === null) ctx.moveTo(g.x(t), g.y(y));
    else {
      ctx.lineTo(g.x(t), g.y(last));
      ctx.lineTo(g.x(t), g.y(Math.max(y, last)));
    }
    last = Math.max(y, last ?? 0);
  }
  ctx.stroke();
}

function drawMarks(ctx, g, { marks }, view, until) {
  const thick = Math.min(4, Math.max(2, g.ky * 0.5)), letters = g.ky > 2.2;
  ctx.font = "bold 11px system-ui, 'DejaVu Sans', sans-serif";
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  for (const m of marks) {
    if (m.t > until) break;
    if (m.t < view.t0 || m.t > view.t1 || m.y + m.h < view.y0 || m.y > view.y1) continue;
    const x = g.x(m.t), y = g.y(m.y + m.h);
    if (m.kind === "segment") {
      const { colour, letter } = theme.causes[m.cause];
      const h = Math.max(3, m.h * g.ky);
      ctx.fillStyle = colour;
      ctx.fillRect(x - thick / 2, y, thick, h);
      if (letter && letters) ctx.fillText(letter, x + 5, y + h / 2);
      if (m.dropped !== null) cross(ctx, x, y + h / 2, 5, theme.lost);
    } else if (!m.came) {
      if (m.lost) cross(ctx, x, y, 4, theme.ack);
      else {
        // On its way at the end.
        ctx.strokeStyle = theme.ack;
        ctx.lineWidth = 1;
        ctx.strokeRect(x - 2, y - 2, 4, 4);
      }
    } else {
      ctx.fillStyle = theme.ack;
      if (m.dupacks > 0) ctx.fillRect(x - 3, y - 1, 6, 2);
      else ctx.fillRect(x - 1.5, y - 1.5, 3, 3);
    }
  }
}

function cross(ctx, x, y, r, colour) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  line(ctx, x - r, y - r, x + r, y + r);
  line(ctx, x - r, y + r, x + r, y - r);
}

// The mark nearest to a point of the canvas, if one is near.
function markAt(p, x, y, reach) {
  if (!p.run || !p.g) return null;
  let best = null, least = reach * reach;
  for (const m of p.run.marks) {
    const dx = p.g.x(m.t) - x;
    if (dx > reach) break;
    if (dx < -reach) continue;
    const top = p.g.y(m.y + m.h), bottom = Math.max(top, p.g.y(m.y));
    const dy = y < top ? top - y : y > bottom ? y - bottom : 0;
    // Of a segment and an ACK that are as near, the segment.
    const d = dx * dx + dy * dy + (m.kind === "ack" ? 1 : 0);
    if (d < least) [best, least] = [m, d];
  }
  return best;
}
