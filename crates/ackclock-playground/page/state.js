// What the page shows, as one value: it is in the link, and undo goes back to an earlier one.

const COMPARE = "compare";
const FIGURES = JSON.parse(document.getElementById("figures").textContent);

// `figure` is the name of where it starts; `text` the scenario if it is none of the figures.
let state = { figure: COMPARE, text: null, set: {}, link: 0, lost: [], acks: [], late: [], strategies: [] };
const past = [], future = [];

const figureOf = (name) => FIGURES.find((f) => f.id === name);
// What runs but for the fates of packets and the strategies.
const sourceOf = ({ figure, text, set }) => JSON.stringify([figure, text, set]);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// Another state, which can be undone.
function change(next) {
  if (same(next, state)) return;
  past.push(state);
  future.length = 0;
  state = next;
  return shown();
}

function undo() {
  if (!past.length) return;
  future.push(state);
  state = past.pop();
  return shown();
}

function redo() {
  if (!future.length) return;
  past.push(state);
  state = future.pop();
  return shown();
}

function editsOf({ set, link, lost, acks, late }) {
  return { set: Object.entries(set), link, lost, lost_acks: acks, late };
}

// As the part of a link after `#`.
function linkOf(s) {
  const parts = new URLSearchParams();
  if (s.text === null) parts.set("from", s.figure);
  else parts.set("text", s.text);
  parts.set("strategy", s.strategies.join(","));
  parts.set("lost", s.lost.map(([segment, nth]) => (nth > 1 ? `${segment}:${nth - 1}` : `${segment}`)).join(","));
  if (s.acks.length) parts.set("acks", s.acks.join(","));
  if (s.late.length) {
    parts.set("late", s.late.map(({ segment, ack, by }) => `${segment ? segment.join(".") : `a${ack}`}~${by}`).join(","));
  }
  if (s.link) parts.set("link", s.link);
  for (const [key, value] of Object.entries(s.set)) parts.append("set", `${key}=${value}`);
  // Spaces as %20 and not as +, which names of strategies have.
  return parts.toString().replace(/\+/g, "%20").replace(/%2B/g, "+").replace(/%2C/g, ",").replace(/%2F/g, "/").replace(/%3A/g, ":");
}

// The state of a link; `null` if it has none. Throws what is wrong with it.
function stateOf(hash) {
  const text = hash.replace(/^#/, "");
  if (!text) return null;
  const parts = new URLSearchParams(text.replace(/\+/g, "%2B"));
  const known = ["from", "text", "strategy", "lost", "acks", "late", "link", "set"];
  for (const key of parts.keys()) {
    if (!known.includes(key)) throw new Error(`The link has ${key}, which means nothing here; there are ${known.join(", ")}.`);
  }
  const list = (key) => (parts.get(key) ?? "").split(",").filter((one) => one !== "");
  const number = (key, one) => {
    if (!/^\d{1,15}$/.test(one)) throw new Error(`The link has ${key}=${one}; a number is expected.`);
    return Number(one);
  };
  const counted = (key, one) => {
    if (number(key, one) < 1) throw new Error(`The link has ${key}=${one}; it counts from 1.`);
    return Number(one);
  };
  const figure = parts.get("from") ?? COMPARE;
  if (!parts.has("text") && !figureOf(figure)) throw new Error(`The link starts from ${figure}, which is not here.`);
  return {
    figure,
    text: parts.get("text"),
    strategies: list("strategy"),
    lost: list("lost").map((one) => {
      const [segment, nth] = one.split(":");
      return [number("lost", segment), nth === undefined ? 1 : counted("lost", nth) + 1];
    }),
    acks: list("acks").map((one) => counted("acks", one)),
    late: list("late").map((one) => {
      const [packet, by] = one.split("~");
      if (!by) throw new Error(`The link has late=${one}; a packet, ~ and a time are expected.`);
      const [segment, nth] = packet.split(".");
      return packet.startsWith("a")
        ? { segment: null, ack: counted("late", packet.slice(1)), by }
        : { segment: [number("late", segment), counted("late", nth ?? "1")], ack: null, by };
    }),
    link: number("link", parts.get("link") ?? "0"),
    set: Object.fromEntries(parts.getAll("set").map((one) => {
      const at = one.indexOf("=");
      if (at < 1) throw new Error(`The link has set=${one}; a key, = and a value are expected.`);
      return [one.slice(0, at), one.slice(at + 1)];
    })),
  };
}

// What is done to single packets, as changes of the state.

function toggleLost(mark) {
  const late = state.late.filter((one) => !isMark(one, mark));
  if (mark.ack !== null) {
    const acks = state.acks.includes(mark.ack) ? state.acks.filter((n) => n !== mark.ack) : [...state.acks, mark.ack].sort((a, b) => a - b);
    return { ...state, acks, late };
  }
  const rest = state.lost.filter((one) => !same(one, mark.segment));
  const lost = rest.length < state.lost.length ? rest : [...rest, mark.segment].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return { ...state, lost, late };
}

// The packet arrives so many milliseconds later, to the nanosecond; 0 takes that back.
function delayed(mark, ms) {
  const late = state.late.filter((one) => !isMark(one, mark));
  const lost = state.lost.filter((one) => !same(one, mark.segment));
  const acks = state.acks.filter((n) => n !== mark.ack);
  const by = ms.toFixed(6).replace(/\.?0+$/, "");
  if (Number(by) > 0) late.push({ segment: mark.segment, ack: mark.ack, by: `${by}ms` });
  return { ...state, lost, acks, late };
}

const isMark = (late, mark) => late.ack === mark.ack && same(late.segment, mark.segment);
const isLost = (mark) => (mark.ack !== null ? state.acks.includes(mark.ack) : state.lost.some((one) => same(one, mark.segment)));
