//! Rounds, and what was delivered in them (sections 5.5.1 to 5.5.9).

use super::{Bbr3, Rs, ratio};
use crate::state::State;

/// `ExtraAckedFilterLen`, in rounds.
const EXTRA_ACKED_ROUNDS: u64 = 10;

impl Bbr3 {
    pub(super) fn start_round(&mut self) {
        self.next_round = self.delivered;
    }

    /// `UpdateRound`.
    pub(super) fn update_round(&mut self, rs: &Rs) {
        self.round_start = rs.prior_delivered.is_some_and(|prior| prior >= self.next_round);
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.cwnd_limited = [self.cwnd_limited[1], false];
        }
    }

    /// `UpdateMaxBw`.
    pub(super) fn update_max_bw(&mut self, rs: &Rs) {
        self.update_round(rs);
        if rs.delivery_rate >= self.max_bw() || !rs.app_limited {
            self.max_bw[1] = self.max_bw[1].max(rs.delivery_rate);
        }
    }

    /// `BBR.max_bw`.
    pub(super) fn max_bw(&self) -> u64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// `AdvanceMaxBwFilter`. A cycle without a sample does not end: the one before it counts on.
    pub(super) fn advance_max_bw(&mut self) {
        if self.max_bw[1] > 0 {
            self.max_bw = [self.max_bw[1], 0];
        }
    }

    /// `BoundBWForModel`.
    pub(super) fn bound_bw(&mut self) {
        self.bw = self.max_bw().min(self.bw_shortterm);
    }

    /// `UpdateACKAggregation`.
    pub(super) fn update_extra_acked(&mut self, s: &State, rs: &Rs) {
        let since = s.now.since(self.extra_acked_start).0;
        let mut expected = ratio(self.bw, since, 1_000_000_000);
        if self.extra_acked_delivered <= expected {
            (self.extra_acked_delivered, self.extra_acked_start, expected) = (0, s.now, 0);
        }
        self.extra_acked_delivered += rs.newly_acked;
        let extra = (self.extra_acked_delivered - expected).min(self.cwnd);
        let rounds = if self.full_bw_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.extra_acked.update(rounds, self.round_count, extra);
    }
}
