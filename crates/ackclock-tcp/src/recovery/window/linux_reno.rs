//! Reno as Linux has it (`tcp_reno_cong_avoid`, `tcp_reno_ssthresh`): in whole segments, by what
//! was delivered, and from cwnd where RFC 5681 has FlightSize.

use super::linux::{self, Growth};
use super::{Window, Windows};
use crate::recovery::linux::{INIT_CWND, bound_to_half_window, lowers_on_timeout};
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::Span;

/// The window law of Reno in Linux.
#[derive(Default)]
pub struct LinuxReno {
    growth: Growth,
}

impl Window for LinuxReno {
    fn counts_segments(&self) -> bool {
        true
    }

    fn waits_for_short(&self) -> bool {
        true
    }

    fn segment(&self, mss: u64, max_window: u64) -> u64 {
        bound_to_half_window(mss, max_window)
    }

    fn after_detection(&self) -> bool {
        true
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.growth.on_ack(s, a, |cwnd, _| cwnd)
    }

    fn measures(&self) -> bool {
        true
    }

    fn on_sent(&mut self, s: &State, in_flight: u64, rto: Span) -> Option<Windows> {
        self.growth.on_sent(s, in_flight, rto)
    }

    fn initial(&self, mss: u64) -> u64 {
        INIT_CWND * mss
    }

    fn on_idle(&mut self, s: &State, idle: Span, rto: Span) -> Windows {
        self.growth.on_idle(s, idle, rto)
    }

    fn on_loss(&mut self, s: &State, _flight: u64) -> u64 {
        self.growth.reset(s);
        (linux::cwnd(s) / 2).max(2) * s.mss
    }

    fn on_timeout(&mut self, s: &State, flight: u64, _repeated: bool) -> u64 {
        if lowers_on_timeout(s) {
            return self.on_loss(s, flight);
        }
        self.growth.reset(s);
        s.ssthresh
    }
}
