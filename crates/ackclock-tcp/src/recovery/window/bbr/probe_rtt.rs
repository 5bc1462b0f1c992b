//! The shortest round trip, and the phase that measures it (Linux `tcp_bbr.c`,
//! `bbr_update_min_rtt`).

use super::{Bbr, MIN_CWND, Mode};
use crate::recovery::linux::{HZ, jiffies};
use crate::recovery::window::by_rate::RateSample;
use crate::state::State;

/// `bbr_min_rtt_win_sec`, in jiffies.
const MIN_RTT_WINDOW: u64 = 10 * HZ;
/// `bbr_probe_rtt_mode_ms`, in jiffies.
const PROBE_RTT_TIME: u64 = HZ / 5;

impl Bbr {
    /// `bbr_check_probe_rtt_done`; returns cwnd in segments.
    pub(super) fn check_probe_rtt_done(&mut self, s: &State, cwnd: u64) -> u64 {
        let now = jiffies(s, s.now);
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return cwnd;
        }
        self.min_rtt_stamp = Some(now);
        self.reset_mode(s);
        cwnd.max(self.prior_cwnd)
    }

    /// `bbr_update_min_rtt`: cwnd in segments, and whether what is in the network counts as limited
    /// by the application.
    pub(super) fn update_min_rtt(
        &mut self,
        s: &State,
        sample: &RateSample,
        mut cwnd: u64,
    ) -> (u64, bool) {
        let now = jiffies(s, s.now);
        let stamp = *self.min_rtt_stamp.get_or_insert(now);
        let expired = now > stamp + MIN_RTT_WINDOW;
        if let Some(rtt) = sample.rtt.map(|rtt| rtt.0 / 1000)
            && (rtt < self.min_rtt || (expired && !sample.delayed))
        {
            (self.min_rtt, self.min_rtt_stamp) = (rtt, Some(now));
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(cwnd);
            self.probe_rtt_done = None;
        }
        let probes = self.mode == Mode::ProbeRtt;
        if probes {
            if self.probe_rtt_done.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    cwnd = self.check_probe_rtt_done(s, cwnd);
                }
            } else if u64::from(s.packets_in_flight()) <= MIN_CWND {
                self.probe_rtt_done = Some(now + PROBE_RTT_TIME);
                self.probe_rtt_round_done = false;
                self.next_round = sample.total_delivered;
            }
        }
        if sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.idle_restart = false;
        }
        (cwnd, probes)
    }
}
