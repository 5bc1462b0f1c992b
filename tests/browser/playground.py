#!/usr/bin/env python3
"""Opens the playground in headless Chromium and does what a reader would do.

    tests/browser/playground.py FILE.html [--screenshots FOLDER] [--only NAME]

The page is opened from disk, and fails a check if it writes anything to the console or asks for
anything from a network. Needs Debian's `chromium` and the packages of requirements.txt.
"""

import argparse
import gzip
import hashlib
import re
import struct
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

import same
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
CASES = 200


class Reader:
    """Someone with the page before them."""

    def __init__(self, browser, html: Path, args, **context):
        self.args, self.html = args, html
        context.setdefault("viewport", {"width": 1280, "height": 1800})
        self.context = browser.new_context(**context)
        self.page: Page = self.context.new_page()
        self.page.on("console", lambda m: self.wrong(f"console: {m.text}"))
        self.page.on("pageerror", lambda e: self.wrong(f"script: {e}"))
        self.page.on("request", lambda r: r.url.startswith(("file:", "blob:", "data:"))
                     or self.wrong(f"asks for {r.url}"))
        self.found: list[str] = []

    def wrong(self, what: str) -> None:
        self.found.append(what)

    def open(self, state: str = "") -> "Reader":
        self.page.goto(self.html.as_uri() + state)
        self.page.wait_for_function("document.documentElement.dataset.ready", timeout=60_000)
        return self

    def ask(self, script: str, argument=None):
        return self.page.evaluate(script, argument)


def same_engine(reader: Reader) -> None:
    """The events of random scenarios are those of the command, to the byte."""
    cases = same.cases(reader.args.ackclock, CASES)
    hashes = reader.open().ask(
        """async (cases) => {
          const hashes = [];
          for (const [text, strategy] of cases) {
            const sum = await crypto.subtle.digest("SHA-256", await ask("events", text, strategy));
            hashes.push([...new Uint8Array(sum)].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
          }
          return hashes;
        }""",
        [(text, strategy) for text, strategy, _ in cases],
    )
    for (text, strategy, events), found in zip(cases, hashes, strict=True):
        if found != hashlib.sha256(events).hexdigest():
            reader.wrong(f"other events than the command's with {strategy}:\n{text}")
    lines = sum(events.count(b"\n") for *_, events in cases)
    print(f"  {len(cases)} scenarios, {lines} events")


# A long transfer with four strategies.
LONG = ("#from=compare&strategy=reno,newreno,sack,newreno+lt&lost=14,26,28&link=1"
        "&set=flow[0].source.segments=500")
STATE = "JSON.parse(JSON.stringify(state))"


def point(reader: Reader, panel: int, wanted: str) -> tuple[float, float]:
    """Where a mark is in the window; `wanted` is a condition on `m`."""
    x, y = reader.ask(
        f"""() => {{
          const p = panels[{panel}];
          p.canvas.scrollIntoView({{ block: "center" }});
          const m = p.run.marks.find((m) => {wanted}), box = p.canvas.getBoundingClientRect();
          return [box.left + p.g.x(m.t), box.top + p.g.y(m.y + m.h / 2)];
        }}"""
    )
    return x, y


def segment(number: int, nth: int = 1) -> str:
    return f'm.kind === "segment" && m.segment[0] === {number} && m.segment[1] === {nth}'


def after(reader: Reader, act) -> dict:
    """Does something that runs everything anew; the state after it."""
    runs = int(reader.ask("document.documentElement.dataset.runs") or 0)
    act()
    reader.page.wait_for_function(f"document.documentElement.dataset.runs > {runs} && !busy",
                                  timeout=10_000)
    return reader.ask(STATE)


def shot(reader: Reader, name: str) -> None:
    if reader.args.screenshots:
        reader.args.screenshots.mkdir(parents=True, exist_ok=True)
        reader.page.screenshot(path=reader.args.screenshots / f"{name}.png")


def expect(reader: Reader, what: str, found, wanted) -> None:
    if found != wanted:
        reader.wrong(f"{what}: {found}, not {wanted}")


def zoomed(reader: Reader) -> None:
    """The first second and a half, so that marks are apart."""
    reader.ask("() => { setView(0.5, 1.6, 5, 45); drawNow(); }")


def clicks(reader: Reader) -> None:
    """A segment, a retransmission and an ACK are lost by a click, undone and done again."""
    page = reader.open().page
    zoomed(reader)
    lost = [[14, 1], [26, 1], [28, 1]]
    expect(reader, "at first", reader.ask(STATE)["lost"], lost)
    shot(reader, "zoomed")
    drops = "() => panels.map((p) => p.run.marks.filter((m) => m.dropped).length)"
    state = after(reader, lambda: page.mouse.click(*point(reader, 0, segment(20))))
    expect(reader, "a segment", state["lost"], [[14, 1], [20, 1], [26, 1], [28, 1]])
    expect(reader, "drops in all panels", reader.ask(drops), [4, 4, 4, 4])
    state = after(reader, lambda: page.mouse.click(*point(reader, 1, segment(14, 2))))
    expect(reader, "a retransmission", state["lost"], [[14, 1], [14, 2], [20, 1], [26, 1], [28, 1]])
    mark = page.inner_text("#mark")
    expect(reader, "what it was",
           mark.startswith("newreno: The 1st retransmission of segment 14, sent at "), True)
    ack = reader.ask("() => panels[2].run.came.find((m) => m.t > 1.0).ack")
    state = after(reader, lambda: page.mouse.click(*point(reader, 2,
                                                          f'm.kind === "ack" && m.ack === {ack}')))
    expect(reader, "an ACK", state["acks"], [ack])
    gone = f"() => panels.map((p) => p.run.marks.filter((m) => m.ack === {ack} && !m.came).length)"
    expect(reader, "ACKs that did not come", reader.ask(gone), [1, 1, 1, 1])
    shot(reader, "clicked")
    for _ in range(3):
        state = after(reader, lambda: page.click("#undo"))
    expect(reader, "undone", (state["lost"], state["acks"]), (lost, []))
    for _ in range(2):
        state = after(reader, lambda: page.keyboard.press("Control+y"))
    expect(reader, "done again", state["lost"], [[14, 1], [14, 2], [20, 1], [26, 1], [28, 1]])
    # The same click again has it arrive.
    state = after(reader, lambda: page.mouse.click(*point(reader, 0, segment(20))))
    expect(reader, "arrives", state["lost"], [[14, 1], [14, 2], [26, 1], [28, 1]])
    # Another reader opens the link.
    rows = "() => panels.map((p) => [...p.run.rows])"
    url, events = page.url, reader.ask(rows)
    page.goto("about:blank")
    reader.open(url[url.index("#"):])
    expect(reader, "the state of the link", reader.ask(STATE), state)
    expect(reader, "the events of the link", reader.ask(rows) == events, True)


