"""What mechanisms answer. Each is a tuple or a text, and can be read as one."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Lost(NamedTuple):
    """What a detection judges lost; `None` is nothing."""

    what: str
    position: int = 0
    time: float = 0.0
    number: int = 0
    again: bool = False

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

    @classmethod
    def transmission(cls, seq: int, number: int, *, again: bool = False) -> Lost:
        """One transmission of the segment that begins at `seq`; number 1 is its first. `again` says
        that it is a retransmission of the recovery under way, to whose loss the windows respond
        once more."""
        return cls("transmission", seq, number=number, again=again)

    @classmethod
    def standing(cls) -> Lost:
        """Nothing new; but of what is marked lost no recovery has begun yet."""
        return cls("standing")

    @classmethod
    def replace(cls, seq: int, number: int) -> Lost:
        """One transmission of one segment, which is replaced at once. The windows respond only when
        it is judged lost by `transmission`."""
        return cls("replace", seq, number=number)


class Notices(StrEnum):
    """Whether and when the simulated network notifies a sender of losses. No real one does."""

    NEVER = "never"
    #: When the ACK of the transmission would have come, had it not been lost.
    AFTER_ROUND_TRIP = "after_round_trip"
    #: At the moment of the loss, and again when its ACK would have come.
    AT_ONCE = "at_once"


class Emulated(NamedTuple):
    """What duplicates say without SACK."""

    #: Outstanding segments that they are taken for.
    segments: int
    #: Segments that this ACK says have arrived, duplicates and acknowledged ones.
    delivered: int


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
    """New values of both windows, in bytes."""

    ssthresh: int
    cwnd: int


class OnAck(NamedTuple):
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


class ProbeNow(StrEnum):
    """What a probe sends when its time has come; `None` is nothing."""

    #: One new segment, or the last outstanding one again if there is no new data.
    NEW_OR_LAST = "new_or_last"
    #: The same, and what goes again counts in the pipe only once, as what it repeats.
    NEW_OR_COPY = "new_or_copy"
    #: The first unacknowledged segment again, which counts in the pipe once.
    HEAD = "head"


class Verdict(NamedTuple):
    """What an undo mechanism concludes; `None` is nothing yet."""

    what: str
    windows: Windows = Windows(0, 0)
    losses_stand: bool = False
    goes_on: bool = False
    srtt: float = 0.0
    rttvar: float = 0.0

    @classmethod
    def spurious(cls) -> Verdict:
        """The loss response was spurious: restore what was saved when it began."""
        return cls("spurious")

    @classmethod
    def restore(
        cls, windows: Windows, *, losses_stand: bool = False, goes_on: bool = False
    ) -> Verdict:
        """The loss response was spurious: go on with these windows. `losses_stand` says that what
        is marked lost is lost all the same, `goes_on` that the phase of recovery goes on."""
        return cls("restore", windows, losses_stand, goes_on)

    @classmethod
    def hold(cls) -> Verdict:
        """Nothing is judged lost on this ACK, and only new data goes: an original arrived, but
        retransmissions are on their way."""
        return cls("hold")

    @classmethod
    def new_first(cls) -> Verdict:
        """After a timeout: new data goes first, as far as cwnd has room for it."""
        return cls("new_first")

    @classmethod
    def send_new(cls) -> Verdict:
        """After a timeout: send two new segments before any further retransmission. There has to be
        new data, and window for it."""
        return cls("send_new")

    @classmethod
    def needed(cls) -> Verdict:
        """After `send_new`: the timeout was needed, go on with the retransmissions."""
        return cls("needed")

    @classmethod
    def retime(cls, srtt: float, rttvar: float) -> Verdict:
        """The retransmission timer has to go on from these estimates."""
        return cls("retime", srtt=srtt, rttvar=rttvar)


class Timed(StrEnum):
    """What an ACK means to a timer that times segments itself; `None` is nothing."""

    #: The estimates have changed.
    SAMPLED = "sampled"
    #: A back-off ends.
    ACKNOWLEDGED = "acknowledged"
