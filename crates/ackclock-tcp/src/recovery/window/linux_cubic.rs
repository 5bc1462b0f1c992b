//! CUBIC as Linux has it (`tcp_cubic.c`): in whole segments, ticks of the clock and integers, and
//! from cwnd where RFC 9438 has FlightSize. Names are those of the kernel.
//!
//! - Time is counted in jiffies, and on the curve in 1/1024 s (`BICTCP_HZ`). The curve is looked at
//!   once a jiffy, and for cwnd that has not changed once in 1/32 s (`bictcp_update`).
//! - The curve says after how many segments delivered (`cnt`) cwnd grows by one.
//! - The round trip that the curve looks ahead is the shortest one (`delay_min`), without what was
//!   measured in the second after a loss.
//! - A loss keeps 717/1024 of cwnd.
//! - A timeout forgets everything (`bictcp_reset`).
//!
//! HyStart (`hystart_update`) ends slow start from 16 segments on: when ACKs that come less than 2
//! ms apart have gone on for half of `delay_min`, or all of it where the sender paces, or when the
//! shortest of more than eight round trips in a round is an eighth above `delay_min` (4 to 16 ms).
//!
//! The cube root is our own: the kernel takes one step of Newton's method from a table of 64 roots,
//! so that its root is a few thousandths off. This one starts close to where that does.

use super::linux::{self, Growth};
use super::{Window, Windows};
use crate::recovery::linux::{
    HZ, INIT_CWND, bound_to_half_window, jiffies, lowers_on_timeout, to_jiffies,
};
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// `beta` of `BICTCP_BETA_SCALE`.
const BETA: u64 = 717;
const SCALE: u64 = 1024;
/// `bic_scale` times ten: segments / (1/1024 s)^3, scaled by 2^40.
const CUBE_RTT_SCALE: u64 = 410;
const CUBE_FACTOR: u64 = (1 << 40) / CUBE_RTT_SCALE;
/// Segments delivered for each of the Reno-friendly window, in eighths of cwnd (`beta_scale`):
/// 8 * (1024 + 717) / 3 / (1024 - 717).
const BETA_SCALE: u64 = 15;

/// HyStart: from which cwnd on, how far apart ACKs of a train are, how many round trips count, and
/// what they have to rise by.
const LOW_WINDOW: u64 = 16;
const ACK_DELTA: u64 = 2_000;
const MIN_SAMPLES: u8 = 8;
const DELAY_MIN: u64 = 4_000;
const DELAY_MAX: u64 = 16_000;
/// What an ACK train is allowed for offloading (`hystart_ack_delay`): the time of four
/// super-segments, which is less only above 2 Gbit/s.
const ACK_DELAY: u64 = 1_000;
/// The window law of CUBIC in Linux.
#[derive(Default)]
pub struct LinuxCubic {
    growth: Growth,
    curve: Curve,
    hystart: LinuxHyStart,
}

/// `struct bictcp`, but for HyStart. What every ACK touches stands first.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Curve {
    cnt: u64,
    ack_cnt: u64,
    last_cwnd: u64,
    last_time: u64,
    /// In jiffies; `None` before the first ACK of an epoch.
    epoch_start: Option<u64>,
    /// In microseconds; 0 before the first round trip.
    delay_min: u64,
    last_max_cwnd: u64,
    origin_point: u64,
    k: u64,
    tcp_cwnd: u64,
}

/// HyStart's part of `struct bictcp`, in microseconds.
#[derive(Clone, Copy)]
struct LinuxHyStart {
    sample_cnt: u8,
    found: bool,
    round_start: u64,
    end_seq: u64,
    last_ack: u64,
    curr_rtt: u64,
}

impl Default for LinuxHyStart {
    fn default() -> LinuxHyStart {
        LinuxHyStart {
            sample_cnt: 0,
            found: false,
            round_start: 0,
            end_seq: 0,
            last_ack: 0,
            curr_rtt: u64::MAX,
        }
    }
}

impl Curve {
    /// `bictcp_update`.
    fn update(&mut self, now: u64, cwnd: u64, delivered: u64) {
        self.ack_cnt += delivered;
        if self.last_cwnd == cwnd && now - self.last_time <= HZ / 32 {
            return;
        }
        self.renew(now, cwnd, delivered);
    }