def drags(reader: Reader) -> None:
    """A drag delays a segment and an ACK, and moves the ground; a wheel zooms, a double click goes
    back."""
    page = reader.open().page
    zoomed(reader)
    scale = reader.ask("panels[0].g.kx")
    x, y = point(reader, 0, segment(20))
    before = len(reader.ask(STATE)["late"])

    def drag(x, y, dx, dy=0):
        page.mouse.move(x, y)
        page.mouse.down()
        for part in (0.2, 0.5, 0.8, 1):
            page.mouse.move(x + dx * part, y + dy * part)
        page.mouse.up()

    state = after(reader, lambda: drag(x, y, 30))
    page.wait_for_function("!busy && !waiting")
    expect(reader, "delays", (before, len(state["late"]), state["late"][0]["segment"]),
           (0, 1, [20, 1]))
    late = float(state["late"][0]["by"].removesuffix("ms"))
    expect(reader, "delay of a drag", abs(late - 30 / scale * 1000) <= 1.5, True)
    state = after(reader, lambda: page.fill("#late", "25") or page.press("#late", "Enter"))
    expect(reader, "delay typed", state["late"], [{"segment": [20, 1], "ack": None, "by": "25ms"}])
    ack = reader.ask("() => panels[1].run.came.find((m) => m.t > 0.9).ack")
    x, y = point(reader, 1, f'm.kind === "ack" && m.ack === {ack}')
    state = after(reader, lambda: drag(x, y, 40))
    page.wait_for_function("!busy && !waiting")
    expect(reader, "an ACK delayed", [late["ack"] for late in reader.ask(STATE)["late"]],
           [None, ack])
    shot(reader, "delayed")
    state = after(reader, lambda: page.click("#undo"))
    expect(reader, "a drag is undone at once", len(state["late"]), 1)
    view = "() => [view.t0, view.t1, view.y0, view.y1]"
    box = page.locator("#panels canvas").first.bounding_box()
    was = reader.ask(view)
    drag(box["x"] + box["width"] - 60, box["y"] + 200, -80, 30)
    now = reader.ask(view)
    expect(reader, "the ground moves", now[0] > was[0] and now[2] > was[2], True)
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(100)
    expect(reader, "the wheel zooms", reader.ask(view)[1] - reader.ask(view)[0] < now[1] - now[0],
           True)
    page.mouse.dblclick(box["x"] + box["width"] - 20, box["y"] + 20)
    expect(reader, "a double click", reader.ask("view === whole"), True)


def keyboard(reader: Reader) -> None:
    """Everything without a mouse."""
    page = reader.open().page
    page.focus("#panels canvas >> nth=0")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(reader, "a mark is told",
           "sent at" in page.inner_text("#mark") or "came at" in page.inner_text("#mark"), True)
    reader.ask(f"() => select(0, panels[0].run.marks.find((m) => {segment(17)}))")
    state = after(reader, lambda: page.keyboard.press("Enter"))
    expect(reader, "Enter", [17, 1] in state["lost"], True)
    state = after(reader, lambda: page.keyboard.press("Control+z"))
    expect(reader, "Ctrl+Z", [17, 1] in state["lost"], False)
    for key, by in (("Shift+ArrowRight", "10ms"), ("Shift+ArrowRight", "20ms"),
                    ("Shift+ArrowLeft", "10ms")):
        state = after(reader, lambda key=key: page.keyboard.press(key))
        expect(reader, key, [late["by"] for late in state["late"]], [by])
    span = reader.ask("view.t1 - view.t0")
    page.keyboard.press("+")
    expect(reader, "+", reader.ask("view.t1 - view.t0") < span, True)
    page.keyboard.press("0")
    expect(reader, "0", reader.ask("view === whole"), True)
    page.keyboard.press("]")
    page.keyboard.press("]")
    page.wait_for_function('document.getElementById("step").textContent.includes("ACK 2 of ")')
    page.keyboard.press(" ")
    page.wait_for_timeout(1500)
    expect(reader, "plays", reader.ask("until < Infinity && until > 0"), True)
    shot(reader, "playing")
    page.keyboard.press(" ")
    expect(reader, "stops", reader.ask("until === Infinity"), True)
    # Who removes strategies stays where they are.
    focus = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.id"
    page.focus('[aria-label="Leave newreno out"]')
    for then in ("Leave sack out", "Leave newreno+lt out", "Leave reno out", "strategy"):
        after(reader, lambda: page.keyboard.press("Enter"))
        expect(reader, "the focus after removing", reader.ask(focus), then)
    # Every control can be reached.
    unreached = reader.ask(
        """() => [...document.querySelectorAll("button, select, input, textarea, canvas, summary")]
             .filter((e) => e.offsetParent && !e.disabled && e.tabIndex < 0).map((e) => e.id || e.tagName)"""
    )
    expect(reader, "unreached", unreached, [])


