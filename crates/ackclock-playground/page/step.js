// Stepping through the ACKs: what one was, who decided what, and the sender after it.

// The axis that answers for a segment sent, where the event names no mechanism.
const AXIS_OF_CAUSE = {
  limited_transmit: "probe", tail_loss_probe: "probe", fast_retransmit: "detect", recovery: "select", slow_start: "select",
  timeout: "timer", backed_off_timeout: "timer", f_rto: "undo", marker: "retransmission", filler: "fill",
};

// RFC 5681 section 3.2 step 4, on duplicates within a recovery, is the sentence of `inflate`. Those
// that inflate alike have in their rows how they end a recovery.
const ON_DUPLICATES = { "inflate-to-ssthresh": "inflate", "inflate-bsd": "inflate" };

// The most segments of the scoreboard that are drawn.
const DRAWN = 600;

let stepping = 0;

function acksOf() {
  return panels[stepRun]?.run?.came ?? [];
}

function stepBy(n) {
  const to = Number($("nth").value) + (moment === null ? 0 : n);
  return stepTo(to);
}

function stepTo(n) {
  const acks = acksOf();
  $("nth").value = Math.max(1, Math.min(acks.length, Math.round(n) || 1));
  const ack = acks[$("nth").value - 1];
  if (!ack) return;
  moment = ack.t;
  const span = view.t1 - view.t0;
  if (moment < view.t0 || moment > view.t1) setView(moment - span / 2, moment + span / 2, view.y0, view.y1);
  draw();
  return showStep();
}

// Shows the ACK that is stepped to, in the run as it is now.
async function showStep() {
  $("nth").max = acksOf().length;
  if (moment === null) return;
  const run = panels[stepRun]?.run, acks = acksOf(), index = Math.min(acks.length, Number($("nth").value));
  const ack = acks[index - 1];
  if (!ack) return $("step").replaceChildren();
  moment = ack.t;
  draw();
  const number = ++stepping, strategy = panels[stepRun].strategy;
  try {
    const [seen, parts] = await Promise.all([ask("step", scenario, strategy, run.rows[ack.row + 1]), ask("parts", strategy)]);
    if (number === stepping) $("step").replaceChildren(...stepParts(run, ack, index, acks.length, seen, parts));
  } catch (error) {
    showError(error.message);
  }
}

function stepParts(run, ack, index, count, { events, sender }, parts) {
  const { mss } = run, segments = (bytes) => Math.round((bytes / mss) * 100) / 100;
  const acked = events.find((e) => e.event === "acked");
  const counted = [`ACK ${index} of ${count}, at ${ack.t.toFixed(6)} s, acknowledges all below segment ${segments(acked?.ack ?? 0)}.`];
  if (acked?.newly_acked) counted.push(`It acknowledges ${segments(acked.newly_acked)} more segments.`);
  if (acked?.newly_sacked) counted.push(`Its SACK blocks report ${segments(acked.newly_sacked)} more segments.`);
  if (acked?.dsack) counted.push("It reports a duplicate (D-SACK).");
  if (acked?.dupacks) counted.push(`It is duplicate ${acked.dupacks}; the threshold is ${sender?.dupthresh ?? 3}.`);
  const all = [element("p", { textContent: counted.join(" ") }), decisions(run, ack, events, parts, segments)];
  if (sender) all.push(...senderParts(sender, segments, mss));
  return all;
}

