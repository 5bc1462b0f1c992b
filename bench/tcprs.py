#!/usr/bin/env python3
"""`ackclock explain` against what others have said of the same captures: bench/tcprs.py ZEEK

ZEEK is a clone of https://github.com/zeek/zeek that has fetched COMMIT. In that commit are captures
of 2010 from a web server, and what TCPRS (Swaro, Ohio University) says of each retransmission:
why it was sent. Prints how often each of its causes meets each kind of ackclock's, and each
retransmission of which they do not say the same."""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

COMMIT = "0d81bfc1579b26022fca51cdcb6f2f14ed9a711f"
TRACES, BASELINES = "testing/btest/Traces/tcp/", "testing/btest/Baseline/tcpanalyzer."
LOG = "/tcpretransmissions.log"
# Codes of RETRANSMISSION_TYPE_CODE there. "recovery" is what follows a first retransmission.
CAUSES = {1: "timeout", 14: "timeout", 15: "timeout", 5: "recovery"} | dict.fromkeys(
    [2, 3, 4, 9, 10, 11, 12, 13, 16], "fast")
SAME = {("timeout", "timeout"), ("timeout", "backed_off_timeout"), ("recovery", "recovery"),
        ("recovery", "slow_start"), ("fast", "fast_retransmit")}


def git(clone, *words):
    return subprocess.run(["git", "-C", clone, *words], capture_output=True, check=True).stdout


def theirs(log):
    """Causes by time and sequence number."""
    rows = [line.split("\t") for line in log.splitlines() if not line.startswith("#")]
    return {(round(float(r[0]), 5), int(r[7])): CAUSES.get(int(r[12]), "unknown") for r in rows}


def ours(ackclock, capture):
    """Kinds by time and sequence number, and the frame of each."""
    command = [ackclock, "explain", capture, "--format", "json", "--top", "0"]
    said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    all_of = [r for c in said["connections"] for r in c["retransmission_list"]]
    return {(round(r["t"], 5), r["seq"]): (r["kind"], r["frame"]) for r in all_of}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zeek", help="clone that has fetched " + COMMIT)
    parser.add_argument("--ackclock", default=os.environ.get("ACKCLOCK", "target/release/ackclock"))
    args = parser.parse_args()
    files = git(args.zeek, "ls-tree", "-r", "--name-only", COMMIT).decode().splitlines()
    meets, captures = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as directory:
        capture = pathlib.Path(directory, "capture")
        for path in files:
            name = path.removeprefix(TRACES).removesuffix(".trace").replace("/", ".")
            log = BASELINES + name + LOG
            if not path.startswith(TRACES) or log not in files:
                continue
            captures += 1
            capture.write_bytes(git(args.zeek, "show", f"{COMMIT}:{path}"))
            said = theirs(git(args.zeek, "show", f"{COMMIT}:{log}").decode())
            found = ours(args.ackclock, capture)
            for key in sorted(said.keys() | found.keys()):
                kind, frame = found.get(key, ("not found", "-"))
                both = said.get(key, "not found"), kind
                meets[both] += 1
                if both not in SAME and both[0] not in ("unknown", "not found"):
                    print(f"{name} frame {frame} at {key[0]}: {both[0]}, here {kind}")
    print(f"\n{captures} captures\n\n{'TCPRS':<12} {'ackclock':<20} retransmissions")
    for (cause, kind), count in meets.most_common():
        print(f"{cause:<12} {kind:<20} {count:>15}")
    same = sum(count for both, count in meets.items() if both in SAME)
    known = sum(n for (cause, _), n in meets.items() if cause not in ("unknown", "not found"))
    print(f"\nthe same: {same} of {known}")


if __name__ == "__main__":
    sys.exit(main())