    /// The rest of it, which few ACKs need.
    #[inline(never)]
    fn renew(&mut self, now: u64, cwnd: u64, delivered: u64) {
        if self.epoch_start.is_none() || now != self.last_time {
            (self.last_cwnd, self.last_time) = (cwnd, now);
            let start = match self.epoch_start {
                Some(start) => start,
                None => self.begin_epoch(now, cwnd, delivered),
            };
            self.look_ahead(now - start, cwnd);
        }
        self.befriend_reno(cwnd);
        self.cnt = self.cnt.max(2);
    }

    fn begin_epoch(&mut self, now: u64, cwnd: u64, delivered: u64) -> u64 {
        self.epoch_start = Some(now);
        (self.ack_cnt, self.tcp_cwnd) = (delivered, cwnd);
        let below = self.last_max_cwnd.saturating_sub(cwnd);
        self.k = cube_root(CUBE_FACTOR.saturating_mul(below));
        self.origin_point = self.last_max_cwnd.max(cwnd);
        now
    }

    /// Where the curve will be a round trip from now.
    fn look_ahead(&mut self, elapsed: u64, cwnd: u64) {
        let ticks = elapsed + to_jiffies(Span::from_micros(self.delay_min));
        let t = (ticks << 10) / HZ;
        // Beyond 2^20 the product of 410 and a cube would not fit; that is after a quarter of an
        // hour.
        let offs = t.abs_diff(self.k).min(1 << 18);
        let delta = (CUBE_RTT_SCALE * offs * offs * offs) >> 40;
        let target = if t < self.k {
            self.origin_point.saturating_sub(delta)
        } else {
            self.origin_point + delta
        };
        self.cnt = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max_cwnd == 0 {
            // 5 % a round trip while the capacity is unknown.
            self.cnt = self.cnt.min(20);
        }
    }

    /// At least as fast as Reno.
    fn befriend_reno(&mut self, cwnd: u64) {
        let delta = ((cwnd * BETA_SCALE) >> 3).max(1);
        // As many as are left above a whole number of times, of which at least one stays.
        if self.ack_cnt > delta {
            let times = (self.ack_cnt - 1) / delta;
            self.ack_cnt -= times * delta;
            self.tcp_cwnd += times;
        }
        if self.tcp_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
        }
    }
}

impl LinuxHyStart {
    /// `bictcp_hystart_reset`.
    fn begin_round(&mut self, s: &State) {
        (self.round_start, self.last_ack) = (s.now.micros(), s.now.micros());
        self.end_seq = s.snd_max;
        (self.curr_rtt, self.sample_cnt) = (u64::MAX, 0);
    }

    /// `hystart_update`: whether slow start is over.
    fn update(&mut self, s: &State, delay: u64, delay_min: u64) -> bool {
        if s.snd_una > self.end_seq {
            self.begin_round(s);
        }
        if linux::cwnd(s) < LOW_WINDOW {
            return false;
        }
        let now = s.now.micros();
        if now - self.last_ack <= ACK_DELTA {
            self.last_ack = now;
            // `sk_pacing_status`: what leaves at a rate spreads over more of a round trip.
            let threshold = (delay_min + ACK_DELAY) >> u32::from(!s.paces);
            self.found |= now - self.round_start > threshold;
        }
        self.curr_rtt = self.curr_rtt.min(delay);
        if self.sample_cnt < MIN_SAMPLES {
            self.sample_cnt += 1;
        } else {
            let rise = (delay_min >> 3).clamp(DELAY_MIN, DELAY_MAX);
            self.found |= self.curr_rtt > delay_min + rise;
        }
        self.found
    }
}

impl LinuxCubic {
    /// `cubictcp_state`, on TCP_CA_Loss.
    fn begin_anew(&mut self, s: &State) {
        self.curve = Curve::default();
        self.hystart = LinuxHyStart::default();
        self.hystart.begin_round(s);
    }
}

impl Window for LinuxCubic {
    fn counts_segments(&self) -> bool {
        true
    }

