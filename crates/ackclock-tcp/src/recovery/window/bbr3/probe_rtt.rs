//! The least round trip, and the probe for it (section 5.3.4.3).

use super::probe_bw::AckPhase;
use super::{Bbr3, MIN_PIPE, Mode, Rs, in_flight};
use crate::state::State;
use crate::time::Span;

/// `MinRTTFilterLen`.
const MIN_RTT_FILTER: Span = Span::from_secs(10);
/// `ProbeRTTInterval`.
const INTERVAL: Span = Span::from_secs(5);
/// `ProbeRTTDuration`.
const DURATION: Span = Span::from_millis(200);

impl Bbr3 {
    /// `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, s: &State, rs: &Rs) {
        self.probe_rtt_expired = s.now > self.probe_rtt_min_stamp + INTERVAL;
        if let Some(Span(rtt)) = rs.rtt
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (rtt, s.now);
        }
        let expired = s.now > self.min_rtt_stamp + MIN_RTT_FILTER;
        if self.probe_rtt_min_delay < self.min_rtt || expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    /// `CheckProbeRTT`; whether what is in the network counts as limited by the application.
    pub(super) fn check_probe_rtt(&mut self, s: &State, rs: &Rs) -> bool {
        if self.mode != Mode::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        let probes = self.mode == Mode::ProbeRtt;
        if probes {
            self.handle_probe_rtt(s);
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
        probes
    }

    /// `HandleProbeRTT`.
    fn handle_probe_rtt(&mut self, s: &State) {
        if self.probe_rtt_done.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(s);
            }
        } else if in_flight(s) <= self.probe_rtt_cwnd(s) {
            self.probe_rtt_done = Some(s.now + DURATION);
            self.probe_rtt_round_done = false;
            self.start_round();
        }
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT`.
    pub(super) fn check_probe_rtt_done(&mut self, s: &State) {
        if self.probe_rtt_done.is_none_or(|done| s.now <= done) {
            return;
        }
        self.probe_rtt_min_stamp = s.now;
        self.restore_cwnd();
        self.reset_short_term();
        if self.full_bw_reached {
            self.start_down(s);
            self.mode = Mode::Cruise;
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self, s: &State) -> u64 {
        let gain = Mode::ProbeRtt.gains().1;
        self.bdp(s, self.bw, gain).max(MIN_PIPE * s.mss)
    }
}
