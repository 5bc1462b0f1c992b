"""ns-2's own test suites, as Debian's `ns2-examples` has them: tests run live, reference traces."""

import collections
import gzip
import itertools
import math
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
TESTS = pathlib.Path("/usr/share/doc/ns2/examples/tcl/test")

# The suites about one-way TCP over wires that have reference traces.
SUITES = ("LimTransmit", "aimd", "frto", "newreno", "oddBehaviors", "rfc2581", "rfc793edu", "sack",
          "simple", "tcp", "tcp-init-win", "tcpOptions", "tcpReset", "tcpVariants", "testReno")

# A line of ns-2's trace. `kind`: + queued, - sent, r received, d dropped. `uid` counts packets as
# they are made.
Event = collections.namedtuple("Event", "kind time a b type source to sequence uid")
Link = collections.namedtuple("Link", "rate delay queue limit")


class SuiteError(Exception):
    """ns-2 does not run the test."""


def names():
    """All tests that have a reference trace: [(suite, test)]."""
    found = [(suite, path.name[:-3]) for suite in SUITES
             for path in sorted((TESTS / f"test-output-{suite}").glob("*.gz"))]
    if not found:
        raise SuiteError(f"no tests in {TESTS}; the package is ns2-examples")
    return found


class Run:
    """One test as ns-2 ran it: links, agents, what applications did, and the trace."""

    def __init__(self, suite, test):
        self.links, self.models, self.agents = {}, [], {}
        # (time, agent, command, arguments)
        self.commands, self.events = [], []
        with tempfile.TemporaryDirectory() as directory:
            for path in TESTS.glob("*.tcl"):
                os.symlink(path, pathlib.Path(directory) / path.name)
            report = pathlib.Path(directory) / "report"
            command = ["ns", HERE / "suite.tcl", f"test-suite-{suite}.tcl", test, report]
            try:
                process = subprocess.run(command, cwd=directory, capture_output=True, text=True,
                                         timeout=60)
            except subprocess.TimeoutExpired:
                raise SuiteError("ns-2 does not end in 60 s") from None
            if process.returncode:
                lines = process.stderr.strip().splitlines() or ["no message"]
                raise SuiteError("ns-2: " + re.sub(r"^/\S*: ", "", lines[0]))
            for line in report.read_text().splitlines():
                self._read(line)
        self.end = max((event.time for event in self.events), default=0.0)

    def _read(self, line):
        fields = line.split()
        if fields[:1] != ["="]:
            if len(fields) >= 12 and fields[0] in "+-rd":
                kind, time, a, b, packet_type = fields[:5]
                self.events.append(Event(kind, float(time), int(a), int(b), packet_type,
                                         *fields[8:10], int(fields[10]), int(fields[11])))
            return
        kind, *fields = fields[1:]
        if kind == "link":
            a, b, rate, delay, queue, limit = fields
            self.links[int(a), int(b)] = Link(float(rate), float(delay), queue, int(float(limit)))
        elif kind == "model":
            self.models.append(fields[0])
        elif kind == "agent":
            name, agent_class, node, port, to_node, to_port = fields
            self.agents[name] = {"name": name, "class": agent_class, "at": f"{node}.{port}",
                                 "to": f"{to_node}.{to_port}", "node": int(node)}
        elif kind == "set":
            text = line.split("{", 1)[1].rstrip("}")
            self.agents[fields[0]][fields[1]] = float(text) if re.match(r"-?[\d.]", text) else None
        elif kind == "at":
            self.commands.append((float(fields[0]), fields[1], fields[2], fields[3:]))

    def senders(self):
        """The agents that sent data, in an order that does not depend on ns-2's memory."""
        sources = {event.source for event in self.events if event.type == "tcp"}
        agents = sorted(self.agents.values(), key=lambda agent: agent["at"])
        return [agent for agent in agents if agent["at"] in sources]

    def sent(self, agent):
        """What an agent sent: {uid: (time, packet)} in its order.

        A packet that an error model holds back before the first queue was sent before its
        successors all the same.
        """
        first = {}
        for event in self.events:
            if event.kind in "+d" and event.source == agent["at"] and event.a == agent["node"]:
                first.setdefault(event.uid, (event.time, event.sequence))
        sent, until = {}, math.inf
        for uid in sorted(first, reverse=True):
            until = min(until, first[uid][0])
            sent[uid] = (until, first[uid][1])
        return dict(reversed(sent.items()))

    def overflows(self, ends):
        """Whether the queue of a link drops anything."""
        queued = set()
        for event in self.events:
            if (event.a, event.b) == ends:
                if event.kind == "+":
                    queued.add(event.uid)
                elif event.kind == "d" and event.uid in queued:
                    return True
        return False


def reference(suite, test):
    """The points of the reference trace: [(time, packet modulo some number)]."""
    points, reading = [], False
    with gzip.open(TESTS / f"test-output-{suite}" / f"{test}.gz", "rt") as file:
        for line in file:
            if line.startswith('"'):
                reading = line.strip() == '"packets'
            elif reading and len(line.split()) == 2:
                time, value = map(float, line.split())
                # The whole part of the value is the flow, the fraction the packet.
                points.append((time, round(value * 100) % 100))
    return points


def as_shipped(run, suite, test):
    """Whether the run makes the reference trace; None if that is no picture of packets.

    The tests draw what is queued on one link, or also what leaves the queue, modulo 90 or 100. The
    ACKs may follow in the same list.
    """
    want = reference(suite, test)
    if not want:
        return None
    for ends, kinds, wrap in itertools.product(run.links, ("+-", "+", "-"), (90, 100)):
        have = [(event.time, event.sequence % wrap) for event in run.events
                if event.kind in kinds and event.type == "tcp" and (event.a, event.b) == ends]
        ends_there = len(have) >= len(want) or (
            have and want[len(have)][0] < want[len(have) - 1][0])
        if ends_there and all(abs(a[0] - b[0]) < 1e-4 and a[1] == b[1] for a, b in zip(have, want)):
            return True
    return False
