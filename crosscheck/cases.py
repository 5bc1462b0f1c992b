"""The cases: each one network, one pattern of losses, one strategy, with the settings of both
simulators that match."""

import dataclasses
import itertools
import random


def runs(segments):
    """Segments in ascending order as text, three or more consecutive ones as `15-30`."""
    for _, group in itertools.groupby(enumerate(segments), lambda pair: pair[1] - pair[0]):
        group = [segment for _, segment in group]
        yield from [f"{group[0]}-{group[-1]}"] if len(group) > 2 else map(str, group)


@dataclasses.dataclass(frozen=True)
class Case:
    """What both simulators are told. Segments count from 0; losses are (segment, transmission), 1
    being the first."""

    strategy: str
    losses: tuple = ()
    segments: int = 100
    limited_transmit: bool = False
    delayed_ack: bool = False
    initial_window: int = 1
    rwnd: int = 64
    queue: int = 1000
    max_burst: int = 0
    min_rto: float = 1.0
    timestamps: bool = False
    # Drawn at random.
    drawn: bool = False
    # precisionReduce_ 0; NewReno's partial_window_deflation_ 0 with exit_recovery_fix_ 0.
    whole: bool = False
    undeflated: bool = False

    @property
    def name(self):
        """Unique; also what `run.py --only` matches."""
        first = runs([segment for segment, transmission in self.losses if transmission == 1])
        again = [f"{segment}:{transmission - 1}" for segment, transmission in self.losses
                 if transmission > 1]
        parts = ["drop " + (",".join(first) or "none")]
        parts += ["rexmit " + ",".join(again)] if again else []
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        for field, label in (("segments", "n"), ("initial_window", "iw"), ("rwnd", "rwnd"),
                             ("queue", "queue"), ("max_burst", "burst"), ("min_rto", "minrto")):
            if getattr(self, field) != defaults[field]:
                parts.append(f"{label} {getattr(self, field)}")
        parts += ["delack" if self.delayed_ack else "", "timestamps" if self.timestamps else ""]
        parts += ["whole" if self.whole else "", "undeflated" if self.undeflated else ""]
        return f"{self.full_strategy}: " + " ".join(part for part in parts if part)

    @property
    def full_strategy(self):
        """The strategy with its mechanisms, as ackclock names it."""
        return self.strategy + ("+lt" if self.limited_transmit else "")

    @property
    def agent(self):
        """The same as ns-2 has it."""
        undeflated = ("+ns2-inflate-undeflated+ns2-release-two+ns2-refused-undeflated"
                      if self.undeflated else "")
        whole = "+ns2-whole" if self.whole else ""
        return "ns2-" + self.strategy + undeflated + whole + ("+ns2-lt" if self.limited_transmit
                                                              else "")

    def arguments(self, strategy):
        """For `ackclock compare`."""
        first = [str(segment) for segment, transmission in self.losses if transmission == 1]
        again = [f"{segment}:{transmission - 1}" for segment, transmission in self.losses
                 if transmission > 1]
        arguments = ["--strategy", strategy, "--segments", str(self.segments), "--rate", "800kbit",
                     "--delay", "100ms", "--queue", str(self.queue), "--rwnd", str(self.rwnd),
                     "--min-rto", f"{self.min_rto * 1000:.0f}ms", "--first-rtt", "none",
                     "--initial-window", str(self.initial_window), "--delayed-ack",
                     "ns2:200ms" if self.delayed_ack else "off"]
        arguments += ["--drop", ",".join(first)] if first else []
        arguments += ["--drop-retransmission", ",".join(again)] if again else []
        arguments += ["--max-burst", str(self.max_burst)] if self.max_burst else []
        arguments += ["--timestamps"] if self.timestamps else []
        return arguments

    def ns2_settings(self):
        """For `network.tcl`, over `ns2.BASE`."""
        sack = self.strategy == "sack"
        sink = "Agent/TCPSink" + ("/Sack1" if sack else "") + ("/DelAck" if self.delayed_ack
                                                               else "")
        settings = {"agent": AGENTS[self.strategy][0], **AGENTS[self.strategy][1], "sink": sink,
                    "segments": self.segments, "window_": self.rwnd,
                    "windowInit_": self.initial_window, "queue": self.queue,
                    "maxburst_": self.max_burst, "singledup_": int(self.limited_transmit),
                    "minrto_": self.min_rto}
        if self.whole:
            settings |= {"precisionReduce_": 0}
        if self.undeflated:
            settings |= {"partial_window_deflation_": 0, "exit_recovery_fix_": 0}
        if self.timestamps:
            settings |= {"timestamps_": 1, "ts_option_size_": 12, "ts_resetRTO_": 1}
        if self.drawn:
            # Packet 0 has a header too, and ACKs have options.
            options = 12 * self.timestamps
            settings |= {"useHeaders_": 0, "packetSize_": 1040 + options,
                         "sink.packetSize_": 40 + options}
        if self.delayed_ack:
            settings |= {"sink.interval_": "200ms", "sink.SYN_immediate_ack_": 0,
                         "sink.RFC2581_immediate_ack_": 1}
        return settings


