#!/usr/bin/env python3
"""The same dumbbell in ns-2 and in ackclock, by turns: packets and connections per CPU second,
memory, and whether both simulate the same.

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
import time

HERE = pathlib.Path(__file__).parent
SIZES = (10, 100, 1000)
AGENTS = {
    "newreno": ("Agent/TCP/Newreno", "Agent/TCPSink"),
    "sack": ("Agent/TCP/Sack1", "Agent/TCPSink/Sack1"),
}
# What ns-2 has not got is measured against its Sack1, which does the least that they do.
COUNTERPARTS = {"newreno": "newreno", "sack": "sack", "prr": "sack", "rack-tlp": "sack",
                "linux": "sack"}
# As scenarios/bench-transfers.toml has them.
TRANSFERS = 4000
TRANSFER_OPTIONS = {"hosts": 1, "access_min": 10, "segments": 30, "stagger": 9.2, "duration": 30}
WEB_CONNECTIONS = 100_000
# As in crosscheck/README.md.
NS2 = {"syn_": 0, "delay_growth_": 0, "useHeaders_": 0, "overhead_": 0, "singledup_": 0,
       "windowInit_": 1, "window_": 1000, "minrto_": 1, "rtxcur_init_": 1, "tcpTick_": 0.001,
       "bugFix_": 1, "maxburst_": 0}


class BenchError(Exception):
    """A program failed."""


def measure(arguments):
    """Runs a program; returns what it printed and the seconds it took."""
    begin = time.monotonic()
    process = subprocess.run(arguments, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    if process.returncode != 0:
        raise BenchError(f"exit status {process.returncode}: {' '.join(map(str, arguments))}")
    return process.stdout, time.monotonic() - begin


def ns2(flows, strategy, seed=1, **options):
    """One run in ns-2: packets offered to the bottleneck, drops, timeouts, goodput, CPU seconds of
    the run loop, and the peak memory of the process in bytes.
    """
    agent, sink = AGENTS[strategy]
    settings = dict(NS2, exit_recovery_fix_=1) if strategy == "newreno" else NS2
    arguments = [f"{key}={value}" for key, value in {**settings, **options}.items()]
    text, _ = measure(["ns", HERE / "dumbbell.tcl", f"flows={flows}", f"seed={seed}",
                       f"agent={agent}", f"sink={sink}", *arguments])
    return {key: float(value) for key, value in (line.split() for line in text.splitlines())}


def ours(command, scenario, strategy, seed=1):
    """The same in ackclock, with scenarios/bench-SCENARIO.toml, or with a file."""
    if not isinstance(scenario, pathlib.Path):
        scenario = HERE.parent / "scenarios" / f"bench-{scenario}.toml"
    text, _ = measure([command, "run", scenario, "--strategy", strategy, "--seed", str(seed),
                       "--stats", "--format", "json"])
    result = json.loads(text)
    cost = result["strategies"][0]
    link = next(link for link in cost["links"] if link["from"] == "left" and link["to"] == "right")
    return {
        "cpu": cost["cpu_s"],
        "packets": link["packets"],
        "drops": link["dropped_early"] + link["dropped_queue"],
        "timeouts": sum(flow["timeouts"] for flow in result["flows"]),
        "goodput_bps": sum(flow["goodput_bps"] for flow in result["flows"]),
        "memory": result["peak_memory_bytes"],
    }


def workloads():
    """The workloads that ns-2 has too: name, our scenario, flows, and options of dumbbell.tcl."""
    for flows in SIZES:
        yield f"{flows} flows", flows, flows, {}
    yield f"{TRANSFERS} transfers", "transfers", TRANSFERS, TRANSFER_OPTIONS


def paired(command, rounds, strategies, scenario, flows, options):
    """Each strategy's runs, as pairs of ns-2 and ackclock; those with one counterpart share its
    runs."""
    pairs = {strategy: [] for strategy in strategies}
    for _ in range(rounds):
        theirs = {}
        for strategy in strategies:
            counterpart = COUNTERPARTS[strategy]
            if counterpart not in theirs:
                theirs[counterpart] = ns2(flows, counterpart, **options)
            pairs[strategy].append((theirs[counterpart], ours(command, scenario, strategy)))
    return pairs


def speed(command, options):
    """Paired rounds, medians."""
    rounds = options.rounds
    print("Packets through the bottleneck per CPU second of the run loop, and peak memory of the "
          "process")
    print(f"(medians of {rounds} rounds, ns-2 and ackclock by turns, and the least and the largest "
          "ratio;")
    print("prr, rack-tlp and linux against ns-2's Sack1)\n")
    print(f"{'workload':<14}  {'strategy':<8}  {'ns-2':>9}  {'ackclock':>9}  {'ratio':>5}  "
          f"{'from':>5}  {'to':>5}  {'ns-2':>7}  {'ackclock':>8}")
    for name, scenario, flows, settings in workloads():
        strategies = options.chosen(name, COUNTERPARTS)
        for strategy, pairs in paired(command, rounds, strategies, scenario, flows,
                                      settings).items():
            rates = [statistics.median(run["packets"] / run["cpu"] for run in runs)
                     for runs in zip(*pairs)]
            ratios = [b["packets"] / b["cpu"] * a["cpu"] / a["packets"] for a, b in pairs]
            memory = [max(run["memory"] for run in runs) / 1e6 for runs in zip(*pairs)]
            print(f"{name:<14}  {strategy:<8}  {rates[0]:>9,.0f}  {rates[1]:>9,.0f}  "
                  f"{statistics.median(ratios):>5.1f}  {min(ratios):>5.1f}  {max(ratios):>5.1f}  "
                  f"{memory[0]:>4.0f} MB  {memory[1]:>5.1f} MB", flush=True)


def agreement(command, options):
    """Whether both simulate the same, with strategies that do as ns-2's agents do."""
    seeds = options.seeds
    print(f"\nWhat was simulated (means of {seeds} seeds; ackclock with ns-2's strategies)\n")
    print(f"{'workload':<14}  {'strategy':<8}  {'packets ns-2':>12}  {'ackclock':>9}  "
          f"{'drops ns-2':>10}  {'ackclock':>8}  {'RTOs ns-2':>9}  {'ackclock':>8}")
    for name, scenario, flows, settings in workloads():
        for strategy in options.chosen(name, AGENTS):
            columns = []
            for runs in ([ns2(flows, strategy, seed, **settings) for seed in range(1, seeds + 1)],
                         [ours(command, scenario, f"ns2-{strategy}", seed)
                          for seed in range(1, seeds + 1)]):
                packets = statistics.mean(run["packets"] for run in runs)
                columns.append((packets, 100 * statistics.mean(run["drops"]
                                                               for run in runs) / packets,
                                statistics.mean(run["timeouts"] for run in runs)))
            (packets, drops, timeouts), (packets_2, drops_2, timeouts_2) = columns
            print(f"{name:<14}  {strategy:<8}  {packets:>12,.0f}  {packets_2:>9,.0f}  "
                  f"{drops:>8.2f} %  {drops_2:>6.2f} %  {timeouts:>9,.0f}  {timeouts_2:>8,.0f}",
                  flush=True)


