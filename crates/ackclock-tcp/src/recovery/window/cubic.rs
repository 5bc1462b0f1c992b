//! CUBIC: RFC 9438, from the text of its last draft, draft-ietf-tcpm-rfc8312bis-15.
//!
//! Arithmetic is in binary64, without a mathematical library. Windows are in bytes and parts of a
//! byte, times in seconds.
//!
//! What the text leaves open, and what is done here:
//! - A congestion avoidance stage begins with the first new ACK at cwnd >= ssthresh. Section 4.10
//!   asks for slow start at cwnd = ssthresh too, but sections 4.6 and 4.10 set one to the other to
//!   begin congestion avoidance (RFC 5681 section 3.1 leaves it open).
//! - A stage that begins at or above W_max, or that finds no W_max, takes W_max = cwnd and K = 0,
//!   as sections 4.8 and 4.10 have it after a timeout and after a slow start without loss
//!   (inferred).
//! - A new stage begins also where cwnd has been changed by others, as after an idle time
//!   (inferred).
//! - In the Reno-friendly region cwnd is not lowered to W_est: section 4.2 has the larger of the
//!   two (inferred).
//! - An ACK of more than cwnd, as after a timeout, counts in W_est as one of cwnd (inferred: Reno
//!   adds a segment for it).
//! - A repeated timeout of the same segment leaves ssthresh alone, as in RFC 5681 section 3.1
//!   (inferred: section 4.8 "follows Reno").
//! - The smoothed round-trip time is the timer's (RFC 6298).

use core::mem::replace;

use super::Window;
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// Section 5: segments / second^3.
const C: f64 = 0.4;
/// beta_cubic (section 4.6) in tenths.
const BETA_TENTHS: u64 = 7;
/// alpha_cubic = 3 * (1 - beta) / (1 + beta) (section 4.3).
const ALPHA: f64 = 9.0 / 17.0;

/// The window law of CUBIC, with fast convergence.
#[derive(Default)]
pub struct Cubic {
    curve: Curve,
    /// cwnd and the curve before the loss response (section 4.9.2).
    undo: Option<(u64, Curve)>,
}

/// What an undo restores.
#[derive(Clone, Copy, Default)]
struct Curve {
    /// W_max; 0 while undefined.
    w_max: f64,
    /// cwnd when ssthresh was last set; 0 while undefined.
    cwnd_prior: u64,
    /// The congestion avoidance stage.
    stage: Option<Stage>,
    last_ack: Time,
    /// At the last ACK there was enough data, and receive window for it, to use cwnd.
    supplied: bool,
}

#[derive(Clone, Copy)]
struct Stage {
    /// t: since the stage began, without the time in which the application or the receiver held
    /// the flow back.
    t: Span,
    k: f64,
    w_est: f64,
    /// The cwnd that the last ACK left behind.
    cwnd: f64,
}

impl Cubic {
    /// Equation 1.
    fn w_cubic(&self, mss: f64, k: f64, t: Span) -> f64 {
        let d = t.secs_f64() - k;
        C * mss * d * d * d + self.curve.w_max
    }

    fn begin_stage(&mut self, s: &State) -> Stage {
        let (cwnd, curve) = (s.cwnd as f64, &mut self.curve);
        if curve.cwnd_prior == 0 {
            curve.cwnd_prior = s.cwnd;
        }
        curve.w_max = curve.w_max.max(cwnd);
        // Equation 2.
        let k = cube_root((curve.w_max - cwnd) / (C * s.mss as f64));
        Stage { t: Span::ZERO, k, w_est: cwnd, cwnd }
    }

