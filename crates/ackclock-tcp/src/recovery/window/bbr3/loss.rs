//! What losses do to the model (section 5.5.10).

use super::{Bbr3, INFINITY, Mode, Rs, percent};
use crate::recovery::window::by_rate::LostSegment;
use crate::state::{Phase, State};

/// `LossThresh` is 1 / 50.
const LOSS_THRESH: u64 = 50;
/// `Beta`, in percent.
const BETA: u64 = 70;
/// `StartupFullLossCnt`.
const STARTUP_RANGES: u32 = 6;

/// What is restored if losses turn out to be none (section 5.5.11).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Restored {
    /// The mode that losses have ended.
    pub mode: Option<Mode>,
    bw_shortterm: u64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
}

impl Bbr3 {
    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest_delivery_signals(&mut self, rs: &Rs) {
        self.loss_round_start = false;
        self.bw_latest = self.bw_latest.max(rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(rs.delivered);
        if rs.prior_delivered.is_some_and(|prior| prior >= self.loss_round_delivered) {
            (self.loss_round_delivered, self.loss_round_start) = (self.delivered, true);
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest_delivery_signals(&mut self, rs: &Rs) {
        if self.loss_round_start {
            (self.bw_latest, self.inflight_latest) = (rs.delivery_rate, rs.delivered);
        }
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_congestion_signals(&mut self) {
        (self.loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0, 0);
    }

    /// `UpdateCongestionSignals`.
    pub(super) fn update_congestion_signals(&mut self, rs: &Rs) {
        self.update_max_bw(rs);
        if self.loss_round_start {
            if self.loss_in_round && !self.mode.accelerates() {
                self.lower_bounds();
            }
            self.loss_in_round = false;
        }
    }

    /// `InitLowerBounds` and `LossLowerBounds`.
    fn lower_bounds(&mut self) {
        if self.bw_shortterm == INFINITY {
            self.bw_shortterm = self.max_bw();
        }
        if self.inflight_shortterm == INFINITY {
            self.inflight_shortterm = self.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(percent(self.bw_shortterm, BETA));
        self.inflight_shortterm = self.inflight_latest.max(percent(self.inflight_shortterm, BETA));
    }

    /// `ResetShortTermModel`.
    pub(super) fn reset_short_term(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (INFINITY, INFINITY);
    }

    /// `CheckStartupHighLoss` (section 5.3.1.3).
    pub(super) fn check_startup_high_loss(&mut self, s: &State, rs: &Rs) {
        let recovers = s.phase == Phase::Recovery;
        let lossy = if s.sack {
            self.loss_round_start
                && self.ranges_lost >= STARTUP_RANGES
                && is_inflight_too_high(s, rs.lost, rs.tx_in_flight)
        } else {
            rs.newly_lost > 0
        };
        if self.mode == Mode::Startup && !self.full_bw_reached && recovers && lossy {
            self.undo.mode = Some(Mode::Startup);
            (self.full_bw_now, self.full_bw_reached) = (true, true);
            self.inflight_longterm = self.bdp(s, self.bw, 100).max(self.inflight_latest);
        }
        if self.loss_round_start {
            self.ranges_lost = 0;
        }
    }

    /// `HandleLostPacket`.
    pub(super) fn handle_lost(&mut self, s: &State, lost: &LostSegment) {
        if self.ranges_lost == 0 || lost.seq != self.range_end {
            self.ranges_lost += 1;
        }
        self.range_end = lost.end;
        self.note_loss();
        if !self.is_bw_probe_sample {
            return;
        }
        let tx_in_flight = u64::from(lost.tx_in_flight) * s.mss;
        let lost_bytes = lost.lost.saturating_mul(s.mss);
        if is_inflight_too_high(s, lost_bytes, tx_in_flight) {
            let volume = inflight_at_loss(s.mss, lost_bytes, tx_in_flight);
            self.handle_inflight_too_high(s, volume, lost.app_limited);
        }
    }

    /// `NoteLoss`.
    fn note_loss(&mut self) {
        if !self.loss_in_round {
            self.loss_round_delivered = self.delivered;
            self.save_state();
        }
        self.loss_in_round = true;
    }

    /// `HandleInflightTooHigh`.
    fn handle_inflight_too_high(&mut self, s: &State, volume: u64, app_limited: bool) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !app_limited {
            self.inflight_longterm = volume.max(percent(self.target_inflight(s), BETA));
        }
        if self.mode == Mode::Up {
            self.undo.mode = Some(Mode::Up);
            self.start_down(s);
        }
    }

    /// `SaveStateUponLoss`.
    pub(super) fn save_state(&mut self) {
        self.save_cwnd();
        self.undo = Restored {
            mode: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// `HandleSpuriousLossDetection`. The next ACK outside recovery restores cwnd, if the
    /// connection has not.
    pub(super) fn handle_spurious(&mut self) {
        self.loss_in_round = false;
        self.reset_full_bw(0);
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.mode.take() {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.full_bw_reached = false;
                if self.mode != Mode::ProbeRtt {
                    self.mode = Mode::Startup;
                }
            }
            Some(Mode::Up) if self.mode != Mode::Up && self.mode != Mode::ProbeRtt => {
                self.start_refill();
            }
            _ => {}
        }
    }
}

/// `IsInflightTooHigh`.
pub(super) fn is_inflight_too_high(s: &State, lost: u64, tx_in_flight: u64) -> bool {
    lost.saturating_mul(LOSS_THRESH) > tx_in_flight || (lost > 0 && !s.sack)
}

/// `InflightAtLoss`: how much was in flight up to the byte of the segment with which 2 % of it were
/// lost. Where more had been lost before it, that is none of its own.
pub(super) fn inflight_at_loss(size: u64, lost: u64, tx_in_flight: u64) -> u64 {
    let (prior, lost_prior) = (tx_in_flight.saturating_sub(size), lost.saturating_sub(size));
    let prefix = prior.saturating_sub(lost_prior.saturating_mul(LOSS_THRESH)) / (LOSS_THRESH - 1);
    prior + prefix
}
