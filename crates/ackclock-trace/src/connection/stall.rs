//! Times in which a connection made no progress.

use ackclock_tcp::{Time, TimeoutClass};

/// Why nothing went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StallCause {
    /// The retransmission timer expired in it, the last time with this class. Where a SYN/ACK was
    /// lost, that may be the timer of the other end's SYN.
    Timeout(TimeoutClass),
    /// A tail loss probe ended it.
    TailLossProbe,
    /// A tail loss probe ended it, or a timeout ([`Kind::ProbeOrTimeout`]).
    ///
    /// [`Kind::ProbeOrTimeout`]: super::Kind::ProbeOrTimeout
    ProbeOrTimeout,
    /// A recovery that took that long, without a timeout.
    Recovery,
    /// The sender had nothing to send.
    Application,
    /// The receiver's window was full.
    ReceiveWindow,
    /// The receiver's window was closed.
    ZeroWindow,
    /// The capture has a gap here.
    CaptureGap,
    /// ACKs came late.
    Network,
    /// It is not known.
    Unknown,
}

/// No progress for longer than max(2 SRTT, RTO / 2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stall {
    /// The last progress before it.
    pub start: Time,
    /// The first progress after it.
    pub end: Time,
    /// The frame of that progress: an ACK, or a segment where the sender or its window had held
    /// still; 0 if none came.
    pub frame: u64,
    /// Why.
    pub cause: StallCause,
    /// Which of [`Flow::timeouts`] was the last in it, if there was one.
    ///
    /// [`Flow::timeouts`]: super::Flow::timeouts
    pub timeout: Option<usize>,
    /// The ACK that ended it reports that something has come twice (D-SACK).
    pub came_twice: bool,
    /// The other end sent no data in it, before what this one sent last in it.
    pub alone: bool,
    /// When new data or a FIN last went out before its end.
    pub newest: Time,
}
