#!/usr/bin/env python3
"""What several queues cost: CPU seconds of `ackclock serve` and `proxy` a GB, with one queue and
with two, by turns.

    bench/queues.py [--ackclock FILE] [--rounds N] [--clients N] [--mb N] [--small N]

In a network namespace, many clients at once fetch a file of --mb MB each, and then --small files of
10 kB over connections of their own. The aims: both queues carry connections, and a byte of a large
file costs at most 1.1 times what it costs with one queue. Exits with 1 where that is missed. Needs
root.
"""

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")
METRICS, AIM = "127.0.0.1:9100", 1.1


def cpu(process: subprocess.Popen) -> float:
    """Seconds, user and system (proc(5))."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def queues() -> list[int]:
    """Connections that each queue has taken."""
    text = urllib.request.urlopen(f"http://{METRICS}/metrics").read().decode()
    return [int(n) for n in re.findall(r'^ackclock_queue_connections_total\{.*queue="\d+"\} (\d+)',
                                       text, re.M)]


def measure(command: list, fetch: list[list[str]], unit: float) -> tuple[float, float, list[int]]:
    """CPU seconds a unit, units a second, and connections by queue."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               text=True)
    assert process.stderr.readline().startswith(("serving ", "forwarding "))
    before, begin = cpu(process), time.monotonic()
    clients = [subprocess.Popen(["curl", "-sSf", *args]) for args in fetch]
    assert all(client.wait() == 0 for client in clients)
    took, used, spread = time.monotonic() - begin, cpu(process) - before, queues()
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    return used / unit, unit / took, spread


def main(args: argparse.Namespace) -> int:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "big").write_bytes(os.urandom(1 << 20) * args.mb)
        (Path(folder) / "small").write_bytes(os.urandom(10_000))
        web = subprocess.Popen([args.ackclock, "serve", folder, "--tun", "backend", "--addr",
                                "10.78.0.2/24"], stderr=subprocess.PIPE)
        assert web.stderr.readline().startswith(b"serving ")
        url = "http://10.77.0.2"
        big = [["-o", "/dev/null", f"{url}/big"]] * args.clients
        each = args.small // args.clients
        small = [["-o", "/dev/null", "-H", "Connection: close",
                  f"{url}/small?[1-{each}]"]] * args.clients
        serve, proxy = ["serve", folder], ["proxy", "--listen", "10.77.0.2:80", "--to",
                                           "10.78.0.2:80"]
        gigabytes = args.clients * args.mb * (1 << 20) / 1e9
        for name, command, fetch, unit, aim in (
            ("serve, a GB", serve, big, gigabytes, AIM),
            ("proxy, a GB", proxy, big, gigabytes, AIM),
            ("serve, 1000 small files", serve, small, each * args.clients / 1e3, None),
        ):
            found: dict[int, list] = {1: [], 2: []}
            for turn in range(args.rounds):
                for n in (1, 2) if turn % 2 == 0 else (2, 1):
                    more = ["--queues", str(n), "--metrics", METRICS, "--drain", "1s"]
                    found[n].append(measure([args.ackclock, *command, *more], fetch, unit))
            costs = {n: statistics.median(cost for cost, _, _ in found[n]) for n in found}
            rates = {n: statistics.median(rate for _, rate, _ in found[n]) for n in found}
            ratio, both = costs[2] / costs[1], all(min(spread) > 0 for _, _, spread in found[2])
            reached = both and (aim is None or ratio <= aim)
            missed += not reached
            print(
                f"{name}: {costs[1]:.3f} s of CPU with one queue, {costs[2]:.3f} s with two: ratio "
                f"{ratio:.2f} "
                f"({'no aim' if aim is None and both else 'reached' if reached else 'missed'}); "
                f"{rates[1]:.2f} and {rates[2]:.2f} a second; connections by queue "
                f"{' '.join('+'.join(map(str, spread)) for _, _, spread in found[2])}", flush=True,
            )
        web.kill()
    return min(missed, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ackclock", type=Path, default=ROOT / "target/release/ackclock")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--mb", type=int, default=128)
    parser.add_argument("--small", type=int, default=8000)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    if not parsed.inside:
        sys.exit(subprocess.run(["unshare", "--net", sys.executable, *sys.argv,
                                 "--inside"]).returncode)
    sys.exit(main(parsed))
