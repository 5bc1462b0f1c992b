#!/usr/bin/env python3
"""Writes out/index.html: what `make demo` has made, shown and not only listed.

    docs/demo.py ACKCLOCK CAPTURE OUT

OUT has `demo.html`, `explain/` and `papers/`, and `playground.html` if that was built. The worst
stall of the capture becomes a figure.
"""
import base64
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STYLE = ROOT / "crates/ackclock-report/assets/style.css"


def tile(link, title, body):
    return f'<div class="tile"><h3><a href="{link}">{title}</a></h3>\n{body}</div>\n'


def image(svg, alt):
    """A drawing, inside of the page."""
    data = base64.b64encode(svg.read_bytes()).decode()
    return f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}">'


def stall(ackclock, capture, out):
    """The worst stall with its sentence, and the graph of its connection."""
    page = (out / "explain/index.html").read_text()
    rows = page.partition("Where most time was lost")[2].partition("<tbody>")[2]
    row = re.search(r"<tr>(.*?)</tr>", rows, re.S)
    if row is None:
        return "<p>No stall.</p>"
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row[1], re.S)
    number = re.search(r"#(\d+)", cells[0])[1]
    link = re.search(r'href="([^"]*)"', cells[0])[1]
    figure = out / "explain/worst.svg"
    subprocess.run([ackclock, "explain", capture, "--connection", number, "--width", "140mm",
                    "--figure", figure], check=True, stdout=subprocess.DEVNULL)
    return (f'<p class="verdict">{cells[3]}</p>\n<a href="explain/{link}">'
            f'{image(figure, f"Time-sequence graph of connection {number}")}</a>')


def picture(out):
    """What the picture of `compare` begins with, and a part of it."""
    page = (out / "demo.html").read_text()
    return ("".join(re.findall(r'<p class="verdict">.*?</p>', page)[:1])
            + '\n<a href="demo.html">'
            + image(ROOT / "docs/src/first.svg", "Reno waits for a timeout where SACK recovers")
            + "</a>")


def papers(out):
    """A tile for each paper: what came out in a sentence, and its first figure."""
    page = (out / "papers/index.html").read_text()
    outcomes = re.findall(r"<li><b>(.*?)</b>: (.*?)</li>",
                          page.partition('id="outcomes"')[2].partition("</ul>")[0])
    tiles = []
    for section in re.findall(r'<section class="paper" id="(.*?)">\s*<h2>(.*?)</h2>(.*?)</section>',
                              page, re.S):
        anchor, title, body = section
        sentence = dict(outcomes).get(title)
        figure = re.search(r'<div class="figures">\s*<a href="([^"]*)">(.*?)</a>', body, re.S)
        if sentence is None or figure is None:
            continue
        drawn = f'<a href="papers/{figure[1]}">{figure[2]}</a>'
        tiles.append(tile(f"papers/index.html#{anchor}", title, f"<p>{sentence}</p>\n{drawn}"))
    return tiles


def main():
    ackclock, capture, out = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    first = []
    if (out / "playground.html").exists():
        first.append(tile("playground.html", "The playground",
                          "<p>Lose a packet and watch what each strategy does.</p>\n"))
    first.append(tile("explain/index.html", "A capture explained",
                      "<p>What the Linux kernel sent over a lossy path, as tcpdump saw it: why "
                      "each connection stalled, and what would have avoided it. The worst "
                      "stall:</p>\n"
                      + stall(ackclock, capture, out)))
    first.append(tile("demo.html", "Four cases of loss, eight strategies",
                      "<p>One to four losses in one window, repaired by tahoe, reno, newreno and "
                      "sack, without limited transmit and with it.</p>\n" + picture(out)))
    shown = papers(out)
    body = ('<div class="report">\n<h1>What <code>make demo</code> has made</h1>\n'
            '<div class="tiles">\n' + "".join(first)
            + '</div>\n<h2><a href="papers/index.html">Papers run again</a></h2>\n'
            + '<p>Each claim with what was measured.</p>\n'
            f'<div class="tiles">\n{"".join(shown)}</div>\n</div>\n')
    (out / "index.html").write_text(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" '
        'content="width=device-width, initial-scale=1">\n<title>ackclock: what make demo has '
        'made</title>\n'
        f"<style>\n{STYLE.read_text()}</style>\n</head>\n<body>\n{body}</body>\n</html>\n")


main()