NEWRENO = {"bugFix_": 1, "newreno_changes_": 0, "newreno_changes1_": 1,
           "partial_window_deflation_": 1, "exit_recovery_fix_": 1}

# ns-2's agent for each strategy of ours, and the settings that make it that strategy.
AGENTS = {
    "tahoe": ("Agent/TCP", {"bugFix_": 1}),
    "tahoe+no-bugfix": ("Agent/TCP", {"bugFix_": 0}),
    "reno": ("Agent/TCP/Reno", {"bugFix_": 0}),
    "reno+bugfix": ("Agent/TCP/Reno", {"bugFix_": 1}),
    "newreno": ("Agent/TCP/Newreno", NEWRENO),
    "newreno+slow-but-steady": ("Agent/TCP/Newreno", NEWRENO | {"newreno_changes1_": 0}),
    "newreno+no-bugfix": ("Agent/TCP/Newreno", NEWRENO | {"bugFix_": 0}),
    "newreno+ack-heuristic": ("Agent/TCP/Newreno", NEWRENO | {"bugFix_ack_": 1}),
    "newreno+ts-heuristic": ("Agent/TCP/Newreno", NEWRENO | {"bugFix_ts_": 1}),
    "sack": ("Agent/TCP/Sack1", {"bugFix_": 1, "partial_ack_": 0, "LimTransmitFix_": 0}),
}

FOUR = ("tahoe", "reno", "newreno", "sack")
# Fall & Floyd's patterns: one to four losses in one window, the first of them segment 14. The
# window is then 15 segments; with segment 15 first it is 16, of which the half is a whole number of
# segments.
PATTERNS = ((14,), (14, 28), (14, 26, 28), (14, 24, 26, 28))
EVEN_PATTERNS = ((15,), (15, 30), (15, 28, 30), (15, 26, 28, 30))


def first(*segments):
    """Loses the first transmission of each segment."""
    return tuple((segment, 1) for segment in segments)


# Gurtov & Floyd's variants after a timeout: what is lost of the window from segment 15 on, and
# which retransmissions.
AMBIGUOUS = (
    ((*range(15, 31),), (20,)),  # A lost retransmission: bugfix alone waits for a timeout.
    ((*range(15, 22), 25), (15,)),  # Needless retransmissions: only no-bugfix is misled.
    # So is the timestamp heuristic: they were sent at the same time.
    ((*range(15, 22), 27), (15,)),
    # A jump of three segments, which only the timestamp heuristic suspects.
    ((*range(15, 29), 31), (15,)),
    ((*range(15, 24), 31), (15, 19)),  # Both.
    ((*range(15, 25), 26), (24,)),  # All four differ.
)


