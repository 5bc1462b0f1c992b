"""The axes as classes: what a mechanism of each is asked."""

from __future__ import annotations

from typing import ClassVar

from ._answers import (
    Emulated,
    Filler,
    Lost,
    Next,
    Notices,
    ProbeNow,
    Tick,
    Timed,
    Urgent,
    Verdict,
    Windows,
)
from ._native import Ack, Law, Notice, Segment, Sending, State


class Mechanism:
    """What the classes of all axes share."""

    #: The axis, by the name of the guide.
    axis: ClassVar[str] = ""
    #: The methods that a mechanism of the axis has to define.
    required: ClassVar[tuple[str, ...]] = ()


class Detect(Mechanism):
    """What is lost now, or when will we know?"""

    axis = "detect"
    required = ("on_ack",)

    def on_ack(self, state: State, ack: Ack) -> Lost | None:
        """Judges on an ACK that says anything new, or is a duplicate."""
        raise NotImplementedError

    def dupthresh(self, state: State, ack: Ack) -> int:
        """DupThresh from this ACK on. Otherwise three."""
        return 3

    def deadline(self) -> float | None:
        """When `on_deadline` wants to be called. Otherwise never."""
        return None

    def on_deadline(self, state: State) -> Lost | None:
        """Judges because time has passed."""
        return None

    def armed(self) -> bool:
        """Whether the last `on_ack` set the deadline anew, for timers that serve all ends.
        Otherwise, if there is a deadline."""
        return self.deadline() is not None

    def on_delivered(self, segment: Segment, now: float) -> None:
        """The ACK at hand is the first to report this segment delivered, cumulatively or
        selectively. Called for each such segment, before `observe` and `on_ack`."""

    def observe(self, state: State, ack: Ack) -> None:
        """What was delivered on this ACK is taken note of, also where an undo keeps detection from
        judging."""

    def on_handshake(self, rtt: float) -> None:
        """The round trip of the handshake."""

    def emulate(self, state: State, ack: Ack) -> Emulated | None:
        """Without SACK: what duplicates stand for, counted so that the pipe falls with each.
        Otherwise they are not counted in the pipe."""
        return None

    def counts_advances(self) -> bool:
        """Whether, with SACK, an ACK that advances counts as a duplicate if it SACKs something new
        (RFC 6675 section 5). Otherwise not."""
        return False

    def counts_repeat(self, state: State, ack: Ack) -> bool:
        """Whether an ACK that SACKs what is known already counts as a duplicate. Otherwise not."""
        return False

    def recounts(self) -> bool:
        """Whether a timeout begins the count of duplicates anew. Otherwise it does."""
        return True

    def on_spurious(self, state: State, ack: Ack, undone: bool) -> None:
        """A response was spurious and is undone; or, if not `undone`, an original arrived for which
        a retransmission is on its way."""

    def on_timeout(self, state: State) -> float | None:
        """The retransmission timer has expired. Lost is the first unacknowledged segment, and what
        was last sent no later than this time; otherwise all that is outstanding."""
        return None

    def keeps_sacks(self, state: State) -> bool:
        """Whether SACK information outlives a timeout. Otherwise not (RFC 2018 section 8)."""
        return False

    def notices(self) -> Notices:
        """Whether the simulated network has to notify the sender of losses. Otherwise never."""
        return Notices.NEVER

    def on_notice(self, state: State, notice: Notice) -> Lost | None:
        """Judges on a notice of the network."""
        return None


class Ambiguity(Mechanism):
    """May these duplicate ACKs begin a recovery?"""

    axis = "ambiguity"
    required = ("admits",)

    def admits(self, state: State, ack: Ack) -> bool:
        """Whether recovery may begin on this ACK."""
        raise NotImplementedError

    def admits_after_timeout(self) -> bool:
        """Whether what time shows lost may begin a recovery in the slow start after a timeout.
        Otherwise not."""
        return False

    def on_advance(self, state: State, ack: Ack) -> None:
        """An ACK advanced `snd_una`."""


class DetectRetransmission(Mechanism):
    """Is a retransmission lost?"""

    axis = "retransmission"
    required = ("on_ack",)

    def on_enter(self, state: State) -> None:
        """Recovery began."""

    def on_ack(self, state: State, ack: Ack) -> Tick | None:
        """Judges on an ACK within recovery that does not end it."""
        raise NotImplementedError

    def on_transmit(self, state: State, cause: str) -> None:
        """A segment was sent within recovery."""