def touch(reader: Reader) -> None:
    """A tap tells, a long press loses, a finger drags, and two zoom."""
    reader.context.close()
    reader.context = reader.context.browser.new_context(viewport={"width": 360, "height": 740},
                                                        has_touch=True, is_mobile=True)
    found = reader.found
    reader.page = page = reader.context.new_page()
    page.on("pageerror", lambda e: found.append(f"script: {e}"))
    reader.open()
    reader.ask("() => { setView(0.55, 1.15, 5, 30); drawNow(); }")
    page.wait_for_timeout(200)
    cdp = reader.context.new_cdp_session(page)

    def fingers(kind, *points):
        cdp.send("Input.dispatchTouchEvent",
                 {"type": kind,
                  "touchPoints": [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]})

    at = point(reader, 0, segment(14))
    fingers("touchStart", at)
    fingers("touchEnd")
    page.wait_for_timeout(100)
    expect(reader, "a tap changes nothing", reader.ask(STATE)["lost"], [[14, 1], [26, 1], [28, 1]])
    expect(reader, "a tap tells",
           page.inner_text("#mark").startswith("reno: Segment 14, sent at"), True)
    at = point(reader, 0, segment(14))

    def press():
        fingers("touchStart", at)
        page.wait_for_timeout(700)
        fingers("touchEnd")

    state = after(reader, press)
    expect(reader, "a long press", state["lost"], [[26, 1], [28, 1]])
    at = point(reader, 0, segment(20))

    def pull():
        fingers("touchStart", at)
        for dx in (8, 16, 24, 32):
            fingers("touchMove", (at[0] + dx, at[1]))
            page.wait_for_timeout(30)
        fingers("touchEnd")

    after(reader, pull)
    page.wait_for_function("!busy && !waiting && !drag")
    expect(reader, "a finger drags", [late["segment"] for late in reader.ask(STATE)["late"]],
           [[20, 1]])
    box = page.locator("#panels canvas").first.bounding_box()
    x, y, span = box["x"] + 150, box["y"] + 60, reader.ask("view.t1 - view.t0")
    fingers("touchStart", (x - 20, y), (x + 20, y + 10))
    fingers("touchMove", (x - 60, y), (x + 60, y + 10))
    fingers("touchMove", (x - 80, y), (x + 80, y + 10))
    fingers("touchEnd")
    expect(reader, "two fingers zoom", reader.ask("view.t1 - view.t0") < span / 2, True)
    shot(reader, "narrow")


def steps(reader: Reader) -> None:
    """ACK by ACK: what was counted, who decided, in whose words, and the state of the sender."""
    page = reader.open("#from=compare&strategy=newreno,sack&lost=14,26,28&link=1").page
    page.click("#first")
    page.wait_for_function('document.getElementById("step").textContent.includes("ACK 1 of ")')
    third = reader.ask("() => panels[0].run.came.findIndex((m) => m.dupacks === 3) + 1")
    page.fill("#nth", str(third - 1))
    page.press("#nth", "Enter")
    page.wait_for_function('document.getElementById("step").textContent.includes("It is duplicate '
                           '2")')
    page.click("#next")
    page.wait_for_function('document.getElementById("step").textContent.includes("It is duplicate '
                           '3; the threshold is 3.")')
    text = page.inner_text("#step")
    for part in ("Segment 14, transmission 1, is judged lost — dupack (detect)", "Recovery begins",
                 "the 1st retransmission (fast retransmit)", "RFC 5681", "state\nrecovery",
                 "ssthresh\n7.5", "pipe\n15",
                 "The scoreboard, segments 14 to 28: 1 retransmitted, 14 on its way."):
        expect(reader, f"the third duplicate says {part!r}", part in text, True)
    shot(reader, "step")
    page.select_option("#stepof", "1")
    page.wait_for_function('document.querySelector("#step .strip .sacked")')
    page.click("#back")
    expect(reader, "axes of decisions in the state",
           reader.ask("moment === panels[1].run.came[Number($('nth').value) - 1].t"), True)


def recoveries(reader: Reader) -> None:
    """A recovery ends once: what ends after the timeout that follows it is not told of it. Each ACK
    within one has the sentence about duplicates, and only the last one that about leaving."""
    page = reader.open("#from=compare&strategy=reno&lost=14,26,28&link=1").page
    entered, left = reader.ask(
        """() => [KIND.entered, KIND.left].map((kind) => {
             const rows = panels[0].run.rows, found = [];
             for (let i = 0; i < rows.length; i += ROW) if (rows[i] === kind) found.push(rows[i + 1] / 1e9);
             return found;
           })"""
    )
    expect(reader, "events of entering and leaving", (len(entered), len(left)), (2, 3))
    expect(reader, "the recoveries shaded", reader.ask("panels[0].run.recoveries"),
           [[entered[0], left[0]], [entered[1], left[1]]])
    duplicate, leaving = "For each additional duplicate ACK received", "where ssthresh is the value"
    for t, says, not_said in ((entered[1] + 1e-6, duplicate, leaving),
                              (left[1], leaving, duplicate),
                              (left[1], "Recovery is over", duplicate),
                              (left[2], "What the timeout began is over", "inflate-to-ssthresh")):
        nth = reader.ask("(t) => panels[0].run.came.findIndex((m) => m.t >= t) + 1", t)
        page.fill("#nth", str(nth))
        page.press("#nth", "Enter")
        page.wait_for_function(
            f'document.getElementById("step").textContent.includes("ACK {nth} of ")')
        text = page.inner_text("#step")
        expect(reader, f"ACK {nth} says {says!r}, and not {not_said!r}",
               (says in text, not_said in text), (True, False))
    shot(reader, "recoveries")


def says(reader: Reader) -> None:
    """The legend has all that is drawn, in the words of the other pages; headings and a sentence
    say what the columns are."""
    page = reader.open("#from=compare&strategy=linux,oracle&lost=14,26,28&link=1").page
    legend = page.inner_text("#legend").replace("\n", " ")
    for text in ("F-RTO", "backed-off timeout", "in recovery", "timer expires",
                 "green: ACKs (hollow: on their way at the end)"):
        expect(reader, f"the legend has {text}", text in legend, True)
    untold = reader.ask("""() => [...document.querySelectorAll("#results th[scope=col]")]
      .filter((th) => !th.title).map((th) => th.textContent)""")
    expect(reader, "headings without a title", untold, ["strategy", "retransmissions"])
    # Linux is done before the oracle of this row, and after the one that bounds it.
    done = reader.ask("panels.map((p) => p.run.about.summary.completion_s)")
    over = reader.ask("panels.map((p) => p.run.about.over[0])")
    found = (done[0] < done[1], over[0] > 0, over[1])
    expect(reader, "over its own oracle", found, (True, True, 0))
    expect(reader, "says of which oracle", page.is_visible("#bound"), True)
    shot(reader, "says")


