// Builds the page: panels, legend, pointer and keys.

const tip = document.getElementById("tip");
const panels = data.panels.map(buildPanel);
let pointer = null; // { panel, x, y } in CSS pixels of the panel's canvas
let drag = null; // { panel, x0, y0, pan, from }
let pending = false;
const fingers = new Map(); // where each one is that touches a canvas, by its id
let marked = null; // { panel, index } of the mark that the keyboard has reached

function buildPanel(trace) {
  const section = document.createElement("section");
  const heading = document.createElement("h2");
  const results = document.createElement("p");
  const canvas = document.createElement("canvas");
  heading.textContent = trace.name;
  results.textContent = trace.results;
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Time-sequence graph of ${trace.name}. ${trace.results}`);
  const head = document.createElement("div");
  head.className = "head";
  head.append(heading);
  section.append(head, results, canvas);
  document.getElementById("panels").append(section);
  const f = trace.fates;
  const fates = new Map(f.segment.map((i, n) => [i, { lost: f.lost[n], spurious: f.spurious[n] }]));
  const panel = { trace, fates, canvas, ctx: canvas.getContext("2d"), width: 0, height: 0, ratio: 1 };
  for (const kind of ["svg", "png"]) {
    const button = document.createElement("button");
    button.className = "save";
    button.textContent = kind.toUpperCase();
    button.title = `Save this view as ${kind.toUpperCase()}`;
    button.setAttribute("aria-label", `${button.title}: ${trace.name}`);
    button.addEventListener("click", () => save(panel, kind));
    head.append(button);
  }
  listen(panel);
  return panel;
}

function buildLegend() {
  const legend = document.getElementById("legend");
  for (const layer of layers) {
    if (!present(layer.key)) continue;
    const button = document.createElement("button");
    const sign = document.createElement("canvas");
    button.append(sign, layer.label);
    button.setAttribute("aria-pressed", String(shown(layer.key)));
    button.addEventListener("click", () => {
      if (!hidden.delete(layer.key)) hidden.add(layer.key);
      button.setAttribute("aria-pressed", String(shown(layer.key)));
      redraw();
    });
    legend.append(button);
    layer.sign = sign;
  }
}

// Whether any of these panels has something to draw in a layer.
function present(key, panels = data.panels) {
  const cause = data.causes.findIndex((c) => c.key === key);
  const has = {
    drop: (p) => p.segments.drop.some((d) => d !== null) || p.fates.lost.includes(true),
    spurious: (p) => p.fates.spurious.some((proof) => proof !== null),
    zero: (p) => p.zero.t0.length,
    loss: (p) => p.stalls.tone.includes("loss"),
    window: (p) => p.stalls.tone.includes("window"),
    other: (p) => p.stalls.tone.includes("other"),
    ack: (p) => p.acks.t.length,
    edge: (p) => p.acks.t.length,
    cwnd: (p) => p.windows.t.length,
    flight: (p) => p.windows.t.length,
    dupack: (p) => p.acks.dupacks.some((n) => n > 0),
    sack: (p) => p.acks.sack.some((blocks) => blocks.length > 0),
    in_recovery: (p) => p.recoveries.t0.length,
    rto: (p) => p.timeouts.t.length,
    reduced: (p) => p.reduced.t.length,
    undo: (p) => p.undone.t.length,
    arrival: (p) => p.arrivals.t.length,
    ssthresh: (p) => p.windows.ssthresh.some((v) => v !== null),
  };
  return panels.some(cause >= 0 ? (p) => p.segments.cause.includes(cause) : (has[key] ?? (() => true)));
}

function drawLegend() {
  for (const { sign, ...layer } of layers) {
    if (!sign) continue;
    sign.width = 20 * devicePixelRatio;
    sign.height = 14 * devicePixelRatio;
    const ctx = sign.getContext("2d");
    ctx.scale(devicePixelRatio, devicePixelRatio);
    drawSign(ctx, layer);
  }
}

function resize() {
  for (const p of panels) {
    const box = p.canvas.getBoundingClientRect();
    p.ratio = devicePixelRatio || 1;
    p.width = box.width;
    p.height = box.height;
    p.canvas.width = Math.round(box.width * p.ratio);
    p.canvas.height = Math.round(box.height * p.ratio);
  }
}

// Draws everything now; the number of segments in view is left on the root element for whoever tests the page.
function drawNow() {
  pending = false;
  let drawn = 0;
  for (const p of panels) {
    drawn += drawPanel(p);
    drawPointer(p);
  }
  document.documentElement.dataset.ready = drawn;
}

function redraw() {
  if (!pending) requestAnimationFrame(drawNow);
  pending = true;
}

// The zoom box on the panel where it is drawn, and the time under the pointer on all panels.
function drawPointer(p) {
  const { ctx, g } = p;
  if (drag && !drag.pan && pointer && drag.panel === p) {
    const box = zoomBox(p);
    ctx.fillStyle = theme.accent;
    ctx.globalAlpha = 0.18;
    ctx.fillRect(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0);
    ctx.globalAlpha = 1;
  } else if (pointer && !drag) {
    const t = pointer.panel.g.time(pointer.x);
    if (t < view.t0 || t > view.t1) return;
    ctx.strokeStyle = theme.soft;
    ctx.lineWidth = 1;
    ctx.setLineDash([2, 3]);
    ctx.beginPath();
    ctx.moveTo(g.x(t), TOP);
    ctx.lineTo(g.x(t), TOP + g.h);
    ctx.moveTo(g.x(t), g.stripTop);
    ctx.lineTo(g.x(t), g.stripTop + STRIP);
    ctx.stroke();
    ctx.setLineDash([]);
  }
}

// A drag that hardly leaves its row, or that lies in the strip, selects time alone.
function zoomBox(p) {
  const { g } = p, clamp = (v, low, high) => Math.min(Math.max(v, low), high);
  const [x0, x1] = [drag.x0, pointer.x].sort((a, b) => a - b).map((x) => clamp(x, LEFT, LEFT + g.w));
  const flat = Math.abs(pointer.y - drag.y0) < 10 || drag.y0 > TOP + g.h;
  const ys = flat ? [TOP, TOP + g.h] : [drag.y0, pointer.y].sort((a, b) => a - b).map((y) => clamp(y, TOP, TOP + g.h));
  return { x0, x1, y0: ys[0], y1: ys[1], flat };
}

function listen(p) {
  const { canvas } = p;
  const at = (e) => {
    const box = canvas.getBoundingClientRect();
    return { panel: p, x: e.clientX - box.left, y: e.clientY - box.top };
  };
  canvas.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    pointer = at(e);
    const touch = e.pointerType === "touch";
    if (touch) fingers.set(e.pointerId, pointer);
    drag = { panel: p, x0: pointer.x, y0: pointer.y, pan: e.shiftKey || touch, touch };
    if (e.isTrusted) canvas.setPointerCapture(e.pointerId);
    hideTip();
  });
  canvas.addEventListener("pointermove", (e) => {
    const before = fingers.get(e.pointerId) ?? pointer;
    pointer = at(e);
    if (fingers.has(e.pointerId)) {
      const other = [...fingers].find(([id]) => id !== e.pointerId)?.[1];
      fingers.set(e.pointerId, pointer);
      if (other) {
        pinch(p, before, pointer, other);
        return;
      }
    }
    if (drag?.touch) {
      // Upwards and downwards a finger scrolls the page.
      panBy(p.g.time(before.x) - p.g.time(pointer.x), 0);
    } else if (drag?.pan && before) {
      panBy(p.g.time(before.x) - p.g.time(pointer.x), p.g.share(before.y) - p.g.share(pointer.y));
    } else if (!drag) {
      showTip(e.clientX, e.clientY);
    }
    redraw();
  });
  canvas.addEventListener("pointerup", (e) => {
    pointer = at(e);
    fingers.delete(e.pointerId);
    if (drag?.touch && Math.hypot(pointer.x - drag.x0, pointer.y - drag.y0) < 8) showTip(e.clientX, e.clientY);
    if (drag && !drag.pan) {
      const box = zoomBox(p), { g } = p;
      const ys = box.flat ? [view.y0, view.y1] : [g.share(box.y1), g.share(box.y0)];
      if (box.x1 - box.x0 > 4) setView(g.time(box.x0), g.time(box.x1), ...ys);
    }
    drag = null;
    redraw();
  });
  for (const name of ["pointerleave", "pointercancel"]) {
    canvas.addEventListener(name, (e) => {
      fingers.delete(e.pointerId);
      drag = pointer = null;
      if (e.pointerType !== "touch") hideTip();
      redraw();
    });
  }
  canvas.addEventListener("dblclick", reset);
  canvas.addEventListener("wheel", (e) => onWheel(e, p, at(e)), { passive: false });
  canvas.addEventListener("keydown", (e) => onKey(e, p));
  canvas.addEventListener("blur", () => {
    marked = null;
    hideTip();
  });
}

function onWheel(e, p, { x, y }) {
  const delta = e.deltaY || e.deltaX, factor = Math.exp(Math.sign(delta) * Math.min(Math.abs(delta), 120) * 0.002);
  const axis = e.shiftKey ? "y" : "t";
  const all = axis === "y" ? view.y1 - view.y0 >= full.y1 - full.y0 : view.t1 - view.t0 >= full.t1 - full.t0;
  if (all && factor > 1) return; // nothing left to zoom out of: the page scrolls
  e.preventDefault();
  hideTip();
  zoomBy(factor, axis === "y" ? p.g.share(y) : p.g.time(x), axis);
}

// Two fingers: time under the one that rests stays, and the other one stretches it.
function pinch(p, before, now, rest) {
  const [was, is] = [Math.abs(before.x - rest.x), Math.abs(now.x - rest.x)];
  if (Math.min(was, is) > 10) zoomBy(was / is, p.g.time(rest.x), "t");
}

// The marks of a panel in the order of time: when, how far up in segments, and the lines that tell what it is.
function marksOf({ trace, fates }) {
  const { segments: s, acks: a, timeouts: o, mss } = trace, marks = [];
  s.t.forEach((t, i) => shown(data.causes[s.cause[i]].key)
    && marks.push([t, (s.seq[i] + s.len[i] / 2) / mss, () => describeSegment(trace, i, fates.get(i))]));
  if (shown("ack")) a.t.forEach((t, i) => marks.push([t, a.ack[i] / mss, () => describeAck(trace, i)]));
  if (shown("rto")) o.t.forEach((t, i) => marks.push([t, o.seq[i] / mss, () => describeTimeout(trace, i)]));
  trace.stalls.t0.forEach((t, i) => shown(trace.stalls.tone[i])
    && marks.push([t, null, () => describeStall(trace.stalls, (t + trace.stalls.t1[i]) / 2)]));
  return marks.sort((one, other) => one[0] - other[0]);
}

// Goes to the next mark, or to the one before, and tells what it is.
function step(p, by) {
  const marks = marksOf(p);
  if (marks.length === 0) return;
  const first = marks.findIndex(([t]) => t >= view.t0);
  const from = marked?.panel === p ? marked.index + by : by > 0 ? Math.max(first, 0) : marks.length - 1;
  const index = Math.min(Math.max(from, 0), marks.length - 1);
  const [t, segment, lines] = marks[index];
  marked = { panel: p, index };
  if (t < view.t0 || t > view.t1) panBy(t - (view.t0 + view.t1) / 2, 0);
  const g = geometry(p.width, p.height, p.trace.own ?? data.view), box = p.canvas.getBoundingClientRect();
  const y = segment === null ? TOP + g.h / 2 : Math.min(Math.max(g.y(segment), TOP), TOP + g.h);
  pointer = { panel: p, x: g.x(t), y };
  tell(lines(), box.left + pointer.x, box.top + y);
  redraw();
}

function onKey(e, p) {
  const dt = (view.t1 - view.t0) / 8, dy = (view.y1 - view.y0) / 8, middle = (view.t0 + view.t1) / 2;
  const act = {
    ArrowLeft: () => panBy(-dt, 0),
    ArrowRight: () => panBy(dt, 0),
    ArrowUp: () => panBy(0, dy),
    ArrowDown: () => panBy(0, -dy),
    "+": () => zoomBy(0.7, middle),
    "=": () => zoomBy(0.7, middle),
    "-": () => zoomBy(1 / 0.7, middle),
    n: () => step(p, 1),
    p: () => step(p, -1),
    0: reset,
    Home: reset,
    Escape: reset,
  }[e.key];
  if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
  e.preventDefault();
  act();
}

// Shows a time with room on either side.
function show(t0, t1) {
  const room = Math.max((t1 - t0) * 0.2, 1e-4);
  setView(...inside(t0 - room, t1 + room, full.t0, full.t1), full.y0, full.y1);
  document.getElementById("panels").scrollIntoView({ block: "start" });
}

// Buttons elsewhere on the page stand for times, and so may the address: `#t=1.5,2.5`.
for (const button of document.querySelectorAll("button[data-t0]")) {
  button.addEventListener("click", () => show(Number(button.dataset.t0), Number(button.dataset.t1)));
}

function showAddress() {
  const [, t0, t1] = location.hash.match(/^#t=([\d.e-]+),([\d.e-]+)$/) ?? [];
  if (t1 !== undefined) show(Number(t0), Number(t1));
}

function hideTip() {
  tip.hidden = true;
}

function showTip(x, y) {
  tell(describe(pointer.panel, pointer.x, pointer.y), x, y);
}

function tell(lines, x, y) {
  tip.hidden = !lines;
  if (!lines) return;
  const head = document.createElement("b");
  head.textContent = lines[0];
  tip.replaceChildren(head, lines.slice(1).filter(Boolean).join("\n"));
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, x + 16 + box.width > innerWidth ? x - 16 - box.width : x + 16) + "px";
  tip.style.top = Math.max(4, y + 16 + box.height > innerHeight ? y - 16 - box.height : y + 16) + "px";
}

const seconds = (t) => t.toFixed(6) + " s";
const inSegments = (bytes, mss) => (bytes === null ? "unset" : +(bytes / mss).toFixed(2));

// What the mark nearest to the pointer is and why it is there; null if none is near.
function describe({ trace, fates, g }, px, py) {
  if (px < LEFT || px > LEFT + g.w) return null;
  if (py > g.stripTop && py < g.stripTop + STRIP) return describeWindows(trace, g.time(px));
  let best = null, nearest = 10;
  const offer = (distance, text) => {
    if (distance < nearest) [nearest, best] = [distance, text];
  };
  const near = (column, each) => {
    const end = g.time(px + 10);
    for (let i = lowerBound(column, g.time(px - 10)); i < column.length && column[i] <= end; i++) each(i);
  };
  const s = trace.segments, a = trace.acks, o = trace.timeouts;
  const away = (t, low, high) => {
    const [bottom, top] = [g.y(low / trace.mss), g.y(high / trace.mss)];
    return Math.hypot(px - g.x(t), Math.max(top - py, py - bottom, 0));
  };
  near(s.t, (i) => {
    const cause = data.causes[s.cause[i]];
    // Retransmissions win over new data at the same place.
    const d = away(s.t[i], s.seq[i], s.seq[i] + s.len[i]) - (cause.letter ? 0.5 : 0);
    if (shown(cause.key)) offer(d, () => describeSegment(trace, i, fates.get(i)));
  });
  near(a.t, (i) => {
    if (shown("ack")) offer(away(a.t[i], a.ack[i], a.ack[i]) + 0.5, () => describeAck(trace, i));
    if (!shown("sack")) return;
    a.sack[i].forEach(([l, r]) => offer(away(a.t[i], l, r) + 1, () => describeAck(trace, i)));
  });
  near(o.t, (i) => {
    if (shown("rto")) offer(Math.abs(px - g.x(o.t[i])) + 3, () => describeTimeout(trace, i));
  });
  return best ? best() : describeStall(trace.stalls, g.time(px));
}

function describeStall(s, t) {
  const i = s.tone.findIndex((tone, n) => shown(tone) && s.t0[n] <= t && t <= s.t1[n]);
  if (i < 0) return null;
  return [s.label[i], s.why[i], `from ${seconds(s.t0[i])} to ${seconds(s.t1[i])}`];
}

function describeSegment(trace, i, fate) {
  const s = trace.segments, cause = data.causes[s.cause[i]], mss = trace.mss, { lost, recoveries: r, drops } = trace;
  const begun = cause.letter ? r.t0.indexOf(s.t[i]) : -1;
  let judged = -1;
  for (let n = lowerBound(lost.t, s.t[i] + 1e-12) - 1; s.transmission[i] > 1 && n >= 0 && judged < 0; n--) {
    if (lost.seq[n] === s.seq[i]) judged = n;
  }
  const drop = s.drop[i];
  return [
    `segment ${+(s.seq[i] / mss).toFixed(3)}, transmission ${s.transmission[i]}: ${cause.label}`,
    cause.why,
    begun >= 0 && `recovery entered by ${r.by[begun]}, until ${inSegments(r.recover[begun], mss)} is acknowledged`,
    judged >= 0 && `judged lost by ${lost.by[judged]} at ${seconds(lost.t[judged])}`,
    drop !== null && `DROPPED at ${seconds(drops.t[drop])}, link ${drops.link[drop]}: ${drops.why[drop]}`,
    fate?.lost && "LOST itself",
    fate?.spurious && `SPURIOUS: ${fate.spurious}`,
    `sent ${seconds(s.t[i])}, ${s.len[i] ? `bytes ${s.seq[i]} to ${s.seq[i] + s.len[i] - 1}` : "without data"}`,
    `cwnd ${inSegments(s.cwnd[i], mss)}, snd_una ${inSegments(s.una[i], mss)}, snd_nxt ${inSegments(s.nxt[i], mss)} segments`,
  ];
}

function describeAck(trace, i) {
  const a = trace.acks, mss = trace.mss;
  const blocks = a.sack[i].map(([l, r]) => `${inSegments(l, mss)}–${inSegments(r, mss)}`).join(", ");
  return [
    isDupack(a, i) ? `duplicate ACK ${a.dupacks[i]} of ${inSegments(a.ack[i], mss)}` : `ACK ${inSegments(a.ack[i], mss)}`,
    `received ${seconds(a.t[i])}, byte ${a.ack[i]}`,
    a.newly_acked[i] > 0 && `acknowledges ${inSegments(a.newly_acked[i], mss)} new`,
    blocks && `SACK ${blocks} (${inSegments(a.newly_sacked[i], mss)} new)`,
    `window edge ${inSegments(a.edge[i], mss)}`,
  ];
}

function describeTimeout(trace, i) {
  const o = trace.timeouts, mss = trace.mss;
  const why = {
    non_trigger: "no segment was retransmitted in this period: fast retransmit was never triggered",
    multiple_losses: "others were retransmitted in this period, this segment was not",
    lost_retransmission: "this segment had already been retransmitted",
    backed_off: "the timer had expired before, and nothing was acknowledged since",
    handshake: "the timer of a SYN, SYN/ACK or FIN expired",
    unknown: "the capture does not show what came before",
  };
  return [
    `timeout, class ${classText(o.class[i])}`,
    why[o.class[i]],
    `${seconds(o.t[i])}, segment ${inSegments(o.seq[i], mss)}, RTO ${o.rto[i]} s, back-off ${o.backoff[i]}`,
    `flight ${inSegments(o.flight[i], mss)}, cwnd before ${inSegments(o.cwnd_before[i], mss)} segments`,
  ];
}

function describeWindows(trace, t) {
  const w = trace.windows, i = lowerBound(w.t, t) - 1;
  if (i < 0) return null;
  return [
    `cwnd ${inSegments(w.cwnd[i], trace.mss)} segments`,
    `ssthresh ${inSegments(w.ssthresh[i], trace.mss)}, flight ${inSegments(w.flight[i], trace.mss)}`,
    `since ${seconds(w.t[i])}, cwnd ${w.cwnd[i]} bytes`,
  ];
}

function refresh() {
  readTheme();
  drawLegend();
  resize();
  drawNow();
}

buildLegend();
refresh();
new ResizeObserver(() => {
  resize();
  redraw();
}).observe(document.getElementById("panels"));
darkMode.addEventListener("change", refresh);
addEventListener("hashchange", showAddress);
showAddress();
