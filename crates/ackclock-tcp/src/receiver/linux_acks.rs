//! When a Linux receiver acknowledges data in order: quick ACKs at the start, the interval that its
//! delayed ACKs adapt to what arrives, and ACKs for what a PSH ends (`tcp_event_data_recv`,
//! `tcp_measure_rcv_mss`, `__tcp_ack_snd_check`, `tcp_send_delayed_ack`, `tcp_cleanup_rbuf`).
//!
//! As long as the window that it would offer grows, every segment is acknowledged at once
//! (`tcp_grow_window`): from 64 KiB to the buffer, by two segments with each segment. The window
//! that this receiver offers is all of the buffer from the beginning.
//!
//! Left out is the compression of ACKs that report the same gap (`tcp_compressed_ack_kick`).

use crate::time::{Span, Time};

/// A tick of the kernel's clock: `HZ` is 250.
const JIFFY: Span = Span::from_millis(4);
/// `TCP_ATO_MIN` and `TCP_DELACK_MIN` in ticks, and `TCP_DELACK_MAX`: 40 and 200 ms.
const ATO_MIN: u64 = 10;
const DELACK_MAX: u64 = 50;
/// The longest interval where no segment had PSH: half a second.
const MAX_ATO: u64 = 125;
/// `TCP_RTO_MIN`.
const RTO_MIN: Span = Span::from_millis(200);
/// `TCP_MAX_QUICKACKS`.
const MAX_QUICKACKS: u64 = 16;
/// `TCP_MSS_DEFAULT`, and `TCP_MIN_MSS`.
const MSS_DEFAULT: u32 = 536;
const MIN_MSS: u32 = 88;
/// What the first window is taken from: half of the default `tcp_rmem`.
const FIRST_WINDOW: u64 = 65_536;
/// Segments shorter than this let no window grow.
const GROWS: u32 = 128;
/// Bytes of the timestamps option.
const TIMESTAMPS: u32 = 12;

/// What becomes of the ACK for data that came in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Now,
    /// By this time.
    By(Time),
}

/// A segment that came in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub len: u32,
    pub psh: bool,
    pub timestamps: bool,
    /// Bytes of the window that the last ACK offered.
    pub window: u64,
    /// Bytes in order that no ACK covers yet, with these.
    pub unacked: u64,
    /// The application reads them at once.
    pub read: bool,
}

/// Linux's `icsk_ack`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinuxAcks {
    /// The round trip of the handshake in ticks, and the timeout that follows from it.
    rtt: u64,
    rto: u64,
    quick: u64,
    /// In ticks; 0 before the first segment.
    ato: u64,
    lrcvtime: u64,
    /// The window up to which it would offer, and the most that this may be.
    rcv_ssthresh: u64,
    buffer: u64,
    rcv_mss: u32,
    /// The most that `rcv_mss` may be.
    advmss: u32,
    last_seg_size: u32,
    pushed: bool,
    /// A second short segment.
    pushed2: bool,
    pingpong: bool,
    timeout: Option<u64>,
}

fn ticks(t: Time) -> u64 {
    t.0 / JIFFY.0
}

fn to_ticks(span: Span) -> u64 {
    span.0.div_ceil(JIFFY.0)
}

impl LinuxAcks {
    /// After a handshake whose round trip was this, or is not known (zero).
    pub fn new(rtt: Span, mss: u32, buffer: u64) -> LinuxAcks {
        let mut acks = LinuxAcks {
            rtt: 0,
            rto: 0,
            quick: 0,
            ato: 0,
            lrcvtime: 0,
            // tcp_select_initial_window: whole segments.
            rcv_ssthresh: FIRST_WINDOW / u64::from(mss.max(1)) * u64::from(mss),
            buffer,
            rcv_mss: mss.clamp(MIN_MSS, MSS_DEFAULT),
            advmss: mss,
            last_seg_size: 0,
            pushed: false,
            pushed2: false,
            pingpong: false,
            timeout: None,
        };
        acks.on_handshake(rtt);
        acks
    }

    /// The round trip of the handshake (`tcp_rtt_estimator` and `tcp_set_rto` for a first sample).
    pub fn on_handshake(&mut self, rtt: Span) {
        self.rtt = to_ticks(rtt);
        self.rto = to_ticks(rtt + Span(rtt.0.saturating_mul(2)).max(RTO_MIN));
    }

