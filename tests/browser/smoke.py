#!/usr/bin/env python3
"""Opens pages in headless Chromium and checks that they draw and work.

    tests/browser/smoke.py FILE.html [--screenshot FILE.png] ...

Fails if a page writes anything to the console or asks for anything from a network. A picture has to
draw every segment of its data, and to come back to its first view after zooming, panning, pinching,
hovering and switching every layer off and on, on a dark ground; the keyboard reaches its marks, and
its view can be saved; it fits a narrow screen; each stall has to tell its verdict, and each button
to show its time. Any other page, such as the index of the papers, has to show all its figures, to
have links that lead somewhere, to fit a narrow screen, to sort its tables, and to count in its
summary the claims that it shows. In print no table is cut off. Needs Debian's `chromium`.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage --hide-scrollbars --enable-logging=stderr --window-size=1280,1000"
).split()
NARROW = "--window-size=500,900"

# What a user does, on every panel. The results are left on the root element, which the dumped page
# shows.
EXERCISE = """
<script>
(() => {
  const root = document.documentElement;
  root.dataset.first = root.dataset.ready;
  const frame = () => { drawNow(); return Number(root.dataset.ready); };
  let hovered = 0, zoomed = 0, stalls = 0, told = 0, unread = 0, touched = 0, strayed = 0;
  // Windows above their scale leave no pixel in the graph.
  const probe = Object.assign(document.createElement("canvas"), { width: 300, height: 300 })
    .getContext("2d", { willReadFrequently: true });
  const graph = (p, most) => {
    const windows = { ...p.trace.windows, ssthresh: p.trace.windows.cwnd.map((cwnd, i) => (i % 2 ? cwnd : most)) };
    const small = { ...p, ctx: probe, ratio: 1, width: 300, height: 300, trace: { ...p.trace, windows } };
    drawPanel(small);
    return probe.getImageData(LEFT, TOP, small.g.w, small.g.h).data.join();
  };
  for (const p of panels.slice(0, 2)) if (graph(p, 0) !== graph(p, 1e9 * p.trace.mss)) strayed++;
  frame();
  for (const p of panels) {
    p.canvas.scrollIntoView();
    const box = p.canvas.getBoundingClientRect();
    const fire = (type, x, y, more = {}) => p.canvas.dispatchEvent(new PointerEvent(type, {
      clientX: box.left + x, clientY: box.top + y, button: 0, bubbles: true, cancelable: true, ...more }));
    const s = p.trace.segments;
    for (let i = 0; i < s.t.length; i += Math.ceil(s.t.length / 50)) {
      fire("pointermove", p.g.x(s.t[i]), p.g.y((s.seq[i] + s.len[i] / 2) / p.trace.mss));
      if (!tip.hidden && tip.textContent.includes("segment")) hovered++;
    }
    // Below all marks a stall tells what it is.
    const { t0, t1, label, why } = p.trace.stalls;
    stalls += t0.length;
    t0.forEach((t, i) => {
      const middle = (t + t1[i]) / 2;
      setView(middle - (t1[i] - t) / 20, middle + (t1[i] - t) / 20, -3, -2);
      frame();
      fire("pointermove", p.g.x(middle), TOP + p.g.h / 2);
      if (!tip.hidden && tip.textContent.includes(label[i]) && tip.textContent.includes(why[i])) told++;
    });
    reset();
    frame();
    fire("pointermove", LEFT + p.g.w / 2, p.g.stripTop + 10);
    fire("pointerdown", LEFT + p.g.w * 0.3, TOP + 20);
    fire("pointermove", LEFT + p.g.w * 0.6, TOP + p.g.h - 20);
    frame();
    fire("pointerup", LEFT + p.g.w * 0.6, TOP + p.g.h - 20);
    frame();
    if (view.t1 - view.t0 < (full.t1 - full.t0) * 0.31 && view.y1 - view.y0 < full.y1 - full.y0) zoomed++;
    for (const shiftKey of [false, true]) {
      fire("pointerdown", 200, 100, { shiftKey: true });
      fire("pointermove", 150, 150, { shiftKey: true });
      fire("pointerup", 150, 150, { shiftKey: true });
      for (const deltaY of [-100, 300]) {
        p.canvas.dispatchEvent(new WheelEvent("wheel", {
          clientX: box.left + 200, clientY: box.top + 100, deltaY, shiftKey, cancelable: true }));
        frame();
      }
    }
    for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "+", "-", "Home", "+", "+"]) {
      p.canvas.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
      frame();
    }
    p.canvas.dispatchEvent(new MouseEvent("dblclick"));
    fire("pointerleave", 0, 0);
    frame();
    if (panels.indexOf(p) > 1) continue;
    // The keyboard goes from mark to mark and back.
    const key = (key) => { p.canvas.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true })); frame(); return tip.hidden ? "" : tip.textContent; };
    const [one, two, three, back] = [key("n"), key("n"), key("n"), key("p")];
    if (marksOf(p).length > 2 && !(one && two && three && back === two)) unread++;
    p.canvas.dispatchEvent(new FocusEvent("blur"));
    // Two fingers that part show less time; one finger moves it.
    const touch = (type, pointerId, x) => { fire(type, x, 100, { pointerId, pointerType: "touch" }); frame(); };
    const wide = view.t1 - view.t0;
    touch("pointerdown", 1, LEFT + 50);
    touch("pointerdown", 2, LEFT + 100);
    touch("pointermove", 2, LEFT + 150);
    touch("pointerup", 2, LEFT + 150);
    touch("pointerup", 1, LEFT + 50);
    const [narrow, from] = [view.t1 - view.t0, view.t0];
    touch("pointerdown", 3, LEFT + 150);
    touch("pointermove", 3, LEFT + 130);
    touch("pointerup", 3, LEFT + 130);
    fire("pointerleave", 0, 0);
    if (Math.abs(narrow / wide - 0.5) < 1e-6 && view.t0 > from && fingers.size === 0) touched++;
    reset();
    frame();
  }
  let astray = 0;
  for (const button of document.querySelectorAll("button[data-t0]")) {
    button.click();
    const { t0, t1 } = button.dataset;
    if (!(view.t0 <= Number(t0) && view.t1 >= Math.min(Number(t1), full.t1))) astray++;
  }
  reset();
  location.hash = `#t=${full.t0 / 2 + full.t1 / 2},${full.t1}`;
  showAddress();
  if (view.t1 - view.t0 > (full.t1 - full.t0) * 0.75) astray++;
  reset();
  const buttons = [...document.querySelectorAll("#legend button")];
  for (let n = 0; n < 2; n++) {
    for (const button of buttons) button.click();
    frame();
  }
  // What is saved: an SVG that can be read, which has the name and the bars of the panel, and a PNG.
  const saved = [];
  URL.createObjectURL = (blob) => { saved.push(blob); return "#"; };
  HTMLAnchorElement.prototype.click = () => {};
  for (const button of [...document.querySelectorAll("button.save")].slice(0, 2)) button.click();
  (async () => {
    const text = panels.length ? await saved[0].text() : "";
    const svg = new DOMParser().parseFromString(text, "image/svg+xml");
    const whole = !svg.querySelector("parsererror") && svg.documentElement.textContent.includes(panels[0]?.trace.name)
      && svg.querySelectorAll("rect").length > 4 && !text.includes(" NaN") && !text.includes("undefined");
    root.dataset.saved = !panels.length || (whole && saved[1]?.type === "image/png" && saved[1].size > 1000) ? 1 : 0;
  })();
  root.dataset.last = frame();
  root.dataset.unread = unread;
  root.dataset.touched = touched;
  root.dataset.hovered = hovered;
  root.dataset.zoomed = zoomed;
  root.dataset.untold = stalls - told;
  root.dataset.astray = astray;
  root.dataset.strayed = strayed;
})();
</script>
"""

# What a page without a picture is. The results are left on the root element.
SURVEY = """
<script>
(() => {
  const root = document.documentElement, of = (selector) => [...document.querySelectorAll(selector)];
  const box = (e) => e.getBoundingClientRect();
  root.dataset.wide = root.scrollWidth - root.clientWidth;
  root.dataset.blank = of("svg, img").filter((e) => box(e).width < 100 || box(e).height < 100).length
    + of("img").filter((e) => !e.complete || e.naturalWidth === 0).length;
  root.dataset.astray = of('a[href^="#"]').filter((a) => !document.getElementById(a.hash.slice(1))).length;
  root.dataset.claims = of("table.claims td:first-child").length;
  // Twice on a heading: the greatest number first, then the least.
  root.dataset.unsorted = of("table.sortable").filter((table) => {
    const column = [...table.tHead.rows[0].cells].findIndex((th, i) =>
      [...table.tBodies[0].rows].every((row) => /^[0-9.]+$/.test(row.cells[i].dataset.sort ?? row.cells[i].textContent)));
    if (column < 0) return false;
    const numbers = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.sort ?? row.cells[column].textContent));
    const button = table.tHead.rows[0].cells[column].querySelector("button");
    button.click();
    const falls = numbers().every((n, i, all) => i === 0 || all[i - 1] >= n);
    button.click();
    return !(falls && numbers().every((n, i, all) => i === 0 || all[i - 1] <= n));
  }).length;
  const words = { "✓ holds": "holds", "◐ in some cells": "part", "✗ does not hold": "fails", "? undecided": "undecided" };
  const verdicts = of("table.claims td:first-child").map((td) => words[td.textContent] === td.className && td.className);
  const count = (name) => verdicts.filter((v) => v === name).length;
  root.dataset.counted = [verdicts.length, ...Object.values(words).map(count)].join("-");
  root.dataset.summary = of("#summary tr:last-child td").slice(1).map((td) => td.textContent).join("-");
})();
</script>
"""


# How a page is printed on A4, whose margins leave 718 px: what of its tables is cut off, and which
# buttons are there that paper cannot press. The legend of a picture is buttons.
PRINTED = """
<script>
(() => {
  for (const sheet of document.styleSheets) {
    const print = [...sheet.cssRules].filter((rule) => rule.media?.mediaText === "print");
    for (const rule of print.flatMap((rule) => [...rule.cssRules])) sheet.insertRule(rule.cssText, sheet.cssRules.length);
  }
  document.querySelectorAll("details").forEach((e) => { e.open = true; });
  const root = document.documentElement, of = (selector) => [...document.querySelectorAll(selector)];
  root.dataset.cut = of("table").filter((table) => table.getBoundingClientRect().right > 718).length;
  root.dataset.pressed = of("button:not(#legend *):not(th *)").filter((e) => e.offsetParent).length;
})();
</script>
"""
PAPER = "--window-size=718,1000"


# How many charts do not read to the keyboard.
CHARTS = """<script>
(() => {
  const read = (chart, key) => {
    chart.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
    return chart.querySelector("output").textContent;
  };
  const mute = [...document.querySelectorAll(".chart")].filter((chart) => {
    const marks = chart.querySelectorAll("g > title").length;
    const [last, first, second] = ["End", "Home", "ArrowRight"].map((key) => read(chart, key));
    const lit = chart.querySelectorAll(".reached").length === 1;
    return marks > 1 ? !(first && last && second && first !== second && lit) : marks === 1 && !first;
  });
  document.documentElement.dataset.mute = mute.length;
})();
</script>
"""


def chromium(page: Path, *more: str) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory() as profile:
        command = ["chromium", *FLAGS, f"--user-data-dir={profile}", "--virtual-time-budget=5000",
                   *more, page.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def with_script(html: str, script: str, *more: str) -> subprocess.CompletedProcess:
    """The page after this script."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "page.html"
        copy.write_text(html.replace("</body>", script + "</body>"), encoding="utf-8")
        return chromium(copy, "--dump-dom", *more)


