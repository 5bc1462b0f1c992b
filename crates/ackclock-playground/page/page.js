// The page: what its reader does, and what it shows.

const $ = (id) => document.getElementById(id);
const element = (tag, properties = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
};

let names = null, opened = null, panels = [];
// The scenario that is shown, and its state; `null` where that of the page does not run.
let scenario = "", ran = null;
let view = null, viewOf = null, whole = null, selected = null, until = Infinity, moment = null, stepRun = 0;
// One request is under way at most; the last state waits.
let busy = false, waiting = false;

function showError(text) {
  $("error").textContent = text;
  $("error").hidden = !text;
}

// ---- What runs -------------------------------------------------------------------------------

// Takes the scenario of a state apart, unless that is the one at hand.
async function open(next) {
  const source = next.text ?? figureOf(next.figure).text;
  if (opened?.source === source) return;
  opened = { ...await ask("opened", source), source };
}

// Another scenario: what it loses becomes what can be clicked.
async function begin(figure) {
  const next = { figure: figure.id, text: null, set: {}, link: 0, lost: [], acks: [], late: [], strategies: figure.strategies };
  await open(next);
  return change(withEdits(next));
}

function withEdits(next) {
  const { link, lost, lost_acks, late } = opened.edits;
  return { ...next, link, lost, acks: lost_acks, late };
}

// Runs the state and shows it.
async function shown() {
  history.replaceState(null, "", `#${linkOf(state)}`);
  showControls();
  await rerun(state);
}

async function rerun(wanted) {
  if (busy) {
    waiting = wanted;
    return;
  }
  busy = true;
  const long = setTimeout(() => { $("long").hidden = false; }, 700);
  try {
    await open(wanted);
    if (!drag) showDials();
    const answer = await ask("all", opened.text, editsOf(wanted), wanted.strategies);
    [scenario, ran] = [answer.text, wanted];
    const wrong = answer.runs.filter((r) => r.error).map((r) => `${r.strategy}: ${r.error}`).join("\n");
    showError(answer.runs.length ? wrong : "No strategy is left: add one to compare.");
    showRuns(answer.runs, wanted);
  } catch (error) {
    ran = null;
    showError(error.message);
  }
  showStanding();
  clearTimeout(long);
  $("long").hidden = true;
  busy = false;
  if (waiting) {
    const next = waiting;
    waiting = false;
    await rerun(next);
  }
}

// Graphs and table of an earlier state are marked, and what does not run is not copied out.
function showStanding() {
  $("asfile").disabled = !ran || !panels.length;
  $("ascommand").disabled = $("asfigure").disabled = $("asfile").disabled || panels.some((p) => !p.run);
  $("old").hidden = ran !== null || !panels.length;
  for (const id of ["panels", "results", "steps"]) $(id).classList.toggle("old", !$("old").hidden);
}

// Ends what takes too long, and begins anew.
async function stopRuns() {
  waiting = false;
  const old = engine;
  await startEngine();
  old.stop();
}

function showRuns(runs, wanted) {
  if (panels.length !== runs.length || panels.some((p, i) => p.strategy !== runs[i].strategy)) makePanels(runs);
  runs.forEach((run, i) => {
    panels[i].run = run.rows ? tracesOf(run) : null;
  });
  const all = panels.map((p) => p.run).filter(Boolean);
  whole = wholeOf(all);
  // A view is of one scenario: of another one, be it undone, it begins anew.
  const of = sourceOf(wanted);
  if (viewOf !== of) view = startOf(all, whole);
  viewOf = all.length ? of : null;
  if (selected) selected = findMark(panels[selected.panel]?.run, selected) && { ...findMark(panels[selected.panel].run, selected), panel: selected.panel };
  showTable();
  showMark();
  if (!drag) showStep();
  draw();
  document.documentElement.dataset.runs = Number(document.documentElement.dataset.runs ?? 0) + 1;
}

const findMark = (run, mark) => run?.marks.find((m) => m.kind === mark.kind && m.ack === mark.ack && same(m.segment, mark.segment)) ?? null;

// ---- Drawing ---------------------------------------------------------------------------------

let frame = 0;
function draw() {
  frame ||= requestAnimationFrame(drawNow);
}

function drawNow() {
  cancelAnimationFrame(frame);
  frame = 0;
  if (!view) return;
  panels.forEach((p, i) => drawPanel(p, view, until, selected && selected.panel === i ? selected : null, moment));
}

