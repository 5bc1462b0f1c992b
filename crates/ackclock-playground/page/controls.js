// The controls around the graphs: where to start, strategies, knobs, copies.

const KNOBS = [
  { label: "Rate", key: (i) => `link[${i}].rate`, of: (s, i) => s.link[i]?.rate, values: ["128kbit", "256kbit", "384kbit", "800kbit", "1.5mbit", "2mbit", "5mbit", "10mbit", "50mbit", "100mbit"] },
  { label: "Delay, one way", key: (i) => `link[${i}].delay`, of: (s, i) => s.link[i]?.delay, values: ["1ms", "5ms", "10ms", "20ms", "50ms", "100ms", "180ms", "250ms", "500ms"] },
  { label: "Queue, packets", key: (i) => `link[${i}].queue.droptail.packets`, of: (s, i) => (s.link[i]?.queue ? s.link[i].queue.droptail?.packets : 1000), values: ["2", "3", "5", "8", "10", "20", "50", "100", "1000"] },
  { label: "Segments to send", key: () => "flow[0].source.segments", of: (s) => s.flow[0]?.source?.segments, values: ["5", "10", "20", "50", "100", "200", "500", "1000"] },
  { label: "Receive window", key: () => "tcp.rwnd", of: (s) => s.tcp?.rwnd ?? "64kb", values: ["4seg", "8seg", "16seg", "20seg", "28seg", "32seg", "64seg", "128seg", "500seg"] },
  { label: "Initial window, segments", key: () => "tcp.initial_window", of: (s) => s.tcp?.initial_window ?? "", values: ["1", "2", "3", "4", "10"] },
  { label: "Delayed ACKs", key: () => "tcp.delayed_ack", of: (s) => s.tcp?.delayed_ack ?? "200ms", values: ["off", "40ms", "100ms", "200ms", "bsd", "linux"] },
  { label: "SACK", key: () => "tcp.sack", of: (s) => s.tcp?.sack ?? "", values: ["true", "false"], empty: "as the strategy asks" },
  { label: "Least RTO", key: () => "tcp.min_rto", of: (s) => s.tcp?.min_rto ?? "", values: ["10ms", "200ms", "500ms", "1s", "3s"], empty: "the timer's own" },
  { label: "Handshake", key: () => "tcp.handshake", of: (s) => s.tcp?.handshake ?? false, values: ["false", "true"] },
];

const GROUPS = [
  ["Lin & Kung 1998", /Lin & Kung/], ["Miyake & Inamura 2005", /Miyake/], ["Gurtov & Floyd 2004", /Gurtov/], ["Dukkipati et al. 2011 (PRR)", /Dukkipati|RFC 9937/],
  ["Fall & Floyd 1996 and FACK", /Fall & Floyd|Mathis/], ["Linux", /Linux/], ["ns-2", /ns-2/], ["Bounds", /bound/], ["RFCs", /./],
];