    /// Sections 4.2 to 4.5: cwnd after a new ACK in congestion avoidance.
    fn grow(&self, s: &State, a: &AckSummary, stage: &mut Stage) {
        let (mss, cwnd) = (s.mss as f64, stage.cwnd);
        // Equation 4.
        let alpha = if stage.w_est >= self.curve.cwnd_prior as f64 { 1.0 } else { ALPHA };
        stage.w_est += alpha * (a.newly_acked as f64).min(cwnd) * mss / cwnd;
        if self.w_cubic(mss, stage.k, stage.t) < stage.w_est {
            stage.cwnd = cwnd.max(stage.w_est);
        } else {
            let next = self.w_cubic(mss, stage.k, stage.t + s.srtt);
            let target = next.max(cwnd).min(1.5 * cwnd);
            stage.cwnd = cwnd + (target - cwnd) * mss / cwnd;
        }
    }

    /// Saves what an undo restores: the same response whose windows the connection saves.
    fn save(&mut self, s: &State) {
        if s.phase == Phase::Open || self.undo.is_none() {
            self.undo = Some((s.cwnd, self.curve));
        }
    }

    /// Section 4.6.
    fn decreased(s: &State, flight: u64) -> u64 {
        (flight.saturating_mul(BETA_TENTHS) / 10).max(2 * s.mss)
    }
}

impl Window for Cubic {
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        let elapsed = s.now.since(replace(&mut self.curve.last_ack, s.now));
        let available = s.written.min(s.window_edge).saturating_sub(s.snd_una);
        let supplied = replace(&mut self.curve.supplied, available + s.mss > s.cwnd);
        // Section 5.8: no growth, and no time for the curve, while the application or the
        // receiver's window holds the flow back. Pacing and a limit on bursts hold it back as well,
        // but not for want of data.
        if a.prior_flight + s.mss <= s.cwnd && !supplied {
            return s.cwnd;
        }
        if s.cwnd < s.ssthresh {
            self.curve.stage = None;
            return s.cwnd + a.newly_acked.min(s.mss);
        }
        let mut stage = match self.curve.stage {
            Some(stage) if stage.cwnd as u64 == s.cwnd => {
                Stage { t: if supplied { stage.t + elapsed } else { stage.t }, ..stage }
            }
            _ => self.begin_stage(s),
        };
        self.grow(s, a, &mut stage);
        self.curve.stage = Some(stage);
        stage.cwnd as u64
    }

    fn on_loss(&mut self, s: &State, flight: u64) -> u64 {
        self.save(s);
        let cwnd = s.cwnd as f64;
        // Section 4.7: fast convergence, cwnd * (1 + beta) / 2.
        self.curve.w_max = if cwnd < self.curve.w_max { cwnd * 0.85 } else { cwnd };
        self.curve.cwnd_prior = s.cwnd;
        (self.curve.stage, self.curve.supplied) = (None, false);
        Cubic::decreased(s, flight)
    }

    fn beta_ecn(&self) -> u64 {
        85
    }

    fn on_timeout(&mut self, s: &State, flight: u64, repeated: bool) -> u64 {
        self.save(s);
        // Section 4.8: the next stage sets W_max anew.
        self.curve.w_max = 0.0;
        (self.curve.stage, self.curve.supplied) = (None, false);
        if repeated {
            return s.ssthresh;
        }
        // Within recovery cwnd may be inflated.
        self.curve.cwnd_prior = if s.phase == Phase::Recovery { s.ssthresh } else { s.cwnd };
        Cubic::decreased(s, flight)
    }

    fn on_undo(&mut self, s: &State) {
        // Section 4.9.2: not if cwnd has grown beyond what it was.
        if let Some((cwnd, curve)) = self.undo.take()
            && s.cwnd <= cwnd
        {
            self.curve = curve;
        }
    }
}

/// The cube root of a number that is not negative, to a few units in the last place, by Newton's
/// method from above.
pub(crate) fn cube_root(n: f64) -> f64 {
    if n <= 0.0 {
        return 0.0;
    }
    let mut root = n.max(1.0);
    loop {
        let next = (2.0 * root + n / (root * root)) / 3.0;
        // From above the steps go down until rounding takes over.
        if next < root {
            root = next;
        } else {
            return root;
        }
    }
}
