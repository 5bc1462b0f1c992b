#!/usr/bin/env python3
"""Opens a page with images in headless Chromium, served by `ackclock serve` in a network namespace
of its own.

    tests/browser/serve.py [--screenshot FILE.png]

Fails if an image is missing or broken, or if the page writes anything to the console. Needs root
and Debian's `chromium`, `iproute2` and `util-linux`; without root it says that it was skipped. The
namespace is gone with the script.
"""

import argparse
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from smoke import FLAGS

ROOT = Path(__file__).resolve().parent.parent.parent
IMAGES = 60
PAGE = """<!DOCTYPE html>
<html>
<head><meta charset="utf-8"><title>images</title><link rel="icon" href="data:,"></head>
<body style="margin: 8px; font: 16px sans-serif">
<p>%d images over TCP of our own</p>
%s
<script>
addEventListener("load", () => {
  const images = [...document.images], right = (i) => i.complete && i.naturalWidth === Number(i.dataset.is);
  document.documentElement.dataset.right = images.filter(right).length;
});
</script>
</body>
</html>
"""


def png(number: int) -> bytes:
    """A square of noise in one colour, about 90 KB."""
    size, noise = 100 + number, random.Random(number)
    shift = [number * 37 % 128, number * 71 % 128, number * 113 % 128]
    lines = b"".join(
        b"\0" + bytes(noise.randrange(128) + shift[i % 3] for i in range(3 * size))
        for _ in range(size)
    )
    number = lambda n: struct.pack(">I", n)
    chunk = lambda kind, data: number(len(data)) + kind + data + number(zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def site(folder: Path) -> None:
    tags = []
    for i in range(IMAGES):
        (folder / f"image {i}.png").write_bytes(png(i))
        tags.append(f'<img src="image%20{i}.png" data-is="{100 + i}" width="90" height="90">')
    (folder / "index.html").write_text(PAGE % (IMAGES, "\n".join(tags)), encoding="utf-8")


def visit(url: str, *more: str) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory() as profile:
        command = ["chromium", *FLAGS, f"--user-data-dir={profile}", "--timeout=20000", *more, url]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshot", type=Path, help="write a picture of the page")
    parser.add_argument("--ackclock", type=Path, default=ROOT / "target/release/ackclock")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
        print("skipped: needs root and /dev/net/tun", file=sys.stderr)
        return 0
    if not args.inside:
        return subprocess.run(["unshare", "--net", sys.executable, *sys.argv,
                               "--inside"]).returncode
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        site(Path(folder))
        server = subprocess.Popen([args.ackclock, "serve", folder], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        try:
            if not server.stderr.readline().startswith("serving "):
                return 1
            run = visit("http://10.77.0.2/", "--dump-dom")
            if args.screenshot:
                visit("http://10.77.0.2/", f"--screenshot={args.screenshot.resolve()}")
        finally:
            server.send_signal(signal.SIGINT)
            said = server.communicate(timeout=30)[0]
    wrong = ["console: " + line for line in run.stderr.splitlines() if "CONSOLE" in line]
    right = re.search(r'data-right="(\d+)"', run.stdout)
    if not right or int(right[1]) != IMAGES:
        wrong.append(f"{right[1] if right else 'no'} images of {IMAGES}")
    if server.returncode != 0:
        wrong.append(f"the server ended with {server.returncode}")
    print(f"a page with {IMAGES} images: {'; '.join(wrong) or 'ok'}; {said.strip()}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
