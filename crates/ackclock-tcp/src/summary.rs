//! What one ACK says, summed up once for all mechanisms.

use crate::time::{Span, Time};

/// What one ACK says, computed once and shown to every mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AckSummary {
    /// Its acknowledgment number as a stream position.
    pub ack: u64,
    /// Bytes newly acknowledged cumulatively.
    pub newly_acked: u64,
    /// Of those, bytes that had been selectively acknowledged before.
    pub sacked_before: u64,
    /// Bytes newly acknowledged selectively.
    pub newly_sacked: u64,
    /// Bytes newly judged lost on this ACK (set once detection has run).
    pub newly_lost: u64,
    /// Segments that it says have arrived, duplicates that D-SACK reports included (Linux's
    /// `tcp_newly_delivered`). 0 between two ACKs, where time or the network judges.
    pub delivered: u32,
    /// Segments newly judged lost on this ACK, whose retransmission was lost too included (set once
    /// detection has run).
    pub lost: u32,
    /// It counts as a duplicate: RFC 5681 section 2 without SACK; with it, it SACKs something new
    /// (RFC 6675 section 2, and
    /// [`Detect::counts_advances`](crate::recovery::detect::Detect::counts_advances)).
    pub duplicate: bool,
    /// Duplicates counted before it.
    pub prior_dupacks: u32,
    /// `snd_una` before it.
    pub prior_una: u64,
    /// Bytes outstanding before it.
    pub prior_flight: u64,
    /// FlightSize before it, as a loss would halve it: without what was sent beyond cwnd (RFC 5681
    /// section 3.2 step 2), and without what a loss response has given up.
    pub flight_size: u64,
    /// The range that a D-SACK block reported (RFC 2883).
    pub dsack: Option<(u64, u64)>,
    /// Segments of that range; 0 if more duplicates were reported than segments retransmitted, so
    /// that this one may be the network's (Linux's `tcp_dsack_seen`).
    pub dsack_segments: u32,
    /// It reports the tail loss probe that is on its way (Linux's `FLAG_DSACK_TLP`).
    pub dsack_of_probe: bool,
    /// Segments of that range that were outstanding and had been retransmitted, or were SACKed in
    /// one run with such a segment (Linux's `tcp_shifted_skb`).
    pub dsack_again: u32,
    /// Where the first of those begins that was SACKed before: Linux takes it for one that came
    /// late (`tcp_sacktag_one`).
    pub(crate) dsack_late: Option<u64>,
    /// Begin and end of the first segment that it newly reports, cumulatively or selectively, and
    /// that was sent once. One whose SACK was forgotten (RFC 2018 section 8) does not count, except
    /// with Linux's detection.
    pub original: Option<(u64, u64)>,
    /// The highest position that a SACK block of this ACK covered, 0 without one.
    pub sacked_to: u64,
    /// The round trip that it measured (RFC 6298 section 3, RFC 7323 section 4).
    pub rtt: Option<Span>,
    /// The round trip of the segment sent last among those that it newly acknowledged and that were
    /// sent once (Linux's `ca_rtt_us`).
    pub rtt_latest: Option<Span>,
    /// The timestamp that it echoed; `None` if timestamps were not negotiated.
    pub ts_echo: Option<u32>,
    /// When the last of those segments was sent that it newly acknowledged and that had been sent
    /// more than once; `None` if there was none.
    pub retransmission_acked: Option<Time>,
    /// When the last segment was last sent of which it acknowledges a byte; `None` if it
    /// acknowledges none.
    pub last_sent: Option<Time>,
    /// Where what was left of a segment began that it acknowledges in part; `None` if none was.
    pub(crate) cut: Option<u64>,
    /// RFC 5681 section 2: acknowledgment number and window are those before it, and it carries no
    /// data. Whether anything was outstanding, or it carries SACK blocks, is not looked at.
    pub unchanged: bool,
    /// Its sequence number is above those of all before it, since the SYN/ACK or data of the peer
    /// came since the last one; or its window is 0. To Linux it updates the window, even to
    /// the same, and so is no duplicate (`tcp_may_update_window`, `FLAG_WIN_UPDATE` in
    /// `FLAG_NOT_DUP`).
    pub(crate) moved: bool,
    /// It carries ECN-Echo (RFC 3168 section 6.1.3), on a connection that negotiated ECN.
    pub(crate) ece: bool,
    /// A retransmission was detected as lost on this ACK (set once that axis has run).
    pub retransmission_lost: bool,
}

impl AckSummary {
    /// Others have overtaken it: a larger acknowledgment number came before (Linux's `old_ack` in
    /// `tcp_ack`).
    pub(crate) fn is_old(&self) -> bool {
        self.ack < self.prior_una
    }

    /// The timestamp that it echoed, where 0 is none: `rcv_tsecr` has no other sign of it
    /// (`tcp_tsopt_ecr_before`, `tcp_ack_update_rtt`).
    pub(crate) fn rcv_tsecr(&self) -> Option<u32> {
        self.ts_echo.filter(|&echo| echo != 0)
    }

    /// It acknowledges at least one segment in full (Linux's `FLAG_DATA_ACKED`).
    pub(crate) fn acks_a_segment(&self) -> bool {
        self.newly_acked > 0 && self.cut != Some(self.prior_una)
    }

    /// It is a duplicate to Linux, SACK blocks aside (no flag of `FLAG_NOT_DUP`).
    pub(crate) fn is_bare_duplicate(&self) -> bool {
        self.unchanged && !self.moved
    }
}
