"""The axes as classes: what a mechanism of each is asked. Those of recovery are here."""

from __future__ import annotations

from ._answers import (
    Emulated,
    Filler,
    Lost,
    Next,
    Notices,
    OnAck,
    ProbeNow,
    Tick,
    Verdict,
    Windows,
)
from ._base import Mechanism
from ._laws import Pacing, Segmentation, Timer, Window
from ._native import Ack, Law, Notice, Segment, State


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

    def on_spurious(self, state: State, ack: Ack, undone: bool, losses_stand: bool) -> None:
        """A response was spurious and is undone; or, if not `undone`, an original arrived for which
        a retransmission is on its way. `losses_stand`: what was judged lost was, as far as the undo
        knows."""

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

    def on_ack(self, state: State, ack: Ack) -> OnAck | None:
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