class Response(Mechanism):
    """What does a lost retransmission do to the windows?"""

    axis = "response"
    required = ("on_lost",)

    def on_enter(self) -> None:
        """Recovery began."""

    def on_lost(self, state: State, law: Law) -> Windows | None:
        """A retransmission was lost within recovery. `law` is the window law of the connection.
        `None` leaves the windows as they are."""
        raise NotImplementedError

    def on_exit(self, state: State, cwnd: int) -> int:
        """Recovery ends with this cwnd; returns what it ends with instead."""
        return cwnd


class Select(Mechanism):
    """What goes next, and when is recovery over?"""

    axis = "select"
    required = ("next",)

    def on_enter(self, state: State) -> None:
        """Recovery began; the first unacknowledged segment goes by itself."""

    def ends(self, state: State, ack: Ack) -> bool:
        """Whether this ACK ends recovery. Otherwise one of the recovery point does."""
        return ack.ack >= state.recover

    def ends_loss(self, state: State) -> bool:
        """Whether the slow start after a timeout is over. Otherwise at the recovery point."""
        return state.snd_una >= state.recover

    def on_ack(self, state: State, ack: Ack) -> Urgent | None:
        """What an ACK that does not end recovery makes urgent. Otherwise nothing."""
        return None

    def next(self, state: State) -> Next | None:
        """What goes next, given that the window has room for a full segment."""
        raise NotImplementedError

    def on_transmit(self, state: State, cause: str) -> None:
        """A segment was sent within recovery."""

    def goes_back(self) -> bool:
        """Whether recovery is a slow start from the first unacknowledged segment (Tahoe), and not a
        phase of its own. Otherwise not."""
        return False

    def uses_sacks_after_timeout(self) -> bool:
        """Whether the slow start after a timeout leaves out what SACK blocks report from then on.
        Otherwise it does."""
        return True

    def everywhere(self) -> bool:
        """Whether `next` chooses in the slow start after a timeout too. Otherwise not."""
        return False

    def refits(self) -> bool:
        """Whether what goes again is cut to a window that has shrunk, and short segments go again
        as one. Otherwise not."""
        return False


class Fill(Mechanism):
    """What goes when there is no new data?"""

    axis = "fill"
    required = ("next",)

    def on_enter(self, state: State) -> None:
        """Recovery began."""

    def next(self, state: State) -> Filler | None:
        """What goes instead; asked at most once for each ACK."""
        raise NotImplementedError


class Regulate(Mechanism):
    """How much may an ACK within recovery release? What returns bytes returns the new cwnd, but for
    `in_flight` and `deflated`."""

    axis = "regulate"
    required = ("in_flight", "on_enter", "on_ack", "on_exit")

    def in_flight(self, state: State) -> int:
        """What counts against cwnd within recovery."""
        raise NotImplementedError

    def everywhere(self) -> bool:
        """Whether cwnd counts segments in the network outside recovery too, as Linux does.
        Otherwise FlightSize there."""
        return False

    def on_enter(self, state: State, ack: Ack) -> int:
        """Recovery began; `state.ssthresh` is the target."""
        raise NotImplementedError

    def on_ack(self, state: State, ack: Ack) -> int:
        """An ACK arrived that does not end recovery."""
        raise NotImplementedError

    def on_exit(self, state: State, ack: Ack) -> int:
        """An ACK ends recovery."""
        raise NotImplementedError

    def on_lost(self, state: State, bytes: int) -> int:
        """Losses were found between two ACKs, by which the pipe has fallen by so many bytes.
        Otherwise cwnd stays."""
        return state.cwnd

    def on_timeout(self, state: State) -> int:
        """The retransmission timer has expired. Otherwise one segment (RFC 5681 section 3.1)."""
        return state.mss

    def on_transmit(self, state: State, cause: str, len: int) -> int:
        """A segment was sent within recovery. Otherwise cwnd stays."""
        return state.cwnd

    def on_round_trip(self, state: State) -> int:
        """What was sent before the retransmission has left the network (`Tick.round_trip`).
        Otherwise cwnd stays."""
        return state.cwnd

    def most(self, state: State, ack: Ack) -> int:
        """The most segments that this ACK may release, in whatever phase. Otherwise any number."""
        return 2**32 - 1

    def deflated(self, state: State) -> int | None:
        """cwnd without its inflation, which a timeout within recovery goes by. Otherwise cwnd."""
        return None


