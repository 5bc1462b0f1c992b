//! The event vocabulary: the one language between what produces events (simulation, wire, capture)
//! and what consumes them.

use crate::time::Time;

/// Why a segment was sent.
///
/// The words of this file are the glossary of the project: events, JSON, tables, pages, packet
/// comments and the analysis of captures use them and no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// New data within the window.
    New,
    /// New data on duplicates before recovery (RFC 3042; Lin & Kung sections 4.2 and 6.4). It goes
    /// beyond cwnd; where SACKed data does not count as in flight, as in Linux, it stays within.
    LimitedTransmit,
    /// The first retransmission of a recovery (RFC 5681 section 3.2).
    FastRetransmit,
    /// Any later retransmission of a recovery: on a partial ACK (RFC 6582), of a hole (RFC 6675),
    /// or of a retransmission detected as lost. [`EventKind::Sent::detected_by`] says which.
    Recovery,
    /// A retransmission in the slow start after a timeout.
    SlowStart,
    /// The retransmission that the retransmission timer sends (RFC 6298 section 5.4).
    Timeout,
    /// The same, where nothing was acknowledged since the timeout before.
    BackedOffTimeout,
    /// New data whose ACKs decide whether a timeout was spurious: two segments (RFC 5682 section
    /// 2.1 step 2b), and with `linux-f-rto` what cwnd lets out.
    FRto,
    /// A tail loss probe, of new data or of the last segment again (RFC 8985 section 7.3).
    TailLossProbe,
    /// New data whose ACK times the retransmission of the first unacknowledged segment (Lin & Kung
    /// section 6.3).
    Marker,
    /// What goes out to keep ACKs coming where there is no new data (Lin & Kung section 6.5).
    Filler,
    /// A probe of a closed window (RFC 9293 section 3.8.6.1).
    WindowProbe,
    /// A SYN or SYN/ACK. No event has it: those of a sender begin when the connection is open, and
    /// a FIN counts as a byte of data.
    Handshake,
    /// The capture does not show why; a probe and the retransmission timer may both have sent it
    /// (RFC 8985 section 7.2). A sender of the engine has no such cause.
    Unknown,
}

/// Why a segment left, and which transmission of it that was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sending {
    /// Why.
    pub cause: Cause,
    /// 1 for the first transmission of this segment; 0 for a window probe without data.
    pub transmission: u32,
}

impl Cause {
    /// All causes, in a fixed order.
    pub const ALL: [Cause; 14] = [
        Cause::New,
        Cause::LimitedTransmit,
        Cause::FastRetransmit,
        Cause::Recovery,
        Cause::SlowStart,
        Cause::Timeout,
        Cause::BackedOffTimeout,
        Cause::FRto,
        Cause::TailLossProbe,
        Cause::Marker,
        Cause::Filler,
        Cause::WindowProbe,
        Cause::Handshake,
        Cause::Unknown,
    ];

    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::New => "new",
            Cause::LimitedTransmit => "limited_transmit",
            Cause::FastRetransmit => "fast_retransmit",
            Cause::Recovery => "recovery",
            Cause::SlowStart => "slow_start",
            Cause::Timeout => "timeout",
            Cause::BackedOffTimeout => "backed_off_timeout",
            Cause::FRto => "f_rto",
            Cause::TailLossProbe => "tail_loss_probe",
            Cause::Marker => "marker",
            Cause::Filler => "filler",
            Cause::WindowProbe => "window_probe",
            Cause::Handshake => "handshake",
            Cause::Unknown => "unknown",
        }
    }
}

/// What a timeout says about the recovery that did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TimeoutClass {
    /// Nothing had been retransmitted in this period: fast retransmit was never triggered (Lin &
    /// Kung section 4.1).
    NonTrigger,
    /// Others had been retransmitted in this period, but not this segment (section 4.1).
    MultipleLosses,
    /// The segment had already been retransmitted (section 4.1).
    LostRetransmission,
    /// The timer had expired before, and nothing was acknowledged since.
    BackedOff,
    /// Of a SYN or SYN/ACK, and in captures of a FIN without data. A sender of the engine has no
    /// such timeout: a FIN counts as a byte of data there.
    Handshake,
    /// The capture does not show which.
    Unknown,
}

impl TimeoutClass {
    /// All classes, in a fixed order.
    pub const ALL: [TimeoutClass; 6] = [
        TimeoutClass::NonTrigger,
        TimeoutClass::MultipleLosses,
        TimeoutClass::LostRetransmission,
        TimeoutClass::BackedOff,
        TimeoutClass::Handshake,
        TimeoutClass::Unknown,
    ];

    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            TimeoutClass::NonTrigger => "non_trigger",
            TimeoutClass::MultipleLosses => "multiple_losses",
            TimeoutClass::LostRetransmission => "lost_retransmission",
            TimeoutClass::BackedOff => "backed_off",
            TimeoutClass::Handshake => "handshake",
            TimeoutClass::Unknown => "unknown",
        }
    }
}

/// Up to four SACKed ranges as stream positions, the receiver's order kept; `(left, right)` with
/// `right` exclusive.
pub type SackRanges = [(u64, u64); 4];

/// What happened. Sequence numbers are stream positions: byte 0 is the first data byte of the
/// connection. It is exhaustive on purpose: an output that leaves an event out must not compile.
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
        /// Of a fast retransmit or a recovery: the mechanism that detected the loss of the segment,
        /// or of its last retransmission, or the one that chose it without such a detection.
        detected_by: Option<&'static str>,
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
    /// Recovery began: with an ACK, or with the timer of RACK.
    RecoveryEntered {
        /// The recovery point: recovery lasts until it is acknowledged.
        recover: u64,
        /// Bytes outstanding when it began.
        flight: u64,
        /// RFC 6675's pipe when it began, before anything was retransmitted.
        pipe: u64,
        /// The mechanism that detected the loss.
        by: &'static str,
    },
    /// Recovery ended, or what follows a timeout or a smaller MSS: the phase in which all that was
    /// outstanding is retransmitted.
    ///
    /// A recovery that a timeout ends has two: `by_timeout` right before [`EventKind::TimedOut`],
    /// and the other when what was outstanding is repaired. A timeout outside a recovery has the
    /// second alone. Where an undo ends it, there is [`EventKind::Undone`] instead; where the
    /// recovery goes on after an undo, both.
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
    /// A loss response was judged spurious and undone.
    Undone {
        /// The mechanism that judged.
        by: &'static str,
    },
    /// The windows are lowered for an ECN-Echo, without a loss (RFC 3168 section 6.1.2). Regulation
    /// may lower cwnd further, ACK by ACK.
    Reduced {
        /// cwnd before.
        cwnd_before: u64,
    },
    /// The path takes segments of another size ([`Sender::set_mss`](crate::Sender::set_mss)).
    MssChanged {
        /// SMSS from now on.
        mss: u32,
        /// Bytes outstanding in segments that were too big, which are retransmitted; if there are
        /// any, a recovery under way ends.
        lost: u64,
    },
    /// A segment reached the receiver (reported by the network).
    Arrived {
        /// First byte.
        seq: u64,
        /// Bytes.
        len: u32,
        /// It was not needed: the receiver already held all of it.
        spurious: bool,
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
        /// Why: `queue` if it was full, `early` if the queue drops before it is (RED, FRED, CoDel,
        /// FQ-CoDel, PIE), `outage`, or the loss model's name.
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
            EventKind::Reduced { .. } => "reduced",
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
    /// Next byte to send; below the highest sent while data is retransmitted after a timeout.
    pub snd_nxt: u64,
    /// What.
    pub kind: EventKind,
}