def cases():
    """All cases."""
    for losses, strategy, limited_transmit, delayed_ack in itertools.product(
            PATTERNS, FOUR, (False, True), (False, True)):
        yield Case(strategy, first(*losses), limited_transmit=limited_transmit,
                   delayed_ack=delayed_ack)
    for losses, strategy, limited_transmit in itertools.product(EVEN_PATTERNS, FOUR, (False, True)):
        yield Case(strategy, first(*losses), limited_transmit=limited_transmit)
    for strategy in FOUR:
        # A lost retransmission, then the same with a second loss in the window.
        yield Case(strategy, ((14, 1), (14, 2)))
        yield Case(strategy, ((14, 1), (14, 2)), limited_transmit=True)
        yield Case(strategy, ((14, 1), (28, 1), (14, 2)))
        yield Case(strategy, ((14, 1), (28, 1), (28, 2)))
        # The tail: only a timeout can repair it, twice if that retransmission is lost as well.
        yield Case(strategy, first(99))
        yield Case(strategy, ((99, 1), (99, 2)))
        yield Case(strategy, first(59), segments=60, delayed_ack=True)
        # No loss: slow start, and the receive window.
        yield Case(strategy, (), rwnd=20)
        yield Case(strategy, (), delayed_ack=True, initial_window=2)
        # Larger initial windows.
        yield Case(strategy, first(14), initial_window=4)
        yield Case(strategy, first(14, 28), initial_window=10)
        # A small window: fast retransmit does not start, or only with limited transmit.
        yield Case(strategy, first(20), rwnd=3)
        yield Case(strategy, first(5), limited_transmit=True, segments=60)
        # Exit-burst control.
        yield Case(strategy, first(14, 28), max_burst=4)
        yield Case(strategy, first(14), max_burst=3, delayed_ack=True)
        # The timeout interval as it is estimated, and its back-off.
        yield Case(strategy, first(99), min_rto=0.2)
        yield Case(strategy, ((98, 1), (98, 2), (98, 3)), min_rto=0.2)
        # The queue overflows by itself.
        yield Case(strategy, (), queue=8, segments=150)
    for losses in PATTERNS[1:]:
        yield Case("reno+bugfix", first(*losses))
        yield Case("tahoe+no-bugfix", first(*losses))
        yield Case("newreno+slow-but-steady", first(*losses))
    for (lost, again), strategy in itertools.product(
            AMBIGUOUS,
            ("newreno", "newreno+no-bugfix", "newreno+ack-heuristic", "newreno+ts-heuristic")):
        yield Case(strategy, (*first(*lost), *((segment, 2) for segment in again)), timestamps=True)


def random_cases(count, seed):
    """Cases drawn at random: one to five losses, of which retransmissions may be lost too, windows,
    timers, ACKs.

    The queue never overflows: ACKs clock segments to arrive just when others depart, and ns-2 lets
    the last bit of a floating-point number decide which comes first.
    """
    draw = random.Random(seed)
    for _ in range(count):
        base = draw.randrange(1, 60)
        lost = {base, *(min(99, base + draw.randrange(1, 40)) for _ in range(draw.randrange(5)))}
        again = [(segment, 2) for segment in lost if draw.random() < 0.25]
        thrice = [(segment, 3) for segment, _ in again if draw.random() < 0.3]
        strategy = draw.choice(FOUR)
        yield Case(
            strategy,
            (*first(*sorted(lost)), *sorted(again), *sorted(thrice)),
            segments=draw.choice((100, 150)),
            limited_transmit=draw.random() < 0.3,
            delayed_ack=draw.random() < 0.3,
            initial_window=draw.choice((1, 2, 4, 10)),
            rwnd=draw.choice((8, 15, 20, 33, 64)),
            max_burst=draw.choice((0, 0, 0, 3, 5)),
            min_rto=draw.choice((0.2, 0.4, 1.0)),
            timestamps=draw.random() < 0.2,
            drawn=True,
            whole=draw.random() < 0.2,
            undeflated=draw.random() < 0.3 and strategy == "newreno",
        )