function prepareControls() {
  const group = (label, of) => {
    const g = element("optgroup", { label });
    g.append(...of.map(({ id, title }) => element("option", { value: id, textContent: title })));
    return g;
  };
  const papers = [...new Set(FIGURES.map((f) => f.paper))];
  $("figure").append(...papers.map((paper) => group(paper, FIGURES.filter((f) => f.paper === paper))), element("option", { value: "", textContent: "a scenario of your own", hidden: true }));
  const rest = new Set(names.presets);
  for (const [label, source] of GROUPS) {
    const of = names.presets.filter((p) => rest.has(p) && source.test(p.source));
    of.forEach((p) => rest.delete(p));
    $("preset").append(group(label, of.map((p) => ({ id: p.name, title: `${p.name} (${p.source})` }))));
  }
  $("figure").onchange = () => guarded(begin(figureOf($("figure").value)));
  $("preset").onchange = () => {
    if ($("preset").value) guarded(add($("preset").value));
    $("preset").value = "";
  };
  $("adding").onsubmit = (event) => {
    event.preventDefault();
    const name = $("strategy").value.trim();
    if (name) guarded(add(name));
  };
  $("strategy").oninput = complete;
  complete();
  $("stop").onclick = () => guarded(stopRuns());
  $("undo").onclick = undo;
  $("redo").onclick = redo;
  $("play").onclick = play;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  calm.onchange = () => {
    $("play").disabled = calm.matches;
    $("play").title = calm.matches ? "Your system asks for little motion; step ACK by ACK instead" : "Draws the transfer as it runs (space)";
  };
  calm.onchange();
  $("whole").onclick = showWhole;
  $("clear").onclick = () => change({ ...state, lost: [], acks: [], late: [] });
  $("lose").onclick = () => selected && change(toggleLost(selected));
  $("late").onchange = () => {
    const typed = $("late").value.trim().replace(",", ".");
    // What the engine takes: whole nanoseconds, and days enough.
    if (!/^(\d{1,9}(\.\d{0,6})?|\.\d{1,6})?$/.test(typed)) return showError(`late: ${typed} is no number of milliseconds below 10⁹ with at most 6 decimals`);
    if (selected) change(delayed(selected, Number(typed)));
  };
  $("stepof").onchange = () => {
    stepRun = Number($("stepof").value);
    stepBy(0);
  };
  $("first").onclick = () => stepTo(1);
  $("back").onclick = () => stepBy(-1);
  $("next").onclick = () => stepBy(1);
  $("nth").onchange = () => stepTo(Number($("nth").value));
  $("apply").onclick = () => guarded(own($("text").value));
  $("aslink").onclick = () => copied("The link", location.href, "playground-link.txt");
  $("asfile").onclick = () => copied("The scenario file", scenario, "scenario.toml");
  $("ascommand").onclick = () => copied("The command", commandOf(ran), "run.sh");
  $("asfigure").onclick = () => guarded(figure());
  $("copyagain").onclick = () => navigator.clipboard?.writeText($("copytext").value).catch(() => $("copytext").select());
  $("close").onclick = () => $("copied").close();
  for (const knob of KNOBS) $("dials").append(dial(knob));
  $("legend").append(...names.causes.filter((cause) => SIGNS[cause][0]).map((cause) => element("span", { className: cause }, element("b", { textContent: SIGNS[cause][0] }), ` ${words(cause)}`)),
    element("span", { textContent: "× lost" }), element("span", { textContent: "green: ACKs (hollow: on their way at the end)" }),
    element("span", {}, element("i", { className: "recovering" }), " in recovery"), element("span", {}, element("i", { className: "expires" }), " timer expires"));
}

// What a promise fails with is shown.
const guarded = (promise) => Promise.resolve(promise).catch((error) => showError(error.message));

async function add(name) {
  if (state.strategies.includes(name)) return;
  await ask("parts", name);
  $("strategy").value = "";
  $("axes").textContent = "";
  complete();
  return change({ ...state, strategies: [...state.strategies, name] });
}

async function own(text) {
  const next = { figure: "", text, set: {}, link: 0, lost: [], acks: [], late: [], strategies: state.strategies };
  try {
    await open(next);
  } catch (error) {
    throw new Error(`${error.message}\nThe text was not applied: all else is of the scenario before.`);
  }
  next.text = opened.text;
  return change(withEdits(next));
}

// Completes the last part of what is typed, and says on which axis each part is.
async function complete() {
  const typed = $("strategy").value, at = typed.lastIndexOf("+"), before = typed.slice(0, at + 1);
  const all = at < 0 ? [...names.presets.map((p) => [p.name, p.source]), ...names.mechanisms.map((m) => [m.name, m.axis])] : names.mechanisms.map((m) => [m.name, m.axis]);
  const last = typed.slice(at + 1);
  $("compositions").replaceChildren(...all.filter(([name]) => name.includes(last)).slice(0, 60).map(([name, label]) => element("option", { value: before + name, label: `${before}${name} — ${label}` })));
  if (!typed) return $("axes").replaceChildren();
  try {
    const parts = await ask("parts", typed.replace(/\+$/, ""));
    if ($("strategy").value === typed) $("axes").textContent = parts.map(([axis, name]) => `${axis}: ${name}`).join(" · ");
  } catch (error) {
    if ($("strategy").value === typed) $("axes").textContent = error.message;
  }
}

function dial(knob) {
  const select = element("select", { id: `dial${KNOBS.indexOf(knob)}` });
  const box = element("div", {}, element("label", { htmlFor: select.id, textContent: knob.label }), select);
  select.onchange = () => {
    const set = { ...state.set }, key = knob.key(state.link);
    if (select.value === "") delete set[key];
    else set[key] = select.value;
    change({ ...state, set });
  };
  knob.select = select;
  return box;
}

function showDials() {
  if (document.activeElement !== $("text")) $("text").value = opened.text;
  for (const knob of KNOBS) {
    const own = knob.of(opened.scenario, state.link), key = knob.key(state.link);
    const now = state.set[key] ?? (own === undefined ? null : String(own));
    knob.select.disabled = now === null;
    const values = now === null || knob.values.includes(now) || now === "" ? [...knob.values] : [now, ...knob.values];
    if (own === "") values.unshift("");
    knob.select.replaceChildren(...values.map((value) => element("option", { value, textContent: value || knob.empty || "its default", selected: value === now })));
    if (now === null) knob.select.replaceChildren(element("option", { textContent: "not in this scenario" }));
  }
}