def left(run: subprocess.CompletedProcess) -> dict[str, str]:
    """What the script left on the root element."""
    return dict(re.findall(r'data-([a-z]+)="([^"]*)"', re.search(r"<html[^>]*>", run.stdout)[0]))


def consoles(*runs: subprocess.CompletedProcess) -> list[str]:
    return ["console: " + line for run in runs for line in run.stderr.splitlines()
            if "CONSOLE" in line]


def check(page: Path) -> list[str]:
    """What is wrong with a page."""
    html = page.read_text(encoding="utf-8")
    wrong = []
    if re.search(r"https?:", html.replace("http://www.w3.org/2000/svg", "")):
        wrong.append("names something on a network")
    if 'class="wide chart"' in html:
        run = with_script(html, CHARTS)
        wrong += consoles(run) + [f"{n} charts do not read to the keyboard"
                                  for n in [left(run).get("mute")] if n != "0"]
    printed = with_script(html, PRINTED, PAPER)
    wrong += consoles(printed)
    for key, trouble in (("cut", "tables are cut off in print"), ("pressed", "buttons in print")):
        if left(printed).get(key) != "0":
            wrong.append(f"{left(printed).get(key)} {trouble}")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    return wrong + (check_picture(page, html, data[1]) if data else check_report(page, html))