function makePanels(runs) {
  $("panels").replaceChildren();
  panels = runs.map(({ strategy }, i) => {
    const canvas = element("canvas", { tabIndex: 0 });
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-roledescription", "time-sequence graph");
    const results = element("p");
    const section = element("section", {}, element("h2", { textContent: strategy }), results, canvas);
    section.setAttribute("aria-label", strategy);
    $("panels").append(section);
    const p = { strategy, canvas, results, ctx: canvas.getContext("2d"), run: null, g: null, width: 0, height: 0, ratio: 1 };
    canvas.panel = i;
    listen(canvas, p, i);
    sizes.observe(canvas);
    measure(p);
    return p;
  });
  stepRun = Math.min(stepRun, Math.max(0, runs.length - 1));
  $("stepof").replaceChildren(...runs.map(({ strategy }, i) => element("option", { value: i, textContent: strategy, selected: i === stepRun })));
}

function measure(p) {
  const box = p.canvas.getBoundingClientRect();
  p.ratio = devicePixelRatio || 1;
  [p.width, p.height] = [Math.max(120, box.width), Math.max(200, box.height)];
  [p.canvas.width, p.canvas.height] = [Math.round(p.width * p.ratio), Math.round(p.height * p.ratio)];
}

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) if (panels[target.panel]?.canvas === target) measure(panels[target.panel]);
  drawNow();
});

function setView(t0, t1, y0, y1) {
  const t = Math.max(1e-4, t1 - t0), y = Math.max(2, y1 - y0);
  view = { ...view, t0, t1: t0 + t, y0, y1: y0 + y };
  draw();
}

function zoom(g, x, y, ft, fy) {
  const t = g.time(x), s = g.position(y);
  setView(t - (t - view.t0) * ft, t + (view.t1 - t) * ft, s - (s - view.y0) * fy, s + (view.y1 - s) * fy);
}

// ---- The pointer -----------------------------------------------------------------------------

// What the pointer does: `{ p, mark, x, y, moved, base }`, and the fingers on a touch screen.
let drag = null, held = 0;
const fingers = new Map();