// What was decided, by which mechanism, and the sentence of its source.
function decisions(run, ack, events, parts, segments) {
  const on = (axis) => parts.filter(([a]) => a === axis).map(([, name]) => name).at(-1);
  const list = element("ul", { className: "decisions" });
  const say = (what, name, as = name) => {
    const find = (name) => names.mechanisms.find((m) => m.name === name), m = find(name), { sentence, summary, source } = find(as) ?? {};
    const item = element("li", {}, element("b", { textContent: what }));
    if (m) {
      // A sentence without quotation marks is in our words.
      const said = sentence.startsWith('"') ? element("q", { textContent: sentence.replace(/^"|"$/g, "") }) : sentence || summary;
      item.append(` — ${m.name} (${m.axis}): `, said, ` ${source}`);
    }
    list.append(item);
  };
  for (const e of events) {
    if (e.event === "lost") say(`Segment ${segments(e.seq)}, transmission ${e.transmission}, is judged lost`, e.by);
    if (e.event === "recovery_entered") say(`Recovery begins, up to segment ${segments(e.recover)}`, e.by);
    if (e.event === "recovery_left") {
      const recovered = run.recoveries.some(([, t1]) => t1 === ack.t);
      if (recovered) say("Recovery is over", on("select"));
      else say("What the timeout began is over");
    }
    if (e.event === "undone") say("The response is undone: it was spurious", e.by);
    if (e.event === "reduced") say("The windows are lowered for ECN-Echo", on("window"));
    if (e.event === "timed_out") say(`The timer expires: ${words(e.class)}`, on("timer"));
    if (e.event === "sent") {
      const nth = e.transmission > 1 ? ` again, the ${ordinal(e.transmission - 1)} retransmission` : "";
      const axis = AXIS_OF_CAUSE[e.cause];
      say(`Segment ${segments(e.seq)} goes out${nth} (${words(e.cause)})`, e.detected_by ?? (axis && on(axis)));
    }
  }
  const acked = events.find((e) => e.event === "acked")?.newly_acked;
  const before = ack.row >= ROW ? run.rows[ack.row - ROW + 6] : null, last = events.at(-1);
  if (before !== null && last && last.cwnd !== before) {
    const entered = events.some((e) => e.event === "recovery_entered");
    const within = run.recoveries.some(([t0, t1]) => t0 < ack.t && ack.t < t1), left = run.recoveries.some(([, t1]) => t1 === ack.t);
    const by = on(entered || within || left ? "regulate" : "window");
    say(`cwnd goes from ${segments(before)} to ${segments(last.cwnd)} segments`, by, (within && !acked && ON_DUPLICATES[by]) || by);
  }
  if (!list.children.length) list.append(element("li", { textContent: "Nothing is decided." }));
  return list;
}

function senderParts(s, segments, mss) {
  const facts = {
    state: s.phase, cwnd: segments(s.cwnd), ssthresh: s.ssthresh === null ? "unset" : segments(s.ssthresh), pipe: segments(s.pipe),
    flight: segments(s.flight), duplicates: s.dupacks, "smoothed round trip": `${(s.srtt * 1000).toFixed(1)} ms`,
  };
  const dl = element("dl");
  for (const [name, value] of Object.entries(facts)) {
    dl.append(element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value })));
  }
  const kinds = { sacked: 0, "judged lost": 0, "retransmitted": 0, "on its way": 0 };
  const strip = element("div", { className: "strip" });
  for (const [index, [seq, , transmissions, sacked, lost, again]] of s.board.entries()) {
    const kind = sacked ? "sacked" : again ? "retransmitted" : lost ? "judged lost" : "on its way";
    kinds[kind]++;
    if (index >= DRAWN) continue;
    const sign = { sacked: "s", retransmitted: "r", "judged lost": "×", "on its way": "" }[kind];
    const title = `segment ${segments(seq)}: ${kind}, sent ${transmissions === 1 ? "once" : `${transmissions} times`}`;
    strip.append(element("span", { className: kind.replaceAll(" ", "-"), title, textContent: sign }));
  }
  const said = Object.entries(kinds).filter(([, n]) => n).map(([kind, n]) => `${n} ${kind}`).join(", ");
  const first = segments(s.snd_una), end = segments(s.board.length ? s.board.at(-1)[0] + s.board.at(-1)[1] : s.snd_una);
  const drawn = s.board.length > DRAWN ? ` The first ${DRAWN} are drawn.` : "";
  const label = s.board.length ? `The scoreboard, segments ${first} to ${Math.ceil(end) - 1}: ${said}.${drawn}` : "Nothing is outstanding.";
  strip.setAttribute("role", "img");
  strip.setAttribute("aria-label", label);
  return [dl, element("p", { className: "soft", textContent: label }), strip];
}
