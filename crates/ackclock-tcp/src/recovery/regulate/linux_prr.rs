//! Proportional rate reduction as Linux has it (`tcp_cwnd_reduction`). It differs from RFC 9937:
//!
//! - It counts segments, and rounds up what is sent in proportion.
//! - `prior_cwnd`, cwnd as the recovery began, stands for RecoverFS.
//! - Until something was sent, at least one segment goes.
//! - An ACK that delivers nothing leaves cwnd alone, and so does the reordering timer within a
//!   recovery: what it finds lost makes room. A recovery that the timer begins counts one segment
//!   delivered (`tcp_rack_reo_timeout`).
//! - So does an ACK that others have overtaken, whatever it delivers, also if a recovery begins
//!   with it (`tcp_ack`, `old_ack`).
//!
//! Linux counts what is in the network against cwnd in every phase, so this does. Without SACK,
//! duplicates count as delivered (`tcp_add_reno_sack`), and nothing is inflated.

use super::Regulate;
use crate::event::Cause;
use crate::state::State;
use crate::summary::AckSummary;

/// Sends in proportion to what arrives, in segments.
#[derive(Default)]
pub struct LinuxPrr {
    prior_cwnd: u64,
    prr_delivered: u64,
    prr_out: u64,
}

/// What an ACK delivers, unless others have overtaken it.
fn counted(a: &AckSummary) -> u32 {
    if a.is_old() { 0 } else { a.delivered }
}

impl LinuxPrr {
    fn cwnd(&mut self, s: &State, a: &AckSummary, delivered: u64) -> u64 {
        self.prr_delivered += delivered;
        let (in_flight, ssthresh) = (u64::from(s.packets_in_flight()), s.ssthresh / s.mss);
        let sndcnt = if in_flight > ssthresh {
            let target = (ssthresh * self.prr_delivered).div_ceil(self.prior_cwnd.max(1));
            target.saturating_sub(self.prr_out)
        } else {
            let more = u64::from(a.newly_acked > 0 && a.lost == 0);
            let banked = self.prr_delivered.saturating_sub(self.prr_out);
            (banked.max(delivered) + more).min(ssthresh - in_flight)
        };
        let least = u64::from(self.prr_out == 0);
        (in_flight + sndcnt.max(least)) * s.mss
    }
}

impl Regulate for LinuxPrr {
    fn enters_cwr(&self) -> bool {
        true
    }

    fn cwr_is_a_state(&self) -> bool {
        true
    }

    fn everywhere(&self) -> bool {
        true
    }

    fn in_flight(&self, s: &State) -> u64 {
        u64::from(s.packets_in_flight()) * s.mss
    }

    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        *self = LinuxPrr { prior_cwnd: s.cwnd / s.mss, ..LinuxPrr::default() };
        // Where the timer begins a recovery, a segment counts as delivered
        // (tcp_rack_reo_timeout). An ACK of what was SACKed before delivers nothing, and leaves
        // cwnd as it is.
        let least = u32::from(!s.cwr && !a.is_old() && a.newly_acked == 0);
        match counted(a).max(least) {
            0 => s.cwnd,
            delivered => self.cwnd(s, a, delivered.into()),
        }
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        match counted(a) {
            0 => s.cwnd,
            delivered => self.cwnd(s, a, delivered.into()),
        }
    }

    fn on_timeout(&mut self, s: &State) -> u64 {
        // tcp_enter_loss: room for the first unacknowledged segment.
        self.in_flight(s) + s.mss
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.ssthresh
    }

    fn on_transmit(&mut self, s: &State, _cause: Cause, _len: u64) -> u64 {
        self.prr_out += 1;
        s.cwnd
    }
}