class Probe(Mechanism):
    """What is sent before a recovery begins?"""

    axis = "probe"

    def allowance(self, state: State) -> int:
        """New data that may be outstanding beyond cwnd while duplicates are counted."""
        return 0

    def allows_old_data(self) -> bool:
        """Whether the allowance is for old data too, which goes after a timeout. Otherwise not."""
        return False

    def one(self, state: State, ack: Ack) -> int | None:
        """One segment goes on this ACK if so many bytes beyond cwnd are room for it. Otherwise
        none."""
        return None

    def on_advance(self, state: State, ack: Ack) -> int:
        """An ACK advanced `snd_una` outside recovery: how many duplicates remain counted."""
        return 0

    def on_exit(self, state: State, ack: Ack) -> int:
        """An ACK ended recovery: how many duplicates count already."""
        return 0

    def deadline(self, state: State) -> float | None:
        """When `on_deadline` wants to be called. Otherwise never."""
        return None

    def on_deadline(self, state: State) -> ProbeNow | None:
        """The time has come. Otherwise nothing goes."""
        return None

    def reported(self, state: State, ack: Ack) -> bool:
        """Whether the D-SACK of this ACK reports the probe that is on its way. Otherwise not."""
        return False

    def on_ack_first(self, state: State, ack: Ack, law: Law) -> Windows | None:
        """As `on_ack`, before anything has responded to the ACK."""
        return None

    def on_ack(self, state: State, ack: Ack, law: Law) -> Windows | None:
        """An ACK has been dealt with. If it shows that a probe has repaired a loss by itself: the
        new windows, which the window law has a say in. Otherwise they stay."""
        return None


class Undo(Mechanism):
    """Was the response to a loss spurious?"""

    axis = "undo"
    required = ("on_ack",)

    def on_response(self, state: State, timeout: bool) -> None:
        """A loss response begins: a timeout or a recovery."""

    def on_retransmit(self, state: State, seq: int, len: int) -> None:
        """A segment is retransmitted."""

    def on_ack(self, state: State, ack: Ack) -> Verdict | None:
        """Judges on an ACK, also after the response has ended."""
        raise NotImplementedError

    def respond(self, state: State, ack: Ack) -> Windows | None:
        """A verdict, its own or another mechanism's, is `Verdict.spurious()`: the windows to go on
        with. Otherwise those from before the response are restored."""
        return None


class Window(Mechanism):
    """How does cwnd grow, and where is it after a loss? What returns a number returns bytes."""

    axis = "window"
    required = ("on_ack", "on_loss", "on_timeout")

    def initial(self, mss: int) -> int:
        """The initial window where the scenario names none. Otherwise RFC 6928's."""
        return min(10 * mss, max(2 * mss, 14_600))

    def on_ack(self, state: State, ack: Ack) -> int:
        """The new cwnd after an ACK that advanced `snd_una` outside recovery."""
        raise NotImplementedError

    def on_loss(self, state: State, flight: int) -> int:
        """The new ssthresh when recovery begins with so many bytes outstanding."""
        raise NotImplementedError

    def on_timeout(self, state: State, flight: int, repeated: bool) -> int:
        """The new ssthresh on a timeout; `repeated` if the segment timed out before."""
        raise NotImplementedError

    def after_detection(self) -> bool:
        """Whether an ACK lets cwnd grow only once detection has judged, and not if it begins a
        recovery. Otherwise before."""
        return False

    def on_measured(self, state: State, ack: Ack) -> int | None:
        """An ACK arrived, in whatever phase. The new ssthresh, if that changes."""
        return None

    def on_sent(self, state: State, in_flight: int, rto: float) -> Windows | None:
        """New data was sent, or cwnd holds it back. The new windows, if they change."""
        return None

    def on_start(self, state: State, idle: float) -> None:
        """Data is sent with none in the network; the last was sent this long ago."""

    def on_idle(self, state: State, idle: float, rto: float) -> Windows:
        """Data may be sent again, with none sent for longer than the timeout interval `rto`.
        Otherwise cwnd is at most the initial window (RFC 5681 section 4.1)."""
        return Windows(state.ssthresh, min(state.cwnd, state.initial_window))

    def on_go_back(self, state: State) -> None:
        """A recovery of the go-back kind (Tahoe's) begins a slow start."""

    def ends_slow_start(self, state: State) -> bool:
        """Asked after each `on_ack`: whether slow start ends, with ssthresh = cwnd. Otherwise
        not."""
        return False

    def pacing_rate(self, state: State) -> int | None:
        """The rate at which segments are to leave, in bytes a second; it counts if the strategy
        paces. Otherwise the law has none."""
        return None

    def on_undo(self, state: State) -> None:
        """The loss response was spurious, and cwnd and ssthresh are as before it."""


