"""A test of ns-2's suites as a scenario for `ackclock run`, and the comparison of the two."""

import collections
import json
import math
import pathlib
import subprocess
import tempfile

import ours

# The strategy of each agent.
AGENTS = {"Agent/TCP": "ns2-tahoe", "Agent/TCP/Reno": "ns2-reno",
          "Agent/TCP/Newreno": "ns2-newreno", "Agent/TCP/Sack1": "ns2-sack",
          "Agent/TCP/Fack": "fack+no-bugfix+ns2-fack-holes+ns2-fack+ns2-release-sack"
                            "+ns2-window+ns2-timer"}
SINKS = ("Agent/TCPSink", "Agent/TCPSink/Sack1", "Agent/TCPSink/DelAck",
         "Agent/TCPSink/Sack1/DelAck")

# Settings that have no counterpart here, and what they have to be.
FIXED = {
    "windowOption_": 1, "increase_num_": 1, "decrease_num_": 0.5, "ecn_": 0, "eln_": 0,
    "QOption_": 0,
    "control_increase_": 0, "overhead_": 0, "max_ssthresh_": 0,
    "numdupacksFrac_": -1, "qs_enabled_": 0,
    "srtt_init_": 0, "rttvar_init_": 12, "rttvar_exp_": 2, "T_SRTT_BITS": 3,
    "T_RTTVAR_BITS": 2, "newreno_changes_": 0, "LimTransmitFix_": 0,
    "rampdown_": 0, "ss-div4_": 0, "max_connects_": -1, "slow_start_restart_": 1, "dctcp_": 0,
    "oldCode_": 0,
}
# Mechanisms for `numdupacks_`.
DUPACKS = {3: [], 4: ["ns2-numdupacks-4"]}
# Models that lose or hold back what the test says, and nothing at random.
MODELS = ("ErrorModel/List", "ErrorModel/Periodic")
ENDLESS = 100_000

# How far two times may be apart: a packet at the bottleneck of most tests, and what the rounding of
# SRTT and of four RTTVAR to ticks can make.
PACKET_TIME = 0.0105
TICKS = 3


class Inexpressible(Exception):
    """The test has something that scenarios do not have."""


def strategy(agent):
    """The agent with its settings."""
    name = AGENTS.get(agent["class"])
    if name is None:
        raise Inexpressible(agent["class"])
    for key, value in FIXED.items():
        if agent.get(key) not in (None, value):
            raise Inexpressible(f"{key} {agent[key]:g}")
    parts = [name]
    if name == "ns2-newreno":
        if not agent["partial_window_deflation_"]:
            parts.append("ns2-inflate-undeflated+ns2-release-two+ns2-refused-undeflated")
        elif not agent["exit_recovery_fix_"]:
            parts.append("ns2-inflate+ns2-release-two")
        if not agent["newreno_changes1_"]:
            parts.append("slow-but-steady")
    if not agent["precisionReduce_"] and name != "ns2-tahoe":
        parts.append("ns2-whole")
    if agent["bugFix_ack_"]:
        parts.append("ack-heuristic")
    elif agent["bugFix_ts_"]:
        parts.append("ts-heuristic")
    elif agent["bugFix_"] and agent["lessCareful_"] and name == "ns2-newreno":
        parts.append("recovery-point")
    elif agent["bugFix_"] and name == "ns2-reno":
        parts.append("bugfix")
    elif not agent["bugFix_"] and name != "ns2-reno":
        parts.append("no-bugfix")
    if agent["maxburst_"] and not agent["aggressive_maxburst_"]:
        parts.append("ns2-late")
    if agent["numdupacks_"] not in DUPACKS:
        raise Inexpressible(f"numdupacks_ {agent['numdupacks_']:g}")
    parts += ["ns2-numdupacks-none"] if agent["noFastRetrans_"] else DUPACKS[agent["numdupacks_"]]
    parts += timer(agent)
    if name in ("ns2-reno", "ns2-newreno") and not agent["exitFastRetrans_"]:
        parts.append("ns2-refused")
    if agent["singledup_"]:
        parts.append("ns2-lt")
    if agent["frto_enabled_"]:
        parts.append("f-rto")
    return "+".join(parts)


