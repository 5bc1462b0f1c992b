//! Linux's timer (`tcp_rtt_estimator`, `tcp_set_rto`): a sample with every ACK, the mean
//! deviation's maximum over a round trip, and a variance term of at least the configured minimum,
//! 200 ms.
//!
//! Arithmetic is the kernel's: microseconds, SRTT in eighths, the deviations in quarters. The
//! timeout is rounded up to a tick, and doubles up to 120 s (`TCP_RTO_MAX`). It expires at a tick,
//! whatever it waits for.
//!
//! Segments that SACK blocks report give samples too, the first of them. What was SACKed before
//! gives none when it is acknowledged, and nothing does if a segment that was retransmitted is
//! among what is acknowledged (`tcp_clean_rtx_queue`, `tcp_ack_update_rtt`).
//!
//! One timer serves retransmission, probes and RACK's reordering window (`icsk_retransmit_timer`).

use super::{Estimates, Timer, doubled};
use crate::recovery::linux::{JIFFY, RTO_MIN, expiry, to_jiffies};
use crate::state::State;
use crate::time::{Span, Time};

/// `tcp_syn_linear_timeouts`.
const SYN_LINEAR_TIMEOUTS: u32 = 4;
/// `TCP_RTO_MAX`.
const MAX: Span = Span::from_secs(120);

/// The timer of Linux.
#[derive(Clone, Debug)]
pub struct LinuxTimer {
    /// It serves for all ends, and takes samples of SACKs.
    serves_all: bool,
    /// The least variance term, in microseconds.
    min: u64,
    /// Eight times SRTT, in microseconds; 0 before the first sample.
    srtt: u64,
    /// Four times the mean deviation.
    mdev: u64,
    /// Its maximum over this round trip.
    mdev_max: u64,
    /// The variance term of the timeout.
    rttvar: u64,
    /// The round trip over which `mdev_max` is taken ends when this position is acknowledged.
    rtt_seq: u64,
}

impl Default for LinuxTimer {
    fn default() -> LinuxTimer {
        LinuxTimer {
            serves_all: true,
            min: RTO_MIN.micros(),
            srtt: 0,
            mdev: 0,
            mdev_max: 0,
            rttvar: 0,
            rtt_seq: 0,
        }
    }
}

impl LinuxTimer {
    /// The estimate alone: samples of what is acknowledged, and a timer beside others.
    pub fn estimate() -> LinuxTimer {
        LinuxTimer { serves_all: false, ..LinuxTimer::default() }
    }

    /// A round trip of `m`, measured while `snd_una` and `snd_nxt` stand here.
    pub fn sample(&mut self, m: Span, snd_una: u64, snd_nxt: u64) {
        let m = m.micros().max(1);
        if self.srtt == 0 {
            (self.srtt, self.mdev) = (m << 3, m << 1);
            self.rttvar = self.mdev.max(self.min);
            self.mdev_max = self.rttvar;
            self.rtt_seq = snd_nxt;
            return;
        }
        let mean = self.srtt >> 3;
        let rise = m.abs_diff(mean) as i64 - (self.mdev >> 2) as i64;
        // A sample far below the mean must not raise the variance as much as one above it. Without
        // a branch: nothing predicts on which side of the mean a sample lies.
        let shift = if rise > 0 && m < mean { 3 } else { 0 };
        self.mdev = self.mdev.wrapping_add_signed(rise >> shift);
        self.srtt = (self.srtt - mean + m).max(1);
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if snd_una > self.rtt_seq {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.rtt_seq = snd_nxt;
            self.mdev_max = self.min;
        }
    }
}

impl Timer for LinuxTimer {
    fn on_sample(&mut self, s: &State, sent: Time) -> Option<Estimates> {
        self.sample(s.now.since(sent), s.snd_una, s.snd_max);
        Some(self.estimates())
    }

    fn set_min_rto(&mut self, min: Span) {
        self.min = min.micros();
    }

    fn samples_sacks(&self) -> bool {
        self.serves_all
    }

    fn serves_all(&self) -> bool {
        self.serves_all
    }

    /// `tcp_retransmit_timer`: a SYN is first sent at even intervals, since Linux 6.5, which the
    /// estimate alone is older than.
    fn syn_rto(&self, expiries: u32, answering: u32) -> Span {
        let linear = if self.serves_all { SYN_LINEAR_TIMEOUTS } else { 0 };
        doubled(expiries.saturating_sub(answering).saturating_sub(linear) + answering)
    }

    fn rto(&self) -> Span {
        if self.srtt == 0 {
            return Span::from_secs(1);
        }
        let rto = (self.srtt >> 3) + self.rttvar;
        if !self.serves_all {
            return Span::from_micros(rto);
        }
        // icsk_rto counts ticks (usecs_to_jiffies), so that back-off doubles what was rounded up.
        JIFFY.times(to_jiffies(Span::from_micros(rto)))
    }

    fn srtt(&self) -> Span {
        Span(self.srtt * 125)
    }

    fn rttvar(&self) -> Span {
        Span(self.rttvar * 250)
    }

    fn retime(&mut self, srtt: Span, rttvar: Span) {
        (self.srtt, self.mdev) = (srtt.0 / 125, rttvar.0 / 250);
        self.rttvar = self.mdev.max(self.min);
        self.mdev_max = self.rttvar;
    }

    fn min_rto(&self) -> Span {
        Span::from_micros(self.min)
    }

    fn max_rto(&self) -> Span {
        MAX
    }

    fn after(&self, now: Time, tick_phase: Span, wait: Span) -> Time {
        if self.serves_all { expiry(now, tick_phase, wait) } else { now + wait }
    }
}
