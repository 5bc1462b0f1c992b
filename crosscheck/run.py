#!/usr/bin/env python3
"""Runs each case in ns-2 and in ackclock and compares what the two senders sent.

The order of (segment, first transmission or retransmission) must be the same, and the time of
completion within one packet time of the bottleneck. Where the RFCs and ns-2 differ, ackclock
follows the RFCs: such a case is listed in differences.py, must differ, and must agree with the
mechanisms that do as ns-2 does. Then figure6.py compares what cannot be matched segment by segment,
queues.py queues and traces with models of their specifications, red.py RED with ns-2, and replay.py
ns-2's own test suites.

Exit status: 0 if all cases are as expected, 1 if any is not, 2 if a program is missing or fails.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import shutil
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import figure6  # noqa: E402
import ns2  # noqa: E402
import ours  # noqa: E402
import queues  # noqa: E402
import red  # noqa: E402
import replay  # noqa: E402
import suite  # noqa: E402
from cases import cases, random_cases  # noqa: E402
from differences import AGENT, EXPECTED, WHY  # noqa: E402

# How many random cases a run without arguments has, and which share has to agree.
RANDOM_CASES = 100
RANDOM_BAR = 0.995
DELAYED_ACK = 0.2
PACKET_TIME = 1040 * 8 / 800_000


def marked(sent):
    """The order of transmissions as text: `14` the first transmission of segment 14, `14'` any
    later one."""
    seen, order = set(), []
    for _, segment in sent:
        order.append(f"{segment}'" if segment in seen else str(segment))
        seen.add(segment)
    return order


def difference(ours_run, ns2_run):
    """The first difference in words, or None."""
    (our_sent, our_end), (ns_sent, ns_end) = ours_run, ns2_run
    our_order, ns_order = marked(our_sent), marked(ns_sent)
    for i in range(max(len(our_order), len(ns_order))):
        a = our_order[i] if i < len(our_order) else "nothing"
        b = ns_order[i] if i < len(ns_order) else "nothing"
        if a != b:
            at = (our_sent + ns_sent)[i][0] if i < len(our_sent) else ns_sent[i][0]
            return f"transmission {i} at {at:.3f} s: {a}, ns-2 {b}"
    if (our_end is None) != (ns_end is None):
        return f"completion {our_end}, ns-2 {ns_end}"
    if our_end is not None and abs(our_end - ns_end) > PACKET_TIME:
        return f"completion {our_end:.4f} s, ns-2 {ns_end:.4f} s"
    return None


def check(case, command):
    """Runs one case. Returns its rows: (strategy, outcome, remark, as expected)."""
    reference = ns2.run({**ns2.BASE, **case.ns2_settings()}, case.losses)

    def found(strategy):
        return difference(ours.run(command, case.arguments(strategy)), reference)

    first = found(case.full_strategy)
    if case.name not in EXPECTED and case.name not in AGENT:
        return [(case.full_strategy, "DIFFERS" if first else "ok", first or "", not first)]
    strategy = case.agent if case.name in AGENT else f"{case.full_strategy}+{EXPECTED[case.name]}"
    second = found(strategy)
    return [(case.full_strategy, "differs" if first else "ok",
             first or "but listed as a difference", bool(first)),
            (strategy, "DIFFERS" if second else "ok", second or "", not second)]


# What `--attribute` tries for each strategy.
CANDIDATES = {
    "tahoe": ("ns2-window", "ns2-timer"),
    "reno": ("ns2-inflate", "ns2-window", "ns2-timer"),
    "newreno": ("ns2-inflate-limited", "ns2-window", "ns2-timer"),
    "sack": ("ff96-holes", "ns2-pipe", "ns2-window", "ns2-timer", "dupack", "bugfix"),
}


def attribute(case, command):
    """The fewest mechanisms of ns-2 with which the case agrees, as a line of differences.py; None
    if none is needed."""
    reference = ns2.run({**ns2.BASE, **case.ns2_settings()}, case.losses)

    def found(*names):
        return difference(ours.run(command, case.arguments("+".join(names))), reference)

    if not found(case.full_strategy):
        return None
    candidates = CANDIDATES[case.strategy.split("+")[0]]
    for count in range(1, len(candidates) + 1):
        for names in itertools.combinations(candidates, count):
            if not found(case.full_strategy, *names):
                return f'"{case.name}": "{"+".join(names)}",'
    return f'"{case.name}": ("?", "{found(case.agent)}"),'


def check_random(case, command):
    """The first difference of a case drawn at random from ns-2's agent as a strategy, or None; and
    whether it counts.

    Two events of one moment, the delayed ACK of a segment and the arrival of another, or an ACK and
    a timeout, come in an order that ns-2 leaves to the last bit of a floating-point number. What
    differs after such a moment is undecided.
    """
    reference = ns2.run({**ns2.BASE, **case.ns2_settings()}, case.losses)
    sent, completion, arrived, raced = ours.run_all(command, case.arguments(case.agent))
    found = difference((sent, completion), reference)
    differs_at = next((a[0] for a, b in zip(sent, reference[0]) if abs(a[0] - b[0]) > 0.001
                       or a[1] != b[1]), completion)
    moments = {round(time, 6) for time in arrived if time < differs_at}
    tie = case.delayed_ack and any(round(time + DELAYED_ACK, 6) in moments for time in moments)
    tie = tie or any(time <= differs_at + 0.001 for time in raced)
    return found, found is None or not tie


def random_table(selected, results):
    """Prints what differs of the cases drawn at random, and how many agree. Returns whether too few
    do."""
    agree = undecided = 0
    for case, (found, counts) in zip(selected, results):
        agree += found is None
        undecided += not counts
        if found:
            print(f"{case.name}: {found}{'' if counts else ' (undecided)'}", flush=True)
    decided = len(selected) - undecided
    share = agree / max(decided, 1)
    print(f"\n{decided} random cases: {agree} agree ({share:.2%}); {undecided} others undecided")
    return share < RANDOM_BAR


def show(case, command, strategy):
    """Prints both sequences side by side."""
    our_sent, our_end = ours.run(command, case.arguments(strategy))
    ns_sent, ns_end = ns2.run({**ns2.BASE, **case.ns2_settings()}, case.losses)
    print(f"{case.name} [{strategy}]: completion {our_end}, ns-2 {ns_end}")
    rows = [list(zip((t for t, _ in sent), marked(sent))) for sent in (our_sent, ns_sent)]
    for i in range(max(map(len, rows))):
        cells = [f"{row[i][0]:9.4f} {row[i][1]:>5}" if i < len(row) else " " * 15 for row in rows]
        different = len({row[i][1] if i < len(row) else None for row in rows}) > 1
        print(f"{i:4}  {cells[0]}   {cells[1]}{'  <' if different else ''}")


def main():
    """Parses arguments, runs, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ackclock", default="target/release/ackclock",
                        help="the command (default: %(default)s)")
    parser.add_argument("--only", default="", help="only cases whose name contains this text")
    parser.add_argument("--show", action="store_true",
                        help="print both sequences of the selected cases instead")
    parser.add_argument("--strategy",
                        help="with --show: this strategy of ours instead of the case's")
    parser.add_argument("--random", type=int, metavar="N",
                        help="only N cases drawn at random, with ns-2's agents")
    parser.add_argument("--seed", type=int, default=1,
                        help="what --random draws from (default: %(default)s)")
    parser.add_argument("--left-out", action="store_true",
                        help="only ns-2's own tests that no scenario expresses")
    parser.add_argument("--attribute", action="store_true",
                        help="print what makes the selected cases differ instead")
    options = parser.parse_args()
    for program in ("ns", options.ackclock):
        if shutil.which(program) is None:
            print(f"crosscheck: {program} not found", file=sys.stderr)
            return 2
    drawn = random_cases(RANDOM_CASES if options.random is None else options.random, options.seed)
    drawn = [case for case in drawn if options.only in case.name]
    selected, populations, queued, suites = [], [], [], []
    if options.left_out:
        drawn, suites = [], replay.selected(options.only, True)
    elif options.random is None:
        suites = replay.selected(options.only, False)
        selected = [case for case in cases() if options.only in case.name]
        populations = [name for name in figure6.CASES if options.only in name]
        queued = [name for name in (*queues.CASES, red.CASE) if options.only in name]
    if not selected and not populations and not queued and not drawn and not suites:
        print(f"crosscheck: no case's name contains {options.only!r}", file=sys.stderr)
        return 2
    if options.show:
        for case in selected:
            show(case, options.ackclock, options.strategy or case.full_strategy)
        for case in drawn if options.random is not None else ():
            show(case, options.ackclock, options.strategy or case.agent)
        return 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        if options.attribute:
            lines = pool.map(lambda case: attribute(case, options.ackclock), selected)
            print("\n".join(line for line in lines if line))
            return 0
        unexpected = 0
        if selected:
            unexpected += table(selected,
                                pool.map(lambda case: check(case, options.ackclock), selected))
        if populations:
            unexpected += figure6.check(options.ackclock, pool, populations)
        if queued:
            print("\nQueues and traces, packet by packet\n")
            unexpected += queues.check(options.ackclock, pool, queued)
            unexpected += red.check(options.ackclock, pool, queued)
        if drawn:
            print(f"\nRandom cases of seed {options.seed}:")
            found = pool.map(lambda case: check_random(case, options.ackclock), drawn)
            unexpected += random_table(drawn, found)
        if suites:
            print()
            found = pool.map(lambda name: replay.check(name, options.ackclock), suites)
            unexpected += replay.table(suites, found)
        return 1 if unexpected else 0


