//! ACK aggregation (Linux `tcp_bbr.c`, `bbr_update_ack_aggregation`): how much more ACKs deliver at
//! once than the estimated bandwidth would have in that time.

use super::BW_UNIT;
use crate::recovery::window::by_rate::RateSample;
use crate::time::Time;

/// `bbr_extra_acked_win_rtts`.
const WINDOW: u32 = 5;
/// `bbr_ack_epoch_acked_reset_thresh`.
const RESET: u64 = 1 << 20;

/// The largest excess of five to ten rounds, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExtraAcked {
    epoch: Time,
    epoch_acked: u64,
    most: [u64; 2],
    rounds: u32,
    index: usize,
}

impl ExtraAcked {
    pub fn get(&self) -> u64 {
        self.most[0].max(self.most[1])
    }

    /// Data is sent again after an idle time.
    pub fn restart(&mut self, now: Time) {
        (self.epoch, self.epoch_acked) = (now, 0);
    }

    /// A valid sample, with the bandwidth estimated and cwnd in segments.
    pub fn update(&mut self, sample: &RateSample, round_start: bool, bw: u64, cwnd: u64) {
        let acked = u64::from(sample.acked);
        if acked == 0 || sample.delivered.is_none() || sample.interval.is_none() {
            return;
        }
        if round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW {
                (self.rounds, self.index) = (0, 1 - self.index);
                self.most[self.index] = 0;
            }
        }
        let since = (sample.delivered_at.0 / 1000).saturating_sub(self.epoch.0 / 1000);
        let mut expected = bw.saturating_mul(since) / BW_UNIT;
        if self.epoch_acked <= expected || self.epoch_acked + acked >= RESET {
            (self.epoch, self.epoch_acked, expected) = (sample.delivered_at, 0, 0);
        }
        self.epoch_acked = (self.epoch_acked + acked).min(RESET - 1);
        let extra = self.epoch_acked.saturating_sub(expected).min(cwnd);
        self.most[self.index] = self.most[self.index].max(extra);
    }
}
