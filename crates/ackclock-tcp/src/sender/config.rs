//! How a sender behaves, apart from its strategy.

use super::machine::MOST_CWND;
use crate::recovery::window::Window;
use crate::seq::Seq;
use crate::time::{Span, Time};

/// How a sender behaves, apart from its strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderConfig {
    /// Sequence number of the first data byte (the one after the SYN).
    pub isn: Seq,
    /// What our data segments acknowledge.
    pub remote_seq: Seq,
    /// SMSS: payload bytes of a full segment; at least 1.
    pub mss: u32,
    /// Initial window in segments, at least 1; `None` for the bytes that the window law begins with
    /// ([`Window::initial`](crate::recovery::window::Window::initial)).
    pub initial_window: Option<u32>,
    /// Initial slow start threshold in bytes; `None` leaves it unset (RFC 5681 section 3.1:
    /// arbitrarily high).
    pub initial_ssthresh: Option<u64>,
    /// The receive window known before the first ACK arrives, in bytes. More than 2^30, which no
    /// receiver can offer (RFC 7323 section 2.3), counts as that.
    pub initial_rwnd: u64,
    /// Growth ends at a cwnd of so many bytes, at least 1; `None` for no bound. Recovery may
    /// inflate cwnd beyond it (RFC 5681 section 3.2).
    pub max_cwnd: Option<u64>,
    /// The peer's window scale shift, 0 to 14 (RFC 7323 section 2). More counts as 14.
    pub wscale: u8,
    /// SACK was negotiated.
    pub sack: bool,
    /// Timestamps were negotiated: every segment carries one, and an ACK of new data gives an RTT
    /// sample also where it covers a retransmission (RFC 6298 section 3).
    pub timestamps: bool,
    /// ECN was negotiated (RFC 3168): new data is sent as ECT(0), and an ECN-Echo lowers the
    /// windows.
    pub ecn: bool,
    /// Nagle's algorithm (RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// Most segments that one input (an ACK, a write, a timer) may release, at least 1 (exit-burst
    /// control, RFC 6582 section 3.2). Retransmissions that are due at once do not count. `None`
    /// for no limit.
    pub max_burst: Option<u32>,
    /// The round trip that the handshake measured (RFC 6298 section 2.2): the timer's first
    /// sample. It does not count in [`Stats`](crate::Stats).
    pub handshake_rtt: Option<Span>,
    /// When the handshake ended. A timer that counts ticks counts those within that round trip,
    /// which begins at the origin of time where it would begin before it.
    pub handshake_end: Time,
    /// How often the handshake retransmitted our SYN or SYN/ACK. More than once leaves one segment
    /// to begin with (RFC 6928 section 2).
    pub syn_retransmissions: u32,
    /// An echoed timestamp has shown that the first of them arrived. What answered it may have been
    /// lost, and RFC 6928 counts that; Linux does not (`tcp_try_undo_spurious_syn`).
    pub syn_spurious: bool,
    /// The retransmission timeout before the first sample; `None` takes the timer model's own, 1 s
    /// as a rule (RFC 6298 section 2.1). 3 s where a SYN was lost and the handshake gave no
    /// sample (section 5.7). [`SenderConfig::min_rto`] does not raise it.
    pub initial_rto: Option<Span>,
    /// Lower bound of the retransmission timeout; `None` takes the timer model's own. The upper
    /// bound goes before it.
    pub min_rto: Option<Span>,
    /// Upper bound of the retransmission timeout, back-off included (RFC 6298 section 2.5: at
    /// least 60 s); `None` takes the timer model's own
    /// ([`Timer::max_rto`](crate::recovery::timer::Timer::max_rto)). Below a millisecond it counts
    /// as one, so that a timer never expires at the moment that sets it.
    pub max_rto: Option<Span>,
    /// Restart from the initial window after an idle time of more than an RTO (RFC 5681 section
    /// 4.1). Without it, Linux's window laws also keep a cwnd that the application does not use.
    pub idle_restart: bool,
    /// Record events.
    pub events: bool,
    /// Phase of coarse timers and of Linux's ticks: the first tick comes this long after the origin
    /// of time.
    pub tick_phase: Span,
}

impl Default for SenderConfig {
    fn default() -> Self {
        SenderConfig {
            isn: Seq(0),
            remote_seq: Seq(0),
            mss: 1460,
            initial_window: None,
            initial_ssthresh: None,
            initial_rwnd: 65535,
            max_cwnd: None,
            wscale: 7,
            sack: true,
            timestamps: false,
            ecn: false,
            nagle: false,
            max_burst: None,
            handshake_rtt: None,
            handshake_end: Time::ZERO,
            syn_retransmissions: 0,
            syn_spurious: false,
            initial_rto: None,
            min_rto: None,
            max_rto: None,
            idle_restart: true,
            events: false,
            tick_phase: Span::ZERO,
        }
    }
}

/// What of it counts once the sender has begun. It takes a quarter of the memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// `u64::MAX` for no bound.
    pub max_cwnd: u64,
    pub isn: Seq,
    pub remote_seq: Seq,
    /// `u32::MAX` for no limit.
    pub max_burst: u32,
    initial_window: Option<u32>,
    pub syn_retransmissions: u32,
    syn_spurious: bool,
    pub wscale: u8,
    pub timestamps: bool,
    pub ecn: bool,
    pub events: bool,
    /// What the path has room for; a segment has less where the window law bounds it.
    pub mss: u32,
}

impl Settings {
    pub fn of(config: &SenderConfig) -> Settings {
        Settings {
            max_cwnd: config.max_cwnd.map_or(u64::MAX, |most| most.max(1)),
            isn: config.isn,
            remote_seq: config.remote_seq,
            max_burst: config.max_burst.map_or(u32::MAX, |most| most.max(1)),
            initial_window: config.initial_window,
            syn_retransmissions: config.syn_retransmissions,
            syn_spurious: config.syn_spurious,
            wscale: config.wscale.min(14),
            timestamps: config.timestamps,
            ecn: config.ecn,
            events: config.events,
            mss: config.mss.max(1),
        }
    }

    /// SMSS with this window law, where the receiver never offered more than `max_window`.
    pub fn segment_bytes(&self, max_window: u64, law: &dyn Window) -> u64 {
        let mss = self.mss.into();
        law.segment(mss, max_window).clamp(1, mss)
    }

    /// RFC 6928 section 2: more than one SYN or SYN/ACK was retransmitted.
    fn lost_syns(&self, law: &dyn Window) -> bool {
        self.syn_retransmissions > 1 && !(self.syn_spurious && law.counts_segments())
    }

    /// IW in bytes, with this SMSS and window law. Lost SYNs leave one segment (RFC 5681 section
    /// 3.1); to Linux's laws that is the first cwnd alone (`tcp_init_transfer`), and
    /// `tcp_init_cwnd` stays.
    pub fn initial_window_bytes(&self, mss: u64, law: &dyn Window) -> u64 {
        if self.lost_syns(law) && !law.counts_segments() {
            return mss;
        }
        let segments = self.initial_window.map(|n| u64::from(n.max(1)));
        segments.map_or_else(|| law.initial(mss), |n| n * mss).clamp(1, MOST_CWND)
    }

    /// The first cwnd, given IW.
    pub fn first_cwnd(&self, mss: u64, initial_window: u64, law: &dyn Window) -> u64 {
        let cwnd = if self.lost_syns(law) { mss } else { initial_window };
        cwnd.min(self.max_cwnd)
    }
}