def timer(agent):
    """The retransmission timer, where it is not the one of the preset."""
    if agent["timestamps_"] and not agent["ts_resetRTO_"]:
        return ["ns2-timer-keep"]
    # With a SYN there is a sample from the beginning.
    if agent["rtxcur_init_"] >= 6 and not agent["syn_"]:
        return ["ns2-timer-100ms" if agent["tcpTick_"] == 0.1 else "ns2-timer-6s"]
    return []


def initial_window(agent):
    """The window after the SYN, or of packet 0 if that is data (`initial_window` in tcp.cc)."""
    size = agent["packetSize_"]
    window = agent["windowInit_"]
    if agent["windowInitOption_"] == 2:
        window = 4 if size <= 1095 else 3 if size < 2190 else 2
    if agent["syn_"] and not agent["delay_growth_"]:
        # The SYN leaves in this window, and its ACK opens it by one.
        if window > 1:
            raise Inexpressible("data beside the SYN")
        window = 2
    return int(window)


def nanoseconds(seconds):
    """A duration of a scenario."""
    return f'"{seconds * 1e9:.0f}ns"'


class Scenario:
    """What a test of ns-2 was made of, as the text of a scenario."""

    def __init__(self, run):
        self.run = run
        self.senders = run.senders()
        if not self.senders:
            raise Inexpressible("no TCP")
        types = {event.type for event in run.events} - {"tcp", "ack"}
        if types:
            raise Inexpressible(f"packets of type {', '.join(sorted(types))}")
        used = sorted({(event.a, event.b) for event in run.events})
        for ends in used:
            if run.links[ends].queue != "Queue/DropTail" and run.overflows(ends):
                raise Inexpressible(f"{run.links[ends].queue} that drops")
        for model in run.models:
            if model not in MODELS:
                raise Inexpressible(model)
        flows = [line for agent in self.senders for line in self._flow(agent)]
        fates = self._fates()
        lines = [f"duration = {nanoseconds(run.end + 0.001)}", "[tcp]", "count_options = false"]
        for ends in used:
            lines += [*self._link(ends), *fates.get(ends, [])]
        self.text = "\n".join(lines + flows) + "\n"

    def _link(self, ends):
        link = self.run.links[ends]
        # A queue of another kind that drops nothing is as good as one that never overflows.
        limit = link.limit if link.queue == "Queue/DropTail" else ENDLESS
        return ["[[link]]", f'from = "n{ends[0]}"', f'to = "n{ends[1]}"', "duplex = false",
                f'rate = "{link.rate:.0f}bit"', f"delay = {nanoseconds(link.delay)}",
                f"queue = {{ droptail = {{ packets = {limit} }} }}"]

    def _sink(self, agent):
        agents = self.run.agents.values()
        sink = next((other for other in agents if other["at"] == agent["to"]), None)
        if sink is None or sink["class"] not in SINKS:
            raise Inexpressible(f"a receiver {sink and sink['class']}")
        return sink

    def _flow(self, agent):
        sink = self._sink(agent)
        begins, writes = self._writes(agent)
        size, delayed = int(agent["packetSize_"]), sink["class"].endswith("DelAck")
        if delayed and sink["interval_"] > 0.5:
            raise Inexpressible(f"interval_ {sink['interval_']:g}")
        header = 0
        if agent["useHeaders_"]:
            header = agent["tcpip_base_hdr_size_"] + agent["timestamps_"] * agent["ts_option_size_"]
        lines = [
            "[[flow]]", f'name = "{agent["name"]}"', f'from = "n{agent["node"]}"',
            f'to = "n{sink["node"]}"', f'strategy = "{strategy(agent)}"',
            f"start = {nanoseconds(begins)}", f"source = {{ writes = [{', '.join(writes)}] }}",
            "[flow.tcp]", f"mss = {size}", f"header = {header:.0f}",
            f"ack_size = {sink['packetSize_']:.0f}", f'rwnd = "{agent["window_"]:.0f}seg"',
            # The first value of ssthresh_ is the window (`reset` in tcp.cc).
            f'initial_ssthresh = "{agent["window_"]:.0f}seg"',
            f"initial_window = {initial_window(agent)}",
            f"min_rto = {nanoseconds(max(agent['minrto_'], 0.001))}",
            f"max_rto = {nanoseconds(agent['maxrto_'])}",
            f"timestamps = {'true' if agent['timestamps_'] else 'false'}",
            'delayed_ack = "' + (f'ns2:{sink["interval_"] * 1e9:.0f}ns"' if delayed else 'off"'),
            # Packet 0 of ns-2 is a SYN or data.
            "handshake = true" if agent["syn_"] else 'first_rtt = "none"',
            "dsack = false",
        ]
        if agent["maxcwnd_"]:
            lines.append(f'max_cwnd = "{agent["maxcwnd_"]:.0f}seg"')
        if agent["maxburst_"]:
            lines.append(f"max_burst = {agent['maxburst_']:.0f}")
        return lines

    def _writes(self, agent):
        """When the application begins, and what it writes when."""
        writes = []
        for time, name, command, arguments in self.run.commands:
            if name != agent["name"] or command == "close" or (command == "reset" and not time):
                continue
            written = sum(packets for _, packets in writes)
            if command == "send":
                size = float(arguments[0])
                packets = ENDLESS if size < 0 else math.ceil(size / agent["packetSize_"])
            elif command == "advanceby":
                packets = int(float(arguments[0]))
            elif command == "advance":
                # To that packet, but not below what has been sent.
                sent = [packet for at, packet in self.run.sent(agent).values() if at < time]
                least = max(sent, default=-1) + 1 - int(agent["syn_"])
                packets = max(int(float(arguments[0])), least) - written
            else:
                raise Inexpressible(f"{command} while it runs")
            # What has not been sent can be taken back.
            while packets < 0:
                time, last = writes.pop()
                packets += last
            writes.append((time, packets))
        if not any(packets for _, packets in writes):
            raise Inexpressible("no application")
        begins = writes[0][0]
        return begins, [f'{{ at = {nanoseconds(time - begins)}, amount = "{packets}seg" }}'
                        for time, packets in writes if packets]

    def _fates(self):
        """What error models did to packets, by link, as the lines of `[[link.fate]]`.

        Their lists count the packets of a flow on a link; a scenario names segments and their
        transmissions. Which packet was the n-th is what ns-2's run says.
        """
        fates = collections.defaultdict(list)
        for agent in self.senders:
            by_transmission, transmissions = {}, collections.Counter()
            sent = self.run.sent(agent)
            for uid, (_, packet) in sent.items():
                transmissions[packet] += 1
                by_transmission[uid] = (packet, transmissions[packet])
            times = {uid: time for uid, (time, _) in sent.items()}
            for ends, uid, late in self._meddled("tcp", agent["at"], times):
                packet, nth = by_transmission[uid]
                if agent["syn_"] and packet == 0:
                    raise Inexpressible("a lost SYN")
                fates[ends] += self._fate(agent, f"segment = {packet - int(agent['syn_'])}", late)
                fates[ends].append(f"transmission = {nth}")
            made = self._acks(agent)
            for ends, uid, late in self._meddled("ack", agent["to"], made):
                nth = list(made).index(uid) + 1 - int(agent["syn_"])
                fates[ends] += self._fate(agent, f"ack = {nth}", late)
        return fates

    @staticmethod
    def _fate(agent, what, late):
        how = "lose = true" if late is None else f"late = {nanoseconds(late)}"
        return ["[[link.fate]]", f'flow = "{agent["name"]}"', what, how]

    def _meddled(self, kind, source, made):
        """What was lost or held back of the packets from `source`, made at these times: [(link,
        uid, None or how long)]. Error models stand before the queues."""
        at, queued, found = {}, set(), []
        first_link = None
        for event in self.run.events:
            if event.type != kind or event.source != source:
                continue
            first_link = first_link or (event.a, event.b)
            there = event.uid, event.a, event.b
            if event.kind == "+":
                late = event.time - at.get(event.uid, made.get(event.uid, event.time))
                if late > 1e-9:
                    found.append(((event.a, event.b), event.uid, late))
                queued.add(there)
            elif event.kind == "d" and there not in queued:
                found.append(((event.a, event.b), event.uid, None))
            elif event.kind == "r":
                at[event.uid] = event.time
        seen = {event.uid for event in self.run.events}
        return found + [(first_link, uid, None) for uid in made if uid not in seen]

    def _acks(self, agent):
        """The ACKs that a receiver made: {uid: time}. Where each segment draws one at once, those
        that are queued later were held back, and those that never are were lost: these have a name
        of their own in place of the uid."""
        delayed = self._sink(agent)["class"].endswith("DelAck")
        node, back = self._sink(agent)["node"], (agent["to"], agent["at"])
        acks, arrivals, have, acked = {}, [], set(), -1
        for event in self.run.events:
            if event.kind in "+d" and event.type == "ack" and event.a == node \
                    and (event.source, event.to) == back:
                acks.setdefault(event.uid, (event.time, event.sequence))
            elif event.kind == "r" and event.type == "tcp" and event.b == node \
                    and (event.to, event.source) == back:
                have.add(event.sequence)
                while acked + 1 in have:
                    acked += 1
                arrivals.append((event.time, acked))
        if delayed:
            return {uid: time for uid, (time, _) in sorted(acks.items())}
        made, at = {}, 0
        for uid, (time, packet) in sorted(acks.items()):
            fits = [i for i in range(at, len(arrivals))
                    if arrivals[i][1] == packet and arrivals[i][0] < time + 1e-9]
            if not fits:
                raise Inexpressible("ACKs that no segment draws")
            this = next((i for i in fits if arrivals[i][0] > time - 1e-9), fits[0])
            made |= {f"lost {i}": arrivals[i][0] for i in range(at, this)}
            made[uid] = arrivals[this][0]
            at = this + 1
        return made

    def play(self, command):
        """Runs it here. Returns for each flow [(time, packet as ns-2 counts)]."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "test.toml"
            events = pathlib.Path(directory) / "events.jsonl"
            path.write_text(self.text)
            process = subprocess.run([command, "run", path, "--events", events],
                                     capture_output=True, text=True, timeout=60)
            if process.returncode:
                raise ours.OursError(f"{process.stderr.strip()}\n{self.text}")
            sent = [[] for _ in self.senders]
            for line in events.read_text().splitlines():
                if '"event":"sent"' not in line:
                    continue
                event = json.loads(line)
                agent = self.senders[event["flow"]]
                # Shorter is only the FIN, which ns-2 does not have.
                if event["len"] == agent["packetSize_"]:
                    packet = event["seq"] // event["len"] + int(agent["syn_"])
                    sent[event["flow"]].append((event["t"], packet))
        return sent

    def pairs(self, command):
        """For each flow its agent, what was sent here, and what ns-2 sent, the SYN left out."""
        for agent, here in zip(self.senders, self.play(command)):
            there = self.run.sent(agent).values()
            yield agent, here, [item for item in there if not agent["syn_"] or item[1] > 0]

    def difference(self, command):
        """The first difference in words, or None: another packet, or the same at another time."""
        for agent, here, there in self.pairs(command):
            slack = PACKET_TIME + TICKS * agent["tcpTick_"]
            for i in range(max(len(here), len(there))):
                a = here[i] if i < len(here) else None
                b = there[i] if i < len(there) else None
                if a and b and a[1] == b[1] and abs(a[0] - b[0]) <= slack:
                    continue
                # The end of the run may come between the two.
                if not (a and b) and (a or b)[0] > self.run.end - slack:
                    break
                a, b = (f"{what[1]} at {what[0]:.4f} s" if what else "nothing" for what in (a, b))
                return f"transmission {i}: {a}, ns-2 {b}"
        return None