    /// `tcp_incr_quickack`.
    fn quicken(&mut self, window: u64) {
        let quick = (window / (2 * u64::from(self.rcv_mss))).clamp(2, MAX_QUICKACKS);
        self.quick = self.quick.max(quick);
    }

    /// `tcp_enter_quickack_mode`: data came twice, or marked.
    pub fn on_duplicate(&mut self, window: u64) {
        self.quicken(window);
        self.pingpong = false;
        self.ato = ATO_MIN;
    }

    /// `tcp_measure_rcv_mss`.
    fn measure(&mut self, a: &Arrival) {
        let last = core::mem::take(&mut self.last_seg_size);
        if a.len >= self.rcv_mss {
            self.rcv_mss = a.len.min(self.advmss);
            self.pushed |= a.psh;
            return;
        }
        let options = if a.timestamps { TIMESTAMPS } else { 0 };
        if a.len + options >= MSS_DEFAULT || (a.len + options >= MIN_MSS && !a.psh) {
            self.last_seg_size = a.len;
            if a.len == last {
                self.rcv_mss = a.len;
                return;
            }
        }
        self.pushed2 |= self.pushed;
        self.pushed = true;
    }

    /// `tcp_event_data_recv`.
    pub fn on_data(&mut self, now: Time, a: &Arrival) {
        self.measure(a);
        let now = ticks(now);
        let since = now - self.lrcvtime.min(now);
        if self.ato == 0 {
            self.quicken(a.window);
            self.ato = ATO_MIN;
        } else if since <= ATO_MIN / 2 {
            self.ato = self.ato / 2 + ATO_MIN / 2;
        } else if since < self.ato {
            self.ato = (self.ato / 2 + since).min(self.rto);
        } else if since > self.rto {
            self.quicken(a.window);
        }
        self.lrcvtime = now;
        // tcp_grow_window.
        if a.len >= GROWS && self.rcv_ssthresh < self.buffer {
            self.rcv_ssthresh += 2 * u64::from(self.advmss);
            self.quick |= 1;
        }
    }

    /// `__tcp_ack_snd_check`, `tcp_send_delayed_ack`, and then `tcp_cleanup_rbuf`.
    pub fn answer(&mut self, now: Time, a: &Arrival) -> Answer {
        if a.unacked > u64::from(self.rcv_mss) || (self.quick > 0 && !self.pingpong) {
            return Answer::Now;
        }
        let mut ato = self.ato;
        if ato > ATO_MIN {
            let most = if self.pingpong || self.pushed { DELACK_MAX } else { MAX_ATO };
            let most = if self.rtt > 0 { most.min(self.rtt.max(ATO_MIN)) } else { most };
            ato = ato.min(most);
        }
        let now = ticks(now);
        let mut timeout = now + ato.min(DELACK_MAX);
        if let Some(before) = self.timeout {
            if before <= now + ato / 4 {
                return Answer::Now;
            }
            timeout = timeout.min(before);
        }
        if a.read && self.reads(a.unacked, true) {
            return Answer::Now;
        }
        self.timeout = Some(timeout);
        // The timer wheel rounds up to a tick that has not begun (calc_wheel_index).
        Answer::By(Time((timeout + 1) * JIFFY.0))
    }

    /// Whether the application's reading draws the ACK that waits (`tcp_cleanup_rbuf`); `all`: it
    /// has read all there is.
    pub fn reads(&self, unacked: u64, all: bool) -> bool {
        let asked = self.pushed2 || (self.pushed && !self.pingpong);
        unacked > u64::from(self.rcv_mss) || (all && asked)
    }

    /// The timer has expired (`tcp_delack_timer_handler`).
    pub fn on_timer(&mut self) {
        if self.pingpong {
            self.pingpong = false;
            self.ato = ATO_MIN;
        } else {
            self.ato = (self.ato * 2).min(self.rto);
        }
    }

    /// An ACK has left (`tcp_event_ack_sent`), with data or without (`tcp_event_data_sent`).
    pub fn on_sent(&mut self, now: Time, with_data: bool) {
        if self.quick == 1 {
            self.ato = ATO_MIN;
        }
        self.quick = self.quick.saturating_sub(1);
        (self.pushed, self.pushed2, self.timeout) = (false, false, None);
        self.pingpong |= with_data && ticks(now) - self.lrcvtime.min(ticks(now)) < self.ato;
    }
}
