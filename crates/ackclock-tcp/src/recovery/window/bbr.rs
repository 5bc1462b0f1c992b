//! BBR version 1 as Linux has it (`tcp_bbr.c`; Cardwell et al. 2016).
//!
//! The path is modelled by the largest delivery rate of ten rounds and the least round trip of ten
//! seconds. Pacing goes at a gain of that rate, and cwnd is a gain of their product. Loss does not
//! lower either but for two things: in the first round of a recovery no more is sent than is
//! delivered, and a path that loses much at one rate has a policer (`long_term.rs`).
//!
//! Arithmetic is the kernel's: segments, microseconds, bandwidth in 2^-24 segments a microsecond,
//! gains in 1/256, jiffies. The phase in which the cycle begins is not random, but a hash of time:
//! the engine has no randomness.

mod extra_acked;
mod long_term;
mod probe_rtt;

use super::by_rate::{ByRate, Controlled, RateSample};
use super::{Window, Windows};
use crate::recovery::linux::{
    GSO_MAX_SIZE, INIT_CWND, MIN_TSO_RATE, PACING_SHIFT, jiffies, lowers_on_timeout,
};
use crate::recovery::minmax::MaxFilter;
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

use extra_acked::ExtraAcked;
use long_term::{LongTerm, Policed};

const BW_UNIT: u64 = 1 << 24;
const BBR_UNIT: u64 = 1 << 8;

/// `bbr_bw_rtts`.
const BW_ROUNDS: u64 = 10;
/// `bbr_high_gain`: 2/ln(2).
const HIGH_GAIN: u64 = BBR_UNIT * 2885 / 1000 + 1;
/// `bbr_drain_gain`.
const DRAIN_GAIN: u64 = BBR_UNIT * 1000 / 2885;
/// `bbr_cwnd_gain`.
const CWND_GAIN: u64 = BBR_UNIT * 2;
/// `bbr_pacing_gain`.
const CYCLE: [u64; 8] = [BBR_UNIT * 5 / 4, BBR_UNIT * 3 / 4, 256, 256, 256, 256, 256, 256];
/// `bbr_cycle_rand`.
const CYCLE_RAND: u64 = 7;
/// `bbr_cwnd_min_target`.
const MIN_CWND: u64 = 4;
/// `bbr_full_bw_thresh`.
const FULL_BW_THRESH: u64 = BBR_UNIT * 5 / 4;
/// `bbr_full_bw_cnt`.
const FULL_BW_COUNT: u32 = 3;
/// `bbr_extra_acked_max_us`.
const EXTRA_ACKED_MAX_US: u64 = 100_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The window law of BBR.
#[derive(Debug)]
pub struct Bbr {
    mode: Mode,
    bw: MaxFilter,
    /// Rounds, and what has to be delivered for the next one.
    rounds: u64,
    next_round: u64,
    round_start: bool,
    /// In microseconds; `u64::MAX` before the first one.
    min_rtt: u64,
    /// In jiffies; `None` before the first data.
    min_rtt_stamp: Option<u64>,
    probe_rtt_done: Option<u64>,
    probe_rtt_round_done: bool,
    cycle_index: usize,
    cycle_began: Time,
    /// `tp->delivered_mstamp`.
    delivered_at: Time,
    full_bw: u64,
    full_bw_count: u32,
    full_bw_reached: bool,
    long_term: LongTerm,
    extra_acked: ExtraAcked,
    idle_restart: bool,
    prior_phase: Phase,
    packet_conservation: bool,
    prior_cwnd: u64,
    pacing_gain: u64,
    cwnd_gain: u64,
    /// `sk_pacing_rate`; 0 before it is first asked for.
    rate: u64,
    has_seen_rtt: bool,
}

impl Default for Bbr {
    fn default() -> Bbr {
        Bbr {
            mode: Mode::Startup,
            bw: MaxFilter::default(),
            rounds: 0,
            next_round: 1,
            round_start: false,
            min_rtt: u64::MAX,
            min_rtt_stamp: None,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            cycle_index: 0,
            cycle_began: Time::ZERO,
            delivered_at: Time::ZERO,
            full_bw: 0,
            full_bw_count: 0,
            full_bw_reached: false,
            long_term: LongTerm::default(),
            extra_acked: ExtraAcked::default(),
            idle_restart: false,
            prior_phase: Phase::Open,
            packet_conservation: false,
            prior_cwnd: 0,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            rate: 0,
            has_seen_rtt: false,
        }
    }
}

