#!/usr/bin/env python3
"""Instructions and modelled cache misses a packet, under valgrind, beside those kept in the tree.

Exit status: 0, 1 if a count of instructions rose by more than 1 %, or 2 if a program is missing or
fails.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
KEPT = HERE / "instructions.json"
STRATEGIES = ("newreno", "sack", "rack-tlp", "linux")
SIZES = (10, 1000)
# Simulated seconds. What the longer run has more is packets alone: start-up and results cancel.
DURATIONS = (2, 8)
MAY_RISE = 0.01
# What is counted, and the digits after the point that are the same in every run.
COUNTS = {"instructions": None, "l1_misses": 1, "ll_misses": 1}
# The caches modelled are fixed, since those of the machine would make the misses its own. The last
# level is small, as a second level is: all that is touched at 1,000 flows fits into a large one.
VALGRIND = (
    "valgrind",
    "--tool=cachegrind",
    "--cache-sim=yes",
    "--branch-sim=no",
    "--I1=32768,8,64",
    "--D1=32768,8,64",
    "--LL=1048576,16,64",
    "--cachegrind-out-file=/dev/null",
)
# Hash maps draw their keys and progress bars the time from here. Otherwise chance and the machine's
# speed would change how many instructions they take.
PRELOAD = """
#include <string.h>
#include <sys/types.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){ 1, 0 };
    return 0;
}
ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
    (void)flags;
    memset(buffer, 1, length);
    return length;
}
"""


class BenchError(Exception):
    """A program failed."""


def call(arguments, **options):
    """Runs a program; returns what it wrote to standard output and standard error."""
    process = subprocess.run(arguments, capture_output=True, text=True, **options)
    if process.returncode != 0:
        raise BenchError(
            f"exit status {process.returncode}: {' '.join(map(str, arguments))}\n{process.stderr}"
        )
    return process.stdout, process.stderr


def count(command, folder, flows, strategy, seconds):
    """One run under valgrind: packets offered to the bottleneck, instructions, misses."""
    text = (HERE.parent / "scenarios" / f"bench-{flows}.toml").read_text()
    text, replaced = re.subn(r'(?m)^duration = ".*"$', f'duration = "{seconds}s"', text)
    if replaced != 1:
        raise BenchError(f"scenarios/bench-{flows}.toml: no duration")
    (folder / f"{flows}-{seconds}.toml").write_text(text)
    # With one allocation arena and one layout of addresses, what is left to chance is some hundred
    # instructions in which threads wait.
    output, log = call(
        [
            "setarch",
            "-R",
            *VALGRIND,
            command,
            "run",
            f"{flows}-{seconds}.toml",
            "--strategy",
            strategy,
            "--stats",
            "--jobs",
            "1",
            "--format",
            "json",
        ],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        env={
            "PATH": os.environ["PATH"],
            "MALLOC_ARENA_MAX": "1",
            "LD_PRELOAD": str(folder / "preload.so"),
        },
    )
    counts = {
        name: int(number.replace(",", ""))
        for name, number in re.findall(r"== (\w+ +\w+): +([\d,]+)", log)
    }
    links = json.loads(output)["strategies"][0]["links"]
    return {
        "packets": next(
            link["packets"] for link in links if link["from"] == "left" and link["to"] == "right"
        ),
        "instructions": counts["I   refs"],
        "l1_misses": counts["I1  misses"] + counts["D1  misses"],
        "ll_misses": counts["LL misses"],
    }


def a_packet(few, many):
    """What each further packet takes, rounded."""
    packets = many["packets"] - few["packets"]
    return {key: round((many[key] - few[key]) / packets, digits) for key, digits in COUNTS.items()}


def measure(command, rows):
    """The strategies and numbers of flows whose row has this in its name."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        call(
            ["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-o", folder / "preload.so", "-"],
            input=PRELOAD,
        )
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            cells = {
                (flows, strategy): [
                    pool.submit(count, command, folder, flows, strategy, seconds)
                    for seconds in reversed(DURATIONS)
                ]
                for flows in SIZES
                for strategy in STRATEGIES
                if re.search(rows, f"{flows} flows, {strategy}")
            }
            for (flows, strategy), (many, few) in cells.items():
                results[f"{flows} flows, {strategy}"] = a_packet(few.result(), many.result())
    return results


def show(kept, measured):
    """A table; returns the rows in which the instructions rose too much."""
    print("Instructions and modelled misses a packet: kept, measured, ratio\n")
    print(f"{'workload':<21}  {'instructions':>22}  {'L1 misses':>20}  {'LL misses':>20}")
    worse = []
    for name, now in measured.items():
        before = kept.get(name)
        columns = []
        for key, digits in COUNTS.items():
            digits = digits or 0
            then = "-" if before is None else f"{before[key]:,.{digits}f}"
            ratio = f"{now[key] / before[key]:.3f}" if before is not None and before[key] else "-"
            columns.append(f"{then:>6} {now[key]:>6,.{digits}f} {ratio:>6}")
        print(f"{name:<21}  {columns[0]:>22}  {columns[1]:>20}  {columns[2]:>20}")
        if before is not None and now["instructions"] > before["instructions"] * (1 + MAY_RISE):
            worse.append(name)
    return worse


def main():
    """Parses arguments and runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--ackclock", default="target/release/ackclock", help="the command (default: %(default)s)"
    )
    parser.add_argument(
        "--keep", action="store_true", help=f"write what is measured to {KEPT.name}"
    )
    parser.add_argument(
        "--rows", default="", metavar="REGEX", help="only rows that have this, such as '^10 flows'"
    )
    options = parser.parse_args()
    for program in ("valgrind", "cc", "setarch", options.ackclock):
        if shutil.which(program) is None:
            print(f"bench: {program} not found", file=sys.stderr)
            return 2
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    measured = measure(pathlib.Path(shutil.which(options.ackclock)).resolve(), options.rows)
    worse = show(kept, measured)
    if options.keep:
        KEPT.write_text(json.dumps({**kept, **measured}, indent=2) + "\n")
        return 0
    for name in worse:
        print(
            f"bench: {name}: more than {MAY_RISE:.0%} more instructions than kept", file=sys.stderr
        )
    return 1 if worse else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)