def check_report(page: Path, html: str) -> list[str]:
    runs = [with_script(html, SURVEY), with_script(html, SURVEY, NARROW)]
    wrong = consoles(*runs)
    for width, run in zip(("wide", "narrow"), runs):
        root = left(run)
        for key, trouble in (("wide", "px too wide"), ("blank", "empty figures"),
                             ("astray", "links astray"), ("unsorted", "tables unsorted")):
            if root.get(key) != "0":
                wrong.append(f"{width}: {root.get(key)} {trouble}")
        miscounted = root.get("claims") == "0" or root.get("counted") != root.get("summary")
        if 'class="claims"' in html and page.name == "index.html" and miscounted:
            wrong.append(f"{width}: the claims count {root.get('counted')}, the summary "
                         f"{root.get('summary')}")
    links = {link for link in re.findall(r'<a href="([^"#]+)', html)}
    return wrong + [f"{link}: there is no such page" for link in links
                    if not (page.parent / link).is_file()]


def check_picture(page: Path, html: str, data: str) -> list[str]:
    panels = json.loads(data)["panels"]
    segments = sum(len(panel["segments"]["t"]) for panel in panels)
    plain = chromium(page, "--dump-dom")
    exercised = with_script(html, EXERCISE, "--blink-settings=preferredColorScheme=0")
    wrong = consoles(plain, exercised)
    wide = left(with_script(html, SURVEY, NARROW)).get("wide")
    if wide != "0":
        wrong.append(f"narrow: {wide} px too wide")
    root, ready = left(exercised), left(plain)
    expected = {"first": segments, "last": segments,
                "zoomed": sum(bool(p["segments"]["t"]) for p in panels),
                "touched": min(len(panels), 2), "saved": 1}
    if ready.get("ready") != str(segments):
        wrong.append(f"{ready.get('ready')} segments drawn of {segments}")
    for key, value in expected.items():
        if int(root.get(key, -1)) != value:
            wrong.append(f"{key}: {root.get(key)}, not {value}")
    for key, trouble in (("untold", "stalls tell nothing"), ("astray", "buttons show another time"),
                         ("unread", "panels do not read to the keyboard"),
                         ("strayed", "graphs have windows in them")):
        if root.get(key) != "0":
            wrong.append(f"{root.get(key)} {trouble}")
    if segments and int(root.get("hovered", 0)) == 0:
        wrong.append("no segment tells what it is")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--screenshot", type=Path, help="write a picture of the last page")
    args = parser.parse_args()
    failed = False
    for page in args.pages:
        wrong = check(page.resolve())
        failed |= bool(wrong)
        print(f"{page}: {'; '.join(wrong) or 'ok'}")
    if args.screenshot:
        chromium(args.pages[-1].resolve(), f"--screenshot={args.screenshot.resolve()}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