def chooses(reader: Reader) -> None:
    """Figures, compositions with completion, presets and knobs; all strategies answer."""
    page = reader.open().page
    for figure in reader.ask("FIGURES.map((f) => f.id)"):
        choose = lambda figure=figure: page.select_option("#figure", figure)
        state = after(reader, choose) if figure != "compare" else reader.ask(STATE)
        expect(reader, f"{figure}: error",
               page.inner_text("#error") if page.is_visible("#error") else "", "")
        expect(reader, f"{figure}: panels that ran",
               reader.ask("panels.filter((p) => p.run).length"), len(state["strategies"]))
        shot(reader, figure.replace("/", "-"))
    lost = {"lin-kung/figures-3-4": [[638, 1], [638, 2], [639, 1], [640, 1]]}
    state = after(reader, lambda: page.select_option("#figure", "lin-kung/figures-3-4"))
    expect(reader, "figure 4", state["lost"], lost["lin-kung/figures-3-4"])
    state = after(reader, lambda: page.select_option("#figure", "compare"))
    page.fill("#strategy", "newreno+lrxt+b")
    page.wait_for_function('document.querySelectorAll("#compositions option").length > 1')
    offered = reader.ask('[...document.querySelectorAll("#compositions option")].map((o) => '
                         'o.value)')
    expect(reader, "completion", "newreno+lrxt+b2b" in offered, True)
    page.fill("#strategy", "newreno+lrxt+b2b")
    page.wait_for_function('document.getElementById("axes").textContent.includes("retransmission: '
                           'lrxt · probe: b2b")')
    state = after(reader, lambda: page.press("#strategy", "Enter"))
    expect(reader, "added", state["strategies"][-1], "newreno+lrxt+b2b")
    state = after(reader, lambda: page.select_option("#preset", "rack-tlp"))
    expect(reader, "a preset", state["strategies"][-1], "rack-tlp")
    state = after(reader, lambda: page.click('[aria-label="Leave reno out"]'))
    expect(reader, "left out", "reno" in state["strategies"], False)
    knobs = {"Rate": "2mbit", "Delay, one way": "20ms", "Queue, packets": "8",
             "Segments to send": "200", "Receive window": "16seg", "Initial window, segments": "4",
             "Delayed ACKs": "40ms", "SACK": "false", "Least RTO": "200ms", "Handshake": "true"}
    for label, value in knobs.items():
        was = page.inner_text("#rows")
        state = after(reader, lambda label=label,
                      value=value: page.get_by_label(label, exact=True).select_option(value))
        expect(reader, f"{label} has an error", page.is_visible("#error"), False)
        expect(reader, f"{label} is set", value in state["set"].values(), True)
        if label not in ("Least RTO", "Receive window", "Queue, packets"):
            expect(reader, f"{label} makes a difference", page.inner_text("#rows") != was, True)
    shot(reader, "knobs")
    page.click("#source summary")
    text = page.input_value("#text").replace('delay = "100ms"', 'delay = "33ms"')
    page.fill("#text", text)
    state = after(reader, lambda: page.click("#apply"))
    expect(reader, "a scenario of one's own", "33ms" in state["text"], True)
    state = after(reader, lambda: page.click("#undo"))
    expect(reader, "undone", state["text"], None)


def scenarios(reader: Reader) -> None:
    """Every scenario of the project is taken apart; one whose flow has no source runs."""
    page = reader.open().page
    for file in sorted((ROOT / "scenarios").glob("*.toml")):
        knobs = reader.ask("""async (text) => {
          const { scenario, edits } = await ask("opened", text);
          return KNOBS.map((knob) => String(knob.of(scenario, edits.link)));
        }""", file.read_text())
        expect(reader, f"knobs of {file.name}", len(knobs), 10)
    page.click("#source summary")
    page.fill("#text", (ROOT / "scenarios/gateway-lossy.toml").read_text())
    after(reader, lambda: page.click("#apply"))
    expect(reader, "error", page.inner_text("#error") if page.is_visible("#error") else "", "")
    expect(reader, "segments to send", page.get_by_label("Segments to send").inner_text(),
           "not in this scenario")
    expect(reader, "panels that ran", reader.ask("panels.filter((p) => p.run).length"), 4)
    shot(reader, "gateway-lossy")


def copies(reader: Reader) -> None:
    """What is copied out gives the same events when the command runs it."""
    page = reader.open().page
    states = (
        "#from=compare&strategy=reno,newreno+lt&lost=14,26,28,14:1&link=1",
        "#from=compare&strategy=sack&lost=3&link=1&set=link[1].rate=2mbit&set=link[1].delay=20ms"
        "&set=link[1].queue.droptail.packets=8&set=flow[0].source.segments=60&set=tcp.rwnd=16seg"
        "&set=tcp.initial_window=4&set=tcp.delayed_ack=40ms&set=tcp.min_rto=200ms"
        "&set=tcp.handshake=true",
        "#from=compare&strategy=reno,sack&lost=14&acks=7,12&late=20.1~25ms,a9~40ms&link=1"
        "&set=tcp.sack=false",
        "#from=miyake-inamura/figures-6-8&strategy=newreno-lrx-1&lost=38,38:1,42,46&link=1",
        "#from=compare&strategy=sack&lost=3&link=1&set=tcp.min_rto='300ms'",
        "#from=gurtov-floyd/figure-4&strategy=newreno-ts,newreno-ack&lost=20&link=1",
    )
    for number, state in enumerate(states):
        page.goto("about:blank")
        reader.open(state)
        expect(reader, f"{state}: error",
               page.inner_text("#error") if page.is_visible("#error") else "", "")
        strategies = reader.ask("state.strategies")
        events = "".join(reader.ask(
            "async (all) => Promise.all(all.map(async (s) => new TextDecoder().decode(await "
            "ask('events', scenario, s))))", strategies))
        page.click("#ascommand")
        command = page.input_value("#copytext")
        page.click("#close")
        expect(reader, f"the command of state {number}", command.split()[1],
               "compare" if number < 2 else "run")
        page.click("#asfile")
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "scenario.toml").write_text(page.input_value("#copytext"))
            bare = command.replace("ackclock ", f"{reader.args.ackclock} ",
                                   1).replace(" --strategy", " --events command.jsonl --strategy",
                                              1)
            subprocess.run(bare, shell=True, cwd=folder, check=True, capture_output=True,
                           timeout=60)
            subprocess.run([reader.args.ackclock, "run", "scenario.toml", "--strategy",
                            ",".join(strategies), "--events", "file.jsonl"],
                           cwd=folder, check=True, capture_output=True, timeout=60)
            for name in ("command", "file"):
                expect(reader, f"the {name} of state {number} has the same events",
                       (folder / f"{name}.jsonl").read_text() == events, True)
        page.click("#close")
    page.click("#asfigure")
    page.wait_for_selector("#copypicture svg")
    expect(reader, "the figure has panels", page.input_value("#copytext").count("newreno-ts") > 0,
           True)
    shot(reader, "figure")
    page.click("#close")
    page.click("#aslink")
    expect(reader, "the link", page.input_value("#copytext"), page.url)
    compare = subprocess.run([reader.args.ackclock, "compare", "--strategy", "reno", "--drop",
                              "14,26,28", "--print-scenario"],
                             capture_output=True, text=True, check=True)
    kept = ROOT / "crates/ackclock-playground/page/compare.toml"
    expect(reader, "compare.toml is what compare prints", kept.read_text() == compare.stdout, True)


