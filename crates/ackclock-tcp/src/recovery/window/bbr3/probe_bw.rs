//! The cycle that probes for bandwidth (section 5.3.3).

use super::loss::is_inflight_too_high;
use super::{Bbr3, INFINITY, MIN_PIPE, Mode, Rs, in_flight, percent};
use crate::recovery::window::bbr::hash;
use crate::state::State;
use crate::time::Span;

/// `Headroom`, in percent.
const HEADROOM: u64 = 15;
/// The most rounds between two probes, so that Reno and CUBIC get their share.
const RENO_ROUNDS: u64 = 63;

/// `BBR.ack_phase`: what ACKs say of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

impl Bbr3 {
    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, s: &State) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = INFINITY;
        self.pick_probe_wait(s);
        self.cycle_stamp = s.now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.mode = Mode::Down;
    }

    /// `PickProbeWait`: 2 to 3 s, and none or one of the rounds.
    fn pick_probe_wait(&mut self, s: &State) {
        let hash = hash(s);
        self.rounds_since_probe_up = (hash >> 31) & 1;
        self.bw_probe_wait = Span(2_000_000_000 + (((hash >> 32) * 1_000_000_000) >> 32));
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self) {
        self.reset_short_term();
        (self.bw_probe_up_rounds, self.bw_probe_up_acked) = (0, 0);
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.mode = Mode::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, s: &State, rs: &Rs) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw(rs.delivery_rate);
        self.mode = Mode::Up;
        self.raise_slope(s);
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle_phase(&mut self, s: &State, rs: &Rs) {
        if !self.full_bw_reached || rs.prior_delivered.is_none() {
            return;
        }
        if self.adapt_long_term(s, rs) {
            return;
        }
        let mode = self.mode;
        match mode {
            Mode::Down | Mode::Cruise if self.is_time_to_probe(s) => self.start_refill(),
            Mode::Down if self.is_time_to_cruise(s) => self.mode = Mode::Cruise,
            Mode::Refill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_up(s, rs);
            }
            Mode::Up if self.is_time_to_go_down(s, rs) => {
                self.prev_probe_too_high = false;
                self.start_down(s);
            }
            _ => {}
        }
    }

    /// `IsTimeToProbeBW`.
    fn is_time_to_probe(&self, s: &State) -> bool {
        let rounds = self.target_inflight(s).div_ceil(s.mss).min(RENO_ROUNDS);
        s.now > self.cycle_stamp + self.bw_probe_wait || self.rounds_since_probe_up >= rounds
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, s: &State) -> bool {
        in_flight(s) <= self.inflight_with_headroom(s)
            && in_flight(s) <= self.inflight(s, self.max_bw())
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, s: &State, rs: &Rs) -> bool {
        if self.prev_probe_too_high && in_flight(s) >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.fills_longterm() {
            self.reset_full_bw(rs.delivery_rate);
            return false;
        }
        self.full_bw_now
    }

    /// cwnd is used, and is as large as `inflight_longterm` lets it be.
    fn fills_longterm(&self) -> bool {
        self.cwnd_limited.contains(&true) && self.cwnd >= self.inflight_longterm
    }

    /// `InflightWithHeadroom`.
    pub(super) fn inflight_with_headroom(&self, s: &State) -> u64 {
        if self.inflight_longterm == INFINITY {
            return INFINITY;
        }
        let headroom = percent(self.inflight_longterm, HEADROOM).max(s.mss);
        self.inflight_longterm.saturating_sub(headroom).max(MIN_PIPE * s.mss)
    }

    /// `RaiseInflightLongtermSlope`.
    fn raise_slope(&mut self, s: &State) {
        let growth = 1 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth).max(s.mss);
    }

    /// `ProbeInflightLongtermUpward`.
    fn probe_upward(&mut self, s: &State, rs: &Rs) {
        if !self.fills_longterm() {
            return;
        }
        self.bw_probe_up_acked += rs.newly_acked;
        let delta = self.bw_probe_up_acked / self.probe_up_acked_per_inc;
        self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
        self.inflight_longterm = self.inflight_longterm.saturating_add(delta * s.mss);
        if self.round_start {
            self.raise_slope(s);
        }
    }

    /// `AdaptLongTermModel`; whether it has decided what follows.
    fn adapt_long_term(&mut self, s: &State, rs: &Rs) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.mode.probes_bw() {
                if !rs.app_limited {
                    self.advance_max_bw();
                }
                if self.prev_probe_precautionary && !self.prev_probe_too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        if is_inflight_too_high(s, rs.lost, rs.tx_in_flight) || self.inflight_longterm == INFINITY {
            return false;
        }
        self.inflight_longterm = self.inflight_longterm.max(rs.tx_in_flight);
        if self.mode == Mode::Up {
            self.probe_upward(s, rs);
        }
        false
    }
}
