//! Long-term bandwidth (Linux `tcp_bbr.c`, `bbr_lt_bw_sampling`): a path that loses a fifth or more
//! at two equal rates has a policer, and is used at that rate.

use super::{BBR_UNIT, BW_UNIT, bytes_per_second};
use crate::recovery::window::by_rate::RateSample;

/// `bbr_lt_intvl_min_rtts`.
const MIN_ROUNDS: u32 = 4;
/// `bbr_lt_loss_thresh`: 50 / 256.
const LOSS_THRESH: u64 = 50;
/// `bbr_lt_bw_ratio`.
const RATIO: u64 = BBR_UNIT / 8;
/// `bbr_lt_bw_diff`: 4 kbit/s.
const DIFF: u64 = 4000 / 8;
/// `bbr_lt_bw_max_rtts`.
const MAX_ROUNDS: u32 = 48;

/// What follows from a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policed {
    Nothing,
    /// There is a policer: its rate counts from now on.
    Found,
    /// Its rate has counted for long enough: bandwidth is probed again.
    Over,
}

/// The bandwidth of a policer, from one loss to another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    /// The bandwidth of the last interval, or that of the policer.
    bw: u64,
    in_use: bool,
    sampling: bool,
    rounds: u32,
    last_delivered: u64,
    last_lost: u64,
    /// In milliseconds.
    last_stamp: u64,
}

impl LongTerm {
    /// The bandwidth, if it is to be used.
    pub fn get(&self) -> Option<u64> {
        self.in_use.then_some(self.bw)
    }

    fn begin(&mut self, sample: &RateSample) {
        self.last_stamp = sample.delivered_at.0 / 1_000_000;
        (self.last_delivered, self.last_lost) = (sample.total_delivered, sample.total_lost);
        self.rounds = 0;
    }

    /// Everything is forgotten.
    pub fn reset(&mut self) {
        *self = LongTerm::default();
    }

    /// An ACK, or a timeout. `probing` bandwidth, not anything else.
    pub fn update(
        &mut self,
        sample: &RateSample,
        round_start: bool,
        probing: bool,
        mss: u64,
    ) -> Policed {
        if self.in_use {
            if probing && round_start {
                self.rounds += 1;
                if self.rounds >= MAX_ROUNDS {
                    self.reset();
                    return Policed::Over;
                }
            }
            return Policed::Nothing;
        }
        // A policer shows by losses: an interval begins and ends with one.
        if !self.sampling {
            if sample.losses == 0 {
                return Policed::Nothing;
            }
            self.begin(sample);
            self.sampling = true;
        }
        if sample.app_limited {
            self.reset();
            return Policed::Nothing;
        }
        self.rounds += u32::from(round_start);
        if self.rounds < MIN_ROUNDS {
            return Policed::Nothing;
        }
        if self.rounds > 4 * MIN_ROUNDS {
            self.reset();
            return Policed::Nothing;
        }
        if sample.losses == 0 {
            return Policed::Nothing;
        }
        let lost = sample.total_lost - self.last_lost;
        let delivered = sample.total_delivered - self.last_delivered;
        if delivered == 0 || lost * BBR_UNIT < LOSS_THRESH * delivered {
            return Policed::Nothing;
        }
        let ms = (sample.delivered_at.0 / 1_000_000).saturating_sub(self.last_stamp);
        if ms == 0 {
            return Policed::Nothing;
        }
        self.interval_done(sample, delivered * BW_UNIT / (ms * 1000), mss)
    }

    /// `bbr_lt_bw_interval_done`: whether this bandwidth is that of the interval before.
    fn interval_done(&mut self, sample: &RateSample, bw: u64, mss: u64) -> Policed {
        if self.bw > 0 {
            let diff = bw.abs_diff(self.bw);
            let alike = diff * BBR_UNIT <= RATIO * self.bw;
            if alike || bytes_per_second(diff, BBR_UNIT, mss) <= DIFF {
                (self.bw, self.in_use, self.rounds) = ((bw + self.bw) >> 1, true, 0);
                return Policed::Found;
            }
        }
        self.bw = bw;
        self.begin(sample);
        Policed::Nothing
    }
}