# Copied out of a page, these would run what the author of a link wants.
HOSTILE = """x
END
touch written
END_
touch written
cat >/dev/null <<'END'
"""


def quotes(reader: Reader) -> None:
    """Whatever a link has, the command that is copied runs nothing else, in any shell."""
    page = reader.open().page
    words = ["a b", "", "it's", "$(touch written)", "`touch written`", "1s;touch written", "a\nb",
             "~", "{a,b}", "*", "#", "!!", "\\", "\"", "newreno+lrxt", "link[1].rate=8mbit"]
    for shell in ("dash", "bash"):
        line = reader.ask("(words) => words.map(quoted).join(' ')", words)
        # This one needs no quotes.
        expect(reader, "a plain word", line.split(" ")[-2], "newreno+lrxt")
        with tempfile.TemporaryDirectory() as folder:
            printed = subprocess.run([shell, "-c", f"printf '%s\\0' {line}"], cwd=folder,
                                     capture_output=True, text=True, check=True).stdout
            expect(reader, f"words in {shell}", printed.split("\0")[:-1], words)
            expect(reader, f"files of {shell}", list(Path(folder).iterdir()), [])
    text = (ROOT / "crates/ackclock-playground/page/compare.toml").read_text()
    text = text.replace("[[flow]]", f"[[flow]]\nname = \"\"\"{HOSTILE}\"\"\"")
    page.goto("about:blank")
    reader.open(f"#strategy=sack&lost=14&link=1&text={urllib.parse.quote(text)}")
    events = reader.ask(
        "async () => new TextDecoder().decode(await ask('events', scenario, 'sack'))")
    page.click("#ascommand")
    command = page.input_value("#copytext")
    page.click("#close")
    expect(reader, "its end", (command.split("\n")[0], command.split("\n")[-2:]),
           ("ackclock run - --strategy sack <<'END__'", ["END__", ""]))
    for shell in ("dash", "bash"):
        with tempfile.TemporaryDirectory() as folder:
            run = f"{reader.args.ackclock} run --events e.jsonl"
            bare = command.replace("ackclock run", run, 1)
            subprocess.run([shell, "-c", bare], cwd=folder, check=True, capture_output=True)
            expect(reader, f"what {shell} writes", [f.name for f in Path(folder).iterdir()],
                   ["e.jsonl"])
            expect(reader, f"the events in {shell}", (Path(folder) / "e.jsonl").read_text(),
                   events)
    # What does not run gives no command.
    for state in ("#from=compare&strategy=reno&lost=3&link=1&set=tcp.min_rto=1s;touch%20written",
                  "#from=compare&strategy=reno,$(touch%20written)&lost=3&link=1"):
        page.goto("about:blank")
        reader.open(state)
        expect(reader, f"{state}: an error", page.is_visible("#error"), True)
        expect(reader, f"{state}: a command", page.is_enabled("#ascommand"), False)


def views(reader: Reader) -> None:
    """A view is of one scenario, and shows nothing beyond it."""
    page = reader.open("#from=compare&strategy=reno,sack&lost=14,26,28&link=1").page
    view = "[view.t0, view.t1, view.y0, view.y1]"
    whole = "[whole.t0, whole.t1, whole.y0, whole.y1]"
    first = reader.ask(view)
    expect(reader, "at first", first, reader.ask(whole))
    after(reader, lambda: page.select_option("#figure", "lin-kung/figure-2"))
    second = reader.ask(view)
    expect(reader, "another", second != first, True)
    after(reader, lambda: page.click("#undo"))
    expect(reader, "undone", reader.ask(view), first)
    after(reader, lambda: page.click("#redo"))
    expect(reader, "done again", reader.ask(view), second)
    after(reader, lambda: page.click("#undo"))
    delay = page.get_by_label("Delay, one way", exact=True)
    after(reader, lambda: delay.select_option("500ms"))
    expect(reader, "a knob", reader.ask(view), reader.ask(whole))
    after(reader, lambda: page.click("#undo"))
    expect(reader, "a knob undone", reader.ask(view), first)
    # What happens to packets leaves the view as it is.
    zoomed(reader)
    after(reader, lambda: page.mouse.click(*point(reader, 0, segment(20))))
    after(reader, lambda: page.click("#undo"))
    expect(reader, "a loss undone", reader.ask(view), [0.5, 1.6, 5, 45])
    page.goto("about:blank")
    reader.open("#from=compare&strategy=reno,newreno,sack,newreno+lt&lost=14,26,28&link=1"
                "&set=flow[0].source.segments=1000")
    shot(reader, "thousand")
    t0, t1, y0, y1 = reader.ask(view)
    whole = reader.ask(whole)
    expect(reader, "begins with everything", (t0, y0), (whole[0], whole[2]))
    expect(reader, "ends within everything", (t1 <= whole[1], y1 <= whole[3]), (True, True))


