#!/usr/bin/env python3
"""Opens pictures in headless Chromium and checks that they draw and work.

    tests/browser/smoke.py FILE.html [--screenshot FILE.png] ...

Fails if the page writes anything to the console, does not draw every segment of its data, or does not come back to its
first view after zooming, panning, hovering and switching every layer off and on, on a dark ground. Needs Debian's
`chromium`.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --enable-logging=stderr "
    "--window-size=1280,1000"
).split()

# What a user does, on every panel. The results are left on the root element, which the dumped page shows.
EXERCISE = """
<script>
(() => {
  const root = document.documentElement;
  root.dataset.first = root.dataset.ready;
  const frame = () => { drawNow(); return Number(root.dataset.ready); };
  let hovered = 0, zoomed = 0;
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
  }
  const buttons = [...document.querySelectorAll("#legend button")];
  for (let n = 0; n < 2; n++) {
    for (const button of buttons) button.click();
    frame();
  }
  root.dataset.last = frame();
  root.dataset.hovered = hovered;
  root.dataset.zoomed = zoomed;
})();
</script>
"""


def chromium(page: Path, *more: str) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory() as profile:
        command = ["chromium", *FLAGS, f"--user-data-dir={profile}", "--virtual-time-budget=5000", *more, page.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def check(page: Path) -> list[str]:
    """What is wrong with a page."""
    html = page.read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    if not data:
        return ["no data element"]
    panels = json.loads(data[1])["panels"]
    segments = sum(len(panel["segments"]["t"]) for panel in panels)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "page.html"
        copy.write_text(html.replace("</body>", EXERCISE + "</body>"), encoding="utf-8")
        plain = chromium(page, "--dump-dom")
        exercised = chromium(copy, "--dump-dom", "--blink-settings=preferredColorScheme=0")
    wrong = []
    for run in (plain, exercised):
        wrong += ["console: " + line for line in run.stderr.splitlines() if "CONSOLE" in line]
    root = dict(re.findall(r'data-([a-z]+)="(\d+)"', re.search(r"<html[^>]*>", exercised.stdout)[0]))
    ready = dict(re.findall(r'data-([a-z]+)="(\d+)"', re.search(r"<html[^>]*>", plain.stdout)[0]))
    expected = {"first": segments, "last": segments, "zoomed": sum(bool(p["segments"]["t"]) for p in panels)}
    if ready.get("ready") != str(segments):
        wrong.append(f"{ready.get('ready')} segments drawn of {segments}")
    for key, value in expected.items():
        if int(root.get(key, -1)) != value:
            wrong.append(f"{key}: {root.get(key)}, not {value}")
    if segments and int(root.get("hovered", 0)) == 0:
        wrong.append("no segment tells what it is")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
