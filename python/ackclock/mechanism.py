"""Mechanisms of your own: subclass the class of an axis, and `register` it.

A mechanism sees copies of two values, the `State` of the sender and what one `Ack` says. It returns
a decision; only the sender changes windows, timers and the scoreboard. Each connection gets an
object of its own. An exception in it ends the run with its traceback.

The guide's chapter on mechanisms says what each axis decides. Positions and sizes are bytes, times
are seconds. What a class does not define is as the class of the axis says.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from . import _native
from ._native import Ack, Segment, State

__all__ = [
    "Ack",
    "Ambiguity",
    "Detect",
    "DetectRetransmission",
    "Fill",
    "Filler",
    "Lost",
    "Mechanism",
    "Next",
    "Probe",
    "Regulate",
    "Response",
    "Segment",
    "Segmentation",
    "Select",
    "Sending",
    "State",
    "Tick",
    "Timer",
    "Undo",
    "Urgent",
    "Verdict",
    "Window",
    "Windows",
    "register",
]


class Lost(NamedTuple):
    """What a detection judges lost; `None` is nothing."""

    what: str
    position: int = 0
    time: float = 0.0

    @classmethod
    def head(cls) -> Lost:
        """The first unacknowledged segment."""
        return cls("head")

    @classmethod
    def below(cls, position: int) -> Lost:
        """Every segment that ends at or below this position and is not sacked."""
        return cls("below", position)

    @classmethod
    def sent_before(cls, time: float, position: int) -> Lost:
        """Every segment that is not sacked and was last sent before this time, or at it with an end
        at or below the position."""
        return cls("sent_before", position, time)


class Tick(NamedTuple):
    """What an ACK says of retransmissions; `None` is nothing."""

    what: str
    position: int = 0

    @classmethod
    def lost(cls) -> Tick:
        """That of the first unacknowledged segment is lost."""
        return cls("lost")

    @classmethod
    def lost_before(cls, position: int) -> Tick:
        """Lost is every retransmission sent before the data that ends at this position."""
        return cls("lost_before", position)

    @classmethod
    def mark(cls) -> Tick:
        """Send a new segment if this ACK releases none: its ACK will show more."""
        return cls("mark")

    @classmethod
    def round_trip(cls) -> Tick:
        """What was sent before the retransmission has left the network."""
        return cls("round_trip")


class Windows(NamedTuple):
    """New values of both windows."""

    ssthresh: int
    cwnd: int


class Urgent(NamedTuple):
    """What has to happen on an ACK within recovery, window or not."""

    #: Retransmit the first unacknowledged segment at once.
    retransmit_head: bool = False
    #: Restart the retransmission timer.
    restart_timer: bool = False


class Next(NamedTuple):
    """What goes next within recovery; `None` is nothing."""

    what: str
    segment: int = 0
    counts: bool = True

    @classmethod
    def sequential(cls) -> Next:
        """The data at `snd_nxt`."""
        return cls("sequential")

    @classmethod
    def retransmit(cls, index: int, *, counts: bool = True) -> Next:
        """The segment `state.segments[index]`; `counts` says whether it counts in the pipe."""
        return cls("retransmit", index, counts)


class Filler(NamedTuple):
    """What goes in place of new data; `None` is nothing."""

    what: str
    number: int

    @classmethod
    def retransmit(cls, index: int) -> Filler:
        """The segment `state.segments[index]` again."""
        return cls("retransmit", index)

    @classmethod
    def header_only(cls, position: int) -> Filler:
        """A segment without data whose sequence number stands for this position."""
        return cls("header_only", position)


class Verdict:
    """What an undo mechanism concludes; `None` is nothing yet."""

    #: The loss response was spurious: restore what was saved when it began.
    SPURIOUS: ClassVar[str] = "spurious"
    #: Nothing is judged lost on this ACK, and only new data goes.
    HOLD: ClassVar[str] = "hold"
    #: After a timeout: new data goes first.
    NEW_FIRST: ClassVar[str] = "new_first"
    #: After a timeout: send two new segments before any further retransmission.
    SEND_NEW: ClassVar[str] = "send_new"
    #: After `SEND_NEW`: it was needed.
    NEEDED: ClassVar[str] = "needed"


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


class Ambiguity(Mechanism):
    """May these duplicate ACKs begin a recovery?"""

    axis = "ambiguity"
    required = ("admits",)

    def admits(self, state: State, ack: Ack) -> bool:
        """Whether recovery may begin on this ACK."""
        raise NotImplementedError

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

    def on_lost(self, state: State) -> Windows | None:
        """A retransmission was lost within recovery. `None` leaves the windows as they are."""
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

    def on_ack(self, state: State, ack: Ack) -> Urgent | None:
        """What an ACK that does not end recovery makes urgent. Otherwise nothing."""
        return None

    def next(self, state: State) -> Next | None:
        """What goes next, given that the window has room for a full segment."""
        raise NotImplementedError

    def on_transmit(self, state: State, cause: str) -> None:
        """A segment was sent within recovery."""


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
    """How much may an ACK within recovery release? What returns a number returns the new cwnd."""

    axis = "regulate"
    required = ("in_flight", "on_enter", "on_ack", "on_exit")

    def in_flight(self, state: State) -> int:
        """What counts against cwnd within recovery."""
        raise NotImplementedError

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


class Probe(Mechanism):
    """What is sent before a recovery begins?"""

    axis = "probe"

    def allowance(self, state: State) -> int:
        """New data that may be outstanding beyond cwnd while duplicates are counted."""
        return 0

    def on_advance(self, state: State, ack: Ack) -> int:
        """An ACK advanced `snd_una` outside recovery: how many duplicates remain counted."""
        return 0

    def on_exit(self, state: State, ack: Ack) -> int:
        """An ACK ended recovery: how many duplicates count already."""
        return 0

    def deadline(self, state: State) -> float | None:
        """When `on_deadline` wants to be called. Otherwise never."""
        return None

    def on_deadline(self, state: State) -> bool:
        """Whether one new segment goes, or the last one again if there is none."""
        return False


class Undo(Mechanism):
    """Was the response to a loss spurious?"""

    axis = "undo"
    required = ("on_ack",)

    def on_response(self, state: State, timeout: bool) -> None:
        """A loss response begins: a timeout or a recovery."""

    def on_retransmit(self, state: State, seq: int, len: int) -> None:
        """A segment is retransmitted."""

    def on_ack(self, state: State, ack: Ack) -> str | None:
        """Judges on an ACK: one of `Verdict`."""
        raise NotImplementedError


class Window(Mechanism):
    """How does cwnd grow, and where is it after a loss?"""

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

    def on_undo(self, state: State) -> None:
        """The loss response was spurious, and cwnd and ssthresh are as before it."""


class Timer(Mechanism):
    """When does the retransmission timer expire?"""

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

    def srtt(self) -> float:
        """SRTT. Otherwise zero, for a timer that keeps none."""
        return 0.0

    def rttvar(self) -> float:
        """RTTVAR. Otherwise zero, for a timer that keeps none."""
        return 0.0

    def expiry(self, state: State, rto: float) -> float:
        """When a timer set now for `rto` expires."""
        return state.now + rto


class Sending(NamedTuple):
    """A segment with data that is being sent."""

    #: Position of its first byte.
    seq: int
    #: Its bytes.
    len: int
    #: It is new data.
    first: bool
    #: Why it is sent.
    cause: str
    #: Bytes that count against cwnd, with it.
    in_flight: int


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
        """Whether the last `next` held back what cwnd has room for."""
        return False

    def on_sent(self, state: State, sending: tuple[int, int, bool, str, int]) -> bool:
        """A segment is being sent (`Sending(*sending)`): whether it has PSH."""
        return False


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
)


def register(
    name: str,
    mechanism: type[Mechanism],
    *,
    needs_sack: bool = False,
    without_sack: str | None = None,
) -> None:
    """Registers a mechanism: from then on `newreno+NAME` is a strategy in this process.

    `needs_sack` has connections negotiate SACK for it. Where SACK was not negotiated, the mechanism
    called `without_sack` takes its place, or it stays. A class that was registered under the name
    before is replaced.
    """
    axis = next((axis for axis in AXES if issubclass(mechanism, axis)), None)
    if axis is None:
        raise TypeError(f"{mechanism.__qualname__} is no subclass of an axis such as Detect")
    defined = {key for key in vars(axis) if _defines(mechanism, axis, key)}
    missing = [method for method in axis.required if method not in defined]
    if missing:
        raise TypeError(f"{mechanism.__qualname__} has to define {', '.join(missing)}")
    summary = (mechanism.__doc__ or "").strip().partition("\n")[0]
    _native.register(axis.axis, name, mechanism, defined, summary, needs_sack, without_sack)


def _defines(mechanism: type[Any], axis: type[Any], key: str) -> bool:
    method = getattr(axis, key)
    return callable(method) and getattr(mechanism, key) is not method