function listen(canvas, p, panel) {
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = at(event);
    canvas.setPointerCapture?.(event.pointerId);
    fingers.set(event.pointerId, [x, y]);
    if (fingers.size === 2) return beginPinch(p);
    const touch = event.pointerType === "touch";
    const mark = markAt(p, x, y, touch ? 22 : 9);
    drag = { p, panel, mark, x, y, moved: false, view, touch, before: state, pinch: null };
    clearTimeout(held);
    if (mark && touch) {
      held = setTimeout(() => {
        if (drag && !drag.moved) {
          select(panel, mark);
          drag = null;
          change(toggleLost(mark));
        }
      }, 500);
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, [x, y]);
    if (!drag) {
      if (event.pointerType !== "touch") canvas.style.cursor = markAt(p, x, y, 9) ? "pointer" : "grab";
      return;
    }
    if (drag.pinch) return pinch();
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < (drag.touch ? 9 : 4)) return;
    if (!drag.moved) {
      drag.moved = true;
      clearTimeout(held);
      if (drag.mark) select(panel, drag.mark);
    }
    if (drag.mark) {
      // To a tenth of a millisecond where the graph shows so much.
      const ms = ((x - drag.x) / p.g.kx) * 1000 + delayOf(drag.before, drag.mark);
      state = delayed(drag.mark, ms < 1 ? Math.max(0, Math.round(ms * 10) / 10) : Math.round(ms));
      rerun(state);
    } else {
      const v = drag.view, dt = (x - drag.x) / p.g.kx, dy = (y - drag.y) / p.g.ky;
      setView(v.t0 - dt, v.t1 - dt, v.y0 + dy, v.y1 + dy);
    }
  });
  const up = (event) => {
    fingers.delete(event.pointerId);
    clearTimeout(held);
    if (!drag) return;
    const { mark, moved, touch, before, pinch } = drag;
    drag = null;
    if (pinch || event.type === "pointercancel") {
      if (!same(state, before)) [state] = [before, shown()];
      return;
    }
    if (moved && mark) {
      const next = state;
      state = before;
      change(next);
    } else if (!moved && mark) {
      select(panel, mark);
      if (!touch) change(toggleLost(mark));
    } else if (!moved) select(panel, null);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("dblclick", (event) => {
    if (!markAt(p, ...at(event), 9)) showWhole();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const f = Math.exp(Math.sign(event.deltaY) * 0.2), [x, y] = at(event);
    zoom(p.g, x, y, event.shiftKey ? 1 : f, event.ctrlKey || event.shiftKey ? f : 1);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => onGraphKey(event, p, panel));
  canvas.addEventListener("focus", () => {
    if (!selected || selected.panel !== panel) describe(p);
  });
}

function delayOf(s, mark) {
  const late = s.late.find((one) => isMark(one, mark));
  const [, number, unit] = late?.by.match(/^([\d.]+)(\D+)$/) ?? [0, 0, "ms"];
  return Number(number) * ({ s: 1000, ms: 1, us: 1e-3, ns: 1e-6 }[unit] ?? 1);
}

function beginPinch(p) {
  clearTimeout(held);
  const [a, b] = [...fingers.values()];
  drag = { p, panel: drag?.panel ?? 0, mark: null, moved: true, before: drag?.before ?? state, pinch: { a, b, view, g: p.g } };
}

function pinch() {
  if (fingers.size < 2) return;
  const { a, b, view: v, g } = drag.pinch, [c, d] = [...fingers.values()];
  const ratio = (u, w, x, y) => Math.max(0.2, Math.min(5, Math.max(24, Math.abs(u - w)) / Math.max(24, Math.abs(x - y))));
  const ft = ratio(a[0], b[0], c[0], d[0]), fy = ratio(a[1], b[1], c[1], d[1]);
  // What was between the fingers stays between them.
  const t = v.t0 + ((a[0] + b[0]) / 2 - LEFT) / g.kx, s = v.y0 + (TOP + g.h - (a[1] + b[1]) / 2) / g.ky;
  const x = (c[0] + d[0]) / 2 - LEFT, y = TOP + g.h - (c[1] + d[1]) / 2;
  const t0 = t - (x / g.kx) * ft, y0 = s - (y / g.ky) * fy;
  setView(t0, t0 + (v.t1 - v.t0) * ft, y0, y0 + (v.y1 - v.y0) * fy);
}

function select(panel, mark) {
  selected = mark && { ...mark, panel };
  showMark();
  draw();
}

// ---- The keyboard ----------------------------------------------------------------------------

function onGraphKey(event, p, panel) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { key, shiftKey } = event, way = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const g = p.g, [x, y] = [LEFT + g?.w / 2, TOP + g?.h / 2];
  const does = {
    Enter: () => selected && change(toggleLost(selected)),
    Delete: () => selected && change(toggleLost(selected)),
    Escape: () => select(panel, null),
    "+": () => zoom(g, x, y, 1 / 1.3, 1 / 1.3),
    "-": () => zoom(g, x, y, 1.3, 1.3),
    0: showWhole,
    ArrowUp: () => setView(view.t0, view.t1, view.y0 + (view.y1 - view.y0) / 8, view.y1 + (view.y1 - view.y0) / 8),
    ArrowDown: () => setView(view.t0, view.t1, view.y0 - (view.y1 - view.y0) / 8, view.y1 - (view.y1 - view.y0) / 8),
  }[key];
  if (way && shiftKey) {
    if (selected) change(delayed(selected, Math.max(0, delayOf(state, selected) + way * 10)));
  } else if (way && p.run) {
    const marks = p.run.marks;
    const here = selected && selected.panel === panel ? marks.findIndex((m) => m.kind === selected.kind && m.ack === selected.ack && same(m.segment, selected.segment)) : way > 0 ? -1 : marks.length;
    const mark = marks[Math.max(0, Math.min(marks.length - 1, here + way))];
    if (mark) {
      select(panel, mark);
      const span = view.t1 - view.t0, high = view.y1 - view.y0;
      if (mark.t < view.t0 || mark.t > view.t1 || mark.y < view.y0 || mark.y > view.y1) {
        setView(mark.t - span / 2, mark.t + span / 2, mark.y - high / 2, mark.y + high / 2);
      }
    }
  } else if (does) does();
  else return;
  event.preventDefault();
}

addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  if ((event.ctrlKey || event.metaKey) && !typing && !event.altKey) {
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) undo();
    else if (key === "y" || key === "z") redo();
    else return;
    event.preventDefault();
  } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest("dialog")) {
    if (event.key === "[") stepBy(-1);
    else if (event.key === "]") stepBy(1);
    else if (event.key === " " && !event.target.matches("button, summary, a")) play();
    else return;
    event.preventDefault();
  }
});

