//! BBR version 3 (draft-ietf-ccwg-bbr-06 sections 5.2 to 5.6; Cardwell, Swett and Beshay 2026).
//!
//! As with version 1, pacing and cwnd go by a model of the path: the largest delivery rate of two
//! probes and the least round trip of ten seconds. Losses bound it in two ways. A probe for
//! bandwidth that loses more than 2 % sets how much may be in flight until the next ones have shown
//! that more is safe (`inflight_longterm`). Losses between probes bound rate and volume until the
//! next one (`bw_shortterm`, `inflight_shortterm`). A round trip is looked for every five seconds,
//! with half of a BDP in flight.
//!
//! The draft specifies no response to ECN, and neither does this. What is random there is a hash of
//! time here. Bundles are those of the pacing, and `send_quantum` counts only in how much may be in
//! flight; the draft leaves that open (section 5.6.3). Volumes are bytes, rates bytes a second.
//! Functions have the names of the draft's.

mod loss;
mod model;
mod probe_bw;
mod probe_rtt;

use super::bbr::target;
use super::by_rate::{ByRate, Controlled, LostSegment, RateSample};
use super::{Window, Windows};
use crate::recovery::linux::{INIT_CWND, lowers_on_timeout};
use crate::recovery::minmax::MaxFilter;
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

use loss::Restored;
use probe_bw::AckPhase;

/// What has no bound.
const INFINITY: u64 = u64::MAX;
/// `PacingMarginPercent`.
const PACING_MARGIN: u64 = 1;
/// `MinPipeCwnd`, in segments.
const MIN_PIPE: u64 = 4;
/// The most of `send_quantum`: "64 KBytes".
const QUANTUM: u64 = 65_536;

/// `BBR.state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    /// `IsInAProbeBWState`.
    fn probes_bw(self) -> bool {
        matches!(self, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// `IsProbingBW`.
    fn accelerates(self) -> bool {
        matches!(self, Mode::Startup | Mode::Refill | Mode::Up)
    }

    /// The gains of pacing and of cwnd, in percent (section 5.6.1).
    fn gains(self) -> (u64, u64) {
        match self {
            Mode::Startup => (277, 200),
            Mode::Drain => (50, 200),
            Mode::Down => (90, 200),
            Mode::Cruise | Mode::Refill => (100, 200),
            Mode::Up => (125, 225),
            Mode::ProbeRtt => (100, 50),
        }
    }
}

/// The sample of an ACK (`RS`), in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Rs {
    /// Segments that had been delivered when that one was sent that the ACK delivers; `None` if it
    /// delivers none.
    prior_delivered: Option<u64>,
    delivered: u64,
    delivery_rate: u64,
    newly_acked: u64,
    newly_lost: u64,
    tx_in_flight: u64,
    lost: u64,
    app_limited: bool,
    rtt: Option<Span>,
}

impl Rs {
    fn new(s: &State, sample: &RateSample) -> Rs {
        let delivered = sample.delivered.unwrap_or(0).saturating_mul(s.mss);
        let rate = sample.interval.filter(|interval| *interval > Span::ZERO);
        Rs {
            prior_delivered: sample.delivered.map(|_| sample.prior_delivered),
            delivered,
            delivery_rate: rate.map_or(0, |interval| ratio(delivered, 1_000_000_000, interval.0)),
            newly_acked: u64::from(sample.acked) * s.mss,
            newly_lost: u64::from(sample.losses) * s.mss,
            tx_in_flight: u64::from(sample.tx_in_flight) * s.mss,
            lost: sample.lost.saturating_mul(s.mss),
            app_limited: sample.app_limited,
            rtt: sample.rtt,
        }
    }
}

/// `a * b / c`, as far as it fits.
fn ratio(a: u64, b: u64, c: u64) -> u64 {
    u64::try_from(u128::from(a) * u128::from(b) / u128::from(c)).unwrap_or(INFINITY)
}