def web(command, options):
    """Connections per CPU second and memory of the Web workload, which ns-2 has no counterpart
    of."""
    rounds = options.rounds
    print(f"\n{WEB_CONNECTIONS:,} Web users on persistent connections in one run (medians of "
          f"{rounds} rounds)\n")
    print(f"{'strategy':<8}  {'connections per CPU s':>21}  {'packets per CPU s':>17}  "
          f"{'bytes a connection':>18}")
    for strategy in options.chosen("web", COUNTERPARTS):
        runs = [ours(command, "web", strategy) for _ in range(rounds)]
        cpu = statistics.median(run["cpu"] for run in runs)
        memory = max(run["memory"] for run in runs) / WEB_CONNECTIONS
        print(f"{strategy:<8}  {WEB_CONNECTIONS / cpu:>21,.0f}  "
              f"{runs[0]['packets'] / cpu:>17,.0f}  {memory:>18,.0f}", flush=True)


def memory(command, options):
    """Bytes for each of 10,000 flows: what they need more than ten flows need."""
    print("\nMemory at 10,000 flows, with their share of network and results")
    with tempfile.TemporaryDirectory() as folder:
        # At 1 Gb/s windows are wide.
        wide = {}
        for flows in (10_000, 10):
            text = (HERE.parent / "scenarios" / f"bench-{flows}.toml").read_text()
            wide[flows] = pathlib.Path(folder) / f"wide-{flows}.toml"
            wide[flows].write_text(re.sub('rate = "100mbit"', 'rate = "1gbit"', text))
        for name, scenarios in (("100 Mb/s", {10_000: 10_000, 10: 10}), ("1 Gb/s", wide)):
            for strategy in options.chosen(f"memory {name}", COUNTERPARTS):
                many, few = (ours(command, scenarios[flows], strategy)["memory"]
                             for flows in (10_000, 10))
                print(f"{name:<8}  {strategy:<8}  {many / 1e6:>5.1f} MB, that is "
                      f"{(many - few) / 9_990:,.0f} bytes a flow", flush=True)


def scaling(command, _options):
    """Wall clock of eight independent runs on one and on two processors."""
    scenario = HERE.parent / "scenarios" / "bench-100.toml"
    seconds = []
    for jobs in (1, 2):
        rounds = [measure([command, "run", scenario, "--runs", "8", "--jobs", str(jobs), "--format",
                           "json"])
                  for _ in range(3)]
        seconds.append(statistics.median(wall for _, wall in rounds))
        if len({text for text, _ in rounds}) != 1:
            raise BenchError("the same seeds gave different results")
    print(f"\nEight runs of 100 flows: {seconds[0]:.2f} s with --jobs 1, {seconds[1]:.2f} s with "
          f"--jobs 2: {seconds[0] / seconds[1]:.2f} times as fast on {os.cpu_count()} processors")


TABLES = {"speed": speed, "agreement": agreement, "web": web, "memory": memory, "scaling": scaling}


class Options(argparse.Namespace):
    """The arguments."""

    def chosen(self, row, strategies):
        """The strategies whose rows are to be measured of a workload."""
        return [name for name in strategies if re.search(self.rows, f"{row} {name}")]


def main():
    """Parses arguments and runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ackclock", default="target/release/ackclock",
                        help="the command (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3,
                        help="paired rounds (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=3,
                        help="seeds for the agreement (default: %(default)s)")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES,
                        metavar="TABLE", help=f"only these of {', '.join(TABLES)}")
    parser.add_argument("--rows", default="", metavar="REGEX",
                        help="only rows in whose workload and strategy this is found, such as '^10 "
                        "flows|linux'")
    options = parser.parse_args(namespace=Options())
    for program in ("ns", options.ackclock):
        if shutil.which(program) is None:
            print(f"bench: {program} not found", file=sys.stderr)
            return 2
    print(f"load average before: {os.getloadavg()[0]:.2f}\n")
    for name in options.tables:
        TABLES[name](options.ackclock, options)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)