def table(selected, results):
    """Prints the outcomes as they come, then what the documented differences are. Returns how many
    are unexpected."""
    width = max(len(case.name) for case in selected)
    counts, unexpected, agree = {}, 0, 0
    for case, rows in zip(selected, results):
        agree += len(rows) == 1 and rows[0][3]
        for strategy, outcome, remark, fine in rows:
            name = case.name if strategy == case.full_strategy else f"    {strategy}"
            print(f"{name:<{width}}  {outcome:<8}{' ' if fine else '!'} {remark}".rstrip(),
                  flush=True)
            unexpected += not fine
        keys = (AGENT.get(case.name) or EXPECTED.get(case.name, "")).split("+")
        for key in filter(None, keys):
            counts[key] = counts.get(key, 0) + 1
    for key in WHY:
        if key in counts:
            text = f"{key} ({counts[key]} cases): {WHY[key]}"
            print("\n" + textwrap.fill(text, 100, subsequent_indent="    "))
    documented = sum(case.name in EXPECTED or case.name in AGENT for case in selected)
    print(f"\n{len(selected)} cases: {agree} agree, {documented} differ as documented, "
          f"{unexpected} unexpected outcomes")
    return unexpected


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ns2.NsError, ours.OursError, suite.SuiteError) as error:
        print(f"crosscheck: {error}", file=sys.stderr)
        sys.exit(2)
