//! What Linux's window laws have in common (`tcp_cong.c`, `tcp_cwnd_validate`, `tcp_cwnd_restart`),
//! in whole segments.

use crate::recovery::linux::{current_ssthresh, jiffies, to_jiffies};
use crate::recovery::window::Windows;
use crate::state::{DUPTHRESH, Phase, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// cwnd in segments; a regulation that is not Linux's may leave less than one.
pub(super) fn cwnd(s: &State) -> u64 {
    (s.cwnd / s.mss).max(1)
}

fn ssthresh(s: &State) -> u64 {
    s.ssthresh / s.mss
}

/// `tcp_in_slow_start`. Bytes come first, since they need no division.
pub(super) fn in_slow_start(s: &State) -> bool {
    s.cwnd < s.ssthresh && cwnd(s) < ssthresh(s)
}

/// `tcp_may_raise_cwnd`: an ACK that does not advance lets cwnd grow only if reordering is known to
/// be more than usual. Nor does one that acknowledges no segment in full (`FLAG_DATA_ACKED`).
fn may_raise(s: &State, a: &AckSummary) -> bool {
    a.acks_a_segment() || (s.dupthresh > DUPTHRESH && a.newly_sacked > 0)
}

/// `tcp_slow_start`: cwnd, and what is left of the segments delivered.
fn slow_start(s: &State, delivered: u64) -> (u64, u64) {
    let cwnd = cwnd(s);
    let grown = (cwnd + delivered).min(ssthresh(s));
    (grown, delivered - (grown - cwnd))
}

/// Growth by what was delivered, and whether cwnd is in use.
#[derive(Default)]
pub(super) struct Growth {
    /// `snd_cwnd_cnt`: segments delivered towards the next one of cwnd.
    count: u64,
    is_cwnd_limited: bool,
    max_packets_out: u64,
    cwnd_usage_seq: u64,
    snd_cwnd_used: u64,
    /// `snd_cwnd_stamp`; `None` before the first.
    stamp: Option<Time>,
}

impl Growth {
    /// A response begins.
    pub fn reset(&mut self, s: &State) {
        self.count = 0;
        self.stamp = Some(s.now);
    }

    /// An ACK, in bytes (`tcp_reno_cong_avoid`, `cubictcp_cong_avoid`). `w` returns after how many
    /// segments delivered cwnd grows by one in congestion avoidance, given cwnd and what was
    /// delivered.
    pub fn on_ack(&mut self, s: &State, a: &AckSummary, w: impl FnOnce(u64, u64) -> u64) -> u64 {
        if !may_raise(s, a) {
            return s.cwnd;
        }
        self.stamp = Some(s.now);
        if !self.limited(s) {
            return s.cwnd;
        }
        let (mut cwnd, mut delivered) = (cwnd(s), u64::from(a.delivered));
        if in_slow_start(s) {
            (cwnd, delivered) = slow_start(s, delivered);
            if delivered == 0 {
                return cwnd * s.mss;
            }
        }
        self.avoid(cwnd, w(cwnd, delivered), delivered) * s.mss
    }

    /// `tcp_is_cwnd_limited`; in slow start cwnd may be twice what was outstanding.
    fn limited(&self, s: &State) -> bool {
        self.is_cwnd_limited || (in_slow_start(s) && cwnd(s) < 2 * self.max_packets_out)
    }

    /// `tcp_cong_avoid_ai`: a segment of cwnd for `w` delivered.
    fn avoid(&mut self, cwnd: u64, w: u64, delivered: u64) -> u64 {
        let mut grown = cwnd;
        // Credit from a time when more was asked for counts once.
        if self.count >= w {
            (self.count, grown) = (0, grown + 1);
        }
        self.count += delivered;
        if self.count >= w {
            grown += self.count / w;
            self.count %= w;
        }
        grown
    }

    /// `tcp_cwnd_validate`.
    #[inline(always)]
    pub fn on_sent(&mut self, s: &State, in_flight: u64, rto: Span) -> Option<Windows> {
        let limited = in_flight >= s.cwnd;
        let outstanding = s.board.len() as u64;
        let more = !self.is_cwnd_limited && outstanding > self.max_packets_out;
        if s.snd_una >= self.cwnd_usage_seq || limited || more {
            self.is_cwnd_limited = limited;
            self.max_packets_out = outstanding;
            self.cwnd_usage_seq = s.snd_max;
        }
        if self.limited(s) {
            self.snd_cwnd_used = 0;
            self.stamp = Some(s.now);
            return None;
        }
        self.on_unused(s, outstanding, rto)
    }

    /// `tcp_cwnd_application_limited`.
    #[inline(never)]
    fn on_unused(&mut self, s: &State, outstanding: u64, rto: Span) -> Option<Windows> {
        self.snd_cwnd_used = self.snd_cwnd_used.max(outstanding);
        let stamp = self.stamp.map_or(0, |stamp| jiffies(s, stamp));
        if !s.idle_restart || jiffies(s, s.now) - stamp < to_jiffies(rto) {
            return None;
        }
        self.stamp = Some(s.now);
        if s.phase != Phase::Open || s.board.sacked_segments() > 0 {
            return None;
        }
        let used = core::mem::take(&mut self.snd_cwnd_used).max(s.initial_window / s.mss);
        (used < cwnd(s))
            .then(|| Windows { ssthresh: current_ssthresh(s), cwnd: (cwnd(s) + used) / 2 * s.mss })
    }

    /// `tcp_slow_start_after_idle_check` and `tcp_cwnd_restart`: cwnd is halved for each timeout
    /// interval without data, down to the initial window. Both are counted in ticks.
    pub fn on_idle(&mut self, s: &State, idle: Span, rto: Span) -> Windows {
        let last_sent = Time(s.now.0.saturating_sub(idle.0));
        let (idle, rto) = (jiffies(s, s.now) - jiffies(s, last_sent), to_jiffies(rto));
        if idle <= rto {
            return Windows::unchanged(s);
        }
        let ssthresh = current_ssthresh(s);
        let least = cwnd(s).min(s.initial_window / s.mss);
        let (mut cwnd, mut left) = (cwnd(s), idle - rto);
        while left > 0 && cwnd > least {
            cwnd /= 2;
            left = left.saturating_sub(rto.max(1));
        }
        self.stamp = Some(s.now);
        self.snd_cwnd_used = 0;
        Windows { ssthresh, cwnd: cwnd.max(least) * s.mss }
    }
}
