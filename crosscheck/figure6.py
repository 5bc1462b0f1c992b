"""The network of figure 6 of Lin & Kung (INFOCOM 1998, section 7.1) in both simulators: timeouts
and drops as populations.

RED's random drops cannot be matched one by one, so ten runs of each are compared: two populations
agree where the 95 % interval of the difference of their means holds 0.
"""

import json
import pathlib
import statistics
import subprocess
import tempfile

import ns2
import ours

HERE = pathlib.Path(__file__).parent
RUNS = 10
# Of Student's t, both sides 95 %, at 2 * (RUNS - 1) degrees of freedom.
T_95 = 2.101

# Over `ns2.BASE`; why, says README.md.
NS2 = {"packetSize_": 512, "window_": 128, "overhead_": 1e-8}
AGENTS = {
    "newreno": {"agent": "Agent/TCP/Newreno", "sink": "Agent/TCPSink/DelAck",
                "exit_recovery_fix_": 1, "bugFix_": 1},
    "sack": {"agent": "Agent/TCP/Sack1", "sink": "Agent/TCPSink/Sack1/DelAck", "bugFix_": 1},
}
# By name: the strategy, and whether RED has `wait_`.
CASES = {f"figure 6: {strategy} {wait}": (strategy, wait == "wait") for wait in ("wait", "nowait")
         for strategy in AGENTS}


def run_ns2(strategy, wait, seed):
    """(timeouts, drops) of one run."""
    settings = {**ns2.BASE, **NS2, **AGENTS[strategy], "wait": int(wait), "seed": seed}
    process = ns2.start([HERE / "figure6.tcl",
                         *(f"{key}={value}" for key, value in settings.items())])
    if process.returncode != 0:
        raise ns2.NsError(f"ns failed: {process.stderr.strip()}")
    counts = dict(line.split() for line in process.stdout.splitlines())
    return int(counts["timeouts"]), int(counts["drops"])


def run_ours(command, strategies, wait):
    """For each strategy a list of (timeouts, drops), one for each run."""
    scenario = (HERE / "figure6.toml").read_text()
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(scenario.replace("wait = true", f"wait = {str(wait).lower()}"))
        file.flush()
        full = [command, "run", file.name, "--strategy", ",".join(strategies), "--runs", str(RUNS),
                "--format", "json"]
        process = subprocess.run(full, capture_output=True, text=True, timeout=120)
    if process.returncode != 0:
        raise ours.OursError(f"{' '.join(full)}: {process.stderr.strip()}")
    runs = {strategy: {} for strategy in strategies}
    for flow in json.loads(process.stdout):
        timeouts, drops = runs[flow["strategy"]].get(flow["seed"], (0, 0))
        runs[flow["strategy"]][flow["seed"]] = (timeouts + flow["timeouts"], drops + flow["drops"])
    return {strategy: list(by_seed.values()) for strategy, by_seed in runs.items()}


def compare(a, b):
    """The difference of the means of two samples of RUNS, and half of its 95 % interval."""
    error = ((statistics.variance(a) + statistics.variance(b)) / RUNS) ** 0.5
    return statistics.mean(b) - statistics.mean(a), T_95 * error


def check(command, pool, names):
    """Prints the comparisons of `names`; returns how many with ns-2's strategies are out of all
    reason.

    One interval in twenty misses, so that is only told; a difference of twice the interval is one
    in thousands.
    """
    print(f"\nSums of {RUNS} runs of 30 s, and the difference of a run with its 95 % interval\n")
    print(f"{'':<25}{'strategy':<12} {'':<8} {'ns-2':>6} {'ackclock':>9}  difference")
    unexpected = 0
    for name in names:
        strategy, wait = CASES[name]
        reference = list(pool.map(lambda seed: run_ns2(strategy, wait, seed), range(1, RUNS + 1)))
        for ran, runs in run_ours(command, [f"ns2-{strategy}", strategy], wait).items():
            for quantity, a, b in zip(("timeouts", "drops"), zip(*reference), zip(*runs)):
                difference, interval = compare(a, b)
                outcome = "agree" if abs(difference) <= interval else "differ"
                wrong = ran != strategy and abs(difference) > 2 * interval
                unexpected += wrong
                print(f"{name:<25}{ran:<12} {quantity:<8} {sum(a):>6} {sum(b):>9}  "
                      f"{difference:>+6.1f} ± {interval:>4.1f}  {outcome}{'!' if wrong else ''}",
                      flush=True)
    return unexpected
