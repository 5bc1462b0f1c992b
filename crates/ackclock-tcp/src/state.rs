//! What mechanisms may read of a connection.

use alloc::boxed::Box;

use crate::buffers::Buffers;
use crate::scoreboard::Scoreboard;
use crate::time::{Span, Time};

/// The duplicate ACK threshold (RFC 5681 section 3.2).
pub const DUPTHRESH: u32 = 3;

/// Where a connection stands in loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No loss is being repaired.
    Open,
    /// A recovery that an acknowledgment began.
    Recovery,
    /// The slow start after a timeout (or after Tahoe's fast retransmit), until `recover` is
    /// acknowledged.
    Loss,
}

/// The state of a sender, with the field's names. Sequence numbers are stream positions.
///
/// What every ACK and every segment touch stands last, also in the scoreboard: so it lies together,
/// and fills few cache lines.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[repr(C)]
pub struct State {
    /// IW in bytes (RFC 3390, RFC 6928).
    pub initial_window: u64,
    /// The first unacknowledged byte when the retransmission timer last expired; `None` before
    /// that.
    pub timed_out: Option<u64>,
    /// The least retransmission timeout (RFC 6298 section 2.4), as configured or as the timer has
    /// it.
    pub min_rto: Span,
    /// Recovery point: `snd_max` when the last recovery or timeout happened; 0 before the first.
    pub recover: u64,
    /// `snd_max` when an ECN-Echo last lowered the windows, or with ECN a loss that a probe has
    /// repaired; 0 before the first. Until more is acknowledged, the windows are not lowered again
    /// (RFC 3168 section 6.1.2).
    pub(crate) cwr_point: u64,
    /// Where the last segment ended that was shorter than SMSS when it was first sent (`snd_sml`).
    pub(crate) short_end: u64,
    /// Of `dupacks`, the ones that were counted without an ACK at the end of a recovery (Lin & Kung
    /// section 6.4): no segment has left the network for them.
    pub assumed_dupacks: u32,
    /// Nagle's algorithm is on.
    pub nagle: bool,
    /// It waits for short segments alone
    /// ([`Window::waits_for_short`](crate::recovery::window::Window::waits_for_short)).
    pub(crate) waits_for_short: bool,
    /// The strategy paces what it sends.
    pub(crate) paces: bool,
    /// Idle time lowers cwnd (`tcp_slow_start_after_idle`).
    pub(crate) idle_restart: bool,
    /// The outstanding segments.
    pub board: Scoreboard,
    /// Smoothed round-trip time (RFC 6298 section 2), as the timer keeps it; zero before its first
    /// sample.
    pub srtt: Span,
    // Between the two, so that they are not copied as one number of twice the width. A timer has
    // just written them one by one, and a processor would wait for both.
    /// Phase of coarse timers.
    pub tick_phase: Span,
    /// RTTVAR (RFC 6298 section 2), as the timer keeps it; zero before its first sample.
    pub rttvar: Span,
    /// The time of the input at hand.
    pub now: Time,
    /// SMSS in bytes.
    pub mss: u64,
    /// First unacknowledged byte.
    pub snd_una: u64,
    /// Next byte to send in sequence; set back to `snd_una` by a timeout.
    pub snd_nxt: u64,
    /// Position after the highest byte ever sent.
    pub snd_max: u64,
    /// Right edge of the offered window: nothing at or above it may be sent.
    pub window_edge: u64,
    /// Position after the last byte the application has written.
    pub written: u64,
    /// Congestion window in bytes, inflation included.
    pub cwnd: u64,
    /// Slow start threshold in bytes; `u64::MAX` while unset.
    pub ssthresh: u64,
    /// The largest window the receiver ever offered, in bytes, for silly window avoidance.
    pub max_window: u64,
    /// Buffers of unsent data that are other segments than SMSS makes of it.
    pub(crate) buffers: Option<Box<Buffers>>,
    /// Bytes sent beyond cwnd since duplicates began; they are not part of FlightSize (RFC 5681
    /// section 3.2 step 2).
    pub limited: u64,
    /// When an ACK last advanced `snd_una`; the origin of time before that.
    pub(crate) advanced: Time,
    /// Duplicate ACKs since `snd_una` last advanced, and those that a probe carried over.
    pub dupacks: u32,
    /// Without SACK, outstanding segments that duplicates are taken for
    /// ([`Detect::emulate`](crate::recovery::detect::Detect::emulate)).
    pub emulated: u32,
    /// DupThresh (RFC 5681 section 3.2): three, unless detection adapts it.
    pub dupthresh: u32,
    /// Phase of loss recovery.
    pub phase: Phase,
    /// The reduction for an ECN-Echo is under way, until more than `cwr_point` is acknowledged:
    /// regulation lowers cwnd ACK by ACK (Linux's `TCP_CA_CWR`).
    pub(crate) cwr: bool,
    /// SACK was negotiated, and the strategy makes use of it.
    pub sack: bool,
    /// The application has no more to write.
    pub closed: bool,
    /// The last byte written is a FIN.
    pub fin: bool,
    /// A FIN takes no room in a segment, and goes on the last one that is not sent, as in Linux
    /// (`tcp_send_fin`).
    pub(crate) joins_fin: bool,
}

