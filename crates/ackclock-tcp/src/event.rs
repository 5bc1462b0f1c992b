//! The event vocabulary: the one language between what produces events (simulation, wire, capture) and what consumes them.

use crate::time::Time;

/// Why a segment was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// New data.
    New,
    /// The retransmission that begins a recovery (RFC 5681 section 3.2).
    FastRetransmit,
    /// A further retransmission within a recovery: on a partial ACK (RFC 6582) or chosen from the scoreboard (RFC 6675).
    PartialAck,
    /// A retransmission in the slow start that follows a timeout.
    SlowStart,
    /// The retransmission that a timeout sends at once.
    Timeout,
    /// A probe: zero window, tail loss, or new data beyond the window to draw an ACK (RFC 3042).
    Probe,
    /// A segment sent again because its retransmission was found lost too.
    LostRetransmission,
    /// What goes out to keep ACKs coming when there is no new data to send (Lin & Kung section 6.5).
    LimitedData,
}

impl Cause {
    /// All causes, in a fixed order.
    pub const ALL: [Cause; 8] = [
        Cause::New,
        Cause::FastRetransmit,
        Cause::PartialAck,
        Cause::SlowStart,
        Cause::Timeout,
        Cause::Probe,
        Cause::LostRetransmission,
        Cause::LimitedData,
    ];

    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::New => "new",
            Cause::FastRetransmit => "fast_retransmit",
            Cause::PartialAck => "partial_ack",
            Cause::SlowStart => "slow_start_retransmit",
            Cause::Timeout => "timeout",
            Cause::Probe => "probe",
            Cause::LostRetransmission => "lost_retransmission",
            Cause::LimitedData => "limited_data",
        }
    }
}

/// What a timeout says about the recovery that did not happen (Lin & Kung section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeoutClass {
    /// The segment had not been retransmitted, nor had any other in this period: fast retransmit was never triggered.
    NonTrigger,
    /// Others were retransmitted in this period, but not this segment.
    MultipleLosses,
    /// The segment had already been retransmitted.
    LostRetransmission,
}

impl TimeoutClass {
    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            TimeoutClass::NonTrigger => "non_trigger",
            TimeoutClass::MultipleLosses => "multiple_losses",
            TimeoutClass::LostRetransmission => "lost_retransmission",
        }
    }
}

/// Up to four SACKed ranges as stream positions, the receiver's order kept; `(left, right)` with `right` exclusive.
pub type SackRanges = [(u64, u64); 4];

/// What happened. Sequence numbers are stream positions: byte 0 is the first data byte of the connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventKind {
    /// The sender sent `len` bytes from `seq`; `transmission` counts from 1 for each segment.
    Sent {
        /// First byte.
        seq: u64,
        /// Bytes.
        len: u32,
        /// Why.
        cause: Cause,
        /// Which transmission of this segment it is; 1 is the first.
        transmission: u32,
    },
    /// The sender received an ACK.
    Acked {
        /// Acknowledgment number.
        ack: u64,
        /// Duplicate ACKs counted so far, this one included.
        dupacks: u32,
        /// Bytes newly acknowledged cumulatively.
        newly_acked: u64,
        /// Bytes newly selectively acknowledged.
        newly_sacked: u64,
        /// The right edge of the offered window: `ack` plus the window.
        window_edge: u64,
        /// The SACK blocks it carried, D-SACK included; the first `sacks` entries count.
        sack: SackRanges,
        /// How many entries of `sack` count.
        sacks: u8,
        /// The first of them is a D-SACK block (RFC 2883 section 4): it reports a duplicate.
        dsack: bool,
    },
    /// The application wrote more data.
    Written {
        /// First byte.
        seq: u64,
        /// Bytes.
        len: u64,
    },
    /// The sender judged a segment lost.
    Lost {
        /// First byte.
        seq: u64,
        /// Bytes.
        len: u32,
        /// Which transmission of this segment; 1 is the first.
        transmission: u32,
        /// The mechanism that judged.
        by: &'static str,
    },
    /// Recovery began.
    RecoveryEntered {
        /// The recovery point: recovery lasts until it is acknowledged.
        recover: u64,
        /// Bytes outstanding when it began.
        flight: u64,
        /// RFC 6675's pipe when it began, before anything was sent again.
        pipe: u64,
        /// The mechanism that found the loss.
        by: &'static str,
    },
    /// Recovery ended.
    RecoveryLeft {
        /// Whether a timeout ended it.
        by_timeout: bool,
        /// cwnd before its end changed it.
        cwnd_before: u64,
    },
    /// The retransmission timer expired.
    TimedOut {
        /// First unacknowledged byte.
        seq: u64,
        /// Its class.
        class: TimeoutClass,
        /// 0 for the first timeout, 1 for the first backed-off one, and so on.
        backoff: u32,
        /// Bytes outstanding at that moment.
        flight: u64,
        /// cwnd before the timeout changed it.
        cwnd_before: u64,
        /// The timeout interval that expired, in nanoseconds.
        rto: u64,
    },
    /// A loss response was found spurious and undone.
    Undone {
        /// The mechanism that found it.
        by: &'static str,
    },
    /// The path takes segments of another size ([`Sender::set_mss`](crate::Sender::set_mss)).
    MssChanged {
        /// SMSS from now on.
        mss: u32,
        /// Bytes outstanding in segments that were too big, which are sent again; if there are any, a recovery under way ends.
        lost: u64,
    },
    /// A segment reached the receiver (reported by the network).
    Arrived {
        /// First byte.
        seq: u64,
        /// Bytes.
        len: u32,
        /// Whether the receiver already held all of it.
        needless: bool,
    },
    /// The network dropped a data segment of this flow.
    Dropped {
        /// First byte.
        seq: u64,
        /// Bytes.
        len: u32,
        /// Which transmission of this segment; 1 is the first.
        transmission: u32,
        /// The link or queue.
        link: u32,
        /// Why: `queue`, `early` (RED) or the loss model's name.
        why: &'static str,
    },
    /// The network dropped an ACK of this flow.
    AckDropped {
        /// Acknowledgment number.
        ack: u64,
        /// The link or queue.
        link: u32,
        /// As in [`EventKind::Dropped`].
        why: &'static str,
    },
}

impl EventKind {
    /// The name used in every output.
    pub const fn name(&self) -> &'static str {
        match self {
            EventKind::Sent { .. } => "sent",
            EventKind::Acked { .. } => "acked",
            EventKind::Written { .. } => "written",
            EventKind::Lost { .. } => "lost",
            EventKind::RecoveryEntered { .. } => "recovery_entered",
            EventKind::RecoveryLeft { .. } => "recovery_left",
            EventKind::TimedOut { .. } => "timed_out",
            EventKind::Undone { .. } => "undone",
            EventKind::MssChanged { .. } => "mss_changed",
            EventKind::Arrived { .. } => "arrived",
            EventKind::Dropped { .. } => "dropped",
            EventKind::AckDropped { .. } => "ack_dropped",
        }
    }
}

/// Something that happened on a connection, with the sender's state right after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Time,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow start threshold in bytes; `u64::MAX` while it is still unset.
    pub ssthresh: u64,
    /// First unacknowledged byte.
    pub snd_una: u64,
    /// Next byte to send; below the highest sent while data is sent again after a timeout.
    pub snd_nxt: u64,
    /// What.
    pub kind: EventKind,
}
