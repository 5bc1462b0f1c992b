#!/usr/bin/env python3
"""Puts the playground into one HTML file that needs no network.

    page/build.py --wasm FILE.wasm --wasm-bindgen COMMAND --figures FILE.json --out FILE.html

The module is compressed with gzip and written in base64; the page takes it apart again. Fails if
the file has more than 3 MB.
"""

import argparse
import base64
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parent
REPORT = PAGE.parent.parent / "ackclock-report" / "assets"
SCRIPTS = ("engine.js", "state.js", "plot.js", "page.js", "step.js", "controls.js", "explain.js",
           "main.js")
MOST = 3_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--wasm", "--wasm-bindgen", "--figures", "--out"):
        parser.add_argument(name, type=Path, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([args.wasm_bindgen, "--target", "no-modules", "--no-typescript",
                        "--remove-name-section", "--remove-producers-section", "--out-dir", folder,
                        "--out-name", "module", args.wasm], check=True)
        module = (Path(folder) / "module_bg.wasm").read_bytes()
        glue = (Path(folder) / "module.js").read_text()
    compare = {"id": "compare", "paper": "Compare", "title": "Three losses in one window",
               "strategies": ["reno", "newreno", "sack", "newreno+lt"],
               "text": (PAGE / "compare.toml").read_text()}
    figures = [compare, *json.loads(args.figures.read_text())]
    read = lambda path: path.read_text()
    parts = {
        "/*STYLE*/": read(REPORT / "style.css") + read(PAGE / "style.css"),
        "/*FIGURES*/": json.dumps(figures).replace("<", "\\u003c"),
        "/*WORKER*/": (glue + "\n" + read(PAGE / "worker.js")).replace("</script", "<\\/script"),
        "/*SCRIPTS*/": "".join(read(PAGE / name) for name in SCRIPTS),
        "/*WASM*/": base64.b64encode(gzip.compress(module, 9, mtime=0)).decode(),
    }
    html = read(PAGE / "index.html")
    for place, text in parts.items():
        before, _, after = html.partition(place)
        html = before + text + after
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(html)
    size = args.out.stat().st_size
    print(f"{args.out}: {size} bytes, {len(module)} of them the module before it is compressed")
    if size > MOST:
        print(f"{args.out}: more than {MOST} bytes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