impl State {
    /// Whether a loss is being repaired, by recovery or after a timeout.
    pub fn recovering(&self) -> bool {
        self.phase != Phase::Open
    }

    /// Duplicate ACKs that were received, each for a segment that has left the network.
    pub fn received_dupacks(&self) -> u32 {
        self.dupacks.saturating_sub(self.assumed_dupacks)
    }

    /// Bytes that have left the network when a recovery begins, on the duplicate that is enough or
    /// before it: none for duplicates that the end of an earlier recovery stands for.
    pub fn departed(&self) -> u64 {
        u64::from(self.received_dupacks().min(self.dupthresh)) * self.mss
    }

    /// Segments in the network, as Linux counts (`tcp_packets_in_flight`).
    pub fn packets_in_flight(&self) -> u32 {
        self.board.in_flight().saturating_sub(self.emulated)
    }

    /// FlightSize: bytes sent and not acknowledged cumulatively.
    pub fn flight(&self) -> u64 {
        self.snd_max - self.snd_una
    }

    /// The smaller of cwnd and the offered window: what BSD and ns-2 halve.
    pub fn window(&self) -> u64 {
        self.cwnd.min(self.window_edge.saturating_sub(self.snd_una))
    }

    /// Whether there is data at `snd_nxt` that the receiver's window allows to send.
    pub fn can_send_sequential(&self) -> bool {
        self.sequential_len().is_some()
    }

    /// Bytes of the segment that comes next in sequence, as far as data, the receiver's window,
    /// silly window avoidance and Nagle's algorithm allow one (RFC 9293 sections 3.8.6.2.1 and
    /// 3.7.4); cwnd is not looked at.
    pub fn sequential_len(&self) -> Option<u32> {
        if self.snd_nxt < self.snd_max {
            let record = self.board.get(self.board.find(self.snd_nxt))?;
            return (record.end() <= self.window_edge).then_some(record.len);
        }
        self.new_len()
    }

    /// Bytes of the next segment of new data, as [`sequential_len`](Self::sequential_len) has it,
    /// wherever `snd_nxt` stands.
    pub fn new_len(&self) -> Option<u32> {
        let held_back = self.holds_short();
        // tcp_write_xmit: only the last buffer waits.
        let held_back = held_back && self.buffers.as_ref().is_none_or(|b| b.is_last());
        self.unsent_len().filter(|&len| !held_back || u64::from(len) == self.mss)
    }

    /// Whether Nagle's algorithm holds a segment back that is shorter than SMSS.
    pub(crate) fn holds_short(&self) -> bool {
        let until = if self.waits_for_short { self.short_end } else { self.snd_max };
        self.nagle && !self.closed && until > self.snd_una
    }

    /// Bytes of a full segment that begins here.
    #[inline(always)]
    pub(crate) fn most_from(&self, seq: u64) -> u64 {
        self.mss + u64::from(self.joined_fin() == Some(seq + self.mss))
    }

    /// The position of a FIN that takes no room.
    pub(crate) fn joined_fin(&self) -> Option<u64> {
        if self.fin && self.joins_fin { self.written.checked_sub(1) } else { None }
    }

    /// As [`State::new_len`], whatever Nagle's algorithm says.
    pub fn unsent_len(&self) -> Option<u32> {
        let end = self.buffers.as_ref().map_or(self.written, |buffers| buffers.head());
        let data = end + u64::from(self.joined_fin() == Some(end)) - self.snd_max;
        let window = self.window_edge.saturating_sub(self.snd_max);
        let len = data.min(self.most_from(self.snd_max)).min(window);
        let sent = len == self.mss || (len > 0 && (data == len || len >= self.max_window / 2));
        sent.then_some(len as u32)
    }
}
