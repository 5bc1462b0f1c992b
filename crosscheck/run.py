#!/usr/bin/env python3
"""Runs each case in ns-2 and in ackclock and compares what the two senders sent.

The order of (segment, first transmission or retransmission) must be the same, and the time of completion within one
packet time of the bottleneck. Where the RFCs and ns-2 differ, ackclock follows the RFCs: such a case is listed in
differences.py, must differ, and must agree once ackclock is set to do as ns-2 does.

Exit status: 0 if all cases are as expected, 1 if any is not, 2 if a program is missing or fails.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import ns2  # noqa: E402
import ours  # noqa: E402
from cases import cases  # noqa: E402
from differences import DIFFERENCES, expected  # noqa: E402

PACKET_TIME = 1040 * 8 / 800_000


def marked(sent):
    """The order of transmissions as text: `14` the first transmission of segment 14, `14'` any later one."""
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
    found = difference(ours.run(command, case.arguments(case.full_strategy), case.tcp), reference)
    known = expected(case)
    if known is None:
        return [(case.full_strategy, "DIFFERS" if found else "ok", found or "", not found)]
    if not found:
        return [(case.full_strategy, "ok", f"but listed as a difference: {known}", False)]
    rows = [(case.full_strategy, "differs", f"{known}: {found}", True)]
    strategy = DIFFERENCES[known].strategy(case)
    found = difference(ours.run(command, case.arguments(strategy), case.tcp), reference)
    rows.append((strategy, "DIFFERS" if found else "ok", found or "as ns-2", not found))
    return rows


def show(case, command, strategy):
    """Prints both sequences side by side."""
    our_sent, our_end = ours.run(command, case.arguments(strategy), case.tcp)
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
    parser.add_argument("--ackclock", default="target/release/ackclock", help="the command (default: %(default)s)")
    parser.add_argument("--only", default="", help="only cases whose name contains this text")
    parser.add_argument("--show", action="store_true", help="print both sequences of the selected cases instead")
    parser.add_argument("--strategy", help="with --show: this strategy of ours instead of the case's")
    options = parser.parse_args()
    for program in ("ns", options.ackclock):
        if shutil.which(program) is None:
            print(f"crosscheck: {program} not found", file=sys.stderr)
            return 2
    selected = [case for case in cases() if options.only in case.name]
    if not selected:
        print(f"crosscheck: no case's name contains {options.only!r}", file=sys.stderr)
        return 2
    if options.show:
        for case in selected:
            show(case, options.ackclock, options.strategy or case.full_strategy)
        return 0
    width = max(len(case.name) for case in selected)
    used, unexpected, count = {}, 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, rows in zip(selected, pool.map(lambda case: check(case, options.ackclock), selected)):
            count += 1
            for strategy, outcome, remark, fine in rows:
                name = case.name if strategy == case.full_strategy else f"    {strategy}"
                print(f"{name:<{width}}  {outcome:<8}{'' if fine else '!'} {remark}".rstrip(), flush=True)
                unexpected += not fine
            known = expected(case)
            if known is not None:
                used[known] = used.get(known, 0) + 1
    for key, number in sorted(used.items()):
        print(f"\n{key} ({number} cases): {DIFFERENCES[key].why}")
    print(f"\n{count} cases, {sum(used.values())} documented differences, {unexpected} unexpected outcomes")
    return 1 if unexpected else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ns2.NsError, ours.OursError) as error:
        print(f"crosscheck: {error}", file=sys.stderr)
        sys.exit(2)
