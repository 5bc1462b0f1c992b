"""The axes of what holds all the time, as classes: windows, the timer, and how segments leave."""

from __future__ import annotations

from ._answers import Timed, Windows
from ._base import Mechanism
from ._native import Ack, Outgoing, State


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

    def on_sent(self, state: State, segment: Outgoing) -> bool:
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
