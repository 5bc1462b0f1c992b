//! HyStart++: RFC 9406, sections 4.2 and 4.3, as other implementations quote them. It wraps the
//! window law that a composition names before it: `cubic+hystart`.
//!
//! Only the slow start with ssthresh unset is modified (section 4.3: "only for the initial slow
//! start"). A loss in it is answered by loss recovery, which sets ssthresh. Where the wrapped law
//! leaves cwnd as it is, so does this: CUBIC does for an application that sends less than cwnd
//! allows (RFC 9438 section 5.8).
//!
//! The first round ends with the acknowledgment of what had been sent when the first ACK arrived,
//! and the ACK that ends a round belongs to it (inferred: the text initialises windowEnd to SND.NXT
//! and does not say when).

use alloc::boxed::Box;

use super::Window;
use crate::recovery::wraps;
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::Span;

// Section 4.3; L without pacing: with it there is no such limit.
const MIN_RTT_THRESH: Span = Span::from_millis(4);
const MAX_RTT_THRESH: Span = Span::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
const L: u64 = 8;

const INFINITY: Span = Span(u64::MAX);

/// Leaves slow start when the round-trip time rises.
pub struct HyStart {
    law: Box<dyn Window>,
    /// windowEnd; 0 before the first ACK.
    window_end: u64,
    /// lastRoundMinRTT.
    last_min: Span,
    /// currentRoundMinRTT.
    current_min: Span,
    /// rttSampleCount.
    samples: u32,
    /// Conservative Slow Start.
    css: Option<Css>,
}

struct Css {
    /// cssBaselineMinRtt.
    baseline: Span,
    /// Rounds completed, the one in which it began included.
    rounds: u32,
}

impl HyStart {
    /// Around this law.
    pub fn new(law: Box<dyn Window>) -> HyStart {
        HyStart {
            law,
            window_end: 0,
            last_min: INFINITY,
            current_min: INFINITY,
            samples: 0,
            css: None,
        }
    }

    /// Section 4.2, but for the growth.
    fn watch(&mut self, s: &State, a: &AckSummary) {
        if self.window_end == 0 {
            self.window_end = s.snd_nxt;
        }
        if let Some(rtt) = a.rtt {
            self.current_min = self.current_min.min(rtt);
            self.samples += 1;
        }
        if self.samples >= N_RTT_SAMPLE {
            match &self.css {
                None => {
                    let thresh = Span(self.last_min.0 / MIN_RTT_DIVISOR)
                        .clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                    // Never without a last round: the sum stays at infinity.
                    if self.current_min >= self.last_min + thresh {
                        self.css = Some(Css { baseline: self.current_min, rounds: 0 });
                    }
                }
                Some(css) if self.current_min < css.baseline => self.css = None,
                Some(_) => {}
            }
        }
        if s.snd_una >= self.window_end {
            if let Some(css) = &mut self.css {
                css.rounds += 1;
            }
            self.window_end = s.snd_nxt;
            self.last_min = core::mem::replace(&mut self.current_min, INFINITY);
            self.samples = 0;
        }
    }
}

impl Window for HyStart {
    wraps!(self.law: Window; on_loss, on_timeout);

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        let grown = self.law.on_ack(s, a);
        if s.ssthresh != u64::MAX {
            return grown;
        }
        let limit = if s.paces { u64::MAX } else { L * s.mss };
        let divisor = if self.css.is_some() { CSS_GROWTH_DIVISOR } else { 1 };
        self.watch(s, a);
        if grown > s.cwnd { s.cwnd + a.newly_acked.min(limit) / divisor } else { s.cwnd }
    }

    fn ends_slow_start(&self, s: &State) -> bool {
        let over = self.css.as_ref().is_some_and(|css| css.rounds >= CSS_ROUNDS);
        (over && s.ssthresh == u64::MAX) || self.law.ends_slow_start(s)
    }
}
