#!/usr/bin/env python3
"""`ackclock explain`, tcptrace and tshark on the same captures, by turns: packets per CPU second
and peak memory.

Exit status: 0, or 2 if a program is missing or fails. A slow machine is no failure.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
# Name, connections, packets, bytes kept of each packet, and seconds over which the connections
# begin. The headers have up to 78 bytes.
WORKLOADS = (
    ("headers", 100, 2_000_000, 78, 0),
    ("full-size packets", 100, 700_000, 65_535, 0),
    ("many connections", 200_000, 10_000_000, 78, 200),
    ("many at a time", 200_000, 10_000_000, 78, 0),
)
# The same downloads as both ends see them, by a simulated run: 100 connections of 3000 segments,
# of which one in 200 or a little more is lost.
PLACES = ("sender", "receiver")
DOWNLOADS = """
duration = "300s"
[tcp]
mss = 1448
handshake = true
timestamps = true
[[link]]
from = "sender"
to = "router"
delay = "5ms"
rate = "1gbit"
loss = [{ bernoulli = { p = "0.5%" } }]
[[link]]
from = "router"
to = "receiver"
delay = "20ms"
rate = "1gbit"
[[flow]]
from = "sender"
to = "receiver"
strategy = "linux"
source = { segments = 3000 }
count = 100
"""
# tshark is measured on fewer packets, and the packets per second compared.
FOR_TSHARK = 200_000
AIM_TCPTRACE, AIM_TSHARK, AIM_MEMORY = 2, 50, 1e9


class BenchError(Exception):
    """A program failed."""


def measure(arguments, out=subprocess.DEVNULL):
    """Runs a program; returns its CPU seconds, user and system, and its peak memory in bytes."""
    process = subprocess.Popen([str(a) for a in arguments], stdin=subprocess.DEVNULL, stdout=out,
                               stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode != 0:
        raise BenchError(f"exit status {process.returncode}: "
                         f"{' '.join(map(str, arguments))}\n{errors.decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def generate(generator, path, connections, packets, kept, seconds):
    """Writes a capture; returns how many packets it has."""
    with open(path, "wb") as out:
        measure([generator, connections, packets, kept, seconds], out)
    return count(path)


def downloads(command, path, place, kept):
    """Writes a capture of DOWNLOADS at one end; returns how many packets it has."""
    scenario, whole = path.with_suffix(".toml"), path.with_suffix(".whole.pcap")
    scenario.write_text(DOWNLOADS)
    output([command, "run", scenario, "--pcap", whole, "--pcap-at", place])
    output(["editcap", "-s", kept, whole, path])
    for done in (scenario, whole):
        done.unlink()
    return count(path)


def count(path):
    """Packets in a pcap file."""
    found = re.search(r"Number of packets:\s*(\d+)$", output(["capinfos", "-M", "-c", path]),
                      re.MULTILINE)
    return int(found[1])


def output(arguments):
    """What a program prints."""
    done = subprocess.run([str(a) for a in arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"exit status {done.returncode}: "
                         f"{' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def programs(command):
    """The command lines that are compared, by name."""
    return {
        "ackclock": lambda path: [command, "explain", "--format", "json", path],
        "tcptrace": lambda path: ["tcptrace", "-l", "-n", path],
        "tshark": lambda path: ["tshark", "-n", "-r", path, "-Y", "tcp.analysis.retransmission"],
    }


def paired(ours, theirs, rounds):
    """Runs two command lines by turns: medians of their seconds and of the ratio, and their peak
    memory."""
    runs = [(measure(ours), measure(theirs)) for _ in range(rounds)]
    seconds = [statistics.median(run[side][0] for run in runs) for side in (0, 1)]
    memory = [max(run[side][1] for run in runs) for side in (0, 1)]
    return seconds, memory, statistics.median(b / a for (a, _), (b, _) in runs)


def verdict(reached):
    """In a word."""
    return "reached" if reached else "missed"


def compare(command, generator, rounds, folder):
    """The table."""
    lines = programs(command)
    print(f"{'capture':<17}  {'packets':>10}  {'MB':>5}  {'against':<8}  "
          f"{'packets per CPU s':>21}  {'MB per CPU s':>12}  {'memory':>15}  {'ratio':>6}  aim")
    print(f"{'':<17}  {'':>10}  {'':>5}  {'':<8}  {'theirs':>10} {'ackclock':>10}  {'theirs':>6} "
          f"{'ours':>5}  {'theirs':>7} {'ours':>7}")
    for name, connections, packets, kept, begin in WORKLOADS:
        for other, scale, aim in (("tcptrace", packets, AIM_TCPTRACE),
                                  ("tshark", FOR_TSHARK, AIM_TSHARK)):
            if other == "tshark" and name != "headers":
                continue
            path = folder / "capture.pcap"
            found = generate(generator, path, connections, scale, kept, begin)
            row(name, path, found, lines, other, aim, rounds, connections >= 200_000)
    for place in PLACES:
        path = folder / "capture.pcap"
        found = downloads(command, path, place, 96)
        row(f"at the {place}", path, found, lines, "tcptrace", AIM_TCPTRACE, rounds, False)


def row(name, path, found, lines, other, aim, rounds, many):
    """A line of the table; removes the capture."""
    size = path.stat().st_size
    seconds, memory, ratio = paired(lines["ackclock"](path), lines[other](path), rounds)
    reached = verdict(ratio >= aim)
    if many:
        reached += f"; memory below 1 GB: {verdict(memory[0] < AIM_MEMORY)}"
    print(f"{name:<17}  {found:>10,}  {size / 1e6:>5,.0f}  {other:<8}  "
          f"{found / seconds[1]:>10,.0f} {found / seconds[0]:>10,.0f}  "
          f"{size / seconds[1] / 1e6:>6,.0f} {size / seconds[0] / 1e6:>5,.0f}  "
          f"{memory[1] / 1e6:>4,.0f} MB {memory[0] / 1e6:>4,.0f} MB  "
          f"{ratio:>6.1f}  {aim}: {reached}", flush=True)
    path.unlink()


def agreement(command, generator, folder):
    """Whether both count the same retransmissions."""
    path = folder / "capture.pcap"
    packets = generate(generator, path, 100, FOR_TSHARK, 78, 0)
    ours = json.loads(output([command, "explain", "--format", "json", path]))
    theirs = re.findall(r"rexmt data pkts:\s+(\d+)\s+rexmt data pkts:\s+(\d+)",
                        output(["tcptrace", "-l", "-n", path]))
    seen = ours["captures"][0]["packets"]
    if seen != packets:
        raise BenchError(f"ackclock reads {seen} of {packets} packets")
    counts = [sum(c["retransmissions"] for c in ours["connections"]),
              sum(int(n) for pair in theirs for n in pair)]
    print(f"\nRetransmissions in {packets:,} packets: {counts[0]:,} by ackclock, {counts[1]:,} by "
          "tcptrace")
    path.unlink()


def main():
    """Parses arguments and runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ackclock", default="target/release/ackclock",
                        help="the command (default: %(default)s)")
    parser.add_argument("--generator", default="target/release/examples/generate",
                        help="the generator of captures (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3,
                        help="paired rounds (default: %(default)s)")
    options = parser.parse_args()
    for program in ("tcptrace", "tshark", "capinfos", "editcap", options.ackclock,
                    options.generator):
        if shutil.which(program) is None:
            print(f"bench: {program} not found", file=sys.stderr)
            return 2
    print(f"load average before: {os.getloadavg()[0]:.2f}; medians of {options.rounds} rounds by "
          "turns\n")
    with tempfile.TemporaryDirectory(dir=pathlib.Path(options.generator).parent) as folder:
        compare(options.ackclock, options.generator, options.rounds, pathlib.Path(folder))
        agreement(options.ackclock, options.generator, pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)