def boards(reader: Reader) -> None:
    """A scoreboard is counted whole, of which 600 segments are drawn."""
    page = reader.open("#from=compare&strategy=sack&lost=&link=1&set=link[1].delay=500ms"
                       "&set=flow[0].source.segments=2500&set=link[1].rate=100mbit"
                       "&set=link[1].queue.droptail.packets=10000&set=tcp.rwnd=4000seg").page
    page.fill("#nth", "1023")
    page.press("#nth", "Enter")
    page.wait_for_function('document.getElementById("step").textContent.includes("ACK 1023 of ")')
    said = page.inner_text("#step .soft")
    outstanding = int(page.inner_text("#step dl").split("flight\n")[1].split()[0])
    expect(reader, "outstanding", outstanding, 1024)
    expect(reader, "said", said, "The scoreboard, segments 1023 to 2046: 1024 on its way. "
           "The first 600 are drawn.")
    expect(reader, "drawn", page.locator("#step .strip span").count(), 600)


def stands(reader: Reader) -> None:
    """What is shown of an earlier state is marked, and what does not run is not copied out."""
    page = reader.open().page
    enabled = lambda: [page.is_enabled(f"#{id}") for id in ("asfile", "ascommand", "asfigure")]
    old = lambda: (page.is_visible("#old"), page.locator(".old").count())
    expect(reader, "runs", (enabled(), old()), ([True] * 3, (False, 0)))
    reader.ask("() => { location.hash += '&set=link[1].rate=fast'; }")
    page.wait_for_selector("#error:not([hidden])")
    page.wait_for_function("!busy")
    expect(reader, "does not run", (enabled(), old()), ([False] * 3, (True, 3)))
    shot(reader, "old")
    state = after(reader, lambda: page.click("#undo"))
    expect(reader, "runs again", (enabled(), old(), state["set"]), ([True] * 3, (False, 0), {}))
    # A text with a mistake is not taken, which is said; all else stays in step.
    page.click("#source summary")
    page.fill("#text", page.input_value("#text").replace("segments = 100", "writes = []"))
    page.click("#apply")
    page.wait_for_selector("#error:not([hidden])")
    expect(reader, "a text that does not run", page.inner_text("#error"),
           "scenario:33: flow[0].source.writes: nothing to send\n"
           "The text was not applied: all else is of the scenario before.")
    expect(reader, "after it", (enabled(), old(), reader.ask(STATE) == state),
           ([True] * 3, (False, 0), True))
    # One strategy that does not run is no reason to keep the scenario back.
    page.goto("about:blank")
    reader.open("#from=compare&strategy=reno,renoo&lost=14&link=1")
    expect(reader, "one of two", (enabled(), old()), ([True, False, False], (False, 0)))
    expect(reader, "headings", page.locator("#panels section p").all_inner_texts()[1],
           "does not run")
    page.goto("about:blank")
    reader.open("#from=compare&strategy=reno&lost=14&link=1&set=link[1].rate=fast")
    expect(reader, "never ran", (enabled(), old()), ([False] * 3, (False, 0)))
    page.goto("about:blank")
    reader.open("#from=compare&strategy=reno&lost=14&link=1")
    state = after(reader, lambda: page.click('[aria-label="Leave reno out"]'))
    expect(reader, "none left", (state["strategies"], page.inner_text("#error"), enabled()),
           ([], "No strategy is left: add one to compare.", [False] * 3))
    after(reader, lambda: page.select_option("#preset", "sack"))
    expect(reader, "one again", (page.is_visible("#error"), enabled(),
                                 reader.ask("view.t1 === whole.t1 && whole.t1 > 1")),
           (False, [True] * 3, True))


def lateness(reader: Reader) -> None:
    """What is typed is what the engine takes, and an ACK that is too late was not lost."""
    page = reader.open().page
    ack = reader.ask("() => panels[0].run.came.find((m) => m.t > 0.3).ack")
    choose = f"() => select(0, panels[0].run.marks.find((m) => m.ack === {ack}))"
    reader.ask(choose)
    for typed in ("1e-7", "1e300", "0x10", "-5", "1e9", "0.0000001", "soon", "."):
        page.fill("#late", typed)
        page.press("#late", "Enter")
        expect(reader, typed, (page.inner_text("#error"), reader.ask(STATE)["late"]),
               (f"late: {typed} is no number of milliseconds below 10⁹ with at most 6 decimals",
                []))
        reader.ask("() => showError('')")
    for typed, by in (("0,000001", "0.000001ms"), ("1.50", "1.5ms"), ("100", "100ms"),
                      ("999999999", "999999999ms")):
        page.fill("#late", "")
        state = after(reader, lambda typed=typed: (page.fill("#late", typed),
                                                   page.press("#late", "Enter")))
        expect(reader, typed, ([late["by"] for late in state["late"]], page.is_visible("#error")),
               ([by], False))
    said = page.inner_text("#mark")
    expect(reader, f"{said!r} says", re.sub(r"[\d.]+ s", "T", said.split(", ", 2)[2]),
           "left at T and had not come when the run ended. It is 999999999 ms late.")
    state = after(reader, lambda: page.click("#lose"))
    expect(reader, "lost", "and was lost." in page.inner_text("#mark"), True)
    reader.ask(f"() => select(0, panels[0].run.marks.find((m) => {segment(1)}))")
    expect(reader, "new data", re.sub(r"[\d.]+ s", "T", page.inner_text("#mark")),
           "reno: Segment 1, sent at T as new data.")
    # A run that ends early: two ACKs were lost on purpose, and the last one was on its way.
    page.goto("about:blank")
    reader.open("#from=compare&strategy=sack&lost=&acks=5,6&link=1&set=duration=2s")
    away = reader.ask("""() => panels[0].run.marks.filter((m) => m.kind === "ack" && !m.came)
      .map((m) => [m.ack, m.lost])""")
    expect(reader, "the last that came", reader.ask("panels[0].run.came.at(-1).ack"), 90)
    expect(reader, "ACKs that did not come", away, [[5, True], [6, True], [91, False]])