    fn waits_for_short(&self) -> bool {
        true
    }

    fn segment(&self, mss: u64, max_window: u64) -> u64 {
        bound_to_half_window(mss, max_window)
    }

    fn after_detection(&self) -> bool {
        true
    }

    fn on_measured(&mut self, s: &State, a: &AckSummary) -> Option<u64> {
        let delay = a.rtt_latest?.micros().max(1);
        let curve = &mut self.curve;
        let shorter = curve.delay_min == 0 || curve.delay_min > delay;
        // Almost every round trip outside of slow start, so that this comes before the clock.
        if !shorter && s.cwnd >= s.ssthresh {
            return None;
        }
        if curve.epoch_start.is_some_and(|start| jiffies(s, s.now) < start + HZ) {
            return None;
        }
        if shorter {
            curve.delay_min = delay;
        }
        let over = linux::in_slow_start(s)
            && !self.hystart.found
            && self.hystart.update(s, delay, self.curve.delay_min);
        over.then_some(s.cwnd)
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        let curve = &mut self.curve;
        self.growth.on_ack(s, a, |cwnd, delivered| {
            curve.update(jiffies(s, s.now), cwnd, delivered);
            curve.cnt
        })
    }

    fn measures(&self) -> bool {
        true
    }

    fn on_sent(&mut self, s: &State, in_flight: u64, rto: Span) -> Option<Windows> {
        self.growth.on_sent(s, in_flight, rto)
    }

    fn on_start(&mut self, s: &State, idle: Span) {
        // cubictcp_cwnd_event: the clock of the curve stood still meanwhile.
        let now = jiffies(s, s.now);
        let ticks = now - jiffies(s, Time(s.now.0.saturating_sub(idle.0)));
        if let Some(start) = &mut self.curve.epoch_start {
            *start = (*start + ticks).min(now);
        }
    }

    fn initial(&self, mss: u64) -> u64 {
        INIT_CWND * mss
    }

    fn on_idle(&mut self, s: &State, idle: Span, rto: Span) -> Windows {
        self.growth.on_idle(s, idle, rto)
    }

    fn on_loss(&mut self, s: &State, _flight: u64) -> u64 {
        self.growth.reset(s);
        let (cwnd, curve) = (linux::cwnd(s), &mut self.curve);
        curve.epoch_start = None;
        // Fast convergence.
        let falls = cwnd < curve.last_max_cwnd;
        curve.last_max_cwnd = if falls { cwnd * (SCALE + BETA) / (2 * SCALE) } else { cwnd };
        (cwnd * BETA / SCALE).max(2) * s.mss
    }

    fn beta_ecn(&self) -> u64 {
        85
    }

    fn on_timeout(&mut self, s: &State, flight: u64, _repeated: bool) -> u64 {
        let ssthresh = if lowers_on_timeout(s) { self.on_loss(s, flight) } else { s.ssthresh };
        self.growth.reset(s);
        self.begin_anew(s);
        ssthresh
    }

    fn on_too_big(&mut self, s: &State) {
        self.begin_anew(s);
    }
}

/// The cube root: one step of Newton's method from the root of the first six bits.
fn cube_root(a: u64) -> u64 {
    // Nothing between 0 and 2^31 is asked for.
    if a < 64 {
        return 0;
    }
    let bits = u64::from(64 - a.leading_zeros());
    let b = ((bits * 84) >> 8) - 1;
    // Six bits are left.
    let root = ROOTS[(a >> (3 * b)) as usize % ROOTS.len()];
    let x = (u64::from(root) << b) >> 6;
    ((2 * x + a / (x * (x - 1))) * 341) >> 10
}

/// 64 times a cube root for what begins with the bits of each number, 8 to 63. They are as much too
/// large as the kernel's table: 1.106 n + 0.5 is within a few units of it.
static ROOTS: [u16; 64] = {
    let (mut roots, mut n, mut x) = ([64; 64], 0, 64);
    while n < roots.len() {
        let cube = ((1106 * n as u64 + 500) << 18) / 1000;
        while (x as u64 + 1).pow(3) <= cube {
            x += 1;
        }
        roots[n] = x;
        n += 1;
    }
    roots
};
