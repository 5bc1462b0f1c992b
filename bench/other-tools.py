#!/usr/bin/env python3
"""What tcptrace and tshark find in captures of the kernel with known truth: bench/other-tools.py
DIRECTORY

DIRECTORY is what `ackclock-score take` has written. Only what the sender of the data
retransmitted counts, in frames (a super-segment is one)."""

import json
import pathlib
import subprocess
import sys

KINDS = ["fast_retransmit", "recovery", "slow_start", "timeout", "backed_off_timeout",
         "tail_loss_probe"]


def tcptrace(capture, sender):
    """Packets that the sender retransmitted, on all connections. It reads no IPv6 without a link
    layer."""
    text = subprocess.run(["tcptrace", "-l", "-n", capture], capture_output=True, text=True,
                          check=True).stdout
    total, way = 0, 0
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["host", "a:"] or words[1:2] == ["a:"]:
            way = 0 if words[-1].rsplit(":", 1)[0] == sender else 1
        if line.strip().startswith("rexmt data pkts:"):
            total += [int(word) for word in words if word.isdigit()][way]
    return total


def tshark(capture, sender):
    """Frames of the sender by what tshark says of them."""
    ip = "ipv6.src" if ":" in sender else "ip.src"
    names = ["retransmission", "fast_retransmission", "spurious_retransmission"]
    fields = ["frame.number"] + [f"tcp.analysis.{name}" for name in names]
    command = ["tshark", "-r", capture, "-Y", f"tcp.analysis.retransmission && {ip} == {sender}",
               "-T", "fields"]
    command += [word for field in fields for word in ("-e", field)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in text.splitlines()]
    return {int(row[0]): {name for name, said in zip(names, row[1:]) if said} for row in rows}


def main():
    directory = pathlib.Path(sys.argv[1])
    names = ["captures", "of IPv4", "tcptrace exact", "frames", "found", "also found"]
    sums = dict.fromkeys(names + ["spurious", "spurious found", "spurious wrong"], 0)
    kinds = {kind: [0, 0] for kind in KINDS}
    for truth_file in sorted(directory.glob("*.json")):
        truth = json.loads(truth_file.read_text())
        capture = str(truth_file.with_suffix(".sender.pcap"))
        connections = truth["connections"]
        again = [r for c in connections for r in c["retransmissions"]]
        sender = connections[0]["sender"].rsplit(":", 1)[0].strip("[]")
        frames = {}
        for r in again:
            frames.setdefault(r["frame"], r)
        said = tshark(capture, sender)
        sums["captures"] += 1
        if ":" not in sender:
            sums["of IPv4"] += 1
            sums["tcptrace exact"] += tcptrace(capture, sender) == len(frames)
        sums["frames"] += len(frames)
        sums["found"] += sum(1 for frame in frames if frame in said)
        sums["also found"] += sum(1 for frame in said if frame not in frames)
        for frame, r in frames.items():
            fast = "fast_retransmission" in said.get(frame, ())
            claimed = "spurious_retransmission" in said.get(frame, ())
            if r["kind"] in kinds:
                kinds[r["kind"]][0] += 1
                kinds[r["kind"]][1] += fast
            sums["spurious"] += r["spurious"]
            sums["spurious found"] += r["spurious"] and claimed
            sums["spurious wrong"] += claimed and not r["spurious"]
    for name, number in sums.items():
        print(f"{name:16} {number}")
    print("kind                 frames  'fast' for tshark")
    for kind, (frames, fast) in kinds.items():
        print(f"{kind:20} {frames:6}  {fast:6}")


main()