fn percent(n: u64, percent: u64) -> u64 {
    if n == INFINITY { INFINITY } else { ratio(n, percent, 100) }
}

/// `C.inflight`.
fn in_flight(s: &State) -> u64 {
    u64::from(s.packets_in_flight()) * s.mss
}

/// The window law of BBR version 3.
#[derive(Debug)]
pub struct Bbr3 {
    mode: Mode,
    /// The first ACK has come.
    began: bool,
    /// `C.cwnd` while an input is dealt with.
    cwnd: u64,
    /// `C.delivered`, in segments.
    delivered: u64,
    round_count: u64,
    /// In segments delivered.
    next_round: u64,
    round_start: bool,
    /// `max_bw_filter`: of the cycle before this one, and of this one.
    max_bw: [u64; 2],
    bw: u64,
    /// Both in nanoseconds.
    min_rtt: u64,
    probe_rtt_min_delay: u64,
    min_rtt_stamp: Time,
    probe_rtt_min_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    full_bw: u64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start_round: u64,
    extra_acked: MaxFilter,
    extra_acked_start: Time,
    extra_acked_delivered: u64,
    bw_latest: u64,
    inflight_latest: u64,
    bw_shortterm: u64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
    loss_round_delivered: u64,
    loss_round_start: bool,
    loss_in_round: bool,
    /// Lost in this round: ranges that do not touch, and where the last of them ends.
    ranges_lost: u32,
    range_end: u64,
    undo: Restored,
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    cycle_stamp: Time,
    bw_probe_wait: Span,
    rounds_since_probe_up: u64,
    bw_probe_up_rounds: u32,
    bw_probe_up_acked: u64,
    probe_up_acked_per_inc: u64,
    /// `C.is_cwnd_limited`: in the round before this one, and in this one.
    cwnd_limited: [bool; 2],
    idle_restart: bool,
    prior_phase: Phase,
    prior_cwnd: u64,
    /// `C.pacing_rate`; 0 before there is one.
    rate: u64,
    has_seen_rtt: bool,
}

impl Default for Bbr3 {
    /// `OnInit`.
    fn default() -> Bbr3 {
        Bbr3 {
            mode: Mode::Startup,
            began: false,
            cwnd: 0,
            delivered: 0,
            round_count: 0,
            next_round: 0,
            round_start: false,
            max_bw: [0; 2],
            bw: 0,
            min_rtt: INFINITY,
            probe_rtt_min_delay: INFINITY,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            full_bw: 0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            drain_start_round: 0,
            extra_acked: MaxFilter::default(),
            extra_acked_start: Time::ZERO,
            extra_acked_delivered: 0,
            bw_latest: 0,
            inflight_latest: 0,
            bw_shortterm: INFINITY,
            inflight_shortterm: INFINITY,
            inflight_longterm: INFINITY,
            loss_round_delivered: 0,
            loss_round_start: false,
            loss_in_round: false,
            ranges_lost: 0,
            range_end: 0,
            undo: Restored::default(),
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            cycle_stamp: Time::ZERO,
            bw_probe_wait: Span::ZERO,
            rounds_since_probe_up: 0,
            bw_probe_up_rounds: 0,
            bw_probe_up_acked: 0,
            probe_up_acked_per_inc: INFINITY,
            cwnd_limited: [false; 2],
            idle_restart: false,
            prior_phase: Phase::Open,
            prior_cwnd: 0,
            rate: 0,
            has_seen_rtt: false,
        }
    }
}

/// `InitPacingRate`: the initial window for each round trip, of a millisecond if none is known.
fn first_rate(s: &State) -> u64 {
    let rtt = if s.srtt == Span::ZERO { Span::from_millis(1) } else { s.srtt };
    percent(ratio(s.initial_window, 1_000_000_000, rtt.0), Mode::Startup.gains().0)
}