class Timer(Mechanism):
    """When does the retransmission timer expire?

    One that defines `on_new` or `on_advance` times segments itself, and gets no samples but that of
    the handshake.
    """

    axis = "timer"
    required = ("on_sample", "rto", "min_rto")

    def on_sample(self, state: State, sent: float) -> bool:
        """A segment sent then was acknowledged now. Whether the sample was used."""
        raise NotImplementedError

    def rto(self) -> float:
        """The timeout interval before back-off."""
        raise NotImplementedError

    def min_rto(self) -> float:
        """The smallest interval unless the scenario says otherwise."""
        raise NotImplementedError

    def max_rto(self) -> float:
        """The largest interval, back-off included, unless the scenario says otherwise. Otherwise a
        minute."""
        return 60.0

    def set_min_rto(self, min: float) -> None:
        """The least interval that the scenario asks for, which `rto` is held to in any case."""

    def srtt(self) -> float:
        """SRTT. Otherwise zero, for a timer that keeps none."""
        return 0.0

    def rttvar(self) -> float:
        """RTTVAR. Otherwise zero, for a timer that keeps none."""
        return 0.0

    def retime(self, srtt: float, rttvar: float) -> None:
        """Goes on from these estimates (`Verdict.retime`)."""

    def samples_sacks(self) -> bool:
        """Whether segments that SACK blocks report give samples. Otherwise not."""
        return False

    def on_new(self, state: State, end: int) -> None:
        """New data was sent now that ends at this position."""

    def on_response(self, timeout: bool) -> None:
        """A recovery begins, or a timeout. Called if the timer times segments itself."""

    def on_advance(self, state: State, ack: Ack) -> Timed | None:
        """An ACK advanced `snd_una`, and recovery has dealt with it."""
        return None

    def serves_all(self) -> bool:
        """Whether one timer serves retransmission, probes and the reordering window, so that it
        waits for one of them at a time. Otherwise not."""
        return False

    def restarts_on(self, cause: str, replaces_lost: bool) -> bool:
        """Whether a retransmission for this cause restarts the timer; `replaces_lost` if it takes
        the place of one that was lost. Otherwise none does (RFC 6298)."""
        return False

    def expiry(self, state: State, rto: float) -> float:
        """When a timer set now for `rto` expires."""
        return state.now + rto


class Segmentation(Mechanism):
    """When may a segment of new data leave, and which one asks for an ACK?"""

    axis = "segmentation"
    required = ("next",)

    def on_write(self, state: State, start: int) -> None:
        """The application has written the bytes from this position on."""

    def on_ack(self, state: State, ack: Ack) -> None:
        """An ACK has been dealt with."""

    def next(self, state: State, in_flight: int) -> int | None:
        """Bytes of the next segment of new data; `None` if nothing leaves now."""
        raise NotImplementedError

    def held(self) -> bool:
        """Whether the last `next` held back what cwnd has room for. Otherwise not."""
        return False

    def on_sent(self, state: State, sending: Sending) -> bool:
        """A segment is being sent: whether it has PSH. Otherwise only the last one written has."""
        return False


class Pacing(Mechanism):
    """At what rate may segments leave that the windows allow?"""

    axis = "pacing"
    required = ("next", "on_sent")

    def update(self, state: State, law: int | None) -> None:
        """The rate may change: the sender begins, or an ACK has been dealt with. `law` is the rate
        of the window law in bytes a second, if it sets one."""

    def next(self, state: State) -> float:
        """When the next segment may leave; `state.now` or before for at once."""
        raise NotImplementedError

    def on_sent(self, state: State, len: int) -> None:
        """A segment with so many bytes of data is leaving."""
        raise NotImplementedError


#: In the order of the guide.
AXES: tuple[type[Mechanism], ...] = (
    Detect,
    Ambiguity,
    DetectRetransmission,
    Response,
    Select,
    Fill,
    Regulate,
    Probe,
    Undo,
    Window,
    Timer,
    Segmentation,
    Pacing,
)