def mistakes(reader: Reader) -> None:
    """Whatever is wrong is said, and the page goes on."""
    page = reader.open("#from=nowhere&strategy=reno").page
    said = lambda: page.inner_text("#error") if page.is_visible("#error") else ""
    expect(reader, "an unknown figure", said(), "The link starts from nowhere, which is not here.")
    expect(reader, "something is shown", reader.ask("panels.length"), 4)
    for state, part in (
        ("#from=compare&strategy=renoo&link=1", "did you mean `reno`?"),
        ("#from=compare&strategy=reno&lost=x&link=1", "The link has lost=x; a number is expected."),
        ("#from=compare&strategy=reno&colour=red", "colour, which means nothing here"),
        ("#from=compare&strategy=reno&link=9", "there is no link 9; there are 2"),
        ("#from=compare&strategy=reno&link=1&set=link[1].rate=fast", "`fast` is not a rate"),
        ("#from=compare&strategy=reno&link=1&late=20.1~soon", "soon"),
        ("#from=compare&strategy=reno&link=1&late=14.0~5ms", "late=0; it counts from 1."),
        ("#from=compare&strategy=reno&link=1&acks=0", "acks=0; it counts from 1."),
        ("#from=compare&strategy=reno&link=1&lost=14:0", "lost=0; it counts from 1."),
        ("#text=duration%3D1&strategy=reno", "duration"),
        ("#from=compare&strategy=oracle&link=1&set=tcp.handshake=true", "oracle"),
    ):
        page.goto("about:blank")
        reader.open(state)
        expect(reader, f"{state} says {part}", part in said(), True)
    page.goto("about:blank")
    reader.open()
    page.fill("#strategy", "newremo")
    page.press("#strategy", "Enter")
    page.wait_for_selector("#error:not([hidden])")
    expect(reader, "an unknown strategy", "did you mean `newreno`?" in said(), True)
    page.click("#source summary")
    page.fill("#text", "duration = ")
    page.click("#apply")
    page.wait_for_function('document.getElementById("error").textContent.includes("scenario:1:")')
    state = after(reader, lambda: page.mouse.click(*point(reader, 0, segment(20))))
    expect(reader, "goes on", (said(), [20, 1] in state["lost"]), ("", True))
    # What takes too long can be stopped.
    page.goto("about:blank")
    page.goto(reader.html.as_uri() + "#from=compare&strategy=reno&link=1"
              "&set=flow[0].source.segments=10&set=duration=100000s"
              "&set=cbr=[{from='sender',to='router',rate='8mbit'}]")
    page.click("#stop", timeout=20_000)
    page.wait_for_function('document.getElementById("error").textContent.includes("cancelled")',
                           timeout=20_000)
    state = after(reader, lambda: page.select_option("#figure", "lin-kung/figure-2"))
    expect(reader, "goes on after that", (said(), len(state["strategies"])), ("", 3))
    # Browsers that lack something say so.
    for lacking in ("Worker", "DecompressionStream"):
        context = reader.context.browser.new_context()
        context.add_init_script(f"delete globalThis.{lacking};")
        other = context.new_page()
        other.goto(reader.html.as_uri())
        other.wait_for_selector("#error:not([hidden])")
        expect(reader, f"without {lacking}",
               other.inner_text("#error").startswith("The playground does not run here"), True)
        context.close()