/// `bbr_rate_bytes_per_sec`: 1 % less than that.
fn bytes_per_second(bw: u64, gain: u64, mss: u64) -> u64 {
    ((bw.saturating_mul(mss).saturating_mul(gain)) >> 8).saturating_mul(1_000_000 / 100 * 99) >> 24
}

/// `bbr_init_pacing_rate_from_rtt`: cwnd for each round trip, of a millisecond if none is known.
fn first_rate(s: &State) -> u64 {
    let rtt = if s.srtt == Span::ZERO { 1000 } else { s.srtt.micros().max(1) };
    bytes_per_second((s.cwnd / s.mss).saturating_mul(BW_UNIT) / rtt, HIGH_GAIN, s.mss)
}

/// `bbr_ssthresh` leaves ssthresh as it is. Here it comes down to cwnd, for a regulation other than
/// `by-window` sets cwnd by it.
pub(super) fn target(s: &State) -> u64 {
    s.ssthresh.min(s.cwnd.max(2 * s.mss))
}

/// A hash of the time, of which the upper bits are to be used.
pub(super) fn hash(s: &State) -> u64 {
    (s.now.0 ^ s.tick_phase.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// One of seven, by a hash of the time.
fn draw(s: &State) -> u64 {
    ((hash(s) >> 32) * CYCLE_RAND) >> 32
}

impl Bbr {
    /// `bbr_bw`.
    fn bandwidth(&self) -> u64 {
        self.long_term.get().unwrap_or(self.bw.get())
    }

    /// `bbr_tso_segs_goal`.
    fn bundle(&self, s: &State) -> u64 {
        let least = if self.rate < MIN_TSO_RATE { 1 } else { 2 };
        ((self.rate >> PACING_SHIFT).min(GSO_MAX_SIZE) / s.mss).clamp(least, 127)
    }

    /// `bbr_bdp`.
    fn bdp(&self, bw: u64, gain: u64) -> u64 {
        if self.min_rtt == u64::MAX {
            return INIT_CWND;
        }
        ((bw.saturating_mul(self.min_rtt).saturating_mul(gain)) >> 8).div_ceil(BW_UNIT)
    }

    /// `bbr_quantization_budget`: room for three bundles, an even number, and the probe's two.
    fn quantized(&self, s: &State, cwnd: u64) -> u64 {
        let cwnd = (cwnd + 3 * self.bundle(s) + 1) & !1;
        cwnd + if self.mode == Mode::ProbeBw && self.cycle_index == 0 { 2 } else { 0 }
    }

    /// `bbr_inflight`.
    fn inflight(&self, s: &State, bw: u64, gain: u64) -> u64 {
        self.quantized(s, self.bdp(bw, gain))
    }

    /// `bbr_packets_in_net_at_edt`: what will be in the network when the next segment leaves.
    fn in_net_at_departure(&self, s: &State, sample: &RateSample, now: u32) -> u64 {
        let wait = sample.departs.since(s.now).micros();
        let delivered = self.bandwidth().saturating_mul(wait) >> 24;
        let more = if self.pacing_gain > BBR_UNIT { self.bundle(s) } else { 0 };
        (u64::from(now) + more).saturating_sub(delivered)
    }

    /// `bbr_save_cwnd`.
    fn save_cwnd(&mut self, cwnd: u64) {
        self.prior_cwnd = if self.prior_phase == Phase::Open && self.mode != Mode::ProbeRtt {
            cwnd
        } else {
            self.prior_cwnd.max(cwnd)
        };
    }

    /// `bbr_set_pacing_rate`.
    fn set_rate(&mut self, s: &State, gain: u64) {
        let rate = bytes_per_second(self.bandwidth(), gain, s.mss);
        if !self.has_seen_rtt && s.srtt != Span::ZERO {
            (self.has_seen_rtt, self.rate) = (true, first_rate(s));
        }
        if self.full_bw_reached || rate > self.rate {
            self.rate = rate;
        }
    }

    /// `bbr_reset_mode` and `bbr_reset_probe_bw_mode`.
    fn reset_mode(&mut self, s: &State) {
        if !self.full_bw_reached {
            self.mode = Mode::Startup;
            return;
        }
        self.mode = Mode::ProbeBw;
        self.cycle_index = CYCLE.len() - 1 - draw(s) as usize;
        self.advance_cycle();
    }

    fn advance_cycle(&mut self) {
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
        self.cycle_began = self.delivered_at;
    }

    fn sample_long_term(&mut self, s: &State, sample: &RateSample) {
        let probing = self.mode == Mode::ProbeBw;
        match self.long_term.update(sample, self.round_start, probing, s.mss) {
            Policed::Nothing => {}
            Policed::Found => self.pacing_gain = BBR_UNIT,
            Policed::Over => self.reset_mode(s),
        }
    }

    /// `bbr_update_bw`.
    fn update_bw(&mut self, s: &State, sample: &RateSample) {
        self.round_start = false;
        let (Some(delivered), Some(interval)) = (sample.delivered, sample.interval) else { return };
        let us = interval.micros();
        if us == 0 {
            return;
        }
        if sample.prior_delivered >= self.next_round {
            self.next_round = sample.total_delivered;
            self.rounds += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.sample_long_term(s, sample);
        let bw = delivered * BW_UNIT / us;
        if !sample.app_limited || bw >= self.bw.get() {
            self.bw.update(BW_ROUNDS, self.rounds, bw);
        }
    }

    /// `bbr_is_next_cycle_phase`.
    fn is_next_phase(&self, s: &State, sample: &RateSample) -> bool {
        let since = sample.delivered_at.micros().saturating_sub(self.cycle_began.micros());
        let full_length = since > self.min_rtt;
        if self.pacing_gain == BBR_UNIT {
            return full_length;
        }
        let in_net = self.in_net_at_departure(s, sample, sample.prior_in_flight);
        let bw = self.bw.get();
        if self.pacing_gain > BBR_UNIT {
            let filled = in_net >= self.inflight(s, bw, self.pacing_gain);
            return full_length && (sample.losses > 0 || filled);
        }
        full_length || in_net <= self.inflight(s, bw, BBR_UNIT)
    }

    /// `bbr_check_full_bw_reached`.
    fn check_full_bw(&mut self, sample: &RateSample) {
        if self.full_bw_reached || !self.round_start || sample.app_limited {
            return;
        }
        if self.bw.get() >= (self.full_bw * FULL_BW_THRESH) >> 8 {
            (self.full_bw, self.full_bw_count) = (self.bw.get(), 0);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_reached = self.full_bw_count >= FULL_BW_COUNT;
    }

    /// `bbr_check_drain`; returns ssthresh in segments if that changes.
    fn check_drain(&mut self, s: &State, sample: &RateSample) -> Option<u64> {
        let mut ssthresh = None;
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            ssthresh = Some(self.inflight(s, self.bw.get(), BBR_UNIT));
        }
        let in_net = self.in_net_at_departure(s, sample, s.packets_in_flight());
        if self.mode == Mode::Drain && in_net <= self.inflight(s, self.bw.get(), BBR_UNIT) {
            self.reset_mode(s);
        }
        ssthresh
    }

    /// `bbr_init`, for what goes by the handshake.
    fn begin(&mut self, s: &State) {
        if s.srtt != Span::ZERO {
            self.min_rtt = s.srtt.micros();
        }
        self.min_rtt_stamp = Some(jiffies(s, s.now));
    }

    /// `bbr_update_gains`.
    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.long_term.get().is_some() => (BBR_UNIT, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle_index], CWND_GAIN),
            Mode::ProbeRtt => (BBR_UNIT, BBR_UNIT),
        };
    }

    /// `bbr_ack_aggregation_cwnd`.
    fn aggregation(&self) -> u64 {
        if !self.full_bw_reached {
            return 0;
        }
        self.extra_acked.get().min(self.bandwidth().saturating_mul(EXTRA_ACKED_MAX_US) / BW_UNIT)
    }

    /// `bbr_set_cwnd_to_recover_or_restore`: cwnd, and whether that is all.
    fn recover_or_restore(&mut self, s: &State, sample: &RateSample, cwnd: u64) -> (u64, bool) {
        let (acked, in_flight) = (u64::from(sample.acked), u64::from(s.packets_in_flight()));
        let mut cwnd = cwnd.saturating_sub(sample.losses.into()).max(1);
        if s.phase == Phase::Recovery && self.prior_phase != Phase::Recovery {
            self.packet_conservation = true;
            self.next_round = sample.total_delivered;
            cwnd = in_flight + acked;
        } else if self.prior_phase != Phase::Open && s.phase == Phase::Open {
            cwnd = cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        self.prior_phase = s.phase;
        if self.packet_conservation {
            return (cwnd.max(in_flight + acked), true);
        }
        (cwnd, false)
    }

    /// `bbr_set_cwnd`, in segments.
    fn cwnd(&mut self, s: &State, sample: &RateSample, cwnd: u64) -> u64 {
        let mut cwnd = cwnd;
        if sample.acked > 0 {
            let (kept, done) = self.recover_or_restore(s, sample, cwnd);
            cwnd = kept;
            if !done {
                let target = self.bdp(self.bandwidth(), self.cwnd_gain) + self.aggregation();
                let target = self.quantized(s, target);
                let acked = u64::from(sample.acked);
                if self.full_bw_reached {
                    cwnd = (cwnd + acked).min(target);
                } else if cwnd < target || sample.total_delivered < INIT_CWND {
                    cwnd += acked;
                }
                cwnd = cwnd.max(MIN_CWND);
            }
        }
        if self.mode == Mode::ProbeRtt { cwnd.min(MIN_CWND) } else { cwnd }
    }
}

impl ByRate for Bbr {
    fn control(&mut self, s: &State, sample: &RateSample) -> Controlled {
        let cwnd = (s.cwnd / s.mss).max(1);
        self.delivered_at = sample.delivered_at;
        if self.rate == 0 {
            (self.rate, self.has_seen_rtt) = (first_rate(s), s.srtt != Span::ZERO);
        }
        self.update_bw(s, sample);
        self.extra_acked.update(sample, self.round_start, self.bandwidth(), cwnd);
        if self.mode == Mode::ProbeBw && self.is_next_phase(s, sample) {
            self.advance_cycle();
        }
        self.check_full_bw(sample);
        let ssthresh = self.check_drain(s, sample).map_or(s.ssthresh, |segments| segments * s.mss);
        let (cwnd, app_limited) = self.update_min_rtt(s, sample, cwnd);
        self.update_gains();
        self.set_rate(s, self.pacing_gain);
        Controlled { cwnd: self.cwnd(s, sample, cwnd) * s.mss, ssthresh, app_limited }
    }

    /// `bbr_set_state`.
    fn on_expired(&mut self, s: &State, sample: &RateSample) {
        self.prior_phase = Phase::Loss;
        self.full_bw = 0;
        self.round_start = true;
        self.sample_long_term(s, sample);
    }

    /// `bbr_cwnd_event`.
    fn on_restart(&mut self, s: &State) -> u64 {
        if self.min_rtt_stamp.is_none() {
            self.begin(s);
        }
        self.idle_restart = true;
        self.extra_acked.restart(s.now);
        match self.mode {
            Mode::ProbeBw => self.set_rate(s, BBR_UNIT),
            Mode::ProbeRtt => return self.check_probe_rtt_done(s, s.cwnd / s.mss) * s.mss,
            Mode::Startup | Mode::Drain => {}
        }
        s.cwnd
    }
}

impl Window for Bbr {
    fn initial(&self, mss: u64) -> u64 {
        INIT_CWND * mss
    }

    fn by_rate(&mut self) -> Option<&mut dyn ByRate> {
        Some(self)
    }

    fn after_detection(&self) -> bool {
        true
    }

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.cwnd
    }

    /// No restart: `tcp_slow_start_after_idle_check` leaves it to the law.
    fn on_idle(&mut self, s: &State, _idle: Span, _rto: Span) -> Windows {
        Windows::unchanged(s)
    }

    fn on_loss(&mut self, s: &State, _flight: u64) -> u64 {
        self.save_cwnd(s.cwnd / s.mss);
        target(s)
    }

    fn on_timeout(&mut self, s: &State, _flight: u64, _repeated: bool) -> u64 {
        if lowers_on_timeout(s) {
            self.save_cwnd(s.cwnd / s.mss);
        }
        target(s)
    }

    /// `bbr_undo_cwnd`.
    fn on_undo(&mut self, _s: &State) {
        (self.full_bw, self.full_bw_count) = (0, 0);
        self.long_term.reset();
    }

    fn pacing_rate(&self, s: &State) -> Option<u64> {
        Some(if self.rate == 0 { first_rate(s) } else { self.rate })
    }
}

#[cfg(test)]
mod tests;