function showControls() {
  $("figure").value = state.text === null ? state.figure : "";
  $("undo").disabled = !past.length;
  $("redo").disabled = !future.length;
  $("clear").disabled = !(state.lost.length || state.acks.length || state.late.length);
  const chosen = [...$("chosen").children], at = chosen.findIndex((item) => item.contains(document.activeElement));
  $("chosen").replaceChildren(...state.strategies.map((name) => {
    const remove = element("button", { textContent: "×", title: `Leave ${name} out` });
    remove.setAttribute("aria-label", `Leave ${name} out`);
    remove.onclick = () => change({ ...state, strategies: state.strategies.filter((other) => other !== name) });
    return element("li", {}, name, remove);
  }));
  // The keyboard goes on where it was.
  if (at >= 0) ([...$("chosen").querySelectorAll("button")].slice(0, at + 1).at(-1) ?? $("strategy")).focus();
}

// ---- Copies ----------------------------------------------------------------------------------

async function copied(title, text, file, picture = "") {
  $("copyhead").textContent = title;
  $("copytext").value = text;
  $("copypicture").innerHTML = picture;
  const type = file.endsWith(".svg") ? "image/svg+xml" : "text/plain";
  URL.revokeObjectURL($("save").href);
  Object.assign($("save"), { href: URL.createObjectURL(new Blob([text], { type })), download: file });
  $("copied").showModal();
  await navigator.clipboard?.writeText(text).catch(() => {});
}

async function figure() {
  const svg = await ask("picture", scenario, ran.strategies, titleOf(ran));
  return copied("The figure", svg, "playground.svg", svg);
}

// Where it starts, and what is lost.
function titleOf({ text, figure, lost, acks, late }) {
  const list = (what, of) => (of.length ? [`${what} ${of.join(", ")}`] : []);
  const again = lost.filter(([, nth]) => nth > 1).map(([segment, nth]) => `${segment}:${nth - 1}`);
  const parts = [
    ...list("segments", lost.filter(([, nth]) => nth === 1).map(([segment]) => segment)), ...list("retransmissions", again), ...list("ACKs", acks),
  ];
  const from = text === null ? figureOf(figure).title : "A scenario";
  return `${from} — ${parts.length ? `lost: ${parts.join("; ")}` : "nothing lost on purpose"}${late.length ? `; ${late.length} late` : ""}`;
}

// Options of `ackclock compare` by key of the scenario.
const OPTIONS = {
  "link[1].rate": "--rate", "link[1].delay": "--delay", "link[1].queue.droptail.packets": "--queue", "flow[0].source.segments": "--segments",
  "tcp.rwnd": "--rwnd", "tcp.initial_window": "--initial-window", "tcp.delayed_ack": "--delayed-ack", "tcp.min_rto": "--min-rto",
};

// As one word of a POSIX shell: what is within single quotes stands for itself (XCU 2.2.2).
const quoted = (word) => (/^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
const commandLine = (...of) => of.map(quoted).join(" ");

// A word that ends this text as a here-document: no line of it.
function endOf(text) {
  const lines = new Set(text.split("\n"));
  let end = "END";
  while (lines.has(end)) end += "_";
  return end;
}

// A command that runs the same: `compare` where it has options for it, or `run` with the scenario.
// Options take no quoted strings, nor numbers in TOML's other forms.
function commandOf(s) {
  const strategies = s.strategies.join(","), knobs = Object.entries(s.set);
  const known = ([key, value]) => (OPTIONS[key] ? /^(\d+(\.\d+)?)?[a-z]*$/.test(value) : key === "tcp.handshake" && value === "true");
  if (s.text === null && s.figure === COMPARE && s.link === 1 && !s.acks.length && !s.late.length && knobs.every(known)) {
    const options = knobs.flatMap(([key, value]) => (OPTIONS[key] ? [OPTIONS[key], value.replace(/seg$/, "")] : ["--handshake"]));
    const first = s.lost.filter(([, nth]) => nth === 1).map(([segment]) => segment), again = s.lost.filter(([, nth]) => nth > 1).map(([segment, nth]) => `${segment}:${nth - 1}`);
    if (first.length) options.push("--drop", first.join(","));
    if (again.length) options.push("--drop-retransmission", again.join(","));
    return `${commandLine("ackclock", "compare", "--strategy", strategies, ...options)}\n`;
  }
  const text = scenario.replace(/\n?$/, "\n"), end = endOf(text);
  return `${commandLine("ackclock", "run", "-", "--strategy", strategies)} <<'${end}'\n${text}${end}\n`;
}