impl Bbr3 {
    /// The rest of `OnInit`, when the first data goes out.
    fn begin(&mut self, s: &State) {
        self.began = true;
        if s.srtt != Span::ZERO {
            self.min_rtt = s.srtt.0;
        }
        (self.min_rtt_stamp, self.probe_rtt_min_stamp) = (s.now, s.now);
        self.extra_acked_start = s.now;
        (self.rate, self.has_seen_rtt) = (first_rate(s), s.srtt != Span::ZERO);
    }

    fn reset_full_bw(&mut self, full_bw: u64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (full_bw, 0, false);
    }

    /// `CheckFullBWReached`.
    fn check_full_bw(&mut self, rs: &Rs) {
        if self.full_bw_now || !self.round_start || rs.app_limited {
            return;
        }
        if rs.delivery_rate >= percent(self.full_bw, 125) {
            self.reset_full_bw(rs.delivery_rate);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// `CheckStartupDone`.
    fn check_startup_done(&mut self, s: &State, rs: &Rs) {
        self.check_startup_high_loss(s, rs);
        if self.mode == Mode::Startup && self.full_bw_reached {
            (self.mode, self.drain_start_round) = (Mode::Drain, self.round_count);
        }
    }

    /// `CheckDrainDone`.
    fn check_drain_done(&mut self, s: &State) {
        if self.mode == Mode::Drain
            && (in_flight(s) <= self.inflight(s, self.bw)
                || self.round_count > self.drain_start_round + 3)
        {
            self.start_down(s);
        }
    }

    /// `BDPMultiple`, with a gain in percent.
    fn bdp(&self, s: &State, bw: u64, gain: u64) -> u64 {
        if self.min_rtt == INFINITY {
            return s.initial_window;
        }
        percent(ratio(bw, self.min_rtt, 1_000_000_000), gain)
    }

    /// `SetSendQuantum`.
    fn send_quantum(&self, s: &State) -> u64 {
        (self.rate / 1000).min(QUANTUM).max(2 * s.mss)
    }

    /// `QuantizationBudget`.
    fn quantized(&self, s: &State, volume: u64) -> u64 {
        let volume = volume.max(3 * self.send_quantum(s)).max(MIN_PIPE * s.mss);
        volume.saturating_add(if self.mode == Mode::Up { 2 * s.mss } else { 0 })
    }

    /// `Inflight` with a gain of 1.
    fn inflight(&self, s: &State, bw: u64) -> u64 {
        self.quantized(s, self.bdp(s, bw, 100))
    }

    /// `TargetInflight`.
    fn target_inflight(&self, s: &State) -> u64 {
        self.bdp(s, self.bw, 100).min(self.cwnd)
    }

    /// `SaveCwnd`.
    fn save_cwnd(&mut self) {
        self.prior_cwnd = if self.prior_phase == Phase::Open && self.mode != Mode::ProbeRtt {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// `SetPacingRateWithGain`, in percent.
    fn set_rate(&mut self, s: &State, gain: u64) {
        if !self.has_seen_rtt && s.srtt != Span::ZERO {
            (self.has_seen_rtt, self.rate) = (true, first_rate(s));
        }
        let rate = percent(percent(self.bw, gain), 100 - PACING_MARGIN);
        if self.full_bw_reached || rate > self.rate {
            self.rate = rate;
        }
    }

    /// `SetCwnd`.
    fn set_cwnd(&mut self, s: &State, rs: &Rs) {
        // The end of a recovery, or of the slow start after a timeout, restores cwnd.
        if self.prior_phase != Phase::Open && s.phase == Phase::Open {
            self.restore_cwnd();
        }
        self.prior_phase = s.phase;
        let volume = self.bdp(s, self.bw, self.mode.gains().1);
        let most = self.quantized(s, volume.saturating_add(self.extra_acked.get()));
        let grown = self.cwnd.saturating_add(rs.newly_acked);
        if self.full_bw_reached {
            self.cwnd = grown.min(most);
        } else if self.cwnd < most || self.delivered.saturating_mul(s.mss) < s.initial_window {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE * s.mss);
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd(s));
        }
        self.bound_cwnd(s);
    }

    /// `BoundCwndForModel`.
    fn bound_cwnd(&mut self, s: &State) {
        let cap = match self.mode {
            Mode::Startup | Mode::Drain => INFINITY,
            Mode::Down | Mode::Refill | Mode::Up => self.inflight_longterm,
            Mode::Cruise | Mode::ProbeRtt => self.inflight_with_headroom(s),
        };
        self.cwnd = self.cwnd.min(cap.min(self.inflight_shortterm).max(MIN_PIPE * s.mss));
    }
}

impl ByRate for Bbr3 {
    /// `UpdateOnACK`.
    fn control(&mut self, s: &State, sample: &RateSample) -> Controlled {
        if !self.began {
            self.begin(s);
        }
        (self.cwnd, self.delivered) = (s.cwnd, sample.total_delivered);
        let rs = Rs::new(s, sample);
        self.update_latest_delivery_signals(&rs);
        self.update_congestion_signals(&rs);
        self.update_extra_acked(s, &rs);
        self.check_full_bw(&rs);
        self.check_startup_done(s, &rs);
        self.check_drain_done(s);
        self.update_cycle_phase(s, &rs);
        self.update_min_rtt(s, &rs);
        let app_limited = self.check_probe_rtt(s, &rs);
        self.advance_latest_delivery_signals(&rs);
        self.bound_bw();
        self.set_rate(s, self.mode.gains().0);
        self.set_cwnd(s, &rs);
        Controlled { cwnd: self.cwnd, ssthresh: s.ssthresh, app_limited }
    }

    fn on_lost(&mut self, s: &State, lost: &LostSegment) {
        (self.cwnd, self.delivered) = (s.cwnd, lost.total_delivered);
        self.handle_lost(s, lost);
    }

    fn on_expired(&mut self, _s: &State, _sample: &RateSample) {
        self.prior_phase = Phase::Loss;
    }

    /// `HandleRestartFromIdle`.
    fn on_restart(&mut self, s: &State) -> u64 {
        if !self.began {
            self.begin(s);
        }
        self.cwnd = s.cwnd;
        self.idle_restart = true;
        self.extra_acked_start = s.now;
        if self.mode.probes_bw() {
            self.set_rate(s, 100);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(s);
        }
        self.cwnd
    }
}

impl Window for Bbr3 {
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

    fn measures(&self) -> bool {
        true
    }

    fn on_sent(&mut self, s: &State, in_flight: u64, _rto: Span) -> Option<Windows> {
        self.cwnd_limited[1] |= in_flight + s.mss > s.cwnd;
        None
    }

    /// No restart (section 5.4.1).
    fn on_idle(&mut self, s: &State, _idle: Span, _rto: Span) -> Windows {
        Windows::unchanged(s)
    }

    /// `OnEnterFastRecovery`.
    fn on_loss(&mut self, s: &State, _flight: u64) -> u64 {
        self.cwnd = s.cwnd;
        self.save_state();
        target(s)
    }

    /// `OnEnterRTO`, once for all timeouts of a window of data: what follows saves what they left.
    fn on_timeout(&mut self, s: &State, _flight: u64, _repeated: bool) -> u64 {
        self.cwnd = s.cwnd;
        if lowers_on_timeout(s) {
            self.save_state();
        }
        // What is judged lost now must not save the window of one segment.
        self.prior_phase = Phase::Loss;
        target(s)
    }

    fn on_undo(&mut self, _s: &State) {
        self.handle_spurious();
    }

    fn pacing_rate(&self, s: &State) -> Option<u64> {
        Some(if self.rate == 0 { first_rate(s) } else { self.rate })
    }
}

#[cfg(test)]
mod tests;