def explains(reader: Reader) -> None:
    """A capture that is dropped is explained as by the command, in the page; reading can be
    cancelled."""
    page = reader.open().page
    capture = ROOT / "tests/kernel.pcap.gz"
    page.set_input_files("#file", capture)
    page.wait_for_function('document.getElementById("explained").textContent.includes(" packets in '
                           '")', timeout=60_000)
    frame = page.frame_locator("#explanation")
    with tempfile.TemporaryDirectory() as folder:
        # As many pages as the playground has.
        command = [reader.args.ackclock, "explain", capture, "--html", folder, "--top", "50"]
        subprocess.run(command, check=True, capture_output=True)
        index = (Path(folder) / "index.html").read_text()
        wanted = index.replace(str(capture), capture.name)
        expect(reader, "the index is that of the command", reader.ask("explainer.index") == wanted,
               True)
        number = int(re.search(r"connection-(\d+)\.html", index)[1])
        own = reader.ask("(number) => explainer.ask('page', number)", number)
        wanted = (Path(folder) / f"connection-{number}.html").read_text()
        expect(reader, "so is a page", own.replace(capture.name, str(capture)) == wanted, True)
    expect(reader, "whole", "damaged" in page.inner_text("#explained"), False)
    shot(reader, "explained")
    frame.locator(f"a[href^='connection-{number}.html']").first.click()
    frame.locator("#panels canvas").first.wait_for(timeout=10_000)
    shot(reader, "explained-connection")
    page.click("#all")
    frame.locator("h1", has_text="Captures explained").wait_for(timeout=10_000)
    # Dropped anywhere; what is no capture is said.
    drop = """(text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "notes.txt"));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    reader.ask(drop, "no capture at all")
    page.wait_for_selector("#error:not([hidden])")
    expect(reader, "no capture",
           page.inner_text("#error").startswith("notes.txt: no capture: the first bytes are 6e 6f "
                                                "20 63"), True)
    # One that is cut off is explained up to there, and said to be.
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "cut.pcap"
        part.write_bytes(gzip.decompress(capture.read_bytes())[:20_000])
        page.set_input_files("#file", part)
        page.wait_for_function('document.getElementById("explained").textContent.includes("cut.pcap'
                               ': 217 packets in ")', timeout=60_000)
        said = re.sub(r"in [\d.]+ s", "in T", page.inner_text("#explained"))
        expect(reader, "what is said of it", said,
               "cut.pcap: 217 packets in T. It is damaged at byte 19900: a record is cut off: 84 "
               "of its 108 bytes are there. What comes before is explained.")


def large(reader: Reader) -> None:
    """A million packets, headers only: time and memory are printed, cancelling works."""
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "million.pcap"
        million(capture)
        page = reader.open().page
        page.set_input_files("#file", capture)
        page.wait_for_function("document.getElementById('progress').value > 0.2", timeout=60_000)
        page.click("#cancel")
        cancelled = 'document.getElementById("explained").textContent.includes("cancelled")'
        page.wait_for_function(cancelled)
        expect(reader, "shown after cancelling", page.is_visible("#explanation"), False)
        page.set_input_files("#file", [])
        page.set_input_files("#file", capture)
        page.wait_for_function('document.getElementById("explained").textContent.includes("1000000 '
                               'packets in ")', timeout=120_000)
        print(f"  {page.inner_text('#explained')} (bar: 2 s)")
        processes = subprocess.run(["ps", "-eo", "rss,args"], capture_output=True, text=True,
                                   check=True).stdout
        rss = max(int(line.split()[0]) for line in processes.splitlines()
                  if "--type=renderer" in line)
        print(f"  memory of the renderer after it: {rss / 1024:.0f} MB (bar: 1024)")


def million(path: Path) -> None:
    """Ten transfers of 50,000 segments, each of which is acknowledged, with a pause every 500."""
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 96, 101))

        def packet(at, to_server, port, seq, ack, flags, length):
            ip = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
            source, target = ip if to_server else ip[::-1]
            ports = (port, 80) if to_server else (80, port)
            header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + length, 0, 0, 64, 6, 0, source,
                                 target)
            header += struct.pack(">HHIIBBHHH", *ports, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x50,
                                  flags, 65535, 0, 0)
            out.write(struct.pack("<IIII", at // 10**9, at % 10**9, 40, 40 + length) + header)

        for port in range(1000, 1010):
            at, seq = 0, 1
            for i in range(50_000):
                at += 120_000
                packet(at, True, port, seq, 1, 0x10, 1448)
                at += 20_000_000 if i % 500 == 499 else 30_000
                seq += 1448
                packet(at, False, port, 1, seq, 0x10, 0)


def looks(reader: Reader) -> None:
    """From 360 px to 4K, on a light and a dark ground: nothing too wide, and axe finds nothing
    serious."""
    from axe_playwright_python.sync_playwright import Axe

    browser = reader.context.browser
    for width, height in ((360, 740), (1280, 900), (3840, 2160)):
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width, "height": height},
                                          color_scheme=scheme, reduced_motion="reduce")
            page, reader.page = reader.page, context.new_page()
            reader.open()
            reader.page.click("#first")
            reader.page.wait_for_selector("#step .strip")
            reader.page.click("#keys summary")
            wide = reader.ask("document.documentElement.scrollWidth - "
                              "document.documentElement.clientWidth")
            expect(reader, f"{width} px {scheme}: too wide by", wide, 0)
            expect(reader, "reduced motion", reader.ask("$('play').disabled"), True)
            found = Axe().run(reader.page).response["violations"]
            for v in found:
                if v["impact"] in ("serious", "critical"):
                    reader.wrong(f"axe, {width} px {scheme}: {v['id']}: "
                                 f"{v['nodes'][0]['html'][:120]}")
            shot(reader, f"{width}-{scheme}")
            context.close()
            reader.page = page


def speed(reader: Reader) -> None:
    """First paint, script time per frame of a drag, reaction to a click. Printed, and not
    judged."""
    page = reader.open(LONG).page
    paint = reader.ask('performance.getEntriesByName("first-contentful-paint")[0].startTime')
    reader.ask(
        """() => {
          window.spent = 0;
          window.frames = [];
          for (const name of ["drawNow", "showRuns", "rerun", "showControls"]) {
            const inner = window[name];
            window[name] = (...args) => {
              const began = performance.now(), result = inner(...args);
              window.spent += performance.now() - began;
              return result;
            };
          }
          const count = () => {
            if (window.spent) window.frames.push(window.spent);
            window.spent = 0;
            requestAnimationFrame(count);
          };
          requestAnimationFrame(count);
        }"""
    )
    reader.ask("() => { setView(0.5, 1.6, 5, 45); drawNow(); }")
    x, y = point(reader, 0, segment(20))
    page.wait_for_timeout(200)
    reader.ask("() => { window.frames = []; }")
    page.mouse.move(x, y)
    page.mouse.down()
    for i in range(90):
        page.mouse.move(x + i, y)
        page.wait_for_timeout(16)
    page.mouse.up()
    frames = sorted(reader.ask("window.frames"))
    reader.ask(
        """() => {
          window.reactions = [];
          let began = 0;
          addEventListener("pointerup", (event) => { began = event.timeStamp; }, true);
          const inner = window.showRuns;
          window.showRuns = (...args) => {
            inner(...args);
            requestAnimationFrame(() => setTimeout(() => window.reactions.push(performance.now() - began)));
          };
        }"""
    )
    for i in range(40):
        after(reader, lambda: page.mouse.click(*point(reader, i % 4, segment(18 + i % 7))))
        page.wait_for_timeout(60)
    clicks = sorted(reader.ask("window.reactions"))
    print(f"  first paint {paint:.0f} ms (bar: 1000)")
    print(f"  script time of a frame while dragging: median {frames[len(frames) // 2]:.1f} ms of "
          f"{len(frames)} (bar: 8)")
    print(f"  reaction to a click: median {clicks[len(clicks) // 2]:.1f} ms, p95 "
          f"{clicks[int(len(clicks) * 0.95)]:.1f} ms of {len(clicks)} (bar: 50)")


CHECKS = [same_engine, clicks, drags, keyboard, touch, steps, recoveries, says, chooses, scenarios,
          copies, quotes, views, boards, stands, lateness, mistakes, explains, large, looks, speed]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("html", type=Path)
    parser.add_argument("--ackclock", type=Path, default=ROOT / "target/release/ackclock")
    parser.add_argument("--screenshots", type=Path, help="write pictures into this folder")
    parser.add_argument("--only", help="the one check to do")
    args = parser.parse_args()
    args.ackclock = args.ackclock.resolve()
    failed = False
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for check in CHECKS:
            if args.only not in (None, check.__name__):
                continue
            reader = Reader(browser, args.html.resolve(), args)
            try:
                check(reader)
            except Exception as error:
                reader.wrong(f"{type(error).__name__}: {error}")
            reader.context.close()
            failed |= bool(reader.found)
            print(f"{check.__name__}: {'; '.join(reader.found) or 'ok'}")
        browser.close()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