// ---- What is selected, and the table ---------------------------------------------------------

function markText(m) {
  const [segment, nth] = m.segment ?? [];
  const which = nth > 1 ? `The ${ordinal(nth - 1)} retransmission of segment ${segment}` : `Segment ${segment}`;
  const at = `${m.t.toFixed(3)} s`;
  if (m.kind === "segment") {
    const lost = m.dropped === null ? "" : ` It was lost (${words(m.dropped)}).`, cause = names.causes[m.cause];
    return `${which}, sent at ${at} ${cause === "new" ? "as new data" : `for ${words(cause)}`}.${lost}`;
  }
  const all = `ACK ${m.ack}, which acknowledges all below segment ${Math.round(m.y * 1000) / 1000}`;
  if (!m.came) return `${all}, left at ${at} and ${m.lost ? "was lost" : "had not come when the run ended"}.`;
  return `${all}, came at ${at}${m.dupacks ? ` as duplicate ${m.dupacks}` : ""}.`;
}

const ordinal = (n) => `${n}${["th", "st", "nd", "rd"][n % 100 > 10 && n % 100 < 14 ? 0 : n % 10] ?? "th"}`;

function showMark() {
  $("markdo").hidden = !selected;
  if (!selected) {
    $("mark").textContent = "Click a segment, a retransmission or an ACK to lose it; drag it to delay it.";
    return;
  }
  const late = delayOf(state, selected);
  $("mark").textContent = `${panels[selected.panel]?.strategy ?? ""}: ${markText(selected)}${late ? ` It is ${late} ms late.` : ""}`;
  $("lose").textContent = isLost(selected) ? "Have it arrive" : "Lose it";
  if (document.activeElement !== $("late")) $("late").value = late || "";
}

function describe(p) {
  if (p.run) $("mark").textContent = `${p.strategy}: ${p.results.textContent}`;
}

const seconds = (s) => (s === null ? "unfinished" : `${s.toFixed(3)} s`);

function showTable() {
  const rows = panels.map(({ strategy, run, results, canvas }) => {
    const name = element("th", { scope: "row", textContent: strategy });
    if (!run) {
      results.textContent = "does not run";
      canvas.setAttribute("aria-label", `${strategy}: does not run`);
      return element("tr", {}, name, element("td", { colSpan: 10, textContent: "does not run" }));
    }
    const s = run.about.summary;
    const timeouts = s.timeouts === 1 ? "1 timeout" : `${s.timeouts} timeouts`;
    results.textContent = `${s.completion_s === null ? "unfinished" : `done in ${s.completion_s.toFixed(3)} s`}, ${s.retransmissions} retransmissions, ${timeouts}`;
    canvas.setAttribute("aria-label", `${strategy}: ${results.textContent}`);
    const over = (x) => (x === null || x === undefined ? "–" : `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(3)} s`);
    const cells = [seconds(s.completion_s), s.retransmissions, s.spurious_retransmissions, s.timeouts, s.timeouts_non_trigger,
      s.timeouts_multiple_losses, s.timeouts_lost_retransmission, s.timeouts_backed_off, over(run.about.over[0]), over(run.about.over[1])];
    return element("tr", {}, name, ...cells.map((textContent) => element("td", { textContent })));
  });
  $("rows").replaceChildren(...rows);
  $("bound").hidden = !panels.some(({ run }) => run?.about.over.some((x) => x !== null));
  $("below").hidden = !panels.some(({ run }) => run?.about.over.some((x) => x !== null && x < 0));
}

// ---- Playing ---------------------------------------------------------------------------------

let playing = 0;
function play() {
  if (playing) return stop();
  if ($("play").disabled || !view) return;
  const end = Math.max(...panels.map((p) => p.run?.end ?? 0)), from = Math.max(0, view.t0), to = Math.min(end, view.t1);
  const began = performance.now(), lasts = 6000;
  $("play").textContent = "■ Stop";
  const tickOf = (now) => {
    until = from + ((now - began) / lasts) * (to - from);
    if (until >= to) return stop();
    drawNow();
    playing = requestAnimationFrame(tickOf);
  };
  playing = requestAnimationFrame(tickOf);
}

function stop() {
  cancelAnimationFrame(playing);
  [playing, until] = [0, Infinity];
  $("play").textContent = "▶ Play";
  draw();
}

function showWhole() {
  view = whole;
  draw();
}
